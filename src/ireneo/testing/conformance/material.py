"""Test data for the checks: messages, summaries and notes; memories, scratchpads, runs, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

from ireneo.lessons.run import Category, DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import Draft, Head, Message, MessageId, Native, Part, Text, chain, digest, head_of
from ireneo.log.tree import MAIN, Annotation, AnnotationKind, SessionKey, annotation_id
from ireneo.memories.record import Evidence, Kind, MemoryId, Record
from ireneo.memories.scratchpad import Pad, PlanStep
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Rebuild, Transaction
from ireneo.summaries.summary import Line, Section, Summary, SummaryId, SummaryLevel, anchor

SPACE = "space"
KEY = SessionKey(SPACE, "session")
SUMMARIZER = "summarizer-1"
NOWHERE = "m_aaaaaaaaaaaaaaaaaaaaaaaaaa"
DAY = date(2031, 5, 9)
NOON = datetime(2031, 5, 9, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def count(parts: Sequence[Part]) -> tuple[int, int]:
    """Count a token for each part and each letter; stores only keep the counts they are given."""
    return len(parts) + sum(len(part.text) for part in parts if isinstance(part, Text)), 0


def say(*words: str) -> list[Draft]:
    """A conversation: the user speaks first, and then the two take turns."""
    return [
        Draft(role="assistant" if number % 2 else "user", parts=(Text(text=word),)) for number, word in enumerate(words)
    ]


def aside(author: str, word: str, *present: str) -> Draft:
    """A character of a story says `word`, and only those who are `present` hear it."""
    return Draft(role="user", parts=(Text(text=word, author=author, present=present),))


def numbered(size: int, word: str = "message") -> list[Draft]:
    """A conversation of `size` messages, all different."""
    return say(*(f"{word} {number}" for number in range(size)))


def with_native(draft: Draft, payload: object, record: object = None) -> Draft:
    """`draft` with a provider's payload and, if given, a log's record."""
    return Draft(
        role=draft.role,
        parts=draft.parts,
        native=Native(format="chat", payload=payload),
        record=None if record is None else Native(format="log", payload=record),
    )


def after(message: Message | None, drafts: Sequence[Draft]) -> list[Message]:
    """Messages of `drafts` behind `message`; None: from the root."""
    head: Head | None = None if message is None else head_of(message)
    return chain(head, drafts, count)


def tell(tx: Transaction, drafts: Sequence[Draft], key: SessionKey = KEY, branch: str = MAIN) -> list[Message]:
    """Append to a branch; the session is created if needed."""
    tx.sessions.create(key, None)
    messages = chain(tx.log.head(key, branch), drafts, count)
    tx.log.insert(key, messages)
    tx.log.move(key, branch, messages[-1].id)
    return messages


def tell_after(tx: Transaction, message: Message | None, drafts: Sequence[Draft]) -> list[Message]:
    """Store messages behind a stored one (None: at the root), and move no branch."""
    messages = after(message, drafts)
    tx.sessions.create(KEY, None)
    tx.log.insert(KEY, messages)
    return messages


def read_path(tx: Transaction, to: Message, key: SessionKey = KEY) -> list[Message]:
    """Read the whole path to a message."""
    return list(tx.log.path(key, to.id, 0, to.position))


def summarise(
    first: Message,
    last: Message,
    *,
    level: SummaryLevel = "turn",
    depth: int = 1,
    summarizer: str = SUMMARIZER,
    text: str = "done",
) -> Summary:
    """A summary of the stretch from `first` to `last`."""
    return Summary(
        id=anchor(level, first.id, last.id, summarizer),
        level=level,
        depth=depth,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=summarizer,
        source_tokens=first.tokens + last.tokens,
        sections=(Section(name="status", lines=(Line(text=text, sources=(first.id, last.id)),)),),
    )


def noted(at: Message, text: str, *, kind: AnnotationKind = "pin", about: str = "") -> Annotation:
    """An annotation at a message."""
    return Annotation(
        id=annotation_id(kind, at.id, text, about), kind=kind, at=at.id, at_position=at.position, text=text, about=about
    )


def rebuilt(
    edge: Message,
    *,
    summarizer: str = SUMMARIZER,
    budget_tokens: int = 1000,
    target_tokens: int = 500,
    taken_up: tuple[SummaryId, ...] = (),
) -> Rebuild:
    """The mark of a rebuild whose edge is `edge`."""
    return Rebuild(
        summarizer=summarizer,
        budget_tokens=budget_tokens,
        at=edge.id,
        at_position=edge.position,
        target_tokens=target_tokens,
        taken_up=taken_up,
    )


def erase_session(tx: Transaction, key: SessionKey = KEY) -> bool:
    """Erase a session; says whether it was there."""
    tx.erasure.begin()
    return tx.erasure.session(key)


def erase_space(tx: Transaction) -> int:
    """Erase the space; says how many sessions it had."""
    tx.erasure.begin()
    return tx.erasure.space(SPACE)


class BrokenOffError(Exception):
    """Raised by a check, in the middle of a transaction."""


def break_off(tx: Transaction, steps: Callable[[Transaction], object]) -> None:
    """Take the steps, and raise before the transaction is over."""
    steps(tx)
    raise BrokenOffError


def learned(
    text: str, *, kind: Kind = "semantic", key: str = "", at: datetime = NOON, recorded: datetime = NOON
) -> Record:
    """A memory with this text, which a user said."""
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
    """A piece of evidence with its sources."""
    return Evidence(
        at=recorded,
        recorded=recorded,
        messages=tuple(MessageId(name) for name in messages),
        summaries=summaries,
        memories=tuple(MemoryId(name) for name in memories),
    )


def pad(task: str, goal: str = "to get it done", written: datetime = NOON) -> Pad:
    """A scratchpad in which every part has something."""
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
    """A run in which every part has something."""
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
    """An observation of a claim in which every part has something."""
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
