"""Where an agent's work is cut into blocks: turns, batches of turns, and the deeper blocks over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import artifacts
from ireneo.log.message import Message, MessageId, is_own_block
from ireneo.log.tree import atoms, settled
from ireneo.patterns import lazy_re
from ireneo.summaries.notes import is_written, rolled_up, without_replaced
from ireneo.summaries.outcomes import SINCE_CHECK, SINCE_COMMIT
from ireneo.summaries.pins import MAX_PINS, constraints, standing
from ireneo.summaries.policy import CODING, Policy
from ireneo.summaries.steps import CHANGES, ActionKind, understand
from ireneo.summaries.summary import (
    Atom,
    Line,
    PathReader,
    Section,
    SectionName,
    SectionStyle,
    Strategy,
    Summary,
    SummaryId,
    SummaryLevel,
    anchor,
)
from ireneo.summaries.tell_work import write_goal_batch, write_goal_rollup, write_leaf, write_turn_rollup

# Where the work of a turn is cut into blocks, and when adjacent blocks become a deeper one.
#
# The cuts depend on nothing but the messages before them, so that two processes, or two budgets, come to the same
# blocks, and a block once made stays where it is.


RowItem: TypeAlias = Summary | Message
_LOOKING: frozenset[ActionKind] = frozenset({"read", "search", "fetch"})
_CLOSING: frozenset[ActionKind] = frozenset({"check", "save"})


def leaf_is_full(leaf: Sequence[Atom], following: Atom, policy: Policy) -> bool:
    """Whether a block ends between `leaf` and the atom that follows it."""
    if len(leaf) >= policy.leaf_max_atoms:
        return True
    size = sum(message.tokens for atom in leaf for message in atom)
    if size + sum(message.tokens for message in following) > policy.leaf_max_tokens:
        return True
    return len(leaf) >= policy.leaf_min_atoms and work_changes(leaf[-1], following)


def work_changes(before: Atom, after: Atom) -> bool:
    """Whether `after` begins another piece of work: a new plan, or a look around after a check or a commit."""
    done, begun = _kinds(before), _kinds(after)
    if "plan" in begun and "plan" not in done:
        return True
    return bool(done & _CLOSING) and bool(begun & (_LOOKING | CHANGES)) and not begun & _CLOSING


def due_merge(depths: Sequence[int], policy: Policy) -> int:
    """How many of the newest blocks, whose depths are given in order, become one deeper block now; 0 for none."""
    count = policy.fan_in
    return count if len(depths) >= count and len(set(depths[-count:])) == 1 else 0


def _kinds(atom: Atom) -> set[ActionKind]:
    return {understand(call).kind for message in atom for call in message.draft.calls}


def batch_is_full(openers: Sequence[Message], following: Message, policy: Policy) -> bool:
    """Whether the turns that `openers` opened become a batch before the turn that `following` opens.

    They do when they are as many as a batch may hold, or enough of them and the next one speaks of something else.
    """
    if len(openers) < policy.goal_min_turns:
        return False
    if len(openers) >= policy.goal_max_turns:
        return True
    named = {name for opener in openers for name in artifacts(opener.text)}
    return not named & set(artifacts(following.text))


# What a block says, what each line is worth, and how it reads.

_ACCOUNT: tuple[SectionName, ...] = (
    "direction",
    "asked",
    "strategy",
    "discoveries",
    "achieved",
    "artifacts",
    "operations",
    "worked",
)
"""What is told in one piece, in the order in which it happened: only so it shows what followed from what."""
_SECTIONS: dict[SectionName, SectionStyle] = {
    **{name: SectionStyle("") for name in _ACCOUNT},
    "dead_ends": SectionStyle("## Dead ends"),
    "pending": SectionStyle("## Open"),
    "status": SectionStyle("## Status"),
    "state": SectionStyle("## Where it stands"),
    "open": SectionStyle("## Where it stands"),
    "names": SectionStyle("## Also named"),
}


class WorkStrategy:
    """An agent's work: blocks in the place of what was done in a turn, and batches of complete turns over them.

    To tell something else of it, override `leaf`: sections with names of your own are carried through all depths, and
    shown where `sections` has a place for them.
    """

    name = "work"

    def __init__(self, policy: Policy = CODING) -> None:
        """Cut blocks of the sizes that `policy` names."""
        self.policy = policy

    def ends(self, stretch: Sequence[Atom], following: Atom) -> bool:
        """Whether a block ends between `stretch` and `following`: by its size, or where the work changes."""
        return leaf_is_full(stretch, following, self.policy)

    def leaf(self, messages: Sequence[Message], goal: str, *, ends_turn: bool) -> Sequence[Section]:
        """What was done in `messages`, and what came of it, as the calls and their outcomes show it."""
        return write_leaf(messages, goal, ends_turn=ends_turn)

    def roll_up(self, parts: Sequence[RowItem], *, turns: bool = False) -> Sequence[Section]:
        """Merge the lines about the same thing: nothing is said in other words."""
        if turns:
            return write_goal_batch(parts)
        children = [part for part in parts if isinstance(part, Summary)]
        return write_goal_rollup(children) if children[0].level == "goal" else write_turn_rollup(children)

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """The sections that a block shows, in order."""
        return _SECTIONS

    def worth(self, section: SectionName) -> float:
        """Once its own weight: each line has its worth from what it says."""
        return 1.0

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """One line in words, with the names that follow it."""
        if section == "names":
            return " ".join(names)
        if section == "direction":
            refusing = f", refusing {line.subject}" if line.subject else ""
            return f"- The user{refusing}: “{line.text}”"
        times = dict(line.verbs).get("tried", 1) if section == "dead_ends" else 1
        return f"- {line.text}" + (f" (tried {times} times)" if times > 1 else "")


WORK = WorkStrategy()
_USER_SAID = lazy_re(r"The user(?:, refusing [^“]{1,300})?: “(?P<words>.*)”", re.DOTALL)


def recorded(shown: str) -> str:
    """What a record has of a line that a context shows: the user's words, what is told of the state, or all of it."""
    shown = shown.strip().removeprefix("- ").removesuffix(SINCE_CHECK)
    if (said := _USER_SAID.fullmatch(shown)) is not None:
        return said["words"]
    if shown.startswith(SINCE_COMMIT):
        return shown.removeprefix(SINCE_COMMIT).split(", ")[0].rstrip(".")
    return shown


