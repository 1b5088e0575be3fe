"""Whether a call of OpenHands failed: by its exit code, by its flag, or by what it says."""

from __future__ import annotations

from collections.abc import Mapping

from ireneo.formats.logs.narrow import mapping
from ireneo.log.message import Call
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

_FAILED = lazy_re(r"ERROR:\n|\[(?:Your proposed edit has introduced|No exact match found|Error\b)")
_EDITED = lazy_re(
    r"(?:The file [^\n]{1,300} has been edited\.|File created successfully at)|\[File: [^\n]* after edit\)\]"
)
"""What the tools for files begin with."""
STILL_RUNNING = -1
"""The exit code of a command that was not over when the harness stopped waiting for it."""


def exit_code(told: Mapping[str, object]) -> int | None:
    """The exit code that is noted about a command, beside its output or in the metadata."""
    for place in (mapping(told.get("metadata")), told):
        code = place.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def outcome(code: int | None, flag: object, text: str, call: Call | None) -> bool | None:
    """Whether it failed, from its exit code, the harness's flag of an error, and its words, in this order."""
    if flag is True:
        return True
    if code is not None and code != STILL_RUNNING:
        return code != 0
    if _FAILED.match(text):
        return True
    derived = derive_failed(text, call)
    went_well = (flag is False and code is None) or _EDITED.match(text) is not None
    return False if derived is None and went_well else derived
