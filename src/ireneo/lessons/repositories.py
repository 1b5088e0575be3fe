"""Find the projects that are one repository (clones, worktrees and checkouts), as far as runs prove it.

A project is named after its folder, so a clone elsewhere may be another project. Projects of one repository share their
lessons, so only proof unites them: a worktree that git lists; or folders of the same name with the same remote, or with
commits that a run made in one and that git lists in the other. This proof is in what git printed in runs, its marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ireneo.lessons.commands import shell_steps
from ireneo.lessons.run import Observation, project_of
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.log.message import MessageId, digest
from ireneo.patterns import lazy_re

REPOSITORY = "<repository>"
"""The cue of the observation that has the marks of a run's repository."""
REMOTE, MADE, SEEN, WORKTREE = "remote", "made", "listed", "worktree"
"""Its conditions: lists of marks, each with the separator of its kind; for worktrees the projects."""
SEPARATOR: Mapping[str, str] = {REMOTE: " ", MADE: " ", SEEN: " ", WORKTREE: "\n"}
MOST = 150
"""How many marks of a kind are kept for a run."""
LEAST_COMMITS = 2
"""How many commits of one project another one must list."""


def merged_marks(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """Merge the marks of two windows of a run."""
    out: dict[str, str] = {}
    for sort, between in SEPARATOR.items():
        marks = dict.fromkeys(each for told in (one, other) for each in told.get(sort, "").split(between) if each)
        if marks:
            out[sort] = between.join(list(marks)[-MOST:])
    return out


def united_projects(observations: Iterable[Observation]) -> dict[str, frozenset[str]]:
    """The projects that are one repository with others, each mapped to all of these, by the marks of all runs."""
    marks: dict[str, dict[str, set[str]]] = {}
    for each in observations:
        if each.cue == REPOSITORY and each.project:
            here = marks.setdefault(each.project, {sort: set() for sort in SEPARATOR})
            for sort, between in SEPARATOR.items():
                here[sort].update(mark for mark in each.conditions.get(sort, "").split(between) if mark)
    groups = {name: {name} for name in (*marks, *(tree for here in marks.values() for tree in here[WORKTREE]))}
    names = sorted(groups)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            if groups[one] is not groups[other] and _is_same_repository(one, other, marks):
                joined = groups[one] | groups[other]
                groups.update(dict.fromkeys(joined, joined))
    return {name: frozenset(group) for name, group in groups.items() if len(group) > 1}


def _is_same_repository(one: str, other: str, marks: Mapping[str, Mapping[str, set[str]]]) -> bool:
    """Whether two projects are the same repository."""
    if any(name in marks and {one, other} <= marks[name][WORKTREE] for name in (one, other)):
        return True
    mine, theirs = marks.get(one), marks.get(other)
    if mine is None or theirs is None or one.rsplit("/", 1)[-1] != other.rsplit("/", 1)[-1]:
        return False
    if mine[REMOTE] and theirs[REMOTE]:
        return bool(mine[REMOTE] & theirs[REMOTE])
    # Commits that both list may come from a common template, but not commits that one made and the other lists.
    exchanged = (mine[MADE] & (theirs[SEEN] | theirs[MADE])) | (theirs[MADE] & (mine[SEEN] | mine[MADE]))
    return len(exchanged) >= LEAST_COMMITS


_RETURNS = lazy_re(r"\(\s*(?:cd|pushd)\s|^git\s+-C\s")
"""Commands in a subshell, or by git in another folder: the next call is back in the folder."""
_WAS_RESET = "Shell cwd was reset"
_MOVES = lazy_re(r"\b(?:cd|pushd)\s|\s-C\s")
_LISTED = lazy_re(r"^[*|/\\ ]{0,8}([0-9a-f]{7,40}) (?:\([^)\n]{1,200}\) )?(\S.{3,})$")
_COMMITTED = lazy_re(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (\S.{3,})$")
_URL = lazy_re(
    r"^(?:\w+\s+|To |From )?(?:\w+://(?:[^@/\s]+@)?|[\w.-]+@)([\w.-]+)(?::\d+/|[:/])([\w./~-]+?)(?:\.git)?/?(?:\s|$)"
)
_TREE = lazy_re(r"^(/\S+|[A-Za-z]:[\\/]\S+)\s+(?:[0-9a-f]{7,40}\b|\(bare\))")
_SUBJECT = 40
_SHORT = 7


def marks_of_repository(material: RunMaterial) -> list[Observation]:
    """The remotes, commits and worktrees of the repository that git printed while the run was in its folder."""
    found: dict[str, dict[str, None]] = {}
    sources: tuple[MessageId, ...] = ()
    away = False
    for step in run_steps(material) if material.project else ():
        command = command_of(step.call)
        places = list(_git_folders(command)) if _MOVES.search(command) else []
        outside = any(not _is_within(each, material.project) for each in places)
        here = away
        for place in places:
            # Output of git in another folder belongs to another repository, until the run is back.
            here = not _is_within(place, material.project) or (here and not _is_absolute(place))
        if not (here or outside or step.failed or "git" not in command):
            told = list(_printed_marks(command, step.output, material.project))
            for sort, mark in told:
                found.setdefault(sort, {})[mark] = None
            sources = tuple(step.sources) if told else sources
        away = (away if _RETURNS.search(command) else here) and _WAS_RESET not in step.output
    if not found:
        return []
    conditions = {sort: SEPARATOR[sort].join(list(marks)[-MOST:]) for sort, marks in found.items()}
    last = next((each.draft.at for each in reversed(material.messages) if each.draft.at is not None), None)
    seen = Observation(
        cue=REPOSITORY,
        category="factual",
        session=material.session,
        project=material.project,
        at=last,
        held=1,
        conditions=conditions,
        sources=sources,
    )
    return [seen]


def _git_folders(command: str) -> Iterator[str]:
    """The folders that a command changes to, or lets git work in, in order."""
    for step in shell_steps(command):
        words = step.words
        if words[:1] in (("cd",), ("pushd",)):
            yield words[1] if len(words) > 1 else "~"
        elif words[:1] == ("git",):
            yield from (words[at + 1] for at, each in enumerate(words[:-1]) if each == "-C")


def _is_absolute(place: str) -> bool:
    return place.startswith(("/", "~")) or place[1:2] == ":"


def _is_within(place: str, project: str) -> bool:
    if _is_absolute(place):
        return project_of(directory=place) == project or f"/{project}/" in f"{place}/"
    return not place.startswith("..") and "$" not in place and place != "-"


def _printed_marks(command: str, output: str, project: str) -> Iterator[tuple[str, str]]:
    """The marks in the output of a command, each with its kind."""
    names = {" ".join(each.name.split()[:2]) for each in shell_steps(command) if each.name.startswith("git ")}
    for line in output.splitlines() if names else ():
        if "git worktree" in names and (tree := _TREE.search(line)):
            yield WORKTREE, project_of(directory=tree[1])
        elif names & _OF_REMOTES and (url := _URL.search(line)):
            yield REMOTE, _hashed_mark(f"{url[1]}/{url[2]}".lower())
        elif "git commit" in names and (made := _COMMITTED.search(line)):
            yield MADE, _commit_mark(made[1], made[2])
        elif listed := _LISTED.search(line):
            yield SEEN, _commit_mark(listed[1], listed[2])


_OF_REMOTES = frozenset(("git remote", "git push", "git fetch", "git pull"))


def _commit_mark(id: str, subject: str) -> str:
    return _hashed_mark(id[:_SHORT], subject.strip()[:_SUBJECT].rstrip("….").strip())


def _hashed_mark(*pieces: str) -> str:
    return digest("m", *(each.encode() for each in pieces))[2 : 2 + _MARK]


_MARK = 12
