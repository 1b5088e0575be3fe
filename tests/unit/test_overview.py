"""The overview of a story: when it is asked for, shown, written anew and taken away."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.databases import in_memory
from tests.folders import folder_of_process
from tests.progress import progress_of
from tests.story_parts import replied, shown

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.encode import Context
from ireneo.engine.memory import Memory
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.engine.session import Session
from ireneo.engine.story_writing import story_text
from ireneo.errors import ModelRefused
from ireneo.log.message import Draft, Text
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.ports.models import Prompt
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.overview import (
    asked_budget,
    is_current,
    is_narrow,
    is_near,
    notes_within,
    overview_summarizer,
    shown_overview,
)
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.summary import Summary
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

KEY = SessionKey("work", "story")
POLICY = Policy(name="small", story=StorySettings(leaf_messages=4, fan_in=2, limit=2, live_messages=2), live_share=0.3)
LEAVES = 32
NARROW, WIDE = 850, 3_400
PROMPT = "story-overview-1"
_TOLD = re.compile(r"On day \d+ [A-Z]\w+ carried the \w+ to [A-Z]\w+[^.]*\.")
PEOPLE = ("Vera", "Holm", "Tam", "Mira", "Quint", "Anselm", "Bodo", "Clara", "Dietrich")
THINGS = ("boat", "lamp", "letter", "ring", "ladder", "kettle", "pistol")
PLACES = ("Easterby", "Marrow", "Dunmere", "Wexcombe")


def told(day: int) -> str:
    """The sentence that tells a leaf."""
    who, what, where = PEOPLE[day % 9], THINGS[day % 7], PLACES[day % 4]
    return f"On day {day} {who} carried the {what} to {where} and hid it behind the mill before the tide came in."


def drafts(first: int, leaves: int) -> list[Draft]:
    """The messages of so many leaves."""
    idle = "The wind was loud over the harbour, and nobody who stood there said a word about it to anybody. " * 2
    lines = [line for day in range(first, first + leaves) for line in (told(day), idle, idle, idle)]
    return [Draft(role="user", parts=(Text(text=line, author="Narrator"),)) for line in lines]


def honest(prompt: Prompt) -> Scripted:
    """Every day that is shown, as far as the words that are asked for go."""

    def text(messages: str) -> dict[str, object]:
        return {"text": " ".join(f"{line} [7]" for line in _TOLD.findall(messages)), "names": ["Vera"]}

    return text(prompt.user) if prompt.name == PROMPT else replied(prompt, text)


class Tale:
    """A told story, and a model whose answers a test may change."""

    def __init__(self, store: Store | None = None, policy: Policy = POLICY) -> None:
        self.store, self.clock = store or InMemoryStore(), ManualClock()
        self.answer: Callable[[Prompt], Scripted] = honest
        self.model = ScriptedLLM(lambda prompt: self.answer(prompt))
        self.policy = policy
        self.session: Session

    def memory(self, *, models: bool = True) -> Memory:
        resources = Resources(
            store=self.store,
            count=lambda text: len(text) // 4 + 1,
            clock=self.clock,
            models=Models.of(self.model) if models else Models(),
            preset=self.policy,
        )
        return Memory(resources, KEY.space)

    async def begin(self) -> None:
        await self.go_on()
        await self.tell(LEAVES)

    async def go_on(self) -> None:
        self.session = await self.memory().session(KEY.session)

    async def tell(self, leaves: int, first: int = 0) -> None:
        await self.session.append(drafts(first, leaves))

    @property
    def overviews_asked(self) -> list[Prompt]:
        return [prompt for prompt in self.model.prompts if prompt.name == PROMPT]

    async def stored(self) -> list[Summary]:
        def look(tx: Transaction) -> list[Summary]:
            found = tx.summaries.get(KEY, tx.upkeep.summaries(KEY))
            return [each for each in found if asked_budget(each.summarizer)]

        return await self.store.read(look)

    async def work(self) -> list[str]:
        done = await progress_of(self.memory().work, until_idle=True, preset=self.policy)
        return [each.id for each in done if each.did == "written" and each.depth == 0]


@cache
def told_for(budget: int) -> tuple[Path, list[Prompt]]:
    """The file of a story that was told for contexts of a budget, and what the model was asked."""
    file = folder_of_process("ireneo-new-") / "story.db"

    async def tell() -> list[Prompt]:
        store = await open_sqlite(file, durability="normal")
        story = Tale(store)
        await story.begin()
        await story.session.summarise(budget)
        await store.close()
        return story.model.prompts

    return file, asyncio.run(tell())


def on_a_copy(test: Callable[[Tale], Awaitable[None]], budget: int = NARROW) -> None:
    """Run a test over a copy of the story that was told for contexts of a budget, since telling takes far longer."""
    file, prompts = told_for(budget)

    async def main() -> None:
        story = Tale(in_memory(file))
        story.model.prompts.extend(prompts)
        await story.go_on()
        async with asyncio.timeout(60):
            await test(story)

    asyncio.run(main())


def tale(test: Callable[[Tale], Awaitable[None]]) -> Callable[[], None]:
    """Run a test over a story that was told for narrow contexts."""

    def run() -> None:
        on_a_copy(test)

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def is_overview(context: Context) -> bool:
    """Whether one block of no depth tells most of what is summarised."""
    return any(row.what == "summary" and row.depth == 0 and row.covers > 4 * 16 for row in context.view)


def whole(context: Context, messages: int) -> None:
    """Every message stands once, and the budget holds."""
    assert sum(row.covers for row in context.view) == messages
    assert context.tokens <= context.budget
    assert context.violations == ()


# The rule.


def node(first: int, leaves: int, tokens: int = 1_000) -> Summary:
    return Summary(
        id="s_1",  # type: ignore[arg-type]
        level="story",
        depth=1,
        first=f"m_{first}",  # type: ignore[arg-type]
        last=f"m_{first + 4 * leaves - 1}",  # type: ignore[arg-type]
        first_position=first,
        last_position=first + 4 * leaves - 1,
        summarizer="offline-1/story/4-20000-4",
        source_tokens=tokens * leaves,
        leaves=leaves,
    )


def overview(leaves: int, budget: int, disputes: Sequence[str] = ()) -> Summary:
    from ireneo.summaries.summary import Line, Section, Writing

    writing = Writing(prompt=PROMPT, model="m", tokens_in=1, tokens_out=1, supported=1, disputes=tuple(disputes))
    told = (Section(name="story", lines=(Line(text="Vera Lund rowed to the mill. " * (budget // 14)),)),)
    return replace(node(0, leaves), summarizer=overview_summarizer("x", budget), writing=writing, sections=told)


def test_it_is_for_contexts_that_are_narrow_against_the_texts_of_all_leaves() -> None:
    row = [node(0, 64), node(256, 16)]
    assert is_narrow(row, 6_000)
    assert not is_narrow(row, 6_001)
    assert is_narrow([node(0, 640)], 12_500)
    assert not is_narrow([node(0, 640)], 12_501), "what no reply fills"
    assert not is_narrow([], 1_000)
    assert not is_narrow([node(0, 80, tokens=10)], 1_000), "what is short has short texts"


def test_it_serves_the_budget_that_it_was_written_for_and_those_near_it() -> None:
    near = [is_near(3_000, budget) for budget in (2_200, 2_250, 3_000, 4_000, 4_001)]
    assert near == [False, True, True, True, False]
    name = overview_summarizer("story-1/third/offline-1/story/150-20000-4/as/Vera", 3_000)
    assert asked_budget(f"{name}/0123456789ab") == 3_000
    assert asked_budget("story-1/third/offline-1/story/150-20000-4") == 0


def test_the_newest_of_those_that_fit_is_shown() -> None:
    row = [node(0, 64), node(256, 16)]
    found = [overview(40, 2_000), overview(60, 1_900), overview(60, 2_000), overview(81, 2_000), overview(70, 4_000)]
    assert shown_overview(found, row, 2_000, ()) is found[2]
    assert shown_overview(found, row, 9_000, ()) is None
    assert shown_overview([replace(found[0], first="m_other")], row, 2_000, ()) is None  # type: ignore[arg-type]
    brief = replace(found[2], sections=overview(60, 1_400).sections)
    assert shown_overview([found[0], brief], row, 2_000, ()) is found[0], "what came out too short"


def test_what_is_disputed_within_it_makes_it_out_of_date() -> None:
    row = [node(0, 80)]
    note = Annotation(
        id=AnnotationId("d_1"), kind="dispute", at=row[0].last, at_position=7, text="No.", about="story a b"
    )
    old, new = overview(80, 2_000), overview(80, 2_000, ["d_1"])
    assert [each.id for each in notes_within(old, [note])] == ["d_1"]
    assert (is_current(old, row, [note]), is_current(new, row, [note])) == (False, True)
    assert shown_overview([old, new], row, 2_000, [note]) is new
    assert notes_within(old, [replace(note, at_position=320)]) == []


def test_it_is_written_anew_when_the_story_has_grown_by_a_quarter() -> None:
    old = overview(64, 2_000)
    assert is_current(old, [node(0, 64), node(256, 15)], ())
    assert not is_current(old, [node(0, 64), node(256, 16)], ())


# What is asked for and shown.


@tale
async def test_a_narrow_context_shows_it_and_a_wide_one_does_not(story: Tale) -> None:
    assert len(story.overviews_asked) == 1
    assert await story.session.due(NARROW) == 0
    narrow, wide = await story.session.context(NARROW), await story.session.context(WIDE)
    whole(narrow, 4 * LEAVES)
    whole(wide, 4 * LEAVES)
    assert is_overview(narrow)
    assert not is_overview(wide)
    await story.session.summarise(WIDE)
    assert await story.session.due(1_100) == 0, "a near budget is served by the same one"
    assert is_overview(await story.session.context(1_100))
    assert len(story.overviews_asked) == 1


@tale
async def test_it_is_asked_to_fill_the_room_and_does(story: Tale) -> None:
    (prompt,) = story.overviews_asked
    found = re.search(r"about ([\d,]+) characters \(([\d,]+) words", prompt.user)
    assert found is not None
    characters = int(found[1].replace(",", ""))
    assert 0.6 * NARROW < characters / 4 < 0.95 * NARROW
    assert [day for day in range(LEAVES - 1) if told(day) not in prompt.user] == []
    context = await story.session.context(NARROW)
    (block,) = [row for row in context.view if row.what == "summary" and row.covers > 80]
    assert 0.9 * characters / 4 < block.tokens <= NARROW


@tale
async def test_what_came_after_it_is_shown_by_the_usual_blocks_until_it_is_written_anew(story: Tale) -> None:
    await story.tell(6, LEAVES)
    assert [each.depth for each in (await story.session.summarise(NARROW)).summaries if each.depth == 0] == []
    context = await story.session.context(NARROW)
    whole(context, 4 * (LEAVES + 6))
    assert is_overview(context)
    assert len([row for row in context.view if row.what == "summary"]) > 1
    assert told(LEAVES + 2)[:30] in str(context.messages)
    await story.tell(8, LEAVES + 6)
    await story.session.summarise(NARROW)
    assert len(story.overviews_asked) == 2
    later = await story.session.context(NARROW)
    whole(later, 4 * (LEAVES + 14))
    assert max(row.covers for row in later.view) > max(row.covers for row in context.view)


@tale
async def test_it_follows_the_path(story: Tale) -> None:
    path = await story.session.messages()
    early = await story.session.fork("early", at=path[4 * (LEAVES - 10)].id)
    late = await story.session.fork("late")
    await early.append(drafts(500, 1))
    await late.append(drafts(600, 1))
    assert is_overview(await late.context(NARROW))
    shown_early = await early.context(NARROW)
    whole(shown_early, 4 * (LEAVES - 9) + 1)
    assert not is_overview(shown_early)
    assert told(LEAVES - 5)[:12] not in str(shown_early.messages)
    await story.session.rewind(path[4 * LEAVES - 30].id)
    assert not is_overview(await story.session.context(NARROW))


@tale
async def test_it_opens_to_what_it_stands_for(story: Tale) -> None:
    context = await story.session.context(NARROW)
    (block,) = [row for row in context.view if row.what == "summary" and row.covers > 80]
    opened = await story.session.expand(block.id)
    assert opened.summary is not None
    assert (opened.parts[0].first, opened.parts[-1].last) == (opened.summary.first, opened.summary.last)
    assert 1 < len(opened.parts) < 20
    assert sum(part.messages for part in opened.parts) == opened.summary.messages == block.covers
    tree = await story.session.tree()
    assert [(node.id, node.messages, node.model) for node in tree.overviews] == [(block.id, block.covers, "scripted")]
    assert all(node.depth > 0 for node in tree.nodes)
    assert told(3) in tree.overviews[0].text


@tale
async def test_a_dispute_of_what_it_tells_hides_it_until_it_is_written_again(story: Tale) -> None:
    def leaf(tx: Transaction) -> Summary:
        found = tx.summaries.get(KEY, tx.upkeep.summaries(KEY))
        return next(each for each in found if each.depth == 1 and each.writing is None)

    await story.session.dispute((await story.store.read(leaf)).id, "It was the other mill.")
    assert not is_overview(await story.session.context(NARROW))
    assert await story.session.due(NARROW) == 2
    await story.session.summarise(NARROW)
    assert "It was the other mill." in story.overviews_asked[-1].user
    assert is_overview(await story.session.context(NARROW))
    assert await story.session.due(NARROW) == 0


@tale
async def test_what_is_written_by_hand_of_a_part_is_shown_in_it(story: Tale) -> None:
    def leaf(tx: Transaction) -> Summary:
        found = tx.summaries.get(KEY, tx.upkeep.summaries(KEY))
        return next(each for each in found if each.depth == 1 and each.first_position == 40)

    await story.session.edit((await story.store.read(leaf)).id, "Vera sold the boat.")
    context = await story.session.context(NARROW)
    assert not is_overview(context), "it tells the old words"
    await story.session.summarise(NARROW)
    context = await story.session.context(NARROW)
    assert is_overview(context)
    assert "Vera sold the boat." in story.overviews_asked[-1].user
    assert "Vera sold the boat." in str(context.messages)
    assert told(10)[:20] not in story.overviews_asked[-1].user
    (block,) = [row for row in context.view if row.what == "summary" and row.covers > 80]
    await story.session.edit(block.id, "All of it was a dream of Vera.")
    assert "All of it was a dream of Vera." in str((await story.session.context(NARROW)).messages)
    assert await story.session.due(NARROW) == 0


@tale
async def test_what_is_erased_takes_it_away(story: Tale) -> None:
    path = await story.session.messages()
    await story.memory().forget(message=path[40].id)
    assert await story.stored() == []
    assert told(10)[:20] not in str((await story.session.context(NARROW)).messages)


@tale
async def test_it_is_pruned_with_its_end(story: Tale) -> None:
    path = await story.session.messages()
    await story.session.rewind(path[80].id)
    await story.session.prune()
    assert await story.stored() == []


async def test_cleaning_a_secret_takes_it_away() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    story = Tale()
    story.session = await story.memory().session(KEY.session)
    begun = drafts(0, 10)
    spoken = Draft(role="user", parts=(Text(text=f"Her password is {secret}", author="Narrator"),))
    await story.session.append([*begun[:20], spoken, *begun[20:], *drafts(10, LEAVES - 10)])
    await story.session.summarise(NARROW)
    assert len(await story.stored()) == 1
    await story.memory().secrets(repair=True)
    path = await story.session.messages()
    kept = await story.stored()
    assert all(each.last in {message.id for message in path} for each in kept)
    assert secret not in str(kept)


# What a model says.


def lies(prompt: Prompt) -> Scripted:
    if prompt.name != PROMPT:
        return honest(prompt)
    text = " ".join(f"{line} [7]" for line in _TOLD.findall(prompt.user))
    return {"text": f"{text} Zarkon left. [10]", "names": ["Zarkon", "Vera"]}


def test_what_no_leaf_shows_is_struck_of_it() -> None:
    async def test(story: Tale) -> None:
        story.answer = lies
        await story.session.summarise(NARROW)
        (text,) = await story.stored()
        assert text.writing is not None
        assert (text.writing.struck, text.writing.repaired) == (1, False), "a sentence is no reason to ask again"
        assert "Zarkon" not in str(text)
        assert len(story_text(text)) > 800
        assert "Zarkon" not in str((await story.session.context(NARROW)).messages)

    on_a_copy(test, WIDE)


@pytest.mark.parametrize(
    "answer",
    [
        ModelRefused("It was refused."),
        "<html>502 Bad Gateway</html>",
        {"text": "Error: 529 Overloaded", "names": []},
        {"text": "Zarkon burned Wexcombe in 1777. Zarkon sank Quorl in 1778.", "names": ["Zarkon"]},
        {"text": "", "names": []},
    ],
)
def test_a_model_that_fails_changes_nothing(answer: Scripted) -> None:
    async def test(story: Tale) -> None:
        before = await story.session.context(NARROW)
        story.answer = lambda prompt: answer if prompt.name == PROMPT else honest(prompt)
        await story.session.summarise(NARROW)
        assert story.overviews_asked
        asked = len(story.overviews_asked)
        assert (await story.session.context(NARROW)).messages == before.messages
        await story.session.summarise(NARROW)
        assert len(story.overviews_asked) == asked, "it is not asked for again at once"

    on_a_copy(test, WIDE)


# Behind the conversation.


async def test_work_writes_it_once_a_context_lacked_it() -> None:
    story = Tale()
    await story.begin()
    assert await story.work() == [], "nobody asked for a narrow context yet"
    for budget in (NARROW, NARROW + 80, NARROW):
        assert not is_overview(await story.session.context(budget))
    marks = await story.store.read(lambda tx: tx.rebuilds.of_session(KEY))
    assert [mark.budget_tokens for mark in marks] == [NARROW]
    assert len(await story.work()) == 1
    assert is_overview(await story.session.context(NARROW))
    assert await story.work() == []
    await story.tell(16, LEAVES)
    assert len(await story.work()) == 1, "it is renewed unasked"


async def test_without_a_model_nothing_is_noted() -> None:
    story = Tale()
    session = await story.memory(models=False).session(KEY.session)
    await session.append(drafts(0, LEAVES))
    await session.catch_up()
    await session.context(NARROW)
    assert await story.store.read(lambda tx: tx.rebuilds.of_session(KEY)) == []


async def test_a_character_has_an_overview_of_what_she_heard() -> None:
    story = Tale(policy=POLICY.seen("Vera"))
    await story.begin()
    spoken = [Draft(role="user", parts=(Text(text="I was there.", author="Vera"),))]
    await story.session.append(spoken)
    await story.session.summarise(NARROW)
    prompt = story.overviews_asked[0]
    assert "“I” is Vera" in prompt.system
    assert shown(prompt) == {0: ""}
    context = await story.session.context(NARROW)
    assert context.tokens <= NARROW


async def test_it_is_written_where_a_deeper_summary_of_another_branch_ends_in_another_place() -> None:
    # The leaf before the fork ends with its last message on the one branch, and a message later on the other.
    story = Tale()
    await story.go_on()
    await story.tell(24)
    other = await story.session.fork("other")
    await other.append(drafts(24, 4))
    await story.session.append([Draft(role="assistant", parts=(Text(text="Nobody knew why."),))])
    await story.tell(2, 24)
    await other.catch_up()
    await story.session.summarise(NARROW)
    assert is_overview(await story.session.context(NARROW))
