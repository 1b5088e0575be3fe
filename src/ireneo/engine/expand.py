"""Open what a context abbreviates, also as tools for an agent, and whatever else an id names in a space."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.context.story_blocks import tell_blocks
from ireneo.engine import annotations as noting
from ireneo.engine.learn import Diary, read_diary
from ireneo.engine.lessons import Cited, as_shown
from ireneo.engine.named import MIN_ID_LENGTH, find_summary, memory_named, messages_named, only_match
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import (
    Scope,
    ScopeLimits,
    character_asked,
    drafts_per_project,
    is_visible_project,
    open_projects,
)
from ireneo.engine.tree import all_annotations, whole_messages
from ireneo.errors import BadInput, MemoryNotFound, MessageNotFound, NotFound, SummaryNotFound
from ireneo.lessons.run import is_ruling
from ireneo.log.message import Message, arguments_text, heard_by, names_of, short, texts
from ireneo.log.tree import MAIN, Annotation, SessionKey
from ireneo.memories.exchange import objection_draft
from ireneo.memories.record import TRUST, MemoryId, Record, Source
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.policy import seen_by
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Summary

MOST_OPENED = 2_000
"""A story's block of more messages is opened by its parts."""


class Expanded(ShortRepr, frozen=True, kw_only=True):
    """What an id opens."""

    summary: Summary | None
    """The block, if the id names a block."""
    messages: tuple[Message, ...]
    """The messages that the block covers, or the message itself, with native payloads and log records.

    Empty if a story's block covers more than 2,000 messages: then it is opened by its parts."""
    parts: tuple[Summary, ...] = ()
    """For a story's block: the finer summaries that it covers."""


def expand(tx: Transaction, key: SessionKey, name: str, viewpoint: str = "") -> Expanded:
    """Open a summary or a message by its id or abbreviation.

    With a `viewpoint` only that character's summaries, and messages that the character heard.
    """
    if name.startswith("s_"):
        return _expand_summary(tx, key, name, viewpoint)
    found = messages_named(name, tx.log.find(key, [name])) if name else []
    found = [each for each in found if not viewpoint or heard_by(each.draft, viewpoint)]
    if not found and len(name) >= MIN_ID_LENGTH and tx.memories.get(key.space, [name]):
        # Memories have ids like messages.
        raise MessageNotFound(
            f"{name} is a memory, and no message of session {key.session}; open it from the memory (`lookup`)."
        )
    if not found:
        raise MessageNotFound(f"There is no message {name} in session {key.session}.")
    return Expanded(summary=None, messages=tuple(whole_messages(tx, key, found)))


def _expand_summary(tx: Transaction, key: SessionKey, name: str, viewpoint: str) -> Expanded:
    summary = find_summary(tx, key, name)
    if viewpoint and not set(names_of(seen_by(summary.summarizer))) & set(names_of(viewpoint)):
        raise SummaryNotFound(f"{name} is not what {viewpoint} remembers; open what her own context shows.")
    parts = tuple(tx.summaries.get(key, summary.sources)) if summary.level == "story" else ()
    if parts and summary.messages > MOST_OPENED:
        return Expanded(summary=summary, messages=(), parts=parts)
    messages = tx.log.path(key, summary.last, summary.first_position, summary.last_position)
    if character := seen_by(summary.summarizer):
        # A character's memory only opens to messages for which the character was present.
        messages = [message for message in messages if heard_by(message.draft, character)]
    return Expanded(summary=summary, messages=tuple(whole_messages(tx, key, messages)), parts=parts)


Tool: TypeAlias = Callable[..., Awaitable[str]]

PAGE_CHARACTERS = 12_000
"""The maximum number of characters of a tool's answer, about 3,000 tokens."""
PIECE_CHARACTERS = 1_500
SOURCES = 8
"""The maximum number of sources of a memory that are named."""


