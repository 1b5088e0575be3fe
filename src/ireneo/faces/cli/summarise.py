"""`ireneo summarise`: let a model write the summaries that a context shows."""

from __future__ import annotations

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import IreneoError
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.asking import Asking
from ireneo.faces.cli.options import AsJson, Budget, Preset, SessionName, Stored
from ireneo.faces.cli.screens.progress import waiting, writing_bar
from ireneo.faces.cli.stored import existing, session_named, title_of
from ireneo.faces.cli.warnings import log_on_stderr


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of the summaries that were due."""

    title: str
    budget: int
    due: int
    summaries: list[ireneo.Summarised]
    fault: IreneoError | None
    """Why it ended early, where that was not the model's doing."""


def summarise(
    session: SessionName,
    budget: Budget,
    preset: Preset = None,
    as_json: AsJson = False,
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Let a model write the blocks of a context.

    Each is held against the messages that it covers. What the model can't do well stays as it is without one.
    """
    # Not imported with the module: no other command needs it here.
    import asyncio

    with log_on_stderr():
        outcome = asyncio.run(_write(session, budget, preset, asking, stored))
    if outcome.fault is not None and not outcome.summaries:
        raise outcome.fault
    if as_json:
        write_json(_answer(outcome))
    else:
        from ireneo.faces.cli.screens.console import console
        from ireneo.faces.cli.screens.written import show_written

        show_written(console(), outcome.summaries, due=outcome.due, budget=budget, title=outcome.title)
    if outcome.fault is not None:
        raise outcome.fault
    if outcome.due and all(each.outcome == "failed" for each in outcome.summaries):
        raise typer.Exit(1)


async def _write(named: str, budget: int, preset: str | None, asking: Asking, stored: Stored) -> Outcome:
    async with asking.memory(existing(stored.db), stored.space, needed=True) as memory:
        session = await session_named(memory, named)
        with waiting("Looking for what is due …"):
            due = await session.due(budget, preset=preset)
        done: list[ireneo.Summarised] = []
        fault: IreneoError | None = None
        with writing_bar(due) as step:
            try:
                async for each in session.summarise(budget, preset=preset):
                    done.append(each)
                    step(f"{each.outcome} {each.id[:9]}")
            except IreneoError as error:
                # What was written before is shown first.
                fault = error
        return Outcome(title=title_of(session), budget=budget, due=due, summaries=done, fault=fault)


def _answer(outcome: Outcome) -> dict[str, object]:
    return {
        "session": outcome.title,
        "budget": outcome.budget,
        "due": outcome.due,
        "tokens_in": sum(each.tokens_in for each in outcome.summaries),
        "tokens_out": sum(each.tokens_out for each in outcome.summaries),
        "summaries": outcome.summaries,
    }
