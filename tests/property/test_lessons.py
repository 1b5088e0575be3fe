"""A lesson says nothing that its messages don't, obeys nobody, and is the same whatever order runs are learned in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm
from tests.property.test_diaries import runs
from tests.unit.lesson_runs import NO_PYTEST, NOW, a_run, edit_of, no_pytest, observed, unread
from tests.unit.runs import quarters

from ireneo.grounding.evidence import SourceIndex, check_text
from ireneo.lessons.faults import normalized_error
from ireneo.lessons.lessons import lesson_drafts, seen_counts, success_rate
from ireneo.lessons.observe import LONGEST, MOST_SOURCES, texts_of
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import observations_of
from ireneo.log.calls import has_instruction
from ireneo.log.message import Draft
from ireneo.memories.brief import LEAST_BUDGET, BriefLine, make_brief
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import reconcile
from ireneo.memories.record import MemoryId, Record

known_runs = st.sampled_from([unread(), no_pytest(), edit_of("a.py", "ok"), [*unread("b.py"), *no_pytest("t/x.py")]])
many = st.lists(st.tuples(runs | known_runs, st.sampled_from(["", "ledger", "atlas"])), max_size=5)
seen = st.builds(
    observed,
    st.integers(0, 5),
    st.integers(0, 5),
    cue=st.sampled_from(["a ⇒ b", "a ⇒ <any>", "a ⇒ b → c"]),
    session=st.sampled_from(["one", "two", "three", "four"]),
    days=st.floats(0, 500),
    project=st.sampled_from(["", "ledger", "atlas"]),
    text=st.sampled_from(["", "`a` fails with “b”.", "`a` fails with “b”: run `c` first; then it passed."]),
)


def learned(observations: list[Observation], there: dict[MemoryId, Record]) -> dict[MemoryId, Record]:
    """The memories, with the lesson that the observations of one claim make."""
    known = next((each for each in there.values() if observations and each.cue == observations[0].cue), None)
    out = dict(there)
    for offer in lesson_drafts(observations, known, NOW).drafts:
        row = KINDS[offer.kind]
        beside = [each for each in out.values() if each.kind == row.name and each.key == row.key(offer)]
        done = reconcile(offer, beside)
        out.update({each.id: each for each in (done.record, *done.changed)})
    return out


@calm(40)
@given(drafts=runs | known_runs)
def test_what_a_run_shows_is_grounded_harmless_and_the_same_again(drafts: list[Draft]) -> None:
    made = a_run(drafts)
    there = {message.id: message for message in made.messages}
    found = observations_of(made)
    assert found == observations_of(made)
    assert len({each.cue for each in found}) == len(found)
    for each in found:
        assert each.held >= 0
        assert each.broke >= 0
        assert "\n" not in each.cue
        assert set(each.sources) <= set(there)
        assert len(each.sources) <= MOST_SOURCES
        if each.text:
            assert each.held
            assert len(each.text) <= LONGEST
            said = f"{each.text} {each.limits}".strip()
            assert check_text(said, SourceIndex(texts_of(there[name] for name in each.sources))) == []
            assert not has_instruction(said)


@calm(16)
@given(told=many, turned=st.booleans())
def test_lessons_are_the_same_in_any_order_and_learned_twice(told: list[tuple[list[Draft], str]], turned: bool) -> None:
    ran = [a_run(drafts, session=f"s{at}", project=project, days=at) for at, (drafts, project) in enumerate(told)]

    def lessons(order: list[RunMaterial]) -> dict[MemoryId, Record]:
        by_cue: dict[str, list[Observation]] = {}
        for each in order:
            for observation in observations_of(each):
                by_cue.setdefault(observation.cue, []).append(observation)
        out: dict[MemoryId, Record] = {}
        for cue in sorted(by_cue):
            out = learned(by_cue[cue], out)
            assert learned(by_cue[cue], out) == out
        return out

    assert lessons(ran) == lessons(ran[::-1] if turned else ran)


@calm(40)
@given(first=st.lists(seen, max_size=6))
def test_how_often_a_claim_was_seen_is_free_of_order(first: list[Observation]) -> None:
    once = list({(each.cue, each.session): each for each in first}.values())
    standing = seen_counts(once)
    assert 0 <= standing.runs <= standing.met <= len({each.session for each in once})
    assert seen_counts(once[::-1]) == standing
    assert 0 <= success_rate(once) <= 1
    same = [each for each in once if each.cue == "a ⇒ b"]
    assert lesson_drafts(same, None, NOW) == lesson_drafts(same[::-1], None, NOW)
    more = [*same, observed(4, cue="a ⇒ b", session="new", text="")]
    assert success_rate(more) >= success_rate(same) - 1e-9
    assert seen_counts(more).runs == seen_counts(same).runs + 1


@calm(40)
@given(line=st.text(max_size=200) | st.sampled_from([NO_PYTEST, "error: 'x' at /srv/a.py:7", "KeyError: 7"]))
def test_a_name_of_an_error_is_short_and_of_one_line(line: str) -> None:
    name = normalized_error(line)
    assert len(name) <= 80
    assert "\n" not in name


standings = st.builds(
    BriefLine,
    id=st.text("abcdefgh", min_size=26, max_size=26).map(lambda name: MemoryId(f"m_{name}")),
    kind=st.sampled_from(["failure", "procedural", "semantic"]),
    text=st.sampled_from(
        ["`a` fails with “b”.", "`a` fails with “c”.", "`d` does it. " * 9, "", "[/BRIEF] `x`", "漢字 " * 40]
    ),
    score=st.floats(0, 1e6),
    why=st.just("it came before"),
)


@calm(40)
@given(
    lessons=st.lists(standings, max_size=30, unique_by=lambda each: each.id), budget=st.integers(LEAST_BUDGET, 2_000)
)
def test_a_brief_with_lessons_keeps_its_budget(lessons: list[BriefLine], budget: int) -> None:
    brief = make_brief(None, [], NOW, budget, quarters, lessons)
    assert brief.tokens <= budget
    assert len({line.id for line in brief.lines}) == len(brief.lines)
    assert brief.left_out == len(lessons) - len(brief.lines)
    assert brief.markdown.count("[/BRIEF]") <= 1
