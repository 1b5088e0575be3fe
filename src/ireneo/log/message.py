"""Messages: parts, ids, authors, token counts, search text, recalled memory in them, and erasure.

A message's id is the hash of its parent's id, its role and its parts, so that it names the whole path to it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NewType, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, of_language, topic
from ireneo.language.topics import Speech, Words
from ireneo.language.words import document_terms
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

# Logs hold hundreds of thousands of these structs, none of which refers back to itself, so the garbage collector need
# not track them (`gc=False`).

MessageId = NewType("MessageId", str)
"""``m_`` and 26 characters; names a message and the whole path that leads to it."""

Role = Literal["system", "user", "assistant", "tool"]
Origin = Literal["spoken", "injected", "summary"]
"""The origin of a message. ``spoken``: the speaker that its role names, such as the user. ``injected``: the harness,
which is the program around the agent; such a message opens no turn. ``summary``: a tool that compacted the
conversation; such a message is not evidence."""


BLOCK_TAGS = ("[SUMMARIZED]", "[GOAL BATCH]", "[STORY]", "[LEFT OUT]")
"""The tags with which our blocks begin: they tell a model that the text is reconstructed, and us that a list was cut
before."""
PINS_TAG = "[PINNED]"
"""The tag with which a list of active pins begins."""
PAD_TAG = "[SCRATCHPAD]"
BRIEF_TAG = "[BRIEF]"
"""The tags with which scratchpads and briefs begin."""


class Text(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="text"):
    """Plain text by the message's role, or by `author`."""

    text: str
    author: str | None = None
    """The speaker of the text, if there are more speakers than roles: a character of a story, a member of a group."""
    present: tuple[str, ...] | None = None
    """The listeners of the text, besides the author; None: everyone."""


class Thinking(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="thinking"):
    """A model's reasoning; signed or sealed (encrypted) thinking goes back to its provider unchanged or not at all."""

    text: str = ""
    signature: str | None = None
    sealed: str | None = None
    format: str | None = None
    """The chat format whose provider signed or sealed the thinking, which is plain text to other providers."""

    @property
    def is_bound(self) -> bool:
        """Whether a provider will verify the thinking."""
        return bool(self.signature) or self.sealed is not None


class Call(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="call"):
    """A tool call; `arguments` is a string only where the model wrote no JSON object."""

    id: str
    name: str
    arguments: dict[str, object] | str
    server: bool = False
    """Whether the provider ran the call: then its result is in the same message."""


class Media(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="media"):
    """An image, sound or file: `data` in base64, or a `url`."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class Opaque(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="opaque"):
    """A block that only its own format understands: unchanged in that format, a marker in others."""

    format: str
    payload: dict[str, object]


class Result(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="result"):
    """The result of a call; `failed` is None if neither a flag nor the text shows it."""

    call_id: str
    parts: tuple[Text | Media | Opaque, ...]
    failed: bool | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """The text of the result, without media."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Part: TypeAlias = Text | Thinking | Call | Result | Media | Opaque


class Native(Struct, frozen=True, kw_only=True, gc=False):
    """A message exactly as its provider or log wrote it, equal as JSON when it comes back."""

    format: str
    payload: object


