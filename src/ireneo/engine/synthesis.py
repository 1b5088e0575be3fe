"""Ask a model for the lessons of a run, and keep those that the run supports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from string import ascii_lowercase

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import shorten
from ireneo.engine.taught import Taught, Witness, hold, named_in
from ireneo.grounding.claims import neutralise
from ireneo.grounding.evidence import SourceIndex, call_text, source_texts
from ireneo.lessons.attempts import Attempt, Task, read_tasks
from ireneo.lessons.run import CATEGORY, MODEL, DiaryEntry, Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import MOST_AGAINST, MOST_SOURCES
from ireneo.lessons.write_diary import render_diary
from ireneo.log.message import Count, Message, MessageId, without_recalled
from ireneo.memories.record import Record
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.prompts import LESSONS, LESSONS_REPAIR
from ireneo.prompts.replies import Again, LessonSaid, LessonsReply
from ireneo.summaries.own_words import said_in_results
from ireneo.summaries.statements import prose, prose_worth

OWN_TOOLS = "ireneo"
"""Part of the names of memory's own tools: their answers were recalled, and are no evidence."""
SHOWN_TOKENS = 16_000
"""Tokens of a run's messages that a model is shown besides the diary; small models read so much well."""
FILLED_TOKENS = 4_000
"""Up to so many tokens unimportant messages are shown too, so that a short run is read whole."""
DIARY_TOKENS = 4_000
USER_TOKENS, AGENT_TOKENS, ERROR_TOKENS, OUTPUT_TOKENS, CALL_TOKENS = 500, 350, 350, 120, 60
"""Tokens of a message that are shown, by speaker."""
LEAST_SAID = 1.5
"""The least worth of a message that is shown beyond `FILLED_TOKENS`."""
COSTLIEST = 12
"""Failures of a run that are shown with their outcome, at most, the most costly first."""
AFTER = 2
"""Messages after a failure in which the agent may explain it."""
MOST_LESSONS, MOST_FACTS, LEAST_WORTH = 5, 5, 2
KNOWN_TOLD = 40
"""Known lessons of the project that a model may confirm or contradict."""
MOST_DRAWN = len(ascii_lowercase)
_FENCES = ("</messages>", "</diary>", "</known>", "</drawn>")
_SPEAKERS = {"assistant": "agent", "tool": "output"}
_OUTCOMES = {"good": "its log says that it came out well", "bad": "its log says that it came out badly"}


class Synthesis(Struct, frozen=True, kw_only=True):
    """The answers of a model about a run."""

    observations: tuple[Observation, ...] = ()
    worthless: frozenset[str] = frozenset()
    """The cues of observations by rules that the model calls wrong or useless."""
    refused: tuple[str, ...] = ()
    """The refused lessons, and why."""
    usage: tuple[Usage, ...] = ()

    def joined(self, other: Synthesis) -> Synthesis:
        """The answers about two parts of one run."""
        return Synthesis(
            observations=(*self.observations, *other.observations),
            worthless=self.worthless | other.worthless,
            refused=(*self.refused, *other.refused),
            usage=(*self.usage, *other.usage),
        )


async def synthesise(
    model: LanguageModel,
    material: RunMaterial,
    entries: Sequence[DiaryEntry],
    known: Sequence[Record],
    drawn: Sequence[Observation],
    count: Count,
) -> Synthesis:
    """Ask a model what a run teaches beyond the lessons that are `known`. Raises ModelError.

    `drawn` is what rules would tell of it for the first time: what other runs showed as well, no model leaves out. What
    of the answer does not stand, the model may mend once.
    """
    # Those in a model's words first: of the others the rules count without being told.
    told = sorted((each for each in known if each.cue), key=lambda each: not each.cue.startswith(MODEL))[:KNOWN_TOLD]
    shown, prompt = await asyncio.to_thread(_prompt, material, entries, told, drawn[:MOST_DRAWN], count)
    witness = Witness(material, shown, _told_of(material, entries, shown))
    answer = await model.ask(prompt, LessonsReply)
    usage = [answer.usage]
    held = await asyncio.to_thread(_held, answer.value.lessons, witness)
    if wrong := [(said, taught) for said, taught in held if taught.observation is None]:
        asked = await asyncio.to_thread(_repair_prompt, wrong, witness, count)
        again = await model.ask(asked, LessonsReply)
        usage.append(again.usage)
        repaired = await asyncio.to_thread(_held, again.value.lessons[: len(wrong)], witness)
        held = [*(each for each in held if each[1].observation is not None), *repaired]
    kept, refused = _chosen(held)
    kept += await asyncio.to_thread(_again, answer.value, told, witness)
    letters = dict(zip(ascii_lowercase, drawn, strict=False))
    worthless = frozenset(letters[each].cue for each in answer.value.worthless if each in letters)
    return Synthesis(observations=tuple(kept), worthless=worthless, refused=refused, usage=tuple(usage))


