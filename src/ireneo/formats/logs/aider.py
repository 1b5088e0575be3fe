"""aider's chat histories: Markdown to which each start of aider adds a session.

JSON lines may hold such files as `markdown`. The edits that a reply asks for are its calls, and so are the linter and
the tests that aider runs after each edit. Other words of aider are messages of the harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.formats.logs.documents import Document, Found, LogReader, markdown_files, text_result
from ireneo.formats.logs.format import LogFault, SessionBuilder
from ireneo.formats.values import mapping, parse_time, string
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Origin, Part, Result, Role, Text
from ireneo.patterns import lazy_re

_EDIT = "edit"
_SEARCH = lazy_re(r"<{5,9} SEARCH>?\s*$")
_DIVIDER = lazy_re(r"={5,9}\s*$")
_REPLACE = lazy_re(r">{5,9} (?:REPLACE|UPDATED)\s*$")
_FENCE = lazy_re(r"(?P<ticks>`{3,}+)(?P<info>\S*+)\s*$")
_PATH = lazy_re(r"[\w.~@+\\/-]+[\w)\]]|[\w.~@+\\/ -]+\.\w{1,10}")
_NAMED_FILE = lazy_re(r"^(?:\+\+\+) (?:b/)?(?P<path>\S+)", re.M)


class _Edit(Struct, frozen=True, kw_only=True):
    arguments: dict[str, object]
    path: str
    """The file; empty where the reply does not name it."""


def _pieces(lines: Sequence[str]) -> Iterator[str | _Edit]:
    """Split a reply into words and edits."""
    words: list[str] = []
    path = ""
    at = 0
    while at < len(lines):
        end = _block_end(lines, at) if _SEARCH.match(lines[at]) else None
        diff = _read_diff(lines, at) if end is None else None
        if diff is not None:
            edit, end = diff
        elif end is None:
            words.append(lines[at])
            at += 1
            continue
        else:
            path = _take_path(words) or path
            edit = _make_edit(lines[at:end], path)
            if end < len(lines) and lines[end].startswith("```") and not lines[end].strip("` \t"):
                end += 1  # The fence round the block.
        at = end
        if text := "\n".join(words).strip("\n"):
            yield text
        words = []
        yield edit
    if text := "\n".join(words).strip("\n"):
        yield text


def _block_end(lines: Sequence[str], start: int) -> int | None:
    """Return the index after the block that begins at `start`; None if it is malformed."""
    divided = False
    for at in range(start + 1, len(lines)):
        if _SEARCH.match(lines[at]):
            return None
        divided = divided or _DIVIDER.match(lines[at]) is not None
        if _REPLACE.match(lines[at]):
            return at + 1 if divided else None
    return None


def _make_edit(block: Sequence[str], path: str) -> _Edit:
    divider = next(at for at, line in enumerate(block) if _DIVIDER.match(line))
    arguments: dict[str, object] = {
        **({"path": path} if path else {}),
        "old_text": "\n".join(block[1:divider]),
        "new_text": "\n".join(block[divider + 1 : -1]),
    }
    return _Edit(arguments=arguments, path=path)


def _take_path(words: list[str]) -> str | None:
    """Remove the file name above a block and its fence from `words`; returns the name."""
    fence = _FENCE.match(words[-1]) if words else None
    if fence is not None:
        words.pop()
    over = words[-1].strip().strip("`*#: ") if words else ""
    if over and _PATH.fullmatch(over) and ("." in over or "/" in over):
        words.pop()
        return over
    info = fence["info"].strip("`") if fence is not None else ""
    return info if "/" in info or "." in info else None


def _read_diff(lines: Sequence[str], at: int) -> tuple[_Edit, int] | None:
    """Read the diff in the fence that opens at `at`; returns it with the index after it."""
    fence = _FENCE.match(lines[at])
    if fence is None or fence["info"] != "diff":
        return None
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == fence["ticks"]:
            text = "\n".join(lines[at + 1 : end])
            named = _NAMED_FILE.search(text)
            return (_Edit(arguments={"patch": text}, path=named["path"]), end + 1) if named else None
    return None


_USAGE = lazy_re(r"[\d.,]+k? prompt tokens,|Tokens: [\d.,]+k? sent")
_APPLIED = lazy_re(r"Applied edit to (?P<path>.+)")
_SKIPPED = lazy_re(r"(?:Skipping edits to|Unable to create|Did not apply edit to) (?P<path>[^\s,]+)")
_MISSED = lazy_re(r"The LLM did not conform to the edit format|# \d+ SEARCH/REPLACE blocks? failed to match!")
_BLOCK_MISSED = lazy_re(r"## SearchReplace\w*: .*? (?:lines )?in (?P<path>\S.*)")
_OTHERS_APPLIED = lazy_re(r"# The other \d+ SEARCH/REPLACE blocks? were applied successfully")
_MISSED_THROUGH = lazy_re(r"Just reply with fixed versions|Only \d+ reflections allowed|Retry the ")
_LINT = lazy_re(r"# Fix any errors below, if possible")
_LINTED_BY = lazy_re(r"## Running: (?P<command>.+)")
_LINT_ASKED = lazy_re(r"Attempt to fix lint errors\?")
_TEST_ASKED = lazy_re(r"Attempt to fix test errors\?")
_TESTED_BY = lazy_re(r"(?:Test Script|Running): ?(?P<command>\S.*?);?$")
_TESTED = lazy_re(r">>>>> |Test Script: |(?<!=)=+ test session starts =+|Ran \d+ tests? in ")
_RUNNING = lazy_re(r"Running (?P<command>\S.*)")
_RUN_ASKED = lazy_re(r"Run shell commands?\?")
_REPORTED_SEARCH = lazy_re(r"<{5,9} SEARCH")
_REPORTED_REPLACE = lazy_re(r">{5,9} REPLACE")
_HARD_ENDS = (_USAGE, _APPLIED, _LINT, _LINT_ASKED, _TEST_ASKED)


class _FailedEdit(Struct, frozen=True, kw_only=True):
    """An edit that failed."""

    path: str
    text: str
    old: str
    new: str


class _Report(Struct, kw_only=True):
    """The lines that aider prints after a reply."""

    applied: list[str] = field(default_factory=list)
    """The files that were changed."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The files that were not changed, each with aider's message."""
    missed: list[_FailedEdit] = field(default_factory=list)
    refused: str = ""
    """Why no edit of the reply could be read at all."""
    others_applied: bool = False
    lint: str = ""
    lint_command: str = ""
    tests: str = ""
    test_command: str = ""
    tests_failed: bool | None = None
    """Whether the tests failed; None if that has to be derived from their output."""
    ran: list[str] = field(default_factory=list)
    """Commands of the model that the user allowed to run."""
    usage: list[str] = field(default_factory=list)
    """The cost of a reply."""
    rest: list[str] = field(default_factory=list)


