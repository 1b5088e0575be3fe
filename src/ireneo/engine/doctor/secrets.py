"""Look through all that a space keeps for secrets: how many of which sort stand where, and not what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from msgspec import Struct

from ireneo.engine.cleaning import Cleaning
from ireneo.engine.doctor.cleansing import (
    cleanse_ledger,
    cleanse_memories,
    cleanse_pads,
    cleanse_runs,
    cleanse_session,
)
from ireneo.engine.forgetting.reading import all_annotations, all_messages, all_summaries
from ireneo.engine.means import Means
from ireneo.log.branch import SessionKey
from ireneo.log.message import Message
from ireneo.ports.memories import Wanted
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction

Where = Literal[
    "messages",
    "payloads",
    "summaries",
    "notes",
    "names",
    "leases",
    "memories",
    "scratchpads",
    "runs",
    "files",
]
"""What they stand in: what messages say; what their provider and their log wrote besides; summaries; pins, disputes and
diaries; the names of sessions, branches and sources; the errors of work that failed; memories; scratchpads; runs with
what they showed; files that were learned from."""

S = TypeVar("S", bound=Struct)


class SecretsIn(Struct, frozen=True, kw_only=True):
    """Secrets that stand in things of one sort."""

    where: Where
    session: str
    """The session, without the secrets that its name may have; empty for what belongs to none."""
    things: int
    """How many messages, summaries, memories have one."""
    kinds: Mapping[str, int]
    """How many different secrets of each kind."""


class Secrets(Struct, frozen=True, kw_only=True):
    """What a look through a space came to."""

    found: tuple[SecretsIn, ...]
    """Where secrets stand, or stood before they were taken out."""
    messages: int
    """How many messages were looked at."""
    mended: bool = False
    """They were taken out."""
    complete: bool = True
    """No byte of what was taken out here, or erased before, stands in the store any more."""
    note: str = ""
    """Where that is not so: why, and what finishes it. And what is left to do."""


class Seen:
    """Counts the things that have a secret, and the secrets, by where they stand."""

    def __init__(self, cleaning: Callable[[], Cleaning]) -> None:
        """Look at each thing with a `cleaning` of its own."""
        self._cleaning = cleaning
        self._things: Counter[tuple[str, Where]] = Counter()
        self._secrets: dict[tuple[str, Where], dict[str, str]] = {}

    def note(self, session: str, where: Where, cleaning: Cleaning) -> None:
        """Note what `cleaning` found in a thing."""
        if cleaning.secrets:
            self._things[session, where] += 1
            self._secrets.setdefault((session, where), {}).update(cleaning.secrets)

    def struct(self, session: str, where: Where, *things: Struct) -> None:
        """Look through values of ours, each a thing."""
        for thing in things:
            cleaning = self._cleaning()
            cleaning.struct(thing)
            self.note(session, where, cleaning)

    def text(self, session: str, where: Where, *texts: str) -> None:
        """Look through texts, together a thing."""
        cleaning = self._cleaning()
        for text in texts:
            cleaning.text(text)
        self.note(session, where, cleaning)

    def message(self, session: str, message: Message) -> None:
        """Look through a whole message: what it says, and what was written of it besides."""
        cleaning = self._cleaning()
        draft = cleaning.choices(message.draft).drafts[0]
        if not cleaning.secrets:
            return
        says = draft.parts is not message.draft.parts
        self.note(session, "messages" if says else "payloads", cleaning)

    def found(self) -> tuple[SecretsIn, ...]:
        """All that was noted, session by session."""
        return tuple(
            SecretsIn(
                where=where,
                session=session,
                things=things,
                kinds=dict(sorted(Counter(self._secrets[session, where].values()).items())),
            )
            for (session, where), things in self._things.items()
        )


async def secrets(
    means: Means, space: str, *, mend: bool = False, told: Callable[[int], None] = lambda messages: None
) -> Secrets:
    """Look for secrets in all that is kept of a space; with `mend` take them out, and out of every byte of the store.

    Each session is mended in one transaction, and so is each memory: whoever is killed has whole ones behind, and goes
    on with the rest. `told` is told how many more messages were looked at.
    """
    store = means.store
    seen = Seen(means.drawing)
    looked = 0
    async with store.read() as tx:
        keys = [info.key for info in await tx.sessions.list(space)]
    dirty: list[SessionKey] = []
    for key in keys:
        before = len(seen.found())
        looked += await _look_at_session(store, key, seen, means.drawing(), told)
        if len(seen.found()) > before:
            dirty.append(key)
    async with store.read() as tx:
        await _look_at_learned(tx, space, seen)
    if not mend:
        left = await store.scrub(look=True)
        return Secrets(found=seen.found(), messages=looked, complete=left.complete, note=left.note)
    for key in dirty:
        await cleanse_session(means, key)
    for cleanse in (cleanse_memories, cleanse_pads, cleanse_runs, cleanse_ledger):
        await cleanse(means, space)
    scrubbed = await store.scrub()
    return Secrets(
        found=seen.found(),
        messages=looked,
        mended=bool(seen.found()),
        complete=scrubbed.complete,
        note=" ".join(filter(None, (scrubbed.note, LEARN if dirty else ""))),
    )


LEARN = (
    "What was learned from these sessions is drawn from them anew by `ireneo learn`; `ireneo work` writes summaries."
)


async def _look_at_session(
    store: Store, key: SessionKey, seen: Seen, cleaning: Cleaning, told: Callable[[int], None]
) -> int:
    name = cleaning.text(key.session)
    looked = 0
    async with store.read() as tx:
        info = await tx.sessions.get(key)
        if info is None:
            return 0
        branches = await tx.sessions.branches(key)
        seen.text(name, "names", key.session, info.source or "", *branches)
        async for message in all_messages(tx, key, whole=True):
            seen.message(name, message)
            looked += 1
            if looked % TOLD_AFTER == 0:
                told(TOLD_AFTER)
        async for summary in all_summaries(tx, key):
            seen.struct(name, "summaries", summary)
        seen.struct(name, "notes", *await all_annotations(tx, key))
        for lease in await tx.leases.of_session(key):
            seen.text(name, "leases", lease.error)
    told(looked % TOLD_AFTER)
    return looked


TOLD_AFTER = 500


async def _look_at_learned(tx: Transaction, space: str, seen: Seen) -> None:
    """What is kept of a space beside its sessions."""
    seen.struct("", "memories", *await tx.memories.list(space, Wanted()))
    seen.struct("", "scratchpads", *await tx.pads.list(space))
    for run in await tx.runs.list(space):
        seen.struct("", "runs", run, *await tx.runs.of_run(space, run.session))
    seen.struct("", "files", *await tx.ledger.list(space))
