"""Where a turn was worked, as far as the log that it came from tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ireneo.engine.episodes.turns import DIRECTORY
from ireneo.log.branch import SessionKey
from ireneo.log.message import Draft, MessageId
from ireneo.ports.transition import Transaction


async def places(tx: Transaction, key: SessionKey, messages: list[MessageId]) -> Mapping[MessageId, Mapping[str, str]]:
    """The directory in which each of `messages` was said; those of which no log tells are left out."""
    natives = await tx.log.natives(key, messages)
    found = {name: next(_directories(draft), "") for name, draft in natives.items()}
    return {name: {DIRECTORY: directory} for name, directory in found.items() if directory}


def _directories(draft: Draft) -> Iterator[str]:
    payload = draft.record.payload if draft.record else None
    for entry in payload if isinstance(payload, (list, tuple)) else (payload,):
        if isinstance(entry, Mapping) and isinstance(directory := entry.get(DIRECTORY), str) and directory:
            yield directory
