"""List the lessons of a space with their sources, review them, and write pages of instructions from them.

A review keeps, rewords or drops a lesson, whatever runs show later: it is a piece of evidence that outweighs all
evidence from runs. It cites the messages of the lesson, so that it is erased when these are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.check import observations_by_cue
from ireneo.engine.named import memory_named
from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Cleaning, Resources
from ireneo.engine.scope import is_visible_project, open_projects, without_words_of_others
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.grounding.claims import claims
from ireneo.grounding.evidence import SourceIndex as Shown
from ireneo.lessons.findings import PASSES
from ireneo.lessons.lessons import (
    TWICE,
    SeenCounts,
    best_worded,
    cues_to_read,
    projects_of,
    seen_counts,
    success_rate,
    supporting_quotes,
    told_and_kept,
    told_together,
)
from ireneo.lessons.observe import ASKED, ENDS_IN, GOT_OVER, REFUSED
from ireneo.lessons.relevance import FileStatements, content_of, first_occurrences, says_the_same
from ireneo.lessons.rulings import generality_rank, is_instruction
from ireneo.lessons.run import CATEGORY, Category, Observation, is_ruling, project_named
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.exchange import confirmation_draft, objection_draft
from ireneo.memories.record import (
    DROPPED,
    GENERAL,
    Evidence,
    MemoryDraft,
    MemoryId,
    Record,
    State,
    count_runs,
    evidence_project,
    is_confirmed_by_user,
    is_dropped_by_user,
    objections,
    supporting,
)
from ireneo.patterns import lazy_re
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

MOST_SOURCES = 12
"""How many passages are quoted for a lesson at most; passages of its latest runs come first."""


class Cited(Struct, frozen=True, kw_only=True):
    """A quotation from a message that supports a lesson."""

    session: str
    message: MessageId
    quote: str
    """The words, verbatim."""


class Lesson(ShortRepr, frozen=True, kw_only=True):
    """A lesson as it is shown."""

    id: MemoryId
    project: str
    """The project of the lesson, if it has exactly one; else empty."""
    task_type: str
    lesson: str
    cue: str
    """The claim that it makes."""
    category: Category
    conditions: dict[str, str]
    standing: str
    """How often it was seen: “seen in 5 of 6 runs; last in May 2026”."""
    seen: int
    """In how many runs the lesson held."""
    met: int
    """In how many runs the lesson could have held, including those in which it did."""
    last_seen: datetime | None
    """When the newest run showed the lesson; None if none of the runs has a time."""
    sources: tuple[Cited, ...]
    way_out: str = ""
    """For a trap: what to do instead."""
    why: str = ""
    """The sentence that gives the reason, verbatim."""
    reviewed: Literal["", "kept", "edited", "dropped"] = ""
    """The user's review."""
    is_ruling: bool = False
    """Whether the lesson is a ruling of a user."""
    helped: int = 0
    harmed: int = 0
    tokens: int = 0
    """The cost of the lesson's failures so far, in tokens."""
    seconds: float = 0.0
    guard_only: bool = False
    """Whether it is told only where it applies: it is visible in time elsewhere, or was seen or said too seldom."""
    state: State = "active"
    """``retired`` if the lesson is no longer true."""
    against: tuple[str, ...] = ()
    """The objections against the lesson, in sentences that say who raised them and when."""
    projects: tuple[str, ...] = ()
    """The projects in which it was seen, and so those to which it is shown; ``*`` if it is general."""

    @property
    def where(self) -> str:
        """The projects to which it is shown, in words."""
        return "every project" if GENERAL in self.projects else ", ".join(self.projects) or self.project or "no project"


