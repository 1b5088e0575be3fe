"""What a leaf of a story leaves behind: one episode, in the story's own sentences."""

from __future__ import annotations

from datetime import datetime

from ireneo.context.offline.prose import clip
from ireneo.context.summary import Line, Summary
from ireneo.engine.episodes.turns import BASE_SALIENCE, MORE_SALIENCE, MOST_CHARACTERS
from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST


def leaf_offer(session: str, leaf: Summary, at: datetime | None, recorded: datetime) -> Offer | None:
    """The weightiest sentences of a leaf, in the order in which they were told; None where nothing was told.

    `at` is when the last message that it covers was said, where the log says so.
    """
    told = [line for line in leaf.lines("story") if line.text.strip()]
    chosen: list[tuple[Line, str]] = []
    room = MOST_CHARACTERS
    for line in sorted(told, key=lambda line: -line.weight):
        text = clip(line.text, MOST_CHARACTERS)
        if len(text) + 1 <= room or not chosen:
            chosen.append((line, text))
            room -= len(text) + 1
    if not chosen:
        return None
    chosen.sort(key=lambda each: each[0].position)
    opened = bool(leaf.threads.opened)
    return Offer(
        text=" ".join(text for _, text in chosen),
        kind="episodic",
        at=at or recorded,
        timed=at is not None,
        recorded=recorded,
        origin="agent",
        trust=TRUST["agent"],
        salience=BASE_SALIENCE + MORE_SALIENCE * opened,
        session=session,
        messages=tuple(dict.fromkeys(source for line, _ in chosen for source in line.sources)),
        summaries=(leaf.id,),
    )
