"""Conclusions from episodes: when they are due, what makes one acceptable, and those that need no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, timedelta

from msgspec import Struct

from ireneo.language.words import terms
from ireneo.memories.record import Kind, MemoryId, Record, format_day
from ireneo.patterns import lazy_re

# Conclusions from episodes: when they are due, and what one must fulfil to be accepted.
#
# An event in other words is not a conclusion. So a conclusion is based on episodes of at least two events, is about
# what two of them say, and doesn't read like any of them. That is checked here, whoever drew it.


EPISODES_DUE = 12
SALIENCE_DUE = 6.0
"""How many new episodes, or how much salience of theirs in total, make a reflection due."""
MOST_CONCLUSIONS = 3
"""The maximum number of conclusions drawn at one time."""
MOST_CHARACTERS = 300
RESTATED = 0.7
"""From this likeness on (common terms among the terms of either) a conclusion only repeats an episode."""
SAME_EVENT = 0.5
"""From this likeness on two episodes of one day without a source are the same event."""
_DAY = timedelta(days=1)


class Conclusion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conclusion from episodes, before it is settled with known memories."""

    text: str
    memories: tuple[MemoryId, ...]
    """The episodes from which it was drawn."""
    kind: Kind = "semantic"
    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    counted: tuple[int, ...] = ()
    """Numbers that occur in no episode, since they are counts of episodes; only code sets these."""


def reflection_due(episodes: Iterable[Record]) -> bool:
    """Whether enough happened since the last conclusions."""
    salience, number = 0.0, 0
    for episode in episodes:
        salience += episode.salience
        number += 1
    return number >= EPISODES_DUE or salience >= SALIENCE_DUE


def same_event(one: Record, other: Record) -> bool:
    """Whether two episodes may be about the same event; if unclear, they are.

    They are if they share a source, or the time in a session. Without sources they are if their texts are similar, they
    are less than a day apart, and not from different sessions.
    """
    left, right = set(one.sources), set(other.sources)
    apart = bool(one.sessions and other.sessions and not set(one.sessions) & set(other.sessions))
    # Two sessions that begin with the same words share the ids of these; a copied session shares all of them.
    shared = (left <= right or right <= left) if apart else bool(left & right)
    if one.id == other.id or (left and right and shared):
        return True
    if not apart and one.at == other.at:
        return bool(one.sessions) or likeness(one.text, other.text) >= SAME_EVENT
    if apart or (left and right):
        return False
    return abs(one.at - other.at) < _DAY and likeness(one.text, other.text) >= SAME_EVENT


def distinct_events(episodes: Sequence[Record]) -> list[Record]:
    """One episode for each event, the first among `episodes`."""
    out: list[Record] = []
    for episode in episodes:
        if not any(same_event(episode, known) for known in out):
            out.append(episode)
    return out


def likeness(one: str, other: str) -> float:
    """The share of common terms among the terms of both texts, from 0 to 1."""
    left, right = set(terms(one)), set(terms(other))
    return len(left & right) / len(left | right) if left | right else 1.0


def check_conclusion(conclusion: Conclusion, episodes: Mapping[MemoryId, Record]) -> str:
    """Why a conclusion is refused, in a sentence; "" if its words allow it.

    `episodes` are those that it may cite. Its names are checked against them elsewhere.
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
    told = distinct_events(cited)
    if len(told) < 2:
        return "It cites one event only."
    return _repeats_one_event(text, cited, told)


def _repeats_one_event(text: str, cited: Sequence[Record], told: Sequence[Record]) -> str:
    """Why a conclusion only repeats one event, or what fewer than two episodes say; "" if it doesn't."""
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


def withdrawal_reason(conclusion: Conclusion, sources: Mapping[MemoryId, Record]) -> str:
    """Why a conclusion must be withdrawn because some sources are no longer valid; "" if the others suffice.

    `sources` are those that are still valid.
    """
    left = [sources[name] for name in conclusion.memories if name in sources]
    return "" if len(distinct_events(left)) > 1 else "Fewer than two events that it was drawn from still hold."


# Draw conclusions without a model: how actions usually end, and how often a value changed.
#
# Nothing is guessed: each conclusion is a count over the memories that it cites, in their own words.


