"""What of that which runs taught goes when something is forgotten."""

from __future__ import annotations

from msgspec.structs import replace
from tests.unit.test_forget import NOON, fact, heard, keep, kept, living, talk

from ireneo import Memory
from ireneo.lessons.run import DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import MessageId
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Store, Transaction


async def teach(store: Store, session: str, ids: list[str], *cues: str, told: str = "The lamp went out.") -> None:
    """A run of a session, what it shows of some claims, and the file that it came from."""
    first, last = MessageId(ids[0]), MessageId(ids[-1])
    entry = DiaryEntry(goal="Light it.", opening=first, last=last, failed=(DiaryLine(text=told, sources=(last,)),))
    run = LearnedRun(session=session, head=last, learner="1", learned=NOON, diary=(entry,), source=f"{session}.jsonl")
    seen = [
        Observation(cue=cue, category="failure", session=session, held=1, text=told, sources=(first,)) for cue in cues
    ]
    file = LearnedFile(digest=session, learner="1", name=f"{session}.jsonl", at=NOON, sessions=(session,))

    def change(tx: Transaction) -> None:
        tx.runs.put("mine", run, seen)
        tx.ledger.mark("mine", file)

    await store.write(change)


async def left(store: Store) -> tuple[list[str], list[str], dict[str, str]]:
    """The sessions with a run, the claims, and the files by digest, that are left."""

    def look(tx: Transaction) -> tuple[list[str], list[str], dict[str, str]]:
        runs = sorted(run.session for run in tx.runs.list("mine"))
        files = {file.digest: file.name for file in tx.ledger.list("mine")}
        return runs, [claim.cue for claim in tx.runs.claims("mine")], files

    return await store.read(look)


BOTH = (["one", "two"], ["dark", "oil", "wick"], {"one": "one.jsonl", "two": "two.jsonl"})


async def two(memory: Memory, store: Store) -> dict[str, list[str]]:
    """Two sessions that were learned from; one claim is of both."""
    out = {}
    for session, cue in (("one", "oil"), ("two", "wick")):
        out[session] = await talk(memory, session, f"Light the {session} lamp.", "It went out.", "Then mend it.")
        await teach(store, session, out[session], "dark", cue)
    assert await left(store) == BOTH
    return out


async def test_a_run_goes_with_its_session_and_its_file_loses_its_name() -> None:
    async with living() as (memory, store):
        await two(memory, store)
        preview = (await memory.forget(session="one", preview=True)).what
        assert await left(store) == BOTH
        what = (await memory.forget(session="one")).what
        assert (what.runs, what.observations, what.files) == (1, 2, 1)
        assert (preview.runs, preview.observations, preview.files) == (1, 2, 1)
        assert await left(store) == (["two"], ["dark", "wick"], {"one": "", "two": "two.jsonl"})

        def look(tx: Transaction) -> None:
            assert [file.sessions for file in tx.ledger.list("mine")] == [(), ("two",)]
            # It stands in the log still, and must not be learned from again.
            assert tx.ledger.known("mine", "1", ["one"]) == {"one"}

        await store.read(look)


async def test_a_session_that_lost_a_message_is_learned_from_again() -> None:
    async with living() as (memory, store):
        ids = await two(memory, store)
        what = (await memory.forget(message=ids["two"][1])).what
        assert (what.messages, what.runs, what.observations, what.files) == (1, 1, 2, 1)
        assert await left(store) == (["one"], ["dark", "oil"], {"one": "one.jsonl"})
        assert await store.read(lambda tx: tx.ledger.known("mine", "1", ["one", "two"])) == {"one"}


async def test_what_names_a_subject_goes_with_it() -> None:
    async with living() as (memory, store):
        await two(memory, store)
        ids = await talk(memory, "three", "Light the third lamp.", "It went out.")
        await teach(store, "three", ids, "third", told="It went out when Perpetua slept.")
        named = LearnedFile(digest="n", learner="1", name="perpetua/day.jsonl", at=NOON, sessions=("one", "Perpetua 2"))
        await store.write(lambda tx: tx.ledger.mark("mine", named))
        what = (await memory.forget(subject="perpetua")).what
        assert (what.runs, what.observations, what.files) == (1, 1, 2)
        runs, cues, files = await left(store)
        assert (runs, cues) == (BOTH[0], BOTH[1])
        assert files == {**BOTH[2], "n": ""}
        assert [
            file.sessions for file in await store.read(lambda tx: tx.ledger.list("mine")) if file.digest == "n"
        ] == [("one",)]


async def test_with_a_lesson_goes_what_runs_showed_of_its_claim() -> None:
    async with living() as (memory, store):
        ids = await two(memory, store)
        lesson = replace(fact("a", "It goes dark.", heard(ids["one"][1], session="one")), cue="dark")
        await keep(store, lesson)
        what = (await memory.forget(memory="m_a")).what
        assert (what.memories, what.runs, what.observations, what.files) == (1, 0, 2, 0)
        assert await left(store) == (BOTH[0], ["oil", "wick"], BOTH[2])
        assert await kept(store) == {}


async def test_with_a_space_goes_all_that_runs_taught_it() -> None:
    async with living() as (memory, store):
        await two(memory, store)
        what = (await memory.forget(space="mine")).what
        assert (what.sessions, what.runs, what.observations, what.files) == (2, 2, 4, 2)
        assert await left(store) == ([], [], {})


async def test_what_a_session_taught_that_is_kept_elsewhere_can_be_forgotten() -> None:
    async with living() as (memory, store):
        await teach(store, "elsewhere", ["m_1", "m_2"], "dark")
        what = (await memory.forget(session="elsewhere")).what
        assert (what.sessions, what.runs, what.observations, what.files) == (0, 1, 1, 1)
        assert await left(store) == ([], [], {"elsewhere": ""})
