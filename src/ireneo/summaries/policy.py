"""How a path is cut: the presets with their settings, and what a provider charges, since rebuilding costs money."""

from __future__ import annotations

from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import Strategy

# What a provider takes for a prompt, and when it pays to change the part of it that is cached.
#
# All prices are multiples of the price of an input token that is not cached, so that they hold for every model of a
# provider that bills alike, and in every currency. The figures are those of November 2026:
#
# - Anthropic, platform.claude.com/docs/en/about-claude/pricing: a read costs 0.1, a write 1.25 for five minutes and 2
# for
#   an hour, and each read begins the time anew. Some newer models read for 0.05 and 0.025.
# - OpenAI, developers.openai.com/api/docs/guides/prompt-caching: a read costs 0.1. From GPT-5.6 on a write costs 1.25
# and
#   stays for 30 minutes at the least; models before it take nothing for a write.
# - Google, docs.cloud.google.com (context cache overview): a read costs 0.1 and a write nothing besides the input. What
#   is cached goes within 24 hours, most of it sooner; when, is not promised.
# - DeepSeek, api-docs.deepseek.com/quick_start/pricing: a read costs 0.02 to 0.033 and a write nothing besides the
# input.
#   What is cached on disk stays for hours to days.
#
# The summariser is taken to be a smaller model of the same provider, at a fifth of the price.


class Prices(Struct, frozen=True, kw_only=True):
    """What a token of a prompt costs, as a multiple of an input token that is not cached."""

    name: str
    read: float
    """A token that the cache has."""
    write: float
    """A token that the cache does not have, and is given."""
    cache_seconds: float
    """After so long without a call the cache has surely forgotten (0: there is none)."""
    summariser: float = 0.2
    """A token that a summariser reads."""

    def expired(self, idle_seconds: float | None) -> bool:
        """Whether nothing is cached after `idle_seconds` without a call; None, where that is not known, is no."""
        return self.cache_seconds <= 0 or (idle_seconds is not None and idle_seconds > self.cache_seconds)


MINUTE = 60.0
HOUR = 60 * MINUTE
PRICES = {
    each.name: each
    for each in (
        Prices(name="anthropic", read=0.1, write=1.25, cache_seconds=5 * MINUTE),
        Prices(name="anthropic-1h", read=0.1, write=2.0, cache_seconds=HOUR),
        Prices(name="openai", read=0.1, write=1.25, cache_seconds=30 * MINUTE),
        Prices(name="google", read=0.1, write=1.0, cache_seconds=24 * HOUR),
        Prices(name="deepseek", read=0.03, write=1.0, cache_seconds=72 * HOUR),
        Prices(name="none", read=1.0, write=1.0, cache_seconds=0),
    )
}
"""By name; where a lifetime is not promised, the longest: to take a cache for gone that is still there costs more."""


def prices_named(name: str) -> Prices:
    """The prices of that name. Raises BadInput with the names that there are."""
    found = PRICES.get(name)
    if found is None:
        raise BadInput(f"There are no prices {name!r}; there are those of {', '.join(sorted(PRICES))}.")
    return found


class RebuildCost(Struct, frozen=True, kw_only=True):
    """What one change of a cached prompt costs, and what it saves; in input tokens that are not cached."""

    paid: float
    """Paid once, at the call that follows; below 0 where even that call is cheaper."""
    saved: float
    """Saved at each call."""
    calls: int | None
    """After so many calls it has paid for itself: 0 at once, None never."""


def rebuild_cost(
    *,
    suffix_tokens: int,
    saved_tokens: int,
    summary_tokens: int,
    summariser_tokens: int,
    prices: Prices,
    expired: bool = False,
) -> RebuildCost:
    """What it costs to put a summary in the place of a stretch of a cached prompt.

    With the tokens P that follow the stretch, S of the stretch, s of the summary, k that the summariser reads, and
    the prices r of a read, w of a write, c of a token that a summariser reads::

        paid  = P·(w − r) + w·s + c·k        what follows is written again instead of read; the summary is new
        saved = (S − s)·r                    at each call
        n     = paid / saved                 calls, rounded up

    Where the cache has expired the prompt is written anew in any case, so that what follows costs nothing more, and
    of the stretch only the summary has to be written::

        paid  = P·(w − w) + w·s + c·k − w·S
    """
    again = prices.write if expired else prices.read
    paid = suffix_tokens * (prices.write - again) + prices.write * summary_tokens
    paid += prices.summariser * summariser_tokens
    if expired:
        paid -= prices.write * saved_tokens
    saved = (saved_tokens - summary_tokens) * prices.read
    if saved <= 0:
        return RebuildCost(paid=paid, saved=saved, calls=None)
    return RebuildCost(paid=paid, saved=saved, calls=max(ceil(paid / saved), 0))


