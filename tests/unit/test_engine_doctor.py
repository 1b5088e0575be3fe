"""Whatever is broken is found, named in a sentence, and repaired where the log is not touched by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace
from tests.golden.ferry import COUNT, KEY, SUMMARIZER, deeper, drafts, leaf, tell, told_story
from tests.golden.material import session as material

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.doctor import MOST_NAMED, Finding
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.log.message import Message, head_of
from ireneo.log.tree import Annotation, annotation_id
from ireneo.ports.store import Rebuild, Store, Transaction
from ireneo.summaries.summary import Summary, SummaryId, Writing, anchor
from ireneo.testing.conformance.check import observed, ran, read_from
from ireneo.testing.scripted import ManualClock
from ireneo.types import Examined

NOW = datetime(2031, 5, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
Work = Callable[[Store, Memory], Awaitable[None]]


def memory_over(store: Store) -> Memory:
    return Memory(Resources(store=store, count=COUNT, clock=ManualClock(NOW)), KEY.space)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = InMemoryStore()
    yield opened
    await opened.close()


@pytest.fixture
def memory(store: Store) -> Memory:
    return memory_over(store)


def said(found: Sequence[Finding], kind: str = "fault") -> list[str]:
    return [each.text for each in found if each.kind == kind and not each.repaired]


async def repaired(memory: Memory) -> Sequence[Finding]:
    """Repair; afterwards nothing is wrong any more."""
    found = await memory.doctor(repair=True)
    assert all(each.repaired for each in found if each.kind == "fault"), found
    assert all(each.advice for each in found)
    assert said(await memory.doctor()) == []
    return found


async def test_a_sound_store_has_no_faults(store: Store, memory: Memory) -> None:
    await told_story(store)
    session = await memory.session("run")
    for preset in ("coding", "forge"):
        await session.append(material(3))
        for budget in (300, 900, 2000):
            await session.context(budget, preset=preset)
        await session.fork(f"at-{preset}", at=(await session.messages(20, 20))[0].id)
        other = await memory.session("run", branch=f"at-{preset}")
        await other.append(material(1))
        await other.context(600, preset=preset)
        await other.rewind((await other.messages(12, 12))[0].id)
        await other.append(material(1)[3:])
        await other.context(600, preset=preset)
    looked: list[Examined] = []
    found = await memory.doctor(on_progress=looked.append)
    assert said(found) == []
    assert looked[-1].messages == sum(info.messages for info in await memory.sessions())
    assert [each.session for each in found] == ["run"], "what the rewinds left behind is worth a note"
    assert "abandoned" in found[0].text
    looked.clear()
    assert await memory.doctor(quick=True, on_progress=looked.append) == found
    assert looked == []


async def test_progress_is_told_on_the_loop_that_asked_and_a_listener_may_end_the_work(memory: Memory) -> None:
    class EnoughError(Exception):
        pass

    await (await memory.session("run")).append(material(1))
    told: list[asyncio.AbstractEventLoop] = []
    await memory.doctor(on_progress=lambda _: told.append(asyncio.get_running_loop()))
    await memory.secrets(on_progress=lambda _: told.append(asyncio.get_running_loop()))
    assert set(told) == {asyncio.get_running_loop()}

    def stop(examined: Examined) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        await memory.doctor(on_progress=stop)
    assert await memory.sessions()


async def test_an_empty_store_is_sound(store: Store, memory: Memory) -> None:
    assert await memory.doctor() == []
    await store.write(lambda tx: tx.sessions.create(KEY, None))
    assert said(await memory.doctor(), "note") == ["It has neither a message nor a branch."]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("misnamed", "has an id that is not that of its stretch"),
        ("misplaced", "aren't on one path there"),
        ("costs", "tokens, and they cost"),
        ("dangling", "which is not there"),
        ("outside", "don't stand one after the other within it"),
        ("leaves", "says that it covers 7 leaves, and 4 are there"),
        ("gap", "covers messages that none of those covers"),
        ("double", "both cover messages 43–44"),
    ],
)
async def test_broken_summaries_are_named_and_taken_out(store: Store, memory: Memory, fault: str, words: str) -> None:
    m = await told_story(store)
    before = set(await store.read(lambda tx: tx.upkeep.summaries(KEY)))

    def change(tx: Transaction) -> list[Summary]:
        fork = tell(tx, drafts(3, "Aside"), branch="aside", after=head_of(m[50]))
        first, second = leaf(m[45:50]), leaf(m[50:55])
        whole = deeper([first, second])
        broken = {
            "misnamed": [replace(first, id=SummaryId("s_" + "a" * 26))],
            "misplaced": [leaf([m[51], fork[0]])],
            "costs": [replace(first, source_tokens=7)],
            "dangling": [replace(whole, leaves=0)],
            "outside": [first, second, replace(whole, sources=(second.id, first.id))],
            "leaves": [first, second, leaf(m[55:57]), leaf(m[57:60])],
            "gap": [first, leaf(m[51:55]), replace(whole, sources=(first.id, leaf(m[51:55]).id))],
            "double": [leaf(m[42:47])],
        }[fault]
        if fault == "leaves":
            broken.append(replace(deeper(broken), leaves=7))
        tx.summaries.put(KEY, broken)
        return broken

    broken = await store.write(change)
    found = await memory.doctor()
    (sentence,) = said(found)
    assert words in sentence
    assert all(each.session == KEY.session for each in found)
    await repaired(memory)

    def look(tx: Transaction) -> set[str]:
        assert len(tx.log.path(KEY, m[-1].id, 0, 99)) == 60
        return set(tx.upkeep.summaries(KEY))

    left = await store.read(look)
    if fault != "double":
        assert left >= before
        assert broken[-1].id not in left


async def test_what_was_made_from_a_broken_summary_goes_with_it(store: Store, memory: Memory) -> None:
    m = await told_story(store)
    parts = [leaf(m[45:50]), replace(leaf(m[50:55]), source_tokens=1)]
    made = [*parts, deeper([parts[0], leaf(m[50:55])])]
    await store.write(lambda tx: tx.summaries.put(KEY, made))
    assert len(said(await memory.doctor())) == 1
    await repaired(memory)
    left = await store.read(lambda tx: tx.summaries.get(KEY, [each.id for each in made]))
    assert [each.id for each in left] == [parts[0].id]


async def test_what_may_overlap_is_no_fault(store: Store, memory: Memory) -> None:
    m = await told_story(store)

    def change(tx: Transaction) -> None:
        # A block that another branch ended early.
        tx.summaries.put(KEY, [leaf(m[45:50]), leaf(m[45:48])])
        # A text by a model is paid for, and its parts are made again under the same names.
        writing = Writing(prompt="story-1", model="m", tokens_in=1, tokens_out=1, supported=1)
        summarizer = f"story-1/third/{SUMMARIZER}"
        text = replace(
            leaf(m[50:55]),
            id=anchor("story", m[50].id, m[54].id, summarizer),
            summarizer=summarizer,
            writing=writing,
            sources=(SummaryId("s_" + "b" * 26),),
        )
        tx.summaries.put(KEY, [text])

    await store.write(change)
    assert said(await memory.doctor()) == []


async def test_leases_and_failures(store: Store, memory: Memory) -> None:
    m = await told_story(store)

    def change(tx: Transaction) -> None:
        tx.leases.take(KEY, "fresh", "one", NOW - HOUR, NOW + HOUR)
        tx.leases.take(KEY, "late", "one", NOW - 3 * HOUR, NOW - HOUR / 2)
        tx.leases.take(KEY, "stale", "two", NOW - 9 * HOUR, NOW - 2 * HOUR)
        tx.leases.take(KEY, "far", "three", NOW, NOW + 72 * HOUR)
        for name, times, retry in (("twice", 2, HOUR), (leaf(m[0:4]).id, 3, HOUR), ("often", 4, -HOUR)):
            for left in range(times, 0, -1):
                then = NOW - left * 2 * HOUR
                lease = tx.leases.take(KEY, name, "one", then, then + HOUR)
                assert lease is not None
                tx.leases.fail(lease, "The model is down.", NOW + retry if left == 1 else then + HOUR)

    await store.write(change)
    sentences = said(await memory.doctor())
    assert any("two; the lease expired at 2031-05-09 10:00 UTC" in each for each in sentences)
    assert any("three; the lease lasts until 2031-05-12 12:00 UTC" in each for each in sentences)
    assert any("Work often failed 4 times in a row; it is tried again when work goes on" in e for e in sentences)
    assert any("(story 1, messages 1–4) failed" in e and "at 2031-05-09 13:00 UTC" in e for e in sentences)
    assert not any("fresh" in each or "late" in each for each in sentences)
    await repaired(memory)

    def look(tx: Transaction) -> None:
        assert {each.work for each in tx.leases.of_session(KEY)} >= {"fresh", "late"}
        assert not {"stale", "far", "often"} & {each.work for each in tx.leases.of_session(KEY)}

    await store.read(look)


async def test_marks_and_disputes_about_what_is_gone(store: Store, memory: Memory) -> None:
    m = await told_story(store)
    there, gone = leaf(m[0:4]).id, "s_" + "c" * 26
    mark = Rebuild(
        summarizer=SUMMARIZER,
        budget_tokens=4000,
        at=m[50].id,
        at_position=50,
        target_tokens=3000,
        taken_up=(gone, there, "d_" + "c" * 26),
    )
    about = f"story {m[45].id} {m[49].id}"
    dispute = Annotation(
        id=annotation_id("dispute", m[49].id, "no", about),
        kind="dispute",
        at=m[49].id,
        at_position=49,
        text="no",
        about=about,
    )

    def change(tx: Transaction) -> None:
        tx.rebuilds.put(KEY, mark)
        tx.annotations.put(KEY, [dispute])

    await store.write(change)
    found = await memory.doctor()
    assert said(found) == [
        f"The rebuild at message 51 to 4,000 tokens ({SUMMARIZER}) shows s_ccccccc, and no such text is there."
    ]
    assert said(found, "note") == [f"Dispute {dispute.id[:9]} at message 50 is about a summary that is not there."]
    await repaired(memory)
    assert await store.read(lambda tx: tx.rebuilds.of_session(KEY)) == [replace(mark, taken_up=mark.taken_up[1:])]


async def test_abandoned_messages_and_sessions_without_a_branch(store: Store, memory: Memory) -> None:
    await told_story(store)

    def change(tx: Transaction) -> None:
        tx.upkeep.drop_branch(KEY, "third")
        tx.upkeep.drop_branch(KEY, "another-night")

    await store.write(change)
    (note,) = await memory.doctor()
    assert note.text.startswith("8 messages (")
    assert "stand on 2 paths that were abandoned" in note.text
    assert "ireneo prune night-ferry" in note.advice

    def change_more(tx: Transaction) -> None:
        for name in ("main", "mark"):
            tx.upkeep.drop_branch(KEY, name)

    await store.write(change_more)
    (fault,) = await memory.doctor()
    assert fault.kind == "fault"
    assert fault.text.startswith("No branch leads to any of its 68 messages")
    session = await memory.session(KEY.session)
    name = fault.advice.split("`")[1].split()[-1]
    await session.rewind(name)
    assert [each.kind for each in await memory.doctor()] == ["note"]


# -- what only a hand can break ----------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a story, and an agent's run."""
    place = tmp_path / "store.db"

    async def main() -> list[Message]:
        store = await open_sqlite(place)
        try:
            run = await memory_over(store).session("run")
            await run.append(material(2))
            await run.context(400)
            return await told_story(store)
        finally:
            await store.close()

    asyncio.run(main())
    return place


