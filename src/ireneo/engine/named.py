"""Find what an id names, in full or abbreviated: a message, a memory or a summary; record that memories were used."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MemoryNotFound, SummaryNotFound
from ireneo.log.message import SHORT, Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.mentions import names_meant
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import Summary, SummaryId

MIN_ID_LENGTH = 4
"""Least characters of an abbreviated id, prefix included; fewer would match by chance."""
MAX_IDS_LISTED = 4
"""How many ids are listed if a name is ambiguous."""
USES_KEPT = 10
"""How many uses are stored with their time; earlier ones are only counted."""


def only_match(name: str, found: Collection[str], what: str, least: int = MIN_ID_LENGTH) -> str:
    """Return the only id in `found` that is `name` or begins with it.

    Raises BadInput, which lists some ids, if there are several or if `name` is too short.
    """
    if name in found:
        return name
    ids = sorted(set(found))
    if len(name) < least:
        raise BadInput(
            f"{name!r} is too short for the id of one {what}: {shortest_ids(ids)}; give {least} characters of it."
        )
    if len(ids) > 1:
        raise BadInput(f"Several of them begin with {name!r}, and it takes one {what}: {shortest_ids(ids)}.")
    return ids[0]


def messages_named(name: str, found: Sequence[Message]) -> list[Message]:
    """Return the messages in `found` that `name` means: one by its id, or all that came from one log entry.

    Raises BadInput if several ids begin with `name`.
    """
    begun = {message.id for message in found if message.id.startswith(name)}
    if not begun:
        return list(found)
    id = MessageId(only_match(name, begun, "message"))
    return [message for message in found if message.id == id]


def memory_named(tx: Transaction, space: str, name: str) -> Record | None:
    """Return the memory with that id or abbreviated id, if there is one. Raises BadInput as `only_match` does."""
    found = {record.id: record for record in tx.memories.get(space, [name])} if name else {}
    return found[MemoryId(only_match(name, found, "memory"))] if found else None


def subject_meant(tx: Transaction, space: str, subject: str) -> str:
    """The name of whoever a relation to the user means, "my sister", if memories know one; else `subject`."""
    told = tx.memories.list(space, MemoryFilter(kind="semantic", subject="user")) if " " in subject.strip() else ()
    called = names_meant(subject, [each for each in told if each.state == "active"])
    return called[0] if len(called) == 1 else subject


def memories_of_ids(tx: Transaction, space: str, ids: Sequence[str]) -> list[Record]:
    """The memories with these ids, each once. Raises MemoryNotFound."""
    found: dict[MemoryId, Record] = {}
    for name in ids:
        there = memory_named(tx, space, name)
        if there is None:
            raise MemoryNotFound.named(name, space)
        found[there.id] = there
    return list(found.values())


def find_summary(tx: Transaction, key: SessionKey, name: str) -> Summary:
    """The summary with that id or abbreviation. Raises SummaryNotFound, and BadInput for several."""
    found = {summary.id: summary for summary in tx.summaries.find(key, name)} if name else {}
    if not found:
        raise SummaryNotFound(f"There is no summary {name} in session {key.session}.")
    return found[SummaryId(only_match(name, found, "summary"))]


def shortest_ids(ids: Sequence[str]) -> str:
    """List some of the ids, abbreviated as far as they stay distinct."""
    length = SHORT
    while len({id[:length] for id in ids}) < len(set(ids)):
        length += 1
    more = ", …" if len(ids) > MAX_IDS_LISTED else ""
    return f"{', '.join(id[:length] for id in ids[:MAX_IDS_LISTED])}{more}"


def record_use(
    tx: Transaction, resources: Resources, space: str, ids: Sequence[str], *, helped: bool | None = None
) -> list[Record]:
    """Record that memories were acted on now, and return them as they are then (see `Memory.used`)."""
    now = resources.clock.now()
    found = [
        replace(
            each,
            uses=tuple(sorted((now, *each.uses), reverse=True)[:USES_KEPT]),
            used=each.used + 1,
            helped=each.helped + (helped is True),
            harmed=each.harmed + (helped is False),
        )
        for each in memories_of_ids(tx, space, ids)
    ]
    tx.memories.put(space, found)
    return found
