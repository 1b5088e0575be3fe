"""Which threads are open after a stretch of a story, and which give way where too many are.

An open thread is carried word for word until it is resolved. Only so many can be: beyond the cap the least weighty
are forgotten. A forgotten thread is counted, and the leaf that it was opened in still has it.

**Who gives way.** A thread is worth its kind's worth times its weight, and that fades with the messages since it was
opened. Debts and promises fade over thousands of messages, questions over a few hundred. A thread that is taken up
again in new words is opened anew and so is young again; a question that nobody takes up fades first. While others
want the room, no kind has more than half of it and no pair of people more than a quarter: one loud quarrel doesn't
push out all else. What room is then left goes by worth again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ireneo.context.thread import Thread, ThreadId, ThreadKind, Threads

WORTH: dict[ThreadKind, tuple[float, float]] = {
    "promise": (3.0, 6_000.0),
    "debt": (3.0, 6_000.0),
    "wound": (2.5, 4_000.0),
    "secret": (2.5, 4_000.0),
    "question": (1.5, 500.0),
}
"""Of each kind: what a thread that was just opened is worth, and after how many messages it is worth half of that."""
KIND_SHARE = 0.5
"""Of the room, what one kind may have while others want it."""
PAIR_SHARE = 0.25
"""Of the room, what the threads between the same two people may have while others want it."""


def follow(before: Sequence[Thread], changes: Threads, cap: int) -> tuple[tuple[Thread, ...], int]:
    """What is open after a stretch, in order, and how many had to be forgotten: within it, and now for the cap.

    `before` is what was open at its beginning, `cap` how many may be open at its end.
    """
    closed = set(changes.closed)
    still = [thread for thread in before if thread.id not in closed]
    kept, dropped = within(_once([*still, *changes.opened]), cap)
    return kept, changes.forgotten + dropped


def join(stretches: Sequence[Threads], cap: int) -> Threads:
    """What became of threads within adjacent stretches, the oldest first, as if they were one stretch.

    What one of them opened and a later one resolved leaves no trace. Below the cap it doesn't matter which neighbours
    are joined first. Above it, what is forgotten may differ: a late joining sees more that was resolved meanwhile.
    """
    opened: dict[ThreadId, Thread] = {}
    closed: dict[ThreadId, None] = {}
    forgotten = 0
    for stretch in stretches:
        for name in stretch.closed:
            if opened.pop(name, None) is None:
                closed[name] = None
        opened.update({thread.id: thread for thread in stretch.opened})
        forgotten += stretch.forgotten
    kept, dropped = within(list(opened.values()), cap)
    return Threads(opened=kept, closed=tuple(closed), forgotten=forgotten + dropped)


def within(threads: Sequence[Thread], cap: int) -> tuple[tuple[Thread, ...], int]:
    """Those of `threads` that may stay where only `cap` can, in their order, and how many must go."""
    if len(threads) <= cap:
        return tuple(threads), 0
    chosen = _seated(threads, max(cap, 0))
    return tuple(thread for thread in threads if thread.id in chosen), len(threads) - len(chosen)


def weightiest(threads: Iterable[Thread]) -> list[Thread]:
    """The threads by what they are worth at the newest of them, the worthiest first; of equals the older first."""
    row = list(threads)
    now = max((thread.position for thread in row), default=0)
    return sorted(row, key=lambda thread: (-_worth(thread, now), thread.position, thread.id))


def _seated(threads: Sequence[Thread], cap: int) -> set[ThreadId]:
    """The ids of those that may stay: by worth, but that neither a kind nor a pair of people takes all the room."""
    kinds: Counter[ThreadKind] = Counter()
    pairs: Counter[frozenset[str]] = Counter()
    seated: dict[ThreadId, None] = {}
    waiting: list[ThreadId] = []
    for thread in weightiest(threads):
        pair = frozenset((thread.who, thread.whom)) - {""}
        # Of nobody in particular there may be many: that they are said of the same people is not known.
        crowds = bool(pair) and pairs[pair] >= max(1, int(cap * PAIR_SHARE))
        if crowds or kinds[thread.kind] >= max(1, int(cap * KIND_SHARE)):
            waiting.append(thread.id)
            continue
        pairs[pair] += 1
        kinds[thread.kind] += 1
        seated[thread.id] = None
    return set([*seated, *waiting][:cap])


def _worth(thread: Thread, now: int) -> float:
    worth, half = WORTH[thread.kind]
    return worth * thread.weight / (1.0 + (now - thread.position) / half)


def _once(threads: Iterable[Thread]) -> list[Thread]:
    """Each thread once, where it stands first."""
    out: dict[ThreadId, Thread] = {}
    for thread in threads:
        out.setdefault(thread.id, thread)
    return list(out.values())
