"""The open threads of a story: which are kept, and how they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ireneo.language.files import CAPITAL
from ireneo.log.message import short
from ireneo.patterns import lazy_re
from ireneo.summaries.by_hand import HAND_WEIGHT
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadEnd, ThreadId, ThreadKind

# An open thread is carried verbatim until it is resolved. Beyond a cap the least valuable are dropped. A dropped thread
# is counted, and stays in the leaf that opened it.
#
# The value of a thread is its kind's worth times its weight, and decays with the messages since it was opened: debts
# and relations over thousands of messages, questions over a few hundred. A thread that is taken up again in new words
# is reopened and so counts as new.


WORTH: dict[ThreadKind, tuple[float, float]] = {
    "promise": (3.0, 6_000.0),
    "debt": (3.0, 6_000.0),
    "quest": (2.8, 4_000.0),
    "secret": (2.5, 4_000.0),
    "lie": (2.5, 4_000.0),
    "wound": (2.5, 4_000.0),
    "threat": (2.2, 3_000.0),
    "relation": (2.2, 8_000.0),
    "possession": (1.8, 4_000.0),
    "question": (1.5, 500.0),
    "open": (2.2, 4_000.0),
}
"""For each kind: the worth of a new thread, and the messages after which it has halved."""


def follow(before: Sequence[Thread], changes: ThreadChanges, cap: int) -> tuple[tuple[Thread, ...], int]:
    """Return the threads open after a stretch, in order, and how many were dropped, within it or now for the cap.

    `before` are those open at its start, `cap` how many may be open at its end.
    """
    closed = set(changes.closed)
    still = [thread for thread in before if thread.id not in closed]
    kept, dropped = keep_within(list({each.id: each for each in [*still, *changes.opened]}.values()), cap)
    return kept, changes.forgotten + dropped


def join(stretches: Sequence[ThreadChanges], cap: int) -> ThreadChanges:
    """Merge the thread changes of adjacent stretches, the oldest first, as if they were one stretch.

    A thread opened by one and resolved by a later one leaves no trace. Below the cap this is associative. Above it,
    which threads are dropped may depend on the order of merging.
    """
    opened: dict[ThreadId, Thread] = {}
    closed: dict[ThreadId, None] = {}
    ends: dict[ThreadId, ThreadEnd] = {}
    forgotten = 0
    for stretch in stretches:
        ends.update((end.id, end) for end in stretch.ends)
        for name in stretch.closed:
            if opened.pop(name, None) is None:
                closed[name] = None
        opened.update({thread.id: thread for thread in stretch.opened})
        forgotten += stretch.forgotten
    kept, dropped = keep_within(list(opened.values()), cap)
    told = tuple(ends[name] for name in closed if name in ends)
    return ThreadChanges(opened=kept, closed=tuple(closed), forgotten=forgotten + dropped, ends=told)


def keep_within(threads: Sequence[Thread], cap: int) -> tuple[tuple[Thread, ...], int]:
    """Return at most `cap` of `threads`, in their order, and how many were dropped."""
    if len(threads) <= cap:
        return tuple(threads), 0
    chosen = {thread.id for thread in by_value(threads)[: max(cap, 0)]}
    return tuple(thread for thread in threads if thread.id in chosen), len(threads) - len(chosen)


def by_value(threads: Iterable[Thread]) -> list[Thread]:
    """Return the threads by their value at the position of the newest, the highest first; of equals the older first."""
    row = list(threads)
    now = max((thread.position for thread in row), default=0)
    return sorted(row, key=lambda thread: (-_value_at(thread, now), thread.position, thread.id))


def _value_at(thread: Thread, now: int) -> float:
    worth, half = WORTH[thread.kind]
    return worth * thread.weight / (1.0 + (now - thread.position) / half)


_SPOKEN = lazy_re(rf"{CAPITAL}[\w .'’-]{{0,40}}: [^ ]")
"""Words that say themselves who speaks."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""


def render_thread(thread: Thread) -> str:
    """Render a thread as one line: its kind, its people, its text, and its message."""
    words = " ".join(thread.text.split())
    # A thread written by a model names its people in the text, and one whose people aren't known says who speaks.
    named = thread.who in words and thread.whom in words
    quoted = words if thread.weight >= HAND_WEIGHT or (named and _SPOKEN.match(words)) else f"“{words}”"
    said = f"{thread.kind}: {quoted}" if named else f"{thread.kind} · {_render_parties(thread)}: {quoted}"
    return f"{said} · {short(thread.source)}" if thread.source else said


def thread_lines(threads: Sequence[Thread], forgotten: int, room: int, count: Count) -> list[str]:
    """Return the lines for `threads`, in their order, in at most `room` tokens.

    If they don't all fit, the most valuable are shown, and a line says how many more there are, and of which kinds;
    `forgotten` is how many were dropped before. Empty if there is no room for anything.
    """
    let_go = f"({forgotten} older ones were let go; open the story to find them.)" if forgotten > 0 else ""
    lines = {thread.id: f"- {render_thread(thread)}" for thread in threads}
    costs = {name: count(line) + 1 for name, line in lines.items()}
    left = room - (count(let_go) + 1 if let_go else 0)
    if sum(costs.values()) > left:
        left -= count(_omission_note(threads)) + 1
    chosen = set()
    for thread in by_value(threads):
        if costs[thread.id] <= left:
            left -= costs[thread.id]
            chosen.add(thread.id)
    if not chosen:
        return []
    rest = _omission_note([thread for thread in threads if thread.id not in chosen])
    return [*(line for name, line in lines.items() if name in chosen), *filter(None, (rest, let_go))]


def _omission_note(left: Sequence[Thread]) -> str:
    """Say how many threads were left out, of which kinds, and where they can be found."""
    kinds = Counter("other" if thread.kind == "open" else thread.kind for thread in left)
    told = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in kinds.most_common())
    return f"({len(left)} more open threads, older or less telling, have no room here: {told}.)" if left else ""


def _render_parties(thread: Thread) -> str:
    if thread.whom:
        return f"{thread.who} → {thread.whom}" if thread.who else f"to {thread.whom}"
    return thread.who
