"""A model's notes on an agent's work: the prompt for a stretch, the check of the reply, and where notes are stored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from math import log

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.context import WAITING_DEPTH, waiting_summarizer
from ireneo.engine.heard import NOT_RULED, Heard
from ireneo.engine.writing import (
    MAX_FAULTS,
    MAX_STRUCK,
    Judged,
    ShownPiece,
    WritingTask,
    as_text,
    dispute_prompt,
    fitting_indices,
    shown_pieces,
)
from ireneo.grounding.check import Grounds, LastOutcome, Struck, strike_unsupported
from ireneo.grounding.evidence import source_texts, supported_rate
from ireneo.language.files import topic
from ireneo.language.topics import Rulings, Voice
from ireneo.language.words import artifacts, other_language, terms
from ireneo.log.calls import GUTTER, REMINDER, TAB, gutter_numbers, quote_instructions, without_reminders
from ireneo.log.message import (
    Call,
    Count,
    Media,
    Message,
    MessageId,
    Result,
    Text,
    arguments_text,
    messages_without_recalled,
    rendered_text,
)
from ireneo.log.tree import Annotation
from ireneo.ports.models import Prompt
from ireneo.prompts import NOTES, NOTES_REPAIR
from ireneo.prompts.replies import VOICES, NotesReply, PromptText
from ireneo.summaries.notes import Note, Noted, line_of, note_id, note_sections, read_note
from ireneo.summaries.outcomes import last_outcomes
from ireneo.summaries.policy import Policy
from ireneo.summaries.state import SINCE_COMMIT, shown_state, state_lines
from ireneo.summaries.steps import clip, steps
from ireneo.summaries.summary import Line, SectionName, Summary, Writing
from ireneo.summaries.work import summary_of

_RULINGS = topic(Rulings)


# The material shown to a writer: numbered messages, each text once.

SAME_CHARACTERS = 200
"""Repeated lines with at least this many characters are replaced by a reference to the message that showed them."""
BEFORE = "old"
"""The beginning of the names of an edit's arguments that contain the replaced text."""
WEAK_CHARACTERS = 12
"""A shorter line, such as a bracket, is too common to be recognised as a repetition."""
NOTES_SHARE = 0.04
"""The share of the window for earlier notes."""
REQUESTS_SHOWN = 6
REQUEST_CHARACTERS = 400
OUTPUT_SHARE = 1 / 27
"""The tokens of the notes as a share of the stretch's."""
NARROW_SHARE = 1 / 33
"""The share of the stretch for the notes that a narrow context shows, if they are not written for a narrow one: a
context with 1/25 of the stretch shows them together with the last request and the newest messages."""
WIDE_SHARE = 1 / 18
"""A context with a larger share of the stretch is wide."""
LEAST_SHARE = 1 / 72
"""The minimum share, which must also suffice for wider contexts than the narrowest one."""
MIN_WORDS, MAX_WORDS = 120, 4_500
WORDS_PER_TOKEN, CHARACTERS_PER_TOKEN, SURE_CHARACTERS = 0.48, 4, 3.8
"""Words of notes, which are full of names and paths, and characters per token of a context's budget; and characters of
notes that are all to be shown: those that are full of names have fewer, and what is left small notes fill."""
REPAIR_TOKENS = 3_000
"""The maximum number of tokens of cited messages in a repair."""
REPAIR_SHARE = 0.1
"""The maximum number of tokens of a repair as a share of the first prompt."""
LINE_CHARACTERS = 80
"""How many characters of a line or clause a complaint quotes."""
MIN_LOST, MIN_REPAIRED = 3, 4
"""The minimum worth of a note for which the model is asked again: if all of it was struck, and if only a clause was."""
FRAME_TOKENS = 1_200
"""Tokens of the fixed text of a prompt."""

_SPEAKER = {"assistant": "agent:", "user": "user:", "system": "system:", "tool": "note:"}


def transcript(messages: Sequence[Message], room: int, count: Count) -> str:
    """The numbered messages as text: repeated lines once, and long ones shortened to fit."""
    seen: dict[str, int] = {}
    pieces = [piece for message in messages_without_recalled(messages) for piece in _shown_pieces(message, seen)]
    return shown_pieces(pieces, room, count, quote_instructions)


