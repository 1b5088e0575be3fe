"""Check one statement of a model against its sources, and strike what they don't support.

Unsupported claims are struck clause by clause. The rest is kept if it is still a meaningful sentence; a condition is
never struck without what it limits. A statement must also not be an error text, keep its voice, and not contradict the
last known outcomes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, partial

from msgspec import Struct

from ireneo.grounding.claims import TextClaim, claims, normalise_text, strip_markdown
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.language.files import CAPITAL, Patterns, any_of, topic
from ireneo.language.topics import Clauses, Verdicts, Voice, Voices
from ireneo.language.words import artifacts, sentence_breaks, terms
from ireneo.log.calls import GUTTER, gutter_numbers, instructions
from ireneo.log.message import Message, without_recalled
from ireneo.patterns import lazy_re

_CLAUSES = topic(Clauses)
_VERDICTS = topic(Verdicts)
_SAYS = topic(Voices)


# Recognising error texts and refusals.


_ERROR_LABEL = (
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
    # JSON with an error, an HTML page, a stack trace.
    r"(?:data:\s*+)?(?:\{\s*+|\s*+)\"?(?:error|errors|exception|detail|fault)\"\s*:",
    r"\{?\s*\"?(?:type|object)\"\s*:\s*\"error\"",
    r"\{?\s*\"?(?:status|code|statusCode)\"\s*:\s*\"?[45]\d\d\b",
    r"(?:\?xml[^>]*>\s*<)?!?(?:doctype html|html|head|body)\b[^<>\n]{0,200}>",
    r"Traceback \(most recent call last\)|panic: |goroutine \d+ \[|Exception in thread",
    r"(?:\w{1,40}\.){0,6}\w{1,60}(?:Error|Exception)[:(]",
    r"(?:HTTP/\d(?:\.\d)? )?(?:error\W{1,3})?[45]\d\d\b[ :-]{1,3}(?:(?-i:[A-Z])[\w-]{0,20} ?){1,4}\W{0,4}(?:\n|\Z|\{)",
    rf"{_ERROR_LABEL}(?:{'|'.join(_MESSAGES)})",
)
_STACK_INSIDE = lazy_re(r"^Traceback \(most recent call last\):\n[ \t]+File ", re.MULTILINE)
_ERROR = lazy_re(lambda: rf"\A[\s\W]{{0,12}}{any_of(_BEGINS)}", re.IGNORECASE)


def is_error_text(text: str) -> bool:
    """Whether `text` is an error or a refusal instead of an answer.

    Judged by the beginning, since an answer may well report errors further on.
    """
    return bool(error_in(text))


def error_in(text: str) -> str:
    """Return the words that identify `text` as an error or a refusal; empty if it is neither."""
    found = (pattern.search(text) for pattern in (_ERROR, _SAYS.refuses, _STACK_INSIDE))
    return next((each[0] for each in found if each), "")


# Contradictions of the last known outcomes.


class LastOutcome(Struct, frozen=True, kw_only=True):
    """How a command or an edit ended the last time."""

    subject: str
    """The command or the file."""
    failed: bool
    checks: bool = True
    """Whether the command checks the work: a test, a build, a linter."""
    otherwise: bool = False
    """Whether a command of it failed at some time, or may have, so that a statement may report either outcome."""


_VERDICT_CLAUSE = lazy_re(
    lambda: rf"(?:[;,:]|\.|[!?]| - )(?:\s+|$)|(?<!\s)\s+{any_of(_VERDICTS.conjunctions)}\s+|→", re.IGNORECASE
)
_JOINED = lazy_re(lambda: rf"(?<!\s)\s+{any_of(_CLAUSES.joins)}\s+", re.IGNORECASE)
_CODE = lazy_re(r"`([^`]+)`")
_SUBJECT_WORD = lazy_re(r"(?<![\w./:-])[\w./:-]*\w")
_TELLING = lazy_re(r"\w[/._]\w")
_COMPLETE = lazy_re(lambda: _opening_pattern(_VERDICTS.complete), re.IGNORECASE)
_PARTIAL = lazy_re(lambda: _opening_pattern(_VERDICTS.partial), re.IGNORECASE)
_TESTS = lazy_re(r"test|spec|suite|\btox\b|\bnox\b", re.IGNORECASE)
_FILTERED = lazy_re(r"(?<!\s)\s+(?:2>&1|\|(?!\|)).*$")
"""Output filters after a command, which don't make it another one."""
_SEVERAL = lazy_re(r"&&|[;|]")
_DONE = lazy_re(r"\bCOMPLETE\b")
"""The word in our own statuses."""


