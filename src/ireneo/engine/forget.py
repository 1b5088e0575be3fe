"""Erase content for good, with everything derived only from it, from every byte of the store.

Read and plan, then one transaction, then a scrub of the freed bytes. A process killed in between has erased nothing or
everything; the next one overwrites the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.erasure import (
    ErasedWords,
    ErasurePlan,
    EvidenceTrace,
    SessionErasure,
    SubjectName,
    all_runs,
    all_texts,
    carry_out,
    memory_texts,
    pad_texts,
    run_changes,
    session_erasure,
    settle_remaining,
    spoken_texts,
)
from ireneo.engine.named import memory_named, only_match, shortest_ids
from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits
from ireneo.engine.tree import all_annotations, all_messages
from ireneo.errors import BadInput, MemoryNotFound, MessageNotFound, NotFound, SessionNotFound
from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Phrasing
from ireneo.language.topics import Persons
from ireneo.language.words import sentences, terms
from ireneo.log.message import Message, MessageId, short
from ireneo.log.tree import SessionKey
from ireneo.memories.cues import has_cue
from ireneo.memories.exchange import evidence_draft
from ireneo.memories.mentions import NamedText, Person, PossibleMention, names_meant
from ireneo.memories.persons import names_by_relation
from ireneo.memories.record import MemoryDraft, MemoryId, Record, quoted, supporting
from ireneo.memories.serving import informative_sentences
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.patterns import lazy_re
from ireneo.ports.memories import IndexName, MemoryFilter, folded
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr

STAYS = (
    "Ids, places, times and counts of messages stay, and so do copies of the database and exported files; an import of "
    "such files leaves out what comes from messages erased here, and brings back what was remembered without any."
)


_OWN = lazy_re(lambda: rf"{any_of(topic(Phrasing).begins)}\b", re.I)
LEAST_SAID = 3
"""Words of a sentence whose loss is told."""


class ErasureTarget(Struct, frozen=True, kw_only=True):
    """The request to erase something, before what was derived from it is known."""

    messages: dict[SessionKey, tuple[Message, ...]] = {}
    sessions: tuple[SessionKey, ...] = ()
    """Sessions that are erased as a whole."""
    memories: tuple[Record, ...] = ()
    name: SubjectName | None = None
    """Everything else that contains this name is erased too."""
    told: SubjectMentions | None = None
    """What is said of the subject by other words than its name."""
    stay: tuple[Record, ...] = ()
    """Memories drawn from the messages that don't speak of the subject, and stay without them."""
    own: dict[MessageId, MemoryDraft] = {}
    """By message that goes: what its user says there of themselves alone, to be kept as a memory of its own."""
    of_memory: bool = False
    """Only memories were named, and the messages they were drawn from may be erased too."""
    note: str = ""


def message_target(tx: Transaction, space: str, name: str) -> ErasureTarget:
    """The message `name`: an id, the beginning of one, or the id that its log gave it.

    The message may be in several sessions if a log was imported twice. Raises MessageNotFound, and BadInput if several
    messages are named.
    """
    found: dict[SessionKey, tuple[Message, ...]] = {}
    for info in tx.sessions.list(space) if name else ():
        if here := tx.log.find(info.key, [name]):
            found[info.key] = tuple(here)
    ids = {message.id for here in found.values() for message in here}
    if not ids:
        raise MessageNotFound(f"There is no message {name} in space {space!r}.")
    if begun := [id for id in ids if id.startswith(name)]:
        ids = {MessageId(only_match(name, begun, "message"))}
    elif len(ids) > 1:
        # A log may give several messages one id; which of them to erase must not be guessed.
        raise BadInput(
            f"{len(ids)} messages have the id {name} in their log: {shortest_ids(sorted(ids))}; name one of them."
        )
    there = {key: tuple(each for each in here if each.id in ids and not each.erased) for key, here in found.items()}
    return ErasureTarget(messages={key: here for key, here in there.items() if here})


def session_target(tx: Transaction, space: str, name: str) -> ErasureTarget:
    """The session `name`, even if it is stored elsewhere and only learned from here. Raises SessionNotFound."""
    key = SessionKey(space, name)
    if tx.sessions.get(key) is None and not _is_known(tx, key):
        raise SessionNotFound.named(name, space)
    return ErasureTarget(sessions=(key,), note="An import of its log would bring it back.")


