"""What finds messages and memories by their words, in memory: every document is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.in_memory.tree import Tree
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import author_of_message, place_of, terms_of_stored
from ireneo.memories.record import project_of
from ireneo.ports.search import FoundMemory, FoundMessage, FoundSession, Size
from ireneo.ports.search import Shelf as Shelved


class MemorySearch:
    """`ireneo.ports.search.SearchPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def size(self, space: str, shelf: Shelved) -> Size:
        """How much there is."""
        lengths = [length for _, _, length in self._documents(space, shelf)]
        return Size(documents=len(lengths), terms=sum(lengths))

    def count(self, space: str, shelf: Shelved, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents have each term."""
        return {term: len(found) for term, found in (self.postings(space, shelf, terms)).items()}

    def postings(self, space: str, shelf: Shelved, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term."""
        documents = sorted(self._documents(space, shelf), key=lambda each: each[0])
        return {term: [number for number, held, _ in documents if term in held] for term in terms}

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages by number."""
        places = {
            place_of(number): FoundMessage(document=number, key=tree.key, message=tree.messages[name])
            for tree in self._shelf.space(space)
            for number, name in tree.numbers.items()
        }
        return [places[place_of(each)] for each in documents if place_of(each) in places]

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories by number."""
        kept = self._shelf.kept(space)
        places = {
            place_of(number): FoundMemory(document=number, record=kept.memories[name])
            for number, name in kept.documents.items()
        }
        return [places[place_of(each)] for each in documents if place_of(each) in places]

    def authors(self, space: str) -> Mapping[str, int]:
        """In how many of the space's messages each author speaks."""
        messages = (message for tree in self._shelf.space(space) for message in tree.messages.values())
        spoke = Counter(author for each in messages if (author := author_of_message(each.draft)))
        return {author: spoke[author] for author in sorted(spoke)}

    def undone(self, space: str) -> Sequence[tuple[int, int]]:
        """The messages that lie on no branch, as runs of numbers."""
        return sorted(run for tree in self._shelf.space(space) for run in _without(tree, tree.on_branches()))

    def aside(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        """The messages of a session that don't lie on the path to one of them, as runs of numbers."""
        tree = self._shelf.need(key)
        return _without(tree, {message.id for message in tree.walk(to)})

    def of_project(self, space: str, documents: Sequence[int], project: str) -> Sequence[int]:
        """Those of the documents of memories that may be of a project, or of none."""
        there = {tree.key.session: tree.project or "" for tree in self._shelf.space(space)}
        found: list[int] = []
        for each in self.memories(space, documents):
            projects = {project_of(piece) or there.get(piece.session, "") for piece in each.record.evidence}
            found += [each.document] if projects & {"", project} else []
        return found

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        """The sessions whose keys begin numbers."""
        there = {tree.number: tree for tree in self._shelf.space(space)}
        return {
            key: FoundSession(session=there[key].key.session, project=there[key].project or "")
            for key in keys
            if key in there
        }

    def _documents(self, space: str, shelf: Shelved) -> Iterator[tuple[int, Collection[str], int]]:
        """The number of each document, its terms, and how many these are with what is said twice."""
        if shelf == "messages":
            for tree in self._shelf.space(space):
                for each in tree.documents.values():
                    yield each.number, each.terms, each.length
        else:
            kept = self._shelf.kept(space)
            for number, name in kept.documents.items():
                yield number, frozenset(kept.terms[name]), len(kept.terms[name])


def _without(tree: Tree, live: Collection[MessageId]) -> list[tuple[int, int]]:
    """The documents of a session but those of `live` messages, each a run of its own."""
    return sorted((number, number) for number, name in tree.numbers.items() if name not in live)


class MemoryWords:
    """`ireneo.ports.search.WordsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def faults(self, space: str) -> Sequence[str]:
        """What is wrong with the index of a space."""
        found: list[str] = []
        for tree in self._shelf.space(space):
            wanted = {name for name, message in tree.messages.items() if terms_of_stored(message)}
            where = f"of session {tree.key.session!r}"
            if missing := len(wanted - tree.documents.keys()):
                found.append(f"{missing} messages {where} are in no index of words.")
            if loose := len(tree.documents.keys() - wanted):
                found.append(f"{loose} documents {where} are of messages that aren't there.")
        return found

    def rebuild(self, space: str) -> int:
        """Index a space anew."""
        looked = 0
        for each in self._shelf.space(space):
            tree = self._shelf.change(each.key)
            tree.documents = {name: found for name, found in tree.documents.items() if name in tree.messages}
            for name in [name for name in tree.messages if name not in tree.documents]:
                tree.index(tree.messages[name])
            tree.numbers = {found.number: name for name, found in tree.documents.items()}
            looked += len(tree.messages)
        return looked
