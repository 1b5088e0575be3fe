"""`ireneo context`, `compact` and `snapshot`: contexts of a session, a file or a message list, and their screen."""

from __future__ import annotations

import re
from bisect import bisect_left
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate, count, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.errors import BadInput, ReadOnlyStore, UnknownFormat, UnreadableLog
from ireneo.faces.cli.files import is_file, log_file, read_session, warn
from ireneo.faces.cli.options import (
    Budget,
    Cutting,
    Preset,
    SessionName,
    Stored,
    To,
    Within,
    argument,
    flag,
    open_existing,
    open_session,
    option,
    session_named,
    sessions_begun,
    title_of,
    tokens,
)
from ireneo.faces.cli.output import (
    Answer,
    Column,
    ProgressBars,
    console,
    counted,
    in_lines,
    is_coloured,
    pick_attributes,
    plain,
    printable,
    short,
    show_columns,
    show_labelled,
    show_title,
    waiting,
    write_json,
)
from ireneo.plumbing import is_story, shaped_as

if TYPE_CHECKING:
    from ireneo import WorkResult
    from ireneo.sync import Memory
    from ireneo.types import FormatName


Named = Annotated[
    str,
    argument(
        "SESSION|FILE",
        "A session of the database (SESSION@BRANCH for another branch), a log on disk, or - for standard input.",
        known=sessions_begun,
    ),
]


AsText = Annotated[bool, flag("--text", "Print what the model reads, whole, instead of a table.")]


class Cut(Struct, frozen=True, kw_only=True):
    """A context, and what its screen shows of the session."""

    context: ireneo.Context
    title: str
    parts: list[Part]


