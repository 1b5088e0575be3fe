"""Messages from JSON: one a line, or lists of them, alone or in the episodes of a story."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ireneo.formats.logs.dialogue.fields import (
    Fields,
    fields_of,
    id_of,
    name_of,
    present_of,
    words_of,
)
from ireneo.formats.logs.dialogue.voices import spoken, with_besides
from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import Fault
from ireneo.formats.logs.json_lines import BOM
from ireneo.formats.logs.narrow import moment
from ireneo.log.message import Draft
from ireneo.patterns import lazy_re

SURE_AUTHORS = frozenset({"author", "speaker", "name", "names", "from", "sender"})
SURE_TEXTS = frozenset({"text", "utterance", "utterances", "content", "message"})
_OPENS_JSON = lazy_re(rb'(?=[\[{])(?:\[\s*)*(?:\{\s*(?:["}]|\Z)|"|\]|\Z)')
SEEN_LINES = 20
"""So many lines are looked at where the first one may be damaged."""


def is_json(lines: Sequence[bytes]) -> bool:
    """Whether a file that begins with `lines` holds JSON; a text may begin with a bracket, as before a time."""
    seen = [line for line in (line.strip() for line in lines[: 4 * SEEN_LINES]) if line][:SEEN_LINES]
    opened = [_OPENS_JSON.match(line) is not None for line in seen]
    return bool(opened) and (opened[0] or sum(opened) * 2 > len(opened))


def begins_with_record(sample: bytes) -> bool:
    """Whether the first object of `sample` has an author and a text, and is no provider's message."""
    text = sample.removeprefix(BOM).decode(errors="replace").lstrip().removeprefix("[").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    known = {key.lower(): item for key, item in value.items()}
    author = any(name_of(known.get(key)) for key in SURE_AUTHORS)
    said = any(words_of(known.get(key)) for key in SURE_TEXTS)
    return author and said and "role" not in known


def records(lines: Iterable[bytes]) -> Iterator[Draft | Fault]:
    """The messages of a file, in order, and what is wrong in it."""
    reader = _Reader()
    for document in documents(lines):
        yield from document.faults
        if document.value is not None:
            yield from reader.read(document.value, document.number)


class _Reader:
    """Reads values one after the other; knows which ids were given, and what was complained of already."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._episodes = 0
        self._blamed: set[str] = set()

    def read(
        self, value: object, number: int, episode: str = "", at: datetime | None = None
    ) -> Iterator[Draft | Fault]:
        """The messages of a value that stands on line `number`: itself, or those that it holds.

        `at` is the time of the `episode` that it stands in, which holds for its messages that bear none of their own.
        """
        if isinstance(value, list):
            for each in value:
                yield from self.read(each, number, episode, at)
        elif isinstance(value, str):
            if value.strip():
                yield spoken(None, value)
        elif isinstance(value, Mapping):
            fields = fields_of(tuple(value))
            listed = next((key for key in fields.lists if _is_listing(value[key], alone=fields.text is None)), None)
            if listed is not None:
                yield from self._episode(value, fields, listed, number)
            elif fields.text is not None:
                yield from self._message(value, fields, number, episode, at)
            else:
                yield Fault(line=number, message=f"Line {number} holds an object without a text; it was left out.")
        else:
            yield Fault(line=number, message=f"Line {number} holds a value that is no message; it was left out.")

    def _episode(self, value: Mapping[str, object], fields: Fields, key: str, number: int) -> Iterator[Draft | Fault]:
        self._episodes += 1
        name = next((name for each in fields.episode if (name := id_of(value[each]))), "")
        besides = {each: item for each, item in value.items() if each != key}
        at = moment(value[fields.at]) if fields.at else None
        for each in self.read(value[key], number, name, at):
            if besides and isinstance(each, Draft):
                each, besides = with_besides(each, besides), {}
            yield each

    def _message(
        self, value: Mapping[str, object], fields: Fields, number: int, episode: str, of_episode: datetime | None
    ) -> Iterator[Draft | Fault]:
        text = words_of(value[fields.text or ""])
        if text is None:
            yield Fault(line=number, message=f"Line {number} holds a message whose text is no text; it was left out.")
            return
        if not text.strip():
            return
        others = fields.others
        at = moment(value[fields.at]) if fields.at else None
        if fields.at and at is None and value[fields.at] is not None:
            others += (fields.at,)
            yield from self._blame(number, "time", f"{fields.at!r} is no date; such times are kept aside.")
        present = None
        if fields.present and value[fields.present] is not None:
            present = present_of(value[fields.present])
            if present is None:
                present = ()
                others += (fields.present,)
                yield from self._blame(
                    number, "present", f"{fields.present!r} is no list of names; such words only their author hears."
                )
        yield spoken(
            name_of(value[fields.author]) if fields.author else None,
            text,
            at=at or of_episode,
            id=self._id(id_of(value[fields.id]), episode) if fields.id else None,
            present=present,
            besides={key: value[key] for key in others} if others else None,
        )

    def _id(self, id: str | None, episode: str) -> str | None:
        """The id behind its episode, and numbered where it was given before, so that it names one message."""
        if id is None:
            return None
        named = f"{episode}:{id}" if episode else id
        if not episode and self._episodes > 1 and named in self._ids:
            named = f"{self._episodes}:{id}"
        while (number := self._ids.get(named, 0)) > 0:
            self._ids[named] = number + 1
            named = f"{named}-{number + 1}"
        self._ids[named] = 1
        return named

    def _blame(self, number: int, what: str, sentence: str) -> Iterator[Fault]:
        """Say it once: a log that writes all its times alike needs no fault for each."""
        if what not in self._blamed:
            self._blamed.add(what)
            yield Fault(line=number, message=f"Line {number}: {sentence}")


def _is_listing(value: object, *, alone: bool) -> bool:
    """Whether messages are listed there; beside a text, or as one, a list of texts is what one message says."""
    return isinstance(value, list) and (alone or any(isinstance(each, Mapping) for each in value))
