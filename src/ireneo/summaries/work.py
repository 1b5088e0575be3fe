"""Cut an agent's work into blocks: stretches of turns, batches of turns, and deeper blocks over them.

The cuts depend on nothing but the messages before them, so that two processes or two budgets make the same blocks, and
a block once made stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.language.words import artifacts
from ireneo.log.calls import atoms, complete_prefix
from ireneo.log.message import Message, MessageId, is_own_block
from ireneo.patterns import lazy_re
from ireneo.summaries.notes import BESIDE, REPLACED, VERBATIM, deeper_sections, without_replaced
from ireneo.summaries.pins import MAX_PINS, constraints, valid_pins
from ireneo.summaries.policy import CODING, Policy
from ireneo.summaries.state import recorded_text_of
from ireneo.summaries.steps import CHANGES, ActionKind, understand
from ireneo.summaries.summary import (
    ANSWERS,
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
from ireneo.summaries.tell_work import write_goal_batch, write_leaf, write_turn_rollup

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
    return len(leaf) >= policy.leaf_min_atoms and begins_other_work(leaf[-1], following)


def begins_other_work(before: Atom, after: Atom) -> bool:
    """Whether `after` begins other work: a new plan, or reading and editing after a check or a commit."""
    done, begun = _action_kinds(before), _action_kinds(after)
    if "plan" in begun and "plan" not in done:
        return True
    return bool(done & _CLOSING) and bool(begun & (_LOOKING | CHANGES)) and not begun & _CLOSING


def due_merge(depths: Sequence[int], policy: Policy) -> int:
    """How many of the newest blocks, whose depths are given in order, are merged now; 0 for none."""
    count = policy.fan_in
    return count if len(depths) >= count and len(set(depths[-count:])) == 1 else 0


def _action_kinds(atom: Atom) -> set[ActionKind]:
    return {understand(call).kind for message in atom for call in message.draft.calls}


def batch_is_full(openers: Sequence[Message], following: Message, policy: Policy) -> bool:
    """Whether the turns opened by `openers` become a batch before the turn opened by `following`.

    They do when a batch can hold no more, or when there are enough and the next turn names other things.
    """
    if len(openers) < policy.goal_min_turns:
        return False
    if len(openers) >= policy.goal_max_turns:
        return True
    named = {name for opener in openers for name in artifacts(opener.text)}
    return not named & set(artifacts(following.text))


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
"""Told as one account in path order: only so it shows what followed from what."""
_SECTIONS: dict[SectionName, SectionStyle] = {
    **{name: SectionStyle("") for name in _ACCOUNT},
    "dead_ends": SectionStyle("## Dead ends"),
    "pending": SectionStyle("## Open"),
    "status": SectionStyle("## Status"),
    "state": SectionStyle("## Where it stands"),
    "open": SectionStyle("## Where it stands"),
}


class WorkStrategy:
    """An agent's work: blocks that replace what was done in a turn, and batches of complete turns.

    To summarise something else, override `leaf`: sections with names of your own are carried through all depths, and
    shown where `sections` has a place for them.
    """

    name = "work"

    def __init__(self, policy: Policy = CODING) -> None:
        """Cut blocks of the sizes that `policy` names."""
        self.policy = policy

    def ends(self, stretch: Sequence[Atom], following: Atom) -> bool:
        """Whether a block ends here: by its size, or because the work changes."""
        return leaf_is_full(stretch, following, self.policy)

    def leaf(self, messages: Sequence[Message], goal: str, *, ends_turn: bool) -> Sequence[Section]:
        """The work done in `messages` and its results, as shown by calls and outcomes."""
        return write_leaf(messages, ends_turn=ends_turn)

    def roll_up(self, parts: Sequence[RowItem], *, turns: bool = False) -> Sequence[Section]:
        """Merge the lines about one subject; nothing is reworded."""
        children = [part for part in parts if isinstance(part, Summary)]
        batches = turns or children[0].level == "goal"
        return write_goal_batch(parts) if batches else write_turn_rollup(children)

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """The sections of a block, in order."""
        return _SECTIONS

    def worth(self, section: SectionName) -> float:
        """Always 1, since a line's weight is its worth."""
        return 1.0

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """One line in words, with the names that follow it."""
        if section == "direction" and ANSWERS in dict(line.verbs):
            return f"- Asked “{line.subject}”, the user said: “{line.text}”"
        if section == "direction":
            refusing = f", refusing {line.subject}" if line.subject else ""
            return f"- The user{refusing}: “{line.text}”"
        times = dict(line.verbs).get("tried", 1) if section == "dead_ends" else 1
        return f"- {line.text}" + (f" (tried {times} times)" if times > 1 else "")


