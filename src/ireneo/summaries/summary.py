"""A summary as a record, the strategy that tells it, and where it is read from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from ireneo.log.message import BLOCK_TAGS, Head, Message, MessageId, digest, head_of, short

# A summary: an immutable record that covers a stretch of one path, as sections, lines and names.
#
# Of a story also its threads: what is promised, owed, sought, threatened, hidden, pretended, suffered, had, or between
# people, and has not come to its end yet.


ThreadId = NewType("ThreadId", str)
"""``t_`` and 26 characters, from the thread's words and the message that they stand in."""

ThreadKind = Literal[
    "promise", "debt", "quest", "threat", "secret", "lie", "wound", "possession", "relation", "question"
]


class Thread(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A thread as it was opened. While it is open it is a pin: carried word for word, at every depth."""

    id: ThreadId
    kind: ThreadKind
    text: str
    """In the words of the story, or those of whoever wrote the summary."""
    who: str = ""
    """Who promised, owes, seeks, threatens, hides, lies, was hurt, has it, is related or asks."""
    whom: str = ""
    """To whom, from whom, by whom, with whom."""
    weight: float = 1.0
    """How much it matters that it is kept, against other threads."""
    position: int = 0
    """The place on the path of the message that opened it."""
    source: MessageId | None = None
    """That message."""


class ThreadEnd(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What brought a thread to its end, and where."""

    id: ThreadId
    text: str
    """The sentence that says so, word for word."""
    position: int
    """The place on the path of the message that it stands in."""
    source: MessageId


class ThreadChanges(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of threads within one stretch of a story."""

    opened: tuple[Thread, ...] = ()
    """Those that were opened within it and are still open at its end, in order."""
    closed: tuple[ThreadId, ...] = ()
    """Those that were opened before it and were resolved within it."""
    forgotten: int = 0
    """How many that were opened within it gave way to weightier ones, since only so many can be carried."""
    ends: tuple[ThreadEnd, ...] = ()
    """Of those that were resolved what resolved them, where that is known."""


def thread_id(kind: ThreadKind, text: str, source: MessageId | None) -> ThreadId:
    """Name a thread by its content: found twice, it is one."""
    return ThreadId(digest("t", kind.encode(), text.encode(), (source or "").encode()))


SummaryId = NewType("SummaryId", str)
"""The anchor: ``s_`` and 26 characters, from level, first, last and summarizer. Two who write one stretch meet."""

SummaryLevel = Literal["turn", "goal", "story"]
SectionName: TypeAlias = str
"""``goal``, ``direction``, ``strategy``, ``operations``, ``discoveries``, ``achieved``, ``dead_ends``, ``worked``,
``constraints``, ``lifted``, ``artifacts``, ``asked``, ``pending``, ``open``, ``state``, ``names``, ``status``,
``story``; or what another strategy calls a section."""
QUOTED: frozenset[SectionName] = frozenset({"goal", "direction", "constraints", "lifted"})
"""What the user said, in the user's words."""
ABOUT: frozenset[SectionName] = frozenset({"artifacts", "discoveries"})
"""Sections whose lines stand under the subject that they are about (a file), where they have one."""


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
    """What it is worth to whoever goes on that the line is shown: 10 a ruling of the user, 8 a dead end with its
    reason, 6 a decision with its reason, a value or a signature, 4 an ordinary finding, 2 an act without more."""
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
    """The prompt and its version, such as ``notes-1``."""
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
    seen_first: int = -1
    seen_last: int = -1
    """From which position to which the messages stand that its writer saw; below 0: those that it covers."""


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
    edits: tuple[str, ...] = ()
    """The wordings by hand that it shows, as it is read: they are never stored with it."""

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


# How the past of a path is told: the one Protocol behind agents' work, stories, and what a user hands in.
#
# A strategy says where a stretch ends (`ends`), what a summary of it says (`leaf`), what one over several says
# (`roll_up`), what each line is worth to its reader (`worth`), and how it reads (`sections`, `say`). All the rest is
# done alike for all of them: the cover, the choice of lines within a budget, pins, branches, and what is stored.


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
    apart: bool = False
    """Its lines are passages from different places: each begins a line, unless a model wrote them as one text."""


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
        """How many times its own weight a line of a section is worth."""

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
    """Write a summary out: its header, and of each section what was chosen.

    Sections of one heading are told together, in the order in which things happened.
    """
    lines = [header(summary, disputed)]
    styles = strategy.sections(summary.level)
    for heading in dict.fromkeys(style.heading for style in styles.values()):
        names = [name for name, style in styles.items() if style.heading == heading]
        prose = styles[names[0]].prose
        apart = styles[names[0]].apart and summary.writing is None
        # What has no place on the path (a line of somebody else's strategy) stays where its section has it.
        told = [(name, line, more) for name in names for line, more in choice.get(name, ())]
        if len(names) > 1:
            told.sort(key=lambda each: each[1].position)
        said = list(_told(told, strategy))
        if said and prose:
            lines.append(heading + ("\n" if apart else " ").join(said))
        elif said:
            lines += [heading, *said] if heading else said
    return "\n".join(lines)


def _told(lines: Sequence[tuple[SectionName, Line, Sequence[str]]], strategy: Strategy) -> Iterator[str]:
    """The lines in words; those about one subject that follow each other stand under it."""
    about, held = "", ""
    before: Line | None = None
    for name, line, names in lines:
        subject = line.subject if name in ABOUT else ""
        # What somebody says in one message stands together.
        if (
            held
            and before
            and name == "direction"
            and (line.position, line.subject) == (before.position, before.subject)
        ):
            held += f" “{line.text}”"
            continue
        if held:
            yield held
        if subject and subject != about:
            yield f"- {subject}:"
        about, before = subject, line if name == "direction" else None
        said = strategy.say(name, line, names)
        held = f"  {said}" if subject else said
    if held:
        yield held


def _counted(number: int, thing: str, grouping: str = "") -> str:
    return f"{number:{grouping}} {thing}{'' if number == 1 else 's'}"


T = TypeVar("T")


class PathReader(Protocol):
    """Reads the path to `head`. A store's does so within one transaction, so that all answers fit together."""

    head: Head

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`, both included; none where `last` is before `first`."""

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries along the path up to position `last`, in order."""

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored."""

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """For each of `summaries` the best text of its stretch: itself, or one that a model wrote.

        Of those that a model wrote only those among `known`, where that is given: a context that was shown before is
        to be the same again. `made` are summaries that are not stored yet.
        """

    @property
    def taken_up(self) -> Sequence[str]:
        """The ids of what a model wrote of which the texts were made that were asked for last."""


class ListReader:
    """Reads a path that is at hand as a whole, over which nothing is stored."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Stand on the last of `messages`, which begin with the first of the path; there is at least one."""
        self.head = head_of(messages[-1])
        self._messages = messages

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._messages[max(first, 0) : last + 1]

    def frontier(self, last: int) -> Sequence[Summary]:
        """None: nothing is stored."""
        return ()

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """None: nothing is stored."""
        return ()

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """The summaries themselves."""
        return summaries

    @property
    def taken_up(self) -> Sequence[str]:
        """None: nothing is stored."""
        return ()


class RecentValues(Generic[T]):
    """The values that were needed last, by what they follow from."""

    def __init__(self, most: int) -> None:
        """Keep `most` of them."""
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The value of that name; it is made where it is not at hand."""
        if name in self._values:
            self._values.move_to_end(name)
            return self._values[name]
        value = make()
        self.put(name, value)
        return value

    def put(self, name: Hashable, value: T) -> None:
        """Keep a value."""
        self._values[name] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def find(self, name: Hashable) -> T | None:
        """The value of that name, if it is at hand."""
        if name in self._values:
            self._values.move_to_end(name)
        return self._values.get(name)

    def clear(self) -> None:
        """Let go of all of them."""
        self._values.clear()
