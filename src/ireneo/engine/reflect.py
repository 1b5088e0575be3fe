"""Look back on what happened: draw what lasts of it, and reconsider what no longer has its ground.

Each time it is one unit: read, plan, at most one question to a model outside of any transaction, check, and one
transaction. What is due follows from the episodes that were not looked back on yet, so two that reflect at once come
to the same, and the second finds it done.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.concluding import Conclusions, draw, draw_offline
from ireneo.engine.means import Means
from ireneo.engine.models import Models
from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.scope import Scope
from ireneo.engine.reconsider import STALE, reconsidered
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.errors import ModelError
from ireneo.lessons.lessons import projects_of
from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST, MemoryId, Record
from ireneo.memories.reflect import EPISODES_DUE, Conclusion, due, events
from ireneo.ports.llm import Usage
from ireneo.ports.memories import Wanted
from ireneo.ports.transition import Transaction

BATCH = 48
"""Episodes that are looked back on at one time, of many the newest: some 5,000 tokens for a model."""
COUNTED = 400
"""Episodes that were looked back on before and still count in what recurs, the newest."""
TOLD = 24
"""Conclusions that a model is told are drawn already."""
CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9
"""Of a conclusion from two events, and what more events lead to."""

_EPISODES = Wanted(kind="episodic", states=("active",), archived=False)
_UNREFLECTED = replace(_EPISODES, unreflected=True)

_LOG = logging.getLogger("ireneo")


class Reflected(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of looking back."""

    conclusions: tuple[Remembered, ...] = ()
    episodes: int = 0
    """New episodes that were looked back on."""
    refused: tuple[str, ...] = ()
    """What was not let stand, and why."""
    reconsidered: tuple[Remembered, ...] = ()
    """Conclusions whose ground had changed: those that still have enough of it, and those that were given up."""
    failed: str = ""
    """Why the model failed, whose place what recurs has taken."""
    tokens_in: int = 0
    tokens_out: int = 0


class _Read(Struct, frozen=True, kw_only=True):
    """What there is to look back on."""

    new: tuple[Record, ...]
    earlier: tuple[Record, ...]
    concluded: tuple[str, ...]


async def is_due(tx: Transaction, space: str) -> bool:
    """Whether there is reason to look back: so many new episodes, or a conclusion that has lost ground."""
    new = await tx.memories.list(space, _UNREFLECTED, EPISODES_DUE)
    return due(new) or bool(await tx.memories.list(space, STALE, 1))


async def reflect(means: Means, space: str, *, force: bool = False, models: Models | None = None) -> Reflected:
    """Look back once, where that is due; with `force` wherever there is an episode that it was not done for.

    A model that fails changes nothing: it is told, and what recurs is concluded without it. `models` are the ones to
    ask, on the account of the space's memories where none are given.
    """
    async with means.store.read() as tx:
        read = await _read(tx, space, force=force)
    drawn, failed = Conclusions(drawn=()), ""
    if read.new:
        chosen = models if models is not None else means.models_for_space(space)
        drawn, failed = await _drawn(chosen, read)
    return await _store(means, space, read, drawn, failed)


async def _read(tx: Transaction, space: str, *, force: bool) -> _Read:
    # Where many wait, the newest come first: no more is read than is looked at.
    new = list(await tx.memories.list(space, _UNREFLECTED, BATCH))
    if not (due(new) or force):
        return _Read(new=(), earlier=(), concluded=())
    # What one project shows is concluded there: the project of the newest comes first, the others with the next ones.
    project = await _first_project(tx, space, new)
    here = await _scope(tx, space, project)
    batch = sorted(await here(new), key=lambda episode: (episode.at, episode.id))
    known = await here(await tx.memories.list(space, _EPISODES, len(new) + COUNTED))
    earlier = [episode for episode in known if episode.reflected is not None][:COUNTED]
    listed = await tx.memories.list(space, Wanted(kind="semantic", states=("active",), archived=False), COUNTED)
    facts = await here(listed)
    concluded = [fact.text for fact in facts if fact.origin == "derived"][:TOLD]
    return _Read(new=tuple(batch), earlier=tuple(earlier), concluded=tuple(concluded))


