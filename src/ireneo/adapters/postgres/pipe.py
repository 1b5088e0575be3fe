"""A connection in a transaction: what writes waits to be sent along with the next query whose answer is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

import psycopg

from ireneo.adapters.sql.database import Row, Value

Bound: TypeAlias = Mapping[str, Value]
"""The values for a query's names."""
MOST_WAITING = 100
"""So many rows wait at most."""
FEW = 20
"""More rows of one query are sent by what the driver has for that: each takes less, and a round trip comes to it."""


class Pipe:
    """The queries of one transaction, in their order, in fewer round trips than there are queries.

    What is wrong with one that waited shows with the next answer, and with the commit at the latest: the server passes
    over all that was sent behind it.
    """

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        """Work on a connection."""
        self.connection = connection
        self._waiting: list[tuple[str, Sequence[Bound]]] = []
        self._is_lost = False
        """Whether something that waited could not even be sent, so that nothing of the transaction may be kept."""
        self._savepoints = 0
        self._may_copy: bool | None = None

    def send(self, query: str, rows: Sequence[Bound] = ({},)) -> None:
        """Have a query wait, for each of `rows`. Raises UnicodeEncodeError for a text that can't be written."""
        for bound in rows:
            for value in bound.values():
                if isinstance(value, str) and not value.isascii():
                    # Whoever sent it hears of it, and not whoever asks next.
                    value.encode()
        self._waiting.append((query, rows))
        if sum(len(each) for _, each in self._waiting) > MOST_WAITING:
            self._exchange("", ())

    def execute(self, query: str, bound: Bound) -> psycopg.Cursor[Row]:
        """Run a query, behind all that waits."""
        if not self._waiting and not self._is_lost:
            return self.connection.execute(query, bound)
        return self._exchange(query, [bound])[0]

    def each(self, query: str, rows: Sequence[Bound]) -> list[psycopg.Cursor[Row]]:
        """Run a query for each of `rows`, behind all that waits."""
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
            # What comes of the others says nothing more, and some may not have been sent.
            self._is_lost = True
            with suppress(psycopg.Error):
                pipeline.__exit__(None, None, None)
            raise
        pipeline.__exit__(None, None, None)
        return answers

    def may_copy(self) -> bool:
        """Whether this role may copy: a server lets none do so whose rows it looks at one by one."""
        if self._may_copy is None:
            row = self.execute("SELECT row_security_active('messages')", {}).fetchone()
            self._may_copy = row is not None and not row[0]
        return self._may_copy

    def copy(self, statement: bytes, rows: Iterable[Sequence[object]]) -> None:
        """Copy rows into a table, behind all that waits."""
        self._exchange("", ())
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that leaves nothing where it raises. One in which nothing was sent costs nothing."""
        # Of its own name: where one was never made, since something before it failed, the server must not go back to
        # another one.
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
        """Go back to a savepoint. Raises `fault` where it was never made, since something before it failed."""
        # What waits belongs to what is taken back, and so does what could not be sent.
        self._is_lost = False
        self._waiting = [(f"ROLLBACK TO {name}", ({},)), (f"RELEASE {name}", ({},))]
        try:
            self._exchange("", ())
        except psycopg.errors.InvalidSavepointSpecification:
            self._is_lost = True
            raise fault from None
