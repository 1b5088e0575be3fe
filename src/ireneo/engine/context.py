"""The context of a session: drive the assembling over a store, and keep what it made."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.context.assemble import assemble
from ireneo.context.compose import Composed
from ireneo.context.forest import RowItem
from ireneo.context.needs import (
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
)
from ireneo.context.statements import Statements
from ireneo.context.summary import Summary
from ireneo.context.terms import Terms
from ireneo.context.view import Shown
from ireneo.context.weigh import Count, Recount
from ireneo.engine.ahead import CHUNK, Ahead, grown
from ireneo.engine.compact import Aim, check_budget
from ireneo.engine.encode import Context, encode, make_context, measure
from ireneo.engine.keep import keep, was_erased
from ireneo.engine.known import known_blocks
from ireneo.engine.padding import Padding, room_for
from ireneo.engine.texts import best_texts
from ireneo.errors import ReadOnlyStore
from ireneo.formats.chat.format import ChatFormat
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Draft, Message, MessageId
from ireneo.ports.store import Rebuild, Store
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice

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


async def context(
    store: Store,
    key: SessionKey,
    branch: str,
    chat: ChatFormat,
    terms: Terms,
    voice: Voice,
    cached: Cached,
) -> Context:
    """Cut the path to the branch's head to a budget; never calls a model, and shows the best there is now.

    What had to be summarised on the way, and the mark of a rebuild, are stored, so that the next context goes on
    from there. The notes along the path are read here; those of `terms` are not heeded.
    """
    budget, count, pads = terms.budget, terms.count, cached.pads
    check_budget(budget)
    async with store.read() as tx:
        head = await tx.log.head(key, branch)
        if head is None:
            return make_context(budget, 0, chat, chat.encode(()), (), count)
        erased = await tx.erasure.count(key)
        cached.renew(erased)
        cached.recount.turn()
        notes = tuple(await tx.annotations.on_path(key, head.id))
        terms = replace(terms, notes=notes, thinking=terms.ruled(chat.thinking), kept=cached.statements)
        driver = Driver(tx, key, head, terms, voice, cached.composed)
        mark = await driver.mark(budget)
        pad = await pads.shown(tx, key.space, budget, count)
        aim = Aim(budget - room_for(pad, terms))
        while True:
            assembled = await driver.drive(aim.target, mark)
            shown = pads.put(assembled.composed.shown, None if aim.least else pad, head, terms)
            whole = await driver.whole(shown)
            payload = encode(shown, whole, chat, terms.thinking)
            measured = measure(payload, chat, cached.recount)
            over = measured.heeded - budget
            if over <= 0 or aim.least:
                break
            aim.narrow(assembled.composed.tokens, over)
        before = head.total_tokens
    unkept = ""
    try:
        await _keep(store, key, terms.policy.family, budget, driver.made, assembled.mark, mark, erased)
    except ReadOnlyStore as error:
        # It serves as it is; the next one is made anew.
        unkept = str(error)
    made = make_context(budget, before, chat, payload, shown, count, whole=whole, measured=measured)
    return replace(made, explained=assembled.why, unkept=unkept)


async def keep_made(store: Store, key: SessionKey, made: Sequence[Summary], erased: int) -> None:
    """Store summaries that were written on the way, from a session of which so many messages were erased.

    Some at a time, so that no other writer waits for long: each stands after those that it was written from.
    """
    for place in range(0, len(made), KEPT_TOGETHER):
        async with store.write() as tx:
            await keep(tx, key, made[place : place + KEPT_TOGETHER], erased)


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
    async with store.write() as tx:
        if await was_erased(tx, key, erased):
            return
        if made[whole:]:
            await keep(tx, key, made[whole:], erased)
        # Its head may have been pruned since it was read: then there is nothing to come back to.
        if mark is not None and mark != old and await tx.log.find(key, [mark.at]):
            rebuild = Rebuild(
                family=family,
                budget_tokens=budget,
                at=mark.at,
                at_position=mark.at_position,
                target_tokens=mark.target_tokens,
                taken_up=mark.taken_up,
            )
            await tx.rebuilds.put(key, rebuild)


class Driver:
    """Answers what the assembling needs from one snapshot of the store."""

    def __init__(
        self, tx: Transaction, key: SessionKey, head: Head, terms: Terms, voice: Voice, cache: ComposedCache
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

    async def mark(self, budget: int) -> Mark | None:
        """The mark of the last rebuild on this path."""
        last = await self.tx.rebuilds.last(self.key, self.head.id, self.policy.family, budget)
        if last is None:
            return None
        return Mark(at=last.at, at_position=last.at_position, target_tokens=last.target_tokens, taken_up=last.taken_up)

    async def drive(self, target: int, mark: Mark | None) -> Assembled:
        """Run the assembling to its end."""
        assembling = assemble(self.head, mark, replace(self.terms, budget=target))
        answer: Answer = None
        while True:
            try:
                need = assembling.send(answer)
            except StopIteration as stop:
                result: Assembled = stop.value
                return result
            answer = await self._answer(need)

    async def whole(self, shown: Sequence[Shown]) -> Mapping[str, Draft]:
        """The drafts with their native payloads, of the messages that are shown just as they were handed in."""
        ids = [MessageId(each.id) for each in shown if each.whole]
        found = await self.tx.log.natives(self.key, ids) if ids else {}
        return dict(found.items())

    async def _answer(self, need: Need) -> Answer:
        if isinstance(need, NeedPath):
            return await self._path(need.first, need.last)
        if isinstance(need, NeedRow):
            return await self._row(need.last)
        if isinstance(need, NeedParts):
            return await self._parts(need.summary)
        if isinstance(need, NeedTexts):
            self.shown = need.summaries
            return await best_texts(self.tx, self.key, need.summaries, self.terms, self.voice, need.known)
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

    async def _path(self, first: int, last: int) -> Sequence[Message]:
        return await self.tx.log.path(self.key, self.head.id, first, last) if first <= last else ()

    async def _row(self, last: int) -> KnownRow:
        if self._ahead is None or self._ahead.position > last + 1:
            row, position = await known_blocks(self.tx, self.key, self.head, last, self.policy)
            self._ahead = Ahead(row=row, position=position)
        # Of a long path some messages at a time are held, and never all of them.
        while last - self._ahead.position >= CHUNK:
            self._ahead = await grown(self.tx, self.key, self.head, self._ahead, last, self.policy)
            self._made.update((summary.id, summary) for summary in self._ahead.made)
        return KnownRow(self._ahead.row, tuple(await self._path(self._ahead.position, last)))

    async def _parts(self, summary: Summary) -> list[RowItem]:
        missing = [source for source in summary.sources if source not in self._made]
        known = {each.id: each for each in await self.tx.summaries.get(self.key, missing)} if missing else {}
        row: list[RowItem] = []
        position = summary.first_position
        for source in summary.sources:
            child = self._made.get(source) or known[source]
            row.extend(await self._path(position, child.first_position - 1))
            row.append(child)
            position = child.last_position + 1
        row.extend(await self._path(position, summary.last_position))
        return row
