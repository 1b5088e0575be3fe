"""A server on this machine that speaks like OpenAI's embeddings, and answers as a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.e2e.loopback.listening import Listening

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


class LoopbackEmbedder(Listening):
    """A server for the length of a ``with``, on a port of its own; `asked` holds every request."""

    def __init__(self, answering: Answering = embedded) -> None:
        super().__init__()
        self.answering = answering
        self.asked: list[AskedFor] = []

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def embedder(self, **options: object) -> Embedder:
        """The real adapter, asking this server; it waits five seconds, unless it is told otherwise."""
        given: dict[str, Any] = {"timeout_seconds": 30.0, "api_key": "sk-loopback-secret", **options}
        opened = open_embedder("openai:tiny", **{"base_url": self.base_url, **given})
        assert opened is not None
        return opened

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = AskedFor(len(self.asked) + 1, handler.path, headers, body)
        self.asked.append(asked)
        status, sent = self.answering(asked) if handler.path == "/v1/embeddings" else (404, b"{}")
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)
