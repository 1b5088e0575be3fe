"""Learn from many logs, in this process or on workers.

Workers analyse logs (`analyse_log`); only this process writes. It takes their answers in the order of the logs, and
stores several in one transaction: messages, runs, lessons, and the files' digests. So the lessons are the same for any
number of workers, and a killed process leaves whole logs behind.

A worker runs the same functions as learning, over an empty store in memory, so that its answer depends on the log only.
Logs that it can't analyse as well are read here: those with faults, which are reported as they are found, and very
large ones. So are sessions for which the store matters: if it contains the session with its secrets or another form of
a message, or if a model must be asked.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.imports import (
    BATCH,
    BATCH_BYTES,
    Imported,
    NamedSession,
    format_of,
    holds_another,
    is_of_file,
    keep_named,
    name_session,
    new_name,
    sessions_of,
)
from ireneo.engine.learn import (
    DueRun,
    LearnedSession,
    SessionRead,
    due_runs,
    is_reading_valid,
    known_files,
    learn,
    learn_read,
    mark_file,
    read_session,
)
from ireneo.engine.reports import ImportReport, LearnReport, OnProgress, Reading, run_steps
from ireneo.engine.resources import Resources
from ireneo.engine.scope import add_project, add_projects
from ireneo.engine.session import Session
from ireneo.errors import BadInput
from ireneo.formats.logs.format import CONVERSATIONS, LOG_FORMATS, LogFormat, LogFormatName, log_format
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import MAIN, SessionKey
from ireneo.patterns import readable
from ireneo.ports.models import LogPlace, LogSource, Workers
from ireneo.ports.store import Transaction
from ireneo.summaries.policy import preset_of

LARGEST = 1 << 25
"""How many bytes of a log, packed and unpacked, a worker accepts; a larger one is stored while it is read."""
_SPACE = "analysed"


class LogTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A log to be analysed."""

    path: str
    """The path of the log, for a worker on the same disk; empty if the log is not a file."""
    digest: str
    """The digest of the content, so that no other file at the same path is read."""
    data: bytes | None = None
    """The bytes of the log, for a worker without access to the disk."""
    format: str
    name: str
    """The name of its sessions without an id of their own."""
    keep_secrets: bool
    project: str = ""
    """The project of sessions whose log names none."""


