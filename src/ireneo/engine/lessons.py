"""The lessons of a space, as they are shown: what each says, how often it was seen, and the passages that show it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.resources import Cleaning, Resources
from ireneo.engine.scope import is_open, open_projects, without_words_of_others
from ireneo.grounding.claims import claims
from ireneo.grounding.evidence import SourceIndex as Shown
from ireneo.lessons.lessons import (
    Standing,
    best_worded,
    cues_to_read,
    is_in_sight,
    projects_of,
    quotes,
    share_of,
    standing_of,
    without_remedies_told,
)
from ireneo.lessons.rulings import merged_rulings, reach
from ireneo.lessons.run import CATEGORY, Category, Observation, is_ruling, project_named
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.record import Evidence, MemoryId, Record, State, disputes, is_dropped, is_kept, supporting
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

MOST_SOURCES = 12
"""Passages that are quoted for a lesson, those of its latest runs first."""


class Cited(Struct, frozen=True, kw_only=True):
    """A passage that shows what a lesson says."""

    session: str
    message: MessageId
    quote: str
    """Word for word."""


class Lesson(Struct, frozen=True, kw_only=True):
    """A lesson as it is shown."""

    id: MemoryId
    project: str
    """The project that it stays with; empty where it held in several, or where none is known."""
    task_type: str
    lesson: str
    cue: str
    """The claim that it makes."""
    category: Category
    conditions: dict[str, str]
    standing: str
    """How often it was seen, in plain words: “seen in 5 of 6 runs; last in May 2026”."""
    seen: int
    """In how many runs it held."""
    met: int
    """In how many runs it could have shown, those among them."""
    last_seen: datetime | None
    """When a run showed it last; None where none of its runs bears a time."""
    sources: tuple[Cited, ...]
    way_out: str = ""
    """Of a trap: what to do instead."""
    why: str = ""
    """The sentence that gives the reason, word for word."""
    reviewed: Literal["", "kept", "edited", "dropped"] = ""
    """What the user made of it."""
    is_ruling: bool = False
    """Whether it is what a user ruled."""
    helped: int = 0
    harmed: int = 0
    tokens: int = 0
    """What it has cost so far, in tokens."""
    seconds: float = 0.0
    state: State = "active"
    """``retired`` where it no longer counts."""
    against: tuple[str, ...] = ()
    """What was said against it, by whom and when, in sentences."""


def lessons(
    tx: Transaction,
    resources: Resources,
    space: str,
    *,
    project: str | None = None,
    category: Category | None = None,
    disputed: bool = False,
) -> list[Lesson]:
    """The lessons that hold: rulings first, then what most runs showed; of one project with those that hold in several.

    With `disputed` also those that count no longer since somebody spoke against them, with the reason.
    """
    opened = open_projects(tx, space, None if project is None else project_named(project))
    kinds = {name: kind for kind, name in CATEGORY.items()}
    states: tuple[State, ...] = ("active", "retired") if disputed else ("active",)
    wanted = MemoryFilter(kind=kinds[category] if category else None, states=states, lessons=True, archived=False)
    listed = [without_words_of_others(each, opened) for each in tx.memories.list(space, wanted)]
    records = [each for each in listed if each.state == "active" or disputes(each)]
    observed = _observations(tx, space, [cue for each in records for cue in cues_to_read(each.cue)])
    mine = [each for each in records if is_open(opened, projects_of(each))]
    told = [each for each in mine if is_kept(each) or not is_in_sight(observed.get(each.cue, ()))]
    chosen = without_remedies_told(merged_rulings([each for each in told if each.state == "active"]))
    chosen += [each for each in mine if each.state != "active"]
    seen = {each.id: [one for cue in cues_to_read(each.cue) for one in observed.get(cue, ())] for each in chosen}
    far = {each.id: reach(each.text) if is_ruling(each.cue) else share_of(seen[each.id]) for each in chosen}
    chosen.sort(key=lambda each: (not is_ruling(each.cue), -len(each.sessions), -far[each.id], each.id))
    passages = _Passages(tx, space, resources.drawing())
    return [
        _lesson(each, _standing(each, seen[each.id]), observed.get(each.cue, ()), _cited(passages, each))
        for each in chosen
    ]


def _observations(tx: Transaction, space: str, cues: Sequence[str]) -> dict[str, list[Observation]]:
    out: dict[str, list[Observation]] = {}
    for each in tx.runs.observations(space, list(dict.fromkeys(cues))):
        out.setdefault(each.cue, []).append(each)
    return out


def _standing(record: Record, observed: Sequence[Observation]) -> Standing:
    """How often a lesson was seen; what was taken over from another memory has its evidence alone."""
    standing = standing_of(observed)
    runs = {each.session for each in supporting(record) if each.origin == "run"}
    if len(runs) <= standing.runs:
        return standing
    last = max((each.when for each in supporting(record) if each.when is not None), default=None)
    return replace(standing, runs=len(runs), met=max(len(runs), standing.met), last=last)


def _lesson(record: Record, standing: Standing, observed: Sequence[Observation], cited: tuple[Cited, ...]) -> Lesson:
    named, best = projects_of(record), best_worded(observed)
    return Lesson(
        id=record.id,
        project=next(iter(named)) if len(named) == 1 else "",
        task_type=record.task_type,
        lesson=record.text,
        cue=record.cue,
        category=CATEGORY[record.kind],
        conditions={name: value for name, value in record.conditions.items() if name != "project"},
        standing=standing.words,
        seen=standing.runs,
        met=standing.met,
        last_seen=standing.last,
        sources=cited,
        way_out=best.way_out if best else "",
        why=best.why if best else "",
        reviewed=_reviewed(record),
        is_ruling=is_ruling(record.cue),
        helped=record.helped,
        harmed=record.harmed,
        tokens=sum(each.tokens for each in observed),
        seconds=sum(each.seconds for each in observed),
        state=record.state,
        against=disputes(record),
    )


def _reviewed(record: Record) -> Literal["", "kept", "edited", "dropped"]:
    if is_dropped(record):
        return "dropped"
    if not is_kept(record):
        return ""
    return "edited" if record.drawn else "kept"


class _Passages:
    """Quotes messages, as they would read without their secrets; many lessons cite the same ones."""

    def __init__(self, tx: Transaction, space: str, cleaning: Cleaning) -> None:
        self._tx = tx
        self._space = space
        self._cleaning = cleaning
        self._read: dict[tuple[str, MessageId], Message] = {}

    def quoted(self, text: str, piece: Evidence) -> list[Cited]:
        missing = [name for name in piece.messages if (piece.session, name) not in self._read]
        for each in self._tx.log.find(SessionKey(self._space, piece.session), missing):
            self._read[piece.session, each.id] = self._cleaning.message(each)
        return [
            Cited(session=piece.session, message=name, quote=quote)
            for name in piece.messages
            if (message := self._read.get((piece.session, name)))
            for quote in quotes(text, message)
        ]


def _cited(passages: _Passages, record: Record) -> tuple[Cited, ...]:
    """Passages of its sources: of the run that its words come from first, then of the others, the latest first.

    Whatever the lesson names is shown by one of them: a run is looked for until it is.
    """
    pieces = sorted(supporting(record), key=lambda each: (each.recorded != record.recorded, -each.at.timestamp()))
    telling: list[Cited] = []
    others: list[Cited] = []
    wanted = list(dict.fromkeys(claims(record.text)))
    for piece in pieces:
        if not wanted and len(telling) + len(others) >= MOST_SOURCES:
            break
        found = passages.quoted(record.text, piece)
        shown = Shown([each.quote for each in found])
        left = [claim for claim in wanted if not shown.supports(claim)]
        (others if len(left) == len(wanted) else telling).extend(found)
        wanted = left
    return (*telling, *others)[:MOST_SOURCES]