def doctor(path: Path, *statements: str, repair: bool = False) -> Sequence[Finding]:
    """What is found in a file after it was changed by hand."""
    database = apsw.Connection(str(path))
    for statement in statements:
        database.execute(statement)
    database.close()

    async def main() -> Sequence[Finding]:
        store = await open_sqlite(path)
        try:
            return await memory_over(store).doctor(repair=repair)
        finally:
            await store.close()

    return asyncio.run(main())


STORY = "(SELECT key FROM sessions WHERE session = 'night-ferry')"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE messages SET parts = replace(parts, 'part 7.', 'part 9.')",
            "(number 8) is not what was stored: its id is not the hash of what it says",
        ),
        ("UPDATE messages SET role = 'tool' WHERE segment = 0 AND position = 3", "(number 4) is not what was stored"),
        ("UPDATE messages SET parts = '[{}' WHERE segment = 0 AND position = 9", "Message 10 on the path to m_"),
    ],
)
def test_a_message_that_was_changed_is_found_and_never_repaired(path: Path, statement: str, words: str) -> None:
    where = f" {'AND' if 'WHERE' in statement else 'WHERE'} session = {STORY}"
    (found,) = [each for each in doctor(path, statement + where, repair=True) if each.kind == "fault"]
    assert words in found.text
    assert not found.repaired
    assert ".recover" in found.advice
    assert found.session == KEY.session


