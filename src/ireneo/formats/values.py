"""Conversion of untrusted JSON values: narrowing, copying, reading times, or errors with the place of a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.patterns import lazy_re

BOM: Final = b"\xef\xbb\xbf"

CLIENTS: Final = ("openai", "anthropic", "google")
FRAMEWORKS: Final = ("langchain", "langchain_core", "langgraph", "pydantic_ai")


def library_of(item: object) -> str:
    """Return the client or framework that defines the class of `item` or a base of it; empty for others."""
    for each in type(item).__mro__:
        root = each.__module__.partition(".")[0]
        if root in CLIENTS or root in FRAMEWORKS:
            return root
    return ""


def dump_object(item: object) -> object:
    """Dump a client's object as the client would send it: only fields that were set, without parsed values.

    Raises TypeError for other objects.
    """
    dump = getattr(item, "model_dump", None)
    library = library_of(item)
    if isinstance(item, type) or not callable(dump) or library not in CLIENTS:
        raise TypeError(f"a Python {type(item).__name__} is not JSON")
    if library == "google":
        # Bytes are left to the JSON encoder, as the library uses the URL-safe alphabet of base64.
        return dump(mode="python", by_alias=True, exclude_none=True)
    excluded = getattr(item, "__api_exclude__", None)
    return dump(mode="json", by_alias=True, exclude_unset=True, exclude=excluded, warnings=False)


def to_plain_json(value: object, place: str) -> object:
    """Copy the caller's value as pure JSON; objects of a provider's client in it are dumped. Raises UnreadableLog."""
    try:
        return msgspec.json.decode(msgspec.json.encode(value, enc_hook=dump_object))
    except (TypeError, ValueError, RecursionError) as fault:
        # UnicodeEncodeError, for half of a surrogate pair, is a ValueError.
        raise UnreadableLog(f"{place}: it can't be written as JSON ({fault})") from fault


def copy_json(value: object) -> object:
    """Copy a JSON value deeply."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_json(item) for item in value]
    return value


