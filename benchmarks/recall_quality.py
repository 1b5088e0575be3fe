"""How often recall finds all that answers a question, and the newer before the older: against plain full text.

    python benchmarks/recall_quality.py [--data ../shared/data] [--parts] [--embedder NAME]

Strict: a question counts when its *whole* evidence is among the first 10 messages, or all its sessions among the first
5. Of the game, "any" counts a question when a turn of its stretch is among the first 10, and "cover" the share of the
stretch's turns of four words and more that are. The questions are in two halves: what is worth keeping helps both.
"Newest" counts the questions about what was told again otherwise of which the newest telling stands first; of those
that ask of now, and of all. `--parts` leaves out each part of the ranking by turns. `--embedder` recalls with its
vectors as well; `local` embeds all of it in half an hour.

Ours is recall as it is called, on a file that is made for it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType

import apsw

sys.path.insert(0, str(Path(__file__).parent))
import ireneo.sync
from ireneo import Draft
from ireneo.engine import recall as recalling
from ireneo.language import words
from ireneo.log.message import Text
from ireneo.memories import ranking
from ireneo.memories.ranking import read_question
from ireneo.sync import Memory
from recall_data import Asked, Pool, assistants, games

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
Ranking = list[int]
Search = Callable[[Asked], Ranking]
Ranker = Callable[[Pool], Search]
Rows = dict[tuple[str, str], int]
_STORED: dict[tuple[str, str | None], tuple[Memory, Rows]] = {}


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


def ours(embedder: str | None = None) -> Ranker:
    """Recall as it is called, with an embedder's vectors where one is named."""

    def ranker(pool: Pool) -> Search:
        memory, rows = _stored(pool, embedder)

        def search(asked: Asked) -> Ranking:
            hits = memory.recall(asked.text, limit=20, at=asked.at)
            return [rows[each.session, each.id] for each in hits]

        return search

    return ranker


@cache
def _folder() -> Path:
    return Path(mkdtemp(prefix="recall-"))


def _stored(pool: Pool, embedder: str | None) -> tuple[Memory, Rows]:
    """A memory that holds the pool, and the row of each of its messages."""
    key = (pool.name, embedder)
    if key not in _STORED:
        memory = ireneo.sync.open(_folder() / f"{len(_STORED)}.db", embedder=embedder, durability="normal")
        rows: Rows = {}
        for number, said in enumerate(pool.sessions):
            session = memory.session(f"{number:05}")
            drafts = [
                Draft(
                    role="assistant" if each.role == "assistant" else "user",
                    parts=(Text(text=each.text, author=each.author),),
                    at=each.at,
                )
                for each in said
            ]
            for name in session.append(drafts).ids:
                rows[session.id, name] = len(rows)
        memory.embed()
        _STORED[key] = memory, rows
    return _STORED[key]


def measured(ranker: Ranker, chat: Pool, played: Sequence[Pool]) -> tuple[list[str], Counter[str], Counter[str]]:
    """A row of the table; and for each kind of question how many count, and how many there are."""
    search = ranker(chat)
    turns, anywhere, sessions = Halves(), Halves(), Halves()
    right, asked_of = Counter[str](), Counter[str]()
    newest: dict[bool, list[bool]] = {True: [], False: []}
    times = [message.at for _, _, message in chat.messages()]
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
        told = sorted(asked.evidence, key=lambda row: (times[row], row))
        if asked.kind == "knowledge-update" and len({session_at[row] for row in told}) > 1:
            best = next((row for row in found if row in asked.evidence), None)
            of_now = read_question(asked.text, now=asked.at).of_now
            newest[of_now].append(best is not None and session_at[best] == session_at[told[-1]])
    of_game, cover = Halves(), Halves()
    for pool in played:
        search = ranker(pool)
        said = [message.text for _, _, message in pool.messages()]
        for asked in pool.asked:
            found = set(search(asked)[:10])
            full = {row for row in asked.evidence if len(words.terms(said[row])) >= 4} or asked.evidence
            of_game.add(asked, bool(asked.evidence & found))
            cover.add(asked, len(full & found) / len(full))
    every = [*newest[True], *newest[False]]
    first = f"{sum(newest[True])}/{len(newest[True])} {sum(every)}/{len(every)}"
    return [*(str(each) for each in (turns, anywhere, sessions, of_game, cover)), first], right, asked_of


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
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


PARTS: dict[str, tuple[tuple[ModuleType, str, object], ...]] = {
    "no neighbours": ((ranking, "SHADE", (1.0, 0, 0, 0, 0, 0)),),
    "short ones not taken alike": ((ranking, "SHORT", 1.0),),
    "no length": ((ranking, "LENGTH_SHARE", 0.0),),
    "no words about the answer": ((ranking, "FRAME_WEIGHT", 1.0),),
    "no side": ((ranking, "SIDE_FAVOUR", 0.0),),
    "no speaker": ((ranking, "SPEAKER_FAVOUR", 0.0),),
    "no words of time": ((ranking, "TIME_WORD_FAVOUR", 0.0),),
    "no figures": ((ranking, "FIGURE_FAVOUR", 0.0),),
    "no window of time": ((ranking, "WINDOW_FAVOUR", 0.0),),
    "no words alike": ((ranking, "ALIKE_TRIED", 0),),
    "newer not first": ((recalling, "NEAR_ENOUGH", 1e9),),
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
    rankers: dict[str, Ranker] = {f"plain FTS5, {width} a side": plain(width) for width in (0, 1, 2)} | {"ours": ours()}
    if given.embedder:
        rankers[f"ours, {given.embedder}"] = ours(given.embedder)
    print("each: first half, second half, all")
    print_row("", ["turns@10", "any turn@10", "sessions@5", "game: any@10", "game: cover@10", "newest first"])
    by_kind = {}
    for name, ranker in rankers.items():
        cells, right, asked_of = measured(ranker, chat, played)
        print_row(name, cells)
        by_kind[name] = (right, asked_of)
    if given.parts:
        for name, changes in PARTS.items():
            with changed(*changes):
                print_row(name, measured(ours(), chat, played)[0])
    kinds = sorted(by_kind["ours"][1])
    print("\nturns@10 by the kind of question")
    print_row("", [kind.replace("single-session", "single") for kind in kinds])
    for name, (right, asked_of) in by_kind.items():
        print_row(name, [f"{right[kind] / asked_of[kind]:.3f} of {asked_of[kind]}" for kind in kinds])


if __name__ == "__main__":
    main()
