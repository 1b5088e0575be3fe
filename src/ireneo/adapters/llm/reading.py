"""Reads the one JSON object of an answer: tolerant of what stands around it, strict about what it is."""

from __future__ import annotations

import json
import re
from typing import TypeVar

import msgspec

from ireneo.errors import BadReply
from ireneo.patterns import lazy_re

R = TypeVar("R", bound=msgspec.Struct)

_THOUGHT = lazy_re(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_MOST_PLACES = 50
"""How many braces are looked at before a text is taken for prose."""


def read_reply(text: str, reply: type[R]) -> R:
    """Read an answer as a `reply`. Raises BadReply, whose message goes on after "The answer of the model …"."""
    text = _THOUGHT.sub("", text)
    if not text.strip():
        raise BadReply("is empty")
    objects = _objects(text)
    if not objects:
        raise BadReply("holds no JSON object")
    read = [value for value in (_as(each, reply) for each in objects) if isinstance(value, reply)]
    if not read:
        raise BadReply(f"is JSON of another shape: {_as(objects[0], reply)}")
    # Some models write their answer twice; two different answers are none.
    if any(value != read[0] for value in read):
        raise BadReply("holds several JSON objects that say different things")
    return read[0]


def _objects(text: str) -> list[dict[str, object]]:
    """The JSON objects that stand in `text`, side by side, but not one inside another."""
    # Line breaks inside strings are let pass: models write them, and there is but one way to understand them.
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)
    found: list[dict[str, object]] = []
    at = text.find("{")
    for _ in range(_MOST_PLACES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            # What is no JSON may hold something that is, but that would be a piece of an answer.
            end = _closing(text, at)
        at = text.find("{", end)
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _closing(text: str, at: int) -> int:
    """Where the brace at `at` is closed again; the end of the text, where it is not."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return len(text)


def _as(value: dict[str, object], reply: type[R]) -> R | str:
    """`value` as a `reply`, or why it is none."""
    fields = [field.encode_name for field in msgspec.structs.fields(reply)]
    if fields and not any(name in value for name in fields):
        # Where every field has a default, an object about something else would be read as an empty answer.
        return f"it has none of {', '.join(fields)}"
    try:
        json.dumps(value, ensure_ascii=False).encode()
        return msgspec.convert(value, reply)
    except UnicodeEncodeError:
        return "it holds half of a character"
    except (msgspec.ValidationError, RecursionError) as wrong:
        return str(wrong).rstrip(".")
