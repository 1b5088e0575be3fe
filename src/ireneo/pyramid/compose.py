"""The context of a story: pins, the past from coarse to fine, and the newest messages as they are.

What comes before the newest messages depends on the summaries and the budget alone, so it stays the same until the
next leaf is there, and a provider's cache with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.compose import Composed, composed, newest_slots, with_notes
from ireneo.context.offline.prose import clip
from ireneo.context.parts import share
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, SummaryId, anchor
from ireneo.context.terms import Terms
from ireneo.context.thread import Thread
from ireneo.context.view import MAX_DOUBT, NOTES_TOKENS, Shown, settle, show_block, slot_within, verbatim
from ireneo.context.weigh import MESSAGE_TOKENS, Count
from ireneo.log.atoms import atoms
from ireneo.log.ids import short
from ireneo.log.message import Draft, Message, MessageId, Text
from ireneo.pyramid.nodes import make_deeper, make_leaf, settings
from ireneo.pyramid.pinned import story_pins
from ireneo.pyramid.retelling import TOLD_TOKENS
from ireneo.pyramid.thread_block import thread_lines

SYSTEM_SHARE = 0.25
WORDS_FLOOR = 48
OPEN_SHARE = 0.2
"""Of the room behind the blocks, what the messages get that wait for their leaf and have no room as they are."""
OPEN_BLOCKS = 2
"""They get no more than so many summaries have."""
STEPS = 6
"""What is live moves on by a sixth of a leaf at a time, so that what comes before it stays the same in between."""
CHARACTERS_PER_TOKEN = 4
LEAST_BLOCK = 36
"""What a block costs at the least that says anything besides how it is opened."""
ONE_BLOCK = 128
"""Under so many tokens everything is one block."""

PASSING = ("/open", "/whole")
"""How the families end of summaries that are made for one context."""


class Telling(Protocol):
    """Who writes what a context shows; it may keep at hand what it wrote, since all follows from what is given."""

    def tell(self, nodes: Sequence[Summary], room: int, doubts: Mapping[SummaryId, str]) -> Sequence[str]:
        """Write the blocks of summaries in so many tokens, in view of why some are disputed."""

    def leaf(self, messages: Sequence[Message], before: Sequence[Thread], policy: Policy) -> Summary:
        """Write the leaf over `messages`, before which the threads `before` are open."""


class Waiting(Struct, frozen=True, kw_only=True):
    """Messages of a story that no summary covers yet, although one is due."""

    first: MessageId
    last: MessageId
    first_position: int
    last_position: int

    @property
    def messages(self) -> int:
        """How many they are."""
        return self.last_position - self.first_position + 1


class Story(Struct, frozen=True, kw_only=True):
    """What there is of a path to be shown, in order."""

    system: tuple[Message, ...]
    """What was said to the model before the story began."""
    nodes: tuple[Summary, ...]
    """The summaries, from the oldest to the newest."""
    waiting: Waiting | None
    """What lies behind them and is not summarised yet."""
    fresh: tuple[Message, ...]
    """The newest messages."""
    threads: tuple[Thread, ...] = ()
    """What is open at the end of the summaries."""
    forgotten: int = 0
    """How many open threads gave way to weightier ones."""


def billed(count: Count) -> Count:
    """Count what a text costs by the tokenizer, and by four characters a token where that is more, as budgets do."""
    return lambda text: max(count(text), len(text) // CHARACTERS_PER_TOKEN + 1)


def compose_story(story: Story, terms: Terms, telling: Telling) -> tuple[Composed, tuple[Summary, ...]]:
    """Put a story's context together, within the budget of `terms`.

    Returns with it the summaries that were made for it alone, so that what it shows can be opened.
    """
    noting = _Noting(telling)
    return _composed(story, terms, noting), tuple(noting.made)


class _Noting:
    """Another's telling, with a note of the summaries among those told that were made for this context alone."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self.made: list[Summary] = []
        self.leaf = telling.leaf

    def tell(self, nodes: Sequence[Summary], room: int, doubts: Mapping[SummaryId, str]) -> Sequence[str]:
        self.made.extend(node for node in nodes if node.family.endswith(PASSING))
        return self._telling.tell(nodes, room, doubts)


