"""`ireneo prune`: take out of a session what no branch leads to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.consent import Yes, agreed
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, SessionName, Space
from ireneo.faces.cli.screens.progress import waiting
from ireneo.faces.cli.stored import reading, session_named
from ireneo.faces.cli.words import counted, printable

Branch = Annotated[
    str,
    typer.Option("--branch", metavar="NAME", help="Forget this branch first.", show_default=False),
]


def prune(
    session: SessionName,
    branch: Branch = "",
    yes: Yes = False,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Take out what no branch leads to.

    Messages that a rewind left behind, and what was made of them, for good. It asks before it does.
    """

    async def preview(memory: ireneo.Memory) -> tuple[str, int, int]:
        named = await session_named(memory, session)
        loose = await named.loose(branch)
        return named.id, loose.messages, loose.tokens

    async def work(memory: ireneo.Memory) -> tuple[int, int, int]:
        named = await session_named(memory, session)
        if branch:
            await named.drop(branch)
        gone = await named.prune()
        return gone.messages, gone.tokens, gone.summaries

    title, messages, tokens = reading(db, space, preview)
    what = f"{counted(messages, 'message')} ({tokens:,} tokens)"
    if not yes and (messages or branch) and not agreed(_question(title, branch, what, messages), what="messages"):
        raise typer.Exit(1)
    with waiting("Taking out …"):
        done = reading(db, space, work)
    if as_json:
        answer = dict(zip(("messages", "tokens", "summaries"), done, strict=True))
        write_json({"session": title, "dropped": branch or None, **answer})
    else:
        _say(_told(title, branch, done))


def _question(title: str, branch: str, what: str, messages: int) -> str:
    if not branch:
        return f"Take {what} out of {title} for good?"
    taken = f"take {what} out" if messages else "take nothing out, since other branches lead to all of it"
    return f"Forget branch {branch} of {title}, and {taken}, for good?"


def _told(title: str, branch: str, done: tuple[int, int, int]) -> str:
    messages, tokens, summaries = done
    dropped = f"Branch {branch} of {title} is forgotten. " if branch else ""
    if not messages:
        return f"{dropped}Some branch leads to every message of {title}; nothing was taken out."
    what = f"{counted(messages, 'message')} ({tokens:,} tokens)"
    made = f" and {counted(summaries, 'summary', 'summaries')}" if summaries else ""
    verb = "was" if messages == 1 and not made else "were"
    return f"{dropped}{what}{made} {verb} taken out of {title}."


def _say(sentence: str) -> None:
    sys.stdout.write(f"  {printable(sentence)}\n")
