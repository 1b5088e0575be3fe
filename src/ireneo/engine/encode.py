"""Writes a composed context in a provider's format, within its budget, and describes its content and cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.assemble import Assembled, WorkComposer
from ireneo.context.last_turns import LastTurnsComposer
from ireneo.context.shorten import without_thinking
from ireneo.context.view import ContextItem, ContextOptions, ViewKind, drafts
from ireneo.errors import BudgetTooSmall
from ireneo.formats.chat.format import THINKING_MISSING, ChatFormat, FormatName, Payload, ThinkingRule, Violation
from ireneo.formats.chat.reading import OBJECTS, to_library_objects, without_thoughts
from ireneo.formats.chat.repairs import losses, without_dangling
from ireneo.log.message import Count, Draft, MessageId, Thinking, arguments_text, chain, count_parts, short, texts
from ireneo.short_repr import ShortRepr
from ireneo.summaries.policy import CostExplanation, Policy
from ireneo.summaries.summary import ListReader, SummaryLevel
from ireneo.summaries.work import WorkPath

CHARACTERS_PER_TOKEN = 4
_BLOCKS = ("summary", "waiting", "left out")
"""The kinds of rows that replace messages which are not shown themselves."""
VIEW = frozenset(get_args(ViewKind)) - {"pins", "pad"}
"""The kinds of rows in `Context.view`; pins and the scratchpad have fields of their own."""


class ViewRow(ShortRepr, frozen=True, kw_only=True):
    """One item of a context: a message, a block, or a list of pins."""

    id: str
    """The id that `Session.expand` opens."""
    what: ViewKind
    """``message``: as it was said, whole or shortened; ``masked``: an output as one line; ``summary``: a block;
    ``waiting``: messages of a story that are due to be summarised, as a line that says so; ``left out``: messages that
    the preset `scratchpad` doesn't show; ``pins``, ``pad``: the rules and the scratchpad, only in `Context.pins` and
    `Context.pad`.
    """
    level: SummaryLevel | None
    """The kind of a block; None for anything else."""
    depth: int
    """Of a block: 1 if it is made from messages, 2 if from blocks of depth 1, and so on."""
    first: str
    """The id of the first message that the row covers."""
    last: str
    covers: int
    """How many messages the row covers."""
    tokens: int
    text: str
    disputed: str = ""
    """Why the summary is disputed; empty if it isn't."""


if TYPE_CHECKING:
    # Without the client installed, a type checker treats its types as Any.
    from anthropic.types import MessageParam, TextBlockParam
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam
    from typing_extensions import TypeVar as DefaultTypeVar

    MessageT = DefaultTypeVar("MessageT", default=Any)
    SystemT = DefaultTypeVar("SystemT", default="str | list[Any] | None")
else:
    MessageT = TypeVar("MessageT")
    SystemT = TypeVar("SystemT")


class Context(ShortRepr, Generic[MessageT, SystemT], frozen=True, kw_only=True, omit_defaults=True):
    """The messages to send to a model, in a provider's format, within a budget.

    reply = await client.messages.create(model=…, system=context.system, messages=context.messages, max_tokens=…)

    `view` says which messages of the session each item covers.
    """

    budget: int
    tokens: int
    """The cost of messages and system prompt, by the memory's tokenizer."""
    tokens_before: int
    """The cost of the whole path without thinking; `tokens` counts the thinking that is shown."""
    format: FormatName
    messages: list[MessageT]
    """Dictionaries as the provider takes them, or a framework's objects if the session was begun with such objects."""
    system: SystemT
    """The system prompt, in formats that separate it from the messages."""
    view: tuple[ViewRow, ...]
    """Every message of the path exactly once, in order: as itself, or under a block."""
    violations: tuple[Violation, ...]
    """Rules of the format that `messages` still break. Always empty, or it is a bug in Ireneo: see `repaired`."""
    repaired: tuple[Violation, ...] = ()
    """The changes that the format required: for calls without a result, results without a call, and parts that it can't
    hold. Each has its index in `view`, and a sentence.
    """
    thinking_off: str = ""
    """Why extended thinking must be off for the next call; empty if it may be on.

    It must be off if the beginning of the running tool loop is shown without its thinking. Thinking may be on again
    once the user has spoken; adaptive thinking, which the model turns on by itself, may stay on.
    """
    pins: tuple[ViewRow, ...] = ()
    """The pins that no shown message contains."""
    pad: ViewRow | None = None
    """The scratchpad of the session's task (`Memory.scratchpad`), if one is shown."""
    explained: CostExplanation | None = None
    """Why the context was kept or rebuilt, and what that costs; only with `explain`."""
    unkept: str = ""
    """Why the summaries made for this context were not stored: the store is read-only, or stayed busy. Else empty."""
    behind: int = 0
    """For a story: how many messages are due to be summarised; `view` says which."""


