"""How each command ended when it was run last, as far as that is sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ireneo.grounding.evidence import failing_tests
from ireneo.grounding.status import LastOutcome
from ireneo.log.message import Message
from ireneo.log.outcome import known_failed, was_refused, was_stopped
from ireneo.summaries.steps import Step, steps

_KINDS = ("check", "run", "save")


def last_outcomes(messages: Sequence[Message]) -> list[LastOutcome]:
    """The last outcomes in `messages`, in the order of time; before a command that failed the tests that failed in it.

    A command of which nothing tells how it ended has none; one that passes settles the narrower ones that failed.
    """
    last: dict[str, list[LastOutcome]] = {}
    ended: dict[str, set[bool]] = {}
    for step in steps(messages):
        if step.result is None or step.action.kind not in _KINDS:
            continue
        subject = step.action.subject
        last.pop(subject, None)
        failed = _failed(step)
        if failed is None:
            continue
        checks = step.action.kind == "check"
        if checks and not failed:
            _settle(last, subject, step.output)
        ended.setdefault(subject, set()).add(failed)
        tests = failing_tests(step.output) if failed else []
        for test in tests:
            ended.setdefault(test, set()).add(True)
        last[subject] = [
            *(LastOutcome(subject=test, failed=True) for test in tests),
            LastOutcome(subject=subject, failed=failed, checks=checks, otherwise=len(ended[subject]) > 1),
        ]
    return [outcome for outcomes in last.values() for outcome in outcomes]


def _failed(step: Step) -> bool | None:
    """Whether the step failed; None where nothing tells, or where it was not let do what it would."""
    if step.result is None or was_refused(step.output) or was_stopped(step.output):
        return None
    return True if step.failed else known_failed(step.result, step.call)


def _settle(last: dict[str, list[LastOutcome]], passed: str, output: str) -> None:
    """Take out of `last` the failures of which a check that passed shows that they are over."""
    for subject, outcomes in list(last.items()):
        if not outcomes[-1].failed or not outcomes[-1].checks:
            continue
        if _words(passed) <= _words(subject):
            del last[subject]
        else:
            shown = f"{passed} {output}"
            over = [each for each in outcomes[:-1] if each.subject in shown]
            last[subject] = [each for each in outcomes if each not in over]
            if over and len(over) == len(outcomes) - 1:
                del last[subject]


def _words(command: str) -> frozenset[str]:
    return frozenset(_telling(command.split()))


def _telling(words: Iterable[str]) -> Iterable[str]:
    return (word for word in words if not word.startswith("-") and word not in (".", "./..."))
