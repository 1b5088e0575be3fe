"""A server on this machine that speaks like a provider of models."""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler
from threading import Lock
from types import TracebackType
from typing import Any

from tests.e2e.loopback.listening import Listening
from tests.e2e.loopback.wire import Asked, Kind, Script, read, write

from ireneo.adapters.llm.model import ProviderModel, open_model

_PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "google": ":generateContent"}


class LoopbackModel(Listening):
    """A server for the length of a ``with``, on a port of its own; `script` says what it answers.

    `asked` holds every request in the order that they came. The script is called for one request at a time.
    """

    def __init__(self, kind: Kind, script: Script) -> None:
        super().__init__()
        self.kind = kind
        self.script = script
        self.asked: list[Asked] = []
        self.fault: Exception | None = None
        """What the script raised; the client saw a closed connection, and the test is told at the end."""
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The model's name for `open_model`."""
        return f"{self.kind}:tiny"

    @property
    def base_url(self) -> str:
        """Where it listens, as `open_model` wants it."""
        return f"{self.address}/v1" if self.kind == "openai" else self.address

    def model(self, **options: object) -> ProviderModel:
        """The real adapter, asking this server; it waits long, and hardly pauses, unless told otherwise."""
        given: dict[str, Any] = {"timeout_seconds": 30.0, "pause_seconds": 0.01, **options}
        return open_model(self.name, **{"base_url": self.base_url, "api_key": "sk-loopback-secret", **given})

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        size = int(handler.headers.get("content-length", 0))
        body = json.loads(handler.rfile.read(size))
        with self._lock:
            asked = read(self.kind, len(self.asked) + 1, handler.path, dict(handler.headers), body)
            self.asked.append(asked)
            try:
                answer = self.script(asked)
            except Exception as fault:
                self.fault = fault
                raise
        if not handler.path.partition("?")[0].endswith(_PATHS[self.kind]):
            handler.send_error(404)
            return
        self.stopping.wait(answer.wait_seconds)
        sent = write(self.kind, asked, answer)
        handler.send_response(answer.status)
        for name, value in {"content-type": "application/json", **answer.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent if answer.cut_after is None else sent[: answer.cut_after])
        if answer.cut_after is not None:
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.fault is not None and kind is None:
            raise self.fault
