"""How a block reads: its header, its sections in order, and each line in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ireneo.context.summary import Line, SectionName, Summary
from ireneo.log.ids import short
from ireneo.log.message import BLOCK_TAGS

TURN_TAG, GOAL_TAG = BLOCK_TAGS[:2]

HEADINGS: dict[SectionName, str] = {
    "goal": "Goal Arc",
    "direction": "Human Direction",
    "strategy": "Strategy",
    "operations": "Operations",
    "discoveries": "Discoveries",
    "achieved": "What Was Achieved",
    "dead_ends": "Dead Ends",
    "worked": "What Worked",
    "constraints": "Lasting Constraints",
    "lifted": "Lifted",
    "artifacts": "Critical Artifacts",
    "status": "Status",
}
TURN_ORDER: tuple[SectionName, ...] = (
    "strategy",
    "operations",
    "discoveries",
    "dead_ends",
    "worked",
    "artifacts",
    "status",
)
GOAL_ORDER: tuple[SectionName, ...] = (
    "goal",
    "direction",
    "achieved",
    "discoveries",
    "dead_ends",
    "constraints",
    "artifacts",
    "status",
)

Choice = Mapping[SectionName, Sequence[tuple[Line, Sequence[str]]]]
"""What is shown of a block: of each section the chosen lines, each with the names that follow it."""


def order(summary: Summary) -> tuple[SectionName, ...]:
    """The sections that a block of this level shows, in order."""
    return TURN_ORDER if summary.level == "turn" else GOAL_ORDER


def header(summary: Summary, disputed: str = "") -> str:
    """The line that tells the reader that this is reconstructed, how much it stands for, and how to open it.

    `disputed` is why it is disputed, if it is.
    """
    if summary.level == "turn":
        tag, what = (
            TURN_TAG,
            _counted(summary.calls, "call") if summary.calls else _counted(summary.messages, "message"),
        )
    else:
        tag, what = GOAL_TAG, f"{_counted(summary.messages, 'message')}, {_counted(summary.calls, 'call')}"
    doubt = f" · (disputed): {disputed}" if disputed else ""
    return f"{tag} {what} · open with {short(summary.id)}{doubt}"


def heading(name: SectionName) -> str:
    """The line that opens a section."""
    return f"## {HEADINGS[name]}"


def render(summary: Summary, choice: Choice, disputed: str = "") -> str:
    """Write a block out."""
    lines = [header(summary, disputed)]
    for name in order(summary):
        if chosen := choice.get(name):
            lines.append(heading(name))
            lines.extend(say(name, line, names) for line, names in chosen)
    return "\n".join(lines)


def say(name: SectionName, line: Line, names: Sequence[str]) -> str:
    """Write one line out, with the names that follow it."""
    statement = _operation(line) if line.subject and name in ("operations", "artifacts") else line.text
    if name == "dead_ends" and line.verbs and line.verbs[0][1] > 1:
        statement += f" (tried {line.verbs[0][1]} times)"
    if names:
        statement += (": " if statement[-1:] not in ".:" else " ") + " ".join(names)
    return statement if name in ("strategy", "status", "goal") else f"- {statement}"


def _operation(line: Line) -> str:
    verbs = ", ".join(verb + (f" ×{times}" if times > 1 else "") for verb, times in line.verbs)
    shell = line.shell
    subject = f"`{line.subject}`" if shell else line.subject
    # A tool that only we don't know by kind is named by its subject already.
    said = subject if line.subject.startswith(verbs) else f"{verbs} {subject}"
    return f"{said} → {line.text}" if line.text else said


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
