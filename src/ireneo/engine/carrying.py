"""Carries what was written by hand over to another path of a session.

A chat that was edited outside, or whose client asked for another answer, goes on on a new path. The pins, threads,
canon facts and summaries that a user wrote on the old one belong to the chat, and not to the version of a message that
was replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.tree import last_shared
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import Annotation, AnnotationId, AnnotationKind, SessionKey, annotation_id
from ireneo.ports.store import Transaction

_ORDER: tuple[AnnotationKind, ...] = ("pin", "thread", "canon", "dispute", "wording", "release")
"""The kinds that are carried, those that others refer to first. An agent's diary entries stay where they are."""


class Carried(Struct, frozen=True, kw_only=True):
    """The outcome of `carry`."""

    notes: int = 0
    """How many annotations the new path has now that stood only on the old one."""
    lost: tuple[str, ...] = ()
    """Summaries written by hand whose messages have changed: they stay on the old path."""


def carry(tx: Transaction, key: SessionKey, old: Head | None, new: Head | None) -> Carried:
    """Repeat on the path to `new` the annotations that stand only on the path to `old`, from where a branch was moved.

    A note goes to the message with the same words, or to the one in the place of the message that was replaced. A
    summary written by hand, or disputed, is carried only if all its messages are there unchanged.
    """
    shared = last_shared(tx, key, old, new) if old and new else -1
    if old is None or new is None or shared == old.position:
        return Carried()
    notes = [note for note in tx.annotations.on_path(key, old.id) if note.at_position > shared and note.kind in _ORDER]
    if not notes:
        return Carried()
    places = _PositionMap(
        tx.log.path(key, old.id, shared + 1, old.position), tx.log.path(key, new.id, shared, new.position), shared
    )
    opens = {
        note.id: tx.log.find(key, [note.about.split(" ")[1]])[0].position
        for note in notes
        if note.kind == "dispute" or note.since >= 0
    }
    there = {note.words: note for note in reversed(tx.annotations.on_path(key, new.id))}
    names: dict[str, str] = {}
    made: list[Annotation] = []
    lost: list[str] = []
    for note in sorted(notes, key=lambda note: _ORDER.index(note.kind)):
        moved = (
            places.move(note, names) if note.id not in opens else places.move_summary_note(note, opens[note.id], names)
        )
        if moved is None:
            lost += [note.text] if note.kind == "wording" else []
            continue
        if (known := there.get(moved.words)) is not None:
            names[note.id] = known.id
            continue
        moved = replace(moved, id=_carried_id(moved))
        names[note.id] = moved.id
        there[moved.words] = moved
        made.append(moved)
    tx.annotations.put(key, made)
    return Carried(notes=len(made), lost=tuple(lost))


def _carried_id(note: Annotation) -> AnnotationId:
    """Name a carried annotation; a pin or release as if it had been made at its new place."""
    fields = (note.about, note.claim, note.sort, note.who, note.whom, *note.known_to, str(note.number or ""))
    return annotation_id(note.kind, note.at, note.text, " ".join(filter(None, fields)))


class _PositionMap:
    """The position of each message of the old path on the new one."""

    def __init__(self, old: Sequence[Message], new: Sequence[Message], shared: int) -> None:
        """`new` begins with the last shared message, if there is one; `old` after it."""
        self._shared = shared
        self._new = {message.position: message for message in new}
        self._last = max(self._new, default=shared)
        self._old = {message.id: message.position for message in old}
        self._same = dict(_align(old, [message for message in new if message.position > shared]))

    def move(self, note: Annotation, names: Mapping[str, str]) -> Annotation:
        """The annotation at its place on the new path, under its old id; `names` has the new ids of carried ones."""
        at = self._new_position(note.at_position)
        about = names.get(note.about, note.about)
        return replace(note, at=self._message_id(at), at_position=at, about=about, source=self._source(note))

    def move_summary_note(self, note: Annotation, start: int, names: Mapping[str, str]) -> Annotation | None:
        """The same for an annotation of a summary that begins at `start`; None if its messages have changed."""
        level, first, _ = note.about.split(" ")
        own = range(max(start, self._shared + 1), note.at_position + 1)
        begin = self._same.get(start) if start > self._shared else start
        end = self._same.get(note.at_position)
        if (
            begin is None
            or end is None
            or end - begin != note.at_position - start
            or not all(place in self._same for place in own)
        ):
            return None
        return replace(
            note,
            at=self._message_id(end),
            at_position=end,
            about=f"{level} {self._message_id(begin) if begin > self._shared else first} {self._message_id(end)}",
            since=begin if note.since >= 0 else note.since,
            answers=tuple(AnnotationId(names.get(name, name)) for name in note.answers),
        )

    def _new_position(self, position: int) -> int:
        if position in self._same:
            return self._same[position]
        before = [there for here, there in self._same.items() if here < position]
        return min(max(before, default=self._shared) + 1, self._last)

    def _message_id(self, position: int) -> MessageId:
        return self._new[position].id if position in self._new else MessageId("")

    def _source(self, note: Annotation) -> MessageId | None:
        """The message with the words of a note, if that is on the new path."""
        if note.source is None or note.source not in self._old:
            return note.source
        there = self._same.get(self._old[note.source])
        return None if there is None else self._message_id(there)


def _align(old: Sequence[Message], new: Sequence[Message]) -> Iterable[tuple[int, int]]:
    """Pairs of positions with the same message, in order."""
    ours, theirs = [_message_key(message) for message in old], [_message_key(message) for message in new]
    ends = 0
    # After an edit the rest is mostly the same: the slow comparison sees only what lies before that.
    while ends < min(len(ours), len(theirs)) and ours[-1 - ends] == theirs[-1 - ends]:
        ends += 1
    middle = SequenceMatcher(None, ours[: len(ours) - ends], theirs[: len(theirs) - ends], autojunk=False)
    for block in (*middle.get_matching_blocks(), (len(ours) - ends, len(theirs) - ends, ends)):
        here, there, size = block
        yield from ((old[here + at].position, new[there + at].position) for at in range(size))


def _message_key(message: Message) -> tuple[object, ...]:
    return (message.role, message.text, tuple(part.id for part in message.draft.calls))
