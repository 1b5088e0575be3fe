"""Write the text of one summary with a model: ask, check, ask once more with what was wrong, and settle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Summary, Writing
from ireneo.context.weigh import Count
from ireneo.engine.texts import text_family, text_id
from ireneo.engine.writing.judge import Judge
from ireneo.engine.writing.lines import Answer, Said, said
from ireneo.engine.writing.settle import quoted, settle
from ireneo.engine.writing.sources import RECORD, RECORD_TOKENS, Sources, record, requests, shown_sources
from ireneo.grounding.check import lost, recall
from ireneo.log.annotation import Annotation
from ireneo.ports.llm import LanguageModel, Prompt, Reply
from ireneo.prompts import PROMPTS
from ireneo.prompts.goal.reply import GoalReply
from ireneo.prompts.turn.reply import TurnReply
from ireneo.prompts.voices import VOICES, Voice

MOST_STRUCK = 0.5
"""Where more than this share of what a model said doesn't stand, none of it is trusted."""
FAULTS_TOLD = 12

Verdict = Literal["written", "repaired", "offline"]


class Job(Struct, frozen=True, kw_only=True):
    """A summary that a model is to write."""

    offline: Summary
    """The canonical summary of the stretch, as the structure gives it."""
    sources: Sources
    disputes: tuple[Annotation, ...] = ()
    voice: Voice = "first"


class Written(Struct, frozen=True, kw_only=True):
    """What came of a job."""

    text: Summary
    verdict: Verdict
    """``written``: it stood as it was; ``repaired``: it was asked again, or lines were struck; ``offline``: nothing of
    it could be trusted, and the offline text stands for it."""
    faults: tuple[str, ...]
    """What was wrong with the last answer."""


async def write(job: Job, model: LanguageModel, count: Count) -> Written:
    """Ask `model` for the text of a summary. Raises ModelError; then there is nothing to keep."""
    prompt = ask_for(job, count)
    judge = Judge(job.sources, requests(job.offline, job.sources), job.voice)
    reply = await _ask(model, prompt, job)
    first = said(reply.value, job.voice)
    supported = judge.supported(first)
    usage = [reply.usage]
    faults = _faults(judge, first)
    if faults:
        again = await _ask(model, with_faults(prompt, reply.value, faults), job)
        usage.append(again.usage)
        reply = again
        faults = _faults(judge, said(again.value, job.voice))
    statements = said(reply.value, job.voice)
    kept = [] if judge.of_all(statements) else [each for each in statements if not judge.faults(each)]
    struck = len(statements) - len(kept)
    trusted = bool(kept) and struck <= MOST_STRUCK * len(statements)
    told = " ".join(each.text for each in kept)
    writing = Writing(
        prompt=f"{prompt.name}/{job.voice}",
        model=reply.model,
        tokens_in=sum(each.tokens_in for each in usage),
        tokens_out=sum(each.tokens_out for each in usage),
        supported=round(supported, 4),
        recall=round(recall(judge.critical, told), 4),
        repaired=len(usage) > 1,
        trusted=trusted,
        struck=struck,
        disputes=tuple(each.id for each in job.disputes),
    )
    text = _settled(job, judge, kept if trusted else [], reply.value, writing)
    verdict: Verdict = "offline" if not trusted else "repaired" if struck or writing.repaired else "written"
    return Written(text=text, verdict=verdict, faults=tuple(faults))


def ask_for(job: Job, count: Count) -> Prompt:
    """The prompt for a job."""
    disputed = [f"- {each.text}" + (f" (of: “{each.claim}”)" if each.claim else "") for each in job.disputes]
    doubts = ["", "Earlier notes on these messages were disputed. Look at the messages again for this:", *disputed, ""]
    return PROMPTS[job.offline.level].render(
        voice=VOICES[job.voice],
        goal=requests(job.offline, job.sources),
        messages=shown_sources(job.sources, count),
        record=record(job.offline, RECORD, RECORD_TOKENS, count),
        disputes="\n".join(doubts) if disputed else "",
    )


def with_faults(prompt: Prompt, answer: Answer, faults: Sequence[str]) -> Prompt:
    """The same question again, with the answer that was given and what is wrong with it."""
    listed = "\n".join(f"- {fault}" for fault in faults[:FAULTS_TOLD])
    given = msgspec.json.encode(answer).decode()
    return replace(
        prompt,
        user=f"{prompt.user}\n\nYou wrote:\n{given}\n\nThis is wrong with it:\n{listed}\n\n"
        "Write it again without these faults: leave out what the messages don't show, and change nothing else.",
    )


def _faults(judge: Judge, statements: Sequence[Said]) -> list[str]:
    """Everything that is wrong with an answer, with the words that it is about."""
    found = [f"“{each.text[:120]}”: {fault}" for each in statements for fault in judge.faults(each)]
    return [*judge.of_all(statements), *found]


async def _ask(model: LanguageModel, prompt: Prompt, job: Job) -> Reply[TurnReply] | Reply[GoalReply]:
    if job.offline.level == "turn":
        return await model.ask(prompt, TurnReply)
    return await model.ask(prompt, GoalReply)


def _settled(job: Job, judge: Judge, kept: Sequence[Said], answer: Answer, writing: Writing) -> Summary:
    """The record: what the model said and stands, beside what the structure shows."""
    messages = job.sources.messages
    quotes = quoted(answer.constraints, messages) if isinstance(answer, GoalReply) else []
    # Those of the texts under it: what a model found there is carried on.
    quotes += [line for leaf in job.sources.leaves for line in leaf.lines("constraints")]
    known = " ".join(
        f"{line.subject} {line.text} {' '.join(mention.name for mention in line.names)}"
        for section in job.offline.sections
        for line in section.lines
    )
    missing = lost(judge.critical, f"{known} {' '.join(each.text for each in kept)}")
    disputes = writing.disputes
    return replace(
        job.offline,
        id=text_id(job.offline, disputes, job.voice),
        family=text_family(job.offline, disputes, job.voice),
        sections=settle(job.offline, kept, quotes, missing, messages, judge.outcomes),
        writing=writing,
    )