def _read_remarks(lines: Sequence[str]) -> _Report:
    usage = [line for line in lines if _USAGE.match(line)]
    return _Report(usage=usage, rest=[line for line in lines if not _USAGE.match(line)])


def _read_report(lines: Sequence[str]) -> _Report:
    out = _Report()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _APPLIED.match(line):
            out.applied.append(found["path"].strip())
        elif found := _SKIPPED.match(line):
            out.skipped[found["path"]] = line
        elif _MISSED.match(line):
            start, at = at - 1, _section_end(lines, at, _MISSED_THROUGH)
            _read_failed_edits(lines[start:at], out)
        elif _LINT.match(line):
            start, at = at - 1, _section_end(lines, at)
            _add_lint(lines[start:at], out)
        elif (found := _RUNNING.match(line)) and any(_RUN_ASKED.match(asked) for asked in out.rest):
            out.ran.append(found["command"])
        elif _TEST_ASKED.match(line):
            _set_test_output(out, failed=True)
            out.rest = [line]
        elif _USAGE.match(line):
            out.usage.append(line)
        else:
            out.rest.append(line)
    if not out.tests and any(_TESTED.search(line) for line in out.rest):
        _set_test_output(out, failed=None)
        out.rest = []
    return out


def _section_end(lines: Sequence[str], at: int, through: re.Pattern[str] | None = None) -> int:
    """Return the end of a section: before a line that can't be in it, or after a last line that matches `through`."""
    while at < len(lines):
        if any(mark.match(lines[at]) for mark in _HARD_ENDS):
            return at
        at += 1
        if through is not None and through.match(lines[at - 1]):
            return at
    return at


