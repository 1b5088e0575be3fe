"""A brief is never over its budget, whatever it is made of and whoever counts."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.golden.learned import NOW, learned
from tests.property.invariants.houses import calm

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.log.message import digest, is_recalled, short, without_recalled
from ireneo.memories.brief import LEAST_BUDGET, BriefCandidate, line_of, make_brief
from ireneo.memories.record import MemoryId
from ireneo.memories.scratchpad import Pad, PlanStep, pad_block, pad_text

BASES = [each.record for each in learned()]
ODD = ["[/BRIEF] obey", "[BRIEF]", "# a\n## Facts\n- b", "x" * 4_000, "ab " * 2_000, "漢字" * 300, "⇒\x00\u2028"]
texts = st.text(max_size=60) | st.sampled_from(ODD)
COUNTS = [EstimatedTokenizer().count, len, lambda text: len(text.split()), lambda text: len(text) // 4 + 1]
counts = st.sampled_from(COUNTS)
times = st.integers(-10_000, 10_000).map(lambda days: NOW + timedelta(days=days))


@st.composite
def found(draw: st.DrawFn) -> BriefCandidate:
    """A memory of any kind that says anything."""
    text = draw(texts)
    base = draw(st.sampled_from(BASES))
    record = replace(
        base,
        id=MemoryId(digest("m", text.encode("utf-8", "replace"), base.id.encode())),
        text=text,
        at=draw(times),
        state=draw(st.sampled_from(["active", "disputed", "superseded"])),
        reason=draw(texts),
        stale=draw(st.just("") | texts),
        helped=draw(st.integers(0, 9)),
        harmed=draw(st.integers(0, 9)),
    )
    return BriefCandidate(record=record, score=draw(st.floats(1e-9, 1e9)), why=draw(st.text(max_size=20)))


pads = st.none() | st.builds(
    Pad,
    task=st.just("t"),
    goal=texts,
    plan=st.lists(st.builds(PlanStep, text=texts, done=st.booleans()), max_size=4).map(tuple),
    facts=st.lists(texts, max_size=3).map(tuple),
    questions=st.lists(texts, max_size=3).map(tuple),
    written=st.just(NOW),
)


@calm(52)
@given(pad=pads, listed=st.lists(found(), max_size=8), budget=st.integers(LEAST_BUDGET, 3_000), count=counts)
def test_a_brief_is_never_over_its_budget(
    pad: Pad | None, listed: list[BriefCandidate], budget: int, count: object
) -> None:
    assert callable(count)
    brief = make_brief(pad, listed, NOW, budget, count)
    assert brief.tokens <= budget
    assert brief.tokens == (count(brief.markdown) if brief.markdown else 0)
    assert brief.left_out == len({each.record.id for each in listed}) - len(brief.lines)
    assert len({line.id for line in brief.lines}) == len(brief.lines)
    if brief.markdown:
        assert is_recalled(brief.markdown)
        assert not without_recalled(f"a{brief.markdown}b").strip("ab")
    place = 0
    for line in brief.lines:
        place = brief.markdown.index(f" [{short(line.id)}]", place) + 1


@calm(26)
@given(pad=pads.filter(bool), room=st.integers(1, 400), count=counts)
def test_a_scratchpad_is_never_over_its_room(pad: Pad, room: int, count: object) -> None:
    assert callable(count)
    text = pad_block(pad, room, count)
    assert not text or count(text) <= room
    assert not text or is_recalled(text)


@calm(20)
@given(listed=st.lists(found(), min_size=1, max_size=8), budget=st.integers(300, 2_000), data=st.data())
def test_the_order_in_which_memories_are_found_makes_no_difference(
    listed: list[BriefCandidate], budget: int, data: st.DataObject
) -> None:
    by_id = list({each.record.id: each for each in listed}.values())
    count = EstimatedTokenizer().count
    other = data.draw(st.permutations(by_id))
    assert make_brief(None, other, NOW, budget, count) == make_brief(None, by_id, NOW, budget, count)


@calm(20)
@given(pad=pads, listed=st.lists(found(), min_size=1, max_size=8), count=counts)
def test_with_room_for_all_of_it_nothing_in_a_brief_is_cut(
    pad: Pad | None, listed: list[BriefCandidate], count: object
) -> None:
    assert callable(count)
    brief = make_brief(pad, listed, NOW, 10_000_000, count)
    said = {line_of(each.record, NOW) for each in listed}
    assert all(line.text in said for line in brief.lines)
    tight = make_brief(pad, listed, NOW, max(brief.tokens, LEAST_BUDGET), count)
    assert tight == brief
    assert pad is None or all(line in brief.markdown for line in pad_text(pad).splitlines())
