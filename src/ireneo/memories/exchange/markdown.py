"""A memory as a Markdown file: front matter in TOML between two lines of ``+++``, and its text, word for word."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from datetime import datetime

from ireneo.memories.exchange.entry import SEAL, Entry, Unread, entry_of, seal_of
from ireneo.memories.exchange.front import FENCE, front_matter, line_of
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

SUFFIX = ".md"
_BOM = "\ufeff"
_SLUG_WORDS, _SLUG_LENGTH, _ID_LENGTH = 6, 48, 7
_ORDER = (
    *("id", "kind", "subject", "attribute", "value", "task_type", "name", "version", "signature", "cue"),
    *("at", "recorded", "state", "reason", "superseded_by", "stale", "pinned", "archived"),
    *("confidence", "salience", "origin", "trust", "seen"),
)
"""What someone who opens the file looks for first."""
_LINE = lazy_re(r"\(at line (\d+), column \d+\)")


def file_name(record: Record, *, whole_id: bool = False) -> str:
    """Where its file is kept: ``<kind>/<first words>-<short id>.md``; `whole_id` where that is taken by another."""
    plain = unicodedata.normalize("NFKD", record.text[: _SLUG_LENGTH * 4]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:_SLUG_WORDS]
    slug = "-".join(words)[:_SLUG_LENGTH].rstrip("-") or "memory"
    id = record.id.partition("_")[2]
    return f"{record.kind}/{slug}-{id if whole_id else id[:_ID_LENGTH]}{SUFFIX}"


def write_markdown(record: Record) -> str:
    """The file of a memory; the same memory always gives the same file."""
    front = "\n".join(front_matter(record, _ORDER, frozenset({"text"})))
    top, tables, rest = front.partition("\n\n[")
    sealed = f'{top}\n{SEAL} = "{seal_of(record)}"{tables}{rest}'
    return f"{FENCE}\n{sealed}\n{FENCE}\n{record.text}\n"


def read_markdown(data: bytes, now: datetime) -> Entry | Unread:
    """The memory that a file tells of; `now` stands for times that it doesn't give."""
    try:
        text = data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as fault:
        return Unread(line=data.count(b"\n", 0, fault.start) + 1, message="It is not in UTF-8; save it so.")
    parts = _parted(text)
    if parts is None:
        return Unread(line=1, message=f"It has no front matter, which stands between two lines of {FENCE}.")
    front, body = parts
    try:
        given = tomllib.loads(front)
    except tomllib.TOMLDecodeError as fault:
        found = _LINE.search(str(fault))
        line = int(found[1]) + 1 if found else front.count("\n") + 2
        sentence = _LINE.sub("", str(fault)).removesuffix("(at end of document)").strip()
        return Unread(line=line, message=f"The front matter is no TOML there: {sentence[:1].lower()}{sentence[1:]}.")
    entry = entry_of(given | {"text": body}, now)
    if isinstance(entry, Entry):
        return entry
    line = front.count("\n") + 4 if entry.name == "text" else line_of(front, entry.name)
    return Unread(line=line, message=entry.sentence)


def _parted(text: str) -> tuple[str, str] | None:
    """The front matter and the text behind it; None where there is none."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return None
    if first.endswith("\r"):
        # We never end that line so: an editor, or git on its way to Windows, has changed how all of them end.
        rest = rest.replace("\r\n", "\n")
    begin = 0
    while begin < len(rest):
        end = rest.find("\n", begin)
        line = rest[begin : len(rest) if end < 0 else end]
        if line.rstrip() == FENCE:
            body = "" if end < 0 else rest[end + 1 :]
            # A memory's file ends with one line break that is not its own.
            return rest[:begin].removesuffix("\n"), body.removesuffix("\n")
        if end < 0:
            return None
        begin = end + 1
    return None
