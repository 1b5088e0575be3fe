"""Reads the history of facts: what was true then, and what we believed then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ireneo.engine.means import Means
from ireneo.errors import BadInput
from ireneo.memories.facts import Fact, facts
from ireneo.memories.likeness import slot
from ireneo.memories.record import Record
from ireneo.ports.memories import Wanted


async def history(
    means: Means,
    space: str,
    subject: str,
    attribute: str | None = None,
    *,
    at: datetime | None = None,
    believed_at: datetime | None = None,
) -> list[Fact]:
    """The facts about a subject, or about one of its attributes: slot by slot, each by when it began.

    With `at` what was true at that moment, with `believed_at` as we believed at that one. Raises BadInput where a time
    has no zone, or no subject is given.
    """
    if not subject.strip():
        raise BadInput("The subject is empty; say whose history is wanted.")
    for name, moment in (("at", at), ("believed_at", believed_at)):
        if moment is not None and moment.utcoffset() is None:
            raise BadInput(f"`{name}` has no zone; give it one, such as `tzinfo=timezone.utc`.")
    async with means.store.read() as tx:
        if attribute:
            records = await tx.memories.of_key(space, "semantic", slot(subject, attribute))
        else:
            records = await tx.memories.list(space, Wanted(kind="semantic", subject=subject))
    return [
        fact
        for _, together in sorted(_by_key(records).items())
        for fact in facts(together, at=at, believed_at=believed_at)
    ]


def _by_key(records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for each in records:
        found.setdefault(each.key, []).append(each)
    return found
