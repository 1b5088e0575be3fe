"""What is noted by hand: pins, the release of one, and disputes of summaries."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.compose import ContextOptions
from ireneo.context.story import story_notes
from ireneo.engine.context import StoredReader
from ireneo.engine.expand import find_summary
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationKind, SessionKey, annotation_id
from ireneo.ports.store import Transaction
from ireneo.prompts.replies import Voice
from ireneo.summaries.pins import constraints, pinned, standing
from ireneo.summaries.policy import CODING, Policy
from ireneo.summaries.steps import clip
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import Line, Thread
from ireneo.summaries.work import WorkPath, recorded

SHOWN = 60
"""Characters of each pin, where a name calls several."""


class Pin(Struct, frozen=True, kw_only=True):
    """A constraint that stands, word for word."""

    id: str
    """Of a pin by hand its own id; of one that was found in a message the message's. By either it is released.

    Several that were found in one message share its id: each of them is released by its words. An open thread of a
    story has an id of its own, ``t_…``.
    """
    text: str
    source: MessageId
    """The message that it stands in, or after which it was made; empty where that was before the first one."""


def pin(tx: Transaction, key: SessionKey, branch: str, text: str) -> Annotation:
    """Pin `text` at the branch's head; in a session without a message, which it makes, before the first one."""
    return _note(tx, key, branch, "pin", text)


def release(
    tx: Transaction, key: SessionKey, branch: str, name: str, policy: Policy = CODING, voice: Voice = "first"
) -> Annotation:
    """Let go of the pin called `name`: its id or its words, or the beginning of either.

    One that was let go of already stays so: then it is the release that there is.
    """
    found = _called(pins(tx, key, branch, policy, voice), name)
    if not found:
        if released := _released(tx, key, branch, name):
            return released
        raise BadInput(f"No pin called {name!r} stands in session {key.session}; take one from the list of pins.")
    if len(found) > 1:
        # Those that stand in one message share its id, and are told by their words.
        said = ", ".join(f"“{clip(each.text, SHOWN)}”" for each in found)
        raise BadInput(f"{len(found)} pins are called {name!r}; give the words of one: {said}.")
    (meant,) = found
    has_own_id = meant.id.startswith(("p_", "t_"))
    return _note(tx, key, branch, "release", meant.text, about=meant.id if has_own_id else "")


def pins(tx: Transaction, key: SessionKey, branch: str, policy: Policy = CODING, voice: Voice = "first") -> list[Pin]:
    """The constraints that stand at the branch's head, in the order in which they were set.

    Of a story, whose texts are told in `voice`, the threads that are open as well.
    """
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
    """Say that a summary, or one claim of it, is not so."""
    if not reason.strip():
        raise BadInput("Say why the summary is disputed: whoever writes it again has nothing else to go by.")
    summary = find_summary(tx, key, name)
    claim = recorded(claim)
    if claim and not any(claim in line.text for section in summary.sections for line in section.lines):
        raise BadInput(f"Summary {name} doesn't say “{claim}”; give the claim in its words, or leave it out.")
    reason = reason.strip()
    made = Annotation(
        id=annotation_id("dispute", summary.last, reason, f"{summary.stretch} {claim}".strip()),
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
        # What is set before anything was said makes the session, which then stands before its first message.
        tx.sessions.create(key, None)
        tx.log.move(key, branch, None)
    at, position = (head.id, head.position) if head else (MessageId(""), BEFORE_FIRST)
    name = annotation_id(kind, at, words, about)
    made = Annotation(id=name, kind=kind, at=at, at_position=position, text=words, about=about)
    tx.annotations.put(key, [made])
    return made
