"""Ask a model for the lessons of a run, and keep those that the run supports.

A lesson is refused only if it is surely wrong: if it names something that no message shows, passes on an instruction
from an output that nobody followed, or cites words that nobody said. An unsupported clause is struck, a wrong number of
a message is put right. Then the model looks at all of its lessons once more, together with the messages of the run that
name the same, and says what misleads, what is told in narrower words, and what says no more than a known lesson.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from string import ascii_lowercase
from types import MappingProxyType

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import excerpt, shorten
from ireneo.errors import ModelError
from ireneo.grounding.check import Grounds, is_error_text, strike_unsupported
from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, call_text, check_text, source_texts
from ireneo.language.files import topic
from ireneo.language.topics import Instructions
from ireneo.language.words import sentences, terms
from ireneo.lessons.attempts import Attempt, Task, read_tasks
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.naming import programs
from ireneo.lessons.observe import with_limits
from ireneo.lessons.rulings import ruling_cue
from ireneo.lessons.run import CATEGORY, MODEL, Category, DiaryEntry, Observation, Trigger
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.lessons.study import MOST_AGAINST, MOST_SOURCES
from ireneo.lessons.write_diary import render_diary
from ireneo.log.calls import has_instruction, quote_instructions
from ireneo.log.message import Count, Message, MessageId, without_recalled
from ireneo.memories.record import MemoryId, Record, likeness_key
from ireneo.patterns import lazy_re
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.prompts import LESSONS, LESSONS_LOOK
from ireneo.prompts.replies import LessonKind, LessonSaid, LessonsLook, LessonsReply
from ireneo.summaries.own_words import user_words_in_result
from ireneo.summaries.statements import prose, prose_worth
from ireneo.summaries.steps import Step

_INSTRUCTIONS = topic(Instructions)


MOST_WORDS, MOST_WHY_WORDS = 70, 45
REPEATED_WORDS = 4
"""A lesson repeats an instruction if it has this many consecutive words of it."""
MOST_TRIGGER_WORDS = 6
LEAST_QUOTED = 3
"""The fewest words of a quoted reason."""
CATEGORIES: Mapping[LessonKind, Category] = {
    "ruling": "procedural",
    "trap": "failure",
    "practice": "procedural",
    "fact": "factual",
}
_OF_SOMETHING = frozenset(("path", "identifier", "error", "command", "quotation", "name"))
"""Kinds of claims that name something of the project or its tools; a number alone does not."""
_TASK_RUNNERS = frozenset("bun deno just mise npm pnpm yarn".split())
_ECHOED = lazy_re(r"^(?:\[[\w:.-]{1,40}\] )?[$>] (\S[^\n]{1,300})$", re.M)
"""A command that a task runner prints before running it: `[test] $ go test ./...`."""
_WORD = lazy_re(r"(?<![\w./:@|&=+-])[\w./:@|&=+-]*\w")
_SOUNDS_WRONG = lazy_re(r"error|fail|fatal|panic|invalid|cannot|can't|denied|exception|not found", re.I)
_QUOTED = lazy_re(r"“[^“”]{0,600}”|\"[^\"\n]{0,600}\"")
_CODE = lazy_re(r"`([^`\n]{1,300})`")
_CODE_HEADS = frozenset(
    "class const def export from func function implements import interface let namespace package private public return "
    "static struct type using var".split()
)
"""Words that begin a line of code which is not a shell command."""
_PROGRAM = lazy_re(r"(?:\./)?[A-Za-z][\w./-]*(?:\s|\Z)(?![:=])")
_PATHLIKE = lazy_re(r"[\w@~.*-]*(?:/[\w@.*-]+)+/?|[\w@-]*\.[\w.-]+")
_PLACE = lazy_re(r"(?<![\w/.:-])(?=[\w.-]*/[\w./-]*[A-Z_.\d/])[\w.-]+(?:/[\w-]+(?:\.[\w-]+)*)+")
"""Names with a slash that are paths, unlike two words such as “and/or”."""


class RunEvidence:
    """A run's evidence, as far as a model saw it: who said what, what was done, and what outputs instruct."""

    def __init__(self, material: RunMaterial, shown: Sequence[Message], told: Sequence[Message] = ()) -> None:
        """Take the messages that a model was `shown`, numbered from 1, and those it was only `told` of by the diary."""
        self.material, self.shown, self.told = material, shown, told
        self._read = (*shown, *told)
        self._by_message: dict[int, SourceIndex] = {}

    @cached_property
    def grounds(self) -> Grounds:
        """All that was shown; a user's words within a tool's result count as the user's."""
        return Grounds(self._read, asked=self._user_words_in_results, voice=None)

    @cached_property
    def _user_words_in_results(self) -> list[str]:
        results = (result for each in self.shown for result in each.draft.results)
        return [words for result in results for words, _ in user_words_in_result(result)]

    @cached_property
    def user(self) -> SourceIndex:
        """The words of the user, including answers and refusals."""
        spoken = (without_recalled(each.text) for each in self.shown if each.role == "user")
        return SourceIndex([*spoken, *self._user_words_in_results])

    @cached_property
    def agent(self) -> SourceIndex:
        """The words of the agent."""
        return SourceIndex(without_recalled(each.text) for each in self.shown if each.role == "assistant")

    @cached_property
    def steps(self) -> list[Step]:
        """The calls of the run."""
        return run_steps(self.material)

    @cached_property
    def actions(self) -> SourceIndex:
        """Every call of the run, the commands that task runners print, and everything that was said, but no outputs."""
        echoed = (line for step in self.steps if _runs_tasks(step) for line in _ECHOED.findall(step.output))
        return SourceIndex([*(call_text(step.call) for step in self.steps), *echoed, *self._spoken_texts])

    @cached_property
    def _spoken_texts(self) -> list[str]:
        said = (text for each in self.shown if each.role != "tool" for text in source_texts([each]))
        return [*said, *self._user_words_in_results]

    @cached_property
    def errors(self) -> SourceIndex:
        """The error lines of failed calls, which a lesson may quote."""
        failed = [step for step in self.steps if step.failed_itself]
        lines = (line for step in failed for line in step.output.splitlines() if _SOUNDS_WRONG.search(line))
        return SourceIndex([*(step.error for step in failed), *lines])

    @cached_property
    def output_instructions(self) -> list[set[tuple[str, ...]]]:
        """The instructions in outputs, each as its sequences of words, without the user's own instructions."""
        out: list[set[tuple[str, ...]]] = []
        for each in self.shown:
            if each.role != "tool":
                continue
            for line in "\n".join(source_texts([each])).splitlines():
                for sentence in sentences(line, small_opens=True):
                    if _INSTRUCTIONS.orders.search(sentence) and not self.user.has_words(sentence):
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
    """Why it was refused, or which parts were removed."""


