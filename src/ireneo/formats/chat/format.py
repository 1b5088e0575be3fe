"""The chat formats by name, and their base class: rules, notes for what can't be sent, and our own summaries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnknownFormat, UnreadableLog
from ireneo.formats.chat.traits import TRAITS
from ireneo.formats.values import json_type, require_object, string_or, text_block, to_plain_json
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

# The rules of message lists: each is a small function over outlines, which each format draws of its messages.


class Violation(Struct, frozen=True, kw_only=True):
    """A breach of a format's rule."""

    rule: str
    """The rule's name, such as ``orphaned-result``."""
    index: int
    """The message's index in the list."""
    message: str
    """One sentence: what is wrong, and what the provider expects."""


class Outline(Struct, frozen=True, kw_only=True):
    """The properties of one message that the rules check."""

    index: int = 0
    role: str
    """Empty if the message has none."""
    message: dict[str, object]
    calls: tuple[str, ...] = ()
    """The ids of the calls that the application must answer; an empty string for a missing id."""
    results: tuple[str, ...] = ()
    """The call ids of the message's results; an empty string for a missing id."""
    thinks: bool = False
    """Whether the message begins with signed or sealed thinking."""
    answers: int | None = None
    """The index of the message whose calls this message's results must answer, if there is one."""


Outlines: TypeAlias = Sequence[Outline]
"""The outlines of a list of messages."""


def draw_outlines(
    messages: Sequence[dict[str, object]],
    outline: Callable[[dict[str, object], dict[str, object] | None], Outline],
    tools: tuple[str, ...] = (),
) -> Outlines:
    """Draw the outlines of a list; `outline` draws one from a message and the message before it.

    Results are expected in the message directly after the model's or, where messages of the roles `tools` hold one
    result each, in the run of such messages.
    """
    outlines: list[Outline] = []
    asking: int | None = None
    before = None
    for index, message in enumerate(messages):
        seen = outline(message, before)
        before, model = message, seen.role in _MODELS
        outlines.append(replace(seen, index=index, answers=None if model else asking))
        if seen.role not in tools:
            asking = index if model else None
    return outlines


_MODELS = ("assistant", "model")


def outline_of(role: str, message: dict[str, object], drafts: Sequence[Draft]) -> Outline:
    """Draw the outline of a message that was read as `drafts`."""
    first = drafts[0].parts[:1] if drafts else ()
    return Outline(
        role=role,
        message=message,
        calls=tuple(call.id for draft in drafts for call in draft.calls),
        results=tuple(result.call_id for draft in drafts for result in draft.results),
        thinks=any(isinstance(part, Thinking) and part.is_bound for part in first),
    )


Rule: TypeAlias = Callable[[Outlines], Iterator[Violation]]


def violations(outlines: Outlines, rules: Sequence[Rule]) -> list[Violation]:
    """Return every violation of `rules`, in the order of the messages."""
    return sorted((fault for rule in rules for fault in rule(outlines)), key=lambda fault: fault.index)


def make_violation(rule: str, index: int, says: str) -> Violation:
    """Make a violation whose sentence begins with its place."""
    return Violation(rule=rule, index=index, message=f"message {index}: {says}")


