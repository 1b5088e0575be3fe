"""Append messages to a branch of a session: decode what a caller hands in, redact it, and store what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import field
from msgspec.structs import replace

from ireneo.engine.annotations import carry
from ireneo.engine.resources import DraftVariants, Resources, chain_with_stored_ids
from ireneo.engine.returned import NewDrafts, ReturnedContext, what_is_new
from ireneo.engine.scope import FIRST_MESSAGES, record_project
from ireneo.engine.tree import head_named, passes_through
from ireneo.errors import UnreadableLog
from ireneo.formats.chat.format import DEFAULT_FORMAT, chat_format, chat_format_of
from ireneo.formats.chat.reading import OBJECTS, read_given
from ireneo.log.message import (
    BLOCK_TAGS,
    PAD_TAG,
    PINS_TAG,
    Call,
    Draft,
    Head,
    Message,
    MessageId,
    Part,
    Result,
    Text,
    count_parts,
    head_of,
    opens_turn,
)
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

Given: TypeAlias = Draft | Mapping[str, object] | str | object
"""A message as callers pass it: a provider's dictionary, a client's answer, a framework's object, a draft, or text."""
_OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG, " · open with m_")
"""Marks of everything that Ireneo writes into a context."""
_ROLES = ("system", "user", "human", "assistant", "ai")


class Appended(ShortRepr, frozen=True, kw_only=True):
    """The result of an append."""

    ids: tuple[MessageId, ...]
    """The ids of the messages, in order, whether new or stored before; returned blocks have none."""
    new: int
    """How many messages were not stored before."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many different secrets of each kind were removed."""
    dropped: tuple[str, ...] = ()
    """The first lines of blocks that were not stored because they cover nothing on the path."""


def append(
    tx: Transaction,
    resources: Resources,
    key: SessionKey,
    branch: str,
    given: Given | Sequence[Given],
    *,
    format: str | None = None,
    source: str | None = None,
    after: str | None = None,
    at: datetime | None = None,
    shown: tuple[MessageId, int] | None = None,
    as_said: bool = False,
    project: str = "",
) -> tuple[Appended, str | None]:
    """Append what a caller handed in, as `Session.append` promises, and move the branch to the last message.

    The branch is only moved forward. `at` is the time of messages that state none (by default now), `shown` the head of
    the last context that was shown whole, and how many messages it had; `project` is the session's, where known.
    Returns the session's source as well (see `decode_given`).
    """
    if source is None and (info := tx.sessions.get(key)):
        # Another process may have stored it meanwhile.
        source = info.source
    drafts, source = decode_given(given, format, source)
    if shown is not None and len(drafts) * 2 < shown[1]:
        # A framework may join several messages, but drops none.
        shown = None
    cleaning = resources.cleaning()
    choices = [cleaning.variants(draft) for draft in drafts]
    returned: list[ReturnedContext] = []
    if not as_said and (after is not None or shown is not None or _may_hold_context(choices)):
        chat = chat_format(format or chat_format_of(source) or DEFAULT_FORMAT)
        # A returned context is as it was stored: redacted, or in an older store not.
        returned = [ReturnedContext(each, chat) for each in ([variants.drafts[0] for variants in choices], drafts)]
    is_new = tx.sessions.create(key, source)
    head = tx.log.head(key, branch)
    place = head if after is None else head_named(tx, key, branch, after)

    def make_messages(place: Head | None, listed: Sequence[DraftVariants]) -> list[Message]:
        found = chain_with_stored_ids(
            tx, key, place, listed, cleaning, lambda parts: count_parts(parts, resources.count)
        )
        return _with_times(found, at or resources.clock.now())

    settled = NewDrafts(drafts=())
    messages: list[Message] = []
    if not (returned and returned[0].is_shown):
        messages = make_messages(place, choices)
    if returned and (returned[0].is_shown or after is None or not _passes_head(messages, head)):
        settled = what_is_new(
            returned, tx, key, branch, head=head, place=place, placed=after is not None, shown=shown and shown[0]
        )
        if settled.drafts is not returned[0].drafts or returned[0].is_shown:
            fresh = [cleaning.variants(draft) for draft in settled.drafts]
            messages = make_messages(head if settled.from_head else place, fresh)
    ids = (*settled.ids, *(message.id for message in messages))
    if not messages:
        return Appended(ids=ids, new=0, dropped=settled.dropped), source
    new = tx.log.insert(key, messages)
    last = messages[-1]
    if (
        # Messages after the head need no look at the path.
        head is None
        or messages[0].parent == head.id
        or (last.position > head.position and passes_through(tx, key, head_of(last), head))
        or not passes_through(tx, key, head, head_of(last))
    ):
        tx.log.move(key, branch, last.id)
        if as_said and head is not None:
            carry(tx, key, head, head_of(last))
    if is_new or head is None or project or any(each.record for each in drafts[:FIRST_MESSAGES]):
        record_project(tx, key, project, drafts)
    return Appended(ids=ids, new=new, dropped=settled.dropped, redacted=cleaning.found), source


