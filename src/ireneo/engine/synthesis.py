"""What a model makes of a run: lessons in its words, held against the messages that it names for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ireneo.context.parts import share, shorten
from ireneo.engine.writing import ask_twice
from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, call_text, check_text, source_texts
from ireneo.grounding.neutral import instruction_like, neutralise
from ireneo.grounding.status import error_text
from ireneo.language.files import either, topic
from ireneo.language.sentences import sentences
from ireneo.language.topics import Instructions
from ireneo.lessons.run import CATEGORY, MODEL, DiaryEntry, Observation
from ireneo.lessons.shell import RunMaterial, run_steps
from ireneo.lessons.study import MOST_AGAINST, MOST_SOURCES
from ireneo.lessons.wording import limited
from ireneo.lessons.write_diary import render_diary
from ireneo.log.message import Count, Message
from ireneo.memories.record import Record, likeness_key
from ireneo.patterns import lazy_re
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.prompts import LESSONS_FAILURE, LESSONS_SUCCESS
from ireneo.prompts.replies import LessonSaid, LessonsReply

MOST_WORDS = 60
REPEATED_WORDS = 4
"""So many words in a row out of a sentence that orders something are that order."""
OWN_TOOLS = "ireneo"
"""What memory's own tools are called by in a log: what they answer was recalled."""
_OF_SOMETHING = frozenset(("path", "identifier", "error", "command", "quotation"))
"""Claims that name something of the project or its tools; a number alone, or a proper name, does not."""
_ORDERS = lazy_re(lambda: rf"\b{either(topic(Instructions).orders)}\b", re.I)
_PLACE = lazy_re(r"(?<![\w/.:-])[\w.-]+(?:/[\w-]+(?:\.[\w-]+)*)+")
"""Names with a slash; in prose some are words side by side, which a lesson can do without."""
_WORD = lazy_re(r"(?<![\w./:@|&=+-])[\w./:@|&=+-]*\w")


def limits_of(taught: LessonSaid) -> str:
    """When a lesson does not apply, as it stands behind it."""
    when = " ".join(taught.not_when.split()).rstrip(".")
    if not when:
        return ""
    return f"{when}." if when.lower().startswith(("not ", "it does not")) else f"It does not apply: {when}."


def fault_of(taught: LessonSaid, shown: Sequence[Message]) -> str:
    """Why a lesson can't stand, in a sentence; empty where it can. `shown` are the messages that it numbers, from 1."""
    said = limited(taught.lesson, limits_of(taught))
    cited = cited_by(taught.messages, shown)
    if error_text(taught.lesson) or error_text(said):
        return "It is an error text, and no lesson."
    if instruction_like(said) or instruction_like(taught.task_type):
        return "It repeats an instruction."
    if len(said.split()) > MOST_WORDS:
        return f"It has more than {MOST_WORDS} words."
    if any(not 1 <= number <= len(shown) for number in taught.messages):
        return "It names a message that was not shown."
    if not cited:
        return "It names no message that shows it."
    if taught.category == "failure" and not taught.not_when.strip():
        return "It does not say when it does not apply."
    return _claims_fault(taught, cited) or _orders_fault(taught, cited)


