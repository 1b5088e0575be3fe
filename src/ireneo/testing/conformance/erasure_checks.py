"""Erasure: what was said goes for good, the place where it was said stays, and whole sessions and spaces go."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Draft, Message, Text
from ireneo.log.redaction import ERASED, erase
from ireneo.log.tree import SessionKey, head_of
from ireneo.memories.recall.words import terms
from ireneo.ports.store import Spent, Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import (
    DAY,
    FAMILY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    append,
    aside,
    noted,
    numbered,
    read_path,
    rebuilt,
    summarise,
    tell,
    tell_after,
    with_native,
)

OTHER = SessionKey(SPACE, "other")
ELSEWHERE = SessionKey("elsewhere", KEY.session)


async def erase_one(store: Store, message: Message) -> None:
    """Erase a message in a transaction of its own."""
    async with store.write() as tx:
        await tx.erasure.begin()
        expect(await tx.erasure.messages(KEY, [erase(message)]), 1, "how many were erased")


def named(draft: Draft) -> Draft:
    """`draft` with all that a log may know of it."""
    return replace(with_native(draft, {"n": 1}, {"who": "someone"}), source_id="log-1", at=NOON)


@check
async def an_erased_message_leaves_its_place(store: Store) -> None:
    """Its id, position, turn, tokens and time stay; its parts are the marker, and nothing else is left of it."""
    m = await tell(store, [*numbered(2), named(numbered(1, "secret")[0]), *numbered(3, "later")])
    await erase_one(store, m[2])
    path = await read_path(store, m[5])
    expect([each.id for each in path], [each.id for each in m], "the ids on the path")
    expect([each.erased for each in path], [False, False, True, False, False, False], "which are erased")
    left = path[2]
    expect((left.position, left.turn, left.role, left.draft.at), (2, m[2].turn, m[2].role, NOON), "its place")
    expect((left.tokens, left.total_tokens), (m[2].tokens, m[2].total_tokens), "what it was counted with")
    expect((left.text, left.draft.source_id), (ERASED, None), "what is left of it")
    async with store.read() as tx:
        whole = (await tx.log.natives(KEY, [m[2].id]))[m[2].id]
        expect((whole.native, whole.record), (None, None), "its payload and its record")
        expect(list(await tx.log.find(KEY, ["log-1"])), [], "what its source id finds")
        expect([each.erased for each in await tx.log.find(KEY, [m[2].id])], [True], "what its id finds")
        expect(list(await tx.upkeep.faults()), [], "the faults")


@check
async def an_erased_message_does_not_come_back(store: Store) -> None:
    """Stored again, it stays erased, its payload too, and what is new behind it is stored."""
    drafts = [named(draft) for draft in numbered(4)]
    m = await tell(store, drafts)
    await erase_one(store, m[1])
    more = await tell_after(store, None, [*drafts, *numbered(2, "more")])
    path = await read_path(store, more[-1])
    expect([each.text == ERASED for each in path], [False, True, False, False, False, False], "which are erased")
    async with store.read() as tx:
        whole = (await tx.log.natives(KEY, [m[1].id]))[m[1].id]
        expect((whole.native, whole.record, whole.source_id), (None, None, None), "what came back")
        expect(list(await tx.upkeep.faults()), [], "the faults")


@check
async def what_is_erased_is_not_found_by_its_words(store: Store) -> None:
    """Neither its words nor its author find an erased message, a session or a space that went; others are found."""
    m = await tell(store, [*numbered(2), aside("Ysolde", "the marmalade is hidden"), *numbered(1, "marmalade")])
    await tell(store, numbered(2, "marmalade"), OTHER)
    term = terms("marmalade")[0]
    async with store.read() as tx:
        before = await tx.search.size(SPACE, "messages")
        expect((await tx.search.count(SPACE, "messages", [term]))[term], 4, "how many have the word at first")
    await erase_one(store, m[2])
    async with store.read() as tx:
        expect(
            (await tx.search.size(SPACE, "messages")).documents, before.documents - 1, "how many documents there are"
        )
        expect((await tx.search.count(SPACE, "messages", [term]))[term], 3, "how many have the word")
        expect(list(await tx.search.authors(SPACE)), [], "the authors")
    async with store.write() as tx:
        await tx.erasure.begin()
        await tx.erasure.session(KEY)
    async with store.read() as tx:
        expect((await tx.search.count(SPACE, "messages", [term]))[term], 2, "how many have it without the session")
    async with store.write() as tx:
        await tx.erasure.begin()
        await tx.erasure.space(SPACE)
    async with store.read() as tx:
        expect((await tx.search.size(SPACE, "messages")).documents, 0, "how many documents are left")
        expect((await tx.search.count(SPACE, "messages", [term]))[term], 0, "how many have it without the space")


@check
async def what_is_erased_has_no_vector(store: Store) -> None:
    """The vector of an erased message and those of a space that went are gone; whoever read them before learns it."""
    m = await tell(store, numbered(3, "marmalade"))
    term = terms("marmalade")[0]
    async with store.write() as tx:
        documents = list((await tx.search.postings(SPACE, "messages", [term]))[term])
        await tx.vectors.put(SPACE, "messages", "e", {each: bytes([each % 100] * 8) for each in documents})
        first = await tx.vectors.since(SPACE, "messages", "e", 0)
        expect(sorted(first.added), sorted(documents), "the vectors at first")
    await erase_one(store, m[1])
    async with store.write() as tx:
        then = await tx.vectors.since(SPACE, "messages", "e", first.change)
        expect(list(then.removed), [documents[1]], "the vectors that went")
        expect(list(await tx.vectors.due(SPACE, "messages", "e", 10)), [], "the vectors that are due")
        await tx.erasure.begin()
        await tx.erasure.space(SPACE)
        last = await tx.vectors.since(SPACE, "messages", "e", then.change)
        expect(last.whole or sorted(last.removed) == sorted([documents[0], documents[2]]), True, "what went with all")
        expect(list(last.added), [], "the vectors left")


@check
async def the_erased_messages_are_counted(store: Store) -> None:
    """A session knows how many of its messages were erased; one that is erased twice counts once."""
    m = await tell(store, numbered(5))
    async with store.read() as tx:
        expect(await tx.erasure.count(KEY), 0, "how many were erased at first")
        expect(await tx.erasure.count(OTHER), 0, "how many in a session that was never made")
    for message in (m[1], m[3], m[1]):
        await erase_one(store, message)
    async with store.read() as tx:
        expect(await tx.erasure.count(KEY), 2, "how many were erased")


@check
async def only_what_is_marked_as_erased_is_taken(store: Store) -> None:
    """A message that is not marked, one that is not stored and a session that was never made are refused."""
    m = await tell(store, numbered(3))
    strange = replace(erase(m[0]), id="m_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    async with store.write() as tx:
        await tx.erasure.begin()
        with expect_error(BadInput, "an unmarked message"):
            await tx.erasure.messages(KEY, [erase(m[0]), m[1]])
        with expect_error(MessageNotFound, "a strange message"):
            await tx.erasure.messages(KEY, [erase(m[0]), strange])
        with expect_error(SessionNotFound, "a strange session"):
            await tx.erasure.messages(OTHER, [erase(m[0])])
    expect([each.erased for each in await read_path(store, m[2])], [False] * 3, "which are erased")


@check
async def notes_and_marks_are_taken_out(store: Store) -> None:
    """The annotations and marks that are named go, and no others; those that are not there count for nothing."""
    m = await tell(store, numbered(4))
    fork = await tell_after(store, m[1], numbered(1, "fork"))
    pins = [noted(m[1], "first"), noted(m[2], "second"), noted(m[3], "third")]
    marks = [rebuilt(m[2]), rebuilt(fork[0]), rebuilt(m[2], budget_tokens=99)]
    async with store.write() as tx:
        await tx.annotations.put(KEY, pins)
        for mark in marks:
            await tx.rebuilds.put(KEY, mark)
        await tx.erasure.begin()
        gone = [pins[0].id, pins[2].id, noted(m[0], "never made").id]
        expect(await tx.erasure.notes(KEY, gone, marks[:2]), 4, "how many there were")
        expect(await tx.erasure.notes(KEY, gone, marks[:2]), 0, "how many there were the second time")
    async with store.read() as tx:
        expect(list(await tx.annotations.on_path(KEY, m[3].id)), [pins[1]], "the annotations left")
        expect(list(await tx.rebuilds.of_session(KEY)), [marks[2]], "the marks left")


@check
async def a_session_goes_whole(store: Store) -> None:
    """Its tree, branches, summaries, marks, notes and leases go; another session and another space keep theirs."""
    for key in (KEY, OTHER, ELSEWHERE):
        m = await tell(store, [with_native(draft, {"n": 1}) for draft in numbered(5)], key)
        async with store.write() as tx:
            await tx.log.move(key, "fork", m[2].id)
            await tx.summaries.put(key, [summarise(m[0], m[2])])
            await tx.rebuilds.put(key, rebuilt(m[3]))
            await tx.annotations.put(key, [noted(m[3], "note")])
            await tx.leases.take(key, "work", "one", NOON, NOON + MINUTE)
    async with store.write() as tx:
        await tx.erasure.begin()
        expect(await tx.erasure.session(KEY), True, "whether it was there")
        expect(await tx.erasure.session(KEY), False, "whether it was there the second time")
    async with store.read() as tx:
        expect([info.key for info in await tx.sessions.list(SPACE)], [OTHER], "the sessions left")
        expect(await tx.log.head(KEY), None, "its head")
        expect(list(await tx.log.find(KEY, ["m_"])), [], "its messages")
        expect(list(await tx.upkeep.summaries(KEY)), [], "its summaries")
        expect(list(await tx.rebuilds.of_session(KEY)), [], "its marks")
        expect(list(await tx.leases.of_session(KEY)), [], "its leases")
        for key in (OTHER, ELSEWHERE):
            head = await tx.log.head(key)
            expect(head, head_of(m[4]), "the head of another")
            expect(len(await tx.summaries.frontier(key, m[4].id, FAMILY)), 1, "the summaries of another")
        expect(list(await tx.upkeep.faults()), [], "the faults")


@check
async def a_session_that_went_can_begin_anew(store: Store) -> None:
    """The same name and the same words may be stored again, and nothing of the former session hangs on them."""
    m = await tell(store, numbered(4))
    async with store.write() as tx:
        await tx.summaries.put(KEY, [summarise(m[0], m[2])])
        await tx.annotations.put(KEY, [noted(m[2], "note")])
        await tx.erasure.begin()
        await tx.erasure.session(KEY)
        again = await append(tx, KEY, numbered(4))
        expect([each.id for each in again], [each.id for each in m], "the ids")
        expect(list(await tx.summaries.frontier(KEY, m[3].id, FAMILY)), [], "the summaries")
        expect(list(await tx.annotations.on_path(KEY, m[3].id)), [], "the annotations")


@check
async def what_a_session_spent_counts_on_without_its_name(store: Store) -> None:
    """The day's sum of the space stays; no sum is left under the name of the session."""
    async with store.write() as tx:
        await append(tx, KEY, numbered(2))
        await tx.spending.add(KEY, DAY, Spent(calls=2, tokens=30))
        await tx.spending.add(OTHER, DAY, Spent(calls=1, tokens=5))
        await tx.erasure.begin()
        for key in (KEY, OTHER):
            await tx.erasure.session(key)
    async with store.read() as tx:
        expect(await tx.spending.of_session(KEY), Spent(), "what is left under its name")
        expect(await tx.spending.of_session(OTHER), Spent(), "what is left under that of one that was never made")
        expect(await tx.spending.of_day(SPACE, DAY), Spent(calls=3, tokens=35), "the sum of the day")


