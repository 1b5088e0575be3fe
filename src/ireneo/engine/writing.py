"""Let a model write the text of one summary: ask, check, ask once more with what was wrong, and settle.

What is asked and how an answer is judged is the `WritingTask`'s: there is one for an agent's work, and one for stories.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.parts import share, shorten
from ireneo.engine.texts import text_id, text_summarizer
from ireneo.grounding.claims import TextClaim
from ireneo.grounding.evidence import recall
from ireneo.grounding.neutral import instruction_like
from ireneo.grounding.status import error_text
from ireneo.log.message import Count, short
from ireneo.log.tree import Annotation
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.prompts.replies import Voice
from ireneo.summaries.summary import Summary, Writing

R = TypeVar("R", bound=Struct)

MOST_STRUCK = 0.5
"""Where more than this share of what a model said doesn't stand, none of it is trusted."""
FAULTS_TOLD = 12
CLAIMS_TOLD = 5
"""Claims that one fault names; a model that invents more gets the idea."""
LEAST_TOKENS = 40
"""No piece of what a model is shown is shortened to less."""

WritingOutcome = Literal["written", "repaired", "offline"]


class WrittenSummary(Struct, frozen=True, kw_only=True):
    """What came of a job."""

    texts: tuple[Summary, ...]
    """Of an agent's work one for each block of the stretch, the first of which tells what all of them cost."""
    verdict: WritingOutcome
    """``written``: it stood as it was; ``repaired``: it was asked again, or lines were struck; ``offline``: nothing of
    it could be trusted, and the offline text stands for it."""
    faults: tuple[str, ...]
    """What was wrong with the last answer."""

    @property
    def text(self) -> Summary:
        """The first of them."""
        return self.texts[0]


class ModelAnswer(Struct, Generic[R], frozen=True, kw_only=True):
    """What a model answered, asked once or twice."""

    first: R
    last: R
    faults: tuple[str, ...]
    """What is wrong with the last answer."""
    usage: tuple[Usage, ...]
    """Of each time that it was asked."""
    model: str

    @property
    def repaired(self) -> bool:
        """Whether it was asked twice."""
        return len(self.usage) > 1

    @property
    def tokens_in(self) -> int:
        """What the questions cost."""
        return sum(each.tokens_in for each in self.usage)

    @property
    def tokens_out(self) -> int:
        """What the answers cost."""
        return sum(each.tokens_out for each in self.usage)

    def verdict(self, *, trusted: bool, struck: int) -> WritingOutcome:
        """What became of the answer, of which `struck` lines were struck out."""
        if not trusted:
            return "offline"
        return "repaired" if struck or self.repaired else "written"


async def ask_twice(
    model: LanguageModel, prompt: Prompt, reply: type[R], faults: Callable[[R], Sequence[str]]
) -> ModelAnswer[R]:
    """Ask, and where the answer has `faults`, ask once more with them. Raises ModelError.

    The faults are looked for in another thread, since that reads all of the sources.
    """
    answer = await model.ask(prompt, reply)
    first, usage, wrong = answer.value, [answer.usage], await to_thread(faults, answer.value)
    if wrong:
        answer = await model.ask(with_faults(prompt, first, wrong), reply)
        usage.append(answer.usage)
        wrong = await to_thread(faults, answer.value)
    return ModelAnswer(first=first, last=answer.value, faults=tuple(wrong), usage=tuple(usage), model=answer.model)


def with_faults(prompt: Prompt, answer: Struct, faults: Sequence[str]) -> Prompt:
    """The same question again, with the answer that was given and what is wrong with it."""
    listed = "\n".join(f"- {fault}" for fault in faults[:FAULTS_TOLD])
    given = msgspec.json.encode(answer).decode()
    return replace(
        prompt,
        user=f"{prompt.user}\n\nYou wrote:\n{given}\n\nThis is wrong with it:\n{listed}\n\n"
        "Write it again without these faults: leave out what the messages don't show, and change nothing else.",
    )


def doubts(disputes: Sequence[Annotation]) -> str:
    """What a prompt says about the disputes of an earlier text; nothing where there are none."""
    if not disputes:
        return ""
    disputed = [f"- {each.text}" + (f" (of: “{each.claim}”)" if each.claim else "") for each in disputes]
    told = ["", "Earlier notes on these messages were disputed. Look at the messages again for this:", *disputed, ""]
    return "\n".join(told)


