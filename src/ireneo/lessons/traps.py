"""What fails in a run, and the way out that it shows: of each program the errors that it ended in, and how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.explanations import LONGEST_WHY, Reason, Said, names_thing, shared_words, speaks_of_code
from ireneo.lessons.faults import TESTS_FAILED
from ireneo.lessons.observe import (
    ANY,
    ENDS_IN,
    GOT_OVER,
    Messages,
    action_of,
    cited_sources,
    fails_with,
    is_supported,
    plain_name,
)
from ireneo.lessons.remedies import Remedy, arguments_of, remedy_of
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

SAID_AFTER = 2
"""Messages after the one that brought the success in which the agent may say what it was."""
_PROMPT = lazy_re(r"^(?:(?:ba|z|da)?sh|\(eval\)):(?:(?: line)? ?\d+:)? ?")
"""What a shell puts before what it says."""
_OF_A_CASE = lazy_re(r"\d|/")
_OUTPUT = 4_000
"""Characters at the end of an output that are looked at for words."""
_LINE = 70
"""Characters of an error that is told word for word."""
LONGEST_SAID = 24
"""Messages between a failure and its remedy in which the reason is looked for."""


class _Fall(Struct, frozen=True, kw_only=True):
    """A call that failed, what was done about it, and what was said of that."""

    failed: TriedCall
    remedy: Remedy
    why: Reason | None


def failures(material: RunMaterial, run: Sequence[TriedCall], said: Said) -> list[Observation]:
    """The observations of a run that follow from its calls that failed."""
    messages = {message.id: message for message in material.messages}
    out = _statistics(material, messages, run)
    tried: dict[str, list[_Fall]] = {}
    for place, each in enumerate(run):
        remedy = remedy_of(run, place) if each.faults else None
        if remedy is not None:
            cue = f"{action_of(each)}{ENDS_IN}{ANY}{GOT_OVER}{plain_name(remedy.label)}"
            fall = _Fall(failed=each, remedy=remedy, why=_reason(said, messages, each, remedy))
            tried.setdefault(cue, []).append(fall)
    if material.outcome == "bad":
        return out  # What a run did that came to nothing is nobody's way out.
    return [*out, *(_trap(material, messages, cue, falls, run) for cue, falls in tried.items())]


def _statistics(material: RunMaterial, messages: Messages, run: Sequence[TriedCall]) -> list[Observation]:
    """How often each program was run and failed, and how often in which way; no words are made of that."""
    programs: dict[str, list[TriedCall]] = {}
    for each in run:
        if each.program:
            programs.setdefault(action_of(each), []).append(each)
    out: list[Observation] = []
    for name, group in programs.items():
        failed = [each for each in group if each.faults]
        worked = sum(each.worked for each in group)
        shown = _shown(messages, group)
        out.append(_observation(material, f"{name}{ENDS_IN}{ANY}", group, (len(failed), worked), sources=shown))
        for fault in dict.fromkeys(fault for each in failed for fault in each.faults):
            seen = [each for each in failed if fault in each.faults]
            counts = (len(seen), len(group) - len(seen))
            shown = _shown(messages, seen)
            out.append(_observation(material, f"{name}{ENDS_IN}{fault}", seen, counts, sources=shown))
    return out


def _shown(messages: Messages, seen: Sequence[TriedCall]) -> tuple[MessageId, ...]:
    return cited_sources((name for each in seen for name in each.step.sources), messages)


def _trap(
    material: RunMaterial, messages: Messages, cue: str, falls: Sequence[_Fall], run: Sequence[TriedCall]
) -> Observation:
    helped = [each for each in falls if each.remedy.worked]
    told = next((each for each in reversed(helped) if each.why), helped[-1] if helped else None)
    seen = [each.failed for each in falls]
    vain = len(falls) - len(helped)
    fault = told.failed.faults[0] if told else ""
    line = _told_by_error(told.failed, told.remedy) if told else ""
    if told is None or not (told.why or line or fault != TESTS_FAILED):
        held = (len(helped), 0)
        return _observation(material, cue, seen, held, vain=vain, sources=cited_sources(_ids(falls[-1]), messages))
    clean = 0 < len(line) <= _LINE and not _OF_A_CASE.search(line)
    fails = f"`{told.failed.shown}` fails with “{line}”" if clean else fails_with(told.failed, fault)
    trap = f"When {fails}, {told.remedy.words}."
    quoted = f"{trap} {quote(told.why)}" if told.why else ""
    sources = cited_sources(_ids(told), messages)
    text = next((each for each in (quoted, trap) if is_supported(each, sources, messages)), "")
    why = told.why.text if told.why and text == quoted else ""
    trigger, passed = told.remedy.trigger, 0
    if trigger is not None and trigger.command:
        trigger, passed = _stepped_into(trigger, [each.failed for each in helped], run)
    return _observation(
        material,
        cue,
        seen,
        (len(helped), passed),
        vain=vain,
        text=text,
        way_out=told.remedy.words if text else "",
        why=why or (line if text and not _is_plain(told) else ""),
        trigger=trigger if text else None,
        sources=sources,
    )


def _stepped_into(trigger: Trigger, failed: Sequence[TriedCall], run: Sequence[TriedCall]) -> tuple[Trigger, int]:
    """The trigger, and how often a call that it is about passed without the way out.

    Where that is more often than not, an argument that only those have that failed tells them apart.
    """
    passed: list[frozenset[str]] = []
    for each in run:
        if not each.worked or not each.shape.shell:
            continue
        if any(names_thing(each.step.command, word) for word in trigger.unless):
            break  # From here on the way out is taken.
        given = arguments_of(each)
        if each.program == trigger.command and given.issuperset(trigger.words):
            passed.append(given)
    if len(passed) <= len(failed) or trigger.words:
        return trigger, len(passed)
    common = frozenset.intersection(*map(arguments_of, failed))
    told = sorted(word for word in common if "/" in word and not any(word in each for each in passed))
    return (replace(trigger, words=(told[0],)), 0) if told else (trigger, len(passed))


def _is_plain(fall: _Fall) -> bool:
    """Whether an error says by itself what to do, so that whoever meets it gets over it at once."""
    first = fall.remedy.label.startswith("first:")
    named = first and any(names_thing(fall.failed.step.output, name) for name in fall.remedy.names)
    return named or fall.remedy.label.startswith("without:-")


def quote(why: Reason) -> str:
    """A sentence with who said it."""
    return f"“{why.text}” ({'the user' if why.user else 'the agent'})"


def _reason(said: Said, messages: Messages, failed: TriedCall, remedy: Remedy) -> Reason | None:
    """What was said between a failure and its remedy that names the one or the other; the best of it."""
    first, last = place_of(messages, failed), place_of(messages, remedy.tries[-1])
    if not remedy.worked or last - first > LONGEST_SAID:
        return None
    shown = f"{failed.step.command}\n{failed.step.output[-_OUTPUT:]}\n{remedy.words}"
    found = [
        (3.0 * named + min(len(shared), 3) + each.user - len(each.text) / 200, -each.position, each)
        for each in said.between(first, last + SAID_AFTER)
        if (named := any(names_thing(each.text, name) for name in remedy.names))
        or (each.firm and each.position <= last and not speaks_of_code(each.text))
        if (shared := shared_words(each.text, shown)) or named
    ]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _told_by_error(failed: TriedCall, remedy: Remedy) -> str:
    """The line of the error that names what was wrong; empty where none does."""
    raw = failed.step.output[-_OUTPUT:].splitlines()
    lines = (_PROMPT.sub("", " ".join(line.split())) for line in (*(each.line for each in failed.told), *raw))
    named = (line for line in lines if len(line) <= LONGEST_WHY and line.isprintable())
    return next((line for line in named if any(names_thing(line, name) for name in remedy.wrong)), "")


def place_of(messages: Messages, each: TriedCall) -> int:
    """The position of what came back from a call."""
    answer = messages.get(each.step.answer) if each.step.answer else None
    return answer.position if answer else each.step.position


def _ids(fall: _Fall) -> tuple[MessageId, ...]:
    shown = dict.fromkeys(name for each in (fall.failed, *fall.remedy.tries) for name in each.step.sources)
    return (*((fall.why.message,) if fall.why else ()), *shown)


def _observation(
    material: RunMaterial,
    cue: str,
    seen: Sequence[TriedCall],
    counts: tuple[int, int],
    *,
    vain: int = 0,
    text: str = "",
    way_out: str = "",
    why: str = "",
    trigger: Trigger | None = None,
    sources: Iterable[MessageId] = (),
) -> Observation:
    failed = [each for each in seen if each.faults]
    held, broke = counts
    return Observation(
        cue=cue,
        category="failure",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=broke,
        vain=vain,
        text=text,
        task_type=seen[-1].step.action.kind,
        conditions={"tool": seen[-1].shape.tool, "program": seen[-1].program},
        way_out=way_out,
        why=why,
        trigger=trigger,
        sources=tuple(sources),
        tokens=sum(each.tokens for each in failed),
        seconds=round(sum(each.seconds for each in failed), 1),
    )