def verify(said: LessonSaid, evidence: RunEvidence) -> Verified:
    """Verify a lesson against its run."""
    why, whose = quoted_reason(said.why, evidence)
    first = _refusal_reason(said, why, whose, evidence)
    if first:
        return Verified(complaints=(first,))
    left = strike_unsupported(said.lesson, evidence.grounds)
    text = _with_reason(left.text, why, whose)
    limits = strike_unsupported(limits_sentence(said), evidence.grounds).text
    limits = "" if _injected_order(limits, evidence) else limits
    if left.complaints and _first_words(left.text) != _first_words(said.lesson):
        return Verified(complaints=left.complaints)  # Its subject was removed, so the rest would say something else.
    if left.complaints and _contains_way_out(said, said.lesson) and not _contains_way_out(said, left.text):
        return Verified(complaints=left.complaints)  # A trap without a way out helps nobody.
    if not left.text or not (why or project_claims(text)):
        fault = "It names nothing of this project or its tools, and quotes nobody; any model knows it."
        return Verified(complaints=left.complaints or (fault,))
    if orders := _injected_order(left.text, evidence):
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


def _contains_way_out(said: LessonSaid, text: str) -> bool:
    way_out = " ".join(said.way_out.split()).rstrip(".")
    return bool(way_out) and way_out.casefold() in " ".join(text.split()).casefold()


def _first_words(text: str) -> list[str]:
    return text.split()[:2]


