"""Memories as files: Markdown with front matter in TOML, or one line of JSON each.

Files are read strictly: whatever can't be read is reported, so that no edit is lost silently.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import get_args

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, asdict, fields, replace

from ireneo.log.message import digest
from ireneo.memories.intake import MOST_BYTES
from ireneo.memories.record import NAMES, TRUST, Evidence, Kind, MemoryChange, MemoryDraft, Period, Record, Source
from ireneo.patterns import lazy_re, readable

SEAL = "as_exported"
"""The name of the line that shows whether a file was edited since it was exported."""
_SEALED = ("kind", "text", *NAMES)
"""Fields that identify the memory: a person who rewords them makes another one."""
_KNOWN = {each.name for each in fields(Record)} | {SEAL}
_INSIDE = {
    name: {each.name for each in fields(kind)}
    for name, kind in (("evidence", Evidence), ("periods", Period), ("changes", MemoryChange))
}
_AN_EXAMPLE = "2026-05-03T10:00:00Z, or +02:00 for the Z"
_PLACE = lazy_re(r"`?\$\.?(\w*)")


class UnreadableEntry(Struct, frozen=True, kw_only=True):
    """Why an entry can't be read."""

    line: int
    """Counted from 1, in the file."""
    message: str
    """One sentence."""


class MemoryEntry(Struct, frozen=True, kw_only=True):
    """A memory as read from a file."""

    record: Record
    """Without an id if it was written by hand, and without evidence if it names none."""
    timed: bool
    """Whether it states a time."""
    edited: bool | None
    """Whether it was reworded since it was exported; None if the file doesn't show it."""


class InvalidValue(Struct, frozen=True, kw_only=True):
    """A value that can't be a memory's, and why."""

    name: str
    """The wrong key; "" if no key is wrong."""
    sentence: str


def seal_of(record: Record) -> str:
    """A digest of a memory's words that shows edits, apart from those that `settled` undoes."""
    words = (normalise_text(getattr(record, name)) for name in _SEALED)
    return digest("w", *(word.encode("utf-8", "surrogatepass") for word in words))[:14]


def parse_entry(given: Mapping[str, object], now: datetime) -> MemoryEntry | InvalidValue:
    """The memory with these values, or what is wrong with them. Fields missing in a handwritten file get defaults."""
    if wrong := _check_names(given):
        return wrong
    told = {name: value for name, value in given.items() if name != SEAL}
    defaults: dict[str, object] = {"id": "", "key": "", "recorded": now, "evidence": ()}
    filled = defaults | {"at": told.get("recorded", now)} | told
    try:
        record = msgspec.convert(filled, readable(Record))
    except msgspec.ValidationError as fault:
        return _explain_fault(fault)
    if not record.id and "trust" not in told:
        record = replace(record, trust=TRUST[record.origin])
    if wrong := _check_values(record):
        return wrong
    seal = given.get(SEAL)
    return MemoryEntry(record=record, timed="at" in told, edited=None if seal is None else seal != seal_of(record))


def normalise_text(word: str) -> str:
    """Undo what editors change by themselves: strip surrounding whitespace, and turn CRLF into LF."""
    return word.replace("\r\n", "\n").strip()


def _check_names(given: Mapping[str, object]) -> InvalidValue | None:
    for name in given:
        if name not in _KNOWN:
            return _invalid(name, f"There is nothing called {name} in a memory; see an exported one for the names.")
    for name, known in _INSIDE.items():
        pieces = given.get(name)
        for piece in pieces if isinstance(pieces, list) else ():
            for inner in piece if isinstance(piece, dict) else ():
                if inner not in known:
                    return _invalid(inner, f"There is nothing called {inner} in {name}; see an exported memory.")
    kind, kinds = given.get("kind"), get_args(Kind)
    if kind is None:
        return _invalid("", f"Say of which kind it is: {', '.join(kinds)}.")
    if kind not in kinds:
        return _invalid("kind", f"There is no kind {kind!r}; the kinds are {', '.join(kinds)}.")
    return None


def _check_values(record: Record) -> InvalidValue | None:
    if not record.text.strip():
        return _invalid("text", "It has no text; write what is to be remembered under the second line of +++.")
    if len(record.text.encode()) > MOST_BYTES:
        sentence = f"Its text is over {MOST_BYTES:,} bytes; keep what matters, and put the rest elsewhere."
        return _invalid("text", sentence)
    for name in ("trust", "salience", "confidence"):
        for told in (record, *record.evidence):
            if not 0 <= getattr(told, name) <= 1:
                return _invalid(name, f"{name} is {getattr(told, name)}; give a number from 0 to 1.")
    for name, moment in _times_of(record):
        if moment is not None and moment.utcoffset() is None:
            return _invalid(name, f"{name} has no time zone; write {_AN_EXAMPLE}.")
    return None