OpenAIContext: TypeAlias = "Context[ChatCompletionMessageParam, None]"
ResponsesContext: TypeAlias = "Context[ResponseInputItemParam, str | None]"
AnthropicContext: TypeAlias = "Context[MessageParam, str | list[TextBlockParam] | None]"


def describe_context(
    budget: int,
    before: int,
    chat: ChatFormat,
    payload: Payload,
    shown: Sequence[ContextItem],
    count: Count,
    *,
    whole: Mapping[str, Draft] | None = None,
    measured: PayloadSize | None = None,
) -> Context:
    """Describe a payload that shows `shown`; `before` is the cost of the whole path.

    `whole` holds the messages that are shown as they were passed in; `measured` is the payload's size, if it is known.
    """
    size = measured or measure(payload, chat, count)
    broken = chat.validate(payload, thinking=True)
    return Context(
        budget=budget,
        tokens=size.tokens,
        tokens_before=before,
        format=chat.name,
        messages=payload.messages,
        system=payload.system,
        view=view_rows(shown),
        pins=view_rows(shown, ("pins",)),
        pad=next(iter(view_rows(shown, ("pad",))), None),
        violations=tuple(each for each in broken if each.rule != THINKING_MISSING),
        thinking_off=_missing_thinking(broken),
        repaired=_lossy_repairs(shown, whole or {}, payload, size.decoded, chat),
    )


def gives_objects(source: str | None, format: str) -> bool:
    """Return whether contexts in `format` of a session from `source` consist of a framework's objects."""
    return source == f"{format}:{OBJECTS}"


def with_objects(context: Context) -> Context:
    """Return the context with its messages as objects of its format's framework."""
    return replace(context, messages=to_library_objects(context.messages, context.format))


def encode(
    shown: Sequence[ContextItem], whole: Mapping[str, Draft], chat: ChatFormat, thinking: ThinkingRule = "none"
) -> Payload:
    """Write the shown messages and blocks as a message list; `whole` holds the drafts with their native payloads.

    If the mode `thinking` left only a part of a tool loop's thinking, all is dropped, since providers require all or
    none.
    """
    settled = [_with_native(each, whole) for each in shown]
    # Messages shown without their thinking also lost something.
    lost = [each.what in _BLOCKS or (each.id in whole and whole[each.id].parts != each.draft.parts) for each in shown]
    sound = without_dangling([each.draft for each in settled], lost)
    written = drafts([replace(each, draft=draft) for each, draft in zip(settled, sound, strict=True)])
    payload = chat.encode(written)
    if thinking == "turn" and chat.thinking == "prefix" and _missing_thinking(chat.validate(payload, thinking=True)):
        return chat.encode(
            [
                without_thinking(draft) if any(isinstance(part, Thinking) for part in draft.parts) else draft
                for draft in written
            ]
        )
    return payload


def _lossy_repairs(
    shown: Sequence[ContextItem],
    whole: Mapping[str, Draft],
    payload: Payload,
    decoded: Sequence[Draft],
    chat: ChatFormat,
) -> tuple[Violation, ...]:
    rows = [each for each in shown if each.what in VIEW]
    handed = [whole.get(each.id, each.draft) if each.whole else each.draft for each in rows]
    found = losses([each.draft for each in rows], handed, payload, decoded, chat)
    return tuple(
        replace(loss, message=loss.message.replace(f"message {loss.index}", short(rows[loss.index].first), 1))
        for loss in found
    )


class PayloadSize(Struct, frozen=True, kw_only=True):
    """The cost of a payload, including everything that the format added."""

    decoded: Sequence[Draft]
    """The payload as its provider reads it."""
    tokens: int
    """By the tokenizer."""
    heeded: int
    """The larger of the tokenizer's count and four characters per token: tokenizers differ, and most count more for
    prose than the estimated one."""


