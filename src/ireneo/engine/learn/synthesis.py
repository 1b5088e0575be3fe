"""What a model makes of a run: lessons in its words, held against the messages that it names for them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.parts import share
from ireneo.context.shorten import shorten
from ireneo.context.weigh import Count
from ireneo.engine.learn.taught import OWN_TOOLS, cited_by, fault_of, limits_of, speaks_of
from ireneo.engine.writing.asked import ask_twice
from ireneo.grounding.neutral import neutralise
from ireneo.grounding.sources import source_texts
from ireneo.lessons.diary import Entry
from ireneo.lessons.material import Material, material_steps
from ireneo.lessons.render_diary import render_diary
from ireneo.lessons.sighting import CATEGORY, TOLD, Sighting
from ireneo.lessons.study import MOST_AGAINST
from ireneo.log.message import Message
from ireneo.memories.likeness import likeness_key
from ireneo.memories.record import Record
from ireneo.ports.llm import LanguageModel, Usage
from ireneo.prompts import LESSONS_FAILURE, LESSONS_SUCCESS
from ireneo.prompts.lessons.reply import LessonsReply, Taught

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

    sightings: tuple[Sighting, ...] = ()
    refused: tuple[str, ...] = ()
    """What was not let stand, and why."""
    usage: tuple[Usage, ...] = ()


async def synthesise(
    model: LanguageModel, material: Material, entries: Sequence[Entry], known: Sequence[Record], count: Count
) -> Synthesis:
    """Ask a model what a run teaches beyond the lessons that are `known`. Raises ModelError."""
    shown = _shown(material, entries, count)
    # Those in a model's words first: of the others the rules count without being told.
    told = sorted((each for each in known if each.cue), key=lambda each: not each.cue.startswith(TOLD))[:KNOWN_TOLD]
    text = LESSONS_FAILURE if _failed(material) else LESSONS_SUCCESS
    prompt = text.render(
        diary=_cut(render_diary(entries), DIARY_TOKENS, "diary", count) or "(nothing was tried)",
        messages=_numbered(shown, count),
        known="\n".join(f"{at}. {neutralise(each.text, _FENCES)}" for at, each in enumerate(told, 1)) or "(none)",
    )
    asked = await ask_twice(model, prompt, LessonsReply, lambda reply: _faults(reply, shown))
    kept: list[Sighting] = []
    refused: list[str] = []
    for taught in asked.last.lessons:
        why = fault_of(taught, shown) or ("There are five already." if len(kept) == MOST_LESSONS else "")
        if why:
            refused.append(f"“{taught.lesson[:80]}”: {why}")
        else:
            kept.append(_sighting(taught, shown, material))
    kept += _again(asked.last, told, shown, material)
    return Synthesis(sightings=tuple(kept), refused=tuple(refused), usage=asked.usage)


def _faults(reply: LessonsReply, shown: Sequence[Message]) -> list[str]:
    found = ((taught, fault_of(taught, shown)) for taught in reply.lessons)
    return [f"“{taught.lesson[:80]}”: {why}" for taught, why in found if why]


def _failed(material: Material) -> bool:
    """Whether the run is to be read for what failed: it ended in a failure, or half of its calls failed."""
    told = [step for step in material_steps(material) if step.result is not None and not step.rejected]
    failed = [step.failed_itself for step in told]
    return bool(failed) and (failed[-1] or 2 * sum(failed) > len(failed))


def _shown(material: Material, entries: Sequence[Entry], count: Count) -> list[Message]:
    """The messages that the diary stands on, then those around the failures, as far as there is room; in order."""
    named = {name for entry in entries for name in _names(entry)}
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


def _names(entry: Entry) -> list[str]:
    lines = (*entry.attempted, *entry.worked, *entry.failed)
    return [entry.opening, entry.last, *(name for line in lines for name in line.sources)]


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


def _sighting(taught: Taught, shown: Sequence[Message], material: Material) -> Sighting:
    cited = cited_by(taught.messages, shown)
    at = next((each.draft.at for each in reversed(cited) if each.draft.at is not None), None)
    return Sighting(
        cue=f"{TOLD}{likeness_key(taught.lesson)}",
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


def _again(reply: LessonsReply, told: Sequence[Record], shown: Sequence[Message], material: Material) -> list[Sighting]:
    """What the run says of lessons in a model's words; those that the rules count need nobody's word."""
    out: dict[str, Sighting] = {}
    for held, said in ((True, reply.confirmed), (False, reply.contradicted)):
        for again in said:
            record = told[again.lesson - 1] if 1 <= again.lesson <= len(told) else None
            there = cited_by(again.messages, shown)
            if record is None or not record.cue.startswith(TOLD) or not speaks_of(record.text, there):
                continue
            cited = tuple(each.id for each in there)
            out[record.cue] = Sighting(
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
