"""Summaries of stories by a model behind a real server on this machine."""

from __future__ import annotations

import asyncio

import pytest
from tests.e2e import loopback
from tests.e2e.loopback import Answer, Asked, Kind, LoopbackModel, Script
from tests.golden.story import GOOD, OPEN, STORY, WHERE, quarters, record

from ireneo.adapters.llm.model import open_model
from ireneo.engine.story_writing import StoryJob, StoryTask, story_text
from ireneo.engine.writing import WrittenSummary, write
from ireneo.errors import BadReply, ModelError, ModelRefused, ModelTimeout

SERVERS: tuple[Kind, ...] = ("openai", "anthropic")
JOB = StoryJob(offline=record(), messages=STORY, open=OPEN)
LYING = {**GOOD, "text": f"{GOOD['text']} Zarkon laughed."}
FAILING: dict[str, tuple[Answer, type[ModelError]]] = {
    "slow": (loopback.slow(5, loopback.ok(GOOD)), ModelTimeout),
    "empty": (loopback.empty(), BadReply),
    "cut short": (loopback.cut_short(loopback.ok(GOOD)), BadReply),
    "invalid JSON": (loopback.invalid_json(), BadReply),
    "an error": (loopback.error_text(), BadReply),
    "far too long": (loopback.ok({**GOOD, "text": "and so on " * 10_000}), BadReply),
    "refusal": (loopback.refusal(), ModelRefused),
}


@pytest.fixture(autouse=True)
def _straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between the test and its server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load the libraries once, so that the time they take is not taken for the server's."""
    for kind in SERVERS:
        asyncio.run(open_model(f"{kind}:tiny", api_key="k").check())


def written(kind: Kind, script: Script) -> tuple[WrittenSummary, list[Asked]]:
    with LoopbackModel(kind, script) as server:
        return asyncio.run(write(StoryTask(JOB, quarters), server.model())), server.asked


@pytest.mark.parametrize("kind", SERVERS)
def test_a_story_is_written_and_mended_over_http(kind: Kind) -> None:
    came, asked = written(kind, loopback.then(loopback.ok(LYING), loopback.ok(GOOD)))
    assert [each.number for each in asked] == [1, 2]
    assert "You keep the memory of a story." in asked[0].system
    assert '"opened"' in asked[0].user
    assert "The name “Zarkon” stands nowhere in the messages." in asked[1].user
    assert (came.verdict, came.faults) == ("repaired", ())
    assert story_text(came.text) == GOOD["text"]
    assert [each.kind for each in came.text.threads.opened] == ["promise", "secret"]
    assert came.text.threads.closed == (WHERE.id,)
    assert came.text.writing is not None
    assert (came.text.writing.tokens_in, came.text.writing.tokens_out) == (200, 40)


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("fault", FAILING)
def test_what_is_no_answer_raises(kind: Kind, fault: str) -> None:
    answer, error = FAILING[fault]
    with LoopbackModel(kind, loopback.always(answer)) as server:
        # Only silence has to run out of time; a busy machine may take a while for the others.
        model = server.model(timeout_seconds=0.5 if error is ModelTimeout else 20, attempts=1)
        with pytest.raises(error):
            asyncio.run(write(StoryTask(JOB, quarters), model))