def _is_known(tx: Transaction, key: SessionKey) -> bool:
    """Whether a run, file, memory or scratchpad comes from the session."""
    if tx.runs.get(key.space, [key.session]):
        return True
    if any(key.session in file.sessions for file in tx.ledger.list(key.space)):
        return True
    if any(pad.task == key.session for pad in tx.pads.list(key.space)):
        return True
    return any(key.session in record.sessions for record in tx.memories.list(key.space, MemoryFilter()))


def memory_target(tx: Transaction, space: str, name: str) -> ErasureTarget:
    """The memory whose id begins with `name`. Raises MemoryNotFound, and BadInput if there are several."""
    record = memory_named(tx, space, name)
    if record is None:
        raise MemoryNotFound.named(name, space)
    sources = [source for piece in record.evidence for source in piece.messages]
    note = "The messages that it was drawn from stay unless they are taken as well." if sources else ""
    return ErasureTarget(memories=(record,), note=note, of_memory=True)


class SubjectMentions:
    """The sentences of a space that may speak of somebody without the name."""

    def __init__(self, tx: Transaction, space: str, name: str, records: Sequence[Record]) -> None:
        """Read all messages, and `records`, all memories."""
        self._texts = {
            info.key: [
                NamedText(id=each.id, text=each.draft.text) for each in all_messages(tx, info.key) if not each.erased
            ]
            for info in tx.sessions.list(space)
        }
        others = {name for each in records for name in (each.subject, *names_by_relation([each]).values())}
        said = [*(one.text for each in self._texts.values() for one in each), *(each.text for each in records)]
        self.person = Person(name, said, others - topic(Persons).speakers)
        self.found = [
            (key.session, id, each) for key, texts in self._texts.items() for id, each in self.person.mentions(texts)
        ]

    def candidates(self, records: Sequence[Record], gone: Collection[str]) -> Iterator[ErasureCandidate]:
        """What may have to go as well, first what is certain, then what stands nearest to the name."""
        about = [each for each in self.found if each[1] not in gone]
        for session, id, each in sorted(about, key=lambda one: (not one[2].certain, one[2].distance)):
            yield ErasureCandidate(
                id=MessageId(id), session=session, text=each.sentence, why=each.why, certain=each.certain
            )
        by_message: dict[str, list[PossibleMention]] = {}
        for _, id, each in about:
            by_message.setdefault(id, []).append(each)
        for record in records:
            if record.id in gone:
                continue
            why = self.person.mention_reason(" \n".join(memory_texts(record)))
            said = [one for source in record.sources for one in by_message.get(source, ())]
            drawn = next((one for one in said if says_part(record.text, one.sentence)), None)
            if why or drawn:
                why = why or f"it was drawn from a message of which {drawn.why if drawn else ''}"
                certain = not drawn or drawn.certain
                yield ErasureCandidate(id=record.id, session="", text=record.text, why=why, certain=certain)

    def besides(self, text: str, id: str) -> list[str]:
        """The sentences of a message that name somebody, which aren't about them."""
        about = {each.sentence for _, name, each in self.found if name == id}
        return [
            each
            for each in informative_sentences(text)
            if len(each.split()) >= LEAST_SAID and not (each in about or self.person.named_in(each))
        ]

    def own_words(self, record: Record, gone: Mapping[str, str]) -> Iterator[tuple[MessageId, MemoryDraft]]:
        """The sentences of a quotation from `gone` messages in which the user speaks of themselves alone."""
        quote, pieces = unquoted_words(record.text), supporting(record)
        sources = [name for name in record.sources if name in gone]
        if not (sources and record.holds and record.origin == "user" and quote != record.text):
            return
        said = {each.rstrip(".!…") for name in sources for each in self.besides(gone[name], name)}
        kept = [each for each in sentences(quote, small_opens=True) if each.rstrip(".!…") in said]
        kept = [each for each in kept if _OWN.match(each) and not has_cue("points", each)]
        kept = [each for each in kept if self.person.speaks_of_others(each, of_speaker=True)]
        text = topic(Phrasing).asked.sub("", record.text, count=1).replace(quote, " ".join(kept))
        if kept and not self.person.named_in(text):
            piece = replace(pieces[-1], messages=(), summaries=(), memories=())
            yield MessageId(sources[0]), replace(evidence_draft(record, piece), text=text)

    def stays(self, record: Record, gone: Mapping[str, str]) -> bool:
        """Whether a memory that was drawn from `gone` messages says nothing of them.

        It does if it tells of the speaker or of others, or repeats a sentence that isn't about them.
        """
        lost = [source for source in record.sources if source in gone]
        if not lost or self.person.named_in(" \n".join(memory_texts(record))):
            return False
        told = [one for source in lost for one in self.besides(gone[source], source)]
        of_speaker = bool(record.attribute) and folded(record.subject) in topic(Persons).speakers
        others = self.person.speaks_of_others(record.text, of_speaker=of_speaker)
        return others or any(says_part(record.text, each) for each in told)


