"""The context of a story: read what there is, put it together, and keep what had to be written on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.options import ContextOptions, Thinking
from ireneo.context.rebuild import whole as explain_whole
from ireneo.context.story import Story, billed, compose_story, tell_blocks
from ireneo.context.view import ContextItem
from ireneo.engine.compact import Aim, check_budget
from ireneo.engine.context import Padding, room_for
from ireneo.engine.encode import Context, encode, make_context, measure
from ireneo.engine.known import best_texts, keep
from ireneo.engine.story import (
    Grown,
    ListedReading,
    RecentValues,
    StoredReading,
    StoryPath,
    StoryRecords,
    open_threads,
    standing_threads,
)
from ireneo.errors import ReadOnlyStore
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.tree import SessionKey, chain
from ireneo.log.weigh import Count, weigh
from ireneo.ports.store import Store, Transaction
from ireneo.prompts.voices import Voice
from ireneo.summaries.policy import Policy
from ireneo.summaries.story import TOLD_TOKENS, make_leaf
from ireneo.summaries.summary import Summary, SummaryId, Thread

TOLD = 64
"""Blocks of whole rows: they stay the same from one leaf to the next."""
COUNTED, COUNTED_CHARACTERS = 4_096, 2_000
"""Texts whose tokens are known, and how long one may be: the newest messages are weighed in every context."""
OPEN = 16
"""Leaves over messages that no stored leaf has taken in yet: they stay the same for some messages."""


class TellingCache:
    """The blocks and leaves that were written last (`ireneo.context.story.StoryTeller`)."""

    def __init__(self, terms: ContextOptions) -> None:
        """Start empty, for contexts whose tokens are counted as in `terms`."""
        self._uncached = terms.count
        self._known = lru_cache(maxsize=COUNTED)(terms.count)
        self._billed = billed(self.count)
        self._erased = 0
        self._empty()

    def _empty(self) -> None:
        self.recalled = StoryRecords()
        self._told: RecentValues[Sequence[str]] = RecentValues(TOLD)
        self._leaves: RecentValues[Summary] = RecentValues(OPEN)
        self._threads: RecentValues[tuple[tuple[Thread, ...], int]] = RecentValues(OPEN)
        self._stored: set[SummaryId] = set()

    def renew(self, erased: int) -> None:
        """Let go of everything where more messages are erased than when it was kept: it may tell of them."""
        if erased != self._erased:
            self._empty()
            self._erased = erased

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
        return self._known(text) if len(text) <= COUNTED_CHARACTERS else self._uncached(text)

    def tell(self, nodes: Sequence[Summary], room: int, doubts: Mapping[SummaryId, str]) -> Sequence[str]:
        """Write the blocks of `nodes` in `room` tokens."""
        name = (*(node.id for node in nodes), room, *sorted(doubts.items()))
        return self._told.get(name, lambda: tell_blocks(nodes, room, self._billed, doubts=doubts))

    def leaf(self, messages: Sequence[Message], before: Sequence[Thread], policy: Policy) -> Summary:
        """Write the leaf over `messages`, before which the threads `before` are open."""
        name = (messages[0].id, messages[-1].id, policy.family, *(thread.id for thread in before))
        return self._leaves.get(name, lambda: make_leaf(messages, before, policy))

    def threads(self, nodes: Sequence[Summary], cap: int) -> tuple[tuple[Thread, ...], int]:
        """What is open at the end of `nodes`, and how many gave way."""
        name = (cap, *(node.id for node in nodes))
        return self._threads.get(name, lambda: open_threads(nodes, cap))

    def unknown(self, passing: Sequence[Summary]) -> list[Summary]:
        """Of the summaries that were made for one context those that were not stored from here yet."""
        return [each for each in passing if each.id not in self._stored]

    def know(self, passing: Sequence[Summary]) -> None:
        """Note that these were stored."""
        self._stored = {each.id for each in passing}


CATCH_UP = 8
"""So many leaves a context writes at the most, without a model; what is further behind is left to `work`, and shown
as what it is."""
BLOCKS_SHARE = 0.75
"""Of what is not for the newest messages; the rest is for pins and for what was said before the story."""


class _Showing(Struct, frozen=True, kw_only=True):
    """What a story's context takes besides its messages and summaries."""

    whole: Callable[[Sequence[ContextItem]], Mapping[str, Draft]]
    """The drafts with their native payloads, of what is shown as it was handed in."""
    put: Callable[[Sequence[ContextItem]], Sequence[ContextItem]]
    """Puts the scratchpad in its place, where there is one."""
    room: int
    """What is kept free for it."""


