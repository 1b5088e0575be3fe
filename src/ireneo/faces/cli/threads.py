"""The commands on what is carried through a story: its threads, what always stands, and summaries by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ireneo.faces.cli.options import AsJson, SessionName, Stored, argument, option, session_in, title_of
from ireneo.faces.cli.output import picked, printable, short, tell, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireneo.types import StoryThread

ThreadSort = Annotated[
    str,
    argument("KIND", "promise, debt, quest, threat, secret, lie, wound, possession, relation, question or canon."),
]
ThreadWords = Annotated[str, argument("TEXT", "A whole sentence that can be understood by itself.")]
NewWords = Annotated[str, argument("TEXT", "The new words; empty where only the people change.")]
ThreadNamed = Annotated[
    str, argument("THREAD", "Its id or its words, or the beginning of either; `ireneo thread list` has them.")
]
How = Annotated[str, argument("HOW", "What became of it.")]
Who = Annotated[str, option("--who", "NAME", "Whose it is: who promised, owes, hides, was hurt, has it.")]
Whom = Annotated[str, option("--whom", "NAME", "With whom: to whom, from whom, by whom.")]
KnownTo = Annotated[str, option("--known-to", "NAMES", "The characters that know of it, with commas between them.")]
Resolved = Annotated[bool, option("--all", "", "Those that came to their end as well, and what ended them.")]
As = Annotated[str, option("--as", "NAME", "What this character knows of.", shown="all of it")]
StoryBlock = Annotated[str, argument("ID", "The summary's id, as a context shows it: s_….")]
StoryWords = Annotated[str, argument("TEXT", "What is to stand for its stretch of the story.")]
_LISTED = "id kind text state who whom since source until ended known_to"


def list_(
    session: SessionName, resolved: Resolved = False, viewpoint: As = "", as_json: AsJson = False, *, stored: Stored
) -> None:
    """List what always stands in a story, and its open threads."""
    with session_in(stored, session) as named:
        title, found = title_of(named), named.threads(resolved=resolved, viewpoint=viewpoint)
    if as_json:
        write_json([picked(each, _LISTED) for each in found])
    elif not found:
        tell(f"No thread is open in {title}; they are found with its summaries, which `ireneo work` writes.")
    else:
        for line in _lines(found):
            tell(line)


def _lines(threads: Sequence[StoryThread]) -> list[str]:
    out = []
    for each in threads:
        people = " → ".join(filter(None, (each.who, each.whom)))
        about = " · ".join(filter(None, (each.kind, people, f"since message {each.since + 1:,}")))
        until = f", until message {each.until + 1:,}" if each.until is not None else ""
        out.append(f"{short(each.id)}  {about}{until}: {printable(each.text)}")
        if each.ended and each.ended != each.text:
            out.append(f"{'':{len(short(each.id))}}  ended: {printable(each.ended)}")
    return out


def add(
    session: SessionName,
    kind: ThreadSort,
    text: ThreadWords,
    who: Who = "",
    whom: Whom = "",
    known_to: KnownTo = "",
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Add a thread: it stands in every context until it is resolved."""
    names = [name.strip() for name in known_to.split(",") if name.strip()]
    with session_in(stored, session) as named:
        made = named.add_thread(kind, text, who=who, whom=whom, known_to=names)
        title = title_of(named)
    _tell_thread(made, f"Stands in {title} as {short(made.id)}: {made.text}", as_json=as_json)


def canon(
    session: SessionName, text: ThreadWords, known_to: KnownTo = "", as_json: AsJson = False, *, stored: Stored
) -> None:
    """Set a fact that always stands: it is shown first, in every context of the story."""
    add(session, "canon", text, known_to=known_to, as_json=as_json, stored=stored)


def edit_(
    session: SessionName,
    thread: ThreadNamed,
    text: NewWords,
    who: Who = "",
    whom: Whom = "",
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Put a thread, or a fact that always stands, in other words."""
    with session_in(stored, session) as named:
        made = named.edit_thread(thread, text, who=who, whom=whom)
    _tell_thread(made, f"{short(made.id)} stands as: {made.text}", as_json=as_json)


def resolve(
    session: SessionName, thread: ThreadNamed, how: How = "", as_json: AsJson = False, *, stored: Stored
) -> None:
    """Say that a thread has come to its end, or that a fact holds no longer."""
    with session_in(stored, session) as named:
        made = named.resolve_thread(thread, how)
    _tell_thread(made, f"Resolved {short(made.id)}: {made.text}", as_json=as_json)


def _tell_thread(made: StoryThread, said: str, *, as_json: bool) -> None:
    if as_json:
        write_json(picked(made, _LISTED))
    else:
        tell(said)


def edit(session: SessionName, id: StoryBlock, text: StoryWords, as_json: AsJson = False, *, stored: Stored) -> None:
    """Write a summary of a story by hand.

    Your words stand above all others, until the summary is disputed.
    """
    with session_in(stored, session) as named:
        made, title = named.edit(id, text), title_of(named)
    if as_json:
        write_json({"id": made.id, "summary": id, "text": made.text, "first": made.since, "last": made.at_position})
    else:
        place = f"messages {made.since + 1:,} to {made.at_position + 1:,}"
        tell(f"Your words stand for {place} of {title}, until the summary is disputed.")
