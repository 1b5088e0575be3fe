"""Cut a message list to a budget without any store: messages in, messages out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.assemble import Answer, Assembled, KnownRow, Made, NeedParts, NeedPath, NeedRow, NeedTexts, assemble
from ireneo.context.compose import Composed
from ireneo.context.options import ContextOptions, Thinking
from ireneo.engine.encode import Context, encode, make_context, measure
from ireneo.errors import BudgetTooSmall
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.message import Draft, Message
from ireneo.log.tree import chain, head_of
from ireneo.log.weigh import Count, weigh
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import Summary
from ireneo.summaries.work import RowItem

MIN_BUDGET = 256
MARGINS = (0.0, 0.005, 0.01, 0.02, 0.04)
"""Shares of the budget that are kept free besides, one cut after the other, where a context is larger as written than
it was reckoned: less room is another choice of lines, which may be larger than reckoned by more."""
LEAST = 64
"""Tokens that hold one block and nothing else: no format adds more than a line to it."""


class Aim:
    """What the next cut of a context may cost so that it is within its budget as its format writes it."""

    def __init__(self, target: int) -> None:
        """Begin with the whole room, in tokens."""
        self.target = target
        self._whole = target
        self._margins = iter(MARGINS)

    @property
    def least(self) -> bool:
        """Whether one block alone is all that has room: nothing narrower can be tried."""
        return self.target <= LEAST

    def narrow(self, composed_tokens: int, over: int) -> None:
        """Take so much less that a context which was reckoned at `composed_tokens` loses what it is `over`.

        A little less at a time, so that what fits in the end fills its budget nearly; by halves where that won't do.
        """
        margin = next(self._margins, None)
        if margin is None:
            self.target = max(self.target // 2, LEAST)
            return
        spared = over + 8 + int(self._whole * margin)
        self.target = max(min(self.target, composed_tokens) - spared, LEAST)


def compact_drafts(
    drafts: Sequence[Draft],
    budget: int,
    chat: ChatFormat,
    policy: Policy,
    count: Count,
    asked: Thinking | None = None,
) -> Context:
    """Cut the path that `drafts` make to `budget` tokens, and write it in the format `chat`.

    `asked` is what the caller says of a model's thinking; None: as the format has it.
    """
    terms = ContextOptions(budget=budget, policy=policy, count=count, asked=asked)
    terms = replace(terms, thinking=terms.ruled(chat.thinking))
    check_budget(budget)
    messages = chain(None, drafts, lambda parts: weigh(parts, count))
    whole: dict[str, Draft] = {message.id: message.draft for message in messages}
    aim = Aim(budget)
    composed = Composed(shown=(), tokens=0)
    while True:
        if messages:
            composed = _assemble(messages, replace(terms, budget=aim.target)).composed
        payload = encode(composed.shown, whole, chat, terms.thinking)
        measured = measure(payload, chat, count)
        over = measured.heeded - budget
        if over <= 0 or aim.least:
            break
        aim.narrow(composed.tokens, over)
    before = messages[-1].total_tokens if messages else 0
    return make_context(budget, before, chat, payload, composed.shown, count, whole=whole, measured=measured)


def check_budget(budget: int) -> None:
    """Raise BudgetTooSmall for a budget in which no message and its frame fit."""
    if budget < MIN_BUDGET:
        raise BudgetTooSmall(f"A budget of {budget:,} tokens is too small; give at least {MIN_BUDGET}.")


def _assemble(messages: Sequence[Message], terms: ContextOptions) -> Assembled:
    """Drive the assembling from a list."""
    made: dict[str, Summary] = {}
    assembling = assemble(head_of(messages[-1]), None, terms)
    answer: Answer = None
    while True:
        try:
            need = assembling.send(answer)
        except StopIteration as stop:
            result: Assembled = stop.value
            return result
        answer = None
        if isinstance(need, NeedPath):
            answer = messages[need.first : need.last + 1]
        elif isinstance(need, NeedRow):
            answer = KnownRow((), tuple(messages[: need.last + 1]))
        elif isinstance(need, NeedParts):
            answer = parts_of(need.summary, [made[source] for source in need.summary.sources], messages)
        elif isinstance(need, NeedTexts):
            answer = need.summaries
        elif isinstance(need, Made):
            made.update((summary.id, summary) for summary in need.summaries)


def parts_of(summary: Summary, sources: Sequence[Summary], messages: Sequence[Message]) -> list[RowItem]:
    """The row that `summary` was written from: its sources, and of `messages` (those of the path) what none covers."""
    row: list[RowItem] = []
    position = summary.first_position
    start = messages[0].position
    for source in sources:
        row.extend(messages[position - start : source.first_position - start])
        row.append(source)
        position = source.last_position + 1
    row.extend(messages[position - start : summary.last_position + 1 - start])
    return row
