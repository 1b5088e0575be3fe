"""The commands on sessions: list them, see their tree, go back, fork, pin, dispute and open what an id names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import NotFound
from ireneo.faces.cli.files import log_file, log_format_of
from ireneo.faces.cli.options import (
    AUTO,
    AsJson,
    Db,
    FormatOfFile,
    Preset,
    SessionName,
    Space,
    memories_begun,
    reading,
    session_named,
    sessions_begun,
    title_of,
)
from ireneo.faces.cli.output import printable, write_json
from ireneo.faces.cli.place import DEFAULT_SPACE
from ireneo.faces.cli.screens.layout import waiting

if TYPE_CHECKING:
    from ireneo.sync import Session
    from ireneo.types import Annotation, LookupResult


def sessions(as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """List sessions, the one added to last first."""
    with reading(db, space) as memory:
        infos = memory.sessions()
    if as_json:
        write_json([_sessions_answer(info) for info in infos])
    else:
        from ireneo.faces.cli.screens.lists import show_sessions

        show_sessions(infos, space)


def formats(as_json: AsJson = False) -> None:
    """List the formats that Ireneo reads and writes."""
    if as_json:
        logs = [{"name": log.name, "chat": log.chat} for log in ireneo.LOG_FORMATS]
        write_json({"logs": logs, "chats": list(ireneo.CHAT_FORMATS)})
        return
    from ireneo.faces.cli.screens.lists import show_formats

    show_formats()


def _sessions_answer(info: ireneo.SessionInfo) -> dict[str, object]:
    return {
        "id": info.key.session,
        "source": info.source,
        "messages": info.messages,
        "tokens": info.tokens,
        "first_at": info.first_at,
        "last_at": info.last_at,
    }


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
    with waiting("Reading …"), reading(db, space) as memory:
        named = session_named(memory, session)
        title, found = title_of(named), named.tree(preset, as_)
    if as_json:
        write_json(_tree_answer(found))
    else:
        # Only someone who looks pays for the drawing.
        from ireneo.faces.cli.screens.layout import console
        from ireneo.faces.cli.screens.tree import show_tree

        show_tree(console(), found, title if not as_ else f"{title} · as {as_}")


def _tree_answer(found: ireneo.Tree) -> dict[str, object]:
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


Place = Annotated[
    str, typer.Argument(metavar="TO", help="A message's id, the beginning of it, the id that its log gave it, or root.")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="ID", help="Where the branch begins.", show_default="where the session stands"),
]


class BranchHead(Struct, frozen=True, kw_only=True):
    """Where a branch stands."""

    session: str
    branch: str
    message: str | None
    """None: before the first one."""
    position: int | None
    turn: int
    tokens: int


def rewind(
    session: SessionName, to: Place, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Go back to a message of a session.

    What came after it stays in the log, and out of every context.
    """
    with reading(db, space) as memory:
        stands = session_named(memory, session)
        stands.rewind(to)
        title, head = _where(stands)
    _tell(title, head, as_json=as_json)


