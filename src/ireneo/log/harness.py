"""What a harness puts around what is said and shown: reminders for the model, and the numbers of lines."""

from __future__ import annotations

import re
from itertools import pairwise

from ireneo.patterns import lazy_re

REMINDER = lazy_re(r"<system-reminder>(?:[^<]|<(?!/system-reminder>))*+</system-reminder>")
"""What is hung on an output or the user's words, again and again. One that does not end is somebody's text."""
GUTTER = lazy_re(r"^ *(\d+)(→|\t)", re.MULTILINE)
"""The number of a line that a tool put before it, and the sign behind the number."""
TAB = "\t"


def without_reminders(text: str) -> str:
    """A text without what the harness hung on it."""
    return REMINDER.sub("", text) if "<system-reminder>" in text else text


def line_numbers(text: str) -> frozenset[int]:
    """The numbers that stand before adjacent lines of `text` and count them: other numbers are what it says."""
    found = [int(match[1]) for match in GUTTER.finditer(text)]
    first = {one for one, other in pairwise(found) if other == one + 1}
    return frozenset(first | {one + 1 for one in first})
