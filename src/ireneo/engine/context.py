"""The context of a session: read its path and the texts of its blocks, cut it to a budget, and store new summaries.

For an agent's work, leaves are written from notes; notes without a block yet are stored separately. Deeper blocks are
rolled up from the texts below them, so that no model is asked twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from functools import partial
from itertools import takewhile
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.allot import Statements
from ireneo.context.assemble import Assembled, Composed, Mark, WorkComposer
from ireneo.context.last_turns import LastTurnsComposer
from ireneo.context.story import StoryComposer, StoryTextCache, conservative_count
from ireneo.context.view import (
    ContextItem,
    ContextOptions,
    drop_thinking_from,
    own_item,
    pad_place,
    positions,
    with_pad,
)
from ireneo.engine.encode import Composer, Context, check_budget, compose_within, describe_context
from ireneo.engine.scope import names_joined
from ireneo.errors import MessageNotFound, StoreError
from ireneo.formats.chat.format import ChatFormat
from ireneo.language.topics import Voice
from ireneo.log.message import MESSAGE_TOKENS, CachedCount, Count, Draft, Head, Message, MessageId, digest
from ireneo.log.tree import SessionKey
from ireneo.memories.scratchpad import PAD_TOKENS, pad_block
from ireneo.ports.store import Rebuild, Span, Store, Transaction
from ireneo.prompts import FAMILIES
from ireneo.summaries.by_hand import with_edits
from ireneo.summaries.notes import deeper_sections, note_sections, statements_of, with_later_statements
from ireneo.summaries.overview import OVERVIEW, OVERVIEW_DEPTH, asked_budget, is_near, tail_summarizer
from ireneo.summaries.policy import Policy
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import RecentValues, Summary, SummaryId, SummaryLevel, Writing, anchor
from ireneo.summaries.work import CHUNK, RowProgress, WorkPath, is_kept

WAITING_DEPTH = 0
"""The depth of notes that belong to no block yet."""
OVERVIEWS = 4
"""How many overviews of one kind are read."""
WORDS_BEFORE = 8
"""How many verbatim messages right before a block may belong to it."""


def text_summarizer(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The summarizer of a model's text for a canonical summary, written in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{undisputed_summarizer(summary.level, summary.summarizer, voice)}{doubts}"


def undisputed_summarizer(level: SummaryLevel, summarizer: str, voice: Voice) -> str:
    """The summarizer of models' texts for canonical summaries of this level and `summarizer`, without disputes."""
    return f"{FAMILIES[level]}/{voice}/{summarizer}"


def waiting_summarizer(summarizer: str, voice: Voice) -> str:
    """The summarizer of notes that wait for blocks of `summarizer`."""
    return f"{undisputed_summarizer('turn', summarizer, voice)}/waiting"


def text_id(summary: Summary, disputes: Sequence[str], voice: Voice) -> SummaryId:
    """The anchor of a model's text for `summary`."""
    return anchor(summary.level, summary.first, summary.last, text_summarizer(summary, disputes, voice))


