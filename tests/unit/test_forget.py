"""What goes when something is forgotten, and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from ireneo import Draft, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite import open_sqlite
from ireneo.context.policy import Policy
from ireneo.engine.means import Means
from ireneo.errors import BadInput, MessageNotFound, NotFound, SessionNotFound
from ireneo.log.branch import SessionKey
from ireneo.log.erased import ERASED
from ireneo.log.message import Native, Text
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import Wanted
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock
from tests.unit.forgetting_material import NOON, fact, said, told

TINY = Policy(
    name="tiny", leaf_min_atoms=2, leaf_max_atoms=4, leaf_max_tokens=1_500, fan_in=2, goal_min_turns=2, goal_max_turns=3
)
