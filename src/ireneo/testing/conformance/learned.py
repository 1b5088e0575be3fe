"""What the checks on memories are made with: records and scratchpads."""

from __future__ import annotations

from datetime import datetime

from ireneo.log.ids import digest
from ireneo.log.message import MessageId
from ireneo.memories.record import Evidence, Kind, MemoryId, Record
from ireneo.memories.scratchpad import Item, Pad
from ireneo.testing.conformance.material import NOON


def learned(
    text: str, *, kind: Kind = "semantic", key: str = "", at: datetime = NOON, recorded: datetime = NOON
) -> Record:
    """A memory of `text`, which a user told."""
    return Record(
        id=MemoryId(digest("m", kind.encode(), key.encode(), text.encode())),
        kind=kind,
        key=key,
        text=text,
        at=at,
        recorded=recorded,
        evidence=(Evidence(at=at, recorded=recorded),),
    )


def cited(
    recorded: datetime,
    *,
    messages: tuple[str, ...] = (),
    summaries: tuple[str, ...] = (),
    memories: tuple[str, ...] = (),
) -> Evidence:
    """A piece of evidence that names what it is from."""
    return Evidence(
        at=recorded,
        recorded=recorded,
        messages=tuple(MessageId(name) for name in messages),
        summaries=summaries,
        memories=tuple(MemoryId(name) for name in memories),
    )


def pad(task: str, goal: str = "to get it done", written: datetime = NOON) -> Pad:
    """A scratchpad with something in every part."""
    return Pad(
        task=task,
        goal=goal,
        plan=(Item(text="look", done=True), Item(text="leap")),
        facts=("the bridge is out",),
        questions=("who has the key?",),
        written=written,
    )
