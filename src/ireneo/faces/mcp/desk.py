"""What the tools answer: short texts, each saying what opens the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.mcp.opened import SHORT, recalled, remembered, told
from ireneo.types import Remembered

if TYPE_CHECKING:
    from ireneo.types import Kind, Pad

LINE_CHARACTERS = 240
"""What one line of a list shows of a text."""
PAGE_CHARACTERS = 12_000
"""What one answer brings into a context, about 3,000 tokens."""


class Desk:
    """Answers for one memory."""

    def __init__(self, memory: ireneo.Memory, project: str = "") -> None:
        """`project` is where the agent works, so that lessons of other projects keep quiet."""
        self._memory = memory
        self._project = project

    async def brief(self, goal: str, task_type: str, about_to: str, budget: int) -> str:
        """The brief of a task."""
        made = await self._memory.brief(
            goal=goal, task_type=task_type, about_to=about_to, budget=budget, project=self._project
        )
        return made.markdown or "Nothing is known yet that speaks to this task."

    async def recall(self, question: str, kind: Kind | None, limit: int) -> str:
        """A list of what was found, a line each."""
        found = await self._memory.recall(question, kind=kind, limit=limit)
        lines = [
            f"[{each.id[:SHORT]}] {each.kind}{f', {each.at:%Y-%m-%d}' if each.at else ''}: {_line(each.text)}"
            for each in found
        ]
        return recalled("\n".join(lines)) if lines else "Nothing answers to that."

    async def remember(self, text: str, kind: Kind | None, task_type: str) -> str:
        """What became of a text that was to be remembered."""
        if kind is None:
            done = await self._memory.remember(text, origin="agent", task_type=task_type)
        else:
            done = await self._memory.remember(text, origin="agent", task_type=task_type, kind=kind)
        return f"{done.did} [{done.record.id[:SHORT]}] as {done.record.kind}: {done.reason}"

    async def check(self, tool: str, arguments: Mapping[str, object] | str, session: str) -> str:
        """Whether a call has failed before."""
        given = _arguments(arguments) if isinstance(arguments, str) else arguments
        found = await self._memory.check(tool, given, session=session or None, project=self._project)
        return recalled(found.markdown) if found else "Nothing speaks against it."

    async def expand(self, id: str, start: int) -> str:
        """What an id names, from a character on."""
        named = id.strip("[] ")
        opened = await self._memory.open_id(named)
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
        pad = self._memory.scratchpad(task)
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
        done = await self._memory.dispute(named, reason)
        if isinstance(done, Remembered):
            return f"{named}: {done.did}. {done.reason}"
        return f"{named} is shown as disputed from now on, and is written again from its sources."


def _arguments(text: str) -> Mapping[str, object]:
    """The arguments that are meant: JSON, or else a command."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError):
        return {"command": text}


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
