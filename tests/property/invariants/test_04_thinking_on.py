"""With extended thinking on a provider takes every context, or the context says that thinking must be off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Policy
from ireneo.log.message import Thinking

from .houses import House, calm, housed, live_in
from .material import Teller
from .promises import bounded, valid
from .test_04_thinking import budgets, histories, keys, presets, shown_thoughts, spoken_to, told

Message = dict[str, object]
THOUGHTS = ("thinking", "redacted_thinking")


def kinds(message: Message) -> list[str]:
    """The types of a message's blocks."""
    content = message["content"]
    return [block["type"] for block in content] if isinstance(content, list) else ["text"]


def loop_begins(messages: Sequence[Message]) -> int | None:
    """Where the assistant's turn begins that goes on behind the last results; None where no results stand last."""
    begins = None
    last = len(messages) - 1
    while last >= 0:
        answered = False
        while last >= 0 and messages[last]["role"] == "user":
            answered = answered or "tool_result" in kinds(messages[last])
            last -= 1
        if not answered:
            return begins
        while last >= 0 and messages[last]["role"] == "assistant":
            begins = last
            last -= 1
    return begins


def takes(messages: Sequence[Message]) -> bool:
    """Whether the provider answers such a list with thinking on, and not with 400."""
    begins = loop_begins(messages)
    return begins is None or kinds(messages[begins])[0] in THOUGHTS


def prefix(messages: Sequence[Message]) -> str:
    """What a signature is bound to."""
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]


@calm(7)
@given(names=histories, budget=budgets | st.just(200_000), preset=presets)
async def test_every_context_is_taken_with_thinking_on_or_says_that_it_must_be_off(
    names: list[str], budget: int, preset: str | Policy
) -> None:
    path = told(names)

    async with housed() as house:
        session = await (await house.memory()).session("run")
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                now = await session.context(budget, to="anthropic", preset=preset)
                bounded(now, budget)
                valid(now)
                assert takes(now.messages) == (not now.thinking_off), now.thinking_off
                assert "thinking off" in now.thinking_off or not now.thinking_off
                if budget == 200_000 and preset == "coding":
                    shown = {key for _, key, _ in shown_thoughts(now)}
                    assert shown == {key for each in path[:place] for key in keys(each)}, "no more is off than must be"
            await session.append(draft)


class Provider:
    """A model that thinks, whose thoughts are bound to just what stood before them."""

    def __init__(self, interleaved: bool) -> None:
        self.teller = Teller()
        self.interleaved = interleaved
        self.asked = self.without = 0

    def answer(self, messages: list[Message], *, thinking: bool, ends: bool) -> Message:
        """The next message; with thinking on, a list that breaks its rules is refused."""
        self.asked += 1
        self.without += not thinking
        if thinking:
            assert takes(messages), "400: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
            for place, message in enumerate(messages):
                content = message["content"]
                for block in content if isinstance(content, list) else []:
                    if block["type"] in THOUGHTS:
                        assert block["signature"] == prefix(messages[:place]), "400: prefix_binding_mismatch"
        content = []
        if thinking and (self.interleaved or loop_begins(messages) is None):
            thought = self.teller.words(20 + self.asked % 3 * 60)
            content.append({"type": "thinking", "thinking": thought, "signature": prefix(messages)})
        content.append({"type": "text", "text": f"I go on with {self.teller.mark()}."})
        if not ends:
            given = {"path": f"src/part_{self.asked}.py"}
            content.append({"type": "tool_use", "id": f"t{self.asked}", "name": "read", "input": given})
        return {"role": "assistant", "content": content}


@pytest.mark.parametrize("interleaved", [False, True])
@calm(3)
@given(
    budget=st.integers(400, 6_000),
    turns=st.lists(st.integers(1, 14), min_size=2, max_size=6),
    preset=presets,
    seat=st.booleans(),
)
async def test_a_model_that_binds_its_thoughts_refuses_no_call_of_a_loop_that_heeds_what_the_context_says(
    interleaved: bool, budget: int, turns: list[int], preset: str | Policy, seat: bool
) -> None:
    async with housed() as house:
        session = await (await house.memory()).session("run")
        provider = Provider(interleaved)
        history: list[Message] = []

        async def hear(message: Message) -> None:
            history.append(message)
            if seat:
                await session.append(list(history), format="anthropic", after="root")
            else:
                await session.append(message, format="anthropic")

        for turn, steps in enumerate(turns):
            await hear({"role": "user", "content": f"Please fix fault {turn}. {provider.teller.words(30)}"})
            for step in range(steps):
                now = await session.context(budget, to="anthropic", preset=preset)
                history[:] = now.messages
                reply = provider.answer(now.messages, thinking=not now.thinking_off, ends=step == steps - 1)
                await hear(reply)
                if step < steps - 1:
                    output = provider.teller.words(40 + step * 9)
                    result = {"type": "tool_result", "tool_use_id": f"t{provider.asked}", "content": output}
                    await hear({"role": "user", "content": [result]})
            assert step == 0 or provider.without < provider.asked
        assert len(await session.messages()) == sum(2 * steps for steps in turns)


@calm(4)
@given(names=histories, budget=budgets, rule=st.sampled_from(["turn", "none"]))
def test_the_caller_may_say_what_becomes_of_thinking(names: list[str], budget: int, rule: str) -> None:
    path = told(names)

    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                now = await session.context(budget, to="anthropic", thinking=rule)  # type: ignore[arg-type]
                bounded(now, budget)
                valid(now)
                check(now, rule)
            await session.append(draft)
        check(ireneo.compact(path, budget, to="anthropic", thinking=rule), rule)  # type: ignore[arg-type]

    def check(now: Context, rule: str) -> None:
        assert takes(now.messages) == (not now.thinking_off)
        thoughts = [kind for message in now.messages for kind in kinds(message) if kind in THOUGHTS]
        assert not thoughts or (rule == "turn" and not now.thinking_off)

    live_in("in memory", work)


def test_a_loop_of_thoughts_that_are_not_bound_is_kept_over_a_rebuild() -> None:
    teller = Teller()
    old = [*teller.tell(["ask", "work", "answer", "ask", "work", "answer"])]
    thought = Thinking(text="First the clock.", signature="signed", format="anthropic")
    ask, *_ = teller.tell(["ask"])
    call, result = teller.work("read", teller.words(20), path="src/clock.py")
    loop = [ask, ireneo.Draft(role="assistant", parts=(thought, *call.parts)), result, *teller.tell(["read"])]
    bound = ireneo.compact([*old, *loop], 1_500, to="anthropic")
    free = ireneo.compact([*old, *loop], 1_500, to="anthropic", thinking="turn")
    assert "thinking off" in bound.thinking_off
    assert not free.thinking_off
    signed = {"type": "thinking", "thinking": "First the clock.", "signature": "signed"}
    assert any(signed in message["content"] for message in free.messages if isinstance(message["content"], list))
    assert takes(free.messages)
    assert not takes(bound.messages)
