"""The scratchpads of a space, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import with_checksum
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.times import microseconds
from ireneo.memories.scratchpad import Pad

_PAD = msgspec.json.Decoder(Pad)


class SqlitePads:
    """`ireneo.ports.memories.PadsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def read(self, space: str, task: str) -> Pad | None:
        """The scratchpad of a task."""
        return self._channel.ask(read_pad, space, task)

    def write(self, space: str, pad: Pad) -> None:
        """Store a scratchpad in the place of the one that its task had."""
        self._channel.change(write_pad, space, pad)

    def remove(self, space: str, task: str) -> bool:
        """Take a scratchpad out."""
        return self._channel.change(remove_pad, space, task)

    def list(self, space: str) -> Sequence[Pad]:
        """Every scratchpad."""
        return self._channel.ask(list_pads, space)


def read_pad(database: apsw.Connection, space: str, task: str) -> Pad | None:
    """The scratchpad of a task; None where there is none."""
    row = database.execute(SQL["read_pad"], {"space": space, "task": task}).fetchone()
    return None if row is None else _PAD.decode(row[0])


def write_pad(database: apsw.Connection, space: str, pad: Pad) -> None:
    """Store a scratchpad in the place of the one that its task had."""
    database.execute(
        SQL["write_pad"],
        with_checksum(
            "pads",
            {
                "space": space,
                "task": pad.task,
                "written": microseconds(pad.written),
                "record": msgspec.json.encode(pad).decode(),
            },
        ),
    )


def remove_pad(database: apsw.Connection, space: str, task: str) -> bool:
    """Take a scratchpad out; says whether there was one."""
    database.execute(SQL["remove_pad"], {"space": space, "task": task})
    return database.changes() > 0


def list_pads(database: apsw.Connection, space: str) -> list[Pad]:
    """Every scratchpad, the one that was written last standing first."""
    return [_PAD.decode(record) for (record,) in database.execute(SQL["list_pads"], {"space": space})]
