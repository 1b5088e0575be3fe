"""Processes that do the work of a command: started, watched, restarted if they die, ended cleanly. And the servers."""

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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

import ireneo
from ireneo.errors import BadInput, IreneoError, MissingExtra, StoreBusy, Unreachable
from ireneo.faces.cli.files import log_on_stderr, warn
from ireneo.faces.cli.options import As, From, Prices, Stored, embedder_named, flag, keeps_secrets, option, tokens
from ireneo.faces.cli.place import database, make_folder
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


# `ireneo mcp` and `ireneo proxy`: the memory as a server, for agents and for chat clients.


@contextmanager
def _needs(packages: tuple[str, ...], sentence: str) -> Iterator[None]:
    """Import what a server needs, which then stays; raise MissingExtra with `sentence` where a package is missing."""
    try:
        yield
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in packages:
            raise
        raise MissingExtra(sentence) from None
    # The SDK alone has 80,000 objects. In each full round the garbage collector would look at them all, and hold up
    # whoever is served.
    gc.freeze()


Project = Annotated[str, option("--project -p", "NAME", "Where the agent works.", shown="this directory's")]


def mcp(project: Project = "", viewpoint: As = "", session: From = None, *, stored: Stored) -> None:
    """Serve the memory to an agent over MCP.

    On standard input and output, with fifteen tools: brief, recall, remember, memories, update, merge, delete, check,
    expand, scratchpad, dispute, threads, write_thread, notes_request, take_notes. For an agent that plays in a story,
    with --as or --session, the tools are brief, recall and expand. It needs the extra `mcp`.
    """
    with _needs(("mcp", "pydantic"), "The MCP server needs the official SDK; pip install 'ireneo[mcp]'."):
        from ireneo.faces.mcp import make_server, place_in
    import asyncio

    async def serve() -> None:
        async with ireneo.open(
            make_folder(database(stored.db)),
            space=stored.space,
            embedder=embedder_named(None),
            keep_secrets=keeps_secrets(False),
        ) as memory:
            place = await place_in(memory, viewpoint, session)
            await make_server(memory, project=project or str(Path.cwd()), place=place).run_stdio_async()

    with log_on_stderr():
        asyncio.run(serve())


class Listening(Struct, frozen=True, kw_only=True):
    """Where the proxy listens, and how long it waits for the API."""

    host: Annotated[
        str, option("--host", "HOST", "The address to listen on; by default for this machine alone.", shown=True)
    ] = "127.0.0.1"
    port: Annotated[int, option("--port", "PORT", "The port to listen on; 0 takes a free one.", shown=True)] = 8411
    timeout: Annotated[float, option("--timeout", "SECONDS", "The longest that the API may be silent.", shown=True)] = (
        600.0
    )


class Lists(Struct, frozen=True, kw_only=True):
    """How contexts are cut from what clients send."""

    budget: Annotated[int, tokens("--budget -b", "The most that a request may cost, prompt and tools included.")] = (
        32_000
    )
    preset: Annotated[
        str | None,
        option("--preset", "NAME", "How it is cut: coding, forge or story.", shown="coding with tools, else story"),
    ] = None
    prices: Prices = None
    viewpoint: As = ""
    whole_lists: Annotated[
        bool, flag("--whole-lists", "Clients send all there is: what they leave out at the beginning was deleted.")
    ] = False


def proxy(
    to: Annotated[str, option("--to", "URL", "The API, such as https://api.openai.com/v1.")],
    *,
    lists: Lists,
    listening: Listening,
    stored: Stored,
) -> None:
    """Put a memory between a chat client and a model's API.

    Point the client at the address that is shown. Its conversations are stored, and the API gets a context of each in
    place of the whole history; all other requests pass through. Keys are passed on, and stored nowhere. It needs the
    extra `proxy`.
    """
    if lists.budget < 256:
        raise BadInput(f"A budget of {lists.budget:,} tokens is too small; give at least 256.")
    if not 0 <= listening.port <= 65_535:
        raise BadInput(f"There is no port {listening.port}; give one from 1 to 65535, or 0 for a free one.")
    with _needs(("httpx2", "uvicorn"), "The proxy needs an HTTP server and client; pip install 'ireneo[proxy]'."):
        from ireneo.faces.proxy.server import serve
        from ireneo.faces.proxy.sessions import ProxySettings
    import asyncio

    db = make_folder(database(stored.db))
    settings = ProxySettings(**asdict(lists))
    keep_secrets = keeps_secrets(False)
    asyncio.run(serve(to, settings, **asdict(listening), db=db, space=stored.space, keep_secrets=keep_secrets))
