"""What a message list must hold to: one small function a rule, over an outline that each format draws of its list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, wraps
from typing import Final, TypeAlias

from msgspec import Struct

from ireneo.errors import UnreadableLog
from ireneo.log.message import Draft, Thinking


class Violation(Struct, frozen=True, kw_only=True):
    """A rule of the format that a message list breaks, and where."""

    rule: str
    """The rule's name, such as ``orphaned-result``."""
    index: int
    """The place of the message in the list, from 0."""
    message: str
    """One sentence: what is wrong, and what the provider wants instead."""


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


class UnmatchedPairs(Struct, frozen=True, kw_only=True):
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
    def found(self) -> UnmatchedPairs:
        """The calls without results and the results without calls."""
        made: dict[str, list[int]] = {}
        answered: set[tuple[int, str]] = set()
        found = UnmatchedPairs()
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


def each(rule: str) -> Callable[[Callable[[Outline], Iterable[str]]], Rule]:
    """Make a rule of what is wrong with one message, looked at alone, in sentences."""

    def decorate(faults_of: Callable[[Outline], Iterable[str]]) -> Rule:
        @wraps(faults_of)
        def check(outlines: Outlines) -> Iterator[Violation]:
            for outline in outlines:
                for says in faults_of(outline):
                    yield breach(rule, outline.index, says)

        return check

    return decorate


def unknown_role(known: tuple[str, ...]) -> Rule:
    """Each message has a role that the format knows."""

    @each("unknown-role")
    def check(outline: Outline) -> Iterator[str]:
        if outline.role not in known:
            what = f"its role {outline.role!r} is unknown" if outline.role else "it has no role"
            yield f"{what}; expected one of {', '.join(known)}."

    return check


def first_not_user(outlines: Outlines) -> Iterator[Violation]:
    """The user speaks first."""
    first = next((each for each in outlines if each.role not in ("system", "developer")), None)
    if first is not None and first.role != "user":
        yield breach("first-not-user", first.index, "the first message must be the user's.")


@each("call-without-id")
def call_without_id(outline: Outline) -> Iterator[str]:
    """Each call has an id, and each result names one."""
    if "" in outline.calls:
        yield "a call has no id, so that no result can name it."
    if "" in outline.results:
        yield "a result doesn't say which call it answers."


def duplicate_id(outlines: Outlines) -> Iterator[Violation]:
    """No two calls of a list bear one id."""
    seen: set[str] = set()
    for outline in outlines:
        for name in filter(None, outline.calls):
            if name in seen:
                yield breach("duplicate-call-id", outline.index, f"the id {name!r} is that of an earlier call.")
            seen.add(name)


@each("duplicate-call-id")
def duplicate_id_in_message(outline: Outline) -> Iterator[str]:
    """No two calls of a message bear one id."""
    seen: set[str] = set()
    for name in filter(None, outline.calls):
        if name in seen:
            yield f"the id {name!r} is that of another call beside it."
        seen.add(name)


def unpaired(outlines: Outlines) -> Iterator[Violation]:
    """Each call is answered once, by a result directly after it that names it."""
    found = outlines.found
    for index, name in found.unanswered:
        yield breach("unanswered-call", index, f"call {name!r} has no result; one must stand directly after it.")
    for index, name in found.orphaned:
        yield breach("orphaned-result", index, f"the result names call {name!r}, which no message before it makes.")
    for index, name in found.late:
        yield breach("result-not-next", index, f"the result of call {name!r} must stand directly after the call.")
    for index, name in found.repeated:
        yield breach("duplicate-result", index, f"call {name!r} is answered already; it can have one result only.")


THINKING_MISSING: Final = "thinking-missing"


def thinking_missing(outlines: Outlines) -> Iterator[Violation]:
    """The assistant's first message in the tool loop that runs begins with thinking.

    The loop is all that the assistant did since the user last spoke; it runs while results are the last that was said.
    The messages after the first think or don't, as the model answered them.
    """
    first = _loop_begins(list(outlines))
    if first is not None and not first.thinks:
        says = (
            "the tool loop that runs begins here without thinking, since the model answered so, or since a thought "
            "doesn't hold any more once what stood before it was changed; send the call with extended thinking off."
        )
        yield breach(THINKING_MISSING, first.index, says)


def _loop_begins(outlines: list[Outline]) -> Outline | None:
    """The first message of the assistant's in the loop that runs at the end; None where none runs."""
    first: Outline | None = None
    place = len(outlines)
    while place:
        answered = False
        while place and outlines[place - 1].role != "assistant":
            answered = answered or bool(outlines[place - 1].results)
            place -= 1
        if not answered:
            break
        while place and outlines[place - 1].role == "assistant":
            first = outlines[place - 1]
            place -= 1
    return first


def unreadable(read: Callable[[dict[str, object], str], object], known: tuple[str, ...]) -> Rule:
    """Each message can be read at all; one whose role is unknown is another rule's."""

    def rule(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            if outline.role in known:
                try:
                    read(outline.message, f"message {outline.index}")
                except UnreadableLog as fault:
                    yield Violation(rule="unreadable", index=outline.index, message=f"{fault}.")

    return rule
