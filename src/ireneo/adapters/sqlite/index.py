"""How messages are put into the index of words, and taken out of it with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

import apsw
from msgspec import Struct

from ireneo.adapters.sqlite.connection import SQL, Bindings, read_parts
from ireneo.log.message import Draft, Message, Origin
from ireneo.memories.index import (
    MOST_IN_SESSION,
    author_of_message,
    document_number,
    place_of,
    role_of_message,
    terms_of_stored,
)
from ireneo.patterns import lazy_re

_PLAIN = lazy_re(r"[a-z0-9\x80-\U0010ffff]*\Z")
_ODD = lazy_re(r"[^a-z0-9\x80-\U0010ffff]")


def token(prefix: str, term: str) -> str:
    """The token of a term; what the tokenizer would split at or fold is written as ``_`` and two hexadecimal digits.

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


def find_prefix(database: apsw.Connection, space: str) -> str | None:
    """What the tokens of a space begin with; None where nothing was ever indexed in it."""
    row = database.execute(SQL["space_number"], {"space": space}).fetchone()
    return None if row is None else f"{row[0]}s"


def need_prefix(database: apsw.Connection, space: str) -> str:
    """What the tokens of a space begin with; it is given a number where it has none yet."""
    prefix = find_prefix(database, space)
    if prefix is not None:
        return prefix
    ((number,),) = database.execute(SQL["add_space"], {"space": space})
    return f"{number}s"


def _escape(found: re.Match[str]) -> str:
    return f"_{ord(found[0]):02x}"


class Placed(Struct, frozen=True, kw_only=True):
    """A message, and the segment that it stands on."""

    segment: int
    message: Message
    document: int | None = None
    """The number that it was found by, where it is indexed anew: it keeps its ordinal."""


def index_messages(database: apsw.Connection, space: str, session: int, placed: Sequence[Placed]) -> list[int]:
    """Make messages searchable that are no documents yet, in the order in which they are to be neighbours.

    One in which there is nothing to search takes no number: its neighbours are each other's. Gives the numbers.
    """
    found = [terms_of_stored(each.message) for each in placed]
    ordinals = _ordinals(database, session, placed, found)
    prefix = need_prefix(database, space)
    rows: list[Bindings] = []
    words: list[Bindings] = []
    numbers: list[int] = []
    for each, terms, ordinal in zip(placed, found, ordinals, strict=True):
        document = None
        if terms:
            document = document_number(session, ordinal, len(terms), role_of_message(each.message.draft))
            numbers.append(document)
            words.append({"document": document, "space_terms": tokens(prefix, terms)})
        place: Bindings = {"key": session, "segment": each.segment, "position": each.message.position}
        rows.append({**place, "document": document, "terms": len(terms)})
    database.executemany(SQL["add_document"], rows)
    database.executemany(SQL["index_message"], words)
    _count(database, space, len(words), sum(map(len, found)))
    _count_authors(database, space, (each.message.draft for each in placed), 1)
    return numbers


def _ordinals(
    database: apsw.Connection, session: int, placed: Sequence[Placed], found: Sequence[Sequence[str]]
) -> list[int]:
    """The ordinal of each message: the one that it had, or the next one; of those without terms it means nothing."""
    new = sum(1 for each, terms in zip(placed, found, strict=True) if terms and each.document is None)
    ((ordinal,),) = database.execute(SQL["give_ordinals"], {"key": session, "documents": new})
    ordinals: list[int] = []
    for each, terms in zip(placed, found, strict=True):
        if each.document is not None:
            ordinals.append(place_of(each.document) & MOST_IN_SESSION - 1)
        else:
            ordinals.append(ordinal)
            ordinal += bool(terms)
    return ordinals


def forget_documents(database: apsw.Connection, space: str, session: int, segment: int, first: int, last: int) -> None:
    """Take positions `first` to `last` of a segment out of the index, while the messages are still there."""
    run: Bindings = {"key": session, "segment": segment, "first": first, "last": last}
    gone = cast(list[tuple[int, int]], database.execute(SQL["list_documents"], run).fetchall())
    authored = cast(list[tuple[Origin, str]], database.execute(SQL["list_authored"], run).fetchall())
    drafts = [Draft(role="user", origin=origin, parts=read_parts(parts)) for origin, parts in authored]
    if drafts:
        _count_authors(database, space, drafts, -1)
        database.execute(SQL["delete_silent_authors"], {"space": space})
    database.executemany(SQL["forget_message_words"], ({"document": document} for document, _ in gone))
    database.execute(SQL["delete_documents"], run)
    _count(database, space, -len(gone), -sum(terms for _, terms in gone))


def _count(database: apsw.Connection, space: str, documents: int, terms: int) -> None:
    database.execute(SQL["count_message_words"], {"space": space, "documents": documents, "terms": terms})


def _count_authors(database: apsw.Connection, space: str, drafts: Iterable[Draft], step: int) -> None:
    spoke = Counter(author for draft in drafts if (author := author_of_message(draft)))
    rows = ({"space": space, "author": author, "messages": step * times} for author, times in spoke.items())
    database.executemany(SQL["count_author"], rows)
