"""Go over the sessions of a space, and remember of each the turns and leaves that no memory tells of yet.

A turn is remembered once a memory names both its ends, a leaf once one cites it: so two processes that gather at once
store the same, and what is there already is left as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Cleaning, Resources
from ireneo.engine.turns import Turn, failures_of_drafts, known_failure, leaf_episode, overturns, places, turn_memories
from ireneo.log.message import Message, MessageId, opens_turn
from ireneo.log.tree import Head, SessionKey
from ireneo.memories.record import MemoryDraft
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Transaction
from ireneo.summaries.policy import Policy, preset_of
from ireneo.summaries.summary import SummaryId

STEP = 400
"""Messages that are read at a time, from the end of a path backwards."""


class DueEpisode(Struct, frozen=True, kw_only=True):
    """A turn, or a leaf of a story, of which no memory tells yet."""

    opening: MessageId
    """The first message of a turn."""
    id: str
    """Its last message; of a leaf the summary."""
    first: int
    last: int
    """Positions on the path."""


def due_turns(tx: Transaction, key: SessionKey, head: Head, floor: int = 0) -> list[DueEpisode]:
    """The turns that are over and that no memory tells of, in order, from position `floor` on.

    They are looked for from the end backwards, up to the first that is remembered: turns are remembered in order.
    The newest turn is over once the agent has answered; one without any work has nothing to tell but what was said.
    """
    out: list[DueEpisode] = []
    later: list[Message] = []
    end = head.position
    while end >= floor:
        first = max(floor, end - STEP + 1)
        later = [*tx.log.path(key, head.id, first, end), *later]
        starts = [place for place, message in enumerate(later) if opens_turn(message.draft)]
        ends = [*starts[1:], len(later)]
        turns = [later[start:stop] for start, stop in zip(starts, ends, strict=True)] if starts else []
        later = later[: starts[0]] if starts else later
        due = [
            DueEpisode(opening=turn[0].id, id=turn[-1].id, first=turn[0].position, last=turn[-1].position)
            for turn in turns
        ]
        known = remembered_turns(tx, key.space, due)
        for turn, each in zip(reversed(turns), reversed(due), strict=True):
            if each.id in known:
                return out[::-1]
            answered = turn[-1].role == "assistant" and not turn[-1].draft.calls
            if any(message.draft.calls for message in turn) and (each.last < head.position or answered):
                out.append(each)
        end = first - 1
    return out[::-1]


def remembered_turns(tx: Transaction, space: str, turns: Sequence[DueEpisode]) -> set[str]:
    """The ids of those `turns` of which a memory tells: one piece of its evidence names both ends of the turn."""
    if not turns:
        return set()
    citing = tx.memories.citing(space, [turn.id for turn in turns])
    told = [set(piece.messages) for record in citing for piece in record.evidence]
    return {turn.id for turn in turns if any({turn.opening, turn.id} <= each for each in told)}


def due_leaves(tx: Transaction, key: SessionKey, head: Head, policy: Policy, floor: int = 0) -> list[DueEpisode]:
    """The leaves of a story that no memory tells of, in order, from position `floor` on."""
    spans = tx.summaries.spans(key, head.id, policy.summarizer, 1, floor)
    leaves = [
        DueEpisode(opening=MessageId(""), id=span.id, first=span.first_position, last=span.last_position)
        for span in spans
    ]
    known = remembered_leaves(tx, key.space, leaves)
    return [leaf for leaf in leaves if leaf.id not in known]


def remembered_leaves(tx: Transaction, space: str, leaves: Sequence[DueEpisode]) -> set[str]:
    """The ids that memories name of which one names a leaf."""
    citing = tx.memories.citing(space, [leaf.id for leaf in leaves]) if leaves else ()
    return {name for record in citing for piece in record.evidence for name in piece.summaries}


def drafts_of_turns(
    tx: Transaction, key: SessionKey, head: Head, turns: Sequence[DueEpisode], cleaning: Cleaning, now: datetime
) -> list[list[MemoryDraft]]:
    """What each turn leaves behind, and what it overturns of the turns before it.

    Nothing of a turn whose path was pruned since it was looked over.
    """
    out: list[list[MemoryDraft]] = []
    known = known_failure(tx.memories.list(key.space, _FAILURES), key.session)
    for turn in turns:
        messages = tx.log.path(key, head.id, turn.first, turn.last)
        where = places(tx, key, [turn.opening]).get(turn.opening, {}) if messages else {}
        told = Turn(
            session=key.session,
            messages=tuple(map(cleaning.message, messages)),
            place={name: cleaning.text(place) for name, place in where.items()},
        )
        drafts = turn_memories(told, now) if messages else []
        against = overturns(told, known, now) if messages else []
        turned = {draft.signature for draft in against}
        known = [each for each in known if each.signature not in turned] + failures_of_drafts(drafts)
        out.append([*drafts, *against])
    return out


def drafts_of_leaves(
    tx: Transaction, key: SessionKey, head: Head, due: Sequence[DueEpisode], cleaning: Cleaning, now: datetime
) -> list[list[MemoryDraft]]:
    """The episode that each leaf leaves behind, where there is any."""
    leaves = {leaf.id: leaf for leaf in tx.summaries.get(key, [SummaryId(each.id) for each in due])}
    out: list[list[MemoryDraft]] = []
    for each in due:
        leaf = leaves.get(SummaryId(each.id))
        ends = tx.log.path(key, head.id, leaf.last_position, leaf.last_position) if leaf else ()
        at = next((message.draft.at for message in ends if leaf and message.id == leaf.last), None)
        episode = leaf_episode(key.session, leaf, at, now) if leaf else None
        out.append([cleaning.struct(episode)] if episode else [])
    return out


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

    def __init__(self, resources: Resources, space: str) -> None:
        """Nothing is read yet."""
        self._means = resources
        self._store = resources.store
        self._space = space
        self._passed: dict[tuple[SessionKey, str], tuple[int, str]] = {}
        """The end of what was looked through of a branch: what leaves no memory is not looked through again."""

    async def session(self, info: SessionInfo, preset: Policy | None = None) -> AsyncIterator[Gathered]:
        """Remember what is due in one session, on each of its branches; it is cut by `preset`, or by its own."""
        key, policy = info.key, preset or preset_of(info.source, self._means.preset)
        drafts_of = drafts_of_leaves if policy.story else drafts_of_turns
        for branch, head in (await self._store.read(lambda tx: tx.sessions.branches(info.key))).items():
            if head is None:
                continue
            due = await self._store.read(self._due, key, branch, head, policy)
            for start in range(0, len(due), BATCH):
                batch = due[start : start + BATCH]
                # What it leaves behind is worked out in the store's thread as well: it takes a while.
                drafts = await self._store.read(
                    drafts_of, key, head, batch, self._means.drawing(), self._means.clock.now()
                )
                settled = await self._store.write(_keep, key.space, policy, batch, drafts)
                if not policy.story:
                    self._passed[key, branch] = batch[-1].last, batch[-1].id
                if settled:
                    yield Gathered(
                        session=key.session,
                        branch=branch,
                        first_position=batch[0].first,
                        last_position=batch[-1].last,
                        remembered=tuple(settled),
                    )

    def _due(self, tx: Transaction, key: SessionKey, branch: str, head: Head, policy: Policy) -> list[DueEpisode]:
        position, name = self._passed.get((key, branch), (-1, ""))
        passed = tx.log.path(key, head.id, position, position) if position >= 0 else ()
        # Behind what was looked through of the branch, where it still leads that way.
        floor = position + 1 if passed and passed[0].id == name else 0
        return due_leaves(tx, key, head, policy, floor) if policy.story else due_turns(tx, key, head, floor)


def _keep(
    tx: Transaction, space: str, policy: Policy, batch: Sequence[DueEpisode], drafts: Sequence[Sequence[MemoryDraft]]
) -> list[Remembered]:
    """Store what a batch leaves behind; another process may have been at the same."""
    known = remembered_leaves(tx, space, batch) if policy.story else remembered_turns(tx, space, batch)
    new = [each for due, each in zip(batch, drafts, strict=True) if due.id not in known]
    return settle_drafts(tx, space, [draft for each in new for draft in each])
