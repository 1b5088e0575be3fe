"""What a chat format is, and what in its lists is ours: notes, summaries, and what the harness or memory injects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.rules import FITTING_NAME, Outlines, Rule, Violation, violations
from ireneo.formats.values import detached, kind, record, text_or
from ireneo.log.message import (
    BLOCK_TAGS,
    PINS_TAG,
    Call,
    Draft,
    Media,
    Native,
    Opaque,
    Origin,
    Part,
    Result,
    Role,
    Text,
    Thinking,
    is_recalled,
)
from ireneo.patterns import lazy_re

FormatName: TypeAlias = Literal["anthropic", "gemini", "langchain", "openai", "openai-responses", "pydantic-ai"]
"""The name of a chat format."""

ANTHROPIC: Final = "anthropic"
GEMINI: Final = "gemini"
LANGCHAIN: Final = "langchain"
OPENAI: Final = "openai"
PYDANTIC_AI: Final = "pydantic-ai"
RESPONSES: Final = "openai-responses"

ThinkingRule = Literal["prefix", "turn", "none"]
"""When a model's signed thinking may go back: ``prefix``, as long as nothing before it was changed; ``turn``, within
the turn that is running, whatever was changed before; ``none``, the format has no place for it."""

Json: TypeAlias = dict[str, object]
"""A JSON object: a message, or a block of one."""
Repair: TypeAlias = Callable[[Sequence[Draft]], Sequence[Draft]]


class Payload(Struct, frozen=True, kw_only=True):
    """What is sent to a provider: its message list and, where the format keeps it apart, the system prompt."""

    messages: list[Json]
    system: str | list[Json] | None = None


class ChatFormat(ABC):
    """One provider's message format: pure functions from its lists to drafts and back.

    To write a list is to repair the drafts, a fault at a time (see `repair_steps`), and to write down what is sound.
    """

    name: FormatName
    thinking: ThinkingRule
    rules: tuple[Rule, ...]
    """What a list must hold to."""
    local_rules: tuple[Rule, ...]
    """Those of them that look at one message at a time."""
    thinking_rules: tuple[Rule, ...] = ()
    """Those that hold besides where extended thinking is on for the next call."""

    strict_names = False
    """Whether the name of a tool may hold letters, digits, underscores and hyphens alone, at most 128."""

    @abstractmethod
    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`.

        Raises UnreadableLog with the fault's place.
        """

    @abstractmethod
    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a message list that passes `validate`, repairing what a cut left (see each format)."""

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; an empty list is valid.

        With `thinking`, those too that hold where extended thinking is on for the next call.
        """
        rules = (*self.rules, *self.thinking_rules) if thinking else self.rules
        return violations(self.outlined(payload.messages), rules)

    def without_thinking(self, payload: Json) -> Json | None:
        """The payload of a message without the model's thinking; None where it can't be had so.

        OpenAI's items, for one, name the reasoning that they go on from.
        """
        return None

    @abstractmethod
    def outlined(self, messages: Sequence[Json]) -> Outlines:
        """What the rules see of `messages`."""

    @abstractmethod
    def read_message(self, message: Json, place: str) -> list[Draft]:
        """The drafts that a message is, each with its payload where the parts don't give it back."""

    @abstractmethod
    def repair_steps(self) -> Iterable[Repair]:
        """What puts drafts right for this format, in order, once the payloads are settled."""

    @abstractmethod
    def carries(self, part: Media | Opaque, role: str) -> bool:
        """Whether a message of that role has a place for `part`."""

    def repaired(self, drafts: Sequence[Draft]) -> list[Draft]:
        """`drafts`, sound for this format."""
        out: Sequence[Draft] = [self._settled(draft) for draft in drafts]
        for repair in self.repair_steps():
            out = repair(out)
        return list(out)

    def express(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Say in text what the format has no part for, and leave out what it does not take."""
        return [self.expressed(draft) for draft in drafts]

    def expressed(self, draft: Draft) -> Draft:
        """The same for one draft; one whose provider's payload stands for it is left as it is."""
        if draft.native is not None:
            return draft
        role = draft.role
        return with_parts(draft, [self.expressed_part(part, role) for part in draft.parts if self.takes(part, role)])

    def takes(self, part: Part, role: Role) -> bool:
        """Whether the format takes `part` at all, in whatever form; thinking goes back only as it came."""
        return not isinstance(part, Thinking)

    def expressed_part(self, part: Part, role: Role) -> Part:
        """`part`, or the text that stands for it."""
        if isinstance(part, Call):
            name = part.name or UNNAMED
            if self.strict_names and not FITTING_NAME.fullmatch(name):
                name = _NO_LETTER.sub("_", name)[:128]
            return part if part.name == name else replace(part, name=name)
        if isinstance(part, Result):
            return replace(part, parts=tuple(self._carried(each, "tool") for each in part.parts))
        return self._carried(part, role) if isinstance(part, Media | Opaque) else part

    def keep_native(self, draft: Draft, payload: object, written: object) -> Draft:
        """`draft` with `payload` beside it, unless the parts alone were `written` as the very same JSON."""
        return draft if written == payload else replace(draft, native=Native(format=self.name, payload=payload))

    def merging(self, write: Callable[[Sequence[Draft]], object]) -> Callable[[Draft, Draft], Native | None]:
        """What gives the payload of two drafts that are one message, as `write` writes them.

        None where their parts say it all.
        """

        def merge(before: Draft, draft: Draft) -> Native | None:
            if before.native is None and draft.native is None:
                return None
            return Native(format=self.name, payload=write([before, draft]))

        return merge

    def read_native(self, payload: object) -> list[Draft] | None:
        """What a payload of this format says; None where it breaks a rule of its own, and may not be sent."""
        if not isinstance(payload, dict) or violations(self.outlined([payload]), self.local_rules):
            return None
        return self.read_message(payload, "native")

    def _settled(self, draft: Draft) -> Draft:
        """Leave a native only where it may be sent unchanged; the other drafts are built from their parts.

        A native may be sent if it is of this format, breaks no rule of its own, and says what the parts say: parts
        that were changed since (a masked output, say) are the truth.
        """
        if draft.native is None:
            return draft
        try:
            said = self.read_native(draft.native.payload) if draft.native.format == self.name else None
        except UnreadableLog:
            # Whoever handed it in wrote something else under this format's name; the parts are what there is.
            said = None
        if said is not None and len(said) == 1 and said[0].role == draft.role:
            # Whether a call failed may have been derived from the text since; the payload needn't say so.
            read, held = (
                [replace(part, failed=None) if isinstance(part, Result) else part for part in each.parts]
                for each in (said[0], draft)
            )
            if read == held:
                return draft
        return replace(draft, native=None)

    def _carried(self, part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
        return part if isinstance(part, Text) or self.carries(part, role) else Text(text=unshown_note(part))


def read_draft(role: Role, parts: Iterable[Part], name: object, *, joined: bool = False) -> Draft:
    """The draft of what stands in a message that its provider, or its framework, calls `name`."""
    kept = tuple(parts)
    origin: Origin = origin_of(kept) if role == "user" else "spoken"
    source_id = name if isinstance(name, str) and name else None
    return Draft(role=role, parts=kept, origin=origin, source_id=source_id, joined=joined)


PartT = TypeVar("PartT")


def halves(
    message: Json, key: str, read: Sequence[tuple[Json, PartT]], brings: Callable[[tuple[Json, PartT]], bool]
) -> list[tuple[Role, Sequence[tuple[Json, PartT]], Json, bool]]:
    """A user's message as the drafts that it is: results, words, or both, each as if it had held nothing else.

    Each with its role, what was read of it, its message, and whether it is joined to the one before. `brings` says
    whether what stands in the list under `key` is a result.
    """
    results, said = [each for each in read if brings(each)], [each for each in read if not brings(each)]
    if not results or not said:
        return [("tool" if results else "user", read, message, False)]
    return [
        ("tool", results, message | {key: [block for block, _ in results]}, False),
        ("user", said, message | {key: [block for block, _ in said]}, True),
    ]


def with_parts(draft: Draft, parts: Iterable[Part]) -> Draft:
    """`draft` with other parts; its native payload, which would still say the old ones, goes unless they are equal."""
    new = tuple(parts)
    return draft if new == draft.parts else replace(draft, parts=new, native=None)


def messages_of(payload: object, key: str = "messages") -> list[object]:
    """The message list that `payload` is, or holds under `key`, or else under `messages`."""
    if isinstance(payload, Payload):
        return list(payload.messages)
    if isinstance(payload, dict):
        held = key if key in payload else "messages"
        payload = payload.get(held)
        if not isinstance(payload, list):
            raise UnreadableLog(f"`{held}` is {kind(payload)}, not a list of messages")
    if not isinstance(payload, list):
        raise UnreadableLog(f"This is {kind(payload)}, not a list of messages nor an object that holds one in `{key}`")
    return payload


def placed_messages(payload: object, key: str = "messages") -> Iterator[tuple[str, dict[str, object]]]:
    """Each message of `payload`, copied, with the words that name its place: ``message 3`` is the fourth."""
    for index, message in enumerate(messages_of(payload, key)):
        place = f"message {index}"
        yield place, record(detached(record(message, place), place), place)


UNANSWERED = "[no result: this call was not answered]"
LOST_CALL = "[result of a call that is no longer shown]"
REPEATED = "[another result of a call that is already answered]"
BEGINNING = "[The conversation begins here.]"
NO_REPLY = "[no reply was given here]"
WORDLESS_ERROR = "[the call failed and said nothing]"
SYSTEM = "[system]"
UNNAMED = "unnamed"

_NO_LETTER = lazy_re(r"[^A-Za-z0-9_-]")


def media_note(media: Media) -> str:
    """What stands for a picture, a sound or a file that is not shown: a marker, so that it doesn't vanish unseen."""
    name = f" {media.name}" if media.name else ""
    if media.data is not None:
        return f"[{media.media_type}{name}, {_size(len(media.data) * 3 // 4)}, not shown]"
    if media.url is not None and not media.url.startswith("data:"):
        return f"[{media.media_type}{name} at {media.url}, not shown]"
    return f"[{media.media_type}{name}, not shown]"


def unshown_note(part: Media | Opaque) -> str:
    """The same for a block too, which only another format understands."""
    if isinstance(part, Media):
        return media_note(part)
    called = text_or(part.payload.get("type"), "block")
    return f"[{part.format} {called}, {_size(len(msgspec.json.encode(part.payload)))}, not shown]"


def call_note(call: Call) -> str:
    """What stands for a call that can't be shown as one."""
    arguments = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
    return f"[call of {call.name}, not shown as one] {arguments}"


def result_note(heading: str, result: Result) -> Text:
    """What stands for a result that can't be shown as one; it is quoted whole, its media as markers."""
    lines = [part.text if isinstance(part, Text) else unshown_note(part) for part in result.parts]
    quoted = "\n".join(lines)
    return Text(text=f"{heading} {quoted}".rstrip())


def filtered(holder: Json, key: str, keeps: Callable[[Json], bool]) -> Json:
    """`holder` with those alone of the objects in the list under `key` that `keeps`."""
    listed = holder.get(key)
    if not isinstance(listed, list):
        return holder
    return holder | {key: [each for each in listed if not isinstance(each, dict) or keeps(each)]}


def text_block(text: str) -> Json:
    """Words as a block, as most formats have them."""
    return {"type": "text", "text": text}


def blocks_of(
    parts: Sequence[Part], show: Callable[[Media], Json | None], say: Callable[[str], object] = text_block
) -> list[object]:
    """Each of `parts` as a block: its words, what it shows (or the note that stands for it), or the block it was."""
    blocks: list[object] = []
    for part in parts:
        if isinstance(part, Text):
            blocks.append(say(part.text))
        elif isinstance(part, Media):
            blocks.append(show(part) or say(media_note(part)))
        elif isinstance(part, Opaque):
            blocks.append(part.payload)
    return blocks


def words_or_blocks(
    parts: Sequence[Part], show: Callable[[Media], Json | None], say: Callable[[str], object] = text_block
) -> str | list[object]:
    """Content as most formats have it: a string where there is only text, which every server takes; else a list."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return blocks_of(parts, show, say)


def joined_text(drafts: Sequence[Draft]) -> str:
    """The words of a system prompt that stands apart from the messages."""
    return "\n\n".join(part.text for draft in drafts for part in draft.parts if isinstance(part, Text))


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{round(count / 1000)} kB"
    return f"{count / 1_000_000:.1f} MB"


_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


def origin_of(parts: Sequence[Part]) -> Origin:
    """`injected` where a user message is nothing but reminders of the harness, or what memory put there itself.

    That is pins, a scratchpad, a brief; else it is `spoken`.
    """
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "injected" if len(texts) == len(parts) > 0 and all(map(_is_injected, texts)) else "spoken"


def _is_injected(text: str) -> bool:
    return _is_reminder(text) or text.startswith(PINS_TAG) or is_recalled(text.removeprefix(f"{SYSTEM} "))


def _is_reminder(text: str) -> bool:
    # A loop and no pattern: a lazy match would reach over the user's words between two reminders.
    rest = text.strip()
    found = bool(rest)
    while rest and found:
        before, closed, rest = rest.partition(_CLOSE)
        found, rest = before.startswith(_OPEN) and bool(closed), rest.lstrip()
    return found


# In whose voice a summary stands. First-person text in a user message reads as the user speaking; as the assistant's,
# it must not be the last word.

NOTES = "(My own notes on earlier work; not a request.)"


def flatten_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Make plain text of each summary, so that no other rule has to know of them; its role is settled last."""
    out: list[Draft] = []
    for draft in drafts:
        if draft.origin == "summary":
            if draft.calls or draft.results:
                # What acts is no summary, whatever it is called.
                draft = replace(draft, origin="spoken")
            elif draft.native is None:
                # Without the line that marks it as notes: what is blank but for that is dropped as any blank text is.
                draft = replace(draft, role="user", parts=(Text(text=_unmarked(draft)),), joined=False)
        out.append(draft)
    return out


def cast_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Give each summary its role: the assistant where a user message follows, else the user, marked as notes."""
    out: list[Draft] = []
    for index, draft in enumerate(drafts):
        follows = _user_follows(drafts, index)
        if draft.origin == "summary" and (draft.native is None or not (follows or draft.role == "user")):
            text, role = _unmarked(draft), "assistant"
            if not follows:
                text, role = f"{NOTES}\n{text}", "user"
            draft = replace(draft, role=role, parts=(Text(text=text),), native=None)
        out.append(draft)
    return out


def recognise_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Find our own blocks in a list that was compacted before, so that they are not taken for what was said.

    Only where `cast_summaries` would give the block the very role it has, so that the list still comes back equal.
    """
    out = list(drafts)
    for index in reversed(range(len(out))):
        draft = out[index]
        shared = draft.joined or (index + 1 < len(out) and out[index + 1].joined)
        if shared or draft.native is not None or len(draft.parts) != 1:
            continue
        begins = BLOCK_TAGS if draft.role == "assistant" else _WRAPPED
        cast = "assistant" if _user_follows(out, index) else "user"
        if draft.role == cast and isinstance(draft.parts[0], Text) and draft.parts[0].text.startswith(begins):
            out[index] = replace(draft, origin="summary")
    return out


_WRAPPED = tuple(f"{NOTES}\n{mark}" for mark in BLOCK_TAGS)


def _unmarked(draft: Draft) -> str:
    return draft.text.removeprefix(f"{NOTES}\n")


def _user_follows(drafts: Sequence[Draft], index: int) -> bool:
    following = drafts[index + 1] if index + 1 < len(drafts) else None
    return following is not None and following.role == "user" and following.origin != "summary"
