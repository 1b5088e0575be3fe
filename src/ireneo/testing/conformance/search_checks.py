"""Search: every message and every memory is found by its words, and what is gone is found by none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from ireneo.log.message import Call, Draft, Message, Result, Text, Thinking
from ireneo.log.tree import SessionKey
from ireneo.memories.index import (
    ASSISTANT,
    OTHER,
    USER,
    length_of,
    place_of,
    role_of,
    terms_of_memory,
    terms_of_message,
)
from ireneo.memories.recall.words import author_term
from ireneo.ports.memories import IndexName, IndexSize
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.testing.conformance.check import check, expect
from ireneo.testing.conformance.learned import learned
from ireneo.testing.conformance.material import KEY, SPACE, after, append, aside, numbered, say, tell, tell_after

FOREIGN = "caf\u00e9 cafe \u6771\u4eac\u90fd \u0e01\u0e32\u0e23 \u0939\u093f\u0928\u094d\u0926\u0940"
OTHER_KEY = SessionKey(SPACE, "other")


class BrokenOffError(Exception):
    """Ends a transaction in the middle."""


async def found(tx: Transaction, *terms: str) -> list[list[str]]:
    """The ids of the messages that have each term, in the order of their numbers; counts and postings agree."""
    postings = await tx.search.postings(SPACE, "messages", terms)
    counted = await tx.search.count(SPACE, "messages", terms)
    expect(dict(counted), {term: len(postings[term]) for term in terms}, "how many are counted")
    out: list[list[str]] = []
    for term in terms:
        numbers = list(postings[term])
        expect(numbers, sorted(set(numbers)), "the numbers, rising")
        read = await tx.search.messages(SPACE, numbers)
        expect([each.document for each in read], numbers, "the documents that are read")
        out.append([each.message.id for each in read])
    return out


async def remembered(tx: Transaction, term: str) -> list[str]:
    """The texts of the memories that have a term."""
    numbers = list((await tx.search.postings(SPACE, "memories", [term]))[term])
    expect(dict(await tx.search.count(SPACE, "memories", [term])), {term: len(numbers)}, "how many are counted")
    read = await tx.search.memories(SPACE, numbers)
    expect([each.document for each in read], numbers, "the documents that are read")
    return [each.record.text for each in read]


def size_of(messages: Sequence[Message]) -> IndexSize:
    """What `messages` are as documents."""
    lengths = [len(terms_of_message(message.draft)) for message in messages]
    return IndexSize(documents=sum(length > 0 for length in lengths), terms=sum(lengths))


@check
async def messages_are_found_by_their_words(store: Store) -> None:
    """A message is found by each of its terms, and comes back as paths bring it, with its session."""
    m = await tell(store, say("The ferry sank near Oslo.", "A ferry? Which ferry?", "Nothing of it remains."))
    n = await tell(store, say("Oslo has other ferries."), OTHER_KEY)
    async with store.read() as tx:
        ferry, oslo, remain, none = await found(tx, "ferri", "oslo", "remain", "whale")
        expect(ferry, [m[0].id, m[1].id, n[0].id], "what has the first term")
        expect(oslo, [m[0].id, n[0].id], "what has the second")
        expect(remain, [m[2].id], "what has the third")
        expect(none, [], "what has a term that nothing has")
        numbers = (await tx.search.postings(SPACE, "messages", ["oslo"]))["oslo"]
        # The last one is asked for by its place alone, as a neighbour is.
        read = await tx.search.messages(SPACE, [numbers[1], 1, numbers[0], numbers[1] ^ 4])
        wanted = [(numbers[1], OTHER_KEY, n[0]), (numbers[0], KEY, m[0]), (numbers[1], OTHER_KEY, n[0])]
        expect([(each.document, each.key, each.message) for each in read], wanted, "those read, in the order asked")
        expect(dict(await tx.search.postings(SPACE, "messages", [])), {}, "the postings of no term")


@check
async def a_number_says_where_who_and_how_long(store: Store) -> None:
    """Numbers rise along a session, one place for each message in which there is something to search."""
    thinking = Draft(role="assistant", parts=(Thinking(text="a secret plan"),))
    call = Draft(role="assistant", parts=(Call(id="c", name="read", arguments={"path": "mark.txt"}),))
    result = Draft(role="tool", parts=(Result(call_id="c", parts=(Text(text="mark one"),)),))
    drafts = [*say("mark " * 40), thinking, call, result, Draft(role="user", parts=(Text(text="mark"),))]
    m = await tell(store, drafts)
    async with store.read() as tx:
        numbers = (await tx.search.postings(SPACE, "messages", ["mark"]))["mark"]
        expect(
            [each.message.id for each in await tx.search.messages(SPACE, numbers)],
            [m[0].id, *(x.id for x in m[2:])],
            "order",
        )
        first = place_of(numbers[0])
        expect([place_of(number) - first for number in numbers], [0, 1, 2, 3], "the places")
        expect([role_of(number) for number in numbers], [USER, ASSISTANT, OTHER, USER], "who speaks")
        expect(34 <= length_of(numbers[0]) <= 46, True, "whether the first is about 40 long")
        expect(round(length_of(numbers[3])), 1, "the length of the last")
        expect((await found(tx, "secret"))[0], [], "what is found by what was only thought")


@check
async def authors_are_terms(store: Store) -> None:
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
    m = await tell(store, [aside(name, f"word {number}") for number, name in enumerate(names)])
    harness = Draft(role="user", origin="injected", parts=(Text(text="hush", author="Nobody"),))
    await tell(store, [*say("nobody's words"), harness])
    async with store.read() as tx:
        expect(dict(await tx.search.authors(SPACE)), dict.fromkeys(sorted(names), 1), "the authors")
        for name, message in zip(names, m, strict=True):
            same = [other.id for other, each in zip(m, names, strict=True) if author_term(each) == author_term(name)]
            expect((await found(tx, author_term(name)))[0], same, f"the messages of {message.draft.author!r}")
        expect((await found(tx, "hush", "@nobody", "@", "@ana")), [[], [], [], []], "what nobody says")


@check
async def a_term_is_what_it_is(store: Store) -> None:
    """No term is found by another that is like it, or by a part of it, nor is it heard as a question's own words."""
    await tell(store, say(f"move moves 17smove {FOREIGN}"))
    await tell(store, say("NOT a OR b AND NEAR c near* 1smove"), OTHER_KEY)
    async with store.read() as tx:
        for term in terms_of_message(say(FOREIGN)[0]):
            expect(len((await found(tx, term))[0]), 1, f"the messages with {term!r}")
        odd = ["mov", "MOVE", "move ", " move", "move*", '"', '""', "move OR b", "", "_", "*", "move\x00", "terms:move"]
        expect(await found(tx, *odd), [[] for _ in odd], "the messages with what is no term")


