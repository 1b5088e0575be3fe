"""How often recall finds all that answers a question: ours against plain full text, and with vectors.

    python benchmarks/recall_quality.py [--data ../shared/data] [--parts] [--embedder NAME]

Strict: a question counts when its *whole* evidence is among the first 10 messages, or all its sessions among the first
5. Of the game, "any" counts a question when a turn of its stretch is among the first 10, and "cover" the share of the
stretch's turns of four words and more that are. The questions are in two halves: what is worth keeping helps both.
`--parts` leaves out each part of the ranking by turns (a quarter of an hour). `--embedder` measures
an embedder's vectors besides, alone and fused; `local` embeds all of it in some minutes.

Ours runs on an index in this process, with the same numbers that a store keeps.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import apsw

sys.path.insert(0, str(Path(__file__).parent))
from ireneo.adapters.embed.opening import open_embedder
from ireneo.language import words
from ireneo.memories import ranking as first_look
from ireneo.memories import ranking as reading
from ireneo.memories import ranking as second_look
from ireneo.memories.index import ASSISTANT, USER, document_number, place_of
from ireneo.memories.ranking import VECTOR_WEIGHT, IndexStats, Passage, Postings, fuse
from recall_data import Asked, Pool, assistants, games

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
Ranking = list[int]
Search = Callable[[Asked], Ranking]
Ranker = Callable[[Pool], Search]
EMBEDDED_AT_ONCE = 256
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def plain(width: int) -> Ranker:
    """FTS5 as it comes: bm25, porter, any of the words; `width` neighbours' texts to each side counted in."""

    def ranker(pool: Pool) -> Search:
        database = apsw.Connection(":memory:")
        database.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize='porter unicode61')")
        row = 0
        for said in pool.sessions:
            for place in range(len(said)):
                together = " ".join(each.text for each in said[max(0, place - width) : place + width + 1])
                database.execute("INSERT INTO found (rowid, text) VALUES (?, ?)", (row, together))
                row += 1

        def search(asked: Asked) -> Ranking:
            match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", asked.text))
            query = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found), rowid LIMIT 200"
            return [int(row[0]) for row in database.execute(query, (match,))] if match else []

        return search

    return ranker


class Index:
    """What a store keeps of a pool, in this process."""

    def __init__(self, pool: Pool) -> None:
        """Read every message."""
        self.passages: list[Passage] = []
        self.places: dict[int, int] = {}
        self.listed: dict[str, list[int]] = {}
        size = 0
        for row, (session, place, said) in enumerate(pool.messages()):
            held = words.terms(said.text)
            size += len(held)
            role = ASSISTANT if said.role == "assistant" else USER
            number = document_number(session, place, len(held), role)
            self.places[place_of(number)] = row
            self.passages.append(Passage(number=number, text=said.text, role=said.role, author=said.author, at=said.at))
            for term in dict.fromkeys(held):
                self.listed.setdefault(term, []).append(number)
        self.shelf = IndexStats(documents=len(self.passages), terms=size)


_INDEXES: dict[str, Index] = {}


def ours(pool: Pool) -> Search:
    """The ranking without a model."""
    if pool.name not in _INDEXES:
        _INDEXES[pool.name] = Index(pool)
    index = _INDEXES[pool.name]
    listed, places, passages, shelf = index.listed, index.places, index.passages, index.shelf

    def search(asked: Asked) -> Ranking:
        question = reading.read_question(asked.text, now=asked.at, speakers=pool.speakers)
        counts = {term: len(listed.get(term, ())) for term, _ in question.terms}
        read = first_look.terms_to_read(question, counts, first_look.READ_AT_MOST)
        postings = [Postings(term=t, count=n, numbers=listed[t] if t in read else None) for t, n in counts.items()]
        found = first_look.candidates(question, postings, shelf)
        texts = [passages[places[each.place]] for each in found if each.place in places]
        ranked = second_look.rank(question, found, texts, postings, shelf)
        return [places[place_of(each.number)] for each in ranked]

    return search


def embedding(name: str) -> Embed:
    """The vectors of texts by the embedder called `name`, each text embedded once."""
    embedder = open_embedder(name)
    if embedder is None:
        sys.exit("Name an embedder, such as local.")
    known: dict[str, Sequence[float]] = {}

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(new), EMBEDDED_AT_ONCE):
            some = new[start : start + EMBEDDED_AT_ONCE]
            vectors = asyncio.run(embedder.embed(some))
            known.update(zip(some, ([*memoryview(each).cast("b")] for each in vectors), strict=True))
            print(f"  {start + len(some):,} of {len(new):,} texts embedded", end="\r", file=sys.stderr)
        return [known[text] for text in texts]

    return embed


def with_vectors(embed: Embed, beside: Ranker | None = None, weight: float = 1.0) -> Ranker:
    """Vectors alone, or fused by rank with another ranking."""

    def ranker(pool: Pool) -> Search:
        import numpy as np

        def directions(texts: Sequence[str]) -> np.ndarray:
            rows = np.asarray(embed(texts), dtype=np.float32)
            return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

        everything = directions([message.text for _, _, message in pool.messages()])
        questions = dict(zip((a.text for a in pool.asked), directions([a.text for a in pool.asked]), strict=True))
        other = beside(pool) if beside else None

        def search(asked: Asked) -> Ranking:
            near = [int(row) for row in np.argsort(-(everything @ questions[asked.text]), kind="stable")[:200]]
            return [row for row, _ in fuse([other(asked)[:100], near[:100]], [1.0, weight])] if other else near

        return search

    return ranker


