"""The detection of a message's format, and reading whatever a caller passes.

Callers pass strings, dictionaries, clients' replies and frameworks' objects, of one provider or several. Each message
is read in the format that its marks show. A plain one, valid in several formats, is read in the format of the messages
before it: a session may begin with plain messages and continue with any provider's blocks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from itertools import groupby, islice
from typing import Final, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput, UnreadableLog
from ireneo.formats.chat.format import (
    ANTHROPIC,
    CHAT_FORMATS,
    DEFAULT_FORMAT,
    GEMINI,
    LANGCHAIN,
    OPENAI,
    PYDANTIC_AI,
    RESPONSES,
    ChatFormat,
    Payload,
    chat_format,
)
from ireneo.formats.chat.traits import TRAITS
from ireneo.formats.values import (
    CLIENTS,
    TIME_KEYS,
    json_type,
    library_of,
    objects,
    parse_time,
    require_object,
    string,
    string_or,
    to_plain_json,
    without,
)
from ireneo.log.message import Draft, Native, Origin, Part, Role, Text
from ireneo.patterns import lazy_re, readable

# The marks by which a single message shows its format.

_ANSWERING = ("tool", "function")
_PROMPTING = ("system", "developer")
_CALLING = ("tool_calls", "function_call", "tool_call_id")
_OPENAI_FIELDS = (*_CALLING, "name", "refusal", "annotations", "audio", "reasoning_content", "reasoning")
_OPENAI_DUMPED = (*_CALLING, "refusal", "annotations", "audio")
"""Fields that OpenAI's client dumps even if they are empty."""
_OPENAI_PARTS = ("image_url", "input_audio", "file", "refusal", "video_url", "audio_url")
_ANTHROPIC_BLOCKS = (
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "container_upload",
    "compaction",
)
_OF_SERVER = ("_tool_use", "_tool_result")
"""The ends of Anthropic's types for calls that the provider runs, and their results."""
_BOUND_TO_BLOCKS = ("cache_control", "citations")
"""Keys of Anthropic's text blocks, which some servers of OpenAI's format accept as well."""
_LANGCHAIN_TYPES = ("system", "human", "ai", "tool", "function", "chat", "remove")
_PYDANTIC_KINDS = ("request", "response")
_ITEMS = (
    "reasoning",
    "mcp_approval_response",
    "mcp_approval_request",
    "mcp_list_tools",
    "compaction",
    "item_reference",
)
"""Items of OpenAI's Responses other than messages, calls and outputs."""
_ITEM_CONTENT = ("input_text", "output_text", "input_image", "input_file")


def mark_of(message: object) -> str | None:
    """Return the format whose marks `message` bears; None if it is plain, and valid in several."""
    if _is_langchain(message):
        return LANGCHAIN
    if _is_pydantic_ai(message):
        return PYDANTIC_AI
    if not isinstance(message, dict):
        return None
    if "parts" in message and "kind" not in message:
        return GEMINI
    if _is_item(message):
        return RESPONSES
    return _by_blocks(message) if "role" in message else None


def likely_format(message: object) -> str | None:
    """Return the likely format of a message without marks; None for plain text."""
    if not isinstance(message, dict):
        return None
    if message.get("role") in _PROMPTING:
        return OPENAI
    bound = any(key in block for block in objects(message.get("content")) for key in _BOUND_TO_BLOCKS)
    return ANTHROPIC if bound or message.get("type") == "message" else None


def unknown_block(message: object) -> str | None:
    """Return the type of a plain message's first content block other than text, whose format is unknown."""
    if not isinstance(message, dict) or mark_of(message) is not None:
        return None
    return next((kind for kind in _kinds(message) if kind != "text"), None)


def _is_langchain(item: object) -> bool:
    said = string_or(item.get("type") if isinstance(item, dict) else getattr(item, "type", None))
    if said.endswith("MessageChunk"):
        said = said.removesuffix("MessageChunk").lower()
    if said not in _LANGCHAIN_TYPES:
        return False
    if not isinstance(item, dict):
        return callable(getattr(item, "model_dump", None))
    return isinstance(item.get("data"), dict) or "content" in item


def _is_pydantic_ai(item: object) -> bool:
    if isinstance(item, dict):
        return string_or(item.get("kind")) in _PYDANTIC_KINDS and isinstance(item.get("parts"), list)
    return hasattr(item, "parts") and string_or(getattr(item, "kind", None)) in _PYDANTIC_KINDS


