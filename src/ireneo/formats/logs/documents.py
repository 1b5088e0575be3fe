"""JSON in a log, read in pieces: lines, documents of many lines, entries of a long list, and lines kept aside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec import Struct

from ireneo.formats.logs.format import LogFault, Spool
from ireneo.formats.values import BOM, mapping, string, without

_DECODER = msgspec.json.Decoder()
_LENIENT = json.JSONDecoder()
_SPACE = " \t\r\n\x00"


def parse_line(line: bytes, number: int) -> tuple[list[object], list[LogFault]]:
    """Every JSON value that stands on `line`, and what is wrong with it."""
    try:
        return [_DECODER.decode(line)], []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A lone surrogate or a second value lands here as well as rubbish, so the slow reader has the last word.
        return _rescue(line, number)


def readable(line: bytes, number: int) -> tuple[str, LogFault | None]:
    """`line` as text, and what is wrong with it; `number` is its own, from 1."""
    text, broken = _decoded_text(line)
    return text, _not_utf8(number) if broken else None


def _rescue(line: bytes, number: int) -> tuple[list[object], list[LogFault]]:
    faults = []
    text, broken = _decoded_text(line)
    if broken:
        faults.append(_not_utf8(number))
    if not text.strip(_SPACE):
        return [], faults
    values = []
    at = 0
    for value, end in _values(text):
        clean = whole_text(value)
        if clean is not value:
            faults.append(LogFault(line=number, message=f"Line {number} holds half a character; it was replaced."))
        values.append(clean)
        at = end
    rest = text[at:].strip(_SPACE)
    if rest:
        faults.append(_leftover(number, at, len(rest), bool(values)))
    elif len(values) > 1:
        faults.append(
            LogFault(
                line=number, message=f"Line {number} holds {len(values)} JSON values in place of one; all were kept."
            )
        )
    return values, faults


def _not_utf8(number: int) -> LogFault:
    return LogFault(line=number, message=f"Line {number} is not valid UTF-8; its broken bytes were replaced.")


def _decoded_text(line: bytes) -> tuple[str, bool]:
    line = line.removeprefix(BOM)
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        return line.decode(errors="replace"), True


def _values(text: str) -> Iterator[tuple[object, int]]:
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at == len(text):
            return
        try:
            value, at = _LENIENT.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value, at


def _leftover(number: int, at: int, size: int, saved: bool) -> LogFault:
    kept = "what stands before it was kept" if saved else "the line was left out"
    return LogFault(
        line=number, message=f"Line {number} is not valid JSON from column {at + 1} on ({size} characters); {kept}."
    )


def whole_text(value: object) -> object:
    """`value` with each lone surrogate replaced, since no store takes one; `value` itself if it has none."""
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError):
        return _without_surrogates(value)
    return value


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(item) for key, item in value.items()}
    return value


class JsonDocument(Struct, frozen=True, kw_only=True):
    """A JSON value of the file, and what was wrong where it stood."""

    number: int
    """The line that it begins on, from 1."""
    value: object
    """None for a line that holds nothing but faults."""
    faults: tuple[LogFault, ...] = ()


def documents(lines: Iterable[bytes]) -> Iterator[JsonDocument]:
    """The values of the file, one at a time; only a file that is one value over many lines is read as a whole."""
    rest = iter(lines)
    first = []
    for line in rest:
        first.append(line)
        if line.strip():
            break
    else:
        return
    # Parsed once: the whole file may stand on this line.
    values, faults = parse_line(first[-1], len(first))
    if values:
        yield from _documents_on_line(len(first), values, faults)
        yield from _by_line(rest, len(first) + 1)
    else:
        yield from _begun(first, rest)


def _begun(lines: list[bytes], rest: Iterator[bytes]) -> Iterator[JsonDocument]:
    """The values of a file whose first line is none: it is held until two lines say that it is JSON lines.

    Two objects on lines of their own, one behind the other without a comma, stand in no JSON document.
    """
    whole = 0
    for line in rest:
        lines.append(line)
        if line.strip():
            whole = whole + 1 if _is_object(line) else 0
        if whole > 1:
            yield from _by_line(chain(lines, rest))
            return
    yield from _spread(lines)


def _spread(lines: list[bytes]) -> Iterator[JsonDocument]:
    text = b"".join(lines)
    values, faults = parse_line(text, 1)
    fault = _fault_of(text) if faults or not values else None
    if fault is not None and any(_holds_object(line) for line in lines):
        # JSON lines whose first line is damaged look just the same at first.
        yield from _by_line(lines)
    elif values:
        for index, value in enumerate(values):
            yield JsonDocument(number=1, value=value, faults=() if index else tuple(faults))
    else:
        yield JsonDocument(number=1, value=None, faults=() if fault is None else (fault,))


def _holds_object(line: bytes) -> bool:
    values, _ = parse_line(line, 1)
    return bool(values) and isinstance(values[0], dict) and bool(values[0])


def _is_object(line: bytes) -> bool:
    """Whether an object, which is not empty, stands there and nothing else."""
    if not (line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")):
        return False
    values, faults = parse_line(line, 1)
    return not faults and isinstance(values[0], dict) and bool(values[0])


def _fault_of(text: bytes) -> LogFault | None:
    try:
        json.loads(text.decode(errors="replace"))
    except json.JSONDecodeError as error:
        line = error.lineno
    except RecursionError:
        line = 1  # Nested deeper than can be read: no place in it is more to blame than another.
    else:
        return None
    return LogFault(line=line, message=f"The file is one JSON document that is broken in line {line}; it was left out.")


def _by_line(lines: Iterable[bytes], start: int = 1) -> Iterator[JsonDocument]:
    for number, line in enumerate(lines, start):
        yield from _documents_on_line(number, *parse_line(line, number))


def _documents_on_line(number: int, values: Sequence[object], faults: Sequence[LogFault]) -> Iterator[JsonDocument]:
    left = tuple(faults)
    for value in values or ([None] if faults else []):
        yield JsonDocument(number=number, value=value, faults=left)
        left = ()


class MarkdownFile(Struct, frozen=True, kw_only=True):
    """A file of Markdown: one of its own, or one that a line of JSON carries as `markdown`."""

    lines: Iterable[str | LogFault]
    about: Mapping[str, object] = {}
    """What is noted beside it."""
    number: int | None = None
    """The line that carries it, where it does not stand in a file of its own."""


def markdown_files(
    lines: Iterable[bytes], what: str, fits: Callable[[str], object]
) -> Iterator[MarkdownFile | LogFault]:
    """The Markdown of a file, or what its JSON lines carry, as far as it `fits`; `what` is what it is called."""
    rest = iter(lines)
    first: list[bytes] = []
    for line in rest:
        first.append(line if first else line.removeprefix(BOM))
        if line.strip():
            break
    numbered = enumerate(chain(first, rest), 1)
    if not first or not first[-1].lstrip().startswith(b"{"):
        yield MarkdownFile(lines=_readable_lines(numbered))
        return
    for number, line in numbered:
        values, faults = parse_line(line, number)
        yield from faults
        for value in map(mapping, values):
            told = value.get("markdown")
            if isinstance(told, str) and fits(told):
                yield MarkdownFile(lines=told.split("\n"), about=without(value, "markdown"), number=number)
            else:
                yield LogFault(line=number, message=f"Line {number} carries no {what}; it was left out.")


def _readable_lines(numbered: Iterable[tuple[int, bytes]]) -> Iterator[str | LogFault]:
    for number, line in numbered:
        text, fault = readable(line, number)
        yield from [fault] if fault else []
        yield text


IsEntry: TypeAlias = Callable[[Mapping[str, object]], bool]


class Entries(Struct, frozen=True, kw_only=True):
    """The entries of one run, before they are read."""

    entries: tuple[tuple[int, Mapping[str, object]], ...]
    """Each with the number of the line that it stands on, from 1; one at the least."""
    besides: Mapping[str, object]
    """What was noted about the run beside its entries."""


def entry_runs(lines: Iterable[bytes], is_entry: IsEntry) -> Iterator[Entries | LogFault]:
    """Read the runs of a file, and what can't be read among them; entries on lines of their own are one run."""
    single: list[tuple[int, Mapping[str, object]]] = []
    for document in documents(lines):
        yield from document.faults
        value, number = document.value, document.number
        if isinstance(value, dict) and is_entry(value):
            single.append((number, value))
            continue
        if value is None:
            continue
        found = list(_runs_within(value, number, is_entry))
        if single and any(isinstance(one, Entries) for one in found):
            yield Entries(entries=tuple(single), besides={})
            single.clear()
        yield from found or [LogFault(line=number, message=f"Line {number} holds no entry of a run; it was left out.")]
    if single:
        yield Entries(entries=tuple(single), besides={})


