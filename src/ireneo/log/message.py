"""What happened: messages and their parts, what they weigh, and what in them only echoes what was recalled."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NewType, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import of_language
from ireneo.language.topics import Words
from ireneo.patterns import lazy_re

# What happened: immutable messages, the parts that they are made of, and ids that are made from their content.
#
# A message's id is the hash of its parent's id, its role and its parts, so that it names the whole path to it.
#
# A log holds them by the hundred thousand, and none leads back to itself: the garbage collector is spared them
# (`gc=False`).


MessageId = NewType("MessageId", str)
"""The name of a message and of the whole path that leads to it: ``m_`` and 26 characters."""

Role = Literal["system", "user", "assistant", "tool"]
Origin = Literal["spoken", "injected", "summary"]
"""Who put a message there: its role itself; the harness round the agent (a reminder, a caveat), which
opens no turn; or another tool's compaction, which is never evidence for anything."""


BLOCK_TAGS = ("[SUMMARIZED]", "[GOAL BATCH]", "[STORY]", "[LEFT OUT]")
"""What a block of ours begins with: it tells a reader that this is reconstructed, and us that a list was cut before."""
PINS_TAG = "[PINNED]"
"""What the constraints that stand begin with, where they are shown together."""
PAD_TAG = "[SCRATCHPAD]"
BRIEF_TAG = "[BRIEF]"
"""What a scratchpad and a brief begin with, where they are shown; `ireneo.log.message` finds them again."""


class Text(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="text"):
    """Plain text, said by the message's role, or by the `author` who speaks in it."""

    text: str
    author: str | None = None
    """Who says it, where there are more voices than roles: a character of a story, a member of a group."""
    present: tuple[str, ...] | None = None
    """Who was there to hear it, besides the author; None: everyone."""


class Thinking(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="thinking"):
    """A model's reasoning; `signature` or `sealed` (encrypted) must go back to its provider unchanged or not at all."""

    text: str = ""
    signature: str | None = None
    sealed: str | None = None
    format: str | None = None
    """The chat format whose provider signed or sealed it: to any other it is only text."""

    @property
    def is_bound(self) -> bool:
        """Whether a provider will check it when it comes back."""
        return bool(self.signature) or self.sealed is not None


class Call(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="call"):
    """A tool call; `arguments` is a string only where the model wrote something that is no JSON object."""

    id: str
    name: str
    arguments: dict[str, object] | str
    server: bool = False
    """The provider ran it: its result stands in the same message."""


class Media(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="media"):
    """An image, a sound, a file: `data` in base64 or a `url`."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class Opaque(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="opaque"):
    """A block that only its own format understands; carried unchanged to that format, and as a marker to others."""

    format: str
    payload: dict[str, object]


class Result(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="result"):
    """What came back from a call; `failed` is None where neither a flag nor the text tells."""

    call_id: str
    parts: tuple[Text | Media | Opaque, ...]
    failed: bool | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """The text of the result, its media left out."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Part: TypeAlias = Text | Thinking | Call | Result | Media | Opaque


class Native(Struct, frozen=True, kw_only=True, gc=False):
    """A message exactly as its provider or its log wrote it; equal as JSON when it comes back."""

    format: str
    payload: object


class Draft(Struct, frozen=True, kw_only=True, gc=False):
    """A message that is not in the log yet: what a caller or a format hands in."""

    role: Role
    parts: tuple[Part, ...]
    origin: Origin = "spoken"
    at: datetime | None = None
    source_id: str | None = None
    """The id that the log it came from gave it."""
    joined: bool = False
    """It stood in one provider message with the draft before it (tool results and a user's words, say)."""
    native: Native | None = None
    """The provider's payload, where the parts alone would not give it back."""
    record: Native | None = None
    """What the log it came from wrote about it besides; kept, and never read on the way to a context."""

    @property
    def text(self) -> str:
        """The message's own words: its text parts, without who says them, calls, results and thinking."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def author(self) -> str | None:
        """Who speaks in it, where that is not only its role: the author of its first text that has one."""
        return next((part.author for part in self.parts if isinstance(part, Text) and part.author), None)

    @property
    def present(self) -> tuple[str, ...] | None:
        """Who was there to hear it, besides the author: those of its first text that says so; None: everyone."""
        told = (part.present for part in self.parts if isinstance(part, Text) and part.present is not None)
        return next(told, None)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls that it makes, in order."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def results(self) -> tuple[Result, ...]:
        """The tool results that it brings, in order."""
        return tuple(part for part in self.parts if isinstance(part, Result))


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """A message in the log: immutable, named by its content and by all that came before it."""

    id: MessageId
    parent: MessageId | None
    position: int
    """Its place on its path, from 0."""
    turn: int
    """The number of its turn on its path, from 1; what stands before the first user message is in turn 0."""
    tokens: int
    """What its parts cost a model to read, thinking left out."""
    thinking_tokens: int
    total_tokens: int
    """What the path up to and including it costs, thinking left out."""
    draft: Draft
    erased: bool = False
    """What it said was forgotten for good; only its place is left, and its id is no longer the hash of its parts."""

    @property
    def role(self) -> Role:
        """Who speaks."""
        return self.draft.role

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the message is made of."""
        return self.draft.parts

    @property
    def text(self) -> str:
        """The message's own words."""
        return self.draft.text

    @property
    def opens_turn(self) -> bool:
        """Whether a turn begins here."""
        return opens_turn(self.draft)


