"""Write the offline summaries of an agent's work: what was said, done and seen, as statements with their worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from ireneo.grounding.claims import artifacts
from ireneo.grounding.neutral import neutralise
from ireneo.language.files import LANGUAGES, either, from_data, of_language
from ireneo.language.topics import OwnWords
from ireneo.log.message import Message, as_said, is_own_block, strings, without_recalled
from ireneo.log.outcome import without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import (
    STATUS_SUBJECT,
    again,
    dead_ends,
    key,
    overturned,
    said_in_refusal,
    standing_state,
    state_lines,
    succeeded,
    thrown_away,
    worked,
)
from ireneo.summaries.pins import MAX_PINS, find_lifts, find_pins, standing
from ireneo.summaries.statements import (
    CodeStatement,
    asks,
    code,
    decides,
    defined,
    errors,
    merged,
    named,
    prose,
    prose_worth,
    seen_lines,
    shown_output,
    survives,
)
from ireneo.summaries.steps import CHANGES, ActionKind, Step, clip, error_line, short_path, steps
from ireneo.summaries.summary import QUOTED, Line, Mention, Section, SectionName, Summary

RULED = 10.0
"""What the user's words are worth."""
DETAIL = 5.0
"""What the further sentences of a long message of the user are worth, before what they say; in a document less."""
UNDER_WAY = "PARTIAL"
"""The status of a stretch that ends within a turn: by itself it says nothing, and is not shown."""
ASKED = 5.0
"""What the agent asked last."""
LEAST = 0.1
"""A statement that is worth less is not kept."""
SAID = 1.0
"""A sentence of the agent that is worth less neither."""
ANSWERED = 1.3
"""What the user approved by a short answer is worth so many times as much."""
BRIEF_ANSWER = 80
"""Characters up to which the user's words answer what was said before them, and say little by themselves."""
WRITTEN_PROSE = 0.3
"""Of what a sentence is worth, so much in a document that the agent wrote, where it can be read again."""
REPORTED = 0.8
"""In the report of another agent."""
READ_PROSE = 0.35
"""In a document that was only read."""
WRITTEN_CODE = 1.0
TESTS = 0.3
"""Of what code is worth, in a file of tests."""
READ_CODE = 0.15
"""Of what a passage of code is worth, where it was only read: at the least, and once more for each name that the agent
works with."""
WORD_CHARACTERS = 480
"""Of a message of the user, so much stands in its own words in one statement."""
MOST_SEEN = 64
"""Statements that one output leaves, the weightiest."""
PLAIN = 0.5
BARE = 0.3
"""Of that, a signature alone."""
TELLING = 2.0
"""A passage that is worth no more is told only where it has a name that the agent works with."""
_DOCUMENTS = (".md", ".txt", ".rst", ".adoc")

DEEDS: dict[ActionKind, str] = {
    "read": "read",
    "search": "searched for",
    "edit": "edited",
    "write": "wrote",
    "run": "ran",
    "check": "ran",
    "save": "ran",
    "plan": "planned",
    "fetch": "fetched",
    "ask": "asked",
}
ACTED = 0.5
"""What is told of a stretch of which nothing else can be."""
REFUSED = 5.0
"""A call that the user refused without a word."""
MOST_ACTS = 4
"""Acts of one kind that are named where nothing came of them that could be told."""
REMOVED = "removed `"
_WITHIN = lazy_re(r"(?:(?P<place>\w+): )?`(?P<code>[^`]*)")
_CLOSER = lazy_re(r"^\W*$")
UNTOLD: frozenset[SectionName] = frozenset({"goal", "state", "names", "status"})
"""Sections that tell nothing of what was done."""

LIMITS: dict[SectionName, int] = {
    "goal": 1,
    "direction": 40,
    "strategy": 40,
    "operations": 60,
    "discoveries": 120,
    "achieved": 60,
    "dead_ends": 30,
    "worked": 20,
    "constraints": MAX_PINS,
    "lifted": 24,
    "artifacts": 120,
    "open": 12,
    "state": 60,
    "names": 1,
    "status": 1,
}
"""Lines that one record keeps of a section, so that a record is bounded however much it covers."""
OTHER_LIMIT = 24
"""Of a section that is none of ours, which a strategy of somebody else's wrote."""


