"""A session so far, as far as the outcome of its next call may hang on it: folded message by message."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable

from msgspec import Struct

from ireneo.lessons.shell import Shape, error_class, shape
from ireneo.log.message import Call, Message, MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, Step, steps

# What sort of cause an error names: whether the call was put wrongly, something is missing, or what it tests is wrong.
#
# A wrong option fails until the call is put otherwise, whatever files are changed; a test fails until the code is.


OTHER = "other"
_CAUSES = (
    (
        "option",
        r"usage:|accepts [\w ]{1,20} arg|unknown (?:flag|option|command|shorthand)|unrecognized (?:arg|opt)"
        r"|(?:illegal|invalid) option|no such option|unexpected argument|requires at least|required flag",
    ),
    (
        "not-installed",
        r"command not found|No module named|ModuleNotFound|cannot find module|executable file not found"
        r"|not installed|ImportError",
    ),
    (
        "not-there",
        r"no such file|does not exist|not found|ENOENT|cannot access|can.t open|unknown revision|no tests ran"
        r"|no test files",
    ),
    (
        "not-built",
        r"SyntaxError|IndentationError|undefined|build failed|expected .{0,400} found|cannot use|NameError|syntax error"
        r"|declared and not used|typecheck",
    ),
    ("refused", r"permission denied|not permitted|denied|unauthorized|credential|authenticat|blocked"),
    ("time-limit", r"timed? ?out|deadline"),
    ("test", r"FAIL|assert|expected|errors?="),
)
_PATTERNS = tuple((name, lazy_re(pattern, re.I)) for name, pattern in _CAUSES)


def cause(error: str) -> str:
    """The sort of cause that an error's own line names, by its code."""
    return next((name for name, pattern in _PATTERNS if pattern.search(error)), OTHER)


KEEP_TEXTS = 200
"""Files whose text is kept; the one that was touched longest ago goes first."""
KEEP_CHARACTERS = 400_000
"""Of one file."""
_TELLING_CHARACTERS = 12
"""A line of so many characters hardly stands in a file twice by chance."""
LOOSE = 10**9
"""The first line of a piece whose place in the file is not known."""
KEEP_PATHS = 20_000
_LOOKED_AT = 20_000
"""Characters of an output in which paths are looked for."""

_PATH = lazy_re(r"(?<![\w@+~./-])(?:[\w@+~.-]*/)+[\w@+~.-]+|\b[\w@+-][\w@+.-]{0,255}\.[A-Za-z]\w{0,7}\b")
_LINE_NUMBER = lazy_re(r" *(\d+)(?:→|\t| \| ?)")
_NUMBERED = lazy_re(r"^ *\d+(?:→|\t| \| ?)", re.M)


class KnownText:
    """What is known of one file's text: pieces of it, by the number of their first line."""

    __slots__ = ("changed", "forgotten", "pieces", "whole", "written")

    def __init__(self) -> None:
        """Know nothing of it yet."""
        self.pieces: list[tuple[int, str]] = []
        self.whole = False
        """Nothing of the file is missing."""
        self.written = False
        """The session wrote to it."""
        self.changed = False
        """Something else may have changed it since."""
        self.forgotten = False
        """The tools no longer count it as read."""

    def show(self, first: int, text: str, *, whole: bool) -> None:
        """Lines from `first` on were shown: they stand in the place of what was known of them."""
        text = text[:KEEP_CHARACTERS]
        last = first + text.count("\n")
        loose = [each for each in self.pieces if each[0] >= LOOSE and not _shares_lines(each[1], text)]
        placed = [each for each in self.pieces if each[0] < LOOSE]
        kept = (
            []
            if whole or self.changed
            else [*loose, *(each for start, piece in placed for each in _around(start, piece, first, last))]
        )
        self.pieces = sorted([*kept, (first, text)])
        self.whole = whole
        self.changed = self.forgotten = False

    def replace(self, removed: str, added: str, *, everywhere: bool) -> None:
        """One text was put in the place of another."""
        out: list[tuple[int, str]] = []
        shift, done = 0, not removed
        for start, piece in self.pieces:
            times = piece.count(removed) if not done else 0
            out.append((start + shift, piece.replace(removed, added, -1 if everywhere else 1) if times else piece))
            if times:
                shift += (added.count("\n") - removed.count("\n")) * (times if everywhere else 1)
                done = not everywhere
        if not self.whole and not any(added in piece for _, piece in out):
            out.append((LOOSE, added))
        self.pieces = out
        self.written = True

    def count(self, text: str) -> int:
        """How often `text` stands in what is known."""
        return sum(piece.count(text) for _, piece in self.pieces)


def _shares_lines(one: str, other: str) -> bool:
    lines = set(other.split("\n"))
    return any(len(line.strip()) > _TELLING_CHARACTERS and line in lines for line in one.split("\n"))


def _around(start: int, piece: str, first: int, last: int) -> list[tuple[int, str]]:
    """What of a piece lies before `first` and after `last`."""
    lines = piece.split("\n")
    if start > last or start + len(lines) - 1 < first:
        return [(start, piece)]
    before, after = lines[: max(0, first - start)], lines[last - start + 1 :]
    return [(at, "\n".join(each)) for at, each in ((start, before), (last + 1, after)) if each]


