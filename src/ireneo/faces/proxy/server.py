"""The proxy: it stores a request in the memory, sends it on with a context, and passes the answer back."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, MutableMapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec
import uvicorn

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.place import shown
from ireneo.faces.proxy.requests import AnswerReader, Json, answer_reader, chat_format_at, read_request
from ireneo.faces.proxy.sessions import LaidList, ProxySessions, ProxySettings
from ireneo.types import FormatName

T = TypeVar("T")
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

SESSION = b"x-ireneo-session"
REMEMBERING_SECONDS = 60.0
"""The longest that a request waits for the memory; after that it is sent on unchanged."""
KEEPING_SECONDS = 2.0
"""The longest that the end of an answer waits until the answer is stored, which then continues in the background."""
STOPPING_SECONDS = 5
"""The longest that running answers may take after a Ctrl-C."""
CONNECTING_SECONDS = 30.0
_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade".split()
)
"""Headers that are not passed on."""
_OF_REQUEST = _HOP | {b"host", b"content-length", b"expect", SESSION}
_NEAR = ("localhost", "127.0.0.1", "::1")
_FAILED = "memory failed, and the request goes on as it came"


def log(sentence: str) -> None:
    """Log a sentence to standard error, never with a key or the text of a message."""
    sys.stderr.write(f"ireneo: {sentence}\n")
    sys.stderr.flush()


class Upstream:
    """The API that requests are sent on to."""

    def __init__(self, url: str, seconds: float) -> None:
        """`seconds` is the longest that it may be silent. Raises BadInput for a wrong address."""
        try:
            given = httpx2.URL(url)
        except httpx2.InvalidURL:
            given = httpx2.URL("")
        if given.scheme not in ("http", "https") or not given.host:
            raise BadInput(f"{url!r} is not the address of an API; give one such as https://api.openai.com/v1.")
        self._base = given
        self._folder = given.raw_path.partition(b"?")[0].rstrip(b"/")
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECTING_SECONDS), pool=None)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
        # An API on this machine is reached without the network's proxies.
        near = given.host in _NEAR
        self._client = httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, trust_env=not near)

    @property
    def shown(self) -> str:
        """The address of the API, without secrets."""
        port = f":{self._base.port}" if self._base.port else ""
        return f"{self._base.scheme}://{self._base.host}{port}{self._folder.decode()}"

    async def send(self, method: str, path: bytes, query: bytes, headers: Headers, body: bytes) -> httpx2.Response:
        """Send a request; the body of the response is still to be read. Raises httpx2.RequestError."""
        # An address with a path of its own includes the version, which a client repeats.
        rest = path.removeprefix(b"/v1") if self._folder and path.startswith(b"/v1/") else path
        url = self._base.copy_with(raw_path=self._folder + rest + (b"?" + query if query else b""))
        request = httpx2.Request(method, url, headers=headers, content=body or None)
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


class Proxy:
    """An ASGI application in front of an API."""

    def __init__(self, sessions: ProxySessions, upstream: Upstream, log: Callable[[str], None]) -> None:
        self._sessions = sessions
        self._upstream = upstream
        self._log = log
        self._running: set[asyncio.Task[Any]] = set()
        """Tasks that continue after the answers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as long as its client waits."""
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await self.settle()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = await _body(receive)
        if body is None:
            return
        work = asyncio.create_task(self._answer(scope, body, send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.wait({work, gone})
        if not work.cancelled() and (fault := work.exception()):
            self._log(f"a request failed: {type(fault).__name__}: {fault}")
            raise fault

    async def settle(self) -> None:
        """Wait until the running tasks are done."""
        while self._running:
            await asyncio.wait(self._running)

    async def _answer(self, scope: Scope, body: bytes, send: Send) -> None:
        given: Headers = list(scope["headers"])
        headers = [(name, value) for name, value in given if name not in _OF_REQUEST]
        laid: LaidList | None = None
        if scope["method"] == "POST" and (name := chat_format_at(scope["path"])) and self._is_trusted(given):
            asked = next((value for key, value in given if key == SESSION), b"").decode("utf-8", "replace")
            sent = await self._done(self._start(self._remember(body, name, asked), _FAILED), REMEMBERING_SECONDS)
            if sent is not None:
                body, laid = sent
                # So that the answer is not compressed and can be read as it passes through.
                headers = [(key, value) for key, value in headers if key != b"accept-encoding"]
                headers.append((b"accept-encoding", b"identity"))
        path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
        try:
            response = await self._upstream.send(scope["method"], path, query, headers, body)
        except httpx2.RequestError as fault:
            self._log(said := _unanswered(fault, self._upstream.shown))
            await _refuse(send, 504 if isinstance(fault, httpx2.TimeoutException) else 502, said)
            return
        try:
            await self._pass_back(response, laid, send)
        finally:
            await response.aclose()

    def _is_trusted(self, headers: Headers) -> bool:
        """Whether a request comes from a program or from a page on this machine; other pages must not write."""
        origin = next((value.decode("latin-1") for key, value in headers if key == b"origin"), "")
        if not origin or (urlsplit(origin).hostname or "") in _NEAR:
            return True
        self._log(f"a web page of {origin} sent a request; it is answered, and nothing of it is stored")
        return False

    async def _remember(self, body: bytes, name: FormatName, asked: str) -> tuple[bytes, LaidList] | None:
        """Store a request and return what to send on; None if it is not to be stored."""
        request = await asyncio.to_thread(read_request, body, name)
        if request is None:
            self._log("a request holds no list of messages that could be read; it goes on as it came, unremembered")
            return None
        shorter, laid = await self._sessions.lay(request, asked)
        self._log(laid.note)
        return body if shorter is None else shorter, laid

    async def _pass_back(self, response: httpx2.Response, laid: LaidList | None, send: Send) -> None:
        """Pass an answer on as it arrives, and store it."""
        unpacked = laid is not None and response.headers.get("content-encoding", "identity") != "identity"
        left_out = _HOP | ({b"content-encoding", b"content-length"} if unpacked else frozenset())
        headers = [(key.lower(), value) for key, value in response.headers.raw]
        headers = [(key, value) for key, value in headers if key not in left_out]
        if laid is not None:
            headers.append((SESSION, laid.kept.session.id.encode("ascii", "replace")))
        reader = None
        if laid is not None and response.is_success:
            reader = answer_reader(laid.format, response.headers.get("content-type", ""))
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        try:
            async for chunk in response.aiter_bytes() if unpacked else response.aiter_raw():
                if reader is not None and laid is not None:
                    reader.feed(chunk)
                    if reader.is_complete:
                        # Stored before the client sees the end, as its next list contains this answer.
                        await self._keep(laid, reader)
                        reader = None
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx2.RequestError as fault:
            # Without an end, the answer breaks off for the client as well.
            self._log(f"{self._upstream.shown} broke an answer off: {type(fault).__name__}")
            return
        finally:
            if reader is not None and laid is not None:
                await self._keep(laid, reader)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _keep(self, laid: LaidList, reader: AnswerReader) -> None:
        """Store an answer, whole or broken off, and then the summaries that are due."""
        if answers := reader.answers():
            await self._done(
                self._start(laid.kept.keep(laid, answers), "an answer could not be stored"), KEEPING_SECONDS
            )
            self._start(laid.kept.catch_up(laid), "summaries could not be written")

    def _start(self, work: Coroutine[Any, Any, T], failed: str) -> asyncio.Task[T]:
        """Start a task that continues even if nobody waits for it; a failure is logged."""
        task = asyncio.create_task(work)

        def ended(done: asyncio.Task[T]) -> None:
            self._running.discard(done)
            if not done.cancelled() and (fault := done.exception()):
                reason = str(fault) if isinstance(fault, IreneoError) else f"{type(fault).__name__}: {fault}"
                self._log(f"{failed}: {reason}")

        self._running.add(task)
        task.add_done_callback(ended)
        return task

    async def _done(self, task: asyncio.Task[T], seconds: float) -> T | None:
        """Wait up to some seconds for a task; None if it takes longer or fails."""
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            self._log(f"the memory takes longer than {seconds:.0f} seconds; going on without it")
            return None
        return None if task.cancelled() or task.exception() else task.result()


async def _body(receive: Receive) -> bytes | None:
    """Read the body of a request; None if its client disconnects."""
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        body += event.get("body", b"")
        if not event.get("more_body"):
            return bytes(body)


async def _gone(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _unanswered(fault: httpx2.RequestError, upstream: str) -> str:
    if isinstance(fault, httpx2.TimeoutException):
        return f"{upstream} did not answer in time"
    if isinstance(fault, (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)):
        return f"{upstream} closed the connection without an answer"
    return f"{upstream} can't be reached: {type(fault).__name__}"


async def _refuse(send: Send, status: int, said: str) -> None:
    """Send an error for an API that doesn't answer, in a shape that both formats accept."""
    headers = [(b"content-type", b"application/json")]
    error: Json = {"type": "error", "error": {"type": "api_error", "message": f"ireneo proxy: {said}."}}
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": msgspec.json.encode(error)})