def says_part(text: str, sentence: str) -> bool:
    """Whether a memory says a part of a sentence, or the sentence a part of it."""
    one, other = distinctive_words(text), distinctive_words(sentence)
    return 2 * len(one & other) >= max(1, min(len(one), len(other)))


def subject_target(tx: Transaction, space: str, subject: str) -> ErasureTarget:
    """The memories of `subject`, the messages they come from, and everything that contains its name.

    A relation to the user stands for the person's name, if that is known; raises BadInput if there are several.
    For a role, such as the user, the name isn't searched for, since everything would contain it.
    """
    records = tx.memories.list(space, MemoryFilter())
    called = names_meant(subject, records)
    if len(called) > 1:
        raise BadInput(f"{subject!r} may be {' or '.join(sorted(called))}: give the name.")
    meant = called[0] if called else subject
    known = [each for name in {subject, meant} for each in tx.memories.list(space, MemoryFilter(subject=name))]
    name = None if folded(meant) in topic(Persons).speakers else SubjectName(meant)
    sources = {source for record in known for piece in record.evidence for source in piece.messages}
    infos = tx.sessions.list(space)
    found: dict[SessionKey, tuple[Message, ...]] = {}
    for info in infos:
        every = all_messages(tx, info.key, whole=True) if name else tx.log.find(info.key, sorted(sources))
        here = (each for each in every if each.id in sources or (name and name.is_in(all_texts(each))))
        if left := tuple(each for each in here if not each.erased):
            found[info.key] = left
    memories = {record.id: record for record in known}
    if name is None:
        return ErasureTarget(messages=found, memories=tuple(memories.values()))
    memories.update((record.id, record) for record in records if name.is_in(memory_texts(record)))
    told = SubjectMentions(tx, space, meant, records)
    gone: dict[str, str] = {each.id: each.draft.text for here in found.values() for each in here}
    stay = tuple(each for each in records if each.id not in memories and told.stays(each, gone))
    own = dict(pair for each in memories.values() for pair in told.own_words(each, gone))
    keys = [info.key.session for info in infos if name.is_in([info.key.session])]
    note = f"The names of these sessions name it, and stay: {', '.join(keys)}; forget them by session=." if keys else ""
    note = f"{quoted(subject)} is {meant}. {note}".strip() if called else note
    return ErasureTarget(
        messages=found, memories=tuple(memories.values()), name=name, told=told, stay=stay, own=own, note=note
    )


def add_candidates(tx: Transaction, space: str, meant: ErasureTarget, also: Collection[str]) -> ErasureTarget:
    """Add the memories and messages of `also` to what is meant. Raises NotFound and BadInput."""
    for name in also:
        record = memory_named(tx, space, name) if name else None
        if record is not None:
            meant = replace(meant, memories=tuple({each.id: each for each in (*meant.memories, record)}.values()))
            continue
        more = message_target(tx, space, name).messages
        both = {key: {each.id: each for each in (*meant.messages.get(key, ()), *more.get(key, ()))} for key in more}
        named = {each.id for here in more.values() for each in here}
        meant = replace(meant, own={id: each for id, each in meant.own.items() if id not in named})
        meant = replace(meant, messages={**meant.messages, **{key: tuple(each.values()) for key, each in both.items()}})
    return meant


def _candidates(tx: Transaction, space: str, meant: ErasureTarget, plan: ErasurePlan) -> tuple[ErasureCandidate, ...]:
    """Candidates that may be meant too, but remain."""
    gone = {message.id for part in plan.sessions for message in part.messages}
    if meant.told is not None:
        here = {*gone, *(each.id for each in (*plan.memories, *_staying(meant)))}
        found = meant.told.candidates(tx.memories.list(space, MemoryFilter()), here)
    else:
        found = sources_of(tx, space, meant.memories if meant.of_memory else (), gone)
    return tuple({(each.id, each.text): each for each in found}.values())


def _staying(meant: ErasureTarget) -> list[Record]:
    """The memories that stay without their messages, unless they were named too."""
    also = {each.id for each in meant.memories}
    return [each for each in meant.stay if each.id not in also]


