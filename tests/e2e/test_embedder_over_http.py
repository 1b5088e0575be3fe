"""An embedder behind a server: what is sent, what is read, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest
from tests.e2e.loopback.embedding import Answering, AskedFor, LoopbackEmbedder, embedded

from ireneo.adapters.embed.opening import LONGEST_BYTES, TOGETHER
from ireneo.errors import BadInput, EmbedderError
from ireneo.memories.index import Vector, quantised


def embed(server: LoopbackEmbedder, texts: Sequence[str], **options: object) -> Sequence[Vector]:
    return asyncio.run(server.embedder(**options).embed(texts))


def answering(status: int, body: object) -> Answering:
    return lambda asked: (status, body if isinstance(body, bytes) else json.dumps(body).encode())


def rows(*vectors: object) -> object:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


def test_what_is_sent_and_what_comes_back() -> None:
    with LoopbackEmbedder() as server:
        embedder = server.embedder()
        assert embedder.dimensions == 0
        found = asyncio.run(embedder.embed(["aab", "cc"]))
        assert embedder.dimensions == 8
    assert found == [quantised([3.0, 2, 1, 1, 1, 1, 1, 1]), quantised([1.0, 1, 3, 1, 1, 1, 1, 1])]
    (asked,) = server.asked
    assert asked.body == {"input": ["aab", "cc"], "model": "tiny", "encoding_format": "float"}
    assert asked.headers["authorization"] == "Bearer sk-loopback-secret"


def test_shorter_vectors_are_asked_for() -> None:
    with LoopbackEmbedder() as server:
        (vector,) = embed(server, ["a"], dimensions=3)
    assert len(vector) == 3
    assert server.asked[0].body["dimensions"] == 3


def test_many_texts_go_in_several_requests() -> None:
    texts = ["a" * each for each in range(1, TOGETHER * 2 + 2)]
    with LoopbackEmbedder() as server:
        found = embed(server, texts)
    assert [len(asked.texts) for asked in server.asked] == [TOGETHER, TOGETHER, 1]
    assert found == [quantised([len(text) + 1.0] + [1.0] * 7) for text in texts]


def test_texts_as_they_can_be_sent() -> None:
    with LoopbackEmbedder() as server:
        assert embed(server, []) == []
        embed(server, ["", "é" * LONGEST_BYTES, "\ud83d"])
    (asked,) = server.asked
    assert asked.texts == [" ", "é" * (LONGEST_BYTES // 2), "�"]


def test_the_key_for_openai_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-openai")
    with LoopbackEmbedder() as server:
        embed(server, ["a"], api_key=None)
    assert "sk-meant-for-openai" not in str(server.asked[0].headers)


def test_without_a_key_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_ADMIN_KEY", raising=False)
    with LoopbackEmbedder() as server, pytest.raises(BadInput, match="set OPENAI_API_KEY, or hand in api_key"):
        embed(server, ["a"], api_key=None, base_url=None)
    assert server.asked == []


def test_it_asks_again_where_that_may_help() -> None:
    def busy_at_first(asked: AskedFor) -> tuple[int, bytes]:
        return (503, b"{}") if asked.number == 1 else embedded(asked)

    with LoopbackEmbedder(busy_at_first) as server:
        assert len(embed(server, ["a"])) == 1
    assert len(server.asked) == 2


def test_it_does_not_ask_again_where_that_can_t_help() -> None:
    refuses = LoopbackEmbedder(answering(400, {"error": {"message": "no"}}))
    with refuses as server, pytest.raises(EmbedderError, match="turned the request away"):
        embed(server, ["a"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, {"error": {"message": "wrong key sk-loopback-secret"}}, r"turned the key away \(401\)"),
        (404, {"error": {"message": "no model tiny"}}, "not to be found .* check the model's name and the base_url"),
        (500, {"error": {"message": "sk-loopback-secret is out"}}, r"turned the request away \(500\)"),
        (200, b"<html>Sign in to the Wi-Fi</html>", "holds no embeddings"),
        (200, b"", "holds no embeddings"),
        (200, {"data": []}, "does not hold one embedding for each of 2 texts"),
        (200, {"error": "overloaded"}, "holds no embeddings"),
        (200, rows([1.0], ["x"]), "holds no embeddings"),
        (200, rows([1.0], []), "does not hold one embedding for each of 2 texts"),
        (200, rows([1.0], [1.0, 2.0]), "dimensions, not one number of"),
        (200, b'{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1, "embedding": [1]}]}', "holds no embeddings"),
        (200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "does not hold one"),
        (200, b" " * 5_000_000, "is longer than"),
    ],
)
def test_what_goes_wrong_is_one_sentence(status: int, body: object, told: str) -> None:
    with LoopbackEmbedder(answering(status, body)) as server, pytest.raises(EmbedderError, match=told) as error:
        embed(server, ["a", "b"], attempts=1)
    assert "sk-loopback-secret" not in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_server_that_is_slow() -> None:
    with LoopbackEmbedder() as server:

        def never(asked: AskedFor) -> tuple[int, bytes]:
            server.stopping.wait(10)
            return embedded(asked)

        server.answering = never
        with pytest.raises(EmbedderError, match=r"did not answer within 0\.3 s"):
            embed(server, ["a"], timeout_seconds=0.3)


def test_a_server_that_is_not_there() -> None:
    with LoopbackEmbedder() as server:
        gone = server.embedder(attempts=1)
    with pytest.raises(EmbedderError, match="openai:tiny can't be reached"):
        asyncio.run(gone.embed(["a"]))


def test_vectors_of_another_length_than_before() -> None:
    with LoopbackEmbedder() as server:
        embedder = server.embedder()
        asyncio.run(embedder.embed(["a"]))
        server.answering = answering(200, rows([1.0, 2.0, 3.0]))
        with pytest.raises(EmbedderError, match="answers with 3 dimensions, not 8"):
            asyncio.run(embedder.embed(["a"]))
