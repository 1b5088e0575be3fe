"""A tool's name, in the letters that providers take."""

from __future__ import annotations

from typing import Final

from ireneo.formats.chat.notes import UNNAMED
from ireneo.patterns import lazy_re

FITTING_NAME: Final = lazy_re(r"[A-Za-z0-9_-]{1,128}")

_ELSEWHERE = lazy_re(r"[^A-Za-z0-9_-]")


def fitting_name(name: str) -> str:
    """`name`, or the name most like it that fits."""
    return name if FITTING_NAME.fullmatch(name) else _ELSEWHERE.sub("_", name)[:128] or UNNAMED