class ErasureCounts(Struct, frozen=True, kw_only=True):
    """How much was erased, or would be."""

    messages: int = 0
    sessions: int = 0
    """Sessions that were erased as a whole; their messages are counted as well."""
    summaries: int = 0
    notes: int = 0
    """Annotations: pins, releases, disputes and others."""
    memories: int = 0
    lessened: int = 0
    """Memories that lost a source and remain."""
    pads: int = 0
    runs: int = 0
    """Records of learned runs. A session that remains is learned from again, without what was erased."""
    observations: int = 0
    """Observations of claims, in these records and in others."""
    files: int = 0
    """Files whose record in the ledger was removed, or lost its name."""
    documents: int = 0
    """Messages and memories that were removed from the search indexes."""


class GoingText(Struct, frozen=True, kw_only=True):
    """The text of a message or a memory that would be erased."""

    id: MessageId | MemoryId
    session: str
    """Empty for a memory."""
    text: str
    apart: bool = False
    """Whether these words don't contain the name of the subject."""
    undone: bool = False
    """Whether a rewind undid it, so that nothing shows it any more."""
    beside: tuple[str, ...] = ()
    """Of a user's message: the sentences that don't speak of the subject, and that no memory keeps."""


class ErasureReceipt(ShortRepr, frozen=True, kw_only=True):
    """A list of everything that was erased, or would be."""

    what: ErasureCounts
    ids: tuple[str, ...]
    """The ids of the erased messages, summaries and memories; the name of a session or space that was erased whole."""
    at: datetime
    preview: bool = False
    """Whether this is a preview, and nothing was erased."""
    complete: bool = True
    """Whether no byte of the store contains erased content any more; False for a preview."""
    also: tuple[ErasureCandidate, ...] = ()
    """Data that remains and may have to be erased as well: sentences that may refer to the subject, and messages that a
    memory was drawn from."""
    stay: tuple[ErasureCandidate, ...] = ()
    """Memories that don't speak of the subject and stay, though a message that they were drawn from goes."""
    note: str = ""
    """The steps that remain to be done, and what is kept."""
    going: tuple[GoingText, ...] = ()
    """In a preview: the texts to be erased, except those of whole sessions; empty after an erasure."""


async def forget(
    resources: Resources,
    space: str,
    *,
    subject: str | None = None,
    message: str | None = None,
    session: str | None = None,
    memory: str | None = None,
    everything: str | None = None,
    also: Collection[str] = (),
    preview: bool = False,
) -> ErasureReceipt:
    """Erase one thing and what derives only from it (see `Memory.forget`)."""
    given = {"subject": subject, "message": message, "session": session, "memory": memory, "everything": everything}
    what, name = _the_one_given(given, space)
    now = resources.clock.now()
    if preview:
        found = await resources.store.read(_erase, space, what, name, also, now, preview=True)
        return replace(found, complete=False, note=" ".join(filter(None, (found.note, STAYS))))
    try:
        erased = await resources.store.write(_erase, space, what, name, also, now)
    except NotFound:
        # An earlier call may have erased it and been killed before the scrub.
        await resources.store.scrub()
        raise
    scrubbed = await resources.store.scrub()
    return replace(erased, complete=scrubbed.complete, note=" ".join(filter(None, (scrubbed.note, erased.note))))


def _erase(
    tx: Transaction,
    space: str,
    what: str,
    name: str,
    also: Collection[str],
    now: datetime,
    *,
    preview: bool = False,
) -> ErasureReceipt:
    """Erase one thing, or only say what that would erase."""
    meant, plan = _make_plan(tx, space, what, name, also)
    candidates = _candidates(tx, space, meant, plan)
    counted = _count_erased(tx, space, plan)
    going: tuple[GoingText, ...] = ()
    note = plan.note
    if preview:
        lessened = ", ".join(short(each.id) for each in plan.lessened)
        note = f"{note} Some evidence goes of {lessened}, which stay.".strip() if lessened else note
        going = tuple(_texts_to_erase(tx, space, plan, meant))
    elif not plan.is_empty:
        before = _count_documents(tx, space)
        carry_out(tx, space, plan)
        settle_remaining(tx, space, plan.memories, plan.lessened)
        settle_drafts(tx, space, meant.own.values(), judged=True)
        counted = replace(counted, documents=before - _count_documents(tx, space))
    why = "it doesn't speak of the subject"
    told: list[tuple[MessageId | MemoryId, str, str]] = [(each.id, "", each.text) for each in _staying(meant)]
    told += [(id, each.session, each.text) for id, each in meant.own.items()]
    stay = tuple(ErasureCandidate(id=id, session=session, text=text, why=why) for id, session, text in told)
    ids = _erased_ids(plan, space)
    return ErasureReceipt(
        what=counted, ids=ids, at=now, preview=preview, also=candidates, stay=stay, note=note, going=going
    )


