"""How a story fades: the share of what people found worth telling that a context of 3,000 words still names, by age.

Real play, without a model: the transcripts of a long campaign, each turn a message, with the summaries that people
wrote of each episode, four sentences at a time. A context is cut after the last message: a past, in blocks, and the
newest messages, verbatim. What is asked is which of the names in people's summaries its text still holds, in six parts
of the story from the oldest to the newest.

A name is a capitalised word that doesn't begin a sentence and is no common word (in the summaries it is written large
more often than small). Names of more than 30 % of the episodes are left out: any text would hold those. "said" counts
each summary that has the name, "each" every name once. "threads" says how many of the open threads are in it word for
word.

A second table (`fading_retold`) is about what a summariser loses each time that it retells.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent))
import ireneo
from fading_play import PARTS, episodes, messages_of, needed, shares
from fading_retold import held_threads, print_retold, told
from fading_rivals import blob, term_pyramid
from ireneo.log.message import Message, Text
from ireneo.summaries.policy import Policy, StorySettings

BESIDE = Path(__file__).resolve().parents[2] / "shared"
LEAF, LIVE, LIVE_SHARE = StorySettings().leaf_messages, StorySettings().live_messages, 0.5
"""What rivals show of the newest messages: so many, or as many of them as half of the words hold."""
NEAR_TOKENS = 64
"""So near the largest budget is looked for whose context has no more than the words that are asked for."""


class Cut(Struct):
    """A context as text."""

    blocks: list[str]
    live: str
    spans: list[tuple[int, int]] = []
    """The positions that the blocks stand for."""
    threads: int = 0
    """How many threads are open at the end of the summaries."""
    pinned: int = 0
    """How many of them the context has word for word."""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join([*self.blocks, self.live])


Method = Callable[[Sequence[Message], int], Awaitable[Cut]]


class Ours:
    """The play in sessions of a memory, one for each way to cut it."""

    def __init__(self, memory: ireneo.Memory) -> None:
        """Nothing is stored yet."""
        self._memory = memory

    async def context(self, messages: Sequence[Message], policy: Policy, words: int) -> Cut:
        """The widest context of at most `words` words behind the last of `messages`."""
        session = await self._memory.session(policy.summarizer)
        if not await self._stored(session):
            await session.append([message.draft for message in messages])
            await session.catch_up(preset=policy)
        low, high = 256, 4 * words
        while high - low > NEAR_TOKENS:
            middle = (low + high) // 2
            cut = await self._cut(session, policy, middle, messages)
            low, high = (middle, high) if count_words(cut.text) <= words else (low, middle)
        return await self._cut(session, policy, low, messages)

    async def _stored(self, session: ireneo.Session) -> bool:
        return any(info.key.session == session.id for info in await self._memory.sessions())

    async def _cut(self, session: ireneo.Session, policy: Policy, budget: int, messages: Sequence[Message]) -> Cut:
        context = await session.context(budget, preset=policy)
        places = {message.id: message.position for message in messages}
        blocks = [row for row in context.view if row.what == "summary"]
        pins = "\n".join(row.text for row in context.pins)
        live = [row.text for row in context.view if row.what != "summary"]
        threads = await held_threads(session, policy)
        return Cut(
            blocks=[row.text for row in blocks],
            live="\n".join([pins, *live]),
            spans=[(places[row.first], places[row.last]) for row in blocks if row.depth],
            threads=len(threads),
            pinned=sum(thread.text in pins for thread in threads),
        )


def newest(messages: Sequence[Message], words: int) -> str:
    """The newest messages as rivals show them."""
    said = [
        f"{part.author}: {part.text}"
        for message in messages[-LIVE:]
        for part in message.parts
        if isinstance(part, Text)
    ]
    while len(said) > 1 and count_words(" ".join(said)) > words * LIVE_SHARE:
        del said[0]
    return "\n".join(said)


def count_words(text: str) -> int:
    """Words as a person counts them."""
    return len(text.split())


def in_sentences(blocks: Sequence[str]) -> float:
    """The share of the past's words that stand in sentences, and not in headers."""
    rows = [row for block in blocks for row in block.splitlines()]
    heads = sum(count_words(row) for row in rows if row.startswith("[STORY]"))
    total = max(sum(map(count_words, rows)), 1)
    return (total - heads) / total


