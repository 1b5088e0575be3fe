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
    """For each question the place of the first row of ten that answers, or 0, and whether one out of date is before."""
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
            answering = [hit.state == "active" and bool(answers & set(hit.sources)) for hit in hits]
            place = answering.index(True) + 1 if any(answering) else 0
            before = hits[: place - 1] if place else hits
            stale = any(gone & set(hit.sources) and not answers & set(hit.sources) for hit in before)
            out.append((question, place, stale))
            if show:
                shown(question, place, stale, hits)
    return out


def shown(question: Question, place: int, stale: bool, hits: tuple[RecallHit, ...]) -> None:
    """Print the first rows of a question, to be read."""
    how = "+" if place == 1 else str(place or "-")
    print(f"\n{how}{' OUTDATED FIRST' if stale else ''}  {question.text}  ({', '.join(sorted(question.answers))})")
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
        apart = [place for each, place, _ in found if not each.shares_a_word]
        for what, places in (("all", [place for _, place, _ in found]), ("without a shared word", apart)):
            first, five = sum(place == 1 for place in places), sum(0 < place <= 5 for place in places)
            print(f"{name}, {what}: first row {first}, first five {five} of {len(places)}")
        changed = [stale for each, _, stale in found if each.outdated]
        print(f"{name}: one out of date first {sum(changed)} of {len(changed)}")


if __name__ == "__main__":
    main()
