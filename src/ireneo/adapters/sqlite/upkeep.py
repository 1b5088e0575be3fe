"""The upkeep of a SQLite file: what is wrong with it, and what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ireneo.adapters.sqlite.altered import find_altered
from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.faults import find_faults
from ireneo.adapters.sqlite.mend import mend_file
from ireneo.adapters.sqlite.places import find_session, need_session
from ireneo.adapters.sqlite.prune import prune_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import read_head
from ireneo.adapters.sqlite.summaries import discard_summaries, list_summaries
from ireneo.adapters.sqlite.undone import settle_undone
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.upkeep import TOGETHER, Altered, Pruned
from ireneo.summaries.summary import SummaryId


class SqliteUpkeep:
    """`ireneo.ports.upkeep.UpkeepPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def faults(self) -> Sequence[str]:
        """What is wrong with the file."""
        return self._channel.ask(find_faults)

    def altered(self, after: int = 0, limit: int = TOGETHER) -> Altered:
        """What is not what was stored, a stretch of the messages at a time."""
        return self._channel.ask(find_altered, after, limit)

    def mend(self) -> None:
        """Put right what follows from the log."""
        self._channel.change(mend_file)

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        """The id of every summary of a session."""
        return self._channel.ask(list_summaries, key)

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        """Take out summaries by id."""
        return self._channel.change(discard_summaries, key, ids)

    def ends(self, key: SessionKey) -> Sequence[Head]:
        """Where the tree ends on no branch."""
        return self._channel.ask(list_ends, key)

    def drop(self, key: SessionKey, branch: str) -> bool:
        """Forget the name of a branch."""
        return self._channel.change(drop_branch, key, branch)

    def prune(self, key: SessionKey) -> Pruned:
        """Take out every message that no branch leads to."""
        return self._channel.change(prune_session, key)


def list_ends(database: apsw.Connection, key: SessionKey) -> list[Head]:
    """Where the tree ends on no branch, by position."""
    session = find_session(database, key)
    if session is None:
        return []
    rows = database.execute(SQL["list_ends"], {"key": session.key})
    return [read_head(*row) for row in rows]


def drop_branch(database: apsw.Connection, key: SessionKey, branch: str) -> bool:
    """Forget the name of a branch; says whether there was one."""
    session = need_session(database, key)
    database.execute(SQL["drop_branch"], {"key": session.key, "branch": branch})
    dropped = database.changes() > 0
    if dropped:
        settle_undone(database, key.space, session.key)
    return dropped
