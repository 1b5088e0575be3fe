"""The context of a story: pins, the past from coarse to fine, and the newest messages as they are.

Everything before the newest messages depends only on the summaries and the budget, so it stays the same until the next
leaf, and a provider's cache remains valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from msgspec.structs import replace

from ireneo.context.assemble import Assembled, Composed, compose_items, newest_slots, with_notes
from ireneo.context.story_blocks import (
    TOLD_CAST,
    TOLD_LIVE,
    TOLD_OPEN,
    TOLD_THREADS,
    block_weight,
    deepest_texts_under,
    group_by_age,
    is_header_only,
    is_model_written,
    mostly_model_written,
    open_texts,
    summary_over,
    tell_blocks,
    text_cost,
)
from ireneo.context.view import (
    MAX_DOUBT,
    NOTES_TOKENS,
    ContextItem,
    ContextOptions,
    fill_slots,
    omission,
    own_item,
    pin_block,
    show_block,
    slots_within,
    verbatim,
)
from ireneo.log.calls import atoms
from ireneo.log.message import MESSAGE_TOKENS, PINS_TAG, Count, Message, Text, escape_tags, is_called, short
from ireneo.summaries.by_hand import canon_lines, is_within, with_edits, with_threads_by_hand
from ireneo.summaries.cast import KnownCast, known_cast, render_cast, render_players
from ireneo.summaries.overview import is_narrow, shown_overview
from ireneo.summaries.pins import constraints
from ireneo.summaries.policy import Policy, explain_whole
from ireneo.summaries.steps import clip
from ireneo.summaries.story import TOLD_TOKENS, is_answered, make_deeper, make_leaf, settings, story_strategy
from ireneo.summaries.story_path import LEAST_LIVE, StoryPath, StoryRecords, StoryState, UncoveredMessages, open_threads
from ireneo.summaries.summary import RecentValues, Summary, SummaryId, Thread, anchor, header
from ireneo.summaries.threads import thread_lines

CANON_SHARE = 0.15
"""The share of a context for canon facts."""
CAST_SHARE, CAST_TOKENS, LEAST_CAST = 0.1, 700, 40
"""The cast's share of a context, its maximum number of tokens, and the minimum with which it is shown."""


def cast_block(story: StoryState, options: ContextOptions, teller: StoryTextCache) -> ContextItem | None:
    """The block with the cast; None if nothing is known."""
    told = mostly_model_written(story.nodes)
    share = TOLD_CAST if told else CAST_SHARE
    room = min(int(options.budget * share), CAST_TOKENS) - MESSAGE_TOKENS - options.count(PINS_TAG) - 1
    if room < LEAST_CAST or not story.known:
        return None
    said = (render_players if told else render_cast)(teller.cast(story.known, options.joined), room, options.count)
    # Names are data as well: they must not begin a line or a block of ours.
    lines = [escape_tags(" ".join(line.split())) for line in said]
    if not lines:
        return None
    text = "\n".join([f"{PINS_TAG} {lines[0]}", *lines[1:]])
    return own_item("pins", "cast", text, options.count, story.known[0].first, story.known[-1].last)


THREADS_SHARE = 0.12
"""The share of a context for open threads, if no model wrote the past that mentions them."""
HEADING = "Open threads, word for word:"


