"""Find the texts that a model must still write, and the sources of each.

The stored data determine what is due, so that a killed process loses only one answer.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.story import messages_to_summarise, overview_room
from ireneo.context.story_blocks import is_model_written, mostly_model_written
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader, best_texts, store_made, text_id, undisputed_summarizer
from ireneo.engine.encode import check_budget
from ireneo.engine.notes import STRETCH_SUMMARIZER, due_stretches, notes_job
from ireneo.engine.story_writing import StoryJob, StoryTask, known_names, stretch_prompt
from ireneo.engine.work_writing import NotesTask
from ireneo.engine.writing import WrittenSummary, write
from ireneo.errors import BadReply, ModelError, ModelRefused, SummaryNotFound
from ireneo.language.topics import Voice
from ireneo.log.message import Count, Message, MessageId, head_of, heard_by
from ireneo.log.tree import SessionKey
from ireneo.ports.models import LanguageModel, Reply, Usage
from ireneo.ports.store import Lease, Span, Store, Transaction
from ireneo.prompts.replies import AnyStoryReply, StoryReplies, StoryReply
from ireneo.summaries.by_hand import with_threads_by_hand
from ireneo.summaries.cast import DEEP_LINES, cast_section, known_cast
from ireneo.summaries.overview import (
    OVERVIEW,
    OVERVIEW_DEPTH,
    asked_budget,
    is_current,
    is_narrow,
    notes_within,
    overview_summarizer,
    tail_summarizer,
)
from ireneo.summaries.policy import Policy
from ireneo.summaries.story import make_deeper, make_leaf, settings, source_depth
from ireneo.summaries.story_path import StoryPath, StoryState, open_threads
from ireneo.summaries.summary import Summary, SummaryId, Thread, anchor
from ireneo.summaries.threads import join

# Which texts of a story a model must still write, in the order of the story.
#
# A leaf continues the leaves before it, and may resolve threads that they opened. So leaves are written in order,
# several with one question if several are due, and a deeper summary as soon as all leaves below it are written. A leaf
# that keeps failing is skipped: its offline text replaces it.

PATIENCE = 3
"""After this many failures in a row of a text, later texts no longer wait for it."""
OFFERED = 16
"""Stretches offered at a time; the caller asks again after each stretch."""
OPEN_THREADS = 200
"""The maximum number of open threads offered to a prompt, which shows the weightiest that it has room for."""
STRETCH_LEAVES, STRETCH_TOKENS = 8, 33_000
"""The maximum number of leaves that one request asks for, and of tokens of their messages."""


class DueTexts(Struct, frozen=True, kw_only=True):
    """The texts that are due on one path."""

    ready: tuple[Summary, ...] = ()
    """The stretches whose texts may be written now, in order."""
    missing: int = 0
    """How many texts are due in total."""
    options: ContextOptions
    """With the disputes along the path, which the texts must answer."""
    erased: int = 0
    """The number of erased messages of the session when this was read."""


def due_texts(
    tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice, now: datetime
) -> DueTexts:
    """The texts of a story that are due on the path to the branch's head, given its leases at the time `now`."""
    head = tx.log.head(key, branch)
    if head is None or options.policy.strategy is not None:
        return DueTexts(options=options)
    options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
    failing = tx.leases.of_session(key)
    hopeless = {lease.work for lease in failing if lease.failures >= PATIENCE}
    resting = {lease.work for lease in failing if _is_waiting(lease, now)}
    summarizer = options.policy.summarizer
    missing: list[_Missing] = []
    depth = 1
    while canonical := tx.summaries.spans(key, head.id, summarizer, depth):
        written = tx.summaries.spans(key, head.id, undisputed_summarizer("story", summarizer, voice), depth)
        there = {(span.first_position, span.last_position) for span in written}
        missing += [
            _Missing(span=span, depth=depth, place=place)
            for place, span in enumerate(sorted(canonical, key=lambda span: span.first_position))
            if (span.first_position, span.last_position) not in there
        ]
        depth += 1
    # A text by hand takes precedence over a model's.
    by_hand = {(note.since, note.at_position) for note in options.by_hand}
    missing = [each for each in missing if (each.span.first_position, each.span.last_position) not in by_hand]
    missing.sort(key=lambda each: (each.span.last_position, each.depth))
    ready: list[Summary] = []
    waits_for: int | None = None
    for number, each in enumerate(missing):
        span = each.span
        if waits_for is not None and (each.depth == 1 or span.last_position >= waits_for):
            continue
        (summary,) = tx.summaries.get(key, [span.id])
        name = text_id(summary, (), voice)
        # Texts that will be tried later don't take up anybody's place.
        if name not in resting:
            together: Sequence[Summary] = [summary]
            if each.depth == 1 and name not in {lease.work for lease in failing if lease.failures}:
                together = _leaves_asked_together(tx, key, missing[number:], options)
            ready.append(stretch_of(together, options, voice))
        if each.depth == 1 and name not in hopeless:
            waits_for = span.last_position
        if len(ready) >= OFFERED:
            break
    disputed = _disputed_summaries(tx, key, options, voice)
    reader = StoredReader(tx, key, head, options, voice)
    path = StoryPath(reader, options.policy, budget=options.budget)
    grown = path.grow(0) if ready or disputed or options.budget else None
    row = grown.nodes if grown else ()
    overview = due_overview(reader, row)
    tail = _due_tail(reader, grown) if grown and not (ready or disputed or waits_for is not None) else None
    ready += [tail] if tail and tail.id not in resting else []
    # It is written from the texts of all leaves, once these exist.
    if overview and not ([each for each in ready if each is not tail] or disputed or waits_for is not None):
        overview = overview if mostly_model_written(_leaf_texts(path, row)) else None
        ready += [overview] if overview and overview.id not in resting else []
    # Who plays whom is counted over the whole path, since characters are seldom called by name at a table.
    cast = cast_section([node.lines("cast") for node in row], DEEP_LINES) if ready or disputed else None
    return DueTexts(
        ready=tuple(replace(stretch, sections=(cast,) if cast else ()) for stretch in (*disputed, *ready)),
        missing=len(missing) + len(disputed) + (overview is not None) + (tail is not None),
        options=options,
        erased=tx.sessions.erased(key),
    )