def _texts_to_erase(tx: Transaction, space: str, plan: ErasurePlan, meant: ErasureTarget) -> Iterator[GoingText]:
    """The texts of the messages and memories to be erased; roles, such as the user, aren't marked as names."""
    named = meant.name
    said = [(part.key.session, each) for part in plan.sessions for each in part.messages]
    shown = tx.log.on_branch(space, [(session, [each.id]) for session, each in said]) if said else ()
    kept = [*(each.text for each in _staying(meant)), *(each.text for each in meant.own.values())]
    for (session, each), stands in zip(said, shown, strict=True):
        # A call and an output are shown by what they contain.
        texts = [*filter(None, spoken_texts(each))]
        apart = named is not None and not named.is_in(texts)
        beside = meant.told.besides(each.draft.text, each.id) if meant.told and each.role == "user" else ()
        yield GoingText(
            id=each.id,
            session=session,
            text=each.draft.text or "\n".join(texts),
            apart=apart,
            undone=not stands,
            beside=tuple(one for one in beside if not any(says_part(text, one) for text in kept)),
        )
    for memory, seen in zip(plan.memories, Scope(tx, space, ScopeLimits()).seen(plan.memories), strict=True):
        apart = named is not None and not named.is_in([memory.text])
        yield GoingText(id=memory.id, session="", text=memory.text, apart=apart, undone=seen is None)


def _the_one_given(given: dict[str, str | None], space: str) -> tuple[str, str]:
    """The kind and name of the one thing that is given."""
    named = [(what, name) for what, name in given.items() if name is not None]
    if len(named) != 1:
        raise BadInput(
            "Name exactly one thing to forget: a subject, a message, a session, a memory, or the whole space."
        )
    ((what, name),) = named
    if not name.strip():
        raise BadInput("Say what is to be forgotten; the name is empty.")
    if what == "everything" and name != space:
        raise BadInput(f"To forget everything, give the name of the space, {space!r}, and not {name!r}.")
    return what, name


def _make_plan(
    tx: Transaction, space: str, what: str, name: str, also: Collection[str]
) -> tuple[ErasureTarget, ErasurePlan]:
    if what == "everything":
        infos = tx.sessions.list(space)
        sessions = tuple(SessionErasure(key=info.key, whole=True) for info in infos)
        return ErasureTarget(), ErasurePlan(everything=True, sessions=sessions, taught=all_runs(tx, space))
    find = {"message": message_target, "session": session_target, "memory": memory_target, "subject": subject_target}
    meant = add_candidates(tx, space, find[what](tx, space, name), also)
    return meant, _plan_erasure(tx, space, meant)


def _plan_erasure(tx: Transaction, space: str, meant: ErasureTarget) -> ErasurePlan:
    """Plan the erasure of a target, with everything that depends on it."""
    parts: list[SessionErasure] = []
    lost: set[str] = set()
    erased = ErasedWords()
    keys = list(meant.messages)
    if meant.name is not None:
        keys = [info.key for info in tx.sessions.list(space)]
    for key in keys:
        part, words = session_erasure(tx, key, meant.messages.get(key, ()), meant.name)
        erased = erased.union(words)
        lost.update(message.id for message in part.messages)
        lost.update(part.summaries)
        if part != SessionErasure(key=key):
            parts.append(part)
    # Of a session that is stored elsewhere, only what was learned from it is here.
    for key in filter(tx.sessions.get, meant.sessions):
        parts.append(SessionErasure(key=key, whole=True))
        said = (text for each in all_messages(tx, key) for text in spoken_texts(each))
        erased = erased.union(ErasedWords.from_texts(said))
        lost.update(each.id for each in all_messages(tx, key))
        lost.update(tx.upkeep.summaries(key))
    whole = frozenset(key.session for key in meant.sessions)
    every = tx.memories.list(space, MemoryFilter()) if whole else ()
    of_sessions = [record for record in every if not whole.isdisjoint(record.sessions)]
    stay = {each.id for each in _staying(meant)}
    trace = EvidenceTrace(tx, space, sources=lost, sessions=whole, erased=erased, stay=stay)
    gone, lessened = trace.follow(meant.memories, of_sessions)
    taught = run_changes(
        tx,
        space,
        whole=whole,
        touched={part.key.session for part in parts if part.messages},
        cues={record.cue for record in meant.memories if record.cue},
        name=meant.name,
    )
    return ErasurePlan(
        sessions=tuple(parts),
        taught=taught,
        memories=gone,
        lessened=lessened,
        pads=tuple(_affected_pads(tx, space, meant, erased)),
        note=meant.note,
    )


