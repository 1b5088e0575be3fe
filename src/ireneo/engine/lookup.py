"""Open or dispute whatever an id names in a space: a summary, message, memory, annotation or run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from ireneo.engine import annotations as noting
from ireneo.engine.diary import Diary, read_diary
from ireneo.engine.expand import Expanded, expand
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits, character_asked, is_open, open_projects, per_project, place_all
from ireneo.engine.tree import MIN_ID_LENGTH, all_annotations, memory_named, only_match
from ireneo.errors import BadInput, MemoryNotFound, NotFound, SummaryNotFound
from ireneo.lessons.run import is_ruling
from ireneo.log.message import short
from ireneo.log.tree import MAIN, Annotation, SessionKey
from ireneo.memories.exchange import against
from ireneo.memories.record import TRUST, MemoryId, Record, Source
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

SUMMARY = "s_"
"""Prefix of the ids of summaries."""
NOTES = {"p_": "pin", "r_": "release", "d_": "dispute", "e_": "entry", "t_": "thread", "c_": "fact", "w_": "wording"}
"""Prefixes of the ids of annotations."""
PREFIXES = ("m_", SUMMARY, *NOTES)
"""Prefixes of all ids; one that is given without its prefix is tried with each."""


class LookupResult(ShortRepr, frozen=True, kw_only=True):
    """What an id names: the one of these fields that is set."""

    session: str = ""
    expanded: Expanded | None = None
    memory: Record | None = None
    note: Annotation | None = None
    """An annotation, such as a pin."""
    diary: Diary | None = None
    """The diary of the session that the id names: what was tried in it, with what result."""


async def lookup(
    resources: Resources, space: str, id: str, session: str = "", project: str | None = None, viewpoint: str = ""
) -> LookupResult:
    """Return what `id`, or the only id that begins with it, names, also without its prefix, such as ``m_``.

    `session` limits the search to one.
    With `project` (empty: none) nothing of other projects is opened; with `viewpoint` only what that character knows,
    and no annotations. Raises NotFound, and BadInput for an ambiguous or too short id.
    """
    await place_all(resources.store, space, project)

    def find(tx: Transaction, id: str) -> LookupResult | list[SessionKey]:
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

    def find_bare(tx: Transaction) -> list[LookupResult]:
        found = []
        for prefix in PREFIXES if id[:2] not in PREFIXES and len(id) >= MIN_ID_LENGTH else ():
            # What can't be opened under one prefix may be under another.
            with suppress(NotFound):
                opened = find(tx, prefix + id)
                found += [opened] if isinstance(opened, LookupResult) else []
        return found

    found = await resources.store.read(find, id)
    if isinstance(found, LookupResult):
        return found
    # Session names are chosen by logs, so they are tried last.
    begun = {key.session: key for key in found if id and key.session.startswith(id)}
    if not begun:
        bare = await resources.store.read(find_bare)
        if len(bare) == 1:
            return bare[0]
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
    """Dispute a summary (or one claim of it) or a memory, with a reason. Raises NotFound and BadInput.

    A summary is shown as disputed until it is written again. Against a memory this is a piece of evidence of `origin`,
    whose effect follows from the rest of the evidence. With `project` (empty: none) nothing of other projects is
    disputed.
    """
    if not reason.strip():
        raise BadInput("Say what is wrong with it, and what is shown instead.")
    if origin not in TRUST:
        raise BadInput(f"`origin` is {origin!r}, which is none; give one of {', '.join(TRUST)}.")
    await place_all(resources.store, space, project)
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
        raise BadInput(f"{short(record.id)} is a rule of the user's, whose word it is: ask the user to drop it.")
    draft = against(record, resources.clock.now(), origin=origin, why=" ".join(reason.split()))

    def settle(tx: Transaction) -> Remembered:
        there = per_project(tx, space, record, draft) if project is None else [replace(draft, project=project)]
        # `judged`: a dispute is new evidence, however much it reads like the memory.
        return settle_drafts(tx, space, there, judged=True)[-1]

    return await resources.store.write(settle)


def _sessions(tx: Transaction, space: str, project: str | None) -> list[SessionKey]:
    """The sessions that may be seen from a project."""
    opened = open_projects(tx, space, project)
    return [info.key for info in tx.sessions.list(space) if is_open(opened, {info.project or ""})]


def _seen(tx: Transaction, space: str, record: Record, project: str | None, viewpoint: str = "") -> Record:
    """A memory as seen from a project, by a character. Raises NotFound if it may not be."""
    scope = Scope(tx, space, ScopeLimits(project=project, viewpoint=viewpoint, undone=not viewpoint))
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
    """The session of the summary that `id` names."""
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
    """The memory, or the session of the message, that `id` names, and the whole id.

    Ids that a log gave its messages count if none of ours begins so.
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
        "A context and a brief show ids; `sessions` lists those of sessions."
    )
