"""The commands on memories: remember, recall, history, list, change, archive and delete."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import typer
from msgspec import Struct
from msgspec.structs import asdict

from ireneo.errors import BadInput, EmbedderError, ReadOnlyStore
from ireneo.faces.cli.files import log_file, warn
from ireneo.faces.cli.options import (
    STDIN,
    As,
    Embedder,
    From,
    KeepSecrets,
    Scoped,
    Stored,
    Undone,
    Yes,
    argument,
    flag,
    memories_begun,
    open_existing,
    open_memory,
    option,
    parse_session,
    resolve_project,
    tokens,
    try_work,
)
from ireneo.faces.cli.output import (
    Answer,
    confirm,
    counted,
    day_end,
    day_start,
    local_time,
    one_line,
    pick_attributes,
    secret_lines,
    short,
    waiting,
)
from ireneo.faces.cli.place import database, existing
from ireneo.language.words import terms
from ireneo.plumbing import GENERAL, project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import (
        Deleted,
        EmbedReport,
        Fact,
        Kind,
        ListedState,
        MemoryDetails,
        RecallHit,
        RecallResults,
        Record,
        Remembered,
    )

NewMemory = Annotated[str, argument("TEXT", "What to remember, or - for standard input.")]
_OUTCOMES = {
    "added": "Remembered",
    "reinforced": "Known already, and counted once more",
    "superseded": "Remembered in place of what held before",
    "disputed": "Kept as disputed",
    "overturned": "Overturned",
    "ignored": "Left as it was",
}


class RememberOptions(Struct, frozen=True, kw_only=True):
    """What else is known of a memory."""

    kind: Annotated[
        str | None,
        option(
            "--kind -k",
            "KIND",
            "episodic (what happened), semantic (what is true), procedural (how it is done) or failure.",
            shown="as it reads",
        ),
    ] = None
    subject: Annotated[str, option("--subject", "NAME", "Of a fact: whom or what it is about.")] = ""
    attribute: Annotated[str, option("--attribute", "NAME", "Of a fact: what of it; a new value replaces it.")] = ""
    value: Annotated[str, option("--value", "WORDS", "Of a fact: the value alone, where the text says more.")] = ""
    task_type: Annotated[str, option("--task-type", "NAME", "Of steps: for which kind of task.")] = ""
    name: Annotated[str, option("--name", "NAME", "Of steps: what they are called; new ones are a new version.")] = ""
    signature: Annotated[str, option("--signature", "WORDS", "Of a failure: the action and the error.")] = ""
    against: Annotated[bool, flag("--against", "Evidence against it: it worked after all.")] = False
    adds: Annotated[bool, flag("--adds", "Of a fact: one more value beside the others, as for allergies.")] = False
    at: Annotated[str | None, option("--at", "TIME", "When it happened, or since when it is true; local time.")] = None
    until: Annotated[str | None, option("--until", "TIME", "Of a fact: when it ended.")] = None
    session: Annotated[str, option("--session", "ID", "The session that it comes from.")] = ""
    project: Annotated[
        str, option("--project -p", "NAME", "The project that it belongs to.", shown="the session's, or this folder's")
    ] = ""
    general: Annotated[bool, flag("--general", "It applies to every project.")] = False
    label: Annotated[list[str] | None, option("--label -l", "WORD", "A label; give it once for each.")] = None
    origin: Annotated[str | None, option("--origin", "WHO", "Who said it: user, agent, tool.", shown="user")] = None
    confidence: Annotated[float | None, option("--confidence", "SHARE", "How sure it is, from 0 to 1.")] = None
    salience: Annotated[float | None, option("--salience", "SHARE", "How much it matters, from 0 to 1.")] = None
    pinned: Annotated[bool, flag("--pinned", "Never archive it.")] = False

    def details(self) -> MemoryDetails:
        """Return the given options in the form that `Memory.remember` takes. Raises BadInput for a wrong time."""
        if self.general and self.project:
            raise BadInput("--project names one project and --general means all; give one of them.")
        given = asdict(self)
        general, labels = given.pop("general"), given.pop("label")
        here = "" if self.session else project_here(str(Path.cwd()))
        project = GENERAL if general else resolve_project(self.project) if self.project else here
        given |= {"at": day_start(self.at), "until": day_start(self.until), "project": project, "labels": labels}
        return cast("MemoryDetails", {name: value for name, value in given.items() if value not in (None, "", False)})


def remember(text: NewMemory, keep_secrets: KeepSecrets = False, *, telling: RememberOptions, stored: Stored) -> Answer:
    """Write a memory. Says what was done and why. What is known already is never doubled: it counts once more."""
    details = telling.details()
    words = _stdin() if text == STDIN else text
    path = database(stored.db)
    done = try_work(path, stored.space, lambda memory: memory.remember(words, **details), keep_secrets=keep_secrets)
    lines = [*remembered_lines(done), *secret_lines(done.redacted)]
    if done.names_no_call:
        lines.append("It names no command, so `ireneo check` won't warn of it: tell it with the command in `marks`.")
    if details.get("project") and not (telling.project or telling.general):
        lines.append("It belongs to this folder's project; --general makes it visible in all projects.")
    return Answer(remembered_answer(done), lines)


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadInput("Standard input is not in UTF-8.") from None


def remembered_answer(done: Remembered) -> dict[str, object]:
    """How an offered memory was settled, as JSON."""
    changed = [pick_attributes(each, "id state reason stale") for each in done.changed]
    about: dict[str, object] = {"changed": changed}
    if done.more:
        about["more"] = [remembered_answer(each) for each in done.more]
    if done.redacted:
        about["redacted"] = done.redacted
    return pick_attributes(done, "did reason") | pick_attributes(done.record, "id kind text at state") | about


def remembered_lines(done: Remembered) -> list[str]:
    """How an offered memory was settled, as lines."""
    record = done.record
    lines = [f"{_OUTCOMES[done.did]}: {record.kind} memory {short(record.id)}, {local_time(record.at)}.", done.reason]
    for each in done.changed:
        why = each.stale or each.reason
        state = "to be reconsidered" if each.stale else each.state
        lines.append(f"{short(each.id)} is {state}: {why}" if why else f"{short(each.id)} is {state}.")
    if record.kind == "procedural" and not record.task_type:
        lines.append("It has no task type: it is found by its words alone (--task-type).")
    return [one_line(line) for line in lines if line] + [line for each in done.more for line in remembered_lines(each)]


Question = Annotated[str, argument("TEXT", "The question, in words.", shown=False)]
Each = Annotated[
    str,
    option(
        "--each",
        "FILE",
        "Answer the questions in a file (or - for standard input), one a line, with one JSON list a line.",
        shown=False,
    ),
]


class RecallOptions(Struct, frozen=True, kw_only=True):
    """What may be found, and how it is shown."""

    kind: Annotated[
        str | None, option("--kind -k", "KIND", "Only memories of this kind.", shown="all, and messages")
    ] = None
    limit: Annotated[int, option("--limit -n", "N", "The most that are shown.", shown=True)] = 10
    budget: Annotated[int | None, tokens("--budget -b", "What they may cost together.", shown="any")] = None
    at: Annotated[str | None, option("--at", "TIME", "What held then; a day means its end.", shown="now")] = None
    session: From = None
    viewpoint: As = ""
    undone: Undone = False
    explain: Annotated[bool, flag("--explain", "Show how each score is made up.")] = False


def recall(
    text: Question = "",
    each: Each = "",
    *,
    wish: RecallOptions,
    scoped: Scoped,
    embedder: Embedder = None,
    stored: Stored,
) -> Answer | None:
    """Search memories and messages for what answers a question.

    Memories and messages alike, word for word, the best first.
    """
    if bool(text) == bool(each):
        raise BadInput("Give a question that is not empty, or a file of questions with --each.")
    from ireneo.faces.cli.screens.lists import show_recalled

    at, project = day_end(wish.at), scoped.name

    def find(memory: Memory, question: str) -> RecallResults:
        session, branch = parse_session(memory, wish.session)
        found = memory.recall(
            question,
            **{**asdict(wish), "at": at, "session": session, "branch": branch},
            # A session that was named is searched whatever folder the command runs in.
            project=None if session and scoped.project is None else project,
        )
        if found.note:
            warn(found.note)
        return found

    with open_memory(existing(stored.db), stored.space, embedder=embedder) as memory:
        _embed_missing(memory)
        for question in _questions(each) if each else ():
            answers = [recalled_answer(one) for one in find(memory, question)] if question else []
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            # A program that asks line by line waits for each answer.
            sys.stdout.buffer.flush()
        if each:
            return None
        with waiting("Searching …"):
            found = find(memory, text)
        asked = set(terms(text))
        # If the folder narrowed the search and some words were not found, another project may have a better answer.
        partly = scoped.project is None and not any(asked <= set(terms(each.text)) for each in found)
        hint = scoped.hint(memory) if (partly or not found) and not wish.session else ""
    return Answer(
        [recalled_answer(one) for one in found], lambda: show_recalled(found, text, budget=wish.budget, hint=hint)
    )


def _embed_missing(memory: Memory) -> None:
    """Make missing vectors; if the embedder does not answer, recall goes by words alone."""

    def report(done: EmbedReport) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"  {done.documents:,} vectors made\r")

    try:
        memory.embed(on_progress=report)
    except (EmbedderError, ReadOnlyStore) as error:
        warn(f"{error} What has no vector is searched by words alone.")


def recalled_answer(found: RecallHit) -> dict[str, object]:
    """A search result as JSON, with its whole text."""
    besides = {
        "source_id": found.source_id,
        "state": "" if found.state == "active" else found.state,
        "stale": found.stale,
        "reason": found.record.reason if found.record else "",
        "against": found.against,
        "parts": dict(found.parts),
    }
    return pick_attributes(found, "id kind text score at session sources") | {
        name: value for name, value in besides.items() if value
    }


def _questions(given: str) -> Iterator[str]:
    """Yield questions as they arrive; an empty string for a blank line."""
    with nullcontext() if given == STDIN else log_file(given) as file:
        for number, line in enumerate(file.lines() if file else sys.stdin.buffer, start=1):
            try:
                yield line.decode("utf-8").strip()
            except UnicodeDecodeError:
                label = file.label if file else "standard input"
                raise BadInput(f"{label}:{number}: The line is not in UTF-8.") from None


Subject = Annotated[str, argument("SUBJECT", "Whom or what it is about.")]
Attribute = Annotated[str | None, option("--attribute", "NAME", "Only this of it.", shown="all that is known")]
At = Annotated[str | None, option("--at", "TIME", "Only what held then; a day is its end.", shown="ever")]
Believed = Annotated[str | None, option("--believed", "TIME", "As it was known then; a day is its end.", shown="now")]


def history(
    subject: Subject,
    attribute: Attribute = None,
    at: At = None,
    believed: Believed = None,
    undone: Undone = False,
    *,
    scoped: Scoped,
    stored: Stored,
) -> Answer:
    """Show what was true of a subject, and when.

    What was true on a day (--at), and what was believed on a day (--believed).
    """
    from ireneo.faces.cli.screens.lists import show_history

    held, known = day_end(at), day_end(believed)
    with open_existing(stored) as memory:
        facts = memory.history(subject, attribute, at=held, believed_at=known, project=scoped.name, undone=undone)
        hint = "" if facts else scoped.hint(memory)
        naming = "" if facts else _mentions_note(memory, subject, scoped)
        own = not facts and _is_own_name(memory, subject, scoped)
    words = [subject, *([attribute] if attribute else [])]
    words += [f"at {local_time(held)}"] if held else []
    words += [f"as believed at {local_time(known)}"] if known else []
    title = " · ".join(one_line(word) for word in words)
    none = f"No fact with a value of its own is known of {title}; {naming}" if naming else ""
    none = none or f"Nothing is known of {title}.{hint}"
    if own:
        only = f" --attribute {shlex.quote(attribute)}" if attribute else ""
        none = f"{one_line(subject)} is what the user is called: `ireneo history user{only}{_scope_options(scoped)}`."
    now = datetime.now().astimezone()
    return Answer([_fact(each) for each in facts], lambda: show_history(facts, title, now, none, at=held))


def _mentions_note(memory: Memory, subject: str, scoped: Scoped) -> str:
    """Say how many memories name a subject and which command lists them; empty if none does."""
    found = memory.memories(text=subject, project=scoped.name, limit=MOST_NAMING)
    named = re.compile(rf"(?<!\w){re.escape(subject)}(?!\w)", re.IGNORECASE)
    number = sum(named.search(each.text) is not None for each in found)
    if not number:
        return ""
    name = "1 memory names" if number == 1 else f"{number:,}{' or more' if found.after else ''} memories name"
    return f"{name} it: `ireneo memories --text {shlex.quote(subject)}{_scope_options(scoped)}`."


def _is_own_name(memory: Memory, subject: str, scoped: Scoped) -> bool:
    """Whether this is the user's own name: what users say of themselves has the subject `user`."""
    asked = subject.strip().casefold()
    held = (memory.history("user", attribute, project=scoped.name) for attribute in ("name", "called"))
    names = (each.record.value.casefold() for found in held for each in found)
    return any(asked in (name, name.partition(" ")[0]) for name in names)


