"""Go over the sessions of a space, and remember of each the turns and leaves that no memory tells of yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from msgspec import Struct

from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.turns import (
    KnownFailure,
    Turn,
    failures_of_drafts,
    known_failure,
    leaf_episode,
    overturns,
    places,
    turn_memories,
)
from ireneo.log.message import Message, MessageId, opens_turn
from ireneo.log.tree import Head, SessionKey
from ireneo.memories.record import MemoryDraft
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Span, Transaction
from ireneo.summaries.policy import Policy, preset_of
from ireneo.summaries.summary import Summary

STEP = 400
"""Messages that are read at a time, from the end of a path backwards."""


class TurnBounds(Struct, frozen=True, kw_only=True):
    """Where a turn begins and ends."""

    opening: MessageId
    ending: MessageId
    first: int
    last: int
    work: bool
    """Whether a tool was called in it: else there is nothing to tell but what was said."""
    answered: bool
    """Whether it ends with the agent's words and no call."""


def remembered(tx: Transaction, space: str, turns: Sequence[TurnBounds]) -> set[MessageId]:
    """The endings of those `turns` of which a memory tells: one piece of its evidence names both ends of the turn."""
    if not turns:
        return set()
    citing = tx.memories.citing(space, [turn.ending for turn in turns])
    told = [set(piece.messages) for record in citing for piece in record.evidence]
    return {turn.ending for turn in turns if any({turn.opening, turn.ending} <= each for each in told)}


def unseen_turns(tx: Transaction, key: SessionKey, head: Head, floor: int = 0) -> list[TurnBounds]:
    """The turns that are over and that no memory tells of, in order, from position `floor` on.

    They are looked for from the end backwards, up to the first that is remembered: turns are remembered in order.
    The newest turn is over once the agent has answered.
    """
    out: list[TurnBounds] = []
    later: list[Message] = []
    end = head.position
    while end >= floor:
        first = max(floor, end - STEP + 1)
        later = [*tx.log.path(key, head.id, first, end), *later]
        turns, later = _cut(later)
        known = remembered(tx, key.space, turns)
        for turn in reversed(turns):
            if turn.ending in known:
                return out[::-1]
            if turn.work and (turn.last < head.position or turn.answered):
                out.append(turn)
        end = first - 1
    return out[::-1]


def unseen_leaves(tx: Transaction, key: SessionKey, head: Head, policy: Policy, floor: int = 0) -> list[Span]:
    """The leaves of a story that no memory tells of, in order, from position `floor` on."""
    leaves = tx.summaries.spans(key, head.id, policy.family, 1, floor)
    citing = tx.memories.citing(key.space, [leaf.id for leaf in leaves]) if leaves else ()
    told = {name for record in citing for piece in record.evidence for name in piece.summaries}
    return [leaf for leaf in leaves if leaf.id not in told]


def _cut(messages: Sequence[Message]) -> tuple[list[TurnBounds], list[Message]]:
    """The turns that `messages` hold whole, and what stands before the first of them."""
    starts = [place for place, message in enumerate(messages) if opens_turn(message.draft)]
    if not starts:
        return [], list(messages)
    ends = [*starts[1:], len(messages)]
    turns = [_bounds(messages[start:end]) for start, end in zip(starts, ends, strict=True)]
    return turns, list(messages[: starts[0]])


def _bounds(messages: Sequence[Message]) -> TurnBounds:
    return TurnBounds(
        opening=messages[0].id,
        ending=messages[-1].id,
        first=messages[0].position,
        last=messages[-1].position,
        work=any(message.draft.calls for message in messages),
        answered=messages[-1].role == "assistant" and not messages[-1].draft.calls,
    )


# Go over the sessions of a space, and remember of each what is not remembered yet.
#
# A turn is remembered once a memory names both its ends, a leaf once one cites it: so two processes that gather at once
# store the same, and what is there already is left as it is.


BATCH = 16
"""Turns, or leaves, that are remembered in one transaction: so much is done again after a crash, at the most."""
_FAILURES = MemoryFilter(kind="failure")


class Gathered(Struct, frozen=True, kw_only=True):
    """What was remembered of a stretch of a session."""

    session: str
    branch: str
    first_position: int
    last_position: int
    remembered: tuple[Remembered, ...]