class SessionFiles:
    """The files of one session, folded from what its calls showed."""

    def __init__(self) -> None:
        """Know nothing."""
        self._texts: OrderedDict[str, KnownText] = OrderedDict()
        self._missing: set[str] = set()
        self._folders: set[str] = set()
        self._mentioned: OrderedDict[str, set[str]] = OrderedDict()

    def hear(self, text: str) -> None:
        """Note every path that `text` names."""
        for path in set(_PATH.findall(text[:_LOOKED_AT])):
            self.mention(path)

    def mention(self, path: str) -> None:
        """Note that there is talk of a path, and of the folders above it."""
        path = path.strip().rstrip("/.")
        name = base(path)
        if not name:
            return
        self._mentioned.setdefault(name, set()).add(path)
        if len(self._mentioned) > KEEP_PATHS:
            self._mentioned.popitem(last=False)
        while "/" in path and len(self._folders) < KEEP_PATHS:
            path = path.rsplit("/", 1)[0]
            if not path or path in self._folders:
                break
            self._folders.add(path)

    def showed(self, path: str, text: str, *, whole: bool) -> None:
        """A file was read."""
        numbered = _LINE_NUMBER.match(text)
        known = self._known(path)
        known.show(int(numbered[1]) if numbered else 1, _NUMBERED.sub("", text), whole=whole)
        self._there(path)

    def wrote(self, path: str, text: str) -> None:
        """A file was written whole."""
        known = self._known(path)
        known.changed = False
        known.show(1, text, whole=bool(text))
        known.written = True
        self._there(path)

    def edited(self, path: str, removed: str, added: str, *, everywhere: bool) -> None:
        """A text in a file was put in the place of another."""
        self._known(path).replace(removed, added, everywhere=everywhere)
        self._there(path)

    def forget(self) -> None:
        """A tool said that it has not seen a file that was read: it no longer counts what went before."""
        for known in self._texts.values():
            known.forgotten = True

    def disturbed(self, paths: Iterable[str] | None = None) -> None:
        """These files may have been changed by something else; all of them, where none are named."""
        for path in list(self._texts) if paths is None else [found for each in paths for found in self._same(each)]:
            self._texts[path].changed = True

    def gone(self, path: str) -> None:
        """A file or folder turned out not to be there, or was removed."""
        self._missing.add(path)
        for found in self._same(path):
            del self._texts[found]

    def is_folder(self, path: str) -> None:
        """A path turned out to be a folder."""
        self._folders.add(path.rstrip("/"))

    def text(self, path: str) -> KnownText | None:
        """What is known of the text of a file."""
        known = self._texts.get(path)
        if known is not None:
            return known
        return next((self._texts[found] for found in self._same(path)), None)

    def state_of(self, path: str) -> str:
        """How well a path is known, by its code: missing, written, read, a folder, named, known by name, guessed."""
        trimmed = path.rstrip("/")
        if path in self._missing or trimmed in self._missing:
            return "missing"
        known = self.text(path)
        if known is not None:
            if known.forgotten:
                return "forgotten"
            return "disturbed" if known.changed else "written" if known.written else "read"
        if trimmed in self._folders:
            return "folder"
        named = self._mentioned.get(base(trimmed), ())
        if any(_ends_alike(trimmed, each) for each in named):
            return "named"
        if named:
            return "name-only"
        return "guessed-near" if trimmed.rpartition("/")[0] in self._folders else "guessed"

    def _same(self, path: str) -> list[str]:
        return [each for each in self._texts if each == path or (base(each) == base(path) and _ends_alike(each, path))]

    def _there(self, path: str) -> None:
        self._missing.discard(path)
        for each in [each for each in self._missing if base(each) == base(path) and _ends_alike(each, path)]:
            self._missing.discard(each)
        self.mention(path)

    def _known(self, path: str) -> KnownText:
        known = self._texts.setdefault(path, KnownText())
        self._texts.move_to_end(path)
        if len(self._texts) > KEEP_TEXTS:
            self._texts.popitem(last=False)
        return known


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _ends_alike(one: str, other: str) -> bool:
    """Whether two paths may be one, written from different folders."""
    one, other = one.removeprefix("./"), other.removeprefix("./")
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)


class PastOutcome(Struct, kw_only=True):
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
        self.files = SessionFiles()
        self.calls = 0
        self.streak = 0
        """Failures in a row, of any call."""
        self.changes: list[str] = []
        """The files that were changed, in order, by their path."""
        self.outcomes: dict[str, PastOutcome] = {}
        """By what was tried: exactly, as an action, by program, by tool."""
        self.last: Shape | None = None
        self.folder = ""
        """Where the shell went last, as it was written."""
        self.checked: PastOutcome | None = None
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

    def since(self, outcome: PastOutcome) -> list[str]:
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
            self.outcomes[key] = PastOutcome(
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
        if seen.kind == "check":
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
        elif seen.path and seen.kind == "read":
            self.files.showed(seen.path, output, whole=seen.whole)
        elif seen.path and seen.kind == "write":
            self.files.wrote(seen.path, seen.added)
        elif seen.path and seen.kind == "edit":
            self.unread_edited += self.files.text(seen.path) is None
            self.files.edited(seen.path, seen.removed, seen.added, everywhere=seen.everywhere)
        if seen.kind in CHANGES and not failed and not seen.shell:
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
        elif seen.kind in CHANGES and not failed:
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
