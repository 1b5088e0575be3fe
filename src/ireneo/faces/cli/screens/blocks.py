"""The rows of a context as a reader looks at them: each in its tier, and what belongs together as one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

import ireneo
from ireneo.faces.cli.words import counted, printable


class Tier(Struct, frozen=True):
    """One way in which a part of a session is shown."""

    name: str
    """What one row of it is called."""
    legend: str
    style: str
    letter: str
    """Stands for the colour where there is none."""


STORY = Tier("story", "stories", "color(97)", "s")
PINS = Tier("pinned", "pins", "color(204)", "p")
DISPUTED = Tier("disputed", "disputed blocks", "color(160)", "d")
GOAL = Tier("goal batch", "goal batches", "color(99)", "g")
TURN = Tier("turn block", "turn blocks", "color(68)", "t")
MASKED = Tier("masked", "masked", "color(136)", "m")
KEPT = Tier("kept", "kept", "color(73)", "k")
WORDS = Tier("user", "system and user words", "color(71)", "u")
WAITING = Tier("not summarised", "not summarised", "color(130)", "w")
LIVE = Tier("live", "live", "color(43)", "l")
FREE = Tier("free", "free", "color(238)", ".")
TIERS = (PINS, STORY, GOAL, TURN, DISPUTED, MASKED, WAITING, KEPT, WORDS, LIVE)
"""What holds all the time, then oldest things first, as they stand in a session."""

LIFTED = "[PINNED] Lifted"
"""What a note begins with that a pin holds no longer."""

_ALONE = ("summary", "pins", "waiting")
"""What stands for several messages, or for none: a row of its own."""
_HEADERS = ("[SUMMARIZED]", "[GOAL BATCH]", "[STORY]", "[PINNED]", "## ")
_OF_LEVEL = {"story": STORY, "goal": GOAL, "turn": TURN}


class Place(Struct, frozen=True):
    """What must be known of a message on the path to say where it stands."""

    role: str
    spoken: bool
    turn: int


class Part(Struct, frozen=True, kw_only=True):
    """A place of the context, in its tier."""

    tier: Tier
    row: ireneo.ViewRow
    role: str
    first_turn: int
    last_turn: int


class Block(Struct, frozen=True, kw_only=True):
    """A row on the screen: one place of the context, or several messages of one turn."""

    tier: Tier
    name: str
    id: str
    first_turn: int
    last_turn: int
    messages: int
    tokens: int
    line: str


Ends = tuple[Place, Place]
"""Where the first and the last message stand of those that a row is about."""


def place_of(message: ireneo.Message) -> Place:
    """The place of a stored message."""
    return Place(message.role, message.draft.origin == "spoken", message.turn)


def places_of(path: Sequence[ireneo.Draft]) -> list[Place]:
    """The places of a path that is in no database."""
    turn = 0
    out = []
    for draft in path:
        spoken = draft.origin == "spoken"
        turn += draft.role == "user" and spoken
        out.append(Place(draft.role, spoken, turn))
    return out


def rows_of(context: ireneo.Context) -> tuple[ireneo.ViewRow, ...]:
    """What there is to look at: the pins, then the path."""
    return (*context.pins, *context.view)


def ends_of(view: Sequence[ireneo.ViewRow]) -> list[tuple[int, int]]:
    """The positions on the path at which each row begins and ends; together they cover it without a gap.

    Pins cover nothing: they stand at the message before them, or at the first.
    """
    ends = []
    position = 0
    for row in view:
        before = max(position - 1, 0)
        ends.append((position, position + row.covers - 1) if row.covers else (before, before))
        position += row.covers
    return ends


def parts_of(context: ireneo.Context, ends: Sequence[Ends]) -> list[Part]:
    """Each row of the view in its tier; `ends` are the places of its first and last message."""
    rows = rows_of(context)
    short = [index for index, row in enumerate(rows) if row.what in ("summary", "waiting", "masked")]
    live_from = short[-1] + 1 if short else 0
    return [
        Part(
            tier=_tier(row, first, live=index >= live_from),
            row=row,
            role=first.role,
            first_turn=first.turn,
            last_turn=last.turn,
        )
        for index, (row, (first, last)) in enumerate(zip(rows, ends, strict=True))
    ]


def blocks_of(parts: Sequence[Part]) -> Iterator[Block]:
    """One row for a summary, for a user's word and for pins, and one for what an agent did in a turn."""
    run: list[Part] = []
    for part in parts:
        if run and not _belongs(run[-1], part):
            yield _block(run)
            run = []
        run.append(part)
    if run:
        yield _block(run)


def _tier(row: ireneo.ViewRow, place: Place, *, live: bool) -> Tier:
    if row.what == "pins":
        return PINS
    if row.what == "summary":
        return DISPUTED if row.disputed else _OF_LEVEL.get(row.level or "", TURN)
    if row.what == "masked":
        return MASKED
    if row.what == "waiting":
        return WAITING
    if place.spoken and place.role in ("system", "user"):
        return WORDS
    return LIVE if live else KEPT


def _belongs(before: Part, part: Part) -> bool:
    alone = any(part.row.what in _ALONE or part.tier is WORDS for part in (before, part))
    if alone or before.last_turn != part.first_turn:
        return False
    return (before.tier is LIVE) == (part.tier is LIVE)


def _block(run: Sequence[Part]) -> Block:
    masked = sum(part.tier is MASKED for part in run)
    first = run[0]
    tier = MASKED if masked else first.tier
    return Block(
        tier=tier,
        name=_name(first, masked, len(run)),
        id=first.row.id,
        first_turn=first.first_turn,
        last_turn=run[-1].last_turn,
        messages=sum(part.row.covers for part in run),
        tokens=sum(part.row.tokens for part in run),
        line=next((line for part in run if (line := first_line(_words(part.row)))), ""),
    )


def _name(first: Part, masked: int, size: int) -> str:
    if masked and size > 1:
        return f"{masked} masked"
    if first.tier is WORDS:
        return first.role
    if first.tier is PINS:
        return _pins(first.row.text)
    if first.row.what != "summary":
        return first.tier.name
    name = _OF_LEVEL.get(first.row.level or "", TURN).name
    named = f"{name} {first.row.depth}" if first.row.depth > 1 else name
    return f"{named}, {first.tier.name}" if first.tier is DISPUTED else named


def _pins(text: str) -> str:
    if text.startswith(LIFTED):
        return "released"
    return counted(sum(line.startswith("- ") for line in text.splitlines()), "pin")


def _words(row: ireneo.ViewRow) -> str:
    # Of what is not summarised, the header is all there is to tell.
    return row.text.removeprefix("[STORY] ") if row.what == "waiting" else row.text


def first_line(text: str) -> str:
    """The first line that tells something: not the header of a block or of pins, nor the heading of a section."""
    for line in text.splitlines():
        told = " ".join(printable(line).split())
        if told and not told.startswith(_HEADERS):
            return told.removeprefix("- ")
    return ""
