"""From a head and a budget to a context: the order in which the tiers are tried, as one algorithm without I/O.

`assemble` is a generator: it yields what it needs to know (`NeedPath`, `NeedRow`, `NeedParts`), is sent the answer,
yields what is worth keeping (`Made`, `Keep`), and returns the context. A driver over a list of messages and one
over a store run the same text.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import (
    SPARE_SHARE,
    Composed,
    all_in_one,
    close_loose,
    live,
    one_block,
    with_blocks,
    with_masks,
)
from ireneo.context.cover import choose_edge, is_cramped, next_to_open, opened, split_system, too_fine
from ireneo.context.forest import RowItem, cover_row
from ireneo.context.last_turns import last_turns
from ireneo.context.needs import (
    Answer,
    Assembled,
    Assembling,
    Keep,
    Made,
    Mark,
    Need,
    NeedParts,
    NeedTexts,
    Recall,
)
from ireneo.context.plan_rebuild import RebuildTo, Stay, decide, first_target, idle_seconds, whole
from ireneo.context.reading import read_path, read_row, read_tail
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.log.atoms import atoms
from ireneo.log.branch import Head
from ireneo.log.loops import loop_runs
from ireneo.log.message import Message

MASKABLE = 12
"""Outputs are most of a run, but hardly ever more than eleven twelfths of it: longer paths are not tried with masks."""
WIDENINGS = 4
"""How often what the blocks leave of the room is given to the live part, at the most."""


def assemble(head: Head, mark: Mark | None, terms: Terms) -> Assembling:
    """Make the context of the path to `head` on these `terms`; `mark` is that of the last rebuild on this path."""
    budget, policy = terms.budget, terms.policy
    if head.total_tokens <= budget and not policy.eager:
        messages = yield from read_path(0, head.position)
        composed = live(messages, terms)
        if composed.tokens <= budget:
            return Assembled(composed=composed, mark=None, why=whole(composed.tokens, budget))
    if policy.cuts:
        cut = yield from last_turns(head, terms)
        _, why = first_target(head.total_tokens, budget, 1.0, None)
        return Assembled(composed=cut, mark=None, why=why)
    if mark is not None and not terms.rebuild and not _newly_disputed(mark, terms):
        frozen = cast("Composed | None", (yield Recall(mark)))
        if frozen is None:
            frozen, _ = yield from _rebuild(mark.at_position, mark.target_tokens, terms, mark.taken_up)
            yield Keep(mark, frozen)
        since = yield from read_path(mark.at_position + 1, head.position)
        grown = frozen.followed_by(since, mark.at_position, terms)
        decision = _decide(frozen.tokens, grown.tokens - frozen.tokens, since, terms)
        if isinstance(decision, Stay):
            return Assembled(composed=grown, mark=mark, why=decision.why)
        target, why = decision.target, decision.why
    else:
        target, why = first_target(head.total_tokens, budget, policy.low_water, policy.prices)
    composed, taken_up = yield from _rebuild(head.position, target, terms, None)
    mark = Mark(at=head.id, at_position=head.position, target_tokens=target, taken_up=taken_up)
    yield Keep(mark, composed)
    return Assembled(composed=composed.followed_by((), head.position, terms), mark=mark, why=why)


def _newly_disputed(mark: Mark, terms: Terms) -> bool:
    """Whether a summary before the mark was disputed since: that is worth what it costs to change the prefix."""
    return any(
        note.kind == "dispute" and note.at_position <= mark.at_position and note.id not in mark.taken_up
        for note in terms.notes
    )


def _decide(frozen_tokens: int, since_tokens: int, since: Sequence[Message], terms: Terms) -> Stay | RebuildTo:
    idle = [seconds for seconds in (terms.idle_seconds, idle_seconds(since)) if seconds is not None]
    return decide(
        frozen_tokens=frozen_tokens,
        since_tokens=since_tokens,
        budget=terms.budget,
        low_water=terms.policy.low_water,
        idle_seconds=max(idle, default=None),
        prices=terms.policy.prices,
    )


def _rebuild(
    last: int, target: int, terms: Terms, known: tuple[str, ...] | None
) -> Generator[Need, Answer, tuple[Composed, tuple[str, ...]]]:
    """Make the context of the path up to position `last` in `target` tokens, with whatever tier fits first.

    Returns what it took up besides the messages as well; `known` is what it may take up, where it was made before.
    """
    heard = tuple(note.id for note in terms.notes if note.kind == "dispute" and note.at_position <= last)
    if known is not None:
        disputes = tuple(note for note in terms.notes if note.kind != "dispute" or note.id in known)
        terms = replace(terms, notes=disputes)
    live_tokens = int(target * terms.policy.live_share)
    tail = yield from read_tail(last, max(live_tokens, 1), terms.policy)
    blocks = yield from _tiers(tail, target, terms, known)
    yield Made(blocks.made)
    return replace(blocks.composed, in_loop=loop_runs(tail)), (*blocks.texts, *heard)


def _tiers(
    tail: Sequence[Message], target: int, terms: Terms, known: tuple[str, ...] | None
) -> Generator[Need, Answer, _Blocks]:
    """Make the context of the path that ends with `tail`, the tiers one after the other."""
    last, live_tokens = tail[-1].position, int(target * terms.policy.live_share)
    if terms.policy.eager:
        eager = yield from _eager(tail, target, terms, known)
        if eager is not None:
            return eager
    edge = tail[choose_edge(tail, live_tokens, terms.policy)].position
    if tail[-1].total_tokens <= target or edge * 20 < target:
        messages = yield from read_path(0, last)
        if sum(message.tokens for message in messages) <= target * MASKABLE:
            masked = with_masks(messages, edge, target, terms)
            if masked.tokens <= target:
                return _Blocks(composed=masked)
    blocks = yield from _with_blocks(tail, target, live_tokens, terms, known)
    for _ in range(WIDENINGS):
        free = target - blocks.composed.tokens
        if free < target * SPARE_SHARE:
            break
        # The past has said what it has to say: what is left is for more of the newest turns, verbatim.
        newest = tail[choose_edge(tail, live_tokens, terms.policy) :]
        before = newest[0].position
        size = sum(message.tokens for message in newest)
        live_tokens = min(size, live_tokens) + free - free // 10
        tail = yield from read_tail(last, live_tokens, terms.policy)
        edge = choose_edge(tail, live_tokens, terms.policy)
        # An atom before them that is larger than all that is left stands there head and tail.
        partly = edge > 0 and tail[edge].position == before and size <= live_tokens
        wider = yield from _with_blocks(tail, target, live_tokens, terms, known, partly=partly)
        # More of the newest turns say more than the names that filled the marks in them; one block for all says less.
        if (partly or wider.coarse) and wider.composed.tokens <= blocks.composed.tokens:
            break
        blocks = wider
        if partly:
            break
    return blocks


class _Blocks(Struct, frozen=True, kw_only=True):
    """A context of blocks, the summaries that were made for it alone, and those by a model that it shows."""

    composed: Composed
    made: tuple[Summary, ...] = ()
    texts: tuple[str, ...] = ()
    coarse: bool = False
    """All of the past stands in one block, or everything."""


def _with_blocks(
    tail: Sequence[Message],
    target: int,
    live_tokens: int,
    terms: Terms,
    known: tuple[str, ...] | None,
    *,
    partly: bool = False,
) -> Generator[Need, Answer, _Blocks]:
    """Show all but the newest `live_tokens` as blocks, as fine as there is room for.

    With `partly` one atom more is shown, in as much as they leave of these tokens.
    """
    policy = terms.policy
    edge = choose_edge(tail, live_tokens, policy)
    newest = tail[edge:]
    # Thinking is bound to all that was shown before it, and is not shown behind an atom that is cut.
    thinks = terms.thinking == "turn" and any(message.thinking_tokens for message in newest)
    cut = atoms(tail[:edge])[-1] if partly and edge and not thinks else ()
    row = yield from read_row(tail[edge - len(cut)].position - 1, tail[edge - len(cut) :], policy)
    row, made = close_loose(row, policy)
    size = sum(message.tokens for message in newest)
    room = target - min(size, max(live_tokens, target // 4))
    while block := next_to_open(row, room):
        parts = yield NeedParts(block)
        row = opened(row, block, cast("Sequence[RowItem]", parts))
    row = yield from _best(row, known)
    texts = _written(row)
    if not is_cramped(row, target):
        system, rest = split_system(row)
        if oldest := too_fine(rest, room):
            made.append(cover_row(rest[:oldest], policy))
            row = [*system, made[-1], *rest[oldest:]]
        composed = with_blocks(row, newest, target, live_tokens, terms, cut)
        over = composed.tokens - target
        if 0 < over <= target * SPARE_SHARE:
            # What the frames cost besides is known by now: then with so much less.
            composed = with_blocks(row, newest, target - over - 8, live_tokens, terms, cut)
        if composed.tokens <= target:
            return _Blocks(composed=composed, made=tuple(made), texts=texts)
    newest = [*cut, *newest]
    system, rest = split_system(row)
    past = [cover_row(rest, policy)] if rest else []
    composed = one_block(system, past, newest, target, terms)
    if composed.tokens <= target:
        return _Blocks(composed=composed, made=tuple(past), texts=texts, coarse=True)
    whole = cover_row([*row, *newest], policy)
    return _Blocks(composed=all_in_one(whole, target, terms), made=(whole,), texts=texts, coarse=True)


def _written(row: Sequence[RowItem]) -> tuple[str, ...]:
    """The ids of the texts in a row that a model wrote."""
    return tuple(item.id for item in row if isinstance(item, Summary) and item.writing)


def _best(row: Sequence[RowItem], known: tuple[str, ...] | None) -> Generator[Need, Answer, list[RowItem]]:
    """Put the best text that there is in the place of each block."""
    blocks = tuple(item for item in row if isinstance(item, Summary))
    if not blocks:
        return list(row)
    best = cast("Sequence[Summary]", (yield NeedTexts(blocks, known)))
    texts = {block.id: text for block, text in zip(blocks, best, strict=True)}
    return [texts[item.id] if isinstance(item, Summary) else item for item in row]


def _eager(
    tail: Sequence[Message], target: int, terms: Terms, known: tuple[str, ...] | None
) -> Generator[Need, Answer, _Blocks | None]:
    """Summarise what is old enough, whether or not the budget asks for it; None where that is not enough to fit."""
    newest = tail[choose_edge(tail, 0, terms.policy) :]
    row = yield from read_row(newest[0].position - 1, newest, terms.policy)
    # What waits for its block stays as it is: blocks are made of enough calls, or not at all.
    waiting: list[Message] = []
    while row and isinstance(last := row[-1], Message):
        waiting.insert(0, last)
        row.pop()
    row = yield from _best(row, known)
    composed = with_blocks(row, [*waiting, *newest], target, target // 2, terms)
    size = sum(message.tokens for message in (*waiting, *newest))
    if size > target // 2 or composed.tokens > target:
        return None
    return _Blocks(composed=composed, texts=_written(row))
