"""What a process writes down as it goes: killed at any moment, it leaves what it had written."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from msgspec import Struct

Ending = Literal["asked", "answered", "killed"]


class Call(Struct, kw_only=True):
    """One call of the model, as far as it came."""

    process: int
    life: int
    name: str
    """Of the text that was asked for."""
    began: float
    ended: float | None = None
    did: str = ""
    """What became of the answer; empty where nobody was left to say."""


class Ledger:
    """The files of one process in one of its lives."""

    def __init__(self, folder: Path, number: int, life: int) -> None:
        """Write into `folder`; what an earlier life wrote stays."""
        self._files = {
            name: os.open(folder / f"{number}.{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for name in ("acks", "done", "calls", "faults", "counts", "pruned")
        }
        self._life = life

    def acknowledged(self, ids: Iterable[str]) -> None:
        """Messages of which the store said that they are kept; on the disk once this returns."""
        self._write("acks", "".join(f"{each}\n" for each in ids), durable=True)

    def pruned(self, ids: Iterable[str]) -> None:
        """Messages that are about to be taken out on purpose."""
        self._write("pruned", "".join(f"{each}\n" for each in ids), durable=True)

    def done(self) -> None:
        """One operation more."""
        self._write("done", ".")

    def called(self, what: str, name: str) -> None:
        """A call of the model for the text `name` began (``asked``), or came to an end."""
        self._write("calls", f"{time.monotonic()}\t{self._life}\t{what}\t{name}\n")

    def fault(self, kind: str, detail: str) -> None:
        """Something that must not be."""
        self._write("faults", f"{kind}\t{' '.join(detail.split())}\n")

    def count(self, kind: str) -> None:
        """Something that may be, and is counted."""
        self._write("counts", f"{kind}\n")

    def _write(self, name: str, text: str, *, durable: bool = False) -> None:
        os.write(self._files[name], text.encode())
        if durable:
            os.fsync(self._files[name])


def lines_of(folder: Path, name: str) -> list[str]:
    """The whole lines that all processes wrote under `name`; one that a kill cut short is none."""
    texts = [file.read_text() for file in sorted(folder.glob(f"*.{name}"))]
    return [line[:-1] for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]


def operations_done(folder: Path, number: int) -> int:
    """How many operations a process has behind it, in all its lives."""
    file = folder / f"{number}.done"
    return file.stat().st_size if file.exists() else 0


def calls_of(folder: Path) -> list[Call]:
    """Every call of the model."""
    out: list[Call] = []
    for file in sorted(folder.glob("*.calls")):
        own: list[Call] = []
        for line in file.read_text().splitlines():
            at, life, what, name = line.split("\t")
            if what == "asked":
                own.append(Call(process=int(file.stem), life=int(life), name=name, began=float(at)))
            elif what == "answered":
                own[-1].ended = float(at)
            elif own:
                # A text that is given up before the model is asked has an end, and no call.
                own[-1].did = what
        out += own
    return out


class JumpingClock:
    """The machine's clock, set forward and back by whoever writes the file `offset`: all processes see the same."""

    def __init__(self, offset: Path) -> None:
        """Read the offset from that file each time."""
        self._file = os.open(offset, os.O_RDONLY)

    def now(self) -> datetime:
        """The time, as the clock was set last."""
        (seconds,) = struct.unpack("d", os.pread(self._file, 8, 0))
        return datetime.now(UTC) + timedelta(seconds=seconds)


def set_clock(offset: Path, seconds: float) -> None:
    """Set the clock that many seconds off, in one write."""
    file = os.open(offset, os.O_WRONLY | os.O_CREAT)
    os.pwrite(file, struct.pack("d", seconds), 0)
    os.close(file)
