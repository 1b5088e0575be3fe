"""A memory: the sessions of one space, what is known from them, and what their runs taught."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from typing import Unpack

from msgspec.structs import replace

from ireneo.engine import brief as briefs
from ireneo.engine import learn as learning
from ireneo.engine import lessons as listing
from ireneo.engine.archive import ArchiveCandidate, archive, archive_candidates, archived, restore
from ireneo.engine.brief import BUDGET, BriefCue
from ireneo.engine.check import check, keep_traps, so_far_in_log
from ireneo.engine.doctor.checks import Finding
from ireneo.engine.doctor.examine import examine
from ireneo.engine.doctor.secrets import Secrets, secrets
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
from ireneo.engine.forget import ErasureReceipt, forget
from ireneo.engine.imports import (
    Imported,
    JoinedImport,
    format_of,
    import_session,
    new_name,
    sessions_of,
    stored_name,
)
from ireneo.engine.learn import LearnedSession, due_runs, learn
from ireneo.engine.learn_logs import GivenLog, LearnStep, LogLearner
from ireneo.engine.leasing import LEASE_SECONDS, Worker
from ireneo.engine.lessons import Lesson
from ireneo.engine.lookup import LookupResult, dispute_id, lookup
from ireneo.engine.merging import merge_lessons
from ireneo.engine.projects import check_project, place_all, project_asked, project_told
from ireneo.engine.recall import recall
from ireneo.engine.reflect import Reflected, reflect
from ireneo.engine.remember import Remembered, history, remember, remember_all, used
from ireneo.engine.reports import (
    Examined,
    ImportReport,
    LearnReport,
    OnProgress,
    Reading,
    WorkReport,
    counting,
    ended,
    read_on,
    run_steps,
    work_report,
)
from ireneo.engine.resources import Resources
from ireneo.engine.review import Verdict, review
from ireneo.engine.scope import RecallQuery
from ireneo.engine.scratchpad import Scratchpad
from ireneo.engine.session import Session
from ireneo.engine.vectors import TOGETHER, Embedded, HeldVectors, embed_due
from ireneo.engine.work import WorkResult, Works
from ireneo.errors import BadInput, SessionNotFound, StoreError, UnreadableLog
from ireneo.formats.logs.format import LinearFormat, LogFormat
from ireneo.formats.logs.registry import CONVERSATIONS, LogFormatName
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
from ireneo.ports.files import LogPlace
from ireneo.ports.store import SessionInfo
from ireneo.summaries.policy import Policy, preset_of
from ireneo.summaries.policy import preset as preset_named


class Memory:
    """What `ireneo.open` gives: the sessions of one space, and its memories. No call ever reaches another space."""

    def __init__(self, resources: Resources, space: str) -> None:
        """Stand on an open store."""
        self.space = space
        self._resources = resources
        self._store = resources.store
        self._held = HeldVectors()

    async def session(
        self, id: str, *, branch: str = MAIN, must_exist: bool = False, task: str = "", project: str = ""
    ) -> Session:
        """The session called `id`, on one of its branches; it is made by its first append.

        Its contexts show the scratchpad of `task`, or of the task that is called as the session is. `project`, a name
        or the directory where it lies, is the one that it works on: what it shows is told there, and not in others. An
        imported log says that itself. With `must_exist`, raises SessionNotFound where it was not made yet, and
        BadInput where it is known to be of another project.
        """
        named = project_told(project)
        key = await self._store.read(stored_name, SessionKey(self.space, id), self._resources.cleaning())
        info = await self._store.read(lambda tx: tx.sessions.get(key))
        if info is None and must_exist:
            raise SessionNotFound(f"There is no session {id!r} in space {self.space!r}; see `ireneo sessions`.")
        if named and info is not None:
            check_project(id, info.project, named)
        session = Session(self._resources, key, branch, info.source if info else None, task, named)
        if must_exist:
            await session.check()
        return session

    async def sessions(self) -> Sequence[SessionInfo]:
        """Every session of the space, the one that was appended to last standing first."""
        return await self._store.read(lambda tx: tx.sessions.list(self.space))

    async def import_file(
        self,
        *files: LogPlace,
        format: LogFormatName | LogFormat | None = None,
        name: str = "",
        session: str | None = None,
        skip_empty: bool = False,
        keep_secrets: bool | None = None,
        on_progress: OnProgress[Reading | Imported] = None,
    ) -> ImportReport:
        """Take logs in from where they lie: plain or packed as .gz or .xz, or a folder of events.

        Each session of them is stored under its own name, or all of them into one called `session`, one file behind the
        other in the order given: take the same again with new ones behind them, and only these are added. `format` is
        what they are in, where that is not to be found out. Sessions that have no name of their own are called `name`,
        or as their file is.

        What is there already is left as it is, a chat stands as it is now, and secrets become marks, as `import_log`
        says. `on_progress` is told how far a file is read, and of each session. Raises BadInput for what can't be read,
        and for a file without a message unless `skip_empty` is set; what stands before that is stored.
        """
        joined = None if session is None else self._joined(session, keep_secrets=keep_secrets)
        report = ImportReport()
        names: set[str] = set()
        for place in files:
            with closing(self._resources.open_log(place)) as file:
                log = format_of(format, file)
                called = name or new_name(file.stem, place, names)
                names.add(called)
                lines = read_on(file, on_progress)
                try:
                    if joined is None:
                        done = await self.import_log(
                            lines, log, name=called, keep_secrets=keep_secrets, on_progress=on_progress
                        )
                    else:
                        done = ImportReport(sessions=(await joined.import_log(lines, log, name=called),))
                        if on_progress is not None:
                            on_progress(done.sessions[0])
                except BadInput as fault:
                    if skip_empty and str(fault) == str(UnreadableLog()):
                        report = replace(report, empty=(*report.empty, file.label))
                        continue
                    raise type(fault)(f"{file.label}: {fault}") from fault
                finally:
                    at_end = ended(file)
                    if on_progress is not None:
                        on_progress(at_end)
            report = replace(
                report,
                sessions=report.sessions + done.sessions,
                left_out=report.left_out + at_end.left_out,
                damage=report.damage or at_end.damage,
            )
            if joined is not None and report.damage:
                # What follows would stand behind messages that are missing.
                return report
        if joined is not None and report.sessions:
            *others, last = report.sessions
            report = replace(report, sessions=(*others, replace(last, kept=await joined.settle())))
        return report

    async def learn_from(
        self,
        file: LogPlace,
        *,
        format: LogFormatName | LogFormat | None = None,
        name: str = "",
        skip_empty: bool = False,
        keep_secrets: bool | None = None,
        on_progress: OnProgress[Reading | Imported | LearnedSession] = None,
    ) -> LearnReport:
        """Take a log in, as `import_file` does, and learn from its sessions.

        A file of which each byte was learned from before is passed over, so that it may be done as often as you like.
        """
        with closing(self._resources.open_log(file)) as log:
            digest = log.digest()
        known = await self._store.read(learning.known_files, self.space, [digest])
        if known:
            return LearnReport(is_known=True)
        imported = await self.import_file(
            file, format=format, name=name, skip_empty=skip_empty, keep_secrets=keep_secrets, on_progress=on_progress
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
        keep_secrets: bool | None = None,
        on_progress: OnProgress[LearnStep] = None,
    ) -> LearnReport:
        """Learn from many logs, as `learn_from` does from one; what can't be read is left out, and told.

        They are read, redacted and analysed `on` ``"local:4"``, processes on this machine, or on the workers of a
        cluster at ``"dask://scheduler:8786"`` (the extra `dask`); empty: here. This process alone writes, in the order
        of the logs, so that the lessons are the same for any number of workers. `on_progress` is told of each log as
        well. Raises BadInput where workers can't be reached or run another release, MissingExtra; what was learned by
        then stays.
        """
        learner = LogLearner(self._resources, self.space, self.learn_from, keep_secrets, on_progress)
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
        """Store the sessions of a log, one at a time as they are read, or all of it as `session`; `name` is the file's.

        What is there already is left as it is, so that a log that has grown can be imported again. A chat that people
        edit stands as it is now, and what was said here since is kept on a branch where it goes on otherwise (`kept` of
        what is returned). Keys, tokens and
        passwords become marks such as ``[REDACTED password]`` before anything is stored, unless `keep_secrets` says
        otherwise, here or where the memory was opened. A message that is stored already is found again, with its
        secrets or without them. `on_progress` is told of each session.
        """
        if session is not None:
            joined = self._joined(session, keep_secrets=keep_secrets)
            one = await joined.import_log(lines, log, name=name)
            one = replace(one, kept=await joined.settle())
            if on_progress is not None:
                on_progress(one)
            return ImportReport(sessions=(one,))
        done: list[Imported] = []
        await run_steps(self._importing(lines, log, name, keep_secrets), done.append, on_progress)
        return ImportReport(sessions=tuple(done))

    async def _importing(
        self, lines: Iterable[bytes], log: LogFormat, name: str, keep_secrets: bool | None
    ) -> AsyncGenerator[Imported, None]:
        if isinstance(log, LinearFormat):
            joined = self._joined(name, only_adds=False, keep_secrets=keep_secrets)
            linear = await joined.import_log(lines, log, name=name)
            yield replace(linear, kept=await joined.settle())
            return
        with self._resources.spool() as spool:
            found = sessions_of(log, lines, name, spool)
            # Each is read in a thread: a large log takes its time.
            while (logged := await asyncio.to_thread(next, found, None)) is not None:
                cleaning = self._resources.cleaning(keep_secrets)
                source = f"{log.name}:{cleaning.text(name)}"
                done = await import_session(
                    self._store,
                    self.space,
                    logged,
                    source,
                    self._resources.count,
                    cleaning,
                    follows=log.name in CONVERSATIONS,
                )
                if preset_of(source, self._resources.preset).story is None:
                    await (await self.session(done.session)).catch_up()
                yield done

    async def work(
        self,
        *,
        until_idle: bool = False,
        preset: str | Policy | None = None,
        lease_seconds: float = LEASE_SECONDS,
        leases: bool = True,
        on_progress: OnProgress[WorkResult] = None,
    ) -> WorkReport:
        """Write what is due behind the conversation, in this and in any number of processes.

        Without a model the summaries that the structure gives; with one its texts, under a lease of `lease_seconds`
        each, which is renewed while the model is waited for. It ends when nothing is due any more, or, unless
        `until_idle`, never: then run it as a task, and cancel that. Each session is worked on as it is looked at; with
        `preset`, all of them so. What was done is remembered as well: episodes and failures of each turn of work and
        each leaf of a story, and, where enough is new, what follows from them. `on_progress` is told of each piece.
        """
        chosen = preset_named(preset) if isinstance(preset, str) else preset
        worker = Worker(self._store, self._resources.clock, lease_seconds=lease_seconds, leases=leases)
        works = Works(self._resources, self.space, worker, chosen)
        return await work_report(works.run(until_idle=until_idle), on_progress)

    async def doctor(
        self, *, repair: bool = False, quick: bool = False, on_progress: OnProgress[Examined] = None
    ) -> Sequence[Finding]:
        """Look over the store and every session of the space: what is wrong, and what is worth knowing.

        With `repair` what can be repaired is: broken summaries are taken out, since they are made again from the log;
        stale leases and failures are forgotten; counters, indexes, vectors and what was learned from runs are put
        right. The log is never changed. `quick` leaves out whether each message is what its id says and each row what
        was stored, which reads all of it.
        """
        now = self._resources.clock.now()
        return await examine(self._store, self.space, now, repair=repair, quick=quick, on_looked=counting(on_progress))

    async def secrets(self, *, repair: bool = False, on_progress: OnProgress[Examined] = None) -> Secrets:
        """Look for keys, tokens and passwords in all that is kept of the space: how many of which sort stand where.

        With `repair` they are taken out, and out of every byte of the store. Messages get the ids that they have
        without them, so that their logs are known when they are imported again; branches, pins and the sources of
        memories follow, summaries over what has changed are dropped.
        """
        return await secrets(self._resources, self.space, repair=repair, on_looked=counting(on_progress))

    async def close(self) -> None:
        """Let go of the store."""
        await self._compile_traps()
        await self._store.close()

    async def _compile_traps(self) -> None:
        """Make the traps ready for hooks, which would have to do it themselves."""
        # What can't be kept (the store is closed, busy, or only to be read) is compiled by whoever asks.
        with suppress(StoreError):
            if await self._store.read(lambda tx: tx.traps.due(self.space)):
                await self._store.write(keep_traps, self.space)

    async def learn(
        self, sessions: Iterable[str] | None = None, *, on_progress: OnProgress[LearnedSession] = None
    ) -> LearnReport:
        """Learn from every session of the space that was not learned from as far as it stands now, or from `sessions`.

        It may be stopped, killed and run by several at once: what was learned stays, and nothing is learned twice.
        With a model each run is also read by it, and then what is new beside what is known, so that one lesson in
        several words becomes one; its failure is told, and changes nothing. `on_progress` is told of each session.
        """
        done: list[LearnedSession] = []
        await run_steps(learn(self._resources, self.space, sessions), done.append, on_progress)
        merged = await merge_lessons(self._resources, self.space, done)
        if sessions is None:
            await self._compile_traps()
        return LearnReport(sessions=tuple(done), merged=merged)

    async def unlearned(self) -> int:
        """How many sessions of the space `learn` would learn from."""
        return len(await self._store.read(due_runs, self.space))

    async def lessons(
        self,
        *,
        project: str | None = None,
        category: Category | None = None,
        disputed: bool = False,
    ) -> Sequence[Lesson]:
        """What runs taught and still holds: rulings first, then what most runs showed.

        With `project` what was seen there or is marked as general; with `disputed` also what counts no longer since
        somebody spoke against it, with the reason that was given.
        """
        return await self._store.read(
            listing.lessons,
            self._resources,
            self.space,
            project=project,
            category=category,
            disputed=disputed,
        )

    async def review(self, id: str, verdict: Verdict, *, text: str = "", reason: str = "") -> Record:
        """The user's word on a lesson: ``"keep"`` it as it stands, ``"edit"`` it to `text`, or ``"drop"`` it.

        Whatever runs show later, it stays so: a kept lesson is not reworded and not overturned, a dropped one does not
        come back, also not in other words, unless it is kept. Raises MemoryNotFound and BadInput.
        """
        return await review(self._resources, self.space, id, verdict, text, reason)

    async def runs(self) -> Sequence[LearnedRun]:
        """The runs that were learned from, each with its diary, the one that ended last standing first."""
        return await self._store.read(lambda tx: tx.runs.list(self.space))

    async def claims(self, *, least_runs: int = 1) -> Sequence[ClaimTotals]:
        """What the runs show together: every claim that held in so many of them, and what that cost."""
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
        """Say before a call is made whether it steps into a known trap; None where nothing speaks against it.

        A trap is what a lesson knows to go wrong, with a way out, or a rule of the user's. With `session` as things
        stand there now: who has met the trap there, or has taken the way out, is told nothing. Where the session is not
        stored, its log so far may be given as `lines` in the format `log`. With `project`, a name or the directory
        where it lies, only what was seen there or is marked as general. It is advice, and never raises for what a call
        says.
        """
        if log is None and not (isinstance(lines, Sequence) and not lines):
            raise BadInput("`lines` of a log are given, and not in which format they are; name it as `log`.")
        so_far = so_far_in_log(log, lines, session or "") if log is not None else None
        look_back = None if so_far is None else lambda: so_far
        call = Call(id="", name=tool, arguments=arguments if isinstance(arguments, str) else dict(arguments))
        # What runs taught was drawn from calls without their secrets.
        call = self._resources.drawing().choices(Draft(role="assistant", parts=(call,))).drafts[0].calls[0]
        await self._compile_traps()
        return await self._store.read(
            check,
            self.space,
            call.name,
            call.arguments,
            session=session,
            look_back=look_back,
            project=project_asked(project),
        )

    async def lookup(
        self, id: str, *, session: str = "", project: str | None = None, viewpoint: str = ""
    ) -> LookupResult:
        """What an id names, wherever in the space: a block, a message, a memory, a pin, a session's diary.

        Its beginning will do where nothing else begins so. With `session` what stands in sessions is looked for in
        that one alone. Raises NotFound, and BadInput where it might name several.

        With `project` what belongs to another one is not opened, with `viewpoint` what that character doesn't remember.
        """
        return await lookup(self._resources, self.space, id, session, project_asked(project), viewpoint)

    async def dispute(
        self, id: str, reason: str, *, claim: str = "", origin: Source = "agent", project: str | None = None
    ) -> Annotation | Remembered:
        """Say that the block or the memory `id` is wrong, and why; of a block one `claim` alone may be.

        The reason is kept with whose word it is, `origin`. With `project` what belongs to another one is not
        disputed. Raises NotFound, and BadInput without a reason.
        """
        return await dispute_id(self._resources, self.space, id, reason, claim, origin, project_asked(project))

    def count(self, text: str) -> int:
        """What `text` costs, in tokens, as this memory counts them."""
        return self._resources.count(text)

    async def remember(self, text: str, **told: Unpack[MemoryDetails]) -> Remembered:
        """Remember `text`, and tell what became of it: added, reinforced, superseded, disputed, overturned or ignored.

        Of which kind it is, and what slot a plain statement has, is found by rules where it is not `told`. Raises
        BadInput, with nothing written, where something of it can't be used. Keys, tokens and passwords become marks,
        unless the memory was opened with `keep_secrets`.
        """
        return await remember(self._resources, self.space, text, **told)

    async def remember_all(self, texts: Iterable[tuple[str, MemoryDetails]]) -> Sequence[Remembered]:
        """Remember many texts, each with what is told of it, in one transaction: all of them or, on BadInput, none."""
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
        limit: int = PAGE,
        after: str = "",
    ) -> MemoryPage:
        """The memories of which all that is given is true, the newest first, at most `limit` of them.

        Those that stand, active or disputed, where no `state` is given; ``"any"`` and ``"archived"`` are states here.
        With `project` as they are seen from there; with `text` those that have these words in them. The next page is
        asked with the `after` of this one, and what is written meanwhile neither repeats nor hides one.
        """
        asked = ListQuery(
            kind=kind,
            subject=subject,
            project=project,
            label=label,
            state=state,
            text=text,
            limit=limit,
            after=after,
        )
        return await list_memories(self._resources, self.space, asked)

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
        """Change a memory, and give it as it is then; what is not given stays. Nothing is rewritten in place.

        New words or another slot are a word of `origin`, which takes the place of the old one, `at` a time or now.
        `labels` are all that it has then; the `project` is where it belongs, ``"*"`` for every one. An agent changes
        only what agents remembered. Raises MemoryNotFound and BadInput.
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
        """Put memories that say the same together: the first stays, worded as `text` if that is given.

        It has the evidence and the labels of all; the others no longer count, and say into which they went. Raises
        MemoryNotFound, and BadInput for memories of several kinds, and for lessons.
        """
        return await merge(self._resources, self.space, ids, text, origin)

    async def delete(
        self, ids: Sequence[str], *, source: bool = False, preview: bool = False, origin: Source = "user"
    ) -> Deleted:
        """Erase memories for good, with what was drawn from them alone, out of every byte of the store.

        The messages that said so stay, and are named in what this gives; with `source` they go as well. With `preview`
        nothing is done. Raises MemoryNotFound with nothing erased, and BadInput.
        """
        return await delete(self._resources, self.space, ids, source=source, preview=preview, origin=origin)

    async def get(self, ids: Sequence[str]) -> Sequence[Record]:
        """The memories whose ids begin with one of `ids`, in the order asked; unknown ones are passed over."""
        return await self._store.read(lambda tx: tx.memories.get(self.space, ids))

    async def history(
        self,
        subject: str,
        attribute: str | None = None,
        *,
        at: datetime | None = None,
        believed_at: datetime | None = None,
        project: str | None = None,
    ) -> Sequence[Fact]:
        """What is known of a subject, or of one of its attributes, over time: with what was corrected and disputed.

        With `at` only what was true at that moment; with `believed_at` as we believed then, having been told no more;
        with `project` what was told there or is marked as general.
        """
        if project is not None:
            await place_all(self._store, self.space)
        here = project_asked(project)
        return await self._store.read(
            history, self.space, subject, attribute, at=at, believed_at=believed_at, project=here
        )

    async def used(self, ids: Sequence[str], *, helped: bool | None = None) -> Sequence[Record]:
        """Note that memories were acted on now and, where that is known, whether it helped or harmed.

        Raises MemoryNotFound.
        """
        return await self._store.write(used, self._resources, self.space, ids, helped=helped)

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
        """What answers the question `text`, best first: at most `limit` messages and memories.

        With `kind` only memories of that kind, with `at` what was the case then and what was said by then. With
        `session` only what comes from there, and with a `branch` of it what lies on the path to that branch's head.
        With `project`, a name or the directory where it lies, what belongs to it or is marked as general; with
        `viewpoint` what that character was present for (``"Vera = the Countess"`` of one with several names), on the
        main branch of each session where none is named. What a rewind left behind is found with `undone` alone.
        `budget` is what the texts may cost together, in tokens. `explain` gives the parts of each score.

        Raises BadInput for an empty question, a kind, limit, branch or character that there is not, and a naive time.
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

    async def embed(self, *, on_progress: OnProgress[Embedded] = None) -> Embedded:
        """Give everything that is searched its vectors by the memory's embedder, and say how many were made.

        It may be stopped and goes on where it was; `on_progress` is told what was done so far. Nothing where there is
        no embedder. Raises EmbedderError.
        """
        done = Embedded(documents=0, left=False)
        while self._resources.embedder is not None:
            made = await embed_due(self._store, self.space, self._resources.embedder, TOGETHER)
            done = Embedded(documents=done.documents + made.documents, left=made.left)
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
        """What a turn is given: how the user wants to be answered, and what serves it, in `budget` tokens.

        That are memories of all kinds and messages that serve the `goal`, each with its date; procedures of just this
        `task_type`, episodes like the `situation`, failures of the action `about_to` be taken; and the scratchpad of
        `task`. Nothing where nothing serves. With a `project` its lessons stand before them, by what they are expected
        to save, and what neither belongs to it nor is marked as general is left out. With `session` only what comes
        from there, and with a `branch` of it what lies on that path; with `viewpoint` what that character was present
        for, with `undone` also what a rewind left behind. No model is asked. What is shown is marked as used.

        Raises BadInput under 64 tokens, for a character, session or branch that there is not, and for the scratchpad
        of another project.
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
        """The scratchpad of a task: the contexts of the session called `task` show it. Raises BadInput for no name.

        With `project` it is that project's alone: its calls raise BadInput where the pad, or the session that is called
        as the task is, is not of it.
        """
        return Scratchpad(self._resources, self.space, task, project_asked(project))

    async def pads(self) -> Sequence[Pad]:
        """Every scratchpad of the space, the one that was written last standing first."""
        return await self._store.read(lambda tx: tx.pads.list(self.space))

    async def reflect(self, *, force: bool = False) -> Reflected:
        """Look back: draw up to three conclusions from what happened, and reconsider those that lost their ground.

        It is done where enough is new; with `force` wherever anything is. `work` does it by itself.
        """
        return await reflect(self._resources, self.space, force=force)

    async def archive_candidates(self, limit: int = 20) -> Sequence[ArchiveCandidate]:
        """The memories that would be put away next, the least retained first, and why."""
        return await self._store.read(archive_candidates, self._resources, self.space, limit)

    async def archived(self, limit: int = 20) -> Sequence[Record]:
        """The memories that were put away, the last of them first; each says when (`archived_at`) and why."""
        return await self._store.read(archived, self.space, limit)

    async def archive(self, keep: int) -> Sequence[MemoryId]:
        """Put the least retained memories away until `keep` are left in use; pinned ones never; returns which.

        They are not recalled any more; `restore` takes them out again.
        """
        return await archive(self._resources, self.space, keep)

    async def restore(self, ids: Sequence[str]) -> Sequence[Record]:
        """Take memories out again that were put away. Raises NotFound."""
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
        """Erase a message, a session, a memory or all that names a subject, with what was derived from it alone.

        `space` erases all of the space; give its name, so that nobody does it by chance. Summaries are taken out and
        made again without what is erased; memories lose that source, or go; indexes and vectors as well; and then no
        byte of the store has it any more (`Receipt.complete`; where not, its note says what is left to do). An erased
        message leaves its place, so that all that follow stay as they are; stored again it stays erased.

        With `preview` nothing is done, and the receipt says what would be. Its `also` lists what may be meant as well
        and stays: sentences that may speak of the subject by another name, a role or a pronoun, and the messages that a
        memory was drawn from; give the ids of those to take as `also`. Raises BadInput unless exactly one thing is
        named, NotFound where it is not there.
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
        there: Callable[[str], bytes | None] = lambda path: None,
        on_progress: OnProgress[Exported] = None,
    ) -> Sequence[Exported]:
        """Give every memory as a file: one Markdown file each, or, as ``"jsonl"``, one file with a line for each.

        `there` gives what stands under a path already: what was edited there and not imported yet is told as such.
        `on_progress` is told of each file.
        """
        return await export_memories(self._resources, self.space, to, there, on_progress)

    async def import_memories(
        self, files: Iterable[MemoryFile], *, on_progress: OnProgress[MemoriesImported] = None
    ) -> MemoriesImported:
        """Store the memories in files that `export_memories` gave, or that were written or edited by hand.

        The same file twice changes nothing. Edited words are their user's, and take the place of those before. What
        can't be read is told, with its line, and the rest is stored. `on_progress` is told what was done so far.
        """
        return await import_memories(self._resources, self.space, files, on_progress)

    def _joined(self, session: str, *, only_adds: bool = True, keep_secrets: bool | None = None) -> JoinedImport:
        cleaning = self._resources.cleaning(keep_secrets)
        key, preset = SessionKey(self.space, session), self._resources.preset
        return JoinedImport(self._store, key, self._resources.count, cleaning, only_adds=only_adds, preset=preset)
