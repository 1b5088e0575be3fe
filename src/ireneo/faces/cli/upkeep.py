"""`ireneo doctor`, `forget`, `prune` and `path`: looking after a database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from ireneo.errors import BadInput, SessionNotFound
from ireneo.faces.cli.options import (
    AsJson,
    Db,
    SessionName,
    Space,
    Stored,
    memories_begun,
    reading,
    session_named,
    sessions_begun,
)
from ireneo.faces.cli.output import Yes, agreed, counted, one_line, printable, said, write_json
from ireneo.faces.cli.place import DEFAULT_SPACE, database, is_there, place_of, shown
from ireneo.faces.cli.screens.layout import checking_bar, waiting

if TYPE_CHECKING:
    from ireneo.faces.cli.screens.lists import FindingRow
    from ireneo.ports.store import Pruned
    from ireneo.sync import Memory
    from ireneo.types import ErasureReceipt, Secrets


def path(as_json: AsJson = False, db: Db = None) -> None:
    """Say where the database is, and why there.

    The first of these: --db; the variable IRENEO_DB; a memory.db in this folder; a folder .ireneo, in this folder or
    above it; your own place, where your system keeps the data of programs.
    """
    place = place_of(db)
    there = is_there(place.path)
    if as_json:
        write_json({"path": str(place.path.absolute()), "why": place.why, "exists": there})
        return
    # The path alone on standard output, for scripts: sqlite3 "$(ireneo path)".
    sys.stdout.write(f"{place.path.absolute()}\n")
    made = "" if there else " It is not there yet: `ireneo import`, `learn` and `remember` make it."
    sys.stderr.write(f"ireneo: {shown(place.path)}: {place.why}.{made}\n")


Repair = Annotated[
    bool, typer.Option("--repair", help="Repair what can be repaired: summaries, indexes, leases …; never the log.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Leave out whether each message and row is what was stored.")]
ForSecrets = Annotated[
    bool,
    typer.Option(
        "--secrets",
        help="Look for keys, tokens and passwords that are stored instead; with --repair take them out of the log and "
        "all else, down to the bytes of the file.",
    ),
]
TAKES_OUT = "`ireneo doctor --secrets --repair` takes them out; the messages from there on get other ids."
TAKEN_OUT = "Taken out."
_THINGS = {
    "messages": ("message", "messages"),
    "payloads": ("message's payload", "messages' payloads"),
    "summaries": ("summary", "summaries"),
    "notes": ("note", "notes"),
    "names": ("name", "names"),
    "leases": ("error of work that failed", "errors of work that failed"),
    "memories": ("memory", "memories"),
    "scratchpads": ("scratchpad", "scratchpads"),
    "runs": ("run or what it showed", "runs and what they showed"),
    "files": ("name of a file", "names of files"),
}


def doctor(
    repair: Repair = False,
    quick: Quick = False,
    secrets: ForSecrets = False,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Look for what is wrong with a database.

    The file as a whole, and each session of the space. It ends with 1 where something is wrong that was not repaired.
    """
    # Not imported with the module: no other command needs it here.
    from ireneo.faces.cli.screens.lists import FindingRow, show_findings

    if secrets and quick:
        raise BadInput("--quick leaves out what --secrets does not look at; give one of them.")
    looked: Secrets | None = None
    with reading(db, space) as memory:
        infos = memory.sessions()
        messages = sum(info.messages for info in infos)
        with checking_bar(0 if quick else messages) as step:
            if secrets:
                looked = memory.secrets(repair=repair, on_progress=step)
                found = _rows(looked)
            else:
                found = [
                    FindingRow(
                        kind=each.kind, session=each.session, text=each.text, repaired=each.repaired, advice=each.advice
                    )
                    for each in memory.doctor(repair=repair, quick=quick, on_progress=step)
                ]
    is_sound = all(each.kind == "note" or each.repaired for each in found)
    if as_json:
        answer = {"sound": is_sound, "sessions": len(infos), "messages": messages, "findings": found}
        write_json(answer | {"secrets": looked.found} if looked else answer)
    else:
        from ireneo.faces.cli.screens.layout import console

        where = f"{shown(database(db))} · space {space}"
        show_findings(console(), found, where=where, sessions=len(infos), messages=messages, quick=quick)
    if not is_sound:
        raise typer.Exit(1)


def _rows(looked: Secrets) -> list[FindingRow]:
    """What a look for secrets found, a sentence for each place."""
    from ireneo.faces.cli.screens.lists import FindingRow

    rows = [
        FindingRow(
            kind="fault",
            session=each.session,
            text=f"{counted(each.things, *_THINGS[each.where])} with {_kinds(each.kinds)}",
            repaired=looked.repaired,
            advice=TAKEN_OUT if looked.repaired else TAKES_OUT,
        )
        for each in looked.found
    ]
    if not looked.complete:
        text = "Bytes of what was taken out, or forgotten before, may still stand in the file."
        rows.append(FindingRow(kind="fault", session="", text=text, repaired=False, advice=looked.note))
    elif looked.note:
        rows.append(FindingRow(kind="note", session="", text=looked.note, repaired=False, advice=""))
    return rows


def _kinds(kinds: Mapping[str, int]) -> str:
    told = ", ".join(f"{kind} {number:,}" for kind, number in kinds.items())
    return f"{counted(sum(kinds.values()), 'secret')}: {told}"


ONE = "Say what is to be forgotten with one of --subject, --session, --message, --memory and --everything."


