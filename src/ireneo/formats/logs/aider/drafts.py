"""The messages of a session with aider.

The edits that a reply asks for are its calls. So are the linter and the tests, which aider runs behind each edit by
itself: their outcome is an answer to that reply. What else aider says is the harness's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.formats.logs.aider.edits import EDIT, Edit, pieces
from ireneo.formats.logs.aider.stretches import Started, Stretch, stretches
from ireneo.formats.logs.aider.told import Missed, Told, told, told_beside
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.sessions import straight_session
from ireneo.log.message import Call, Draft, Native, Origin, Part, Result, Role, Text, opens_turn
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

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
        return straight_session(name, drafts)

    def known(self) -> dict[str, object]:
        """What is known of the session besides its messages."""
        return {**self.about, **({"usage": self.usage} if self.usage else {})}

    def recorded(self, draft: Draft, *, first: bool) -> Draft:
        """`draft` with what is kept beside it: what is known of the session, and where a turn is worked."""
        payload: list[object] = [self.known()] if first else []
        if self.cwd and opens_turn(draft):
            payload.insert(0, {"cwd": self.cwd})
        return replace(draft, record=Native(format=FORMAT, payload=payload)) if payload else draft

    def add(self, stretch: Stretch) -> None:
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
        said = told(lines) if self.drafts and self.drafts[-1].role == "assistant" else told_beside(lines)
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

    def edited(self, said: Told) -> list[Result]:
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


def _place(found: Sequence[Stretch]) -> str | None:
    for stretch in found:
        if stretch.speaker == "aider" and (place := _PLACE.search("\n".join(stretch.lines))):
            return (place["told"] or place["dir"] or place["repo"]).rstrip("/") or None
    return None
