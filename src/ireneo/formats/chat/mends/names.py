"""A tool's name, in the letters that providers take."""

from __future__ import annotations

import re
from typing import Final

from ireneo.formats.chat.notes import UNNAMED

FITTING_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")

_ELSEWHERE = re.compile(r"[^A-Za-z0-9_-]")


def fitting_name(name: str) -> str:
    """`name`, or the name most like it that fits."""
    return name if FITTING_NAME.fullmatch(name) else _ELSEWHERE.sub("_", name)[:128] or UNNAMED
