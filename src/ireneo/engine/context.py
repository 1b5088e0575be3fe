"""The context of a session: what is known of its path, cut to a budget in one transaction, and kept in another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.allot import Statements
from ireneo.context.assemble import Mark, WorkComposer
from ireneo.context.compose import Composed, ContextOptions
from ireneo.context.story import StoryComposer, StoryTeller
from ireneo.context.view import ContextItem, bound_from, pad_place, pad_shown, positions, with_pad
from ireneo.engine.encode import Context, check_budget, fitted, make_context
from ireneo.engine.texts import NotedTexts, best_texts
from ireneo.errors import MessageNotFound, ReadOnlyStore
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.message import MESSAGE_TOKENS, Count, Draft, Message, MessageId, Recount
from ireneo.log.tree import Head, SessionKey
from ireneo.memories.scratchpad import PAD_TOKENS, pad_block
from ireneo.ports.store import Rebuild, Store, Transaction
from ireneo.prompts.replies import Voice
from ireneo.summaries.policy import Policy
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import RecentValues, Summary, SummaryId
from ireneo.summaries.work import CHUNK, Reached, WorkPath


def keep(tx: Transaction, key: SessionKey, summaries: Sequence[Summary], erased: int | None) -> int:
    """Store `summaries`, but for those of a path that was pruned since it was read; returns how many were new.

    None of them is stored where an erasure came since: they may tell what was to be forgotten, and are made again.
    `erased` is how many messages of the session had been erased when they were read; None: nobody knows.
    """
    if was_erased(tx, key, erased):
        return 0
    try:
        return tx.summaries.put(key, summaries)
    except MessageNotFound:
        standing = [each for each in summaries if not is_pruned(tx, key, each)]
        if len(standing) == len(summaries):
            raise
        return tx.summaries.put(key, standing)


def is_pruned(tx: Transaction, key: SessionKey, summary: Summary) -> bool:
    """Whether what a summary covers is gone, or its end at the least: only whole ends of a path are taken out."""
    return not tx.log.find(key, [summary.last])


def was_erased(tx: Transaction, key: SessionKey, erased: int | None) -> bool:
    """Whether more messages of a session are erased than the `erased` that were when something was made of them."""
    return erased is not None and tx.erasure.count(key) != erased


class StoredReader:
    """Reads the path to a head, and what is stored of it, within one transaction."""

    def __init__(
        self, tx: Transaction, key: SessionKey, head: Head, options: ContextOptions, voice: Voice = "first"
    ) -> None:
        """Stand on `head`; the texts that models wrote are those in `voice`, in view of the disputes of `options`."""
        self.head = head
        self._tx = tx
        self._key = key
        self._options = options
        self._voice = voice
        self._noted: dict[tuple[str, ...] | None, NotedTexts] = {}
        self._used: Sequence[str] = ()

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._tx.log.path(self._key, self.head.id, first, last) if first <= last else ()

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries up to position `last`."""
        end = self.head.id if last == self.head.position else self.path(last, last)[0].id
        return self._tx.summaries.frontier(self._key, end, self._options.policy.summarizer)

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored."""
        return self._tx.summaries.get(self._key, ids) if ids else ()

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """For each of `summaries` the best text of its stretch."""
        if self._options.policy.story is not None:
            return best_texts(self._tx, self._key, summaries, self._options, self._voice, known)
        heeded = None if known is None else tuple(known)
        if heeded not in self._noted:
            self._noted[heeded] = NotedTexts(self._tx, self._key, self.head, self._options, self._voice, heeded)
        noted = self._noted[heeded]
        texts = noted.of(summaries, made)
        self._used = noted.used
        return texts

    @property
    def taken_up(self) -> Sequence[str]:
        """The ids of what a model wrote of which the texts were made that were asked for last."""
        return self._used

    @property
    def rolled_up(self) -> Sequence[Summary]:
        """The texts that were rolled up and are to be stored."""
        return [text for noted in self._noted.values() for text in noted.rolled.values()]

    def natives(self, ids: Sequence[MessageId]) -> Mapping[str, Draft]:
        """The drafts of these messages with their providers' payloads."""
        return dict(self._tx.log.drafts(self._key, ids).items()) if ids else {}


