"""How a path is cut into blocks and contexts: presets and their settings, provider prices, and when to rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.language.topics import Voice
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import Strategy

# Prices are multiples of the price of an uncached input token, so that they hold for all models of a provider, in any
# currency. As of November 2026:
#
# - Anthropic, platform.claude.com/docs/en/about-claude/pricing: read 0.1; write 1.25 for five minutes, 2 for an hour,
#   renewed by each read. Some newer models read for 0.05 and 0.025.
# - OpenAI, developers.openai.com/api/docs/guides/prompt-caching: read 0.1; from GPT-5.6 on write 1.25 for at least 30
#   minutes, free before.
# - Google, docs.cloud.google.com (context cache overview): read 0.1, write free, kept for up to 24 hours, not promised.
# - DeepSeek, api-docs.deepseek.com/quick_start/pricing: read 0.02 to 0.033, write free, kept on disk for hours to days.


class Prices(Struct, frozen=True, kw_only=True):
    """The price of a token of a prompt, as a multiple of that of an uncached input token."""

    name: str
    read: float
    """A token read from the cache."""
    write: float
    """A token written to the cache."""
    cache_seconds: float
    """Seconds without a call after which the cache has certainly expired (0: there is none)."""

    def expired(self, idle_seconds: float | None) -> bool:
        """Whether the cache has expired after `idle_seconds` without a call; False if that is unknown."""
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
"""If a lifetime isn't promised, the longest is used, since wrongly assuming that the cache has expired costs more."""


def prices_named(name: str) -> Prices:
    """The prices called `name`. Raises BadInput."""
    found = PRICES.get(name)
    if found is None:
        raise BadInput(f"There are no prices {name!r}; there are those of {', '.join(sorted(PRICES))}.")
    return found


FILLED = 0.9
"""If calls have a price, a rebuild goes down to this share of the low mark, since the least needed lines would be
paid for at every call."""
ENOUGH = 0.25
"""A rebuild that the budget doesn't require must save this share of it, since it costs recall."""


class CostExplanation(Struct, frozen=True, kw_only=True):
    """The reason why a context was kept or rebuilt, in figures and a sentence."""

    tokens_before: int
    """The cost of the context if it were kept."""
    tokens_after: int
    """The most that the rebuilt context may cost."""
    suffix_tokens: int
    """The tokens that must be written again, because something before them changes."""
    saved_tokens: int
    """The savings at each further call."""
    calls: int | None
    """After how many calls a rebuild has paid for itself; None: never, or there are no prices."""
    expired: bool
    """Whether the provider's cache has expired."""
    decision: str


class KeepContext(Struct, frozen=True):
    """The context is kept, followed by the messages since."""

    why: CostExplanation


class RebuildContext(Struct, frozen=True):
    """The context is rebuilt in `target` tokens."""

    target: int
    why: CostExplanation


def decide(
    *,
    frozen_tokens: int,
    since_tokens: int,
    budget: int,
    low_water: float,
    idle_seconds: float | None = None,
    prices: Prices | None = None,
) -> KeepContext | RebuildContext:
    """Whether a context of `frozen_tokens`, followed by `since_tokens`, is kept within `budget`.

    `idle_seconds` is the time since the last call, where known. Without `prices` only the budget decides.
    """
    before = frozen_tokens + since_tokens
    low = int(budget * low_water * (FILLED if prices else 1.0))
    expired = prices is not None and prices.expired(idle_seconds)
    if before > budget:
        return RebuildContext(low, _explain_change(before, low, prices, expired, f"over its budget of {budget:,}"))
    if expired and before - low >= budget * ENOUGH:
        return RebuildContext(low, _explain_change(before, low, prices, expired, "the cache has expired"))
    return KeepContext(_explain_change(before, before, prices, expired, f"within its budget of {budget:,}"))


def first_target(tokens: int, budget: int, low_water: float, prices: Prices | None) -> tuple[int, CostExplanation]:
    """The target of the first rebuild of a path of `tokens`, and why.

    Without prices a list may be cut only once, so the whole budget is used. With prices more calls will follow, and a
    full context would have to be rebuilt at the next one.
    """
    target = budget if prices is None or tokens <= budget else int(budget * low_water * FILLED)
    return target, _explain_change(tokens, min(target, tokens), prices, False, f"over its budget of {budget:,}")


def explain_whole(tokens: int, budget: int) -> CostExplanation:
    """The explanation for a path that fits and is shown whole."""
    return _explain_change(tokens, tokens, None, False, f"within its budget of {budget:,}")