WORK = WorkStrategy()
_USER_SAID = lazy_re(
    r"(?:Asked “.{1,300}?”, the user said|The user(?:, refusing [^“]{1,300})?): “(?P<words>.*)”", re.DOTALL
)


def recorded_text(shown: str) -> str:
    """The part of a line as a context shows it that its record holds."""
    shown = recorded_text_of(shown.strip().removeprefix("- "))
    said = _USER_SAID.fullmatch(shown)
    return said["words"] if said else shown


def strategy_of(policy: Policy) -> Strategy:
    """The strategy of a policy: its own strategy, or the one for an agent's work."""
    return policy.strategy or WorkStrategy(policy)


def _told(sections: object, policy: Policy) -> Sequence[Section]:
    """What a strategy told, if it can be shown. Raises BadInput."""
    own = policy.strategy
    if own is None:
        return cast("Sequence[Section]", sections)
    if not isinstance(sections, Sequence) or not all(isinstance(each, Section) for each in sections):
        raise BadInput(f"The strategy {own.name!r} has to return a list of `Section`; it returned {sections!r:.80}.")
    listed = {name for level in _LEVELS for strategy in (own, WorkStrategy()) for name in strategy.sections(level)}
    for each in sections:
        if each.name not in listed | _UNLISTED:
            raise BadInput(
                f"The strategy {own.name!r} wrote a section {each.name!r} that its `sections` lists at no level, so "
                "nobody would see it; list it there, with its style."
            )
    return sections


_LEVELS: tuple[SummaryLevel, ...] = ("turn", "goal", "story")
_UNLISTED: frozenset[SectionName] = frozenset({*VERBATIM, REPLACED, BESIDE})
"""Sections that are carried and shown elsewhere."""


# A *row* is a path as it can be shown most coarsely: summaries, and between them the messages that none covers.


class GrownRow(Struct, frozen=True, kw_only=True):
    """The result of growing a row."""

    row: tuple[RowItem, ...]
    made: tuple[Summary, ...]
    """The new summaries, each after its sources."""


def grow(row: Sequence[RowItem], following: Sequence[Message], policy: Policy, then: Atom | None = None) -> GrownRow:
    """Extend the canonical blocks of `row` over the messages that follow it.

    `then` is the atom after those, if there is one: it may end the last block, and is not covered. The result is the
    same for one call over a whole path and a call per message.
    """
    forest = _RowBuilder(policy)
    for item in row:
        forest.restore(item)
    for atom in atoms([*forest.take_uncovered(), *following]):
        forest.add(atom)
    if then is not None:
        forest.end_before(then)
    return GrownRow(row=tuple(forest.row()), made=tuple(forest.made))


def cover_open_messages(loose: Sequence[Message], goal: str, policy: Policy) -> Summary:
    """Cover messages that no block covers yet, at depth 0, until the block that is due there replaces it."""
    # A summarizer of its own keeps its anchor different from that of the block that replaces it.
    summarizer = f"{policy.summarizer}/open"
    return summary_of(
        "turn", 0, loose, _told(strategy_of(policy).leaf(loose, goal, ends_turn=False), policy), summarizer
    )


