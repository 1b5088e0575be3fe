"""Append messages to a session's branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.context.weigh import Count, weigh
from ireneo.engine.cleaning import Choices, Cleaning, chain_named
from ireneo.engine.naming import messages_named
from ireneo.engine.projects import LOOKED_AT, place_session
from ireneo.engine.returned import Aligned, Covered, Path, Returned
from ireneo.errors import BadInput, MessageNotFound
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.branch import ROOT, Head, SessionKey, head_of
from ireneo.log.message import Call, Draft, Message, MessageId, opens_turn
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction


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


async def append(
    store: Store,
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

    What bears no time of its own is said `now`. Only what may be a history of another day, new messages of more than
    one turn, gets none.
    """
    choices = [cleaning.choices(draft) for draft in drafts]
    # What came back is as it was stored: without its secrets, or, from an older store, with them.
    listed = [[each.drafts[0] for each in choices], drafts]
    returned = [Returned(each, chat) for each in listed] if chat else []
    async with store.write() as tx:
        is_new = await tx.sessions.create(key, source)
        head = await tx.log.head(key, branch)
        place = head if after is None else await _place(tx, key, after)

        async def named(place: Head | None, listed: Sequence[Choices]) -> list[Message]:
            found = await chain_named(tx, key, place, listed, cleaning, lambda parts: weigh(parts, count))
            return found if now is None else _dated(found, place, head, now)

        settled = Settled(drafts=())
        messages: list[Message] = []
        if chat is None or not returned[0].is_shown:
            messages = await named(place, choices)
        if chat is not None and (returned[0].is_shown or after is None or not _goes_through(messages, head)):
            settled = await _Offered(key, branch, head, place, after is not None, shown).settle(tx, returned)
            if settled.drafts is not returned[0].drafts or returned[0].is_shown:
                fresh = [cleaning.choices(draft) for draft in settled.drafts]
                messages = await named(head if settled.from_head else place, fresh)
        ids = (*settled.ids, *(message.id for message in messages))
        if not messages:
            return Appended(ids=ids, new=0, dropped=settled.dropped)
        new = await tx.log.insert(key, messages)
        last = messages[-1]
        if await _goes_on(tx, key, head, last) or not await _lies_behind(tx, key, head, last):
            await tx.log.move(key, branch, last.id)
        if is_new or project or any(each.record for each in drafts[:LOOKED_AT]):
            await place_session(tx, key, project, drafts)
    return Appended(ids=ids, new=new, dropped=settled.dropped, redacted=cleaning.found)


def _dated(messages: Sequence[Message], place: Head | None, head: Head | None, now: datetime) -> list[Message]:
    """`messages`, which stand after `place`, with `now` for the time of those that go on from `head`."""
    first = place.position + 1 if place else 0
    stored = max(0, head.position + 1 - first) if head else 0
    if sum(opens_turn(each.draft) for each in messages[stored:]) > 1:
        return list(messages)
    return [
        replace(each, draft=replace(each.draft, at=now)) if number >= stored and each.draft.at is None else each
        for number, each in enumerate(messages)
    ]


def _goes_through(messages: Sequence[Message], head: Head | None) -> bool:
    """Whether `head` is one of `messages`, so that all of them are understood as they are."""
    if head is None or not messages:
        return False
    at = head.position - messages[0].position
    return 0 <= at < len(messages) and messages[at].id == head.id


class Settled(Struct, frozen=True, kw_only=True):
    """What of a list is stored."""

    drafts: tuple[Draft, ...]
    ids: tuple[MessageId, ...] = ()
    """The messages of the path that stand in the list themselves, before these."""
    dropped: tuple[str, ...] = ()
    from_head: bool = False
    """They go on from the branch's head, wherever they were offered."""


