"""Lessons that say the same as another one: of those that are read together one is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import Lesson

_VERBATIM = lazy_re(r"“[^“”]{0,1000}+”|`[^`]*`")
_UNREAD = " of a file that was not read before"
_WHEN = "When "


def said_once(lessons: Sequence[Lesson]) -> list[Lesson]:
    """`lessons` in their order, without those whose words another one has already.

    A way out of a failure is left out where the failure tells of it; a failure of a file that was not read, where
    another lesson says the same of any file.
    """
    failures = [each.lesson for each in lessons if each.category == "failure"]
    said = {each.lesson for each in lessons}
    return [
        each
        for each in lessons
        if not (_UNREAD in each.lesson and each.lesson.replace(_UNREAD, "") in said)
        and not (each.category == "procedural" and _told_by(each.lesson, failures))
    ]


def _told_by(way: str, failures: Sequence[str]) -> bool:
    """Whether one of `failures` ends in what `way`, "When … fails, …", says to do about it."""
    at = _VERBATIM.sub(lambda found: "x" * len(found[0]), way).find(", ")
    if not way.startswith(_WHEN) or at < 0:
        return False
    fails, rest = way[len(_WHEN) : at], way[at + 2 :].rstrip(".")
    return any(each.startswith(fails) and f": {rest}" in each for each in failures)