def lessons(
    tx: Transaction,
    resources: Resources,
    space: str,
    *,
    project: str | None = None,
    category: Category | None = None,
    disputed: bool = False,
    guarded: bool = False,
) -> list[Lesson]:
    """The valid lessons: those of several runs first, and rulings first among these (see `Memory.lessons`)."""
    opened = open_projects(tx, space, None if project is None else project_named(project))
    states: tuple[State, ...] = ("active", "retired") if disputed else ("active",)
    wanted = MemoryFilter(states=states, lessons=True, archived=False)
    found = [each for each in tx.memories.list(space, wanted) if category in (None, _category(each))]
    listed = [without_words_of_others(each, opened) for each in found]
    records = [each for each in listed if each.state == "active" or objections(each)]
    observed = observations_by_cue(tx, space, (cue for each in records for cue in cues_to_read(each.cue)))
    mine = [each for each in records if is_visible_project(opened, projects_of(each))]
    met = {each.id: [one for cue in cues_to_read(each.cue) for one in observed.get(cue, ())] for each in mine}
    chosen, kept = told_and_kept([each for each in mine if each.state == "active"], observed)
    beside = {each.id for each in kept}
    chosen += [each for each in mine if each.state != "active"]
    chosen += kept if guarded else []
    far = {
        each.id: generality_rank(each.text) if is_ruling(each.cue) else success_rate(met[each.id]) for each in chosen
    }
    # A lesson from one run may only concern its task; one from several runs doesn't. What is only kept comes last.
    once = {each.id: each.runs < TWICE and not is_confirmed_by_user(each) for each in chosen}
    late = {each.id: once[each.id] + (each.id in beside) for each in chosen}
    chosen.sort(key=lambda each: (late[each.id], not is_ruling(each.cue), -each.runs, -far[each.id], each.id))
    passages = _QuoteCache(tx, space, resources.derived_cleaning())
    listed_so = [
        _make_lesson(
            each, _seen_counts(each, met[each.id]), observed.get(each.cue, ()), _cited_passages(passages, each)
        )
        for each in chosen
    ]
    return [replace(each, guard_only=each.id in beside) for each in listed_so]


def _category(record: Record) -> Category:
    """What kind of lesson it is: to run a check before work is done is no failure."""
    return "procedural" if record.cue.startswith(PASSES) else CATEGORY[record.kind]


def _seen_counts(record: Record, observed: Sequence[Observation]) -> SeenCounts:
    """How often a lesson was seen; an imported one has only its evidence, and no observations."""
    standing = seen_counts(observed)
    runs = count_runs(each for each in supporting(record) if each.origin == "run")
    if runs <= standing.runs:
        return standing
    last = max((each.when for each in supporting(record) if each.when is not None), default=None)
    return replace(standing, runs=runs, met=max(runs, standing.met), last=last)


def _make_lesson(
    record: Record, standing: SeenCounts, observed: Sequence[Observation], cited: tuple[Cited, ...]
) -> Lesson:
    named, best = projects_of(record), best_worded(observed)
    return Lesson(
        id=record.id,
        project=next(iter(named)) if len(named) == 1 and GENERAL not in named else "",
        task_type=record.task_type,
        lesson=record.text,
        cue=record.cue,
        category=_category(record),
        conditions={name: value for name, value in record.conditions.items() if name != "project"},
        standing=standing.in_words,
        seen=standing.runs,
        met=standing.met,
        last_seen=standing.last,
        sources=cited,
        way_out=best.way_out if best else "",
        why=best.why if best else "",
        reviewed=_review_state(record),
        is_ruling=is_ruling(record.cue),
        helped=record.helped,
        harmed=record.harmed,
        tokens=sum(each.tokens for each in observed),
        seconds=sum(each.seconds for each in observed),
        state=record.state,
        against=objections(record),
        projects=tuple(sorted(named)),
    )


def _review_state(record: Record) -> Literal["", "kept", "edited", "dropped"]:
    if is_dropped_by_user(record):
        return "dropped"
    if not is_confirmed_by_user(record):
        return ""
    return "edited" if record.drawn else "kept"


