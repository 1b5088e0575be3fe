"""Say before a call is made whether it is likely to fail, from the session so far and what past runs show."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.guard import GuardAdvice, already_followed, asked_cues, judge, lesson_cue, without_others
from ireneo.lessons.lessons import belongs, projects_of
from ireneo.lessons.run import project_named
from ireneo.lessons.situation import Situation
from ireneo.log.message import Call, Message, MessageId
from ireneo.log.tree import MAIN, Head, SessionKey, chain
from ireneo.ports.memories import MemoryFilter

if TYPE_CHECKING:
    from ireneo.formats.logs.format import LogFormat
    from ireneo.ports.store import Transaction

LOOKED_BACK = 400
"""So many messages of a session that is first met are folded; what was folded once goes on from there."""
MOST_FOLDED = 16
"""Sessions whose situation is kept."""
MOST_SIGHTINGS = 50
"""Of each cue the newest ones; more make no call surer, and each costs time."""


class Folded(Struct, kw_only=True):
    """The situation of a session, as far as it was folded."""

    situation: Situation
    head: MessageId
    position: int


class Situations:
    """The situations of the sessions that were asked about last, in this process."""

    def __init__(self) -> None:
        """Know no session."""
        self._folded: OrderedDict[SessionKey, Folded] = OrderedDict()

    def of(self, tx: Transaction, key: SessionKey, branch: str) -> Situation:
        """The situation at the head of a branch; that of a session without messages is empty."""
        head = tx.log.head(key, branch)
        if head is None:
            return Situation()
        known = self._folded.pop(key, None)
        if known is None or not _leads_to(tx, key, known, head):
            known = Folded(situation=Situation(), head=head.id, position=max(-1, head.position - LOOKED_BACK))
        if known.position < head.position:
            for message in tx.log.path(key, head.id, known.position + 1, head.position):
                if message.draft.origin == "spoken" and not message.erased:
                    known.situation.see(message)
        known.head, known.position = head.id, head.position
        self._folded[key] = known
        if len(self._folded) > MOST_FOLDED:
            self._folded.popitem(last=False)
        return known.situation


def _leads_to(tx: Transaction, key: SessionKey, known: Folded, head: Head) -> bool:
    """Whether the path to `head` goes through where the session was folded up to: it may have been rewound."""
    if known.head == head.id:
        return True
    if known.position >= head.position:
        return False
    passed = tx.log.path(key, head.id, known.position, known.position)
    return bool(passed) and passed[0].id == known.head


def situation_of_log(log: LogFormat, lines: Iterable[bytes], session: str) -> Situation:
    """The situation at the end of a log that is not stored; `session` chooses among several."""
    found: tuple[Message, ...] = ()
    for logged in log.read(lines, session):
        if not found or logged.id == session:
            found = tuple(chain(None, logged.path, lambda parts: (0, 0)))
    return Situation().see_all(message for message in found[-LOOKED_BACK:] if message.draft.origin == "spoken")


def check(
    tx: Transaction,
    now: datetime,
    situations: Situations,
    space: str,
    call: Call,
    *,
    session: str | None = None,
    so_far: Situation | None = None,
    project: str | None = None,
    conditions: Mapping[str, str] | None = None,
) -> GuardAdvice | None:
    """Say of `call` that it is likely to fail, or nothing.

    The session's own run, if it was learned from already, is no past run. With a `project` (empty: none) what was said
    in others is not quoted.
    """
    situation = so_far
    if situation is None:
        situation = Situation() if session is None else situations.of(tx, SessionKey(space, session), MAIN)
    cues = asked_cues(situation, call)
    observations = tx.runs.observations(space, cues, MOST_SIGHTINGS)
    past = [each for each in observations if each.session != session]
    here = None if project is None else project_named(project)
    found = judge(situation, call, past, project=here, conditions=conditions, now=now)
    if found is None:
        return None
    begins = lesson_cue(call)
    listed = tx.memories.list(space, MemoryFilter(kind="failure", states=("active",), lessons=True))
    lessons = [each for each in listed if each.cue.startswith(begins) and belongs(projects_of(each), here)][:1]
    if any(already_followed(situation, call, each.text) for each in lessons):
        return None
    told = without_others(found)
    return replace(told, lesson=lessons[0].id) if lessons else told
