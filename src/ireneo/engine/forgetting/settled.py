"""Settle anew the memories that lost a source, and those that stood beside one that went."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.engine.forgetting.plan import Plan
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.record import Record
from ireneo.ports.store import Transaction


async def settle_left(tx: Transaction, space: str, plan: Plan, gone: Sequence[Record]) -> None:
    """Settle each key that an erasure has touched, from the evidence that is left under it."""