def best_texts(
    tx: Transaction,
    key: SessionKey,
    summaries: Sequence[Summary],
    options: ContextOptions,
    voice: Voice,
    known: Collection[str] | None,
) -> list[Summary]:
    """For each summary the model's text that answers all disputes, else one that answers none, else the summary itself.

    If `known` is given, only texts in it are used.
    """
    wanted: list[list[SummaryId]] = []
    for summary in summaries:
        disputes = [note.id for note in options.disputes.get(summary.stretch, ())]
        names = [text_id(summary, disputes, voice), *([text_id(summary, (), voice)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        text = next((found[name] for name in names if name in found), summary)
        out.append(with_edits(text, options.by_hand) if summary.level == "story" else text)
    return out


class BlockTexts:
    """The texts of an agent's blocks along one path, within one transaction."""

    def __init__(self, reader: StoredReader, known: Collection[str] | None = None) -> None:
        """Look up the waiting notes; if `known` is given, only notes and texts in it are used."""
        self._reader = reader
        self._known = known
        waiting = reader.waiting_notes() if reader.is_noted() else None
        self._there = waiting is not None
        self.waiting = [each for each in waiting or () if known is None or each.id in known]
        self.used: dict[str, None] = {}
        """The ids of the stored texts from which the last result was made, in order."""
        self.rolled: dict[SummaryId, Summary] = {}
        """New texts that are final, since everything below them is written."""

    def best(self, blocks: Sequence[Summary], made: Mapping[SummaryId, Summary]) -> list[Summary]:
        """The best text of each block; `made` are blocks that are not stored yet."""
        if not self._there or self._reader.options.policy.strategy is not None:
            return list(blocks)
        self.used = {}
        texts = [text for text, _ in self._best_with_source(blocks, made)]
        if texts and texts[-1].is_written:
            texts[-1] = self._with_later_notes(texts[-1])
        return texts

    def _best_with_source(
        self, blocks: Sequence[Summary], made: Mapping[SummaryId, Summary]
    ) -> list[tuple[Summary, bool]]:
        direct = self._reader.best_texts(blocks, self._known)
        out: list[tuple[Summary, bool]] = []
        for block, text in zip(blocks, direct, strict=True):
            if text.writing is not None:
                self.used[text.id] = None
                out.append((text, True))
            else:
                out.append(self._roll_up(block, made) if block.sources else self._from_waiting(block))
        return out

    def _with_later_notes(self, text: Summary) -> Summary:
        """The last text, with the notes on messages after it, since not all of these are shown whole.

        Notes on further blocks are only added if they are also based on messages that are not shown.
        """
        last = text.last_position
        behind = [each for each in self.waiting if each.last_position > last]
        behind += [each for each in self._leaf_texts_within(text) if each.last_position > last]
        lines = [(name, line) for name, line in statements_of(behind) if line.position > last]
        further = self._written_leaves(last + 1)
        if further:
            shown = {message.id for message in self._reader.path(last + 1, self._reader.head.position)}
            lines += [(name, line) for name, line in statements_of(further) if not shown.issuperset(line.sources)]
        self.used.update((each.id, None) for each in (*behind, *further))
        return with_later_statements(text, lines) if lines else text

    def _roll_up(self, block: Summary, made: Mapping[SummaryId, Summary]) -> tuple[Summary, bool]:
        stored = {each.id: each for each in self._reader.get([s for s in block.sources if s not in made])}
        under = [made.get(source) or stored[source] for source in block.sources]
        found = self._best_with_source(under, made)
        parts, final = [text for text, _ in found], all(final for _, final in found)
        written = [each.writing for each in parts if each.is_written and each.writing]
        if not written:
            return block, final
        sections = deeper_sections(block, parts)
        return self._collect(replace(block, sections=tuple(sections), writing=_rolled_up_writing(written)), final=final)

    def _from_waiting(self, block: Summary) -> tuple[Summary, bool]:
        """A block's text, from notes taken before the block existed, or for a longer block that begins with it."""
        pieces = [*self.waiting, *self._leaf_texts_within(block)]
        over = [
            each
            for each in pieces
            if each.first_position <= block.last_position and each.last_position >= block.first_position
        ]

        def is_known(position: int) -> bool:
            return any(each.first_position <= position <= each.last_position for each in over)

        written = [each.writing for each in over if each.writing]
        if not written:
            return block, False
        self.used.update((each.id, None) for each in over)
        begin = self._reader.begin_of(block)
        lines = [
            (name, line)
            for name, line in statements_of(over, replaced=True)
            if begin <= line.position <= block.last_position
        ]
        sections = note_sections(block, lines, is_known)
        text = replace(block, sections=tuple(sections), writing=_rolled_up_writing(written))
        whole = all(is_known(place) for place in range(block.first_position, block.last_position + 1))
        return self._collect(text, final=whole)

    def _leaf_texts_within(self, block: Summary) -> list[Summary]:
        """The texts of leaves that begin within an open block."""
        if block.depth != WAITING_DEPTH:
            return []
        return self._written_leaves(block.first_position, block.last_position)

    def _written_leaves(self, first: int, last: int | None = None) -> list[Summary]:
        """The texts of leaves from position `first` on, up to `last`."""
        spans = self._reader.written_leaves(first)
        ids = [each.id for each in spans if last is None or each.first_position <= last]
        return [each for each in self._reader.get(ids) if self._known is None or each.id in self._known]

    def _collect(self, text: Summary, *, final: bool) -> tuple[Summary, bool]:
        """Give a `final` text its own id and collect it for storing; others keep their block's id."""
        if not final or self._known is not None:
            return text, final
        voice = self._reader.voice
        text = replace(text, id=text_id(text, (), voice), summarizer=text_summarizer(text, (), voice))
        self.rolled[text.id] = text
        self.used[text.id] = None
        return text, True


def _rolled_up_writing(written: Sequence[Writing]) -> Writing:
    """The `Writing` of a text that was rolled up from other texts without asking a model."""
    first, last = min(each.seen_first for each in written), max(each.seen_last for each in written)
    return replace(
        written[-1], tokens_in=0, tokens_out=0, repaired=False, struck=0, disputes=(), seen_first=first, seen_last=last
    )


def store_summaries(tx: Transaction, key: SessionKey, summaries: Sequence[Summary], erased: int | None) -> int:
    """Store `summaries`, without those whose messages were pruned meanwhile; returns how many were new.

    Nothing is stored if messages were erased meanwhile, since the texts may contain them. `erased` is how many were
    erased when the messages were read; None: unknown.
    """
    if was_erased(tx, key, erased):
        return 0
    try:
        return tx.summaries.put(key, summaries)
    except MessageNotFound:
        kept = [each for each in summaries if not is_pruned(tx, key, each)]
        if len(kept) == len(summaries):
            raise
        return tx.summaries.put(key, kept)


def is_pruned(tx: Transaction, key: SessionKey, summary: Summary) -> bool:
    """Whether the end of a summary's stretch is gone; pruning only removes whole ends of paths."""
    return not tx.log.find(key, [summary.last])


def was_erased(tx: Transaction, key: SessionKey, erased: int | None) -> bool:
    """Whether messages of a session were erased since `erased` were counted."""
    return erased is not None and tx.sessions.erased(key) != erased


class StoredReader:
    """A `PathReader` of the path to a head, within one transaction."""

    def __init__(
        self, tx: Transaction, key: SessionKey, head: Head, options: ContextOptions, voice: Voice = "first"
    ) -> None:
        """Read up to `head`; texts by models are those in `voice`, chosen in view of the disputes in `options`."""
        self.head = head
        self.options = options
        self.voice = voice
        self._tx = tx
        self._key = key
        self._noted: dict[tuple[str, ...] | None, BlockTexts] = {}
        self.used_texts: Sequence[str] = ()
        """The ids of the stored texts that the last result was made from."""

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._tx.log.path(self._key, self.head.id, first, last) if first <= last else ()

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries up to position `last`."""
        end = self.head.id if last == self.head.position else self.path(last, last)[0].id
        return self._tx.summaries.frontier(self._key, end, self.options.policy.summarizer)

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """The stored summaries among `ids`."""
        return self._tx.summaries.get(self._key, ids) if ids else ()

    def is_noted(self) -> bool:
        """Whether the session has notes for blocks of the policy, on any branch."""
        beginning = undisputed_summarizer("turn", self.options.policy.summarizer, self.voice)
        written = self._tx.summaries.summarizers(self._key)
        return any(each == beginning or each.startswith(f"{beginning}/") for each in written)

    def waiting_notes(self) -> Sequence[Summary]:
        """The notes along the path that no block had taken up when they were written, in order."""
        summarizer = waiting_summarizer(self.options.policy.summarizer, self.voice)
        found = self._tx.summaries.spans(self._key, self.head.id, summarizer, WAITING_DEPTH)
        return self._tx.summaries.get(self._key, [span.id for span in found])

    def written_leaves(self, first: int) -> Sequence[Span]:
        """The stretches of leaves with a text by a model that begin at position `first` or later."""
        summarizer = undisputed_summarizer("turn", self.options.policy.summarizer, self.voice)
        return self._tx.summaries.spans(self._key, self.head.id, summarizer, 1, first)

    def overviews(self) -> Sequence[Summary]:
        """The newest overviews of a story along the path for contexts of this budget; without a budget, for any."""
        beginning = f"{undisputed_summarizer('story', self.options.policy.summarizer, self.voice)}{OVERVIEW}"
        budget = self.options.budget
        kinds = [
            each
            for each in self._tx.summaries.summarizers(self._key)
            if each.startswith(beginning) and (not budget or is_near(asked_budget(each), budget))
        ]
        # An earlier one is used if the newest is not on the path, or until a disputed one is written again.
        spans = [
            span
            for kind in kinds
            for span in self._tx.summaries.spans(self._key, self.head.id, kind, OVERVIEW_DEPTH)[-OVERVIEWS:]
        ]
        return self._tx.summaries.get(self._key, [span.id for span in spans]) if spans else ()

    def tails(self) -> Sequence[Summary]:
        """The newest texts along the path that summarise messages before their leaf is due."""
        summarizer = undisputed_summarizer("story", tail_summarizer(self.options.policy.summarizer), self.voice)
        spans = self._tx.summaries.spans(self._key, self.head.id, summarizer, OVERVIEW_DEPTH)[-OVERVIEWS:]
        return self._tx.summaries.get(self._key, [span.id for span in spans]) if spans else ()

    def begin_of(self, block: Summary) -> int:
        """The position at which the notes of a block begin: the verbatim messages right before the block."""
        place = block.first_position
        before = self._tx.log.path(self._key, block.last, max(place - WORDS_BEFORE, 0), place - 1) if place else ()
        return place - sum(1 for _ in takewhile(lambda each: is_kept(each, self.options.policy), reversed(before)))

    def best_texts(self, summaries: Sequence[Summary], known: Collection[str] | None = None) -> list[Summary]:
        """The best stored text of each summary; see the function `best_texts`."""
        return best_texts(self._tx, self._key, summaries, self.options, self.voice, known)

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """The best text of each summary."""
        if self.options.policy.story is not None:
            return self.best_texts(summaries, known)
        heeded = None if known is None else tuple(known)
        if heeded not in self._noted:
            self._noted[heeded] = BlockTexts(self, heeded)
        noted = self._noted[heeded]
        texts = noted.best(summaries, made)
        self.used_texts = tuple(noted.used)
        return texts

    @property
    def rolled_up(self) -> Sequence[Summary]:
        """The rolled-up texts to be stored."""
        return [text for noted in self._noted.values() for text in noted.rolled.values()]

    def natives(self, ids: Sequence[MessageId]) -> Mapping[str, Draft]:
        """The drafts of these messages with their providers' payloads."""
        return dict(self._tx.log.drafts(self._key, ids).items()) if ids else {}


def offline_reader(tx: Transaction, key: SessionKey, head: Head, policy: Policy) -> StoredReader:
    """A reader for uses that need no model's texts."""
    return StoredReader(tx, key, head, ContextOptions(budget=0, policy=policy, count=len))


# Blocks of an agent's work that are written before a context shows them, without a model.

BEHIND = 1_024
"""A context writes the blocks of fewer messages itself, so they need not be written in advance."""


class DueBlocks(Struct, frozen=True, kw_only=True):
    """Blocks of a path that are still to be written."""

    head: Head
    reached: RowProgress
    erased: int
    """How many messages of the session were erased when it was read."""


def due_ahead(tx: Transaction, key: SessionKey, branch: str, policy: Policy) -> DueBlocks | None:
    """The blocks that are due up to a branch's head; None if a context has little to write."""
    head = tx.log.head(key, branch)
    if head is None or head.position < BEHIND:
        return None
    reached = WorkPath(offline_reader(tx, key, head, policy), policy).stored_row(head.position)
    if head.position - reached.position < BEHIND:
        return None
    return DueBlocks(head=head, reached=reached, erased=tx.sessions.erased(key))


async def write_ahead(store: Store, key: SessionKey, policy: Policy, due: DueBlocks) -> AsyncIterator[RowProgress]:
    """Write the due blocks, one chunk per transaction; what is written remains if this is interrupted."""
    reached, last = due.reached, due.head.position
    while last - reached.position >= CHUNK:
        try:
            reached = await store.read(_advance, key, policy, due.head, reached)
        except MessageNotFound:
            return  # Its end was pruned meanwhile.
        if reached.made:
            await store.write(store_summaries, key, reached.made, due.erased)
        yield reached


def _advance(tx: Transaction, key: SessionKey, policy: Policy, head: Head, reached: RowProgress) -> RowProgress:
    return WorkPath(offline_reader(tx, key, head, policy), policy).advance(reached, head.position)


PAD_SHARE = 0.4
"""The share of a narrow context for the scratchpad."""
FRAME_TOKENS = 40
"""About how much its first and last line and its message cost."""


def room_for(pad: ContextItem | None, options: ContextOptions) -> int:
    """Tokens reserved for a scratchpad.

    In the preset `scratchpad` they are always the same, so that rewriting the scratchpad doesn't move the turns.
    """
    if pad is None:
        return 0
    whole = min(PAD_TOKENS + FRAME_TOKENS, int(options.budget * PAD_SHARE))
    return max(pad.tokens, whole) if options.policy.cuts else pad.tokens


class ScratchpadHistory:
    """Remembers the scratchpads that a session showed, to know which thinking is still valid.

    It assumes one process that uses one `Session` before each model call; what others showed is unknown, so earlier
    thinking is dropped then.
    """

    def __init__(self, session: str, task: str) -> None:
        self.session = session
        self.task = task
        self._last: tuple[int, str] | None = None
        """The position and text of the last one; None if there was none."""
        self._bound_from = 0
        """Thinking may be shown for turns from this position on."""

    def pad_item(self, tx: Transaction, space: str, budget: int, count: Count) -> ContextItem | None:
        """The scratchpad for a context of this budget; None if there is no scratchpad, or no room for it."""
        pad = tx.pads.read(space, self.task)
        if pad is None or (pad.project and pad.project != self._project(tx, space)):
            # It belongs to a task of the same name in another project.
            return None
        cost = conservative_count(count)
        text = pad_block(pad, int(budget * PAD_SHARE) - MESSAGE_TOKENS, cost)
        return own_item("pad", "pad", text, cost) if text else None

    def _project(self, tx: Transaction, space: str) -> str:
        info = tx.sessions.get(SessionKey(space, self.session))
        return (info.project if info else None) or ""

    def insert_pad(
        self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head, options: ContextOptions
    ) -> list[ContextItem]:
        """Insert the scratchpad, and drop thinking that was written in view of another one."""
        if options.thinking == "prefix":
            _, bound_from = self._after(shown, pad, head)
            shown = drop_thinking_from(shown, bound_from, options.count)
        return with_pad(shown, pad)

    def record(self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head) -> None:
        """Remember that a context showed the scratchpad, or none, among `shown`."""
        self._last, self._bound_from = self._after(shown, pad, head)

    def _after(
        self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head
    ) -> tuple[tuple[int, str] | None, int]:
        """What `_last` and `_bound_from` are once the scratchpad is shown."""
        place = pad_place(shown)
        at = positions(shown)[place] if place < len(shown) else head.position + 1
        stands = (at, pad.text) if pad else None
        if stands == self._last:
            return stands, self._bound_from
        # Unless the newest message is answered, everything after it is written in view of what is shown now.
        answered = any(each.draft.role == "assistant" for each in shown[place:])
        return stands, head.position + 1 if answered else at


CACHED = 16
"""Rebuilt contexts in the cache; each is as large as its budget."""
KEPT_TOGETHER = 256
"""Summaries per transaction."""
CATCH_UP = 8
"""How many leaves of a story a context writes itself; `work` writes the others, which are shown as waiting."""


class ContextCache:
    """The cache of a session between contexts, which are made one at a time."""

    def __init__(self, session: str, task: str, count: Count) -> None:
        self.lock = Lock()
        self.composed: RecentValues[Composed] = RecentValues(CACHED)
        """The contexts composed last: their beginnings stay the same until a rebuild."""
        self.statements = Statements(count)
        self.recount = CachedCount(count)
        """Counts payloads, most of which the last context already contained."""
        self.teller = StoryTextCache(count)
        self.pads = ScratchpadHistory(session, task)
        self._erased = 0

    def renew(self, erased: int) -> None:
        """Empty the cache if messages were erased since, as it may contain them."""
        if erased != self._erased:
            self.composed.clear()
            self.statements.clear()
            self.recount.clear()
            self.teller.clear()
            self._erased = erased


class _CutContext(Struct, frozen=True, kw_only=True):
    """A context made from one snapshot, and what must be stored from it."""

    context: Context
    made: Sequence[Summary] = ()
    mark: Mark | None = None
    """The mark of a new rebuild."""
    erased: int = 0
    """How many messages of the session were erased when it was read."""


async def context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> Context:
    """Cut the path to the branch's head to a budget, without calling a model.

    New summaries and the mark of a rebuild are stored, so that the next context continues from there. The notes along
    the path are read here; those in `options` are ignored.
    """
    check_budget(options.budget)
    cut = await store.read(_cut_path, key, branch, chat, options, voice, cache)
    try:
        if cut.made or cut.mark is not None:
            whole = len(cut.made) - len(cut.made) % KEPT_TOGETHER
            await store_made(store, key, cut.made[:whole], cut.erased)
            await store.write(_store_last_batch, key, options, cut, cut.made[whole:])
    except StoreError as error:
        # The context is made: the store may be read-only or busy. Not recording the want of an overview doesn't harm.
        return replace(cut.context, unkept=str(error)) if cut.made or options.policy.story is None else cut.context
    if options.policy.story:
        cache.teller.mark_stored(cut.made)
    return cut.context


def _cut_path(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    options: ContextOptions,
    voice: Voice,
    cache: ContextCache,
) -> _CutContext:
    head = tx.log.head(key, branch)
    if head is None:
        return _CutContext(context=describe_context(options.budget, 0, chat, chat.encode(()), (), options.count))
    policy = options.policy
    with cache.lock:
        erased = tx.sessions.erased(key)
        cache.renew(erased)
        notes = tuple(tx.annotations.on_path(key, head.id))
        options = replace(options, notes=notes, thinking=options.thinking_mode(chat.thinking))
        if policy.story:
            options = replace(options, count=cache.teller.count, joined=names_joined(tx, key.space, policy.seen_by))
        else:
            # Ireneo's own strategy words and prices the cached statements.
            own = policy.strategy
            options = replace(options, kept=Statements(options.count, own) if own else cache.statements)
            cache.recount.turn()
        reader = StoredReader(tx, key, head, options, voice)
        pad = cache.pads.pad_item(tx, key.space, options.budget, options.count)
        room = room_for(pad, options)

        def native_drafts(shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
            return reader.natives([MessageId(each.id) for each in shown if each.whole])

        def compose_with_pad(composer: Composer, count: Count) -> tuple[Context, Assembled]:
            put = partial(cache.pads.insert_pad, pad=pad, head=head, options=options)
            made, assembled = compose_within(
                composer, head.total_tokens, chat, options, native_drafts, room=room, put=put, count=count
            )
            if options.thinking == "prefix":
                cache.pads.record(assembled.composed.shown, pad if made.pad else None, head)
            return made, assembled

        if policy.story:
            path = StoryPath(reader, policy, cache.teller.recalled, options.budget)
            stored = {"overviews": reader.overviews(), "tails": reader.tails()}
            story = StoryComposer(path, options, cache.teller, room=room, most=CATCH_UP, **stored)
            made, _ = compose_with_pad(story, options.count)
            context = replace(made, behind=story.behind)
            wanted = _wanted_overview(tx, key, head, options) if story.lacks_overview else None
            return _CutContext(context=context, made=story.made, mark=wanted, erased=erased)
        work = WorkPath(reader, policy)
        mark = last_mark(tx, key, head, options)
        composer: Composer = WorkComposer(work, mark, options, cache.composed)
        if policy.cuts:
            composer = LastTurnsComposer(work, options)
        made, assembled = compose_with_pad(composer, cache.recount)
        new = assembled.mark if assembled.mark != mark else None
        return _CutContext(context=made, made=[*work.new_summaries, *reader.rolled_up], mark=new, erased=erased)


def _wanted_overview(tx: Transaction, key: SessionKey, head: Head, options: ContextOptions) -> Mark | None:
    """The mark by which `work` sees that contexts of about this budget lack an overview; None if it exists already."""
    for mark in tx.rebuilds.of_session(key):
        if mark.summarizer == options.policy.summarizer and is_near(mark.budget_tokens, options.budget):
            return None
    return Mark(at=head.id, at_position=head.position, target_tokens=options.budget)


def last_mark(tx: Transaction, key: SessionKey, head: Head, options: ContextOptions) -> Mark | None:
    """The mark of the last rebuild on the path to `head`."""
    last = tx.rebuilds.last(key, head.id, options.policy.summarizer, options.budget)
    if last is None:
        return None
    return Mark(at=last.at, at_position=last.at_position, target_tokens=last.target_tokens, taken_up=last.taken_up)


async def store_made(store: Store, key: SessionKey, made: Sequence[Summary], erased: int) -> None:
    """Store summaries in batches, so that no other writer waits for long; sources come before what is made of them."""
    for place in range(0, len(made), KEPT_TOGETHER):
        await store.write(store_summaries, key, made[place : place + KEPT_TOGETHER], erased)


def _store_last_batch(
    tx: Transaction, key: SessionKey, options: ContextOptions, cut: _CutContext, made: Sequence[Summary]
) -> None:
    if was_erased(tx, key, cut.erased):
        return
    if made:
        store_summaries(tx, key, made, cut.erased)
    mark = cut.mark
    # Its head may have been pruned meanwhile.
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
