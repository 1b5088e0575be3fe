"""Ask a model for the lessons of a run, and keep those that the run supports.

A lesson is refused only where it is surely wrong: it names what no message shows, it passes on what an output asks for
and nobody did, it quotes nobody. An unsupported clause is struck, a wrong number of a message is put right.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from string import ascii_lowercase

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import excerpt, shorten
from ireneo.grounding.check import Grounds, error_text, strike
from ireneo.grounding.claims import TextClaim, claims, instruction_like, neutralise
from ireneo.grounding.evidence import SourceIndex, call_text, check_text, source_texts
from ireneo.language.files import topic
from ireneo.language.topics import Instructions
from ireneo.language.words import sentences
from ireneo.lessons.attempts import Attempt, Task, read_tasks
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.naming import programs
from ireneo.lessons.observe import limited
from ireneo.lessons.rulings import ruling_cue
from ireneo.lessons.run import CATEGORY, MODEL, Category, DiaryEntry, Observation, Trigger
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.lessons.study import MOST_AGAINST, MOST_SOURCES
from ireneo.lessons.write_diary import render_diary
from ireneo.log.message import Count, Message, MessageId, without_recalled
from ireneo.memories.record import Record, likeness_key
from ireneo.patterns import lazy_re
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.prompts import LESSONS, LESSONS_REPAIR
from ireneo.prompts.replies import Again, LessonKind, LessonSaid, LessonsReply
from ireneo.summaries.own_words import said_in_results
from ireneo.summaries.statements import prose, prose_worth
from ireneo.summaries.steps import Step

_INSTRUCTIONS = topic(Instructions)


OWN_TOOLS = "ireneo"
"""Part of the names of memory's own tools: their answers were recalled, and are no evidence."""
SHOWN_TOKENS = 16_000
"""Tokens of a run's messages that a model is shown besides the diary; small models read so much well."""
FILLED_TOKENS = 10_000
"""Up to so many tokens unimportant messages are shown too, so that a short run is read whole."""
DIARY_TOKENS = 4_000
USER_TOKENS, AGENT_TOKENS, ERROR_TOKENS, OUTPUT_TOKENS, CALL_TOKENS = 500, 350, 350, 120, 60
"""Tokens of a message that are shown, by speaker."""
WIDER = (6, 4, 3, 2)
"""How many times the tokens below a message may have where few are shown."""
LEAST_SAID = 1.5
"""The least worth of a message that is shown beyond `FILLED_TOKENS`."""
COSTLIEST = 12
"""Failures of a run that are shown with their outcome, at most, the most costly first."""
AFTER = 2
"""Messages after a failure in which the agent may explain it."""
MOST_LESSONS, MOST_FACTS, LEAST_WORTH = 5, 3, 3
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
    evidence = RunEvidence(material, shown, _cited_in_diary(material, entries, shown))
    answer = await model.ask(prompt, LessonsReply)
    usage = [answer.usage]
    held = await asyncio.to_thread(_verified, answer.value.lessons, evidence)
    if wrong := [(said, taught) for said, taught in held if taught.observation is None]:
        asked = await asyncio.to_thread(_repair_prompt, wrong, evidence, count)
        again = await model.ask(asked, LessonsReply)
        usage.append(again.usage)
        repaired = await asyncio.to_thread(_verified, again.value.lessons[: len(wrong)], evidence)
        held = [*(each for each in held if each[1].observation is not None), *repaired]
    kept, refused = _chosen(held)
    kept += await asyncio.to_thread(_observed_again, answer.value, told, evidence)
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
        diary=_cut(render_diary(entries), DIARY_TOKENS, count) or "(nothing was tried)",
        messages=_numbered(dict(enumerate(shown, 1)), rooms, count),
        drawn="\n".join(
            f"{at}. {neutralise(each.text, _FENCES)}" for at, each in zip(ascii_lowercase, drawn, strict=False)
        )
        or "(nothing)",
        known="\n".join(f"{at}. {neutralise(each.text, _FENCES)}" for at, each in enumerate(told, 1)) or "(none)",
    )
    return shown, prompt


