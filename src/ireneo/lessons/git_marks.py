"""By what a run's repository is known: the remotes, commits and worktrees that git printed.

`repositories` says which projects are one by these.
"""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.lessons.commands import shell_steps
from ireneo.lessons.repositories import MADE, MOST, REMOTE, REPOSITORY, SEEN, SEPARATOR, WORKTREE
from ireneo.lessons.run import Observation, project_of
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.log.message import MessageId, digest
from ireneo.patterns import lazy_re

_RETURNS = lazy_re(r"\(\s*(?:cd|pushd)\s|^git\s+-C\s")
"""What is run in a shell within, or by git elsewhere: the next call is where it was."""
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
    """The remotes, commits and worktrees of its repository that git printed in a run, while it was in its folder."""
    found: dict[str, dict[str, None]] = {}
    sources: tuple[MessageId, ...] = ()
    away = False
    for step in run_steps(material) if material.project else ():
        command = command_of(step.call)
        places = list(_places(command)) if _MOVES.search(command) else []
        outside = any(not _is_within(each, material.project) for each in places)
        here = away
        for place in places:
            # What git says elsewhere is of another repository, until the run is back.
            here = not _is_within(place, material.project) or (here and not _is_whole(place))
        if not (here or outside or step.failed or "git" not in command):
            told = list(_printed(command, step.output, material.project))
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


def _places(command: str) -> Iterator[str]:
    """The folders that a command goes to, or has git look at, in order."""
    for step in shell_steps(command):
        words = step.words
        if words[:1] in (("cd",), ("pushd",)):
            yield words[1] if len(words) > 1 else "~"
        elif words[:1] == ("git",):
            yield from (words[at + 1] for at, each in enumerate(words[:-1]) if each == "-C")


def _is_whole(place: str) -> bool:
    return place.startswith(("/", "~")) or place[1:2] == ":"


def _is_within(place: str, project: str) -> bool:
    if _is_whole(place):
        return project_of(directory=place) == project or f"/{project}/" in f"{place}/"
    return not place.startswith("..") and "$" not in place and place != "-"


def _printed(command: str, output: str, project: str) -> Iterator[tuple[str, str]]:
    """The marks in the output of a command, each with its sort."""
    names = {" ".join(each.name.split()[:2]) for each in shell_steps(command) if each.name.startswith("git ")}
    for line in output.splitlines() if names else ():
        if "git worktree" in names and (tree := _TREE.search(line)):
            yield WORKTREE, project_of(directory=tree[1])
        elif names & _OF_REMOTES and (url := _URL.search(line)):
            yield REMOTE, _mark(f"{url[1]}/{url[2]}".lower())
        elif "git commit" in names and (made := _COMMITTED.search(line)):
            yield MADE, _commit(made[1], made[2])
        elif listed := _LISTED.search(line):
            yield SEEN, _commit(listed[1], listed[2])


_OF_REMOTES = frozenset(("git remote", "git push", "git fetch", "git pull"))


def _commit(id: str, subject: str) -> str:
    return _mark(id[:_SHORT], subject.strip()[:_SUBJECT].rstrip("….").strip())


def _mark(*pieces: str) -> str:
    return digest("m", *(each.encode() for each in pieces))[2 : 2 + _MARK]


_MARK = 12
