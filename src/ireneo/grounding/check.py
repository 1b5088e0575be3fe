"""One statement held to its sources: what of it stands, and why the rest doesn't.

What is unsupported is struck as a clause. The rest of the sentence stays where it is one without that and still says
something; a condition is never struck from what it limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from ireneo.grounding.claims import TextClaim, claims
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.grounding.neutral import instructions
from ireneo.grounding.status import LastOutcome, contradicts, error_in, error_text, flipped, overclaims
from ireneo.grounding.voice import FORM, Voice, found_faults, unquoted, voice_faults
from ireneo.language.files import either, topic
from ireneo.language.sentences import breaks
from ireneo.language.topics import Clauses
from ireneo.language.words import terms
from ireneo.log.message import Message, without_recalled
from ireneo.patterns import lazy_re

MAX_LED = 3
LEAST_WORDS = 2
"""A sentence with fewer words that mean something says nothing."""


class Struck(Struct, frozen=True, kw_only=True):
    """What is left of a statement."""

    text: str
    """What stands; empty where nothing does."""
    complaints: tuple[str, ...] = ()
    """Why the rest doesn't, a sentence each; none where all of it stands."""


class Grounds:
    """What statements are held to: messages, with the outcomes that are known of them, and what was noted before."""

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        asked: Iterable[str] = (),
        notes: Iterable[str] = (),
        outcomes: Sequence[LastOutcome] = (),
        voice: Voice | None = "first",
    ) -> None:
        """Read the messages; `asked` are a user's words besides, and `notes` what else the writer was shown.

        Without a `voice` it is all the same who speaks to whom.
        """
        self._messages = messages
        self._asked, self._notes = tuple(asked), tuple(notes)
        self.outcomes = outcomes
        self.voice = voice
        self.shown = SourceIndex([*source_texts(messages), *self._asked, *self._notes])

    def near(self, cited: Iterable[Message]) -> SourceIndex | None:
        """What the figures of a statement follow from that gives the messages `cited`; None where it gives none."""
        texts = source_texts(list(cited))
        said = [message.text for message in self._messages if message.role in ("user", "system")]
        return SourceIndex([*texts, *said, *self._asked, *self._notes]) if texts else None

    def speaks_of(self, words: str) -> bool:
        """Whether the last of `words` stands in what was shown: then it may be that which they speak of."""
        bare = _NAMES.findall(words)
        return bool(bare) and self._worked_on.holds(bare[-1])

    @cached_property
    def _worked_on(self) -> SourceIndex:
        """All but what systems said, which tells the writer what it is itself."""
        work = [message for message in self._messages if message.role != "system"]
        return SourceIndex([*source_texts(work), *self._asked, *self._notes])

    @cached_property
    def ruled(self) -> SourceIndex:
        """What users and systems said, who may give instructions; notes may hold what a tool returned."""
        said = (each for each in self._messages if each.role in ("user", "system") and each.draft.origin == "spoken")
        return SourceIndex([*(without_recalled(message.text) for message in said), *self._asked])


_NAMES = lazy_re(r"\w+")


def strike(statement: str, grounds: Grounds, *, status: bool = False, cited: Iterable[Message] = ()) -> Struck:
    """Take out of `statement` what `grounds` don't support; `status` says that it tells how the work ended.

    `cited` are the messages that its writer gives for it, with those beside them. In a long session any small number
    stands somewhere, so that a figure has to follow from these, from what the user says, or from an earlier note.
    """
    # A line that begins with a speaker could be taken for their words, in the context that it will stand in.
    text = _LABEL.sub(lambda found: f"The user{found[1]}", " ".join(statement.split()))
    whole = _of_statement(text, grounds, status=status)
    if whole:
        return Struck(text="", complaints=tuple(whole))
    near = grounds.near(cited)
    kept: list[str] = []
    complaints: list[str] = []
    for sentence in _sentences(text):
        claimed = check_text(sentence, grounds.shown)
        if near is not None:
            claimed += [claim for claim in _figures(sentence) if claim not in claimed and not near.supports(claim)]
        wrong = [*(f"The {claim.kind} “{claim.text}” stands nowhere." for claim in claimed), *_told(sentence, grounds)]
        complaints += wrong
        names = [claim.text.removeprefix("line ") for claim in claimed]
        stands = _without(sentence, _WrongClause(names, grounds)) if wrong else sentence
        if stands:
            kept.append(stands)
    if not complaints:
        return Struck(text=text)
    left = " ".join(kept)
    # Behind what was struck may stand what is no note by itself.
    return Struck(text="" if error_text(left) else left, complaints=tuple(dict.fromkeys(complaints)))


def _figures(sentence: str) -> list[TextClaim]:
    """The figures of a sentence; a line's number is told of a place, and one in brackets names a message."""
    figures = (claim for claim in claims(_REFERENCE.sub(" ", sentence)) if claim.kind == "number")
    return [claim for claim in figures if not claim.text.startswith("line ")]


class _WrongClause(Struct, frozen=True):
    """Whether a clause has a part in what is wrong with its sentence."""

    names: Sequence[str]
    grounds: Grounds

    def __call__(self, clause: str) -> bool:
        named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause) for name in self.names)
        return named or bool(_told(clause, self.grounds))


