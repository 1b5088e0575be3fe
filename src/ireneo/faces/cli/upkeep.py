"""`ireneo doctor`, `forget`, `prune`, `path`, `copy` and `migrate`: maintenance of a database."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct
from msgspec.structs import asdict

import ireneo
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
    open_existing,
    open_session,
    option,
    session_named,
    sessions_begun,
)
from ireneo.faces.cli.output import (
    Answer,
    ProgressBars,
    confirm,
    console,
    counted,
    cut,
    echo,
    is_interactive,
    local_time,
    one_line,
    pick_attributes,
    short,
    waiting,
)
from ireneo.faces.cli.place import absolute, database, existing, exists, make_folder, place_of, shown

if TYPE_CHECKING:
    from ireneo.ports.store import Pruned
    from ireneo.types import ErasureCandidate, ErasureReceipt, Examined, Finding, Secrets


def path(db: Db = None) -> Answer:
    """Say where the database is, and why there.

    The first of these: --db; the variable IRENEO_DB; a memory.db in this folder; a folder .ireneo, in this folder or
    above it; your own place, where your system keeps the data of programs.
    """
    place = place_of(db)
    there = exists(place.path)
    made = "" if there else " It does not exist yet: `ireneo import`, `learn` and `remember` create it."

    def show() -> None:
        # Only the path on standard output, for scripts: sqlite3 "$(ireneo path)".
        sys.stdout.write(f"{absolute(place.path)}\n")
        sys.stderr.write(f"ireneo: {shown(place.path)}: {place.why}.{made}\n")

    return Answer({"path": absolute(place.path), "why": place.why, "exists": there}, show)


From = Annotated[str, argument("FROM", "The database to read: a file, or postgresql://…", shown=False)]
Into = Annotated[str, argument("TO", "The database to write to; a file is created.", shown=False)]
OfSpaces = Annotated[list[str] | None, option("--space", "NAME", "Only this space; may be repeated.", shown="all")]


def copy(source: From, target: Into, space: OfSpaces = None) -> Answer:
    """Copy a database into another, and compare both.

    Ids stay the same, and an interrupted copy continues when it is run again. Nobody should write meanwhile. Left out
    are vectors, which `ireneo work` makes again, and leases.
    """
    import asyncio

    path, other = existing(source), database(target)
    if path == other or (isinstance(path, Path) and isinstance(other, Path) and path.resolve() == other.resolve()):
        raise BadInput(f"{shown(path)} can't be copied into itself; name another database.")
    other = make_folder(other)
    with console(stderr=True).status("Copying …") as status:
        tally = asyncio.run(ireneo.copy(path, other, spaces=space, on_session=status.update))
    copied = [
        counted(tally.sessions, "session"),
        counted(tally.messages, "message"),
        counted(tally.summaries, "summary"),
        counted(tally.memories, "memory"),
        counted(tally.runs, "run"),
    ]
    return Answer(tally, f"{', '.join(copied)} → {shown(other)}: the same on both sides")


DryRun = Annotated[bool, flag("--dry-run", "Only say what would be done.")]


def migrate(dry_run: DryRun = False, db: Db = None) -> Answer:
    """Bring a database up to date after an upgrade.

    Whatever opens it does so as well. On a server, processes of the release before may continue meanwhile.
    """
    import asyncio

    where = existing(db)
    done = asyncio.run(ireneo.migrate(where, dry_run=dry_run))
    goes = "would go" if dry_run else "went"
    text = f"{shown(where)} is up to date at {done.after}."
    if done.applied:
        text = f"{shown(where)} {goes} from {done.before} to {done.after}: {', '.join(done.applied)}."
    return Answer(done, text)


Repair = Annotated[bool, flag("--repair", "Repair what can be repaired: summaries, indexes, leases …; never the log.")]
Quick = Annotated[bool, flag("--quick", "Don't check whether each message and row is what was stored.")]
ForSecrets = Annotated[
    bool,
    flag(
        "--secrets",
        "Look for stored keys, tokens and passwords instead; with --repair remove them from the log and everything "
        "else, down to the bytes of the file.",
    ),
]
_THINGS: dict[str, tuple[str, ...]] = {
    "messages": ("message",),
    "payloads": ("message's payload", "messages' payloads"),
    "summaries": ("summary",),
    "notes": ("note",),
    "names": ("name",),
    "leases": ("error of work that failed", "errors of work that failed"),
    "memories": ("memory",),
    "scratchpads": ("scratchpad",),
    "runs": ("run or what it showed", "runs and what they showed"),
    "files": ("name of a file", "names of files"),
}


def doctor(repair: Repair = False, quick: Quick = False, secrets: ForSecrets = False, *, stored: Stored) -> Answer:
    """Look for faults in a database.

    Checks the file as a whole, and each session of the space. It exits with 1 where a fault was found and not repaired.
    """
    from ireneo.faces.cli.screens.lists import show_findings

    if secrets and quick:
        raise BadInput("--quick leaves out checks that --secrets does not make; give one of them.")
    looked: Secrets | None = None
    with open_existing(stored) as memory:
        infos = memory.sessions()
        messages = sum(info.messages for info in infos)
        # The file is checked before the first message, and nobody knows how long that takes.
        with ProgressBars("the file", shown=bool(messages) and not quick) as bars:

            def report(done: Examined) -> None:
                bars.update(completed=done.messages, total=messages, description="messages")

            if secrets:
                looked = memory.secrets(repair=repair, on_progress=report)
                found = _secrets_found(looked)
            else:
                found = list(memory.doctor(repair=repair, quick=quick, on_progress=report))
    is_sound = all(each.kind == "note" or each.repaired for each in found)
    findings = [pick_attributes(each, "kind session text repaired advice") for each in found]
    data = {"sound": is_sound, "sessions": len(infos), "messages": messages, "findings": findings}

    def show() -> None:
        where = f"{shown(database(stored.db))} · space {stored.space}"
        show_findings(found, where=where, sessions=len(infos), messages=messages, quick=quick)

    return Answer(data | {"secrets": looked.found} if looked else data, show, failed=not is_sound)


def _secrets_found(looked: Secrets) -> list[Finding]:
    """The places where secrets were found, each as a finding."""
    from ireneo.types import Finding

    found = []
    for each in looked.found:
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in each.kinds.items())
        many = counted(sum(each.kinds.values()), "secret")
        text = f"{counted(each.things, *_THINGS[each.where])} with {many}: {kinds}"
        remedy = "`ireneo doctor --secrets --repair` removes them; later messages get new ids."
        advice = "Removed." if looked.repaired else remedy
        found.append(Finding(kind="fault", session=each.session, text=text, repaired=looked.repaired, advice=advice))
    if not looked.complete:
        text = "Bytes of what was removed, or forgotten before, may still be in the file."
        found.append(Finding(kind="fault", session="", text=text, advice=looked.note))
    elif not looked.found:
        text = "No secret was found: API keys, tokens, passwords and the like were looked for in all that is stored."
        found.append(Finding(kind="note", session="", text=text))
    if looked.complete and looked.note:
        found.append(Finding(kind="note", session="", text=looked.note))
    return found


class ForgetTarget(Struct, frozen=True, kw_only=True):
    """What to forget."""

    subject: Annotated[str, option("--subject", "NAME", "Everything known of a person or thing.")] = ""
    session: Annotated[
        str, option("--session", "ID", "A session, and what was derived from it alone.", known=sessions_begun)
    ] = ""
    message: Annotated[str, option("--message", "ID", "The text of a message.")] = ""
    memory: Annotated[str, option("--memory", "ID", "A memory.", known=memories_begun)] = ""
    everything: Annotated[str, option("--everything", "SPACE", "Everything in the space: give its name.")] = ""


Also = Annotated[
    list[str] | None,
    option("--also", "ID", "Also forget this memory or message, or `all` that may be meant; give it once for each."),
]


Preview = Annotated[bool, flag("--preview", "Only show what would go, and delete nothing.")]
MOST_SHOWN, WIDEST = 40, 300
"""The maximum number of lines that are shown of what is deleted, and the most characters of a line."""


def forget(
    *,
    goner: ForgetTarget,
    also: Also = None,
    preview: Preview = False,
    yes: Yes = False,
    as_json: AsJson = False,
    stored: Stored,
) -> Answer:
    """Forget something for good.

    Its text and everything that was derived from it alone, in every byte of the database. It asks first, and shows
    what goes, and what may be meant as well: sentences that speak of somebody by another name, the messages that said a
    memory.
    """
    named = {name: value for name, value in asdict(goner).items() if value}
    if len(named) != 1:
        raise BadInput("Say what to forget with one of --subject, --session, --message, --memory and --everything.")
    ((what, name),) = named.items()
    if what == "session":
        with open_existing(stored) as memory, suppress(SessionNotFound):
            # Lessons may name a session that is not stored.
            name = session_named(memory, name).id
    target = {"space" if what == "everything" else what: name}
    with waiting("Looking for what would be deleted …"), open_existing(stored) as memory:
        before = memory.forget(**target, preview=True)
        taken = list(dict.fromkeys(each.id for each in before.also)) if "all" in (also or ()) else list(also or ())
        before = memory.forget(**target, also=taken, preview=True) if taken else before
    if not as_json and (preview or not yes):
        _show_going(before, name)
    if not as_json:
        others = [each for each in before.also if not each.certain]
        by_name = [each for each in before.also if each.certain]
        _show_candidates("This is meant by another name, and stays unless you add --also ID, or --also all:", by_name)
        _show_candidates("This may be meant as well, and stays unless you add --also ID, or --also all:", others)
        _show_candidates("This stays, though it was said in a message that goes; --also ID takes it too:", before.stay)
    if not yes and not preview and (more := _ask_candidates(before)):
        taken += more
        with open_existing(stored) as memory:
            before = memory.forget(**target, also=taken, preview=True)
        _show_going(before, name)
    meant = f"{what} {name}" if what != "everything" else f"all of space {name}"
    note = f" {before.note}" if before.note else ""
    if preview:
        would = _list_counts(before)
        said = f"This would be forgotten: {would}.{note}" if would else f"Nothing is stored of {meant}."
        return Answer(before, one_line(said))
    question = f"Forget {meant} for good: {_list_counts(before) or 'nothing of it is stored'}?{note}"
    if not yes and not confirm(question, what=meant):
        raise typer.Exit(1)
    with waiting("Deleting …"), open_existing(stored) as memory:
        done = memory.forget(**target, also=taken, preview=False)
    own = dict.fromkeys(said for each in before.going for said in each.beside)
    lost = f" With it went {_quoted(own)}: `remember` again what is to stay." if own else ""
    return Answer(done, one_line(_forget_summary(done, meant) + lost), failed=not done.complete)


def _quoted(said: Iterable[str]) -> str:
    """Sentences in quotation marks."""
    return ", ".join(f"“{one_line(each)}”" for each in said)


def _show_going(receipt: ErasureReceipt, name: str) -> None:
    """Show the lines that would be deleted, and mark those that don't name the subject themselves."""
    if receipt.going:
        echo("This goes:")
    for each in receipt.going[:MOST_SHOWN]:
        apart = f" (doesn't name {one_line(name)})" if each.apart else ""
        apart += " (a rewind left it behind)" if each.undone else ""
        apart += f"; with it goes {_quoted(each.beside)}" if each.beside else ""
        text = one_line(each.text)
        # Of a long output the words around the name.
        start = max(0, text.casefold().find(name.casefold()) - WIDEST // 2) if len(text) > WIDEST else 0
        echo(f"  {short(each.id)}  “{'…' if start else ''}{cut(text[start:], WIDEST)}”{apart}")
    if len(receipt.going) > MOST_SHOWN:
        echo(f"  … and {len(receipt.going) - MOST_SHOWN:,} more")


def _show_candidates(heading: str, found: Sequence[ErasureCandidate]) -> None:
    if found:
        echo(heading)
    for each in found:
        # A memory may be a quotation already.
        said = one_line(each.text) if each.text.startswith("“") else f"“{one_line(each.text)}”"
        echo(f"  {short(each.id)}  {said if each.text.strip() else ''} ({one_line(each.why)})")


def _ask_candidates(receipt: ErasureReceipt) -> list[str]:
    """Ask at the terminal which of the other sentences to delete too."""
    if not is_interactive():
        return []
    ids = dict.fromkeys(each.id for each in receipt.also)
    return [name for name in ids if confirm(f"Forget {short(name)} as well?", what=name)]


def _forget_summary(receipt: ErasureReceipt, meant: str) -> str:
    listed = _list_counts(receipt)
    if not listed:
        return f"Nothing is stored of {meant}; nothing was deleted. {receipt.note}"
    left = "" if receipt.complete else " Some of it is still in the file."
    return f"Forgotten, {meant}: {listed}, at {local_time(receipt.at)}.{left} {receipt.note}"


_GONE = {
    "sessions": ("session",),
    "messages": ("message",),
    "summaries": ("summary",),
    "notes": ("note",),
    "memories": ("memory",),
    "pads": ("scratchpad",),
    "runs": ("run",),
    "observations": ("observation",),
    "files": ("file learned from", "files learned from"),
}


def _list_counts(receipt: ErasureReceipt) -> str:
    gone = receipt.what
    parts = [counted(number, *noun) for name, noun in _GONE.items() if (number := getattr(gone, name))]
    if gone.lessened:
        parts.append(f"{counted(gone.lessened, 'memory')} without some of their evidence")
    return ", ".join(parts)


Branch = Annotated[str, option("--branch", "NAME", "Forget this branch first.")]


def prune(session: SessionName, branch: Branch = "", yes: Yes = False, *, stored: Stored) -> Answer:
    """Delete what no branch leads to.

    Messages that a rewind left behind, and what was derived from them, for good. It asks first.
    """
    with open_session(stored, session) as named:
        title, due = named.id, named.prune(branch, dry_run=True)
    if not yes and (due.messages or branch) and not confirm(_prune_question(title, branch, due), what="messages"):
        raise typer.Exit(1)
    with waiting("Deleting …"), open_session(stored, title) as named:
        done = named.prune(branch)
    data = {"session": title, "dropped": branch or None} | pick_attributes(done, "messages tokens summaries")
    return Answer(data, _prune_summary(title, branch, done))


def _prune_question(title: str, branch: str, due: Pruned) -> str:
    what = f"{counted(due.messages, 'message')} ({due.tokens:,} tokens)"
    if not branch:
        return f"Delete {what} of {title} for good?"
    deleted = f"delete {what}" if due.messages else "delete no message, since other branches lead to all of them"
    return f"Forget branch {branch} of {title}, and {deleted}, for good?"


def _prune_summary(title: str, branch: str, done: Pruned) -> str:
    dropped = f"Branch {branch} of {title} is forgotten. " if branch else ""
    if not done.messages:
        return f"{dropped}Some branch leads to every message of {title}; nothing was deleted."
    what = f"{counted(done.messages, 'message')} ({done.tokens:,} tokens)"
    made = f" and {counted(done.summaries, 'summary')}" if done.summaries else ""
    verb = "was" if done.messages == 1 and not made else "were"
    return f"{dropped}{what}{made} {verb} deleted from {title}."
