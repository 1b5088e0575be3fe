"""What was written where a check or a script failed: what the same failure was got over by in run after run.

A mended line is one case's. That whoever met a failure wrote the same name is how it is got over here: so of each run
the names are kept that its changes brought, but for those of its task, and a lesson is made of those that most runs
have in common (`agreed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from ireneo.lessons.faults import CODES
from ireneo.lessons.observe import (
    ENDS_IN,
    GOT_OVER,
    MOST_SOURCES,
    Messages,
    action_of,
    cited_sources,
    fails_with,
    is_supported,
)
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES

WRITTEN = "written"
"""The condition of a claim that holds the names which a run wrote, a line each."""
_SO = ", write "
_WITHIN = 30
_MOST_NAMES = 24
_SHOWN = 2
_CALLED = lazy_re(r"(?<![\w.])(?!(?:self|this|cls|super)\b)[A-Za-z_]\w{0,40}(?:\.\w{1,40}){1,4}(?=\()")
_WORD = lazy_re(r"\w{3,60}")
_SILENCED = lazy_re(r"(?:#|//|/\*) ?[\w-]{2,30}(?:: ?|=|\(| )(?P<rule>[\w/-]{2,40})")
"""A comment by which a program is told to pass over what one of its rules found."""


def mended(material: RunMaterial, messages: Messages, run: Sequence[TriedCall]) -> list[Observation]:
    """What a run wrote to get over the errors by which its commands failed: a claim an error."""
    holds: dict[str, str] = {}
    out: dict[str, Observation] = {}
    opening = next((each.text for each in material.messages if each.opens_turn), "")
    asked = frozenset(_WORD.findall(opening))
    fresh = [_fresh(each, holds, asked) for each in run]
    for place, failed in enumerate(run):
        if not failed.program or not failed.shape.shell:
            continue
        for fault in failed.faults:
            if fault not in CODES and (found := _got_over(run, place, fault, fresh)):
                _take(out, material, messages, failed, fault, *found)
    return list(out.values())


def _fresh(each: TriedCall, holds: dict[str, str], asked: Collection[str]) -> frozenset[str]:
    """The names that a change brings into a file and that were not `asked` for.

    `holds` are the files as the run wrote them so far.
    """
    action = each.step.action
    if not each.worked or action.kind not in CHANGES or not action.added:
        return frozenset()
    before = action.removed or holds.get(action.subject, "")
    if not action.removed:
        holds[action.subject] = action.added
    new = _names(action.added) - _names(before)
    return frozenset(name for name in new if not any(part in asked for part in name.split(".")))


def _names(text: str) -> frozenset[str]:
    return frozenset((*_CALLED.findall(text), *(found[0] for found in _SILENCED.finditer(text))))


def _got_over(
    run: Sequence[TriedCall], place: int, fault: str, fresh: Sequence[frozenset[str]]
) -> tuple[frozenset[str], list[TriedCall]] | None:
    """The names that came in before the same command no longer ended in that error, and the calls that show it."""
    names: frozenset[str] = frozenset()
    changes: list[TriedCall] = []
    for at in range(place + 1, min(place + 1 + _WITHIN, len(run))):
        each = run[at]
        if fresh[at]:
            names |= fresh[at]
            changes.append(each)
        if each.program == run[place].program:
            return (names, [*changes, each]) if names and fault not in each.faults else None
    return None


def _take(
    out: dict[str, Observation],
    material: RunMaterial,
    messages: Messages,
    failed: TriedCall,
    fault: str,
    names: frozenset[str],
    shown: Sequence[TriedCall],
) -> None:
    cue = f"{action_of(failed)}{ENDS_IN}{fault}{GOT_OVER}write"
    known = out.get(cue)
    before = known.conditions[WRITTEN].splitlines() if known else []
    # A comment counts where it names the rule that was broken.
    telling = {name for name in names if not (rule := _SILENCED.match(name)) or rule["rule"] in fault}
    written = list(dict.fromkeys((*before, *sorted(telling))))[:_MOST_NAMES]
    text = f"When {fails_with(failed, fault)}"
    sources = cited_sources((name for each in (failed, *shown) for name in each.step.sources), messages)
    if not written or not is_supported(f"{text}.", sources, messages):
        return
    out[cue] = Observation(
        cue=cue,
        category="failure",
        session=material.session,
        project=material.project,
        at=failed.at,
        held=known.held + 1 if known else 1,
        text=known.text if known else f"{text}{_SO}…",
        task_type=failed.step.action.kind,
        conditions={"tool": failed.shape.tool, "program": failed.program, WRITTEN: "\n".join(written)},
        sources=tuple(dict.fromkeys((*(known.sources if known else ()), *sources)))[:MOST_SOURCES],
        tokens=failed.tokens + (known.tokens if known else 0),
        seconds=round(failed.seconds + (known.seconds if known else 0.0), 1),
    )


def agreed(observations: Sequence[Observation]) -> Sequence[Observation]:
    """The observations of a claim: of one about what was written those that have in common what most runs wrote."""
    if not any(WRITTEN in each.conditions for each in observations):
        return observations
    often = Counter(name for each in observations for name in _written(each))
    most = max(often.values(), default=0)
    shown = sorted((name for name, times in often.items() if times == most), key=lambda name: (-len(name), name))[
        :_SHOWN
    ]
    clear = most > 1 and 2 * most >= sum(bool(each.held) for each in observations)
    return [_with(each, shown if clear and set(shown) <= _written(each) else ()) for each in observations]


def _written(seen: Observation) -> frozenset[str]:
    return frozenset(seen.conditions.get(WRITTEN, "").splitlines()) if seen.held else frozenset()


def _with(seen: Observation, names: Iterable[str]) -> Observation:
    said = " and ".join(f"`{name}`" for name in names)
    if not said:
        return replace(seen, held=0, vain=1, text="")
    return replace(seen, held=1, text=f"{seen.text.rpartition(_SO)[0]}{_SO}{said}.")
