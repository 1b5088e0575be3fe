"""What the verbs return has a repr of one line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import Struct

from ireneo import sync
from ireneo.faces.cli.demo import __file__ as demo
from ireneo.short_repr import ShortRepr

LONGEST = 330


class Chapter(Struct):
    title: str


class Book(ShortRepr, frozen=True, kw_only=True):
    id: str
    title: str
    pages: int = 0
    rating: float | None = None
    first: Chapter | None = None
    chapters: tuple[Chapter, ...] = ()
    at: datetime | None = None


def test_what_is_set_is_shown_and_the_rest_left_out() -> None:
    assert repr(Book(id="m_" + "a" * 26, title="")) == "Book(id='m_aaaaaaa')"
    chapter = Chapter("Dusk\n\nand dawn")
    book = Book(
        id="b",
        title="x" * 80,
        rating=1 / 3,
        first=chapter,
        chapters=(chapter, chapter),
        at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert repr(book) == (
        f"Book(id='b', title='{'x' * 71}…', rating=0.3333, first=Chapter(title='Dusk and dawn'), "
        "chapters=<2 Chapter>, at=2026-03-01 00:00+00:00)"
    )


@pytest.fixture(scope="module")
def memory() -> sync.Memory:
    memory = sync.open(":memory:")
    memory.import_file(Path(demo).with_name("kestrel-drift.jsonl"))
    for place, month in (("Porto", 3), ("Lisbon", 9)):
        memory.remember(f"Anna lives in {place}.", at=datetime(2026, month, 1, tzinfo=UTC))
    return memory


def test_every_result_is_one_line(memory: sync.Memory) -> None:
    session = memory.session(memory.sessions()[0].key.session)
    context = session.context(2_000)
    learned = memory.learn()
    results = [
        context,
        context.view[0],
        session.expand(context.view[0].id),
        session.expand(context.view[0].id).summary,
        session.tree(),
        session.pins()[0],
        memory.sessions()[0],
        memory.remember("Anna lives in Lisbon."),
        *memory.recall("Where does Anna live?", limit=3),
        *memory.memories(limit=3),
        memory.history("Anna")[0],
        memory.brief(goal="Write to Anna"),
        memory.forget(subject="Anna", preview=True),
        learned,
        learned.sessions[0],
        memory.lessons()[0],
        memory.work(until_idle=True),
    ]
    for result in results:
        shown = repr(result)
        assert shown.startswith(f"{type(result).__name__}(")
        assert "\n" not in shown
        assert len(shown) <= LONGEST, shown


def test_a_memory_and_a_session_say_which_they_are(memory: sync.Memory) -> None:
    assert repr(memory) == "Memory(space='default')"
    assert repr(memory.session("monday", branch="main")) == "Session(id='monday', branch='main')"


def test_a_fact_is_known_by_its_repr(memory: sync.Memory) -> None:
    (found,) = memory.recall("Where does Anna live?", limit=1)
    assert repr(found).startswith("RecallHit(id='m_inc3uix', kind='semantic', text='Anna lives in Lisbon.', score=")
