"""Where the work stands: branch, last commit, what is changed and not committed, the last result of each check, tasks.

Each is a line under a key of its own (its subject), so that of several blocks the newest stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from ireneo.log.harness import without_reminders
from ireneo.log.outcome import known_failed
from ireneo.patterns import lazy_re
from ireneo.summaries.dead_ends import thrown_away
from ireneo.summaries.statements import errors, shown_output
from ireneo.summaries.steps import CHANGES, Step, clip, short_path
from ireneo.summaries.summary import Line

WORTH = 6.0
"""What a line of the state is worth: it is the first that whoever goes on asks for."""
FAILS = 8.0
"""What a check is worth that failed last: it is open, and may block what follows."""
LESS = 2.5
STALE = 0.6
"""Of its worth, what a check keeps after which files were changed."""
SINCE_CHECK = " Files were changed since."
SINCE_COMMIT = "Changed, and no commit seen since: "
SHORT = 60
"""Characters of an output that is quoted beside the outcome."""
STATUS_SUBJECT = 80
"""Characters of a command that the status of a stretch names."""
MOST_CHECKS = 4
MOST_FILES = 12
MOST_LISTED = 24
MOST_TASKS = 24
CHANGED, CHECK, COMMIT, BRANCH, TASKS, SHARED = "changed ", "check ", "commit", "branch", "tasks", "shared"
LISTED = "listed"
"""What version control listed as changed: all that was changed before, and is not in it, is changed no longer."""

_ON_BRANCH = lazy_re(r"^(?:On branch |Switched to (?:a new )?branch '?)(?P<name>[^\s']{1,200})", re.MULTILINE)
_COMMITTED = lazy_re(
    r"^\[(?P<branch>[^\s\]]{1,200})(?: \([^)]{1,80}\))? (?P<hash>[0-9a-f]{7,40})\] (?P<title>.{1,200})", re.MULTILINE
)
_PUSHED = lazy_re(
    r"^[ \t]*+(?:[+*=]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}|\* \[new branch\])\s+(?P<what>\S+\s*->\s*\S+)", re.MULTILINE
)
_REQUEST = lazy_re(r"https?://[^\s\"'<>]{1,200}/(?:pull|merge_requests)/\d+")
_COMMIT_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bcommit\b")
_LOG_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\blog\b(?![^|;&\n]{0,200}(?:--all|--grep|-S|-G| -- |\.\.))")
_LOGGED = lazy_re(r"(?:commit )?[0-9a-f]{7,40}\b[^\n]{0,160}")
_STATUS_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bstatus\b(?P<rest>[^|;&\n]{0,80})")
_CLEAN = lazy_re(r"nothing to commit|working (?:tree|directory) clean")
_LISTED = lazy_re(
    r"^(?:[ \t]*+(?:modified|new file|deleted|renamed):[ \t]+|(?: [MADRCU]|[MADRCU][ MD]|\?\?) )(?P<path>\S.{0,300})$",
    re.MULTILINE,
)
_ELSEWHERE = lazy_re(r"(?:\bcd|\bgit -C)\s+[\"']?(?:/tmp/|/private/|/var/folders/|\$\(mktemp|\$\{?\w*TE?MP)")
"""A repository that was made to try something."""
_SCRATCH = ("/tmp/", "/var/folders/", "/private/")
_PUSH_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bpush\b")


def state_lines(done: Sequence[Step]) -> list[Line]:
    """What `done` says of where the work stands, the newest of each."""
    out: dict[str, Line] = {}
    for place, step in enumerate(done):
        for line in _told(step):
            out.pop(line.subject, None)
            out[line.subject] = line
        for path in thrown_away(done, place):
            # A line that says nothing takes back what was said: in deeper blocks, too.
            out[f"{CHANGED}{path}"] = _line(step, f"{CHANGED}{path}", "", LESS)
    return standing_state(out.values())


def standing_state(lines: Iterable[Line]) -> list[Line]:
    """Of the state that several stretches tell the newest of each; what was committed since is changed no longer."""
    out: dict[str, Line] = {}
    for line in sorted(lines, key=lambda line: line.position):
        out.pop(line.subject, None)
        out[line.subject] = line
    committed = max((out[key].position for key in (COMMIT, LISTED) if key in out), default=-1)
    planned = max((line.position for line in out.values() if line.subject.startswith(TASKS)), default=-1)
    return [
        line
        for line in out.values()
        if not (line.subject.startswith(CHANGED) and line.position < committed)
        and not (line.subject.startswith(TASKS) and line.position < planned)
    ]


def shown_state(told: Iterable[Line], live: Sequence[Line] = (), *, narrow: bool = False) -> list[Line]:
    """The state as it is shown: a line each, but the changed files together, and the last checks alone.

    What the messages that are shown say themselves, `live`, is not told again; what it overtakes isn't either.
    In a `narrow` context files are told by the ends of their paths.
    """
    lines, shown_there = standing_state([*told, *live]), {line.position for line in live}
    files = _each_once([line for line in lines if line.subject.startswith(CHANGED) and line.text])
    checks = _unsettled([line for line in lines if line.subject.startswith(CHECK)])
    checks = [line for line in checks if line.position not in shown_there][-MOST_CHECKS:]
    kept = [
        line
        for line in lines
        if line.text and not line.subject.startswith((CHANGED, CHECK)) and line.position not in shown_there
    ]
    out = [line for line in kept if not line.subject.startswith(TASKS)]
    if any(line.position not in shown_there for line in files):
        shown = [line.text for line in files[-MOST_FILES:]]
        if narrow:
            shown = _ends(shown)
        more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        out.append(replace(files[-1], text=f"{SINCE_COMMIT}{', '.join(shown)}{more}."))
    if files:
        checks = [
            replace(line, text=f"{line.text}{SINCE_CHECK}", weight=line.weight * STALE)
            if line.position < files[-1].position
            else line
            for line in checks
        ]
    return [*out, *checks, *(line for line in kept if line.subject.startswith(TASKS))]


def _ends(paths: Sequence[str]) -> list[str]:
    """The ends of the paths; of those that end alike the whole."""
    ends = [short_path(path) for path in paths]
    return [end if ends.count(end) == 1 else path for path, end in zip(paths, ends, strict=True)]


def _each_once(files: Sequence[Line]) -> list[Line]:
    """The files without those that stand there again, with more of their path."""
    return [
        line
        for place, line in enumerate(files)
        if not any(other.text.endswith(f"/{line.text}") for other in (*files[:place], *files[place + 1 :]))
    ]


def _unsettled(checks: Sequence[Line]) -> list[Line]:
    """The checks without those of which a later one speaks as well: what failed in `a && b` and passed as `b`."""
    words = [frozenset(line.subject.split()) for line in checks]
    return [
        line
        for place, line in enumerate(checks)
        if not any(words[place] <= later or later <= words[place] for later in words[place + 1 :])
    ]


def _told(step: Step) -> Iterator[Line]:
    action = step.action
    if action.kind in CHANGES:
        if not step.failed and not action.subject.startswith(_SCRATCH):
            yield _line(step, f"{CHANGED}{action.subject}", action.subject, LESS)
    elif action.kind == "plan":
        yield from _tasks(step)
    elif step.result is not None and action.shell:
        if action.kind == "check" and (step.failed_itself or not step.failed):
            came = _came(step, without_reminders(step.output))
            yield _line(
                step,
                f"{CHECK}{action.subject}",
                f"`{clip(action.subject, 100)}` {came}.",
                FAILS if step.failed else WORTH,
            )
        if not _ELSEWHERE.search(step.command):
            yield from _not_shared(step) if step.failed else _version(step)


def _not_shared(step: Step) -> Iterator[Line]:
    """A commit or a push that failed, or that the user refused."""
    if _PUSH_COMMAND.search(step.command) or _COMMIT_COMMAND.search(step.command):
        wrong = errors(without_reminders(step.output), 160) or step.error
        ended = f"it failed: {wrong}" if step.failed_itself else "it was broken off"
        why = "the user refused it" if step.rejected else ended
        yield _line(step, SHARED, f"`{clip(step.action.subject, 100)}` was not done: {why}.", WORTH)


def _version(step: Step) -> Iterator[Line]:
    """What version control said: the commit, the branch, the request for review, what was pushed."""
    output = without_reminders(step.output)
    if found := _COMMITTED.search(output):
        yield _line(step, COMMIT, f"Last commit {found['hash']} on {found['branch']}: {found['title'].strip()}", WORTH)
        yield _line(step, BRANCH, f"On branch {found['branch']}.", LESS)
    elif _COMMIT_COMMAND.search(step.command):
        yield _line(step, COMMIT, f"Last commit: `{clip(step.action.subject, 160)}`", WORTH)
    if _LOG_COMMAND.search(step.command) and (found := _LOGGED.match(output.strip())):
        yield _line(step, "head", f"The newest commit that `git log` showed: {found[0].strip()}", LESS + 1)
    status = _STATUS_COMMAND.search(step.command)
    # With a path, it tells of that alone.
    if status and all(word.startswith(("-", "2>")) for word in status["rest"].split()):
        yield from _listed(step, output)
    if found := _ON_BRANCH.search(output):
        yield _line(step, BRANCH, f"On branch {found['name']}.", WORTH)
    if found := _REQUEST.search(output):
        yield _line(step, "request", f"Pull request: {found[0]}", WORTH)
    if _PUSH_COMMAND.search(step.command) and (found := _PUSHED.search(output)):
        yield _line(step, SHARED, f"Pushed {' '.join(found['what'].split())}.", WORTH)


def _listed(step: Step, output: str) -> Iterator[Line]:
    """What version control lists as changed; where it lists nothing, nor says that it is clean, nothing is known."""
    listed = [found["path"].strip() for found in _LISTED.finditer(output)][:MOST_LISTED]
    if listed or not output.strip() or _CLEAN.search(output):
        yield _line(step, LISTED, "", LESS)
        for path in listed:
            # Behind the list itself, which takes back what was known before it.
            yield replace(_line(step, f"{CHANGED}{path}", path, LESS), position=step.position)


def _came(step: Step, output: str) -> str:
    """How a check ended: passed only where nothing that it said speaks against it."""
    wrong = errors(output, 240).rstrip(".")
    failed = known_failed(step.result, step.call) if step.result else None
    if step.failed or failed:
        return f"failed: {wrong or step.error}"
    if wrong and failed is None:
        return f"said: {wrong}"
    said = shown_output(output).strip(" .=-")
    return f"passed ({said})" if 0 < len(said) < SHORT else "passed"


def _tasks(step: Step) -> Iterator[Line]:
    """The agent's list of tasks as it was written last, what is done last."""
    given = step.call.arguments
    listed = (
        next((value for value in given.values() if isinstance(value, list)), []) if isinstance(given, Mapping) else []
    )
    by_status: dict[str, list[str]] = {}
    for task in listed[:MOST_TASKS]:
        if isinstance(task, Mapping):
            text = next((str(task[key]) for key in ("content", "step", "title", "task", "text") if task.get(key)), "")
            if text:
                status = str(task.get("status") or "pending").replace("_", " ")
                by_status.setdefault(status, []).append(clip(" ".join(text.split()), 160))
    for status in sorted(by_status, key=lambda status: status in ("completed", "done")):
        done = status in ("completed", "done")
        yield _line(
            step, f"{TASKS} {status}", f"Tasks {status}: {'; '.join(by_status[status])}.", LESS if done else WORTH
        )


def _line(step: Step, subject: str, text: str, worth: float) -> Line:
    return Line(text=text, subject=subject, weight=worth, position=step.position, sources=step.sources)
