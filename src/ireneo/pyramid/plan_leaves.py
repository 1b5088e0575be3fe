"""Where a leaf of a story ends: at a whole turn, once enough messages have come together.

Whether a leaf ends depends on the leaf and on the one atom after it, and on nothing that comes later. So the same
path is cut in the same places, whether it is cut after every message or all at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.policy import Pyramid
from ireneo.log.atoms import atoms
from ireneo.log.message import Message

Atom = tuple[Message, ...]

SOFT = 0.75
"""From this share of its tokens on a leaf ends at the next turn, so that few are cut inside of one."""
LONG_TURN = 2
"""A turn that alone is so many leaves long is cut inside."""


class Leaves(Struct, frozen=True, kw_only=True):
    """What messages are cut into: whole leaves, and the rest that waits for its own."""

    leaves: tuple[tuple[Message, ...], ...]
    rest: tuple[Message, ...]


def plan_leaves(messages: Sequence[Message], pyramid: Pyramid) -> Leaves:
    """Cut consecutive `messages` into leaves, as far as enough of the newest ones stay live behind them."""
    out: list[tuple[Message, ...]] = []
    leaf: list[Message] = []
    start, place, tokens = 0, 0, 0
    last_cut = len(messages) - pyramid.live_messages
    for atom in atoms(messages):
        if leaf and leaf_ends(len(leaf), tokens, atom, pyramid):
            if place > last_cut:
                break
            out.append(tuple(leaf))
            leaf, start, tokens = [], place, 0
        leaf.extend(atom)
        tokens += sum(message.tokens for message in atom)
        place += len(atom)
    return Leaves(leaves=tuple(out), rest=tuple(messages[start:]))


def leaf_ends(messages: int, tokens: int, following: Atom, pyramid: Pyramid) -> bool:
    """Whether a leaf of so many `messages` that cost so many `tokens` ends before the atom `following`."""
    if tokens + sum(message.tokens for message in following) > pyramid.leaf_tokens:
        return True
    if messages >= pyramid.leaf_messages * LONG_TURN:
        return True
    full = messages >= pyramid.leaf_messages or tokens >= pyramid.leaf_tokens * SOFT
    return full and following[0].opens_turn