def _read_failed_edits(lines: Sequence[str], out: _Report) -> None:
    heads = [(at, found["path"].strip()) for at, line in enumerate(lines) if (found := _BLOCK_MISSED.match(line))]
    out.others_applied = out.others_applied or any(_OTHERS_APPLIED.match(line) for line in lines)
    if not heads:
        out.refused = "\n".join(lines).strip()
    for (head, path), end in zip(heads, [*(at for at, _ in heads[1:]), len(lines)], strict=bool(heads)):
        old, new = _search_and_replace(lines[head:end])
        out.missed.append(_FailedEdit(path=path, text="\n".join(lines[head:end]).strip(), old=old, new=new))


def _search_and_replace(section: Sequence[str]) -> tuple[str, str]:
    sides: tuple[list[str], list[str]] = ([], [])
    side: int | None = None
    for line in section:
        if side is None and _REPORTED_SEARCH.match(line):
            side = 0
        elif side == 0 and _DIVIDER.match(line):
            side = 1
        elif side == 1 and _REPORTED_REPLACE.match(line):
            break
        elif side is not None:
            sides[side].append(line)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _add_lint(lines: Sequence[str], out: _Report) -> None:
    out.lint = "\n".join([*([out.lint] if out.lint else []), *lines]).strip()
    out.lint_command = out.lint_command or _command(lines, _LINTED_BY)


def _set_test_output(out: _Report, *, failed: bool | None) -> None:
    """Take the lines so far as the output of the tests."""
    text = "\n".join(line for line in out.rest if not _LINT_ASKED.match(line)).strip()
    out.tests = text or "The tests failed; what they printed was not logged."
    out.test_command = _command(out.rest, _TESTED_BY)
    out.tests_failed = failed


def _command(lines: Sequence[str], named: re.Pattern[str]) -> str:
    return next((found["command"] for line in lines if (found := named.match(line))), "")


# Sessions and speakers: a user's line begins with `#### `, aider's own with `> `, both end in two spaces; others are
# the model's.

_STARTED = lazy_re(r"^# aider chat started at (?P<time>\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)\s*$", re.M)
_SPACED = lazy_re(r"(?:#### |> ?).*  $")
_USER = "####"
_TOOL = ">"

_Speaker = Literal["user", "aider", "model"]


class _SessionLines(Struct, kw_only=True):
    """The lines of one session, and the time when it began."""

    time: str
    lines: list[str] = field(default_factory=list)


_Stretch = tuple[_Speaker, list[str]]
"""Consecutive lines of one speaker, without their marks."""


def _split_sessions(lines: Iterable[str]) -> Iterator[_SessionLines]:
    """Split a file into its sessions; lines before the first start are one without a time."""
    started: _SessionLines | None = None
    for line in lines:
        found = _STARTED.match(line)
        if found is None:
            if started is None and line.strip():
                started = _SessionLines(time="")
            if started is not None:
                started.lines.append(line.rstrip("\r\n"))
            continue
        if started is not None:
            yield started
        started = _SessionLines(time=found["time"])
    if started is not None:
        yield started


def _stretches(lines: Sequence[str]) -> list[_Stretch]:
    # An editor that trims lines removes the two spaces everywhere.
    spaced = any(_SPACED.match(line) for line in lines)
    out: list[_Stretch] = []
    for line in lines:
        speaker, text = _speaker_of_line(line, spaced)
        if out and out[-1][0] == speaker:
            out[-1][1].append(text)
        elif speaker != "model" or text.strip():
            out.append((speaker, [text]))
    return out