def _runs_within(value: object, number: int, is_entry: IsEntry) -> Iterator[Entries | LogFault]:
    if isinstance(value, list):
        if _holds(value, is_entry):
            yield from _run(value, number, {}, is_entry)
            return
        for item in value:
            if isinstance(item, dict):
                yield from _runs_within(item, number, is_entry)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, list) and _holds(item, is_entry):
                besides = {name: other for name, other in value.items() if name != key}
                yield from _run(item, number, besides, is_entry)
                return


def _run(
    listed: list[object], number: int, besides: Mapping[str, object], is_entry: IsEntry
) -> Iterator[Entries | LogFault]:
    items = list(_flat(listed))
    kept = [item for item in items if isinstance(item, dict) and is_entry(item)]
    if left := len(items) - len(kept):
        message = f"Line {number} holds {left} entries that are none of this format; they were left out."
        yield LogFault(line=number, message=message)
    yield Entries(entries=tuple((number, item) for item in kept), besides=besides)


def _holds(listed: list[object], is_entry: IsEntry) -> bool:
    return any(isinstance(item, dict) and is_entry(item) for item in _flat(listed))


def _flat(listed: list[object]) -> Iterator[object]:
    """The items of a list, in which an action and what came of it may stand together as a list of their own."""
    for item in listed:
        if isinstance(item, list):
            yield from item
        else:
            yield item


