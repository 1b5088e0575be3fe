"""Learn from the sessions of a space: each once, and again when it has grown.

For each session its path is read and studied by pure rules (and by a model, if there is one); then one transaction
stores the run, its observations and the resulting lessons. Concurrent learners store the same, and a killed one leaves
only complete runs. The evidence of a lesson is always what its runs show now: observations from an abandoned path, or
by older rules, are retracted, and a lesson without other evidence is removed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.check import observations_by_cue
from ireneo.engine.erasure import remove_memories
from ireneo.engine.models import Worker
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Cleaning, Resources
from ireneo.engine.scope import same_repository, session_project
from ireneo.engine.synthesis import Synthesis, synthesise, without_worthless
from ireneo.errors import BadInput, ModelError, NotFound, SessionNotFound
from ireneo.grounding.claims import TextClaim
from ireneo.grounding.evidence import SourceIndex, source_texts
from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.lessons import (
    applies,
    best_worded,
    is_obvious,
    is_worth_a_lesson,
    lesson_drafts,
    lesson_text,
    projects_of,
    withdrawals,
)
from ireneo.lessons.observe import is_statistic, with_limits
from ireneo.lessons.relevance import says_the_same
from ireneo.lessons.rulings import observations_against, related_rulings
from ireneo.lessons.run import (
    LEARNER,
    MODEL,
    RULING,
    DiaryEntry,
    LearnedRun,
    Observation,
    is_ruling,
    noted_words,
    outcome_of,
)
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import StudyResult, join_windows, may_teach, study, sum_observations
from ireneo.lessons.write_diary import (
    AgentNotes,
    mark_unverified,
    notes_claims,
    parse_notes,
    render_diary,
    serialise_notes,
    write_diary,
)
from ireneo.log.message import Call, Count, Draft, Head, Message, MessageId, Part, Result, Text
from ireneo.log.tree import MAIN, Annotation, SessionKey, annotation_id
from ireneo.memories.record import Evidence, MemoryDraft, Record, is_confirmed_by_user, is_dropped_by_user
from ireneo.ports.memories import LearnedFile, MemoryFilter
from ireneo.ports.models import LanguageModel
from ireneo.ports.store import Lease, SessionInfo, Store, Transaction
from ireneo.short_repr import ShortRepr

_NEVER = datetime.max.replace(tzinfo=UTC)


class DueRun(Struct, frozen=True, kw_only=True):
    """A session to learn from, up to its current head."""

    info: SessionInfo
    head: Head
    erased: int
    """The number of its erased messages at that time: if it has grown, the reading is invalid."""


def due_runs(tx: Transaction, space: str, sessions: Iterable[str] | None = None) -> list[DueRun]:
    """The sessions that were not learned from up to their head, by the time of their first message.

    Raises SessionNotFound for a named one that does not exist.
    """
    chosen = None if sessions is None else set(sessions)
    out: list[DueRun] = []
    found = tx.sessions.list(space) if chosen is None else [tx.sessions.get(SessionKey(space, each)) for each in chosen]
    infos = [info for info in found if info is not None]
    if unknown := sorted((chosen or set()) - {info.key.session for info in infos}):
        raise SessionNotFound.named(unknown[0], space)
    known = {run.session: run for run in tx.runs.get(space, [info.key.session for info in infos])}
    for info in infos:
        head = tx.log.head(info.key, MAIN)
        if head is not None and not _is_learned(known.get(info.key.session), head):
            out.append(DueRun(info=info, head=head, erased=tx.sessions.erased(info.key)))
    # By the times in the logs, so that the order of import makes no difference.
    return sorted(out, key=lambda due: (due.info.first_at or _NEVER, due.info.key.session))


def still_due(tx: Transaction, due: DueRun) -> bool:
    """Whether the session is unchanged, and was not learned from meanwhile."""
    key = due.info.key
    known = tx.runs.get(key.space, [key.session])
    now = tx.log.head(key, MAIN)
    if now is None or now.id != due.head.id or tx.sessions.erased(key) != due.erased:
        return False
    return not (known and _is_learned(known[0], due.head))


def _is_learned(run: LearnedRun | None, head: Head) -> bool:
    return run is not None and run.learner == LEARNER and run.head == head.id


def known_files(tx: Transaction, space: str, digests: Sequence[str]) -> frozenset[str]:
    """The digests among `digests` of files that were learned from before."""
    return tx.ledger.known(space, LEARNER, digests)


def mark_file(
    tx: Transaction, resources: Resources, space: str, digest: str, name: str, sessions: Sequence[str]
) -> None:
    """Record that a whole file was learned from; secrets in its name are redacted."""
    now = resources.clock.now()
    clean = resources.derived_cleaning().text(name)
    file = LearnedFile(digest=digest, learner=LEARNER, name=clean, at=now, sessions=tuple(sessions))
    tx.ledger.mark(space, file)


def settle_lessons(tx: Transaction, space: str, observations: Sequence[Observation], now: datetime) -> list[Remembered]:
    """Make or reinforce the lessons of the claims that a stored run observed; those only kept are not returned."""
    shown = tuple(dict.fromkeys(each.cue for each in observations))
    if not shown:
        return []
    worded = {each.cue for each in observations if each.text}
    known = {each.cue: each for each in tx.memories.list(space, MemoryFilter(cues=shown))}
    # Most claims are statistics without a lesson: their observations are not read.
    observed = observations_by_cue(tx, space, (cue for cue in shown if cue in worded or cue in known))
    judged = _reviewed_lessons(tx, space) if worded - known.keys() else []
    drafts: list[MemoryDraft] = []
    for cue, seen in observed.items():
        drawn = lesson_drafts(seen, known.get(cue), now)
        if drawn.words:
            tx.memories.put(space, [replace(known[cue], text=drawn.words)])
        if cue not in known and drawn.drafts and any(says_the_same(cue, drawn.drafts[0].text, each) for each in judged):
            continue  # The user dropped or kept the same lesson in other words.
        drafts += drawn.drafts
    settled = settle_drafts(tx, space, sorted(drafts, key=lambda each: not is_ruling(each.cue)))
    settled += settle_drafts(tx, space, _contrary_evidence(tx, space, _rulings_about(tx, space, shown), now))
    kept = {cue for cue, seen in observed.items() if is_ruling(cue) and is_obvious(seen)}
    return [each for each in settled if each.record.cue not in kept]


def _rulings_about(tx: Transaction, space: str, cues: Iterable[str]) -> list[str]:
    """The cues of all rulings of the space with the same subject as one of `cues`."""
    asked = [cue for cue in cues if is_ruling(cue)]
    return sorted(related_rulings(asked, tx.runs.cues(space, RULING))) if asked else []


def _contrary_evidence(tx: Transaction, space: str, cues: Sequence[str], now: datetime) -> list[MemoryDraft]:
    """Evidence from all runs against the rulings of other runs, whichever was learned from first."""
    observed = tx.runs.observations(space, cues) if cues else ()
    told = tx.memories.list(space, MemoryFilter(cues=tuple(cues))) if cues else ()
    return [draft for each in told for draft in withdrawals(each, observations_against(each.cue, observed), now)]


def _reviewed_lessons(tx: Transaction, space: str) -> list[Record]:
    """The lessons that the user dropped or kept, except kept rulings, which still gather evidence in other words."""
    wanted = MemoryFilter(states=("active", "retired"), lessons=True, archived=False)
    return [
        each
        for each in tx.memories.list(space, wanted)
        if is_dropped_by_user(each) or (is_confirmed_by_user(each) and not is_ruling(each.cue))
    ]


def still_on_path(tx: Transaction, key: SessionKey, head: Head, before: Iterable[Observation]) -> list[Observation]:
    """The observations of a model from `before` whose sources are still on the path to `head`.

    Rules do not repeat them, so that learning without a model would lose them.
    """
    told = [each for each in before if each.cue.startswith(MODEL)]
    return [each for each in told if _are_on_path(tx, key, head, (*each.sources, *each.against))]


def retract(tx: Transaction, space: str, session: str, cues: Iterable[str]) -> None:
    """Update the evidence of the lessons of `cues`, which the session showed or shows, to its stored observations."""
    changed: list[Record] = []
    gone: list[Record] = []
    asked = tuple(dict.fromkeys(cues))
    for record in tx.memories.list(space, MemoryFilter(cues=asked)) if asked else ():
        if record.state == "erased" or not any(_is_from_session(piece, session) for piece in record.evidence):
            continue
        seen = tx.runs.observations(space, [record.cue])
        left = _with_current_evidence(record, session, {each.session: each for each in seen})
        if left is None:
            gone.append(record)
        elif left != record:
            changed.append(left)
    if not (changed or gone):
        return
    tx.memories.put(space, changed)
    remove_memories(tx, space, gone, changed)


def _are_on_path(tx: Transaction, key: SessionKey, head: Head, sources: Sequence[str]) -> bool:
    for message in tx.log.find(key, list(sources)):
        on_path = message.position <= head.position and not message.erased
        there = tx.log.path(key, head.id, message.position, message.position) if on_path else ()
        if [each.id for each in there] != [message.id]:
            return False
    return True


def _is_from_session(piece: Evidence, session: str) -> bool:
    return piece.origin == "run" and piece.session == session


def _with_current_evidence(record: Record, session: str, observed: Mapping[str, Observation]) -> Record | None:
    """The lesson with the evidence that the run gives now; None if no evidence is left."""
    seen = None if is_statistic(record.cue) else observed.get(session)
    now = (_current_evidence(piece, seen) if _is_from_session(piece, session) else piece for piece in record.evidence)
    pieces = [piece for piece in now if piece is not None]
    if not pieces:
        return None
    if tuple(pieces) == record.evidence:
        return record
    lost = len(record.evidence) - len(pieces)
    left = replace(
        record,
        evidence=tuple(pieces),
        seen=max(record.seen - lost, len(pieces)),
        recorded=min(each.recorded for each in pieces),
    )
    return _with_current_text(left, observed)


def _current_evidence(piece: Evidence, seen: Observation | None) -> Evidence | None:
    """A piece of evidence as the run shows it now; None if it no longer does."""
    if seen is None or bool(seen.held) == piece.against:
        return None
    shown = seen.against if piece.against and seen.against else seen.sources
    return replace(piece, messages=shown, at=seen.at or piece.at) if shown else None


def _with_current_text(record: Record, observed: Mapping[str, Observation]) -> Record:
    """The lesson in the text of a run that still shows it, if no run has its own text any more."""
    speaking = {piece.session for piece in record.evidence if not piece.against}
    best = best_worded(list(observed.values()))
    if best is None or is_confirmed_by_user(record) or not speaking <= observed.keys():
        return record
    words = {text for each in observed.values() for text in (lesson_text(each), with_limits(each.text, each.limits))}
    return record if record.text in words else replace(record, text=lesson_text(best))


PART_TOKENS = 250_000
"""How many tokens of a run one question to a model covers: too little of a longer part could be shown."""
MOST_PARTS = 8
"""The maximum number of questions for one run; the parts of a longer run are larger."""
LABELLED = 3
"""At how many messages at either end of a run its log may describe the run as a whole."""
LEARN = "learn"
"""The name of the lease under which a model reads a run."""
_LESSONS = MemoryFilter(lessons=True, states=("active",), archived=False)
_LOG = logging.getLogger("ireneo")


class LearnedSession(ShortRepr, frozen=True, kw_only=True):
    """The result of learning from one session."""

    run: LearnedRun
    lessons: tuple[Remembered, ...]
    """The lessons that were made from the session, or affected by it."""
    new: int
    """How many of the lessons are new."""
    lesson_tokens: int
    """What the new lessons cost, in tokens; each lesson is counted once over all runs."""
    failed: str = ""
    """Why the model failed; the session was then learned from without it."""
    refused: tuple[str, ...] = ()
    """The model's lessons that were refused, each with the reason."""
    tokens_in: int = 0
    tokens_out: int = 0
    """The tokens that the model wrote."""