def _is_item(item: dict[str, object]) -> bool:
    """Whether `item` is one of OpenAI's Responses, and no message that is valid in other formats."""
    said, content = item.get("type"), item.get("content")
    if said is not None and said != "message":
        type_name = string_or(said)
        found = type_name == "tool_search_output" and isinstance(item.get("call_id"), str)
        return found or type_name in _ITEMS or type_name.endswith(("_call", "_call_output"))
    if "role" not in item and said is None:
        return False
    if not isinstance(content, list):
        return "type" in item
    # `refusal` also occurs in OpenAI's chat, and `type: message` in Anthropic's replies.
    shown = (*_ITEM_CONTENT, *(("refusal",) if "type" in item else ()))
    return any(block.get("type") in shown for block in objects(content))


def _by_blocks(message: dict[str, object]) -> str | None:
    if message.get("role") in _ANSWERING or any(message.get(key) is not None for key in _CALLING):
        return OPENAI
    if any(map(_is_anthropic, objects(message.get("content")))):
        return ANTHROPIC
    filled = any(message.get(key) not in (None, [], {}, "") for key in _OPENAI_FIELDS)
    dumped = any(key in message for key in _OPENAI_DUMPED)
    if filled or dumped or any(kind in _OPENAI_PARTS for kind in _kinds(message)):
        return OPENAI
    return None


def _is_anthropic(block: dict[str, object]) -> bool:
    said = string_or(block.get("type"))
    if said == "thinking":
        # Other providers have a block of that name with a list in it.
        return not isinstance(block.get("thinking"), list)
    return said in _ANTHROPIC_BLOCKS or said.endswith(_OF_SERVER)


def _kinds(message: dict[str, object]) -> list[str]:
    """Return the types of a message's content blocks."""
    return [kind for block in objects(message.get("content")) if isinstance(kind := block.get("type"), str)]


# The times of messages, as callers note them.

_INSIDE = ("additional_kwargs", "response_metadata", "metadata")
"""Where frameworks keep additional fields."""


def time_of(message: object) -> datetime | None:
    """Return the time that a message has, or the latest of its parts."""
    for holder in (message, *_time_values(message, _INSIDE)):
        if at := next(filter(None, map(_moment, _time_values(holder, TIME_KEYS))), None):
            return at
    parts = next(iter(_time_values(message, ("parts",))), ())
    times = (time_of(part) for part in (parts if isinstance(parts, list | tuple) else ()))
    return max(filter(None, times), default=None)


def without_times(message: Mapping[str, object]) -> dict[str, object]:
    """Remove the time that a caller added to `message`; the provider would reject the key."""
    return {key: value for key, value in message.items() if key not in TIME_KEYS or _moment(value) is None}


def with_times(
    drafts: Sequence[Draft],
    given: Sequence[object],
    times: Sequence[datetime | None],
    decode: Callable[[list[object]], list[Draft]],
) -> list[Draft]:
    """Give `drafts`, which `decode` made of the messages `given`, the `times` of these messages.

    They stay as they are where it is unclear which draft comes from which message.
    """
    sources = _source_of_each(drafts, given, decode) if any(times) else None
    if sources is None:
        return list(drafts)
    timed = ((draft, times[source]) for draft, source in zip(drafts, sources, strict=True))
    return [draft if draft.at is not None or at is None else replace(draft, at=at) for draft, at in timed]


def _source_of_each(
    drafts: Sequence[Draft], given: Sequence[object], decode: Callable[[list[object]], list[Draft]]
) -> list[int] | None:
    """Of which of the messages `given` each draft was made; None where that is unclear."""
    try:
        sources = [index for index, message in enumerate(given) for _ in decode([message])]
    except UnreadableLog:  # A message that can only be read beside others.
        return None
    return sources if len(sources) == len(drafts) else None


_SCENE: Final = ("author", "present")
"""The keys of a message that say who speaks in a story and who hears it; no provider knows them."""


