"""SpecStory's Markdown: sessions of many coding agents, written for people to read.

A file is one session; JSON lines may hold such files as `markdown`. The lines of sub-agents that work in parallel are
mixed and can't be distinguished, so those of one turn of the user are one session. There is no working directory.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.logs.claude_code import is_compaction, is_of_harness
from ireneo.formats.logs.documents import Found, LogReader, MarkdownFile, markdown_files, text_result
from ireneo.formats.logs.format import LogFault, SessionBuilder, UniqueNames
from ireneo.formats.values import parse_time, string
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Origin, Part, Result, Role, Text, Thinking
from ireneo.patterns import lazy_re

_FENCE = lazy_re(r"(?P<ticks>`{3,})(?P<language>[\w+.#-]*)\s*$")


class _FencedBlock(Struct, frozen=True, kw_only=True):
    """A fenced block: the line that opens it, and the line after it."""

    start: int
    end: int
    language: str
    text: str


def _find_block(lines: Sequence[str], start: int = 0, *, to_the_last: bool) -> _FencedBlock | None:
    """Find the first block from `start` on; it ends at the first line that may close it, or `to_the_last`.

    A tool's output is closed by the last one, since SpecStory doesn't escape fences in it.
    """
    for first in range(start, len(lines)):
        if (opened := _FENCE.match(lines[first])) is not None:
            break
    else:
        return None
    closing = [at for at in range(first + 1, len(lines)) if lines[at].rstrip() == opened["ticks"]]
    end = (closing[-1] if to_the_last else closing[0]) if closing else len(lines)
    text = "\n".join(lines[first + 1 : end])
    return _FencedBlock(start=first, end=min(end + 1, len(lines)), language=opened["language"], text=text)


def _input_and_output(lines: Sequence[str], *, whole_file: bool) -> tuple[_FencedBlock | None, _FencedBlock | None]:
    """Find the blocks of the input and the output of a tool.

    The first is followed by an empty line, and then by the second. If the input is a `whole_file`, which may contain
    such a sequence, its last occurrence counts.
    """
    first = _find_block(lines, to_the_last=False)
    if first is None:
        return None, None
    ticks = _FENCE.match(lines[first.start])
    closing = ticks["ticks"] if ticks else ""
    seams = [
        at
        for at in range(first.start + 1, len(lines) - 2)
        if lines[at].rstrip() == closing and not lines[at + 1].strip() and _FENCE.match(lines[at + 2])
    ]
    if not seams:
        return _find_block(lines, to_the_last=True), None
    seam = seams[-1] if whole_file else seams[0]
    text = "\n".join(lines[first.start + 1 : seam])
    asked = _FencedBlock(start=first.start, end=seam + 1, language=first.language, text=text)
    return asked, _find_block(lines, seam + 1, to_the_last=True)


# Tools. SpecStory describes each tool in its own way and omits arguments; the others get the names that the agents use.
# The file of an edit is often found only in its result.

_TAG = lazy_re(r"<tool-use\b(?P<attributes>[^>\n]{0,400})>")
_ATTRIBUTE = lazy_re(r'\bdata-tool-(?P<key>type|name)="(?P<value>[^"]*)"')
_NAMED = lazy_re(r"Tool use: \*\*(?P<name>[^*\n]{1,80})\*\*(?P<rest>[^\n]*)")
_MARKS = lazy_re(r"</?(?:details|tool-use)\b[^>]{0,1000}>")
_SUMMARY = lazy_re(r"<summary>(?P<text>.{0,2000}?)</summary>", re.S)
_TICKED = lazy_re(r"`([^`\n]+)`")
_COMMAND_LINE = lazy_re(r"`(.+)`\s*$")
_KEYED = lazy_re(r"\b(path|pattern|include) `([^`\n]+)`")
_TOLD = lazy_re(r"(?P<what>[A-Z][\w ]{2,30}): (?P<value>\S.*)")
_BULLET = lazy_re(r"- (?P<key>\w[\w.-]{0,60}): `(?P<value>.*)")
_PATCHED = lazy_re(r"\*\*(?P<change>Update|Add|Modify|Delete): `(?P<path>[^`\n]+)`\*\*")
_WRITTEN = lazy_re(
    r"(?:The file (?P<file>\S.{0,400}?) has been (?:updated|created|overwritten)"
    r"|File created successfully at: (?P<made>\S.{0,400}?)[^\S\n]*+$)",
    re.M,
)
_DONE = lazy_re(
    r"(?:The file \S.{0,400}? has been (?:updated|created|overwritten)|File created successfully at: |Plan updated\b"
    r"|Success\.)"
)
_REFUSED = lazy_re(r"File has (?:been unexpectedly modified|not been read yet)|File does not exist\b")
_EXITED = lazy_re(r"\A(?:(?:Chunk ID|Wall time): [^\n]*\n){0,2}Process exited with code (-?\d+)$", re.M)
_SHELLS = ("shell", "bash", "exec_command", "shell_command", "run_terminal_cmd", "command", "run_shell_command")


class _ToolUse(Struct, frozen=True, kw_only=True):
    """A call of a tool, and its output."""

    name: str
    arguments: dict[str, object]
    output: str | None = None
    """The output of the tool; None if there was none, or it was omitted."""
    error: bool = False

    def result(self, call: Call) -> Result:
        """Make the result of `call`; no output is the output of a quiet command."""
        text = self.output or ""
        failed = derive_failed(text, call)
        if self.error or _REFUSED.match(text):
            failed = True
        elif exited := _EXITED.match(text):
            failed = exited[1] != "0"
        elif failed is None and _DONE.match(text.lstrip()):
            failed = False
        return text_result(call, text, failed=failed)


def _read_tool_use(lines: Sequence[str]) -> _ToolUse:
    text = "\n".join(lines)
    tag = _TAG.match(text)
    if tag:
        text = text[tag.end() :]
        found = _SUMMARY.search(text[:4_000])
        summary, body = (found["text"], text[found.end() :]) if found else ("", text)
    else:
        summary, _, body = text.partition("\n")
        if found := _SUMMARY.search(body[:2_000]):
            summary, body = f"{summary} {found['text']}", body[found.end() :]
    named = _NAMED.search(summary)
    attributes = {found["key"]: found["value"] for found in _ATTRIBUTE.finditer(tag["attributes"] if tag else "")}
    name = attributes.get("name") or (named["name"] if named else "") or "tool"
    kind = attributes.get("type", "")
    rest = html.unescape((named["rest"] if named else summary).strip(" •\t"))
    tool = _read_by_kind(name, kind, rest, _body_lines(body))
    if "file_path" not in tool.arguments and kind in ("write", "") and (found := _WRITTEN.search(tool.output or "")):
        return replace(tool, arguments={"file_path": found["file"] or found["made"], **tool.arguments})
    return tool


def _body_lines(text: str) -> list[str]:
    """Return the lines of a body without surrounding tags and empty lines."""
    lines = text.strip("\n").split("\n")
    while lines and (not lines[0].strip() or _MARKS.fullmatch(lines[0].strip())):
        lines.pop(0)
    while lines and (not lines[-1].strip() or not _MARKS.sub("", lines[-1]).strip()):
        lines.pop()
    return lines


def _read_by_kind(name: str, kind: str, rest: str, body: list[str]) -> _ToolUse:
    if any(line.startswith("**Input:**") for line in body[:3]):
        return _read_generic(name, body)
    if kind == "shell" or name.casefold() in _SHELLS:
        return _read_shell(name, rest, body)
    if any(_PATCHED.match(line) for line in body[:3]) or any(line.startswith("```diff") for line in body):
        return _read_patch(name, rest, body)
    if name == "Write" and body:
        asked, printed = _input_and_output(body, whole_file=True)
        if asked and (printed or asked.language != "text"):
            return _ToolUse(name=name, arguments={"content": asked.text}, output=printed.text if printed else None)
    printed = _find_block(body, to_the_last=True)
    head = "\n".join(body[: printed.start] if printed else body).strip()
    if kind == "task" or name in ("TodoWrite", "update_plan"):
        arguments: dict[str, object] = {"plan": head} if head else {}
    else:
        arguments = _read_arguments(name, kind, rest, head)
    return _ToolUse(name=name, arguments=arguments, output=printed.text if printed else None)


def _read_generic(name: str, body: list[str]) -> _ToolUse:
    """Read a tool without a description of its own: its input key by key, then its result or its error."""
    end = next((at for at, line in enumerate(body) if line.startswith(("**Result:**", "**Error:**"))), len(body))
    values: dict[str, list[str]] = {}
    for line in body[1:end]:
        if (found := _BULLET.match(line)) is not None:
            values[found["key"]] = lines = [found["value"]]
        elif values:
            lines.append(line)
    arguments: dict[str, object] = {key: "\n".join(lines).rstrip().removesuffix("`") for key, lines in values.items()}
    printed = _find_block(body, end, to_the_last=True)
    error = end < len(body) and body[end].startswith("**Error:**")
    return _ToolUse(name=name, arguments=arguments, output=printed.text if printed else None, error=error)


def _read_shell(name: str, rest: str, body: list[str]) -> _ToolUse:
    lines = ((at, _COMMAND_LINE.match(line)) for at, line in enumerate(body) if not line.startswith("```"))
    inline, line = next(((at, found) for at, found in lines if found), (None, None))
    command, labelled = _COMMAND_LINE.match(rest), _TOLD.match(rest)
    block = _find_block(body, to_the_last=False)
    asked: _FencedBlock | None = None
    if command or (inline is not None and (block is None or inline < block.start)):
        printed = _find_block(body, inline or 0, to_the_last=True)
    elif block and block.language in ("bash", "sh", "shell", "zsh", "powershell"):
        asked, printed = _input_and_output(body, whole_file=False)
    else:
        printed = _find_block(body, to_the_last=True)
    arguments: dict[str, object] = {}
    if asked:
        arguments["command"] = asked.text
    elif command or line or labelled:
        arguments["command"] = command[1] if command else line[1] if line else labelled and labelled["value"]
    ends = [at for at in (inline, block.start if block else None) if at is not None]
    if head := "\n".join(body[: min(ends, default=len(body))]).strip():
        arguments["description"] = head
    return _ToolUse(name=name, arguments=arguments, output=printed.text if printed else None)


def _read_patch(name: str, rest: str, body: list[str]) -> _ToolUse:
    """Read diffs, each under the name of its file."""
    patch: list[str] = []
    output: str | None = None
    at = 0
    while at < len(body):
        if (file := _PATCHED.match(body[at])) is not None:
            change = "Update" if file["change"] == "Modify" else file["change"]
            patch.append(f"*** {change} File: {file['path']}")
            at += 1
        elif (block := _find_block(body[at : at + 1], to_the_last=False)) is None:
            at += 1
        elif block.language == "diff":
            block = _find_block(body, at, to_the_last=False) or block
            patch.append(block.text)
            at = block.end
        else:
            last = _find_block(body, at, to_the_last=True) or block
            output, at = last.text, len(body)
    labelled = _TOLD.match(rest)
    if labelled and patch and not patch[0].startswith("***"):
        patch.insert(0, f"*** Update File: {labelled['value']}")
    return _ToolUse(name=name, arguments={"patch": "\n".join(patch)}, output=output)


def _read_arguments(name: str, kind: str, rest: str, head: str) -> dict[str, object]:
    if keyed := dict(_KEYED.findall(head)):
        return dict(keyed)
    if name in ("AskUserQuestion", "ask_followup_question"):
        return {"question": head} if head else {}
    ticked = _TICKED.match(head)
    if ticked and ticked[1].startswith(("http://", "https://")):
        return {"url": ticked[1]}
    if ticked and kind == "search":
        return {"query": ticked[1]}
    if ticked and kind in ("read", "write", ""):
        return {"file_path": ticked[1]}
    labelled = _TOLD.match(rest) or _TOLD.match(head)
    if labelled and labelled["what"].casefold().endswith(("file", "directory")):
        return {"file_path": labelled["value"]}
    said = " ".join(part for part in (rest, head) if part)
    return {"description": said} if said else {}


# The parts of an export. It contains the output of tools unescaped, other exports included, so that a line that looks
# like a mark may be quoted. A speaker's line is one of this session only if its time fits: within a tool it must not be
# before that of the last speaker.

_SPEAKER = lazy_re(
    r"_\*\*(?P<who>User|Agent|Assistant|)(?P<side> - sidechain)?(?: \((?P<about>.{0,200}?)\))??"
    r"(?P<side_too> \(sidechain\))?\*\*_\s*$"
)
"""One without a name is the agent, in exports of early 2025, where it uses a tool."""
_BY_TOOL = (
    (lazy_re(r"```(?:bash|sh|shell|zsh|powershell)\s*$"), "Tool use: **run_terminal_cmd**"),
    (lazy_re(r"```diff\s*$"), "Tool use: **edit_file**"),
    (lazy_re(r"Read file: \S"), "Tool use: **read_file**"),
    (lazy_re(r"<details>\s*$"), "Tool use: **tool**"),
)
"""The beginnings of tool uses in exports, each with the line that newer exports put before it."""
_TIME = lazy_re(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_OPENED = lazy_re(r"<tool-use\b")
_CLOSED = lazy_re(r"(?:</details>\s*)?</tool-use>\s*$")
_THOUGHT = lazy_re(r"<think>")
_THOUGHT_THROUGH = "</think>"
_BARE = lazy_re(r"Tool use: \*\*[^*\n]{1,80}\*\*")
_RULE = lazy_re(r"---\s*$")
_MESSAGE = lazy_re(r"<!-- message-id: (?P<id>\S{1,100}) -->\s*$")
_BEFORE = timedelta(days=1)
"""A speaker's line with a time further before the session's beginning is quoted."""

_ExportKind = Literal["speaker", "text", "thinking", "tool"]


class _ExportPart(Struct, frozen=True, kw_only=True):
    """Consecutive lines of an export."""

    kind: _ExportKind
    start: int
    lines: Sequence[str]
    user: bool = False
    """A speaker who is the user."""
    sidechain: bool = False
    """A speaker who is a sub-agent."""
    at: datetime | None = None
    source_id: str | None = None
    fault: str | None = None
    head: str = ""
    """For a tool that the export describes in another way: the line that newer exports put first."""


class _ExportCutter:
    """Splits an export of a session that began at `begun` into its parts."""

    def __init__(self, lines: Sequence[str], begun: datetime | None) -> None:
        self.lines = lines
        self.begun = begun
        self.last: datetime | None = None
        self.seen: set[str] = set()
        self.unnamed = False
        """The last speaker's line names nobody."""

    def parts(self) -> Iterator[_ExportPart]:
        """Return the parts in order, without the lines before the first speaker."""
        at = 0
        while at < len(self.lines) and self.read_speaker(at) is None:
            at += 1
        while at < len(self.lines):
            piece = self.next_part(at)
            at += max(len(piece.lines), 1)
            yield piece

    def next_part(self, at: int) -> _ExportPart:
        line = self.lines[at]
        if (speaker := self.read_speaker(at)) is not None:
            self.seen.add(line.strip())
            self.last = speaker.at or self.last
            self.begun = self.begun or speaker.at
            self.unnamed = not (found := _SPEAKER.match(line)) or not found["who"]
            return speaker
        if self.unnamed and (used := self.tool_part(at)) is not None:
            return used
        if _OPENED.match(line):
            return self.read_tool(at)
        if _THOUGHT.match(line):
            return self.read_thinking(at)
        if _BARE.match(line):
            end = self.end_of_text(at + 1, rules=True)
            return _ExportPart(kind="tool", start=at, lines=self.lines[at:end])
        end = self.end_of_text(at + 1)
        return _ExportPart(kind="text", start=at, lines=self.lines[at:end])

    def tool_part(self, at: int) -> _ExportPart | None:
        """Read what a speaker without a name did, in the form of newer exports; None if it is a text."""
        end = self.end_of_text(at)
        lines = list(self.lines[at:end])
        first = next((line for line in lines if line.strip()), "")
        head = next((head for begins, head in _BY_TOOL if begins.match(first)), None)
        if head is None:
            return None
        return _ExportPart(kind="tool", start=at, lines=lines, head=f"{head} {first}" if first[:1].isalpha() else head)

    def read_speaker(self, at: int) -> _ExportPart | None:
        """Read a speaker's line at `at`, and the message's id in the next line; None for other lines."""
        found = _SPEAKER.match(self.lines[at])
        if found is None:
            return None
        time = _TIME.search(found["about"] or "")
        spoken_at = parse_time(time[0]) if time else None
        if spoken_at and self.begun and spoken_at < self.begun - _BEFORE:
            return None
        named = _MESSAGE.match(self.lines[at + 1]) if at + 1 < len(self.lines) else None
        return _ExportPart(
            kind="speaker",
            start=at,
            lines=self.lines[at : at + (2 if named else 1)],
            user=found["who"] == "User",
            sidechain=bool(found["side"] or found["side_too"]),
            at=spoken_at,
            source_id=named["id"] if named else None,
        )

    def end_of_text(self, at: int, *, rules: bool = False) -> int:
        """Return the end of a text that begins before `at`: the next mark, or with `rules` also a horizontal rule."""
        while at < len(self.lines):
            line = self.lines[at]
            if self.read_speaker(at) or _OPENED.match(line) or _THOUGHT.match(line) or _BARE.match(line):
                break
            if rules and _RULE.match(line):
                break
            at += 1
        return at

    def read_thinking(self, start: int) -> _ExportPart:
        for at in range(start, len(self.lines)):
            if self.lines[at].rstrip().endswith(_THOUGHT_THROUGH):
                return _ExportPart(kind="thinking", start=start, lines=self.lines[start : at + 1])
            if at > start and self.read_speaker(at):
                break
        else:
            at = len(self.lines)
        return _ExportPart(
            kind="thinking", start=start, lines=self.lines[start:at], fault="begins a thought without an end"
        )

    def read_tool(self, start: int) -> _ExportPart:
        depth = 0
        for at in range(start, len(self.lines)):
            line = self.lines[at]
            if at > start and self.session_continues(at):
                end = at
                break
            if at > start and _OPENED.match(line):
                depth += 1
            if _CLOSED.match(line) or (line.startswith("<tool-use") and line.rstrip().endswith("</tool-use>")):
                if depth == 0 or self.is_followed_by_turn(at + 1):
                    return _ExportPart(kind="tool", start=start, lines=self.lines[start : at + 1])
                depth -= 1
        else:
            end = len(self.lines)
        return _ExportPart(
            kind="tool", start=start, lines=self.lines[start:end], fault="begins a tool's work without an end"
        )

    def session_continues(self, at: int) -> bool:
        """Whether the session goes on at `at`, which may be in the output of a tool."""
        speaker = self.read_speaker(at)
        if speaker is None or self.lines[at - 1].strip():
            return False
        if speaker.at is None:
            return self.lines[at].strip() in self.seen
        return self.last is None or speaker.at >= self.last

    def is_followed_by_turn(self, at: int) -> bool:
        while at < len(self.lines) and (not self.lines[at].strip() or _RULE.match(self.lines[at])):
            at += 1
        return at == len(self.lines) or (at > 0 and self.session_continues(at))


