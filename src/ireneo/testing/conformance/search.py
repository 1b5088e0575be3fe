"""Search: messages and memories are found by words and by vectors, which are deleted with their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import BadInput, SessionNotFound
from ireneo.language.words import author_term
from ireneo.log.message import Call, Draft, Message, MessageId, Result, Text, Thinking, terms_of_message
from ireneo.log.tree import SessionKey
from ireneo.memories.index import (
    ASSISTANT,
    OTHER,
    USER,
    Vector,
    length_of,
    place_of,
    role_of,
    session_of,
    terms_of_memory,
)
from ireneo.memories.record import Record
from ireneo.ports.memories import FoundSession, IndexName, IndexSize, VectorChanges
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import (
    KEY,
    NOWHERE,
    SPACE,
    BrokenOffError,
    Place,
    after,
    aside,
    break_off,
    expect,
    expect_error,
    learned,
    numbered,
    say,
    tell,
    tell_after,
)

FOREIGN = "caf\u00e9 cafe \u6771\u4eac\u90fd \u0e01\u0e32\u0e23 \u0939\u093f\u0928\u094d\u0926\u0940"
OTHER_KEY = SessionKey(SPACE, "other")


def found(tx: Transaction, *terms: str) -> list[list[str]]:
    """The ids of the messages that have each term, by their numbers; counts and postings must agree."""
    postings = tx.search.postings(SPACE, "messages", terms)
    for at_most in (0, 1):
        few = {term: numbers if len(numbers) <= at_most else [] for term, numbers in postings.items()}
        found = {term: list(each) for term, each in tx.search.postings(SPACE, "messages", terms, at_most).items()}
        expect(found, {term: list(each) for term, each in few.items()}, f"the postings of terms in {at_most} at most")
        so_far = {term: min(len(numbers), at_most + 1) for term, numbers in postings.items()}
        expect(tx.search.count(SPACE, "messages", terms, at_most), so_far, f"how many are counted up to {at_most}")
    counted = tx.search.count(SPACE, "messages", terms)
    expect(dict(counted), {term: len(postings[term]) for term in terms}, "how many are counted")
    out: list[list[str]] = []
    for term in terms:
        numbers = list(postings[term])
        expect(numbers, sorted(set(numbers)), "the numbers, rising")
        read = tx.search.messages(SPACE, numbers)
        expect([each.document for each in read], numbers, "the documents that are read")
        out.append([each.message.id for each in read])
    return out


def remembered(tx: Transaction, term: str) -> list[str]:
    """The texts of the memories that have a term."""
    numbers = list(tx.search.postings(SPACE, "memories", [term])[term])
    expect(tx.search.count(SPACE, "memories", [term]), {term: len(numbers)}, "how many are counted")
    read = tx.search.memories(SPACE, numbers)
    expect([each.document for each in read], numbers, "the documents that are read")
    return [each.record.text for each in read]


def size_of(messages: Sequence[Message]) -> IndexSize:
    """The size that `messages` have as documents."""
    lengths = [len(terms_of_message(message.draft)) for message in messages]
    return IndexSize(documents=sum(length > 0 for length in lengths), terms=sum(lengths))


def all_found(tx: Transaction) -> tuple[dict[str, list[int]], dict[str, list[int]], IndexSize, IndexSize, list[str]]:
    """The results of the space's index for a few words, and its counts."""
    terms = ["messag", "whale", "@ana", "left"]
    messages = tx.search.postings(SPACE, "messages", terms)
    memories = tx.search.postings(SPACE, "memories", terms)
    return (
        {term: list(messages[term]) for term in terms},
        {term: list(memories[term]) for term in terms},
        tx.search.size(SPACE, "messages"),
        tx.search.size(SPACE, "memories"),
        list(tx.search.authors(SPACE)),
    )


ELSEWHERE = SessionKey("foreign", KEY.session)


def within(tx: Transaction, runs: Sequence[tuple[int, int]]) -> set[MessageId]:
    """The ids of the messages whose numbers are in the given ranges, which must be correct."""
    expect(list(runs), sorted(runs), "the runs, rising")
    numbers = tx.search.postings(SPACE, "messages", ["messag"])["messag"]
    chosen = [number for number in numbers if any(first <= number <= last for first, last in runs)]
    return {each.message.id for each in tx.search.messages(SPACE, chosen)}


def ids(messages: Sequence[Message]) -> set[MessageId]:
    """The ids of `messages`."""
    return {message.id for message in messages}


