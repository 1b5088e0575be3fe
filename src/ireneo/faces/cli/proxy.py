"""`ireneo proxy`: a memory between a chat client, or an agent, and the API that it asks."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from ireneo.errors import BadInput, MissingExtra
from ireneo.faces.cli.options import As, Prices, Stored, flag, keeps_secrets, option, tokens
from ireneo.faces.cli.place import database, room_for

OF_THE_EXTRA = ("httpx2", "uvicorn")
LEAST_BUDGET = 256


class Listening(Struct, frozen=True, kw_only=True):
    """Where the proxy listens, and for how long it waits for the API."""

    host: Annotated[str, option("--host", "HOST", "Where it listens: here for this machine alone.", shown=True)] = (
        "127.0.0.1"
    )
    port: Annotated[int, option("--port", "PORT", "On which port; 0 takes a free one.", shown=True)] = 8411
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

    Point the client at the address that is shown. Its conversations are kept, and the API is sent a context of each in
    the place of the whole history; all else passes through. Keys are passed on, and kept nowhere. It needs the extra
    `proxy`.
    """
    if lists.budget < LEAST_BUDGET:
        raise BadInput(f"A budget of {lists.budget:,} tokens is too small; give at least {LEAST_BUDGET}.")
    try:
        from ireneo.faces.proxy.server import serve
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in OF_THE_EXTRA:
            raise
        raise MissingExtra("The proxy needs an HTTP server and client; pip install 'ireneo[proxy]'.") from None
    # Imported when used: the other commands wait for no event loop here.
    import asyncio

    from ireneo.faces.proxy.sessions import ProxySettings

    settings = ProxySettings(
        budget=lists.budget,
        preset=lists.preset,
        viewpoint=lists.viewpoint,
        prices=lists.prices,
        whole_lists=lists.whole_lists,
    )
    asyncio.run(
        serve(
            to,
            settings,
            host=listening.host,
            port=listening.port,
            timeout=listening.timeout,
            db=room_for(database(stored.db)),
            space=stored.space,
            keep_secrets=keeps_secrets(False),
        )
    )
