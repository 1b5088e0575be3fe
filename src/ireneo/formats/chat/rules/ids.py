"""Calls and results bear ids that can be told apart."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outlines, breach


def call_without_id(outlines: Outlines) -> Iterator[Violation]:
    """Each call has an id, and each result names one."""
    for outline in outlines:
        if "" in outline.calls:
            yield breach("call-without-id", outline.index, "a call has no id, so that no result can name it.")
        if "" in outline.results:
            yield breach("call-without-id", outline.index, "a result doesn't say which call it answers.")


def duplicate_id(outlines: Outlines) -> Iterator[Violation]:
    """No two calls of a list bear one id."""
    seen: set[str] = set()
    for outline in outlines:
        for name in filter(None, outline.calls):
            if name in seen:
                yield breach("duplicate-call-id", outline.index, f"the id {name!r} is that of an earlier call.")
            seen.add(name)


def duplicate_id_in_message(outlines: Outlines) -> Iterator[Violation]:
    """No two calls of a message bear one id."""
    for outline in outlines:
        seen: set[str] = set()
        for name in filter(None, outline.calls):
            if name in seen:
                yield breach("duplicate-call-id", outline.index, f"the id {name!r} is that of another call beside it.")
            seen.add(name)