class Scene(Struct, frozen=True):
    """Who speaks a message of a story, and who hears it (None: everyone)."""

    author: str | None
    present: tuple[str, ...] | None

    @classmethod
    def of(cls, message: object, place: str) -> Scene | None:
        """Read the `author` and the `present` of a message; with `present`, its `name` is an author too.

        None if it names neither. Raises UnreadableLog if it doesn't say who was present, since nobody else may hear it.
        """
        if not isinstance(message, dict):
            return None
        present, author = message.get("present"), string(message.get("author"))
        if present is None:
            return cls(author=author, present=None) if author else None
        if author is None and message.get("role") not in _ANSWERING:
            author = string(message.get("name"))
        names = [present] if isinstance(present, str) else present
        if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
            raise UnreadableLog(f'{place}: its `present` is no list of names; give one such as ["Vera", "Anselm"]')
        return cls(author=author, present=tuple(names))

    def give_author(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Return `drafts`, which were made of one message, with its author and its listeners on each text."""
        return [
            replace(
                draft,
                parts=tuple(
                    replace(part, author=self.author, present=self.present) if isinstance(part, Text) else part
                    for part in draft.parts
                ),
            )
            for draft in drafts
        ]


def decode_message(message: object, chat: ChatFormat, place: str = "message 0") -> list[Draft]:
    """Read one message of a list, with the `author` and the `present` that it may have beside its content."""
    scene = Scene.of(message, place)
    if scene is None or not isinstance(message, dict):
        return chat.decode([message])
    return scene.give_author(chat.decode([without(message, *_SCENE)]))


def _time_values(holder: object, names: Sequence[str]) -> list[object]:
    held = map(holder.get, names) if isinstance(holder, Mapping) else (getattr(holder, each, None) for each in names)
    return [value for value in held if value is not None]


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.astimezone()
    return parse_time(value)


INSTEAD: Final = (
    "hand in a provider's message as a dictionary, what a client of OpenAI, Anthropic or Google returned, a message of "
    "LangChain or Pydantic AI, a Draft, or the user's words as a string"
)
OBJECTS: Final = "objects"
"""The suffix of a session's format where it began with objects of a library."""
_PIECES = ("Chunk", "Event", "Delta")
_CALL_FIELDS = ("tool_calls", "function_call")
_RESULTS = ("new_messages", "all_messages")


def messages_of_item(item: object, place: str, *, whole: bool = False) -> Iterator[object]:
    """Return the messages that `item` is or holds, as dictionaries or as objects that a format reads.

    Of an agent's result these are the new messages, with `whole` all of them. Raises UnreadableLog, which says what to
    pass instead.
    """
    if isinstance(item, Mapping):
        yield from _messages_in_reply(require_object(_plain(dict(item), place), place), place)
    elif library_of(item) in CLIENTS:
        yield from _client_messages(item, place)
    elif _is_langchain(item) or _is_pydantic_ai(item):
        yield item
    elif library_of(item):
        to_messages = getattr(item, "to_messages", None)
        found = [getattr(item, name) for name in _RESULTS if callable(getattr(item, name, None))]
        if callable(to_messages):
            yield from to_messages()
        elif found:
            yield from found[-1 if whole else 0]()
        else:
            raise UnreadableLog(f"{place}: it is {_describe_value(item)}; {INSTEAD}")
    else:
        raise UnreadableLog(f"{place}: it is {_describe_value(item)}; {INSTEAD}")


def objects_of(item: object) -> str | None:
    """Return the format of an object of a library, in which messages are returned as well; None for JSON."""
    if isinstance(item, Mapping):
        return None
    library = library_of(item)
    if library == "google":
        # Only the contents of a reply are sent again.
        return GEMINI if hasattr(item, "parts") and hasattr(item, "role") else None
    if library in ("", *CLIENTS):
        return None
    return PYDANTIC_AI if library == "pydantic_ai" else LANGCHAIN


def to_library_objects(messages: list[dict[str, object]], name: str) -> list[object]:
    """Convert messages of the format `name` to objects of its library.

    Raises BadInput where the library is not installed, or rejects them.
    """
    library, _, loader = TRAITS[name].loader.partition(" ")
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


def _messages_in_reply(holder: dict[str, object], place: str) -> Iterator[object]:
    """Return the messages in a reply as JSON, or the message that `holder` is."""
    says = "role" in holder
    if holder.get("object") == "chat.completion.chunk":
        raise UnreadableLog(_stream_piece_text("chat completion chunk", place))
    if not says and isinstance(holder.get("choices"), list):
        yield _without_parsed(
            _only_choice(holder["choices"], "choice", "completion.choices[0].message", place).get("message")
        )
    elif holder.get("object") == "response" and isinstance(holder.get("output"), list):
        yield from map(_without_nulls, _list_or_empty(holder["output"]))
    elif not says and isinstance(holder.get("candidates"), list):
        candidate = _only_choice(holder["candidates"], "candidate", "response.candidates[0].content", place)
        if not isinstance(candidate.get("content"), dict):
            reason = candidate.get("finishReason", candidate.get("finish_reason"))
            raise UnreadableLog(f"{place}: it is a reply without any content (finish reason {reason}); leave it out")
        yield candidate["content"]
    elif isinstance(holder.get("message"), dict) and "finish_reason" in holder:
        yield _without_parsed(holder["message"])
    elif holder.get("type") == "message" and "stop_reason" in holder:
        # The provider rejects the other fields of its reply.
        content = holder.get("content")
        said = [*map(_without_nulls, content)] if isinstance(content, list) else content
        yield {"role": holder.get("role"), "content": said}
    else:
        yield _without_parsed(holder)


def _client_messages(item: object, place: str) -> Iterator[object]:
    name = type(item).__name__
    if name.endswith(_PIECES) or hasattr(item, "__next__") or hasattr(item, "__anext__"):
        raise UnreadableLog(_stream_piece_text(name, place))
    if callable(getattr(item, "parse", None)) and hasattr(item, "http_response"):
        raise UnreadableLog(
            f"{place}: it is {_describe_value(item)}, a reply as it came over the wire; hand in its .parse()"
        )
    # Dumped part by part: a whole reply would contain what the client parsed of it as well.
    output, content = getattr(item, "output", None), getattr(item, "content", None)
    if isinstance(output, list) and getattr(item, "object", None) == "response":
        for each in output:
            yield _plain(each, place)
    elif getattr(item, "type", None) == "message" and hasattr(item, "stop_reason"):
        yield _plain({"role": getattr(item, "role", None), "content": content}, place)
    else:
        plain = _plain(item, place)
        if not isinstance(plain, dict):
            raise UnreadableLog(f"{place}: it is {_describe_value(item)}; {INSTEAD}")
        yield from _messages_in_reply(plain, place)


def _plain(value: object, place: str) -> object:
    """Return `value`, as JSON if it contains objects of a client."""
    if isinstance(value, dict) and not any(map(_holds_objects, value.values())):
        return value
    return to_plain_json(value, place)


def _holds_objects(value: object) -> bool:
    listed = value if isinstance(value, list | tuple) else [value]
    return any(library_of(each) in CLIENTS for each in listed) or isinstance(value, tuple)


def _only_choice(listed: object, what: str, instead: str, place: str) -> dict[str, object]:
    found = _list_or_empty(listed)
    if len(found) != 1 or not isinstance(found[0], dict):
        raise UnreadableLog(
            f"{place}: it is a reply with {len(found)} {what}s, of which one can be taken; hand in that one: {instead}"
        )
    return found[0]


def _list_or_empty(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _without_parsed(message: object) -> dict[str, object]:
    """Remove what OpenAI's client parsed of a message, and null calls, which the provider rejects."""
    if not isinstance(message, dict):
        return {}
    if "parsed" not in message and not any(key in message for key in _CALL_FIELDS):
        return message
    kept = {key: value for key, value in message.items() if value is not None or key not in _CALL_FIELDS}
    if calls := _list_or_empty(message.get("tool_calls")):
        functions = [call.get("function") if isinstance(call, dict) else None for call in calls]
        kept["tool_calls"] = [
            call | {"function": without(function, "parsed_arguments")}
            if isinstance(call, dict) and isinstance(function, dict)
            else call
            for call, function in zip(calls, functions, strict=True)
        ]
    return without(kept, "parsed")


def _without_nulls(part: object) -> object:
    """Remove null fields from a part of a reply; the provider rejects some of them."""
    return {key: value for key, value in part.items() if value is not None} if isinstance(part, dict) else part


def _stream_piece_text(name: str, place: str) -> str:
    return f"{place}: it is a {name}, a piece of a stream; hand in the whole message once the stream is over"


def _describe_value(item: object) -> str:
    if inspect.isawaitable(item):
        return "something that must be awaited first"
    return json_type(item)


_SHARED_LIST = "messages"
_LISTS: Final[Mapping[str, str | None]] = {
    _SHARED_LIST: None,
    **{traits.listed: name for name, traits in TRAITS.items() if traits.listed != _SHARED_LIST},
}
"""The keys of the messages in providers' requests, each with its format where that has it alone."""
_PROMPTS = {key: name for name, traits in TRAITS.items() for key in traits.prompts}
_PLACE = lazy_re(r"^message (\d+)")


class ReadMessages(Struct, frozen=True, kw_only=True):
    """Messages that were read, and their formats."""

    drafts: list[Draft]
    marks: tuple[str, ...]
    """The formats whose marks the messages bear, in the order of their first occurrence."""
    likely: str
    """The format of the messages, or the likely one of plain messages."""
    objects: str | None
    """The format whose objects were passed, if any."""
    unclear: str | None
    """One sentence on a content block of unknown format, if there is one."""


class _Item(Struct, frozen=True, kw_only=True, gc=False):
    """A message, or a draft, with the index of what it came from."""

    index: int
    value: object
    mark: str | None
    at: datetime | None


def read_given(
    given: Sequence[object], *, format: str | None = None, known: str | None = None, whole: bool = False
) -> ReadMessages:
    """Read messages in any form; see the module.

    With the caller's `format`, messages with the marks of another one are rejected. `known` is the format of plain
    messages where none has a mark. Of an agent's result the new messages are read, with `whole` all of them. Raises
    UnreadableLog with the fault's place, and UnknownFormat.
    """
    named: str | None = chat_format(format).name if format else None
    hints: list[str] = []
    items: list[_Item] = []
    if len(given) == 1 and (request := _as_request(given[0])):
        # Errors count its messages as the caller does.
        prompt, given = _request_contents(request, hints)
        items += [_item(draft, 0, draft) for draft in prompt]
    for index, each in enumerate(given):
        items += [_item(value, index, each) for value in _values_of(each, f"message {index}", hints, whole=whole)]
    for item in items if named else ():
        if item.mark not in (None, named):
            raise UnreadableLog(
                f"message {item.index}: it is in the format {item.mark}, and not in {named}; name "
                f'format="{item.mark}", or leave format= out and each message is read as what it is'
            )
    marks = tuple(dict.fromkeys(item.mark for item in items if item.mark is not None))
    likely = named or next(iter((*marks, *hints)), None) or known or _likeliest_format(items)
    drafts: list[Draft] = []
    for name, run in groupby(_with_formats(items, likely), lambda placed: placed[0]):
        drafts += _read_run(name, [item for _, item in run])
    held = (objects_of(value) for value in (*given, *(item.value for item in items)))
    strange = ((item, kind) for item in items if (kind := unknown_block(item.value)) is not None)
    unclear = [
        f"message {item.index}: nothing tells which provider's a {kind!r} block is; "
        f'name the format: format="{ANTHROPIC}", for example'
        for item, kind in (() if named or known or marks or hints else islice(strange, 1))
    ]
    return ReadMessages(
        drafts=drafts,
        marks=marks,
        likely=likely,
        objects=next(filter(None, held), None),
        unclear=unclear[0] if unclear else None,
    )


def _item(value: object, index: int, holder: object) -> _Item:
    """Make an item of a message, with its own time, or with the time of the reply that held it."""
    at = None
    if not isinstance(value, Draft | str):
        at = time_of(value)
        if at is None and value != holder and not _as_request(holder):
            at = time_of(holder) if isinstance(holder, Mapping) or library_of(holder) in CLIENTS else None
    return _Item(index=index, value=value, mark=mark_of(value), at=at)


def _values_of(each: object, place: str, hints: list[str], *, whole: bool) -> Iterator[object]:
    """Return the messages, strings and drafts in one argument."""
    if isinstance(each, Draft):
        _check_draft(each, place)
    if isinstance(each, Draft | str):
        yield each
        return
    request = _as_request(each)
    if request is None:
        yield from messages_of_item(each, place, whole=whole)
        return
    prompt, listed = _request_contents(request, hints)
    yield from prompt
    for inner in listed:
        yield from _values_of(inner, place, hints, whole=whole)


def _check_draft(draft: Draft, place: str) -> None:
    """Raise UnreadableLog where what a draft holds could be stored, but not read again: Python checks no types."""
    says = ""
    if draft.role not in get_args(Role):
        says = f"its role {draft.role!r} is unknown; expected one of {', '.join(get_args(Role))}"
    elif draft.origin not in get_args(Origin):
        says = f"its origin {draft.origin!r} is unknown; expected one of {', '.join(get_args(Origin))}"
    elif draft.at is not None and getattr(draft.at, "tzinfo", None) is None:
        says = "its `at` is no datetime with a zone; give one, such as datetime.now(UTC)"
    else:
        try:
            msgspec.convert(msgspec.to_builtins(draft.parts), readable(tuple[Part, ...]))
        except (TypeError, msgspec.ValidationError) as fault:
            says = f"its parts can't be stored ({fault}); give a tuple of Text, Call, Result and the like"
    if says:
        raise UnreadableLog(f"{place}: {says}")


def _as_request(each: object) -> Mapping[object, object] | None:
    """Return a provider's request or a framework's state that holds messages; None for anything else."""
    if isinstance(each, Payload):
        return {"messages": each.messages, "system": each.system}
    if not isinstance(each, Mapping) or any(key in each for key in ("role", "kind", "type", "parts")):
        return None
    return each if any(key in each for key in _LISTS) else None


def _request_contents(request: Mapping[object, object], hints: list[str]) -> tuple[list[Draft], list[object]]:
    """Return the system prompt and the messages of a request."""
    prompt: list[Draft] = []
    for name, owner in _PROMPTS.items():
        if request.get(name) is not None:
            hints.append(owner)
            prompt += chat_format(owner).decode({"messages": [], name: request[name]})
    there = [key for key in _LISTS if key in request]
    key = next((key for key in there if isinstance(request[key], list)), there[0])
    hints += [found for found in [_LISTS[key]] if found]
    # OpenAI's Responses accept a string.
    listed = [request[key]] if key == "input" and isinstance(request[key], str) else request[key]
    if not isinstance(listed, list):
        raise UnreadableLog(f"`{key}` is {json_type(listed)}, not a list of messages")
    return prompt, listed


def _likeliest_format(items: Sequence[_Item]) -> str:
    leanings = {likely_format(item.value) for item in items}
    return ANTHROPIC if ANTHROPIC in leanings and OPENAI not in leanings else DEFAULT_FORMAT


def _with_formats(items: Sequence[_Item], likely: str) -> Iterator[tuple[str, _Item]]:
    """Return each item with its format; drafts, which are read already, have an empty one."""
    current = likely
    for item in items:
        if isinstance(item.value, Draft):
            yield "", item
            continue
        current = item.mark or current
        yield item.mark or _plain_format(item.value, current), item


def _plain_format(value: object, current: str) -> str:
    """Return the format of a plain message, if the messages around it are in the format `current`."""
    traits = TRAITS.get(current)
    if traits is None or traits.framework:
        return OPENAI
    if isinstance(value, str):
        return current
    if not isinstance(value, dict) or traits.in_parts:
        return OPENAI
    # Anthropic has neither.
    foreign = value.get("content") is None or value.get("role") == "developer"
    return OPENAI if current == ANTHROPIC and foreign else current


def _read_run(name: str, run: Sequence[_Item]) -> list[Draft]:
    if not name:
        return [item.value for item in run if isinstance(item.value, Draft)]
    for item in run:
        value = item.value
        if item.mark is None and isinstance(value, dict) and "role" not in value and isinstance(value.get("type"), str):
            raise UnreadableLog(
                f"message {item.index}: a {value['type']!r} is a part of a message; hand in the whole message, such as "
                '{"role": "assistant", "content": [...]}'
            )
        noted = value.get("timestamp") if isinstance(value, dict) else None
        if isinstance(noted, str) and _moment(noted) is None:
            says = f"its `timestamp` {noted[:40]!r} is no time; give one such as 2026-05-03T10:00:00Z"
            raise UnreadableLog(f"message {item.index}: {says}")
    values, chat = [_to_message(item.value, name) for item in run], chat_format(name)
    try:
        if not TRAITS[name].framework and any(Scene.of(value, f"message {at}") for at, value in enumerate(values)):
            drafts = [
                draft for at, value in enumerate(values) for draft in decode_message(value, chat, f"message {at}")
            ]
        else:
            drafts = chat.decode(values)
        return with_times(drafts, values, [item.at for item in run], chat.decode)
    except UnreadableLog as fault:
        raise UnreadableLog(_PLACE.sub(lambda found: f"message {run[int(found[1])].index}", str(fault))) from fault


def _to_message(value: object, name: str) -> object:
    """Make a message of a user's string, and remove the time that a caller added to a message."""
    traits = TRAITS[name]
    if isinstance(value, dict) and not traits.framework:
        return without_times(value)
    if not isinstance(value, str):
        return value
    return {"role": "user", "parts": [{"text": value}]} if traits.in_parts else {"role": "user", "content": value}


def without_thoughts(native: Native | None) -> Native | None:
    """Remove the thinking from a native payload; None if that is not possible."""
    if native is None or native.format not in CHAT_FORMATS or not isinstance(native.payload, dict):
        return None
    kept = CHAT_FORMATS[native.format].without_thinking(native.payload)
    return None if kept is None else Native(format=native.format, payload=kept)
