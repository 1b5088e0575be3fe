"""Signed thinking goes back as it came, of whole tool loops, and only where nothing before it was changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Draft, Policy, Session, chat_format
from ireneo.context.view import ContextOptions
from ireneo.engine.context import ContextCache, context
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ThinkingRule
from ireneo.log.calls import last_user_index
from ireneo.log.message import Message, Part, Thinking
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.policy import preset as preset_named

from .houses import House, calm, housed, stores
from .material import HASTY, STEPS, TINY, Teller, says
from .promises import TOKENS, bounded, valid


class Thinker(Teller):
    """Tells of an agent whose thoughts are signed, each in its own way."""

    def thought(self, size: int = 20) -> Thinking:
        """A thought with a signature that no other has."""
        text = self.words(size)
        return Thinking(text=text, signature=f"signed-{self.told}", format="anthropic")

    def sealed(self) -> Thinking:
        """A thought that only its provider can read."""
        return Thinking(sealed=f"sealed-{self.mark()}-" + "c2VhbGVk" * 8, format="anthropic")

    def act(self, *parts: Part | str, size: int = 20) -> list[Draft]:
        """A call with what was thought and said before it, and its result."""
        call = self.call("read", path=f"src/{self.name}/deep_{self.told}.py")
        return [says("assistant", *parts, call), says("tool", self.result(self.words(size)))]


THOUGHTS: dict[str, Callable[[Thinker], list[Draft]]] = {
    "think and act": lambda t: t.act(t.thought()),
    "think long and act": lambda t: t.act(t.thought(300), size=60),
    "think, speak and act": lambda t: t.act(t.thought(), f"I will look at {t.mark()}."),
    "think twice and act": lambda t: t.act(t.thought(), t.sealed(), t.thought(), f"So {t.mark()}."),
    "think in secret and act": lambda t: t.act(t.sealed()),
    "think and answer": lambda t: [says("assistant", t.thought(), f"Done: {t.mark()}.")],
}
ALL: dict[str, Callable[..., list[Draft]]] = {**STEPS, **THOUGHTS}
LOOP = ("think and act", "think, speak and act", "read", "think twice and act", "edit", "think in secret and act")
PLAIN = ("ask", "instruct", "remind", "answer", "say", "parallel, split", "late", "interleaved", "ask at length")
steps = st.sampled_from(LOOP * 2 + tuple(THOUGHTS) + PLAIN)
turns = st.lists(steps, max_size=7).map(lambda work: ["ask", *work, "think and answer"])
histories = st.lists(turns, min_size=2, max_size=7).map(
    lambda told: ["instruct", *(step for turn in told for step in turn)]
)
presets = st.sampled_from(["coding", "forge", TINY, HASTY])
budgets = st.sampled_from([300, 700, 1_200]) | st.integers(400, 4_000)


def spoken_to(before: Sequence[Draft], draft: Draft) -> bool:
    """Whether `draft` is what a model said to a context, and no call was still running then."""
    waiting = {call.id for each in before for call in each.calls} - {r.call_id for each in before for r in each.results}
    return draft.role == "assistant" and not waiting


def told(names: Sequence[str]) -> list[Draft]:
    """The drafts of the steps."""
    thinker = Thinker()
    return [draft for name in names for draft in ALL[name](thinker)]


def loops(path: Sequence[Draft]) -> list[list[int]]:
    """The places of the assistant's messages, by the tool loop that they stand in."""
    out: list[list[int]] = []
    goes_on = False
    for place, draft in enumerate(path):
        if draft.role == "assistant":
            if not goes_on:
                out.append([])
            out[-1].append(place)
        if draft.role in ("assistant", "tool"):
            goes_on = bool(draft.calls or draft.role == "tool")
        elif draft.role == "user" and draft.origin == "spoken" and not draft.joined:
            goes_on = False
    return out


def keys(draft: Draft) -> list[str]:
    """What the thoughts of a message are known by."""
    return [part.signature or part.sealed or "" for part in draft.parts if isinstance(part, Thinking)]


def shown_thoughts(context: Context) -> Iterator[tuple[int, str, dict[str, object]]]:
    """The thoughts in a context of Anthropic's: the place of the message, what they are known by, the block."""
    for place, message in enumerate(context.messages):
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            if block["type"] in ("thinking", "redacted_thinking"):
                yield place, block.get("signature") or block["data"], block


def written(draft: Draft, key: str) -> dict[str, object]:
    """A thought of the log as its provider wrote it."""
    thought = next(part for part in draft.parts if isinstance(part, Thinking) and key in (part.signature, part.sealed))
    if thought.sealed is not None:
        return {"type": "redacted_thinking", "data": thought.sealed}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


class Watch:
    """What was shown before each message of the assistant, and what has to hold of each context after."""

    def __init__(self, path: Sequence[Draft]) -> None:
        self.path = path
        self.heard: dict[int, Context] = {}
        """By the place of a message of the assistant: the context that it was said to."""
        self.rebuilt = 0
        """How much of the path there was when the beginning was changed last."""
        self.home = {key: place for place, draft in enumerate(path) for key in keys(draft)}

    def look(self, length: int, now: Context, rebuilt: int) -> None:
        """Check the context of the first `length` messages, which was `rebuilt` when there were so many."""
        before = self.heard[max(self.heard)] if self.heard else None
        assert before is None or rebuilt > self.rebuilt or is_prefix(before, now), "changed, and not rebuilt"
        self.rebuilt = rebuilt
        self.heard[length] = now
        shown = {key: (place, block) for place, key, block in shown_thoughts(now)}
        for key, (place, block) in shown.items():
            assert block == written(self.path[self.home[key]], key)
            said_to = self.heard[self.home[key]]
            assert now.system == said_to.system
            assert now.messages[:place] == said_to.messages, f"what stands before {key} was changed since"
            assert self.home[key] >= self.rebuilt, f"{key} was thought before the rebuild at {self.rebuilt}"
        for loop in loops(self.path[:length]):
            self._all_or_none(loop, set(shown))

    def _all_or_none(self, loop: Sequence[int], shown: set[str]) -> None:
        thoughts = {key for place in loop for key in keys(self.path[place])}
        assert not thoughts & shown or thoughts <= shown, f"of the loop at {loop} only {thoughts & shown} is shown"
        if loop[0] >= self.rebuilt:
            assert thoughts <= shown, f"the loop at {loop} began after the rebuild at {self.rebuilt}"


