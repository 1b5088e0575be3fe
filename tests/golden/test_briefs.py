"""How a scratchpad and a brief read, compared with files.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.golden.learned import NOW, PAD, learned

from ireneo.memories.brief import make_brief
from ireneo.memories.scratchpad import pad_block

FOLDER = Path(__file__).parent / "briefs"


def quarters(text: str) -> int:
    """Four characters a token, so that the files stay as they are when the estimate gets better."""
    return (len(text) + 3) // 4


def same(name: str, text: str) -> None:
    path = FOLDER / f"{name}.md"
    if os.environ.get("REGENERATE"):
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()


@pytest.mark.parametrize(("name", "room"), [("pad", 300), ("pad_narrow", 80)])
def test_a_scratchpad_reads_as_it_did(name: str, room: int) -> None:
    text = pad_block(PAD, room, quarters)
    same(name, text)
    assert quarters(text) <= room


@pytest.mark.parametrize(("name", "budget"), [("brief", 1_500), ("brief_narrow", 260)])
def test_a_brief_reads_as_it_did(name: str, budget: int) -> None:
    brief = make_brief(PAD, learned(), NOW, budget, quarters)
    same(name, brief.markdown)
    assert brief.tokens == quarters(brief.markdown) <= budget


def test_a_brief_without_a_scratchpad_has_no_heading_for_it() -> None:
    facts = [each for each in learned() if each.record.kind == "semantic"]
    same("brief_facts", make_brief(None, facts, NOW, 1_500, quarters).markdown)
