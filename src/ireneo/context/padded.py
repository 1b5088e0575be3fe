"""The scratchpad in a context: the one block of it that changes, as late as it may stand.

It stands right before the user's newest words. All that comes before it is the same at the next call, and so a
provider's cache holds; the user's words stay the last that a user says; and a tool loop runs on behind it, as long as
nobody writes in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.parts import without_thinking
from ireneo.context.view import Shown
from ireneo.context.weigh import MESSAGE_TOKENS, Count, weigh
from ireneo.log.message import Draft, Text, Thinking, opens_turn


def pad_shown(text: str, count: Count) -> Shown:
    """Show a scratchpad as a note in the user's place; it stands for no message."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    return Shown(what="pad", id="pad", first="", last="", covers=0, tokens=count(text) + MESSAGE_TOKENS, draft=draft)


def pad_place(shown: Sequence[Shown]) -> int:
    """Where the scratchpad goes: before the newest words of the user; else behind all that is no plain message."""
    for place in reversed(range(len(shown))):
        if _opens(shown[place]):
            return place
    fixed = (place for place, each in enumerate(shown) if each.what != "message" or each.draft.role == "system")
    return max(fixed, default=-1) + 1


def with_pad(shown: Sequence[Shown], pad: Shown | None) -> list[Shown]:
    """Put the scratchpad, where there is one, in its place."""
    if pad is None:
        return list(shown)
    place = pad_place(shown)
    return [*shown[:place], pad, *shown[place:]]


def positions(shown: Sequence[Shown]) -> list[int]:
    """The position on the path of the first message that each place stands for, or of the next one that is shown."""
    out: list[int] = []
    position = 0
    for each in shown:
        out.append(position)
        position += each.covers
    return out


def bound_from(shown: Sequence[Shown], position: int, count: Count) -> list[Shown]:
    """Take the thinking out of what stands before the first turn that begins at `position` of the path or later.

    A provider that binds thinking to what stood before it refuses it once a scratchpad there has changed; it wants
    that of a whole loop, or none.
    """
    if not position:
        return list(shown)
    places = enumerate(zip(shown, positions(shown), strict=True))
    whole = next((place for place, (each, at) in places if at >= position and _opens(each)), len(shown))
    return [*(_bare(each, count) for each in shown[:whole]), *shown[whole:]]


def _opens(shown: Shown) -> bool:
    return shown.what in ("message", "masked") and opens_turn(shown.draft) and not shown.draft.joined


def _bare(shown: Shown, count: Count) -> Shown:
    if not any(isinstance(part, Thinking) for part in shown.draft.parts):
        return shown
    draft = without_thinking(shown.draft)
    return replace(shown, draft=draft, tokens=sum(weigh(draft.parts, count)))
