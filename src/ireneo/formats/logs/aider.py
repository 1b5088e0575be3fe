"""aider's chat histories: Markdown to which each start of aider adds a session.

JSON lines may carry such files as `markdown`. The edits that a reply asks for are its calls. So are the linter and the
tests, which aider runs behind each edit by itself: their outcome is an answer to that reply. What else aider says is
the harness's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.formats.logs.documents import markdown_files
from ireneo.formats.logs.format import LogFault, LoggedSession, UniqueNames, linear_session, with_faults
from ireneo.formats.values import mapping, moment, string
from ireneo.log.message import Call, Draft, Native, Origin, Part, Result, Role, Text, opens_turn
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

EDIT = "edit"
_SEARCH = lazy_re(r"<{5,9} SEARCH>?\s*$")
_DIVIDER = lazy_re(r"={5,9}\s*$")
_REPLACE = lazy_re(r">{5,9} (?:REPLACE|UPDATED)\s*$")
_FENCE = lazy_re(r"(?P<ticks>`{3,}+)(?P<info>\S*+)\s*$")
_PATH = lazy_re(r"[\w.~@+\\/-]+[\w)\]]|[\w.~@+\\/ -]+\.\w{1,10}")
_NAMED_FILE = lazy_re(r"^(?:\+\+\+) (?:b/)?(?P<path>\S+)", re.M)


class Edit(Struct, frozen=True, kw_only=True):
    """A change that a reply asks for."""

    arguments: dict[str, object]
    path: str
    """Of the file; empty where the reply does not tell."""

    @property
    def old(self) -> str:
        """What is to be replaced."""
        return str(self.arguments.get("old_text", ""))


def pieces(lines: Sequence[str]) -> Iterator[str | Edit]:
    """The words and the edits of a reply, in order."""
    words: list[str] = []
    path = ""
    at = 0
    while at < len(lines):
        end = _block_end(lines, at) if _SEARCH.match(lines[at]) else None
        diff = _diff(lines, at) if end is None else None
        if end is None and diff is None:
            words.append(lines[at])
            at += 1
            continue
        if diff is not None:
            edit, at = diff
        else:
            path = _take_path(words) or path
            edit, at = _edit(lines[at : end or at], path), end or at
            if at < len(lines) and lines[at].startswith("```") and not lines[at].strip("` \t"):
                at += 1  # The fence round the block.
        if text := "\n".join(words).strip("\n"):
            yield text
        words = []
        yield edit
    if text := "\n".join(words).strip("\n"):
        yield text


def _block_end(lines: Sequence[str], start: int) -> int | None:
    """The index behind the block that begins at `start`; None if it is broken."""
    divided = False
    for at in range(start + 1, len(lines)):
        if _SEARCH.match(lines[at]):
            return None
        divided = divided or _DIVIDER.match(lines[at]) is not None
        if _REPLACE.match(lines[at]):
            return at + 1 if divided else None
    return None


def _edit(block: Sequence[str], path: str) -> Edit:
    divider = next(at for at, line in enumerate(block) if _DIVIDER.match(line))
    told: dict[str, object] = {
        **({"path": path} if path else {}),
        "old_text": "\n".join(block[1:divider]),
        "new_text": "\n".join(block[divider + 1 : -1]),
    }
    return Edit(arguments=told, path=path)


def _take_path(words: list[str]) -> str | None:
    """The file that is named over a block, which is taken off the words with its fence."""
    fence = _FENCE.match(words[-1]) if words else None
    if fence is not None:
        words.pop()
    over = words[-1].strip().strip("`*#: ") if words else ""
    if over and _PATH.fullmatch(over) and ("." in over or "/" in over):
        words.pop()
        return over
    info = fence["info"].strip("`") if fence is not None else ""
    return info if "/" in info or "." in info else None


def _diff(lines: Sequence[str], at: int) -> tuple[Edit, int] | None:
    """The diff in the fence that opens at `at`, with the index behind it."""
    fence = _FENCE.match(lines[at])
    if fence is None or fence["info"] != "diff":
        return None
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == fence["ticks"]:
            text = "\n".join(lines[at + 1 : end])
            named = _NAMED_FILE.search(text)
            return (Edit(arguments={"patch": text}, path=named["path"]), end + 1) if named else None
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
_REPORTED_DIVIDER = lazy_re(r"={5,9}\s*$")
_REPORTED_REPLACE = lazy_re(r">{5,9} REPLACE")
_HARD_ENDS = (_USAGE, _APPLIED, _LINT, _LINT_ASKED, _TEST_ASKED)


class Missed(Struct, frozen=True, kw_only=True):
    """An edit that could not be made, as aider tells it."""

    path: str
    text: str
    old: str
    new: str


class AiderReport(Struct, kw_only=True):
    """What aider says behind a reply."""

    applied: list[str] = field(default_factory=list)
    """The files that were changed."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The files that were left as they are, each with what is said of it."""
    missed: list[Missed] = field(default_factory=list)
    refused: str = ""
    """That no edit could be read in the reply at all, and why."""
    others_applied: bool = False
    lint: str = ""
    lint_command: str = ""
    tests: str = ""
    test_command: str = ""
    tests_failed: bool | None = None
    """None: what they printed tells."""
    ran: list[str] = field(default_factory=list)
    """The commands that the model proposed and the user let run."""
    usage: list[str] = field(default_factory=list)
    """What the reply behind it cost, or the one before it."""
    rest: list[str] = field(default_factory=list)


