"""What each way of writing about the past costs, by a provider's prices, as a share of the session read once.

On the sample sessions beside the project. A scripted model answers with sentences of the agent's own, as many words as
it is asked for, so that prompts, answers and repairs are as long as those of an honest writer; what an agent itself
writes is as long as it is asked for. A token is four characters; one that was read before costs 0.1, one that is
written five. Not counted is what an agent's own conversation costs anyway.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
from pathlib import Path

import ireneo
from ireneo.engine.work_writing import WORDS_PER_TOKEN
from ireneo.grounding.evidence import source_texts
from ireneo.log.message import Draft, Message
from ireneo.ports.models import Prompt
from ireneo.testing.scripted import Scripted, ScriptedLLM

sys.path.insert(0, str(Path(__file__).parent))
from valid_cuts import DATA, path_of, sessions

READ_AGAIN, WRITTEN = 0.1, 5.0
LEAST_TOKENS = 20_000
_WORDS = re.compile(r"(?:about|some) (\d+) words\)? in all", re.IGNORECASE)
_SAID = re.compile(r"^\[(\d+)\] agent: (.+)$", re.MULTILINE)
_NOTE = re.compile(r"^\w+ \d \[[\d,]+\] .+$", re.MULTILINE)


class Honest:
    """Answers with what the agent said, sentence by sentence, until it has said as much as was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, int]] = []
        """Of each prompt its name, and what was read and written, in characters."""

    def __call__(self, prompt: Prompt) -> Scripted:
        """The answer to one prompt."""
        words = _WORDS.search(prompt.user)
        if words is None:
            # A repair: the same again.
            notes = _NOTE.findall(prompt.user.rpartition("</messages>")[2])
        else:
            notes = list(self._notes(prompt.user, int(words[1])))
        written = sum(len(note) + 4 for note in notes)
        self.asked.append((prompt.name, len(prompt.system) + len(prompt.user), written))
        return {"notes": notes}

    def _notes(self, shown: str, words: int) -> list[str]:
        said = [(place, " ".join(text.split())[:300]) for place, text in _SAID.findall(shown)] or [("0", "Nothing.")]
        out: list[str] = []
        while words > 0:
            place, text = said[len(out) % len(said)]
            out.append(f"found 3 [{place}] {text}")
            words -= len(text.split()) + 3
        return out


def size(messages: list[Message]) -> int:
    """What a provider reads of the messages, in tokens."""
    return sum(map(len, source_texts(messages))) // 4


async def measured(drafts: list[Draft], ratio: int) -> dict[str, float] | None:
    """What each way costs for one session; None for one that is too short."""
    honest = Honest()
    async with ireneo.open(":memory:", model=ScriptedLLM(honest)) as memory:
        session = await memory.session("sample")
        await session.append(drafts)
        whole = size(list(await session.messages()))
        if whole < LEAST_TOKENS:
            return None
        request = await session.notes_request()
        words = int(_WORDS.findall(request)[-1])
        await session.summarise(whole // ratio)
        await session.summarise(whole // 25)
    first = [each for each in honest.asked if "repair" not in each[0]]
    repairs = [each for each in honest.asked if "repair" in each[0]]
    own_out = words / WORDS_PER_TOKEN
    return {
        "prompts": len(first),
        "repairs": len(repairs),
        "read": sum(read for _, read, _ in first) / 4 / whole,
        "written": sum(written for *_, written in first) / 4 / whole,
        "mended": sum(read / 4 + WRITTEN * written / 4 for _, read, written in repairs) / whole,
        "model": sum(read / 4 + WRITTEN * written / 4 for _, read, written in honest.asked) / whole,
        "own read": (READ_AGAIN * whole + len(request) / 4) / whole,
        "own written": own_out / whole,
        "own": (READ_AGAIN * whole + len(request) / 4 + WRITTEN * own_out) / whole,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA / "claude_code_sessions")
    parser.add_argument("--sessions", type=int, default=12, help="0 for all")
    parser.add_argument("--ratio", type=int, default=8)
    given = parser.parse_args()
    if not given.data.exists():
        sys.exit(f"{given.data} is needed, and is not there.")
    rows: list[dict[str, float]] = []
    for file in sorted(map(str, given.data.glob("*.jsonl.xz"))):
        for logged in sessions(file):
            found = asyncio.run(measured(path_of(logged), given.ratio))
            rows += [found] if found else []
        if given.sessions and len(rows) >= given.sessions:
            break
    if not rows:
        sys.exit("No session is long enough.")

    def mean(name: str) -> float:
        return statistics.mean(row[name] for row in rows)

    print(f"{len(rows)} sessions of {LEAST_TOKENS:,} tokens and more; contexts of 1/{given.ratio}, then of 1/25")
    print("way               prompts   read  written  repairs   price  worst")
    worst = {name: max(row[name] for row in rows) for name in ("model", "own")}
    written = f"{mean('read'):>6.2f} {mean('written'):>8.3f} {mean('mended'):>8.3f} {mean('model'):>7.2f}"
    print(f"a model           {mean('prompts'):>7.1f} {written} {worst['model']:>6.2f}")
    own = f"{mean('own read'):>6.2f} {mean('own written'):>8.3f} {0:>8.3f} {mean('own'):>7.2f}"
    print(f"the agent itself  {1:>7.1f} {own} {worst['own']:>6.2f}")


if __name__ == "__main__":
    main()