def _refusal_reason(said: LessonSaid, why: str, whose: str, evidence: RunEvidence) -> str:
    """The reason to refuse the whole lesson; empty for none."""
    if is_error_text(said.lesson):
        return "It is an error text, and no lesson."
    if said.kind != "fact" and whose == "agent" and _INSTRUCTIONS.supposes.search(why) is not None:
        return "The sentence in `why` is a guess; quote what a call proved, or leave the lesson out."
    if len(said.lesson.split()) > MOST_WORDS:
        return f"It has more than {MOST_WORDS} words."
    if said.kind == "ruling" and whose != "user":
        return "No user says the sentence in `why`; a ruling quotes the user, word for word."
    if evidence.material.outcome == "bad" and (said.kind == "practice" or said.way_out or said.way):
        return "The run is known to have come out badly: nothing that it did is a practice or a way out."
    if any(
        not evidence.grounds.instruction_sources.has_words(text)
        for text in (said.way_out, said.way)
        if has_instruction(text)
    ):
        return "It repeats an instruction."
    return ""


def quoted_reason(why: str, evidence: RunEvidence) -> tuple[str, str]:
    """The quoted reason and its speaker; empty if nobody said it, or if it is too long or too short."""
    said = " ".join(why.split()).strip('“”"')
    if not LEAST_QUOTED <= len(said.split()) <= MOST_WHY_WORDS:
        return "", ""
    if evidence.user.has_words(said):
        return said, "user"
    if evidence.agent.has_words(said) and not has_instruction(said) and not _injected_order(said, evidence):
        return said, "agent"
    return "", ""


def limits_sentence(said: LessonSaid) -> str:
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
    return with_limits(said, f"“{quoted}” (the {whose})") if said else ""


def project_claims(text: str) -> list[TextClaim]:
    """The claims of `text` about a project or its tools."""
    return [claim for claim in claims(text) if claim.kind in _OF_SOMETHING]


def _injected_order(text: str, evidence: RunEvidence) -> str:
    """The complaint if `text` repeats an instruction of an output that nobody followed and the user did not give."""
    for claim in claims(text):
        head = claim.text.partition(" ")[0]
        is_call = claim.kind == "command" and _PROGRAM.match(claim.text) and head not in _CODE_HEADS
        if is_call and not evidence.actions.supports(claim):
            return f"Nobody ran “{claim.text[:80]}”; that an output names it is no experience."
    # Words of an error that occurred, and commands that were run, are experience wherever else they appear.
    bare = _QUOTED.sub(lambda found: " … " if evidence.errors.has_words(found[0]) else found[0], text)
    bare = _CODE.sub(lambda found: " … " if evidence.actions.has_words(found[1]) else found[0], bare)
    rows = {row for row in _word_sequences(bare) if not evidence.user.has_words(" ".join(row))}
    if any(rows & each for each in evidence.output_instructions):
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
    unless = (way,) if way and evidence.actions.has_words(way) else ()
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
            break  # After taking the way out, the run no longer meets the trap.
        if each.result is not None and _matches_trigger(each, trigger):
            met, failed = met + 1, failed + each.failed_itself
    named = SourceIndex([why]).has_words(trap)
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