def _opening_pattern(words: Iterable[str]) -> str:
    return rf"^\W*(?:{any_of(_VERDICTS.status)}\W+)?{any_of(words)}\b"


def contradicts(status_text: str, last_outcomes: Sequence[LastOutcome]) -> str | None:
    """Say how `status_text` contradicts `last_outcomes`, which are in order of time; None if it doesn't.

    Work whose last check failed is not complete. PARTIAL and BLOCKED claim nothing: work may wait for somebody even if
    all checks pass.
    """
    last = _last_check(last_outcomes)
    if last is not None and last.failed and _COMPLETE.search(status_text):
        return f"It says that the work is complete, but {last.subject} failed last."
    wrong = contradicted_verdict(status_text, last_outcomes)
    if wrong is not None or _PARTIAL.search(status_text):
        return wrong
    return _false_all_clear(status_text, last_outcomes, _VERDICTS.all)


def false_success(sentence: str, last_outcomes: Sequence[LastOutcome]) -> str | None:
    """Say that `sentence` calls everything fine or complete although the last check failed; None if it doesn't."""
    last = _last_check(last_outcomes)
    if last is not None and last.failed and _DONE.search(_CODE.sub(" ", sentence)):
        return f"It says that the work is complete, but {last.subject} failed last."
    return _false_all_clear(sentence, last_outcomes, _VERDICTS.everything)


def _last_check(outcomes: Sequence[LastOutcome], tests: bool = False) -> LastOutcome | None:
    """Return the last check, or with `tests` the last test if there is one."""
    checks = [outcome for outcome in outcomes if outcome.checks]
    tested = [outcome for outcome in checks if tests and _TESTS.search(outcome.subject)]
    return next(reversed(tested or checks), None)


def _false_all_clear(text: str, outcomes: Sequence[LastOutcome], everything: Patterns) -> str | None:
    for clause in _clauses(text):
        if _reported_outcome(clause) is True and (said := everything.search(clause)):
            last = _last_check(outcomes, bool(_TESTS.search(said[0])))
            if last is not None and last.failed:
                return f"It says that all is well, but {last.subject} failed last."
    return None


def contradicted_verdict(sentence: str, outcomes: Sequence[LastOutcome]) -> str | None:
    """Say which verdict of `sentence` is the opposite of a known outcome; None if none certainly is.

    Only an explicit verdict is compared, in the same clause as its subject. Negations, wishes and earlier times are
    ignored, and so is a reported failure of something that failed before it passed.
    """
    last = {normalise_text(outcome.subject): outcome for outcome in outcomes}
    for told in _clauses(sentence):
        # "It failed, and was never mended": what is denied of it after its verdict leaves the verdict as it is.
        clause = told if _reported_outcome(told) is not None else _JOINED.split(told, maxsplit=1)[0]
        passed = _reported_outcome(clause)
        if passed is None:
            continue
        for subject in _named_subjects(clause, last):
            if last[subject].failed is passed and (passed or not last[subject].otherwise):
                said, was = ("passed", "failed") if passed else ("failed", "passed")
                return f"It says that {subject} {said}, but it {was} last."
    return None


def _clauses(text: str) -> Iterator[str]:
    """Split `text` into clauses; code is not split."""
    codes: list[str] = []

    def hide_code(match: re.Match[str]) -> str:
        codes.append(match[0])
        return f"\x01{len(codes) - 1}\x02"

    for line in text.splitlines():
        words = _CODE.sub(hide_code, re.sub(r"[\x01\x02]", " ", normalise_text(line)))
        for clause in _VERDICT_CLAUSE.split(words):
            yield re.sub(r"\x01(\d+)\x02", lambda found: codes[int(found[1])], clause)


def _reported_outcome(clause: str) -> bool | None:
    """Return True if the clause explicitly reports a success, False for a failure, None for neither."""
    words = _CODE.sub(" ", clause)
    good, bad = bool(_VERDICTS.good.search(words)), bool(_VERDICTS.bad.search(words))
    if good == bad or _VERDICTS.unsure.search(words):
        return None
    return good