def show(name: str, cut: Cut, names: Sequence[Counter[str]], seconds: float) -> None:
    """Print the two rows of a method."""
    for label, row in zip(("said", "each"), shares(cut.text, names), strict=True):
        mean = sum(row) / len(row)
        cells = " ".join(f"{share:5.2f}" for share in row)
        rest = f"{min(row):6.3f} {row[0] / mean if mean else 0:9.2f}"
        if label == "said":
            rest += f" {count_words(cut.text):6,} {in_sentences(cut.blocks):9.2f} {cut.pinned:>4}/{cut.threads:<3}"
            rest += f" {seconds:6.1f}"
        print(f"{name if label == 'said' else '':24} {label} {cells} {rest}", flush=True)


async def print_played(given: argparse.Namespace) -> None:
    """Print the table of real play."""
    played = episodes(given.data, given.first, given.last)
    messages, names = messages_of(played), needed(played)
    print(
        f"{len(played)} episodes, {len(messages):,} messages, contexts of at most {given.words:,} words;"
        f" names a part: {', '.join(str(len(part)) for part in names)}"
    )
    ages = " ".join(f"{age:>5}" for age in ("old", *range(2, PARTS), "new"))
    print(f"{'':24}      {ages}  least  old/mean  words sentences threads      s")
    async with AsyncExitStack() as stack:
        ours = Ours(await stack.enter_async_context(ireneo.open(":memory:")))
        best = Cut(blocks=[], live="")
        for fan_in, limit in ((2, 6), (4, 4), (4, 8), (6, 6), (4, 6)):
            started = time.perf_counter()
            # The limit is no part of a summarizer: cut otherwise, the same summaries are shown.
            best = await ours.context(messages, told(StorySettings(fan_in=fan_in, limit=limit)), given.words)
            show(f"fan-in {fan_in}, limit {limit}", best, names, time.perf_counter() - started)
        rivals: dict[str, Callable[[], list[str]]] = {
            "a blob of 250 words": lambda: [blob([message.text for message in messages], LEAF, 250)],
            "TF-IDF, fan-in 4": lambda: _terms(messages, given.words, best.spans),
        }
        for name, rival in rivals.items():
            started = time.perf_counter()
            cut = Cut(blocks=rival(), live=newest(messages, given.words))
            show(name, cut, names, time.perf_counter() - started)
        if given.read:
            print("\n" + "\n\n".join(best.blocks))


def main() -> None:
    """Print a table of real play, and one of planted details after all retellings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "crd3")
    parser.add_argument("--first", type=int, default=1, help="the first episode")
    parser.add_argument("--last", type=int, default=30, help="the last episode")
    parser.add_argument("--words", type=int, default=3_000, help="what a context may have, live messages included")
    parser.add_argument("--read", action="store_true", help="print the text of ours with fan-in 4 as well")
    parser.add_argument("--only", choices=["played", "retold"], help="print one of the tables")
    parser.add_argument("--messages", type=int, default=50_000, help="how many are retold")
    parser.add_argument("--model", metavar="NAME", help="who retells them, instead of a scripted summariser")
    given = parser.parse_args()
    if given.only != "retold":
        if not any(given.data.glob("*.jsonl.xz")):
            where = f"There are no transcripts in {given.data}; name the folder that has them with --data."
            print(where, file=sys.stderr)
            sys.exit(2)
        asyncio.run(print_played(given))
    if given.only != "played":
        asyncio.run(print_retold(given.messages, given.model))


def _terms(messages: Sequence[Message], words: int, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Sentences by the weight of their words, in the same pyramid, each block with an even share of the room."""
    texts = term_pyramid([message.text for message in messages], LEAF, 4)
    each = (words - count_words(newest(messages, words))) // max(len(spans), 1)
    return [texts(first, last, each) for first, last in spans]


if __name__ == "__main__":
    main()