def cited_by(numbers: Iterable[int], shown: Sequence[Message]) -> list[Message]:
    """The messages that are meant by `numbers`, each once; as many as are kept as sources, so that those show it."""
    return [shown[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(shown)][:MOST_SOURCES]


def speaks_of(text: str, cited: Sequence[Message]) -> bool:
    """Whether the messages show anything of what `text` names; only then do they speak for or against it."""
    evidence = SourceIndex(source_texts(cited))
    return any(evidence.supports(claim) for claim in _named(text))


def _claims_fault(taught: LessonSaid, cited: Sequence[Message]) -> str:
    if not _named(taught.lesson):
        return "It names nothing of this project or its tools; any model knows it."
    said, texts = limited(taught.lesson, limits_of(taught)), source_texts(cited)
    placed = next((each for each in _PLACE.findall(said) if not any(each in text for text in texts)), "")
    if placed:
        return f"“{placed[:80]}” stands in none of its messages."
    missing = check_text(said, SourceIndex(texts))
    return f"The {missing[0].kind} “{missing[0].text[:80]}” stands in none of its messages." if missing else ""


def _named(text: str) -> list[TextClaim]:
    return [claim for claim in claims(text) if claim.kind in _OF_SOMETHING]


def _orders_fault(taught: LessonSaid, cited: Sequence[Message]) -> str:
    """What an output asks for is nobody's experience until somebody did it."""
    said = limited(taught.lesson, limits_of(taught))
    done = SourceIndex([call_text(call) for each in cited for call in each.draft.calls])
    spoken = SourceIndex(text for each in cited if each.role != "tool" for text in source_texts([each]))
    for claim in claims(said):
        if claim.kind == "command" and not done.supports(claim) and not spoken.supports(claim):
            return f"Nobody ran “{claim.text[:80]}” in its messages; that an output names it is no experience."
    runs = _runs(said)
    for each in cited:
        if each.role != "tool":
            continue
        lines = "\n".join(source_texts([each])).splitlines()
        for sentence in (sentence for line in lines for sentence in sentences(line, small_opens=True)):
            if _ORDERS.search(sentence) and runs & _runs(sentence):
                return "It repeats what an output asks for."
    return ""


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[at : at + REPEATED_WORDS]) for at in range(len(words) - REPEATED_WORDS + 1)}


SHOWN_TOKENS = 12_000
"""What a model is shown of a run beside its diary: so much small models read well."""
MESSAGE_TOKENS = 700
DIARY_TOKENS = 6_000
MOST_LESSONS = 5
KNOWN_TOLD = 40
"""Known lessons of the project that a model may confirm or contradict."""
_FENCES = ("</messages>", "</diary>", "</known>")


class Synthesis(Struct, frozen=True, kw_only=True):
    """What a model made of a run."""

    observations: tuple[Observation, ...] = ()
    refused: tuple[str, ...] = ()
    """What was not let stand, and why."""
    usage: tuple[Usage, ...] = ()


async def synthesise(
    model: LanguageModel, material: RunMaterial, entries: Sequence[DiaryEntry], known: Sequence[Record], count: Count
) -> Synthesis:
    """Ask a model what a run teaches beyond the lessons that are `known`. Raises ModelError."""
    # Those in a model's words first: of the others the rules count without being told.
    told = sorted((each for each in known if each.cue), key=lambda each: not each.cue.startswith(MODEL))[:KNOWN_TOLD]
    shown, prompt = await asyncio.to_thread(_prompt, material, entries, told, count)

    def faults(reply: LessonsReply) -> list[str]:
        found = ((taught, fault_of(taught, shown)) for taught in reply.lessons)
        return [f"“{taught.lesson[:80]}”: {why}" for taught, why in found if why]

    asked = await ask_twice(model, prompt, LessonsReply, faults)
    return await asyncio.to_thread(_judged, asked.last, asked.usage, told, shown, material)


def _prompt(
    material: RunMaterial, entries: Sequence[DiaryEntry], told: Sequence[Record], count: Count
) -> tuple[list[Message], Prompt]:
    """The messages that a model is shown, and all that it is asked."""
    shown = _shown(material, entries, count)
    text = LESSONS_FAILURE if _failed(material) else LESSONS_SUCCESS
    return shown, text.render(
        diary=_cut(render_diary(entries), DIARY_TOKENS, "diary", count) or "(nothing was tried)",
        messages=_numbered(shown, count),
        known="\n".join(f"{at}. {neutralise(each.text, _FENCES)}" for at, each in enumerate(told, 1)) or "(none)",
    )


