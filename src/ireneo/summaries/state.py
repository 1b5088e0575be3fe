"""The state of an agent's work: branch, commits, changed files, checks and tasks, as outputs show it.

It has a line for each subject, of which the newest one in several blocks is valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from posixpath import dirname

from msgspec.structs import replace

from ireneo.log.calls import known_failed, without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import CHECK, SHORT, discarded_files, includes_command, is_wider_command, removed_paths
from ireneo.summaries.steps import (
    CHANGES,
    Step,
    clip,
    error_lines,
    is_environment,
    shorten_output,
    tasks_of,
    total_lines,
    whole_command,
)
from ireneo.summaries.summary import Line

WORTH = 6.0
"""The weight of a line of the state, which is needed first."""
FAILS = 8.0
"""The weight of a check that failed last."""
LESS = 2.5
STALE = 0.6
"""The factor for a check if files were changed after it."""
AGED = 0.8
"""The factor for a check for each one that was run after it and fails: what failed last is needed first."""
SINCE_CHECK = " Changed since: "
SINCE_COMMIT = "Changed, and no commit seen since: "
STAGED = " (staged)"
ONLY_LISTED = "`git status` also lists (no edit of mine): "
MOST_CHECKS, LONGEST_CHECK = 4, 150
TOTALS = 120
"""The maximum number of characters of the totals of a failed check."""
MOST_FILES = 12
MOST_SINCE = 3
UNCOMMITTED = 4.0
"""The weight of the files that were changed since the last commit."""
MOST_LISTED = 24
MOST_TASKS = 24
MOST_LOGGED = 3
"""How many commits of a log are shown at most."""
CHANGED, COMMIT, BRANCH, TASKS, SHARED = "changed ", "commit", "branch", "tasks", "shared"
STASH, HEAD, COMMITTED = "stash", "head", "committed "
COMMITTED_FILE, EDITED = "committed", "edited"
IN_LIST = (("listed", 1),)
ADDED, REMOVED_PATH, TASK = "added ", "removed ", "task #"
LISTED = "listed"
"""The subject of what version control listed as changed; earlier changes that are not listed are gone."""

_ON_BRANCH = lazy_re(r"^(?:On branch |Switched to (?:a new )?branch '?)(?P<name>[^\s']{1,200})", re.MULTILINE)
_COMMITTED = lazy_re(
    r"^\[(?P<branch>[^\s\]]{1,200})(?: \([^)]{1,80}\))? (?P<hash>[0-9a-f]{7,40})\] (?P<title>.{1,200})", re.MULTILINE
)
_PUSHED = lazy_re(
    r"^[ \t]*+(?:[+*=][ \t]++)?(?:(?P<range>[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40})|\[[a-z ]{1,20}\])[ \t]++"
    r"(?P<what>\S{1,200}[ \t]*+->[ \t]*+\S{1,200})(?P<forced> \(forced update\))?",
    re.MULTILINE,
)
_STASHED = lazy_re(r"^Saved working directory and index state (?P<what>.{1,160})", re.MULTILINE)
_UNSTASHED = lazy_re(r"^Dropped (?:refs/)?stash@?", re.MULTILINE)
_STASH_KEPT = "The stash entry is kept"
_REQUEST = lazy_re(r"https?://[^\s\"'<>]{1,200}/(?:pull|merge_requests)/\d+")
_COMMIT_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bcommit\b")
_REWRITES = lazy_re(
    r"\bgit\b[^|;&\n]{0,80}\b(?:rebase\b(?![^|;&\n]{0,80}--abort)|pull\b[^|;&\n]{0,80}(?:--rebase|\s-r\b)"
    r"|reset\b[^|;&\n]{0,80}(?:HEAD[~^@]|\s[0-9a-f]{7,40}\b|\borigin/))"
)
_NOT_REWRITTEN = lazy_re(r"[Uu]p to date\b|^Already up", re.MULTILINE)
_LOG_COMMAND = lazy_re(
    r"\bgit\b[^|;&\n]{0,80}\blog\b(?![^|;&\n]{0,200}(?:--all|--grep|-S|-G| -- |\.\.|\s[0-9a-f]{7,40}\b|\sorigin/))"
)
"""A log of the branch at hand: not of another commit or branch, and not of some commits."""
_LOGGED = lazy_re(r"(?:commit )?[0-9a-f]{7,40}\b[^\n]{0,160}")
_STATUS_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bstatus\b(?P<rest>[^|;&\n]{0,80})")
_CLEAN = lazy_re(r"nothing to commit|working (?:tree|directory) clean")
_LISTED = lazy_re(
    r"^(?:[ \t]*+(?:modified|new file|deleted|renamed):[ \t]+|(?: [MADRCU]|[MADRCU][ MD]|\?\?) )(?P<path>\S.{0,300})$"
    # Untracked files are listed by their paths alone.
    r"|^(?:\t| {8})(?P<bare>\S.{0,300})$",
    re.MULTILINE,
)
_ELSEWHERE = lazy_re(r"(?:\bcd|\bgit -C)\s+[\"']?(?:/tmp\b|/private/|/var/folders/|\$\(mktemp|\$\{?\w*TE?MP)")
"""A temporary repository."""
_WAS_RESET = "Shell cwd was reset to "
"""Part of the output of a command that left the project's folder."""
_VERSION_COMMAND = lazy_re(r"(?:^|[\s;&|(])(?:git|gh)\s")
_MOVED = lazy_re(r"(?:\bcd|\bgit -C)\s+[\"']?(?P<folder>/[^\s\"';&|]{1,400})")
_SCRATCH = ("/tmp/", "/var/folders/", "/private/")
_KEPT_AT_HOME = lazy_re(r"(?:~|/root|/(?:home|Users)/[^/]{1,100})/\.[^/]{1,100}/(?!(?:.{1,300}/)?worktrees/)")
"""What programs keep for themselves at home, such as an agent's plan: no work on a project that lies elsewhere."""
_PUSH_COMMAND = lazy_re(r"\bgit\b[^|;&\n]{0,80}\bpush\b")


