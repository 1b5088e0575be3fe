"""`ireneo work`: write what is due behind the conversation."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer
from msgspec import Struct

import ireneo
from ireneo.faces.cli.asking import Asking
from ireneo.faces.cli.options import AsJson, Embedder, Preset, Stored
from ireneo.faces.cli.screens.progress import working
from ireneo.faces.cli.stored import embedder_named, existing
from ireneo.faces.cli.warnings import log_on_stderr
from ireneo.faces.cli.words import counted


class Hours(Struct, frozen=True, kw_only=True):
    """How long is worked."""

    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is due any more, instead of waiting for more.")
    ] = False
    lease: Annotated[
        float,
        typer.Option("--lease", metavar="SECONDS", help="How long another waits for one that died at a piece of work."),
    ] = 180.0
    no_leases: Annotated[
        bool, typer.Option("--no-leases", help="Heed no other worker: the same is stored, and some is paid for twice.")
    ] = False


class Tally(Struct, kw_only=True):
    """What was done."""

    summaries: int = 0
    texts: int = 0
    failed: int = 0
    taken_over: int = 0
    memories: int = 0
    episodes: int = 0
    archived: int = 0
    vectors: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, worked: ireneo.Worked) -> None:
        """Count a piece of work."""
        self.tokens_in += worked.tokens_in
        self.tokens_out += worked.tokens_out
        if worked.did == "caught_up":
            self.summaries += worked.summaries
        elif worked.did == "failed":
            self.failed += 1
        elif worked.did == "taken_over":
            self.taken_over += 1
        elif worked.did == "remembered" or worked.did == "reflected":
            self.memories += worked.memories
            self.episodes += worked.episodes
        elif worked.did == "archived":
            self.archived += worked.memories
        elif worked.did == "embedded":
            self.vectors += worked.memories
        else:
            self.texts += 1


def work(
    preset: Preset = None,
    as_json: AsJson = False,
    embedder: Embedder = None,
    *,
    hours: Hours,
    asking: Asking,
    stored: Stored,
) -> None:
    """Summarise behind the conversation.

    Run one, or as many as you like: each piece of work is leased. Without a model it makes what the structure gives.
    """
    # Not imported with the module: few commands need it.
    import asyncio

    with log_on_stderr():
        tally = asyncio.run(_work(preset, as_json, embedder_named(embedder), hours, asking, stored))
    if not as_json:
        sys.stdout.write(_told(tally))
    if tally.failed and not tally.texts:
        raise typer.Exit(1)


async def _work(
    preset: str | None, as_json: bool, embedder: str | None, hours: Hours, asking: Asking, stored: Stored
) -> Tally:
    tally = Tally()
    async with asking.memory(existing(stored.db), stored.space, needed=False, embedder=embedder) as memory:
        doing = memory.work(
            until_idle=hours.until_idle, preset=preset, lease_seconds=hours.lease, leases=not hours.no_leases
        )
        with working() as step:
            async for worked in doing:
                tally.add(worked)
                step(worked.session, worked.last_position, worked.behind, worked.due)
                if as_json:
                    sys.stdout.write(msgspec.json.encode(worked).decode() + "\n")
                    sys.stdout.flush()
    return tally


def _told(tally: Tally) -> str:
    if tally == Tally():
        return "Nothing was due.\n"
    parts = [f"{counted(tally.summaries, 'summary', 'summaries')} made without a model"] if tally.summaries else []
    if tally.texts:
        spent = f"{tally.tokens_in:,} tokens in, {tally.tokens_out:,} out"
        parts.append(f"{counted(tally.texts, 'text')} written by a model ({spent})")
    if tally.taken_over:
        parts.append(f"{counted(tally.taken_over, 'piece')} of work taken over from another writer")
    if tally.memories:
        parts.append(f"{counted(tally.memories, 'memory', 'memories')} made or changed")
    if tally.archived:
        parts.append(f"{counted(tally.archived, 'memory', 'memories')} put away")
    if tally.vectors:
        parts.append(f"{counted(tally.vectors, 'vector')} made")
    if tally.episodes:
        parts.append(f"{counted(tally.episodes, 'episode')} looked back on")
    if tally.failed:
        parts.append(f"{counted(tally.failed, 'piece')} of work failed, and will be tried again")
    return "; ".join(parts) + ".\n"
