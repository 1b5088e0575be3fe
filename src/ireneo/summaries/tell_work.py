"""The summaries of an agent's work that need no model: read from calls, outcomes and the agent's own sentences."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.grounding.claims import artifacts
from ireneo.log.message import Message, as_said, is_own_block, strings, without_recalled
from ireneo.patterns import lazy_re
from ireneo.summaries.pins import MAX_PINS, find_lifts, find_pins, standing
from ireneo.summaries.steps import (
    CHANGES,
    ActionKind,
    Step,
    clip,
    error_line,
    finding_score,
    is_environment,
    is_intent,
    sentences,
    signature,
    steps,
)
from ireneo.summaries.summary import Line, Mention, Section, SectionName, Summary

WRITTEN: dict[ActionKind, float] = {
    "read": 16.0,
    "edit": 12.0,
    "write": 14.0,
    "plan": 20.0,
    "run": 10.0,
    "check": 10.0,
    "save": 10.0,
    "search": 5.0,
    "fetch": 8.0,
    "ask": 8.0,
    "use": 8.0,
}
"""What a name is worth that the agent wrote in a call of this kind: 12 stands for one chance in six that the agent
writes it again. Counted over logs of coding agents, one name in six that an agent wrote in an edit came again, one in
four of the files that it opened, one in fourteen of what it searched for, and one in eighty of what it only saw."""
LEAST_WRITTEN = min(WRITTEN.values())
SUBJECT = 16.0
"""The file or the command itself."""
SAID = 9.0
"""A name in the agent's prose."""
SEEN = 1.0
"""A name in an output."""
SEEN_JUST_NOW = 6.0
"""A name in the newest output is so many times as likely to be used as one in the average output."""
FADING = 0.27
"""What the agent wrote falls in worth with the number of messages since, to this negative power: slowly."""
SEEN_FADING = 0.65
"""What it only saw falls faster: either it is used soon, or hardly ever."""
LINE_START = 2.0
"""A name that begins a line of what the agent wrote is so many times likelier to be written again."""
AGAIN = 0.1
"""Each further use adds this share of its weight: a name that is used eight times is needed half as often again, not
eight times as often."""
MAX_NAMES = 200
"""Names that one line keeps: those of a whole file that the agent wrote, and of a list the likeliest."""


