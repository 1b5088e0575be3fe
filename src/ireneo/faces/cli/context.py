"""`ireneo context`, `compact` and `snapshot`: a context of a session, a file or a message list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, ReadOnlyStore, UnreadableLog
from ireneo.faces.cli.files import STORY, is_file, log_file, read_session
from ireneo.faces.cli.options import (
    Budget,
    Cutting,
    Preset,
    SessionName,
    Stored,
    To,
    Within,
    argument,
    option,
    reading,
    session_in,
    session_named,
    sessions_begun,
    title_of,
)
from ireneo.faces.cli.output import Answer, console, picked, plain, progress, waiting, write_json
from ireneo.faces.cli.screens.context import (
    Ends,
    MessagePlace,
    ends_of,
    parts_of,
    place_of,
    places_of,
    rows_of,
    show_context,
)

if TYPE_CHECKING:
    from ireneo import WorkResult
    from ireneo.sync import Memory, Session
    from ireneo.types import FormatName


Named = Annotated[
    str,
    argument(
        "SESSION|FILE",
        "A session of the database (SESSION@BRANCH for another branch), a log on disk, or - for standard input.",
        known=sessions_begun,
    ),
]


class Cut(Struct, frozen=True, kw_only=True):
    """A context with what its screen shows besides."""

    context: ireneo.Context
    title: str
    ends: list[Ends]


def context(
    named: Named,
    budget: Budget,
    preset: Preset = None,
    to: To = None,
    *,
    cutting: Cutting,
    within: Within,
    stored: Stored,
) -> Answer:
    """Cut a session to a budget, and look at it.

    A file is read as it is, without any database. With --json: the payload itself, and what each part of it stands for.
    """
    if is_file(named):
        if cutting != Cutting():
            raise BadInput(
                "--prices, --explain, --rebuild and --as are for stored sessions; `ireneo import` the log, and "
                "name its session."
            )
        with waiting("Cutting …"):
            cut = cut_file(named, budget, to=to, preset=preset, within=within)
    else:
        if within != Within():
            raise BadInput("--session and --format say how a file is read; leave them out for a stored session.")
        with reading(stored) as memory:
            cut = cut_stored(memory, named, budget, to=to, preset=preset, cutting=cutting)
    return Answer(_payload(cut.context), lambda: show_cut(cut))


def _payload(context: ireneo.Context) -> dict[str, object]:
    """A context as JSON; a system prompt stands apart only where its format keeps it apart."""
    names = "budget system tokens" if context.system is not None else "budget tokens"
    names += " tokens_before format messages view violations repaired pins behind"
    names += " unkept" if context.unkept else ""
    return picked(context, f"{names} explained" if context.explained else names)


def _format(named: str | None) -> FormatName | None:
    """Return the name of a chat format. Raises UnknownFormat."""
    return ireneo.chat_format(named).name if named else None


def cut_file(named: str, budget: int, *, to: str | None, preset: str | None, within: Within) -> Cut:
    """Cut a log on disk, or standard input."""
    logged, log = read_session(named, within.session, within.format)
    path = logged.path
    form = ireneo.chat_format(to or log.chat).name
    made = ireneo.compact(path, budget, to=form, preset=preset or ("story" if log.name == STORY else "coding"))
    places = places_of(path)
    ends = [(places[first], places[last]) for first, last in ends_of(rows_of(made))]
    return Cut(context=made, title=f"{logged.id} · {log.name} → {made.format}", ends=ends)


def cut_stored(
    memory: Memory,
    named: str,
    budget: int,
    *,
    to: str | None = None,
    preset: str | None = None,
    cutting: Cutting | None = None,
) -> Cut:
    """Cut a stored session; the summaries of a story that need no model are written first."""
    how = cutting or Cutting()
    session = session_named(memory, named)
    with progress("summarising", visible=False) as update, suppress(ReadOnlyStore):

        def report(done: WorkResult) -> None:
            messages = done.last_position + 1
            update(completed=messages, total=messages + done.behind)

        session.catch_up(preset=preset, viewpoint=how.viewpoint, on_progress=report)
    # One after the other: two displays on one line would overwrite each other.
    with waiting("Cutting …"):
        made = session.context(
            budget,
            to=_format(to),
            preset=preset,
            prices=how.prices,
            explain=how.explain,
            rebuild=how.rebuild,
            viewpoint=how.viewpoint,
        )
    ends = [(_place(session, first), _place(session, last)) for first, last in ends_of(rows_of(made))]
    return Cut(context=made, title=f"{title_of(session)} → {made.format}", ends=ends)


def show_cut(cut: Cut) -> None:
    """Show a context on the screen."""
    show_context(console(), cut.context, parts_of(cut.context, cut.ends), cut.title)


def _place(session: Session, position: int) -> MessagePlace:
    return place_of((session.messages(position, position))[0])


Messages = Annotated[str, argument("FILE", "A JSON list of messages, or an object with `messages`; - reads stdin.")]


def compact(file: Messages, budget: Budget, to: To = None, preset: Preset = None) -> None:
    """Cut a message list: messages in, messages out.

    They keep their shape, and need no database.
    """
    with log_file(file) as given:
        data = given.read()
        label = given.label
    try:
        messages = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnreadableLog(f"{label} is not JSON ({fault}); for a log, use `ireneo context {file}`.") from fault
    try:
        cut = ireneo.compact(messages, budget, to=_format(to), preset=preset)
    except UnreadableLog as fault:
        raise UnreadableLog(f"{label}: {fault}.") from fault
    write_json(_shaped(messages, cut))


def _shaped(given: object, cut: ireneo.Context) -> object:
    """Put the messages into the shape of the input: a list, or an object with everything beside them."""
    if not isinstance(given, dict):
        if cut.system is None:
            return cut.messages
        given = {}
    listed, prompt = _KEYS.get(cut.format, _PLAIN)
    taken = {key for keys in (_PLAIN, *_KEYS.values()) for key in keys} | {"system_instruction"}
    beside = {key: value for key, value in given.items() if key not in taken}
    told = {"parts": [{"text": cut.system}]} if cut.format == "gemini" else cut.system
    return {**beside, **({} if cut.system is None else {prompt: told}), listed: cut.messages}


_PLAIN = ("messages", "system")
_KEYS = {"openai-responses": ("input", "instructions"), "gemini": ("contents", "systemInstruction")}
"""The keys of the list and of the prompt, by format."""


Out = Annotated[Path, option("--out -o", "DIR", "The folder for the file.", shown=True)]
Capped = Annotated[int | None, option("--budget -b", "TOKENS", "The most that it may cost.", shown="no cut")]


def snapshot(
    session: SessionName,
    budget: Capped = None,
    to: To = None,
    preset: Preset = None,
    out: Out = Path(),
    *,
    stored: Stored,
) -> Answer:
    """Write the exact payload into a dated file.

    Prints its path; no file is ever overwritten.
    """
    if not out.is_dir():
        raise BadInput(f"There is no folder {out}.")
    with session_in(stored, session) as named:
        id, context = named.id, named.context(budget or 1_000_000_000, to=_format(to), preset=preset)
    payload: dict[str, object] = {} if context.system is None else {"system": context.system}
    payload["messages"] = context.messages
    data = msgspec.json.format(msgspec.json.encode(payload), indent=2)
    path = _written(data + b"\n", id, out)
    about = picked(context, "format tokens")
    return Answer({"path": str(path), "session": id} | about, plain(f"{path}\n"))


def _written(data: bytes, id: str, out: Path) -> Path:
    for path in _paths(id, out):
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        except OSError as fault:
            raise BadInput(f"{path} can't be written: {fault.strerror}.") from fault
        try:
            with file:
                file.write(data)
        except BaseException:
            path.unlink()
            raise
        return path
    raise AssertionError("there is always another number")


def _paths(id: str, out: Path) -> Iterator[Path]:
    # The name of a session may not be that of a file.
    name = re.sub(r"[^\w.@-]+", "_", id).strip(".") or "session"
    base = f"{name}-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
    yield out / f"{base}.json"
    for number in count(2):
        yield out / f"{base}-{number}.json"