def _scope_options(scoped: Scoped) -> str:
    """The options with which another command searches in the same place."""
    everywhere = " --all-projects" if scoped.all_projects else ""
    return f" --project {shlex.quote(scoped.project)}" if scoped.project else everywhere


def _fact(fact: Fact) -> dict[str, object]:
    return (
        pick_attributes(fact.record, "id text subject attribute value state reason")
        | pick_attributes(fact, "against")
        | pick_attributes(fact.period, "start end")
        | pick_attributes(fact, "believed_from believed_to")
    )


MOST_NAMING = 100
"""The maximum number of memories that are read to count those that name a subject."""
Limit = Annotated[int, option("--limit -n", "N", "The most that are shown.", shown=True)]
Ids = Annotated[
    list[str], argument("ID…", "The memories, by their ids or the beginning of them.", known=memories_begun)
]
Past = Annotated[bool, flag("--past", "What was archived or became too old, when and why.")]


def fading(limit: Limit = 20, past: Past = False, *, stored: Stored) -> Answer:
    """Show what would be archived next, and why.

    An event is archived when it was seen once, was not asked for in two years, and its messages still tell it; other
    memories only when a space is full. Pinned memories are never archived.
    """
    from ireneo.faces.cli.screens.lists import show_archived, show_fading

    with open_existing(stored) as memory:
        if past:
            away = memory.archived(limit)
            data = [pick_attributes(each, "id kind text archived_at archived_why") for each in away]
            return Answer(data, partial(show_archived, away, stored.space))
        found = memory.archive_candidates(limit)
    data = [pick_attributes(each.record, "id kind text") | pick_attributes(each, "retention reason") for each in found]
    return Answer(data, partial(show_fading, found, stored.space))


