"""Plan and carry out an erasure, with the summaries, annotations, runs and memories that depend on erased content."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.provenance import update_staleness
from ireneo.engine.tree import all_annotations, all_messages, all_summaries
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Call, Media, Message, MessageId, Opaque, Part, Result, Text, Thinking, erase, strings
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.memories.kinds import KINDS
from ireneo.memories.mentions import names_in_text
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.patterns import lazy_re
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Lease, Rebuild, Transaction
from ireneo.summaries.summary import Summary, SummaryId

_WORD = lazy_re(r"\w+")
_SENTENCE = lazy_re(r"(?:\A|[.!?:;\n]\s{0,200}+[\"'“‘(\[*-]{0,8}+\s{0,200}+)(\w+)")
SHORTEST = 4
"""Shorter words without a digit are too common to identify a text."""


def distinctive_words(text: str) -> set[str]:
    """The distinctive words of a text, case-folded."""
    return {word for word in _WORD.findall(text.casefold()) if len(word) >= SHORTEST or any(map(str.isdigit, word))}


def identifying_words(text: str) -> set[str]:
    """The words that look like names, numbers or identifiers, which don't occur by chance."""
    opens = {found.start(1) for found in _SENTENCE.finditer(text)}
    return {
        word.casefold()
        for found in _WORD.finditer(text)
        if (word := found[0])
        and (
            "_" in word
            or any(map(str.isdigit, word))
            or any(map(str.isupper, word[1:]))
            or (word[0].isupper() and found.start() not in opens)
        )
    } & distinctive_words(text)


class ErasedWords(Struct, frozen=True, kw_only=True):
    """The words of the erased texts."""

    all: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    """The words that occur in no remaining text."""
    identifying: frozenset[str] = frozenset()

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> ErasedWords:
        """The words of `texts`, assuming that nothing else contains them."""
        every: set[str] = set()
        marked: set[str] = set()
        for text in texts:
            every |= distinctive_words(text)
            marked |= identifying_words(text)
        return cls(all=frozenset(every), alone=frozenset(every), identifying=frozenset(marked))

    def without(self, texts: Iterable[str]) -> ErasedWords:
        """These words, given that `texts` remain."""
        alone = set(self.alone)
        for text in texts:
            if not alone:
                break
            alone -= distinctive_words(text)
        return replace(self, alone=frozenset(alone))

    def union(self, other: ErasedWords) -> ErasedWords:
        """The words of both."""
        return ErasedWords(
            all=self.all | other.all, alone=self.alone | other.alone, identifying=self.identifying | other.identifying
        )

    def may_contain(self, text: str) -> bool:
        """Whether a word of `text` can only come from erased content; enough for a text that can be made again."""
        return bool(self.alone) and not self.alone.isdisjoint(distinctive_words(text))

    def is_source_of(self, text: str) -> bool:
        """Whether `text`, written by a person or a model, derives from erased content.

        It does if it contains an erased name, number or identifier that occurs nowhere else, or if half of its words
        are erased ones and one of them occurs nowhere else. A single shared plain word proves nothing.
        """
        own = distinctive_words(text)
        only = own & self.alone
        return bool(only & self.identifying) or (bool(only) and 2 * len(own & self.all) >= len(own))


