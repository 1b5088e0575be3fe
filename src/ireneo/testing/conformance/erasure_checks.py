"""Erasure: what was said goes for good, the place where it was said stays, and whole sessions and spaces go."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Draft, Message, Text
from ireneo.log.redaction import ERASED, erase
from ireneo.log.tree import SessionKey, head_of
from ireneo.memories.recall.words import terms
from ireneo.ports.search import Size
from ireneo.ports.store import Spent, Store, Transaction
from ireneo.ports.vectors import VectorChanges
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


def erase_one(tx: Transaction, message: Message) -> None:
    """Erase a message in a transaction of its own."""
    tx.erasure.begin()
    expect(tx.erasure.messages(KEY, [erase(message)]), 1, "how many were erased")


def named(draft: Draft) -> Draft:
    """`draft` with all that a log may know of it."""
    return replace(with_native(draft, {"n": 1}, {"who": "someone"}), source_id="log-1", at=NOON)


@check
async def an_erased_message_leaves_its_place(store: Store) -> None:
    """Its id, position, turn, tokens and time stay; its parts are the marker, and nothing else is left of it."""
    m = await tell(store, [*numbered(2), named(numbered(1, "secret")[0]), *numbered(3, "later")])
    await store.write(erase_one, m[2])
    path = await read_path(store, m[5])
    expect([each.id for each in path], [each.id for each in m], "the ids on the path")
    expect([each.erased for each in path], [False, False, True, False, False, False], "which are erased")
    left = path[2]
    expect((left.position, left.turn, left.role, left.draft.at), (2, m[2].turn, m[2].role, NOON), "its place")
    expect((left.tokens, left.total_tokens), (m[2].tokens, m[2].total_tokens), "what it was counted with")
    expect((left.text, left.draft.source_id), (ERASED, None), "what is left of it")

    def look(tx: Transaction) -> None:
        whole = tx.log.natives(KEY, [m[2].id])[m[2].id]
        expect((whole.native, whole.record), (None, None), "its payload and its record")
        expect(list(tx.log.find(KEY, ["log-1"])), [], "what its source id finds")
        expect([each.erased for each in tx.log.find(KEY, [m[2].id])], [True], "what its id finds")
        expect(list(tx.upkeep.faults()), [], "the faults")

    await store.read(look)


@check
async def an_erased_message_does_not_come_back(store: Store) -> None:
    """Stored again, it stays erased, its payload too, and what is new behind it is stored."""
    drafts = [named(draft) for draft in numbered(4)]
    m = await tell(store, drafts)
    await store.write(erase_one, m[1])
    more = await store.write(tell_after, None, [*drafts, *numbered(2, "more")])
    path = await read_path(store, more[-1])
    expect([each.text == ERASED for each in path], [False, True, False, False, False, False], "which are erased")

    def look(tx: Transaction) -> None:
        whole = tx.log.natives(KEY, [m[1].id])[m[1].id]
        expect((whole.native, whole.record, whole.source_id), (None, None, None), "what came back")
        expect(list(tx.upkeep.faults()), [], "the faults")

    await store.read(look)


@check
async def what_is_erased_is_not_found_by_its_words(store: Store) -> None:
    """Neither its words nor its author find an erased message, a session or a space that went; others are found."""
    m = await tell(store, [*numbered(2), aside("Ysolde", "the marmalade is hidden"), *numbered(1, "marmalade")])
    await tell(store, numbered(2, "marmalade"), OTHER)
    term = terms("marmalade")[0]

    def look(tx: Transaction) -> Size:
        before = tx.search.size(SPACE, "messages")
        expect(tx.search.count(SPACE, "messages", [term])[term], 4, "how many have the word at first")
        return before

    before = await store.read(look)
    await store.write(erase_one, m[2])

    def look_2(tx: Transaction) -> None:
        expect(tx.search.size(SPACE, "messages").documents, before.documents - 1, "how many documents there are")
        expect(tx.search.count(SPACE, "messages", [term])[term], 3, "how many have the word")
        expect(list(tx.search.authors(SPACE)), [], "the authors")

    await store.read(look_2)

    def keep(tx: Transaction) -> None:
        tx.erasure.begin()
        tx.erasure.session(KEY)

    await store.write(keep)

    def look_3(tx: Transaction) -> None:
        expect(tx.search.count(SPACE, "messages", [term])[term], 2, "how many have it without the session")

    await store.read(look_3)

    def keep_2(tx: Transaction) -> None:
        tx.erasure.begin()
        tx.erasure.space(SPACE)

    await store.write(keep_2)

    def look_4(tx: Transaction) -> None:
        expect(tx.search.size(SPACE, "messages").documents, 0, "how many documents are left")
        expect(tx.search.count(SPACE, "messages", [term])[term], 0, "how many have it without the space")

    await store.read(look_4)


@check
async def what_is_erased_has_no_vector(store: Store) -> None:
    """The vector of an erased message and those of a space that went are gone; whoever read them before learns it."""
    m = await tell(store, numbered(3, "marmalade"))
    term = terms("marmalade")[0]

    def keep(tx: Transaction) -> tuple[list[int], VectorChanges]:
        documents = list(tx.search.postings(SPACE, "messages", [term])[term])
        tx.vectors.put(SPACE, "messages", "e", {each: bytes([each % 100] * 8) for each in documents})
        first = tx.vectors.since(SPACE, "messages", "e", 0)
        expect(sorted(first.added), sorted(documents), "the vectors at first")
        return documents, first

    documents, first = await store.write(keep)
    await store.write(erase_one, m[1])

    def keep_2(tx: Transaction) -> None:
        then = tx.vectors.since(SPACE, "messages", "e", first.change)
        expect(list(then.removed), [documents[1]], "the vectors that went")
        expect(list(tx.vectors.due(SPACE, "messages", "e", 10)), [], "the vectors that are due")
        tx.erasure.begin()
        tx.erasure.space(SPACE)
        last = tx.vectors.since(SPACE, "messages", "e", then.change)
        expect(last.whole or sorted(last.removed) == sorted([documents[0], documents[2]]), True, "what went with all")
        expect(list(last.added), [], "the vectors left")

    await store.write(keep_2)


@check
async def the_erased_messages_are_counted(store: Store) -> None:
    """A session knows how many of its messages were erased; one that is erased twice counts once."""
    m = await tell(store, numbered(5))

    def look(tx: Transaction) -> None:
        expect(tx.erasure.count(KEY), 0, "how many were erased at first")
        expect(tx.erasure.count(OTHER), 0, "how many in a session that was never made")

    await store.read(look)
    for message in (m[1], m[3], m[1]):
        await store.write(erase_one, message)
    await store.read(lambda tx: expect(tx.erasure.count(KEY), 2, "how many were erased"))


@check
async def only_what_is_marked_as_erased_is_taken(store: Store) -> None:
    """A message that is not marked, one that is not stored and a session that was never made are refused."""
    m = await tell(store, numbered(3))
    strange = replace(erase(m[0]), id="m_aaaaaaaaaaaaaaaaaaaaaaaaaa")

    def keep(tx: Transaction) -> None:
        tx.erasure.begin()
        with expect_error(BadInput, "an unmarked message"):
            tx.erasure.messages(KEY, [erase(m[0]), m[1]])
        with expect_error(MessageNotFound, "a strange message"):
            tx.erasure.messages(KEY, [erase(m[0]), strange])
        with expect_error(SessionNotFound, "a strange session"):
            tx.erasure.messages(OTHER, [erase(m[0])])

    await store.write(keep)
    expect([each.erased for each in await read_path(store, m[2])], [False] * 3, "which are erased")


@check
async def notes_and_marks_are_taken_out(store: Store) -> None:
    """The annotations and marks that are named go, and no others; those that are not there count for nothing."""
    m = await tell(store, numbered(4))
    fork = await store.write(tell_after, m[1], numbered(1, "fork"))
    pins = [noted(m[1], "first"), noted(m[2], "second"), noted(m[3], "third")]
    marks = [rebuilt(m[2]), rebuilt(fork[0]), rebuilt(m[2], budget_tokens=99)]

    def keep(tx: Transaction) -> None:
        tx.annotations.put(KEY, pins)
        for mark in marks:
            tx.rebuilds.put(KEY, mark)
        tx.erasure.begin()
        gone = [pins[0].id, pins[2].id, noted(m[0], "never made").id]
        expect(tx.erasure.notes(KEY, gone, marks[:2]), 4, "how many there were")
        expect(tx.erasure.notes(KEY, gone, marks[:2]), 0, "how many there were the second time")

    await store.write(keep)

    def look(tx: Transaction) -> None:
        expect(list(tx.annotations.on_path(KEY, m[3].id)), [pins[1]], "the annotations left")
        expect(list(tx.rebuilds.of_session(KEY)), [marks[2]], "the marks left")

    await store.read(look)


@check
async def a_session_goes_whole(store: Store) -> None:
    """Its tree, branches, summaries, marks, notes and leases go; another session and another space keep theirs."""
    for key in (KEY, OTHER, ELSEWHERE):
        m = await tell(store, [with_native(draft, {"n": 1}) for draft in numbered(5)], key)

        def keep(tx: Transaction, key: SessionKey, m: list[Message]) -> None:
            tx.log.move(key, "fork", m[2].id)
            tx.summaries.put(key, [summarise(m[0], m[2])])
            tx.rebuilds.put(key, rebuilt(m[3]))
            tx.annotations.put(key, [noted(m[3], "note")])
            tx.leases.take(key, "work", "one", NOON, NOON + MINUTE)

        await store.write(keep, key, m)

    def keep_2(tx: Transaction) -> None:
        tx.erasure.begin()
        expect(tx.erasure.session(KEY), True, "whether it was there")
        expect(tx.erasure.session(KEY), False, "whether it was there the second time")

    await store.write(keep_2)

    def look(tx: Transaction) -> None:
        expect([info.key for info in tx.sessions.list(SPACE)], [OTHER], "the sessions left")
        expect(tx.log.head(KEY), None, "its head")
        expect(list(tx.log.find(KEY, ["m_"])), [], "its messages")
        expect(list(tx.upkeep.summaries(KEY)), [], "its summaries")
        expect(list(tx.rebuilds.of_session(KEY)), [], "its marks")
        expect(list(tx.leases.of_session(KEY)), [], "its leases")
        for key in (OTHER, ELSEWHERE):
            head = tx.log.head(key)
            expect(head, head_of(m[4]), "the head of another")
            expect(len(tx.summaries.frontier(key, m[4].id, FAMILY)), 1, "the summaries of another")
        expect(list(tx.upkeep.faults()), [], "the faults")

    await store.read(look)


@check
async def a_session_that_went_can_begin_anew(store: Store) -> None:
    """The same name and the same words may be stored again, and nothing of the former session hangs on them."""
    m = await tell(store, numbered(4))

    def keep(tx: Transaction) -> None:
        tx.summaries.put(KEY, [summarise(m[0], m[2])])
        tx.annotations.put(KEY, [noted(m[2], "note")])
        tx.erasure.begin()
        tx.erasure.session(KEY)
        again = append(tx, KEY, numbered(4))
        expect([each.id for each in again], [each.id for each in m], "the ids")
        expect(list(tx.summaries.frontier(KEY, m[3].id, FAMILY)), [], "the summaries")
        expect(list(tx.annotations.on_path(KEY, m[3].id)), [], "the annotations")

    await store.write(keep)


@check
async def what_a_session_spent_counts_on_without_its_name(store: Store) -> None:
    """The day's sum of the space stays; no sum is left under the name of the session."""

    def keep(tx: Transaction) -> None:
        append(tx, KEY, numbered(2))
        tx.spending.add(KEY, DAY, Spent(calls=2, tokens=30))
        tx.spending.add(OTHER, DAY, Spent(calls=1, tokens=5))
        tx.erasure.begin()
        for key in (KEY, OTHER):
            tx.erasure.session(key)

    await store.write(keep)

    def look(tx: Transaction) -> None:
        expect(tx.spending.of_session(KEY), Spent(), "what is left under its name")
        expect(tx.spending.of_session(OTHER), Spent(), "what is left under that of one that was never made")
        expect(tx.spending.of_day(SPACE, DAY), Spent(calls=3, tokens=35), "the sum of the day")

    await store.read(look)