def _with_times(messages: Sequence[Message], now: datetime) -> list[Message]:
    """Give each message a time: its own, that of the message before, or `now` for turns after the last known time."""
    last = max((number for number, each in enumerate(messages) if each.draft.at), default=-1)
    known = next((each.draft.at for each in messages if each.draft.at), now)
    found = []
    for number, each in enumerate(messages):
        known = each.draft.at or (now if number > last and opens_turn(each.draft) else known)
        found.append(replace(each, draft=replace(each.draft, at=known)) if each.draft.at is None else each)
    return found


def _passes_head(messages: Sequence[Message], head: Head | None) -> bool:
    if head is None or not messages:
        return False
    at = head.position - messages[0].position
    return 0 <= at < len(messages) and messages[at].id == head.id


def _may_hold_context(drafts: Sequence[DraftVariants]) -> bool:
    """Whether the list may contain a part of a context: a tag or a mark of ours."""
    return any(
        tag in words
        for each in drafts
        for part in each.drafts[0].parts
        for words in _searched_texts(part)
        for tag in _OURS
    )


def _searched_texts(part: Part) -> Iterable[str]:
    match part:
        case Text(text=text) | Result(text=text):
            return (text,)
        case Call(arguments=given):
            return [given] if isinstance(given, str) else [each for each in given.values() if isinstance(each, str)]
    return ()


def decode_given(
    given: Given | Sequence[Given], format: str | None, source: str | None = None
) -> tuple[list[Draft], str | None]:
    """Decode messages for a session that came from `source`; returns them and the session's source.

    The source is the session's format, once a message shows it; None while everything is plain.
    """
    several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and not _is_shorthand(given)
    listed = list(given) if isinstance(given, Sequence) and several else [given]
    if listed and all(map(_is_empty, listed)):
        raise UnreadableLog("message 0: it has no content; give what was said, or leave it out.")
    read = read_given(listed, format=format, known=chat_format_of(source))
    if read.unclear:
        raise UnreadableLog(f"{read.unclear}.")
    # A session that begins with what was read has the given format, or the one that its messages show.
    found = format or next(iter(read.marks), None)
    return read.drafts, source or (f"{found}:{OBJECTS}" if found and found == read.objects else found)


def _is_empty(message: object) -> bool:
    """Whether a user's message is empty. An agent's may be: some models end their turn with one."""
    if isinstance(message, Mapping):
        if message.get("role") != "user" or "parts" in message:
            return False
        message = message.get("content") or ""
    return isinstance(message, str) and not message.strip()


def _is_shorthand(given: Sequence[object]) -> bool:
    """Whether `given` is LangChain's tuple of a role and words."""
    return isinstance(given, tuple) and len(given) == 2 and given[0] in _ROLES and isinstance(given[1], str)