class Draft(Struct, frozen=True, kw_only=True, gc=False):
    """A message that is not in the log yet."""

    role: Role
    parts: tuple[Part, ...]
    origin: Origin = "spoken"
    at: datetime | None = None
    source_id: str | None = None
    """The message's id in the log that it was imported from."""
    joined: bool = False
    """Whether the provider had this draft and the one before in one message (tool results and a user's words, say)."""
    native: Native | None = None
    """The provider's payload, where the parts alone would not reproduce it."""
    record: Native | None = None
    """Further data about the message from the log; contexts never read this."""

    @property
    def text(self) -> str:
        """The message's own words: its text parts, without authors, calls, results and thinking."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def author(self) -> str | None:
        """The author of the message: the author of the first text that has one."""
        return next((part.author for part in self.parts if isinstance(part, Text) and part.author), None)

    @property
    def present(self) -> tuple[str, ...] | None:
        """The listeners of the message, by the first text that names them; None: everyone."""
        listeners = (part.present for part in self.parts if isinstance(part, Text) and part.present is not None)
        return next(listeners, None)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls of the message, in order."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def results(self) -> tuple[Result, ...]:
        """The tool results in the message, in order."""
        return tuple(part for part in self.parts if isinstance(part, Result))


class Message(ShortRepr, frozen=True, kw_only=True, gc=False):
    """A message in the log: immutable, named by its content and all that came before it."""

    id: MessageId
    parent: MessageId | None
    position: int
    """The place of the message on its path, from 0."""
    turn: int
    """The number of the turn that the message is in, from 1; 0 before the first user message."""
    tokens: int
    """The cost of the message's parts, without thinking."""
    thinking_tokens: int
    total_tokens: int
    """The cost of the path up to and including this message, without thinking."""
    draft: Draft
    erased: bool = False
    """Whether the content was erased; then the id is no longer the hash of the parts."""

    @property
    def role(self) -> Role:
        """The role of the speaker."""
        return self.draft.role

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content of the message."""
        return self.draft.parts

    @property
    def text(self) -> str:
        """The message's own words."""
        return self.draft.text

    @property
    def at(self) -> datetime | None:
        """When it was said, if that is known."""
        return self.draft.at

    @property
    def opens_turn(self) -> bool:
        """Whether a turn begins here."""
        return opens_turn(self.draft)


def opens_turn(draft: Draft) -> bool:
    """Whether a turn begins with `draft`: the user speaks, not the harness."""
    return draft.role == "user" and draft.origin == "spoken"


def is_own_block(draft: Draft) -> bool:
    """Whether `draft` is a block of ours, in a list that was cut before."""
    if draft.origin == "injected":
        return draft.text.startswith(PINS_TAG)
    return draft.origin == "summary" and any(tag in draft.text[:80] for tag in BLOCK_TAGS)


SAME = " = "
"""Joins the names of one character, as in ``Vera = the Countess``."""
_NAMES_KEPT = 4_096
_NAME_WORD = lazy_re(r"\w+")


def names_of(character: str) -> tuple[str, ...]:
    """The names of a character, the first one being her own."""
    return tuple(filter(None, (name.strip() for name in character.split(SAME))))


def own_name(character: str) -> str:
    """The first name of a character; empty if there is none."""
    return next(iter(names_of(character)), "")


def is_called(character: str, name: str) -> bool:
    """Whether `name` means a character; articles and case don't matter to one with several names."""
    return name == character or (SAME in character and name_key(name) in _name_keys(character))


@lru_cache(_NAMES_KEPT)
def name_key(name: str) -> str:
    """A name without case, punctuation and a leading article, for comparison."""
    words = _NAME_WORD.findall(name.casefold())
    return " ".join(words[1:] if len(words) > 1 and words[0] in of_language(Words, "en").articles else words)


@lru_cache(_NAMES_KEPT)
def _name_keys(character: str) -> frozenset[str]:
    return frozenset(map(name_key, names_of(character)))


def is_present(character: str, present: Sequence[str], author: str | None) -> bool:
    """Whether a character said something or is among those who heard it."""
    return any(is_called(character, name) for name in present) or bool(author and is_called(character, author))


def heard_by(draft: Draft, character: str) -> bool:
    """Whether `character` heard everything in `draft`; everybody did if it doesn't say who was present."""
    listeners, speaker = draft.present, draft.author
    if listeners is None:
        return True
    # Whoever is named as present for the message heard all texts that don't name their own listeners.
    return all(
        is_present(character, listeners if part.present is None else part.present, part.author or speaker)
        for part in draft.parts
        if isinstance(part, Text)
    )


