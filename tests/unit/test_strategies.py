"""A strategy of a user's own: it says what blocks say, and every promise of a context holds all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

import ireneo
from ireneo.types import Line, Section, SectionStyle, StorySettings, StoryStrategy, Strategy, WorkStrategy

Messages = Sequence[ireneo.Message]
RULE = "Never touch the harbour files."


def headline(message: ireneo.Message) -> Line:
    return Line(text=" ".join(message.text.split()[:5]), position=message.position, sources=(message.id,))


class Headlines:
    """Whatever was said, in its first words; nothing of it is ours."""

    name = "headlines-1"

    def ends(self, stretch: Sequence[tuple[ireneo.Message, ...]], following: tuple[ireneo.Message, ...]) -> bool:
        return len(stretch) >= 4

    def leaf(self, messages: Messages, goal: str, *, ends_turn: bool) -> Sequence[Section]:
        said = [message for message in messages if message.text]
        lines = [
            Line(text=" ".join(each.text.split()[:5]), position=each.position, sources=(each.id,)) for each in said
        ]
        return [Section(name="headlines", lines=tuple(lines))]

    def roll_up(self, parts: Sequence[ireneo.Summary | ireneo.Message], *, turns: bool = False) -> Sequence[Section]:
        below = [line for part in parts if isinstance(part, ireneo.Summary) for line in part.lines("headlines")]
        return [Section(name="headlines", lines=tuple(below[-12:]))]

    def sections(self, level: str) -> Mapping[str, SectionStyle]:
        return {"headlines": SectionStyle("## Headlines")}

    def worth(self, section: str) -> float:
        return 20.0

    def say(self, section: str, line: Line, names: Sequence[str]) -> str:
        return f"- {line.text}"


class Shouted(StoryStrategy):
    """A story in capitals."""

    name = "shouted-1"

    def leaf(self, messages: Messages, goal: str = "", *, ends_turn: bool = False) -> Sequence[Section]:
        lines = [Line(text=each.text.upper(), position=each.position, sources=(each.id,)) for each in messages[:3]]
        return [Section(name="story", lines=tuple(lines))]


POLICY = ireneo.Policy(name="headlines", strategy=Headlines())


def work(turns: int) -> list[dict[str, object]]:
    """Turns of an agent's work, the first of which says what it must not do."""
    out: list[dict[str, object]] = [{"role": "system", "content": "You keep the tide tables."}]
    for turn in range(turns):
        out.append({"role": "user", "content": f"Look after page {turn}. {RULE if not turn else ''}".strip()})
        for step in range(6):
            call = {"name": "bash", "arguments": f'{{"command": "tide --page {turn} --step {step}"}}'}
            calls = [{"id": f"c{turn}-{step}", "type": "function", "function": call}]
            out.append({"role": "assistant", "content": f"Step {step} of page {turn} comes now.", "tool_calls": calls})
            out.append(
                {"role": "tool", "tool_call_id": f"c{turn}-{step}", "content": f"page {turn}: " + "low water " * 60}
            )
        out.append({"role": "assistant", "content": f"Page {turn} is done."})
    return out


def covered(context: ireneo.Context) -> int:
    return sum(row.covers for row in context.view)


def test_a_strategy_of_ones_own_is_one() -> None:
    strategies: list[Strategy] = [Headlines(), WorkStrategy(), StoryStrategy(StorySettings()), Shouted(StorySettings())]
    assert len({each.name for each in strategies}) == 4


@pytest.mark.parametrize("budget", [400, 1_200, 3_000])
def test_each_message_stands_once_and_the_budget_is_kept(budget: int) -> None:
    messages = work(9)
    context = ireneo.compact(messages, budget, preset=POLICY)
    assert covered(context) == len(messages)
    assert context.tokens <= budget
    assert not context.violations
    told = [row.text for row in context.view if row.what == "summary"]
    assert told
    assert all("## Strategy" not in text and "## Critical Artifacts" not in text for text in told)


async def test_it_says_what_blocks_say_and_a_store_shows_what_a_list_shows(tmp_path: Path) -> None:
    messages = work(9)
    async with ireneo.open(tmp_path / "memory.db", preset=POLICY) as memory:
        session = await memory.session("run")
        for place in range(0, len(messages), 25):
            await session.append(messages[place : place + 25])
            await session.context(1_500)
        stored = await session.context(1_500, rebuild=True)
        ours = await session.context(1_500, preset="coding")
    listed = ireneo.compact(messages, 1_500, preset=POLICY)
    assert any("## Headlines\n- Step" in row.text for row in stored.view)
    assert covered(stored) == covered(listed) == len(messages)
    assert not any("## Headlines" in row.text for row in ours.view), "each has summaries of its own"


def test_what_binds_is_carried_whatever_a_strategy_says() -> None:
    context = ireneo.compact(work(14), 900, preset=POLICY)
    shown = [*(row.text for row in context.pins), *(row.text for row in context.view)]
    assert any(RULE in text for text in shown)


async def test_a_context_with_such_blocks_is_known_when_it_comes_back() -> None:
    async with ireneo.open(":memory:", preset=POLICY) as memory:
        session = await memory.session("run")
        messages = work(8)
        await session.append(messages)
        context = await session.context(1_500)
        assert any(row.what == "summary" for row in context.view)
        before = len(await session.messages())
        await session.append([*context.messages, {"role": "user", "content": "And now page 99."}])
        assert len(await session.messages()) == before + 1


async def test_no_model_is_asked_to_write_what_it_says() -> None:
    async with ireneo.open(":memory:", preset=POLICY, model="openai:none") as memory:
        session = await memory.session("run")
        await session.append(work(8))
        assert await session.due(1_500) == 0


def test_a_story_is_told_by_one_as_well() -> None:
    settings = StorySettings(leaf_messages=6, live_messages=4)
    policy = ireneo.Policy(name="shouted", story=settings, strategy=Shouted(settings), live_share=0.4)
    messages = [
        {"role": "user" if number % 2 else "assistant", "content": f"Nessa mends net {number} at the pier."}
        for number in range(60)
    ]
    context = ireneo.compact(messages, 600, preset=policy)
    assert covered(context) == len(messages)
    assert any("NESSA MENDS NET" in row.text for row in context.view)


class Forgetful(WorkStrategy):
    name = "forgetful"

    def leaf(self, messages: Messages, goal: str, *, ends_turn: bool) -> Sequence[Section]:
        return cast("list[Section]", self.told(messages))

    def told(self, messages: Messages) -> object:
        return [Section(name="rhymes", lines=(Line(text="- Moon", position=messages[0].position),))]


class Silent(Forgetful):
    def told(self, messages: Messages) -> object:
        return None


@pytest.mark.parametrize(
    ("strategy", "why"),
    [
        (Forgetful(), "wrote a section 'rhymes' that its `sections` lists at no level"),
        (Silent(), "has to return a list of `Section`; it returned None"),
    ],
)
def test_what_a_strategy_tells_has_to_be_shown_somewhere(strategy: WorkStrategy, why: str) -> None:
    said = [{"role": role, "content": f"{role} speaks of the harbour. " * 40} for role in ("user", "assistant") * 12]
    with pytest.raises(ireneo.BadInput, match=why):
        ireneo.compact(said, budget=600, preset=ireneo.Policy(name="own", strategy=strategy))
