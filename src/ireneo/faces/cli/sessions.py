"""The commands on sessions: list, draw, rewind, fork, pin, open ids, edit summaries and threads of stories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import ireneo
from ireneo.errors import BadInput, NotFound
from ireneo.faces.cli.files import log_file, log_format_of, warn
from ireneo.faces.cli.options import (
    AUTO,
    FormatOfFile,
    Preset,
    SessionName,
    Stored,
    argument,
    memories_begun,
    open_existing,
    open_session,
    option,
    session_named,
    sessions_begun,
    title_of,
    tokens,
)
from ireneo.faces.cli.output import Answer, console, cut, pick_attributes, printable, short, waiting

if TYPE_CHECKING:
    from ireneo.sync import Session
    from ireneo.types import Annotation, LookupResult, StoryThread


def sessions(*, stored: Stored) -> Answer:
    """List sessions, the most recently used first."""
    from ireneo.faces.cli.screens.lists import show_sessions

    with open_existing(stored) as memory:
        infos = memory.sessions()
    data = [
        {"id": info.key.session} | pick_attributes(info, "project source messages tokens first_at last_at")
        for info in infos
    ]
    return Answer(data, lambda: show_sessions(infos, stored.space))


def formats() -> Answer:
    """List the formats that Ireneo reads and writes."""
    from ireneo.faces.cli.screens.lists import show_formats

    logs = [{"name": log.name, "chat": log.chat} for log in ireneo.LOG_FORMATS]
    return Answer({"logs": logs, "chats": list(ireneo.CHAT_FORMATS)}, show_formats)


Remembering = Annotated[str, option("--as", "NAME", "Of a story: what this character remembers.", shown="all of it")]


def tree(session: SessionName, preset: Preset = None, viewpoint: Remembering = "", *, stored: Stored) -> Answer:
    """Draw a session as a tree.

    Its summaries depth by depth, which of them a context shows, the branches and where they fork, and open threads.
    """
    from ireneo.faces.cli.screens.sessions import show_tree

    with waiting("Reading …"), open_session(stored, session) as named:
        title, found = title_of(named), named.tree(preset, viewpoint)
    title = f"{title} · as {viewpoint}" if viewpoint else title
    names = "session branch preset head messages tokens live behind nodes branches threads"
    return Answer(pick_attributes(found, names), lambda: show_tree(console(), found, title))


Place = Annotated[str, argument("TO", "A message's id, the beginning of it, the id that its log gave it, or root.")]
At = Annotated[str | None, option("--at", "ID", "Where the branch begins.", shown="the session's head")]
NewBranch = Annotated[str, argument("NAME", "The name of the new branch.")]


KeepNotes = Annotated[bool, option("--keep-notes", "", "Keep pins, threads and facts written by hand after it.")]


def rewind(session: SessionName, to: Place, keep_notes: KeepNotes = False, *, stored: Stored) -> Answer:
    """Go back to a message of a session. Later messages stay in the log, and out of every context."""
    with open_session(stored, session) as named:
        before = _notes_of(named)
        named.rewind(to, keep_notes=keep_notes)
        after = set(_notes_of(named))
        answer = _head_answer(named)
    for text in (text for text in before if text not in after):
        warn(f"No longer shown: “{cut(text, 80)}”; `--keep-notes` keeps what was written by hand.")
    return answer


def _notes_of(named: Session) -> list[str]:
    """The threads and the fixed facts of a session, and its pins by hand."""
    return [each.text for each in named.threads()] + [each.text for each in named.pins() if each.id.startswith("p_")]


def fork(session: SessionName, name: NewBranch, at: At = None, *, stored: Stored) -> Answer:
    """Make a branch that begins at a message. Look at it as SESSION@NAME."""
    with open_session(stored, session) as named:
        return _head_answer(named.fork(name, at=at))


def _head_answer(session: Session) -> Answer:
    head = session.branches()[session.branch]
    data: dict[str, object] = {"session": session.id, "branch": session.branch, "message": head.id if head else None}
    data |= {
        "position": head.position if head else None,
        "turn": head.turn if head else 0,
        "tokens": head.total_tokens if head else 0,
    }
    if head is None:
        return Answer(data, f"{title_of(session)} is before its first message.")
    place = f"message {head.position + 1:,}, in turn {head.turn}"
    return Answer(data, f"{title_of(session)} is at {short(head.id)} ({place}; {head.total_tokens:,} tokens).")


RuleText = Annotated[str, argument("TEXT", "The rule, which every context shows word for word.")]
PinNamed = Annotated[str, argument("PIN", "Its id or its words, or the beginning of either; `ireneo pins` lists them.")]
Block = Annotated[str, argument("ID", "The block's id, as a context shows it: s_….")]
Reason = Annotated[str, argument("REASON", "What is wrong with it, and what the messages show.")]
Claim = Annotated[str, option("--claim", "WORDS", "Only this is wrong, in the block's words.")]


def pin(session: SessionName, text: RuleText, *, stored: Stored) -> Answer:
    """Pin a rule: every context shows it. Word for word, from the session's head on, until it is released."""
    with open_session(stored, session) as named:
        made = named.pin(text)
    return _annotation_answer(named, made, f"Pinned in {title_of(named)} as {short(made.id)}: {made.text}")


