"""Thinking that was said to one scratchpad is not shown behind another, nor where there is none any more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ireneo import Context, Draft
from ireneo.adapters.in_memory import InMemoryStore

from .faults import BreakingStore, BrokenOffError, Fuse
from .houses import calm, housed, memory_over
from .promises import bounded, valid
from .test_04_thinking import (
    Watch,
    budgets,
    histories,
    is_prefix,
    keys,
    loops,
    shown_thoughts,
    spoken_to,
    told,
    written,
)

WRITES = st.lists(st.sampled_from(["", "", "", "", "first", "second", "third", "finish"]), min_size=1, max_size=40)


class PadWatch(Watch):
    """What has to hold where something before the newest turn may change at any time."""

    def look(self, length: int, now: Context, rebuilt: int) -> None:
        """Check that each thought stands behind just what it was said to, and none without the rest of its loop."""
        self.heard[length] = now
        shown = {key: (place, block) for place, key, block in shown_thoughts(now)}
        for key, (place, block) in shown.items():
            assert block == written(self.path[self.home[key]], key)
            said_to = self.heard[self.home[key]]
            assert now.messages[:place] == said_to.messages, f"what stands before {key} was changed"
        for loop in loops(self.path[:length]):
            thoughts = {key for place in loop for key in keys(self.path[place])}
            assert not thoughts & set(shown) or thoughts <= set(shown)


@calm(8)
@given(names=histories, budget=budgets | st.just(100_000), writes=WRITES)
async def test_no_thought_stands_behind_another_scratchpad_than_it_was_said_to(
    names: list[str], budget: int, writes: list[str]
) -> None:
    path = told(names)

    async with housed() as house:
        memory = await house.memory()
        session = await memory.session("run")
        watch = PadWatch(path)
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                write = writes[place % len(writes)]
                pad = memory.scratchpad("run")
                if write == "finish":
                    await pad.drop()
                elif write:
                    await pad.write(goal=f"The {write} understanding", plan=[f"[ ] step {place % 3}"])
                now = await session.context(budget, to="anthropic")
                bounded(now, budget)
                valid(now)
                watch.look(place, now, 0)
            await session.append(draft)


@calm(5)
@given(names=histories)
async def test_a_scratchpad_that_is_written_between_turns_leaves_the_running_loop_its_thinking(
    names: list[str],
) -> None:
    path = told(names)

    async with housed() as house:
        memory = await house.memory()
        session = await memory.session("run")
        before = None
        turns = 0
        for place, draft in enumerate(path):
            if spoken_to(path[:place], draft):
                turn = sum(each.role == "user" and each.origin == "spoken" and not each.joined for each in path[:place])
                if turn != turns:
                    await memory.scratchpad("run").write(goal=f"What turn {turn} asks for")
                now = await session.context(1_000_000, to="anthropic")
                if turn == turns and before is not None:
                    assert is_prefix(before, now), "nothing was written, and yet the beginning changed"
                    running = [loop for loop in loops(path[:place]) if loop[-1] >= last_words(path, place)]
                    wanted = {key for loop in running for each in loop for key in keys(path[each])}
                    assert wanted <= {key for _, key, _ in shown_thoughts(now)}
                before, turns = now, turn
            await session.append(draft)


async def test_a_scratchpad_of_a_context_that_failed_was_never_shown() -> None:
    fuse, inner = Fuse(), InMemoryStore()
    memory = memory_over(BreakingStore(inner, fuse))
    pad, session = memory.scratchpad("run"), await memory.session("run")
    await pad.write(goal="The first understanding")
    for names in (["instruct", "ask"], ["think and act"], ["think and act"]):
        await session.append(told(names))
        shown = await session.context(100_000, to="anthropic")
    thoughts = list(shown_thoughts(shown))
    assert thoughts
    for at in range(200):
        await pad.write(goal="The second understanding")
        fuse.set(at)
        try:
            await session.context(100_000, to="anthropic")
        except BrokenOffError:
            fuse.set(None)
        else:
            break
        await pad.write(goal="The first understanding")
        assert list(shown_thoughts(await session.context(100_000, to="anthropic"))) == thoughts, f"failed at {at}"
    assert at > 10


def last_words(path: list[Draft], end: int) -> int:
    """The place of the user's newest words before `end`."""
    spoken = (
        place
        for place in reversed(range(end))
        if path[place].role == "user" and path[place].origin == "spoken" and not path[place].joined
    )
    return next(spoken, 0)
