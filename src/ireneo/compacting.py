"""Cut a message list without any store: all that `ireneo.compact` loads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

from ireneo.adapters.tokens import EstimatedTokenizer, ExactTokenizer
from ireneo.engine.encode import (
    AnthropicContext,
    Context,
    OpenAIContext,
    ResponsesContext,
    compact_drafts,
    with_objects,
)
from ireneo.errors import BadInput, UnreadableLog
from ireneo.formats.chat.format import FormatName, Payload, ThinkingRule, messages_of
from ireneo.formats.chat.registry import ReadMessages, chat_format, read_given
from ireneo.formats.values import library_of
from ireneo.summaries.policy import Policy
from ireneo.summaries.policy import preset as preset_named

if TYPE_CHECKING:
    from ireneo.ports.models import Tokenizer

TokenCounts: TypeAlias = Literal["estimate", "o200k"]


class CompactOptions(TypedDict, total=False):
    """What `compact` takes besides."""

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
def compact(
    messages: object,
    budget: int,
    *,
    to: FormatName | None = None,
    preset: str | Policy | None = None,
    tokens: TokenCounts | Tokenizer = "estimate",
    thinking: ThinkingRule | None = None,
) -> Context[Any, Any]:
    """Cut a message list to `budget` tokens, without any store: a provider's format in, the same (or `to`) out.

    `messages` is a list in any of the chat formats, what clients return and the message objects of LangChain and
    Pydantic AI among them, or an object that holds one as the provider takes it (``messages`` and ``system``, say), or
    a list of drafts (from a log), which come out as OpenAI's where `to` names no other format. Objects of LangChain,
    Pydantic AI and google-genai come out as such. Each message is read in the format whose marks it bears; a list in
    several comes out only in the one that `to` names. `thinking` is what
    `Session.context` says of it.
    Raises BudgetTooSmall under 256 tokens, UnknownFormat, and UnreadableLog with the fault's place.
    """
    policy = preset if isinstance(preset, Policy) else preset_named(preset or "coding")
    read = read_list(messages, chat_format(to).name if to else None)
    chat = chat_format(to or read.likely)
    cut = compact_drafts(read.drafts, budget, chat, policy, tokenizer(tokens).count, thinking)
    return with_objects(cut) if read.objects == chat.name else cut


def tokenizer(tokens: TokenCounts | Tokenizer) -> Tokenizer:
    """The tokenizer of that name, or the one that was handed in."""
    if not isinstance(tokens, str):
        return tokens
    if tokens == "estimate":
        return _estimate()
    if tokens == "o200k":
        return ExactTokenizer()
    raise BadInput(f"There is no tokenizer {tokens!r}; take 'estimate' or 'o200k', or hand one in.")


@cache
def _estimate() -> EstimatedTokenizer:
    # One for all who ask: it knows what the pieces cost that it has counted.
    return EstimatedTokenizer()


def read_list(given: object, to: str | None) -> ReadMessages:
    """Read a list to be cut, or whatever holds one. Raises UnreadableLog for one in several formats, unless `to` is."""
    if not isinstance(given, list | tuple | Mapping | Payload) and not library_of(given):
        messages_of(given)
    read = read_given(list(given) if isinstance(given, list | tuple) else [given], known=to, whole=True)
    if len(read.marks) > 1 and to is None:
        several = " and ".join(read.marks)
        raise UnreadableLog(f"The messages are in several formats ({several}); say which one is wanted: to=… (--to)")
    return read
