"""Whether messages are covered twice: by two summaries of one family and depth on one path."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.summary import Summary
from ireneo.engine.doctor.finding import Found, named, stretch_of
from ireneo.engine.doctor.summaries import Shelf, above_of, broken, is_running
from ireneo.log.branch import Head, SessionKey
from ireneo.ports.transition import Transaction


async def check_doubles(tx: Transaction, key: SessionKey, heads: Sequence[Head], shelf: Shelf) -> list[Found]:
    """Which summaries cover each other's messages along the branches that stand on `heads`."""
    kinds = sorted({(each.family, each.depth) for each in shelf.canonical if not is_running(each)})
    above = above_of(shelf)
    found: dict[tuple[str, str], Found] = {}
    for head in heads:
        for family, depth in kinds:
            spans = await tx.summaries.spans(key, head.id, family, depth)
            row = [shelf.there[span.id] for span in spans if span.id in shelf.there]
            for one, other in _overlapping(row):
                text = (
                    f"Summaries {named(one)} and {named(other)} both cover "
                    f"{stretch_of(other.first_position, min(one.last_position, other.last_position))}."
                )
                found.setdefault((one.id, other.id), broken([one.id, other.id], text, key, above))
    return list(found.values())


def _overlapping(row: Sequence[Summary]) -> list[tuple[Summary, Summary]]:
    """The pairs of one level that cover the same messages, of a row in the order of their first positions.

    Two that begin together are none: where another branch went its own way, it ended a block early, and the wider one
    takes its place.
    """
    out: list[tuple[Summary, Summary]] = []
    furthest: dict[str, Summary] = {}
    for summary in row:
        before = furthest.get(summary.level)
        if before is None or summary.last_position > before.last_position:
            furthest[summary.level] = summary
        apart = before is None or summary.first_position in (before.first_position, before.last_position + 1)
        if before is not None and not apart and summary.first_position <= before.last_position:
            out.append((before, summary))
    return out
