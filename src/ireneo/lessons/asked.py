"""What users ask for again and again, once the work is done: what the next run should do unasked.

That a user asks for tests tells nothing; that users ask for them in session after session, each time after the agent
had done without, tells how they want to work. Each kind of such wishes is a claim, which a few runs have to show.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.language.files import either, topic
from ireneo.language.topics import Wishes
from ireneo.lessons.observe import ASKED, MOST_SOURCES
from ireneo.lessons.rulings import WORK, said_by_user
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, run_steps
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import own_words

LONGEST = 200
"""Characters of a sentence that is quoted; a longer one is of its task."""
LEAST_WORDS = 4
_ITEM = lazy_re(r"(?:^|: )\d{1,2}[.)] ")


def asked_again(material: RunMaterial) -> list[Observation]:
    """The kinds of wishes that a user uttered after work was done, each once with the first words that tell it."""
    works = any(step.action.shell or step.action.kind in WORK for step in run_steps(material))
    out: dict[str, Observation] = {}
    for said in said_by_user(material) if works else ():
        if said.opening:
            continue
        for each in own_words(said.text):
            wish = _wish_in(" ".join(each.text.split())) if each.personal else None
            if wish is None:
                continue
            kind, text = wish
            known = out.get(kind)
            ids = (*(known.sources if known else ()), said.message.id)
            out[kind] = (
                replace(known, held=known.held + 1, sources=tuple(dict.fromkeys(ids))[:MOST_SOURCES])
                if known
                else Observation(
                    cue=f"{ASKED}{kind}",
                    category="procedural",
                    session=material.session,
                    project=material.project,
                    at=said.message.draft.at,
                    held=1,
                    text=text,
                    sources=ids,
                )
            )
    return list(out.values())


def _wish_in(said: str) -> tuple[str, str] | None:
    """The kind of wish that a sentence utters, and the lesson in its words; None where it utters none."""
    short = len(said.split()) >= LEAST_WORDS and len(said) <= LONGEST
    # What ends in a colon is a heading of something pasted, and what is numbered an item of it.
    if not short or said.endswith(":") or _ITEM.search(said) or not said.isprintable() or instruction_like(said):
        return None
    found = next((kind for kind, pattern in _patterns().items() if pattern.search(said)), None)
    return (found, f"{topic(Wishes).unasked[found][0]}: “{said}” (the user)") if found else None


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    wishes = topic(Wishes).uttered
    return {kind: re.compile(rf"(?<!\w){either(rows)}", re.I) for kind, rows in wishes.items()}
