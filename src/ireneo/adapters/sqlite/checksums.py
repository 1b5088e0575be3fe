"""Checksums of rows: a byte that changed by itself is told from what was stored.

SQLite sees to it that a page can be read, and not that it holds what was written. So each row that says something
carries a CRC-32 of its columns, which no change of a single byte escapes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import msgspec

Value = str | bytes | int | None
"""What is bound to a query."""

COVERED: Mapping[str, tuple[str, ...]] = {
    "messages": (
        *("key", "segment", "position", "id", "parent", "role", "origin", "turn", "tokens", "thinking_tokens"),
        *("total_tokens", "at", "source_id", "joined", "parts", "erased"),
    ),
    "branches": ("key", "branch", "segment", "position"),
    "summaries": ("key", "id", "family", "segment", "first_position", "last_position", "depth", "record"),
    "annotations": ("key", "id", "segment", "at_position", "record"),
    "memories": (
        *("space", "id", "kind", "key", "state", "archived", "subject", "task_type", "at", "recorded"),
        *("unreflected", "stale", "cue", "record"),
    ),
    "pads": ("space", "task", "written", "record"),
    "runs": ("space", "session", "head", "ended", "record"),
    "sightings": ("space", "session", "cue", "at", "category", "project", "held", "broke", "tokens", "record"),
    "vectors": ("key", "document", "vector"),
}
"""What the checksum of a row covers, by the names under which it is written, in the order in which
`ROWS` gives them."""


ROWS: Mapping[str, str] = {
    "messages": "rows_of_messages",
    "payloads": "rows_of_payloads",
    "branches": "rows_of_branches",
    "summaries": "rows_of_summaries",
    "annotations": "rows_of_annotations",
    "memories": "rows_of_memories",
    "pads": "rows_of_pads",
    "runs": "rows_of_runs",
    "sightings": "rows_of_sightings",
    "vectors": "rows_of_vectors",
}
"""The query that reads all rows of a table. Payloads have a checksum of their own inside."""


def checksum(values: Sequence[Value]) -> int:
    """The checksum of a row: of its values as bytes, in order."""
    return zlib.crc32(msgspec.msgpack.encode([_bytes(value) for value in values]))


def with_checksum(table: str, row: Mapping[str, Value]) -> dict[str, Value]:
    """`row` as it is written, with its checksum."""
    return {**row, "checksum": checksum([row[name] for name in COVERED[table]])}


def _bytes(value: Value) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    # A truth value is written as a number.
    return value.encode() if isinstance(value, str) else str(int(value)).encode()
