"""What a caller hands in as a message, and what is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import Payload, messages_of
from ireneo.formats.chat.registry import DEFAULT_FORMAT, OBJECTS, ReadMessages, chat_format_of, read_given
from ireneo.formats.values import library_of
from ireneo.log.message import Draft

Given: TypeAlias = "Draft | Mapping[str, object] | str | object"
"""A message as a caller has it: a provider's dictionary, what a client returned, a framework's object, a draft, or the
words of the user."""

_ROLES = ("system", "user", "human", "assistant", "ai")


def decode_given(
    given: Given | Sequence[Given], format: str | None, source: str | None = None
) -> tuple[list[Draft], str | None]:
    """Decode what a caller handed in for a session that came from `source`; with what the session is then.

    That is its format, once something tells it; None while all that it holds is plain.
    """
    several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and not _is_shorthand(given)
    listed = list(given) if isinstance(given, Sequence) and several else [given]
    read = read_given(listed, format=format, known=chat_format_of(source))
    if read.unclear:
        raise UnreadableLog(f"{read.unclear}.")
    return read.drafts, source or _source_of(read, format)


def _is_shorthand(given: Sequence[object]) -> bool:
    """Whether it is a role and words in a tuple, as one framework takes a message; two messages are no such thing."""
    return isinstance(given, tuple) and len(given) == 2 and given[0] in _ROLES and isinstance(given[1], str)


def read_list(given: object, to: str | None) -> ReadMessages:
    """Read a list to be cut, or whatever holds one. Raises UnreadableLog for one in several formats, unless `to` is."""
    if not isinstance(given, list | tuple | Mapping | Payload) and not library_of(given):
        messages_of(given)
    read = read_given(list(given) if isinstance(given, list | tuple) else [given], known=to, whole=True)
    if len(read.marks) > 1 and to is None:
        several = " and ".join(read.marks)
        raise UnreadableLog(f"The messages are in several formats ({several}); say which one is wanted: to=… (--to)")
    return read


def _source_of(read: ReadMessages, format: str | None) -> str | None:
    """What a session is that begins with what was read: the format that was named, or whose marks it bears."""
    told = format or next(iter(read.marks), None)
    return f"{told}:{OBJECTS}" if told and told == read.objects else told


def gives_objects(source: str | None, format: str) -> bool:
    """Whether a context of a session that came from `source` is made of a framework's objects in `format`."""
    return source == f"{format}:{OBJECTS}"


__all__ = ["DEFAULT_FORMAT", "Given", "decode_given", "gives_objects", "read_list"]
