"""Erasure: what was said goes for good, the place where it was said stays, and whole sessions and spaces go."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.language.words import terms
from ireneo.log.message import ERASED, Draft, Message, Text, erase, head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Spent, Store, Transaction
from ireneo.testing.conformance.check import Place, expect, expect_error
from ireneo.testing.conformance.material import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    SUMMARIZER,
    BrokenOffError,
    aside,
    break_off,
    erase_session,
    erase_space,
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
    """Erase a message."""
    tx.erasure.begin()
    expect(tx.erasure.messages(KEY, [erase(message)]), 1, "how many were erased")


def named(draft: Draft) -> Draft:
    """`draft` with all that a log may know of it."""
    return replace(with_native(draft, {"n": 1}, {"who": "someone"}), source_id="log-1", at=NOON)


class ErasureChecks:
    """What every store's erasure does."""

    def an_erased_message_leaves_its_place(self, store: Place) -> None:
        """Its id, position, turn, tokens and time stay; its parts are the marker, and nothing else is left of it."""
        m = store.write(tell, [*numbered(2), named(numbered(1, "secret")[0]), *numbered(3, "later")])
        store.write(erase_one, m[2])
        path = read_path(store, m[5])
        expect([each.id for each in path], [each.id for each in m], "the ids on the path")
        expect([each.erased for each in path], [False, False, True, False, False, False], "which are erased")
        left = path[2]
        expect((left.position, left.turn, left.role, left.draft.at), (2, m[2].turn, m[2].role, NOON), "its place")
        expect((left.tokens, left.total_tokens), (m[2].tokens, m[2].total_tokens), "what it was counted with")
        expect((left.text, left.draft.source_id), (ERASED, None), "what is left of it")
        whole = store.log.drafts(KEY, [m[2].id])[m[2].id]
        expect((whole.native, whole.record), (None, None), "its payload and its record")
        expect(store.log.find(KEY, ["log-1"]), [], "what its source id finds")
        expect([each.erased for each in store.log.find(KEY, [m[2].id])], [True], "what its id finds")
        expect(store.upkeep.faults(), [], "the faults")

    def an_erased_message_does_not_come_back(self, store: Place) -> None:
        """An erased message that is stored again stays erased, its payload too; new messages after it are stored."""
        drafts = [named(draft) for draft in numbered(4)]
        m = store.write(tell, drafts)
        store.write(erase_one, m[1])
        more = store.write(tell_after, None, [*drafts, *numbered(2, "more")])
        path = read_path(store, more[-1])
        expect([each.text == ERASED for each in path], [False, True, False, False, False, False], "which are erased")
        whole = store.log.drafts(KEY, [m[1].id])[m[1].id]
        expect((whole.native, whole.record, whole.source_id), (None, None, None), "what came back")
        expect(store.upkeep.faults(), [], "the faults")

    def what_is_erased_is_not_found_by_its_words(self, store: Place) -> None:
        """Search finds no erased message, session or space, neither by words nor by author; others are found."""
        m = store.write(tell, [*numbered(2), aside("Ysolde", "the marmalade is hidden"), *numbered(1, "marmalade")])
        store.write(tell, numbered(2, "marmalade"), OTHER)
        term = terms("marmalade")[0]
        before = store.search.size(SPACE, "messages")
        expect(store.search.count(SPACE, "messages", [term])[term], 4, "how many have the word at first")
        store.write(erase_one, m[2])
        expect(store.search.size(SPACE, "messages").documents, before.documents - 1, "how many documents there are")
        expect(store.search.count(SPACE, "messages", [term])[term], 3, "how many have the word")
        expect(list(store.search.authors(SPACE)), [], "the authors")
        store.write(erase_session)
        expect(store.search.count(SPACE, "messages", [term])[term], 2, "how many have it without the session")
        store.write(erase_space)
        expect(store.search.size(SPACE, "messages").documents, 0, "how many documents are left")
        expect(store.search.count(SPACE, "messages", [term])[term], 0, "how many have it without the space")

    def what_is_erased_has_no_vector(self, store: Place) -> None:
        """The vectors of an erased message or space are deleted, and reported to earlier readers."""
        m = store.write(tell, numbered(3, "marmalade"))
        term = terms("marmalade")[0]
        documents = list(store.search.postings(SPACE, "messages", [term])[term])
        store.vectors.put(SPACE, "messages", "e", {each: bytes([each % 100] * 8) for each in documents})
        first = store.vectors.since(SPACE, "messages", "e", 0)
        expect(sorted(first.added), sorted(documents), "the vectors at first")
        store.write(erase_one, m[1])
        then = store.vectors.since(SPACE, "messages", "e", first.change)
        expect(then.removed, [documents[1]], "the vectors that went")
        expect(store.vectors.due(SPACE, "messages", "e", 10), [], "the vectors that are due")
        store.write(erase_space)
        last = store.vectors.since(SPACE, "messages", "e", then.change)
        expect(last.whole or sorted(last.removed) == sorted([documents[0], documents[2]]), True, "what went with all")
        expect(list(last.added), [], "the vectors left")

    def the_erased_messages_are_counted(self, store: Place) -> None:
        """A session knows how many of its messages were erased; one that is erased twice counts once."""
        m = store.write(tell, numbered(5))
        expect(store.sessions.erased(KEY), 0, "how many were erased at first")
        expect(store.sessions.erased(OTHER), 0, "how many in a session that was never made")
        for message in (m[1], m[3], m[1]):
            store.write(erase_one, message)
        expect(store.sessions.erased(KEY), 2, "how many were erased")

    def only_what_is_marked_as_erased_is_taken(self, store: Place) -> None:
        """A message that is not marked, one that is not stored and a session that was never made are refused."""
        m = store.write(tell, numbered(3))
        strange = replace(erase(m[0]), id="m_aaaaaaaaaaaaaaaaaaaaaaaaaa")

        def erasing(tx: Transaction) -> None:
            tx.erasure.begin()
            with expect_error(BadInput, "an unmarked message"):
                tx.erasure.messages(KEY, [erase(m[0]), m[1]])
            with expect_error(MessageNotFound, "a strange message"):
                tx.erasure.messages(KEY, [erase(m[0]), strange])
            with expect_error(SessionNotFound, "a strange session"):
                tx.erasure.messages(OTHER, [erase(m[0])])

        store.write(erasing)
        expect([each.erased for each in read_path(store, m[2])], [False] * 3, "which are erased")

    def notes_and_marks_are_taken_out(self, store: Place) -> None:
        """The annotations and marks that are named go, and no others; those that are not there count for nothing."""
        m = store.write(tell, numbered(4))
        fork = store.write(tell_after, m[1], numbered(1, "fork"))
        pins = [noted(m[1], "first"), noted(m[2], "second"), noted(m[3], "third")]
        marks = [rebuilt(m[2]), rebuilt(fork[0]), rebuilt(m[2], budget_tokens=99)]
        store.annotations.put(KEY, pins)
        for mark in marks:
            store.rebuilds.put(KEY, mark)

        def erasing(tx: Transaction) -> None:
            tx.erasure.begin()
            gone = [pins[0].id, pins[2].id, noted(m[0], "never made").id]
            expect(tx.erasure.notes(KEY, gone, marks[:2]), 4, "how many there were")
            expect(tx.erasure.notes(KEY, gone, marks[:2]), 0, "how many there were the second time")

        store.write(erasing)
        expect(store.annotations.on_path(KEY, m[3].id), [pins[1]], "the annotations left")
        expect(store.rebuilds.of_session(KEY), [marks[2]], "the marks left")

    def a_session_goes_whole(self, store: Place) -> None:
        """Erasing a session deletes its tree, branches, summaries, marks, notes and leases, and no others."""
        for key in (KEY, OTHER, ELSEWHERE):
            m = store.write(tell, [with_native(draft, {"n": 1}) for draft in numbered(5)], key)
            store.log.move(key, "fork", m[2].id)
            store.summaries.put(key, [summarise(m[0], m[2])])
            store.rebuilds.put(key, rebuilt(m[3]))
            store.annotations.put(key, [noted(m[3], "note")])
            store.read_marks.put(key, m[4].id, "one")
            store.leases.take(key, "work", "one", NOON, NOON + MINUTE)
        expect(store.write(erase_session), True, "whether it was there")
        expect(store.write(erase_session), False, "whether it was there the second time")
        expect([info.key for info in store.sessions.list(SPACE)], [OTHER], "the sessions left")
        expect(store.log.head(KEY), None, "its head")
        expect(store.log.find(KEY, ["m_"]), [], "its messages")
        expect(store.upkeep.summaries(KEY), [], "its summaries")
        expect(store.rebuilds.of_session(KEY), [], "its marks")
        expect(store.read_marks.of_session(KEY), [], "how far it was read")
        expect(store.leases.of_session(KEY), [], "its leases")
        for key in (OTHER, ELSEWHERE):
            head = store.log.head(key)
            expect(head, head_of(m[4]), "the head of another")
            expect(len(store.summaries.frontier(key, m[4].id, SUMMARIZER)), 1, "the summaries of another")
        expect(store.upkeep.faults(), [], "the faults")

    def a_session_that_went_can_begin_anew(self, store: Place) -> None:
        """A session with the same name and words may be stored again, and has nothing of the erased one."""
        m = store.write(tell, numbered(4))
        store.summaries.put(KEY, [summarise(m[0], m[2])])
        store.annotations.put(KEY, [noted(m[2], "note")])
        store.write(erase_session)
        again = store.write(tell, numbered(4))
        expect([each.id for each in again], [each.id for each in m], "the ids")
        expect(store.summaries.frontier(KEY, m[3].id, SUMMARIZER), [], "the summaries")
        expect(store.annotations.on_path(KEY, m[3].id), [], "the annotations")

    def what_a_session_spent_counts_on_without_its_name(self, store: Place) -> None:
        """Erasing a session deletes its spending and keeps the day's total of the space."""
        store.write(tell, numbered(2))
        store.spending.add(KEY, DAY, Spent(calls=2, tokens=30))
        store.spending.add(OTHER, DAY, Spent(calls=1, tokens=5))
        for key in (KEY, OTHER):
            store.write(erase_session, key)
        expect(store.spending.of_session(KEY), Spent(), "what is left under its name")
        expect(store.spending.of_session(OTHER), Spent(), "what is left under that of one that was never made")
        expect(store.spending.of_day(SPACE, DAY), Spent(calls=3, tokens=35), "the sum of the day")

    def a_space_goes_whole(self, store: Place) -> None:
        """Erasing a space deletes all its sessions and spending; another space keeps its own."""
        for key in (KEY, OTHER, ELSEWHERE):
            store.write(tell, numbered(3), key)
            store.spending.add(key, DAY, Spent(calls=1, tokens=5))
        expect(store.write(erase_space), 2, "how many sessions it had")
        expect(store.sessions.list(SPACE), [], "its sessions")
        expect(store.spending.of_day(SPACE, DAY), Spent(), "what it spent")
        expect([info.key for info in store.sessions.list("elsewhere")], [ELSEWHERE], "those of another")
        expect(store.spending.of_day("elsewhere", DAY), Spent(calls=1, tokens=5), "what another spent")
        expect(store.upkeep.faults(), [], "the faults")

    async def a_scrub_completes_an_erasure(self, store: Store) -> None:
        """After an erasure a scrub is complete, and then nothing is left to do; what is stored stays as it is."""
        m = await store.write(tell, [*numbered(3), Draft(role="user", parts=(Text(text="secret"),))])
        await store.write(erase_one, m[3])
        expect((await store.scrub()).complete, True, "whether the scrub is complete")
        expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")
        left = [each.text for each in await store.read(read_path, m[3])]
        expect(left, [*(each.text for each in m[:3]), ERASED], "the texts")

    async def an_erasure_that_is_broken_off_changes_nothing(self, store: Store) -> None:
        """A transaction that raises leaves the message as it was, and nothing to scrub."""
        m = await store.write(tell, numbered(3))

        def steps(tx: Transaction) -> None:
            erase_one(tx, m[1])
            erase_session(tx)

        with suppress(BrokenOffError):
            await store.write(break_off, steps)
        expect(await store.read(read_path, m[2]), m, "the messages")
        expect((await store.scrub(look=True)).complete, True, "whether nothing is left to do")
