"""Let a model write one summary of a story, from the sources that were retold least."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.engine.story.path import StoryPath, open_threads
from ireneo.engine.story.reading import StoredReading
from ireneo.engine.texts import best_texts
from ireneo.engine.writing.asked import Written
from ireneo.engine.writing.story import StoryJob, write_story
from ireneo.errors import SummaryNotFound
from ireneo.log.branch import Head, SessionKey, head_of
from ireneo.log.message import Message, heard_by
from ireneo.ports.llm import LanguageModel
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice
from ireneo.pyramid.nodes import settings
from ireneo.pyramid.retelling import source_depth
from ireneo.pyramid.threads import join


def voice_of(policy: Policy, given: Voice | None) -> Voice:
    """In whose voice a story is told: the third person's, and a character's own memory in the first."""
    return given or ("first" if policy.seen_by else "third")


async def write_text(
    store: Store, key: SessionKey, summary: Summary, terms: Terms, voice: Voice, model: LanguageModel
) -> Written:
    """Ask `model` for the text of a canonical summary; the caller stores it. Raises ModelError, and SummaryNotFound."""
    async with store.read() as tx:
        job = await _job(tx, key, summary, terms, voice)
    return await write_story(job, model, terms.count, settings(terms.policy).window_tokens)


async def _job(tx: Transaction, key: SessionKey, summary: Summary, terms: Terms, voice: Voice) -> StoryJob:
    if not await tx.summaries.get(key, [summary.id]):
        raise SummaryNotFound(f"Summary {summary.id} was taken out of the store before its text was written.")
    terms = replace(terms, notes=tuple(await tx.annotations.on_path(key, summary.last)))
    messages, parts = await _sources(tx, key, summary, terms, voice)
    before = await _before(tx, key, summary, terms, voice)
    threads, _ = open_threads(before, settings(terms.policy).open_threads)
    if summary.sources and not settings(terms.policy).running:
        children = await best_texts(tx, key, await tx.summaries.get(key, summary.sources), terms, voice, None)
        # Threads are carried, never retold: those that a model found below, where one did.
        carried = join([child.threads for child in children], settings(terms.policy).open_threads)
        summary = replace(summary, threads=carried)
    return StoryJob(
        offline=summary,
        messages=tuple(messages),
        parts=tuple(parts),
        before=before[-1] if before and not parts else None,
        open=threads,
        disputes=tuple(terms.disputes.get(summary.stretch, ())),
        voice=voice,
        seen_by=terms.policy.seen_by,
    )


async def _sources(
    tx: Transaction, key: SessionKey, summary: Summary, terms: Terms, voice: Voice
) -> tuple[Sequence[Message], Sequence[Summary]]:
    """The messages that a summary is written from, and the summaries: leaves, as long as they fit into the window."""
    pyramid = settings(terms.policy)
    first = summary.first_position
    if pyramid.running and summary.sources:
        (before,) = await best_texts(tx, key, await tx.summaries.get(key, summary.sources[:1]), terms, voice, None)
        return await _heard(tx, key, summary, before.last_position + 1, terms.policy), [before]
    if summary.depth == 1 or summary.source_tokens <= pyramid.raw_tokens:
        return await _heard(tx, key, summary, first, terms.policy), ()
    path = StoryPath(StoredReading(tx, key, await _head(tx, key, summary), terms.policy), terms.policy)
    told = await path.under(summary, source_depth(summary.depth, pyramid))
    return (), await best_texts(tx, key, told, terms, voice, None)


async def _before(tx: Transaction, key: SessionKey, summary: Summary, terms: Terms, voice: Voice) -> list[Summary]:
    """What stands before a summary, as finely as it was shown when its first message came."""
    place = summary.first_position - 1
    before = await tx.log.path(key, summary.last, place, place) if place >= 0 else ()
    if not before or settings(terms.policy).running:
        return []
    path = StoryPath(StoredReading(tx, key, head_of(before[0]), terms.policy), terms.policy)
    return await best_texts(tx, key, await path.row(), terms, voice, None)


async def _heard(tx: Transaction, key: SessionKey, summary: Summary, first: int, policy: Policy) -> list[Message]:
    messages = await tx.log.path(key, summary.last, first, summary.last_position)
    character = policy.seen_by
    return [each for each in messages if not character or heard_by(each.draft, character)]


async def _head(tx: Transaction, key: SessionKey, summary: Summary) -> Head:
    place = summary.last_position
    return head_of((await tx.log.path(key, summary.last, place, place))[0])
