"""How the blocks of a story read, compared with files: at two widths.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.golden.small_story import story, story_record

from ireneo.context.story_blocks import tell_blocks
from ireneo.summaries.tell_story import tell_deeper, tell_leaf

FOLDER = Path(__file__).parent / "blocks"


def quarters(text: str) -> int:
    """Four characters a token, so that the files stay as they are when the estimate gets better."""
    return (len(text) + 3) // 4


@pytest.mark.parametrize(("name", "room"), [("story_wide", 420), ("story_narrow", 190)])
def test_blocks_of_a_story_read_as_they_did(name: str, room: int) -> None:
    messages = story()
    leaves = [story_record(each, tell_leaf(each)) for each in (messages[:8], messages[8:16], messages[16:])]
    deeper = story_record(messages[:16], tell_deeper(leaves[:2]), depth=2, retellings=2)
    texts = tell_blocks([deeper, leaves[2]], room, quarters, doubts={leaves[2].id: "Edwin told it, and he lies"})
    text = "\n\n".join(texts)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()
    assert quarters(text) <= room
