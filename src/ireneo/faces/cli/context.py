"""`ireneo context`, `compact` and `snapshot`: a context of a session, a file or a message list."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, IreneoError, ReadOnlyStore, UnreadableLog
from ireneo.faces.cli.files import is_file, log_file, read_session
from ireneo.faces.cli.options import (
    AsJson,
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
from ireneo.faces.cli.output import catching_up, context_answer, waiting, write_json
from ireneo.faces.cli.screens.context import Ends, MessagePlace, ends_of, parts_of, place_of, places_of, rows_of

if TYPE_CHECKING:
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


ONE_CUT = (
    "--prices, --explain, --rebuild and --as are about a session that is kept; `ireneo import` the log, and "
    "name its session."
)


ONE_FILE = "--session and --format say how a file is read, and this is a session that is kept; leave them out."


OWN_PRESETS = {"chat": "story"}
"""How the logs of a format are cut, where that is not as an agent's work."""


class Cut(Struct, frozen=True, kw_only=True):
    """A context, and what a reader must know besides to look at it."""

    context: ireneo.Context
    title: str
    ends: list[Ends]


def context(
    named: Named,
    budget: Budget,
    preset: Preset = None,
    to: To = None,
    as_json: AsJson = False,
    *,
    cutting: Cutting,
    within: Within,
    stored: Stored,
) -> None:
    """Cut a session to a budget, and look at it.

    A file is read as it is, without any database. With --json: the payload itself, and what each part of it stands for.
    """
    if is_file(named):
        if cutting != Cutting():
            raise BadInput(ONE_CUT)
        with waiting("Cutting …"):
            cut = cut_file(named, budget, to=to, preset=preset, within=within)
    else:
        if within != Within():
            raise BadInput(ONE_FILE)
        with reading(stored) as memory:
            cut = cut_stored(memory, named, budget, to=to, preset=preset, cutting=cutting)
    if as_json:
        write_json(context_answer(cut.context))
    else:
        show_cut(cut)


def _format(named: str | None) -> FormatName | None:
    """The chat format that was named. Raises UnknownFormat."""
    return ireneo.chat_format(named).name if named else None


def cut_file(named: str, budget: int, *, to: str | None, preset: str | None, within: Within) -> Cut:
    """Cut a log on disk, or standard input."""
    logged, log = read_session(named, within.session, within.format)
    path = logged.path
    form = ireneo.chat_format(to or log.chat).name
    made = ireneo.compact(path, budget, to=form, preset=preset or OWN_PRESETS.get(log.name, "coding"))
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
    """Cut a session of the database; a story is caught up with first, as far as that needs no model."""
    how = cutting or Cutting()
    session = session_named(memory, named)
    # Where nothing can be written a context shows what there is, and what is behind.
    with catching_up() as step, suppress(ReadOnlyStore):
        session.catch_up(preset=preset, viewpoint=how.viewpoint, on_progress=step)
    # One after the other: two that draw on one line at a time would wipe each other out.
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
    """Show it on the screen."""
    # Only someone who looks pays for the drawing.
    from ireneo.faces.cli.output import console
    from ireneo.faces.cli.screens.context import show_context

    show_context(console(), cut.context, parts_of(cut.context, cut.ends), cut.title)


def _place(session: Session, position: int) -> MessagePlace:
    return place_of((session.messages(position, position))[0])


Messages = Annotated[str, argument("FILE", "A JSON list of messages, or an object with `messages`; - reads stdin.")]


def compact(file: Messages, budget: Budget, to: To = None, preset: Preset = None) -> None:
    """Cut a message list: messages in, messages out.

    They leave in the shape in which they came, and need no database.
    """
    with log_file(file) as given:
        data = given.read()
        label = given.label
    try:
        messages = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnreadableLog(f"{label} is no JSON ({fault}); for a log, take `ireneo context {file}`.") from fault
    try:
        cut = ireneo.compact(messages, budget, to=_format(to), preset=preset)
    except UnreadableLog as fault:
        raise UnreadableLog(f"{label}: {fault}.") from fault
    write_json(_shaped(messages, cut))


def _shaped(given: object, cut: ireneo.Context) -> object:
    """The messages as they came: in a list, or in an object with all that stood beside them."""
    if not isinstance(given, dict):
        if cut.system is None:
            return cut.messages
        given = {}
    listed, prompt = _KEYS.get(cut.format, _PLAIN)
    taken = {key for keys in (_PLAIN, *_KEYS.values()) for key in keys} | {"system_instruction"}
    beside = {key: value for key, value in given.items() if key not in taken}
    # One provider's prompt is a content of its own.
    told = {"parts": [{"text": cut.system}]} if cut.format == "gemini" else cut.system
    return {**beside, **({} if cut.system is None else {prompt: told}), listed: cut.messages}


_PLAIN = ("messages", "system")
_KEYS = {"openai-responses": ("input", "instructions"), "gemini": ("contents", "systemInstruction")}
"""What providers call the list and the prompt in the object that they take."""


UNCUT = 1_000_000_000
"""A budget that no session reaches."""
Out = Annotated[Path, option("--out -o", "DIR", "The folder for the file.", shown=True)]
Capped = Annotated[int | None, option("--budget -b", "TOKENS", "The most that it may cost.", shown="no cut")]


def snapshot(
    session: SessionName,
    budget: Capped = None,
    to: To = None,
    preset: Preset = None,
    out: Out = Path(),
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Write the exact payload into a dated file.

    Prints its path; no file is ever overwritten.
    """
    if not out.is_dir():
        raise BadInput(f"There is no folder {out}.")
    with session_in(stored, session) as named:
        id, context = named.id, named.context(UNCUT if budget is None else budget, to=_format(to), preset=preset)
    payload: dict[str, object] = {} if context.system is None else {"system": context.system}
    payload["messages"] = context.messages
    data = msgspec.json.format(msgspec.json.encode(payload), indent=2)
    path = _written(data + b"\n", id, out)
    if as_json:
        write_json({"path": str(path), "session": id, "format": context.format, "tokens": context.tokens})
    else:
        sys.stdout.write(f"{path}\n")


def _written(data: bytes, id: str, out: Path) -> Path:
    for path in _paths(id, out):
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        except OSError as fault:
            raise IreneoError(f"{path} can't be written: {fault.strerror}.") from fault
        try:
            with file:
                file.write(data)
        except BaseException:
            # Half a payload is worse than none.
            path.unlink()
            raise
        return path
    raise AssertionError("there is always another number")


def _paths(id: str, out: Path) -> Iterator[Path]:
    # A session may be called as no file may.
    name = re.sub(r"[^\w.@-]+", "_", id).strip(".") or "session"
    base = f"{name}-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
    yield out / f"{base}.json"
    for number in count(2):
        yield out / f"{base}-{number}.json"
