"""Conclusions from episodes: when they are due, what recurs in episodes, and what makes a conclusion acceptable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, timedelta
from itertools import combinations

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
    left = tuple(name for name in conclusion.memories if name in sources)
    if len(left) < 2 or len(distinct_events([sources[name] for name in left])) < 2:
        return "Fewer than two events that it was drawn from still hold."
    return ""


# Draw conclusions from recurrences in episodes: the usual end of an action, a statement of several, names that occur
# together.
#
# Nothing is guessed: each conclusion is a count over the episodes that it cites, in their own words. If nothing recurs
# there is none.


MOST_VALUES = 6
"""The maximum number of values that are named; the latest are taken."""
MOST_CITED = 32
"""The maximum number of events that one conclusion cites; the newest are taken."""
SHARE = 0.75
"""The minimum share of equal outcomes of an action."""
FAILURES = 2
SUCCESSES = 3
"""How many successes make a conclusion: success is expected, so it takes more to be worth saying."""
TOGETHER = 3
TOGETHER_SHARE = 2 / 3
COMMON = 0.6
"""A name in more than this share of the episodes is their common subject."""
CLAUSE_TERMS = 4
CLAUSE = 140
"""How many characters of a clause are quoted."""
_NAMES = 12
"""How many names of one episode are paired at most."""

_OUTCOME = lazy_re(
    r"`(?P<action>[^`\n]{2,120})`\s+(?:has |had |was )?"
    r"(?:(?P<failed>failed|timed out|crashed|broke)|(?P<worked>passed|succeeded|worked))\b(?P<mixed> in the end\b)?",
    re.IGNORECASE,
)
_CLAUSE = lazy_re(r"(?<=[.!?;])\s+|\n+")
_NAME = lazy_re(r"`([^`\s]{3,80})`|(?<![\w/.-])((?:[\w.-]+/)+[\w.-]*\w|[\w-]+\.[a-z]{1,5})(?![\w/])")


class _RankedConclusion(Struct, frozen=True, kw_only=True):
    worth: tuple[int, int, float]
    """How informative its sort is, how often it occurred, and when it last did."""
    conclusion: Conclusion


class _EpisodeStatement(Struct, frozen=True, kw_only=True):
    """A statement of an episode."""

    episode: Record
    about: str
    """The part that it has in common with other episodes."""
    words: str
    failed: bool = False
    mixed: bool = False
    """Whether it passed in the end, after it had failed."""


def conclude(episodes: Sequence[Record], new: frozenset[MemoryId]) -> tuple[Conclusion, ...]:
    """At most three conclusions from what recurs, the most informative first.

    Each cites at least one of the `new` episodes; the others were reflected on before, and are only counted. The order
    of `episodes` makes no difference.
    """
    ordered = sorted(episodes, key=lambda episode: (episode.at, episode.id), reverse=True)
    known = {episode.id: episode for episode in ordered}
    found = [each for find in (_action_outcomes, _recurring_clauses, _name_pairs) for each in find(ordered)]
    found.sort(key=lambda each: (*(-part for part in each.worth), each.conclusion.text))
    out: list[Conclusion] = []
    for each in found:
        drawn = each.conclusion
        if new.isdisjoint(drawn.memories) or check_conclusion(drawn, known):
            continue
        out.append(drawn)
        if len(out) == MOST_CONCLUSIONS:
            break
    return tuple(out)


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


def _action_outcomes(episodes: Sequence[Record]) -> Iterator[_RankedConclusion]:
    """How often an action ended in one way, if it mostly did."""
    for told in _statements_by_subject(episodes, _actions).values():
        bad = [each for each in told if each.failed]
        good = [each for each in told if not (each.failed or each.mixed)]
        alike, needed, word = (bad, FAILURES, "failed") if len(bad) >= len(good) else (good, SUCCESSES, "passed")
        if len(alike) < needed or len(alike) < SHARE * len(told):
            continue
        action = alike[0].words
        value = f"{word} {len(alike)} times out of {len(told)}{_last_seen(alike[0].episode)}"
        yield _RankedConclusion(
            worth=(3 if word == "failed" else 0, len(alike), alike[0].episode.at.timestamp()),
            conclusion=Conclusion(
                text=f"`{action}` {value}.",
                subject=action,
                attribute="outcome",
                value=value,
                memories=_episode_ids(told),
                counted=(len(alike), len(told)),
            ),
        )


def _recurring_clauses(episodes: Sequence[Record]) -> Iterator[_RankedConclusion]:
    """Clauses that several events state in the same words."""
    for told in _statements_by_subject(episodes, _episode_clauses).values():
        if len(told) < 2:
            continue
        words = told[0].words
        shown = words if len(words) <= CLAUSE else words[: words.rfind(" ", CLAUSE // 2, CLAUSE)] + "…"
        yield _RankedConclusion(
            worth=(2, len(told), told[0].episode.at.timestamp()),
            conclusion=Conclusion(
                text=f"This happened {len(told)} times{_last_seen(told[0].episode)}: {shown}",
                subject=told[-1].words[:CLAUSE],
                attribute="recurs",
                value=f"{len(told)} times{_last_seen(told[0].episode)}",
                memories=_episode_ids(told),
                counted=(len(told),),
            ),
        )


def _name_pairs(episodes: Sequence[Record]) -> Iterator[_RankedConclusion]:
    """Names that always occur together."""
    by_name = _statements_by_subject(episodes, _episode_names)
    most = COMMON * len(episodes)
    known = {name: {each.episode.id for each in told} for name, told in by_name.items()}
    often = {name: ids for name, ids in known.items() if TOGETHER <= len(ids) <= max(most, TOGETHER)}
    pairs = {
        pair
        for episode in episodes
        for pair in combinations(sorted({each.words for each in _episode_names(episode)} & often.keys())[:_NAMES], 2)
    }
    for one, other in sorted(pairs):
        both, either = often[one] & often[other], often[one] | often[other]
        if len(both) < TOGETHER or len(both) < TOGETHER_SHARE * len(either):
            continue
        told = [episode for episode in episodes if episode.id in either][:MOST_CITED]
        last = next(episode for episode in told if episode.id in both)
        counts = sum(episode.id in both for episode in told), len(told)
        value = f"{counts[0]} times out of {counts[1]}{_last_seen(last)}"
        yield _RankedConclusion(
            worth=(1, counts[0], last.at.timestamp()),
            conclusion=Conclusion(
                text=f"`{one}` and `{other}` came up together {value}.",
                subject=f"{one} and {other}",
                attribute="together",
                value=value,
                memories=tuple(episode.id for episode in told),
                counted=counts,
            ),
        )


def _statements_by_subject(
    episodes: Sequence[Record], tells: Callable[[Record], Sequence[_EpisodeStatement]]
) -> dict[str, list[_EpisodeStatement]]:
    """The statements of the episodes by subject, once for each event, the newest first."""
    groups: dict[str, dict[MemoryId, _EpisodeStatement]] = {}
    for episode in episodes:
        for told in tells(episode):
            # If one episode reports two outcomes, the last one is used.
            groups.setdefault(told.about, {})[episode.id] = told
    out: dict[str, list[_EpisodeStatement]] = {}
    for key, group in groups.items():
        kept = {each.id for each in distinct_events([told.episode for told in group.values()][: 2 * MOST_CITED])}
        out[key] = [told for name, told in group.items() if name in kept][:MOST_CITED]
    return out


def _actions(episode: Record) -> list[_EpisodeStatement]:
    out: list[_EpisodeStatement] = []
    for each in _OUTCOME.finditer(episode.text):
        action, mixed = " ".join(each["action"].split()), bool(each["mixed"])
        out.append(
            _EpisodeStatement(episode=episode, about=action, words=action, failed=bool(each["failed"]), mixed=mixed)
        )
    return out


def _episode_clauses(episode: Record) -> list[_EpisodeStatement]:
    """The clauses that are long enough to be recognised; those of an action are counted with its outcomes."""
    out: list[_EpisodeStatement] = []
    for clause in _CLAUSE.split(episode.text):
        said = terms(clause)
        if len(set(said)) >= CLAUSE_TERMS and not _OUTCOME.search(clause):
            out.append(_EpisodeStatement(episode=episode, about=" ".join(said), words=" ".join(clause.split())))
    return out


def _episode_names(episode: Record) -> list[_EpisodeStatement]:
    names = dict.fromkeys(one or other for one, other in _NAME.findall(episode.text))
    return [_EpisodeStatement(episode=episode, about=name, words=name) for name in names]


def _episode_ids(told: Sequence[_EpisodeStatement]) -> tuple[MemoryId, ...]:
    return tuple(each.episode.id for each in told)


def _last_seen(episode: Record) -> str:
    """When it was last seen, for use after a count; empty if unknown."""
    return f", last on {episode.when.astimezone(UTC).date().isoformat()}" if episode.when else ""