def state_lines(done: Sequence[Step]) -> list[Line]:
    """The state of the work after `done`, the newest line of each subject."""
    out: dict[str, Line] = {}
    seen = [step.action.subject for step in done if step.action.kind in (*CHANGES, "read")]
    own = dict.fromkeys(path for path in seen if not path.startswith(_SCRATCH))
    # Where nothing else is touched, what lies there is the project: somebody's dotfiles.
    touched = {path: None for path in own if not _KEPT_AT_HOME.match(path)} or own
    for place, step in enumerate(done):
        for line in _state_of_step(step, touched):
            _put_newest(out, line)
        for path in discarded_files(done, place):
            # An empty line overrides the earlier one, also in deeper blocks.
            out[f"{CHANGED}{path}"] = step.line("", LESS, subject=f"{CHANGED}{path}")
    return standing_state(out.values())


def _is_elsewhere(step: Step, touched: Mapping[str, None]) -> bool:
    """Whether a command ran in a temporary folder, or in one apart from all files that were `touched`."""
    if _WAS_RESET in step.output or _ELSEWHERE.search(step.command):
        return True
    moved = [f"{found['folder'].rstrip('/')}/" for found in _MOVED.finditer(step.command)]
    there = [path for path in touched if path.startswith("/")]
    near = (path.startswith(moved[-1]) or moved[-1].startswith(f"{dirname(path)}/") for path in there if moved)
    return bool(moved and there) and not any(near)