def tools(
    opened_by: Callable[[str], Awaitable[Expanded]],
    disputed_by: Callable[[str, str], Awaitable[object]],
    memory_named: Callable[[str], Awaitable[Record | None]],
) -> Sequence[Tool]:
    """`expand` and `dispute`, as functions whose names, arguments and docstrings a model can be shown."""

    async def expand(id: str) -> str:
        """Open what a summary or a shortened message stands for.

        Args:
            id: What the text says it is opened with, such as s_8f2k3ab or m_c0ffee1; also a memory.
        """
        try:
            try:
                opened = await opened_by(id)
            except MessageNotFound as missing:
                # Briefs and recall also show ids of memories, which an agent can't distinguish.
                known = await memory_named(id)
                return _memory_text(known) if known else str(missing)
        except BadInput as fault:
            return str(fault)
        if opened.parts and not opened.messages:
            return "\n\n".join(tell_blocks(opened.parts, PAGE_CHARACTERS, len))
        is_single = opened.summary is None and len(opened.messages) == 1
        return _message_page(opened.messages, PAGE_CHARACTERS if is_single else PIECE_CHARACTERS)

    async def dispute(id: str, reason: str) -> str:
        """Say that a summary of your earlier work is wrong, after you opened it and saw that it is.

        Args:
            id: The summary's id, such as s_8f2k3ab.
            reason: What is wrong with it, and what the messages show instead.
        """
        try:
            await disputed_by(id, reason)
        except BadInput as fault:
            return str(fault)
        return f"{id} is shown as disputed from now on, and is written again from its sources."

    return (expand, dispute)


def _memory_text(record: Record) -> str:
    """A memory, and what it was drawn from."""
    state = f", {record.state}: {record.reason}" if record.reason else f", {record.state}"
    sources = f"\nDrawn from {' '.join(f'[{name}]' for name in record.sources[:SOURCES])}" if record.sources else ""
    return clip(f"[{record.id}] {record.kind} memory{state}\n{record.text}{sources}", PAGE_CHARACTERS)


def _message_page(messages: Sequence[Message], limit: int) -> str:
    """The messages as text, each cut to `limit` characters, as many as fit on a page."""
    out: list[str] = []
    left = PAGE_CHARACTERS
    for place, message in enumerate(messages):
        # Authored text begins with the name.
        who = "" if message.draft.author else f"{message.role}: "
        text = f"[{message.id}] {who}{clip(_plain_words(message), limit)}"
        left -= len(text)
        if left < 0 and out:
            out.append(f"({len(messages) - place} more messages; open the next one with {message.id})")
            break
        out.append(text)
    return "\n\n".join(out)


def _plain_words(message: Message) -> str:
    calls = (f"{call.name} {arguments_text(call)}" for call in message.draft.calls)
    return "\n".join([*texts(message.parts), *calls])


# Looking up an id in a space: a summary, message, memory, annotation or run; opened, or disputed.

SUMMARY = "s_"
"""Prefix of the ids of summaries."""
NOTES = {"p_": "pin", "r_": "release", "d_": "dispute", "e_": "entry", "t_": "thread", "c_": "fact", "w_": "wording"}
"""Prefixes of the ids of annotations."""
PREFIXES = ("m_", SUMMARY, *NOTES)
"""Prefixes of all ids; an id that is given without its prefix is tried with each prefix."""


class LookupResult(ShortRepr, frozen=True, kw_only=True):
    """The object that an id names: one of these fields is set."""

    session: str = ""
    expanded: Expanded | None = None
    memory: Record | None = None
    standing: str = ""
    """How often the memory was seen, if it is a lesson: “seen in 5 of 6 runs; last in May 2026”."""
    quotes: tuple[Cited, ...] = ()
    """The text of the messages that the memory was drawn from, if it is a lesson."""
    note: Annotation | None = None
    """An annotation, such as a pin."""
    diary: Diary | None = None
    """The diary of the session that the id names: what was tried in it, with what result."""


