"""The resources shared by a memory's sessions: store, models, clock, and the redaction of everything stored.

The redaction of a message depends on the message alone, so that it has the same id however it arrives. A message that
is already stored, with or without its secrets, is recognised and not changed, so that no path is stored twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from itertools import count as count_from
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.models import Limits, Models, Spending
from ireneo.errors import BadInput
from ireneo.log.message import (
    Call,
    Count,
    CountParts,
    Draft,
    Head,
    Media,
    Message,
    MessageId,
    Native,
    Part,
    Result,
    Text,
    Thinking,
    chain,
    head_of,
    message_id,
)
from ireneo.log.tree import SessionKey
from ireneo.patterns import readable
from ireneo.ports.models import Clock, Embedder, LogPlace, LogSource, OpensLog, OpensWorkers, Redactor, Workers
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.policy import CODING, Policy, VoiceRule

if TYPE_CHECKING:
    from ireneo.formats.logs.format import LogFault
    from ireneo.memories.intake import MemoryDetails

# Secrets are removed from every text of a message. Its shape stays the same, so that the path remains valid in every
# chat format.

Clean: TypeAlias = Callable[[str, str], str]
"""Returns a text without its secrets; the same object if it has none. The second argument names the text: a key of an
object, an option of a command, or empty."""

SEALS = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content"})
"""Fields of a payload with signed or sealed content, which becomes invalid when something next to it changes."""

_THINKING = frozenset({"thinking", "reasoning"})
"""Providers' names for a block of thinking."""

PASSES = 8
"""The maximum number of passes over a draft; the second pass knows every secret that another text reveals."""

PartT = TypeVar("PartT", bound=Part)


def redact_draft(draft: Draft, clean: Clean, clean_record: Clean | None = None) -> Draft:
    """Return `draft` with every text cleaned: parts, payload and log record. It is the same object if all is clean.

    Ids that pair calls with results, media data and sealed content stay; cleaned thinking loses its signature. Cleaning
    is repeated until nothing changes, since a secret that one text reveals may be in an earlier text without its name.

    The parts are cleaned by themselves, because the message's id is made from them, and the same message may come with
    another payload. `clean_record`, if given, cleans payload and record.
    """
    record = clean_record or clean

    def redact_native(native: Native | None) -> Native | None:
        return native and replace(native, payload=redact_json(native.payload, "", record))

    draft = _until_stable(
        draft, lambda each: replace(each, parts=tuple(_redact_part(one, clean) for one in each.parts))
    )
    if draft.native is None and draft.record is None:
        return draft
    return _until_stable(
        draft, lambda each: replace(each, native=redact_native(each.native), record=redact_native(each.record))
    )


def _until_stable(draft: Draft, once: Callable[[Draft], Draft]) -> Draft:
    for _ in range(PASSES):
        cleaned = once(draft)
        if cleaned == draft:
            break
        draft = cleaned
    return draft


def _redact_part(part: PartT, clean: Clean) -> PartT:
    if isinstance(part, Text):
        present = None if part.present is None else tuple(clean(name, "") for name in part.present)
        return replace(part, text=clean(part.text, ""), author=part.author and clean(part.author, ""), present=present)
    if isinstance(part, Thinking):
        text = clean(part.text, "")
        return part if text == part.text else replace(part, text=text, signature=None, sealed=None)
    if isinstance(part, Call):
        return replace(part, arguments=redact_json(part.arguments, "", clean))
    if isinstance(part, Result):
        return replace(part, parts=tuple(_redact_part(each, clean) for each in part.parts))
    if isinstance(part, Media):
        return replace(part, url=part.url and clean(part.url, ""), name=part.name and clean(part.name, ""))
    return replace(part, payload=redact_json(part.payload, "", clean))


def redact_json(value: object, name: str, clean: Clean) -> object:
    """Return a JSON value, called `name`, with texts and keys cleaned."""
    if isinstance(value, str):
        return clean(value, name)
    if isinstance(value, dict):
        return _redact_object(value, clean)
    if isinstance(value, (list, tuple)):
        return _redact_list(value, name, clean)
    return value


