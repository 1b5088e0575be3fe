"""Where a story is cut into leaves, which summaries are merged, and the canonical summaries themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.message import Message, as_said
from ireneo.log.tree import atoms
from ireneo.summaries.cast import DEEP_LINES, cast_section
from ireneo.summaries.find_cast import find_cast
from ireneo.summaries.find_threads import find_threads
from ireneo.summaries.pins import constraints, standing
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.summary import (
    Atom,
    Line,
    Section,
    SectionName,
    SectionStyle,
    Strategy,
    Summary,
    SummaryLevel,
    Thread,
    anchor,
)
from ireneo.summaries.tell_story import tell_deeper, tell_leaf
from ireneo.summaries.threads import join

# Where a leaf of a story ends: at a whole turn, once enough messages have come together.
#
# Whether a leaf ends depends on the leaf and on the one atom after it, and on nothing that comes later. So the same
# path is cut in the same places, whether it is cut after every message or all at once.


SOFT = 0.75
"""From this share of its tokens on a leaf ends at the next turn, so that few are cut inside of one."""
LONG_TURN = 2
"""A turn that alone is so many leaves long is cut inside."""


class Leaves(Struct, frozen=True, kw_only=True):
    """What messages are cut into: whole leaves, and the rest that waits for its own."""

    leaves: tuple[tuple[Message, ...], ...]
    rest: tuple[Message, ...]


def plan_leaves(messages: Sequence[Message], story: StorySettings, strategy: Strategy | None = None) -> Leaves:
    """Cut consecutive `messages` into leaves, as far as enough of the newest ones stay live behind them."""
    strategy = strategy or StoryStrategy(story)
    out: list[tuple[Message, ...]] = []
    leaf: list[Atom] = []
    start, place = 0, 0
    last_cut = len(messages) - story.live_messages
    for atom in atoms(messages):
        if leaf and strategy.ends(leaf, atom):
            if place > last_cut:
                break
            out.append(tuple(messages[start:place]))
            leaf, start = [], place
        leaf.append(atom)
        place += len(atom)
    return Leaves(leaves=tuple(out), rest=tuple(messages[start:]))


class StoryStrategy:
    """A story: leaves of so many messages, told in sentences of their own, and deeper summaries over them."""

    name = "story"

    def __init__(self, settings: StorySettings) -> None:
        self.settings = settings

    def ends(self, stretch: Sequence[Atom], following: Atom) -> bool:
        """Whether a leaf ends between `stretch` and `following`: at a whole turn, once it is long enough."""
        messages = sum(map(len, stretch))
        tokens = sum(message.tokens for atom in stretch for message in atom)
        if tokens + sum(message.tokens for message in following) > self.settings.leaf_tokens:
            return True
        if messages >= self.settings.leaf_messages * LONG_TURN:
            return True
        full = messages >= self.settings.leaf_messages or tokens >= self.settings.leaf_tokens * SOFT
        return full and following[0].opens_turn

    def leaf(self, messages: Sequence[Message], goal: str = "", *, ends_turn: bool = False) -> Sequence[Section]:
        """The sentences that tell most, in the words of the story, and the names in it."""
        return tell_leaf(as_said(messages))

    def roll_up(self, parts: Sequence[Summary | Message], *, turns: bool = False) -> Sequence[Section]:
        """Of the sentences below those that tell most."""
        return tell_deeper([part for part in parts if isinstance(part, Summary)])

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """Prose, and the names that stand in none of it."""
        return _SECTIONS

    def worth(self, section: SectionName) -> float:
        """Every sentence is worth what it tells."""
        return 1.0

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """A line as a sentence, with a full stop where the story had none; or the names, in a row."""
        if section == "artifacts":
            return ", ".join(names)
        text = line.text.strip()
        return f"{text}." if text[-1:].isalnum() and ord(text[-1]) < _NO_LETTERS else text


_NO_LETTERS = 0x2E80
"""From here on signs stand for words, and a sentence needs no full stop."""
_SECTIONS = {"story": SectionStyle("", prose=True, apart=True), "artifacts": SectionStyle("Names: ", prose=True)}


def story_strategy(policy: Policy) -> Strategy:
    """How the story of a policy is told: as it says itself, or as ours are."""
    return policy.strategy or StoryStrategy(settings(policy))


# Which summaries of a story are shown, and which are merged: a count of the leaves, in base `fan_in`.
#
# The oldest adjacent summaries of a depth are merged as soon as there are more than `limit` of it. So the summary
# number
# k of depth d covers the leaves from k·f^(d-1) to before (k+1)·f^(d-1), with f the fan-in, on every path and in every
# process; and of n leaves some `limit`·log(n) summaries are shown.


def shown_depths(leaves: int, story: StorySettings) -> list[int]:
    """The depths of the summaries that so many leaves are shown as, from the oldest to the newest."""
    out: list[int] = []
    depth, count = 1, leaves
    while count:
        merged = -(-max(count - story.limit, 0) // story.fan_in)
        out = [*[depth] * (count - merged * story.fan_in), *out]
        depth, count = depth + 1, merged
    return out


def finest(leaves: int, blocks: int, story: StorySettings) -> StorySettings:
    """The same settings with the highest limit at which so many leaves are shown as `blocks` summaries at the most.

    A wide context has room for more than the limit of each depth: there the past is shown more finely.
    """
    low, high = story.limit, max(leaves, story.limit)
    while low < high:
        middle = (low + high + 1) // 2
        if len(shown_depths(leaves, replace(story, limit=middle))) <= blocks:
            low = middle
        else:
            high = middle - 1
    return replace(story, limit=low)


def due_merge(depths: Sequence[int], story: StorySettings) -> int | None:
    """The place of the first of the `fan_in` summaries that are to be merged next; None where no depth has too many.

    `depths` are those of a row from its oldest summary to its newest, which never grow.
    """
    for depth in sorted(set(depths)):
        if depths.count(depth) > story.limit:
            return depths.index(depth)
    return None


def leaves_at(depth: int, story: StorySettings) -> int:
    """How many leaves a summary of this depth covers."""
    return int(story.fan_in ** (depth - 1))


# From what a deep summary is written: a fact dies by being retold, so from what was retold least.
#
# A summary of depth d could be written from the summaries of any depth below it. It is written from those of the least
# depth that fit into the summariser's window together: from the leaves, as long as they do. With a window of w
# summaries
# and a fan-in of f a summary of depth d is then retold 1 + ⌈(d - 1) / ⌊log_f w⌋⌉ times, against n / 150 times for a
# summary that is folded again and again.


TOLD_TOKENS = 340
"""What a summary of 250 words costs, with what is said about it."""


def source_depth(depth: int, story: StorySettings) -> int:
    """The depth of the summaries that one of `depth` is written from, at least 2."""
    fits = max(story.window_tokens // TOLD_TOKENS, story.fan_in)
    below = depth - 1
    while below > 1 and story.fan_in ** (depth - below + 1) <= fits:
        below -= 1
    return below


def retellings(depth: int, story: StorySettings) -> int:
    """How many times the least lucky message under a summary of `depth` has been retold to make it."""
    return 1 if depth <= 1 else 1 + retellings(source_depth(depth, story), story)


RUNNING_WORDS = 250
"""What a running summary holds."""
MAX_LIFTS = 24
"""So many sentences that may lift a constraint are carried, the newest."""


def settings(policy: Policy) -> StorySettings:
    """How the story of a policy fades. Raises BadInput where the policy is for no story."""
    if policy.story is None:
        raise BadInput(f"The preset {policy.name!r} is for no story; take 'story'.")
    return policy.story


def is_answered(messages: Sequence[Message]) -> bool:
    """Whether a model speaks among these messages: where none does, nobody is told what to do, and no "never" binds."""
    return any(message.role == "assistant" for message in messages)


def make_leaf(messages: Sequence[Message], before: Sequence[Thread], policy: Policy) -> Summary:
    """Write the leaf over `messages`; `before` are the threads that are open at its start."""
    first, last = messages[0], messages[-1]
    heard = as_said(messages)
    told = story_strategy(policy).leaf(messages, "", ends_turn=False)
    cast = find_cast(heard)
    sections = [*told, *([cast] if cast else []), *(_constraints(messages) if is_answered(messages) else ())]
    return Summary(
        id=anchor("story", first.id, last.id, policy.summarizer),
        level="story",
        depth=1,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=policy.summarizer,
        source_tokens=sum(message.tokens for message in messages),
        calls=sum(len(message.draft.calls) for message in messages),
        sections=tuple(sections),
        leaves=1,
        retellings=1,
        threads=find_threads(heard, before),
    )


def make_deeper(children: Sequence[Summary], told: Sequence[Summary], policy: Policy) -> Summary:
    """Merge the adjacent `children` into the summary above them, written from `told`: them, or what is under them."""
    first, last = children[0], children[-1]
    threads = join([child.threads for child in children], settings(policy).open_threads)
    cast = cast_section([part.lines("cast") for part in told], DEEP_LINES)
    sections = [*story_strategy(policy).roll_up(told), *([cast] if cast else []), *_constraints(children)]
    return Summary(
        id=anchor("story", first.first, last.last, policy.summarizer),
        level="story",
        depth=max(child.depth for child in children) + 1,
        first=first.first,
        last=last.last,
        first_position=first.first_position,
        last_position=last.last_position,
        summarizer=policy.summarizer,
        source_tokens=sum(child.source_tokens for child in children),
        calls=sum(child.calls for child in children),
        sections=tuple(sections),
        sources=tuple(child.id for child in children),
        leaves=sum(child.leaves for child in children),
        retellings=1 + max(part.retellings for part in told),
        threads=threads,
    )


def make_running(before: Summary, leaf: Summary, policy: Policy) -> Summary:
    """Fold the next stretch into the one summary of all that came before it."""
    parts = [before, leaf]
    folded = make_deeper(parts, parts, policy)
    return replace(folded, depth=1, sections=tuple(_shortened(section) for section in folded.sections))


def _shortened(section: Section) -> Section:
    """Cut a section to the size of one running summary."""
    words = RUNNING_WORDS * 4 // 5 if section.name == "story" else RUNNING_WORDS // 5
    if section.name == "artifacts":
        return replace(section, lines=tuple(replace(line, names=line.names[:words]) for line in section.lines[:1]))
    if section.name != "story":
        return section
    kept: list[Line] = []
    for line in sorted(section.lines, key=lambda line: -line.weight):
        words -= len(line.text.split())
        if words < 0:
            break
        kept.append(line)
    return replace(section, lines=tuple(sorted(kept, key=lambda line: line.position)))


def _constraints(items: Sequence[Summary | Message]) -> list[Section]:
    """The constraints in the words of who set them, and what may lift them."""
    pins, lifts = constraints(items, in_story=True)
    found: dict[SectionName, list[Line]] = {"constraints": standing(pins, lifts), "lifted": lifts[-MAX_LIFTS:]}
    return [Section(name=name, lines=tuple(lines)) for name, lines in found.items() if lines]
