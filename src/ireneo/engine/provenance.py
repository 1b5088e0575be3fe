"""The sources of memories: check that they exist, detect echoes of known memories, and propagate staleness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.language.words import terms
from ireneo.log.message import Message, MessageId, texts, without_recalled_parts
from ireneo.log.tree import SessionKey
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import cites_memories, update_stale
from ireneo.memories.record import MemoryDraft, MemoryId, Record, normalised_words
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import SummaryId


def check_sources(tx: Transaction, space: str, draft: MemoryDraft) -> tuple[MemoryDraft, bool]:
    """Return `draft` without invalid sources, and whether a message by a user or a tool is among the valid ones.

    Messages inserted by a harness, another tool's compactions, recalled memory and erased messages are invalid. Raises
    BadInput if a source doesn't exist.
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
    spoken = tuple(name for name in draft.messages if _says_same(messages[name], draft.text))
    heard = any(messages[name].role in ("user", "tool") for name in spoken)
    if not draft.session and len(where) == 1:
        # Without a stated session, the memory belongs to that of its messages.
        draft = replace(draft, session=where[0])
    return replace(draft, messages=spoken), heard


def is_source(message: Message) -> bool:
    """Whether a message can be the source of a memory."""
    return message.draft.origin == "spoken" and not message.erased


def _says_same(message: Message, text: str) -> bool:
    """Whether a message says what `text` does, apart from recalled memory in it."""
    if not is_source(message):
        return False
    said = without_recalled_parts(message.draft)
    if said is message.draft:
        return True
    wanted = set(terms(text))
    left = {term for each in texts(said.parts) for term in terms(each)}
    return bool(wanted) and 2 * len(wanted & left) >= len(wanted)


def _sessions(tx: Transaction, space: str, draft: MemoryDraft) -> list[SessionKey]:
    """Return the sessions in which to look for sources: the draft's own, or else all of the space, newest first."""
    named = [SessionKey(space, draft.session)] if draft.session else []
    if named and tx.sessions.get(named[0]) is None:
        named = []
    return named or [each.key for each in tx.sessions.list(space)]


def _messages_named(
    tx: Transaction, sessions: Sequence[SessionKey], wanted: Sequence[MessageId]
) -> tuple[Mapping[MessageId, Message], list[str]]:
    """Return the messages with these ids, and the sessions in which they were found."""
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
"""By how many of the rarest terms memories with the same text are searched."""
MOST_COMPARED = 64
"""The maximum number of memories that are compared word by word."""


def find_echoed(tx: Transaction, space: str, draft: MemoryDraft, known: Sequence[Record]) -> Record | None:
    """Return the current memory with the text of `draft`, as stored or as shown; `known` are those with its key.

    A memory recorded after the draft can't be its origin. If the draft cites memories that the known one doesn't cite
    yet, it is new evidence and not an echo.
    """
    row = KINDS[draft.kind]
    found = [each for each in known if row.same(each, draft)] or _same_wording(tx, space, draft)
    for each in found:
        stands = each.state in ("active", "disputed") and each.recorded <= draft.recorded
        # A stale memory is concluded again if the draft cites memories.
        drawn_again = bool(each.stale and draft.memories)
        if stands and not drawn_again and not set(draft.memories) - {each.id, *each.sources}:
            return each
    return None


def _same_wording(tx: Transaction, space: str, draft: MemoryDraft) -> list[Record]:
    wanted = normalised_words(draft.text)
    counts = tx.search.count(space, "memories", list(dict.fromkeys(terms(draft.text))))
    # A memory's date, which is shown with it, may occur in no text.
    there = sorted((count, term) for term, count in counts.items() if count)
    rarest = [term for _, term in there[:RAREST_TERMS]]
    if not rarest:
        return []
    listed = tx.search.postings(space, "memories", rarest)
    documents = Counter(document for numbers in listed.values() for document in list(numbers)[:10_000])
    likely = sorted(documents, key=lambda document: (-documents[document], document))[:MOST_COMPARED]
    records = [each.record for each in tx.search.memories(space, likely)]
    shown = {each.id: KINDS[each.kind].line(each, draft.recorded) for each in records}
    return [each for each in records if wanted in (normalised_words(each.text), normalised_words(shown[each.id]))]


def update_staleness(
    tx: Transaction, space: str, fallen: Iterable[MemoryId], drawn: Iterable[Record]
) -> Sequence[Record]:
    """Update which memories are stale after their sources changed, transitively; return those that changed.

    `fallen` are memories that no longer hold, hold again, or were deleted; `drawn` are memories whose own evidence
    changed. All of them are stored already in their current state.
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
    settled = update_stale({name: reached[name] for name in sorted(reached)}, around)
    changed = [each for name, each in settled.items() if each != reached[name]]
    tx.memories.put(space, changed)
    return changed
