"""The context of a session: drive the assembling over a store, and keep what it made."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ireneo.context.allot import Statements
from ireneo.context.assemble import (
    Answer,
    Assembled,
    Keep,
    KnownRow,
    Made,
    Mark,
    Need,
    NeedParts,
    NeedPath,
    NeedRow,
    NeedTexts,
    Recall,
    assemble,
)
from ireneo.context.compose import Composed
from ireneo.context.options import ContextOptions
from ireneo.context.rebuild import Explained
from ireneo.context.view import ContextItem, bound_from, pad_place, pad_shown, positions, with_pad
from ireneo.engine.compact import Aim, check_budget
from ireneo.engine.encode import Context, encode, make_context, measure
from ireneo.engine.known import CHUNK, Ahead, best_texts, grown, keep, known_blocks, was_erased
from ireneo.errors import ReadOnlyStore
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.tree import Head, SessionKey
from ireneo.log.weigh import MESSAGE_TOKENS, Count, Recount
from ireneo.memories.scratchpad import PAD_TOKENS, pad_block
from ireneo.ports.store import Rebuild, Store, Transaction
from ireneo.prompts.voices import Voice
from ireneo.summaries.summary import Summary
from ireneo.summaries.work import RowItem

PAD_SHARE = 0.4
"""Of a narrow context, what a scratchpad may take."""
FRAME_TOKENS = 40
"""What its first and last line and its message cost besides, about."""
CHARACTERS_PER_TOKEN = 4


def room_for(pad: ContextItem | None, terms: ContextOptions) -> int:
    """What is kept free for a scratchpad; none where there is none.

    Where the last turns are all that is sent it is always as much, so that they don't move when it is rewritten.
    """
    if pad is None:
        return 0
    whole = min(PAD_TOKENS + FRAME_TOKENS, int(terms.budget * PAD_SHARE))
    return max(pad.tokens, whole) if terms.policy.cuts else pad.tokens


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
        self, shown: Sequence[ContextItem], pad: ContextItem | None, head: Head, terms: ContextOptions
    ) -> list[ContextItem]:
        """`shown` with the scratchpad in its place, and without the thinking that was said to another one."""
        if terms.thinking == "prefix":
            self._note(shown, pad, head)
            shown = bound_from(shown, self._bound_from, terms.count)
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


class Cached:
    """What a session keeps at hand between two contexts."""

    def __init__(self, session: str, task: str, count: Count) -> None:
        """Begin with nothing; `task` is the one whose scratchpad `session` shows."""
        self.composed = ComposedCache()
        self.statements = Statements(count)
        self.recount = Recount(count)
        """Counts payloads, of which most was counted for the context before."""
        self.pads = Padding(session, task)
        self._erased = 0

    def renew(self, erased: int) -> None:
        """Let go of what was said where more messages are erased than when it was kept: it may show them."""
        if erased != self._erased:
            self.composed.clear()
            self.statements.clear()
            self.recount.clear()
            self._erased = erased


class ComposedCache:
    """The contexts that were composed last: a prefix stays the same until a rebuild."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[SessionKey, str, Mark], Composed] = OrderedDict()

    def get(self, key: SessionKey, kind: str, mark: Mark) -> Composed | None:
        """The context of a mark, if it is at hand; `kind` tells apart what is cut and shown otherwise."""
        found = self._kept.get((key, kind, mark))
        if found is not None:
            self._kept.move_to_end((key, kind, mark))
        return found

    def clear(self) -> None:
        """Let go of everything."""
        self._kept.clear()

    def put(self, key: SessionKey, kind: str, mark: Mark, composed: Composed) -> None:
        """Keep the context of a mark."""
        self._kept[key, kind, mark] = composed
        while len(self._kept) > CACHED:
            self._kept.popitem(last=False)


class _Look(NamedTuple):
    """What one look at the store came to."""

    context: Context
    why: Explained
    new: tuple[Summary, ...]
    """What was summarised on the way."""
    mark: Mark | None
    old_mark: Mark | None
    erased: int
    """How many messages of the session had been erased."""


async def context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    terms: ContextOptions,
    voice: Voice,
    cached: Cached,
) -> Context:
    """Cut the path to the branch's head to a budget; never calls a model, and shows the best there is now.

    What had to be summarised on the way, and the mark of a rebuild, are stored, so that the next context goes on
    from there. The notes along the path are read here; those of `terms` are not heeded.
    """
    budget, count, pads = terms.budget, terms.count, cached.pads
    check_budget(budget)

    def look(tx: Transaction) -> _Look | None:
        head = tx.log.head(key, branch)
        if head is None:
            return None
        erased = tx.erasure.count(key)
        cached.renew(erased)
        cached.recount.turn()
        notes = tuple(tx.annotations.on_path(key, head.id))
        ruled = replace(terms, notes=notes, thinking=terms.ruled(chat.thinking), kept=cached.statements)
        driver = Driver(tx, key, head, ruled, voice, cached.composed)
        mark = driver.mark(budget)
        pad = pads.shown(tx, key.space, budget, count)
        aim = Aim(budget - room_for(pad, ruled))
        while True:
            assembled = driver.drive(aim.target, mark)
            shown = pads.put(assembled.composed.shown, None if aim.least else pad, head, ruled)
            whole = driver.whole(shown)
            payload = encode(shown, whole, chat, ruled.thinking)
            measured = measure(payload, chat, cached.recount)
            over = measured.heeded - budget
            if over <= 0 or aim.least:
                made = make_context(
                    budget, head.total_tokens, chat, payload, shown, count, whole=whole, measured=measured
                )
                return _Look(made, assembled.why, tuple(driver.made), assembled.mark, mark, erased)
            aim.narrow(assembled.composed.tokens, over)

    found = await store.read(look)
    if found is None:
        return make_context(budget, 0, chat, chat.encode(()), (), count)
    unkept = ""
    try:
        await _keep(store, key, terms.policy.family, budget, found.new, found.mark, found.old_mark, found.erased)
    except ReadOnlyStore as error:
        # It serves as it is; the next one is made anew.
        unkept = str(error)
    return replace(found.context, explained=found.why, unkept=unkept)


