"""Choose sentences that together say most: each for what it tells, and for the names that no other has told yet."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

TELLING = 2.0
"""What a sentence is worth for what it tells, against the names in it: a story is read, not looked up."""
AGAIN = 0.2
"""What a name is worth in a further sentence."""
PER_CHARACTERS = 160
"""A sentence of this many characters costs twice as much as an empty one would."""


class Choosable(Struct, frozen=True, kw_only=True):
    """A sentence as it is weighed."""

    worth: float
    """Its own, whatever it names."""
    size: int
    """Characters."""
    names: Mapping[str, float]
    """What the names in it are worth, by the words that make them out."""
    slot: int = 0
    """The part of the time that it tells of."""


def choose(sentences: Sequence[Choosable], most: int, *, slots: int = 1) -> list[int]:
    """The places of the chosen sentences, in order: greedily by what each adds for its size.

    No slot gives more than its even share as long as others have something to tell.
    """
    if len(sentences) <= most:
        return list(range(len(sentences)))
    told: set[str] = set()
    taken: Counter[int] = Counter()
    chosen: list[int] = []
    left = list(range(len(sentences)))
    while left and len(chosen) < most:
        each = max(most // slots, 1) if not chosen else most
        left = _fill(sentences, left, (chosen, taken, told), most, each)
    return sorted(chosen)


def _fill(
    sentences: Sequence[Choosable],
    places: Sequence[int],
    state: tuple[list[int], Counter[int], set[str]],
    most: int,
    each_slot: int,
) -> list[int]:
    """Choose among `places` until there are enough; returns those whose slot was full."""
    chosen, taken, told = state

    def gain(place: int) -> float:
        each = sentences[place]
        names = sum(worth if name not in told else worth * AGAIN for name, worth in each.names.items())
        return (each.worth + names) / (PER_CHARACTERS + each.size)

    heap = [(-gain(place), place) for place in places]
    heapq.heapify(heap)
    left: list[int] = []
    while heap and len(chosen) < most:
        _, place = heapq.heappop(heap)
        if taken[sentences[place].slot] >= each_slot:
            left.append(place)
            continue
        now = -gain(place)
        # What was chosen meanwhile may have made it worth less: then it waits its turn again.
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, place))
            continue
        chosen.append(place)
        taken[sentences[place].slot] += 1
        told.update(sentences[place].names)
    return left
