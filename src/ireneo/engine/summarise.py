"""Let a model write the summaries that a context would show, where none has written them yet.

Each is one unit: read, ask outside of any transaction, check, and one transaction that stores it. What is due is
derived from what is there, so that whoever is killed in between loses one answer, and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Level, Summary
from ireneo.context.terms import Terms
from ireneo.engine.compact import check_budget
from ireneo.engine.context import ComposedCache, Driver, keep_made
from ireneo.engine.keep import was_erased
from ireneo.engine.models import Models
from ireneo.engine.texts import best_texts, text_id
from ireneo.engine.writing.asked import Verdict, Written
from ireneo.engine.writing.sources import Sources
from ireneo.engine.writing.write import Job, write
from ireneo.errors import BadReply, IreneoError, ModelError, ModelRefused, Overtaken
from ireneo.log.branch import SessionKey
from ireneo.ports.llm import LanguageModel
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice

FAILURES_IN_A_ROW = 3
"""After so many answers that were none, no more are asked for: the model can't do it today."""
SOURCE_TOKENS = 400_000
"""Of a longer stretch the newest messages are the evidence, and the summaries under it for the rest."""

_LOG = logging.getLogger("ireneo")


class Summarised(Struct, frozen=True, kw_only=True):
    """What came of one summary."""

    id: str
    """Of the text that is shown now."""
    level: Level
    first_position: int
    last_position: int
    outcome: Verdict | Literal["failed"]
    """``written``, ``repaired``, ``offline`` (nothing that the model said could be trusted), or ``failed``."""
    reason: str = ""
    """Why it failed, or what was wrong."""
    tokens_in: int = 0
    tokens_out: int = 0
    supported: float = 1.0
    struck: int = 0


async def summarise(
    store: Store, key: SessionKey, branch: str, terms: Terms, voice: Voice, models: Models
) -> AsyncIterator[Summarised]:
    """Write, one after the other, the texts that are due for a context on these `terms`.

    A model that fails changes nothing: the offline text is shown as before. The first failure is logged as a warning,
    and where the model can't be reached, or a limit is reached, the rest is left for another time.
    """
    async with store.read() as tx:
        erased = await tx.erasure.count(key)
    due = await due_summaries(store, key, branch, terms, voice)
    in_a_row, warned = 0, False
    for summary in due:
        model = models.for_task(summary.level)
        if model is None:
            continue
        try:
            written = await ask_one(store, key, summary, terms, voice, model)
            async with store.write() as tx:
                if await was_erased(tx, key, erased):
                    raise Overtaken("Messages were erased while it was written; summarise again.")
                await tx.summaries.put(key, [written.text])
            in_a_row = 0
            yield told(written, summary)
        except Overtaken as error:
            yield _failed(summary, error)
            return
        except ModelError as error:
            in_a_row += 1
            patient = isinstance(error, (BadReply, ModelRefused)) and in_a_row < FAILURES_IN_A_ROW
            if not warned:
                warned = True
                _LOG.warning("%s The offline text stands for what no model wrote.", error)
            yield _failed(summary, error)
            if not patient:
                return


async def due_summaries(store: Store, key: SessionKey, branch: str, terms: Terms, voice: Voice) -> list[Summary]:
    """The summaries that a context rebuilt now would show and that no model has written yet, or that are disputed."""
    check_budget(terms.budget)
    async with store.read() as tx:
        head = await tx.log.head(key, branch)
        if head is None:
            return []
        erased = await tx.erasure.count(key)
        terms = replace(terms, notes=tuple(await tx.annotations.on_path(key, head.id)))
        driver = Driver(tx, key, head, terms, voice, ComposedCache())
        mark = await driver.mark(terms.budget)
        target = terms.budget if mark is None else int(terms.budget * terms.policy.low_water)
        await driver.drive(target, None)
        due = [
            summary
            for summary in driver.shown
            if not summary.family.endswith("/open")
            and not await tx.summaries.get(key, [text_id(summary, _disputes(terms, summary), voice)])
        ]
    await keep_made(store, key, driver.made, erased)
    return due


async def ask_one(
    store: Store, key: SessionKey, summary: Summary, terms: Terms, voice: Voice, model: LanguageModel
) -> Written:
    """Let `model` write the text of one summary; the caller stores it. Raises ModelError."""
    async with store.read() as tx:
        notes = tuple(await tx.annotations.on_path(key, summary.last))
        terms = replace(terms, notes=notes)
        sources = await _sources(tx, key, summary, terms, voice)
    disputes = tuple(terms.disputes.get(summary.stretch, ()))
    job = Job(offline=summary, sources=sources, disputes=disputes, voice=voice)
    return await write(job, model, terms.count)


def told(written: Written, summary: Summary) -> Summarised:
    """What came of the text of `summary`."""
    writing = written.text.writing
    return Summarised(
        id=written.text.id,
        level=summary.level,
        first_position=summary.first_position,
        last_position=summary.last_position,
        outcome=written.verdict,
        reason="; ".join(written.faults[:3]),
        tokens_in=writing.tokens_in if writing else 0,
        tokens_out=writing.tokens_out if writing else 0,
        supported=writing.supported if writing else 1.0,
        struck=writing.struck if writing else 0,
    )


async def _sources(tx: Transaction, key: SessionKey, summary: Summary, terms: Terms, voice: Voice) -> Sources:
    """The messages that a summary covers, and the summaries under it: from those it is written, not from retellings."""
    leaves = [summary]
    while any(leaf.sources for leaf in leaves):
        under: list[Summary] = []
        for leaf in leaves:
            under += await tx.summaries.get(key, leaf.sources) if leaf.sources else [leaf]
        leaves = under
    best = await best_texts(tx, key, leaves, terms, voice, None) if leaves != [summary] else []
    first = summary.first_position
    if summary.source_tokens > SOURCE_TOKENS:
        share = SOURCE_TOKENS / summary.source_tokens
        first = summary.last_position - int(summary.messages * share)
    messages = await tx.log.path(key, summary.last, first, summary.last_position)
    return Sources(messages=tuple(messages), leaves=tuple(best))


def _disputes(terms: Terms, summary: Summary) -> Sequence[str]:
    return [note.id for note in terms.disputes.get(summary.stretch, ())]


def _failed(summary: Summary, error: IreneoError) -> Summarised:
    return Summarised(
        id=summary.id,
        level=summary.level,
        first_position=summary.first_position,
        last_position=summary.last_position,
        outcome="failed",
        reason=str(error),
    )
