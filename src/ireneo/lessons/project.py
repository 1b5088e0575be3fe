"""Which project a run belongs to, told from where it worked or from its name; empty where nothing tells."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

_WORKTREES = ("/.worktrees/", "/.claude/worktrees/", "/.git/", "/worktrees/")
"""What stands between a repository and a second copy of it."""
_HOMES = lazy_re(r"^/(?:Users|home)/[^/]+/?$|^/root/?$|^[A-Za-z]:/Users/[^/]+/?$")
_NOWHERE = frozenset(
    "tmp var private usr opt mnt workspace workspaces testbed app src code repo repos work projects project data root "
    "home users desktop documents downloads dev git github.com folders private".split()
)
"""Folders in which anything may stand: their names tell of no project."""
_INSTANCE = lazy_re(
    r"(?P<owner>[A-Za-z0-9][\w.-]{0,99}?)__(?P<name>[A-Za-z0-9][\w.]{0,99}(?:-[A-Za-z][\w.]{0,99}){0,9})-\d+(?!\w)"
)
_ACCIDENT = lazy_re(r"^(?:tmp|temp|pytest|T)?[-_.]?[0-9a-f-]{6,}$|^tmp\w{6,}$|^\d+$", re.IGNORECASE)


def project_of(*, directory: str = "", folder: str = "", session: str = "") -> str:
    """The project that a run worked on.

    `directory` is where it worked, `folder` one that is called after a directory (``-Users-ann-Work-cli``, as Claude
    Code does), `session` the run's name, which some benchmarks make of a repository's (``django__django-11099``).
    """
    # An instance's name is unmistakable, and the directory of one is often a copy under another name.
    return _of_instance(session) or _of_directory(directory) or _of_folder(folder)


def project_named(given: str) -> str:
    """The project that is meant by its name, or by a directory of it."""
    named = given.strip()
    return project_of(directory=named) if "/" in named or "\\" in named else named


def _of_directory(directory: str) -> str:
    path = directory.strip().replace("\\", "/")
    for mark in _WORKTREES:
        path = path.partition(mark)[0]
    path = path.removesuffix("/.git").rstrip("/")
    if not path or _HOMES.match(path) or "/" not in path:
        return ""
    name = path.rsplit("/", 1)[-1]
    return "" if name.lower() in _NOWHERE or _ACCIDENT.match(name) or name.startswith((".", "__")) else name


def _of_instance(session: str) -> str:
    found = _INSTANCE.search(session)
    return f"{found['owner']}__{found['name']}" if found else ""


def _of_folder(folder: str) -> str:
    """The last part of a directory whose strokes were made hyphens: what had a hyphen itself can't be told apart."""
    name = folder.strip().rstrip("/").rsplit("/", 1)[-1]
    if not re.match(r"^-(?:Users|home|root|private|var|tmp|opt|mnt|workspace)\b", name):
        return ""
    name = re.split(r"--(?:worktrees|claude-worktrees|git)-", name)[0]
    parts = [part for part in name.split("-") if part]
    # A home is nobody's project.
    least = 3 if parts[0] in ("Users", "home") else 2
    if len(parts) < least or parts[-1].lower() in _NOWHERE or _ACCIDENT.match(parts[-1]):
        return ""
    return parts[-1]
