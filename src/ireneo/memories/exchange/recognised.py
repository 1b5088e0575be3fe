"""Tell files of memories from logs by how they begin."""

from __future__ import annotations

import msgspec

from ireneo.memories.exchange.front import FENCE


class _Looks(msgspec.Struct):
    """What every line of memories has, and no line of a log."""

    kind: str
    text: str
    evidence: list[object] = []
    type: object = None


def recognised(sample: bytes) -> str:
    """``"markdown"`` or ``"jsonl"``, where a file that begins with `sample` holds memories, else ""."""
    head = sample.removeprefix(b"\xef\xbb\xbf")
    first, _, _ = head.partition(b"\n")
    if first.rstrip() == FENCE.encode():
        return "markdown"
    return "jsonl" if _is_memory(_first_line(head)) else ""


def _first_line(head: bytes) -> bytes:
    return next((line for line in head.split(b"\n") if line.strip()), b"")


def _is_memory(line: bytes) -> bool:
    try:
        looks = msgspec.json.decode(line, type=_Looks)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b'"evidence":[{"at":' in line and b'"kind":"' in line[:2000]
    return looks.type is None and looks.kind in ("episodic", "semantic", "procedural", "failure")
