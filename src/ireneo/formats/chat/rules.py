"""The rules of message lists: each is a small function over outlines, which each format draws of its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.log.message import Draft, Thinking
from ireneo.patterns import lazy_re


class Violation(Struct, frozen=True, kw_only=True):
    """A breach of a format's rule."""

    rule: str
    """The rule's name, such as ``orphaned-result``."""
    index: int
    """The message's index in the list."""
    message: str
    """One sentence: what is wrong, and what the provider expects."""


class Outline(Struct, frozen=True, kw_only=True):
    """What the rules check of one message."""

    index: int = 0
    role: str
    """Empty where the message has none."""
    message: dict[str, object]
    calls: tuple[str, ...] = ()
    """The ids of the calls that the application must answer; an empty string for a missing id."""
    results: tuple[str, ...] = ()
    """The call ids of its results; an empty string for a missing id."""
    thinks: bool = False
    """It begins with signed or sealed thinking."""
    answers: int | None = None
    """The index of the message whose calls its results must answer, if there is one."""


class UnmatchedPairs(Struct, frozen=True, kw_only=True):
    """Calls and results that don't match, each as its message's index and its id."""

    unanswered: list[tuple[int, str]] = []
    orphaned: list[tuple[int, str]] = []
    late: list[tuple[int, str]] = []
    repeated: list[tuple[int, str]] = []


class Outlines:
    """The outlines of a list of messages."""

    def __init__(self, outlines: Iterable[Outline]) -> None:
        self._all = tuple(outlines)

    def __iter__(self) -> Iterator[Outline]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def found(self) -> UnmatchedPairs:
        """The calls without results, and the results without calls."""
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


def draw_outlines(
    messages: Sequence[dict[str, object]],
    outline: Callable[[dict[str, object], dict[str, object] | None], Outline],
    tools: tuple[str, ...] = (),
) -> Outlines:
    """Draw the outlines of a list; `outline` draws one from a message and the message before it.

    Results are expected in the message directly after the model's or, where messages of the roles `tools` hold one
    result each, in the run of such messages.
    """
    outlines: list[Outline] = []
    asking: int | None = None
    before = None
    for index, message in enumerate(messages):
        seen = outline(message, before)
        before, model = message, seen.role in _MODELS
        outlines.append(replace(seen, index=index, answers=None if model else asking))
        if seen.role not in tools:
            asking = index if model else None
    return Outlines(outlines)


_MODELS = ("assistant", "model")


def outline_of(role: str, message: dict[str, object], drafts: Sequence[Draft]) -> Outline:
    """Draw the outline of a message that was read as `drafts`."""
    first = drafts[0].parts[:1] if drafts else ()
    return Outline(
        role=role,
        message=message,
        calls=tuple(call.id for draft in drafts for call in draft.calls),
        results=tuple(result.call_id for draft in drafts for result in draft.results),
        thinks=any(isinstance(part, Thinking) and part.is_bound for part in first),
    )


Rule: TypeAlias = Callable[[Outlines], Iterator[Violation]]


def violations(outlines: Outlines, rules: Sequence[Rule]) -> list[Violation]:
    """Return every violation of `rules`, in the order of the messages."""
    return sorted((fault for rule in rules for fault in rule(outlines)), key=lambda fault: fault.index)


def breach(rule: str, index: int, says: str) -> Violation:
    """Make a violation whose sentence begins with its place."""
    return Violation(rule=rule, index=index, message=f"message {index}: {says}")


def each(rule: str, says: str, finds: Callable[[Outline], Iterable[object] | bool]) -> Rule:
    """Make a rule on single messages: a violation for each thing that `finds` returns.

    `says` is its sentence, in which ``{0}`` is what was found and ``{role}`` the message's role.
    """

    def check(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            found = finds(outline)
            for one in ("",) * found if isinstance(found, bool) else found:
                yield breach(rule, outline.index, says.format(one, role=outline.role))

    return check


def unknown_role(known: tuple[str, ...]) -> Rule:
    """Make the rule that each message has one of the roles `known`."""

    def finds(outline: Outline) -> list[str]:
        what = f"its role {outline.role!r} is unknown" if outline.role else "it has no role"
        return [] if outline.role in known else [what]

    return each("unknown-role", f"{{0}}; expected one of {', '.join(known)}.", finds)


def first_not_user(outlines: Outlines) -> Iterator[Violation]:
    """Check that the first message is the user's."""
    first = next((each for each in outlines if each.role not in ("system", "developer")), None)
    if first is not None and first.role != "user":
        yield breach("first-not-user", first.index, "the first message must be the user's.")


def _without_id(outline: Outline) -> Iterator[str]:
    if "" in outline.calls:
        yield "a call has no id, so that no result can name it."
    if "" in outline.results:
        yield "a result doesn't say which call it answers."


call_without_id = each("call-without-id", "{0}", _without_id)


def unique(rule: str, says: str, names: Callable[[Outline], Iterable[str]]) -> Rule:
    """Make the rule that the `names` in a list are unique; in the sentence ``{0}`` is the repeated one."""

    def check(outlines: Outlines) -> Iterator[Violation]:
        seen: set[str] = set()
        for outline in outlines:
            for name in filter(None, names(outline)):
                if name in seen:
                    yield breach(rule, outline.index, says.format(name))
                seen.add(name)

    return check


def unique_calls(names: Callable[[Outline], Iterable[str]]) -> Rule:
    """Make the rule that the ids of a list's calls are unique."""
    return unique("duplicate-call-id", "the id {0!r} is that of an earlier call.", names)


def _twice(outline: Outline) -> Iterator[str]:
    names = [name for name in outline.calls if name]
    return (name for place, name in enumerate(names) if name in names[:place])


duplicate_id_in_message = each("duplicate-call-id", "the id {0!r} is that of another call beside it.", _twice)


def fitting_names(names: Callable[[Outline], Iterable[object]]) -> Rule:
    """Make the rule that a tool's name has at most 128 letters, digits, underscores and hyphens."""
    return each(
        "bad-call-name",
        "the tool's name {0!r} may only hold letters, digits, underscores and hyphens, at most 128.",
        lambda outline: [name for name in names(outline) if isinstance(name, str) and not FITTING_NAME.fullmatch(name)],
    )


FITTING_NAME: Final = lazy_re(r"[A-Za-z0-9_-]{1,128}")


def unpaired(outlines: Outlines) -> Iterator[Violation]:
    """Check that each call is answered once, by a result directly after it."""
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
    """Check that the assistant's first message in the running tool loop begins with thinking.

    The loop is what the assistant did since the user last spoke; it runs while results are the last message. Its later
    messages may or may not have thinking.
    """
    first = _loop_begins(list(outlines))
    if first is not None and not first.thinks:
        says = (
            "the tool loop that runs begins here without thinking, since the model answered so, or since a thought "
            "doesn't hold any more once what stood before it was changed; send the call with extended thinking off."
        )
        yield breach(THINKING_MISSING, first.index, says)


def _loop_begins(outlines: list[Outline]) -> Outline | None:
    """Return the assistant's first message in the tool loop that runs at the end; None where none runs."""
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
    """Make the rule that `read` can read each message with one of the roles `known`."""

    def rule(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            if outline.role in known:
                try:
                    read(outline.message, f"message {outline.index}")
                except UnreadableLog as fault:
                    yield Violation(rule="unreadable", index=outline.index, message=f"{fault}.")

    return rule
