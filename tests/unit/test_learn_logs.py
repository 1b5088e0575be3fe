"""What workers make of logs is stored as if it had been read here, whatever the store holds already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.e2e.logs_for_learning import claude_code, codex, mini_swe, transcript
from tests.e2e.test_fleet import stored
from tests.property.verbs import NOON

from ireneo import Memory, log_format
from ireneo.adapters.fleet import LocalWorkers
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.opening import open_store
from ireneo.adapters.redact import SecretRedactor
from ireneo.analysing import analyse, build
from ireneo.compacting import tokenizer
from ireneo.engine.learn_logs import LogAnalysis, LogTask
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput
from ireneo.testing.scripted import ManualClock, ScriptedLLM
from ireneo.types import LearnStep, LogLearned

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Elsewhere:
    """Workers in this process that don't share its disk, one of which dies of what `kills` says."""

    def __init__(self, width: int = 3, kills: str = "", asks: Mapping[str, str] | None = None) -> None:
        self.width = width
        self.tasks: list[LogTask] = []
        self.most = self.now = 0
        self._kills = kills
        self._asks = asks or build()

    async def run(self, task: bytes) -> bytes | None:
        given = msgspec.json.decode(task, type=LogTask)
        self.tasks.append(given)
        if given.name == self._kills:
            return None
        self.now += 1
        self.most = max(self.most, self.now)
        # The later one is through first.
        await asyncio.sleep(0.05 / len(self.tasks))
        answer = await asyncio.to_thread(
            analyse,
            msgspec.json.encode(msgspec.structs.replace(given, path="/elsewhere")),
            asks=self._asks,
            tokens="estimate",
        )
        self.now -= 1
        return answer


@asynccontextmanager
async def opened(
    path: Path, workers: Elsewhere | None = None, model: ScriptedLLM | None = None
) -> AsyncIterator[Memory]:
    @asynccontextmanager
    async def open_workers(address: str) -> AsyncIterator[Elsewhere]:
        yield workers

    memory = Memory(
        Resources(
            store=await open_store(str(path)),
            count=tokenizer("estimate").count,
            clock=ManualClock(NOON),
            models=Models() if model is None else Models.of(model),
            open_log=LogFile,
            open_workers=open_workers,
            redactor=SecretRedactor,
        ),
        "mine",
    )
    try:
        yield memory
    finally:
        await memory.close()


def write_logs(folder: Path, runs: int = 6) -> list[Path]:
    folder.mkdir()
    for at in range(runs):
        make: Callable[[int], bytes] = (claude_code, codex, mini_swe, transcript)[at % 4]
        text = make(at)
        if at == 0:
            text = text.replace(b"Weigh anchor 0", f"Weigh anchor 0 with GITHUB_TOKEN={SECRET}".encode())
        (folder / f"{at}.{'json' if make is mini_swe else 'jsonl'}").write_bytes(text)
    return sorted(folder.iterdir())


async def both(
    tmp_path: Path, logs: list[Path], before: Callable[[Memory], object] | None = None
) -> tuple[Elsewhere, list[LearnStep]]:
    """Learn from logs here and elsewhere, with what is done `before`, and check that the same is stored."""
    workers = Elsewhere()
    told: list[LearnStep] = []
    for path, on in ((tmp_path / "here.db", ""), (tmp_path / "elsewhere.db", "elsewhere")):
        async with opened(path, workers) as memory:
            if before is not None:
                await before(memory)  # type: ignore[misc]
            told = []
            await memory.learn_logs(logs, on=on, on_progress=told.append)
    assert stored(tmp_path / "elsewhere.db") == stored(tmp_path / "here.db")
    return workers, told