def _composed(story: Story, terms: Terms, telling: Telling) -> Composed:
    terms = replace(terms, count=billed(terms.count))
    budget = terms.budget
    if budget < ONE_BLOCK:
        return composed(_past(replace(story, nodes=(_everything(story, terms),)), budget, terms, telling))
    before = _system(story.system, int(budget * SYSTEM_SHARE), terms)
    pins = story_pins(story.nodes, story.threads, story.forgotten, [each.text for each in before], terms)
    before += [pins] if pins else []
    left = budget - sum(each.tokens for each in before)
    past = _past(story, left - int(budget * terms.policy.live_share), terms, telling)
    past += [_waiting(story.waiting, terms.count)] if story.waiting else []
    left -= sum(each.tokens for each in past)
    after = _newest(story, left, terms, telling, cut=bool(past))
    return composed([_seen(each, terms.policy.seen_by) for each in (*before, *past, *after)])


def _system(messages: Sequence[Message], room: int, terms: Terms) -> list[Shown]:
    if not messages:
        return []
    rooms = share([message.tokens for message in messages], room, floor=WORDS_FLOOR)
    slots = [slot_within(message, each, terms.count) for message, each in zip(messages, rooms, strict=True)]
    return settle(slots, room, terms.statements)


def _everything(story: Story, terms: Terms) -> Summary:
    """One summary of all there is, for a budget that holds nothing else."""
    parts = [make_leaf(story.system, (), terms.policy)] if story.system else []
    parts += story.nodes
    parts += [make_leaf(story.fresh, story.threads, terms.policy)] if story.fresh else []
    return _over(parts, terms)


def _over(nodes: Sequence[Summary], terms: Terms) -> Summary:
    """Cover adjacent summaries by one that is none of the canonical ones."""
    whole = make_deeper(nodes, nodes, terms.policy)
    family = f"{terms.policy.family}/whole"
    # What it says depends on the texts that there are: with other ones it is another summary.
    told = " ".join([family, *(node.id for node in nodes)])
    return replace(whole, family=family, id=anchor("story", whole.first, whole.last, told), sources=())