class SessionRead(Struct, frozen=True, kw_only=True):
    """A session as it was read, here or by a worker."""

    head: MessageId
    """The last message that was read."""
    erased: int
    """The number of its erased messages at that time."""
    run: RunMaterial
    """The run, without its messages."""
    whole: StudyResult


async def learn(
    resources: Resources,
    space: str,
    sessions: Iterable[str] | None = None,
    given: Mapping[str, SessionRead] = MappingProxyType({}),
) -> AsyncGenerator[LearnedSession, None]:
    """Learn from the sessions that are due, among `sessions` (None: all of the space), in the order of their beginning.

    Sessions in `given` were read by a worker. A model is asked under a lease, so that nobody pays twice: a run whose
    lease another process holds is left to that process.
    """
    worker = Worker(resources.store, resources.clock)
    for due in await resources.store.read(due_runs, space, sessions):
        model = resources.models_for(due.info.key).for_task("lessons")
        async with AsyncExitStack() as held:
            lease: Lease | None = None
            if model is not None:
                lease = await held.enter_async_context(worker.leased(due.info.key, LEARN))
                if lease is None or not await resources.store.read(still_due, due):
                    continue
            learned = await _learn_session(resources, due, given.get(due.info.key.session), model, worker, lease)
        if learned is not None:
            yield learned


