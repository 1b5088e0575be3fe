"""The types of what is given out are those that the clients of OpenAI and Anthropic take."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

USE = Path(__file__).with_name("typed_use.py")
ROOT = USE.parents[2]


@pytest.mark.timeout(900)
def test_what_is_cut_goes_into_the_clients_and_only_into_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    said, faults, _ = api.run([str(USE), "--strict", "--config-file", "pyproject.toml"])
    assert "Success" in said, said + faults
