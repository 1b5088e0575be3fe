"""`ireneo remember`, `recall`, `history`, `fading` and `restore`: the memories of a space."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import typer
from msgspec import Struct

from ireneo.errors import BadInput, EmbedderError, ReadOnlyStore, SessionNotFound
from ireneo.faces.cli.files import warn
from ireneo.faces.cli.options import (
    BRANCH,
    STDIN,
    As,
    AsJson,
    Db,
    Embedder,
    KeepSecrets,
    Space,
    Stored,
    Undone,
    memories_begun,
    reading,
    session_named,
    tried,
    writing,
)
from ireneo.faces.cli.output import asked, begins, counted, one_line, said, short, write_json
from ireneo.faces.cli.place import DEFAULT_SPACE, database, existing

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import ArchiveCandidate, Embedded, Fact, Kind, MemoryDetails, RecallHit, RecallResults, Remembered

Words = Annotated[str, typer.Argument(metavar="TEXT", help="What is to be remembered, or - for standard input.")]
_DID = {
    "added": "Remembered",
    "reinforced": "Known already, and now told once more",
    "superseded": "Remembered in place of what held before",
    "disputed": "Kept as disputed",
    "overturned": "Overturned",
    "ignored": "Left as it was",
}


def _told(name: str, metavar: str, help: str) -> object:
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


class RememberOptions(Struct, frozen=True, kw_only=True):
    """What is told of a memory beside its text."""

    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="episodic (what happened), semantic (what is true), procedural (how it is done) or failure.",
            show_default="as it reads",
        ),
    ] = None
    subject: Annotated[str, _told("--subject", "NAME", "Of a fact: whom or what it is about.")] = ""
    attribute: Annotated[str, _told("--attribute", "NAME", "Of a fact: what of it; a new value replaces it.")] = ""
    value: Annotated[str, _told("--value", "WORDS", "Of a fact: the value alone, where the text says more.")] = ""
    task_type: Annotated[str, _told("--task-type", "NAME", "Of steps: for which kind of task.")] = ""
    name: Annotated[str, _told("--name", "NAME", "Of steps: what they are called; new ones are a new version.")] = ""
    signature: Annotated[str, _told("--signature", "WORDS", "Of a failure: the action and the error.")] = ""
    against: Annotated[bool, typer.Option("--against", help="It speaks against that: it worked after all.")] = False
    adds: Annotated[
        bool,
        typer.Option("--adds", help="Of a fact: a further value beside the others, as of the attribute allergy."),
    ] = False
    at: Annotated[str | None, _told("--at", "TIME", "When it happened, or since when it is so; local time.")] = None
    until: Annotated[str | None, _told("--until", "TIME", "Of a fact: when it ended.")] = None
    session: Annotated[str, _told("--session", "ID", "The session that it comes from.")] = ""
    project: Annotated[str, _told("--project", "NAME", "The project that it belongs to, and no other.")] = ""
    origin: Annotated[
        str | None,
        typer.Option("--origin", metavar="WHO", help="Whose word it is: user, agent, tool.", show_default="user"),
    ] = None
    confidence: Annotated[float | None, _told("--confidence", "SHARE", "How sure it is, from 0 to 1.")] = None
    salience: Annotated[float | None, _told("--salience", "SHARE", "How much it matters, from 0 to 1.")] = None
    pinned: Annotated[bool, typer.Option("--pinned", help="Never evict it.")] = False

    def told(self) -> MemoryDetails:
        """What was said, for the verb; what was not said is left out. Raises BadInput for a time that is none."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        given |= {"at": begins(self.at), "until": begins(self.until)}
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


def remembered_answer(done: Remembered) -> dict[str, object]:
    """What became of an offer, as JSON."""
    record = done.record
    return {
        "did": done.did,
        "reason": done.reason,
        "id": record.id,
        "kind": record.kind,
        "text": record.text,
        "at": record.at,
        "state": record.state,
        "changed": [
            {"id": each.id, "state": each.state, "reason": each.reason, "stale": each.stale} for each in done.changed
        ],
    }


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
    return "".join(f"  {one_line(line)}\n" for line in lines if line)


def _read(text: str) -> str:
    if text != STDIN:
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadInput("Standard input is not in UTF-8.") from None


Question = Annotated[str, typer.Argument(metavar="TEXT", help="What is asked, in words.", show_default=False)]
Each = Annotated[
    str,
    typer.Option(
        "--each",
        metavar="FILE",
        help="Answer the questions in a file (or - for standard input), one a line, with one JSON list a line.",
        show_default=False,
    ),
]
ONE_WAY = "Give a question, or a file of them with --each, and not both."


class RecallOptions(Struct, frozen=True, kw_only=True):
    """What may be found, and how it is told."""

    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", "-k", metavar="KIND", help="Only memories of this kind.", show_default="all, and messages"
        ),
    ] = None
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")] = 10
    budget: Annotated[
        int | None,
        typer.Option("--budget", "-b", metavar="TOKENS", help="What they may cost together.", show_default="any"),
    ] = None
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="What held then; a day means its end.", show_default="now"),
    ] = None
    session: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", metavar="ID", help="Only what comes from it, or from ID@BRANCH.", show_default="any"
        ),
    ] = None
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            metavar="NAME",
            help="Only what belongs to it, and what belongs to none.",
            show_default="all",
        ),
    ] = None
    as_: As = ""
    undone: Undone = False
    explain: Annotated[bool, typer.Option("--explain", help="Say what each score is made of.")] = False


