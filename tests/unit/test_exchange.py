"""Memories go into files and come back: once, edited ones as their user's word, and bad ones with their line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.exchange import MemoriesImported, MemoryFile
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.memories.record import Record
from ireneo.plumbing import holds_memories
from ireneo.ports.memories import MemoryFilter

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Ticking:
    """A clock that goes on by an hour each time that it is read."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        self.at += timedelta(hours=1)
        return self.at


def memory() -> Memory:
    return Memory(Resources(store=InMemoryStore(), count=EstimatedTokenizer().count, clock=Ticking()), "default")


async def records(of: Memory) -> dict[str, Record]:
    """Every memory by its text."""
    return {each.text: each for each in await of._store.read(lambda tx: tx.memories.list(of.space, MemoryFilter()))}


async def filled() -> Memory:
    """A memory with one of each kind, and some history."""
    made = memory()
    await made.remember("Ana lives in Rome.", kind="semantic", subject="Ana", attribute="home", at=START)
    await made.remember("Ana lives in Oslo.", kind="semantic", subject="Ana", attribute="home")
    await made.remember("The ferry was late.", kind="episodic", at=START, session="monday")
    await made.remember("Run make load, then ship.", kind="procedural", task_type="release", name="ship it")
    await made.remember("I tried pip -U: it broke the lock.", kind="failure", signature="pip -U: lock")
    await made.remember("Tea is served at four.", kind="semantic", origin="agent", pinned=True)
    return made


async def exported(of: Memory, to: str = "markdown") -> list[MemoryFile]:
    return [MemoryFile(path=each.path, data=each.data) for each in await of.export_memories(to)]  # type: ignore[arg-type]


def edited(files: Sequence[MemoryFile], old: str, new: str) -> list[MemoryFile]:
    changed = [MemoryFile(path=each.path, data=each.data.replace(old.encode(), new.encode())) for each in files]
    assert changed != list(files)
    return changed


@pytest.mark.parametrize("to", ["markdown", "jsonl"])
async def test_what_was_exported_is_all_there_in_another_store(to: str) -> None:
    first, second = await filled(), memory()
    await first.used([each.id for each in (await records(first)).values()][:2], helped=True)
    done = await second.import_memories(await exported(first, to))
    assert done == MemoriesImported(new=6)
    assert await records(second) == await records(first)
    for there in (first, second):
        before = await records(there)
        assert await there.import_memories(await exported(first, to)) == MemoriesImported(known=6)
        assert await records(there) == before
    assert await exported(second, to) == await exported(first, to)


@pytest.mark.parametrize("to", ["markdown", "jsonl"])
async def test_a_lesson_keeps_its_claim(to: str) -> None:
    first, second = await filled(), memory()
    broke = next(each for each in (await records(first)).values() if each.kind == "failure")
    lesson = replace(broke, cue="pip -U ⇒ the lock “broke”")
    await first._store.write(lambda tx: tx.memories.put(first.space, [lesson]))
    files = await exported(first, to)
    await second.import_memories(files)
    assert await records(second) == await records(first)
    assert list(
        await second._store.read(lambda tx: tx.memories.list(second.space, MemoryFilter(cues=(lesson.cue,))))
    ) == [lesson]
    if to == "markdown":
        await second.import_memories(edited(files, "it broke the lock.\n", "it breaks the lock.\n"))
        assert (await records(second))["I tried pip -U: it breaks the lock."].cue == lesson.cue


async def test_an_edit_in_a_slot_supersedes() -> None:
    there = await filled()
    files = edited(await exported(there), "Ana lives in Oslo.\n", "Ana lives in Bergen.\n")
    for took in (MemoriesImported(edited=1, known=5), MemoriesImported(known=6), MemoriesImported(known=6)):
        assert await there.import_memories(files) == took
    held = await records(there)
    assert held["Ana lives in Bergen."].state == "active"
    assert [(each.origin, each.trust) for each in held["Ana lives in Bergen."].evidence] == [("user", 1.0)]
    assert held["Ana lives in Oslo."].state in ("superseded", "retired")
    assert len(held) == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [("The ferry was late.", "The ferry was early."), ("Tea is served at four.", "Tea is served at five.")],
)
async def test_an_edit_without_a_slot_retires_what_was_said_before(old: str, new: str) -> None:
    there = await filled()
    files = edited(await exported(there), f"\n{old}\n", f"\n{new}\n")
    for took in (MemoriesImported(edited=1, known=5), MemoriesImported(known=6)):
        assert await there.import_memories(files) == took
    held = await records(there)
    assert held[new].state == "active"
    assert held[new].origin == "user"
    assert held[old].state == "retired"
    assert held[old].evidence[0].origin in ("user", "agent")