def write_leaf(messages: Sequence[Message], goal: str, *, ends_turn: bool) -> tuple[Section, ...]:
    """Write the sections of a turn summary for `messages`, which stand in a turn that was opened with `goal`.

    `ends_turn` says that the turn is over with them, so that the last words are an answer and the last outcome
    is the turn's.
    """
    messages, goal = as_said(messages), without_recalled(goal)
    done = steps(messages)
    said = _said(messages)
    known, given_up = _known(messages), dead_ends(done)
    told = _sections(
        {
            "goal": [Line(text=clip(" ".join(goal.split()), 400))] if goal.strip() else [],
            "direction": list(_answers(done)),
            "strategy": [*(line for line in said if decides(line.text)), *_offered(messages, ends_turn=ends_turn)],
            "discoveries": [
                *(line for line in said if not decides(line.text)),
                *_harmless(_reported(done)),
                *_harmless(_seen(done, known)),
            ],
            "operations": _harmless(_operations(messages, done, {line.subject for line in given_up})),
            "dead_ends": given_up,
            "worked": worked(done),
            "artifacts": list(_changes(done)),
            "open": _asked(messages, ends_turn=ends_turn),
            "state": state_lines(done),
            "names": _names_line(named(messages, done), messages),
            "status": [_status(messages, done, ends_turn=ends_turn)],
        }
    )
    if done and not any(section.name not in UNTOLD for section in told):
        return (Section(name="operations", lines=(_acts(done),)), *told)
    return told


def _acts(done: Sequence[Step]) -> Line:
    """What was done in a stretch of which nothing else can be told."""
    by_deed: dict[str, dict[str, None]] = {}
    for step in done:
        subject = clip(step.action.subject, 60)
        deed = DEEDS.get(step.action.kind, "used")
        by_deed.setdefault(deed, {})[f"`{subject}`" if step.action.shell else subject] = None
    told = [
        f"{deed} {', '.join(list(subjects)[:MOST_ACTS])}" + (" and others" if len(subjects) > MOST_ACTS else "")
        for deed, subjects in by_deed.items()
    ]
    return _line(done[-1], f"I {'; '.join(told)}.", ACTED)


def _harmless(lines: Iterable[Line]) -> list[Line]:
    """The lines from what came back, without those that are worded as an instruction to a model."""
    return [line for line in lines if _neutral(line.text) == line.text]


@lru_cache(maxsize=8_192)
def _neutral(text: str) -> str:
    """The text with what is worded as an instruction marked; kept, since deeper summaries tell the same lines again."""
    return neutralise(text)


def user_lines(message: Message) -> list[Line]:
    """What the user said, in the user's own words: a long message sentence by sentence, the first as the weightiest."""
    text = " ".join(message.text.split())
    said = list(prose(message.text)) if len(text) > WORD_CHARACTERS else []
    said = said or ([clip(text, WORD_CHARACTERS)] if text else [])
    share = min(WORD_CHARACTERS / max(len(text), 1), 1.0)
    return [
        Line(
            text=each,
            weight=min(DETAIL * share + prose_worth(each), RULED - 1) if place else RULED,
            position=message.position,
            sources=(message.id,),
        )
        for place, each in enumerate(said)
    ]


def _line(step: Step, text: str, worth: float, *, subject: str = "", failed: bool = False) -> Line:
    return Line(
        text=text,
        subject=subject,
        failed=failed,
        weight=round(worth, 2),
        position=step.position,
        sources=step.sources,
    )


def _said(messages: Sequence[Message]) -> list[Line]:
    """What the agent said, a line a statement."""
    out: list[Line] = []
    for message in messages:
        if message.role != "assistant" or message.draft.origin != "spoken":
            continue
        for text in prose(message.text):
            worth = prose_worth(text)
            if worth >= SAID:
                out.append(Line(text=text, weight=round(worth, 2), position=message.position, sources=(message.id,)))
    return out


def _offered(messages: Sequence[Message], *, ends_turn: bool) -> list[Line]:
    """The alternatives among which the user is to choose."""
    spoken = [each for each in messages if each.role == "assistant" and each.draft.origin == "spoken" and each.text]
    options = options_line(spoken[-1]) if ends_turn and spoken and not spoken[-1].draft.calls else None
    return [options] if options else []


