"""A tool's piece of a SpecStory export as a call and what came back from it.

SpecStory words each tool in its own way and leaves arguments out; what it does tell is put under the names that the
agents use themselves. An edit's file is often told by its result alone.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from msgspec import Struct

from ireneo.formats.logs.specstory.fences import Fenced, asked_then_printed, fenced
from ireneo.log.message import Call, Result, Text
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

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
_PATCHED = lazy_re(r"\*\*(?P<deed>Update|Add|Modify|Delete): `(?P<path>[^`\n]+)`\*\*")
_WRITTEN = lazy_re(
    r"(?:The file (?P<file>\S.{0,400}?) has been (?:updated|created)"
    r"|File created successfully at: (?P<made>\S.{0,400}?)[^\S\n]*+$)",
    re.M,
)
_DONE = lazy_re(
    r"(?:The file \S.{0,400}? has been (?:updated|created)|File created successfully at: |Plan updated\b|Success\.)"
)
_REFUSED = lazy_re(r"File has (?:been unexpectedly modified|not been read yet)|File does not exist\b")
_EXITED = lazy_re(r"\A(?:(?:Chunk ID|Wall time): [^\n]*\n){0,2}Process exited with code (-?\d+)$", re.M)
_SHELLS = ("shell", "bash", "exec_command", "shell_command", "run_terminal_cmd", "command", "run_shell_command")


class Used(Struct, frozen=True, kw_only=True):
    """A tool's piece, read."""

    name: str
    arguments: dict[str, object]
    output: str | None
    """None where nothing came back, or nothing of it was told."""
    error: bool
    """It is told as an error."""

    def call(self, name: str) -> Call:
        """The call, which the session calls `name`."""
        return Call(id=name, name=self.name, arguments=self.arguments)

    def result(self, call: Call) -> Result:
        """What came back; nothing at all is what a quiet command prints."""
        text = self.output or ""
        parts = (Text(text=text),) if text else ()
        return Result(call_id=call.id, parts=parts, failed=self.failed(text, call))

    def failed(self, text: str, call: Call) -> bool | None:
        """Whether `text` tells that the call failed."""
        if self.error or _REFUSED.match(text):
            return True
        if exited := _EXITED.match(text):
            return exited[1] != "0"
        told = derive_failed(text, call)
        return False if told is None and _DONE.match(text.lstrip()) else told


def used(lines: Sequence[str]) -> Used:
    """Read the lines of a tool's piece."""
    whole = "\n".join(lines)
    tag = _TAG.match(whole)
    summary, body = _summary_and_body(whole[tag.end() :] if tag else whole, tagged=tag is not None)
    named = _NAMED.search(summary)
    attributes = {found["key"]: found["value"] for found in _ATTRIBUTE.finditer(tag["attributes"] if tag else "")}
    name = attributes.get("name") or (named["name"] if named else "") or "tool"
    kind = attributes.get("type", "")
    rest = html.unescape((named["rest"] if named else summary).strip(" •\t"))
    told = _of_kind(name, kind, rest, body)
    if "file_path" not in told.arguments and kind in ("write", "") and (path := _file_of(told.output)):
        return Used(name=name, arguments={"file_path": path, **told.arguments}, output=told.output, error=told.error)
    return told


def _summary_and_body(text: str, *, tagged: bool) -> tuple[str, list[str]]:
    if not tagged:
        first, _, rest = text.partition("\n")
        within = _SUMMARY.search(rest[:2_000])
        summary = f"{first} {within['text']}" if within else first
        return summary, _inner(rest[within.end() :] if within else rest)
    found = _SUMMARY.search(text[:4_000])
    if found is None:
        return "", _inner(text)
    return found["text"], _inner(text[found.end() :])


def _inner(text: str) -> list[str]:
    """The lines of a body, without the tags and the empty lines round it."""
    lines = text.strip("\n").split("\n")
    while lines and (not lines[0].strip() or _MARKS.fullmatch(lines[0].strip())):
        lines.pop(0)
    while lines and (not lines[-1].strip() or not _MARKS.sub("", lines[-1]).strip()):
        lines.pop()
    return lines


