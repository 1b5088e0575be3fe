"""What users ask for again and again, once the work is done, and which commands they refuse again and again.

That a user asks for tests tells nothing; that users ask for them in session after session, each time after the agent
had done without, tells how they want to work: the next run should do so unasked. Each kind of such wishes is a claim,
which a few runs have to show. So is each command that was refused, with words or without: the next run asks first.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.language.files import either, topic
from ireneo.language.topics import Wishes
from ireneo.lessons.commands import main_step
from ireneo.lessons.explanations import names_thing
from ireneo.lessons.naming import programs
from ireneo.lessons.observe import ASKED, MOST_SOURCES, REFUSED, cited_sources, is_supported, plain_name
from ireneo.lessons.rulings import is_work
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.lessons.user_words import said_by_user
from ireneo.log.outcome import was_refused
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import own_words
from ireneo.summaries.steps import Step

ASK_FIRST = "ask the user before you run it"
LONGEST = 200
"""Characters of a sentence that is quoted; a longer one is of its task."""
PLAIN = 70
"""The same of one that a reader understands who knows nothing of its task; it is quoted before others."""
_PLAIN = lazy_re(r"[^\W\d_][^\d_/@`*:;]*")
LEAST_WORDS = 4
_ACCEPTED = lazy_re(lambda: either(topic(Wishes).accepted), re.I)
_WONDERED = lazy_re(lambda: rf"(?<!\w){either(topic(Wishes).wondered)}", re.I)
_ITEM = lazy_re(r"(?:^|: )\d{1,2}[.)] ")


def asked_again(material: RunMaterial) -> list[Observation]:
    """The kinds of wishes that a user uttered after work was done, each once with the first words that tell it."""
    out: dict[str, Observation] = {}
    of_commands = topic(Wishes).of_commands
    for said in said_by_user(material):
        if said.opening or not any(pattern.search(said.text) for pattern in _patterns().values()):
            continue
        for at, each in enumerate(own_words(said.text)):
            # Who takes an offer asks for nothing of his own.
            taken = at == 0 and _ACCEPTED.match(each.text.lstrip())
            wish = _wish_in(" ".join(each.text.split())) if each.personal and not each.step and not taken else None
            if wish is None or (wish[0] in of_commands and not _names_command(each.text, material)):
                continue
            kind, text, plain = wish
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
                    why=plain,
                    sources=ids,
                )
            )
    return list(out.values()) if out and is_work(material) else []


def refused_again(material: RunMaterial) -> list[Observation]:
    """The commands that a user refused to let run, and those that were let run as often as they were tried."""
    if not any(was_refused(result.text) for message in material.messages for result in message.draft.results):
        return []
    messages = {message.id: message for message in material.messages}
    tried: dict[str, list[Step]] = {}
    for step in run_steps(material):
        command = main_step(command_of(step.call)) if step.result is not None else None
        if command is not None and command.name and command.name not in programs().looks_only:
            tried.setdefault(command.name, []).append(step)
    out: list[Observation] = []
    for name, calls in tried.items():
        refused = [step for step in calls if step.result is not None and was_refused(step.result.text)]
        sources = cited_sources((one for step in refused for one in step.sources), messages)
        text = f"`{name}` was refused by the user: {ASK_FIRST}."
        told = is_supported(text, sources, messages)
        out.append(
            Observation(
                cue=f"{REFUSED}{plain_name(name)}",
                category="procedural",
                session=material.session,
                project=material.project,
                at=next((messages[each].draft.at for each in sources), None),
                held=len(refused),
                broke=len(calls) - len(refused),
                text=text if told else "",
                way_out=ASK_FIRST if told else "",
                trigger=Trigger(command=name) if told else None,
                sources=sources,
            )
        )
    return out


def _wish_in(said: str) -> tuple[str, str, str] | None:
    """The kind of wish that a sentence utters, the lesson in its words, and the sentence where it needs no other.

    None where it utters none.
    """
    short = len(said.split()) >= LEAST_WORDS and len(said) <= LONGEST
    # What ends in a colon is a heading of something pasted, and what is numbered an item of it.
    if not short or said.endswith(":") or _ITEM.search(said) or not said.isprintable() or instruction_like(said):
        return None
    if said.endswith("?") and _WONDERED.search(said):
        return None
    found = next((kind for kind, pattern in _patterns().items() if pattern.search(said)), None)
    if found is None:
        return None
    plain = said if len(said) <= PLAIN and _PLAIN.fullmatch(said) else ""
    return found, f"{topic(Wishes).unasked[found][0]}: “{said}” (the user)", plain


def _names_command(said: str, material: RunMaterial) -> bool:
    """Whether a sentence names a command of more than one word that the run ran, or a script of its project."""
    steps = (step for step in run_steps(material) if step.action.shell)
    names = {command.name for step in steps if (command := main_step(command_of(step.call))) is not None}
    return any(names_thing(said, name) for name in names if " " in name or "/" in name)


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    wishes = topic(Wishes).uttered
    return {kind: re.compile(rf"(?<!\w){either(rows)}", re.I) for kind, rows in wishes.items()}