def _named_subjects(clause: str, outcomes: Mapping[str, LastOutcome]) -> list[str]:
    """Return the known subjects named in `clause`, as code or unambiguously in words."""
    codes = [_FILTERED.sub("", normalise_text(code)) for code in _CODE.findall(clause)]
    out = [subject for subject in outcomes if subject in codes]
    # A part of a command line with several commands identifies nothing.
    known = [subject for subject, outcome in outcomes.items() if outcome.checks and not _SEVERAL.search(subject)]
    for code in codes:
        longer = [subject for subject in known if " " in code and subject.startswith(f"{code} ")]
        if code not in known and len(longer) == 1:
            out.extend(longer)
    words = normalise_text(_CODE.sub(" ; ", clause))
    telling = [subject for subject in outcomes if re.search(r"[ /._]", subject)]
    for subject in sorted(telling, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(strip_markdown(subject))}(?![\w/-]|\.\w)"
        if re.search(pattern, words):
            out.append(subject)
            # A shorter subject inside a longer one is not named itself.
            words = re.sub(pattern, " ; ", words)
    return out or _subjects_by_part([*codes, *_SUBJECT_WORD.findall(words)], known)


def _subjects_by_part(said: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the subjects identified by a distinctive part: a file that is an argument of only one known check."""
    out: list[str] = []
    for part in dict.fromkeys(said):
        meant = [subject for subject in known if part in subject.split()[1:]] if _TELLING.search(part) else []
        if len(meant) == 1:
            out += meant
    return out


# Faults of voice and form: the wrong speaker or addressee, and text that isn't prose.

_QUOTED = lazy_re(
    r"```.*?(?:```|\Z)|`[^`\n]*`|[“„][^“”„]*[”“]|«[^«»]*»|‘[^‘’\n]*’(?!\w)|(?<!\w)\"[^\"\n]*\"", re.DOTALL
)
_FENCE = lazy_re(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


_AGENT = lazy_re(lambda: any_of(_SAYS.agent), re.IGNORECASE)
_YOU = lazy_re(lambda: any_of(_SAYS.you), re.IGNORECASE)
_OFFERS = lazy_re(lambda: any_of(_SAYS.offers), re.IGNORECASE)
_REFUSAL = lazy_re(lambda: any_of(_SAYS.refusals), re.IGNORECASE)
_SELF = lazy_re(lambda: rf"(?<![\w'’./-])(?-i:{any_of(_SAYS.oneself)})(?=[\s,.;:!?]|$)(?!\.\w)")
_WE = lazy_re(lambda: rf"(?<![\w-]){any_of(_SAYS.together)}\s+\w", re.IGNORECASE)
_SPEAKER_LABEL = lazy_re(
    r"^[ \t>*_#-]*(?:assistant|user|human|system|ai|agent|tool|developer)[*_]*[ \t]*:", re.IGNORECASE | re.MULTILINE
)
# An opening tag alone is often a placeholder: `<project-hash>`.
_MARKUP = lazy_re(
    r"(?<!\w)(?:</[A-Za-z][\w:-]*>|<[A-Za-z][\w:-]*>(?=[^<\n]*</)"
    r"|<[A-Za-z][\w:-]*(?:/|\s[^<>\n=]{0,80}=[^<>\n]*)>)|<[|][^<>\n]*[|]>"
)
_HEADING = lazy_re(r"^[ \t]*#{1,6}(?:[ \t]|$)", re.MULTILINE)

Fault = tuple[re.Pattern[str], str]
"""A pattern for a fault, and its description."""
FORM: tuple[Fault, ...] = (
    (_SPEAKER_LABEL, "It labels a speaker"),
    (_MARKUP, "It has markup"),
    (_HEADING, "It has a heading"),
)
"""Faults of form in any voice."""
_EVERYWHERE: tuple[Fault, ...] = ((_OFFERS, "It talks to a reader"), (_REFUSAL, "It apologises or refuses"), *FORM)
_OUTSIDE, _TO_READER = (_AGENT, "It tells of the agent from outside"), (_YOU, "It speaks to a reader")
_OF_ITSELF, _TOGETHER = (_SELF, "It speaks of itself"), (_WE, "It says who did it as “we”")
OF_ITSELF: tuple[Fault, ...] = (_OF_ITSELF, _TOGETHER)
"""First-person pronouns."""
_BY_VOICE: dict[Voice, tuple[Fault, ...]] = {
    # In the first person, “we” may be the agent and its user.
    "first": (_OUTSIDE, _TO_READER),
    "second": (_OUTSIDE, _OF_ITSELF, _TOGETHER),
    "third": (_OF_ITSELF, _TO_READER, _TOGETHER),
}


def voice_faults(text: str, voice: Voice, known: Callable[[str], bool] | None = None) -> list[str]:
    """Describe where `text` breaks its voice, each fault once with the offending words; quotations are exempt.

    `known` exempts words that the sources contain: an agent that is mentioned may be one in the sources.
    """
    return style_faults(text, (*_BY_VOICE[voice], *_EVERYWHERE), known)


def style_faults(text: str, faults: Iterable[Fault], known: Callable[[str], bool] | None = None) -> list[str]:
    """Describe which of `faults` `text` has, each once with the offending words; quotations are exempt."""
    found = ["It has a code fence: “```”."] if _FENCE.search(text) else []
    own = unquoted(text)
    for pattern, fault in faults:
        may_be = known if known is not None and pattern in (_AGENT, _MARKUP) else None
        shown = next((each[0] for each in pattern.finditer(own) if may_be is None or not may_be(each[0])), None)
        if shown is not None:
            found.append(f"{fault}: “{' '.join(shown.split())}”.")
    return found


def unquoted(text: str) -> str:
    """Replace each quoted character of `text` by a dot, which preserves offsets."""
    return _QUOTED.sub(lambda found: re.sub(r"[^\n]", "·", found[0]), text)


_COMMENT = lazy_re(lambda: any_of(_SAYS.comments), re.IGNORECASE)
_LISTED = lazy_re(r"^[ \t]*(?:[-*+•–]|\d{1,2}[.)])[ \t]+\S")
_STAGE = lazy_re(rf"^[ \t>*_]*{CAPITAL}[\w'’-]*+(?: {CAPITAL}[\w'’-]*+)?[*_]*: ?(?:{CAPITAL}|[·*(])")
_OF_STORIES: tuple[Fault, ...] = (
    *FORM,
    (_COMMENT, "It talks about the story instead of telling it"),
    (_LISTED, "It is an item of a list"),
    (_STAGE, "It labels a speaker"),
)
_ROLES = lazy_re(lambda: rf"\b{any_of(_SAYS.article)} ({'|'.join(_SAYS.roles)})\b", re.IGNORECASE)
_READER = lazy_re(lambda: rf"\b{any_of(_SAYS.reader)}\b", re.IGNORECASE)
_STORY_TO_READER: Fault = (_READER, "It says “you”")


def story_sentence_faults(text: str, voice: Voice, english: bool, labels: Callable[[str], bool]) -> list[str]:
    """Describe the faults of voice and form in one sentence of a story; quotations are exempt.

    The voice is recognised by English words, so it is only checked if `english`. `labels` says whether a role, such as
    “user”, is a label of the log and not somebody in the story.
    """
    by_voice: dict[Voice, tuple[Fault, ...]] = {
        "first": (_STORY_TO_READER,),
        "second": OF_ITSELF,
        "third": (*OF_ITSELF, _STORY_TO_READER),
    }
    found = style_faults(text, (*_OF_STORIES, *(by_voice[voice] if english else ())))
    called = [role[0] for role in _ROLES.finditer(unquoted(text)) if labels(role[1])]
    return [*found, *(f"It calls somebody by a role: “{role}”." for role in called[:1])]


def names_own_character(text: str, name: str) -> bool:
    """Whether `text`, the memory of a character called `name`, refers to that character in the third person."""
    own = unquoted(text)
    forms = "|".join(re.escape(form) for form in dict.fromkeys((name, name.split()[0])) if form) if name.strip() else ""
    if not forms:
        return False
    return any(not _SAYS.named.search(own[: found.start()]) for found in re.finditer(rf"(?<!\w)(?:{forms})(?!\w)", own))


def is_first_person(text: str) -> bool:
    """Whether anybody says “I” in `text`, outside quotation marks."""
    return bool(_SAYS.own.search(unquoted(text)))


# Striking what the sources don't support.

MAX_LED = 3
LEAST_WORDS = 2
"""Least content words of a sentence that is kept."""


class Struck(Struct, frozen=True, kw_only=True):
    """The result of checking a statement."""

    text: str
    """The supported part; empty if nothing is."""
    complaints: tuple[str, ...] = ()
    """Why parts were struck, a sentence for each part."""
    parts: tuple[str, ...] = ()
    """The struck parts, in their order."""


class Grounds:
    """The sources that statements are checked against: messages, their known outcomes, and earlier notes."""

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        asked: Iterable[str] = (),
        notes: Iterable[str] = (),
        outcomes: Sequence[LastOutcome] = (),
        voice: Voice | None = "first",
    ) -> None:
        """Index the messages; `asked` are further words of a user, `notes` are earlier notes that the writer was shown.

        The voice isn't checked if `voice` is None.
        """
        self._messages = messages
        self._asked, self._notes = tuple(asked), tuple(notes)
        self.outcomes = outcomes
        self.voice = voice
        self.besides: Callable[[str], list[str]] = lambda _: []
        """Further faults of a sentence or a clause."""
        self.shown = SourceIndex([*source_texts(messages), *self._asked, *self._notes])

    def cited_sources(self, cited: Iterable[Message]) -> SourceIndex | None:
        """Return the sources for the figures of a statement that cites these messages; None if it cites none."""
        texts = source_texts(list(cited))
        said = [message.text for message in self._messages if message.role in ("user", "system")]
        return SourceIndex([*texts, *said, *self._asked, *self._notes]) if texts else None

    def is_listed_line(self, number: str, text: str) -> bool:
        """Whether a listing shows a name of `text` in the line of this number: `load stands at 914 now`."""
        names = artifacts(text)
        return any(name in line for line in self._listed_lines.get(number, ()) for name in names)

    @cached_property
    def _listed_lines(self) -> Mapping[str, Sequence[str]]:
        """The lines of listings by their number."""
        out: dict[str, list[str]] = {}
        for text in source_texts(self._messages):
            counted = gutter_numbers(text)
            for found in GUTTER.finditer(text) if counted else ():
                out.setdefault(found[1], []).append(text[found.end() :].partition("\n")[0])
        return out

    def mentions(self, words: str) -> bool:
        """Whether the last of `words` occurs in the sources, so that they may refer to it."""
        bare = _NAMES.findall(words)
        return bool(bare) and self._work_sources.has_words(bare[-1])

    @cached_property
    def _work_sources(self) -> SourceIndex:
        """All sources except the system messages, which describe the writer itself."""
        work = [message for message in self._messages if message.role != "system"]
        return SourceIndex([*source_texts(work), *self._asked, *self._notes])

    @cached_property
    def instruction_sources(self) -> SourceIndex:
        """The words of users and system messages, which may give instructions; notes may contain tool output."""
        said = (each for each in self._messages if each.role in ("user", "system") and each.draft.origin == "spoken")
        return SourceIndex([*(without_recalled(message.text) for message in said), *self._asked])


_NAMES = lazy_re(r"\w+")
ELSEWHERE = "in none of the messages that it names"


def strike_unsupported(
    statement: str, grounds: Grounds, *, status: bool = False, cited: Iterable[Message] = ()
) -> Struck:
    """Strike from `statement` what `grounds` don't support; `status` says that it is a status.

    `cited` are the messages that its writer gives for it, and their neighbours. In a long session any small number
    occurs somewhere, so figures must follow from these messages, from the user's words, or from an earlier note.
    """
    # A sentence that begins with a speaker's label could be taken for that speaker's words.
    text = _with_user_label(" ".join(statement.split()))
    whole = _statement_faults(text, grounds, status=status)
    if whole:
        return Struck(text="", complaints=tuple(whole), parts=(text,))
    near = grounds.cited_sources(cited)
    kept: list[str] = []
    complaints: list[str] = []
    parts: list[str] = []
    told = [_with_user_label(each) for each in _sentences(text)]
    for sentence in told:
        claimed = check_text(_REFERENCE.sub(" ", sentence), grounds.shown)
        far = [] if near is None else [each for each in _figure_claims(sentence) if not near.supports(each)]
        far += _denied_counts(sentence, near or grounds.shown)
        far = [each for each in dict.fromkeys(far) if each not in claimed]
        missing = [(each, "nowhere") for each in claimed] + [(each, ELSEWHERE) for each in far]
        missing = [
            each for each in missing if each[0].kind != "number" or not grounds.is_listed_line(each[0].text, sentence)
        ]
        wrong = [f"The {each.kind} “{each.text}” stands {where}." for each, where in missing]
        wrong += _clause_faults(sentence, grounds)
        complaints += wrong
        names = [claim.text.removeprefix("line ") for claim, _ in missing]
        stands = _without_clauses(sentence, partial(_is_wrong, names, grounds)) if wrong else sentence
        if stands:
            kept.append(stands)
        parts += _struck_words(sentence, stands) if wrong else []
    if not complaints:
        return Struck(text=" ".join(told))
    left = " ".join(kept)
    # The rest may be an error text by itself.
    return Struck(
        text="" if is_error_text(left) else left, complaints=tuple(dict.fromkeys(complaints)), parts=tuple(parts)
    )


def _struck_words(sentence: str, stands: str) -> list[str]:
    """Return the runs of words of `sentence` that are missing from `stands`, the rest of it."""
    said = sentence.split()
    # The capital letter and the full stop of the rest are not compared.
    before, after = ([word.strip(".,;:!?").casefold() for word in words] for words in (said, stands.split()))
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    runs = [" ".join(said[begin:end]) for step, begin, end, _, _ in steps if step in ("delete", "replace")]
    return [run.strip(",;:–—-. ") for run in runs]


def _with_user_label(text: str) -> str:
    return _USER_LABEL.sub(lambda found: f"The user{found[1]}", text)


def _figure_claims(sentence: str) -> list[TextClaim]:
    """Return the figures of a sentence, except line numbers and references in brackets."""
    bare = _LINES_OF_FILES.sub(" ", _REFERENCE.sub(" ", sentence))
    figures = (claim for claim in claims(bare) if claim.kind == "number")
    return [claim for claim in figures if not claim.text.startswith("line ")]


_SMALL = lazy_re(
    r"(?<![\w.,:/#-])(?P<number>[2-9]|1[0-2])(?: (?P<label>[^\W\d_]{3,})(?![/_(-]|\.\w))?(?![\w.,:/%-]?\w)"
)
_LIST_COMMA = lazy_re(r"[,;]\s")


def _denied_counts(sentence: str, near: SourceIndex) -> list[TextClaim]:
    """Return the small counts of a sentence that the sources deny; a list after a count is compared with it."""
    figures = {each.text for each in _figure_claims(sentence)}
    return [
        TextClaim("number", found["number"])
        for found in _SMALL.finditer(sentence)
        if found["number"] in figures
        and near.denies_count(
            int(found["number"]), found["label"] or "", len(_LIST_COMMA.findall(sentence, found.end())) + 1
        )
    ]


def _is_wrong(names: Sequence[str], grounds: Grounds, clause: str) -> bool:
    """Whether a clause has any of the faults of its sentence, `names` among them."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause) for name in names) or bool(
        _clause_faults(clause, grounds)
    )


