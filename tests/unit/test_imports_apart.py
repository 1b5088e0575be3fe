"""Two chats whose files have one name are two sessions."""

from __future__ import annotations

import json
from pathlib import Path

import ireneo


def write(file: Path, *said: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    roles = ("user", "assistant")
    file.write_text(json.dumps([{"role": roles[at % 2], "content": each} for at, each in enumerate(said)]))
    return file


async def test_another_chat_under_the_name_of_a_stored_one_is_a_session_of_its_own(tmp_path: Path) -> None:
    ours = write(tmp_path / "a" / "chat.json", "I'm Nora.", "Hello Nora.", "I keep bees.", "How many hives?")
    theirs = write(tmp_path / "b" / "chat.json", "I work at the mill.", "Since when?")
    async with ireneo.open(tmp_path / "memory.db") as memory:
        (first,) = (await memory.import_file(ours)).sessions
        (second,) = (await memory.import_file(theirs)).sessions
        assert (first.session, second.session) == ("chat", "chat-2")
        # Each is known again, also once it has gone on or was edited.
        write(ours, "I'm Nora.", "Hello Nora.", "I keep bees.", "How many hives?", "Three.", "Good.")
        write(theirs, "I worked at the mill.", "Since when?")
        (first,) = (await memory.import_file(ours)).sessions
        (second,) = (await memory.import_file(theirs)).sessions
        assert [(each.session, each.new) for each in (first, second)] == [("chat", 2), ("chat-2", 2)]
        assert {each.key.session for each in await memory.sessions()} == {"chat", "chat-2"}


async def test_chats_that_are_learned_from_are_as_much_apart(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a" / "chat.json", "I'm Nora.", "Hello Nora.", "I keep bees.", "How many hives?"),
        write(tmp_path / "b" / "chat.json", "I work at the mill.", "Since when?"),
    ]
    story = tmp_path / "c" / "chat.json"
    story.parent.mkdir()
    story.write_text(json.dumps([{"author": who, "text": f"{who} waits."} for who in ("Vera", "Ilse")]))
    for on in ("", "local:1"):
        async with ireneo.open(tmp_path / f"{on}.db") as memory:
            for file in (*files, story):
                if on:
                    await memory.learn_logs([file], on=on)
                else:
                    await memory.learn_from(file)
            assert {each.key.session: each.messages for each in await memory.sessions()} == {
                "chat": 4,
                "chat-2": 2,
                "chat-3": 2,
            }


async def test_what_was_erased_does_not_come_back_under_another_name(tmp_path: Path) -> None:
    ours = write(tmp_path / "chat.json", "Quillon rides to the mill.", "Quillon is late.")
    async with ireneo.open(tmp_path / "memory.db") as memory:
        await memory.import_file(ours)
        await memory.forget(subject="Quillon")
        (again,) = (await memory.import_file(ours)).sessions
        assert again.session == "chat"
        assert not [each for each in await memory.recall("Quillon") if "Quillon" in each.text]