def _put_newest(out: dict[str, Line], line: Line) -> None:
    """Put a line last, in place of the one on its subject; a changed file stays one if it is listed."""
    if line.verbs == IN_LIST:
        end = f"/{line.subject.removeprefix(CHANGED)}"
        changed = (each for each in out.values() if each.subject.startswith(CHANGED) and each.text)
        edited = [_edited_at(each) for each in changed if each.verbs != IN_LIST and f"/{each.text}".endswith(end)]
        line = replace(line, verbs=((EDITED, max(edited)),)) if edited else line
    out.pop(line.subject, None)
    out[line.subject] = line


def _edited_at(change: Line) -> int:
    """Where a file was changed, which is before it was listed as changed."""
    return dict(change.verbs).get(EDITED, change.position)


def standing_state(lines: Iterable[Line]) -> list[Line]:
    """The newest line of each subject; files committed since are no longer changed."""
    out: dict[str, Line] = {}
    for line in sorted(lines, key=lambda line: line.position):
        _put_newest(out, line)
    listed = out[LISTED].position if LISTED in out else -1
    made = (
        line for line in out.values() if line.subject.startswith(COMMITTED) or (line.subject == COMMIT and line.text)
    )
    commits = sorted({line.position for line in made})
    added = [line for line in out.values() if line.subject.startswith(ADDED)]
    removed = [line for line in out.values() if line.subject.startswith(REMOVED_PATH)]

    def is_change(line: Line) -> bool:
        return line.subject.startswith(CHANGED)

    def is_kept_at_home(change: Line) -> bool:
        return _KEPT_AT_HOME.match(change.subject, len(CHANGED)) is not None

    elsewhere = any(is_change(line) and not is_kept_at_home(line) for line in out.values())

    def is_gone(change: Line) -> bool:
        """Whether a changed file was removed later, isn't listed as changed though not committed, or is no work."""
        if elsewhere and is_kept_at_home(change):
            return True
        path = f"/{change.subject.removeprefix(CHANGED)}/"
        gone = (line for line in removed if line.position > change.position)
        return any(f"/{line.subject.removeprefix(REMOVED_PATH)}/" in path for line in gone) or (
            change.position < listed and not is_committed(change)
        )

    def is_committed(change: Line) -> bool:
        path = f"/{change.subject.removeprefix(CHANGED)}/"
        before = -1
        for commit in commits:
            staged = [line.subject.removeprefix(ADDED) for line in added if before < line.position <= commit]
            # Nothing, or an empty path, stands for all that was changed.
            if change.position < commit and (not staged or any(not each or f"/{each}/" in path for each in staged)):
                return True
            before = commit
        return False

    planned = max((line.position for line in out.values() if line.subject.startswith(TASKS)), default=-1)
    return [
        # A check that was run before a change doesn't know of it, whether it was committed or not.
        replace(line, text="", verbs=((COMMITTED_FILE, 1), (EDITED, _edited_at(line))))
        if is_change(line) and line.text and is_committed(line)
        else line
        for line in out.values()
        if not (is_change(line) and is_gone(line))
        and not (line.subject == HEAD and COMMIT in out and line.position < out[COMMIT].position)
        and not (line.subject.startswith(TASKS) and line.position < planned)
    ]


