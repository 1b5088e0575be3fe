"""Edits by hand of a story: added threads, permanent facts (canon), and rewritten summaries and threads.

They are stored as annotations, so they apply on the paths that go through their messages, and on no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from ireneo.language.words import sentences
from ireneo.log.tree import Annotation
from ireneo.summaries.summary import Line, Section, Summary, Thread, ThreadId, ThreadKind, Writing

HAND_WEIGHT = 10.0
"""The weight of annotations written by hand, above everything found by rules."""
MOSTLY = 0.8
"""The share of its messages that a summary must cover to show a wording by hand."""
BY_WHOM = "by hand"
"""The `Writing.prompt` of a summary that was written by hand."""
_HIDDEN: frozenset[str] = frozenset({"secret", "lie"})
"""Kinds known only to the person who hides them."""
THREAD_KINDS: tuple[ThreadKind, ...] = get_args(ThreadKind)


def with_threads_by_hand(
    found: Sequence[Thread], closed: Collection[ThreadId], notes: Sequence[Annotation], seen_by: str
) -> tuple[Thread, ...]:
    """Return the open threads: those that were `found`, with edits applied, and those added by hand.

    Released threads are left out, as are added ones that are `closed` or unknown to the character `seen_by`.
    """
    notes = each_once(notes)
    released = {note.about for note in notes if note.kind == "release"}
    worded = wordings(notes)
    added = [
        thread_of(note)
        for note in notes
        if note.kind == "thread" and ThreadId(note.id) not in closed and is_known(note, seen_by, worded)
    ]
    every = {each.id: _apply_wording(each, worded.get(each.id)) for each in (*found, *added) if each.id not in released}
    return tuple(every.values())


def each_once(notes: Iterable[Annotation]) -> Sequence[Annotation]:
    """Return notes without threads and facts that stand on the path already, of which notes are about the first one.

    Where a client goes back to a message, what was written after it is carried there; it may return later.
    """
    first: dict[tuple[object, ...], str] = {}
    owned = [note for note in notes if note.kind in ("thread", "canon")]
    own: dict[str, str] = {note.id: first.setdefault(note.words, note.id) for note in owned}
    told = [note for note in notes if own.get(note.id, note.id) == note.id]
    return [replace(note, about=own[note.about]) if note.about in own else note for note in told]


def thread_of(note: Annotation) -> Thread:
    """Build the thread that an annotation adds."""
    kind: ThreadKind = next((each for each in THREAD_KINDS if each == note.sort), "question")
    return Thread(
        id=ThreadId(note.id),
        kind=kind,
        text=note.text,
        who=note.who,
        whom=note.whom,
        weight=HAND_WEIGHT,
        position=max(note.at_position, 0),
        source=note.at or None,
    )


def canon_facts(notes: Sequence[Annotation], seen_by: str) -> list[Annotation]:
    """Return the canon facts that were not released, in the order they were set, with edits applied."""
    notes = each_once(notes)
    released = {note.about for note in notes if note.kind == "release"}
    worded = wordings(notes)
    return [
        replace(note, text=worded[note.id].text) if note.id in worded else note
        for note in notes
        if note.kind == "canon" and note.id not in released and is_known(note, seen_by, worded)
    ]


def is_known(note: Annotation, seen_by: str, worded: Mapping[str, Annotation]) -> bool:
    """Whether a character knows of a thread or fact added by hand; True if `seen_by` is empty.

    Whose it is knows of it, and whoever it is known to. Where that is left open, so does whom it concerns, but not what
    is hidden from her; what names nobody, and is not hidden, everybody knows.
    """
    if not seen_by:
        return True
    # One character may go by several names.
    own = {name.strip().casefold() for name in seen_by.split("=")}
    edit = worded.get(note.id)
    known_to = (edit.known_to if edit else ()) or note.known_to
    hidden = note.sort in _HIDDEN
    knows = (note.who, *(known_to or (() if hidden else (note.whom,))))
    named = {name.casefold() for name in knows if name}
    return not own.isdisjoint(named) if named or hidden else True


def wordings(notes: Iterable[Annotation]) -> dict[str, Annotation]:
    """Return the latest wording by hand of each edited item, by the item's id."""
    out: dict[str, Annotation] = {}
    for note in notes:
        if note.kind == "wording" and (note.about not in out or out[note.about].number < note.number):
            out[note.about] = note
    return out