async def lookup(
    resources: Resources, space: str, id: str, session: str = "", project: str | None = None, viewpoint: str = ""
) -> LookupResult:
    """Return what `id`, or the only id that begins with it, names, also without its prefix (see `Memory.lookup`)."""

    def find(tx: Transaction, id: str) -> LookupResult | list[SessionKey]:
        keys = [key for key in _sessions(tx, space, project) if session in ("", key.session)]
        who = character_asked(tx, space, None, viewpoint) if viewpoint else ""
        if id[:2] in NOTES and not who:
            return _find_annotation(tx, space, keys, id)
        record, key, found = None, None, id
        if id.startswith(SUMMARY):
            key = _session_of_summary(tx, space, keys, id)
        elif id:
            record, key, found = _memory_or_message(tx, space, keys, id)
        if record is not None:
            visible = _visible_memory(tx, space, record, project, viewpoint)
            shown, standing, quotes = as_shown(tx, resources, space, visible, project)
            return LookupResult(memory=shown, standing=standing, quotes=quotes)
        if key is not None:
            return LookupResult(session=key.session, expanded=expand(tx, key, found, who))
        return [] if viewpoint else keys

    def find_bare(tx: Transaction) -> list[LookupResult]:
        found = []
        for prefix in PREFIXES if id[:2] not in PREFIXES and len(id) >= MIN_ID_LENGTH else ():
            # An id that can't be opened under one prefix may exist under another.
            with suppress(NotFound):
                opened = find(tx, prefix + id)
                found += [opened] if isinstance(opened, LookupResult) else []
        return found

    found = await resources.store.read(find, id)
    if isinstance(found, LookupResult):
        return found
    # Logs choose the names of sessions, so they are tried last.
    begun = {key.session: key for key in found if id and key.session.startswith(id)}
    if not begun:
        bare = await resources.store.read(find_bare)
        if len(bare) == 1:
            return bare[0]
        raise NotFound(_not_found_text(id, space))
    run = begun[only_match(id, begun, "session", least=1)]
    diary = await read_diary(resources.store, run, MAIN, resources.count, resources.derived_cleaning())
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
    """Dispute a summary, or give evidence of `origin` against a memory (see `Memory.dispute`)."""
    if not reason.strip():
        raise BadInput("Say what is wrong with it, and what is shown instead.")
    if origin not in TRUST:
        raise BadInput(f"`origin` is {origin!r}; give one of {', '.join(TRUST)}.")
    reason = resources.cleaning().text(reason)
    if id.startswith(SUMMARY):
        key = await resources.store.read(lambda tx: _session_of_summary(tx, space, _sessions(tx, space, project), id))
        return await resources.store.write(noting.dispute, key, id, reason, claim)
    if claim:
        raise BadInput("Only in a block can a single claim be disputed; a memory is disputed as a whole: leave it out.")

    def find_memory(tx: Transaction) -> Record | None:
        record = memory_named(tx, space, id)
        return record and _visible_memory(tx, space, record, project)

    record = await resources.store.read(find_memory)
    if record is None:
        raise MemoryNotFound(f"There is no memory {id!r} in space {space!r}; only blocks and memories are disputed.")
    if origin != "user" and is_ruling(record.cue):
        raise BadInput(f"{short(record.id)} is what the user said: ask the user to drop it (`ireneo review`).")
    draft = objection_draft(record, resources.clock.now(), origin=origin, why=" ".join(reason.split()))

    def settle(tx: Transaction) -> Remembered:
        there = drafts_per_project(tx, space, record, draft) if project is None else [replace(draft, project=project)]
        # `judged`: a dispute is new evidence, however similar it is to the memory.
        return settle_drafts(tx, space, there, judged=True)[-1]

    return await resources.store.write(settle)


def _sessions(tx: Transaction, space: str, project: str | None) -> list[SessionKey]:
    """The sessions that may be seen from a project."""
    opened = open_projects(tx, space, project)
    return [info.key for info in tx.sessions.list(space) if is_visible_project(opened, {info.project or ""})]


def _visible_memory(tx: Transaction, space: str, record: Record, project: str | None, viewpoint: str = "") -> Record:
    """A memory as seen from a project, by a character. Raises NotFound if it isn't visible."""
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


def _session_of_summary(tx: Transaction, space: str, keys: Sequence[SessionKey], id: str) -> SessionKey:
    found: dict[str, SessionKey] = {}
    for key in keys if id else ():
        for summary in tx.summaries.find(key, id):
            found.setdefault(summary.id, key)
    if not found:
        raise SummaryNotFound(_not_found_text(id, space))
    return found[only_match(id, found, "summary")]


def _memory_or_message(
    tx: Transaction, space: str, keys: Sequence[SessionKey], id: str
) -> tuple[Record | None, SessionKey | None, str]:
    """The memory, or the session of the message, that `id` names, and the whole id.

    Ids from the imported log are tried if none of Ireneo's ids matches.
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


def _find_annotation(tx: Transaction, space: str, keys: Sequence[SessionKey], id: str) -> LookupResult:
    found: dict[str, LookupResult] = {}
    for key in keys:
        for note in all_annotations(tx, key):
            if note.id.startswith(id):
                found.setdefault(note.id, LookupResult(session=key.session, note=note))
    if not found:
        raise NotFound(_not_found_text(id, space))
    return found[only_match(id, found, NOTES[id[:2]])]


def _not_found_text(id: str, space: str) -> str:
    return (
        f"There is nothing called {id!r} in space {space!r}: no summary, message, memory, pin or session. "
        "A context and a brief show ids; `sessions` lists those of sessions. An id in the context of a file opens with "
        "that file and the same budget."
    )