class NameTally:
    """Adds up the weights of names over the texts of one line."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}

    def add(self, text: str, weight: float) -> None:
        """Count every artifact of `text`."""
        for name in artifacts(text):
            worth = weight * LINE_START if name[0] == "\\" and weight > SEEN else weight
            self._weights[name] = both(self._weights.get(name, 0.0), worth)

    def mentions(self, *, without: str = "", limit: int = MAX_NAMES) -> tuple[Mention, ...]:
        """The names by weight, those that stand in `without` left out."""
        ranked = sorted(self._weights.items(), key=lambda item: -item[1])
        return tuple(Mention(name, round(weight, 2)) for name, weight in ranked if name not in without)[:limit]


def both(one: float, other: float) -> float:
    """The weight of a name that has these two uses."""
    return max(one, other) + AGAIN * min(one, other)


def merged(groups: Iterable[Iterable[Mention]], limit: int = MAX_NAMES) -> tuple[Mention, ...]:
    """Put the names of several lines together; a name that stands in several counts for more."""
    weights: dict[str, float] = {}
    for group in groups:
        for mention in group:
            weights[mention.name] = both(weights.get(mention.name, 0.0), mention.weight)
    return ranked(weights)[:limit]


def ranked(weights: Mapping[str, float]) -> tuple[Mention, ...]:
    """Mentions by weight; equal weights keep the order in which they came."""
    return tuple(Mention(name, round(weight, 2)) for name, weight in sorted(weights.items(), key=lambda item: -item[1]))


def faded(weights: Iterable[float], age: int) -> list[float]:
    """What names of these weights are worth, `age` messages after their last use."""
    of_written, of_seen = math.pow(1.0 + age, -FADING), math.pow(1.0 + age, -SEEN_FADING)
    return [weight * of_written if weight >= LEAST_WRITTEN else weight * SEEN_JUST_NOW * of_seen for weight in weights]


_UNDO = lazy_re(
    r"\bgit (?:checkout (?:--? |\S+ -- |\.)|checkout [\w./-]+\.\w+|restore |revert |reset --hard"
    r"|stash\b(?! (?:pop|apply|list)))"
)
_REMOVE = lazy_re(r"\b(?:git )?rm (?:-\S+ )*(?P<paths>[^&|;]+)")
_REASON = lazy_re(r"(?:user said|provided the following reason[^:]{0,200}|reason):\s*(.+)", re.IGNORECASE | re.DOTALL)


def dead_ends(steps: Sequence[Step]) -> list[Line]:
    """Say what was tried and given up in `steps`, once for each approach, in order."""
    out: dict[str, Line] = {}
    for place in range(len(steps)):
        line = _failed(steps, place) or _undone(steps, place)
        if line is None:
            continue
        earlier = out.get(line.subject)
        out[line.subject] = _tried_again(earlier, line) if earlier else line
    return list(out.values())


def worked(steps: Sequence[Step]) -> list[Line]:
    """Say which failures were got over, and by what."""
    out: dict[str, Line] = {}
    for place, step in enumerate(steps):
        if not step.failed_itself:
            continue
        success = _same_later(steps, place)
        if success is None:
            continue
        between = _changed(steps[place:success])
        how = f" after I changed {', '.join(between[:3])}" if between else " when I tried it again"
        out[key(step)] = Line(
            text=f"{_named(step)} failed ({step.error or 'no reason given'}) and passed{how}.",
            subject=key(step),
            position=steps[success].position,
            sources=step.sources + steps[success].sources,
        )
    return list(out.values())


def key(step: Step) -> str:
    """The name of an approach: the kind of action and what it was done to, without numbers and places."""
    return approach(step.action.kind, step.action.subject)


def approach(kind: str, subject: str) -> str:
    """The name of an approach, from the kind of action and its subject."""
    return f"{kind} {subject if kind in CHANGES else signature(subject)}"


def succeeded(operations: Iterable[Line]) -> dict[str, int]:
    """Where each approach succeeded last, as `operations` tell."""
    out: dict[str, int] = {}
    for line in operations:
        if not line.failed:
            for verb, _ in line.verbs:
                name = approach(verb, line.subject)
                out[name] = max(out.get(name, -1), line.position)
    return out


def overturned(dead_end: Line, succeeded: Mapping[str, int]) -> bool:
    """Whether the approach succeeded after it was given up."""
    return succeeded.get(dead_end.subject, -1) > dead_end.position


def _failed(steps: Sequence[Step], place: int) -> Line | None:
    """A call that failed and did not succeed later: given up, and perhaps replaced by another way."""
    step = steps[place]
    if not (step.failed_itself or step.rejected) or _same_later(steps, place) is not None:
        return None
    if place == len(steps) - 1 and not step.rejected:
        return None  # Nothing came after it yet: it is where the work stands, not what was given up.
    if step.rejected:
        return _line(step, f"I tried {_named(step)} — abandoned because the user said no{_said(step)}.")
    if step.action.kind == "check" and not is_environment(step.error):
        return None  # A test that fails is what tests are for; given up is only what couldn't be run at all.
    instead = next((s for s in steps[place + 1 : place + 6] if _replaces(s, step)), None)
    tail = f"; {_named(instead)} worked instead" if instead else ""
    reason = (step.error or "it failed").rstrip(".")
    return _line(step, f"I tried {_named(step)} — abandoned because {reason}{tail}.")


def put_back(steps: Sequence[Step], place: int) -> int | None:
    """The place of the later edit that takes back the edit at `place`; None where none does."""
    step = steps[place]
    action = step.action
    if action.kind not in CHANGES or not action.removed.strip() or step.failed or not _core(action.added):
        return None
    for at in range(place + 1, len(steps)):
        later, other = steps[at], steps[at].action
        back = other.subject == action.subject and not later.failed and _core(other.added) == _core(action.removed)
        if back and _core(action.added) in _core(other.removed):
            return at
    return None


def thrown_away(steps: Sequence[Step], place: int) -> list[str]:
    """The files whose changes the command at `place` takes back, by version control or by removing what was written."""
    step = steps[place]
    command = step.command
    if step.failed or not (_UNDO.search(command) or _REMOVE.search(command)):
        return []
    changed = _changed(steps[:place])
    lost = [path for path in changed if path.rsplit("/", 1)[-1] in command]
    if not lost and re.search(r"git (?:reset --hard|stash|checkout (?:-- )?\.)", command):
        return changed
    return lost


def _undone(steps: Sequence[Step], place: int) -> Line | None:
    """An edit that a later edit took back, or that version control threw away."""
    step = steps[place]
    later = put_back(steps, place)
    if later is None:
        return _thrown_away(steps, place)
    last = steps[later].position
    why = next((s.error for s in steps[place + 1 :] if s.failed_itself and s.position <= last), "")
    reason = f"{why}; I put it back" if why else "I put it back as it was"
    change = clip(_core(step.action.added), 100)
    text = f"I tried `{change}` in {step.action.subject} — abandoned because {reason}."
    # Other edits of the file are other approaches: this one is named by what it put there.
    return _line(step, text, subject=f"undo {step.action.subject} {change}")


def _thrown_away(steps: Sequence[Step], place: int) -> Line | None:
    step = steps[place]
    lost = thrown_away(steps, place)
    if not lost:
        return None
    why = next((s.error for s in reversed(steps[:place]) if s.failed_itself), "")
    told = next((sentence for sentence in sentences(step.said) if finding_score(sentence)), "")
    reason = (told or why or "I took it back").rstrip(".")
    files = ", ".join(lost[-3:])
    return _line(
        step, f"I tried changing {files} — abandoned because {reason}; I took it back.", subject=f"undo {files}"
    )


def _same_later(steps: Sequence[Step], place: int) -> int | None:
    """The place of the first later step that does the same and does not fail."""
    wanted = key(steps[place])
    for later in range(place + 1, len(steps)):
        step = steps[later]
        if key(step) == wanted and step.result is not None and not step.failed:
            return later
    return None


def _replaces(candidate: Step, failed: Step) -> bool:
    """Whether `candidate` is another way to the same end: the same kind of action, and it went well."""
    alike = candidate.action.kind == failed.action.kind or candidate.call.name == failed.call.name
    return alike and candidate.result is not None and not candidate.failed and key(candidate) != key(failed)


def _changed(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(s.action.subject for s in steps if s.action.kind in CHANGES and not s.failed))


def _named(step: Step) -> str:
    subject = clip(step.action.subject, 120)
    if step.action.shell:
        return f"`{subject}`"
    doing = {"read": "reading", "edit": "editing", "write": "writing", "search": "searching for", "fetch": "fetching"}
    return f"{doing.get(step.action.kind, 'using')} {subject}"


def said_in_refusal(step: Step) -> str:
    """What the user said when refusing a call, on one line; empty where nothing was said."""
    found = _REASON.search(step.output)
    return clip(" ".join(found[1].split()), 160) if found else ""


def _said(step: Step) -> str:
    said = said_in_refusal(step)
    return f": “{said}”" if said else ""


def _line(step: Step, text: str, subject: str = "") -> Line:
    return Line(text=text, subject=subject or key(step), position=step.position, sources=step.sources)


def _tried_again(earlier: Line, line: Line) -> Line:
    """The same approach given up again: it counts, and the newest reason stands."""
    times = earlier.verbs[0][1] + 1 if earlier.verbs else 2
    return Line(
        text=line.text,
        verbs=(("tried", times),),
        subject=line.subject,
        weight=earlier.weight + 1,
        position=line.position,
        sources=earlier.sources + line.sources,
    )


def _core(text: str) -> str:
    return " ".join(text.split())


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
        writes = any(step.action.kind in CHANGES for step in group)
        if writes == changed:
            lines.append(_operation(subject, group))
    return lines


def _operation(subject: str, group: Sequence[Step]) -> Line:
    verbs: dict[str, int] = {}
    tally = NameTally()
    for step in group:
        verbs[_verb(step)] = verbs.get(_verb(step), 0) + 1
        tally.add(_written(step), WRITTEN[step.action.kind])
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
    kind = step.action.kind
    return step.call.name if kind == "use" else kind


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
    if step.action.kind in ("run", "check", "save", "use"):
        lines = [line for raw in step.output.splitlines() if (line := raw.strip("=- \t"))]
        if not lines:
            return "ok"
        passed = next((line for line in reversed(lines) if "pass" in line.lower() or line.startswith("ok")), "")
        return clip(" ".join((passed or lines[0] if len(lines) > 3 else "; ".join(lines)).split()), 120)
    return ""


def _spoken_of(messages: Sequence[Message]) -> list[Line]:
    """The names in the agent's prose, for where there is no room for its sentences."""
    tally = NameTally()
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
            tally = NameTally()
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
    ran = next((step for step in reversed(done) if step.action.kind in ("check", "run", "save")), None)
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
    check = next((step for step in reversed(done) if step.action.kind == "check" and step.result), None)
    if check is None:
        return "(not verified)"
    return f"{clip(check.action.subject, 80)} passed" if check.result and not check.failed else "(not verified)"