async def test_it_is_stored_in_the_order_of_the_logs_and_without_secrets(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    workers, told = await both(tmp_path, logs)
    assert [each.log.place for each in told if isinstance(each, LogLearned)] == logs
    assert workers.most > 1
    assert SECRET.encode() not in (tmp_path / "elsewhere.db").read_bytes()


async def test_bytes_are_sent_once_a_worker_does_not_see_the_file(tmp_path: Path) -> None:
    workers, _ = await both(tmp_path, write_logs(tmp_path / "logs"))
    sent = [each.data is not None for each in workers.tasks]
    assert not sent[0]
    assert sent[-1]
    assert sum(sent) == 6, "each once"


async def test_a_worker_reads_the_file_where_it_is_the_same(tmp_path: Path) -> None:
    (log,) = write_logs(tmp_path / "logs", 1)
    with LogFile(log) as file:
        digest = file.digest()
    task = LogTask(path=str(log), digest=digest, format="claude-code", name="0", keep_secrets=False)

    def did(task: LogTask) -> str:
        answer = analyse(msgspec.json.encode(task), asks=build(), tokens="estimate")
        assert SECRET.encode() not in answer
        return msgspec.json.decode(answer, type=LogAnalysis).did

    assert await asyncio.to_thread(did, task) == "analysed"
    assert await asyncio.to_thread(did, msgspec.structs.replace(task, digest="another")) == "send"


async def test_a_session_that_is_there_with_its_secrets_keeps_its_names(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    await both(tmp_path, logs, lambda memory: memory.import_file(logs[0], keep_secrets=True))
    assert SECRET.encode() in (tmp_path / "elsewhere.db").read_bytes()


async def test_a_log_that_has_grown_is_learned_from_again(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    whole = logs[4].read_bytes()

    async def begin(memory: Memory) -> None:
        logs[4].write_bytes(b"".join(whole.splitlines(keepends=True)[:6]))
        await memory.learn_from(logs[4])
        logs[4].write_bytes(whole)

    await both(tmp_path, logs, begin)


async def test_what_was_told_otherwise_here_stays_so(tmp_path: Path) -> None:
    """Messages that were appended by their agent, at other times than the log says."""
    logs = write_logs(tmp_path / "logs")
    (logged,) = log_format("claude-code").read(logs[4].read_bytes().splitlines(keepends=True), "4")

    async def begin(memory: Memory) -> None:
        session = await memory.session(logged.id)
        await session.append([msgspec.structs.replace(each, at=NOON) for each in logged.path])

    await both(tmp_path, logs, begin)


async def test_what_was_noted_or_forgotten_here_counts(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")

    async def begin(memory: Memory) -> None:
        noted, lessened = [(await memory.import_file(logs[at])).sessions[0].session for at in (4, 1)]
        await (await memory.session(noted)).diary(tried=["hoist anchor: it failed"])
        first = (await (await memory.session(lessened)).messages())[0]
        await memory.forget(message=first.id)

    await both(tmp_path, logs, begin)


async def test_a_log_that_workers_die_of_is_left_out_and_told(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    told: list[LearnStep] = []
    async with opened(tmp_path / "it.db", Elsewhere(kills="2")) as memory:
        report = await memory.learn_logs(logs, on="elsewhere", on_progress=told.append)
        assert len(report.sessions) == len(logs) - 1
        again = await memory.learn_logs(logs, on="elsewhere", on_progress=told.append)
    assert not again.sessions
    faults = [each.fault for each in told if isinstance(each, LogLearned) and each.fault]
    assert faults == [f"{logs[2]} was left out: workers that read it died."] * 2


async def test_another_release_is_refused_in_a_sentence(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    async with opened(tmp_path / "it.db", Elsewhere(asks={**build(), "ireneo": "9.9.9"})) as memory:
        with pytest.raises(BadInput, match=r"^A worker runs ireneo 0.*, this is 9\.9\.9; install the same on each\.$"):
            await memory.learn_logs(logs, on="elsewhere")
        assert not await memory.runs()


async def test_a_few_logs_wait_at_a_time(tmp_path: Path) -> None:
    workers = Elsewhere(width=2)
    async with opened(tmp_path / "it.db", workers) as memory:
        await memory.learn_logs(write_logs(tmp_path / "logs", 10), on="elsewhere")
    assert workers.most == 2


async def test_what_can_not_be_read_is_told_and_the_others_are_learned_from(tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs")
    broken = tmp_path / "logs" / "broken.jsonl"
    broken.write_bytes(b'{"uuid": "1", "type": "user"\n')
    told: list[LearnStep] = []
    async with opened(tmp_path / "it.db", Elsewhere()) as memory:
        places = [logs[0], broken, tmp_path / "missing.jsonl", logs[0], *logs[1:]]
        report = await memory.learn_logs(places, on="elsewhere", on_progress=told.append)
    ends = [each for each in told if isinstance(each, LogLearned)]
    assert sorted(str(each.log.place) for each in ends if each.fault) == [str(broken), str(tmp_path / "missing.jsonl")]
    assert [each.log.place for each in ends if each.is_known] == [logs[0]], "the same log, given twice"
    assert len(report.sessions) == len(logs)


async def test_a_model_is_asked_here(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(prompt: object) -> dict[str, object]:
        asked.append("")
        return {"lessons": []}

    logs = write_logs(tmp_path / "logs", 2)
    async with opened(tmp_path / "it.db", Elsewhere(), ScriptedLLM(answer)) as memory:
        report = await memory.learn_logs(logs, on="elsewhere")
        assert len(report.sessions) == 2
        assert (await memory.learn_from(logs[0])).is_known
    assert asked


CODE = """
import os, sys
from ireneo.adapters.fleet import serve
serve(sys.stdin.buffer, sys.stdout.buffer, lambda task: os._exit(9) if task == b"poison" else task.upper())
"""


async def test_a_process_that_dies_is_replaced_and_a_task_that_kills_two_is_given_up() -> None:
    workers = LocalWorkers(1, CODE)
    try:
        answers = await asyncio.gather(*(workers.run(task) for task in (b"one", b"poison", b"two" * 500_000)))
    finally:
        await workers.close()
    assert answers == [b"ONE", None, b"TWO" * 500_000]
