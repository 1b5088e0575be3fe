"""What may speak of somebody who is to be forgotten, and what a memory was drawn from: shown, to be taken or left."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from ireneo.engine.forgetting import all_messages, wording
from ireneo.language.sentences import sentences
from ireneo.language.words import terms
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.persons import Person, Told
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.wording import quoted
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction


class MayAlso(Struct, frozen=True, kw_only=True):
    """A sentence that may be meant as well, and stays unless it is taken by its id."""

    id: MessageId | MemoryId
    """Of the message that says it, or of the memory."""
    session: str
    """Where it was said; empty for a memory."""
    text: str
    """The sentence."""
    why: str
    """Why it may be meant."""


def may_speak_of(
    tx: Transaction, space: str, name: str, messages: Collection[str], memories: Collection[str]
) -> Iterator[MayAlso]:
    """The sentences that may speak of `name` and stay, where these messages and memories go."""
    told = {
        info.key: [Told(id=each.id, text=each.draft.text) for each in all_messages(tx, info.key) if not each.erased]
        for info in tx.sessions.list(space)
    }
    records = tx.memories.list(space, MemoryFilter())
    person = Person(name, [*(one.text for each in told.values() for one in each), *(each.text for each in records)])
    meant: dict[str, str] = dict.fromkeys(messages, "")
    for key, texts in told.items():
        for id, mention in person.mentions(texts):
            if id not in messages:
                meant[id] = mention.why
                yield MayAlso(id=MessageId(id), session=key.session, text=mention.sentence, why=mention.why)
    for record in records:
        if record.id not in memories and (why := _why(person, record, meant)):
            yield MayAlso(id=record.id, session="", text=record.text, why=why)


def _why(person: Person, record: Record, meant: dict[str, str]) -> str:
    """Why a memory may speak of somebody: by its own words, or by the messages that it was drawn from."""
    why = person.why(" \n".join(wording(record)), follows=any(source in meant for source in record.sources))
    drawn = next((meant[source] for source in record.sources if meant.get(source)), "")
    return why or (f"it was drawn from a message of which {drawn}" if drawn else "")


def sources_of(tx: Transaction, space: str, records: Sequence[Record], messages: Collection[str]) -> Iterator[MayAlso]:
    """The messages that memories were drawn from and that stay, each with the sentence that says most of it."""
    for record in records:
        for piece in record.evidence:
            keys = [SessionKey(space, piece.session)] if piece.session else [e.key for e in tx.sessions.list(space)]
            for message in (one for key in keys for one in tx.log.find(key, piece.messages)):
                if message.id in piece.messages and message.id not in messages and not message.erased:
                    said = _nearest(message.draft.text, record.text)
                    why = f"{quoted(record.text)} was drawn from it"
                    yield MayAlso(id=message.id, session=piece.session, text=said, why=why)


def _nearest(text: str, said: str) -> str:
    wanted = set(terms(said))
    pieces = list(sentences(text, small_opens=True))
    return max(pieces, key=lambda each: len(wanted.intersection(terms(each))), default=text)
