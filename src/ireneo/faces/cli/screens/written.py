"""What became of the summaries that a model was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.blocks import GOAL, STORY, TURN
from ireneo.faces.cli.screens.columns import Column, show_columns, show_labelled
from ireneo.faces.cli.words import counted, printable, share

SHORT = 9
LABEL = 13
"""Columns before a reason: an id between two margins."""
_LEVELS = {"turn": TURN, "goal": GOAL, "story": STORY}
_WORDS = {"written": "written", "repaired": "repaired", "offline": "kept offline", "failed": "failed"}
_STYLES = {"written": "color(71)", "repaired": "color(136)", "offline": "dim", "failed": "red"}
_COLUMNS = (
    Column("what"),
    Column("messages", right=True),
    Column("opens with"),
    Column("tokens in", right=True),
    Column("out", right=True),
    Column("supported", right=True),
    Column("outcome"),
)


def show_written(screen: Console, done: Sequence[ireneo.Summarised], *, due: int, budget: int, title: str) -> None:
    """One row a summary, why some are not as the model wrote them, and what it took."""
    screen.print()
    screen.print(Text(f"  {title}", style="bold"), overflow="ellipsis", no_wrap=True)
    screen.print()
    if not due:
        text = f"  Nothing is due: a context of {budget:,} tokens shows no block that a model has yet to write."
        screen.print(text, soft_wrap=True)
        screen.print()
        return
    if done:
        show_columns(screen, _COLUMNS, [_row(each) for each in done])
        screen.print()
    reasons = [(each.id[:SHORT], reason) for each in done if (reason := _reason(each))]
    for id, reason in reasons:
        show_labelled(screen, id, Text(reason), width=LABEL)
    if reasons:
        screen.print()
    _show_sums(screen, done, due)
    screen.print()


def _row(each: ireneo.Summarised) -> list[Text]:
    tier = _LEVELS[each.level]
    first, last = each.first_position + 1, each.last_position + 1
    answered = each.outcome != "failed"
    return [
        Text(tier.name, style=tier.style),
        Text(f"{first:,}" if first == last else f"{first:,}–{last:,}"),
        Text(each.id[:SHORT], style="dim"),
        Text(f"{each.tokens_in:,}" if answered else ""),
        Text(f"{each.tokens_out:,}" if answered else ""),
        Text(share(each.supported) if answered else ""),
        Text(_WORDS[each.outcome], style=_STYLES[each.outcome]),
    ]


def _reason(each: ireneo.Summarised) -> str:
    reason = " ".join(printable(each.reason).split())
    if each.outcome == "offline":
        return f"too little of it could be trusted: {reason}"
    if each.struck:
        return f"{counted(each.struck, 'line')} struck out: {reason}"
    return reason


def _show_sums(screen: Console, done: Sequence[ireneo.Summarised], due: int) -> None:
    outcomes = Counter(each.outcome for each in done)
    said = [f"{number} {_WORDS[outcome]}" for outcome, number in outcomes.items()]
    if due > len(done):
        said.append(f"{due - len(done)} left for another time")
    show_labelled(screen, "due", Text(f"{counted(due, 'block')}: {', '.join(said)}"), width=LABEL)
    answered = [each for each in done if each.outcome != "failed"]
    if not answered:
        return
    read, wrote = sum(each.tokens_in for each in answered), sum(each.tokens_out for each in answered)
    show_labelled(screen, "tokens", Text(f"{read:,} in, {wrote:,} out"), width=LABEL)
    supported = sum(each.supported for each in answered) / len(answered)
    show_labelled(
        screen, "supported", Text(f"{share(supported)} of a block's claims on average, as first made"), width=LABEL
    )
    show_labelled(screen, "shown", Text("when the context is next rebuilt"), width=LABEL)
