"""What goes with what is erased: its words wherever they stand, summaries, notes, runs and memories.

Planned before any of it is done.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.provenance import update_staleness
from ireneo.engine.tree import tree_paths
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Call, Head, Media, Message, MessageId, Opaque, Part, Result, Text, Thinking
from ireneo.log.redaction import erase
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.patterns import lazy_re
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Lease, Rebuild, Transaction
from ireneo.summaries.summary import Summary, SummaryId

_WORD = lazy_re(r"\w+")
_SENTENCE = lazy_re(r"(?:\A|[.!?:;\n]\s{0,200}+[\"'“‘(\[*-]{0,8}+\s{0,200}+)(\w+)")
SHORTEST = 4
"""Shorter words without a digit stand everywhere, and tell nothing."""


def words(text: str) -> set[str]:
    """The words of a text that tell something, without regard to case."""
    return {word for word in _WORD.findall(text.casefold()) if len(word) >= SHORTEST or any(map(str.isdigit, word))}


def striking(text: str) -> set[str]:
    """Those of its words that are names, numbers or identifiers by their looks: nobody says them by chance."""
    opens = {found.start(1) for found in _SENTENCE.finditer(text)}
    return {
        word.casefold()
        for found in _WORD.finditer(text)
        if (word := found[0]) and (_is_odd(word) or (word[0].isupper() and found.start() not in opens))
    } & words(text)


def _is_odd(word: str) -> bool:
    return "_" in word or any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))


class ErasedWords(Struct, frozen=True, kw_only=True):
    """The words of what is erased."""

    all: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    """Those that stand in nothing that stays."""
    striking: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> ErasedWords:
        """The words of `texts`, none of which is known to stand elsewhere."""
        every: set[str] = set()
        marked: set[str] = set()
        for text in texts:
            every |= words(text)
            marked |= striking(text)
        return cls(all=frozenset(every), alone=frozenset(every), striking=frozenset(marked))

    def without(self, texts: Iterable[str]) -> ErasedWords:
        """The same, where `texts` stay."""
        alone = set(self.alone)
        for text in texts:
            if not alone:
                break
            alone -= words(text)
        return replace(self, alone=frozenset(alone))

    def and_of(self, other: ErasedWords) -> ErasedWords:
        """The words of both."""
        return ErasedWords(
            all=self.all | other.all, alone=self.alone | other.alone, striking=self.striking | other.striking
        )

    def in_part(self, text: str) -> bool:
        """Whether any word of `text` can only come from what is erased: enough where it can be made again."""
        return not self.alone.isdisjoint(words(text))

    def is_source_of(self, text: str) -> bool:
        """Whether `text`, which somebody wrote, comes from what is erased.

        It has a name, a number or an identifier that stands nowhere else, or half of its words are from there and one
        of them is from nowhere else: a plain word that both use by chance is no reason to take it out.
        """
        own = words(text)
        only = own & self.alone
        return bool(only & self.striking) or (bool(only) and 2 * len(own & self.all) >= len(own))


class SubjectName:
    """A subject as it may be named in texts: as whole words, without regard to case."""

    def __init__(self, name: str) -> None:
        """Look for `name`."""
        self.text = name
        pieces = [re.escape(piece) for piece in name.casefold().split()]
        self._said = re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)")

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether any of `texts` names it."""
        return any(self._said.search(text.casefold()) for text in texts)


def said(message: Message) -> Iterator[str]:
    """Every text in a message: what is said, thought and done, who speaks and who hears."""
    return _of_parts(message.parts)


def written(message: Message) -> Iterator[str]:
    """Every text of a message, those among them that its provider and its log wrote besides."""
    yield from said(message)
    for piece in (message.draft.native, message.draft.record):
        if piece is not None:
            yield from strings(piece.payload)
    if message.draft.source_id:
        yield message.draft.source_id


def _of_parts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text
            yield from filter(None, (part.author, *(part.present or ())))
        elif isinstance(part, Thinking):
            yield part.text
        elif isinstance(part, Call):
            yield from strings(part.arguments)
        elif isinstance(part, Result):
            yield from _of_parts(part.parts)
        elif isinstance(part, Media):
            yield from filter(None, (part.name, part.url))
        elif isinstance(part, Opaque):
            yield from strings(part.payload)


