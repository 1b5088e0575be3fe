"""Keys that are read one by one, as they are pressed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from select import select

import typer

ESCAPE, INTRODUCERS, END = b"\x1b", b"[O", ("\x04", "")
"""What an arrow begins with, and what stands between that and its letter; and what is read at the end."""


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """Give what waits for the next key, in small letters; it raises EOFError at the end.

    The terminal gives them one by one meanwhile, and shows none of them. An arrow and its like are no keys.
    """
    try:
        import termios
        import tty
    except ImportError:
        yield lambda: typer.getchar().lower()
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def key() -> str:
        while (read := os.read(handle, 1)) == ESCAPE:
            while select([handle], [], [], 0)[0] and not os.read(handle, 1).strip(INTRODUCERS).isalpha():
                pass
        pressed = read.decode(errors="replace").lower()
        if pressed in END:
            raise EOFError
        return pressed

    try:
        # What was pressed before is not thrown away.
        tty.setcbreak(handle, termios.TCSADRAIN)
        yield key
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def typed(prompt: str, begins: str) -> str:
    """A line that somebody types behind `prompt`; where that can be, `begins` stands there to be changed."""
    try:
        import readline
    except ImportError:
        # Windows has none: all of it is typed anew there.
        return input(prompt).strip()
    readline.set_startup_hook(lambda: readline.insert_text(begins))
    try:
        return input(prompt).strip()
    finally:
        readline.set_startup_hook()