def shown_state(told: Iterable[Line], live: Sequence[Line] = (), *, narrow: bool = False) -> list[Line]:
    """The state as it is shown: changed files in one line, and the last checks only.

    What the shown messages themselves say (`live`), and what that outdates, is left out. With `narrow`, paths are
    shortened.
    """
    lines, shown_there = standing_state([*told, *live]), {line.position for line in live}
    listed = _without_repeats([line for line in lines if line.subject.startswith(CHANGED) and line.text])
    staged = {line.subject.removeprefix(ADDED) for line in lines if line.subject.startswith(ADDED)}
    # What was changed before the session, or by somebody else, is listed too.
    files = [line for line in listed if line.verbs != IN_LIST or line.text in staged]
    checks = _current_checks([line for line in lines if line.subject.startswith(CHECK)])
    checks = [line for line in checks if line.position not in shown_there][-MOST_CHECKS:]
    kept = [
        line
        for line in lines
        if line.text and not line.subject.startswith((CHANGED, CHECK, TASK)) and line.position not in shown_there
    ]
    commit = next((line for line in kept if line.subject == COMMIT), None)
    if commit is not None:
        # The last commit may say already which branch this is.
        said = [f"On branch {name}." for name in re.findall(r" on (\S+): ", commit.text)]
        kept = [line for line in kept if line.subject != BRANCH or line.text not in said]
    out = [line for line in kept if not line.subject.startswith(TASKS)]
    others = [line for line in listed if line not in files]
    for lead, those, weight in ((SINCE_COMMIT, files, UNCOMMITTED), (ONLY_LISTED, others, LESS)):
        if any(line.position not in shown_there for line in those):
            named = [line.text for line in those[-MOST_FILES:]]
            named = _short_names(named) if narrow else named
            more = f" and {len(those) - MOST_FILES} more" if len(those) > MOST_FILES else ""
            marks = (STAGED if _is_staged(line, lines) else "" for line in those[-MOST_FILES:])
            text = f"{lead}{', '.join(map(''.join, zip(named, marks, strict=True)))}{more}."
            out.append(replace(those[-1], text=text, weight=weight, verbs=()))
    failing = [line.position for line in checks if line.weight >= FAILS]
    changed = [
        replace(line, text=line.subject.removeprefix(CHANGED))
        for line in lines
        if line.subject.startswith(CHANGED)
        and line.verbs != IN_LIST
        and (line.text or COMMITTED_FILE in dict(line.verbs))
    ]
    checks = [_with_changes_since(line, _without_repeats(changed)) for line in checks]
    later = [sum(place > line.position for place in failing) for line in checks]
    checks = [replace(line, weight=line.weight * AGED**more) for line, more in zip(checks, later, strict=True)]
    tasks = [line for line in kept if line.subject.startswith(TASKS)] or _grouped_tasks(lines)
    return [*out, *checks, *tasks]


def _is_staged(change: Line, lines: Iterable[Line]) -> bool:
    """Whether a file was added to the next commit as it is."""
    path = f"/{change.text}/"
    added = (line for line in lines if line.subject.startswith(ADDED) and line.position > _edited_at(change))
    return any(f"/{name}/" in path if (name := line.subject.removeprefix(ADDED)) else True for line in added)


def _grouped_tasks(lines: Sequence[Line]) -> list[Line]:
    """Tasks that were created and updated one by one, by their status, completed ones last."""
    since = max((line.position for line in lines if line.subject == FORGOTTEN), default=-1)
    tasks = [line for line in lines if line.subject.startswith(TASK) and line.position > since]
    known = {line.subject.removeprefix(TASK): line for line in tasks}
    by_status: dict[str, list[Line]] = {}
    for number, line in known.items():
        updated = known.get(f"{number} {STATUS}")
        status = updated.text if updated else "pending"
        if not number.endswith(STATUS) and status != "deleted":
            by_status.setdefault(status, []).append(line)
    out = []
    for status in sorted(by_status, key=_DONE.__contains__):
        told = "; ".join(line.text for line in by_status[status][-MOST_TASKS:])
        newest = max(by_status[status], key=lambda line: line.position)
        weight = LESS if status in _DONE else WORTH
        out.append(replace(newest, text=f"Tasks {status}: {told}.", subject=f"{TASKS} {status}", weight=weight))
    return out


def recorded_text_of(shown: str) -> str:
    """Find the text of a shown line of the state in its record: the line itself, or a part of it."""
    shown = shown.partition(SINCE_CHECK)[0]
    for said in (SINCE_COMMIT, ONLY_LISTED):
        if shown.startswith(said):
            return shown.removeprefix(said).split(", ")[0].rstrip(".").removesuffix(STAGED)
    return shown