def strings(value: object, *, named: bool = True) -> Iterator[str]:
    """Every text in a value as JSON has it, the names of its fields included unless these are ours."""
    if isinstance(value, str):
        yield value
        return
    if isinstance(value, Mapping):
        if named:
            yield from map(str, value)
        value = tuple(value.values())
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:
            yield from strings(inner, named=named)


def values(value: object) -> Iterator[str]:
    """Every text in a value of ours, without the names of its fields."""
    return strings(msgspec.to_builtins(value), named=False)


CHUNK = 500
"""What is read at a time."""


def heads_of(tx: Transaction, key: SessionKey) -> list[Head]:
    """Where the paths of a session end: its branches, and the ends that were abandoned."""
    branches = tx.sessions.branches(key)
    return [*(head for head in branches.values() if head is not None), *reversed(tx.upkeep.abandoned_heads(key))]


def all_messages(tx: Transaction, key: SessionKey, *, whole: bool = False) -> Iterator[Message]:
    """Every message of a session; with `whole`, as its provider and its log wrote it besides."""
    for path in tree_paths(tx, key, [("", head) for head in heads_of(tx, key)]):
        for first in range(path.first, path.head.position + 1, CHUNK):
            last = min(first + CHUNK - 1, path.head.position)
            read = tx.log.path(key, path.head.id, first, last)
            drafts = tx.log.drafts(key, [message.id for message in read]) if whole else {}
            for message in read:
                yield replace(message, draft=drafts[message.id]) if message.id in drafts else message


def all_summaries(tx: Transaction, key: SessionKey) -> Iterator[Summary]:
    """Every summary of a session."""
    ids = tx.upkeep.summaries(key)
    for start in range(0, len(ids), CHUNK):
        yield from tx.summaries.get(key, ids[start : start + CHUNK])


def all_annotations(tx: Transaction, key: SessionKey) -> list[Annotation]:
    """Every annotation of a session, on whatever path."""
    found: dict[str, Annotation] = {each.id: each for each in tx.annotations.on_path(key, None)}
    for head in heads_of(tx, key):
        found.update((each.id, each) for each in tx.annotations.on_path(key, head.id))
    return list(found.values())


class RunChanges(Struct, frozen=True, kw_only=True):
    """What becomes of the runs and of the files that they came from."""

    runs: tuple[str, ...] = ()
    """The sessions whose runs go, with all that they showed."""
    shown: int = 0
    """How many observations go, of runs that go and of runs that stay."""
    less: tuple[tuple[LearnedRun, tuple[Observation, ...]], ...] = ()
    """The runs that stay, with the observations that they keep."""
    files: tuple[LearnedFile, ...] = ()
    """Those whose mark goes, so that they are read again."""
    unnamed: tuple[LearnedFile, ...] = ()
    """The marks that stay without a name, so that what was forgotten is not read again from the same file."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing becomes of them."""
        return not (self.runs or self.less or self.files or self.unnamed)


def taught_by(
    tx: Transaction,
    space: str,
    *,
    whole: Collection[str],
    touched: Collection[str],
    cues: Collection[str],
    name: SubjectName | None,
) -> RunChanges:
    """What goes with the sessions that go `whole`, those that lose a message (`touched`), and forgotten lessons.

    A session that lost a message is learned from again from what is left, so its run goes and its file may be read
    again. With a lesson goes what each run showed of its claim. What names `name` goes as well.
    """
    gone: list[str] = []
    less = []
    shown = 0
    for run in tx.runs.list(space):
        seen = tx.runs.of_run(space, run.session)
        if run.session in whole or run.session in touched or (name and name.is_in(values((run, *seen)))):
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


def all_taught(tx: Transaction, space: str) -> RunChanges:
    """All that runs taught a space, where it goes whole."""
    runs = [run.session for run in tx.runs.list(space)]
    shown = sum([len(tx.runs.of_run(space, session)) for session in runs])
    return RunChanges(runs=tuple(runs), shown=shown, files=tuple(tx.ledger.list(space)))


def unlearn(tx: Transaction, space: str, taught: RunChanges) -> None:
    """Take out all that is planned."""
    for session in taught.runs:
        tx.runs.remove(space, session)
    for run, observations in taught.less:
        tx.runs.put(space, run, observations)
    tx.ledger.remove(space, taught.files)
    for file in taught.unnamed:
        tx.ledger.mark(space, file)


