"""The memories and the scratchpads of a space, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.memories.record import Kind, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import Wanted, folded

FOUND_AT_MOST = 10


class MemoryMemories:
    """`ireneo.ports.memories.MemoriesPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, space: str, records: Sequence[Record]) -> int:
        """Store records; one whose id is taken is replaced."""
        kept = self._shelf.change_kept(space)
        return sum(kept.put(record) for record in records)

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        """Read memories by the beginning of their id."""
        memories = self._shelf.kept(space).memories
        found: dict[MemoryId, Record] = {}
        for name in ids:
            for each in sorted(known for known in memories if known.startswith(name))[:FOUND_AT_MOST]:
                found.setdefault(each, memories[each])
        return list(found.values())

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        """Every memory of a kind under one key."""
        memories = self._shelf.kept(space).memories.values()
        return _as_recorded([each for each in memories if (each.kind, each.key) == (kind, key)])

    def list(self, space: str, wanted: Wanted, limit: int | None = None) -> Sequence[Record]:
        """The memories that are meant."""
        found = [each for each in self._shelf.kept(space).memories.values() if _is_meant(each, wanted)]
        found.sort(key=lambda each: each.id)
        found.sort(key=lambda each: each.at, reverse=True)
        return found[:limit]

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        """Every memory whose evidence names one of `sources`."""
        asked = set(sources)
        memories = self._shelf.kept(space).memories.values()
        return _as_recorded([each for each in memories if not asked.isdisjoint(each.sources)])

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        """Take memories out for good."""
        kept = self._shelf.change_kept(space)
        return sum(kept.remove(name) for name in ids)


class MemoryPads:
    """`ireneo.ports.memories.PadsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def read(self, space: str, task: str) -> Pad | None:
        """The scratchpad of a task."""
        return self._shelf.kept(space).pads.get(task)

    def write(self, space: str, pad: Pad) -> None:
        """Store a scratchpad in the place of the one that its task had."""
        self._shelf.change_kept(space).pads[pad.task] = pad

    def remove(self, space: str, task: str) -> bool:
        """Take a scratchpad out."""
        return self._shelf.change_kept(space).pads.pop(task, None) is not None

    def list(self, space: str) -> Sequence[Pad]:
        """Every scratchpad."""
        pads = sorted(self._shelf.kept(space).pads.values(), key=lambda pad: pad.task)
        return sorted(pads, key=lambda pad: pad.written, reverse=True)


def _as_recorded(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda each: (each.recorded, each.id))


def _is_meant(record: Record, wanted: Wanted) -> bool:
    return (
        wanted.kind in (None, record.kind)
        and (not wanted.states or record.state in wanted.states)
        and (wanted.subject is None or folded(wanted.subject) == folded(record.subject))
        and (wanted.task_type is None or folded(wanted.task_type) == folded(record.task_type))
        and wanted.archived in (None, record.archived)
        and (not wanted.unreflected or record.reflected is None)
        and (not wanted.stale or record.stale != "")
        and (not wanted.cues or (record.cue != "" and record.cue in wanted.cues))
        and (not wanted.lessons or record.cue != "")
    )
