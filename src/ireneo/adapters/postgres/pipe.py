"""A connection in a transaction: what is asked goes out at once, and is waited for where the answer is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import psycopg

from ireneo.adapters.sql.database import Row


class Pipe:
    """The driver's pipeline: a round trip is made where a row is read, and not for each query.

    What goes wrong with a query shows with the next answer that is waited for. Until then the server passes over all
    that follows, the commit included.
    """

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        """Begin it; `leave` ends it."""
        self.connection = connection
        self._open = ExitStack()
        self._pipeline = self._open.enter_context(connection.pipeline())
        self._savepoints = 0
        self._may_copy: bool | None = None

    def sync(self) -> None:
        """Wait for all that was sent. Raises what went wrong with the first of it."""
        self._pipeline.sync()

    def leave(self) -> None:
        """Wait for all that was sent, and end it. Raises what went wrong with the first of it."""
        self._open.close()

    def may_copy(self) -> bool:
        """Whether this role may copy: a server lets none do so whose rows it looks at one by one."""
        if self._may_copy is None:
            row = self.connection.execute("SELECT row_security_active('messages')").fetchone()
            self._may_copy = row is not None and not row[0]
        return self._may_copy

    def copy(self, statement: bytes, rows: Iterable[Sequence[object]]) -> None:
        """Copy rows into a table, once all that was sent before is done: a pipeline takes no COPY."""
        try:
            self.leave()
            with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
        finally:
            if not self.connection.closed:
                self._pipeline = self._open.enter_context(self.connection.pipeline())

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that leaves nothing where it raises."""
        # Of its own name: where one was never made, since something before it failed, the server must not go back to
        # another one.
        self._savepoints += 1
        name = f"before_{self._savepoints}"
        self.connection.execute(f"SAVEPOINT {name}".encode())
        try:
            yield
        except BaseException as fault:
            if not self.connection.closed:
                self._go_back(name, fault)
            raise
        self.connection.execute(f"RELEASE {name}".encode())

    def _go_back(self, name: str, fault: BaseException) -> None:
        """Go back to a savepoint. Raises the first fault where it was never made, since something before it failed."""
        first = fault
        try:
            self.sync()
        except psycopg.Error as sent:
            if not isinstance(fault, psycopg.Error):
                first = sent
        try:
            self.connection.execute(f"ROLLBACK TO {name}".encode())
            self.connection.execute(f"RELEASE {name}".encode())
            self.sync()
        except psycopg.errors.InvalidSavepointSpecification:
            raise first from None