def read_report_beside(lines: Sequence[str]) -> AiderReport:
    """Read what aider says behind no reply: its own words, and what a reply cost."""
    usage = [line for line in lines if _USAGE.match(line)]
    return AiderReport(usage=usage, rest=[line for line in lines if not _USAGE.match(line)])


def read_report(lines: Sequence[str]) -> AiderReport:
    """Read what aider says behind a reply."""
    out = AiderReport()
    left: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if found := _APPLIED.match(line):
            out.applied.append(found["path"].strip())
        elif found := _SKIPPED.match(line):
            out.skipped[found["path"]] = line
        elif _MISSED.match(line):
            end = _end(lines, at + 1, _MISSED_THROUGH)
            _missed(lines[at:end], out)
            at = end
            continue
        elif _LINT.match(line):
            end = _end(lines, at + 1)
            _linted(lines[at:end], out)
            at = end
            continue
        elif (found := _RUNNING.match(line)) and any(_RUN_ASKED.match(asked) for asked in left):
            out.ran.append(found["command"])
        elif _TEST_ASKED.match(line):
            _tested(left, out, failed=True)
            left = [line]
        elif _USAGE.match(line):
            out.usage.append(line)
        else:
            left.append(line)
        at += 1
    if not out.tests and any(_TESTED.search(line) for line in left):
        _tested(left, out, failed=None)
        left = []
    out.rest = left
    return out


def _end(lines: Sequence[str], at: int, through: re.Pattern[str] | None = None) -> int:
    """The index behind a section: at what can't be in it, or behind the line that is its last."""
    while at < len(lines):
        if any(mark.match(lines[at]) for mark in _HARD_ENDS):
            return at
        at += 1
        if through is not None and through.match(lines[at - 1]):
            return at
    return at


def _missed(lines: Sequence[str], out: AiderReport) -> None:
    heads = [at for at, line in enumerate(lines) if _BLOCK_MISSED.match(line)]
    out.others_applied = out.others_applied or any(_OTHERS_APPLIED.match(line) for line in lines)
    if not heads:
        out.refused = "\n".join(lines).strip()
        return
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        section = lines[head:end]
        named = _BLOCK_MISSED.match(section[0])
        old, new = _sides(section)
        text = "\n".join(section).strip()
        out.missed.append(Missed(path=named["path"].strip() if named else "", text=text, old=old, new=new))


def _sides(section: Sequence[str]) -> tuple[str, str]:
    sides: tuple[list[str], list[str]] = ([], [])
    side: int | None = None
    for line in section:
        if side is None and _REPORTED_SEARCH.match(line):
            side = 0
        elif side == 0 and _REPORTED_DIVIDER.match(line):
            side = 1
        elif side == 1 and _REPORTED_REPLACE.match(line):
            break
        elif side is not None:
            sides[side].append(line)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _linted(lines: Sequence[str], out: AiderReport) -> None:
    out.lint = "\n".join([*([out.lint] if out.lint else []), *lines]).strip()
    command = next((found["command"] for line in lines if (found := _LINTED_BY.match(line))), "")
    out.lint_command = out.lint_command or command


def _tested(lines: Sequence[str], out: AiderReport, *, failed: bool | None) -> None:
    text = "\n".join(line for line in lines if not _LINT_ASKED.match(line)).strip()
    out.tests = text or "The tests failed; what they printed was not logged."
    out.test_command = next((found["command"] for line in lines if (found := _TESTED_BY.match(line))), "")
    out.tests_failed = failed


# An aider history cut into its sessions, and a session into stretches of one speaker.
#
# A user's line begins with `#### `, aider's own with `> `, and both end in two spaces; every other line is the model's.


STARTED = lazy_re(r"^# aider chat started at (?P<time>\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)\s*$", re.M)
_SPACED = lazy_re(r"(?:#### |> ?).*  $")
_USER = "####"
_TOOL = ">"

Speaker = Literal["user", "aider", "model"]


class Started(Struct, kw_only=True):
    """One session: the time at which aider was started, and the lines behind that."""

    time: str
    lines: list[str] = field(default_factory=list)

    @property
    def at(self) -> datetime | None:
        """When it began: aider notes no zone and no other time."""
        return moment(self.time)

    @property
    def label(self) -> str:
        """What tells it from the other sessions of its file."""
        return re.sub(r"\D+", "-", self.time)


