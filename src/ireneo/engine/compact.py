"""Cut a message list to a budget without any store: messages in, messages out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.context.assemble import WorkComposer
from ireneo.context.compose import ContextOptions, Thinking
from ireneo.context.view import ContextItem
from ireneo.engine.encode import Composer, Context, check_budget, fitted, make_context
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.message import Count, Draft, MessageId, weigh
from ireneo.log.tree import chain
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import ListReader
from ireneo.summaries.work import WorkPath


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
    check_budget(budget)
    messages = chain(None, drafts, lambda parts: weigh(parts, count))
    if not messages:
        return make_context(budget, 0, chat, chat.encode(()), (), count)
    options = ContextOptions(budget=budget, policy=policy, count=count, asked=asked)
    options = replace(options, thinking=options.ruled(chat.thinking))
    reader = ListReader(messages)
    composer: Composer
    if policy.story is None:
        composer = WorkComposer(WorkPath(reader, policy), None, options)
    else:
        # Loaded where a story is told, so that cutting an agent's list doesn't wait for it.
        from ireneo.context.story import StoryComposer, StoryTeller
        from ireneo.summaries.story_path import StoryPath

        teller = StoryTeller(count)
        composer = StoryComposer(StoryPath(reader, policy), options, teller, most=len(messages))
    handed = {message.id: message.draft for message in messages}

    def whole(shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
        return {each.id: handed[MessageId(each.id)] for each in shown if each.whole}

    made, _ = fitted(composer, reader.head.total_tokens, chat, options, whole)
    return replace(made, explained=None)