class SubjectName:
    """The name of a subject, matched as whole words regardless of case and of the ending of a possessive."""

    def __init__(self, name: str) -> None:
        self.text = name

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether any of `texts` contains the name."""
        return any(names_in_text(self.text, text) for text in texts)


def spoken_texts(message: Message) -> Iterator[str]:
    """Every text in the parts of a message, including arguments, authors and listeners."""
    return _part_texts(message.parts)


def all_texts(message: Message) -> Iterator[str]:
    """Every text of a message, including its native payload, log record and source id."""
    yield from spoken_texts(message)
    for piece in (message.draft.native, message.draft.record):
        if piece is not None:
            yield from strings(piece.payload, named=True)
    if message.draft.source_id:
        yield message.draft.source_id


def _part_texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text
            yield from filter(None, (part.author, *(part.present or ())))
        elif isinstance(part, Thinking):
            yield part.text
        elif isinstance(part, Call):
            yield from strings(part.arguments, named=True)
        elif isinstance(part, Result):
            yield from _part_texts(part.parts)
        elif isinstance(part, Media):
            yield from filter(None, (part.name, part.url))
        elif isinstance(part, Opaque):
            yield from strings(part.payload, named=True)


def _texts_in(value: object) -> Iterator[str]:
    """Every string in a value of ours, without its field names."""
    return strings(msgspec.to_builtins(value))


CHUNK = 500
"""Ids per query."""


class RunChanges(Struct, frozen=True, kw_only=True):
    """The changes to learned runs, and to the files they came from."""

    runs: tuple[str, ...] = ()
    """The sessions whose runs are removed, with all their observations."""
    shown: int = 0
    """How many observations are removed, in runs that are removed and in others."""
    less: tuple[tuple[LearnedRun, tuple[Observation, ...]], ...] = ()
    """The runs that lose some observations, with the observations that they keep."""
    files: tuple[LearnedFile, ...] = ()
    """Files whose ledger entry is removed, so that they are learned from again."""
    unnamed: tuple[LearnedFile, ...] = ()
    """Ledger entries that remain, without their name, so that the file is not learned from again."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.runs or self.less or self.files or self.unnamed)


def run_changes(
    tx: Transaction,
    space: str,
    *,
    whole: Collection[str],
    touched: Collection[str],
    cues: Collection[str],
    name: SubjectName | None,
) -> RunChanges:
    """Find the learned runs and files that are removed with erased sessions and lessons.

    The runs of sessions erased as a `whole` are removed. A session that lost a message (`touched`) is learned from
    again, so its run and the record of its file are removed. For each of the `cues` of erased lessons all observations
    are removed, but not the runs. Whatever contains `name` is removed too.
    """
    gone: list[str] = []
    less = []
    shown = 0
    for run in tx.runs.list(space):
        seen = tx.runs.of_run(space, run.session)
        if run.session in whole or run.session in touched or (name and name.is_in(_texts_in((run, *seen)))):
            gone.append(run.session)
            shown += len(seen)
        elif any(each.cue in cues for each in seen):
            kept = tuple(each for each in seen if each.cue not in cues)
            less.append((run, kept))
            shown += len(seen) - len(kept)
    again = {*touched, *gone}.difference(whole)
    files = []
    unnamed = []
    for file in tx.ledger.list(space):
        if not again.isdisjoint(file.sessions):
            files.append(file)
        elif not set(whole).isdisjoint(file.sessions) or (name and name.is_in([file.name, *file.sessions])):
            left = tuple(each for each in file.sessions if each not in whole and not (name and name.is_in([each])))
            unnamed.append(replace(file, name="", sessions=left))
    return RunChanges(runs=tuple(gone), shown=shown, less=tuple(less), files=tuple(files), unnamed=tuple(unnamed))


def all_runs(tx: Transaction, space: str) -> RunChanges:
    """Every run and ledger entry of a space that is erased."""
    runs = [run.session for run in tx.runs.list(space)]
    shown = sum([len(tx.runs.of_run(space, session)) for session in runs])
    return RunChanges(runs=tuple(runs), shown=shown, files=tuple(tx.ledger.list(space)))


