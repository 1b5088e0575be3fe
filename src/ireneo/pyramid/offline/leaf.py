"""Tell a leaf: the sentences and names that stand for a stretch of a story, as it was told."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.context.summary import Line, Mention, Section
from ireneo.log.message import Message
from ireneo.pyramid.offline.choose import TELLING, Choosable, choose
from ireneo.pyramid.offline.names import key_words, names_in, shortest_forms
from ireneo.pyramid.offline.sentences import balanced, clipped, sentences
from ireneo.pyramid.offline.turns import is_chatter, is_heading, salience
from ireneo.pyramid.offline.voices import label, narrators, speaks_of_itself, spoken, told, two_roles

MAX_LINES = 40
"""Sentences that a leaf keeps: what a wide context has room for."""
MAX_NAMES = 120
"""Names that a leaf keeps."""
FIRST = 0.7
"""What a sentence is worth more for each name that it brings in, up to two."""
IDLE = 0.12
"""What tells less than this is talk beside the story: dice, questions about nothing."""
NARRATED = 1.3
"""A narrator's sentence is so many times as likely to tell what happens as one of a player."""
SPEAKING = 0.25
"""Of being named: what it counts for a name that one speaks."""
GOOD_LENGTH = 90, 240
"""Characters between which a sentence says something, and not too much at once."""


class _Told(Struct, kw_only=True):
    """A sentence of the stretch."""

    text: str
    speaker: str
    narrated: bool
    authored: bool
    """The speaker is someone by that name, and no role."""
    message: Message
    names: tuple[str, ...] = ()


def tell_leaf(messages: Sequence[Message]) -> tuple[Section, ...]:
    """Write the sections of a leaf: "story", sentences in story order, and "artifacts", the names, weightiest first.

    Each sentence stands word for word in its message, with its speaker's name before it where it is said by someone
    in the story; one that is too long is cut, with a mark. A stretch without words has no sections.
    """
    stretch = list(_sentences(messages))
    for each, names in zip(stretch, names_in([each.text for each in stretch]), strict=True):
        each.names = names
    weights = _weights(stretch)
    lines = list(_lines(stretch, weights))
    kept = choose([_choosable(line) for line in lines], MAX_LINES)
    story = tuple(lines[place] for place in kept)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:MAX_NAMES]
    mentions = tuple(Mention(name, round(weight, 2)) for name, weight in ranked)
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if mentions:
        last = messages[-1]
        out.append(Section(name="artifacts", lines=(Line(names=mentions, position=last.position),)))
    return tuple(out)


def _sentences(messages: Sequence[Message]) -> Iterator[_Told]:
    telling = narrators(messages)
    roles = two_roles(messages)
    for message in messages:
        for author, text in spoken(message):
            narrated = author in telling
            speaker = label(author, message, roles)
            for sentence in sentences(text):
                named = not narrated if author else speaks_of_itself(sentence)
                yield _Told(
                    text=sentence,
                    speaker=speaker if named else "",
                    narrated=narrated,
                    authored=bool(author) and named,
                    message=message,
                )


def _weights(stretch: Sequence[_Told]) -> dict[str, float]:
    """How much each name is spoken of: by the messages that name it, and more so the more there are, but ever less."""
    counts: dict[str, float] = defaultdict(float)
    seen: set[tuple[str, str]] = set()
    for each in stretch:
        speakers = [speaker.strip() for speaker in each.speaker.split(",")] if each.authored else []
        for name, times in [*((name, 1.0) for name in each.names), *((name, SPEAKING) for name in speakers)]:
            if (name, each.message.id) not in seen:
                seen.add((name, each.message.id))
                counts[name] += times
    return {name: math.sqrt(times) for name, times in shortest_forms(counts).items()}


def _lines(stretch: Sequence[_Told], weights: Mapping[str, float]) -> Iterator[Line]:
    known: set[str] = set()
    for each in stretch:
        keys = {word for name in each.names for word in key_words(name)}
        new = len(keys - known)
        known |= keys
        if is_chatter(each.text) or is_heading(each.text):
            continue
        telling = salience(each.text)
        if telling < IDLE:
            continue
        weight = telling + FIRST * min(new, 2)
        weight *= NARRATED if each.narrated else 1.0
        size = len(each.text)
        if size < GOOD_LENGTH[0]:
            weight *= 0.2 + 0.8 * size / GOOD_LENGTH[0]
        elif size > GOOD_LENGTH[1]:
            weight *= GOOD_LENGTH[1] / size
        if not balanced(each.text):
            weight *= 0.6
        text = clipped(each.text)
        shown = [name for name in each.names if name in text]
        yield Line(
            text=told(each.speaker, text),
            names=tuple(Mention(name, round(weights.get(name, 0.5), 2)) for name in shown),
            weight=round(weight, 2),
            position=each.message.position,
            sources=(each.message.id,),
        )


def _choosable(line: Line) -> Choosable:
    values = {word: mention.weight for mention in line.names for word in key_words(mention.name)}
    return Choosable(worth=TELLING * line.weight, size=len(line.text), names=values)
