"""An agent's work told by a model: what it is shown, what it is held to, and what becomes of its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.writing import MOST_STRUCK, Judged, ShownPiece, WritingJob, doubts, shown_pieces
from ireneo.grounding.check import Grounds, Struck, strike
from ireneo.grounding.claims import artifacts
from ireneo.grounding.evidence import critical, lost, source_texts, supported_rate
from ireneo.grounding.neutral import neutralise
from ireneo.grounding.status import LastOutcome, overclaims
from ireneo.language.detect import other_language
from ireneo.log.message import Count, Media, Message, Result, Text, arguments_text, as_read, as_said, without_recalled
from ireneo.patterns import lazy_re
from ireneo.prompts import PROMPTS
from ireneo.prompts.replies import VOICES, DeadEnd, GoalReply, KeptName, TurnReply, Voice
from ireneo.summaries.outcomes import last_outcomes
from ireneo.summaries.pins import STRONG, standing
from ireneo.summaries.steps import finding_score
from ireneo.summaries.summary import Line, Section, SectionName, Summary, Writing
from ireneo.summaries.tell_work import SAID, NameTally
from ireneo.summaries.work import HEADINGS, WORK

Answer = TurnReply | GoalReply

_WHO = {"first": "I", "second": "You", "third": "The agent"}


class Said(Struct, frozen=True):
    """One statement of a model, and the section that it is for."""

    section: SectionName
    text: str


def said(answer: Answer, voice: Voice) -> list[Said]:
    """Every statement of an answer, each on one line, in order."""
    listed = _turn(answer, voice) if isinstance(answer, TurnReply) else _goal(answer, voice)
    return [Said(each.section, text) for each in listed if (text := " ".join(each.text.split()))]


def _turn(answer: TurnReply, voice: Voice) -> Iterator[Said]:
    yield Said("strategy", answer.strategy)
    yield from (Said("discoveries", text) for text in answer.discoveries)
    yield from (Said("dead_ends", _dead_end(each, voice)) for each in answer.dead_ends)
    yield from (Said("worked", text) for text in answer.what_worked)
    yield from (Said("artifacts", _kept(each)) for each in answer.critical_artifacts)
    yield Said("status", _status(answer.status, answer.status_because))


def _goal(answer: GoalReply, voice: Voice) -> Iterator[Said]:
    yield Said("goal", answer.goal_arc)
    yield from (Said("achieved", text) for text in answer.achieved)
    yield from (Said("discoveries", text) for text in answer.discoveries)
    yield from (Said("dead_ends", _dead_end(each, voice)) for each in answer.dead_ends)
    yield from (Said("artifacts", _kept(each)) for each in answer.key_artifacts)
    yield Said("status", _status(answer.status, answer.status_because))


def _dead_end(each: DeadEnd, voice: Voice) -> str:
    tried = " ".join(each.tried.split()).rstrip(".")
    for opening in ("I tried ", "You tried ", "The agent tried ", "Tried "):
        tried = tried.removeprefix(opening)
    because = " ".join(each.because.split()).rstrip(".")
    reason = f"abandoned because {because}" if because else "abandoned (the reason is not verified)"
    return f"{_WHO[voice]} tried {tried} — {reason}." if tried else ""


def _kept(each: KeptName) -> str:
    what = each.what.strip()
    return f"{each.name} — {what}" if what and each.name.strip() else each.name


def _status(status: str, because: str) -> str:
    return f"{status} — {because.strip()}" if because.strip() else status


WINDOW_TOKENS = 24_000
"""What a model is shown of a stretch: small models read so much well."""
RECORD_TOKENS = 2_000
LEAF_TOKENS = 700
"""What is shown of one summary where the messages are too many."""
NAMES_SHOWN = 8
RECORD: tuple[SectionName, ...] = ("operations", "artifacts", "dead_ends", "worked", "status")
NOTES: tuple[SectionName, ...] = ("strategy", "discoveries", "dead_ends", "worked", "achieved", "artifacts", "status")


_SPEAKER = {"assistant": "I said:", "user": "the user said:", "system": "the system said:", "tool": "note:"}


class Sources(Struct, frozen=True, kw_only=True):
    """What a summary is written from."""

    messages: tuple[Message, ...]
    """All that it covers: the evidence that its claims are held to."""
    leaves: tuple[Summary, ...] = ()
    """The summaries under it that were written from messages."""


def shown_sources(sources: Sources, count: Count) -> str:
    """The messages, the long ones shortened; where they are far too many, the notes that were taken of them."""
    size = sum(message.tokens for message in sources.messages)
    if size <= 2 * WINDOW_TOKENS or not sources.leaves:
        return _messages(sources.messages, count)
    return "\n\n".join(
        f"[{leaf.first_position}–{leaf.last_position}]\n{record(leaf, NOTES, LEAF_TOKENS, count)}"
        for leaf in sources.leaves[-(WINDOW_TOKENS // LEAF_TOKENS) :]
    )


def requests(summary: Summary) -> str:
    """What the user asked for: that turn's words, or those of each turn."""
    if summary.level == "turn":
        asked = [line.text for line in summary.lines("goal")]
    else:
        asked = [line.text for line in summary.lines("direction")]
    return "\n".join(f"- {neutralise(text)}" for text in asked) or "(nobody asked for anything in these messages)"