def _asked(messages: Sequence[Message], *, ends_turn: bool) -> list[Line]:
    """What the agent asked at the end of a turn: it waits for the user as long as nothing was asked after it."""
    last = _last_question(messages)
    if not ends_turn or last is None:
        return []
    asked = [text for text in prose(last.text) if asks(text)]
    return [Line(text=f"I asked: {asked[-1]}", weight=ASKED, position=last.position, sources=(last.id,))]


def _last_question(messages: Sequence[Message]) -> Message | None:
    said = [message for message in messages if message.role == "assistant" and message.draft.origin == "spoken"]
    worked = max((message.position for message in messages if message.draft.calls), default=-1)
    return next((each for each in reversed(said) if each.position > worked and any(map(asks, prose(each.text)))), None)


def _answers(done: Sequence[Step]) -> Iterator[Line]:
    """The user's words that stand in what came back: why a call was refused, and what a question was answered."""
    for step in done:
        if step.rejected and (words := said_in_refusal(step)):
            yield _line(step, words, RULED, subject=_meant(step))
        elif step.action.kind == "ask" and not step.failed:
            for text in prose(without_reminders(step.output)):
                yield _line(step, text, RULED - 1)


def _meant(step: Step) -> str:
    """What a call would have done, that the user refused."""
    action = step.action
    if action.shell:
        return f"`{clip(action.subject, 110)}`"
    new = next(
        (name for line in action.added.splitlines() if (name := defined(line)) and name not in action.removed), ""
    )
    deed = {"edit": "my edit of", "write": "my writing of"}.get(action.kind, f"my {action.kind} of")
    return f"{deed} {short_path(action.subject)}" + (f" (`{new}`)" if new else "")


def _changes(done: Sequence[Step]) -> Iterator[Line]:
    """What changes changed and what still stands: definitions, conditions, values, and what documents say."""
    gone = [thrown_away(done, place) for place in range(len(done))]
    for place, step in enumerate(done):
        path = step.action.subject
        if step.action.kind not in CHANGES or step.failed or any(path in paths for paths in gone[place + 1 :]):
            continue
        removed, added = step.action.removed.splitlines(), step.action.added.splitlines()
        later = [
            line
            for other in done[place + 1 :]
            if other.action.subject == path and not other.failed
            for line in survives(other.action.removed.splitlines(), other.action.added.splitlines())
        ]
        fresh = survives(survives(added, removed), later)
        if path.endswith(_DOCUMENTS):
            for text in prose("\n".join(fresh)):
                yield _line(step, text, prose_worth(text) * WRITTEN_PROSE, subject=path)
            continue
        share = WRITTEN_CODE * (TESTS if _is_test(path) else 1.0)
        for each in code(added, fresh={line.strip() for line in fresh}):
            yield _line(step, each.text, each.worth * share, subject=path)
        kept = {defined(line) for line in added}
        for line in survives(removed, added):
            if "(" in line and (name := defined(line)) and name not in kept:
                yield _line(step, f"{REMOVED}{clip(' '.join(line.split()).rstrip(' {:'), 160)}`", 2.2, subject=path)


def _is_test(path: str) -> bool:
    """Whether a file holds tests: what they say of the code can be read off them again, and is asked for seldom."""
    return "test" in path.rsplit("/", 1)[-1]


def _reported(done: Sequence[Step]) -> Iterator[Line]:
    """What another agent reported."""
    for step in done:
        if step.action.kind == "use" and not step.failed and "prompt" in step.call.arguments:
            for text in prose(without_reminders(step.output)):
                yield _line(step, text, prose_worth(text) * REPORTED)


def _known(messages: Sequence[Message]) -> dict[str, int]:
    """How often the agent wrote each name."""
    times: dict[str, int] = {}
    for message in messages:
        if message.role == "assistant":
            written = "\n".join(
                [message.text, *(text for call in message.draft.calls for text in strings(call.arguments))]
            )
            for name in artifacts(written):
                times[name] = times.get(name, 0) + 1
    return times


