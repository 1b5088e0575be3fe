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
from ireneo.adapters.in_memory.store import InMemoryStore
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.ports.models import Prompt
from ireneo.prompts.replies import Voice
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

FOLDER = Path(__file__).parent
BUDGET = 800
TURNS = Policy(name="turns", goal_min_turns=9, goal_max_turns=9, leaf_min_atoms=3, leaf_max_atoms=5)
POLICIES = {"goal": BATCHED, "turn": TURNS}


def good(prompt: Prompt) -> Scripted:
    """What a model would say that read the material well."""
    if prompt.task == "goal":
        return {
            "goal_arc": "The user wanted the lost row found, and then a faster import with a stable API.",
            "achieved": ["`keep_row` sees every row, and BATCH_SIZE is 500 in src/ledger/batches.py."],
            "discoveries": ["The slice `rows[:-1]` dropped the last row."],
            "dead_ends": [{"tried": "deferring the commit with `commit_later`", "because": "it loses batches"}],
            "key_artifacts": [{"name": "src/ledger/importer.py", "what": "where `keep_row` is called"}],
            "constraints": ["Never touch the migrations folder.", "keep the public API stable."],
            "status": "COMPLETE",
            "status_because": "`pytest tests/test_batches.py` passed",
        }
    return {
        "strategy": "I went from the failing test to what it checks.",
        "discoveries": ["The slice `rows[:-1]` dropped the last row."],
        "what_worked": ["Letting `keep_row` see every row."],
        "critical_artifacts": [{"name": "src/ledger/importer.py", "what": "where `keep_row` is called"}],
        "status": "PARTIAL",
        "status_because": "not all of it is verified",
    }


async def living(model: ScriptedLLM, voice: Voice = "first") -> Session:
    """The session of the material, with that model."""
    means = Resources(
        store=InMemoryStore(), count=Quarters().count, clock=ManualClock(), models=Models.of(model), voice=voice
    )
    session = await Memory(means, "golden").session("run")
    await session.append(material())
    return session


async def asked(task: str, voice: Voice, *, disputed: bool) -> str:
    """What is asked first about a turn, or about a batch of turns."""
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
    assert prompt.task == task
    return f"{prompt.system}\n\n--- {prompt.name}\n\n{prompt.user}\n"


async def _first_line(session: Session, name: str) -> str:
    opened = await session.expand(name)
    assert opened.summary is not None
    return (*opened.summary.lines("goal"), *opened.summary.lines("strategy"))[-1].text


def compare(name: str, text: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("task", ["turn", "goal"])
@pytest.mark.parametrize(("suffix", "voice"), [("", "first"), ("_second", "second"), ("_third", "third")])
def test_a_prompt_reads_as_it_did(task: str, suffix: str, voice: Voice) -> None:
    compare(f"prompts/{task}{suffix}", asyncio.run(asked(task, voice, disputed=False)))


@pytest.mark.parametrize("task", ["turn", "goal"])
def test_a_prompt_says_what_is_disputed(task: str) -> None:
    text = asyncio.run(asked(task, "first", disputed=True))
    assert "The cause was the slice." in text
    compare(f"prompts/{task}_disputed", text)


async def shown(policy: Policy, *, disputed: bool) -> str:
    session = await living(ScriptedLLM(good))
    for each in await progress_of(session.summarise, BUDGET, preset=policy):
        if disputed and each.level == "goal":
            claim = "BATCH_SIZE is 500 in src/ledger/batches.py"
            await session.dispute(each.id, "It is 400 by now.", claim=claim)
    context = await session.context(BUDGET, to="openai", preset=policy)
    assert context.tokens <= BUDGET
    assert not context.violations
    rows = (*context.pins, *context.view)
    return "\n\n".join(f"=== {row.what} {row.level or ''} {row.depth}\n{row.text}" for row in rows) + "\n"


@pytest.mark.parametrize(("name", "task"), [("written", "goal"), ("written_turns", "turn"), ("disputed", "goal")])
def test_a_context_with_texts_by_a_model_reads_as_it_did(name: str, task: str) -> None:
    text = asyncio.run(shown(POLICIES[task], disputed=name == "disputed"))
    assert ("(disputed)" in text) == (name == "disputed")
    compare(f"blocks/{name}", text)
