"""The laws of threads: stretches may be joined in any way, nothing closed comes back, and no more than the cap stay."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times

from ireneo.log.message import MessageId
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadKind, thread_id
from ireneo.summaries.threads import follow, join, keep_within

KINDS: tuple[ThreadKind, ...] = ("promise", "debt", "secret", "wound", "question")
PEOPLE = ("", "Vera", "Tom", "Anselm")
ROOM = 10_000


def thread(number: int, kind: ThreadKind = "promise", who: str = "", whom: str = "", weight: float = 1.0) -> Thread:
    source = MessageId(f"m_{number}")
    text = f"The thread number {number}."
    name = thread_id(kind, text, source)
    return Thread(id=name, kind=kind, text=text, who=who, whom=whom, weight=weight, position=number, source=source)


@st.composite
def stories(draw: st.DrawFn, stretches: int = 4) -> tuple[list[Thread], list[ThreadChanges]]:
    """What is open before a story, and its stretches: each thread is opened once, and closed once at the most."""
    kinds = st.sampled_from(KINDS)
    people = st.sampled_from(PEOPLE)
    total = draw(st.integers(0, 60))
    made = [
        thread(n, draw(kinds), draw(people), draw(people), draw(st.sampled_from((0.5, 1.0, 1.7)))) for n in range(total)
    ]
    opens = sorted(draw(st.lists(st.integers(0, stretches), min_size=total, max_size=total)))
    closes = [draw(st.one_of(st.none(), st.integers(start, stretches + 2))) for start in opens]
    before = [each for each, start in zip(made, opens, strict=True) if start == 0]
    out = []
    for number in range(1, stretches + 1):
        rows = list(zip(made, opens, closes, strict=True))
        out.append(
            ThreadChanges(
                opened=tuple(each for each, start, end in rows if start == number and end != number),
                closed=tuple(each.id for each, start, end in rows if start < number and end == number and end != start),
                forgotten=draw(st.integers(0, 3)),
            )
        )
    return before, out


@given(stories(3))
def test_it_does_not_matter_which_neighbours_are_joined_first(story: tuple[list[Thread], list[ThreadChanges]]) -> None:
    _, (a, b, c) = story
    assert join([join([a, b], ROOM), c], ROOM) == join([a, join([b, c], ROOM)], ROOM) == join([a, b, c], ROOM)


@given(stories(2))
def test_to_follow_two_stretches_joined_is_to_follow_one_after_the_other(
    story: tuple[list[Thread], list[ThreadChanges]],
) -> None:
    before, (a, b) = story
    first, lost = follow(before, a, ROOM)
    second, more = follow(first, b, ROOM)
    assert follow(before, join([a, b], ROOM), ROOM) == (second, lost + more)


@given(stories(), st.integers(0, 45))
def test_no_more_than_the_cap_stay_open_and_each_that_goes_is_counted(
    story: tuple[list[Thread], list[ThreadChanges]], cap: int
) -> None:
    before, stretches = story
    joined = join(stretches, cap)
    whole = join(stretches, ROOM)
    assert len(joined.opened) <= cap
    assert len(joined.opened) + joined.forgotten == len(whole.opened) + whole.forgotten
    still, forgotten = follow(before, whole, cap)
    everything, none = follow(before, whole, ROOM)
    assert len(still) <= cap
    assert len(still) + forgotten == len(everything) + none
    assert [each for each in everything if each in still] == list(still)


@given(stories(), st.integers(0, 45))
def test_what_was_closed_never_comes_back(story: tuple[list[Thread], list[ThreadChanges]], cap: int) -> None:
    still, stretches = tuple(story[0]), story[1]
    closed: set[str] = set()
    for stretch in stretches:
        still, _ = follow(still, stretch, cap)
        closed |= set(stretch.closed)
        assert not closed & {each.id for each in still}
    assert not closed & {each.id for each in join(stretches, cap).opened}


@given(stories(), st.integers(0, 45))
@settings(max_examples=times(6))
def test_the_same_threads_give_way_each_time(story: tuple[list[Thread], list[ThreadChanges]], cap: int) -> None:
    before, stretches = story
    assert follow(before, stretches[0], cap) == follow(before, stretches[0], cap)
    kept, _ = keep_within(before, cap)
    assert keep_within(kept, cap) == (kept, 0)


def test_a_debt_outlasts_a_question_and_a_young_thread_an_old_one() -> None:
    debt, question = thread(0, "debt"), thread(0, "question")
    old, young = thread(0, "question", weight=1.1), thread(900, "question")
    assert keep_within([question, debt, thread(100)], 2)[0] == (debt, thread(100))
    assert keep_within([old, young], 1)[0] == (young,)


def test_a_thread_opened_in_one_stretch_and_closed_in_the_next_leaves_no_trace() -> None:
    one = thread(1)
    assert join([ThreadChanges(opened=(one,)), ThreadChanges(closed=(one.id,))], 40) == ThreadChanges()
    assert follow([one], ThreadChanges(closed=(one.id,)), 40) == ((), 0)
    assert follow([one], ThreadChanges(opened=(one,)), 40) == ((one,), 0)
