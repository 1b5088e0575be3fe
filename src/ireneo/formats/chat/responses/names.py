"""The words of the format, and what an item is by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ireneo.formats.chat.reading import text_or

NAME: Final = "openai-responses"

ROLES: Final = ("user", "assistant", "system", "developer")
SIDES: Final = (*ROLES, "tool")
"""Who hands in an item: the roles of messages, and ``tool`` for the outputs of calls."""

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
CALL: Final = "function_call"
CUSTOM_CALL: Final = "custom_tool_call"
APPROVAL: Final = "mcp_approval_response"

OTHERS: Final = (REASONING, APPROVAL, "mcp_approval_request", "mcp_list_tools", "compaction", "item_reference")
"""Items that are neither messages nor calls nor outputs."""

LONGEST_ID: Final = 64
"""How many letters a call's id may have."""

ID_BEGINS: Final = {MESSAGE: "msg", REASONING: "rs", CALL: "fc"}
"""How the provider's own ids of items begin; others are refused."""

_SEARCH, _FOUND = "tool_search_call", "tool_search_output"


def kind_of(item: dict[str, object]) -> str:
    """The type of an item; a message may leave it out. Empty where there is none."""
    return text_or(item.get("type"), MESSAGE if item.get("type") is None and "role" in item else "")


def call_id_of(item: dict[str, object]) -> str:
    """The id by which a call and its output know each other; empty where there is none."""
    # The output of a local shell bears it under another name.
    return text_or(item.get("call_id")) or (text_or(item.get("id")) if is_output(item) else "")


def is_call(item: dict[str, object]) -> bool:
    """Whether the application answers it: those that the provider runs itself have no id to be answered by."""
    kind = kind_of(item)
    return kind in (CALL, CUSTOM_CALL) or (kind.endswith("_call") and isinstance(item.get("call_id"), str))


def is_output(item: dict[str, object]) -> bool:
    """Whether it answers a call."""
    kind = kind_of(item)
    return kind.endswith("_call_output") or (kind == _FOUND and isinstance(item.get("call_id"), str))


def output_kind(kind: str) -> str:
    """The type of the output that answers a call of type `kind`."""
    return _FOUND if kind == _SEARCH else f"{kind}_output"


def side_of(item: dict[str, object]) -> str:
    """Who hands it in: a message's role; else the application, for what it answers, or the model."""
    kind = kind_of(item)
    if kind in ("", MESSAGE):
        return text_or(item.get("role"))
    if kind == APPROVAL:
        return "user"
    return "tool" if is_output(item) else "assistant"


def content_fits(kind: str, side: str) -> bool:
    """Whether a content part of type `kind` may stand in a message or an output of that side."""
    return kind == "refusal" or kind.startswith("output_") if side == "assistant" else kind.startswith("input_")


def has_reasoning(items: Sequence[dict[str, object]]) -> bool:
    """Whether the model reasoned for these items."""
    return any(kind_of(item) == REASONING for item in items)
