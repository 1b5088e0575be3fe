"""`ireneo work`, `summarise` and `notes`: summaries in the background, by a model, and by the agent itself."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec import Struct
from msgspec.structs import replace

import ireneo
from ireneo.errors import BadInput, IreneoError, UnreadableLog
from ireneo.faces.cli.files import log_file, log_on_stderr
from ireneo.faces.cli.options import (
    LISTED,
    AsJson,
    Budget,
    Embedder,
    Preset,
    Scoped,
    SessionName,
    Stored,
    embedder_named,
    flag,
    keeps_secrets,
    open_existing,
    open_session,
    option,
    session_named,
    title_of,
)
from ireneo.faces.cli.output import Answer, ProgressBars, counted, plain, printable, waiting
from ireneo.faces.cli.place import Database, existing
from ireneo.plumbing import GENERAL

if TYPE_CHECKING:
    from ireneo import WorkResult
    from ireneo.faces.cli.workers import Report
    from ireneo.sync import Memory
    from ireneo.types import NotesTaken, WorkReport

NO_MODEL = (
    "No model is named. Name one with --model or in IRENEO_MODEL: openai:gpt-5-mini, anthropic:claude-haiku-4-5, "
    "google:gemini-2.5-flash or, on this machine, ollama:llama3; the clients for them come with "
    "pip install 'ireneo[llm]'."
)


class Asking(Struct, frozen=True, kw_only=True):
    """Which model to ask, where, and how much it may cost."""

    model: Annotated[
        str | None,
        option(
            "--model -m",
            "NAME",
            "The model that writes: openai:…, anthropic:…, google:… or ollama:….",
            shown="$IRENEO_MODEL",
        ),
    ] = None
    notes_model: Annotated[
        str | None, option("--notes-model", "NAME", "The model for notes on work.", shown="--model")
    ] = None
    story_model: Annotated[str | None, option("--story-model", "NAME", "The model for stories.", shown="--model")] = (
        None
    )
    base_url: Annotated[
        str | None,
        option(
            "--base-url",
            "URL",
            "A server with the provider's API; its key is $IRENEO_API_KEY, and no other is sent there.",
            shown="$IRENEO_BASE_URL, else the provider's",
        ),
    ] = None
    timeout: Annotated[float, option("--timeout", "SECONDS", "The longest that one answer may take.", shown=True)] = (
        60.0
    )
    calls: Annotated[
        int, option("--calls --calls-per-session", "N", "The most requests for this session, ever.", shown=True)
    ] = 400
    tokens: Annotated[
        int, option("--tokens --tokens-per-session", "N", "The most tokens for this session, in and out.", shown=True)
    ] = 4_000_000
    calls_per_day: Annotated[
        int, option("--calls-per-day", "N", "The most requests for the space in a day.", shown=True)
    ] = 1_000
    tokens_per_day: Annotated[
        int, option("--tokens-per-day", "N", "The most tokens for the space in a day.", shown=True)
    ] = 10_000_000

    def memory(
        self,
        path: Database,
        space: str,
        *,
        needed: bool,
        embedder: str | None = None,
        keep_secrets: bool = False,
        listen: bool = True,
    ) -> Memory:
        """Open a memory with these models and limits. Raises BadInput if a model is `needed` and none is named."""
        if needed and not self.named:
            raise BadInput(NO_MODEL)
        models = ireneo.models(
            dict(self.named) or None,
            base_url=self.base_url or os.environ.get("IRENEO_BASE_URL") or None,
            api_key=os.environ.get("IRENEO_API_KEY") or None,
            timeout_seconds=self.timeout,
        )
        from ireneo import sync

        return sync.open(
            path,
            space=space,
            model=models,
            limits=self.limits(),
            listen=listen,
            embedder=embedder,
            keep_secrets=keeps_secrets(keep_secrets),
        )

    @property
    def named(self) -> dict[str, str]:
        """The names of the models by task."""
        named = {
            "default": self.model or os.environ.get("IRENEO_MODEL"),
            "notes": self.notes_model,
            "story": self.story_model,
        }
        return {task: name for task, name in named.items() if name}

    def limits(self) -> ireneo.Limits:
        """The limits of spending."""
        return ireneo.Limits(
            calls_per_session=self.calls,
            tokens_per_session=self.tokens,
            calls_per_day=self.calls_per_day,
            tokens_per_day=self.tokens_per_day,
        )


class WorkHours(Struct, frozen=True, kw_only=True):
    """How to work, and for how long."""

    until_idle: Annotated[bool, flag("--until-idle", "End when nothing is due, instead of waiting for more.")] = False
    lease: Annotated[
        float, option("--lease", "SECONDS", "How long work stays reserved for a worker that died.", shown=True)
    ] = 180.0
    no_leases: Annotated[
        bool, flag("--no-leases", "Ignore other workers: the result is the same, and some of it is paid for twice.")
    ] = False
    processes: Annotated[int, option("--processes", "N", "The number of processes that work at once.", shown=True)] = 1
    no_listen: Annotated[bool, flag("--no-listen", "Remember nothing of what users say.")] = False


def work(
    preset: Preset = None,
    as_json: AsJson = False,
    embedder: Embedder = None,
    *,
    hours: WorkHours,
    asking: Asking,
    stored: Stored,
) -> None:
    """Summarise in the background, and remember what users say.

    Run one, or as many as you like: each piece of work is leased. Without a model it makes what the structure gives.
    It ends in order on Ctrl-C and SIGTERM, and waits for a server that is away.
    """
    if hours.processes < 1:
        raise BadInput(f"{hours.processes} processes can't work; give at least 1.")
    if not hours.lease > 0:
        raise BadInput(f"A lease of {hours.lease:g} seconds reserves nothing; give more than 0, or --no-leases.")
    where = replace(stored, db=str(existing(stored.db)))
    task = partial(_work, preset, embedder_named(embedder), hours, asking, where)
    made: Counter[str] = Counter()
    tally = _work_in_processes(task, hours.processes, made, as_json)
    if not as_json:
        sys.stdout.write(_work_summary(tally) + _project_note(made, where))
    if tally.passed_over or (tally.failed and not tally.texts):
        raise typer.Exit(1)


def _work_in_processes(
    task: Callable[[Report | None], None], processes: int, made: Counter[str], as_json: bool
) -> WorkReport:
    """Do the task in several processes until it ends or is told to end; returns what was done.

    `made` counts the memories of each session.
    """
    from ireneo.faces.cli.workers import Terminated, ended_in_order, work_together
    from ireneo.types import WorkReport

    tally = WorkReport()
    with ProgressBars(*["looking for work"] * processes, elapsed=True) as bars:

        def report(number: int, done: WorkResult) -> None:
            nonlocal tally
            tally = tally.with_result(done)
            if done.session and done.did in ("listened", "remembered") and done.memories:
                made[done.session] += done.memories
            due = f"{done.due:,} texts due" if done.due else "summarised, looking for memories"
            messages = done.last_position + 1
            bars.update(
                number,
                description=done.session,
                completed=messages,
                total=messages + done.behind,
                note=f"{done.behind:,} messages behind" if done.behind else due,
            )
            if as_json:
                sys.stdout.write(msgspec.json.encode(done).decode() + "\n")
                sys.stdout.flush()

        try:
            with ended_in_order():
                if processes == 1:
                    task(partial(report, 0))
                else:
                    # So that an error is reported only once, and only one process migrates the database.
                    task(None)
                    work_together(processes, task, report)
        except Terminated:
            return tally
    return tally


def _work(
    preset: str | None, embedder: str | None, hours: WorkHours, asking: Asking, stored: Stored, tell: Report | None
) -> None:
    """Work, and report each piece to `tell`; if that is None, only check that database and models can be used."""
    listen = not hours.no_listen
    memory = asking.memory(existing(stored.db), stored.space, needed=False, embedder=embedder, listen=listen)
    with log_on_stderr(), memory:
        if tell is not None:
            memory.work(
                until_idle=hours.until_idle,
                preset=preset,
                lease_seconds=hours.lease,
                leases=not hours.no_leases,
                on_progress=tell,
            )


def _work_summary(tally: WorkReport) -> str:
    if tally.is_empty:
        return "Nothing was due.\n"
    spent = f"{tally.tokens_in:,} tokens in, {tally.tokens_out:,} out"
    parts = (
        (tally.summaries, "summary", "made without a model"),
        (tally.texts, "text", f"written by a model ({spent})"),
        (tally.taken_over, "piece", "of work taken over from another writer"),
        (tally.memories, "memory", "made or changed"),
        (tally.ended, "memory", "no longer true (`ireneo memories --state any`)"),
        (tally.archived, "memory", "archived"),
        (tally.vectors, "vector", "made"),
        (tally.episodes, "episode", "read for conclusions"),
        (tally.failed, "piece", "of work failed, and will be tried again"),
    )
    done = "; ".join(f"{counted(number, noun)} {did}" for number, noun, did in parts if number)
    passed = {each.session: each.reason for each in tally.passed_over}
    named = [f"{printable(name)} is passed over until it changes: {printable(why)}" for name, why in passed.items()]
    return "".join(f"{each}\n" for each in (*[f"{done}."] * bool(done), *named))


def _project_note(made: Counter[str], stored: Stored) -> str:
    """Say to which projects the memories belong, if `ireneo memories` would not list all of them in this folder."""
    here = Scoped().name
    if here is None or not made:
        return ""
    with open_existing(stored) as memory:
        projects = {each.key.session: each.project or "" for each in memory.sessions()}
    many: Counter[str] = Counter()
    for session, number in made.items():
        many[projects.get(session, "")] += number
    if many.keys() <= {here, GENERAL}:
        return ""
    most = [f"{number:,} of {printable(project) or 'no project'}" for project, number in many.most_common(LISTED)]
    rest = sum(many.values()) - sum(number for _, number in many.most_common(LISTED))
    told = ", ".join(most) + (f" and {rest:,} of others" if rest else "")
    return f"{told}: `ireneo memories --project NAME` shows those of one project, --all-projects all.\n"


class SummariseOutcome(Struct, frozen=True, kw_only=True):
    """The summaries that a model was asked to write for a context."""

    title: str
    due: int
    summaries: list[WorkResult]
    fault: IreneoError | None
    """Why it ended early, if the model was not the reason."""


def summarise(session: SessionName, budget: Budget, preset: Preset = None, *, asking: Asking, stored: Stored) -> Answer:
    """Let a model write the blocks of a context.

    Each is checked against the messages that it covers. What the model can't do well stays as it is without one.
    """
    from ireneo.faces.cli.screens.sessions import show_written

    with log_on_stderr():
        outcome = _write(session, budget, preset, asking, stored)
    if outcome.fault is not None and not outcome.summaries:
        raise outcome.fault
    data = {
        "session": outcome.title,
        "budget": budget,
        "due": outcome.due,
        "tokens_in": sum(each.tokens_in for each in outcome.summaries),
        "tokens_out": sum(each.tokens_out for each in outcome.summaries),
        "summaries": outcome.summaries,
    }

    def show() -> None:
        show_written(outcome.summaries, due=outcome.due, budget=budget, title=outcome.title)

    failed = bool(outcome.due) and all(each.did == "failed" for each in outcome.summaries)
    return Answer(data, show, failed=failed, fault=outcome.fault)


def _write(named: str, budget: int, preset: str | None, asking: Asking, stored: Stored) -> SummariseOutcome:
    with asking.memory(existing(stored.db), stored.space, needed=True) as memory:
        session = session_named(memory, named)
        with waiting("Looking for what is due …"):
            due = session.due(budget, preset=preset)
        done: list[WorkResult] = []
        fault: IreneoError | None = None
        with ProgressBars("asking", total=due, shown=bool(due), elapsed=True) as bars:

            def report(each: WorkResult) -> None:
                done.append(each)
                bars.update(description=f"{each.did} {each.id[:9]}", advance=1)

            try:
                session.summarise(budget, preset=preset, on_progress=report)
            except IreneoError as error:
                # Summaries that were written before the error are shown first.
                fault = error
        return SummariseOutcome(title=title_of(session), due=due, summaries=done, fault=fault)


Take = Annotated[str | None, option("--take", "FILE", "The agent's answer, to be checked and stored; - for stdin.")]


def notes(session: SessionName, take: Take = None, preset: Preset = None, *, stored: Stored) -> Answer:
    """Have the agent take notes on its own work.

    Prints what to ask it at the end of its conversation. With --take: stores what its messages confirm of the answer.
    """
    reply = None if take is None else _read(take)
    with waiting("Reading …"), open_session(stored, session) as named:
        if reply is None:
            request = named.notes_request(preset=preset)
            return Answer({"session": named.id, "request": request}, plain(f"{request.rstrip()}\n"))
        taken = named.take_notes(reply, preset=preset)
        lines = note_lines(taken, title_of(named))
    return Answer({"session": named.id, **msgspec.to_builtins(taken)}, plain("\n".join(lines) + "\n"))


def note_lines(taken: NotesTaken, title: str) -> list[str]:
    """Lines on an agent's notes: how many were stored, and why some were removed."""
    if taken.first_position > taken.last_position:
        return [f"All that was said and done in {title} has notes already."]
    where = f"messages {taken.first_position + 1:,} to {taken.last_position + 1:,} of {title}"
    struck = f"; {counted(taken.struck, 'statement')} struck, or without a clause:" if taken.struck else "."
    later = ["Contexts show them from their next rebuild on; `ireneo context --rebuild` rebuilds one now."]
    kept = f"{counted(taken.notes, 'note')} kept on {where}{struck}"
    return [kept, *(f"- {reason}" for reason in taken.reasons), *(later if taken.notes else [])]


def _read(file: str) -> str:
    with log_file(file) as given:
        try:
            return given.read().decode()
        except UnicodeDecodeError as fault:
            raise UnreadableLog(f"{given.label} is not in UTF-8 ({fault}).") from fault