def measure(payload: Payload, chat: ChatFormat, count: Count) -> PayloadSize:
    """Decode a payload as its provider does, and count it."""
    decoded = chat.decode({"messages": payload.messages, "system": payload.system})
    # When read back, the mark of a failed call is not part of its text.
    failed = sum(bool(result.failed) for draft in decoded for result in draft.results) if chat.failed_mark else 0
    tokens = sum(sum(count_parts(draft.parts, count)) for draft in decoded) + failed * count(chat.failed_mark)
    written = sum(map(_characters, decoded)) + failed * (len(chat.failed_mark) + 1)
    heeded = max(tokens, written // CHARACTERS_PER_TOKEN)
    return PayloadSize(decoded=decoded, tokens=tokens, heeded=heeded)


def _characters(draft: Draft) -> int:
    words = sum(len(text) + 1 for text in texts(draft.parts))
    return words + sum(len(call.name) + len(arguments_text(call)) + 2 for call in draft.calls)


def _missing_thinking(broken: Iterable[Violation]) -> str:
    return next((each.message for each in broken if each.rule == THINKING_MISSING), "")


def view_rows(shown: Sequence[ContextItem], what: Collection[str] = VIEW) -> tuple[ViewRow, ...]:
    """The rows of the view, or of the kinds in `what`."""
    names = ViewRow.__struct_fields__
    return tuple(ViewRow(**{name: getattr(each, name) for name in names}) for each in shown if each.what in what)


def _with_native(shown: ContextItem, whole: Mapping[str, Draft]) -> ContextItem:
    if not shown.whole or shown.id not in whole:
        return shown
    draft = whole[shown.id]
    if draft.parts != shown.draft.parts:
        # Only its thinking is left out.
        draft = replace(draft, parts=shown.draft.parts, native=without_thoughts(draft.native))
    return replace(shown, draft=draft)


MIN_BUDGET = 256
MARGINS = (0.0, 0.005, 0.01, 0.02, 0.04)
"""Shares of the budget to keep free: the next one is used each time the written context is larger than estimated.
With less room other lines are chosen, which may exceed their estimate by more."""
LEAST = 64
"""Room for one block and nothing else."""


def check_budget(budget: int) -> None:
    """Raise BudgetTooSmall for a budget too small for any message."""
    if budget < MIN_BUDGET:
        raise BudgetTooSmall(f"A budget of {budget:,} tokens is too small; give at least {MIN_BUDGET}.")


def compose_within(
    composer: Composer,
    before: int,
    chat: ChatFormat,
    options: ContextOptions,
    whole: Callable[[Sequence[ContextItem]], Mapping[str, Draft]],
    *,
    room: int = 0,
    put: Callable[[Sequence[ContextItem]], Sequence[ContextItem]] | None = None,
    count: Count | None = None,
) -> tuple[Context, Assembled]:
    """Compose a context that is within its budget when written in the format `chat`; returns it with its composition.

    `before` is the cost of the whole path; `whole` returns the native drafts of unchanged messages; `put` inserts
    something that takes `room` more tokens, such as a scratchpad; `count` counts payloads.
    """
    budget, count = options.budget, count or options.count
    target, margins = budget - room, iter(MARGINS)
    while True:
        assembled = composer.compose(target)
        shown = assembled.composed.shown
        if put is not None and target > LEAST:
            shown = tuple(put(shown))
        handed = whole(shown)
        payload = encode(shown, handed, chat, options.thinking)
        size = measure(payload, chat, count)
        over = size.heeded - budget
        if over <= 0 or target <= LEAST:
            break
        if (margin := next(margins, None)) is None:
            lower = target // 2
        else:
            lower = min(target, assembled.composed.tokens) - over - 8 - int((budget - room) * margin)
        target = max(lower, LEAST)
    made = describe_context(budget, before, chat, payload, shown, count, whole=handed, measured=size)
    return replace(made, explained=assembled.why), assembled


class Composer(Protocol):
    """Composes a path for several token targets, one after the other."""

    def compose(self, target: int) -> Assembled:
        """Compose the context in `target` tokens."""


def compact_drafts(
    drafts: Sequence[Draft],
    budget: int,
    chat: ChatFormat,
    policy: Policy,
    count: Count,
    asked: ThinkingRule | None = None,
) -> Context:
    """Cut the path of `drafts` to `budget` tokens, and write it in the format `chat`, without any store.

    `asked` is the caller's thinking mode; None for the format's.
    """
    check_budget(budget)
    messages = chain(None, drafts, lambda parts: count_parts(parts, count))
    if not messages:
        return describe_context(budget, 0, chat, chat.encode(()), (), count)
    options = ContextOptions(budget=budget, policy=policy, count=count, asked=asked)
    options = replace(options, thinking=options.thinking_mode(chat.thinking))
    reader = ListReader(messages)
    composer: Composer
    if policy.cuts:
        composer = LastTurnsComposer(WorkPath(reader, policy), options)
    elif policy.story is None:
        composer = WorkComposer(WorkPath(reader, policy), None, options)
    else:
        # Imported late, so that cutting an agent's list doesn't load it.
        from ireneo.context.story import StoryComposer, StoryTextCache
        from ireneo.summaries.story_path import StoryPath

        teller = StoryTextCache(count)
        composer = StoryComposer(StoryPath(reader, policy, budget=options.budget), options, teller, most=len(messages))
    handed = {message.id: message.draft for message in messages}

    def whole(shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
        return {each.id: handed[MessageId(each.id)] for each in shown if each.whole}

    made, _ = compose_within(composer, reader.head.total_tokens, chat, options, whole)
    return replace(made, explained=None)
