"""The context of a story, put together from what there is of it: within any budget, and steady from one to the next."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.examples import times
from tests.property.invariants.houses import calm, memory_over
from tests.property.invariants.promises import TOKENS
from tests.property.stories.checks import each_stands_once
from tests.property.stories.material import SMALL, TINY_STORY, Storyteller, formats, says, stories

import ireneo
import ireneo.sync
from ireneo import Policy
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.context.story import StoryTextCache, compose_story
from ireneo.context.view import ContextOptions
from ireneo.engine.encode import view_rows
from ireneo.log.message import Message, Text, chain, count_parts
from ireneo.summaries.policy import preset
from ireneo.summaries.speech import narrators
from ireneo.summaries.story_path import StoryPath, StoryState
from ireneo.summaries.summary import ListReader

LOOKS = times(42)


def grown(pieces: list[str], most: int, policy: Policy = TINY_STORY) -> tuple[StoryState, list[Message]]:
    """A story in a list, of which at most so many leaves are written."""
    path = chain(None, Storyteller().tell(pieces), lambda parts: count_parts(parts, TOKENS.count))
    return StoryPath(ListReader(path), policy).grow(most), path


@calm(20)
@given(
    pieces=stories(max_size=12),
    most=st.integers(0, 40),
    budget=st.sampled_from((20, 60, 127, 128, 200, 256, 300)) | st.integers(256, 5_000),
    prompted=st.booleans(),
)
def test_every_message_stands_once_however_narrow_it_is(
    pieces: list[str], most: int, budget: int, prompted: bool
) -> None:
    found, path = grown([*(["instruct"] if prompted else []), *pieces], most)
    terms = ContextOptions(budget=budget, policy=TINY_STORY, count=TOKENS.count)

    composed = compose_story(found, terms, StoryTextCache(terms.count))
    rows = view_rows(composed.shown)
    shown = ireneo.compact([{"role": "user", "content": "x"}], 256)
    each_stands_once(replace(shown, view=rows, behind=len(path)), path)


@calm(14)
@given(pieces=stories(max_size=14), budget=st.integers(256, 3_000), to=formats)
def test_a_compacted_story_is_within_its_budget(pieces: list[str], budget: int, to: str) -> None:
    payload = ireneo.chat_format("openai").encode(Storyteller().tell(["chat", *pieces]))
    context = ireneo.compact(payload, budget, to=to, preset=TINY_STORY)
    assert context.tokens <= budget
    assert context.violations == ()


def test_what_is_joined_for_a_narrow_context_is_not_retold_once_more() -> None:
    found, _ = grown(["chats"] * 60, 40)
    known = {node.retellings for node in found.nodes}
    terms = ContextOptions(budget=256, policy=TINY_STORY, count=TOKENS.count)
    teller = StoryTextCache(terms.count)
    compose_story(found, terms, teller)
    joined = [node for node in teller.passing.values() if node.summarizer.endswith("/whole")]
    assert joined
    assert max(known) > 1
    assert {node.retellings for node in joined} <= known
    again = teller.join([teller.join(found.nodes[:2], terms), found.nodes[2]], terms)
    assert again.retellings == max(node.retellings for node in found.nodes[:3])


def test_what_waits_stands_in_a_row_of_its_own_and_splits_no_atom() -> None:
    found, path = grown(["instruct", *["chats", "parallel", "late", "wide"] * 10], 1)
    assert found.waiting is not None
    assert found.behind == found.waiting.messages
    assert found.fresh[0].position == found.waiting.last_position + 1
    assert not found.fresh[0].draft.results
    assert found.nodes[-1].last_position + 1 == found.waiting.first_position
    assert sum(node.messages for node in found.nodes) + 1 + found.behind + len(found.fresh) == len(path)


def test_an_atom_longer_than_what_is_read_at_a_time_stops_nothing() -> None:
    found, _ = grown([*["wide"] * 12, *["chats"] * 8], 1)
    assert found.made


def test_messages_that_are_due_and_have_room_to_be_shown_count_as_behind() -> None:
    # So few that they are read as a whole, and yet more leaves than are written at a time.
    found, path = grown(["chats"] * 2, 1)
    assert found.waiting is None
    assert found.behind == 12
    assert found.fresh == tuple(path[6:])


def test_the_narrower_a_context_the_fewer_of_the_newest_messages_wait_for_their_leaf() -> None:
    path = chain(None, Storyteller().tell(["chats"] * 20), lambda parts: count_parts(parts, TOKENS.count))
    policy = Policy(name="story", story=replace(SMALL, leaf_messages=12, live_messages=60), live_share=0.5)
    each = path[-1].total_tokens / len(path)

    def fresh(messages: int) -> int:
        """How many messages no leaf covers, in a context that shows about so many live."""
        budget = round(messages * each / policy.live_share)
        return len(StoryPath(ListReader(path), policy, budget=budget).grow(len(path)).fresh)

    assert 12 <= fresh(1) <= fresh(20) < fresh(40) < fresh(1_000)
    assert fresh(1_000) == len(StoryPath(ListReader(path), policy).grow(len(path)).fresh) >= 60


def test_a_story_that_is_told_on_changes_its_beginning_seldom() -> None:
    async def work() -> tuple[int, int]:
        story = replace(SMALL, leaf_messages=30, leaf_tokens=4_000, live_messages=20, raw_tokens=2_000)
        policy = Policy(name="story", story=story, live_share=0.3)
        session = await memory_over(InMemoryStore()).session("run")
        teller = Storyteller()
        before: list[str] = []
        changed = looked = 0
        sailed = [
            says("assistant" if day % 2 else "user", teller.line(f"On day {day} Holm sailed to Easterby"))
            for day in range(200 + LOOKS)
        ]
        await session.append(sailed[:200])
        for draft in sailed[200:]:
            await session.append(draft)
            now = [json.dumps(each) for each in (await session.context(1_500, preset=policy)).messages]
            looked += 1
            changed += bool(before) and now[: len(before) - 1] != before[:-1]
            before = now
        return changed, looked

    changed, looked = asyncio.run(work())
    assert looked == LOOKS
    # With every sixth of a leaf, where half a leaf waits, and where a leaf is written.
    assert changed <= looked * (1 / 5 + 2 / 30), f"{changed} of {looked}"


def test_what_the_newest_messages_leave_is_told_of_the_past_in_few_steps() -> None:
    policy = preset("story")
    lines = [says("user", f"On day {day} Lord Quorl betrayed the keeper of gate {day * 7}.") for day in range(1_400)]
    path = chain(None, lines, lambda parts: count_parts(parts, TOKENS.count))
    found = StoryPath(ListReader(path), policy).grow(len(path))
    terms = ContextOptions(budget=4_000, policy=policy, count=TOKENS.count)

    def blocks(fresh: int) -> list[str]:
        made = compose_story(replace(found, fresh=found.fresh[:fresh]), terms, StoryTextCache(terms.count))
        assert made.tokens <= terms.budget
        return [item.text for item in made.shown if item.level == "story"]

    few, many = blocks(1), blocks(30)
    assert len(few) == len(many) > 3
    assert len("".join(few)) > len("".join(many))
    assert len({tuple(blocks(fresh)) for fresh in range(1, 30)}) <= 4, "the beginning seldom changes"


@pytest.mark.parametrize("budget", [256, 257, 300, 511, 2_000])
def test_the_least_budgets_hold_a_long_story(budget: int) -> None:
    drafts = Storyteller().tell(["instruct", *["chats", "scene", "promise", "rule"] * 12])
    context = ireneo.compact(ireneo.chat_format("openai").encode(drafts), budget, preset=TINY_STORY)
    assert context.tokens <= budget
    assert context.view


def test_a_stretch_of_which_there_is_nothing_to_tell_has_no_block_of_its_own() -> None:
    told = [
        f"In the town Bel{n} Lord Quorl betrayed the keeper of the {n}th gate, and she swore revenge."
        for n in range(300)
    ]
    idle = [("Haha.", "Yeah, okay.", "Hm.")[n % 3] for n in range(450)]
    said = [*told, *idle, *told[:250]]
    payload = [{"role": "user", "name": ("Vera", "Tom")[n % 2], "content": text} for n, text in enumerate(said)]
    for budget in (2_000, 4_000):
        context = ireneo.compact(payload, budget, preset="story")
        text = json.dumps(context.messages, ensure_ascii=False)
        blocks = [each.split("\\n\\n")[0] for each in text.split("[STORY] ")[1:]]
        assert len(blocks) > 1
        assert all("Quorl" in each for each in blocks if "that are not summarised" not in each)


async def test_a_store_is_sound_after_contexts_of_any_width() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("story")
        await session.append(Storyteller().tell(["chat"] * 60))
        for budget in (256, 300, 600, 1_200):
            await session.context(budget, preset=TINY_STORY)
        assert await memory.doctor() == []


def roleplay(
    exchanges: int, opening: str, *, every: str = "It is ship number {}, slow, old and full of cats."
) -> list[dict[str, str]]:
    """A play of two, of which the first message is `opening`."""
    out = [
        {"role": "user", "name": "Mara", "content": opening},
        {"role": "assistant", "name": "Ilse", "content": "Ilse nods."},
    ]
    for number in range(exchanges):
        out.append(
            {"role": "user", "name": "Mara", "content": f"I look at the {number}th ship and wonder who sails it."}
        )
        out.append({"role": "assistant", "name": "Ilse", "content": every.format(number)})
    return out


@pytest.mark.parametrize("exchanges", [20, 60, 74, 90])
def test_what_binds_a_play_is_shown_however_old_its_message_is(exchanges: int) -> None:
    context = ireneo.compact(roleplay(exchanges, "(OOC: never decide what Mara does)"), 600, preset="story")
    assert context.tokens <= 600
    assert "never decide what Mara does" in json.dumps(context.messages)


def test_the_messages_that_no_summary_covers_yet_are_told_and_no_words_twice() -> None:
    bell = "That bell has not rung since the war, and nobody knows who took the key of the tower."
    played = roleplay(75, "I knock at the door.", every=bell)
    played += [
        {
            "role": "user",
            "name": "Mara",
            "content": "I swear, Ilse, that I'll kill the pilot who sank your father's boat.",
        }
    ]
    played += roleplay(50, "We walk on.", every=bell)
    context = ireneo.compact(played, 1_000, preset="story")
    blocks = [row.text for row in context.view if row.what == "summary"]
    assert len(blocks) == 2
    assert all(block.count("has not rung since the war") <= 1 for block in blocks)


def test_who_tells_of_themselves_by_name_plays_a_character() -> None:
    def narrating(told: str) -> frozenset[str]:
        played = [says("assistant", Text(text=told.format(number), author="Ilse")) for number in range(40)]
        played += [
            says("user", Text(text=f"I look at ship {number}, and I wonder.", author="Mara")) for number in range(40)
        ]
        played.append(says("user", Text(text="Here are the forty crowns that I owe you.", author="Jory")))
        return narrators(chain(None, played, lambda parts: count_parts(parts, TOKENS.count))) - {""}

    assert narrating("The storm breaks window {}, and glass falls on the map that lies there.") == {"Ilse"}
    assert narrating("Ilse shrugs and counts ship number {}. She pours the tea and looks away.") == set()


def test_what_a_play_tells_beside_its_speech_stands_in_no_quotation_marks() -> None:
    told = "Ilse swears to kill the pilot who sank the boat. “I owe you my life, Mara, and forty crowns.”"
    played = [
        *roleplay(30, "I knock."),
        {"role": "assistant", "name": "Ilse", "content": told},
        *roleplay(70, "We go."),
    ]
    text = json.dumps(ireneo.compact(played, 1_500, preset="story").messages, ensure_ascii=False)
    assert "swears to kill the pilot" in text
    assert "“Ilse swears to kill the pilot" not in text
