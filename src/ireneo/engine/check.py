"""Say before a call is made whether it is about to step into a known trap, from the session so far and past lessons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ireneo.lessons.guard import Arguments, GuardAdvice, PastCall, SessionSoFar, TrapIndex, advice, told_in
from ireneo.lessons.known_traps import cues_beside, known_traps
from ireneo.lessons.lessons import cues_to_read
from ireneo.lessons.run import Observation
from ireneo.log.message import Message, Result, chain
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.memories import MemoryFilter
from ireneo.summaries.steps import steps

if TYPE_CHECKING:
    from ireneo.formats.logs.format import LogFormat
    from ireneo.ports.store import Transaction

LOOKED_BACK = 400
"""So many messages of a session are looked at."""
MOST_OBSERVED = 50
"""Of each claim the newest observations; more make no trap surer."""
TOGETHER = 500
"""Claims that are read at one time."""


def compile_traps(tx: Transaction, space: str) -> TrapIndex:
    """The traps of a space, from its lessons and what runs show of them."""
    records = tx.memories.list(space, MemoryFilter(states=("active",), lessons=True, archived=False))
    observed: dict[str, list[Observation]] = {}
    _observe(tx, space, (cue for each in records for cue in cues_to_read(each.cue)), observed)
    _observe(tx, space, cues_beside(one for seen in list(observed.values()) for one in seen), observed)
    return known_traps(records, observed)


def _observe(tx: Transaction, space: str, cues: Iterable[str], observed: dict[str, list[Observation]]) -> None:
    """Add what runs show of these claims."""
    asked = [cue for cue in dict.fromkeys(cues) if cue not in observed]
    for start in range(0, len(asked), TOGETHER):
        for each in tx.runs.observations(space, asked[start : start + TOGETHER], MOST_OBSERVED):
            observed.setdefault(each.cue, []).append(each)


def keep_traps(tx: Transaction, space: str) -> None:
    """Compile the traps of a space for whoever asks next, where they aren't."""
    if tx.traps.due(space):
        tx.traps.keep(space, compile_traps(tx, space))


def session_so_far(messages: Sequence[Message], session: str = "", folder: str = "") -> SessionSoFar:
    """What a session shows."""
    spoken = [each for each in messages if not each.erased][-LOOKED_BACK:]
    told: set[str] = set()
    asked = ""
    for message in spoken:
        said = message.text
        told.update(told_in(said))
        for part in message.draft.parts:
            if isinstance(part, Result):
                told.update(told_in(part.text))
        if message.draft.role == "user" and message.draft.origin == "spoken" and said.strip():
            asked = said
    calls = tuple(
        PastCall(tool=step.call.name, arguments=step.call.arguments, failed=step.failed)
        for step in steps([each for each in spoken if each.draft.origin == "spoken"])
        if step.result is not None
    )
    return SessionSoFar(calls=calls, asked=asked, told=frozenset(told), folder=folder, session=session)


def so_far_in_log(log: LogFormat, lines: Iterable[bytes], session: str) -> SessionSoFar:
    """What a log that is not stored shows; `session` chooses among several."""
    found: tuple[Message, ...] = ()
    for logged in log.read(lines, session):
        if not found or logged.id == session:
            found = tuple(chain(None, logged.path, lambda parts: (0, 0)))
    return session_so_far(found, session)


def check(
    tx: Transaction,
    space: str,
    tool: str,
    arguments: Arguments,
    *,
    session: str | None = None,
    look_back: Callable[[], SessionSoFar] | None = None,
    project: str | None = None,
) -> GuardAdvice | None:
    """Say of a call that it steps into a trap, or nothing.

    What the session shows so far `look_back` tells, or else what is stored of it. With a `project` (empty: none) what
    is another's is not told.
    """
    index = tx.traps.read(space) or compile_traps(tx, space)
    return advice(index.traps, tool, arguments, look_back or partial(_stored, tx, space, session), project=project)


def _stored(tx: Transaction, space: str, session: str | None) -> SessionSoFar:
    key = SessionKey(space, session or "")
    head = tx.log.head(key, MAIN) if session else None
    if head is None:
        return SessionSoFar(session=session or "")
    first = max(0, head.position - LOOKED_BACK)
    return session_so_far(tx.log.path(key, head.id, first, head.position), key.session)
