"""Whether a reply is an answer at all, and whether its status says the opposite of the last known outcomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.grounding.claims import straight, unmarked
from ireneo.language.files import either, topic
from ireneo.language.topics import Verdicts, Voices
from ireneo.patterns import lazy_re


def _at_start(patterns: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"\A[\s\W]{{0,12}}(?:{'|'.join(patterns())})", re.IGNORECASE)


_LABEL = (
    r"(?:(?:(?:API|HTTP|server|provider|request|upstream|fatal)[ ])?(?:status|error|exception)?(?:[ ]code)?[\s\W]{0,4}"
    r"(?:[45]\d\d)?[\s\W]{0,6})"
)
_MESSAGES = (
    r"internal (?:server )?error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests",
    r"(?:you(?:['’]ve| have)? )?(?:exceeded|reached|hit) your (?:\w+ ){0,3}(?:quota|limit)",
    r"rate[ _-]?limit(?:_error|ed|s)?(?: (?:exceeded|reached|error|hit|for)\b|\s*(?:[.:!-]|\Z))|quota exceeded",
    r"insufficient[_ ](?:quota|credits?|funds)|credit balance is too low",
    r"upstream connect error|no healthy upstream|connection (?:refused|reset|error|timed out|closed)\b",
    r"(?:(?:read|request|operation) )?timed[ -]?out\b|(?:read|request|operation) timeout\b",
    r"(?:overloaded(?:_error)?|unauthori[sz]ed|forbidden)\s*(?:[.:!({-]|\Z)",
    r"the (?:model|server|engine|service) is (?:currently |temporarily )?(?:overloaded|unavailable|down|busy)",
    r"invalid (?:api[ _-]?key|request|token)|incorrect api key|access denied",
    r"authentication (?:failed|error)|model not found|context[_ ]length[_ ]exceeded|maximum context length",
    r"this model['’]s maximum context|prompt is too long|invalid_request_error|content[_ ]filter",
    r"an? (?:internal |unexpected )?error (?:has )?occurred",
)
_BEGINS = (
    # JSON that holds an error, a page, a stack.
    r"(?:data:\s*+)?(?:\{\s*+|\s*+)\"?(?:error|errors|exception|detail|fault)\"\s*:",
    r"\{?\s*\"?(?:type|object)\"\s*:\s*\"error\"",
    r"\{?\s*\"?(?:status|code|statusCode)\"\s*:\s*\"?[45]\d\d\b",
    r"(?:\?xml[^>]*>\s*<)?!?(?:doctype html|html|head|body)\b[^<>\n]{0,200}>",
    r"Traceback \(most recent call last\)|panic: |goroutine \d+ \[|Exception in thread",
    r"(?:\w{1,40}\.){0,6}\w{1,60}(?:Error|Exception)[:(]",
    r"(?:HTTP/\d(?:\.\d)? )?(?:error\W{1,3})?[45]\d\d\b[ :-]{1,3}(?:(?-i:[A-Z])[\w-]{0,20} ?){1,4}\W{0,4}(?:\n|\Z|\{)",
    rf"{_LABEL}(?:{'|'.join(_MESSAGES)})",
)
_STACK_INSIDE = lazy_re(r"^Traceback \(most recent call last\):\n[ \t]+File ", re.MULTILINE)
_ERROR = _at_start(lambda: _BEGINS)
_REFUSAL = _at_start(lambda: topic(Voices).refuses)


def error_text(text: str) -> bool:
    """Whether `text` is an error instead of an answer; one that only tells of an error is none.

    It is told by how the text begins, since an account of someone's work may speak of each of these further on.
    """
    return bool(error_in(text))


def error_in(text: str) -> str:
    """The words by which `text` is an error instead of an answer; empty where it is none."""
    found = (pattern.search(text) for pattern in (_ERROR, _REFUSAL, _STACK_INSIDE))
    return next((each[0] for each in found if each), "")


class LastOutcome(Struct, frozen=True, kw_only=True):
    """How something ended when it was done last."""

    subject: str
    """The command, or the file."""
    failed: bool
    checks: bool = True
    """It is a test, a build, a linter, which says whether the work is well."""
    otherwise: bool = False
    """It ended the other way at an earlier time, so that either may be told of it."""


_GOOD = lazy_re(lambda: rf"\b{either(topic(Verdicts).good)}\b", re.IGNORECASE)
_BAD = lazy_re(lambda: rf"\b{either(topic(Verdicts).bad)}\b", re.IGNORECASE)
_UNSURE = lazy_re(lambda: rf"\b{either(topic(Verdicts).unsure)}\b", re.IGNORECASE)
_CLAUSE = lazy_re(
    lambda: rf"(?:[;,:]|\.|[!?]| - )(?:\s+|$)|(?<!\s)\s+{either(topic(Verdicts).conjunctions)}\s+|→", re.IGNORECASE
)
_CODE = lazy_re(r"`([^`]+)`")
_WORD = lazy_re(r"(?<![\w./:-])[\w./:-]*\w")
_TELLING = lazy_re(r"\w[/._]\w")
_COMPLETE = lazy_re(lambda: _opening(topic(Verdicts).complete), re.IGNORECASE)
_PARTIAL = lazy_re(lambda: _opening(topic(Verdicts).partial), re.IGNORECASE)
_ALL = lazy_re(lambda: either(topic(Verdicts).all), re.IGNORECASE)
_EVERYTHING = lazy_re(lambda: either(topic(Verdicts).everything), re.IGNORECASE)
_TESTS = lazy_re(r"test|spec|suite|\btox\b|\bnox\b", re.IGNORECASE)
_FILTERED = lazy_re(r"(?<!\s)\s+(?:2>&1|\|(?!\|)).*$")
"""The same command with fewer of its lines shown is no other one."""
_SEVERAL = lazy_re(r"&&|[;|]")
_DONE = lazy_re(r"\bCOMPLETE\b")
"""The word of our own statuses, wherever it stands."""


def _opening(words: Iterable[str]) -> str:
    return rf"^\W*(?:{either(topic(Verdicts).status)}\W+)?{either(words)}\b"


def contradicts(status_text: str, last_outcomes: Sequence[LastOutcome]) -> str | None:
    """Say what `status_text` claims against `last_outcomes`, which stand in the order of time; None for nothing.

    Over a check that failed last nothing is complete. PARTIAL and BLOCKED commit to nothing: work may wait for
    somebody over checks that pass.
    """
    last = _last_check(last_outcomes)
    if last is not None and last.failed and _COMPLETE.search(status_text):
        return f"It says that the work is complete, but {last.subject} failed last."
    wrong = flipped(status_text, last_outcomes)
    if wrong is not None or _PARTIAL.search(status_text):
        return wrong
    return _all_well(status_text, last_outcomes, _ALL)


def overclaims(sentence: str, last_outcomes: Sequence[LastOutcome]) -> str | None:
    """Say that `sentence` calls all of it well or complete though a check failed last; None where it doesn't."""
    last = _last_check(last_outcomes)
    if last is not None and last.failed and _DONE.search(_CODE.sub(" ", sentence)):
        return f"It says that the work is complete, but {last.subject} failed last."
    return _all_well(sentence, last_outcomes, _EVERYTHING)