def fork(
    session: SessionName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the new branch is called.")],
    at: At = None,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Make a branch that begins at a message.

    Look at it as SESSION@NAME.
    """
    with reading(db, space) as memory:
        title, head = _where(session_named(memory, session).fork(name, at=at))
    _tell(title, head, as_json=as_json)


def _where(session: Session) -> tuple[str, BranchHead]:
    """What a screen calls the branch, and where it stands."""
    head = (session.branches())[session.branch]
    stand = BranchHead(
        session=session.id,
        branch=session.branch,
        message=head.id if head else None,
        position=head.position if head else None,
        turn=head.turn if head else 0,
        tokens=head.total_tokens if head else 0,
    )
    return title_of(session), stand


def _tell(title: str, stand: BranchHead, *, as_json: bool) -> None:
    if as_json:
        write_json(stand)
    elif stand.message is None or stand.position is None:
        sys.stdout.write(f"  {title} stands before its first message.\n")
    else:
        place = f"message {stand.position + 1:,}, in turn {stand.turn}"
        sys.stdout.write(f"  {title} stands at {stand.message[:9]} ({place}; {stand.tokens:,} tokens).\n")


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


class NoteAnswer(Struct, frozen=True, kw_only=True):
    """What was noted, as data and in a sentence."""

    answer: dict[str, object]
    said: str


class PinShown(Struct, frozen=True, kw_only=True):
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
    with reading(db, space) as memory:
        named = session_named(memory, session)
        made = named.pin(text)
        noted = _noted(named, made, f"Pinned in {title_of(named)} as {made.id[:SHORT]}: {made.text}")
    _say(noted, as_json=as_json)


def release(
    session: SessionName, pin: PinNamed, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Let go of a pin: it holds no longer.

    Those that were found in the messages as well as those by hand.
    """
    with reading(db, space) as memory:
        named = session_named(memory, session)
        made = named.release(pin)
        noted = _noted(named, made, f"Released in {title_of(named)}: {made.text}")
    _say(noted, as_json=as_json)


def pins(session: SessionName, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """List the pins that stand in a session.

    The constraints that users and the system set in their messages, and what was pinned by hand.
    """
    with reading(db, space) as memory:
        named = session_named(memory, session)
        title, standing = title_of(named), [_stands(named, each) for each in named.pins()]
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
    with reading(db, space) as memory:
        named = session_named(memory, session)
        made = named.dispute(id, reason, claim=claim)
        what = f"“{claim}” in {id[:SHORT]}" if claim else id[:SHORT]
        said = f"{what} is shown as disputed in {title_of(named)}, until a model has written it again"
        noted = _noted(named, made, f"{said} (`ireneo summarise`).")
    _say(noted, as_json=as_json)


def _stands(session: Session, pin: ireneo.Pin) -> PinShown:
    message = (session.expand(pin.source)).messages[0] if pin.source else None
    return PinShown(
        id=pin.id,
        text=pin.text,
        source=pin.source,
        by_hand=pin.id.startswith(BY_HAND),
        role=message.role if message else "",
        turn=message.turn if message else 0,
    )


def _place(pin: PinShown) -> str:
    return f"{'by hand' if pin.by_hand else pin.role}, {f'turn {pin.turn}' if pin.source else 'at the start'}"


def _noted(session: Session, made: Annotation, said: str) -> NoteAnswer:
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
    return NoteAnswer(answer=answer, said=said)


def _say(noted: NoteAnswer, *, as_json: bool) -> None:
    if as_json:
        write_json(noted.answer)
    else:
        sys.stdout.write(f"  {printable(noted.said)}\n")


Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="s_… for a block, m_… for a message or a memory, p_… for a pin; or a session.",
        autocompletion=memories_begun,
    ),
]
Of = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        metavar="ID",
        help="The session to look in.",
        show_default="all of the space",
        autocompletion=sessions_begun,
    ),
]
File = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="The log that the context was cut from, if it was a file.")
]
SMALLEST = 256
"""A budget for which all that can be summarised is."""
AtBudget = Annotated[
    int,
    typer.Option(
        "--budget",
        "-b",
        metavar="TOKENS",
        help="With --file: what the context was cut to, which the block next to the live messages depends on.",
        show_default=False,
    ),
]


def expand(
    id: Id,
    session: Of = None,
    file: File = None,
    budget: AtBudget = SMALLEST,
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Open what an id names.

    A block to its raw messages, a message, a memory with its evidence and where that comes from, a pin, a session to
    its diary. The beginning of an id will do where no other begins so.
    """
    if file is None:
        with reading(db, space) as memory:
            within = session_named(memory, session).id if session else ""
            opened = memory.lookup(id, session=within)
    else:
        opened = _in_file(file, id, session, budget, format)
    if as_json:
        write_json(_expand_answer(id, opened))
    else:
        # Only someone who reads pays for the drawing.
        from ireneo.faces.cli.screens.layout import console
        from ireneo.faces.cli.screens.opened import show

        show(console(), opened)


def _expand_answer(id: str, opened: LookupResult) -> dict[str, object]:
    behind = opened.expanded
    return {
        "id": id,
        "session": opened.session or None,
        "summary": behind.summary if behind else None,
        "messages": behind.messages if behind else (),
        "memory": opened.memory,
        "note": opened.note,
        "diary": opened.diary.entries if opened.diary else None,
    }


def _in_file(given: str, id: str, session: str | None, budget: int, format: str) -> LookupResult:
    """Look in a memory that dies with us: the same messages make the same blocks, under the same ids."""
    # Only who opens a file pays for the name.
    from ireneo import sync
    from ireneo.types import LookupResult

    with sync.open(":memory:") as memory:
        with log_file(given) as file:
            log = log_format_of(file, format)
            names = [done.session for done in (memory.import_log(file.lines(), log, name=file.stem)).sessions]
        for name in names:
            if session is not None and not name.startswith(session):
                continue
            for preset in ("coding", "forge", "story"):
                one = memory.session(name)
                if id.startswith("s_"):
                    one.catch_up(preset=preset)
                    one.context(budget, preset=preset)
                try:
                    return LookupResult(session=name, expanded=one.expand(id))
                except NotFound:
                    continue
    raise NotFound(
        f"There is no block or message {id} in {given}; name the --budget of the context that showed it, "
        "since a block next to the live messages depends on it."
    )
