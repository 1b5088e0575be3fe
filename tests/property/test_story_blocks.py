"""What must hold of the blocks of any story: within the room, in the story's words, the same each time, bounded."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.examples import times
from tests.golden.small_story import SCENES, story_record

from ireneo.context.story_blocks import group_by_age, tell_blocks
from ireneo.log.message import Draft, Message, Text, message_id
from ireneo.summaries import tell_story as leaf
from ireneo.summaries import tell_story as rollup
from ireneo.summaries.summary import Line, Section, Summary
from ireneo.summaries.tell_story import tell_deeper, tell_leaf

_PIECES = [text for scene in SCENES for _, text in scene]
_BETWEEN = re.compile(r"[(\[][^()\[\]]{0,60}[)\]]|[\s*_#>|~•–—-]+")
_AUTHORS = st.sampled_from([None, "Narrator", "Vera", "Tom", "DM", "Ann, Bo"])
_TEXTS = st.one_of(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map(" ".join), st.text(max_size=120))
_STORIES = st.lists(st.tuples(_AUTHORS, _TEXTS), min_size=1, max_size=40)


def _messages(said: list[tuple[str | None, str]]) -> list[Message]:
    out: list[Message] = []
    for author, text in said:
        parts = (Text(text=text, author=author),)
        parent = out[-1].id if out else None
        out.append(
            Message(
                id=message_id(parent, "user", parts),
                parent=parent,
                position=len(out),
                turn=len(out) + 1,
                tokens=0,
                thinking_tokens=0,
                total_tokens=0,
                draft=Draft(role="user", parts=parts),
            )
        )
    return out


def _nodes(messages: list[Message]) -> list[Summary]:
    leaves = [
        story_record(messages[start : start + 5], tell_leaf(messages[start : start + 5]))
        for start in range(0, len(messages), 5)
    ]
    if len(leaves) < 3:
        return leaves
    covered = messages[: leaves[1].last_position + 1]
    return [story_record(covered, tell_deeper(leaves[:2]), depth=2, retellings=2), *leaves[2:]]


def _count(text: str) -> int:
    return (len(text.encode()) + 3) // 4


@settings(max_examples=times(18), deadline=None)
@given(_STORIES, st.integers(0, 600))
def test_blocks_never_cost_more_than_the_room(said: list[tuple[str | None, str]], room: int) -> None:
    nodes = _nodes(_messages(said))
    texts = tell_blocks(nodes, room, _count)
    assert len(texts) == len(nodes)
    assert _count("\n\n".join(filter(None, texts))) <= room
    assert texts == tell_blocks(_nodes(_messages(said)), room, _count)


@settings(max_examples=times(18), deadline=None)
@given(_STORIES)
def test_every_sentence_stands_word_for_word_in_its_message(said: list[tuple[str | None, str]]) -> None:
    messages = _messages(said)
    by_id = {message.id: message for message in messages}
    for node in _nodes(messages):
        assert len(node.lines("story")) <= max(leaf.LEAF_LINES, rollup.DEEP_LINES)
        assert sum(len(line.names) for line in node.lines("artifacts")) <= max(leaf.LEAF_NAMES, rollup.DEEP_NAMES)
        assert [line.placed_at for line in node.lines("story")] == sorted(
            line.placed_at for line in node.lines("story")
        )
        for line in node.lines("story"):
            parts = [part for source in line.sources for part in by_id[source].parts if isinstance(part, Text)]
            texts = [_plain(part.text) for part in parts]
            names = "|".join(re.escape(f"{part.author}: ") for part in parts if part.author)
            for turn in re.split(rf"(?:^|(?<= ))(?:{names})", line.text) if names else [line.text]:
                words = turn.strip()
                if not any(_plain(words) in text for text in texts):
                    words = words.removeprefix("“").removesuffix("”")
                pieces = words.split("…")
                assert all(any(_plain(piece) in text for text in texts) for piece in pieces)


def _plain(text: str) -> str:
    """A text without the stage directions and the markup between its sentences."""
    return " ".join(_BETWEEN.sub(" ", text).replace("…", " ").split())


def _stretches(lengths: list[int]) -> list[Summary]:
    """Adjacent summaries of these lengths, all with much to tell, worth the same."""
    out: list[Summary] = []
    for number, length in enumerate(lengths):
        first = out[-1].last_position + 1 if out else 0
        lines = tuple(
            Line(
                text=f"In the year {number * 300 + place} hall {place * 7} of king {number} burned.",
                position=first + place * length // 60,
            )
            for place in range(60)
        )
        told = story_record(_messages([(None, f"Year {number}.")]), (Section(name="story", lines=lines),))
        out.append(replace(told, first_position=first, last_position=first + length - 1))
    return out


@settings(max_examples=times(18), deadline=None)
@given(st.lists(st.sampled_from([150, 600, 2_400]), min_size=1, max_size=30), st.integers(1, 12))
def test_what_is_told_together_is_adjacent_and_the_newest_last(lengths: list[int], most: int) -> None:
    nodes = _stretches(sorted(lengths, reverse=True))
    groups = group_by_age(nodes, most)
    assert [node for group in groups for node in group] == nodes
    assert len(groups) == min(most, len(nodes))
    if most > 1:
        assert len(groups[-1]) == 1
    sizes = [sum(node.messages for node in group) for group in groups]
    since = [sum(sizes[place:]) for place in range(len(sizes) + 1)]
    pairs = [1 - since[place + 2] / since[place] for place in range(len(sizes) - 1)]
    # A group of several takes of the time since its beginning at most as much as any two neighbours would.
    for group, size, time in zip(groups, sizes, since[:-1], strict=True):
        assert len(group) == 1 or not pairs or size / time <= min(pairs) + 1e-9


@settings(max_examples=times(18), deadline=None)
@given(st.lists(st.sampled_from([150, 600, 2_400, 9_600]), min_size=2, max_size=8), st.integers(600, 3_000))
def test_the_newer_a_stretch_the_more_is_told_of_each_message(lengths: list[int], room: int) -> None:
    nodes = _stretches(sorted(lengths, reverse=True))
    texts = tell_blocks(nodes, room, _count)
    each = [_count(text) / node.messages for text, node in zip(texts, nodes, strict=True) if text]
    # Sentences are told whole: one more or less is no difference between two blocks.
    assert all(older <= newer + 20 / 150 for older, newer in pairwise(each))