def strategy_of(policy: Policy) -> Strategy:
    """How blocks of a policy are told: as it says itself, or as agents' work is."""
    return policy.strategy or WorkStrategy(policy)


# The canonical blocks of a path, made as far as the path reaches.
#
# A *row* is a path as it can be shown most coarsely: summaries, and between them the messages that none covers, in
# order. `grow` takes the row that is known and the messages that follow, and returns the row of the longer path with
# the summaries that it had to write for it. It depends on the messages alone, so it gives the same row whether it is
# called once for a whole path or after every message.


class GrownRow(Struct, frozen=True, kw_only=True):
    """What came of growing a row."""

    row: tuple[RowItem, ...]
    made: tuple[Summary, ...]
    """The summaries that were written, each after those that it was written from."""


def grow(row: Sequence[RowItem], following: Sequence[Message], policy: Policy, then: Atom | None = None) -> GrownRow:
    """Carry the canonical blocks on over `following`, the messages that come after `row`.

    `then` is the atom that comes after them, where there is one: it may end the last block, and is not covered.
    """
    forest = _Forest(policy)
    for item in row:
        forest.restore(item)
    for atom in atoms([*forest.take_loose(), *following]):
        forest.add(atom)
    if then is not None:
        forest.end_before(then)
    return GrownRow(row=tuple(forest.row()), made=tuple(forest.made))


