"""What a log says of its run as a whole: how it came out, by a test or a grader, and what it sums up itself.

Some logs note what was learned of a repository and its code, how to work there, and what went wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from ireneo.log.message import Draft

RunOutcome = Literal["good", "bad", "unknown"]
"""How a run came out. That an agent handed its work in says nothing of what it is worth."""

_VERDICTS = ("resolved", "solved", "success")
_REWARDS = ("reward", "rewards")
_WITHIN = ("info", "test_result", "report", "result", "reward_info", "verifier_result", "rewards")
"""Under what a log groups what it says of a run."""
_OF_ONE_STEP = ("role", "type", "kind", "action", "observation", "uuid", "step_id")
"""What only an entry of one message has: a tool's success is not the run's."""
_DEEP = 3


def outcome_of(drafts: Iterable[Draft]) -> RunOutcome:
    """How the run of `drafts` came out, as their log notes it: a verdict or a reward counts before how it ended."""
    said = [each for about in _about_run(drafts) for each in _places(about)]
    verdict = next((good for each in said if (good := _verdict(each)) is not None), None)
    if verdict is None:
        return "bad" if any(map(_broke_off, said)) else "unknown"
    return "good" if verdict else "bad"


NotedSort = Literal["learned", "workflow", "friction"]
MOST_NOTED = 60
"""Sentences of one log that are read."""
LONGEST = 400
"""Characters of one of them."""


class NotedWords(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence by which a log sums up its run, word for word."""

    sort: NotedSort
    text: str
    path: str = ""
    """Of a finding in the code: where."""


def noted_words(drafts: Iterable[Draft]) -> tuple[NotedWords, ...]:
    """What the log of `drafts` sums up of its run: learnings, ways of working, frictions; each once."""
    out: dict[NotedWords, None] = {}
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            for summary in _summaries(_mapping(entry)):
                out.update(dict.fromkeys(_noted(summary)))
    return tuple(out)[:MOST_NOTED]


def _summaries(entry: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = entry.get("checkpoints")
    places = [entry, *(map(_mapping, listed) if isinstance(listed, list) else [])]
    for place in places:
        for each in (place, _mapping(place.get("summary"))):
            if "learnings" in each or "friction" in each:
                yield each


def _noted(summary: Mapping[str, object]) -> Iterator[NotedWords]:
    learned = summary.get("learnings")
    if isinstance(learned, dict):
        for sort, key in (("learned", "repo"), ("learned", "code"), ("workflow", "workflow")):
            yield from _sentences(sort, learned.get(key))  # type: ignore[arg-type]
    else:
        yield from _sentences("learned", learned)
    yield from _sentences("friction", summary.get("friction"))


def _sentences(sort: NotedSort, listed: object) -> Iterator[NotedWords]:
    for each in listed if isinstance(listed, list) else [listed]:
        held = _mapping(each)
        text = held.get("finding") if held else each
        path = held.get("path")
        if isinstance(text, str) and 0 < len(text.strip()) <= LONGEST:
            yield NotedWords(sort=sort, text=" ".join(text.split()), path=path if isinstance(path, str) else "")


def _about_run(drafts: Iterable[Draft]) -> Iterator[Mapping[str, object]]:
    """The entries of the log that are of no single message."""
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            about = _mapping(entry)
            if about and not any(key in about for key in _OF_ONE_STEP):
                yield about


def _places(about: Mapping[str, object], deep: int = 0) -> Iterator[Mapping[str, object]]:
    yield about
    for key in _WITHIN if deep < _DEEP else ():
        if held := _mapping(about.get(key)):
            yield from _places(held, deep + 1)


def _verdict(said: Mapping[str, object]) -> bool | None:
    for key in _VERDICTS:
        if isinstance(found := said.get(key), bool):
            return found
    for key in _REWARDS:
        reward = said.get(key)
        if isinstance(reward, int | float) and (reward <= 0 or reward >= 1):
            return reward >= 1
    return None


def _broke_off(said: Mapping[str, object]) -> bool:
    """Whether the harness ended it: a limit, an error, an agent that gave up."""
    status = said.get("exit_status")
    return isinstance(status, str) and bool(status.strip()) and not status.strip().lower().startswith("submitted")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