def _without_repeated_lines(text: str, position: int, seen: dict[str, int], *, whole: bool = False) -> str:
    """Replace runs of lines that an earlier message has shown (`seen`) by a reference to that message.

    With `whole` the text is not changed, since the model has to see what a call changes.
    """
    out: list[str] = []
    run: list[str] = []
    source: int | None = None

    def put_run() -> None:
        if sum(map(len, run)) >= SAME_CHARACTERS:
            out.append(f"({len(run)} lines as in [{source}])")
        else:
            out.extend(run)
        run.clear()

    for line in text.split("\n"):
        bare = GUTTER.sub("", line).strip()
        # A bracket alone may occur anywhere, and belongs to what precedes it.
        first = source if len(bare) < WEAK_CHARACTERS else seen.setdefault(bare, position)
        if whole or first in (None, position) or (run and first != source):
            put_run()
            source = None
        if whole or first in (None, position):
            out.append(line)
        else:
            run.append(line)
            source = first
    put_run()
    return "\n".join(out)


def _shown_pieces(message: Message, seen: dict[str, int]) -> Iterator[ShownPiece]:
    """Split a message into its texts, results and calls, without lines that were `seen` in earlier messages."""
    place = f"[{message.position}]"
    who = _SPEAKER[message.role]
    if message.role == "user" and message.draft.origin != "spoken":
        who = "harness:"
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            words = _without_noise(rendered_text(part)) if message.role != "user" else rendered_text(part)
            for reminder in REMINDER.findall(words):
                yield ShownPiece(f"{place} harness:", reminder, message.id)
            rest = without_reminders(words).strip()
            if rest:
                yield ShownPiece(place if part.author else f"{place} {who}", rest, message.id)
        elif isinstance(part, Result):
            failed = " (failed)" if part.failed else ""
            text = _without_repeated_lines(_without_noise(part.text).strip(), message.position, seen)
            yield ShownPiece(f"{place} result{failed}:", text or "(nothing)", message.id)
        elif isinstance(part, Media):
            yield ShownPiece(place, f"({part.media_type})", message.id)
    for call in message.draft.calls:
        yield ShownPiece(f"{place} {call.name}:", _arguments(call, message.position, seen), message.id)


def _without_noise(text: str) -> str:
    """`text` without the harness's reminders, and with only the number of every tenth line.

    The numbers of all lines are a tenth of the cost of reading files. Before a tab they may also be data.
    """
    text = without_reminders(text)
    counted = gutter_numbers(text)

    def tenth(found: re.Match[str]) -> str:
        if found[2] == TAB and int(found[1]) not in counted:
            return found[0]
        return f"{found[1]}{found[2]}" if found[1][-1] == "0" else ""

    return GUTTER.sub(tenth, text)


def _arguments(call: Call, position: int, seen: dict[str, int]) -> str:
    """The arguments of a call as plain text, not as JSON, which needs two characters for each line break.

    The new text of a change must be shown whole; the replaced text was shown before.
    """
    if not isinstance(call.arguments, Mapping):
        return arguments_text(call)
    told: list[str] = []
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        told.append(f"{name}: {_without_repeated_lines(text, position, seen, whole=not name.startswith(BEFORE))}")
    return "; ".join(told)


class NotesJob(Struct, frozen=True, kw_only=True):
    """A stretch of an agent's work that needs notes, and the blocks that get them."""

    policy: Policy
    voice: Voice
    messages: tuple[Message, ...]
    """The messages of the stretch."""
    evidence: tuple[Message, ...]
    """The messages against which notes are checked: these, and available earlier ones."""
    blocks: tuple[Summary, ...]
    """The canonical blocks that begin or end among them, in order."""
    waits: bool = False
    """Whether the messages after the last block wait for a block of their own."""
    taken: tuple[tuple[SectionName, Line], ...] = ()
    """Earlier notes on what these blocks cover."""
    before: tuple[tuple[SectionName, Line], ...] = ()
    """The notes on everything before."""
    asked: tuple[Message, ...] = ()
    """The user's earlier requests."""
    disputes: tuple[Annotation, ...] = ()
    window: int
    room: float | None = None
    """The room of the context for which they are written, as a share of what they cover; None if unknown."""

    @property
    def tokens(self) -> int:
        """The tokens of the messages."""
        return sum(message.tokens for message in self.messages)

    @property
    def words(self) -> int:
        """About how many words the notes should have."""
        return max(min(int(self.tokens * OUTPUT_SHARE * WORDS_PER_TOKEN), MAX_WORDS), MIN_WORDS)

    @property
    def shown_words(self) -> int:
        """How many of these words a narrow context shows for certain."""
        room = self.room
        share = NARROW_SHARE if room is None or room > WIDE_SHARE else max(room, LEAST_SHARE)
        return min(max(int(self.tokens * share * WORDS_PER_TOKEN), MIN_WORDS), self.words)


