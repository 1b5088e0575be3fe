"""Upkeep: faults, and what nobody needs any more. Erasure: deleting what was said for good."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.language.words import terms
from ireneo.log.message import ERASED, Draft, Message, Text, erase, head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Pruned, Spent, Store, Transaction
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    SUMMARIZER,
    BrokenOffError,
    Place,
    aside,
    break_off,
    erase_session,
    erase_space,
    expect,
    expect_error,
    learned,
    noted,
    numbered,
    observed,
    pad,
    ran,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    tell_after,
    with_native,
)


def cost(messages: Sequence[Message]) -> int:
    """The tokens of messages."""
    return sum(message.tokens for message in messages)


def prune(tx: Transaction) -> Pruned:
    """Prune; afterwards nothing may be wrong, and nothing may be left to prune."""
    pruned = tx.upkeep.prune(KEY)
    expect(tx.upkeep.prune(KEY), Pruned(), "what a second pruning takes out")
    expect(tx.upkeep.faults(), [], "the faults")
    expect(tx.upkeep.abandoned_heads(KEY), [], "the ends on no branch")
    return pruned


def move(tx: Transaction, branch: str, to: Message | None) -> None:
    """Move a branch."""
    tx.log.move(KEY, branch, None if to is None else to.id)


class UpkeepChecks:
    """Checks of a store's upkeep."""

    def a_sound_store_has_no_faults(self, store: Place) -> None:
        """A store that was only written through its ports has no faults."""
        m = store.write(tell, [with_native(draft, {"n": 1}) for draft in numbered(8)])
        fork = store.write(tell_after, m[3], numbered(4, "fork"))
        store.write(tell_after, None, numbered(2, "another root"))
        store.log.move(KEY, "empty", None)
        store.log.move(KEY, "fork", fork[-1].id)
        store.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[2], fork[1])])
        store.rebuilds.put(KEY, rebuilt(fork[0]))
        store.annotations.put(KEY, [noted(m[7], "note")])
        store.read_marks.put(KEY, fork[1].id, "one")
        store.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
        store.write(tell, numbered(2), SessionKey("other", "session"))
        store.sessions.create(SessionKey("other", "empty"), None)
        store.pads.write(SPACE, pad("task"))
        store.memories.put(SPACE, [learned("a fact")])
        store.runs.put(SPACE, ran("one"), [observed("c", "one")])
        store.erasure.messages(KEY, [erase(m[4])])
        store.upkeep.repair()
        expect(store.upkeep.faults(), [], "the faults")
        looked = 0
        after: int | None = 0
        while after is not None:
            page = store.upkeep.corrupted(after, 3)
            expect(page.faults, (), "what is not what was stored")
            looked, after = looked + page.looked, page.after
        expect(looked, 16, "the messages that were looked at")

    def every_summary_is_listed(self, store: Place) -> None:
        """The ids of all summaries of a session are listed, of every summarizer, depth and path, by their stretch."""
        m = store.write(tell, numbered(12))
        fork = store.write(tell_after, m[3], numbered(4, "fork"))
        wanted = [
            summarise(m[0], m[1], summarizer="summarizer-2"),
            summarise(m[0], m[9], level="goal", depth=2),
            summarise(m[2], fork[1]),
            summarise(m[8], m[11]),
        ]
        store.summaries.put(KEY, wanted[::-1])
        expect(store.upkeep.summaries(KEY), [each.id for each in wanted], "the summaries")
        expect(store.upkeep.summaries(SessionKey(SPACE, "nowhere")), [], "those of no session")

    def summaries_are_discarded(self, store: Place) -> None:
        """Discarded summaries are gone, and may be stored again; unknown ids are skipped."""
        m = store.write(tell, numbered(6))
        one, two = summarise(m[0], m[2]), summarise(m[3], m[5])
        store.summaries.put(KEY, [one, two])
        expect(store.upkeep.discard(KEY, [one.id, SummaryId("s_unknown"), one.id]), 1, "how many were there")
        expect(store.summaries.frontier(KEY, m[-1].id, SUMMARIZER), [two], "the frontier")
        expect(store.summaries.put(KEY, [one]), 1, "new when it is put again")
        with expect_error(SessionNotFound, "to discard in no session"):
            store.upkeep.discard(SessionKey(SPACE, "nowhere"), [one.id])

    def ends_on_no_branch_are_listed(self, store: Place) -> None:
        """The last message of each abandoned path is listed, by position; a branch's head is not."""
        m = store.write(tell, numbered(8))
        fork = store.write(tell_after, m[3], numbered(2, "fork"))
        twig = store.write(tell_after, fork[0], numbered(6, "twig"))
        root = store.write(tell_after, None, numbered(2, "another root"))
        wanted = [head_of(each) for each in (root[-1], fork[-1], twig[-1])]
        expect(store.upkeep.abandoned_heads(KEY), wanted, "the ends")
        expect(store.upkeep.abandoned_heads(SessionKey(SPACE, "nowhere")), [], "the ends of no session")
        move(store, "twig", twig[-1])
        move(store, "main", m[6])
        wanted = [head_of(each) for each in (root[-1], fork[-1], m[-1])]
        expect(store.upkeep.abandoned_heads(KEY), wanted, "the ends when branches were moved")

    def a_branch_is_dropped(self, store: Place) -> None:
        """A dropped branch is gone, even main; its messages stay, and its last one is listed as an end."""
        m = store.write(tell, numbered(3))
        store.log.move(KEY, "empty", None)
        expect(store.upkeep.drop_branch(KEY, "unknown"), False, "whether there was such a branch")
        expect(store.upkeep.drop_branch(KEY, "main"), True, "whether main was there")
        expect(store.upkeep.drop_branch(KEY, "main"), False, "whether main is there again")
        expect(store.log.head(KEY), None, "the head of main")
        expect(store.sessions.branches(KEY), {"empty": None}, "the branches")
        expect(store.upkeep.abandoned_heads(KEY), [head_of(m[-1])], "the ends")
        expect(store.upkeep.drop_branch(KEY, "empty"), True, "whether an empty one was there")
        with expect_error(SessionNotFound, "to drop in no session"):
            store.upkeep.drop_branch(SessionKey(SPACE, "nowhere"), "main")
        expect(read_path(store, m[-1]), m, "the path")

    def what_a_branch_leads_to_stays(self, store: Place) -> None:
        """Pruning removes nothing from a session in which every message is on some branch."""
        m = store.write(tell, numbered(6))
        fork = store.write(tell_after, m[2], numbered(3, "fork"))
        move(store, "fork", fork[-1])
        store.summaries.put(KEY, [summarise(m[0], m[5]), summarise(m[1], fork[2])])
        expect(prune(store), Pruned(), "what is taken out")
        expect(read_path(store, m[-1]), m, "the path")
        expect(read_path(store, fork[-1]), m[:3] + fork, "the path of the fork")

    def what_no_branch_leads_to_is_taken_out(self, store: Place) -> None:
        """Pruning removes abandoned paths: forks, roots, and messages after the point a branch was moved back to."""
        m = store.write(tell, numbered(8))
        fork = store.write(tell_after, m[3], numbered(3, "fork"))
        twig = store.write(tell_after, fork[1], numbered(2, "twig"))
        root = store.write(tell_after, None, numbered(2, "another root"))
        move(store, "main", m[5])
        move(store, "fork", fork[1])
        gone = [*m[6:], fork[2], *twig, *root]
        expect(prune(store), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
        expect(read_path(store, m[5]), m[:6], "the path")
        expect(read_path(store, fork[1]), m[:4] + fork[:2], "the path of the fork")
        expect(store.log.find(KEY, [each.id for each in gone]), [], "what is found of the rest")
        with expect_error(MessageNotFound, "a path to what is gone"):
            store.log.path(KEY, m[7].id, 0, 7)

    def a_trunk_that_only_a_fork_needs_is_cut_there(self, store: Place) -> None:
        """If only forks need a path, its messages up to the last fork stay, and later ones are removed."""
        m = store.write(tell, numbered(10))
        early = store.write(tell_after, m[2], numbered(3, "early"))
        late = store.write(tell_after, m[5], numbered(3, "late"))
        deep = store.write(tell_after, late[0], numbered(3, "deep"))
        store.upkeep.drop_branch(KEY, "main")
        store.log.move(KEY, "early", early[-1].id)
        store.log.move(KEY, "deep", deep[-1].id)
        gone = [*m[6:], *late[1:]]
        expect(prune(store), Pruned(messages=len(gone), tokens=cost(gone)), "what is taken out")
        expect(read_path(store, early[-1]), m[:3] + early, "the early path")
        expect(read_path(store, deep[-1]), m[:6] + late[:1] + deep, "the deep path")

    def what_hangs_on_pruned_messages_goes_with_them(self, store: Place) -> None:
        """Pruning removes the payloads, marks and annotations of messages, and each summary that covers any of them."""
        m = store.write(tell, [with_native(draft, {"n": number}) for number, draft in enumerate(numbered(8))])
        kept, across, behind = summarise(m[0], m[4]), summarise(m[3], m[5]), summarise(m[6], m[7])
        store.summaries.put(KEY, [kept, across, behind])
        for each in (m[4], m[6]):
            store.rebuilds.put(KEY, rebuilt(each))
            store.annotations.put(KEY, [noted(each, "note")])
        for reader, last in (("far", m[6]), ("near", m[1])):
            store.read_marks.put(KEY, last.id, reader)
        store.log.move(KEY, "main", m[4].id)
        expect(prune(store), Pruned(messages=3, tokens=cost(m[5:]), summaries=2), "what is taken out")
        expect(store.read_marks.of_session(KEY), [("near", m[1].id), ("far", m[4].id)], "how far it was read")
        expect(store.upkeep.faults(), [], "the faults")
        expect(store.upkeep.summaries(KEY), [kept.id], "the summaries")
        natives = store.log.drafts(KEY, [each.id for each in m])
        expect(set(natives), {each.id for each in m[:5]}, "the messages with payloads")
        # Stored again, the messages are new, without anything of the old ones.
        expect(store.write(tell, [each.draft for each in m[5:]]), m[5:], "the messages told again")
        expect(store.rebuilds.last(KEY, m[-1].id, SUMMARIZER, 1000), rebuilt(m[4]), "the last mark")
        expect(store.annotations.on_path(KEY, m[-1].id), [noted(m[4], "note")], "the annotations")
        expect(store.summaries.frontier(KEY, m[-1].id, SUMMARIZER), [kept], "the frontier")

    def a_pruned_session_is_counted_anew(self, store: Place) -> None:
        """Pruning updates a session's messages, tokens and times, and keeps its place in the list."""
        drafts = [
            replace(draft, at=NOON + timedelta(hours=hours))
            for draft, hours in zip(numbered(5), (2, 1, 3, 9, 0), strict=True)
        ]
        m = store.write(tell, drafts)
        move(store, "main", m[2])
        store.write(tell, say("later"), SessionKey(SPACE, "later"))
        prune(store)
        (first, info) = store.sessions.list(SPACE)
        expect(first.key, SessionKey(SPACE, "later"), "the session that stands first")
        expect((info.messages, info.tokens), (3, cost(m[:3])), "the messages and tokens")
        expect((info.first_at, info.last_at), (NOON + timedelta(hours=1), NOON + timedelta(hours=3)), "the times")

    def a_pruned_session_goes_on(self, store: Place) -> None:
        """After pruning, appends continue; appending behind a removed message raises MessageNotFound."""
        m = store.write(tell, numbered(6))
        fork = store.write(tell_after, m[3], numbered(3, "fork"))
        move(store, "fork", fork[0])
        move(store, "main", m[1])
        prune(store)
        with expect_error(MessageNotFound, "an append behind what is gone"):
            store.write(tell_after, m[5], say("lost"))
        on_main = store.write(tell_after, m[1], numbered(3, "on main"))
        on_trunk = store.write(tell_after, m[3], numbered(3, "on the trunk"))
        on_fork = store.write(tell_after, fork[0], numbered(3, "on the fork"))
        expect(read_path(store, on_main[-1]), m[:2] + on_main, "the path on main")
        expect(read_path(store, on_trunk[-1]), m[:4] + on_trunk, "the path on the trunk")
        expect(read_path(store, on_fork[-1]), m[:4] + fork[:1] + on_fork, "the path on the fork")
        expect(store.upkeep.faults(), [], "the faults")

    def a_branch_before_the_first_message_keeps_nothing(self, store: Place) -> None:
        """A session whose only branch is before the first message is pruned to nothing, and may begin anew."""
        m = store.write(tell, numbered(4))
        move(store, "main", None)
        expect(prune(store), Pruned(messages=4, tokens=cost(m)), "what is taken out")
        info = store.sessions.get(KEY)
        expect((info.messages, info.tokens) if info else None, (0, 0), "the messages and tokens")
        expect(store.write(tell, numbered(4)), m, "the messages told again")

    def a_session_without_a_branch_is_not_pruned(self, store: Place) -> None:
        """Pruning a session that has messages but no branch is refused; one without messages may be pruned."""
        m = store.write(tell, numbered(3))
        store.upkeep.drop_branch(KEY, "main")
        with expect_error(BadInput, "pruning without a branch"):
            store.upkeep.prune(KEY)
        with expect_error(SessionNotFound, "pruning no session"):
            store.upkeep.prune(SessionKey(SPACE, "nowhere"))
        empty = SessionKey(SPACE, "empty")
        store.sessions.create(empty, None)
        expect(store.upkeep.prune(empty), Pruned(), "what is taken out of an empty session")
        expect(read_path(store, m[-1]), m, "the path")

    def the_spaces_are_listed(self, store: Place) -> None:
        """Every space with anything stored is listed, and no erased one."""
        expect(store.upkeep.spaces(), [], "the spaces of an empty store")
        store.sessions.create(SessionKey("tools", "one"), None)
        store.pads.write("Errands", pad("Buy bread."))
        store.memories.put("birds", [learned("The heron waits.")])
        expect(store.upkeep.spaces(), ["Errands", "birds", "tools"], "the spaces")
        store.erasure.space("tools")
        expect(store.upkeep.spaces(), ["Errands", "birds"], "the spaces that are left")


# Erasure.

OTHER = SessionKey(SPACE, "other")
ELSEWHERE = SessionKey("elsewhere", KEY.session)


def erase_one(tx: Transaction, message: Message) -> None:
    """Erase a message."""
    tx.erasure.begin()
    expect(tx.erasure.messages(KEY, [erase(message)]), 1, "how many were erased")


def named(draft: Draft) -> Draft:
    """`draft` with everything that a log may know of it."""
    return replace(with_native(draft, {"n": 1}, {"who": "someone"}), source_id="log-1", at=NOON)


class ErasureChecks:
    """Checks of a store's erasure."""

    def an_erased_message_leaves_its_place(self, store: Place) -> None:
        """Of an erased message only id, position, turn, tokens and time stay, with a marker as its only part."""
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
        """An erased message stays erased if it is stored again; new messages after it are stored."""
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
        """Search finds nothing erased, whether message, session or space, by word or author; other things are found."""
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
        """The vectors of an erased message or space are deleted, and earlier readers are told."""
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
        """A session knows how many of its messages were erased, each counted once."""
        m = store.write(tell, numbered(5))
        expect(store.sessions.erased(KEY), 0, "how many were erased at first")
        expect(store.sessions.erased(OTHER), 0, "how many in a session that was never made")
        for message in (m[1], m[3], m[1]):
            store.write(erase_one, message)
        expect(store.sessions.erased(KEY), 2, "how many were erased")

    def only_what_is_marked_as_erased_is_taken(self, store: Place) -> None:
        """Erasing refuses a message without the marker, one that is not stored, and a session that does not exist."""
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
        """The annotations and marks that are named are deleted, and no others; missing ones don't count."""
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
        """A session with an erased one's name and words may be stored, and has nothing of the old one."""
        m = store.write(tell, numbered(4))
        store.summaries.put(KEY, [summarise(m[0], m[2])])
        store.annotations.put(KEY, [noted(m[2], "note")])
        store.write(erase_session)
        again = store.write(tell, numbered(4))
        expect([each.id for each in again], [each.id for each in m], "the ids")
        expect(store.summaries.frontier(KEY, m[3].id, SUMMARIZER), [], "the summaries")
        expect(store.annotations.on_path(KEY, m[3].id), [], "the annotations")

    def what_a_session_spent_counts_on_without_its_name(self, store: Place) -> None:
        """Erasing a session deletes its spending, but the space's total for the day stays."""
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