def open_block(loose: Sequence[Message], goal: str, policy: Policy) -> Summary:
    """Cover messages that no block covers yet, at depth 0; the block that is due there takes its place."""
    # A summarizer of its own keeps its anchor apart from that of the block that takes its place.
    summarizer = f"{policy.summarizer}/open"
    return summary_of("turn", 0, loose, strategy_of(policy).leaf(loose, goal, ends_turn=False), summarizer)


def cover_row(row: Sequence[RowItem], policy: Policy) -> Summary:
    """Cover a whole row by one summary that is none of the canonical ones: a budget has room for nothing finer."""
    parts: list[RowItem] = []
    loose: list[Message] = []
    for item in [*row, None]:
        if isinstance(item, Message) and not is_kept(item, policy):
            loose.append(item)
            continue
        if loose:
            parts.append(open_block(loose, "", policy))
            loose = []
        if item is not None:
            parts.append(item)
    work = [part for part in parts if isinstance(part, Summary)]
    whole = _parent("goal", parts, work, strategy_of(policy).roll_up(parts, turns=True), policy)
    written = [part for part in work if is_written(part)]
    if written:
        sections = rolled_up(whole, work)
        whole = replace(whole, sections=tuple(sections), writing=written[-1].writing)
    # Of deeper blocks it says something else of the same messages, and is another summary.
    depth = "" if whole.depth == 1 else f"/{whole.depth}"
    summarizer = f"{policy.summarizer}{depth}/whole"
    return replace(whole, summarizer=summarizer, id=anchor("goal", whole.first, whole.last, summarizer), sources=())


def is_kept(message: Message, policy: Policy) -> bool:
    """Whether the message stands verbatim until a goal batch covers it.

    The words of users and the system do, calls of excluded tools, and blocks of ours in a list that was cut before,
    since nothing else is left of what they cover.
    """
    if message.opens_turn or message.role == "system" or is_own_block(message.draft):
        return True
    if not policy.excluded_tools:
        return False
    draft = message.draft
    names = {call.name for call in draft.calls} | {result.name for result in draft.results if result.name}
    return bool(names & policy.excluded_tools)


def loose_from(row: Sequence[RowItem], policy: Policy) -> int:
    """The place in `row` from which on there are only messages that wait for their block: whole atoms, none kept."""
    place = len(row)
    messages = list(takewhile(lambda item: isinstance(item, Message), reversed(row)))[::-1]
    for atom in reversed(atoms([item for item in messages if isinstance(item, Message)])):
        if any(is_kept(message, policy) for message in atom):
            break
        place -= len(atom)
    return place


class _Turn:
    """A turn that is not in a goal batch yet: what opened it, and runs of blocks between words that are kept."""

    def __init__(self, opener: Message | None) -> None:
        self.opener = opener
        self.items: list[RowItem] = [opener] if opener else []
        self.run = 0
        """The place in `items` where the current run of blocks begins."""


