"""`ireneo learn`, `lessons`, `check`, `hook` and `report`: learn lessons from runs, list, export and look them up."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.files import (
    FoundLog,
    LogTally,
    log_on_stderr,
    open_input,
    resumable,
    search,
    warn,
    warn_of_faults,
    write_file,
)
from ireneo.faces.cli.options import (
    AUTO,
    STDIN,
    AsJson,
    FormatOfFile,
    KeepSecrets,
    Scoped,
    Stored,
    argument,
    flag,
    open_existing,
    option,
    resolve_project,
    session_named,
    some_of,
)
from ireneo.faces.cli.output import (
    Answer,
    ReadingBar,
    console,
    counted,
    cut,
    cut_within,
    day_of,
    day_start,
    one_line,
    pick_attributes,
    plain,
    secret_lines,
)
from ireneo.faces.cli.place import Database, database, exists, make_folder, shown
from ireneo.faces.cli.work import Asking
from ireneo.plumbing import GENERAL, instructions, is_story, project_named, said_once

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Category, Imported, LearnedRun, LearnedSession, Lesson, LogLearned, Reading


class LearningTally(LogTally, kw_only=True):
    """What was learned so far."""

    files: int = 0
    known: int = 0
    """Files that were learned from earlier, and were not read again."""
    sessions: int = 0
    """Runs that were learned from."""
    talks: int = 0
    """Sessions without a call: nothing can be learned from them."""
    tokens: int = 0
    kept: int = 0
    """Tokens of the diaries and the new lessons."""
    new: int = 0
    listed: int = 0
    """New lessons that `ireneo lessons` lists."""
    guarded: int = 0
    """New lessons that are told only where they apply, such as before a call."""
    to_review: int = 0
    """Rulings of users that one run alone said: they are told once another run says them, or the user keeps them."""
    joined: int = 0
    """New lessons that are shown as one with another lesson that says the same."""
    spoken_to: int = 0
    """How often a known lesson was confirmed or contradicted."""
    calls: int = 0
    failures: int = 0
    asked_in_vain: int = 0
    """Runs about which a model was asked and gave no answer."""

    def count(self, learned: LearnedSession) -> None:
        """Count one run."""
        self.asked_in_vain += bool(learned.failed)
        if not learned.run.calls:
            self.talks += 1
            return
        self.sessions += 1
        self.tokens += learned.run.tokens
        self.kept += learned.run.diary_tokens + learned.lesson_tokens
        self.new += learned.new
        self.spoken_to += len(learned.lessons) - learned.new
        self.calls += learned.run.calls
        self.failures += learned.run.failures


SESSION_WIDTH = 15
"""The maximum number of characters of a session's name after what a run taught."""


def run_lines(learned: LearnedSession, width: int) -> Iterator[str]:
    """Lines for a run with new lessons: the run, then the beginning of each lesson. None for other runs."""
    if not learned.new:
        return
    run = learned.run
    project = one_line(run.project or "no project")[:16]
    parts = [
        f"  {day_of(run.started or run.ended):10}  {project:16}  {run.tokens:,} tokens",
        f"{run.failures:,} of {counted(run.calls, 'call')} failed",
        counted(learned.new, "new lesson"),
        cut_within(one_line(run.session), SESSION_WIDTH),
    ]
    again = f"{len(learned.lessons) - learned.new:,} seen again"
    if len(learned.lessons) > learned.new and len(" · ".join([*parts, again])) <= width:
        parts.insert(-1, again)
    yield cut(" · ".join(parts), width)
    for each in learned.lessons:
        if each.did == "added":
            lesson = one_line(each.record.text)
            yield from wrap(
                lesson, width, initial_indent="    + ", subsequent_indent="      ", max_lines=2, placeholder="…"
            )


