"""The scratchpad in a context, and the preset that sends it with the last turns alone."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest
from tests.property.invariants.houses import housed
from tests.property.invariants.material import FORMATS, Teller
from tests.property.invariants.promises import bounded, exactly_once, recount, strings, valid

import ireneo
from ireneo import Context, Memory, Policy, chat_format
from ireneo.log.message import opens_turn
from ireneo.summaries.policy import CODING, preset

WORK = ["instruct", "ask", "work", "answer", "ask", "work", "answer", "ask", "work", "answer"]
STEPS = [f"[ ] take step {number} of the plan" for number in range(8)]


@pytest.fixture
async def memory() -> AsyncIterator[Memory]:
    async with housed("in memory") as house:
        yield await house.memory()


def sent(context: Context) -> str:
    return "\n".join(strings([context.system, context.messages]))


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("preset", ["coding", "forge", "story", "scratchpad"])
async def test_it_stands_once_right_before_the_newest_words_of_the_user(memory: Memory, to: str, preset: str) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell([*WORK, "ask", "read", "edit"]))
    await memory.scratchpad("run").write(goal="Find the leak", plan=["[x] look", "[ ] mend"])
    path = await session.messages()
    newest = next(message for message in reversed(path) if message.opens_turn)
    for budget in (2_500, 6_000, 100_000):
        context = await session.context(budget, to=to, preset=preset)
        bounded(context, budget)
        valid(context)
        text = sent(context)
        assert text.count("[SCRATCHPAD]") == 1
        assert context.pad is not None
        assert context.pad.text in text
        assert "Find the leak" in context.pad.text
        # Between the two stands at the most what a format needs to tell two messages apart.
        assert 0 <= text.index(newest.text) - text.index("[/SCRATCHPAD]") - len("[/SCRATCHPAD]") <= 2


@pytest.mark.parametrize("to", FORMATS)
async def test_when_it_is_rewritten_all_that_stands_before_it_stays(memory: Memory, to: str) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell([*WORK, "ask", "read"]))
    await memory.scratchpad("run").write(goal="Find the leak")
    before = await session.context(6_000, to=to)
    await memory.scratchpad("run").write(goal="Mend the leak", facts=["It is in the reader."])
    after = await session.context(6_000, to=to)
    pad = next(place for place, one in enumerate(before.messages) if "[SCRATCHPAD]" in "".join(strings(one)))
    assert pad > len(before.messages) // 2
    assert after.messages[:pad] == before.messages[:pad]
    assert "Mend the leak" in "".join(strings(after.messages[pad]))
    assert after.messages[pad + 1 :] == before.messages[pad + 1 :]


@pytest.mark.parametrize("to", FORMATS)
async def test_in_a_list_that_comes_back_it_is_nobodys_words(memory: Memory, to: str) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell(["ask", "read", "answer", "ask"]))
    await memory.scratchpad("run").write(goal="Find phantom_4711")
    context = await session.context(50_000, to=to)
    back = chat_format(to).decode(context.messages)
    assert sum(opens_turn(draft) for draft in back) == 2
    again = await memory.session("again")
    await again.append(back)
    for words in await again.pins():
        assert "phantom" not in words.text
    small = ireneo.compact(context.messages, 256, to=to)
    assert small.violations == ()


async def test_another_task_may_be_named_and_another_space_has_none(memory: Memory) -> None:
    await memory.scratchpad("leak").write(goal="Find the leak")
    session = await memory.session("run", task="leak")
    await session.append(Teller().tell(["ask"]))
    assert (await session.context(5_000)).pad is not None
    assert (await (await session.fork("side")).context(5_000)).pad is not None
    assert (await (await memory.session("run")).context(5_000)).pad is None
    await memory.scratchpad("leak").drop()
    assert (await session.context(5_000)).pad is None


@pytest.mark.parametrize("budget", [256, 300, 400, 700])
async def test_in_a_narrow_context_it_is_shortened_or_left_away(memory: Memory, budget: int) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell(WORK))
    await memory.scratchpad("run").write(goal="Find the leak", plan=STEPS, facts=["It leaks at night. " * 10])
    for name in ("coding", "story", "scratchpad"):
        context = await session.context(budget, preset=name)
        bounded(context, budget)
        valid(context)
        if context.pad is not None:
            assert "Find the leak" in context.pad.text
            assert budget == 700 or "no room here" in context.pad.text


async def test_the_preset_sends_pins_scratchpad_and_the_last_turns_alone(memory: Memory) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell([*WORK * 2, "ask", "read", "edit", "answer", "ask", "read"]))
    await session.pin("Never touch the generated files.")
    await session.append(Teller("other").tell(["ask", "read", "answer", "ask", "read", "answer", "ask"]))
    await memory.scratchpad("run").write(goal="Find the leak", plan=STEPS)
    path = await session.messages()
    context = await session.context(3_000, preset="scratchpad")
    exactly_once(context, path)
    whats = [row.what for row in context.view]
    assert whats.count("left out") == 1
    assert "summary" not in whats
    place = whats.index("left out")
    assert all(path[at].role == "system" for at in range(place))
    assert whats[place + 1 :] == ["message"] * (len(whats) - place - 1)
    first = next(message for message in path if message.id == context.view[place + 1].id)
    assert first.opens_turn, "a turn is shown whole or not at all"
    assert "Never touch the generated files." in sent(context)
    assert "Always run make test" in sent(context), "what binds is carried, though its message is left out"
    assert recount(context) > 1_000


async def test_a_turn_that_is_too_large_shows_its_request_and_its_newest_work(memory: Memory) -> None:
    session = await memory.session("run")
    await session.append(Teller().tell(["instruct", "ask", "work", "answer", "ask", "work on"]))
    path = await session.messages()
    request = next(message for message in reversed(path) if message.opens_turn)
    context = await session.context(2_000, preset="scratchpad")
    exactly_once(context, path)
    bounded(context, 2_000)
    valid(context)
    assert [row.what for row in context.view].count("left out") == 2
    assert request.id in [row.id for row in context.view]
    assert context.view[-1].id == path[-1].id


async def test_the_last_turns_move_seldom(memory: Memory) -> None:
    session = await memory.session("run")
    teller = Teller()
    await session.append(teller.tell(["instruct"]))
    starts = []
    for number in range(40):
        await session.append(teller.tell(["ask", "read", "answer"]))
        await memory.scratchpad("run").write(goal=f"Step {number}", plan=STEPS[: number % 8])
        context = await session.context(4_000, preset="scratchpad")
        starts.append(next((row.last for row in context.view if row.what == "left out"), ""))
    moves = sum(one != other for one, other in itertools.pairwise(starts))
    turns = len(set(starts))
    assert 2 <= moves <= 13, f"{moves} moves in 40 turns"
    assert turns == moves + 1, "it went back to where it was before"


def test_without_a_store_it_cuts_as_well() -> None:
    drafts = Teller().tell(WORK)
    context = ireneo.compact(chat_format("openai").encode(drafts), 1_500, preset="scratchpad")
    assert [row.what for row in context.view].count("left out") >= 1
    assert context.violations == ()
    assert context.pad is None


def test_its_summaries_are_those_of_the_agents_work() -> None:
    assert preset("scratchpad").summarizer == CODING.summarizer
    assert Policy(name="other", cuts=True).without("plan").summarizer == CODING.without("plan").summarizer