def people_in(parts: Sequence[Part]) -> Iterator[str]:
    """The authors in `parts`, and who was present."""
    for part in parts:
        if isinstance(part, Text):
            yield from (part.author,) if part.author else ()
            yield from part.present or ()


def rendered_text(text: Text) -> str:
    """A text as a model reads it: after the name of its author, if it has one."""
    return f"{text.author}: {text.text}" if text.author else text.text


def texts(parts: Sequence[Part]) -> Iterator[str]:
    """Every text in `parts` that a model reads, including results, without thinking."""
    for part in parts:
        if isinstance(part, Text):
            yield rendered_text(part)
        elif isinstance(part, Result):
            yield part.text


def with_names_in_text(draft: Draft) -> Draft:
    """Return `draft` with its authors' names in the text, for formats without names; its native payload is dropped."""
    if draft.author is None and draft.present is None:
        return draft
    parts = tuple(Text(text=rendered_text(part)) if isinstance(part, Text) else part for part in draft.parts)
    return replace(draft, parts=parts, native=None)


_ENCODER = msgspec.json.Encoder(order="sorted")

SHORT = 9
"""How many characters of an id are shown: the prefix and 7 more (35 bits: one collision in 100 with 25,000 blocks)."""


def digest(prefix: str, *pieces: bytes) -> str:
    """`prefix`, an underscore, and 26 base32 characters (128 bits of SHA-256) of the length-prefixed `pieces`."""
    hasher = hashlib.sha256()
    for piece in pieces:
        # The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update(len(piece).to_bytes(8, "big"))
        hasher.update(piece)
    return f"{prefix}_{base64.b32encode(hasher.digest()[:16]).decode().rstrip('=').lower()}"


def message_id(parent: MessageId | None, role: Role, parts: Sequence[Part]) -> MessageId:
    """Name the message that follows `parent`.

    Whether a result failed is not part of its content: without a flag it is derived, by rules that improve, while ids
    are permanent.
    """
    content = [replace(part, failed=None) if isinstance(part, Result) else part for part in parts]
    return MessageId(digest("m", (parent or "").encode(), role.encode(), _ENCODER.encode(content)))


CountParts = Callable[[Sequence[Part]], tuple[int, int]]
"""Counts the tokens of parts: (without thinking, of thinking)."""


class Head(Struct, frozen=True, kw_only=True, gc=False):
    """A place in the log, with what is needed to append after it."""

    id: MessageId
    position: int
    turn: int
    total_tokens: int
    """The cost of the path up to here, without thinking."""


def chain(head: Head | None, drafts: Sequence[Draft], count: CountParts) -> list[Message]:
    """Make a chain of messages from `drafts` that follows `head` (None: starts at the root)."""
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
    """The head at `message`."""
    return Head(id=message.id, position=message.position, turn=message.turn, total_tokens=message.total_tokens)


def short(name: str) -> str:
    """The part of an id that is shown, and that opens it."""
    return name[:SHORT]


# Briefs and scratchpads are enclosed in tags, in whatever role and format they come back. They are no evidence:
# otherwise recalled memory would be learned again, each time with more weight.

BRIEF_HEADING = f"{BRIEF_TAG} Recalled from memory for this turn; nobody says it here."
PAD_HEADING = f"{PAD_TAG} My working notes on the task; not a request."
"""The first lines of briefs and scratchpads, by which truncated ones are recognised."""
CLOSING = {BRIEF_TAG: "[/BRIEF]", PAD_TAG: "[/SCRATCHPAD]"}
"""The last line of a brief, and of a scratchpad."""
EXPORT_BEGINS, EXPORT_ENDS = "<!-- ireneo: lessons begin", "<!-- ireneo: lessons end -->"
"""Lessons in a file that agents read are enclosed in these lines; whoever reads them there recalls them."""
_EXPORTED = lazy_re(rf"{EXPORT_BEGINS}.*?(?:{EXPORT_ENDS}|\Z)", re.S)
_HEADINGS = {BRIEF_TAG: BRIEF_HEADING, PAD_TAG: PAD_HEADING}
_TAGS = (*BLOCK_TAGS, PINS_TAG, *CLOSING, *CLOSING.values())