FORMAT = "specstory"
_SESSION = lazy_re(r"<!-- (?P<agent>.{1,60}) Session (?P<id>\S{1,100}) \((?P<time>[^)]{4,40})\) -->")
_TITLED = lazy_re(r"##? \S.{0,400} \((?P<time>\d{4}-\d\d-\d\d \d\d:\d\dZ?|\d[\d/]{7,9}, [\d:]{7,8} [AP]M)\)\s*$")
_HEADER = 40
"""How many first lines may hold the comment that names the session."""
_THINK = lazy_re(r"</?think>|</?details>|<summary>.{0,2000}?</summary>")
_RULES = ("", "---")
_SYNTHETIC = "<synthetic>"


def _sessions(file: MarkdownFile, name: str, names: UniqueNames, faults: list[LogFault]) -> Iterator[Found]:
    """Read the sessions of an export: the agent's own, then those of its sub-agents.

    `name` is the id of an export without one. What can't be read is added to `faults`.
    """
    lines, about, number = list(file.lines), file.about, file.number
    found = next((found for line in lines[:_HEADER] if (found := _SESSION.match(line.lstrip("\ufeff")))), None)
    begun = parse_time(found["time"]) if found else _heading_time(lines)
    main = now = _SessionDrafts()
    sides: list[_SessionDrafts] = []
    # Whether the newest session of sub-agents is still going on.
    is_open = False
    for piece in _ExportCutter([line.rstrip("\r\n") for line in lines], begun).parts():
        if piece.fault:
            at = piece.start + 1
            place = f"Line {at}" if number is None else f"Line {number}, at line {at} of its Markdown,"
            message = f"{place} {piece.fault}; it was taken to end where the next turn begins."
            faults.append(LogFault(line=number or at, message=message))
        if piece.kind != "speaker":
            now.add_part(piece)
            is_open = is_open and not (now is main and main.user)
            continue
        if piece.sidechain and (not is_open or piece.user):
            sides.append(_SessionDrafts())
            is_open = True
        now = sides[-1] if piece.sidechain else main
        now.add_speaker(piece)
    beside = [drafts for story in sides if (drafts := story.finish())]
    if not main.finish() and not beside:
        place = f"Line {number}" if number else "The file"
        message = f"{place} is an export in which nobody speaks; it was left out."
        faults.append(LogFault(line=number or 1, message=message))
        return
    if main.drafts and main.drafts[0].at is None:
        main.drafts[0] = replace(main.drafts[0], at=begun)  # Older exports give each speaker no time.
    noted = {**about, **({"agent": found["agent"], "session": found["id"]} if found else {})}
    given = names.choose(string(about.get("session_id")) or (found["id"] if found else None) or name)
    sidechains = [(f"{given}-sidechain-{place}", drafts) for place, drafts in enumerate(beside, 1)]
    for called, drafts in (given, main.drafts), *sidechains:
        builder = SessionBuilder(FORMAT, noted)
        for draft in drafts:
            builder.add(draft)
        yield [called], builder


