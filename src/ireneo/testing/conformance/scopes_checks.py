"""Scopes: what lies on no branch is told, as is which project a session worked on, and who was there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.errors import SessionNotFound
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import session_of
from ireneo.ports.memories import FoundSession
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.learned import learned
from ireneo.testing.conformance.material import KEY, NOWHERE, SPACE, append, aside, numbered, say, tell, tell_after

OTHER = SessionKey(SPACE, "other")
FOREIGN = SessionKey("foreign", KEY.session)


async def within(tx: Transaction, runs: Sequence[tuple[int, int]], space: str = SPACE) -> set[MessageId]:
    """The messages whose numbers stand in runs, each of which stands for itself."""
    expect(list(runs), sorted(runs), "the runs, rising")
    numbers = (await tx.search.postings(space, "messages", ["messag"]))["messag"]
    chosen = [number for number in numbers if any(first <= number <= last for first, last in runs)]
    return {each.message.id for each in await tx.search.messages(space, chosen)}


def ids(messages: Sequence[Message]) -> set[MessageId]:
    """Their ids."""
    return {message.id for message in messages}


@check
async def what_no_branch_leads_to_is_told(store: Store) -> None:
    """A rewind leaves messages on no branch; whatever leads to them again takes them from there."""
    m = await tell(store, numbered(6))
    async with store.write() as tx:
        expect(list(await tx.search.undone(SPACE)), [], "what lies on no branch at first")
        await tx.log.move(KEY, "main", m[2].id)
        expect(await within(tx, await tx.search.undone(SPACE)), ids(m[3:]), "what a rewind leaves behind")
        fork = await append(tx, KEY, numbered(2, "another message"))
        expect(await within(tx, await tx.search.undone(SPACE)), ids(m[3:]), "the same once it went on elsewhere")
        await tx.log.move(KEY, "kept", m[4].id)
        expect(await within(tx, await tx.search.undone(SPACE)), {m[5].id}, "what is behind another branch")
        await tx.log.move(KEY, "main", m[5].id)
        expect(await within(tx, await tx.search.undone(SPACE)), ids(fork), "the other way, once it is left")
        await tx.log.move(KEY, "main", None)
        expect(await within(tx, await tx.search.undone(SPACE)), {*ids(fork), m[5].id}, "what lies before no branch")
        await tx.upkeep.drop(KEY, "kept")
        expect(await within(tx, await tx.search.undone(SPACE)), ids([*m, *fork]), "all of it, without any branch")
        await tx.log.move(KEY, "main", fork[-1].id)
        await tx.upkeep.prune(KEY)
        expect(list(await tx.search.undone(SPACE)), [], "what lies on no branch once that was taken out")


@check
async def what_is_stored_lies_on_no_branch_until_one_leads_to_it(store: Store) -> None:
    """Messages that are stored and led to by nothing are told as such, in their space alone."""
    m = await tell(store, numbered(2))
    loose = await tell_after(store, m[0], numbered(3, "loose message"))
    await tell(store, numbered(2), FOREIGN)
    async with store.write() as tx:
        expect(await within(tx, await tx.search.undone(SPACE)), ids(loose), "what was stored beside the branch")
        expect(list(await tx.search.undone(FOREIGN.space)), [], "what another space has of it")
        await tx.log.move(KEY, "aside", loose[-1].id)
        expect(list(await tx.search.undone(SPACE)), [], "the same with a branch to it")
        await tx.words.rebuild(SPACE)
        expect(list(await tx.search.undone(SPACE)), [], "the same after the index was made anew")


@check
async def what_does_not_lie_on_a_path_is_told(store: Store) -> None:
    """Of a session the messages beside the path to one of them are told, on whatever branch they are."""
    m = await tell(store, numbered(4))
    fork = await tell_after(store, m[1], numbered(2, "other message"))
    async with store.read() as tx:
        expect(await within(tx, await tx.search.aside(KEY, m[3].id)), ids(fork), "beside the one path")
        expect(await within(tx, await tx.search.aside(KEY, fork[0].id)), {*ids(m[2:]), fork[1].id}, "beside the other")


@check
async def messages_are_known_to_lie_on_branches(store: Store) -> None:
    """Messages lie on a branch all together, or not; of a session that is not stored nothing is said against it."""
    m = await tell(store, numbered(4))
    fork = await tell_after(store, m[1], numbered(2, "fork"))
    loose = await tell_after(store, m[2], numbered(1, "loose"))
    async with store.write() as tx:
        await tx.log.move(KEY, "fork", fork[-1].id)
        named = [
            (KEY.session, [m[0].id, m[3].id]),
            (KEY.session, [m[0].id, fork[1].id]),
            (KEY.session, [m[2].id, loose[0].id]),
            (KEY.session, [MessageId(NOWHERE)]),
            (KEY.session, []),
            ("never made", [m[0].id]),
        ]
        expect(list(await tx.log.lie(SPACE, named)), [True, True, False, False, True, True], "on any branch")
        on_fork = [False, True, False, False, True, True]
        expect(list(await tx.log.lie(SPACE, named, "fork")), on_fork, "on the one that is named")
        expect(list(await tx.log.lie(FOREIGN.space, named[:1])), [True], "in a space without the session")


@check
async def a_session_is_placed_in_a_project(store: Store) -> None:
    """Nobody knows at first which project a session worked on; once noted it is told, in its space alone."""
    m = await tell(store, numbered(1))
    await tell(store, numbered(1), OTHER)
    await tell(store, numbered(1), FOREIGN)
    async with store.write() as tx:
        expect(list(await tx.sessions.unplaced(SPACE)), [OTHER, KEY], "the sessions of which it is not known, by name")
        await tx.sessions.place(KEY, "harbour")
        await tx.sessions.place(OTHER, "")
        expect(list(await tx.sessions.unplaced(SPACE)), [], "those left when it is noted")
        names = [KEY.session, OTHER.session, "never made"]
        expect(dict(await tx.sessions.projects(SPACE, names)), {KEY.session: "harbour"}, "the projects there are")
        expect(dict(await tx.sessions.projects(FOREIGN.space, names)), {}, "those of another space")
        info = await tx.sessions.get(KEY)
        expect(info and info.project, "harbour", "what one session is told with")
        told = {each.key: each.project for each in await tx.sessions.list(SPACE)}
        expect(told, {KEY: "harbour", OTHER: ""}, "what the list tells")
        (number,) = [
            each
            for each in (await tx.search.postings(SPACE, "messages", ["messag"]))["messag"]
            if (await tx.search.messages(SPACE, [each]))[0].message.id == m[0].id
            and (await tx.search.messages(SPACE, [each]))[0].key == KEY
        ]
        key = session_of(number)
        wanted = {key: FoundSession(session=KEY.session, project="harbour")}
        expect(dict(await tx.search.sessions(SPACE, [key, 1 << 30])), wanted, "the session that a number names")
        with expect_error(SessionNotFound, "a session that was never made"):
            await tx.sessions.place(SessionKey(SPACE, "never made"), "harbour")


@check
async def who_speaks_and_who_is_there_is_known(store: Store) -> None:
    """Names of authors and of those present are known, as they are written, by session and by space."""
    await tell(store, [aside("Ana", "A word.", "Bo"), *say('He said "Cy" was there.')])
    await tell(store, [aside('D"ee', "Another word.")], OTHER)
    async with store.read() as tx:
        expect(await tx.log.voices(SPACE), frozenset({"Ana", "Bo", 'D"ee'}), "all who are known in the space")
        expect(await tx.log.voices(SPACE, KEY.session), frozenset({"Ana", "Bo"}), "those of a session")
        expect(await tx.log.voices(SPACE, KEY.session, "Bo"), frozenset({"Bo"}), "one who was there")
        expect(await tx.log.voices(SPACE, None, 'D"ee'), frozenset({'D"ee'}), "one with a mark in the name")
        for name in ("Cy", "An", "bo", "author"):
            expect(await tx.log.voices(SPACE, None, name), frozenset(), f"whether {name} is known")
        expect(await tx.log.voices(SPACE, KEY.session, 'D"ee'), frozenset(), "one of another session")
        expect(await tx.log.voices("foreign"), frozenset(), "those of another space")


@check
async def memories_are_told_apart_by_project(store: Store) -> None:
    """What another project alone is known to have shown is told apart; what is of none, or of several, is not."""
    await tell(store, numbered(1))
    async with store.write() as tx:
        await tx.sessions.place(KEY, "harbour")
        texts = {"harbour": "of the harbour", "mill": "of the mill", "": "of none"}
        for project, text in texts.items():
            record = learned(f"whale {text}")
            piece = replace(record.evidence[0], project=project, session="", messages=())
            await tx.memories.put(SPACE, [replace(record, evidence=(piece,))])
        said = learned("whale of a session")
        await tx.memories.put(SPACE, [replace(said, evidence=(replace(said.evidence[0], session=KEY.session),))])
        both = learned("whale of both")
        pieces = tuple(replace(both.evidence[0], project=each, session="") for each in ("harbour", "mill"))
        await tx.memories.put(SPACE, [replace(both, evidence=pieces)])
        numbers = list((await tx.search.postings(SPACE, "memories", ["whale"]))["whale"])
        for project, gone in (
            ("harbour", {"mill"}),
            ("mill", {"harbour", "session"}),
            ("", {"harbour", "mill", "session", "both"}),
        ):
            here = list(await tx.search.of_project(SPACE, numbers, project))
            expect(here, [each for each in numbers if each in here], "the documents, in the order asked")
            told = {each.record.text.split()[-1] for each in await tx.search.memories(SPACE, here)}
            expect(told, {"harbour", "mill", "none", "session", "both"} - gone, f"what may be of {project!r}")
        expect(list(await tx.search.of_project(FOREIGN.space, [], "mill")), [], "the documents among none")
