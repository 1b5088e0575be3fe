"""The commands on sessions: list them, see their tree, go back, fork, pin, dispute and open what an id names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import ireneo
from ireneo.errors import BadInput, NotFound
from ireneo.faces.cli.files import log_file, log_format_of
from ireneo.faces.cli.options import (
    AUTO,
    AsJson,
    FormatOfFile,
    Preset,
    SessionName,
    Stored,
    argument,
    memories_begun,
    option,
    reading,
    session_in,
    session_named,
    sessions_begun,
    title_of,
    tokens,
)
from ireneo.faces.cli.output import console, picked, short, tell, waiting, write_json

if TYPE_CHECKING:
    from ireneo.sync import Session
    from ireneo.types import Annotation, LookupResult


def sessions(as_json: AsJson = False, *, stored: Stored) -> None:
    """List sessions, the one added to last first."""
    with reading(stored) as memory:
        infos = memory.sessions()
    if as_json:
        write_json([{"id": info.key.session} | picked(info, _LISTED) for info in infos])
    else:
        from ireneo.faces.cli.screens.lists import show_sessions

        show_sessions(infos, stored.space)


_LISTED = "source messages tokens first_at last_at"


def formats(as_json: AsJson = False) -> None:
    """List the formats that Ireneo reads and writes."""
    if as_json:
        logs = [{"name": log.name, "chat": log.chat} for log in ireneo.LOG_FORMATS]
        write_json({"logs": logs, "chats": list(ireneo.CHAT_FORMATS)})
        return
    from ireneo.faces.cli.screens.lists import show_formats

    show_formats()


As = Annotated[str, option("--as", "NAME", "Of a story: what this character remembers.", shown="all of it")]


def tree(
    session: SessionName, preset: Preset = None, viewpoint: As = "", as_json: AsJson = False, *, stored: Stored
) -> None:
    """Draw what a session has become.

    Its summaries depth by depth, which of them a context shows, the branches and where they fork, and open threads.
    """
    with waiting("Reading …"), session_in(stored, session) as named:
        title, found = title_of(named), named.tree(preset, viewpoint)
    if as_json:
        write_json(picked(found, "session branch preset head messages tokens live behind nodes branches threads"))
    else:
        # Only someone who looks pays for the drawing.
        from ireneo.faces.cli.screens.tree import show_tree

        show_tree(console(), found, title if not viewpoint else f"{title} · as {viewpoint}")


Place = Annotated[str, argument("TO", "A message's id, the beginning of it, the id that its log gave it, or root.")]
At = Annotated[str | None, option("--at", "ID", "Where the branch begins.", shown="where the session stands")]
NewBranch = Annotated[str, argument("NAME", "What the new branch is called.")]


def rewind(session: SessionName, to: Place, as_json: AsJson = False, *, stored: Stored) -> None:
    """Go back to a message of a session.

    What came after it stays in the log, and out of every context.
    """
    with session_in(stored, session) as named:
        named.rewind(to)
        _tell_place(named, as_json=as_json)


def fork(session: SessionName, name: NewBranch, at: At = None, as_json: AsJson = False, *, stored: Stored) -> None:
    """Make a branch that begins at a message.

    Look at it as SESSION@NAME.
    """
    with session_in(stored, session) as named:
        _tell_place(named.fork(name, at=at), as_json=as_json)


def _tell_place(session: Session, *, as_json: bool) -> None:
    """Say where a branch stands."""
    head = session.branches()[session.branch]
    if as_json:
        write_json(
            {
                "session": session.id,
                "branch": session.branch,
                "message": head.id if head else None,
                "position": head.position if head else None,
                "turn": head.turn if head else 0,
                "tokens": head.total_tokens if head else 0,
            }
        )
    elif head is None:
        tell(f"{title_of(session)} stands before its first message.")
    else:
        place = f"message {head.position + 1:,}, in turn {head.turn}"
        tell(f"{title_of(session)} stands at {short(head.id)} ({place}; {head.total_tokens:,} tokens).")


BY_HAND = "p_"
Words = Annotated[str, argument("TEXT", "What is to stand in every context, word for word.")]
PinNamed = Annotated[str, argument("PIN", "Its id or its words, or the beginning of either; `ireneo pins` lists them.")]
Block = Annotated[str, argument("ID", "The block's id, as a context shows it: s_….")]
Reason = Annotated[str, argument("REASON", "What is wrong with it, and what the messages show.")]
Claim = Annotated[str, option("--claim", "WORDS", "Only this is wrong, in the block's words.")]


def pin(session: SessionName, text: Words, as_json: AsJson = False, *, stored: Stored) -> None:
    """Pin a rule: it stands in every context.

    Word for word, from where the session stands now, until it is released.
    """
    with session_in(stored, session) as named:
        made = named.pin(text)
    _tell_note(named, made, f"Pinned in {title_of(named)} as {short(made.id)}: {made.text}", as_json=as_json)


def release(session: SessionName, pin: PinNamed, as_json: AsJson = False, *, stored: Stored) -> None:
    """Let go of a pin: it holds no longer.

    Those that were found in the messages as well as those by hand.
    """
    with session_in(stored, session) as named:
        made = named.release(pin)
    _tell_note(named, made, f"Released in {title_of(named)}: {made.text}", as_json=as_json)


def dispute(
    session: SessionName, id: Block, reason: Reason, claim: Claim = "", as_json: AsJson = False, *, stored: Stored
) -> None:
    """Say that a block is wrong.

    It is shown as disputed until a model has written it again from its messages, with the reason in view.
    """
    with session_in(stored, session) as named:
        made = named.dispute(id, reason, claim=claim)
    what = f"“{claim}” in {short(id)}" if claim else short(id)
    until = "until a model has written it again (`ireneo summarise`)."
    _tell_note(named, made, f"{what} is shown as disputed in {title_of(named)}, {until}", as_json=as_json)


def _tell_note(session: Session, made: Annotation, said: str, *, as_json: bool) -> None:
    if as_json:
        write_json(
            {
                "id": made.id,
                "kind": made.kind,
                "session": session.id,
                "branch": session.branch,
                "text": made.text,
                "at": made.at or None,
                "about": made.about,
                "claim": made.claim,
            }
        )
    else:
        tell(said)


def pins(session: SessionName, as_json: AsJson = False, *, stored: Stored) -> None:
    """List the pins that stand in a session.

    The constraints that users and the system set in their messages, and what was pinned by hand.
    """
    with session_in(stored, session) as named:
        title, standing = title_of(named), [_pin_answer(named, each) for each in named.pins()]
    if as_json:
        write_json(standing)
    else:
        from ireneo.faces.cli.screens.lists import show_pins

        show_pins(standing, title)


def _pin_answer(session: Session, pin: ireneo.Pin) -> dict[str, object]:
    """A pin, whether it was set by hand, and whose message it stands in, or after which it was made."""
    message = session.expand(pin.source).messages[0] if pin.source else None
    return picked(pin, "id text source") | {
        "by_hand": pin.id.startswith(BY_HAND),
        "role": message.role if message else "",
        "turn": message.turn if message else 0,
    }


Id = Annotated[
    str,
    argument(
        "ID", "s_… for a block, m_… for a message or a memory, p_… for a pin; or a session.", known=memories_begun
    ),
]
Of = Annotated[
    str | None, option("--session -s", "ID", "The session to look in.", shown="all of the space", known=sessions_begun)
]
File = Annotated[
    str | None, option("--file", "FILE", "The log that the context was cut from, if it was a file.", shown=True)
]
SMALLEST = 256
"""A budget for which all that can be summarised is."""
AtBudget = Annotated[
    int,
    tokens(
        "--budget -b",
        "With --file: what the context was cut to, which the block next to the live messages depends on.",
        shown=False,
    ),
]


def expand(
    id: Id,
    session: Of = None,
    file: File = None,
    budget: AtBudget = SMALLEST,
    format: FormatOfFile = AUTO,
    viewpoint: As = "",
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Open what an id names.

    A block to its raw messages, a message, a memory with its evidence and where that comes from, a pin, a session to
    its diary. The beginning of an id will do where no other begins so.
    """
    if file is None:
        with reading(stored) as memory:
            within = session_named(memory, session).id if session else ""
            opened = memory.lookup(id, session=within, viewpoint=viewpoint)
    elif viewpoint:
        raise BadInput("--as asks for what a stored story's character remembers; leave out the file, or --as.")
    else:
        opened = _in_file(file, id, session, budget, format)
    if as_json:
        write_json(_expand_answer(id, opened))
    else:
        # Only someone who reads pays for the drawing.
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