_RUNS = frozenset({"check", "run", "save"})
LIMITS: dict[SectionName, int] = {
    "goal": 1,
    "direction": 24,
    "strategy": 4,
    "operations": 40,
    "discoveries": 20,
    "achieved": 12,
    "dead_ends": 16,
    "worked": 12,
    "constraints": MAX_PINS,
    "lifted": 24,
    "artifacts": 48,
    "status": 1,
}
"""Lines that one record keeps of a section, so that a record is bounded however much it covers."""
OTHER_LIMIT = 24
"""Of a section that is none of ours, which a strategy of somebody else's wrote."""


def write_turn_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent summaries of one turn."""
    return _sections(
        {
            **_others(children),
            "goal": _gather(children, "goal")[:1],
            "strategy": _first_of_each(_gather(children, "strategy")),
            "operations": _by_subject(_gather(children, "operations")),
            "discoveries": _gather(children, "discoveries"),
            "dead_ends": _still_dead(children),
            "worked": _gather(children, "worked"),
            "artifacts": _by_subject(_gather(children, "artifacts")),
            "status": _last_status(children),
        }
    )


def write_goal_batch(parts: Sequence[Summary | Message]) -> tuple[Section, ...]:
    """Write the sections of a goal batch over complete turns: their user messages, and the summaries of their work."""
    work = [part for part in parts if isinstance(part, Summary)]
    messages = as_said(part for part in parts if not isinstance(part, Summary))
    spoken = [message for message in messages if message.role == "user" and message.draft.origin == "spoken"]
    carried = [message for message in messages if is_own_block(message.draft)]
    asked = [_direction(message) for message in spoken if message.text.strip()]
    lifts = _in_order([*_gather(work, "lifted"), *(line for message in messages for line in find_lifts(message))])
    pins = [*_gather(work, "constraints"), *(line for message in messages for line in find_pins(message))]
    return _sections(
        {
            **_others(work),
            "goal": _arc(asked, work),
            "direction": asked,
            "achieved": _achieved(work),
            "dead_ends": [*(line for message in carried for line in _carried_dead_ends(message)), *_still_dead(work)],
            "constraints": standing(pins, lifts),
            "lifted": lifts,
            "artifacts": [
                *(_carried_names(message) for message in carried),
                *_by_subject(_gather(work, "artifacts") + _gather(work, "operations")),
            ],
            "discoveries": _gather(work, "discoveries") + _gather(work, "strategy"),
            "status": _gather(work[-1:], "status"),
        }
    )


def write_goal_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a batch of adjacent goal batches."""
    names: tuple[SectionName, ...] = ("direction", "achieved", "lifted", "discoveries")
    kept: dict[SectionName, list[Line]] = {**_others(children), **{name: _gather(children, name) for name in names}}
    kept["goal"] = _arc(kept["direction"], children)
    kept["constraints"] = standing(_gather(children, "constraints"), kept["lifted"])
    kept["dead_ends"] = _still_dead(children)
    kept["artifacts"] = _by_subject(_gather(children, "artifacts"))
    kept["status"] = _gather(children[-1:], "status")
    return _sections(kept)


