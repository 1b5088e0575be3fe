"""What is wrong with a database, session by session, and what is to be done about it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from ireneo.faces.cli.screens.columns import show_labelled
from ireneo.faces.cli.words import counted, printable

LABEL = 11
"""Columns before a sentence."""
MOST = 20
"""So many findings of one session that are alike are shown."""
_STYLES = {"fault": "red", "mended": "color(71)", "note": "color(136)"}


class Told(Struct, frozen=True, kw_only=True):
    """A finding, as it is told."""

    kind: str
    session: str
    text: str
    mended: bool
    advice: str

    @property
    def label(self) -> str:
        """What stands before it."""
        return "mended" if self.mended else self.kind


def show_findings(
    screen: Console, found: Sequence[Told], *, where: str, sessions: int, messages: int, quick: bool
) -> None:
    """The findings under their sessions, the advice that several share once, and a verdict."""
    screen.print()
    screen.print(Text(f"  {printable(where)}", style="bold"), soft_wrap=True)
    screen.print()
    for session, run in groupby(found, key=lambda each: each.session):
        screen.print(Text(f"  {printable(session) or 'the file'}", style="bold"), soft_wrap=True)
        _show_run(screen, list(run))
        screen.print()
    _show_verdict(screen, found, sessions=sessions, messages=messages, quick=quick)
    screen.print()


def _show_run(screen: Console, found: Sequence[Told]) -> None:
    for advice, run in groupby(found, key=lambda each: (each.advice, each.label)):
        alike = list(run)
        for each in alike[:MOST]:
            _labelled(screen, each.label, printable(each.text))
        if len(alike) > MOST:
            _labelled(screen, "", f"… {len(alike) - MOST:,} more like these; --json has them all", dim=True)
        if advice[0]:
            _labelled(screen, "", f"→ {printable(advice[0])}", dim=True)


def _show_verdict(screen: Console, found: Sequence[Told], *, sessions: int, messages: int, quick: bool) -> None:
    seen = f"{counted(sessions, 'session')} with {counted(messages, 'message')}"
    left = "; whether each message is what its id says was left out (--quick)" if quick else ""
    faults = sum(each.label == "fault" for each in found)
    mended = sum(each.label == "mended" for each in found)
    verdict = f"{counted(faults, 'fault')} left" if faults and mended else counted(faults, "fault")
    if not faults:
        verdict = "all that was wrong is mended" if mended else "sound"
    label = "fault" if faults else "mended"
    said = f"; {seen} {'was' if sessions == 1 else 'were'} looked at{left}."
    screen.print(Text.assemble((f"  {verdict}", f"bold {_STYLES[label]}"), said), soft_wrap=True)


def _labelled(screen: Console, label: str, text: str, *, dim: bool = False) -> None:
    show_labelled(screen, label, Text(text, style="dim" if dim else ""), width=LABEL)
