"""The rules of the format, over the outline of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.openai.calls import old_id
from ireneo.formats.chat.openai.names import ANSWERING, ROLES
from ireneo.formats.chat.openai.reader import read_message
from ireneo.formats.chat.reading import text_or
from ireneo.formats.chat.rules.ids import call_without_id, duplicate_id_in_message
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule, breach
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import first_not_user, unknown_role
from ireneo.formats.chat.rules.unreadable import unreadable


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a run of tool messages answers the assistant message before it."""
    outlines: list[Outline] = []
    answered: int | None = None
    for index, message in enumerate(messages):
        role = message.get("role")
        said = role if isinstance(role, str) else ""
        answering = said in ANSWERING
        if not answering:
            answered = index if said == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=said,
                message=message,
                calls=_calls(message) if said == "assistant" else (),
                results=(_result(message, said),) if answering else (),
                answers=answered if answering else None,
            )
        )
    return Outlines(outlines)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """Arguments are a string of JSON, not the object itself."""
    for outline in outlines:
        for name, function in _functions(outline.message):
            if not isinstance(function.get(name), str):
                yield breach("bad-arguments", outline.index, f"the {name} of a call must be a string.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """Each call names its function."""
    for outline in outlines:
        if any(function.get("name") == "" for _, function in _functions(outline.message)):
            yield breach("bad-call-name", outline.index, "a call names no function.")


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """Each message has content, if only an empty string; an assistant's may have calls instead."""
    for outline in outlines:
        message = outline.message
        if message.get("tool_calls") == []:
            yield breach("empty-content", outline.index, "`tool_calls` is an empty list; leave it out instead.")
        instead = ("tool_calls", "function_call", "refusal", "audio") if outline.role == "assistant" else ()
        if message.get("content") in (None, []) and not any(message.get(key) for key in instead):
            yield breach("empty-content", outline.index, "it has no content.")


def alternate(outlines: Outlines) -> Iterator[Violation]:
    """After one system message, user and assistant take turns; tool calls and their results stand between the two."""
    expected = "user"
    for outline in outlines:
        if outline.role in ("system", "developer"):
            if outline.index > 0:
                yield breach("alternate", outline.index, "a system message may only stand first, and alone.")
        elif outline.role == "assistant" and outline.calls:
            # Templates don't count these: the turn stays with the assistant until it has answered.
            if expected == "user":
                yield breach("alternate", outline.index, "the user's turn is here, not the assistant's.")
        elif outline.role in ("user", "assistant"):
            if outline.role != expected:
                yield breach("alternate", outline.index, f"the {expected}'s turn is here, not the {outline.role}'s.")
            expected = "assistant" if outline.role == "user" else "user"


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    unreadable(read_message, ROLES),
    call_without_id,
    duplicate_id_in_message,
    bad_arguments,
    bad_call_name,
    empty_content,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, *PAIR_RULES)
ALTERNATING_RULES: tuple[Rule, ...] = (*RULES, first_not_user, alternate)


def _calls(message: dict[str, object]) -> tuple[str, ...]:
    listed = message.get("tool_calls")
    names = [text_or(call.get("id")) for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    old = message.get("function_call")
    if isinstance(old, dict):
        names.append(old_id(text_or(old.get("name"))))
    return tuple(names)


def _result(message: dict[str, object], role: str) -> str:
    return old_id(text_or(message.get("name"))) if role == "function" else text_or(message.get("tool_call_id"))


def _functions(message: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict):
            field, key = ("input", "custom") if call.get("type") == "custom" else ("arguments", "function")
            inner = call.get(key)
            yield field, inner if isinstance(inner, dict) else {}
    old = message.get("function_call")
    if isinstance(old, dict):
        yield "arguments", old