def _sections(lines: dict[SectionName, list[Line]]) -> tuple[Section, ...]:
    """Cap each section to its weightiest lines, in the order in which they came."""
    out: list[Section] = []
    for name in dict.fromkeys((*LIMITS, *lines)):
        given, most = lines.get(name, []), LIMITS.get(name, OTHER_LIMIT)
        if len(given) > most:
            best = sorted(range(len(given)), key=lambda place: -_worth(given[place]))[:most]
            given = [given[place] for place in sorted(best)]
        if given:
            out.append(Section(name=name, lines=tuple(given)))
    return tuple(out)


def _worth(line: Line) -> float:
    return line.weight + sum(mention.weight for mention in line.names[:12])


def _gather(children: Iterable[Summary], name: SectionName) -> list[Line]:
    return [line for child in children for line in child.lines(name)]


def _others(children: Iterable[Summary]) -> dict[SectionName, list[Line]]:
    """The lines of the sections that are none of ours."""
    out: dict[SectionName, list[Line]] = {}
    for child in children:
        for section in child.sections:
            if section.name not in LIMITS:
                out.setdefault(section.name, []).extend(section.lines)
    return out


def _in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line.position)


def _by_subject(lines: Iterable[Line]) -> list[Line]:
    """Put the lines about one file or command together: the newest outcome stands, the actions and names add up."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.subject, []).append(line)
    joined = [group[0] if len(group) == 1 else _joined(group) for group in groups.values()]
    return sorted(joined, key=lambda line: line.position)


def _joined(group: Sequence[Line]) -> Line:
    newest = max(group, key=lambda line: line.position)
    verbs: dict[str, int] = {}
    for line in group:
        for verb, times in line.verbs:
            verbs[verb] = verbs.get(verb, 0) + times
    return Line(
        text=newest.text,
        shell=newest.shell,
        failed=newest.failed,
        verbs=tuple(verbs.items()),
        subject=newest.subject,
        names=merged(line.names for line in group),
        weight=max(line.weight for line in group),
        position=newest.position,
        sources=tuple(dict.fromkeys(source for line in group for source in line.sources))[-6:],
    )


def _still_dead(children: Sequence[Summary]) -> list[Line]:
    """The dead ends that no later success overturned; one that was met again stands once, with its count."""
    got_over = {line.subject: line.position for line in _gather(children, "worked") if line.subject}
    done = succeeded([*_gather(children, "operations"), *_gather(children, "artifacts")])
    out: dict[str, Line] = {}
    for line in _gather(children, "dead_ends"):
        if got_over.get(line.subject, -1) > line.position or overturned(line, done):
            continue
        earlier = out.get(line.subject)
        if earlier is not None:
            times = sum(dict(each.verbs).get("tried", 1) for each in (earlier, line))
            line = _again(line, times, earlier)
        out[line.subject] = line
    return list(out.values())


def _last_status(children: Sequence[Summary]) -> list[Line]:
    """The last status; where it is that of a last word that did nothing more, by what was run before it."""
    told = _gather(children[-1:], "status")
    if not told or told[0].text != "COMPLETE":
        return told
    done = [line for line in _gather(children, "operations") if _RUNS & {verb for verb, _ in line.verbs}]
    last = max(done, key=lambda line: line.position, default=None)
    checks = [line for line in done if "check" in dict(line.verbs)]
    if last is not None and last.failed:
        text = f"BLOCKED — {clip(last.subject, 80)} failed last: {clip(last.text, 120)}"
    elif checks and not checks[-1].failed:
        text = f"COMPLETE — {clip(checks[-1].subject, 80)} passed"
    else:
        text = "COMPLETE — (not verified)"
    return [replace(told[0], text=text)]


def _again(line: Line, times: int, earlier: Line) -> Line:
    return Line(
        text=line.text,
        verbs=(("tried", times),),
        subject=line.subject,
        weight=line.weight + earlier.weight,
        position=line.position,
        sources=(earlier.sources + line.sources)[-6:],
    )


def _first_of_each(lines: Sequence[Line]) -> list[Line]:
    return list({line.text: line for line in lines}.values())


def _direction(message: Message) -> Line:
    """What the user said, in the user's own words."""
    text = " ".join(message.text.split())
    return Line(text=clip(text, 480), position=message.position, sources=(message.id,), weight=2.0)