def opens_turn(draft: Draft) -> bool:
    """Whether a turn begins with `draft`: a user speaks, and not the harness in the user's place."""
    return draft.role == "user" and draft.origin == "spoken"


def is_own_block(draft: Draft) -> bool:
    """Whether `draft` is a block of ours, in a list that was cut to a budget before."""
    if draft.origin == "injected":
        return draft.text.startswith(PINS_TAG)
    return draft.origin == "summary" and any(tag in draft.text[:80] for tag in BLOCK_TAGS)


SAME = " = "
"""Between the names of one who goes by several: ``Vera = the Countess``."""
_NAMES_KEPT = 4_096
_NAME_WORD = lazy_re(r"\w+")


def names_of(character: str) -> tuple[str, ...]:
    """The names of a character who is called so, her own first."""
    return tuple(filter(None, (name.strip() for name in character.split(SAME))))


def own_name(character: str) -> str:
    """What a character calls herself; empty for nobody."""
    return next(iter(names_of(character)), "")


def is_called(character: str, name: str) -> bool:
    """Whether a message that says `name` means a character: of one who goes by several, small words don't matter."""
    return name == character or (SAME in character and name_key(name) in _keys(character))


@lru_cache(_NAMES_KEPT)
def name_key(name: str) -> str:
    """A name as it is compared with others: without regard to case, marks and an article before it."""
    words = _NAME_WORD.findall(name.casefold())
    return " ".join(words[1:] if len(words) > 1 and words[0] in of_language(Words, "en").articles else words)


@lru_cache(_NAMES_KEPT)
def _keys(character: str) -> frozenset[str]:
    return frozenset(map(name_key, names_of(character)))


def was_there(character: str, present: Sequence[str], author: str | None) -> bool:
    """Whether a character said something, or is among those who heard it."""
    return any(is_called(character, name) for name in present) or bool(author and is_called(character, author))


def heard_by(draft: Draft, character: str) -> bool:
    """Whether `character` heard all that is said in `draft`: everyone does, unless it says who was present."""
    told, speaks = draft.present, draft.author
    if told is None:
        return True
    # What is not said of one text holds for the whole message.
    return all(
        was_there(character, told if part.present is None else part.present, part.author or speaks)
        for part in draft.parts
        if isinstance(part, Text)
    )


def voices_in(parts: Sequence[Part]) -> Iterator[str]:
    """Who speaks in `parts` by name, and who is said to have been there."""
    for part in parts:
        if isinstance(part, Text):
            yield from (part.author,) if part.author else ()
            yield from part.present or ()


def as_read(text: Text) -> str:
    """A text as a reader sees it: its words, behind the name of their author where they have one."""
    return f"{text.author}: {text.text}" if text.author else text.text


def texts(parts: Sequence[Part]) -> Iterator[str]:
    """Every text that a model reads in `parts`, as it is read: results included, thinking left out."""
    for part in parts:
        if isinstance(part, Text):
            yield as_read(part)
        elif isinstance(part, Result):
            yield part.text


def told_plainly(draft: Draft) -> Draft:
    """`draft` with its authors in the words, for those who know of roles only; without any author it is the same.

    A provider's payload, which knows nothing of the authors, no longer stands for it then.
    """
    if draft.author is None and draft.present is None:
        return draft
    parts = tuple(Text(text=as_read(part)) if isinstance(part, Text) else part for part in draft.parts)
    return replace(draft, parts=parts, native=None)


_ENCODER = msgspec.json.Encoder(order="sorted")

SHORT = 9
"""Characters of an id that are shown to a reader: the prefix and 7 more (35 bits: 25,000 blocks clash once in 100)."""