class Located(Struct, frozen=True, kw_only=True):
    """A note, with the messages that support it."""

    statement: Note
    messages: tuple[Message, ...]

    @property
    def position(self) -> int:
        """The position of the last message."""
        return self.messages[-1].position


class Locator:
    """Finds the messages that support notes: those that they cite, or those that share most of their words."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Look among `messages`, of which there is at least one."""
        self._messages = messages
        self._at = {message.position: message for message in messages}

    def locate_all(self, statements: Sequence[Note]) -> list[Located]:
        """Locate statements that are, at least nearly, in the order of events.

        Each is best placed at the message with most of its words, and going back costs. Of all placements the best is
        chosen, and of equal ones that with the newest messages.
        """
        scores = [self._scores(statement) for statement in statements]
        reached: list[float] = [0.0] * len(self._messages)
        came: list[list[int]] = []
        for row in scores:
            onward = _running_argmax(reached)
            back = [len(reached) - 1 - place for place in _running_argmax(reached[::-1])][::-1]
            came.append(
                [
                    ahead if reached[ahead] >= reached[behind] - BACKWARDS else behind
                    for ahead, behind in zip(onward, back, strict=True)
                ]
            )
            reached = [
                score + max(reached[ahead], reached[behind] - BACKWARDS)
                for score, ahead, behind in zip(row, onward, back, strict=True)
            ]
        place = max(range(len(reached)), key=lambda each: (reached[each], each))
        out: list[Located] = []
        for statement, steps_back in zip(reversed(statements), reversed(came), strict=True):
            given = [self._at[number] for number in sorted(set(statement.at)) if number in self._at]
            out.append(Located(statement=statement, messages=tuple(given) or (self._messages[place],)))
            place = steps_back[place]
        return out[::-1]

    @cached_property
    def _words_by_message(self) -> list[set[str]]:
        return [_words_of("\n".join(source_texts([message]))) for message in self._messages]

    @cached_property
    def _word_rarity(self) -> dict[str, float]:
        spread: dict[str, int] = {}
        for words in self._words_by_message:
            for word in words:
                spread[word] = spread.get(word, 0) + 1
        return {word: log(1 + len(self._messages) / number) for word, number in spread.items()}

    def _scores(self, statement: Note) -> list[float]:
        """How much each message supports a note, relative to the message that supports it most."""
        if any(number in self._at for number in statement.at):
            return [float(message.position in statement.at) for message in self._messages]
        wanted = _words_of(statement.text) & self._word_rarity.keys()
        scores = [sum(map(self._word_rarity.__getitem__, wanted & words)) for words in self._words_by_message]
        if statement.section == "asked":
            scores = [
                score if message.role == "user" and message.draft.origin == "spoken" else score * NOT_SAID
                for score, message in zip(scores, self._messages, strict=True)
            ]
        most = max(scores)
        return [score / most if most else 0.0 for score in scores]


BACKWARDS = 0.5
"""The penalty for locating a note before the note that precedes it, as a share of its score."""
NOT_SAID = 0.6
"""The weight of messages that the user did not say, for a note on a user's ruling."""


def _running_argmax(values: Sequence[float]) -> list[int]:
    """For each index the index of the largest value up to there; the last of equal ones."""
    out: list[int] = []
    best = 0
    for place, value in enumerate(values):
        best = place if value >= values[best] else best
        out.append(best)
    return out


def _words_of(text: str) -> set[str]:
    return {*terms(text), *artifacts(text)}


class NotesJudged(Judged, frozen=True, kw_only=True):
    """The rest of some notes after checking."""

    notes: tuple[Located, ...]


