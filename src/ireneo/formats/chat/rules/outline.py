"""What the rules see of a message list: roles, ids, and which message answers which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from ireneo.formats.chat.format import Violation
from ireneo.log.message import Draft, Thinking


class Outline(Struct, frozen=True, kw_only=True):
    """One message, as the rules see it."""

    index: int
    role: str
    """Empty where the message has none."""
    message: dict[str, object]
    calls: tuple[str, ...] = ()
    """The ids of the calls that the application must answer; empty where one is missing."""
    results: tuple[str, ...] = ()
    """The ids that its results name; empty where one is missing."""
    thinks: bool = False
    """It begins with thinking that its provider signed or sealed."""
    answers: int | None = None
    """The index of the message whose calls its results must answer, if one stands where it should."""


class Found(Struct, frozen=True, kw_only=True):
    """Calls and results that don't meet: each with its message's index and its id."""

    unanswered: list[tuple[int, str]] = []
    orphaned: list[tuple[int, str]] = []
    late: list[tuple[int, str]] = []
    repeated: list[tuple[int, str]] = []


class Outlines:
    """The outlines of a list, and what is found by looking at them together."""

    def __init__(self, outlines: Iterable[Outline]) -> None:
        self._all = tuple(outlines)

    def __iter__(self) -> Iterator[Outline]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def found(self) -> Found:
        """The calls without results and the results without calls."""
        made: dict[str, list[int]] = {}
        answered: set[tuple[int, str]] = set()
        found = Found()
        loose: list[tuple[int, str]] = []
        for outline in self._all:
            for name in filter(None, outline.results):
                call = (outline.answers, name)
                if outline.answers is None or name not in self._all[outline.answers].calls:
                    loose.append((outline.index, name))
                elif call in answered:
                    found.repeated.append((outline.index, name))
                else:
                    answered.add((outline.answers, name))
            for name in filter(None, outline.calls):
                made.setdefault(name, []).append(outline.index)
        for index, name in loose:
            before = [at for at in made.get(name, []) if at < index]
            waiting = [at for at in before if (at, name) not in answered]
            if waiting:
                answered.add((waiting[-1], name))
                found.late.append((index, name))
            else:
                (found.repeated if before else found.orphaned).append((index, name))
        found.unanswered.extend((at, name) for name, ats in made.items() for at in ats if (at, name) not in answered)
        return found


def thinks(draft: Draft) -> bool:
    """Whether a message begins with thinking that its provider signed or sealed."""
    return any(isinstance(part, Thinking) and part.is_bound for part in draft.parts[:1])


Rule: TypeAlias = Callable[[Outlines], Iterator[Violation]]


def violations(outlines: Outlines, rules: Sequence[Rule]) -> list[Violation]:
    """Every breach of `rules`, in the order of the messages."""
    return sorted((fault for rule in rules for fault in rule(outlines)), key=lambda fault: fault.index)


def breach(rule: str, index: int, says: str) -> Violation:
    """A violation whose sentence begins with its place."""
    return Violation(rule=rule, index=index, message=f"message {index}: {says}")