def context(
    named: Named,
    budget: Budget,
    preset: Preset = None,
    to: To = None,
    text: AsText = False,
    *,
    cutting: Cutting,
    within: Within,
    stored: Stored,
) -> Answer:
    """Cut a session to a budget, and look at it.

    A file is read as it is, without any database. With --text: what the model reads, blocks and messages, whole. With
    --json: the payload itself, and what each part of it stands for.
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
        with open_existing(stored) as memory:
            cut = cut_stored(memory, named, budget, to=to, preset=preset, cutting=cutting)
    whole = plain("\n\n".join(printable(row.text) for row in rows_of(cut.context)) + "\n")
    return Answer(_payload(cut.context), whole if text else lambda: show_cut(cut))


def _payload(context: ireneo.Context) -> dict[str, object]:
    """A context as JSON; the system prompt has a key of its own only if its format keeps it separate."""
    names = "budget system tokens" if context.system is not None else "budget tokens"
    names += " tokens_before format messages view violations repaired pins behind"
    names += " unkept" if context.unkept else ""
    return pick_attributes(context, f"{names} explained" if context.explained else names)


def _format(named: str | None) -> FormatName | None:
    """Return the name of a chat format. Raises UnknownFormat."""
    return ireneo.chat_format(named).name if named else None


def cut_file(named: str, budget: int, *, to: str | None, preset: str | None, within: Within) -> Cut:
    """Cut a log on disk, or standard input."""
    logged, log = read_session(named, within.session, within.format)
    path = logged.path
    form = ireneo.chat_format(to or log.chat).name
    made = ireneo.compact(path, budget, to=form, preset=preset or ("story" if is_story(log.name) else "coding"))
    places = places_of(path)
    title = f"{logged.id} · {log.name} → {made.format}"
    return Cut(context=made, title=title, parts=parts_of(made, dict(enumerate(places))))


LOOKED_AT = 2_000
"""How many first messages are searched for who was present."""


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
    with ProgressBars("summarising (`ireneo work` does it ahead)") as bars, suppress(ReadOnlyStore):

        def report(done: WorkResult) -> None:
            messages = done.last_position + 1
            bars.update(completed=messages, total=messages + done.behind)

        session.catch_up(preset=preset, viewpoint=how.viewpoint, on_progress=report)
    if how.viewpoint and not any(message.draft.present is not None for message in session.messages(0, LOOKED_AT)):
        warn(f"No message says who was there (`present`), so {how.viewpoint} is shown what anybody said.")
    # Not at the same time: two displays on one line would overwrite each other.
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

    places: dict[int, MessagePlace] = {}
    # Neighbours are read together: most rows of a wide context are single messages.
    ends = sorted({end for ends in ends_of(made) for end in ends})
    for _, run in groupby(enumerate(ends), lambda each: each[1] - each[0]):
        positions = [position for _, position in run]
        for position, message in zip(positions, session.messages(positions[0], positions[-1]), strict=True):
            places[position] = MessagePlace(message.role, message.draft.origin == "spoken", message.turn)
    return Cut(context=made, title=f"{title_of(session)} → {made.format}", parts=parts_of(made, places))


Messages = Annotated[str, argument("FILE", "A JSON list of messages, or an object with `messages`; - reads stdin.")]


def compact(file: Messages, budget: Budget, to: To = None, preset: Preset = None) -> None:
    """Cut a message list: messages in, messages out. They keep their shape, and need no database."""
    with log_file(file) as given:
        # Windows writes a byte order mark before UTF-8.
        data = given.read().removeprefix(BOM_UTF8)
        label = given.label
    if not data.strip():
        raise UnreadableLog(f"{label} is empty.")
    try:
        messages = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        use = f"it is a log: use `ireneo context {file}`" if _is_log(data, label) else "give a JSON list of messages"
        raise UnreadableLog(f"{label} is not JSON ({fault}); {use}.") from fault
    try:
        with waiting("Cutting …"):
            cut = ireneo.compact(messages, budget, to=_format(to), preset=preset)
    except UnreadableLog as fault:
        raise UnreadableLog(f"{label}: {fault}") from fault
    write_json(shaped_as(messages, cut))


def _is_log(data: bytes, label: str) -> bool:
    with suppress(UnknownFormat):
        ireneo.recognise(data, label)
        return True
    return False


_NO_LIMIT = 1_000_000_000
"""A budget that every session fits."""
Out = Annotated[Path, option("--out -o", "DIR", "The folder for the file.", shown=True)]
Capped = Annotated[int | None, tokens("--budget -b", "The most that it may cost; 32k means 32000.", shown="no cut")]


def snapshot(
    session: SessionName,
    budget: Capped = None,
    to: To = None,
    preset: Preset = None,
    out: Out = Path(),
    *,
    stored: Stored,
) -> Answer:
    """Write the exact payload into a dated file. Prints its path; no file is ever overwritten."""
    if not out.is_dir():
        raise BadInput(f"There is no folder {out}.")
    with waiting("Cutting …"), open_session(stored, session) as named:
        limit = _NO_LIMIT if budget is None else budget
        id, context = named.id, named.context(limit, to=_format(to), preset=preset)
    payload: dict[str, object] = {} if context.system is None else {"system": context.system}
    payload["messages"] = context.messages
    data = msgspec.json.format(msgspec.json.encode(payload), indent=2)
    path = _write_snapshot(data + b"\n", id, out)
    about = pick_attributes(context, "format tokens")
    return Answer({"path": str(path), "session": id} | about, plain(f"{path}\n"))


def _write_snapshot(data: bytes, id: str, out: Path) -> Path:
    for path in _free_paths(id, out):
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


def _free_paths(id: str, out: Path) -> Iterator[Path]:
    # A session's name may hold characters that a file name must not have.
    name = re.sub(r"[^\w.@-]+", "_", id).strip(".") or "session"
    base = f"{name}-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
    yield out / f"{base}.json"
    for number in count(2):
        yield out / f"{base}-{number}.json"


class Tier(Struct, frozen=True):
    """A way in which a part of a session is shown."""

    name: str
    legend: str
    style: str
    letter: str
    """Stands for the colour on a screen without colours."""


STORY = Tier("story", "stories", "color(97)", "s")
PINS = Tier("pinned", "pins", "color(204)", "p")
DISPUTED = Tier("disputed", "disputed blocks", "color(160)", "d")
GOAL = Tier("goal batch", "goal batches", "color(99)", "g")
TURN = Tier("turn block", "turn blocks", "color(68)", "t")
MASKED = Tier("masked", "masked", "color(136)", "m")
KEPT = Tier("kept", "kept", "color(73)", "k")
WORDS = Tier("user", "system and user words", "color(71)", "u")
WAITING = Tier("not summarised", "not summarised", "color(130)", "w")
LIVE = Tier("live", "live", "color(43)", "l")
FREE = Tier("free", "free", "color(238)", ".")
TIERS = (PINS, STORY, GOAL, TURN, DISPUTED, MASKED, WAITING, KEPT, WORDS, LIVE)
"""In the order of the bar: first what always holds, then from the oldest to the newest."""

_ALONE = ("summary", "pins", "waiting")
"""Kinds of rows of the view that are never joined with others."""
_HEADERS = ("[SUMMARIZED]", "[GOAL BATCH]", "[STORY]", "[PINNED]", "## ")
LEVELS = {"turn": TURN, "goal": GOAL, "story": STORY}
"""By the level of a summary."""


class MessagePlace(Struct, frozen=True):
    """What the screen needs of a message on the path: its role, its turn, and whether somebody spoke."""

    role: str
    spoken: bool
    turn: int


class Part(Struct, frozen=True, kw_only=True):
    """A row of the view with its tier, and the places of its first and its last message."""

    tier: Tier
    row: ireneo.ViewRow
    first: MessagePlace
    last: MessagePlace


def places_of(path: Sequence[ireneo.Draft]) -> list[MessagePlace]:
    """Return the places of a path that is not stored."""
    turn = 0
    out = []
    for draft in path:
        spoken = draft.origin == "spoken"
        turn += draft.role == "user" and spoken
        out.append(MessagePlace(draft.role, spoken, turn))
    return out


def rows_of(context: ireneo.Context) -> tuple[ireneo.ViewRow, ...]:
    """Return the rows of the pins, then those of the path."""
    return (*context.pins, *context.view)


def ends_of(context: ireneo.Context) -> list[tuple[int, int]]:
    """Return the first and the last position of the path that each row stands at.

    Pins cover nothing: they get the place of the message before them, or of the first.
    """
    ends, position = [], 0
    for row in rows_of(context):
        first = position if row.covers else max(position - 1, 0)
        position += row.covers
        ends.append((first, max(position - 1, first)))
    return ends


def parts_of(context: ireneo.Context, places: Mapping[int, MessagePlace]) -> list[Part]:
    """Return each row of the view with its tier, given the places of its `ends_of`."""
    rows = rows_of(context)
    short = [index for index, row in enumerate(rows) if row.what in ("summary", "waiting", "masked")]
    live_from = short[-1] + 1 if short else 0
    # In a story no message is shown for who says it: those at its end are shown because they are new.
    told = {row.level for row in rows if row.what == "summary"} == {"story"}
    parts: list[Part] = []
    for index, (row, ends) in enumerate(zip(rows, ends_of(context), strict=True)):
        first, last = (places[end] for end in ends)
        tier = _tier(row, first, live=index >= live_from, told=told)
        parts.append(Part(tier=tier, row=row, first=first, last=last))
    return parts


def runs_of(parts: Sequence[Part]) -> list[list[Part]]:
    """Group parts into the screen's rows: each summary, pins, the user's words, work in a turn, a story's end."""
    runs: list[list[Part]] = []
    for part in parts:
        if runs and _is_of_one_row(runs[-1][-1], part):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _tier(row: ireneo.ViewRow, place: MessagePlace, *, live: bool, told: bool) -> Tier:
    if row.what == "pins":
        return PINS
    if row.what == "summary":
        return DISPUTED if row.disputed else LEVELS.get(row.level or "", TURN)
    if row.what == "masked":
        return MASKED
    if row.what == "waiting":
        return WAITING
    if place.spoken and place.role in ("system", "user") and not (live and told):
        return WORDS
    return LIVE if live else KEPT


