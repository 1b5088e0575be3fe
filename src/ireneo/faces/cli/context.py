"""`ireneo context`: cut a session to a budget, and look at what became of it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, ReadOnlyStore
from ireneo.faces.cli.answers import context_answer, write_json
from ireneo.faces.cli.completed import sessions_begun
from ireneo.faces.cli.logs import is_file, read_session
from ireneo.faces.cli.options import AsJson, Budget, Cutting, Preset, Stored, To, Within
from ireneo.faces.cli.screens.blocks import Ends, Place, ends_of, parts_of, place_of, places_of, rows_of
from ireneo.faces.cli.screens.progress import catching_up, waiting
from ireneo.faces.cli.stored import reading, session_named, title_of

Named = Annotated[
    str,
    typer.Argument(
        metavar="SESSION|FILE",
        help="A session of the database (SESSION@BRANCH for another branch), a log on disk, or - for standard input.",
        autocompletion=sessions_begun,
    ),
]


ONE_CUT = (
    "--prices, --explain, --rebuild and --as are about a session that is kept; `ireneo import` the log, and "
    "name its session."
)


ONE_FILE = "--session and --format say how a file is read, and this is a session that is kept; leave them out."


OWN_PRESETS = {"chat": "story"}
"""How the logs of a format are cut, where that is not as an agent's work."""


class Cut(Struct, frozen=True, kw_only=True):
    """A context, and what a reader must know besides to look at it."""

    context: ireneo.Context
    title: str
    ends: list[Ends]


def context(
    named: Named,
    budget: Budget,
    preset: Preset = None,
    to: To = None,
    as_json: AsJson = False,
    *,
    cutting: Cutting,
    within: Within,
    stored: Stored,
) -> None:
    """Cut a session to a budget, and look at it.

    A file is read as it is, without any database. With --json: the payload itself, and what each part of it stands for.
    """
    if is_file(named):
        if cutting != Cutting():
            raise BadInput(ONE_CUT)
        with waiting("Cutting …"):
            cut = cut_file(named, budget, to=to, preset=preset, within=within)
    else:
        if within != Within():
            raise BadInput(ONE_FILE)
        how = partial(cut_stored, to=to, preset=preset, cutting=cutting)
        cut = reading(stored.db, stored.space, lambda memory: how(memory, named, budget))
    if as_json:
        write_json(context_answer(cut.context))
    else:
        show_cut(cut)


def cut_file(named: str, budget: int, *, to: str | None, preset: str | None, within: Within) -> Cut:
    """Cut a log on disk, or standard input."""
    logged, log = read_session(named, within.session, within.format)
    path = logged.path
    made = ireneo.compact(path, budget, to=to or log.chat, preset=preset or OWN_PRESETS.get(log.name, "coding"))
    places = places_of(path)
    ends = [(places[first], places[last]) for first, last in ends_of(rows_of(made))]
    return Cut(context=made, title=f"{logged.id} · {log.name} → {made.format}", ends=ends)


async def cut_stored(
    memory: ireneo.Memory,
    named: str,
    budget: int,
    *,
    to: str | None = None,
    preset: str | None = None,
    cutting: Cutting | None = None,
) -> Cut:
    """Cut a session of the database; a story is caught up with first, as far as that needs no model."""
    how = cutting or Cutting()
    session = await session_named(memory, named)
    # Where nothing can be written a context shows what there is, and what is behind.
    with catching_up() as step, suppress(ReadOnlyStore):
        async for worked in session.catch_up(preset=preset, as_=how.as_):
            step(worked.last_position, worked.behind)
    # One after the other: two that draw on one line at a time would wipe each other out.
    with waiting("Cutting …"):
        made = await session.context(
            budget,
            to=to,
            preset=preset,
            prices=how.prices,
            explain=how.explain,
            rebuild=how.rebuild,
            as_=how.as_,
        )
    ends = [(await _place(session, first), await _place(session, last)) for first, last in ends_of(rows_of(made))]
    return Cut(context=made, title=f"{title_of(session)} → {made.format}", ends=ends)


def show_cut(cut: Cut) -> None:
    """Show it on the screen."""
    # Only someone who looks pays for the drawing.
    from ireneo.faces.cli.screens.console import console
    from ireneo.faces.cli.screens.disk import show_context

    show_context(console(), cut.context, parts_of(cut.context, cut.ends), cut.title)


async def _place(session: ireneo.Session, position: int) -> Place:
    return place_of((await session.messages(position, position))[0])