def digest(prefix: str, *pieces: bytes) -> str:
    """`prefix`, an underscore and 26 characters of base32 (128 bits of SHA-256) over `pieces`, each length-prefixed."""
    hasher = hashlib.sha256()
    for piece in pieces:
        # The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update(len(piece).to_bytes(8, "big"))
        hasher.update(piece)
    return f"{prefix}_{base64.b32encode(hasher.digest()[:16]).decode().rstrip('=').lower()}"


def message_id(parent: MessageId | None, role: Role, parts: Sequence[Part]) -> MessageId:
    """Name the message that follows `parent`; the same content after the same past has the same name.

    Whether a result failed is not part of its content: where a log has no flag it is derived, and the rules for that
    get better, while a name is for good.
    """
    content = [replace(part, failed=None) if isinstance(part, Result) else part for part in parts]
    return MessageId(digest("m", (parent or "").encode(), role.encode(), _ENCODER.encode(content)))


CountParts = Callable[[Sequence[Part]], tuple[int, int]]
"""Counts the tokens of a message's parts: (without its thinking, of its thinking)."""


class Head(Struct, frozen=True, kw_only=True, gc=False):
    """A place in the log: a message, and what must be known of it to append after it."""

    id: MessageId
    position: int
    turn: int
    total_tokens: int
    """What the path up to here costs, thinking left out."""


def chain(head: Head | None, drafts: Sequence[Draft], count: CountParts) -> list[Message]:
    """Make messages of `drafts`, one after the other behind `head` (None: the root of the tree)."""
    out: list[Message] = []
    parent = head.id if head else None
    position = head.position if head else -1
    turn = head.turn if head else 0
    total = head.total_tokens if head else 0
    for draft in drafts:
        position += 1
        turn += opens_turn(draft)
        tokens, thinking = count(draft.parts)
        total += tokens
        parent_id, parent = parent, message_id(parent, draft.role, draft.parts)
        out.append(
            Message(
                id=parent,
                parent=parent_id,
                position=position,
                turn=turn,
                tokens=tokens,
                thinking_tokens=thinking,
                total_tokens=total,
                draft=draft,
            )
        )
    return out


def head_of(message: Message) -> Head:
    """The head that stands on `message`."""
    return Head(id=message.id, position=message.position, turn=message.turn, total_tokens=message.total_tokens)


def short(name: str) -> str:
    """The part of an id that is shown to a reader, and that opens it again."""
    return name[:SHORT]


# What memory itself put into a text: a brief or a scratchpad, told apart from what somebody says.
#
# Such a block stands between two tags, in whatever role and format it comes back. It is evidence for nothing: what was
# recalled once would else be learned again, each time with more weight.


BRIEF_HEADING = f"{BRIEF_TAG} Recalled from memory for this turn; nobody says it here."
PAD_HEADING = f"{PAD_TAG} My working notes on the task; not a request."
"""The first lines of the blocks; one that was cut short is known by them."""
CLOSING = {BRIEF_TAG: "[/BRIEF]", PAD_TAG: "[/SCRATCHPAD]"}
"""What each block ends with."""
EXPORT_BEGINS, EXPORT_ENDS = "<!-- ireneo: lessons begin", "<!-- ireneo: lessons end -->"
"""Between these stand lessons in a file that agents read; who reads them there recalls them."""
_EXPORTED = lazy_re(rf"{EXPORT_BEGINS}.*?(?:{EXPORT_ENDS}|\Z)", re.S)
_HEADINGS = {BRIEF_TAG: BRIEF_HEADING, PAD_TAG: PAD_HEADING}
_TAGS = (*BLOCK_TAGS, PINS_TAG, *CLOSING, *CLOSING.values())


def without_recalled(text: str) -> str:
    """`text` without the briefs and scratchpads in it; the same text where there are none."""
    for tag, closing in CLOSING.items():
        if tag in text:
            text = _without(text, tag, closing)
    return _EXPORTED.sub("", text) if EXPORT_BEGINS in text else text


def is_recalled(text: str) -> bool:
    """Whether `text` is nothing but briefs and scratchpads."""
    return bool(text.strip()) and not without_recalled(text).strip()


def said_in(draft: Draft) -> Draft:
    """`draft` as far as it is evidence: without the briefs and scratchpads in its texts and results.

    The same draft where there are none. What is left of it is for reading: as a message it would be another one.
    """
    parts = tuple(_said(part) for part in draft.parts)
    if all(new is old for new, old in zip(parts, draft.parts, strict=True)):
        return draft
    kept = tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())
    return replace(draft, parts=kept, native=None)