def _last_check(outcomes: Sequence[LastOutcome], tests: bool = False) -> LastOutcome | None:
    """What was checked last; with `tests` the last test, where any is known to be one."""
    checks = [outcome for outcome in outcomes if outcome.checks]
    tested = [outcome for outcome in checks if tests and _TESTS.search(outcome.subject)]
    return next(reversed(tested or checks), None)


def _all_well(text: str, outcomes: Sequence[LastOutcome], everything: re.Pattern[str]) -> str | None:
    for clause in _clauses(text):
        if _verdict(clause) is True and (said := everything.search(clause)):
            last = _last_check(outcomes, bool(_TESTS.search(said[0])))
            if last is not None and last.failed:
                return f"It says that all is well, but {last.subject} failed last."
    return None


def flipped(sentence: str, outcomes: Sequence[LastOutcome]) -> str | None:
    """Say which verdict of `sentence` is the opposite of a known outcome; None where none surely is.

    Only a plain verdict counts, in the clause in which its subject stands; what is denied, wished for or told of an
    earlier time is left alone, and so is a failure of what did fail before it passed.
    """
    last = {straight(outcome.subject): outcome for outcome in outcomes}
    for clause in _clauses(sentence):
        passed = _verdict(clause)
        if passed is None:
            continue
        for subject in _subjects(clause, last):
            if last[subject].failed is passed and (passed or not last[subject].otherwise):
                said, was = ("passed", "failed") if passed else ("failed", "passed")
                return f"It says that {subject} {said}, but it {was} last."
    return None


def _clauses(text: str) -> Iterator[str]:
    """The clauses of `text`; code is not taken apart."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        codes.append(match[0])
        return f"\x01{len(codes) - 1}\x02"

    for line in text.splitlines():
        words = _CODE.sub(keep, re.sub(r"[\x01\x02]", " ", straight(line)))
        for clause in _CLAUSE.split(words):
            yield re.sub(r"\x01(\d+)\x02", lambda found: codes[int(found[1])], clause)


def _verdict(clause: str) -> bool | None:
    """Whether the clause says that something went well (True) or ill (False); None where it says neither plainly."""
    words = _CODE.sub(" ", clause)
    good, bad = bool(_GOOD.search(words)), bool(_BAD.search(words))
    if good == bad or _UNSURE.search(words):
        return None
    return good


def _subjects(clause: str, outcomes: Mapping[str, LastOutcome]) -> list[str]:
    """Which of the known subjects stand in `clause`: as its code, or as words that can be nothing else."""
    codes = [_FILTERED.sub("", straight(code)) for code in _CODE.findall(clause)]
    out = [subject for subject in outcomes if subject in codes]
    # Of several commands in one line nothing is known by a part.
    known = [subject for subject, outcome in outcomes.items() if outcome.checks and not _SEVERAL.search(subject)]
    for code in codes:
        longer = [subject for subject in known if " " in code and subject.startswith(f"{code} ")]
        if code not in known and len(longer) == 1:
            out.extend(longer)
    words = straight(_CODE.sub(" ; ", clause))
    telling = [subject for subject in outcomes if re.search(r"[ /._]", subject)]
    for subject in sorted(telling, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(unmarked(subject))}(?![\w/-]|\.\w)"
        if re.search(pattern, words):
            out.append(subject)
            # What is named by a longer subject is not named a second time by a shorter one.
            words = re.sub(pattern, " ; ", words)
    return out or _by_part([*codes, *_WORD.findall(words)], known)


def _by_part(said: Sequence[str], known: Sequence[str]) -> list[str]:
    """The subjects of which a telling part is `said`: a file that only one of the known checks was given."""
    out: list[str] = []
    for part in dict.fromkeys(said):
        meant = [subject for subject in known if part in subject.split()[1:]] if _TELLING.search(part) else []
        if len(meant) == 1:
            out += meant
    return out
