"""What a file says of a memory: read strictly, so that no word of a person who edited it is lost without a sound."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from ireneo.log.ids import digest
from ireneo.memories.offered import MOST_BYTES
from ireneo.memories.record import TRUST, Evidence, Kind, Period, Record
from ireneo.patterns import lazy_re

SEAL = "as_exported"
"""The name of the line that tells an edited file from one that is as it was exported."""
_SEALED = ("kind", "text", "subject", "attribute", "value", "task_type", "name", "signature")
"""What a person may reword, so that it is another memory then."""
_KNOWN = {each.name for each in fields(Record)} | {SEAL}
_INSIDE = {"evidence": {each.name for each in fields(Evidence)}, "periods": {each.name for each in fields(Period)}}
_AN_EXAMPLE = "2026-05-03T10:00:00Z, or +02:00 for the Z"
_PLACE = lazy_re(r"`?\$\.?(\w*)")


class Unread(Struct, frozen=True, kw_only=True):
    """Why a memory could not be read."""

    line: int
    """Counted from 1, in the file."""
    message: str
    """One sentence."""


class Entry(Struct, frozen=True, kw_only=True):
    """A memory as a file tells it."""

    record: Record
    """Without an id where it was written by hand, and without evidence where it names none."""
    timed: bool
    """Whether it says when."""
    edited: bool | None
    """Whether it was reworded since it was exported; None where the file can't tell."""


class Misread(Struct, frozen=True, kw_only=True):
    """What a file says can't be a memory."""

    name: str
    """The key that is wrong; "" where none is."""
    sentence: str


def seal_of(record: Record) -> str:
    """What the words of a memory are told again by; blanks around its text and how its lines end don't count."""
    words = (settled(getattr(record, name)) for name in _SEALED)
    return digest("w", *(word.encode("utf-8", "surrogatepass") for word in words))[:14]


def entry_of(given: Mapping[str, object], now: datetime) -> Entry | Misread:
    """The memory that the values of a file give by name; what a file written by hand leaves open is filled in."""
    if wrong := _wrong_names(given):
        return wrong
    told = {name: value for name, value in given.items() if name != SEAL}
    defaults: dict[str, object] = {"id": "", "key": "", "recorded": now, "evidence": ()}
    filled = defaults | {"at": told.get("recorded", now)} | told
    try:
        record = msgspec.convert(filled, Record)
    except msgspec.ValidationError as fault:
        return _misread(fault)
    if not record.id and "trust" not in told:
        record = replace(record, trust=TRUST[record.origin])
    if wrong := _wrong_values(record):
        return wrong
    seal = given.get(SEAL)
    return Entry(record=record, timed="at" in told, edited=None if seal is None else seal != seal_of(record))


def settled(word: str) -> str:
    """`word` without what an editor changes by itself: blanks around it, and how its lines end."""
    return word.replace("\r\n", "\n").strip()


def _wrong_names(given: Mapping[str, object]) -> Misread | None:
    for name in given:
        if name not in _KNOWN:
            return _wrong(name, f"There is nothing called {name} in a memory; see an exported one for the names.")
    for name, known in _INSIDE.items():
        pieces = given.get(name)
        for piece in pieces if isinstance(pieces, list) else ():
            for inner in piece if isinstance(piece, dict) else ():
                if inner not in known:
                    return _wrong(inner, f"There is nothing called {inner} in {name}; see an exported memory.")
    kind, kinds = given.get("kind"), get_args(Kind)
    if kind is None:
        return _wrong("", f"Say of which kind it is: {', '.join(kinds)}.")
    if kind not in kinds:
        return _wrong("kind", f"There is no kind {kind!r}; the kinds are {', '.join(kinds)}.")
    return None


def _wrong_values(record: Record) -> Misread | None:
    if not record.text.strip():
        return _wrong("text", "It has no text; write what is to be remembered under the second line of +++.")
    if len(record.text.encode()) > MOST_BYTES:
        sentence = f"Its text is over {MOST_BYTES:,} bytes; keep what matters, and put the rest elsewhere."
        return _wrong("text", sentence)
    for name in ("trust", "salience", "confidence"):
        for told in (record, *record.evidence):
            if not 0 <= getattr(told, name) <= 1:
                return _wrong(name, f"{name} is {getattr(told, name)}; give a number from 0 to 1.")
    for name, moment in _moments(record):
        if moment is not None and moment.utcoffset() is None:
            return _wrong(name, f"{name} has no time zone; write {_AN_EXAMPLE}.")
    return None


def _misread(fault: msgspec.ValidationError) -> Misread:
    sentence, _, place = str(fault).partition(" - at ")
    found = _PLACE.match(place)
    name = found[1] if found else ""
    if "`date`" in sentence:
        return _wrong(name, f"{name} has no time of day and no zone; write {_AN_EXAMPLE}.")
    about = f"{name}: " if name else ""
    return _wrong(name, f"{about}{sentence[:1].lower()}{sentence[1:]}.")


def _wrong(name: str, sentence: str) -> Misread:
    return Misread(name=name, sentence=sentence)


def _moments(record: Record) -> list[tuple[str, datetime | None]]:
    named = ("at", "recorded", "valid_from", "valid_to", "retired", "reflected")
    single: list[tuple[str, datetime | None]] = [(name, getattr(record, name)) for name in named]
    single += [("uses", use) for use in record.uses]
    single += [("evidence", moment) for each in record.evidence for moment in (each.at, each.recorded, each.until)]
    return single + [("periods", moment) for each in record.periods for moment in (each.start, each.end)]