def _heading_time(lines: Sequence[str]) -> datetime | None:
    """The time in the heading of an older export; the first ones have it in the American order."""
    found = next((found for line in lines[:_HEADER] if (found := _TITLED.match(line))), None)
    if found is None or "/" not in found["time"]:
        return parse_time(found["time"]) if found else None
    try:
        return datetime.strptime(found["time"], "%m/%d/%Y, %I:%M:%S %p").replace(tzinfo=UTC)
    except ValueError:
        return None  # 13/1/2025 is no day of it.


class _SessionDrafts:
    """The drafts of one session."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.parts: list[Part] = []
        self.user = False
        self.at: datetime | None = None
        self.begun: datetime | None = None
        """The time of the current draft."""
        self.source_id: str | None = None
        self.synthetic = False
        self.begins = False
        """The speaker's line was the last one."""
        self.calls = 0

    def add_speaker(self, piece: _ExportPart) -> None:
        synthetic = _SYNTHETIC in piece.lines[0]
        if piece.user or self.user or synthetic != self.synthetic:
            self.flush()
        self.user, self.synthetic, self.at, self.begins = piece.user, synthetic, piece.at, True
        if not self.parts:
            self.begun, self.source_id = piece.at, piece.source_id

    def add_part(self, piece: _ExportPart) -> None:
        if piece.kind == "tool":
            self.add_tool_use(piece)
        elif piece.kind == "thinking":
            if thought := _THINK.sub("", "\n".join(piece.lines)).strip():
                self.parts.append(Thinking(text=thought))
        elif words := self.text_of(piece):
            self.parts.append(Text(text=words))
        self.begins = False

    def text_of(self, piece: _ExportPart) -> str:
        """Return the text of a part without the rules that older exports put between the parts of a turn."""
        lines = list(piece.lines)
        while lines and lines[-1].strip() in _RULES:
            lines.pop()
        first = 0
        while not self.begins and first < len(lines) and lines[first].strip() in _RULES:
            first += 1
        return "\n".join(lines[first:]).strip()

    def add_tool_use(self, piece: _ExportPart) -> None:
        tool = _read_tool_use([piece.head, *piece.lines] if piece.head else piece.lines)
        self.calls += 1
        call = Call(id=f"call_{self.calls}", name=tool.name, arguments=tool.arguments)
        if self.user:
            # Users call no tools, so here the agent's part begins.
            self.flush()
            self.user = False
        self.begun = self.begun or self.at
        self.parts.append(call)
        self.flush()
        self.drafts.append(Draft(role="tool", parts=(tool.result(call),), at=self.at))

    def flush(self) -> None:
        if self.parts:
            role: Role = "user" if self.user else "assistant"
            draft = Draft(role=role, parts=tuple(self.parts), at=self.begun, source_id=self.source_id)
            self.drafts.append(replace(draft, origin=self.origin()))
        self.parts = []
        self.begun, self.source_id = self.at, None

    def origin(self) -> Origin:
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        if not self.user:
            return "injected" if self.synthetic else "spoken"
        if is_compaction(texts):
            return "summary"
        return "injected" if is_of_harness(texts) else "spoken"

    def finish(self) -> list[Draft]:
        self.flush()
        return self.drafts


