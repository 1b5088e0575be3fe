"""What the sessions of a memory work with: the store, the models, the clock, and what takes secrets out.

What comes into the store passes through `Cleaning` first. What becomes of a message depends on nothing but itself, so
that it has one id through whichever door it comes. What is stored already stays what it is: a message that was taken in
with its secrets is found again with them, one that was taken in without them is found again so, and neither a change of
mind nor another door makes two paths of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.models import Limits, Models, Spending
from ireneo.errors import BadInput
from ireneo.formats.logs.format import LogFault, Spool
from ireneo.log.message import Count, CountParts, Draft, Head, Message, MessageId, chain, head_of, message_id
from ireneo.log.redaction import cleaned_fields, redacted
from ireneo.log.tree import SessionKey
from ireneo.memories.intake import MemoryDetails
from ireneo.ports.files import LogPlace, LogSource, OpensLog, OpensWorkers, Workers
from ireneo.ports.models import Clock, Embedder, Redactor
from ireneo.ports.store import Store, Transaction
from ireneo.prompts.replies import Voice
from ireneo.summaries.policy import CODING, Policy

S = TypeVar("S", bound=Struct)

MakesRedactor = Callable[[], Redactor]
Find = Callable[[Sequence[str]], Sequence[Message]]

UncleanedIds = dict[MessageId | None, MessageId]
"""What messages would be called had all before them come in with their secrets, where that is another name."""


class DraftVariants(Struct, frozen=True, kw_only=True, gc=False):
    """What a draft may be stored as."""

    given: Draft
    """As it came in."""
    drafts: tuple[Draft, ...]
    """The one that is wanted first; one alone, where it has no secret."""
    secrets: Mapping[str, str] = {}
    """What the clean ones are without, each with its kind."""


class Cleaning:
    """Takes the secrets out of what is to be stored, and counts them."""

    def __init__(self, redactor: MakesRedactor | None, *, keep: bool = False) -> None:
        """Clean with a `redactor` of its own each message; without one, or with `keep`, everything passes as it is."""
        self._redactor = redactor
        self._keep = keep
        self._found: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        self.unredacted = 0
        """How many messages were left as they are stored, with their secrets, though these were not to be kept."""

    def choices(self, draft: Draft) -> DraftVariants:
        """What `draft` may be stored as."""
        if self._redactor is None:
            return DraftVariants(given=draft, drafts=(draft,))
        redactor = self._redactor()
        cleaned = redacted(draft, redactor.redact, redactor.redact_record)
        drafts = [cleaned] if cleaned is draft else [draft, cleaned] if self._keep else [cleaned, draft]
        if not self._keep:
            self._found.update(redactor.secrets)
            if self._found and (known := self._known_again(cleaned)) is not cleaned:
                drafts.append(known)
        return DraftVariants(given=draft, drafts=tuple(drafts), secrets=redactor.secrets)

    def _known_again(self, draft: Draft) -> Draft:
        """`draft` as older versions stored it: without what the messages before it had named as a secret."""
        if self._redactor is None:
            return draft
        redactor = self._redactor()
        redactor.know(self._found)
        return redacted(draft, redactor.redact)

    def chose(self, chosen: Draft, choices: DraftVariants) -> Draft:
        """Note which of several drafts it came to."""
        if chosen is not choices.given:
            self._taken.update(choices.secrets)
        self.unredacted += not self._keep and chosen is choices.given and chosen is not choices.drafts[0]
        return chosen

    def text(self, text: str, name: str = "") -> str:
        """`text`, which stands under `name`, without its secrets: the name of a session or a file, a sentence."""
        if self._redactor is None or self._keep:
            return text
        redactor = self._redactor()
        cleaned = redactor.redact(text, name)
        self._found.update(redactor.secrets)
        self._taken.update(redactor.secrets)
        return cleaned

    def fault(self, fault: LogFault) -> LogFault:
        """`fault`, which may quote the line that could not be read, without its secrets."""
        return replace(fault, message=self.text(fault.message))

    def struct(self, value: S) -> S:
        """A value of ours, such as a draft, with every text in it cleaned; the very same where nothing was found."""
        held: dict[str, object] = msgspec.to_builtins(value)
        cleaned = self._fields(held)
        return value if cleaned is held else msgspec.convert(cleaned, type(value))

    def told(self, text: str, told: MemoryDetails) -> tuple[str, MemoryDetails]:
        """A text that is to be remembered and what is said of it, each cleaned of what any of them gives away."""
        fields = {name: value for name, value in told.items() if isinstance(value, str | dict) or name == "labels"}
        cleaned = self._fields({**fields, "text": text})
        words = cast("str", cleaned.pop("text"))
        return words, cast("MemoryDetails", {**told, **cleaned})

    def _fields(self, held: dict[str, object]) -> dict[str, object]:
        """The fields of a value cleaned; the very same where nothing was found."""
        if self._redactor is None or self._keep:
            return held
        redactor = self._redactor()
        attribute = held.get("attribute")
        # What an attribute is called is what its value stands under.
        under = {"value": attribute} if isinstance(attribute, str) else {}
        before, cleaned = None, held
        while cleaned is not before:
            # What one text gives away may stand bare in one before it.
            before, cleaned = cleaned, cleaned_fields(cleaned, redactor.redact, under)
        self._found.update(redactor.secrets)
        self._taken.update(redactor.secrets)
        return cleaned

    def message(self, message: Message) -> Message:
        """`message` as it would read without its secrets, for what is drawn from it; its id stays."""
        if self._redactor is None or self._keep:
            return message
        cleaned = redacted(message.draft, self._redactor().redact)
        return message if cleaned is message.draft else replace(message, draft=cleaned)

    @property
    def secrets(self) -> Mapping[str, str]:
        """What was found so far, each with its kind; never to be told to anybody."""
        return self._found

    @property
    def found(self) -> Mapping[str, int]:
        """How many different secrets of each kind were taken out so far."""
        return dict(sorted(Counter(self._taken.values()).items()))


class Naming:
    """Finds out, message by message, what a path that comes in is called in the store."""

    def __init__(self, cleaning: Cleaning, find: Find, *, has_erased: bool, given: UncleanedIds | None = None) -> None:
        """Look up messages of the session with `find`; `has_erased` says whether any of them was erased.

        `given` is what is known of the path so far, where it comes in piece by piece.
        """
        self._cleaning = cleaning
        self._find = find
        self._has_erased = has_erased
        self._given: UncleanedIds = {} if given is None else given

    def message(self, before: Head | None, choices: DraftVariants, count: CountParts) -> Message:
        """The message behind `before`: of what it may be stored as, what is stored already, or else what is wanted.

        What was erased while the messages before it had their secrets is known by the name that it had then.
        """
        parent = before.id if before else None
        given_parent = self._given.get(parent, parent)
        if len(choices.drafts) == 1 and given_parent == parent:
            return chain(before, choices.drafts, count)[0]
        (message,) = chain(before, [self._chosen(parent, choices)], count)
        if self._has_erased:
            name = message_id(given_parent, choices.given.role, choices.given.parts)
            if name != message.id:
                if any(each.id == name and each.erased for each in self._find([name])):
                    return replace(message, id=name)
                self._given[message.id] = name
        return message

    def _chosen(self, parent: MessageId | None, choices: DraftVariants) -> Draft:
        ids = [message_id(parent, each.role, each.parts) for each in choices.drafts]
        if len(set(ids)) == 1:
            return self._cleaning.chose(choices.drafts[0], choices)
        there = {each.id for each in self._find(ids)}
        found = next((each for name, each in zip(ids, choices.drafts, strict=True) if name in there), None)
        return self._cleaning.chose(found or choices.drafts[0], choices)


def chain_named(
    tx: Transaction,
    key: SessionKey,
    head: Head | None,
    listed: Sequence[DraftVariants],
    cleaning: Cleaning,
    count: CountParts,
    given: UncleanedIds | None = None,
) -> list[Message]:
    """Make messages behind `head`, each named as it is in the store; `given` is known of the path so far."""
    if not given and all(len(each.drafts) == 1 for each in listed):
        return chain(head, [each.drafts[0] for each in listed], count)
    naming = Naming(cleaning, partial(tx.log.find, key), has_erased=tx.erasure.count(key) > 0, given=given)
    out: list[Message] = []
    for each in listed:
        out.append(naming.message(head_of(out[-1]) if out else head, each, count))
    return out


KEEP_MEMORIES = 10_000
"""So many memories a space keeps in use; beyond them the least retained are put away."""


def _refuse_workers(address: str) -> AbstractAsyncContextManager[Workers]:
    raise BadInput(f"This memory has no workers; leave {address} out.")


def _refuse_files(place: LogPlace) -> LogSource:
    raise BadInput(f"This memory opens no files; hand in the lines of {place} with import_log.")


class SystemClock:
    """A Clock that goes with the machine's, in UTC."""

    def now(self) -> datetime:
        """The time."""
        return datetime.now(UTC)