def cover_row(row: Sequence[RowItem], policy: Policy) -> Summary:
    """Cover a whole row by one summary that is not canonical, for a budget too small for anything finer."""
    parts: list[RowItem] = []
    loose: list[Message] = []
    for item in [*row, None]:
        if isinstance(item, Message) and not is_kept(item, policy):
            loose.append(item)
            continue
        if loose:
            parts.append(cover_open_messages(loose, "", policy))
            loose = []
        if item is not None:
            parts.append(item)
    work = [part for part in parts if isinstance(part, Summary)]
    whole = _make_parent("goal", parts, work, strategy_of(policy).roll_up(parts, turns=True), policy)
    written = [part for part in work if part.is_written]
    if written:
        sections = deeper_sections(whole, work)
        whole = replace(whole, sections=tuple(sections), writing=written[-1].writing)
    # Over deeper blocks it says something else of the same messages, and needs another id.
    depth = "" if whole.depth == 1 else f"/{whole.depth}"
    summarizer = f"{policy.summarizer}{depth}/whole"
    return replace(whole, summarizer=summarizer, id=anchor("goal", whole.first, whole.last, summarizer), sources=())


def is_kept(message: Message, policy: Policy) -> bool:
    """Whether the message stays verbatim until a goal batch covers it.

    That holds for users and the system, for calls of excluded tools, and for blocks of ours in a list that was cut
    before, since the messages that they cover are gone.
    """
    if message.opens_turn or message.role == "system" or is_own_block(message.draft):
        return True
    if not policy.excluded_tools:
        return False
    draft = message.draft
    names = {call.name for call in draft.calls} | {result.name for result in draft.results if result.name}
    return bool(names & policy.excluded_tools)


def uncovered_from(row: Sequence[RowItem], policy: Policy) -> int:
    """Index in `row` from which there are only whole atoms that wait for their block."""
    place = len(row)
    messages = list(takewhile(lambda item: isinstance(item, Message), reversed(row)))[::-1]
    for atom in reversed(atoms([item for item in messages if isinstance(item, Message)])):
        if any(is_kept(message, policy) for message in atom):
            break
        place -= len(atom)
    return place


class _Turn:
    """A turn in no goal batch yet: its opener, and runs of blocks between kept messages."""

    def __init__(self, opener: Message | None) -> None:
        self.opener = opener
        self.items: list[RowItem] = [opener] if opener else []
        self.run = 0
        """Index in `items` of the current run of blocks."""


