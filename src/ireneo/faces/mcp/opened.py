"""What stands behind an id, as text: messages whole, the parts of a long story, a memory with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

import ireneo

if TYPE_CHECKING:
    from ireneo.types import Record

MOST_EVIDENCE = 8
PART_LINES = 3
"""Of a finer summary under the one that is opened."""
SHORT = 12
"""Characters of an id that are shown: enough to open it."""
BEGINS, ENDS = "[BRIEF] Recalled from memory for this turn; nobody says it here.", "[/BRIEF]"
"""Between these stands what memory answers, as a brief does. Where the agent's log is learned from later, they tell
that nothing of it is evidence: what was recalled must not come back as something new."""


def recalled(text: str) -> str:
    """`text` between the two marks, which nothing in it can end."""
    return "\n".join([BEGINS, text.replace("[BRIEF]", "(BRIEF)").replace(ENDS, "(/BRIEF)"), ENDS])


def told(opened: ireneo.Expanded) -> str:
    """The messages behind a block, or the message itself, nothing left out; of a long story its finer blocks."""
    if opened.parts and not opened.messages:
        return "\n\n".join(
            f"[{part.id}] messages {part.first_position + 1:,} to {part.last_position + 1:,}\n"
            + "\n".join(line.text for line in part.lines("story")[:PART_LINES])
            for part in opened.parts
        )
    return "\n\n".join(f"[{each.id}] {each.draft.author or each.role}: {_words(each)}" for each in opened.messages)


def remembered(record: Record) -> str:
    """A memory, what is known of it, and its evidence."""
    state = f"{record.state}: {record.reason}" if record.reason else record.state
    seen = f"seen {record.seen} times" + (f", last on {record.when:%Y-%m-%d}" if record.when else "")
    lines = [record.text, "", f"{record.kind}, {state}; {seen}."]
    if record.conditions:
        lines.append("; ".join(f"{name} {value}" for name, value in sorted(record.conditions.items())))
    if record.stale:
        lines.append(f"To be reconsidered: {record.stale}")
    lines += ["", "Evidence, the newest first:"]
    for piece in reversed(record.evidence[-MOST_EVIDENCE:]):
        against = " against it" if piece.against else ""
        session = f" in session {piece.session}" if piece.session else ""
        names = " ".join(f"[{name[:SHORT]}]" for name in piece.sources[:4])
        day = f"{piece.when:%Y-%m-%d}" if piece.when else "undated"
        lines.append(f"- {day}{against}, by the {piece.origin}{session} {names}".rstrip())
    return "\n".join(lines)


def _words(message: ireneo.Message) -> str:
    said = [message.text] if message.text else []
    for call in message.draft.calls:
        given = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
        said.append(f"→ {call.name} {given}")
    for result in message.draft.results:
        said += ["(failed)"] if result.failed else []
        said.append(result.text or "(no output)")
    return "\n".join(said)
