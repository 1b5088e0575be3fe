"""What was spent on models, in SQLite."""

from __future__ import annotations

from datetime import date

import apsw

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.queries import SQL
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Spent


class SqliteSpending:
    """`ireneo.ports.store.SpendingPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to what a session spent on a day."""
        self._channel.change(add_spent, key, day, spent)

    def of_session(self, key: SessionKey) -> Spent:
        """What a session spent."""
        return self._channel.ask(sum_session, key)

    def of_day(self, space: str, day: date) -> Spent:
        """What a space spent on a day."""
        return self._channel.ask(sum_day, space, day)


def add_spent(database: apsw.Connection, key: SessionKey, day: date, spent: Spent) -> None:
    """Add to the counters of a session and a day, whether or not the session was made."""
    database.execute(
        SQL["add_spent"],
        {
            "space": key.space,
            "session": key.session,
            "day": day.isoformat(),
            "calls": spent.calls,
            "tokens": spent.tokens,
        },
    )


def sum_session(database: apsw.Connection, key: SessionKey) -> Spent:
    """The counters of a session over all days."""
    ((calls, tokens),) = database.execute(SQL["spent_of_session"], {"space": key.space, "session": key.session})
    return Spent(calls=calls, tokens=tokens)


def sum_day(database: apsw.Connection, space: str, day: date) -> Spent:
    """The counters of a day over all sessions of a space."""
    ((calls, tokens),) = database.execute(SQL["spent_of_day"], {"space": space, "day": day.isoformat()})
    return Spent(calls=calls, tokens=tokens)
