"""Both sides of the proxy over real connections: an API that answers as a test says, and the proxy before it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import httpx2
import msgspec
from msgspec import Struct

import ireneo
from ireneo.faces.proxy.server import Proxy, Upstream, listening, server_of
from ireneo.faces.proxy.sessions import ProxySessions, ProxySettings

T = TypeVar("T")
Json = dict[str, Any]
Handler = BaseHTTPRequestHandler
Script = Callable[[Handler, Json], None]


class Asked(Struct, frozen=True):
    """A request as it came to the API."""

    method: str
    path: str
    headers: dict[str, str]
    data: bytes

    @property
    def body(self) -> Json:
        """What it holds."""
        return json.loads(self.data)


class Api:
    """What stands behind the proxy."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.url = ""


def reply(handler: Handler, told: object, status: int = 200, **headers: str) -> None:
    """Answer with JSON, in one piece."""
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    handler.send_response(status)
    for name, value in {"content-type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def completion(text: str | None, **more: object) -> Json:
    """An answer of OpenAI's format."""
    message = {"role": "assistant", "content": text, **more}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def says(text: str) -> Script:
    """Always the same answer."""
    return lambda handler, _: reply(handler, completion(text))


def begin_events(handler: Handler) -> None:
    """Begin to answer with a stream."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()


def send_event(handler: Handler, event: object) -> None:
    """Send an event in two chunks, the cut anywhere: nobody promised where they end."""
    name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
    line = f"{name}data: {event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)}\n\n".encode()
    for part in (line[:-7], line[-7:]):
        handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        handler.wfile.flush()


def end_events(handler: Handler, *, cut: bool = False) -> None:
    """End the stream, or `cut` the connection."""
    if cut:
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
    else:
        handler.wfile.write(b"0\r\n\r\n")


def events(handler: Handler, listed: list[object]) -> None:
    """Answer with a stream."""
    begin_events(handler)
    for each in listed:
        send_event(handler, each)
    end_events(handler)


def deltas(*given: Json, finish: str | None = "stop") -> list[object]:
    """The events of an answer of OpenAI's format."""
    listed: list[object] = [{"choices": [{"index": 0, "delta": each}]} for each in given]
    return [*listed, *([{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, "[DONE]"] if finish else [])]


@contextmanager
def api(script: Script) -> Iterator[Api]:
    """An API on this machine."""
    held = Api(script)

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            held.asked.append(Asked(self.command, self.path, headers, data))
            held.script(self, json.loads(data) if data.endswith(b"}") else {})

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: who hangs up is what is tested."""

    server = Quiet(("127.0.0.1", 0), Answering)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    held.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def proxied(
    upstream: str, db: Path, told: list[str] | None = None, *, seconds: float = 10.0, **settings: object
) -> Iterator[httpx2.Client]:
    """A client of a proxy before `upstream`; `told` gathers what it says on standard error."""
    opened = listening("127.0.0.1", 0)
    heard = [] if told is None else told
    servers: list[Any] = []

    async def run() -> None:
        async with ireneo.open(db, durability="normal") as memory:
            kept = msgspec.convert({"budget": 4_000, **settings}, ProxySettings)
            before = Upstream(upstream, seconds)
            servers.append(server_of(Proxy(ProxySessions(memory, kept, heard.append), before, heard.append)))
            await servers[0].serve(sockets=[opened])
            await before.close()

    thread = Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    try:
        with httpx2.Client(
            base_url=f"http://127.0.0.1:{opened.getsockname()[1]}", timeout=30, trust_env=False
        ) as client:
            yield client
    finally:
        servers[0].should_exit = True
        thread.join()
        opened.close()


def asked_of(db: Path, question: Callable[[ireneo.Memory], Awaitable[T]]) -> T:
    """What a memory in the file says."""

    async def read() -> T:
        async with ireneo.open(db) as memory:
            return await question(memory)

    return asyncio.run(read())


def sessions(db: Path) -> set[str]:
    """What its sessions are called."""
    return {each.key.session for each in asked_of(db, ireneo.Memory.sessions)}


def messages(db: Path, session: str = "") -> list[ireneo.Message]:
    """The branch of a session, the one that was used last where none is named."""

    async def read(memory: ireneo.Memory) -> list[ireneo.Message]:
        id = session or (await memory.sessions())[0].key.session
        return list(await (await memory.session(id)).messages())

    return asked_of(db, read)


def stored(db: Path, session: str = "") -> list[tuple[str, str]]:
    """Who said what there."""
    return [(each.role, each.text) for each in messages(db, session)]


def last_message(db: Path, session: str = "") -> ireneo.Message:
    """What was said there last."""
    return messages(db, session)[-1]
