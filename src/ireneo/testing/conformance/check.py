"""Checks: what a check is, how it is run against a store, the report on how a store did, and what checks store.

A capability has a class, and each public method of it is a check, with one sentence about stores as its docstring. Most
checks are plain functions over a `Place`, which is a store whose calls are transactions. They run twice, each time on a
fresh store: with each call in a transaction of its own, and all in one. Checks of tasks, or of transactions themselves,
are async functions over the store. Those with a second argument open another store over the same place with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, date, datetime, timedelta
from inspect import iscoroutinefunction, signature
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

from msgspec import Struct

from ireneo.errors import IreneoError
from ireneo.lessons.run import Category, DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import Draft, Head, Message, MessageId, Native, Part, Text, chain, digest, head_of
from ireneo.log.tree import MAIN, Annotation, AnnotationKind, SessionKey, annotation_id
from ireneo.memories.record import Evidence, Kind, MemoryId, Record
from ireneo.memories.scratchpad import Pad, PlanStep
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Rebuild, Store, Transaction
from ireneo.summaries.summary import Line, Section, Summary, SummaryId, SummaryLevel, anchor

P = ParamSpec("P")
R = TypeVar("R")

Fresh = Callable[[], AbstractAsyncContextManager[Store]]
"""Creates an empty store, and cleans up afterwards; one check may call it several times."""

Again = Callable[[Store], Awaitable[Store]]
"""Opens a second store over the data of a first one, as another process would; the first may be closed already."""

Verdict = Literal["met", "unmet", "skipped"]

PATIENCE_SECONDS = 60.0
"""A check that takes longer has failed."""
SHOWN = 400
"""How many characters of a value an error message shows."""

WRITES = frozenset(
    "insert move create set_project put add take take_first renew fail release forget drop write remove mark rebuild "
    "drop_branch discard prune repair keep".split()
)
"""The methods of ports that write; those of erasure all do except `count`."""


class UnmetError(AssertionError):
    """The store does not do what a check demands."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise UnmetError unless `actual` equals `wanted`; `what` names it in the message.

    A sequence equals any list of the same items, and a mapping any such dictionary, since ports promise no more.
    """
    if _plain(actual) != _plain(wanted):
        raise UnmetError(f"{what}: wanted {_show(wanted)}, got {_show(actual)}")


@contextmanager
def expect_error(error: type[IreneoError], what: str) -> Iterator[None]:
    """Raise UnmetError unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise UnmetError(f"{what}: wanted {error.__name__}, and nothing was raised")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else value


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


class Place(Transaction, Protocol):
    """The ports of a store, whose calls are either a transaction each or all in one."""

    def read(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that reads."""

    def write(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that writes."""


class _Apart:
    """A place whose calls are a transaction each, made from a thread outside the store's event loop."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop

    def read(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.read(fn, *args, **kwargs), self._loop).result()

    def write(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.write(fn, *args, **kwargs), self._loop).result()

    def __getattr__(self, port: str) -> _Port:
        return _Port(self, port)


class _Port:
    def __init__(self, place: _Apart, port: str) -> None:
        self._place = place
        self._port = port

    def __getattr__(self, method: str) -> Callable[..., object]:
        writes = method in WRITES if self._port != "erasure" else method != "count"
        transaction = self._place.write if writes else self._place.read

        def call(*args: object, **kwargs: object) -> object:
            return transaction(lambda tx: getattr(getattr(tx, self._port), method)(*args, **kwargs))

        return call


class _Together:
    """A place whose calls are all in one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def read(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        return fn(self._tx, *args, **kwargs)

    write = read

    def __getattr__(self, port: str) -> object:
        return getattr(self._tx, port)


class Check(Struct, frozen=True, kw_only=True):
    """One sentence that must be true of every store."""

    capability: str
    name: str
    sentence: str
    steps: Callable[..., Any]
    """Takes a place, or a store if it is async, and an `Again` if it `needs_again`."""
    needs_again: bool = False
    """Whether it opens a second store, and so only applies to stores whose data outlive them."""

    def __str__(self) -> str:
        return f"{self.capability}: {self.name.replace('_', ' ')}"

    async def run(self, fresh: Fresh, again: Again | None = None) -> None:
        """Run it on fresh stores. Raises UnmetError, or whatever the store raises.

        Without `again`, a check that needs it passes.
        """
        async with asyncio.timeout(PATIENCE_SECONDS):
            if self.needs_again and again is None:
                return
            async with fresh() as store:
                if iscoroutinefunction(self.steps):
                    await (self.steps(store, again) if self.needs_again else self.steps(store))
                    return
                place = cast(Place, _Apart(store, asyncio.get_running_loop()))
                await asyncio.to_thread(self.steps, place)
            async with fresh() as store:
                await store.write(lambda tx: self.steps(cast(Place, _Together(tx))))


def checks_in(**capabilities: type) -> tuple[Check, ...]:
    """The checks of some capabilities by their names, in order."""
    return tuple(
        Check(
            capability=capability,
            name=name,
            sentence=" ".join((method.__doc__ or "").split()),
            steps=getattr(checks(), name),
            needs_again="again" in signature(method).parameters,
        )
        for capability, checks in capabilities.items()
        for name, method in vars(checks).items()
        if not name.startswith("_")
    )


class CheckResult(Struct, frozen=True, kw_only=True):
    """The result of one check."""

    check: Check
    verdict: Verdict
    detail: str = ""
    """The expected and the actual result."""


class Report(Struct, frozen=True, kw_only=True):
    """The results of all checks."""

    results: tuple[CheckResult, ...]

    @property
    def conforms(self) -> bool:
        """Whether all checks were met."""
        return not self.unmet

    @property
    def unmet(self) -> tuple[CheckResult, ...]:
        """The checks that the store does not meet."""
        return tuple(result for result in self.results if result.verdict == "unmet")

    def __str__(self) -> str:
        lines = []
        for capability in dict.fromkeys(result.check.capability for result in self.results):
            own = [result for result in self.results if result.check.capability == capability]
            met, skipped = (sum(result.verdict == wanted for result in own) for wanted in ("met", "skipped"))
            lines.append(f"{capability}: {met} of {len(own)} met" + (f", {skipped} skipped" if skipped else ""))
            lines.extend(
                f"  unmet: {result.check.sentence} ({result.check.name}) {result.detail}"
                for result in own
                if result.verdict == "unmet"
            )
        return "\n".join(lines)


async def run_checks(checks: Sequence[Check], fresh: Fresh, again: Again | None = None) -> Report:
    """Run `checks`, each on fresh stores."""
    return Report(results=tuple([await _try(check, fresh, again) for check in checks]))


async def _try(check: Check, fresh: Fresh, again: Again | None) -> CheckResult:
    if check.needs_again and again is None:
        return CheckResult(check=check, verdict="skipped")
    try:
        await check.run(fresh, again)
    except (AssertionError, IreneoError, TimeoutError, LookupError, TypeError, ValueError, OSError) as fault:
        return CheckResult(check=check, verdict="unmet", detail=f"{type(fault).__name__}: {fault}")
    return CheckResult(check=check, verdict="met")


# What checks store: messages, summaries and notes; memories, scratchpads, runs, files.

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