def record(summary: Summary, names: Sequence[SectionName], tokens: int, count: Count) -> str:
    """The sections of a record, as far as there is room."""
    told: list[str] = []
    for name in names:
        lines = [
            WORK.say(name, line, [mention.name for mention in line.names[:NAMES_SHOWN]]) for line in summary.lines(name)
        ]
        told += map(neutralise, [f"{HEADINGS[name]}:", *lines] if lines else [])
    # What each line costs alone doesn't add up to what they cost together.
    if count("\n".join(told)) <= tokens:
        return "\n".join(told)
    left = tokens
    for place, text in enumerate(told):
        left -= count(text) + 1
        if left < 0:
            return "\n".join(told[:place])
    return "\n".join(told)


def _messages(messages: Sequence[Message], count: Count) -> str:
    pieces = [piece for message in as_said(messages) for piece in _pieces(message)]
    return shown_pieces(pieces, WINDOW_TOKENS, count, neutralise)


def _pieces(message: Message) -> Iterator[ShownPiece]:
    """Each thing that a message says or does."""
    place = f"[{message.position}]"
    who = _SPEAKER[message.role]
    if message.role == "user" and message.draft.origin != "spoken":
        who = "a note of the harness:"
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield ShownPiece(place if part.author else f"{place} {who}", as_read(part), message.id)
        elif isinstance(part, Result):
            failed = " (failed)" if part.failed else ""
            yield ShownPiece(f"{place} the tool returned{failed}:", part.text or "(nothing)", message.id)
        elif isinstance(part, Media):
            yield ShownPiece(place, f"({part.media_type})", message.id)
    for call in message.draft.calls:
        yield ShownPiece(f"{place} I called {call.name}:", arguments_text(call), message.id)


class Judge:
    """What is known of the sources, and the verdicts on what was said of them."""

    def __init__(self, sources: Sources, goal: str, voice: Voice) -> None:
        """Read the sources; `goal` is what the user asked for, which may be told as well."""
        self._messages = sources.messages
        self._grounds = Grounds(sources.messages, notes=[goal], outcomes=self.outcomes, voice=voice)

    def struck(self, said: Said) -> Struck:
        """What of one statement stands."""
        return strike(said.text, self._grounds, status=said.section == "status")

    def of_all(self, statements: Sequence[Said]) -> list[str]:
        """What is wrong with all of it together."""
        text = " ".join(each.text for each in statements)
        language = other_language(text, self._own_words)
        return [f"It is in {language}, and the agent wrote in another language."] if language else []

    def supported(self, statements: Sequence[Said]) -> float:
        """Of the claims that were made, the share that the sources support; 1 where nothing can be looked up."""
        return supported_rate("\n".join(each.text for each in statements), self._grounds.shown)

    @cached_property
    def outcomes(self) -> list[LastOutcome]:
        """How each command ended when it was run last, in the order of time."""
        return last_outcomes(self._messages)

    @cached_property
    def critical(self) -> list[str]:
        """What of the sources must not be lost."""
        return critical(self._messages)

    @cached_property
    def _own_words(self) -> str:
        own = [message for message in self._messages if message.role == "assistant"]
        return " ".join(_words(own) or _words(self._messages))