def idle_seconds(since: Sequence[Message]) -> float | None:
    """Seconds between the last assistant message and the newest message; None if the log has no times.

    The model was called for the assistant's message; the time since was a tool's or the user's.
    """
    now = since[-1].draft.at if since else None
    called = next((message.draft.at for message in reversed(since) if message.role == "assistant"), None)
    if now is None or called is None:
        return None
    return max((now - called).total_seconds(), 0.0)


def _explain_change(before: int, after: int, prices: Prices | None, expired: bool, why: str) -> CostExplanation:
    """Explain a decision in figures. A rebuild changes a context near its beginning, so all of it is written again."""
    rebuilt = after < before
    calls = _calls_until_paid(before, after, prices, expired) if rebuilt and prices is not None else None
    return CostExplanation(
        tokens_before=before,
        tokens_after=after,
        suffix_tokens=after if rebuilt else 0,
        saved_tokens=before - after,
        calls=calls,
        expired=expired,
        decision=_explanation_text(before, after, calls, why),
    )


def _calls_until_paid(before: int, after: int, prices: Prices, expired: bool) -> int:
    """After how many calls a rebuild from `before` tokens to `after` has paid for itself: 0 at once.

    What was cached is written instead of read. If the cache has expired, all of it is written in any case.
    """
    paid = -prices.write * (before - after) if expired else after * (prices.write - prices.read)
    return max(ceil(paid / ((before - after) * prices.read)), 0)


def _explanation_text(before: int, after: int, calls: int | None, why: str) -> str:
    if after >= before:
        return f"Kept at {before:,} tokens: {why}."
    sentence = f"Rebuilt from {before:,} tokens to {after:,}: {why}"
    if calls is None:
        return f"{sentence}."
    return f"{sentence}; it pays at once." if not calls else f"{sentence}; it pays after {calls:,} calls."


_STORY_FAMILY = lazy_re(r"offline-1/story/(\d+)-(\d+)-(\d+)(?:/as/([^/]+))?")


class StorySettings(Struct, frozen=True, kw_only=True):
    """How a story fades: leaves of many messages, and deeper summaries over several finer ones."""

    leaf_messages: int = 150
    """A leaf ends with the first turn that brings it to this many messages."""
    leaf_tokens: int = 20_000
    """The maximum number of tokens of a leaf, unless a single atom has more."""
    fan_in: int = 4
    """How many adjacent summaries of one depth are merged."""
    limit: int = 4
    """The maximum number of summaries of one depth that are shown: beyond this the oldest are merged."""
    live_messages: int = 100
    """Least number of newest messages that no leaf covers."""
    window_tokens: int = 100_000
    """The summariser's window: deep summaries are written from leaves as long as these fit."""
    raw_tokens: int = 24_000
    """Deep summaries of messages that cost at most this much are written from the messages."""
    open_threads: int = 24
    """The maximum number of open threads that are carried; beyond this those with the least weight are dropped."""


