"""What goes when something is forgotten, and what stays."""

from __future__ import annotations

from ireneo.context.policy import Policy

TINY = Policy(
    name="tiny", leaf_min_atoms=2, leaf_max_atoms=4, leaf_max_tokens=1_500, fan_in=2, goal_min_turns=2, goal_max_turns=3
)
