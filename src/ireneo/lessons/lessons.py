"""Make lessons from the observations of many runs, and the guard's traps from lessons.

A lesson is made from all observations of its claim. Each run is one piece of evidence, so the order in which runs are
learned from makes no difference. Only a claim that would save a later run something becomes a lesson.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, source_texts
from ireneo.lessons.findings import PASSES, is_check
from ireneo.lessons.guard import HEED, Trap, TrapIndex
from ireneo.lessons.observe import (
    ANY,
    ASKED,
    ENDS_IN,
    GOT_OVER,
    PLACE,
    REFUSED,
    UNKNOWN,
    describe_claim,
    is_statistic,
    occasion_of,
)
from ireneo.lessons.rulings import describe_ruling, merge_rulings, stands_alone
from ireneo.lessons.run import HEARD_AS, LOGGED, MODEL, Category, Observation, Trigger, is_ruling
from ireneo.lessons.traps import IN_SIGHT, PROVEN
from ireneo.lessons.user_words import stems_of
from ireneo.log.message import Message
from ireneo.memories.record import (
    GENERAL,
    TRUST,
    Kind,
    MemoryDraft,
    Record,
    format_month,
    is_confirmed_by_user,
    objections,
    one_line,
)
from ireneo.patterns import lazy_re

HALF_LIFE_DAYS = 120.0
"""The age at which an observation has half its weight in a ranking."""
PRIOR: Mapping[Category, float] = {"failure": 0.1, "procedural": 0.5, "factual": 0.9}
"""The share of a category's claims that hold, before anything else is known."""
PRIOR_RUNS = 2.0
"""The weight of the prior, as a number of runs."""
_DAY = 86_400.0


class SeenCounts(Struct, frozen=True, kw_only=True):
    """How often a claim was seen. Counts, since a reader can weigh "seen in 5 of 6 runs", but not "likely"."""

    runs: int = 0
    """How many runs showed it."""
    met: int = 0
    """How many runs could have shown it, those that did included: they ran its program, or looked for its file."""
    last: datetime | None = None
    """When a run last showed it; None if the logs have no times."""
    verb: str = "seen"
    """What was done in these runs: users ``said`` it, or ``asked for`` it; else it was ``seen``."""

    @property
    def in_words(self) -> str:
        """“seen in 5 of 6 runs; last in May 2026”; empty if no run showed it."""
        if not self.runs:
            return ""
        is_seen = self.verb == "seen"
        if max(self.runs, self.met if is_seen else 0) == 1:
            return f"{self.verb} once, in {format_month(self.last)}" if self.last else f"{self.verb} once"
        often = f"{self.verb} in {self.runs:,}{f' of {self.met:,}' if is_seen else ''} runs"
        return f"{often}; last in {format_month(self.last)}" if self.last else often


def seen_counts(observations: Sequence[Observation]) -> SeenCounts:
    """How often a claim was seen, from its observations and possibly those of its occasion, in any order.

    The observations of the occasion show in which runs the claim could have shown but didn't.
    """
    seen = [(each, good) for each, good, bad in weights_by_run(observations) if good + bad > 0]
    shown = [each for each, good in seen if good > 0]
    return SeenCounts(
        runs=len(shown),
        met=len(seen),
        last=max((each.at for each in shown if each.at is not None), default=None),
        verb=next((_verb_of(each.cue) for each in shown if is_user_statement(each.cue)), "seen"),
    )


def cues_to_read(cue: str) -> tuple[str, ...]:
    """The cues whose observations count how often the claim `cue` was seen: its own, and its occasion's.

    A trap with a way out was seen wherever the trap was, whatever was done about it.
    """
    trap = cue.partition(GOT_OVER)[0] if ENDS_IN in cue else cue
    return tuple(dict.fromkeys((cue, trap, occasion_of(trap))))


def weights_by_run(observations: Sequence[Observation]) -> list[tuple[Observation, float, float]]:
    """For each run how often a claim held and didn't; for runs that didn't show the claim the occasion is used."""
    if not observations:
        return []
    cue = max((each.cue for each in observations), key=lambda name: (occasion_of(name) != name, len(name), name))
    own = {each.session: each for each in observations if each.cue == cue}
    met = occasion_of(cue)
    missed = {each.session: each for each in observations if met == each.cue != cue and each.session not in own}
    out = [(each, float(each.held), float(each.broke)) for each in without_copies(own.values())]
    out += [(each, 0.0, float(each.held + each.broke)) for each in without_copies(missed.values())]
    return sorted(out, key=lambda each: each[0].session)


