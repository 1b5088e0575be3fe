"""Which claims become lessons, in which words, and where a message shows what they say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, source_texts
from ireneo.lessons.confidence import age_weight, share_of
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.observe import ENDS_IN, GOT_OVER, claim_words, remedy_words
from ireneo.lessons.programs import LOOKS_ONLY
from ireneo.lessons.rulings import ruling_words
from ireneo.lessons.run import MODEL, Category, Observation, is_ruling
from ireneo.log.message import Message
from ireneo.memories.record import TRUST, Kind, MemoryDraft, Record, is_kept, project_of, supporting
from ireneo.patterns import lazy_re

# Which claims become lessons, and in which words: those that would save a later run something worth a line.
#
# A lesson is drawn from all observations of its claim, each run being one piece of evidence, so that the order in which
# runs are learned from makes no difference.


KIND: dict[Category, Kind] = {"factual": "semantic", "procedural": "procedural", "failure": "failure"}
WORTH_TOKENS = 2_000
WORTH_SECONDS = 120.0
"""What a claim must have cost, over all its observations, to be worth a line of a brief."""
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
SURE_FROM = 0.75
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
_OF_A_FACT = ("subject", "attribute", "value")
_VERBATIM = lazy_re(r"“[^“”]{0,1000}+”|`[^`]*`")
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
    claim = [each for each in observations if each.cue == (known.cue if known else each.cue)]
    best = best_worded(claim)
    if best is None or (known is None and not worth_telling(claim)):
        return LessonDrafts()
    text = known.drawn or known.text if known else _with_limits(best)
    have = {(each.session, each.against) for each in known.evidence} if known else frozenset[tuple[str, bool]]()
    firm = _firm(claim)
    pieces = [
        _lesson_draft(each, known or _named_anew(best), text, now, against)
        for each in sorted(claim, key=lambda one: (one.at is None, one.at or now, one.session))
        if each.sources or each.against
        if (against := not each.held and firm and each.broke >= TWICE) or each.held
        if (each.session, against) not in have
    ]
    words = ""
    if known is not None and known.kind == "failure" and not is_kept(known) and known.text != _with_limits(best):
        better = says_how(best.cue, best.text) and not says_how(known.cue, known.text)
        # What was told of one project, and names what that alone has, is of no use where others are told it too.
        wider = len({each.project for each in claim if each.held}) > 1
        own = _OWN.search(known.text) and not _OWN.search(best.text)
        elsewhere = wider and bool(own or _TESTS.search(known.text)) and not is_generic(best)
        words = _with_limits(best) if better or elsewhere else ""
    return LessonDrafts(drafts=tuple(pieces), worth=cost_of(claim), words=words)


def worth_telling(observations: Sequence[Observation]) -> bool:
    """Whether a claim would save a later run more than it costs to read, and says what not every model knows."""
    best = best_worded(observations)
    if best is not None and is_ruling(best.cue):
        return True  # What a user rules is worth a line, whatever it cost.
    if best is None or _ACCIDENT.search(best.text):
        return False
    if best.cue.startswith(MODEL):
        # What it is worth, the model was asked; that it is so, was held against its messages.
        return True
    if is_generic(best):
        return False
    held = sum(each.held for each in observations)
    if best.category == "procedural" and held < MOSTLY * sum(each.held + each.broke for each in observations):
        return False
    tokens, seconds = cost_of(observations), sum(each.seconds for each in observations)
    if best.cue.endswith(TESTS_FAILED) and not says_how(best.cue, best.text):
        # Which tests are easily broken is worth knowing where they were broken in more runs than one.
        return sum(bool(each.held) for each in observations) >= TWICE
    if GOT_OVER in best.cue and held < THRICE:
        return False  # The failure itself says how it was got over; a way of its own is what proved itself.
    if held < TWICE:
        return sum(each.tokens for each in observations) >= COSTLY_TOKENS or seconds >= COSTLY_SECONDS
    return best.category == "factual" or tokens >= WORTH_TOKENS or seconds >= WORTH_SECONDS


def is_generic(seen: Observation) -> bool:
    """Whether a claim says only what any model knows: that code may be wrong, and tests fail where it is."""
    if seen.category != "failure" or says_how(seen.cue, seen.text):
        return False
    action, _, fault = seen.cue.partition(ENDS_IN)
    if action in LOOKS_ONLY:
        return True
    if fault == TESTS_FAILED and ", such as `" in seen.text:
        return False
    return fault in (TESTS_FAILED, TIMED_OUT, FOUND_NOTHING, WITHOUT_A_WORD, "") or bool(_OF_A_LANGUAGE.match(fault))


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
    """Whether a lesson seen in `projects` is one for `project`: those of one project stay with it."""
    named = {each for each in projects if each}
    return not project or not named or len(named) > 1 or project in named


def belongs(projects: Collection[str], project: str | None) -> bool:
    """The same where a `project` is all that is asked for: None for everything, empty for what is in none."""
    return project is None or len(set(projects)) != 1 or project in projects


def projects_of(record: Record) -> frozenset[str]:
    """The projects in which a lesson held."""
    return frozenset(name for each in supporting(record) if (name := project_of(each)))


def best_worded(observations: Sequence[Observation]) -> Observation | None:
    """The one whose words serve best: those that say what to do, then those that most runs use, then new ones."""
    worded = [each for each in observations if each.text and each.held]
    often: dict[str, int] = {}
    for each in worded:
        often[each.text] = often.get(each.text, 0) + 1
    several = len({each.project for each in observations if each.held}) > 1
    best = min(
        worded,
        key=lambda each: (
            several and is_own(each, worded),
            not says_how(each.cue, each.text),
            -often[each.text],
            _age(each),
            len(each.text),
            each.session,
        ),
        default=None,
    )
    # The tests of one project say nothing to another.
    own = best is not None and several and not is_ruling(best.cue)
    return replace(best, text=_TESTS.sub("", best.text)) if best and own else best


def is_own(seen: Observation, worded: Sequence[Observation]) -> bool:
    """Whether its words name what is of its project alone, as far as `worded` shows: a command, a file."""
    same = {each.project for each in worded if each.text == seen.text}
    return len(same) < TWICE and bool(_OWN.search(seen.text.replace(f"`{seen.conditions.get('program', '')}`", "")))


def _age(seen: Observation) -> float:
    """Less, the newer it is; what has no time is the oldest."""
    return -seen.at.timestamp() if seen.at else 0.0


def says_how(cue: str, text: str) -> bool:
    """Whether a lesson says what to do, and not only what fails."""
    bare = _VERBATIM.sub("", text)
    return GOT_OVER in cue or ": " in bare or "; it passed with" in bare


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
        return _Names(task_type=seen.task_type, name=ruling_words(seen.cue))
    action, _, label = seen.cue.rpartition(GOT_OVER)
    name = f"{claim_words(action)}: {remedy_words(label)}" if action else claim_words(seen.cue)
    return _Names(task_type=seen.task_type, name=name)


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
        conditions={name: value for name, value in conditions.items() if name not in _OF_A_FACT},
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
