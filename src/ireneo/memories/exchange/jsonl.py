"""A memory as one line of JSON."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from ireneo.memories.exchange.entry import SEAL, Entry, Unread, entry_of, seal_of
from ireneo.memories.exchange.front import told
from ireneo.memories.record import Record


def write_line(record: Record) -> str:
    """Its line, without a line break, which it never holds; the same memory always gives the same line."""
    # Not left to the encoder: it takes for a default only what is one and the same object.
    said = {name: _plain(value) for name, value in told(record)}
    return msgspec.json.encode({**said, SEAL: seal_of(record)}).decode()


def _plain(value: object) -> object:
    if isinstance(value, Struct):
        return {name: _plain(inner) for name, inner in told(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def read_line(line: bytes, number: int, now: datetime) -> Entry | Unread:
    """The memory that line `number` of a file tells of; `now` stands for times that it doesn't give."""
    try:
        given = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        return Unread(line=number, message=f"It is no JSON object: {fault}.")
    entry = entry_of(given, now)
    return entry if isinstance(entry, Entry) else Unread(line=number, message=entry.sentence)
