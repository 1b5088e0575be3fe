"""A TCP proxy on loopback that stands before a server, and cuts connections when it is told to, or by chance."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit, urlunsplit

PIECE = 1 << 16
COMMITTED = b"COMMIT\x00"
"""What a server answers to a commit."""


class CuttingProxy:
    """Passes on what is said between clients and the server at `url`, until it is to be cut."""

    def __init__(self, url: str) -> None:
        """Listen on a port of its own."""
        self.behind = url
        self._url = urlsplit(url)
        asked = parse_qs(self._url.query)
        self._socket_folder = asked.get("host", [""])[0]
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self.is_away = False
        """Whether whoever comes is turned away, as by a server that is not there."""
        self.commits_to_hide = 0
        """To so many commits from now on the client hears no answer: its connection is cut instead."""
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the same database, through here."""
        host, port = self._listening.getsockname()
        user = self._url.netloc.rpartition("@")[0]
        return urlunsplit((self._url.scheme, f"{user}@{host}:{port}", self._url.path, "", ""))

    def cut(self, chance: random.Random | None = None) -> None:
        """Cut all connections; with `chance` one of them."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in [chance.choice(pairs)] if chance and pairs else pairs:
            self._end(pair)

    def close(self) -> None:
        """Let nobody in any more, and cut all."""
        self._listening.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.is_away:
                client.close()
                continue
            try:
                server = self._connect()
            except OSError:
                client.close()
                continue
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            threading.Thread(target=self._pass, args=(client, server, pair), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, pair), daemon=True).start()

    def _connect(self) -> socket.socket:
        if self._socket_folder.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{self._socket_folder}/.s.PGSQL.{self._url.port or 5432}")
            return server
        return socket.create_connection((self._url.hostname or "127.0.0.1", self._url.port or 5432))

    def _pass(self, source: socket.socket, target: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE):
                if self.commits_to_hide and source is pair[1] and COMMITTED in piece:
                    self.commits_to_hide -= 1
                    break
                target.sendall(piece)
        self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            if pair not in self._pairs:
                return
            self._pairs.discard(pair)
            self.cuts += 1
        for each in pair:
            self._shut(each)

    @staticmethod
    def _shut(each: socket.socket) -> None:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