def _prompt(
    material: RunMaterial,
    entries: Sequence[DiaryEntry],
    told: Sequence[Record],
    drawn: Sequence[Observation],
    count: Count,
) -> tuple[list[Message], Prompt]:
    """The messages that a model is shown, and the prompt."""
    rooms = _rooms(material)
    shown = [message for message in material.messages if message.id in rooms]
    prompt = LESSONS.render(
        about=_about(material),
        diary=_cut(render_diary(entries), DIARY_TOKENS, "diary", count) or "(nothing was tried)",
        messages=_numbered(dict(enumerate(shown, 1)), rooms, count),
        drawn="\n".join(
            f"{at}. {neutralise(each.text, _FENCES)}" for at, each in zip(ascii_lowercase, drawn, strict=False)
        )
        or "(nothing)",
        known="\n".join(f"{at}. {neutralise(each.text, _FENCES)}" for at, each in enumerate(told, 1)) or "(none)",
    )
    return shown, prompt


def _told_of(material: RunMaterial, entries: Sequence[DiaryEntry], shown: Sequence[Message]) -> tuple[Message, ...]:
    """The messages that the diary cites, besides those that are shown."""
    there = {each.id for each in shown}
    named = {name for entry in entries for line in entry.lines for name in line.sources} - there
    return tuple(each for each in material.messages if each.id in named)


def _about(material: RunMaterial) -> str:
    project = f"project {material.project}" if material.project else "no project is named"
    began = next((each.draft.at for each in material.messages if each.draft.at), None)
    when = f"; begun on {began:%Y-%m-%d}" if began else ""
    return f"{project}{when}; {_OUTCOMES.get(material.outcome, 'how it came out, nobody noted')}."


def _rooms(material: RunMaterial) -> dict[MessageId, int]:
    """The messages that are shown, with their allowance in tokens: the most valuable ones that fit."""
    tasks = read_tasks(material)
    messages = {message.id: message for message in _own(material)}
    worth = _worths(list(messages.values()), tasks)
    failed = {step.answer for task in tasks for step in task.steps if step.failed}
    out: dict[MessageId, int] = {}
    left = SHOWN_TOKENS
    for name in sorted(messages, key=lambda each: (-worth.get(each, 0.0), -messages[each].position)):
        room = _room(messages[name], name in failed)
        cost = min(room, messages[name].tokens)
        if cost <= left - (0 if worth.get(name, 0.0) > LEAST_SAID else SHOWN_TOKENS - FILLED_TOKENS):
            out[name] = room
            left -= cost
    return out


def _worths(messages: Sequence[Message], tasks: Sequence[Task]) -> dict[MessageId, float]:
    """The worth of messages: the user's, those of costly failures, reasons of the agent, and the ends of tasks."""
    worth: dict[MessageId, float] = {}
    for message in messages:
        if message.role == "user" or any(True for each in message.draft.results for _ in said_in_results(each)):
            worth[message.id] = 100.0
        elif message.role == "assistant":
            worth[message.id] = max(map(prose_worth, prose(message.text)), default=0.0)
    places = {message.id: at for at, message in enumerate(messages)}
    for rank, attempt in enumerate(_costliest(tasks)):
        over = [each for each in (attempt.over, attempt.instead) if each is not None]
        names = [name for step in (*attempt.by, attempt.step, *over) for name in step.sources]
        place = places.get(attempt.step.answer or attempt.step.source, len(messages))
        behind = messages[place + 1 : place + 1 + 2 * AFTER]
        names += [each.id for each in behind if each.role == "assistant"]
        for name in names:
            worth[name] = max(worth.get(name, 0.0), 60.0 - 2 * rank)
    for task in tasks:
        worth[task.last] = max(worth.get(task.last, 0.0), 30.0)
    return worth


def _own(material: RunMaterial) -> list[Message]:
    """The run's messages without the answers of memory's own tools."""
    recalled = {call.id for each in material.messages for call in each.draft.calls if OWN_TOOLS in call.name.lower()}
    return [each for each in material.messages if not any(answer.call_id in recalled for answer in each.draft.results)]


def _costliest(tasks: Sequence[Task]) -> list[Attempt]:
    failed = [each for task in tasks for each in task.attempts if each.outcome not in ("worked", "open") or each.error]
    return sorted(failed, key=lambda each: -(each.cost.tokens + 50 * each.cost.seconds + 500 * each.times))[:COSTLIEST]