def _judged(
    reply: LessonsReply,
    usage: tuple[Usage, ...],
    told: Sequence[Record],
    shown: Sequence[Message],
    material: RunMaterial,
) -> Synthesis:
    """What of a model's answer stands."""
    kept: list[Observation] = []
    refused: list[str] = []
    for taught in reply.lessons:
        why = fault_of(taught, shown) or ("There are five already." if len(kept) == MOST_LESSONS else "")
        if why:
            refused.append(f"“{taught.lesson[:80]}”: {why}")
        else:
            kept.append(_observation(taught, shown, material))
    kept += _again(reply, told, shown, material)
    return Synthesis(observations=tuple(kept), refused=tuple(refused), usage=usage)


def _failed(material: RunMaterial) -> bool:
    """Whether the run is to be read for what failed: it ended in a failure, or half of its calls failed."""
    told = [step for step in run_steps(material) if step.result is not None and not step.rejected]
    failed = [step.failed_itself for step in told]
    return bool(failed) and (failed[-1] or 2 * sum(failed) > len(failed))


def _shown(material: RunMaterial, entries: Sequence[DiaryEntry], count: Count) -> list[Message]:
    """The messages that the diary stands on, then those around the failures, as far as there is room; in order."""
    named = {name for entry in entries for name in (entry.opening, entry.last)}
    lines = (line for entry in entries for line in (*entry.attempted, *entry.worked, *entry.failed))
    named |= {name for line in lines for name in line.sources}
    recalled = {call.id for each in material.messages for call in each.draft.calls if OWN_TOOLS in call.name.lower()}
    theirs = [
        each for each in material.messages if not any(answer.call_id in recalled for answer in each.draft.results)
    ]
    ranked = sorted(theirs, key=lambda each: (each.id not in named, each.role == "tool", -each.position))
    left = SHOWN_TOKENS
    out: list[Message] = []
    for message in ranked:
        left -= min(MESSAGE_TOKENS, message.tokens)
        if left < 0:
            break
        out.append(message)
    return sorted(out, key=lambda each: each.position)


def _numbered(shown: Sequence[Message], count: Count) -> str:
    texts = ["\n".join(source_texts([message])) for message in shown]
    rooms = share([count(text) for text in texts], SHOWN_TOKENS, floor=MESSAGE_TOKENS)
    lines = [
        f"[{number}] {message.role}: {_cut(text, room, message.id, count)}"
        for number, (message, text, room) in enumerate(zip(shown, texts, rooms, strict=True), 1)
    ]
    return "\n".join(lines)


def _cut(text: str, most: int, name: str, count: Count) -> str:
    cut = shorten(text, most, name, count)
    return neutralise(cut.text() if cut else text, _FENCES)


def _observation(taught: LessonSaid, shown: Sequence[Message], material: RunMaterial) -> Observation:
    cited = cited_by(taught.messages, shown)
    at = next((each.draft.at for each in reversed(cited) if each.draft.at is not None), None)
    return Observation(
        cue=f"{MODEL}{likeness_key(taught.lesson)}",
        category=taught.category,
        session=material.session,
        project=material.project,
        at=at,
        held=1,
        text=" ".join(taught.lesson.split()),
        task_type=" ".join(taught.task_type.split()),
        limits=limits_of(taught),
        sources=tuple(each.id for each in cited),
    )


def _again(
    reply: LessonsReply, told: Sequence[Record], shown: Sequence[Message], material: RunMaterial
) -> list[Observation]:
    """What the run says of lessons in a model's words; those that the rules count need nobody's word."""
    out: dict[str, Observation] = {}
    for held, said in ((True, reply.confirmed), (False, reply.contradicted)):
        for again in said:
            record = told[again.lesson - 1] if 1 <= again.lesson <= len(told) else None
            there = cited_by(again.messages, shown)
            if record is None or not record.cue.startswith(MODEL) or not speaks_of(record.text, there):
                continue
            cited = tuple(each.id for each in there)
            out[record.cue] = Observation(
                cue=record.cue,
                category=CATEGORY[record.kind],
                session=material.session,
                project=material.project,
                at=next((each.draft.at for each in reversed(shown) if each.id in cited and each.draft.at), None),
                held=int(held),
                broke=int(not held),
                sources=cited if held else (),
                against=() if held else cited[:MOST_AGAINST],
            )
    return list(out.values())
