"""A context the way one looks at a disk: what fills it, what of the session became what, and one row a block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.bars import filled_bar, path_bar
from ireneo.faces.cli.screens.blocks import FREE, TIERS, Block, Part, Tier, blocks_of
from ireneo.faces.cli.screens.columns import Column, show_columns, show_labelled
from ireneo.faces.cli.screens.console import is_coloured
from ireneo.faces.cli.words import counted

LABEL = 11
"""Columns before a bar."""
SHORT = 9
"""Characters of an id: enough to open it."""
WIDEST_BAR = 120
GAP = "   "
WORTH_SAYING = 1.05
"""A smaller saving is what one format has over another."""
WIDEST_LINE = 200

_COLUMNS = (
    Column("what"),
    Column("turn", right=True),
    Column("messages", right=True),
    Column("tokens", right=True),
    Column("opens with"),
    Column("first line", widest=WIDEST_LINE),
)


def show_context(screen: Console, context: ireneo.Context, parts: Sequence[Part], title: str) -> None:
    """The whole screen: bars, legend, saving, rows."""
    coloured = is_coloured(screen)
    screen.print()
    screen.print(Text(f"  {title}", style="bold"), overflow="ellipsis", no_wrap=True)
    screen.print()
    if not parts:
        screen.print("  There is no message here yet.\n")
        return
    show_bars(screen, context, parts)
    screen.print()
    show_columns(screen, _COLUMNS, [_row(block, coloured=coloured) for block in blocks_of(parts)])
    screen.print()
    if context.explained is not None:
        show_labelled(screen, "why", Text(context.explained.decision), width=LABEL)
        if context.unkept:
            show_labelled(screen, "not kept", Text(context.unkept), width=LABEL)
        screen.print()
    for mended in context.mended:
        screen.print(Text(f"  {mended.message}", style="yellow" if coloured else ""))
    for broken in context.violations:
        screen.print(Text(f"  message {broken.index} breaks {broken.rule}: {broken.message}", style="red"))


def show_bars(screen: Console, context: ireneo.Context, parts: Sequence[Part]) -> None:
    """What fills the budget, what became of the session, and what was saved."""
    tokens: Counter[Tier] = Counter()
    for part in parts:
        tokens[part.tier] += part.row.tokens
    # The rows are weighed one by one, the budget is kept by the payload: the little that a format adds is not shown.
    shares = [(tier, tokens[tier]) for tier in TIERS if tokens[tier]]
    shares.append((FREE, max(context.budget - context.tokens, 0)))
    path = [(part.tier, part.row.covers) for part in parts]
    messages = sum(part.row.covers for part in parts)
    places = sum(part.row.covers > 0 for part in parts)
    coloured = is_coloured(screen)
    width = min(max(screen.width - LABEL - 2, 10), WIDEST_BAR)
    _labelled(screen, "context", filled_bar(shares, width, coloured=coloured))
    _labelled(screen, "session", path_bar(path, width, coloured=coloured))
    screen.print()
    for line in _legend(shares, width, coloured=coloured):
        _labelled(screen, "", line)
    _labelled(screen, "budget", Text(f"{context.tokens:,} of {context.budget:,} tokens"))
    _labelled(
        screen, "saving", Text(f"{saving(context)}; {counted(messages, 'message')} in {counted(places, 'place')}")
    )


def saving(context: ireneo.Context) -> str:
    """What the cut saved, in words."""
    before, after = context.tokens_before, context.tokens
    if after * WORTH_SAYING >= before:
        return "none: all of it fits"
    times = before / after
    much = f"{times:.0f}" if times >= 10 else f"{times:.1f}"
    return f"{before:,} → {after:,} tokens, {much} times smaller"


def _labelled(screen: Console, label: str, text: Text) -> None:
    show_labelled(screen, label, text, width=LABEL)


def _legend(shares: Iterable[tuple[Tier, int]], width: int, *, coloured: bool) -> list[Text]:
    lines: list[Text] = []
    for tier, tokens in shares:
        entry = Text("░" if coloured and tier is FREE else "█" if coloured else tier.letter)
        entry.stylize(tier.style if coloured else "")
        entry.append(f" {tier.legend} {tokens:,}")
        # Whole entries: a line break inside one would part a colour from its name.
        if lines and lines[-1].cell_len + len(GAP) + entry.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], GAP, entry)
        else:
            lines.append(entry)
    return lines


def _row(block: Block, *, coloured: bool) -> list[Text]:
    first, last = block.first_turn, block.last_turn
    turns = str(first) if first == last else f"{first}–{last}"
    # Pins stand for no message, and hold in every turn; there is nothing to open.
    covers = block.messages > 0
    return [
        Text(f"█ {block.name}" if coloured else block.name, style=block.tier.style if coloured else ""),
        Text(turns if covers else ""),
        Text(f"{block.messages:,}" if covers else ""),
        Text(f"{block.tokens:,}"),
        Text(block.id[:SHORT] if covers else "", style="dim" if coloured else ""),
        Text(block.line),
    ]
