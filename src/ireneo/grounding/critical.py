"""What of a stretch of messages a summary must not lose: the few names without which the work can't go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.grounding.artifacts import artifacts
from ireneo.grounding.claims import claims
from ireneo.grounding.normal import straight
from ireneo.grounding.sources import call_text
from ireneo.log.echo import without_recalled
from ireneo.log.message import Call, Message, Result
from ireneo.log.outcome import derive_failed
from ireneo.log.running import runs_something
from ireneo.patterns import lazy_re

MAX_CRITICAL = 24
"""More would be a list of everything, and no summary has room for that."""

_PATHS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "relative_path")
_OLD = ("old_string", "old_str", "old_text", "oldText", "search")
_NEW = ("new_string", "new_str", "new_text", "newText", "content", "file_text", "contents", "replace", "insert_text")
_COMMANDS = ("command", "cmd", "script")
_CHANGES = lazy_re(r"edit|write|create|insert|replace|patch", re.IGNORECASE)
_WRITTEN_TO = lazy_re(
    r"(?:cat|tee)\b[^\n|]{0,160}?>>?\s*+([\w./~@+-]{1,400}+)[^\n]{0,80}<<"
    r"|\bsed\b[^\n|&;]{0,160}\s-i[^\n|&;]{0,400}?\s([\w./~@+-]{1,400}\.\w+)"
)
_PATCHED = lazy_re(r"^(?:\*\*\* (?:Update|Add) File: |\+\+\+ (?:b/)?)(\S+)", re.MULTILINE)
_MOVING = lazy_re(r"\s*(?:cd\s+\S+|source\s+\S+|export\s+\S+|set\s+-\w+)\s*(?:&&|;)\s*")
_FILTERS = lazy_re(
    r"(?<!\s)(?:\s*+2>&1|\s*+2>\s*+/dev/null|\s*+\|\s*+(?:head|tail|less|cat|wc|sort|uniq|grep)\b"
    r"(?:(?!2>&1|2>\s{0,9}/dev/null|\|\s{0,9}(?:head|tail|less|cat|wc|sort|uniq|grep)\b)[^&;\n]){0,300}+){1,12}+\s*$"
)
_TEST = lazy_re(
    r"--- FAIL: (\w+)|^FAILED \S*?::(\w+)|^(?:FAIL|ERROR): (\w+) \(|^test (\S+) \.\.\. FAILED", re.MULTILINE
)
_STATUS = lazy_re(r"\bexit(?:ed)?(?: with)?(?: code| status)? [1-9]\d{0,2}\b", re.IGNORECASE)
_NAMED_ERROR = lazy_re(r"\b[A-Z]\w*(?:Error|Exception)\b|\bE(?:NOENT|ACCES|PERM|CONNREFUSED|ADDRINUSE)\b")

# What each is worth: what the user named and what now fails before what was merely written.
_USER, _CHANGED, _COMMAND, _ERROR, _FAILING, _WRITTEN = 8.0, 10.0, 9.0, 7.0, 8.0, 1.0


def critical(messages: Sequence[Message], limit: int = MAX_CRITICAL) -> list[str]:
    """List the artifacts of `messages` that must not be lost, the most needed first.

    They are the files that were changed, the commands that failed when they were run last with their errors, statuses
    and tests, the names that the user named, and the identifiers that the agent wrote in its edits.
    """
    worth: dict[str, float] = {}

    def add(artifact: str, weight: float) -> None:
        if artifact:
            worth[artifact] = worth.get(artifact, 0.0) + weight

    failed: dict[str, Result] = {}
    results = {result.call_id: result for message in messages for result in message.draft.results}
    for message in messages:
        if message.role == "user" and message.draft.origin == "spoken":
            for name in _named_by_user(without_recalled(message.text)):
                add(name, _USER)
        for call in message.draft.calls:
            result = results.get(call.id)
            if has_failed(call, result):
                assert result is not None
                failed[_approach(call)] = result
            else:
                failed.pop(_approach(call), None)
                for name, weight in _changed(call):
                    add(name, weight)
    for command, result in failed.items():
        for name, weight in _of_failure(command, result.text):
            add(name, weight)
    return sorted(worth, key=lambda name: -worth[name])[:limit]


def has_failed(call: Call, result: Result | None) -> bool:
    """Whether `call` is known to have failed."""
    if result is None:
        return False
    return (derive_failed(result.text, call) if result.failed is None else result.failed) is True


def command_of(call: Call) -> str:
    """The command that `call` ran, without the moving about before it and the filters behind it; empty for none."""
    if isinstance(call.arguments, str):
        return straight(call.arguments) if runs_something(call) else ""
    command = next((value for key in _COMMANDS if isinstance(value := call.arguments.get(key), str)), "")
    at = 0
    while (moving := _MOVING.match(command, at)) and moving.end() < len(command):
        at = moving.end()
    return straight(_FILTERS.sub("", command[at:]))


def failing_tests(output: str) -> list[str]:
    """The tests that a test runner's `output` names as failing, each once."""
    return list(dict.fromkeys(next(group for group in found if group) for found in _TEST.findall(output)))


def _approach(call: Call) -> str:
    """What tells one deed from another: the command, or the tool with its file."""
    return command_of(call) or f"{call.name} {_first(call, _PATHS)}".strip()


def _named_by_user(text: str) -> Iterator[str]:
    for claim in claims(text):
        if claim.kind in ("path", "identifier", "error") and len(claim.text) > 2:
            yield claim.text


def _changed(call: Call) -> Iterator[tuple[str, float]]:
    path, new = _first(call, _PATHS), _first(call, _NEW)
    if path and (new or _CHANGES.search(call.name)):
        yield path, _CHANGED
        known = set(artifacts(_first(call, _OLD)))
        for name in artifacts(new):
            if name not in known and "/" not in name and re.search(r"[_A-Z]", name):
                yield name, _WRITTEN
        return
    text = call_text(call)
    for found in (*_WRITTEN_TO.finditer(text), *_PATCHED.finditer(text)):
        yield next(group for group in found.groups() if group), _CHANGED


def _of_failure(command: str, output: str) -> Iterator[tuple[str, float]]:
    """What a command that still fails leaves behind: itself, its error, its status, its failing tests."""
    if len(command) <= 120:
        yield command, _COMMAND
    for pattern, weight in ((_STATUS, _ERROR), (_NAMED_ERROR, _ERROR)):
        found = pattern.findall(output)
        if found:
            yield found[-1], weight
    for test in failing_tests(output)[:6]:
        yield test, _FAILING


def _first(call: Call, keys: Sequence[str]) -> str:
    if isinstance(call.arguments, str):
        return ""
    return next((value for key in keys if isinstance(value := call.arguments.get(key), str) and value), "")