OWN_TOOLS = "ireneo"
"""Part of the names of the memory's own tools, whose answers were recalled and so are not evidence."""
SHOWN_TOKENS = 16_000
"""How many tokens of a run's messages a model is shown besides the diary; small models read this much well."""
FILLED_TOKENS = 10_000
"""Up to this many tokens unimportant messages are shown too, so that a short run is shown whole."""
DIARY_TOKENS = 4_000
USER_TOKENS, AGENT_TOKENS, ERROR_TOKENS, OUTPUT_TOKENS, CALL_TOKENS = 500, 350, 350, 120, 60
"""How many tokens of a message are shown, by speaker."""
WIDER = (6, 4, 3, 2, 1)
"""Factors for the allowance of a message; the largest one that fits all of them is taken."""
LEAST_SAID = 1.5
"""The minimum worth of a message that is shown beyond `FILLED_TOKENS`."""
COSTLIEST = 12
"""The maximum number of failures of a run that are shown with their outcome, the most costly first."""
AFTER = 2
"""How many messages after a failure may explain it."""
MOST_LESSONS, MOST_FACTS, LEAST_WORTH = 5, 3, 3
LOOKED_TOKENS = 800
"""The tokens of messages shown for each lesson in the second look."""
LOOKED_TIMES = (4, 3, 2, 1.5, 1, 0.7, 0.5)
"""The same for the second look."""
RELATED, NEIGHBOURS = 3, 2
"""The maximum numbers of messages that name the same things as a lesson but aren't cited, and of known lessons like
it."""
NEAR = 0.2
"""The minimum similarity (shared words and names over all words and names) of a known lesson shown with a new one."""
KNOWN_TOLD = 40
"""How many known lessons of the project a model may confirm or contradict."""
MOST_DRAWN = len(ascii_lowercase)
_FENCES = ("</messages>", "</diary>", "</known>", "</drawn>")
_LOG = logging.getLogger("ireneo")
_SPEAKERS = {"assistant": "agent", "tool": "output"}
_OUTCOMES = {"good": "its log says that it came out well", "bad": "its log says that it came out badly"}