def _explain_fault(fault: msgspec.ValidationError) -> InvalidValue:
    sentence, _, place = str(fault).partition(" - at ")
    found = _PLACE.match(place)
    name = found[1] if found else ""
    if "`date`" in sentence:
        return _invalid(name, f"{name} has no time of day and no zone; write {_AN_EXAMPLE}.")
    about = f"{name}: " if name else ""
    return _invalid(name, f"{about}{sentence[:1].lower()}{sentence[1:]}.")


def _invalid(name: str, sentence: str) -> InvalidValue:
    return InvalidValue(name=name, sentence=sentence)


def _times_of(record: Record) -> list[tuple[str, datetime | None]]:
    named = ("at", "recorded", "valid_from", "valid_to", "retired", "reflected")
    single: list[tuple[str, datetime | None]] = [(name, getattr(record, name)) for name in named]
    single += [("uses", use) for use in record.uses]
    single += [("evidence", moment) for each in record.evidence for moment in (each.at, each.recorded, each.until)]
    return single + [("periods", moment) for each in record.periods for moment in (each.start, each.end)]


FENCE = "+++"
_BARE = lazy_re(r"[A-Za-z0-9_-]+\Z")
_MINUTE = timedelta(minutes=1)


def front_matter(record: Struct, order: tuple[str, ...], left_out: frozenset[str]) -> Iterator[str]:
    """The fields of a record as TOML: those in `order` first, tables at the end.

    Those in `left_out` and defaults are not written.
    """
    tables: list[str] = []
    for name, value in stated_fields(record, order, left_out):
        if isinstance(value, dict):
            tables += ["", f"[{name}]", *(f"{_toml_key(key)} = {_toml_value(value[key])}" for key in sorted(value))]
        elif isinstance(value, tuple) and isinstance(value[0], Struct):
            for each in value:
                tables += ["", f"[[{name}]]", *(f"{key} = {_toml_value(inner)}" for key, inner in stated_fields(each))]
        else:
            yield f"{name} = {_toml_value(value)}"
    yield from tables


def stated_fields(
    record: Struct, order: tuple[str, ...] = (), left_out: frozenset[str] = frozenset()
) -> Iterator[tuple[str, object]]:
    """The fields of a record by name, those in `order` first, without `left_out` and defaults."""
    known = _fields_by_name(type(record))
    for name in (*order, *(name for name in known if name not in order)):
        value = getattr(record, name)
        empty: tuple[object, ...] = (None, "", (), {}, known[name].default)
        if name not in left_out and value not in empty:
            yield name, value


@cache
def _fields_by_name(kind: type[Struct]) -> dict[str, FieldInfo]:
    # Finding a type's fields needs its annotations, and is done for each memory.
    return {each.name: each for each in fields(kind)}


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, datetime):
        return _toml_time(value)
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml_key(key)} = {_toml_value(value[key])}' for key in sorted(value))} }}"
    if isinstance(value, tuple):
        # Each item of a list is on its own line, so that an added item is an added line.
        lines = "".join(f"\n  {_toml_value(each)}," for each in value)
        return f"[{_toml_value(value[0])}]" if len(value) == 1 else f"[{lines}\n]"
    return repr(value)


def _toml_string(value: str) -> str:
    # JSON strings are TOML strings, except for one character that only TOML requires to be escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_time(value: datetime) -> str:
    offset = value.utcoffset()
    if offset is None or offset % _MINUTE:
        value = value.astimezone(UTC)
    return value.isoformat().replace("+00:00", "Z")


def _toml_key(name: str) -> str:
    return name if _BARE.match(name) else _toml_string(name)


def line_of(front: str, name: str) -> int:
    """The number of the line that sets `name`, if `front` begins at the second line; 1 if there is none."""
    given = re.compile(rf"\s*(\[\[?\s*)?(['\"]?){re.escape(name)}\2\s*[=\].]")
    numbers = (number for number, line in enumerate(front.split("\n"), start=2) if name and given.match(line))
    return next(numbers, 1)


class _MemoryMarks(msgspec.Struct):
    """Signs that every line of memories contains, and no line of a log."""

    kind: str
    text: str
    evidence: list[object] = []
    type: object = None