_USER_LABEL = lazy_re(r"^User(:\s)")
_REFERENCE = lazy_re(r"(?<![\w)\]])\[\d[\d, –-]*\]")
"""References to messages; a number in brackets right after a name is an index: `rows[0]`."""
_LINES_OF_FILES = lazy_re(r"(?<!\d):\d+(?:[-–]\d+)?(?:(?:, ?:?|/)\d+(?:[-–]\d+)?)*\b")
"""Line numbers after a file name or alone: `main.go:12, 40-44`, `main.go:12/40` and `:12`."""


def _statement_faults(text: str, grounds: Grounds, *, status: bool) -> list[str]:
    """Return the faults for which the whole statement is struck."""
    error = error_in(text)
    if error and not grounds.shown.has_words(error):
        return ["It is an error text, and no note."]
    if any(not grounds.instruction_sources.has_words(_extend_words(text, each)) for each in instructions(text)):
        return ["It repeats an instruction that a tool returned."]
    wrong = contradicts(text, grounds.outcomes) if status else None
    return [wrong] if wrong else []


def _extend_words(text: str, words: str) -> str:
    """Extend `words` by up to `MAX_LED` words that follow them in `text`, which say what the order is."""
    start = text.find(words)
    return " ".join([words, *_NAMES.findall(text[start + len(words) :])[:MAX_LED]]) if start >= 0 else words


