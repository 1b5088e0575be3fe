"""Which model a command asks, and what that may cost."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.stored import keeps_secrets

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
    story_model: Annotated[
        str | None,
        typer.Option("--story-model", metavar="NAME", help="Who tells stories.", show_default="--model"),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="A server that speaks like the provider; its key is $IRENEO_API_KEY, and no other is sent there.",
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

    def memory(
        self, path: Path, space: str, *, needed: bool, embedder: str | None = None, keep_secrets: bool = False
    ) -> AbstractAsyncContextManager[ireneo.Memory]:
        """Open a memory with these models and limits. Raises BadInput where a model is `needed` and none is named."""
        if needed and not self.named:
            raise BadInput(NO_MODEL)
        models = ireneo.models(
            dict(self.named) or None,
            base_url=self.base_url or os.environ.get("IRENEO_BASE_URL") or None,
            api_key=os.environ.get("IRENEO_API_KEY") or None,
            timeout_seconds=self.timeout,
        )
        return ireneo.open(
            path,
            space=space,
            model=models,
            limits=self.limits(),
            embedder=embedder,
            keep_secrets=keeps_secrets(keep_secrets),
        )

    @property
    def named(self) -> dict[str, str]:
        """The names of models by task."""
        named = {
            "default": self.model or os.environ.get("IRENEO_MODEL"),
            "turn": self.turn_model,
            "goal": self.goal_model,
            "story": self.story_model,
        }
        return {task: name for task, name in named.items() if name}

    def limits(self) -> ireneo.Limits:
        """What may be spent."""
        return ireneo.Limits(
            calls_per_session=self.calls,
            tokens_per_session=self.tokens,
            calls_per_day=self.calls_per_day,
            tokens_per_day=self.tokens_per_day,
        )
