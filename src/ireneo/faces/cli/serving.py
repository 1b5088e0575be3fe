"""`ireneo mcp` and `ireneo proxy`: the memory as a server, for agents and for chat clients."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from msgspec import Struct
from msgspec.structs import asdict

import ireneo
from ireneo.errors import BadInput, MissingExtra
from ireneo.faces.cli.files import log_on_stderr
from ireneo.faces.cli.options import As, From, Prices, Stored, embedder_named, flag, keeps_secrets, option, tokens
from ireneo.faces.cli.place import database, make_folder


@contextmanager
def _needs(packages: tuple[str, ...], sentence: str) -> Iterator[None]:
    """Import what a server needs, which then stays; raise MissingExtra with `sentence` where a package is missing."""
    try:
        yield
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in packages:
            raise
        raise MissingExtra(sentence) from None
    # The SDK alone has 80,000 objects. In each full round the garbage collector would look at them all, and hold up
    # whoever is served.
    gc.freeze()


Project = Annotated[str, option("--project -p", "NAME", "Where the agent works.", shown="this directory's")]


def mcp(project: Project = "", viewpoint: As = "", session: From = None, *, stored: Stored) -> None:
    """Serve the memory to an agent over MCP.

    On standard input and output, with fifteen tools: brief, recall, remember, memories, update, merge, delete, check,
    expand, scratchpad, dispute, threads, write_thread, notes_request, take_notes. For an agent that plays in a story,
    with --as or --session, the tools are brief, recall and expand. It needs the extra `mcp`.
    """
    with _needs(("mcp", "pydantic"), "The MCP server needs the official SDK; pip install 'ireneo[mcp]'."):
        from ireneo.faces.mcp import make_server, place_in
    import asyncio

    async def serve() -> None:
        async with ireneo.open(
            make_folder(database(stored.db)),
            space=stored.space,
            embedder=embedder_named(None),
            keep_secrets=keeps_secrets(False),
        ) as memory:
            place = await place_in(memory, viewpoint, session)
            await make_server(memory, project=project or str(Path.cwd()), place=place).run_stdio_async()

    with log_on_stderr():
        asyncio.run(serve())


class Listening(Struct, frozen=True, kw_only=True):
    """Where the proxy listens, and how long it waits for the API."""

    host: Annotated[
        str, option("--host", "HOST", "The address to listen on; by default for this machine alone.", shown=True)
    ] = "127.0.0.1"
    port: Annotated[int, option("--port", "PORT", "The port to listen on; 0 takes a free one.", shown=True)] = 8411
    timeout: Annotated[float, option("--timeout", "SECONDS", "The longest that the API may be silent.", shown=True)] = (
        600.0
    )


class Lists(Struct, frozen=True, kw_only=True):
    """How contexts are cut from what clients send."""

    budget: Annotated[int, tokens("--budget -b", "The most that a request may cost, prompt and tools included.")] = (
        32_000
    )
    preset: Annotated[
        str | None,
        option("--preset", "NAME", "How it is cut: coding, forge or story.", shown="coding with tools, else story"),
    ] = None
    prices: Prices = None
    viewpoint: As = ""
    whole_lists: Annotated[
        bool, flag("--whole-lists", "Clients send all there is: what they leave out at the beginning was deleted.")
    ] = False


def proxy(
    to: Annotated[str, option("--to", "URL", "The API, such as https://api.openai.com/v1.")],
    *,
    lists: Lists,
    listening: Listening,
    stored: Stored,
) -> None:
    """Put a memory between a chat client and a model's API.

    Point the client at the address that is shown. Its conversations are stored, and the API gets a context of each in
    place of the whole history; all other requests pass through. Keys are passed on, and stored nowhere. It needs the
    extra `proxy`.
    """
    if lists.budget < 256:
        raise BadInput(f"A budget of {lists.budget:,} tokens is too small; give at least 256.")
    if not 0 <= listening.port <= 65_535:
        raise BadInput(f"There is no port {listening.port}; give one from 1 to 65535, or 0 for a free one.")
    with _needs(("httpx2", "uvicorn"), "The proxy needs an HTTP server and client; pip install 'ireneo[proxy]'."):
        from ireneo.faces.proxy.server import serve
        from ireneo.faces.proxy.sessions import ProxySettings
    import asyncio

    db = make_folder(database(stored.db))
    settings = ProxySettings(**asdict(lists))
    keep_secrets = keeps_secrets(False)
    asyncio.run(serve(to, settings, **asdict(listening), db=db, space=stored.space, keep_secrets=keep_secrets))
