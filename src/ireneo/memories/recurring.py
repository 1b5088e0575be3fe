"""What recurs in episodes, said as conclusions: how often an action ended how, what was told again, what goes together.

Nothing is guessed: each conclusion is a count over the episodes that it cites, in their own words. Where nothing
recurs there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from itertools import combinations

from msgspec import Struct

from ireneo.memories.recall.words import terms
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.reflect import MOST_CONCLUSIONS, Conclusion, check_conclusion, events
from ireneo.patterns import lazy_re

MOST_CITED = 32
"""Events that one conclusion counts, the newest."""
SHARE = 0.75
"""Of the times that something was done, so many must have ended alike."""
FAILURES = 2
SUCCESSES = 3
"""That something works is what is expected, so it takes more of it to be worth saying."""
TOGETHER = 3
TOGETHER_SHARE = 2 / 3
COMMON = 0.6
"""What is named in more of the episodes than this share is what they are all about."""
CLAUSE_TERMS = 4
CLAUSE = 140
"""Characters of a clause that are quoted."""
_NAMES = 12
"""Names of one episode that are paired."""

_OUTCOME = lazy_re(
    r"`(?P<action>[^`\n]{2,120})`\s+(?:has |had |was )?"
    r"(?:(?P<failed>failed|timed out|crashed|broke)|(?P<worked>passed|succeeded|worked))\b",
    re.IGNORECASE,
)
_CLAUSE = lazy_re(r"(?<=[.!?;])\s+|\n+")
_NAME = lazy_re(r"`([^`\s]{3,80})`|(?<![\w/.-])((?:[\w.-]+/)+[\w.-]*\w|[\w-]+\.[a-z]{1,5})(?![\w/])")


class _Found(Struct, frozen=True, kw_only=True):
    """A conclusion, and what it is chosen by."""

    worth: tuple[int, int, float]
    """How much its sort says, how often it is so, and when it was so last."""
    conclusion: Conclusion


class _Told(Struct, frozen=True, kw_only=True):
    """Something that an episode tells."""

    episode: Record
    about: str
    """What of other episodes meets in it."""
    words: str
    failed: bool = False


def conclude(episodes: Sequence[Record], new: frozenset[MemoryId]) -> tuple[Conclusion, ...]:
    """At most three conclusions from what recurs, what says most standing first.

    Each cites at least one of the `new` episodes: the others were looked back on before, and only count. The order
    in which `episodes` stand makes no difference.
    """
    ordered = sorted(episodes, key=lambda episode: (episode.at, episode.id), reverse=True)
    known = {episode.id: episode for episode in ordered}
    found = [each for find in (_outcomes, _clauses, _pairs) for each in find(ordered)]
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


def _outcomes(episodes: Sequence[Record]) -> Iterator[_Found]:
    """How often one action ended how, where it mostly ended alike."""
    for told in _grouped(episodes, _actions).values():
        bad = [each for each in told if each.failed]
        good = [each for each in told if not each.failed]
        alike, needed, word = (bad, FAILURES, "failed") if len(bad) >= len(good) else (good, SUCCESSES, "passed")
        if len(alike) < needed or len(alike) < SHARE * len(told):
            continue
        action = alike[0].words
        value = f"{word} {len(alike)} times out of {len(told)}{_last_on(alike[0].episode)}"
        yield _Found(
            worth=(3 if word == "failed" else 0, len(alike), alike[0].episode.at.timestamp()),
            conclusion=Conclusion(
                text=f"`{action}` {value}.",
                subject=action,
                attribute="outcome",
                value=value,
                memories=_ids(told),
                counted=(len(alike), len(told)),
            ),
        )


def _clauses(episodes: Sequence[Record]) -> Iterator[_Found]:
    """What was told in the same words of several events."""
    for key, told in _grouped(episodes, _sayings).items():
        if len(told) < 2:
            continue
        words = told[0].words
        shown = words if len(words) <= CLAUSE else words[: words.rfind(" ", CLAUSE // 2, CLAUSE)] + "…"
        yield _Found(
            worth=(2, len(told), told[0].episode.at.timestamp()),
            conclusion=Conclusion(
                text=f"This happened {len(told)} times{_last_on(told[0].episode)}: {shown}",
                subject=key[:CLAUSE],
                attribute="recurs",
                value=f"{len(told)} times{_last_on(told[0].episode)}",
                memories=_ids(told),
                counted=(len(told),),
            ),
        )


def _pairs(episodes: Sequence[Record]) -> Iterator[_Found]:
    """Names that come up together whenever either does."""
    by_name = _grouped(episodes, _named)
    most = COMMON * len(episodes)
    known = {name: {each.episode.id for each in told} for name, told in by_name.items()}
    often = {name: ids for name, ids in known.items() if TOGETHER <= len(ids) <= max(most, TOGETHER)}
    pairs = {
        pair
        for episode in episodes
        for pair in combinations(sorted({each.words for each in _named(episode)} & often.keys())[:_NAMES], 2)
    }
    for one, other in sorted(pairs):
        both, either = often[one] & often[other], often[one] | often[other]
        if len(both) < TOGETHER or len(both) < TOGETHER_SHARE * len(either):
            continue
        told = [episode for episode in episodes if episode.id in either][:MOST_CITED]
        last = next(episode for episode in told if episode.id in both)
        counts = sum(episode.id in both for episode in told), len(told)
        value = f"{counts[0]} times out of {counts[1]}{_last_on(last)}"
        yield _Found(
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


def _grouped(episodes: Sequence[Record], tells: Callable[[Record], Sequence[_Told]]) -> dict[str, list[_Told]]:
    """What the episodes tell by what it is about, once for each event, the newest first."""
    groups: dict[str, dict[MemoryId, _Told]] = {}
    for episode in episodes:
        for told in tells(episode):
            # Of one episode that tells of two ends, the last one is how it ended.
            groups.setdefault(told.about, {})[episode.id] = told
    out: dict[str, list[_Told]] = {}
    for key, group in groups.items():
        kept = {each.id for each in events([told.episode for told in group.values()][: 2 * MOST_CITED])}
        out[key] = [told for name, told in group.items() if name in kept][:MOST_CITED]
    return out


def _actions(episode: Record) -> list[_Told]:
    found = [(" ".join(each["action"].split()), bool(each["failed"])) for each in _OUTCOME.finditer(episode.text)]
    return [_Told(episode=episode, about=action, words=action, failed=failed) for action, failed in found]


def _sayings(episode: Record) -> list[_Told]:
    """The clauses that say enough to be known again; those of an action are counted with its ends."""
    out: list[_Told] = []
    for clause in _CLAUSE.split(episode.text):
        said = terms(clause)
        if len(set(said)) >= CLAUSE_TERMS and not _OUTCOME.search(clause):
            out.append(_Told(episode=episode, about=" ".join(said), words=" ".join(clause.split())))
    return out


def _named(episode: Record) -> list[_Told]:
    names = dict.fromkeys(one or other for one, other in _NAME.findall(episode.text))
    return [_Told(episode=episode, about=name, words=name) for name in names]


def _ids(told: Sequence[_Told]) -> tuple[MemoryId, ...]:
    return tuple(each.episode.id for each in told)


def _last_on(episode: Record) -> str:
    """When it was seen last, behind a count; empty where that is not known."""
    return f", last on {episode.when.astimezone(UTC).date().isoformat()}" if episode.when else ""
