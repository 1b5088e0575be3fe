"""Values that came from outside: narrowed, copied, dated, or refused with the place of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.patterns import lazy_re

BOM: Final = b"\xef\xbb\xbf"

CLIENTS: Final = ("openai", "anthropic", "google")
FRAMEWORKS: Final = ("langchain", "langchain_core", "langgraph", "pydantic_ai")


def library_of(item: object) -> str:
    """The library whose class, or a subclass of it, `item` is of; empty where it is of none that is known here."""
    for each in type(item).__mro__:
        root = each.__module__.partition(".")[0]
        if root in CLIENTS or root in FRAMEWORKS:
            return root
    return ""


def dumped(item: object) -> object:
    """What the client of `item` would send of it: only what was set, and nothing that it made of the reply itself.

    Raises TypeError where it is no such object.
    """
    dump = getattr(item, "model_dump", None)
    library = library_of(item)
    if isinstance(item, type) or not callable(dump) or library not in CLIENTS:
        raise TypeError(f"a Python {type(item).__name__} is no JSON")
    if library == "google":
        # Its bytes are left to whoever writes the JSON: the library spells base64 in letters of its own.
        return dump(mode="python", by_alias=True, exclude_none=True)
    excluded = getattr(item, "__api_exclude__", None)
    return dump(mode="json", by_alias=True, exclude_unset=True, exclude=excluded, warnings=False)


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


def placed(value: object, place: str, each: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of the list `value`, which stands at `place`: each with its own place, `each` and its number."""
    for index, item in enumerate(listing(value, place)):
        where = f"{each} {index}"
        yield where, record(item, where)


def placed_blocks(content: object, place: str, what: str = "block") -> list[tuple[str, dict[str, object]]]:
    """The blocks of a message's content, each with the words that name its place; a string is short for one text.

    `what` is what the format calls its blocks.
    """
    if isinstance(content, str):
        return [(place, {"type": "text", "text": content})]
    if not isinstance(content, list):
        raise UnreadableLog(f"{place}, content: it is {kind(content)}, neither a string nor a list of {what}s")
    return list(placed(content, place, f"{place}, {what}"))


def read_arguments(written: object) -> dict[str, object] | str:
    """What a model wrote as the arguments of a call: the object, or the string as it is where it holds none."""
    return {} if isinstance(written, str) and not written.strip() else parsed_arguments(written)


def parsed_arguments(given: object) -> dict[str, object] | str:
    """The same, as logs have it: there a blank string stays what it is."""
    parsed = json_in(given) if isinstance(given, str) else given
    return parsed if isinstance(parsed, dict) else given if isinstance(given, str) else {}


def given_arguments(given: object) -> dict[str, object] | str:
    """The arguments of a call where a format has an object for them; anything else as the JSON that it is."""
    if isinstance(given, dict | str):
        return given
    return {} if given is None else msgspec.json.encode(given).decode()


def text_or(value: object, otherwise: str = "") -> str:
    """`value` where it is a string, else `otherwise`: for fields whose lack is repaired later."""
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


_NOTHING: Mapping[str, object] = {}
MILLISECONDS_FROM = 100_000_000_000
"""So many seconds after 1970 is the year 5138: a larger number counts milliseconds."""
SECONDS_FROM = 100_000_000
"""So many seconds after 1970 is the year 1973: a smaller number counts turns, or seconds from where a talk began."""
_LONGEST = 60
"""Characters of a date in words."""
_DATE_WORDS = frozenset(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september"
    " october november december mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday"
    " saturday sunday am pm a p m t z on at of the st nd rd th utc gmt".split()
)
_YEAR = lazy_re(r"(?<!\d)\d{4}(?!\d)")
_EITHER_WAY = lazy_re(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2\d{4}(?!\d)")
_DEFAULTS = datetime(1904, 1, 1), datetime(1908, 2, 2)
"""Of what a date leaves out; one that is the same with both leaves out neither its day, nor its month, nor its year."""


def mapping(value: object) -> Mapping[str, object]:
    """`value` if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def without(record: Mapping[str, object], *names: str) -> dict[str, object]:
    """`record` without what stands under `names`."""
    return {key: value for key, value in record.items() if key not in names}


def string(value: object) -> str | None:
    """`value` if it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def objects(value: object) -> list[dict[str, object]]:
    """The objects of `value`, if it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


TIME_KEYS: Final = (
    *("timestamp", "created_at", "createdAt", "created", "create_time", "createTime", "sent_at", "sentAt"),
    *("at", "time", "datetime", "date_time", "date"),
)
"""Under which of its keys a message, a reply or an episode may say when it was."""


def moment(value: object) -> datetime | None:
    """A time as logs write it: ISO 8601, seconds or milliseconds since 1970 (perhaps as text), or a date in words.

    In words: "1:56 pm on 8 May, 2023", "2023/05/08 (Mon) 13:56", "Mon, 08 May 2023 13:56:00 +0200". A date that could
    be read two ways (05/08/2023) or leaves out its year, month or day is none. UTC where no zone is given.
    """
    if isinstance(value, str):
        value = value.strip()
        # Eight digits are a date: 20230508.
        if len(value) != 8 and value.replace(".", "", 1).isdecimal():
            value = float(value)
    try:
        if isinstance(value, str):
            at: datetime | None = _iso(value) or _in_words(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= SECONDS_FROM:
            at = datetime.fromtimestamp(value / 1_000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_words(text: str) -> datetime | None:
    """Raises ValueError or OverflowError for what is no date."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(text) > _LONGEST or not _YEAR.search(text) or not _DATE_WORDS.issuperset(words):
        return None
    either = _EITHER_WAY.search(text)
    if either and either[1] != either[3] and max(int(either[1]), int(either[3])) <= 12:
        return None
    # Loaded for the few logs that need it.
    from dateutil.parser import parse

    plain = re.sub(r"[()\[\]]", " ", text)
    found, other = (parse(plain, default=each) for each in _DEFAULTS)
    return found if found == other else None


def json_in(text: str) -> object:
    """The JSON value that a string holds, such as the arguments of a call; None if it holds none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