def _redact_object(
    fields: dict[str, object], clean: Clean, under: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """Return an object with its fields cleaned by their names, or by those in `under`."""
    out: dict[str, object] = {}
    for key, value in fields.items():
        new_key = unused = clean(key, "")
        for number in count_from(2):
            if unused not in out:
                break
            unused = f"{new_key} {number}"
        out[unused] = value if key in SEALS else redact_json(value, under.get(key, key), clean)
    return fields if out == fields else {key: value for key, value in out.items() if key not in SEALS}


def _redact_list(values: list[object] | tuple[object, ...], name: str, clean: Clean) -> object:
    out: list[object] = []
    under = name
    for value in values:
        new = redact_json(value, under, clean)
        if new == value or not _is_signed_thinking(value):
            out.append(new)
        # In a list of command arguments, an option names the argument after it.
        under = value if isinstance(value, str) and value.startswith("-") else name
    return values if out == list(values) else out


def _is_signed_thinking(block: object) -> bool:
    """Whether a provider only accepts the block unchanged, so that it is dropped if it was cleaned."""
    if not isinstance(block, dict) or not any(block.get(seal) for seal in SEALS):
        return False
    return bool(_THINKING.intersection(str(block.get(key)) for key in ("type", "part_kind")) or block.get("thought"))


# The stored form of a message: without its secrets, or as it is already stored.

S = TypeVar("S", bound=Struct)

MakesRedactor = Callable[[], Redactor]
Find = Callable[[Sequence[str]], Sequence[Message]]

UncleanedIds = dict[MessageId | None, MessageId]
"""The ids that messages would have if no earlier message had been redacted, if these differ."""


class DraftVariants(Struct, frozen=True, kw_only=True, gc=False):
    """The forms in which a draft may be stored."""

    given: Draft
    """The draft as it was passed in."""
    drafts: tuple[Draft, ...]
    """The variants, the preferred one first; only one if the draft has no secret."""
    secrets: Mapping[str, str] = {}
    """The secrets that the redacted variants lack, each with its kind."""


class Cleaning:
    """Removes secrets from what is to be stored, and counts them."""

    def __init__(self, redactor: MakesRedactor | None, *, keep: bool = False) -> None:
        """Use a new `redactor` for each message; without one, or with `keep`, nothing is removed."""
        self._redactor = redactor
        self._keep = keep
        self._found: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        self.unredacted = 0
        """How many messages keep their secrets because they are already stored with them."""

    def variants(self, draft: Draft) -> DraftVariants:
        """Return the variants of `draft` that may be stored."""
        if self._redactor is None:
            return DraftVariants(given=draft, drafts=(draft,))
        redactor = self._redactor()
        cleaned = redact_draft(draft, redactor.redact, redactor.redact_record)
        drafts = [cleaned] if cleaned is draft else [draft, cleaned] if self._keep else [cleaned, draft]
        if not self._keep:
            self._found.update(redactor.secrets)
        return DraftVariants(given=draft, drafts=tuple(drafts), secrets=redactor.secrets)

    def record_choice(self, chosen: Draft, choices: DraftVariants) -> Draft:
        """Note which variant was stored, and return it."""
        if chosen is not choices.given:
            self._taken.update(choices.secrets)
        self.unredacted += not self._keep and chosen is choices.given and chosen is not choices.drafts[0]
        return chosen

    def text(self, text: str, name: str = "") -> str:
        """`text` under `name`, without its secrets."""
        if self._redactor is None or self._keep:
            return text
        redactor = self._redactor()
        cleaned = redactor.redact(text, name)
        self._found.update(redactor.secrets)
        self._taken.update(redactor.secrets)
        return cleaned

    def fault(self, fault: LogFault) -> LogFault:
        """`fault` without secrets; it may quote the faulty line."""
        return replace(fault, message=self.text(fault.message))

    def struct(self, value: S) -> S:
        """Clean every text of one of our structs; the same object if nothing was found."""
        fields: dict[str, object] = msgspec.to_builtins(value)
        cleaned = self._fields(fields)
        return value if cleaned is fields else msgspec.convert(cleaned, readable(type(value)))

    def memory(self, text: str, details: MemoryDetails) -> tuple[str, MemoryDetails]:
        """Clean a memory's text and details of all secrets that any of them reveals."""
        fields = {name: value for name, value in details.items() if isinstance(value, str | dict) or name == "labels"}
        cleaned = self._fields({**fields, "text": text})
        words = cast("str", cleaned.pop("text"))
        return words, cast("MemoryDetails", {**details, **cleaned})

    def _fields(self, fields: dict[str, object]) -> dict[str, object]:
        """Clean the fields of a value; the same object if nothing was found."""
        if self._redactor is None or self._keep:
            return fields
        redactor = self._redactor()
        attribute = fields.get("attribute")
        under = {"value": attribute} if isinstance(attribute, str) else {}
        before, cleaned = None, fields
        while cleaned != before:
            # A secret that one text reveals may be in an earlier text without its name.
            before, cleaned = cleaned, _redact_object(cleaned, redactor.redact, under)
        self._found.update(redactor.secrets)
        self._taken.update(redactor.secrets)
        return cleaned

    def message(self, message: Message) -> Message:
        """`message` without its secrets, under its own id, for what is derived from it."""
        if self._redactor is None or self._keep:
            return message
        cleaned = redact_draft(message.draft, self._redactor().redact)
        return message if cleaned is message.draft else replace(message, draft=cleaned)

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets found so far, each with its kind; never to be shown."""
        return self._found

    @property
    def found(self) -> Mapping[str, int]:
        """How many different secrets of each kind were removed so far."""
        return dict(sorted(Counter(self._taken.values()).items()))


class StoredIdFinder:
    """Finds the stored ids of a path that is passed in, message by message."""

    def __init__(self, cleaning: Cleaning, find: Find, *, has_erased: bool, given: UncleanedIds | None = None) -> None:
        """Look up messages with `find`; `has_erased`: some of the session's messages were erased.

        `given` are the ids known so far, for a path that comes piece by piece.
        """
        self._cleaning = cleaning
        self._find = find
        self._has_erased = has_erased
        self._given: UncleanedIds = {} if given is None else given

    def message(self, before: Head | None, choices: DraftVariants, count: CountParts) -> Message:
        """The message after `before`: the variant that is stored, else the preferred one.

        An erased message is found by the id that it had while its predecessors contained their secrets.
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
            return self._cleaning.record_choice(choices.drafts[0], choices)
        there = {each.id for each in self._find(ids)}
        found = next((each for name, each in zip(ids, choices.drafts, strict=True) if name in there), None)
        return self._cleaning.record_choice(found or choices.drafts[0], choices)


def chain_with_stored_ids(
    tx: Transaction,
    key: SessionKey,
    head: Head | None,
    listed: Sequence[DraftVariants],
    cleaning: Cleaning,
    count: CountParts,
    given: UncleanedIds | None = None,
) -> list[Message]:
    """Make messages after `head`, each with the id under which it is stored, or will be."""
    if not given and all(len(each.drafts) == 1 for each in listed):
        return chain(head, [each.drafts[0] for each in listed], count)
    naming = StoredIdFinder(cleaning, partial(tx.log.find, key), has_erased=tx.sessions.erased(key) > 0, given=given)
    out: list[Message] = []
    for each in listed:
        out.append(naming.message(head_of(out[-1]) if out else head, each, count))
    return out


KEEP_MEMORIES = 10_000
"""The maximum number of memories of a space in use; the least retained of the others are archived."""


def _refuse_workers(address: str) -> AbstractAsyncContextManager[Workers]:
    raise BadInput(f"This memory has no workers; leave {address} out.")


def _refuse_files(place: LogPlace) -> LogSource:
    raise BadInput(f"This memory opens no files; hand in the lines of {place} with import_log.")


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the present time, in UTC."""
        return datetime.now(UTC)


class Resources(Struct, frozen=True, kw_only=True):
    """A store, a tokenizer, a clock, models, and their limits."""

    store: Store
    count: Count
    clock: Clock
    models: Models = Models()
    limits: Limits = Limits()
    voices: VoiceRule = VoiceRule()
    """In which person summaries are written."""
    preset: Policy = CODING
    """The default policy of sessions."""
    listen: bool = True
    """Whether what users say is read into memories."""
    keep_memories: int = KEEP_MEMORIES
    """The maximum number of memories of a space in use."""
    embedder: Embedder | None = None
    """For recall by meaning; None: recall by words only."""

    open_log: OpensLog = _refuse_files
    """Opens log files."""
    open_workers: OpensWorkers = _refuse_workers
    """Opens workers that analyse logs."""
    redactor: MakesRedactor | None = None
    """Makes a redactor per message; None: nothing is redacted."""
    keep_secrets: bool = False
    """Whether secrets are stored by default."""

    def cleaning(self, keep_secrets: bool | None = None) -> Cleaning:
        """The redaction of what is to be stored."""
        return Cleaning(self.redactor, keep=self.keep_secrets if keep_secrets is None else keep_secrets)

    def derived_cleaning(self) -> Cleaning:
        """The redaction for what is derived from messages: lessons contain no secret, even if messages do."""
        return Cleaning(self.redactor)

    def models_for_space(self, space: str) -> Models:
        """The models, accounted to a space's memories, per day."""
        return self.models_for(SessionKey(space, f"memories of {self.clock.now().date().isoformat()}"))

    def models_for(self, key: SessionKey) -> Models:
        """The models, accounted to the session `key`."""
        return self.models.each(lambda model: Spending(model, self.store, key, self.limits, self.clock, self.count))