class WritingJob(Struct, frozen=True, kw_only=True):
    """A summary that a model is to write."""

    offline: Summary
    """The canonical summary of the stretch, as the structure gives it."""
    disputes: tuple[Annotation, ...] = ()
    """Why an earlier text of it was disputed."""
    voice: Voice = "first"

    def named(self, writing: Writing) -> Summary:
        """The offline text under the name of a model's."""
        return replace(
            self.offline,
            id=text_id(self.offline, writing.disputes, self.voice),
            summarizer=text_summarizer(self.offline, writing.disputes, self.voice),
            writing=writing,
        )


class Judged(Struct, frozen=True, kw_only=True):
    """What of an answer may stand."""

    kept: Sequence[str]
    """The statements that stand, as they were said."""
    struck: int
    """How many do not."""
    trusted: bool
    """Whether so much stands that any of it is believed."""


class WritingTask(Protocol[R]):
    """A job made ready: the question, and who judges the answer."""

    @property
    def job(self) -> WritingJob:
        """What is to be written."""

    @property
    def prompt(self) -> Prompt:
        """The question."""

    @property
    def reply(self) -> type[R]:
        """What an answer has to be."""

    @property
    def critical(self) -> Sequence[str]:
        """The names of the sources that must not be lost."""

    def faults(self, answer: R) -> list[str]:
        """All that is wrong with an answer and worth asking again for, a sentence each."""

    def judge(self, answer: R) -> Judged:
        """What of an answer may stand."""

    def supported(self, answer: R) -> float:
        """Of the claims that were made, the share that the sources support; 1 where nothing can be looked up."""

    def settle(self, answer: R, judged: Judged, writing: Writing) -> tuple[Summary, Sequence[str]]:
        """The record of what stands, beside what the structure shows; and what else was left out."""


async def write(task: WritingTask[R], model: LanguageModel) -> WrittenSummary:
    """Ask `model` for the text of a summary. Raises ModelError; then there is nothing to keep."""
    asked = await ask_twice(model, task.prompt, task.reply, task.faults)
    judged, supported = await to_thread(lambda: (task.judge(asked.last), task.supported(asked.first)))
    writing = Writing(
        prompt=f"{task.prompt.name}/{task.job.voice}",
        model=asked.model,
        tokens_in=asked.tokens_in,
        tokens_out=asked.tokens_out,
        supported=round(supported, 4),
        recall=round(recall(task.critical, " ".join(judged.kept)), 4),
        repaired=asked.repaired,
        trusted=judged.trusted,
        struck=judged.struck,
        disputes=tuple(each.id for each in task.job.disputes),
    )
    text, notes = await to_thread(task.settle, asked.last, judged, writing)
    verdict = asked.verdict(trusted=judged.trusted, struck=judged.struck)
    return WrittenSummary(texts=(text,), verdict=verdict, faults=(*asked.faults, *notes))


def ungrounded(text: str, claims: Iterable[TextClaim], *, what: str, whence: str) -> list[str]:
    """Why a statement is held to be made up: `claims` of it stand nowhere, or it is no `what`, or an order `whence`."""
    if error_text(text):
        return [f"It is an error text, and no {what}."]
    found = [f"The {claim.kind} “{claim.text}” stands nowhere in the messages." for claim in list(claims)[:CLAIMS_TOLD]]
    if instruction_like(text):
        found.append(f"It repeats an instruction that {whence}.")
    return found


class ShownPiece(Struct, frozen=True):
    """A piece of what a model is shown: who speaks, what is said, and the id that opens it."""

    head: str
    text: str
    opener: str


def shown_pieces(pieces: Sequence[ShownPiece], room: int, count: Count, tidy: Callable[[str], str]) -> str:
    """Write the pieces one below the other, each text made `tidy`, the long ones shortened to fit into `room` tokens.

    As they are where there is room for them together: what each costs alone doesn't add up to what they cost.
    """
    whole = "\n".join(f"{each.head} {tidy(each.text)}" for each in pieces)
    if not pieces or count(whole) <= room:
        return whole
    left = room - sum(count(each.head) + 1 for each in pieces)
    rooms = share([count(each.text) for each in pieces], max(left, 0), floor=LEAST_TOKENS)
    lines = []
    for each, tokens in zip(pieces, rooms, strict=True):
        cut = shorten(each.text, tokens, short(each.opener), count)
        lines.append(f"{each.head} {tidy(cut.text() if cut else each.text)}")
    whole = "\n".join(lines)
    # Of very many pieces even a few words each are too much.
    cut = shorten(whole, room, short(pieces[0].opener), count)
    return cut.text() if cut else whole
