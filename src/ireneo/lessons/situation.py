"""A session so far, as far as the outcome of its next call may hang on it: folded message by message."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.context.offline.steps import Step, steps
from ireneo.lessons.cause import cause
from ireneo.lessons.signature import Shape, error_class, shape
from ireneo.lessons.situation_files import Files, base
from ireneo.log.message import Call, Message, MessageId
from ireneo.patterns import lazy_re


class Outcome(Struct, kw_only=True):
    """How something ended when it was last tried, and how often in a row."""

    failed: bool
    streak: int
    """Failures in a row, up to the last."""
    passes: int
    fails: int
    changes: int
    """Changes that had been made when it ended."""
    number: int
    """Of the call, in the session."""
    error: str = ""
    error_class: str = ""
    repeated: bool = False
    """It failed the time before as well, with the same error."""
    cause: str = ""
    """What sort of cause its error names."""
    named: frozenset[str] = frozenset()
    """Files that its error names, without their folders."""
    fallen: frozenset[str] = frozenset()
    """Names in the lines that say what failed: of tests, of functions."""
    exact: str = ""
    """The call, exactly."""
    sources: tuple[MessageId, ...] = ()


class Situation:
    """What has happened in a session up to now. It is folded in place: `see` each message once, in order."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files = Files()
        self.calls = 0
        self.streak = 0
        """Failures in a row, of any call."""
        self.changes: list[str] = []
        """The files that were changed, in order, by their path."""
        self.outcomes: dict[str, Outcome] = {}
        """By what was tried: exactly, as an action, by program, by tool."""
        self.last: Shape | None = None
        self.folder = ""
        """Where the shell went last, as it was written."""
        self.checked: Outcome | None = None
        """The last call that tested or built something."""
        self.created: set[str] = set()
        """Files that were made here and not seen to work yet, by name."""
        self.unread_edited = 0
        """Edits of files that were not read here, and went well all the same."""
        self._open: dict[str, tuple[Message, Call]] = {}

    def see(self, message: Message) -> Situation:
        """Fold in the next message of the session."""
        self.hear(message)
        for call in message.draft.calls:
            self.begin(message, call)
        self.settle(message)
        return self

    def hear(self, message: Message) -> None:
        """Fold in what the next message brings and says, before the calls that it makes."""
        self.settle(message)
        if message.draft.role in ("user", "assistant"):
            self.files.hear(message.text)

    def begin(self, message: Message, call: Call) -> None:
        """Note that a call is made, whose outcome is not known yet."""
        self._open[call.id] = (message, call)

    def settle(self, message: Message) -> None:
        """Fold in the results that a message brings to calls that are open."""
        for result in message.draft.results:
            asked = self._open.pop(result.call_id, None)
            if asked is not None:
                for step in steps((asked[0], message)):
                    if step.call.id == result.call_id:
                        self._ended(step)

    def see_all(self, messages: Iterable[Message]) -> Situation:
        """Fold in several messages, in order."""
        for message in messages:
            self.see(message)
        return self

    def since(self, outcome: Outcome) -> list[str]:
        """The files that were changed since, in order, each once."""
        return list(dict.fromkeys(self.changes[outcome.changes :]))

    def being_read(self, path: str) -> bool:
        """Whether a call beside the next one reads a file; what it says is not known yet."""
        return any(shape(call).path == path for _, call in self._open.values())

    def _ended(self, step: Step) -> None:
        failed = step.failed_itself
        if step.failed and not failed:
            return
        seen = shape(step.call)
        self.calls += 1
        self.streak = self.streak + 1 if failed else 0
        error = step.error if failed else ""
        sort = error_class(step.output) if failed else ""
        said = cause(error[:_SAID]) if failed else ""
        named = (
            frozenset(base(path) for path in _ERROR_PATH.findall(step.output[:_LOOKED_AT])) if failed else frozenset()
        )
        fallen = _fallen(step.output) if failed else frozenset()
        for key in keys(seen):
            before = self.outcomes.get(key)
            self.outcomes[key] = Outcome(
                failed=failed,
                streak=(before.streak if before and before.failed else 0) + 1 if failed else 0,
                passes=(before.passes if before else 0) + (not failed),
                fails=(before.fails if before else 0) + failed,
                changes=len(self.changes),
                number=self.calls,
                error=error,
                error_class=sort,
                repeated=failed and before is not None and before.failed and _alike(before.error, error),
                cause=said,
                named=named,
                fallen=fallen,
                exact=seen.exact,
                sources=step.sources,
            )
        if seen.deed == "check":
            self.checked = self.outcomes[f"program {seen.program}"]
        self._files(seen, step, failed)
        self.last = seen

    def _files(self, seen: Shape, step: Step, failed: bool) -> None:
        output = step.output
        if seen.shell:
            self._shell(seen, step, failed)
        elif seen.path and failed:
            if _NOT_THERE.search(output[:600]):
                self.files.gone(seen.path)
            elif _UNREAD.search(output[:600]):
                self.files.forget()
            elif _A_FOLDER.search(output[:600]):
                self.files.is_folder(seen.path)
        elif seen.path and seen.deed == "read":
            self.files.showed(seen.path, output, whole=seen.whole)
        elif seen.path and seen.deed == "write":
            self.files.wrote(seen.path, seen.added)
        elif seen.path and seen.deed == "edit":
            self.unread_edited += self.files.text(seen.path) is None
            self.files.edited(seen.path, seen.removed, seen.added, everywhere=seen.everywhere)
        if seen.deed in CHANGES and not failed and not seen.shell:
            self.changes.append(seen.path or step.action.subject)
        self.files.hear(output)

    def _shell(self, seen: Shape, step: Step, failed: bool) -> None:
        if failed:
            for path in _MISSING.findall(step.output[:_LOOKED_AT]):
                self.files.gone(path)
        if seen.folder and not _NO_FOLDER.search(step.output[:400]):
            self.folder = seen.folder
        for path in seen.writes:
            self.files.wrote(path, "")
            self.changes.append(path)
        command = step.command
        if removed := _REMOVES.findall(command[:_LOOKED_AT]):
            for path in " ".join(removed).split():
                if not path.startswith("-"):
                    self.files.gone(path)
        if _DISTURBS.search(command[:_LOOKED_AT]):
            self.files.disturbed()
            self.changes.append(seen.program)
        elif seen.deed in CHANGES and not failed:
            self.changes.append(step.action.subject)
            self.files.disturbed(seen.paths)


