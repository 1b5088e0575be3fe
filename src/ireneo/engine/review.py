"""The user's word on a lesson: it is kept as it stands, said in other words, or dropped for good.

Whatever runs show later, it stays so: the word is a piece of evidence like any other, and nothing that is drawn from
runs weighs as much. It names the messages that the lesson was drawn from, so that it goes when these are forgotten.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args

from msgspec.structs import replace

from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.tree import memory_named
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.lessons.relevance import says_the_same
from ireneo.lessons.run import is_ruling
from ireneo.memories.exchange import against, in_favour
from ireneo.memories.record import MemoryDraft, Record, is_kept, project_of, supporting
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

Verdict = Literal["keep", "edit", "drop"]

DROPPED = "It was dropped in a review."
LONGEST = 400
"""Characters of a lesson."""
MOST_MESSAGES = 32
"""Messages that a word names: the first of each run."""


async def review(
    resources: Resources, space: str, id: str, verdict: Verdict, text: str = "", reason: str = ""
) -> Record:
    """Keep, reword or drop a lesson; raises MemoryNotFound, and BadInput for what is no lesson or no verdict."""
    if verdict not in get_args(Verdict):
        raise BadInput(f"`verdict` is {verdict!r}, which is none; give one of {', '.join(get_args(Verdict))}.")
    words = " ".join(resources.cleaning().text(text).split())
    if bool(words) != (verdict == "edit"):
        raise BadInput("Give the new words of a lesson that is edited, and of no other.")
    if len(words) > LONGEST:
        raise BadInput(f"A lesson is one line of at most {LONGEST:,} characters; this has {len(words):,}.")
    why = " ".join(resources.cleaning().text(reason).split()) or DROPPED
    now = resources.clock.now()

    def settle(tx: Transaction) -> Record:
        record = memory_named(tx, space, id)
        if record is None or not record.cue:
            raise MemoryNotFound(f"There is no lesson {id!r} in space {space!r}; `ireneo lessons` shows their ids.")
        if verdict == "drop" or (verdict == "edit" and not is_ruling(record.cue)):
            # The same in other words goes with it, or it would stand there in its place.
            instead = why if verdict == "drop" else f"It is said in the user's own words: {words}"
            twins = [_word(each, now, drop=instead) for each in _twins(tx, space, record)]
            settle_drafts(tx, space, twins, judged=True)
        word = _word(record, now, drop=why if verdict == "drop" else "")
        (done,) = settle_drafts(tx, space, [word], judged=True)
        settled = done.record
        if verdict == "edit" and words != settled.text:
            settled = replace(settled, text=words, drawn=settled.drawn or settled.text)
            tx.memories.put(space, [settled])
        return settled

    return await resources.store.write(settle)


def _word(record: Record, now: datetime, *, drop: str) -> MemoryDraft:
    """The user's word on a lesson: that it is to stay, or why it is to go."""
    firsts = (piece.messages[0] for piece in supporting(record) if piece.messages)
    shown = tuple(dict.fromkeys(firsts))[-MOST_MESSAGES:]
    word = against(record, now, why=drop) if drop else in_favour(record, now)
    # A log may bear times that are still to come here: the word is said of what they show, too.
    at = max(now, *(piece.at for piece in record.evidence))
    return replace(word, at=at, messages=shown, project=_project(record), pinned=record.pinned or not drop)


def _twins(tx: Transaction, space: str, record: Record) -> list[Record]:
    """The lessons of the same project that say the same in other words, and of which nothing was said."""
    listed = tx.memories.list(space, MemoryFilter(states=("active",), lessons=True, archived=False))
    project, said = _project(record), record.drawn or record.text
    others = [each for each in listed if each.id != record.id and not is_kept(each) and _project(each) == project]
    return [each for each in others if says_the_same(record.cue, said, each)]


def _project(record: Record) -> str:
    """The project that a lesson stays with: a word on it is told there."""
    named = {name for piece in supporting(record) if (name := project_of(piece))}
    return next(iter(named)) if len(named) == 1 else ""
