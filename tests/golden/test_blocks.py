"""How blocks read, compared with files.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.golden.material import session

import ireneo
from ireneo.engine.encode import compact_drafts
from ireneo.summaries.policy import CODING, Policy

FOLDER = Path(__file__).parent / "blocks"
BATCHED = Policy(name="golden", goal_min_turns=2, goal_max_turns=2, leaf_min_atoms=3, leaf_max_atoms=5)


class Quarters:
    """Counts four characters a token, so that the files stay as they are when the estimate gets better."""

    name = "quarters"

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


@pytest.mark.parametrize(
    ("name", "budget", "policy"),
    [("wide", 700, CODING), ("narrow", 350, CODING), ("batched", 480, BATCHED)],
)
def test_a_context_reads_as_it_did(name: str, budget: int, policy: Policy) -> None:
    context = compact_drafts(session(), budget, ireneo.chat_format("openai"), policy, Quarters().count)
    text = (
        "\n\n".join(
            f"=== {row.what} {row.level or ''} {row.depth}\n{row.text}" for row in (*context.pins, *context.view)
        )
        + "\n"
    )
    path = FOLDER / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        path.write_text(text)
    assert text == path.read_text()
    assert context.tokens <= budget
    assert not context.violations