_LABEL = lazy_re(r"^User(:\s)")
_REFERENCE = lazy_re(r"\[\d[\d, –-]*\]")


def _of_statement(text: str, grounds: Grounds, *, status: bool) -> list[str]:
    """What is wrong with all of it: nothing of it can stand then."""
    error = error_in(text)
    if error and not grounds.shown.holds(error):
        return ["It is an error text, and no note."]
    if any(not grounds.ruled.holds(_led_on(text, each)) for each in instructions(text)):
        return ["It repeats an instruction that a tool returned."]
    wrong = contradicts(text, grounds.outcomes) if status else None
    return [wrong] if wrong else []


def _led_on(text: str, words: str) -> str:
    """`words` with those that follow in `text`: what is ordered."""
    start = text.find(words)
    return " ".join([words, *_NAMES.findall(text[start + len(words) :])[:MAX_LED]]) if start >= 0 else words


def _told(text: str, grounds: Grounds) -> list[str]:
    """What is wrong with how a sentence or a clause tells, and with its verdicts."""
    verdict = flipped(text, grounds.outcomes) or overclaims(text, grounds.outcomes)
    if grounds.voice is None:
        faults = found_faults(text, FORM, grounds.speaks_of)
    else:
        faults = voice_faults(text, grounds.voice, grounds.speaks_of)
    return [*faults, verdict] if verdict else faults


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a line; what is quoted is not taken apart."""
    start = 0
    for end, following in breaks(unquoted(text)):
        yield text[start:end]
        start = following
    if text[start:]:
        yield text[start:]


# A clause begins behind a semicolon, a dash, a colon or a comma, and where a word says so.
_JOINT = lazy_re(
    lambda: (
        # Blanks are taken from the first of a run on, and not given back.
        rf"(?P<apart>;\s++(?:{either(topic(Clauses).joins)}\s)?|(?:,|(?<!\s)(?=\s))\s++{either(topic(Clauses).joins)}\s++"
        rf"(?={either(topic(Clauses).subjects)}\b))|:\s++|\s[-–—→]\s++|,\s++|"
        rf"(?<!\s)\s++(?={either(topic(Clauses).begins)}\b)"
    ),
    re.IGNORECASE,
)
_BRACKETS = lazy_re(r"\s?[(\[][^()\[\]]*[)\]]")
_LIMITS = lazy_re(lambda: rf"\W*(?:\w+\s+)?{either(topic(Clauses).limits)}\b", re.IGNORECASE)
_LEADS = lazy_re(lambda: rf"\W*{either(topic(Clauses).leads)}\b", re.IGNORECASE)
_PLAIN = lazy_re(r"[^\W\d_]+(?=[\s,])")
_REMARK = lazy_re(r"\s[-–—→]\s+\w+")
"""A single word behind a dash, of which the rest was struck."""
_REFERS = lazy_re(lambda: rf"\W*{either(topic(Clauses).refers)}\b", re.IGNORECASE)


def _without(sentence: str, is_wrong: Callable[[str], bool]) -> str:
    """`sentence` without the clauses that are wrong; empty where too little is left, or it would say something else."""
    for bracket in reversed(list(_BRACKETS.finditer(unquoted(sentence)))):
        if is_wrong(sentence[bracket.start() : bracket.end()]):
            sentence = sentence[: bracket.start()] + sentence[bracket.end() :]
    stands = _joined(list(_groups(sentence)), is_wrong)
    if not stands or len(terms(stands)) < LEAST_WORDS or is_wrong(stands):
        return ""
    return stands


def _groups(sentence: str) -> Iterator[list[str]]:
    """The clauses of a sentence, each with what joins it to the one before; a group could be a sentence by itself."""
    group: list[str] = []
    start = 0
    for joint in _JOINT.finditer(unquoted(sentence)):
        group.append(sentence[start : joint.start()])
        start = joint.start()
        if joint["apart"]:
            yield group
            group = []
    yield [*group, sentence[start:]]


def _joined(groups: Sequence[Sequence[str]], is_wrong: Callable[[str], bool]) -> str:
    kept = ""
    before = True
    for group in groups:
        bare = _JOINT.sub("", group[0], count=1) if _JOINT.match(group[0]) else group[0]
        wrong = [is_wrong(clause) for clause in group]
        first = wrong.index(True) if True in wrong else len(group)
        while 1 < first < len(group) and _REMARK.fullmatch(group[first - 1]):
            first -= 1
        # What limits the rest, or only leads to it, says something else or nothing without it.
        limited = first < len(group) and bool(_LIMITS.match(group[first]) or (first == 1 and _LEADS.match(bare)))
        # What speaks of something that was struck goes with it.
        before, stood = first > 0 and not limited, before
        before = before and (stood or not _REFERS.match(bare))
        if before:
            told = "".join(group[:first])
            kept = f"{kept}{told}" if kept else "".join([bare, *group[1:first]])
    kept = kept.strip(",;:–—- ")
    if not kept:
        return ""
    ended = kept if kept[-1] in ".!?…" else f"{kept}."
    # A word that was inside the sentence begins it now; a name stays as it is written.
    moved = not groups[0][0].lstrip().startswith(kept[0]) and _PLAIN.match(ended)
    return ended[0].upper() + ended[1:] if moved else ended