def _with_changes_since(check: Line, files: Sequence[Line]) -> Line:
    """A check with the files that were changed since it was run."""
    since = _short_names([line.text for line in files if _edited_at(line) > check.position])
    if not since:
        return check
    more = f" and {len(since) - MOST_SINCE} more" if len(since) > MOST_SINCE else ""
    text = f"{check.text}{SINCE_CHECK}{', '.join(since[-MOST_SINCE:])}{more}."
    return replace(check, text=text, weight=check.weight * STALE)


def _short_names(paths: Sequence[str]) -> list[str]:
    """The names of the files, or whole paths if names are equal."""
    ends = [path.rpartition("/")[2] for path in paths]
    return [end if ends.count(end) == 1 else path for path, end in zip(paths, ends, strict=True)]


def _without_repeats(files: Sequence[Line]) -> list[Line]:
    """Drop files that are listed again with more of their path."""
    return [
        line
        for place, line in enumerate(files)
        if not any(other.text.endswith(f"/{line.text}") for other in (*files[:place], *files[place + 1 :]))
    ]


def _current_checks(checks: Sequence[Line]) -> list[Line]:
    """Drop checks that a later one includes, such as `b` after a failed `a && b`, or one for an enclosing folder.

    A check that couldn't be run at all is dropped once another check passed.
    """
    return [
        line for place, line in enumerate(checks) if not any(_supersedes(other, line) for other in checks[place + 1 :])
    ]


def _supersedes(later: Line, check: Line) -> bool:
    """Whether a later check shows how an earlier one would end now."""
    new, old = frozenset(later.subject.split()), frozenset(check.subject.split())
    if new <= old or old <= new:
        return True
    if later.weight >= FAILS:
        return False
    # All parts of a chain that passed have passed.
    parts = (frozenset(part.split()) - _EVERYTHING for part in later.subject.removeprefix(CHECK).split("&&"))
    wider = any(part and is_wider_command(part, old) for part in parts)
    if wider or check.weight < FAILS:
        return wider
    sort = _SORT.search(later.subject)
    runs_all = sort is not None and sort[0] in check.subject and not _SELECTS.search(later.subject[sort.end() :])
    if runs_all and not any(_OF_OTHER_KIND.search(each.subject) for each in (later, check)):
        return True
    return includes_command(later.subject, check.subject) or is_environment(check.text)


_EVERYTHING = frozenset({".", "./..."})
"""Words for all folders."""
_SORT = lazy_re(r"test|lint|clippy|ruff|vet|build")
_SELECTS = lazy_re(r"^-\w|[/=:.]\w|\s(?:-[kt]|--?run)\b")
"""Signs that a check runs only some of what its sort could check."""
_OF_OTHER_KIND = lazy_re(r"\btags?\b|integration|e2e|smoke|bench")


_DONE = ("completed", "done")
STATUS, FORGOTTEN = "status", "tasks forgotten"
_NO_TASK = lazy_re(r"\b[Nn]ot found\b|\b[Nn]o such task\b")
_CREATED = lazy_re(r"\b[Tt]ask #(?P<number>\d{1,6}) created")


def _single_task(step: Step) -> Iterator[Line]:
    """A task that a call creates or updates, for tools that have no list of all tasks."""
    given = step.call.arguments
    if not isinstance(given, Mapping):
        return
    text, status = (" ".join(str(given.get(key) or "").split()) for key in ("subject", STATUS))
    created = _CREATED.search(step.output)
    number = created["number"] if created else str(given.get("taskId") or given.get("task_id") or "")
    if step.failed:
        # There is no such task, and so the earlier ones are gone.
        if number and status and _NO_TASK.search(step.output):
            yield step.line("", LESS, subject=FORGOTTEN)
        return
    if number and text:
        yield step.line(clip(text, 160), WORTH, subject=f"{TASK}{number}")
    if number and status:
        yield step.line(status.replace("_", " "), WORTH, subject=f"{TASK}{number} {STATUS}")


