"""Draw conclusions from episodes: what recurs in them, or what a model makes of them, checked against their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC

from msgspec import Struct

from ireneo.context.offline.prose import clip
from ireneo.grounding.check import check_text
from ireneo.grounding.error_text import error_text
from ireneo.grounding.evidence import Evidence
from ireneo.grounding.language import other_language
from ireneo.grounding.neutral import instruction_like, neutralise
from ireneo.grounding.numbers import units
from ireneo.grounding.numerals import spelled
from ireneo.memories.recall.words import terms
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.recurring import conclude
from ireneo.memories.reflect import MOST_CONCLUSIONS, Conclusion, check_conclusion, events
from ireneo.ports.llm import LanguageModel, Usage
from ireneo.prompts import REFLECT
from ireneo.prompts.reflect.reply import Drawn, ReflectReply

_SHOWN = 80
"""Characters of a refused conclusion that are told with the reason."""


class Conclusions(Struct, frozen=True, kw_only=True):
    """What was drawn."""

    drawn: tuple[Conclusion, ...]
    refused: tuple[str, ...] = ()
    """Why the others don't stand, a sentence each."""
    usage: Usage = Usage(calls=0)


def draw_offline(episodes: Sequence[Record], new: frozenset[MemoryId]) -> Conclusions:
    """What recurs in `episodes`, of which some are `new`; nothing where nothing does."""
    known = {episode.id: episode for episode in episodes}
    return _standing([(each, "") for each in conclude(episodes, new)], known)


async def draw(model: LanguageModel, episodes: Sequence[Record], concluded: Sequence[str]) -> Conclusions:
    """What a model concludes from `episodes`, beyond what is `concluded` already. Raises ModelError."""
    told = "\n".join(f"[{number}] {_told(episode)}" for number, episode in enumerate(episodes, start=1))
    known = "\n".join(f"- {_data(text)}" for text in concluded)
    reply = await model.ask(REFLECT.render(episodes=told, known=known or "(nothing)"), ReflectReply)
    known_episodes = {episode.id: episode for episode in episodes}
    drawn = [_conclusion(each, episodes) for each in reply.value.conclusions]
    standing = _standing(drawn, known_episodes)
    return Conclusions(drawn=standing.drawn, refused=standing.refused, usage=reply.usage)


def unsupported(conclusion: Conclusion, cited: Sequence[Record]) -> str:
    """Why the words of a conclusion don't follow from the episodes that it cites; "" where they do.

    Each name, path, number and quotation of it stands in them, or counts them.
    """
    text = conclusion.text
    if error_text(text):
        return "It is an error text, and no conclusion."
    if instruction_like(text):
        return "It repeats an instruction."
    texts = [episode.text for episode in cited]
    counts = {len(cited), len(events(cited)), *conclusion.counted}
    days = (episode.when.astimezone(UTC).date().isoformat() for episode in cited if episode.when)
    given = [*texts, *(f"{count} times" for count in sorted(counts)), *days]
    for claim in check_text(text, Evidence(given)):
        return f"The {claim.kind} “{claim.text[:_SHOWN]}” stands in none of its episodes."
    # A small figure is no claim in a summary of work, where it may number a list; here it counts something.
    for figure in sorted(units(text).keys() - units("\n".join(given)).keys()):
        return f"The number “{figure}” stands in none of its episodes."
    worth = counts | {number for each in texts for _, number in spelled(each)}
    for words, number in spelled(text):
        # One is a word like any other, as in “one of the tests”.
        if number > 1 and number not in worth and not any(words in each.casefold() for each in texts):
            return f"The number “{words}” stands in none of its episodes."
    language = other_language(text, " ".join(texts))
    return f"It is in {language}, and its episodes are in another language." if language else ""


def _standing(drawn: Sequence[tuple[Conclusion, str]], known: Mapping[MemoryId, Record]) -> Conclusions:
    """At most three that stand, and why the others don't."""
    kept: list[Conclusion] = []
    refused: list[str] = []
    for conclusion, wrong in drawn:
        why = wrong or check_conclusion(conclusion, known)
        why = why or unsupported(conclusion, [known[name] for name in conclusion.memories])
        if not why and len(kept) == MOST_CONCLUSIONS:
            why = f"There are {MOST_CONCLUSIONS} already."
        if why:
            refused.append(f"“{conclusion.text.strip()[:_SHOWN]}”: {why}")
        else:
            kept.append(_with_slot(conclusion, known))
    return Conclusions(drawn=tuple(kept), refused=tuple(refused))


def _conclusion(drawn: Drawn, episodes: Sequence[Record]) -> tuple[Conclusion, str]:
    """What a model drew, and what is wrong with the numbers by which it cites."""
    wrong = [number for number in drawn.episodes if not 1 <= number <= len(episodes)]
    cited = tuple(dict.fromkeys(episodes[number - 1].id for number in drawn.episodes if number not in wrong))
    why = f"It cites episode {wrong[0]}, which there is not." if wrong else ""
    conclusion = Conclusion(
        text=" ".join(drawn.text.split()),
        kind=drawn.kind,
        memories=cited,
        subject=drawn.subject.strip(),
        attribute=drawn.attribute.strip(),
        task_type=drawn.task_type.strip(),
        name=drawn.name.strip(),
    )
    return conclusion, why


def _with_slot(conclusion: Conclusion, known: Mapping[MemoryId, Record]) -> Conclusion:
    """`conclusion` with its slot, where the episodes speak of its subject; else it stands for itself."""
    said = {term for name in conclusion.memories for term in terms(known[name].text)}
    about = terms(conclusion.subject)
    if conclusion.attribute and about and said.issuperset(about):
        return conclusion
    return Conclusion(
        text=conclusion.text,
        kind=conclusion.kind,
        memories=conclusion.memories,
        task_type=conclusion.task_type,
        name=conclusion.name,
        counted=conclusion.counted,
    )


def _told(episode: Record) -> str:
    session = f" · {episode.sessions[0][:40]}" if episode.sessions else ""
    day = episode.when.astimezone(UTC).date().isoformat() if episode.when else "undated"
    return f"{day}{_data(session)}: {_data(clip(episode.text, 600))}"


def _data(text: str) -> str:
    """A text as it may stand in a prompt: on one line, and as nothing but data."""
    return neutralise(" ".join(text.split()) if text.strip() else "", ("</episodes>", "</known>"))