class SpeakerLines(Struct, kw_only=True):
    """Lines of one speaker, without their marks."""

    speaker: Speaker
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(self.lines).strip("\n")


def starts(lines: Iterable[str | LogFault]) -> Iterator[Started | LogFault]:
    """The sessions of a file, one at a time; what stands before the first start is one without a time."""
    started: Started | None = None
    for line in lines:
        if isinstance(line, LogFault):
            yield line
            continue
        found = STARTED.match(line)
        if found is None:
            if started is None and line.strip():
                started = Started(time="")
            if started is not None:
                started.lines.append(line.rstrip("\r\n"))
            continue
        if started is not None:
            yield started
        started = Started(time=found["time"])
    if started is not None:
        yield started


def stretches(lines: Iterable[str]) -> list[SpeakerLines]:
    """The stretches of a session, in order."""
    given = list(lines)
    # An editor that trims lines takes the two spaces away, everywhere.
    spaced = any(_SPACED.match(line) for line in given)
    out: list[SpeakerLines] = []
    for line in given:
        speaker, text = _marked(line, spaced)
        if not out or out[-1].speaker != speaker:
            if speaker == "model" and not text.strip():
                continue
            out.append(SpeakerLines(speaker=speaker))
        out[-1].lines.append(text)
    return out


def _marked(line: str, spaced: bool) -> tuple[Speaker, str]:
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


class Chat:
    """One session, read."""

    def __init__(self, started: Started, about: Mapping[str, object]) -> None:
        self.at = started.at
        self.about: dict[str, object] = {**about, "started": started.time}
        self.drafts: list[Draft] = []
        self.calls = 0
        self.usage: list[str] = []
        self.waiting: list[tuple[Call, Edit]] = []
        found = stretches(started.lines)
        self.cwd = _place(found)
        for stretch in found:
            self.add(stretch)

    @property
    def speaks(self) -> bool:
        """Whether the user or the model says anything."""
        return any(draft.origin == "spoken" for draft in self.drafts)

    def session(self, name: str) -> LoggedSession:
        """The session, which is called `name`."""
        drafts = [self.recorded(draft, first=index == 0) for index, draft in enumerate(self.drafts)]
        return linear_session(name, drafts)

    def known(self) -> dict[str, object]:
        """What is known of the session besides its messages."""
        return {**self.about, **({"usage": self.usage} if self.usage else {})}

    def recorded(self, draft: Draft, *, first: bool) -> Draft:
        """`draft` with what is kept beside it: what is known of the session, and where a turn is worked."""
        payload: list[object] = [self.known()] if first else []
        if self.cwd and opens_turn(draft):
            payload.insert(0, {"cwd": self.cwd})
        return replace(draft, record=Native(format=FORMAT, payload=payload)) if payload else draft

    def add(self, stretch: SpeakerLines) -> None:
        """Take in what one speaker says."""
        if stretch.speaker == "user":
            self.asks(stretch.text)
        elif stretch.speaker == "model":
            self.replies(stretch.lines)
        else:
            self.tells(stretch.lines)

    def say(self, role: Role, parts: Sequence[Part], origin: Origin = "spoken") -> None:
        """Put a message behind the others."""
        self.drafts.append(Draft(role=role, parts=tuple(parts), origin=origin, at=self.at))

    def asks(self, text: str) -> None:
        """Take in what the user says; a command to aider itself asks the model for nothing."""
        self.waiting = []
        if text.strip():
            to_aider = _COMMAND.match(text) and not _TO_MODEL.match(text)
            self.say("user", [Text(text=text)], "injected" if to_aider else "spoken")

    def replies(self, lines: Sequence[str]) -> None:
        """Take in a reply, with its edits as calls."""
        parts: list[Part] = []
        self.waiting = []
        for piece in pieces(lines):
            if isinstance(piece, str):
                parts.append(Text(text=piece))
            else:
                call = self.call(EDIT, piece.arguments)
                self.waiting.append((call, piece))
                parts.append(call)
        if parts:
            self.say("assistant", parts)

    def call(self, name: str, arguments: dict[str, object]) -> Call:
        """A call with an id of its own."""
        self.calls += 1
        return Call(id=f"call_{self.calls}", name=name, arguments=arguments)

    def tells(self, lines: Sequence[str]) -> None:
        """Take in what aider says: what became of the reply before it, and the rest as the harness's words."""
        said = read_report(lines) if self.drafts and self.drafts[-1].role == "assistant" else read_report_beside(lines)
        self.usage += said.usage
        results = self.edited(said)
        if said.lint:
            results.append(self.also("lint", said.lint_command, said.lint, failed=True))
        for command in said.ran:
            results.append(self.also("run", command, "", failed=None))
        if said.tests:
            results.append(self.also("test", said.test_command, said.tests, failed=said.tests_failed))
        if results:
            self.say("tool", results)
        self.waiting = []
        if rest := "\n".join(said.rest).strip():
            self.say("user", [Text(text=rest)], "injected")

    def also(self, name: str, command: str, text: str, *, failed: bool | None) -> Result:
        """What aider ran behind the reply, put to its calls."""
        call = self.call(name, {"command": command} if command else {})
        self.put(call)
        if failed is None:
            failed = _tests(text)
        if failed is None:
            failed = derive_failed(text, call)
        return Result(call_id=call.id, parts=(Text(text=text),) if text else (), failed=failed)

    def replied(self) -> tuple[Call, ...]:
        """The calls of the last reply."""
        return self.drafts[-1].calls if self.drafts else ()

    def put(self, call: Call) -> None:
        """Put `call` to those of the last reply."""
        self.drafts[-1] = replace(self.drafts[-1], parts=(*self.drafts[-1].parts, call))

    def edited(self, said: AiderReport) -> list[Result]:
        """What became of each edit of the reply."""
        results = [self.missed(each) for each in said.missed]
        if said.refused:
            if not self.waiting:
                call = self.call(EDIT, {})
                self.put(call)
                self.waiting = [(call, Edit(arguments={}, path=""))]
            results += [_result(call, said.refused, failed=True) for call, _ in self.waiting]
            self.waiting = []
        for call, edit in self.waiting:
            if line := said.skipped.get(edit.path):
                results.append(_result(call, line, failed=True))
            elif edit.path in said.applied or (not edit.path and said.applied):
                results.append(_result(call, f"Applied edit to {edit.path or said.applied[0]}", failed=False))
            elif said.others_applied:
                results.append(_result(call, "", failed=False))
            else:
                results.append(_result(call, "", failed=None))
        told_of = {str(call.arguments.get("path")) for call in self.replied() if isinstance(call.arguments, dict)}
        for path in dict.fromkeys(said.applied):
            if path not in told_of and all(edit.path for _, edit in self.waiting):
                # The reply held the file whole, or worded the edit in a way of its own.
                call = self.call(EDIT, {"path": path})
                self.put(call)
                results.append(_result(call, f"Applied edit to {path}", failed=False))
        order = [call.id for call in self.replied()]
        return sorted(results, key=lambda result: order.index(result.call_id))

    def missed(self, miss: Missed) -> Result:
        """That an edit could not be made: the one of the same file and text, or else of the same file."""
        same = [each for each in self.waiting if each[1].path == miss.path]
        exact = [each for each in same if each[1].old.strip() == miss.old.strip()]
        chosen = next(iter(exact or same), None)
        if chosen is None:
            call = self.call(EDIT, {"path": miss.path, "old_text": miss.old, "new_text": miss.new})
            self.put(call)
            return _result(call, miss.text, failed=True)
        self.waiting.remove(chosen)
        return _result(chosen[0], miss.text, failed=True)


