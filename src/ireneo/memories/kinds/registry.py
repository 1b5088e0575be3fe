"""The four kinds, by name."""

from __future__ import annotations

from ireneo.memories.kinds.episodic import EPISODIC
from ireneo.memories.kinds.failure import FAILURE
from ireneo.memories.kinds.procedural import PROCEDURAL
from ireneo.memories.kinds.row import KindRow
from ireneo.memories.kinds.semantic import SEMANTIC
from ireneo.memories.record import Kind

KINDS: dict[Kind, KindRow] = {row.name: row for row in (EPISODIC, SEMANTIC, PROCEDURAL, FAILURE)}
"""What each kind differs in."""
