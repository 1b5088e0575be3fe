"""Several processes that do the work of one command: started, watched, restarted if they die, and ended cleanly."""

from __future__ import annotations

import gc
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
from ireneo.faces.entry import SELDOM

if TYPE_CHECKING:
    from ireneo import WorkResult

Report: TypeAlias = "Callable[[WorkResult], None]"
"""Called with each piece of work."""
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
"""A process that died is restarted after a second, then after twice as long each time, up to a minute."""
HEALTHY_SECONDS = 60.0
"""A process that lived this long did not die of the way it was started."""
GRACE_SECONDS = 30.0
"""How long a process may take to end by itself."""
TERMINATED = 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """The process got SIGTERM."""


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Raise Terminated on SIGTERM, so that the block ends cleanly and returns its leases."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        # A second signal must not interrupt the shutdown that the first one began.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class WorkerProcess:
    """One of the processes, which may be restarted."""

    def __init__(self, work: Callable[[Report], object]) -> None:
        """`work` must be picklable."""
        self._work = work
        self._deaths = 0
        self._born = 0.0
        self.process: BaseProcess | None = None
        self.channel: Connection | None = None
        self.begins_at: float | None = 0.0
        """When to start it; None while it works, and once it is done."""

    def begin(self) -> None:
        """Start the process."""
        context = multiprocessing.get_context("spawn")
        self.channel, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(self._work, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self._born, self.begins_at = time.monotonic(), None

    def reports(self) -> Iterator[WorkResult | IreneoError]:
        """Yield what it has reported since."""
        with suppress(EOFError, OSError):
            while self.channel is not None and self.channel.poll():
                yield self.channel.recv()

    def joined(self) -> int:
        """Wait for its end; returns its exit code."""
        if self.process is None:
            return 0
        self.process.join()
        code = self.process.exitcode or 0
        if self.channel is not None:
            self.channel.close()
        self.process = self.channel = None
        return code

    def restart(self) -> float:
        """Schedule a restart; returns the seconds until then."""
        now = time.monotonic()
        self._deaths = 0 if now - self._born > HEALTHY_SECONDS else self._deaths
        seconds = min(FIRST_WAIT_SECONDS * 2.0**self._deaths, LONGEST_WAIT_SECONDS)
        self._deaths += 1
        self.begins_at = now + seconds
        return seconds


def work_together(processes: int, work: Callable[[Report], object], report: Callable[[int, WorkResult], None]) -> None:
    """Do `work` in several processes until each has ended; `report` gets each piece of work with its process's number.

    An IreneoError of `work` ends all of them and is raised. A process that dies or can't reach the store is restarted.
    No process stays behind.
    """
    crew = [WorkerProcess(work) for _ in range(processes)]
    try:
        while any(each.process is not None or each.begins_at is not None for each in crew):
            _supervise(crew, report)
    finally:
        _end(crew, report)


def _supervise(crew: Sequence[WorkerProcess], report: Callable[[int, WorkResult], None]) -> None:
    """Start the processes that are due, wait until one reports or ends, and handle that."""
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
        for event in each.reports():
            if isinstance(event, IreneoError):
                raise event
            report(number, event)
        if is_over and (code := each.joined()):
            what = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
            warn(f"Worker {number + 1} {what}; another takes its place in {each.restart():.0f} s.")


def _end(crew: Sequence[WorkerProcess], report: Callable[[int, WorkResult], None]) -> None:
    """Terminate the processes, and kill those that don't end in time."""
    for each in crew:
        if each.process is not None:
            each.process.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for number, each in enumerate(crew):
        while each.process is not None and each.process.is_alive() and time.monotonic() < until:
            # A process can't end before its reports are read.
            each.process.join(0.05)
            for event in each.reports():
                if not isinstance(event, IreneoError):
                    report(number, event)
        if each.process is not None and each.process.is_alive():
            each.process.kill()
        each.joined()


def _run(work: Callable[[Report], object], channel: Connection) -> None:
    """The main function of a process."""
    gc.set_threshold(*SELDOM)
    # Ctrl-C reaches all processes of a terminal; the parent terminates the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
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


def _end_with_parent(parent: BaseProcess) -> None:
    """End when the parent process ends, even if that is killed."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
