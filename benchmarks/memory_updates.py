"""Facts that change: whether what was true then, what is true now and what was believed then come back right.

    python benchmarks/memory_updates.py [--facts 1000]

Each fact has four values in turn, with one of seven stories: it changes plainly; it goes back (A, B, A); a word about
the past comes late; a date is corrected; a less trusted word contradicts it, by an agent or by a tool; all is told in
another order than it happened. A conclusion is drawn from the first value of each. What should come out is known from
how a story was made, and never asked of the code that is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

import ireneo
from ireneo import Memory
from ireneo.types import MemoryDetails

START = datetime(2031, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
STORIES = ("plain", "and back", "late word", "corrected date", "disputed by agent", "disputed by tool", "shuffled")


class Word(Struct, frozen=True, kw_only=True):
    """That a value is told."""

    value: str
    at: int
    """The day since when it is so."""
    told: int
    """The day on which we are told."""
    origin: str = "user"


class Truth(Struct, frozen=True, kw_only=True):
    """A question and what must be answered: the value that held on day `at`, as believed on day `believed`."""

    asked: str
    at: int
    believed: int | None
    value: str | None


class Story(Struct, frozen=True, kw_only=True):
    """What is told of a fact, in the order in which it is told, and what follows from it."""

    name: str
    words: tuple[Word, ...]
    truths: tuple[Truth, ...]
    now: str


def story(name: str, number: int, chance: random.Random) -> Story:
    """One fact, its changes on days 10, 20, 30 and 40, and the answers to questions about it."""
    a, b, c, d = (f"{letter}{number}" for letter in "abcd")
    plain = [Word(value=a, at=10, told=10), Word(value=b, at=20, told=20), Word(value=c, at=30, told=30)]
    last = Word(value=d, at=40, told=40)
    held = {15: a, 25: b, 35: c, 45: d}
    then = {15: a, 25: b, 35: c}
    words = [*plain, last]
    if name == "and back":
        words = [*plain, Word(value=a, at=40, told=40)]
        held[45] = a
    elif name == "late word":
        # On day 50 we hear that from day 22 on it was d, and b only before; on day 40 it was a again.
        words = [*plain, Word(value=a, at=40, told=40), Word(value=d, at=22, told=50)]
        held = {15: a, 21: b, 25: d, 35: c, 45: a}
        then = {15: a, 21: b, 25: b, 35: c}
    elif name == "corrected date":
        # The value of day 30 was wrong from the start.
        words = [*plain, Word(value=d, at=30, told=50)]
        held = {15: a, 25: b, 35: d, 45: d}
    elif name.startswith("disputed"):
        words = [*plain, Word(value=d, at=40, told=40, origin=name.rpartition(" ")[2])]
        held[45] = c
    elif name == "shuffled":
        # All is told on days 50 to 53, in another order than it happened.
        order = chance.sample(words, len(words))
        words = [Word(value=each.value, at=each.at, told=50 + day) for day, each in enumerate(order)]
        then = {}
    truths = [Truth(asked="then", at=day, believed=None, value=value) for day, value in held.items()]
    truths += [Truth(asked="as believed then", at=day, believed=day, value=value) for day, value in then.items()]
    truths.append(Truth(asked="as believed then", at=5, believed=60, value=None))
    if name == "shuffled":
        first = words[0]
        truths.append(Truth(asked="as believed then", at=60, believed=50, value=first.value))
    return Story(name=name, words=tuple(words), truths=tuple(truths), now=held[45])


def told(each: Word, number: int) -> tuple[str, MemoryDetails]:
    """A word as it is remembered."""
    said: MemoryDetails = {
        "subject": f"person {number}",
        "attribute": "home",
        "value": each.value,
        "at": START + each.at * DAY,
        "recorded": START + each.told * DAY,
        "origin": each.origin,  # type: ignore[typeddict-item]
    }
    return f"Person {number} lives in {each.value}.", said


async def write(memory: Memory, stories: list[Story]) -> tuple[float, int, list[tuple[str, int, str]]]:
    """Tell every story, word by word, with a conclusion from its first value; how long it took, and the conclusions."""
    drawn, writes, taken = [], 0, 0.0
    words = sorted(
        (word.told, number, place) for number, each in enumerate(stories) for place, word in enumerate(each.words)
    )
    for _, number, place in words:
        word = stories[number].words[place]
        begun = time.perf_counter()
        text, said = told(word, number)
        done = await memory.remember(text, **said)
        taken, writes = taken + time.perf_counter() - begun, writes + 1
        if place == 0:
            conclusion = await memory.remember(
                f"Person {number} is near {word.value}.",
                kind="semantic",
                origin="derived",
                memories=[done.record.id],
                recorded=START + word.told * DAY,
            )
            drawn.append((conclusion.record.id, number, word.value))
    return taken, writes, drawn


async def measure(memory: Memory, stories: list[Story]) -> None:
    """Ask everything, and print the table."""
    taken, writes, drawn = await write(memory, stories)
    right: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    stale_as_current = 0
    for number, each in enumerate(stories):
        facts = await memory.history(f"person {number}", "home", at=START + 100 * DAY)
        asked[each.name, "now"] += 1
        right[each.name, "now"] += [fact.record.value for fact in facts] == [each.now]
        known = await memory.history(f"person {number}", "home")
        active = {fact.record.value for fact in known if fact.record.state == "active"}
        stale_as_current += len(active - {each.now})
        right[each.name, "active"] += active == {each.now}
        asked[each.name, "active"] += 1
        for truth in each.truths:
            believed = None if truth.believed is None else START + (truth.believed + 0.5) * DAY
            found = await memory.history(f"person {number}", "home", at=START + truth.at * DAY, believed_at=believed)
            asked[each.name, truth.asked] += 1
            right[each.name, truth.asked] += [fact.record.value for fact in found] == (
                [truth.value] if truth.value else []
            )
    marked = due = wrongly = 0
    for name, number, value in drawn:
        (record,) = await memory.get([name])
        if stories[number].now == value:
            wrongly += bool(record.stale)
        else:
            due, marked = due + 1, marked + bool(record.stale)
    columns = ("now", "active", "then", "as believed then")
    print(f"{len(stories):,} facts, {writes:,} words\n")
    print("| story | " + " | ".join(f"{each}, % right" for each in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for name in STORIES:
        print(
            f"| {name} | "
            + " | ".join(f"{100 * right[name, each] / (asked[name, each] or 1):.1f}" for each in columns)
            + " |"
        )
    total, all_right = sum(asked.values()), sum(right.values())
    print(f"| all | {100 * all_right / total:.2f} of {total:,} questions |" + " |" * (len(columns) - 1))
    print(f"\nvalues that hold no more and are active all the same: {stale_as_current}")
    print(f"conclusions marked, of those whose ground fell: {marked} of {due}; marked though it stands: {wrongly}")
    print(f"words remembered per second, a durable transaction each: {writes / taken:,.0f}")


async def main() -> None:
    """Measure in a store of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1_000)
    given = parser.parse_args()
    chance = random.Random(7)
    stories = [story(STORIES[number % len(STORIES)], number, chance) for number in range(given.facts)]
    with tempfile.TemporaryDirectory() as folder:
        async with ireneo.open(Path(folder) / "memory.db") as memory:
            await measure(memory, stories)


if __name__ == "__main__":
    asyncio.run(main())