def test_of_many_faults_some_are_named(path: Path) -> None:
    found = doctor(path, f"UPDATE messages SET role = 'system' WHERE session = {STORY} AND segment = 0")
    sentences = said(found)
    assert len(sentences) == MOST_NAMED + 1
    assert sentences[-1] == f"{60 - MOST_NAMED} more messages are wrong in the same way."


def test_a_message_that_is_gone_is_told_by_the_store_and_on_the_path(path: Path) -> None:
    found = doctor(path, f"DELETE FROM messages WHERE session = {STORY} AND segment = 0 AND position = 50")
    assert any("has a gap at position 50" in each.text for each in found if not each.session)
    assert any("Message 51 on the path to" in each.text for each in found if each.session)


def test_what_the_store_says_of_a_summary_is_said_once_and_repaired(path: Path) -> None:
    statement = f"UPDATE summaries SET record = '{{}}' WHERE session = {STORY} AND depth = 1 AND first_position = 40"
    (found,) = doctor(path, statement)
    assert "can't be read" in found.text
    (found,) = doctor(path, repair=True)
    assert found.repaired
    assert doctor(path) == []
    moved = f"UPDATE summaries SET last_position = 41 WHERE session = {STORY} AND depth = 1 AND first_position = 20"
    found = doctor(path, moved)
    assert found
    assert all(each.repaired for each in doctor(path, repair=True))
    assert said(doctor(path)) == []


