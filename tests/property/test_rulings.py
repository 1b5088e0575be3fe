"""One ruling is one, in whatever order it was said; what a run tells of rulings are the user's own words."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.golden.material import run, said, user
from tests.property.invariants.houses import calm
from tests.unit.lesson_runs import a_run

from ireneo.lessons.rulings import (
    are_opposed,
    observations_against,
    related_rulings,
    ruling_groups,
    rulings,
    same_ruling,
)
from ireneo.lessons.run import RULING, Observation
from ireneo.log.message import without_recalled

plain = st.sets(st.sampled_from(["follow-up", "linear", "troy", "project", "push"]), min_size=1)
tools = st.dictionaries(st.sampled_from(["npm", "yarn"]), st.sampled_from(["", "-"]))
cues = st.builds(
    lambda named, used: f"{RULING}{' '.join(sorted(named | {f'{sign}{tool}' for tool, sign in used.items()}))}",
    plain,
    tools,
)
words = st.sampled_from(
    [
        "Never push without asking me.",
        "You may push without asking again from now on.",
        "Always use npm instead of yarn.",
        "From now on use yarn instead of npm.",
        "no, I did not say commit anything",
        "Follow-up issues go to Linear, project Troy.",
        "run the tests",
        "yes",
        "Why did you delete the comments? Keep the comments in the parser.",
        "We don't want a helper for that, it's too much file sprawl.",
    ]
)


@given(several=st.lists(cues, max_size=12), seed=st.integers(0, 9))
def test_groups_are_the_same_in_any_order_and_hold_each_cue_once(several: list[str], seed: int) -> None:
    turned = list(several)
    random.Random(seed).shuffle(turned)
    groups = ruling_groups(several)
    assert groups == ruling_groups(turned)
    assert sorted(cue for group in groups for cue in group) == sorted(set(several))
    for cue in several:
        assert set(related_rulings([cue], several)) == set(related_rulings([cue], turned))


@given(one=cues, other=cues)
def test_who_is_asked_first_makes_no_difference(one: str, other: str) -> None:
    assert same_ruling(one, other) == same_ruling(other, one)
    assert are_opposed(one, other) == are_opposed(other, one)
    assert same_ruling(one, one)
    assert not are_opposed(one, one)
    assert not (same_ruling(one, other) and are_opposed(one, other))


@given(one=cues, several=st.lists(cues, max_size=6, unique=True))
def test_nothing_speaks_against_itself(one: str, several: list[str]) -> None:
    seen = [Observation(cue=cue, category="procedural", session=f"s{at}", held=1) for at, cue in enumerate(several)]
    assert all(each.cue != one for each in observations_against(one, seen))


@calm(26)
@given(told=st.lists(words, max_size=6))
def test_a_ruling_is_told_in_the_users_own_words_with_its_message(told: list[str]) -> None:
    spoken = [draft for text in told for draft in (*run("bin/rows", "41 rows"), *said("It is done."), *user(text))]
    made = a_run(user("The ledger drops its last row."), spoken)
    found = rulings(made)
    there = {message.id: message for message in made.messages}
    assert found == rulings(made)
    assert len({each.cue for each in found}) == len(found)
    for each in found:
        assert each.cue.startswith(RULING)
        assert each.sources or each.against
        if each.text:
            texts = [without_recalled(there[name].draft.text) for name in each.sources]
            assert any(text in each.text or each.text in text for text in texts)
