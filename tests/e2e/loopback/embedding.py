"""A server on this machine that speaks like OpenAI's embeddings, and answers as a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from ireneo.adapters.embed.opening import open_embedder
from ireneo.ports.models import Embedder

Answering = Callable[["AskedFor"], tuple[int, bytes]]


class AskedFor:
    """A request, and which one it is, from 1."""

    def __init__(self, number: int, path: str, headers: dict[str, str], body: dict[str, Any]) -> None:
        self.number = number
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


def embedded(asked: AskedFor) -> tuple[int, bytes]:
    """Eight numbers for each text that depend on its letters, and in another order than it was asked."""
    size = int(asked.body.get("dimensions", 8))
    rows = [
        {
            "object": "embedding",
            "index": index,
            "embedding": [float(text.count(chr(97 + at)) + 1) for at in range(size)],
        }
        for index, text in enumerate(asked.texts)
    ]
    return 200, json.dumps({"object": "list", "data": rows[::-1], "model": asked.body["model"]}).encode()


class LoopbackEmbedder:
    """A server for the length of a ``with``, on a port of its own; `asked` holds every request."""

    def __init__(self, answering: Answering = embedded) -> None:
        self.answering = answering
        self.asked: list[AskedFor] = []
        self.stopping = Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def embedder(self, **options: object) -> Embedder:
        """The real adapter, asking this server; it waits five seconds, unless it is told otherwise."""
        given: dict[str, Any] = {"timeout_seconds": 30.0, "api_key": "sk-loopback-secret", **options}
        opened = open_embedder("openai:tiny", **{"base_url": self.base_url, **given})
        assert opened is not None
        return opened

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        assert self._thread is not None
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that hangs up is what is tested."""


def _handler(server: LoopbackEmbedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = AskedFor(len(server.asked) + 1, self.path, headers, body)
            server.asked.append(asked)
            status, sent = server.answering(asked) if self.path == "/v1/embeddings" else (404, b"{}")
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
