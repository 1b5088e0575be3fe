"""Which projects are one repository: clones, worktrees and checkouts in several folders, as far as runs prove it.

A project is called by its folder, so a clone elsewhere may be another project. What one project taught is told in
another, so only proof unites two: a worktree that git lists, or the same name of the folder and either the same remote
or commits that a run made in one and that git lists in the other. `git_marks` finds the marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ireneo.lessons.run import Observation

REPOSITORY = "<repository>"
"""The cue of the observation that bears the marks of a run's repository."""
REMOTE, MADE, SEEN, WORKTREE = "remote", "made", "listed", "worktree"
"""Its conditions: marks, with the separator of their sort between them; of worktrees the projects."""
SEPARATOR: Mapping[str, str] = {REMOTE: " ", MADE: " ", SEEN: " ", WORKTREE: "\n"}
MOST = 150
"""Marks of a sort that are kept of a run."""
LEAST_COMMITS = 2
"""Commits of one project that another one has to list."""


def merged_marks(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """The marks of two windows of a run."""
    out: dict[str, str] = {}
    for sort, between in SEPARATOR.items():
        marks = dict.fromkeys(each for told in (one, other) for each in told.get(sort, "").split(between) if each)
        if marks:
            out[sort] = between.join(list(marks)[-MOST:])
    return out


def united_projects(observations: Iterable[Observation]) -> dict[str, frozenset[str]]:
    """The projects that are one repository with others, each with all of these, from the marks of all runs."""
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
            if groups[one] is not groups[other] and _are_one(one, other, marks):
                joined = groups[one] | groups[other]
                groups.update(dict.fromkeys(joined, joined))
    return {name: frozenset(group) for name, group in groups.items() if len(group) > 1}


def _are_one(one: str, other: str, marks: Mapping[str, Mapping[str, set[str]]]) -> bool:
    """Whether two projects are the same repository."""
    if any(_lists(marks.get(a), a, b) for a, b in ((one, other), (other, one))):
        return True
    mine, theirs = marks.get(one), marks.get(other)
    if mine is None or theirs is None or one.rsplit("/", 1)[-1] != other.rsplit("/", 1)[-1]:
        return False
    if mine[REMOTE] and theirs[REMOTE]:
        return bool(mine[REMOTE] & theirs[REMOTE])
    # Commits that both list may be of a template that both began with; what one made and the other has is not.
    exchanged = (mine[MADE] & (theirs[SEEN] | theirs[MADE])) | (theirs[MADE] & (mine[SEEN] | mine[MADE]))
    return len(exchanged) >= LEAST_COMMITS


def _lists(mine: Mapping[str, set[str]] | None, name: str, other: str) -> bool:
    """Whether git listed the folders of both as worktrees."""
    return mine is not None and {name, other} <= mine[WORKTREE]
