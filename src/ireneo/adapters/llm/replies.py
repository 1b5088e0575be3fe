"""What a model is told of the shape of its answer, and how the answer is read."""

from __future__ import annotations

import json
import re
from typing import TypeVar

import msgspec

from ireneo.errors import BadReply
from ireneo.patterns import lazy_re

_SHOWN = 200
_KEY = lazy_re(r"\b(?:sk|pk|key|gsk|xai|AIza)[-_*][\w*.-]{6,}|\bAIza[\w-]{10,}")


def shown(words: str, keys: tuple[str, ...]) -> str:
    """Somebody else's words as a message may hold them: one short line, without keys."""
    line = " ".join(words.split())
    for key in keys:
        line = line.replace(key, "[key]")
    line = _KEY.sub("[key]", line)
    if len(line) > _SHOWN:
        line = line[: _SHOWN - 1] + "…"
    return line or "no reason was given"


_ASK = "Answer with one JSON object and nothing else: no prose before or after it, no code fence. Its JSON schema:"


def with_shape(user: str, reply: type[msgspec.Struct]) -> str:
    """What the user says, and after it what the answer has to look like.

    In words, and not by a provider's own means for structured output, so that it works with any server.
    """
    shape = json.dumps(schema(reply), ensure_ascii=False, separators=(",", ":"))
    return f"{user.rstrip()}\n\n{_ASK}\n{shape}"


def schema(reply: type[msgspec.Struct]) -> object:
    """The JSON schema of `reply` with everything in its place, since small models don't follow references well."""
    (top,), parts = msgspec.json.schema_components([reply], ref_template="{name}")
    return _whole(top, parts, ())


def _whole(node: object, parts: dict[str, object], inside: tuple[str, ...]) -> object:
    """`node` with what it refers to put in; what refers to itself is left as an object of any kind."""
    if isinstance(node, list):
        return [_whole(each, parts, inside) for each in node]
    if not isinstance(node, dict):
        return node
    name = node.get("$ref")
    if isinstance(name, str):
        return {"type": "object"} if name in inside else _whole(parts[name], parts, (*inside, name))
    # A title repeats the name of our own class, and says nothing to a model. A field may be called title, too.
    return {
        key: {field: _whole(each, parts, inside) for field, each in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _whole(value, parts, inside)
        for key, value in node.items()
        if key != "title"
    }


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