def is_prefix(before: Context, now: Context) -> bool:
    """Whether all of an earlier context stands unchanged at the beginning of a later one."""
    return now.system == before.system and now.messages[: len(before.messages)] == before.messages


async def rebuilt(store: Store, session: Session, budget: int, preset: str | Policy) -> int:
    """How many messages there were when the context was rebuilt last."""
    summarizer = preset.summarizer if isinstance(preset, Policy) else preset_named(preset).summarizer

    def look(tx: Transaction) -> int:
        head = tx.log.head(session.key, session.branch)
        mark = tx.rebuilds.last(session.key, head.id, summarizer, budget) if head else None
        return mark.at_position + 1 if mark else 0

    return await store.read(look)


@calm(8)
@given(store=stores, names=histories, budget=budgets, preset=presets)
async def test_anthropic_gets_thinking_of_whole_loops_behind_what_it_was_said_to(
    store: str, names: list[str], budget: int, preset: str | Policy
) -> None:
    path = told(names)

    async with housed(store) as house:
        session = await (await house.memory()).session("run")
        store = await house.store()
        watch = Watch(path)
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                now = await session.context(budget, to="anthropic", preset=preset)
                bounded(now, budget)
                valid(now)
                watch.look(place, now, await rebuilt(store, session, budget, preset))
            await session.append(draft)


class Turned(AnthropicMessages):
    """Anthropic's format under the rule of the providers that want back the thinking of the running turn."""

    thinking: ThinkingRule = "turn"


async def turned(house: House, session: Session, budget: int, preset: str, cache: ContextCache) -> Context:
    """The context of a session under that rule."""
    terms = ContextOptions(budget=budget, policy=preset_named(preset), count=TOKENS.count)
    return await context(await house.store(), session.key, session.branch, Turned(), terms, "first", cache)


LEAST_KEPT = 48
"""What a message that a preset keeps may cost at least: its frame, the mark of what is left out, and a few words."""


def fits(running: Sequence[Message], budget: int, preset: str) -> bool:
    """Whether the running turn surely fits with its thinking, beside the messages that the preset keeps."""
    policy = preset_named(preset)
    room = policy.low_water * budget
    cost = sum(message.tokens + message.thinking_tokens for message in running)
    return cost <= room / 4 and cost + LEAST_KEPT * policy.keep_messages <= room * 2 / 3


@calm(8)
@given(names=histories, budget=budgets, preset=st.sampled_from(["coding", "forge"]))
async def test_the_thinking_of_the_running_turn_is_kept_where_it_fits(
    names: list[str], budget: int, preset: str
) -> None:
    path = told(names)

    async with housed() as house:
        session = await (await house.memory()).session("run")
        cache = ContextCache("run", "run", TOKENS.count)
        home = {key: place for place, draft in enumerate(path) for key in keys(draft)}
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                now = await turned(house, session, budget, preset, cache)
                bounded(now, budget)
                valid(now)
                shown = {key: block for _, key, block in shown_thoughts(now)}
                for key, block in shown.items():
                    assert block == written(path[home[key]], key)
                running = await session.messages(last_user_index(await session.messages()))
                if fits(running, budget, preset):
                    assert {key for message in running for key in keys(message.draft)} <= set(shown)
            await session.append(draft)


async def test_a_short_running_turn_is_whole_where_what_is_kept_before_it_is_shortened() -> None:
    long = ["ask", *["think long and act"] * 9, "think and answer"]
    path = told(["instruct", "ask", "think and answer", *long, "ask", "think and act"])

    async with housed() as house:
        session = await (await house.memory()).session("run")
        cache = ContextCache("run", "run", TOKENS.count)
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                await turned(house, session, 1_980, "forge", cache)
            await session.append(draft)
        now = await turned(house, session, 1_980, "forge", cache)
        bounded(now, 1_980)
        valid(now)
        assert "left out" in str(now.messages[:-3])
        assert "left out" not in str(now.messages[-3:])
        assert [key for _, key, _ in shown_thoughts(now)] == keys(path[-2])


@calm(14)
@given(names=histories, room=st.integers(0, 400), to=st.sampled_from(["anthropic", "openai"]))
def test_a_list_that_fits_with_its_thinking_comes_back_equal(names: list[str], room: int, to: str) -> None:
    payload = chat_format(to).encode(told(names))
    given_list = {"messages": payload.messages, "system": payload.system} if to == "anthropic" else payload.messages
    size = ireneo.compact(given_list, 10_000_000).tokens
    for budget in (max(size * 2, 256) + room, max(size // 2, 256) + room):
        now = ireneo.compact(given_list, budget)
        bounded(now, budget)
        valid(now)
        if budget >= size * 2:
            assert now.messages == payload.messages
            assert now.system == payload.system
        assert to == "anthropic" or not list(shown_thoughts(now))
        assert {key for _, key, _ in shown_thoughts(now)} in (
            set(),
            {key for draft in told(names) for key in keys(draft)},
        )