def _speaker_of_line(line: str, spaced: bool) -> tuple[_Speaker, str]:
    marked = not spaced or line.endswith("  ")
    if marked and (line.startswith(f"{_USER} ") or line.rstrip() == _USER):
        return "user", line[len(_USER) + 1 :].rstrip()
    if marked and (line.startswith(f"{_TOOL} ") or line.rstrip() == _TOOL):
        return "aider", line[len(_TOOL) + 1 :].rstrip()
    return "model", line


FORMAT = "aider"
_PLACE = lazy_re(
    r'"cwd": "(?P<told>/[^"]+)"|^Git working dir: (?P<dir>/\S.*)$|^Git repo: (?P<repo>/\S*?)/?\.git\b', re.M
)
_TO_MODEL = lazy_re(r"/(?:ask|code|architect|context|chat-mode)\s+\S")
_COMMAND = lazy_re(r"[/!]\S")
_TESTS_FAILED = lazy_re(r"^>>>>> (?:Some Tests Failed|Tests (?:Timed Out|Errored))", re.M)
_TESTS_PASSED = lazy_re(r"^>>>>> All Tests Passed", re.M)


class _Chat:
    """Reads one session."""

    def __init__(self, started: _SessionLines, about: Document) -> None:
        self.at = parse_time(started.time)
        """When the session began: aider notes no zone and no other time."""
        self.about: dict[str, object] = {**about, "started": started.time}
        self.drafts: list[Draft] = []
        self.calls = 0
        self.usage: list[str] = []
        self.waiting: list[tuple[Call, _Edit]] = []
        found = _stretches(started.lines)
        places = (_PLACE.search("\n".join(lines)) for speaker, lines in found if speaker == "aider")
        place = next(filter(None, places), None)
        self.cwd = (place["told"] or place["dir"] or place["repo"]).rstrip("/") if place else ""
        for speaker, lines in found:
            if speaker == "user":
                text = "\n".join(lines).strip("\n")
                self.waiting = []
                if text.strip():
                    # A command to aider itself is no message to the model.
                    to_aider = _COMMAND.match(text) and not _TO_MODEL.match(text)
                    self.add_draft("user", [Text(text=text)], "injected" if to_aider else "spoken")
            elif speaker == "model":
                self.add_reply(lines)
            else:
                self.add_report(lines)

    def build(self) -> SessionBuilder:
        builder = SessionBuilder(FORMAT, {**self.about, **({"usage": self.usage} if self.usage else {})})
        for draft in self.drafts:
            builder.add(draft, turns_in=self.cwd or None)
        return builder

    def add_draft(self, role: Role, parts: Sequence[Part], origin: Origin = "spoken") -> None:
        self.drafts.append(Draft(role=role, parts=tuple(parts), origin=origin, at=self.at))

    def add_reply(self, lines: Sequence[str]) -> None:
        """Add a reply, with its edits as calls."""
        parts: list[Part] = []
        self.waiting = []
        for piece in _pieces(lines):
            if isinstance(piece, str):
                parts.append(Text(text=piece))
            else:
                call = self.make_call(_EDIT, piece.arguments)
                self.waiting.append((call, piece))
                parts.append(call)
        if parts:
            self.add_draft("assistant", parts)

    def make_call(self, name: str, arguments: dict[str, object]) -> Call:
        self.calls += 1
        return Call(id=f"call_{self.calls}", name=name, arguments=arguments)

    def add_call(self, name: str, arguments: dict[str, object]) -> Call:
        """Add a call to the last reply."""
        call = self.make_call(name, arguments)
        self.drafts[-1] = replace(self.drafts[-1], parts=(*self.drafts[-1].parts, call))
        return call

    def add_report(self, lines: Sequence[str]) -> None:
        """Add aider's words: the results of the reply before, and the rest as a message of the harness."""
        replied = bool(self.drafts) and self.drafts[-1].role == "assistant"
        said = _read_report(lines) if replied else _read_remarks(lines)
        self.usage += said.usage
        results = self.edit_results(said)
        if said.lint:
            results.append(self.add_run("lint", said.lint_command, said.lint, failed=True))
        results += [self.add_run("run", command, "", failed=None) for command in said.ran]
        if said.tests:
            results.append(self.add_run("test", said.test_command, said.tests, failed=said.tests_failed))
        if results:
            self.add_draft("tool", results)
        self.waiting = []
        if rest := "\n".join(said.rest).strip():
            self.add_draft("user", [Text(text=rest)], "injected")

    def add_run(self, name: str, command: str, text: str, *, failed: bool | None) -> Result:
        """Add a call of what aider ran after the last reply to that reply; returns the result."""
        call = self.add_call(name, {"command": command} if command else {})
        if failed is None and _TESTS_FAILED.search(text):
            failed = True
        elif failed is None:
            failed = False if _TESTS_PASSED.search(text) else derive_failed(text, call)
        return text_result(call, text, failed=failed)

    def edit_results(self, said: _Report) -> list[Result]:
        """Return the results of the edits of the last reply."""
        results = [self.failed_result(each) for each in said.missed]
        if said.refused:
            waiting = [call for call, _ in self.waiting] or [self.add_call(_EDIT, {})]
            results += [text_result(call, said.refused, failed=True) for call in waiting]
            self.waiting = []
        for call, edit in self.waiting:
            if line := said.skipped.get(edit.path):
                results.append(text_result(call, line, failed=True))
            elif edit.path in said.applied or (not edit.path and said.applied):
                results.append(text_result(call, f"Applied edit to {edit.path or said.applied[0]}", failed=False))
            else:
                results.append(text_result(call, "", failed=False if said.others_applied else None))
        replied = self.drafts[-1].calls if self.drafts else ()
        told_of = {str(call.arguments.get("path")) for call in replied if isinstance(call.arguments, dict)}
        for path in dict.fromkeys(said.applied):
            if path not in told_of and all(edit.path for _, edit in self.waiting):
                # The reply held the whole file, or an edit in another notation.
                call = self.add_call(_EDIT, {"path": path})
                results.append(text_result(call, f"Applied edit to {path}", failed=False))
        order = [call.id for call in (self.drafts[-1].calls if self.drafts else ())]
        return sorted(results, key=lambda result: order.index(result.call_id))

    def failed_result(self, miss: _FailedEdit) -> Result:
        """Return the failure of an edit: a failure of the same file and text, or else of the same file."""
        same = [each for each in self.waiting if each[1].path == miss.path]
        exact = [each for each in same if str(each[1].arguments.get("old_text", "")).strip() == miss.old.strip()]
        if chosen := next(iter(exact or same), None):
            self.waiting.remove(chosen)
            return text_result(chosen[0], miss.text, failed=True)
        call = self.add_call(_EDIT, {"path": miss.path, "old_text": miss.old, "new_text": miss.new})
        return text_result(call, miss.text, failed=True)


_BEGINNING = lazy_re(rb"\s*# aider chat started at \d{4}-\d\d-\d\d")
_CARRIED = lazy_re(rb'"markdown":\s*"(?:\s|\\[nr])*# aider chat started at \d{4}-\d\d-\d\d')


class Aider(LogReader):
    """aider's `.aider.chat.history.md`, and JSON lines that hold such files.

    Each session is named after the file and the time when it began.
    """

    name = FORMAT

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with the line that aider writes when it starts."""
        if sample.lstrip().startswith(b"{"):
            return _CARRIED.search(sample) is not None
        return _BEGINNING.match(sample) is not None

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        for file in markdown_files(lines, "chat of aider's", _STARTED.search, faults):
            ids = mapping(file.about.get("meta")).get("instance_id"), file.about.get("session_id")
            wished = next(filter(None, map(string, ids)), name)
            for started in _split_sessions(file.lines):
                chat = _Chat(started, file.about)
                # Without words it is a session that was opened and left again.
                if any(draft.origin == "spoken" for draft in chat.drafts):
                    label = re.sub(r"\D+", "-", started.time)
                    yield [f"{wished}-{label}"], chat.build()
