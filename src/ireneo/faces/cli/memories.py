"""`ireneo remember`, `recall`, `history`, `fading` and `restore`: the memories of a space."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ireneo.errors import BadInput, EmbedderError, ReadOnlyStore
from ireneo.faces.cli.files import warn
from ireneo.faces.cli.options import (
    STDIN,
    As,
    AsJson,
    Embedder,
    From,
    KeepSecrets,
    Scoped,
    Stored,
    Undone,
    argument,
    flag,
    memories_begun,
    option,
    project_meant,
    reading,
    session_asked,
    tokens,
    tried,
    writing,
)
from ireneo.faces.cli.output import asked, begins, counted, one_line, picked, said, short, tell, write_json
from ireneo.faces.cli.place import database, existing
from ireneo.plumbing import GENERAL, project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Embedded, Fact, MemoryDetails, RecallHit, RecallResults, Remembered

Words = Annotated[str, argument("TEXT", "What is to be remembered, or - for standard input.")]
_DID = {
    "added": "Remembered",
    "reinforced": "Known already, and now told once more",
    "superseded": "Remembered in place of what held before",
    "disputed": "Kept as disputed",
    "overturned": "Overturned",
    "ignored": "Left as it was",
}


class RememberOptions(Struct, frozen=True, kw_only=True):
    """What is told of a memory beside its text."""

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
    against: Annotated[bool, flag("--against", "It speaks against that: it worked after all.")] = False
    adds: Annotated[
        bool, flag("--adds", "Of a fact: a further value beside the others, as of the attribute allergy.")
    ] = False
    at: Annotated[str | None, option("--at", "TIME", "When it happened, or since when it is so; local time.")] = None
    until: Annotated[str | None, option("--until", "TIME", "Of a fact: when it ended.")] = None
    session: Annotated[str, option("--session", "ID", "The session that it comes from.")] = ""
    project: Annotated[
        str, option("--project -p", "NAME", "The project that it belongs to.", shown="the session's, or this folder's")
    ] = ""
    general: Annotated[bool, flag("--general", "It is meant for every project.")] = False
    label: Annotated[list[str] | None, option("--label -l", "WORD", "A label; give it once for each.")] = None
    origin: Annotated[str | None, option("--origin", "WHO", "Whose word it is: user, agent, tool.", shown="user")] = (
        None
    )
    confidence: Annotated[float | None, option("--confidence", "SHARE", "How sure it is, from 0 to 1.")] = None
    salience: Annotated[float | None, option("--salience", "SHARE", "How much it matters, from 0 to 1.")] = None
    pinned: Annotated[bool, flag("--pinned", "Never evict it.")] = False

    def told(self) -> MemoryDetails:
        """What was said, for the verb; what was not said is left out. Raises BadInput for a time that is none."""
        if self.general and self.project:
            raise BadInput("--project names one and --general means all; give one of them.")
        given = asdict(self)
        general, labels = given.pop("general"), given.pop("label")
        here = "" if self.session else project_here(str(Path.cwd()))
        project = GENERAL if general else project_meant(self.project) if self.project else here
        given |= {"at": begins(self.at), "until": begins(self.until), "project": project, "labels": labels}
        return cast("MemoryDetails", {name: value for name, value in given.items() if value not in (None, "", False)})


def remember(
    text: Words, as_json: AsJson = False, keep_secrets: KeepSecrets = False, *, telling: RememberOptions, stored: Stored
) -> None:
    """Write a memory.

    Says what was done and why. What is known already is never doubled: it counts once more.
    """
    told = telling.told()
    words = _read(text)
    path = database(stored.db)
    done = tried(path, stored.space, lambda memory: memory.remember(words, **told), keep_secrets=keep_secrets)
    if as_json:
        write_json(remembered_answer(done))
    else:
        sys.stdout.write(told_of(done))
        if told.get("project") and not (telling.project or telling.general):
            tell("It belongs to this folder's project; --general makes it visible in all projects.")


def remembered_answer(done: Remembered) -> dict[str, object]:
    """What became of an offer, as JSON."""
    changed = [picked(each, "id state reason stale") for each in done.changed]
    about: dict[str, object] = {"changed": changed}
    if done.more:
        about["more"] = [remembered_answer(each) for each in done.more]
    return picked(done, "did reason") | picked(done.record, "id kind text at state") | about


def told_of(done: Remembered) -> str:
    """What became of an offer, for a reader."""
    record = done.record
    lines = [f"{_DID[done.did]}: {record.kind} memory {short(record.id)}, {said(record.at)}.", done.reason]
    for each in done.changed:
        why = each.stale or each.reason
        state = "to be reconsidered" if each.stale else each.state
        lines.append(f"{short(each.id)} is {state}: {why}" if why else f"{short(each.id)} is {state}.")
    if record.kind == "procedural" and not record.task_type:
        lines.append("It has no task type: recall finds it by its words, but no brief shows it (--task-type).")
    return "".join(f"  {one_line(line)}\n" for line in lines if line) + "".join(map(told_of, done.more))


def _read(text: str) -> str:
    if text != STDIN:
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadInput("Standard input is not in UTF-8.") from None


Question = Annotated[str, argument("TEXT", "What is asked, in words.", shown=False)]
Each = Annotated[
    str,
    option(
        "--each",
        "FILE",
        "Answer the questions in a file (or - for standard input), one a line, with one JSON list a line.",
        shown=False,
    ),
]
ONE_WAY = "Give a question that is not empty, or a file of questions with --each."


class RecallOptions(Struct, frozen=True, kw_only=True):
    """What may be found, and how it is told."""

    kind: Annotated[
        str | None, option("--kind -k", "KIND", "Only memories of this kind.", shown="all, and messages")
    ] = None
    limit: Annotated[int, option("--limit -n", "N", "At most so many.", shown=True)] = 10
    budget: Annotated[int | None, tokens("--budget -b", "What they may cost together.", shown="any")] = None
    at: Annotated[str | None, option("--at", "TIME", "What held then; a day means its end.", shown="now")] = None
    session: From = None
    viewpoint: As = ""
    undone: Undone = False
    explain: Annotated[bool, flag("--explain", "Say what each score is made of.")] = False


def recall(
    text: Question = "",
    each: Each = "",
    as_json: AsJson = False,
    *,
    wish: RecallOptions,
    scoped: Scoped,
    embedder: Embedder = None,
    stored: Stored,
) -> None:
    """Search memories and messages for what answers a question.

    Memories and messages alike, word for word, the best first.
    """
    if bool(text) == bool(each):
        raise BadInput(ONE_WAY)
    path = existing(stored.db)
    at, project = asked(wish.at), scoped.seen_by(wish.viewpoint)

    def find(memory: Memory, question: str) -> RecallResults:
        session, branch = session_asked(memory, wish.session)
        found = memory.recall(
            question, **{**asdict(wish), "at": at, "session": session, "branch": branch}, project=project
        )
        if found.note:
            warn(found.note)
        return found

    with writing(path, stored.space, embedder=embedder) as memory:
        catch_up(memory)
        for question in _questions(each) if each else ():
            answers = [recalled_answer(one) for one in find(memory, question)] if question else []
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            # Whoever asks line by line waits for the answer.
            sys.stdout.buffer.flush()
        if each:
            return
        found = find(memory, text)
        hint = "" if found else scoped.hint(memory)
    if as_json:
        write_json([recalled_answer(one) for one in found])
    else:
        from ireneo.faces.cli.screens.lists import show_recalled

        show_recalled(found, text, budget=wish.budget, hint=hint)


def catch_up(memory: Memory) -> None:
    """Make the vectors that are missing, and say how it goes; one that has no answer is told with the first recall."""

    def tell(done: Embedded) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"  {done.documents:,} vectors made\r")

    try:
        memory.embed(on_progress=tell)
    except (EmbedderError, ReadOnlyStore) as error:
        warn(f"{error} It is looked for by the words alone where there is no vector.")


def recalled_answer(found: RecallHit) -> dict[str, object]:
    """What was found, as JSON: its text whole."""
    besides = {
        "source_id": found.source_id,
        "state": "" if found.state == "active" else found.state,
        "stale": found.stale,
        "reason": found.record.reason if found.record else "",
        "against": found.against,
        "parts": dict(found.parts),
    }
    return picked(found, "id kind text score at session sources") | {
        name: value for name, value in besides.items() if value
    }


def _questions(given: str) -> Iterator[str]:
    """The questions, as they come in; an empty one for a blank line."""
    if given == STDIN:
        yield from _lines(sys.stdin.buffer, "standard input")
        return
    try:
        file = open(given, "rb")  # noqa: SIM115 - what can't be opened is told apart from what fails later
    except FileNotFoundError:
        raise BadInput(f"There is no file {given}.") from None
    except OSError as fault:
        raise BadInput(f"{given} can't be read: {fault.strerror}.") from fault
    with file:
        yield from _lines(file, given)


def _lines(file: Iterable[bytes], label: str) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        try:
            yield line.decode("utf-8").strip()
        except UnicodeDecodeError:
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
    as_json: AsJson = False,
    *,
    scoped: Scoped,
    stored: Stored,
) -> None:
    """Show what was true of a subject, and when.

    What was true on a day (--at), and what was believed on a day (--believed).
    """
    held, known = asked(at), asked(believed)
    with reading(stored) as memory:
        facts = memory.history(subject, attribute, at=held, believed_at=known, project=scoped.name)
        hint = "" if facts else scoped.hint(memory)
    if as_json:
        write_json([fact_answer(each) for each in facts])
        return
    from ireneo.faces.cli.screens.lists import show_history

    words = [subject, *([attribute] if attribute else [])]
    words += [f"at {said(held)}"] if held else []
    words += [f"as believed at {said(known)}"] if known else []
    show_history(facts, " · ".join(one_line(word) for word in words), datetime.now().astimezone(), hint)


def fact_answer(fact: Fact) -> dict[str, object]:
    """A stretch of a fact's history, as JSON."""
    return (
        picked(fact.record, "id text subject attribute value state reason")
        | picked(fact, "against")
        | picked(fact.period, "start end")
        | picked(fact, "believed_from believed_to")
    )


