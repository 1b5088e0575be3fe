"""Whatever is broken in a session in memory is found, and named in a sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ireneo.adapters.in_memory.state import SessionState
from ireneo.adapters.in_memory.upkeep import find_faults
from ireneo.log.message import MessageId
from ireneo.ports.store import Lease
from ireneo.testing.conformance.material import KEY, NOON, NOWHERE, after, noted, numbered, rebuilt, summarise

MESSAGES = after(None, numbered(6))
LOST = after(MESSAGES[-1], numbered(1, "lost"))[0]
WHERE = "session 'session' of space 'space'"


def sound() -> SessionState:
    """A session with something of everything."""
    tree = SessionState(KEY, None, 1)
    tree.messages = {message.id: message for message in MESSAGES}
    tree.payloads = {MESSAGES[0].id: b""}
    tree.branches = {"main": MESSAGES[-1].id, "empty": None}
    summary, mark, note = summarise(MESSAGES[0], MESSAGES[3]), rebuilt(MESSAGES[2]), noted(MESSAGES[1], "note")
    tree.summaries = {summary.id: summary}
    tree.rebuilds = {(mark.summarizer, mark.budget_tokens, mark.at): mark}
    tree.annotations = {note.id: note}
    tree.leases = {"work": Lease(key=KEY, work="work", holder="one", token=1, until=NOON)}
    tree.leased = 1
    return tree


def orphan(tree: SessionState) -> None:
    tree.messages[LOST.id] = replace(LOST, parent=MessageId(NOWHERE))


def misplace(tree: SessionState) -> None:
    tree.messages[LOST.id] = replace(LOST, position=9)


def misprice(tree: SessionState) -> None:
    tree.messages[LOST.id] = replace(LOST, total_tokens=9)


def point_nowhere(tree: SessionState) -> None:
    tree.branches["lost"] = LOST.id


def unpack(tree: SessionState) -> None:
    tree.payloads[LOST.id] = b""


def summarise_nothing(tree: SessionState) -> None:
    lost = summarise(MESSAGES[0], LOST)
    tree.summaries[lost.id] = lost


def mark_nothing(tree: SessionState) -> None:
    tree.rebuilds["family", 1000, LOST.id] = rebuilt(LOST)


def note_nothing(tree: SessionState) -> None:
    lost = noted(LOST, "lost")
    tree.annotations[lost.id] = lost


def lose_the_count(tree: SessionState) -> None:
    tree.leased = 0


def test_a_sound_session_has_no_faults() -> None:
    assert list(find_faults(sound())) == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (orphan, f"at position 6 of {WHERE} goes on after {NOWHERE}, and no such message is there."),
        (misplace, f"at position 9 of {WHERE} stands behind a message that isn't its parent."),
        (misprice, f"at position 6 of {WHERE} gives a total that its path doesn't cost."),
        (point_nowhere, f"Branch 'lost' of {WHERE} points to {LOST.id}, and no such message is there."),
        (unpack, f"A payload hangs on {LOST.id} of {WHERE}, and no such message is there."),
        (summarise_nothing, f"of {WHERE} covers positions 0 to 6, and its messages aren't there."),
        (mark_nothing, f"hangs on position 6 of {WHERE}, and its message isn't there."),
        (note_nothing, f"hangs on position 6 of {WHERE}, and its message isn't there."),
        (lose_the_count, f"The lease on 'work' of {WHERE} has token 1, and only 0 were given."),
    ],
)
def test_what_is_broken_is_found(damage: Callable[[SessionState], None], sentence: str) -> None:
    tree = sound()
    damage(tree)
    (found,) = find_faults(tree)
    assert found.endswith(sentence)
