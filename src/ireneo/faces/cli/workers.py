"""Several processes that work for one command: begun, watched, begun again when they die, and ended in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import TYPE_CHECKING, TypeAlias

from ireneo.errors import IreneoError, StoreBusy, Unreachable
from ireneo.faces.cli.files import warn

if TYPE_CHECKING:
    from ireneo import WorkResult

Tell: TypeAlias = "Callable[[WorkResult], None]"
"""Told of each piece of work."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
"""A process that died is begun again after a second, then after twice as long each time, up to a minute."""
SOUND_SECONDS = 60.0
"""One that lived so long did not die of how it began."""
GRACE_SECONDS = 30.0
"""So long a process may take to give back what it has when it is to end."""


TERMINATED = 128 + signal.SIGTERM
"""The code of a process that was asked to end, and did."""


class Terminated(KeyboardInterrupt):
    """Whoever runs the process wants it to end."""


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have SIGTERM end the block as Ctrl-C does, so that it gives back its leases: raises Terminated."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        # A second one must not break off what the first has begun to bring to its end.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class CrewMember:
    """One of the processes, in each of its lives."""

    def __init__(self, work: Callable[[Tell], object]) -> None:
        """Not begun yet; `work` can be pickled."""
        self._work = work
        self._deaths = 0
        self._born = 0.0
        self.process: BaseProcess | None = None
        self.channel: Connection | None = None
        self.begins_at: float | None = 0.0
        """When it is to begin, where it is not at work; None: it is, or is done."""

    def begin(self) -> None:
        """Start the process."""
        context = multiprocessing.get_context("spawn")
        self.channel, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(self._work, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self._born, self.begins_at = time.monotonic(), None

    def heard(self) -> Iterator[WorkResult | IreneoError]:
        """What it has told since."""
        with suppress(EOFError, OSError):
            while self.channel is not None and self.channel.poll():
                yield self.channel.recv()

    def buried(self) -> int:
        """The code that it ended with; it is let go of."""
        if self.process is None:
            return 0
        self.process.join()
        code = self.process.exitcode or 0
        if self.channel is not None:
            self.channel.close()
        self.process = self.channel = None
        return code

    def begins_again(self) -> float:
        """Put its next life off; says for how many seconds."""
        now = time.monotonic()
        self._deaths = 0 if now - self._born > SOUND_SECONDS else self._deaths
        seconds = min(FIRST_WAIT_SECONDS * 2.0**self._deaths, LONGEST_WAIT_SECONDS)
        self._deaths += 1
        self.begins_at = now + seconds
        return seconds


def work_together(processes: int, work: Callable[[Tell], object], told: Callable[[int, WorkResult], None]) -> None:
    """Do `work` in so many processes until each has come to its end; `told` hears of every piece, and whose it is.

    What `work` raises of Ireneo's own errors ends all of them, and is raised; but one that dies, or can't reach the
    store, is begun again. However it ends, no process is left behind.
    """
    crew = [CrewMember(work) for _ in range(processes)]
    try:
        while any(each.process is not None or each.begins_at is not None for each in crew):
            _look_after(crew, told)
    finally:
        _end(crew, told)


def _look_after(crew: Sequence[CrewMember], told: Callable[[int, WorkResult], None]) -> None:
    """Begin who is to begin, wait until somebody tells something or ends, and hear it."""
    now = time.monotonic()
    for each in crew:
        if each.begins_at is not None and each.begins_at <= now:
            each.begin()
    due = [each.begins_at - now for each in crew if each.begins_at is not None]
    at_work = [each for each in crew if each.process is not None]
    doors: list[Connection | int] = [each.process.sentinel for each in at_work if each.process]
    doors += [each.channel for each in at_work if each.channel]
    wait(doors, min(due, default=None))
    for number, each in enumerate(crew):
        is_over = each.process is not None and not each.process.is_alive()
        for event in each.heard():
            if isinstance(event, IreneoError):
                raise event
            told(number, event)
        if is_over and (code := each.buried()):
            what = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
            warn(f"Worker {number + 1} {what}; another takes its place in {each.begins_again():.0f} s.")


def _end(crew: Sequence[CrewMember], told: Callable[[int, WorkResult], None]) -> None:
    """Have those that are at work give back what they have, and kill whoever doesn't."""
    for each in crew:
        if each.process is not None:
            each.process.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for number, each in enumerate(crew):
        while each.process is not None and each.process.is_alive() and time.monotonic() < until:
            # What it tells is heard meanwhile: it would wait for that.
            each.process.join(0.05)
            for event in each.heard():
                if not isinstance(event, IreneoError):
                    told(number, event)
        if each.process is not None and each.process.is_alive():
            each.process.kill()
        each.buried()


def _run(work: Callable[[Tell], object], channel: Connection) -> None:
    """What a process does."""
    # Ctrl-C reaches all processes of a terminal: the first of them tells the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    try:
        with ended_in_order():
            work(channel.send)
    except Terminated:
        sys.exit(TERMINATED)
    except (StoreBusy, Unreachable) as fault:
        warn(str(fault))
        sys.exit(1)
    except IreneoError as fault:
        channel.send(fault)


def _follow(parent: BaseProcess) -> None:
    """End with the process that began this one, also where that was killed."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
