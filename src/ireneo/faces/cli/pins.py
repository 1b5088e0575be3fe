"""`ireneo pin`, `pins`, `release` and `dispute`: what is noted in a session by hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, SessionName, Space
from ireneo.faces.cli.stored import reading, session_named, title_of
from ireneo.faces.cli.words import printable

if TYPE_CHECKING:
    from ireneo.types import Annotation

SHORT = 9
"""Characters of an id: enough to name it."""
BY_HAND = "p_"

Words = Annotated[str, typer.Argument(metavar="TEXT", help="What is to stand in every context, word for word.")]
PinNamed = Annotated[
    str,
    typer.Argument(metavar="PIN", help="Its id or its words, or the beginning of either; `ireneo pins` lists them."),
]
Block = Annotated[str, typer.Argument(metavar="ID", help="The block's id, as a context shows it: s_….")]
Reason = Annotated[str, typer.Argument(metavar="REASON", help="What is wrong with it, and what the messages show.")]
Claim = Annotated[
    str, typer.Option("--claim", metavar="WORDS", help="Only this is wrong, in the block's words.", show_default=False)
]


class Noted(Struct, frozen=True, kw_only=True):
    """What was noted, as data and in a sentence."""

    answer: dict[str, object]
    said: str


class Stands(Struct, frozen=True, kw_only=True):
    """A pin, and where it was set."""

    id: str
    text: str
    source: str
    by_hand: bool
    role: str
    """Whose message it stands in, or after which it was made."""
    turn: int


def pin(
    session: SessionName, text: Words, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Pin a rule: it stands in every context.

    Word for word, from where the session stands now, until it is released.
    """

    async def work(memory: ireneo.Memory) -> Noted:
        named = await session_named(memory, session)
        made = await named.pin(text)
        return _noted(named, made, f"Pinned in {title_of(named)} as {made.id[:SHORT]}: {made.text}")

    _say(reading(db, space, work), as_json=as_json)


def release(
    session: SessionName, pin: PinNamed, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Let go of a pin: it holds no longer.

    Those that were found in the messages as well as those by hand.
    """

    async def work(memory: ireneo.Memory) -> Noted:
        named = await session_named(memory, session)
        made = await named.release(pin)
        return _noted(named, made, f"Released in {title_of(named)}: {made.text}")

    _say(reading(db, space, work), as_json=as_json)


def pins(session: SessionName, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """List the pins that stand in a session.

    The constraints that users and the system set in their messages, and what was pinned by hand.
    """

    async def work(memory: ireneo.Memory) -> tuple[str, list[Stands]]:
        named = await session_named(memory, session)
        return title_of(named), [await _stands(named, each) for each in await named.pins()]

    title, standing = reading(db, space, work)
    if as_json:
        write_json(standing)
    else:
        from ireneo.faces.cli.screens.lists import show_pins

        show_pins([(each.id[:SHORT], _place(each), printable(each.text)) for each in standing], title)


def dispute(
    session: SessionName,
    id: Block,
    reason: Reason,
    claim: Claim = "",
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Say that a block is wrong.

    It is shown as disputed until a model has written it again from its messages, with the reason in view.
    """

    async def work(memory: ireneo.Memory) -> Noted:
        named = await session_named(memory, session)
        made = await named.dispute(id, reason, claim=claim)
        what = f"“{claim}” in {id[:SHORT]}" if claim else id[:SHORT]
        said = f"{what} is shown as disputed in {title_of(named)}, until a model has written it again"
        return _noted(named, made, f"{said} (`ireneo summarise`).")

    _say(reading(db, space, work), as_json=as_json)


async def _stands(session: ireneo.Session, pin: ireneo.Pin) -> Stands:
    message = (await session.expand(pin.source)).messages[0] if pin.source else None
    return Stands(
        id=pin.id,
        text=pin.text,
        source=pin.source,
        by_hand=pin.id.startswith(BY_HAND),
        role=message.role if message else "",
        turn=message.turn if message else 0,
    )


def _place(pin: Stands) -> str:
    return f"{'by hand' if pin.by_hand else pin.role}, {f'turn {pin.turn}' if pin.source else 'at the start'}"


def _noted(session: ireneo.Session, made: Annotation, said: str) -> Noted:
    answer: dict[str, object] = {
        "id": made.id,
        "kind": made.kind,
        "session": session.id,
        "branch": session.branch,
        "text": made.text,
        "at": made.at or None,
        "about": made.about,
        "claim": made.claim,
    }
    return Noted(answer=answer, said=said)


def _say(noted: Noted, *, as_json: bool) -> None:
    if as_json:
        write_json(noted.answer)
    else:
        sys.stdout.write(f"  {printable(noted.said)}\n")
