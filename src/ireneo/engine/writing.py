"""Have a model write the texts of summaries: ask, judge, ask once more about the faults, and keep what is supported.

The `WritingTask` decides what is asked, and how an answer is judged: `engine/work_writing.py` has the one for an
agent's work, `engine/story_writing.py` the one for stories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.shorten import divide_room, shorten
from ireneo.engine.context import text_id, text_summarizer
from ireneo.errors import ModelError
from ireneo.language.topics import Voice
from ireneo.log.message import Count, short
from ireneo.log.tree import Annotation
from ireneo.ports.models import LanguageModel, Prompt, Reply, Usage
from ireneo.summaries.summary import Summary, Writing

MAX_STRUCK = 0.5
"""An answer of which more than this share is struck is not trusted at all."""
MAX_FAULTS = 12
"""How many faults a repair names."""
MIN_PIECE_TOKENS = 40
"""No piece that a model is shown is shortened further than this."""

WritingOutcome = Literal["written", "repaired", "offline"]


class WrittenSummary(Struct, frozen=True, kw_only=True):
    """The texts that resulted from one question to a model."""

    texts: tuple[Summary, ...]
    """For an agent's work one text for each block of the stretch; the first one has the cost of all of them."""
    verdict: WritingOutcome
    """``written``: the answer passed as it was; ``repaired``: the model was asked again, or lines were struck;
    ``offline``: the answer could not be trusted, and the offline text is used."""
    faults: tuple[str, ...]
    """The faults of the last answer."""
    writing: Writing
    """How these texts were written: model, prompt, cost, and struck text."""

    @property
    def text(self) -> Summary:
        """The first text."""
        return self.texts[0]


class Judged(Struct, frozen=True, kw_only=True):
    """The rest of an answer after checking."""

    complaints: tuple[str, ...]
    """The faults of the answer, one sentence each."""
    struck: int
    """How many statements were struck, or lost a clause."""
    trusted: bool
    """Whether enough passed the check that the answer may be used at all."""


R = TypeVar("R", bound=Struct)
A = TypeVar("A")
J = TypeVar("J", bound=Judged)


class WritingTask(ABC, Generic[R, A, J]):
    """One question to a model: its reply `R` is read as `A` and, checked against the sources, judged as `J`."""

    reply: type[R]
    voice: Voice

    @property
    @abstractmethod
    def prompt(self) -> Prompt:
        """The question."""

    @abstractmethod
    def parse(self, reply: R) -> A:
        """Convert a reply."""

    @abstractmethod
    def repair(self, answer: A) -> tuple[Prompt, A] | None:
        """The question about the faults of an answer, and the part without any; None if nothing needs to be asked."""

    @abstractmethod
    def repaired(self, rest: A, again: A) -> A:
        """Join the part without faults and the reply to the repair."""

    @abstractmethod
    def judge(self, answer: A) -> J:
        """Check an answer against the sources."""

    @abstractmethod
    def supported_share(self, answer: A) -> float:
        """The share of the answer's claims that the sources support; 1 if nothing can be checked."""

    @abstractmethod
    def texts(self, judged: J, writing: Writing) -> tuple[Sequence[Summary], Sequence[str]]:
        """The summaries to store, and a sentence for each other thing that was left out."""


