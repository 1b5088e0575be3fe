"""Write a deeper summary from the ones under it: lines about one thing meet, counts add up, the least needed goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ireneo.context.offline.dead_ends import overturned, succeeded
from ireneo.context.offline.names import SAID, Tally, merged
from ireneo.context.offline.prose import clip
from ireneo.context.pins import MAX_PINS, find_lifts, find_pins, standing
from ireneo.context.summary import Line, Section, SectionName, Summary
from ireneo.log.echo import as_said
from ireneo.log.message import Message, is_own_block

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


def write_turn_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent summaries of one turn."""
    return _sections(
        {
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
    kept: dict[SectionName, list[Line]] = {name: _gather(children, name) for name in names}
    kept["goal"] = _arc(kept["direction"], children)
    kept["constraints"] = standing(_gather(children, "constraints"), kept["lifted"])
    kept["dead_ends"] = _still_dead(children)
    kept["artifacts"] = _by_subject(_gather(children, "artifacts"))
    kept["status"] = _gather(children[-1:], "status")
    return _sections(kept)


def _sections(lines: dict[SectionName, list[Line]]) -> tuple[Section, ...]:
    """Cap each section to its weightiest lines, in the order in which they came."""
    out: list[Section] = []
    for name in LIMITS:
        given = lines.get(name, [])
        if len(given) > LIMITS[name]:
            best = sorted(range(len(given)), key=lambda place: -_worth(given[place]))[: LIMITS[name]]
            given = [given[place] for place in sorted(best)]
        if given:
            out.append(Section(name=name, lines=tuple(given)))
    return tuple(out)


def _worth(line: Line) -> float:
    return line.weight + sum(mention.weight for mention in line.names[:12])


def _gather(children: Iterable[Summary], name: SectionName) -> list[Line]:
    return [line for child in children for line in child.lines(name)]


def _in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line.position)


def _by_subject(lines: Iterable[Line]) -> list[Line]:
    """Put the lines about one file or command together: the newest outcome stands, the deeds and names add up."""
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
    tally = Tally()
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