def release(session: SessionName, pin: PinNamed, *, stored: Stored) -> Answer:
    """Release a pin: it no longer holds. Works for pins found in the messages as well as for those set by hand."""
    with open_session(stored, session) as named:
        made = named.release(pin)
    return _annotation_answer(named, made, f"Released in {title_of(named)}: {made.text}")


def dispute(session: SessionName, id: Block, reason: Reason, claim: Claim = "", *, stored: Stored) -> Answer:
    """Say that a block is wrong.

    It is shown as disputed until a model has written it again from its messages, with the reason in view.
    """
    with open_session(stored, session) as named:
        made = named.dispute(id, reason, claim=claim)
    what = f"“{claim}” in {short(id)}" if claim else short(id)
    until = "until a model has written it again (`ireneo summarise SESSION --budget TOKENS --model NAME`)."
    return _annotation_answer(named, made, f"{what} is shown as disputed in {title_of(named)}, {until}")


def _annotation_answer(session: Session, made: Annotation, sentence: str) -> Answer:
    place = {"session": session.id, "branch": session.branch}
    about = {"text": made.text, "at": made.at or None, "about": made.about, "claim": made.claim}
    return Answer(pick_attributes(made, "id kind") | place | about, sentence)


def pins(session: SessionName, *, stored: Stored) -> Answer:
    """List the pins of a session.

    The constraints that users and the system set in their messages, and what was pinned by hand.
    """
    from ireneo.faces.cli.screens.lists import show_pins

    with waiting("Reading …"), open_session(stored, session) as named:
        title, found = title_of(named), [_pin(named, each) for each in named.pins()]
    return Answer(found, lambda: show_pins(found, title))


