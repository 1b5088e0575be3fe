"""What models are asked about stories, compared with files, as in `test_prompts`."""

from __future__ import annotations

from msgspec.structs import replace
from tests.golden.story import OPEN, STORY, quarters, record
from tests.golden.test_prompts import compare

from ireneo.engine.story_writing import StoryJob, StoryTask, stretch_prompt
from ireneo.log.tree import Annotation, AnnotationId
from ireneo.ports.models import Prompt

BEFORE = record(STORY[:2], text="Vera Lund had let Holm look for the letter of his sister.")
MOST_FIXED = 1_800
"""Tokens of what is always said."""


def written(prompt: Prompt) -> str:
    return f"{prompt.system}\n\n--- {prompt.name}\n\n{prompt.user}\n"


def test_the_prompt_for_a_leaf_reads_as_it_did() -> None:
    prompt = StoryTask(StoryJob(offline=record(), messages=STORY, before=BEFORE, open=OPEN), quarters).prompt
    assert (prompt.task, prompt.name) == ("story", "story-5")
    assert "Not a word to Vera, Tam." in prompt.user
    compare("prompts/story", written(prompt))


def test_the_prompt_for_several_leaves_and_what_covers_them_reads_as_it_did() -> None:
    leaves = [
        StoryJob(offline=record(part), messages=part, before=BEFORE, open=OPEN) for part in (STORY[2:8], STORY[8:])
    ]
    over = record(STORY[2:], depth=2, leaves=2)
    prompt = stretch_prompt([*leaves, StoryJob(offline=over, messages=STORY[2:])], quarters)
    assert (prompt.task, prompt.name, prompt.max_tokens) == ("story", "story-5", 5_500)
    compare("prompts/story_stretch", written(prompt))


def test_the_prompt_for_the_memory_of_a_character_shows_what_she_heard() -> None:
    job = StoryJob(offline=record(), messages=STORY, before=BEFORE, open=OPEN, voice="first", seen_by="Vera")
    prompt = StoryTask(job, quarters).prompt
    assert "Then swear it on this." in prompt.user
    assert "pistol" not in prompt.user
    compare("prompts/story_vera", written(prompt))


def test_the_prompt_for_a_deeper_summary_reads_as_it_did() -> None:
    parts = (BEFORE, record(STORY[2:8]), record(STORY[8:], text="Holm took a pistol out of the drawer."))
    prompt = StoryTask(StoryJob(offline=record(leaves=3, depth=2), parts=parts), quarters).prompt
    assert prompt.name == "story-deep-5"
    compare("prompts/story_deep", written(prompt))


def test_the_prompt_for_an_overview_reads_as_it_did() -> None:
    parts = (BEFORE, record(STORY[2:8]), record(STORY[8:], text="Holm took a pistol out of the drawer."))
    job = StoryJob(offline=record(leaves=3, depth=0), parts=parts, room=1_600, played=(("LENA", "Vera Lund"),))
    prompt = StoryTask(job, quarters).prompt
    assert (prompt.name, prompt.max_tokens) == ("story-overview-1", 3_200)
    compare("prompts/story_overview", written(prompt))


def test_a_prompt_says_what_is_disputed() -> None:
    dispute = Annotation(
        id=AnnotationId("d_1"), kind="dispute", at=STORY[-1].id, at_position=11, text="It was his right hand."
    )
    job = StoryJob(offline=record(), messages=STORY, disputes=(dispute,))
    assert "It was his right hand." in StoryTask(job, quarters).prompt.user


def test_what_is_always_said_is_short() -> None:
    for job in (StoryJob(offline=record()), *(StoryJob(offline=record(leaves=4), room=room) for room in (0, 900))):
        prompt = StoryTask(replace(job, voice="first", seen_by="Vera"), quarters).prompt
        assert quarters(prompt.system) + quarters(prompt.user) < MOST_FIXED