def detect_file_type(sample: bytes) -> str:
    """Return ``"markdown"`` or ``"jsonl"`` if a file that begins with `sample` contains memories, else ""."""
    head = sample.removeprefix(b"\xef\xbb\xbf")
    first, _, _ = head.partition(b"\n")
    if first.rstrip() == FENCE.encode():
        return "markdown"
    return "jsonl" if _is_memory_line(next((line for line in head.split(b"\n") if line.strip()), b"")) else ""


def _is_memory_line(line: bytes) -> bool:
    try:
        looks = msgspec.json.decode(line, type=readable(_MemoryMarks))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b'"evidence":[{"at":' in line and b'"kind":"' in line[:2000]
    return looks.type is None and looks.kind in get_args(Kind)


def write_line(record: Record) -> str:
    """The memory as one line of JSON without a line break; deterministic."""
    # Not left to the encoder, which only omits defaults that are the same object.
    said = {name: _to_plain(value) for name, value in stated_fields(record)}
    return msgspec.json.encode({**said, SEAL: seal_of(record)}).decode()


def _to_plain(value: object) -> object:
    if isinstance(value, Struct):
        return {name: _to_plain(inner) for name, inner in stated_fields(value)}
    if isinstance(value, tuple):
        return [_to_plain(each) for each in value]
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def read_line(line: bytes, number: int, now: datetime) -> MemoryEntry | UnreadableEntry:
    """The memory in line `number` of a file; `now` replaces missing times."""
    try:
        given = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        return UnreadableEntry(line=number, message=f"It is no JSON object: {fault}.")
    entry = parse_entry(given, now)
    return entry if isinstance(entry, MemoryEntry) else UnreadableEntry(line=number, message=entry.sentence)


SUFFIX = ".md"
_BOM = "\ufeff"
_SLUG_WORDS, _SLUG_LENGTH, _ID_LENGTH = 6, 48, 7
_ORDER = (
    *("id", "kind", "subject", "attribute", "value", "task_type", "name", "version", "signature", "cue"),
    *(
        "at",
        "recorded",
        "state",
        "reason",
        "superseded_by",
        "stale",
        "pinned",
        "archived",
        "archived_at",
        "archived_why",
    ),
    *("confidence", "salience", "origin", "trust", "seen", "drawn"),
)
"""The fields that somebody who opens the file looks for first."""
_CLOSING = lazy_re(r"^\+\+\+[^\S\n]*(?:\n|\Z)", re.M)
_LINE = lazy_re(r"\(at line (\d+), column \d+\)")


def file_name(record: Record, *, whole_id: bool = False) -> str:
    """The path of its file: ``<kind>/<first words>-<short id>.md``; with `whole_id` if that is taken."""
    plain = unicodedata.normalize("NFKD", record.text[: _SLUG_LENGTH * 4]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:_SLUG_WORDS]
    slug = "-".join(words)[:_SLUG_LENGTH].rstrip("-") or "memory"
    id = record.id.partition("_")[2]
    return f"{record.kind}/{slug}-{id if whole_id else id[:_ID_LENGTH]}{SUFFIX}"


def write_markdown(record: Record) -> str:
    """The memory as a Markdown file; deterministic."""
    front = "\n".join(front_matter(record, _ORDER, frozenset({"text"})))
    top, tables, rest = front.partition("\n\n[")
    sealed = f'{top}\n{SEAL} = "{seal_of(record)}"{tables}{rest}'
    return f"{FENCE}\n{sealed}\n{FENCE}\n{record.text}\n"


def read_markdown(data: bytes, now: datetime) -> MemoryEntry | UnreadableEntry:
    """The memory in a file; `now` replaces missing times."""
    try:
        text = data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as fault:
        return UnreadableEntry(line=data.count(b"\n", 0, fault.start) + 1, message="It is not in UTF-8; save it so.")
    parts = _split_front_matter(text)
    if parts is None:
        return UnreadableEntry(line=1, message=f"It has no front matter, which stands between two lines of {FENCE}.")
    front, body = parts
    try:
        given = tomllib.loads(front)
    except tomllib.TOMLDecodeError as fault:
        found = _LINE.search(str(fault))
        line = int(found[1]) + 1 if found else front.count("\n") + 2
        sentence = _LINE.sub("", str(fault)).removesuffix("(at end of document)").strip()
        return UnreadableEntry(
            line=line, message=f"The front matter is no TOML there: {sentence[:1].lower()}{sentence[1:]}."
        )
    entry = parse_entry(given | {"text": body}, now)
    if isinstance(entry, MemoryEntry):
        return entry
    line = front.count("\n") + 4 if entry.name == "text" else line_of(front, entry.name)
    return UnreadableEntry(line=line, message=entry.sentence)