class Resources(Struct, frozen=True, kw_only=True):
    """A store, a tokenizer and a clock; models, where there are any, and what may be spent on them."""

    store: Store
    count: Count
    clock: Clock
    models: Models = Models()
    limits: Limits = Limits()
    voice: Voice = "first"
    """In whose voice summaries are written and shown."""
    story_voice: Voice | None = None
    """In whose voice stories are; None: the third person's, and a character's own memory in the first."""
    preset: Policy = CODING
    """How a session is cut where neither a caller nor the session itself says otherwise."""
    listen: bool = True
    """Whether what people say is read into memories; not where they want to be remembered by nothing but the log."""
    keep_memories: int = KEEP_MEMORIES
    """So many memories a space keeps in use; `work` puts the least retained of the others away."""
    embedder: Embedder | None = None
    """Gives the directions in which likeness of meaning is looked for; None: recall goes by the words."""

    spool: Callable[[], AbstractContextManager[Spool | None]] = nullcontext
    """Where lines of a large log are put aside while it is taken in; without a place for them all of it is held."""
    open_log: OpensLog = _refuse_files
    """Opens log files."""
    open_workers: OpensWorkers = _refuse_workers
    """Opens workers that analyse logs."""
    redactor: MakesRedactor | None = None
    """Makes one that takes the secrets out of a message; None: everything is stored with its secrets."""
    keep_secrets: bool = False
    """Whether secrets are stored where a call doesn't say otherwise."""

    def cleaning(self, keep_secrets: bool | None = None) -> Cleaning:
        """What all that is to be stored passes through: its secrets are left behind, unless they are to be kept."""
        return Cleaning(self.redactor, keep=self.keep_secrets if keep_secrets is None else keep_secrets)

    def drawing(self) -> Cleaning:
        """What is drawn from messages passes through it: lessons hold no secret, even where their messages do."""
        return Cleaning(self.redactor)

    def voice_of(self, policy: Policy) -> Voice:
        """In whose voice what `policy` summarises is told; a character's own memory in the first person."""
        if policy.story is None:
            return self.voice
        return self.story_voice or ("first" if policy.seen_by else "third")

    def models_for_space(self, space: str) -> Models:
        """The models, on account of the memories of a space, which belong to no session: a new account each day."""
        return self.models_for(SessionKey(space, f"memories of {self.clock.now().date().isoformat()}"))

    def models_for(self, key: SessionKey) -> Models:
        """The models, each on account of the session `key`."""
        return self.models.each(lambda model: Spending(model, self.store, key, self.limits, self.clock, self.count))