async def write(task: WritingTask[R, A, J], model: LanguageModel, given: Reply[R] | None = None) -> WrittenSummary:
    """Ask `model`, ask once more about the faults of its answer, and strike what is still wrong.

    `given` is an existing answer, from a question for several texts; then the model is only asked about its faults.
    Sources are read and searched in another thread. Raises ModelError if the first question fails.
    """
    answer = given or await model.ask(await to_thread(lambda: task.prompt), task.reply)
    usage = [answer.usage]
    failed: tuple[str, ...] = ()
    first = said = await to_thread(task.parse, answer.value)
    repair = await to_thread(task.repair, first)
    if repair is not None:
        question, rest = repair
        try:
            again = await model.ask(question, task.reply)
        except ModelError as error:
            # The first answer is already paid for, and its faults are struck anyway.
            failed = (f"Asked again about this, the model gave no answer: {error}",)
        else:
            usage.append(again.usage)
            said = task.repaired(rest, await to_thread(task.parse, again.value))
    judged = await to_thread(task.judge, said)
    writing = await to_thread(writing_record, task, first, judged, task.prompt.name, answer.model, usage)
    texts, left_out = await to_thread(task.texts, judged, writing)
    verdict: WritingOutcome = "repaired" if judged.struck or writing.repaired else "written"
    return WrittenSummary(
        texts=tuple(texts),
        verdict=verdict if judged.trusted else "offline",
        faults=(*judged.complaints, *left_out, *failed),
        writing=writing,
    )


def writing_record(
    task: WritingTask[R, A, J], first: A, judged: J, prompt: str, model: str, usage: Sequence[Usage] = ()
) -> Writing:
    """Record how a text came about; `usage` has an entry for each question to the model."""
    return Writing(
        prompt=f"{prompt}/{task.voice}",
        model=model,
        tokens_in=sum(each.tokens_in for each in usage),
        tokens_out=sum(each.tokens_out for each in usage),
        supported=round(task.supported_share(first), 4),
        repaired=len(usage) > 1,
        trusted=judged.trusted,
        struck=judged.struck,
    )


def as_text(canonical: Summary, disputes: Sequence[Annotation], voice: Voice) -> Summary:
    """Give an offline summary the id and summarizer of the text that a model writes in view of `disputes`."""
    names = [each.id for each in disputes]
    return replace(canonical, id=text_id(canonical, names, voice), summarizer=text_summarizer(canonical, names, voice))


def dispute_prompt(disputes: Sequence[Annotation]) -> str:
    """The part of a prompt about the disputes of an earlier text; empty if there are none."""
    disputes = [each for each in disputes if each.kind == "dispute"]
    if not disputes:
        return ""
    disputed = [f"- {each.text}" + (f" (of: “{each.claim}”)" if each.claim else "") for each in disputes]
    told = ["", "Earlier notes on these messages were disputed. Look at the messages again for this:", *disputed, ""]
    return "\n".join(told)


def fitting_indices(lines: Sequence[str], order: Iterable[int], room: int, count: Count) -> list[int]:
    """The indices of the lines that fit into `room` tokens, taken in `order` until one does not fit; sorted."""
    kept: list[int] = []
    for place in order:
        room -= count(lines[place]) + 1
        if room < 0:
            break
        kept.append(place)
    return sorted(kept)


class ShownPiece(Struct, frozen=True):
    """A piece of a transcript for a model: the speaker, the text, and the id that opens it."""

    head: str
    text: str
    opener: str


def shown_pieces(pieces: Sequence[ShownPiece], room: int, count: Count, tidy: Callable[[str], str]) -> str:
    """Write the pieces line by line, each text made `tidy`, the long ones shortened to fit into `room` tokens.

    Nothing is shortened if they fit as a whole, since the costs of the pieces don't add up to that of the whole.
    """
    whole = "\n".join(f"{each.head} {tidy(each.text)}" for each in pieces)
    if not pieces or count(whole) <= room:
        return whole
    left = room - sum(count(each.head) + 1 for each in pieces)
    rooms = divide_room([count(each.text) for each in pieces], max(left, 0), floor=MIN_PIECE_TOKENS)
    lines = []
    for each, tokens in zip(pieces, rooms, strict=True):
        cut = shorten(each.text, tokens, short(each.opener), count)
        lines.append(f"{each.head} {tidy(cut.text() if cut else each.text)}")
    whole = "\n".join(lines)
    # With very many pieces even a few words of each are too much.
    cut = shorten(whole, room, short(pieces[0].opener), count)
    return cut.text() if cut else whole
