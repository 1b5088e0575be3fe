"""An open transaction's way to its connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from ireneo.adapters.sqlite.connection import Connection
from ireneo.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Channel:
    """Passes work to a connection for as long as the transaction is open."""

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        """Pass work to `connection`; `writes` says whether it may change anything."""
        self._connection = connection
        self._writes = writes
        self._open = True

    def ask(self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work that reads. Raises StoreError once the transaction is over."""
        if not self._open:
            raise StoreError("The transaction is over; open another with store.read() or store.write().")
        return self._connection.run(lambda database: work(database, *args, **kwargs))

    def change(self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work that writes: all of it or, where it raises, nothing.

        Raises StoreError in a transaction that only reads.
        """
        if not self._writes:
            raise StoreError("This transaction only reads; write inside store.write().")

        def within(database: apsw.Connection) -> T:
            # apsw's own block is a savepoint inside a transaction, so that a caller may catch what this raises.
            with database:
                result = work(database, *args, **kwargs)
            return result  # noqa: RET504 (mypy can't know that the block swallows nothing)

        return self.ask(within)

    def shut(self) -> None:
        """Let no more work through."""
        self._open = False
