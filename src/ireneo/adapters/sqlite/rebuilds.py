"""The marks of rebuilds, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.places import find_path, find_session, need_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Rebuild
from ireneo.summaries.summary import SummaryId

_TEXTS = msgspec.json.Decoder(tuple[SummaryId, ...])


class SqliteRebuilds:
    """`ireneo.ports.store.RebuildsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def last(self, key: SessionKey, to: MessageId, family: str, budget_tokens: int) -> Rebuild | None:
        """The mark that lies furthest along a path."""
        return self._channel.ask(last_rebuild, key, to, family, budget_tokens)

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        """Store a mark."""
        self._channel.change(put_rebuild, key, rebuild)

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        """Every mark of a session."""
        return self._channel.ask(list_rebuilds, key)


def last_rebuild(
    database: apsw.Connection, key: SessionKey, to: MessageId, family: str, budget_tokens: int
) -> Rebuild | None:
    """The mark whose edge lies furthest along the path to `to`, looked for from the path's end."""
    session, stretches = find_path(database, key, to)
    for stretch in stretches:
        row = database.execute(
            SQL["last_rebuild"],
            {
                "key": session.key,
                "family": family,
                "budget_tokens": budget_tokens,
                "segment": stretch.segment,
                "last": stretch.last,
            },
        ).fetchone()
        if row is not None:
            return Rebuild(
                family=family,
                budget_tokens=budget_tokens,
                at=row[0],
                at_position=row[1],
                target_tokens=row[2],
                taken_up=_TEXTS.decode(row[3]),
            )
    return None


def put_rebuild(database: apsw.Connection, key: SessionKey, rebuild: Rebuild) -> None:
    """Store a mark where its edge stands; one at the same edge, family and budget is replaced."""
    session = need_session(database, key)
    place = need_place(database, session.key, key, rebuild.at)
    if place.position != rebuild.at_position:
        raise BadInput(f"The rebuild gives a position at which its edge {rebuild.at} doesn't stand.")
    database.execute(
        SQL["put_rebuild"],
        {
            "key": session.key,
            "family": rebuild.family,
            "budget_tokens": rebuild.budget_tokens,
            "segment": place.segment,
            "at_position": rebuild.at_position,
            "at": rebuild.at,
            "target_tokens": rebuild.target_tokens,
            "taken_up": msgspec.json.encode(rebuild.taken_up).decode(),
        },
    )


def list_rebuilds(database: apsw.Connection, key: SessionKey) -> list[Rebuild]:
    """Every mark of a session, by position."""
    session = find_session(database, key)
    if session is None:
        return []
    return [
        Rebuild(
            family=family,
            budget_tokens=budget_tokens,
            at=at,
            at_position=at_position,
            target_tokens=target_tokens,
            taken_up=_TEXTS.decode(taken_up),
        )
        for family, budget_tokens, at, at_position, target_tokens, taken_up in database.execute(
            SQL["list_rebuilds"], {"key": session.key}
        )
    ]
