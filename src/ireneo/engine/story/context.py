"""The context of a story: read what there is, put it together, and keep what had to be written on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.plan_rebuild import whole as explain_whole
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms, Thinking
from ireneo.context.view import Shown
from ireneo.context.weigh import Count, weigh
from ireneo.engine.compact import Aim, check_budget
from ireneo.engine.encode import Context, encode, make_context, measure
from ireneo.engine.keep import keep
from ireneo.engine.padding import Padding, room_for
from ireneo.engine.story.listed import ListedReading, at_once
from ireneo.engine.story.notes import standing_threads
from ireneo.engine.story.path import Grown, StoryPath
from ireneo.engine.story.reading import StoredReading
from ireneo.engine.story.telling import TellingCache
from ireneo.engine.texts import best_texts
from ireneo.errors import ReadOnlyStore
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.branch import SessionKey, chain
from ireneo.log.message import Draft, Message, MessageId
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice
from ireneo.pyramid.compose import Story, compose_story
from ireneo.pyramid.retelling import TOLD_TOKENS

CATCH_UP = 8
"""So many leaves a context writes at the most, without a model; what is further behind is left to `work`, and shown
as what it is."""
BLOCKS_SHARE = 0.75
"""Of what is not for the newest messages; the rest is for pins and for what was said before the story."""


class _Showing(Struct, frozen=True, kw_only=True):
    """What a story's context takes besides its messages and summaries."""

    whole: Callable[[Sequence[Shown]], Awaitable[Mapping[str, Draft]]]
    """The drafts with their native payloads, of what is shown as it was handed in."""
    put: Callable[[Sequence[Shown]], Sequence[Shown]]
    """Puts the scratchpad in its place, where there is one."""
    room: int
    """What is kept free for it."""


async def story_context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    terms: Terms,
    voice: Voice,
    cache: TellingCache,
    pads: Padding,
) -> Context:
    """Show the story up to the branch's head within a budget; never calls a model, and shows the best there is now."""
    check_budget(terms.budget)
    async with store.read() as tx:
        head = await tx.log.head(key, branch)
        if head is None:
            return make_context(terms.budget, 0, chat, chat.encode(()), (), terms.count)
        notes = tuple(await tx.annotations.on_path(key, head.id))
        erased = await tx.erasure.count(key)
        cache.renew(erased)
        terms = replace(terms, notes=notes, thinking=terms.ruled(chat.thinking), count=cache.count)
        path = StoryPath(StoredReading(tx, key, head, terms.policy), terms.policy, cache.recalled)
        pad = await pads.shown(tx, key.space, terms.budget, terms.count)
        room = room_for(pad, terms)
        fits = head.total_tokens <= terms.budget - room
        grown = await (path.whole() if fits else path.grow(CATCH_UP, _blocks(terms)))
        story = _story(grown, await best_texts(tx, key, grown.nodes, terms, voice, None), terms, cache)
        put = partial(pads.put, pad=pad, head=head, terms=terms)
        told = _Showing(whole=partial(_whole, tx, key), put=put, room=room)
        made, passing = await _fitted(story, head.total_tokens, chat, terms, cache, told)
    new = [*grown.made, *cache.unknown(passing)]
    unkept = ""
    if new:
        try:
            async with store.write() as tx:
                await keep(tx, key, new, erased)
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
    terms = Terms(budget=budget, policy=policy, count=count, asked=asked)
    return at_once(_compacted(messages, chat, replace(terms, thinking=terms.ruled(chat.thinking))))


async def _compacted(messages: Sequence[Message], chat: ChatFormat, terms: Terms) -> Context:
    path = StoryPath(ListedReading(messages), terms.policy)
    fits = messages[-1].total_tokens <= terms.budget
    grown = await (path.whole() if fits else path.grow(len(messages), _blocks(terms)))
    cache = TellingCache(terms)
    story = _story(grown, grown.nodes, terms, cache)
    drafts = {message.id: message.draft for message in messages}

    async def whole(shown: Sequence[Shown]) -> Mapping[str, Draft]:
        return {each.id: drafts[MessageId(each.id)] for each in shown if each.whole}

    showing = _Showing(whole=whole, put=list, room=0)
    made, _ = await _fitted(story, messages[-1].total_tokens, chat, terms, cache, showing)
    return made


def _blocks(terms: Terms) -> int:
    """How many blocks have room to be told in full."""
    return int(terms.budget * (1 - terms.policy.live_share) * BLOCKS_SHARE) // TOLD_TOKENS


def _story(grown: Grown, texts: Sequence[Summary], terms: Terms, cache: TellingCache) -> Story:
    threads, forgotten = standing_threads(texts, terms, cache.threads)
    return Story(
        system=grown.system,
        nodes=tuple(texts),
        waiting=grown.waiting,
        fresh=grown.fresh,
        threads=threads,
        forgotten=forgotten,
    )


async def _fitted(
    story: Story,
    before: int,
    chat: ChatFormat,
    terms: Terms,
    cache: TellingCache,
    showing: _Showing,
) -> tuple[Context, tuple[Summary, ...]]:
    """Put a story together so that it fits its budget as its format writes it; with what was made for it alone."""
    aim = Aim(terms.budget - showing.room)
    while True:
        composed, passing = compose_story(story, replace(terms, budget=aim.target), cache)
        shown = composed.shown if aim.least else showing.put(composed.shown)
        whole = await showing.whole(shown)
        payload = encode(shown, whole, chat, terms.thinking)
        measured = measure(payload, chat, terms.count)
        if measured.heeded <= terms.budget or aim.least:
            break
        aim.narrow(composed.tokens, measured.heeded - terms.budget)
    made = make_context(terms.budget, before, chat, payload, shown, terms.count, whole=whole, measured=measured)
    return replace(made, explained=explain_whole(composed.tokens, terms.budget)), passing


async def _whole(tx: Transaction, key: SessionKey, shown: Sequence[Shown]) -> Mapping[str, Draft]:
    """The drafts with their native payloads, of the messages that are shown just as they were handed in."""
    ids = [MessageId(each.id) for each in shown if each.whole]
    found = await tx.log.natives(key, ids) if ids else {}
    return dict(found.items())