def _words(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if message.text.strip()]


_QUOTED = lazy_re(r"“[^“”]{0,1000}+”")

BESIDE = 0.5
"""What the offline line of a section weighs where a model's stand beside it."""
ORDER: tuple[SectionName, ...] = (
    *("goal", "direction", "strategy", "operations", "discoveries", "achieved"),
    *("dead_ends", "worked", "constraints", "lifted", "artifacts", "status"),
)
ONE_LINE: frozenset[SectionName] = frozenset({"goal", "strategy", "status"})
"""Sections in which a model's words take the place of the offline ones; in the others they stand beside them."""


def settled(
    offline: Summary,
    said: Sequence[Said],
    quotes: Sequence[Line],
    lost: Sequence[str],
    messages: Sequence[Message],
    outcomes: Sequence[LastOutcome],
) -> tuple[Section, ...]:
    """Put together the sections of `offline`, what was `said` of the same messages, and the constraints in `quotes`.

    Operations, names, the user's words and what is pinned come from the structure whatever a model says, and so do
    its dead ends; `lost` are critical artifacts that nothing else names. Nothing is COMPLETE over what failed last.
    """
    finder = _Finder(messages)
    out: list[Section] = []
    for name in ORDER:
        told = [finder.line(each) for each in said if each.section == name]
        known = list(offline.lines(name))
        if name in ONE_LINE:
            lines = told or [_humble(line, outcomes) for line in known]
        elif name == "constraints":
            lines = standing([*known, *quotes], offline.lines("lifted"))
        elif name == "dead_ends":
            lines = _dead_ends(told, known)
        elif told and name in ("discoveries", "worked", "achieved"):
            lines = [*told, *(replace(line, weight=line.weight * BESIDE) for line in known)]
        else:
            lines = [*known, *told]
        if name == "artifacts" and lost:
            lines.append(finder.lost(lost))
        if lines:
            out.append(Section(name=name, lines=tuple(lines)))
    return tuple(out)


def _humble(line: Line, outcomes: Sequence[LastOutcome]) -> Line:
    """A line that the structure gave: it looks at the last piece of the stretch alone, before which a check failed."""
    if not overclaims(_QUOTED.sub(" ", line.text), outcomes):
        return line
    why = f"PARTIAL — {outcomes[-1].subject} failed last"
    return replace(line, text=re.sub(r"\bCOMPLETE\b(?: —.*)?", lambda _: why, line.text))


def quoted(constraints: Sequence[str], messages: Sequence[Message]) -> list[Line]:
    """The constraints that a model quoted, as far as a user or the system said them, letter for letter."""
    out: list[Line] = []
    for quote in constraints:
        words = " ".join(quote.split()).strip("“”\"'")
        for message in messages:
            if message.role not in ("user", "system") or message.draft.origin != "spoken" or len(words) < 6:
                continue
            if words in " ".join(without_recalled(message.text).split()):
                out.append(Line(text=words, weight=STRONG, position=message.position, sources=(message.id,)))
                break
    return out


def _dead_ends(told: Sequence[Line], known: Sequence[Line]) -> list[Line]:
    """Those that the structure shows, and of those that a model tells the ones that name something else."""
    named = [set(artifacts(line.text)) | {line.subject} for line in known]
    new = [
        line
        for line in told
        if not any(
            line.text == each.text or (set(artifacts(line.text)) and set(artifacts(line.text)) <= names)
            for each, names in zip(known, named, strict=True)
        )
    ]
    return sorted([*known, *new], key=lambda line: line.position)