@check
async def a_space_goes_whole(store: Store) -> None:
    """Every session of it goes, and what was spent; another space keeps its own."""
    for key in (KEY, OTHER, ELSEWHERE):
        await tell(store, numbered(3), key)
        async with store.write() as tx:
            await tx.spending.add(key, DAY, Spent(calls=1, tokens=5))
    async with store.write() as tx:
        await tx.erasure.begin()
        expect(await tx.erasure.space(SPACE), 2, "how many sessions it had")
    async with store.read() as tx:
        expect(list(await tx.sessions.list(SPACE)), [], "its sessions")
        expect(await tx.spending.of_day(SPACE, DAY), Spent(), "what it spent")
        expect([info.key for info in await tx.sessions.list("elsewhere")], [ELSEWHERE], "those of another")
        expect(await tx.spending.of_day("elsewhere", DAY), Spent(calls=1, tokens=5), "what another spent")
        expect(list(await tx.upkeep.faults()), [], "the faults")


@check
async def a_scrub_completes_an_erasure(store: Store) -> None:
    """After an erasure a scrub is complete, and then nothing is left to do; what is stored stays as it is."""
    m = await tell(store, [*numbered(3), Draft(role="user", parts=(Text(text="secret"),))])
    await erase_one(store, m[3])
    expect((await store.scrub()).complete, True, "whether the scrub is complete")
    expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")
    expect([each.text for each in await read_path(store, m[3])], [*(each.text for each in m[:3]), ERASED], "the texts")


@check
async def an_erasure_that_is_broken_off_changes_nothing(store: Store) -> None:
    """A transaction that raises leaves the message as it was, and nothing to scrub."""
    m = await tell(store, numbered(3))
    with suppress(_BrokenOffError):
        async with store.write() as tx:
            await tx.erasure.begin()
            await tx.erasure.messages(KEY, [erase(m[1])])
            await tx.erasure.session(KEY)
            raise _BrokenOffError
    expect(await read_path(store, m[2]), m, "the messages")
    expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")


class _BrokenOffError(Exception):
    """The work was broken off."""
