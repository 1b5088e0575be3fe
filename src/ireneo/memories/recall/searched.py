"""What of a message and of a memory is searched: what was said and done, not what was thought or put in between."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.log.echo import said_in
from ireneo.log.message import Call, Draft, Message, Result, Text
from ireneo.memories.recall.documents import ASSISTANT, CLASS_BITS, OTHER, USER, RoleClass, length_class
from ireneo.memories.recall.words import document_terms, terms
from ireneo.memories.record import Kind, Record
from ireneo.patterns import lazy_re

ARGUMENT_CHARS = 2_000
"""Of each string among a call's arguments, so many characters: what a file is written with is seldom asked for."""
RESULT_HEAD_CHARS = 2_000
RESULT_TAIL_CHARS = 1_000
"""Of each result, so many from its beginning and its end, where a tool says what it did and how that went."""

# A name of one to three words, as they are written before what somebody says.
_LABEL = lazy_re(r"\**([A-Z][\w'’-]{1,24}(?: [A-Z][\w'’-]{0,24}){0,2})\**: \S")
_HEADINGS = frozenset(
    """
    note notes error errors warning info debug question answer summary title subject example step steps result results
    update edit todo fix hint tip important yes no ok okay sure thanks hello hi dear ps user assistant system human ai
    input output context task goal instruction instructions prompt response request date time from to cc re file path
    command description background problem solution option options source url link text message code
    """.split()
)
"""What stands before a colon and is nobody's name."""


def text_of_message(draft: Draft) -> str:
    """What was said in a message and done by it: its texts, the strings in its calls, and its results.

    Without thinking and media; and without texts that a harness, another tool's compaction or memory itself put there,
    which nobody said.
    """
    return "\n".join(piece for piece in _pieces(draft) if piece)


def terms_of_message(draft: Draft) -> list[str]:
    """The terms that a message is found by, that of its author among them; none where there is nothing to search."""
    return document_terms(text_of_message(draft), author_of_message(draft))


def terms_of_stored(message: Message) -> list[str]:
    """The terms that a message of the log is found by; none where it was erased."""
    return [] if message.erased else terms_of_message(message.draft)


def author_of_message(draft: Draft) -> str | None:
    """By whose name a message is found: its author's, or the one that its text begins with ("Ana: I was there")."""
    if draft.origin != "spoken":
        return None
    if draft.author:
        return draft.author
    label = _LABEL.match(draft.text)
    return label[1] if label and label[1].casefold() not in _HEADINGS else None


def role_of_message(draft: Draft) -> RoleClass:
    """Who speaks, as document numbers know it; a message that only brings results is nobody's word."""
    if draft.role == "user":
        return USER if draft.text or not draft.results else OTHER
    return ASSISTANT if draft.role == "assistant" else OTHER


def memory_number(number: int, terms: int) -> int:
    """The number of the document that is a memory with `terms` terms: on their shelf, memories stand in one row."""
    return number << CLASS_BITS | length_class(terms) << 2 | OTHER


def terms_of_memory(record: Record) -> list[str]:
    """The terms that a memory is found by: those of its text, those that only its slot or its name has, and its kind.

    None where there is nothing in it to search.
    """
    found = terms(record.text)
    told = set(found)
    for each in (record.subject, record.attribute, record.value, record.task_type, record.name):
        for term in terms(each):
            if term not in told:
                told.add(term)
                found.append(term)
    return [*found, kind_term(record.kind)] if found else []


def kind_term(kind: Kind) -> str:
    """The term under which the memories of a kind stand in an index; no word of a text is ever equal to it."""
    return f"#{kind}"


def _pieces(draft: Draft) -> Iterator[str]:
    for part in said_in(draft).parts:
        if isinstance(part, Text) and draft.origin == "spoken":
            yield part.text
        elif isinstance(part, Call):
            yield from (value[:ARGUMENT_CHARS] for value in _strings(part.arguments))
        elif isinstance(part, Result):
            yield _ends(part.text)


def _strings(arguments: object) -> Iterator[str]:
    left = [arguments]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += reversed(value.values())
        elif isinstance(value, list | tuple):
            left += reversed(value)


def _ends(text: str) -> str:
    if len(text) <= RESULT_HEAD_CHARS + RESULT_TAIL_CHARS:
        return text
    return f"{text[:RESULT_HEAD_CHARS]}\n{text[-RESULT_TAIL_CHARS:]}"