def story_pins(
    story: StoryState, said: Sequence[str], options: ContextOptions, cast: KnownCast, unsaid: Sequence[Message] = ()
) -> ContextItem | None:
    """The constraints and threads of the summaries in one block, except those in the texts `said`.

    The block includes those of `unsaid`, which are newest messages that are not shown in full. An author's thread is
    attributed to the character whom they play.
    """
    nodes = story.nodes
    played = {each.player: each.name for each in reversed(cast.people) if each.player}
    threads = [
        replace(each, who=played.get(each.who, each.who), whom=played.get(each.whom, each.whom))
        for each in story.threads
    ]
    facts = canon_lines(options.canon, int(options.budget * CANON_SHARE), options.count)
    pins = pin_block([*nodes, *unsaid], said, options, options.budget)
    told = mostly_model_written(nodes)
    # The number of further threads is useless if the texts mention them.
    forgotten = 0 if told else story.forgotten
    room = int(options.budget * (TOLD_THREADS if told else THREADS_SHARE))
    lines = thread_lines(threads, forgotten, room, options.count)
    if not (lines or facts):
        return pins
    parts = ["\n".join(facts), pins.text.removeprefix(PINS_TAG).strip() if pins else ""]
    parts.append("\n".join([HEADING, *lines]) if lines else "")
    text = f"{PINS_TAG} " + "\n\n".join(filter(None, parts))
    sources = [thread.source for thread in threads if thread.source]
    first, last = (sources[0], sources[-1]) if sources else ("", "")
    return own_item("pins", "pins", text, options.count, pins.first if pins else first, last)


SYSTEM_SHARE, WHOLE_SYSTEM = 0.25, 0.35
"""The share of a context for what is said before the story, such as a card; and the share up to which it isn't cut."""
WORDS_FLOOR = 48
OPEN_SHARE = 0.2
"""The share of the room after the blocks for newest messages that don't fit verbatim."""
LEAST_OPEN = 120
"""The least tokens for them, up to half of that room, since a smaller block says nothing."""
FRESH_WEIGHT = 2
MOST_OPENED = 0.5
OPEN_BLOCKS = 2
"""The most room for messages that don't fit verbatim, in summaries."""
LEAST_NEWEST = 400
"""The least tokens for the newest messages, up to half of a narrow context, since the next one answers them."""
STEPS = 6
"""The live part moves by a sixth of a leaf at a time."""
PARTS = 3
"""The rest of the newest messages' room is given to what comes right before them, in whole thirds, so that the
earlier part seldom changes."""
CHARACTERS_PER_TOKEN = 4
LEAST_BLOCK = 240
"""The least tokens of a useful block: few large blocks are better than many empty ones."""
BLOCKS_SHARE = 0.75
"""The share for blocks in what the newest messages leave; pins and system messages get the rest."""
PASSING = ("/open", "/whole")
"""The endings of the names under which summaries for a single context are stored."""