class SearchChecks:
    """Checks of a store's search and index of words."""

    def messages_are_found_by_their_words(self, store: Place) -> None:
        """A message is found by each of its terms, and is returned as paths return it, with its session."""
        m = store.write(tell, say("The ferry sank near Oslo.", "A ferry? Which ferry?", "Nothing of it remains."))
        n = store.write(tell, say("Oslo has other ferries."), OTHER_KEY)
        ferry, oslo, remain, none = found(store, "ferri", "oslo", "remain", "whale")
        expect(ferry, [m[0].id, m[1].id, n[0].id], "what has the first term")
        expect(oslo, [m[0].id, n[0].id], "what has the second")
        expect(remain, [m[2].id], "what has the third")
        expect(none, [], "what has a term that nothing has")
        numbers = store.search.postings(SPACE, "messages", ["oslo"])["oslo"]
        # The last one is asked for only by its number, as a neighbour is.
        read = store.search.messages(SPACE, [numbers[1], 1, numbers[0], numbers[1] ^ 4])
        wanted = [(numbers[1], OTHER_KEY, n[0]), (numbers[0], KEY, m[0]), (numbers[1], OTHER_KEY, n[0])]
        expect([(each.document, each.key, each.message) for each in read], wanted, "those read, in the order asked")
        expect(store.search.postings(SPACE, "messages", []), {}, "the postings of no term")

    def a_number_says_where_who_and_how_long(self, store: Place) -> None:
        """Numbers increase along a session, one for each message that has something to search."""
        thinking = Draft(role="assistant", parts=(Thinking(text="a secret plan"),))
        call = Draft(role="assistant", parts=(Call(id="c", name="read", arguments={"path": "mark.txt"}),))
        result = Draft(role="tool", parts=(Result(call_id="c", parts=(Text(text="mark one"),)),))
        drafts = [*say("mark " * 40), thinking, call, result, Draft(role="user", parts=(Text(text="mark"),))]
        m = store.write(tell, drafts)
        numbers = store.search.postings(SPACE, "messages", ["mark"])["mark"]
        expect(
            [each.message.id for each in store.search.messages(SPACE, numbers)],
            [m[0].id, *(x.id for x in m[2:])],
            "order",
        )
        first = place_of(numbers[0])
        expect([place_of(number) - first for number in numbers], [0, 1, 2, 3], "the places")
        expect([role_of(number) for number in numbers], [USER, ASSISTANT, OTHER, USER], "who speaks")
        expect(34 <= length_of(numbers[0]) <= 46, True, "whether the first is about 40 long")
        expect(round(length_of(numbers[3])), 1, "the length of the last")
        expect(found(store, "secret")[0], [], "what is found by what was only thought")

    def authors_are_terms(self, store: Place) -> None:
        """Authors are found by name, whatever characters it has, and listed as they are written."""
        names = [
            "Ana Lopez",
            "ana lopez",
            "O'Neill-2",
            "\u0130\u00df \u738b\u5c0f\u660e",
            'a"b*c',
            "x\x00_y",
            "Zo\u00eb  (away)",
        ]
        m = store.write(tell, [aside(name, f"word {number}") for number, name in enumerate(names)])
        harness = Draft(role="user", origin="injected", parts=(Text(text="hush", author="Nobody"),))
        store.write(tell, [*say("nobody's words"), harness])
        expect(store.search.authors(SPACE), dict.fromkeys(sorted(names), 1), "the authors")
        for name, message in zip(names, m, strict=True):
            same = [other.id for other, each in zip(m, names, strict=True) if author_term(each) == author_term(name)]
            expect(found(store, author_term(name))[0], same, f"the messages of {message.draft.author!r}")
        expect(found(store, "hush", "@nobody", "@", "@ana"), [[], [], [], []], "what nobody says")

    def a_term_is_what_it_is(self, store: Place) -> None:
        """No term is found by a similar one or a part of it, and none is read as query syntax."""
        store.write(tell, say(f"move moves 17smove {FOREIGN}"))
        store.write(tell, say("NOT a OR b AND NEAR c near* 1smove"), OTHER_KEY)
        for term in terms_of_message(say(FOREIGN)[0]):
            expect(len(found(store, term)[0]), 1, f"the messages with {term!r}")
        odd = ["mov", "MOVE", "move ", " move", "move*", '"', '""', "move OR b", "", "_", "*", "move\x00", "terms:move"]
        expect(found(store, *odd), [[] for _ in odd], "the messages with what is no term")

    def what_is_stored_twice_is_one_document(self, store: Place) -> None:
        """A chain that is stored again, or in part, is indexed once; so are chains on several branches."""
        m = store.write(tell, numbered(4))
        longer = [*m, *after(m[-1], numbered(2, "later"))]
        expect(store.log.insert(KEY, m), 0, "new at first")
        expect(store.log.insert(KEY, longer), 2, "new then")
        expect(store.search.size(SPACE, "messages"), size_of(longer), "the size")
        fork = store.write(tell_after, m[1], numbered(2, "fork"))
        expect(store.search.size(SPACE, "messages"), size_of([*longer, *fork]), "the size with the fork")
        messages, late, forked = found(store, "messag", "later", "fork")
        expect(messages, [each.id for each in m], "the messages")
        expect(late, [each.id for each in longer[4:]], "the later ones")
        expect(forked, [each.id for each in fork], "those of the fork")

    def what_is_pruned_is_not_found(self, store: Place) -> None:
        """Pruned messages are no longer documents, and their numbers are not used again."""
        trunk = store.write(tell, [*numbered(3), aside("Ana", "kept")])
        fork = store.write(
            tell_after, trunk[1], [*numbered(3, "whale"), aside("Bo", "whale too"), aside("Ana", "whale")]
        )
        before = max(store.search.postings(SPACE, "messages", ["whale"])["whale"])
        expect(store.upkeep.prune(KEY).messages, len(fork), "what was pruned")
        expect(store.search.size(SPACE, "messages"), size_of(trunk), "the size")
        expect(found(store, "whale", "@bo"), [[], []], "what is found of it")
        expect(store.search.messages(SPACE, [before]), [], "what is read of it")
        expect(list(store.search.authors(SPACE)), ["Ana"], "the authors")
        store.write(tell, say("a whale again"))
        again = store.search.postings(SPACE, "messages", ["whale"])["whale"]
        expect([place_of(number) > place_of(before) for number in again], [True], "whether the next stands after it")

    async def what_is_broken_off_is_not_found(self, store: Store) -> None:
        """A transaction that is rolled back leaves no words and changes no counts."""
        m = await store.write(tell, numbered(2))

        def steps(tx: Transaction) -> None:
            tell(tx, say("a whale"))
            tx.memories.put(SPACE, [learned("A whale was seen.")])
            expect(len(found(tx, "whale")[0]), 1, "what is found inside")

        def look(tx: Transaction) -> None:
            expect(found(tx, "whale")[0], [], "what is found")
            expect(remembered(tx, "whale"), [], "the memories that are found")
            expect(tx.search.size(SPACE, "messages"), size_of(m), "the size")
            expect(tx.search.size(SPACE, "memories"), IndexSize(documents=0, terms=0), "the size of the memories")

        with suppress(BrokenOffError):
            await store.write(break_off, steps)
        await store.read(look)

    def memories_are_found_by_their_words(self, store: Place) -> None:
        """A memory is found by the words of its text, slot and name, in an index of its own."""
        store.write(tell, say("the whale"))
        fact = replace(learned("It left for Oslo."), subject="whale", attribute="home", value="Oslo")
        steps = replace(learned("First look.", kind="procedural"), task_type="diving", name="breathe out")
        store.memories.put(SPACE, [fact, steps])
        store.memories.put(SPACE, [fact, replace(steps, used=3)])
        expect(remembered(store, "whale"), [fact.text], "what is found by its subject")
        expect(remembered(store, "oslo"), [fact.text], "what is found by its text")
        expect(remembered(store, "home"), [fact.text], "what is found by its attribute")
        expect(remembered(store, "breath"), [steps.text], "what is found by its name")
        lengths = [len(terms_of_memory(each)) for each in (fact, steps)]
        expect(store.search.size(SPACE, "memories"), IndexSize(documents=2, terms=sum(lengths)), "the size")
        expect(len(found(store, "whale")[0]), 1, "the messages")
        expect(store.search.memories(SPACE, [0, 5, 1 << 40]), [], "what no number stands for")

    def a_memory_is_found_by_what_it_says_now(self, store: Place) -> None:
        """A replaced memory is found by its new words only, and a deleted one by none."""
        first = learned("The whale is grey.")
        second = replace(first, text="The squid is grey, they say.")
        silent = learned("\u2026!")
        store.memories.put(SPACE, [first, silent])
        store.memories.put(SPACE, [second])
        expect(remembered(store, "whale"), [], "what is found by the old words")
        expect(remembered(store, "squid"), [second.text], "what is found by the new ones")
        expect(remembered(store, "grey"), [second.text], "what is found by those of both")
        wanted = IndexSize(documents=1, terms=len(terms_of_memory(second)))
        expect(store.search.size(SPACE, "memories"), wanted, "the size")
        store.memories.put(SPACE, [replace(silent, text="A squid!"), replace(second, text="\u2026")])
        expect(remembered(store, "squid"), ["A squid!"], "what is found by words that came and went")
        store.memories.remove(SPACE, [first.id, silent.id])
        expect(remembered(store, "squid"), [], "what is found of those that are gone")
        expect(store.search.size(SPACE, "memories"), IndexSize(documents=0, terms=0), "the size without them")

    def an_empty_space_has_nothing_to_search(self, store: Place) -> None:
        """In an empty space every search is empty, and a session without messages changes nothing."""
        shelves: tuple[IndexName, ...] = ("messages", "memories")
        for _ in range(2):
            for shelf in shelves:
                expect(store.search.size(SPACE, shelf), IndexSize(documents=0, terms=0), "the size")
                expect(store.search.count(SPACE, shelf, ["a", "b"]), {"a": 0, "b": 0}, "the counts")
                found_there = store.search.postings(SPACE, shelf, ["a", "a"])
                expect({term: list(each) for term, each in found_there.items()}, {"a": []}, "the postings")
            expect(store.search.messages(SPACE, [0, 1 << 31, -1]), [], "the messages")
            expect(list(store.search.authors(SPACE)), [], "the authors")
            store.sessions.create(KEY, None)

    def an_index_that_fits_stays_as_it_is(self, store: Place) -> None:
        """Rebuilding the index of a space changes nothing if nothing is wrong, and keeps every number."""
        m = store.write(tell, [*numbered(3), aside("Ana", "a whale")])
        store.write(tell_after, m[1], numbered(3, "left"))
        store.memories.put(SPACE, [learned("A whale was seen."), learned("\u2026")])
        store.upkeep.prune(KEY)
        expect(store.words.faults(SPACE), [], "the faults")
        before = all_found(store)
        expect(store.words.rebuild(SPACE), len(m), "the messages that were looked at")
        expect(all_found(store), before, "what is found")
        store.write(tell, say("a later whale"))
        late = place_of(max(store.search.postings(SPACE, "messages", ["whale"])["whale"]))
        expect(late > max(map(place_of, before[0]["messag"])), True, "whether the next number is new")
        expect(store.words.faults(SPACE), [], "the faults at the end")
        expect(store.words.rebuild("another space"), 0, "the messages of a space that has none")

    def messages_on_no_branch_are_listed(self, store: Place) -> None:
        """A rewind leaves messages on no branch, until a branch leads to them again."""
        m = store.write(tell, numbered(6))
        expect(store.search.abandoned(SPACE), [], "what lies on no branch at first")
        store.log.move(KEY, "main", m[2].id)
        expect(within(store, store.search.abandoned(SPACE)), ids(m[3:]), "what a rewind leaves behind")
        fork = store.write(tell, numbered(2, "another message"))
        expect(within(store, store.search.abandoned(SPACE)), ids(m[3:]), "the same once it went on elsewhere")
        store.log.move(KEY, "kept", m[4].id)
        expect(within(store, store.search.abandoned(SPACE)), {m[5].id}, "what is behind another branch")
        store.log.move(KEY, "main", m[5].id)
        expect(within(store, store.search.abandoned(SPACE)), ids(fork), "the other way, once it is left")
        store.log.move(KEY, "main", None)
        expect(within(store, store.search.abandoned(SPACE)), {*ids(fork), m[5].id}, "what lies before no branch")
        store.upkeep.drop_branch(KEY, "kept")
        expect(within(store, store.search.abandoned(SPACE)), ids([*m, *fork]), "all of it, without any branch")
        store.log.move(KEY, "main", fork[-1].id)
        store.upkeep.prune(KEY)
        expect(store.search.abandoned(SPACE), [], "what lies on no branch once that was taken out")

    def what_is_stored_lies_on_no_branch_until_one_leads_to_it(self, store: Place) -> None:
        """Stored messages on no branch are listed, in their space alone."""
        m = store.write(tell, numbered(2))
        loose = store.write(tell_after, m[0], numbered(3, "loose message"))
        store.write(tell, numbered(2), ELSEWHERE)
        expect(within(store, store.search.abandoned(SPACE)), ids(loose), "what was stored beside the branch")
        expect(store.search.abandoned(ELSEWHERE.space), [], "what another space has of it")
        store.log.move(KEY, "aside", loose[-1].id)
        expect(store.search.abandoned(SPACE), [], "the same with a branch to it")
        store.words.rebuild(SPACE)
        expect(store.search.abandoned(SPACE), [], "the same after the index was made anew")

    def messages_off_a_path_are_listed(self, store: Place) -> None:
        """The messages of a session that are off the path to one of them are listed, on any branch."""
        m = store.write(tell, numbered(4))
        fork = store.write(tell_after, m[1], numbered(2, "other message"))
        expect(within(store, store.search.off_path(KEY, m[3].id)), ids(fork), "beside the one path")
        expect(within(store, store.search.off_path(KEY, fork[0].id)), {*ids(m[2:]), fork[1].id}, "beside the other")

    def messages_are_known_to_lie_on_branches(self, store: Place) -> None:
        """Whether messages are all on a branch is known; a session that is not stored has nothing against it."""
        m = store.write(tell, numbered(4))
        fork = store.write(tell_after, m[1], numbered(2, "fork"))
        loose = store.write(tell_after, m[2], numbered(1, "loose"))
        store.log.move(KEY, "fork", fork[-1].id)
        named = [
            (KEY.session, [m[0].id, m[3].id]),
            (KEY.session, [m[0].id, fork[1].id]),
            (KEY.session, [m[2].id, loose[0].id]),
            (KEY.session, [MessageId(NOWHERE)]),
            (KEY.session, []),
            ("never made", [m[0].id]),
        ]
        expect(store.log.on_branch(SPACE, named), [True, True, False, False, True, True], "on any branch")
        on_fork = [False, True, False, False, True, True]
        expect(store.log.on_branch(SPACE, named, "fork"), on_fork, "on the one that is named")
        expect(store.log.on_branch(ELSEWHERE.space, named[:1]), [True], "in a space without the session")

    def a_session_is_placed_in_a_project(self, store: Place) -> None:
        """The project of a session is unknown until it is set, and then known in its space alone."""
        m = store.write(tell, numbered(1))
        store.write(tell, numbered(1), OTHER_KEY)
        store.write(tell, numbered(1), ELSEWHERE)
        expect(
            store.sessions.without_project(SPACE), [OTHER_KEY, KEY], "the sessions of which it is not known, by name"
        )
        store.sessions.set_project(KEY, "harbour")
        store.sessions.set_project(OTHER_KEY, "")
        expect(store.sessions.without_project(SPACE), [], "those left when it is noted")
        names = [KEY.session, OTHER_KEY.session, "never made"]
        expect(store.sessions.projects(SPACE, names), {KEY.session: "harbour"}, "the projects there are")
        expect(store.sessions.projects(ELSEWHERE.space, names), {}, "those of another space")
        info = store.sessions.get(KEY)
        expect(info and info.project, "harbour", "what one session is told with")
        told = {each.key: each.project for each in store.sessions.list(SPACE)}
        expect(told, {KEY: "harbour", OTHER_KEY: ""}, "what the list tells")
        (number,) = [
            each
            for each in store.search.postings(SPACE, "messages", ["messag"])["messag"]
            if store.search.messages(SPACE, [each])[0].message.id == m[0].id
            and store.search.messages(SPACE, [each])[0].key == KEY
        ]
        key = session_of(number)
        wanted = {key: FoundSession(session=KEY.session, project="harbour")}
        expect(store.search.sessions(SPACE, [key, 1 << 30]), wanted, "the session that a number names")
        with expect_error(SessionNotFound, "a session that was never made"):
            store.sessions.set_project(SessionKey(SPACE, "never made"), "harbour")

    def who_speaks_and_who_is_there_is_known(self, store: Place) -> None:
        """The names of authors and of those present are known as they are written, by session and by space."""
        store.write(tell, [aside("Ana", "A word.", "Bo"), *say('He said "Cy" was there.')])
        store.write(tell, [aside('D"ee', "Another word.")], OTHER_KEY)
        expect(store.log.speakers(SPACE), frozenset({"Ana", "Bo", 'D"ee'}), "all who are known in the space")
        expect(store.log.speakers(SPACE, KEY.session), frozenset({"Ana", "Bo"}), "those of a session")
        expect(store.log.speakers(SPACE, KEY.session, "Bo"), frozenset({"Bo"}), "one who was there")
        expect(store.log.speakers(SPACE, None, 'D"ee'), frozenset({'D"ee'}), "one with a mark in the name")
        for name in ("Cy", "An", "bo", "author"):
            expect(store.log.speakers(SPACE, None, name), frozenset(), f"whether {name} is known")
        expect(store.log.speakers(SPACE, KEY.session, 'D"ee'), frozenset(), "one of another session")
        expect(store.log.speakers("foreign"), frozenset(), "those of another space")

    def memories_are_separated_by_project(self, store: Place) -> None:
        """Memories known only from other projects are told apart, and whether there are other projects at all."""
        store.write(tell, numbered(1))
        store.sessions.set_project(KEY, "harbour")
        texts = {"harbour": "of the harbour", "mill": "of the mill", "": "of none"}
        for project, text in texts.items():
            record = learned(f"whale {text}")
            piece = replace(record.evidence[0], project=project, session="", messages=())
            store.memories.put(SPACE, [replace(record, evidence=(piece,))])
        said = learned("whale of a session")
        store.memories.put(SPACE, [replace(said, evidence=(replace(said.evidence[0], session=KEY.session),))])
        both = learned("whale of both")
        pieces = tuple(replace(both.evidence[0], project=each, session="") for each in ("harbour", "mill"))
        store.memories.put(SPACE, [replace(both, evidence=pieces)])
        numbers = list(store.search.postings(SPACE, "memories", ["whale"])["whale"])
        for projects, gone in (
            (["harbour", ""], {"mill"}),
            (["mill", ""], {"harbour", "session"}),
            (["mill"], {"harbour", "session", "none"}),
            ([""], {"harbour", "mill", "session", "both"}),
            ([], {"harbour", "mill", "session", "both", "none"}),
        ):
            here = list(store.search.of_projects(SPACE, numbers, projects))
            expect(here, [each for each in numbers if each in here], "the documents, in the order asked")
            told = {each.record.text.split()[-1] for each in store.search.memories(SPACE, here)}
            expect(told, {"harbour", "mill", "none", "session", "both"} - gone, f"what may be of {projects!r}")
        expect(store.search.of_projects(ELSEWHERE.space, [], ["mill"]), [], "the documents among none")

    def it_is_known_whether_there_are_other_projects(self, store: Place) -> None:
        """A session or memory of another project proves there is one; a general one, or one of no project, doesn't."""

        def others() -> list[str]:
            return [each for each in ("harbour", "mill", "") if store.search.knows_other_project(SPACE, each)]

        def put(project: str) -> None:
            record = learned(f"a whale of {project}")
            piece = replace(record.evidence[0], project=project, session="", messages=())
            store.memories.put(SPACE, [replace(record, evidence=(piece,))])

        store.write(tell, numbered(1))
        put("")
        put("*")
        expect(others(), [], "from where there are others, where nothing is of any")
        store.sessions.set_project(KEY, "harbour")
        expect(others(), ["mill", ""], "from where there are others beside a session's")
        store.sessions.set_project(KEY, "*")
        expect(others(), [], "from where there are others, where a session is meant for all")
        put("mill")
        expect(others(), ["harbour", ""], "from where there are others beside a memory's")
        expect(store.search.knows_other_project(ELSEWHERE.space, "harbour"), False, "what is elsewhere")


