"""What may stand in a content: which parts, in which order, and none that says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.gemini.ids import is_made_up, named
from ireneo.formats.chat.gemini.names import CALL, RESULT, SIGNATURE, field, parts_in, without
from ireneo.formats.chat.rules.outline import Outlines, Rule, breach


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A content has parts, and each part says something."""
    for outline in outlines:
        parts = parts_in(outline.message)
        if not parts:
            yield breach("empty-content", outline.index, "it has no parts.")
        for part in parts:
            bare = {key for key, value in without(part, SIGNATURE).items() if value is not None} <= {"thought"}
            if bare or (part.get("text") == "" and not field(part, SIGNATURE)):
                yield breach("empty-part", outline.index, "a part says nothing; leave it out.")


def thought_alone(outlines: Outlines) -> Iterator[Violation]:
    """A thought leads to something."""
    for outline in outlines:
        parts = parts_in(outline.message)
        if outline.role == "model" and parts and all(_is_thought(part) for part in parts):
            yield breach("thought-alone", outline.index, "it holds nothing but thoughts.")


def misplaced_part(outlines: Outlines) -> Iterator[Violation]:
    """Calls are the model's, results the user's."""
    for outline in outlines:
        wrong = CALL if outline.role == "user" else RESULT
        if any(field(part, wrong) is not None for part in parts_in(outline.message)):
            says = f"a {wrong} part may not stand in a content of the {outline.role}."
            yield breach("misplaced-part", outline.index, says)


def results_not_first(outlines: Outlines) -> Iterator[Violation]:
    """Results stand before everything else in their content."""
    for outline in outlines:
        kinds = [field(part, RESULT) is not None for part in parts_in(outline.message)]
        if outline.role == "user" and kinds != sorted(kinds, reverse=True):
            yield breach("results-not-first", outline.index, "a result stands after other parts, not first.")


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """The arguments of a call are an object, and so is a response."""
    for outline in outlines:
        for part in parts_in(outline.message):
            call, result = field(part, CALL), field(part, RESULT)
            if isinstance(call, dict) and not isinstance(call.get("args"), dict | None):
                yield breach("bad-arguments", outline.index, "the args of a call must be an object.")
            if isinstance(result, dict) and not isinstance(result.get("response"), dict):
                yield breach("bad-arguments", outline.index, "the response to a call must be an object.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """Each call names its function; an id is one that the provider gave."""
    for outline in outlines:
        parts = parts_in(outline.message)
        for own, name in (*named(parts, CALL), *named(parts, RESULT)):
            if not name:
                yield breach("bad-call-name", outline.index, "a call or its result names no function.")
            if is_made_up(own):
                yield breach("bad-call-id", outline.index, f"the id {own!r} stands for none; leave it out.")


PART_RULES: tuple[Rule, ...] = (
    empty_content,
    thought_alone,
    misplaced_part,
    results_not_first,
    bad_arguments,
    bad_call_name,
)


def _is_thought(part: dict[str, object]) -> bool:
    return part.get("thought") is True and bool(part.get("text"))
