"""Summaries by a model behind a real server on this machine, which does all that a server can do wrong."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.e2e import loopback
from tests.e2e.loopback import Answer, Asked, Kind, LoopbackModel, Script, always
from tests.golden.material import session as material
from tests.progress import progress_of
from tests.property.hostile.checks import written as texts

import ireneo
from ireneo import Context, Limits, Policy, Session, Summary, WorkResult
from ireneo.adapters.llm.model import open_model
from ireneo.grounding.check import is_error_text
from ireneo.ports.models import LanguageModel

DRAFTS = material(3)
BUDGET = 1_400
FINE = Policy(name="fine", leaf_min_atoms=2, leaf_max_atoms=4, fan_in=2, goal_min_turns=2, goal_max_turns=2)
FINE = replace(FINE, notes_window=1_200)
SERVERS: tuple[Kind, ...] = ("openai", "anthropic")
NOTE = "The cause is not verified."
NOTES = {"notes": [f"found 5 {NOTE}", "state 2 Not all of it is done."]}


def good(asked: Asked) -> Answer:
    """Short, and true of any stretch of the material."""
    return loopback.ok(NOTES)


def far_too_long(asked: Asked) -> Answer:
    return Answer(text=json.dumps({"notes": ["found 3 " + "and so on " * 100_000]}), tokens_out=0)


def in_fields(text: str) -> Script:
    """`text` in a note of each kind."""
    kinds = ("ruled", "decided", "found", "changed", "failed", "worked", "open", "state")
    return always(loopback.ok({"notes": [f"{kind} 3 {text}" for kind in kinds]}))


ERROR = "Error: 529 Overloaded. Please try again in a few minutes."
FRENCH = "J'ai lu le fichier et je suis sûr que la boucle est la cause, ce qui est plus que ce que je pensais au début."
HANGS_SECONDS = 60
FAILING: dict[str, Script] = {
    "slow": always(loopback.slow(HANGS_SECONDS, loopback.ok(NOTES))),
    "cut off": always(loopback.cut_off(loopback.ok(NOTES))),
    "429": always(loopback.failing(429)),
    "500": always(loopback.failing(500)),
    "empty": always(loopback.empty()),
    "refusal": always(loopback.refusal()),
    "invalid JSON": always(loopback.invalid_json()),
    "far too long": far_too_long,
    "error text": always(loopback.error_text()),
}
"""What ends without an answer."""
WORTHLESS: dict[str, Script] = {"another language": in_fields(FRENCH), "an error in each field": in_fields(ERROR)}
"""What ends with an answer of which nothing can be kept."""
# What a library makes of each fault is tested for every one of them in test_model_faults.py.
FAILING_OF = [*(("openai", fault) for fault in FAILING), ("anthropic", "cut off")]
WORTHLESS_OF = [*(("openai", fault) for fault in WORTHLESS), ("anthropic", "another language")]


@pytest.fixture(autouse=True)
def _straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between the test and its server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load the libraries once, so that the time they take is not taken for the server's."""
    for kind in SERVERS:
        asyncio.run(open_model(f"{kind}:tiny", api_key="k").check())


@asynccontextmanager
async def living(
    path: Path, model: LanguageModel | None = None, limits: Limits | None = None
) -> AsyncIterator[Session]:
    """The session of the material, in a file, with that model."""
    async with ireneo.open(path / "memory.db", model=model, limits=limits, durability="normal") as memory:
        session = await memory.session("run")
        await session.append(DRAFTS, after="root")
        yield session


async def look(session: Session) -> Context:
    return await session.context(BUDGET, to="openai", preset=FINE)


async def summarised(session: Session) -> list[WorkResult]:
    return await progress_of(session.summarise, BUDGET, preset=FINE)


def sees_no_error(found: list[Summary]) -> None:
    for summary in found:
        for section in summary.sections:
            for line in section.lines:
                assert not is_error_text(line.text)
                assert "529" not in line.text
                assert "je suis" not in line.text


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "ireneo" and each.levelno >= logging.WARNING]


