"""A database as the ports see it: queries by name, run inside an open transaction; no driver stands here.

An adapter brings a `Database` over its driver's connection, a `SqlTransaction` that says what the driver's errors mean,
and its queries under the names by which the ports ask for them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from ireneo.adapters.pool import OpenTransaction
from ireneo.patterns import lazy_re

Value: TypeAlias = str | bytes | int | float | None
"""What is bound to a query."""
Bindings: TypeAlias = dict[str, Value]
"""The values for a query's names."""
Row: TypeAlias = tuple[Any, ...]
"""What a query gives, in the order in which it names its columns."""

END = 2**63 - 1
"""The last position that there can be."""

P = ParamSpec("P")
T = TypeVar("T")
Q = TypeVar("Q", bound="Port")


class Database(Protocol):
    """A connection to a database. Each call names a query, and has a value for each of its names."""

    def rows(self, query: str, /, **bindings: Value) -> list[Row]:
        """All that it gives."""

    def scan(self, query: str, /, **bindings: Value) -> Iterator[Row]:
        """The same row by row, of what may be more than one wants to hold."""

    def row(self, query: str, /, **bindings: Value) -> Row | None:
        """The first row that it gives, if any."""

    def number(self, query: str, /, **bindings: Value) -> int:
        """The number that is the first column of the only row that it gives."""

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run what writes; says how many rows it added, replaced or took out."""

    def change_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Run it for each of `rows`."""

    def savepoint(self) -> AbstractContextManager[object]:
        """A block that leaves nothing where it raises."""


class SqlTransaction(OpenTransaction, ABC):
    """All ports over one open transaction; the module of each is loaded when it is first asked for."""

    ports: Mapping[str, tuple[str, str]] = MappingProxyType(
        {
            "log": ("ireneo.adapters.sql.log", "SqlLog"),
            "sessions": ("ireneo.adapters.sql.log", "SqlSessions"),
            "summaries": ("ireneo.adapters.sql.summaries", "SqlSummaries"),
            "rebuilds": ("ireneo.adapters.sql.summaries", "SqlRebuilds"),
            "annotations": ("ireneo.adapters.sql.summaries", "SqlAnnotations"),
            "read_marks": ("ireneo.adapters.sql.summaries", "SqlReadMarks"),
            "spending": ("ireneo.adapters.sql.leases", "SqlSpending"),
            "leases": ("ireneo.adapters.sql.leases", "SqlLeases"),
            "vectors": ("ireneo.adapters.sql.search", "SqlVectors"),
            "memories": ("ireneo.adapters.sql.memories", "SqlMemories"),
            "pads": ("ireneo.adapters.sql.memories", "SqlPads"),
            "runs": ("ireneo.adapters.sql.memories", "SqlRuns"),
            "ledger": ("ireneo.adapters.sql.memories", "SqlLedger"),
            "traps": ("ireneo.adapters.sql.memories", "SqlTraps"),
            "search": ("ireneo.adapters.sql.search", "SqlSearch"),
            "words": ("ireneo.adapters.sql.search", "SqlWords"),
            "upkeep": ("ireneo.adapters.sql.upkeep", "SqlUpkeep"),
            "erasure": ("ireneo.adapters.sql.erasure", "SqlErasure"),
        }
    )
    """The module and the class of each; a database that has a port of its own names it here."""

    def __init__(self, database: Database, *, writes: bool) -> None:
        """Stand on the transaction that was begun on `database`; `writes` says whether it may change anything."""
        super().__init__(writes=writes)
        self.database = database

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (which port it is, its name says)
        """The port of that name, which is made once."""
        if name not in self.ports:
            raise AttributeError(name)
        module, of = self.ports[name]
        port = getattr(import_module(module), of)(self)
        setattr(self, name, port)
        return port

    @abstractmethod
    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work`. Raises StoreError for whatever the driver raises."""


class Port:
    """A port over an open transaction: each of its methods is marked with what it does, `reads` or `writes`."""

    def __init__(self, transaction: SqlTransaction) -> None:
        """Work on an open transaction."""
        self.transaction = transaction
        self._database = transaction.database


def reads(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that reads.

    It raises StoreError once the transaction is over, and for whatever the driver raises.
    """

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check()
        return self.transaction.run(method, self, *args, **kwargs)

    return within


def writes(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """A method of a port that writes: all of it or, where it raises, nothing, so that a caller may catch it and go on.

    It raises StoreError in a transaction that only reads, and as those do that read.
    """

    def whole(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.savepoint():
            result = method(self, *args, **kwargs)
        return result  # noqa: RET504 (mypy can't know that the block swallows nothing)

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check(writes=True)
        return self.transaction.run(whole, self, *args, **kwargs)

    return within


_NAME = lazy_re(r"^-- name: (\w+)\n", re.MULTILINE)
_LIKE = lazy_re(r"-- like: (\w+), where (.+)")
_OF_SPACE = "WHERE space = :space"


def parse_queries(text: str) -> dict[str, str]:
    """Split the text of a .sql file into its queries by name; what stands before the first name is a comment.

    A query may be one above it with a condition more: ``-- like: list_lessons, where stale = 1``.
    """
    _, *pieces = _NAME.split(text)
    queries: dict[str, str] = {}
    for name, body in zip(pieces[0::2], pieces[1::2], strict=True):
        if name in queries:
            raise ValueError(f"two queries are named {name}")
        like = _LIKE.search(body)
        queries[name] = queries[like[1]].replace(_OF_SPACE, f"{_OF_SPACE} AND {like[2]}", 1) if like else body.strip()
    return queries


def load_queries(folder: Path) -> Mapping[str, str]:
    """Read every query of an adapter; a name stands once in all its files together."""
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        queries = parse_queries(file.read_text(encoding="utf-8"))
        if twice := found.keys() & queries.keys():
            raise ValueError(f"two queries are named {', '.join(sorted(twice))}")
        found |= queries
    return MappingProxyType(found)
