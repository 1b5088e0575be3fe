"""What the tools answer: short texts, each saying what opens the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.mcp.opened import SHORT, recalled, remembered, told
from ireneo.types import Remembered, Told

if TYPE_CHECKING:
    from ireneo.types import Kind, Pad, Recalled

LINE_CHARACTERS = 240
"""What one line of a list shows of a text."""
PAGE_CHARACTERS = 12_000
"""What one answer brings into a context, about 3,000 tokens."""


class Desk:
    """Answers for one memory."""

    def __init__(self, memory: ireneo.Memory, project: str = "") -> None:
        """`project` is where the agent works, by its name or a directory: what belongs to others is out of reach."""
        self._memory = memory
        self.project = memory.project_named(project)
        """Where the agent works; empty: nowhere that is known."""

    async def brief(self, goal: str, task_type: str, about_to: str, budget: int) -> str:
        """The brief of a task."""
        made = await self._memory.brief(
            goal=goal, task_type=task_type, about_to=about_to, budget=budget, project=self.project
        )
        # What has nothing to say costs nothing.
        return made.markdown

    async def recall(self, question: str, kind: Kind | None, limit: int, budget: int) -> str:
        """A list of what was found, a line each, as far as `budget` tokens go."""
        found = await self._memory.recall(question, kind=kind, limit=limit, project=self.project)
        lines = [_found(each) for each in found]
        if not lines:
            return "Nothing answers to that."
        shown = len(lines)
        while shown and self._memory.count(told := _listed(lines, shown)) > budget:
            shown -= 1
        if not shown:
            raise BadInput(f"The first line alone costs more than {budget} tokens; give a larger budget.")
        return told

    async def remember(self, text: str, kind: Kind | None, task_type: str) -> str:
        """What became of a text that was to be remembered."""
        told = Told(origin="agent", task_type=task_type, project=self.project)
        if kind is not None:
            told["kind"] = kind
        done = await self._memory.remember(text, **told)
        return f"{done.did} [{done.record.id[:SHORT]}] as {done.record.kind}: {done.reason}"

    async def check(self, tool: str, arguments: Mapping[str, object] | str, session: str) -> str:
        """Whether a call has failed before."""
        given = _arguments(arguments) if isinstance(arguments, str) else arguments
        if session:
            stored = await self._memory.session(session, must_exist=True)
            there = await stored.project()
            if there not in ("", self.project):
                raise BadInput(f"Session {session} belongs to project {there!r}, where you do not work; leave it out.")
        found = await self._memory.check(tool, given, session=session or None, project=self.project)
        return recalled(found.markdown) if found else "Nothing speaks against it."

    async def expand(self, id: str, start: int) -> str:
        """What an id names, from a character on."""
        named = id.strip("[] ")
        opened = await self._memory.open_id(named, project=self.project)
        if opened.memory is not None:
            text = remembered(opened.memory)
        elif opened.note is not None:
            note = opened.note
            text = f"{note.kind} in session {opened.session}, after [{note.at[:SHORT]}]: {note.text}"
        elif opened.diary is not None:
            text = opened.diary.markdown or f"Nothing was tried in session {opened.session}."
        elif opened.expanded is not None:
            text = told(opened.expanded)
        else:
            raise BadInput(f"Nothing stands behind {named}.")
        return recalled(_page(text, start, named))

    async def scratchpad(self, task: str, goal: str, lists: tuple[Sequence[str], ...], finish: str) -> str:
        """The notes of a task: read, written whole, or ended."""
        pad = self._memory.scratchpad(task, project=self.project)
        plan, facts, questions = lists
        if finish:
            if goal or any(lists):
                raise BadInput("`finish` ends the scratchpad as it stands; write first, and finish with the next call.")
            kept = await pad.finish(finish)
            many = "1 memory is" if len(kept) == 1 else f"{len(kept)} memories are"
            return f"Ended; {many} kept of it." if kept else "There is no scratchpad of this task."
        if goal or any(lists):
            return _pad(await pad.write(goal=goal, plan=plan, facts=facts, questions=questions))
        there = await pad.read()
        return _pad(there) if there else "Nothing is written on it yet."

    async def dispute(self, id: str, reason: str) -> str:
        """What became of a dispute."""
        named = id.strip("[] ")
        done = await self._memory.dispute(named, reason, project=self.project)
        if isinstance(done, Remembered):
            return f"{named}: {done.did}. {done.reason}"
        return f"{named} is shown as disputed from now on, and is written again from its sources."


def _arguments(text: str) -> Mapping[str, object]:
    """The arguments that are meant: JSON, or else a command."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError):
        return {"command": text}


def _found(each: Recalled) -> str:
    """One line for what was found: what is said against it belongs to it."""
    against = f" ({each.against[0]})" if each.against else ""
    doubt = f", {each.state}" if each.state != "active" else ", to be reconsidered" if each.stale else ""
    when = f", {each.at:%Y-%m-%d}" if each.at else ""
    return f"[{each.id[:SHORT]}] {each.kind}{doubt}{when}: {_line(each.text + against)}"


def _listed(lines: Sequence[str], shown: int) -> str:
    left = [f"({len(lines) - shown} more have no room; raise `budget` for them.)"] if shown < len(lines) else []
    return recalled("\n".join([*lines[:shown], *left]))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1].rstrip()}…"


def _page(text: str, start: int, id: str) -> str:
    """So much of a text as one answer holds, and where it goes on."""
    page = text[start : start + PAGE_CHARACTERS]
    if not page:
        raise BadInput(f"{id} has {len(text):,} characters; begin before that.")
    end = start + len(page)
    more = f"\n\n({len(text) - end:,} characters more: expand {id} with start={end})" if end < len(text) else ""
    return page + more


def _pad(pad: Pad) -> str:
    lines = [f"# {pad.task}", *([f"Goal: {pad.goal}"] if pad.goal else [])]
    lines += [f"- [{'x' if item.done else ' '}] {item.text}" for item in pad.plan]
    lines += [f"Fact: {fact}" for fact in pad.facts]
    lines += [f"Open: {question}" for question in pad.questions]
    return "\n".join(lines)
