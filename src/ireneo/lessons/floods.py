"""Observe searches that one folder floods: one of dependencies, of what is built, or of records that nobody reads.

Such an output costs as much as a failure, and often hides what was sought. The way out is to search a folder, or to
leave that one out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.lessons.commands import shell_steps
from ireneo.lessons.observe import FLOODS, SEARCHED, cited_sources, is_supported, plain_name
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.searches import WHOLE, is_whole, place_of_tool, places_of_steps
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.lessons.traps import PROVEN
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES

LEAST_LINES = 10
"""Lines with a path, of which most have to lie in the folder."""
LEAST_CHARACTERS = 1_500
"""Characters of these lines."""
SOON = 8
"""Calls among which a narrower search with the same purpose is looked for."""
_NOISY = frozenset(
    "node_modules bower_components venv site-packages dist build target vendor third_party coverage htmlcov"
    " __pycache__ Pods DerivedData storybook-static".split()
)
"""Folders of what is installed, built or recorded; those whose name begins with a dot count too."""
_READ_TOO = frozenset((".", "..", ".github"))
_PATH = lazy_re(r"(?:\./)?(?P<path>[^\s:]+/[^\s:]*)(?=[:\s]|$)")
_WORD = lazy_re(r"\w{4,60}")


class _Searching(Struct, frozen=True, kw_only=True):
    """A call that searches."""

    call: TriedCall
    name: str
    """The tool, or the program as it is called."""
    whole: bool
    """Whether it searches the whole project, and leaves nothing out."""
    folder: str = ""
    """The folder that floods its output."""


def floods(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The folders that flood searches of the whole project, a claim for each program and folder."""
    found = [(at, each) for at, call in enumerate(run) if call.worked and (each := _search(material, call))]
    used = {part for call in run for part in _parts_in_use(call)}
    by: dict[tuple[str, str], list[int]] = {}
    for at, each in found:
        if each.folder and each.folder not in used:
            by.setdefault((each.name, each.folder), []).append(at)
    searches = dict(found)
    out = [_flood(material, searches, places, found) for places in by.values()]
    return [each for each in out if each is not None] + list(_searched(material, by, found))


def _search(material: RunMaterial, call: TriedCall) -> _Searching | None:
    given = call.step.call.arguments
    if call.shell:
        steps = list(places_of_steps(shell_steps(call.command_line)))
        if len(steps) != 1:
            return None
        place, name = steps[0][1], steps[0][0].name
    elif isinstance(given, Mapping) and call.step.action.kind == "search":
        place, name = place_of_tool(call.tool, given), call.tool
    else:
        return None
    whole = is_whole(place, (material.project,))
    folder = _flooding(call.step.output, place or "") if whole else ""
    return _Searching(call=call, name=name, whole=whole, folder=folder)


def _flooding(output: str, place: str) -> str:
    """The folder in which most of the found lines lie, if these are many."""
    lines = Counter[str]()
    size = Counter[str]()
    for line in output.splitlines():
        if found := _PATH.match(line):
            path = found["path"].removeprefix(place).lstrip("./") if place.startswith("/") else found["path"]
            folder = next((part for part in path.split("/")[:-1] if _is_noisy(part)), "")
            lines[folder] += 1
            size[folder] += len(line)
    folder = max(lines, key=lambda name: lines[name], default="")
    many = sum(lines.values()) >= LEAST_LINES and 2 * lines[folder] > sum(lines.values())
    return folder if many and size[folder] >= LEAST_CHARACTERS else ""


def _is_noisy(part: str) -> bool:
    return part in _NOISY or (part.startswith(".") and part not in _READ_TOO)


def _parts_in_use(call: TriedCall) -> Iterator[str]:
    """The folders of a file that a call reads or changes."""
    if call.worked and (call.step.action.kind in CHANGES or call.step.action.kind == "read"):
        yield from (call.path or call.step.action.subject).split("/")[:-1]


def _flood(
    material: RunMaterial,
    searches: Mapping[int, _Searching],
    places: Sequence[int],
    found: Sequence[tuple[int, _Searching]],
) -> Observation | None:
    first = searches[places[0]]
    messages = {message.id: message for message in material.messages}
    narrower = next((each for at in places if (each := _narrower(at, searches[at], found)) is not None), None)
    shown = [searches[at].call for at in places[:2]] + ([narrower.call] if narrower else [])
    sources = cited_sources((name for call in shown for name in call.step.sources), messages)
    way = f"name a folder or a kind of file, or leave `{first.folder}` out"
    text = f"`{first.name}` over the whole project can be flooded by `{first.folder}`: {way}."
    if not is_supported(text, sources, messages):
        return None
    calls = [searches[at].call for at in places]
    others = sum(each.whole and each.name == first.name and not each.folder for _, each in found)
    shell = first.call.shell
    return Observation(
        cue=f"{FLOODS}{plain_name(first.name)}: {first.folder}",
        category="failure",
        session=material.session,
        project=material.project,
        at=max((call.at for call in calls if call.at is not None), default=None),
        held=len(places),
        broke=others,
        text=text,
        task_type="search",
        conditions={"tool": first.call.tool, **({PROVEN: "yes"} if narrower else {})},
        way_out=way,
        trigger=Trigger(tool="" if shell else first.name, command=first.name if shell else "", given=WHOLE),
        sources=sources,
        tokens=sum(call.tokens for call in calls),
    )


def _narrower(at: int, flooded: _Searching, found: Sequence[tuple[int, _Searching]]) -> _Searching | None:
    """A later search for the same that leaves something out and finds what was sought."""
    words = frozenset(_WORD.findall(flooded.call.step.command))
    for later, each in found:
        near = at < later <= at + SOON and not each.whole and each.call.step.output.strip() and not each.folder
        if near and words & frozenset(_WORD.findall(each.call.step.command)):
            return each
    return None


def _searched(
    material: RunMaterial, by: Mapping[tuple[str, str], Sequence[int]], found: Sequence[tuple[int, _Searching]]
) -> Iterator[Observation]:
    """How often each program searched the whole project: a statistic, of which no lesson is made."""
    for name in dict.fromkeys(each.name for _, each in found if each.whole):
        flooded = sum(len(places) for (program, _), places in by.items() if program == name)
        every = sum(each.whole and each.name == name for _, each in found)
        yield Observation(
            cue=f"{SEARCHED}{plain_name(name)}",
            category="failure",
            session=material.session,
            project=material.project,
            held=flooded,
            broke=every - flooded,
        )