@pytest.mark.parametrize(("kind", "fault"), FAILING_OF)
def test_a_model_that_fails_changes_nothing(
    kind: Kind, fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(server: LoopbackModel) -> None:
        async with living(tmp_path, server.model(timeout_seconds=0.5)) as session:
            before = await look(session)
            # Each ask ends within its timeout, however long the server hangs; after three that failed no more are made.
            async with asyncio.timeout(HANGS_SECONDS / 2):
                came = await summarised(session)
            assert 1 <= len(came) <= 3
            assert {each.did for each in came} == {"failed"}
            assert all(each.reason for each in came)
            assert (await look(session)).messages == before.messages
            assert await texts(session) == []

    with LoopbackModel(kind, FAILING[fault]) as server:
        asyncio.run(failing(server))
    (said,) = warnings(caplog)
    assert server.name in said
    assert "The offline text stands" in said
    _can_be_written_later(kind, tmp_path)


@pytest.mark.parametrize(("kind", "fault"), WORTHLESS_OF)
def test_of_a_worthless_answer_nothing_is_shown(
    kind: Kind, fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def worthless(server: LoopbackModel) -> None:
        async with living(tmp_path, server.model()) as session:
            before = await look(session)
            came = await summarised(session)
            assert {each.did for each in came} == {"offline"}
            after = await look(session)
            # The offline text stands for it, word for word; only its name is another.
            assert [_body(row.text) for row in after.view] == [_body(row.text) for row in before.view]
            sees_no_error(await texts(session))

    with LoopbackModel(kind, WORTHLESS[fault]) as server:
        asyncio.run(worthless(server))
    assert warnings(caplog) == []


def _body(text: str) -> str:
    """A block without its first line, which names it."""
    return text.partition("\n")[2] if text.startswith(("[SUMMARIZED]", "[GOAL BATCH]")) else text


def _can_be_written_later(kind: Kind, path: Path) -> None:
    async def later(server: LoopbackModel) -> None:
        async with living(path, server.model(timeout_seconds=30)) as session:
            came = await summarised(session)
            assert came
            assert {each.did for each in came} <= {"written", "repaired"}
            assert len(await texts(session)) == sum(each.summaries for each in came)
            assert await summarised(session) == []
            sees_no_error(await texts(session))

    with LoopbackModel(kind, good) as server:
        asyncio.run(later(server))


@pytest.mark.parametrize("kind", SERVERS)
def test_what_was_written_is_shown_where_a_context_is_made(kind: Kind, tmp_path: Path) -> None:
    async def written(server: LoopbackModel) -> None:
        async with living(tmp_path, server.model(timeout_seconds=30)) as session:
            assert {each.did for each in await summarised(session)} == {"written"}
            shown = " ".join(row.text for row in (await look(session)).view)
            assert NOTE in shown

    with LoopbackModel(kind, good) as server:
        asyncio.run(written(server))


def test_the_spending_limit_stops_hard_with_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def limited(server: LoopbackModel) -> None:
        limits = Limits(calls_per_session=1)
        async with living(tmp_path, server.model(timeout_seconds=30), limits) as session:
            before = await look(session)
            came = await summarised(session)
            assert [each.did for each in came] == ["written", "failed"]
            assert "raise calls_per_session to go on with a model." in came[-1].reason
            assert (await look(session)).messages == before.messages
            assert len(await texts(session)) == 1
            assert [each.did for each in await summarised(session)] == ["failed"]
        # The account is in the store: another process has no more either.
        async with living(tmp_path, server.model(timeout_seconds=30), limits) as session:
            assert [each.did for each in await summarised(session)] == ["failed"]

    with LoopbackModel("openai", good) as server:
        asyncio.run(limited(server))
    assert len(server.asked) == 1
    assert all("calls_per_session" in said for said in warnings(caplog))


def test_a_cancelled_run_loses_nothing_and_can_be_done_again(tmp_path: Path) -> None:
    def second_is_slow(asked: Asked) -> Answer:
        return loopback.slow(5, good(asked)) if asked.number == 2 else good(asked)

    async def cancelled(server: LoopbackModel) -> None:
        async with living(tmp_path, server.model(timeout_seconds=30)) as session:
            before = await look(session)
            came: list[WorkResult] = []

            task = asyncio.create_task(session.summarise(BUDGET, preset=FINE, on_progress=came.append))
            async with asyncio.timeout(20):
                while len(server.asked) < 2:
                    await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [each.did for each in came] == ["written"]
            assert [each.id for each in await texts(session)] == [came[0].id]
            assert (await look(session)).messages == before.messages
            again = await summarised(session)
            assert again
            assert {each.did for each in again} <= {"written", "repaired"}
            assert came[0].id not in {each.id for each in again}
            assert await summarised(session) == []

    with LoopbackModel("openai", second_is_slow) as server:
        asyncio.run(cancelled(server))


def test_two_runs_at_once_on_one_file_store_each_text_once(tmp_path: Path) -> None:
    async def both(server: LoopbackModel) -> None:
        model = server.model(timeout_seconds=20)
        async with living(tmp_path, model) as first, living(tmp_path, model) as second:
            await look(first)
            mine, yours = await asyncio.gather(summarised(first), summarised(second))
            ids = {each.id for each in [*mine, *yours]}
            assert {each.did for each in [*mine, *yours]} <= {"written", "repaired"}
            assert ids <= {each.id for each in await texts(first)}
            assert await texts(first) == await texts(second)
            assert await summarised(first) == await summarised(second) == []

    with LoopbackModel("openai", good) as server:
        asyncio.run(both(server))
