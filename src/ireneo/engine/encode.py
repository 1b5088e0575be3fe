"""Write a composed context in a provider's format within its budget, and describe what it shows and costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.assemble import Assembled, WorkComposer
from ireneo.context.compose import ContextOptions, Explained
from ireneo.context.view import ContextItem, ViewKind, drafts, without_thinking
from ireneo.errors import BadInput, BudgetTooSmall
from ireneo.formats.chat.format import ChatFormat, FormatName, Payload, ThinkingRule
from ireneo.formats.chat.registry import OBJECTS, made_into_objects, without_thoughts
from ireneo.formats.chat.repairs import losses, without_dangling
from ireneo.formats.chat.rules import THINKING_MISSING, Violation
from ireneo.log.message import Count, Draft, MessageId, Thinking, arguments_text, chain, short, texts, weigh
from ireneo.summaries.policy import Policy
from ireneo.summaries.summary import ListReader, SummaryLevel
from ireneo.summaries.work import WorkPath

CHARACTERS_PER_TOKEN = 4
_BLOCKS = ("summary", "waiting", "left out")
"""What stands for messages that are not shown themselves."""
VIEW = frozenset(get_args(ViewKind)) - {"pins", "pad"}
"""What stands for messages; the others have a place of their own beside the view."""


class ViewRow(Struct, frozen=True, kw_only=True):
    """One place of a context, as a reader looks at it."""

    id: str
    what: ViewKind
    level: SummaryLevel | None
    depth: int
    first: str
    """The first message that it stands for."""
    last: str
    covers: int
    """How many messages it stands for."""
    tokens: int
    text: str
    disputed: str = ""
    """Of a summary: why it is disputed, if it is."""


if TYPE_CHECKING:
    # Where a client is not installed its types are unknown to a type checker, and fit everywhere.
    from anthropic.types import MessageParam, TextBlockParam
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam
    from typing_extensions import TypeVar as DefaultTypeVar

    MessageT = DefaultTypeVar("MessageT", default=Any)
    SystemT = DefaultTypeVar("SystemT", default="str | list[Any] | None")
else:
    MessageT = TypeVar("MessageT")
    SystemT = TypeVar("SystemT")


class Context(Struct, Generic[MessageT, SystemT], frozen=True, kw_only=True, omit_defaults=True):
    """What the model sees: a message list in a provider's format, and the view that says what each part stands for."""

    budget: int
    tokens: int
    """What the message list costs by the tokenizer that the memory was opened with, system prompt included."""
    tokens_before: int
    """What the whole path costs."""
    format: FormatName
    messages: list[MessageT]
    """Dictionaries as the provider takes them; objects of a framework, where such were handed in."""
    system: SystemT
    """The system prompt, in formats that keep it apart from the messages."""
    view: tuple[ViewRow, ...]
    """Every message of the path once, in order: as itself, or under a summary."""
    violations: tuple[Violation, ...]
    """Rules of the format that the list breaks; empty unless a fault of ours is at work."""
    repaired: tuple[Violation, ...] = ()
    """What is shown otherwise than it was handed in, because the format demands it: a call without a result, a result
    without a call, and what the format has no place for. Each with its place in `view`, and a sentence."""
    thinking_off: str = ""
    """Why a model that thinks must be called with its extended thinking off this time, where it must; else empty.

    A tool loop runs whose beginning is shown without the thinking that stood there. It may be on again as soon as the
    user has spoken. Adaptive thinking, which the model turns on by itself, may stay on.
    """
    pins: tuple[ViewRow, ...] = ()
    """What is pinned and stands in no message that is shown."""
    pad: ViewRow | None = None
    """The scratchpad of the task at hand, where one is shown."""
    explained: Explained | None = None
    """Why it was kept or rebuilt, and what that costs, where that was asked for."""
    unkept: str = ""
    """Why nothing of it was kept for the next one, where the store may not be written to."""
    behind: int = 0
    """Of a story: how many messages are due to be summarised and are not yet; the view says which."""


OpenAIContext: TypeAlias = "Context[ChatCompletionMessageParam, None]"
ResponsesContext: TypeAlias = "Context[ResponseInputItemParam, str | None]"
AnthropicContext: TypeAlias = "Context[MessageParam, str | list[TextBlockParam] | None]"


