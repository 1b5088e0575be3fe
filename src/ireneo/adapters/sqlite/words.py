"""Terms as they stand in the indexes of words: one token each, which begins with the number of its space.

A token is made of small letters, digits, ``_`` and whatever is not ASCII, all of which the tokenizer takes as it is.
The number ends at the ``s``, so no token of one space is ever one of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import apsw

from ireneo.adapters.sqlite.queries import SQL
from ireneo.patterns import lazy_re

_PLAIN = lazy_re(r"[a-z0-9\x80-\U0010ffff]*\Z")
_ODD = lazy_re(r"[^a-z0-9\x80-\U0010ffff]")


def token(prefix: str, term: str) -> str:
    """The token of a term; what the tokenizer would split at or fold is written as ``_`` and two hexadecimal digits."""
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