def _seen(done: Sequence[Step], known: Mapping[str, int]) -> Iterator[Line]:
    """What files and searches showed of the names that the agent works with."""
    for place, step in enumerate(done):
        if step.action.kind not in ("read", "search") or step.failed:
            continue
        path = step.action.subject
        lines = survives(seen_lines(step.output), _taken_away(done[place + 1 :]))
        if path.endswith(_DOCUMENTS):
            found = [
                _line(step, text, prose_worth(text) * READ_PROSE, subject=path) for text in prose("\n".join(lines))
            ]
        else:
            share = TESTS if _is_test(path) else 1.0
            found = [
                _line(step, each.text, _read_worth(each) * share * (1 + min(used, 3)), subject=path)
                for each in code(lines)
                if (used := sum(known.get(name, 0) > 1 for name in artifacts(each.text))) or each.worth > TELLING
            ]
        yield from _heaviest(found, MOST_SEEN)


def _taken_away(later: Sequence[Step]) -> list[str]:
    """The lines that changes took away: what was read of them is true no longer."""
    return [
        line
        for step in later
        if step.action.kind in CHANGES and not step.failed
        for line in survives(step.action.removed.splitlines(), step.action.added.splitlines())
        if line.strip() and not _CLOSER.match(line)
    ]


def _without_removed(kept: Mapping[SectionName, Sequence[Line]]) -> list[Line]:
    """The findings without the code of what was removed later."""
    gone: dict[str, int] = {}
    for line in kept.get("artifacts", ()):
        if line.text.startswith(REMOVED) and (name := defined(line.text.removeprefix(REMOVED))):
            gone[f"{line.subject} {name}"] = line.position
    return [
        line
        for line in kept.get("discoveries", ())
        if not (line.subject and (found := _WITHIN.match(line.text)))
        or gone.get(f"{line.subject} {found['place'] or defined(found['code'])}", -1) < line.position
    ]


def _read_worth(said: CodeStatement) -> float:
    """What a passage of code is worth that was only read: most where it says what happens when, and why."""
    signs, explained = bool(defined(said.text.lstrip("`"))), not said.text.endswith("`")
    return said.worth * READ_CODE * (BARE if signs and not explained else 1.0 if explained and not signs else PLAIN)


def _operations(messages: Sequence[Message], done: Sequence[Step], given_up: Container[str]) -> Iterator[Line]:
    """What was run, and what came of it; of one command the last time, and not what is told as `given_up`."""
    last = {step.action.subject: place for place, step in enumerate(done)}
    for place, step in enumerate(done):
        kind, subject = step.action.kind, step.action.subject
        if kind == "ask":
            continue  # What the user answered is told in the user's words.
        output = without_reminders(step.output)
        named = f"`{clip(subject, 110)}`" if step.action.shell else f"{kind} {clip(subject, 110)}"
        if step.failed_itself:
            if key(step) in given_up:
                continue
            yield _outcome(step, f"{named} failed: {errors(output) or step.error}", 3.5)
        elif step.rejected and not said_in_refusal(step):
            yield _line(step, f"The user refused {_meant(step)}.", REFUSED)
        elif step.failed or step.result is None:
            continue  # It was refused or broken off, or nothing came back yet: it has no outcome.
        elif last[subject] != place or kind not in ("check", "run", "save", "fetch"):
            continue
        elif kind == "check" and not (wrong := errors(output, 200)):
            yield _outcome(step, f"{named} passed", 1.2)
        elif said := wrong if kind == "check" else shown_output(output, _said_after(messages, step)):
            yield _outcome(step, f"{named} → {said}", 3.0 if kind == "save" else 1.8)


def _said_after(messages: Sequence[Message], step: Step) -> str:
    """What the agent says next: it speaks of what it has just seen."""
    later = (each for each in messages if each.position > step.position and each.role == "assistant")
    return next((message.text for message in later if message.text), "")


def _outcome(step: Step, text: str, worth: float) -> Line:
    line = _line(step, text, worth, subject=step.action.subject, failed=step.failed)
    return replace(line, verbs=((step.action.kind, 1),), shell=step.action.shell)


def _names_line(names: tuple[Mention, ...], messages: Sequence[Message]) -> list[Line]:
    last = messages[-1]
    return [Line(names=names, position=last.position, sources=(last.id,))] if names else []


def _heaviest(lines: Sequence[Line], most: int) -> list[Line]:
    """The weightiest lines, in the order in which they came."""
    if len(lines) <= most:
        return list(lines)
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:most]
    return [lines[place] for place in sorted(best)]


