"""Annotations written by hand: pins, their releases, disputes; for stories also threads, canon facts and summaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.story import standing_threads, story_notes, with_tail
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader
from ireneo.engine.named import MIN_ID_LENGTH, find_summary
from ireneo.engine.tree import last_shared
from ireneo.errors import BadInput
from ireneo.language.topics import Voice
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationId, AnnotationKind, SessionKey, annotation_id
from ireneo.memories.record import one_line
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.by_hand import THREAD_KINDS, canon_facts, current_wordings, is_known, thread_of, wordings
from ireneo.summaries.pins import constraints, split_pins_and_releases, valid_pins
from ireneo.summaries.policy import CODING, Policy, seen_by
from ireneo.summaries.steps import clip
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import Line, Summary, Thread, ThreadEnd, thread_id
from ireneo.summaries.work import WorkPath, recorded_text

SHOWN = 60
"""How many characters of each pin are shown if a name is ambiguous."""


class Pin(ShortRepr, frozen=True, kw_only=True):
    """A standing constraint, word for word."""

    id: str
    """The id by which it can be released: its own for a pin by hand, otherwise that of its message.

    Several found in one message share its id and are released by their words. A story's open thread has a ``t_…``.
    """
    text: str
    source: MessageId
    """The message that contains it, or after which it was made; empty before the first one."""


def pin(tx: Transaction, key: SessionKey, branch: str, text: str) -> Annotation:
    """Pin `text` at the branch's head; a new session is created, and pinned before its first message."""
    return _add_annotation(tx, key, branch, "pin", text)


def release(
    tx: Transaction, key: SessionKey, branch: str, name: str, policy: Policy = CODING, voice: Voice = "first"
) -> Annotation:
    """Release the pin named by its id or words, or by the beginning of either.

    Releasing it again returns the existing release.
    """
    found = _pins_named(pins(tx, key, branch, policy, voice), name)
    if not found:
        if released := _released(tx, key, branch, name):
            return released
        raise BadInput(f"There is no pin called {name!r} in session {key.session}; take one from the list of pins.")
    if len(found) > 1:
        # Pins of one message share its id.
        said = ", ".join(f"“{clip(each.text, SHOWN)}”" for each in found)
        raise BadInput(f"{len(found)} pins are called {name!r}; give the words of one: {said}.")
    (meant,) = found
    has_own_id = meant.id.startswith(("p_", "t_"))
    return _add_annotation(tx, key, branch, "release", meant.text, about=meant.id if has_own_id else "")


def pins(tx: Transaction, key: SessionKey, branch: str, policy: Policy = CODING, voice: Voice = "first") -> list[Pin]:
    """The active constraints at the branch's head, in order, and the open threads of a story."""
    head = tx.log.head(key, branch)
    notes = tuple(tx.annotations.on_path(key, head.id if head else None))
    if head is None:
        by_hand, released = split_pins_and_releases(notes)
        return [_to_pin(line) for line in valid_pins(by_hand, released)]
    options = ContextOptions(budget=0, policy=policy, count=len, notes=notes)
    reader = StoredReader(tx, key, head, options, voice)
    threads: tuple[Thread, ...] = ()
    if policy.story is not None:
        items, threads = story_notes(StoryPath(reader, policy), options, reader.tails())
    else:
        known = WorkPath(reader, policy).stored_row(head.position)
        items = (*known.row, *reader.path(known.position, head.position))
    found, lifts = constraints(items, in_story=policy.story is not None)
    by_hand, released = split_pins_and_releases(notes)
    standing_pins = [_to_pin(line) for line in valid_pins([*found, *by_hand], [*lifts, *released])]
    open_pins = [Pin(id=each.id, text=each.text, source=each.source or head.id) for each in threads]
    return [*standing_pins, *open_pins]


