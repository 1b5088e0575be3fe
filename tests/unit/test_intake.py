"""What users say becomes memories that cite it: their own words alone, and only where they are listened to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.progress import progress_of

from ireneo import Draft, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.redact import SecretRedactor
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.resources import Resources
from ireneo.log.message import BRIEF_HEADING, CLOSING, Call, Origin, Part, Result, Role, Text
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.testing.scripted import ManualClock

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PORTO = "I live in Porto."


class Desk:
    """A memory that listens, or doesn't."""

    def __init__(self, *, listen: bool = True) -> None:
        self.store = InMemoryStore()
        self.clock = ManualClock(NOON)
        self.means = Resources(
            store=self.store,
            count=EstimatedTokenizer().count,
            clock=self.clock,
            listen=listen,
            redactor=SecretRedactor,
            keep_secrets=True,
        )
        self.memory = Memory(self.means, "mine")

    async def said(self, *drafts: Draft, session: str = "talk") -> list[str]:
        """Append, work, and say in the order of their ids what is held."""
        await (await self.memory.session(session)).append(drafts)
        await self.memory.work(until_idle=True)
        return sorted(each.text for each in await self.all() if each.kind == "semantic")

    async def all(self) -> Sequence[Record]:
        return await self.store.read(lambda tx: tx.memories.list("mine", MemoryFilter(states=("active",))))


def draft(role: Role, *parts: Part | str, origin: Origin = "spoken", author: str | None = None) -> Draft:
    said = tuple(Text(text=each, author=author) if isinstance(each, str) else each for each in parts)
    return Draft(role=role, parts=said, origin=origin)


async def test_what_a_user_says_is_remembered_with_its_message_and_its_time() -> None:
    desk = Desk()
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    session = await desk.memory.session("talk")
    await session.append([Draft(role="user", parts=(Text(text=PORTO),), at=at), draft("assistant", "I see.")])
    (done,) = await progress_of(desk.memory.work, until_idle=True)
    assert (done.did, done.session, done.branch, done.memories) == ("listened", "talk", "main", 1)
    (fact,) = await desk.all()
    message, _ = await session.messages()
    assert (fact.sources, fact.sessions, fact.at) == ((message.id,), ("talk",), at)
    assert (fact.origin, fact.recorded) == ("user", NOON)
    assert (await desk.memory.work(until_idle=True)).is_empty


async def test_what_an_agent_tells_its_sub_agent_is_no_users_word() -> None:
    desk = Desk()
    assert await desk.said(draft("user", PORTO), session="talk/agent-a16") == []
    assert await desk.said(draft("user", PORTO), session="talk") != []


async def test_nobody_is_listened_to_where_that_was_said() -> None:
    desk = Desk(listen=False)
    assert await desk.said(draft("user", PORTO)) == []


@pytest.mark.parametrize(
    "said",
    [
        draft("assistant", PORTO),
        draft("system", PORTO),
        draft("user", PORTO, origin="injected"),
        draft("user", PORTO, origin="summary"),
        draft("user", f"> {PORTO}"),
        draft("user", f"```\n{PORTO}\n```"),
        draft("user", f"{BRIEF_HEADING}\n- {PORTO}\n{CLOSING['[BRIEF]']}"),
        draft("tool", Result(call_id="c1", parts=(Text(text=PORTO),))),
    ],
)
async def test_what_no_user_says_in_their_own_words_is_not_remembered(said: Draft) -> None:
    desk = Desk()
    before = draft("assistant", Call(id="c1", name="look", arguments={})) if said.role == "tool" else draft("user")
    assert await desk.said(*([before] if before.parts else []), said) == []


async def test_between_tool_calls_the_users_words_are_heard_and_nothing_else() -> None:
    desk = Desk()
    call = Call(id="c1", name="Bash", arguments={"command": "date"})
    result = Result(call_id="c1", parts=(Text(text="I live in Oslo."),))
    assert await desk.said(
        draft("user", f"What time is it there? {PORTO}"),
        draft("assistant", "I live in Lima.", call),
        draft("tool", result),
        draft("assistant", "Noon."),
    ) == ["The user lives in Porto."]