def without_recalled(text: str) -> str:
    """Return `text` without the briefs, scratchpads and exported lessons in it."""
    for tag, closing in CLOSING.items():
        if tag in text:
            text = _remove_blocks(text, tag, closing)
    return _EXPORTED.sub("", text) if EXPORT_BEGINS in text else text


def is_recalled(text: str) -> bool:
    """Whether `text` is nothing but recalled memory."""
    return bool(text.strip()) and not without_recalled(text).strip()


def without_recalled_parts(draft: Draft) -> Draft:
    """`draft` without recalled memory in its texts and results; the same draft if there is none."""
    parts = tuple(_part_without_recalled(part) for part in draft.parts)
    if all(new is old for new, old in zip(parts, draft.parts, strict=True)):
        return draft
    kept = tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())
    return replace(draft, parts=kept, native=None)


def messages_without_recalled(messages: Iterable[Message]) -> list[Message]:
    """`messages` without recalled memory, under their own ids."""
    return [
        message if (said := without_recalled_parts(message.draft)) is message.draft else replace(message, draft=said)
        for message in messages
    ]


def tagged_block(tag: str, lines: Sequence[str]) -> str:
    """Render `lines` as the block named by `tag`; no line can end it or begin another block."""
    return "\n".join([_HEADINGS[tag], *(escape_tags(line) for line in lines), CLOSING[tag]])


def escape_tags(text: str) -> str:
    """Replace the square brackets of our tags in `text` by round ones."""
    for tag in _TAGS:
        if tag in text:
            text = text.replace(tag, f"({tag[1:-1]})")
    return text


def _part_without_recalled(part: Part) -> Part:
    if isinstance(part, Text):
        return _text_without_recalled(part)
    if isinstance(part, Result):
        inner = tuple(_text_without_recalled(each) if isinstance(each, Text) else each for each in part.parts)
        if any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            return replace(part, parts=inner)
    return part


def _text_without_recalled(part: Text) -> Text:
    said = without_recalled(part.text)
    return part if said == part.text else replace(part, text=said)


def _remove_blocks(text: str, tag: str, closing: str) -> str:
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
            # A tag without its closing line is just a word in brackets that somebody wrote.
            end = begin + len(tag)
            out.append(text[place:end])
            place = end
            continue
        out.append(text[place:begin])
        place = end
    return "".join([*out, text[place:]])


def _end_of_lines(text: str, begin: int) -> int:
    """Find where a truncated block ends: before the first line that doesn't look like a line of such a block."""
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


class CachedCount:
    """Counts repeated texts, remembering the counts of this turn and of the turn before."""

    def __init__(self, count: Count) -> None:
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
        """Forget all counts."""
        self._before, self._now = {}, {}


MESSAGE_TOKENS = 4
"""A message's role and frame."""
CALL_TOKENS = 8
"""A call's or result's id and frame."""
IMAGE_TOKENS = 1_500
"""A full-size image, to which providers scale larger ones down."""
BYTES_PER_TOKEN = 4
"""The assumed tokens of documents and sounds, whose count only the provider knows."""


def count_parts(parts: Sequence[Part], count: Count) -> tuple[int, int]:
    """Count the tokens of parts: (without thinking, of thinking)."""
    tokens, thinking = MESSAGE_TOKENS, 0
    for part in parts:
        if isinstance(part, Thinking):
            thinking += count(part.text) if part.text else len(part.sealed or "") // BYTES_PER_TOKEN
        else:
            tokens += _count_part(part, count)
    return tokens, thinking


def _count_part(part: Part, count: Count) -> int:
    if isinstance(part, Text):
        return count(rendered_text(part))
    if isinstance(part, Call):
        return CALL_TOKENS + count(part.name) + count(arguments_text(part))
    if isinstance(part, Result):
        return CALL_TOKENS + sum(_count_part(inner, count) for inner in part.parts)
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


