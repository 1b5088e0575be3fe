"""Which summaries of a story are shown, and which are merged: a count of the leaves, in base `fan_in`.

The oldest adjacent summaries of a depth are merged as soon as there are more than `limit` of it. So the summary number
k of depth d covers the leaves from k·f^(d-1) to before (k+1)·f^(d-1), with f the fan-in, on every path and in every
process; and of n leaves some `limit`·log(n) summaries are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.policy import Pyramid


def shown_depths(leaves: int, pyramid: Pyramid) -> list[int]:
    """The depths of the summaries that so many leaves are shown as, from the oldest to the newest."""
    out: list[int] = []
    depth, count = 1, leaves
    while count:
        merged = -(-max(count - pyramid.limit, 0) // pyramid.fan_in)
        out = [*[depth] * (count - merged * pyramid.fan_in), *out]
        depth, count = depth + 1, merged
    return out


def finest(leaves: int, blocks: int, pyramid: Pyramid) -> Pyramid:
    """The same pyramid with the highest limit at which so many leaves are shown as `blocks` summaries at the most.

    A wide context has room for more than the limit of each depth: there the past is shown more finely.
    """
    low, high = pyramid.limit, max(leaves, pyramid.limit)
    while low < high:
        middle = (low + high + 1) // 2
        if len(shown_depths(leaves, replace(pyramid, limit=middle))) <= blocks:
            low = middle
        else:
            high = middle - 1
    return replace(pyramid, limit=low)


def due_merge(depths: Sequence[int], pyramid: Pyramid) -> int | None:
    """The place of the first of the `fan_in` summaries that are to be merged next; None where no depth has too many.

    `depths` are those of a row from its oldest summary to its newest, which never grow.
    """
    for depth in sorted(set(depths)):
        if depths.count(depth) > pyramid.limit:
            return depths.index(depth)
    return None


def leaves_at(depth: int, pyramid: Pyramid) -> int:
    """How many leaves a summary of this depth covers."""
    return int(pyramid.fan_in ** (depth - 1))