def _status(messages: Sequence[Message], done: Sequence[Step], *, ends_turn: bool) -> Line:
    """COMPLETE, PARTIAL or BLOCKED, from the last outcomes alone."""
    last = messages[-1]
    ran = next((step for step in reversed(done) if step.action.kind in ("check", "run", "save")), None)
    changes = [step for step in done if step.action.kind in CHANGES]
    if ran is not None and ran.failed:
        failed = f" — {clip(ran.action.subject, STATUS_SUBJECT)} failed last: {error_line(ran.output, 120)}"
    elif changes and all(step.rejected for step in changes):
        failed = " — the user refused the change"
    else:
        failed = ""
    if not ends_turn:
        text = f"{UNDER_WAY}{failed}"
    elif failed:
        text = f"BLOCKED{failed}"
    elif last.role == "assistant" and not last.draft.calls:
        text = "COMPLETE" if not done else f"COMPLETE — {_closing(done)}"
    else:
        text = "PARTIAL — the turn ended without an answer."
    return Line(
        text=text,
        weight=4.0 if failed else 0.0 if text == UNDER_WAY else 0.1,
        position=last.position,
        sources=(last.id,),
    )


def _closing(done: Sequence[Step]) -> str:
    check = next((step for step in reversed(done) if step.action.kind == "check" and step.result), None)
    if check is None or check.failed:
        return "(not verified)"
    return f"{clip(check.action.subject, 80)} passed"


# Deeper summaries: the statements of those under them, once each; what was said last about a thing stands.


def write_turn_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent summaries of one turn."""
    return _sections(
        {
            **_together(children),
            "goal": _gather(children, "goal")[:1],
            "status": _last_status(children),
        }
    )


def write_goal_batch(parts: Sequence[Summary | Message]) -> tuple[Section, ...]:
    """Write the sections of a goal batch over complete turns: their user messages, and the summaries of their work."""
    work = [part for part in parts if isinstance(part, Summary)]
    messages = as_said(part for part in parts if not isinstance(part, Summary))
    spoken = [message for message in messages if message.role == "user" and message.draft.origin == "spoken"]
    carried = [line for message in messages if is_own_block(message.draft) for line in _carried(message)]
    asked = [line for message in spoken for line in user_lines(message)]
    lifts = _in_order([*_gather(work, "lifted"), *(line for message in messages for line in find_lifts(message))])
    pins = [*_gather(work, "constraints"), *(line for message in messages for line in find_pins(message))]
    kept = _together(work)
    for name in ("strategy", "discoveries"):
        kept[name] = _approved(kept.get(name, ()), spoken)
    chosen = choice_lines(parts, {part.id: part.lines("strategy") for part in work})
    kept["strategy"] = _in_order([*(line for line in kept["strategy"] if not is_options(line)), *chosen])
    kept["direction"] = _in_order([*asked, *kept.get("direction", ())])
    kept["discoveries"] = [*carried, *kept.get("discoveries", ())]
    kept["constraints"], kept["lifted"] = standing(pins, lifts), lifts
    kept["goal"] = _arc(asked, work)
    kept["status"] = _gather(work[-1:], "status")
    return _sections(kept)


def _approved(lines: Sequence[Line], spoken: Sequence[Message]) -> list[Line]:
    """The lines; what the user approved by a short answer is worth more: the answer says nothing without it."""
    answers = [message.position for message in spoken[1:] if len(message.text) <= BRIEF_ANSWER]
    proposed = {max((line.position for line in lines if line.position < answer), default=-1) for answer in answers}
    return [
        replace(line, weight=round(line.weight * ANSWERED, 2)) if line.position in proposed else line for line in lines
    ]


def write_goal_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a batch of adjacent goal batches."""
    kept = _together(children)
    kept["constraints"] = standing(_gather(children, "constraints"), kept.get("lifted", []))
    kept["goal"] = _arc(kept.get("direction", []), children)
    kept["status"] = _gather(children[-1:], "status")
    return _sections(kept)


def _together(children: Sequence[Summary]) -> dict[SectionName, list[Line]]:
    """The lines of all sections of adjacent summaries, what is overtaken left out."""
    kept: dict[SectionName, list[Line]] = {}
    for child in children:
        for section in child.sections:
            kept.setdefault(section.name, []).extend(section.lines)
    kept["discoveries"] = _without_removed(kept)
    kept["dead_ends"] = _still_dead(children)
    kept["artifacts"] = _newest_of_each(kept.get("artifacts", ()), _definition)
    # Why a check failed may be asked after it passed.
    kept["operations"] = _newest_of_each(
        kept.get("operations", ()), lambda line: "" if line.failed and "check" in dict(line.verbs) else line.subject
    )
    kept["open"] = kept.get("open", [])[-1:]
    kept["state"] = standing_state(kept.get("state", ()))
    names = kept.get("names", [])
    kept["names"] = [replace(names[-1], names=merged(names))] if names else []
    return kept