def current_wordings(notes: Sequence[Annotation], seen_by: str) -> list[Annotation]:
    """Return the wordings of summaries, for one character's memory, that no later dispute overrules."""
    disputes: dict[str, set[str]] = {}
    for note in notes:
        if note.kind == "dispute" and note.seen_by == seen_by:
            disputes.setdefault(note.about, set()).add(note.id)
    own = [note for note in notes if note.kind == "wording" and note.since >= 0 and note.seen_by == seen_by]
    found = [note for note in wordings(own).values() if disputes.get(note.about, set()) <= set(note.answers)]
    # A later wording of a longer stretch replaces those inside it.
    return [
        note
        for note in found
        if not any(
            other is not note and other.since <= note.since and note.at_position <= other.at_position
            and other.number >= note.number for other in found
        )
    ]  # fmt: skip


def with_edits(summary: Summary, written: Sequence[Annotation]) -> Summary:
    """Apply the wordings by hand of a summary, or of parts of it."""
    for note in written:
        if note.about == summary.stretch:
            return _replace_text(summary, note)
    within = [note for note in written if is_within(note, summary.first_position, summary.last_position)]
    if not within:
        return summary

    def is_unedited(line: Line) -> bool:
        return not any(note.since <= line.position <= note.at_position for note in within)

    lines = [line for line in summary.lines("story") if is_unedited(line)]
    lines += [line for note in within for line in _sentence_lines(note)]
    ordered = tuple(sorted(lines, key=lambda line: line.position))
    return replace(summary, sections=_with_story_lines(summary, ordered), edits=tuple(note.id for note in within))


def is_within(note: Annotation, first: int, last: int) -> bool:
    """Whether a wording of a summary is about the messages `first` to `last`.

    After an edit of the chat a summary may end some messages earlier or later.
    """
    shared = min(note.at_position, last) - max(note.since, first) + 1
    return shared >= MOSTLY * (note.at_position - note.since + 1)


def _replace_text(summary: Summary, note: Annotation) -> Summary:
    names = []
    for line in summary.lines("artifacts"):
        kept = tuple(mention for mention in line.names if mention.name.casefold() in note.text.casefold())
        names += [replace(line, names=kept)] if kept else []
    written = Writing(prompt=BY_WHOM, model="", tokens_in=0, tokens_out=0, supported=1.0, disputes=tuple(note.answers))
    sections = [each for each in _with_story_lines(summary, _sentence_lines(note)) if each.name != "artifacts"]
    sections += [Section(name="artifacts", lines=tuple(names))] if names else []
    return replace(summary, sections=tuple(sections), writing=written, edits=(note.id,))


def _with_story_lines(summary: Summary, lines: tuple[Line, ...]) -> tuple[Section, ...]:
    others = tuple(section for section in summary.sections if section.name != "story")
    return (Section(name="story", lines=lines), *others)


def _sentence_lines(note: Annotation) -> tuple[Line, ...]:
    line = Line(weight=HAND_WEIGHT, position=note.at_position, sources=(note.at,))
    return tuple(replace(line, text=text) for text in sentences(note.text))


def _apply_wording(thread: Thread, note: Annotation | None) -> Thread:
    if note is None:
        return thread
    return replace(
        thread,
        text=note.text,
        kind=next((each for each in THREAD_KINDS if each == note.sort), thread.kind),
        who=note.who or thread.who,
        whom=note.whom or thread.whom,
        weight=HAND_WEIGHT,
    )


CANON = "What stands, as it was set by hand:"


def canon_lines(facts: Sequence[Annotation], room: int, count: Callable[[str], int]) -> list[str]:
    """Return the lines for the canon facts, in order, within `room` tokens; a line says how many more there are."""
    lines: list[str] = []
    used = count(CANON) + 1
    for note in facts:
        line = f"- {note.text}"
        used += count(line) + 1
        if used > room:
            more = len(facts) - len(lines)
            return [CANON, *lines, f"({more} more have no room here.)"] if lines else []
        lines.append(line)
    return [CANON, *lines] if lines else []