def _clause_faults(text: str, grounds: Grounds) -> list[str]:
    """Return the faults of voice and the wrong verdicts of a sentence or a clause."""
    verdict = contradicted_verdict(text, grounds.outcomes) or false_success(text, grounds.outcomes)
    if grounds.voice is None:
        faults = style_faults(text, FORM, grounds.mentions)
    else:
        faults = voice_faults(text, grounds.voice, grounds.mentions)
    return [*faults, *([verdict] if verdict else []), *grounds.besides(text)]


def _sentences(text: str) -> Iterator[str]:
    """Split a line into sentences; quotations are not split."""
    start = 0
    for end, following in sentence_breaks(unquoted(text)):
        yield text[start:end]
        start = following
    if text[start:]:
        yield text[start:]


# Boundaries of clauses: punctuation, or a word that begins one.
_JOINT = lazy_re(
    lambda: (
        # Possessive, so that a run of blanks is matched only from its first.
        rf"(?P<apart>;\s++(?:{any_of(_CLAUSES.joins)}\s)?|(?:,|(?<!\s)(?=\s))\s++{any_of(_CLAUSES.joins)}\s++"
        rf"(?={any_of(_CLAUSES.subjects)}\b))|:\s++|\s[-–—→]\s++|,\s++|"
        rf"(?<!\s)\s++(?={any_of(_CLAUSES.begins)}\b)"
    ),
    re.IGNORECASE,
)
_BRACKETS = lazy_re(r"\s?[(\[][^()\[\]]*[)\]]")
_LIMITS = lazy_re(lambda: rf"\W*(?:\w+\s+)?{any_of(_CLAUSES.limits)}\b", re.IGNORECASE)
_PLAIN = lazy_re(r"[^\W\d_]+(?=[\s,])")
_REMARK = lazy_re(r"\s[-–—→]\s+\w+")
"""A single word after a dash, whose continuation was struck."""