def _sections(lines: Mapping[SectionName, Sequence[Line]]) -> tuple[Section, ...]:
    """Cap each section to its weightiest lines, in order; the same statement stands once, where it was made first.

    What came from a tool is data: what in it is worded as an instruction is marked. Users are quoted as they spoke.
    """
    out: list[Section] = []
    said: set[str] = set()
    for name in dict.fromkeys((*LIMITS, *lines)):
        fresh: list[Line] = []
        for line in lines.get(name, ()):
            if line.weight < LEAST and name not in ("status", "names", "goal"):
                continue
            if name not in ("goal", "status", "names", "state"):
                if line.text in said:
                    continue
                said.add(line.text)
            fresh.append(line)
        kept = _heaviest(fresh, LIMITS.get(name, OTHER_LIMIT))
        if name not in QUOTED:
            kept = [replace(line, text=_neutral(line.text)) for line in kept]
        if kept:
            out.append(Section(name=name, lines=tuple(kept)))
    return tuple(out)


def _newest_of_each(lines: Iterable[Line], about: Callable[[Line], str]) -> list[Line]:
    """Of the lines about one thing the last; those that are about none all stay."""
    lines = list(lines)
    last = {name: place for place, line in enumerate(lines) if (name := about(line))}
    return [line for place, line in enumerate(lines) if not (name := about(line)) or last[name] == place]


def _definition(line: Line) -> str:
    """The file and the name that a line of code defines; empty where it defines none."""
    name = defined(line.text.removeprefix(REMOVED).lstrip("`"))
    return f"{line.subject} {name}" if name else ""


def _gather(children: Iterable[Summary], name: SectionName) -> list[Line]:
    return [line for child in children for line in child.lines(name)]


def _in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line.position)


def _still_dead(children: Sequence[Summary]) -> list[Line]:
    """The dead ends that no later success overturned; one that was met again stands once, with its count."""
    got_over = {line.subject: line.position for line in _gather(children, "worked") if line.subject}
    done = succeeded(_gather(children, "operations"))
    out: dict[str, Line] = {}
    for line in _gather(children, "dead_ends"):
        if got_over.get(line.subject, -1) > line.position or overturned(line, done):
            continue
        name = line.subject or line.text
        out[name] = again(out[name], line) if name in out and line.subject else line
    return list(out.values())


def _last_status(children: Sequence[Summary]) -> list[Line]:
    """The last status; where it is that of a last word that did nothing more, by what was run before it."""
    told = _gather(children[-1:], "status")
    if not told or told[0].text != "COMPLETE":
        return told
    done = [
        line for line in _gather(children, "operations") if {"check", "run", "save"} & {verb for verb, _ in line.verbs}
    ]
    last = max(done, key=lambda line: line.position, default=None)
    checks = [line for line in done if "check" in dict(line.verbs)]
    if last is not None and last.failed:
        text = f"BLOCKED — {clip(last.text, 200)}"
    elif checks and not checks[-1].failed:
        text = f"COMPLETE — {clip(checks[-1].subject, 80)} passed"
    else:
        text = "COMPLETE — (not verified)"
    return [replace(told[0], text=text)]


def _carried(message: Message) -> list[Line]:
    """The statements of a block of ours in a list that was cut before: all that is left of what it covered."""
    told = [line.strip().removeprefix("- ") for line in message.text.splitlines() if line.strip().startswith("- ")]
    return [
        Line(text=text, weight=max(prose_worth(text), 3.0), position=message.position, sources=(message.id,))
        for text in told
    ]


def _arc(asked: Sequence[Line], work: Sequence[Summary]) -> list[Line]:
    """From the first request to the last, and how it ended."""
    if not asked:
        return [line for child in work[:1] for line in child.lines("goal")]
    ended = [line.text.split(" ")[0] for line in _gather(work[-1:], "status")]
    text = f"From “{clip(asked[0].text, 140)}”"
    if len(asked) > 1:
        text += f" to “{clip(asked[-1].text, 140)}”"
    return [Line(text=text + (f": {ended[0]}." if ended else "."), weight=1.0, position=asked[-1].position)]