_STORY_FAMILY = lazy_re(r"offline-1/(story|running)/(\d+)-(\d+)-(\d+)(?:/as/([^/]+))?")


class StorySettings(Struct, frozen=True, kw_only=True):
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
    """One summary, folded again and again, instead of several depths: to be measured against, and for nothing else."""


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
    notes_window: int = 100_000
    """Tokens of the path that a model reads at a time to write about them: what its window surely holds."""
    excluded_tools: frozenset[str] = frozenset()
    """Calls of these tools are never summarised."""
    prices: Prices | None = None
    """What the provider takes for a prompt; None: not known, and the budget alone decides when to rebuild."""
    strategy: Strategy | None = None
    """Where it is cut and what is said there, by a strategy of your own; None: as Ireneo tells work, or stories."""
    story: StorySettings | None = None
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
        if character and self.story is None:
            raise BadInput(f"The preset {self.name!r} knows no characters; take 'story' for the memory of {character}.")
        return replace(self, seen_by=character)

    @property
    def summarizer(self) -> str:
        """The name under which its summaries are stored; policies that cut alike share them."""
        if self.story is not None:
            sizes = f"{self.story.leaf_messages}-{self.story.leaf_tokens}-{self.story.fan_in}"
            kind = "running" if self.story.running else "story"
            seen = f"/as/{_written(self.seen_by)}" if self.seen_by else ""
            if self.strategy is not None:
                return f"own-1/{_written(self.strategy.name)}/{kind}/{sizes}{seen}"
            return f"offline-1/{kind}/{sizes}{seen}"
        tools = "".join(f"-{tool}" for tool in sorted(self.excluded_tools))
        if self.strategy is not None:
            return f"own-1/{_written(self.strategy.name)}/{self.fan_in}{tools}"
        # What is left out has summaries all the same, for the pins in them: those of the agent's work.
        return f"offline-2/{'coding' if self.cuts else self.name}{tools}"


CODING = Policy(name="coding")
FORGE = Policy(
    name="forge", leaf_min_atoms=10, leaf_max_atoms=40, leaf_max_tokens=200_000, keep_messages=20, eager=True
)
"""By age instead of by budget: tool calls that are 20 messages old are summarised once ten of them have come together
and the work changes, or forty in any case; goal batches of three to six turns that are as old."""
STORY = Policy(name="story", story=StorySettings(), live_share=0.3)
"""A story or a conversation without end: coarse past, fine present, live now."""
RUNNING = Policy(name="running", story=StorySettings(running=True), live_share=0.3)
"""One summary of everything, folded again and again, as many systems do it: there to be measured against."""
SCRATCHPAD = Policy(name="scratchpad", cuts=True)
"""The agent keeps its own understanding: pins, the scratchpad and the last turns are sent, and the rest is left out."""
PRESETS = {policy.name: policy for policy in (CODING, FORGE, STORY, RUNNING, SCRATCHPAD)}


def story_of(summarizer: str) -> Policy | None:
    """The policy whose summaries are stored as `summarizer`, where it is one for stories."""
    found = _STORY_FAMILY.fullmatch(summarizer)
    if found is None:
        return None
    sizes = StorySettings(leaf_messages=int(found[2]), leaf_tokens=int(found[3]), fan_in=int(found[4]))
    policy = RUNNING if found[1] == "running" else STORY
    return replace(policy, story=replace(sizes, running=found[1] == "running"), seen_by=_read(found[5] or ""))


def seen_by(summarizer: str) -> str:
    """The character whose memory the summaries of a story's `summarizer` are, or the texts named after it.

    Empty where it is nobody's.
    """
    return _read(summarizer.partition("/as/")[2].partition("/")[0])


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


STORIES = frozenset({"chat", "sillytavern", "character-card", "character-ai", "discord", "oobabooga"})
"""The log formats of transcripts with authors: what comes from there is a story."""


def preset_of(source: str | None, own: Policy) -> Policy:
    """The preset of a session that came from `source`: a story's, or the memory's `own`."""
    return STORY if (source or "").partition(":")[0] in STORIES else own
