"""The scratchpad: the working state of the current task, rewritten whole, limited in size, and gone with the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.message import PAD_TAG, escape_tags, tagged_block

PAD_TOKENS = 300
"""The maximum number of tokens of a scratchpad."""
MAX_TASK = 200
"""The maximum number of characters of a task's name."""
_DONE, _OPEN = "- [x] ", "- [ ] "
_BOXES = {"[x]": True, "[X]": True, "[ ]": False}

Count = Callable[[str], int]
"""Counts the tokens of a text."""


class PlanStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a plan."""

    text: str
    done: bool = False


class Pad(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The current knowledge about a task."""

    task: str
    """The name of the task; there is one scratchpad for each."""
    goal: str = ""
    plan: tuple[PlanStep, ...] = ()
    facts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    """The open questions."""
    written: datetime
    project: str = ""
    """The project in which it was written, if given."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written on it."""
        return not (self.goal or self.plan or self.facts or self.questions)


def check_task(task: str) -> str:
    """Strip the name of a task. Raises BadInput if it is empty or too long."""
    name = task.strip()
    if not name or len(name) > MAX_TASK or "\n" in name:
        raise BadInput(f"Name the task in one line of at most {MAX_TASK} characters, not {name[:40]!r}.")
    return name


def to_plan_step(given: PlanStep | str) -> PlanStep:
    """Convert a caller's step of a plan: a `PlanStep`, or its words, after ``[x]`` or ``[ ]`` if given."""
    if isinstance(given, PlanStep):
        return PlanStep(text=_one_line(given.text), done=given.done)
    words = _one_line(given).removeprefix("- ").strip()
    done = _BOXES.get(words[:3])
    return PlanStep(text=words) if done is None else PlanStep(text=words[3:].strip(), done=done)


def validate_pad(pad: Pad, count: Count) -> Pad:
    """`pad` with each part trimmed, each item in one line and empty ones left out. Raises BadInput beyond the limit."""
    trimmed = replace(
        pad,
        task=check_task(pad.task),
        goal=_one_line(pad.goal),
        plan=tuple(each for each in map(to_plan_step, pad.plan) if each.text),
        facts=tuple(filter(None, map(_one_line, pad.facts))),
        questions=tuple(filter(None, map(_one_line, pad.questions))),
    )
    tokens = count(pad_text(trimmed))
    if tokens > PAD_TOKENS:
        costs = {name: count("\n".join(lines)) for name, lines in _pad_parts(trimmed).items()}
        largest = max(costs, key=lambda name: costs[name])
        raise BadInput(
            f"The scratchpad costs {tokens:,} tokens, {tokens - PAD_TOKENS:,} over its cap of {PAD_TOKENS}; "
            f"its largest part is the {largest} with {costs[largest]:,}: shorten that."
        )
    return trimmed


def pad_text(pad: Pad) -> str:
    """Render it as Markdown, without empty parts."""
    return "\n".join(line for lines in _pad_parts(pad).values() for line in lines)


def fit_pad(pad: Pad, room: int, count: Count) -> list[str]:
    """Its lines within `room` tokens; the least important are left out first, with a note of how many.

    Completed steps go first, then facts and questions, the oldest of each; the goal and the open steps stay longest.
    Empty if there is no room for anything.
    """
    left_out = 0
    shorter = pad
    while not shorter.is_empty:
        lines = pad_text(shorter).splitlines()
        if left_out:
            lines.append(f"({left_out} more {'line has' if left_out == 1 else 'lines have'} no room here.)")
        if count("\n".join(lines)) <= room:
            return lines
        shorter, left_out = _drop_least_important(shorter), left_out + 1
    return []


def pad_block(pad: Pad, room: int, count: Count) -> str:
    """Render it as a block for a context, within `room` tokens; empty if there is no room for anything."""
    frame = count(tagged_block(PAD_TAG, ())) + 1
    while room > frame and (lines := fit_pad(pad, room - frame, count)):
        text = tagged_block(PAD_TAG, lines)
        if (over := count(text) - room) <= 0:
            return text
        # Lines cost a little more together than alone.
        frame += over
    return ""


def _pad_parts(pad: Pad) -> dict[str, list[str]]:
    """The lines of each non-empty part, by its name."""
    plan = [f"{_DONE if each.done else _OPEN}{escape_tags(each.text)}" for each in pad.plan]
    facts = [f"- {escape_tags(fact)}" for fact in pad.facts]
    questions = [f"- {escape_tags(question)}" for question in pad.questions]
    parts = {
        "goal": [f"Goal: {escape_tags(pad.goal)}"] if pad.goal else [],
        "plan": ["Plan:", *plan] if plan else [],
        "facts": ["Facts:", *facts] if facts else [],
        "open questions": ["Open questions:", *questions] if questions else [],
    }
    return {name: lines for name, lines in parts.items() if lines}


def _drop_least_important(pad: Pad) -> Pad:
    done = next((place for place, each in enumerate(pad.plan) if each.done), None)
    if done is not None:
        return replace(pad, plan=pad.plan[:done] + pad.plan[done + 1 :])
    if pad.facts:
        return replace(pad, facts=pad.facts[1:])
    if pad.questions:
        return replace(pad, questions=pad.questions[1:])
    if pad.plan:
        return replace(pad, plan=pad.plan[:-1])
    return replace(pad, goal="")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def to_plan_steps(given: Sequence[PlanStep | str]) -> tuple[PlanStep, ...]:
    """Convert a caller's plan to its steps."""
    return tuple(to_plan_step(each) for each in given)
