"""Check before a call whether it steps into a known trap, given the session so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ireneo.lessons.guard import (
    Arguments,
    GuardAdvice,
    PastCall,
    SessionSoFar,
    Trap,
    TrapIndex,
    advice,
    shown_lesson_ids,
)
from ireneo.lessons.lessons import cues_to_read, known_traps, program_cues, projects_of, told_and_kept
from ireneo.lessons.repositories import REPOSITORY, united_projects
from ireneo.lessons.run import Observation, is_ruling
from ireneo.lessons.told_failures import remarks, reported_traps
from ireneo.log.message import Message, Result, chain
from ireneo.log.tree import MAIN, SessionKey
from ireneo.memories.record import Record, supporting
from ireneo.ports.memories import MemoryFilter
from ireneo.summaries.steps import steps

if TYPE_CHECKING:
    from ireneo.formats.logs.format import LogFormat
    from ireneo.ports.store import Transaction

LOOKED_BACK = 400
"""How many messages of a session are read at most."""
MOST_OBSERVED = 50
"""How many of the newest observations of each claim are read; more make no difference."""
MOST_MARKED = 200
"""How many of the newest runs have their repository's marks read."""
MOST_TOLD = 2_000
"""From how many of the newest reported failures traps are compiled."""
TOGETHER = 500
"""How many claims' observations are read per query."""


def observations_by_cue(
    tx: Transaction, space: str, cues: Iterable[str], most: int = 200
) -> dict[str, list[Observation]]:
    """The newest observations of each of these claims, at most `most` of each."""
    asked = list(dict.fromkeys(cues))
    found: dict[str, list[Observation]] = {}
    for start in range(0, len(asked), TOGETHER):
        for each in tx.runs.observations(space, asked[start : start + TOGETHER], most):
            found.setdefault(each.cue, []).append(each)
    return found


def compile_traps(tx: Transaction, space: str) -> TrapIndex:
    """Compile the traps of a space from its lessons with their observations, and from what was only told."""
    records = tx.memories.list(space, MemoryFilter(states=("active",), lessons=True, archived=False))
    cues = (cue for each in records for cue in cues_to_read(each.cue))
    observed = observations_by_cue(tx, space, cues, MOST_OBSERVED)
    # What a user said once, perhaps of the task at hand only, is no rule to warn of.
    _, kept = told_and_kept(records, observed)
    records = [each for each in records if not is_ruling(each.cue) or each not in kept]
    beside = program_cues(one for seen in observed.values() for one in seen)
    index = known_traps(records, observed | observations_by_cue(tx, space, beside, MOST_OBSERVED))
    united = repositories(tx, space)
    traps = list(index.traps)
    heard = {each.lesson: f"{each.command} ".lstrip() for each in traps if each.ruling}
    told = [one for each in records if is_ruling(each.cue) for one in reported_traps(each, projects_of(each))]
    # The words of a ruling may name the command more exactly, or where its reader found none.
    told = [each for each in told if each.command.startswith(heard.get(each.lesson, each.command))]
    replaced = {each.lesson for each in told}
    traps = [*(each for each in traps if each.lesson not in replaced), *told, *_reported_traps(tx, space)]
    warned = {each.lesson for each in traps}
    traps += [one for each in records if each.id not in warned for one in remarks(each, projects_of(each))]
    traps = [replace(each, projects=_with_same_repository(each.projects, united)) for each in traps]
    return replace(index, traps=tuple(traps), projects=_with_same_repository(index.projects, united))


def repositories(tx: Transaction, space: str) -> dict[str, frozenset[str]]:
    """The projects of a space that are one repository with others, each mapped to all of these."""
    return united_projects(tx.runs.observations(space, [REPOSITORY], MOST_MARKED))


def _with_same_repository(projects: tuple[str, ...], united: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Add the projects that are the same repository."""
    return tuple(sorted({one for each in projects for one in united.get(each, frozenset({each}))}))


def _reported_traps(tx: Transaction, space: str) -> list[Trap]:
    """The traps of the newest reported failures that no lesson covers."""
    told = tx.memories.list(space, MemoryFilter(kind="failure", states=("active",), archived=False), MOST_TOLD)
    told = _on_branch(tx, space, [each for each in told if not each.cue])
    silent = {piece.session for each in told for piece in each.evidence if piece.session and not piece.project}
    there = tx.sessions.projects(space, sorted(silent)) if silent else {}
    found: list[Trap] = []
    for each in told:
        of_pieces = zip(each.evidence, each.projects, strict=True)
        found += reported_traps(each, [named or there.get(piece.session, "") for piece, named in of_pieces])
    return sorted(found, key=lambda each: each.lesson)


def _on_branch(tx: Transaction, space: str, told: Sequence[Record]) -> list[Record]:
    """The memories with evidence on a branch, or without messages: undone messages warn of nothing."""
    pieces = [(each, piece) for each in told for piece in supporting(each)]
    places = [(piece.session, piece.messages) for _, piece in pieces if piece.session and piece.messages]
    lies = iter(tx.log.on_branch(space, places, None) if places else ())
    stands = {each.id for each, piece in pieces if not (piece.session and piece.messages) or next(lies)}
    return [each for each in told if each.id in stands]


def store_traps(tx: Transaction, space: str) -> None:
    """Compile and store the traps of a space, unless they are stored."""
    if tx.traps.due(space):
        tx.traps.keep(space, compile_traps(tx, space))


def session_so_far(messages: Sequence[Message], session: str) -> SessionSoFar:
    """The state of a session, from its messages."""
    spoken = [each for each in messages if not each.erased][-LOOKED_BACK:]
    told: set[str] = set()
    asked = ""
    for message in spoken:
        said = message.text
        told.update(shown_lesson_ids(said))
        for part in message.draft.parts:
            if isinstance(part, Result):
                told.update(shown_lesson_ids(part.text))
        if message.draft.role == "user" and message.draft.origin == "spoken" and said.strip():
            asked = said
    calls = tuple(
        PastCall(tool=step.call.name, arguments=step.call.arguments, failed=step.failed)
        for step in steps([each for each in spoken if each.draft.origin == "spoken"])
        if step.result is not None
    )
    return SessionSoFar(calls=calls, asked=asked, told=frozenset(told), session=session)


def session_so_far_in_log(log: LogFormat, lines: Iterable[bytes], session: str) -> SessionSoFar:
    """The state of a session in a log that is not stored; `session` selects one of several."""
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
    """Advice on a call (see `Memory.check`); by default `look_back` reads the session's state from the store."""
    index = tx.traps.read(space) or compile_traps(tx, space)
    return advice(
        index.traps, tool, arguments, look_back or partial(_stored_session, tx, space, session), project=project
    )


def _stored_session(tx: Transaction, space: str, session: str | None) -> SessionSoFar:
    key = SessionKey(space, session or "")
    head = tx.log.head(key, MAIN) if session else None
    if head is None:
        return SessionSoFar(session=session or "")
    first = max(0, head.position - LOOKED_BACK)
    return session_so_far(tx.log.path(key, head.id, first, head.position), key.session)
