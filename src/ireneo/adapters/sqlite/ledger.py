"""The files that a space learned from, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.queries import SQL
from ireneo.ports.runs import LearnedFile

_FILE = msgspec.json.Decoder(LearnedFile)


class SqliteLedger:
    """`ireneo.ports.runs.LedgerPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        """Those of `digests` that `learner` has learned from."""
        return self._channel.ask(known_files, space, learner, digests)

    def mark(self, space: str, file: LearnedFile) -> None:
        """Note a file."""
        self._channel.change(mark_file, space, file)

    def list(self, space: str) -> Sequence[LearnedFile]:
        """Every file that is noted."""
        return self._channel.ask(list_files, space)

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        """Take out what was noted of these files."""
        return self._channel.change(remove_files, space, files)


def known_files(database: apsw.Connection, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
    """Those of `digests` that `learner` has learned from."""
    asked = {"space": space, "learner": learner, "digests": msgspec.json.encode(list(digests)).decode()}
    return frozenset(digest for (digest,) in database.execute(SQL["known_files"], asked))


def mark_file(database: apsw.Connection, space: str, file: LearnedFile) -> None:
    """Note a file; one that is noted already is replaced."""
    record = msgspec.json.encode(file).decode()
    row = {"space": space, "learner": file.learner, "digest": file.digest, "record": record}
    database.execute(SQL["mark_file"], row)


def list_files(database: apsw.Connection, space: str) -> list[LearnedFile]:
    """Every file that is noted, by learner, then digest."""
    return [_FILE.decode(record) for (record,) in database.execute(SQL["list_files"], {"space": space})]


def remove_files(database: apsw.Connection, space: str, files: Sequence[LearnedFile]) -> int:
    """Take out what was noted of these files; says of how many there was something."""
    gone = 0
    for file in files:
        database.execute(SQL["remove_file"], {"space": space, "learner": file.learner, "digest": file.digest})
        gone += database.changes()
    return gone