def without_copies(observations: Iterable[Observation]) -> list[Observation]:
    """Drop what was observed in messages that are copies of another run's messages.

    A session that was resumed or exported again shares messages with another. Their ids are equal, since an id depends
    on all earlier messages, or at least what users said and their earlier words are. Sessions that a program opened
    with the same words also share them.
    """
    heard: set[str] = set()
    out: list[Observation] = []
    for each in sorted(observations, key=lambda one: one.session):
        names = {*each.sources, each.conditions.get(HEARD_AS, "")} - {""}
        if heard.isdisjoint(names):
            out.append(each)
        heard |= names
    return out


def is_user_statement(cue: str) -> bool:
    """Whether a claim is something that users say."""
    return is_ruling(cue) or cue.startswith(ASKED)


def _verb_of(cue: str) -> str:
    return "asked for" if cue.startswith(ASKED) else "said"


def success_rate(observations: Sequence[Observation]) -> float:
    """How often a claim holds where it could: the mean over its runs, shrunk towards the prior of its category."""
    seen = weights_by_run(observations)
    category: Category = max((each.category for each, _, _ in seen), default="failure")
    shares = [good / (good + bad) for _, good, bad in seen if good + bad > 0]
    return (PRIOR[category] * PRIOR_RUNS + sum(shares)) / (PRIOR_RUNS + len(shares))


def age_weight(at: datetime | None, now: datetime) -> float:
    """The weight of an observation by its age, from 0 to 1; 1 if its time is unknown."""
    if at is None:
        return 1.0
    return float(0.5 ** (max(0.0, (now - at).total_seconds() / _DAY) / HALF_LIFE_DAYS))


KIND: dict[Category, Kind] = {"factual": "semantic", "procedural": "procedural", "failure": "failure"}
TOKENS_A_SECOND = 50.0
"""The number of tokens that cost as much as a second of waiting: about as many are read and written in that time."""
A_FAILURE_TOKENS = 1_000.0
"""The cost of a failed call besides its own text: another turn, which reads a context of ten thousand tokens at a
tenth of the price, since they are cached."""
SURE_FROM = 0.75
"""From this share on, a run that shows the contrary is evidence against a claim; below, it only lowers the share."""
TWICE, THRICE = 2, 3
ASKED_AGAIN = 4
"""How many runs with requests for the same make it a wish for all work."""
AGAIN = 5
"""How many runs must meet a failure whose message already says what to do, before it is shown in advance."""

_OF_A_FACT = ("subject", "attribute", "value")
_OF_ITS_EVIDENCE = (*_OF_A_FACT, HEARD_AS, IN_SIGHT, PROVEN)
_COMMAND = " <command:"
_ACCIDENT = lazy_re(r"/tmp/|/var/folders/|\b[0-9a-f]{10,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}\b|/(?:Users|home)/\w+")


class LessonDrafts(Struct, frozen=True, kw_only=True):
    """The drafts of one claim's lesson."""

    drafts: tuple[MemoryDraft, ...] = ()
    words: str = ""
    """A better text for the known lesson, if a run has since shown what to do; otherwise empty."""


def lesson_drafts(observations: Sequence[Observation], known: Record | None, now: datetime) -> LessonDrafts:
    """The evidence for the lesson of one claim, a draft for each run; empty if it is not worth a lesson.

    `observations` are those of the claim in all runs. The text of a `known` lesson is kept, unless it lacks a way out
    that another text has, and only runs that are not yet its evidence get a draft. A run that shows the contrary of an
    almost certain claim counts against it.
    """
    claim = [each for each in observations if each.cue == (known.cue if known else each.cue)]
    best = best_worded(claim)
    if best is None or is_statistic(best.cue) or (known is None and not is_worth_a_lesson(claim)):
        return LessonDrafts()
    told = {lesson_text(each) for each in claim if each.text}
    # A text that somebody else wrote for it is kept.
    own = known is None or known.kind != "failure" or is_confirmed_by_user(known) or known.text not in told
    better = not own and known is not None and known.text != lesson_text(best)
    text = known.drawn or known.text if known and not better else lesson_text(best)
    have = {(each.session, each.against) for each in known.evidence} if known else frozenset[tuple[str, bool]]()
    firm = success_rate([each for each in claim if each.held]) >= SURE_FROM
    names = _names_of(known) if known else _new_names(best)
    pieces = [
        _lesson_draft(each, names, text, now, against)
        for each in sorted(claim, key=lambda one: (one.at is None, one.at or now, one.session))
        if each.sources or each.against
        if (against := not each.held and firm and each.broke >= TWICE and not is_ruling(each.cue)) or each.held
        if (each.session, against) not in have
    ]
    return LessonDrafts(drafts=tuple(pieces), words=text if better else "")


