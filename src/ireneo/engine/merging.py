"""Merge lessons that say the same in other words, as judged by a model.

Learning reads run by run, so that one lesson may come in several wordings. New lessons are shown to a model next to the
most similar known ones. Merged lessons become one with all their evidence: the observations in each run are rewritten
to the remaining claim, so that a run that is forgotten or learned again retracts its evidence as usual.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.erasure import remove_memories
from ireneo.engine.learn import LearnedSession, settle_lessons
from ireneo.engine.leasing import Worker
from ireneo.engine.resources import Resources
from ireneo.engine.synthesis import MOST_WHY_WORDS, MOST_WORDS
from ireneo.errors import ModelError
from ireneo.grounding.check import error_text
from ireneo.grounding.claims import claims, instruction_like, neutralise
from ireneo.grounding.evidence import SourceIndex, check_text
from ireneo.language.words import terms
from ireneo.lessons.lessons import applies, projects_of
from ireneo.lessons.rulings import same_ruling
from ireneo.lessons.run import CATEGORY, MODEL, Observation, is_ruling
from ireneo.lessons.study import sum_observations
from ireneo.log.tree import SessionKey
from ireneo.memories.record import MemoryId, Record, day, is_kept, supporting
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.ports.store import Transaction
from ireneo.prompts import LESSONS_MERGE
from ireneo.prompts.replies import MergeReply

TOGETHER = 40
"""Lessons in one question, at most."""
NEIGHBOURS = 4
"""Similar lessons that each new one is shown with, at most."""
NEAR = 0.2
"""The least likeness (shared words and names, of all of both) of lessons that may be merged."""
NEW_WORDS, CLOSE = 3, 0.4
"""Limits of a model's wording for merged lessons: new words at most, and likeness to one of them at least."""
MERGE = "merge lessons"
"""The name of the lease under which a model is asked."""
_LESSONS = MemoryFilter(lessons=True, states=("active",), archived=False)
_LOG = logging.getLogger("ireneo")


class MergedLessons(Struct, frozen=True, kw_only=True):
    """The result of merging."""

    merged: int = 0
    """Lessons that became part of another one."""
    outdated: int = 0
    """Lessons that were removed because a later one contradicts them."""
    failed: str = ""
    """Why the model failed; then nothing was changed."""
    tokens_in: int = 0
    tokens_out: int = 0


class _Merge(Struct, frozen=True, kw_only=True):
    """A lesson that remains, and those that it absorbs or replaces."""

    stays: Record
    others: tuple[Record, ...]
    words: str = ""
    outdated: bool = False


async def merge_lessons(resources: Resources, space: str, learned: Sequence[LearnedSession]) -> MergedLessons:
    """Ask a model which of the new lessons, and of the lessons similar to them, say the same."""
    model = resources.models_for_space(space).for_task("lessons")
    fresh = {each.record.id for session in learned for each in session.lessons if each.did == "added"}
    if model is None or not fresh:
        return MergedLessons()
    listed = await resources.store.read(lambda tx: tx.memories.list(space, _LESSONS))
    worker = Worker(resources.store, resources.clock)
    done = MergedLessons()
    for batch in await asyncio.to_thread(lambda: list(_batches(listed, fresh))):
        async with worker.leased(SessionKey(space, learned[-1].run.session), MERGE) as lease:
            if lease is None:
                return done
            try:
                plans, usage = await _proposed_merges(model, batch)
            except ModelError as error:
                _LOG.warning("%s The lessons stay as they are.", error)
                return replace(done, failed=str(error))

            def store(tx: Transaction, plans: Sequence[_Merge] = plans) -> list[_Merge]:
                return [each for each in plans if _merge(tx, resources, space, each)]

            kept = await resources.store.write(store)
        done = replace(
            done,
            merged=done.merged + sum(len(each.others) for each in kept if not each.outdated),
            outdated=done.outdated + sum(len(each.others) for each in kept if each.outdated),
            tokens_in=done.tokens_in + usage.tokens_in,
            tokens_out=done.tokens_out + usage.tokens_out,
        )
    return done


def _batches(listed: Sequence[Record], fresh: set[MemoryId]) -> Iterator[list[Record]]:
    """The new lessons with the lessons most similar to them, in as few questions as possible."""
    words = {each.id: _words(each.text) for each in listed}
    known = {each.id: each for each in listed}
    batch: dict[MemoryId, Record] = {}
    for each in sorted(
        (each for each in listed if each.id in fresh), key=lambda one: (sorted(projects_of(one)), one.id)
    ):
        near = sorted(
            (-_likeness(words[each.id], words[other.id]), other.id)
            for other in listed
            if other.id != each.id and _may_be_merged(each, other)
        )
        group = [known[name] for much, name in near[:NEIGHBOURS] if -much >= NEAR]
        if not group:
            continue
        more = {one.id: one for one in (each, *group)}
        if len(batch | more) > TOGETHER:
            yield list(batch.values())
            batch = {}
        batch |= more
    if batch:
        yield list(batch.values())


def _may_be_merged(one: Record, other: Record) -> bool:
    """Whether two lessons apply to a common project, and are not merged by rules already."""
    if is_ruling(one.cue) and is_ruling(other.cue) and same_ruling(one.cue, other.cue):
        return False
    return any(applies(projects_of(other), (project,)) for project in projects_of(one) or {""})


def _words(text: str) -> frozenset[str]:
    return frozenset((*terms(text), *(claim.text.casefold() for claim in claims(text))))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