def _what(name: str, metavar: str, help: str, known: Callable[..., object] | None = None) -> object:
    return typer.Option(name, metavar=metavar, help=help, show_default=False, autocompletion=known)


class ForgetTarget(Struct, frozen=True, kw_only=True):
    """What is to go."""

    subject: Annotated[str, _what("--subject", "NAME", "All that is known of it.")] = ""
    session: Annotated[str, _what("--session", "ID", "A session, and what was made of it alone.", sessions_begun)] = ""
    message: Annotated[str, _what("--message", "ID", "A message's words.")] = ""
    memory: Annotated[str, _what("--memory", "ID", "A memory.", memories_begun)] = ""
    everything: Annotated[str, _what("--everything", "SPACE", "All of the space: give its name.")] = ""

    def given(self) -> dict[str, str]:
        """What was named. Raises BadInput unless it is one thing."""
        named = {name: value for name in self.__struct_fields__ if (value := getattr(self, name))}
        if len(named) != 1:
            raise BadInput(ONE)
        return named


def _meant(what: str, name: str) -> dict[str, str]:
    """What the memory is asked to forget; its own space is the one that it is open on."""
    return {"space": name} if what == "everything" else {what: name}


def forget(*, goner: ForgetTarget, yes: Yes = False, as_json: AsJson = False, stored: Stored) -> None:
    """Forget something for good.

    Its words and all that was made of them alone, from every byte of the database. It asks before it does.
    """
    ((what, name),) = goner.given().items()
    if what == "session":
        with reading(stored.db, stored.space) as memory:
            name = _whole(memory, name)
    with waiting("Looking for what would go …"), reading(stored.db, stored.space) as memory:
        before = memory.forget(**_meant(what, name), preview=True)
    meant = f"{what} {name}" if what != "everything" else f"all of space {name}"
    if not yes and not agreed(_forget_question(before, meant), what=meant):
        raise typer.Exit(1)
    with waiting("Erasing …"), reading(stored.db, stored.space) as memory:
        done = memory.forget(**_meant(what, name), preview=False)
    if as_json:
        write_json(done)
    else:
        sys.stdout.write(f"  {one_line(_forget_told(done, meant))}\n")
    if not done.complete:
        raise typer.Exit(1)


def _whole(memory: Memory, name: str) -> str:
    """The whole id of a session; one that is kept elsewhere may still be what was learned from."""
    try:
        return (session_named(memory, name)).id
    except SessionNotFound:
        return name


def _forget_question(receipt: ErasureReceipt, meant: str) -> str:
    note = f" ({receipt.note})" if receipt.note else ""
    return f"Forget {meant} for good: {_listed(receipt) or 'nothing of it is kept'}{note}?"


def _forget_told(receipt: ErasureReceipt, meant: str) -> str:
    listed = _listed(receipt)
    if not listed:
        return f"Nothing is kept of {meant}; nothing was taken out. {receipt.note}"
    gone = f"Forgotten, {meant}: {listed}, at {said(receipt.at)}."
    left = "" if receipt.complete else " Some of it still stands in the file."
    return f"{gone}{left} {receipt.note}"


def _listed(receipt: ErasureReceipt) -> str:
    """How much of each, in words."""
    gone = receipt.what
    counts = (
        (gone.sessions, "session", None),
        (gone.messages, "message", None),
        (gone.summaries, "summary", "summaries"),
        (gone.notes, "note", None),
        (gone.memories, "memory", "memories"),
        (gone.pads, "scratchpad", None),
        (gone.runs, "run", None),
        (gone.observations, "observation", None),
        (gone.files, "file learned from", "files learned from"),
    )
    parts = [counted(number, noun, plural) for number, noun, plural in counts if number]
    if gone.lessened:
        parts.append(f"{counted(gone.lessened, 'memory', 'memories')} without some of what spoke for them")
    return ", ".join(parts)


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
    with reading(db, space) as memory:
        named = session_named(memory, session)
        title, due = named.id, named.prune(branch, dry_run=True)
    messages, tokens = due.messages, due.tokens
    what = f"{counted(messages, 'message')} ({tokens:,} tokens)"
    if not yes and (messages or branch) and not agreed(_prune_question(title, branch, what, messages), what="messages"):
        raise typer.Exit(1)
    with waiting("Taking out …"), reading(db, space) as memory:
        done = session_named(memory, title).prune(branch)
    if as_json:
        counts = {"messages": done.messages, "tokens": done.tokens, "summaries": done.summaries}
        write_json({"session": title, "dropped": branch or None, **counts})
    else:
        _say(_prune_told(title, branch, done))


def _prune_question(title: str, branch: str, what: str, messages: int) -> str:
    if not branch:
        return f"Take {what} out of {title} for good?"
    taken = f"take {what} out" if messages else "take nothing out, since other branches lead to all of it"
    return f"Forget branch {branch} of {title}, and {taken}, for good?"


def _prune_told(title: str, branch: str, done: Pruned) -> str:
    messages, tokens, summaries = done.messages, done.tokens, done.summaries
    dropped = f"Branch {branch} of {title} is forgotten. " if branch else ""
    if not messages:
        return f"{dropped}Some branch leads to every message of {title}; nothing was taken out."
    what = f"{counted(messages, 'message')} ({tokens:,} tokens)"
    made = f" and {counted(summaries, 'summary', 'summaries')}" if summaries else ""
    verb = "was" if messages == 1 and not made else "were"
    return f"{dropped}{what}{made} {verb} taken out of {title}."


def _say(sentence: str) -> None:
    sys.stdout.write(f"  {printable(sentence)}\n")
