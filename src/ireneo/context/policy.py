"""Where a path is cut and what is kept live: the settings of a preset."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.prices import Prices
from ireneo.context.prices import prices as prices_named
from ireneo.errors import BadInput
from ireneo.patterns import lazy_re

_STORY_FAMILY = lazy_re(r"offline-1/(story|running)/(\d+)-(\d+)-(\d+)(?:/as/([^/]+))?")


class Pyramid(Struct, frozen=True, kw_only=True):
    """How a story fades: leaves of so many messages, and deeper summaries of so many of the next finer ones."""

    leaf_messages: int = 150
    """A leaf ends with the first whole turn that brings it to this many messages."""
    leaf_tokens: int = 20_000
    """No leaf covers more, unless a single atom does."""
    fan_in: int = 4
    """So many adjacent summaries of one depth become one that is deeper."""
    limit: int = 6
    """No more summaries of one depth than this are shown: where there are more, the oldest are merged."""
    live_messages: int = 100
    """So many of the newest messages, at the least, stay out of every leaf."""
    window_tokens: int = 100_000
    """What a summariser can read at a time: deep summaries are written from leaves as long as they fit into it."""
    raw_tokens: int = 24_000
    """A deep summary of messages that cost no more than this is written from the messages themselves."""
    open_threads: int = 24
    """So many open threads are carried; beyond them the least weighty give way."""
    running: bool = False
    """One summary, folded again and again, instead of a pyramid: to be measured against, and for nothing else."""


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
    cuts: bool = False
    """What has no room is left out, and the view says so, instead of being summarised."""
    eager: bool = False
    """Old work is summarised even where the budget has room for it."""
    excluded_tools: frozenset[str] = frozenset()
    """Calls of these tools are never summarised."""
    prices: Prices | None = None
    """What the provider takes for a prompt; None: not known, and the budget alone decides when to rebuild."""
    pyramid: Pyramid | None = None
    """How a story fades; None: the work of an agent, in turns and goals."""
    seen_by: str = ""
    """Of a story: the character whose memory it is, who knows only what she was present for; empty: everything."""

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

    def seen(self, character: str) -> Policy:
        """The same policy for the memory of one character of a story. Raises BadInput where there is no story."""
        if character and self.pyramid is None:
            raise BadInput(f"The preset {self.name!r} knows no characters; take 'story' for the memory of {character}.")
        return replace(self, seen_by=character)

    @property
    def family(self) -> str:
        """The name under which its summaries are stored; policies that cut alike share them."""
        if self.pyramid is not None:
            sizes = f"{self.pyramid.leaf_messages}-{self.pyramid.leaf_tokens}-{self.pyramid.fan_in}"
            kind = "running" if self.pyramid.running else "story"
            seen = f"/as/{_written(self.seen_by)}" if self.seen_by else ""
            return f"offline-1/{kind}/{sizes}{seen}"
        tools = "".join(f"-{tool}" for tool in sorted(self.excluded_tools))
        # What is left out has summaries all the same, for the pins in them: those of the agent's work.
        return f"offline-1/{'coding' if self.cuts else self.name}{tools}"


CODING = Policy(name="coding")
FORGE = Policy(
    name="forge", leaf_min_atoms=10, leaf_max_atoms=40, leaf_max_tokens=200_000, keep_messages=20, eager=True
)
"""By age instead of by budget: tool calls that are 20 messages old are summarised once ten of them have come together
and the work changes, or forty in any case; goal batches of three to six turns that are as old."""
STORY = Policy(name="story", pyramid=Pyramid(), live_share=0.4)
"""A story or a conversation without end: coarse past, fine present, live now."""
RUNNING = Policy(name="running", pyramid=Pyramid(running=True), live_share=0.4)
"""One summary of everything, folded again and again, as many systems do it: there to be measured against."""
SCRATCHPAD = Policy(name="scratchpad", cuts=True)
"""The agent keeps its own understanding: pins, the scratchpad and the last turns are sent, and the rest is left out."""
PRESETS = {policy.name: policy for policy in (CODING, FORGE, STORY, RUNNING, SCRATCHPAD)}


def story_of(family: str) -> Policy | None:
    """The policy whose summaries are stored as `family`, where it is one for stories."""
    found = _STORY_FAMILY.fullmatch(family)
    if found is None:
        return None
    sizes = Pyramid(leaf_messages=int(found[2]), leaf_tokens=int(found[3]), fan_in=int(found[4]))
    policy = RUNNING if found[1] == "running" else STORY
    return replace(policy, pyramid=replace(sizes, running=found[1] == "running"), seen_by=_read(found[5] or ""))


def seen_by(family: str) -> str:
    """The character whose memory the summaries of a story's `family` are, or the texts and passing ones named after it.

    Empty where it is nobody's.
    """
    return _read(family.partition("/as/")[2].partition("/")[0])


def _written(name: str) -> str:
    """A name in which no stroke ends what it is a part of."""
    return name.replace("%", "%25").replace("/", "%2F")


def _read(written: str) -> str:
    return written.replace("%2F", "/").replace("%25", "%")


def preset(name: str) -> Policy:
    """The policy of that name. Raises BadInput with the names that there are."""
    found = PRESETS.get(name)
    if found is None:
        raise BadInput(f"There is no preset {name!r}; the presets are {', '.join(sorted(PRESETS))}.")
    return found