def _cited_in_diary(
    material: RunMaterial, entries: Sequence[DiaryEntry], shown: Sequence[Message]
) -> tuple[Message, ...]:
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
        room = _room(messages[name], failed=name in failed)
        cost = min(room, messages[name].tokens)
        if cost <= left - (0 if worth.get(name, 0.0) > LEAST_SAID else SHOWN_TOKENS - FILLED_TOKENS):
            out[name] = room
            left -= cost
    return _widened(out, messages)


def _widened(rooms: dict[MessageId, int], messages: Mapping[MessageId, Message]) -> dict[MessageId, int]:
    """The allowances, as many times as large as all of the messages together have room for."""
    for times in WIDER:
        if sum(min(times * room, messages[name].tokens) for name, room in rooms.items()) <= SHOWN_TOKENS:
            return {name: times * room for name, room in rooms.items()}
    return rooms


def _worths(messages: Sequence[Message], tasks: Sequence[Task]) -> dict[MessageId, float]:
    """The worth of messages: the user's, those of costly failures, reasons of the agent, and the ends of tasks."""
    worth: dict[MessageId, float] = {}
    called = {call.id: message.id for message in messages for call in message.draft.calls}
    for message in messages:
        answered = [each for each in message.draft.results if any(True for _ in said_in_results(each))]
        if message.role == "user" or answered:
            worth[message.id] = 100.0
            # Without the call, what the user refused would seem to be the call that is shown before.
            worth |= {called[each.call_id]: 100.0 for each in answered if each.call_id in called}
        elif message.role == "assistant":
            said = max(map(prose_worth, prose(message.text)), default=0.0)
            worth[message.id] = max(said, worth.get(message.id, 0.0))
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


def _room(message: Message, *, failed: bool) -> int:
    if message.role == "tool":
        return ERROR_TOKENS if failed else OUTPUT_TOKENS
    return AGENT_TOKENS if message.role == "assistant" else USER_TOKENS


