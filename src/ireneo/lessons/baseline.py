"""Find checks that fail without the run's changes, so that later runs needn't look for the cause in their own work.

A run proves it if it met the same failure with its changes and after it had put them aside (``git stash``,
``git checkout FILE``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.lessons.commands import ShellStep, shell_steps
from ireneo.lessons.faults import CODES
from ireneo.lessons.findings import fact, is_check
from ireneo.lessons.observe import cue_part
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.lessons.traps import PROVEN
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES

BASELINE = "<baseline>"
"""Part of the cue of a failure that the project shows without any change, after its project."""
NOT_YOURS = "don't look for the cause in your change."
MOST_TESTS = 2
_FAILED_TEST = lazy_re(
    r"^(?:FAILED|ERROR) (?P<pytest>\w[\w./-]*::[\w:]+|\w[\w./-]*\.py)|^(?:ERROR|FAIL): (?P<unit>test\w*) \("
    r"|^_{3,} (?P<heading>[\w./]+(?:::?\w+)*) _{3,}$|^[ \t]*--- FAIL: (?P<go>Test\w+)"
    r"|^(?:FAIL|[ \t]*×|[ \t]*❯) +(?P<file>[\w./-]+\.[cm]?[jt]sx?)\b",
    re.MULTILINE,
)
_ERROR = lazy_re(r"^(?:E +)?((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning): [^\n]{1,120})$", re.MULTILINE)
_POSITION = lazy_re(r":\d+(?::\d+)?")
_LEAVES = frozenset({"pop", "apply", "list", "show", "drop", "branch"})
"""Subcommands of ``git stash`` that put nothing aside."""
_IN_PLACE = lazy_re(r"-[a-z]*i|--in-place")
_RUNS_SCRIPTS = lazy_re(r"python[\d.]*|node|ruby|perl|bash|sh")


class _Files(Struct):
    """Whether a run has put its changes aside, as far as its calls tell."""

    edited: set[str] = field(default_factory=set)
    """The names of files that it edited and did not put back."""
    own: set[str] = field(default_factory=set)
    """The names of files that it made."""
    as_found: bool = False
    """Whether it put all changes aside, and has changed nothing since; a script that it ran may change any file."""

    def after(self, step: ShellStep) -> None:
        """Follow a step that may change files, or put changes aside or back."""
        words = [word for word in step.words if not word.startswith("-")]
        named = {_last(word) for word in words[2:]}
        if (words[:2] == ["git", "stash"] and not _LEAVES.intersection(words[2:3])) or (
            words[:2] == ["git", "reset"] and "--hard" in step.words
        ):
            self._undone(self.edited)
        elif words[:2] in (["git", "checkout"], ["git", "restore"]) and any("." in name for name in named):
            self._undone(self.edited if "." in named else named)
        elif words[:1] in (["cp"], ["mv"]) and words[-1:] != words[1:2] and words[1].startswith(words[-1]):
            self._undone({_last(words[-1])})  # From a copy beside it: ``cp rows.py.bak rows.py``.
        elif words[:1] in (["sed"], ["perl"]) and any(map(_IN_PLACE.match, step.words)):
            self.changed(words[-1], new=False)
        elif words[:2] == ["git", "stash"] or (words and _RUNS_SCRIPTS.fullmatch(words[0])):
            self.as_found = False
        for path in step.writes:
            if not path.startswith("/"):
                self.changed(path, new=True)

    def changed(self, path: str, *, new: bool) -> None:
        """Follow a change of a file, or its writing; a file of the run's own is none of the project's."""
        self.as_found = False
        name = _last(path)
        if new and name not in self.edited:
            self.own.add(name)
        elif name not in self.own:
            self.edited.add(name)

    def _undone(self, names: set[str]) -> None:
        self.edited = self.edited - names
        self.as_found = not self.edited


def _last(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] or path


def failing_before(material: RunMaterial, run: Sequence[TriedCall]) -> Iterator[Observation]:
    """The failures of checks that a run showed both with its changes and after it had put them aside."""
    files = _Files()
    shown: list[tuple[str, str, bool, TriedCall]] = []
    """The program and the failure, and whether the changes had been put aside, with the call that showed it."""
    for each in run:
        as_found = files.as_found
        for step in shell_steps(each.command_line):
            if is_check(step.name):
                as_found = files.as_found
            else:
                files.after(step)
        if each.step.action.kind in CHANGES and each.worked and not each.shell:
            files.changed(each.step.action.subject, new=each.step.action.kind == "write")
        if not (each.shell and is_check(each.program)):
            continue
        if each.worked:
            # What the same command passes later was mended by the run, or comes and goes.
            mended = {(program, name) for program, name, _, call in shown if call.step.command == each.step.command}
            shown = [one for one in shown if one[:2] not in mended]
        shown += [(each.program, name, as_found, each) for name in _failures(each)]
    beside = {(program, name): call for program, name, aside, call in reversed(shown) if not aside}
    without = {(program, name): call for program, name, aside, call in shown if aside}
    together: dict[str, list[tuple[str, str]]] = {}
    for failure in dict.fromkeys(one[:2] for one in shown):
        if failure in without and failure in beside:
            together.setdefault(without[failure].step.command, []).append(failure)
    for failures in together.values():
        names = [name for _, name in failures]
        yield _told(material, names, beside[failures[0]], without[failures[0]])


def _failures(failed: TriedCall) -> list[str]:
    """The failed tests of a check, or else its errors without their positions."""
    if failed.worked:
        return []
    tests = [next(filter(None, each.groups())) for each in _FAILED_TEST.finditer(failed.step.output)]
    # A heading repeats a part of the test's name in the summary.
    named = [name for name in dict.fromkeys(tests) if ":" in name]
    tests = named or [*dict.fromkeys(tests)]
    return tests or [_POSITION.sub("", each.line) for each in failed.told if each.name not in CODES and each.line]


def _told(material: RunMaterial, names: Sequence[str], beside: TriedCall, without: TriedCall) -> Observation:
    tests = [f"`{name}`" for name in names if " " not in name][:MOST_TESTS]
    errors = [" ".join(each[1].split()) for each in _ERROR.finditer(without.step.output)]
    # Of several tests each may have failed with an error of its own.
    several = len(names) > 1 or len({each.partition(":")[0] for each in errors}) > 1
    error = f" with “{errors[-1]}”" if errors and not several else "" if tests else f" with “{names[0]}”"
    text = (
        f"`{without.shown}` fails without any change too{f', in {_listed(tests)}' if tests else ''}{error}: {NOT_YOURS}"
    )
    cue = f"{BASELINE} {cue_part(f'{without.program}: {names[0]}')}"
    seen = fact(
        material, cue, [beside, without], 2, text, (f"what fails without a change: {names[0]}", without.program)
    )
    return replace(seen, conditions={**seen.conditions, PROVEN: "yes"})


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
