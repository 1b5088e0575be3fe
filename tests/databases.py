"""New databases, copied: to make one anew takes ten times as long, and a property test wants hundreds."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path

from ireneo.adapters.sqlite.store import open_sqlite


def new_database(path: Path) -> Path:
    """An empty database at `path`, as it is when it was just made; gives `path`."""
    shutil.copyfile(_made(), path)
    return path


@cache
def _made() -> Path:
    path = Path(tempfile.mkdtemp(prefix="ireneo-new-")) / "new.db"

    async def make() -> None:
        await (await open_sqlite(path, durability="normal")).close()

    # In a thread of its own, since whoever asks may be in a loop.
    maker = threading.Thread(target=lambda: asyncio.run(make()))
    maker.start()
    maker.join()
    return path
