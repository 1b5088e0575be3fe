"""What models are asked, and how their texts read in a context, compared with files.

`REGENERATE=1 pytest tests/golden` writes the files anew: read the difference.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.golden.material import session as material
from tests.golden.test_blocks import BATCHED, Quarters
from tests.progress import progress_of

from ireneo import Memory, Policy, Session
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.language.topics import Voice
from ireneo.ports.models import Prompt
from ireneo.summaries.policy import VoiceRule
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

FOLDER = Path(__file__).parent
BUDGET = 450
TURNS = Policy(name="turns", goal_min_turns=9, goal_max_turns=9, leaf_min_atoms=3, leaf_max_atoms=5)
POLICIES = {"goal": BATCHED, "turn": TURNS}


def good(prompt: Prompt) -> Scripted:
    """What a model would say that read the material well."""
    return {
        "notes": [
            "ruled 5 [0] The user wanted the lost row found, and then a faster import with a stable API.",
            "found 4 [4] The slice `rows[:-1]` dropped the last row.",
            "changed 3 In src/ledger/importer.py `keep_row` sees every row.",
            "failed 4 Deferring the commit with `commit_later` loses batches.",
            "changed 3 BATCH_SIZE is 500 in src/ledger/batches.py.",
            "worked 3 `pytest tests/test_batches.py` passed.",
            "state 2 Not all of it is verified.",
        ]
    }


async def living(model: ScriptedLLM, voice: Voice = "first") -> Session:
    """The session of the material, with that model."""
    means = Resources(
        store=InMemoryStore(),
        count=Quarters().count,
        clock=ManualClock(),
        models=Models.of(model),
        voices=VoiceRule(work=voice),
    )
    session = await Memory(means, "golden").session("run")
    await session.append(material())
    return session


async def asked(task: str, voice: Voice, *, disputed: bool) -> str:
    """What is asked about a stretch that is shown as turns, or as batches of turns."""
    model, policy = ScriptedLLM(good), POLICIES[task]
    session = await living(model, voice)
    for each in await progress_of(session.summarise, BUDGET, preset=policy):
        if disputed:
            await session.dispute(each.id, "The cause was the slice.")
            await session.dispute(each.id, "It is safe.", claim=await _first_line(session, each.id))
    if disputed:
        model.prompts.clear()
        await session.summarise(BUDGET, preset=policy)
    prompt = model.prompts[0]
    assert prompt.task == "notes"
    return f"{prompt.system}\n\n--- {prompt.name}\n\n{prompt.user}\n"


async def _first_line(session: Session, name: str) -> str:
    opened = await session.expand(name)
    assert opened.summary is not None
    return next(line.text for section in opened.summary.sections for line in section.lines if line.text)


def compare(name: str, text: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("task", ["turn", "goal"])
@pytest.mark.parametrize(("suffix", "voice"), [("", "first"), ("_second", "second"), ("_third", "third")])
def test_a_prompt_reads_as_it_did(task: str, suffix: str, voice: Voice) -> None:
    compare(f"prompts/notes_{task}{suffix}", asyncio.run(asked(task, voice, disputed=False)))


@pytest.mark.parametrize("task", ["turn", "goal"])
def test_a_prompt_says_what_is_disputed(task: str) -> None:
    text = asyncio.run(asked(task, "first", disputed=True))
    assert "The cause was the slice." in text
    compare(f"prompts/notes_{task}_disputed", text)


ROOM = {"goal": 420, "turn": 600}


async def shown(task: str, *, disputed: bool) -> str:
    policy, room = POLICIES[task], ROOM[task]
    session = await living(ScriptedLLM(good))
    await session.summarise(room, preset=policy)
    context = await session.context(room, to="openai", preset=policy)
    claim = "BATCH_SIZE is 500 in src/ledger/batches.py"
    for row in context.view if disputed else ():
        if row.what == "summary" and claim in row.text:
            await session.dispute(row.id, "It is 400 by now.", claim=claim)
    context = await session.context(room, to="openai", preset=policy)
    assert context.tokens <= room
    assert not context.violations
    rows = (*context.pins, *context.view)
    return "\n\n".join(f"=== {row.what} {row.level or ''} {row.depth}\n{row.text}" for row in rows) + "\n"


@pytest.mark.parametrize(("name", "task"), [("written", "goal"), ("written_turns", "turn"), ("disputed", "goal")])
def test_a_context_with_texts_by_a_model_reads_as_it_did(name: str, task: str) -> None:
    text = asyncio.run(shown(task, disputed=name == "disputed"))
    assert ("(disputed)" in text) == (name == "disputed")
    compare(f"blocks/{name}", text)
