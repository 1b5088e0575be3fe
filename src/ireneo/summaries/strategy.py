"""How the past of a path is told: the one Protocol behind agents' work, stories, and what a user hands in.

A strategy says where a stretch ends (`ends`), what a summary of it says (`leaf`), what one over several says
(`roll_up`), what each line is worth to its reader (`worth`), and how it reads (`sections`, `say`). All the rest is done
alike for all of them: the cover, the choice of lines within a budget, pins, branches, and what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from ireneo.log.message import BLOCK_TAGS, Message, short
from ireneo.summaries.summary import Line, Section, SectionName, Summary, SummaryLevel

Atom: TypeAlias = tuple[Message, ...]
"""The smallest group of messages that no cut splits: a tool call with all its results, say."""
Choice: TypeAlias = Mapping[SectionName, Sequence[tuple[Line, Sequence[str]]]]
"""What is shown of a summary: of each section the chosen lines, each with the names that follow it."""

TAGS: dict[SummaryLevel, str] = dict(zip(("turn", "goal", "story"), BLOCK_TAGS, strict=False))
TWICE = 2


class SectionStyle(Struct, frozen=True):
    """How a section reads."""

    heading: str
    """What stands before it: a line of its own, or the beginning of its prose."""
    prose: bool = False
    """Its lines are sentences that follow each other."""


class Strategy(Protocol):
    """How the past of a path is told.

    The methods depend on nothing but what they are given: two processes that cut the same path have to come to the
    same summaries, and a context that was shown has to be the same again.
    """

    name: str
    """Its summaries are stored under this name: after a change of what it says, with another name they are made anew.
    """

    def ends(self, stretch: Sequence[Atom], following: Atom) -> bool:
        """Whether a summary ends between `stretch` and the atom that follows it; a turn's end ends it in any case."""

    def leaf(self, messages: Sequence[Message], goal: str, *, ends_turn: bool) -> Sequence[Section]:
        """What a summary of `messages` says, which stand in a turn that was opened with the words `goal`.

        `ends_turn` says that the turn is over with them.
        """

    def roll_up(self, parts: Sequence[Summary | Message], *, turns: bool = False) -> Sequence[Section]:
        """What a deeper summary says, over adjacent summaries.

        With `turns` they stand for complete turns, between the messages in which these were asked for.
        """

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """The sections that a summary of this level shows, in order."""

    def worth(self, section: SectionName) -> float:
        """What a line of a section is worth before its names; a name that the agent wrote just now is worth 12."""

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """One line of a section in words, with the names that follow it."""


def header(summary: Summary, disputed: str = "") -> str:
    """The line that tells the reader that this is reconstructed, how much it stands for, and how to open it.

    `disputed` is why it is disputed, if it is. A story that was told from the messages themselves is not called retold.
    """
    messages, calls = _counted(summary.messages, "message"), _counted(summary.calls, "call")
    retold = ""
    if summary.level == "turn":
        what = calls if summary.calls else messages
    elif summary.level == "goal":
        what = f"{messages}, {calls}"
    else:
        what = _counted(summary.messages, "message", ",")
        if summary.retellings >= TWICE:
            retold = " · retold " + ("twice" if summary.retellings == TWICE else f"{summary.retellings} times")
    doubt = f" · (disputed): {disputed}" if disputed else ""
    return f"{TAGS[summary.level]} {what} · open with {short(summary.id)}{retold}{doubt}"


def render(summary: Summary, choice: Choice, strategy: Strategy, disputed: str = "") -> str:
    """Write a summary out: its header, and of each section what was chosen."""
    lines = [header(summary, disputed)]
    for name, style in strategy.sections(summary.level).items():
        said = [strategy.say(name, line, names) for line, names in choice.get(name, ())]
        if said and style.prose:
            lines.append(style.heading + " ".join(said))
        elif said:
            lines += [style.heading, *said]
    return "\n".join(lines)


def _counted(number: int, thing: str, grouping: str = "") -> str:
    return f"{number:{grouping}} {thing}{'' if number == 1 else 's'}"