class _Offered:
    """Where a list is offered."""

    def __init__(
        self,
        key: SessionKey,
        branch: str,
        head: Head | None,
        place: Head | None,
        placed: bool,
        shown: MessageId | None,
    ) -> None:
        self.key = key
        self.branch = branch
        self.head = head
        self.place = place
        self.placed = placed
        """A place was named, so that it tells the whole path from there on."""
        self.shown = shown

    async def settle(self, tx: Transaction, returned: Sequence[Returned]) -> Settled:
        """Find what is new in a list, which may be read in several ways; all of it, where nothing is of a context."""
        first = returned[0]
        if self.head is None:
            return Settled(drafts=first.apart())
        path = Path(tx, self.key, self.head)
        covers = await path.known(first)
        known = len(covers) + await path.marked(first)
        begins = await self._begins(tx, first, covers, known)
        aligned: Aligned | None = None
        for each in returned if len(returned) > 1 and returned[1].drafts != first.drafts else returned[:1]:
            # What reads like a block may be the words of somebody who shows one: then the path is there without it.
            for begin, found in [(begin, found) for begin in begins for found in ([covers, []] if covers else [[]])]:
                tried = await path.align(each, found, begin)
                # An older context that comes back, with nothing behind it, tells nothing new either.
                if tried.place and not tried.reached and each.ends(tried.place) and (self.placed or known):
                    return Settled(drafts=(), ids=tried.ids, from_head=True)
                if tried.reached and (self.placed or known or self._was_shown(tried, each)):
                    drafts, dropped = each.fresh(tried.place)
                    return Settled(drafts=drafts, ids=tried.ids, dropped=dropped, from_head=True)
                if aligned is None or tried.place > aligned.place:
                    aligned = tried
        if self.placed and (known or first.is_shown):
            raise self._refused(first, aligned)
        if not self.placed and known and (known > 1 or (aligned is not None and aligned.ids)):
            raise self._refused(first, aligned)
        drafts, dropped = first.fresh(0) if first.blocks else (first.drafts, ())
        return Settled(drafts=drafts, dropped=dropped)

    async def _begins(self, tx: Transaction, returned: Returned, covers: Sequence[Covered], known: int) -> list[int]:
        """The positions at which a list may begin to tell the path."""
        if self.placed:
            if self.place is None:
                return [0]
            return [self.place.position + 1] if await _lies_behind_head(tx, self.key, self.head, self.place) else []
        if known:
            opens = [covers[0].first] if covers and returned.opens_with_block else []
            return [0, *opens]
        # Without an id of ours in it only what was shown before can be told from what is said again.
        return [0] if self.shown is not None else []

    def _was_shown(self, aligned: Aligned, returned: Returned) -> bool:
        """Whether a list without an id of ours is the context that was given out, and not the same said again."""
        goes_on = aligned.place < len(returned.units)
        calls = any(isinstance(unit.part, Call) for unit in returned.units)
        return self.shown in aligned.ids and (goes_on or calls)

    def _refused(self, returned: Returned, aligned: Aligned | None) -> BadInput:
        words = returned.words_at(aligned.place if aligned else 0)
        where = f"from “{words}” on" if words else "at its end"
        return BadInput(
            f"This list holds parts of a context, but {where} it is not what branch {self.branch!r} of session "
            f"{self.key.session} says; hand in the last context as it was with the new messages behind it, or the new "
            "messages alone, and rewind first where the session is to go on from an earlier place."
        )


async def _place(tx: Transaction, key: SessionKey, after: str) -> Head | None:
    """The head that `after` names: a message by id, or the place before the first one."""
    if after == ROOT:
        return None
    found = messages_named(after, await tx.log.find(key, [after])) if after else []
    if not found:
        raise MessageNotFound(f"There is no message {after} in session {key.session}.")
    return head_of(found[0])


async def _goes_on(tx: Transaction, key: SessionKey, head: Head | None, last: Message) -> bool:
    """Whether `last` comes after `head` on one path."""
    if head is None:
        return True
    if last.position <= head.position:
        return False
    at = await tx.log.path(key, last.id, head.position, head.position)
    return bool(at) and at[0].id == head.id


async def _lies_behind(tx: Transaction, key: SessionKey, head: Head | None, last: Message) -> bool:
    """Whether the path to `head` goes through `last`, so that nothing was said that is not there already."""
    return await _lies_behind_head(tx, key, head, head_of(last))


async def _lies_behind_head(tx: Transaction, key: SessionKey, head: Head | None, place: Head) -> bool:
    """Whether the path to `head` goes through `place`."""
    if head is None or place.position > head.position:
        return False
    at = await tx.log.path(key, head.id, place.position, place.position)
    return bool(at) and at[0].id == place.id
