"""How a story fades: the share of what people found worth telling that a context of 3,000 words still names, by age.

Real play, without a model: the transcripts of a long campaign, each turn a message, with the summaries that people
wrote of each episode, four sentences at a time. A context is cut after the last message: a past, in blocks, and the
newest messages, verbatim. What is asked is which of the names in people's summaries its text still holds, in six parts
of the story from the oldest to the newest.

A name is a capitalised word that doesn't begin a sentence and is no common word (in the summaries it is written large
more often than small). Names of more than 30 % of the episodes are left out: any text would hold those. "said" counts
each summary that has the name, "each" every name once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent))
from fading_play import PARTS, episodes, messages_of, needed, shares
from fading_rivals import blob, term_pyramid
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.policy import Pyramid
from ireneo.context.summary import Section, Summary, anchor
from ireneo.log.message import Message, MessageId, Text
from ireneo.pyramid import allot
from ireneo.pyramid.allot import tell_blocks
from ireneo.pyramid.offline.leaf import tell_leaf
from ireneo.pyramid.offline.rollup import tell_deeper

BESIDE = Path(__file__).resolve().parents[2] / "shared"
COUNT = EstimatedTokenizer().count
LEAF, LIVE, LIVE_SHARE = Pyramid().leaf_messages, Pyramid().live_messages, 0.5
"""The newest messages: so many, or as many of them as half of the words hold."""


class Cut(Struct):
    """A context as text."""

    blocks: list[str]
    live: str

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join([*self.blocks, self.live])


Method = Callable[[Sequence[Message], int], Cut]
_LEAVES: dict[MessageId, Summary] = {}
"""The leaves that were written: every fan-in shares them."""


def context_text(messages: Sequence[Message], fan_in: int, words: int) -> Cut:
    """The context of at most `words` words after the last of `messages`, the past in a pyramid of this fan-in."""
    live, said = newest(messages, words)
    nodes = pyramid(messages, fan_in)
    low, high = 0, 3 * words
    while high - low > 8:
        room = (low + high) // 2
        if count_words("\n".join([*tell_blocks(nodes, room, COUNT, said=said), live])) <= words:
            low = room
        else:
            high = room
    return Cut(blocks=tell_blocks(nodes, low, COUNT, said=said), live=live)


def newest(messages: Sequence[Message], words: int) -> tuple[str, list[str]]:
    """The newest messages as they are shown, together and each."""
    said = [f"{part.author}: {part.text}" for message in messages[-LIVE:] for part in message.parts if _text(part)]
    while len(said) > 1 and count_words(" ".join(said)) > words * LIVE_SHARE:
        del said[0]
    return "\n".join(said), said


def _text(part: object) -> bool:
    return isinstance(part, Text)


def pyramid(messages: Sequence[Message], fan_in: int) -> list[Summary]:
    """The blocks that stand after the last message, the deepest and oldest first."""
    leaves = [_leaf(messages, number) for number in range(max(len(messages) - LIVE, 0) // LEAF)]
    out: list[Summary] = []
    for depth, number in standing(len(leaves), fan_in, Pyramid().limit):
        if depth == 1:
            out.append(leaves[number])
            continue
        under = leaves[number * fan_in ** (depth - 1) : (number + 1) * fan_in ** (depth - 1)]
        out.append(_record(messages, under[0].first_position, under[-1].last_position, depth, tell_deeper(under)))
    return out


def standing(leaves: int, fan_in: int, limit: int) -> list[tuple[int, int]]:
    """Depth and number of each node that stands: where a depth has more than `limit`, its oldest are merged."""
    rows: list[list[int]] = [[]]
    for leaf in range(leaves):
        rows[0].append(leaf)
        depth = 0
        while len(rows[depth]) > limit:
            if depth + 1 == len(rows):
                rows.append([])
            rows[depth + 1].append(rows[depth][0] // fan_in)
            del rows[depth][:fan_in]
            depth += 1
    return [(depth + 1, number) for depth in reversed(range(len(rows))) for number in rows[depth]]


def _leaf(messages: Sequence[Message], number: int) -> Summary:
    first, last = number * LEAF, (number + 1) * LEAF - 1
    if messages[last].id not in _LEAVES:
        _LEAVES[messages[last].id] = _record(messages, first, last, 1, tell_leaf(messages[first : last + 1]))
    return _LEAVES[messages[last].id]


def _record(messages: Sequence[Message], first: int, last: int, depth: int, sections: tuple[Section, ...]) -> Summary:
    return Summary(
        id=anchor("story", messages[first].id, messages[last].id, "fading"),
        level="story",
        depth=depth,
        first=messages[first].id,
        last=messages[last].id,
        first_position=first,
        last_position=last,
        family="fading",
        source_tokens=0,
        sections=sections,
        retellings=1 if depth == 1 else 2,
    )


def count_words(text: str) -> int:
    """Words as a person counts them."""
    return len(text.split())


def made_of(blocks: Sequence[str]) -> tuple[float, float]:
    """The shares of the past's words that stand in sentences, and in lists of names."""
    rows = [row for block in blocks for row in block.splitlines()]
    listed = sum(count_words(row) for row in rows if row.startswith("Names: "))
    heads = sum(count_words(row) for row in rows if row.startswith("[STORY]"))
    total = max(sum(map(count_words, rows)), 1)
    return (total - listed - heads) / total, listed / total


