"""What was written by hand stays with a chat that is edited outside and imported again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

import pytest

import ireneo
from ireneo.formats.logs.format import LoggedNode, LoggedSession
from ireneo.types import ImportReport

NAMES = ("Mara", "Ilse")
SAID = [
    f"{NAMES[at % 2]} sails past island number {at}, where the lighthouse keeper of that place waves a lantern."
    for at in range(60)
]


WORDS = "Sixty islands lie behind them, and no keeper spoke."


def shown(context: ireneo.Context) -> str:
    return json.dumps(context.messages)


@pytest.fixture
async def memory() -> AsyncIterator[ireneo.Memory]:
    async with ireneo.open(":memory:", preset="story") as opened:
        yield opened


def chat(said: Sequence[str]) -> list[bytes]:
    lines: list[dict[str, object]] = [{"user_name": "Mara", "character_name": "Ilse", "chat_metadata": {}}]
    lines += [
        {"name": name, "is_user": name == "Mara", "is_system": False, "send_date": "", "mes": text, "extra": {}}
        for text in said
        for name in [next((name for name in NAMES if text.startswith(name)), "Ilse")]
    ]
    return [json.dumps(line).encode() + b"\n" for line in lines]


async def imported(memory: ireneo.Memory, said: Sequence[str]) -> ImportReport:
    return await memory.import_log(chat(said), ireneo.log_format("sillytavern"), name="boat")


def edited(at: int, text: str = "They land on the island of cats instead.") -> list[str]:
    return [*SAID[:at], text, *SAID[at + 1 :]]


async def test_canon_threads_and_pins_stay_when_the_last_message_is_another(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    await session.add_thread("canon", "Ilse has a burned left hand.")
    await session.add_thread("promise", "Mara brings Ilse home by winter.", who="Mara", whom="Ilse")
    await session.pin("Never kill the cat.")
    (report,) = (await imported(memory, edited(59))).sessions
    assert (report.carried, report.lost) == (3, ())
    # The message where they were written is gone, so they may be about what has not happened.
    assert set(report.unplaced) == {
        "Ilse has a burned left hand.",
        "Mara brings Ilse home by winter.",
        "Never kill the cat.",
    }
    assert {each.text for each in await session.threads()} >= {
        "Ilse has a burned left hand.",
        "Mara brings Ilse home by winter.",
    }
    assert [each.text for each in await session.pins()].count("Never kill the cat.") == 1


async def test_nothing_stands_twice_when_the_old_version_comes_back(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    await session.add_thread("canon", "Ilse has a burned left hand.")
    await imported(memory, edited(59))
    await session.pin("Never kill the cat.")
    (report,) = (await imported(memory, SAID)).sessions
    assert report.carried == 1
    assert [each.text for each in await session.pins()].count("Never kill the cat.") == 1
    assert [each.text for each in await session.threads()].count("Ilse has a burned left hand.") == 1


async def test_what_was_resolved_or_reworded_stays_so(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    debt = await session.add_thread("debt", "Mara owes Ilse ten silver.", who="Mara", whom="Ilse")
    fact = await session.add_thread("canon", "The boat is called Sparrow.")
    await session.resolve_thread(debt.id, "She paid at the harbour.")
    await session.edit_thread(fact.id, "The boat is called Widow's Due.")
    await imported(memory, edited(58))
    texts = [each.text for each in await session.threads()]
    assert "The boat is called Widow's Due." in texts
    assert not {"The boat is called Sparrow.", "Mara owes Ilse ten silver."} & set(texts)


@pytest.mark.parametrize("change", ["another first message", "without the first message", "one more at the beginning"])
async def test_a_summary_by_hand_goes_along_while_its_own_messages_are_unchanged(
    memory: ireneo.Memory, change: str
) -> None:
    long = [f"{text} And Ilse, the pilot, knows its name ({at})." for at, text in enumerate(SAID * 4)]
    await imported(memory, long)
    session = await memory.session("boat")
    blocks = [row.id for row in (await session.context(1_000)).view if row.id.startswith("s_")]
    await session.edit(blocks[-1], WORDS)
    assert WORDS in shown(await session.context(1_000))
    assert "Who is who" in shown(await session.context(1_000))
    changed = {
        "another first message": ["They sail at dawn.", *long[1:]],
        "without the first message": long[1:],
        "one more at the beginning": [*long[:2], "They sail at dawn.", *long[2:]],
    }
    (report,) = (await imported(memory, changed[change])).sessions
    assert (report.carried, report.unplaced, report.lost) == (1, (), ())
    assert WORDS in shown(await session.context(1_000))


async def test_a_summary_by_hand_whose_messages_have_changed_is_named(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    (block,) = [row.id for row in (await session.context(600)).view if row.id.startswith("s_")]
    await session.edit(block, WORDS)
    (report,) = (await imported(memory, edited(59))).sessions
    assert not report.lost
    assert WORDS in shown(await session.context(600))
    (report,) = (await imported(memory, edited(20))).sessions
    assert report.lost == (WORDS,)
    assert WORDS not in shown(await session.context(600))


async def test_a_dispute_of_messages_without_a_summary_yet_is_seen(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    (block,) = [row for row in (await session.context(900)).view if row.what == "summary"]
    await session.dispute(block.id, "No keeper has a lantern.")
    (again,) = [row for row in (await session.context(900)).view if row.what == "summary"]
    assert (again.id, "(disputed): No keeper has a lantern." in again.text) == (block.id, True)


async def test_a_character_who_heard_little_has_a_cast(memory: ireneo.Memory) -> None:
    session = await memory.session("quay")
    heard = ["I am Mara, the keeper of the light.", *SAID[1:40]]
    parts = [ireneo.Text(text=each, author=NAMES[at % 2], present=NAMES) for at, each in enumerate(heard)]
    await session.append([ireneo.Draft(role="user", parts=(part,)) for part in parts])
    assert "Mara: the keeper of the light" in shown(await session.context(1_000, viewpoint="Ilse"))


async def test_what_was_carried_back_stands_once_when_the_message_returns(memory: ireneo.Memory) -> None:
    await imported(memory, SAID)
    session = await memory.session("boat")
    fact = await session.add_thread("canon", "Ilse has a burned left hand.")
    await session.add_thread("debt", "Mara owes Ilse ten silver.", who="Mara", whom="Ilse")
    await session.edit_thread(fact.id, "Ilse has a burned right hand.")
    await imported(memory, SAID[:59])
    await imported(memory, SAID)
    assert sorted(each.text for each in await session.threads()) == [
        "Ilse has a burned right hand.",
        "Mara owes Ilse ten silver.",
    ]
    (debt,) = [each for each in await session.threads() if each.kind == "debt"]
    await session.resolve_thread(debt.id, "She paid at the harbour.")
    await imported(memory, edited(59))
    assert [each.text for each in await session.threads()] == ["Ilse has a burned right hand."]


class Diary:
    """A format of somebody's own, whose files hold one session each: a message on each line."""

    name = "diary"
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Never by itself."""
        return not sample

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read a message from each line."""
        drafts = [ireneo.Draft(role="user", parts=(ireneo.Text(text=line.decode().strip()),)) for line in lines]
        nodes = tuple(LoggedNode(draft=draft, parent=at - 1 if at else None) for at, draft in enumerate(drafts))
        yield LoggedSession(id=name, nodes=nodes, head=len(nodes) - 1)


