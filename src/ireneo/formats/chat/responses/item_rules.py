"""What may stand in an item, and what must stand behind it."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.mends.names import FITTING_NAME
from ireneo.formats.chat.reading import kind as called
from ireneo.formats.chat.reading import text_or
from ireneo.formats.chat.responses.names import (
    CALL,
    CUSTOM_CALL,
    ID_BEGINS,
    LONGEST_ID,
    MESSAGE,
    REASONING,
    content_fits,
    kind_of,
    output_kind,
    side_of,
)
from ireneo.formats.chat.rules.outline import Outlines, Rule, breach


def reasoning_alone(outlines: Outlines) -> Iterator[Violation]:
    """Reasoning leads to something: something else that the model made follows it."""
    following = [outline.message for outline in outlines][1:]
    for outline in outlines:
        led = outline.index < len(following) and side_of(following[outline.index]) == "assistant"
        if kind_of(outline.message) == REASONING and not led:
            says = "the reasoning has lost what it led to; the message or the call that it came with must follow."
            yield breach("reasoning-alone", outline.index, says)


def reasoning_without_summary(outlines: Outlines) -> Iterator[Violation]:
    """Reasoning has a summary, if only an empty one."""
    for outline in outlines:
        if kind_of(outline.message) == REASONING and not isinstance(outline.message.get("summary"), list):
            says = "the reasoning has no `summary`; an empty list will do."
            yield breach("reasoning-without-summary", outline.index, says)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """Arguments are a string of JSON, not the object itself; a custom tool's input is a string."""
    for outline in outlines:
        field = {CALL: "arguments", CUSTOM_CALL: "input"}.get(kind_of(outline.message))
        if field and not isinstance(outline.message.get(field), str):
            yield breach("bad-arguments", outline.index, f"the {field} of a call must be a string.")


def bad_call_name(outlines: Outlines) -> Iterator[Violation]:
    """A tool's name is made of at most 128 letters, digits, underscores and hyphens."""
    for outline in outlines:
        name = outline.message.get("name")
        if (
            kind_of(outline.message) in (CALL, CUSTOM_CALL)
            and isinstance(name, str)
            and not FITTING_NAME.fullmatch(name)
        ):
            says = f"the tool's name {name!r} may only hold letters, digits, underscores and hyphens, at most 128."
            yield breach("bad-call-name", outline.index, says)


def bad_call_id(outlines: Outlines) -> Iterator[Violation]:
    """A call's id is no longer than 64 letters."""
    for outline in outlines:
        for name in (*outline.calls, *outline.results):
            if len(name) > LONGEST_ID:
                yield breach(
                    "bad-call-id", outline.index, f"the id {name[:12]!r}… is longer than {LONGEST_ID} letters."
                )


def bad_item_id(outlines: Outlines) -> Iterator[Violation]:
    """An item's id is one that the provider gave it."""
    for outline in outlines:
        begins = ID_BEGINS.get(kind_of(outline.message), "")
        name = outline.message.get("id")
        if isinstance(name, str) and not name.startswith(begins):
            says = f"its id {name!r} doesn't begin with {begins!r}; leave out an id that the provider didn't give."
            yield breach("bad-item-id", outline.index, says)


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A message has content, if only an empty string; so has an output."""
    for outline in outlines:
        kind = kind_of(outline.message)
        if kind == MESSAGE and outline.message.get("content") in (None, []):
            yield breach("empty-content", outline.index, "it has no content.")
        if kind in (output_kind(CALL), output_kind(CUSTOM_CALL)):
            output = outline.message.get("output")
            if not isinstance(output, str | list):
                says = f"its output is {called(output)}, neither a string nor a list of parts."
                yield breach("empty-content", outline.index, says)


def misplaced_content(outlines: Outlines) -> Iterator[Violation]:
    """What the model said is output; what it is given is input."""
    for outline in outlines:
        field = "content" if kind_of(outline.message) == MESSAGE else "output"
        blocks = outline.message.get(field) if outline.role else None
        for block in blocks if isinstance(blocks, list) else ():
            kind = text_or(block.get("type")) if isinstance(block, dict) else ""
            if kind and not content_fits(kind, outline.role):
                says = f"a {kind} part may not stand in what the {outline.role} says."
                yield breach("misplaced-content", outline.index, says)


ITEM_RULES: tuple[Rule, ...] = (
    reasoning_without_summary,
    bad_arguments,
    bad_call_name,
    bad_call_id,
    bad_item_id,
    empty_content,
    misplaced_content,
)