Limit = Annotated[int, option("--limit -n", "N", "At most so many.", shown=True)]
Ids = Annotated[
    list[str], argument("ID…", "The memories, by their ids or the beginning of them.", known=memories_begun)
]


Past = Annotated[bool, flag("--past", "What was put away, when and why, the last first.")]


def fading(limit: Limit = 20, past: Past = False, as_json: AsJson = False, *, stored: Stored) -> None:
    """Show what would be put away next, and why.

    By itself an event goes that was told once and not asked for in two years, as far as its messages tell it still; all
    else where a space is full. Pinned memories never go.
    """
    from ireneo.faces.cli.screens.lists import show_archived, show_fading

    with reading(stored) as memory:
        away = memory.archived(limit) if past else ()
        found = () if past else memory.archive_candidates(limit)
    if as_json and past:
        write_json([picked(each, "id kind text archived_at archived_why") for each in away])
    elif as_json:
        write_json([picked(each.record, "id kind text") | picked(each, "retention reason") for each in found])
    elif past:
        show_archived(away, stored.space)
    else:
        show_fading(found, stored.space)


def restore(ids: Ids, as_json: AsJson = False, *, stored: Stored) -> None:
    """Take memories back that were put away."""
    with reading(stored) as memory:
        back = memory.restore(ids)
    if as_json:
        write_json([each.id for each in back])
        return
    tell(f"{counted(len(back), 'memory', 'memories')} taken back.")
    for each in back:
        tell(f"{short(each.id)}  {one_line(each.text)}")