MOST_VALUES = 6
"""The maximum number of values that are named; the latest are taken."""
MOST_CITED = 32
"""The maximum number of events that one conclusion cites; the newest are taken."""
SHARE = 0.75
"""The minimum share of equal outcomes of an action."""
FAILURES = 2
SUCCESSES = 3
"""How many successes make a conclusion: success is expected, so it takes more to be worth saying."""

_OUTCOME = lazy_re(
    r"`(?P<action>[^`\n]{2,120})`\s+(?:has |had |was )?"
    r"(?:(?P<failed>failed|timed out|crashed|broke)|(?P<worked>passed|succeeded|worked))\b(?P<mixed> in the end\b)?",
    re.IGNORECASE,
)


def conclude(episodes: Sequence[Record], new: frozenset[MemoryId]) -> tuple[Conclusion, ...]:
    """At most three conclusions on how actions end, failures first, then what occurred most often.

    Each cites at least one of the `new` episodes; the others were reflected on before, and are only counted. The order
    of `episodes` makes no difference.
    """
    ordered = sorted(episodes, key=lambda episode: (episode.at, episode.id), reverse=True)
    known = {episode.id: episode for episode in ordered}
    found = sorted(_action_outcomes(ordered), key=lambda each: each[0])
    drawn = [each for _, each in found if not new.isdisjoint(each.memories) and not check_conclusion(each, known)]
    return tuple(drawn[:MOST_CONCLUSIONS])


CHANGES = 3
"""How many consecutive values are worth a conclusion."""


def value_changes(histories: Iterable[Sequence[Record]]) -> Iterator[Conclusion]:
    """How consecutive values changed, from histories in order of time, the latest change first.

    Changes that follow from people's words are quoted with them; reasons are not given.
    """
    for told in sorted(histories, key=lambda each: each[-1].at, reverse=True):
        if len(told) < CHANGES:
            continue
        first, last = told[0], told[-1]
        who = f"the {last.subject}" if last.subject in ("user", "assistant") else last.subject
        what = last.attribute.replace("_", " ")
        number = len(told) - 1
        values = ", ".join(each.value for each in told[-MOST_VALUES:])
        since, until = format_day(first.at), format_day(last.at)
        text = f"The {what} of {who} changed {number} times from {since} to {until}: {values}."
        if len(text) <= MOST_CHARACTERS:
            yield Conclusion(
                text=text,
                subject=last.subject,
                attribute=f"changes of {what}",
                value=f"{number} times until {format_day(last.at)}",
                memories=tuple(each.id for each in told[-MOST_CITED:]),
                counted=(number,),
            )


def _action_outcomes(episodes: Sequence[Record]) -> Iterator[tuple[tuple[object, ...], Conclusion]]:
    """How often an action ended in one way, if it mostly did, each with the key that it is sorted by.

    `episodes` are ordered from the newest to the oldest.
    """
    by_action: dict[str, dict[MemoryId, tuple[Record, re.Match[str]]]] = {}
    for episode in episodes:
        for outcome in _OUTCOME.finditer(episode.text):
            # If one episode reports two outcomes, the last one is used.
            by_action.setdefault(" ".join(outcome["action"].split()), {})[episode.id] = episode, outcome
    for action, ends in by_action.items():
        told = distinct_events([episode for episode, _ in ends.values()][: 2 * MOST_CITED])[:MOST_CITED]
        bad = [each for each in told if ends[each.id][1]["failed"]]
        # What passed in the end had failed before, and counts as neither.
        good = [each for each in told if each not in bad and not ends[each.id][1]["mixed"]]
        alike, needed, word = (bad, FAILURES, "failed") if len(bad) >= len(good) else (good, SUCCESSES, "passed")
        if len(alike) < needed or len(alike) < SHARE * len(told):
            continue
        last = alike[0].when
        day = f", last on {last.astimezone(UTC).date().isoformat()}" if last else ""
        value = f"{word} {len(alike)} times out of {len(told)}{day}"
        drawn = Conclusion(
            text=f"`{action}` {value}.",
            subject=action,
            attribute="outcome",
            value=value,
            memories=tuple(each.id for each in told),
            counted=(len(alike), len(told)),
        )
        yield (word, -len(alike), -alike[0].at.timestamp(), drawn.text), drawn