def copy_messages(messages: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Copy each message deeply."""
    return [{key: copy_json(item) for key, item in message.items()} for message in messages]


def require_object(value: object, place: str) -> dict[str, object]:
    """Return `value` as an object, or raise UnreadableLog."""
    if not isinstance(value, dict):
        raise UnreadableLog(f"{place}: it is {json_type(value)}, not an object")
    return value


def require_list(value: object, place: str) -> list[object]:
    """Return `value` as a list, or raise UnreadableLog."""
    if not isinstance(value, list):
        raise UnreadableLog(f"{place}: it is {json_type(value)}, not a list")
    return value


def require_string(value: object, place: str) -> str:
    """Return `value` as a string, or raise UnreadableLog."""
    if not isinstance(value, str):
        raise UnreadableLog(f"{place}: it is {json_type(value)}, not a string")
    return value


def role_of(message: dict[str, object], place: str, known: tuple[str, ...]) -> str:
    """Return the message's role, which must be one of `known`."""
    role = message.get("role")
    if not isinstance(role, str):
        raise UnreadableLog(f"{place}: it has no role; expected one of {', '.join(known)}")
    if role not in known:
        raise UnreadableLog(f"{place}: its role {role!r} is unknown; expected one of {', '.join(known)}")
    return role


def type_of(block: dict[str, object], place: str) -> str:
    """Return the type of a content block, or raise UnreadableLog."""
    name = block.get("type")
    if not isinstance(name, str):
        raise UnreadableLog(f"{place}: it has no type")
    return name


def placed_objects(value: object, place: str, each: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Return the objects of the list `value` at `place`, each with its own place: `each` and its index."""
    for index, item in enumerate(require_list(value, place)):
        where = f"{each} {index}"
        yield where, require_object(item, where)


def placed_blocks(content: object, place: str, what: str = "block") -> list[tuple[str, dict[str, object]]]:
    """Return the blocks of a message's content with their places; a string is short for one text.

    `what` is the format's name for blocks.
    """
    if isinstance(content, str):
        return [(place, {"type": "text", "text": content})]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {json_type(content)}, neither a string nor a list of {what}s")
    return list(placed_objects(content, place, f"{place}, {what}"))


def read_arguments(written: object) -> dict[str, object] | str:
    """Parse the arguments of a call: the object, or the string itself if it holds none."""
    return {} if isinstance(written, str) and not written.strip() else parsed_arguments(written)


def parsed_arguments(given: object) -> dict[str, object] | str:
    """Parse the arguments of a call in a log, where a blank string is kept."""
    parsed = parse_json(given) if isinstance(given, str) else given
    return parsed if isinstance(parsed, dict) else given if isinstance(given, str) else {}


def given_arguments(given: object) -> dict[str, object] | str:
    """Return arguments of a format that has an object for them; anything else as a JSON string."""
    if isinstance(given, dict | str):
        return given
    return {} if given is None else msgspec.json.encode(given).decode()


def string_or(value: object, otherwise: str = "") -> str:
    """Return `value` if it is a string, else `otherwise`."""
    return value if isinstance(value, str) else otherwise


def json_type(value: object) -> str:
    """Name the JSON type of `value`, for error messages."""
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


_NOTHING: Mapping[str, object] = {}
MILLISECONDS_FROM = 100_000_000_000
"""A larger number counts milliseconds: in seconds it would be the year 5138."""
SECONDS_FROM = 100_000_000
"""A smaller number is not a time since 1970, but counts turns, or seconds since the beginning."""
_LONGEST = 60
"""The greatest length of a date in words."""
_DATE_WORDS = frozenset(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september"
    " october november december mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday"
    " saturday sunday am pm a p m t z on at of the st nd rd th utc gmt".split()
)
_YEAR = lazy_re(r"(?<!\d)\d{4}(?!\d)")
_EITHER_WAY = lazy_re(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2\d{4}(?!\d)")
_DEFAULTS = datetime(1904, 1, 1), datetime(1908, 2, 2)
"""A date that parses alike with both defaults has a year, a month and a day."""


def mapping(value: object) -> Mapping[str, object]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def without(record: Mapping[str, object], *names: str) -> dict[str, object]:
    """Copy `record` without the keys `names`."""
    return {key: value for key, value in record.items() if key not in names}


def string(value: object) -> str | None:
    """Return `value` if it is a non-empty string."""
    return value if isinstance(value, str) and value else None


def objects(value: object) -> list[dict[str, object]]:
    """Return the objects in `value`, if it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


TIME_KEYS: Final = (
    *("timestamp", "created_at", "createdAt", "created", "create_time", "createTime", "sent_at", "sentAt"),
    *("at", "time", "datetime", "date_time", "date"),
)
"""The keys under which a message, a reply or an episode may have its time."""


def parse_time(value: object) -> datetime | None:
    """Parse a time: ISO 8601, seconds or milliseconds since 1970 (also as text), or a date in words.

    In words: "1:56 pm on 8 May, 2023", "2023/05/08 (Mon) 13:56", "Mon, 08 May 2023 13:56:00 +0200". Returns None for an
    ambiguous date (05/08/2023), or one without year, month or day. The zone is UTC if none is given.
    """
    if isinstance(value, str):
        value = value.strip()
        # Eight digits are a date: 20230508.
        if len(value) != 8 and value.replace(".", "", 1).isdecimal():
            value = float(value)
    try:
        if isinstance(value, str):
            at: datetime | None = _parse_iso(value) or _parse_words(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= SECONDS_FROM:
            at = datetime.fromtimestamp(value / 1_000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _parse_iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _parse_words(text: str) -> datetime | None:
    """Parse a date in words. Raises ValueError or OverflowError."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(text) > _LONGEST or not _YEAR.search(text) or not _DATE_WORDS.issuperset(words):
        return None
    either = _EITHER_WAY.search(text)
    if either and either[1] != either[3] and max(int(either[1]), int(either[3])) <= 12:
        return None
    # Imported late, since few logs need it.
    from dateutil.parser import parse

    plain = re.sub(r"[()\[\]]", " ", text)
    found, other = (parse(plain, default=each) for each in _DEFAULTS)
    return found if found == other else None


def parse_json(text: str) -> object:
    """Parse a JSON string, such as the arguments of a call; None if it is invalid."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def remove_items(holder: dict[str, object], key: str, keeps: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    """Remove objects from the list under `key` of `holder` unless `keeps` says otherwise."""
    listed = holder.get(key)
    if not isinstance(listed, list):
        return holder
    return holder | {key: [each for each in listed if not isinstance(each, dict) or keeps(each)]}


def text_block(text: str) -> dict[str, object]:
    """Return a content block of text, as most formats have it."""
    return {"type": "text", "text": text}
