"""An embedder's name says where it runs; what can't be one is said before anything is loaded."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ireneo.adapters.embed import opening
from ireneo.adapters.embed.opening import open_embedder
from ireneo.errors import BadInput, MissingExtra
from ireneo.memories.index import quantised

MODULE = '''
"""An embedder that another package brings."""

from ireneo.memories.index import quantised


class Letters:
    """Counts letters."""

    dimensions = 26

    def __init__(self, model):
        self.name = f"letters:{model}"

    async def embed(self, texts, *, query=False):
        return [quantised([float(text.count(chr(97 + each))) for each in range(26)]) for text in texts]
'''


def test_no_embedder() -> None:
    assert open_embedder(None) is None
    assert open_embedder("none") is None


@pytest.mark.parametrize("name", ["", "minilm", "openai", "openai:", "openai: ", "Local", "anthropic:x", ":x"])
def test_a_bad_name(name: str) -> None:
    with pytest.raises(BadInput, match=r"write none, local,.* openai: or ollama: and then the model's name"):
        open_embedder(name)


@pytest.mark.parametrize("options", [{"timeout_seconds": 0}, {"attempts": 0}, {"dimensions": 0}])
def test_bad_limits(options: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="needs a timeout"):
        open_embedder("openai:x", **options)  # type: ignore[arg-type]


def test_a_bad_address() -> None:
    with pytest.raises(BadInput, match="has to begin with http"):
        open_embedder("openai:x", base_url="localhost:11434")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"openai:x needs the extra `llm`: pip install 'ireneo\[llm,vectors\]'"):
        open_embedder("openai:x")


def test_the_name_stands_for_the_vectors() -> None:
    given = open_embedder("openai:text-embedding-3-small", dimensions=512)
    whole = open_embedder("openai:text-embedding-3-small")
    local = open_embedder("local")
    assert given is not None
    assert whole is not None
    assert local is not None
    assert (given.name, given.dimensions) == ("openai:text-embedding-3-small/512", 512)
    assert (whole.name, whole.dimensions) == ("openai:text-embedding-3-small", 0)
    assert local.dimensions == 384
    assert len({given.name, whole.name, local.name}) == 3


def test_a_package_brings_an_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "letter_count.py").write_text(MODULE, encoding="utf-8")
    about = tmp_path / "letter_count-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: letter-count\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[ireneo.embedders]\nletters = letter_count:Letters\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    embedder = open_embedder("letters:english")
    assert embedder is not None
    assert embedder.name == "letters:english"
    (vector,) = asyncio.run(embedder.embed(["abba"]))
    assert vector == quantised([2.0, 2.0] + [0.0] * 24)
    with pytest.raises(BadInput, match="letters:,"):
        open_embedder("numbers:english")


@pytest.mark.parametrize(
    ("brand", "made"),
    [("fastembed", "packages:FastEmbedder"), ("sentence-transformers", "packages:SentenceEmbedder")],
)
def test_a_package_that_is_not_installed(brand: str, made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint(name=brand, value=f"ireneo.adapters.embed.{made}", group=opening.GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    # None in its place is how Python knows a module that must not be found, wherever the tests run.
    monkeypatch.setitem(sys.modules, brand.replace("-", "_"), None)
    with pytest.raises(MissingExtra, match=f"{brand}:some-model needs a package .*: pip install {brand}"):
        open_embedder(f"{brand}:some-model")


def test_nothing_is_loaded_before_the_first_text() -> None:
    probe = (
        "import sys; from ireneo.adapters.embed import open_embedder;"
        "open_embedder('local'); open_embedder('openai:x', api_key='k');"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'openai', 'httpx2', 'pydantic'};"
        "sys.exit(sorted({name.partition('.')[0] for name in sys.modules} & heavy) or 0)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)
