"""Calls and their results meet: answered once, by a result directly after the call."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outlines, breach


def unanswered_call(outlines: Outlines) -> Iterator[Violation]:
    """Each call has a result."""
    for index, name in outlines.found.unanswered:
        yield breach("unanswered-call", index, f"call {name!r} has no result; one must stand directly after it.")


def orphaned_result(outlines: Outlines) -> Iterator[Violation]:
    """Each result follows the call that it names."""
    for index, name in outlines.found.orphaned:
        yield breach("orphaned-result", index, f"the result names call {name!r}, which no message before it makes.")


def result_not_next(outlines: Outlines) -> Iterator[Violation]:
    """Each result stands directly after its call."""
    for index, name in outlines.found.late:
        yield breach("result-not-next", index, f"the result of call {name!r} must stand directly after the call.")


def duplicate_result(outlines: Outlines) -> Iterator[Violation]:
    """Each call has one result."""
    for index, name in outlines.found.repeated:
        yield breach("duplicate-result", index, f"call {name!r} is answered already; it can have one result only.")


PAIR_RULES = (unanswered_call, orphaned_result, result_not_next, duplicate_result)
