"""Write the text of one summary with a model: ask, check, ask once more with what was wrong, and settle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Summary, Writing
from ireneo.context.weigh import Count
from ireneo.engine.texts import text_family, text_id
from ireneo.engine.writing.asked import MOST_STRUCK, Asked, Written, ask_twice, doubts
from ireneo.engine.writing.judge import Judge
from ireneo.engine.writing.lines import Answer, Said, said
from ireneo.engine.writing.settle import quoted, settle
from ireneo.engine.writing.sources import RECORD, RECORD_TOKENS, Sources, record, requests, shown_sources
from ireneo.grounding.check import lost, recall
from ireneo.log.annotation import Annotation
from ireneo.ports.llm import LanguageModel, Prompt
from ireneo.prompts import PROMPTS
from ireneo.prompts.goal.reply import GoalReply
from ireneo.prompts.turn.reply import TurnReply
from ireneo.prompts.voices import VOICES, Voice


class Job(Struct, frozen=True, kw_only=True):
    """A summary that a model is to write."""

    offline: Summary
    """The canonical summary of the stretch, as the structure gives it."""
    sources: Sources
    disputes: tuple[Annotation, ...] = ()
    voice: Voice = "first"


async def write(job: Job, model: LanguageModel, count: Count) -> Written:
    """Ask `model` for the text of a summary. Raises ModelError; then there is nothing to keep."""
    prompt = ask_for(job, count)
    judge = Judge(job.sources, requests(job.offline, job.sources), job.voice)
    asked = await _ask(model, prompt, job, judge)
    statements = said(asked.last, job.voice)
    kept = [] if judge.of_all(statements) else [each for each in statements if not judge.faults(each)]
    struck = len(statements) - len(kept)
    trusted = bool(kept) and struck <= MOST_STRUCK * len(statements)
    told = " ".join(each.text for each in kept)
    writing = Writing(
        prompt=f"{prompt.name}/{job.voice}",
        model=asked.model,
        tokens_in=asked.tokens_in,
        tokens_out=asked.tokens_out,
        supported=round(judge.supported(said(asked.first, job.voice)), 4),
        recall=round(recall(judge.critical, told), 4),
        repaired=asked.repaired,
        trusted=trusted,
        struck=struck,
        disputes=tuple(each.id for each in job.disputes),
    )
    text = _settled(job, judge, kept if trusted else [], asked.last, writing)
    return Written(text=text, verdict=asked.verdict(trusted=trusted, struck=struck), faults=asked.faults)


def ask_for(job: Job, count: Count) -> Prompt:
    """The prompt for a job."""
    return PROMPTS[job.offline.level].render(
        voice=VOICES[job.voice],
        goal=requests(job.offline, job.sources),
        messages=shown_sources(job.sources, count),
        record=record(job.offline, RECORD, RECORD_TOKENS, count),
        disputes=doubts(job.disputes),
    )


def _faults(judge: Judge, statements: Sequence[Said]) -> list[str]:
    """Everything that is wrong with an answer, with the words that it is about."""
    found = [f"“{each.text[:120]}”: {fault}" for each in statements for fault in judge.faults(each)]
    return [*judge.of_all(statements), *found]


async def _ask(model: LanguageModel, prompt: Prompt, job: Job, judge: Judge) -> Asked[TurnReply] | Asked[GoalReply]:
    def faults(answer: Answer) -> list[str]:
        return _faults(judge, said(answer, job.voice))

    if job.offline.level == "turn":
        return await ask_twice(model, prompt, TurnReply, faults)
    return await ask_twice(model, prompt, GoalReply, faults)


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
