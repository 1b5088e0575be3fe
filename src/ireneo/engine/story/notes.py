"""What stands in a story word for word: what binds, and the threads that are open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.context.thread import Thread
from ireneo.engine.story.path import StoryPath, open_threads
from ireneo.engine.story.reading import StoredReading
from ireneo.engine.texts import best_texts
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice
from ireneo.pyramid.nodes import is_answered, settings

Followed: TypeAlias = tuple[tuple[Thread, ...], int]
"""Open threads, and how many gave way to weightier ones."""


async def story_notes(
    tx: Transaction, key: SessionKey, head: Head, terms: Terms, voice: Voice
) -> tuple[Sequence[Summary | Message], tuple[Thread, ...]]:
    """The summaries and newest messages of the path to `head`, which hold what binds, and the open threads."""
    path = StoryPath(StoredReading(tx, key, head, terms.policy), terms.policy)
    grown = await path.grow(0)
    texts = await best_texts(tx, key, grown.nodes, terms, voice, None)
    threads, _ = standing_threads(texts, terms)
    fresh = grown.fresh if is_answered(grown.fresh) else ()
    return (*grown.system, *texts, *fresh), threads


def standing_threads(
    texts: Sequence[Summary], terms: Terms, following: Callable[[Sequence[Summary], int], Followed] = open_threads
) -> Followed:
    """The threads that are open at the end of adjacent summaries and were not released by hand, and how many gave way.

    One that was released is held to be resolved, whatever the story says. `following` may have them at hand.
    """
    released = {note.about for note in terms.notes if note.kind == "release"}
    threads, forgotten = following(texts, settings(terms.policy).open_threads)
    return tuple(each for each in threads if each.id not in released), forgotten
