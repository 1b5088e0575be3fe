"""What the machine itself gives: room on its disk for the lines of a large log."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ireneo.errors import StoreError

BUFFER_BYTES = 1 << 18
_LENGTH_BYTES = 8


class FileSpool:
    """`ireneo.formats.logs.format.Spool` in a temporary file, which is made when something is put aside."""

    def __init__(self, folder: Path | None) -> None:
        """Put aside in `folder`; None: where the system keeps temporary files, which may be its memory."""
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._end = 0

    def keep(self, text: bytes) -> int:
        """Put `text` aside; gives what it is read by. Raises StoreError where there is no room."""
        try:
            file = self._opened()
            # A seek would throw away what is still to be written at once.
            if file.tell() != self._end:
                file.seek(self._end)
            file.write(len(text).to_bytes(_LENGTH_BYTES, "big"))
            file.write(text)
        except OSError as fault:
            where = self._folder or tempfile.gettempdir()
            raise StoreError(
                f"A large log can't be put aside in {where}: {fault.strerror}; make room there."
            ) from fault
        place, self._end = self._end, self._end + _LENGTH_BYTES + len(text)
        return place

    def read(self, place: int) -> bytes:
        """Read what was put aside at `place`. Raises StoreError where it can't be read."""
        try:
            file = self._opened()
            if file.tell() != place:
                file.seek(place)
            return file.read(int.from_bytes(file.read(_LENGTH_BYTES), "big"))
        except OSError as fault:
            raise StoreError(f"What was put aside of a large log can't be read: {fault.strerror}.") from fault

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=BUFFER_BYTES, prefix="ireneo-")  # noqa: SIM115
        return self._file


@contextmanager
def file_spool(folder: Path | None) -> Iterator[FileSpool]:
    """A spool in `folder`, for as long as the block lasts."""
    spool = FileSpool(folder)
    try:
        yield spool
    finally:
        spool.close()
