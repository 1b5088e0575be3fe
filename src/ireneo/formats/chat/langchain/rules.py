"""The rules of the format, over the outline of a list: strict, since the provider below is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.langchain.identity import duplicate_id, missing_id
from ireneo.formats.chat.langchain.names import ROLES, role_named
from ireneo.formats.chat.langchain.reader import bare_draft, read_message
from ireneo.formats.chat.rules.ids import call_without_id, duplicate_id_in_message
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule, breach, thinks
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import first_not_user
from ireneo.formats.chat.rules.thinking import thinking_missing
from ireneo.formats.chat.rules.unreadable import unreadable
from ireneo.log.message import Draft


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a run of tool messages answers the AI message before it."""
    outlines: list[Outline] = []
    answered: int | None = None
    for index, message in enumerate(messages):
        role = role_named(message)
        if role != "tool":
            answered = index if role == "assistant" else None
        draft = _draft(message)
        outlines.append(
            Outline(
                index=index,
                role=role or "",
                message=message,
                calls=tuple(call.id for call in draft.calls) if draft else (),
                results=tuple(result.call_id for result in draft.results) if draft else (),
                thinks=draft is not None and thinks(draft),
                answers=answered if role == "tool" else None,
            )
        )
    return Outlines(outlines)


def unknown_type(outlines: Outlines) -> Iterator[Violation]:
    """Each message is of a type that LangChain knows, and its fields agree."""
    for outline in outlines:
        data = outline.message.get("data")
        said, inner = outline.message.get("type"), data.get("type") if isinstance(data, dict) else None
        if not outline.role:
            known = ", ".join(ROLES)
            yield breach("unknown-type", outline.index, f"its type {said!r} is unknown; expected one of {known}.")
        elif inner not in (None, said):
            yield breach("unknown-type", outline.index, f"its type is {said!r}, but its data say {inner!r}.")


def system_not_first(outlines: Outlines) -> Iterator[Violation]:
    """One system message stands at the beginning, and no other anywhere."""
    for outline in outlines:
        if outline.role == "system" and outline.index > 0:
            yield breach("system-not-first", outline.index, "a system message may only stand first, and alone.")


def misfit(outlines: Outlines) -> Iterator[Violation]:
    """Fields of a message have the shape that LangChain loads."""
    for outline in outlines:
        data = outline.message.get("data")
        for key, fits in _SHAPES.items() if isinstance(data, dict) else ():
            value = data.get(key) if isinstance(data, dict) else None
            if value is not None and not isinstance(value, fits):
                yield breach("misfit", outline.index, f"its {key} can't be loaded.")


_SHAPES: dict[str, type] = {"additional_kwargs": dict, "response_metadata": dict, "name": str, "id": str}

LOCAL_RULES: tuple[Rule, ...] = (
    unknown_type,
    unreadable(read_message, ("system", "user", "assistant", "tool")),
    misfit,
    call_without_id,
    duplicate_id_in_message,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, missing_id, duplicate_id, system_not_first, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where the provider below thinks, and wants its thinking back."""


def _draft(message: dict[str, object]) -> Draft | None:
    try:
        return bare_draft(message, "message")
    except UnreadableLog:
        # Another rule says so.
        return None