async def keep_made(store: Store, key: SessionKey, made: Sequence[Summary], erased: int) -> None:
    """Store summaries that were written on the way, from a session of which so many messages were erased.

    Some at a time, so that no other writer waits for long: each stands after those that it was written from.
    """
    for place in range(0, len(made), KEPT_TOGETHER):
        await store.write(keep, key, made[place : place + KEPT_TOGETHER], erased)


async def _keep(
    store: Store,
    key: SessionKey,
    family: str,
    budget: int,
    made: Sequence[Summary],
    mark: Mark | None,
    old: Mark | None,
    erased: int,
) -> None:
    if not made and (mark is None or mark == old):
        return
    whole = len(made) - len(made) % KEPT_TOGETHER
    await keep_made(store, key, made[:whole], erased)

    def keep_2(tx: Transaction) -> None:
        if was_erased(tx, key, erased):
            return
        if made[whole:]:
            keep(tx, key, made[whole:], erased)
        # Its head may have been pruned since it was read: then there is nothing to come back to.
        if mark is not None and mark != old and tx.log.find(key, [mark.at]):
            rebuild = Rebuild(
                family=family,
                budget_tokens=budget,
                at=mark.at,
                at_position=mark.at_position,
                target_tokens=mark.target_tokens,
                taken_up=mark.taken_up,
            )
            tx.rebuilds.put(key, rebuild)

    await store.write(keep_2)


class Driver:
    """Answers what the assembling needs from one snapshot of the store."""

    def __init__(
        self, tx: Transaction, key: SessionKey, head: Head, terms: ContextOptions, voice: Voice, cache: ComposedCache
    ) -> None:
        self.tx = tx
        self.key = key
        self.head = head
        self.terms = terms
        self.policy = terms.policy
        self.voice = voice
        self.cache = cache
        self._made: dict[str, Summary] = {}
        self._ahead: Ahead | None = None
        """The blocks of the path's beginning, which a context that is cut again needs once more."""
        self.shown: tuple[Summary, ...] = ()
        """The canonical summaries for which a text was looked for last."""

    @property
    def made(self) -> list[Summary]:
        """The summaries that had to be written."""
        return list(self._made.values())

    def mark(self, budget: int) -> Mark | None:
        """The mark of the last rebuild on this path."""
        last = self.tx.rebuilds.last(self.key, self.head.id, self.policy.family, budget)
        if last is None:
            return None
        return Mark(at=last.at, at_position=last.at_position, target_tokens=last.target_tokens, taken_up=last.taken_up)

    def drive(self, target: int, mark: Mark | None) -> Assembled:
        """Run the assembling to its end."""
        assembling = assemble(self.head, mark, replace(self.terms, budget=target))
        answer: Answer = None
        while True:
            try:
                need = assembling.send(answer)
            except StopIteration as stop:
                result: Assembled = stop.value
                return result
            answer = self._answer(need)

    def whole(self, shown: Sequence[ContextItem]) -> Mapping[str, Draft]:
        """The drafts with their native payloads, of the messages that are shown just as they were handed in."""
        ids = [MessageId(each.id) for each in shown if each.whole]
        found = self.tx.log.natives(self.key, ids) if ids else {}
        return dict(found.items())

    def _answer(self, need: Need) -> Answer:
        if isinstance(need, NeedPath):
            return self._path(need.first, need.last)
        if isinstance(need, NeedRow):
            return self._row(need.last)
        if isinstance(need, NeedParts):
            return self._parts(need.summary)
        if isinstance(need, NeedTexts):
            self.shown = need.summaries
            return best_texts(self.tx, self.key, need.summaries, self.terms, self.voice, need.known)
        if isinstance(need, Recall):
            return self.cache.get(self.key, self._kind, need.mark)
        if isinstance(need, Keep):
            self.cache.put(self.key, self._kind, need.mark, need.composed)
        elif isinstance(need, Made):
            self._made.update((summary.id, summary) for summary in need.summaries)
        return None

    @property
    def _kind(self) -> str:
        return f"{self.policy.family} {self.terms.thinking} {self.voice}"

    def _path(self, first: int, last: int) -> Sequence[Message]:
        return self.tx.log.path(self.key, self.head.id, first, last) if first <= last else ()

    def _row(self, last: int) -> KnownRow:
        if self._ahead is None or self._ahead.position > last + 1:
            row, position = known_blocks(self.tx, self.key, self.head, last, self.policy)
            self._ahead = Ahead(row=row, position=position)
        # Of a long path some messages at a time are held, and never all of them.
        while last - self._ahead.position >= CHUNK:
            self._ahead = grown(self.tx, self.key, self.head, self._ahead, last, self.policy)
            self._made.update((summary.id, summary) for summary in self._ahead.made)
        return KnownRow(self._ahead.row, tuple(self._path(self._ahead.position, last)))

    def _parts(self, summary: Summary) -> list[RowItem]:
        missing = [source for source in summary.sources if source not in self._made]
        known = {each.id: each for each in self.tx.summaries.get(self.key, missing)} if missing else {}
        row: list[RowItem] = []
        position = summary.first_position
        for source in summary.sources:
            child = self._made.get(source) or known[source]
            row.extend(self._path(position, child.first_position - 1))
            row.append(child)
            position = child.last_position + 1
        row.extend(self._path(position, summary.last_position))
        return row
