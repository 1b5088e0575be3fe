"""Ways to cut a growing session to a budget, for `billed_cost.py`: each gives the prompt of every call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

import ireneo
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.encode import ViewRow
from ireneo.formats.chat.format import Payload, chat_format
from ireneo.log.message import Draft, Result, Text, count_parts
from ireneo.summaries.policy import CODING, FORGE, Policy, Prices

PLACEHOLDER = "[Earlier messages were left out. " + "A summary of them would stand here. " * 60 + "]"
"""Some 500 tokens in the place of a summary."""


class Run(Struct, frozen=True, kw_only=True):
    """A session to replay."""

    name: str
    drafts: list[Draft]
    calls: list[int]
    """The places of the assistant's messages."""
    end: int
    """Up to here the agent had its whole past before it: recall is measured up to its log's first compaction."""


class Prompt(Struct, frozen=True, kw_only=True):
    """What is sent at a call."""

    messages: list[str]
    """As JSON, the system prompt first."""
    summarised: int = 0
    """Tokens that a summariser would have to read for it, where a model writes the blocks."""


class Setting(Struct, frozen=True, kw_only=True):
    """How sessions are replayed."""

    budget: int
    low: int
    prices: Prices
    format: str
    thinking: bool
    """Whether the model's thinking is left in the sessions."""
    measure: str
    """Where the measure of recall is."""


Method = Callable[[Run, Setting], AsyncIterator[Prompt]]


class Counted:
    """The estimate, which remembers what it counted: the same messages are counted at every call."""

    name = "counted"

    def __init__(self) -> None:
        self.count = cache(EstimatedTokenizer().count)


COUNTED = Counted()


def sent(payload: Payload, summarised: int = 0) -> Prompt:
    """A payload as it is sent."""
    system = [{"role": "system", "content": payload.system}] if payload.system else []
    messages = [*system, *payload.messages]
    return Prompt(
        messages=[json.dumps(message, ensure_ascii=False, sort_keys=True) for message in messages],
        summarised=summarised,
    )


def each_call(change: Callable[[list[Draft]], list[Draft]]) -> Method:
    """A method that makes each prompt from all the messages before it."""

    async def prompts(run: Run, setting: Setting) -> AsyncIterator[Prompt]:
        for place in run.calls:
            yield sent(chat_format(setting.format).encode(change(run.drafts[:place])))

    return prompts


def masked(keep: int) -> Callable[[list[Draft]], list[Draft]]:
    """All outputs but the last `keep` are left out."""

    def change(drafts: list[Draft]) -> list[Draft]:
        places = [place for place, draft in enumerate(drafts) if draft.results]
        return [_masked(draft) if place in places[:-keep] else draft for place, draft in enumerate(drafts)]

    return change


def _masked(draft: Draft) -> Draft:
    gone = (Text(text="[output omitted]"),)
    parts = tuple(replace(part, parts=gone) if isinstance(part, Result) else part for part in draft.parts)
    return replace(draft, parts=parts, native=None)


def tail(drafts: list[Draft], tokens: int) -> list[Draft]:
    """The newest messages, from where no result stands without its call; the newest call at the least."""
    first, left = len(drafts), tokens
    while first and (left := left - weight(drafts[first - 1])) >= 0:
        first -= 1
    while first < len(drafts) and drafts[first].results:
        first += 1
    newest = next((place for place in reversed(range(len(drafts))) if not drafts[place].results), 0)
    return drafts[min(first, newest) :]


async def moving_tail(run: Run, setting: Setting) -> AsyncIterator[Prompt]:
    """The newest messages that fit, at each call."""
    for place in run.calls:
        yield sent(chat_format(setting.format).encode(tail(run.drafts[:place], setting.budget)))


async def water_marks(run: Run, setting: Setting) -> AsyncIterator[Prompt]:
    """The newest messages behind a placeholder; cut down to the low mark where they grow over the budget."""
    note = Draft(role="user", parts=(Text(text=PLACEHOLDER),))
    kept: list[Draft] = []
    done = 0
    for place in run.calls:
        kept += run.drafts[done:place]
        done = place
        if sum(map(weight, kept)) > setting.budget:
            kept = [note, *tail(kept, setting.low - weight(note))]
        yield sent(chat_format(setting.format).encode(kept))


def ours(policy: Callable[[Setting], Policy]) -> Method:
    """The contexts of a session that grows in memory."""

    async def prompts(run: Run, setting: Setting) -> AsyncIterator[Prompt]:
        async with ireneo.open(":memory:", tokens=COUNTED) as memory:
            session = await memory.session(run.name)
            done = 0
            read = Reading()
            for place in run.calls:
                appended = await session.append(run.drafts[done:place])
                read.add(appended.ids, run.drafts[done:place])
                done = place
                context = await session.context(setting.budget, to=setting.format, preset=policy(setting))
                payload = Payload(messages=context.messages, system=context.system)
                yield sent(payload, read.tokens(context.view))

    return prompts


class Reading:
    """What a summariser has to read: each new block's messages; of deeper blocks only what none had shown before."""

    def __init__(self) -> None:
        self._weights: list[int] = []
        self._places: dict[str, int] = {}
        self._blocks: set[str] = set()
        self._read: set[int] = set()

    def add(self, ids: Sequence[str], drafts: Sequence[Draft]) -> None:
        """Messages that came."""
        for id, draft in zip(ids, drafts, strict=True):
            self._places[id] = len(self._weights)
            self._weights.append(weight(draft))

    def tokens(self, view: Sequence[ViewRow]) -> int:
        """The tokens to read for the blocks of a context that are new."""
        total = 0
        for row in view:
            if row.what != "summary" or row.id in self._blocks:
                continue
            self._blocks.add(row.id)
            places = range(self._places[row.first], self._places[row.last] + 1)
            total += sum(self._weights[place] for place in places if not row.depth or place not in self._read)
            self._read.update(places)
        return total


def weight(draft: Draft) -> int:
    """What a message costs, its thinking included."""
    return sum(count_parts(draft.parts, COUNTED.count))


def plain(setting: Setting) -> Policy:
    """The preset as it comes, with the low mark."""
    return CODING.down_to(setting.low / setting.budget)


def priced(setting: Setting) -> Policy:
    """The same, and the planner knows the prices."""
    return plain(setting).priced(setting.prices)


METHODS: dict[str, Method] = {
    "whole history": each_call(list),
    "tail, moving": moving_tail,
    "mask all but 10": each_call(masked(10)),
    "mask all but 4": each_call(masked(4)),
    "plain water marks": water_marks,
    "forge": ours(lambda setting: FORGE),
    "coding": ours(plain),
    "coding, priced": ours(priced),
    "… down to a third": ours(lambda setting: priced(setting).down_to(1 / 3)),
}
