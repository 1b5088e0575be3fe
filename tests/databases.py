"""New databases, copied: to make one anew takes ten times as long, and a property test wants hundreds."""

from __future__ import annotations

import asyncio
import shutil
import threading
from functools import cache
from pathlib import Path

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from tests.folders import folder_of_process


def new_database(path: Path) -> Path:
    """An empty database at `path`, as it is when it was just made; gives `path`."""
    shutil.copyfile(_made(), path)
    return path


def in_memory(path: Path) -> InMemoryStore:
    """A store in memory with all that is in the database at `path`, which nobody has open."""
    image = bytearray(path.read_bytes())
    # There is no WAL in memory, and SQLite opens no image there that asks for one.
    image[18:20] = b"\x01\x01"
    store = InMemoryStore()
    store._copies.newest = bytes(image)
    return store


@cache
def _made() -> Path:
    path = folder_of_process("ireneo-new-") / "new.db"

    async def make() -> None:
        await (await open_sqlite(path, durability="normal")).close()

    # In a thread of its own, since whoever asks may be in a loop.
    maker = threading.Thread(target=lambda: asyncio.run(make()))
    maker.start()
    maker.join()
    return path
