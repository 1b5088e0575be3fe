"""`ireneo tree`: what a session has become, depth by depth and branch by branch."""

from __future__ import annotations

from typing import Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Preset, SessionName, Space
from ireneo.faces.cli.screens.progress import waiting
from ireneo.faces.cli.stored import reading, session_named, title_of

As = Annotated[
    str,
    typer.Option("--as", metavar="NAME", help="Of a story: what this character remembers.", show_default="all of it"),
]


def tree(
    session: SessionName,
    preset: Preset = None,
    as_: As = "",
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Draw what a session has become.

    Its summaries depth by depth, which of them a context shows, the branches and where they fork, and open threads.
    """

    async def work(memory: ireneo.Memory) -> tuple[str, ireneo.Tree]:
        named = await session_named(memory, session)
        return title_of(named), await named.tree(preset, as_)

    with waiting("Reading …"):
        title, found = reading(db, space, work)
    if as_json:
        write_json(_answer(found))
    else:
        # Only someone who looks pays for the drawing.
        from ireneo.faces.cli.screens.console import console
        from ireneo.faces.cli.screens.tree import show_tree

        show_tree(console(), found, title if not as_ else f"{title} · as {as_}")


def _answer(found: ireneo.Tree) -> dict[str, object]:
    return {
        "session": found.session,
        "branch": found.branch,
        "preset": found.preset,
        "head": found.head,
        "messages": found.messages,
        "tokens": found.tokens,
        "live": found.live,
        "behind": found.behind,
        "nodes": found.nodes,
        "branches": found.branches,
        "threads": found.threads,
    }
