"""Which claims become lessons, in which words, and where a message shows what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, source_texts
from ireneo.lessons.observe import (
    ASKED,
    DEMANDED,
    ENDS_IN,
    EXPLAINED,
    GOT_OVER,
    REFUSED,
    claim_words,
    is_statistic,
    occasion_of,
    plain_name,
)
from ireneo.lessons.rulings import CONCEDED, ruling_words
from ireneo.lessons.run import LOGGED, MODEL, Category, Observation, is_ruling
from ireneo.lessons.told_once import is_pasted, stands_alone
from ireneo.lessons.traps import IN_SIGHT, WRITTEN, agreed
from ireneo.log.message import Message
from ireneo.memories.record import GENERAL, TRUST, Kind, MemoryDraft, Record, is_kept
from ireneo.memories.wording import month
from ireneo.patterns import lazy_re

# How often a claim was seen, told in plain words, and the simple share by which lessons are ranked.


# A reader can weigh "seen in 5 of 6 runs; last in May 2026". A word for a chance ("high"), or the chance itself, says
# nothing that they could hold against what they know.


HALF_LIFE_DAYS = 120.0
"""When what was seen counts half in a ranking."""
PRIOR: Mapping[Category, float] = {"failure": 0.1, "procedural": 0.5, "factual": 0.9}
"""What claims of a category come to, as far as nothing else is known."""
PRIOR_RUNS = 2.0
"""For how many runs that counts."""
_DAY = 86_400.0


class Standing(Struct, frozen=True, kw_only=True):
    """How often a claim was seen."""

    runs: int = 0
    """Runs that showed it."""
    met: int = 0
    """Runs in which it could have shown, those among them: its program was run, its file looked for."""
    last: datetime | None = None
    """When a run showed it last; None where no log of them has times."""
    is_said: bool = False
    """Of a ruling: it is not seen, it is said."""

    @property
    def words(self) -> str:
        """It as a reader is told: “seen in 5 of 6 runs; last in May 2026”; empty where no run showed it."""
        if not self.runs:
            return ""
        verb = "said" if self.is_said else "seen"
        if max(self.runs, 0 if self.is_said else self.met) == 1:
            return f"{verb} once, in {month(self.last)}" if self.last else f"{verb} once"
        often = f"{self.runs:,}" if self.is_said else f"{self.runs:,} of {self.met:,}"
        return f"{verb} in {often} runs; last in {month(self.last)}" if self.last else f"{verb} in {often} runs"


def standing_of(observations: Sequence[Observation]) -> Standing:
    """How often a claim was seen, from its observations and, where they are given too, those of its occasion.

    The occasion's tell of runs in which the claim could have shown and did not. Their order makes no difference.
    """
    seen = [(each, good) for each, good, bad in tallies(observations) if good + bad > 0]
    shown = [each for each, good in seen if good > 0]
    return Standing(
        runs=len(shown),
        met=len(seen),
        last=max((each.at for each in shown if each.at is not None), default=None),
        is_said=any(is_ruling(each.cue) for each in shown),
    )


def cues_to_read(cue: str) -> tuple[str, ...]:
    """The cues whose observations tell how often the claim `cue` was seen: its own, and its occasion's.

    A trap with its way out was seen wherever the trap was, whatever was done about it.
    """
    trap = cue.partition(GOT_OVER)[0] if ENDS_IN in cue else cue
    return tuple(dict.fromkeys((cue, trap, occasion_of(trap))))


def tallies(observations: Sequence[Observation]) -> list[tuple[Observation, float, float]]:
    """Of each run how often a claim held and how often not; those of its occasion count where it was not seen."""
    if not observations:
        return []
    cue = max((each.cue for each in observations), key=lambda name: (occasion_of(name) != name, len(name), name))
    own = {each.session: each for each in observations if each.cue == cue}
    met = occasion_of(cue)
    missed = {each.session: each for each in observations if met == each.cue != cue and each.session not in own}
    out = [(each, float(each.held), float(each.broke)) for each in own.values()]
    out += [(each, 0.0, float(each.held + each.broke)) for each in missed.values()]
    return sorted(out, key=lambda each: each[0].session)


def share_of(observations: Sequence[Observation]) -> float:
    """How often a claim holds where it is met: the mean over its runs, drawn towards what its category comes to."""
    seen = tallies(observations)
    category: Category = max((each.category for each, _, _ in seen), default="failure")
    shares = [good / (good + bad) for _, good, bad in seen if good + bad > 0]
    return (PRIOR[category] * PRIOR_RUNS + sum(shares)) / (PRIOR_RUNS + len(shares))


def age_weight(at: datetime | None, now: datetime) -> float:
    """What an observation still counts, from 0 to 1; one of no known time counts whole."""
    if at is None:
        return 1.0
    return float(0.5 ** (max(0.0, (now - at).total_seconds() / _DAY) / HALF_LIFE_DAYS))


# Which claims become lessons, in which words, and where a message shows what they say.


# Which claims become lessons, and in which words: those that would save a later run something worth a line.
#
# A lesson is drawn from all observations of its claim, each run being one piece of evidence, so that the order in which
# runs are learned from makes no difference.


KIND: dict[Category, Kind] = {"factual": "semantic", "procedural": "procedural", "failure": "failure"}
COSTLY_TOKENS = 6_000
COSTLY_SECONDS = 240.0
"""What a fact must have cost that was seen only once, to be worth a line."""
TOKENS_A_SECOND = 50.0
"""So many tokens of reading and writing go by in a second of waiting: by it time is told as tokens."""
A_FAILURE_TOKENS = 1_000.0
"""What a failed call costs beside its own words: another turn, in which the context is read once more and thought over;
of ten thousand tokens, at the tenth that cached ones cost."""
SURE_FROM = 0.75
"""A claim that held so surely may be overturned by a run that shows the contrary; others only become less sure."""
TWICE, THRICE = 2, 3

_OWN = lazy_re(r"`(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|poe) [^`]*`|`[\w.-]+/[\w./-]+`")
"""What a text names that one project has and another has not: its commands, its files."""
_OF_A_FACT = ("subject", "attribute", "value")
_OF_ITS_EVIDENCE = (*_OF_A_FACT, WRITTEN, CONCEDED, IN_SIGHT)
_COMMAND = " <command:"
_ACCIDENT = lazy_re(r"/tmp/|/var/folders/|\b[0-9a-f]{10,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}\b|/(?:Users|home)/\w+")


class LessonDrafts(Struct, frozen=True, kw_only=True):
    """What is offered to memory of one claim, and what it is worth beside others."""

    drafts: tuple[MemoryDraft, ...] = ()
    worth: float = 0.0
    """Tokens that it cost so far: what it may save."""
    words: str = ""
    """Better words for the lesson that is known, where a run since has shown what to do; else empty."""


def lesson_drafts(observations: Sequence[Observation], known: Record | None, now: datetime) -> LessonDrafts:
    """The evidence for the lesson that one claim makes, a piece for each run; none where it makes none.

    `observations` are those of the claim in all runs, `known` is the lesson where there is one already: then its words
    stay (unless others say what to do, and they don't), and only runs that it has no evidence of are offered. A run
    that shows the contrary of what was all but sure speaks against it.
    """
    claim = agreed([each for each in observations if each.cue == (known.cue if known else each.cue)])
    best = best_worded(claim)
    if best is None or is_statistic(best.cue) or (known is None and not worth_telling(claim)):
        return LessonDrafts()
    told = {_with_limits(each) for each in claim if each.text}
    # Words that somebody else gave it stay.
    own = known is None or known.kind != "failure" or is_kept(known) or known.text not in told
    better = not own and known is not None and known.text != _with_limits(best)
    text = known.drawn or known.text if known and not better else _with_limits(best)
    have = {(each.session, each.against) for each in known.evidence} if known else frozenset[tuple[str, bool]]()
    firm = _firm(claim)
    pieces = [
        _lesson_draft(each, known or _named_anew(best), text, now, against)
        for each in sorted(claim, key=lambda one: (one.at is None, one.at or now, one.session))
        if each.sources or each.against
        if (against := not each.held and firm and each.broke >= TWICE and not is_ruling(each.cue)) or each.held
        if (each.session, against) not in have
    ]
    return LessonDrafts(drafts=tuple(pieces), worth=cost_of(claim), words=text if better else "")


def taken_back(record: Record, observations: Sequence[Observation], now: datetime) -> list[MemoryDraft]:
    """What users said otherwise, as evidence against a ruling: a piece for each run of its project.

    Where a log tells no time, nobody knows which was said last.
    """
    have = {each.session for each in record.evidence if each.against}
    here = projects_of(record)
    return [
        _lesson_draft(each, record, record.text, now, True)
        for each in sorted(observations, key=lambda one: (one.at or now, one.session))
        if each.at is not None and each.session not in have
        if (each.project in here or not (each.project and here))
    ]


def worth_telling(observations: Sequence[Observation]) -> bool:
    """Whether a claim lets a later run act, and was shown so that it can be believed."""
    observations = agreed(observations)
    best = best_worded(observations)
    if best is not None and is_ruling(best.cue):
        # Whatever it cost; but what was said once may be of its task alone. A model was asked whether it is.
        again = sum(bool(each.held) for each in observations) >= TWICE and not is_pasted(best.text)
        conceded = CONCEDED in best.conditions
        alone = stands_alone(best.text, named=best.trigger is not None, conceded=conceded)
        return best.cue.startswith(MODEL) or again or alone
    if best is None or _ACCIDENT.search(best.text):
        return False
    held, vain = sum(each.held for each in observations), sum(each.vain for each in observations)
    runs = sum(bool(each.held) for each in observations)
    if best.cue.startswith((MODEL, LOGGED)):
        # What it is worth, the model was asked, or whoever kept the log; that it is so, was held against its messages.
        return True
    if best.cue.startswith((DEMANDED, ASKED)):
        return runs >= THRICE
    if best.cue.startswith(REFUSED):
        return runs >= TWICE and held > sum(each.broke for each in observations)
    if GOT_OVER in best.cue:
        # A way out that as often does not help is none; once is enough where somebody said why, or the error itself.
        return held > vain and (held >= TWICE or bool(best.why))
    if best.cue.startswith(EXPLAINED):
        return runs >= TWICE or bool(best.why)
    if is_statistic(best.cue):
        return False  # That something fails is a statistic: without a way out nobody is helped by it.
    if best.category == "factual":
        if _is_other_ending(best):
            return True  # A file that bears another name than one would think is missed by whoever comes next.
        tokens, seconds = sum(each.tokens for each in observations), sum(each.seconds for each in observations)
        return bool(best.why) or runs >= TWICE or tokens >= COSTLY_TOKENS or seconds >= COSTLY_SECONDS
    return runs >= TWICE


def is_in_sight(observations: Sequence[Observation]) -> bool:
    """Whether what a lesson says is read where it is needed: in the failure itself, or beside the file.

    It still warns whoever is about to do so (`guard`); to everybody else it says nothing.
    """
    held = [each for each in observations if each.held]
    best = best_worded(held)
    if best is None:
        return False
    if best.cue.startswith(DEMANDED) or any(IN_SIGHT in each.conditions for each in held):
        return not _is_stuck(held)
    return _is_other_ending(best) and not best.why and len(held) < TWICE


def _is_other_ending(seen: Observation) -> bool:
    return seen.category == "factual" and seen.trigger is not None and "/" not in (seen.trigger.path or "/")


def _is_stuck(observations: Sequence[Observation]) -> bool:
    """Whether most of the runs that met a failure met it again and again, although it says itself what to do."""
    met = [each.held + each.vain for each in observations if each.held or each.vain]
    again = sum(times >= THRICE for times in met)
    return again >= THRICE and 2 * again > len(met)


def cost_of(observations: Sequence[Observation]) -> float:
    """What a claim cost in all runs, in tokens, its time told as tokens."""
    return sum(a_run_cost(each) for each in observations)


def a_run_cost(seen: Observation) -> float:
    """What a claim cost in one run, in tokens."""
    # What nobody failed by costs, where it isn't known, one turn to find it out.
    turns = seen.held if ENDS_IN in seen.cue else min(seen.held, 1)
    return seen.tokens + seen.seconds * TOKENS_A_SECOND + turns * A_FAILURE_TOKENS


def expected_cost(observations: Sequence[Observation], now: datetime, project: str = "") -> float:
    """What a claim will cost the runs to come, as far as its cost in earlier ones tells: what is past counts less.

    With `project` a run of another one counts for a quarter: what held there may hold here.
    """
    return sum(
        a_run_cost(each) * age_weight(each.at, now) * (1.0 if not project or each.project == project else 0.25)
        for each in observations
    )


def applies(projects: Collection[str], project: str) -> bool:
    """Whether a lesson seen in `projects` is one for `project`: it stays with these, unless it is marked general."""
    named = {each for each in projects if each}
    return not project or not named or not named.isdisjoint({project, GENERAL})


def projects_of(record: Record) -> frozenset[str]:
    """The projects in which a lesson held."""
    told = zip(record.evidence, record.projects, strict=True)
    return frozenset(name for piece, name in told if name and not piece.against)


def best_worded(observations: Sequence[Observation]) -> Observation | None:
    """The one whose words serve best: those that say what to do, then those that most runs use, then new ones."""
    worded = [each for each in agreed(observations) if each.text and each.held]
    often: dict[str, int] = {}
    for each in worded:
        often[each.text] = often.get(each.text, 0) + 1
    several = len({each.project for each in observations if each.held}) > 1
    return min(
        worded,
        key=lambda each: (
            several and is_own(each, worded),
            not each.why,
            -often[each.text],
            _age(each),
            len(each.text),
            each.session,
        ),
        default=None,
    )


def is_own(seen: Observation, worded: Sequence[Observation]) -> bool:
    """Whether its words name what is of its project alone, as far as `worded` shows: a command, a file."""
    same = {each.project for each in worded if each.text == seen.text}
    return len(same) < TWICE and bool(_OWN.search(seen.text.replace(f"`{seen.conditions.get('program', '')}`", "")))


def without_remedies_told(records: Sequence[Record]) -> list[Record]:
    """The same memories without those that say once more how a command of the project is run.

    “When `pytest` fails, use `bin/test`” says what “This project runs its tests with `bin/test`” says, which has the
    evidence of both; a way out that the user kept stays.
    """
    facts = {each.value: each for each in records if _COMMAND in each.cue}
    told: dict[str, list[Record]] = {}
    for each in records:
        fact = next(
            (fact for name, fact in facts.items() if each.cue.endswith(f"{GOT_OVER}use:{plain_name(name)}")), None
        )
        if fact is not None and not is_kept(each) and projects_of(each) and projects_of(each) <= projects_of(fact):
            told.setdefault(fact.id, []).append(each)
    gone = {each.id for group in told.values() for each in group}
    out = [each for each in records if each.id not in gone]
    return [_with_evidence(each, told[each.id]) if each.id in told else each for each in out]


def _with_evidence(record: Record, others: Sequence[Record]) -> Record:
    have = {piece.session for piece in record.evidence}
    more = {piece.session: piece for each in others for piece in each.evidence if not piece.against}
    return replace(record, evidence=(*record.evidence, *(more[name] for name in more if name not in have)))


def _age(seen: Observation) -> float:
    """Less, the newer it is; what has no time is the oldest."""
    return -seen.at.timestamp() if seen.at else 0.0


def _with_limits(seen: Observation) -> str:
    return f"{seen.text} {seen.limits}".strip()


def _firm(observations: Sequence[Observation]) -> bool:
    return share_of([each for each in observations if each.held]) >= SURE_FROM


class _Names(Struct, frozen=True, kw_only=True):
    """Under which names a lesson is remembered: those in which it is first said, whatever their words become later."""

    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    signature: str = ""


def _named_anew(seen: Observation) -> _Names:
    if seen.category == "factual":
        return _Names(**{name: seen.conditions.get(name, "") for name in _OF_A_FACT})
    if seen.category == "failure":
        return _Names(signature=claim_words(seen.cue))
    if is_ruling(seen.cue):
        return _Names(name=ruling_words(seen.cue))
    return _Names(task_type=seen.task_type, name=claim_words(seen.cue))


def _lesson_draft(seen: Observation, names: Record | _Names, text: str, now: datetime, against: bool) -> MemoryDraft:
    conditions = {**seen.conditions, **({"project": seen.project} if seen.project else {})}
    kind = KIND[seen.category]
    return MemoryDraft(
        text=text,
        kind=kind,
        at=seen.at or now,
        recorded=now,
        origin="run",
        trust=TRUST["run"],
        confidence=round(share_of([seen]), 3),
        subject=names.subject,
        attribute=names.attribute,
        value=names.value,
        task_type=names.task_type,
        name=names.name,
        signature=names.signature,
        cue=seen.cue,
        conditions={name: value for name, value in conditions.items() if name not in _OF_ITS_EVIDENCE},
        against=against,
        session=seen.session,
        messages=seen.against if against and seen.against else seen.sources,
    )


LONGEST = 240
"""Characters of one quotation."""
MOST = 4
"""Quotations of one message."""
_AROUND = 80
"""Characters that are left on either side of what a very long line is quoted for."""


def quotes(text: str, message: Message) -> list[str]:
    """Passages of `message`, word for word, that together show what of `text` it shows; its first line at the least.

    Lines are taken that show most of what is not shown yet, the earlier of two alike.
    """
    lines = [line for each in source_texts([message])[_dated(message) :] for line in _lines(each)]
    wanted = [claim for claim in dict.fromkeys(claims(text)) if SourceIndex(lines).supports(claim)]
    chosen: list[int] = []
    while wanted and len(chosen) < MOST:
        best = max(range(len(lines)), key=lambda at: (_shown(lines[at], wanted), -at))
        if not _shown(lines[best], wanted):
            break
        chosen.append(best)
        wanted = [claim for claim in wanted if not SourceIndex([lines[best]]).supports(claim)]
    return list(dict.fromkeys(_clipped(lines[at], text) for at in sorted(chosen or range(min(1, len(lines))))))


def _dated(message: Message) -> int:
    """How many of the texts of a message only tell its time."""
    return int(message.draft.at is not None)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _shown(line: str, wanted: Sequence[TextClaim]) -> int:
    evidence = SourceIndex([line])
    return sum(evidence.supports(claim) for claim in wanted)


def _clipped(line: str, text: str) -> str:
    """A long line cut to what it is quoted for."""
    if len(line) <= LONGEST:
        return line
    places = [at for claim in claims(text) if (at := line.find(claim.text)) >= 0]
    start = max(0, min(places, default=0) - _AROUND)
    return line[start : start + LONGEST]
