"""A conversation in which what was said may have other versions: the path that stands, and each version beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import LogFault, LoggedSession, NotedTree, line_fault
from ireneo.log.message import Draft, Media, Origin, Part, Role, Text


def uttered(
    role: Role,
    text: str,
    *,
    author: str | None = None,
    at: datetime | None = None,
    id: str | None = None,
    origin: Origin = "spoken",
    media: Sequence[Media] = (),
) -> Draft:
    """The draft of `text`, with what was sent along; without any part where nothing was."""
    # Who sends a picture without a word is named all the same.
    speaks = text.strip() or (media and author)
    said: tuple[Part, ...] = (Text(text=text, author=author or None),) if speaks else ()
    return Draft(role=role, parts=(*said, *media), origin=origin, at=at, source_id=id)


class SpokenTree:
    """What was said so far, one behind the other, and what else had been said in its place."""

    def __init__(self, form: str, *early: object) -> None:
        """Begin with nothing; what is noted `early` is kept with the first message."""
        self._tree = NotedTree(form, *early)
        self._aside: list[tuple[Draft, int | None, object]] = []
        self._before: int | None = None
        self._head: int | None = None

    def say(self, draft: Draft, entry: object) -> None:
        """Go on with `draft`, of which the log's `entry` is kept; one that says nothing is only noted."""
        if not draft.parts:
            self._tree.note(self._head, entry)
            return
        self._before = self._head
        self._head = self._tree.add(draft, self._head, entry)

    def instead(self, draft: Draft, entry: object) -> None:
        """Keep another version of what was said last."""
        if draft.parts and self._head is not None:
            self._aside.append((draft, self._before, entry))

    def session(self, name: str, faults: Sequence[LogFault] = ()) -> LoggedSession | None:
        """The session, called `name`, the path that stands before all that was left aside; None where nobody spoke."""
        if self._head is None:
            return None
        for draft, parent, entry in self._aside:
            self._tree.add(draft, parent, entry)
        self._aside.clear()
        return LoggedSession(id=name, nodes=self._tree.nodes, head=self._head, faults=tuple(faults))


def objects_of(lines: Iterable[bytes], what: str) -> Iterator[tuple[int, dict[str, object]] | LogFault]:
    """The objects of a file, each with its line, whether they stand on lines of their own or in a list.

    What is none is told as no `what`.
    """
    for document in documents(lines):
        yield from document.faults
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            if isinstance(value, dict):
                yield document.number, value
            elif value is not None:
                yield line_fault(document.number, f"holds a value that is no {what}; it was left out.")