def show(name: str, cut: Cut, names: Sequence[Counter[str]], seconds: float) -> None:
    """Print the two rows of a method."""
    sentences, listed = made_of(cut.blocks)
    for label, row in zip(("said", "each"), shares(cut.text, names), strict=True):
        mean = sum(row) / len(row)
        cells = " ".join(f"{share:5.2f}" for share in row)
        rest = f"{min(row):6.3f} {row[0] / mean if mean else 0:9.2f}"
        if label == "said":
            rest += f" {count_words(cut.text):6,} {sentences:9.2f} {listed:6.2f} {seconds:6.1f}"
        print(f"{name if label == 'said' else '':24} {label} {cells} {rest}")


def main() -> None:
    """Print a table, and one of other mixes of sentences and names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "crd3")
    parser.add_argument("--first", type=int, default=1, help="the first episode")
    parser.add_argument("--last", type=int, default=30, help="the last episode")
    parser.add_argument("--words", type=int, default=3_000, help="what a context may have, live messages included")
    parser.add_argument("--read", action="store_true", help="print the text of ours with fan-in 4 as well")
    given = parser.parse_args()
    if not any(given.data.glob("*.jsonl.xz")):
        print(f"There are no transcripts in {given.data}; name the folder that has them with --data.", file=sys.stderr)
        sys.exit(2)
    played = episodes(given.data, given.first, given.last)
    messages, names = messages_of(played), needed(played)
    print(
        f"{len(played)} episodes, {len(messages):,} messages, contexts of at most {given.words:,} words;"
        f" names a part: {', '.join(str(len(part)) for part in names)}"
    )
    ages = " ".join(f"{age:>5}" for age in ("old", *range(2, PARTS), "new"))
    print(f"{'':24}      {ages}  least  old/mean  words sentences  names      s")
    methods: dict[str, Method] = {
        "a blob of 250 words": lambda messages, words: Cut(
            blocks=[blob([message.text for message in messages], LEAF, 250)], live=newest(messages, words)[0]
        ),
        "TF-IDF, fan-in 4": lambda messages, words: _terms(messages, words),
        "ours, fan-in 2": lambda messages, words: context_text(messages, 2, words),
        "ours, fan-in 4": lambda messages, words: context_text(messages, 4, words),
    }
    for name, method in methods.items():
        started = time.perf_counter()
        cut = method(messages, given.words)
        show(name, cut, names, time.perf_counter() - started)
    if given.read:
        print("\n" + "\n\n".join(cut.blocks))
    print("\nOther mixes, with fan-in 4: of a block's cost, so much at the most is names")
    for share in (0.0, 0.2, 0.4, 0.6, 0.8):
        allot.NAMES_SHARE = share
        show(f"  {share:.1f}", context_text(messages, 4, given.words), names, 0)


def _terms(messages: Sequence[Message], words: int) -> Cut:
    """Sentences by the weight of their words, in the same pyramid, each block with an even share of the room."""
    live = newest(messages, words)[0]
    nodes = pyramid(messages, 4)
    texts = term_pyramid([message.text for message in messages], LEAF, 4)
    each = (words - count_words(live)) // len(nodes)
    return Cut(blocks=[texts(node.first_position, node.last_position, each) for node in nodes], live=live)


if __name__ == "__main__":
    main()