def _numbered(shown: Mapping[int, Message], rooms: Mapping[MessageId, int], count: Count) -> str:
    """Render messages, each cut to its allowance: texts first, then calls."""
    lines: list[str] = []
    last = -1
    for number, message in shown.items():
        lines += ["…"] if message.position > last + 1 and lines else []
        last = message.position
        room = rooms.get(message.id, AGENT_TOKENS)
        parts = [_cut(without_recalled(message.text), room, count)]
        for result in message.draft.results:
            text = without_recalled(result.text)
            # The line of a long output that says what went wrong stands anywhere in it.
            parts.append(neutralise(excerpt(text, room, "", count) or text, _FENCES))
        calls = (" ".join(call_text(call).split()) for call in message.draft.calls)
        called = CALL_TOKENS * max(room // _room(message, failed=False), 1)
        parts = [text for text in parts if text.strip()] + [f"→ {_cut(text, called, count)}" for text in calls]
        lines.append(f"[{number}] {_SPEAKERS.get(message.role, message.role)}: " + "\n".join(parts))
    return "\n".join(lines)


def _cut(text: str, most: int, count: Count) -> str:
    cut = shorten(text, most, "", count)
    return neutralise(cut.text() if cut else text, _FENCES)


def _verified(lessons: Sequence[LessonSaid], evidence: RunEvidence) -> list[tuple[LessonSaid, Verified]]:
    return [(each, _verify(each, evidence)) for each in lessons]


def _repair_prompt(wrong: Sequence[tuple[LessonSaid, Verified]], evidence: RunEvidence, count: Count) -> Prompt:
    """The prompt to repair refused lessons, with the messages that they cite only."""
    numbers = sorted({number for said, _ in wrong for number in said.messages if 1 <= number <= len(evidence.shown)})
    lines = (f"{msgspec.json.encode(said).decode()}\n- {' '.join(taught.complaints)}" for said, taught in wrong)
    return LESSONS_REPAIR.render(
        messages=_numbered({number: evidence.shown[number - 1] for number in numbers}, {}, count) or "(none)",
        lessons="\n".join(lines),
    )


def _chosen(held: Sequence[tuple[LessonSaid, Verified]]) -> tuple[list[Observation], tuple[str, ...]]:
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


def _observed_again(reply: LessonsReply, told: Sequence[Record], evidence: RunEvidence) -> list[Observation]:
    """Observations of known lessons in a model's words, which it confirms or contradicts."""
    out: dict[str, Observation] = {}
    said: list[tuple[bool, Again]] = [(True, each) for each in reply.confirmed]
    for held, again in (*said, *((False, each) for each in reply.contradicted)):
        record = told[again.lesson - 1] if 1 <= again.lesson <= len(told) else None
        there = evidence.cited(again.messages)[:MOST_SOURCES]
        if record is None or not record.cue.startswith(MODEL) or not speaks_of(record.text, there):
            continue
        cited = tuple(each.id for each in there)
        out[record.cue] = Observation(
            cue=record.cue,
            category=CATEGORY[record.kind],
            session=evidence.material.session,
            project=evidence.material.project,
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


# Which lessons of a model are accepted, and why others are not.

MOST_WORDS, MOST_WHY_WORDS = 70, 45
REPEATED_WORDS = 4
"""A lesson repeats an instruction if it has this many consecutive words of it."""
MOST_TRIGGER_WORDS = 6
LEAST_QUOTED = 3
"""Words of a quoted reason, at least."""
CATEGORIES: Mapping[LessonKind, Category] = {
    "ruling": "procedural",
    "trap": "failure",
    "practice": "procedural",
    "fact": "factual",
}
_OF_SOMETHING = frozenset(("path", "identifier", "error", "command", "quotation", "name"))
"""Claims that name something of the project or its tools; a number alone does not."""
_TASK_RUNNERS = frozenset("bun deno just mise npm pnpm yarn".split())
_ECHOED = lazy_re(r"^(?:\[[\w:.-]{1,40}\] )?[$>] (\S[^\n]{1,300})$", re.M)
"""A command that a task runner says that it runs: `[test] $ go test ./...`."""
_WORD = lazy_re(r"(?<![\w./:@|&=+-])[\w./:@|&=+-]*\w")
_SOUNDS_WRONG = lazy_re(r"error|fail|fatal|panic|invalid|cannot|can't|denied|exception|not found", re.I)
_QUOTED = lazy_re(r"“[^“”]{0,600}”|\"[^\"\n]{0,600}\"")
_CODE = lazy_re(r"`([^`\n]{1,300})`")
_CODE_HEADS = frozenset(
    "class const def export from func function implements import interface let namespace package private public return "
    "static struct type using var".split()
)
"""Words by which a line of code is none of a shell."""
_PROGRAM = lazy_re(r"(?:\./)?[A-Za-z][\w./-]*(?:\s|\Z)(?![:=])")
_PATHLIKE = lazy_re(r"[\w@~.*-]*(?:/[\w@.*-]+)+/?|[\w@-]*\.[\w.-]+")
_PLACE = lazy_re(r"(?<![\w/.:-])(?=[\w.-]*/[\w./-]*[A-Z_.\d/])[\w.-]+(?:/[\w-]+(?:\.[\w-]+)*)+")
"""Names with a slash that are paths, and not two words like “and/or”."""


class RunEvidence:
    """The evidence of a run, as far as a model saw it: who said what, what was done, and what outputs ask for."""

    def __init__(self, material: RunMaterial, shown: Sequence[Message], told: Sequence[Message] = ()) -> None:
        """Take the messages of the run that a model was `shown`, numbered from 1, and others that it was `told` of.

        Those are what the diary stands on.
        """
        self.material, self.shown = material, shown
        self._read = (*shown, *told)
        self._by_message: dict[int, SourceIndex] = {}

    @cached_property
    def grounds(self) -> Grounds:
        """All that was shown; a user's words within a tool's result count as the user's."""
        return Grounds(self._read, asked=self._answers, voice=None)

    @cached_property
    def _answers(self) -> list[str]:
        results = (result for each in self.shown for result in each.draft.results)
        return [words for result in results for words, _ in said_in_results(result)]

    @cached_property
    def user(self) -> SourceIndex:
        """The words of the user, including answers and refusals."""
        spoken = (without_recalled(each.text) for each in self.shown if each.role == "user")
        return SourceIndex([*spoken, *self._answers])

    @cached_property
    def agent(self) -> SourceIndex:
        """The words of the agent."""
        return SourceIndex(without_recalled(each.text) for each in self.shown if each.role == "assistant")

    @cached_property
    def steps(self) -> list[Step]:
        """The calls of the run."""
        return run_steps(self.material)

    @cached_property
    def done(self) -> SourceIndex:
        """Every call of the run, what its task runners say that they run, and everything that was said: no outputs."""
        echoed = (line for step in self.steps if _runs_tasks(step) for line in _ECHOED.findall(step.output))
        return SourceIndex([*(call_text(step.call) for step in self.steps), *echoed, *self._spoken])

    @cached_property
    def _spoken(self) -> list[str]:
        said = (text for each in self.shown if each.role != "tool" for text in source_texts([each]))
        return [*said, *self._answers]

    @cached_property
    def errors(self) -> SourceIndex:
        """The error lines of failed calls, which a lesson may quote."""
        failed = [step for step in self.steps if step.failed_itself]
        lines = (line for step in failed for line in step.output.splitlines() if _SOUNDS_WRONG.search(line))
        return SourceIndex([*(step.error for step in failed), *lines])

    @cached_property
    def ordered(self) -> list[set[tuple[str, ...]]]:
        """The instructions in outputs, each as its sequences of words; instructions by the user are left out."""
        out: list[set[tuple[str, ...]]] = []
        for each in self.shown:
            if each.role != "tool":
                continue
            for line in "\n".join(source_texts([each])).splitlines():
                for sentence in sentences(line, small_opens=True):
                    if _INSTRUCTIONS.orders.search(sentence) and not self.user.holds(sentence):
                        out.append(_word_sequences(sentence))
        return out

    def index(self, message: Message) -> SourceIndex:
        """The index of one message."""
        if message.position not in self._by_message:
            self._by_message[message.position] = SourceIndex(source_texts([message]))
        return self._by_message[message.position]

    def cited(self, numbers: Iterable[int]) -> list[Message]:
        """The messages with these `numbers`, each once."""
        return [self.shown[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(self.shown)]

    def supporting(self, text: str, given: Sequence[Message]) -> tuple[Message, ...]:
        """The messages that support the claims of `text`, preferring `given` ones; in order."""
        chosen: list[Message] = []
        for claim in dict.fromkeys(claims(text)):
            if any(self.index(each).supports(claim) for each in chosen):
                continue
            found = next((each for each in (*given, *self._read) if self.index(each).supports(claim)), None)
            chosen += [found] if found is not None else []
        chosen += [each for each in given if each not in chosen]
        return tuple(sorted(chosen[:MOST_SOURCES], key=lambda each: each.position))


class Verified(Struct, frozen=True, kw_only=True):
    """The result of verifying a lesson."""

    observation: Observation | None = None
    complaints: tuple[str, ...] = ()
    """Why it was refused, or which parts were struck."""


def _verify(said: LessonSaid, evidence: RunEvidence) -> Verified:
    """Verify a lesson against its run."""
    why, whose = quoted_reason(said.why, evidence)
    first = _fault(said, why, whose, evidence)
    if first:
        return Verified(complaints=(first,))
    left = strike(said.lesson, evidence.grounds)
    text = _with_reason(left.text, why, whose)
    limits = strike(limits_of(said), evidence.grounds).text
    limits = "" if _orders_fault(limits, evidence) else limits
    if left.complaints and _opening(left.text) != _opening(said.lesson):
        return Verified(complaints=left.complaints)  # What it is about was struck: the rest would say something else.
    if left.complaints and _holds_way_out(said, said.lesson) and not _holds_way_out(said, left.text):
        return Verified(complaints=left.complaints)  # A trap without its way out helps nobody.
    if not left.text or not (why or named_in(text)):
        fault = "It names nothing of this project or its tools, and quotes nobody; any model knows it."
        return Verified(complaints=left.complaints or (fault,))
    if orders := _orders_fault(left.text, evidence):
        return Verified(complaints=(orders,))
    sources = evidence.supporting(f"{text} {limits}", evidence.cited(said.messages))
    texts = source_texts(sources)
    missing = check_text(f"{text} {limits}", SourceIndex(texts))
    if placed := next((each[0] for each in _PLACE.finditer(text) if not any(each[0] in one for one in texts)), ""):
        return Verified(complaints=(f"“{placed[:80]}” stands in none of its messages.",))
    if missing or not sources:
        named = f"The {missing[0].kind} “{missing[0].text[:80]}” stands in none" if missing else "It names none"
        return Verified(complaints=(f"{named} of its messages.",))
    return Verified(observation=_observation(said, text, why, limits, sources, evidence), complaints=left.complaints)


def _holds_way_out(said: LessonSaid, text: str) -> bool:
    way_out = " ".join(said.way_out.split()).rstrip(".")
    return bool(way_out) and way_out.casefold() in " ".join(text.split()).casefold()


def _opening(text: str) -> list[str]:
    return text.split()[:2]


def _fault(said: LessonSaid, why: str, whose: str, evidence: RunEvidence) -> str:
    """The reason to refuse the whole lesson; empty for none."""
    if error_text(said.lesson):
        return "It is an error text, and no lesson."
    if said.kind != "fact" and only_supposed(why, whose):
        return "The sentence in `why` is a guess; quote what a call proved, or leave the lesson out."
    if len(said.lesson.split()) > MOST_WORDS:
        return f"It has more than {MOST_WORDS} words."
    if said.kind == "ruling" and whose != "user":
        return "No user says the sentence in `why`; a ruling quotes the user, word for word."
    if evidence.material.outcome == "bad" and (said.kind == "practice" or said.way_out or said.way):
        return "The run is known to have come out badly: nothing that it did is a practice or a way out."
    if any(not evidence.grounds.ruled.holds(text) for text in (said.way_out, said.way) if instruction_like(text)):
        return "It repeats an instruction."
    return ""


def quoted_reason(why: str, evidence: RunEvidence) -> tuple[str, str]:
    """The quoted reason and its speaker; empty where nobody said it, or its length is unsuitable."""
    said = " ".join(why.split()).strip('“”"')
    if not LEAST_QUOTED <= len(said.split()) <= MOST_WHY_WORDS:
        return "", ""
    if evidence.user.holds(said):
        return said, "user"
    if evidence.agent.holds(said) and not instruction_like(said) and not _orders_fault(said, evidence):
        return said, "agent"
    return "", ""


def only_supposed(why: str, whose: str) -> bool:
    """Whether the agent only supposes what a quoted reason says."""
    return whose == "agent" and _INSTRUCTIONS.supposes.search(why) is not None


def limits_of(said: LessonSaid) -> str:
    """The sentence that says when a lesson does not apply."""
    when = " ".join(said.not_when.split()).rstrip(".")
    if not when:
        return ""
    return f"{when}." if when.lower().startswith(("not ", "it does not")) else f"It does not apply: {when}."


def _with_reason(lesson: str, why: str, whose: str) -> str:
    """The text of a lesson with its quoted reason."""
    said = lesson.strip()
    if not why or why.casefold().rstrip(".") in said.casefold():
        return said
    quoted = why.replace("“", "'").replace("”", "'").replace("**", "")
    return limited(said, f"“{quoted}” (the {whose})") if said else ""


def named_in(text: str) -> list[TextClaim]:
    """The claims of `text` about a project or its tools."""
    return [claim for claim in claims(text) if claim.kind in _OF_SOMETHING]


def _orders_fault(text: str, evidence: RunEvidence) -> str:
    """The complaint if `text` repeats an instruction of an output that nobody followed and the user did not give."""
    for claim in claims(text):
        head = claim.text.partition(" ")[0]
        is_call = claim.kind == "command" and _PROGRAM.match(claim.text) and head not in _CODE_HEADS
        if is_call and not evidence.done.supports(claim):
            return f"Nobody ran “{claim.text[:80]}”; that an output names it is no experience."
    # The words of an error that was met, and a command that was run, are experience wherever else they stand.
    bare = _QUOTED.sub(lambda found: " … " if evidence.errors.holds(found[0]) else found[0], text)
    bare = _CODE.sub(lambda found: " … " if evidence.done.holds(found[1]) else found[0], bare)
    rows = {row for row in _word_sequences(bare) if not evidence.user.holds(" ".join(row))}
    if any(rows & each for each in evidence.ordered):
        return "It repeats what an output asks for."
    return ""


def _word_sequences(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[at : at + REPEATED_WORDS]) for at in range(len(words) - REPEATED_WORDS + 1)}


def _observation(
    said: LessonSaid, text: str, why: str, limits: str, sources: Sequence[Message], evidence: RunEvidence
) -> Observation:
    trigger = _trigger(said, why, evidence)
    way_out = " ".join(said.way_out.split()).rstrip(".")
    stands = bool(way_out) and way_out.casefold() in text.casefold()
    return Observation(
        cue=f"{MODEL}{ruling_cue(why) if said.kind == 'ruling' else likeness_key(text)}",
        category=CATEGORIES[said.kind],
        session=evidence.material.session,
        project=evidence.material.project,
        at=next((each.draft.at for each in reversed(sources) if each.draft.at is not None), None),
        held=1,
        text=text,
        way_out=way_out if stands and said.kind in ("trap", "ruling") else "",
        why=why,
        trigger=trigger,
        limits=limits,
        sources=tuple(each.id for each in sources),
    )


def _trigger(said: LessonSaid, why: str, evidence: RunEvidence) -> Trigger | None:
    """The trigger of a trap, if most matching calls of the run failed; or of a ruling that names the call."""
    trap = " ".join(said.trap.split()).strip("`")
    if said.kind not in ("trap", "ruling") or not trap:
        return None
    way = " ".join(said.way.split()).strip("`")
    unless = (way,) if way and evidence.done.holds(way) else ()
    step = main_step(trap)
    if _PATHLIKE.fullmatch(trap):
        trigger = Trigger(path=trap.removeprefix("./"), unless=unless)
    elif step is not None and step.name:
        words = tuple(word for word in step.words if word not in step.name.split())
        trigger = Trigger(command=step.name, words=words[:MOST_TRIGGER_WORDS], unless=unless)
    else:
        return None
    met, failed = 0, 0
    for each in evidence.steps:
        if way and way in " ".join(each.command.split()) and not each.failed:
            break  # Whoever took the way out steps into it no more.
        if each.result is not None and _matches_trigger(each, trigger):
            met, failed = met + 1, failed + each.failed_itself
    named = SourceIndex([why]).holds(trap)
    return trigger if named or (said.kind == "trap" and 2 * failed > met) else None


def _runs_tasks(step: Step) -> bool:
    """Whether a call starts a task of a task runner, which prints the commands that it runs."""
    main = main_step(command_of(step.call))
    program, _, task = main.name.partition(" ") if main is not None else ("", "", "")
    return bool(task) and (program in programs().tasks or program in _TASK_RUNNERS)


def _matches_trigger(step: Step, trigger: Trigger) -> bool:
    if trigger.path:
        return trigger.path in step.command
    called = shell_steps(command_of(step.call))
    return any(each.name == trigger.command and {*trigger.words} <= {*each.words} for each in called)