def withdrawals(record: Record, observations: Sequence[Observation], now: datetime) -> list[MemoryDraft]:
    """Later statements of users against a ruling, as evidence: a draft for each run of its project.

    Runs without times are left out, since their order is unknown.
    """
    have = {each.session for each in record.evidence if each.against}
    here = projects_of(record)
    return [
        _lesson_draft(each, _names_of(record), record.text, now, True)
        for each in sorted(observations, key=lambda one: (one.at or now, one.session))
        if each.at is not None and each.session not in have
        if (each.project in here or not (each.project and here))
    ]


def is_worth_a_lesson(observations: Sequence[Observation]) -> bool:
    """Whether a claim is useful to a later run, and has enough evidence."""
    observations = without_copies(observations)
    best = best_worded(observations)
    if best is not None and is_ruling(best.cue):
        return True
    if best is None or _ACCIDENT.search(best.text):
        return False
    held, vain = sum(each.held for each in observations), sum(each.vain for each in observations)
    runs = sum(bool(each.held) for each in observations)
    if best.cue.startswith((MODEL, LOGGED)):
        # A model, or the author of the log, judged its worth; its truth was checked against the messages.
        return True
    if best.cue.startswith(ASKED):
        return runs >= ASKED_AGAIN
    if best.cue.startswith(REFUSED):
        return runs >= TWICE and 2 * runs > len(observations) and held > sum(each.broke for each in observations)
    if GOT_OVER in best.cue:
        # A way out must help more often than not; once is enough if a reason is known.
        return held > vain and (held >= TWICE or _is_explained(best))
    if is_statistic(best.cue):
        return False  # A failure without a way out helps nobody.
    proven = any(PROVEN in each.conditions for each in observations)
    if best.category == "factual":
        # The next run will look for the file under the same wrong name; a task is in the runner's own list.
        enough = THRICE if _COMMAND in best.cue and "/" not in best.conditions.get("value", "") else TWICE
        return _is_other_file_ending(best) or proven or bool(best.why) or runs >= enough
    return runs >= TWICE or proven or best.cue.startswith(PASSES)


def _is_explained(seen: Observation) -> bool:
    """Whether a reason is known; for what must be run first, only a reason that mentions it or the failure."""
    label = seen.cue.partition(GOT_OVER)[2]
    if not label.startswith("first:"):
        return bool(seen.why)
    return not is_check(label.removeprefix("first:")) and bool(
        stems_of(seen.why) & stems_of(seen.text.replace(seen.why, ""))
    )


def is_obvious(observations: Sequence[Observation], met: Sequence[Observation] = ()) -> bool:
    """Whether a lesson only says what one sees anyway when it is needed: in the failure itself, or next to the file.

    The guard still uses it; it is not shown elsewhere. `met` are the observations of its occasion, in the same project.
    """
    held = without_copies(each for each in observations if each.held)
    best = best_worded(held)
    if best is None:
        return False
    if best.cue.startswith(LOGGED) and len(held) >= TWICE:
        return False
    if is_ruling(best.cue):
        # Words that don't stand alone may be about the task at hand: kept until another run says them.
        return not (best.cue.startswith(MODEL) or stands_alone(best.text) or len(held) >= TWICE)
    if any(IN_SIGHT in each.conditions for each in held):
        # A message that many runs met was read too late by all of them.
        here, error = {each.project for each in held}, best.cue.partition(GOT_OVER)[0]
        same = [each for each in met if each.held and each.cue == error and each.project in here]
        runs = {each.session for each in without_copies((*held, *(() if error.endswith(ANY) else same)))}
        return len(runs) < AGAIN
    if UNKNOWN in best.cue:
        return True  # Whoever doesn't give that name needs no warning.
    return (PLACE in best.cue or _is_other_file_ending(best)) and not best.why and len(held) < TWICE


