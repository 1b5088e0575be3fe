"""What is promised of a story's context, as functions that fail where it doesn't hold."""

from __future__ import annotations

from collections.abc import Sequence

from tests.progress import progress_of
from tests.property.invariants.houses import memory_over
from tests.property.invariants.promises import bounded, strings, valid

from ireneo import Context, Draft, Message, Policy, Session
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction

from .material import MARK, TINY_STORY, heard, marks

PASSING = ("/open", "/whole")


def seen(context: Context) -> set[str]:
    """The marks that stand anywhere in a context: what a model reads, its view, its pins."""
    words = [*strings([context.system, context.messages]), *(row.text for row in (*context.view, *context.pins))]
    return set(MARK.findall(" ".join(words)))


def shape(context: Context) -> list[tuple[str, str, str, int, int]]:
    """What stands for what."""
    return [(row.what, row.first, row.last, row.covers, row.depth) for row in context.view]


def each_stands_once(context: Context, path: Sequence[Message]) -> None:
    """Every message of the path stands in one row, in order; what waits says so."""
    places: dict[str, int] = {message.id: message.position for message in path}
    expected = 0
    for row in context.view:
        assert row.first in places, f"{row.what} {row.id} stands for what is not on the path"
        assert places[row.first] == expected, f"{row.id} begins at {places[row.first]}, where {expected} was due"
        assert row.covers == places[row.last] - places[row.first] + 1
        assert row.what in ("summary", "waiting") or row.covers == 1
        expected = places[row.last] + 1
    assert expected == len(path), f"the view ends at {expected} of {len(path)}"
    assert context.behind >= sum(row.covers for row in context.view if row.what == "waiting")


def each_heard_stands_once(context: Context, path: Sequence[Message], character: str) -> None:
    """The same of a character's context: rows never overlap, and what lies between them she did not hear."""
    places: dict[str, int] = {message.id: message.position for message in path}
    unheard = [not heard([message], character) for message in path]
    expected = 0
    for row in context.view:
        assert places[row.first] >= expected
        assert all(unheard[expected : places[row.first]])
        assert row.covers == places[row.last] - places[row.first] + 1
        expected = places[row.last] + 1
    assert all(unheard[expected:])


def sound(context: Context, path: Sequence[Message], budget: int, character: str = "") -> None:
    """All that holds of any context of a story."""
    valid(context)
    bounded(context, budget)
    if character:
        each_heard_stands_once(context, path, character)
        assert seen(context) <= heard(path, character)
    else:
        each_stands_once(context, path)
        assert seen(context) <= marks(message.draft for message in path)


async def caught_up(session: Session, policy: Policy, most: int = 60) -> int:
    """Make all summaries that need no model; says how many there were. It ends."""
    made = 0
    for worked in await progress_of(session.catch_up, preset=policy):
        made += worked.summaries
        most -= 1
        assert most > 0, "catching up never ends"
    return made


async def stored_once(store: Store, key: SessionKey) -> None:
    """No stretch has two summaries of one summarizer."""
    found = await store.read(lambda tx: tx.summaries.get(key, tx.upkeep.summaries(key)))
    lasting = [(each.summarizer, each.first, each.last) for each in found if not each.summarizer.endswith(PASSING)]
    assert len(lasting) == len(set(lasting))


async def twin_context(drafts: Sequence[Draft], budget: int, to: str, policy: Policy = TINY_STORY) -> Context:
    """What a session shows that was fed the same path and nothing else, once it has caught up."""
    from ireneo.adapters.in_memory import InMemoryStore

    session = await memory_over(InMemoryStore()).session("run")
    await session.append(list(drafts))
    await caught_up(session, policy)
    return await session.context(budget, to=to, preset=policy)


async def goes_as_undisturbed(store: Store, session: Session, drafts: Sequence[Draft]) -> None:
    """What is stored along the path is what a session has that was fed it and nothing else, and no model.

    How much of it a context shows depends on what models told of it; what there is to be shown doesn't.
    """
    from ireneo.adapters.in_memory import InMemoryStore

    twin_store = InMemoryStore()
    twin = await memory_over(twin_store).session("run")
    await twin.append(list(drafts))
    await caught_up(twin, TINY_STORY)
    rows = [await _row(store, session), await _row(twin_store, twin)]
    assert rows[0] == rows[1]


async def _row(store: Store, session: Session) -> list[str]:
    def read(tx: Transaction) -> list[str]:
        head = tx.log.head(session.key, session.branch)
        assert head is not None
        return [each.id for each in tx.summaries.frontier(session.key, head.id, TINY_STORY.summarizer)]

    return await store.read(read)