def recall(
    text: Question = "",
    each: Each = "",
    as_json: AsJson = False,
    *,
    wish: RecallOptions,
    embedder: Embedder = None,
    stored: Stored,
) -> None:
    """Find what answers a question.

    Memories and messages alike, word for word, the best first.
    """
    if bool(text) == bool(each):
        raise BadInput(ONE_WAY)
    path = existing(stored.db)
    at = asked(wish.at)

    def find(memory: Memory, question: str) -> RecallResults:
        kind = cast("Kind | None", wish.kind)
        session, branch = _session(memory, wish.session)
        return memory.recall(
            question,
            kind=kind,
            limit=wish.limit,
            budget=wish.budget,
            at=at,
            session=session,
            branch=branch,
            project=wish.project,
            as_=wish.as_,
            undone=wish.undone,
            explain=wish.explain,
        )

    with writing(path, stored.space, embedder=embedder) as memory:
        catch_up(memory)
        for question in _questions(each) if each else ():
            answers = []
            if question:
                found = find(memory, question)
                _warn_of(found)
                answers = [recalled_answer(one) for one in found]
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            # Whoever asks line by line waits for the answer.
            sys.stdout.buffer.flush()
        if each:
            return
        found = find(memory, text)
    _warn_of(found)
    if as_json:
        write_json([recalled_answer(one) for one in found])
    else:
        from ireneo.faces.cli.screens.lists import show_recalled

        show_recalled(found, wish.budget)


def catch_up(memory: Memory) -> None:
    """Make the vectors that are missing, and say how it goes; one that has no answer is told with the first recall."""

    def tell(done: Embedded) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"  {done.documents:,} vectors made\r")

    try:
        memory.embed(on_progress=tell)
    except (EmbedderError, ReadOnlyStore) as error:
        warn(f"{error} It is looked for by the words alone where there is no vector.")


def _session(memory: Memory, name: str | None) -> tuple[str | None, str | None]:
    """The session that is meant, and the branch; one that is not stored may still be what a memory names."""
    if name is None:
        return None, None
    try:
        named = session_named(memory, name)
    except SessionNotFound:
        if BRANCH in name:
            raise
        return name, None
    return named.id, named.branch if name != named.id and BRANCH in name else None


def _warn_of(found: RecallResults) -> None:
    """Say what could not be done for an answer."""
    if found.note:
        warn(found.note)


def recalled_answer(found: RecallHit) -> dict[str, object]:
    """What was found, as JSON: its text whole."""
    answer: dict[str, object] = {
        "id": found.id,
        "kind": found.kind,
        "text": found.text,
        "score": found.score,
        "at": found.at,
        "session": found.session,
        "sources": list(found.sources),
        **({"source_id": found.source_id} if found.source_id else {}),
    }
    if found.state != "active":
        answer["state"] = found.state
    if found.stale:
        answer["stale"] = found.stale
    if found.record is not None and found.record.reason:
        answer["reason"] = found.record.reason
    if found.against:
        answer["against"] = list(found.against)
    if found.parts:
        answer["parts"] = dict(found.parts)
    return answer


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


Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")]
Attribute = Annotated[
    str | None, typer.Option("--attribute", metavar="NAME", help="Only this of it.", show_default="all that is known")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="TIME", help="Only what held then; a day is its end.", show_default="ever"),
]
Believed = Annotated[
    str | None,
    typer.Option("--believed", metavar="TIME", help="As it was known then; a day is its end.", show_default="now"),
]


def history(
    subject: Subject,
    attribute: Attribute = None,
    at: At = None,
    believed: Believed = None,
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Show what was true of a subject, and when.

    What was true on a day (--at), and what was believed on a day (--believed).
    """
    held, known = asked(at), asked(believed)
    with reading(stored.db, stored.space) as memory:
        facts = memory.history(subject, attribute, at=held, believed_at=known)
    if as_json:
        write_json([fact_answer(each) for each in facts])
        return
    from ireneo.faces.cli.screens.lists import show_history

    words = [subject, *([attribute] if attribute else [])]
    words += [f"at {said(held)}"] if held else []
    words += [f"as believed at {said(known)}"] if known else []
    show_history(facts, " · ".join(one_line(word) for word in words), datetime.now().astimezone())


def fact_answer(fact: Fact) -> dict[str, object]:
    """A stretch of a fact's history, as JSON."""
    record = fact.record
    return {
        "id": record.id,
        "text": record.text,
        "subject": record.subject,
        "attribute": record.attribute,
        "value": record.value,
        "state": record.state,
        "reason": record.reason,
        "against": list(fact.against),
        "start": fact.period.start,
        "end": fact.period.end,
        "believed_from": fact.believed_from,
        "believed_to": fact.believed_to,
    }


Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")]
Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="ID…", help="The memories, by their ids or the beginning of them.", autocompletion=memories_begun
    ),
]


def fading(limit: Limit = 20, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Show what would be put away next, and why.

    Nothing is put away before a space is full; pinned memories never are.
    """
    with reading(db, space) as memory:
        found = memory.archive_candidates(limit)
    if as_json:
        write_json([fading_answer(each) for each in found])
    else:
        from ireneo.faces.cli.screens.lists import show_fading

        show_fading(found, space)


def fading_answer(each: ArchiveCandidate) -> dict[str, object]:
    """A memory that fades, as JSON."""
    record = each.record
    return {
        "id": record.id,
        "kind": record.kind,
        "text": record.text,
        "retention": each.retention,
        "reason": each.reason,
    }


def restore(ids: Ids, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Take memories back that were put away."""
    with reading(db, space) as memory:
        back = memory.restore(ids)
    if as_json:
        write_json([each.id for each in back])
        return
    sys.stdout.write(f"  {counted(len(back), 'memory', 'memories')} taken back.\n")
    for each in back:
        sys.stdout.write(f"  {short(each.id)}  {one_line(each.text)}\n")