IsDocument: TypeAlias = Callable[[Mapping[str, object]], bool]
_NAMES = ("session_id", "instance_id", "conversation_id", "trajectory_id", "run_id", "id")
_PLACES = ("source_path", "path", "file", "filename")


class HeldDocument(Struct, frozen=True, kw_only=True):
    """A document, and what its data set noted about it."""

    number: int
    """The line that it stands on, from 1."""
    document: Mapping[str, object]
    besides: Mapping[str, object]


def held_documents(lines: Iterable[bytes], is_document: IsDocument) -> Iterator[HeldDocument | LogFault]:
    """Read the documents of a file, and what can't be read among them."""
    for document in documents(lines):
        yield from document.faults
        if document.value is None:
            continue
        found: list[HeldDocument | LogFault] = [*_documents_within(document.value, document.number, is_document)]
        message = f"Line {document.number} holds no run of this format; it was left out."
        yield from found or [LogFault(line=document.number, message=message)]


def wished_names(besides: Mapping[str, object]) -> list[str]:
    """What a data set's record calls its run: by an id, or by the file it was taken from."""
    names = [name for key in _NAMES if (name := string(besides.get(key)))][:1]
    for key in _PLACES:
        if place := string(besides.get(key)):
            *folders, file = place.replace("\\", "/").split("/")
            stem = file.rpartition(".")[0] or file
            names += [stem, f"{stem}-{folders[-1]}"] if folders and folders[-1] else [stem]
    return [name for name in names if name]


def _documents_within(value: object, number: int, is_document: IsDocument) -> Iterator[HeldDocument]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _documents_within(item, number, is_document)
    elif isinstance(value, dict):
        if is_document(value):
            yield HeldDocument(number=number, document=value, besides={})
            return
        for key, item in value.items():
            if isinstance(item, dict) and is_document(item):
                besides = {name: other for name, other in value.items() if name != key}
                yield HeldDocument(number=number, document=item, besides=besides)


HELD_BYTES = 16_000_000
"""So much of a session's text is held, parsed, which takes several times as much room; what is more is put aside."""


class Aside(Struct, frozen=True, gc=False):
    """Where a value was put aside: its line, and which of the values on it."""

    place: int
    index: int


Place = dict[str, object] | Aside
"""A value that is held, or where it was put aside."""


class Lines:
    """The values of one session's lines, each to be opened again."""

    def __init__(self, spool: Spool | None, held_bytes: int = HELD_BYTES) -> None:
        """Put aside into `spool` what is more than `held_bytes`; without a spool all of it is held."""
        self._spool = spool
        self._left = held_bytes
        self._last: tuple[int, int] | None = None

    def keep(self, value: dict[str, object], index: int, text: bytes, number: int) -> Place:
        """Keep `value`, the one at `index` of those that `parse_line` finds in line `number`, which is `text`."""
        if self._spool is None:
            return value
        if index == 0 or self._last is None or self._last[0] != number:
            self._last = None
            self._left -= len(text)
            if self._left >= 0:
                return value
            self._last = number, self._spool.keep(text)
        return Aside(self._last[1], index)

    def open(self, place: Place, number: int) -> dict[str, object]:
        """The value that was kept as `place`, from line `number`."""
        if isinstance(place, dict):
            return place
        if self._spool is None:
            raise ValueError("Nothing was put aside; open a value with the lines that it was kept with.")
        value = parse_line(self._spool.read(place.place), number)[0][place.index]
        if not isinstance(value, dict):
            raise TypeError(f"What was put aside of line {number} came back changed.")
        return value