def conservative_count(count: Count) -> Count:
    """Count a text's cost by the tokenizer, or by four characters per token if that is more, as budgets do."""
    return lambda text: max(count(text), len(text) // CHARACTERS_PER_TOKEN + 1)


TOLD = 64
"""Cached texts of whole rows, which stay the same between two leaves."""
COUNTED, COUNTED_CHARACTERS = 4_096, 2_000
"""The numbers of cached token counts, and of characters of a cached text, at most."""
OPEN = 16
"""Cached values that stay the same for some messages, such as the leaf over messages without a stored one."""


class StoryTextCache:
    """Caches the texts of a session's last contexts: blocks, leaves, threads and casts."""

    def __init__(self, count: Count) -> None:
        self._uncached = count
        self._known = lru_cache(maxsize=COUNTED)(count)
        self._billed = conservative_count(self.count)
        self.clear()

    def clear(self) -> None:
        """Empty the caches."""
        self.recalled = StoryRecords()
        self._block_texts: RecentValues[Sequence[str]] = RecentValues(TOLD)
        self._leaves: RecentValues[Summary] = RecentValues(OPEN)
        self._casts: RecentValues[KnownCast] = RecentValues(OPEN)
        self._joined: RecentValues[Summary] = RecentValues(OPEN)
        self._stored: set[SummaryId] = set()
        self.passing: dict[SummaryId, Summary] = {}
        """Summaries that were made only for the context that is being composed, and may be shown in it."""

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
        return self._known(text) if len(text) <= COUNTED_CHARACTERS else self._uncached(text)

    def block_texts(
        self, nodes: Sequence[Summary], room: int, doubts: Mapping[SummaryId, str], options: ContextOptions
    ) -> Sequence[str]:
        """Write the blocks of `nodes` in `room` tokens, noting why some are disputed."""
        self.passing.update((node.id, node) for node in nodes if node.summarizer.endswith(PASSING))
        name = (*((node.id, *node.edits) for node in nodes), room, *sorted(doubts.items()))

        def told() -> Sequence[str]:
            return tell_blocks(nodes, room, self._billed, doubts=doubts, strategy=story_strategy(options.policy))

        return self._block_texts.get(name, told)

    def leaf(self, messages: Sequence[Message], options: ContextOptions) -> Summary:
        """Write the leaf over `messages`."""
        policy = options.policy
        name = (messages[0].id, messages[-1].id, policy.summarizer)
        return self._leaves.get(name, lambda: make_leaf(messages, policy))

    def join(self, nodes: Sequence[Summary], options: ContextOptions) -> Summary:
        """Cover adjacent `nodes` by a summary that is not canonical."""
        edits = (note.id for note in options.by_hand)
        name = (options.policy.summarizer, *((node.id, *node.edits) for node in nodes), *edits)
        return self._joined.get(name, lambda: _joined_summary(nodes, options))

    def cast(self, nodes: Sequence[Summary], joined: Sequence[tuple[str, str]]) -> KnownCast:
        """The cast after `nodes`, with pairs of names that were joined by hand."""
        return self._casts.get((tuple(node.id for node in nodes), *joined), lambda: known_cast(nodes, joined))

    def not_stored(self, passing: Sequence[Summary]) -> list[Summary]:
        """The summaries for a single context that this session has not stored yet."""
        return [each for each in passing if each.id not in self._stored]

    def mark_stored(self, summaries: Sequence[Summary]) -> None:
        """Record that summaries were stored."""
        self._stored.update(each.id for each in summaries)


TAIL_STEPS = 2
"""The newest messages are summarised before their leaf is due in steps of half a leaf: a model is asked seldom."""


def messages_to_summarise(fresh: Sequence[Message], options: ContextOptions) -> Sequence[Message]:
    """Return the messages after the last leaf that a model should summarise before their leaf is due, in whole steps.

    These are the ones that don't fit verbatim into a context of a model's texts.
    """
    each = max(sum(message.tokens for message in fresh) / max(len(fresh), 1), 1.0)
    live = max(int(options.budget * options.policy.live_share * TOLD_LIVE / each), LEAST_LIVE)
    return _in_steps(fresh[: max(len(fresh) - live, 0)], TAIL_STEPS, options.policy)


def _in_steps(fresh: Sequence[Message], steps: int, policy: Policy) -> Sequence[Message]:
    """The first of the newest messages, in whole atoms and whole parts of a leaf that has `steps` of them."""
    step = max(settings(policy).leaf_messages // steps, 1)
    most = len(fresh) // step * step
    edge = max((end for end in accumulate(map(len, atoms(fresh)), initial=0) if end <= most), default=0)
    return fresh[:edge]


def _with_recent(grown: StoryState, options: ContextOptions, teller: StoryTextCache) -> StoryState:
    """Add a leaf over the newest messages that have none, in whole parts; none where a model told the past."""
    first = _in_steps(grown.fresh, PARTS, options.policy) or (() if grown.nodes else grown.fresh)
    if not first or mostly_model_written(grown.nodes):
        return grown
    return replace(grown, recent=teller.leaf(first, options))


def with_tail(
    grown: StoryState, nodes: tuple[Summary, ...], tails: Sequence[Summary], options: ContextOptions
) -> tuple[StoryState, tuple[Summary, ...]]:
    """Add the longest stored text of newest messages that leaves those verbatim for which there is room."""
    if not (tails and nodes and is_model_written(nodes[-1])):
        return grown, nodes
    ahead = {message.id for message in messages_to_summarise(grown.fresh, options)}
    first = grown.fresh[0].id if grown.fresh else ""
    fitting = [each for each in tails if each.first == first and each.last in ahead and each.is_written]
    if not fitting:
        return grown, nodes
    tail = max(fitting, key=lambda each: each.last_position)
    fresh = tuple(message for message in grown.fresh if message.position > tail.last_position)
    return replace(grown, fresh=fresh), (*nodes, tail)


class StoryComposer:
    """Composes a story's context for several targets; the path is read once."""

    def __init__(
        self,
        path: StoryPath,
        options: ContextOptions,
        teller: StoryTextCache,
        *,
        room: int = 0,
        most: int,
        overviews: Sequence[Summary] = (),
        tails: Sequence[Summary] = (),
    ) -> None:
        """Read the path; at most `most` leaves are written, and `room` tokens are kept free.

        `overviews`, and the texts of newest messages, `tails`, are those stored along the path.
        """
        fits = path.reader.head.total_tokens <= options.budget - room
        grown = path.whole() if fits else path.grow(most)
        row = with_overview(path, grown.nodes, options, overviews)
        nodes = _past_texts(path, row, replace(options, budget=options.budget - room), teller)
        self.lacks_overview = (
            row is grown.nodes and is_narrow(grown.nodes, options.budget) and mostly_model_written(nodes)
        )
        """Whether an overview would be shown if there were one."""
        grown, nodes = with_tail(grown, nodes, tails, options)
        self.behind = grown.behind
        """How many messages should be summarised but aren't."""
        story = replace(grown, nodes=nodes)
        if not fits:
            story = _with_recent(story, options, teller)
        threads, forgotten = standing_threads(nodes, options)
        self._story = replace(story, threads=threads, forgotten=forgotten)
        self.passing: list[Summary] = []
        """The summaries that were made only for this context, so that its blocks can be opened."""
        self._options = options
        self._teller = teller

    def compose(self, target: int) -> Assembled:
        """Compose the context in `target` tokens."""
        told = self._teller.passing
        told.clear()
        found = compose_story(self._story, replace(self._options, budget=target), self._teller)
        self.passing = [told[SummaryId(each.id)] for each in found.shown if each.id in told]
        return Assembled(composed=found, mark=None, why=explain_whole(found.tokens, self._options.budget))

    @property
    def made(self) -> list[Summary]:
        """The summaries that were written, and those made only for this context."""
        return [*self._story.made, *self._teller.not_stored(self.passing)]


def _past_texts(
    path: StoryPath, nodes: Sequence[Summary], options: ContextOptions, teller: StoryTextCache
) -> tuple[Summary, ...]:
    """The texts of the past; those by models are opened as finely as the room allows."""

    def under(node: Summary) -> Sequence[tuple[Summary, Summary]]:
        children = path.summaries_under(node, node.depth - 1)
        return list(zip(children, path.reader.texts(children), strict=True))

    def best(node: Summary, text: Summary) -> Summary:
        parts = deepest_texts_under(node, under) if node.depth > 1 and not is_model_written(text) else []
        return teller.join(parts, options) if parts else text

    def best_of(nodes: Sequence[Summary]) -> list[Summary]:
        texts = path.reader.texts(nodes)
        if not any(map(is_model_written, texts)):
            return list(texts)
        return [best(node, text) for node, text in zip(nodes, texts, strict=True)]

    texts = best_of(nodes)
    if not mostly_model_written(texts):
        # Rules only select sentences, so the newest ages are shown as finely as there is room for blocks.
        room = int(options.budget * (1 - options.policy.live_share) * BLOCKS_SHARE)
        nodes = path.opened(nodes, room // TOLD_TOKENS)
        texts = best_of(nodes)
    if not any(map(is_model_written, texts)):
        return tuple(texts)
    cost = text_cost(options.policy, conservative_count(teller.count))
    past = options.budget - _live_room(texts, options)
    return tuple(open_texts(nodes, texts, under, past, cost, block_weight))


def with_overview(
    path: StoryPath, row: Sequence[Summary], options: ContextOptions, overviews: Sequence[Summary]
) -> Sequence[Summary]:
    """Replace what an overview covers of the row of a story's past, if an overview is to be shown."""
    found = shown_overview(overviews, row, options.budget, options.notes) if overviews else None
    rest = path.row_after(row, found.last_position) if found else None
    if found is None or rest is None or not mostly_model_written([found, *path.reader.texts(rest)]):
        return row
    return [found, *rest]


def overview_room(path: StoryPath, options: ContextOptions) -> int:
    """The tokens that a context has for one text of a story's whole past."""
    teller = StoryTextCache(options.count)
    options = replace(options, count=conservative_count(teller.count))
    grown = path.grow(0)
    texts = tuple(path.reader.texts(grown.nodes))
    threads, forgotten = standing_threads(texts, options)
    story = replace(grown, nodes=texts, threads=threads, forgotten=forgotten)
    before = _items_before_past(story, options, teller)
    frame = MESSAGE_TOKENS + NOTES_TOKENS + options.count(header(texts[0])) + 1 if texts else 0
    return options.budget - sum(each.tokens for each in before) - _live_room(texts, options) - frame


def story_notes(
    path: StoryPath, options: ContextOptions, tails: Sequence[Summary]
) -> tuple[Sequence[Summary | Message], tuple[Thread, ...]]:
    """The summaries and newest messages of a path, from which constraints are read, and the open threads."""
    grown = path.grow(0)
    grown, texts = with_tail(grown, tuple(path.reader.texts(grown.nodes)), tails, options)
    fresh = grown.fresh if is_answered(grown.fresh) else ()
    return (*grown.system, *texts, *fresh), standing_threads(texts, options)[0]


def standing_threads(texts: Sequence[Summary], options: ContextOptions) -> tuple[tuple[Thread, ...], int]:
    """The threads open at the end of adjacent summaries and not released by hand, and how many were dropped.

    A released thread is resolved, whatever the story says.
    """
    threads, forgotten = open_threads(texts, settings(options.policy).open_threads)
    closed = {name for text in texts for name in text.threads.closed}
    return with_threads_by_hand(threads, closed, options.notes, options.policy.seen_by), forgotten


def compose_story(story: StoryState, options: ContextOptions, teller: StoryTextCache) -> Composed:
    """Compose a story's context within the budget of `options`."""
    options = replace(options, count=conservative_count(options.count))
    unsaid: tuple[Message, ...] = ()
    while True:
        shown = _within_budget(story, options, teller, unsaid)
        said = " ".join(" ".join(each.text for each in shown).split())
        more = tuple(each for each in story.fresh if each not in unsaid and _sets_hidden_constraint(each, said))
        if not more:
            return compose_items([_seen_by_character(each, options.policy.seen_by) for each in shown])
        # No summary covers the newest messages that aren't shown in full: constraints in them are pinned as well.
        unsaid += more


def _sets_hidden_constraint(message: Message, said: str) -> bool:
    """Whether a message sets a constraint that is missing from the texts `said`."""
    pins, _ = constraints([message], in_story=True)
    return any(" ".join(pin.text.split()) not in said for pin in pins)


def _within_budget(
    story: StoryState, options: ContextOptions, teller: StoryTextCache, unsaid: Sequence[Message]
) -> list[ContextItem]:
    """The shown part of a story, with the constraints of its summaries and of the messages `unsaid`."""
    before = _items_before_past(story, options, teller, unsaid)
    left = options.budget - sum(each.tokens for each in before)
    live = _live_room(story.nodes, options)
    cost = sum(_message_cost(message, options.count) for message in story.fresh)
    spare = 0 if story.waiting else _unused_room(live, cost)
    opened = _open_block_room(story, left - live, live, options)
    past = _past_blocks(story, left - live - opened + spare, options, teller)
    past += [_uncovered_item(story.waiting, options.count)] if story.waiting else []
    left -= sum(each.tokens for each in past)
    return [*before, *past, *_newest_items(story, left, options, teller, opened, cut=bool(past))]


def _open_block_room(story: StoryState, room: int, live: int, options: ContextOptions) -> int:
    """The part of the blocks' `room` for newest messages without a leaf that don't fit verbatim into `live`.

    In whole parts of a leaf; each counts `FRESH_WEIGHT` times as much as a message in a leaf.
    """
    if story.waiting or mostly_model_written(story.nodes):
        return 0
    costs = [_message_cost(message, options.count) for message in story.fresh]
    start = _live_start(story.fresh, costs, int(live * (1 - OPEN_SHARE)), 1)
    weight, covered = (
        FRESH_WEIGHT * len(_in_steps(story.fresh[:start], PARTS, options.policy)),
        sum(node.messages for node in story.nodes),
    )
    return int(room * (min(weight / (weight + covered), MOST_OPENED) if covered else weight > 0))


def _items_before_past(
    story: StoryState, options: ContextOptions, teller: StoryTextCache, unsaid: Sequence[Message] = ()
) -> list[ContextItem]:
    """The items before the past: system messages, pins and open threads, the cast."""
    whole = sum(_message_cost(message, options.count) for message in story.system)
    room = whole if whole <= options.budget * WHOLE_SYSTEM else int(options.budget * SYSTEM_SHARE)
    slots = slots_within(story.system, room, options.count, floor=WORDS_FLOOR)
    before = fill_slots(slots, room, options.statements) if slots else []
    pins = story_pins(story, [each.text for each in before], options, teller.cast(story.known, options.joined), unsaid)
    before += [pins] if pins else []
    cast = cast_block(story, options, teller)
    return [*before, cast] if cast else before


def _live_room(nodes: Sequence[Summary], options: ContextOptions) -> int:
    """The room reserved for the newest messages: at most their average cost in the newest summary.

    It only depends on the summaries, so that the blocks don't change with each message.
    """
    room = int(options.budget * options.policy.live_share)
    told = bool(nodes) and is_model_written(nodes[0])
    room = int(room * TOLD_LIVE) if told else max(room, min(LEAST_NEWEST, options.budget // 2))
    if not nodes:
        return room
    newest, live = nodes[-1], settings(options.policy)
    each = newest.source_tokens / max(newest.messages, 1)
    return min(room, int(each * (live.live_messages + live.leaf_messages / 2)))


def _joined_summary(nodes: Sequence[Summary], options: ContextOptions) -> Summary:
    """Join adjacent summaries into one that is not canonical."""
    whole = with_edits(make_deeper(nodes, nodes, options.policy), options.by_hand)
    summarizer = f"{options.policy.summarizer}/whole"
    # It depends on the texts: with other texts it is another summary.
    told = " ".join([summarizer, *(node.id for node in nodes)])
    whole = summary_over(whole, nodes) if mostly_model_written(nodes) else whole
    # It has the sentences of `nodes` verbatim, so nothing is retold again.
    retold = max(node.retellings for node in nodes)
    name = anchor("story", whole.first, whole.last, told)
    return replace(whole, summarizer=summarizer, id=name, sources=(), retellings=retold)


def _past_blocks(story: StoryState, room: int, options: ContextOptions, teller: StoryTextCache) -> list[ContextItem]:
    """The blocks of the past in `room` tokens."""
    if not story.nodes:
        return []
    most = max(room // LEAST_BLOCK, 1)
    if len(story.nodes) > most:
        # If there is no room for all headers, several texts share one block.
        groups = group_by_age(story.nodes, most)
        story = replace(story, nodes=tuple(teller.join(each, options) if each[1:] else each[0] for each in groups))
    doubts = _doubts(story.nodes, options)
    nodes, words = _rendered_nodes(story.nodes, room, doubts, options, teller)
    out = [show_block(node, text, 1, options.count) for node, text in zip(nodes, words, strict=True)]
    out = [replace(each, disputed=doubts.get(node.id, "")) for each, node in zip(out, nodes, strict=True)]
    out[-1] = replace(out[-1], tokens=out[-1].tokens + MESSAGE_TOKENS + NOTES_TOKENS)
    return out


def _doubts(nodes: Sequence[Summary], options: ContextOptions) -> dict[SummaryId, str]:
    """Why summaries are disputed, by their ids."""
    return {
        node.id: clip("; ".join(each.text for each in told), MAX_DOUBT)
        for node in nodes
        if (told := options.unanswered_disputes(node))
    }


def _rendered_nodes(
    nodes: Sequence[Summary],
    room: int,
    doubts: Mapping[SummaryId, str],
    options: ContextOptions,
    teller: StoryTextCache,
) -> tuple[Sequence[Summary], Sequence[str]]:
    """The nodes to show in `room` tokens, with their texts; a node without sentences is joined to its neighbour."""
    while True:
        frame = MESSAGE_TOKENS + NOTES_TOKENS + len(nodes)
        words = teller.block_texts(nodes, max(room - frame, 0), doubts, options)
        pair = _pair_to_join(nodes, words, doubts)
        if pair is None:
            return nodes, words
        nodes = [*nodes[:pair], teller.join(nodes[pair : pair + 2], options), *nodes[pair + 2 :]]


def _pair_to_join(nodes: Sequence[Summary], words: Sequence[str], doubts: Mapping[SummaryId, str]) -> int | None:
    """The index of the first of two adjacent nodes to join because one of them is empty; None if there are none.

    The smaller neighbour is taken. Texts by models and disputed texts are not joined.
    """
    free = [node.id not in doubts and not is_model_written(node) for node in nodes]
    for place, text in enumerate(words):
        if is_header_only(text) and free[place]:
            beside = [each for each in (place - 1, place + 1) if 0 <= each < len(nodes) and free[each]]
            if beside:
                return min(place, min(beside, key=lambda each: nodes[each].messages))
    return None


def _uncovered_item(waiting: UncoveredMessages, count: Count) -> ContextItem:
    text = (
        f"[STORY] {waiting.messages:,} messages that are not summarised yet · "
        f"open with {short(waiting.first)} to {short(waiting.last)}"
    )
    return replace(omission("waiting", text, waiting.first, waiting.last, waiting.messages, count), level="story")


def _newest_items(
    story: StoryState, room: int, options: ContextOptions, teller: StoryTextCache, opened: int, *, cut: bool
) -> list[ContextItem]:
    """The newest messages verbatim, and before them those without room as one block that is not a leaf.

    That block gets `opened` tokens and a share of the rest.
    """
    fresh = story.fresh
    if not fresh:
        return []
    after = fresh[0].position - 1
    costs = [_message_cost(message, options.count) for message in fresh]
    thinking = options.thinking != "none" and not cut
    if sum(costs) + sum(message.thinking_tokens for message in fresh if thinking) <= room:
        return with_notes(fresh, [verbatim(message, thinking=thinking) for message in fresh], after, options)
    most = TOLD_OPEN if mostly_model_written(story.nodes) else OPEN_BLOCKS * TOLD_TOKENS
    own = room - opened
    live_room = own - min(max(int(own * OPEN_SHARE), min(LEAST_OPEN, own // 2)), most)
    step = settings(options.policy).leaf_messages // STEPS
    start = max(_live_start(fresh, costs, live_room, step), _after_edits(fresh, options))
    frame = 1 if cut and not story.waiting else MESSAGE_TOKENS + NOTES_TOKENS
    wide = room - live_room + _unused_room(live_room, sum(costs[start:]))
    out = _open_blocks(story, start, wide, frame, options, teller)
    live_room = room - sum(each.tokens for each in out)
    newest = fresh[start:]
    if sum(costs[start:]) <= live_room:
        shown = [verbatim(message, thinking=False) for message in newest]
    else:
        slots = newest_slots(newest, live_room, options, live_room)
        shown = fill_slots(slots, live_room, options.statements)
    return [*out, *with_notes(newest, shown, newest[0].position - 1, options)]


def _after_edits(fresh: Sequence[Message], options: ContextOptions) -> int:
    """The index after the newest messages that were summarised by hand: these words replace them whatever the room."""
    first, last = fresh[0].position, fresh[-1].position
    ends = [note.at_position for note in options.by_hand if is_within(note, first, last)]
    return min(max(ends, default=-1) + 1 - first, len(fresh) - 1) if ends else 0


def _unused_room(room: int, cost: int) -> int:
    """The room that newest messages of this cost leave unused, in whole steps."""
    part = max(room // PARTS, 1)
    return max(room - cost, 0) // part * part


def _message_cost(message: Message, count: Count) -> int:
    """The tokens of a message as this context counts them, but at least as many as when it was stored."""
    return max(
        message.tokens, MESSAGE_TOKENS + sum(count(part.text) for part in message.parts if isinstance(part, Text))
    )


def _live_start(messages: Sequence[Message], costs: Sequence[int], room: int, step: int) -> int:
    """The index from which the messages fit into `room` verbatim, between atoms and in whole steps."""
    edges = list(accumulate(map(len, atoms(messages)), initial=0))[:-1]
    after = [0] * (len(messages) + 1)
    for place in reversed(range(len(messages))):
        after[place] = after[place + 1] + costs[place]
    fitting = [edge for edge in edges if after[edge] <= room] or [edges[-1]]
    wished = -(-fitting[0] // max(step, 1)) * max(step, 1)
    stepped = next((edge for edge in fitting if edge >= wished), fitting[0])
    if after[stepped] * 2 >= room:
        return stepped
    # If a step is most of the room, the index moves by half of the room at a time.
    half = max(room // 2, 1)
    left = after[0] - -(-(after[0] - room) // half) * half
    return next((edge for edge in fitting if after[edge] <= left), fitting[-1])


def _open_blocks(
    story: StoryState, start: int, room: int, frame: int, options: ContextOptions, teller: StoryTextCache
) -> list[ContextItem]:
    """One block of the newest messages before `start`; empty if there are none. `frame` is what it costs besides."""
    if not start:
        return []
    leaf = teller.leaf(story.fresh[:start], options)
    summarizer = f"{options.policy.summarizer}/open"
    leaf = replace(leaf, summarizer=summarizer, depth=0, id=anchor("story", leaf.first, leaf.last, summarizer))
    leaf = with_edits(leaf, options.by_hand)
    doubts = _doubts([leaf], options)
    # Even without room for a line it is seen that there were messages.
    least = options.count(header(leaf, doubts.get(leaf.id, ""))) + 1
    (text,) = teller.block_texts([leaf], max(room - frame, least), doubts, options)
    return [replace(show_block(leaf, text, frame, options.count), disputed=doubts.get(leaf.id, ""))]


def _seen_by_character(shown: ContextItem, character: str) -> ContextItem:
    """In a character's own context, show the character's own words as the model's."""
    if not character or shown.what not in ("message", "masked") or shown.draft.role != "user":
        return shown
    parts = shown.draft.parts
    if not any(isinstance(part, Text) and part.author and is_called(character, part.author) for part in parts):
        return shown
    own = tuple(replace(part, author=None) if isinstance(part, Text) else part for part in parts)
    return replace(shown, draft=replace(shown.draft, role="assistant", parts=own), whole=False)