class Synthesis(Struct, frozen=True, kw_only=True):
    """A model's answers about a run."""

    observations: tuple[Observation, ...] = ()
    worthless: frozenset[str] = frozenset()
    """The cues of observations by rules that the model calls wrong or useless."""
    refused: tuple[str, ...] = ()
    """The refused lessons, and why."""
    usage: tuple[Usage, ...] = ()

    def joined(self, other: Synthesis) -> Synthesis:
        """Join the answers about two parts of one run."""
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

    `drawn` are the new lessons of rules; the model can't drop those that other runs showed as well.
    """
    # Lessons in a model's words come first: rules count the others without being shown them.
    told = sorted((each for each in known if each.cue), key=lambda each: not each.cue.startswith(MODEL))
    asked = told[:KNOWN_TOLD]
    shown, prompt = await asyncio.to_thread(_prompt, material, entries, asked, drawn[:MOST_DRAWN], count)
    evidence = RunEvidence(material, shown, _cited_in_diary(material, entries, shown))
    answer = await model.ask(prompt, LessonsReply)
    usage = [answer.usage]
    again = [
        (held, asked[each.lesson - 1], evidence.cited(each.messages))
        for held, those in ((True, answer.value.confirmed), (False, answer.value.contradicted))
        for each in those
        if 1 <= each.lesson <= len(asked)
    ]
    held = await asyncio.to_thread(_verify_all, answer.value.lessons, evidence)
    if held:
        look, second = await asyncio.to_thread(_second_look, held, told, evidence, count)
        try:
            looked = await model.ask(second, LessonsLook)
        except ModelError as error:
            _LOG.warning("%s The lessons stay as they are.", error)
        else:
            usage.append(looked.usage)
            again += [
                (True, look.near[each.known - 1], look.evidence.cited(held[each.lesson - 1][0].messages))
                for each in looked.value.dropped
                if 1 <= each.lesson <= len(held) and 1 <= each.known <= len(look.near)
            ]
            held = await asyncio.to_thread(_apply_second_look, held, looked.value, look.evidence)
    kept, refused = _choose_lessons(held)
    kept += await asyncio.to_thread(_observe_known, again, evidence)
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
    rooms = _message_allowances(material)
    shown = [message for message in material.messages if message.id in rooms]
    prompt = LESSONS.render(
        about=_describe_run(material),
        diary=_shorten_for_prompt(render_diary(entries), DIARY_TOKENS, count) or "(nothing was tried)",
        messages=_render_numbered(dict(enumerate(shown, 1)), rooms, count),
        drawn="\n".join(
            f"{at}. {quote_instructions(each.text, _FENCES)}" for at, each in zip(ascii_lowercase, drawn, strict=False)
        )
        or "(nothing)",
        known="\n".join(f"{at}. {quote_instructions(each.text, _FENCES)}" for at, each in enumerate(told, 1))
        or "(none)",
    )
    return shown, prompt


def _cited_in_diary(
    material: RunMaterial, entries: Sequence[DiaryEntry], shown: Sequence[Message]
) -> tuple[Message, ...]:
    """The messages that the diary cites, apart from those that are shown."""
    there = {each.id for each in shown}
    named = {name for entry in entries for line in entry.lines for name in line.sources} - there
    return tuple(each for each in material.messages if each.id in named)


def _describe_run(material: RunMaterial) -> str:
    project = f"project {material.project}" if material.project else "no project is named"
    began = next((each.draft.at for each in material.messages if each.draft.at), None)
    when = f"; begun on {began:%Y-%m-%d}" if began else ""
    return f"{project}{when}; {_OUTCOMES.get(material.outcome, 'how it came out, nobody noted')}."


def _message_allowances(material: RunMaterial) -> dict[MessageId, int]:
    """The messages that are shown, with their allowance in tokens: the most valuable ones that fit."""
    tasks = read_tasks(material)
    messages = {message.id: message for message in _own_messages(material)}
    worth = _message_values(list(messages.values()), tasks)
    failed = {step.answer for task in tasks for step in task.steps if step.failed}
    out: dict[MessageId, int] = {}
    left = SHOWN_TOKENS
    for name in sorted(messages, key=lambda each: (-worth.get(each, 0.0), -messages[each].position)):
        room = _message_allowance(messages[name], failed=name in failed)
        cost = min(room, messages[name].tokens)
        if cost <= left - (0 if worth.get(name, 0.0) > LEAST_SAID else SHOWN_TOKENS - FILLED_TOKENS):
            out[name] = room
            left -= cost
    return _widened(out, messages, WIDER, SHOWN_TOKENS)


def _widened(
    rooms: Mapping[MessageId, float], messages: Mapping[MessageId, Message], factors: Sequence[float], most: int
) -> dict[MessageId, int]:
    """The allowances times the first of `factors` with which the messages fit, else the last."""
    sizes = [(room, messages[name].tokens) for name, room in rooms.items()]
    fitting = (times for times in factors if sum(min(times * room, size) for room, size in sizes) <= most)
    times = next(fitting, factors[-1])
    return {name: int(times * room) for name, room in rooms.items()}


def _message_values(messages: Sequence[Message], tasks: Sequence[Task]) -> dict[MessageId, float]:
    """The worth of messages: the user's, those of costly failures, the agent's reasons, and the ends of tasks."""
    worth: dict[MessageId, float] = {}
    called = {call.id: message.id for message in messages for call in message.draft.calls}
    for message in messages:
        answered = [each for each in message.draft.results if any(True for _ in user_words_in_result(each))]
        if message.role == "user" or answered:
            worth[message.id] = 100.0
            # Without its call, a refusal would seem to concern the call shown before.
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


def _own_messages(material: RunMaterial) -> list[Message]:
    """The run's messages, without the answers of the memory's own tools."""
    recalled = {call.id for each in material.messages for call in each.draft.calls if OWN_TOOLS in call.name.lower()}
    return [each for each in material.messages if not any(answer.call_id in recalled for answer in each.draft.results)]


def _costliest(tasks: Sequence[Task]) -> list[Attempt]:
    failed = [each for task in tasks for each in task.attempts if each.outcome not in ("worked", "open") or each.error]
    return sorted(failed, key=lambda each: -(each.cost.tokens + 50 * each.cost.seconds + 500 * each.times))[:COSTLIEST]


def _message_allowance(message: Message, *, failed: bool) -> int:
    if message.role == "tool":
        return ERROR_TOKENS if failed else OUTPUT_TOKENS
    return AGENT_TOKENS if message.role == "assistant" else USER_TOKENS


def _render_numbered(
    shown: Mapping[int, Message],
    rooms: Mapping[MessageId, int],
    count: Count,
    wanted: Mapping[MessageId, set[str]] = MappingProxyType({}),
) -> str:
    """Render messages, each cut to its allowance; in long texts only lines near a name in `wanted` are shown."""
    lines: list[str] = []
    last = -1
    for number, message in shown.items():
        lines += ["…"] if message.position > last + 1 and lines else []
        last = message.position
        room = rooms.get(message.id, AGENT_TOKENS)
        names = wanted.get(message.id, set())
        parts = [
            _shorten_for_prompt(_lines_near_names(without_recalled(message.text), names, room, count), room, count)
        ]
        for result in message.draft.results:
            output = without_recalled(result.text)
            text = _lines_near_names(output, names, room, count)
            # In a long output the line with the error may be anywhere.
            telling = excerpt(text, room, "", count) if text == output else None
            parts.append(quote_instructions(telling, _FENCES) if telling else _shorten_for_prompt(text, room, count))
        called = CALL_TOKENS * max(room // _message_allowance(message, failed=False), 1)
        calls = (
            " ".join(_lines_near_names(call_text(call), names, called, count).split()) for call in message.draft.calls
        )
        parts = [text for text in parts if text.strip()] + [
            f"→ {_shorten_for_prompt(text, called, count)}" for text in calls
        ]
        lines.append(f"[{number}] {_SPEAKERS.get(message.role, message.role)}: " + "\n".join(parts))
    return "\n".join(lines)


def _lines_near_names(text: str, names: set[str], room: int, count: Count) -> str:
    """The first line of a text, and the lines near one of `names`; the whole text if it fits or none is in it."""
    lines = text.splitlines()
    held = [at for at, line in enumerate(lines) if any(name in line for name in names)]
    if not held or count(text) <= room:
        return text
    near = sorted({0, *(place for at in held for place in (at - 1, at, at + 1) if 0 <= place < len(lines))})
    told: list[str] = []
    for at in near:
        told += [lines[at]] if at == 0 or at - 1 in near else ["…", lines[at]]
    return "\n".join(told)


def _shorten_for_prompt(text: str, most: int, count: Count) -> str:
    cut = shorten(text, most, "", count)
    return quote_instructions(cut.text() if cut else text, _FENCES)


def _verify_all(lessons: Sequence[LessonSaid], evidence: RunEvidence) -> list[tuple[LessonSaid, Verified]]:
    return [(each, verify(each, evidence)) for each in lessons]


class _SecondLook(Struct, frozen=True, kw_only=True):
    """The material shown to a model for its second look at the lessons."""

    evidence: RunEvidence
    """The messages with their numbers: first those shown before, then others."""
    near: Sequence[Record]
    """Known lessons that are like the new ones."""


def _second_look(
    held: Sequence[tuple[LessonSaid, Verified]], known: Sequence[Record], evidence: RunEvidence, count: Count
) -> tuple[_SecondLook, Prompt]:
    """The prompt for a second look at lessons, with the messages they cite and others that name the same."""
    own = _own_messages(evidence.material)
    near: dict[MemoryId, Record] = {}
    wanted: dict[MessageId, set[str]] = {}
    more: dict[MessageId, Message] = {}
    words = {each.id: _words_of(each.text) for each in known}
    for said, _ in held:
        named = {claim.text for claim in project_claims(f"{said.lesson} {said.way_out} {said.way}")} | {said.why} - {""}
        cited = evidence.cited(said.messages)
        related = _related_messages(said, cited, own, evidence)
        for each in (*cited, *related):
            wanted.setdefault(each.id, set()).update(named)
        more |= {each.id: each for each in related if each not in evidence.shown}
        nearest = sorted((-_jaccard(_words_of(said.lesson), words[each.id]), each.id) for each in known)[:NEIGHBOURS]
        near |= {each.id: each for each in known if any(each.id == name and -much >= NEAR for much, name in nearest)}
    seen = (*evidence.shown, *more.values())
    places = {number: each for number, each in enumerate(seen, 1) if each.id in wanted}
    lines = (
        f"{number}. {msgspec.json.encode(_non_empty_fields(said)).decode()}"
        + (f"\n! {' '.join(taught.complaints)}" if taught.observation is None else "")
        for number, (said, taught) in enumerate(held, 1)
    )
    likely = "\n".join(f"{at}. {quote_instructions(each.text, _FENCES)}" for at, each in enumerate(near.values(), 1))
    prompt = LESSONS_LOOK.render(
        messages=_second_look_lines(places, wanted, LOOKED_TOKENS * len(held), count) or "(none)",
        known=likely or "(none)",
        lessons="\n".join(lines),
    )
    return _SecondLook(evidence=RunEvidence(evidence.material, seen, evidence.told), near=tuple(near.values())), prompt


def _non_empty_fields(said: LessonSaid) -> dict[str, object]:
    return {name: value for name, value in msgspec.structs.asdict(said).items() if value not in ("", [])}


def _words_of(text: str) -> frozenset[str]:
    return frozenset((*terms(text), *(claim.text.casefold() for claim in claims(text))))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _related_messages(
    said: LessonSaid, cited: Sequence[Message], own: Sequence[Message], evidence: RunEvidence
) -> list[Message]:
    """Other messages that name what a lesson names, the rarest names first, each output with its call."""
    worth: dict[int, float] = {}
    for claim in dict.fromkeys(project_claims(f"{said.lesson} {said.way_out} {said.way} {said.trap}")):
        holding = [at for at, each in enumerate(own) if evidence.index(each).supports(claim)]
        for at in holding:
            worth[at] = worth.get(at, 0.0) + 1 / len(holding)
    there = {each.id for each in cited}
    best = [at for at in sorted(worth, key=lambda at: (-worth[at], -at)) if own[at].id not in there][:RELATED]
    with_calls = {*best, *(at - 1 for at in best if at and own[at].role == "tool")}
    return [own[at] for at in sorted(with_calls) if own[at].id not in there]


def _second_look_lines(
    places: Mapping[int, Message], wanted: Mapping[MessageId, set[str]], most: int, count: Count
) -> str:
    """The messages in order; of long outputs only the lines that name what the lessons name."""
    rooms = {each.id: _message_allowance(each, failed=True) / 2 for each in places.values()}
    widened = _widened(rooms, {each.id: each for each in places.values()}, LOOKED_TIMES, most)
    ordered = dict(sorted(places.items(), key=lambda each: each[1].position))
    return _render_numbered(ordered, widened, count, wanted)


def _apply_second_look(
    held: Sequence[tuple[LessonSaid, Verified]], look: LessonsLook, evidence: RunEvidence
) -> list[tuple[LessonSaid, Verified]]:
    """The lessons after a second look: unchanged, corrected, or refused with the model's reason."""
    out = dict(enumerate(held, 1))
    for mended in look.mended:
        if mended.number in out:
            out[mended.number] = (mended, verify(mended, evidence))
    for gone in look.dropped:
        if gone.lesson in out:
            why = " ".join(gone.why.split()) or "On a second look it does not stand."
            out[gone.lesson] = (out[gone.lesson][0], Verified(complaints=(why,)))
    return list(out.values())


