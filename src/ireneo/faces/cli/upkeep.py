"""`ireneo doctor`, `forget`, `prune`, `path`, `copy` and `migrate`: looking after a database."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct
from msgspec.structs import asdict

from ireneo.errors import BadInput, SessionNotFound
from ireneo.faces.cli.options import (
    AsJson,
    Db,
    SessionName,
    Stored,
    Yes,
    argument,
    flag,
    memories_begun,
    option,
    reading,
    session_in,
    session_named,
    sessions_begun,
)
from ireneo.faces.cli.output import (
    agreed,
    can_ask,
    checking_bar,
    console,
    counted,
    one_line,
    picked,
    said,
    short,
    tell,
    waiting,
    write_json,
)
from ireneo.faces.cli.place import database, existing, is_there, place_of, room_for, shown, whole

if TYPE_CHECKING:
    from ireneo.ports.store import Pruned
    from ireneo.types import ErasureReceipt, Finding, Secrets


def path(as_json: AsJson = False, db: Db = None) -> None:
    """Say where the database is, and why there.

    The first of these: --db; the variable IRENEO_DB; a memory.db in this folder; a folder .ireneo, in this folder or
    above it; your own place, where your system keeps the data of programs.
    """
    place = place_of(db)
    there = is_there(place.path)
    if as_json:
        write_json({"path": whole(place.path), "why": place.why, "exists": there})
        return
    # The path alone on standard output, for scripts: sqlite3 "$(ireneo path)".
    sys.stdout.write(f"{whole(place.path)}\n")
    made = "" if there else " It is not there yet: `ireneo import`, `learn` and `remember` make it."
    sys.stderr.write(f"ireneo: {shown(place.path)}: {place.why}.{made}\n")


From = Annotated[str, argument("FROM", "The database that is read: a file, or postgresql://…", shown=False)]
Into = Annotated[str, argument("TO", "The database that is written to; a file is made.", shown=False)]
OfSpaces = Annotated[list[str] | None, option("--space", "NAME", "Only this space; may be repeated.", shown="all")]


def copy(source: From, target: Into, space: OfSpaces = None, as_json: AsJson = False) -> None:
    """Copy a database into another, and compare both.

    Ids stay, and a copy that was broken off goes on when it is begun anew. Nobody should write meanwhile. Left out are
    vectors, which `ireneo work` makes again, and leases.
    """
    # Imported when used: no other command needs them here.
    import asyncio

    import ireneo

    path, other = existing(source), room_for(database(target))
    with console(stderr=True).status("Copying …") as status:
        tally = asyncio.run(ireneo.copy(path, other, spaces=space, on_session=status.update))
    if as_json:
        write_json(tally)
        return
    copied = [
        counted(tally.sessions, "session"),
        counted(tally.messages, "message"),
        counted(tally.summaries, "summary", "summaries"),
        counted(tally.memories, "memory", "memories"),
        counted(tally.runs, "run"),
    ]
    sys.stdout.write(f"  {', '.join(copied)} → {shown(other)}: the same on both sides\n")


DryRun = Annotated[bool, flag("--dry-run", "Only say what would be done.")]


def migrate(dry_run: DryRun = False, as_json: AsJson = False, db: Db = None) -> None:
    """Bring a database up to date after an upgrade.

    Whatever opens it does so as well. On a server, servers and workers of the release before may go on meanwhile.
    """
    # Imported when used: no other command needs them here.
    import asyncio

    import ireneo

    where = existing(db)
    done = asyncio.run(ireneo.migrate(where, dry_run=dry_run))
    if as_json:
        write_json(done)
    elif done.applied:
        goes = "would go" if dry_run else "went"
        tell(f"{shown(where)} {goes} from {done.before} to {done.after}: {', '.join(done.applied)}.")
    else:
        tell(f"{shown(where)} is up to date at {done.after}.")


Repair = Annotated[bool, flag("--repair", "Repair what can be repaired: summaries, indexes, leases …; never the log.")]
Quick = Annotated[bool, flag("--quick", "Leave out whether each message and row is what was stored.")]
ForSecrets = Annotated[
    bool,
    flag(
        "--secrets",
        "Look for keys, tokens and passwords that are stored instead; with --repair take them out of the log and "
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
    *,
    stored: Stored,
) -> None:
    """Look for what is wrong with a database.

    The file as a whole, and each session of the space. It ends with 1 where something is wrong that was not repaired.
    """
    # Not imported with the module: no other command needs it here.
    from ireneo.faces.cli.screens.lists import show_findings

    if secrets and quick:
        raise BadInput("--quick leaves out what --secrets does not look at; give one of them.")
    looked: Secrets | None = None
    with reading(stored) as memory:
        infos = memory.sessions()
        messages = sum(info.messages for info in infos)
        with checking_bar(0 if quick else messages) as step:
            if secrets:
                looked = memory.secrets(repair=repair, on_progress=step)
                found = _secrets_found(looked)
            else:
                found = list(memory.doctor(repair=repair, quick=quick, on_progress=step))
    is_sound = all(each.kind == "note" or each.repaired for each in found)
    if as_json:
        findings = [picked(each, "kind session text repaired advice") for each in found]
        answer = {"sound": is_sound, "sessions": len(infos), "messages": messages, "findings": findings}
        write_json(answer | {"secrets": looked.found} if looked else answer)
    else:
        where = f"{shown(database(stored.db))} · space {stored.space}"
        show_findings(console(), found, where=where, sessions=len(infos), messages=messages, quick=quick)
    if not is_sound:
        raise typer.Exit(1)


def _secrets_found(looked: Secrets) -> list[Finding]:
    """What a look for secrets found, a sentence for each place."""
    # Imported when used, as all of the library is.
    from ireneo.types import Finding

    found = []
    for each in looked.found:
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in each.kinds.items())
        many = counted(sum(each.kinds.values()), "secret")
        text = f"{counted(each.things, *_THINGS[each.where])} with {many}: {kinds}"
        advice = TAKEN_OUT if looked.repaired else TAKES_OUT
        found.append(Finding(kind="fault", session=each.session, text=text, repaired=looked.repaired, advice=advice))
    if not looked.complete:
        text = "Bytes of what was taken out, or forgotten before, may still stand in the file."
        found.append(Finding(kind="fault", session="", text=text, advice=looked.note))
    elif looked.note:
        found.append(Finding(kind="note", session="", text=looked.note))
    return found


ONE = "Say what is to be forgotten with one of --subject, --session, --message, --memory and --everything."


class ForgetTarget(Struct, frozen=True, kw_only=True):
    """What is to go."""

    subject: Annotated[str, option("--subject", "NAME", "All that is known of it.")] = ""
    session: Annotated[
        str, option("--session", "ID", "A session, and what was made of it alone.", known=sessions_begun)
    ] = ""
    message: Annotated[str, option("--message", "ID", "A message's words.")] = ""
    memory: Annotated[str, option("--memory", "ID", "A memory.", known=memories_begun)] = ""
    everything: Annotated[str, option("--everything", "SPACE", "All of the space: give its name.")] = ""


Also = Annotated[
    list[str] | None,
    option("--also", "ID", "Take this memory or message as well, or `all` that may be meant; give it once for each."),
]
ALL = "all"


def forget(
    *, goner: ForgetTarget, also: Also = None, yes: Yes = False, as_json: AsJson = False, stored: Stored
) -> None:
    """Forget something for good.

    Its words and all that was made of them alone, from every byte of the database. It asks before it does, and shows
    what may be meant as well: sentences that speak of somebody by another name, the messages that said a memory.
    """
    named = {name: value for name, value in asdict(goner).items() if value}
    if len(named) != 1:
        raise BadInput(ONE)
    ((what, name),) = named.items()
    if what == "session":
        with reading(stored) as memory, suppress(SessionNotFound):
            # One that is kept elsewhere may still be what was learned from.
            name = session_named(memory, name).id
    target = {"space" if what == "everything" else what: name}
    with waiting("Looking for what would go …"), reading(stored) as memory:
        before = memory.forget(**target, preview=True)
        taken = list(dict.fromkeys(each.id for each in before.also)) if ALL in (also or ()) else list(also or ())
        before = memory.forget(**target, also=taken, preview=True) if taken else before
    if not as_json:
        _show_also(before)
    if not yes:
        taken += _asked_also(before)
        if taken:
            with reading(stored) as memory:
                before = memory.forget(**target, also=taken, preview=True)
    meant = f"{what} {name}" if what != "everything" else f"all of space {name}"
    note = f" ({before.note})" if before.note else ""
    question = f"Forget {meant} for good: {_listed(before) or 'nothing of it is kept'}{note}?"
    if not yes and not agreed(question, what=meant):
        raise typer.Exit(1)
    with waiting("Erasing …"), reading(stored) as memory:
        done = memory.forget(**target, also=taken, preview=False)
    if as_json:
        write_json(done)
    else:
        tell(one_line(_forget_told(done, meant)))
    if not done.complete:
        raise typer.Exit(1)


def _show_also(receipt: ErasureReceipt) -> None:
    """The sentences that may be meant as well, each with the id by which it is taken."""
    if receipt.also:
        tell("This may be meant as well, and stays unless it is taken (--also ID, or --also all):")
    for each in receipt.also:
        tell(f"  {short(each.id)}  “{one_line(each.text)}” ({one_line(each.why)})")


def _asked_also(receipt: ErasureReceipt) -> list[str]:
    """Those that somebody at the terminal wants taken too."""
    if not can_ask():
        return []
    ids = dict.fromkeys(each.id for each in receipt.also)
    return [name for name in ids if agreed(f"Take {short(name)} as well?", what=name)]


def _forget_told(receipt: ErasureReceipt, meant: str) -> str:
    listed = _listed(receipt)
    if not listed:
        return f"Nothing is kept of {meant}; nothing was taken out. {receipt.note}"
    left = "" if receipt.complete else " Some of it still stands in the file."
    return f"Forgotten, {meant}: {listed}, at {said(receipt.at)}.{left} {receipt.note}"


_GONE = (
    ("sessions", "session", None),
    ("messages", "message", None),
    ("summaries", "summary", "summaries"),
    ("notes", "note", None),
    ("memories", "memory", "memories"),
    ("pads", "scratchpad", None),
    ("runs", "run", None),
    ("observations", "observation", None),
    ("files", "file learned from", "files learned from"),
)


def _listed(receipt: ErasureReceipt) -> str:
    """How much of each, in words."""
    gone = receipt.what
    parts = [counted(number, noun, plural) for name, noun, plural in _GONE if (number := getattr(gone, name))]
    if gone.lessened:
        parts.append(f"{counted(gone.lessened, 'memory', 'memories')} without some of what spoke for them")
    return ", ".join(parts)


Branch = Annotated[str, option("--branch", "NAME", "Forget this branch first.")]


def prune(
    session: SessionName, branch: Branch = "", yes: Yes = False, as_json: AsJson = False, *, stored: Stored
) -> None:
    """Take out what no branch leads to.

    Messages that a rewind left behind, and what was made of them, for good. It asks before it does.
    """
    with session_in(stored, session) as named:
        title, due = named.id, named.prune(branch, dry_run=True)
    if not yes and (due.messages or branch) and not agreed(_prune_question(title, branch, due), what="messages"):
        raise typer.Exit(1)
    with waiting("Taking out …"), session_in(stored, title) as named:
        done = named.prune(branch)
    if as_json:
        write_json({"session": title, "dropped": branch or None} | picked(done, "messages tokens summaries"))
    else:
        tell(_prune_told(title, branch, done))


def _prune_question(title: str, branch: str, due: Pruned) -> str:
    what = f"{counted(due.messages, 'message')} ({due.tokens:,} tokens)"
    if not branch:
        return f"Take {what} out of {title} for good?"
    taken = f"take {what} out" if due.messages else "take nothing out, since other branches lead to all of it"
    return f"Forget branch {branch} of {title}, and {taken}, for good?"


def _prune_told(title: str, branch: str, done: Pruned) -> str:
    dropped = f"Branch {branch} of {title} is forgotten. " if branch else ""
    if not done.messages:
        return f"{dropped}Some branch leads to every message of {title}; nothing was taken out."
    what = f"{counted(done.messages, 'message')} ({done.tokens:,} tokens)"
    made = f" and {counted(done.summaries, 'summary', 'summaries')}" if done.summaries else ""
    verb = "was" if done.messages == 1 and not made else "were"
    return f"{dropped}{what}{made} {verb} taken out of {title}."
