"""Facts of a project that its runs confirm: which command tests it, lints it, builds it, and where a file lies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ireneo.context.offline.errors import is_environment
from ireneo.lessons.material import Material
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.telling import cited, told
from ireneo.lessons.tries import Try
from ireneo.patterns import lazy_re

PLACES = 3
"""Parts of a path that say where a file lies."""
_SERVES = (
    ("the formatter", lazy_re(r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier)(?![\w-])")),
    ("the linter", lazy_re(r"(?:^|[\s:/_-])(?:lint|clippy|check-style|checkstyle)(?![\w-])")),
    ("the generator", lazy_re(r"(?:^|[\s:/_-])(?:generate|codegen|gen)(?![\w-])")),
    ("the integration tests", lazy_re(r"(?:integration|e2e)(?![\w-])")),
    ("the tests", lazy_re(r"(?:^|[\s:/_-])(?:tests?|runtests\.py|spec)(?![\w-])")),
    ("the checks", lazy_re(r"(?:^|[\s:/_-])check(?![\w-])")),
    ("the build", lazy_re(r"(?:^|[\s:/_-])build(?![\w-])")),
)
"""What a command is for, by the last words of its name: `test-harness.sh` is something for tests, and runs none."""
_SCRIPT = lazy_re(r"(?:run[-_]?)?(?:tests?|lint|fmt|format|build|generate|codegen)(?:\.\w+)?")
"""A script of the project that is named after what it does, and not one that only lies beside tests."""
_MISSING = lazy_re(r"does not exist|no such file|not found|cannot find|could not find", re.I)
_OF_A_PROJECT = lazy_re(r"^(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|bundle exec|cargo xtask|poe) |/")
"""Only what a project has settled for itself is a fact about it; that ``go test`` runs tests is one about Go."""


def facts(material: Material, run: Sequence[Try]) -> list[Sighting]:
    """The facts that a run confirms, or shows not to be so."""
    return [*_commands(material, run), *_files(material, run)] if material.project else []


def _commands(material: Material, run: Sequence[Try]) -> Iterable[Sighting]:
    used: dict[tuple[str, str], list[Try]] = {}
    for each in run:
        serves = next((what for what, pattern in _SERVES if pattern.search(each.shown)), "")
        if "/" in each.shown and not _SCRIPT.fullmatch(each.shown.rsplit("/", 1)[-1]):
            continue
        if each.shape.shell and serves and _OF_A_PROJECT.search(each.shown):
            used.setdefault((serves, each.shown), []).append(each)
    for (serves, shown), group in used.items():
        ran = [each for each in group if each.worked or not is_environment(each.faults[0])]
        said = f"This project runs {serves.replace('the ', 'its ', 1)} with `{shown}`."
        yield _fact(material, f"command of {serves}: {shown}", group, len(ran), said, (serves, shown))


def _files(material: Material, run: Sequence[Try]) -> Iterable[Sighting]:
    """Files that were looked for in a wrong place first, and found in another."""
    for place, failed in enumerate(run):
        path = failed.shape.path
        name = path.rsplit("/", 1)[-1]
        if failed.worked or "." not in name or not _MISSING.search(failed.faults[0]):
            continue
        later = (each for each in run[place + 1 : place + 8] if each.worked and each.step.action.deed == "read")
        found = next((each for each in later if each.shape.path.rsplit("/", 1)[-1] == name), None)
        if found is None or found.shape.path == path or "/tmp/" in found.shape.path:
            continue
        lies = "/".join(found.shape.path.split("/")[-PLACES:])
        said = f"`{name}` lies at `{lies}`: it was looked for elsewhere in vain."
        yield _fact(material, f"place of {name}: {lies}", [failed, found], 1, said, (f"place of {name}", lies))


def _fact(material: Material, about: str, seen: Sequence[Try], held: int, text: str, slot: tuple[str, str]) -> Sighting:
    messages = {message.id: message for message in material.messages}
    sources = cited((name for each in seen[-4:] for name in each.step.sources), messages)
    failed = [each for each in seen if not each.worked]
    attribute, value = slot
    return Sighting(
        cue=f"{material.project}: {about}",
        category="factual",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=len(seen) - held if held < len(seen) and not about.startswith("place") else 0,
        text=text if held and told(text, sources, messages) else "",
        task_type=seen[-1].step.action.deed,
        conditions={"subject": material.project, "attribute": f"{attribute}: {value}", "value": value},
        sources=sources,
        tokens=sum(each.tokens for each in failed) if about.startswith("place") else 0,
    )
