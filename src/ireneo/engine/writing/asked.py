"""Ask a model, and once more with what was wrong: what the texts of all levels share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Summary
from ireneo.log.annotation import Annotation
from ireneo.ports.llm import LanguageModel, Prompt, Usage

R = TypeVar("R", bound=Struct)

MOST_STRUCK = 0.5
"""Where more than this share of what a model said doesn't stand, none of it is trusted."""
FAULTS_TOLD = 12

Verdict = Literal["written", "repaired", "offline"]


class Written(Struct, frozen=True, kw_only=True):
    """What came of a job."""

    text: Summary
    verdict: Verdict
    """``written``: it stood as it was; ``repaired``: it was asked again, or lines were struck; ``offline``: nothing of
    it could be trusted, and the offline text stands for it."""
    faults: tuple[str, ...]
    """What was wrong with the last answer."""


class Asked(Struct, Generic[R], frozen=True, kw_only=True):
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

    def verdict(self, *, trusted: bool, struck: int) -> Verdict:
        """What became of the answer, of which `struck` lines were struck out."""
        if not trusted:
            return "offline"
        return "repaired" if struck or self.repaired else "written"


async def ask_twice(
    model: LanguageModel, prompt: Prompt, reply: type[R], faults: Callable[[R], Sequence[str]]
) -> Asked[R]:
    """Ask, and where the answer has `faults`, ask once more with them. Raises ModelError."""
    answer = await model.ask(prompt, reply)
    first, usage, wrong = answer.value, [answer.usage], faults(answer.value)
    if wrong:
        answer = await model.ask(with_faults(prompt, first, wrong), reply)
        usage.append(answer.usage)
        wrong = faults(answer.value)
    return Asked(first=first, last=answer.value, faults=tuple(wrong), usage=tuple(usage), model=answer.model)


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