def _carried_dead_ends(message: Message) -> list[Line]:
    """The dead ends that a block of ours told, in a list that was cut before: all that is left of them."""
    told = [line.removeprefix("- ") for line in message.text.splitlines() if line.startswith("- I tried")]
    return [Line(text=text, subject=text, position=message.position, sources=(message.id,)) for text in told]


def _carried_names(message: Message) -> Line:
    tally = NameTally()
    tally.add(message.text, SAID)
    return Line(text="My earlier notes named", names=tally.mentions(), position=message.position, sources=(message.id,))


def _arc(asked: Sequence[Line], work: Sequence[Summary]) -> list[Line]:
    """From the first request to the last, and how it ended."""
    if not asked:
        return [line for child in work[:1] for line in child.lines("goal")]
    ended = [line.text.split(" ")[0] for line in _gather(work[-1:], "status")]
    text = f"From “{clip(asked[0].text, 140)}”"
    if len(asked) > 1:
        text += f" to “{clip(asked[-1].text, 140)}”"
    return [Line(text=text + (f": {ended[0]}." if ended else "."), position=asked[-1].position)]


def _achieved(work: Sequence[Summary]) -> list[Line]:
    """What was said and shown to work: of each turn the weightiest statements."""
    out: list[Line] = []
    for child in work:
        strongest = sorted(child.lines("worked"), key=lambda line: -line.weight)[:3]
        out.extend(sorted(strongest, key=lambda line: line.position))
    return out