_ADD_COMMAND = lazy_re(r"\bgit(?:\s+-\S+(?:\s+[^\s-]\S*)?)?\s+(?:add|stage)\s+(?P<paths>[^|;&\n]+)")
_COMMITS_ALL = lazy_re(r"\bcommit\b[^|;&\n]{0,80}?\s(?:-\w*a\w*|--all)\b")


def _staged_paths(step: Step) -> Iterator[Line]:
    """The files that a command stages by name; an empty path stands for all files."""
    for found in _ADD_COMMAND.finditer(step.command):
        for word in found["paths"].split():
            name = word.strip("\"'").removeprefix("./")
            whole = word.startswith("-") or "." not in name.rpartition("/")[2] or name == "."
            yield step.line("", LESS, subject=f"{ADDED}{'' if whole else name}")
    if _COMMITS_ALL.search(step.command):
        yield step.line("", LESS, subject=ADDED)


def _state_of_step(step: Step, touched: Mapping[str, None]) -> Iterator[Line]:
    action = step.action
    if action.kind in CHANGES:
        if step.changed and action.subject in touched:
            yield step.line(action.subject, LESS, subject=f"{CHANGED}{action.subject}")
    elif action.kind == "plan":
        yield from _task_list(step)
    elif action.kind == "use":
        yield from _single_task(step)
    elif step.result is not None and action.shell:
        if action.kind == "check" and (step.failed_itself or not (step.failed or step.has_unknown_end)):
            came = _check_outcome(step, step.cleaned_output)
            # What a long command ends with may be what matters.
            ran = whole_command(step, LONGEST_CHECK)
            yield step.line(f"`{ran}` {came}.", FAILS if step.failed else WORTH, subject=f"{CHECK}{ran}")
        if _is_elsewhere(step, touched):
            return
        if not step.failed:
            yield from (step.line("", LESS, subject=f"{REMOVED_PATH}{path}") for path in removed_paths(step))
            yield from _staged_paths(step)
        yield from _failed_commit(step) if step.failed else _version_control_lines(step)
        yield from _stashed_work(step)


def _failed_commit(step: Step) -> Iterator[Line]:
    """A commit or push that failed or was refused."""
    if _PUSH_COMMAND.search(step.command) or _COMMIT_COMMAND.search(step.command):
        wrong = error_lines(step.cleaned_output, 160) or step.failure_reason
        ended = f"it failed{wrong and f': {wrong}'}" if step.failed_itself else "it was broken off"
        why = "the user refused it" if step.was_rejected else ended
        yield step.line(f"`{clip(step.action.subject, 100)}` was not done: {why}.", WORTH, subject=SHARED)


def _version_control_lines(step: Step) -> Iterator[Line]:
    """The results of version control: commit, branch, pull request, push."""
    output = without_reminders(step.output)
    if found := _REQUEST.search(output):
        yield step.line(f"Pull request: {found[0]}", WORTH, subject="request")
    if not _VERSION_COMMAND.search(step.command):
        return  # A script's own repositories say nothing about this one.
    if made := list(_COMMITTED.finditer(output)):
        found = made[-1]
        yield step.line("", LESS, subject=f"{COMMITTED}{found['hash']}")
        yield step.line(
            f"Last commit {found['hash']} on {found['branch']}: {found['title'].strip()}", WORTH, subject=COMMIT
        )
        yield step.line(f"On branch {found['branch']}.", LESS, subject=BRANCH)
    elif _COMMIT_COMMAND.search(step.command):
        yield step.line(f"Last commit: `{clip(step.action.subject, 160)}`", WORTH, subject=COMMIT)
    elif _REWRITES.search(step.command) and not _NOT_REWRITTEN.search(output):
        # The last commit may have another hash now.
        yield step.line("", LESS, subject=COMMIT)
    if _LOG_COMMAND.search(step.command) and (logged := _log_entries(output)):
        which = "newest commits" if len(logged) > 1 else "newest commit"
        yield step.line(f"The {which} that `git log` showed: {'; '.join(logged)}", LESS + 1, subject=HEAD)
    status = _STATUS_COMMAND.search(step.command)
    # With a path, it only reports on that path.
    if status and all(word.startswith(("-", "2>")) for word in status["rest"].split()):
        yield from _changed_files(step, output)
    if found := _ON_BRANCH.search(output):
        yield step.line(f"On branch {found['name']}.", WORTH, subject=BRANCH)
    if _PUSH_COMMAND.search(step.command):
        yield from _pushed_commits(output, step)


