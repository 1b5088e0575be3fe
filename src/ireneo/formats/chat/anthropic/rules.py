"""The rules of the format, over the outline of a list."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.anthropic.block_rules import BLOCK_RULES, blocks_of
from ireneo.formats.chat.anthropic.id_rules import bad_call_id, bad_call_name, duplicate_call_id
from ireneo.formats.chat.anthropic.names import CALL, RESULT, ROLES, THINKING, kind_of
from ireneo.formats.chat.anthropic.reader import read_message
from ireneo.formats.chat.anthropic.system_rules import system_in_list
from ireneo.formats.chat.rules.ids import call_without_id
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import first_not_user, unknown_role
from ireneo.formats.chat.rules.thinking import thinking_missing
from ireneo.formats.chat.rules.unreadable import unreadable


def outlined(messages: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `messages`: a user message answers the assistant message directly before it."""
    outlines: list[Outline] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        said = role if isinstance(role, str) else ""
        after = index - 1 if said == "user" and index and outlines[-1].role == "assistant" else None
        outlines.append(
            Outline(
                index=index,
                role=said,
                message=message,
                calls=_named(message, CALL, "id") if said == "assistant" else (),
                results=_named(message, RESULT, "tool_use_id") if said == "user" else (),
                thinks=said == "assistant" and _thinks(message),
                answers=after,
            )
        )
    return Outlines(outlines)


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    system_in_list,
    unreadable(read_message, ROLES),
    call_without_id,
    bad_call_id,
    bad_call_name,
    *BLOCK_RULES,
)
"""Those that look at one message at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, duplicate_call_id, first_not_user, *PAIR_RULES)
THINKING_RULES: tuple[Rule, ...] = (*RULES, thinking_missing)
"""Those that hold where extended thinking is on for the next call."""


def _thinks(message: dict[str, object]) -> bool:
    return any(kind_of(block) in THINKING for block in blocks_of(message)[:1])


def _named(message: dict[str, object], kind: str, key: str) -> tuple[str, ...]:
    names = (block.get(key) for block in blocks_of(message) if kind_of(block) == kind)
    return tuple(name if isinstance(name, str) else "" for name in names)