def dispute(tx: Transaction, key: SessionKey, name: str, reason: str, claim: str) -> Annotation:
    """Dispute a summary, or one claim of it."""
    if not reason.strip():
        raise BadInput("Say why the summary is disputed: whoever writes it again has nothing else to go by.")
    summary = find_summary(tx, key, name)
    claim = recorded_text(claim)
    if claim and not any(claim in line.text for section in summary.sections for line in section.lines):
        raise BadInput(f"Summary {name} doesn't say “{claim}”; give the claim in its words, or leave it out.")
    reason, whose = reason.strip(), seen_by(summary.summarizer) or ""
    about = " ".join(filter(None, (summary.stretch, claim, whose)))
    notes = tx.annotations.on_path(key, summary.last)
    answered = {name for note in notes if note.about == summary.stretch for name in note.answers}
    if annotation_id("dispute", summary.last, reason, about) in answered:
        # A wording by hand that answered this dispute is disputed in the same words.
        about = f"{about} {len(answered)}"
    made = Annotation(
        id=annotation_id("dispute", summary.last, reason, about),
        kind="dispute",
        at=summary.last,
        at_position=summary.last_position,
        text=reason,
        about=summary.stretch,
        claim=claim,
        seen_by=whose,
    )
    tx.annotations.put(key, [made])
    return made


def _pins_named(pins: Sequence[Pin], name: str) -> list[Pin]:
    words = one_line(name)
    exact = [each for each in pins if each.text == words] or [each for each in pins if each.id == words]
    begins = [each for each in pins if len(words) > len("p_") and each.id.startswith(words)]
    return exact or begins or [each for each in pins if words and each.text.startswith(words)]


def _released(tx: Transaction, key: SessionKey, branch: str, name: str) -> Annotation | None:
    """The last release of the pin called `name` on the branch's path."""
    words = one_line(name)
    head = tx.log.head(key, branch)
    notes = tx.annotations.on_path(key, head.id if head else None)
    found = [note for note in notes if note.kind == "release" and len(words) > len("p_")]
    called = [note for note in found if note.text.startswith(words) or note.about.startswith(words)]
    return called[-1] if called else None


def _to_pin(line: Line) -> Pin:
    source = line.sources[0] if line.sources else MessageId("")
    return Pin(id=line.subject or source, text=line.text, source=source)


def _add_annotation(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    kind: AnnotationKind,
    text: str,
    about: str = "",
    meant: StoryThread | None = None,
) -> Annotation:
    words = one_line(text)
    if not words:
        raise BadInput("There is nothing to pin; give the words that are to stand.")
    at, position = _branch_place(tx, key, branch)
    name = annotation_id(kind, at, words, about)
    made = Annotation(id=name, kind=kind, at=at, at_position=position, text=words, about=about)
    if meant is not None:
        made = replace(made, claim=meant.text, source=MessageId(meant.source) or None)
    tx.annotations.put(key, [made])
    return made


def _branch_place(tx: Transaction, key: SessionKey, branch: str) -> tuple[MessageId, int]:
    """The message at a branch's head, and its position; before the first one of a session, which is created if new."""
    head = tx.log.head(key, branch)
    if head is None and tx.sessions.get(key) is None:
        tx.sessions.create(key, None)
        tx.log.move(key, branch, None)
    return (head.id, head.position) if head else (MessageId(""), BEFORE_FIRST)


# Annotations of a story.

MOST_CHARACTERS = 8_000
"""The maximum number of characters of a wording by hand, since it replaces one summary."""
MOST_OF_THREAD = 600
"""The maximum number of characters of a thread or a fact, since every context shows them."""

ThreadState = Literal["open", "resolved", "canon"]


class StoryThread(ShortRepr, frozen=True, kw_only=True):
    """A thread of a story, or a permanent fact (canon)."""

    id: str
    kind: str
    """``promise``, ``debt``, ``quest``, ``threat``, ``secret``, ``lie``, ``wound``, ``possession``, ``relation``,
    ``question``; or ``canon``."""
    text: str
    state: ThreadState = "open"
    who: str = ""
    whom: str = ""
    since: int = 0
    """The position of the message with the thread, or after which it was written by hand."""
    source: str = ""
    """The id of that message."""
    until: int | None = None
    """The position of the message that resolved it; None while it is open, or if that is unknown."""
    ended: str = ""
    """How it was resolved, in the words of the story or of whoever released it."""
    known_to: tuple[str, ...] = ()
    """For a thread by hand: the characters who know of it."""


