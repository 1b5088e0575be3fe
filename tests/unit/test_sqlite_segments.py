"""A session's tree is stored as few segments: a line is one, and each fork adds one."""

from __future__ import annotations

from pathlib import Path

import apsw

from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.log.tree import SessionKey
from ireneo.testing.conformance.check import KEY, numbered, say, tell, tell_after


def segments(path: Path) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return list(connection.execute("SELECT segment, parent, first FROM segments ORDER BY session, segment"))
    finally:
        connection.close()


async def test_a_line_is_one_segment(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db")
    for number in range(20):
        await store.write(tell, numbered(3, f"append {number}"))
    await store.close()
    assert segments(tmp_path / "store.db") == [(0, None, 0)]


async def test_a_fork_adds_one_and_names_its_parent(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db")
    trunk = await store.write(tell, numbered(10))
    fork = await store.write(tell_after, trunk[4], numbered(3, "fork"))
    await store.write(tell_after, fork[-1], numbered(3, "on"))
    await store.write(tell_after, fork[0], numbered(2, "fork of the fork"))
    await store.write(tell_after, None, say("another root"))
    await store.write(tell, numbered(2, "on the trunk"))
    await store.write(tell, numbered(2), SessionKey("other", KEY.session))
    await store.close()
    assert segments(tmp_path / "store.db") == [(0, None, 0), (1, 0, 5), (2, 1, 6), (3, None, 0), (0, None, 0)]