@check
async def a_space_goes_whole(store: Store) -> None:
    """Every session of it goes, and what was spent; another space keeps its own."""
    for key in (KEY, OTHER, ELSEWHERE):
        await tell(store, numbered(3), key)

        def keep(tx: Transaction, key: SessionKey) -> None:
            tx.spending.add(key, DAY, Spent(calls=1, tokens=5))

        await store.write(keep, key)

    def keep_2(tx: Transaction) -> None:
        tx.erasure.begin()
        expect(tx.erasure.space(SPACE), 2, "how many sessions it had")

    await store.write(keep_2)

    def look(tx: Transaction) -> None:
        expect(list(tx.sessions.list(SPACE)), [], "its sessions")
        expect(tx.spending.of_day(SPACE, DAY), Spent(), "what it spent")
        expect([info.key for info in tx.sessions.list("elsewhere")], [ELSEWHERE], "those of another")
        expect(tx.spending.of_day("elsewhere", DAY), Spent(calls=1, tokens=5), "what another spent")
        expect(list(tx.upkeep.faults()), [], "the faults")

    await store.read(look)


@check
async def a_scrub_completes_an_erasure(store: Store) -> None:
    """After an erasure a scrub is complete, and then nothing is left to do; what is stored stays as it is."""
    m = await tell(store, [*numbered(3), Draft(role="user", parts=(Text(text="secret"),))])
    await store.write(erase_one, m[3])
    expect((await store.scrub()).complete, True, "whether the scrub is complete")
    expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")
    expect([each.text for each in await read_path(store, m[3])], [*(each.text for each in m[:3]), ERASED], "the texts")


@check
async def an_erasure_that_is_broken_off_changes_nothing(store: Store) -> None:
    """A transaction that raises leaves the message as it was, and nothing to scrub."""
    m = await tell(store, numbered(3))
    with suppress(_BrokenOffError):

        def keep(tx: Transaction) -> None:
            tx.erasure.begin()
            tx.erasure.messages(KEY, [erase(m[1])])
            tx.erasure.session(KEY)
            raise _BrokenOffError

        await store.write(keep)
    expect(await read_path(store, m[2]), m, "the messages")
    expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")


class _BrokenOffError(Exception):
    """The work was broken off."""