def as_shown(
    tx: Transaction, resources: Resources, space: str, record: Record, project: str | None
) -> tuple[Record, str, tuple[Cited, ...]]:
    """A lesson together with those that are shown as one with it, how often it was seen, and passages that show it.

    Of another memory only itself.
    """
    if not record.cue:
        return record, "", ()
    opened = open_projects(tx, space, None if project is None else project_named(project))
    listed = tx.memories.list(space, MemoryFilter(states=("active",), lessons=True, archived=False))
    mine = [without_words_of_others(each, opened) for each in listed if is_visible_project(opened, projects_of(each))]
    observed = observations_by_cue(tx, space, (cue for each in mine for cue in cues_to_read(each.cue)))
    told, kept = told_and_kept(mine, observed)
    shown = next((each for each in (*told, *kept) if each.id == record.id), record)
    standing = _seen_counts(shown, [each for cue in cues_to_read(shown.cue) for each in observed.get(cue, ())])
    passages = _QuoteCache(tx, space, resources.derived_cleaning())
    return shown, standing.in_words, _cited_passages(passages, shown)


class _QuoteCache:
    """Quotes messages without their secrets, and caches them, since many lessons cite the same ones."""

    def __init__(self, tx: Transaction, space: str, cleaning: Cleaning) -> None:
        self._tx = tx
        self._space = space
        self._cleaning = cleaning
        self._read: dict[tuple[str, MessageId], Message] = {}

    def quote(self, text: str, piece: Evidence) -> list[Cited]:
        missing = [name for name in piece.messages if (piece.session, name) not in self._read]
        for each in self._tx.log.find(SessionKey(self._space, piece.session), missing):
            self._read[piece.session, each.id] = self._cleaning.message(each)
        return [
            Cited(session=piece.session, message=name, quote=quote)
            for name in piece.messages
            if (message := self._read.get((piece.session, name)))
            for quote in supporting_quotes(text, message)
        ]


def _cited_passages(passages: _QuoteCache, record: Record) -> tuple[Cited, ...]:
    """Passages from a lesson's sources: first from the run with its wording, then from others, the latest first.

    Runs are read until every claim of the lesson is supported.
    """
    pieces = sorted(supporting(record), key=lambda each: (each.recorded != record.recorded, -each.at.timestamp()))
    telling: list[Cited] = []
    others: list[Cited] = []
    wanted = list(dict.fromkeys(claims(record.text)))
    for piece in pieces:
        if not wanted and len(telling) + len(others) >= MOST_SOURCES:
            break
        found = passages.quote(record.text, piece)
        shown = Shown([each.quote for each in found])
        left = [claim for claim in wanted if not shown.supports(claim)]
        (others if len(left) == len(wanted) else telling).extend(found)
        wanted = left
    return (*telling, *others)[:MOST_SOURCES]


Verdict = Literal["keep", "edit", "drop"]

LONGEST = 400
"""The maximum number of characters of a lesson."""
MOST_MESSAGES = 32
"""How many messages a review cites: the first of each run."""


async def review(
    resources: Resources, space: str, id: str, verdict: Verdict, text: str = "", reason: str = ""
) -> Record:
    """Keep, reword or drop a lesson (see `Memory.review`)."""
    if verdict not in get_args(Verdict):
        raise BadInput(f"`verdict` is {verdict!r}; give one of {', '.join(get_args(Verdict))}.")
    words = " ".join(resources.cleaning().text(text).split())
    if bool(words) != (verdict == "edit"):
        raise BadInput("Give the new words of a lesson that is edited, and of no other.")
    if len(words) > LONGEST:
        raise BadInput(f"A lesson is one line of at most {LONGEST:,} characters; this has {len(words):,}.")
    why = " ".join(resources.cleaning().text(reason).split()) or DROPPED
    now = resources.clock.now()

    def settle(tx: Transaction) -> Record:
        record = memory_named(tx, space, id)
        if record is None or not record.cue:
            raise MemoryNotFound(f"There is no lesson {id!r} in space {space!r}; `lessons` lists those there are.")
        alike = _equivalent_lessons(tx, space, record)
        shown = next((each for each in told_together([record, *alike]) if each.id == record.id), record)
        said = words or shown.text
        if verdict == "drop" or (said != record.text and not is_ruling(record.cue)):
            # The same lesson in other words is dropped too, or it would replace the dropped one.
            instead = why if verdict == "drop" else f"It is said in other words: {said}"
            settle_drafts(tx, space, [_verdict_draft(each, now, drop=instead) for each in alike], judged=True)
        word = _verdict_draft(record, now, drop=why if verdict == "drop" else "")
        (done,) = settle_drafts(tx, space, [word], judged=True)
        settled = done.record
        if verdict != "drop" and said != settled.text:
            settled = replace(settled, text=said, drawn=settled.drawn or (settled.text if words else ""))
            tx.memories.put(space, [settled])
        return settled

    return await resources.store.write(settle)