def _pin(session: Session, pin: ireneo.Pin) -> dict[str, object]:
    """A pin as JSON, with who set it, and in which turn."""
    message = session.expand(pin.source).messages[0] if pin.source else None
    return pick_attributes(pin, "id text source") | {
        "by_hand": pin.id.startswith("p_"),
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
AtBudget = Annotated[
    int,
    tokens(
        "--budget -b",
        "With --file: the budget of the context, which the block next to the live messages depends on.",
        shown=False,
    ),
]


def expand(
    id: Id,
    session: Of = None,
    file: File = None,
    budget: AtBudget = 256,
    format: FormatOfFile = AUTO,
    viewpoint: Remembering = "",
    *,
    stored: Stored,
) -> Answer:
    """Open what an id names.

    A block to its raw messages, a message, a memory with its evidence and where that comes from, a pin, a session to
    its diary. The beginning of an id is enough where no other begins so.
    """
    from ireneo.faces.cli.screens.sessions import show

    if file is None:
        with waiting("Reading …"), open_existing(stored) as memory:
            within = session_named(memory, session).id if session else ""
            opened = memory.lookup(id, session=within, viewpoint=viewpoint)
    elif viewpoint:
        raise BadInput("--as asks for what a stored story's character remembers; leave out the file, or --as.")
    else:
        with waiting("Reading …"):
            opened = _look_up_in_file(file, id, session, budget, format)
    behind = opened.expanded
    data = {
        "id": id,
        "session": opened.session or None,
        "summary": behind.summary if behind else None,
        "messages": behind.messages if behind else (),
        "memory": opened.memory,
        "standing": opened.standing,
        "quotes": opened.quotes,
        "note": opened.note,
        "diary": opened.diary.entries if opened.diary else None,
    }
    return Answer(data, lambda: show(opened))


def _look_up_in_file(given: str, id: str, session: str | None, budget: int, format: str) -> LookupResult:
    """Look up an id in a temporary memory: the same messages make the same blocks with the same ids."""
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


StoryBlock = Annotated[str, argument("ID", "The summary's id, as a context shows it: s_….")]
StoryText = Annotated[str, argument("TEXT", "The new text of the summary.")]


def edit(session: SessionName, id: StoryBlock, text: StoryText, *, stored: Stored) -> Answer:
    """Write a summary of a story by hand. Your words replace all others, until the summary is disputed."""
    with open_session(stored, session) as named:
        made, title = named.edit(id, text), title_of(named)
    data = {"id": made.id, "summary": id, "text": made.text, "first": made.since, "last": made.at_position}
    place = f"messages {made.since + 1:,} to {made.at_position + 1:,}"
    return Answer(data, f"Your words stand for {place} of {title}, however wide a context is, until it is disputed.")


ThreadSort = Annotated[
    str, argument("KIND", "promise, debt, quest, threat, secret, lie, wound, possession, relation, question or canon.")
]
ThreadText = Annotated[str, argument("TEXT", "A whole sentence that can be understood by itself.")]
NewThreadText = Annotated[str, argument("TEXT", "The new words; empty where only the people change.")]
ThreadNamed = Annotated[
    str, argument("THREAD", "Its id or its words, or the beginning of either; `ireneo thread list` has them.")
]
How = Annotated[str, argument("HOW", "What became of it.")]
Who = Annotated[str, option("--who", "NAME", "Whose it is: who promised, owes, hides, was hurt, has it.")]
Whom = Annotated[str, option("--whom", "NAME", "With whom: to whom, from whom, by whom.")]
KnownTo = Annotated[
    str,
    option(
        "--known-to",
        "NAMES",
        "The characters that know of it besides --who, with commas between them.",
        shown="--whom, if it is no secret or lie; everybody, if nobody is named",
    ),
]
Resolved = Annotated[bool, option("--all", "", "Include resolved threads, and what ended them.")]
Knowing = Annotated[str, option("--as", "NAME", "What this character knows of.", shown="all of it")]
_THREAD = "id kind text state who whom since source until ended known_to"


def list_threads(
    session: SessionName, resolved: Resolved = False, viewpoint: Knowing = "", *, stored: Stored
) -> Answer:
    """List the fixed facts of a story, and its open threads."""
    with open_session(stored, session) as named:
        title, found = title_of(named), named.threads(resolved=resolved, viewpoint=viewpoint)
    known = f" that {viewpoint} knows of" if viewpoint else ""
    none = (
        f"No thread{known} is open in {title}; a model finds them when it summarises, and `ireneo thread add` adds one."
    )
    return Answer([pick_attributes(each, _THREAD) for each in found], list(_thread_lines(found)) or none)


def _thread_lines(threads: Sequence[StoryThread]) -> Iterator[str]:
    for each in threads:
        people = " → ".join(filter(None, (each.who, each.whom)))
        about = " · ".join(filter(None, (each.kind, people, f"since message {each.since + 1:,}")))
        until = f", until message {each.until + 1:,}" if each.until is not None else ""
        yield f"{short(each.id)}  {about}{until}: {printable(each.text)}"
        if each.ended and each.ended != each.text:
            yield f"{'':{len(short(each.id))}}  ended: {printable(each.ended)}"


def add_thread(
    session: SessionName,
    kind: ThreadSort,
    text: ThreadText,
    who: Who = "",
    whom: Whom = "",
    known_to: KnownTo = "",
    *,
    stored: Stored,
) -> Answer:
    """Add a thread: every context shows it until it is resolved."""
    with open_session(stored, session) as named:
        made = named.add_thread(kind, text, who=who, whom=whom, known_to=_names_in(known_to))
        title = title_of(named)
    return Answer(pick_attributes(made, _THREAD), f"Added to {title} as {short(made.id)}: {made.text}")


def _names_in(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]


def add_canon(session: SessionName, text: ThreadText, known_to: KnownTo = "", *, stored: Stored) -> Answer:
    """Set a fixed fact: it is shown first, in every context of the story."""
    return add_thread(session, "canon", text, known_to=known_to, stored=stored)


def edit_thread(
    session: SessionName,
    thread: ThreadNamed,
    text: NewThreadText = "",
    who: Who = "",
    whom: Whom = "",
    known_to: KnownTo = "",
    *,
    stored: Stored,
) -> Answer:
    """Reword a thread, or a fixed fact; what is not given stays."""
    with open_session(stored, session) as named:
        made = named.edit_thread(thread, text, who=who, whom=whom, known_to=_names_in(known_to))
    return Answer(pick_attributes(made, _THREAD), f"{short(made.id)} now reads: {made.text}")


def resolve_thread(session: SessionName, thread: ThreadNamed, how: How = "", *, stored: Stored) -> Answer:
    """Say that a thread has ended, or that a fact no longer holds."""
    with open_session(stored, session) as named:
        made = named.resolve_thread(thread, how)
    return Answer(pick_attributes(made, _THREAD), f"Resolved {short(made.id)}: {made.text}")
