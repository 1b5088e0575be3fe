"""What goes when something is forgotten, and what stays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.progress import progress_of
from tests.property.invariants.material import TINY, Teller

from ireneo import Draft, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MessageNotFound, NotFound, SessionNotFound
from ireneo.log.message import ERASED, Call, MessageId, Result, Text
from ireneo.log.tree import ROOT, SessionKey
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import Evidence, MemoryId, Record, quoted
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import Prompt, R, Reply, Usage
from ireneo.ports.store import Spent, Store, Transaction
from ireneo.testing.scripted import ManualClock

NOON = datetime(2031, 5, 9, 12, tzinfo=UTC)
TALK = (
    "Good morning, who is on duty today?",
    "Perpetua keeps the lamp at Skerryvore until Friday.",
    "And who brings the oil?",
    "The tender brings oil with each spring tide.",
)


@asynccontextmanager
async def living(folder: Path | None = None) -> AsyncIterator[tuple[Memory, Store]]:
    """An empty memory, and its store: in memory, or in a folder."""
    store: Store = await open_sqlite(folder / "memory.db", durability="normal") if folder else InMemoryStore()
    means = Resources(store=store, count=lambda text: len(text.split()), clock=ManualClock(NOON))
    try:
        yield Memory(means, "mine"), store
    finally:
        await store.close()


async def talk(memory: Memory, session: str = "watch", *texts: str) -> list[str]:
    """Say `texts`, the user first; gives the ids."""
    roles = ("user", "assistant")
    drafts = [Draft(role=roles[n % 2], parts=(Text(text=text),)) for n, text in enumerate(texts or TALK)]  # type: ignore[arg-type]
    return list((await (await memory.session(session)).append(drafts, after=ROOT)).ids)


def fact(name: str, text: str, *pieces: Evidence, subject: str = "", attribute: str = "") -> Record:
    """A fact on these pieces of evidence."""
    return Record(
        id=MemoryId(f"m_{name}"),
        kind="semantic",
        key=f"{subject}\x1f{attribute}" if attribute else f"t_{name}",
        text=text,
        at=NOON,
        recorded=NOON,
        evidence=pieces,
        subject=subject,
        attribute=attribute,
        value=text if attribute else "",
    )


def heard(*messages: str, memories: tuple[str, ...] = (), session: str = "watch") -> Evidence:
    """What was heard in some messages, or concluded from memories."""
    return Evidence(
        at=NOON,
        recorded=NOON,
        session=session if messages else "",
        messages=tuple(map(MessageId, messages)),
        memories=tuple(map(MemoryId, memories)),
    )


async def keep(store: Store, *records: Record) -> None:
    """Store memories."""
    await store.write(lambda tx: tx.memories.put("mine", records))


async def kept(store: Store) -> dict[str, Record]:
    """Every memory that is left."""
    return {record.id: record for record in await store.read(lambda tx: tx.memories.list("mine", MemoryFilter()))}


async def test_memories_go_with_their_only_source_and_those_drawn_from_them_too() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        only = fact("a", "Perpetua keeps the lamp.", heard(m[1]))
        drawn = fact("b", "Skerryvore is manned.", heard(memories=("m_a",)))
        further = fact("c", "The coast is safe.", heard(memories=("m_b",)))
        other = fact("d", "The tender brings oil.", heard(m[3]))
        await keep(store, only, drawn, further, other)
        receipt = await memory.forget(message=m[1])
        assert set(await kept(store)) == {"m_d"}
        assert (receipt.what.messages, receipt.what.memories, receipt.what.lessened) == (1, 3, 0)
        assert set(receipt.ids) == {m[1], "m_a", "m_b", "m_c"}
        assert (receipt.complete, receipt.note, receipt.at) == (True, "", NOON)


async def test_a_conclusion_that_was_given_up_goes_with_its_only_ground_as_well() -> None:
    async with living() as (memory, store):
        before = NOON - timedelta(days=1)
        lamp: MemoryDetails = {"subject": "lamp", "attribute": "keeper"}
        first = await memory.remember("Perpetua keeps the lamp.", value="Perpetua", recorded=before, **lamp)
        drawn = await memory.remember(
            "Someone sleeps there.", kind="semantic", origin="derived", memories=[first.record.id], recorded=before
        )
        await memory.remember("Inigo keeps the lamp.", value="Inigo", **lamp)
        assert [each.record.id for each in (await memory.reflect(force=True)).reconsidered] == [drawn.record.id]
        receipt = await memory.forget(memory=first.record.id)
        assert drawn.record.id in receipt.ids
        assert [record.value for record in (await kept(store)).values()] == ["Inigo"]


async def test_a_memory_with_other_evidence_stays_with_that() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        both = fact("a", "The tender brings oil.", heard(m[1]), heard(m[3]))
        mixed = fact("b", "Oil comes by tender.", heard(m[1], m[3]))
        worded = fact("c", "Perpetua gets oil by tender.", heard(m[1], m[3]))
        by_hand = fact("d", "Perpetua is on duty.", heard(m[1]), heard())
        await keep(store, both, mixed, worded, by_hand)
        receipt = await memory.forget(message=m[1])
        left = await kept(store)
        # What only the erased message can have said goes, unless somebody said it directly.
        assert set(left) == {"m_a", "m_b", "m_d"}
        assert {source for record in left.values() for source in record.sources} == {m[3]}
        assert (receipt.what.memories, receipt.what.lessened) == (1, 3)


async def test_what_was_superseded_holds_again_without_what_took_its_place() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        first = fact("a", "Ann", heard(m[0]), subject="lamp", attribute="keeper")
        then = Evidence(
            at=NOON.replace(hour=13), recorded=NOON.replace(hour=13), session="watch", messages=(MessageId(m[1]),)
        )
        second = fact("b", "Perpetua", then, subject="lamp", attribute="keeper")
        await keep(store, *KINDS["semantic"].settle([first, second]))
        assert {name: record.state for name, record in (await kept(store)).items()} == {
            "m_a": "superseded",
            "m_b": "active",
        }
        await memory.forget(message=m[1])
        left = await kept(store)
        assert {name: record.state for name, record in left.items()} == {"m_a": "active"}
        assert left["m_a"].superseded_by is None


async def test_a_preview_says_the_same_and_does_nothing() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        await keep(store, fact("a", "Perpetua keeps the lamp.", heard(m[1])))
        before = [await (await memory.session("watch")).messages(), await kept(store)]
        shown = await memory.forget(message=m[1], preview=True)
        assert [await (await memory.session("watch")).messages(), await kept(store)] == before
        assert (shown.preview, shown.complete) == (True, False)
        done = await memory.forget(message=m[1])
        assert (done.ids, done.what.memories, done.what.messages) == (shown.ids, 1, 1)


async def test_a_preview_shows_calls_and_outputs_by_what_they_contain() -> None:
    async with living() as (memory, _):
        session = await memory.session("work")
        call = Call(id="c1", name="Grep", arguments={"pattern": "Perpetua"})
        await session.append(
            [
                Draft(role="user", parts=(Text(text="Who keeps the lamp?"),)),
                Draft(role="assistant", parts=(call,)),
                Draft(role="tool", parts=(Result(call_id="c1", parts=(Text(text="roster.md: Perpetua, Friday"),)),)),
            ]
        )
        shown = (await memory.forget(subject="Perpetua", preview=True)).going
        assert any("roster.md: Perpetua, Friday" in each.text for each in shown)
        assert [each.apart for each in shown if "Perpetua" in each.text] == [False, False]


async def test_a_message_in_two_sessions_goes_from_both_and_does_not_come_back() -> None:
    async with living() as (memory, _):
        m = await talk(memory)
        assert await talk(memory, "copy") == m
        assert (await memory.forget(message=m[1])).what.messages == 2
        assert (await memory.forget(message=m[1])).what.messages == 0
        await talk(memory, "watch", *TALK, "The fog is coming in.")
        texts = [message.text for message in await (await memory.session("watch")).messages()]
        assert texts == [TALK[0], ERASED, *TALK[2:], "The fog is coming in."]
        assert not [each for each in await memory.doctor() if each.kind == "fault"]


async def test_a_session_goes_with_what_was_learned_in_it_alone() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        n = await talk(memory, "other", "The tender brings oil, they say.", "So I heard.")
        told = Evidence(at=NOON, recorded=NOON, session="watch")
        await keep(
            store,
            fact("a", "Perpetua keeps the lamp.", heard(m[1])),
            fact("b", "The tender brings oil.", heard(m[3]), heard(n[0], session="other")),
            fact("c", "Somebody said so.", told),
        )

        def change(tx: Transaction) -> None:
            tx.spending.add(SessionKey("mine", "watch"), date(2031, 5, 9), Spent(calls=1, tokens=7))
            tx.pads.write("mine", Pad(task="watch", goal="Find out.", written=NOON))
            tx.pads.write("mine", Pad(task="x", goal="Ask Perpetua at Skerryvore.", written=NOON))
            tx.pads.write("mine", Pad(task="y", goal="Buy bread.", written=NOON))

        await store.write(change)
        receipt = await memory.forget(session="watch")
        assert (receipt.what.sessions, receipt.what.messages, receipt.what.pads) == (1, 4, 2)
        assert set(await kept(store)) == {"m_b"}

        def look(tx: Transaction) -> None:
            assert [info.key.session for info in tx.sessions.list("mine")] == ["other"]
            assert [pad.task for pad in tx.pads.list("mine")] == ["y"]
            assert tx.spending.of_day("mine", date(2031, 5, 9)).tokens == 7

        await store.read(look)
        with pytest.raises(SessionNotFound):
            await memory.forget(session="watch")


async def test_a_session_that_is_kept_elsewhere_goes_with_what_is_known_from_it() -> None:
    async with living() as (memory, store):
        await memory.remember("Perpetua keeps the lamp.", session="elsewhere")
        await memory.scratchpad("elsewhere").write(goal="Ask Perpetua.")
        stays = await memory.remember("The tender brings oil.")
        for preview in (True, False):
            receipt = await memory.forget(session="elsewhere", preview=preview)
            assert (receipt.what.memories, receipt.what.pads, receipt.what.messages) == (1, 1, 0)
        assert set(await kept(store)) == {stays.record.id}
        assert not await memory.pads()
        with pytest.raises(SessionNotFound):
            await memory.forget(session="elsewhere")


async def test_a_subject_goes_wherever_it_is_named_as_a_whole_word() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        await talk(memory, "other", "PERPETUA asked for salt.", "Perpetually raining here.")
        await keep(
            store,
            fact("a", "She keeps the lamp.", heard(m[2]), subject="perpetua", attribute="work"),
            fact("b", "Perpetua likes salt.", heard()),
            fact("c", "It rains perpetually.", heard()),
        )
        receipt = await memory.forget(subject="Perpetua")
        assert set(await kept(store)) == {"m_c"}
        assert receipt.what.messages == 3
        texts = [message.text for message in await (await memory.session("watch")).messages()]
        # The third is the source of a memory of her, although it doesn't name her.
        assert texts == [TALK[0], ERASED, ERASED, TALK[3]]
        others = [message.text for message in await (await memory.session("other")).messages()]
        assert others == [ERASED, "Perpetually raining here."]


async def test_of_a_role_only_its_memories_and_their_sources_go() -> None:
    async with living() as (memory, store):
        m = await talk(memory, "watch", "The user is asleep.", "I see.", "Tell the user tomorrow.", "I will.")
        await keep(store, fact("a", "Sleeps late.", heard(m[0]), subject="User", attribute="sleep"))
        assert (await memory.forget(subject="user")).what.messages == 1
        texts = [message.text for message in await (await memory.session("watch")).messages()]
        assert texts == [ERASED, "I see.", "Tell the user tomorrow.", "I will."]
        assert not await kept(store)


async def test_a_german_word_for_a_speaker_is_no_name() -> None:
    async with living() as (memory, _):
        await talk(memory, "wache", "Mir ist kalt.", "Schade.", "Sag das dem Koch.", "Gut.")
        assert (await memory.forget(subject="mir")).what.messages == 0
        await memory.forget(subject="Koch")
        texts = [message.text for message in await (await memory.session("wache")).messages()]
        assert texts == ["Mir ist kalt.", "Schade.", ERASED, "Gut."]


async def test_a_memory_goes_and_its_messages_stay() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        await keep(store, fact("abc", "Perpetua keeps it.", heard(m[1])), fact("b", "So.", heard(memories=("m_abc",))))
        receipt = await memory.forget(memory="m_ab")
        assert not await kept(store)
        assert (receipt.what.messages, receipt.what.memories) == (0, 2)
        assert "stay" in receipt.note


async def test_everything_goes_where_the_space_is_named() -> None:
    async with living() as (memory, store):
        m = await talk(memory)
        await keep(store, fact("a", "Perpetua keeps the lamp.", heard(m[1])))
        with pytest.raises(BadInput, match="'mine'"):
            await memory.forget(space="yes")
        receipt = await memory.forget(space="mine")
        assert (receipt.what.sessions, receipt.what.messages, receipt.what.memories) == (1, 4, 1)
        assert not await memory.sessions()
        assert not await kept(store)


async def test_a_pin_that_quotes_goes_and_a_plain_one_stays() -> None:
    async with living() as (memory, _):
        m = await talk(memory)
        session = await memory.session("watch")
        await session.pin("Never wake anybody at Skerryvore after midnight, whatever the weather.")
        await session.pin("Never keep the logbook in pencil.")
        assert (await memory.forget(message=m[1])).what.notes == 1
        assert [pin.text for pin in await session.pins()] == ["Never keep the logbook in pencil."]


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({}, BadInput),
        ({"subject": "a", "message": "m_b"}, BadInput),
        ({"subject": "  "}, BadInput),
        ({"message": "m_nothing"}, MessageNotFound),
        ({"session": "none"}, SessionNotFound),
        ({"memory": "m_nothing"}, NotFound),
    ],
)
async def test_what_can_not_be_forgotten_is_said(named: dict[str, str], error: type[BadInput]) -> None:
    async with living() as (memory, _):
        await talk(memory)
        with pytest.raises(error):
            await memory.forget(**named)  # type: ignore[arg-type]
        assert [message.text for message in await (await memory.session("watch")).messages()] == list(TALK)


async def test_a_reader_in_the_way_is_told_and_the_doctor_finishes(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "memory.db", busy_seconds=0.2)
    other = await open_sqlite(tmp_path / "memory.db")
    memory = Memory(Resources(store=store, count=len, clock=ManualClock(NOON)), "mine")
    m = await talk(memory)
    begun, go_on = threading.Event(), threading.Event()

    def reading(tx: Transaction) -> None:
        tx.sessions.list("mine")
        begun.set()
        assert go_on.wait(60)

    reader = asyncio.create_task(other.read(reading))
    await asyncio.to_thread(begun.wait, 60)
    receipt = await memory.forget(message=m[1])
    go_on.set()
    await reader
    assert not receipt.complete
    assert "doctor --repair" in receipt.note
    assert [each.text for each in await memory.doctor() if each.kind == "fault"]
    assert all(each.repaired for each in await memory.doctor(repair=True))
    await store.close()
    await other.close()
    left = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert b"Skerryvore" not in left
    assert b"skerryvor" not in left


class Meddler:
    """A model that has a message forgotten while it writes, and tells of it all the same."""

    def __init__(self) -> None:
        self.forgets: Callable[[], Awaitable[object]] | None = None

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        forgets, self.forgets = self.forgets, None
        if forgets is not None:
            await forgets()
        value = {"notes": ["found 3 Perpetua keeps the lamp at Skerryvore."]}
        return Reply(value=msgspec.convert(value, reply), usage=Usage(), model="meddler")


async def test_what_a_model_was_writing_meanwhile_is_not_kept() -> None:
    async with living() as (memory, store):
        model = Meddler()
        means = Resources(store=store, count=len, clock=ManualClock(NOON), models=Models.of(model))
        session = await Memory(means, "mine").session("run")
        ids = (await session.append(Teller().tell(["ask", "work", "work", "answer"]))).ids
        model.forgets = lambda: memory.forget(message=ids[1])
        outcomes = [each.did for each in await progress_of(session.summarise, 700, preset=TINY)]
        assert outcomes == ["failed"]
        key = SessionKey("mine", "run")
        told = str(await store.read(lambda tx: tx.summaries.get(key, tx.upkeep.summaries(key))))
        assert "Skerryvore" not in told
        assert "failed" not in [each.did for each in await progress_of(session.summarise, 700, preset=TINY)]


def test_a_quotation_is_quoted_once() -> None:
    assert quoted("“The oil is late.”") == quoted("The oil is late.") == "“The oil is late.”"
    assert quoted("“Oil” is not “tar”") == "““Oil” is not “tar””"
