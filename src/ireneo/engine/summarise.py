"""Which texts a model has still to write, and what each is written from.

What is due is derived from what is stored, so that a process that is killed loses one answer, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import ContextOptions
from ireneo.engine.context import StoredReader, best_texts, keep_made, text_id, undisputed
from ireneo.engine.encode import check_budget
from ireneo.engine.notes import due_stretches, notes_job
from ireneo.engine.story_writing import StoryJob, StoryTask, known_names
from ireneo.engine.work_writing import NotesTask
from ireneo.engine.writing import WrittenSummary, write
from ireneo.errors import SummaryNotFound
from ireneo.language.topics import Voice
from ireneo.log.message import Head, Message, MessageId, head_of, heard_by
from ireneo.log.tree import SessionKey
from ireneo.ports.models import LanguageModel
from ireneo.ports.store import Lease, Span, Store, Transaction
from ireneo.summaries.by_hand import with_threads_by_hand
from ireneo.summaries.policy import Policy
from ireneo.summaries.story import settings, source_depth
from ireneo.summaries.story_path import StoryPath, open_threads
from ireneo.summaries.summary import Summary, anchor
from ireneo.summaries.threads import join

# Which texts of a story a model has still to write: derived from what is there, in the order of the story.
#
# A leaf is told as the continuation of the leaves before it, and may resolve what they opened; so leaves are written
# one after the other, and a deeper summary as soon as all leaves under it are. A leaf that keeps failing is passed
# over: its offline text stands for it.

PATIENCE = 3
"""Failures in a row after which the texts behind a text no longer wait for it."""
OFFERED = 16
"""Texts offered at a time; the caller asks again after each."""


class DueTexts(Struct, frozen=True, kw_only=True):
    """The texts that are due on one path."""

    ready: tuple[Summary, ...] = ()
    """The canonical summaries whose texts may be written now, in order."""
    missing: int = 0
    """The number of all texts that are due."""
    options: ContextOptions
    """With the disputes along the path, in view of which they are written."""
    erased: int = 0
    """The number of erased messages of the session when this was read."""


def due_texts(
    tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice, now: datetime
) -> DueTexts:
    """The texts of a story that are due on the path to the branch's head, as its leases stand `now`."""
    head = tx.log.head(key, branch)
    if head is None or options.policy.strategy is not None:
        return DueTexts(options=options)
    options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
    failing = tx.leases.of_session(key)
    hopeless = {lease.work for lease in failing if lease.failures >= PATIENCE}
    resting = {lease.work for lease in failing if _rests(lease, now)}
    summarizer = options.policy.summarizer
    missing: list[tuple[Span, int]] = []
    depth = 1
    while canonical := tx.summaries.spans(key, head.id, summarizer, depth):
        written = tx.summaries.spans(key, head.id, undisputed("story", summarizer, voice), depth)
        there = {(span.first_position, span.last_position) for span in written}
        missing += [(span, depth) for span in canonical if (span.first_position, span.last_position) not in there]
        depth += 1
    # What was written by hand stands above what a model would write.
    by_hand = {(note.since, note.at_position) for note in options.by_hand}
    missing = [each for each in missing if (each[0].first_position, each[0].last_position) not in by_hand]
    missing.sort(key=lambda each: (each[0].last_position, each[1]))
    ready: list[Summary] = []
    waits_for: int | None = None
    for span, depth in missing:
        if waits_for is not None and (depth == 1 or span.last_position >= waits_for):
            continue
        (summary,) = tx.summaries.get(key, [span.id])
        name = text_id(summary, (), voice)
        # Those that are to be tried later take nobody's place.
        ready += [] if name in resting else [summary]
        if depth == 1 and name not in hopeless:
            waits_for = span.last_position
        if len(ready) >= OFFERED:
            break
    disputed = _disputed(tx, key, options, voice)
    return DueTexts(
        ready=(*disputed, *ready),
        missing=len(missing) + len(disputed),
        options=options,
        erased=tx.sessions.erased(key),
    )


def _rests(lease: Lease, now: datetime) -> bool:
    """Whether the work failed and waits for its next try; a wait of a day or more comes from a wrong clock."""
    return lease.retry_at is not None and now < lease.retry_at < now + timedelta(days=1)


def _disputed(tx: Transaction, key: SessionKey, options: ContextOptions, voice: Voice) -> list[Summary]:
    """The summaries that were disputed and not written again since."""
    out: list[Summary] = []
    by_hand = {note.about for note in options.by_hand}
    for stretch, notes in options.disputes.items():
        level, first, last = stretch.split(" ")
        if level != "story" or stretch in by_hand:
            continue
        canonical = anchor("story", MessageId(first), MessageId(last), options.policy.summarizer)
        for summary in tx.summaries.get(key, [canonical]):
            name = text_id(summary, [note.id for note in notes], voice)
            if not tx.summaries.get(key, [name]):
                out.append(summary)
    return out


