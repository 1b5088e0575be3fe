"""What is left of details after all retellings, where a summariser loses each with a probability of a fifth."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent))
import ireneo
from fading_details import Forgetful, Planted, planted
from ireneo.adapters.llm.model import open_model
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader
from ireneo.engine.models import Limits
from ireneo.ports.models import LanguageModel, Prompt, Reply
from ireneo.ports.store import Transaction
from ireneo.summaries.policy import STORY, Policy, StorySettings
from ireneo.summaries.story_path import StoryPath, open_threads
from ireneo.summaries.summary import Summary, Thread

R = TypeVar("R", bound=Struct)
BUDGET = 16_000
BATCH = 5_000


class Counting:
    """A LanguageModel that counts how often another is asked."""

    def __init__(self, model: LanguageModel) -> None:
        """Begin at none."""
        self._model = model
        self.calls = 0

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Ask, and count."""
        self.calls += 1
        return await self._model.ask(prompt, reply)


class Outcome(Struct, kw_only=True):
    """What became of the details."""

    oldest: float
    """Of the details of the oldest tenth, the share that the summaries still have that are shown."""
    all: float
    pinned: float
    """Of what was promised, the share that stands among the threads of the summaries."""
    shown: float
    """Of the open threads, the share that stands word for word in a context."""
    blocks: int
    retellings: int
    calls: int
    offline: int
    tokens_in: int
    tokens_out: int
    seconds: float


def told(story: StorySettings) -> Policy:
    """A story that is cut so."""
    return Policy(name="story", story=story, live_share=STORY.live_share)


PRESETS: dict[str, Policy] = {
    "fan-in 2": told(StorySettings(fan_in=2)),
    "fan-in 4 (ours)": STORY,
    "fan-in 6": told(StorySettings(fan_in=6)),
    "fan-in 2, window 2,000": told(StorySettings(fan_in=2, window_tokens=2_000, raw_tokens=0)),
    "fan-in 4, window 2,000": told(StorySettings(fan_in=4, window_tokens=2_000, raw_tokens=0)),
    "fan-in 4, limit 4": told(StorySettings(limit=4)),
    "fan-in 4, limit 8": told(StorySettings(limit=8)),
}
"""With a window of 2,000 tokens a summary can only be written from those right under it."""


async def retell(policy: Policy, plant: Planted, model: LanguageModel) -> Outcome:
    """Append the chat, let the model write all that is due, and look for the details."""
    started = time.perf_counter()
    counting = Counting(model)
    limits = Limits(calls_per_session=None, tokens_per_session=None, calls_per_day=None, tokens_per_day=None)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        async with ireneo.open(file, durability="normal", model=counting, limits=limits) as memory:
            session = await memory.session("story")
            for start in range(0, len(plant.drafts), BATCH):
                await session.append(plant.drafts[start : start + BATCH])
            done = await _write(memory, policy)
            nodes = await shown_nodes(session, policy)
            threads = await held_threads(session, policy)
            context = await session.context(BUDGET, preset=policy)
    pins = "\n".join(row.text for row in context.pins)
    oldest, every = _kept(plant, nodes)
    covered = max(node.last_position for node in nodes)
    promised = [word for word in plant.promised if plant.places[word] <= covered]
    return Outcome(
        oldest=oldest,
        all=every,
        pinned=_share(promised, {word.strip(",.") for thread in threads for word in thread.text.split()}),
        shown=sum(thread.text in pins for thread in threads) / max(len(threads), 1),
        blocks=len(nodes),
        retellings=max(node.retellings for node in nodes),
        calls=counting.calls,
        offline=sum(worked.did == "offline" for worked in done),
        tokens_in=sum(worked.tokens_in for worked in done),
        tokens_out=sum(worked.tokens_out for worked in done),
        seconds=time.perf_counter() - started,
    )


async def _write(memory: ireneo.Memory, policy: Policy) -> list[ireneo.WorkResult]:
    """Have all written that is due."""
    done: list[ireneo.WorkResult] = []

    def tell(worked: ireneo.WorkResult) -> None:
        if worked.did == "failed":
            raise SystemExit(worked.reason)
        done.append(worked)
        print(f"  {worked.behind:,} messages behind, {worked.due:,} texts due", end="   \r", file=sys.stderr)

    await memory.work(until_idle=True, preset=policy, on_progress=tell)
    return done


def _kept(plant: Planted, nodes: Sequence[Summary]) -> tuple[float, float]:
    """Of the details of the oldest tenth, and of all that the summaries stand for, the shares that their texts have."""
    texts = " ".join(line.text for node in nodes for line in node.lines("story")).split()
    there = {word.strip(",.“”") for word in texts}
    covered = max(node.last_position for node in nodes)
    tenth = len(plant.drafts) // 10
    plain = [word for word, place in plant.places.items() if place <= covered and word not in plant.promised]
    return _share([word for word in plain if plant.places[word] < tenth], there), _share(plain, there)


async def held_threads(session: ireneo.Session, policy: Policy) -> Sequence[Thread]:
    """The threads that are open at the end of the summaries."""
    nodes = await shown_nodes(session, policy)
    return open_threads(nodes, (policy.story or StorySettings()).open_threads)[0]


async def shown_nodes(session: ireneo.Session, policy: Policy) -> Sequence[Summary]:
    """The summaries that are shown where no budget is in the way, as the model wrote them."""
    options = ContextOptions(budget=BUDGET, policy=policy, count=session._count)

    def read(tx: Transaction) -> Sequence[Summary]:
        head = tx.log.head(session.key)
        assert head is not None
        path = StoryPath(StoredReader(tx, session.key, head, options, "third"), policy)
        return path.reader.texts(path.row())

    return await session._store.read(read)


def _share(wanted: Sequence[str], there: set[str]) -> float:
    return sum(word in there for word in wanted) / max(len(wanted), 1)


async def print_retold(messages: int, model: str | None, only: Sequence[str] = ()) -> None:
    """Print a row a preset."""
    plant = planted(messages)
    print(
        f"\nRetold: {messages:,} messages, {len(plant.places):,} details, {len(plant.promised)} of them promised; "
        + (f"written by {model}" if model else "each retelling keeps a detail with a probability of 0.8")
    )
    print(
        f"{'':24} {'oldest':>7} {'all':>5} {'threads':>8} {'shown':>6} {'blocks':>7} {'retold':>7} {'calls':>6}"
        f" {'offline':>8} {'in / 1,000':>11} {'out / 1,000':>12} {'s':>6}"
    )
    for name, policy in PRESETS.items():
        if only and name not in only:
            continue
        found = await retell(policy, plant, open_model(model) if model else Forgetful())
        thousands = messages / 1_000
        print(
            f"{name:24} {found.oldest:>7.2f} {found.all:>5.2f} {found.pinned:>8.2f} {found.shown:>6.2f}"
            f" {found.blocks:>7} {found.retellings:>7} {found.calls / thousands:>6.2f} {found.offline:>8}"
            f" {found.tokens_in / thousands:>11,.0f} {found.tokens_out / thousands:>12,.0f} {found.seconds:>6.0f}",
            flush=True,
        )