class _Server(uvicorn.Server):
    """A server that ends on a signal, and does not raise it again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def server_of(proxy: Proxy) -> uvicorn.Server:
    """Make the server of a proxy, to be started with `serve(sockets=…)`."""
    config = uvicorn.Config(
        proxy,
        log_level="critical",
        access_log=False,
        ws="none",
        server_header=False,
        date_header=False,
        # Clients keep connections longer than the default; one that closes during a request would make it fail.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=STOPPING_SECONDS,
        lifespan="on",
    )
    return _Server(config)


def listening(host: str, port: int) -> socket.socket:
    """Open a socket for the server. Raises BadInput."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
    except OSError as fault:
        raise BadInput(f"{host} is not an address of this machine: {fault.strerror or fault}.") from fault
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        # Connections queue from now on until the server is up.
        opened.listen(128)
    except OSError as fault:
        opened.close()
        raise BadInput(f"Port {port} of {host} can't be used: {fault.strerror}; name another with --port.") from fault
    return opened


async def serve(
    to: str,
    settings: ProxySettings,
    *,
    host: str,
    port: int,
    timeout: float,
    db: Path | str,
    space: str,
    keep_secrets: bool,
) -> None:
    """Serve clients until the process gets a signal; running answers then have a few more seconds."""
    upstream = Upstream(to, timeout)
    if settings.prices is not None:
        # So that a wrong name is reported at once, and not with each request.
        ireneo.CODING.priced(settings.prices)
    preset = settings.preset or "coding"
    with closing(listening(host, port)) as opened:
        async with ireneo.open(db, space=space, preset=preset, keep_secrets=keep_secrets) as memory:
            proxy = Proxy(ProxySessions(memory, settings, log), upstream, log)
            name = f"[{host}]" if ":" in host else host
            here = f"http://{name}:{opened.getsockname()[1]}/v1"
            log(f"{here} is a proxy for {upstream.shown} and stores in {shown(db)}; Ctrl-C ends it.")
            try:
                await server_of(proxy).serve(sockets=[opened])
            finally:
                await proxy.settle()
                await upstream.close()
