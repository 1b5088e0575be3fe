"""Append messages to a session's branch: what a caller hands in, read, cleaned, and stored behind what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.engine.resources import Cleaning, DraftVariants, chain_named
from ireneo.engine.returned import NewDrafts, Offered, ReturnedContext
from ireneo.engine.scope import FIRST_MESSAGES, place_session
from ireneo.engine.tree import messages_named, passes
from ireneo.errors import MessageNotFound, UnreadableLog
from ireneo.formats.chat.format import ChatFormat
from ireneo.formats.chat.registry import DEFAULT_FORMAT, OBJECTS, ReadMessages, chat_format, chat_format_of, read_given
from ireneo.log.message import (
    BLOCK_TAGS,
    PAD_TAG,
    PINS_TAG,
    Call,
    Count,
    Draft,
    Head,
    Message,
    MessageId,
    Part,
    Result,
    Text,
    head_of,
    opens_turn,
    weigh,
)
from ireneo.log.tree import ROOT, SessionKey
from ireneo.ports.store import Transaction

Given: TypeAlias = "Draft | Mapping[str, object] | str | object"
"""A message as a caller has it: a provider's dictionary, what a client returned, a framework's object, a draft, or the
words of the user."""
_OURS = (*BLOCK_TAGS, PINS_TAG, PAD_TAG, " · open with m_")
"""What is in all that memory writes."""
_ROLES = ("system", "user", "human", "assistant", "ai")


class Appended(Struct, frozen=True, kw_only=True):
    """What an append did."""

    ids: tuple[MessageId, ...]
    """The names of the messages, in order, whether they are new or were there; a block that came back has none."""
    new: int
    """How many of them were not stored before."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many different secrets of each kind were taken out; never what they were."""
    dropped: tuple[str, ...] = ()
    """The first lines of blocks that stood for nothing on the path, and were not stored: nobody said them."""


def append(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    drafts: Sequence[Draft],
    count: Count,
    *,
    source: str | None,
    after: str | None = None,
    project: str = "",
    chat: ChatFormat | None = None,
    shown: MessageId | None = None,
    now: datetime | None = None,
    cleaning: Cleaning,
) -> Appended:
    """Append `drafts`, cleaned, after the branch's head or after the message `after`, and move the branch to the last.

    With `after`, offering the same again changes nothing: the same messages after the same past are the same. The
    branch is moved only where that takes it on from where it stands. With `chat`, the format that they are in, a
    context among them is known for what it is, and only what is new behind it is stored; `shown` is the head for which
    the last context was given out. Raises BadInput for a context that doesn't lie on the path. `project` is the one
    that the session works on, where that is told; raises BadInput where it is known to be of another.

    What bears no time of its own was said when what stands beside it was, else `now`.
    """
    choices = [cleaning.choices(draft) for draft in drafts]
    if after is None and shown is None and not _may_be_shown(choices):
        chat = None
    # What came back is as it was stored: without its secrets, or, from an older store, with them.
    listed = [[each.drafts[0] for each in choices], drafts]
    returned = [ReturnedContext(each, chat) for each in listed] if chat else []
    is_new = tx.sessions.create(key, source)
    head = tx.log.head(key, branch)
    place = head if after is None else _place(tx, key, after)

    def named(place: Head | None, listed: Sequence[DraftVariants]) -> list[Message]:
        found = chain_named(tx, key, place, listed, cleaning, lambda parts: weigh(parts, count))
        return found if now is None else _dated(found, now)

    settled = NewDrafts(drafts=())
    messages: list[Message] = []
    if chat is None or not returned[0].is_shown:
        messages = named(place, choices)
    if chat is not None and (returned[0].is_shown or after is None or not _goes_through(messages, head)):
        settled = Offered(key, branch, head, place, after is not None, shown).settle(tx, returned)
        if settled.drafts is not returned[0].drafts or returned[0].is_shown:
            fresh = [cleaning.choices(draft) for draft in settled.drafts]
            messages = named(head if settled.from_head else place, fresh)
    ids = (*settled.ids, *(message.id for message in messages))
    if not messages:
        return Appended(ids=ids, new=0, dropped=settled.dropped)
    new = tx.log.insert(key, messages)
    last = messages[-1]
    if (
        # What follows the head itself needs no look at the path.
        head is None
        or messages[0].parent == head.id
        or (last.position > head.position and passes(tx, key, head_of(last), head))
        or not passes(tx, key, head, head_of(last))
    ):
        tx.log.move(key, branch, last.id)
    if is_new or project or any(each.record for each in drafts[:FIRST_MESSAGES]):
        place_session(tx, key, project, drafts)
    return Appended(ids=ids, new=new, dropped=settled.dropped, redacted=cleaning.found)


