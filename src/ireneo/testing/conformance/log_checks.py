"""The messages of a session's tree: what is stored comes back, and is stored once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Call, Draft, Media, MessageId, Opaque, Result, Text, Thinking
from ireneo.log.tree import head_of
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import (
    KEY,
    NOWHERE,
    after,
    aside,
    numbered,
    read_path,
    say,
    tell,
    tell_after,
    with_native,
)

RICH = [
    Draft(role="system", parts=(Text(text="Answer in 中文 or 🙂.\x00"),), origin="injected"),
    Draft(
        role="user",
        parts=(
            Text(text=""),
            Media(media_type="image/png", data="aGVsbG8="),
            Media(media_type="a/b", url="u", name="n"),
        ),
        at=datetime(2025, 3, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        source_id="line-1",
    ),
    Draft(
        role="assistant",
        parts=(
            Thinking(text="hm", signature="sig"),
            Thinking(sealed="xyz"),
            Call(id="c1", name="run", arguments={"deep": {"list": [1, 2.5, None, True, "x"]}, "big": 2**60}),
            Call(id="c2", name="run", arguments="{broken", server=True),
        ),
        at=datetime(2025, 3, 1, tzinfo=UTC),
    ),
    Draft(
        role="tool",
        parts=(
            Result(call_id="c1", parts=(Text(text="out"), Media(media_type="image/png", data="eA==")), failed=True),
            Result(call_id="c2", parts=(), name="run"),
            Opaque(format="chat", payload={"type": "odd", "n": [1, {"a": None}]}),
        ),
        joined=True,
        at=datetime(2025, 3, 2),
    ),
    aside("Vera", "Only you may know.", "Tom", "the Guard"),
    Draft(role="user", parts=(Text(text="Nobody hears me.", present=()), Text(text="All do.", author="Tom"))),
    Draft(role="user", parts=(), origin="summary"),
]
"""A message of every kind, with every field that a store keeps in columns."""


@check
async def what_was_stored_comes_back(store: Store) -> None:
    """Every field of every kind of message comes back equal."""
    messages = await tell(store, RICH)
    expect(await read_path(store, messages[-1]), messages, "the path")


@check
async def a_head_is_where_the_branch_was_moved(store: Store) -> None:
    """A branch's head is the message that it was moved to, with its position and turn."""
    messages = await tell(store, numbered(5))
    async with store.read() as tx:
        expect(await tx.log.head(KEY), head_of(messages[-1]), "the head")
        expect(await tx.log.head(KEY, "other"), None, "the head of a branch that is not there")


@check
async def a_session_that_was_never_made_reads_as_empty(store: Store) -> None:
    """Reading a session that was never made finds nothing."""
    async with store.read() as tx:
        expect(await tx.log.head(KEY), None, "the head")
        expect(list(await tx.log.find(KEY, ["m_"])), [], "what is found")
        expect(dict(await tx.log.natives(KEY, [MessageId(NOWHERE)])), {}, "the natives")
        with expect_error(MessageNotFound, "a path"):
            await tx.log.path(KEY, MessageId(NOWHERE), 0, 1)


@check
async def a_session_must_be_made_before_it_is_written_to(store: Store) -> None:
    """Writing to a session that was never made raises SessionNotFound."""
    async with store.write() as tx:
        with expect_error(SessionNotFound, "an insert"):
            await tx.log.insert(KEY, after(None, say("hello")))
        with expect_error(SessionNotFound, "a move"):
            await tx.log.move(KEY, "main", None)


@check
async def a_chain_is_stored_once(store: Store) -> None:
    """A chain that is offered again is left as it is, and none of it counts as new."""
    messages = await tell(store, numbered(7))
    async with store.write() as tx:
        expect(await tx.log.insert(KEY, messages), 0, "new the second time")
        expect(await tx.log.insert(KEY, messages[2:5]), 0, "new of a part of it")
        expect(await tx.log.insert(KEY, []), 0, "new of nothing")
    expect(await read_path(store, messages[-1]), messages, "the path")


@check
async def a_chain_that_has_grown_adds_what_is_new(store: Store) -> None:
    """Of a chain whose beginning is stored, only the rest is new."""
    messages = after(None, numbered(60))
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        for size in (1, 2, 5, 30, 31, 60):
            before = len(await tx.log.find(KEY, ["m_"]))
            expect(await tx.log.insert(KEY, messages[:size]), size - before, f"new of the first {size}")
    expect(await read_path(store, messages[-1]), messages, "the path")


@check
async def a_chain_that_branches_off_shares_its_beginning(store: Store) -> None:
    """A chain that leaves a stored one in the middle adds only its own end, and both can be read."""
    old = await tell(store, numbered(9))
    new = old[:4] + after(old[3], numbered(6, "other"))
    async with store.write() as tx:
        expect(await tx.log.insert(KEY, new), 6, "new")
        expect(await tx.log.insert(KEY, new), 0, "new the second time")
    expect(await read_path(store, new[-1]), new, "the new path")
    expect(await read_path(store, old[-1]), old, "the old path")