def _alike(one: str, other: str) -> bool:
    """Whether two errors are the same but for their numbers."""
    return _NUMBER.sub("", one[:_SAID])[:_COMPARED] == _NUMBER.sub("", other[:_SAID])[:_COMPARED]


_NUMBER = lazy_re(r"\d+")
_SAID = 120
"""Characters of an error that are read for its cause."""
_COMPARED = 60


def names_in(text: str) -> frozenset[str]:
    """The names in a text that are long enough to mean something."""
    return frozenset(_NAME.findall(text[:_LOOKED_AT]))


def _named(output: str) -> frozenset[str]:
    return frozenset(base(path) for path in _ERROR_PATH.findall(output[:_LOOKED_AT]))


def _fallen(output: str) -> frozenset[str]:
    lines = [line for line in output[-_LOOKED_AT:].splitlines() if _FALLEN.search(line)]
    return names_in("\n".join(lines[:40]))


_NAME = lazy_re(r"(?<![A-Za-z_])[A-Za-z_][^\WA-Z_]{0,100}+[A-Z_]\w*+|\b[a-z]++_\w++")
_FALLEN = lazy_re(r"FAIL|ERROR|Error|error:|panic|undefined")


def keys(seen: Shape) -> tuple[str, str, str, str]:
    """Under which names an outcome is remembered, from the most to the least particular."""
    return seen.exact, f"action {seen.action}", f"program {seen.program}", f"tool {seen.tool}"


_LOOKED_AT = 20_000
# Each begins where a word does: begun anew at every letter, a word of a megabyte would be read a million times.
_ERROR_PATH = lazy_re(r"(?<![\w@+~./-])[\w@+~./-]*\w\.[A-Za-z]\w{0,7}(?=[:\"',)\s])")
_NOT_THERE = lazy_re(r"does not exist|no such file|not found|ENOENT", re.I)
_UNREAD = lazy_re(r"not been read|read it first|must read", re.I)
_A_FOLDER = lazy_re(r"EISDIR|is a directory", re.I)
_NO_FOLDER = lazy_re(r"cd:.{0,1000}no such file", re.I)
_MISSING = lazy_re(
    r"(?:cannot (?:access|open|stat)|can't open file|no such file or directory:|^(?:cat|ls|grep|sed|head|tail):)"
    r" '?([\w@+~./-]+)'?",
    re.I | re.M,
)
_REMOVES = lazy_re(r"(?:^|&&|;|\n)[^\S\n]*(?:git )?rm (?:-\w+ )*([^\n;&|]+)")
_DISTURBS = lazy_re(
    r"\b(?:gofmt|fmt|format|prettier|black|ruff (?:format|check --fix)|--fix"
    r"|git (?:checkout|stash|reset|restore|pull|merge|rebase|cherry-pick|apply|switch)"
    r"|sed -i|perl -p?i|patch -p|mv |codegen|generate)\b"
)