def as_said(messages: Iterable[Message]) -> list[Message]:
    """`messages` as far as they are evidence: `said_in` for the draft of each, under the ids that they have."""
    return [
        message if (said := said_in(message.draft)) is message.draft else replace(message, draft=said)
        for message in messages
    ]


def fenced(tag: str, lines: Sequence[str]) -> str:
    """`lines` as the block of ours that `tag` names; none of them can end it, or begin another."""
    return "\n".join([_HEADINGS[tag], *(harmless(line) for line in lines), CLOSING[tag]])


def harmless(text: str) -> str:
    """`text` with round brackets in the place of the square ones round a tag of ours."""
    for tag in _TAGS:
        if tag in text:
            text = text.replace(tag, f"({tag[1:-1]})")
    return text


def _said(part: Part) -> Part:
    if isinstance(part, Text):
        return _words(part)
    if isinstance(part, Result):
        inner = tuple(_words(each) if isinstance(each, Text) else each for each in part.parts)
        if any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            return replace(part, parts=inner)
    return part


def _words(part: Text) -> Text:
    said = without_recalled(part.text)
    return part if said == part.text else replace(part, text=said)


def _without(text: str, tag: str, closing: str) -> str:
    out: list[str] = []
    place = 0
    closes = True
    while (begin := text.find(tag, place)) >= 0:
        end = text.find(closing, begin) if closes else -1
        closes = end >= 0
        if closes:
            end += len(closing)
        elif text.startswith(_HEADINGS[tag], begin):
            end = _end_of_lines(text, begin)
        else:
            # A word in brackets that somebody wrote: without its end it is no block of ours.
            end = begin + len(tag)
            out.append(text[place:end])
            place = end
            continue
        out.append(text[place:begin])
        place = end
    return "".join([*out, text[place:]])


def _end_of_lines(text: str, begin: int) -> int:
    """Where a block ends whose end was cut off: with the first line that reads like none of its lines."""
    place = begin
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        if place > begin and text[place:end].strip() and not text.startswith(_LINES, place):
            break
        place = end
    return place


_LINES = ("## ", "- ", "Goal: ", "Plan:", "Facts:", "Open questions:", "(")
"""How the lines of a block begin."""


Count = Callable[[str], int]
"""Counts the tokens of a text."""


class Recount:
    """Counts texts that are said again and again; it remembers those of this turn and of the one before."""

    def __init__(self, count: Count) -> None:
        """Begin with nothing."""
        self._count = count
        self._before: dict[str, int] = {}
        self._now: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Count the tokens of `text`."""
        known = self._now.get(text)
        if known is None:
            known = self._before.get(text)
            self._now[text] = known = self._count(text) if known is None else known
        return known

    def turn(self) -> None:
        """Begin the next turn."""
        self._before, self._now = self._now, {}

    def clear(self) -> None:
        """Let go of everything."""
        self._before, self._now = {}, {}


MESSAGE_TOKENS = 4
"""A message's role and its frame in the provider's template."""
CALL_TOKENS = 8
"""A call's or a result's id and frame."""
IMAGE_TOKENS = 1_500
"""A full-size image; providers scale larger ones down to about this."""
BYTES_PER_TOKEN = 4
"""Of a document or a sound whose length in tokens only its provider knows."""


def weigh(parts: Sequence[Part], count: Count) -> tuple[int, int]:
    """Count the tokens of a message's parts: (all but its thinking, its thinking)."""
    tokens, thinking = MESSAGE_TOKENS, 0
    for part in parts:
        if isinstance(part, Thinking):
            thinking += count(part.text) if part.text else len(part.sealed or "") // BYTES_PER_TOKEN
        else:
            tokens += _of_part(part, count)
    return tokens, thinking


def _of_part(part: Part, count: Count) -> int:
    if isinstance(part, Text):
        return count(as_read(part))
    if isinstance(part, Call):
        return CALL_TOKENS + count(part.name) + count(arguments_text(part))
    if isinstance(part, Result):
        return CALL_TOKENS + sum(_of_part(inner, count) for inner in part.parts)
    if isinstance(part, Media):
        size = len(part.data or part.url or "")
        return IMAGE_TOKENS if part.media_type.startswith("image/") else size // BYTES_PER_TOKEN
    if isinstance(part, Opaque):
        return count(json.dumps(part.payload, ensure_ascii=False))
    return 0


def arguments_text(call: Call) -> str:
    """A call's arguments as the model reads them."""
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def strings(value: object) -> Iterator[str]:
    """Every string among a call's arguments, however deep: what the agent wrote, without the names its tool gave."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)
