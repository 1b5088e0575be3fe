"""What fails in a run: of each program the errors that it ended in, and how they were got over.

Three sorts of claims come of it. ``go test ⇒ any error`` is the occasion: how often it was run, and failed at all.
``go test ⇒ build failed`` is a failure. ``go test ⇒ build failed → with -tags=integration`` is what was done about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ireneo.lessons.fault import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.material import Material
from ireneo.lessons.remedies import Remedy, remedy_of
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.telling import cited, told
from ireneo.lessons.tries import Try
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re

ENDS_IN = " ⇒ "
GOT_OVER = " → "
"""What stands between the parts of a cue: the program, its error, and the remedy."""
ANY = "any error"
_NAME = 80
_PLAIN = {
    FOUND_NOTHING: "finds nothing",
    TESTS_FAILED: "fails in its tests",
    TIMED_OUT: "runs into its time limit",
    WITHOUT_A_WORD: "fails without naming an error",
}
_TEST = lazy_re(
    r"^[^\S\n]*--- FAIL: (\w{4,60}) |^(?:FAILED|ERROR) (?:[\w./-]+::)+([\w\[\]-]{4,80})|^(?:FAIL"
    r"|ERROR): (test_\w{3,80}) "
    r"|^_+ (?:\S+:)?(test_\w{3,80}) _+$",
    re.M,
)
Messages = dict[MessageId, Message]


class _Fall(Struct, frozen=True, kw_only=True):
    """A call that failed, and what was done about it."""

    failed: Try
    remedy: Remedy | None


def occasion_of(cue: str) -> str:
    """The claim whose sightings tell how often another could have shown: the program's of an error, else itself."""
    if GOT_OVER in cue or ENDS_IN not in cue:
        return cue
    return f"{cue.partition(ENDS_IN)[0]}{ENDS_IN}{ANY}"


def signature_of(cue: str) -> str:
    """The program and the error that a claim speaks of; empty where it speaks of none."""
    return cue.partition(GOT_OVER)[0] if ENDS_IN in cue else ""


def failures(material: Material, run: Sequence[Try]) -> list[Sighting]:
    """The sightings of a run that follow from its calls that failed."""
    messages = {message.id: message for message in material.messages}
    falls: dict[str, list[_Fall]] = {}
    for place, each in enumerate(run):
        if each.faults:
            fall = _Fall(failed=each, remedy=remedy_of(run, place))
            for fault in each.faults:
                falls.setdefault(f"{action_of(each)}{ENDS_IN}{fault}", []).append(fall)
    out = _occasions(material, run)
    done = Counter(map(action_of, run))
    for cue, group in falls.items():
        out.append(_failure(material, messages, cue, group, done))
        out += _remedies(material, messages, cue, group)
    return out


def _occasions(material: Material, run: Sequence[Try]) -> list[Sighting]:
    programs: dict[str, list[Try]] = {}
    for each in run:
        programs.setdefault(action_of(each), []).append(each)
    return [
        _sighting(
            material,
            cue=f"{name}{ENDS_IN}{ANY}",
            seen=group,
            held=sum(bool(each.faults) for each in group),
            broke=sum(each.worked for each in group),
        )
        for name, group in programs.items()
    ]


def _failure(material: Material, messages: Messages, cue: str, falls: Sequence[_Fall], done: Counter[str]) -> Sighting:
    action, _, fault = cue.partition(ENDS_IN)
    helped = [each for each in falls if each.remedy and each.remedy.worked and each.failed.faults[0] == fault]
    chosen = helped[-1] if helped else falls[-1]
    remedy = chosen.remedy if helped else None
    fails = fails_with(chosen.failed, fault)
    way = f"{fails}; it passed with {remedy.words}." if remedy and not remedy.label else ""
    where = _tests_named(chosen.failed) if fault == TESTS_FAILED else ""
    how = f": {remedy.words}{remedy.end}." if remedy and remedy.label else ""
    ways = [f"{fails}{where}{how}" if how else way, f"{fails}{how}" if how else "", f"{fails}{where}.", f"{fails}."]
    limits = remedy.limits if remedy else ""
    text, sources = _first_told([f"{each} {limits}".strip() for each in ways if each], _ids(chosen), messages)
    failed = [each.failed for each in falls]
    return _sighting(
        material,
        cue=cue,
        seen=failed,
        held=len(failed),
        broke=done[action] - len(failed),
        # The sighting keeps the limits apart, as they hold for the claim however it is told.
        text=text.removesuffix(limits).rstrip() if limits else text,
        limits=limits if text else "",
        sources=sources or cited((name for each in failed for name in each.step.sources), messages),
    )


