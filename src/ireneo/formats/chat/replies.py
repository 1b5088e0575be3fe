"""What a client or a framework returned, taken apart into messages; and messages made into a framework's objects."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

import msgspec

from ireneo.errors import BadInput, UnreadableLog
from ireneo.formats.chat.dumping import CLIENTS, library_of
from ireneo.formats.chat.gemini.names import NAME as GEMINI
from ireneo.formats.chat.langchain.names import NAME as LANGCHAIN
from ireneo.formats.chat.langchain.shape import is_message as is_langchain
from ireneo.formats.chat.pydantic_ai.names import NAME as PYDANTIC_AI
from ireneo.formats.chat.pydantic_ai.shape import is_message as is_pydantic_ai
from ireneo.formats.chat.reading import detached, kind, record

INSTEAD: Final = (
    "hand in a provider's message as a dictionary, what a client of OpenAI, Anthropic or Google returned, a message of "
    "LangChain or Pydantic AI, a Draft, or the user's words as a string"
)
OBJECTS: Final = "objects"
"""What a session notes behind its format where it was begun with objects of it."""
_PIECES = ("Chunk", "Event", "Delta")
_CALLING = ("tool_calls", "function_call")
_RESULTS = ("new_messages", "all_messages")


def messages_of_item(item: object, place: str, *, whole: bool = False) -> Iterator[object]:
    """The messages that `item` is or holds: each a dictionary, or an object that a format reads by itself.

    Of the result of an agent's run these are the new messages; all of them with `whole`. Raises UnreadableLog with a
    sentence that says what to hand in instead.
    """
    if isinstance(item, Mapping):
        yield from _of_envelope(record(_plain(dict(item), place), place), place)
    elif library_of(item) in CLIENTS:
        yield from _of_client(item, place)
    elif is_langchain(item) or is_pydantic_ai(item):
        yield item
    elif library_of(item):
        yield from _of_framework(item, place, whole=whole)
    else:
        raise UnreadableLog(f"{place}: it is {_called(item)}; {INSTEAD}")


def objects_of(item: object) -> str | None:
    """The format whose objects are read from `item`, and are given back as such; None where it is JSON."""
    if isinstance(item, Mapping):
        return None
    library = library_of(item)
    if library == "google":
        # A reply is taken apart; only contents are what is handed in and sent again.
        return GEMINI if hasattr(item, "parts") and hasattr(item, "role") else None
    return {"pydantic_ai": PYDANTIC_AI, "": None, "openai": None, "anthropic": None}.get(library, LANGCHAIN)


def made_into_objects(messages: list[dict[str, object]], name: str) -> list[object]:
    """Messages of the format `name` as objects of the library that it is named after.

    Raises BadInput where the library is not installed, or doesn't load them.
    """
    library, _, loader = _LOADERS[name].partition(" ")
    try:
        module = import_module(library)
        load = getattr(module, loader)
        if name == LANGCHAIN:
            return list(load(messages))
        if name == PYDANTIC_AI:
            return list(load.validate_json(msgspec.json.encode(messages)))
        return [load.model_validate_json(msgspec.json.encode(message)) for message in messages]
    except ImportError as fault:
        raise BadInput(
            f"The messages came in as objects of {library.partition('.')[0]}, which can't be loaded here ({fault}); "
            "install it, or name another format: to=…."
        ) from fault
    except (TypeError, ValueError) as fault:
        raise BadInput(f"{library} can't load the messages as its objects ({fault}).") from fault


_LOADERS = {
    LANGCHAIN: "langchain_core.messages messages_from_dict",
    PYDANTIC_AI: "pydantic_ai.messages ModelMessagesTypeAdapter",
    GEMINI: "google.genai.types Content",
}
"""The module and the name in it by which a format's messages are loaded as objects."""


def _of_envelope(holder: dict[str, object], place: str) -> Iterator[object]:
    """The messages in a reply as JSON; what is no reply is a message."""
    if holder.get("object") == "chat.completion.chunk":
        raise UnreadableLog(_piece("chat completion chunk", place))
    if "role" not in holder and isinstance(holder.get("choices"), list):
        yield _unparsed(_message_of(_only(holder["choices"], "choice", "completion.choices[0].message", place)))
    elif holder.get("object") == "response" and isinstance(holder.get("output"), list):
        yield from map(_told, _listed(holder["output"]))
    elif "role" not in holder and isinstance(holder.get("candidates"), list):
        yield _content_of(_only(holder["candidates"], "candidate", "response.candidates[0].content", place), place)
    elif isinstance(holder.get("message"), dict) and "finish_reason" in holder:
        yield _unparsed(_message_of(holder))
    elif holder.get("type") == "message" and "stop_reason" in holder:
        # What else the provider told with it, it does not take back.
        content = holder.get("content")
        said = [*map(_told, content)] if isinstance(content, list) else content
        yield {"role": holder.get("role"), "content": said}
    else:
        yield _unparsed(holder)


