"""What models are asked about memories, compared with files.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ireneo.prompts import FACTS, LESSONS, LESSONS_LOOK, REFLECT

FOLDER = Path(__file__).parent / "prompts"
RUN = {
    "about": "project harbour; how it came out, nobody noted.",
    "diary": "- Book the berths: `make berths` failed: “TideError” (exit 2).",
    "messages": "[1] user: Book the berths.\n[2] assistant: bash\nmake berths\n[3] tool: TideError",
    "drawn": "a. `make berths` fails with “TideError”.",
    "known": "1. The tide tables lie in data/tides.csv.",
}
ASKED = {
    "reflect": REFLECT.render(
        episodes="[1] 2026-05-01 · tale: Anna was late in Porto.\n[2] 2026-05-08: Anna overslept in Porto.",
        known="- Anna lives in Lisbon.",
    ),
    "lessons": LESSONS.render(**RUN),
    "lessons_look": LESSONS_LOOK.render(
        messages="[1] user: Book the berths.",
        known="1. The tide tables lie in data/tides.csv.",
        lessons='1. {"kind":"fact","lesson":"It is high tide."}\n! It names none of its messages.',
    ),
    "facts": FACTS.render(
        known="K1 Anna · home: Lisbon (since 2025-11-03)",
        conversation="Mon 2026-05-04\n[1] Anna: I moved to Porto on Friday.\n[2] assistant: How is it there?",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_prompt_is_the_file(name: str) -> None:
    prompt = ASKED[name]
    file = FOLDER / f"{name}.txt"
    text = f"{prompt.name}, at most {prompt.max_tokens} tokens\n\n{prompt.system}\n\n=====\n\n{prompt.user}\n"
    if os.environ.get("REGENERATE"):
        file.write_text(text, "utf-8")
    assert file.read_text("utf-8") == text