def _remedies(material: Material, messages: Messages, cue: str, falls: Sequence[_Fall]) -> list[Sighting]:
    fault = cue.partition(ENDS_IN)[2]
    tried: dict[str, list[_Fall]] = {}
    for each in falls:
        if each.remedy is not None and each.remedy.label and each.failed.faults[0] == fault:
            tried.setdefault(each.remedy.label, []).append(each)
    out: list[Sighting] = []
    for label, group in tried.items():
        helped = [each for each in group if each.remedy is not None and each.remedy.worked]
        text = ""
        sources: tuple[MessageId, ...] = ()
        if helped and (remedy := helped[-1].remedy) is not None:
            said = f"When {fails_with(helped[-1].failed, fault)}, {remedy.words}{remedy.end}."
            text, sources = _first_told([said], _ids(helped[-1]), messages)
        out.append(
            _sighting(
                material,
                cue=f"{cue}{GOT_OVER}{label}",
                seen=[each.failed for each in group],
                held=len(helped),
                broke=len(group) - len(helped),
                text=text,
                sources=sources or cited(_ids(group[-1]), messages),
            )
        )
    return out


def action_of(each: Try) -> str:
    """The name of what was done, as a cue begins with it."""
    name = " ".join(each.program.replace(ENDS_IN.strip(), "=>").replace(GOT_OVER.strip(), "->").split())[:_NAME]
    return f"{name} unread" if each.unread else name


def fails_with(failed: Try, fault: str) -> str:
    """The words for a call that ends in an error."""
    of = " of a file that was not read before" if failed.unread else ""
    return f"`{failed.shown}`{of} {_PLAIN.get(fault) or f'fails with “{fault}”'}"


def _tests_named(failed: Try) -> str:
    """The tests that failed, at most two, to stand after the words for the failure."""
    names = list(dict.fromkeys(next(filter(None, each)) for each in _TEST.findall(failed.step.output)))[:2]
    return f", such as {' and '.join(f'`{name}`' for name in names)}" if names else ""


def _first_told(ways: Sequence[str], ids: Sequence[MessageId], messages: Messages) -> tuple[str, tuple[MessageId, ...]]:
    """The first of these ways to say it that its sources bear out; nothing where none is."""
    sources = cited(ids, messages)
    return next(((text, sources) for text in ways if told(text, sources, messages)), ("", ()))


def _ids(fall: _Fall) -> tuple[MessageId, ...]:
    shown = (fall.failed, *(fall.remedy.tries if fall.remedy else ()))
    return tuple(name for each in shown for name in each.step.sources)


def _sighting(
    material: Material,
    *,
    cue: str,
    seen: Sequence[Try],
    held: int,
    broke: int,
    text: str = "",
    limits: str = "",
    sources: Iterable[MessageId] = (),
) -> Sighting:
    failed = [each for each in seen if each.faults]
    return Sighting(
        cue=cue,
        category="procedural" if GOT_OVER in cue else "failure",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=broke,
        text=text,
        task_type=seen[-1].step.action.deed,
        conditions={"tool": seen[-1].shape.tool, "program": seen[-1].program},
        limits=limits,
        sources=tuple(sources),
        tokens=sum(each.tokens for each in failed),
        seconds=round(sum(each.seconds for each in failed), 1),
    )
