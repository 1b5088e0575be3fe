"""The log: a session's tree of messages, the paths through it, its branches, and the sessions of a space."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Call, Draft, Media, Message, MessageId, Opaque, Result, Text, Thinking, head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import SessionInfo
from ireneo.testing.conformance.check import (
    KEY,
    NOWHERE,
    SPACE,
    Place,
    after,
    aside,
    expect,
    expect_error,
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


TIME = datetime(2025, 6, 1, 12, tzinfo=UTC)


class LogChecks:
    """Checks of a store's log and sessions."""

    def what_was_stored_comes_back(self, store: Place) -> None:
        """Every field of every kind of message is read back as it was written."""
        messages = store.write(tell, RICH)
        expect(read_path(store, messages[-1]), messages, "the path")

    def a_session_that_was_never_made_reads_as_empty(self, store: Place) -> None:
        """Reading a session that does not exist finds nothing."""
        expect(store.log.head(KEY), None, "the head")
        expect(store.log.find(KEY, ["m_"]), [], "what is found")
        expect(store.log.drafts(KEY, [MessageId(NOWHERE)]), {}, "the natives")
        with expect_error(MessageNotFound, "a path"):
            store.log.path(KEY, MessageId(NOWHERE), 0, 1)

    def a_session_must_be_made_before_it_is_written_to(self, store: Place) -> None:
        """Writing to a session that does not exist raises SessionNotFound."""
        with expect_error(SessionNotFound, "an insert"):
            store.log.insert(KEY, after(None, say("hello")))
        with expect_error(SessionNotFound, "a move"):
            store.log.move(KEY, "main", None)

    def a_chain_is_stored_once(self, store: Place) -> None:
        """A chain that is stored again stays as it is, and none of it counts as new."""
        messages = store.write(tell, numbered(7))
        expect(store.log.insert(KEY, messages), 0, "new the second time")
        expect(store.log.insert(KEY, messages[2:5]), 0, "new of a part of it")
        expect(store.log.insert(KEY, []), 0, "new of nothing")
        expect(read_path(store, messages[-1]), messages, "the path")

    def a_chain_that_has_grown_adds_what_is_new(self, store: Place) -> None:
        """If the beginning of a chain is stored, only the rest counts as new."""
        messages = after(None, numbered(60))
        store.sessions.create(KEY, None)
        for size in (1, 2, 5, 30, 31, 60):
            before = len(store.log.find(KEY, ["m_"]))
            expect(store.log.insert(KEY, messages[:size]), size - before, f"new of the first {size}")
        expect(read_path(store, messages[-1]), messages, "the path")

    def a_chain_that_branches_off_shares_its_beginning(self, store: Place) -> None:
        """A chain that leaves a stored one in the middle adds only its own end, and both can be read."""
        old = store.write(tell, numbered(9))
        new = old[:4] + after(old[3], numbered(6, "other"))
        expect(store.log.insert(KEY, new), 6, "new")
        expect(store.log.insert(KEY, new), 0, "new the second time")
        expect(read_path(store, new[-1]), new, "the new path")
        expect(read_path(store, old[-1]), old, "the old path")

    def a_chain_may_begin_anywhere(self, store: Place) -> None:
        """A chain may follow any stored message, even one that others follow already."""
        trunk = store.write(tell, numbered(6))
        for parent in (trunk[5], trunk[0], trunk[3], trunk[3]):
            branch = store.write(tell_after, parent, numbered(3, f"behind {parent.position}"))
            expect(read_path(store, branch[-1]), trunk[: parent.position + 1] + branch, "the path")

    def a_session_may_have_several_roots(self, store: Place) -> None:
        """A second first message begins another tree in the same session."""
        one = store.write(tell_after, None, numbered(3, "one"))
        two = store.write(tell_after, None, numbered(4, "two"))
        expect(read_path(store, one[-1]), one, "the first path")
        expect(read_path(store, two[-1]), two, "the second path")

    def a_parent_must_be_stored(self, store: Place) -> None:
        """A chain behind a message that is not stored raises MessageNotFound and stores nothing."""
        missing = after(None, numbered(2))
        orphans = after(missing[-1], numbered(2, "orphan"))
        store.sessions.create(KEY, None)
        with expect_error(MessageNotFound, "the insert"):
            store.log.insert(KEY, orphans)
        expect(store.log.find(KEY, ["m_"]), [], "what is stored")

    def a_chain_must_be_one(self, store: Place) -> None:
        """Messages that don't follow each other raise BadInput, and nothing is stored."""
        messages = after(None, numbered(4))
        store.sessions.create(KEY, None)
        for broken in ([messages[0], messages[2]], messages[::-1], [messages[0], messages[0]]):
            with expect_error(BadInput, "the insert"):
                store.log.insert(KEY, broken)
        expect(store.log.find(KEY, ["m_"]), [], "what is stored")

    def many_messages_are_stored_at_once(self, store: Place) -> None:
        """A chain of 3,000 messages is stored in one call and read back in order."""
        messages = store.write(tell, numbered(3000))
        expect(read_path(store, messages[-1]), messages, "the path")

    def payloads_come_back_equal(self, store: Place) -> None:
        """A provider's payload and a log's record are read back equal as JSON, whatever they contain."""
        odd = {
            "unknown": [1, 2.5, None, True],
            "text": "\ud83d alone, 🙂, \x00",
            "big": 2**80,
            "": {"data": "aGk=" * 500},
        }
        drafts = [
            with_native(say("one")[0], odd, record={"uuid": "u", "nested": [odd]}),
            with_native(say("two")[0], ["a", "list"]),
            with_native(say("three")[0], None),
            *say("four"),
        ]
        messages = store.write(tell, drafts)
        found = store.log.drafts(KEY, [*(message.id for message in messages), MessageId(NOWHERE)])
        expect(dict(found), dict(zip((message.id for message in messages), drafts, strict=True)), "the drafts")

    def payloads_stay_as_they_were(self, store: Place) -> None:
        """If the caller changes a payload after storing or reading it, the stored one does not change."""
        payload: dict[str, object] = {"content": "first"}
        (message,) = store.write(tell, [with_native(say("hi")[0], payload)])
        payload["content"] = "second"
        for _ in range(2):
            native = store.log.drafts(KEY, [message.id])[message.id].native
            read = native.payload if native else None
            expect(read, {"content": "first"}, "the payload")
            if isinstance(read, dict):
                read["content"] = "third"

    def payloads_are_not_read_on_the_way(self, store: Place) -> None:
        """Reading a path and finding messages return neither payloads nor records."""
        (message,) = store.write(tell, [with_native(say("hi")[0], {"a": 1}, record={"b": 2})])
        found = [*store.log.path(KEY, message.id, 0, 0), *store.log.find(KEY, [message.id])]
        expect([(each.draft.native, each.draft.record) for each in found], [(None, None)] * 2, "the payloads")

    def a_payload_must_be_json(self, store: Place) -> None:
        """A payload that is not JSON raises BadInput, and nothing of its chain is stored."""
        drafts = [*say("one"), with_native(say("two")[0], {"a": {1, 2}})]
        store.sessions.create(KEY, None)
        with expect_error(BadInput, "the insert"):
            store.log.insert(KEY, after(None, drafts))
        expect(store.log.find(KEY, ["m_"]), [], "what is stored")

    def a_message_stays_as_it_was_first_stored(self, store: Place) -> None:
        """If the same content comes again with another payload, time or source id, the first version stays."""
        (first,) = store.write(tell, [with_native(say("hi")[0], {"version": 1})])
        other = Draft(role="user", parts=first.parts, source_id="other", at=datetime(2025, 1, 1, tzinfo=UTC))
        expect(store.log.insert(KEY, after(None, [other])), 0, "new")
        found = store.log.drafts(KEY, [first.id])[first.id]
        expect(found, first.draft, "the draft")

    def a_path_is_read_in_runs(self, store: Place) -> None:
        """A path is read from one position to another, both included, and nothing outside."""
        messages = store.write(tell, numbered(10))
        for first, last in ((0, 9), (3, 3), (4, 8), (0, 0), (9, 9), (7, 50), (-5, 2), (6, 5), (10, 20)):
            wanted = [message for message in messages if first <= message.position <= last]
            expect(store.log.path(KEY, messages[-1].id, first, last), wanted, f"positions {first} to {last}")
        expect(store.log.path(KEY, messages[4].id, 2, 9), messages[2:5], "a path that ends before")

    def a_path_crosses_every_fork(self, store: Place) -> None:
        """A path through forks of forks is read as one, over any range."""
        paths: list[list[Message]] = [store.write(tell, numbered(8))]
        for number, (trunk, place) in enumerate([(0, 5), (1, 3), (1, 7), (2, 6), (3, 8), (0, 0)]):
            stem = paths[trunk][: place + 1]
            paths.append(stem + store.write(tell_after, stem[-1], numbered(5, f"branch {number}")))
        for path in paths:
            for first in range(len(path)):
                found = store.log.path(KEY, path[-1].id, first, first + 4)
                expect(list(found), path[first : first + 5], f"the path from {first}")

    def a_path_must_end_in_a_stored_message(self, store: Place) -> None:
        """Reading a path to a message that is not stored raises MessageNotFound."""
        store.write(tell, numbered(2))
        with expect_error(MessageNotFound, "the path"):
            store.log.path(KEY, MessageId(NOWHERE), 0, 1)

    def after_a_rewind_an_append_forks(self, store: Place) -> None:
        """A branch that was moved back continues from there, and the abandoned messages can still be read."""
        old = store.write(tell, numbered(6))
        store.log.move(KEY, "main", old[2].id)
        new = store.write(tell, numbered(2, "again"))
        expect(store.log.head(KEY), head_of(new[-1]), "the head")
        expect(read_path(store, new[-1]), old[:3] + new, "the new path")
        expect(read_path(store, old[-1]), old, "the path that was left")

    def a_branch_may_stand_before_everything(self, store: Place) -> None:
        """A branch moved before the first message has no head, and can begin anew."""
        old = store.write(tell, numbered(3))
        store.log.move(KEY, "main", None)
        expect(store.log.head(KEY), None, "the head")
        new = store.write(tell, say("a new beginning"))
        expect(read_path(store, new[-1]), new, "the new path")
        expect(read_path(store, old[-1]), old, "the old path")

    def a_branch_moves_to_stored_messages_only(self, store: Place) -> None:
        """Moving a branch to a message that is not stored raises MessageNotFound and leaves it where it was."""
        messages = store.write(tell, numbered(2))
        with expect_error(MessageNotFound, "the move"):
            store.log.move(KEY, "main", MessageId(NOWHERE))
        expect(store.log.head(KEY), head_of(messages[-1]), "the head")

    def branches_move_apart(self, store: Place) -> None:
        """Moving one branch leaves the others where they are."""
        messages = store.write(tell, numbered(4))
        store.log.move(KEY, "try", messages[1].id)
        forked = store.write(tell, say("other way"), KEY, "try")
        expect(store.log.head(KEY), head_of(messages[-1]), "the head of main")
        expect(store.log.head(KEY, "try"), head_of(forked[-1]), "the head of the other")

    def a_message_is_found_by_the_beginning_of_its_id(self, store: Place) -> None:
        """Messages are found by the beginning of their id, in the order asked, each once; unknown ids are skipped."""
        messages = store.write(tell, numbered(12))
        asked = [messages[7].id[:12], NOWHERE, messages[2].id, messages[7].id]
        expect(store.log.find(KEY, asked), [messages[7], messages[2]], "what is found")
        everything = store.log.find(KEY, ["m_"])
        expect(list(everything), sorted(messages, key=lambda message: message.id), "all, by the shortest beginning")
        expect(store.log.find(KEY, []), [], "what is found for nothing")

    def a_message_is_found_by_its_source_id(self, store: Place) -> None:
        """Messages are found by the whole id from their log, and not by a part of it."""
        drafts = [
            Draft(role="assistant", parts=(Text(text=f"piece {number}"),), source_id=f"line-{number // 2}")
            for number in range(6)
        ]
        messages = store.write(tell, drafts)
        expect(store.log.find(KEY, ["line-1"]), messages[2:4], "what is found")
        expect(store.log.find(KEY, ["line-", "ine-1"]), [], "what is found by a part")
        both = store.log.find(KEY, ["line-2", messages[0].id, "line-0"])
        expect(list(both), [*messages[4:6], messages[0], messages[1]], "ids of both sorts")

    def at_most_a_hundred_are_found(self, store: Place) -> None:
        """A search by id that matches more returns only a hundred messages."""
        messages = store.write(tell, numbered(130))
        expect(len(store.log.find(KEY, ["m_"])), 100, "the number found by one beginning")
        expect(
            len(store.log.find(KEY, [message.id for message in messages])),
            len(messages),
            "the number found by as many ids",
        )

    def a_session_is_made_once(self, store: Place) -> None:
        """Creating a session says whether it is new; a second time changes nothing."""
        expect(store.sessions.create(KEY, "first.jsonl"), True, "made the first time")
        expect(store.sessions.create(KEY, "second.jsonl"), False, "made the second time")
        found = store.sessions.list(SPACE)
        empty = SessionInfo(key=KEY, source="first.jsonl", messages=0, tokens=0, first_at=None, last_at=None)
        expect(list(found), [empty], "the list")

    def a_source_is_set_once(self, store: Place) -> None:
        """A session created without a source takes the first one that comes later, and keeps it."""
        for source in (None, "anthropic", None, "openai"):
            store.sessions.create(KEY, source)
        found = store.sessions.get(KEY)
        expect(found.source if found else None, "anthropic", "the source")

    def one_session_equals_its_entry_in_the_list(self, store: Place) -> None:
        """A session looked up by name equals its entry in the list; a missing one, or one of another space, is None."""
        store.write(tell, numbered(3))
        expect(store.sessions.get(KEY), store.sessions.list(SPACE)[0], "the session")
        expect(store.sessions.get(SessionKey(SPACE, "never")), None, "a session never made")
        expect(store.sessions.get(SessionKey("elsewhere", KEY.session)), None, "the session in another space")

    def a_list_counts_all_branches(self, store: Place) -> None:
        """A session's messages and tokens are those of all its branches, each counted once."""
        trunk = store.write(tell, numbered(6))
        branch = store.write(tell_after, trunk[2], numbered(3, "other"))
        store.write(tell_after, trunk[2], numbered(3, "other"))
        (info,) = store.sessions.list(SPACE)
        expect(info.messages, 9, "the messages")
        expect(info.tokens, sum(message.tokens for message in trunk + branch), "the tokens")

    def a_list_tells_the_times(self, store: Place) -> None:
        """A session lasts from the earliest to the latest time of its messages, in whatever order they were stored."""
        times = [None, TIME, TIME - timedelta(hours=2), None, TIME + timedelta(hours=1), TIME]
        for number, at in enumerate(times):
            store.write(tell, [Draft(role="user", parts=(Text(text=str(number)),), at=at)])
        (info,) = store.sessions.list(SPACE)
        expect((info.first_at, info.last_at), (TIME - timedelta(hours=2), TIME + timedelta(hours=1)), "the times")

    def the_session_appended_to_last_stands_first(self, store: Place) -> None:
        """Sessions are listed by their last append; an append of nothing new doesn't count."""
        keys = [SessionKey(SPACE, name) for name in "abc"]
        for key in keys:
            store.write(tell, say("one"), key)
        store.write(tell, say("two"), keys[1])
        first = store.log.find(keys[0], ["m_"])
        store.log.insert(keys[0], first)
        store.sessions.create(keys[0], None)
        found = [info.key for info in store.sessions.list(SPACE)]
        expect(store.sessions.list("empty space"), [], "the list of an empty space")
        expect(found, [keys[1], keys[2], keys[0]], "the order")

    def branches_are_listed_by_name(self, store: Place) -> None:
        """Every branch that was ever moved is listed with its head; before the first message that is None."""
        messages = store.write(tell, numbered(4))
        store.log.move(KEY, "try", messages[1].id)
        store.log.move(KEY, "blank", None)
        wanted = {"main": head_of(messages[-1]), "try": head_of(messages[1]), "blank": None}
        expect(store.sessions.branches(KEY), wanted, "the branches")
