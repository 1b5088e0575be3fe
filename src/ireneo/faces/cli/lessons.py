"""`ireneo learn`, `lessons`, `check` and `report`: what runs taught, drawn, asked, shown and written into files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import typer
from msgspec import Struct, field

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.at_hand import INSTRUCTIONS, commands_of, repository_of, texts_of
from ireneo.faces.cli.files import (
    FoundLog,
    SearchCounts,
    log_on_stderr,
    opened,
    search,
    tell_reading,
    warn,
    warn_of_faults,
)
from ireneo.faces.cli.instructions import difference, outside, updated, write
from ireneo.faces.cli.options import (
    AUTO,
    NAMED,
    STDIN,
    AsJson,
    FormatOfFile,
    KeepSecrets,
    Scoped,
    Stored,
    argument,
    flag,
    option,
    reading,
    session_named,
)
from ireneo.faces.cli.output import (
    ReadingBar,
    begins,
    console,
    counted,
    cut,
    day_of,
    one_line,
    picked,
    secrets_told,
    write_json,
)
from ireneo.faces.cli.place import Database, database, is_there, room_for, shown
from ireneo.faces.cli.work import Asking
from ireneo.plumbing import instructions, project_named, said_once

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Category, Imported, LearnedRun, LearnedSession, Lesson, LogLearned, Reading

PROJECT = 16
"""Characters of a project's name that are shown."""
LESSON_LINES = 2
"""Lines of a lesson that are shown."""


class LearningTally(Struct, kw_only=True):
    """What was learned so far."""

    files: int = 0
    known: int = 0
    """Files that were learned from before, and not read again."""
    unread: int = 0
    """Files that could not be read."""
    passed: int = 0
    """Files of a folder that hold no run."""
    sessions: int = 0
    """Runs that were learned from."""
    talks: int = 0
    """Sessions without a call: nothing was tried in them."""
    tokens: int = 0
    kept: int = 0
    """What the diaries and the new lessons cost, in tokens."""
    new: int = 0
    spoken_to: int = 0
    """How often a lesson that was known was seen again, or was spoken against."""
    calls: int = 0
    failures: int = 0
    asked_in_vain: int = 0
    """Runs that a model was asked about and gave no answer."""
    redacted: Counter[str] = field(default_factory=Counter)
    unredacted: int = 0

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


def run_lines(learned: LearnedSession, width: int) -> Iterator[str]:
    """A run that brought new lessons, and the beginning of each; of another run, nothing."""
    if not learned.new:
        return
    run = learned.run
    told = [
        f"{run.tokens:,} tokens",
        f"{run.failures:,} of {counted(run.calls, 'call')} failed",
        counted(learned.new, "new lesson"),
    ]
    if again := len(learned.lessons) - learned.new:
        told.append(f"{again:,} seen again")
    told.append(one_line(run.session))
    place = one_line(run.project or "no project")
    yield cut(f"  {day_of(run.started or run.ended):10}  {place[:PROJECT]:{PROJECT}}  {' · '.join(told)}", width)
    for each in learned.lessons:
        if each.did == "added":
            yield from wrap(
                one_line(each.record.text),
                width,
                initial_indent="    + ",
                subsequent_indent="      ",
                max_lines=LESSON_LINES,
                placeholder="…",
            )


def told(tally: LearningTally, path: Database) -> str:
    """What all of it came to."""
    lines = []
    if tally.sessions:
        ratio = f", {tally.tokens / tally.kept:,.0f} times as much as is kept of it" if tally.kept else ""
        failed = f"{tally.failures:,} of {counted(tally.calls, 'call')} failed"
        lines.append(f"{counted(tally.sessions, 'run')}: {failed}; {tally.tokens:,} tokens of log{ratio}")
        again = f", and {counted(tally.spoken_to, 'time')} a known one seen again" if tally.spoken_to else ""
        lines.append(f"{counted(tally.new, 'new lesson')}{again} → {shown(path)}")
    lines += secrets_told(tally.redacted, tally.unredacted)
    for number, noun, what in (
        (tally.known, "file", "learned from before"),
        (tally.talks, "session", "without a call, in which nothing was tried"),
        (tally.passed, "file", "without a run passed over"),
    ):
        lines += [f"{counted(number, noun)} {what}"] if number else []
    if not tally.sessions:
        lines.append("nothing new to learn from")
    elif tally.new:
        lines.append("`ireneo lessons` shows them, `ireneo report` draws a page")
    return "".join(f"  {line}\n" for line in lines)