class NotesTask(WritingTask[NotesReply, list[Located], NotesJudged]):
    """The question for notes on a stretch, the check of the reply, and the assignment of notes to its blocks."""

    reply = NotesReply

    def __init__(self, job: NotesJob, count: Count, among: Sequence[Message] | None = None) -> None:
        """`among` are the messages that may support a note, if not all of the job's may."""
        self.job = job
        self.voice = job.voice
        self._count = count
        self._locator = Locator(job.messages if among is None else among)
        before = [line.text for _, line in (*job.before, *job.taken)]
        asked = [message.text for message in job.asked]
        self._grounds = Grounds(job.evidence, asked=asked, notes=before, voice=job.voice)
        self._grounds_at: dict[int, Grounds] = {}
        self._heard = Heard(job.evidence, job.asked, before)

    @cached_property
    def prompt(self) -> Prompt:
        """The question, with the messages, earlier notes, and earlier requests of the user."""
        job, count = self.job, self._count
        before = earlier_prompt(job, int(job.window * NOTES_SHARE), count)
        besides = FRAME_TOKENS + count(before) + int(job.words / WORDS_PER_TOKEN)
        room = max(job.window - besides, job.window // 2)
        prompt = NOTES.render(
            voice=VOICES[job.voice],
            before=before,
            messages=transcript(job.messages, room, count),
            disputes=dispute_prompt(job.disputes),
            words=str(job.words),
            all=_characters(job.words, CHARACTERS_PER_TOKEN),
            shown=str(int(job.shown_words * SURE_CHARACTERS / CHARACTERS_PER_TOKEN)),
            characters=_characters(job.shown_words, SURE_CHARACTERS),
        )
        return _limit_answer(prompt, NOTES, job.words)

    def parse(self, reply: NotesReply) -> list[Located]:
        """Parse the notes of a reply and locate their sources; other lines are kept as refused."""
        lines = [line for text in reply.notes for line in text.splitlines() if line.strip()]
        read = [self._accept_note(line, read_note(line)) for line in lines]
        refused = [Located(statement=each, messages=self.job.messages[-1:]) for each in read if each.refused]
        return [*self.locate([each for each in read if not each.refused]), *refused]

    def _accept_note(self, line: str, note: Note | None) -> Note:
        """A parsed note, or why it is refused: it is not a note, or cites messages that don't exist."""
        shown = clip(" ".join(line.split()), LINE_CHARACTERS)
        if note is None:
            why = f"The line “{shown}” is no note: that is a kind, a worth from 5 to 1 and a statement."
            return Note(kind="found", text=shown, refused=why)
        if note.at and not self._positions.intersection(note.at):
            return replace(note, refused=f"The line “{shown}” rests on messages that are not there.")
        return note

    @cached_property
    def _positions(self) -> frozenset[int]:
        return frozenset(each.position for each in (*self.job.evidence, *self.job.messages, *self.job.asked))

    def locate(self, notes: Sequence[Note]) -> list[Located]:
        """Find for each note the messages that support it."""
        return self._locator.locate_all(notes)

    def repair(self, answer: list[Located]) -> tuple[Prompt, list[Located]] | None:
        """A question about the important notes with faults, with only the messages that support these notes."""
        wrong = self._notes_to_repair(answer)
        if not wrong:
            return None
        asked = {id(each) for each, _ in wrong}
        cited = {message.position: message for each, _ in wrong for message in each.messages}
        room = max(min(REPAIR_TOKENS, int(self._count(self.prompt.user) * REPAIR_SHARE)), MIN_WORDS)
        notes = "\n".join(f"{_format_note(each)}\n  {' '.join(left.complaints)}" for each, left in wrong)
        prompt = NOTES_REPAIR.render(
            voice=VOICES[self.job.voice],
            messages=transcript([cited[place] for place in sorted(cited)], room, self._count),
            notes=notes,
        )
        words = sum(len(each.statement.text.split()) + 12 for each, _ in wrong)
        return _limit_answer(prompt, NOTES_REPAIR, words), [each for each in answer if id(each) not in asked]

    def repaired(self, rest: list[Located], again: list[Located]) -> list[Located]:
        """Join the notes that the model was not asked for again, and the new ones."""
        return [*rest, *again]

    def judge(self, answer: Sequence[Located]) -> NotesJudged:
        """Strike what the sources don't support; if most of the notes are struck, nothing is trusted."""
        foreign = self._foreign_language(answer)
        kept: list[Located] = []
        complaints = [foreign] if foreign else []
        struck = lost = 0
        for each in answer:
            left = self._strike_note(each)
            complaints += _strike_complaints(left)
            struck += bool(left.complaints)
            lost += not left.text
            if left.text:
                kept.append(replace(each, statement=replace(each.statement, text=left.text)))
        trusted = bool(kept) and not foreign and lost <= MAX_STRUCK * len(answer)
        notes = tuple(kept) if trusted else ()
        return NotesJudged(
            complaints=tuple(complaints),
            struck=struck,
            trusted=trusted,
            notes=notes,
        )

    def supported_share(self, answer: Sequence[Located]) -> float:
        """The share of the claims that the sources support; 1 if nothing can be checked."""
        return supported_rate("\n".join(each.statement.text for each in answer), self._grounds.shown)

    def texts(self, judged: NotesJudged, writing: Writing) -> tuple[Sequence[Summary], Sequence[str]]:
        """Give each note to the block that covers its sources; notes after the last block wait for their own."""
        job = self.job
        last = job.messages[-1].position
        seen = replace(writing, seen_first=job.messages[0].position, seen_last=last)
        unpaid = replace(seen, tokens_in=0, tokens_out=0)
        lines = sorted(_note_lines(job, judged.notes), key=lambda each: each[1].position)
        out: list[Summary] = []
        begin = 0
        for number, block in enumerate(job.blocks):
            is_last = number == len(job.blocks) - 1 and not job.waits
            end = last if is_last else block.last_position
            own = [(name, line) for name, line in (*job.taken, *lines) if begin <= line.position <= end]
            begin = block.last_position + 1
            disputes = [each for each in job.disputes if each.about == block.stretch]
            text = as_text(block, disputes, job.voice)
            sections = tuple(note_sections(block, own, lambda _: True)) if judged.trusted else text.sections
            paid = replace(unpaid if out else seen, disputes=tuple(each.id for each in disputes))
            out.append(replace(text, sections=sections, writing=paid))
        if job.waits and judged.trusted:
            rest = [message for message in job.messages if message.position >= begin]
            own = [(name, line) for name, line in lines if line.position >= begin]
            out.append(_waiting_record(job, rest, own, unpaid if out else seen))
        return out, ()

    def _strike_note(self, located: Located) -> Struck:
        """Check one note against the outcomes up to the end of its block; a note on the state against all outcomes."""
        note, end = located.statement, self.job.messages[-1].position
        if note.refused:
            return Struck(text="", complaints=(note.refused,))
        if note.section != "status":
            ends = (block.last_position for block in self.job.blocks if located.position <= block.last_position)
            end = next(ends, end)
        if end not in self._grounds_at:
            grounds = copy(self._grounds)
            known = last_outcomes([each for each in self.job.evidence if each.position <= end])
            named = {each.subject for each in known}
            grounds.outcomes = [*(each for each in self._never_failed if each.subject not in named), *known]
            self._grounds_at[end] = grounds
        grounds = copy(self._grounds_at[end])
        grounds.besides = lambda text: self._faults_besides(text, note)
        places = {message.position for message in located.messages} if note.at else set()
        beside = {place + step for place in places for step in (-1, 0, 1)}
        cited = [message for message in self.job.evidence if message.position in beside]
        if note.kind == "ruled" and not self._heard.is_spoken_of(note.text):
            return Struck(text="", complaints=(NOT_RULED,), parts=(note.text,))
        struck = strike_unsupported(note.text, grounds, status=note.section == "status", cited=cited)
        if note.kind == "ruled" and struck.complaints:
            # What is left of a ruling forbids or asks for more than the whole did.
            return Struck(text="", complaints=struck.complaints[:1], parts=(note.text,))
        return struck

    def _faults_besides(self, text: str, note: Note) -> list[str]:
        """What a sentence or clause of a note wrongly says of the user, or of what is committed at the end."""
        saved = note.section == "status" and _RULINGS.told_saved.search(text) and self._uncommitted
        return [*self._heard.faults(text), *([f"It says that all is committed. {self._uncommitted}"] if saved else [])]

    @cached_property
    def _uncommitted(self) -> str:
        """What was changed and not committed, as far as the messages show."""
        shown = shown_state(state_lines(steps(self.job.evidence)))
        return next((line.text for line in shown if line.text.startswith(SINCE_COMMIT)), "")

    @cached_property
    def _never_failed(self) -> list[LastOutcome]:
        """The commands that only ever passed, whenever a note says that they failed."""
        return [each for each in last_outcomes(self.job.evidence) if not (each.failed or each.otherwise)]

    def _foreign_language(self, answer: Sequence[Located]) -> str:
        """A complaint about notes that are not in the agent's language; empty if they are."""
        text = " ".join(each.statement.text for each in answer)
        own = [message for message in self.job.messages if message.role in ("assistant", "user")]
        said = [*_spoken_texts(own), *_spoken_texts(self.job.asked)] or _spoken_texts(self.job.messages)
        language = other_language(text, " ".join(said))
        return f"It is in {language}, and the agent wrote in another language." if language else ""

    def _notes_to_repair(self, answer: Sequence[Located]) -> list[tuple[Located, Struck]]:
        """The notes with faults that are worth asking for again."""
        if self._foreign_language(answer):
            return []
        wrong = [(each, left) for each in answer if (left := self._strike_note(each)).complaints]
        if len(wrong) > MAX_STRUCK * len(answer):
            return []
        wrong = [(each, left) for each, left in wrong if not each.statement.refused]
        worthy = [
            (each, left) for each, left in wrong if each.statement.worth >= (MIN_REPAIRED if left.text else MIN_LOST)
        ]
        return worthy[:MAX_FAULTS]


def _strike_complaints(left: Struck) -> list[str]:
    """The parts struck from one note, and why; empty if nothing was struck."""
    struck = [f"“{clip(part, LINE_CHARACTERS)}”" for part in left.parts if part]
    why = " ".join(left.complaints)
    return [f"{', '.join(struck)}: {why}" if struck else why] if why else []


def _characters(words: int, per_token: float) -> str:
    return f"{int(words / WORDS_PER_TOKEN * per_token):,}"


def _spoken_texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if message.text.strip()]


