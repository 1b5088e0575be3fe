"""Runs for the tests of what runs teach, from the drafts of `tests.golden.material`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Draft, chain, count_parts

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def quarters(text: str) -> int:
    """Four characters a token, so that what is expected stays as it is when the estimate gets better."""
    return (len(text) + 3) // 4


def timed(drafts: Sequence[Draft], seconds: Sequence[float]) -> list[Draft]:
    """The drafts, each so many seconds after the one before."""
    out, at = [], BEGIN
    for draft, passed in zip(drafts, seconds, strict=True):
        at += timedelta(seconds=passed)
        out.append(replace(draft, at=at))
    return out


def material(drafts: Sequence[Draft]) -> RunMaterial:
    messages = chain(None, drafts, lambda parts: count_parts(parts, quarters))
    return RunMaterial(session="run", messages=tuple(messages))