async def story_context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    terms: ContextOptions,
    voice: Voice,
    cache: TellingCache,
    pads: Padding,
) -> Context:
    """Show the story up to the branch's head within a budget; never calls a model, and shows the best there is now."""
    check_budget(terms.budget)

    def look(tx: Transaction) -> tuple[Context, Grown | None, tuple[Summary, ...], int]:
        head = tx.log.head(key, branch)
        if head is None:
            return make_context(terms.budget, 0, chat, chat.encode(()), (), terms.count), None, (), 0
        notes = tuple(tx.annotations.on_path(key, head.id))
        erased = tx.erasure.count(key)
        cache.renew(erased)
        ruled = replace(terms, notes=notes, thinking=terms.ruled(chat.thinking), count=cache.count)
        path = StoryPath(StoredReading(tx, key, head, ruled.policy), ruled.policy, cache.recalled)
        pad = pads.shown(tx, key.space, ruled.budget, ruled.count)
        room = room_for(pad, ruled)
        fits = head.total_tokens <= ruled.budget - room
        grown = path.whole() if fits else path.grow(CATCH_UP, _blocks(ruled))
        story = _story(grown, best_texts(tx, key, grown.nodes, ruled, voice, None), ruled, cache)
        put = partial(pads.put, pad=pad, head=head, terms=ruled)
        told = _Showing(whole=partial(_whole, tx, key), put=put, room=room)
        made, passing = _fitted(story, head.total_tokens, chat, ruled, cache, told)
        return made, grown, passing, erased

    made, grown, passing, erased = await store.read(look)
    if grown is None:
        return made
    new = [*grown.made, *cache.unknown(passing)]
    unkept = ""
    if new:
        try:
            await store.write(keep, key, new, erased)
            cache.know(passing)
        except ReadOnlyStore as error:
            # It serves as it is; the next one is made anew.
            unkept = str(error)
    return replace(made, behind=grown.behind, unkept=unkept)


def compact_story(
    drafts: Sequence[Draft],
    budget: int,
    chat: ChatFormat,
    policy: Policy,
    count: Count,
    asked: Thinking | None = None,
) -> Context:
    """Show the story that `drafts` tell within a budget, without any store."""
    check_budget(budget)
    messages = chain(None, drafts, lambda parts: weigh(parts, count))
    if not messages:
        return make_context(budget, 0, chat, chat.encode(()), (), count)
    terms = ContextOptions(budget=budget, policy=policy, count=count, asked=asked)
    terms = replace(terms, thinking=terms.ruled(chat.thinking))
    path = StoryPath(ListedReading(messages), terms.policy)
    fits = messages[-1].total_tokens <= terms.budget
    grown = path.whole() if fits else path.grow(len(messages), _blocks(terms))
    cache = TellingCache(terms)
    story = _story(grown, grown.nodes, terms, cache)
    natives = {message.id: message.draft for message in messages}

    def whole(shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
        return {each.id: natives[MessageId(each.id)] for each in shown if each.whole}

    showing = _Showing(whole=whole, put=list, room=0)
    made, _ = _fitted(story, messages[-1].total_tokens, chat, terms, cache, showing)
    return made


def _blocks(terms: ContextOptions) -> int:
    """How many blocks have room to be told in full."""
    return int(terms.budget * (1 - terms.policy.live_share) * BLOCKS_SHARE) // TOLD_TOKENS


def _story(grown: Grown, texts: Sequence[Summary], terms: ContextOptions, cache: TellingCache) -> Story:
    threads, forgotten = standing_threads(texts, terms, cache.threads)
    return Story(
        system=grown.system,
        nodes=tuple(texts),
        waiting=grown.waiting,
        fresh=grown.fresh,
        threads=threads,
        forgotten=forgotten,
    )


def _fitted(
    story: Story,
    before: int,
    chat: ChatFormat,
    terms: ContextOptions,
    cache: TellingCache,
    showing: _Showing,
) -> tuple[Context, tuple[Summary, ...]]:
    """Put a story together so that it fits its budget as its format writes it; with what was made for it alone."""
    aim = Aim(terms.budget - showing.room)
    while True:
        composed, passing = compose_story(story, replace(terms, budget=aim.target), cache)
        shown = composed.shown if aim.least else showing.put(composed.shown)
        whole = showing.whole(shown)
        payload = encode(shown, whole, chat, terms.thinking)
        measured = measure(payload, chat, terms.count)
        if measured.heeded <= terms.budget or aim.least:
            break
        aim.narrow(composed.tokens, measured.heeded - terms.budget)
    made = make_context(terms.budget, before, chat, payload, shown, terms.count, whole=whole, measured=measured)
    return replace(made, explained=explain_whole(composed.tokens, terms.budget)), passing


def _whole(tx: Transaction, key: SessionKey, shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
    """The drafts with their native payloads, of the messages that are shown just as they were handed in."""
    ids = [MessageId(each.id) for each in shown if each.whole]
    found = tx.log.natives(key, ids) if ids else {}
    return dict(found.items())
