"""When the messages of a list were said, where whoever hands them in notes it beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.narrow import moment
from ireneo.log.message import Draft

KEYS = ("timestamp", "created_at", "created", "at", "time", "date")
"""Under which of its keys or attributes a message may say when it was said; the first that holds a time counts."""
KEEPS_TIMES = frozenset({"langchain", "pydantic-ai"})
"""The formats whose own messages have a place for a time."""
_INSIDE = ("additional_kwargs", "response_metadata", "metadata")
"""Where a framework keeps what it has no field for."""


def time_of(message: object) -> datetime | None:
    """When a message says that it was said; of one that consists of several parts with times, the last of them."""
    own = next((at for value in _values(message, KEYS) if (at := _moment(value)) is not None), None)
    if own is not None:
        return own
    for inside in _values(message, _INSIDE):
        at = next((at for value in _values(inside, KEYS) if (at := _moment(value)) is not None), None)
        if at is not None:
            return at
    times = [at for parts in _values(message, ("parts",)) for part in _listed(parts) if (at := time_of(part))]
    return max(times, default=None)


def without_times(message: Mapping[str, object]) -> dict[str, object]:
    """`message` without the time that its caller noted beside what the provider knows: it would refuse the key."""
    return {key: value for key, value in message.items() if key not in KEYS or _moment(value) is None}


def with_times(
    drafts: Sequence[Draft],
    given: Sequence[object],
    times: Sequence[datetime | None],
    decode: Callable[[list[object]], list[Draft]],
) -> list[Draft]:
    """`drafts`, which `decode` made of the messages `given`, each with the time of the message that it comes from.

    Where it can't be told which draft comes from which message they stay as they are.
    """
    if not any(times):
        return list(drafts)
    try:
        each_time = [at for message, at in zip(given, times, strict=True) for _ in decode([message])]
    except UnreadableLog:  # A message that can only be read beside others.
        return list(drafts)
    if len(each_time) != len(drafts):
        return list(drafts)
    return [
        draft if draft.at is not None or at is None else replace(draft, at=at)
        for draft, at in zip(drafts, each_time, strict=True)
    ]


def _values(holder: object, names: Sequence[str]) -> Iterator[object]:
    for name in names:
        yield holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.astimezone()
    return moment(value)