def earlier_prompt(job: NotesJob, room: int, count: Count) -> str:
    """The part of a prompt about what came before: the last requests, and the most important notes with their ids."""
    told: list[str] = []
    if job.asked:
        requests = [clip(" ".join(message.text.split()), REQUEST_CHARACTERS) for message in job.asked]
        told += ["What the user asked for before:", *(f"- {quote_instructions(each)}" for each in requests), ""]
    notes = weightiest(job.before, room, count)
    if notes:
        told += [
            "The notes taken before, each with its id; do not repeat them. Where one no longer holds, put its id into "
            "the brackets of the note that takes its place, such as [52,n4fa2]:",
            *notes,
            "",
        ]
    return "\n".join(told)


def weightiest(notes: Noted, room: int, count: Count) -> list[str]:
    """Choose the notes with the most weight that fit into `room`, and write them in order, each after its id."""
    lines = [f"[{note_id(line.text)}] {quote_instructions(line.text)}" for _, line in notes]
    best = sorted(range(len(lines)), key=lambda place: (-notes[place][1].weight, -notes[place][1].position))
    return [lines[place] for place in fitting_indices(lines, best, room, count)]


def _limit_answer(prompt: Prompt, text: PromptText, words: int) -> Prompt:
    """Limit the answer to twice as many words as were asked for."""
    return replace(prompt, max_tokens=max(min(int(2 * words / WORDS_PER_TOKEN), text.max_tokens), 400))


