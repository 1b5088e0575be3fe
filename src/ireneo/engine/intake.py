"""Read sessions into memories: the facts that users state, and the episodes of turns and story leaves.

Facts: the transaction that stores them also marks how far the path was read, so a stretch is read completely or not at
all, and once, however many processes run; the messages that forks share are read once. While a model fails, rules read
instead; such a stretch is not read again, since a user may have corrected the result.

Episodes: a turn counts as remembered once a memory cites both its ends, a leaf once a memory cites it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.context import was_erased
from ireneo.engine.models import Worker
from ireneo.engine.provenance import is_source
from ireneo.engine.reading import (
    LONGEST_ANSWER,
    LONGEST_SAID,
    FactsRead,
    KnownMemories,
    ReadFact,
    Utterance,
    drafts_of,
    is_clean,
    own_draft,
    read_by_model,
)
from ireneo.engine.remember import (
    Remembered,
    retire_expired,
    retire_jokes,
    settle_drafts,
    settle_statements,
)
from ireneo.engine.resources import Cleaning, Resources
from ireneo.engine.scope import message_directories
from ireneo.engine.turns import (
    Turn,
    failures_of_drafts,
    known_failures,
    leaf_episode,
    overturning_drafts,
    turn_memories,
)
from ireneo.errors import ModelError, SpendingLimit
from ireneo.log.message import Head, Message, MessageId, Text, opens_turn, people_in, without_recalled_parts
from ireneo.log.tree import SessionKey, is_of_sub_agent
from ireneo.memories.earnest import is_joke_taken_back
from ireneo.memories.extract import extract_facts
from ireneo.memories.quoting import SaidFact, closing_question
from ireneo.memories.record import TRUST, MemoryDraft, Record, Source
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import LanguageModel
from ireneo.ports.store import Lease, SessionInfo, Transaction
from ireneo.summaries.own_words import own_words
from ireneo.summaries.policy import Policy, preset_of
from ireneo.summaries.steps import CHANGES, steps
from ireneo.summaries.summary import SummaryId

READ, STOOD_IN = "read", "stood in"
"""Marks: read for good, or read by rules in place of a model that failed."""
LISTEN = "listen"
"""The name under which the work of a reading model is leased."""
BATCH = 32
"""Messages that rules read in one transaction."""
STRETCH, STRETCH_TOKENS = 120, 2_500
"""Messages that a model reads at a time, and their tokens as shown."""
QUIET = timedelta(minutes=5)
"""Recent messages wait for more, since a question to a model costs more than its words."""
TALK_GOES_ON = timedelta(hours=8)
"""After a pause of this length a speaker begins a new conversation."""
BEFORE = 4
"""How many messages before a stretch are shown, which its first messages may answer or correct."""
LONGEST = 8_000
"""How many characters of a message are read; a longer one was pasted."""
_NEXT = timedelta(microseconds=1)
"""The assumed time between two facts that were stated in one stretch."""

_NUMBERS = lazy_re(r"^[^\S\n]*(\d{1,3}\.)(?=\s)", re.M)
_NARRATED = lazy_re(r"(?<![\w*])\*[^*\n]{3,}\*(?![\w*])|[\"“„«][^\"“”„«»\n]{13,}+(?<=[.!?,…–—-])[\"”“»]")
"""An act between asterisks, or speech between quotation marks: the writing of a play."""
_LOG = logging.getLogger("ireneo")
_Voices: TypeAlias = dict[SessionKey, Set[str]]
"""Who speaks in a session."""


class UnreadStretch(Struct, frozen=True, kw_only=True):
    """Unread messages of a path, and those right before them."""

    key: SessionKey
    project: str
    branch: str
    before: tuple[Message, ...]
    messages: tuple[Message, ...]
    """At least one."""
    erased: int
    """How many messages of the session had been erased when these were read."""


class IntakeResult(Struct, frozen=True, kw_only=True):
    """The memories of a stretch of a session."""

    session: str
    branch: str
    first_position: int
    last_position: int
    remembered: tuple[Remembered, ...] = ()
    failed: str = ""
    """Why the model failed; the stretch is then read by rules."""
    refused: tuple[str, ...] = ()
    """Facts of the model that were rejected, with the reason."""
    tokens_in: int = 0
    tokens_out: int = 0


class IntakeReader:
    """Reads what is said in the sessions of a space."""

    def __init__(self, resources: Resources, worker: Worker, preset: Policy | None) -> None:
        """Read each session as cut by `preset`, or by its own preset."""
        self._resources = resources
        self._store = resources.store
        self._worker = worker
        self._preset = preset
        self.waits = False
        """Whether another worker is busy with something due."""

    async def session(self, info: SessionInfo, *, patient: bool = False) -> AsyncIterator[IntakeResult]:
        """Read what is due in one session, on each of its branches, and yield what was read.

        If `patient`, the newest messages wait, so that a model reads them together with those that follow.
        """
        self.waits = False
        if not self._resources.listen:
            return
        policy = self._preset or preset_of(info.source, self._resources.preset)
        model = self._resources.models_for(info.key).for_task("facts")
        for branch in await self._store.read(lambda tx: tx.sessions.branches(info.key)):
            due = partial(due_intake, key=info.key, branch=branch, policy=policy, voices={})
            stands_in = model is None
            if model is not None:
                async for heard in self._by_model(model, info.key, due, patient=patient):
                    stands_in = bool(heard.failed)
                    yield heard
                stands_in = stands_in or await self._store.read(_is_deferred, info.key)
            mark = READ if model is None else STOOD_IN
            while stands_in and await self._store.read(due, mark=mark) is not None:
                by_rules = await self._store.write(_read_by_rules, self._resources, due, mark)
                if by_rules is not None and by_rules.remembered:
                    yield by_rules

    async def _by_model(
        self, model: LanguageModel, key: SessionKey, due: Due, *, patient: bool
    ) -> AsyncIterator[IntakeResult]:
        """Let a model read a branch, a stretch at a time, until it fails or another worker holds the lease."""
        while (stretch := await self._store.read(due, mark=READ, most=STRETCH)) is not None:
            if patient and self._may_grow(stretch):
                return
            async with self._worker.leased(key, LISTEN) as lease:
                if lease is None:
                    self.waits = not await self._store.read(_is_deferred, key)
                    return
                heard = await self._ask_model(model, due, lease)
            if heard is not None:
                yield heard
                if heard.failed:
                    return

    async def _ask_model(self, model: LanguageModel, due: Due, lease: Lease) -> IntakeResult | None:
        """Let a model read what is due; None if nothing is."""
        stretch = await self._store.read(due, mark=READ, most=STRETCH)
        if stretch is None:
            return None
        cleaning = self._resources.derived_cleaning()
        before, said = _utterances_in(stretch.before, cleaning), _utterances_in(stretch.messages, cleaning)
        reading = FactsRead(facts=())
        try:
            if any(each.role == "user" for each in said):
                known = await self._store.read(KnownMemories, stretch.key.space, stretch.project, said[0].at)
                reading = await read_by_model(model, said, before, known.facts, self._resources.count)
        except ModelError as error:
            _LOG.warning("%s Rules read in its place.", error)
            if not isinstance(error, SpendingLimit):
                await self._worker.failed(lease, str(error))
            return replace(_intake_result(stretch), failed=str(error))

        def keep(tx: Transaction) -> list[Remembered]:
            self._worker.done(tx, lease)
            return _store_read(tx, stretch, reading.facts, self._resources.clock.now())

        remembered = await self._store.write(keep)
        return replace(
            _intake_result(stretch, remembered),
            refused=reading.refused,
            tokens_in=reading.usage.tokens_in,
            tokens_out=reading.usage.tokens_out,
        )

    def _may_grow(self, stretch: UnreadStretch) -> bool:
        """Whether the last message was just said, and the question has room for more."""
        at, now = stretch.messages[-1].draft.at, self._resources.clock.now()
        return len(stretch.messages) < STRETCH and at is not None and timedelta(0) <= now - at < QUIET


class Due(Protocol):
    """Finds what is due on one branch."""

    def __call__(self, tx: Transaction, *, mark: str, most: int = BATCH) -> UnreadStretch | None:
        """The first unread messages."""


def due_intake(
    tx: Transaction, key: SessionKey, branch: str, policy: Policy, voices: _Voices, mark: str = READ, most: int = BATCH
) -> UnreadStretch | None:
    """The first unread messages of a branch, at most `most`; None if there are none.

    A story is only read if one person talks with an assistant: statements of characters are true of nobody. `voices`
    keeps who speaks in the session from one call to the next.
    """
    head = tx.log.head(key, branch)
    if head is None or is_of_sub_agent(key.session):
        return None
    read = max(tx.read_marks.read_to(key, head.id, each) for each in {READ, mark})
    if read == head.position:
        return None
    path = tx.log.path(key, head.id, max(0, read + 1 - BEFORE), read + most)
    if policy.story is not None and not _talks_with_assistant(tx, key, path, voices):
        return None
    new = next(place for place, message in enumerate(path) if message.position > read)
    info = tx.sessions.get(key)
    return UnreadStretch(
        key=key,
        project=(info and info.project) or "",
        branch=branch,
        before=tuple(path[:new]),
        messages=tuple(_fitting_messages(path[new:])),
        erased=tx.sessions.erased(key),
    )


def _talks_with_assistant(tx: Transaction, key: SessionKey, path: Sequence[Message], voices: _Voices) -> bool:
    """Whether the session is one person talking with an assistant, or one unnamed person writing dated entries.

    Both the path and the whole session are checked. A storyteller is unnamed too, but gives no dates. An assistant with
    a name is a companion as long as neither plays a part.
    """
    if any(message.role == "assistant" for message in path):
        sides = [
            {name for message in path if (message.role == "assistant") is side for name in people_in(message.parts)}
            for side in (False, True)
        ]
        is_companion = all(len(each) == 1 for each in sides) and not _is_played(path)
        return _has_voices(tx, key, path, voices, most=2 if is_companion else 1)
    dated = all(message.role == "user" and message.draft.at for message in path)
    return dated and _has_voices(tx, key, path, voices, most=0)


def _is_played(path: Sequence[Message]) -> bool:
    """Whether messages narrate: more than one in ten of them describes an act between asterisks, or quotes speech."""
    told = [part.text for message in path for part in message.parts if isinstance(part, Text)]
    return 10 * sum(_NARRATED.search(text) is not None for text in told) > len(told)


def _has_voices(tx: Transaction, key: SessionKey, path: Sequence[Message], voices: _Voices, *, most: int) -> bool:
    """Whether at most so many authors speak, on the path and in the whole session; a play has several."""
    near = {name for message in path for name in people_in(message.parts)}
    if len(near) <= most and key not in voices:
        # All messages are read for that, so it is done once, and only if it can make a difference.
        voices[key] = tx.log.speakers(key.space, key.session)
    return len(near) <= most and len(near | voices[key]) <= most


def _fitting_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages that fit into one question; at least one."""
    left = STRETCH_TOKENS
    for number, message in enumerate(messages):
        left -= min(message.tokens, LONGEST_SAID // 4 if message.role == "user" else LONGEST_ANSWER // 4)
        if left < 0 and number and message.opens_turn:
            return
        yield message


def _is_deferred(tx: Transaction, key: SessionKey) -> bool:
    """Whether a model failed to read the session and is asked again later."""
    return any(lease.work == LISTEN and not lease.holder for lease in tx.leases.of_session(key))


def _read_by_rules(tx: Transaction, resources: Resources, due: Due, mark: str) -> IntakeResult | None:
    """Read the next messages of a branch by rules, and store the facts and the mark.

    Facts of a message are settled before the next one is read, which may correct them.
    """
    stretch = due(tx, mark=mark)
    if stretch is None:
        return None
    cleaning, now, key = resources.derived_cleaning(), resources.clock.now(), stretch.key
    known = KnownMemories(tx, key.space, stretch.project, stretch.messages[0].draft.at)
    before = _utterances_in(stretch.before, cleaning)
    remembered: list[Remembered] = []
    at_work = any(step.action.shell or step.action.kind in CHANGES for step in steps(stretch.messages))
    for said in _utterances_in(stretch.messages, cleaning):
        if said.role == "assistant":
            before.append(said)
            continue
        if said.at is not None:
            passed = retire_expired(tx, key.space, known.facts, said.at, now)
            known.learn(done.record for done in passed)
            now += len(passed) * _NEXT
        heard = [each.text for each in before[-BEFORE:] if _is_same_conversation(each, said)]
        last = before[-1] if before and heard and before[-1].role == "assistant" else None
        word = _fact_draft(SaidFact(text=said.text, quote=said.text, kind="semantic"), said, stretch, now)
        taken = _jokes_taken_back(said, before if heard else (), known.facts)
        done = retire_jokes(tx, key.space, taken, replace(word, recorded=now + len(remembered) * _NEXT))
        known.learn(each.record for each in done)
        remembered += done
        facts = extract_facts(
            said.text,
            speaker=said.speaker,
            at=said.at,
            before=heard,
            known=known.facts,
            asked=closing_question(last.text) if last else "",
        )
        # Beside an agent's work "the branch is open now" is about that, which summaries, lessons and pins cover better.
        for fact in (fact for fact in facts if fact.attribute or not at_work):
            piece = _fact_draft(fact, said, stretch, now + len(remembered) * _NEXT)
            if fact.beside:
                here = len(tx.log.find(key, fact.beside)) == len(fact.beside)
                piece = replace(piece, session=key.session if here else "", messages=(*fact.beside, *piece.messages))
            if fact.answers and last is not None:
                piece = replace(piece, messages=(last.message, *piece.messages))
            settled = settle_statements(tx, key.space, [own_draft(fact, piece)] if is_clean(fact) else (), known.facts)
            known.learn(each for done in settled for each in (done.record, *done.changed))
            remembered += settled
        before.append(said)
    tx.read_marks.put(key, stretch.messages[-1].id, mark)
    return _intake_result(stretch, remembered)


def _jokes_taken_back(said: Utterance, before: Sequence[Utterance], known: Sequence[Record]) -> list[Record]:
    """The memories of the user's previous message that this one begins by calling a joke: all, if it names none."""
    last = next((each for each in reversed(before) if each.role == "user"), None)
    if last is None or not is_joke_taken_back(said.text):
        return []
    told = [each for each in known if each.holds and set(each.sources) == {last.message}]
    # "Kidding, no boyfriend": what else that message said is so.
    return [each for each in told if not distinctive_words(each.text).isdisjoint(distinctive_words(said.text))] or told


def _is_same_conversation(before: Utterance, said: Utterance) -> bool:
    """Whether both belong to one conversation."""
    return before.at is None or said.at is None or said.at - before.at < TALK_GOES_ON


def _store_read(tx: Transaction, stretch: UnreadStretch, facts: Sequence[ReadFact], now: datetime) -> list[Remembered]:
    """Store what a stretch says and that it was read; nothing if another process was quicker or it was erased."""
    key, first, last = stretch.key, stretch.messages[0], stretch.messages[-1]
    if was_erased(tx, key, stretch.erased) or not tx.log.find(key, [last.id]):
        return []
    if tx.read_marks.read_to(key, last.id, READ) != first.position - 1:
        return []
    tx.read_marks.put(key, last.id, READ)
    out: list[Remembered] = []
    for read in facts:
        out += settle_drafts(
            tx, key.space, drafts_of(read, _fact_draft(read.fact, read.said, stretch, now + len(out) * _NEXT))
        )
    return out


def _fact_draft(fact: SaidFact, said: Utterance, stretch: UnreadStretch, now: datetime) -> MemoryDraft:
    """The draft of a memory with a message as its evidence."""
    origin: Source = "user" if said.role == "user" else "agent"
    return MemoryDraft(
        text=fact.text,
        kind=fact.kind,
        at=said.at or now,
        recorded=now,
        origin=origin,
        trust=TRUST[origin],
        session=stretch.key.session,
        project=stretch.project,
        messages=(said.message,),
    )


def _utterances_in(messages: Sequence[Message], cleaning: Cleaning) -> list[Utterance]:
    return [said for message in messages for said in utterances(cleaning.message(message))]


def utterances(message: Message) -> Iterator[Utterance]:
    """The words of a user or agent in a message, without pasted, quoted and recalled text.

    A message with tool calls only announces what is about to be done, and is skipped.
    """
    draft = without_recalled_parts(message.draft)
    if not is_source(message) or draft.role not in ("user", "assistant") or draft.calls:
        return
    role: Literal["user", "assistant"] = "user" if draft.role == "user" else "assistant"
    for part in draft.parts:
        if isinstance(part, Text):
            own = "\n".join(each.text for each in own_words(part.text[:LONGEST]))
            numbers = _NUMBERS.findall(part.text[:LONGEST])
            if own and len(numbers) == 1 and part.text.lstrip().startswith(numbers[0]):
                # "12. And the cat is back" answers how many there are, and is not a list.
                own = f"{numbers[0]} {own}"
            if own:
                yield Utterance(message=message.id, role=role, speaker=part.author or role, text=own, at=draft.at)


def _intake_result(stretch: UnreadStretch, remembered: Sequence[Remembered] = ()) -> IntakeResult:
    return IntakeResult(
        session=stretch.key.session,
        branch=stretch.branch,
        first_position=stretch.messages[0].position,
        last_position=stretch.messages[-1].position,
        remembered=tuple(remembered),
    )


STEP = 400
"""Messages read at a time, from the end of a path backwards."""


class DueEpisode(Struct, frozen=True, kw_only=True):
    """A turn, or a leaf of a story, without a memory of it."""

    opening: MessageId
    """The first message of a turn."""
    id: str
    """The id of the turn's last message, or of the leaf's summary."""
    first: int
    last: int
    """Positions on the path."""


def due_turns(tx: Transaction, key: SessionKey, head: Head, floor: int = 0) -> list[DueEpisode]:
    """The finished turns without a memory, in order, from position `floor` on.

    They are searched from the end backwards, up to the first one with a memory, since turns are remembered in order.
    The newest turn is finished once the agent has answered. Turns without work are left out.
    """
    out: list[DueEpisode] = []
    later: list[Message] = []
    end = head.position
    while end >= floor:
        first = max(floor, end - STEP + 1)
        later = [*tx.log.path(key, head.id, first, end), *later]
        starts = [place for place, message in enumerate(later) if opens_turn(message.draft)]
        ends = [*starts[1:], len(later)]
        turns = [later[start:stop] for start, stop in zip(starts, ends, strict=True)] if starts else []
        later = later[: starts[0]] if starts else later
        due = [
            DueEpisode(opening=turn[0].id, id=turn[-1].id, first=turn[0].position, last=turn[-1].position)
            for turn in turns
        ]
        known = remembered_turns(tx, key.space, due)
        for turn, each in zip(reversed(turns), reversed(due), strict=True):
            if each.id in known:
                return out[::-1]
            answered = turn[-1].role == "assistant" and not turn[-1].draft.calls
            if any(message.draft.calls for message in turn) and (each.last < head.position or answered):
                out.append(each)
        end = first - 1
    return out[::-1]


def remembered_turns(tx: Transaction, space: str, turns: Sequence[DueEpisode]) -> set[str]:
    """The ids of those `turns` for which some evidence cites both ends."""
    if not turns:
        return set()
    citing = tx.memories.citing(space, [turn.id for turn in turns])
    told = [set(piece.messages) for record in citing for piece in record.evidence]
    return {turn.id for turn in turns if any({turn.opening, turn.id} <= each for each in told)}


def due_leaves(tx: Transaction, key: SessionKey, head: Head, policy: Policy, floor: int = 0) -> list[DueEpisode]:
    """The leaves of a story without a memory, in order, from position `floor` on."""
    spans = tx.summaries.spans(key, head.id, policy.summarizer, 1, floor)
    leaves = [
        DueEpisode(opening=MessageId(""), id=span.id, first=span.first_position, last=span.last_position)
        for span in spans
    ]
    known = remembered_leaves(tx, key.space, leaves)
    return [leaf for leaf in leaves if leaf.id not in known]


def remembered_leaves(tx: Transaction, space: str, leaves: Sequence[DueEpisode]) -> set[str]:
    """The summaries cited by memories that cite one of the `leaves`."""
    citing = tx.memories.citing(space, [leaf.id for leaf in leaves]) if leaves else ()
    return {name for record in citing for piece in record.evidence for name in piece.summaries}


def drafts_of_turns(
    tx: Transaction, key: SessionKey, head: Head, turns: Sequence[DueEpisode], cleaning: Cleaning, now: datetime
) -> list[list[MemoryDraft]]:
    """The drafts of each turn, including evidence against failures that it overturns.

    A turn whose path was pruned meanwhile has none.
    """
    out: list[list[MemoryDraft]] = []
    known = known_failures(tx.memories.list(key.space, _FAILURES), key.session)
    for turn in turns:
        messages = tx.log.path(key, head.id, turn.first, turn.last)
        where = message_directories(tx, key, [turn.opening]).get(turn.opening, {}) if messages else {}
        told = Turn(
            session=key.session,
            messages=tuple(map(cleaning.message, messages)),
            place={name: cleaning.text(place) for name, place in where.items()},
        )
        drafts = turn_memories(told, now) if messages else []
        against = overturning_drafts(told, known, now) if messages else []
        turned = {draft.signature for draft in against}
        known = [each for each in known if each.signature not in turned] + failures_of_drafts(drafts)
        out.append([*drafts, *against])
    return out


def drafts_of_leaves(
    tx: Transaction, key: SessionKey, head: Head, due: Sequence[DueEpisode], cleaning: Cleaning, now: datetime
) -> list[list[MemoryDraft]]:
    """The episode of each leaf, if it has one.

    Only conversations with an assistant or a character have one, and stories that say who was present, whose characters
    remember. A play of several, or prose, is nobody's memory: its passages are found as they are.
    """
    leaves = {leaf.id: leaf for leaf in tx.summaries.get(key, [SummaryId(each.id) for each in due])}
    out: list[list[MemoryDraft]] = []
    voices: _Voices = {}
    for each in due:
        leaf = leaves.get(SummaryId(each.id))
        path = tx.log.path(key, head.id, leaf.first_position, leaf.last_position) if leaf else ()
        at = next((message.draft.at for message in path if leaf and message.id == leaf.last), None)
        spoken = any(message.role == "assistant" or any(people_in(message.parts)) for message in path)
        witnessed = any(part.present for message in path for part in message.parts if isinstance(part, Text))
        spoken = spoken and (witnessed or _has_voices(tx, key, path, voices, most=1))
        episode = leaf_episode(key.session, leaf, at, now) if leaf and spoken else None
        out.append([cleaning.struct(episode)] if episode else [])
    return out


EPISODES_AT_A_TIME = 16
"""Turns or leaves remembered in one transaction."""
_FAILURES = MemoryFilter(kind="failure")


class EpisodeReader:
    """Remembers the episodes of a space, and keeps how far it has looked."""

    def __init__(self, resources: Resources, space: str) -> None:
        self._means = resources
        self._store = resources.store
        self._space = space
        self._passed: dict[tuple[SessionKey, str], tuple[int, str]] = {}
        """How far each branch was examined, since turns that leave no memory are not examined again."""
        self._leaves: set[str] = set()
        """The leaves that were examined: what one tells may be known already, so that no memory cites it."""

    async def session(self, info: SessionInfo, preset: Policy | None = None) -> AsyncIterator[IntakeResult]:
        """Remember what is due in one session, on each of its branches; it is cut by `preset`, or by its own preset."""
        key, policy = info.key, preset or preset_of(info.source, self._means.preset)
        drafts_of = drafts_of_leaves if policy.story else drafts_of_turns
        for branch, head in (await self._store.read(lambda tx: tx.sessions.branches(info.key))).items():
            if head is None:
                continue
            due = await self._store.read(self._due, key, branch, head, policy)
            for start in range(0, len(due), EPISODES_AT_A_TIME):
                batch = due[start : start + EPISODES_AT_A_TIME]
                # Computed in the store's thread, since it may take long.
                drafts = await self._store.read(
                    drafts_of, key, head, batch, self._means.derived_cleaning(), self._means.clock.now()
                )
                settled = await self._store.write(_store_episodes, key.space, policy, batch, drafts)
                if policy.story:
                    self._leaves |= {each.id for each in batch}
                else:
                    self._passed[key, branch] = batch[-1].last, batch[-1].id
                # What repeats a memory is no work done, after which there would be more to do.
                settled = [each for each in settled if each.did != "ignored"]
                if settled:
                    yield IntakeResult(
                        session=key.session,
                        branch=branch,
                        first_position=batch[0].first,
                        last_position=batch[-1].last,
                        remembered=tuple(settled),
                    )

    def _due(self, tx: Transaction, key: SessionKey, branch: str, head: Head, policy: Policy) -> list[DueEpisode]:
        position, name = self._passed.get((key, branch), (-1, ""))
        passed = tx.log.path(key, head.id, position, position) if position >= 0 else ()
        # Continue after what was examined, if it is still on the branch.
        floor = position + 1 if passed and passed[0].id == name else 0
        if policy.story:
            return [each for each in due_leaves(tx, key, head, policy, floor) if each.id not in self._leaves]
        return due_turns(tx, key, head, floor)


def _store_episodes(
    tx: Transaction, space: str, policy: Policy, batch: Sequence[DueEpisode], drafts: Sequence[Sequence[MemoryDraft]]
) -> list[Remembered]:
    """Store what a batch leaves behind, apart from what another process has stored meanwhile."""
    known = remembered_leaves(tx, space, batch) if policy.story else remembered_turns(tx, space, batch)
    new = [each for due, each in zip(batch, drafts, strict=True) if due.id not in known]
    return settle_drafts(tx, space, [draft for each in new for draft in each])
