"""`Memory`: the sessions, memories and lessons of one space."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from typing import Unpack

from msgspec.structs import asdict, replace

from ireneo.engine import brief as briefs
from ireneo.engine import learn as learning
from ireneo.engine import lessons as listing
from ireneo.engine.arguments import validate_methods
from ireneo.engine.brief import BUDGET, BriefCue
from ireneo.engine.check import check, session_so_far_in_log, store_traps
from ireneo.engine.doctor import Finding, examine
from ireneo.engine.editing import (
    PAGE,
    Deleted,
    ListedState,
    ListQuery,
    MemoryEdit,
    MemoryPage,
    delete,
    list_memories,
    merge,
    update,
)
from ireneo.engine.exchange import Exported, FileFormat, MemoriesImported, MemoryFile, export_memories, import_memories
from ireneo.engine.expand import LookupResult, dispute_id, lookup
from ireneo.engine.forget import ErasureReceipt, forget
from ireneo.engine.imports import Imported, JoinedImport, LabelOf, format_of, import_sessions, new_name, stored_name
from ireneo.engine.learn import LearnedSession, due_runs, learn
from ireneo.engine.learn_logs import GivenLog, LearnStep, LogLearner
from ireneo.engine.lessons import Lesson, Verdict, review
from ireneo.engine.models import LEASE_SECONDS, Worker
from ireneo.engine.named import record_use
from ireneo.engine.recall import recall
from ireneo.engine.reflect import ReflectionResult, reflect
from ireneo.engine.remember import (
    ArchiveCandidate,
    Remembered,
    archive,
    archive_candidates,
    archived,
    history,
    remember,
    remember_all,
    restore,
)
from ireneo.engine.reports import (
    Examined,
    ImportReport,
    LearnReport,
    OnProgress,
    Reading,
    WorkReport,
    counting,
    finished_reading,
    read_with_progress,
    run_steps,
    work_report,
)
from ireneo.engine.resources import Resources
from ireneo.engine.scope import RecallQuery, add_projects, memories_named, project_asked, stated_project
from ireneo.engine.searching import TOGETHER, EmbedReport, VectorCache, embed_missing
from ireneo.engine.secrets import Secrets, secrets
from ireneo.engine.session import Scratchpad, Session, session_at
from ireneo.engine.work import SpaceWork, WorkResult
from ireneo.errors import BadInput, StoreError, UnreadableLog
from ireneo.formats.logs.format import LogFormat, LogFormatName
from ireneo.lessons.guard import GuardAdvice
from ireneo.lessons.run import Category, ClaimTotals, LearnedRun
from ireneo.log.message import Call, Draft
from ireneo.log.tree import MAIN, Annotation, SessionKey
from ireneo.memories.brief import Brief
from ireneo.memories.facts import Fact
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.ranking import RecallResults
from ireneo.memories.record import Kind, MemoryId, Record, Source
from ireneo.memories.scratchpad import Pad
from ireneo.ports.models import LogPlace
from ireneo.ports.store import SessionInfo
from ireneo.summaries.policy import Policy, preset_of
from ireneo.summaries.policy import preset as preset_named


@validate_methods
class Memory:
    """The sessions, memories and lessons of one space, as returned by `ireneo.open`.

        async with ireneo.open("memory.db", space="anna") as memory:
            session = await memory.session("monday")
            await session.append("I live in Porto, and I never fly.")
            await memory.work(until_idle=True)
            for hit in await memory.recall("Where does she live?"):
                print(hit.text)

    No call reads or writes another space. Times are `datetime` objects with a zone; budgets and costs are in tokens, as
    the tokenizer given to `ireneo.open` counts them. Ids may be shortened to any prefix that is unique.

    Methods that do long work take `on_progress`, a function that is called with each result as it is made.
    """

    def __init__(self, resources: Resources, space: str) -> None:
        self.space = space
        self._resources = resources
        self._store = resources.store
        self._held = VectorCache()

    def __repr__(self) -> str:
        return f"Memory(space={self.space!r})"

    async def session(
        self, id: str, *, branch: str = MAIN, must_exist: bool = False, task: str = "", project: str = ""
    ) -> Session:
        """Return the session `id` on one of its branches; nothing is stored before its first append.

        Its contexts show the scratchpad of `task`, by default the task of the same name. `project` is the project that
        the session works on: a name, or a directory in it. An imported log states its own.

        Raises BadInput for an empty id and if the session belongs to another project, and SessionNotFound for a branch
        that a stored session doesn't have (`Session.fork` makes one), and with `must_exist` for a session not stored.
        """
        key = await self._store.read(stored_name, SessionKey(self.space, id), self._resources.cleaning())
        return await session_at(self._resources, key, branch, must_exist, task, project)

    async def sessions(self) -> Sequence[SessionInfo]:
        """Return every session of the space, the most recently appended first."""
        return await self._store.read(lambda tx: tx.sessions.list(self.space))

    async def import_file(
        self,
        *files: LogPlace,
        format: LogFormatName | LogFormat | None = None,
        name: str = "",
        session: str | None = None,
        project: str = "",
        skip_empty: bool = False,
        keep_secrets: bool | None = None,
        on_progress: OnProgress[Reading | Imported] = None,
    ) -> ImportReport:
        """Import log files: plain ones, packed ones (.gz, .xz), and folders of events.

        The format is detected unless `format` is given. Each session is stored under the name in its log, and one
        without a name as `name`, or like its file. With `session` all files become one session of that name, in the
        order given; importing the same files again with new ones after them adds only the new ones. Sessions belong to
        `project` if neither the log nor an earlier import says their project or folder.

        Messages that are stored already stay as they are, chats are brought up to date, and secrets are replaced, as in
        `import_log`. `on_progress` receives the position in the file and each imported session. Raises BadInput for a
        file that can't be read and, unless `skip_empty` is set, for a file without messages; files stored before it
        stay.
        """
        named = stated_project(project)
        joined = None if session is None else self._joined(session, keep_secrets)
        tell: Callable[[Reading | Imported], object] = on_progress or (lambda step: None)
        report = ImportReport()
        names: set[str] = set()
        for place in files:
            with closing(await asyncio.to_thread(self._resources.open_log, place)) as file:
                log = await asyncio.to_thread(format_of, format, file)
                file_name = name or new_name(file.stem, place, names)
                names.add(file_name)
                lines = read_with_progress(file, on_progress)
                done: list[Imported] = []
                try:
                    if joined is None:
                        steps = self._importing(lines, log, file_name, None, keep_secrets, file.label_of)
                        await run_steps(steps, done.append, on_progress)
                    else:
                        done.append(await joined.import_log(lines, log, name=file_name))
                        tell(done[0])
                except BadInput as fault:
                    if skip_empty and str(fault) == str(UnreadableLog()):
                        report = replace(report, empty=(*report.empty, file.label))
                        continue
                    raise type(fault)(f"{file.label}: {fault}") from fault
                finally:
                    end = finished_reading(file)
                    tell(end)
            await add_projects(self._store, self.space, {each.session for each in done}, named)
            report = replace(
                report,
                sessions=(*report.sessions, *done),
                left_out=report.left_out + end.left_out,
                damage=report.damage or end.damage,
            )
            if joined is not None and report.damage:
                # The next file would continue after messages that are missing.
                return report
        if joined is not None and report.sessions:
            *others, last = report.sessions
            report = replace(report, sessions=(*others, replace(last, **asdict(await joined.settle()))))
            await self._catch_up(last.session, log)
        return report

    async def learn_from(
        self,
        file: LogPlace,
        *,
        format: LogFormatName | LogFormat | None = None,
        name: str = "",
        project: str = "",
        skip_empty: bool = False,
        keep_secrets: bool | None = None,
        on_progress: OnProgress[Reading | Imported | LearnedSession] = None,
    ) -> LearnReport:
        """Import a log as `import_file` does, and learn from its sessions.

        A file whose exact content was learned from before is skipped, so this may be repeated.
        """
        with closing(await asyncio.to_thread(self._resources.open_log, file)) as log:
            digest = await asyncio.to_thread(log.digest)
        known = await self._store.read(learning.known_files, self.space, [digest])
        if known:
            return LearnReport(is_known=True)
        imported = await self.import_file(
            file,
            format=format,
            name=name,
            project=project,
            skip_empty=skip_empty,
            keep_secrets=keep_secrets,
            on_progress=on_progress,
        )
        sessions = [each.session for each in imported.sessions]
        learned = await self.learn(sessions, on_progress=on_progress) if sessions else LearnReport()
        if digest:
            await self._store.write(learning.mark_file, self._resources, self.space, digest, name or log.stem, sessions)
        return replace(learned, imported=imported)

    async def learn_logs(
        self,
        logs: Iterable[LogPlace | GivenLog],
        *,
        on: str = "",
        project: str = "",
        keep_secrets: bool | None = None,
        on_progress: OnProgress[LearnStep] = None,
    ) -> LearnReport:
        """Learn from many logs, as `learn_from` does from one; unreadable ones are reported and skipped.

        Logs are read, redacted and analysed `on` ``"local:4"`` (processes of this machine) or the workers of a cluster
        at ``"dask://scheduler:8786"`` (the extra `dask`); by default in this process. Only this process writes, in the
        order of the logs, so the lessons don't depend on the number of workers. Raises MissingExtra, and BadInput if
        workers can't be reached or run another release; what was learned by then stays.
        """
        named = stated_project(project)
        learner = LogLearner(self._resources, self.space, self.learn_from, named, keep_secrets, on_progress)
        return await learner.run(logs, on)

    async def import_log(
        self,
        lines: Iterable[bytes],
        log: LogFormat,
        *,
        name: str,
        session: str | None = None,
        keep_secrets: bool | None = None,
        on_progress: OnProgress[Imported] = None,
    ) -> ImportReport:
        """Store the sessions of a log as they are read, or all of it as `session`; `name` is the file's name.

        Messages that are stored already stay as they are, so a log that has grown can be imported again. In the formats
        of chats that people edit, the main branch moves to where the chat ends now, with what was written by hand;
        messages added here that it lacks are kept on a branch (`Imported.kept`). Keys, tokens and passwords are
        replaced by marks such as ``[REDACTED password]`` before anything is stored, unless `keep_secrets` is set here
        or on opening. A stored message is recognised with or without its secrets.
        """
        imported: list[Imported] = []
        steps = self._importing(lines, log, name, session, keep_secrets)
        await run_steps(steps, imported.append, on_progress)
        return ImportReport(sessions=tuple(imported))

    async def _importing(
        self,
        lines: Iterable[bytes],
        log: LogFormat,
        name: str,
        session: str | None,
        keep_secrets: bool | None,
        label_of: LabelOf = lambda session: None,
    ) -> AsyncGenerator[Imported, None]:
        if session is not None:
            joined = self._joined(session, keep_secrets)
            imported = await joined.import_log(lines, log, name=name)
            yield replace(imported, **asdict(await joined.settle()))
            await self._catch_up(imported.session, log)
            return
        async for imported in import_sessions(self._resources, self.space, lines, log, name, keep_secrets, label_of):
            await self._catch_up(imported.session, log)
            yield imported

    async def _catch_up(self, session: str, log: LogFormat) -> None:
        """Write the summaries of an agent's session, so that its first context finds them."""
        if preset_of(f"{log.name}:", self._resources.preset).story is None:
            await (await self.session(session)).catch_up()

    async def work(
        self,
        *,
        until_idle: bool = True,
        preset: str | Policy | None = None,
        lease_seconds: float = LEASE_SECONDS,
        leases: bool = True,
        on_progress: OnProgress[WorkResult] = None,
    ) -> WorkReport:
        """Do the background work that is due; any number of processes may work at once.

        The work is: to write the summaries of agents' work that need no model; to have the model write better ones and
        those of stories, each under a lease of `lease_seconds`, which is renewed while the model is awaited; to
        remember the facts that users state, and the episodes and failures of turns; to reflect once there is enough
        that is new; to archive what fades; and to compute missing vectors.

        It ends once nothing is due; with ``until_idle=False`` it waits for more, and runs until it is cancelled.
        `preset` replaces the sessions' own presets. `on_progress` receives each piece of work that was done.
        """
        chosen = preset_named(preset) if isinstance(preset, str) else preset
        worker = Worker(self._store, self._resources.clock, lease_seconds=lease_seconds, leases=leases)
        works = SpaceWork(self._resources, self.space, worker, chosen)
        return await work_report(works.run(until_idle=until_idle), on_progress)

    async def doctor(
        self, *, repair: bool = False, quick: bool = False, on_progress: OnProgress[Examined] = None
    ) -> Sequence[Finding]:
        """Check the store and every session of the space.

        With `repair`, whatever follows from the log is repaired: broken summaries are removed (they are made again),
        stale leases and failures are dropped, and counters, indexes, vectors and learned runs are corrected. The log is
        never changed. `quick` skips the checks that read the whole log: message hashes and row checksums.
        """
        now = self._resources.clock.now()
        return await examine(self._store, self.space, now, repair=repair, quick=quick, on_looked=counting(on_progress))

    async def secrets(self, *, repair: bool = False, on_progress: OnProgress[Examined] = None) -> Secrets:
        """Find keys, tokens and passwords in everything stored of the space, counted by kind and place.

        With `repair` they are removed from every byte of the store. Messages get the ids that they have without them,
        so re-imported logs are recognised; branches, pins and sources of memories follow, and summaries of changed
        messages are dropped.
        """
        return await secrets(self._resources, self.space, repair=repair, on_looked=counting(on_progress))

    async def close(self) -> None:
        """Close the store."""
        try:
            await self._compile_traps()
        finally:
            await self._store.close()

    async def _compile_traps(self) -> None:
        """Compile the traps now, so that no hook has to."""
        # If the store is closed, busy or read-only, the next `check` or hook compiles them.
        with suppress(StoreError):
            if await self._store.read(lambda tx: tx.traps.due(self.space)):
                await self._store.write(store_traps, self.space)

    async def learn(
        self, sessions: Iterable[str] | None = None, *, on_progress: OnProgress[LearnedSession] = None
    ) -> LearnReport:
        """Learn from the given sessions, or from every session that has grown since it was last learned from.

        If there is a model, it also reads each run, and then reviews its own lessons once. If the model fails, that is
        reported, and the rest is done without it. `learn` may be interrupted and may run several times at once: what
        was learned stays, and nothing is learned twice.
        """
        done: list[LearnedSession] = []
        await run_steps(learn(self._resources, self.space, sessions), done.append, on_progress)
        if sessions is None:
            await self._compile_traps()
        return LearnReport(sessions=tuple(done))

    async def unlearned(self) -> int:
        """Return how many sessions `learn` would learn from."""
        return len(await self._store.read(due_runs, self.space))

    async def lessons(
        self,
        *,
        project: str | None = None,
        category: Category | None = None,
        disputed: bool = False,
        guarded: bool = False,
    ) -> Sequence[Lesson]:
        """Return the lessons that hold: rulings first, then by the number of runs that showed them.

        With `project` only its own, general ones and, if the space has no other project, those without one; with
        `disputed` also those retired by an objection, and with `guarded` those told only where they apply.
        """
        listed = partial(listing.lessons, project=project, category=category, disputed=disputed, guarded=guarded)
        return await self._store.read(listed, self._resources, self.space)

    async def review(self, id: str, verdict: Verdict, *, text: str = "", reason: str = "") -> Record:
        """Record the user's verdict on a lesson: ``"keep"`` it, ``"edit"`` it to `text`, or ``"drop"`` it.

        The verdict outlasts whatever runs show later: a kept lesson is neither reworded nor overturned, and a dropped
        one does not return in other words. Raises MemoryNotFound and BadInput.
        """
        return await review(self._resources, self.space, id, verdict, text, reason)

    async def runs(self) -> Sequence[LearnedRun]:
        """Return the runs that were learned from, with their diaries, the one that ended last first."""
        return await self._store.read(lambda tx: tx.runs.list(self.space))

    async def claims(self, *, least_runs: int = 1) -> Sequence[ClaimTotals]:
        """Return every claim that held in at least `least_runs` runs, with what it cost."""
        return await self._store.read(lambda tx: tx.runs.claims(self.space, least_runs=least_runs))

    async def check(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        *,
        session: str | None = None,
        project: str | None = None,
        log: LogFormat | None = None,
        lines: Iterable[bytes] = (),
    ) -> GuardAdvice | None:
        """Check a call before it is made against the known traps; None if there is no objection.

        A trap is a lesson with a trigger and a way out, a ruling, or a failure that was remembered. With `session`,
        traps that it has already met or avoided are left out; for a session that is not stored, pass its log so far as
        `lines` in the format `log`. With `project` (a name or directory) only what was seen there or is marked as
        general. An unknown session or project is not an error, since it may be new; `lessons` shows what is known of a
        project. The result is advice: nothing in a call makes this raise, unless it has the wrong types.
        """
        if log is None and not (isinstance(lines, Sequence) and not lines):
            raise BadInput("`lines` are given without their format; pass the format as `log`.")
        so_far = None if log is None else await asyncio.to_thread(session_so_far_in_log, log, lines, session or "")
        look_back = None if so_far is None else lambda: so_far
        call = Call(id="", name=tool, arguments=arguments if isinstance(arguments, str) else dict(arguments))
        # Traps were compiled from calls whose secrets were redacted.
        call = self._resources.derived_cleaning().variants(Draft(role="assistant", parts=(call,))).drafts[0].calls[0]
        await self._compile_traps()
        asked = partial(check, session=session, look_back=look_back, project=project_asked(project))
        return await self._store.read(asked, self.space, call.name, call.arguments)

    async def lookup(
        self, id: str, *, session: str = "", project: str | None = None, viewpoint: str = ""
    ) -> LookupResult:
        """Return what an id names: a summary, message, memory or annotation, or the diary of a session.

        A unique prefix of the id is enough. With `session` only that session is searched; with `project` nothing of
        another project is opened, with `viewpoint` nothing that this character does not know. Raises NotFound, and
        BadInput if the prefix is ambiguous.
        """
        return await lookup(self._resources, self.space, id, session, project_asked(project), viewpoint)

    async def dispute(
        self, id: str, reason: str, *, claim: str = "", origin: Source = "agent", project: str | None = None
    ) -> Annotation | Remembered:
        """Dispute a memory or a summary (or one `claim` of it), with a reason.

        The reason is stored as the word of `origin`. With `project` nothing of another project is disputed. Raises
        NotFound, and BadInput without a reason.
        """
        return await dispute_id(self._resources, self.space, id, reason, claim, origin, project_asked(project))

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, as this memory counts them."""
        return self._resources.count(text)

    async def remember(self, text: str, **details: Unpack[MemoryDetails]) -> Remembered:
        """Store the statement `text` as a memory, and say what became of it.

        It becomes a new memory, adds evidence to one that says the same, supersedes or disputes one that says
        otherwise, or is ignored: see `Remembered.did` and `reason`.

        The kind and the slot are derived from the text unless they are given; of several statements each that fills a
        slot becomes a memory of its own (`Remembered.more`). `details` may be `kind` (``"semantic"``
        for facts, ``"episodic"``, ``"procedural"``, ``"failure"``), `subject`, `attribute` and `value` of a fact, `at`
        (when it happened, or became true), `project`, `labels`, `session` and `messages` (where it comes from),
        `origin` (who says so), and the others of `ireneo.types.MemoryDetails`.

        Secrets are replaced unless the memory was opened with `keep_secrets`. Raises BadInput, with nothing written,
        for details that can't be used.
        """
        return await remember(self._resources, self.space, text, **details)

    async def remember_all(self, texts: Iterable[tuple[str, MemoryDetails]]) -> Sequence[Remembered]:
        """Remember many texts, each with its details, in one transaction: all of them or, on BadInput, none."""
        return await self._store.write(remember_all, self._resources, self.space, texts)

    async def memories(
        self,
        *,
        kind: Kind | None = None,
        subject: str | None = None,
        project: str | None = None,
        label: str | None = None,
        state: ListedState | None = None,
        text: str = "",
        undone: bool = False,
        limit: int = PAGE,
        after: str = "",
    ) -> MemoryPage:
        """Return a page of the memories that match every filter, the newest first.

        By default these are the active and the disputed ones; `state` may also be ``"any"`` or ``"archived"``. With
        `project` only what may be seen from there is listed, with `undone` also what a rewind left behind; `text` must
        occur word for word. A page's `after` gives the next one; writes in between neither repeat nor hide a memory.
        """
        asked = ListQuery(
            kind=kind, subject=subject, project=project, label=label, state=state, text=text, undone=undone, limit=limit
        )
        return await self._store.read(list_memories, self.space, asked, after)

    async def update(
        self,
        id: str,
        *,
        text: str | None = None,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | None = None,
        labels: Sequence[str] | None = None,
        project: str | None = None,
        pinned: bool | None = None,
        at: datetime | None = None,
        origin: Source = "user",
    ) -> Record:
        """Change a memory, and return it as it is then; what is not given stays.

        New words, or another slot, supersede the old memory from `at` on (by default from now on; an event keeps its
        day); a quotation becomes the user's own statement, and `reason` names what else says the old words, and what is
        no longer said. `labels` replaces all labels; the project ``"*"`` is every project. With the origin ``"agent"``
        only agents' memories may be changed. Raises MemoryNotFound and BadInput.
        """
        edit = MemoryEdit(
            text=text,
            subject=subject,
            attribute=attribute,
            value=value,
            labels=labels,
            project=project,
            pinned=pinned,
            at=at,
        )
        return await update(self._resources, self.space, id, edit, origin)

    async def merge(self, ids: Sequence[str], *, text: str | None = None, origin: Source = "user") -> Record:
        """Merge memories that say the same into the first of them, reworded as `text` if that is given.

        The first memory (a fact before an event) gets the evidence and the labels of all, and the others are retired
        and name it; `restore` brings them back. Reworded, it is a new memory, true since the first was. Raises
        MemoryNotFound, and BadInput for memories that can't say the same and for lessons.
        """
        return await merge(self._resources, self.space, ids, text, origin)

    async def delete(
        self, ids: Sequence[str], *, source: bool = False, preview: bool = False, origin: Source = "user"
    ) -> Deleted:
        """Erase memories, and what was derived from them alone, from every byte of the store.

        The messages they come from stay and are listed in the result; with `source` they are erased too. With `preview`
        nothing is changed. Raises MemoryNotFound with nothing erased, and BadInput.
        """
        return await delete(self._resources, self.space, ids, source=source, preview=preview, origin=origin)

    async def get(self, ids: Sequence[str], *, undone: bool = False) -> Sequence[Record]:
        """Return the memories whose ids begin with one of `ids`, in that order; unknown ones are skipped.

        Memories that a rewind left behind are unknown, unless `undone` is true.
        """
        return await self._store.read(memories_named, self.space, ids, undone=undone)

    async def history(
        self,
        subject: str,
        attribute: str | None = None,
        *,
        at: datetime | None = None,
        believed_at: datetime | None = None,
        project: str | None = None,
        undone: bool = False,
    ) -> Sequence[Fact]:
        """Return the facts about a subject (or one attribute) over time, including superseded and disputed ones.

        With `at` only what was true then; with `believed_at` as it was known then; with `project` what was stated there
        or is marked as general; with `undone` also what a rewind left behind.
        """
        limits = partial(history, at=at, believed_at=believed_at, project=project_asked(project), undone=undone)
        return await self._store.read(limits, self.space, subject, attribute)

    async def used(self, ids: Sequence[str], *, helped: bool | None = None) -> Sequence[Record]:
        """Record that memories were acted on now and, if known, whether they helped or harmed.

        Raises MemoryNotFound.
        """
        return await self._store.write(record_use, self._resources, self.space, ids, helped=helped)

    async def recall(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        limit: int = 10,
        budget: int | None = None,
        at: datetime | None = None,
        session: str | None = None,
        branch: str | None = None,
        project: str | None = None,
        viewpoint: str = "",
        undone: bool = False,
        explain: bool = False,
    ) -> RecallResults:
        """Return the messages and memories that answer the question `text`, the best first, at most `limit`.

        Each filter narrows the search: `kind` to memories of that kind; `at` to what held, and had been said, by then;
        `session` and `branch` to what comes from there; `project` (a name or a directory) to what belongs to it or is
        marked as general; `viewpoint` to what that character was present for (``"Vera = the Countess"`` for one with
        several names). Without `branch` the main branches are searched. `undone` adds what a rewind left behind.

        `budget` limits the tokens of all returned texts together. With `explain` each hit has the parts of its score.

        Raises BadInput for an empty question, an unknown kind, branch or character, a limit under 1, and a time without
        a zone.
        """
        asked = RecallQuery(
            text=text,
            kind=kind,
            limit=limit,
            budget=budget,
            at=at,
            session=session,
            branch=branch,
            project=project_asked(project),
            viewpoint=viewpoint,
            undone=undone,
            explain=explain,
        )
        return await recall(self._resources, self.space, self._held, asked)

    async def embed(self, *, on_progress: OnProgress[EmbedReport] = None) -> EmbedReport:
        """Compute the missing vectors of all messages and memories, and return how many were made.

        It may be stopped, and continues where it was. `on_progress` receives the total so far. Without an embedder it
        does nothing. Raises EmbedderError.
        """
        done = EmbedReport(documents=0, left=False)
        while self._resources.embedder is not None:
            made = await embed_missing(self._store, self.space, self._resources.embedder, TOGETHER)
            done = EmbedReport(documents=done.documents + made.documents, left=made.left)
            if on_progress is not None and made.documents:
                on_progress(done)
            if not (made.left and made.documents):
                break
        return done

    async def brief(
        self,
        *,
        goal: str = "",
        task_type: str = "",
        situation: str = "",
        about_to: str = "",
        session: str | None = None,
        branch: str | None = None,
        project: str | None = None,
        viewpoint: str = "",
        undone: bool = False,
        task: str | None = None,
        budget: int = BUDGET,
    ) -> Brief:
        """Return what a turn should know: standing instructions, and whatever serves it, in at most `budget` tokens.

        That is: memories and messages that serve the `goal`, procedures of exactly the type `task_type`, episodes like
        the `situation`, failures of the action that the agent is `about_to` take, and the scratchpad of `task`. With
        `project` the project's lessons come first, ordered by what they are expected to save, and other projects are
        left out. `session`, `branch`, `viewpoint` and `undone` narrow it as in `recall`.

        No model is asked. Memories that are shown are marked as used. Raises BadInput for a budget under 64 tokens, an
        unknown character, session or branch, and the scratchpad of another project.
        """
        cue = BriefCue(
            goal=goal,
            task_type=task_type,
            situation=situation,
            about_to=about_to,
            session=session,
            branch=branch,
            project=project_asked(project),
            viewpoint=viewpoint,
            undone=undone,
        )
        return await briefs.brief(self._resources, self.space, self._held, cue, task, budget)

    def scratchpad(self, task: str, *, project: str | None = None) -> Scratchpad:
        """Return the scratchpad of a task; contexts of the session of the same name show it. Raises BadInput.

        With `project` the methods of the scratchpad raise BadInput if it, or the session named like the task, belongs
        to another project.
        """
        return Scratchpad(self._resources, self.space, task, project_asked(project))

    async def pads(self) -> Sequence[Pad]:
        """Return every scratchpad of the space, the most recently written first."""
        return await self._store.read(lambda tx: tx.pads.list(self.space))

    async def reflect(self, *, force: bool = False) -> ReflectionResult:
        """Draw up to three conclusions from what happened, and reconsider those whose sources changed.

        Done only if enough is new or, with `force`, if anything is. `work` does so by itself.
        """
        return await reflect(self._resources, self.space, force=force)

    async def archive_candidates(self, limit: int = 20) -> Sequence[ArchiveCandidate]:
        """Return the memories that would be archived next, those least worth keeping first, each with the reason."""
        return await self._store.read(archive_candidates, self._resources, self.space, limit)

    async def archived(self, limit: int = 20) -> Sequence[Record]:
        """Return what was archived, or became too old to rely on, newest first, with `archived_at` and the reason."""
        return await self._store.read(archived, self.space, limit)

    async def archive(self, keep: int) -> Sequence[MemoryId]:
        """Archive the memories that are least worth keeping, until at most `keep` are in use, and return their ids.

        Some more are archived, about 2 % of `keep`, so that it need not be done at every write. Archived memories are
        not recalled until `restore`. Pinned ones are included in `keep`, and never archived.
        """
        return await archive(self._resources, self.space, keep)

    async def restore(self, ids: Sequence[str]) -> Sequence[Record]:
        """Take memories out of the archive, and let those be true again that were merged or ended by mistake.

        Returns those that did not hold before. Raises NotFound, and BadInput for one that another value replaced.
        """
        return await self._store.write(restore, self._resources, self.space, ids)

    async def forget(
        self,
        *,
        subject: str | None = None,
        message: str | None = None,
        session: str | None = None,
        memory: str | None = None,
        space: str | None = None,
        also: Collection[str] = (),
        preview: bool = False,
    ) -> ErasureReceipt:
        """Erase a message, session or memory, or all that names a subject, with what was derived from it alone.

        `space` erases the whole space; it must be the name of the space, so that this never happens by accident.

        Affected summaries are removed and made again without the erased text; memories lose that source, or are
        removed; indexes and vectors too, until no byte of the store holds the text. `ErasureReceipt.complete` says
        whether that is reached, and its note what remains to be done otherwise. An erased message keeps its place in
        the tree, and stays erased if it is imported again. A `Session` that was made before is empty afterwards, and
        begins anew with the next append.

        With `preview` nothing is changed, and the receipt says what would be. Its `also` lists what would stay and may
        have to go as well: sentences that may refer to the subject by another name, a role or a pronoun, and the
        messages that a memory was drawn from. Pass their ids as `also` to erase them too.

        Raises NotFound, and BadInput unless exactly one thing is named.
        """
        return await forget(
            self._resources,
            self.space,
            subject=subject,
            message=message,
            session=session,
            memory=memory,
            everything=space,
            also=also,
            preview=preview,
        )

    async def export_memories(
        self,
        to: FileFormat = "markdown",
        *,
        there: Callable[[str], bytes | None] | None = None,
        on_progress: OnProgress[Exported] = None,
    ) -> Sequence[Exported]:
        """Export every memory: one Markdown file each or, as ``"jsonl"``, one file with a line for each.

        `there` is called with a file's path, and returns the bytes of the existing file, or None if there is none. If
        that file has edits that were not imported, `Exported.stands` is ``"edited"``. `on_progress` receives each file.
        """
        return await export_memories(self._resources, self.space, to, there or (lambda path: None), on_progress)

    async def import_memories(
        self, files: Iterable[MemoryFile], *, on_progress: OnProgress[MemoriesImported] = None
    ) -> MemoriesImported:
        """Import memories from exported, edited or hand-written files.

        Importing a file twice changes nothing. Edited words are the user's, and supersede the previous ones. Unreadable
        entries are reported with their line, and the rest is stored.
        """
        return await import_memories(self._resources, self.space, files, on_progress)

    def _joined(self, session: str, keep_secrets: bool | None) -> JoinedImport:
        cleaning = self._resources.cleaning(keep_secrets)
        return JoinedImport(self._store, SessionKey(self.space, session), self._resources.count, cleaning)
