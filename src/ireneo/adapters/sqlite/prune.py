"""Take out of a session's tree what no branch leads to.

A segment is kept up to the last position that a branch needs, so what branches off behind that is needed by nobody
either, and what branches off before it finds its parent where it was: no segment changes its place.
"""

from __future__ import annotations

from typing import cast

import apsw

from ireneo.adapters.chain import between, check_branches
from ireneo.adapters.sqlite.documents import END, forget_documents
from ireneo.adapters.sqlite.places import find_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import Bindings, read_time, write_time
from ireneo.adapters.sqlite.runs import remove_run
from ireneo.adapters.sqlite.undone import forget_undone
from ireneo.log.tree import SessionKey
from ireneo.ports.upkeep import Pruned

LOOSE = ("delete_loose_rebuilds", "delete_loose_annotations")
"""What hangs on a message that is gone, the summaries aside, which are counted."""


def prune_session(database: apsw.Connection, key: SessionKey) -> Pruned:
    """Take out every message that no branch leads to; says how much that was."""
    session = need_session(database, key).key
    ((branches, segments),) = database.execute(SQL["count_branches"], {"key": session})
    check_branches(key, is_empty=segments == 0, has_branch=branches > 0)
    messages, tokens = _cut(database, key.space, session)
    forget_undone(database, key.space, session)
    if messages == 0:
        return Pruned()
    database.execute(SQL["delete_loose_summaries"], {"key": session})
    summaries = database.changes()
    for query in LOOSE:
        database.execute(SQL[query], {"key": session})
    _forget_run(database, key, session)
    recount(database, session)
    return Pruned(messages=messages, tokens=tokens, summaries=summaries)


def _cut(database: apsw.Connection, space: str, session: int) -> tuple[int, int]:
    """Cut each segment after the last position that is needed; says how many messages and tokens went."""
    messages = tokens = 0
    rows = cast(list[tuple[int, int | None]], database.execute(SQL["list_segments"], {"key": session}).fetchall())
    for segment, last in rows:
        kept = -1 if last is None else last
        rest: Bindings = {"key": session, "segment": segment, "last": kept}
        ((behind, cost),) = database.execute(SQL["count_after"], rest)
        if behind:
            forget_documents(database, space, session, segment, kept + 1, END)
            database.execute(SQL["delete_payloads_after"], rest)
            database.execute(SQL["delete_messages_after"], rest)
        if last is None:
            database.execute(SQL["delete_segment"], {"key": session, "segment": segment})
        messages += behind
        tokens += cost
    return messages, tokens


def _forget_run(database: apsw.Connection, key: SessionKey, session: int) -> None:
    """Take out what was learned from the session, where it was read up to a message that is gone."""
    row = database.execute(SQL["head_of_run"], {"space": key.space, "session": key.session}).fetchone()
    if row is not None and find_place(database, session, row[0]) is None:
        remove_run(database, key.space, key.session)


def recount(database: apsw.Connection, session: int) -> None:
    """Reckon the counters of a session anew from its messages."""
    times = (read_time(at) for (at,) in database.execute(SQL["list_times"], {"key": session}))
    first_at, last_at = between([at for at in times if at is not None])
    database.execute(
        SQL["recount_messages"], {"key": session, "first_at": write_time(first_at), "last_at": write_time(last_at)}
    )
