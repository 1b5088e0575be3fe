"""The sessions of a space, what a list says of them, and their branches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ireneo.errors import SessionNotFound
from ireneo.log.message import Draft, Text
from ireneo.log.tree import SessionKey, head_of
from ireneo.ports.store import SessionInfo, Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import KEY, SPACE, numbered, say, tell, tell_after

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


@check
async def a_session_is_made_once(store: Store) -> None:
    """Making a session says whether it was made, and a second time changes nothing."""
    async with store.write() as tx:
        expect(await tx.sessions.create(KEY, "first.jsonl"), True, "made the first time")
        expect(await tx.sessions.create(KEY, "second.jsonl"), False, "made the second time")
    async with store.read() as tx:
        found = await tx.sessions.list(SPACE)
    empty = SessionInfo(key=KEY, source="first.jsonl", messages=0, tokens=0, first_at=None, last_at=None)
    expect(list(found), [empty], "the list")


@check
async def a_source_is_told_once(store: Store) -> None:
    """A session that was made without a source takes the first that is told later, and keeps it."""
    for source in (None, "anthropic", None, "openai"):
        async with store.write() as tx:
            await tx.sessions.create(KEY, source)
    async with store.read() as tx:
        found = await tx.sessions.get(KEY)
    expect(found.source if found else None, "anthropic", "the source")


@check
async def one_session_is_told_as_the_list_tells_it(store: Store) -> None:
    """A session by its name is what the list says of it; one that was never made, or of another space, is None."""
    await tell(store, numbered(3))
    async with store.read() as tx:
        expect(await tx.sessions.get(KEY), (await tx.sessions.list(SPACE))[0], "the session")
        expect(await tx.sessions.get(SessionKey(SPACE, "never")), None, "a session never made")
        expect(await tx.sessions.get(SessionKey("elsewhere", KEY.session)), None, "the session in another space")


@check
async def a_list_counts_all_branches(store: Store) -> None:
    """A session's messages and tokens are those of all its branches together, each counted once."""
    trunk = await tell(store, numbered(6))
    branch = await tell_after(store, trunk[2], numbered(3, "other"))
    await tell_after(store, trunk[2], numbered(3, "other"))
    async with store.read() as tx:
        (info,) = await tx.sessions.list(SPACE)
    expect(info.messages, 9, "the messages")
    expect(info.tokens, sum(message.tokens for message in trunk + branch), "the tokens")


@check
async def a_list_tells_the_times(store: Store) -> None:
    """A session lies between the earliest and the latest time of its messages, in whatever order they came."""
    times = [None, NOON, NOON - timedelta(hours=2), None, NOON + timedelta(hours=1), NOON]
    for number, at in enumerate(times):
        await tell(store, [Draft(role="user", parts=(Text(text=str(number)),), at=at)])
    async with store.read() as tx:
        (info,) = await tx.sessions.list(SPACE)
    expect((info.first_at, info.last_at), (NOON - timedelta(hours=2), NOON + timedelta(hours=1)), "the times")


@check
async def the_session_appended_to_last_stands_first(store: Store) -> None:
    """Sessions are listed by their last append; one that brings nothing new doesn't count as an append."""
    keys = [SessionKey(SPACE, name) for name in "abc"]
    for key in keys:
        await tell(store, say("one"), key)
    await tell(store, say("two"), keys[1])
    async with store.write() as tx:
        first = await tx.log.find(keys[0], ["m_"])
        await tx.log.insert(keys[0], first)
        await tx.sessions.create(keys[0], None)
    async with store.read() as tx:
        found = [info.key for info in await tx.sessions.list(SPACE)]
        expect(list(await tx.sessions.list("empty space")), [], "the list of an empty space")
    expect(found, [keys[1], keys[2], keys[0]], "the order")


@check
async def branches_are_listed_by_name(store: Store) -> None:
    """Every branch that was ever moved is listed with its head, one before the first message with none."""
    messages = await tell(store, numbered(4))
    async with store.write() as tx:
        await tx.log.move(KEY, "try", messages[1].id)
        await tx.log.move(KEY, "blank", None)
        wanted = {"main": head_of(messages[-1]), "try": head_of(messages[1]), "blank": None}
        expect(dict(await tx.sessions.branches(KEY)), wanted, "the branches")


@check
async def branches_need_a_session(store: Store) -> None:
    """Asking for the branches of a session that was never made raises SessionNotFound."""
    async with store.read() as tx:
        with expect_error(SessionNotFound, "the branches"):
            await tx.sessions.branches(KEY)
