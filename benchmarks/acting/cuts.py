"""Places in sessions at which notes warn of a dead end, and the agent is about to act."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from msgspec import Struct

import ireneo
from acting.asking import is_comparable, tool_lines
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.log.message import Call, Draft, Message, chain, count_parts
from ireneo.summaries.outcomes import dead_ends
from ireneo.summaries.steps import steps
from ireneo.summaries.summary import Line

LOOKED_AT = 12
"""Places of a session that are looked at for each cut that is wanted."""
COUNT = EstimatedTokenizer().count


class Cut(Struct, frozen=True, kw_only=True):
    """A session up to where its agent makes a call."""

    session: str
    path: tuple[Draft, ...]
    dead_ends: tuple[Line, ...]
    """Those that are recorded up to there and stand."""
    told: int
    """How many of them the notes of the context tell."""
    tools: tuple[str, ...]
    really: tuple[Call, ...]
    """What the agent did next in the session itself."""


def cuts_of(session: str, path: Sequence[Draft], budget: int, most: int, chance: random.Random) -> Iterator[Cut]:
    """At most so many cuts of a session, at random places."""
    messages = chain(None, path, lambda parts: count_parts(parts, COUNT))
    places = [place for place in _acting(path) if messages[place - 1].total_tokens > budget]
    chance.shuffle(places)
    found = 0
    for place in places[: most * LOOKED_AT]:
        if found >= most:
            return
        cut = _cut(session, messages[:place], budget, path[place].calls)
        if cut is not None:
            found += 1
            yield cut


def _cut(session: str, messages: Sequence[Message], budget: int, really: tuple[Call, ...]) -> Cut | None:
    ends = [line for line in dead_ends(steps(messages)) if is_comparable(line)]
    if not ends:
        return None
    path = [message.draft for message in messages]
    context = ireneo.compact(path, budget, to="openai")
    notes = "\n".join(row.text for row in context.view if row.what == "summary")
    told = sum(line.text in notes for line in ends)
    if not told:
        return None
    return Cut(
        session=session,
        path=tuple(path),
        dead_ends=tuple(ends),
        told=told,
        tools=tuple(tool_lines(path)),
        really=really,
    )


def _acting(path: Sequence[Draft]) -> list[int]:
    """The places of messages that make a call while no other is running."""
    out: list[int] = []
    waiting: set[str] = set()
    for place, draft in enumerate(path):
        made = {call.id for call in draft.calls if not call.server}
        if place and made and not waiting:
            out.append(place)
        waiting = (waiting | made) - {result.call_id for result in draft.results}
        if draft.role == "user" and draft.origin == "spoken" and not draft.joined:
            waiting = set()
    return out
