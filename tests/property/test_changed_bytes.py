"""A byte of a database that changed by itself: what it changes of what messages say is noticed, and no verb breaks."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.examples import times
from tests.property.verbs import READING, VERBS, Verb, furnish, memory_with_all

from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import IreneoError
from ireneo.ports.store import Store, Transaction

FLIPS = 25
READING_FLIPS = 3
VERBS_FLIPS = 1

Says = dict[str, list[bytes]]
"""What the messages of each branch say, and who says it."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with something of everything."""
    path = tmp_path_factory.mktemp("furnished") / "memory.db"

    async def make() -> None:
        store = await open_sqlite(path, durability="normal")
        memory = memory_with_all(store)
        await furnish(memory, messages=100)
        await memory.embed()
        await store.close()

    asyncio.run(make())
    return path.read_bytes()


def flips(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The file with one byte changed, wherever that lies: by one bit or to any other."""
    chance = random.Random(seed)
    for number in range(count):
        place = chance.randrange(len(data))
        other = data[place] ^ (1 << chance.randrange(8) if number % 2 else chance.randrange(1, 256))
        yield data[:place] + bytes([other]) + data[place + 1 :]


async def said(store: Store) -> Says | str:
    """What all messages say, through the port; why not, where they can't be read."""

    def look(tx: Transaction) -> Says:
        out: Says = {}
        for info in tx.sessions.list("mine"):
            for branch, head in tx.sessions.branches(info.key).items():
                path = tx.log.path(info.key, head.id, 0, head.position) if head else ()
                told = [msgspec.json.encode((each.role, each.parts)) for each in path]
                out[f"{info.key.session}@{branch}"] = told
        return out

    try:
        return await store.read(look)
    except IreneoError as error:
        return str(error)


async def looked_over(path: Path) -> tuple[Says | str, list[str]]:
    """What the messages of a file say, and what is found to be wrong with it."""
    try:
        store = await open_sqlite(path, durability="normal")
    except IreneoError as error:
        return str(error), [str(error)]
    try:
        says = await said(store)
        return says, [each.text for each in await memory_with_all(store).doctor()]
    except IreneoError as error:
        return says, [str(error)]
    finally:
        await store.close()


def test_every_byte_that_changes_what_a_message_says_is_noticed(furnished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(furnished)
    before, found = asyncio.run(looked_over(path))
    assert found == []
    assert len(before) >= 5
    changed = 0
    for data in flips(furnished, 5, times(FLIPS)):
        path.write_bytes(data)
        after, found = asyncio.run(looked_over(path))
        changed += after != before
        assert after == before or found
    assert changed


@pytest.mark.parametrize(("verbs", "count"), [(READING, READING_FLIPS), (VERBS, VERBS_FLIPS)])
def test_no_verb_breaks_over_a_damaged_file(
    furnished: bytes, tmp_path: Path, verbs: Mapping[str, Verb], count: int
) -> None:
    async def main(path: Path) -> None:
        store = await open_sqlite(path, durability="normal")
        memory = memory_with_all(store)
        for verb in verbs.values():
            try:
                await verb(memory)
            except IreneoError:
                continue
        await store.close()

    for number, data in enumerate(flips(furnished, count, times(count))):
        path = tmp_path / f"{number}.db"
        path.write_bytes(data)
        try:
            asyncio.run(main(path))
        except IreneoError:
            continue


def damaged(furnished: bytes, path: Path, *statements: str) -> None:
    """The file with something changed behind its back."""
    path.write_bytes(furnished)
    database = apsw.Connection(str(path))
    triggers = database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for (name,) in triggers:
        database.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        database.execute(statement)
        assert database.changes(), statement
    database.close()


def doctored(path: Path, *, repair: bool = False, quick: bool = False) -> list[tuple[str, bool]]:
    async def main() -> list[tuple[str, bool]]:
        store = await open_sqlite(path, durability="normal")
        try:
            found = await memory_with_all(store).doctor(repair=repair, quick=quick)
        finally:
            await store.close()
        return [(each.text, each.repaired) for each in found]

    return asyncio.run(main())


CHANGES = {
    "messages": ("UPDATE messages SET at = '2031-01-01T00:00:00+00:00' WHERE rowid = 7", "Message m_"),
    "payloads": (
        "UPDATE payloads SET packed = CAST(substr(packed, 1, 20) || x'00' || substr(packed, 22) AS BLOB)"
        " WHERE rowid = 3",
        "What the provider and the log wrote",
    ),
    "branches": ("UPDATE branches SET position = 3 WHERE session = 1 AND branch = 'main'", "Where branch 'main'"),
    "annotations": ("UPDATE annotations SET record = replace(record, 'Never', 'Ever ')", "Annotation p_"),
    "memories": ("UPDATE memories SET record = replace(record, 'Lisbon', 'Lesbos')", "Memory m_"),
    "pads": ("UPDATE pads SET record = replace(record, 'stamp', 'stomp')", "The scratchpad of task 'letter'"),
}


@pytest.mark.parametrize("table", CHANGES)
def test_what_is_no_longer_what_was_stored_is_named(furnished: bytes, tmp_path: Path, table: str) -> None:
    path = tmp_path / "memory.db"
    statement, named = CHANGES[table]
    damaged(furnished, path, statement)
    assert any(text.startswith(named) and "is not what was stored" in text for text, _ in doctored(path))
    # It is none of what follows from the log.
    assert not all(repaired for _, repaired in doctored(path, repair=True))


MENDABLE = {
    "a summary": "UPDATE summaries SET record = replace(record, 'a', 'o') WHERE rowid = 2",
    "a vector": "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE number = 5",
    "a run": "UPDATE runs SET record = replace(record, 'a', 'o')",
    "an observation": "UPDATE sightings SET record = replace(record, 'make', 'moke')",
    "a counter": "UPDATE sessions SET tokens = tokens + 1, messages = messages + 1 WHERE key = 2",
    "the index of words": "DELETE FROM message_words_data WHERE id > 10",
}


@pytest.mark.parametrize("what", MENDABLE)
def test_what_follows_from_the_log_is_repaired(furnished: bytes, tmp_path: Path, what: str) -> None:
    path = tmp_path / "memory.db"
    damaged(furnished, path, MENDABLE[what])
    found = doctored(path, repair=True)
    assert found
    assert all(repaired for _, repaired in found), found
    assert doctored(path) == []


def test_an_index_that_no_longer_fits_its_rows_is_made_anew(furnished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(furnished)
    ((size,),) = query(path, "PRAGMA page_size")
    ((name,),) = query(path, "SELECT id FROM messages WHERE rowid = 200")
    page = int(str(size))
    of_index = [
        place
        for place in places_of(furnished, str(name).encode())
        # What a page of an index begins with.
        if furnished[place // page * page] in (0x02, 0x0A)
    ]
    assert of_index
    path.write_bytes(furnished[: of_index[0] + 5] + b"_" + furnished[of_index[0] + 6 :])
    found = doctored(path, repair=True)
    assert found
    assert all(repaired for _, repaired in found), found
    assert doctored(path) == []


def test_an_index_is_not_made_to_fit_a_row_that_was_changed(furnished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(furnished)
    ((name,),) = query(path, "SELECT id FROM messages WHERE rowid = 200")
    ((size,),) = query(path, "PRAGMA page_size")
    page = int(str(size))
    of_row = [place for place in places_of(furnished, str(name).encode()) if furnished[place // page * page] == 0x0D]
    data = bytearray(furnished)
    data[of_row[0] + 5] = ord("_")
    path.write_bytes(data)
    found = doctored(path, repair=True)
    assert not all(repaired for _, repaired in found), found
    assert doctored(path)


def places_of(data: bytes, word: bytes) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(word), data)]


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    database = apsw.Connection(str(path))
    try:
        return list(database.execute(sql))
    finally:
        database.close()


def test_a_quick_look_leaves_out_what_reads_every_row(furnished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    damaged(furnished, path, CHANGES["pads"][0])
    assert doctored(path)
    assert doctored(path, quick=True) == []


def test_what_an_earlier_version_wrote_without_checksums_is_sound(furnished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    tables = ("messages", "branches", "summaries", "annotations", "memories", "pads", "runs", "sightings", "vectors")
    damaged(furnished, path, *(f"UPDATE {table} SET checksum = NULL" for table in tables))
    assert doctored(path) == []
    damaged(path.read_bytes(), path, "UPDATE pads SET record = substr(record, 2)")
    assert any("can't be read" in text for text, _ in doctored(path))