def _is_of_one_row(before: Part, part: Part) -> bool:
    alone = any(part.row.what in _ALONE or part.tier is WORDS for part in (before, part))
    if alone or (before.tier is LIVE) != (part.tier is LIVE):
        return False
    # If the user's words have rows of their own, live messages are split by turn.
    return before.tier is LIVE or before.last.turn == part.first.turn


def _name(first: Part, masked: int, size: int) -> str:
    if masked and size > 1:
        return f"{masked} masked"
    if first.tier is WORDS:
        return first.first.role
    if first.tier is PINS:
        if first.row.text.startswith(("[PINNED] Lifted", "[PINNED] No open")):
            return "released"
        if first.row.id == "cast":
            return "cast"
        listed = sum(line.startswith("- ") for line in first.row.text.splitlines())
        threads = "Open threads" in first.row.text or "Left open" in first.row.text
        return f"{listed} pins and threads" if threads else counted(listed, "pin")
    if first.row.what != "summary":
        return first.tier.name
    name = LEVELS.get(first.row.level or "", TURN).name
    return f"{name}, {first.tier.name}" if first.tier is DISPUTED else name


def _row_text(row: ireneo.ViewRow) -> str:
    # A row that waits for its summary has nothing but its header.
    return row.text.removeprefix("[STORY] ") if row.what == "waiting" else row.text


