"""Narrow what came from outside, and name the place where it isn't what it should be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.dumping import dumped
from ireneo.formats.chat.format import Payload


def messages_of(payload: object, key: str = "messages") -> list[object]:
    """The message list that `payload` is, or holds under `key`, or else under `messages`."""
    if isinstance(payload, Payload):
        return list(payload.messages)
    if isinstance(payload, dict):
        held = key if key in payload else "messages"
        payload = payload.get(held)
        if not isinstance(payload, list):
            raise UnreadableLog(f"`{held}` is {kind(payload)}, not a list of messages")
    if not isinstance(payload, list):
        raise UnreadableLog(f"This is {kind(payload)}, not a list of messages nor an object that holds one in `{key}`")
    return payload


def listed_in(payload: object, key: str = "messages") -> object:
    """What stands where `payload` would hold its messages, whatever it is."""
    if isinstance(payload, Payload):
        return payload.messages
    return payload.get(key, payload.get("messages")) if isinstance(payload, dict) else payload


def placed_messages(payload: object, key: str = "messages") -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied, with the words that name its place: ``message 3`` is the fourth."""
    for index, message in enumerate(messages_of(payload, key)):
        place = f"message {index}"
        yield place, record(detached(record(message, place), place), place)


def detached(value: object, place: str) -> object:
    """A copy that shares nothing with the caller's value, and is JSON through and through.

    Objects of a provider's client that stand in it, such as the blocks of a reply, are dumped as the client sends them.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(value, enc_hook=dumped))
    except (TypeError, ValueError, RecursionError) as fault:
        # UnicodeEncodeError, for half of a surrogate pair, is a ValueError.
        raise UnreadableLog(f"{place}: it can't be written as JSON ({fault})") from fault


def copied(value: object) -> object:
    """A copy of a JSON value, so that whoever changes it leaves the original as it is."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def copied_messages(messages: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """A copy of each message."""
    return [{key: copied(item) for key, item in message.items()} for message in messages]


def record(value: object, place: str) -> dict[str, object]:
    """`value`, which must be an object."""
    if not isinstance(value, dict):
        raise UnreadableLog(f"{place}: it is {kind(value)}, not an object")
    return value


def listing(value: object, place: str) -> list[object]:
    """`value`, which must be a list."""
    if not isinstance(value, list):
        raise UnreadableLog(f"{place}: it is {kind(value)}, not a list")
    return value


def words(value: object, place: str) -> str:
    """`value`, which must be a string."""
    if not isinstance(value, str):
        raise UnreadableLog(f"{place}: it is {kind(value)}, not a string")
    return value


def role_of(message: dict[str, object], place: str, known: tuple[str, ...]) -> str:
    """The message's role, which must be one of `known`."""
    role = message.get("role")
    if not isinstance(role, str):
        raise UnreadableLog(f"{place}: it has no role; expected one of {', '.join(known)}")
    if role not in known:
        raise UnreadableLog(f"{place}: its role {role!r} is unknown; expected one of {', '.join(known)}")
    return role


def type_of(block: dict[str, object], place: str) -> str:
    """The type of a content block."""
    name = block.get("type")
    if not isinstance(name, str):
        raise UnreadableLog(f"{place}: it has no type")
    return name


def text_or(value: object, otherwise: str = "") -> str:
    """`value` where it is a string, else `otherwise`: for fields whose lack is mended later."""
    return value if isinstance(value, str) else otherwise


def kind(value: object) -> str:
    """What a reader of JSON would call `value`."""
    if value is None:
        return "null"
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a Python {type(value).__name__}"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a string"),
    (list, "a list"),
    (dict, "an object"),
)
