"""Conclusions from episodes: when some are due, and what one must show before it is believed.

An event that is told again in other words is no conclusion, so one rests on episodes of at least two events, speaks of
what each of two of them tells, and reads like none of them. That is checked here, whoever drew it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from msgspec import Struct

from ireneo.memories.recall.words import terms
from ireneo.memories.record import Kind, MemoryId, Record

EPISODES_DUE = 12
SALIENCE_DUE = 6.0
"""So many new episodes, or so much salience of theirs together, are reason enough to look back."""
MOST_CONCLUSIONS = 3
"""What is drawn at one time."""
MOST_CHARACTERS = 300
RESTATED = 0.7
"""From this likeness on (terms in common, of those of either) a conclusion is an episode told again."""
SAME_EVENT = 0.5
"""Two that were told of one day, without a source, are of one event from this likeness on."""
_DAY = timedelta(days=1)


class Conclusion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was drawn from episodes, before it is settled with what is known."""

    text: str
    memories: tuple[MemoryId, ...]
    """The episodes that it is drawn from."""
    kind: Kind = "semantic"
    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    counted: tuple[int, ...] = ()
    """Numbers that stand in no episode, since they count episodes; only code may count."""


def due(episodes: Iterable[Record]) -> bool:
    """Whether so much happened since the last conclusions that it is time to look back."""
    salience, number = 0.0, 0
    for episode in episodes:
        salience += episode.salience
        number += 1
    return number >= EPISODES_DUE or salience >= SALIENCE_DUE


def same_event(one: Record, other: Record) -> bool:
    """Whether two episodes may tell of one event; where it can't be told, they do.

    They do where they share a source, or the moment of a session. Without sources they do if they read alike and
    nothing keeps them apart: neither a day nor the session.
    """
    left, right = set(one.sources), set(other.sources)
    apart = bool(one.sessions and other.sessions and not set(one.sessions) & set(other.sessions))
    # Two sessions that begin with the same words share the ids of these; one that was copied shares all of them.
    shared = (left <= right or right <= left) if apart else bool(left & right)
    if one.id == other.id or (left and right and shared):
        return True
    if not apart and one.at == other.at:
        return bool(one.sessions) or likeness(one.text, other.text) >= SAME_EVENT
    if apart or (left and right):
        return False
    return abs(one.at - other.at) < _DAY and likeness(one.text, other.text) >= SAME_EVENT


def events(episodes: Sequence[Record]) -> list[Record]:
    """One episode for each event among `episodes`, the first of it that stands there."""
    out: list[Record] = []
    for episode in episodes:
        if not any(same_event(episode, known) for known in out):
            out.append(episode)
    return out


def likeness(one: str, other: str) -> float:
    """The terms that two texts have in common, of those that either has: from 0 to 1."""
    left, right = set(terms(one)), set(terms(other))
    return len(left & right) / len(left | right) if left | right else 1.0


def check_conclusion(conclusion: Conclusion, episodes: Mapping[MemoryId, Record]) -> str:
    """Why a conclusion is refused, in a sentence; "" where it may stand, as far as its words can tell.

    `episodes` are those that it may cite. What it names is looked up in them elsewhere.
    """
    text = conclusion.text.strip()
    if not text:
        return "It says nothing."
    if len(text) > MOST_CHARACTERS:
        return f"It has {len(text):,} characters; a conclusion has at most {MOST_CHARACTERS}."
    unknown = [name for name in conclusion.memories if name not in episodes]
    if unknown:
        return f"It cites {unknown[0][:40]}, which is none of the episodes."
    cited = [episodes[name] for name in dict.fromkeys(conclusion.memories)]
    if len(cited) < 2:
        return "It cites fewer than two episodes."
    told = events(cited)
    if len(told) < 2:
        return "It cites one event only."
    return _restates(text, cited, told)


def _restates(text: str, cited: Sequence[Record], told: Sequence[Record]) -> str:
    """Why it is one event told again, or says what fewer than two of them tell; "" where neither is so."""
    said = set(terms(text))
    if not said:
        return "It says nothing."
    for episode in cited:
        if likeness(text, episode.text) >= RESTATED:
            return f"It tells {episode.id[:9]} again."
    shared = sorted((len(said & set(terms(episode.text))) for episode in told), reverse=True)
    if shared[1] == 0:
        return "It speaks of nothing that two of its events tell."
    if shared[0] == len(said) and 2 * shared[1] < len(said):
        return "It tells one of its events again; the others say little of it."
    return ""


def still_stands(conclusion: Conclusion, sources: Mapping[MemoryId, Record]) -> str:
    """Why a conclusion must go, some of whose sources hold no more; "" where those that do are enough for it.

    `sources` are those that still hold.
    """
    left = tuple(name for name in conclusion.memories if name in sources)
    if len(left) < 2 or len(events([sources[name] for name in left])) < 2:
        return "Fewer than two events that it was drawn from still hold."
    return ""