class _Forest:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.strategy = strategy_of(policy)
        self.made: list[Summary] = []
        self.goals: list[RowItem] = []
        self.turns: list[_Turn] = [_Turn(None)]
        self.leaf: list[Atom] = []

    # -- taking up what is known -------------------------------------------------------------------------------------

    def restore(self, item: RowItem) -> None:
        """Take an item of a known row as it is."""
        if isinstance(item, Summary):
            if item.level == "goal":
                self._close_openless()
                self.goals.append(item)
            else:
                self.turns[-1].items.append(item)
        elif item.opens_turn:
            self.turns.append(_Turn(item))
        else:
            self.turns[-1].items.append(item)
            if is_kept(item, self.policy):
                self.turns[-1].run = len(self.turns[-1].items)
        if not isinstance(item, Summary) and item.opens_turn:
            self.turns[-1].run = 1

    def take_loose(self) -> list[Message]:
        """Give back the messages at the end of the row that wait for their block, so that they are added again."""
        items = self.turns[-1].items
        place = loose_from(items, self.policy)
        loose = [item for item in items[place:] if isinstance(item, Message)]
        del items[place:]
        return loose

    def _close_openless(self) -> None:
        """Put what no turn holds (a system prompt before the first) in front of the next goal batch for good."""
        if self.turns[0].opener is None:
            self.goals.extend(self.turns[0].items)
            self.turns[0] = _Turn(None)

    # -- growing -----------------------------------------------------------------------------------------------------

    def add(self, atom: Atom) -> None:
        """Add the next atom of the path."""
        self.end_before(atom)
        if atom[0].opens_turn:
            self.turns.append(_Turn(None))
            self.turns[-1].opener = atom[0]
        if any(is_kept(message, self.policy) for message in atom):
            self.turns[-1].items.extend(atom)
            self.turns[-1].run = len(self.turns[-1].items)
        else:
            self.leaf.append(atom)

    def end_before(self, atom: Atom) -> None:
        """Seal what ends where `atom` begins: a block, the work of a turn, a batch of turns."""
        if atom[0].opens_turn:
            self._end_run(ends_turn=True)
            self._batch(atom[0])
        elif any(is_kept(message, self.policy) for message in atom):
            self._end_run(ends_turn=False)
        elif self.leaf and self.strategy.ends(self.leaf, atom):
            self._seal_leaf(ends_turn=False)

    def _seal_leaf(self, *, ends_turn: bool) -> None:
        turn = self.turns[-1]
        messages = [message for atom in self.leaf for message in atom]
        goal = turn.opener.text if turn.opener else ""
        sections = _with_pins(messages, self.strategy.leaf(messages, goal, ends_turn=ends_turn))
        self._push(summary_of("turn", 1, messages, sections, self.policy.summarizer))
        self.leaf = []
        while count := due_merge(self._depths(), self.policy):
            self._merge(count)

    def _depths(self) -> list[int]:
        turn = self.turns[-1]
        return [item.depth for item in turn.items[turn.run :] if isinstance(item, Summary)]

    def _merge(self, count: int) -> None:
        items = self.turns[-1].items
        children = [item for item in items[-count:] if isinstance(item, Summary)]
        del items[-count:]
        self._push(_parent("turn", children, children, self.strategy.roll_up(children), self.policy))

    def _push(self, summary: Summary) -> None:
        self.made.append(summary)
        self.turns[-1].items.append(summary)

    def _end_run(self, *, ends_turn: bool) -> None:
        """Seal what is loose; several blocks of one run become the run's one block."""
        if self.leaf:
            self._seal_leaf(ends_turn=ends_turn)
        if len(self._depths()) > 1:
            self._merge(len(self._depths()))

    def _batch(self, following: Message) -> None:
        """Make a goal batch of the complete turns where one is due before `following`, and deeper ones of batches."""
        turns = [turn for turn in self.turns if turn.opener is not None]
        openers = [turn.opener for turn in turns if turn.opener is not None]
        if not openers or not batch_is_full(openers, following, self.policy):
            return
        parts = [item for turn in turns for item in turn.items]
        work = [item for item in parts if isinstance(item, Summary)]
        self._close_openless()
        self.turns = [_Turn(None)]
        self._push_goal(_parent("goal", parts, work, self.strategy.roll_up(parts, turns=True), self.policy))
        while count := due_merge(_depths_at_end(self.goals), self.policy):
            children = [item for item in self.goals[-count:] if isinstance(item, Summary)]
            del self.goals[-count:]
            self._push_goal(_parent("goal", children, children, self.strategy.roll_up(children), self.policy))

    def _push_goal(self, summary: Summary) -> None:
        self.made.append(summary)
        self.goals.append(summary)

    # -- reading -----------------------------------------------------------------------------------------------------

    def row(self) -> Iterator[RowItem]:
        """The row as it stands."""
        yield from self.goals
        for turn in self.turns:
            yield from turn.items
        for atom in self.leaf:
            yield from atom


def _depths_at_end(items: Sequence[RowItem]) -> list[int]:
    """The depths of the blocks that stand next to each other at the end of a row."""
    run = takewhile(lambda item: isinstance(item, Summary), reversed(items))
    return [item.depth for item in run if isinstance(item, Summary)][::-1]