def first_line(text: str) -> str:
    """Return the first words of a block after its header; the heading of a list comes with the list's first item."""
    told = ""
    for line in text.splitlines():
        words = " ".join(printable(line).split())
        if words and not words.startswith(_HEADERS):
            told = f"{told} {words.removeprefix('- ')}".strip()
            if not told.endswith(":"):
                break
    return told


def filled_bar(sizes: Sequence[tuple[Tier, int]], width: int, *, coloured: bool) -> Text:
    """Draw a bar of `width` columns that is shared out by size; each size gets at least one column."""
    total = sum(size for _, size in sizes) or 1
    columns = [max(1, round(size * width / total)) if size else 0 for _, size in sizes]
    if columns:
        widest = columns.index(max(columns))
        columns[widest] = max(columns[widest] + width - sum(columns), 1)
    bar = Text()
    for (tier, _), wide in zip(sizes, columns, strict=True):
        bar.append_text(_cells(tier, wide, coloured=coloured))
    return bar


def path_bar(sizes: Sequence[tuple[Tier, int]], width: int, *, coloured: bool) -> Text:
    """Draw the path from left to right, each column in the tier of its messages."""
    ends = list(accumulate(size for _, size in sizes))
    total = ends[-1] if ends else 0
    cells = [sizes[bisect_left(ends, (column + 0.5) * total / width)][0] for column in range(width if total else 0)]
    bar = Text()
    for tier, run in groupby(cells):
        bar.append_text(_cells(tier, len(list(run)), coloured=coloured))
    return bar


def _cells(tier: Tier, wide: int, *, coloured: bool) -> Text:
    if not coloured:
        return Text(tier.letter * wide)
    return Text(("░" if tier is FREE else "█") * wide, style=tier.style)


LABEL = 11
"""Columns before a bar."""
WIDEST_BAR = 120

_COLUMNS = (
    Column("what"),
    Column("depth", right=True),
    Column("turn", right=True),
    Column("messages", right=True),
    Column("tokens", right=True),
    Column("opens with"),
    Column("first line", widest=200),
)


def show_cut(cut: Cut) -> None:
    """Show a context on the screen."""
    show_context(console(), cut)


