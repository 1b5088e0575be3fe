"""A server on this machine, for the length of a ``with``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Self


class Listening(ABC):
    """It has a port of its own, and answers each request by `handle`."""

    def __init__(self) -> None:
        self.stopping = Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    @abstractmethod
    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""

    @property
    def address(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

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


def _handler(server: Listening) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_POST(self) -> None:
            server.handle(self)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