async def write_text(
    store: Store, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice, model: LanguageModel
) -> WrittenSummary:
    """Ask `model` for the text of a canonical summary of a story, or for the notes on a stretch of an agent's work.

    The caller stores it. Raises ModelError, and SummaryNotFound.
    """
    if summary.level == "story":
        story = await store.read(_story_job, key, summary, options, voice)
        return await write(await asyncio.to_thread(StoryTask, story, options.count), model)
    notes = await store.read(notes_job, key, summary, options, voice)
    return await write(await asyncio.to_thread(NotesTask, notes, options.count), model)


def _story_job(tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice) -> StoryJob:
    if not tx.summaries.get(key, [summary.id]):
        raise SummaryNotFound(f"Summary {summary.id} was taken out of the store before its text was written.")
    options = replace(options, notes=tuple(tx.annotations.on_path(key, summary.last)))
    messages, parts = _story_sources(tx, key, summary, options, voice)
    before = _before(tx, key, summary, options, voice)
    threads, _ = open_threads(before, settings(options.policy).open_threads)
    # What was written by hand before it, on whichever path it stands.
    earlier = [note for note in options.notes if note.at_position < summary.first_position]
    closed = {name for text in before for name in text.threads.closed}
    threads = with_threads_by_hand(threads, closed, earlier, options.policy.seen_by)
    if summary.sources and not settings(options.policy).running:
        children = best_texts(tx, key, tx.summaries.get(key, summary.sources), options, voice, None)
        # Threads are carried, never retold: those that a model found below, where one did.
        carried = join([child.threads for child in children], settings(options.policy).open_threads)
        summary = replace(summary, threads=carried)
    return StoryJob(
        offline=summary,
        messages=tuple(messages),
        parts=tuple(parts),
        before=before[-1] if before and not parts else None,
        open=threads,
        known=known_names(before),
        disputes=tuple(options.disputes.get(summary.stretch, ())),
        voice=voice,
        seen_by=options.policy.seen_by,
        window_tokens=settings(options.policy).window_tokens,
    )


def _story_sources(
    tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice
) -> tuple[Sequence[Message], Sequence[Summary]]:
    """The messages or the summaries that a summary is written from: as fine as fit into the window."""
    story = settings(options.policy)
    first = summary.first_position
    if story.running and summary.sources:
        (before,) = best_texts(tx, key, tx.summaries.get(key, summary.sources[:1]), options, voice, None)
        return _heard(tx, key, summary, before.last_position + 1, options.policy), [before]
    if summary.depth == 1 or summary.source_tokens <= story.raw_tokens:
        return _heard(tx, key, summary, first, options.policy), ()
    path = StoryPath(StoredReader(tx, key, _head(tx, key, summary), options, voice), options.policy)
    told = path.under(summary, source_depth(summary.depth, story))
    return (), best_texts(tx, key, told, options, voice, None)


def _before(tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice) -> list[Summary]:
    """The summaries before a summary, as finely as they were shown when its first message came."""
    place = summary.first_position - 1
    before = tx.log.path(key, summary.last, place, place) if place >= 0 else ()
    if not before or settings(options.policy).running:
        return []
    path = StoryPath(StoredReader(tx, key, head_of(before[0]), options, voice), options.policy)
    return best_texts(tx, key, path.row(), options, voice, None)


def _heard(tx: Transaction, key: SessionKey, summary: Summary, first: int, policy: Policy) -> list[Message]:
    messages = tx.log.path(key, summary.last, first, summary.last_position)
    character = policy.seen_by
    return [each for each in messages if not character or heard_by(each.draft, character)]


def _head(tx: Transaction, key: SessionKey, summary: Summary) -> Head:
    place = summary.last_position
    return head_of((tx.log.path(key, summary.last, place, place))[0])


async def due_summaries(store: Store, key: SessionKey, branch: str, options: ContextOptions, voice: Voice) -> DueTexts:
    """The stretches that a context rebuilt now would show and that nobody has written about yet, or are disputed."""
    check_budget(options.budget)
    due, made = await store.read(_due_summaries, key, branch, options, voice)
    await keep_made(store, key, made, due.erased)
    return due


def _due_summaries(
    tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice
) -> tuple[DueTexts, list[Summary]]:
    head = tx.log.head(key, branch)
    # What a strategy of a user's own says is what is shown.
    if head is None or options.policy.strategy is not None:
        return DueTexts(options=options), []
    options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
    due, made = due_stretches(tx, key, head, options, voice)
    return DueTexts(ready=tuple(due), missing=len(due), options=options, erased=tx.sessions.erased(key)), made