def _verdict_draft(record: Record, now: datetime, *, drop: str) -> MemoryDraft:
    """The user's verdict as evidence: that the lesson is kept, or why it is dropped."""
    firsts = (piece.messages[0] for piece in supporting(record) if piece.messages)
    shown = tuple(dict.fromkeys(firsts))[-MOST_MESSAGES:]
    word = objection_draft(record, now, why=drop) if drop else confirmation_draft(record, now)
    # The times of a log may be in the future here; the verdict must cover them too.
    at = max(now, *(piece.at for piece in record.evidence))
    return replace(word, at=at, messages=shown, project=_only_project(record), pinned=record.pinned or not drop)


def _equivalent_lessons(tx: Transaction, space: str, record: Record) -> list[Record]:
    """The lessons of the same project that mean the same, or are shown as one with it, and were not reviewed."""
    listed = tx.memories.list(space, MemoryFilter(states=("active",), lessons=True, archived=False))
    project, said = _only_project(record), record.drawn or record.text
    others = [
        each
        for each in listed
        if each.id != record.id and not is_confirmed_by_user(each) and _only_project(each) == project
    ]
    return [each for each in others if says_the_same(record.cue, said, each) or len(told_together([record, each])) == 1]


def _only_project(record: Record) -> str:
    """The only project of a lesson; empty if it has several."""
    named = {name for piece in supporting(record) if (name := evidence_project(piece))}
    return next(iter(named)) if len(named) == 1 else ""


# The lessons for a project's instructions, a page that its maintainer would commit: rulings first, then commands that
# work, traps with the way out, and findings, without what the instructions already say.

MOST_LINES = 15
"""The maximum number of lines for one project: nobody reads more than that before each task."""
SECTIONS = ("Rules", "Commands", "Traps", "Findings")
"""The parts of a page, in this order; a part without a line is left out."""
_SHARES = {"Rules": 8, "Commands": 3, "Traps": 6, "Findings": 3}
"""The maximum number of lines of a part as long as another part has lines left."""
_COMMAND = "<command:"
"""Part of the cue of a fact about a command of the project."""


class InstructionPage(Struct, frozen=True, kw_only=True):
    """The lessons for the instructions of one project."""

    project: str
    parts: tuple[tuple[str, tuple[Lesson, ...]], ...]
    """The parts that have lines, each by its name."""


def page_section(lesson: Lesson) -> str:
    """The part of a page to which a lesson belongs."""
    if lesson.is_ruling or lesson.cue.startswith((ASKED, REFUSED)):
        return "Rules"
    if lesson.cue.startswith(PASSES) or (lesson.category == "factual" and _COMMAND in lesson.cue):
        return "Commands"
    return "Traps" if lesson.category == "failure" or ENDS_IN in lesson.cue else "Findings"


