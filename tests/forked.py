"""Runs the tests in several processes: `-n 3`. All tests are collected once, and the workers are forks of who did that.

pytest-xdist has each worker collect all tests, and spends more on handing a test out than many of them take. Here a
worker begins with everything imported, is handed the numbers of tests, and gives its reports back.
"""

from __future__ import annotations

import atexit
import os
import signal
import traceback
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from _pytest.capture import FDCapture

from tests.folders import own_data_folder

SHARES = 6
"""A worker is handed a sixth of its part of what waits: neighbours, which share a module's fixtures, and near the end
single tests, so that all workers end together."""


class Worker:
    """A forked process, as the process sees it that hands out the tests."""

    def __init__(self, session: pytest.Session, others: Iterable[Connection]) -> None:
        """Fork it, without the pipes to others. The fork never returns."""
        self.pipe, inside = Pipe()
        self.tests: deque[int] = deque()
        """What it was handed and has not given back, in its order."""
        self.pid = os.fork()
        if not self.pid:
            # Who holds no end of a pipe but its own hears it when the other end is closed.
            for each in (self.pipe, *others):
                each.close()
            _serve(session, inside)
        inside.close()

    def hand(self, tests: Iterable[int]) -> None:
        """Hand it tests; none, when there are no more."""
        given = list(tests)
        self.tests.extend(given)
        # Where it has died meanwhile, its end of the pipe says so.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(given)

    def end(self, told: int | None = None) -> int:
        """Wait for its end, having told it to end by a signal; returns how it ended."""
        if told is not None:
            os.kill(self.pid, told)
        self.pipe.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Run:
    """All tests of a session, run in workers."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        """Of so many workers."""
        # Made once, so that all workers put theirs there.
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._session = session
        self._number = number
        self._waiting = deque(range(len(session.items)))
        self._workers: dict[Connection, Worker] = {}

    def run(self) -> None:
        """Run them all."""
        session = self._session
        try:
            for _ in range(min(self._number, len(self._waiting))):
                self._begin()
            while self._workers:
                for pipe in wait(list(self._workers)):
                    self._hear(self._workers[pipe])  # type: ignore[index]
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
                    if session.shouldstop:
                        raise session.Interrupted(session.shouldstop)
        finally:
            for worker in self._workers.values():
                worker.end(signal.SIGTERM)

    def _begin(self) -> None:
        worker = Worker(self._session, self._workers)
        self._workers[worker.pipe] = worker
        worker.hand(self._share())

    def _share(self) -> list[int]:
        size = max(1, len(self._waiting) // (self._number * SHARES))
        return [self._waiting.popleft() for _ in range(size) if self._waiting]

    def _hear(self, worker: Worker) -> None:
        try:
            told = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            del self._workers[worker.pipe]
            self._mourn(worker)
            return
        if told is None:
            worker.hand(self._share())
        else:
            _repeat(self._session, self._session.items[worker.tests.popleft()], *told)

    def _mourn(self, worker: Worker) -> None:
        """Tell of which test a worker has died, and have others run what it was handed."""
        status = worker.end()
        died = f"ended with {signal.Signals(-status).name if status < 0 else f'status {status}'}"
        if worker.tests:
            item = self._session.items[worker.tests.popleft()]
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", f"Its process {died}.", "call")
            self._session.config.hook.pytest_runtest_logreport(report=report)
            self._waiting.extendleft(reversed(worker.tests))
            self._begin()
        elif status:
            raise self._session.Failed(f"a worker {died}")


def _repeat(session: pytest.Session, item: pytest.Item, reports: list[dict[str, Any]], warned: list[Any]) -> None:
    """Tell here what a worker's pytest told there of a test."""
    hook = session.config.hook
    for each in warned:
        hook.pytest_warning_recorded.call_historic(kwargs=each)
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for each in reports:
        hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=session.config, data=each))
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


class _Recorder:
    """Keeps what pytest tells of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.reports: list[object] = []
        self.warned: list[object] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self.reports.append(hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(self, warning_message: object, when: str, nodeid: str, location: object) -> None:
        told = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        self.warned.append(told)

    def taken(self) -> tuple[list[object], list[object]]:
        told = (self.reports, self.warned)
        self.reports, self.warned = [], []
        return told


def _serve(session: pytest.Session, pipe: Connection) -> NoReturn:
    """Run the tests that are handed in, and end this process, which only its forker outlives."""
    status, stopped = 1, False

    def stop(*_: object) -> NoReturn:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    # What the forker does at its end is none of a fork's.
    atexit._clear()
    own_data_folder()
    # Each has its own, since to make one in a folder of thousands takes long.
    folders: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.getbasetemp() / str(os.getpid())
    folders._basetemp.mkdir()
    try:
        recorder = _become_silent(session.config)
        due = deque(pipe.recv())
        while due:
            if len(due) == 1:
                # The next test says which fixtures stay, so it is asked for before the last one that is known.
                pipe.send(None)
                due.extend(pipe.recv())
            item = session.items[due.popleft()]
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=session.items[due[0]] if due else None)
            pipe.send(recorder.taken())
        status = 0
    except BaseException as fault:
        # That it was stopped says its forker, unless that is gone.
        if not (stopped or isinstance(fault, EOFError | BrokenPipeError)):
            traceback.print_exc()
    finally:
        # It is ending already.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        session._setupstate.teardown_exact(None)
        atexit._run_exitfuncs()
        os._exit(status)


def _become_silent(config: pytest.Config) -> _Recorder:
    """Print nothing, capture into files of this process's own, and record instead."""
    plugins = config.pluginmanager
    capture: Any = plugins.getplugin("capturemanager")
    for stream in (capture._global_capturing.out, capture._global_capturing.err):
        if isinstance(stream, FDCapture):
            # Under the object that there is, since what was imported may hold it as `sys.stderr`.
            with TemporaryFile(buffering=0) as file:
                os.dup2(file.fileno(), stream.tmpfile.fileno(), inheritable=False)
    printing: Any = plugins.unregister(name="terminalreporter")
    # Other plugins ask for what it writes on.
    plugins.register(SimpleNamespace(_tw=printing._tw), "terminalreporter")
    recorder = _Recorder(config)
    plugins.register(recorder)
    return recorder