def list_threads(
    tx: Transaction, key: SessionKey, branch: str, policy: Policy, voice: Voice, *, resolved: bool = False
) -> list[StoryThread]:
    """The canon facts, then the open threads, with `resolved` also the resolved ones."""
    head = tx.log.head(key, branch)
    notes = tuple(tx.annotations.on_path(key, head.id if head else None))
    out = [_canon_row(note) for note in canon_facts(notes, policy.seen_by)]
    options = ContextOptions(budget=0, policy=policy, count=len, notes=notes)
    if policy.story is None:
        return out
    if head is None:
        return out + [_thread_row(each, notes) for each in standing_threads((), options)[0]]
    reader = StoredReader(tx, key, head, options, voice)
    # The narrowest context shows the newest leaf first.
    path = StoryPath(reader, policy, budget=1)
    grown = path.grow(0)
    _, texts = with_tail(grown, tuple(reader.texts(grown.nodes)), reader.tails(), options)
    still = standing_threads(texts, options)[0]
    out += [_thread_row(each, notes) for each in still]
    if resolved:
        leaves = reader.texts([leaf for node in grown.nodes for leaf in path.summaries_under(node, 1)])
        worded, own = wordings(notes), ("thread", "canon")
        known = [note for note in notes if note.kind not in own or is_known(note, policy.seen_by, worded)]
        out += _resolved_threads([*leaves, *texts[len(grown.nodes) :]], known, {each.id for each in still})
    return out


def _resolved_threads(leaves: Sequence[Summary], notes: Sequence[Annotation], still: set[str]) -> list[StoryThread]:
    """The resolved threads, as their leaves opened them."""
    ends: dict[str, ThreadEnd | None] = {}
    for leaf in leaves:
        ends.update(dict.fromkeys(leaf.threads.closed))
        ends.update((end.id, end) for end in leaf.threads.ends)
    released = {note.about: note for note in notes if note.kind == "release"}
    opened = {each.id: each for leaf in leaves for each in leaf.threads.opened}
    out = [
        _resolve_row(_thread_row(thread, notes), ends.get(name), released.get(name))
        for name, thread in opened.items()
        if name not in still and (name in ends or name in released)
    ]
    # A thread by hand ends by a release, or if a model saw its end.
    by_hand = [note for note in notes if note.kind in ("thread", "canon") and note.id not in still]
    out += [
        _resolve_row(
            _canon_row(note) if note.kind == "canon" else _thread_row(thread_of(note), notes),
            ends.get(note.id),
            released.get(note.id),
        )
        for note in by_hand
        if note.id in released or ends.get(note.id) is not None
    ]
    return out


def _resolve_row(row: StoryThread, end: ThreadEnd | None, release: Annotation | None) -> StoryThread:
    until = end.position if end else release.at_position if release else None
    return replace(row, state="resolved", until=until, ended=end.text if end else release.text if release else "")


def _canon_row(note: Annotation) -> StoryThread:
    return StoryThread(
        id=note.id,
        kind="canon",
        text=note.text,
        state="canon",
        since=max(note.at_position, 0),
        source=note.at,
        known_to=note.known_to,
    )


def _thread_row(thread: Thread, notes: Sequence[Annotation]) -> StoryThread:
    return StoryThread(
        id=thread.id,
        kind=thread.kind,
        text=thread.text,
        who=thread.who,
        whom=thread.whom,
        since=thread.position,
        source=thread.source or "",
        known_to=next(
            (each.known_to for each in reversed(notes) if each.known_to and thread.id in (each.id, each.about)), ()
        ),
    )


