"""Observe traps: the programs that fail in a run, their errors, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.explanations import Reason, RunSentences, names_code, names_thing, shared_words
from ireneo.lessons.faults import TESTS_FAILED
from ireneo.lessons.observe import (
    ANY,
    ENDS_IN,
    GOT_OVER,
    Messages,
    cited_sources,
    cue_action,
    cue_part,
    describe_failure,
    is_supported,
)
from ireneo.lessons.refusals import line_naming, rejects_usage
from ireneo.lessons.remedies import Remedy, arguments_of, is_stated_in_output, remedy_of
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

IN_SIGHT = "in sight"
"""The `condition` value that marks a way out which the failure itself states."""
PROVEN = "proven"
"""The condition of a way out that follows from a program's own refusal: once is proof, in any project."""
SAID_AFTER = 2
"""How many messages after the successful result may still explain the failure."""
_PROMPT = lazy_re(r"^(?:(?:ba|z|da)?sh|\(eval\)):(?:(?: line)? ?\d+:)? ?")
"""The prefix of a shell's error."""
_OF_A_CASE = lazy_re(r"\d|/")
_OUTPUT = 4_000
"""How many characters at the end of an output are searched for words."""
_LINE = 70
"""How many characters of an error are quoted."""
LONGEST_SAID = 24
"""The maximum number of messages between a failure and its remedy that are searched for a reason."""


class _FailureWithRemedy(Struct, frozen=True, kw_only=True):
    """A failed call, its remedy, and the reason that was given."""

    failed: TriedCall
    remedy: Remedy
    why: Reason | None


def failures(material: RunMaterial, run: Sequence[TriedCall], said: RunSentences) -> list[Observation]:
    """The observations that follow from the failed calls of a run."""
    messages = {message.id: message for message in material.messages}
    out = _statistics(material, messages, run)
    tried: dict[str, list[_FailureWithRemedy]] = {}
    for place, each in enumerate(run):
        remedy = remedy_of(run, place) if each.faults else None
        if remedy is not None:
            cue = f"{cue_action(each)}{ENDS_IN}{ANY}{GOT_OVER}{cue_part(remedy.label)}"
            fall = _FailureWithRemedy(failed=each, remedy=remedy, why=_best_reason(said, messages, each, remedy))
            tried.setdefault(cue, []).append(fall)
    if material.outcome == "bad":
        return out  # A failed run shows no way out.
    return [*out, *(_trap_observation(material, messages, cue, falls, run) for cue, falls in tried.items())]


def _statistics(material: RunMaterial, messages: Messages, run: Sequence[TriedCall]) -> list[Observation]:
    """How often each program was run and failed, and with which errors: statistics without a text."""
    programs: dict[str, list[TriedCall]] = {}
    for each in run:
        if each.program:
            programs.setdefault(cue_action(each), []).append(each)
    out: list[Observation] = []
    for name, group in programs.items():
        failed = [each for each in group if each.faults]
        worked = sum(each.worked for each in group)
        shown = _cited(messages, group)
        out.append(_observation(material, f"{name}{ENDS_IN}{ANY}", group, (len(failed), worked), sources=shown))
        for fault in dict.fromkeys(fault for each in failed for fault in each.faults):
            seen = [each for each in failed if fault in each.faults]
            counts = (len(seen), len(group) - len(seen))
            shown = _cited(messages, seen)
            out.append(_observation(material, f"{name}{ENDS_IN}{fault}", seen, counts, sources=shown))
    return out


def _cited(messages: Messages, seen: Sequence[TriedCall]) -> tuple[MessageId, ...]:
    return cited_sources((name for each in seen for name in each.step.sources), messages)