async def _learn_session(
    resources: Resources,
    due: DueRun,
    given: SessionRead | None,
    model: LanguageModel | None,
    worker: Worker,
    lease: Lease | None,
) -> LearnedSession | None:
    """Learn from one session; None if it changed, was forgotten, or was learned from by another process meanwhile."""
    try:
        if given is not None and await resources.store.read(is_reading_valid, resources, due, given):
            read = given
        else:
            read = await read_session(resources, due)
    except NotFound:
        if await resources.store.read(still_due, due):
            raise
        return None
    told, failed = Synthesis(), ""
    if model is not None and may_teach(read.whole, read.run.source):
        try:
            async for each in _lessons_by_model(resources, due, model, read):
                told = told.joined(each)
        except ModelError as error:
            _LOG.warning("%s The lessons of %s are drawn without it.", error, due.info.key.session)
            failed = str(error)
    run = await asyncio.to_thread(_make_run, resources, due, read)
    shown = await asyncio.to_thread(_observed, read, told)

    def store(tx: Transaction) -> list[Remembered] | None:
        if lease is not None:
            worker.done(tx, lease)
        return _store_run(tx, due, run, shown) if still_due(tx, due) else None

    settled = await resources.store.write(store)
    return None if settled is None else _session_result(resources, run, settled, told, failed)


