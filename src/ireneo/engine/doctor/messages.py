"""Whether each message is what its id says: the hash of its parent, its role and its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from msgspec.structs import replace

from ireneo.engine.doctor.finding import UNREADABLE, Found, fault
from ireneo.engine.limbs import Limb
from ireneo.log.branch import SessionKey
from ireneo.log.ids import message_id, short
from ireneo.log.message import Message, MessageId
from ireneo.ports.transition import Transaction

CHUNK = 1_000
"""Messages that are read at a time."""
NAMED = 20
"""So many faults of one session are named; of the rest, how many there are."""

OTHERS = "more of the messages are wrong"
"""What the store says of more of them than it names."""

Told = Callable[[int], None]
"""Is told how many more messages were looked at."""


async def check_messages(tx: Transaction, key: SessionKey, grown: Sequence[Limb], told: Told) -> list[Found]:
    """Walk every path of a session, each message once."""
    found: list[Found] = []
    more: list[str] = []
    for limb in grown:
        async for sentence, about in _of_limb(tx, key, limb, told):
            if len(found) < NAMED:
                found.append(replace(fault(key.session, sentence), about=(about,)))
            else:
                more.append(about)
    if more:
        text = f"{len(more):,} more messages are wrong in the same way."
        found.append(replace(fault(key.session, text), about=(*more, OTHERS)))
    return found


async def _of_limb(tx: Transaction, key: SessionKey, limb: Limb, told: Told) -> AsyncIterator[tuple[str, str]]:
    """What is wrong along a limb, each with what the store's own sentence about the same holds."""
    before: MessageId | None = limb.leaves_at
    for first in range(limb.first, limb.head.position + 1, CHUNK):
        last = min(first + CHUNK - 1, limb.head.position)
        for position, message in await _read(tx, key, limb, first, last):
            if isinstance(message, Message):
                if sentence := _fault_of(message, position, before):
                    yield sentence, message.id
                before = message.id
            else:
                yield message, f"at position {position} of session {key.session!r} of space {key.space!r}"
                before = None
        told(last - first + 1)


async def _read(
    tx: Transaction, key: SessionKey, limb: Limb, first: int, last: int
) -> Sequence[tuple[int, Message | str]]:
    """The messages from `first` to `last`; of one that can't be read, why not."""
    try:
        read = await tx.log.path(key, limb.head.id, first, last)
    except UNREADABLE as error:
        if first == last:
            return [(first, f"Message {first + 1:,} on the path to {short(limb.head.id)} can't be read: {error}.")]
        return [pair for place in range(first, last + 1) for pair in await _read(tx, key, limb, place, place)]
    if len(read) == last - first + 1:
        return list(enumerate(read, first))
    there = {message.position: message for message in read}
    gone = "Message {:,} on the path to {} is not there."
    return [
        (place, there.get(place) or gone.format(place + 1, short(limb.head.id))) for place in range(first, last + 1)
    ]


def _fault_of(message: Message, position: int, before: MessageId | None) -> str:
    """What is wrong with a message, in a sentence; `before` is the one before it, where that is known."""
    place = f"Message {short(message.id)} (number {position + 1:,})"
    if (before is not None and message.parent != before) or (position == 0) != (message.parent is None):
        return f"{place} says that it follows {message.parent or 'nothing'}, and {before or 'nothing'} is before it."
    if message.erased:
        # Its id tells of what it said, and that is gone.
        return ""
    if message_id(message.parent, message.role, message.parts) != message.id:
        return f"{place} is not what was stored: its id is not the hash of what it says."
    return ""
