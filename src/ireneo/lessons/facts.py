"""Facts of a project that a run found out: how its checks are run, and where a file lies that was sought elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ireneo.lessons.observe import cited_sources, is_supported
from ireneo.lessons.remedies import is_unknown
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, TriedCall
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
_OF_A_PROJECT = lazy_re(r"^(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|bundle exec|cargo xtask|poe) |/")
"""Only what a project has settled for itself is a fact about it; that ``go test`` runs tests is one about Go."""


def facts(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The facts that a run confirms, or shows not to be so."""
    return [*_commands(material, run), *_files(material, run)] if material.project else []


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


def _files(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """Files that were looked for in a wrong place first, and found in another."""
    for place, failed in enumerate(run):
        path = failed.shape.path
        name = path.rsplit("/", 1)[-1]
        if failed.worked or "." not in name or not _MISSING.search(failed.faults[0]):
            continue
        later = (each for each in run[place + 1 : place + 8] if each.worked and each.step.action.kind == "read")
        found = next((each for each in later if each.shape.path.rsplit("/", 1)[-1] == name), None)
        if found is None or found.shape.path == path or "/tmp/" in found.shape.path:
            continue
        lies = "/".join(found.shape.path.split("/")[-PLACES:])
        said = f"`{name}` lies at `{lies}`: it was looked for elsewhere in vain."
        yield _fact(material, f"{PLACE} {name}: {lies}", [failed, found], 1, said, (f"place of {name}", lies))


def _fact(
    material: RunMaterial, about: str, seen: Sequence[TriedCall], held: int, text: str, slot: tuple[str, str]
) -> Observation:
    messages = {message.id: message for message in material.messages}
    sources = cited_sources((name for each in seen[-4:] for name in each.step.sources), messages)
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