def strings(arguments: object, *, named: bool = False) -> Iterator[str]:
    """Every string among a call's arguments or in another JSON value, however deep; where `named` keys as well."""
    left = [arguments]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += reversed(value.values())
            left += value if named else ()
        elif isinstance(value, list | tuple):
            left += reversed(value)


# The text by which a message is found.

ARGUMENT_CHARS = 2_000
"""How many characters of each argument of a call are indexed: the content of a written file is seldom asked for."""
RESULT_HEAD_CHARS = 2_000
RESULT_TAIL_CHARS = 1_000
"""How many characters are indexed from the beginning and the end of a result, where tools report their work."""

# A speaker's label: a name of one to three words before what is said.
_LABEL = lazy_re(rf"\**({CAPITAL}[\w'’-]{{1,24}}(?: {CAPITAL}[\w'’-]{{0,24}}){{0,2}})\**: \S")


def text_of_message(draft: Draft) -> str:
    """The text by which a message is found: its texts, the strings in its calls, and its results.

    Leaves out thinking, media, and texts that nobody said: a harness's, another tool's compaction, recalled memory.
    """
    return "\n".join(piece for piece in _searchable_texts(draft) if piece)


def terms_of_message(draft: Draft) -> list[str]:
    """The terms by which a message is found, including one for its author; empty if it has no text to search."""
    return document_terms(text_of_message(draft), author_of_message(draft))


def terms_of_stored(message: Message) -> list[str]:
    """The terms by which a stored message is found; empty if it was erased."""
    return [] if message.erased else terms_of_message(message.draft)


def author_of_message(draft: Draft) -> str | None:
    """The name by which a message is found: its author, or the name that its text begins with ("Ana: I was there")."""
    if draft.origin != "spoken":
        return None
    if draft.author:
        return draft.author
    label = _LABEL.match(draft.text)
    return label[1] if label and label[1].casefold() not in topic(Speech).labels else None


def _searchable_texts(draft: Draft) -> Iterator[str]:
    for part in without_recalled_parts(draft).parts:
        if isinstance(part, Text) and draft.origin == "spoken":
            yield part.text
        elif isinstance(part, Call):
            yield from (value[:ARGUMENT_CHARS] for value in strings(part.arguments))
        elif isinstance(part, Result):
            yield _head_and_tail(part.text)


def _head_and_tail(text: str) -> str:
    if len(text) <= RESULT_HEAD_CHARS + RESULT_TAIL_CHARS:
        return text
    return f"{text[:RESULT_HEAD_CHARS]}\n{text[-RESULT_TAIL_CHARS:]}"


# Erasure leaves the shape of a message, so that the path remains valid in every chat format.

ERASED = "[erased]"
"""Replaces erased content."""


def erase(message: Message) -> Message:
    """`message` without its content, its authors, and what its log and provider wrote of it.

    Its id stays, since those of all later messages depend on it, as do role, turn, time and token counts; calls keep id
    and tool name, results their call's id, so that the path remains valid in every chat format.
    """
    draft = message.draft
    bare = Draft(
        role=draft.role, parts=_erased_parts(draft.parts), origin=draft.origin, at=draft.at, joined=draft.joined
    )
    return replace(message, draft=bare, erased=True)


def _erased_parts(parts: Sequence[Part]) -> tuple[Part, ...]:
    kept = tuple(_erased_frames(parts))
    return kept or (Text(text=ERASED),)


def _erased_frames(parts: Sequence[Part]) -> Iterator[Part]:
    """The frames of calls and results, and one text for everything else."""
    has_text = False
    for part in parts:
        if isinstance(part, Call):
            yield Call(id=part.id, name=part.name, arguments={}, server=part.server)
        elif isinstance(part, Result):
            yield Result(call_id=part.call_id, parts=(Text(text=ERASED),), name=part.name)
        elif not has_text:
            has_text = True
            yield Text(text=ERASED)
