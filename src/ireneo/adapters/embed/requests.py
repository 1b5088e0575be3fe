"""Request embeddings from a server, and validate the reply. Needs the extra `llm`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx2
import msgspec
import openai

from ireneo.adapters.embed.opening import EmbeddingServer
from ireneo.adapters.llm.requests import client, refusal_text, shown
from ireneo.errors import BadInput, BadReply, EmbedderError
from ireneo.memories.index import Vector, quantised
from ireneo.patterns import readable

_NO_KEY = "no-key"
"""The key sent to a server that needs none, since the library requires one."""


class _Embedding(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    data: list[_Embedding]


async def request(server: EmbeddingServer, texts: Sequence[str]) -> list[Vector]:
    """Return the vectors of `texts` from one request. Raises EmbedderError, and BadInput if a key is missing."""
    try:
        async with asyncio.timeout(server.timeout_seconds), client(server.timeout_seconds) as http:
            return _read(server, await _send(server, texts, http), len(texts))
    except TimeoutError:
        raise EmbedderError(f"{server.name} did not answer within {server.timeout_seconds:g} s.") from None
    except openai.APIStatusError as error:
        said = shown(error.message, _keys(server))
        is_missing = isinstance(error, openai.NotFoundError)
        raise EmbedderError(refusal_text(server.name, error.status_code, said, is_missing=is_missing)) from None
    except (openai.APIConnectionError, httpx2.HTTPError, BadReply) as error:
        said = shown(str(error.__cause__ or error), _keys(server))
        raise EmbedderError(f"{server.name} can't be reached: {said}") from None
    except openai.OpenAIError as error:
        raise EmbedderError(f"{server.name} can't be asked: {shown(str(error), _keys(server))}") from None


async def _send(server: EmbeddingServer, texts: Sequence[str], http: httpx2.AsyncClient) -> bytes:
    # The key for OpenAI is never sent to another server.
    key = server.api_key if server.base_url is None else server.api_key or _NO_KEY
    try:
        asker = openai.AsyncOpenAI(
            api_key=key, base_url=server.base_url, max_retries=server.attempts - 1, http_client=http
        )
    except openai.OpenAIError as missing:
        raise BadInput(f"{server.name} needs a key: set OPENAI_API_KEY, or hand in api_key.") from missing
    answer = await asker.embeddings.with_raw_response.create(
        input=list(texts),
        model=server.model,
        # As plain numbers, which every server supports; OpenAI's library would ask for base64.
        encoding_format="float",
        dimensions=server.dimensions if server.dimensions is not None else openai.omit,
    )
    return answer.content


def _read(server: EmbeddingServer, body: bytes, texts: int) -> list[Vector]:
    try:
        rows = sorted(msgspec.json.decode(body, type=readable(_Answer)).data, key=lambda row: row.index)
        vectors = [quantised(row.embedding) for row in rows]
    except (msgspec.DecodeError, ValueError, UnicodeDecodeError) as wrong:
        raise EmbedderError(f"The answer of {server.name} holds no embeddings: {shown(str(wrong), ())}") from None
    if [row.index for row in rows] != list(range(texts)) or not all(vectors):
        raise EmbedderError(f"The answer of {server.name} does not hold one embedding for each of {texts} texts.")
    return vectors


def _keys(server: EmbeddingServer) -> tuple[str, ...]:
    return (server.api_key,) if server.api_key else ()