def _split_front_matter(text: str) -> tuple[str, str] | None:
    """The front matter and the text after it; None if there is none."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return None
    if first.endswith("\r"):
        # We never end this line so: an editor, or git on Windows, has changed all line ends.
        rest = rest.replace("\r\n", "\n")
    end = _CLOSING.search(rest)
    if end is None:
        return None
    # A memory's file ends with a line break that isn't part of its text.
    return rest[: end.start()].removesuffix("\n"), rest[end.end() :].removesuffix("\n")


_USES = 10


def drafts_of(record: Record) -> list[MemoryDraft]:
    """A draft for each piece of its evidence."""
    return [evidence_draft(record, piece) for piece in record.evidence]


def edit_draft(entry: MemoryEntry, known: Record | None, now: datetime) -> MemoryDraft:
    """The evidence of somebody who writes or rewords a file: recorded now, about the time in the file."""
    record = entry.record
    said = Evidence(
        at=record.at if entry.timed else now,
        recorded=now,
        origin="user",
        trust=TRUST["user"],
        salience=record.salience,
        confidence=record.confidence,
        conditions=record.conditions,
    )
    # A changed text that no longer names the value has another value.
    keeps = known is not None and record.value != known.value
    value = record.value if keeps or record.value.casefold() in record.text.casefold() else ""
    return replace(evidence_draft(record, said), value=value)


def objection_draft(record: Record, now: datetime, *, origin: Source = "user", why: str = "") -> MemoryDraft:
    """Evidence by a user, or `origin`, that a memory is not true, and why."""
    return evidence_draft(
        record, Evidence(at=now, recorded=now, origin=origin, trust=TRUST[origin], against=True, why=why)
    )


def confirmation_draft(record: Record, now: datetime) -> MemoryDraft:
    """Evidence by a user that a memory stays as it is."""
    return evidence_draft(record, Evidence(at=now, recorded=now, origin="user", trust=TRUST["user"]))


def is_reworded(entry: MemoryEntry, known: Record | None) -> bool:
    """Whether the text was changed by hand: by the file's own mark, or compared with what is stored."""
    if entry.edited is None:
        return known is not None and seal_of(known) != seal_of(entry.record)
    return entry.edited


def has_evidence(record: Record | None, draft: MemoryDraft) -> bool:
    """Whether a memory already has this evidence of a user, so that importing a file twice adds it once."""
    return record is not None and any(
        each.origin == draft.origin and each.against == draft.against and not each.sources and _same_time(each, draft)
        for each in record.evidence
    )


def is_imported_elsewhere(saying: Record | None, word: MemoryDraft, *, told: Record) -> bool:
    """Whether an edit of the memory `told` was imported before, so that another memory has it."""
    if saying is None or not has_evidence(saying, word):
        return False
    return saying.id != told.id or normalise_text(saying.text) == normalise_text(word.text)


def with_usage(stored: Record, told: Record, *, is_new: bool) -> Record:
    """`stored` with the usage that a file records; idempotent."""
    uses = tuple(sorted({*stored.uses, *told.uses}, reverse=True)[:_USES])
    grown = replace(
        stored,
        seen=max(stored.seen, told.seen),
        uses=uses,
        used=max(stored.used, told.used),
        helped=max(stored.helped, told.helped),
        harmed=max(stored.harmed, told.harmed),
        reflected=stored.reflected or told.reflected,
    )
    words = {"text": told.text, "drawn": told.drawn} if told.drawn else {}
    changed = {(each.at, each.origin): each for each in (*told.changes, *stored.changes)}
    grown = replace(grown, changes=tuple(changed[name] for name in sorted(changed)))
    if not is_new:
        return grown
    away = {"archived": told.archived, "archived_at": told.archived_at, "archived_why": told.archived_why}
    return replace(grown, pinned=told.pinned, **away, **words)


def evidence_draft(record: Record, piece: Evidence) -> MemoryDraft:
    """A piece of evidence as a draft for a memory."""
    names = {name: getattr(record, name) for name in (*_SEALED, "cue", "pinned")}
    # A lesson is recognised by its original wording.
    return MemoryDraft(**asdict(piece), **(names | {"text": record.drawn or record.text}))


def _same_time(piece: Evidence, draft: MemoryDraft) -> bool:
    # If the file has no time, it is the time of the import.
    return piece.at == draft.at or (not draft.timed and not piece.timed)