class _RowBuilder:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.strategy = strategy_of(policy)
        self.made: list[Summary] = []
        self.goals: list[RowItem] = []
        self.turns: list[_Turn] = [_Turn(None)]
        self.leaf: list[Atom] = []

    def restore(self, item: RowItem) -> None:
        """Take over an item of a known row."""
        if isinstance(item, Summary):
            if item.level == "goal":
                self._close_preamble()
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

    def take_uncovered(self) -> list[Message]:
        """Remove the messages at the end of the row that wait for their block, to be added again."""
        items = self.turns[-1].items
        place = uncovered_from(items, self.policy)
        loose = [item for item in items[place:] if isinstance(item, Message)]
        del items[place:]
        return loose

    def _close_preamble(self) -> None:
        """Put everything before the first turn (a system prompt) in front of the next goal batch."""
        if self.turns[0].opener is None:
            self.goals.extend(self.turns[0].items)
            self.turns[0] = _Turn(None)

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
        """Close what ends where `atom` begins: a block, the work of a turn, a batch of turns."""
        if atom[0].opens_turn:
            self._end_run(ends_turn=True)
            self._make_batch(atom[0])
        elif any(is_kept(message, self.policy) for message in atom):
            self._end_run(ends_turn=False)
        elif self.leaf and self.strategy.ends(self.leaf, atom):
            self._seal_leaf(ends_turn=False)

    def _seal_leaf(self, *, ends_turn: bool) -> None:
        turn = self.turns[-1]
        messages = [message for atom in self.leaf for message in atom]
        goal = turn.opener.text if turn.opener else ""
        told = _told(self.strategy.leaf(messages, goal, ends_turn=ends_turn), self.policy)
        sections = _with_pins(messages, told)
        self._push(summary_of("turn", 1, messages, sections, self.policy.summarizer))
        self.leaf = []
        while count := due_merge(self._run_depths(), self.policy):
            self._merge_newest(count)

    def _run_depths(self) -> list[int]:
        turn = self.turns[-1]
        return [item.depth for item in turn.items[turn.run :] if isinstance(item, Summary)]

    def _merge_newest(self, count: int) -> None:
        items = self.turns[-1].items
        children = [item for item in items[-count:] if isinstance(item, Summary)]
        del items[-count:]
        self._push(_make_parent("turn", children, children, self.strategy.roll_up(children), self.policy))

    def _push(self, summary: Summary) -> None:
        self.made.append(summary)
        self.turns[-1].items.append(summary)

    def _end_run(self, *, ends_turn: bool) -> None:
        """Close the open block, and merge the blocks of the run into one."""
        if self.leaf:
            self._seal_leaf(ends_turn=ends_turn)
        if len(self._run_depths()) > 1:
            self._merge_newest(len(self._run_depths()))

    def _make_batch(self, following: Message) -> None:
        """Make the goal batch that is due before `following`, if any, and deeper ones of batches."""
        turns = [turn for turn in self.turns if turn.opener is not None]
        openers = [turn.opener for turn in turns if turn.opener is not None]
        if not openers or not batch_is_full(openers, following, self.policy):
            return
        parts = [item for turn in turns for item in turn.items]
        work = [item for item in parts if isinstance(item, Summary)]
        self._close_preamble()
        self.turns = [_Turn(None)]
        self._push_goal(_make_parent("goal", parts, work, self.strategy.roll_up(parts, turns=True), self.policy))
        while count := due_merge(_trailing_depths(self.goals), self.policy):
            children = [item for item in self.goals[-count:] if isinstance(item, Summary)]
            del self.goals[-count:]
            self._push_goal(_make_parent("goal", children, children, self.strategy.roll_up(children), self.policy))

    def _push_goal(self, summary: Summary) -> None:
        self.made.append(summary)
        self.goals.append(summary)

    def row(self) -> Iterator[RowItem]:
        """The current row."""
        yield from self.goals
        for turn in self.turns:
            yield from turn.items
        for atom in self.leaf:
            yield from atom


def _trailing_depths(items: Sequence[RowItem]) -> list[int]:
    """The depths of the adjacent blocks at the end of a row."""
    run = takewhile(lambda item: isinstance(item, Summary), reversed(items))
    return [item.depth for item in run if isinstance(item, Summary)][::-1]


def summary_of(
    level: SummaryLevel, depth: int, messages: Sequence[Message], sections: Sequence[Section], summarizer: str
) -> Summary:
    """Make a summary of these messages with these `sections`."""
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


def _make_parent(
    level: SummaryLevel,
    parts: Sequence[RowItem],
    children: Sequence[Summary],
    sections: Sequence[Section],
    policy: Policy,
) -> Summary:
    """Cover `parts`, adjacent items of a row, by one summary written from `children`."""
    first, last = parts[0], parts[-1]
    first_id, first_position = _start_of(first)
    last_id, last_position = (last.last, last.last_position) if isinstance(last, Summary) else (last.id, last.position)
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
        sections=_with_pins(parts, _told(sections, policy)),
        sources=tuple(child.id for child in children),
    )


def _with_pins(parts: Sequence[RowItem], sections: Sequence[Section]) -> tuple[Section, ...]:
    """Add the pins, which are carried word for word whatever a strategy says."""
    if any(section.name == "constraints" for section in sections):
        return tuple(sections)
    pins, lifts = constraints(parts)
    binding = valid_pins(pins, lifts)[:MAX_PINS]
    carried: dict[SectionName, list[Line]] = {"constraints": binding, "lifted": lifts[-MAX_PINS:]}
    missing = [name for name in carried if carried[name] and all(section.name != name for section in sections)]
    return (*sections, *(Section(name=name, lines=tuple(carried[name])) for name in missing))


def _start_of(item: RowItem) -> tuple[MessageId, int]:
    return (item.first, item.first_position) if isinstance(item, Summary) else (item.id, item.position)


