"""What is stored of a path's summaries: its blocks, the best text of each, and blocks written ahead of a context."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from msgspec import Struct

from ireneo.context.options import ContextOptions
from ireneo.errors import MessageNotFound
from ireneo.log.message import Draft, Message, MessageId, digest
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.prompts import PROMPTS
from ireneo.prompts.voices import Voice
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Summary, SummaryId, SummaryLevel, anchor
from ireneo.summaries.work import CHUNK, Reached, WorkPath


def keep(tx: Transaction, key: SessionKey, summaries: Sequence[Summary], erased: int | None) -> int:
    """Store `summaries`, but for those of a path that was pruned since it was read; returns how many were new.

    None of them is stored where an erasure came since: they may tell what was to be forgotten, and are made again.
    `erased` is how many messages of the session had been erased when they were read; None: nobody knows.
    """
    if was_erased(tx, key, erased):
        return 0
    try:
        return tx.summaries.put(key, summaries)
    except MessageNotFound:
        standing = [each for each in summaries if not is_pruned(tx, key, each)]
        if len(standing) == len(summaries):
            raise
        return tx.summaries.put(key, standing)


def is_pruned(tx: Transaction, key: SessionKey, summary: Summary) -> bool:
    """Whether what a summary covers is gone, or its end at the least: only whole ends of a path are taken out."""
    return not tx.log.find(key, [summary.last])


def was_erased(tx: Transaction, key: SessionKey, erased: int | None) -> bool:
    """Whether more messages of a session are erased than the `erased` that were when something was made of them."""
    return erased is not None and tx.erasure.count(key) != erased


def text_summarizer(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The summarizer of the text that a model writes of what the canonical `summary` covers, in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{undisputed(summary.level, summary.summarizer, voice)}{doubts}"


def undisputed(level: SummaryLevel, summarizer: str, voice: Voice) -> str:
    """The summarizer of the texts that a model writes of canonical summaries of that level and `summarizer`."""
    return f"{PROMPTS[level].name}/{voice}/{summarizer}"


def text_id(summary: Summary, disputes: Sequence[str], voice: Voice) -> SummaryId:
    """The anchor of that text: written twice, it is the same."""
    return anchor(summary.level, summary.first, summary.last, text_summarizer(summary, disputes, voice))


def best_texts(
    tx: Transaction,
    key: SessionKey,
    summaries: Sequence[Summary],
    options: ContextOptions,
    voice: Voice,
    known: Collection[str] | None,
) -> list[Summary]:
    """For each summary the text by a model, in view of all its disputes, or of none; itself where there is none.

    Only what is among `known`, where that is given.
    """
    wanted: list[list[SummaryId]] = []
    for summary in summaries:
        disputes = [note.id for note in options.disputes.get(summary.stretch, ())]
        names = [text_id(summary, disputes, voice), *([text_id(summary, (), voice)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        out.append(next((found[name] for name in names if name in found), summary))
    return out


class StoredReader:
    """Reads the path to a head, and what is stored of it, within one transaction."""

    def __init__(
        self, tx: Transaction, key: SessionKey, head: Head, options: ContextOptions, voice: Voice = "first"
    ) -> None:
        """Stand on `head`; the texts that models wrote are those in `voice`, in view of the disputes of `options`."""
        self.head = head
        self._tx = tx
        self._key = key
        self._options = options
        self._voice = voice

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._tx.log.path(self._key, self.head.id, first, last) if first <= last else ()

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries up to position `last`."""
        end = self.head.id if last == self.head.position else self.path(last, last)[0].id
        return self._tx.summaries.frontier(self._key, end, self._options.policy.summarizer)

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored."""
        return self._tx.summaries.get(self._key, ids) if ids else ()

    def texts(self, summaries: Sequence[Summary], known: Sequence[str] | None = None) -> Sequence[Summary]:
        """For each of `summaries` the best text of its stretch."""
        return best_texts(self._tx, self._key, summaries, self._options, self._voice, known)

    def natives(self, ids: Sequence[MessageId]) -> Mapping[str, Draft]:
        """The drafts of these messages with their providers' payloads."""
        return dict(self._tx.log.drafts(self._key, ids).items()) if ids else {}


def reader_of(tx: Transaction, key: SessionKey, head: Head, policy: Policy) -> StoredReader:
    """Reads the path to a head as `policy` cuts it, for what needs no text of a model."""
    return StoredReader(tx, key, head, ContextOptions(budget=0, policy=policy, count=len))


# The blocks of an agent's work, written ahead of the contexts that show them: some messages at a time, no model.

BEHIND = 1_024
"""A context writes the blocks of fewer messages in passing: then there is nothing to be done ahead of it."""


class DueBlocks(Struct, frozen=True, kw_only=True):
    """Blocks of a path that are still to be written."""

    head: Head
    reached: Reached
    erased: int
    """How many messages of the session had been erased when it was read."""


def due_ahead(
    tx: Transaction, key: SessionKey, to: str | Head, policy: Policy, reached: Reached | None = None
) -> DueBlocks | None:
    """What is due up to a branch's head, or any other; None where a context has little to write.

    `reached` is how far it is on that path, where that is known.
    """
    head = tx.log.head(key, to) if isinstance(to, str) else to
    if head is None or head.position < BEHIND:
        return None
    reached = reached or WorkPath(reader_of(tx, key, head, policy), policy).stored(head.position)
    if head.position - reached.position < BEHIND:
        return None
    return DueBlocks(head=head, reached=reached, erased=tx.erasure.count(key))


async def write_ahead(store: Store, key: SessionKey, policy: Policy, due: DueBlocks) -> AsyncIterator[Reached]:
    """Write the blocks that are due, a chunk in each transaction; what is written stays, wherever it is broken off."""
    reached, last = due.reached, due.head.position

    def advance(tx: Transaction, reached: Reached) -> Reached:
        return WorkPath(reader_of(tx, key, due.head, policy), policy).advance(reached, last)

    while last - reached.position >= CHUNK:
        try:
            reached = await store.read(advance, reached)
        except MessageNotFound:
            return  # Its end was taken out meanwhile.
        if reached.made:
            await store.write(keep, key, reached.made, due.erased)
        yield reached