def without_repeats(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Drop repeated lessons; of lessons with the same meaning the one that says what to do is kept, else the first."""
    best = sorted(
        range(len(lessons)), key=lambda at: (not lessons[at].reviewed, not gives_instruction(lessons[at]), at)
    )
    kept = first_occurrences([content_of(lessons[at].lesson) for at in best])
    return [lessons[at] for at in sorted(best[place] for place in kept)]


def gives_instruction(lesson: Lesson) -> bool:
    """Whether a lesson says what to do, or why it is so, and not only what fails."""
    return bool(lesson.way_out or lesson.why) or GOT_OVER in lesson.cue


def instructions(
    lessons: Iterable[Lesson],
    *,
    said: Iterable[str] = (),
    offered: Collection[str] = (),
    since: datetime | None = None,
    project: str = "",
) -> list[InstructionPage]:
    """A page of lessons for each project; lessons of several projects or of none are on the last page.

    With a `project` all lessons are on its page. `said` are files that agents read besides the page, `offered` the
    commands that are obvious from the project's own files; with `since` only lessons seen from then on count.
    """
    already, by_project = FileStatements(said), dict[str, list[Lesson]]()
    for each in lessons:
        if each.state == "active" and _is_worth_a_line(each, since, offered):
            by_project.setdefault(project or each.project, []).append(each)
    by_project = _merge_checkouts(by_project)
    pages: list[InstructionPage] = []
    for name in sorted(by_project, key=lambda name: (not name, name)):
        told = without_repeats(sorted(by_project[name], key=_page_order))
        told = [_worded_for_page(each) for each in told]
        chosen = _allot_lines([each for each in told if not already.has_statement(content_of(each.lesson))])
        if chosen:
            pages.append(InstructionPage(project=name, parts=chosen))
    return pages


_TRAP = lazy_re(r"When (?P<call>`[^`]+`) fails(?: with (?P<error>“[^”]+”))?, (?P<way>[^“]+?)\.(?: “.*)?")


def _worded_for_page(lesson: Lesson) -> Lesson:
    """A lesson as instructions say it: a wish without its example, a trap as what to do, a ruling as a sentence."""
    text = lesson.lesson
    if lesson.reviewed:
        return lesson
    if lesson.cue.startswith(ASKED):
        text = text.partition(": “")[0]
    elif lesson.is_ruling:
        text = text[:1].upper() + text[1:]
    elif (trap := _TRAP.fullmatch(text)) is not None:
        text = f"{trap['call']}: {trap['way']}{f', or it fails with {error}' if (error := trap['error']) else ''}."
    return replace(lesson, lesson=text)


def _merge_checkouts(by_project: Mapping[str, list[Lesson]]) -> dict[str, list[Lesson]]:
    """Join the lessons of checkouts of one project: `work/cli` with `cli`; all of them if there is only one project."""
    out: dict[str, list[Lesson]] = {}
    for name, found in by_project.items():
        home = name.rsplit("/", 1)[-1]
        out.setdefault(home if home in by_project else name, []).extend(found)
    named = [name for name in out if name]
    return {named[0]: [each for found in out.values() for each in found]} if len(named) == 1 else out


def _is_worth_a_line(lesson: Lesson, since: datetime | None, offered: Collection[str]) -> bool:
    if since is not None and (lesson.last_seen is None or lesson.last_seen < since):
        return False
    if lesson.reviewed:
        return True
    part = page_section(lesson)
    if lesson.is_ruling and lesson.seen <= 1 and not is_instruction(lesson.lesson):
        return False  # It may concern its task only.
    if part == "Commands" and lesson.category == "factual":
        return not all(code in offered for code in content_of(lesson.lesson).codes)
    return part != "Traps" or gives_instruction(lesson)


def _page_order(lesson: Lesson) -> tuple[object, ...]:
    """The sort key: reviewed lessons first, then those that most runs would have needed, the latest first."""
    last = -lesson.last_seen.timestamp() if lesson.last_seen else 0.0
    use = (not lesson.reviewed, -lesson.seen, -_strictness(lesson), last, -lesson.tokens, lesson.id)
    return (SECTIONS.index(page_section(lesson)), *use)


def _strictness(lesson: Lesson) -> float:
    """How strictly the words of a ruling bind, “always” more than “let's”; 0 for a lesson that is not a ruling."""
    return generality_rank(lesson.lesson) if lesson.is_ruling else 0.0


def _allot_lines(lessons: Sequence[Lesson]) -> tuple[tuple[str, tuple[Lesson, ...]], ...]:
    """Divide the lines of a page among its parts; unused lines go to other parts in their order."""
    parts = {name: [each for each in lessons if page_section(each) == name] for name in SECTIONS}
    taken = {name: min(len(parts[name]), _SHARES[name]) for name in SECTIONS}
    while sum(taken.values()) > MOST_LINES:
        taken[max(SECTIONS[1:], key=lambda name: taken[name])] -= 1
    for name in SECTIONS:
        taken[name] += min(len(parts[name]) - taken[name], MOST_LINES - sum(taken.values()))
    return tuple((name, tuple(parts[name][: taken[name]])) for name in SECTIONS if taken[name])
