"""What is stored of a path's summaries: its blocks, the best text of each, and blocks written ahead of a context."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

from msgspec import Struct

from ireneo.context.assemble import KnownRow
from ireneo.context.options import ContextOptions
from ireneo.errors import MessageNotFound
from ireneo.log.message import Message, digest
from ireneo.log.tree import Head, SessionKey, atoms, settled
from ireneo.ports.store import Store, Transaction
from ireneo.prompts import PROMPTS
from ireneo.prompts.voices import Voice
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Level, Summary, SummaryId, anchor
from ireneo.summaries.work import RowItem, grow, is_kept, leaf_is_full


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


def text_family(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The family of the text that a model writes of what the canonical `summary` covers, in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{undisputed(summary.level, summary.family, voice)}{doubts}"


def undisputed(level: Level, family: str, voice: Voice) -> str:
    """The family of the texts that a model writes of canonical summaries of that level and `family`."""
    return f"{PROMPTS[level].name}/{voice}/{family}"


def text_id(summary: Summary, disputes: Sequence[str], voice: Voice) -> SummaryId:
    """The anchor of that text: written twice, it is the same."""
    return anchor(summary.level, summary.first, summary.last, text_family(summary, disputes, voice))


def best_texts(
    tx: Transaction,
    key: SessionKey,
    summaries: Sequence[Summary],
    terms: ContextOptions,
    voice: Voice,
    known: Collection[str] | None,
) -> list[Summary]:
    """For each summary the text by a model, in view of all its disputes, or of none; itself where there is none.

    Only what is among `known`, where that is given.
    """
    wanted: list[list[SummaryId]] = []
    for summary in summaries:
        disputes = [note.id for note in terms.disputes.get(summary.stretch, ())]
        names = [text_id(summary, disputes, voice), *([text_id(summary, (), voice)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        out.append(next((found[name] for name in names if name in found), summary))
    return out


AHEAD = 16
"""Messages that are read behind a block to see which atom comes next; of a longer one the beginning tells enough."""


def known_row(tx: Transaction, key: SessionKey, head: Head, last: int, policy: Policy) -> KnownRow:
    """The blocks of the path to `head` up to position `last`, what stands between them, and what follows."""
    row, position = known_blocks(tx, key, head, last, policy)
    following = tx.log.path(key, head.id, position, last) if position <= last else ()
    return KnownRow(row, tuple(following))


def known_blocks(
    tx: Transaction, key: SessionKey, head: Head, last: int, policy: Policy
) -> tuple[tuple[RowItem, ...], int]:
    """The blocks of the path to `head` up to position `last` with what stands between them, and where they end.

    A block ends where the next atom says so. Where a branch went its own way, it may have ended a block early that
    goes on here: from such a block on the path is read again, until a wider one of its own takes its place.
    """

    def path(first: int, until: int) -> Sequence[Message]:
        return tx.log.path(key, head.id, first, until) if first <= until else ()

    end = path(last, last)[0]
    row: list[RowItem] = []
    position = 0
    for summary in tx.summaries.frontier(key, end.id, policy.family):
        if not _ends_here(tx, key, head, summary, policy):
            break
        row.extend(path(position, summary.first_position - 1))
        row.append(summary)
        position = summary.last_position + 1
    return tuple(row), position


def _ends_here(tx: Transaction, key: SessionKey, head: Head, summary: Summary, policy: Policy) -> bool:
    """Whether what comes after `summary` on the path to `head` ends it."""
    place = summary.last_position + 1
    following = tx.log.path(key, head.id, place, place + AHEAD)
    if not following:
        return True
    if summary.level == "goal":
        return following[0].opens_turn
    ahead = atoms(following)[0]
    if any(is_kept(message, policy) for message in ahead):
        return True
    while summary.sources:
        children = tx.summaries.get(key, summary.sources)
        depths = {child.depth for child in children}
        # Blocks of one depth become a deeper one by their number; others, only where their run ends.
        if len(children) != policy.fan_in or len(depths) != 1:
            return False
        summary = children[-1]
    leaf = tx.log.path(key, head.id, summary.first_position, summary.last_position)
    return leaf_is_full(atoms(leaf), ahead, policy)


CHUNK = 512
"""Messages that are read at a time; what they make is stored in one transaction."""
STRETCH = 8
"""An atom that so many chunks don't end is taken to end where they do: a call that nobody answered."""
BEHIND = 1_024
"""A context writes the blocks of fewer messages in passing: then there is nothing to be done ahead of it."""


class Ahead(Struct, frozen=True, kw_only=True):
    """How far the blocks of a path are written."""

    row: tuple[RowItem, ...]
    """The blocks up to there, and what stands between and behind them."""
    position: int
    """Of the first message that they don't take in."""
    made: tuple[Summary, ...] = ()
    """What was written last."""


class DueBlocks(Struct, frozen=True, kw_only=True):
    """Blocks of a path that are still to be written."""

    head: Head
    ahead: Ahead
    erased: int
    """How many messages of the session had been erased when it was read."""


def due_ahead(
    tx: Transaction, key: SessionKey, to: str | Head, policy: Policy, ahead: Ahead | None = None
) -> DueBlocks | None:
    """What is due up to a branch's head, or any other; None where a context has little to write.

    `ahead` is how far it is on that path, where that is known.
    """
    head = tx.log.head(key, to) if isinstance(to, str) else to
    if head is None or head.position < BEHIND:
        return None
    erased = tx.erasure.count(key)
    if ahead is None:
        row, position = known_blocks(tx, key, head, head.position, policy)
        ahead = Ahead(row=row, position=position)
    return DueBlocks(head=head, ahead=ahead, erased=erased) if head.position - ahead.position >= BEHIND else None


async def write_ahead(store: Store, key: SessionKey, policy: Policy, due: DueBlocks) -> AsyncIterator[Ahead]:
    """Write the blocks that are due, a chunk in each transaction; what is written stays, wherever it is broken off."""
    ahead, last = due.ahead, due.head.position
    while last - ahead.position >= CHUNK:
        try:
            ahead = await store.read(grown, key, due.head, ahead, last, policy)
        except MessageNotFound:
            return  # Its end was taken out meanwhile.
        if ahead.made:
            await store.write(keep, key, ahead.made, due.erased)
        yield ahead


def grown(tx: Transaction, key: SessionKey, head: Head, ahead: Ahead, last: int, policy: Policy) -> Ahead:
    """Carry the blocks on over the next chunk of the path to `head`, whole atoms, up to `last` at the most."""
    for size in (CHUNK, CHUNK * STRETCH):
        messages = tx.log.path(key, head.id, ahead.position, min(ahead.position + size - 1, last))
        end = settled(messages)
        if end:
            break
    else:
        groups = atoms(messages)
        end = len(messages) - (len(groups[-1]) if len(groups) > 1 else 0)
    growth = grow(ahead.row, messages[:end], policy)
    return Ahead(row=growth.row, position=ahead.position + end, made=growth.made)
