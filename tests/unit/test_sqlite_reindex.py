"""The index of words is made for a file that has none, made anew for other rules, and repaired where it is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest
from tests.unit.earlier_files import written_by

from ireneo.adapters.sql.search import WORD_SENTENCES
from ireneo.adapters.sqlite.opening import apply_migration, is_current, load_migrations, open_sqlite, reindex
from ireneo.adapters.sqlite.store import SqliteDatabase
from ireneo.log.tree import SessionKey
from ireneo.memories.index import place_of
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import KEY, SPACE, after, aside, learned, numbered, say, tell, tell_after

ELSEWHERE = SessionKey("elsewhere", "s")
MESSAGES = after(None, [aside("Ana", "a whale"), *numbered(6), *say("\u2026")])
FORK = after(MESSAGES[2], say("a whale", "a fork"))


@pytest.fixture
def unindexed(tmp_path: Path) -> Path:
    """A file of the version before the index, with a fork in one space and a session in another."""
    path = tmp_path / "store.db"

    def fill(tx: Transaction) -> None:
        for key in (KEY, ELSEWHERE):
            tx.sessions.create(key, None)
            tx.log.insert(key, MESSAGES)
            tx.log.move(key, "main", MESSAGES[-1].id)
        tx.log.insert(KEY, FORK)

    written_by(3, path, fill).close()
    return path


def migrate_rest(database: apsw.Connection, path: Path) -> None:
    """Bring the file to this version, with its messages not indexed yet."""
    for migration in load_migrations()[3:]:
        apply_migration(database, migration, path)


def raw(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path))


async def found(store: Store, term: str, space: str = SPACE) -> list[str]:

    def look(tx: Transaction) -> list[str]:
        numbers = tx.search.postings(space, "messages", [term])[term]
        return [each.message.id for each in tx.search.messages(space, numbers)]

    return await store.read(look)


async def check_sound(path: Path) -> None:
    """Check that all of it is found, and nothing is wrong."""
    store = await open_sqlite(path)
    assert await found(store, "whale") == [MESSAGES[0].id, FORK[0].id]
    assert await found(store, "whale", "elsewhere") == [MESSAGES[0].id]
    assert await found(store, "messag") == [each.id for each in MESSAGES[1:7]]

    def look(tx: Transaction) -> None:
        for space, documents in ((SPACE, 9), ("elsewhere", 7)):
            assert tx.search.size(space, "messages").documents == documents
            assert list(tx.search.authors(space)) == ["Ana"]
            assert tx.words.faults(space) == []

    await store.read(look)
    await store.close()


def test_an_older_file_is_indexed_when_it_is_opened(unindexed: Path) -> None:
    asyncio.run(check_sound(unindexed))
    assert is_current(SqliteDatabase(raw(unindexed)))


def test_it_goes_on_where_it_was_broken_off(unindexed: Path) -> None:
    database = raw(unindexed)
    migrate_rest(database, unindexed)
    indexed = [reindex(SqliteDatabase(database), 3) for _ in range(4)]
    assert indexed == [3, 3, 3, 3]
    assert database.execute("PRAGMA user_version").fetchall() == [(0,)]
    ((indexed_of_both,),) = database.execute("SELECT count(*) FROM documents")
    assert indexed_of_both == 12
    database.close()
    asyncio.run(check_sound(unindexed))


def test_it_says_how_many_it_indexed_and_then_none(unindexed: Path) -> None:
    database = raw(unindexed)
    migrate_rest(database, unindexed)
    assert [reindex(SqliteDatabase(database), 100) for _ in range(3)] == [18, 0, 0]
    assert is_current(SqliteDatabase(database))
    database.close()


def test_several_may_open_an_older_file_at_once(unindexed: Path) -> None:
    async def main() -> None:
        for store in await asyncio.gather(*(open_sqlite(unindexed) for _ in range(4))):
            await store.close()

    asyncio.run(main())
    asyncio.run(check_sound(unindexed))


def test_an_index_by_other_rules_is_made_anew_under_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    held = learned("A whale was seen.")

    async def numbers() -> tuple[list[int], list[int]]:
        store = await open_sqlite(path)

        def look(tx: Transaction) -> tuple[list[int], list[int]]:
            messages = tx.search.postings(SPACE, "messages", ["whale"])["whale"]
            memories = tx.search.postings(SPACE, "memories", ["whale"])["whale"]
            assert tx.search.size(SPACE, "messages").documents == 5
            assert tx.search.size(SPACE, "memories").documents == 1
            assert tx.words.faults(SPACE) == []
            return list(messages), list(memories)

        there = await store.read(look)
        await store.close()
        return there

    async def fill() -> None:
        store = await open_sqlite(path)
        m = await store.write(tell, say("a ferry", "a squid", "a whale"))
        await store.write(tell_after, m[0], say("left", "a whale, too"))
        await store.write(lambda tx: tx.memories.put(SPACE, [held]))
        await store.close()

    asyncio.run(fill())
    before = asyncio.run(numbers())
    assert [len(each) for each in before] == [2, 1]
    database = raw(path)
    # As by rules that knew other terms.
    database.execute("DELETE FROM message_words")
    database.execute("INSERT INTO message_words (rowid, terms) VALUES (?, '1sother')", (before[0][0],))
    database.execute("PRAGMA user_version = 7")
    database.close()
    assert asyncio.run(numbers()) == before
    assert is_current(SqliteDatabase(raw(path)))


BREAKS = {
    "messages_without_document": "DELETE FROM documents WHERE position = 3",
    "documents_of_nothing": "INSERT INTO documents VALUES (1, 0, 99, (1 << 31) + (99 << 7), 1)",
    "documents_without_words": "DELETE FROM message_words WHERE rowid = (SELECT min(document) FROM documents)",
    "words_of_no_document": "INSERT INTO message_words (rowid, terms) VALUES ((1 << 31) + (77 << 7), '1swhale')",
    "memories_without_words": "DELETE FROM memory_words WHERE rowid > 0",
    "wrong_counts_of_messages": "UPDATE spaces SET message_terms = message_terms + 1",
    "wrong_counts_of_memories": "UPDATE spaces SET memories = 7",
}


def test_there_is_a_break_for_every_kind_of_fault() -> None:
    assert set(BREAKS) == set(WORD_SENTENCES)


@pytest.mark.parametrize("kind", BREAKS)
def test_what_is_broken_is_found_and_repaired(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.db"

    async def work(*, repair: bool) -> Sequence[str]:
        store = await open_sqlite(path)

        def change(tx: Transaction) -> Sequence[str]:
            if repair:
                tx.words.rebuild(SPACE)
            return tx.words.faults(SPACE)

        faults = await store.write(change)
        await store.close()
        return faults

    async def fill() -> None:
        store = await open_sqlite(path)
        await store.write(tell, [aside("Ana", "a whale"), *numbered(5)])
        await store.write(lambda tx: tx.memories.put(SPACE, [learned("A whale was seen.")]))
        await store.close()

    asyncio.run(fill())
    assert asyncio.run(work(repair=False)) == []
    database = raw(path)
    database.execute(BREAKS[kind])
    database.close()
    beginning = WORD_SENTENCES[kind].split("{")[0]
    faults = asyncio.run(work(repair=False))
    assert [each for each in faults if each.startswith(beginning) and each.endswith(".")], faults
    assert asyncio.run(work(repair=True)) == []

    async def check() -> None:
        store = await open_sqlite(path)
        assert len(await found(store, "whale")) == 1
        assert len(await found(store, "messag")) == 5

        def look(tx: Transaction) -> None:
            assert tx.search.size(SPACE, "messages").documents == 6
            assert tx.search.count(SPACE, "memories", ["whale"])["whale"] == 1
            assert list(tx.search.authors(SPACE)) == ["Ana"]

        await store.read(look)
        await store.write(tell, say("a late whale"))

        def look_again(tx: Transaction) -> None:
            numbers = tx.search.postings(SPACE, "messages", ["whale"])["whale"]
            assert len({place_of(number) for number in numbers}) == 2

        await store.read(look_again)
        await store.close()

    asyncio.run(check())
