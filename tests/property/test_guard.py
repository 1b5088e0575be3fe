"""The guard on any run: folding in pieces, quiet where nothing failed, and never a word without evidence."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.guarded import Made, call, material, messages

from ireneo.lessons.cues import chains
from ireneo.lessons.guard import guard_observations, judge
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, shape
from ireneo.lessons.situation import Situation
from ireneo.log.message import Call

WORDS = st.text(alphabet="ab/.$'\"|&;<>\n→ é", max_size=40)
COMMANDS = st.sampled_from(
    [
        "go test ./...",
        "pytest -q",
        "cat a.py | grep x",
        "cd sub && make",
        "rm a.py",
        "cat <<E > a.py\nx\nE",
        "python a.py",
    ]
)
FILES = st.sampled_from(["/w/a.py", "/w/b.go", "a.py", "/w"])
BASH = st.tuples(st.just("Bash"), st.one_of(COMMANDS, WORDS))
READS = st.builds(lambda path: ("Read", {"file_path": path}), FILES)
EDITS = st.builds(
    lambda path, old, new: ("Edit", {"file_path": path, "old_string": old, "new_string": new}), FILES, WORDS, WORDS
)
WRITES = st.builds(lambda path, text: ("Write", {"file_path": path, "content": text}), FILES, WORDS)
ODD = st.tuples(st.sampled_from(["Task", ""]), st.dictionaries(WORDS, st.one_of(WORDS, st.integers(), st.none())))
CALLS = st.one_of(BASH, READS, EDITS, WRITES, ODD)
OUTPUTS = st.one_of(
    WORDS,
    st.sampled_from(
        [
            *("FAIL: a.py:3: wrong", "File has not been read yet.", "a.py: No such file or directory", "EISDIR"),
            *("ok", "1→x\n2→y", "The user doesn't want to proceed with this tool use"),
        ]
    ),
)
MADE: st.SearchStrategy[Made] = st.builds(lambda made, out, failed: (*made, out, failed), CALLS, OUTPUTS, st.booleans())
RUNS = st.lists(MADE, max_size=12)


def cues_after(situation: Situation, asked: Call) -> list[str]:
    return [cue for each in chains(situation, shape(asked)) for cue in each.cues]


@given(RUNS, st.integers(0, 40), CALLS)
def test_a_session_folded_in_pieces_is_the_session_folded_at_once(
    made: list[Made], cut: int, asked: tuple[str, dict[str, object] | str]
) -> None:
    told = messages(*made)
    whole = Situation().see_all(told)
    pieces = Situation().see_all(told[:cut]).see_all(told[cut:])
    assert cues_after(whole, call(*asked)) == cues_after(pieces, call(*asked))


@settings(deadline=None)
@given(st.lists(RUNS, max_size=4), RUNS, CALLS)
def test_it_never_fails_and_says_nothing_without_evidence(
    past: list[list[Made]], so_far: list[Made], asked: tuple[str, dict[str, object] | str]
) -> None:
    # The same runs again and again, so that it has something to say.
    runs = [material(f"run-{number}", *made) for number, made in enumerate(past * 4)]
    told = messages(*so_far)
    said = judge(Situation().see_all(told), call(*asked), observations(runs), project="cli")
    if said is not None:
        assert said.evidence
        here = {message.id for message in told}
        there = {message.id for run in runs for message in run.messages}
        assert all(proof.message in (here if not proof.session else there) for proof in said.evidence)
        assert 0.5 <= said.chance <= 1
        assert said.text.endswith(".")


@settings(deadline=None)
@given(st.lists(RUNS, min_size=1, max_size=4), RUNS, CALLS)
def test_it_is_quiet_where_everything_went_well(
    past: list[list[Made]], so_far: list[Made], asked: tuple[str, dict[str, object] | str]
) -> None:
    runs = [material(f"run-{number}", *map(well, made)) for number, made in enumerate(past)]
    assert judge(Situation().see_all(messages(*map(well, so_far))), call(*asked), observations(runs)) is None


def well(made: Made) -> Made:
    return (made[0], made[1], "fine", False)


def observations(runs: list[RunMaterial]) -> list[Observation]:
    return [each for run in runs for each in guard_observations(run)]
