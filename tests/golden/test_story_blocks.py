"""How the blocks of a story read, compared with files: at two widths.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.golden.small_story import story, story_record

from ireneo.context.story_blocks import tell_blocks
from ireneo.summaries.summary import Line, Section, Writing
from ireneo.summaries.tell_story import tell_deeper, tell_leaf

FOLDER = Path(__file__).parent / "blocks"


ACCOUNT = (
    ("Vera, who took a room at the Blue Heron of Aldous in Port Sel, found a drowned man in his cellar.", 9.0),
    ("The man wore the ring of House Tavarin.", 4.0),
    ("Captain Orsk arrested Aldous; Vera's brother Edwin had written the letter about which she had lied.", 8.0),
    ("Mother Quill took them past Fort Dunmere for the ring and died under its guns.", 7.0),
    ("In Marrow Edwin confessed that the drowned man was his father, and that he did not drown.", 10.0),
)


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


@pytest.mark.parametrize(("name", "room"), [("overview_whole", 200), ("overview_cut", 105)])
def test_an_overview_reads_as_one_text_and_loses_what_is_worth_least(name: str, room: int) -> None:
    lines = tuple(Line(text=text, weight=worth, position=place) for place, (text, worth) in enumerate(ACCOUNT))
    record = story_record(story()[:20], [Section(name="story", lines=lines)], depth=0, retellings=2)
    writing = Writing(prompt="story-overview-1/third", model="m", tokens_in=1, tokens_out=1, supported=1)
    (text,) = tell_blocks([replace(record, writing=writing)], room, quarters)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()
    assert quarters(text) <= room