def _trap_observation(
    material: RunMaterial, messages: Messages, cue: str, falls: Sequence[_FailureWithRemedy], run: Sequence[TriedCall]
) -> Observation:
    helped = [each for each in falls if each.remedy.worked]
    told = next((each for each in reversed(helped) if each.why), helped[-1] if helped else None)
    seen = [each.failed for each in falls]
    vain = len(falls) - len(helped)
    fault = told.failed.faults[0] if told else ""
    line = _cause_line(told.failed, told.remedy) if told else ""
    if told is None or not (told.why or line or fault != TESTS_FAILED):
        held = (len(helped), 0)
        return _observation(
            material, cue, seen, held, vain=vain, sources=cited_sources(_source_ids(falls[-1]), messages)
        )
    refused = rejects_usage(line)
    clean = 0 < len(line) <= _LINE and not _OF_A_CASE.search(line)
    fails = f"`{told.failed.shown}` fails with “{line}”" if clean else describe_failure(told.failed, fault)
    trap = f"When {fails}, {told.remedy.words}."
    quoted = f"{trap} {quote(told.why)}" if told.why else ""
    sources = cited_sources(_source_ids(told), messages)
    text = next((each for each in (quoted, trap) if is_supported(each, sources, messages)), "")
    why = told.why.text if told.why and text == quoted else ""
    trigger, passed = told.remedy.trigger, 0
    if trigger is not None and trigger.command:
        trigger, passed = _narrowed_trigger(trigger, [each.failed for each in helped], run)
    return _observation(
        material,
        cue,
        seen,
        (len(helped), passed),
        vain=vain,
        text=text,
        way_out=told.remedy.words if text else "",
        why=why or (line if text and (refused or not _is_self_explanatory(told)) else ""),
        in_sight=is_stated_in_output(told.failed, told.remedy),
        refused=refused,
        trigger=trigger if text else None,
        sources=sources,
    )


def _narrowed_trigger(trigger: Trigger, failed: Sequence[TriedCall], run: Sequence[TriedCall]) -> tuple[Trigger, int]:
    """The trigger, and how often a matching call passed without the way out.

    If most passed, the trigger is narrowed to an argument that only the failed calls have.
    """
    passed: list[frozenset[str]] = []
    for each in run:
        if not each.worked or not each.shell:
            continue
        if any(names_thing(each.step.command, word) for word in trigger.unless):
            break  # The way out was taken from here on.
        given = arguments_of(each)
        if each.program == trigger.command and given.issuperset(trigger.words):
            passed.append(given)
    if len(passed) <= len(failed) or trigger.words:
        return trigger, len(passed)
    common = frozenset.intersection(*map(arguments_of, failed))
    told = sorted(word for word in common if "/" in word and not any(word in each for each in passed))
    return (replace(trigger, words=(told[0],)), 0) if told else (trigger, len(passed))


def _is_self_explanatory(fall: _FailureWithRemedy) -> bool:
    """Whether the error itself says what to do."""
    first = fall.remedy.label.startswith("first:")
    named = first and any(names_thing(fall.failed.step.output, name) for name in fall.remedy.names)
    return named or fall.remedy.label.startswith("without:-")


def quote(why: Reason) -> str:
    """A quotation with its speaker."""
    return f"“{why.text}” ({'the user' if why.user else 'the agent'})"


def _best_reason(said: RunSentences, messages: Messages, failed: TriedCall, remedy: Remedy) -> Reason | None:
    """The best sentence between a failure and its remedy that names one of them."""
    first, last = result_position(messages, failed), result_position(messages, remedy.tries[-1])
    if not remedy.worked or last - first > LONGEST_SAID:
        return None
    shown = f"{failed.step.command}\n{failed.step.output[-_OUTPUT:]}\n{remedy.words}"
    found = [
        (3.0 * named + min(len(shared), 3) + each.user - len(each.text) / 200, -each.position, each)
        for each in said.between(first, last + SAID_AFTER)
        if (named := any(names_thing(each.text, name) for name in remedy.names))
        or (each.firm and each.position <= last and not names_code(each.text))
        if (shared := shared_words(each.text, shown)) or named
    ]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _cause_line(failed: TriedCall, remedy: Remedy) -> str:
    """The line of the output that names the cause; empty if there is none."""
    raw = failed.step.output[-_OUTPUT:].splitlines()
    lines = [_PROMPT.sub("", " ".join(line.split())) for line in (*(each.line for each in failed.told), *raw)]
    return line_naming(lines, remedy.wrong)


def result_position(messages: Messages, each: TriedCall) -> int:
    """The position of a call's result."""
    answer = messages.get(each.step.answer) if each.step.answer else None
    return answer.position if answer else each.step.position


def _source_ids(fall: _FailureWithRemedy) -> tuple[MessageId, ...]:
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
    in_sight: bool = False,
    refused: bool = False,
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
        conditions={
            "tool": seen[-1].tool,
            "program": seen[-1].program,
            **({IN_SIGHT: "yes"} if in_sight else {}),
            **({PROVEN: "yes"} if refused else {}),
        },
        way_out=way_out,
        why=why,
        trigger=trigger,
        sources=tuple(sources),
        tokens=sum(each.tokens for each in failed),
        seconds=round(sum((each.seconds for each in failed), 0.0), 1),
    )
