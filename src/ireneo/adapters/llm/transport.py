"""The HTTP client under a model: one for each ask, and no answer larger than any that could be meant."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from ireneo.errors import BadReply

LARGEST_BODY = 4_000_000
"""Bytes; the longest reply that a prompt allows takes a hundredth of it."""


def client(timeout_seconds: float) -> httpx2.AsyncClient:
    """A client for one ask.

    Setting one up takes some 30 ms and a handshake, against seconds that a model takes; in return no connection
    outlives its event loop, and nobody has to remember to close one.
    """
    # The limit on the whole ask comes first; these are for what slips through it.
    limits = httpx2.Timeout(timeout_seconds + 1, connect=timeout_seconds)
    return httpx2.AsyncClient(timeout=limits, follow_redirects=True, event_hooks={"response": [_capped]})


async def _capped(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Capped(response.stream)


class _Capped(httpx2.AsyncByteStream):
    """The body of an answer, up to the largest that is read."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise BadReply(f"is longer than {LARGEST_BODY:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