def reader_of(tx: Transaction, key: SessionKey, head: Head, policy: Policy) -> StoredReader:
    """Reads the path to a head as `policy` cuts it, for what needs no text of a model."""
    return StoredReader(tx, key, head, ContextOptions(budget=0, policy=policy, count=len))


# The blocks of an agent's work, written ahead of the contexts that show them: some messages at a time, no model.

BEHIND = 1_024
"""A context writes the blocks of fewer messages in passing: then there is nothing to be done ahead of it."""


class DueBlocks(Struct, frozen=True, kw_only=True):
    """Blocks of a path that are still to be written."""

    head: Head
    reached: Reached
    erased: int
    """How many messages of the session had been erased when it was read."""


def due_ahead(
    tx: Transaction, key: SessionKey, to: str | Head, policy: Policy, reached: Reached | None = None
) -> DueBlocks | None:
    """What is due up to a branch's head, or any other; None where a context has little to write.

    `reached` is how far it is on that path, where that is known.
    """
    head = tx.log.head(key, to) if isinstance(to, str) else to
    if head is None or head.position < BEHIND:
        return None
    reached = reached or WorkPath(reader_of(tx, key, head, policy), policy).stored(head.position)
    if head.position - reached.position < BEHIND:
        return None
    return DueBlocks(head=head, reached=reached, erased=tx.erasure.count(key))


async def write_ahead(store: Store, key: SessionKey, policy: Policy, due: DueBlocks) -> AsyncIterator[Reached]:
    """Write the blocks that are due, a chunk in each transaction; what is written stays, wherever it is broken off."""
    reached, last = due.reached, due.head.position

    def advance(tx: Transaction, reached: Reached) -> Reached:
        return WorkPath(reader_of(tx, key, due.head, policy), policy).advance(reached, last)

    while last - reached.position >= CHUNK:
        try:
            reached = await store.read(advance, reached)
        except MessageNotFound:
            return  # Its end was taken out meanwhile.
        if reached.made:
            await store.write(keep, key, reached.made, due.erased)
        yield reached


PAD_SHARE = 0.4
"""Of a narrow context, what a scratchpad may take."""
FRAME_TOKENS = 40
"""What its first and last line and its message cost besides, about."""
CHARACTERS_PER_TOKEN = 4


def room_for(pad: ContextItem | None, options: ContextOptions) -> int:
    """What is kept free for a scratchpad; none where there is none.

    Where the last turns are all that is sent it is always as much, so that they don't move when it is rewritten.
    """
    if pad is None:
        return 0
    whole = min(PAD_TOKENS + FRAME_TOKENS, int(options.budget * PAD_SHARE))
    return max(pad.tokens, whole) if options.policy.cuts else pad.tokens


