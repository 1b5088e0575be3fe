"""Search: messages and memories are found by their words, within a branch, a project, or what somebody heard."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from ireneo.errors import SessionNotFound
from ireneo.language.words import author_term
from ireneo.log.message import Call, Draft, Message, MessageId, Result, Text, Thinking, terms_of_message
from ireneo.log.tree import SessionKey
from ireneo.memories.index import ASSISTANT, OTHER, USER, length_of, place_of, role_of, session_of, terms_of_memory
from ireneo.ports.memories import FoundSession, IndexName, IndexSize
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import Place, expect, expect_error
from ireneo.testing.conformance.material import (
    KEY,
    NOWHERE,
    SPACE,
    BrokenOffError,
    after,
    aside,
    break_off,
    learned,
    numbered,
    say,
    tell,
    tell_after,
)

FOREIGN = "caf\u00e9 cafe \u6771\u4eac\u90fd \u0e01\u0e32\u0e23 \u0939\u093f\u0928\u094d\u0926\u0940"
OTHER_KEY = SessionKey(SPACE, "other")


def found(tx: Transaction, *terms: str) -> list[list[str]]:
    """The ids of the messages that have each term, in the order of their numbers; counts and postings agree."""
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
    """What `messages` are as documents."""
    lengths = [len(terms_of_message(message.draft)) for message in messages]
    return IndexSize(documents=sum(length > 0 for length in lengths), terms=sum(lengths))


def all_found(tx: Transaction) -> tuple[dict[str, list[int]], dict[str, list[int]], IndexSize, IndexSize, list[str]]:
    """What the index of the space has of a few words, and what it counts."""
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


def within(tx: Transaction, runs: Sequence[tuple[int, int]], space: str = SPACE) -> set[MessageId]:
    """The messages whose numbers stand in runs, each of which stands for itself."""
    expect(list(runs), sorted(runs), "the runs, rising")
    numbers = tx.search.postings(space, "messages", ["messag"])["messag"]
    chosen = [number for number in numbers if any(first <= number <= last for first, last in runs)]
    return {each.message.id for each in tx.search.messages(space, chosen)}


def ids(messages: Sequence[Message]) -> set[MessageId]:
    """Their ids."""
    return {message.id for message in messages}


class SearchChecks:
    """What every store's search and index of words do."""

    def messages_are_found_by_their_words(self, store: Place) -> None:
        """A message is found by each of its terms, and comes back as paths bring it, with its session."""
        m = store.write(tell, say("The ferry sank near Oslo.", "A ferry? Which ferry?", "Nothing of it remains."))
        n = store.write(tell, say("Oslo has other ferries."), OTHER_KEY)
        ferry, oslo, remain, none = found(store, "ferri", "oslo", "remain", "whale")
        expect(ferry, [m[0].id, m[1].id, n[0].id], "what has the first term")
        expect(oslo, [m[0].id, n[0].id], "what has the second")
        expect(remain, [m[2].id], "what has the third")
        expect(none, [], "what has a term that nothing has")
        numbers = store.search.postings(SPACE, "messages", ["oslo"])["oslo"]
        # The last one is asked for by its place alone, as a neighbour is.
        read = store.search.messages(SPACE, [numbers[1], 1, numbers[0], numbers[1] ^ 4])
        wanted = [(numbers[1], OTHER_KEY, n[0]), (numbers[0], KEY, m[0]), (numbers[1], OTHER_KEY, n[0])]
        expect([(each.document, each.key, each.message) for each in read], wanted, "those read, in the order asked")
        expect(store.search.postings(SPACE, "messages", []), {}, "the postings of no term")

    def a_number_says_where_who_and_how_long(self, store: Place) -> None:
        """Numbers rise along a session, one place for each message in which there is something to search."""
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
        """Who speaks is found by the name, whatever characters it has, and listed as it is written."""
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
        """A chain that is there already, or in part, is indexed once; so are those of every branch."""
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
        """What a prune takes out is no document any more, and its number doesn't come again."""
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
        """A transaction that breaks off leaves no words, and counts nothing."""
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
        """A memory is found by the words of its text, its slot and its name, on a shelf apart from the messages."""
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
        """A memory that is replaced is found by its new words only, and one that was taken out by none."""
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
        """Where nothing was stored everything is empty, and a session without messages changes nothing."""
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
        """To index a space anew changes nothing where nothing is wrong, and keeps every number."""
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
        """A rewind leaves messages on no branch; whatever leads to them again takes them from there."""
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
        """Messages lie on a branch all together, or not; of a session that is not stored nothing is said against it."""
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
        """The project of a session is unknown until it is noted, and is then returned in its space alone."""
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
        """Names of authors and of those present are known, as they are written, by session and by space."""
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
        """Memories known only from other projects are distinguished, and whether there are other projects at all."""
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
        """A session or memory of another project proves there is one; one without a project, or general, doesn't."""

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
