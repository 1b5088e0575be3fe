"""What the checks on memories and runs are made with: records, scratchpads, runs, their observations, and files."""

from __future__ import annotations

from datetime import datetime

from ireneo.lessons.run import Category, DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import MessageId, digest
from ireneo.memories.record import Evidence, Kind, MemoryId, Record
from ireneo.memories.scratchpad import Pad, PlanStep
from ireneo.ports.memories import LearnedFile
from ireneo.testing.conformance.material import NOON


def learned(
    text: str, *, kind: Kind = "semantic", key: str = "", at: datetime = NOON, recorded: datetime = NOON
) -> Record:
    """A memory of `text`, which a user told."""
    return Record(
        id=MemoryId(digest("m", kind.encode(), key.encode(), text.encode())),
        kind=kind,
        key=key,
        text=text,
        at=at,
        recorded=recorded,
        evidence=(Evidence(at=at, recorded=recorded),),
    )


def cited(
    recorded: datetime,
    *,
    messages: tuple[str, ...] = (),
    summaries: tuple[str, ...] = (),
    memories: tuple[str, ...] = (),
) -> Evidence:
    """A piece of evidence that names what it is from."""
    return Evidence(
        at=recorded,
        recorded=recorded,
        messages=tuple(MessageId(name) for name in messages),
        summaries=summaries,
        memories=tuple(MemoryId(name) for name in memories),
    )


def pad(task: str, goal: str = "to get it done", written: datetime = NOON) -> Pad:
    """A scratchpad with something in every part."""
    return Pad(
        task=task,
        goal=goal,
        plan=(PlanStep(text="look", done=True), PlanStep(text="leap")),
        facts=("the bridge is out",),
        questions=("who has the key?",),
        written=written,
    )


HEAD = MessageId("m_aaaaaaaaaaaaaaaaaaaaaaaaaa")
"""A message that no check stores."""


def ran(session: str, ended: datetime | None = NOON, *, head: MessageId = HEAD, told: str = "it broke") -> LearnedRun:
    """A run with something in every part."""
    line = DiaryLine(text=told, sources=(head,))
    return LearnedRun(
        session=session,
        head=head,
        learner="1",
        learned=NOON,
        project="bridge",
        source="a log, day.jsonl",
        started=ended,
        ended=ended,
        messages=4,
        tokens=1000,
        calls=3,
        failures=1,
        lost_tokens=200,
        lost_seconds=1.5,
        diary=(
            DiaryEntry(
                goal="Mend “it”.\n\x00 \U0001f9e0",
                opening=head,
                last=head,
                attempted=(line,),
                worked=(line,),
                failed=(line,),
                pattern=told,
                author="agent",
            ),
        ),
        diary_tokens=20,
    )


def observed(
    cue: str,
    session: str,
    at: datetime | None = NOON,
    *,
    held: int = 1,
    broke: int = 0,
    project: str = "bridge",
    category: Category = "failure",
    text: str = "",
) -> Observation:
    """What a run shows of a claim, with something in every part."""
    return Observation(
        cue=cue,
        category=category,
        session=session,
        project=project,
        at=at,
        held=held,
        broke=broke,
        text=text,
        task_type="mend",
        conditions={"tool": "hammer"},
        limits="when it is cold",
        sources=(HEAD,),
        against=(HEAD,),
        tokens=10,
        seconds=0.5,
    )


def read_from(digest: str, *, learner: str = "1", name: str = "day.jsonl", at: datetime = NOON) -> LearnedFile:
    """A file of two sessions."""
    return LearnedFile(digest=digest, learner=learner, name=name, at=at, sessions=("one", "two"))