@check
async def what_is_stored_twice_is_one_document(store: Store) -> None:
    """A chain that is there already, or in part, is indexed once; so are those of every branch."""
    m = await tell(store, numbered(4))
    longer = [*m, *after(m[-1], numbered(2, "later"))]
    async with store.write() as tx:
        expect(await tx.log.insert(KEY, m), 0, "new at first")
        expect(await tx.log.insert(KEY, longer), 2, "new then")
        expect(await tx.search.size(SPACE, "messages"), size_of(longer), "the size")
    fork = await tell_after(store, m[1], numbered(2, "fork"))
    async with store.read() as tx:
        expect(await tx.search.size(SPACE, "messages"), size_of([*longer, *fork]), "the size with the fork")
        messages, late, forked = await found(tx, "messag", "later", "fork")
        expect(messages, [each.id for each in m], "the messages")
        expect(late, [each.id for each in longer[4:]], "the later ones")
        expect(forked, [each.id for each in fork], "those of the fork")


@check
async def what_is_pruned_is_not_found(store: Store) -> None:
    """What a prune takes out is no document any more, and its number doesn't come again."""
    trunk = await tell(store, [*numbered(3), aside("Ana", "kept")])
    fork = await tell_after(store, trunk[1], [*numbered(3, "whale"), aside("Bo", "whale too"), aside("Ana", "whale")])
    async with store.write() as tx:
        before = max((await tx.search.postings(SPACE, "messages", ["whale"]))["whale"])
        expect((await tx.upkeep.prune(KEY)).messages, len(fork), "what was pruned")
    async with store.write() as tx:
        expect(await tx.search.size(SPACE, "messages"), size_of(trunk), "the size")
        expect(await found(tx, "whale", "@bo"), [[], []], "what is found of it")
        expect(list(await tx.search.messages(SPACE, [before])), [], "what is read of it")
        expect(list(await tx.search.authors(SPACE)), ["Ana"], "the authors")
        await append(tx, KEY, say("a whale again"))
        again = (await tx.search.postings(SPACE, "messages", ["whale"]))["whale"]
        expect([place_of(number) > place_of(before) for number in again], [True], "whether the next stands after it")


@check
async def what_is_broken_off_is_not_found(store: Store) -> None:
    """A transaction that breaks off leaves no words, and counts nothing."""
    m = await tell(store, numbered(2))
    with suppress(BrokenOffError):
        async with store.write() as tx:
            await append(tx, KEY, say("a whale"))
            await tx.memories.put(SPACE, [learned("A whale was seen.")])
            expect(len((await found(tx, "whale"))[0]), 1, "what is found inside")
            raise BrokenOffError
    async with store.read() as tx:
        expect((await found(tx, "whale"))[0], [], "what is found")
        expect(await remembered(tx, "whale"), [], "the memories that are found")
        expect(await tx.search.size(SPACE, "messages"), size_of(m), "the size")
        expect(await tx.search.size(SPACE, "memories"), IndexSize(documents=0, terms=0), "the size of the memories")


