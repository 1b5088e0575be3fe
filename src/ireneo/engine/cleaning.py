"""What comes into the store passes through here first: without its secrets, unless they are to be kept.

What becomes of a message depends on nothing but itself, so that it has one id through whichever door it comes. What
is stored already stays what it is: a message that was taken in with its secrets is found again with them, one that was
taken in without them is found again so, and neither a change of mind nor another door makes two paths of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.logs.format import Fault
from ireneo.log.branch import CountParts, Head, SessionKey, chain, head_of
from ireneo.log.ids import message_id
from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.redaction import cleaned_value, redacted
from ireneo.memories.offered import Told
from ireneo.ports.redactor import Redactor
from ireneo.ports.store import Transaction

S = TypeVar("S", bound=Struct)

MakesRedactor = Callable[[], Redactor]


class Cleaning:
    """Takes the secrets out of what is to be stored, and counts them."""

    def __init__(self, redactor: MakesRedactor | None, *, keep: bool = False) -> None:
        """Clean with a `redactor` of its own each message; without one, or with `keep`, everything passes as it is."""
        self._redactor = redactor
        self._keep = keep
        self._found: dict[str, str] = {}
        self.unredacted = 0
        """How many messages were left as they are stored, with their secrets, though these were not to be kept."""

    def choices(self, draft: Draft) -> tuple[Draft, ...]:
        """The drafts that `draft` may be stored as, the one that is wanted first; one, where it has no secret."""
        if self._redactor is None:
            return (draft,)
        redactor = self._redactor()
        cleaned = redacted(draft, redactor.redact)
        if cleaned is draft:
            return (draft,)
        if not self._keep:
            self._found.update(redactor.secrets)
        return (draft, cleaned) if self._keep else (cleaned, draft)

    def chose(self, chosen: Draft, choices: Sequence[Draft]) -> Draft:
        """Note which of several drafts it came to."""
        self.unredacted += not self._keep and chosen is not choices[0]
        return chosen

    def text(self, text: str, name: str = "") -> str:
        """`text`, which stands under `name`, without its secrets: the name of a session or a file, a sentence."""
        if self._redactor is None or self._keep:
            return text
        redactor = self._redactor()
        cleaned = redactor.redact(text, name)
        self._found.update(redactor.secrets)
        return cleaned

    def fault(self, fault: Fault) -> Fault:
        """`fault`, which may quote the line that could not be read, without its secrets."""
        return replace(fault, message=self.text(fault.message))

    def struct(self, value: S) -> S:
        """A value of ours, such as an offer, with every text in it cleaned; the very same where nothing was found."""
        held = msgspec.to_builtins(value)
        cleaned = self._cleaned(held)
        return value if cleaned is held else msgspec.convert(cleaned, type(value))

    def told(self, text: str, told: Told) -> tuple[str, Told]:
        """A text that is to be remembered and what is said of it, each cleaned of what any of them gives away."""
        held: dict[str, object] = {name: value for name, value in told.items() if isinstance(value, str | dict)}
        if told.get("attribute"):
            # What an attribute is called is what its value stands under.
            held["value"] = {str(told["attribute"]): told.get("value", "")}
        cleaned = cast("dict[str, object]", self._cleaned({**held, "text": text}))
        if told.get("attribute"):
            (cleaned["value"],) = cast("dict[str, object]", cleaned["value"]).values()
        words = cast("str", cleaned.pop("text"))
        return words, cast("Told", {**told, **cleaned})

    def _cleaned(self, held: object) -> object:
        if self._redactor is None or self._keep:
            return held
        redactor = self._redactor()
        before = None
        while before is not held:
            # What one text gives away may stand bare in one before it.
            before, held = held, cleaned_value(held, redactor.redact)
        self._found.update(redactor.secrets)
        return held

    def message(self, message: Message) -> Message:
        """`message` as it would read without its secrets, for what is drawn from it; its id stays."""
        if self._redactor is None or self._keep:
            return message
        cleaned = redacted(message.draft, self._redactor().redact)
        return message if cleaned is message.draft else replace(message, draft=cleaned)

    @property
    def found(self) -> Mapping[str, int]:
        """How many different secrets of each kind were taken out so far."""
        return dict(sorted(Counter(self._found.values()).items()))


async def chosen(
    tx: Transaction, key: SessionKey, parent: MessageId | None, choices: Sequence[Draft], cleaning: Cleaning
) -> Draft:
    """Of what a message behind `parent` may be stored as, what is stored already, or else what is wanted."""
    if len(choices) == 1:
        return choices[0]
    ids = [message_id(parent, each.role, each.parts) for each in choices]
    if len(set(ids)) == 1:
        return choices[0]
    there = {each.id for each in await tx.log.find(key, ids)}
    found = next((each for name, each in zip(ids, choices, strict=True) if name in there), choices[0])
    return cleaning.chose(found, choices)


async def chain_chosen(
    tx: Transaction,
    key: SessionKey,
    head: Head | None,
    listed: Sequence[Sequence[Draft]],
    cleaning: Cleaning,
    count: CountParts,
) -> list[Message]:
    """Make messages behind `head`, each of what is `chosen` among its drafts."""
    out: list[Message] = []
    waiting: list[Draft] = []
    for choices in listed:
        if len(choices) == 1:
            waiting.append(choices[0])
            continue
        out += chain(head_of(out[-1]) if out else head, waiting, count)
        last = out[-1].id if out else head.id if head else None
        waiting = [await chosen(tx, key, last, choices, cleaning)]
    return out + chain(head_of(out[-1]) if out else head, waiting, count)