def tally_lines(tally: LearningTally, path: Database) -> Iterator[str]:
    """Lines that say what was learned in all."""
    if tally.sessions:
        told = f" became {tally.kept:,} of diaries and lessons" if tally.kept else ""
        failed = f"{tally.failures:,} of {counted(tally.calls, 'call')} failed"
        yield f"{counted(tally.sessions, 'run')}: {failed}; {tally.tokens:,} tokens of log{told}"
        again = f", and {counted(tally.spoken_to, 'time')} a known one seen again" if tally.spoken_to else ""
        traps = f" and {tally.guarded:,} told only where they apply" if tally.guarded else ""
        joined = f" ({tally.joined:,} more joined to another that says the same)" if tally.joined else ""
        yield f"{counted(tally.listed, 'new lesson')}{joined}{traps}{again} → {shown(path)}"
    yield from secret_lines(tally.redacted, tally.unredacted)
    for number, noun, what in (
        (tally.known, "file", "learned from before"),
        (tally.talks, "session", "without a call, in which nothing was tried"),
        (tally.passed, "file", "without a run skipped"),
    ):
        if number:
            yield f"{counted(number, noun)} {what}"
    if not tally.sessions:
        yield "nothing new to learn from"
    elif tally.new:
        every = " (with --all also those)" if tally.guarded else ""
        yield f"`ireneo lessons` shows them{every}, `ireneo report` draws a page"
    elif not (tally.spoken_to or tally.to_review):
        yield "no lesson here: `ireneo report` draws what was tried; more runs, or a model that reads them, teach more"
    if tally.to_review:
        yield f"{counted(tally.to_review, 'ruling')} said in one run: `ireneo review` asks which to keep"


Logs = Annotated[
    list[str] | None,
    argument(
        "[LOG…]",
        "Logs of runs (plain, .gz or .xz), or folders of them; without any, what is stored is learned from.",
        shown=False,
    ),
]
On = Annotated[
    str, option("--on", "WORKERS", "Who analyses the logs: local:4 (processes) or dask://scheduler:8786.", shown="here")
]

OfProject = Annotated[
    str, option("--project -p", "NAME", "The project, or its folder, of what tells no folder itself.", shown="none")
]


def learn(
    logs: Logs = None,
    project: OfProject = "",
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    keep_secrets: KeepSecrets = False,
    on: On = "",
    *,
    asking: Asking,
    stored: Stored,
) -> Answer:
    """Learn lessons from runs.

    Imports logs, without the secrets in them, and draws lessons. What was learned from already is skipped, so run it
    every night. No model is needed; with one, each run is read by it as well.
    """
    if format != AUTO:
        ireneo.log_format(format)
    if on and not logs:
        raise BadInput(f"{on} analyses logs; name some: what is stored is learned from here.")
    tally = LearningTally()
    found = [each for each in search(logs or [], format, tally) if not _is_story(each, tally)]
    path = database(stored.db)
    if not logs and not exists(path):
        raise BadInput(f"There is no database {shown(path)} to learn from; name logs, such as ~/.claude/projects.")
    if logs and not found:
        raise BadInput(f"No runs were found in {', '.join(logs)}; `ireneo formats` lists what can be read.")
    if found or not logs:
        with (
            log_on_stderr(),
            resumable(lambda: f"what {counted(tally.sessions, 'run')} taught"),
            asking.memory(make_folder(path), stored.space, needed=False, keep_secrets=keep_secrets) as memory,
        ):
            learn_from(memory, found, tally, on, resolve_project(project) if project else "", quiet=as_json)
    if logs and tally.unread and not (tally.files or tally.known):
        raise BadInput(f"Nothing could be read in {', '.join(logs)}; `ireneo formats` lists what can.")
    return Answer(tally, list(tally_lines(tally, path)), failed=bool(tally.unread))


def _is_story(found: FoundLog, tally: LearningTally) -> bool:
    """Whether a file found in a folder is a story, which teaches nothing. A story that was named itself is read."""
    if found.searched and is_story(found.log.name):
        tally.passed += 1
        return True
    return False


