"""The outcomes of an agent's work, as calls and results prove them: dead ends, and failures that were overcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.grounding.check import LastOutcome
from ireneo.log.calls import known_failed, was_interrupted, was_refused, without_reminders
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import without_form
from ireneo.summaries.statements import code_statements, gives_reason, is_intent, is_request, prose
from ireneo.summaries.steps import (
    CHANGES,
    Step,
    clip,
    error_lines,
    is_environment,
    normalise_error,
    steps,
    surviving_lines,
)
from ireneo.summaries.summary import Line

GIVEN_UP = 8.0
"""The weight of a dead end with its reason."""
FAILED = 4.5
"""The weight of a failed command, which others would repeat."""
GOT_OVER = 5.0
MOST_OF_A_CHANGE = 160
"""The maximum number of characters of a change that are quoted."""
LONGEST_COMMAND = 160
LONGEST_FAILURE = 260
"""The maximum number of characters of a failed check that passed later, with its command."""
CHECK = "check "
"""Prefix of the subject of a check."""
MOST_CHANGED = 3
"""How many changed files are named with a failure or an abandoned approach."""
STATUS_SUBJECT = 80
"""The maximum number of characters of a command in a status line."""
SHORT = 60
"""The maximum number of characters of an output that is quoted with an outcome."""
NEAR = 3
"""How many calls after a failure are searched for another way to the same goal."""

_UNDO = lazy_re(
    r"\bgit (?:checkout (?:--? |(?!stash@)\S+ -- |\.)|checkout [\w./-]+\.\w+|restore (?!\S{0,20} ?stash@)"
    r"|revert |reset --hard|stash\b(?! (?:pop|apply|list|show|drop|clear|create|store|branch)\b))"
)
_ALL = lazy_re(
    r"\bgit (?:reset --hard|stash\b(?! (?:pop|apply|list|show|drop|clear|create|store|branch)\b)"
    r"|checkout (?:-- )?\.(?:\s|$))"
)
"""Commands that revert all changes."""
_STASH = lazy_re(r"\bgit stash\b")
_UNSTASH = lazy_re(r"\bgit stash (?:pop|apply)\b")
_PUT_ASIDE = lazy_re(r"taken back with `[^`\n]{0,80}\bgit stash\b")
"""A dead end that isn't one if the changes are restored after its block."""
_HERE_DOCUMENT = lazy_re(r"<<-?\s*['\"\w].*", re.DOTALL)
_QUOTED = lazy_re(r"'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"")
_COMMANDS = frozenset({"run", "check", "save"})
_GOES_ON = lazy_re(r"(?<![\w-])(?P<command>\w[\w-]* \w[\w-]*) --(?:continue|skip)\b")
IT_FAILED = " — it failed: "
NO_REASON = " — it failed, and its output doesn't say why"
UNEXPLAINED = 0.3
"""Factor for a failure whose output gives no reason."""
_LOOKS_FOR = lazy_re(
    r"(?:^|[|;&(]|\bthen\b)\s*(?:grep|rg|ag|egrep|fgrep|diff|cmp|test|\[|which|command -v|pgrep)\b[^|;&]*$"
)
_REMOVE = lazy_re(r"\b(?:git )?rm (?:-\S+ )*(?P<paths>[^&|;]+)")
_COMMANDS_END = lazy_re(r"[\n;&|]+")
_REASON = lazy_re(r"(?:user said|provided the following reason[^:]{0,200}|reason):\s*(.+)", re.IGNORECASE | re.DOTALL)
_BEHIND_REASON = lazy_re(r"Note: The user's next message.*\Z", re.DOTALL)


def dead_ends(steps: Sequence[Step]) -> list[Line]:
    """The approaches that were tried and failed, each once, in order: commands, and changes that were put back."""
    out: dict[str, Line] = {}
    for place in range(len(steps)):
        line = _failed_command(steps, place) or _reverted_edit(steps, place) or _discarded_changes(steps, place)
        if line is not None:
            earlier = out.get(line.subject)
            out[line.subject] = merge_dead_ends(earlier, line) if earlier else line
    # An edit that failed once is a slip.
    return [line for name, line in out.items() if not name.startswith("edit ") or line.verbs]


def split_resolved_failures(operations: Sequence[Line], artifacts: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Remove failed commands that passed later from `operations`; returns the rest, and these with their ways out.

    `artifacts` are the lines about what was changed.
    """
    commands = [line for line in operations if _COMMANDS & dict(line.verbs).keys()]
    left, told = [], []
    for line in operations:
        later = (each for each in commands if each.position > line.position and not each.failed)
        then = next((each for each in later if includes_command(each.subject, line.subject)), None)
        if line.failed and line in commands and then is not None:
            told.append(_as_resolved(line, then, artifacts))
        else:
            left.append(line)
    return left, told


def _as_resolved(line: Line, then: Line, artifacts: Sequence[Line]) -> Line:
    """Reword a failed command with the files that were changed until it passed as `then`."""
    changed = dict.fromkeys(
        each.subject.rpartition("/")[2]
        for each in artifacts
        if line.position < each.position <= then.position and each.subject
    )
    way = f"after I changed {', '.join(list(changed)[-MOST_CHANGED:])}" if changed else "later"
    passed = f"passed {way}" if then.subject == line.subject else f"{way} `{clip(then.subject, SHORT)}` passed"
    wrong = clip(_FOLDERS.sub("", line.text), LONGEST_FAILURE).rstrip(".")
    sources = (*line.sources, *then.sources)
    return replace(line, text=f"{wrong}; {passed}.", weight=GOT_OVER, failed=False, verbs=(), sources=sources)


_FOLDERS = lazy_re(r"(?<![\w/.@~+-])(?:[\w.@~+-]+/)+(?=[\w@+-]+(?:\.[\w@+-]+)+:\d)")
"""The folders in the place of an error."""


def includes_command(command: str, other: str) -> bool:
    """Whether a command includes one of the commands that another one runs."""
    return command == other or bool(_split_commands(command) & _split_commands(other))


def is_wider_command(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Whether a command with the words `wide` includes one with `narrow`: the same, or for enclosing folders."""
    return all(word in narrow or any(each.startswith(f"{word.rstrip('/')}/") for each in narrow) for word in wide)


def _split_commands(command: str) -> frozenset[str]:
    steps = command.removeprefix(CHECK).split("&&")
    return frozenset(each.partition("|")[0].partition(" 2>")[0].strip() for each in steps)


def approach_of_step(step: Step) -> str:
    """The name of a step's approach."""
    return approach(step.action.kind, step.action.subject)


def approach(kind: str, subject: str) -> str:
    """The name of an approach: the kind of action and its subject; commands lose numbers and places.

    Writing a file that could not be edited is the same approach.
    """
    return f"{'edit' if kind in CHANGES else kind} {normalise_error(subject) if kind in _COMMANDS else subject}"


def last_successes(operations: Iterable[Line], changed: Iterable[Line] = ()) -> dict[str, int]:
    """The last position at which each approach succeeded; `changed` are the lines on what changes did."""
    out: dict[str, int] = {}
    for line in changed:
        if line.subject:
            name = approach("edit", line.subject)
            out[name] = max(out.get(name, -1), line.position)
    for line in operations:
        if line.verbs and not line.failed:
            for verb, _ in line.verbs:
                name = approach(verb, line.subject)
                out[name] = max(out.get(name, -1), line.position)
    return out


def is_overturned(line: Line, succeeded: Mapping[str, int]) -> bool:
    """Whether a dead end's approach, or a failed operation, succeeded later."""
    if _PUT_ASIDE.search(line.text):
        return any(_UNSTASH.search(name) and position > line.position for name, position in succeeded.items())
    names = [approach(verb, line.subject) for verb, _ in line.verbs] if line.failed else [line.subject]
    conflict = _CONFLICT.search(line.text) is not None
    return any(
        position > line.position
        and (name in names or _continues(line.subject, name) or (conflict and _RESOLVED.search(name)))
        for name, position in succeeded.items()
    )


_CONFLICT = lazy_re(r"\b(?:CONFLICT|[Mm]erge conflict)\b")
_RESOLVED = lazy_re(r"\bgit (?:commit|stash drop)\b")
"""Git commits only once conflicts are resolved, and keeps a stash that conflicted until it is dropped."""


def _continues(failed: str, later: str) -> bool:
    """Whether a command continues what another one began, as `git rebase --continue` does."""
    found = _GOES_ON.search(later)
    return found is not None and found["command"] in failed


def merge_dead_ends(earlier: Line, line: Line) -> Line:
    """Merge two dead ends of the same approach: they are counted, and the newest reason is kept."""
    times = sum(dict(each.verbs).get("tried", 1) for each in (earlier, line))
    return Line(
        text=line.text,
        verbs=(("tried", times),),
        subject=line.subject,
        weight=max(earlier.weight, line.weight) + 0.5,
        position=line.position,
        sources=(earlier.sources + line.sources)[-6:],
    )


def changed_files(steps: Sequence[Step]) -> list[str]:
    """The files that `steps` changed, in order."""
    return list(dict.fromkeys(s.action.subject for s in steps if s.changed))


def refusal_words(step: Step) -> str:
    """The words of the user when refusing a call; empty if there are none."""
    found = _REASON.search(without_reminders(step.output))
    return clip(" ".join(without_form(_BEHIND_REASON.sub("", found[1])).split()), 400) if found else ""


def reverting_edit(steps: Sequence[Step], place: int) -> int | None:
    """The index of the later edit that reverts the edit at `place`, if any."""
    step = steps[place]
    action = step.action
    was, became = _collapse_spaces(action.removed), _collapse_spaces(action.added)
    alike = (at for at, one in enumerate(steps) if at > place and one.changed and one.action.subject == action.subject)
    back = (at for at in alike if _collapse_spaces(steps[at].action.added) == was)
    reverting = (at for at in back if became in _collapse_spaces(steps[at].action.removed))
    return next(reverting, None) if step.changed and was and became else None


def discarded_files(steps: Sequence[Step], place: int) -> list[str]:
    """The files whose changes the command at `place` reverts or removes."""
    step = steps[place]
    if step.failed or step.action.kind in CHANGES:
        return []
    given, done = _executed_text(step)
    if _STASH.search(done) and any(is_restore(each) and not each.failed for each in steps[place:]):
        # Checking whether a failure is older gives nothing up.
        given, done = _STASH.sub("", given), _STASH.sub("", done)
    if not (_UNDO.search(done) or _REMOVE.search(done)):
        return []
    before = changed_files(steps[:place])
    # In `rm -rf out && ./check.sh` the script is run and kept.
    parts = [part for part in _COMMANDS_END.split(given) if _UNDO.search(part) or _REMOVE.search(part)]
    lost = [path for path in before if any(path.rsplit("/", 1)[-1] in part for part in parts)]
    return lost or (before if _ALL.search(done) else [])


def removed_paths(step: Step) -> list[str]:
    """The files and folders that a command removes, as it names them."""
    named = (found["paths"] for found in _REMOVE.finditer(_executed_text(step)[1]))
    return [word.strip("\"'/") for paths in named for word in paths.split() if len(word.strip("./*")) > 1]


def is_revert(step: Step) -> bool:
    """Whether the step reverts changes by version control, and doesn't restore them itself."""
    if step.result is None or step.failed or not step.action.shell:
        return False
    done = _executed_text(step)[1]
    return bool(_UNDO.search(done)) and not is_restore(step)


def is_restore(step: Step) -> bool:
    """Whether the step restores changes that were put aside."""
    return bool(_UNSTASH.search(_executed_text(step)[1]))


def _executed_text(step: Step) -> tuple[str, str]:
    """A step's command without here-documents and quoted text, which are not executed."""
    given = _HERE_DOCUMENT.sub("", step.command)
    return given, _QUOTED.sub("''", given)


def _failed_command(steps: Sequence[Step], place: int) -> Line | None:
    """A command or change that failed and did not succeed later, unless it was refused.

    To look for what isn't there is only a slip, as is another tool's call.
    """
    step = steps[place]
    changes = step.action.kind in CHANGES
    if not step.failed_itself or not (changes or (step.action.shell and step.action.kind in _COMMANDS)):
        return None
    if step.action.subject in changed_files(steps[place:]) if changes else _succeeds_later(steps, place):
        return None
    if place == len(steps) - 1:
        return None  # Nothing came after it yet: it is the current state, and was not given up.
    if step.action.kind == "check" and not is_environment(step.error):
        return None  # Tests are meant to fail; only what could not be run at all was given up.
    why = _failure_reason(step).rstrip(".")
    if not why and found_nothing(step):
        return None
    if changes:
        text = f"I tried to {step.action.kind} {step.action.subject}{f'{IT_FAILED}{why}' if why else NO_REASON}."
        return step.line(text, FAILED if why else FAILED * UNEXPLAINED, subject=approach_of_step(step))
    instead = next((s for s in steps[place + 1 : place + 1 + NEAR] if _is_alternative(s, step)), None)
    tail = f"; `{clip(instead.action.subject, LONGEST_COMMAND)}` worked" if instead else ""
    command = clip(step.action.subject, LONGEST_COMMAND)
    text = f"I tried `{command}`{f'{IT_FAILED}{why}' if why else NO_REASON}{tail}."
    return step.line(text, FAILED if why else FAILED * UNEXPLAINED, subject=approach_of_step(step))


def found_nothing(step: Step) -> bool:
    """Whether a failed command only looked for something that isn't there."""
    said = _ENDED.sub("", step.output).strip()
    return step.action.shell and "\n" not in said and bool(_LOOKS_FOR.search(_executed_text(step)[1]))


_ENDED = lazy_re(r"^(?:\(no output\)|(?:[Cc]ommand|[Pp]rocess) exited with code \d+)$", re.MULTILINE)


def _reverted_edit(steps: Sequence[Step], place: int) -> Line | None:
    """An edit that a later edit reverted for a reason; without one it was a trial, and is finished."""
    step, later = steps[place], reverting_edit(steps, place)
    if later is None:
        return None
    file = step.action.subject.rpartition("/")[2]
    concerned = (
        each
        for each in reversed(steps[place + 1 : later])
        if each.failed_itself and (each.action.kind == "check" or file in f"{each.command}\n{each.output}")
    )
    given = next((each for each in prose(steps[later].said) if not is_request(each) and gives_reason(each)), "")
    wrong = next(map(_failure_reason, concerned), "")
    if not (why := given or (wrong and _stated_reason(steps[later])) or wrong):
        return None
    change = _quote_change(step)
    text = f"I tried `{change}` in {step.action.subject} — abandoned, and put back: {why.rstrip('.')}."
    # Other edits of the file are other approaches.
    return step.line(text, GIVEN_UP, subject=f"undo {step.action.subject} {change}")


def _discarded_changes(steps: Sequence[Step], place: int) -> Line | None:
    """Changes that version control reverted."""
    step = steps[place]
    if not is_revert(step) or not (lost := discarded_files(steps, place)):
        return None
    why, files = _stated_reason(step), ", ".join(lost[-MOST_CHANGED:])
    reason = f": {why.rstrip('.')}" if why else ""
    text = f"I tried changing {files} — abandoned, and taken back with `{clip(step.action.subject, 90)}`{reason}."
    return step.line(text, GIVEN_UP if why else FAILED, subject=f"undo {files}")


def _quote_change(step: Step) -> str:
    """The lines that an edit added, as one; of many only the most informative, since the first may be imports."""
    change = _collapse_spaces(step.action.added)
    if len(change) > MOST_OF_A_CHANGE:
        added = step.action.added.splitlines()
        fresh = {line.strip() for line in surviving_lines(added, step.action.removed.splitlines())}
        best = max(code_statements(added, fresh), key=lambda each: each.worth, default=None)
        change = (best.text.partition("`")[2].partition("`")[0] if best else "") or change
    return clip(change, MOST_OF_A_CHANGE)


def _stated_reason(step: Step) -> str:
    """The agent's reason for the step, in its own words; empty if it gives none."""
    said = [each for each in prose(step.said) if not is_request(each)]
    return next((each for each in said if gives_reason(each)), next((each for each in said if not is_intent(each)), ""))


def _failure_reason(step: Step, limit: int = 320) -> str:
    """The reason for a failure, according to the output."""
    return error_lines(step.cleaned_output, limit) or step.failure_reason


def _succeeds_later(steps: Sequence[Step], place: int) -> bool:
    """Whether a later step runs the same command, or finishes it, without failing."""
    text = _command_words(steps[place])
    return any(
        step.result is not None
        and not step.failed
        and step.action.kind not in CHANGES
        and (_command_words(step) == text or _continues(text, _command_words(step)))
        for step in steps[place + 1 :]
    )


def _command_words(step: Step) -> str:
    return " ".join(step.action.subject.split())


def _is_alternative(candidate: Step, failed: Step) -> bool:
    """Whether `candidate` reached the same goal in another way: the same program with other flags."""
    if candidate.result is None or candidate.failed or not candidate.action.shell:
        return False
    one, other = candidate.action.subject.split(), failed.action.subject.split()
    plain = {word for word in one[1:] if word[0] not in "-|&;<>"} & {
        word for word in other[1:] if word[0] not in "-|&;<>"
    }
    return one != other and one[:2] == other[:2] and len(plain) > 1


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


_KINDS = ("check", "run", "save")


def last_outcomes(messages: Sequence[Message]) -> list[LastOutcome]:
    """How each command in `messages` last ended, in time order, preceded by its failed tests.

    Commands with unknown outcome are left out; a passed check also settles narrower ones that failed.
    """
    last: dict[str, list[LastOutcome]] = {}
    unsure: set[str] = set()
    for step in steps(messages):
        if step.result is None or step.action.kind not in _KINDS:
            continue
        subject = step.action.subject
        last.pop(subject, None)
        failed = _is_failure(step)
        if failed is not False:
            # Any command of the line may be the one that failed.
            unsure |= _split_commands(subject)
        if failed is None:
            continue
        checks = step.action.kind == "check"
        if checks and not failed:
            _drop_fixed(last, subject, step.output)
        tests = failing_tests(step.output) if failed else []
        last[subject] = [
            *(LastOutcome(subject=test, failed=True) for test in tests),
            LastOutcome(
                subject=subject,
                failed=failed,
                checks=checks,
                otherwise=not unsure.isdisjoint(_split_commands(subject)),
            ),
        ]
    return [outcome for outcomes in last.values() for outcome in outcomes]


def _is_failure(step: Step) -> bool | None:
    """Whether the step failed; None if unknown, or if it was refused or interrupted."""
    if step.result is None or was_refused(step.output) or was_interrupted(step.output):
        return None
    return True if step.failed else known_failed(step.result, step.call)


def _drop_fixed(last: dict[str, list[LastOutcome]], passed: str, output: str) -> None:
    """Drop the failures in `last` that a passed check shows to be fixed."""
    for subject, outcomes in list(last.items()):
        if not outcomes[-1].failed or not outcomes[-1].checks:
            continue
        if is_wider_command(_significant_words(passed), _significant_words(subject)):
            del last[subject]
        else:
            shown = f"{passed} {output}"
            over = [each for each in outcomes[:-1] if each.subject in shown]
            last[subject] = [each for each in outcomes if each not in over]
            if over and len(over) == len(outcomes) - 1:
                del last[subject]


def _significant_words(command: str) -> frozenset[str]:
    return frozenset(word for word in command.split() if not word.startswith("-") and word not in (".", "./..."))


_TEST = lazy_re(
    r"--- FAIL: (\w+)|^FAILED \S*?::(\w+)|^(?:FAIL|ERROR): (\w+) \(|^test (\S+) \.\.\. FAILED", re.MULTILINE
)


def failing_tests(output: str) -> list[str]:
    """The tests that a test runner's output names as failing, each once."""
    return list(dict.fromkeys(next(group for group in found if group) for found in _TEST.findall(output)))