def restore(ids: Ids, *, stored: Stored) -> Answer:
    """Bring back memories.

    What was archived, merged, or ended by mistake.
    """
    with open_existing(stored) as memory:
        back = memory.restore(ids)
    lines = [f"{counted(len(back), 'memory')} restored." if back else "Nothing to restore: what is named holds."]
    return Answer([each.id for each in back], [*lines, *(f"{short(each.id)}  {one_line(each.text)}" for each in back)])


class MemoryChoice(Struct, frozen=True, kw_only=True):
    """Which memories to list."""

    kind: Annotated[str | None, option("--kind -k", "KIND", "Only those of this kind.", shown="all")] = None
    subject: Annotated[str | None, option("--subject", "NAME", "Only facts about it.", shown="all")] = None
    label: Annotated[str | None, option("--label -l", "WORD", "Only those with this label.", shown="all")] = None
    state: Annotated[
        str | None,
        option(
            "--state", "STATE", "active, superseded, retired, disputed, archived, or any.", shown="active and disputed"
        ),
    ] = None
    text: Annotated[str, option("--text", "WORDS", "Only those with these words in them.")] = ""
    undone: Undone = False
    limit: Annotated[int, option("--limit -n", "N", "The most that are shown.", shown=True)] = 50
    after: Annotated[str, option("--after", "PLACE", "The next page, as the last one names it.")] = ""


