"""A summary: an immutable record that covers a stretch of one path, as sections, lines and names.

Of a story also its threads: what was promised, owed, hidden, suffered or asked, and has not come to its end yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NewType, TypeAlias

from msgspec import Struct, field

from ireneo.log.message import MessageId, digest

ThreadId = NewType("ThreadId", str)
"""``t_`` and 26 characters, from the thread's words and the message that they stand in."""

ThreadKind = Literal["promise", "debt", "secret", "wound", "question"]


class Thread(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A thread as it was opened. While it is open it is a pin: carried word for word, at every depth."""

    id: ThreadId
    kind: ThreadKind
    text: str
    """In the words of the story, or those of whoever wrote the summary."""
    who: str = ""
    """Who promised, owes, hides, was hurt or asks."""
    whom: str = ""
    """To whom, from whom, by whom."""
    weight: float = 1.0
    """How much it matters that it is kept, against other threads."""
    position: int = 0
    """The place on the path of the message that opened it."""
    source: MessageId | None = None
    """That message."""


class ThreadChanges(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of threads within one stretch of a story."""

    opened: tuple[Thread, ...] = ()
    """Those that were opened within it and are still open at its end, in order."""
    closed: tuple[ThreadId, ...] = ()
    """Those that were opened before it and were resolved within it."""
    forgotten: int = 0
    """How many that were opened within it gave way to weightier ones, since only so many can be carried."""


def thread_id(kind: ThreadKind, text: str, source: MessageId | None) -> ThreadId:
    """Name a thread by its content: found twice, it is one."""
    return ThreadId(digest("t", kind.encode(), text.encode(), (source or "").encode()))


SummaryId = NewType("SummaryId", str)
"""The anchor: ``s_`` and 26 characters, from level, first, last and summarizer. Two who write one stretch meet."""

SummaryLevel = Literal["turn", "goal", "story"]
SectionName: TypeAlias = str
"""``goal``, ``direction``, ``strategy``, ``operations``, ``discoveries``, ``achieved``, ``dead_ends``, ``worked``,
``constraints``, ``lifted``, ``artifacts``, ``status``, ``story``; or what another strategy calls a section."""


class Mention(Struct, frozen=True, array_like=True, gc=False):
    """An artifact that a line names."""

    name: str
    weight: float
    """How likely it is to be needed again, against the other names of the context."""


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One statement of a summary, as data: how it is worded is settled when it is rendered."""

    text: str = ""
    """The statement, or what came of the operation."""
    verbs: tuple[tuple[str, int], ...] = ()
    """Of an operation: what was done to the subject, and how often."""
    subject: str = ""
    """What an operation was done to (a file, a command): lines of several summaries about one thing meet in it."""
    names: tuple[Mention, ...] = ()
    """The artifacts that may follow the text, the most needed first; a narrow rendering shows fewer of them."""
    shell: bool = False
    """Of an operation: the subject is a shell command."""
    failed: bool = False
    """Of an operation: it failed when it was done last."""
    weight: float = 1.0
    """How much it matters that the line is shown, against the other lines of its section."""
    position: int = 0
    """The place on the path of the last message that it speaks of."""
    sources: tuple[MessageId, ...] = ()
    """The messages that it rests on."""


class Section(Struct, frozen=True, kw_only=True, gc=False):
    """A headed part of a summary."""

    name: SectionName
    lines: tuple[Line, ...]


class Writing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a model wrote a summary, and how far it could be trusted."""

    prompt: str
    """The prompt and its version, such as ``turn-1``."""
    model: str
    tokens_in: int
    tokens_out: int
    supported: float
    """Of the claims that the model made, the share that its sources support: as it first answered, from 0 to 1."""
    recall: float
    """Of the critical artifacts of the sources, the share that the model kept by itself, from 0 to 1."""
    repaired: bool = False
    """It was asked a second time, with the list of what was wrong."""
    trusted: bool = True
    """Whether any of it stands; where not, the summary has only what the structure shows."""
    struck: int = 0
    """Lines that were struck out since nothing supports them."""
    disputes: tuple[str, ...] = ()
    """The disputes that it was written in view of."""


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An immutable record that covers positions `first_position` to `last_position` of every path through `last`."""

    id: SummaryId
    level: SummaryLevel
    depth: int
    first: MessageId
    last: MessageId
    first_position: int
    last_position: int
    summarizer: str = field(name="family")
    """Which summariser and which version of its prompt or rules wrote it."""
    source_tokens: int
    """What the messages that it covers cost."""
    calls: int = 0
    """How many tool calls it covers."""
    sections: tuple[Section, ...] = ()
    sources: tuple[SummaryId, ...] = ()
    """The summaries that it was written from; none where it was written from the messages."""
    writing: Writing | None = None
    """How a model wrote it; None for the offline text."""
    leaves: int = 0
    """Of a story: how many leaves it covers; 1 for a leaf."""
    retellings: int = 0
    """Of a story: how many times the least lucky message that it covers has been retold to make it; 1 for a leaf."""
    threads: ThreadChanges = ThreadChanges()
    """Of a story: the threads that were opened and resolved within it."""

    @property
    def messages(self) -> int:
        """How many messages it covers."""
        return self.last_position - self.first_position + 1

    @property
    def stretch(self) -> str:
        """What it covers, whoever wrote it: its level, its first and its last message."""
        return f"{self.level} {self.first} {self.last}"

    def lines(self, name: SectionName) -> Sequence[Line]:
        """The lines of a section; none where the section was left out."""
        for section in self.sections:
            if section.name == name:
                return section.lines
        return ()


def anchor(level: SummaryLevel, first: MessageId, last: MessageId, summarizer: str) -> SummaryId:
    """Name the summary of a stretch: the same stretch, level and summarizer is the same summary, whoever writes it."""
    return SummaryId(digest("s", level.encode(), first.encode(), last.encode(), summarizer.encode()))
