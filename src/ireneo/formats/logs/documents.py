"""Reading log files: damaged JSON, documents and Markdown, and the base of the formats."""

from __future__ import annotations

import json
import re
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.logs.format import (
    LogFault,
    LoggedSession,
    SessionBuilder,
    UniqueNames,
    line_fault,
    nothing_readable,
)
from ireneo.formats.values import BOM, mapping, string, without
from ireneo.log.message import Call, Result, Text

_DECODER = msgspec.json.Decoder()
_LENIENT = json.JSONDecoder()
_SPACE = " \t\r\n\x00"


def parse_line(line: bytes, number: int) -> tuple[list[object], list[LogFault]]:
    """Return every JSON value on `line`, and the faults found there."""
    try:
        return [_DECODER.decode(line)], []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Unusual JSON, such as a lone surrogate or a second value, fails here as rubbish does, so the slow reader
        # decides.
        return _read_damaged(line, number)


def decode_line(line: bytes, number: int) -> tuple[str, LogFault | None]:
    """Decode line `number`; returns its text, and a fault if it is not valid UTF-8."""
    line = line.removeprefix(BOM)
    try:
        return line.decode(), None
    except UnicodeDecodeError:
        fault = line_fault(number, "is not valid UTF-8; its broken bytes were replaced.")
        return line.decode(errors="replace"), fault


def _read_damaged(line: bytes, number: int) -> tuple[list[object], list[LogFault]]:
    text, broken = decode_line(line, number)
    faults = [broken] if broken else []
    values: list[object] = []
    end, at = 0, _skip_space(text, 0)
    while at < len(text):
        try:
            value, end = _LENIENT.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        clean = replace_surrogates(value)
        if clean is not value:
            faults.append(line_fault(number, "holds half a character; it was replaced."))
        values.append(clean)
        at = _skip_space(text, end)
    if at < len(text):
        kept = "what stands before it was kept" if values else "the line was left out"
        size = len(text[at:].rstrip(_SPACE))
        faults.append(line_fault(number, f"is not valid JSON from column {end + 1} on ({size} characters); {kept}."))
    elif len(values) > 1:
        faults.append(line_fault(number, f"holds {len(values)} JSON values in place of one; all were kept."))
    return values, faults


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def replace_surrogates(value: object) -> object:
    """Return `value` with each lone surrogate replaced, since no store takes one; `value` itself if it has none."""
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


def documents(lines: Iterable[bytes], faults: list[LogFault]) -> Iterator[tuple[int, object]]:
    """Read the JSON values of a file one at a time, each with the number of the line that it begins on.

    A file that is one value over many lines is read as a whole. What can't be read is added to `faults`.
    """
    rest = iter(lines)
    first = []
    for line in rest:
        first.append(line)
        if line.strip():
            break
    else:
        return
    # Parsed once: the whole file may stand on this line.
    values, found = parse_line(first[-1], len(first))
    if not values:
        yield from _read_multiline(first, rest, faults)
        return
    faults += found
    yield from ((len(first), value) for value in values if value is not None)
    yield from _read_lines(rest, faults, len(first) + 1)


def _read_multiline(lines: list[bytes], rest: Iterator[bytes], faults: list[LogFault]) -> Iterator[tuple[int, object]]:
    """Read a file whose first line is not a value, holding lines until two of them show that it is JSON lines.

    No single JSON document has two objects on consecutive lines without a comma between them.
    """
    whole = 0
    for line in rest:
        lines.append(line)
        if line.strip():
            alone = line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")
            whole = whole + 1 if alone and _holds_object(line, whole=True) else 0
        if whole > 1:
            yield from _read_lines(chain(lines, rest), faults)
            return
    text = b"".join(lines)
    values, found = parse_line(text, 1)
    fault = _json_fault(text) if found or not values else None
    if fault is not None and any(_holds_object(line) for line in lines):
        # JSON lines whose first line is damaged look just the same at first.
        yield from _read_lines(lines, faults)
    else:
        faults += found if values else [fault] if fault else []
        yield from ((1, value) for value in values if value is not None)