def _pushed_commits(output: str, step: Step) -> Iterator[Line]:
    """The commits of a push; they replace an earlier failed push."""
    text = ""
    if found := _PUSHED.search(output):
        pieces = (found["range"], *found["what"].split(), "(forced)" if found["forced"] else "")
        text = f"Pushed {' '.join(filter(None, pieces))}."
    yield step.line(text, WORTH, subject=SHARED)


def _stashed_work(step: Step) -> Iterator[Line]:
    """Work that was put aside, even if a command failed; an empty line overrides the earlier one."""
    if not _VERSION_COMMAND.search(step.command):
        return
    if found := _STASHED.search(step.output):
        yield step.line(f"A stash was made: {found['what'].strip()}.", WORTH, subject=STASH)
    elif _UNSTASHED.search(step.output):
        yield step.line("", LESS, subject=STASH)
    elif _STASH_KEPT in step.output:
        said = f"`{clip(step.action.subject, SHORT)}` ran into conflicts: the stash entry was kept."
        yield step.line(said, WORTH, subject=STASH)


def _log_entries(output: str) -> list[str]:
    """The newest commits of a log, a line each."""
    lines = [line.strip() for line in output.strip().splitlines()[:MOST_LOGGED]]
    return [clip(line, SHORT) for line in takewhile(_LOGGED.fullmatch, lines)]


def _changed_files(step: Step, output: str) -> Iterator[Line]:
    """The files that version control lists as changed; nothing if the output is neither a list nor says “clean”."""
    listed = [(found["path"] or found["bare"]).strip() for found in _LISTED.finditer(output)][:MOST_LISTED]
    if listed or not output.strip() or _CLEAN.search(output):
        yield step.line("", LESS, subject=LISTED)
        for path in listed:
            # After the line of the list itself, which overrides earlier ones.
            yield replace(step.line(path, LESS, subject=f"{CHANGED}{path}"), verbs=IN_LIST)


def _check_outcome(step: Step, output: str) -> str:
    """How a check ended: passed only if nothing in its output contradicts that."""
    wrong = error_lines(output, 240).rstrip(".")
    failed = known_failed(step.result, step.call) if step.result else None
    found = total_lines(output, TOTALS)
    counted = f" ({found})" if found and found not in wrong else ""
    if step.failed or failed:
        wrong = wrong or step.failure_reason
        return f"failed{wrong and f': {wrong}'}{counted}"
    if wrong and failed is None:
        return f"said: {wrong}{counted}"
    said = shorten_output(output).strip(" .=-")
    return f"passed ({said})" if 0 < len(said) < SHORT else "passed"


def _task_list(step: Step) -> Iterator[Line]:
    """The agent's last list of tasks, completed ones last."""
    by_status: dict[str, list[str]] = {}
    for task in tasks_of(step)[:MOST_TASKS]:
        text = next((str(task[key]) for key in ("content", "step", "title", "task", "text") if task.get(key)), "")
        if text:
            status = str(task.get("status") or "pending").replace("_", " ")
            by_status.setdefault(status, []).append(clip(" ".join(text.split()), 160))
    for status in sorted(by_status, key=_DONE.__contains__):
        done = status in _DONE
        yield step.line(
            f"Tasks {status}: {'; '.join(by_status[status])}.", LESS if done else WORTH, subject=f"{TASKS} {status}"
        )