async def _first_project(tx: Transaction, space: str, records: Sequence[Record]) -> str:
    """The project of the first of them that is of any: as its evidence says, or the sessions that it comes from."""
    there = await tx.sessions.projects(space, [name for each in records for name in each.sessions])
    for record in records:
        named = projects_of(record) or {there[name] for name in record.sessions if name in there}
        if named:
            return min(named)
    return ""


async def _scope(tx: Transaction, space: str, project: str) -> Callable[[Sequence[Record]], Awaitable[list[Record]]]:
    """What is left of memories without those of other projects than `project`."""
    scope = await Scope.of(tx, space, Asked(text=space or project or "all", project=project, undone=True))

    async def here(records: Sequence[Record]) -> list[Record]:
        seen = await scope.seen(records)
        return [record for record, as_seen in zip(records, seen, strict=True) if as_seen is not None]

    return here


async def _drawn(models: Models, read: _Read) -> tuple[Conclusions, str]:
    """The model's conclusions and its failure; what recurs where there is none, it failed or nothing of it stands."""
    failed, usage = "", Usage(calls=0)
    refused: tuple[str, ...] = ()
    model = models.for_task("reflect")
    if model is not None and len(events(read.new)) > 1:
        try:
            asked = await draw(model, read.new, read.concluded)
        except ModelError as error:
            _LOG.warning("%s What recurs is concluded without it.", error)
            failed = str(error)
        else:
            if asked.drawn:
                return asked, ""
            refused, usage = asked.refused, asked.usage
    new = frozenset(episode.id for episode in read.new)
    offline = draw_offline([*read.new, *read.earlier], new)
    return Conclusions(drawn=offline.drawn, refused=(*refused, *offline.refused), usage=usage), failed


async def _store(means: Means, space: str, read: _Read, drawn: Conclusions, failed: str) -> Reflected:
    """Settle what was drawn, mark its episodes, and reconsider what lost ground; nothing where another was quicker."""
    now = means.clock.now()
    known = {episode.id: episode for episode in (*read.new, *read.earlier)}
    async with means.store.write() as tx:
        again = await tx.memories.get(space, [episode.id for episode in read.new])
        stands = {episode.id for episode in await tx.memories.get(space, _cited(drawn)) if episode.holds}
        overtaken = len(again) < len(read.new) or any(episode.reflected for episode in again)
        settled: Sequence[Remembered] = ()
        if not overtaken:
            sound = [each for each in drawn.drawn if stands.issuperset(each.memories)]
            settled = await settle_offers(tx, space, [_offer(each, known, now) for each in sound])
            marked = await tx.memories.get(space, [episode.id for episode in read.new])
            await tx.memories.put(space, [replace(episode, reflected=now) for episode in marked])
        changed = await reconsidered(tx, space, now)
    return Reflected(
        conclusions=tuple(settled),
        episodes=0 if overtaken else len(read.new),
        refused=drawn.refused,
        reconsidered=tuple(changed),
        failed=failed,
        tokens_in=drawn.usage.tokens_in,
        tokens_out=drawn.usage.tokens_out,
    )


def _cited(drawn: Conclusions) -> list[MemoryId]:
    return list(dict.fromkeys(name for each in drawn.drawn for name in each.memories))


def _offer(conclusion: Conclusion, known: dict[MemoryId, Record], now: datetime) -> Offer:
    """A conclusion as what it is from then on: a memory like any other, with the episodes for its evidence."""
    cited = [known[name] for name in conclusion.memories]
    told = len(events(cited))
    times = [episode.when for episode in cited if episode.when is not None]
    return Offer(
        text=conclusion.text,
        kind=conclusion.kind,
        at=max(times, default=now),
        timed=bool(times),
        recorded=now,
        origin="derived",
        trust=TRUST["derived"],
        confidence=min(MOST_CONFIDENCE, CONFIDENCE + 0.05 * (told - 2)),
        subject=conclusion.subject,
        attribute=conclusion.attribute,
        value=conclusion.value,
        task_type=conclusion.task_type,
        name=conclusion.name,
        memories=conclusion.memories,
    )
