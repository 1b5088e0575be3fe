"""The rules of the format, over the outline of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.pydantic_ai.names import (
    ONLY_IN_REQUESTS,
    ONLY_IN_RESPONSES,
    RESPONSE,
    kind_named,
    part_kind,
    voice_of,
)
from ireneo.formats.chat.pydantic_ai.reader import read_message
from ireneo.formats.chat.rules.ids import call_without_id, duplicate_id_in_message
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule, breach, thinks
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import first_not_user
from ireneo.formats.chat.rules.thinking import thinking_missing
from ireneo.formats.chat.rules.unreadable import unreadable
from ireneo.log.message import Draft


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a request answers the response directly before it."""
    outlines: list[Outline] = []
    for index, message in enumerate(messages):
        drafts = _drafts(message)
        role = _role(message, drafts)
        after = index - 1 if index and role == "user" and outlines[-1].role == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=role,
                message=message,
                calls=tuple(call.id for draft in drafts for call in draft.calls),
                results=tuple(result.call_id for draft in drafts for result in draft.results),
                thinks=any(map(thinks, drafts[:1])),
                answers=after,
            )
        )
    return Outlines(outlines)


def unknown_kind(outlines: Outlines) -> Iterator[Violation]:
    """Each message is a request or a response."""
    for outline in outlines:
        if not outline.role:
            kind = outline.message.get("kind")
            yield breach("unknown-kind", outline.index, f"its kind {kind!r} is unknown; expected request or response.")


def misplaced_part(outlines: Outlines) -> Iterator[Violation]:
    """No part of a request stands in a response, and none of a response in a request."""
    for outline in outlines:
        responds = kind_named(outline.message) == RESPONSE
        for kind in map(part_kind, _parts(outline.message)):
            if kind in (ONLY_IN_REQUESTS if responds else ONLY_IN_RESPONSES):
                where = "response" if responds else "request"
                yield breach("misplaced-part", outline.index, f"a part {kind!r} has no place in a {where}.")


def result_not_first(outlines: Outlines) -> Iterator[Violation]:
    """The results in a request stand before all else in it, as providers want them."""
    for outline in outlines:
        voices = [voice for voice in map(voice_of, _parts(outline.message)) if voice is not None]
        first = voices.count("tool")
        if outline.role != "assistant" and any(voice != "tool" for voice in voices[:first]):
            yield breach("result-not-first", outline.index, "the results must stand before all else in the request.")


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_kind,
    unreadable(read_message, ("system", "user", "assistant")),
    misplaced_part,
    result_not_first,
    call_without_id,
    duplicate_id_in_message,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where the provider below thinks, and wants its thinking back."""


def _drafts(message: dict[str, object]) -> list[Draft]:
    try:
        return read_message(message, "message")
    except UnreadableLog:
        # Another rule says so.
        return []


def _role(message: dict[str, object], drafts: Sequence[Draft]) -> str:
    kind = kind_named(message)
    if not kind or kind == RESPONSE:
        return "assistant" if kind else ""
    return "system" if drafts and all(draft.role == "system" for draft in drafts) else "user"


def _parts(message: dict[str, object]) -> list[dict[str, object]]:
    parts = message.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