class LogAnalysis(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A worker's answer: the sessions of a log without their secrets, and what was read of them."""

    did: Literal["analysed", "send", "here", "refused", "known"]
    """``send``: the worker needs the bytes. ``here``: the process with the store must read the log. ``refused``: for
    the `reason`. ``known``: the log was learned from before, which only the process with the store can know."""
    reason: str = ""
    sessions: tuple[NamedSession, ...] = ()
    reads: dict[str, SessionRead] = {}
    """By session name."""


def encode_analysis(analysis: LogAnalysis) -> bytes:
    """Encode an answer."""
    try:
        return msgspec.json.encode(analysis)
    except (UnicodeError, msgspec.MsgspecError, OverflowError, TypeError):
        # It can't be encoded, for example because of a lone surrogate, which a store handles in its own way.
        return msgspec.json.encode(LogAnalysis(did="here"))


async def analyse_log(resources: Resources, task: LogTask) -> LogAnalysis:
    """Analyse a log in the empty store of `resources`."""
    try:
        log = resources.open_log(task.path if task.data is None else BytesIO(task.data))
    except BadInput:
        return LogAnalysis(did="send" if task.data is None else "here")
    with closing(log):
        if task.data is None and log.digest() != task.digest:
            return LogAnalysis(did="send")
        try:
            sessions = await _named_sessions(resources, task, log)
        except BadInput:
            sessions = []
        if not sessions or log.damage or log.left_out:
            return LogAnalysis(did="here")
    store = resources.store
    await add_projects(store, _SPACE, [each.key.session for each in sessions], task.project)
    reads = {}
    for due in await store.read(due_runs, _SPACE, [each.key.session for each in sessions]):
        reads[due.info.key.session] = await read_session(resources, due)
    return LogAnalysis(did="analysed", sessions=tuple(sessions), reads=reads)


async def _named_sessions(resources: Resources, task: LogTask, file: LogSource) -> list[NamedSession]:
    log = log_format(task.format)
    out = []
    for logged in sessions_of(log, _lines_of(file), task.name, file.label_of):
        cleaning = resources.cleaning(task.keep_secrets)
        source = f"{log.name}:{cleaning.text(task.name)}"
        follows = log.name in CONVERSATIONS
        out.append(
            await name_session(resources.store, _SPACE, logged, source, resources.count, cleaning, follows=follows)
        )
    return out


def _lines_of(file: LogSource) -> Iterator[bytes]:
    left = LARGEST
    for line in file.lines():
        left -= len(line)
        if left < 0:
            raise BadInput("It is too large to be sent.")
        yield line


HELD_BYTES = 1 << 27
"""How many bytes of logs workers may have, or may wait to be stored; a single log may exceed this."""
PAGE = 1_000
"""How many messages are compared at a time."""


class GivenLog(Struct, frozen=True, kw_only=True):
    """A log to learn from."""

    place: LogPlace
    format: LogFormatName | LogFormat | None = None
    """The format of the log; None to detect it."""
    name: str = ""
    """The name for sessions of the log that have no id of their own; empty: the file's name."""
    skip_empty: bool = False
    """Whether a log without messages is skipped instead of being a fault."""


class LogLearned(Struct, frozen=True, kw_only=True):
    """The result for one of many logs."""

    log: GivenLog
    is_known: bool = False
    """Whether a file with the same content was learned from before."""
    is_empty: bool = False
    """Whether the log has no messages and was skipped."""
    fault: str = ""
    """Why the log could not be learned from, in a sentence; other logs are not affected."""


LearnStep: TypeAlias = Reading | Imported | LearnedSession | LogLearned


class LearnsFrom(Protocol):
    """`Memory.learn_from`: takes a log in and learns from its sessions."""

    async def __call__(
        self,
        file: LogPlace,
        *,
        format: LogFormatName | LogFormat | None,
        name: str,
        project: str,
        skip_empty: bool,
        keep_secrets: bool | None,
        on_progress: OnProgress[LearnStep],
    ) -> LearnReport:
        """Import the log and learn from it."""


class _QueuedLog(Struct, frozen=True, kw_only=True):
    """A log in the queue."""

    log: GivenLog
    name: str
    answer: asyncio.Future[LogAnalysis | None]
    label: str = ""
    size: int = 0
    digest: str = ""


class _StoredLog(Struct, frozen=True, kw_only=True):
    """The stored part of a log."""

    imported: tuple[Imported, ...] = ()
    learned: tuple[LearnedSession, ...] = ()
    left: dict[str, SessionRead] | None = None
    """The runs that must be learned from, with the readings that are valid; None if nothing is left to do."""
    is_known: bool = False


class LogLearner:
    """Learns from logs, and sums up the results in `report`."""

    def __init__(
        self,
        resources: Resources,
        space: str,
        learn_from: LearnsFrom,
        project: str,
        keep_secrets: bool | None,
        on_progress: OnProgress[LearnStep],
    ) -> None:
        """Store in `space`; `learn_from` reads logs that workers can't. `project` is for sessions without one."""
        self.report = LearnReport()
        self._resources = resources
        self._store = resources.store
        self._space = space
        self._learn_from = learn_from
        self._project = project
        self._keep_secrets = keep_secrets
        self._tell: Callable[[LearnStep], object] = on_progress or (lambda step: None)
        self._names: set[str] = set()
        self._needs_bytes = False
        """Whether a worker has no access to the disk."""

    async def run(self, logs: Iterable[LogPlace | GivenLog], on: str) -> LearnReport:
        """Learn from `logs` on the workers at the address `on`, or in this process if `on` is empty."""
        given = (each if isinstance(each, GivenLog) else GivenLog(place=each) for each in logs)
        if on:
            async with self._resources.open_workers(on) as workers:
                await self._learn_on_workers(workers, given)
            return self.report
        for log in given:
            try:
                with closing(await asyncio.to_thread(self._resources.open_log, log.place)) as file:
                    name = self._unique_name(log, file.stem)
            except BadInput as fault:
                self._tell(LogLearned(log=log, fault=str(fault)))
            else:
                await self._learn_here(log, name)
        return self.report

    async def _learn_on_workers(self, workers: Workers, logs: Iterator[GivenLog]) -> None:
        """Learn from the answers of `workers`."""
        todo, row = logs, deque[_QueuedLog]()
        ready: list[tuple[_QueuedLog, LogAnalysis]] = []
        try:
            while True:
                while len(row) < workers.width and sum(each.size for each in row) < HELD_BYTES:
                    if (log := next(todo, None)) is None:
                        break
                    row += await self._send(workers, log)
                if ready and (not row or not row[0].answer.done() or _is_full(ready)):
                    await self._store_and_finish(ready)
                    ready = []
                if not row:
                    return
                analysis = await row[0].answer
                first = row.popleft()
                if analysis is not None and analysis.did in ("analysed", "known"):
                    ready.append((first, analysis))
                    continue
                await self._store_and_finish(ready)
                ready = []
                await self._handle_failure(first, analysis)
        finally:
            for each in row:
                each.answer.cancel()
            await asyncio.gather(*(each.answer for each in row), return_exceptions=True)

    def _unique_name(self, log: GivenLog, stem: str) -> str:
        name = log.name or new_name(stem, log.place, self._names)
        self._names.add(name)
        return name

    async def _send(self, workers: Workers, log: GivenLog) -> list[_QueuedLog]:
        """Send a log to the workers; a log that is known, or that no worker can analyse, is answered at once."""
        try:
            with closing(await asyncio.to_thread(self._resources.open_log, log.place)) as file:
                name, label, size = self._unique_name(log, file.stem), file.label, file.size
                digest = await asyncio.to_thread(file.digest)
                form = await asyncio.to_thread(format_of, log.format, file)
        except BadInput as fault:
            self._tell(LogLearned(log=log, fault=str(fault)))
            return []
        answer: asyncio.Future[LogAnalysis | None] = asyncio.get_running_loop().create_future()
        # A stream can't be read twice, and workers don't know custom formats.
        here = not digest or form not in LOG_FORMATS or size > LARGEST
        known = await self._store.read(known_files, self._space, [digest])
        if digest in known:
            answer.set_result(LogAnalysis(did="known"))
        elif here:
            answer.set_result(LogAnalysis(did="here"))
        else:
            keeps = self._resources.keep_secrets if self._keep_secrets is None else self._keep_secrets
            path = str(Path(log.place).absolute()) if isinstance(log.place, str | PathLike) else ""
            task = LogTask(
                path=path, digest=digest, format=form.name, name=name, keep_secrets=keeps, project=self._project
            )
            answer = asyncio.create_task(self._analysed(workers, task))
        return [_QueuedLog(log=log, name=name, answer=answer, label=label, size=size, digest=digest)]

    async def _analysed(self, workers: Workers, task: LogTask) -> LogAnalysis | None:
        """A worker's answer for a log, sent by its path; with its bytes once a worker could not read a path."""
        analysis = LogAnalysis(did="here")
        for _ in range(2):
            sent = task
            if self._needs_bytes:
                if (data := await asyncio.to_thread(self._bytes_of, task.path)) is None:
                    break
                sent = replace(task, data=data)
            answer = await workers.run(await asyncio.to_thread(msgspec.json.encode, sent))
            if answer is None:
                return None
            analysis = await asyncio.to_thread(msgspec.json.decode, answer, type=readable(LogAnalysis))
            if analysis.did != "send":
                return analysis
            self._needs_bytes = True
        return LogAnalysis(did="here")

    def _bytes_of(self, path: str) -> bytes | None:
        """The bytes of a log for a worker without access to the disk; None if there may be labels next to the log."""
        with closing(self._resources.open_log(path)) as file:
            return None if file.is_labelled else file.raw()

    async def _handle_failure(self, waiting: _QueuedLog, analysis: LogAnalysis | None) -> None:
        if analysis is None:
            self._tell(LogLearned(log=waiting.log, fault=f"{waiting.label} was left out: workers that read it died."))
        elif analysis.did == "refused":
            raise BadInput(analysis.reason)
        else:
            await self._learn_here(waiting.log, waiting.name)

    async def _learn_here(self, log: GivenLog, name: str) -> None:
        try:
            done = await self._learn_from(
                log.place,
                format=log.format,
                name=name,
                project=self._project,
                skip_empty=log.skip_empty,
                keep_secrets=self._keep_secrets,
                on_progress=self._tell,
            )
        except BadInput as fault:
            self._tell(LogLearned(log=log, fault=str(fault)))
            return
        self._add_report(done)
        self._tell(LogLearned(log=log, is_known=done.is_known, is_empty=bool(done.imported.empty)))

    def _add_report(self, done: LearnReport) -> None:
        was, imported = self.report, self.report.imported
        self.report = LearnReport(
            sessions=was.sessions + done.sessions,
            imported=ImportReport(
                sessions=imported.sessions + done.imported.sessions, empty=imported.empty + done.imported.empty
            ),
        )

    async def _store_and_finish(self, ready: Sequence[tuple[_QueuedLog, LogAnalysis]]) -> None:
        """Store logs, several in one transaction, and finish each."""
        todo = deque(ready)
        while todo:
            done = await self._store.write(self._store_logs, list(todo))
            for kept in done:
                await self._finish(*todo.popleft(), kept)
            if todo and not (done and done[-1].left is not None):
                waiting, _ = todo.popleft()
                await self._learn_here(waiting.log, waiting.name)

    async def _finish(self, waiting: _QueuedLog, analysis: LogAnalysis, kept: _StoredLog) -> None:
        if not kept.is_known:
            self._tell(Reading(label=waiting.label, bytes_read=waiting.size, size=waiting.size, is_over=True))
            for imported, named in zip(kept.imported, analysis.sessions, strict=True):
                self._tell(imported)
                if preset_of(named.source, self._resources.preset).story is None:
                    key = SessionKey(self._space, imported.session)
                    await Session(self._resources, key, MAIN, named.source).catch_up()
            for learned in kept.learned:
                self._tell(learned)
            done = LearnReport(sessions=kept.learned, imported=ImportReport(sessions=kept.imported))
            if kept.left is not None:
                sessions = [each.session for each in kept.imported]
                more: list[LearnedSession] = []
                await run_steps(learn(self._resources, self._space, sessions, kept.left), more.append, self._tell)
                await self._store.write(self._mark_file, waiting, sessions)
                done = replace(done, sessions=tuple(more))
            self._add_report(done)
        self._tell(LogLearned(log=waiting.log, is_known=kept.is_known))

    def _mark_file(self, tx: Transaction, waiting: _QueuedLog, sessions: Sequence[str]) -> None:
        mark_file(tx, self._resources, self._space, waiting.digest, waiting.name, sessions)

    def _store_logs(self, tx: Transaction, ready: Sequence[tuple[_QueuedLog, LogAnalysis]]) -> list[_StoredLog]:
        """Store logs up to the first log that must be read here, or that leaves something to do."""
        done: list[_StoredLog] = []
        for waiting, analysis in ready:
            kept = self._store_log(tx, waiting, analysis)
            if kept is not None:
                done.append(kept)
            if kept is None or kept.left is not None:
                break
        return done

    def _store_log(self, tx: Transaction, waiting: _QueuedLog, analysis: LogAnalysis) -> _StoredLog | None:
        if known_files(tx, self._space, [waiting.digest]):
            # The same file may have been earlier in the queue.
            return _StoredLog(is_known=True)
        keys = [SessionKey(self._space, named.key.session) for named in analysis.sessions]
        there = {key.session for key in keys if tx.sessions.get(key) is not None}
        for key, named in zip(keys, analysis.sessions, strict=True):
            said = [message.text for message in named.messages if message.role != "system"]
            is_another = is_of_file(key.session, waiting.name) and holds_another(tx, key, said)
            if named.is_renamed or is_another or (named.has_secrets and named.key.session in there):
                return None
        imported = tuple(keep_named(tx, self._space, named) for named in analysis.sessions)
        for key in keys if self._project else ():
            add_project(tx, key, self._project)
        due = due_runs(tx, self._space, [each.session for each in imported])
        reads = {
            each.info.key.session: read
            for each in due
            if (read := analysis.reads.get(each.info.key.session)) is not None
            and is_reading_valid(tx, self._resources, each, read)
            and (each.info.key.session not in there or _is_path(tx, each, analysis.sessions))
        }
        asks = any(self._resources.models_for(key).for_task("lessons") is not None for key in keys)
        if asks or len(reads) < len(due):
            return _StoredLog(imported=imported, left=reads)
        learned = tuple(learn_read(tx, self._resources, each, reads[each.info.key.session]) for each in due)
        self._mark_file(tx, waiting, [each.session for each in imported])
        return _StoredLog(imported=imported, learned=learned)


def _is_full(ready: Sequence[tuple[_QueuedLog, LogAnalysis]]) -> bool:
    """Whether there are enough logs for a transaction."""
    messages = sum(named.imported.messages for _, analysis in ready for named in analysis.sessions)
    return messages >= BATCH or sum(waiting.size for waiting, _ in ready) >= BATCH_BYTES


def _is_path(tx: Transaction, due: DueRun, sessions: Sequence[NamedSession]) -> bool:
    """Whether the stored messages on the path of a session equal those of its log."""
    key = due.info.key
    named: dict[MessageId, Message] = {
        each.id: replace(each, draft=replace(each.draft, native=None, record=None))
        for session in sessions
        if session.key.session == key.session
        for each in session.messages
    }
    return all(
        named.get(message.id) == message
        for first in range(0, due.head.position + 1, PAGE)
        for message in tx.log.path(key, due.head.id, first, first + PAGE - 1)
    )
