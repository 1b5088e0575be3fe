"""How a block of a story reads: its header, its sentences as prose, and the names that stand in none of them."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.summary import Line, Summary
from ireneo.log.ids import short
from ireneo.log.message import BLOCK_TAGS

STORY_TAG = BLOCK_TAGS[2]
NAMES = "Names: "
TWICE = 2


def header(summary: Summary, disputed: str = "") -> str:
    """The line that says that this is retold, how much it stands for, and how to open it.

    `disputed` is why it is disputed, if it is. What was told from the messages themselves is not called retold.
    """
    messages = f"{summary.messages:,} message{'' if summary.messages == 1 else 's'}"
    retold = ""
    if summary.retellings >= TWICE:
        retold = " · retold " + ("twice" if summary.retellings == TWICE else f"{summary.retellings} times")
    doubt = f" · (disputed): {disputed}" if disputed else ""
    return f"{STORY_TAG} {messages} · open with {short(summary.id)}{retold}{doubt}"


def sentence(line: Line) -> str:
    """A line as a sentence of the prose, with a full stop where the story had none."""
    text = line.text.strip()
    return f"{text}." if text[-1:].isalnum() and ord(text[-1]) < 0x2E80 else text


def block(summary: Summary, lines: Sequence[Line], names: Sequence[str], disputed: str = "") -> str:
    """Write a block out: the lines in the order given, then the names."""
    out = [header(summary, disputed)]
    if lines:
        out.append(" ".join(map(sentence, lines)))
    if names:
        out.append(NAMES + ", ".join(names))
    return "\n".join(out)
