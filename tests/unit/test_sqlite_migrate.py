"""A file of an earlier version is brought up to date, with all that it holds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import msgspec
import pytest
from msgspec.structs import replace
from tests.unit.earlier_files import written_by

from ireneo.adapters.sqlite.opening import apply_migration, load_migrations, open_sqlite
from ireneo.log.message import Message
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Lease, Spent, Transaction
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SUMMARIZER,
    after,
    learned,
    noted,
    numbered,
    observed,
    ran,
    rebuilt,
    say,
    summarise,
    tell,
    with_native,
)

MESSAGES = after(None, [with_native(say("first")[0], {"n": 1}), *numbered(5)])
FORK = [*MESSAGES[:3], *after(MESSAGES[2], numbered(2, "fork"))]
SUMMARY = summarise(MESSAGES[0], MESSAGES[3])


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """A file as the first migration alone made it, with something in every table."""
    path = tmp_path / "store.db"

    def fill(tx: Transaction) -> None:
        tx.sessions.create(KEY, None)
        for chain in (MESSAGES, FORK):
            tx.log.insert(KEY, chain)
        tx.log.move(KEY, "main", MESSAGES[-1].id)
        tx.summaries.put(KEY, [SUMMARY])

    database = written_by(1, path, fill)
    # Without the column for what a mark took up, which came later.
    database.execute("INSERT INTO rebuilds VALUES (1, ?, 1000, 0, 3, ?, 500)", (SUMMARIZER, MESSAGES[3].id))
    database.close()
    return path


def light(messages: list[Message]) -> list[Message]:
    """Messages as paths bring them."""
    return [replace(message, draft=replace(message.draft, native=None)) for message in messages]


async def test_a_file_of_version_1_is_migrated_and_keeps_what_it_holds(version_1: Path) -> None:
    store = await open_sqlite(version_1)

    def look(tx: Transaction) -> None:
        for path in (MESSAGES, FORK):
            assert tx.log.path(KEY, path[-1].id, 0, 9) == light(path)
        assert tx.log.drafts(KEY, [MESSAGES[0].id])[MESSAGES[0].id] == MESSAGES[0].draft
        assert tx.summaries.frontier(KEY, MESSAGES[-1].id, SUMMARIZER) == [SUMMARY]
        assert tx.rebuilds.last(KEY, MESSAGES[-1].id, SUMMARIZER, 1000) == rebuilt(MESSAGES[3])
        assert tx.annotations.on_path(KEY, MESSAGES[-1].id) == []
        assert tx.spending.of_session(KEY) == Spent()
        assert tx.leases.of_session(KEY) == []
        assert tx.upkeep.faults() == []

    await store.read(look)
    await store.close()


async def test_a_file_of_version_1_takes_what_came_later(version_1: Path) -> None:
    note = noted(MESSAGES[2], "keep this")
    mark = rebuilt(MESSAGES[3], taken_up=(SummaryId("s_one"),))
    store = await open_sqlite(version_1)

    def change(tx: Transaction) -> Lease:
        assert tx.annotations.put(KEY, [note]) == 1
        tx.rebuilds.put(KEY, mark)
        tx.spending.add(KEY, DAY, Spent(calls=1, tokens=20))
        lease = tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
        assert lease is not None
        assert lease.token == 1
        return lease

    lease = await store.write(change)
    await store.write(tell, say("and on"))
    await store.close()
    again = await open_sqlite(version_1)

    def look(tx: Transaction) -> None:
        assert tx.annotations.on_path(KEY, FORK[-1].id) == [note]
        assert tx.rebuilds.last(KEY, MESSAGES[-1].id, SUMMARIZER, 1000) == mark
        assert tx.spending.of_day(KEY.space, DAY) == Spent(calls=1, tokens=20)
        assert tx.leases.of_session(KEY) == [lease]
        assert tx.upkeep.faults() == []
        head = tx.log.head(KEY)
        assert head is not None
        assert head.position == len(MESSAGES)

    await again.read(look)
    await again.close()


async def test_memories_from_before_there_were_lessons_are_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    old, lesson = learned("old"), replace(learned("lesson"), cue="c")
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    for migration in load_migrations()[:6]:
        apply_migration(database, migration, path)
    database.execute(
        "INSERT INTO memories (space, id, kind, key, state, archived, subject, task_type, at, recorded, unreflected,"
        " stale, record) VALUES (?, ?, 'semantic', '', 'active', 0, '', '', 0, 0, 1, 0, ?)",
        (KEY.space, old.id, msgspec.json.encode(old).decode()),
    )
    database.close()
    store = await open_sqlite(path)

    def change(tx: Transaction) -> None:
        assert tx.memories.list(KEY.space, MemoryFilter()) == [old]
        assert tx.memories.list(KEY.space, MemoryFilter(lessons=True)) == []
        tx.memories.put(KEY.space, [lesson])
        tx.runs.put(KEY.space, ran("one"), [observed("c", "one")])
        assert tx.memories.list(KEY.space, MemoryFilter(lessons=True)) == [lesson]
        assert tx.memories.list(KEY.space, MemoryFilter(cues=("c",))) == [lesson]
        assert [claim.cue for claim in tx.runs.claims(KEY.space)] == ["c"]

    await store.write(change)
    await store.close()


async def test_a_file_of_version_1_may_be_opened_by_several_at_once(version_1: Path) -> None:
    for store in await asyncio.gather(*(open_sqlite(version_1) for _ in range(6))):
        await store.close()
    database = apsw.Connection(str(version_1))
    applied = [number for (number,) in database.execute("SELECT number FROM migrations ORDER BY number")]
    database.close()
    assert applied == [migration.number for migration in load_migrations()]
