"""From what a deep summary is written: a fact dies by being retold, so from what was retold least.

A summary of depth d could be written from the summaries of any depth below it. It is written from those of the least
depth that fit into the summariser's window together: from the leaves, as long as they do. With a window of w summaries
and a fan-in of f a summary of depth d is then retold 1 + ⌈(d - 1) / ⌊log_f w⌋⌉ times, against n / 150 times for a
summary that is folded again and again.
"""

from __future__ import annotations

from ireneo.context.policy import Pyramid

TOLD_TOKENS = 340
"""What a summary of 250 words costs, with what is said about it."""


def source_depth(depth: int, pyramid: Pyramid) -> int:
    """The depth of the summaries that one of `depth` is written from, at least 2."""
    fits = max(pyramid.window_tokens // TOLD_TOKENS, pyramid.fan_in)
    below = depth - 1
    while below > 1 and pyramid.fan_in ** (depth - below + 1) <= fits:
        below -= 1
    return below


def retellings(depth: int, pyramid: Pyramid) -> int:
    """How many times the least lucky message under a summary of `depth` has been retold to make it."""
    return 1 if depth <= 1 else 1 + retellings(source_depth(depth, pyramid), pyramid)