def test_another_spaces_session_is_looked_at_only_by_the_store(path: Path) -> None:
    changed = doctor(path, "UPDATE sessions SET space = 'other', messages = 3 WHERE session = 'run'")
    (found,) = (each for each in changed if "index" not in each.text)
    assert found.session == ""
    assert "space 'other'" in found.text


def test_a_damaged_file_says_so(path: Path) -> None:
    database = apsw.Connection(str(path))
    ((page,),) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'")
    ((size,),) = database.execute("PRAGMA page_size")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x00" * 200)
    found = doctor(path, repair=True)
    assert any(each.text.startswith("The file is damaged") for each in found)
    assert any("can't be looked at to its end" in each.text for each in found)
    assert all(".recover" in each.advice for each in found if not each.repaired)


async def test_runs_that_hang_on_nothing_are_taken_out(store: Store, memory: Memory) -> None:
    await told_story(store)

    def change(tx: Transaction) -> None:
        head = tx.log.head(KEY)
        assert head is not None
        tx.runs.put(KEY.space, ran(KEY.session, head=head.id), [observed("x", KEY.session)])
        tx.ledger.mark(KEY.space, replace(read_from("a"), sessions=(KEY.session,)))

    await store.write(change)
    assert said(await memory.doctor()) == []

    def change_more(tx: Transaction) -> None:
        tx.runs.put(KEY.space, ran("gone"), [observed("x", "gone")])
        tx.ledger.mark(KEY.space, replace(read_from("b"), sessions=("gone",)))

    await store.write(change_more)
    faults = [each for each in await memory.doctor() if each.kind == "fault"]
    assert [(each.session, "hangs on nothing" in each.text) for each in faults] == [("gone", True)]
    await repaired(memory)

    def look(tx: Transaction) -> None:
        assert [run.session for run in tx.runs.list(KEY.space)] == [KEY.session]
        assert [each.session for each in tx.runs.observations(KEY.space, ["x"])] == [KEY.session]
        assert [file.digest for file in tx.ledger.list(KEY.space)] == ["a"]

    await store.read(look)


async def test_observations_without_a_run_are_taken_out(path: Path) -> None:
    store = await open_sqlite(path)
    memory = memory_over(store)
    await store.write(lambda tx: tx.runs.put(KEY.space, ran("gone"), [observed("x", "gone")]))
    database = apsw.Connection(str(path))
    database.execute("DELETE FROM runs")
    database.close()
    assert [each.session for each in await memory.doctor() if each.kind == "fault"] == ["gone"]
    await repaired(memory)
    assert list(await store.read(lambda tx: tx.runs.claims(KEY.space))) == []
    await store.close()


async def test_an_index_that_does_not_fit_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = await open_sqlite(path)
    await told_story(store)
    database = apsw.Connection(str(path))
    database.execute("DELETE FROM documents WHERE position BETWEEN 2 AND 5")
    database.execute("UPDATE spaces SET messages = messages + 1")
    database.close()
    memory = memory_over(store)
    found = said(await memory.doctor())
    assert [each.split(" ", 1)[1] for each in found if "in no index" in each] == [
        f"messages of session {KEY.session!r} are in no index of words."
    ]
    assert any("were counted" in each for each in found)
    healed = await repaired(memory)
    assert [each.advice for each in healed if "in no index" in each.text] == ["The index of the space was made anew."]
    await store.close()