def _result(call: Call, text: str, *, failed: bool | None) -> Result:
    return Result(call_id=call.id, parts=(Text(text=text),) if text else (), failed=failed)


def _tests(text: str) -> bool | None:
    if _TESTS_FAILED.search(text):
        return True
    return False if _TESTS_PASSED.search(text) else None


def _place(found: Sequence[SpeakerLines]) -> str | None:
    for stretch in found:
        if stretch.speaker == "aider" and (place := _PLACE.search("\n".join(stretch.lines))):
            return (place["told"] or place["dir"] or place["repo"]).rstrip("/") or None
    return None


_BEGINNING = lazy_re(rb"\s*# aider chat started at \d{4}-\d\d-\d\d")
_CARRIED = lazy_re(rb'"markdown":\s*"(?:\s|\\[nr])*# aider chat started at \d{4}-\d\d-\d\d')


class Aider:
    """Reads `.aider.chat.history.md`, and JSON lines that hold such files."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with the line that aider writes when it starts."""
        if sample.lstrip().startswith(b"{"):
            return _CARRIED.search(sample) is not None
        return _BEGINNING.match(sample) is not None

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the sessions of a file, each called after the file and the time when it began."""
        names = UniqueNames()
        for file in markdown_files(lines, "chat of aider's", STARTED.search):
            if isinstance(file, LogFault):
                yield file
                continue
            told = mapping(file.about.get("meta")).get("instance_id"), file.about.get("session_id")
            wished = next(filter(None, map(string, told)), name)
            for started in starts(file.lines):
                if isinstance(started, LogFault):
                    yield started
                # A session that was opened and left again says nothing.
                elif (chat := Chat(started, file.about)).speaks:
                    yield chat.session(names.give(f"{wished}-{started.label}"))
