"""What always holds of recall: budgets are kept, spaces stay apart, rankings lose and double nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.recall_shelf import SmallShelf

from ireneo.language.words import terms
from ireneo.log.message import MessageId
from ireneo.memories import index as of
from ireneo.memories.ranking import RecallHit, move_repeats_last, pack, read_question, without_duplicates
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.wording import distinctive_words

NOW = datetime(2024, 2, 29, 12, tzinfo=UTC)
WORDS = "kiln clay glaze boat rowed sister the yesterday 3 May Nora Emil ? when".split()
scores = st.floats(0.1, 2)
said = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
sessions = st.lists(st.lists(st.tuples(st.sampled_from(["Nora", "Emil", None]), said), max_size=6), max_size=5)


@settings(deadline=None)
@given(st.lists(st.integers(0, 500)), st.integers(-10, 2_000))
def test_packing_never_exceeds_its_budget(costs: list[int], budget: int) -> None:
    taken = pack(list(enumerate(costs)), lambda item: item[1], budget)
    assert sum(cost for _, cost in taken) <= max(0, budget)
    places = [place for place, _ in taken]
    assert places == sorted(set(places))
    left = budget - sum(cost for _, cost in taken)
    assert all(cost > left for place, cost in enumerate(costs) if place not in places)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_terms_that_are_read_again_as_they_are_found(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(found)
    assert not any(term.startswith("@") or " " in term for term in found)


@settings(deadline=None)
@given(
    st.text(max_size=120)
    | st.lists(st.sampled_from(["last", "in", "12", "3", "May", "2023", "ago", "weeks", "before", "-02-", "30"])).map(
        " ".join
    )
)
def test_any_question_can_be_read(text: str) -> None:
    read = read_question(text, now=NOW, speakers=["Nora", "Emil Ö", "", "("])
    assert len(dict(read.terms)) == len(read.terms)
    assert all(weight > 0 for _, weight in read.terms)


@settings(deadline=None)
@given(
    st.integers(0, of.MOST_SESSIONS - 1),
    st.integers(0, of.MOST_IN_SESSION - 1),
    st.integers(0, 10**7),
    st.sampled_from([0, 1, 2]),
)
def test_numbers_sort_as_their_messages_do(session: int, ordinal: int, size: int, role: of.RoleClass) -> None:
    number = of.document_number(session, ordinal, size, role)
    assert 0 <= number < 2**63
    assert (of.session_of(number), of.place_of(number), of.role_of(number)) == (session, session << 24 | ordinal, role)
    if ordinal + 1 < of.MOST_IN_SESSION:
        assert number < of.document_number(session, ordinal + 1, 0, 0)


@settings(deadline=None)
@given(sessions, said)
def test_a_ranking_is_sorted_and_holds_each_message_once(told: list[list[tuple[str | None, str]]], asked: str) -> None:
    shelf = SmallShelf(told)
    ranked = shelf.ranked(asked)
    scores = [each.score for each in ranked]
    assert all(isfinite(score) and score > 0 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len({each.number for each in ranked}) == len(ranked)
    assert {each.number for each in ranked} <= set(shelf.passages)


@settings(deadline=None)
@given(sessions, said)
def test_where_a_space_lies_among_others_changes_nothing(told: list[list[tuple[str | None, str]]], asked: str) -> None:
    """Sessions of other spaces only move the keys: neither scores nor order depend on those."""
    here = [(each.score, each.number) for each in SmallShelf(told).ranked(asked)]
    moved = [(each.score, each.number - (1_000 << 31)) for each in SmallShelf(told, first_key=1_000).ranked(asked)]
    assert here == moved


@settings(deadline=None)
@given(sessions, said)
def test_a_message_that_holds_a_term_is_found_by_it(told: list[list[tuple[str | None, str]]], asked: str) -> None:
    shelf = SmallShelf(told)
    found = {each.number for each in shelf.ranked(asked)}
    wanted = {term for term, _ in read_question(asked, speakers=shelf.speakers).terms}
    assert {number for number, each in shelf.passages.items() if wanted & set(terms(each.text))} <= found


@st.composite
def hits(draw: st.DrawFn) -> list[RecallHit]:
    """Messages, and memories that were read from some of them."""
    found = [
        RecallHit(id=f"s{n}", kind="message", text=draw(said), score=draw(scores), sources=(MessageId(f"s{n}"),))
        for n in range(draw(st.integers(0, 4)))
    ]
    for n in range(draw(st.integers(0, 4))):
        sources = tuple(draw(st.lists(st.sampled_from([MessageId(f"s{n}") for n in range(6)]), min_size=1)))
        record = Record(
            id=MemoryId(f"m{n}"),
            kind="semantic",
            key="",
            text=draw(said),
            at=NOW,
            recorded=NOW,
            evidence=(Evidence(at=NOW, recorded=NOW, messages=sources),),
            attribute=draw(st.sampled_from(["", "home"])),
        )
        found.append(
            RecallHit(id=f"m{n}", kind="semantic", text=record.text, score=draw(scores), sources=sources, record=record)
        )
    return sorted(found, key=lambda each: -each.score)


@settings(deadline=None)
@given(hits(), said)
def test_one_row_for_a_memory_and_its_message_loses_and_doubles_nothing(found: list[RecallHit], asked: str) -> None:
    once = without_duplicates(found, read_question(asked))
    assert len({each.id for each in once}) == len(once)
    # What is left out says nothing besides what another row of the same message says.
    told = set[str]().union(*(distinctive_words(each.text) for each in once))
    assert all(distinctive_words(each.text) <= told for each in found)
    assert [each.score for each in once] == sorted((each.score for each in once), reverse=True)


@settings(deadline=None)
@given(st.lists(said))
def test_repeats_are_not_lost(texts: list[str]) -> None:
    assert sorted(move_repeats_last(texts, terms)) == sorted(texts)
