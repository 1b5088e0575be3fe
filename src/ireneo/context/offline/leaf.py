"""Write the summary of a stretch of one turn from its messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ireneo.context.actions import CHANGES
from ireneo.context.offline.dead_ends import dead_ends, worked
from ireneo.context.offline.errors import error_line
from ireneo.context.offline.names import SAID, SEEN, WRITTEN, Tally
from ireneo.context.offline.prose import clip, finding_score, is_intent, sentences
from ireneo.context.offline.steps import Step, steps
from ireneo.context.summary import Line, Section, SectionName
from ireneo.context.weigh import strings
from ireneo.log.echo import as_said, without_recalled
from ireneo.log.message import Message

MIN_WORDS = 7
MAX_SENTENCES = 14
"""Sentences of the agent's prose that one stretch keeps, over all its sections."""


def write_leaf(messages: Sequence[Message], goal: str, *, ends_turn: bool) -> tuple[Section, ...]:
    """Write the sections of a turn summary for `messages`, which stand in a turn that was opened with `goal`.

    `ends_turn` says that the turn is over with them, so that the last words are an answer and the last outcome
    is the turn's.
    """
    messages, goal = as_said(messages), without_recalled(goal)
    done = steps(messages)
    told = _prose(messages, ends_turn=ends_turn)
    sections: list[tuple[SectionName, list[Line]]] = [
        ("goal", [Line(text=clip(" ".join(goal.split()), 400))] if goal.strip() else []),
        ("strategy", told["strategy"]),
        ("operations", _operations(done, changed=False)),
        ("discoveries", told["discoveries"]),
        ("dead_ends", dead_ends(done)),
        ("worked", worked(done) + told["worked"]),
        ("artifacts", [*_operations(done, changed=True), *_spoken_of(messages)]),
        ("status", [_status(messages, done, ends_turn=ends_turn)]),
    ]
    return tuple(Section(name=name, lines=tuple(lines)) for name, lines in sections if lines)


def _operations(done: Sequence[Step], *, changed: bool) -> list[Line]:
    """One line for each thing that something was done to: files that were `changed`, or all the rest."""
    groups: dict[str, list[Step]] = {}
    for step in done:
        groups.setdefault(step.action.subject, []).append(step)
    lines: list[Line] = []
    for subject, group in groups.items():
        writes = any(step.action.deed in CHANGES for step in group)
        if writes == changed:
            lines.append(_operation(subject, group))
    return lines


def _operation(subject: str, group: Sequence[Step]) -> Line:
    verbs: dict[str, int] = {}
    tally = Tally()
    for step in group:
        verbs[_verb(step)] = verbs.get(_verb(step), 0) + 1
        tally.add(_written(step), WRITTEN[step.action.deed])
        tally.add(step.output, SEEN)
    outcome = _outcome(group[-1])
    return Line(
        text=outcome,
        shell=group[-1].action.shell,
        failed=group[-1].failed,
        verbs=tuple(verbs.items()),
        subject=subject,
        names=tally.mentions(without=f"{subject} {outcome}"),
        position=group[-1].position,
        sources=tuple(dict.fromkeys(source for step in group[-3:] for source in step.sources)),
    )


def _verb(step: Step) -> str:
    deed = step.action.deed
    return step.call.name if deed == "use" else deed


def _written(step: Step) -> str:
    """What the agent wrote in a call, as JSON writes it: the values, not the names that the tool gave its arguments."""
    arguments = step.call.arguments
    if isinstance(arguments, str):
        return arguments
    return "\n".join(json.dumps(text, ensure_ascii=False) for text in strings(arguments))


def _outcome(step: Step) -> str:
    """What came of the last time: the error, or a short output as it was."""
    if step.result is None:
        return "no result yet"
    if step.failed:
        return step.error or "failed"
    if step.action.deed in ("run", "check", "save", "use"):
        lines = [line for raw in step.output.splitlines() if (line := raw.strip("=- \t"))]
        if not lines:
            return "ok"
        passed = next((line for line in reversed(lines) if "pass" in line.lower() or line.startswith("ok")), "")
        return clip(" ".join((passed or lines[0] if len(lines) > 3 else "; ".join(lines)).split()), 120)
    return ""


def _spoken_of(messages: Sequence[Message]) -> list[Line]:
    """The names in the agent's prose, for where there is no room for its sentences."""
    tally = Tally()
    said = [message for message in messages if message.role == "assistant" and message.draft.origin == "spoken"]
    for message in said:
        tally.add(message.text, SAID)
    names = tally.mentions()
    if not names:
        return []
    return [Line(text="I also spoke of", names=names, position=said[-1].position, sources=(said[-1].id,))]


def _prose(messages: Sequence[Message], *, ends_turn: bool) -> dict[str, list[Line]]:
    """Sort the agent's sentences: what it set out to do, what it found, and what it said when it was done."""
    out: dict[str, list[Line]] = {"strategy": [], "discoveries": [], "worked": []}
    last = len(messages) - 1
    for place, message in enumerate(messages):
        if message.role != "assistant" or message.draft.origin != "spoken":
            continue
        closing = ends_turn and place == last and not message.draft.calls
        for number, sentence in enumerate(sentences(message.text)):
            tally = Tally()
            tally.add(sentence, SAID)
            named = sum(mention.weight for mention in tally.mentions())
            score = 1.0 + finding_score(sentence) + min(named, 30.0) / 10
            line = Line(text=sentence, weight=score, position=message.position, sources=(message.id,))
            if closing:
                # Of a list of catchwords only those that name something can be found again.
                if not named and len(sentence.split()) < MIN_WORDS:
                    continue
                out["worked"].append(line)
            elif is_intent(sentence):
                if number == 0 and not out["strategy"]:
                    out["strategy"].append(line)
            elif finding_score(sentence) or named:
                out["discoveries"].append(line)
    return {name: _best(lines) for name, lines in out.items()}


def _best(lines: list[Line]) -> list[Line]:
    """The weightiest lines, in the order in which they were said."""
    kept = sorted(lines, key=lambda line: -line.weight)[:MAX_SENTENCES]
    return sorted(kept, key=lambda line: (line.position, lines.index(line)))


def _status(messages: Sequence[Message], done: Sequence[Step], *, ends_turn: bool) -> Line:
    """COMPLETE, PARTIAL or BLOCKED, from the last outcomes alone."""
    last = messages[-1]
    ran = next((step for step in reversed(done) if step.action.deed in ("check", "run", "save")), None)
    failed = (
        f" — {clip(ran.action.subject, 80)} failed last: {error_line(ran.output, 120)}" if ran and ran.failed else ""
    )
    if not ends_turn:
        text = f"PARTIAL{failed}"
    elif failed:
        text = f"BLOCKED{failed}"
    elif last.role == "assistant" and not last.draft.calls:
        text = "COMPLETE" if not done else f"COMPLETE — {_closing(done)}"
    else:
        text = "PARTIAL — the turn ended without an answer."
    return Line(text=text, position=last.position, sources=(last.id,))


def _closing(done: Sequence[Step]) -> str:
    check = next((step for step in reversed(done) if step.action.deed == "check" and step.result), None)
    if check is None:
        return "(not verified)"
    return f"{clip(check.action.subject, 80)} passed" if check.result and not check.failed else "(not verified)"
