"""Which complete turns become a goal batch."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.policy import Policy
from ireneo.grounding.artifacts import artifacts
from ireneo.log.message import Message


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