LOOK_AHEAD = 16
"""Messages read after a block to find the next atom, or enough of its beginning."""
CHUNK = 64
"""Messages read at a time, so that a long path is never held as a whole, and little is written twice."""
STRETCH = 64
"""An atom that this many chunks don't end is cut off: a call that was never answered."""


class RowProgress(Struct, frozen=True, kw_only=True):
    """How far the blocks of a path are written."""

    row: tuple[RowItem, ...]
    """The blocks up to a position, and the messages between and after them."""
    position: int
    """Position of the first message after the row."""
    made: tuple[Summary, ...] = ()
    """The summaries written last."""


class WorkPath:
    """An agent's work along one path: stored blocks, and those that are written on demand."""

    def __init__(self, reader: PathReader, policy: Policy, reached: RowProgress | None = None) -> None:
        """Stand on the end of a path; `reached` is how far its blocks are written, where known."""
        self.reader = reader
        self.head = reader.head
        self.policy = policy
        self.shown: tuple[Summary, ...] = ()
        """The canonical blocks that texts were last looked up for."""
        self._reached = [reached] if reached else []
        """How far its blocks are written, at several places: another budget may begin the newest messages earlier."""
        self._made: dict[SummaryId, Summary] = {}

    @property
    def new_summaries(self) -> list[Summary]:
        """The new summaries, each after its sources."""
        return list(self._made.values())

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Add summaries that were written of this path."""
        self._made.update((summary.id, summary) for summary in summaries)

    def row(self, last: int, newest: Sequence[Message]) -> list[RowItem]:
        """The blocks of the path up to position `last` with the messages between them; `newest` comes after it."""
        if last < 0:
            return []
        self._reached = [each for each in self._reached if each.position <= last + 1] or [self.stored_row(last)]
        while last - self._reached[-1].position >= CHUNK:
            self._reached.append(self.advance(self._reached[-1], last))
            self.keep(self._reached[-1].made)
        reached = self._reached[-1]
        following = self.reader.path(reached.position, last)
        growth = grow(reached.row, following, self.policy, then=atoms(newest)[0])
        self.keep(growth.made)
        return list(growth.row)

    def stored_row(self, last: int) -> RowProgress:
        """The stored blocks of the path up to position `last`, with the messages between them.

        A block ends where the next atom says so. On another branch it may have ended earlier than it does here: from
        such a block on the path is cut again.
        """
        row: list[RowItem] = []
        position = 0
        for summary in self.reader.frontier(last):
            if not self._ends_here(summary):
                break
            row.extend(self.reader.path(position, summary.first_position - 1))
            row.append(summary)
            position = summary.last_position + 1
        return RowProgress(row=tuple(row), position=position)

    def advance(self, reached: RowProgress, last: int) -> RowProgress:
        """Extend the blocks over the next chunk of the path, in whole atoms, at most up to position `last`."""
        begin = reached.position
        for size in (CHUNK, CHUNK * STRETCH):
            messages = self.reader.path(begin, min(begin + size - 1, last))
            end = complete_prefix(messages)
            if end:
                break
        else:
            groups = atoms(messages)
            end = len(messages) - (len(groups[-1]) if len(groups) > 1 else 0)
        growth = grow(reached.row, messages[:end], self.policy)
        return RowProgress(row=growth.row, position=begin + end, made=growth.made)

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

    def with_best_texts(self, row: Sequence[RowItem], known: tuple[str, ...] | None) -> list[RowItem]:
        """The row with the best text of each block."""
        blocks = tuple(item for item in row if isinstance(item, Summary))
        if not blocks:
            return list(row)
        self.shown = blocks
        told = self.reader.texts(blocks, known, self._made)
        texts = {block.id: text for block, text in zip(blocks, told, strict=True)}
        shorter = without_replaced(told) if any(each.is_written for each in told) else {}
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
            # Blocks of one depth are merged by number, others only where their run ends.
            if len(children) != self.policy.fan_in or len(depths) != 1:
                return False
            summary = children[-1]
        leaf = self.reader.path(summary.first_position, summary.last_position)
        return strategy_of(self.policy).ends(atoms(leaf), ahead)
