"""The store in memory: for tests and for what need not last."""

from ireneo.adapters.in_memory.store import InMemoryStore

__all__ = ["InMemoryStore"]
