"""What a shortened id names: one thing, or nothing that anybody would have to guess."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ireneo.errors import BadInput
from ireneo.log.ids import SHORT
from ireneo.log.message import Message, MessageId
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.transition import Transaction

LEAST = 4
"""Characters of an id that are needed, its letter and the underscore among them: with fewer, chance says what is met.
"""
LISTED = 4
"""So many of those that a name might mean are listed."""


def the_one(name: str, found: Collection[str], what: str, least: int = LEAST) -> str:
    """The only id of `found` that is `name` or begins so.

    Raises BadInput, which lists some of them, where there are several or where so few characters are no name.
    """
    if name in found:
        return name
    ids = sorted(set(found))
    if len(name) < least:
        raise BadInput(f"{name!r} is too short for the id of one {what}: {listed(ids)}; give {least} characters of it.")
    if len(ids) > 1:
        raise BadInput(f"Several of them begin with {name!r}, and it takes one {what}: {listed(ids)}.")
    return ids[0]


def messages_named(name: str, found: Sequence[Message]) -> list[Message]:
    """Those of the messages that a look for `name` found which it names: by its id one, or all of one entry of a log.

    Raises BadInput where it is the beginning of several ids.
    """
    begun = {message.id for message in found if message.id.startswith(name)}
    if not begun:
        return list(found)
    id = MessageId(the_one(name, begun, "message"))
    return [message for message in found if message.id == id]


async def memory_named(tx: Transaction, space: str, name: str) -> Record | None:
    """The memory of that id, or the only one whose id begins so. Raises BadInput as `the_one` does."""
    found = {record.id: record for record in await tx.memories.get(space, [name])} if name else {}
    return found[MemoryId(the_one(name, found, "memory"))] if found else None


def listed(ids: Sequence[str]) -> str:
    """Some of the ids, as short as they can be told apart."""
    length = SHORT
    while len({id[:length] for id in ids}) < len(set(ids)):
        length += 1
    more = ", …" if len(ids) > LISTED else ""
    return f"{', '.join(id[:length] for id in ids[:LISTED])}{more}"