def learn_from(
    memory: Memory,
    found: Sequence[FoundLog],
    tally: LearningTally,
    on: str = "",
    project: str = "",
    *,
    quiet: bool = False,
) -> None:
    """Import logs and learn from them, then from all other sessions of the space that are due."""
    from ireneo.types import GivenLog, Imported, LogLearned, Reading

    faults: list[tuple[int, str]] = []
    logs = [
        GivenLog(place=open_input(each.given), format=each.log, name=each.name, skip_empty=each.searched)
        for each in found
    ]
    log_of = {id(given): each for given, each in zip(logs, found, strict=True)}
    width = console().width
    added: set[str] = set()

    def report_run(learned: LearnedSession, bar: ReadingBar) -> None:
        tally.count(learned)
        added.update(each.record.id for each in learned.lessons if each.did == "added" and learned.run.calls)
        if learned.failed:
            warn(f"{learned.run.session}: {learned.failed} Its lessons were drawn without a model.")
        for line in () if quiet else run_lines(learned, width):
            bar.write(line)

    def report(step: Reading | Imported | LearnedSession | LogLearned) -> None:
        if isinstance(step, Reading):
            tally.count_read(step, bar)
        elif isinstance(step, Imported):
            faults.extend((fault.line, fault.message) for fault in step.faults)
            tally.count_secrets(step)
        elif isinstance(step, LogLearned):
            log = log_of[id(step.log)]
            warn_of_faults(log.given, faults)
            faults.clear()
            if step.fault:
                warn(step.fault)
                tally.unread += 1
            elif step.is_known:
                tally.known += 1
                bar.finished(log.size)
            else:
                tally.passed += step.is_empty
                tally.files += 1
        else:
            report_run(step, bar)

    with ReadingBar(sum(each.size for each in found)) as bar:
        memory.learn_logs(logs, on=on, project=project, on_progress=report)
    # If an earlier run of the command was killed, sessions are stored from which nothing was learned yet.
    if due := memory.unlearned():
        with ReadingBar(due, in_bytes=False) as others:

            def report_stored(learned: LearnedSession) -> None:
                report_run(learned, others)
                others.finished(1)

            memory.learn(on_progress=report_stored)
    _count_new(memory, added, tally)


def _count_new(memory: Memory, added: Collection[str], tally: LearningTally) -> None:
    """Count the new lessons once all runs are done, as they will be listed: the next run may confirm one."""
    found = memory.lessons(guarded=True) if tally.sessions else ()
    listed = {each.id for each in said_once([each for each in found if not each.guard_only])}
    guarded = {each.id for each in found if each.guard_only}
    tally.listed += len(listed.intersection(added))
    tally.guarded += len(guarded.intersection(added))
    tally.to_review = sum(each.guard_only and each.is_ruling for each in found)
    apart = [each for each in added if each not in listed and each not in guarded]
    tally.joined += sum(each.state == "active" for each in memory.get(apart)) if apart else 0


class LessonFilter(Struct, frozen=True, kw_only=True):
    """Which lessons to list."""

    project: Annotated[
        str | None, option("--project -p", "NAME", "Only those of a project.", shown="that of this folder")
    ] = None
    all_projects: Annotated[bool, flag("--all-projects", "Those of all projects.")] = False
    kind: Annotated[str | None, option("--kind -k", "KIND", "Only factual, procedural or failure.", shown=True)] = None
    all: Annotated[
        bool, flag("--all -a", "Also those that are told only where they apply, and those that were dropped.")
    ] = False


class Exporting(Struct, frozen=True, kw_only=True):
    """Whether to write the lessons into a file, and which lessons."""

    export: Annotated[
        Path | None,
        option(
            "--export",
            "FILE",
            "Write the most useful into AGENTS.md, CLAUDE.md or a SKILL.md: a marked block, and nothing else there.",
        ),
    ] = None
    repo: Annotated[
        Path | None,
        option(
            "--repo", "FOLDER", "Where the repository is: what its files say already is left out.", shown="that of FILE"
        ),
    ] = None
    since: Annotated[str | None, option("--since", "DAY", "Only what was seen since then.")] = None
    diff: Annotated[bool, flag("--diff", "Show what --export would change, and write nothing.")] = False