def _past(story: Story, room: int, terms: Terms, telling: Telling) -> list[Shown]:
    if not story.nodes:
        return []
    most = max(room // LEAST_BLOCK, 1)
    if len(story.nodes) > most:
        # The oldest stand in one block together, where there is no room for so many headers.
        oldest = _over(story.nodes[: len(story.nodes) - most + 1], terms)
        story = replace(story, nodes=(oldest, *story.nodes[len(story.nodes) - most + 1 :]))
    doubts = {
        node.id: clip("; ".join(each.text for each in told), MAX_DOUBT)
        for node in story.nodes
        if (told := terms.doubts(node))
    }
    frame = MESSAGE_TOKENS + NOTES_TOKENS + len(story.nodes)
    # A summary has the same words at every depth, however wide the context: what is left shows more of the newest.
    words = telling.tell(story.nodes, min(max(room - frame, 0), len(story.nodes) * TOLD_TOKENS), doubts)
    out = [show_block(node, text, 1, terms.count) for node, text in zip(story.nodes, words, strict=True)]
    out = [replace(each, disputed=doubts.get(node.id, "")) for each, node in zip(out, story.nodes, strict=True)]
    out[-1] = replace(out[-1], tokens=out[-1].tokens + MESSAGE_TOKENS + NOTES_TOKENS)
    return out


def _waiting(waiting: Waiting, count: Count) -> Shown:
    text = (
        f"[STORY] {waiting.messages:,} messages that are not summarised yet · "
        f"open with {short(waiting.first)} to {short(waiting.last)}"
    )
    draft = Draft(role="assistant", parts=(Text(text=text),), origin="summary")
    return Shown(
        what="waiting",
        id=waiting.first,
        level="story",
        first=waiting.first,
        last=waiting.last,
        covers=waiting.messages,
        tokens=count(text) + MESSAGE_TOKENS + NOTES_TOKENS,
        draft=draft,
    )


def _newest(story: Story, room: int, terms: Terms, telling: Telling, *, cut: bool) -> list[Shown]:
    """The newest messages as they are; those of them that have no room, as a block that no leaf has taken in yet."""
    fresh = story.fresh
    if not fresh:
        return []
    after = fresh[0].position - 1
    costs = [_cost(message, terms.count) for message in fresh]
    thinking = terms.thinking != "none" and not cut
    if sum(costs) + sum(message.thinking_tokens for message in fresh if thinking) <= room:
        return with_notes(fresh, [verbatim(message, thinking=thinking) for message in fresh], after, terms)
    live_room = room - min(int(room * OPEN_SHARE), OPEN_BLOCKS * TOLD_TOKENS)
    start = _live_start(fresh, costs, live_room, settings(terms.policy).leaf_messages // STEPS)
    out: list[Shown] = []
    if start:
        out.append(_open(fresh[:start], story.threads, room - live_room, terms, telling))
    newest = fresh[start:]
    if sum(costs[start:]) <= live_room:
        shown = [verbatim(message, thinking=False) for message in newest]
    else:
        slots = newest_slots(newest, live_room, terms, live_room)
        shown = settle(slots, live_room, terms.statements)
    return [*out, *with_notes(newest, shown, newest[0].position - 1, terms)]


def _cost(message: Message, count: Count) -> int:
    """What a message costs by the measure of this context, at the least what it was weighed at."""
    return max(
        message.tokens, MESSAGE_TOKENS + sum(count(part.text) for part in message.parts if isinstance(part, Text))
    )


def _live_start(messages: Sequence[Message], costs: Sequence[int], room: int, step: int) -> int:
    """The place from which on the messages fit into `room` as they are: between atoms, and by whole steps."""
    edges = [0]
    for atom in atoms(messages):
        edges.append(edges[-1] + len(atom))
    edges.pop()
    after = [0] * (len(messages) + 1)
    for place in reversed(range(len(messages))):
        after[place] = after[place + 1] + costs[place]
    fitting = [edge for edge in edges if after[edge] <= room] or [edges[-1]]
    wished = -(-fitting[0] // max(step, 1)) * max(step, 1)
    stepped = next((edge for edge in fitting if edge >= wished), fitting[0])
    if after[stepped] * 2 >= room:
        return stepped
    # Where so many messages are most of the room, it moves on by half of the room at a time.
    half = max(room // 2, 1)
    left = after[0] - -(-(after[0] - room) // half) * half
    return next((edge for edge in fitting if after[edge] <= left), fitting[-1])


def _open(messages: Sequence[Message], before: Sequence[Thread], room: int, terms: Terms, telling: Telling) -> Shown:
    leaf = telling.leaf(messages, before, terms.policy)
    family = f"{terms.policy.family}/open"
    leaf = replace(leaf, family=family, depth=0, id=anchor("story", leaf.first, leaf.last, family))
    room -= MESSAGE_TOKENS + NOTES_TOKENS
    threads = thread_lines(leaf.threads.opened, 0, room // 3, terms.count)
    room -= sum(terms.count(line) + 1 for line in threads)
    (text,) = telling.tell([leaf], max(room, 0), {})
    return show_block(leaf, "\n".join([text, *threads]), MESSAGE_TOKENS + NOTES_TOKENS, terms.count)


def _seen(shown: Shown, character: str) -> Shown:
    """The same in a character's own context: what she says herself, she says as the model does."""
    if not character or shown.what not in ("message", "masked") or shown.draft.role != "user":
        return shown
    parts = shown.draft.parts
    if not any(isinstance(part, Text) and part.author == character for part in parts):
        return shown
    own = tuple(replace(part, author=None) if isinstance(part, Text) else part for part in parts)
    return replace(shown, draft=replace(shown.draft, role="assistant", parts=own), whole=False)