def _is_other_file_ending(seen: Observation) -> bool:
    return seen.category == "factual" and seen.trigger is not None and "/" not in (seen.trigger.path or "/")


def cost_per_run(seen: Observation) -> float:
    """The cost of a claim in one run, in tokens."""
    # A claim that isn't a failure costs one turn to find out.
    turns = seen.held if ENDS_IN in seen.cue else min(seen.held, 1)
    return seen.tokens + seen.seconds * TOKENS_A_SECOND + turns * A_FAILURE_TOKENS


def expected_cost(observations: Sequence[Observation], now: datetime, here: Collection[str] = ()) -> float:
    """The expected cost of a claim in later runs: its cost in earlier runs, weighted by their age.

    If `here` has the names of a project, runs of other projects count a quarter.
    """
    return sum(
        cost_per_run(each) * age_weight(each.at, now) * (1.0 if not here or each.project in here else 0.25)
        for each in observations
    )


def applies(projects: Collection[str], here: Collection[str]) -> bool:
    """Whether a lesson seen in `projects` applies to a project with the names `here`: to no other, unless general."""
    named = {each for each in projects if each}
    return not any(here) or not named or not named.isdisjoint({*here, GENERAL})


def projects_of(record: Record) -> frozenset[str]:
    """The projects in which a lesson held."""
    told = zip(record.evidence, record.projects, strict=True)
    return frozenset(name for piece, name in told if name and not piece.against)


def best_worded(observations: Sequence[Observation]) -> Observation | None:
    """The observation with the best text: one with a reason, then that of most runs, then the newest."""
    worded = [each for each in observations if each.text and each.held]
    often: dict[str, int] = {}
    for each in worded:
        often[each.text] = often.get(each.text, 0) + 1
    return min(
        worded,
        key=lambda each: (
            not each.why,
            -often[each.text],
            _age(each),
            len(each.text),
            each.session,
        ),
        default=None,
    )


def told_together(records: Sequence[Record]) -> list[Record]:
    """The lessons as they are shown: those that say the same, or complete each other, are one with all evidence."""
    return _merge_checkouts(merge_rulings(_merge_checks(records)))


def told_and_kept(
    records: Sequence[Record], observed: Mapping[str, Sequence[Observation]]
) -> tuple[list[Record], list[Record]]:
    """The lessons as they are told, and those that are only kept: shown where a goal or a call concerns them.

    `observed` must contain the observations of the cues that `cues_to_read` returns for the lessons.
    """
    kept = {
        each.id
        for each in records
        if not is_confirmed_by_user(each)
        and is_obvious(
            observed.get(each.cue, ()), [one for cue in cues_to_read(each.cue) for one in observed.get(cue, ())]
        )
    }
    together = told_together([each for each in records if each.id not in kept or is_ruling(each.cue)])
    # What was said once is told as soon as another run says it, in whatever words.
    once = [each for each in together if each.id in kept and each.runs < TWICE]
    others = [each for each in records if each.id in kept and not is_ruling(each.cue)]
    return [each for each in together if each not in once], [*once, *others]


ASKED_CHECKS = f"{ASKED}checks"
_RUN_TOO = lazy_re(r"Before it is done, run `.+` too, not only (?P<passing>`[^`]+`)\.")
_IN_TICKS = lazy_re(r"`[^`]+`")


def _merge_checks(records: Sequence[Record]) -> list[Record]:
    """Merge a project's lessons about checks that fail where the same tests pass, into the one of most runs.

    Only if these include all runs of the other, so that what is said of the runs holds for both.
    """
    told: list[Record] = []
    for each in sorted(records, key=lambda each: (-each.runs, each.id)):
        found = _passing_tests(each)
        here = projects_of(each)
        for at, other in enumerate(told):
            there = projects_of(other)
            same_runs = set(each.sessions) <= set(other.sessions) and (here & there or here == there)
            if found and found == _passing_tests(other) and same_runs:
                told[at] = _with_check(other, each)
                break
        else:
            told.append(each)
    checked = [projects_of(each) for each in told if each.cue.startswith(PASSES)]
    # A user's request for the checks only says which checks to run.
    return [
        each
        for each in told
        if each.cue != ASKED_CHECKS
        or is_confirmed_by_user(each)
        or not any(map(projects_of(each).intersection, checked))
    ]


