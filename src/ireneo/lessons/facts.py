"""Facts of a project that a run found out: how its checks are run, and where a file lies that was sought elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ireneo.lessons.commands import main_step
from ireneo.lessons.explanations import Said, names_thing, speaks_of_code
from ireneo.lessons.observe import cited_sources, is_supported
from ireneo.lessons.remedies import is_unknown
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial, TriedCall, command_of
from ireneo.lessons.traps import SAID_AFTER, place_of, quote
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import is_environment

PLACE = "<place>"
PLACES = 3
"""Parts of a path that say where a file lies."""
_SERVES = (
    ("formatter", lazy_re(r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier|black)(?![\w-])")),
    (
        "linter",
        lazy_re(r"(?:^|[\s:/_-])(?:lint|clippy|check-style|checkstyle|eslint|golangci-lint|flake8|pylint)(?![\w-])"),
    ),
    ("generator", lazy_re(r"(?:^|[\s:/_-])(?:generate|codegen|gen)(?![\w-])")),
    ("integration", lazy_re(r"(?:integration|e2e)(?![\w-])")),
    ("tests", lazy_re(r"(?:^|[\s:/_-])(?:tests?|runtests\.py|spec|pytest|jest|vitest|rspec|phpunit|ctest)(?![\w-])")),
    ("checks", lazy_re(r"(?:^|[\s:/_-])check(?![\w-])")),
    ("build", lazy_re(r"(?:^|[\s:/_-])build(?![\w-])")),
)
"""What a command is for, by the last words of its name: `test-harness.sh` is something for tests, and runs none."""
_PURPOSES = {"integration": "integration tests"}
"""How what a command is for reads, where that is not its code."""
_SCRIPT = lazy_re(r"(?:run[-_]?)?(?:tests?|lint|fmt|format|build|generate|codegen)(?:\.\w+)?")
"""A script of the project that is named after what it does, and not one that only lies beside tests."""
_MISSING = lazy_re(r"does not exist|no such file|not found|cannot find|could not find", re.I)
_SHOWS = frozenset("cat head tail less more nl sed wc bat file stat".split())
_FILE = lazy_re(r"(?!-)[\w@~+./-]{0,300}\.[\w-]{1,12}")
_PASSING = ("/tmp/", "/var/folders/", "/node_modules/", "/.claude/", "tool-results")
_SOON = 8
_ENDINGS = tuple(
    frozenset(each.split()) for each in ("yml yaml", "js jsx ts tsx mjs cjs", "md mdx rst txt", "cfg ini toml conf")
)
"""Endings that are easily taken for each other."""
_OF_A_PROJECT = lazy_re(r"^(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|bundle exec|cargo xtask|poe) |/")
"""Only what a project has settled for itself is a fact about it; that ``go test`` runs tests is one about Go."""


def facts(material: RunMaterial, run: Sequence[TriedCall], said: Said) -> list[Observation]:
    """The facts that a run confirms, or shows not to be so."""
    return [*_commands(material, run), *_files(material, run, said)] if material.project else []


def _commands(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """How a project is checked, where that is not plain to see: by a script of its own, or after a vain attempt.

    A task of a runner stands in a file that everybody looks into first.
    """
    used: dict[tuple[str, str], list[TriedCall]] = {}
    vain: set[tuple[str, str]] = set()
    for each in run:
        shown = each.shown.rsplit(" ", 1)[-1] if "/" in each.shown else each.shown  # However the script was started.
        serves = next((what for what, pattern in _SERVES if pattern.search(shown)), "")
        if not each.shape.shell or not serves:
            continue
        if each.faults and (is_environment(each.faults[0]) or is_unknown(each.step.error)):
            vain.add((serves, shown))
        script = "/" in shown and _SCRIPT.fullmatch(shown.rsplit("/", 1)[-1])
        sought = any(what == serves and name != shown for what, name in vain)
        if script or ("/" not in shown and sought and _OF_A_PROJECT.search(shown)):
            used.setdefault((serves, shown), []).append(each)
    for (serves, shown), group in used.items():
        ran = [each for each in group if each.worked or not is_environment(each.faults[0])]
        what = _PURPOSES.get(serves, serves)
        said = f"This project runs its {what} with `{shown}`."
        yield _fact(material, f"<command:{serves}> {shown}", group, len(ran), said, (f"the {what}", shown))


def _files(material: RunMaterial, run: Sequence[TriedCall], said: Said) -> Iterable[Observation]:
    """Files that were looked for in a wrong place, or under a wrong name, and found in another."""
    messages = {message.id: message for message in material.messages}
    for place, failed in enumerate(run):
        sought = _sought(failed)
        if not sought:
            continue
        later = run[place + 1 : place + 1 + _SOON]
        found = next(((each, path) for each in later for path in _read_in(each) if _is_meant(sought, path)), None)
        if found is None or any(mark in path for mark in _PASSING for path in (sought, found[1])):
            continue
        each, path = found
        name, other = _end(sought, 1), _end(path, 1)
        missing, lies = _end(sought, 1 if name != other else 2), _end(path, 1 if name != other else PLACES)
        if lies.endswith(missing) or missing.endswith(lies):
            continue
        spoken = said.between(place_of(messages, failed), place_of(messages, each) + SAID_AFTER)
        why = next(
            (one for one in spoken if one.firm and names_thing(one.text, other) and not speaks_of_code(one.text)), None
        )
        way = f"use `{lies}`"
        seen = _fact(
            material,
            f"{PLACE} {missing}: {lies}",
            [failed, each],
            1,
            f"`{missing}` is not there: {way}." + (f" {quote(why)}" if why else ""),
            (f"place of {missing}", lies),
            (why.message,) if why else (),
        )
        trigger = Trigger(path=missing, unless=(lies,))
        yield replace(seen, way_out=way, why=why.text if why else "", trigger=trigger) if seen.text else seen


def _sought(failed: TriedCall) -> str:
    """The one file that a call asked for and that is not there."""
    if failed.worked or not _MISSING.search(f"{failed.faults[0]} {failed.step.error}"):
        return ""
    paths = [failed.shape.path] if failed.shape.path else _files_of(failed)
    named = [path for path in paths if not failed.shape.shell or path in failed.step.output]
    return named[0] if len(named) == 1 and "." in _end(named[0], 1) else ""


def _read_in(each: TriedCall) -> Sequence[str]:
    if not each.worked or each.step.action.kind != "read":
        return ()
    return [each.shape.path] if each.shape.path else _files_of(each)


def _files_of(each: TriedCall) -> list[str]:
    """The files that a command that only shows files is given."""
    step = main_step(command_of(each.step.call)) if each.shape.shell else None
    if step is None or step.name not in _SHOWS:
        return []
    return [word for word in step.words[1:] if _FILE.fullmatch(word)]


def _is_meant(sought: str, path: str) -> bool:
    """Whether a file is the one that was looked for: its name is the same, or but for its ending or its case."""
    one, other = _end(sought, 1).lower(), _end(path, 1).lower()
    if path == sought or not other:
        return False
    stem, ending = one.rpartition(".")[0], one.rpartition(".")[2]
    alike = stem == other.rpartition(".")[0] and any({ending, other.rpartition(".")[2]} <= kin for kin in _ENDINGS)
    return one == other or (bool(stem) and alike)


def _end(path: str, parts: int) -> str:
    return "/".join(path.rstrip("/").split("/")[-parts:])


def _fact(
    material: RunMaterial,
    about: str,
    seen: Sequence[TriedCall],
    held: int,
    text: str,
    slot: tuple[str, str],
    said: tuple[MessageId, ...] = (),
) -> Observation:
    messages = {message.id: message for message in material.messages}
    sources = cited_sources((*said, *(name for each in seen[-4:] for name in each.step.sources)), messages)
    failed = [each for each in seen if not each.worked]
    attribute, value = slot
    return Observation(
        cue=f"{material.project} {about}",
        category="factual",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=len(seen) - held if held < len(seen) and not about.startswith(PLACE) else 0,
        text=text if held and is_supported(text, sources, messages) else "",
        task_type=seen[-1].step.action.kind,
        conditions={"subject": material.project, "attribute": f"{attribute}: {value}", "value": value},
        sources=sources,
        tokens=sum(each.tokens for each in failed) if about.startswith(PLACE) else 0,
    )
