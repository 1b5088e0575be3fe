"""Where leaves end, which summaries are merged, and what deep ones are written from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.property.invariants.houses import calm
from tests.property.stories.material import SMALL, Storyteller, says, stories

from ireneo.log.calls import atoms
from ireneo.log.message import Draft, Message, chain
from ireneo.summaries.policy import STORY, Policy, StorySettings, story_of
from ireneo.summaries.story import (
    LONG_TURN,
    due_merge,
    finest_settings,
    leaves_at,
    plan_leaves,
    shown_depths,
    source_depth,
)


def told(drafts: list[Draft], tokens: int = 10) -> list[Message]:
    return chain(None, drafts, lambda parts: (tokens, 0))


def talk(size: int, tokens: int = 10, every: int = 2) -> list[Message]:
    """So many messages, of which each `every`-th is a user's."""
    drafts = [says("assistant" if place % every else "user", f"Line {place}.") for place in range(size)]
    return told(drafts, tokens)


@calm(40)
@given(pieces=stories(max_size=25), step=st.integers(1, 7))
def test_a_path_is_cut_alike_message_by_message_and_all_at_once(pieces: list[str], step: int) -> None:
    path = chain(None, Storyteller().tell(pieces), lambda parts: (sum(len(str(part)) for part in parts) // 8, 0))
    once = plan_leaves(path, SMALL)
    done: list[tuple[Message, ...]] = []
    first = 0
    for size in range(0, len(path) + 1, step):
        for leaf in plan_leaves(path[first:size], SMALL).leaves:
            done.append(leaf)
            first += len(leaf)
    assert done == list(once.leaves)[: len(done)]
    assert [message for leaf in once.leaves for message in leaf] + list(once.rest) == path
    assert len(once.rest) >= min(SMALL.live_messages, len(path))
    whole = {atom[0].position for atom in atoms(path)}
    for leaf in once.leaves:
        assert leaf[0].position in whole
        cost = sum(message.tokens for message in leaf)
        assert cost <= SMALL.leaf_tokens or len(atoms(leaf)) == 1
        assert len(leaf) < LONG_TURN * SMALL.leaf_messages + len(atoms(leaf)[-1])


def test_a_leaf_ends_at_a_whole_turn_once_it_is_full() -> None:
    leaves = plan_leaves(talk(40, every=4), SMALL).leaves
    assert [len(leaf) for leaf in leaves] == [8, 8, 8, 8]
    assert all(leaf[0].opens_turn for leaf in leaves)


def test_a_turn_without_end_is_cut_at_twice_a_leaf() -> None:
    leaves = plan_leaves(talk(40, every=100), SMALL).leaves
    assert [len(leaf) for leaf in leaves] == [12, 12, 12]


def test_dear_messages_make_short_leaves() -> None:
    leaves = plan_leaves(talk(40, tokens=150), SMALL).leaves
    assert all(sum(message.tokens for message in leaf) <= SMALL.leaf_tokens for leaf in leaves)
    assert [len(leaf) for leaf in plan_leaves(talk(20, tokens=900), SMALL).leaves] == [1] * 16


@pytest.mark.parametrize("fan_in", range(2, 7))
@pytest.mark.parametrize("limit", [1, 2, 6])
def test_merging_one_by_one_comes_to_what_the_count_says(fan_in: int, limit: int) -> None:
    story = replace(SMALL, fan_in=fan_in, limit=max(limit, fan_in - 1))
    row: list[int] = []
    for leaves in range(1, 600):
        row.append(1)
        while (place := due_merge(row, story)) is not None:
            assert row[place : place + fan_in] == [row[place]] * fan_in
            row[place : place + fan_in] = [row[place] + 1]
        assert row == shown_depths(leaves, story)
        assert sum(leaves_at(depth, story) for depth in row) == leaves


@calm(40)
@given(leaves=st.integers(0, 3_000), blocks=st.integers(0, 300), fan_in=st.integers(2, 6))
def test_the_finest_is_the_highest_limit_that_has_room(leaves: int, blocks: int, fan_in: int) -> None:
    story = replace(SMALL, fan_in=fan_in, limit=6)
    found = finest_settings(leaves, blocks, story)
    assert found.limit >= story.limit
    if found.limit > story.limit:
        assert len(shown_depths(leaves, found)) <= blocks
    if found.limit < leaves:
        assert len(shown_depths(leaves, replace(found, limit=found.limit + 1))) > blocks


def retellings(depth: int, story: StorySettings) -> int:
    """How many times a message under a summary of `depth` was retold at most."""
    return 1 if depth <= 1 else 1 + retellings(source_depth(depth, story), story)


@pytest.mark.parametrize("fan_in", range(2, 7))
@pytest.mark.parametrize(("messages", "most"), [(50_000, 2), (16_000_000, 3)])
def test_a_fact_is_retold_twice_up_to_fifty_thousand_messages(fan_in: int, messages: int, most: int) -> None:
    story = StorySettings() if fan_in == StorySettings().fan_in else StorySettings(fan_in=fan_in, limit=6)
    depths = shown_depths(messages // story.leaf_messages, story)
    assert max(retellings(depth, story) for depth in depths) <= most
    assert all(1 <= source_depth(depth, story) < depth for depth in range(2, max(depths) + 1))


@pytest.mark.parametrize(
    "name", ["", "Vera", "Véra O'Lund", "a/b", "x/open", "y/whole", "100%", "%2F", "as/Vera", "A\nB"]
)
def test_a_family_tells_its_policy(name: str) -> None:
    sizes = StorySettings(leaf_messages=7, leaf_tokens=800, fan_in=3)
    policy = Policy(name="story", story=sizes, live_share=0.5, seen_by=name)
    found = story_of(policy.summarizer)
    assert found is not None
    assert found.seen_by == name
    assert found.summarizer == policy.summarizer
    assert story_of(f"{policy.summarizer}/open") is None
    assert story_of(f"{policy.summarizer}/whole") is None
    assert story_of(f"story-1/third/{policy.summarizer}") is None


def test_other_families_are_no_stories() -> None:
    assert story_of("offline-1/coding") is None
    assert story_of(STORY.summarizer) == STORY