def _of_client(item: object, place: str) -> Iterator[object]:
    name = type(item).__name__
    if name.endswith(_PIECES) or hasattr(item, "__next__") or hasattr(item, "__anext__"):
        raise UnreadableLog(_piece(name, place))
    if callable(getattr(item, "parse", None)) and hasattr(item, "http_response"):
        raise UnreadableLog(f"{place}: it is {_called(item)}, a reply as it came over the wire; hand in its .parse()")
    # Each part dumps itself: a whole would dump what the client made of its parts as well.
    output, content = getattr(item, "output", None), getattr(item, "content", None)
    if isinstance(output, list) and getattr(item, "object", None) == "response":
        for each in output:
            yield _plain(each, place)
    elif getattr(item, "type", None) == "message" and hasattr(item, "stop_reason"):
        yield _plain({"role": getattr(item, "role", None), "content": content}, place)
    else:
        plain = _plain(item, place)
        if not isinstance(plain, dict):
            raise UnreadableLog(f"{place}: it is {_called(item)}; {INSTEAD}")
        yield from _of_envelope(plain, place)


def _of_framework(item: object, place: str, *, whole: bool) -> Iterator[object]:
    """The messages of a run's result, or of a prompt that was filled in."""
    to_messages = getattr(item, "to_messages", None)
    found = [getattr(item, name) for name in _RESULTS if callable(getattr(item, name, None))]
    if callable(to_messages):
        yield from to_messages()
    elif found:
        yield from found[-1 if whole else 0]()
    else:
        raise UnreadableLog(f"{place}: it is {_called(item)}; {INSTEAD}")


def _plain(value: object, place: str) -> object:
    """`value` as JSON where an object stands in it; else as it is."""
    if isinstance(value, dict) and not any(map(_holds_objects, value.values())):
        return value
    return detached(value, place)


def _holds_objects(value: object) -> bool:
    listed = value if isinstance(value, list | tuple) else [value]
    return any(library_of(each) in CLIENTS for each in listed) or isinstance(value, tuple)


def _only(listed: object, what: str, instead: str, place: str) -> dict[str, object]:
    found = _listed(listed)
    if len(found) != 1 or not isinstance(found[0], dict):
        raise UnreadableLog(
            f"{place}: it is a reply with {len(found)} {what}s, of which one can be taken; hand in that one: {instead}"
        )
    return found[0]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _message_of(choice: dict[str, object]) -> dict[str, object]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _content_of(candidate: dict[str, object], place: str) -> object:
    content = candidate.get("content")
    if not isinstance(content, dict):
        reason = candidate.get("finishReason", candidate.get("finish_reason"))
        raise UnreadableLog(f"{place}: it is a reply without any content (finish reason {reason}); leave it out")
    return content


def _unparsed(message: dict[str, object]) -> dict[str, object]:
    """`message` without what OpenAI's client parsed of it, and without calls that are null: neither is taken back."""
    if "parsed" not in message and not any(key in message for key in _CALLING):
        return message
    calls = [_without(call, "parsed_arguments") for call in _listed(message.get("tool_calls"))]
    kept = {
        key: value for key, value in message.items() if key != "parsed" and (value is not None or key not in _CALLING)
    }
    return kept | ({"tool_calls": calls} if calls else {})


def _told(part: object) -> object:
    """A part of a reply without the keys that say nothing: dumped whole, it has some that the provider refuses."""
    return {key: value for key, value in part.items() if value is not None} if isinstance(part, dict) else part


def _without(call: object, key: str) -> object:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or key not in function:
        return call
    return call | {"function": {name: value for name, value in function.items() if name != key}}


def _piece(name: str, place: str) -> str:
    return f"{place}: it is a {name}, a piece of a stream; hand in the whole message once the stream is over"


def _called(item: object) -> str:
    if inspect.isawaitable(item):
        return "something that must be awaited first"
    return kind(item)