class Policy(Struct, frozen=True, kw_only=True):
    """How and when a path becomes blocks; sizes are in messages, atoms, turns or tokens, as their names say."""

    name: str
    leaf_min_atoms: int = 6
    """From this many atoms on, a block may end where the work changes."""
    leaf_max_atoms: int = 24
    leaf_max_tokens: int = 16_000
    fan_in: int = 4
    """How many adjacent blocks of one depth are merged into a deeper one."""
    goal_min_turns: int = 3
    goal_max_turns: int = 6
    low_water: float = 0.6
    """A later rebuild cuts the context to this share of the budget, so that the next one is far off."""
    live_share: float = 0.12
    """Share of a rebuilt context for the newest turns, verbatim; they get more if the blocks leave room."""
    keep_messages: int = 0
    """How many of the newest messages stay out of every summary (0: the budget decides)."""
    cuts: bool = False
    """Leave out what doesn't fit, with a note, instead of summarising it."""
    eager: bool = False
    """Summarise old work even if there is room for it."""
    notes_window: int = 100_000
    """Tokens of the path that a model reads at a time to write notes."""
    excluded_tools: frozenset[str] = frozenset()
    """Calls of these tools are never summarised."""
    prices: Prices | None = None
    """The provider's prices; None if unknown, so that the budget alone decides when to rebuild."""
    strategy: Strategy | None = None
    """Your own strategy; None: Ireneo's for work or stories."""
    story: StorySettings | None = None
    """How a story fades; None: an agent's work, in turns and goals."""
    seen_by: str = ""
    """For a story: the character whose memory it is; if empty, the context shows everything."""

    def without(self, *tools: str) -> Policy:
        """A copy of the policy that never summarises calls of these tools."""
        return replace(self, excluded_tools=self.excluded_tools | frozenset(tools))

    def down_to(self, share: float) -> Policy:
        """The same policy, with rebuilds to this share of the budget. Raises BadInput."""
        if not 0 < share <= 1:
            raise BadInput(f"A rebuild can't go down to {share} of the budget; give a share above 0, and up to 1.")
        return replace(self, low_water=share)

    def priced(self, prices: str | Prices) -> Policy:
        """A copy of the policy with these prices, given as such or by name. Raises BadInput."""
        return replace(self, prices=prices_named(prices) if isinstance(prices, str) else prices)

    def seen(self, character: str) -> Policy:
        """The same policy for one character's memory of a story. Raises BadInput if this policy is not for stories."""
        if character and self.story is None:
            raise BadInput(f"The preset {self.name!r} knows no characters; take 'story' for the memory of {character}.")
        return replace(self, seen_by=character)

    @property
    def summarizer(self) -> str:
        """The name under which its summaries are stored; policies that cut alike share them."""
        if self.story is not None:
            sizes = f"{self.story.leaf_messages}-{self.story.leaf_tokens}-{self.story.fan_in}"
            seen = f"/as/{_escape_name(self.seen_by)}" if self.seen_by else ""
            if self.strategy is not None:
                return f"own-1/{_escape_name(self.strategy.name)}/story/{sizes}{seen}"
            return f"offline-1/story/{sizes}{seen}"
        tools = "".join(f"-{tool}" for tool in sorted(self.excluded_tools))
        if self.strategy is not None:
            return f"own-1/{_escape_name(self.strategy.name)}/{self.fan_in}{tools}"
        # Left-out parts still have summaries, for their pins: those of an agent's work.
        return f"offline-2/{'coding' if self.cuts else self.name}{tools}"


class VoiceRule(Struct, frozen=True, kw_only=True):
    """In which person summaries are written."""

    work: Voice = "first"
    """The voice of an agent's summaries."""
    story: Voice | None = None
    """The voice of stories; None: third person, and first person for one character's memory."""

    def of(self, policy: Policy) -> Voice:
        """Return the voice of the summaries that `policy` makes."""
        if policy.story is None:
            return self.work
        return self.story or ("first" if policy.seen_by else "third")


CODING = Policy(name="coding")
FORGE = Policy(
    name="forge", leaf_min_atoms=10, leaf_max_atoms=40, leaf_max_tokens=200_000, keep_messages=20, eager=True
)
"""By age instead of budget: calls that are 20 messages old are summarised, ten to forty at a time, as the work
changes, and goal batches of three to six turns at the same age."""
STORY = Policy(name="story", story=StorySettings(), live_share=0.3)
"""A story or an endless conversation: coarse past, fine present, live now."""
SCRATCHPAD = Policy(name="scratchpad", cuts=True)
"""The agent keeps its own notes: pins, scratchpad and last turns are sent, and everything else is left out."""
PRESETS = {policy.name: policy for policy in (CODING, FORGE, STORY, SCRATCHPAD)}


def story_of(summarizer: str) -> Policy | None:
    """The policy for stories whose summaries are stored as `summarizer`, if it is one."""
    found = _STORY_FAMILY.fullmatch(summarizer)
    if found is None:
        return None
    sizes = StorySettings(leaf_messages=int(found[1]), leaf_tokens=int(found[2]), fan_in=int(found[3]))
    return replace(STORY, story=sizes, seen_by=_unescape_name(found[4] or ""))


def seen_by(summarizer: str) -> str:
    """The character whose memory a story's `summarizer` writes; empty for nobody's."""
    return _unescape_name(summarizer.partition("/as/")[2].partition("/")[0])


def _escape_name(name: str) -> str:
    """Escape a name, so that no slash in it ends the name."""
    return name.replace("%", "%25").replace("/", "%2F")


def _unescape_name(written: str) -> str:
    return written.replace("%2F", "/").replace("%25", "%")


def preset(name: str) -> Policy:
    """The preset called `name`. Raises BadInput."""
    found = PRESETS.get(name)
    if found is None:
        raise BadInput(f"There is no preset {name!r}; the presets are {', '.join(sorted(PRESETS))}.")
    return found


STORIES = frozenset({"chat", "sillytavern", "character-card", "character-ai", "discord", "oobabooga"})
"""Log formats of transcripts with authors, which are stories."""


def preset_of(source: str | None, own: Policy) -> Policy:
    """The preset of a session that came from `source`: a story's, or `own`."""
    return STORY if (source or "").partition(":")[0] in STORIES else own
