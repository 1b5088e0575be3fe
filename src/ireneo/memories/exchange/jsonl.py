"""A memory as one line of JSON."""

from __future__ import annotations

from datetime import datetime

import msgspec

from ireneo.memories.exchange.entry import SEAL, Entry, Unread, entry_of, seal_of
from ireneo.memories.record import Record


def write_line(record: Record) -> str:
    """Its line, without a line break, which it never holds; the same memory always gives the same line."""
    fields = msgspec.json.encode(record).decode()
    return f'{fields[:-1]},"{SEAL}":"{seal_of(record)}"}}'


def read_line(line: bytes, number: int, now: datetime) -> Entry | Unread:
    """The memory that line `number` of a file tells of; `now` stands for times that it doesn't give."""
    try:
        given = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        return Unread(line=number, message=f"It is no JSON object: {fault}.")
    entry = entry_of(given, now)
    return entry if isinstance(entry, Entry) else Unread(line=number, message=entry.sentence)