def message_rule(rule: str, says: str, finds: Callable[[Outline], Iterable[object] | bool]) -> Rule:
    """Make a rule on single messages: a violation for each thing that `finds` returns.

    `says` is its sentence, in which ``{0}`` is what was found and ``{role}`` the message's role.
    """

    def check(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            found = finds(outline)
            for one in ("",) * found if isinstance(found, bool) else found:
                yield make_violation(rule, outline.index, says.format(one, role=outline.role))

    return check


def unknown_role(known: tuple[str, ...]) -> Rule:
    """Make the rule that each message has one of the roles `known`."""

    def finds(outline: Outline) -> list[str]:
        what = f"its role {outline.role!r} is unknown" if outline.role else "it has no role"
        return [] if outline.role in known else [what]

    return message_rule("unknown-role", f"{{0}}; expected one of {', '.join(known)}.", finds)


def first_not_user(outlines: Outlines) -> Iterator[Violation]:
    """Check that the first message is the user's."""
    first = next((each for each in outlines if each.role not in ("system", "developer")), None)
    if first is not None and first.role != "user":
        yield make_violation("first-not-user", first.index, "the first message must be the user's.")


def _without_id(outline: Outline) -> Iterator[str]:
    if "" in outline.calls:
        yield "a call has no id, so that no result can name it."
    if "" in outline.results:
        yield "a result doesn't say which call it answers."


call_without_id = message_rule("call-without-id", "{0}", _without_id)


def unique_rule(rule: str, says: str, names: Callable[[Outline], Iterable[str]]) -> Rule:
    """Make the rule that the `names` in a list are unique; in the sentence ``{0}`` is the repeated one."""

    def check(outlines: Outlines) -> Iterator[Violation]:
        seen: set[str] = set()
        for outline in outlines:
            for name in filter(None, names(outline)):
                if name in seen:
                    yield make_violation(rule, outline.index, says.format(name))
                seen.add(name)

    return check


def unique_calls(names: Callable[[Outline], Iterable[str]]) -> Rule:
    """Make the rule that the ids of a list's calls are unique."""
    return unique_rule("duplicate-call-id", "the id {0!r} is that of an earlier call.", names)


def _repeated_ids(outline: Outline) -> Iterator[str]:
    names = [name for name in outline.calls if name]
    return (name for place, name in enumerate(names) if name in names[:place])


duplicate_id_in_message = message_rule(
    "duplicate-call-id", "the id {0!r} is that of another call beside it.", _repeated_ids
)


def fitting_names(names: Callable[[Outline], Iterable[object]]) -> Rule:
    """Make the rule that a tool's name has at most 128 letters, digits, underscores and hyphens."""
    return message_rule(
        "bad-call-name",
        "the tool's name {0!r} may only hold letters, digits, underscores and hyphens, at most 128.",
        lambda outline: [name for name in names(outline) if isinstance(name, str) and not FITTING_NAME.fullmatch(name)],
    )


FITTING_NAME: Final = lazy_re(r"[A-Za-z0-9_-]{1,128}")


_UNPAIRED = {
    "unanswered-call": "call {!r} has no result; one must stand directly after it.",
    "orphaned-result": "the result names call {!r}, which no message before it makes.",
    "result-not-next": "the result of call {!r} must stand directly after the call.",
    "duplicate-result": "call {!r} is answered already; it can have one result only.",
}
"""The rules of calls and results that don't match, each with its sentence."""


def unpaired(outlines: Outlines) -> Iterator[Violation]:
    """Check that each call is answered once, by a result directly after it."""
    made: dict[str, list[int]] = {}
    answered: set[tuple[int, str]] = set()
    found: dict[str, list[tuple[int, str]]] = {rule: [] for rule in _UNPAIRED}
    loose: list[tuple[int, str]] = []
    for outline in outlines:
        for name in filter(None, outline.results):
            if outline.answers is None or name not in outlines[outline.answers].calls:
                loose.append((outline.index, name))
            elif (outline.answers, name) in answered:
                found["duplicate-result"].append((outline.index, name))
            else:
                answered.add((outline.answers, name))
        for name in filter(None, outline.calls):
            made.setdefault(name, []).append(outline.index)
    for index, name in loose:
        before = [at for at in made.get(name, []) if at < index]
        waiting = [at for at in before if (at, name) not in answered]
        answered.update((at, name) for at in waiting[-1:])
        rule = "result-not-next" if waiting else "duplicate-result" if before else "orphaned-result"
        found[rule].append((index, name))
    found["unanswered-call"] = [(at, name) for name, ats in made.items() for at in ats if (at, name) not in answered]
    for rule, pairs in found.items():
        for index, name in pairs:
            yield make_violation(rule, index, _UNPAIRED[rule].format(name))


THINKING_MISSING: Final = "thinking-missing"


def thinking_missing(outlines: Outlines) -> Iterator[Violation]:
    """Check that the assistant's first message in the running tool loop begins with thinking.

    The loop is what the assistant did since the user last spoke; it runs while results are the last message. Its later
    messages may or may not have thinking.
    """
    first = _loop_start(outlines)
    if first is not None and not first.thinks:
        says = (
            "the tool loop that runs begins here without thinking, since the model answered so, or since a thought "
            "doesn't hold any more once what stood before it was changed; send the call with extended thinking off."
        )
        yield make_violation(THINKING_MISSING, first.index, says)


def _loop_start(outlines: Outlines) -> Outline | None:
    """Return the assistant's first message in the tool loop that runs at the end; None if none runs."""
    first: Outline | None = None
    place = len(outlines)
    while place:
        answered = False
        while place and outlines[place - 1].role != "assistant":
            answered = answered or bool(outlines[place - 1].results)
            place -= 1
        if not answered:
            break
        while place and outlines[place - 1].role == "assistant":
            first = outlines[place - 1]
            place -= 1
    return first


def unreadable(read: Callable[[dict[str, object], str], object], known: tuple[str, ...]) -> Rule:
    """Make the rule that `read` can read each message with one of the roles `known`."""

    def rule(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            if outline.role in known:
                try:
                    read(outline.message, f"message {outline.index}")
                except UnreadableLog as fault:
                    yield Violation(rule="unreadable", index=outline.index, message=str(fault))

    return rule


# The base class of the formats.

FormatName: TypeAlias = Literal["anthropic", "gemini", "langchain", "openai", "openai-responses", "pydantic-ai"]
"""The name of a chat format."""

ANTHROPIC: Final = "anthropic"
GEMINI: Final = "gemini"
LANGCHAIN: Final = "langchain"
OPENAI: Final = "openai"
PYDANTIC_AI: Final = "pydantic-ai"
RESPONSES: Final = "openai-responses"

ThinkingRule = Literal["prefix", "turn", "none"]
"""When a model's signed thinking may be sent back. ``prefix``: while nothing before it was changed. ``turn``: within
the current turn, whatever was changed before. ``none``: never, since the format has no field for it."""

Json: TypeAlias = dict[str, object]
"""A JSON object: a message, or a block of one."""
Repair: TypeAlias = Callable[[Sequence[Draft]], Sequence[Draft]]


class Payload(Struct, frozen=True, kw_only=True):
    """The data sent to a provider: the message list and, in formats that separate it, the system prompt."""

    messages: list[Json]
    system: str | list[Json] | None = None


class ChatFormat(ABC):
    """One provider's message format: pure functions from its lists to drafts and back.

    To encode is to repair the drafts (see `_repair_steps`) and to write the result without further checks.
    """

    name: FormatName
    thinking: ThinkingRule
    rules: tuple[Rule, ...]
    """The rules of a list."""
    local_rules: tuple[Rule, ...]
    """The rules that check single messages."""
    thinking_rules: tuple[Rule, ...] = ()
    """Further rules that apply if extended thinking is on for the next call."""

    strict_names = False
    """Whether a tool's name is limited to 128 letters, digits, underscores and hyphens."""
    failed_mark = ""
    """The text written before the output of a failed call, in formats without a field for failures."""
    answering: tuple[str, ...] = ()
    """The roles of messages that hold one result alone."""

    @staticmethod
    @abstractmethod
    def _outline(message: Json, before: Json | None) -> Outline:
        """Draw the outline of a message; `before` is the message before it."""

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one and perhaps a system prompt.

        Raises UnreadableLog with the fault's place.
        """
        return recognise_summaries(self._read_all(payload))

    @abstractmethod
    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a list that passes `validate`; what can't be sent is repaired or replaced by a note."""

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Return every violation of the format's rules, with `thinking` also of the `thinking_rules`."""
        rules = (*self.rules, *self.thinking_rules) if thinking else self.rules
        return violations(self._draw_outlines(payload.messages), rules)

    def without_thinking(self, payload: Json) -> Json | None:
        """Return a message without the model's thinking; None if that is not possible.

        Items of OpenAI's Responses, for one, refer to their reasoning.
        """
        return None

    def _draw_outlines(self, messages: Sequence[Json]) -> Outlines:
        """Draw the outlines of `messages`, which the rules check."""
        return draw_outlines(messages, self._outline, self.answering)

    @abstractmethod
    def _read_message(self, message: Json, place: str) -> list[Draft]:
        """Read one message as drafts, each with its payload where the parts don't reproduce it."""

    @abstractmethod
    def _repair_steps(self) -> Iterable[Repair]:
        """Return the repairs of this format in their order."""

    @abstractmethod
    def _can_hold(self, part: Media | Opaque, role: str) -> bool:
        """Whether a message of that role can hold `part`."""

    def _repair(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Repair drafts so that they can be written in this format."""
        out: Sequence[Draft] = [self._checked_native(draft) for draft in drafts]
        for repair in self._repair_steps():
            out = repair(out)
        return list(out)

    def _read_all(self, payload: object) -> list[Draft]:
        out = self._read_prompt(payload)
        for place, message in placed_messages(payload, plain=self._to_json):
            out += self._read_message(message, place)
        return out

    def _read_prompt(self, payload: object) -> list[Draft]:
        """Read the system prompt, in formats that keep it apart from the messages."""
        return []

    def _to_json(self, message: object, place: str) -> object:
        """Convert a message to JSON, in formats that have objects of their own."""
        return require_object(message, place)

    def _replace_unsupported(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Replace parts that the format can't hold by text, and drop those that it doesn't take."""
        return [self._replace_in_draft(draft) for draft in drafts]

    def _replace_in_draft(self, draft: Draft) -> Draft:
        """Replace and drop parts of one draft; a draft that is sent as its native payload stays as it is."""
        if draft.native is not None:
            return draft
        role = draft.role
        return with_parts(
            draft, [self._supported_part(part, role) for part in draft.parts if self._accepts(part, role)]
        )

    def _accepts(self, part: Part, role: Role) -> bool:
        """Whether the format accepts `part` at all, if only as text; by default all but thinking."""
        return not isinstance(part, Thinking)

    def _supported_part(self, part: Part, role: Role) -> Part:
        """Return `part`, or the text that replaces it."""
        if isinstance(part, Call):
            name = part.name or UNNAMED
            if self.strict_names and not FITTING_NAME.fullmatch(name):
                name = _NO_LETTER.sub("_", name)[:128]
            return part if part.name == name else replace(part, name=name)
        if isinstance(part, Result):
            return replace(part, parts=tuple(self._held_or_note(each, "tool") for each in part.parts))
        return self._held_or_note(part, role) if isinstance(part, Media | Opaque) else part

    def _keep_native(self, draft: Draft, payload: object, written: object) -> Draft:
        """Attach `payload` to `draft`, unless the parts alone were `written` as the same JSON."""
        return draft if written == payload else replace(draft, native=Native(format=self.name, payload=payload))

    def _native_merger(self, write: Callable[[Sequence[Draft]], object]) -> Callable[[Draft, Draft], Native | None]:
        """Return the function that makes the native payload of two drafts which are joined, by means of `write`."""

        def merge(before: Draft, draft: Draft) -> Native | None:
            if before.native is None and draft.native is None:
                return None
            return Native(format=self.name, payload=write([before, draft]))

        return merge

    def _read_native(self, payload: object) -> list[Draft] | None:
        """Read a payload of this format; None if it breaks a rule, so that it can't be sent."""
        if not isinstance(payload, dict) or violations(self._draw_outlines([payload]), self.local_rules):
            return None
        return self._read_message(payload, "native")

    def _checked_native(self, draft: Draft) -> Draft:
        """Drop the native payload unless it can be sent unchanged.

        It must be of this format, break no rule, and equal the parts, which may have been changed since (a masked
        output, say).
        """
        if draft.native is None:
            return draft
        try:
            said = self._read_native(draft.native.payload) if draft.native.format == self.name else None
        except UnreadableLog:
            # The caller wrote something else under this format's name; the parts are used.
            said = None
        if said is not None and len(said) == 1 and said[0].role == draft.role:
            # An outcome may have been derived from the text since.
            read, held = (
                [replace(part, failed=None) if isinstance(part, Result) else part for part in each.parts]
                for each in (said[0], draft)
            )
            if read == held:
                return draft
        return replace(draft, native=None)

    def _held_or_note(self, part: Text | Media | Opaque, role: str) -> Text | Media | Opaque:
        return part if isinstance(part, Text) or self._can_hold(part, role) else Text(text=unshown_note(part))


def read_draft(role: Role, parts: Iterable[Part], name: object, *, joined: bool = False) -> Draft:
    """Make the draft of a message with the id `name`, if it has one."""
    kept = tuple(parts)
    origin: Origin = origin_of(kept) if role == "user" else "spoken"
    source_id = name if isinstance(name, str) and name else None
    return Draft(role=role, parts=kept, origin=origin, source_id=source_id, joined=joined)


PartT = TypeVar("PartT")


def split_user_message(
    message: Json, key: str, read: Sequence[tuple[Json, PartT]], brings: Callable[[tuple[Json, PartT]], bool]
) -> list[tuple[Role, Sequence[tuple[Json, PartT]], Json, bool]]:
    """Split a user's message into results and words, each as if it were a message of its own.

    Returns for each half its role, what was `read`, its message, and whether it is joined to the half before. `brings`
    says whether an item of the list under `key` is a result.
    """
    results, said = [each for each in read if brings(each)], [each for each in read if not brings(each)]
    if not results or not said:
        return [("tool" if results else "user", read, message, False)]
    return [
        ("tool", results, message | {key: [block for block, _ in results]}, False),
        ("user", said, message | {key: [block for block, _ in said]}, True),
    ]


def with_parts(draft: Draft, parts: Iterable[Part]) -> Draft:
    """Replace the parts of `draft`; the native payload is dropped unless they are equal."""
    new = tuple(parts)
    return draft if new == draft.parts else replace(draft, parts=new, native=None)


def messages_of(payload: object, key: str = "messages") -> list[object]:
    """Return the message list that `payload` is, or holds under `key` or else under `messages`."""
    if isinstance(payload, Payload):
        return list(payload.messages)
    if isinstance(payload, dict):
        held = key if key in payload else "messages"
        payload = payload.get(held)
        if not isinstance(payload, list):
            raise UnreadableLog(f"`{held}` is {json_type(payload)}, not a list of messages")
    if not isinstance(payload, list):
        raise UnreadableLog(
            f"This is {json_type(payload)}, not a list of messages nor an object that holds one in `{key}`"
        )
    return payload


def placed_messages(
    payload: object, key: str = "messages", plain: Callable[[object, str], object] = require_object
) -> Iterator[tuple[str, dict[str, object]]]:
    """Copy the messages of `payload`, each with its place: ``message 3`` is the fourth.

    `plain` makes JSON of a message that may be an object of a library.
    """
    for index, message in enumerate(messages_of(payload, key)):
        place = f"message {index}"
        yield place, require_object(to_plain_json(plain(message, place), place), place)


SYSTEM = "[system]"
UNNAMED = "unnamed"

_NO_LETTER = lazy_re(r"[^A-Za-z0-9_-]")


def media_note(media: Media) -> str:
    """Return the text that stands for a picture, a sound or a file that can't be sent."""
    name = f" {media.name}" if media.name else ""
    if media.data is not None:
        return f"[{media.media_type}{name}, {_format_size(len(media.data) * 3 // 4)}, not shown]"
    if media.url is not None and not media.url.startswith("data:"):
        return f"[{media.media_type}{name} at {media.url}, not shown]"
    return f"[{media.media_type}{name}, not shown]"


def unshown_note(part: Media | Opaque) -> str:
    """Return the text that stands for media, or for a block of another format."""
    if isinstance(part, Media):
        return media_note(part)
    called = string_or(part.payload.get("type"), "block")
    return f"[{part.format} {called}, {_format_size(len(msgspec.json.encode(part.payload)))}, not shown]"


def blocks_of(
    parts: Sequence[Part], show: Callable[[Media], Json | None], say: Callable[[str], object] = text_block
) -> list[object]:
    """Write each of `parts` as a block: by `say` its text, by `show` its media (or a note), or the opaque block."""
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
    """Write content as a string if there is only text, which every server accepts, else as a list."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return texts[0] if len(texts) == 1 else "\n\n".join(text for text in texts if text)
    return blocks_of(parts, show, say)


def joined_text(drafts: Sequence[Draft]) -> str:
    """Return the text of a system prompt that is sent apart from the messages."""
    return "\n\n".join(part.text for draft in drafts for part in draft.parts if isinstance(part, Text))


def _format_size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{round(count / 1000)} kB"
    return f"{count / 1_000_000:.1f} MB"


_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


def origin_of(parts: Sequence[Part]) -> Origin:
    """Return `injected` for a user message of harness reminders or our own pins, scratchpad or brief; else `spoken`."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "injected" if len(texts) == len(parts) > 0 and all(map(_is_injected, texts)) else "spoken"


def _is_injected(text: str) -> bool:
    return _is_reminder(text) or text.startswith(PINS_TAG) or is_recalled(text.removeprefix(f"{SYSTEM} "))


def _is_reminder(text: str) -> bool:
    # No pattern: a lazy match would include the user's words between two reminders.
    rest = text.strip()
    found = bool(rest)
    while rest and found:
        before, closed, rest = rest.partition(_CLOSE)
        found, rest = before.startswith(_OPEN) and bool(closed), rest.lstrip()
    return found


# The role of a summary: first-person text in a user message reads as the user's words, but an assistant message must
# not be the last one.

NOTES = "(My own notes on earlier work; not a request.)"


def flatten_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Make each summary a plain user text for the other repairs; `cast_summaries` sets its role at the end."""
    out: list[Draft] = []
    for draft in drafts:
        if draft.origin == "summary":
            if draft.calls or draft.results:
                # A message with calls or results is not a summary, whatever it is marked as.
                draft = replace(draft, origin="spoken")
            elif draft.native is None:
                # Without the line that marks it as notes, so that a blank one is dropped.
                draft = replace(draft, role="user", parts=(Text(text=_summary_text(draft)),), joined=False)
        out.append(draft)
    return out


def cast_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Set the role of each summary: assistant where a user message follows, else user, marked as notes."""
    out: list[Draft] = []
    for index, draft in enumerate(drafts):
        follows = _user_follows(drafts, index)
        if draft.origin == "summary" and (draft.native is None or not (follows or draft.role == "user")):
            text, role = _summary_text(draft), "assistant"
            if not follows:
                text, role = f"{NOTES}\n{text}", "user"
            draft = replace(draft, role=role, parts=(Text(text=text),), native=None)
        out.append(draft)
    return out


def recognise_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Recognise our own summaries in a list that was compacted before.

    Only where `cast_summaries` would give them the role that they have, so that the list round-trips.
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


def _summary_text(draft: Draft) -> str:
    return draft.text.removeprefix(f"{NOTES}\n")


def _user_follows(drafts: Sequence[Draft], index: int) -> bool:
    following = drafts[index + 1] if index + 1 < len(drafts) else None
    return following is not None and following.role == "user" and following.origin != "summary"


# The formats by name.

DEFAULT_FORMAT: Final = OPENAI
"""The format of plain messages if nothing else decides: it has the fewest rules."""


@cache
def _load_format(home: str) -> ChatFormat:
    module, _, of = home.partition(".")
    return cast("ChatFormat", getattr(import_module(f"ireneo.formats.chat.{module}"), of)())


class _ChatFormats(Mapping[str, ChatFormat]):
    """The formats by name, each loaded when it is first asked for."""

    def __getitem__(self, name: str) -> ChatFormat:
        return _load_format(TRAITS[name].home)

    def __iter__(self) -> Iterator[str]:
        return iter(TRAITS)

    def __len__(self) -> int:
        return len(TRAITS)

    def __contains__(self, name: object) -> bool:
        return name in TRAITS


CHAT_FORMATS: Final[Mapping[str, ChatFormat]] = _ChatFormats()
"""Every chat format by its name."""


def chat_format(name: str) -> ChatFormat:
    """Return the chat format called `name`. Raises UnknownFormat."""
    if name not in CHAT_FORMATS:
        raise UnknownFormat(f"There is no chat format {name!r}; the formats are {', '.join(sorted(CHAT_FORMATS))}.")
    return CHAT_FORMATS[name]


_OF_LOGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("specstory", "pi", "claude-code"), ANTHROPIC),
    **dict.fromkeys(("aider", "atif", "swe-agent", "openhands", "mini-swe-agent", "chat"), OPENAI),
    **dict.fromkeys(("sillytavern", "character-card", "character-ai", "chatgpt", "discord", "oobabooga"), OPENAI),
    "gemini-cli": GEMINI,
    "codex": RESPONSES,
}
"""The chat formats of the models in each log format."""


def chat_format_of(source: str | None) -> str | None:
    """Return the chat format of a session with that `source` (the name of a format, perhaps with a file)."""
    name = (source or "").partition(":")[0]
    return _OF_LOGS.get(name, name if name in CHAT_FORMATS else None)