class Gatherer:
    """Gathers in one space, and knows how far it has looked."""

    def __init__(self, means: Resources, space: str) -> None:
        """Nothing is read yet."""
        self._means = means
        self._store = means.store
        self._space = space
        self._passed: dict[tuple[SessionKey, str], tuple[int, str]] = {}
        """The end of what was looked through of a branch: what leaves no memory is not looked through again."""

    async def gather(self) -> AsyncIterator[Gathered]:
        """Remember what is due in every session."""
        sessions = await self._store.read(lambda tx: tx.sessions.list(self._space))
        for info in sessions:
            async for gathered in self.session(info):
                yield gathered

    async def session(self, info: SessionInfo, preset: Policy | None = None) -> AsyncIterator[Gathered]:
        """Remember what is due in one session, on each of its branches; it is cut by `preset`, or by its own."""
        policy = preset or preset_of(info.source, self._means.preset)
        branches = await self._store.read(lambda tx: tx.sessions.branches(info.key))
        for branch, head in branches.items():
            if head is None:
                continue
            found = self._leaves(info.key, branch, head, policy) if policy.story else None
            async for gathered in found or self._turns(info.key, branch, head):
                yield gathered

    async def _turns(self, key: SessionKey, branch: str, head: Head) -> AsyncIterator[Gathered]:

        def look(tx: Transaction) -> list[TurnBounds]:
            return unseen_turns(tx, key, head, self._floor(tx, key, branch, head))

        turns = await self._store.read(look)
        for start in range(0, len(turns), BATCH):
            batch = turns[start : start + BATCH]
            offers = await self._offers_of_turns(key, head, batch)

            def keep(tx: Transaction, batch: list[TurnBounds], offers: list[list[MemoryDraft]]) -> list[Remembered]:
                # Another process may have been at the same.
                known = remembered(tx, key.space, batch)
                new = [each for turn, each in zip(batch, offers, strict=True) if turn.ending not in known]
                return settle_drafts(tx, key.space, [offer for each in new for offer in each])

            settled = await self._store.write(keep, batch, offers)
            self._passed[key, branch] = batch[-1].last, batch[-1].ending
            if settled:
                yield _gathered(key, branch, batch, settled)

    async def _offers_of_turns(
        self, key: SessionKey, head: Head, turns: Sequence[TurnBounds]
    ) -> list[list[MemoryDraft]]:
        """What each turn leaves behind, and what it overturns of the turns before it."""
        now = self._means.clock.now()
        out: list[list[MemoryDraft]] = []

        def look(tx: Transaction) -> list[KnownFailure]:
            return known_failure(tx.memories.list(key.space, _FAILURES), key.session)

        known = await self._store.read(look)
        for turn in turns:
            told = await self._turn(key, head, turn)
            offers = [] if told is None else turn_memories(told, now)
            against = [] if told is None else overturns(told, known, now)
            turned = {offer.signature for offer in against}
            known = [each for each in known if each.signature not in turned] + failures_of_drafts(offers)
            out.append([*offers, *against])
        return out

    async def _turn(self, key: SessionKey, head: Head, turn: TurnBounds) -> Turn | None:
        """A turn as it was said; None where its path was pruned since it was looked over."""

        def look(tx: Transaction) -> tuple[Sequence[Message], Mapping[MessageId, Mapping[str, str]]]:
            messages = tx.log.path(key, head.id, turn.first, turn.last)
            place = places(tx, key, [turn.opening])
            return messages, place

        messages, place = await self._store.read(look)
        if not messages:
            return None
        cleaning = self._means.drawing()
        place_of = {name: cleaning.text(where) for name, where in place.get(turn.opening, {}).items()}
        return Turn(session=key.session, messages=tuple(map(cleaning.message, messages)), place=place_of)

    async def _leaves(self, key: SessionKey, branch: str, head: Head, policy: Policy) -> AsyncIterator[Gathered]:

        def look(tx: Transaction) -> list[Span]:
            return unseen_leaves(tx, key, head, policy, self._floor(tx, key, branch, head))

        leaves = await self._store.read(look)
        for start in range(0, len(leaves), BATCH):
            batch = leaves[start : start + BATCH]
            offers = await self._offers_of_leaves(key, head, batch)

            def keep(tx: Transaction, batch: list[Span], offers: list[MemoryDraft]) -> list[Remembered]:
                citing = tx.memories.citing(key.space, [leaf.id for leaf in batch])
                known = {name for record in citing for name in record.sources}
                new = [offer for offer in offers if known.isdisjoint(offer.summaries)]
                return settle_drafts(tx, key.space, new)

            settled = await self._store.write(keep, batch, offers)
            if settled:
                yield _gathered(key, branch, batch, settled)

    async def _offers_of_leaves(self, key: SessionKey, head: Head, spans: Sequence[Span]) -> list[MemoryDraft]:
        now = self._means.clock.now()

        def look(tx: Transaction) -> tuple[Sequence[Summary], list[Message]]:
            leaves = tx.summaries.get(key, [span.id for span in spans])
            ends: list[Message] = []
            for leaf in leaves:
                ends += tx.log.path(key, head.id, leaf.last_position, leaf.last_position)
            return leaves, ends

        leaves, ends = await self._store.read(look)
        at = {message.id: message.draft.at for message in ends}
        offers = [leaf_episode(key.session, leaf, at.get(leaf.last), now) for leaf in leaves]
        return [self._means.drawing().struct(offer) for offer in offers if offer is not None]

    def _floor(self, tx: Transaction, key: SessionKey, branch: str, head: Head) -> int:
        """The position after what was looked through of a branch, where it still leads that way."""
        position, name = self._passed.get((key, branch), (-1, ""))
        if position < 0:
            return 0
        passed = tx.log.path(key, head.id, position, position)
        return position + 1 if passed and passed[0].id == name else 0


async def gather(means: Resources, space: str) -> AsyncIterator[Gathered]:
    """Remember all that is due in a space, session by session; tells what was."""
    async for gathered in Gatherer(means, space).gather():
        yield gathered


def _gathered(
    key: SessionKey, branch: str, batch: Sequence[TurnBounds] | Sequence[Span], settled: Sequence[Remembered]
) -> Gathered:
    first, last = batch[0], batch[-1]
    return Gathered(
        session=key.session,
        branch=branch,
        first_position=first.first if isinstance(first, TurnBounds) else first.first_position,
        last_position=last.last if isinstance(last, TurnBounds) else last.last_position,
        remembered=tuple(settled),
    )