def summary_of(
    level: SummaryLevel, depth: int, messages: Sequence[Message], sections: Sequence[Section], summarizer: str
) -> Summary:
    """A summary of these messages that says `sections`."""
    first, last = messages[0], messages[-1]
    return Summary(
        id=anchor(level, first.id, last.id, summarizer),
        level=level,
        depth=depth,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=summarizer,
        source_tokens=sum(message.tokens for message in messages),
        calls=sum(len(message.draft.calls) for message in messages),
        sections=tuple(sections),
    )


def _parent(
    level: SummaryLevel,
    parts: Sequence[RowItem],
    children: Sequence[Summary],
    sections: Sequence[Section],
    policy: Policy,
) -> Summary:
    """Cover `parts`, adjacent items of a row, by one summary that was written from `children`."""
    first, last = parts[0], parts[-1]
    first_id, first_position = _start(first)
    last_id, last_position = _end(last)
    depths = [child.depth for child in children if child.level == level]
    return Summary(
        id=anchor(level, first_id, last_id, policy.summarizer),
        level=level,
        depth=max(depths, default=0) + 1,
        first=first_id,
        last=last_id,
        first_position=first_position,
        last_position=last_position,
        summarizer=policy.summarizer,
        source_tokens=sum(part.source_tokens if isinstance(part, Summary) else part.tokens for part in parts),
        calls=sum(part.calls if isinstance(part, Summary) else len(part.draft.calls) for part in parts),
        sections=_with_pins(parts, sections),
        sources=tuple(child.id for child in children),
    )


