"""Whatever is broken in a file by hand is found, and named in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from ireneo.adapters.sql.search import MOST_NAMED
from ireneo.adapters.sql.upkeep import SENTENCES
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.ports.store import Transaction
from ireneo.testing.conformance.check import (
    KEY,
    MINUTE,
    NOON,
    noted,
    numbered,
    rebuilt,
    summarise,
    tell,
    tell_after,
    with_native,
)

WHERE = "session 'session' of space 'space'"


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A file with something in every table: a trunk of 8 messages, and a fork of 3 behind position 3."""
    path = tmp_path / "store.db"

    async def main() -> None:
        store = await open_sqlite(path)
        m = await store.write(tell, [with_native(draft, {"n": 1}) for draft in numbered(8)])
        fork = await store.write(tell_after, m[3], numbered(3, "fork"))

        def change(tx: Transaction) -> None:
            tx.log.move(KEY, "fork", fork[-1].id)
            tx.summaries.put(KEY, [summarise(m[2], fork[1])])
            tx.rebuilds.put(KEY, rebuilt(m[5]))
            tx.annotations.put(KEY, [noted(m[4], "note")])
            tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)

        await store.write(change)
        await store.close()

    asyncio.run(main())
    return path


def faults(path: Path, *statements: str) -> Sequence[str]:
    """What is found in a file after it was changed by hand."""
    database = apsw.Connection(str(path))
    for statement in statements:
        database.execute(statement)
    database.close()

    async def main() -> Sequence[str]:
        store = await open_sqlite(path)
        try:
            return await store.read(lambda tx: tx.upkeep.faults())
        finally:
            await store.close()

    return asyncio.run(main())


BREAKS = {
    "rows_of_no_session": ("INSERT INTO segments VALUES (7, 0, NULL, 0)", "A segment belongs to session number 7"),
    "messages_of_no_segment": (
        "DELETE FROM segments WHERE segment = 1",
        f"Positions 4 to 6 of {WHERE} stand on segment 1",
    ),
    "segments_without_parent": (
        "UPDATE segments SET parent = 5 WHERE segment = 1",
        f"Segment 1 of {WHERE} goes on after position 3",
    ),
    "segments_without_first": (
        "INSERT INTO segments VALUES (1, 2, 0, 8)",
        f"Segment 2 of {WHERE} begins at position 8",
    ),
    "segments_with_gaps": (
        "DELETE FROM messages WHERE segment = 0 AND position = 6",
        f"Segment 0 of {WHERE} has a gap at position 6",
    ),
    "messages_behind_another": (
        "UPDATE messages SET parent = 'm_other' WHERE segment = 1 AND position = 4",
        f"at position 4 of {WHERE} stands behind a message that isn't its parent",
    ),
    "messages_with_wrong_total": (
        "UPDATE messages SET total_tokens = 0 WHERE segment = 0 AND position = 7",
        f"at position 7 of {WHERE} gives a total",
    ),
    "sessions_with_wrong_counts": (
        "UPDATE sessions SET messages = 10",
        f"Of {WHERE} 10 messages with 101 tokens were counted, and 11 messages with 101 tokens are there",
    ),
    "branches_to_nothing": (
        "UPDATE branches SET position = 9 WHERE branch = 'fork'",
        f"Branch 'fork' of {WHERE} points to position 9",
    ),
    "payloads_of_nothing": ("UPDATE payloads SET position = 9 WHERE position = 3", f"of segment 0 of {WHERE}"),
    "summaries_of_nothing": ("UPDATE summaries SET last_position = 6", f"of {WHERE} covers positions 2 to 6"),
    "rebuilds_of_nothing": ("UPDATE rebuilds SET at = 'm_other'", f"hangs on position 5 of {WHERE}"),
    "read_marks_of_nothing": (
        "INSERT INTO read_marks VALUES (1, 0, 'read', 99)",
        f"Segment 0 of {WHERE} was read up to position 99",
    ),
    "annotations_of_nothing": ("UPDATE annotations SET segment = 1", f"hangs on position 4 of {WHERE}"),
    "leases_with_unknown_token": (
        "UPDATE sessions SET leased = 0",
        f"The lease on 'work' of {WHERE} has token 1, and only 0 were given",
    ),
}


def test_a_sound_file_has_no_faults(sound: Path) -> None:
    assert faults(sound) == []


def test_there_is_a_break_for_every_kind_of_fault() -> None:
    assert set(BREAKS) == set(SENTENCES)


@pytest.mark.parametrize("kind", BREAKS)
def test_what_is_broken_is_found(sound: Path, kind: str) -> None:
    statement, sentence = BREAKS[kind]
    found = faults(sound, statement)
    assert [each for each in found if sentence in each], found
    assert all(each.endswith(".") for each in found)


@pytest.mark.parametrize("kind", BREAKS)
def test_only_what_is_broken_is_named(sound: Path, kind: str) -> None:
    # With a message that is gone, its payload hangs loose, and the count is wrong.
    wanted = 3 if kind == "segments_with_gaps" else 1
    assert len(faults(sound, BREAKS[kind][0])) == wanted


def test_of_one_kind_so_many_are_named(sound: Path) -> None:
    into = "INSERT INTO branches (session, branch, segment, position)"
    rows = (f"{into} VALUES (1, 'b{number}', 0, 99)" for number in range(MOST_NAMED + 5))
    found = faults(sound, *rows)
    assert len(found) == MOST_NAMED + 1
    assert found[-1] == f"There are more faults of this kind than these {MOST_NAMED}."


def test_a_damaged_file_is_said_to_be_damaged(sound: Path) -> None:
    faults(sound)
    database = apsw.Connection(str(sound))
    ((page,),) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'summaries_by_place'")
    ((size,),) = database.execute("PRAGMA page_size")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    with sound.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x00" * 200)
    found = faults(sound)
    assert found
    assert all(each.startswith("The file is damaged") for each in found)
