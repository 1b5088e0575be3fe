"""Find the lessons of a model that a run supports, and the reasons to refuse others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ireneo.grounding.check import Grounds, is_error_text, strike_unsupported
from ireneo.grounding.claims import TextClaim, claims, has_instruction
from ireneo.grounding.evidence import SourceIndex, call_text, check_text, source_texts
from ireneo.language.files import topic
from ireneo.language.topics import Instructions
from ireneo.language.words import sentences
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.naming import programs
from ireneo.lessons.observe import with_limits
from ireneo.lessons.rulings import ruling_cue
from ireneo.lessons.run import MODEL, Category, Observation, Trigger
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.lessons.study import MOST_SOURCES
from ireneo.log.message import Message, without_recalled
from ireneo.memories.record import likeness_key
from ireneo.patterns import lazy_re
from ireneo.prompts.replies import LessonKind, LessonSaid
from ireneo.summaries.own_words import user_words_in_result
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