def _passing_tests(record: Record) -> str:
    """The tests that pass where another check fails; empty for other lessons, and for one that the user kept."""
    found = _RUN_TOO.fullmatch(record.text) if record.cue.startswith(PASSES) else None
    return found["passing"] if found and not is_confirmed_by_user(record) else ""


def _with_check(record: Record, other: Record) -> Record:
    """A lesson about checks that also names the check of another one."""
    checks = [check for each in (record, other) for check in _IN_TICKS.findall(each.text)[:-1]]
    several = f"{', '.join(checks[:-1])} and {checks[-1]}"
    text = f"Before it is done, run {several} too, not only {_passing_tests(record)}."
    return replace(_with_evidence(record, [other]), text=text)


def _with_evidence(record: Record, others: Sequence[Record]) -> Record:
    have = {piece.session for piece in record.evidence}
    more = {piece.session: piece for each in others for piece in each.evidence if not piece.against}
    every = (*record.evidence, *(more[name] for name in more if name not in have))
    return replace(record, evidence=tuple(sorted(every, key=lambda piece: (piece.at, piece.recorded))))


def _merge_checkouts(records: Sequence[Record]) -> list[Record]:
    """Merge lessons that say the same about several checkouts of a project: `cli` and `work/cli`."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for each in records:
        homes = sorted({name.rsplit("/", 1)[-1] for name in projects_of(each)})
        groups.setdefault(
            (each.id,) if is_confirmed_by_user(each) or not homes else (each.kind, each.text, *homes), []
        ).append(each)
    return [_with_evidence(group[0], group[1:]) if len(group) > 1 else group[0] for group in groups.values()]


def _age(seen: Observation) -> float:
    """A sort key: smaller for newer observations; those without a time count as the oldest."""
    return -seen.at.timestamp() if seen.at else 0.0


def lesson_text(seen: Observation) -> str:
    """The text of a run's observation, with the limits within which it holds."""
    return f"{seen.text} {seen.limits}".strip()


_NAMES = ("subject", "attribute", "value", "task_type", "name", "signature")


def _names_of(record: Record) -> dict[str, str]:
    return {name: getattr(record, name) for name in _NAMES}


def _new_names(seen: Observation) -> dict[str, str]:
    """The names under which a lesson is stored: those of its first text, whatever its text becomes later."""
    if seen.category == "factual":
        return {name: seen.conditions.get(name, "") for name in _OF_A_FACT}
    if seen.category == "failure":
        return {"signature": describe_claim(seen.cue)}
    if is_ruling(seen.cue):
        return {"name": describe_ruling(seen.cue)}
    return {"task_type": seen.task_type, "name": describe_claim(seen.cue)}


def _lesson_draft(seen: Observation, names: Mapping[str, str], text: str, now: datetime, against: bool) -> MemoryDraft:
    conditions = {**seen.conditions, **({"project": seen.project} if seen.project else {})}
    draft = MemoryDraft(
        text=text,
        kind=KIND[seen.category],
        at=seen.at or now,
        recorded=now,
        origin="run",
        trust=TRUST["run"],
        confidence=round(success_rate([seen]), 3),
        cue=seen.cue,
        conditions={name: value for name, value in conditions.items() if name not in _OF_ITS_EVIDENCE},
        against=against,
        session=seen.session,
        messages=seen.against if against and seen.against else seen.sources,
    )
    return replace(draft, **names)


LATEST = 2
"""A trap is obsolete if this many of the latest runs that could have shown it didn't."""
LEAST_RUNS = 2
"""How many runs must show a trap if its project is unknown."""
_QUOTED = lazy_re(r"“([^“”]+)”")
_LEADING = lazy_re(r"^(?:When|If|Where) ")
_TRAILING = " ,;:.–—→-("
_MOST = 240
"""How many characters of each part of the advice are shown."""


