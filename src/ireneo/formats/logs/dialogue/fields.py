"""What a message is called by whoever wrote it as JSON: its author, its words, its time, its number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

AUTHORS = ("author", "speaker", "name", "names", "from", "user", "sender", "role")
"""A role is nobody's name, and the last to be asked."""
TEXTS = ("text", "utterance", "utterances", "content", "message", "body", "line")
TIMES = ("at", "time", "timestamp", "date", "datetime", "date_time", "created_at")
IDS = ("id", "number", "turn_id")
PRESENT = ("present",)
LISTS = ("turns", "messages", "dialogue", "dialog", "conversation", "utterances")
EPISODES = ("id", "episode", "episode_id", "session_id", "conversation_id", "dialogue_id", "name", "title")


class Fields(Struct, frozen=True, kw_only=True):
    """Under which key of an object each thing stands; None where it has no such key."""

    author: str | None
    text: str | None
    at: str | None
    id: str | None
    present: str | None
    lists: tuple[str, ...]
    """Keys that may hold a list of messages."""
    episode: tuple[str, ...]
    """Keys that may name an episode."""
    others: tuple[str, ...]
    """Keys that say nothing of these, except that a list may stand under one."""


@lru_cache(maxsize=1_024)
def fields_of(keys: tuple[str, ...]) -> Fields:
    """Look for the aliases among the keys of an object, in any letters; many objects have the same keys."""
    known = {key.lower(): key for key in reversed(keys)}

    def first(aliases: tuple[str, ...]) -> str | None:
        return next((known[alias] for alias in aliases if alias in known), None)

    named = (first(AUTHORS), first(TEXTS), first(TIMES), first(IDS), first(PRESENT))
    return Fields(
        author=named[0],
        text=named[1],
        at=named[2],
        id=named[3],
        present=named[4],
        lists=tuple(known[alias] for alias in LISTS if alias in known),
        episode=tuple(known[alias] for alias in EPISODES if alias in known),
        others=tuple(key for key in keys if key not in named),
    )


def name_of(value: object) -> str | None:
    """Who it is: a name, several of them, or an object with one."""
    if isinstance(value, str):
        return " ".join(value.split()) or None
    if isinstance(value, list):
        return " & ".join(name for each in value if (name := name_of(each))) or None
    if isinstance(value, Mapping):
        return name_of(value.get("name") or value.get("username"))
    return None


def words_of(value: object) -> str | None:
    """What is said: a text, or a list of them that follow each other; None where that is no text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return None


def id_of(value: object) -> str | None:
    """The id as text; a number is one as well."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def present_of(value: object) -> tuple[str, ...] | None:
    """Who was present; None for what is no list of names."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return None
    names = [name_of(each) for each in value]
    return tuple(name for name in names if name is not None) if all(names) else None
