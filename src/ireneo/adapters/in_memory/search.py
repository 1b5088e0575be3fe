"""What finds messages and memories by their words, in memory: every document is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.memories.recall.documents import session_of
from ireneo.memories.recall.searched import author_of_message
from ireneo.ports.search import FoundMemory, FoundMessage, Size
from ireneo.ports.search import Shelf as Shelved


class MemorySearch:
    """`ireneo.ports.search.SearchPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def size(self, space: str, shelf: Shelved) -> Size:
        """How much there is."""
        lengths = [length for _, _, length in self._documents(space, shelf)]
        return Size(documents=len(lengths), terms=sum(lengths))

    async def count(self, space: str, shelf: Shelved, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents have each term."""
        return {term: len(found) for term, found in (await self.postings(space, shelf, terms)).items()}

    async def postings(self, space: str, shelf: Shelved, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term."""
        documents = sorted(self._documents(space, shelf), key=lambda each: each[0])
        return {term: [number for number, held, _ in documents if term in held] for term in terms}

    async def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages by number."""
        trees = {tree.number: tree for tree in self._shelf.space(space)}
        found: list[FoundMessage] = []
        for document in documents:
            tree = trees.get(session_of(document))
            if tree is not None and document in tree.numbers:
                message = tree.messages[tree.numbers[document]]
                found.append(FoundMessage(document=document, key=tree.key, message=message))
        return found

    async def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories by number."""
        kept = self._shelf.kept(space)
        there = [each for each in documents if each in kept.documents]
        return [FoundMemory(document=each, record=kept.memories[kept.documents[each]]) for each in there]

    async def authors(self, space: str) -> Sequence[str]:
        """The names of those who speak in the space's messages."""
        messages = (message for tree in self._shelf.space(space) for message in tree.messages.values())
        return sorted({author for each in messages if (author := author_of_message(each.draft))})

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
