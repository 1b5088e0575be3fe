"""Who put a user message there: the user, or the harness in the user's place."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.formats.chat.notes import SYSTEM
from ireneo.log.echo import is_recalled
from ireneo.log.message import PINS_TAG, Origin, Part, Text

_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


def origin_of(parts: Sequence[Part]) -> Origin:
    """`injected` where a user message is nothing but reminders of the harness, or what memory put there itself.

    That is pins, a scratchpad, a brief; else it is `spoken`.
    """
    texts = [part.text for part in parts if isinstance(part, Text)]
    injected = len(texts) == len(parts) > 0 and all(map(_is_injected, texts))
    return "injected" if injected else "spoken"


def _is_injected(text: str) -> bool:
    return _is_reminder(text) or text.startswith(PINS_TAG) or is_recalled(text.removeprefix(f"{SYSTEM} "))


def _is_reminder(text: str) -> bool:
    # A loop and no pattern: a lazy match would reach over the user's words between two reminders.
    rest = text.strip()
    if not rest:
        return False
    while rest:
        if not rest.startswith(_OPEN):
            return False
        _, closed, rest = rest.partition(_CLOSE)
        if not closed:
            return False
        rest = rest.lstrip()
    return True
