"""Ids and names that the provider takes, each id once."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.anthropic.block_rules import blocks_of
from ireneo.formats.chat.anthropic.names import CALL, FITTING_ID, is_server_call, kind_of
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.mends.names import FITTING_NAME
from ireneo.formats.chat.rules.outline import Outlines, breach


def duplicate_call_id(outlines: Outlines) -> Iterator[Violation]:
    """No two calls of a list bear one id."""
    seen: set[str] = set()
    for outline in outlines:
        for block in blocks_of(outline.message):
            name = block.get("id")
            if isinstance(name, str) and name and (kind_of(block) == CALL or is_server_call(kind_of(block))):
                if name in seen:
                    yield breach("duplicate-call-id", outline.index, f"the id {name!r} is that of an earlier call.")
                seen.add(name)


def bad_call_id(outlines: Outlines) -> Iterator[Violation]:
    """An id is made of letters, digits, underscores and hyphens."""
    for outline in outlines:
        for name in filter(None, (*outline.calls, *outline.results)):
            if not FITTING_ID.fullmatch(name):
                says = f"the id {name!r} may only hold letters, digits, underscores and hyphens."
                yield breach("bad-call-id", outline.index, says)


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """A tool's name is made of at most 128 letters, digits, underscores and hyphens."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            name = block.get("name")
            if kind_of(block) == CALL and isinstance(name, str) and not FITTING_NAME.fullmatch(name):
                says = f"the tool's name {name!r} may only hold letters, digits, underscores and hyphens, at most 128."
                yield breach("bad-call-name", outline.index, says)
