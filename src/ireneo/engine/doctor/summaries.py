"""Whether each summary is what its id says, stands where it says, and is made from what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Summary, SummaryId, anchor
from ireneo.context.thread import Threads
from ireneo.engine.doctor.finding import TAKE_OUT, TAKEN_OUT, UNREADABLE, Cure, Finding, Found, named
from ireneo.errors import MessageNotFound
from ireneo.log.branch import SessionKey
from ireneo.log.ids import short
from ireneo.patterns import lazy_re
from ireneo.ports.transition import Transaction

CHUNK = 200
"""Summaries that are read at a time."""
_ID = lazy_re(r"\bs_[a-z2-7]{26}\b")


class Shelf(Struct, frozen=True, kw_only=True):
    """The summaries of a session, without what they tell."""

    there: dict[SummaryId, Summary]
    unreadable: dict[SummaryId, str]
    """Those that can't be read, and why not."""

    @property
    def canonical(self) -> list[Summary]:
        """Those that the structure gives; the others are texts that models wrote of them."""
        return [each for each in self.there.values() if each.writing is None]

    @property
    def ids(self) -> set[SummaryId]:
        """Every id."""
        return {*self.there, *self.unreadable}


async def read_shelf(tx: Transaction, key: SessionKey) -> Shelf:
    """Read all summaries of a session."""
    there: dict[SummaryId, Summary] = {}
    unreadable: dict[SummaryId, str] = {}
    ids = await tx.upkeep.summaries(key)
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        try:
            there.update(_bare(await tx.summaries.get(key, chunk), chunk))
        except UNREADABLE:
            for name in chunk:
                try:
                    there.update(_bare(await tx.summaries.get(key, [name]), [name]))
                except UNREADABLE as error:
                    unreadable[name] = str(error)
    return Shelf(there=there, unreadable=unreadable)


def _bare(read: Sequence[Summary], ids: Sequence[SummaryId]) -> dict[SummaryId, Summary]:
    """The summaries by the ids under which they are kept, without what they tell: a store may have very many."""
    return {name: replace(each, sections=(), threads=Threads()) for name, each in zip(ids, read, strict=True)}


async def check_summaries(tx: Transaction, key: SessionKey, shelf: Shelf, faults: Sequence[str]) -> list[Found]:
    """What is wrong with the summaries one by one; `faults` is what the store itself says of them and of others."""
    told = {name: each for each in faults for name in _ID.findall(each)}
    above = above_of(shelf)
    found = [
        broken([name], f"Summary {short(name)} can't be read: {why}.", key, above)
        for name, why in shelf.unreadable.items()
    ]
    for name, summary in shelf.there.items():
        if why := _misnamed(name, summary) or await _misplaced(tx, key, summary) or _unmade(summary, shelf):
            found.append(broken([name], f"Summary {named(replace(summary, id=name))} {why}.", key, above))
        elif name in told:
            found.append(broken([name], told[name], key, above))
    return found


def broken(
    ids: Iterable[SummaryId], text: str, key: SessionKey, above: Mapping[SummaryId, Sequence[SummaryId]]
) -> Found:
    """Summaries that are to be taken out, with those that were made from them."""
    gone = dict.fromkeys(ids)
    waiting = list(gone)
    while waiting:
        higher = [each for name in waiting for each in above.get(name, ()) if each not in gone]
        gone.update(dict.fromkeys(higher))
        waiting = higher
    return Found(
        finding=Finding(kind="fault", session=key.session, text=text, advice=TAKE_OUT),
        cure=Cure(discard=tuple(gone), done=TAKEN_OUT),
        about=tuple(ids),
    )


def above_of(shelf: Shelf) -> dict[SummaryId, list[SummaryId]]:
    """By the id of a summary, those that were made from it."""
    out: dict[SummaryId, list[SummaryId]] = {}
    for summary in shelf.canonical:
        for source in summary.sources:
            out.setdefault(source, []).append(summary.id)
    return out


def _misnamed(name: SummaryId, summary: Summary) -> str:
    """A summary whose id is another's: whoever looks for its stretch would not find it, or find the wrong one."""
    right = anchor(summary.level, summary.first, summary.last, summary.family)
    return "" if name == summary.id == right else "has an id that is not that of its stretch"


async def _misplaced(tx: Transaction, key: SessionKey, summary: Summary) -> str:
    """A summary that doesn't stand where it says, or doesn't know what its messages cost."""
    try:
        first = await tx.log.path(key, summary.last, summary.first_position, summary.first_position)
        last = await tx.log.path(key, summary.last, summary.last_position, summary.last_position)
    except MessageNotFound:
        return "ends with a message that is not there"
    except UNREADABLE:
        # The message is broken, and not the summary: it is told with the messages.
        return ""
    if not first or not last or (first[0].id, last[0].id) != (summary.first, summary.last):
        return "doesn't stand where it says: its first and its last message aren't on one path there"
    costs = last[0].total_tokens - first[0].total_tokens + first[0].tokens
    # Of one character's memory only what she was present for counts.
    if summary.writing is None and not is_partial(summary) and summary.source_tokens != costs:
        return f"says that its messages cost {summary.source_tokens:,} tokens, and they cost {costs:,}"
    return ""


def is_partial(summary: Summary) -> bool:
    """Whether it is of a story as one character knows it, which leaves messages out."""
    return "/as/" in summary.family


def is_running(summary: Summary) -> bool:
    """Whether it is one that all is folded into again and again: each covers all that came before it.

    Only the last is shown, and what was folded into it is not kept.
    """
    return "/running/" in summary.family


def _unmade(summary: Summary, shelf: Shelf) -> str:
    """A summary that was made from others which are not there, or not what it says."""
    if summary.writing is not None or not summary.sources or is_running(summary):
        return ""
    parts = [shelf.there[source] for source in summary.sources if source in shelf.there]
    if len(parts) < len(summary.sources):
        gone = next(source for source in summary.sources if source not in shelf.there)
        return f"was made from {short(gone)}, which is not there"
    inside = all(
        summary.first_position <= part.first_position and part.last_position <= summary.last_position for part in parts
    )
    if not inside or any(one.last_position >= other.first_position for one, other in pairwise(parts)):
        return "was made from others that don't stand one after the other within it"
    if summary.leaves and summary.leaves != (leaves := sum(part.leaves for part in parts)):
        return f"says that it covers {summary.leaves:,} leaves, and {leaves:,} are there"
    if summary.level == "story" and not is_partial(summary) and not _whole(summary, parts):
        return "covers messages that none of those covers which it was made from"
    return ""


def _whole(summary: Summary, parts: Sequence[Summary]) -> bool:
    """Whether adjacent `parts` cover all of it."""
    ends = (parts[0].first_position, parts[-1].last_position) == (summary.first_position, summary.last_position)
    return ends and all(one.last_position + 1 == other.first_position for one, other in pairwise(parts))
