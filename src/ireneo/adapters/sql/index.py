"""How messages and memories are put into the indexes of words, and taken out of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ireneo.adapters.sql.database import Bindings, Database, read_parts
from ireneo.log.message import Draft, Message
from ireneo.memories.index import (
    MOST_IN_SESSION,
    author_of_message,
    document_number,
    memory_number,
    place_of,
    role_of_message,
    terms_of_memory,
    terms_of_stored,
)
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

_PLAIN = lazy_re(r"[a-z0-9\x80-\U0010ffff]*\Z")
_ODD = lazy_re(r"[^a-z0-9\x80-\U0010ffff]")


def token(prefix: str, term: str) -> str:
    """The token of a term; what a tokenizer would split at or fold is written as ``_`` and two hexadecimal digits.

    A token is made of small letters, digits, ``_`` and whatever is not ASCII, which the tokenizer takes as it is. The
    number of the space that it begins with ends at the ``s``, so no token of one space is ever one of another.
    """
    return prefix + (term if _PLAIN.match(term) else _ODD.sub(_escape, term))


def tokens(prefix: str, terms: Iterable[str]) -> str:
    """The text that is indexed of a document: each of its terms once."""
    each_once = dict.fromkeys(terms)
    # Nearly every document is plain throughout: that is asked once, and not of each term.
    if _PLAIN.match("".join(each_once)):
        return prefix + f" {prefix}".join(each_once) if each_once else ""
    return " ".join([token(prefix, term) for term in each_once])


def _escape(found: re.Match[str]) -> str:
    return f"_{ord(found[0]):02x}"


def find_prefix(database: Database, space: str) -> str | None:
    """What the tokens of a space begin with; None where nothing was ever indexed in it."""
    row = database.row("space_number", space=space)
    return None if row is None else f"{row[0]}s"


def _need_prefix(database: Database, space: str) -> str:
    """What the tokens of a space begin with; it is given a number where it has none yet."""
    prefix = find_prefix(database, space)
    if prefix is not None:
        return prefix
    number = database.number("add_space", space=space)
    return f"{number}s"


class Placed(Struct, frozen=True, kw_only=True):
    """A message, and the segment that it stands on."""

    segment: int
    message: Message
    document: int | None = None
    """The number that it was found by, where it is indexed anew: it keeps its ordinal."""


def index_messages(
    database: Database, space: str, session: int, placed: Sequence[Placed], *, again: bool = False
) -> list[int]:
    """Make messages searchable that are no documents yet, in the order in which they are to be neighbours.

    One in which there is nothing to search takes no number: its neighbours are each other's. With `again` some may have
    been documents before. Gives the numbers.
    """
    found = [terms_of_stored(each.message) for each in placed]
    new = sum(1 for each, terms in zip(placed, found, strict=True) if terms and each.document is None)
    ordinal = database.number("give_ordinals", key=session, documents=new)
    prefix = _need_prefix(database, space)
    rows: list[Bindings] = []
    words: list[Bindings] = []
    numbers: list[int] = []
    for each, terms in zip(placed, found, strict=True):
        document = None
        if terms:
            own = ordinal if each.document is None else place_of(each.document) & MOST_IN_SESSION - 1
            ordinal += each.document is None
            document = document_number(session, own, len(terms), role_of_message(each.message.draft))
            numbers.append(document)
            words.append({"document": document, "space_terms": tokens(prefix, terms)})
        place: Bindings = {"key": session, "segment": each.segment, "position": each.message.position}
        rows.append({**place, "document": document, "terms": len(terms)})
    database.send_all("mend_document" if again else "add_document", rows)
    database.send_all("index_message", words)
    database.send("count_message_words", space=space, documents=len(words), terms=sum(map(len, found)))
    _count_authors(database, space, (each.message.draft for each in placed), 1)
    return numbers


def forget_documents(database: Database, space: str, session: int, segment: int, first: int, last: int) -> None:
    """Take positions `first` to `last` of a segment out of the index, while the messages are still there."""
    run: Bindings = {"key": session, "segment": segment, "first": first, "last": last}
    gone = database.rows("list_documents", **run)
    authored = database.rows("list_authored", **run)
    if authored:
        drafts = [Draft(role="user", origin=origin, parts=read_parts(parts)) for origin, parts in authored]
        _count_authors(database, space, drafts, -1)
        database.send("delete_silent_authors", space=space)
    database.send_all("forget_message_words", ({"document": document} for document, _ in gone))
    database.send("delete_documents", **run)
    lost = sum(terms for _, terms in gone)
    database.send("count_message_words", space=space, documents=-len(gone), terms=-lost)


def _count_authors(database: Database, space: str, drafts: Iterable[Draft], step: int) -> None:
    spoke = Counter(author for draft in drafts if (author := author_of_message(draft)))
    for author, times in spoke.items():
        database.send("count_author", space=space, author=author, messages=step * times)


def index_memories(database: Database, space: str, records: Sequence[tuple[int, Record]]) -> None:
    """Make memories searchable whose words are in no index; each comes with its number."""
    numbered: list[Bindings] = []
    words: list[Bindings] = []
    found = [terms_of_memory(record) for _, record in records]
    prefix = _need_prefix(database, space) if any(found) else ""
    for (number, record), terms in zip(records, found, strict=True):
        document = memory_number(number, len(terms)) if terms else None
        numbered.append({"space": space, "id": record.id, "document": document, "terms": len(terms)})
        if document is not None:
            words.append({"document": document, "space_terms": tokens(prefix, terms)})
    database.send_all("number_memory", numbered)
    database.send_all("index_memory", words)
    if words:
        total = sum(int(each["terms"] or 0) for each in numbered)
        database.send("count_memory_words", space=space, documents=len(words), terms=total)


def forget_memory_words(database: Database, space: str, document: int | None, terms: int) -> None:
    """Take a memory out of the index, if it is in it."""
    if document is not None:
        database.send("forget_memory_words", document=document)
        database.send("count_memory_words", space=space, documents=-1, terms=-terms)
