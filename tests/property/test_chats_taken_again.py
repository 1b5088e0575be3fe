"""A chat that is edited, swiped and cut, and taken in again after each change, stands as it is, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm

import ireneo
from ireneo import Memory
from ireneo.formats.logs.format import log_format

words = st.integers(0, 5).map(lambda number: f"words {number}")
Chat = list[list[str]]
"""What was said: of each message its versions, the one that is shown first."""
changes = st.lists(
    st.tuples(st.sampled_from(["say", "edit", "swipe", "cut", "rewind", "append"]), st.integers(0, 9), words),
    max_size=9,
)


def changed(chat: Chat, kind: str, place: int, text: str) -> None:
    at = place % (len(chat) - 1)
    if kind == "say":
        chat.append([text])
    elif kind == "edit":
        chat[at] = [text, *chat[at][1:]]
    elif kind == "swipe":
        chat[at] = [text, *(each for each in chat[at] if each != text)]
    elif kind == "cut" and len(chat) > 2:
        chat.pop(at)


def written(chat: Chat) -> list[bytes]:
    lines: list[dict[str, object]] = [{"user_name": "Mara", "character_name": "Ilse", "chat_metadata": {}}]
    for number, versions in enumerate(chat):
        who = {
            "name": "Ilse" if number % 2 else "Mara",
            "is_user": number % 2 == 0,
            "send_date": 1720748000000 + number,
        }
        lines.append(who | {"mes": versions[0], "swipes": versions, "swipe_id": 0})
    return [json.dumps(line).encode() + b"\n" for line in lines]


async def told(memory: Memory, branch: str = "main") -> list[str]:
    return [message.text for message in await (await memory.session("inn", branch=branch)).messages()]


@calm(10)
@given(changes=changes, named=st.booleans())
async def test_a_chat_stands_as_it_is_and_nothing_is_lost(changes: Sequence[tuple[str, int, str]], named: bool) -> None:
    async with ireneo.open(":memory:") as memory:
        chat: Chat = [["words 0"], ["words 1"], ["words 2"], ["the end"]]
        said_here = 0

        async def take() -> None:
            await memory.import_log(
                written(chat), log_format("sillytavern"), name="inn", session="inn" if named else None
            )

        await take()
        for kind, place, text in changes:
            session = await memory.session("inn")
            path = [message.id for message in await session.messages()]
            here = await told(memory)
            if kind == "rewind":
                await session.rewind(path[place % len(path)])
            elif kind == "append":
                said_here += 1
                await session.append(f"said here {said_here}")
                here = await told(memory)
                await take()
                assert await told(memory) == here, "who has gone on here stays there while the chat says no more"
                # From here on the chat goes on as well.
                chat.append([f"goes on {said_here}"])
            else:
                changed(chat, kind, place, text)
            await take()
            assert await told(memory) == [versions[0] for versions in chat]
            branches = await session.branches()
            everything = [each for name in branches for each in await told(memory, name)]
            assert all(f"said here {number + 1}" in everything for number in range(said_here))
