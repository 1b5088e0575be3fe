"""What a model is shown of the messages that a summary covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.context.parts import share
from ireneo.context.render import HEADINGS, say
from ireneo.context.shorten import shorten
from ireneo.context.summary import SectionName, Summary
from ireneo.context.weigh import Count, arguments_text
from ireneo.grounding.neutral import neutralise
from ireneo.log.echo import as_said
from ireneo.log.message import Media, Message, Result, Text, as_read

WINDOW_TOKENS = 24_000
"""What a model is shown of a stretch: small models read so much well."""
RECORD_TOKENS = 2_000
LEAF_TOKENS = 700
"""What is shown of one summary where the messages are too many."""
NAMES_SHOWN = 8
RECORD: tuple[SectionName, ...] = ("operations", "artifacts", "dead_ends", "worked", "status")
NOTES: tuple[SectionName, ...] = ("strategy", "discoveries", "dead_ends", "worked", "achieved", "artifacts", "status")


_WHO = {"assistant": "I said:", "user": "the user said:", "system": "the system said:", "tool": "note:"}


class Sources(Struct, frozen=True, kw_only=True):
    """What a summary is written from."""

    messages: tuple[Message, ...]
    """All that it covers: the evidence that its claims are held to."""
    leaves: tuple[Summary, ...] = ()
    """The summaries under it that were written from messages."""


def shown_sources(sources: Sources, count: Count) -> str:
    """The messages, the long ones shortened; where they are far too many, the notes that were taken of them."""
    size = sum(message.tokens for message in sources.messages)
    if size <= 2 * WINDOW_TOKENS or not sources.leaves:
        return _messages(sources.messages, count)
    return "\n\n".join(
        f"[{leaf.first_position}–{leaf.last_position}]\n{record(leaf, NOTES, LEAF_TOKENS, count)}"
        for leaf in sources.leaves[-(WINDOW_TOKENS // LEAF_TOKENS) :]
    )


def requests(summary: Summary, sources: Sources) -> str:
    """What the user asked for: that turn's words, or those of each turn."""
    if summary.level == "turn":
        asked = [line.text for line in summary.lines("goal")]
    else:
        asked = [line.text for line in summary.lines("direction")]
    return "\n".join(f"- {neutralise(text)}" for text in asked) or "(nobody asked for anything in these messages)"


def record(summary: Summary, names: Sequence[SectionName], tokens: int, count: Count) -> str:
    """The sections of a record, as far as there is room."""
    told: list[str] = []
    for name in names:
        lines = [
            say(name, line, [mention.name for mention in line.names[:NAMES_SHOWN]]) for line in summary.lines(name)
        ]
        told += map(neutralise, [f"{HEADINGS[name]}:", *lines] if lines else [])
    # What each line costs alone doesn't add up to what they cost together.
    if count("\n".join(told)) <= tokens:
        return "\n".join(told)
    left = tokens
    for place, text in enumerate(told):
        left -= count(text) + 1
        if left < 0:
            return "\n".join(told[:place])
    return "\n".join(told)


def _messages(messages: Sequence[Message], count: Count) -> str:
    pieces = [piece for message in as_said(messages) for piece in _pieces(message)]
    whole = "\n".join(f"{label} {neutralise(text)}" for label, text, _ in pieces)
    if count(whole) <= WINDOW_TOKENS:
        return whole
    rooms = share([count(text) for _, text, _ in pieces], WINDOW_TOKENS, floor=40)
    lines = []
    for (label, text, opener), room in zip(pieces, rooms, strict=True):
        cut = shorten(text, room, opener, count)
        lines.append(f"{label} {neutralise(cut.text() if cut else text)}")
    return "\n".join(lines)


def _pieces(message: Message) -> Iterator[tuple[str, str, str]]:
    """Each thing that a message says or does: who, what, and the id that opens it."""
    place = f"[{message.position}]"
    who = {"assistant": "I said:", "user": "the user said:", "system": "the system said:", "tool": "note:"}[
        message.role
    ]
    if message.role == "user" and message.draft.origin != "spoken":
        who = "a note of the harness:"
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield place if part.author else f"{place} {who}", as_read(part), message.id
        elif isinstance(part, Result):
            failed = " (failed)" if part.failed else ""
            yield f"{place} the tool returned{failed}:", part.text or "(nothing)", message.id
        elif isinstance(part, Media):
            yield place, f"({part.media_type})", message.id
    for call in message.draft.calls:
        yield f"{place} I called {call.name}:", arguments_text(call), message.id
