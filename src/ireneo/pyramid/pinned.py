"""What a story's context shows word for word: the constraints that stand, and the threads that are open."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.pinned import pin_block, written
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.context.thread import Thread
from ireneo.context.view import Shown
from ireneo.log.message import PINS_TAG
from ireneo.pyramid.thread_block import thread_lines

THREADS_SHARE = 0.25
"""Of a context, what open threads may take."""
HEADING = "Open threads, word for word:"


def story_pins(
    nodes: Sequence[Summary], threads: Sequence[Thread], forgotten: int, said: Sequence[str], terms: Terms
) -> Shown | None:
    """The constraints and threads of the summaries in one block, but for what stands in the texts `said`."""
    pins = pin_block(nodes, said, terms, terms.budget)
    lines = thread_lines(threads, forgotten, int(terms.budget * THREADS_SHARE), terms.count)
    if not lines:
        return pins
    text = "\n".join([f"{pins.text}\n" if pins else PINS_TAG, HEADING, *lines])
    text = text.replace(f"{PINS_TAG}\n{HEADING}", f"{PINS_TAG} {HEADING}")
    sources = [thread.source for thread in threads if thread.source]
    first, last = (sources[0], sources[-1]) if sources else ("", "")
    return written(text, "pins", terms.count, pins.first if pins else first, last)
