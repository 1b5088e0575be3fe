"""Go over the sessions of a space, and remember of each what is not remembered yet.

A turn is remembered once a memory names both its ends, a leaf once one cites it: so two processes that gather at once
store the same, and what is there already is left as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from msgspec import Struct

from ireneo.context.policy import Policy
from ireneo.engine.episodes.leaves import leaf_offer
from ireneo.engine.episodes.overturns import failing, of_offers, overturns
from ireneo.engine.episodes.place import places
from ireneo.engine.episodes.turns import Turn, turn_offers
from ireneo.engine.episodes.unseen import Bounds, remembered, unseen_leaves, unseen_turns
from ireneo.engine.means import Means
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.engine.story.preset import preset_of
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message
from ireneo.memories.offer import Offer
from ireneo.ports.memories import Wanted
from ireneo.ports.store import SessionInfo, Span
from ireneo.ports.transition import Transaction

BATCH = 16
"""Turns, or leaves, that are remembered in one transaction: so much is done again after a crash, at the most."""
_FAILURES = Wanted(kind="failure")


class Gathered(Struct, frozen=True, kw_only=True):
    """What was remembered of a stretch of a session."""

    session: str
    branch: str
    first_position: int
    last_position: int
    remembered: tuple[Remembered, ...]


class Gatherer:
    """Gathers in one space, and knows how far it has looked."""

    def __init__(self, means: Means, space: str) -> None:
        """Nothing is read yet."""
        self._means = means
        self._store = means.store
        self._space = space
        self._passed: dict[tuple[SessionKey, str], tuple[int, str]] = {}
        """The end of what was looked through of a branch: what leaves no memory is not looked through again."""

    async def gather(self) -> AsyncIterator[Gathered]:
        """Remember what is due in every session."""
        async with self._store.read() as tx:
            sessions = await tx.sessions.list(self._space)
        for info in sessions:
            async for gathered in self.session(info):
                yield gathered

    async def session(self, info: SessionInfo, preset: Policy | None = None) -> AsyncIterator[Gathered]:
        """Remember what is due in one session, on each of its branches; it is cut by `preset`, or by its own."""
        policy = preset or preset_of(info.source, self._means.preset)
        async with self._store.read() as tx:
            branches = await tx.sessions.branches(info.key)
        for branch, head in branches.items():
            if head is None:
                continue
            found = self._leaves(info.key, branch, head, policy) if policy.pyramid else None
            async for gathered in found or self._turns(info.key, branch, head):
                yield gathered

    async def _turns(self, key: SessionKey, branch: str, head: Head) -> AsyncIterator[Gathered]:
        async with self._store.read() as tx:
            turns = await unseen_turns(tx, key, head, await self._floor(tx, key, branch, head))
        for start in range(0, len(turns), BATCH):
            batch = turns[start : start + BATCH]
            offers = await self._offers_of_turns(key, head, batch)
            async with self._store.write() as tx:
                # Another process may have been at the same.
                known = await remembered(tx, key.space, batch)
                new = [each for turn, each in zip(batch, offers, strict=True) if turn.ending not in known]
                settled = await settle_offers(tx, key.space, [offer for each in new for offer in each])
            self._passed[key, branch] = batch[-1].last, batch[-1].ending
            if settled:
                yield _gathered(key, branch, batch, settled)

    async def _offers_of_turns(self, key: SessionKey, head: Head, turns: Sequence[Bounds]) -> list[list[Offer]]:
        """What each turn leaves behind, and what it overturns of the turns before it."""
        now = self._means.clock.now()
        out: list[list[Offer]] = []
        async with self._store.read() as tx:
            known = failing(await tx.memories.list(key.space, _FAILURES), key.session)
        for turn in turns:
            told = await self._turn(key, head, turn)
            offers = [] if told is None else turn_offers(told, now)
            against = [] if told is None else overturns(told, known, now)
            turned = {offer.signature for offer in against}
            known = [each for each in known if each.signature not in turned] + of_offers(offers)
            out.append([*offers, *against])
        return out

    async def _turn(self, key: SessionKey, head: Head, turn: Bounds) -> Turn | None:
        """A turn as it was said; None where its path was pruned since it was looked over."""
        async with self._store.read() as tx:
            messages = await tx.log.path(key, head.id, turn.first, turn.last)
            place = await places(tx, key, [turn.opening])
        if not messages:
            return None
        cleaning = self._means.drawing()
        place_of = {name: cleaning.text(where) for name, where in place.get(turn.opening, {}).items()}
        return Turn(session=key.session, messages=tuple(map(cleaning.message, messages)), place=place_of)

    async def _leaves(self, key: SessionKey, branch: str, head: Head, policy: Policy) -> AsyncIterator[Gathered]:
        async with self._store.read() as tx:
            leaves = await unseen_leaves(tx, key, head, policy, await self._floor(tx, key, branch, head))
        for start in range(0, len(leaves), BATCH):
            batch = leaves[start : start + BATCH]
            offers = await self._offers_of_leaves(key, head, batch)
            async with self._store.write() as tx:
                citing = await tx.memories.citing(key.space, [leaf.id for leaf in batch])
                known = {name for record in citing for name in record.sources}
                new = [offer for offer in offers if known.isdisjoint(offer.summaries)]
                settled = await settle_offers(tx, key.space, new)
            if settled:
                yield _gathered(key, branch, batch, settled)

    async def _offers_of_leaves(self, key: SessionKey, head: Head, spans: Sequence[Span]) -> list[Offer]:
        now = self._means.clock.now()
        async with self._store.read() as tx:
            leaves = await tx.summaries.get(key, [span.id for span in spans])
            ends: list[Message] = []
            for leaf in leaves:
                ends += await tx.log.path(key, head.id, leaf.last_position, leaf.last_position)
        at = {message.id: message.draft.at for message in ends}
        offers = [leaf_offer(key.session, leaf, at.get(leaf.last), now) for leaf in leaves]
        return [self._means.drawing().struct(offer) for offer in offers if offer is not None]

    async def _floor(self, tx: Transaction, key: SessionKey, branch: str, head: Head) -> int:
        """The position after what was looked through of a branch, where it still leads that way."""
        position, name = self._passed.get((key, branch), (-1, ""))
        if position < 0:
            return 0
        passed = await tx.log.path(key, head.id, position, position)
        return position + 1 if passed and passed[0].id == name else 0


async def gather(means: Means, space: str) -> AsyncIterator[Gathered]:
    """Remember all that is due in a space, session by session; tells what was."""
    async for gathered in Gatherer(means, space).gather():
        yield gathered


def _gathered(
    key: SessionKey, branch: str, batch: Sequence[Bounds] | Sequence[Span], settled: Sequence[Remembered]
) -> Gathered:
    first, last = batch[0], batch[-1]
    return Gathered(
        session=key.session,
        branch=branch,
        first_position=first.first if isinstance(first, Bounds) else first.first_position,
        last_position=last.last if isinstance(last, Bounds) else last.last_position,
        remembered=tuple(settled),
    )
