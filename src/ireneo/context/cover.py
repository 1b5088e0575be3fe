"""The choice of blocks and live messages in which every message of a path stands exactly once."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.forest import RowItem
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.log.atoms import atoms
from ireneo.log.message import Message

BLOCK_TOKENS = 360
"""A block with less than this on the average says little beside its frame: then a coarser one serves better."""
CRAMPED_TOKENS = 1_500
CRAMPED_RATIO = 12
"""In less room, and where the past is so many times as large, several frames, and a file that is named in each of
them, would take the place of what they tell."""
WORDS_SHARE = 0.35
"""Of the past's room, so much may go to the words of the users and the system, verbatim."""
WORDS_FLOOR = 48
"""Tokens of a user message that are shown at the least where it stands for itself."""


def choose_edge(messages: Sequence[Message], live_tokens: int, policy: Policy) -> int:
    """Find the place in `messages` from which on they are live: whole atoms from the newest back, within `live_tokens`.

    At the least the newest atom is live, and with it, where that is an answer to it, the user's last message.
    """
    groups = atoms(messages)
    place = len(messages)
    used = 0
    for number, atom in enumerate(reversed(groups)):
        used += sum(message.tokens for message in atom)
        if number and used > live_tokens and len(messages) - place >= policy.keep_messages:
            break
        place -= len(atom)
    return place


def next_to_open(row: Sequence[RowItem], room: int) -> Summary | None:
    """Name the newest block of `row` that should be opened into those under it, if `room` tokens allow a finer row."""
    blocks = [item for item in row if isinstance(item, Summary)]
    for block in reversed(blocks):
        if not block.sources:
            continue
        finer = len(blocks) - 1 + len(block.sources)
        words = _words(row) + (WORDS_FLOOR * (block.messages // 8) if block.level == "goal" else 0)
        if finer * BLOCK_TOKENS + min(words, int(room * WORDS_SHARE)) <= room and words <= room * WORDS_SHARE * 2:
            return block
        return None
    return None


def is_cramped(row: Sequence[RowItem], target: int) -> bool:
    """Whether the past of `row` should stand in one block, since `target` tokens have no room for several."""
    if target >= CRAMPED_TOKENS:
        return False
    size = sum(item.source_tokens if isinstance(item, Summary) else item.tokens for item in row)
    return size > CRAMPED_RATIO * target


def split_system(row: Sequence[RowItem]) -> tuple[list[Message], list[RowItem]]:
    """Part the system's words that a row begins with from the rest: no block takes their place."""
    end = 0
    while end < len(row) and isinstance(item := row[end], Message) and item.role == "system":
        end += 1
    return [item for item in row[:end] if isinstance(item, Message)], list(row[end:])


def too_fine(row: Sequence[RowItem], room: int) -> int:
    """How many items at the beginning of `row` should stand under one block, since `room` is too small for all blocks.

    Whole turns only, and never the current one: its request stays in the user's words.
    """
    blocks = [isinstance(item, Summary) for item in row]
    allowed = max(room // BLOCK_TOKENS, 2)
    if sum(blocks) <= allowed:
        return 0
    openers = [place for place, item in enumerate(row) if isinstance(item, Message) and item.opens_turn]
    fitting = [place for place in openers if sum(blocks[place:]) < allowed]
    place = fitting[0] if fitting else (openers[-1] if openers else 0)
    return place if sum(blocks[:place]) > 1 else 0


def opened(row: Sequence[RowItem], block: Summary, parts: Sequence[RowItem]) -> list[RowItem]:
    """Put `parts`, which together cover what `block` covers, in its place."""
    place = next(number for number, item in enumerate(row) if isinstance(item, Summary) and item.id == block.id)
    return [*row[:place], *parts, *row[place + 1 :]]


def _words(row: Sequence[RowItem]) -> int:
    return sum(min(item.tokens, 400) for item in row if isinstance(item, Message))