def memories(*, choice: MemoryChoice, scoped: Scoped, stored: Stored) -> Answer:
    """List memories, the newest first. Those of this folder's project, and general ones."""
    from ireneo.faces.cli.screens.lists import show_memories

    with open_existing(stored) as memory:
        found = memory.memories(
            kind=cast("Kind | None", choice.kind),
            subject=choice.subject,
            project=scoped.name,
            label=choice.label,
            state=cast("ListedState | None", choice.state),
            text=choice.text,
            undone=choice.undone,
            limit=choice.limit,
            after=choice.after,
        )
        wanted = (choice.kind, choice.subject, choice.label, choice.state, choice.text, choice.after)
        hint = "" if found else scoped.hint(memory)
        if not found and not any(wanted) and memory.sessions():
            hint = f" `ireneo work` reads what users say to an assistant in the sessions that are there.{hint}"
    data = {"memories": [_memory(each) for each in found], "after": found.after}
    return Answer(data, lambda: show_memories(found, scoped.place(stored.space), hint, chosen=any(wanted)))


def _memory(record: Record) -> dict[str, object]:
    names = (
        "id kind text state reason subject attribute value at recorded origin trust confidence labels pinned archived"
    )
    projects = sorted({each for each in record.projects if each})
    return pick_attributes(record, names) | {
        "projects": projects,
        "sessions": record.sessions,
        "sources": record.sources,
    }


