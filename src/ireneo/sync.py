"""The synchronous API: the same methods without `await`, for scripts, notebooks, web views and threads.

    import ireneo.sync

    with ireneo.sync.open("memory.db") as memory:
        session = memory.session("monday")
        session.append("Why does the build fail?")
        context = session.context(32_000, to="openai")

Each method runs the one of the same name in `ireneo` on an event loop in a thread of its own. So the calling thread may
have a running loop already, as in a notebook, and any number of threads may share a memory.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread  # noqa: F401 - it must learn of the end of the program after this module
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from functools import wraps
from queue import Empty, SimpleQueue
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import ireneo.wiring as wiring
from ireneo.engine import expand as engine_expand
from ireneo.engine import memory as engine_memory
from ireneo.engine import session as engine_session
from ireneo.engine.encode import AnthropicContext, Context, OpenAIContext, ResponsesContext
from ireneo.engine.session import ContextSettings
from ireneo.errors import BadInput, StoreError
from ireneo.formats.chat.format import FormatName
from ireneo.log.tree import MAIN, SessionKey

__all__ = ["Memory", "Scratchpad", "Session", "Tool", "open"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Tool: TypeAlias = Callable[..., str]
"""A tool for an agent: text in, text out."""


class _Portal:
    """An event loop in a thread of its own, on which other threads run coroutines and wait for them."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="ireneo-sync", daemon=True)
        self._thread.start()
        self._managers: list[AbstractAsyncContextManager[object]] = []
        self.close = weakref.finalize(self, _stop, self._process, self._loop, self._thread, self._managers)
        self.close.atexit = False
        _OPEN.add(self)

    def enter(self, manager: AbstractAsyncContextManager[T]) -> T:
        """Enter `manager`; it exits when the portal is closed or garbage collected, or the program ends."""
        with ExitStack() as failing:
            failing.callback(self.close)
            entered = self.call(manager.__aenter__)
            failing.pop_all()
        self._managers.append(manager)
        return entered

    def call(self, verb: Callable[..., Coroutine[Any, Any, R]], *given: object, **named: object) -> R:
        """Return what `verb` returns. An interrupt cancels it; its `on_progress` is called in this thread."""
        if threading.current_thread() is self._thread:
            raise BadInput("A method of ireneo.sync can't be called on its own event loop; await that of ireneo there.")
        if os.getpid() != self._process:
            raise BadInput("This memory was opened before the process was forked; open one in each process.")
        events: SimpleQueue[object] = SimpleQueue()
        on_progress = cast("Callable[[object], object] | None", named.get("on_progress"))
        if on_progress is not None:
            named["on_progress"] = events.put
        coroutine = verb(*given, **named)
        tasks: list[asyncio.Task[R]] = []

        def start() -> None:
            tasks.append(self._loop.create_task(coroutine))
            tasks[0].add_done_callback(events.put)

        try:
            self._loop.call_soon_threadsafe(start)
        except RuntimeError:
            coroutine.close()
            raise StoreError("The memory is closed; open it again.") from None
        try:
            while not isinstance(event := _next(events), asyncio.Task):
                if on_progress is not None:
                    on_progress(event)
        finally:
            # A cancelled call ends before the caller continues: a transaction is whole, a lease is returned.
            if not tasks or not tasks[0].done():
                self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
                while not isinstance(_next(events), asyncio.Task):
                    pass
        try:
            return tasks[0].result()
        except asyncio.CancelledError:
            raise StoreError("The memory was closed during the call; open it again.") from None


def _next(events: SimpleQueue[object]) -> object:
    """Wait for the next event. The wait is renewed, since an interrupt that comes just before it would not end it."""
    while True:
        with suppress(Empty):
            return events.get(timeout=1.0)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


_OPEN: weakref.WeakSet[_Portal] = weakref.WeakSet()


def _close_all() -> None:
    for portal in list(_OPEN):
        portal.close()


# A store is closed in a thread of an executor. Executors are shut down before the functions of `atexit` are called, and
# maybe before a thread that waits for the end of the main one. This private function, which they use themselves, is the
# only one that is certain to come before them.
threading._register_atexit(_close_all)  # type: ignore[attr-defined]


