"""What must hold of a past that models told: within the room, each stretch once, and the point before the rest."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.examples import times
from tests.golden.story import STORY, record

from ireneo.context.story_blocks import (
    deepest_texts_under,
    group_by_age,
    is_model_written,
    open_texts,
    summary_over,
    tell_blocks,
)
from ireneo.summaries.summary import Line, Section, Summary, SummaryId, Writing

WRITING = Writing(prompt="story-2/third", model="m", tokens_in=1, tokens_out=1, supported=1.0)
_WORTHS = st.lists(st.integers(1, 10), min_size=1, max_size=12)
_LEAVES = st.lists(_WORTHS, min_size=1, max_size=16)


def sentence(leaf: int, number: int, worth: float) -> str:
    """Sentences of one length, so that nothing but the worth tells which is shown."""
    return f"In leaf {leaf:03d} the one called {number:03d} did what was worth {worth:02.0f}."


def told(leaf: int, worths: list[int], *, depth: int = 1) -> Summary:
    lines = tuple(
        Line(text=sentence(leaf, number, worth), weight=float(worth), position=leaf * 100 + number)
        for number, worth in enumerate(worths)
    )
    first = leaf * 150
    name = SummaryId(f"s_{depth}_{leaf}")
    sections = (Section(name="story", lines=lines),)
    summary = record(STORY, depth=depth, names=("Vera", "Holm"))
    last = first + 150 * 4 ** (depth - 1) - 1
    return replace(summary, id=name, first_position=first, last_position=last, sections=sections, writing=WRITING)


def count(text: str) -> int:
    return (len(text) + 3) // 4


@settings(max_examples=times(28), deadline=None)
@given(_LEAVES, st.integers(0, 2_000))
def test_the_point_of_a_stretch_is_the_last_of_it_to_go(leaves: list[list[int]], room: int) -> None:
    nodes = [told(number, worths) for number, worths in enumerate(leaves)]
    texts = tell_blocks(nodes, room, count)
    assert count("\n\n".join(filter(None, texts))) <= room
    for number, (worths, text) in enumerate(zip(leaves, texts, strict=True)):
        shown = [worth for place, worth in enumerate(worths) if sentence(number, place, worth) in text]
        hidden = [worth for place, worth in enumerate(worths) if sentence(number, place, worth) not in text]
        assert not shown or not hidden or min(shown) >= max(hidden)


@settings(max_examples=times(28), deadline=None)
@given(st.lists(st.lists(_WORTHS, min_size=4, max_size=4), min_size=1, max_size=5), st.integers(0, 4_000))
def test_what_is_opened_covers_the_same_once_and_fits(groups: list[list[list[int]]], room: int) -> None:
    leaves = [[told(4 * place + number, worths) for number, worths in enumerate(g)] for place, g in enumerate(groups)]
    deep = [replace(told(4 * place, [9, 5], depth=2), leaves=4) for place in range(len(groups))]
    below = {each.id: tuple((leaf, leaf) for leaf in under) for each, under in zip(deep, leaves, strict=True)}

    def cost(text: Summary) -> int:
        return sum(count(line.text) for line in text.lines("story"))

    shown = open_texts(deep, deep, lambda node: below[node.id], room, cost, lambda node: float(node.messages))
    covered = [place for each in shown for place in range(each.first_position, each.last_position + 1)]
    assert covered == list(range(600 * len(groups)))
    assert sum(map(cost, shown)) <= max(room * 1.2, sum(map(cost, deep)))


@settings(max_examples=times(28), deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=20), st.integers(1, 20))
def test_groups_hold_each_text_once_in_order(depths: list[int], most: int) -> None:
    nodes: list[Summary] = []
    for depth in sorted(depths, reverse=True):
        first = nodes[-1].last_position + 1 if nodes else 0
        node = told(0, [5], depth=depth)
        nodes.append(replace(node, first_position=first, last_position=first + node.last_position))
    groups = group_by_age(nodes, most)
    assert [each for group in groups for each in group] == nodes
    assert len(groups) <= most


def test_what_says_less_than_the_text_above_it_is_not_opened() -> None:
    dull = [told(number, [1, 1, 2]) for number in range(4)]
    rich = [told(number, [9, 5, 5, 7]) for number in range(4)]
    deep = told(0, [9, 9, 8], depth=2)
    for leaves, opened in ((dull, [deep]), (rich, rich)):
        under = tuple((leaf, leaf) for leaf in leaves)
        shown = open_texts([deep], [deep], lambda node, under=under: under, 9_000, lambda _: 90, lambda _: 1.0)
        assert [each.id for each in shown] == [each.id for each in opened]


def test_a_stretch_that_no_model_told_as_a_whole_is_told_by_those_below() -> None:
    leaves = [told(number, [9, 2]) for number in range(4)]
    deep = replace(told(0, [9], depth=2), writing=None)
    assert deepest_texts_under(deep, lambda _: [(leaf, leaf) for leaf in leaves]) == leaves
    assert deepest_texts_under(deep, lambda _: [(leaf, replace(leaf, writing=None)) for leaf in leaves]) == []
    # One that failed is passed over; the others are told all the same.
    failed = [*leaves[:3], replace(leaves[3], writing=None)]
    assert deepest_texts_under(deep, lambda _: [(leaf, leaf) for leaf in failed]) == failed
    weights = [line.weight for line in summary_over(deep, failed).lines("story")]
    assert weights[:6] == [9, 2] * 3
    assert max(weights[6:]) < 9
    over = summary_over(deep, leaves)
    assert is_model_written(over)
    assert len(over.lines("story")) == 8
