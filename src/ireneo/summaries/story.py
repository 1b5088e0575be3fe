"""The canonical summaries of a story: how it is cut into leaves, and which summaries are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.log.calls import atoms
from ireneo.log.message import Message, messages_without_recalled
from ireneo.summaries.cast import DEEP_LINES, cast_section
from ireneo.summaries.find_cast import find_cast
from ireneo.summaries.pins import constraints, valid_pins
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.speech import is_prose
from ireneo.summaries.summary import (
    Atom,
    Line,
    Section,
    SectionName,
    SectionStyle,
    Strategy,
    Summary,
    SummaryLevel,
    anchor,
)
from ireneo.summaries.tell_story import tell_deeper, tell_leaf
from ireneo.summaries.threads import join

# A leaf ends at a whole turn, once it has enough messages.
#
# Whether it ends depends only on the leaf and on the atom after it. So a path is always cut in the same places,
# whether after every message or all at once.


SOFT = 0.75
"""Share of its tokens from which a leaf ends at the next turn, so that few are cut inside one."""
LONG_TURN = 2
"""A turn that alone is as long as this many leaves is cut inside."""


class Leaves(Struct, frozen=True, kw_only=True):
    """Messages cut into whole leaves, and the messages after the last leaf."""

    leaves: tuple[tuple[Message, ...], ...]
    rest: tuple[Message, ...]


def plan_leaves(messages: Sequence[Message], story: StorySettings, strategy: Strategy | None = None) -> Leaves:
    """Cut consecutive `messages` into leaves, keeping at least `story.live_messages` of the newest live."""
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
    """The strategy for stories: leaves of chosen sentences, and deeper summaries over them."""

    name = "story"

    def __init__(self, settings: StorySettings) -> None:
        """Cut by `settings`."""
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
        """Return the sentences that matter most, verbatim, and the names."""
        return tell_leaf(messages_without_recalled(messages))

    def roll_up(self, parts: Sequence[Summary | Message], *, turns: bool = False) -> Sequence[Section]:
        """Return the sentences of `parts` that matter most, and the names."""
        return tell_deeper([part for part in parts if isinstance(part, Summary)])

    def sections(self, level: SummaryLevel) -> Mapping[SectionName, SectionStyle]:
        """Prose, and the names that it doesn't mention."""
        return _SECTIONS

    def worth(self, section: SectionName) -> float:
        """The factor for the worth of a line: the same for every section."""
        return 1.0

    def say(self, section: SectionName, line: Line, names: Sequence[str]) -> str:
        """Render a line as a sentence, with a full stop where the story had none; or the names as a list."""
        if section == "artifacts":
            return ", ".join(names)
        text = line.text.strip()
        return f"{text}." if text[-1:].isalnum() and ord(text[-1]) < _NO_LETTERS else text


_NO_LETTERS = 0x2E80
"""From this code point on, characters represent words, and a sentence needs no full stop."""
_SECTIONS = {"story": SectionStyle("", prose=True, apart=True), "artifacts": SectionStyle("Names: ", prose=True)}


def story_strategy(policy: Policy) -> Strategy:
    """Return the policy's own strategy, or else `StoryStrategy`."""
    return policy.strategy or StoryStrategy(settings(policy))


# Merging works like counting the leaves in base `fan_in`.
#
# The oldest adjacent summaries of a depth are merged as soon as there are more than `limit` of it. So summary number k
# of depth d covers the leaves from k·f^(d-1) to before (k+1)·f^(d-1), with f the fan-in, on every path and in every
# process, and n leaves are shown as about `limit`·log(n) summaries.


def shown_depths(leaves: int, story: StorySettings) -> list[int]:
    """Return the depths of the summaries that `leaves` leaves are shown as, from the oldest to the newest."""
    out: list[int] = []
    depth, count = 1, leaves
    while count:
        merged = -(-max(count - story.limit, 0) // story.fan_in)
        out = [*[depth] * (count - merged * story.fan_in), *out]
        depth, count = depth + 1, merged
    return out


def finest_settings(leaves: int, blocks: int, story: StorySettings) -> StorySettings:
    """Return the settings with the highest limit at which the leaves are shown as at most `blocks` summaries.

    A wide context has room for more than the limit of each depth, and shows the past in more detail.
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
    """Return the index of the first of the `fan_in` summaries to merge next; None if no depth has too many.

    `depths` are those of a row from its oldest summary to its newest; they never increase.
    """
    for depth in sorted(set(depths)):
        if depths.count(depth) > story.limit:
            return depths.index(depth)
    return None


def leaves_at(depth: int, story: StorySettings) -> int:
    """Return how many leaves a summary of this depth covers."""
    return int(story.fan_in ** (depth - 1))


# Sources of a deep summary: every retelling loses facts, so it is written from the least retold ones.
#
# A summary of depth d could be written from the summaries of any depth below it. It is written from those of the least
# depth that fit into the summariser's window together: from the leaves, as long as they do. With a window of w
# summaries and a fan-in of f, a summary of depth d is then retold 1 + ⌈(d - 1) / ⌊log_f w⌋⌉ times, against n / 150
# times for a running summary.


TOLD_TOKENS = 340
"""Tokens of a summary of 250 words in a prompt, with its header."""


def source_depth(depth: int, story: StorySettings) -> int:
    """Return the depth of the summaries that one of `depth` (at least 2) is written from."""
    fits = max(story.window_tokens // TOLD_TOKENS, story.fan_in)
    below = depth - 1
    while below > 1 and story.fan_in ** (depth - below + 1) <= fits:
        below -= 1
    return below


MAX_LIFTS = 24
"""The maximum number of sentences that may lift a constraint; the newest are kept."""


def settings(policy: Policy) -> StorySettings:
    """Return the story settings of a policy. Raises BadInput if it has none."""
    if policy.story is None:
        raise BadInput(f"The preset {policy.name!r} is for no story; take 'story'.")
    return policy.story


def is_answered(messages: Sequence[Message]) -> bool:
    """Whether a model speaks among these messages; if not, constraints would bind nobody."""
    return any(message.role == "assistant" for message in messages)


def make_leaf(messages: Sequence[Message], policy: Policy) -> Summary:
    """Write the leaf over `messages`."""
    first, last = messages[0], messages[-1]
    heard = messages_without_recalled(messages)
    told = story_strategy(policy).leaf(messages, "", ends_turn=False)
    bound = _constraint_sections(messages) if is_answered(messages) else []
    # In a novel, counts don't show who matters.
    cast = None if is_prose(heard) else find_cast(heard)
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
        sections=(*told, *([cast] if cast else []), *bound),
        leaves=1,
        retellings=1,
    )


def make_deeper(children: Sequence[Summary], told: Sequence[Summary], policy: Policy) -> Summary:
    """Merge the adjacent `children` into one summary, written from `told`: the children, or summaries under them."""
    first, last = children[0], children[-1]
    threads = join([child.threads for child in children], settings(policy).open_threads)
    cast = cast_section([part.lines("cast") for part in told], DEEP_LINES)
    sections = [*story_strategy(policy).roll_up(told), *([cast] if cast else []), *_constraint_sections(children)]
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


def _constraint_sections(items: Sequence[Summary | Message]) -> list[Section]:
    """Return the constraints in the words of who set them, and the sentences that may lift them."""
    pins, lifts = constraints(items, in_story=True)
    found: dict[SectionName, list[Line]] = {"constraints": valid_pins(pins, lifts), "lifted": lifts[-MAX_LIFTS:]}
    return [Section(name=name, lines=tuple(lines)) for name, lines in found.items() if lines]