def lessons(as_json: AsJson = False, *, which: LessonFilter, exporting: Exporting, stored: Stored) -> Answer:
    """Show what runs taught, or write it into instructions.

    Rulings first, then what most runs showed; each with how often it was seen. An export has at most fifteen lines a
    project, and leaves out what its instructions and its own files say already.
    """
    from ireneo.faces.cli.screens.lists import show_lessons

    if which.kind not in (None, "factual", "procedural", "failure"):
        raise BadInput(f"--kind is {which.kind!r}; give one of factual, procedural, failure.")
    since = day_start(exporting.since)
    if exporting.diff and (exporting.export is None or as_json):
        raise BadInput("--diff shows what --export would change; name the file with --export, and leave --json out.")
    project = Scoped(project=which.project, all_projects=which.all_projects).name
    beyond, none = 0, ""
    with open_existing(stored) as memory:
        if which.project is None and exporting.export is not None:
            project = _project_of(memory, exporting)
        category = cast("Category | None", which.kind)
        found = memory.lessons(project=project, category=category, disputed=exporting.export is None, guarded=True)
        if which.project is None and project is not None and exporting.export is None:
            every = memory.lessons(category=category, disputed=True, guarded=True)
            if all(GENERAL in each.projects for each in found):
                others = sorted({name for each in every for name in each.projects} - {GENERAL})
                if len(every) > len(found):
                    none = f"None of project {project}; these are of {some_of(others) or 'no project'}."
                found, project = every, None
            here = {each.id for each in found}
            beyond = sum(each.id not in here for each in memory.lessons(category=category))
    guarded = [each for each in found if each.guard_only]
    if exporting.export is not None or not which.all:
        found = [each for each in found if not each.guard_only]
    if exporting.export is not None:
        found = _export_lessons(exporting.export, found, exporting, since, project)
        return Answer([lesson_answer(each) for each in found], ())
    if since is not None:
        found, guarded = (
            [each for each in some if each.last_seen is not None and each.last_seen >= since]
            for some in (found, guarded)
        )
    chosen, more = any((project, which.kind, since)), 0 if which.all else len(guarded)
    told = said_once([each for each in found if which.all or each.reviewed != "dropped"])
    return Answer(
        [lesson_answer(each) for each in found],
        lambda: show_lessons(told, chosen=chosen, more=more, beyond=beyond, none=none),
    )


def _project_of(memory: Memory, exporting: Exporting) -> str | None:
    """The project of the repository that is exported to, or None.

    Raises BadInput if the lessons are of another project, so that the rules of two projects are never mixed.
    """
    from ireneo.faces.cli.review import repository_of

    repository = exporting.repo or repository_of(cast("Path", exporting.export))
    named = project_named(str(repository.resolve()))
    known = sorted({run.project for run in memory.runs() if run.project})
    if named and named not in known and len(known) > 1:
        raise BadInput(_no_lessons_text(named, known))
    return named if named in known else None


def _no_lessons_text(project: str, known: Sequence[str]) -> str:
    return f"No run of project {project} was learned from; name one of {some_of(known)} with --project."


def _export_lessons(
    file: Path, found: Sequence[Lesson], exporting: Exporting, since: datetime | None, project: str | None
) -> list[Lesson]:
    """Write the most useful lessons into `file`, or show what that would change; returns them."""
    from ireneo.faces.cli.review import (
        INSTRUCTIONS,
        commands_of,
        difference,
        plan_update,
        repository_of,
        texts_of,
        without_block,
    )
    from ireneo.faces.cli.screens.lists import show_difference

    repository = exporting.repo or repository_of(file)
    beside = [folder / name for folder in (file.parent, repository) for name in INSTRUCTIONS]
    said = [without_block(text) for text in texts_of([file, *beside])]
    pages = instructions(found, said, commands_of(repository), since, project or "")
    update = plan_update(file, pages)
    if exporting.diff:
        show_difference(difference(update))
        did = "It would change nothing in" if update.is_same else "It would put into"
    elif update.is_same:
        did = "Nothing new for"
    else:
        write_file(update.path, update.after.encode())
        did = "Made" if update.before is None else "Updated"
    sys.stderr.write(f"{did} {file}: {counted(update.lines, 'lesson')}.\n")
    return [lesson for page in pages for _, lessons in page.parts for lesson in lessons]


def lesson_answer(lesson: Lesson) -> dict[str, object]:
    """A lesson as JSON."""
    about = pick_attributes(lesson, "id project projects task_type lesson category is_ruling conditions standing")
    about |= pick_attributes(lesson, "seen met last_seen")
    sources = [pick_attributes(each, "session message quote") for each in lesson.sources]
    return about | {"sources": sources} | pick_attributes(lesson, "reviewed guard_only state against")


Tool = Annotated[str, argument("TOOL", "The tool to be called.", shown=False)]
Arguments = Annotated[
    str, argument("ARGUMENTS", "Its arguments as JSON; any other text is a shell command.", shown=False)
]


class CallPlace(Struct, frozen=True, kw_only=True):
    """Where the call is about to be made."""

    session: Annotated[
        str | None, option("--session -s", "ID", "The session, with what it has met so far.", shown="past runs only")
    ] = None
    project: Annotated[
        str, option("--project -p", "NAME", "The project, or its directory.", shown="this directory's")
    ] = ""
    hook: Annotated[bool, flag("--hook", "Answer Claude Code's PreToolUse hook: JSON on standard input.")] = False


