"""Of a context that comes back as history, with new messages behind it, what is new is stored and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo import Draft, Policy, Session, chat_format
from ireneo.log.message import BLOCK_TAGS, PAD_TAG, PINS_TAG, Text

from .invariants.houses import calm, housed
from .invariants.material import FORMATS, HASTY, TINY, Teller, scripts

presets = st.sampled_from(["coding", "forge", "scratchpad", "story", TINY, HASTY])
budgets = st.sampled_from([300, 700, 1_200, 2_500, 90_000]) | st.integers(300, 4_000)
ways = st.lists(st.sampled_from(["root", None]), min_size=1, max_size=9)
"""Where a list is appended, round by round: after the root, or behind what there is."""
notes = st.lists(st.sampled_from(["", "", "pin", "pad"]), min_size=1, max_size=7)
OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG, " · open with ")


def rounds(told: Sequence[Draft]) -> list[list[Draft]]:
    """The messages as an agent's loop brings them: each of the model's, and what comes back before its next."""
    out: list[list[Draft]] = [[]]
    waiting: set[str] = set()
    for draft in told:
        if draft.role == "assistant" and not waiting and out[-1]:
            out.append([])
        out[-1].append(draft)
        waiting |= {call.id for call in draft.calls if not call.server}
        waiting -= {result.call_id for result in draft.results}
    return out


def listed(name: str, drafts: Sequence[Draft]) -> list[dict[str, object]]:
    """The messages that say `drafts` to a provider, as they stand somewhere in a list."""
    asked = Draft(role="user", parts=(Text(text="Begin."),))
    return chat_format(name).encode([asked, *drafts]).messages[1:]


def as_provider_gives(history: list[dict[str, object]]) -> list[dict[str, object]]:
    """What comes back from a framework: equal, and not the same objects."""
    copied: list[dict[str, object]] = json.loads(json.dumps(history))
    return copied


async def paths(session: Session) -> tuple[list[str], str]:
    """The ids of the path, and all that is said on it."""
    messages = await session.messages()
    return [message.id for message in messages], "\n".join(str(message.parts) for message in messages)


@pytest.mark.parametrize("name", FORMATS)
@calm(3)
@given(names=scripts(max_size=6), budget=budgets, preset=presets, ways=ways, notes=notes)
async def test_a_loop_that_hands_back_each_context_keeps_the_log_that_it_would_have_kept_by_hand(
    name: str, names: list[str], budget: int, preset: str | Policy, ways: list[str | None], notes: list[str]
) -> None:
    # A loop goes on when its calls are answered; what a format puts in an answer's place is nobody's.
    told = Teller().tell(name for name in names if "unanswered" not in name)
    prompt = [draft for at, draft in enumerate(told) if all(each.role == "system" for each in told[: at + 1])]

    async with housed() as house:
        memory = await house.memory()
        by_hand, looped = await memory.session("by hand"), await memory.session("looped")
        for session in (by_hand, looped):
            await session.append(prompt)
        history: list[dict[str, object]] = []
        for turn, said in enumerate(rounds(told[len(prompt) :])):
            new = listed(name, said)
            if not new:
                continue  # A format may have no place for what says nothing.
            await by_hand.append(new, format=name)
            done = await looped.append(as_provider_gives([*history, *new]), format=name, after=ways[turn % len(ways)])
            assert not done.dropped
            ids, _ = await paths(by_hand)
            assert (await paths(looped))[0] == ids
            again = await looped.append(as_provider_gives([*history, *new]), format=name, after="root")
            assert again.new == 0
            note = notes[turn % len(notes)]
            if note == "pin" and ids:
                await looped.pin(f"Never break build {turn}.")
            elif note == "pad":
                await memory.scratchpad("looped").write(goal=f"Find fault {turn}")
            context = await looped.context(budget, to=name, preset=preset)
            if any(row.what == "left out" for row in context.view):
                return  # So little room that the past is told by nothing: then nothing tells where the list goes on.
            history = context.messages
        ids, words = await paths(looped)
        assert not any(mark in words for mark in OURS)
        assert set(await looped.branches()) <= {"main"}
        assert (await looped.prune(dry_run=True)).messages == 0, "nothing was abandoned"