@check
async def memories_are_found_by_their_words(store: Store) -> None:
    """A memory is found by the words of its text, its slot and its name, on a shelf apart from the messages."""
    await tell(store, say("the whale"))
    fact = replace(learned("It left for Oslo."), subject="whale", attribute="home", value="Oslo")
    steps = replace(learned("First look.", kind="procedural"), task_type="diving", name="breathe out")
    async with store.write() as tx:
        await tx.memories.put(SPACE, [fact, steps])
        await tx.memories.put(SPACE, [fact, replace(steps, used=3)])
    async with store.read() as tx:
        expect(await remembered(tx, "whale"), [fact.text], "what is found by its subject")
        expect(await remembered(tx, "oslo"), [fact.text], "what is found by its text")
        expect(await remembered(tx, "home"), [fact.text], "what is found by its attribute")
        expect(await remembered(tx, "breath"), [steps.text], "what is found by its name")
        lengths = [len(terms_of_memory(each)) for each in (fact, steps)]
        expect(await tx.search.size(SPACE, "memories"), IndexSize(documents=2, terms=sum(lengths)), "the size")
        expect(len((await found(tx, "whale"))[0]), 1, "the messages")
        expect(list(await tx.search.memories(SPACE, [0, 5, 1 << 40])), [], "what no number stands for")


@check
async def a_memory_is_found_by_what_it_says_now(store: Store) -> None:
    """A memory that is replaced is found by its new words only, and one that was taken out by none."""
    first = learned("The whale is grey.")
    second = replace(first, text="The squid is grey, they say.")
    silent = learned("\u2026!")
    async with store.write() as tx:
        await tx.memories.put(SPACE, [first, silent])
        await tx.memories.put(SPACE, [second])
        expect(await remembered(tx, "whale"), [], "what is found by the old words")
        expect(await remembered(tx, "squid"), [second.text], "what is found by the new ones")
        expect(await remembered(tx, "grey"), [second.text], "what is found by those of both")
        wanted = IndexSize(documents=1, terms=len(terms_of_memory(second)))
        expect(await tx.search.size(SPACE, "memories"), wanted, "the size")
        await tx.memories.put(SPACE, [replace(silent, text="A squid!"), replace(second, text="\u2026")])
        expect(await remembered(tx, "squid"), ["A squid!"], "what is found by words that came and went")
        await tx.memories.remove(SPACE, [first.id, silent.id])
        expect(await remembered(tx, "squid"), [], "what is found of those that are gone")
        expect(await tx.search.size(SPACE, "memories"), IndexSize(documents=0, terms=0), "the size without them")


@check
async def an_empty_space_has_nothing_to_search(store: Store) -> None:
    """Where nothing was stored everything is empty, and a session without messages changes nothing."""
    shelves: tuple[IndexName, ...] = ("messages", "memories")
    async with store.write() as tx:
        for _ in range(2):
            for shelf in shelves:
                expect(await tx.search.size(SPACE, shelf), IndexSize(documents=0, terms=0), "the size")
                expect(dict(await tx.search.count(SPACE, shelf, ["a", "b"])), {"a": 0, "b": 0}, "the counts")
                found_there = await tx.search.postings(SPACE, shelf, ["a", "a"])
                expect({term: list(each) for term, each in found_there.items()}, {"a": []}, "the postings")
            expect(list(await tx.search.messages(SPACE, [0, 1 << 31, -1])), [], "the messages")
            expect(list(await tx.search.authors(SPACE)), [], "the authors")
            await tx.sessions.create(KEY, None)


@check
async def an_index_that_fits_stays_as_it_is(store: Store) -> None:
    """To index a space anew changes nothing where nothing is wrong, and keeps every number."""
    m = await tell(store, [*numbered(3), aside("Ana", "a whale")])
    await tell_after(store, m[1], numbered(3, "left"))
    async with store.write() as tx:
        await tx.memories.put(SPACE, [learned("A whale was seen."), learned("\u2026")])
        await tx.upkeep.prune(KEY)
        expect(list(await tx.words.faults(SPACE)), [], "the faults")
        before = await all_found(tx)
        expect(await tx.words.rebuild(SPACE), len(m), "the messages that were looked at")
        expect(await all_found(tx), before, "what is found")
        await append(tx, KEY, say("a later whale"))
        late = place_of(max((await tx.search.postings(SPACE, "messages", ["whale"]))["whale"]))
        expect(late > max(map(place_of, before[0]["messag"])), True, "whether the next number is new")
        expect(list(await tx.words.faults(SPACE)), [], "the faults at the end")
        expect(await tx.words.rebuild("another space"), 0, "the messages of a space that has none")


async def all_found(
    tx: Transaction,
) -> tuple[dict[str, list[int]], dict[str, list[int]], IndexSize, IndexSize, list[str]]:
    """What the index of the space has of a few words, and what it counts."""
    terms = ["messag", "whale", "@ana", "left"]
    messages = await tx.search.postings(SPACE, "messages", terms)
    memories = await tx.search.postings(SPACE, "memories", terms)
    return (
        {term: list(messages[term]) for term in terms},
        {term: list(memories[term]) for term in terms},
        await tx.search.size(SPACE, "messages"),
        await tx.search.size(SPACE, "memories"),
        list(await tx.search.authors(SPACE)),
    )
