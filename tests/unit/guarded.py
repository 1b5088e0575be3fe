"""Small runs, and lessons that know a trap, to try the guard on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from ireneo import Memory
from ireneo.engine.remember import settle_drafts
from ireneo.lessons.run import LearnedRun, Observation, Trigger
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Call, Draft, Message, MessageId, Result, Text, chain, digest
from ireneo.memories.record import Evidence, MemoryDraft, MemoryId, Record
from ireneo.ports.store import Transaction

Made = tuple[str, Mapping[str, object] | str, str, bool]
"""A tool, its arguments (or a shell's command), what came back, and whether it failed."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
CUE = "make integration ⇒ <any> → first:make db"
TEXT = "When `make integration` fails with “connection refused”, run `make db` first. “It needs a database” (the agent)"
SAW = Observation(
    cue=CUE,
    category="failure",
    session="run-0",
    project="cli",
    at=NOW,
    held=1,
    text=TEXT,
    way_out="run `make db` first",
    why="It needs a database",
    trigger=Trigger(command="make integration", unless=("make db",)),
)
"""What a run shows that failed without `make db`."""


def drafts(*made: Made, said: str = "Please fix it.") -> list[Draft]:
    """A conversation in which these calls are made one after the other."""
    out = [Draft(role="user", parts=(Text(text=said),))]
    for number, (tool, arguments, output, failed) in enumerate(made):
        given = {"command": arguments} if isinstance(arguments, str) else dict(arguments)
        id = f"c{number}"
        out.append(Draft(role="assistant", parts=(Call(id=id, name=tool, arguments=given),)))
        out.append(Draft(role="tool", parts=(Result(call_id=id, parts=(Text(text=output),), failed=failed),)))
    return out


def messages(*made: Made, said: str = "Please fix it.") -> list[Message]:
    """The same as messages of a log."""
    return chain(None, drafts(*made, said=said), lambda parts: (10, 0))


def material(session: str, *made: Made, project: str = "cli") -> RunMaterial:
    """The same as a run."""
    return RunMaterial(session=session, project=project, messages=tuple(messages(*made)))


def runs(made: Sequence[Made], count: int = 6, project: str = "cli") -> list[RunMaterial]:
    """So many runs alike."""
    return [material(f"run-{number}", *made, project=project) for number in range(count)]


def call(tool: str, arguments: Mapping[str, object] | str) -> Call:
    """A call that is about to be made."""
    given = {"command": arguments} if isinstance(arguments, str) else dict(arguments)
    return Call(id="next", name=tool, arguments=given)


def lesson_of(*seen: Observation) -> Record:
    """The lesson that these observations of one claim make."""
    first = seen[0]
    pieces = tuple(
        Evidence(at=each.at or NOW, recorded=NOW, origin="run", session=each.session, project=each.project)
        for each in seen
        if each.held
    )
    name = MemoryId(digest("m", first.cue.encode()))
    return Record(
        id=name, kind="failure", key=first.cue, text=first.text, at=NOW, recorded=NOW, evidence=pieces, cue=first.cue
    )


def put_lessons(tx: Transaction, space: str, lessons: Sequence[Sequence[Observation]]) -> list[Record]:
    """Store runs that show these claims, and the lesson of each."""
    by_run: dict[str, list[Observation]] = {}
    for seen in lessons:
        for each in seen:
            by_run.setdefault(each.session, []).append(each)
    for session, shown in by_run.items():
        head = MessageId(f"m_{session}")
        run = LearnedRun(session=session, head=head, learner="test", learned=NOW, project=shown[0].project)
        tx.runs.put(space, run, shown)
    drafts = [draft_of(each) for seen in lessons for each in seen if each.held]
    return [each.record for each in settle_drafts(tx, space, drafts)]


def draft_of(seen: Observation) -> MemoryDraft:
    """The piece of evidence that an observation is."""
    return MemoryDraft(
        text=seen.text,
        kind="failure",
        at=seen.at or NOW,
        recorded=NOW,
        origin="run",
        signature=seen.cue,
        cue=seen.cue,
        session=seen.session,
        project=seen.project,
    )


async def teach(memory: Memory, *lessons: Sequence[Observation]) -> list[Record]:
    """Have a memory know these lessons."""
    return await memory._resources.store.write(put_lessons, memory.space, lessons)


def shown_by(count: int, seen: Observation = SAW) -> list[Observation]:
    """The same in so many runs."""
    return [replace(seen, session=f"run-{number}") for number in range(count)]
