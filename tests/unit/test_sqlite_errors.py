"""The driver's errors stop at the adapter: each has a meaning, and none comes through."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.adapters.sqlite.store import MEANINGS, SqliteTransaction, translate
from ireneo.errors import NotADatabase, StoreBusy, StoreError
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction

CLASSES = [
    value
    for value in vars(apsw).values()
    if isinstance(value, type) and issubclass(value, apsw.Error) and value is not apsw.Error
]


def test_every_error_of_the_driver_has_a_meaning() -> None:
    assert len(CLASSES) > 30
    assert {error.__name__ for error in CLASSES} == {error.__name__ for error in MEANINGS}


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_each_becomes_a_sentence_that_names_the_file(error: type[apsw.Error]) -> None:
    ours = translate(error("what SQLite says"), Path("memory.db"))
    assert isinstance(ours, StoreError)
    assert str(ours).startswith("memory.db ")


def test_an_error_that_a_later_driver_brings_is_translated_too() -> None:
    class NewError(apsw.Error):
        pass

    assert "a fault in Ireneo" in str(translate(NewError("new"), Path("memory.db")))


@pytest.mark.parametrize(
    ("error", "wanted"),
    [(apsw.BusyError, StoreBusy), (apsw.LockedError, StoreBusy), (apsw.NotADBError, NotADatabase)],
)
def test_those_that_a_caller_can_act_on_have_a_class(error: type[apsw.Error], wanted: type[StoreError]) -> None:
    assert type(translate(error(), Path("memory.db"))) is wanted


@pytest.mark.parametrize("given", [{"space": "space"}, {"space": "space", "session": ["no text"]}, None])
def test_a_query_that_is_asked_wrongly_is_our_fault_and_no_damage(tmp_path: Path, given: dict[str, str] | None) -> None:
    async def work() -> None:
        store = await open_sqlite(tmp_path / "store.db")

        def ask(tx: Transaction) -> None:
            assert isinstance(tx, SqliteTransaction)
            name = "find_session" if given else "no such query"
            tx.run(tx.database.rows, name, **(given or {}))

        try:
            await store.read(ask)
        finally:
            await store.close()

    with pytest.raises(StoreError, match="a fault in Ireneo, please report it") as caught:
        asyncio.run(work())
    assert isinstance(caught.value.__cause__, apsw.BindingsError)


def test_an_error_in_the_middle_of_the_work_is_translated_and_keeps_its_cause(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def work() -> None:
        store = await open_sqlite(path)
        try:
            outside = apsw.Connection(str(path))
            outside.execute("DROP TABLE branches")
            outside.close()
            await store.read(lambda tx: tx.log.head(SessionKey("space", "session")))
        finally:
            await store.close()

    with pytest.raises(StoreError, match="no such table: branches") as caught:
        asyncio.run(work())
    assert isinstance(caught.value.__cause__, apsw.SQLError)