def _of_kind(name: str, kind: str, rest: str, body: list[str]) -> Used:
    if any(line.startswith("**Input:**") for line in body[:3]):
        return _generic(name, body)
    if kind == "shell" or name.casefold() in _SHELLS:
        return _shell(name, rest, body)
    if any(_PATCHED.match(line) for line in body[:3]) or any(line.startswith("```diff") for line in body):
        return _patch(name, rest, body)
    if name == "Write" and body:
        asked, printed = asked_then_printed(body, whole_file=True)
        if asked and (printed or asked.language != "text"):
            return Used(name=name, arguments={"content": asked.text}, output=_text_of(printed), error=False)
    printed = fenced(body, to_the_last=True)
    head = "\n".join(body[: printed.start] if printed else body).strip()
    if kind == "task" or name in ("TodoWrite", "update_plan"):
        arguments: dict[str, object] = {"plan": head} if head else {}
    else:
        arguments = _arguments(name, kind, rest, head)
    return Used(name=name, arguments=arguments, output=_text_of(printed), error=False)


def _generic(name: str, body: list[str]) -> Used:
    """A tool without wording of its own: its input key by key, then its result or its error."""
    ends = [at for at, line in enumerate(body) if line.startswith(("**Result:**", "**Error:**"))]
    end = ends[0] if ends else len(body)
    arguments: dict[str, object] = {}
    key = None
    for line in body[1:end]:
        if (found := _BULLET.match(line)) is not None:
            key = found["key"]
            arguments[key] = found["value"]
        elif key is not None:
            arguments[key] = f"{arguments[key]}\n{line}"
    arguments = {key: str(value).rstrip().removesuffix("`") for key, value in arguments.items()}
    printed = fenced(body, end, to_the_last=True)
    error = end < len(body) and body[end].startswith("**Error:**")
    return Used(name=name, arguments=arguments, output=_text_of(printed), error=error)


def _shell(name: str, rest: str, body: list[str]) -> Used:
    command = _COMMAND_LINE.match(rest)
    told = _TOLD.match(rest)
    inline = next(
        (at for at, line in enumerate(body) if _COMMAND_LINE.match(line) and not line.startswith("```")), None
    )
    block = fenced(body, to_the_last=False)
    asked: Fenced | None = None
    if command or (inline is not None and (block is None or inline < block.start)):
        printed = fenced(body, inline or 0, to_the_last=True)
    elif block and block.language in ("bash", "sh", "shell", "zsh", "powershell"):
        asked, printed = asked_then_printed(body, whole_file=False)
    else:
        printed = fenced(body, to_the_last=True)
    arguments: dict[str, object] = {}
    if asked:
        arguments["command"] = asked.text
    elif command:
        arguments["command"] = command[1]
    elif inline is not None and (line := _COMMAND_LINE.match(body[inline])):
        arguments["command"] = line[1]
    elif told:
        arguments["command"] = told["value"]
    ends = [at for at in (inline, block.start if block else None) if at is not None]
    head = "\n".join(body[: min(ends, default=len(body))]).strip()
    if head:
        arguments["description"] = head
    return Used(name=name, arguments=arguments, output=_text_of(printed), error=False)


def _patch(name: str, rest: str, body: list[str]) -> Used:
    """Diffs, each under the name of its file."""
    patch: list[str] = []
    output: str | None = None
    at = 0
    while at < len(body):
        if (file := _PATCHED.match(body[at])) is not None:
            deed = "Update" if file["deed"] == "Modify" else file["deed"]
            patch.append(f"*** {deed} File: {file['path']}")
            at += 1
        elif (block := fenced(body[at : at + 1], to_the_last=False)) is None:
            at += 1
        elif block.language == "diff":
            block = fenced(body, at, to_the_last=False) or block
            patch.append(block.text)
            at = block.end
        else:
            last = fenced(body, at, to_the_last=True) or block
            output, at = last.text, len(body)
    told = _TOLD.match(rest)
    if told and patch and not patch[0].startswith("***"):
        patch.insert(0, f"*** Update File: {told['value']}")
    return Used(name=name, arguments={"patch": "\n".join(patch)}, output=output, error=False)


def _arguments(name: str, kind: str, rest: str, head: str) -> dict[str, object]:
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
    told = _TOLD.match(rest) or _TOLD.match(head)
    if told and told["what"].casefold().endswith(("file", "directory")):
        return {"file_path": told["value"]}
    said = " ".join(part for part in (rest, head) if part)
    return {"description": said} if said else {}


def _text_of(block: Fenced | None) -> str | None:
    return block.text if block else None


def _file_of(output: str | None) -> str | None:
    found = _WRITTEN.search(output or "")
    return (found["file"] or found["made"]) if found else None
