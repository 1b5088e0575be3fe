"""Where the work of a turn is cut into blocks, and when adjacent blocks become a deeper one.

The cuts depend on nothing but the messages before them, so that two processes, or two budgets, come to the same
blocks, and a block once made stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.actions import CHANGES, Deed, understand
from ireneo.context.policy import Policy
from ireneo.log.message import Message

Atom = tuple[Message, ...]
_LOOKING: frozenset[Deed] = frozenset({"read", "search", "fetch"})
_CLOSING: frozenset[Deed] = frozenset({"check", "save"})


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
    done, begun = _deeds(before), _deeds(after)
    if "plan" in begun and "plan" not in done:
        return True
    return bool(done & _CLOSING) and bool(begun & (_LOOKING | CHANGES)) and not begun & _CLOSING


def due_merge(depths: Sequence[int], policy: Policy) -> int:
    """How many of the newest blocks, whose depths are given in order, become one deeper block now; 0 for none."""
    count = policy.fan_in
    return count if len(depths) >= count and len(set(depths[-count:])) == 1 else 0


def _deeds(atom: Atom) -> set[Deed]:
    return {understand(call).deed for message in atom for call in message.draft.calls}