def _without_clauses(sentence: str, is_wrong: Callable[[str], bool]) -> str:
    """Remove the wrong clauses of `sentence`; empty if too little is left, or if the meaning would change."""
    for bracket in reversed(list(_BRACKETS.finditer(unquoted(sentence)))):
        if is_wrong(sentence[bracket.start() : bracket.end()]):
            sentence = sentence[: bracket.start()] + sentence[bracket.end() :]
    stands = _join_right_groups(list(_clause_groups(sentence)), is_wrong)
    if not stands or len(terms(stands)) < LEAST_WORDS or is_wrong(stands):
        return ""
    return stands


def _clause_groups(sentence: str) -> Iterator[list[str]]:
    """Split a sentence into groups of clauses, each with its conjunction; a group could be a sentence by itself."""
    group: list[str] = []
    start = 0
    text = unquoted(sentence)
    for joint in _JOINT.finditer(text):
        before = text[: joint.start()]
        if sum(map(before.count, "([{")) > sum(map(before.count, ")]}")):
            continue  # Half a bracket means nothing.
        group.append(sentence[start : joint.start()])
        start = joint.start()
        if joint["apart"]:
            yield group
            group = []
    yield [*group, sentence[start:]]


def _join_right_groups(groups: Sequence[Sequence[str]], is_wrong: Callable[[str], bool]) -> str:
    kept = ""
    before = True
    for group in groups:
        bare = _JOINT.sub("", group[0], count=1) if _JOINT.match(group[0]) else group[0]
        wrong = [is_wrong(clause) for clause in group]
        first = wrong.index(True) if True in wrong else len(group)
        while 1 < first < len(group) and _REMARK.fullmatch(group[first - 1]):
            first -= 1
        # Without a clause that limits it or that it introduces, the rest would mean something else, or nothing.
        limited = first < len(group) and bool(
            _LIMITS.match(group[first]) or (first == 1 and _CLAUSES.leads.match(bare))
        )
        # A clause that refers to a struck one is struck too.
        before, stood = first > 0 and not limited, before
        before = before and (stood or not _CLAUSES.refers.match(bare))
        if before:
            told = "".join(group[:first])
            kept = f"{kept}{told}" if kept else "".join([bare, *group[1:first]])
    kept = kept.strip(",;:–—- ")
    if not kept:
        return ""
    ended = kept if kept[-1] in ".!?…" else f"{kept}."
    # Capitalise a plain word that now begins the sentence.
    moved = not groups[0][0].lstrip().startswith(kept[0]) and _PLAIN.match(ended)
    return ended[0].upper() + ended[1:] if moved else ended
