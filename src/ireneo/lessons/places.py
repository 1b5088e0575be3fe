"""Observe missing files and the right ones: a file is looked for in a wrong place or under a wrong name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from ireneo.lessons.commands import main_step
from ireneo.lessons.explanations import names_thing
from ireneo.lessons.guard import MISSING
from ireneo.lessons.observe import PLACE, cited_sources, is_supported
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.lessons.traps import PROVEN
from ireneo.patterns import lazy_re

LONGEST = 80
"""Up to this many characters a path is shown as a whole."""
PLACES = 3
"""How many parts of a file's path are shown."""
SOON = 8
"""How many calls are searched for the right path."""
_MISSING = lazy_re(r"does not exist|no such file|not found|cannot find|could not find", re.I)
_SHOWS = frozenset("cat head tail less more nl sed wc bat file stat".split())
_FILE = lazy_re(r"(?!-)[\w@~+./-]{0,300}\.[\w-]{1,12}")
_PASSING = ("/tmp/", "/var/folders/", "/node_modules/", "/.claude/", "tool-results")
_ENDINGS = tuple(
    frozenset(each.split()) for each in ("yml yaml", "js jsx ts tsx mjs cjs", "md mdx rst txt", "cfg ini toml conf")
)
"""File extensions that are easily confused."""
_A_TEST = lazy_re(r"test|spec", re.I)
_LEAST_ALIKE = 4
"""How many first letters two similar names have in common."""


class _FoundPath(Struct, frozen=True, kw_only=True):
    """A path that doesn't exist, and the right one."""

    calls: tuple[TriedCall, ...]
    """The calls that show it; the last one found the right path."""
    missing: str
    lies: str
    """The ends of both paths."""
    sought: str
    """The whole path that doesn't exist."""
    place: str
    """The whole path that exists."""
    proven: bool = False
    """Whether once is proof, since the paths differ by a folder or are similar."""