async def test_a_story_of_many_voices_is_not_taken_for_a_conversation() -> None:
    desk = Desk()
    told = [draft("user", PORTO, author=author) for author in ("Ilse", "Bo")]
    await (await desk.memory.session("story")).append(told)
    await desk.memory.work(until_idle=True, preset="story")
    assert await desk.all() == []
    companion = await desk.memory.session("companion")
    await companion.append([draft("user", PORTO), draft("assistant", "How is it there?")])
    await desk.memory.work(until_idle=True, preset="story")
    assert [each.text for each in await desk.all()] == ["The user lives in Porto."]


async def test_a_companion_with_a_name_is_talked_with_and_a_part_that_is_played_is_not() -> None:
    desk = Desk()
    for session, opening in (("talk", "Hello Maren."), ("play", "*The gate creaks.* Who goes there?")):
        said = [draft("assistant", opening, author="Sol"), draft("user", PORTO, author="Maren")]
        await (await desk.memory.session(session)).append(said)
    await desk.memory.work(until_idle=True, preset="story")
    (fact,) = await desk.all()
    assert (fact.text, fact.sessions) == ("Maren lives in Porto.", ("talk",))
    group = [draft("user", PORTO, author="Maren"), *(draft("assistant", "Hm.", author=name) for name in ("Sol", "Kit"))]
    await (await desk.memory.session("group")).append(group)
    await desk.memory.work(until_idle=True, preset="story")
    assert len(await desk.all()) == 1


async def test_who_speaks_by_name_is_remembered_by_name() -> None:
    desk = Desk()
    (fact,) = await desk.said(draft("user", PORTO, author="Maren"))
    assert fact == "Maren lives in Porto."


async def test_what_a_rewind_undid_is_not_recalled_and_what_is_said_instead_is() -> None:
    desk = Desk()
    await desk.said(draft("user", "Hello."), draft("assistant", "Hello."), draft("user", PORTO))
    session = await desk.memory.session("talk")
    await session.rewind((await session.messages())[1].id)
    await desk.said(draft("user", "I live in Lugo."))
    found = await desk.memory.recall("Where does the user live?", kind="semantic")
    assert [each.text for each in found] == ["The user lives in Lugo."]


async def test_what_is_forgotten_is_not_read_again() -> None:
    desk = Desk()
    await desk.said(draft("user", PORTO), draft("assistant", "I see."))
    session = await desk.memory.session("talk")
    await desk.memory.forget(message=(await session.messages())[0].id)
    assert await desk.said(draft("user", "I live in Lugo.")) == ["The user lives in Lugo."]


async def test_a_secret_stays_in_its_message() -> None:
    desk = Desk()
    key = "sk-ant-api03-" + "Zq7" * 30
    await desk.said(draft("user", f"{PORTO} My api key is {key}. My password is hunter2hunter."))
    told = " ".join(str(each) for each in await desk.all())
    assert "Porto" in told
    assert key not in told
    assert "hunter2" not in told
    assert "REDACTED" not in told


async def test_what_changed_again_and_again_is_concluded_from_what_was_said() -> None:
    desk = Desk()
    desk.clock.move(timedelta(days=365))
    towns = ("Porto", "Lugo", "Bergen", "Tallinn")
    moves = [
        Draft(role="user", parts=(Text(text=f"I live in {town}."),), at=NOON + timedelta(days=30 * at))
        for at, town in enumerate(towns)
    ]
    await desk.said(*moves[:3])
    (first,) = (await desk.memory.reflect(force=True)).conclusions
    assert first.record.text == (
        "The home of the user changed 2 times from 1 May 2026 to 30 June 2026: Porto, Lugo, Bergen."
    )
    assert len(first.record.sources) == 3
    assert (await desk.memory.reflect(force=True)).episodes == 0
    await desk.said(*moves[3:])
    (again,) = (await desk.memory.reflect(force=True)).conclusions
    assert (again.did, again.changed[0].id) == ("superseded", first.record.id)
    assert again.record.text.endswith("Porto, Lugo, Bergen, Tallinn.")
    await desk.memory.forget(message=again.record.sources[0])
    assert "Porto" not in " ".join(each.text for each in await desk.all())
