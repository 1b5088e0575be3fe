"""`ireneo summarise`: let a model write the summaries that a context shows."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import AsJson, Budget, Preset, SessionName, Stored
from ireneo.faces.cli.screens.progress import waiting, writing_bar
from ireneo.faces.cli.stored import existing, session_named, title_of
from ireneo.faces.cli.warnings import log_on_stderr

NO_MODEL = (
    "No model is named. Name one with --model or in IRENEO_MODEL: openai:gpt-5-mini, anthropic:claude-haiku-4-5, "
    "google:gemini-2.5-flash or, on this machine, ollama:llama3; what talks to them comes with "
    "pip install 'ireneo[llm]'."
)
CALLS, TOKENS, CALLS_PER_DAY, TOKENS_PER_DAY = 400, 4_000_000, 1_000, 10_000_000
"""What may be spent, unless it is said otherwise: the library's own limits."""


def _limit(names: tuple[str, ...], of: str) -> object:
    return typer.Option(*names, metavar="N", help=f"The most {of}.")


class Asking(Struct, frozen=True, kw_only=True):
    """Which model is asked, where, and how much it may cost."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="Who writes: openai:…, anthropic:…, google:… or ollama:….",
            show_default="$IRENEO_MODEL",
        ),
    ] = None
    turn_model: Annotated[
        str | None,
        typer.Option("--turn-model", metavar="NAME", help="Who writes turn blocks.", show_default="--model"),
    ] = None
    goal_model: Annotated[
        str | None,
        typer.Option("--goal-model", metavar="NAME", help="Who writes goal batches.", show_default="--model"),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="A server that speaks like the provider. No key is sent there.",
            show_default="$IRENEO_BASE_URL, else the provider's",
        ),
    ] = None
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="The longest that one answer may take.")
    ] = 60.0
    calls: Annotated[int, _limit(("--calls", "--calls-per-session"), "requests for this session, ever")] = CALLS
    tokens: Annotated[int, _limit(("--tokens", "--tokens-per-session"), "tokens for this session, in and out")] = TOKENS
    calls_per_day: Annotated[int, _limit(("--calls-per-day",), "requests for the space in a day")] = CALLS_PER_DAY
    tokens_per_day: Annotated[int, _limit(("--tokens-per-day",), "tokens for the space in a day")] = TOKENS_PER_DAY

    def models(self) -> dict[str, str]:
        """The models by task, from the command line or else from the environment."""
        named = {
            "default": self.model or os.environ.get("IRENEO_MODEL"),
            "turn": self.turn_model,
            "goal": self.goal_model,
        }
        found = {task: name for task, name in named.items() if name}
        if not found:
            raise BadInput(NO_MODEL)
        return found

    def limits(self) -> ireneo.Limits:
        """What may be spent."""
        return ireneo.Limits(
            calls_per_session=self.calls,
            tokens_per_session=self.tokens,
            calls_per_day=self.calls_per_day,
            tokens_per_day=self.tokens_per_day,
        )


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
    preset: Preset = "coding",
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


async def _write(named: str, budget: int, preset: str, asking: Asking, stored: Stored) -> Outcome:
    models = asking.models()
    async with ireneo.open(
        existing(stored.db),
        space=stored.space,
        model=dict(models),
        base_url=asking.base_url or os.environ.get("IRENEO_BASE_URL") or None,
        timeout_seconds=asking.timeout,
        limits=asking.limits(),
    ) as memory:
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