_BEGINNING = 4_000
"""How many first bytes may hold the marks; later ones may be part of a text about SpecStory."""
_GENERATED = lazy_re(rb"^<!-- Generated by SpecStory\b|\A\s*## SpecStory\s*$", re.M)
_SESSION_MARK = lazy_re(rb"^<!-- .{1,60} Session \S{8,80} \(\d{4}-\d\d-\d\d.{0,30}\) -->\s*$", re.M)
_SPEAKER_MARK = lazy_re(rb"^_\*\*(?:User|Agent|Assistant)\b.{0,200}\*\*_\s*$", re.M)
_CARRIED = lazy_re(rb'"markdown":\s*"(?:\\ufeff|\s|\\n)*<!-- Generated by SpecStory\b')


class SpecStory(LogReader):
    """SpecStory's `.specstory/history/*.md`, and JSON lines that hold such files."""

    name = FORMAT
    chat = "anthropic"

    def recognises(self, sample: bytes) -> bool:
        """Whether it begins with SpecStory's own comment or heading, and someone speaks after it."""
        if sample.lstrip().startswith(b"{"):
            return _CARRIED.search(sample) is not None
        beginning = sample[:_BEGINNING]
        marked = _GENERATED.search(beginning) or _SESSION_MARK.search(beginning)
        return marked is not None and _SPEAKER_MARK.search(sample) is not None

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        names = UniqueNames()
        for file in markdown_files(lines, "Markdown", lambda text: True, faults):
            yield from _sessions(file, name, names, faults)
