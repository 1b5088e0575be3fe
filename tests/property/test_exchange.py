"""A memory survives the way into a file and back, whatever it says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.examples import times

from ireneo.memories.exchange import (
    MemoryEntry,
    detect_file_type,
    file_name,
    read_line,
    read_markdown,
    write_line,
    write_markdown,
)
from ireneo.memories.record import Evidence, MemoryId, Period, Record

NOW = datetime(2026, 5, 3, 10, tzinfo=UTC)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-9))])
MOMENTS = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1), timezones=ZONES)
WORDS = st.text(max_size=40) | st.sampled_from(["+++", "---", 'a "b"\n+++\n', "'''", "\r\n", "\x00\x7f\x85\u2028", "#"])
TEXTS = WORDS.filter(str.strip)
SHARES = st.floats(0, 1)
IDS = st.from_regex(r"m_[a-z2-7]{26}", fullmatch=True).map(MemoryId)
SOURCES = st.sampled_from(["user", "agent", "tool", "derived"])
EVIDENCE = st.builds(
    Evidence,
    at=MOMENTS,
    recorded=MOMENTS,
    origin=SOURCES,
    trust=SHARES,
    until=st.none() | MOMENTS,
    against=st.booleans(),
    session=WORDS,
    messages=st.lists(WORDS, max_size=3).map(tuple),
    summaries=st.lists(WORDS, max_size=1).map(tuple),
    memories=st.lists(IDS, max_size=2).map(tuple),
)
RECORDS = st.builds(
    Record,
    id=IDS,
    kind=st.sampled_from(["episodic", "semantic", "procedural", "failure"]),
    key=WORDS,
    text=TEXTS,
    at=MOMENTS,
    recorded=MOMENTS,
    evidence=st.lists(EVIDENCE, max_size=3).map(tuple),
    seen=st.integers(0, 2**40),
    state=st.sampled_from(["active", "superseded", "retired", "disputed", "erased"]),
    reason=WORDS,
    superseded_by=st.none() | IDS,
    periods=st.lists(st.builds(Period, start=MOMENTS, end=st.none() | MOMENTS), max_size=2).map(tuple),
    valid_from=st.none() | MOMENTS,
    valid_to=st.none() | MOMENTS,
    retired=st.none() | MOMENTS,
    salience=SHARES,
    confidence=SHARES,
    origin=SOURCES,
    trust=SHARES,
    subject=WORDS,
    attribute=WORDS,
    value=WORDS,
    task_type=WORDS,
    name=WORDS,
    version=st.integers(1, 9),
    signature=WORDS,
    conditions=st.dictionaries(WORDS, WORDS, max_size=3),
    uses=st.lists(MOMENTS, max_size=3).map(tuple),
    used=st.integers(0, 99),
    helped=st.integers(0, 99),
    harmed=st.integers(0, 99),
    reflected=st.none() | MOMENTS,
    stale=WORDS,
    pinned=st.booleans(),
    archived=st.booleans(),
)
PLAIN = Record(
    id=MemoryId("m_" + "a" * 26), kind="semantic", key="", text="+++\n---\n", at=NOW, recorded=NOW, evidence=()
)


@settings(max_examples=times(7))
@given(RECORDS)
@example(PLAIN)
@example(replace(PLAIN, text="\n\n+++", trust=0.25, conditions={"": "+++", "a.b": "\n[evidence]\n"}))
def test_a_memory_comes_back_from_markdown_as_it_was(record: Record) -> None:
    text = write_markdown(record)
    read = read_markdown(text.encode(), NOW)
    assert isinstance(read, MemoryEntry), read
    assert read == MemoryEntry(record=record, timed=True, edited=False)
    assert write_markdown(read.record) == text
    assert detect_file_type(text.encode()) == "markdown"


@settings(max_examples=times(7))
@given(RECORDS)
def test_a_memory_comes_back_from_a_line_as_it_was(record: Record) -> None:
    line = write_line(record)
    assert "\n" not in line
    read = read_line(line.encode(), 1, NOW)
    assert read == MemoryEntry(record=record, timed=True, edited=False)
    assert isinstance(read, MemoryEntry)
    assert write_line(read.record) == line
    assert detect_file_type(line.encode() + b"\n{") == "jsonl"


@settings(max_examples=times(7))
@given(RECORDS, TEXTS)
def test_another_text_is_told_as_an_edit(record: Record, words: str) -> None:
    text = write_markdown(record)
    assert text.endswith(f"\n{record.text}\n")
    edited = text[: len(text) - len(record.text) - 1] + words + "\n"
    read = read_markdown(edited.encode(), NOW)
    assert isinstance(read, MemoryEntry)
    assert read.record == replace(record, text=words)
    same = record.text.replace("\r\n", "\n").strip() == words.replace("\r\n", "\n").strip()
    assert read.edited is not same


@settings(max_examples=times(7))
@given(RECORDS)
def test_a_file_has_a_name_that_every_system_takes(record: Record) -> None:
    for whole in (False, True):
        folder, _, name = file_name(record, whole_id=whole).partition("/")
        assert folder == record.kind
        assert name.removesuffix(".md").replace("-", "").isalnum()
        assert name.isascii()
        assert len(name) < 90
