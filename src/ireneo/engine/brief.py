"""Give a turn what it needs of all four kinds, each by its cue; no model is asked."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.means import Means
from ireneo.engine.projects import place_all
from ireneo.engine.recall.asked import MOST_CHARACTERS, Asked
from ireneo.engine.recall.by_words import LOOKED_AT_FOR_SOME, by_words
from ireneo.engine.recall.scope import Scope
from ireneo.engine.recall.shelves import Memories
from ireneo.engine.remember import used
from ireneo.engine.scratchpad import check_pad
from ireneo.errors import BadInput, MemoryNotFound, StoreError
from ireneo.lessons.confidence import cues_to_read
from ireneo.lessons.lessons import applies, projects_of
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.standing import standing
from ireneo.memories.brief import LEAST_BUDGET, Brief, Found, make_brief
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.recall.question import read_question
from ireneo.memories.recall.searched import terms_of_memory
from ireneo.memories.record import Kind, Record, State
from ireneo.memories.scratchpad import checked_task
from ireneo.memories.signature import action_of, action_signature
from ireneo.memories.standing import Standing
from ireneo.ports.memories import Wanted
from ireneo.ports.transition import Transaction

BUDGET = 1_500
OF_EACH = 20
"""So many memories of a kind are looked at for a brief."""
READ = 2_000
"""So many failures are compared by their action."""
TOGETHER = 200
"""Claims whose sightings are read at one time."""
SHOWN: dict[Kind, tuple[State, ...]] = {"semantic": ("active", "disputed")}
"""The states in which memories are shown, where it is not only the active ones."""
SHELL = "bash"
"""The tool that an action without one is taken for."""


class Cue(Struct, frozen=True, kw_only=True):
    """What a turn is about."""

    goal: str = ""
    task_type: str = ""
    situation: str = ""
    about_to: str = ""
    """The action about to be taken: a command, or a tool, a colon and what it is given."""
    project: str | None = None
    """Where the work is done, by its name: its lessons stand first, with those of several, and nothing of others."""
    as_: str = ""
    """Only what this character was present for."""
    undone: bool = False
    """Also what a rewind left behind."""
    session: str | None = None
    branch: str | None = None


async def brief(means: Means, space: str, cue: Cue, task: str | None, budget: int) -> Brief:
    """The brief of a turn within `budget` tokens; what it shows is marked as used.

    A store that can't be written to at the moment loses nothing but the mark: `unmarked` says so then.
    """
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise BadInput(f"`budget` is {budget!r}; give a whole number of tokens.")
    if budget < LEAST_BUDGET:
        raise BadInput(f"A brief of {budget:,} tokens has room for nothing; give at least {LEAST_BUDGET}.")
    name = None if task is None else checked_task(task)
    now = means.clock.now()
    if cue.project is not None:
        await place_all(means.store, space)
    async with means.store.read() as tx:
        pad = await tx.pads.read(space, name) if name else None
        if name:
            await check_pad(tx, space, name, pad, cue.project)
        scope = await Scope.of(tx, space, cue)
        found = await _found(tx, space, cue, now, scope)
        lessons = await _standing(tx, space, cue.project, now, scope) if cue.project else []
    made = make_brief(pad, found, now, budget, means.count, lessons)
    if not made.lines:
        return made
    try:
        await used(means, space, [line.id for line in made.lines])
    except (StoreError, MemoryNotFound) as error:
        # It was read, and serves as it is; another may have erased one of them since.
        return replace(made, unmarked=str(error))
    return made


async def _found(tx: Transaction, space: str, cue: Cue, now: datetime, scope: Scope) -> list[Found]:
    """Each kind by its own cue: the task type, the goal, the situation, the action about to be taken and the goal."""
    out = await _procedures(tx, space, cue.task_type, now, scope) if cue.task_type.strip() else []
    asked: list[tuple[Kind, str]] = [
        ("semantic", cue.goal),
        ("episodic", cue.situation or cue.goal),
        ("failure", cue.goal),
    ]
    for kind, text in asked:
        if text.strip():
            out += await _called_to_mind(tx, space, kind, text, now, scope)
    if cue.about_to.strip():
        out += await _failures(tx, space, cue.about_to, now, scope)
    return out


async def _standing(tx: Transaction, space: str, project: str, now: datetime, scope: Scope) -> list[Standing]:
    """The lessons of a project, by what they are expected to save."""
    wanted = Wanted(states=("active",), lessons=True, archived=False)
    listed = await tx.memories.list(space, wanted, READ)
    # What was seen in one project alone is none of another's business, however well it reads.
    here = [each for each in listed if each.cue and applies(projects_of(each), project)]
    records = [each for each in await scope.seen(here) if each is not None]
    cues = list(dict.fromkeys(name for each in records for name in cues_to_read(each.cue)))
    sighted: dict[str, list[Sighting]] = {}
    for start in range(0, len(cues), TOGETHER):
        for each in await tx.runs.sightings(space, cues[start : start + TOGETHER]):
            sighted.setdefault(each.cue, []).append(each)
    return standing(records, sighted, now, project)


async def _procedures(tx: Transaction, space: str, task_type: str, now: datetime, scope: Scope) -> list[Found]:
    """Those of just this task type: how a task is done is never found by likeness."""
    # Another version may hold of what is seen from here than of all there is.
    every = await tx.memories.list(space, Wanted(kind="procedural", task_type=task_type, archived=False))
    listed = [each for each in await scope.seen(every) if each is not None and each.state == "active"]
    ranked = sorted(listed, key=lambda each: -worth(each, now))[:OF_EACH]
    return [Found(record=each, score=worth(each, now), why=f"the task type is {each.task_type}") for each in ranked]


async def _failures(tx: Transaction, space: str, about_to: str, now: datetime, scope: Scope) -> list[Found]:
    """Those of the same action, however it is written; after them those that read like it."""
    meant = actions(about_to)
    listed = await tx.memories.list(space, _wanted("failure"), READ)
    alike = [each for each in listed if (action_of(each.signature) or each.signature) in meant]
    same = [each for each in await scope.seen(alike) if each is not None and each.state == "active"]
    why = "the same action failed before"
    found = [Found(record=each, score=2 * worth(each, now), why=why) for each in same]
    return [*found, *(await _called_to_mind(tx, space, "failure", about_to, now, scope))]


def actions(about_to: str) -> set[str]:
    """The signatures that an action may have, as it is told: as a command, or as a tool with what it is given."""
    text = about_to.strip()
    tool, colon, given = text.partition(":")
    named = {action_signature(tool, given.strip())} if colon and given.strip() and len(tool.split()) == 1 else set()
    return {text, action_signature(SHELL, text), *named}


async def _called_to_mind(
    tx: Transaction, space: str, kind: Kind, text: str, now: datetime, scope: Scope
) -> list[Found]:
    """Those of a kind that recall finds by the words of `text`, the best first."""
    shelf = Memories(Asked(text=text[:MOST_CHARACTERS], kind=kind, limit=OF_EACH), now, scope)
    question = read_question(text, now=now)
    asked = {term for term, _ in question.terms}
    out: list[Found] = []
    for hit in await by_words(tx.search, space, shelf, question, looked_at=LOOKED_AT_FOR_SOME):
        record = hit.read.recalled.record
        if record is None or record.state not in SHOWN.get(kind, ("active",)):
            continue
        shared = asked & set(terms_of_memory(record))
        why = f"it speaks of {', '.join(sorted(shared)[:5])}"
        out.append(Found(record=record, score=hit.relevance * worth(record, now), why=why))
    return sorted(out, key=lambda each: (-each.score, each.record.id))[:OF_EACH]


def worth(record: Record, now: datetime) -> float:
    """The kind's own part in how well a memory answers."""
    product = 1.0
    for _, factor in KINDS[record.kind].score(record, now):
        product *= factor
    return product


def _wanted(kind: Kind, task_type: str | None = None) -> Wanted:
    states = SHOWN.get(kind, ("active",))
    return Wanted(kind=kind, states=states, task_type=task_type, archived=False)