def check(tool: Tool = "", arguments: Arguments = "", *, about: CallPlace, stored: Stored) -> Answer | None:
    """Say whether a call steps into a known trap.

    Shows the trap that past runs met, and the way out, before the call is made. It is advice, and silent where
    the session has met the trap already, or has taken the way out. A command alone is one for the shell.
    """
    if about.hook:
        hook(stored=stored)
        return None
    if not tool:
        raise BadInput("Name the tool to be called: `ireneo check Bash 'make test'`.")
    if not arguments and len(tool.split()) > 1:
        tool, arguments = "Bash", tool
    given = read_arguments(arguments)
    with open_existing(stored) as memory:
        session = session_named(memory, about.session).id if about.session else None
        found = memory.check(tool, given, session=session, project=about.project or str(Path.cwd()))
        runs = memory.runs() if found is None else ()
        told = found is None and not runs and bool(memory.memories(kind="failure", limit=1))
    if found is not None:
        return Answer(found, plain(f"{found.markdown}\n"))
    return Answer(found, lambda: _show_no_advice(runs, about.project, told=told))


def _show_no_advice(runs: Sequence[LearnedRun], project: str, *, told: bool) -> None:
    """Say that nothing is known against a call; warn if there is no run and no remembered failure of its project."""
    here = Scoped(project=project or None).name
    known = sorted({run.project for run in runs if run.project})
    if not runs and not told:
        warn("No run was learned from yet; `ireneo learn` imports them.")
    elif here and known and here not in known:
        warn(_no_lessons_text(here, known))
    sys.stdout.write("Nothing is known about it.\n")


def hook(*, stored: Stored) -> None:
    """Answer a hook of Claude Code: JSON on standard input.

    Before a call (PreToolUse) with the trap that it steps into, at the start of a session (SessionStart) with the brief
    of its project. It never stops a call, and is silent where there is nothing to say.
    """
    from ireneo.faces.entry import answer_hook

    sys.stdout.write(answer_hook(sys.stdin.buffer.read(), stored.db, stored.space))


def read_arguments(text: str) -> dict[str, object]:
    """Parse arguments: JSON, or else a shell command. Raises BadInput for damaged JSON."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError) as fault:
        if text.startswith("{") and not text[1:2].isspace():
            # A group of commands in a shell begins with a brace too, but with a space behind it.
            raise BadInput(f"The arguments look like JSON and can't be read: {fault}.") from fault
        return {"command": text} if text else {}


Out = Annotated[Path, option("--out -o", "FILE", "The file that is written; - for standard output.", shown=True)]


OnlyProject = Annotated[
    str | None, option("--project -p", "NAME", "Only the runs and lessons of this project, or folder.", shown="all")
]


def report(
    out: Out = Path("report.html"), project: OnlyProject = None, as_json: AsJson = False, *, stored: Stored
) -> Answer | None:
    """Draw what runs taught as one HTML page.

    The lessons with their evidence, failures that came back, and the runs. The page needs no network.
    """
    if as_json and str(out) == STDIN:
        raise BadInput("With --json the page needs a file of its own; name one with --out.")
    from ireneo.faces.report import ReportMaterial, page

    only = None if project is None else project_named(resolve_project(project))
    with open_existing(stored) as memory:
        material = ReportMaterial(
            space=memory.space,
            made=datetime.now().astimezone(),
            # A session without a call, such as a story, is not a run.
            runs=[run for run in memory.runs() if run.calls and only in (None, run.project)],
            lessons=memory.lessons(guarded=True, project=only),
            claims=[each for each in memory.claims(least_runs=2) if only is None or only in each.projects],
        )
    text, runs = page(material), len(material.runs)
    if str(out) == STDIN:
        sys.stdout.write(text)
        return None
    write_file(out, text.encode())
    of = f" of project {only}" * bool(only)
    said = (
        f"{counted(runs, 'run')}{of}; open it in a browser" if runs else f"no run{of} yet; `ireneo learn` imports them"
    )
    return Answer({"path": str(out), "runs": runs}, plain(f"{out}: {said}.\n"))