def add_thread(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    kind: str,
    text: str,
    who: str = "",
    whom: str = "",
    known_to: Sequence[str] = (),
) -> StoryThread:
    """Add a thread of that kind, or a canon fact for the kind ``canon``, at the branch's head."""
    _check_kind(kind, "canon")
    words = _check_words(text, MOST_OF_THREAD)
    at, position = _branch_place(tx, key, branch)
    gone = {note.about for note in tx.annotations.on_path(key, at or None) if note.kind == "release"}
    sort: AnnotationKind = "canon" if kind == "canon" else "thread"
    number = 0
    # A released thread stays released: the same words again are another thread.
    while (name := annotation_id(sort, at, words, " ".join([kind, who, "→", whom, *known_to, str(number)]))) in gone:
        number += 1
    note = Annotation(
        id=name,
        kind=sort,
        at=at,
        at_position=position,
        text=words,
        sort="" if sort == "canon" else kind,
        who=one_line(who),
        whom=one_line(whom),
        known_to=tuple(map(one_line, known_to)),
        number=number,
    )
    tx.annotations.put(key, [note])
    return _canon_row(note) if sort == "canon" else _thread_row(thread_of(note), [note])


def edit_thread(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    id: str,
    text: str,
    policy: Policy,
    voice: Voice,
    *,
    kind: str = "",
    who: str = "",
    whom: str = "",
    known_to: Sequence[str] = (),
) -> StoryThread:
    """Reword an open thread or a canon fact; details that are not given are kept."""
    _check_kind(kind, "")
    meant = _thread_named(list_threads(tx, key, branch, policy, voice), id)
    words = _check_words(text, MOST_OF_THREAD) if text.strip() else meant.text
    at, position = _branch_place(tx, key, branch)
    before = [each for each in tx.annotations.on_path(key, at or None) if each.kind == "wording"]
    number = 1 + max((each.number for each in before if each.about == meant.id), default=0)
    note = Annotation(
        id=annotation_id("wording", at, words, " ".join([meant.id, kind, who, whom, *known_to, str(number)])),
        kind="wording",
        at=at,
        at_position=position,
        text=words,
        about=meant.id,
        sort=kind,
        claim=next((each.claim for each in before if each.about == meant.id), meant.text),
        source=MessageId(meant.source) or None,
        who=one_line(who),
        whom=one_line(whom),
        known_to=tuple(map(one_line, known_to)),
        number=number,
    )
    tx.annotations.put(key, [note])
    return _thread_named(list_threads(tx, key, branch, policy, voice), meant.id)


def resolve_thread(
    tx: Transaction, key: SessionKey, branch: str, id: str, how: str, policy: Policy, voice: Voice
) -> StoryThread:
    """Resolve a thread, or end a canon fact: it isn't shown any more from here on."""
    meant = _thread_named(list_threads(tx, key, branch, policy, voice), id)
    # Its words and message name it on the path of an edited chat as well.
    made = _add_annotation(tx, key, branch, "release", one_line(how) or meant.text, meant.id, meant)
    return replace(meant, state="resolved", until=max(made.at_position, 0), ended=made.text)


def write_summary(tx: Transaction, key: SessionKey, branch: str, id: str, text: str) -> Annotation:
    """Write a story's summary by hand (see `Session.edit`)."""
    summary = find_summary(tx, key, id)
    if summary.level != "story":
        raise BadInput(
            f"{summary.id} is a block of an agent's work, which is not written by hand; say what is wrong with it "
            "(`dispute`), or take notes."
        )
    words = _check_words(text, MOST_CHARACTERS)
    notes = tuple(tx.annotations.on_path(key, summary.last))
    whose = seen_by(summary.summarizer) or ""
    meant = ("dispute", summary.stretch, whose)
    disputes = tuple(note.id for note in notes if (note.kind, note.about, note.seen_by) == meant)
    number = 1 + max((note.number for note in notes if note.kind == "wording"), default=0)
    note = Annotation(
        id=annotation_id("wording", summary.last, words, f"{summary.stretch} {whose} {number} {' '.join(disputes)}"),
        kind="wording",
        at=summary.last,
        at_position=summary.last_position,
        text=words,
        about=summary.stretch,
        number=number,
        since=summary.first_position,
        seen_by=whose,
        answers=disputes,
    )
    same = [
        each
        for each in current_wordings(notes, whose)
        if (each.about, each.text, each.answers) == (note.about, note.text, note.answers)
    ]
    if same:
        return same[0]
    tx.annotations.put(key, [note])
    return note


