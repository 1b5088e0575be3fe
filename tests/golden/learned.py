"""What was learned in the harbour office, as memories: some of each kind, one disputed, one to be reconsidered."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from ireneo.memories.brief import BriefCandidate
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import reconcile
from ireneo.memories.record import Record
from ireneo.memories.scratchpad import Pad, PlanStep

NOW = datetime(2026, 5, 20, 9, tzinfo=UTC)

PAD = Pad(
    task="berths",
    goal="Let the pilot book a berth over the radio desk",
    plan=(
        PlanStep(text="read how berths are kept", done=True),
        PlanStep(text="write the booking form", done=True),
        PlanStep(text="take bookings from the desk"),
        PlanStep(text="tell the pilot"),
    ),
    facts=("Berth 7 is closed until June.", "The desk sends times without a zone."),
    questions=("Who may cancel a booking?",),
    written=NOW,
)


def learned() -> list[BriefCandidate]:
    """The memories, each with how well it answers and why."""
    march, april = datetime(2026, 3, 3, 8, tzinfo=UTC), datetime(2026, 4, 11, 17, tzinfo=UTC)
    steps = "Start the desk with DESK_TEST=1; send a booking from the console; look at berths.log"
    tests = _settled(steps, MemoryDetails(kind="procedural", task_type="test the desk", name="by hand", at=march))
    table = _settled(
        "Bookings are kept in the table berths.",
        MemoryDetails(kind="semantic", subject="bookings", at=march, session="s-03"),
    )
    port = MemoryDetails(kind="semantic", subject="the radio desk", attribute="port", at=march)
    desk = _settled("The radio desk listens on port 7401.", MemoryDetails(**port, value="7401"))
    other = _settled("The radio desk listens on port 9000.", MemoryDetails(**port, value="9000", origin="tool"), desk)
    derived = _settled(
        "Bookings may be lost at night.",
        MemoryDetails(kind="semantic", subject="bookings at night", origin="derived", at=april),
    )
    night = _settled(
        "I restarted the desk at night, and two bookings were gone.",
        MemoryDetails(kind="episodic", origin="agent", at=april, session="s-11"),
    )
    failed = _settled(
        "I tried `desk --reload` to take over the new form — abandoned because it drops open bookings.",
        MemoryDetails(
            kind="failure", signature="bash: desk --reload ⇒ drops", at=april, session="s-11", origin="agent"
        ),
    )
    return [
        BriefCandidate(record=replace(tests, helped=3, harmed=1), score=1.2, why="the task type is test the desk"),
        BriefCandidate(record=table, score=0.9, why="it speaks of bookings"),
        BriefCandidate(record=desk, score=0.8, why="it speaks of the desk"),
        BriefCandidate(record=other, score=0.5, why="it speaks of the desk"),
        BriefCandidate(
            record=replace(derived, stale="“It is copied at six.” no longer holds."), score=0.4, why="bookings"
        ),
        BriefCandidate(record=night, score=0.7, why="it speaks of bookings"),
        BriefCandidate(record=failed, score=1.6, why="the same action failed before"),
    ]


def _settled(text: str, told: MemoryDetails, *known: Record) -> Record:
    offer = memory_draft(text, told, NOW)
    assert KINDS[offer.kind].heading
    return reconcile(offer, known).record