def _with_pins(parts: Sequence[RowItem], sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections with what binds all that is done next: it is carried word for word, whatever a strategy says."""
    if any(section.name == "constraints" for section in sections):
        return tuple(sections)
    pins, lifts = constraints(parts)
    binding = standing(pins, lifts)[:MAX_PINS]
    carried: dict[SectionName, list[Line]] = {"constraints": binding, "lifted": lifts[-MAX_PINS:]}
    missing = [name for name in carried if carried[name] and all(section.name != name for section in sections)]
    return (*sections, *(Section(name=name, lines=tuple(carried[name])) for name in missing))


def _start(item: RowItem) -> tuple[MessageId, int]:
    return (item.first, item.first_position) if isinstance(item, Summary) else (item.id, item.position)


def _end(item: RowItem) -> tuple[MessageId, int]:
    return (item.last, item.last_position) if isinstance(item, Summary) else (item.id, item.position)


# The blocks along one path: those that are stored, as far as no other branch has cut them short, and new ones.

LOOK_AHEAD = 16
"""Messages that are read behind a block to see which atom comes next; of a longer one the beginning tells enough."""
CHUNK = 512
"""Messages that are read at a time: of a long path some are held, and never all of them."""
STRETCH = 8
"""An atom that so many chunks don't end is taken to end where they do: a call that nobody answered."""


class Reached(Struct, frozen=True, kw_only=True):
    """How far the blocks of a path are written."""

    row: tuple[RowItem, ...]
    """The blocks up to there, and what stands between and behind them."""
    position: int
    """Of the first message that they don't take in."""
    made: tuple[Summary, ...] = ()
    """What was written last."""


class WorkPath:
    """An agent's work along one path, as blocks: those that are stored, and those that are written when asked for."""

    def __init__(self, reader: PathReader, policy: Policy, reached: Reached | None = None) -> None:
        """Stand on the end of a path; `reached` is how far its blocks are written, where that is known."""
        self.reader = reader
        self.head = reader.head
        self.policy = policy
        self.shown: tuple[Summary, ...] = ()
        """The canonical blocks for which a text was looked for last."""
        self._reached = reached
        self._made: dict[SummaryId, Summary] = {}

    @property
    def made(self) -> list[Summary]:
        """The summaries that had to be written, each after those that it was written from."""
        return list(self._made.values())

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Take in summaries that were written of this path."""
        self._made.update((summary.id, summary) for summary in summaries)

    def row(self, last: int, newest: Sequence[Message]) -> list[RowItem]:
        """The blocks of the path up to position `last` with what stands between them; `newest` comes after it."""
        if last < 0:
            return []
        if self._reached is None or self._reached.position > last + 1:
            self._reached = self.stored(last)
        while last - self._reached.position >= CHUNK:
            self._reached = self.advance(self._reached, last)
            self.keep(self._reached.made)
        following = self.reader.path(self._reached.position, last)
        growth = grow(self._reached.row, following, self.policy, then=atoms(newest)[0])
        self.keep(growth.made)
        return list(growth.row)

    def stored(self, last: int) -> Reached:
        """The stored blocks of the path up to position `last`, with what stands between them.

        A block ends where the next atom says so. Where a branch went its own way, it may have ended a block early that
        goes on here: from such a block on the path is read again, until a wider one of its own takes its place.
        """
        row: list[RowItem] = []
        position = 0
        for summary in self.reader.frontier(last):
            if not self._ends_here(summary):
                break
            row.extend(self.reader.path(position, summary.first_position - 1))
            row.append(summary)
            position = summary.last_position + 1
        return Reached(row=tuple(row), position=position)

    def advance(self, reached: Reached, last: int) -> Reached:
        """Carry the blocks on over the next chunk of the path, whole atoms, up to position `last` at the most."""
        begin = reached.position
        for size in (CHUNK, CHUNK * STRETCH):
            messages = self.reader.path(begin, min(begin + size - 1, last))
            end = settled(messages)
            if end:
                break
        else:
            groups = atoms(messages)
            end = len(messages) - (len(groups[-1]) if len(groups) > 1 else 0)
        growth = grow(reached.row, messages[:end], self.policy)
        return Reached(row=growth.row, position=begin + end, made=growth.made)

    def parts(self, summary: Summary) -> list[RowItem]:
        """The row that a summary was written from: its sources, and the messages between them."""
        known = {
            each.id: each for each in self.reader.get([name for name in summary.sources if name not in self._made])
        }
        row: list[RowItem] = []
        position = summary.first_position
        for source in summary.sources:
            child = self._made.get(source) or known[source]
            row.extend(self.reader.path(position, child.first_position - 1))
            row.append(child)
            position = child.last_position + 1
        row.extend(self.reader.path(position, summary.last_position))
        return row

    def best(self, row: Sequence[RowItem], known: tuple[str, ...] | None) -> list[RowItem]:
        """The row with the best text that there is in the place of each block."""
        blocks = tuple(item for item in row if isinstance(item, Summary))
        if not blocks:
            return list(row)
        self.shown = blocks
        told = self.reader.texts(blocks, known, self._made)
        texts = {block.id: text for block, text in zip(blocks, told, strict=True)}
        shorter = without_replaced(told)
        row = [texts[item.id] if isinstance(item, Summary) else item for item in row]
        return [shorter.get(item.id, item) if isinstance(item, Summary) else item for item in row]

    def _ends_here(self, summary: Summary) -> bool:
        """Whether what comes after `summary` on this path ends it."""
        place = summary.last_position + 1
        following = self.reader.path(place, place + LOOK_AHEAD)
        if not following:
            return True
        if summary.level == "goal":
            return following[0].opens_turn
        ahead = atoms(following)[0]
        if any(is_kept(message, self.policy) for message in ahead):
            return True
        while summary.sources:
            children = self.reader.get(summary.sources)
            depths = {child.depth for child in children}
            # Blocks of one depth become a deeper one by their number; others, only where their run ends.
            if len(children) != self.policy.fan_in or len(depths) != 1:
                return False
            summary = children[-1]
        leaf = self.reader.path(summary.first_position, summary.last_position)
        return strategy_of(self.policy).ends(atoms(leaf), ahead)
