"""How a model is told what its answer has to look like: the JSON schema of the reply, in the prompt.

In words, and not by a provider's own means for structured output, so that it works with any server.
"""

from __future__ import annotations

import json

import msgspec

_ASK = "Answer with one JSON object and nothing else: no prose before or after it, no code fence. Its JSON schema:"


def with_shape(user: str, reply: type[msgspec.Struct]) -> str:
    """What the user says, and after it what the answer has to look like."""
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