def known_traps(records: Iterable[Record], observations: Mapping[str, Sequence[Observation]]) -> TrapIndex:
    """Compile the traps of valid lessons; `observations` are those of their cues and of `program_cues` these."""
    traps: list[Trap] = []
    projects: set[str] = set()
    anywhere = False
    for record in records:
        if not record.holds or not record.cue:
            continue
        named = projects_of(record)
        projects |= named
        anywhere = anywhere or not named or GENERAL in named
        if (trap := trap_of(record, observations)) is not None:
            traps.append(trap)
    traps.sort(key=lambda each: each.lesson)
    return TrapIndex(traps=tuple(traps), projects=tuple(sorted(projects)), anywhere=anywhere)


def program_cues(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The claims that count how often the programs of traps, and of their ways out, worked."""
    named = dict.fromkeys(name for each in observations if each.trigger is not None for name in _trap_programs(each))
    return tuple(f"{name}{ENDS_IN}{ANY}" for name in named)


def _trap_programs(seen: Observation) -> tuple[str, ...]:
    """The program of a trap, and those that may be its way out."""
    trigger = seen.trigger
    if trigger is None or not trigger.command or trigger.words or trigger.path or trigger.given:
        return ()
    return trigger.command, *trigger.unless, seen.cue.partition(GOT_OVER)[2].partition(":")[2]


def trap_of(record: Record, observations: Mapping[str, Sequence[Observation]]) -> Trap | None:
    """The trap of a lesson; None if it has no trigger or way out, is disputed, or the trap is obsolete."""
    if objections(record):
        return None
    ruling = is_ruling(record.cue)
    own = observations.get(record.cue, ())
    told = [each for each in own if each.held and each.trigger is not None and (each.way_out or ruling)]
    if not told or not (ruling or _still_fails(own)):
        return None
    best = max(told, key=lambda each: (bool(each.way_out), bool(each.why), *_time_key(each)))
    trigger, projects = best.trigger, tuple(sorted(projects_of(record)))
    # If the program worked without the words that step into the trap, that shows nothing.
    narrow = trigger is not None and ENDS_IN in record.cue and bool(trigger.words or trigger.path or trigger.given)
    cues = (record.cue,) if narrow else cues_to_read(record.cue)
    standing = seen_counts([one for cue in cues for one in observations.get(cue, ())])
    if not ruling and GOT_OVER in record.cue:
        # For other claims the occasion already includes these runs.
        standing = replace(standing, met=standing.met + _successes_without_way_out(best, own, observations, projects))
    # A call that mostly works is not a trap. One run of an unknown project is too little, unless the program itself
    # refused.
    enough = standing.runs >= LEAST_RUNS or projects or PROVEN in best.conditions
    if trigger is None or 2 * standing.runs < standing.met or not enough:
        return None
    sessions = {each.session for each in own if each.held}
    about = _describe_trigger(trigger)
    said = (
        f"the user has a rule about {about}"
        if ruling
        else _text_before_way_out(record, best.way_out) or f"{about} fails"
    )
    trap = Trap(
        lesson=record.id,
        said=said,
        way_out=as_advice_part(best.way_out) or HEED,
        why="" if _repeats_error(best.why, said) else as_advice_part(best.why).strip('“”"'),
        ruling=ruling,
        seen=standing.in_words,
        runs=standing.runs,
        of=standing.met,
        last=standing.last.date().isoformat() if standing.last is not None else "",
        projects=projects,
        session=next(iter(sessions)) if len(sessions) == 1 else "",
        tool=trigger.tool,
        command=trigger.command,
        words=trigger.words,
        path=trigger.path,
        given=trigger.given,
        above=trigger.above,
        unless=trigger.unless,
    )
    return trap if trap.needle else None


def _successes_without_way_out(
    best: Observation,
    own: Sequence[Observation],
    observations: Mapping[str, Sequence[Observation]],
    projects: Collection[str],
) -> int:
    """The number of runs of these projects in which the program of a trap worked without its way out."""
    program, *ways = (observations.get(f"{name}{ENDS_IN}{ANY}", ()) for name in _trap_programs(best) or ("",))
    took = {each.session for way in ways for each in way}
    if not took:
        return 0  # The way out is no program, so it is unknown which runs took it.
    shown = {each.session for each in own}
    here = (each for each in program if each.broke and (not projects or each.project in projects))
    return len({each.session for each in here} - shown - took)


def _repeats_error(why: str, said: str) -> bool:
    """Whether a reason only repeats the error that the trap names."""
    quoted = [part.strip() for each in _QUOTED.findall(said) for part in each.split("…")]
    return bool(quoted) and all(part in why for part in quoted)


def _still_fails(observations: Sequence[Observation]) -> bool:
    """Whether such calls still fail at least as often as not, and the latest runs didn't all succeed."""
    held = sum(each.held for each in observations)
    broke = sum(each.broke for each in observations)
    ordered = sorted((each for each in observations if each.held or each.broke), key=_time_key)
    return held >= broke and (len(ordered) <= LATEST or any(each.held for each in ordered[-LATEST:]))


def _time_key(seen: Observation) -> tuple[float, str]:
    return (seen.at.timestamp() if seen.at is not None else 0.0), seen.session


def _text_before_way_out(record: Record, way_out: str) -> str:
    """The text of a lesson before its way out; empty if it doesn't contain the way out."""
    before, found, _ = one_line(record.text).partition(one_line(way_out))
    return as_advice_part(_LEADING.sub("", before.rstrip(_TRAILING))) if found else ""


def _describe_trigger(trigger: Trigger) -> str:
    named = " ".join((trigger.command, *trigger.words)).strip() or trigger.path or trigger.tool
    return f"`{named}`"


def as_advice_part(text: str) -> str:
    """A text as a part of the advice: one line, cut if it is long, without its full stop."""
    line = one_line(text).rstrip(".").strip()
    return line if len(line) <= _MOST else f"{line[:_MOST].rsplit(' ', 1)[0]}…"


LONGEST = 240
"""The maximum number of characters of a quotation."""
MOST = 4
"""The maximum number of quotations from one message."""
TOGETHER = 4
"""How many words of a lesson a line must have to be found by them."""
_AROUND = 80
"""How many characters of a very long line are quoted before a claim."""


def supporting_quotes(text: str, message: Message) -> list[str]:
    """Quote the lines of `message` that support the claims in `text`; without any, the line with most of its words.

    Greedy: each line is the one that supports most of the remaining claims, the earlier of two equal ones.
    """
    told = source_texts([message])[message.draft.at is not None :]  # Without the text that states its time.
    lines = [line for each in told for line in _stripped_lines(each)]
    shown = SourceIndex(lines)
    wanted = [claim for claim in dict.fromkeys(claims(text)) if shown.supports(claim)]
    chosen: list[int] = []
    while wanted and len(chosen) < MOST:
        best = max(range(len(lines)), key=lambda at: (_supported_claims(lines[at], wanted), -at))
        if not _supported_claims(lines[best], wanted):
            break
        chosen.append(best)
        wanted = [claim for claim in wanted if not SourceIndex([lines[best]]).supports(claim)]
    if not chosen and lines:
        words = stems_of(text)
        chosen = [max(range(len(lines)), key=lambda at: (len(words & stems_of(lines[at])), -at))]
    return list(dict.fromkeys(_cut_around_claims(lines[at], text) for at in sorted(chosen)))


def _stripped_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _supported_claims(line: str, wanted: Sequence[TextClaim]) -> int:
    evidence = SourceIndex([line])
    return sum(evidence.supports(claim) for claim in wanted)


def _cut_around_claims(line: str, text: str) -> str:
    """A line, cut around the claims that it supports, or the words that it shares, if it is long."""
    if len(line) <= LONGEST:
        return line
    words = text.split()
    runs = (" ".join(words[at : at + TOGETHER]) for at in range(len(words) - TOGETHER + 1))
    named = [claim.text for claim in claims(text)] or list(runs)
    places = [at for each in named if (at := line.find(each)) >= 0]
    start = max(0, min(places, default=0) - _AROUND)
    cut = line[start : start + LONGEST]
    # A word is quoted whole or not at all, unless it is the only one.
    first = cut.find(" ") + 1 if start and not line[start - 1].isspace() else 0
    last = cut.rfind(" ") if start + LONGEST < len(line) and not line[start + LONGEST].isspace() else len(cut)
    return cut[first:last] if first < last else cut
