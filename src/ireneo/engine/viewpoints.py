"""Whose eyes a story is seen with: a character, by all the names that she goes by.

A name is joined to another by hand alone, as a fact: “Vera's alias is the Countess.” What somebody says in a story, or
a rule finds in it, may be a lie or a mistake, and would let the one hear what was whispered to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ireneo.errors import BadInput
from ireneo.language.words import terms
from ireneo.log.message import SAME, is_called, name_key, names_of
from ireneo.memories.record import Record, slot
from ireneo.memories.slots import attribute_of
from ireneo.ports.store import Transaction

ALIAS = "alias"
"""The attribute of the facts that say how somebody is called besides."""
NAMED = 12
"""Names that are told where one is not known."""
LOOKED_AT = 64
"""Memories with the words of a name that are looked at."""


def character_asked(tx: Transaction, space: str, session: str | None, viewpoint: str) -> str:
    """The character who is meant, with all her names (``Vera = Countess``), in a session or in all of a space.

    Raises BadInput with those who are known, where nobody called so speaks or is said to be there.
    """
    who = all_names(tx, space, viewpoint)
    given = names_of(viewpoint)
    speak = tx.search.authors(space) if session is None else ()
    missing = [name for name in given if name not in speak and not tx.log.speakers(space, session, name)]
    if missing:
        known = tx.log.speakers(space, session)
        if len(names_of(who)) == len(given) or not any(is_called(who, each) for each in known):
            raise BadInput(_unknown(missing[0], space, session, sorted(known)))
    return who


def all_names(tx: Transaction, space: str, viewpoint: str) -> str:
    """A character with the names that she is given, and those that facts join to them."""
    given = {name_key(name): name for name in names_of(viewpoint)}
    joined = {name_key(name): name for name in _joined(tx, space, list(given.values()))}
    # Whichever of her names is given, it is the same memory.
    return SAME.join({**given, **joined}[key] for key in {**joined, **given})


def _unknown(name: str, space: str, session: str | None, known: Sequence[str]) -> str:
    where = f"session {session}" if session is not None else f"space {space!r}"
    if not known:
        return f"Nobody called {name!r} is known: the messages of {where} name no one who speaks or is there."
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f"Nobody called {name!r} is known in {where}; take one of {', '.join(known[:NAMED])}{more}."


def _joined(tx: Transaction, space: str, given: Sequence[str]) -> list[str]:
    """All names of those who are called by one that is given, her own first; none where no fact joins any."""
    own: dict[str, str] = {}
    for name in given:
        key = name_key(name)
        for record in _aliases(_with_words(tx, space, name)):
            if key in (name_key(record.subject), name_key(record.value)):
                own.setdefault(name_key(record.subject), record.subject)
    out = list(own.values())
    for subject in own.values():
        out += sorted(each.value for each in _aliases(tx.memories.of_key(space, "semantic", slot(subject, ALIAS))))
    return out


def _with_words(tx: Transaction, space: str, name: str) -> Iterable[Record]:
    """The memories that have all words of a name."""
    listed = tx.search.postings(space, "memories", list(dict.fromkeys(terms(name))))
    found = [set(numbers) for numbers in listed.values()]
    both = sorted(set.intersection(*found))[:LOOKED_AT] if found else []
    return [each.record for each in tx.search.memories(space, both)]


def _aliases(records: Iterable[Record]) -> Iterator[Record]:
    """Those that say how somebody is called besides, told by hand."""
    for record in records:
        by_hand = any(each.origin == "user" and not each.sources and not each.against for each in record.evidence)
        if record.holds and by_hand and record.value and attribute_of(record.attribute) == ALIAS:
            yield record
