"""Which calls must be signed, and what stands where no signature is to be had.

Within the turn that is running, the first call of each of the model's steps bears a signature; what came before
is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ireneo.formats.chat.gemini.names import CALL, RESULT, SIGNATURE, field, parts_in, role_in

Content = dict[str, object]

STAND_IN: Final = "skip_thought_signature_validator"
"""What the provider takes instead of a signature, for a call that it didn't make or whose signature is lost."""


def unsigned_calls(contents: Sequence[Content]) -> Iterator[tuple[int, Content]]:
    """The first call of each step of the running turn that lacks its signature, with its content's index."""
    for index in range(_running(contents), len(contents)):
        first = _first_call(contents[index])
        if first is not None and not field(first, SIGNATURE):
            yield index, first


def sign_running(contents: Sequence[Content]) -> None:
    """Put the stand-in on each call that lacks a signature and needs one."""
    for _, part in list(unsigned_calls(contents)):
        part[SIGNATURE] = STAND_IN


def sign(content: Content) -> Content:
    """Put the stand-in on the first call of a content of ours, if it lacks a signature.

    In whatever turn it stands: else what was sent would change when the turn is over.
    """
    first = _first_call(content)
    if first is not None and not field(first, SIGNATURE):
        first[SIGNATURE] = STAND_IN
    return content


def _first_call(content: Content) -> Content | None:
    if role_in(content) != "model":
        return None
    return next((part for part in parts_in(content) if field(part, CALL) is not None), None)


def _running(contents: Sequence[Content]) -> int:
    for index in reversed(range(len(contents))):
        asked = any(field(part, RESULT) is None for part in parts_in(contents[index]))
        if role_in(contents[index]) == "user" and asked:
            return index + 1
    return 0
