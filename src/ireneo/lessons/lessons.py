"""Which claims become lessons, and in which words: those that would save a later run something worth a line.

A lesson is drawn from all sightings of its claim, each run being one piece of evidence, so that the order in which
runs are learned from makes no difference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.confidence import faded, sureness
from ireneo.lessons.failing import ENDS_IN, GOT_OVER
from ireneo.lessons.fault import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.sighting import TOLD, Category, Sighting
from ireneo.lessons.tries import LOOKS_ONLY
from ireneo.memories.evidence import for_it, project_of
from ireneo.memories.offer import Offer
from ireneo.memories.record import TRUST, Kind, Record
from ireneo.patterns import lazy_re

KIND: dict[Category, Kind] = {"factual": "semantic", "procedural": "procedural", "failure": "failure"}
WORTH_TOKENS = 2_000
WORTH_SECONDS = 120.0
"""What a claim must have cost, over all its sightings, to be worth a line of a brief."""
COSTLY_TOKENS = 6_000
COSTLY_SECONDS = 240.0
"""What one that was seen only once must have cost."""
TOKENS_A_SECOND = 50.0
"""So many tokens of reading and writing go by in a second of waiting: by it time is told as tokens."""
A_FAILURE_TOKENS = 1_000.0
"""What a failed call costs beside its own words: another turn, in which the context is read once more and thought over;
of ten thousand tokens, at the tenth that cached ones cost."""
MOSTLY = 0.5
"""A way of doing something is told where it helped at least that share of the times that it was tried."""
ELSEWHERE = 0.25
"""What a run of another project counts for."""
SURE_FROM = 0.8
"""A claim that held so surely may be overturned by a run that shows the contrary; others only become less sure."""
TWICE, THRICE = 2, 3

_OF_A_LANGUAGE = lazy_re(
    r"^(?:SyntaxError|IndentationError|TabError|NameError|TypeError|AttributeError|AssertionError|KeyError|IndexError"
    r"|ValueError|UnboundLocalError|ZeroDivisionError|RuntimeError|NotImplementedError|ReferenceError|undefined"
    r"|imported and not used|(?:build|setup) failed|declared and not used|cannot use\b|no such file|cd: |Exception"
    r"|ImportError: cannot import name|make: … Error|error: could not apply|ERROR$|\w+: can't open file)"
)
_OWN = lazy_re(r"`(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|poe) [^`]*`|`[\w.-]+/[\w./-]+`")
"""What a text names that one project has and another has not: its commands, its files."""
_TESTS = lazy_re(r", such as `[^`]*`(?: and `[^`]*`)?")
_VERBATIM = lazy_re(r"“[^“”]{0,1000}+”|`[^`]*`")
_ACCIDENT = lazy_re(r"/tmp/|/var/folders/|\b[0-9a-f]{10,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}\b|/(?:Users|home)/\w+")


class Drawn(Struct, frozen=True, kw_only=True):
    """What is offered to memory of one claim, and what it is worth beside others."""

    offers: tuple[Offer, ...] = ()
    worth: float = 0.0
    """Tokens that it cost so far: what it may save."""
    words: str = ""
    """Better words for the lesson that is known, where a run since has shown what to do; else empty."""


def lesson_offers(sightings: Sequence[Sighting], known: Record | None, now: datetime) -> Drawn:
    """The evidence for the lesson that one claim makes, a piece for each run; none where it makes none.

    `sightings` are those of the claim in all runs, `known` is the lesson where there is one already: then its words
    stay (unless others say what to do, and they don't), and only runs that it has no evidence of are offered. A run
    that shows the contrary of what was all but sure speaks against it.
    """
    claim = [each for each in sightings if each.cue == (known.cue if known else each.cue)]
    told = best_told(claim)
    if told is None or (known is None and not worth_telling(claim)):
        return Drawn()
    text = known.text if known else _with_limits(told)
    have = {(each.session, each.against) for each in known.evidence} if known else frozenset[tuple[str, bool]]()
    firm = _firm(claim, now)
    pieces = [
        _offer(each, told, text, now, against)
        for each in sorted(claim, key=lambda one: (one.at is None, one.at or now, one.session))
        if each.sources or each.against
        if (against := not each.held and firm and each.broke >= TWICE) or each.held
        if (each.session, against) not in have
    ]
    words = ""
    if known is not None and known.kind == "failure" and known.text != _with_limits(told):
        better = says_how(told.cue, told.text) and not says_how(known.cue, known.text)
        # What was told of one project, and names what that alone has, is of no use where others are told it too.
        wider = len({each.project for each in claim if each.held}) > 1
        own = _OWN.search(known.text) and not _OWN.search(told.text)
        elsewhere = wider and bool(own or _TESTS.search(known.text)) and not is_generic(told)
        words = _with_limits(told) if better or elsewhere else ""
    return Drawn(offers=tuple(pieces), worth=cost_of(claim), words=words)


def worth_telling(sightings: Sequence[Sighting]) -> bool:
    """Whether a claim would save a later run more than it costs to read, and says what not every model knows."""
    told = best_told(sightings)
    if told is None or _ACCIDENT.search(told.text):
        return False
    if told.cue.startswith(TOLD):
        # What it is worth, the model was asked; that it is so, was held against its messages.
        return True
    if is_generic(told):
        return False
    held = sum(each.held for each in sightings)
    if told.category == "procedural" and held < MOSTLY * sum(each.held + each.broke for each in sightings):
        return False
    tokens, seconds = cost_of(sightings), sum(each.seconds for each in sightings)
    if told.cue.endswith(TESTS_FAILED) and not says_how(told.cue, told.text):
        # Which tests are easily broken is worth knowing where they were broken in more runs than one.
        return sum(bool(each.held) for each in sightings) >= TWICE
    if GOT_OVER in told.cue and held < THRICE:
        return False  # The failure itself says how it was got over; a way of its own is what proved itself.
    if held < TWICE:
        return sum(each.tokens for each in sightings) >= COSTLY_TOKENS or seconds >= COSTLY_SECONDS
    return told.category == "factual" or tokens >= WORTH_TOKENS or seconds >= WORTH_SECONDS


def is_generic(told: Sighting) -> bool:
    """Whether a claim says only what any model knows: that code may be wrong, and tests fail where it is."""
    if told.category != "failure" or says_how(told.cue, told.text):
        return False
    action, _, fault = told.cue.partition(ENDS_IN)
    if action in LOOKS_ONLY:
        return True
    if fault == TESTS_FAILED and ", such as `" in told.text:
        return False
    return fault in (TESTS_FAILED, TIMED_OUT, FOUND_NOTHING, WITHOUT_A_WORD, "") or bool(_OF_A_LANGUAGE.match(fault))


def cost_of(sightings: Sequence[Sighting]) -> float:
    """What a claim cost in all runs, in tokens, its time told as tokens."""
    return sum(a_run_cost(each) for each in sightings)


def a_run_cost(seen: Sighting) -> float:
    """What a claim cost in one run, in tokens."""
    # What nobody failed by costs, where it isn't known, one turn to find it out.
    turns = seen.held if ENDS_IN in seen.cue else min(seen.held, 1)
    return seen.tokens + seen.seconds * TOKENS_A_SECOND + turns * A_FAILURE_TOKENS


def expected_cost(sightings: Sequence[Sighting], now: datetime, project: str = "") -> float:
    """What a claim will cost the runs to come, as far as its cost in earlier ones tells: what is past counts less.

    With `project` a run of another one counts for a quarter: what held there may hold here.
    """
    return sum(
        a_run_cost(each)
        * faded(each.at, now, each.category)
        * (1.0 if not project or each.project == project else 0.25)
        for each in sightings
    )


def applies(projects: Collection[str], project: str) -> bool:
    """Whether a lesson seen in `projects` is one for `project`: those of one project stay with it."""
    named = {each for each in projects if each}
    return not project or not named or len(named) > 1 or project in named


def belongs(projects: Collection[str], project: str | None) -> bool:
    """The same where a `project` is all that is asked for: None for everything, empty for what is in none."""
    return project is None or len(set(projects)) != 1 or project in projects


def projects_of(record: Record) -> frozenset[str]:
    """The projects in which a lesson held."""
    return frozenset(name for each in for_it(record) if (name := project_of(each)))


def best_told(sightings: Sequence[Sighting]) -> Sighting | None:
    """The sighting whose words serve best: those that say what to do, then those that most runs use, then new ones."""
    told = [each for each in sightings if each.text and each.held]
    often: dict[str, int] = {}
    for each in told:
        often[each.text] = often.get(each.text, 0) + 1
    several = len({each.project for each in sightings if each.held}) > 1
    best = min(
        told,
        key=lambda each: (
            several and is_own(each, told),
            not says_how(each.cue, each.text),
            -often[each.text],
            _age(each),
            len(each.text),
            each.session,
        ),
        default=None,
    )
    # The tests of one project say nothing to another.
    return replace(best, text=_TESTS.sub("", best.text)) if best and several else best


def is_own(seen: Sighting, told: Sequence[Sighting]) -> bool:
    """Whether the words of a sighting name what is of its project alone, as far as `told` shows: a command, a file."""
    same = {each.project for each in told if each.text == seen.text}
    return len(same) < TWICE and bool(_OWN.search(seen.text.replace(f"`{seen.conditions.get('program', '')}`", "")))


def _age(seen: Sighting) -> float:
    """Less, the newer it is; what has no time is the oldest."""
    return -seen.at.timestamp() if seen.at else 0.0


def says_how(cue: str, text: str) -> bool:
    """Whether a lesson says what to do, and not only what fails."""
    bare = _VERBATIM.sub("", text)
    return GOT_OVER in cue or ": " in bare or "; it passed with" in bare


def _with_limits(told: Sighting) -> str:
    return f"{told.text} {told.limits}".strip()


def _firm(sightings: Sequence[Sighting], now: datetime) -> bool:
    return sureness([each for each in sightings if each.held], now).chance >= SURE_FROM


def _offer(seen: Sighting, told: Sighting, text: str, now: datetime, against: bool) -> Offer:
    conditions = {**seen.conditions, **({"project": seen.project} if seen.project else {})}
    kind = KIND[seen.category]
    action, _, label = seen.cue.rpartition(GOT_OVER)
    return Offer(
        text=text,
        kind=kind,
        at=seen.at or now,
        timed=seen.at is not None,
        recorded=now,
        origin="run",
        trust=TRUST["run"],
        confidence=round(sureness([seen], now).chance, 3),
        subject=told.conditions.get("subject", "") if kind == "semantic" else "",
        attribute=told.conditions.get("attribute", "") if kind == "semantic" else "",
        value=told.conditions.get("value", "") if kind == "semantic" else "",
        task_type=told.task_type if kind == "procedural" else "",
        name=f"{action}: {label}" if kind == "procedural" and action else seen.cue if kind == "procedural" else "",
        signature=seen.cue if kind == "failure" else "",
        cue=seen.cue,
        conditions={name: value for name, value in conditions.items() if name not in ("subject", "attribute", "value")},
        against=against,
        session=seen.session,
        messages=seen.against if against and seen.against else seen.sources,
    )