def _stop(
    process: int,
    loop: asyncio.AbstractEventLoop,
    thread: threading.Thread,
    managers: Sequence[AbstractAsyncContextManager[object]],
) -> None:
    """Cancel the running tasks, exit the managers, and end the thread, in the process that started it."""
    if os.getpid() != process:
        return

    async def end() -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for manager in managers:
            await manager.__aexit__(None, None, None)

    if threading.current_thread() is thread:
        # The last reference was dropped on the loop itself, which can't wait for its own end.
        loop.create_task(end()).add_done_callback(lambda _: loop.stop())
        return
    try:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


class _Twin(Generic[T]):
    """A synchronous version of another object."""

    def __init__(self, portal: _Portal, twin: T) -> None:
        self._portal = portal
        self._twin = twin

    def __repr__(self) -> str:
        return repr(self._twin)


def _called(verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Any, P], R]:
    """Make a synchronous method of a coroutine function, with the same parameters."""

    @wraps(verb)
    def call(self: _Twin[Any], *given: P.args, **named: P.kwargs) -> R:
        return self._portal.call(verb, self._twin, *given, **named)

    return cast("Callable[Concatenate[Any, P], R]", call)


class Scratchpad(_Twin[engine_session.Scratchpad]):
    """The scratchpad of a task; made by `Memory.scratchpad`."""

    @property
    def task(self) -> str:
        """The task that it belongs to."""
        return self._twin.task

    read = _called(engine_session.Scratchpad.read)
    write = _called(engine_session.Scratchpad.write)
    finish = _called(engine_session.Scratchpad.finish)
    drop = _called(engine_session.Scratchpad.drop)


class Session(_Twin[engine_session.Session]):
    """A branch of a conversation or a run; made by `Memory.session`."""

    @property
    def id(self) -> str:
        """The session's name in its space."""
        return self._twin.id

    @property
    def key(self) -> SessionKey:
        """The session's name with that of its space."""
        return self._twin.key

    @property
    def branch(self) -> str:
        """The branch."""
        return self._twin.branch

    @property
    def task(self) -> str:
        """The task whose scratchpad its contexts show."""
        return self._twin.task

    project = _called(engine_session.Session.project)
    is_seen_from = _called(engine_session.Session.is_seen_from)
    append = _called(engine_session.Session.append)
    summarise = _called(engine_session.Session.summarise)
    notes_request = _called(engine_session.Session.notes_request)
    take_notes = _called(engine_session.Session.take_notes)
    due = _called(engine_session.Session.due)
    catch_up = _called(engine_session.Session.catch_up)
    expand = _called(engine_session.Session.expand)
    rewind = _called(engine_session.Session.rewind)
    branches = _called(engine_session.Session.branches)
    tree = _called(engine_session.Session.tree)
    prune = _called(engine_session.Session.prune)
    drop = _called(engine_session.Session.drop)
    messages = _called(engine_session.Session.messages)
    check = _called(engine_session.Session.check)
    pin = _called(engine_session.Session.pin)
    release = _called(engine_session.Session.release)
    pins = _called(engine_session.Session.pins)
    dispute = _called(engine_session.Session.dispute)
    threads = _called(engine_session.Session.threads)
    add_thread = _called(engine_session.Session.add_thread)
    edit_thread = _called(engine_session.Session.edit_thread)
    resolve_thread = _called(engine_session.Session.resolve_thread)
    edit = _called(engine_session.Session.edit)
    diary = _called(engine_session.Session.diary)

    if TYPE_CHECKING:

        @overload
        def context(
            self, budget: int, *, to: Literal["openai"], **settings: Unpack[ContextSettings]
        ) -> OpenAIContext: ...
        @overload
        def context(
            self, budget: int, *, to: Literal["openai-responses"], **settings: Unpack[ContextSettings]
        ) -> ResponsesContext: ...
        @overload
        def context(
            self, budget: int, *, to: Literal["anthropic"], **settings: Unpack[ContextSettings]
        ) -> AnthropicContext: ...
        @overload
        def context(
            self, budget: int, *, to: FormatName | None = None, **settings: Unpack[ContextSettings]
        ) -> Context: ...
        def context(
            self, budget: int, *, to: FormatName | None = None, **settings: Unpack[ContextSettings]
        ) -> Context[Any, Any]:
            """Cut the session to `budget` tokens, as `ireneo.Session.context` says."""
    else:
        context = _called(engine_session.Session.context)

    def fork(self, name: str, *, at: str | None = None) -> Session:
        """Make the branch `name` at the message `at` (by default the head); returns the session on it."""
        return Session(self._portal, self._portal.call(self._twin.fork, name, at=at))

    def tools(self, *, viewpoint: str = "") -> Sequence[Tool]:
        """Return `expand` and `dispute` as functions of text, for an agent.

        With the `viewpoint` of a character they open only what she remembers.
        """
        return [self._tool(each) for each in self._twin.tools(viewpoint=viewpoint)]

    def _tool(self, tool: engine_expand.Tool) -> Tool:
        @wraps(tool)
        def call(*given: object, **named: object) -> str:
            return self._portal.call(cast("Callable[..., Coroutine[Any, Any, str]]", tool), *given, **named)

        return call