# Vectors.

EMBEDDER = "tiny:1"
ONE, TWO, THREE = bytes([127, 0, 3]), bytes([0, 127, 1]), bytes([129, 5, 0])


def said(tx: Transaction, *words: str) -> list[Message]:
    """Append messages; their documents then need vectors."""
    return tell(tx, say(*words))


def told(tx: Transaction, *words: str) -> list[Record]:
    """Store memories; their documents then need vectors."""
    records = [learned(word) for word in words]
    tx.memories.put(SPACE, records)
    return records


def due(tx: Transaction, shelf: IndexName = "memories", embedder: str = EMBEDDER, space: str = SPACE) -> Sequence[int]:
    """All documents that need a vector."""
    return tx.vectors.due(space, shelf, embedder, 1_000)


def put(tx: Transaction, vectors: Mapping[int, Vector], shelf: IndexName = "memories", embedder: str = EMBEDDER) -> int:
    """Store vectors."""
    return tx.vectors.put(SPACE, shelf, embedder, vectors)


def since(tx: Transaction, change: int = 0, shelf: IndexName = "memories", embedder: str = EMBEDDER) -> VectorChanges:
    """The changes after a given change."""
    return tx.vectors.since(SPACE, shelf, embedder, change)


class VectorChecks:
    """Checks of a store's vectors."""

    def nothing_is_due_where_there_is_nothing(self, store: Place) -> None:
        """A space without documents has no vectors, no changes, and nothing that needs a vector."""
        expect(due(store), [], "what is due")
        expect(since(store), VectorChanges(change=0, added={}, removed=[], whole=False), "the changes")
        expect(store.vectors.embedders(SPACE), [], "the embedders")
        expect(store.vectors.drop(SPACE, EMBEDDER), 0, "the vectors that were dropped")
        expect(store.vectors.put(SPACE, "memories", EMBEDDER, {}), 0, "what was put")

    def a_document_is_due_until_it_has_a_vector(self, store: Place) -> None:
        """Messages and memories without a vector of an embedder are listed for each index, newest first."""
        said(store, "the tide", "the moon")
        told(store, "a fact", "another", "a third")
        messages, memories = due(store, "messages"), due(store)
        expect([len(messages), len(memories)], [2, 3], "the documents that are due")
        for documents in (messages, memories):
            expect(list(documents), sorted(documents, reverse=True), "their order")
        found = store.search.messages(SPACE, messages)
        expect([each.message.draft.text for each in found], ["the moon", "the tide"], "the messages that are due")
        expect(store.vectors.due(SPACE, "memories", EMBEDDER, 2), list(memories[:2]), "the first two")
        expect(put(store, {memories[0]: ONE, memories[2]: TWO}), 2, "the vectors that are new")
        expect(due(store), [memories[1]], "what is left")
        expect(len(due(store, embedder="other:1")), 3, "what is due of another embedder")
        expect(len(due(store, "messages")), 2, "what is due on the other shelf")

    def each_change_is_reported_once(self, store: Place) -> None:
        """A reader that has seen changes up to one gets the later ones, each once."""
        told(store, "a fact", "another", "a third")
        a, b, c = sorted(due(store))
        put(store, {a: ONE, b: TWO})
        first = since(store)
        expect(
            (dict(first.added), list(first.removed), first.whole), ({a: ONE, b: TWO}, [], False), "the first changes"
        )
        again = since(store, first.change)
        expect((dict(again.added), again.change), ({}, first.change), "the changes after them")
        expect(put(store, {a: ONE, b: THREE, c: ONE}), 2, "what is new or other than before")
        more = since(store, first.change)
        expect(more.added, {b: THREE, c: ONE}, "the changes since")
        expect(more.change > first.change, True, "whether the number grew")
        expect(since(store).added, {a: ONE, b: THREE, c: ONE}, "all of it")
        ahead = since(store, more.change + 5)
        expect((dict(ahead.added), ahead.change), ({}, more.change + 5), "the changes after one that is not there yet")

    def what_is_likely_holds_the_nearest(self, store: Place) -> None:
        """A store's own vector search returns the nearest and nothing deleted; a store may leave it to the caller."""
        kept, removed = told(store, "a fact", "another")
        documents = {each.record.id: each.document for each in store.search.memories(SPACE, due(store))}
        put(store, {documents[kept.id]: ONE, documents[removed.id]: TWO})
        store.memories.remove(SPACE, [removed.id])
        for query in (ONE, TWO):
            likely = store.vectors.likely(SPACE, "memories", EMBEDDER, query, 2)
            expect(likely in (None, {documents[kept.id]: ONE}), True, "whether what is likely is what is there")
        expect(store.vectors.likely(SPACE, "memories", "other:1", ONE, 1), None, "what is likely of another embedder")

    def a_memory_that_is_removed_takes_its_vectors_along(self, store: Place) -> None:
        """Deleting a memory deletes its vectors of every embedder in the same transaction, and reports it."""
        kept, removed = told(store, "a fact", "another")
        documents = {}
        numbers = due(store)
        for each in store.search.memories(SPACE, numbers):
            documents[each.record.id] = each.document
        of_both = dict.fromkeys(documents.values(), ONE)
        put(store, of_both)
        put(store, of_both, embedder="other:1")
        before = since(store)
        store.memories.remove(SPACE, [removed.id])
        inside = store.vectors.since(SPACE, "memories", EMBEDDER, before.change)
        expect(inside.removed, [documents[removed.id]], "what the transaction itself sees")
        after = since(store, before.change)
        expect((dict(after.added), list(after.removed)), ({}, [documents[removed.id]]), "what changed")
        for embedder in (EMBEDDER, "other:1"):
            left = since(store, embedder=embedder)
            expect((list(left.added), list(left.removed)), ([documents[kept.id]], []), f"what is left of {embedder}")
        expect(put(store, of_both), 0, "what is put of a document that is gone")
        expect(list(since(store).added), [documents[kept.id]], "what is there then")

    def a_memory_that_says_something_else_is_due_again(self, store: Place) -> None:
        """A memory loses its vector if its text changes, and keeps it if anything else does."""
        (record,) = told(store, "a fact")
        (document,) = due(store)
        put(store, {document: ONE})
        before = since(store)
        store.memories.put(SPACE, [replace(record, seen=3, state="superseded")])
        expect(due(store), [], "what is due after another change")
        store.memories.put(SPACE, [replace(record, text="a fake")])
        (again,) = due(store)
        expect(since(store, before.change).removed, [document], "what lost its vector")
        expect(put(store, {again: TWO}), 1, "what is put of the new text")
        after = since(store, before.change)
        lost = [each for each in after.removed if each != again]
        expect((dict(after.added), lost), ({again: TWO}, [] if again == document else [document]), "all that changed")

    def messages_that_are_pruned_take_their_vectors_along(self, store: Place) -> None:
        """Pruning messages deletes their vectors."""
        stays, goes = said(store, "the tide", "the moon")
        moon, tide = due(store, "messages")
        put(store, {tide: ONE, moon: TWO}, "messages")
        before = since(store, shelf="messages")
        store.log.move(KEY, "main", stays.id)
        store.upkeep.prune(KEY)
        after = since(store, before.change, "messages")
        expect((dict(after.added), list(after.removed)), ({}, [moon]), f"what changed when {goes.id} went")
        expect(since(store, shelf="messages").added, {tide: ONE}, "what is left")
        expect(put(store, {moon: TWO}, "messages"), 0, "what is put of a message that is gone")

    def vectors_keep_to_their_space(self, store: Place) -> None:
        """No space sees another's vectors, or can store one for another's document."""
        told(store, "a fact")
        said(store, "the tide")
        (memory,), (message,) = due(store), due(store, "messages")
        put(store, {memory: ONE})
        expect(due(store, space="elsewhere"), [], "what is due elsewhere")
        shelves: dict[IndexName, int] = {"memories": memory, "messages": message}
        for shelf, document in shelves.items():
            expect(store.vectors.put("elsewhere", shelf, EMBEDDER, {document: TWO}), 0, "what is put elsewhere")
            expect(store.vectors.since("elsewhere", shelf, EMBEDDER, 0).added, {}, "what is seen elsewhere")
        expect(store.vectors.embedders("elsewhere"), [], "the embedders elsewhere")
        expect(store.vectors.drop("elsewhere", EMBEDDER), 0, "what is dropped elsewhere")
        expect(since(store).added, {memory: ONE}, "what is there still")

    def an_embedder_is_dropped_with_all_its_vectors(self, store: Place) -> None:
        """Dropped vectors are needed again, and readers are told to drop them; other embedders keep theirs."""
        told(store, "a fact")
        said(store, "the tide")
        (memory,), (message,) = due(store), due(store, "messages")
        put(store, {memory: ONE})
        put(store, {message: ONE}, "messages")
        put(store, {memory: TWO}, embedder="other:1")
        before = since(store)
        expect(store.vectors.embedders(SPACE), ["other:1", EMBEDDER], "the embedders")
        expect(store.vectors.drop(SPACE, EMBEDDER), 2, "the vectors that were dropped")
        expect(store.vectors.embedders(SPACE), ["other:1"], "the embedders that are left")
        expect((list(due(store)), list(due(store, "messages"))), ([memory], [message]), "what is due again")
        # The embedder may return, even with vectors of another length.
        put(store, {memory: THREE + bytes(5)})
        after = since(store, before.change)
        expect((after.whole, dict(after.added)), (True, {memory: THREE + bytes(5)}), "what is told")
        expect(since(store, embedder="other:1").added, {memory: TWO}, "what the other embedder has")

    def vectors_of_another_length_are_turned_away(self, store: Place) -> None:
        """All vectors of an embedder in a space have one length; others raise BadInput, and none of them is stored."""
        told(store, "a fact", "another")
        a, b = due(store)
        with expect_error(BadInput, "two lengths at once"):
            put(store, {a: ONE, b: ONE[:2]})
        with expect_error(BadInput, "a vector without dimensions"):
            put(store, {a: b""})
        put(store, {a: ONE})
        with expect_error(BadInput, "another length than those before"):
            put(store, {b: ONE[:2]})
        expect(since(store).added, {a: ONE}, "what is there")

    async def vectors_that_were_not_committed_are_not_there(self, store: Store) -> None:
        """Vectors of a transaction that raised are needed again, and never count as changes."""

        def steps(tx: Transaction) -> None:
            put(tx, dict.fromkeys(due(tx), ONE))

        await store.write(told, "a fact")
        with suppress(BrokenOffError):
            await store.write(break_off, steps)
        expect(len(await store.read(due)), 1, "what is due")
        expect((await store.read(since)).change, 0, "the newest change")
