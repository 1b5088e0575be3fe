"""Annotations by hand: pins, their release, and disputes of summaries."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.story import story_notes
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader
from ireneo.engine.expand import find_summary
from ireneo.errors import BadInput
from ireneo.language.topics import Voice
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationKind, SessionKey, annotation_id
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.pins import constraints, pinned, standing
from ireneo.summaries.policy import CODING, Policy
from ireneo.summaries.steps import clip
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import Line, Thread
from ireneo.summaries.work import WorkPath, recorded

SHOWN = 60
"""Characters of each pin where a name is ambiguous."""


class Pin(ShortRepr, frozen=True, kw_only=True):
    """A standing constraint, word for word."""

    id: str
    """A pin by hand has its own id, one found in a message the message's; both release it.

    Several found in one message share its id and are released by their words. A story's open thread has a ``t_…``."""
    text: str
    source: MessageId
    """The message that contains it, or after which it was made; empty before the first one."""


def pin(tx: Transaction, key: SessionKey, branch: str, text: str) -> Annotation:
    """Pin `text` at the branch's head; a new session is created, and pinned before its first message."""
    return _note(tx, key, branch, "pin", text)


def release(
    tx: Transaction, key: SessionKey, branch: str, name: str, policy: Policy = CODING, voice: Voice = "first"
) -> Annotation:
    """Release the pin that `name` calls: its id or its words, or the beginning of either.

    Releasing it again returns the existing release.
    """
    found = _called(pins(tx, key, branch, policy, voice), name)
    if not found:
        if released := _released(tx, key, branch, name):
            return released
        raise BadInput(f"No pin called {name!r} stands in session {key.session}; take one from the list of pins.")
    if len(found) > 1:
        # Pins of one message share its id.
        said = ", ".join(f"“{clip(each.text, SHOWN)}”" for each in found)
        raise BadInput(f"{len(found)} pins are called {name!r}; give the words of one: {said}.")
    (meant,) = found
    has_own_id = meant.id.startswith(("p_", "t_"))
    return _note(tx, key, branch, "release", meant.text, about=meant.id if has_own_id else "")


def pins(tx: Transaction, key: SessionKey, branch: str, policy: Policy = CODING, voice: Voice = "first") -> list[Pin]:
    """The constraints that stand at the branch's head, in order, and the open threads of a story."""
    head = tx.log.head(key, branch)
    notes = tuple(tx.annotations.on_path(key, head.id if head else None))
    if head is None:
        by_hand, released = pinned(notes)
        return [_pin(line) for line in standing(by_hand, released)]
    options = ContextOptions(budget=0, policy=policy, count=len, notes=notes)
    reader = StoredReader(tx, key, head, options, voice)
    threads: tuple[Thread, ...] = ()
    if policy.story is not None:
        items, threads = story_notes(StoryPath(reader, policy), options)
    else:
        known = WorkPath(reader, policy).stored(head.position)
        items = (*known.row, *reader.path(known.position, head.position))
    found, lifts = constraints(items, in_story=policy.story is not None)
    by_hand, released = pinned(notes)
    standing_pins = [_pin(line) for line in standing([*found, *by_hand], [*lifts, *released])]
    open_pins = [Pin(id=each.id, text=each.text, source=each.source or head.id) for each in threads]
    return [*standing_pins, *open_pins]


def dispute(tx: Transaction, key: SessionKey, name: str, reason: str, claim: str) -> Annotation:
    """Dispute a summary, or one claim of it."""
    if not reason.strip():
        raise BadInput("Say why the summary is disputed: whoever writes it again has nothing else to go by.")
    summary = find_summary(tx, key, name)
    claim = recorded(claim)
    if claim and not any(claim in line.text for section in summary.sections for line in section.lines):
        raise BadInput(f"Summary {name} doesn't say “{claim}”; give the claim in its words, or leave it out.")
    reason = reason.strip()
    about = f"{summary.stretch} {claim}".strip()
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
    )
    tx.annotations.put(key, [made])
    return made


def _called(pins: Sequence[Pin], name: str) -> list[Pin]:
    words = " ".join(name.split())
    exact = [each for each in pins if each.text == words] or [each for each in pins if each.id == words]
    begins = [each for each in pins if len(words) > len("p_") and each.id.startswith(words)]
    return exact or begins or [each for each in pins if words and each.text.startswith(words)]


def _released(tx: Transaction, key: SessionKey, branch: str, name: str) -> Annotation | None:
    """The last release of what `name` calls, on the branch's path."""
    words = " ".join(name.split())
    head = tx.log.head(key, branch)
    notes = tx.annotations.on_path(key, head.id if head else None)
    found = [note for note in notes if note.kind == "release" and len(words) > len("p_")]
    called = [note for note in found if note.text.startswith(words) or note.about.startswith(words)]
    return called[-1] if called else None


def _pin(line: Line) -> Pin:
    source = line.sources[0] if line.sources else MessageId("")
    return Pin(id=line.subject or source, text=line.text, source=source)


def _note(
    tx: Transaction, key: SessionKey, branch: str, kind: AnnotationKind, text: str, about: str = ""
) -> Annotation:
    words = " ".join(text.split())
    if not words:
        raise BadInput("There is nothing to pin; give the words that are to stand.")
    head = tx.log.head(key, branch)
    if head is None and tx.sessions.get(key) is None:
        tx.sessions.create(key, None)
        tx.log.move(key, branch, None)
    at, position = (head.id, head.position) if head else (MessageId(""), BEFORE_FIRST)
    name = annotation_id(kind, at, words, about)
    made = Annotation(id=name, kind=kind, at=at, at_position=position, text=words, about=about)
    tx.annotations.put(key, [made])
    return made