def moved_paths(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The files that a run looked for in vain, and the places where it then found them."""
    if not material.project:
        return []
    found = [
        each
        for at, failed in enumerate(run)
        for path in _missing_path(failed)
        if _stays_missing(path, run)
        for each in _found_files(run, at, path)
    ]
    out: dict[str, Observation] = {}
    for each in found:
        if any(mark in path for mark in _PASSING for path in (each.missing, each.lies)):
            continue
        seen = _observation(material, each)
        if seen is not None:
            out.setdefault(seen.cue, seen)
    return list(out.values())


def _missing_path(failed: TriedCall) -> Iterator[str]:
    """The only file that a call asked for, if it doesn't exist."""
    if failed.worked or not _MISSING.search(f"{failed.faults[0]} {failed.step.error}"):
        return
    paths = [failed.path] if failed.path else _shown_files(failed)
    named = [path for path in paths if not failed.shell or path in failed.step.output]
    if len(named) != 1 or any(mark in named[0] for mark in _PASSING):
        return
    if "." in _last_parts(named[0], 1):
        yield named[0]


def _stays_missing(path: str, run: Sequence[TriedCall]) -> bool:
    """Whether a path is missing in the whole run: it is neither created nor found."""
    worked = (each for each in run if each.worked)
    # A pattern without matches is not a missing path.
    met = (each.path or each.step.action.subject for each in worked if each.path or each.step.action.kind != "search")
    return not any(each == path or each.startswith(f"{path}/") for each in met)


def _found_files(run: Sequence[TriedCall], at: int, sought: str) -> Iterator[_FoundPath]:
    """The right place or name of a file: the next file read that may be meant."""
    later = run[at + 1 : at + 1 + SOON]
    read = [(each, path) for each in later for path in _files_read(each)]
    found = next(((each, path) for each, path in read if _is_same_name(sought, path)), None)
    found = found or next(((each, path) for each, path in read if _is_similar_name(sought, path)), None)
    if found is None:
        return
    each, path = found
    name, other = _last_parts(sought, 1), _last_parts(path, 1)
    beside = name != other and not _is_same_name(sought, path)
    missing = _last_parts(sought, 1 if name != other and not beside else 2)
    lies = _last_parts(path, 2 if beside else 1 if name != other else PLACES)
    # A path that only adds folders is not another place, and a path in the failure itself is not news.
    same = lies.endswith(missing) or missing.endswith(lies)
    if not same and not names_thing(run[at].step.output, lies):
        proven = beside or (name == other and _differ_by_folder(sought, path))
        yield _FoundPath(calls=(run[at], each), missing=missing, lies=lies, sought=sought, place=path, proven=proven)


def _files_read(each: TriedCall) -> Sequence[str]:
    if not each.worked or each.step.action.kind != "read":
        return ()
    return [each.path] if each.path else _shown_files(each)


def _shown_files(each: TriedCall) -> list[str]:
    """The arguments of a command that shows files."""
    step = main_step(each.command_line) if each.shell else None
    if step is None or step.name not in _SHOWS:
        return []
    return [word for word in step.words[1:] if _FILE.fullmatch(word)]


def _is_same_name(sought: str, path: str) -> bool:
    """Whether a file has the name that was looked for, apart from its extension or case."""
    one, other = _last_parts(sought, 1).lower(), _last_parts(path, 1).lower()
    if path == sought or not other:
        return False
    stem, ending = one.rpartition(".")[0], one.rpartition(".")[2]
    alike = stem == other.rpartition(".")[0] and any({ending, other.rpartition(".")[2]} <= kin for kin in _ENDINGS)
    return one == other or (bool(stem) and alike)


def _is_similar_name(sought: str, path: str) -> bool:
    """Whether a file in the same folder has a name similar to the one that was looked for: `clean_test.go`."""
    (home, _, one), (there, _, other) = sought.rpartition("/"), path.rpartition("/")
    (stem, _, ending), (their, _, its) = one.rpartition("."), other.rpartition(".")
    if "." in f"{stem}{their}":
        return False  # `settings.local` exists besides `settings`, not instead of it.
    if home != there or ending != its or bool(_A_TEST.search(one)) != bool(_A_TEST.search(other)):
        return False
    same = _common_prefix_length(stem, their)
    return same >= _LEAST_ALIKE or same == min(len(stem), len(their))


def _differ_by_folder(sought: str, path: str) -> bool:
    """Whether two paths with one file name differ only by one folder."""
    one, other = sought.split("/"), path.split("/")
    front = _common_prefix_length(one, other)
    back = _common_prefix_length(one[front:][::-1], other[front:][::-1])
    left, come = len(one) - front - back, len(other) - front - back
    return back > 0 and left + come == 1


def _common_prefix_length(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts both have in common at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _last_parts(path: str, parts: int) -> str:
    return "/".join(path.rstrip("/").split("/")[-parts:])


def _observation(material: RunMaterial, found: _FoundPath) -> Observation | None:
    messages = {message.id: message for message in material.messages}
    names = [name for each in found.calls for name in each.step.sources]
    sources = cited_sources(names, messages)
    missing = _project_path(found.sought, found.missing, material.project)
    lies = _project_path(found.place, found.lies, material.project)
    way = f"use `{lies}`"
    text = f"`{missing}` is not there: {way}."
    # A worktree or what is installed is a place of one run.
    passing = any(part in _OF_ONE_RUN or part[:1] == "." for part in lies.removeprefix("./").split("/")[:-1])
    if passing or not is_supported(text, sources, messages):
        return None
    calls = found.calls
    return Observation(
        cue=f"{material.project} {PLACE} {found.missing}: {found.lies}",
        category="factual",
        session=material.session,
        project=material.project,
        at=max((each.at for each in calls if each.at is not None), default=None),
        held=1,
        text=text,
        task_type=calls[-1].step.action.kind,
        conditions={
            "subject": material.project,
            "attribute": f"place of {found.missing}: {found.lies}",
            "value": found.lies,
            **({PROVEN: "yes"} if found.proven else {}),
        },
        way_out=way,
        trigger=Trigger(
            path=found.missing,
            given=MISSING,
            above=_parent_in_project(found, material.project),
            unless=(found.lies,),
        ),
        sources=sources,
        tokens=sum(each.tokens for each in calls if not each.worked),
    )


def _project_path(path: str, short: str, project: str) -> str:
    """A path within its project, or as it was written; `short` if it would be a path of this machine."""
    _, here, inside = path.rpartition(f"/{project}/") if path.startswith("/") else ("", ".", path.removeprefix("./"))
    if not here:
        return short
    return inside.rstrip("/") if inside.rstrip("/").endswith(short) and len(inside) <= LONGEST else short


def _parent_in_project(found: _FoundPath, project: str) -> str:
    """The folder of the project above the shown part of a missing path; empty if there is none, or it is unknown."""
    root = project.split("/", maxsplit=1)[0]
    inside = found.sought.partition(f"/{root}/")[2].removesuffix(found.missing).strip("/")
    return _last_parts(inside, 1) if found.sought.startswith("/") else ""


_OF_ONE_RUN = frozenset("node_modules bower_components venv site-packages dist build target vendor third_party".split())
"""Folders of installed or built files; names that begin with a dot count as well."""