@check
async def a_chain_may_begin_anywhere(store: Store) -> None:
    """A chain may begin behind any stored message, whether or not something follows that already."""
    trunk = await tell(store, numbered(6))
    for parent in (trunk[5], trunk[0], trunk[3], trunk[3]):
        branch = await tell_after(store, parent, numbered(3, f"behind {parent.position}"))
        expect(await read_path(store, branch[-1]), trunk[: parent.position + 1] + branch, "the path")


@check
async def a_session_may_have_several_roots(store: Store) -> None:
    """Another first message makes another tree in the same session."""
    one = await tell_after(store, None, numbered(3, "one"))
    two = await tell_after(store, None, numbered(4, "two"))
    expect(await read_path(store, one[-1]), one, "the first path")
    expect(await read_path(store, two[-1]), two, "the second path")


@check
async def a_parent_must_be_stored(store: Store) -> None:
    """A chain behind a message that is not stored raises MessageNotFound and leaves nothing."""
    missing = after(None, numbered(2))
    orphans = after(missing[-1], numbered(2, "orphan"))
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        with expect_error(MessageNotFound, "the insert"):
            await tx.log.insert(KEY, orphans)
    async with store.read() as tx:
        expect(list(await tx.log.find(KEY, ["m_"])), [], "what is stored")


@check
async def a_chain_must_be_one(store: Store) -> None:
    """Messages that don't follow each other raise BadInput and leave nothing."""
    messages = after(None, numbered(4))
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        for broken in ([messages[0], messages[2]], messages[::-1], [messages[0], messages[0]]):
            with expect_error(BadInput, "the insert"):
                await tx.log.insert(KEY, broken)
        expect(list(await tx.log.find(KEY, ["m_"])), [], "what is stored")


@check
async def many_messages_are_stored_at_once(store: Store) -> None:
    """A chain of 3,000 messages is stored in one call and read back in order."""
    messages = await tell(store, numbered(3000))
    expect(await read_path(store, messages[-1]), messages, "the path")


@check
async def payloads_come_back_equal(store: Store) -> None:
    """A provider's payload and a log's record come back equal as JSON, whatever they hold."""
    odd = {"unknown": [1, 2.5, None, True], "text": "\ud83d alone, 🙂, \x00", "big": 2**80, "": {"data": "aGk=" * 500}}
    drafts = [
        with_native(say("one")[0], odd, record={"uuid": "u", "nested": [odd]}),
        with_native(say("two")[0], ["a", "list"]),
        with_native(say("three")[0], None),
        *say("four"),
    ]
    messages = await tell(store, drafts)
    async with store.read() as tx:
        found = await tx.log.natives(KEY, [*(message.id for message in messages), MessageId(NOWHERE)])
    expect(dict(found), dict(zip((message.id for message in messages), drafts, strict=True)), "the drafts")


@check
async def payloads_stay_as_they_were(store: Store) -> None:
    """A payload that the caller changes after the append, or after a read, stays as it was."""
    payload: dict[str, object] = {"content": "first"}
    (message,) = await tell(store, [with_native(say("hi")[0], payload)])
    payload["content"] = "second"
    for _ in range(2):
        async with store.read() as tx:
            native = (await tx.log.natives(KEY, [message.id]))[message.id].native
        read = native.payload if native else None
        expect(read, {"content": "first"}, "the payload")
        if isinstance(read, dict):
            read["content"] = "third"


@check
async def payloads_are_not_read_on_the_way(store: Store) -> None:
    """Paths and finds bring neither payloads nor records."""
    (message,) = await tell(store, [with_native(say("hi")[0], {"a": 1}, record={"b": 2})])
    async with store.read() as tx:
        found = [*await tx.log.path(KEY, message.id, 0, 0), *await tx.log.find(KEY, [message.id])]
    expect([(each.draft.native, each.draft.record) for each in found], [(None, None)] * 2, "the payloads")


@check
async def a_payload_must_be_json(store: Store) -> None:
    """A payload that is no JSON raises BadInput, and nothing of its chain is stored."""
    drafts = [*say("one"), with_native(say("two")[0], {"a": {1, 2}})]
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        with expect_error(BadInput, "the insert"):
            await tx.log.insert(KEY, after(None, drafts))
        expect(list(await tx.log.find(KEY, ["m_"])), [], "what is stored")


@check
async def a_message_stays_as_it_was_first_stored(store: Store) -> None:
    """The same content offered with another payload, time or source id leaves the first as it is."""
    (first,) = await tell(store, [with_native(say("hi")[0], {"version": 1})])
    other = Draft(role="user", parts=first.parts, source_id="other", at=datetime(2025, 1, 1, tzinfo=UTC))
    async with store.write() as tx:
        expect(await tx.log.insert(KEY, after(None, [other])), 0, "new")
        found = (await tx.log.natives(KEY, [first.id]))[first.id]
    expect(found, first.draft, "the draft")