class EvidenceTrace:
    """Follows lost sources from memory to memory."""

    def __init__(
        self,
        tx: Transaction,
        space: str,
        *,
        sources: Collection[str] = (),
        sessions: Collection[str] = (),
        erased: ErasedWords | None = None,
        stay: Collection[str] = (),
    ) -> None:
        """Count evidence from `sources` or `sessions` as lost, and words that occur only in `erased` texts.

        `sources` are ids of messages, summaries and memories; `stay` are ids of memories that stay without them.
        """
        self._stay = stay
        self._tx = tx
        self._space = space
        self._sources = sources
        self._sessions = sessions
        self._erased = erased or ErasedWords()
        self._gone: dict[MemoryId, Record] = {}
        self._left: dict[MemoryId, Record] = {}

    def follow(
        self, meant: Sequence[Record], of_sessions: Sequence[Record] = ()
    ) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
        """Find what is erased with the memories `meant` and with lost sources.

        Returns the memories that go, and those that remain, without the evidence that they lost. `of_sessions` are the
        memories with evidence from a lost session, whether or not they name a message of it.
        """
        self._gone.update((record.id, record) for record in meant)
        self._remove_evidence(of_sessions)
        asked: set[str] = set()
        while new := sorted({*self._sources, *self._gone} - asked):
            asked.update(new)
            for start in range(0, len(new), CHUNK):
                self._remove_evidence(self._tx.memories.citing(self._space, new[start : start + CHUNK]))
        lessened = tuple(record for name, record in self._left.items() if name not in self._gone)
        return tuple(self._gone.values()), lessened

    def _remove_evidence(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.id in self._gone:
                continue
            left = self._without_lost(self._left.get(record.id, record))
            if left is None or (record.id not in self._stay and self._worded_by_erased(left)):
                self._gone[record.id] = record
            elif left.evidence != record.evidence:
                self._left[record.id] = left

    def _without_lost(self, record: Record) -> Record | None:
        """Return the memory without the lost evidence; None if none is left, or only retractions that were derived."""
        stays = record.id in self._stay
        pieces = [left for piece in record.evidence if (left := self._evidence_left(piece, stays=stays)) is not None]
        if tuple(pieces) == record.evidence:
            return record
        if all(map(_is_retraction, pieces)):
            return None
        return replace(
            record,
            evidence=tuple(pieces),
            seen=max(record.seen - (len(record.evidence) - len(pieces)), len(pieces)),
            at=pieces[0].at,
            recorded=min(piece.recorded for piece in pieces),
            # Both may quote erased content; settling the key writes them again.
            reason="",
            stale="",
        )

    def _evidence_left(self, piece: Evidence, *, stays: bool) -> Evidence | None:
        if piece.session and piece.session in self._sessions:
            return None
        left = replace(
            piece,
            messages=tuple(name for name in piece.messages if name not in self._sources),
            summaries=tuple(name for name in piece.summaries if name not in self._sources),
            memories=tuple(name for name in piece.memories if name not in self._gone),
        )
        return left if stays or left.sources or not piece.sources else None

    def _worded_by_erased(self, left: Record) -> bool:
        """Whether the memory's words can't come from its remaining evidence."""
        texts = list(memory_texts(left))
        erased = self._erased
        if not any(map(erased.may_contain, texts)) or not all(piece.sources for piece in left.evidence):
            return False
        others = list(self._source_texts(left))
        return any(map(erased.without(others).may_contain, texts))

    def _source_texts(self, record: Record) -> Iterator[str]:
        infos = self._tx.sessions.list(self._space)
        for piece in record.evidence:
            keys = [SessionKey(self._space, piece.session)] if piece.session else [info.key for info in infos]
            for key in keys:
                for message in self._tx.log.find(key, piece.messages):
                    yield from spoken_texts(message)
                for summary in self._tx.summaries.get(key, [SummaryId(name) for name in piece.summaries]):
                    yield from _texts_in(summary.sections)
            for other in self._tx.memories.get(self._space, piece.memories):
                if other.id not in self._gone:
                    yield from memory_texts(other)


def remove_memories(tx: Transaction, space: str, records: Sequence[Record], changed: Sequence[Record] = ()) -> None:
    """Remove memories and those derived only from them, and settle the rest; `changed` were already stored."""
    gone, lessened = EvidenceTrace(tx, space).follow(records)
    tx.memories.remove(space, [each.id for each in gone])
    tx.memories.put(space, lessened)
    settle_remaining(tx, space, gone, (*changed, *lessened))


def settle_remaining(tx: Transaction, space: str, gone: Sequence[Record], lessened: Sequence[Record]) -> None:
    """Settle every key that an erasure touched from the remaining evidence.

    Conclusions from memories that are no longer true become stale; those from memories true again no longer are.
    """
    touched = dict.fromkeys((record.kind, record.key) for record in (*gone, *lessened))
    fallen: list[MemoryId] = []
    for kind, key in touched:
        under = tx.memories.of_key(space, kind, key)
        if not under:
            continue
        before = {record.id: record for record in under}
        after = [record for record in KINDS[kind].settle(under) if record != before[record.id]]
        tx.memories.put(space, after)
        fallen += [record.id for record in after if record.state != before[record.id].state]
    drawn = tx.memories.get(space, [record.id for record in lessened])
    update_staleness(tx, space, fallen, drawn)


def _is_retraction(piece: Evidence) -> bool:
    """Whether a piece only retracts a conclusion that lost its sources, on which alone nothing can be based."""
    return piece.against and piece.origin == "derived" and not piece.sources


def memory_texts(record: Record) -> Iterator[str]:
    """Every text of a memory."""
    said = (record.text, record.value, record.subject, record.attribute, record.name, record.task_type)
    yield from filter(None, (*said, record.signature, record.key, record.cue, record.drawn))
    yield from _texts_in(record.conditions)


def pad_texts(pad: Pad) -> Iterator[str]:
    """Every text of a scratchpad."""
    yield from filter(None, (pad.task, pad.goal, *(item.text for item in pad.plan), *pad.facts, *pad.questions))


class SessionErasure(Struct, frozen=True, kw_only=True):
    """The parts of one session that are erased."""

    key: SessionKey
    whole: bool = False
    """Whether the session itself is erased, with all of its content."""
    messages: tuple[Message, ...] = ()
    """The messages to erase, as they are now."""
    summaries: tuple[SummaryId, ...] = ()
    remade: tuple[SummaryId, ...] = ()
    """Summaries made without a model of later messages. They say nothing about erased content, but are removed and
    made again, since such summaries must follow each other without a gap. Texts that models wrote about the same
    stretches stay, and are shown again."""
    annotations: tuple[AnnotationId, ...] = ()
    marks: tuple[Rebuild, ...] = ()
    leases: tuple[Lease, ...] = ()


class ErasurePlan(Struct, frozen=True, kw_only=True):
    """Everything that an erasure removes from a space."""

    sessions: tuple[SessionErasure, ...] = ()
    memories: tuple[Record, ...] = ()
    """Memories that are erased."""
    lessened: tuple[Record, ...] = ()
    """Memories that lose some of their evidence, with the evidence that they keep, before they are settled."""
    pads: tuple[str, ...] = ()
    """The tasks whose scratchpads are erased."""
    taught: RunChanges = RunChanges()
    everything: bool = False
    """Whether the whole space is erased."""
    note: str = ""
    """For the receipt."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        kept = self.sessions or self.memories or self.lessened or self.pads
        return not (kept or self.everything) and self.taught.is_empty


def carry_out(tx: Transaction, space: str, plan: ErasurePlan) -> None:
    """Carry out an erasure. Memories that lost a source must still be settled (`settle_remaining`)."""
    tx.erasure.begin()
    for each in plan.sessions:
        if each.whole:
            tx.erasure.session(each.key)
        else:
            tx.erasure.messages(each.key, [erase(message) for message in each.messages])
            tx.upkeep.discard(each.key, [*each.summaries, *each.remade])
            tx.erasure.notes(each.key, each.annotations, each.marks)
            for lease in each.leases:
                tx.leases.forget(each.key, lease.work)
    tx.memories.remove(space, [record.id for record in plan.memories])
    tx.memories.put(space, plan.lessened)
    for task in plan.pads:
        tx.pads.remove(space, task)
    for session in plan.taught.runs:
        tx.runs.remove(space, session)
    for run, observations in plan.taught.less:
        tx.runs.put(space, run, observations)
    tx.ledger.remove(space, plan.taught.files)
    for file in plan.taught.unnamed:
        tx.ledger.mark(space, file)
    if plan.everything:
        tx.erasure.space(space)


def session_erasure(
    tx: Transaction, key: SessionKey, gone: Sequence[Message], name: SubjectName | None
) -> tuple[SessionErasure, ErasedWords]:
    """Everything to remove from a session with the messages `gone` and whatever contains `name`; and its words."""
    ids = {message.id for message in gone}
    erased = ErasedWords.from_texts(text for message in gone for text in spoken_texts(message))
    for message in all_messages(tx, key):
        if message.id not in ids and erased.alone:
            erased = erased.without(spoken_texts(message))
    notes = [
        each
        for each in all_annotations(tx, key)
        if _derives_from_erased(each, ids, erased, name) or _covers(tx, key, each, gone)
    ]
    summaries, remade = _summaries(tx, key, gone, erased, name, {each.id for each in notes})
    lost = {*summaries, *(each.id for each in notes)}
    marks = [mark for mark in tx.rebuilds.of_session(key) if not lost.isdisjoint(mark.taken_up)]
    leases = [
        lease
        for lease in tx.leases.of_session(key)
        if lease.work in lost or erased.may_contain(lease.error) or (name and name.is_in([lease.error]))
    ]
    found = SessionErasure(
        key=key,
        messages=tuple(gone),
        summaries=tuple(summaries),
        remade=tuple(remade),
        annotations=tuple(each.id for each in notes),
        marks=tuple(marks),
        leases=tuple(leases),
    )
    return found, erased


def _covers(tx: Transaction, key: SessionKey, note: Annotation, gone: Sequence[Message]) -> bool:
    """Whether a wording set by hand for a stretch covers a message that is gone."""
    near = [each for each in gone if 0 <= note.since <= each.position <= note.at_position]
    if not near or note.kind != "wording":
        return False
    stretch = {each.id for each in tx.log.path(key, note.at, note.since, note.at_position)}
    return any(each.id in stretch for each in near)


def _derives_from_erased(
    note: Annotation, ids: Collection[MessageId], erased: ErasedWords, name: SubjectName | None
) -> bool:
    """Whether an annotation's source is erased, or its text derives from erased content."""
    if note.source in ids or (name and name.is_in([note.text, note.claim, note.who, note.whom, *note.known_to])):
        return True
    comes = erased.may_contain if note.by == "model" else erased.is_source_of
    return comes(note.text) or erased.may_contain(note.claim)


def _summaries(
    tx: Transaction,
    key: SessionKey,
    gone: Sequence[Message],
    erased: ErasedWords,
    name: SubjectName | None,
    notes: Collection[str],
) -> tuple[list[SummaryId], list[SummaryId]]:
    """The summaries that cover, name or retell a `gone` message, and those that must be made again.

    Summaries written from a removed one are removed too, transitively.
    """
    covers = _Coverage(tx, key, gone)
    ids = {message.id for message in gone}
    out: dict[SummaryId, None] = {}
    rest: list[Summary] = []
    for summary in all_summaries(tx, key):
        told = list(_texts_in((summary.sections, summary.threads)))
        by_words = any(map(erased.may_contain, told)) or (name is not None and name.is_in(told))
        if by_words or not ids.isdisjoint(told) or covers(summary):
            out[summary.id] = None
        else:
            rest.append(replace(summary, sections=(), threads=type(summary.threads)()))
    lost = {*out, *notes}
    bases = {each.id: {*each.sources, *(each.writing.disputes if each.writing else ())} for each in rest}
    while found := [each for each in rest if not lost.isdisjoint(bases[each.id])]:
        out.update((each.id, None) for each in found)
        lost |= out.keys()
        rest = [each for each in rest if each.id not in out]
    return list(out), [each.id for each in rest if each.writing is None and covers.starts_after_erased(each)]


class _Coverage:
    """Positions of some messages, compared with the stretches of summaries."""

    def __init__(self, tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> None:
        self._tx = tx
        self._key = key
        self._at: dict[int, set[MessageId]] = {}
        for message in sorted(messages, key=lambda each: each.position):
            self._at.setdefault(message.position, set()).add(message.id)

    def __call__(self, summary: Summary) -> bool:
        """Whether the summary covers one of the messages, or was written with one in view."""
        first, last = summary.first_position, summary.last_position
        if summary.writing is not None and summary.writing.seen_first >= 0:
            first = min(first, summary.writing.seen_first)
            # Messages that were seen after its end may be on any branch.
            if any(last < place <= summary.writing.seen_last for place in self._at):
                return True
        return self._has_erased_between(summary, first, last)

    def starts_after_erased(self, summary: Summary) -> bool:
        """Whether one of the messages precedes what the summary covers."""
        return self._has_erased_between(summary, 0, summary.first_position - 1)

    def _has_erased_between(self, summary: Summary, first: int, last: int) -> bool:
        for position in [place for place in self._at if first <= place <= last]:
            (stands,) = self._tx.log.path(self._key, summary.last, position, position)
            if stands.id in self._at[position]:
                return True
        return False
