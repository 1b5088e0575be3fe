"""`ireneo.compact`: cut a message list without a store."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from ireneo.adapters.tokens import EstimatedTokenizer, ExactTokenizer
from ireneo.engine.arguments import validate_arguments
from ireneo.engine.encode import (
    AnthropicContext,
    Context,
    OpenAIContext,
    ResponsesContext,
    compact_drafts,
    with_objects,
)
from ireneo.errors import BadInput, UnreadableLog
from ireneo.formats.chat.format import FormatName, Payload, ThinkingRule, chat_format, messages_of
from ireneo.formats.chat.reading import ReadMessages, read_given
from ireneo.formats.values import library_of
from ireneo.ports.models import Tokenizer
from ireneo.summaries.policy import Policy
from ireneo.summaries.policy import preset as preset_named

TokenCounts: TypeAlias = Literal["estimate", "o200k"]


class CompactOptions(TypedDict, total=False):
    """Further parameters of `compact`."""

    preset: str | Policy | None
    tokens: TokenCounts | Tokenizer
    thinking: ThinkingRule | None


@overload
def compact(
    messages: object, budget: int, *, to: Literal["openai"], **options: Unpack[CompactOptions]
) -> OpenAIContext: ...
@overload
def compact(
    messages: object, budget: int, *, to: Literal["openai-responses"], **options: Unpack[CompactOptions]
) -> ResponsesContext: ...
@overload
def compact(
    messages: object, budget: int, *, to: Literal["anthropic"], **options: Unpack[CompactOptions]
) -> AnthropicContext: ...
@overload
def compact(
    messages: object, budget: int, *, to: FormatName | None = None, **options: Unpack[CompactOptions]
) -> Context: ...
@validate_arguments
def compact(
    messages: object,
    budget: int,
    *,
    to: FormatName | None = None,
    preset: str | Policy | None = None,
    tokens: TokenCounts | Tokenizer = "estimate",
    thinking: ThinkingRule | None = None,
) -> Context[Any, Any]:
    """Cut a message list to `budget` tokens, without any store, and return it in the same format (or in `to`).

        shorter = ireneo.compact(messages, budget=32_000).messages

    `messages` is a list in any chat format, and may contain replies as clients return them and message objects of
    LangChain and Pydantic AI; or an object with such a list, as the provider takes it (``messages`` and ``system``,
    say); or a list of drafts from a log, which become OpenAI's messages unless `to` names another format. Objects of
    LangChain, Pydantic AI and google-genai are returned as such objects. The format of each message is detected; plain
    messages (a role and a text) are in any, and a list in several formats needs `to`.

    `preset`, `tokens` and `thinking` are as in `ireneo.open` and `Session.context`. Raises BudgetTooSmall under 256
    tokens, UnknownFormat, and UnreadableLog with the place of the fault.
    """
    policy = preset if isinstance(preset, Policy) else preset_named(preset or "coding")
    read = read_list(messages, chat_format(to).name if to else None)
    chat = chat_format(to or read.likely)
    cut = compact_drafts(read.drafts, budget, chat, policy, tokenizer(tokens).count, thinking)
    return with_objects(cut) if read.objects == chat.name else cut


def tokenizer(tokens: TokenCounts | Tokenizer) -> Tokenizer:
    """Return the tokenizer called `tokens`, or `tokens` itself if it is one. Raises BadInput for an unknown name."""
    if not isinstance(tokens, str):
        return tokens
    if tokens == "estimate":
        return _estimate()
    if tokens == "o200k":
        return ExactTokenizer()
    raise BadInput(f"There is no tokenizer {tokens!r}; give 'estimate', 'o200k' or an object.")


@cache
def _estimate() -> EstimatedTokenizer:
    # Shared, since it caches the costs of pieces.
    return EstimatedTokenizer()


def read_list(given: object, to: str | None) -> ReadMessages:
    """Read a list to be cut, or an object with one. Raises UnreadableLog for several formats without `to`."""
    if not isinstance(given, list | tuple | Mapping | Payload) and not library_of(given):
        messages_of(given)
    read = read_given(list(given) if isinstance(given, list | tuple) else [given], known=to, whole=True)
    if len(read.marks) > 1 and to is None:
        several = " and ".join(read.marks)
        raise UnreadableLog(f"The messages are in several formats ({several}); name the one to write with `to`.")
    return read