MOST_OPTIONS = 6
LONGEST_OPTION = 160
"""Characters of one that are kept."""
LINES_BEFORE = 4
"""Lines before the list in which the question stands that it answers."""
LONGEST_CHOICE = 240
"""Characters of a message that chooses: a longer one says by itself what it wants."""
OFFERED, CHOSEN = 0.2, 9.0
"""The list is kept for what will be chosen of it, and hardly ever shown: the prose says what it says."""
_OPTION = lazy_re(
    r"^\s{0,6}(?:\*\*|#{1,4} )?(?:option )?\(?(?P<number>[1-9])[.):](?:\*\*)?\s+(?P<said>\S.*)$", re.I | re.M
)
_KEPT = lazy_re(r"(?:^|: |; )(?P<number>[1-9])\. (?P<said>.*?)(?=; [1-9]\. |$)")
LIST = "I listed: "


def options_line(message: Message) -> Line | None:
    """The numbered list with which the agent ends its words; None where it numbers none."""
    found: dict[str, str] = {}
    begins = 0
    for option in _OPTION.finditer(message.text):
        if option["number"] == "1":
            # The last list is the one that an answer is about.
            found, begins = {}, option.start()
        if int(option["number"]) == len(found) + 1:
            found[option["number"]] = clip(" ".join(option["said"].replace("**", "").split()), LONGEST_OPTION)
    if not 2 <= len(found) <= MOST_OPTIONS:
        return None
    listed = "; ".join(f"{number}. {said}" for number, said in found.items())
    before = message.text[:begins].replace("**", "").split("\n")[-LINES_BEFORE:]
    asked = next((line.strip(" #*") for line in reversed(before) if line.rstrip(" *").endswith("?")), "")
    return Line(
        text=LIST + listed,
        subject=asked if len(asked) <= LONGEST_OPTION else "",
        weight=OFFERED,
        position=message.position,
        sources=(message.id,),
    )


def is_options(line: Line) -> bool:
    """Whether a line lists options."""
    return line.text.startswith(LIST)


def choice_lines(parts: Sequence[Summary | Message], lines: Mapping[str, Sequence[Line]]) -> list[Line]:
    """What the user's messages among `parts` chose of the options that the work before them ended with.

    `lines` are what each part of work decided or offered, by its id.
    """
    out: list[Line] = []
    offered: Line | None = None
    for part in parts:
        if isinstance(part, Summary):
            offered = next((line for line in reversed(lines.get(part.id, ())) if is_options(line)), None)
        elif part.role == "user" and part.draft.origin == "spoken":
            out += _chosen(part, offered) if offered is not None else []
            offered = None
    return out


def _chosen(message: Message, offered: Line) -> list[Line]:
    text = " ".join(message.text.split())
    if len(text) > LONGEST_CHOICE:
        return []
    options = {found["number"]: found["said"] for found in _KEPT.finditer(offered.text.removeprefix(LIST))}
    first = _choosing().match(text)
    numbers = list(dict.fromkeys(_DIGIT.findall(first[0]))) if first else []
    asked = f"I asked: “{offered.subject}” " if offered.subject else ""
    sources = (*offered.sources, message.id)
    told = "; ".join(f"{each}: {options[each]}" for each in numbers if each in options)
    if not told:
        return []
    return [Line(text=f"{asked}The user chose {told}", weight=CHOSEN, position=message.position, sources=sources)]


_DIGIT = lazy_re(r"[1-9]")


@from_data
def _choosing() -> re.Pattern[str]:
    """What a message begins with that chooses by number."""
    known = [of_language(OwnWords, code) for code in LANGUAGES]
    before = either([word for each in known for word in each.chooses])
    behind = either([word for each in known for word in each.chosen])
    # "3 files failed" and "1. The lint fails" choose nothing.
    number = rf"(?:option |number |#)?[1-9](?=$|[.!]$| ?[,;!?+&]| {behind}\b)"
    return lazy_re(rf"^(?:{before}[,.!]? ){{0,4}}{number}(?:(?: {behind} | ?[+&] ?|, ?){number}){{0,2}}", re.I)