async def test_a_file_of_one_session_in_any_format_keeps_what_was_written_by_hand(
    memory: ireneo.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ireneo.engine.imports.BATCH", 16)

    async def read(said: Sequence[str]) -> None:
        await memory.import_log([f"{each}\n".encode() for each in said], Diary(), name="boat")

    await read(SAID)
    session = await memory.session("boat")
    await session.pin("Never kill the cat.")
    await session.add_thread("canon", "Ilse has a burned left hand.")
    await read(edited(20))
    head = (await session.branches())["main"]
    assert head is not None
    assert head.position == 59
    assert [each.text for each in await session.pins()].count("Never kill the cat.") == 1
    assert [(each.text, each.since) for each in await session.threads()] == [("Ilse has a burned left hand.", 59)]


async def test_another_answer_for_a_client_keeps_what_was_written_after_the_first(
    memory: ireneo.Memory,
) -> None:
    session = await memory.session("proxied")
    asked, answer = (await session.append([{"role": "user", "content": text} for text in SAID[:2]])).ids
    await session.pin("Never kill the cat.")
    await session.add_thread("canon", "Ilse has a burned left hand.")

    async def kept() -> tuple[int, list[str]]:
        pinned = [each.text for each in await session.pins()].count("Never kill the cat.")
        return pinned, [each.text for each in await session.threads()]

    await session.rewind(asked, keep_notes=True)
    assert await kept() == (1, ["Ilse has a burned left hand."])
    await session.append({"role": "user", "content": SAID[3]}, after=asked, as_said=True)
    assert await kept() == (1, ["Ilse has a burned left hand."])
    await session.append({"role": "user", "content": SAID[4]}, after=answer, as_said=True)
    assert await kept() == (1, ["Ilse has a burned left hand."])
    await session.rewind(asked)
    await session.append({"role": "user", "content": SAID[5]})
    await session.add_thread("canon", "The boat is called Sparrow.")
    await session.rewind(asked)
    assert await kept() == (1, ["Ilse has a burned left hand."])


async def test_rules_end_nothing_that_was_written_by_hand(memory: ireneo.Memory) -> None:
    said = [*SAID[:40], "Mara says: “Here are the forty crowns, Ilse. We are even, my debt is paid.”", *SAID[40:]]
    await imported(memory, said)
    session = await memory.session("boat")
    added = await session.add_thread("debt", "Mara owes Ilse forty crowns.", who="Mara", whom="Ilse")
    assert added.id in {each.id for each in await session.threads()}