async def test_an_edit_of_a_failure_is_the_same_failure_in_other_words() -> None:
    there = await filled()
    before = (await records(there))["I tried pip -U: it broke the lock."]
    files = edited(await exported(there), "\nI tried pip -U: it broke", "\nI tried pip -U twice: it broke")
    for took in (MemoriesImported(edited=1, known=5), MemoriesImported(known=6)):
        assert await there.import_memories(files) == took
    after = (await records(there))["I tried pip -U twice: it broke the lock."]
    assert after.id == before.id
    assert len(after.evidence) == len(before.evidence) + 1


async def test_an_edit_is_told_where_nothing_is_known_yet() -> None:
    files = edited(await exported(await filled()), "Ana lives in Oslo.\n", "Ana lives in Bergen.\n")
    there = memory()
    for took in (MemoriesImported(new=5, edited=1), MemoriesImported(known=6)):
        assert await there.import_memories(files) == took
    held = await records(there)
    assert "Ana lives in Oslo." not in held
    assert held["Ana lives in Bergen."].state == "active"


async def test_a_file_by_hand_is_a_word_of_its_user() -> None:
    there = memory()
    plain = MemoryFile(path="mine.md", data=b"+++\r\nkind = 'semantic'\r\n+++\r\nBo likes plums.\r\n")
    line = MemoryFile(path="a.jsonl", data=b'\n{"kind":"episodic","text":"It rained.","at":"2026-01-02T00:00:00Z"}\n')
    for took in (MemoriesImported(new=2), MemoriesImported(known=2)):
        assert await there.import_memories([plain, line]) == took
    held = await records(there)
    assert held["It rained."].at == datetime(2026, 1, 2, tzinfo=UTC)
    assert held["Bo likes plums."].origin == "user"


async def test_what_can_not_be_read_is_told_and_the_rest_is_stored() -> None:
    there = memory()
    good = b"+++\nkind = 'semantic'\n+++\nBo likes plums.\n"
    bad = good.replace(b"'semantic'", b"'semantic'\nsubjet = 'Bo'")
    large = b"+++\nkind = 'semantic'\n+++\n" + b"plums " * 200_000
    lines = b'{"kind":"semantic","text":"Bo likes pears."}\nno\n{"kind":"semantic","text":"x","confidence":3}\n'
    files = [("bad.md", bad), ("good.md", good), ("large.md", large), ("lines.jsonl", lines)]
    done = await there.import_memories([MemoryFile(path=path, data=data) for path, data in files])
    assert done.new == 2
    assert [(each.path, each.line) for each in done.faults] == [
        *(("bad.md", 3), ("large.md", 4), ("lines.jsonl", 2), ("lines.jsonl", 3))
    ]
    assert "nothing called subjet" in done.faults[0].message
    assert "confidence is 3.0; give a number from 0 to 1" in done.faults[3].message
    assert set(await records(there)) == {"Bo likes plums.", "Bo likes pears."}


async def test_an_export_tells_of_edits_that_were_not_imported() -> None:
    there = await filled()
    files = {each.path: each.data for each in edited(await exported(there), "was late.\n", "was early.\n")}
    stands = {each.path: each.stands for each in await there.export_memories("markdown", there=files.get)}
    assert sorted(stands.values()) == ["edited", *["same"] * 5]
    await there.import_memories([MemoryFile(path=path, data=data) for path, data in files.items()])
    stands = {each.path: each.stands for each in await there.export_memories("markdown", there=files.get)}
    assert sorted(stands.values()) == ["changed", "new", *["same"] * 5]


def test_memories_are_told_from_logs() -> None:
    assert holds_memories(b"+++\nkind = 'semantic'\n+++\n")
    assert not holds_memories(b"# A transcript\n")
    assert not holds_memories(b"")
    assert not holds_memories(b'{"type":"user","kind":"semantic","text":"x"}\n')
    assert not holds_memories(b'{"author":"Vera","text":"It rained."}\n')


async def test_what_was_forgotten_does_not_come_back_from_an_older_export() -> None:
    here = memory()
    session = await here.session("chat")
    said = await session.append([{"role": "user", "content": "My sister Ottilie is afraid of geese."}])
    text = "Ottilie is afraid of geese."
    await here.remember(text, kind="episodic", messages=said.ids, session="chat")
    await here.remember("The ferry was late.", kind="episodic")
    before = await exported(here)
    await here.forget(subject="Ottilie")
    done = await here.import_memories(before)
    assert (done.forgotten, done.known, done.new) == (1, 1, 0)
    assert text not in await records(here)
    # Elsewhere nobody asked for it to be forgotten.
    assert (await memory().import_memories(before)).new == 2
