"""`ireneo recall`: find what answers a question, among memories and what was said."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, EmbedderError, ReadOnlyStore, SessionNotFound
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import STDIN, As, AsJson, Embedder, Stored, Undone
from ireneo.faces.cli.stored import BRANCH, existing, session_named, writing
from ireneo.faces.cli.times import asked
from ireneo.faces.cli.warnings import warn

if TYPE_CHECKING:
    from ireneo.types import Kind, Recalled, Recollection

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


class Wish(Struct, frozen=True, kw_only=True):
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
    wish: Wish,
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

    async def find(memory: ireneo.Memory, question: str) -> Recollection:
        kind = cast("Kind | None", wish.kind)
        session, branch = await _session(memory, wish.session)
        return await memory.recall(
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

    async def answer(memory: ireneo.Memory) -> Recollection:
        await catch_up(memory)
        return await find(memory, text)

    async def answer_each(memory: ireneo.Memory) -> None:
        await catch_up(memory)
        for question in _questions(each):
            answers = []
            if question:
                found = await find(memory, question)
                _warn_of(found)
                answers = [recalled_answer(one) for one in found]
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            # Whoever asks line by line waits for the answer.
            sys.stdout.buffer.flush()

    if each:
        writing(path, stored.space, answer_each, embedder=embedder)
        return
    found = writing(path, stored.space, answer, embedder=embedder)
    _warn_of(found)
    if as_json:
        write_json([recalled_answer(one) for one in found])
    else:
        from ireneo.faces.cli.screens.memories import show_recalled

        show_recalled(found, wish.budget)


async def catch_up(memory: ireneo.Memory) -> None:
    """Make the vectors that are missing, and say how it goes; one that has no answer is told with the first recall."""
    done = 0
    try:
        async for embedded in memory.embed():
            done += embedded.documents
            if sys.stderr.isatty():
                sys.stderr.write(f"  {done:,} vectors made\r")
    except (EmbedderError, ReadOnlyStore) as error:
        warn(f"{error} It is looked for by the words alone where there is no vector.")


async def _session(memory: ireneo.Memory, name: str | None) -> tuple[str | None, str | None]:
    """The session that is meant, and the branch; one that is not stored may still be what a memory names."""
    if name is None:
        return None, None
    try:
        named = await session_named(memory, name)
    except SessionNotFound:
        if BRANCH in name:
            raise
        return name, None
    return named.id, named.branch if name != named.id and BRANCH in name else None


def _warn_of(found: Recollection) -> None:
    """Say what could not be done for an answer."""
    if found.note:
        warn(found.note)


def recalled_answer(found: Recalled) -> dict[str, object]:
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