Id = Annotated[str, argument("ID", "The memory, by its id or the beginning of it.", known=memories_begun)]
NewText = Annotated[str | None, argument("[TEXT]", "Its new words.", shown=False)]


class MemoryWording(Struct, frozen=True, kw_only=True):
    """What to change of a memory."""

    subject: Annotated[str | None, option("--subject", "NAME", "Of a fact: whom or what it is about.")] = None
    attribute: Annotated[str | None, option("--attribute", "NAME", "Of a fact: what of it.")] = None
    value: Annotated[str | None, option("--value", "WORDS", "Of a fact: the value alone.")] = None
    at: Annotated[
        str | None, option("--at", "TIME", "Since when the new text is true.", shown="now, or the day of the event")
    ] = None
    label: Annotated[list[str] | None, option("--label -l", "WORD", "Its new labels, all of them; once for each.")] = (
        None
    )
    no_labels: Annotated[bool, flag("--no-labels", "Remove its labels.")] = False
    project: Annotated[str | None, option("--project -p", "NAME", "The project that it belongs to.")] = None
    general: Annotated[bool, flag("--general", "It applies to every project.")] = False
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Whether it is never archived.")] = None


def update(
    id: Id, text: NewText = None, keep_secrets: KeepSecrets = False, *, wording: MemoryWording, stored: Stored
) -> Answer:
    """Change a memory: its words, slot, labels, project or pin.

    What it said before stays in its history; what is not given stays as it is.
    """
    if wording.general and wording.project is not None:
        raise BadInput("--project names one project and --general means all; give one of them.")
    if wording.no_labels and wording.label:
        raise BadInput("--label gives it labels and --no-labels takes them away; give one of them.")
    project = GENERAL if wording.general else wording.project and resolve_project(wording.project)
    with open_memory(existing(stored.db), stored.space, keep_secrets=keep_secrets) as memory:
        done = memory.update(
            id,
            text=text,
            subject=wording.subject,
            attribute=wording.attribute,
            value=wording.value,
            labels=[] if wording.no_labels else wording.label,
            project=project,
            pinned=wording.pin,
            at=day_start(wording.at),
        )
    return _change_answer(done, "Changed")


