"""The contents of an index of memories and messages: numbers of documents, terms of memories, quantised vectors."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from math import isfinite
from typing import Literal, TypeAlias

from ireneo.language.words import terms
from ireneo.log.message import Draft
from ireneo.memories.record import Kind, Record

# Document numbers: a message or a memory in the index, with what ranking must know about it packed in. A number is
# below 2**63, so that a database can use it as the row's key:
#
#     session key (32 bits) | ordinal in the session (24) | class of its length (5) | class of its role (2)
#
# So a list of numbers alone shows, without reading a text, which documents are neighbours, how long each is, and who
# speaks. The *place* of a document is its number without the two classes: its neighbours are at the places one before
# and one after, and the possible numbers at a place are those from `place << 7` up to `(place << 7) + 127`.


RoleClass = Literal[0, 1, 2]
USER: RoleClass = 0
ASSISTANT: RoleClass = 1
OTHER: RoleClass = 2

CLASS_BITS = 7
"""Bits below the place: those of the length and of the role."""
ORDINAL_BITS = 24
MOST_IN_SESSION = 1 << ORDINAL_BITS
"""How many documents a session can hold."""
MOST_SESSIONS = 1 << (63 - CLASS_BITS - ORDINAL_BITS)
"""How many session keys there can be."""
_LENGTH_CLASSES = 32
_CLASSES_PER_DOUBLING = 2.5


def document_number(session_key: int, ordinal: int, terms: int, role: RoleClass) -> int:
    """The number of the document that is the `ordinal`-th (from 0) of its session and has `terms` terms."""
    if not 0 <= session_key < MOST_SESSIONS:
        raise ValueError(f"The session key {session_key} is outside 0..{MOST_SESSIONS - 1}.")
    if not 0 <= ordinal < MOST_IN_SESSION:
        raise ValueError(f"The ordinal {ordinal} is outside 0..{MOST_IN_SESSION - 1}.")
    return ((session_key << ORDINAL_BITS | ordinal) << CLASS_BITS) | length_class(terms) << 2 | role


def length_class(terms: int) -> int:
    """The class, 0 to 31, of a document with `terms` terms: two and a half classes per doubling, up to 5,400 terms."""
    return min(_LENGTH_CLASSES - 1, round(_CLASSES_PER_DOUBLING * math.log2(1 + terms)))


LENGTHS = tuple(2 ** (each / _CLASSES_PER_DOUBLING) - 1 for each in range(_LENGTH_CLASSES))
"""About how many terms a document of each class has."""


def length_of(number: int) -> float:
    """How many terms the document has, to about 15 %."""
    return LENGTHS[number >> 2 & 31]


def role_of(number: int) -> int:
    """0 if the user speaks, 1 if the assistant does, 2 for others (a tool, a memory)."""
    return number & 3


def place_of(number: int) -> int:
    """Session and ordinal together: `place + 1` is the next document of the session, if there is one."""
    return number >> CLASS_BITS


def session_of(number: int) -> int:
    """The key of the session."""
    return number >> CLASS_BITS + ORDINAL_BITS


def number_range(place: int) -> tuple[int, int]:
    """The first and the last possible number of a document at `place`, as a range of keys to read."""
    return place << CLASS_BITS, (place << CLASS_BITS) + (1 << CLASS_BITS) - 1


def role_of_message(draft: Draft) -> RoleClass:
    """The speaker, as encoded in document numbers; a message with only results has none."""
    if draft.role == "user":
        return USER if draft.text or not draft.results else OTHER
    return ASSISTANT if draft.role == "assistant" else OTHER


def memory_number(number: int, terms: int) -> int:
    """The number of the document that is a memory with `terms` terms; memories form one sequence."""
    return number << CLASS_BITS | length_class(terms) << 2 | OTHER


def terms_of_memory(record: Record) -> list[str]:
    """The terms by which a memory is found: those of its text, of its slot or name, of its kind and labels.

    Empty if there is nothing in it to search.
    """
    found = terms(record.text)
    told = set(found)
    for each in (record.subject, record.attribute, record.value, record.task_type, record.name):
        for term in terms(each):
            if term not in told:
                told.add(term)
                found.append(term)
    return [*found, kind_term(record.kind), *map(label_term, record.labels)] if found else []


def kind_term(kind: Kind) -> str:
    """The term for the kind of a memory in an index; it never equals a word of a text."""
    return f"#{kind}"


def label_term(label: str) -> str:
    """The term for a memory's label; it never equals a word of a text."""
    return f"#={label}"


Vector: TypeAlias = bytes
"""As many signed bytes (int8) as the embedder has dimensions, scaled so that the largest of them is 127 or -127.

Only its direction matters: two are compared by the cosine. If it were scaled to a length of 127 instead, most of 384
bytes would be single digits, and rounding would lose four times as much. All zero if the text has no direction; it is
similar to nothing.
"""

LARGEST = 127


def quantised(values: Sequence[float]) -> Vector:
    """`values` as a vector. Raises ValueError if one of them is not a finite number."""
    if not all(isfinite(value) for value in values):
        raise ValueError("an embedding holds a value that is not a finite number")
    largest = max(map(abs, values), default=0.0)
    if largest == 0.0:
        return bytes(len(values))
    scale = LARGEST / largest
    if not isfinite(scale):
        # The inverse of very small numbers is infinite, so they are scaled up first.
        return quantised([value * 2.0**200 for value in values])
    return array("b", [round(value * scale) for value in values]).tobytes()
