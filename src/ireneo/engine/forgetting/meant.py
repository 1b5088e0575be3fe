"""What is meant by the name that a caller gives: messages, sessions, memories."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from ireneo.engine.forgetting.learned import wording
from ireneo.engine.forgetting.reading import all_messages
from ireneo.engine.forgetting.words import Name, written
from ireneo.engine.naming import listed, memory_named, the_one
from ireneo.errors import BadInput, MemoryNotFound, MessageNotFound, SessionNotFound
from ireneo.log.branch import SessionKey
from ireneo.log.message import Message, MessageId
from ireneo.memories.record import Record
from ireneo.ports.memories import Wanted, folded
from ireneo.ports.transition import Transaction

ROLE_WORDS = frozenset(
    {"user", "the user", "i", "me", "my", "myself", "you", "assistant", "agent", "system", "tool", "human", "ai", "bot"}
)
"""What is said of somebody in every conversation: no name by which messages could be found."""


class Meant(Struct, frozen=True, kw_only=True):
    """What is meant, before it is known what was derived from it."""

    messages: dict[SessionKey, tuple[Message, ...]] = {}
    sessions: tuple[SessionKey, ...] = ()
    """Those that go whole."""
    memories: tuple[Record, ...] = ()
    name: Name | None = None
    """Whatever else names this goes as well."""
    note: str = ""


async def message_meant(tx: Transaction, space: str, name: str) -> Meant:
    """The message called `name`: its id, the beginning of it, or the id that its log gave it.

    It may stand in several sessions, where the same was imported twice. Raises MessageNotFound, and BadInput where
    several are called so.
    """
    found: dict[SessionKey, tuple[Message, ...]] = {}
    for info in await tx.sessions.list(space) if name else ():
        if here := await tx.log.find(info.key, [name]):
            found[info.key] = tuple(here)
    ids = {message.id for here in found.values() for message in here}
    if not ids:
        raise MessageNotFound(f"There is no message {name} in space {space!r}.")
    if begun := [id for id in ids if id.startswith(name)]:
        ids = {MessageId(the_one(name, begun, "message"))}
    elif len(ids) > 1:
        # A log may give several messages one id: which of them goes for good is not to be guessed.
        raise BadInput(f"{len(ids)} messages have the id {name} in their log: {listed(sorted(ids))}; name one of them.")
    found = {key: tuple(message for message in here if message.id in ids) for key, here in found.items()}
    there = {key: tuple(message for message in here if not message.erased) for key, here in found.items()}
    return Meant(messages={key: here for key, here in there.items() if here})


async def session_meant(tx: Transaction, space: str, name: str) -> Meant:
    """The session called `name`, also where it is kept elsewhere and only what was learned from it is here.

    Raises SessionNotFound.
    """
    key = SessionKey(space, name)
    if await tx.sessions.get(key) is None and not await _is_told_of(tx, key):
        raise SessionNotFound(f"There is no session {name!r} in space {space!r}; see `ireneo sessions`.")
    return Meant(sessions=(key,))


async def _is_told_of(tx: Transaction, key: SessionKey) -> bool:
    """Whether a run, a file, a memory or a scratchpad comes from a session."""
    if await tx.runs.get(key.space, [key.session]):
        return True
    if any(key.session in file.sessions for file in await tx.ledger.list(key.space)):
        return True
    if any(pad.task == key.session for pad in await tx.pads.list(key.space)):
        return True
    return any(key.session in record.sessions for record in await tx.memories.list(key.space, Wanted()))


async def memory_meant(tx: Transaction, space: str, name: str) -> Meant:
    """The memory whose id begins with `name`. Raises MemoryNotFound, and BadInput where there are several."""
    record = await memory_named(tx, space, name)
    if record is None:
        raise MemoryNotFound(f"There is no memory {name} in space {space!r}.")
    sources = [source for piece in record.evidence for source in piece.messages]
    note = "The messages that it was drawn from stay; forget them by message= or session=." if sources else ""
    return Meant(memories=(record,), note=note)


async def subject_meant(tx: Transaction, space: str, subject: str) -> Meant:
    """What is known of `subject`: the memories of it, the messages that these come from, and all that names it.

    Of a role (the user, say) only the former two: everything would name it.
    """
    wanted = folded(subject)
    known = await tx.memories.list(space, Wanted(subject=subject))
    name = None if wanted in ROLE_WORDS else Name(subject)
    sources = {source for record in known for piece in record.evidence for source in piece.messages}
    found: dict[SessionKey, tuple[Message, ...]] = {}
    for info in await tx.sessions.list(space):
        if here := await _named(tx, info.key, sources, name):
            found[info.key] = here
    memories = {record.id: record for record in known}
    if name is not None:
        every = await tx.memories.list(space, Wanted())
        memories.update((record.id, record) for record in every if name.is_in(wording(record)))
    keys = [info.key.session for info in await tx.sessions.list(space) if name and name.is_in([info.key.session])]
    note = f"The names of these sessions name it, and stay: {', '.join(keys)}; forget them by session=." if keys else ""
    return Meant(messages=found, memories=tuple(memories.values()), name=name, note=note)


async def _named(tx: Transaction, key: SessionKey, sources: Collection[str], name: Name | None) -> tuple[Message, ...]:
    """The messages of a session that are among `sources` or name the subject."""
    if name is None:
        found: Sequence[Message] = await tx.log.find(key, sorted(sources)) if sources else ()
        return tuple(message for message in found if message.id in sources and not message.erased)
    return tuple(
        [
            message
            async for message in all_messages(tx, key, whole=True)
            if not message.erased and (message.id in sources or name.is_in(written(message)))
        ]
    )