Logs = Annotated[
    list[str] | None,
    argument(
        "[LOG…]",
        "Logs of runs (plain, .gz or .xz), or folders of them; without any, what is stored is learned from.",
        shown=False,
    ),
]
On = Annotated[
    str,
    option("--on", "WORKERS", "Who analyses the logs: local:4 (processes) or dask://scheduler:8786.", shown="here"),
]
STORY = "chat"
"""The format of stories: nothing is tried in them, so there is nothing to learn."""


def learn(
    logs: Logs = None,
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    keep_secrets: KeepSecrets = False,
    on: On = "",
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Learn lessons from runs.

    Takes logs in, without the secrets in them, and draws lessons: what was learned from already is passed over, so
    run it every night. No model is needed; with one, each run is read by it as well.
    """
    if format != AUTO:
        ireneo.log_format(format)
    if on and not logs:
        raise BadInput(f"{on} analyses logs; name some: what is stored is learned from here.")
    tally, searched = LearningTally(), SearchCounts()
    found = [each for each in search(logs or [], format, searched) if not _is_story(each, searched)]
    path = database(stored.db)
    if not logs and not is_there(path):
        raise BadInput(f"There is no database {shown(path)} to learn from; name logs, such as ~/.claude/projects.")
    if logs and not found and not searched.unread:
        raise BadInput(f"No runs were found in {', '.join(logs)}; `ireneo formats` lists what can be read.")

    def learned() -> None:
        with asking.memory(room_for(path), stored.space, needed=False, keep_secrets=keep_secrets) as memory:
            learn_from(memory, found, RunReporter(tally, quiet=as_json), on)

    if found or not logs:
        with log_on_stderr():
            learned()
    tally.unread += searched.unread
    tally.passed += searched.passed
    if as_json:
        write_json(tally)
    else:
        sys.stdout.write(told(tally, path))
    if tally.unread:
        raise typer.Exit(1)


def _is_story(found: FoundLog, searched: SearchCounts) -> bool:
    """Whether a file of a folder is a story, which is passed over; one that is named is taken at its word."""
    if found.searched and found.log.name == STORY:
        searched.passed += 1
        return True
    return False


class RunReporter:
    """Counts the runs as they are learned from, and tells of them."""

    def __init__(self, tally: LearningTally, *, quiet: bool) -> None:
        """Count in `tally`; `quiet` tells of nothing but of what went wrong."""
        self.tally = tally
        self._quiet = quiet
        self._width = console().width

    def tell(self, learned: LearnedSession, bar: ReadingBar) -> None:
        """Count a run, and write what is new in it."""
        self.tally.count(learned)
        if learned.failed:
            warn(f"{learned.run.session}: {learned.failed} Its lessons were drawn without a model.")
        if not self._quiet:
            for line in run_lines(learned, self._width):
                bar.write(line)


def learn_from(memory: Memory, found: Sequence[FoundLog], teller: RunReporter, on: str = "") -> None:
    """Take in the logs that were found and learn from them, then from whatever else of the space is due."""
    with ReadingBar(sum(each.size for each in found)) as bar:
        _learn_logs(memory, found, teller, bar, on)
    # Files that were read when a run was killed left sessions behind that were not learned from yet.
    if due := memory.unlearned():
        with ReadingBar(due, in_bytes=False) as bar:

            def tell(learned: LearnedSession) -> None:
                teller.tell(learned, bar)
                bar.finished(1)

            memory.learn(on_progress=tell)


def _learn_logs(memory: Memory, found: Sequence[FoundLog], teller: RunReporter, bar: ReadingBar, on: str) -> None:
    # Imported when used, as all of the library is.
    from ireneo.types import GivenLog, Imported, LogLearned, Reading

    tally, faults = teller.tally, list[tuple[int, str]]()

    def tell(step: Reading | Imported | LearnedSession | LogLearned) -> None:
        if isinstance(step, Reading):
            tally.unread += tell_reading(step, bar)
        elif isinstance(step, Imported):
            faults.extend((fault.line, fault.message) for fault in step.faults)
            tally.redacted.update(step.redacted)
            tally.unredacted += step.unredacted
        elif isinstance(step, LogLearned):
            done(found[places[id(step.log)]], step)
        else:
            teller.tell(step, bar)

    def done(log: FoundLog, step: LogLearned) -> None:
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

    logs = [
        GivenLog(place=opened(each.given), format=each.log, name=each.name, skip_empty=each.searched) for each in found
    ]
    places = {id(each): place for place, each in enumerate(logs)}
    memory.learn_logs(logs, on=on, on_progress=tell)


CATEGORIES = ("factual", "procedural", "failure")


class LessonFilter(Struct, frozen=True, kw_only=True):
    """Which lessons are meant."""

    project: Annotated[str | None, option("--project -p", "NAME", "Those of a project.", shown=True)] = None
    kind: Annotated[str | None, option("--kind -k", "KIND", "Only factual, procedural or failure.", shown=True)] = None


class Exporting(Struct, frozen=True, kw_only=True):
    """Whether they are written into a file, and what of them."""

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
            "--repo",
            "FOLDER",
            "Where the repository is: what its files say already is not said again.",
            shown="that of FILE",
        ),
    ] = None
    since: Annotated[str | None, option("--since", "DAY", "Only what was seen since then.")] = None
    diff: Annotated[bool, flag("--diff", "Show what --export would change, and write nothing.")] = False


def lessons(as_json: AsJson = False, *, which: LessonFilter, exporting: Exporting, stored: Stored) -> None:
    """Show what runs taught, or write it into instructions.

    Rulings first, then what most runs showed; each with how often it was seen. An export has at most fifteen lines a
    project, and leaves out what its instructions and its own files say already.
    """
    category = cast("Category | None", _one_of(which.kind, CATEGORIES, "--kind"))
    since = begins(exporting.since)
    if exporting.diff and (exporting.export is None or as_json):
        raise BadInput("--diff shows what --export would change; name the file with --export, and leave --json out.")
    with reading(stored) as memory:
        project = which.project
        if project is None and exporting.export is not None:
            project = _project_of(memory, exporting.repo or repository_of(exporting.export))
        found = memory.lessons(project=project, category=category, disputed=exporting.export is None)
    if exporting.export is not None:
        found = _exported(exporting.export, found, exporting, since, project)
    elif since is not None:
        found = [each for each in found if each.last_seen is not None and each.last_seen >= since]
    if as_json:
        write_json([lesson_answer(each) for each in found])
    elif exporting.export is None:
        from ireneo.faces.cli.screens.lists import show_lessons

        show_lessons(said_once(found), chosen=any((which.project, which.kind, since)))


def _project_of(memory: Memory, repository: Path) -> str | None:
    """The project that a repository is, where it has lessons; None where it has none."""
    named = project_named(str(repository.resolve()))
    return named if named and any(run.project == named for run in memory.runs()) else None


def _exported(
    file: Path, found: Sequence[Lesson], exporting: Exporting, since: datetime | None, project: str | None
) -> list[Lesson]:
    """Write the lessons that are worth a line into `file`, or show what that would change; gives them."""
    repository = exporting.repo or repository_of(file)
    beside = [folder / name for folder in (file.parent, repository) for name in INSTRUCTIONS]
    said = [outside(text) for text in texts_of([file, *beside])]
    pages = instructions(found, said, commands_of(repository), since, project or "")
    update = updated(file, pages)
    if exporting.diff:
        from ireneo.faces.cli.screens.lists import show_difference

        show_difference(difference(update))
    did = "It would change nothing in" if exporting.diff and update.after == (update.before or "") else ""
    did = did or ("It would put into" if exporting.diff else write(update))
    sys.stderr.write(f"{did} {file}: {counted(update.lines, 'lesson')}.\n")
    return [lesson for page in pages for _, lessons in page.parts for lesson in lessons]


def lesson_answer(lesson: Lesson) -> dict[str, object]:
    """A lesson as JSON."""
    about = picked(lesson, "id project task_type lesson category is_ruling conditions standing seen met last_seen")
    sources = [picked(each, "session message quote") for each in lesson.sources]
    return about | {"sources": sources} | picked(lesson, "reviewed state against")


def _one_of(given: str | None, known: tuple[str, ...], option: str) -> str | None:
    if given is not None and given not in known:
        raise BadInput(f"{option} is {given!r}, which is none; give one of {', '.join(known)}.")
    return given


QUIET = "Nothing speaks against it."

Tool = Annotated[str, argument("TOOL", "The tool that is to be called.", shown=False)]
Arguments = Annotated[str, argument("ARGUMENTS", "Its arguments as JSON, or a command for a shell.", shown=False)]


class CallPlace(Struct, frozen=True, kw_only=True):
    """Where the call is to be made."""

    session: Annotated[
        str | None, option("--session -s", "ID", "The session as it stands now.", shown="past runs only")
    ] = None
    project: Annotated[
        str, option("--project -p", "NAME", "The project, or its directory.", shown="this directory's")
    ] = ""
    hook: Annotated[bool, flag("--hook", "Answer Claude Code's PreToolUse hook: JSON on standard input.")] = False


def check(
    tool: Tool = "", arguments: Arguments = "", as_json: AsJson = False, *, about: CallPlace, stored: Stored
) -> None:
    """Say whether a call steps into a known trap.

    Past runs know the trap, and what to do instead; both are told before the call is made. It is advice, and quiet
    where who asks has met the trap in the session already, or has taken the way out.
    """
    if about.hook:
        hook(stored=stored)
        return
    if not tool:
        raise BadInput("Name the tool that is to be called: `ireneo check Bash 'make test'`.")
    given = read_arguments(arguments)
    with reading(stored) as memory:
        session = session_named(memory, about.session).id if about.session else None
        found = memory.check(tool, given, session=session, project=about.project or str(Path.cwd()))
        if found is None and not as_json:
            sys.stderr.write(_unlearned(memory.runs(), about.project))
    if as_json:
        write_json(found)
    else:
        sys.stdout.write(f"{found.markdown if found else QUIET}\n")


def _unlearned(runs: Sequence[LearnedRun], project: str) -> str:
    """What is said besides where the guard knows no run that could tell it anything."""
    if not runs:
        return "warning: No run was learned from yet; `ireneo learn` takes them in.\n"
    here = Scoped(project=project or None).name
    known = sorted({run.project for run in runs if run.project})
    if not here or here in known or not known:
        return ""
    named = ", ".join(known[:NAMED]) + (" …" if len(known) > NAMED else "")
    return f"warning: No run of project {here} was learned from; name one of {named} with --project.\n"


def hook(*, stored: Stored) -> None:
    """Answer a hook of Claude Code: JSON on standard input.

    Before a call (PreToolUse) the trap that it steps into, at a session's start (SessionStart) the brief of its
    project. It never stops a call, and says nothing where there is nothing to say.
    """
    from ireneo.faces.cli.hook import answer

    sys.stdout.write(answer(sys.stdin.buffer.read(), stored.db, stored.space))


def read_arguments(text: str) -> dict[str, object]:
    """The arguments that are meant: JSON, or else a command."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError) as fault:
        if text.lstrip().startswith('{"'):
            # A shell's group of commands begins with a brace as well, but not with a name in quotes.
            raise BadInput(f"The arguments begin like JSON, and are none: {fault}.") from fault
        return {"command": text} if text else {}


Out = Annotated[Path, option("--out -o", "FILE", "The file that is written; - for standard output.", shown=True)]


def report(out: Out = Path("report.html"), as_json: AsJson = False, *, stored: Stored) -> None:
    """Draw what runs taught as one HTML page.

    The runs, what is kept of them, the lessons with their evidence, and the dead ends that came back. The page needs
    no network.
    """
    if as_json and str(out) == STDIN:
        raise BadInput("With --json the page needs a file of its own; name one with --out.")
    from ireneo.faces.report.page import ReportMaterial, page

    with reading(stored) as memory:
        material = ReportMaterial(
            space=memory.space,
            made=datetime.now().astimezone(),
            # A session without a call, a story for one, is no run: nothing was tried in it.
            runs=[run for run in memory.runs() if run.calls],
            lessons=memory.lessons(),
            claims=memory.claims(least_runs=2),
        )
    text, runs = page(material), len(material.runs)
    if str(out) == STDIN:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as fault:
        raise BadInput(f"{out} can't be written: {fault.strerror}.") from fault
    if as_json:
        write_json({"path": str(out), "runs": runs})
        return
    said = f"{counted(runs, 'run')}; open it in a browser" if runs else "no run yet; `ireneo learn` takes them in"
    sys.stdout.write(f"{out}: {said}.\n")
