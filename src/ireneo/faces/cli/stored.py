"""The sessions of a database, by the names that a command line gives them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import ireneo
from ireneo.errors import BadInput, SessionNotFound
from ireneo.faces.cli.place import database, existing, is_there, room_for

__all__ = [
    "database",
    "embedder_named",
    "existing",
    "is_there",
    "reading",
    "session_named",
    "title_of",
    "tried",
    "writing",
]

T = TypeVar("T")
BRANCH = "@"
MAIN = "main"
TRIAL = Path(":memory:")
"""Where it is tried whether something can be stored at all."""
LISTED = 5
"""So many sessions are named where a name fits several."""


def reading(given: Path | None, space: str, work: Callable[[ireneo.Memory], Awaitable[T]]) -> T:
    """Do `work` on the memory in a database that is there."""
    return writing(existing(given), space, work)


def writing(
    path: Path,
    space: str,
    work: Callable[[ireneo.Memory], Awaitable[T]],
    *,
    embedder: str | None = None,
    keep_secrets: bool = False,
) -> T:
    """Do `work` on the memory in the database at `path`, which is made when it is not there."""
    # Not imported with the module: a command that only reads a file starts sooner by a fifth.
    import asyncio

    async def opened() -> T:
        embeds, keep = embedder_named(embedder), keeps_secrets(keep_secrets)
        async with ireneo.open(room_for(path), space=space, embedder=embeds, keep_secrets=keep) as memory:
            return await work(memory)

    return asyncio.run(opened())


def tried(path: Path, space: str, work: Callable[[ireneo.Memory], Awaitable[T]], *, keep_secrets: bool = False) -> T:
    """Do `work` as `writing` does; where it can't be done, no database is made for it."""
    if not is_there(path):
        writing(TRIAL, space, work, keep_secrets=keep_secrets)
    return writing(path, space, work, keep_secrets=keep_secrets)


def keeps_secrets(given: bool) -> bool:
    """Whether secrets are stored as they are: where that was asked for, or the environment says so."""
    said = os.environ.get("IRENEO_KEEP_SECRETS", "").strip().lower()
    if said in ("1", "true", "yes", "on"):
        return True
    if said not in ("", "0", "false", "no", "off"):
        raise BadInput(f"IRENEO_KEEP_SECRETS is {said!r}; set it to 1 to keep secrets, or to 0.")
    return given


def embedder_named(given: str | None) -> str | None:
    """The embedder that was named, or that of the environment; None: full text alone."""
    return given or os.environ.get("IRENEO_EMBEDDER") or None


async def session_named(memory: ireneo.Memory, name: str) -> ireneo.Session:
    """The session whose id is `name` or alone begins with it, on the branch that may follow an ``@``."""
    ids = [info.key.session for info in await memory.sessions()]
    if name in ids:
        return await memory.session(name)
    wished, _, branch = name.rpartition(BRANCH) if BRANCH in name else (name, "", "")
    id = _chosen(ids, wished, memory.space)
    return await memory.session(id, branch=branch, must_exist=True) if branch else await memory.session(id)


def title_of(session: ireneo.Session) -> str:
    """What a screen calls a session."""
    return session.id if session.branch == MAIN else f"{session.id}{BRANCH}{session.branch}"


def _chosen(ids: list[str], wished: str, space: str) -> str:
    if not wished:
        raise BadInput("The name of the session is empty; `ireneo sessions` lists those there are.")
    found = [wished] if wished in ids else [id for id in ids if id.startswith(wished)]
    if not found:
        raise SessionNotFound(
            f"There is no session {wished} in space {space}; `ireneo sessions` lists those there are."
        )
    # A run of a sub-agent is called after its session: the shorter id is the one that is meant.
    shortest = min(found, key=len)
    if not all(id.startswith(shortest) for id in found):
        more = ", …" if len(found) > LISTED else ""
        raise BadInput(f"{len(found)} sessions begin with {wished}: {', '.join(sorted(found)[:LISTED])}{more}.")
    return shortest
