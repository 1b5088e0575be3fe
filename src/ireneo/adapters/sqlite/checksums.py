"""Checksums of rows: a byte that changed by itself is told from what was stored.

SQLite sees to it that a page can be read, and not that it holds what was written. So each row that says something
carries a CRC-32 of its columns, which no change of a single byte escapes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from operator import itemgetter

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
}
"""What the checksum of a row covers, by the names under which it is written, in the order in which `ROWS` gives them.
That of a vector covers its set, its document and itself."""


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


_BETWEEN = "\x1f"
_NOTHING = str(None).encode()
_VALUES = {table: itemgetter(*names) for table, names in COVERED.items()}
_WRITTEN = {table: _BETWEEN.join(["%s"] * len(names)) for table, names in COVERED.items()}


def checksum(values: Sequence[bytes | None]) -> int:
    """The checksum of a row, by its columns as bytes, in order: numbers in digits, as SQLite gives them."""
    return zlib.crc32(_BETWEEN.encode().join([_NOTHING if value is None else value for value in values]))


def with_checksum(table: str, row: Mapping[str, Value]) -> dict[str, Value]:
    """`row` as it is written, with its checksum; it holds no bytes and no truth values."""
    # The same as above, in one step for all columns: there are as many rows as messages.
    return {**row, "checksum": zlib.crc32((_WRITTEN[table] % _VALUES[table](row)).encode())}