class Memory(_Twin[engine_memory.Memory]):
    """The sessions and memories of one space, for any number of threads; made by `ireneo.sync.open`.

    It is closed at the end of its `with`, by `close`, when it is garbage collected, and at the end of the program.
    """

    @property
    def space(self) -> str:
        """The space."""
        return self._twin.space

    sessions = _called(engine_memory.Memory.sessions)
    import_file = _called(engine_memory.Memory.import_file)
    learn_from = _called(engine_memory.Memory.learn_from)
    learn_logs = _called(engine_memory.Memory.learn_logs)
    import_log = _called(engine_memory.Memory.import_log)
    work = _called(engine_memory.Memory.work)
    doctor = _called(engine_memory.Memory.doctor)
    secrets = _called(engine_memory.Memory.secrets)
    learn = _called(engine_memory.Memory.learn)
    unlearned = _called(engine_memory.Memory.unlearned)
    lessons = _called(engine_memory.Memory.lessons)
    review = _called(engine_memory.Memory.review)
    runs = _called(engine_memory.Memory.runs)
    claims = _called(engine_memory.Memory.claims)
    check = _called(engine_memory.Memory.check)
    lookup = _called(engine_memory.Memory.lookup)
    dispute = _called(engine_memory.Memory.dispute)
    remember = _called(engine_memory.Memory.remember)
    remember_all = _called(engine_memory.Memory.remember_all)
    memories = _called(engine_memory.Memory.memories)
    update = _called(engine_memory.Memory.update)
    merge = _called(engine_memory.Memory.merge)
    delete = _called(engine_memory.Memory.delete)
    get = _called(engine_memory.Memory.get)
    history = _called(engine_memory.Memory.history)
    used = _called(engine_memory.Memory.used)
    recall = _called(engine_memory.Memory.recall)
    embed = _called(engine_memory.Memory.embed)
    brief = _called(engine_memory.Memory.brief)
    pads = _called(engine_memory.Memory.pads)
    reflect = _called(engine_memory.Memory.reflect)
    archive_candidates = _called(engine_memory.Memory.archive_candidates)
    archived = _called(engine_memory.Memory.archived)
    archive = _called(engine_memory.Memory.archive)
    restore = _called(engine_memory.Memory.restore)
    forget = _called(engine_memory.Memory.forget)
    export_memories = _called(engine_memory.Memory.export_memories)
    import_memories = _called(engine_memory.Memory.import_memories)

    def session(
        self, id: str, *, branch: str = MAIN, must_exist: bool = False, task: str = "", project: str = ""
    ) -> Session:
        """Return the session called `id`, as `ireneo.Memory.session` does; its first append creates it."""
        twin = self._portal.call(
            self._twin.session, id, branch=branch, must_exist=must_exist, task=task, project=project
        )
        return Session(self._portal, twin)

    def scratchpad(self, task: str, *, project: str | None = None) -> Scratchpad:
        """Return the scratchpad of a task, as `ireneo.Memory.scratchpad` does. Raises BadInput without a name."""
        return Scratchpad(self._portal, self._twin.scratchpad(task, project=project))

    def count(self, text: str) -> int:
        """Count the tokens of `text`, as this memory does."""
        return self._twin.count(text)

    def close(self) -> None:
        """Close the store; calls in other threads raise StoreError."""
        self._portal.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(opening: Callable[P, AbstractAsyncContextManager[engine_memory.Memory]]) -> Callable[P, Memory]:
    @wraps(opening)
    def open(*given: P.args, **named: P.kwargs) -> Memory:
        manager, portal = opening(*given, **named), _Portal()
        return Memory(portal, portal.enter(manager))

    return cast("Callable[P, Memory]", open)


open = _opened(wiring.open)
