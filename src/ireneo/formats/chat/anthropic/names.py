"""The words of the format."""

from __future__ import annotations

from typing import Final

from ireneo.patterns import lazy_re

NAME: Final = "anthropic"

ROLES: Final = ("user", "assistant", "system")
"""A system message has no place in the list, but is found in some; it is read, and reported."""

CALL: Final = "tool_use"
RESULT: Final = "tool_result"
THINKING: Final = ("thinking", "redacted_thinking")

FITTING_ID: Final = lazy_re(r"[A-Za-z0-9_-]+")


def is_server_call(kind: str) -> bool:
    """Whether a block is a call that the provider runs: ``server_tool_use``, ``mcp_tool_use``."""
    return kind.endswith(f"_{CALL}")


def is_server_result(kind: str) -> bool:
    """Whether a block is the result of one: ``web_search_tool_result`` and its like."""
    return kind.endswith(f"_{RESULT}")


def kind_of(block: dict[str, object]) -> str:
    """The type of a block; empty where it has none."""
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""
