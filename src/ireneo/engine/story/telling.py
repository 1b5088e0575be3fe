"""What was told of a session's stories for one context, and is told alike in the next: it follows from its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, SummaryId
from ireneo.context.terms import Terms
from ireneo.context.thread import Thread
from ireneo.engine.story.kept import Kept, Recalled
from ireneo.engine.story.path import open_threads
from ireneo.log.message import Message
from ireneo.pyramid.allot import tell_blocks
from ireneo.pyramid.compose import billed
from ireneo.pyramid.nodes import make_leaf

TOLD = 64
"""Blocks of whole rows: they stay the same from one leaf to the next."""
COUNTED, COUNTED_CHARACTERS = 4_096, 2_000
"""Texts whose tokens are known, and how long one may be: the newest messages are weighed in every context."""
OPEN = 16
"""Leaves over messages that no stored leaf has taken in yet: they stay the same for some messages."""


class TellingCache:
    """The blocks and leaves that were written last (`ireneo.pyramid.compose.Telling`)."""

    def __init__(self, terms: Terms) -> None:
        """Start empty, for contexts whose tokens are counted as in `terms`."""
        self._uncached = terms.count
        self._known = lru_cache(maxsize=COUNTED)(terms.count)
        self._billed = billed(self.count)
        self._erased = 0
        self._empty()

    def _empty(self) -> None:
        self.recalled = Recalled()
        self._told: Kept[Sequence[str]] = Kept(TOLD)
        self._leaves: Kept[Summary] = Kept(OPEN)
        self._threads: Kept[tuple[tuple[Thread, ...], int]] = Kept(OPEN)
        self._stored: set[SummaryId] = set()

    def renew(self, erased: int) -> None:
        """Let go of everything where more messages are erased than when it was kept: it may tell of them."""
        if erased != self._erased:
            self._empty()
            self._erased = erased

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
        return self._known(text) if len(text) <= COUNTED_CHARACTERS else self._uncached(text)

    def tell(self, nodes: Sequence[Summary], room: int, doubts: Mapping[SummaryId, str]) -> Sequence[str]:
        """Write the blocks of `nodes` in `room` tokens."""
        name = (*(node.id for node in nodes), room, *sorted(doubts.items()))
        return self._told.get(name, lambda: tell_blocks(nodes, room, self._billed, doubts=doubts))

    def leaf(self, messages: Sequence[Message], before: Sequence[Thread], policy: Policy) -> Summary:
        """Write the leaf over `messages`, before which the threads `before` are open."""
        name = (messages[0].id, messages[-1].id, policy.family, *(thread.id for thread in before))
        return self._leaves.get(name, lambda: make_leaf(messages, before, policy))

    def threads(self, nodes: Sequence[Summary], cap: int) -> tuple[tuple[Thread, ...], int]:
        """What is open at the end of `nodes`, and how many gave way."""
        name = (cap, *(node.id for node in nodes))
        return self._threads.get(name, lambda: open_threads(nodes, cap))

    def unknown(self, passing: Sequence[Summary]) -> list[Summary]:
        """Of the summaries that were made for one context those that were not stored from here yet."""
        return [each for each in passing if each.id not in self._stored]

    def know(self, passing: Sequence[Summary]) -> None:
        """Note that these were stored."""
        self._stored = {each.id for each in passing}
