"""When two calls are the same way to an end: the same deed to the same thing, whatever figures stand in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ireneo.context.offline.steps import Step
from ireneo.patterns import lazy_re

_ACCIDENT = lazy_re(r"0x[0-9a-f]+|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\b\d+\b")


def way(step: Step) -> str:
    """The name of what was done: unlike an error's signature it keeps which file and which folder that was."""
    return f"{step.action.deed} {_ACCIDENT.sub('~', step.action.subject.lower())}"


class Course:
    """The calls of a task in order, with what is asked of them again and again."""

    def __init__(self, steps: Sequence[Step]) -> None:
        """Look at each call once."""
        self.steps = steps
        self.ways = [way(step) for step in steps]
        self.well = [step.result is not None and not step.failed for step in steps]
        """Whether each went well, as far as that is known."""
        self._well: dict[str, list[int]] = {}
        for place, name in enumerate(self.ways):
            if self.well[place]:
                self._well.setdefault(name, []).append(place)

    def __len__(self) -> int:
        return len(self.steps)

    def done_later(self, place: int) -> int | None:
        """The place of the first call after `place` that does the same and goes well; None where none does."""
        places = self._well.get(self.ways[place], ())
        at = bisect_right(places, place)
        return places[at] if at < len(places) else None