def _holds_object(line: bytes, *, whole: bool = False) -> bool:
    """Whether the line begins with a non-empty object; with `whole`, and holds nothing else."""
    values, faults = parse_line(line, 1)
    return bool(values) and isinstance(values[0], dict) and bool(values[0]) and not (whole and faults)


def _json_fault(text: bytes) -> LogFault | None:
    try:
        json.loads(text.decode(errors="replace"))
    except json.JSONDecodeError as error:
        line = error.lineno
    except RecursionError:
        line = 1  # Nested too deeply, which no line alone is the cause of.
    else:
        return None
    return LogFault(line=line, message=f"The file is one JSON document that is broken in line {line}; it was left out.")


def _read_lines(lines: Iterable[bytes], faults: list[LogFault], start: int = 1) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(lines, start):
        values, found = parse_line(line, number)
        faults += found
        yield from ((number, value) for value in values if value is not None)


class MarkdownFile(Struct, frozen=True, kw_only=True):
    """A Markdown file, or the `markdown` of a line of JSON."""

    lines: Iterable[str]
    about: Mapping[str, object] = {}
    """The other fields of the JSON object on the line."""
    number: int | None = None
    """The line of JSON that holds it; None for a file of its own."""


def first_lines(lines: Iterable[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """Read up to the first line with content; returns these lines, without a byte order mark, and the iterator."""
    rest = iter(lines)
    first: list[bytes] = []
    for line in rest:
        first.append(line if first else line.removeprefix(BOM))
        if line.strip():
            break
    return first, rest


def markdown_files(
    lines: Iterable[bytes], what: str, fits: Callable[[str], object], faults: list[LogFault]
) -> Iterator[MarkdownFile]:
    """Read a Markdown file, or the Markdown in its JSON lines that `fits`.

    What can't be read is added to `faults`, in which `what` names such Markdown.
    """
    first, rest = first_lines(lines)
    numbered = enumerate(chain(first, rest), 1)
    if not first or not first[-1].lstrip().startswith(b"{"):
        yield MarkdownFile(lines=readable_lines(numbered, faults))
        return
    for number, line in numbered:
        values, found = parse_line(line, number)
        faults += found
        for value in map(mapping, values):
            markdown = value.get("markdown")
            if isinstance(markdown, str) and fits(markdown):
                yield MarkdownFile(lines=markdown.split("\n"), about=without(value, "markdown"), number=number)
            else:
                faults.append(line_fault(number, f"carries no {what}; it was left out."))


def readable_lines(numbered: Iterable[tuple[int, bytes]], faults: list[LogFault]) -> Iterator[str]:
    """Decode lines; those that are not valid UTF-8 are added to `faults`."""
    for number, line in numbered:
        text, fault = decode_line(line, number)
        faults += [fault] if fault else []
        yield text


Found: TypeAlias = tuple[Sequence[str], SessionBuilder]
"""A session that was found in a file, with the ids that it may take, the preferred one first."""


class LogReader(ABC):
    """Base class of the formats that ship with Ireneo: a subclass finds the sessions in a file."""

    name: str
    chat: str = "openai"
    begins: tuple[bytes, ...] = (b"{", b"[")
    """The bytes with which a file of the format may begin."""
    marks: tuple[tuple[re.Pattern[bytes], ...], ...] = ()
    """Groups of patterns: a file is recognised if all patterns of one group are near its beginning."""
    holds: str
    """The content of a document of such a file, for the fault of one without it."""

    def recognises(self, sample: bytes) -> bool:
        """Whether a file that begins with `sample` is of this format."""
        begins = sample.lstrip().startswith(self.begins)
        return begins and any(all(mark.search(sample) for mark in marks) for marks in self.marks)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file; `name` is the id of those that have none of their own.

        A fault belongs to the session before it, or else to the first one. So a session is yielded once the next one is
        found: the typical fault is a last line that is cut off.
        """
        names = UniqueNames()
        held: LoggedSession | None = None
        faults: list[LogFault] = []
        for wished, builder in self._find(lines, name, faults):
            if not builder.nodes:
                faults += builder.faults
                continue
            if held is not None:
                yield _with_more_faults(held, faults)
                faults.clear()
            held = builder.session(names.choose(*wished))
        if held is None:
            raise nothing_readable(faults)
        yield _with_more_faults(held, faults)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        """Find the sessions of a file; by default those that its JSON documents hold.

        What can't be read is added to `faults`.
        """
        for number, value in documents(lines, faults):
            found = list(self._within(value, number, name))
            if not found:
                faults.append(line_fault(number, f"holds no {self.holds}; it was left out."))
            yield from found

    def _within(self, value: object, number: int, name: str) -> Iterable[Found]:
        """Find the sessions in the JSON document `value` on line `number`; nothing if it is of another kind."""
        raise NotImplementedError


def _with_more_faults(session: LoggedSession, faults: Sequence[LogFault]) -> LoggedSession:
    return replace(session, faults=tuple(sorted([*session.faults, *faults], key=lambda fault: fault.line)))


Document: TypeAlias = Mapping[str, object]
"""A JSON object of a file."""
IsEntry: TypeAlias = Callable[[Document], bool]


def text_result(call: Call, text: str, *, failed: bool | None) -> Result:
    """Make the result of `call`, with no part where its output is empty."""
    return Result(call_id=call.id, parts=(Text(text=text),) if text else (), failed=failed)


class Entries(Struct, frozen=True, kw_only=True):
    """The entries of one run."""

    entries: tuple[tuple[int, Document], ...]
    """The entries, at least one, each with the number of its line."""
    besides: Document
    """The data of the file about the run, apart from its entries."""


def entry_runs(lines: Iterable[bytes], is_entry: IsEntry, faults: list[LogFault]) -> Iterator[Entries]:
    """Read the runs of a file whose entries are in lists, or on lines of their own, which form one run.

    What can't be read is added to `faults`.
    """
    single: list[tuple[int, Document]] = []
    for number, value in documents(lines, faults):
        if isinstance(value, dict) and is_entry(value):
            single.append((number, value))
            continue
        left: list[LogFault] = []
        runs = list(_runs_within(value, number, is_entry, left))
        if single and runs:
            yield Entries(entries=tuple(single), besides={})
            single.clear()
        faults += left if runs else [line_fault(number, "holds no entry of a run; it was left out.")]
        yield from runs
    if single:
        yield Entries(entries=tuple(single), besides={})


def _runs_within(value: object, number: int, is_entry: IsEntry, faults: list[LogFault]) -> Iterator[Entries]:
    lists = [("", value)] if isinstance(value, list) else list(mapping(value).items())
    for key, listed in lists:
        pairs = listed if isinstance(listed, list) else []
        items = [item for pair in pairs for item in (pair if isinstance(pair, list) else [pair])]
        kept = [item for item in items if isinstance(item, dict) and is_entry(item)]
        if kept:
            if left := len(items) - len(kept):
                what = f"holds {left} entries that are none of this format; they were left out."
                faults.append(line_fault(number, what))
            besides = without(value, key) if isinstance(value, dict) else {}
            yield Entries(entries=tuple((number, item) for item in kept), besides=besides)
            return
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield from _runs_within(item, number, is_entry, faults)


def records_within(value: object, is_record: IsEntry) -> Iterator[tuple[Document, Document]]:
    """Yield each record of a format in `value`, with the other fields of the object around it."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from records_within(item, is_record)
    elif isinstance(value, dict):
        if is_record(value):
            yield value, {}
            return
        for key, item in value.items():
            if isinstance(item, dict) and is_record(item):
                yield item, without(value, key)


_NAMES = ("session_id", "instance_id", "conversation_id", "trajectory_id", "run_id", "id")
_PLACES = ("source_path", "path", "file", "filename")


def given_names(besides: Document) -> list[str]:
    """Return the ids that a data set gives a run: an id, or the name of the file it was taken from."""
    names = [name for key in _NAMES if (name := string(besides.get(key)))][:1]
    for key in _PLACES:
        if place := string(besides.get(key)):
            *folders, file = place.replace("\\", "/").split("/")
            stem = file.rpartition(".")[0] or file
            names += [stem, f"{stem}-{folders[-1]}"] if folders and folders[-1] else [stem]
    return [name for name in names if name]
