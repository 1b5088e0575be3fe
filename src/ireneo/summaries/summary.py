"""The record of a summary, the `Strategy` that writes it, and the `PathReader` that it is made from."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from ireneo.log.message import BLOCK_TAGS, Head, Message, MessageId, digest, head_of, short
from ireneo.short_repr import ShortRepr

ThreadId = NewType("ThreadId", str)
"""``t_`` and 26 characters, from the thread's words and the id of the message that contains them."""

ThreadKind = Literal[
    "promise", "debt", "quest", "threat", "secret", "lie", "wound", "possession", "relation", "question", "open"
]
"""The last where its kind isn't known."""


class Thread(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A thread of a story as it was opened. While it is open it is a pin, carried word for word at every depth."""

    id: ThreadId
    kind: ThreadKind
    text: str
    """In the words of the story, or of the summary's writer."""
    who: str = ""
    """Whose it is: who promised, owes, seeks, threatens, hides, lies, was hurt, owns, is related or asks."""
    whom: str = ""
    """The other side."""
    weight: float = 1.0
    """How much it matters against other threads."""
    position: int = 0
    """The position of the message that opened it."""
    source: MessageId | None = None


class ThreadEnd(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The place and manner in which a thread ended."""

    id: ThreadId
    text: str
    """The sentence that says so, verbatim."""
    position: int
    """The position of the message that contains it."""
    source: MessageId


class ThreadChanges(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Changes of threads within one stretch of a story."""

    opened: tuple[Thread, ...] = ()
    """Opened within it and still open at its end, in order."""
    closed: tuple[ThreadId, ...] = ()
    """Opened before it and resolved within it."""
    forgotten: int = 0
    """How many threads opened within it were dropped for weightier ones, since the number carried is limited."""
    ends: tuple[ThreadEnd, ...] = ()
    """How they were resolved, where known."""


def thread_id(kind: ThreadKind, text: str, source: MessageId | None) -> ThreadId:
    """Name a thread by its content."""
    return ThreadId(digest("t", kind.encode(), text.encode(), (source or "").encode()))


SummaryId = NewType("SummaryId", str)
"""The anchor: ``s_`` and 26 characters, a hash of level, first, last and summarizer."""

SummaryLevel = Literal["turn", "goal", "story"]
SectionName: TypeAlias = str
"""``goal``, ``direction``, ``strategy``, ``operations``, ``discoveries``, ``achieved``, ``dead_ends``, ``worked``,
``constraints``, ``lifted``, ``artifacts``, ``asked``, ``pending``, ``open``, ``state``, ``status``,
``story``; or what another strategy calls a section."""
QUOTED: frozenset[SectionName] = frozenset({"goal", "direction", "constraints", "lifted"})
"""Sections in the user's own words."""
ANSWERS = "answered"
"""The verb of a line in the user's words that answers the question in its subject."""
REPLACED_CODE: SectionName = "replaced_code"
"""The section of removed lines of code. It is never shown, but says which lines of earlier blocks are outdated."""
ABOUT: frozenset[SectionName] = frozenset({"artifacts", "discoveries"})
"""Sections whose lines are grouped under their subject, such as a file."""


class Mention(Struct, frozen=True, array_like=True, gc=False):
    """A name that a line mentions."""

    name: str
    weight: float
    """How likely the name is to be needed again, compared with the other names of the context."""


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One statement of a summary, as data."""

    text: str = ""
    """The statement, or the outcome of an operation."""
    verbs: tuple[tuple[str, int], ...] = ()
    """For an operation: what was done to the subject, and how often."""
    subject: str = ""
    """The subject of the line, such as a file or a command; lines of several summaries are merged by subject."""
    names: tuple[Mention, ...] = ()
    """Names that may follow the text, the most needed first."""
    shell: bool = False
    """For an operation: whether the subject is a shell command."""
    failed: bool = False
    """For an operation: whether it failed the last time."""
    weight: float = 1.0
    """The value of the line for whoever continues the work: 10 a ruling of the user, 8 a dead end with its reason, 6 a
    decision with its reason, a value or a signature, 4 an ordinary finding, 2 a plain act."""
    position: int = 0
    """The position of the last message that supports the line."""
    sources: tuple[MessageId, ...] = ()
    """The messages that support the line."""
    begins: int = -1
    """The position of the first message that supports the line, if the line is placed there; below 0: it is placed at
    the last one."""

    @property
    def placed_at(self) -> int:
        """The position by which the line is placed among others."""
        return self.position if self.begins < 0 else self.begins


class Section(Struct, frozen=True, kw_only=True, gc=False):
    """A headed part of a summary."""

    name: SectionName
    lines: tuple[Line, ...]


class Writing(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How a model wrote a summary, and how far it could be trusted."""

    prompt: str
    """The prompt and its version, such as ``notes-1``."""
    model: str
    tokens_in: int
    tokens_out: int
    supported: float
    """Share of the model's claims in its first answer that the sources support, 0 to 1."""
    repaired: bool = False
    """Whether the model was asked a second time, with a list of faults."""
    trusted: bool = True
    """Whether the answer was trusted; else the summary holds only the offline text."""
    struck: int = 0
    """Lines struck for lack of support."""
    disputes: tuple[str, ...] = ()
    """The disputes that the model was shown."""
    seen_first: int = -1
    seen_last: int = -1
    """The positions of the first and last message that the model was shown; below 0: those that the summary covers."""


class Summary(ShortRepr, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An immutable record that covers positions `first_position` to `last_position` of every path through `last`."""

    id: SummaryId
    level: SummaryLevel
    depth: int
    first: MessageId
    last: MessageId
    first_position: int
    last_position: int
    summarizer: str = field(name="family")
    """The writer of the summary, with the version of its prompt or rules."""
    source_tokens: int
    """The cost of the messages that the summary covers, in tokens."""
    calls: int = 0
    """How many tool calls the summary covers."""
    sections: tuple[Section, ...] = ()
    sources: tuple[SummaryId, ...] = ()
    """The summaries that this one was written from; none if it was written from messages."""
    writing: Writing | None = None
    """How a model wrote the text; None for the offline text."""
    leaves: int = 0
    """For a story: how many leaves the summary covers."""
    retellings: int = 0
    """For a story: how often messages were retold at most to get here; 1 for a leaf."""
    threads: ThreadChanges = ThreadChanges()
    """For a story: the threads opened and resolved within the summary."""
    edits: tuple[str, ...] = ()
    """The wordings by hand that the text includes; never stored with the summary."""

    @property
    def messages(self) -> int:
        """How many messages the summary covers."""
        return self.last_position - self.first_position + 1

    @property
    def is_written(self) -> bool:
        """Whether a model wrote the text, and some of it is trusted."""
        return self.writing is not None and self.writing.trusted

    @property
    def stretch(self) -> str:
        """Level, first and last message: the same for all texts of the stretch, whoever wrote them."""
        return f"{self.level} {self.first} {self.last}"

    def lines(self, name: SectionName) -> Sequence[Line]:
        """The lines of a section; none if it has no such section."""
        for section in self.sections:
            if section.name == name:
                return section.lines
        return ()


def anchor(level: SummaryLevel, first: MessageId, last: MessageId, summarizer: str) -> SummaryId:
    """Name the summary of a stretch, so that two writers of the same summary write one record."""
    return SummaryId(digest("s", level.encode(), first.encode(), last.encode(), summarizer.encode()))


Atom: TypeAlias = tuple[Message, ...]
"""The smallest group of messages that no cut splits: a tool call with all its results."""
Choice: TypeAlias = Mapping[SectionName, Sequence[tuple[Line, Sequence[str]]]]
"""The shown part of a summary: the chosen lines of each section, each with the names that follow it."""

TAGS: dict[SummaryLevel, str] = dict(zip(("turn", "goal", "story"), BLOCK_TAGS, strict=False))
TWICE = 2
LEAD_WORDS = 3
"""A lead of at least this many words, its bullet included, is shown once for adjacent statements; a single word is
repeated as a label."""


class SectionStyle(Struct, frozen=True):
    """How a section is rendered."""

    heading: str
    """A line of its own, or the beginning of its prose."""
    prose: bool = False
    """Whether the lines are consecutive sentences."""
    apart: bool = False
    """Whether each sentence begins a new line, since they come from different places; not in a text by a model."""


class Strategy(Protocol):
    """How the past of a path is summarised.

    It says where a stretch ends (`ends`), what a summary of it says (`leaf`) and one over several (`roll_up`), what a
    line is worth (`worth`), and how it reads (`sections`, `say`). Cover, choice of lines, pins, branches and storage
    are the same for all strategies. The methods must depend on nothing but their arguments: two processes that cut the
    same path have to make the same summaries, and a context has to be the same again.
    """

    name: str
    """The name under which summaries are stored; change it whenever the strategy would word them differently."""

    def ends(self, stretch: Sequence[Atom], following: Atom) -> bool:
        """Whether a summary ends between `stretch` and the atom after it; the end of a turn ends it in any case."""

    def leaf(self, messages: Sequence[Message], goal: str, *, ends_turn: bool) -> Sequence[Section]:
        """Write the lines of a summary of `messages`, part of a turn that the user opened with the words `goal`.

        `ends_turn` says that the turn is over with them.
        """

    def roll_up(self, parts: Sequence[Summary | Message], *, turns: bool = False) -> Sequence[Section]:
        """Write the lines of a deeper summary over adjacent summaries.

        With `turns` they are complete turns, with the user's messages between them.
        """

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """The sections that a summary of this level shows, in order."""

    def worth(self, section: SectionName) -> float:
        """The factor by which the weights of a section's lines are multiplied."""

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """One line of a section in words, with the names that follow it."""


def header(summary: Summary, disputed: str = "") -> str:
    """The first line of a block: that it is reconstructed, what it covers, how to open it, why it is `disputed`."""
    messages, calls = _plural(summary.messages, "message"), _plural(summary.calls, "call")
    retold = ""
    if summary.level == "turn":
        what = calls if summary.calls else messages
    elif summary.level == "goal":
        what = f"{messages}, {calls}"
    else:
        what = _plural(summary.messages, "message", ",")
        if summary.retellings >= TWICE:
            retold = " · retold " + ("twice" if summary.retellings == TWICE else f"{summary.retellings} times")
    doubt = f" · (disputed): {disputed}" if disputed else ""
    return f"{TAGS[summary.level]} {what} · open with {short(summary.id)}{retold}{doubt}"


def render(summary: Summary, choice: Choice, strategy: Strategy, disputed: str = "") -> str:
    """Write a summary out: its header, and the chosen lines of each section.

    Sections that share a heading are merged, in path order.
    """
    lines = [header(summary, disputed)]
    styles = strategy.sections(summary.level)
    for heading in dict.fromkeys(style.heading for style in styles.values()):
        names = [name for name, style in styles.items() if style.heading == heading]
        prose = styles[names[0]].prose
        apart = styles[names[0]].apart and summary.writing is None
        # Lines without a position (of other strategies) stay where their section has them.
        chosen = [(name, line, more) for name in names for line, more in choice.get(name, ())]
        if len(names) > 1:
            chosen.sort(key=lambda each: each[1].placed_at)
        said = list(_render_lines(chosen, strategy, {name: summary.lines(name) for name in names}))
        if said and prose:
            lines.append(heading + ("\n" if apart else " ").join(said))
        elif said:
            lines += [heading, *said] if heading else said
    return "\n".join(lines)


def _render_lines(
    lines: Sequence[tuple[SectionName, Line, Sequence[str]]],
    strategy: Strategy,
    recorded: Mapping[SectionName, Sequence[Line]],
) -> Iterator[str]:
    """The lines in words, adjacent lines about one subject under it; items missing from a list leave a mark."""
    shown = {(name, line.position, line.text) for name, line, _ in lines}
    places = {
        name: {(line.position, line.text): place for place, line in enumerate(all)} for name, all in recorded.items()
    }
    about, pending = "", ""
    before: Line | None = None
    last: tuple[SectionName, int] | None = None
    for name, line, names in lines:
        subject = line.subject if name in ABOUT else ""
        # What was only read must not look like a change.
        subject = f"read {subject}" if name == "discoveries" and is_path(subject) else subject
        # Words of one message are kept together.
        if (
            pending
            and before
            and name == "direction"
            and (line.position, line.subject) == (before.position, before.subject)
        ):
            pending += f" “{line.text}”"
            continue
        said = strategy.say(name, line, names)
        if (place := places[name].get((line.position, line.text))) is not None:
            said = _with_missing_items(said, line, place, recorded[name], {key[1:] for key in shown if key[0] == name})
        if last == (name, line.position) and not subject and (rest := _after_shared_lead(pending, said)):
            # Items of one list are joined after its lead.
            rest = rest.removeprefix(f"{MISSING}; ") if pending.endswith(MISSING) else rest
            pending = f"{pending.rstrip('.')}; {rest}"
            continue
        last = name, line.position
        if pending:
            yield pending
        if subject and subject != about:
            yield f"- {subject}:"
        about, before = subject, line if name == "direction" else None
        pending = f"  {said}" if subject else said
    if pending:
        yield pending


def is_path(subject: str) -> bool:
    """Whether the subject of a line is a file, and no command, search or address."""
    return ("/" in subject or "." in subject) and not (" " in subject or "`" in subject or "://" in subject)


MISSING = "…"
"""Stands for items of a list that are not shown."""


def _with_missing_items(
    said: str, line: Line, place: int, recorded: Sequence[Line], shown: Set[tuple[int, str]]
) -> str:
    """`said`, with a mark before or after it if the items of its list there are not among those `shown`."""
    lead, _, rest = said.partition(": ")
    bare = lead.removeprefix("- ")
    if not rest or len(lead.split()) < LEAD_WORDS:
        return said

    def is_missing(at: int) -> bool:
        other = recorded[at] if 0 <= at < len(recorded) else line
        if other.position != line.position or not other.text.startswith(f"{bare}: "):
            return False
        # A shown line may end with a mark.
        return not any(at == other.position and text.startswith(other.text) for at, text in shown)

    rest = f"{MISSING}; {rest}" if is_missing(place - 1) else rest
    return f"{lead}: {rest.rstrip('.')}; {MISSING}" if is_missing(place + 1) else f"{lead}: {rest}"


def _after_shared_lead(before: str, said: str) -> str:
    """The part of `said` after the lead that both statements share; empty if their leads differ."""
    lead, _, rest = said.partition(": ")
    return rest if len(lead.split()) >= LEAD_WORDS and before.startswith(f"{lead}: ") else ""


def _plural(number: int, thing: str, grouping: str = "") -> str:
    return f"{number:{grouping}} {thing}{'' if number == 1 else 's'}"


T = TypeVar("T")


class PathReader(Protocol):
    """Reads the path to `head`; a store's reader does so within one transaction, so that all answers are consistent."""

    head: Head

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`, both included; none where `last` is before `first`."""

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries along the path up to position `last`, in order."""

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """The stored summaries among `ids`."""

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """For each summary the best text of its stretch: itself, or one that a model wrote.

        If `known` is given, only model texts in it are used, so that an earlier context can be made again. `made` are
        summaries that are not stored yet.
        """

    @property
    def used_texts(self) -> Sequence[str]:
        """The ids of the model texts that the last result of `texts` was made from."""


class ListReader:
    """Reads a path held in memory, over which nothing is stored."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Stand on the last of `messages`, which begin at position 0 and are not empty."""
        self.head = head_of(messages[-1])
        self.used_texts: Sequence[str] = ()
        self._messages = messages

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._messages[max(first, 0) : last + 1]

    def frontier(self, last: int) -> Sequence[Summary]:
        """Always empty."""
        return ()

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Always empty."""
        return ()

    def texts(
        self, summaries: Sequence[Summary], known: Sequence[str] | None = None, made: Mapping[SummaryId, Summary] = {}
    ) -> Sequence[Summary]:
        """The summaries themselves."""
        return summaries


class BestFirst:
    """A priority queue of candidates by value per cost, whose values may only fall."""

    def __init__(self, promised: Iterable[tuple[int, float]]) -> None:
        """Begin with the initial value of each candidate, by its index."""
        self._heap = [(-value, place) for place, value in promised]
        heapq.heapify(self._heap)

    def put(self, place: int, value: float) -> None:
        """Put a candidate back with a new value."""
        heapq.heappush(self._heap, (-value, place))

    def take(self, worth: Callable[[int], float | None]) -> int | None:
        """Remove the best candidate by its current value, and return its index; candidates worth None are dropped."""
        while self._heap:
            promised, place = heapq.heappop(self._heap)
            value = worth(place)
            if value is None:
                continue
            # Later choices may have lowered its value.
            if value < -promised and self._heap and value < -self._heap[0][0]:
                self.put(place, value)
                continue
            return place
        return None


class RecentValues(Generic[T]):
    """A cache of the values used last."""

    def __init__(self, most: int) -> None:
        """Keep `most` values."""
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The value called `name`; it is made if it is not cached."""
        if name in self._values:
            self._values.move_to_end(name)
            return self._values[name]
        value = make()
        self.put(name, value)
        return value

    def put(self, name: Hashable, value: T) -> None:
        """Cache a value."""
        self._values[name] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def find(self, name: Hashable) -> T | None:
        """The cached value called `name`, if there is one."""
        if name in self._values:
            self._values.move_to_end(name)
        return self._values.get(name)

    def clear(self) -> None:
        """Empty the cache."""
        self._values.clear()
