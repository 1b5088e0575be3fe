"""What every store asks of the messages that it is given, before it writes one of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from ireneo.errors import BadInput, MessageNotFound
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey


def check_chain(messages: Sequence[Message]) -> None:
    """Raise BadInput unless each message is the child of the one before it and stands right after it."""
    for before, after in pairwise(messages):
        if after.parent != before.id or after.position != before.position + 1:
            raise BadInput(f"Message {after.id} does not follow {before.id}; insert one path at a time, in its order.")


def check_place(message: Message, parent_position: int | None) -> None:
    """Raise BadInput unless `message` stands right after its parent; None: it has none, and is a root."""
    wanted = 0 if parent_position is None else parent_position + 1
    if message.position != wanted:
        raise BadInput(
            f"Message {message.id} says that it is at position {message.position}, its parent at {wanted - 1}."
        )


def not_stored(key: SessionKey, name: MessageId) -> MessageNotFound:
    """The error for a message that should be in the session."""
    return MessageNotFound(f"There is no message {name} in session {key.session!r}.")


def widen(
    span: tuple[datetime | None, datetime | None], messages: Sequence[Message]
) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest time in `span` and in `messages`; a time without a zone is taken for UTC."""
    times = [at for at in (*span, *(message.draft.at for message in messages)) if at is not None]
    return between(times)


def between(times: Sequence[datetime]) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest of `times`; a time without a zone is taken for UTC."""
    if not times:
        return None, None
    return min(times, key=_comparable), max(times, key=_comparable)


def check_branches(key: SessionKey, *, is_empty: bool, has_branch: bool) -> None:
    """Raise BadInput where a session with messages has no branch: to prune it would leave nothing."""
    if not is_empty and not has_branch:
        raise BadInput(f"Session {key.session!r} has no branch; fork or rewind one first.")


def check_erased(messages: Sequence[Message]) -> None:
    """Raise BadInput unless each message is what is left of an erased one."""
    for message in messages:
        if not message.erased:
            raise BadInput(f"Message {message.id} is not marked as erased; hand in what `ireneo.log.redaction` leaves.")


def _comparable(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
