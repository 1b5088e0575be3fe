"""JSON from lines that a crash, a cut or two writers at once may have damaged: what parses is kept, the rest named."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from ireneo.formats.logs.format import Fault

_DECODER = msgspec.json.Decoder()
_LENIENT = json.JSONDecoder()
_SPACE = " \t\r\n\x00"
BOM = b"\xef\xbb\xbf"


def parse_line(line: bytes, number: int) -> tuple[list[object], list[Fault]]:
    """Every JSON value that stands on `line`, and what is wrong with it."""
    try:
        return [_DECODER.decode(line)], []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A lone surrogate or a second value lands here as well as rubbish, so the slow reader has the last word.
        return _rescue(line, number)


def readable(line: bytes, number: int) -> tuple[str, Fault | None]:
    """`line` as text, and what is wrong with it; `number` is its own, from 1."""
    text, broken = _text(line)
    return text, _not_utf8(number) if broken else None


def _rescue(line: bytes, number: int) -> tuple[list[object], list[Fault]]:
    faults = []
    text, broken = _text(line)
    if broken:
        faults.append(_not_utf8(number))
    if not text.strip(_SPACE):
        return [], faults
    values = []
    at = 0
    for value, end in _values(text):
        clean = whole_text(value)
        if clean is not value:
            faults.append(Fault(line=number, message=f"Line {number} holds half a character; it was replaced."))
        values.append(clean)
        at = end
    rest = text[at:].strip(_SPACE)
    if rest:
        faults.append(_leftover(number, at, len(rest), bool(values)))
    elif len(values) > 1:
        faults.append(
            Fault(line=number, message=f"Line {number} holds {len(values)} JSON values in place of one; all were kept.")
        )
    return values, faults


def _not_utf8(number: int) -> Fault:
    return Fault(line=number, message=f"Line {number} is not valid UTF-8; its broken bytes were replaced.")


def _text(line: bytes) -> tuple[str, bool]:
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


def _leftover(number: int, at: int, size: int, saved: bool) -> Fault:
    kept = "what stands before it was kept" if saved else "the line was left out"
    return Fault(
        line=number, message=f"Line {number} is not valid JSON from column {at + 1} on ({size} characters); {kept}."
    )


def whole_text(value: object) -> object:
    """`value` with each lone surrogate replaced, since no store takes one; `value` itself if it has none."""
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError):
        return _mend(value)
    return value


def _mend(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mend(item) for item in value]
    if isinstance(value, dict):
        return {str(_mend(key)): _mend(item) for key, item in value.items()}
    return value
