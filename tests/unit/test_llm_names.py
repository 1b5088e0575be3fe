"""A model's name says where it is asked; what it can't be asked for is said before anything is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ireneo.adapters.llm import model as models
from ireneo.adapters.llm.model import open_model
from ireneo.adapters.llm.requests import shown
from ireneo.errors import BadInput, MissingExtra


@pytest.mark.parametrize(
    "name", ["", "gpt-5", "openai", "openai:", "openai: ", ":x", "OpenAI:x", "test:x", "open ai:x"]
)
def test_a_bad_name(name: str) -> None:
    with pytest.raises(BadInput, match="write openai:, anthropic:, google: or ollama:"):
        open_model(name)


@pytest.mark.parametrize("url", ["localhost:11434", "", "ftp://x", "//x"])
def test_a_bad_address(url: str) -> None:
    with pytest.raises(BadInput, match="has to begin with http"):
        open_model("ollama:llama3", base_url=url)


@pytest.mark.parametrize("options", [{"timeout_seconds": 0}, {"attempts": 0}, {"pause_seconds": -1}])
def test_bad_limits(options: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="needs a timeout"):
        open_model("ollama:llama3", **options)  # type: ignore[arg-type]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"openai:x needs the extra `llm`: pip install 'ireneo\[llm\]'"):
        open_model("openai:x")


def test_nothing_is_loaded_before_the_first_ask() -> None:
    probe = (
        "import sys; from ireneo.adapters.llm import open_model; open_model('openai:x', api_key='k');"
        "sys.exit(sorted({name.partition('.')[0] for name in sys.modules} & {'pydantic', 'httpx2'}) or 0)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


def test_what_others_said_is_shown_short_and_without_keys() -> None:
    assert shown("no\n\n  way", ()) == "no way"
    assert shown("", ()) == "no reason was given"
    assert len(shown("why " * 1000, ())) == 200
    assert shown("my own-secret", ("own-secret",)) == "my [key]"
    assert shown("Incorrect API key provided: sk-proj-abc123*****xyz9.", ()) == "Incorrect API key provided: [key]"
    assert shown("bad AIzaSyD-1234567890abcdef here", ()) == "bad [key] here"
    assert shown("the key-value store is down", ()) == "the key-value store is down"
