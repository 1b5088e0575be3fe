"""Open, or dispute, whatever an id names, wherever in a space it is: a block, a message, a memory, a pin, a run."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine import annotations as noting
from ireneo.engine.diary import Diary, read_diary
from ireneo.engine.expand import Expanded, expand
from ireneo.engine.forgetting import all_annotations
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits, character_asked, is_open, open_projects, place_all, told_there
from ireneo.engine.tree import memory_named, only_match
from ireneo.errors import BadInput, MemoryNotFound, NotFound, SummaryNotFound
from ireneo.lessons.run import is_ruling
from ireneo.log.message import short
from ireneo.log.tree import MAIN, Annotation, SessionKey
from ireneo.memories.exchange import against
from ireneo.memories.record import TRUST, MemoryId, Record, Source
from ireneo.ports.store import Transaction

SUMMARY = "s_"
"""What the id of a block begins with; those of messages and of memories begin alike, with another letter."""
NOTES = {"p_": "pin", "r_": "release", "d_": "dispute", "e_": "entry", "t_": "thread", "c_": "fact", "w_": "wording"}
"""What the ids of what was noted by hand begin with."""


class LookupResult(Struct, frozen=True, kw_only=True):
    """What an id names: a block or a message with the session that it stands in, a note, a run, or a memory."""

    session: str = ""
    expanded: Expanded | None = None
    memory: Record | None = None
    note: Annotation | None = None
    """A pin, or what else was noted by hand."""
    diary: Diary | None = None
    """Of a session: what was tried in it, and what came of that."""


async def lookup(
    resources: Resources,
    space: str,
    id: str,
    session: str = "",
    project: str | None = None,
    viewpoint: str = "",
) -> LookupResult:
    """What `id`, or the only id that begins so, names in the space (of what stands in sessions: in `session` alone).

    With `project` (empty: none) what belongs to another one is not opened, and of a memory what is told there is not;
    with `viewpoint` what that character remembers, and nothing that was noted by hand. Raises NotFound, and BadInput,
    with some of them, where it might name several or has too few characters for a name.
    """
    if project is not None:
        await place_all(resources.store, space)

    def find(tx: Transaction) -> LookupResult | list[SessionKey]:
        keys = [key for key in _sessions(tx, space, project) if session in ("", key.session)]
        who = character_asked(tx, space, None, viewpoint) if viewpoint else ""
        if id[:2] in NOTES and not who:
            return _note(tx, space, keys, id)
        record, key, found = None, None, id
        if id.startswith(SUMMARY):
            key = _place(tx, space, keys, id)
        elif id:
            record, key, found = _memory_or_message(tx, space, keys, id)
        if record is not None:
            return LookupResult(memory=_seen(tx, space, record, project, viewpoint))
        if key is not None:
            return LookupResult(session=key.session, expanded=expand(tx, key, found, who))
        return [] if viewpoint else keys

    found = await resources.store.read(find)
    if isinstance(found, LookupResult):
        return found
    # Sessions are called as their logs call them, so that they come last.
    begun = {key.session: key for key in found if id and key.session.startswith(id)}
    if not begun:
        raise NotFound(_nothing(id, space))
    run = begun[only_match(id, begun, "session", least=1)]
    diary = await read_diary(resources.store, run, MAIN, resources.count, resources.drawing())
    return LookupResult(session=run.session, diary=diary)


async def dispute_id(
    resources: Resources,
    space: str,
    id: str,
    reason: str,
    claim: str = "",
    origin: Source = "agent",
    project: str | None = None,
) -> Annotation | Remembered:
    """Say that a block is wrong (or one claim of it), or that a memory is; with why. Raises NotFound, BadInput.

    A block is shown as disputed until it is written again. Against a memory it is one more word of `origin`, told now
    and kept with its reason: what it changes follows from whose words speak for it. With `project` (empty: none) what
    belongs to another one is not disputed.
    """
    if not reason.strip():
        raise BadInput("Say what is wrong with it, and what is shown instead.")
    if origin not in TRUST:
        raise BadInput(f"`origin` is {origin!r}, which is none; give one of {', '.join(TRUST)}.")
    if project is not None:
        await place_all(resources.store, space)
    reason = resources.cleaning().text(reason)
    if id.startswith(SUMMARY):
        key = await resources.store.read(lambda tx: _place(tx, space, _sessions(tx, space, project), id))
        return await resources.store.write(noting.dispute, key, id, reason, claim)
    if claim:
        raise BadInput("Only of a block can one claim be disputed; a memory is disputed as it stands: leave it out.")

    def find_memory(tx: Transaction) -> Record | None:
        record = memory_named(tx, space, id)
        return record and _seen(tx, space, record, project)

    record = await resources.store.read(find_memory)
    if record is None:
        raise MemoryNotFound(f"There is no memory {id!r} in space {space!r}; only blocks and memories are disputed.")
    if origin != "user" and is_ruling(record.cue):
        raise BadInput(
            f"{short(record.id)} is a rule of the user's, whose word it is: ask the user to drop it (`ireneo review`)."
        )
    draft = against(record, resources.clock.now(), origin=origin, why=" ".join(reason.split()))

    def settle(tx: Transaction) -> Remembered:
        there = told_there(tx, space, record, draft) if project is None else [replace(draft, project=project)]
        # It was opened and found wrong: that is a new word, however much it reads like the memory.
        return settle_drafts(tx, space, there, judged=True)[-1]

    return await resources.store.write(settle)


def _sessions(tx: Transaction, space: str, project: str | None) -> list[SessionKey]:
    """The sessions that may be seen from a project."""
    opened = open_projects(tx, space, project)
    return [info.key for info in tx.sessions.list(space) if is_open(opened, {info.project or ""})]


def _seen(tx: Transaction, space: str, record: Record, project: str | None, viewpoint: str = "") -> Record:
    """A memory as it is seen from a project, by a character. Raises NotFound where it belongs to others alone."""
    scope = Scope.of(tx, space, ScopeLimits(project=project, viewpoint=viewpoint, undone=not viewpoint))
    (seen,) = scope.seen([record])
    if seen is None and viewpoint:
        raise NotFound(f"{record.id} is not what {viewpoint} remembers; open what recall or a brief shows to her.")
    if seen is None:
        here = f"project {project!r}" if project else "no project that is known"
        raise NotFound(
            f"{record.id} belongs to another project, and you work on {here}; only what belongs there is opened."
        )
    return seen


def _place(tx: Transaction, space: str, keys: Sequence[SessionKey], id: str) -> SessionKey:
    """The session in which the summary stands that is meant."""
    found: dict[str, SessionKey] = {}
    for key in keys if id else ():
        for summary in tx.summaries.find(key, id):
            found.setdefault(summary.id, key)
    if not found:
        raise SummaryNotFound(_nothing(id, space))
    return found[only_match(id, found, "summary")]


def _memory_or_message(
    tx: Transaction, space: str, keys: Sequence[SessionKey], id: str
) -> tuple[Record | None, SessionKey | None, str]:
    """The memory of that id, or the session in which such a message stands, and the whole id.

    A log gave its messages ids of its own: they name what it meant, where nothing of ours begins so.
    """
    memories = {record.id: record for record in tx.memories.get(space, [id])}
    said: dict[str, SessionKey] = {}
    for key in keys:
        for message in tx.log.find(key, [id]):
            said.setdefault(message.id, key)
    begun = {*memories, *(name for name in said if name.startswith(id))}
    if not begun:
        return None, next(iter(said.values()), None), id
    named = only_match(id, begun, "memory or message")
    return memories.get(MemoryId(named)), said.get(named), named


def _note(tx: Transaction, space: str, keys: Sequence[SessionKey], id: str) -> LookupResult:
    found: dict[str, LookupResult] = {}
    for key in keys:
        for note in all_annotations(tx, key):
            if note.id.startswith(id):
                found.setdefault(note.id, LookupResult(session=key.session, note=note))
    if not found:
        raise NotFound(_nothing(id, space))
    return found[only_match(id, found, NOTES[id[:2]])]


def _nothing(id: str, space: str) -> str:
    return (
        f"There is nothing called {id!r} in space {space!r}: no summary, message, memory, pin or session. "
        "A context, a brief and `ireneo sessions` show the ids that there are."
    )
