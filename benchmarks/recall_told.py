"""What a question about what was told in chats gets first: the words or the memory that answer it, or something else.

    python benchmarks/recall_told.py [first|second|both] [--embedder local] [--show]

Beside this file stand two people's conversations with an assistant (`asked/first.txt`, `asked/second.txt`) with
questions about them: the words of each answer, those that are out of date, and whether question and answer share a
word. All is appended with its times, `work` reads it by rules. A
row answers where it is a message of the user that holds an answer, or a memory that rests on one and still holds.
"""

from __future__ import annotations

import argparse
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

import ireneo.sync
from ireneo.types import RecallHit

BESIDE = Path(__file__).parent / "asked"


class Told(Struct, frozen=True, kw_only=True):
    """A message of the user or the assistant."""

    role: str
    text: str
    at: datetime
    name: str = ""
    """By which the questions call it."""


class Question(Struct, frozen=True, kw_only=True):
    """What is asked, the names of the messages that answer it, and of those that did once."""

    text: str
    answers: frozenset[str]
    outdated: frozenset[str]
    shares_a_word: bool


def conversations(name: str) -> list[list[Told]]:
    """The sessions of one person."""
    found: list[list[Told]] = []
    for line in (BESIDE / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "##":
            found.append([])
            at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        else:
            called, _, said = line[1:].strip().partition(":")
            role = "user" if line[0] == "U" else "assistant"
            found[-1].append(Told(role=role, text=said.strip(), at=at, name=called))
        at += timedelta(minutes=1)
    return found


def questions(name: str) -> list[Question]:
    """What is asked of them."""
    rows = (BESIDE / f"{name}_questions.txt").read_text(encoding="utf-8").splitlines()
    return [
        Question(
            text=text.strip(),
            answers=frozenset(answers.split()),
            outdated=frozenset(outdated.split()),
            shares_a_word=shared.strip() == "+",
        )
        for text, answers, outdated, shared in (row.split("|") for row in rows)
    ]


def asked(name: str, embedder: str | None, *, show: bool) -> list[tuple[Question, int, bool]]:
    """For each question the place of the first row that answers (0: none of ten), and whether an outdated one is before."""
    sessions = conversations(name)
    out: list[tuple[Question, int, bool]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ireneo.sync.open(Path(folder) / "told.db", embedder=embedder, durability="normal") as memory,
    ):
        named: dict[str, str] = {}
        for number, told in enumerate(sessions):
            messages = [{"role": one.role, "content": one.text, "timestamp": one.at.isoformat()} for one in told]
            ids = memory.session(f"chat {number}").append(messages).ids
            named |= {called.name: each for called, each in zip(told, ids, strict=True) if called.name}
        memory.work(until_idle=True)
        if embedder:
            memory.embed()
        for question in questions(name):
            hits = memory.recall(question.text, limit=10)
            answers = {named[each] for each in question.answers}
            gone = {named[each] for each in question.outdated}
            place = next(
                (at for at, hit in enumerate(hits, 1) if answers & set(hit.sources) and hit.state == "active"), 0
            )
            before = hits[: place - 1] if place else hits
            stale = any(gone & set(hit.sources) and not answers & set(hit.sources) for hit in before)
            out.append((question, place, stale))
            if show:
                shown(question, place, stale, hits)
    return out


def shown(question: Question, place: int, stale: bool, hits: tuple[RecallHit, ...]) -> None:
    print(
        f"\n{'+' if place == 1 else place or '-'}{' OUTDATED FIRST' if stale else ''}  {question.text}  ({', '.join(sorted(question.answers))})"
    )
    for hit in hits[:5]:
        day = f"{hit.at:%Y-%m-%d}" if hit.at else "undated"
        print(f"    {hit.score:.2f} {hit.kind[:4]} {hit.role[:4]:4} {day} {hit.text[:130]}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="?", choices=("first", "second", "both"), default="both")
    parser.add_argument("--embedder")
    parser.add_argument("--show", action="store_true", help="print the first rows of each question")
    given = parser.parse_args()
    for name in ("first", "second") if given.which == "both" else (given.which,):
        found = asked(name, given.embedder, show=given.show)
        print(
            f"{name}: first row {sum(place == 1 for _, place, _ in found)}, first five "
            f"{sum(0 < place <= 5 for _, place, _ in found)} of {len(found)}; an outdated one before "
            f"{sum(stale for *_, stale in found)} of {sum(bool(each.outdated) for each, *_ in found)}; without a shared word "
            f"{sum(place == 1 for each, place, _ in found if not each.shares_a_word)}, "
            f"{sum(0 < place <= 5 for each, place, _ in found if not each.shares_a_word)} "
            f"of {sum(not each.shares_a_word for each, *_ in found)}"
        )


if __name__ == "__main__":
    main()
