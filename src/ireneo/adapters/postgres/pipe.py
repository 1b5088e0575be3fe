"""The queries of a transaction in few round trips: writes are queued until an answer is needed, or sent by COPY."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

import psycopg
from msgspec import Struct

from ireneo.adapters.sql.database import Row, Value
from ireneo.patterns import lazy_re

LEAST_COPIED = 50
"""From this many rows on COPY is used; fewer are inserted, which can be queued."""

_INSERT = lazy_re(r"INSERT INTO ([a-z_]++) \(([a-z_,\s]++)\)\s++VALUES \(((?:[^;()]++|\([^;()]*+\))++)\);\Z")
_COMMENT = lazy_re(r"(?m)^--.*+\n")
_VALUE = lazy_re(r"(string_to_array\()?:([a-z_]++)(?(1), ' '\))(?:,\s++|\s*+\Z)")


class Copied(Struct, frozen=True):
    """An INSERT statement converted to COPY."""

    statement: bytes
    names: Sequence[tuple[str, bool]]
    """The parameter of each column, and whether its text has to be split into a list."""

    def rows(self, bound: Iterable[Mapping[str, Value]]) -> Iterator[list[Value | list[str]]]:
        """The values to copy for each row."""
        for row in bound:
            yield [str(row[name]).split(" ") if is_list else row[name] for name, is_list in self.names]


def as_copy(query: str) -> Copied | None:
    """Convert a query to COPY; None if it is not a plain INSERT of its parameters."""
    found = _INSERT.match(_COMMENT.sub("", query))
    if found is None:
        return None
    table, columns, values = (each.strip() for each in found.groups())
    names = [(match[2], match[1] is not None) for match in _VALUE.finditer(values)]
    if "".join(match[0] for match in _VALUE.finditer(values)) != values or len(names) != columns.count(",") + 1:
        return None
    return Copied(f"COPY {table} ({columns}) FROM STDIN".encode(), names)


Bound: TypeAlias = Mapping[str, Value]
"""The values of a query's parameters."""
MOST_WAITING = 100
"""The most rows that are queued."""
FEW = 20
"""More rows of one query are sent with `executemany`: less work for each, and one more round trip."""


class Pipe:
    """The queries of one transaction, in order, in fewer round trips than queries.

    An error of a queued statement is raised with the next answer, at the latest with the commit; the server skips all
    statements after it.
    """

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        """Use a connection."""
        self.connection = connection
        self._waiting: list[tuple[str, Sequence[Bound]]] = []
        self._is_lost = False
        """Whether a queued statement could not be sent, so that the transaction must not be committed."""
        self._savepoints = 0
        self._may_copy: bool | None = None

    def send(self, query: str, rows: Sequence[Bound] = ({},)) -> None:
        """Queue a statement for each of `rows`. Raises UnicodeEncodeError for a text that can't be encoded."""
        for bound in rows:
            for value in bound.values():
                if isinstance(value, str) and not value.isascii():
                    # Raise here, and not at the next query.
                    value.encode()
        self._waiting.append((query, rows))
        if sum(len(each) for _, each in self._waiting) > MOST_WAITING:
            self._exchange("", ())

    def execute(self, query: str, bound: Bound) -> psycopg.Cursor[Row]:
        """Run a query after all queued statements."""
        if not self._waiting and not self._is_lost:
            return self.connection.execute(query, bound)
        return self._exchange(query, [bound])[0]

    def each(self, query: str, rows: Sequence[Bound]) -> list[psycopg.Cursor[Row]]:
        """Run a query for each of `rows`, after all queued statements."""
        if len(rows) < 2:
            return [self.execute(query, bound) for bound in rows]
        return self._exchange(query, rows)

    def _exchange(self, query: str, rows: Sequence[Bound]) -> list[psycopg.Cursor[Row]]:
        if self._is_lost:
            raise psycopg.errors.InFailedSqlTransaction("something before it failed")
        waiting, self._waiting = self._waiting, []
        pipeline = self.connection.pipeline()
        pipeline.__enter__()
        try:
            for each, asked in waiting:
                if len(asked) > FEW:
                    with self.connection.cursor() as cursor:
                        cursor.executemany(each, asked)
                    continue
                for bound in asked:
                    self.connection.execute(each, bound)
            answers = [self.connection.execute(query, bound) for bound in rows]
        except BaseException:
            # The results of the others are irrelevant, and some may not have been sent.
            self._is_lost = True
            with suppress(psycopg.Error):
                pipeline.__exit__(None, None, None)
            raise
        pipeline.__exit__(None, None, None)
        return answers

    def may_copy(self) -> bool:
        """Whether this role may use COPY, which is not allowed where row security applies."""
        if self._may_copy is None:
            row = self.execute("SELECT row_security_active('messages')", {}).fetchone()
            self._may_copy = row is not None and not row[0]
        return self._may_copy

    def copy(self, statement: bytes, rows: Iterable[Sequence[object]]) -> None:
        """Copy rows into a table, after all queued statements."""
        self._exchange("", ())
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that is rolled back if it raises. Without a statement inside it costs nothing."""
        # Unique names: if this savepoint was not created because of an earlier error, the server must not go back to
        # another one of the same name.
        self._savepoints += 1
        name = f"before_{self._savepoints}"
        begin: tuple[str, Sequence[Bound]] = (f"SAVEPOINT {name}", ({},))
        self._waiting.append(begin)
        try:
            yield
        except BaseException as fault:
            if begin in self._waiting:
                del self._waiting[self._waiting.index(begin) :]
            elif not self.connection.closed:
                self._go_back(name, fault)
            raise
        if self._waiting and self._waiting[-1] == begin:
            self._waiting.pop()
        else:
            self._waiting.append((f"RELEASE {name}", ({},)))

    def _go_back(self, name: str, fault: BaseException) -> None:
        """Roll back to a savepoint. Raises `fault` if it was never created because of an earlier error."""
        # Whatever is queued, or could not be sent, is part of what is rolled back.
        self._is_lost = False
        self._waiting = [(f"ROLLBACK TO {name}", ({},)), (f"RELEASE {name}", ({},))]
        try:
            self._exchange("", ())
        except psycopg.errors.InvalidSavepointSpecification:
            self._is_lost = True
            raise fault from None