def learn_read(tx: Transaction, resources: Resources, due: DueRun, read: SessionRead) -> LearnedSession:
    """Learn from one session that a worker read, without a model."""
    run = _make_run(resources, due, read)
    settled = _store_run(tx, due, run, _observed(read, Synthesis()))
    return _session_result(resources, run, settled, Synthesis(), "")


def _observed(read: SessionRead, told: Synthesis) -> list[Observation]:
    """What rules and a model observed in a run."""
    return sum_observations([*without_worthless(read.whole.observations, told), *told.observations])


def _session_result(
    resources: Resources, run: LearnedRun, settled: Sequence[Remembered], told: Synthesis, failed: str
) -> LearnedSession:
    new = [each.record for each in settled if each.did == "added"]
    return LearnedSession(
        run=run,
        lessons=tuple(settled),
        new=len(new),
        lesson_tokens=sum(resources.count(each.text) for each in new),
        failed=failed,
        refused=told.refused,
        tokens_in=sum(each.tokens_in for each in told.usage),
        tokens_out=sum(each.tokens_out for each in told.usage),
    )


async def _lessons_by_model(
    resources: Resources, due: DueRun, model: LanguageModel, read: SessionRead
) -> AsyncIterator[Synthesis]:
    """A model's lessons from a run, one question for each of at most `MOST_PARTS` parts."""
    known, drawn = await resources.store.read(_known_and_drawn, due.info.key.space, read)
    most = max(PART_TOKENS, -(-due.head.total_tokens // MOST_PARTS))
    async for window in windows(resources.store, due.info.key, due.head, resources.derived_cleaning()):
        for part in split_window(window, most):
            here = {message.id for message in (*part.spoken, *part.put_in)}
            entries = [each for each in read.whole.entries if each.opening in here]
            rules = [each for each in drawn if not here.isdisjoint(each.sources)]
            material = replace(read.run, messages=tuple(part.spoken), put_in=tuple(part.put_in))
            yield await synthesise(model, material, entries, known, rules, resources.count)


def _known_and_drawn(tx: Transaction, space: str, read: SessionRead) -> tuple[list[Record], list[Observation]]:
    """The known lessons of the run's project, and those that rules would add."""
    here = same_repository(tx, space, read.run.project)
    known = [each for each in tx.memories.list(space, _LESSONS) if applies(projects_of(each), here)]
    there = {each.cue for each in known}
    worded = [each for each in read.whole.observations if each.text and each.held and each.cue not in there]
    before = observations_by_cue(tx, space, (each.cue for each in worded))
    return known, [each for each in worded if is_worth_a_lesson([each, *before.get(each.cue, ())])]


def _store_run(tx: Transaction, due: DueRun, run: LearnedRun, shown: Sequence[Observation]) -> list[Remembered]:
    """Store a run with its observations, retract earlier ones that it no longer shows, and settle its lessons."""
    key = due.info.key
    before = tx.runs.of_run(key.space, key.session)
    fresh = {each.cue for each in shown}
    observed = [*shown, *(each for each in still_on_path(tx, key, due.head, before) if each.cue not in fresh)]
    tx.runs.put(key.space, run, observed)
    cues = [each.cue for each in (*before, *observed)] if before else []
    retract(tx, key.space, key.session, [*cues, *_rulings_about(tx, key.space, cues)])
    return settle_lessons(tx, key.space, observed, run.learned)


async def read_session(resources: Resources, due: DueRun) -> SessionRead:
    """Read and study a session by rules."""
    key = due.info.key
    cleaning = resources.derived_cleaning()
    run, written = await resources.store.read(_run_without_messages, key, due, cleaning)
    whole = StudyResult()
    async for window in windows(resources.store, key, due.head, cleaning):
        material = replace(run, messages=tuple(window.spoken), put_in=tuple(window.put_in))
        found = await asyncio.to_thread(study, material, resources.count, written)
        whole = await asyncio.to_thread(join_windows, (whole, found))
    return SessionRead(head=due.head.id, erased=due.erased, run=run, whole=whole)


def is_reading_valid(tx: Transaction, resources: Resources, due: DueRun, read: SessionRead) -> bool:
    """Whether the reading of a worker is valid: the session is unchanged, and no diary entry was written here."""
    if (read.head, read.erased) != (due.head.id, due.erased):
        return False
    return _run_without_messages(tx, due.info.key, due, resources.derived_cleaning()) == (read.run, ())


def _run_without_messages(
    tx: Transaction, key: SessionKey, due: DueRun, cleaning: Cleaning
) -> tuple[RunMaterial, Sequence[AgentNotes]]:
    """The run without its messages, and the diary entries of its agent."""
    said = _framing_messages(tx, key, due.head)
    run = RunMaterial(
        session=key.session,
        source=(due.info.source or "").partition(":")[0],
        project=cleaning.text(session_project(tx, key, due.head)),
        outcome=outcome_of(said),
        noted=tuple(replace(each, text=cleaning.text(each.text)) for each in noted_words(said)),
        messages=(),
    )
    return run, agent_notes_on_path(tx, key, due.head.id)


def _framing_messages(tx: Transaction, key: SessionKey, head: Head) -> list[Draft]:
    """The first and last messages of a path, in which the log may describe the run."""
    first, last = min(LABELLED, head.position + 1), max(LABELLED, head.position + 1 - LABELLED)
    ends = [*tx.log.path(key, head.id, 0, first - 1), *tx.log.path(key, head.id, last, head.position)]
    found = tx.log.drafts(key, [message.id for message in ends])
    return [found[message.id] for message in ends if message.id in found]


def _make_run(resources: Resources, due: DueRun, read: SessionRead) -> LearnedRun:
    rendered = render_diary(read.whole.entries)
    return LearnedRun(
        session=due.info.key.session,
        head=due.head.id,
        learner=LEARNER,
        learned=resources.clock.now(),
        project=read.run.project,
        source=resources.derived_cleaning().text(due.info.source or ""),
        outcome=read.run.outcome,
        started=due.info.first_at,
        ended=due.info.last_at,
        messages=read.whole.messages,
        tokens=due.head.total_tokens,
        calls=read.whole.calls,
        failures=read.whole.failures,
        lost_tokens=read.whole.lost_tokens,
        lost_seconds=read.whole.lost_seconds,
        diary=read.whole.entries,
        diary_tokens=resources.count(rendered) if rendered else 0,
    )


# A stored session in windows, for learning and for its diary; and the diary entries of agents.

PAGE = 1_000
"""Messages that are read at a time."""
WINDOW_MESSAGES = 20_000
WINDOW_CHARACTERS = 16_000_000
"""A window ends at the first turn after this many characters, so that very long sessions are read in parts."""
MOST_RESULT = 40_000
"""How many characters of a text are kept, half from its start and half from its end, where results are."""


class PathWindow(Struct, frozen=True, kw_only=True):
    """A part of a session's path."""

    spoken: list[Message]
    """The spoken messages, in order, without other tools' compactions."""
    put_in: list[Message]
    """A harness's messages in the user's place, which are only evidence for the harness's own requirements."""


async def windows(store: Store, key: SessionKey, head: Head, cleaning: Cleaning) -> AsyncIterator[PathWindow]:
    """The path to `head` in windows, without secrets, and with long texts shortened."""
    first = 0
    while first <= head.position:
        window, first = await store.read(_read_window, key, head, first, cleaning)
        if window.spoken:
            yield window


def _read_window(
    tx: Transaction, key: SessionKey, head: Head, first: int, cleaning: Cleaning
) -> tuple[PathWindow, int]:
    """The window from position `first`, and the position of the next one."""
    window: list[Message] = []
    put_in: list[Message] = []
    size = 0
    for start in range(first, head.position + 1, PAGE):
        for message in tx.log.path(key, head.id, start, min(start + PAGE - 1, head.position)):
            full = size >= WINDOW_CHARACTERS or len(window) >= WINDOW_MESSAGES
            twice = size >= 2 * WINDOW_CHARACTERS or len(window) >= 2 * WINDOW_MESSAGES
            if window and ((full and message.opens_turn) or (twice and message.role == "assistant")):
                return PathWindow(spoken=window, put_in=put_in), message.position
            if message.draft.origin == "summary" or message.erased:
                continue
            clean = cleaning.message(message)
            short = replace(clean, draft=shorten_draft(clean.draft))
            (window if message.draft.origin == "spoken" else put_in).append(short)
            size += sum(_size(part) for part in short.parts)
    return PathWindow(spoken=window, put_in=put_in), head.position + 1


def split_window(window: PathWindow, most: int) -> list[PathWindow]:
    """Split a window into parts of about `most` tokens, at turns or, after twice as many tokens, at an answer."""
    out: list[PathWindow] = []
    size = 0
    for message in sorted((*window.spoken, *window.put_in), key=lambda each: each.position):
        turn, answer = size >= most and message.opens_turn, size >= 2 * most and message.role == "assistant"
        if not out or turn or answer:
            out.append(PathWindow(spoken=[], put_in=[]))
            size = 0
        (out[-1].spoken if message.draft.origin == "spoken" else out[-1].put_in).append(message)
        size += message.tokens
    return [each for each in out if each.spoken]


def shorten_draft(draft: Draft) -> Draft:
    """`draft` with the middle of its long texts left out."""
    if all(_size(part) <= MOST_RESULT for part in draft.parts):
        return draft
    return replace(draft, parts=tuple(_shorten_part(part) for part in draft.parts))


def _shorten_part(part: Part) -> Part:
    if isinstance(part, Text):
        return replace(part, text=_head_and_tail(part.text))
    if isinstance(part, Result):
        parts = tuple(
            replace(each, text=_head_and_tail(each.text)) if isinstance(each, Text) else each for each in part.parts
        )
        return replace(part, parts=parts)
    if isinstance(part, Call):
        if isinstance(part.arguments, str):
            return replace(part, arguments=_head_and_tail(part.arguments))
        given = {
            name: _head_and_tail(value) if isinstance(value, str) else value for name, value in part.arguments.items()
        }
        return replace(part, arguments=given)
    return part


def _head_and_tail(text: str) -> str:
    half = MOST_RESULT // 2
    return text if len(text) <= MOST_RESULT else f"{text[:half]}\n…\n{text[-half:]}"


def _size(part: Part) -> int:
    if isinstance(part, Text | Result):
        return len(part.text)
    if isinstance(part, Call):
        given = [part.arguments] if isinstance(part.arguments, str) else part.arguments.values()
        return sum(len(value) for value in given if isinstance(value, str))
    return 0


class Diary(ShortRepr, frozen=True, kw_only=True):
    """A rendered diary."""

    entries: tuple[DiaryEntry, ...]
    markdown: str
    tokens: int


async def read_diary(store: Store, key: SessionKey, branch: str, count: Count, cleaning: Cleaning) -> Diary:
    """The diary of the path to the branch's head, as learning writes it; empty before the first message."""

    def read_head(tx: Transaction) -> tuple[Head | None, Sequence[AgentNotes]]:
        head = tx.log.head(key, branch)
        return head, agent_notes_on_path(tx, key, head.id) if head else ()

    def read(window: Sequence[Message]) -> tuple[DiaryEntry, ...]:
        material = RunMaterial(session=key.session, messages=tuple(window))
        return write_diary(material, read_tasks(material), count, written)

    def rendered() -> Diary:
        markdown = render_diary(entries)
        return Diary(entries=tuple(entries), markdown=markdown, tokens=count(markdown))

    head, written = await store.read(read_head)
    entries: list[DiaryEntry] = []
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            entries += await asyncio.to_thread(read, window.spoken)
    return await asyncio.to_thread(rendered)


async def write_entry(store: Store, key: SessionKey, branch: str, given: AgentNotes, cleaning: Cleaning) -> Annotation:
    """Store what an agent wrote about its current task, with unsupported claims marked as unverified.

    The same entry written again at the same place is stored once. Raises BadInput before the first message.
    """
    head = await store.read(lambda tx: tx.log.head(key, branch))
    last: Message | None = None
    unknown = notes_claims(given)
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            unknown = await asyncio.to_thread(_unsupported_claims, unknown, window.spoken)
            last = window.spoken[-1]
    if last is None:
        raise BadInput(f"Session {key.session} has no message yet; append what was done, and then write its diary.")
    text = serialise_notes(mark_unverified(given, unknown))
    name = annotation_id("entry", last.id, text)
    note = Annotation(id=name, kind="entry", at=last.id, at_position=last.position, text=text, by="model")
    await store.write(lambda tx: tx.annotations.put(key, [note]))
    return note


def _unsupported_claims(claims: Collection[TextClaim], window: Sequence[Message]) -> set[TextClaim]:
    shown = SourceIndex(source_texts(window))
    return {claim for claim in claims if not shown.supports(claim)}


def agent_notes_on_path(tx: Transaction, key: SessionKey, to: MessageId) -> Sequence[AgentNotes]:
    """The diary entries of agents on the path to `to`, in order."""
    return tuple(parse_notes(note) for note in tx.annotations.on_path(key, to) if note.kind == "entry")