def show_context(screen: Console, cut: Cut) -> None:
    """Draw the whole screen: bars, legend, saving, rows."""
    context, coloured = cut.context, is_coloured(screen)
    show_title(screen, cut.title)
    if not cut.parts:
        screen.print("  There is no message here yet.\n")
        return
    runs = runs_of(cut.parts)
    _show_bars(screen, cut, sum(any(part.row.covers for part in run) for run in runs))
    screen.print()
    rows = [_row(run, coloured=coloured) for run in runs]
    if all(row[1].plain in ("", "1") for row in rows):
        show_columns(screen, [_COLUMNS[0], *_COLUMNS[2:]], [[row[0], *row[2:]] for row in rows])
    else:
        show_columns(screen, _COLUMNS, rows)
    screen.print()
    if context.explained is not None:
        show_labelled(screen, "why", Text(context.explained.decision), width=LABEL)
        if context.unkept:
            show_labelled(screen, "not kept", Text(context.unkept), width=LABEL)
        screen.print()
    for repair in context.repaired:
        screen.print(Text(f"  {repair.message}", style="yellow" if coloured else ""))
    for broken in context.violations:
        screen.print(Text(f"  message {broken.index} breaks {broken.rule}: {broken.message}", style="red"))


def _show_bars(screen: Console, cut: Cut, rows: int) -> None:
    """Draw how the budget is filled, how the session is shown in `rows` rows, and what was saved."""
    context = cut.context
    tokens: Counter[Tier] = Counter()
    for part in cut.parts:
        tokens[part.tier] += part.row.tokens
    # Rows are counted one by one, so the few tokens that a format adds are missing.
    shares = [(tier, tokens[tier]) for tier in TIERS if tokens[tier]]
    shares.append((FREE, max(context.budget - context.tokens, 0)))
    path = [(part.tier, part.row.covers) for part in cut.parts]
    messages = sum(covers for _, covers in path)
    coloured = is_coloured(screen)
    width = min(max(screen.width - LABEL - 2, 10), WIDEST_BAR)
    show_labelled(screen, "context", filled_bar(shares, width, coloured=coloured), width=LABEL)
    show_labelled(screen, "session", path_bar(path, width, coloured=coloured), width=LABEL)
    screen.print()
    for line in in_lines([_legend_entry(tier, size, coloured=coloured) for tier, size in shares], width):
        show_labelled(screen, "", line, width=LABEL)
    budget = f"{context.tokens:,} of {context.budget:,} tokens"
    show_labelled(screen, "budget", Text(budget), width=LABEL)
    saved = f"{saving(context)}; {counted(messages, 'message')} in {counted(rows, 'row')}"
    show_labelled(screen, "saving", Text(saved), width=LABEL)


def saving(context: ireneo.Context) -> str:
    """Say what the cut saved."""
    before, after = context.tokens_before, context.tokens
    # Formats differ by up to 5 % in what they cost, so a smaller saving says nothing.
    if after * 1.05 >= before:
        return "none: all of it fits"
    times = before / after
    much = f"{times:.0f}" if times >= 10 else f"{times:.1f}"
    return f"{before:,} → {after:,} tokens, {much} times smaller"


def _legend_entry(tier: Tier, tokens: int, *, coloured: bool) -> Text:
    entry = Text("░" if coloured and tier is FREE else "█" if coloured else tier.letter)
    entry.stylize(tier.style if coloured else "")
    return entry.append(f" {tier.legend} {tokens:,}")


def _row(run: Sequence[Part], *, coloured: bool) -> list[Text]:
    """Draw a row of the table: one row of the view, or several messages of one turn."""
    first, last = run[0], run[-1]
    masked = sum(part.tier is MASKED for part in run)
    tier, name = MASKED if masked else first.tier, _name(first, masked, len(run))
    begins, ends = first.first.turn, last.last.turn
    # Pins cover no message and hold in every turn, so there is nothing to open.
    covers = sum(part.row.covers for part in run)
    return [
        Text(f"█ {name}" if coloured else name, style=tier.style if coloured else ""),
        # Of a summary: 1 if made from messages, else one more than that of its parts.
        Text(str(max(first.row.depth, 1)) if first.row.what == "summary" else ""),
        Text((str(begins) if begins == ends else f"{begins}–{ends}") if covers else ""),
        Text(f"{covers:,}" if covers else ""),
        Text(f"{sum(part.row.tokens for part in run):,}"),
        Text(short(first.row.id) if covers else "", style="dim" if coloured else ""),
        Text(next((line for part in run if (line := first_line(_row_text(part.row)))), "")),
    ]
