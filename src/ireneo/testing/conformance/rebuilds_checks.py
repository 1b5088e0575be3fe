"""The marks of rebuilds."""

from __future__ import annotations

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Rebuild, Store
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import FAMILY, KEY, SPACE, after, numbered, rebuilt, tell, tell_after

NEVER = SessionKey(SPACE, "never made")


async def put(store: Store, *rebuilds: Rebuild) -> None:
    """Store marks in a transaction of their own."""
    async with store.write() as tx:
        for rebuild in rebuilds:
            await tx.rebuilds.put(KEY, rebuild)


async def last(store: Store, to: Message, family: str = FAMILY, budget_tokens: int = 1000) -> Rebuild | None:
    """Read the mark that is furthest along the path to a message."""
    async with store.read() as tx:
        return await tx.rebuilds.last(KEY, to.id, family, budget_tokens)


@check
async def the_mark_furthest_along_the_path_counts(store: Store) -> None:
    """The last mark is the one whose edge is furthest along the path, whenever it was put, and not beyond its end."""
    m = await tell(store, numbered(12))
    expect(await last(store, m[-1]), None, "the mark before any was put")
    far, near = rebuilt(m[8]), rebuilt(m[3])
    await put(store, far, near)
    expect(await last(store, m[-1]), far, "the mark at the end")
    expect(await last(store, m[8]), far, "the mark at its edge")
    expect(await last(store, m[7]), near, "the mark before the far edge")
    expect(await last(store, m[2]), None, "the mark before both")


@check
async def marks_are_apart_by_family_and_budget(store: Store) -> None:
    """A mark counts for its own family and budget only."""
    m = await tell(store, numbered(6))
    one, two, three = rebuilt(m[2]), rebuilt(m[3], budget_tokens=2000), rebuilt(m[4], family="family-2")
    await put(store, one, two, three)
    expect(await last(store, m[-1]), one, "the first mark")
    expect(await last(store, m[-1], budget_tokens=2000), two, "the mark of another budget")
    expect(await last(store, m[-1], "family-2"), three, "the mark of another family")
    expect(await last(store, m[-1], "family-2", 2000), None, "the mark of neither")


@check
async def a_mark_is_replaced_at_its_edge(store: Store) -> None:
    """A mark at the same edge, family and budget takes the place of the one before."""
    m = await tell(store, numbered(4))
    await put(store, rebuilt(m[2], target_tokens=100), rebuilt(m[2], target_tokens=70))
    expect(await last(store, m[-1]), rebuilt(m[2], target_tokens=70), "the mark")


@check
async def a_mark_names_its_texts(store: Store) -> None:
    """A mark comes back with the summaries that it took up, in their order, and is replaced together with them."""
    m = await tell(store, numbered(4))
    names = tuple(SummaryId(f"s_{letter}") for letter in "cab")
    for texts in (names, (), names[1:]):
        mark = rebuilt(m[2], taken_up=texts)
        await put(store, mark)
        expect(await last(store, m[-1]), mark, "the mark")
    await put(store, rebuilt(m[3]))
    expect(await last(store, m[-1]), rebuilt(m[3]), "a mark without any")


@check
async def a_mark_stays_on_its_branch(store: Store) -> None:
    """A fork sees the marks of what it shares, and none of what it left."""
    m = await tell(store, numbered(10))
    fork = await tell_after(store, m[5], numbered(4, "fork"))
    shared, left = rebuilt(m[3]), rebuilt(m[8])
    await put(store, shared, left)
    expect(await last(store, fork[-1]), shared, "the mark on the fork")
    own = rebuilt(fork[1])
    await put(store, own)
    expect(await last(store, fork[-1]), own, "the fork's own mark")
    expect(await last(store, m[-1]), left, "the mark on the trunk")


@check
async def a_mark_needs_its_edge(store: Store) -> None:
    """A mark whose edge is not stored, or stands elsewhere, is refused; so is one in a session never made."""
    elsewhere = after(None, numbered(2))
    async with store.write() as tx:
        with expect_error(SessionNotFound, "a mark without a session"):
            await tx.rebuilds.put(KEY, rebuilt(elsewhere[0]))
        with expect_error(MessageNotFound, "the last mark of an unknown path"):
            await tx.rebuilds.last(KEY, elsewhere[0].id, FAMILY, 1000)
    m = await tell(store, numbered(3, "ours"))
    wrong = Rebuild(family=FAMILY, budget_tokens=1000, at=m[1].id, at_position=2, target_tokens=1)
    async with store.write() as tx:
        with expect_error(MessageNotFound, "a mark at an unknown edge"):
            await tx.rebuilds.put(KEY, rebuilt(elsewhere[0]))
        with expect_error(BadInput, "a mark with a wrong position"):
            await tx.rebuilds.put(KEY, wrong)
        expect(await tx.rebuilds.last(KEY, m[-1].id, FAMILY, 1000), None, "what is stored")


@check
async def every_mark_of_a_session_is_listed(store: Store) -> None:
    """A session's marks are listed by position, those on other paths too; a session that was never made has none."""
    m = await tell(store, numbered(6))
    fork = await tell_after(store, m[2], numbered(3, "fork"))
    near, far, aside = rebuilt(m[1]), rebuilt(m[4], budget_tokens=2000), rebuilt(fork[0], family="family-2")
    await put(store, far, aside, near)
    async with store.read() as tx:
        expect(list(await tx.rebuilds.of_session(KEY)), [near, aside, far], "the marks")
        expect(list(await tx.rebuilds.of_session(NEVER)), [], "the marks of a session that is not there")