class _Missing(Struct, frozen=True, kw_only=True):
    """A canonical summary whose text is missing."""

    span: Span
    depth: int
    place: int
    """The place of the summary among those of its depth."""


def stretch_of(summaries: Sequence[Summary], options: ContextOptions, voice: Voice) -> Summary:
    """The stretch of adjacent canonical summaries whose texts one question asks for; it isn't stored.

    Its sources are the summaries, its id is that of the first text, and its only section is the cast of the path.
    """
    last = max(summaries, key=lambda summary: summary.last_position)
    return replace(
        summaries[0],
        id=text_id(summaries[0], options.disputes_of(summaries[0]), voice),
        last=last.last,
        last_position=last.last_position,
        summarizer=STRETCH_SUMMARIZER,
        sources=tuple(summary.id for summary in summaries),
        sections=(),
    )


def _leaves_asked_together(
    tx: Transaction, key: SessionKey, missing: Sequence[_Missing], options: ContextOptions
) -> Sequence[Summary]:
    """The leaves that one question asks for, from the first of `missing` on, and the deeper summaries over only these.

    The leaves are adjacent and not disputed. They end with the last complete deeper summary, if there is one, so that
    its text needs no further question with all of its messages.
    """
    story = settings(options.policy)
    spans = [each for each in missing if each.depth == 1][:STRETCH_LEAVES]
    leaves: list[Summary] = []
    room = min(STRETCH_TOKENS, story.window_tokens // 3)
    for each, leaf in zip(spans, tx.summaries.get(key, [each.span.id for each in spans]), strict=True):
        room -= leaf.source_tokens
        if leaves and (room < 0 or each.place != spans[0].place + len(leaves) or options.disputes_of(leaf)):
            break
        leaves.append(leaf)
    begin, end = leaves[0].first_position, leaves[-1].last_position
    over = [each.span for each in missing if each.depth > 1 and begin <= each.span.first_position <= end]
    whole = [span for span in over if span.last_position <= end]
    deep = [each for each in tx.summaries.get(key, [span.id for span in whole]) if _is_from_messages(each, options)]
    deep = [each for each in deep if not options.disputes_of(each)]
    edge = max((each.last_position for each in deep), default=end)
    if any(span.first_position > edge for span in over):
        leaves = [leaf for leaf in leaves if leaf.last_position <= edge]
    return [*leaves, *deep]


def _is_waiting(lease: Lease, now: datetime) -> bool:
    """Whether the work failed and waits for its next try; a wait of a day or more comes from a wrong clock."""
    return lease.retry_at is not None and now < lease.retry_at < now + timedelta(days=1)


def _disputed_summaries(tx: Transaction, key: SessionKey, options: ContextOptions, voice: Voice) -> list[Summary]:
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
                out.append(stretch_of([summary], options, voice))
    return out


async def write_text(
    store: Store, key: SessionKey, stretch: Summary, options: ContextOptions, voice: Voice, model: LanguageModel
) -> WrittenSummary:
    """Ask `model` for the texts of a stretch of a story, or for the notes on a stretch of an agent's work.

    The caller stores them. Raises ModelError, and SummaryNotFound.
    """
    if asked_budget(stretch.summarizer):
        job = await store.read(overview_job, key, stretch, options, voice)
        return await write(await asyncio.to_thread(StoryTask, job, options.count), model)
    if stretch.summarizer == tail_summarizer(options.policy.summarizer):
        job = await store.read(_tail_job, key, stretch, options, voice)
        return await write(await asyncio.to_thread(StoryTask, job, options.count), model)
    if stretch.level == "story":
        story = await store.read(_story_stretch, key, stretch, options, voice)
        return await _write_story(story, options.count, model)
    notes = await store.read(notes_job, key, stretch, options, voice)
    return await write(await asyncio.to_thread(NotesTask, notes, options.count), model)


class _StoryStretch(Struct, frozen=True, kw_only=True):
    """The summaries for which one question asks a model: leaves in order, then deeper summaries over these leaves."""

    jobs: tuple[StoryJob, ...]
    before: tuple[Summary, ...]
    """The texts before the stretch."""
    leaves: tuple[Summary, ...] = ()
    """The texts of all leaves before the stretch, since deeper texts carry only some of the open threads."""
    options: ContextOptions
    """With the annotations written by hand along the path."""

    def job(self, number: int, texts: Mapping[SummaryId, Summary]) -> StoryJob:
        """The job with this number, given the `texts` written for earlier jobs, by their summaries."""
        job = self.jobs[number]
        leaves = [
            each
            for each in self.jobs[:number]
            if not each.is_deep and each.offline.last_position < job.offline.first_position
        ]
        # Who comes up in two later parts is of the cast, and no secret of one of them.
        later = Counter(
            name
            for each in self.jobs
            if not each.is_deep and each.offline.first_position > job.offline.last_position
            for name in set(each.names)
        )
        told = [*self.before, *(texts.get(each.offline.id, each.offline) for each in leaves)]
        if job.offline.depth > 1:
            below = [texts[each] for each in job.offline.sources if each in texts]
            cap = settings(self.options.policy).open_threads
            carried = join([each.threads for each in below], cap) if below else job.offline.threads
            job = replace(job, offline=replace(job.offline, threads=carried))
        return replace(
            job,
            before=told[-1] if told and not job.parts else None,
            open=_open_before(
                [*self.leaves, *told[len(self.before) :]] if self.leaves else told, job.offline, self.options
            ),
            known=known_names(told),
            aside=tuple(message for each in leaves for message in each.messages),
            cast=tuple(name for name, parts in sorted(later.items()) if parts > 1),
        )


async def _write_story(story: _StoryStretch, count: Count, model: LanguageModel) -> WrittenSummary:
    """Ask for all texts of a stretch at once; ask separately for each text that is missing from the answer or faulty.

    A text that fails even then is left out, and so are the texts above it. Raises ModelError if none is written.
    """
    answers: Mapping[int, Reply[AnyStoryReply]] = {}
    failed: ModelError | None = None
    if len(story.jobs) > 1:
        try:
            answers = await _ask_for_all(story, count, model)
        except (BadReply, ModelRefused) as error:
            failed = error
    written: dict[SummaryId, WrittenSummary] = {}
    for number, job in enumerate(story.jobs):
        texts = {name: each.text for name, each in written.items()}
        within = {each.offline.id for each in story.jobs}
        if any(name in within and name not in texts for name in job.offline.sources):
            continue
        task = await asyncio.to_thread(StoryTask, story.job(number, texts), count)
        try:
            written[job.offline.id] = await write(task, model, answers.get(number + 1))
        except ModelError as error:
            given_up = failed is not None and not written
            failed = error
            # The model isn't asked again if it can't be reached, or answers neither for all nor for the first.
            if given_up or not isinstance(error, (BadReply, ModelRefused)):
                break
    if failed and not written:
        raise failed
    return _join_results(list(written.values()), () if failed is None else (str(failed),))


async def _ask_for_all(story: _StoryStretch, count: Count, model: LanguageModel) -> Mapping[int, Reply[AnyStoryReply]]:
    """Ask for all texts of a stretch at once; the answers by their numbers, the first with the total cost."""
    prompt = await asyncio.to_thread(stretch_prompt, story.jobs, count)
    answer = await model.ask(prompt, StoryReplies)
    out: dict[int, Reply[AnyStoryReply]] = {}
    for each in answer.value.texts:
        reply = StoryReply(text=each.text, names=each.names, opened=each.opened, resolved=each.resolved)
        usage = Usage(calls=0) if out else answer.usage
        out.setdefault(each.number, Reply(value=reply, usage=usage, model=answer.model))
    return out


def _join_results(written: Sequence[WrittenSummary], failed: Sequence[str]) -> WrittenSummary:
    """Join the results of several texts."""
    writings = [each.writing for each in written]
    verdicts = [each.verdict for each in written]
    return WrittenSummary(
        texts=tuple(text for each in written for text in each.texts),
        verdict="offline"
        if set(verdicts) == {"offline"}
        else max(verdicts, key=("written", "offline", "repaired").index),
        faults=(*failed, *(fault for each in written for fault in each.faults)),
        writing=replace(
            writings[0],
            tokens_in=sum(each.tokens_in for each in writings),
            tokens_out=sum(each.tokens_out for each in writings),
            struck=sum(each.struck for each in writings),
            supported=round(sum(each.supported for each in writings) / len(writings), 4),
        ),
    )


def _story_stretch(
    tx: Transaction, key: SessionKey, stretch: Summary, options: ContextOptions, voice: Voice
) -> _StoryStretch:
    summaries = tx.summaries.get(key, stretch.sources)
    if len(summaries) < len(stretch.sources):
        raise SummaryNotFound(
            f"A summary of the stretch {stretch.id} was taken out of the store before it was written."
        )
    options = replace(options, notes=tuple(tx.annotations.on_path(key, stretch.last)))
    before, leaves = _summaries_before(tx, key, summaries[0], options, voice)
    played = [(each.player, each.full or each.name) for each in known_cast([stretch]).people if each.player]
    jobs = tuple(replace(_story_job(tx, key, summary, options, voice), played=tuple(played)) for summary in summaries)
    story = _StoryStretch(jobs=jobs, before=tuple(before), leaves=tuple(leaves), options=options)
    return replace(story, jobs=(story.job(0, {}), *jobs[1:]))


def _open_before(before: Sequence[Summary], summary: Summary, options: ContextOptions) -> tuple[Thread, ...]:
    """The threads that are open after the texts `before` a summary."""
    threads, _ = open_threads(before, OPEN_THREADS)
    # Annotations written by hand before it, on any path.
    earlier = [note for note in options.notes if note.at_position < summary.first_position]
    closed = {name for text in before for name in text.threads.closed}
    return with_threads_by_hand(threads, closed, earlier, options.policy.seen_by)


def _story_job(tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice) -> StoryJob:
    """The sources of a summary, except those before its stretch."""
    messages, parts = _story_sources(tx, key, summary, options, voice)
    if summary.sources:
        children = best_texts(tx, key, tx.summaries.get(key, summary.sources), options, voice, None)
        # Threads are carried, never retold: those by a model below, if there are any.
        carried = join([child.threads for child in children], settings(options.policy).open_threads)
        summary = replace(summary, threads=carried)
    return StoryJob(
        offline=summary,
        messages=tuple(messages),
        parts=tuple(parts),
        disputes=tuple(options.disputes.get(summary.stretch, ())),
        voice=voice,
        seen_by=options.policy.seen_by,
        window_tokens=settings(options.policy).window_tokens,
    )


def _is_from_messages(summary: Summary, options: ContextOptions) -> bool:
    """Whether the text of a summary is written from messages, and not from the texts below it."""
    return summary.depth == 1 or summary.source_tokens <= settings(options.policy).raw_tokens


def _story_sources(
    tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice
) -> tuple[Sequence[Message], Sequence[Summary]]:
    """The messages or summaries from which a summary is written: as fine as fits into the window."""
    story = settings(options.policy)
    first = summary.first_position
    if _is_from_messages(summary, options):
        return _messages_heard(tx, key, summary, first, options.policy), ()
    (last,) = tx.log.path(key, summary.last, summary.last_position, summary.last_position)
    path = StoryPath(StoredReader(tx, key, head_of(last), options, voice), options.policy)
    told = path.summaries_under(summary, source_depth(summary.depth, story))
    return (), best_texts(tx, key, told, options, voice, None)


def _summaries_before(
    tx: Transaction, key: SessionKey, summary: Summary, options: ContextOptions, voice: Voice
) -> tuple[Sequence[Summary], Sequence[Summary]]:
    """The summaries before a summary, as fine as they were shown when its first message came, and all leaves."""
    place = summary.first_position - 1
    before = tx.log.path(key, summary.last, place, place) if place >= 0 else ()
    if not before:
        return (), ()
    path = StoryPath(StoredReader(tx, key, head_of(before[0]), options, voice), options.policy)
    row = path.row()
    leaves = [leaf for node in row for leaf in path.summaries_under(node, 1)]
    return best_texts(tx, key, row, options, voice, None), best_texts(tx, key, leaves, options, voice, None)


def _messages_heard(tx: Transaction, key: SessionKey, summary: Summary, first: int, policy: Policy) -> list[Message]:
    messages = tx.log.path(key, summary.last, first, summary.last_position)
    character = policy.seen_by
    return [each for each in messages if not character or heard_by(each.draft, character)]


async def due_summaries(store: Store, key: SessionKey, branch: str, options: ContextOptions, voice: Voice) -> DueTexts:
    """The stretches that a context rebuilt now would show and that have no text yet, or a disputed one."""
    check_budget(options.budget)
    due, made = await store.read(_due_summaries, key, branch, options, voice)
    await store_made(store, key, made, due.erased)
    return due


def _due_summaries(
    tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice
) -> tuple[DueTexts, list[Summary]]:
    head = tx.log.head(key, branch)
    # The text of a user's own strategy is shown as it is.
    if head is None or options.policy.strategy is not None:
        return DueTexts(options=options), []
    options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
    due = due_stretches(tx, key, head, options, voice)
    options = replace(options, notes_share=due.share)
    ready = tuple(due.stretches)
    return DueTexts(ready=ready, missing=len(ready), options=options, erased=tx.sessions.erased(key)), list(due.made)


# The overview of a story for narrow contexts: which are stored, whether one is due, and its sources.

LEAST_TOKENS = 800
"""The minimum number of tokens of an overview."""
NO_ROOM = 400
"""With less room than this, no overview is asked for."""


def budgets_asked(tx: Transaction, key: SessionKey, policy: Policy) -> set[int]:
    """The budgets of narrow contexts for which an overview was written, or for which one was missing."""
    ending = f"/{policy.summarizer}{OVERVIEW}"
    written = {asked_budget(each) for each in tx.summaries.summarizers(key) if ending in each}
    return written | {
        mark.budget_tokens for mark in tx.rebuilds.of_session(key) if mark.summarizer == policy.summarizer
    }


def due_overview(reader: StoredReader, row: Sequence[Summary]) -> Summary | None:
    """The overview of the path that must be written for contexts of the reader's budget, without its content."""
    options, voice = reader.options, reader.voice
    if not is_narrow(row, options.budget):
        return None
    if any(each.first == row[0].first and is_current(each, row, options.notes) for each in reader.overviews()):
        return None
    if overview_room(StoryPath(reader, options.policy, budget=options.budget), options) < NO_ROOM:
        return None
    bare = replace(
        row[0],
        depth=OVERVIEW_DEPTH,
        last=row[-1].last,
        last_position=row[-1].last_position,
        summarizer=overview_summarizer(options.policy.summarizer, options.budget),
        source_tokens=sum(node.source_tokens for node in row),
        leaves=sum(node.leaves for node in row),
        sections=(),
        sources=tuple(node.id for node in row),
    )
    disputes = [note.id for note in notes_within(bare, options.notes)]
    return replace(bare, id=text_id(bare, disputes, voice))


def _leaf_texts(path: StoryPath, row: Sequence[Summary]) -> Sequence[Summary]:
    return path.reader.texts([leaf for node in row for leaf in path.summaries_under(node, 1)])


def overview_job(
    tx: Transaction, key: SessionKey, overview: Summary, options: ContextOptions, voice: Voice
) -> StoryJob:
    """The sources of an overview: the texts of all leaves on its path. Raises SummaryNotFound.

    Its row is not looked up again: summaries of other branches may lie over a path that ends with it.
    """
    place = overview.last_position
    (last,) = tx.log.path(key, overview.last, place, place)
    options = replace(options, notes=tuple(tx.annotations.on_path(key, last.id)))
    reader = StoredReader(tx, key, head_of(last), options, voice)
    path = StoryPath(reader, options.policy)
    row = reader.get(overview.sources)
    leaves = _leaf_texts(path, row)
    if len(row) < len(overview.sources):
        raise SummaryNotFound(f"Summaries that {overview.id} was to tell were taken out of the store.")
    whole = make_deeper(leaves, leaves, options.policy)
    played = [(each.player, each.full or each.name) for each in known_cast([overview]).people if each.player]
    return StoryJob(
        offline=replace(
            whole,
            id=overview.id,
            depth=OVERVIEW_DEPTH,
            summarizer=overview.summarizer,
            sources=tuple(text.id for text in reader.texts(row)),
        ),
        parts=tuple(leaves),
        played=tuple(played),
        disputes=tuple(notes_within(overview, options.notes)),
        voice=voice,
        seen_by=options.policy.seen_by,
        room=max(overview_room(path, options), LEAST_TOKENS),
        window_tokens=settings(options.policy).window_tokens,
    )


# The newest messages, summarised before their leaf is due if narrow contexts have no room for them.


def _due_tail(reader: StoredReader, grown: StoryState) -> Summary | None:
    """The text of newest messages that must be written for contexts of the reader's budget, without its content."""
    options = reader.options
    if not options.budget or options.policy.seen_by or grown.behind:
        return None
    ahead = messages_to_summarise(grown.fresh, options)
    if not ahead or not grown.nodes or not is_model_written(reader.texts(grown.nodes[-1:])[0]):
        return None
    first, last = ahead[0], ahead[-1]
    bare = replace(
        grown.nodes[-1],
        depth=OVERVIEW_DEPTH,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=tail_summarizer(options.policy.summarizer),
        source_tokens=sum(message.tokens for message in ahead),
        leaves=1,
        sections=(),
        sources=(),
    )
    bare = replace(bare, id=text_id(bare, (), reader.voice))
    return None if reader.get([bare.id]) else bare


def _tail_job(tx: Transaction, key: SessionKey, tail: Summary, options: ContextOptions, voice: Voice) -> StoryJob:
    """The sources of a text of newest messages, which are like those of a leaf."""
    options = replace(options, notes=tuple(tx.annotations.on_path(key, tail.last)))
    messages = _messages_heard(tx, key, tail, tail.first_position, options.policy)
    before, leaves = _summaries_before(tx, key, tail, options, voice)
    opened = _open_before(leaves or before, tail, options)
    leaf = make_leaf(messages, options.policy)
    played = [(each.player, each.full or each.name) for each in known_cast([tail]).people if each.player]
    return StoryJob(
        offline=replace(leaf, depth=OVERVIEW_DEPTH, summarizer=tail.summarizer),
        messages=tuple(messages),
        before=before[-1] if before else None,
        open=opened,
        known=known_names(before),
        played=tuple(played),
        voice=voice,
        window_tokens=settings(options.policy).window_tokens,
    )
