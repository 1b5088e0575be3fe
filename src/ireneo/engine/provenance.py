"""Where a memory comes from.

That its sources are there, that it is no echo of a memory, and what falls with a source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.language.words import terms
from ireneo.log.message import Message, MessageId, said_in, texts
from ireneo.log.tree import SessionKey
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import cites_memories, restaled
from ireneo.memories.record import MemoryDraft, MemoryId, Record, normal
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import SummaryId


def check_sources(tx: Transaction, space: str, draft: MemoryDraft) -> tuple[MemoryDraft, bool]:
    """`draft` without the sources that are none, and whether a message by a user or of a tool is among the rest.

    What a harness put in, another tool's compaction, or what memory recalled, is nobody's word, and what was erased is
    none. Raises BadInput where a source is not there.
    """
    if draft.memories:
        there = {each.id for each in tx.memories.get(space, draft.memories)}
        _raise_missing("memory", [name for name in draft.memories if name not in there])
    if not draft.messages and not draft.summaries:
        return draft, False
    sessions = _sessions(tx, space, draft)
    if draft.summaries:
        _check_summaries(tx, sessions, draft)
    messages, where = _messages_named(tx, sessions, draft.messages)
    _raise_missing("message", [name for name in draft.messages if name not in messages])
    spoken = tuple(name for name in draft.messages if _says(messages[name], draft.text))
    heard = any(messages[name].role in ("user", "tool") for name in spoken)
    if not draft.session and len(where) == 1:
        # What nobody said where it comes from comes from where its messages stand.
        draft = replace(draft, session=where[0])
    return replace(draft, messages=spoken), heard


def is_source(message: Message) -> bool:
    """Whether a message may speak for a memory."""
    return message.draft.origin == "spoken" and not message.erased


def _says(message: Message, text: str) -> bool:
    """Whether somebody says in it what `text` tells: where memory put something into it, in the rest of it."""
    if not is_source(message):
        return False
    said = said_in(message.draft)
    if said is message.draft:
        return True
    wanted = set(terms(text))
    left = {term for each in texts(said.parts) for term in terms(each)}
    return bool(wanted) and 2 * len(wanted & left) >= len(wanted)


def _sessions(tx: Transaction, space: str, draft: MemoryDraft) -> list[SessionKey]:
    """Where the sources are looked for: in the draft's session, and else in all of the space, the newest first."""
    named = [SessionKey(space, draft.session)] if draft.session else []
    if named and tx.sessions.get(named[0]) is None:
        named = []
    return named or [each.key for each in tx.sessions.list(space)]


def _messages_named(
    tx: Transaction, sessions: Sequence[SessionKey], wanted: Sequence[MessageId]
) -> tuple[Mapping[MessageId, Message], list[str]]:
    """The messages that are named, and the sessions in which they were found."""
    found: dict[MessageId, Message] = {}
    where: list[str] = []
    for key in sessions:
        left = [name for name in wanted if name not in found]
        if not left:
            break
        there = {each.id: each for each in tx.log.find(key, left)}
        where += [key.session] if any(name in there for name in left) else []
        found.update(there)
    return found, where


def _check_summaries(tx: Transaction, sessions: Sequence[SessionKey], draft: MemoryDraft) -> None:
    left = set(draft.summaries)
    for key in sessions:
        if not left:
            break
        left -= {each.id for each in tx.summaries.get(key, [SummaryId(name) for name in left])}
    _raise_missing("summary", sorted(left))


def _raise_missing(what: str, missing: Sequence[str]) -> None:
    if missing:
        raise BadInput(f"There is no {what} {missing[0]!r} in this space; name only sources that are stored.")


RAREST_TERMS = 4
"""Terms by which memories that may read alike are looked for."""
MOST_COMPARED = 64
"""Memories that are compared word by word."""


def already_held(tx: Transaction, space: str, draft: MemoryDraft, known: Sequence[Record]) -> Record | None:
    """The memory that stands and reads as `draft` does, as its text or as it is shown; `known` are those of its key.

    One that was told only after the draft can't have been recalled for it. One that the draft has new ground for, in
    memories which it was not drawn from yet, is not said again but drawn again.
    """
    row = KINDS[draft.kind]
    found = [each for each in known if row.same(each, draft)] or _reading_alike(tx, space, draft)
    for each in found:
        stands = each.state in ("active", "disputed") and each.recorded <= draft.recorded
        # One that has to be reconsidered is drawn again where part of its ground is named anew.
        drawn_again = bool(each.stale and draft.memories)
        if stands and not drawn_again and not set(draft.memories) - {each.id, *each.sources}:
            return each
    return None


def _reading_alike(tx: Transaction, space: str, draft: MemoryDraft) -> list[Record]:
    wanted = normal(draft.text)
    counts = tx.search.count(space, "memories", list(dict.fromkeys(terms(draft.text))))
    # What a memory is shown with besides its words, its date, may stand in none of them.
    there = sorted((count, term) for term, count in counts.items() if count)
    rarest = [term for _, term in there[:RAREST_TERMS]]
    if not rarest:
        return []
    listed = tx.search.postings(space, "memories", rarest)
    documents = Counter(document for numbers in listed.values() for document in list(numbers)[:10_000])
    likely = sorted(documents, key=lambda document: (-documents[document], document))[:MOST_COMPARED]
    records = [each.record for each in tx.search.memories(space, likely)]
    shown = {each.id: KINDS[each.kind].line(each, draft.recorded) for each in records}
    return [each for each in records if wanted in (normal(each.text), normal(shown[each.id]))]


def update_staleness(
    tx: Transaction, space: str, fallen: Iterable[MemoryId], drawn: Iterable[Record] = ()
) -> Sequence[Record]:
    """Mark or lift all that rests on the memories `fallen`, and on `drawn` themselves; gives those that changed.

    `fallen` are those that stand no more, that stand again or that are gone; `drawn` those whose own ground is another
    than before. All of them are stored already as they are now. It goes on through whatever was drawn from those.
    """
    reached = {each.id: each for each in drawn if cites_memories(each)}
    frontier = [*dict.fromkeys((*fallen, *reached))]
    while frontier:
        found = [each for each in tx.memories.citing(space, frontier) if each.id not in reached]
        reached.update({each.id: each for each in found})
        frontier = [each.id for each in found]
    if not reached:
        return []
    cited = {name for each in reached.values() for piece in each.evidence for name in piece.memories} - set(reached)
    around = {each.id: each for each in tx.memories.get(space, sorted(cited))} if cited else {}
    settled = restaled({name: reached[name] for name in sorted(reached)}, around)
    changed = [each for name, each in settled.items() if each != reached[name]]
    tx.memories.put(space, changed)
    return changed
