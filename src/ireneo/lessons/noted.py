"""What a log sums up of its own run, as claims: in its words, with the messages that bear them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ireneo.grounding.claims import claims
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.grounding.neutral import instruction_like
from ireneo.language.words import terms
from ireneo.lessons.labels import NotedSort, NotedWords
from ireneo.lessons.observe import MOST_SOURCES
from ireneo.lessons.run import LOGGED, Category, Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Message
from ireneo.memories.record import likeness_key

SHARED = 3
"""So many words of a sentence stand in a message at the least that bears it out."""
_CATEGORY: Mapping[NotedSort, Category] = {"learned": "factual", "workflow": "procedural", "friction": "failure"}

_MARKS = str.maketrans({"“": '"', "”": '"'})


def noted_claims(material: RunMaterial) -> list[Observation]:
    """What the log of a run notes of it, as far as the run bears it out."""
    if not material.noted:
        return []
    told = [_Told(message=each, text="\n".join(source_texts([each]))) for each in material.messages]
    words = [frozenset(terms(each.text)) for each in told]
    found = (_claim(each, material, told, words) for each in material.noted)
    return [each for each in found if each is not None]


class _Told(Struct, frozen=True, kw_only=True):
    message: Message
    text: str


def _claim(
    noted: NotedWords, material: RunMaterial, told: Sequence[_Told], words: Sequence[frozenset[str]]
) -> Observation | None:
    where = f"`{noted.path}`: " if noted.path and noted.path not in noted.text else ""
    sources = _bearing(f"{where}{noted.text}", told, words)
    # How a run worked that came out badly is no way to work.
    failed = noted.sort == "workflow" and material.outcome == "bad"
    if not sources or failed or instruction_like(noted.text):
        return None
    return Observation(
        cue=f"{LOGGED}{likeness_key(noted.path, noted.text)}",
        category=_CATEGORY[noted.sort],
        session=material.session,
        project=material.project,
        at=next((each.draft.at for each in reversed(sources) if each.draft.at is not None), None),
        held=1,
        text=f"{where}“{noted.text.translate(_MARKS)}” (the log's own summary)",
        sources=tuple(each.id for each in sources),
    )


def _bearing(text: str, told: Sequence[_Told], words: Sequence[frozenset[str]]) -> list[Message]:
    """The messages that show what `text` names and say most of it; none where they don't show it all."""
    wanted = {*terms(text)}
    ranked = sorted(range(len(told)), key=lambda at: (-len(wanted & words[at]), at))
    if not ranked or len(wanted & words[ranked[0]]) < SHARED:
        return []
    chosen = [ranked[0]]
    for claim in dict.fromkeys(claims(text)):
        shows = (at for at in (*chosen, *ranked) if SourceIndex([told[at].text]).supports(claim))
        chosen += [at for at in [next(shows, None)] if at is not None and at not in chosen]
    chosen = sorted(chosen[:MOST_SOURCES])
    if check_text(text, SourceIndex([told[at].text for at in chosen])):
        return []
    return [told[at].message for at in chosen]