MergedIds = Annotated[
    list[str], argument("ID…", "The memories that say the same; the first is the one that stays.", known=memories_begun)
]


def merge(
    ids: MergedIds,
    text: Annotated[str | None, option("--text", "WORDS", "The new words.", shown="as the first")] = None,
    *,
    stored: Stored,
) -> Answer:
    """Merge memories that say the same.

    The first one (a fact before an event) stays, with the evidence for all of them; the others are retired. With new
    words a new one takes the place of all, and holds since the first did.
    """
    with open_existing(stored) as memory:
        done = memory.merge(ids, text=text)
    return _change_answer(done, f"Merged {counted(len(ids), 'memory')} into")


def _change_answer(done: Record, did: str) -> Answer:
    projects = sorted({"all projects" if each == GENERAL else each for each in done.projects if each})
    about = [done.kind, done.state, *projects, *(f"#{each}" for each in done.labels), *(["pinned"] * done.pinned)]
    said = f"{did}: {short(done.id)} ({', '.join(about)})  {one_line(done.text)}"
    return Answer(_memory(done), [said, *([one_line(done.reason)] if done.reason else [])])


def delete(
    ids: Ids,
    source: Annotated[bool, flag("--source", "Also delete the messages that said so.")] = False,
    preview: Annotated[bool, flag("--preview", "Only show what would be deleted.")] = False,
    yes: Yes = False,
    *,
    stored: Stored,
) -> Answer:
    """Delete memories for good.

    With what was drawn from them alone, from every byte of the database. The messages that said so stay and are shown;
    --source deletes them as well. It asks first.
    """
    with open_existing(stored) as memory:
        done = memory.delete(ids, preview=True)
        if not preview:
            meant = counted(len(done.memories), "memory")
            meant += f" and {counted(len(done.sources), 'message')}" if source and done.sources else ""
            texts = "; ".join(one_line(each.text) for each in done.memories)
            if not yes and not confirm(f"Delete {meant} for good: {texts}?", what=meant):
                raise typer.Exit(1)
            with waiting("Deleting …"):
                done = memory.delete(ids, source=source)
    data: dict[str, object] = {"deleted": [] if preview else [each.id for each in done.memories]}
    data["sources"] = [pick_attributes(each, "session message text") for each in done.sources]
    return Answer(
        data | pick_attributes(done, "preview complete note"),
        _deletion_lines(done),
        failed=not (preview or done.complete),
    )


def _deletion_lines(done: Deleted) -> list[str]:
    did = "Would be deleted" if done.preview else "Deleted"
    lines = [f"{did}: {counted(len(done.memories), 'memory')}."]
    lines += [f"{short(each.id)}  {one_line(each.text)}" for each in done.memories]
    if done.sources:
        one = len(done.sources) == 1
        says = f"{'says' if one else 'say'} so"
        stay = says if done.preview else f"{says} and {'stays' if one else 'stay'}"
        also = f"--source deletes {'it' if one else 'them'} too, as does `ireneo forget`:"
        lines.append(f"{counted(len(done.sources), 'message')} {stay}; {also}")
    lines += [f"{short(each.message)}  {one_line(each.session)}: {one_line(each.text)}" for each in done.sources[:5]]
    return [*lines, done.note] if done.note else lines