def _room(message: Message, failed: bool) -> int:
    if message.role == "tool":
        return ERROR_TOKENS if failed else OUTPUT_TOKENS
    return AGENT_TOKENS if message.role == "assistant" else USER_TOKENS


def _numbered(shown: Mapping[int, Message], rooms: Mapping[MessageId, int], count: Count) -> str:
    """Render messages, each cut to its allowance: texts first, then calls."""
    lines: list[str] = []
    for number, message in shown.items():
        room = rooms.get(message.id, AGENT_TOKENS)
        results = (result.text for result in message.draft.results)
        said = [text for text in (without_recalled(message.text), *results) if text.strip()]
        parts = [_cut(without_recalled(text), room, message.id, count) for text in said]
        calls = (" ".join(call_text(call).split()) for call in message.draft.calls)
        parts += [f"→ {_cut(text, CALL_TOKENS, message.id, count)}" for text in calls]
        lines.append(f"[{number}] {_SPEAKERS.get(message.role, message.role)}: " + "\n".join(parts))
    return "\n".join(lines)


def _cut(text: str, most: int, name: str, count: Count) -> str:
    cut = shorten(text, most, name, count)
    return neutralise(cut.text() if cut else text, _FENCES)


def _held(lessons: Sequence[LessonSaid], witness: Witness) -> list[tuple[LessonSaid, Taught]]:
    return [(each, hold(each, witness)) for each in lessons]


def _repair_prompt(wrong: Sequence[tuple[LessonSaid, Taught]], witness: Witness, count: Count) -> Prompt:
    """The prompt to repair refused lessons, with the messages that they cite only."""
    numbers = sorted({number for said, _ in wrong for number in said.messages if 1 <= number <= len(witness.shown)})
    lines = (f"{msgspec.json.encode(said).decode()}\n- {' '.join(taught.complaints)}" for said, taught in wrong)
    return LESSONS_REPAIR.render(
        messages=_numbered({number: witness.shown[number - 1] for number in numbers}, {}, count) or "(none)",
        lessons="\n".join(lines),
    )


def _chosen(held: Sequence[tuple[LessonSaid, Taught]]) -> tuple[list[Observation], tuple[str, ...]]:
    """The most valuable accepted lessons, and why the others were refused."""
    kept: dict[str, Observation] = {}
    refused: list[str] = []
    for said, taught in sorted(held, key=lambda each: -each[0].worth):
        why = " ".join(taught.complaints)
        if taught.observation is not None:
            alike = sum((each.category == "factual") == (said.kind == "fact") for each in kept.values())
            most = MOST_FACTS if said.kind == "fact" else MOST_LESSONS
            few = f"There are {most} already." if alike == most else ""
            why = few or ("It is hardly worth a line." if said.worth < LEAST_WORTH else "")
            if not why:
                kept.setdefault(taught.observation.cue, taught.observation)
        if why:
            refused.append(f"“{said.lesson[:80]}”: {why}")
    return list(kept.values()), tuple(refused)


def speaks_of(text: str, cited: Sequence[Message]) -> bool:
    """Whether the messages support any claim of `text`: only then are they evidence for or against it."""
    evidence = SourceIndex(source_texts(cited))
    return any(evidence.supports(claim) for claim in named_in(text))


def _again(reply: LessonsReply, told: Sequence[Record], witness: Witness) -> list[Observation]:
    """Observations of known lessons in a model's words, which it confirms or contradicts."""
    out: dict[str, Observation] = {}
    said: list[tuple[bool, Again]] = [(True, each) for each in reply.confirmed]
    for held, again in (*said, *((False, each) for each in reply.contradicted)):
        record = told[again.lesson - 1] if 1 <= again.lesson <= len(told) else None
        there = witness.cited(again.messages)[:MOST_SOURCES]
        if record is None or not record.cue.startswith(MODEL) or not speaks_of(record.text, there):
            continue
        cited = tuple(each.id for each in there)
        out[record.cue] = Observation(
            cue=record.cue,
            category=CATEGORY[record.kind],
            session=witness.material.session,
            project=witness.material.project,
            at=next((each.draft.at for each in reversed(there) if each.draft.at), None),
            held=int(held),
            broke=int(not held),
            sources=cited if held else (),
            against=() if held else cited[:MOST_AGAINST],
        )
    return list(out.values())


def without_worthless(shown: Sequence[Observation], synthesis: Synthesis) -> list[Observation]:
    """The observations by rules; those that a model called worthless are reduced to statistics."""
    return [
        replace(each, text="", way_out="", why="", trigger=None) if each.cue in synthesis.worthless else each
        for each in shown
    ]
