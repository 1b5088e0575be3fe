"""Read a stored session in windows, for learning and for its diary; and write diary entries of agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.resources import Cleaning
from ireneo.errors import BadInput
from ireneo.grounding.claims import TextClaim
from ireneo.grounding.evidence import SourceIndex, source_texts
from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.run import DiaryEntry
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.write_diary import (
    AgentNotes,
    mark_unverified,
    notes_claims,
    parse_notes,
    render_diary,
    serialise_notes,
    write_diary,
)
from ireneo.log.message import Call, Count, Draft, Head, Message, MessageId, Part, Result, Text
from ireneo.log.tree import Annotation, SessionKey, annotation_id
from ireneo.ports.store import Store, Transaction
from ireneo.short_repr import ShortRepr

PAGE = 1_000
"""Messages that are read at a time."""
WINDOW_MESSAGES = 20_000
WINDOW_CHARACTERS = 16_000_000
"""A window ends at the first turn after this many characters, so that very long sessions are read in parts."""
MOST_RESULT = 40_000
"""How many characters of a text are kept, half from its start and half from its end, where results are."""


class PathWindow(Struct, frozen=True, kw_only=True):
    """A part of a session's path."""

    spoken: list[Message]
    """The spoken messages, in order, without other tools' compactions."""
    put_in: list[Message]
    """A harness's messages in the user's place, which are only evidence for the harness's own requirements."""


async def windows(store: Store, key: SessionKey, head: Head, cleaning: Cleaning) -> AsyncIterator[PathWindow]:
    """The path to `head` in windows, without secrets, and with long texts shortened."""
    first = 0
    while first <= head.position:
        window, first = await store.read(_read_window, key, head, first, cleaning)
        if window.spoken:
            yield window


def _read_window(
    tx: Transaction, key: SessionKey, head: Head, first: int, cleaning: Cleaning
) -> tuple[PathWindow, int]:
    """The window from position `first`, and the position of the next one."""
    window: list[Message] = []
    put_in: list[Message] = []
    size = 0
    for start in range(first, head.position + 1, PAGE):
        for message in tx.log.path(key, head.id, start, min(start + PAGE - 1, head.position)):
            full = size >= WINDOW_CHARACTERS or len(window) >= WINDOW_MESSAGES
            twice = size >= 2 * WINDOW_CHARACTERS or len(window) >= 2 * WINDOW_MESSAGES
            if window and ((full and message.opens_turn) or (twice and message.role == "assistant")):
                return PathWindow(spoken=window, put_in=put_in), message.position
            if message.draft.origin == "summary" or message.erased:
                continue
            clean = cleaning.message(message)
            short = replace(clean, draft=shorten_draft(clean.draft))
            (window if message.draft.origin == "spoken" else put_in).append(short)
            size += sum(_size(part) for part in short.parts)
    return PathWindow(spoken=window, put_in=put_in), head.position + 1


def split_window(window: PathWindow, most: int) -> list[PathWindow]:
    """Split a window into parts of about `most` tokens, at turns or, after twice as many tokens, at an answer."""
    out: list[PathWindow] = []
    size = 0
    for message in sorted((*window.spoken, *window.put_in), key=lambda each: each.position):
        turn, answer = size >= most and message.opens_turn, size >= 2 * most and message.role == "assistant"
        if not out or turn or answer:
            out.append(PathWindow(spoken=[], put_in=[]))
            size = 0
        (out[-1].spoken if message.draft.origin == "spoken" else out[-1].put_in).append(message)
        size += message.tokens
    return [each for each in out if each.spoken]


def shorten_draft(draft: Draft) -> Draft:
    """`draft` with the middle of its long texts left out."""
    if all(_size(part) <= MOST_RESULT for part in draft.parts):
        return draft
    return replace(draft, parts=tuple(_shorten_part(part) for part in draft.parts))


def _shorten_part(part: Part) -> Part:
    if isinstance(part, Text):
        return replace(part, text=_head_and_tail(part.text))
    if isinstance(part, Result):
        parts = tuple(
            replace(each, text=_head_and_tail(each.text)) if isinstance(each, Text) else each for each in part.parts
        )
        return replace(part, parts=parts)
    if isinstance(part, Call):
        if isinstance(part.arguments, str):
            return replace(part, arguments=_head_and_tail(part.arguments))
        given = {
            name: _head_and_tail(value) if isinstance(value, str) else value for name, value in part.arguments.items()
        }
        return replace(part, arguments=given)
    return part


def _head_and_tail(text: str) -> str:
    half = MOST_RESULT // 2
    return text if len(text) <= MOST_RESULT else f"{text[:half]}\n…\n{text[-half:]}"


def _size(part: Part) -> int:
    if isinstance(part, Text | Result):
        return len(part.text)
    if isinstance(part, Call):
        given = [part.arguments] if isinstance(part.arguments, str) else part.arguments.values()
        return sum(len(value) for value in given if isinstance(value, str))
    return 0


class Diary(ShortRepr, frozen=True, kw_only=True):
    """A rendered diary."""

    entries: tuple[DiaryEntry, ...]
    markdown: str
    tokens: int


async def read_diary(store: Store, key: SessionKey, branch: str, count: Count, cleaning: Cleaning) -> Diary:
    """The diary of the path to the branch's head, as learning writes it; empty before the first message."""

    def read_head(tx: Transaction) -> tuple[Head | None, Sequence[AgentNotes]]:
        head = tx.log.head(key, branch)
        return head, agent_notes_on_path(tx, key, head.id) if head else ()

    def read(window: Sequence[Message]) -> tuple[DiaryEntry, ...]:
        material = RunMaterial(session=key.session, messages=tuple(window))
        return write_diary(material, read_tasks(material), count, written)

    def rendered() -> Diary:
        markdown = render_diary(entries)
        return Diary(entries=tuple(entries), markdown=markdown, tokens=count(markdown))

    head, written = await store.read(read_head)
    entries: list[DiaryEntry] = []
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            entries += await asyncio.to_thread(read, window.spoken)
    return await asyncio.to_thread(rendered)


async def write_entry(store: Store, key: SessionKey, branch: str, given: AgentNotes, cleaning: Cleaning) -> Annotation:
    """Store what an agent wrote about its current task, with unsupported claims marked as unverified.

    The same entry written again at the same place is stored once. Raises BadInput before the first message.
    """
    head = await store.read(lambda tx: tx.log.head(key, branch))
    last: Message | None = None
    unknown = notes_claims(given)
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            unknown = await asyncio.to_thread(_unsupported_claims, unknown, window.spoken)
            last = window.spoken[-1]
    if last is None:
        raise BadInput(f"Session {key.session} has no message yet; append what was done, and then write its diary.")
    text = serialise_notes(mark_unverified(given, unknown))
    name = annotation_id("entry", last.id, text)
    note = Annotation(id=name, kind="entry", at=last.id, at_position=last.position, text=text, by="model")
    await store.write(lambda tx: tx.annotations.put(key, [note]))
    return note


def _unsupported_claims(claims: Collection[TextClaim], window: Sequence[Message]) -> set[TextClaim]:
    shown = SourceIndex(source_texts(window))
    return {claim for claim in claims if not shown.supports(claim)}


def agent_notes_on_path(tx: Transaction, key: SessionKey, to: MessageId) -> Sequence[AgentNotes]:
    """The diary entries of agents on the path to `to`, in order."""
    return tuple(parse_notes(note) for note in tx.annotations.on_path(key, to) if note.kind == "entry")