class GivenPlace(Struct, frozen=True, kw_only=True):
    """Where a caller hands something in, and what of it may have been given out before."""

    after: str | None
    shown: tuple[MessageId, int] | None
    """The head for which the last context was given out whole, and how many messages that had."""
    as_said: bool
    """The caller has seen no context: what reads like one was said."""


def append_given(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    given: Given | Sequence[Given],
    count: Count,
    *,
    format: str | None,
    source: str | None,
    place: GivenPlace,
    project: str,
    now: datetime,
    cleaning: Cleaning,
) -> tuple[Appended, str | None]:
    """Append what a caller handed in; with what the session is then, as `decode_given` tells."""
    drafts, source = decode_given(given, format, source)
    # A framework may put several messages of a list into one; it leaves none out.
    shown = place.shown if place.shown is not None and len(drafts) * 2 >= place.shown[1] else None
    appended = append(
        tx,
        key,
        branch,
        drafts,
        count,
        source=source,
        after=place.after,
        project=project,
        chat=None if place.as_said else chat_format(format or chat_format_of(source) or DEFAULT_FORMAT),
        shown=shown[0] if shown else None,
        now=now,
        cleaning=cleaning,
    )
    return appended, source


def _dated(messages: Sequence[Message], now: datetime) -> list[Message]:
    """`messages`, each with a time: its own, that of the one before it, or `now` for turns after the last time."""
    last = max((number for number, each in enumerate(messages) if each.draft.at), default=-1)
    known = next((each.draft.at for each in messages if each.draft.at), now)
    found = []
    for number, each in enumerate(messages):
        known = each.draft.at or (now if number > last and opens_turn(each.draft) else known)
        found.append(replace(each, draft=replace(each.draft, at=known)) if each.draft.at is None else each)
    return found


def _goes_through(messages: Sequence[Message], head: Head | None) -> bool:
    """Whether `head` is one of `messages`, so that all of them are understood as they are."""
    if head is None or not messages:
        return False
    at = head.position - messages[0].position
    return 0 <= at < len(messages) and messages[at].id == head.id


def _place(tx: Transaction, key: SessionKey, after: str) -> Head | None:
    """The head that `after` names: a message by id, or the place before the first one."""
    if after == ROOT:
        return None
    found = messages_named(after, tx.log.find(key, [after])) if after else []
    if not found:
        raise MessageNotFound(f"There is no message {after} in session {key.session}.")
    return head_of(found[0])


def _may_be_shown(drafts: Sequence[DraftVariants]) -> bool:
    """Whether something in a list may be memory's own: it bears a tag of ours, or a mark."""
    return any(
        tag in words for each in drafts for part in each.drafts[0].parts for words in _words(part) for tag in _OURS
    )


def _words(part: Part) -> Iterable[str]:
    match part:
        case Text(text=text) | Result(text=text):
            return (text,)
        case Call(arguments=given):
            return [given] if isinstance(given, str) else [each for each in given.values() if isinstance(each, str)]
    return ()


def decode_given(
    given: Given | Sequence[Given], format: str | None, source: str | None = None
) -> tuple[list[Draft], str | None]:
    """Decode what a caller handed in for a session that came from `source`; with what the session is then.

    That is its format, once something tells it; None while all that it holds is plain.
    """
    several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and not _is_shorthand(given)
    listed = list(given) if isinstance(given, Sequence) and several else [given]
    read = read_given(listed, format=format, known=chat_format_of(source))
    if read.unclear:
        raise UnreadableLog(f"{read.unclear}.")
    return read.drafts, source or _source_of(read, format)


def _is_shorthand(given: Sequence[object]) -> bool:
    """Whether it is a role and words in a tuple, as one framework takes a message; two messages are no such thing."""
    return isinstance(given, tuple) and len(given) == 2 and given[0] in _ROLES and isinstance(given[1], str)


def _source_of(read: ReadMessages, format: str | None) -> str | None:
    """What a session is that begins with what was read: the format that was named, or whose marks it bears."""
    told = format or next(iter(read.marks), None)
    return f"{told}:{OBJECTS}" if told and told == read.objects else told