async def _proposed_merges(model: LanguageModel, batch: Sequence[Record]) -> tuple[list[_Merge], Usage]:
    """The merges that a model proposes, as far as they are valid."""
    answer = await model.ask(await asyncio.to_thread(_prompt, batch), MergeReply)
    return await asyncio.to_thread(_planned, answer.value, batch), answer.usage


def _prompt(batch: Sequence[Record]) -> Prompt:
    listed = "\n".join(f"{number}. {_prompt_line(each)}" for number, each in enumerate(batch, 1))
    return LESSONS_MERGE.render(lessons=listed)


def _prompt_line(record: Record) -> str:
    last = _last_shown(record)
    runs = f"{len(record.sessions)} runs" if len(record.sessions) > 1 else "1 run"
    seen = f"{runs}, last {day(last)}" if last else runs
    return f"({seen}) {neutralise(record.text, ('</lessons>',))}"


def _last_shown(record: Record) -> datetime | None:
    """The time when a run showed it last; None without times in the logs."""
    return max((piece.when for piece in supporting(record) if piece.when), default=None)


def _planned(reply: MergeReply, batch: Sequence[Record]) -> list[_Merge]:
    words = {each.id: _words(each.text) for each in batch}
    taken: set[MemoryId] = set()
    plans: list[_Merge] = []

    def free(numbers: Sequence[int]) -> list[Record]:
        named = (batch[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(batch))
        return [each for each in named if each.id not in taken]

    for said in reply.same:
        group = free(said.lessons)
        alike = [
            each
            for each in group
            if any(_likeness(words[each.id], words[other.id]) >= NEAR for other in group if other.id != each.id)
        ]
        if len(alike) > 1:
            stays = min(alike, key=_rank)
            # Lessons that the user kept are not absorbed.
            others = tuple(each for each in alike if each.id != stays.id and not is_kept(each))
            plans.append(_Merge(stays=stays, others=others, words=_better(said.words, stays, alike)))
            taken |= {each.id for each in alike}
    for gone in reply.outdated:
        pair = free([gone.lesson, gone.by])
        if len(pair) == 2 and _is_overtaken(*pair) and _likeness(words[pair[0].id], words[pair[1].id]) >= NEAR:
            plans.append(_Merge(stays=pair[1], others=(pair[0],), outdated=True))
            taken.add(pair[0].id)
    return plans


def _rank(record: Record) -> tuple[object, ...]:
    """A sort key for the lesson that remains: rulings first, then a model's, then those of most runs."""
    ruled, said = is_ruling(record.cue), record.cue.startswith(MODEL)
    return (not is_kept(record), not ruled, ruled == said, -len(record.sessions), record.recorded, record.id)


def _is_overtaken(record: Record, by: Record) -> bool:
    """Whether a later lesson may replace it: a ruling only by a ruling, a lesson by rules never."""
    before, after = _last_shown(record), _last_shown(by)
    later = before is not None and after is not None and before < after
    return (
        record.cue.startswith(MODEL)
        and not is_kept(record)
        and later
        and (not is_ruling(record.cue) or is_ruling(by.cue))
    )


def _better(said: str, stays: Record, group: Sequence[Record]) -> str:
    """A model's wording for several lessons, if they support all its claims; else empty."""
    text = " ".join(said.split())
    given = [each.text for each in group]
    fits = 0 < len(text.split()) <= MOST_WORDS + MOST_WHY_WORDS and text != stays.text
    # The user's own words are not reworded.
    if not fits or is_kept(stays) or is_ruling(stays.cue) or error_text(text):
        return ""
    if instruction_like(text) and not any(map(instruction_like, given)):
        return ""
    told, used = {term for each in given for term in terms(each)}, {*terms(text)}
    close = any(_likeness(_words(text), _words(each)) >= CLOSE for each in given)
    known = close and len(used - told) <= NEW_WORDS and not check_text(text, SourceIndex(given))
    return text if known else ""


def _merge(tx: Transaction, resources: Resources, space: str, plan: _Merge) -> bool:
    """Merge in one transaction, unless any of the lessons has changed meanwhile."""
    cues = [plan.stays.cue, *(each.cue for each in plan.others)]
    now = {each.cue: each for each in tx.memories.list(space, MemoryFilter(cues=tuple(cues)))}
    if any(now.get(each.cue) != each for each in (plan.stays, *plan.others)):
        return False
    gone = {each.cue for each in plan.others}
    sessions = dict.fromkeys(each.session for each in tx.runs.observations(space, cues, limit=10_000))
    for run in tx.runs.get(space, list(sessions)):
        shown = tx.runs.of_run(space, run.session)
        tx.runs.put(space, run, _shown_as_one(shown, plan, gone))
    remove_memories(tx, space, plan.others)
    observed = tx.runs.observations(space, [plan.stays.cue], limit=10_000)
    settle_lessons(tx, space, observed, resources.clock.now())
    if plan.words:
        held = tx.memories.list(space, MemoryFilter(cues=(plan.stays.cue,)))
        tx.memories.put(space, [replace(each, text=plan.words) for each in held])
    return True


def _shown_as_one(shown: Sequence[Observation], plan: _Merge, gone: set[str]) -> list[Observation]:
    """The observations of a run after a merge; those by rules remain as statistics."""
    ones = [each for each in shown if each.cue == plan.stays.cue]
    moved = [
        replace(each, cue=plan.stays.cue, category=CATEGORY[plan.stays.kind]) for each in shown if each.cue in gone
    ]
    rest = [
        replace(each, text="", way_out="", why="", trigger=None) if each.cue in gone else each
        for each in shown
        if each.cue != plan.stays.cue and not (each.cue in gone and each.cue.startswith(MODEL))
    ]
    one = sum_observations([*ones, *([] if plan.outdated else moved)])
    return [*rest, *one]