class _Finder:
    """Finds the messages that a statement rests on."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._names = [(message, _names(message)) for message in messages]

    def line(self, said: Said) -> Line:
        """The statement as a line: its sources are the messages that name what it names, at most the last three."""
        named = set(artifacts(said.text))
        rests = [message for message, names in self._names if named & names][-3:] or [self._messages[-1]]
        return Line(
            text=said.text,
            weight=1.5 + finding_score(said.text) + min(len(named), 4) * 0.5,
            position=rests[-1].position,
            sources=tuple(message.id for message in rests),
        )

    def lost(self, names: Sequence[str]) -> Line:
        """The line that brings back what no other names."""
        tally = NameTally()
        tally.add(" ".join(names), SAID)
        last = self._messages[-1]
        text = "; ".join(name for name in names if not artifacts(name))
        return Line(text=text or "Also", names=tally.mentions(), weight=1.0, position=last.position, sources=(last.id,))


def _names(message: Message) -> set[str]:
    return {name for text in source_texts([message]) for name in artifacts(text)}


class WorkJob(WritingJob, frozen=True, kw_only=True):
    """A block of an agent's work that a model is to write."""

    sources: Sources


class WorkTask:
    """A block of an agent's work as it is asked for, and judged (`WritingTask`)."""

    def __init__(self, job: WorkJob, count: Count) -> None:
        """Read the sources."""
        asked = requests(job.offline)
        self.job = job
        self.reply: type[Answer] = TurnReply if job.offline.level == "turn" else GoalReply
        self.prompt = PROMPTS[job.offline.level].render(
            voice=VOICES[job.voice],
            goal=asked,
            messages=shown_sources(job.sources, count),
            record=record(job.offline, RECORD, RECORD_TOKENS, count),
            disputes=doubts(job.disputes),
        )
        self._judge = Judge(job.sources, asked, job.voice)

    @property
    def critical(self) -> Sequence[str]:
        """What of the sources must not be lost."""
        return self._judge.critical

    def faults(self, answer: Answer) -> list[str]:
        """Everything that is wrong with an answer, with the words that it is about."""
        statements = said(answer, self.job.voice)
        found = [
            f"“{each.text[:120]}”: {fault}" for each in statements for fault in self._judge.struck(each).complaints
        ]
        return [*self._judge.of_all(statements), *found]

    def judge(self, answer: Answer) -> Judged:
        """What of an answer may stand: nothing, where it is as a whole not what was asked for."""
        statements = said(answer, self.job.voice)
        kept = self._standing(statements)
        struck = len(statements) - len(kept)
        trusted = bool(kept) and struck <= MOST_STRUCK * len(statements)
        return Judged(kept=[each.text for each in kept], struck=struck, trusted=trusted)

    def supported(self, answer: Answer) -> float:
        """Of the claims that were made, the share that the sources support."""
        return self._judge.supported(said(answer, self.job.voice))

    def settle(self, answer: Answer, judged: Judged, writing: Writing) -> tuple[Summary, Sequence[str]]:
        """The record: what the model said and stands, beside what the structure shows."""
        job, messages = self.job, self.job.sources.messages
        kept = self._standing(said(answer, job.voice)) if judged.trusted else []
        quotes = quoted(answer.constraints, messages) if isinstance(answer, GoalReply) else []
        # Those of the texts under it: what a model found there is carried on.
        quotes += [line for leaf in job.sources.leaves for line in leaf.lines("constraints")]
        known = " ".join(
            f"{line.subject} {line.text} {' '.join(mention.name for mention in line.names)}"
            for section in job.offline.sections
            for line in section.lines
        )
        missing = lost(self.critical, f"{known} {' '.join(each.text for each in kept)}")
        sections = settled(job.offline, kept, quotes, missing, messages, self._judge.outcomes)
        return replace(job.named(writing), sections=sections), ()

    def _standing(self, statements: Sequence[Said]) -> list[Said]:
        if self._judge.of_all(statements):
            return []
        return [Said(each.section, text) for each in statements if (text := self._judge.struck(each).text)]