def make_context(
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
    """Describe a payload: what is `shown` in it, what it costs, and what the whole path cost `before`.

    `whole` are the messages that are shown as they were handed in; `measured` is the payload's size, where it is known.
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
        thinking_off=_thinking_off(broken),
        repaired=_repaired(shown, whole or {}, payload, size.decoded, chat),
    )


def gives_objects(source: str | None, format: str) -> bool:
    """Whether a context of a session that came from `source` is made of a framework's objects in `format`."""
    return source == f"{format}:{OBJECTS}"


def with_objects(context: Context) -> Context:
    """`context` with its messages as objects of the framework whose format they are in."""
    return replace(context, messages=made_into_objects(context.messages, context.format))


def encode(
    shown: Sequence[ContextItem], whole: Mapping[str, Draft], chat: ChatFormat, thinking: ThinkingRule = "none"
) -> Payload:
    """Write what is shown as a message list; `whole` has the drafts with their native payloads.

    A provider wants the thinking of a whole tool loop or none: where the rule `thinking` left a part of it, it goes.
    """
    settled = [_with_native(each, whole) for each in shown]
    # What is shown without the thinking that it came with has lost something as well.
    lost = [each.what in _BLOCKS or (each.id in whole and whole[each.id].parts != each.draft.parts) for each in shown]
    sound = without_dangling([each.draft for each in settled], lost)
    written = drafts([replace(each, draft=draft) for each, draft in zip(settled, sound, strict=True)])
    payload = chat.encode(written)
    if thinking == "turn" and chat.thinking == "prefix" and _thinking_off(chat.validate(payload, thinking=True)):
        return chat.encode(
            [
                without_thinking(draft) if any(isinstance(part, Thinking) for part in draft.parts) else draft
                for draft in written
            ]
        )
    return payload


def _repaired(
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
    """What a payload costs, with all that the format had to add to it."""

    decoded: Sequence[Draft]
    """The payload as a provider reads it."""
    tokens: int
    """By the tokenizer."""
    heeded: int
    """By the tokenizer or by the rule of thumb of four characters a token, whichever is more: tokenizers differ, and on
    prose most of them count more than the one that is estimated here."""


def measure(payload: Payload, chat: ChatFormat, count: Count) -> PayloadSize:
    """Read a payload as its provider does, and count it."""
    given: dict[str, object] = {"messages": payload.messages}
    if payload.system is not None:
        given["system"] = payload.system
    decoded = chat.decode(given)
    tokens = sum(sum(weigh(draft.parts, count)) for draft in decoded)
    heeded = max(tokens, sum(map(_characters, decoded)) // CHARACTERS_PER_TOKEN)
    return PayloadSize(decoded=decoded, tokens=tokens, heeded=heeded)


def _characters(draft: Draft) -> int:
    words = sum(len(text) + 1 for text in texts(draft.parts))
    return words + sum(len(call.name) + len(arguments_text(call)) + 2 for call in draft.calls)


def _thinking_off(broken: Iterable[Violation]) -> str:
    return next((each.message for each in broken if each.rule == THINKING_MISSING), "")


def view_rows(shown: Sequence[ContextItem], what: Collection[str] = VIEW) -> tuple[ViewRow, ...]:
    """The view of the path: each message of it stands in one row; of `what` is asked, where that is something else."""
    names = ViewRow.__struct_fields__
    return tuple(ViewRow(**{name: getattr(each, name) for name in names}) for each in shown if each.what in what)


def _with_native(shown: ContextItem, whole: Mapping[str, Draft]) -> ContextItem:
    if not shown.whole or shown.id not in whole:
        return shown
    draft = whole[shown.id]
    if draft.parts != shown.draft.parts:
        # Its thinking is not shown; what else its provider wrote still stands for it.
        draft = replace(draft, parts=shown.draft.parts, native=without_thoughts(draft.native))
    return ContextItem(
        what=shown.what,
        id=shown.id,
        first=shown.first,
        last=shown.last,
        covers=1,
        tokens=shown.tokens,
        draft=draft,
        whole=True,
    )


MIN_BUDGET = 256
MARGINS = (0.0, 0.005, 0.01, 0.02, 0.04)
"""Shares of the budget that are kept free besides, one cut after the other, where a context is larger as written than
it was reckoned: less room is another choice of lines, which may be larger than reckoned by more."""
LEAST = 64
"""Tokens that hold one block and nothing else: no format adds more than a line to it."""


def check_budget(budget: int) -> None:
    """Raise BudgetTooSmall for a budget in which no message and its frame fit, and BadInput for what is no number."""
    if not isinstance(budget, int):
        raise BadInput(f"`budget` is {type(budget).__name__}; give a whole number of tokens.")
    if budget < MIN_BUDGET:
        raise BudgetTooSmall(f"A budget of {budget:,} tokens is too small; give at least {MIN_BUDGET}.")


def fitted(
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
    """Compose a context so that it is within the budget of `options` as `chat` writes it; with what it was made of.

    `before` is what the whole path costs; `whole` gives the drafts with their native payloads, of what is shown as it
    was handed in. `put` puts in what takes `room` tokens besides, such as a scratchpad. `count` counts payloads.
    """
    budget, count = options.budget, count or options.count
    aim = _Aim(budget - room)
    while True:
        assembled = composer.compose(aim.target)
        shown = assembled.composed.shown
        if put is not None and not aim.least:
            shown = tuple(put(shown))
        handed = whole(shown)
        payload = encode(shown, handed, chat, options.thinking)
        size = measure(payload, chat, count)
        over = size.heeded - budget
        if over <= 0 or aim.least:
            break
        aim.narrow(assembled.composed.tokens, over)
    made = make_context(budget, before, chat, payload, shown, count, whole=handed, measured=size)
    return replace(made, explained=assembled.why), assembled


class Composer(Protocol):
    """Composes a path for one target after the other."""

    def compose(self, target: int) -> Assembled:
        """Put the context together in `target` tokens."""


class _Aim:
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
    asked: ThinkingRule | None = None,
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