def _affected_pads(tx: Transaction, space: str, meant: ErasureTarget, erased: ErasedWords) -> list[str]:
    """Scratchpads of erased sessions, and those whose text derives from what is erased."""
    names = {key.session for key in meant.sessions}
    out: list[str] = []
    doubted = []
    for pad in tx.pads.list(space):
        texts = list(pad_texts(pad))
        if pad.task in names or (meant.name and meant.name.is_in(texts)):
            out.append(pad.task)
        elif erased.is_source_of(" ".join(texts)):
            doubted.append(pad)
    if doubted:
        gone = {*meant.sessions, *meant.messages}
        elsewhere = _words_only_erased(tx, space, gone, erased)
        out += [pad.task for pad in doubted if elsewhere.is_source_of(" ".join(pad_texts(pad)))]
    return out


def _words_only_erased(tx: Transaction, space: str, gone: Collection[SessionKey], erased: ErasedWords) -> ErasedWords:
    """The erased words that no remaining session of the space contains."""
    for info in tx.sessions.list(space):
        if info.key not in gone:
            for message in all_messages(tx, info.key):
                if not erased.alone:
                    return erased
                erased = erased.without(spoken_texts(message))
    return erased


def _count_erased(tx: Transaction, space: str, plan: ErasurePlan) -> ErasureCounts:
    messages = summaries = notes = 0
    for each in plan.sessions:
        info = tx.sessions.get(each.key) if each.whole else None
        messages += info.messages if info else len(each.messages)
        summaries += len(tx.upkeep.summaries(each.key)) if each.whole else len(each.summaries)
        notes += len(all_annotations(tx, each.key)) if each.whole else len(each.annotations)
    every = plan.everything
    return ErasureCounts(
        messages=messages,
        sessions=sum(each.whole for each in plan.sessions),
        summaries=summaries,
        notes=notes,
        memories=len(tx.memories.list(space, MemoryFilter())) if every else len(plan.memories),
        lessened=len(plan.lessened),
        pads=len(tx.pads.list(space)) if every else len(plan.pads),
        runs=len(plan.taught.runs),
        observations=plan.taught.shown,
        files=len(plan.taught.files) + len(plan.taught.unnamed),
    )


def _count_documents(tx: Transaction, space: str) -> int:
    return sum([tx.search.size(space, index).documents for index in get_args(IndexName)])


def _erased_ids(plan: ErasurePlan, space: str) -> tuple[str, ...]:
    if plan.everything:
        return (space,)
    out: list[str] = []
    for each in plan.sessions:
        out += [each.key.session] if each.whole else [*(message.id for message in each.messages), *each.summaries]
    return (*out, *(record.id for record in plan.memories))


class ErasureCandidate(Struct, frozen=True, kw_only=True):
    """Something that remains unless its id is passed as `also`."""

    id: MessageId | MemoryId
    """The id of the message that contains the sentence, or of the memory."""
    session: str
    """Empty for a memory."""
    text: str
    """The sentence."""
    why: str
    """Why the subject may be meant."""
    certain: bool = False
    """Whether another name or a relation of the subject is said, and not only a pronoun or what it does."""


def sources_of(
    tx: Transaction, space: str, records: Sequence[Record], messages: Collection[str]
) -> Iterator[ErasureCandidate]:
    """The remaining messages that memories were drawn from, each with the sentence nearest to the memory."""
    for record in records:
        for piece in record.evidence:
            keys = [SessionKey(space, piece.session)] if piece.session else [e.key for e in tx.sessions.list(space)]
            for message in (one for key in keys for one in tx.log.find(key, piece.messages)):
                if message.id in piece.messages and message.id not in messages and not message.erased:
                    text = message.draft.text
                    wanted = set(terms(record.text))
                    pieces = list(sentences(text, small_opens=True))
                    said = max(pieces, key=lambda each: len(wanted.intersection(terms(each))), default=text)
                    why = f"{quoted(record.text)} was drawn from it"
                    yield ErasureCandidate(id=message.id, session=piece.session, text=said, why=why)
