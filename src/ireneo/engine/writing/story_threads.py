"""What became of threads: what a model says of them, beside what rules found.

A model is better than rules at telling a promise from a figure of speech. So where its reply is trusted, its threads
stand, and of those by rules only the ones that are surely threads. What it was shown and did not call resolved stays
open: a thread that is carried too long costs a line, one that is closed too early is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.thread import Thread, ThreadId, Threads, thread_id
from ireneo.engine.writing.story_finder import Finder, content_words
from ireneo.log.ids import SHORT, short
from ireneo.prompts.story.reply import ThreadSaid

SURE = 1.5
"""A thread that rules found stands beside a model's from this weight on; a model's own weighs as much."""
ALIKE, ALIKE_BETWEEN_KINDS = 0.5, 0.75
"""With this share of the words of the shorter one, two threads are one; of different kinds only with more."""
_KIND_WORDS = content_words(
    "promise promised promises vow vowed swore sworn debt owes owed secret hides hidden keeps wound wounded hurt"
    " question asked wonders whether that this with from will would have they them their"
)
"""Words that many threads of a kind have, whatever they are about."""

_NO_ID = ThreadId("")


class Followed(Struct, frozen=True, kw_only=True):
    """What became of the threads of a stretch."""

    threads: Threads
    notes: tuple[str, ...]
    """What of the reply was left out, and is no reason to ask again."""


def follow(
    said: Sequence[ThreadSaid], resolved: Sequence[str], shown: Sequence[Thread], offline: Threads, finder: Finder
) -> Followed:
    """Settle what was `said` of threads that a stretch opens and `resolved` of those that were `shown` as open."""
    notes: list[str] = []
    opened: list[Thread] = []
    for each in said:
        thread = _thread(each, offline, finder)
        if any(alike(thread, other) for other in shown):
            notes.append(f"The thread “{thread.text}” is open already.")
        elif not any(alike(thread, other) for other in opened):
            opened.append(thread)
    opened += [
        thread for thread in offline.opened if thread.weight >= SURE and not any(alike(thread, one) for one in opened)
    ]
    closed, unknown = _closed(resolved, shown)
    notes += [f"No open thread is called {name!r}." for name in unknown]
    seen = {thread.id for thread in shown}
    closed += [name for name in offline.closed if name not in seen]
    return Followed(
        threads=Threads(
            opened=tuple(sorted(opened, key=lambda thread: thread.position)),
            closed=tuple(closed),
            forgotten=offline.forgotten,
        ),
        notes=tuple(notes),
    )


def alike(one: Thread, other: Thread) -> bool:
    """Whether two threads are the same one in other words."""
    if one.text.casefold() == other.text.casefold():
        return True
    people, others = _people(one), _people(other)
    if people and others and not people & others:
        return False
    left = content_words(one.text) - _KIND_WORDS - people - others
    right = content_words(other.text) - _KIND_WORDS - people - others
    if not left or not right:
        return False
    needed = ALIKE if one.kind == other.kind else ALIKE_BETWEEN_KINDS
    return len(left & right) >= needed * min(len(left), len(right))


def _people(thread: Thread) -> frozenset[str]:
    return content_words(f"{thread.who} {thread.whom}")


def _thread(said: ThreadSaid, offline: Threads, finder: Finder) -> Thread:
    text, who, whom = (" ".join(each.split()) for each in (said.text, said.who, said.whom))
    rests = finder.rests(f"{text} {who} {whom}")[:1]
    source = rests[0].sources[-1] if rests and rests[0].sources else None
    position = rests[0].position if rests else 0
    found = Thread(id=_NO_ID, kind=said.kind, text=text, who=who, whom=whom, weight=SURE)
    # Rules know for certain where they found it.
    known = next((other for other in offline.opened if other.source and alike(found, other)), None)
    if known is not None:
        source, position = known.source, known.position
    weight = max(SURE, known.weight) if known else SURE
    return replace(found, id=thread_id(said.kind, text, source), position=position, source=source, weight=weight)


def _closed(resolved: Sequence[str], shown: Sequence[Thread]) -> tuple[list[ThreadId], list[str]]:
    """The full ids of what was resolved, and the names that no open thread has."""
    closed: dict[ThreadId, None] = {}
    unknown: list[str] = []
    for name in resolved:
        bare = name.strip(" []()`'\".,").split()[0] if name.strip(" []()`'\".,") else ""
        meant = [thread.id for thread in shown if thread.id == bare or (short(thread.id) == bare[:SHORT] == bare)]
        if len(meant) == 1:
            closed[meant[0]] = None
        elif name.strip():
            unknown.append(name)
    return list(closed), unknown