class LostSources(Struct, frozen=True, kw_only=True):
    """What evidence can no longer name."""

    sources: frozenset[str] = frozenset()
    """The ids of messages, summaries and memories that go."""
    sessions: frozenset[str] = frozenset()
    """The sessions that go whole."""
    erased: ErasedWords = ErasedWords()


class MemoryChanges(Struct, frozen=True, kw_only=True):
    """What becomes of the memories."""

    gone: tuple[Record, ...] = ()
    lessened: tuple[Record, ...] = ()
    """Those that stay, without what they lost."""


class EvidenceTrace:
    """Follows what is lost from memory to memory."""

    def __init__(self, tx: Transaction, space: str, lost: LostSources) -> None:
        """Follow in one transaction."""
        self._tx = tx
        self._space = space
        self._lost = lost
        self._gone: dict[MemoryId, Record] = {}
        self._left: dict[MemoryId, Record] = {}

    def follow(self, meant: Sequence[Record], of_sessions: Sequence[Record]) -> MemoryChanges:
        """Take out the memories that are `meant`, and all that rests on them or on what is lost alone.

        `of_sessions` are those with evidence from a session that goes, whether or not they name a message of it.
        """
        self._gone.update((record.id, record) for record in meant)
        self._lessen(of_sessions)
        asked: set[str] = set()
        while new := sorted({*self._lost.sources, *self._gone} - asked):
            asked.update(new)
            for start in range(0, len(new), CHUNK):
                self._lessen(self._tx.memories.citing(self._space, new[start : start + CHUNK]))
        return MemoryChanges(
            gone=tuple(self._gone.values()),
            lessened=tuple(record for name, record in self._left.items() if name not in self._gone),
        )

    def _lessen(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.id in self._gone:
                continue
            left = lessened(self._left.get(record.id, record), self._lost, self._gone)
            if left is None or self._was_worded_by_it(left):
                self._gone[record.id] = record
            elif left.evidence != record.evidence:
                self._left[record.id] = left

    def _was_worded_by_it(self, left: Record) -> bool:
        """Whether what a memory says can't come from the evidence that it has left."""
        texts = list(wording(left))
        erased = self._lost.erased
        if not any(map(erased.in_part, texts)) or not all(piece.sources for piece in left.evidence):
            return False
        others = list(self._sources(left))
        return any(map(erased.without(others).in_part, texts))

    def _sources(self, record: Record) -> Iterator[str]:
        infos = self._tx.sessions.list(self._space)
        for piece in record.evidence:
            keys = [SessionKey(self._space, piece.session)] if piece.session else [info.key for info in infos]
            for key in keys:
                for message in self._tx.log.find(key, piece.messages):
                    yield from said(message)
                for summary in self._tx.summaries.get(key, [SummaryId(name) for name in piece.summaries]):
                    yield from values(summary.sections)
            for other in self._tx.memories.get(self._space, piece.memories):
                if other.id not in self._gone:
                    yield from wording(other)


def lessened(record: Record, lost: LostSources, gone: Collection[MemoryId]) -> Record | None:
    """A memory without the evidence that is lost; None where none is left that is more than our own giving up."""
    pieces = [left for piece in record.evidence if (left := _without(piece, lost, gone)) is not None]
    if tuple(pieces) == record.evidence:
        return record
    if all(map(_gives_up, pieces)):
        return None
    return replace(
        record,
        evidence=tuple(pieces),
        seen=max(record.seen - (len(record.evidence) - len(pieces)), len(pieces)),
        at=pieces[0].at,
        recorded=min(piece.recorded for piece in pieces),
        # They may quote what is erased; what still is to be said is said when it is settled.
        reason="",
        stale="",
    )


def _without(piece: Evidence, lost: LostSources, gone: Collection[MemoryId]) -> Evidence | None:
    if piece.session and piece.session in lost.sessions:
        return None
    left = replace(
        piece,
        messages=tuple(name for name in piece.messages if name not in lost.sources),
        summaries=tuple(name for name in piece.summaries if name not in lost.sources),
        memories=tuple(name for name in piece.memories if name not in gone),
    )
    return left if left.sources or not piece.sources else None


def _gives_up(piece: Evidence) -> bool:
    """Whether it only says that a conclusion was given up when its ground fell: that stands on nothing of its own."""
    return piece.against and piece.origin == "derived" and not piece.sources


def wording(record: Record) -> Iterator[str]:
    """Every text of a memory that says something of its own."""
    said = (record.text, record.value, record.subject, record.attribute, record.name, record.task_type)
    yield from filter(None, (*said, record.signature, record.key, record.cue, record.drawn))
    yield from values(record.conditions)


def of_pad(pad: Pad) -> Iterator[str]:
    """Every text of a scratchpad."""
    yield from filter(None, (pad.task, pad.goal, *(item.text for item in pad.plan), *pad.facts, *pad.questions))


class SessionErasure(Struct, frozen=True, kw_only=True):
    """What goes of one session."""

    key: SessionKey
    whole: bool = False
    """The session itself goes, with all that hangs on it."""
    messages: tuple[Message, ...] = ()
    """As they are now."""
    summaries: tuple[SummaryId, ...] = ()
    remade: tuple[SummaryId, ...] = ()
    """Those that the structure gave of what comes after: they tell nothing of it, and are made again, since summaries
    are made from the first to the last without a gap. What models wrote of the same stretches is found again."""
    annotations: tuple[AnnotationId, ...] = ()
    marks: tuple[Rebuild, ...] = ()
    leases: tuple[Lease, ...] = ()


class ErasurePlan(Struct, frozen=True, kw_only=True):
    """What goes of a space."""

    sessions: tuple[SessionErasure, ...] = ()
    memories: tuple[Record, ...] = ()
    """Those that go."""
    lessened: tuple[Record, ...] = ()
    """Those that stay with what other evidence they have, as they are to be stored before they are settled."""
    pads: tuple[str, ...] = ()
    """The scratchpads that go, by task."""
    taught: RunChanges = RunChanges()
    """What becomes of what runs taught."""
    everything: bool = False
    """The space goes whole."""
    notes: tuple[str, ...] = ()
    """What is to be told besides, a sentence each."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        kept = self.sessions or self.memories or self.lessened or self.pads
        return not (kept or self.everything) and self.taught.is_empty


def carry_out(tx: Transaction, space: str, plan: ErasurePlan) -> None:
    """Take out all that is planned, but for settling anew the memories that lost a source."""
    tx.erasure.begin()
    for each in plan.sessions:
        if each.whole:
            tx.erasure.session(each.key)
        else:
            _of_session(tx, each)
    tx.memories.remove(space, [record.id for record in plan.memories])
    tx.memories.put(space, plan.lessened)
    for task in plan.pads:
        tx.pads.remove(space, task)
    unlearn(tx, space, plan.taught)
    if plan.everything:
        tx.erasure.space(space)


def _of_session(tx: Transaction, what: SessionErasure) -> None:
    tx.erasure.messages(what.key, [erase(message) for message in what.messages])
    tx.upkeep.discard(what.key, [*what.summaries, *what.remade])
    tx.erasure.notes(what.key, what.annotations, what.marks)
    for lease in what.leases:
        tx.leases.forget(what.key, lease.work)


def settle_left(tx: Transaction, space: str, plan: ErasurePlan) -> None:
    """Settle each key that an erasure has touched, from the evidence that is left under it.

    What was drawn from a memory that ceased to hold must be reconsidered; what was drawn from one that holds again
    need not any more.
    """
    touched = dict.fromkeys((record.kind, record.key) for record in (*plan.memories, *plan.lessened))
    fallen: list[MemoryId] = []
    for kind, key in touched:
        under = tx.memories.of_key(space, kind, key)
        if not under:
            continue
        before = {record.id: record for record in under}
        after = [record for record in KINDS[kind].settle(under) if record != before[record.id]]
        tx.memories.put(space, after)
        fallen += [record.id for record in after if record.state != before[record.id].state]
    drawn = tx.memories.get(space, [record.id for record in plan.lessened])
    update_staleness(tx, space, fallen, drawn)


def reach(
    tx: Transaction, key: SessionKey, gone: Sequence[Message], name: SubjectName | None
) -> tuple[SessionErasure, ErasedWords]:
    """What goes with the messages `gone`, and the words by which it was known; with `name`, what names it as well."""
    ids = {message.id for message in gone}
    erased = ErasedWords.of(text for message in gone for text in said(message))
    for message in all_messages(tx, key):
        if message.id not in ids and erased.alone:
            erased = erased.without(said(message))
    notes = [
        each for each in all_annotations(tx, key) if _is_from(each, ids, erased, name) or _covers(tx, key, each, gone)
    ]
    summaries, remade = _summaries(tx, key, gone, erased, name, {each.id for each in notes})
    lost = {*summaries, *(each.id for each in notes)}
    marks = [mark for mark in tx.rebuilds.of_session(key) if not lost.isdisjoint(mark.taken_up)]
    leases = [
        lease
        for lease in tx.leases.of_session(key)
        if lease.work in lost or erased.in_part(lease.error) or (name and name.is_in([lease.error]))
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
    """Whether what was written by hand of a stretch covers a message that is gone."""
    near = [each for each in gone if 0 <= note.since <= each.position <= note.at_position]
    if not near or note.kind != "wording":
        return False
    stretch = {each.id for each in tx.log.path(key, note.at, note.since, note.at_position)}
    return any(each.id in stretch for each in near)


def _is_from(note: Annotation, ids: Collection[MessageId], erased: ErasedWords, name: SubjectName | None) -> bool:
    """Whether the source of an annotation is erased, or its text comes from what is."""
    if note.source in ids or (name and name.is_in([note.text, note.claim, note.who, note.whom, *note.known_to])):
        return True
    comes = erased.in_part if note.by == "model" else erased.is_source_of
    return comes(note.text) or erased.in_part(note.claim)


def _summaries(
    tx: Transaction,
    key: SessionKey,
    gone: Sequence[Message],
    erased: ErasedWords,
    name: SubjectName | None,
    notes: Collection[str],
) -> tuple[list[SummaryId], list[SummaryId]]:
    """The summaries that cover a message that is `gone`, that name one, or that tell what only these said.

    What was written of the others in view of these goes as well, step by step. And those that are to be made again.
    """
    covers = Covers(tx, key, gone)
    ids = {message.id for message in gone}
    out: dict[SummaryId, None] = {}
    rest: list[Summary] = []
    for summary in all_summaries(tx, key):
        told = list(values((summary.sections, summary.threads)))
        by_words = any(map(erased.in_part, told)) or (name is not None and name.is_in(told))
        if by_words or not ids.isdisjoint(told) or covers(summary):
            out[summary.id] = None
        else:
            rest.append(replace(summary, sections=(), threads=type(summary.threads)()))
    while found := [each for each in rest if _rests_on(each, out, notes)]:
        out.update((each.id, None) for each in found)
        rest = [each for each in rest if each.id not in out]
    return list(out), [each.id for each in rest if each.writing is None and covers.before(each)]


def _rests_on(summary: Summary, gone: Collection[str], notes: Collection[str]) -> bool:
    disputes = summary.writing.disputes if summary.writing else ()
    return any(name in gone for name in summary.sources) or any(name in notes for name in disputes)


class Covers:
    """Where some messages stand against a summary."""

    def __init__(self, tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> None:
        """Look along the paths of the session `key`."""
        self._tx = tx
        self._key = key
        self._at: dict[int, set[MessageId]] = {}
        for message in sorted(messages, key=lambda each: each.position):
            self._at.setdefault(message.position, set()).add(message.id)

    def __call__(self, summary: Summary) -> bool:
        """Whether the summary covers one of them, or was written by somebody who saw one."""
        first, last = summary.first_position, summary.last_position
        if summary.writing is not None and summary.writing.seen_first >= 0:
            first = min(first, summary.writing.seen_first)
            # What was seen behind its end stands on whichever branch.
            if any(last < place <= summary.writing.seen_last for place in self._at):
                return True
        return self._one_between(summary, first, last)

    def before(self, summary: Summary) -> bool:
        """Whether one of them stands on the path before what the summary covers."""
        return self._one_between(summary, 0, summary.first_position - 1)

    def _one_between(self, summary: Summary, first: int, last: int) -> bool:
        for position in [place for place in self._at if first <= place <= last]:
            (stands,) = self._tx.log.path(self._key, summary.last, position, position)
            if stands.id in self._at[position]:
                return True
        return False
