"""What a run put into words: causes and rules that its agent found out, and what its environment demanded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.language.sentences import sentences
from ireneo.lessons.explanations import (
    TICKED,
    Reason,
    Said,
    is_rule,
    is_setting,
    is_variable,
    names_thing,
    shared_words,
    speaks_of_code,
    things_of,
)
from ireneo.lessons.faults import CODES, FOUND_NOTHING
from ireneo.lessons.observe import (
    DEMANDED,
    EXPLAINED,
    Messages,
    cited_sources,
    fails_with,
    is_supported,
    plain_name,
)
from ireneo.lessons.programs import LOOKS_ONLY
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.lessons.traps import LONGEST_SAID, SAID_AFTER, place_of, quote
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, is_environment

WITHIN = 30
MOST_THINGS = 2
LONGEST_THING = 40
_LINTER = lazy_re(r"\(([a-z]+)\)$")


def findings(
    material: RunMaterial, run: Sequence[TriedCall], said: Said, told: Collection[str] = ()
) -> list[Observation]:
    """What was explained near failures that were got over, one claim for each thing of the tools that it names.

    What was `told` is left out: it stands as the way out of a trap.
    """
    messages = {message.id: message for message in material.messages}
    programs = {each.program for each in run if each.shape.shell and each.program} - LOOKS_ONLY
    out: dict[str, Observation] = {}
    for place, failed in enumerate(run):
        if not failed.faults or not failed.shape.shell or failed.program in LOOKS_ONLY:
            continue
        if not failed.program or failed.faults[0] == FOUND_NOTHING:
            continue
        later = run[place + 1 : place + 1 + WITHIN]
        again = next((each for each in later if each.program == failed.program and each.worked), None)
        first = place_of(messages, failed)
        if again is None or place_of(messages, again) - first > LONGEST_SAID:
            continue
        between = later[: later.index(again) + 1]
        met = "\n".join((failed.step.command, *(fault.line for fault in failed.told)))
        linters = {found[1] for fault in failed.faults if (found := _LINTER.search(fault))}
        for each in said.between(first, place_of(messages, again) + SAID_AFTER):
            if not each.firm or speaks_of_code(each.text) or not shared_words(each.text, met):
                continue
            named = things_of(each.text, programs | linters)
            things = {thing for thing in named if _is_new(thing, failed, between)}
            things |= _settled(each.text, between) if is_rule(each.text) else set()
            about = ({failed.program} | linters) & named if is_rule(each.text) else set()
            if any(all(names_thing(way, thing) for thing in things) for way in told) and things:
                continue  # It stands with the trap.
            if things or about:
                found_out = _finding(material, messages, failed, again, each, sorted(things or about), bool(things))
                if found_out is not None:
                    out.setdefault(found_out.cue, found_out)
    return list(out.values())


def _is_new(thing: str, failed: TriedCall, between: Sequence[TriedCall]) -> bool:
    """Whether a call that worked between a failure and a success has to do with `thing`, as what failed had not."""
    if names_thing(failed.step.command, thing):
        return False
    return any(each.worked and each.shape.shell and names_thing(each.step.command, thing) for each in between)


def _settled(said: str, between: Sequence[TriedCall]) -> frozenset[str]:
    """What a sentence names as code that was set in a file of settings, or as a variable anywhere."""
    named = frozenset(TICKED.findall(said))
    out: set[str] = set()
    for each in between:
        action = each.step.action
        if each.worked and action.kind in CHANGES and (named - out):
            setting = is_setting(action.subject.rsplit("/", 1)[-1])
            fresh = {
                name for name in named if names_thing(action.added, name) and not names_thing(action.removed, name)
            }
            out |= fresh if setting else {name for name in fresh if is_variable(name)}
    return frozenset(name for name in out if len(name) <= LONGEST_THING)


def _finding(
    material: RunMaterial,
    messages: Messages,
    failed: TriedCall,
    again: TriedCall,
    said: Reason,
    things: Sequence[str],
    confirmed: bool,
) -> Observation | None:
    text = f"When {fails_with(failed, failed.faults[0])}: {quote(said)}."
    sources = cited_sources((said.message, *failed.step.sources, *again.step.sources), messages)
    if not is_supported(text, sources, messages):
        return None
    return Observation(
        cue=f"{EXPLAINED}{plain_name(failed.program)}: {plain_name(' '.join(things[:MOST_THINGS]))}",
        category="failure",
        session=material.session,
        project=material.project,
        at=failed.at,
        held=1,
        text=text,
        task_type=failed.step.action.kind,
        conditions={"tool": failed.shape.tool, "program": failed.program},
        why=said.text if confirmed else "",
        sources=sources,
        tokens=failed.tokens,
        seconds=round(failed.seconds, 1),
    )


# What the environment demands: a sentence in which it says to the agent what to do, the same in many runs.

_ADDRESSED = lazy_re(
    r"(?i:\bplease\b|\bexactly one\b|\bat least one\b|\bmust\b|\brequired\b|\balways\b|\byour (?:last|previous) )"
)
_CODE = lazy_re(r"[{}=;]|::|\w\(")
_NUMBER = lazy_re(r"\d+(?:[.,]\d+)*")
_LOOKED_AT = 1_500
_LONGEST_DEMAND = 300
_LEAST_WORDS = 6
_FILE_TOOLS = frozenset("edit multiedit write read view glob grep notebookedit apply_patch str_replace_editor".split())
_OF_FILES = CHANGES | {"read", "search"}
_MARKUP = lazy_re(r"</?[a-z_]{2,30}>")


def demands(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """What the environment told the agent to do otherwise: with a failure of a tool, or in the place of a result."""
    messages = {message.id: message for message in (*material.messages, *material.put_in)}
    out: dict[str, Observation] = {}
    for each in run:
        # How a tool for files wants to be called, it tells whoever calls it wrongly: any agent gets over it at once.
        of_files = each.shape.shell or each.step.action.kind in _OF_FILES or each.shape.tool.lower() in _FILE_TOOLS
        if each.faults and each.step.answer and not of_files:
            told = (f"`{each.shape.tool}` refuses", each.tokens)
            answer = messages[each.step.answer]
            _take(out, material, messages, answer, each.step.output, told, asked=each.step.source)
            if not each.shape.path and (refusal := _refusal(each)):
                _take(out, material, messages, answer, refusal, told, asked=each.step.source, whole=True)
    for message in material.put_in:
        before = messages.get(message.parent) if message.parent else None
        if before is not None and before.role == "assistant" and message.role == "user":
            told = ("A reply is refused", before.tokens + message.tokens)
            _take(out, material, messages, message, message.text, told)
    return list(out.values())


def _take(
    out: dict[str, Observation],
    material: RunMaterial,
    messages: Messages,
    message: Message,
    said: str,
    told: tuple[str, int],
    *,
    asked: MessageId | None = None,
    whole: bool = False,
) -> None:
    refused, tokens = told
    for sentence in (said,) if whole else islice(_demanding(said), 1):
        cue = f"{DEMANDED}{plain_name(_NUMBER.sub('…', sentence))}"
        known = out.get(cue)
        if known is not None:
            out[cue] = replace(known, held=known.held + 1, tokens=known.tokens + tokens)
            continue
        sources = cited_sources((message.id, *((asked,) if asked else ())), messages)
        text = f"{refused}: “{sentence}”"
        if is_supported(text, sources, messages):
            out[cue] = Observation(
                cue=cue,
                category="failure",
                session=material.session,
                project=material.project,
                at=message.draft.at,
                held=1,
                text=text,
                task_type="run",
                why=sentence,
                sources=sources,
                tokens=tokens,
            )


def _refusal(failed: TriedCall) -> str:
    """What a tool says that a call did not keep to, without the numbers of the case; empty where it is no sentence."""
    line = failed.told[0].line if failed.told and failed.faults[0] not in CODES else ""
    said = _NUMBER.sub("…", line.removeprefix("Error: "))
    plain = len(said.split()) >= _LEAST_WORDS and len(said) <= _LONGEST_DEMAND
    return said if plain and not _CODE.search(said) and not is_environment(said) else ""


def _demanding(said: str) -> Iterator[str]:
    for line in _MARKUP.sub(" ", said[:_LOOKED_AT]).splitlines():
        for sentence in sentences(" ".join(line.split())):
            short = len(sentence.split()) >= _LEAST_WORDS and len(sentence) <= _LONGEST_DEMAND
            plain = sentence[:1].isupper() and not _CODE.search(sentence) and not instruction_like(sentence)
            if short and plain and _ADDRESSED.search(sentence):
                yield sentence
