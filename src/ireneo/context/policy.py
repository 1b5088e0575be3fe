"""Where a path is cut and what is kept live: the settings of a preset."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.prices import Prices
from ireneo.context.prices import prices as prices_named
from ireneo.errors import BadInput


class Policy(Struct, frozen=True, kw_only=True):
    """How a path becomes blocks, and when; the sizes are in messages, atoms, turns or tokens, as their names say."""

    name: str
    leaf_min_atoms: int = 6
    """A block may end where the work changes once it holds this many."""
    leaf_max_atoms: int = 24
    leaf_max_tokens: int = 16_000
    fan_in: int = 4
    """So many adjacent blocks of one depth become one that is deeper."""
    goal_min_turns: int = 3
    goal_max_turns: int = 6
    low_water: float = 0.6
    """A rebuild that follows another one cuts the context to this share of the budget, so that the next is far off."""
    live_share: float = 0.12
    """Of what a rebuild leaves, so much at the least is the newest turns, verbatim."""
    keep_messages: int = 0
    """This many of the newest messages stay out of every summary (0: the budget alone decides)."""
    eager: bool = False
    """Old work is summarised even where the budget has room for it."""
    excluded_tools: frozenset[str] = frozenset()
    """Calls of these tools are never summarised."""
    prices: Prices | None = None
    """What the provider takes for a prompt; None: not known, and the budget alone decides when to rebuild."""

    def without(self, *tools: str) -> Policy:
        """The same policy, but that calls of these tools are never summarised."""
        return replace(self, excluded_tools=self.excluded_tools | frozenset(tools))

    def down_to(self, share: float) -> Policy:
        """The same policy, but that a rebuild goes down to this share of the budget. Raises BadInput."""
        if not 0 < share <= 1:
            raise BadInput(f"A rebuild can't go down to {share} of the budget; give a share above 0, and up to 1.")
        return replace(self, low_water=share)

    def priced(self, prices: str | Prices) -> Policy:
        """The same policy for a provider that takes these prices, or those of that name. Raises BadInput."""
        return replace(self, prices=prices_named(prices) if isinstance(prices, str) else prices)

    @property
    def family(self) -> str:
        """The name under which its summaries are stored; policies that cut alike share them."""
        tools = "".join(f"-{tool}" for tool in sorted(self.excluded_tools))
        return f"offline-1/{self.name}{tools}"


CODING = Policy(name="coding")
FORGE = Policy(
    name="forge", leaf_min_atoms=10, leaf_max_atoms=40, leaf_max_tokens=200_000, keep_messages=20, eager=True
)
"""By age instead of by budget: tool calls that are 20 messages old are summarised once ten of them have come together
and the work changes, or forty in any case; goal batches of three to six turns that are as old."""
PRESETS = {policy.name: policy for policy in (CODING, FORGE)}


def preset(name: str) -> Policy:
    """The policy of that name. Raises BadInput with the names that there are."""
    found = PRESETS.get(name)
    if found is None:
        raise BadInput(f"There is no preset {name!r}; the presets are {', '.join(sorted(PRESETS))}.")
    return found
