"""Cut a message list to a budget without any store: messages in, messages out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.assemble import assemble
from ireneo.context.compose import Composed
from ireneo.context.forest import RowItem
from ireneo.context.needs import (
    Answer,
    Assembled,
    KnownRow,
    Made,
    NeedParts,
    NeedPath,
    NeedRow,
    NeedTexts,
)
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms, Thinking
from ireneo.context.weigh import Count, weigh
from ireneo.engine.encode import Context, encode, excess, make_context
from ireneo.errors import BudgetTooSmall
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.branch import chain, head_of
from ireneo.log.message import Draft, Message

MIN_BUDGET = 256
TRIES = 4
"""How often a context is cut again when its format's frame made it larger than its budget."""
LEAST = 64
"""Tokens that hold one block and nothing else."""


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
    terms = Terms(budget=budget, policy=policy, count=count, asked=asked)
    terms = replace(terms, thinking=terms.ruled(chat.thinking))
    check_budget(budget)
    messages = chain(None, drafts, lambda parts: weigh(parts, count))
    whole: dict[str, Draft] = {message.id: message.draft for message in messages}
    target = budget
    composed = Composed(shown=(), tokens=0)
    for left in reversed(range(TRIES)):
        if messages:
            composed = _assemble(messages, replace(terms, budget=target)).composed
        payload = encode(composed.shown, whole, chat, terms.thinking)
        over = excess(payload, budget, chat, count)
        if over <= 0:
            break
        target = narrower(target, composed, over, left)
    before = messages[-1].total_tokens if messages else 0
    return make_context(budget, before, chat, payload, composed.shown, count, whole=whole)


def narrower(target: int, composed: Composed, over: int, left: int) -> int:
    """What the next cut may cost, where this one was `over` its budget as written; `left` more are tried."""
    # The last one shows one block alone, to which no format adds more than a line.
    return LEAST if left <= 1 else max(min(target, composed.tokens) - over - 8, LEAST)


def check_budget(budget: int) -> None:
    """Raise BudgetTooSmall for a budget in which no message and its frame fit."""
    if budget < MIN_BUDGET:
        raise BudgetTooSmall(f"A budget of {budget:,} tokens is too small; give at least {MIN_BUDGET}.")


def _assemble(messages: Sequence[Message], terms: Terms) -> Assembled:
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