def _format_note(each: Located) -> str:
    statement = each.statement
    numbers = ",".join(str(message.position) for message in each.messages)
    return f"{statement.kind} {statement.worth} [{numbers}] {statement.text}"


MOST_SOURCES = 12
"""How many messages are stored as the sources of a note, the last ones."""


def _note_lines(job: NotesJob, statements: Iterable[Located]) -> Iterator[tuple[SectionName, Line]]:
    known = {note_id(line.text): line for _, line in job.before}
    for each in statements:
        sources: tuple[MessageId, ...] = tuple(message.id for message in each.messages[-MOST_SOURCES:])
        # A note on the state describes the end, whatever it is based on.
        position = job.messages[-1].position if each.statement.section == "status" else each.position
        yield each.statement.section, line_of(each.statement, each.messages[0].position, position, sources)
        for name in each.statement.replaces:
            if name in known:
                yield "replaced", Line(text=known[name].text, position=each.position)


def _waiting_record(job: NotesJob, messages: Sequence[Message], lines: Noted, writing: Writing) -> Summary:
    """Make a record of the notes on `messages` that no block covers yet."""
    summarizer = waiting_summarizer(job.policy.summarizer, job.voice)
    bare = summary_of("turn", WAITING_DEPTH, messages, (), summarizer)
    return replace(bare, writing=writing, sections=tuple(note_sections(bare, lines, lambda _: True)))
