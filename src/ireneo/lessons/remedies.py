"""Find the remedy of a failure: the difference between a failed call and the next one with the same purpose.

Only structural differences count: another program, another flag, a variable, a folder, a command in between. A change
of the code is ordinary work and no remedy, and where a file was changed in between, no other cause can be inferred.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.commands import ShellStep, command_names, main_step, shell_steps
from ireneo.lessons.explanations import names_thing
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT
from ireneo.lessons.guard import NOTHING
from ireneo.lessons.naming import programs
from ireneo.lessons.refusals import refuses_flag, refuses_value, reports_extra_arguments, reports_unknown_task
from ireneo.lessons.run import Trigger
from ireneo.lessons.shell import TriedCall
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, is_environment

WITHIN = 30
"""How many calls are searched for the next try with the same purpose; `SOON` for another program."""
SOON = 4
_FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?")
_SHOWING = lazy_re(r"2>&1$")
_PLAIN_WRAPPERS = frozenset("timeout time nice nohup env exec command".split())
_LEAST_GIVEN = 5
_LOOKING = frozenset({"read", "search"})
_SHELL_WORDS = frozenset(
    "Bash python git do done for if then fi while pwd echo sleep cd time kill test rm cp mv mkdir touch date uname "
    "hostname whoami id uptime ps lsof df du nc ping dig".split()
)
_PROGRAM_NAME = lazy_re(r"[\w./@][\w./@: +-]*\Z")
_LOOKS = lazy_re(
    r"(?:^|[\s:/_-])(?:vet|test|tests|lint|check|cache|list|show|status|diff|log|info|version|help|view|ps|which)\b"
    r"(?![:_-]fix\b)"
)
"""Names of commands that change nothing which another command depends on."""
_FINDING = lazy_re(r"\([a-z]+\)$")
"""The rule behind a linter's finding: only a command that rewrites code removes it."""
_WRITES_CODE = lazy_re(r"fmt|format|black|prettier|isort|gen|fix|proto")
_ONLY_TELLS = frozenset({"--list", "--check", "--dry-run", "--diff", "--version", "--help", "-h"})
_FORMATTERS = lazy_re(r"fmt|format|black|prettier|isort|lint")
_FORMATTERS_TELL = frozenset({"-l", "-d", "-n"})
"""With these options a formatter only lists what it would change."""
_TOO_COMMON = frozenset({"-v", "-n", "-l", "-r", "-i", "-A", "-B", "-C", "-c", "-e", "-q", "-s", "-a", "-f", "-m"})
_SET = lazy_re(r"^[^\S\n]*(?:(?:export|env)[^\S\n]+)?((?:[A-Z][A-Z0-9_]+=[^\s;&|]*(?:[^\S\n]+|$))+)", re.M)
_COUNTS = lazy_re(r"\b(?:exactly|only|at most|more than|no more than|a single) (?:one|1)\b|\bone at a time\b", re.I)
_SECRET = lazy_re(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH")
_VALUE = lazy_re(r"[A-Za-z][\w.-]{0,24}|\d\Z")
_OPTION_VALUE = lazy_re(r"(?!tmp/|\.\./)[\w@.][\w@./:=-]{0,60}")
_MOST_OF_AN_OPTION = 3
"""The maximum number of words of an option, with its values."""
_VERSION = lazy_re(r"v?\d{1,4}(?:\.\d{1,4}){0,2}")
_OF_A_CASE = lazy_re(
    r"\.(?:py|sh|js|ts|rb|go|pl|php)\Z| -[ce]\Z|^(?:python|node|ruby|perl|bash|sh|zsh|deno|php)[\d.]*\Z"
)
_WORD = lazy_re(r"[A-Za-z][\w.-]{1,40}")


class Remedy(Struct, frozen=True, kw_only=True):
    """The reaction to a failure, and whether it helped."""

    label: str
    """Its code, the same in all runs: ``first:make db``, ``use:bin/test``, ``with:-tags=integration``."""
    words: str
    """What to do, as it continues "When … fails, "."""
    names: tuple[str, ...]
    """Names, one of which an explanation must contain."""
    wrong: tuple[str, ...] = ()
    """Names of the cause; an error that explains itself contains one: an unknown flag, a missing program."""
    tries: tuple[TriedCall, ...]
    """The calls that show it; the last one has the outcome."""
    worked: bool
    trigger: Trigger | None


def is_stated_in_output(failed: TriedCall, remedy: Remedy) -> bool:
    """Whether the output of a failure states the remedy, so that any agent finds it at once.

    A variable that must be set doesn't count: whoever reads about it afterwards has already paid for the run.
    """
    if remedy.label.startswith("set:"):
        return False
    if any(refuse(failed.step.error) for refuse in (refuses_flag, refuses_value, reports_extra_arguments)):
        return True
    said = remedy.names[:1] if remedy.label.startswith("one:") else remedy.names
    return any(names_thing(failed.step.output, name) for name in said)


_WITHOUT_CHECKS = lazy_re(
    r"(?:tls|ssl|cert\w*|https?)\w{0,20}(?:verif|reject|check)|no[-_]?(?:ssl[-_]?)?verify|insecure|dangerously|unsafe",
    re.I,
)
"""Names that turn off a safety check: the call then passes, but isn't worth advising."""


def remedy_of(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """The remedy of the failure at `at`; None if the structure shows none, or one that turns off a check."""
    found = _structural_remedy(run, at)
    if found is None or _WITHOUT_CHECKS.search(found.words):
        return None
    # What a project's own runner doesn't find isn't installed; `npx` then fetches another program of that name.
    fetched = found.words.startswith("use `npx ") and run[at].shown.startswith(("npm ", "pnpm ", "yarn ", "bun "))
    return None if fetched else found


def _structural_remedy(run: Sequence[TriedCall], at: int) -> Remedy | None:
    failed = run[at]
    if not failed.program or failed.program in _PLAIN_WRAPPERS or failed.faults[0] == FOUND_NOTHING:
        return None
    if not failed.shell:
        return _other_argument(run, at)
    if (bare := _without_wrapper(run, at)) is not None:
        return bare
    again = next((each for each in run[at + 1 : at + 1 + WITHIN] if each.program == failed.program), None)
    if again is None:
        return _other_program(run, at)
    if not again.worked and again.faults == failed.faults:
        same = again.step.command == failed.step.command
        return None if same else _changed_spelling(run[:at], failed, again, ())
    between = run[at + 1 : run.index(again)]
    if any(each.step.action.kind in CHANGES and each.worked for each in between):
        return None
    otherwise = _changed_spelling(run[:at], failed, again, between)
    return otherwise or _preceding_command(run, at, between, again) or _other_program(run, at)


def _retried(
    failed: TriedCall,
    again: TriedCall,
    label: str,
    words: str,
    *names: str,
    wrong: tuple[str, ...] = (),
    about: tuple[str, ...] = (),
    given: str = "",
    unless: tuple[str, ...] = (),
) -> Remedy:
    """The remedy that a second try shows; the trap are calls with the words `about`, and without those of `unless`."""
    tool, command = ("", failed.program) if failed.shell else (failed.tool, "")
    return Remedy(
        label=label,
        words=words,
        names=names,
        wrong=wrong,
        tries=(failed, again),
        worked=_got_further(failed, again),
        trigger=Trigger(tool=tool, command=command, words=about, given=given, unless=unless),
    )


def _without_wrapper(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """The same command without the program before it, which doesn't know that subcommand."""
    failed = run[at]
    step = _named_step(failed)
    before, _, name = failed.program.partition(" ")
    if (
        step is None
        or not name
        or not reports_unknown_task(failed.step.error)
        or not names_thing(failed.step.error, name)
    ):
        return None
    for each in run[at + 1 : at + 1 + SOON]:
        if each.shell and any(then.words == step.words[1:] for then in shell_steps(each.command_line)):
            return _retried(failed, each, f"without:{before}", f"leave `{before}` out", before, wrong=(name,))
    return None


def _other_argument(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """The same tool with another value or name for one argument."""
    failed = run[at]
    again = next((each for each in run[at + 1 : at + 1 + SOON] if each.tool == failed.tool), None)
    given, then = failed.step.call.arguments, again.step.call.arguments if again else None
    if again is None or isinstance(given, str) or not isinstance(then, dict):
        return None
    changed = [key for key in sorted({*given, *then}) if given.get(key) != then.get(key)]
    dropped, added = [key for key in given if key not in then], [key for key in then if key not in given]
    if len(dropped) == 1 and len(changed) == len(dropped) + len(added) and len(added) <= 1:
        if added and given[dropped[0]] != then[added[0]]:
            return None
        # Without the argument that holds its subject it was another call.
        return _argument_remedy(failed, again, dropped[0], *added) if added or dropped[0] not in _SUBJECTS else None
    if len(changed) == 1 and (several := _item_count(given.get(changed[0]))) and not _item_count(then.get(changed[0])):
        return _single_item(failed, again, changed[0], several)
    key = changed[0] if len(changed) == 1 and changed[0] in given else ""
    before, value = given.get(key), then.get(key)
    # The failure must name the wrong value: otherwise the cause is only a guess.
    if not (isinstance(before, str) and isinstance(value, str) and _WORD.fullmatch(value) and _WORD.fullmatch(before)):
        return None
    if before not in failed.step.output:
        return None
    label, words = f"use:{value} ({key})", f"give `{value}` as `{key}`"
    return _retried(failed, again, label, words, value, wrong=(before,), about=(before,), unless=(value,))


_SUBJECTS = frozenset("path file_path filepath filename file".split())
"""Arguments that hold the subject of a call."""


def _argument_remedy(failed: TriedCall, again: TriedCall, name: str, right: str = "") -> Remedy:
    """The same call without an argument, or with it under its right name."""
    label, words = f"no:{name}", f"leave `{name}` out"
    if right:
        label, words = f"swap:{name}:{right}", f"give `{right}` in place of `{name}`"
    unless = (right,) if right else ()
    return _retried(failed, again, label, words, right or name, wrong=(name,), about=(name,), unless=unless)


def _item_count(given: object) -> int:
    """The number of items of an argument, if there are several."""
    return len(given) if isinstance(given, list) and len(given) > 1 else 0


def _single_item(failed: TriedCall, again: TriedCall, name: str, several: int) -> Remedy | None:
    """The same call with one item instead of several, if that was the cause."""
    if not _COUNTS.search(failed.step.error) and not names_thing(failed.step.error, str(several)):
        return None
    return _retried(failed, again, f"one:{name}", f"give it one of `{name}` at a time", name, "one", given=name)


def _other_program(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """Another program with the same purpose: it got the same arguments, and the first program is missing."""
    failed = run[at]
    missing = is_environment(failed.faults[0]) or failed.faults[0] == TIMED_OUT
    unknown = reports_unknown_task(failed.step.error)
    if failed.faults[0] == TESTS_FAILED:
        return None
    wanted, words = _path_arguments(failed) if missing else frozenset[str](), _given_words(failed)
    for each in run[at + 1 : at + 1 + SOON]:
        name = each.program
        plain = name in _SHELL_WORDS - {"test", "python"} or name in programs().looks_only
        usable = not plain and _PROGRAM_NAME.match(name)
        other = each.shell and name != failed.program and each.step.action.kind in ("run", "check")
        alike = bool(wanted & _path_arguments(each)) or (bool(words) and words == _given_words(each))
        # The argument itself is not an alternative: executing a test file says nothing about the project's tests.
        of_the_case = any(word in failed.step.command for word in each.shown.split() if "/" in word)
        if of_the_case:
            continue
        if other and usable and each.worked and (_are_related_tasks(failed, each) or (alike and not unknown)):
            names, wrong = tuple(dict.fromkeys((name, each.shown))), (failed.program.rsplit(" ", 1)[-1],)
            return _retried(failed, each, f"use:{names[-1]}", f"use `{names[-1]}`", *names, wrong=wrong, unless=names)
    return None


def _are_related_tasks(failed: TriedCall, each: TriedCall) -> bool:
    """Whether two commands are tasks of one runner: the first is unknown, or timed out and includes the second."""
    one, other = failed.program.split(), each.program.split()
    if len(one) < 2 or one[:-1] != other[:-1] or failed.program == each.program:
        return False
    less = failed.faults[0] == TIMED_OUT and one[-1].startswith(other[-1])
    unknown = reports_unknown_task(failed.step.error) and names_thing(failed.step.error, one[-1])
    # A runner's tasks serve one project; the subcommands of another program have different purposes.
    runs_tasks = len(one) > 2 or one[0] in programs().tasks
    same = runs_tasks or one[-1][:_ALIKE] == other[-1][:_ALIKE] or bool(_path_arguments(failed) & _path_arguments(each))
    return less or (unknown and same and not _are_siblings(one[-1], other[-1]))


_ALIKE = 3
"""How many first letters the names of one thing share."""


def _are_siblings(one: str, other: str) -> bool:
    """Whether two tasks are different parts of one kind: `test:all` and `test:e2e`."""
    a, b = ({part for part in _PARTS.split(name) if part} for name in (one, other))
    return bool(a & b) and not (a <= b or b <= a)


_PARTS = lazy_re(r"[:._-]+")


def _changed_spelling(
    before: Sequence[TriedCall], failed: TriedCall, again: TriedCall, between: Sequence[TriedCall]
) -> Remedy | None:
    """The same command with one difference: a flag, a variable, a folder or a wrapper."""
    unknown = refuses_flag(failed.step.error)
    if failed.program in _SHELL_WORDS | programs().looks_only and not unknown:
        return None
    acted = any(each.worked and _has_effect(each) for each in between)
    option = () if acted else _added_option(_given_words(failed), _given_words(again))
    if option:
        return _option_remedy(before, failed, again, option)
    if acted or _plain_arguments(again) != _plain_arguments(failed):
        return None
    flags, now = _flags_of(failed), _flags_of(again)
    common = frozenset[str]() if unknown else _TOO_COMMON
    added, dropped = sorted(now - flags - common), sorted(flags - now - common)
    if unknown and len(dropped) == 1 and len(added) > 1:
        added = [" ".join(word for word in _given_words(again) if word in added)]
    come, gone = _variables(again) - _variables(failed), _variables(failed) - _variables(again)
    moved = _folder(failed) != _folder(again)
    started = len(come) + moved + (_wrappers(again) != _wrappers(failed))
    if len(added) > 1 or len(dropped) > 1 or gone or (started and (started > 1 or added or dropped)):
        return None
    if started:
        return _changed_start(failed, again, come)
    if not (added or dropped):
        return None
    given, left = (added[0] if added else ""), (dropped[0] if dropped else "")
    label, words = f"without:{left}", f"leave `{left}` out"
    if given:
        label, words = f"with:{given}", f"give it `{given}`"
    if given and left:
        label, words = f"swap:{left}:{given}", f"give it `{given}` in place of `{left}`"
    name = (given or left).partition("=")[0]
    about, wrong = ((left,), (left,)) if left else (_target_path(failed), (name,))
    unless = (name,) if given and " " not in given else ()
    return _retried(failed, again, label, words, name, wrong=wrong, about=about, unless=unless)


def _added_option(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """The option with its values that `now` has and `before` lacks; empty if that is not the only difference."""
    more = len(now) - len(before)
    for at in range(len(before) + 1 if 1 < more <= _MOST_OF_AN_OPTION else 0):
        option = tuple(now[at : at + more])
        plain = _FLAG.fullmatch(option[0]) and all(_OPTION_VALUE.fullmatch(word) for word in option[1:])
        if plain and [*now[:at], *now[at + more :]] == list(before):
            return option
    return ()


def _option_remedy(before: Sequence[TriedCall], failed: TriedCall, again: TriedCall, option: tuple[str, ...]) -> Remedy:
    flag, *values = option
    spoken = {word for each in before for word in each.step.command.split()}
    # A value that the run mentioned before is its own branch or file.
    told = " ".join((flag, *(value for value in values if value not in spoken)))
    several = len(values) > 1
    bare = several and not _plain_arguments(failed)
    shown, wrong = (flag, ()) if several else (told, (flag,))
    return _retried(
        failed,
        again,
        f"with:{shown}",
        f"give it `{told}`",
        *(told, flag),
        wrong=wrong,
        about=_target_path(failed),
        given=NOTHING if bare else "",
        unless=(shown,),
    )


def _target_path(failed: TriedCall) -> tuple[str, ...]:
    """The first path among the arguments: for another path the option may not be needed."""
    return tuple(word for word in _given_words(failed) if "/" in word and not word.startswith("-"))[:1]


def _changed_start(failed: TriedCall, again: TriedCall, variables: Collection[str]) -> Remedy | None:
    """The same command behind a wrapper, with a variable, or in another folder."""
    if (wrapped := _wrappers(again)) != _wrappers(failed):
        label, words, unless = f"use:{again.shown}", f"use `{again.shown}`", wrapped[:1]
        names = (again.shown, *unless)
        return (
            _retried(failed, again, label, words, *names, wrong=(failed.program,), unless=unless) if wrapped else None
        )
    for said in variables:
        name, _, value = said.partition("=")
        words = f"set `{said if _VALUE.fullmatch(value) and not _SECRET.search(name) else name}`"
        return _retried(failed, again, f"set:{name}", words, name, wrong=(name,), unless=(name,))
    folder = _folder(again)
    name = folder.rstrip("/").rsplit("/", 1)[-1]
    if not _WORD.fullmatch(name) or folder.startswith(("/tmp", "/var")):
        return None
    return _retried(failed, again, f"in:{name}", f"run it in `{name}`", name, unless=(name,))


def _got_further(failed: TriedCall, again: TriedCall) -> bool:
    """Whether a call got past the failure of another one: it worked, or reached its tests."""
    return again.worked or (again.faults[0] == TESTS_FAILED and failed.faults[0] not in (TESTS_FAILED, TIMED_OUT))


def _preceding_command(
    run: Sequence[TriedCall], at: int, between: Sequence[TriedCall], again: TriedCall
) -> Remedy | None:
    """A single command in between that had not been run before the failure."""
    failed = run[at]
    doing = [each for each in between if each.worked and _has_effect(each)]
    chained = [name for name in _commands_in(again) if name != again.program]
    if doing:
        done, only = doing[-1], len({each.program for each in doing}) == 1
    else:
        done, only = replace(again, program=chained[0], shown=chained[0]) if chained else again, len(chained) == 1
    name = _acting_name(done) if only else ""
    if not name:
        return None
    program, version = (
        name.partition(" -")[0],
        _requested_version(done, name, failed) or _named_arguments(run[:at], done, name),
    )
    if _FINDING.search(failed.faults[0]) and not _WRITES_CODE.search(name):
        return None
    if program in _commands_in(failed) or _succeeded_before(run[max(0, at - WITHIN) : at], program, failed.program):
        return None
    return Remedy(
        label=f"first:{name}",
        words=f"run `{name}{version}` first",
        names=(program,),
        wrong=(program,),
        tries=(failed, done, again),
        worked=again.worked,
        trigger=Trigger(command=failed.program, unless=(program,)),
    )


def _requested_version(done: TriedCall, name: str, failed: TriedCall) -> str:
    """The version among a command's arguments that the failure asked for."""
    given = next((step.words for step in shell_steps(done.command_line) if step.name == name), ())
    asked = failed.step.output
    versions = [word for word in given if _VERSION.fullmatch(word) and names_thing(asked, word.lstrip("v"))]
    return f" {versions[0]}" if len(versions) == 1 else ""


def _named_arguments(before: Sequence[TriedCall], done: TriedCall, name: str) -> str:
    """The few arguments of a command that name its object: the service that is started, the package.

    Paths, and words that the run mentioned before, are specific to the case and left out.
    """
    given = next((step.words for step in shell_steps(done.command_line) if step.name == done.program), ())
    plain = [word for word in given[1:] if not _FLAG.fullmatch(word) and word not in name.split()]
    spoken = {word for each in before for word in each.step.command.split()}
    known = bool(given) and " ".join(given[1 : len(given) - len(plain)]) == " ".join(name.split()[1:])
    few = 0 < len(plain) <= _MOST_NAMED and all(_NAMED.fullmatch(word) for word in plain)
    return f" {' '.join(plain)}" if known and few and spoken.isdisjoint(plain) else ""


_MOST_NAMED = 2
_NAMED = lazy_re(r"[A-Za-z@][\w@-]{1,40}")


def _acting_name(each: TriedCall) -> str:
    """The name of a command that changes something, with its short flags; empty for other commands."""
    name = each.shown
    if not _is_reusable_command(each.program) or not _PROGRAM_NAME.match(name):
        return ""
    flags = _flags_of(each)
    if flags & _ONLY_TELLS or (_FORMATTERS.search(name) and flags & _FORMATTERS_TELL):
        return ""
    short = sorted(flag for flag in flags if len(flag) == 2)
    return " ".join((name, *short))


def _is_reusable_command(program: str) -> bool:
    """Whether a command will exist in later runs: no script written for the case, and no line of code."""
    plain = program in _SHELL_WORDS or program in programs().looks_only or program[1:2] in ("", " ")
    return not (plain or _OF_A_CASE.search(program) or _LOOKS.search(program))


def _has_effect(each: TriedCall) -> bool:
    return each.shell and each.step.action.kind not in _LOOKING and not _LOOKS.search(each.program)


def _succeeded_before(before: Sequence[TriedCall], program: str, then: str) -> bool:
    """Whether `program` had succeeded shortly before, so that it wasn't missing."""
    for each in reversed(before):
        if each.worked and (each.step.action.kind in CHANGES or each.program == then):
            return False
        if each.worked and each.shell and program in _commands_in(each):
            return True
    return False


def _commands_in(each: TriedCall) -> tuple[str, ...]:
    return command_names(each.command_line)


def _named_step(each: TriedCall) -> ShellStep | None:
    """The step of a command from which the call has its name."""
    command = each.command_line
    named = [step for step in shell_steps(command) if step.name == each.program]
    return named[-1] if named else main_step(command)


def _given_words(each: TriedCall) -> tuple[str, ...]:
    step = _named_step(each)
    return step.words[1:] if step else ()


def _flags_of(each: TriedCall) -> frozenset[str]:
    return frozenset(word for word in _given_words(each) if _FLAG.fullmatch(word))


def _folder(each: TriedCall) -> str:
    step = _named_step(each)
    return step.folder if step else ""


def _wrappers(each: TriedCall) -> tuple[str, ...]:
    step = _named_step(each)
    return tuple(name for name in step.through if name not in _PLAIN_WRAPPERS) if step else ()


def _variables(each: TriedCall) -> frozenset[str]:
    written = "\n".join(_SHOWING.sub("", step.text) for step in shell_steps(each.command_line))
    return frozenset(word for found in _SET.findall(written) for word in found.split())


def arguments_of(each: TriedCall) -> frozenset[str]:
    """The arguments of a command, including flags."""
    return frozenset(_given_words(each))


def _plain_arguments(each: TriedCall) -> list[str]:
    """The arguments of a command without flags."""
    return [word for word in _given_words(each) if not _FLAG.fullmatch(word)]


def _path_arguments(each: TriedCall) -> frozenset[str]:
    """The arguments of a command that look like paths, except addresses, which two programs may write differently."""
    named = (word for word in _plain_arguments(each) if len(word) >= _LEAST_GIVEN and ("/" in word or "." in word))
    return frozenset(word for word in named if not _NUMBERS.fullmatch(word))


_NUMBERS = lazy_re(r"[\d.:/]+")
"""An address of a machine, or a version."""