def measured(ranker: Ranker, chat: Pool, played: Sequence[Pool]) -> tuple[list[str], Counter[str], Counter[str]]:
    """A row of the table; and for each kind of question how many count, and how many there are."""
    search = ranker(chat)
    turns, anywhere, sessions = Halves(), Halves(), Halves()
    right, asked_of = Counter[str](), Counter[str]()
    session_at = [session for session, _, _ in chat.messages()]
    for asked in chat.asked:
        found = search(asked)
        first = list(dict.fromkeys(session_at[row] for row in found))[:5]
        sessions.add(asked, asked.sessions <= set(first))
        if asked.evidence:
            whole = asked.evidence <= set(found[:10])
            turns.add(asked, whole)
            anywhere.add(asked, bool(asked.evidence & set(found[:10])))
            right[asked.kind] += whole
            asked_of[asked.kind] += 1
    of_game, cover = Halves(), Halves()
    for pool in played:
        search = ranker(pool)
        said = [message.text for _, _, message in pool.messages()]
        for asked in pool.asked:
            found = set(search(asked)[:10])
            full = {row for row in asked.evidence if len(words.terms(said[row])) >= 4} or asked.evidence
            of_game.add(asked, bool(asked.evidence & found))
            cover.add(asked, len(full & found) / len(full))
    return [str(each) for each in (turns, anywhere, sessions, of_game, cover)], right, asked_of


class Halves:
    """Means over the first half of the questions, the second, and all."""

    def __init__(self) -> None:
        """Begin with none."""
        self._values: tuple[list[float], list[float]] = ([], [])

    def add(self, asked: Asked, value: float) -> None:
        """Count one question."""
        self._values[asked.second].append(value)

    def __str__(self) -> str:
        every = [*self._values[0], *self._values[1]]
        return " ".join(f"{sum(each) / max(1, len(each)):.3f}" for each in (*self._values, every))


@contextmanager
def changed(*changes: tuple[ModuleType, str, object]) -> Iterator[None]:
    """The ranking with other constants, for as long as the block runs."""
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    for module, name, value in changes:
        setattr(module, name, value)
    forget(changes)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        forget(changes)


def forget(changes: Sequence[tuple[ModuleType, str, object]]) -> None:
    """Drop what was read by other rules of words."""
    if any(module is words for module, _, _ in changes):
        words._stem.cache_clear()
        _INDEXES.clear()


PARTS: dict[str, tuple[tuple[ModuleType, str, object], ...]] = {
    "no neighbours": ((first_look, "SHADE", (1.0, 0, 0, 0, 0, 0)), (second_look, "SHADE", (1.0, 0, 0, 0, 0, 0))),
    "two neighbours a side": ((first_look, "SHADE", (1.0, 0.5, 0.3, 0, 0, 0)),),
    "short ones not taken alike": ((first_look, "SHORT", 1.0),),
    "no length": ((first_look, "LENGTH_SHARE", 0.0),),
    "no words about the answer": ((reading, "FRAME_WEIGHT", 1.0),),
    "common words kept": ((words, "common_words", frozenset),),
    "no irregular forms": ((words, "base_forms", dict),),
    "no side": ((first_look, "SIDE_FAVOUR", 0.0), (second_look, "SIDE_FAVOUR", 0.0)),
    "no speaker": ((second_look, "SPEAKER_FAVOUR", 0.0),),
    "no words of time": ((second_look, "TIME_WORD_FAVOUR", 0.0),),
    "no figures": ((second_look, "FIGURE_FAVOUR", 0.0),),
    "no window of time": ((second_look, "WINDOW_FAVOUR", 0.0),),
    "no phrases": ((second_look, "PHRASE_FAVOUR", 0.0),),
    "1,000 postings read": ((first_look, "READ_AT_MOST", 1_000),),
}


def print_row(name: str, cells: Sequence[str]) -> None:
    print(f"{name:28}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=BESIDE)
    parser.add_argument("--parts", action="store_true", help="leave out each part of the ranking by turns")
    parser.add_argument("--embedder", help="an embedder, such as local: vectors alone, and fused")
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"{given.data} is needed, and is not there: name the folder of the sample data with --data.")
    chat, played = assistants(given.data), games(given.data)
    rankers: dict[str, Ranker] = {f"plain FTS5, {width} a side": plain(width) for width in (0, 1, 2)} | {"ours": ours}
    if given.embedder:
        embed = embedding(given.embedder)
        rankers["vectors"] = with_vectors(embed)
        rankers["plain FTS5 + vectors"] = with_vectors(embed, plain(0))
        rankers["ours + vectors"] = with_vectors(embed, ours, VECTOR_WEIGHT)
    print("each: first half, second half, all")
    print_row("", ["turns@10", "any turn@10", "sessions@5", "game: any@10", "game: cover@10"])
    by_kind = {}
    for name, ranker in rankers.items():
        cells, right, asked_of = measured(ranker, chat, played)
        print_row(name, cells)
        by_kind[name] = (right, asked_of)
    if given.parts:
        for name, changes in PARTS.items():
            with changed(*changes):
                print_row(name, measured(ours, chat, played)[0])
    kinds = sorted(by_kind["ours"][1])
    print("\nturns@10 by the kind of question")
    print_row("", [kind.replace("single-session", "single") for kind in kinds])
    for name, (right, asked_of) in by_kind.items():
        print_row(name, [f"{right[kind] / asked_of[kind]:.3f} of {asked_of[kind]}" for kind in kinds])


if __name__ == "__main__":
    main()