class Padding:
    """What is known of the scratchpads that a session showed.

    It holds for who asks one session for a context before each message of its model: what another process showed is
    not known here, and no thinking from before is shown then.
    """

    def __init__(self, session: str, task: str) -> None:
        """Begin with nothing; `task` is the one whose scratchpad `session` shows."""
        self.session = session
        self.task = task
        self._last: tuple[int, str] | None = None
        """Where the last one stood and how it read; None where there was none."""
        self._bound_from = 0
        """Thinking may be shown of turns that begin at this position or later."""

    def shown(self, tx: Transaction, space: str, budget: int, count: Count) -> ContextItem | None:
        """The scratchpad as a context of this budget shows it; None where there is none, or no room for it."""
        pad = tx.pads.read(space, self.task)
        if pad is None or (pad.project and pad.project != self._project(tx, space)):
            # What an agent elsewhere wrote under this name is not this one's own notes.
            return None

        def billed(text: str) -> int:
            return max(count(text), len(text) // CHARACTERS_PER_TOKEN + 1)

        text = pad_block(pad, int(budget * PAD_SHARE) - MESSAGE_TOKENS, billed)
        return pad_shown(text, billed) if text else None

    def _project(self, tx: Transaction, space: str) -> str:
        info = tx.sessions.get(SessionKey(space, self.session))
        return (info.project if info else None) or ""

    def put(
        self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head, options: ContextOptions
    ) -> list[ContextItem]:
        """`shown` with the scratchpad in its place, and without the thinking that was said to another one."""
        if options.thinking == "prefix":
            self._note(shown, pad, head)
            shown = bound_from(shown, self._bound_from, options.count)
        return with_pad(shown, pad)

    def _note(self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head) -> None:
        place = pad_place(shown)
        at = positions(shown)[place] if place < len(shown) else head.position + 1
        stands = (at, pad.text) if pad else None
        if stands == self._last:
            return
        self._last = stands
        # Where nothing was said behind the newest words yet, all that follows is said to what is shown now.
        answered = any(each.draft.role == "assistant" for each in shown[place:])
        self._bound_from = head.position + 1 if answered else at


CACHED = 16
"""Rebuilt contexts that are kept at hand; each is as large as its budget."""
KEPT_TOGETHER = 256
"""Summaries that are stored in one transaction."""
CATCH_UP = 8
"""So many leaves of a story a context writes at the most, without a model; what is further behind is left to `work`,
and shown as what it is."""


class ContextCache:
    """What a session keeps at hand between two contexts; they are made one at a time, in whichever thread."""

    def __init__(self, session: str, task: str, count: Count) -> None:
        """Begin with nothing; `task` is the one whose scratchpad `session` shows."""
        self.lock = Lock()
        self.composed: RecentValues[Composed] = RecentValues(CACHED)
        """The contexts that were composed last: a prefix stays the same until a rebuild."""
        self.statements = Statements(count)
        self.recount = Recount(count)
        """Counts payloads, of which most was counted for the context before."""
        self.teller = StoryTeller(count)
        self.pads = Padding(session, task)
        self._erased = 0

    def renew(self, erased: int) -> None:
        """Let go of what was said where more messages are erased than when it was kept: it may show them."""
        if erased != self._erased:
            self.composed.clear()
            self.statements.clear()
            self.recount.clear()
            self.teller.clear()
            self._erased = erased


class _Cut(Struct, frozen=True, kw_only=True):
    """A context that was made from one snapshot, and what is to be stored of it."""

    context: Context
    made: Sequence[Summary] = ()
    passing: Sequence[Summary] = ()
    """Of a story: what was made for this context alone."""
    mark: Mark | None = None
    """That of a rebuild, where it is a new one."""
    erased: int = 0
    """How many messages of the session had been erased when it was read."""


async def context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> Context:
    """Cut the path to the branch's head to a budget; never calls a model, and shows the best there is now.

    What had to be summarised on the way, and the mark of a rebuild, are stored, so that the next context goes on
    from there. The notes along the path are read here; those of `options` are not heeded.
    """
    check_budget(options.budget)
    cut = await store.read(_cut, key, branch, chat, options, voice, cache)
    try:
        await _keep(store, key, options, cut)
    except ReadOnlyStore as error:
        # It serves as it is; the next one is made anew.
        return replace(cut.context, unkept=str(error))
    if cut.passing:
        cache.teller.know(cut.passing)
    return cut.context


def _cut(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> _Cut:
    head = tx.log.head(key, branch)
    if head is None:
        return _Cut(context=make_context(options.budget, 0, chat, chat.encode(()), (), options.count))
    with cache.lock:
        erased = tx.erasure.count(key)
        cache.renew(erased)
        options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
        options = replace(options, thinking=options.ruled(chat.thinking))
        cut = _cut_story if options.policy.story else _cut_work
        return replace(cut(tx, key, head, chat, options, voice, cache), erased=erased)


def _cut_work(
    tx: Transaction,
    key: SessionKey,
    head: Head,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> _Cut:
    own = options.policy.strategy
    # What the session keeps of lines is as our own strategy writes them.
    options = replace(options, kept=Statements(options.count, own) if own else cache.statements)
    cache.recount.turn()
    reader = StoredReader(tx, key, head, options, voice)
    path = WorkPath(reader, options.policy)
    mark = last_mark(tx, key, head, options)
    composer = WorkComposer(path, mark, options, cache.composed)
    pad = cache.pads.shown(tx, key.space, options.budget, options.count)
    made, assembled = fitted(
        composer,
        head.total_tokens,
        chat,
        options,
        partial(_handed, reader),
        room=room_for(pad, options),
        put=partial(cache.pads.put, pad=pad, head=head, options=options),
        count=cache.recount,
    )
    new = assembled.mark if assembled.mark != mark else None
    return _Cut(context=made, made=[*path.made, *reader.rolled_up], mark=new)


def _cut_story(
    tx: Transaction,
    key: SessionKey,
    head: Head,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> _Cut:
    options = replace(options, count=cache.teller.count)
    reader = StoredReader(tx, key, head, options, voice)
    pad = cache.pads.shown(tx, key.space, options.budget, options.count)
    room = room_for(pad, options)
    path = StoryPath(reader, options.policy, cache.teller.recalled)
    composer = StoryComposer(path, options, cache.teller, room=room, most=CATCH_UP)
    made, _ = fitted(
        composer,
        head.total_tokens,
        chat,
        options,
        partial(_handed, reader),
        room=room,
        put=partial(cache.pads.put, pad=pad, head=head, options=options),
    )
    return _Cut(context=replace(made, behind=composer.behind), made=composer.made, passing=composer.passing)


def _handed(reader: StoredReader, shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
    """The drafts with their native payloads, of the messages that are shown just as they were handed in."""
    return reader.natives([MessageId(each.id) for each in shown if each.whole])


def last_mark(tx: Transaction, key: SessionKey, head: Head, options: ContextOptions) -> Mark | None:
    """The mark of the last rebuild on the path to `head`."""
    last = tx.rebuilds.last(key, head.id, options.policy.summarizer, options.budget)
    if last is None:
        return None
    return Mark(at=last.at, at_position=last.at_position, target_tokens=last.target_tokens, taken_up=last.taken_up)


async def keep_made(store: Store, key: SessionKey, made: Sequence[Summary], erased: int) -> None:
    """Store summaries that were written on the way, from a session of which so many messages were erased.

    Some at a time, so that no other writer waits for long: each stands after those that it was written from.
    """
    for place in range(0, len(made), KEPT_TOGETHER):
        await store.write(keep, key, made[place : place + KEPT_TOGETHER], erased)


async def _keep(store: Store, key: SessionKey, options: ContextOptions, cut: _Cut) -> None:
    if not cut.made and cut.mark is None:
        return
    whole = len(cut.made) - len(cut.made) % KEPT_TOGETHER
    await keep_made(store, key, cut.made[:whole], cut.erased)
    await store.write(_keep_last, key, options, cut, cut.made[whole:])


def _keep_last(tx: Transaction, key: SessionKey, options: ContextOptions, cut: _Cut, made: Sequence[Summary]) -> None:
    if was_erased(tx, key, cut.erased):
        return
    if made:
        keep(tx, key, made, cut.erased)
    mark = cut.mark
    # Its head may have been pruned since it was read: then there is nothing to come back to.
    if mark is not None and tx.log.find(key, [mark.at]):
        rebuild = Rebuild(
            summarizer=options.policy.summarizer,
            budget_tokens=options.budget,
            at=mark.at,
            at_position=mark.at_position,
            target_tokens=mark.target_tokens,
            taken_up=mark.taken_up,
        )
        tx.rebuilds.put(key, rebuild)
