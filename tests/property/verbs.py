"""Every verb of the public page, each as one call over a memory that holds something of everything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import ireneo
from ireneo import Draft, Memory, Session, log_format
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.redact import SecretRedactor
from ireneo.engine.exchange import MemoryFile
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.log.message import Text
from ireneo.ports.models import Prompt
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock, ScriptedLLM

LOGS = Path(ireneo.__file__).parent / "faces" / "cli" / "demo"
RUN = "7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8"
STORY = "the-lighthouse"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_COLOURS = count(1)
Verb = Callable[[Memory], Awaitable[object]]


class LetterEmbedder:
    """An embedder that counts letters; `before` is called before each answer."""

    name = "letters:1"
    dimensions = 8

    def __init__(self, before: Callable[[], Awaitable[None]] | None = None) -> None:
        self._before = before

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
        if self._before is not None:
            await self._before()
        return [bytes(1 + text.count(letter) % 100 for letter in "aeinorst") for text in texts]


class TellingModel(ScriptedLLM):
    """A model that tells a story back, and has nothing to say of anything else; `before` is called before each ask."""

    def __init__(self, before: Callable[[], Awaitable[None]] | None = None) -> None:
        super().__init__(self._answer)
        self._before = before

    async def ask(self, prompt, reply):  # type: ignore[no-untyped-def]
        if self._before is not None:
            await self._before()
        return await super().ask(prompt, reply)

    @staticmethod
    def _answer(prompt: Prompt) -> dict[str, object]:
        told = prompt.user.partition("<messages>")[2].partition("</messages>")[0]
        return {"text": " ".join(line.partition(": ")[2] for line in told.strip().splitlines())}


def memory_with_all(store: Store, before: Callable[[], Awaitable[None]] | None = None) -> Memory:
    """A memory over `store` that has a model and an embedder."""
    return Memory(
        Resources(
            store=store,
            count=lambda text: len(text) // 4 + 1,
            clock=ManualClock(NOON),
            models=Models.of(TellingModel(before)),
            embedder=LetterEmbedder(before),
            redactor=SecretRedactor,
            open_log=LogFile,
        ),
        "mine",
    )


async def furnish(memory: Memory, *, messages: int = 320) -> None:
    """Put something of everything into a memory: runs, a story, memories, notes, a scratchpad, what runs teach."""
    for log in sorted(LOGS.glob("*.jsonl")):
        lines = log.read_bytes().splitlines(keepends=True)
        await memory.import_log(lines, ireneo.recognise(b"".join(lines), log.name), name=log.name)
    story = await memory.session(STORY)
    await story.append([said(number) for number in range(messages)])
    await remembering(memory)
    await memory.scratchpad("letter").write(goal="Post the letter.", plan=["[x] find a stamp", "post it"])
    run = await memory.session(RUN)
    await run.context(2_000)
    await run.pin("Never bump the version by yourself.")
    await run.diary(tried=["bumped the version: it failed"])
    await run.fork("aside")
    await story.catch_up(preset="story")
    await story.context(2_000, preset="story")
    await memory.learn()


def said(number: int) -> Draft:
    """A message of the story."""
    text = f"Mira took oar number {number} down to the boat, and the harbour of Fairhaven lay still at {number}."
    return Draft(role="assistant" if number % 2 else "user", parts=(Text(text=text, author="Mira"),), at=NOON)


async def remembering(memory: Memory) -> None:
    """Remember one of each kind."""
    await memory.remember("Anna lives in Lisbon.", subject="Anna", attribute="home")
    await memory.remember("To release: first bump the version, then tag.", kind="procedural", task_type="release")
    await memory.remember("I tried pinning numpy 1.x — abandoned because the wheels are gone", kind="failure")
    await memory.remember("The boat was painted blue.", kind="episodic")


def on(name: str, verb: Callable[[Session], Awaitable[object]]) -> Verb:
    """A verb of the session that is called so."""

    async def do(memory: Memory) -> object:
        return await verb(await memory.session(name))

    return do


async def _recall(memory: Memory) -> None:
    await memory.recall("Where does Anna live?")
    await memory.recall("the harbour of Fairhaven", session=STORY, explain=True)


async def _export(memory: Memory) -> None:
    for each in (await memory.export_memories(there=lambda path: b"reworded by hand"))[:3]:
        await memory.recall(each.path)
    await memory.export_memories("jsonl")


async def _import_log(memory: Memory) -> None:
    lines = (LOGS / "reed-valve.jsonl").read_bytes().splitlines(keepends=True)
    await memory.import_log(lines, log_format("openai"), name="again.jsonl")


async def _check(memory: Memory) -> None:
    await memory.check("Bash", {"command": "make integration"}, session=RUN, project="kestrel")


async def _lookup(memory: Memory) -> None:
    messages = await (await memory.session(RUN)).messages()
    await memory.lookup(messages[0].id)
    for row in (await (await memory.session(RUN)).context(2_000)).view:
        if row.id:
            await memory.lookup(row.id)


async def _expand(session: Session) -> None:
    for message in (await session.messages())[:3]:
        await session.expand(message.id)
    for row in (await session.context(2_000)).view:
        if row.id.startswith("s_"):
            await session.expand(row.id)


async def _context(session: Session) -> None:
    for to in ("anthropic", "openai"):
        await session.context(1_500, to=to)
    await session.context(50_000, explain=True)
    await session.context(2_000, rebuild=True)


async def _tree(session: Session) -> None:
    await session.tree()
    await session.tree("story")


READING: Mapping[str, Verb] = {
    "sessions": lambda memory: memory.sessions(),
    "session": lambda memory: memory.session(RUN, must_exist=True),
    "recall": _recall,
    "brief": lambda memory: memory.brief(
        goal="Run the integration tests", task_type="release", about_to="make integration", project="kestrel"
    ),
    "history": lambda memory: memory.history("Anna"),
    "memories": lambda memory: memory.memories(project="kestrel", label="pet", limit=2),
    "get": lambda memory: memory.get(["m_"]),
    "archive_candidates": lambda memory: memory.archive_candidates(),
    "archived": lambda memory: memory.archived(),
    "pads": lambda memory: memory.pads(),
    "pad": lambda memory: memory.scratchpad("letter").read(),
    "export_memories": _export,
    "lessons": lambda memory: memory.lessons(),
    "runs": lambda memory: memory.runs(),
    "claims": lambda memory: memory.claims(),
    "check": _check,
    "lookup": _lookup,
    "unlearned": lambda memory: memory.unlearned(),
    "doctor": lambda memory: memory.doctor(),
    "secrets": lambda memory: memory.secrets(),
    "forget in preview": lambda memory: memory.forget(subject="Anna", preview=True),
    "Session.context": on(RUN, _context),
    "Session.context of a story": on(STORY, lambda session: session.context(2_000, preset="story", explain=True)),
    "Session.expand": on(RUN, _expand),
    "Session.project": on(RUN, lambda session: session.project()),
    "Session.is_seen_from": on(RUN, lambda session: session.is_seen_from("harbour")),
    "Session.tree": on(STORY, _tree),
    "Session.threads": on(STORY, lambda session: session.threads(preset="story")),
    "Session.pins": on(RUN, lambda session: session.pins()),
    "Session.diary": on(RUN, lambda session: session.diary()),
    "Session.branches": on(RUN, lambda session: session.branches()),
    "Session.prune dry_run": on(RUN, lambda session: session.prune(dry_run=True)),
    "Session.messages": on(STORY, lambda session: session.messages()),
    "Session.check": on(RUN, lambda session: session.check()),
}
"""By name: verbs that can be done where nothing can be written."""


async def _append(session: Session) -> None:
    await session.append([said(len(await session.messages()))])


async def _pad(memory: Memory) -> None:
    pad = memory.scratchpad("another")
    await pad.write(goal="Paint the boat.", facts=["The boat is blue."])
    await pad.finish("The boat is painted.")
    await pad.drop()


async def _used(memory: Memory) -> None:
    ids = [each.id for each in await memory.recall("Anna") if each.id and each.kind == "semantic"]
    await memory.used(ids[:1], helped=True)


async def _archive(memory: Memory) -> None:
    await memory.restore(await memory.archive(2))


async def _forget(memory: Memory) -> None:
    told = await memory.remember("The cat is called Peg.", subject="Peg")
    await memory.forget(memory=told.record.id)


async def _edit(memory: Memory) -> None:
    one = await memory.remember("The dog is called Rex.", labels=["pet"])
    two = await memory.remember("Rex is the dog's name.")
    told = await memory.update(one.record.id, text="The dog is called King.", project="kestrel")
    joined = await memory.merge([told.id, two.record.id])
    await memory.delete([joined.id, one.record.id])


async def _review(memory: Memory) -> None:
    lesson = next(iter(await memory.lessons()), None)
    try:
        await memory.review(lesson.id if lesson else "m_none", "keep")
    except MemoryNotFound:
        assert lesson is None


async def _dispute(session: Session) -> None:
    blocks = [row.id for row in (await session.context(2_000)).view if row.id.startswith("s_")]
    await session.dispute(blocks[0], "It was mended since.")


async def _thread(session: Session) -> None:
    owed = await session.add_thread("debt", f"Mira owes Tom {next(_COLOURS)} crowns.", who="Mira", whom="Tom")
    await session.edit_thread(owed.id, "Mira owes Tom a crown.")
    await session.threads(resolved=True, preset="story")
    await session.resolve_thread(owed.id, "She paid.")


async def _edit_summary(session: Session) -> None:
    view = (await session.context(2_000, preset="story")).view
    for block in [row.id for row in view if row.id.startswith("s_")][:1]:
        await session.edit(block, "Mira took the boat out.")


async def _dispute_id(memory: Memory) -> None:
    told = await memory.remember("The boat is red.", kind="semantic")
    await memory.dispute(told.record.id, "It was painted blue.")


async def _fork(session: Session) -> None:
    await session.fork(f"branch {len(await session.branches())}")
    end = await _end(session)
    await session.rewind("root")
    await session.rewind(end)


async def _end(session: Session) -> str:
    heads = [head for head in (await session.branches()).values() if head is not None]
    return max(heads, key=lambda head: head.position).id


async def _drop(session: Session) -> None:
    await session.fork("to drop")
    await session.drop("to drop")


async def _pin(session: Session) -> None:
    # One that was released stays so, when the same is pinned at the same place again.
    pin = await session.pin(f"Never paint the boat in colour {next(_COLOURS)}.")
    await session.release(pin.id)


async def _import_memories(memory: Memory) -> None:
    files = [MemoryFile(path=each.path, data=each.data) for each in await memory.export_memories()]
    await memory.import_memories(files)


WRITING: Mapping[str, Verb] = {
    "remember": remembering,
    "remember_all": lambda memory: memory.remember_all([("Bo lives in Riga.", {}), ("Bo is a smith.", {})]),
    "used": _used,
    "update": _edit,
    "merge": _edit,
    "delete": _edit,
    "archive": _archive,
    "restore": _archive,
    "reflect": lambda memory: memory.reflect(force=True),
    "forget": _forget,
    "import_log": _import_log,
    "import_memories": _import_memories,
    "learn": lambda memory: memory.learn([RUN]),
    "learn_from": lambda memory: memory.learn_from(LOGS / "reed-valve.jsonl"),
    "learn_logs": lambda memory: memory.learn_logs([LOGS / "reed-valve.jsonl"]),
    "import_file": lambda memory: memory.import_file(LOGS / "reed-valve.jsonl"),
    "review": _review,
    "dispute": _dispute_id,
    "embed": lambda memory: memory.embed(),
    "work": lambda memory: memory.work(until_idle=True),
    "doctor that repairs": lambda memory: memory.doctor(repair=True),
    "secrets that are taken out": lambda memory: memory.secrets(repair=True),
    "Scratchpad": _pad,
    "Session.append": on(STORY, _append),
    "Session.fork": on(STORY, _fork),
    "Session.rewind": on(STORY, _fork),
    "Session.drop": on(STORY, _drop),
    "Session.add_thread": on(STORY, _thread),
    "Session.edit_thread": on(STORY, _thread),
    "Session.resolve_thread": on(STORY, _thread),
    "Session.edit": on(STORY, _edit_summary),
    "Session.prune": on(STORY, lambda session: session.prune()),
    "Session.pin": on(RUN, _pin),
    "Session.release": on(RUN, _pin),
    "Session.dispute": on(RUN, _dispute),
    "Session.summarise": on(RUN, lambda session: session.summarise(2_000)),
    "Session.due": on(RUN, lambda session: session.due(2_000)),
    "Session.notes_request": on(RUN, lambda session: session.notes_request()),
    "Session.take_notes": on(RUN, lambda session: session.take_notes("open 3: Nothing was verified.")),
    "Session.catch_up": on(STORY, lambda session: session.catch_up(preset="story")),
}
"""By name: verbs that write."""

VERBS: Mapping[str, Verb] = {**READING, **WRITING}


async def tried(verb: Verb, memory: Memory) -> None:
    """Do a verb that others may have taken the ground from: what is not there any more is no fault."""
    try:
        await verb(memory)
    except BadInput:
        return