def _choose_lessons(held: Sequence[tuple[LessonSaid, Verified]]) -> tuple[list[Observation], tuple[str, ...]]:
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


def mention_claim(text: str, cited: Sequence[Message]) -> bool:
    """Whether the messages mention any claim of `text`; only then are they evidence for or against it."""
    evidence = SourceIndex(source_texts(cited))
    return any(evidence.supports(claim) for claim in project_claims(text))


def _observe_known(again: Sequence[tuple[bool, Record, Sequence[Message]]], evidence: RunEvidence) -> list[Observation]:
    """Observations of known lessons worded by a model, which it confirms or contradicts by these messages."""
    out: dict[str, Observation] = {}
    for held, record, cited in again:
        there = cited[:MOST_SOURCES]
        if not record.cue.startswith(MODEL) or not mention_claim(record.text, there):
            continue
        names = tuple(each.id for each in there)
        out[record.cue] = Observation(
            cue=record.cue,
            category=CATEGORY[record.kind],
            session=evidence.material.session,
            project=evidence.material.project,
            at=next((each.draft.at for each in reversed(there) if each.draft.at), None),
            held=int(held),
            broke=int(not held),
            sources=names if held else (),
            against=() if held else names[:MOST_AGAINST],
        )
    return list(out.values())


def without_worthless(shown: Sequence[Observation], synthesis: Synthesis) -> list[Observation]:
    """The rules' observations; those that a model called worthless lose their text, and are only counted."""
    return [
        replace(each, text="", way_out="", why="", trigger=None) if each.cue in synthesis.worthless else each
        for each in shown
    ]
