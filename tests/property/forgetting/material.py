"""Spaces full of what a message leaves behind: summaries by a model that echoes, memories, notes, scratchpads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace
from tests.property.invariants.houses import House
from tests.property.invariants.material import TINY, Teller
from tests.property.invariants.promises import TOKENS

from ireneo import Draft, Memory, Message, Session
from ireneo.adapters.sql.log import pack, token
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.language.words import terms
from ireneo.lessons.run import DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import Call, Native, Result
from ireneo.log.tree import SessionKey
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import LearnedFile, MemoryFilter
from ireneo.ports.models import Prompt
from ireneo.ports.store import Store, Transaction
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

MARK = re.compile(r"[a-z]+\d*_\d+x")
"""The words that stand nowhere else (see `Teller.mark`)."""
CLOCK = ManualClock()
LOOKS = (("openai", 700), ("anthropic", 2_500))


def echo(prompt: Prompt) -> Scripted:
    """A model that repeats the marks that it was shown."""
    marks = list(dict.fromkeys(MARK.findall(prompt.user)))[-12:]
    words = f"I saw {' and '.join(marks)}." if marks else "I looked on."
    return {"notes": [f"found 3 {words}", f"decided 3 Once more: {words}", "open 4 Nothing was verified."]}


async def opened(house: House, store: Store | None = None) -> tuple[Memory, Store]:
    """A memory with a model that echoes, and its store."""
    place = store or await house.store()
    model = Models.of(ScriptedLLM(echo))
    return Memory(Resources(store=place, count=TOKENS.count, clock=CLOCK, models=model), "mine"), place


def with_payloads(drafts: Sequence[Draft]) -> list[Draft]:
    """The same, each with what a log wrote of it."""
    return [
        replace(draft, record=Native(format="log", payload={"said": marks_of(draft)}), source_id=f"log-{number}")
        for number, draft in enumerate(drafts)
    ]


def marks_of(draft: Draft) -> list[str]:
    """The marks of what was said in a draft; the id of a call is no word of anybody's."""
    parts = [replace(part, call_id="") if isinstance(part, Result) else part for part in draft.parts]
    return MARK.findall(str([replace(part, id="") if isinstance(part, Call) else part for part in parts]))


async def settle_in(session: Session, steps: Sequence[str], teller: Teller) -> None:
    """Append, look, and have a model write what is shown."""
    await session.append(with_payloads(teller.tell(steps)))
    for to, budget in LOOKS:
        await session.context(budget, to=to, preset=TINY)
    await session.summarise(LOOKS[0][1], preset=TINY)
    await session.context(LOOKS[0][1], to="openai", preset=TINY)


async def learn_from(store: Store, path: Sequence[Message], session: str) -> None:
    """A memory from each third message, one from two of them, one from a summary and one from a memory."""

    def change(tx: Transaction) -> None:
        records = [_record(f"It says {_told(message)}.", session, message) for message in path[::3]]
        if len(path) > 3:
            records.append(_record(f"Both say {_told(path[0])} and {_told(path[3])}.", session, path[0], path[3]))
        summaries = tx.upkeep.summaries(SessionKey("mine", session))
        for number, name in enumerate(summaries[:3]):
            piece = Evidence(at=CLOCK.now(), recorded=CLOCK.now(), session=session, summaries=(name,))
            records.append(_of(f"Summary {number} of {session} told it.", piece))
        piece = Evidence(at=CLOCK.now(), recorded=CLOCK.now(), origin="derived", memories=(records[0].id,))
        records.append(_of(f"Hence {_told(path[0])} matters.", piece))
        tx.memories.put("mine", records)
        for number, message in enumerate(path[::5]):
            tx.pads.write("mine", Pad(task=f"{session}-{number}", goal=_told(message), written=CLOCK.now()))
        tx.runs.put("mine", _run(path, session), [_observation(message, session) for message in path[::2]])
        file = LearnedFile(digest="d", learner="1", name=f"{_told(path[0])}.jsonl", at=CLOCK.now(), sessions=(session,))
        tx.ledger.mark("mine", file)

    await store.write(change)


def _run(path: Sequence[Message], session: str) -> LearnedRun:
    lines = tuple(DiaryLine(text=_told(message), sources=(message.id,)) for message in path)
    entry = DiaryEntry(goal=_told(path[0]), opening=path[0].id, last=path[-1].id, attempted=lines)
    now = CLOCK.now()
    return LearnedRun(session=session, head=path[-1].id, learner="1", learned=now, ended=now, diary=(entry,))


def _observation(message: Message, session: str) -> Observation:
    told = f"{message.position} {_told(message)}"
    return Observation(cue=told, category="failure", session=session, held=1, text=told, sources=(message.id,))


def _told(message: Message) -> str:
    return " ".join(marks_of(message.draft)) or "nothing"


def _record(text: str, session: str, *messages: Message) -> Record:
    names = tuple(message.id for message in messages)
    return _of(text, Evidence(at=CLOCK.now(), recorded=CLOCK.now(), session=session, messages=names))


def _of(text: str, piece: Evidence) -> Record:
    name = MemoryId(f"m_{abs(hash(text)):026d}"[:28])
    return Record(
        id=name,
        kind="episodic",
        key=f"t_{text}",
        text=text,
        at=piece.at,
        recorded=piece.recorded,
        evidence=(piece,),
    )


def all_told(tx: Transaction, key: SessionKey) -> str:
    """Every text that a store gives of a session and of what was learned."""
    out: list[str] = []
    for head in tx.sessions.branches(key).values():
        if head is not None:
            path = tx.log.path(key, head.id, 0, head.position)
            out += [str(tx.log.drafts(key, [message.id for message in path]))]
            out += [str(tx.annotations.on_path(key, head.id))]
    out += [str(tx.summaries.get(key, tx.upkeep.summaries(key)))]
    out += [str(tx.leases.of_session(key)), str(tx.rebuilds.of_session(key))]
    out += [str(tx.memories.list(key.space, MemoryFilter())), str(tx.pads.list(key.space))]
    out += [str(tx.runs.list(key.space)), str(tx.ledger.list(key.space))]
    out += [str(tx.runs.of_run(key.space, run.session)) for run in tx.runs.list(key.space)]
    return " ".join(out)


def needles(messages: Sequence[Message]) -> Iterator[bytes]:
    """The bytes by which erased messages would be known: their marks, the terms of these, their packed payloads."""
    for message in messages:
        for mark in marks_of(message.draft):
            yield mark.encode()
            yield from (token("", term).encode() for term in terms(mark) if len(term) > 6)
        packed = pack(message.draft)
        if packed is not None:
            yield packed[8:40]


def raw(folder: Path) -> bytes:
    """Every byte of the database, of its WAL and of its shared memory."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("memory.db*")))