def _check_kind(kind: str, other: str) -> None:
    kinds = [each for each in THREAD_KINDS if each != "open"]
    if kind not in (*kinds, other):
        raise BadInput(
            f"There are no threads of kind {kind!r}; give one of {', '.join(filter(None, (*kinds, other)))}."
        )


def _check_words(text: str, most: int) -> str:
    words = one_line(text)
    if not words:
        raise BadInput("There is nothing to write; give the words that are to stand.")
    if len(words) > most:
        raise BadInput(f"That has {len(words):,} characters; write {most:,} at the most.")
    return words


def _thread_named(threads: Sequence[StoryThread], id: str) -> StoryThread:
    """The thread with that id, or the only one whose id or words begin so."""
    name = one_line(id)
    found = [each for each in threads if name in (each.id, each.text)]
    found = found or [each for each in threads if len(name) >= MIN_ID_LENGTH and each.id.startswith(name)]
    found = found or [each for each in threads if len(name) >= MIN_ID_LENGTH and each.text.startswith(name)]
    if not found:
        raise BadInput(f"No open thread is called {id!r}; take one from the list of threads.")
    if len(found) > 1:
        said = ", ".join(each.id for each in found[:5])
        raise BadInput(f"{len(found)} threads are called {id!r}; give the id of one: {said}.")
    return found[0]


# A chat that was edited outside, or whose client asked for another answer, goes on on a new path. What a user wrote by
# hand on the old one belongs to the chat, and not to the version of a message that was replaced.

_ORDER: tuple[AnnotationKind, ...] = ("pin", "thread", "canon", "dispute", "wording", "release")
"""The kinds that are carried, those that others refer to first. An agent's diary entries stay where they are."""


_WRITTEN: frozenset[AnnotationKind] = frozenset({"pin", "thread", "canon", "wording"})
"""The kinds that say something by themselves."""


class BranchMove(Struct, frozen=True, kw_only=True):
    """The results of moving a branch, as in `Imported`."""

    kept: str = ""
    carried: int = 0
    unplaced: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def carry(tx: Transaction, key: SessionKey, old: Head | None, new: Head | None) -> BranchMove:
    """Repeat on the path to `new` the annotations that stand only on the path to `old`, from where a branch was moved.

    A note goes to the message with the same words, or to the one in the place of the message that was replaced. A
    summary written by hand, or disputed, is carried only if all its messages are there unchanged.
    """
    shared = last_shared(tx, key, old, new) if old and new else -1
    if old is None or new is None or shared == old.position:
        return BranchMove()
    notes = [note for note in tx.annotations.on_path(key, old.id) if note.at_position > shared and note.kind in _ORDER]
    if not notes:
        return BranchMove()
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
    unplaced: list[str] = []
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
        unplaced += [] if places.has(note.at_position) else [note.text]
    tx.annotations.put(key, made)
    written = sum(note.kind in _WRITTEN for note in made)
    return BranchMove(carried=written, unplaced=tuple(unplaced), lost=tuple(lost))


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
        moved = replace(note, at=self._message_id(at), at_position=at, source=self._source(note))
        return replace(moved, about=names.get(note.about) or _moved_thread_id(note, moved.source))

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

    def has(self, position: int) -> bool:
        """Whether the message at a position of the old path is on the new one too."""
        return position in self._same

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


def _moved_thread_id(note: Annotation, source: MessageId | None) -> str:
    """The id that the thread which a note is about has on the new path, where its message is `source`."""
    kind = next((each for each in THREAD_KINDS if thread_id(each, note.claim, note.source) == note.about), None)
    return thread_id(kind, note.claim, source) if kind and source else note.about


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
