"""The screens of a session: as a tree of summaries, branches and threads; what an id opens; what a model wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.faces.cli.context import KEPT, LEVELS, LIVE, MASKED, STORY, WORDS, first_line
from ireneo.faces.cli.output import (
    MARGIN,
    Column,
    console,
    counted,
    day_of,
    in_lines,
    printable,
    share,
    short,
    show_columns,
    show_labelled,
    show_title,
    write,
)

if TYPE_CHECKING:
    from ireneo.types import Cited, Evidence, LookupResult, Period, Record, TreeNode


SHOWN, SHOWN_END = "█", "▌"
"""A block that a context shows; its last column is half as wide, to separate neighbours."""
FOLDED, FOLDED_END = "─", "┤"
"""A block that a deeper one covers."""
AS_IS = "▒"
FORK, THREAD = "▲", "•"
DEPTHS = ("color(73)", "color(68)", "color(99)", "color(133)", "color(168)", "color(204)", "color(208)")
"""From the finest to the deepest."""
_LEVELS = ("turn", "goal", "story")
"""From the finest to the deepest."""


class Layer(Struct, frozen=True, kw_only=True):
    """A row of the drawing: the summaries of one level and depth."""

    label: str
    style: str
    nodes: Sequence[TreeNode]


def layers(tree: ireneo.Tree) -> list[Layer]:
    """Return the layers from the deepest to the finest."""
    ranked = sorted({(_LEVELS.index(node.level), node.depth) for node in tree.nodes})
    out = []
    for rank, (level, depth) in enumerate(ranked):
        here = [node for node in tree.nodes if (node.level, node.depth) == (_LEVELS[level], depth)]
        out.append(Layer(label=_label(_LEVELS[level], depth), style=DEPTHS[min(rank, len(DEPTHS) - 1)], nodes=here))
    return out[::-1]


def _label(level: str, depth: int) -> str:
    return f"{level} {depth}"


def labelled_rows(tree: ireneo.Tree, width: int) -> Iterator[tuple[str, Text]]:
    """Yield the rows of the drawing with their labels."""
    size = tree.messages
    for layer in layers(tree):
        yield layer.label, _row(_cells(layer.nodes, size, width), layer)
    yield "as it is", _as_is(tree, width)
    forks = [branch.shared - 1 for branch in tree.branches[1:] if branch.parent == tree.branch]
    if forks:
        yield "forks", _marks(forks, FORK, size, width, "color(136)")
    if tree.threads:
        yield "threads", _marks([thread.position for thread in tree.threads], THREAD, size, width, WORDS.style)
    yield "message", Text(_axis(size, width), style="dim")


def _cells(nodes: Sequence[TreeNode], size: int, width: int) -> list[int | None]:
    """For each column the index of its summary; one too narrow for a column gets a free one."""
    cells: list[int | None] = [None] * width
    # Those that are shown are drawn over the others.
    for place, node in sorted(enumerate(nodes), key=lambda pair: pair[1].shown):
        start, end = (round(at * width / size) for at in (node.first_position, node.last_position + 1))
        if start == end:
            start = min(node.first_position * width // size, width - 1)
            end = start + (cells[start] is None)
        cells[start:end] = [place] * (end - start)
    return cells


def _row(cells: Sequence[int | None], layer: Layer) -> Text:
    row = Text()
    for column, place in enumerate(cells):
        if place is None:
            row.append(" ")
            continue
        following = cells[column + 1] if column + 1 < len(cells) else None
        if layer.nodes[place].shown:
            row.append(SHOWN_END if following not in (place, None) else SHOWN, style=layer.style)
        else:
            row.append(FOLDED_END if following != place else FOLDED, style=f"dim {layer.style}")
    row.rstrip()
    return row


def _as_is(tree: ireneo.Tree, width: int) -> Text:
    """Mark the messages without a summary, in the columns that they mostly fill."""
    size, shown = tree.messages, [node for node in tree.nodes if node.shown]
    cells = [True] * width
    for node in shown:
        start, end = (round(at * width / size) for at in (node.first_position, node.last_position + 1))
        cells[start:end] = [False] * (end - start)
    cells[-1] = cells[-1] or all(node.last_position < size - 1 for node in shown)
    row = Text()
    for free_here, run in groupby(cells):
        row.append((AS_IS if free_here else " ") * len(list(run)), style=LIVE.style if free_here else "")
    row.rstrip()
    return row


def _marks(positions: Sequence[int], mark: str, size: int, width: int, style: str) -> Text:
    columns = {min(max(position, 0) * width // size, width - 1) for position in positions}
    return Text("".join(mark if column in columns else " " for column in range(width)).rstrip(), style=style)


def _axis(size: int, width: int) -> str:
    """The numbers of the first, the middle and the last message."""
    middle, end = f"{size // 2:,}", f"{size:,}"
    if size < 4 or width < 30:
        return f"1{end:>{width - 1}}"
    left = "1".ljust(width // 2 - len(middle) // 2) + middle
    return left + end.rjust(width - len(left))


LABEL, WIDEST = 11, 120
"""Columns before a row of the drawing, and its widest."""
MOST = 40
"""The maximum number of summaries, branches or threads that are listed."""
_LAST = Column("first words", widest=200)


def show_tree(screen: Console, tree: ireneo.Tree, title: str) -> None:
    """Draw the whole screen."""
    screen.print()
    screen.print(Text(f"  {printable(title)}", style="bold"), overflow="ellipsis", no_wrap=True)
    if not tree.messages:
        screen.print("\n  There is no message here yet.\n")
    else:
        for line in _sums(tree):
            write(screen, f"  {line}")
        screen.print()
        width = min(max(screen.width - LABEL - 2, 10), WIDEST)
        for label, row in labelled_rows(tree, width):
            screen.print(Text.assemble((f"  {label}".ljust(LABEL), "dim"), row), no_wrap=True, overflow="crop")
        screen.print()
        for entries in in_lines([Text(entry, style="dim") for entry in _legend(tree)], width):
            show_labelled(screen, "", entries, width=LABEL)
        screen.print()
        _show_nodes(screen, tree)
    if len(tree.branches) > 1:
        _show_branches(screen, tree)
    _show_threads(screen, tree)


def _sums(tree: ireneo.Tree) -> Iterator[str]:
    place = f"at {short(tree.head)}" if tree.head else "before its first message"
    yield f"{counted(tree.messages, 'message')}, {tree.tokens:,} tokens · {place} · cut as {tree.preset}"
    shown = [node for node in tree.nodes if node.shown]
    if not shown:
        yield "nothing is summarised yet: every message is shown as it is"
        return
    tokens = sum(node.tokens for node in shown)
    covered = sum(node.messages for node in shown)
    yield f"{counted(len(shown), 'summary')} ({tokens:,} tokens) for {counted(covered, 'message')}"
    if any(node.level == "story" and not node.model for node in shown):
        # Each context chooses its own sentences of a story; here are as many as a reader wants.
        yield "  in short; a context tells them in the room it has"
    else:
        yield "  in full; a context shows of them what it has room for"
    for node in tree.overviews:
        what = f"of {node.tokens:,} tokens for {counted(node.messages, 'message')}"
        yield f"an overview {what} in narrow contexts · open with {short(node.id)}"
    if between := tree.messages - covered - tree.live:
        yield f"{counted(between, 'message')} between them, unchanged"
    if tree.live:
        yield f"{counted(tree.live, 'message')} after them, unchanged ({tree.live_tokens:,} tokens)"
    if tree.behind:
        yield f"{counted(tree.behind, 'message')} of these still to be summarised"


def _legend(tree: ireneo.Tree) -> Iterator[str]:
    if any(node.shown for node in tree.nodes):
        yield f"{SHOWN} shown"
    if not all(node.shown for node in tree.nodes):
        yield f"{FOLDED} folded into a deeper one"
    yield f"{AS_IS} messages as they are"
    if deepest := max(tree.nodes, key=lambda node: node.depth, default=None):
        yield f"{_label(deepest.level, deepest.depth)}: of depth {deepest.depth}"
    if any(branch.parent == tree.branch for branch in tree.branches[1:]):
        yield f"{FORK} a branch leaves"
    if tree.threads:
        yield f"{THREAD} an open thread begins"


def _show_nodes(screen: Console, tree: ireneo.Tree) -> None:
    shown = [node for node in tree.nodes if node.shown]
    if not shown:
        return
    styles = {layer.label: layer.style for layer in layers(tree)}
    retold = any(node.retellings for node in shown)
    columns = [Column("what"), *(Column(heading, right=True) for heading in ("depth", "span", "messages", "tokens"))]
    columns += [Column("retold", right=True)] if retold else []
    rows = []
    for node in shown[-MOST:]:
        style = styles[_label(node.level, node.depth)]
        span = f"{node.first_position + 1:,}–{node.last_position + 1:,}"
        cells = [Text(node.level, style=style), Text(f"{node.depth}", style=style), Text(span)]
        cells += [Text(f"{node.messages:,}"), Text(f"{node.tokens:,}")]
        cells += [Text(f"{node.retellings}×")] if retold else []
        rows.append([*cells, Text(short(node.id), style="dim"), Text(first_line(node.text))])
    show_columns(screen, [*columns, Column("opens with"), _LAST], rows)
    _show_rest(screen, len(shown), "before these")
    screen.print()


def _show_branches(screen: Console, tree: ireneo.Tree) -> None:
    write(screen, "  branches", "dim")
    under: dict[str, list[int]] = {}
    for place, branch in enumerate(tree.branches):
        under.setdefault(branch.parent, []).append(place)
    rows: list[tuple[str, int]] = []
    # Depth first: a branch follows the one it was forked from.
    waiting = [(place, "", "") for place in reversed(under.get("", []))]
    while waiting:
        place, lead, below = waiting.pop()
        rows.append((lead + printable(tree.branches[place].name), place))
        children = under.get(tree.branches[place].name, [])
        for child in reversed(children):
            last = child == children[-1]
            waiting.append((child, f"{below}{'└─ ' if last else '├─ '}", f"{below}{'   ' if last else '│  '}"))
    width = min(max(len(name) for name, _ in rows[:MOST]) + 4, max(screen.width // 2, LABEL))
    for name, place in rows[:MOST]:
        show_labelled(screen, name, Text(_branch(tree, place)), width=width)
    _show_rest(screen, len(rows), "besides")
    screen.print()


def _branch(tree: ireneo.Tree, place: int) -> str:
    """Say where a branch was forked, how long it is, and how much of it is summarised."""
    branch = tree.branches[place]
    if not branch.messages:
        return "is before the first message"
    own = branch.messages - branch.shared
    said = [f"{counted(branch.messages, 'message')}, {branch.tokens:,} tokens"]
    if branch.parent:
        said = [f"leaves after {branch.shared:,}", f"{own:,} of its own"] if own else [f"is at {branch.shared:,}"]
        said.append(f"at {short(branch.head or '')}")
    said.append(f"{branch.summarised:,} summarised" if branch.summarised else "nothing summarised")
    return " · ".join(said)


def _show_threads(screen: Console, tree: ireneo.Tree) -> None:
    if not tree.threads:
        return
    write(screen, "  open threads", "dim")
    width = max(LABEL, *(len(f"{MARGIN}{thread.kind} ") for thread in tree.threads[-MOST:]))
    for thread in tree.threads[-MOST:]:
        who = f"{thread.who} → {thread.whom}" if thread.who and thread.whom else thread.who or thread.whom
        text = f"{f'{who}: ' if who else ''}{thread.text} (message {thread.position + 1:,})"
        show_labelled(screen, thread.kind, Text(" ".join(printable(text).split())), width=width)
    _show_rest(screen, len(tree.threads), "before these")
    screen.print()


def _show_rest(screen: Console, number: int, where: str) -> None:
    if number > MOST:
        write(screen, f"  … {number - MOST:,} more {where}; --json has them all", "dim")


# What an id opens, and the summaries that a model wrote.

MOST_LINES = 40
"""The maximum number of lines of a message that is shown among others; a single message is shown whole."""
_ROLE_STYLES = {"system": WORDS.style, "user": WORDS.style, "assistant": LIVE.style, "tool": MASKED.style}


def show(opened: LookupResult) -> None:
    """Show what an id names."""
    screen = console()
    if opened.memory is not None:
        _show_memory(screen, opened.memory, opened.standing, opened.quotes)
    elif opened.note is not None:
        note = opened.note
        after = f"after {short(note.at)}" if note.at else "before its first message"
        _show_titled(screen, f"{note.kind} {short(note.id)} · {opened.session}, {after}", [note.text])
    elif opened.diary is not None:
        lines = opened.diary.markdown.splitlines() or ["Nothing was tried in it."]
        _show_titled(screen, f"session {opened.session} · its diary", lines)
    elif opened.expanded is not None:
        _show_expanded(screen, opened.expanded, opened.session)


def _show_titled(screen: Console, title: str, lines: Sequence[str]) -> None:
    screen.print()
    write(screen, f"  {printable(title)}", "bold")
    screen.print()
    for line in lines:
        write(screen, f"    {printable(line)}".rstrip())
    screen.print()


def _show_memory(screen: Console, record: Record, standing: str, quotes: Sequence[Cited]) -> None:
    """Show a memory: its text, its details, the words that it comes from, and its evidence."""
    # The key of a lesson is made of codes and stems, which mean nothing to a reader.
    of = (record.subject, record.attribute, record.task_type, "" if record.cue else record.name)
    state = f"{record.state}, archived" if record.archived else record.state
    first = min((piece.when for piece in record.evidence if piece.when and not piece.against), default=None)
    often = standing or f"seen {counted(record.seen, 'time')}{f', first on {day_of(first)}' if first else ''}"
    verb, _, seen = often.partition(" ")
    known = [
        ("state", f"{state}: {record.reason}" if record.reason else state),
        ("of", " · ".join(filter(None, of))),
        ("held", "; ".join(_period(each) for each in record.periods)),
        ("instead", short(record.superseded_by or "")),
        ("stale", record.stale),
        ("if", ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items()))),
        (verb, seen),
        ("used", f"{counted(record.used, 'time')}, last on {day_of(record.last_used)}" if record.used else ""),
    ]
    order = ", the newest first" if len(record.evidence) > 1 else ""
    _show_titled(
        screen,
        f"{record.kind} memory {short(record.id)} · {day_of(record.at)}",
        [
            *record.text.splitlines(),
            "",
            *(f"{name:8} {text}" for name, text in known if text),
            "",
            *(f"“{each.quote}” {short(each.message)}" for each in quotes),
            *([""] if quotes else []),
            f"evidence, {counted(len(record.evidence), 'piece')}{order}",
            *(line for piece in reversed(record.evidence) for line in _evidence(piece)),
        ],
    )


def _period(period: Period) -> str:
    return f"from {day_of(period.start)}{f' to {day_of(period.end)}' if period.end else ''}"


def _evidence(piece: Evidence) -> Iterator[str]:
    """Yield the time and the author of a piece of evidence, and a line of ids to open it with."""
    yield f"- {day_of(piece.at)}{piece.role}{f' in {piece.session}' if piece.session else ''}"
    if piece.sources:
        more = len(piece.sources) - 8
        named = " ".join(map(short, piece.sources[:8]))
        yield f"  open with {named}{f' and {more} more' if more > 0 else ''}"


def _show_expanded(screen: Console, opened: ireneo.Expanded, session: str) -> None:
    """Show a block's place, then its messages one by one."""
    block = opened.summary
    if block is not None:
        size = f"{counted(block.messages, 'message')}, {block.source_tokens:,} tokens"
        screen.print()
        write(screen, f"  {LEVELS[block.level].name} {short(block.id)} · {size} · {session}", "bold")
        if who := _written_by(block):
            write(screen, f"  {printable(who)}", "dim")
    screen.print()
    if not opened.messages:
        for part in opened.parts:
            place = f"messages {part.first_position + 1:,} to {part.last_position + 1:,}"
            screen.print(
                Text(f"  {short(part.id)}", style=STORY.style).append(f"  {place}", style="dim"), soft_wrap=True
            )
            for line in part.lines("story")[:3]:
                write(screen, f"    {printable(line.text)}")
            screen.print()
    for message in opened.messages:
        _show_message(screen, message, None if len(opened.messages) == 1 else MOST_LINES)


def _written_by(block: ireneo.Summary) -> str:
    """Say which model wrote a block, and how far it can be trusted; empty if no model did."""
    writing = block.writing
    if writing is None:
        return ""
    who = f"{writing.model} ({writing.prompt})"
    said = [
        f"written by {who}" if writing.trusted else f"as without a model: nothing that {who} wrote could be trusted",
        f"{share(writing.supported)} of its claims supported",
    ]
    if writing.repaired:
        said.append("asked twice")
    if writing.struck:
        said.append(f"{counted(writing.struck, 'line')} struck out")
    if writing.disputes:
        said.append(f"in view of {counted(len(writing.disputes), 'dispute')}")
    return " · ".join(said)


def _show_message(screen: Console, message: ireneo.Message, most: int | None) -> None:
    who = message.draft.author or message.role
    head = Text(f"  {printable(who)}", style=f"bold {_ROLE_STYLES.get(message.role, KEPT.style)}")
    place = f"  {short(message.id)}  turn {message.turn}, message {message.position + 1:,}, {message.tokens:,} tokens"
    if message.draft.present is not None:
        place += f", heard by {printable(', '.join(message.draft.present)) or 'nobody else'}"
    head.append(place, style="not bold dim")
    screen.print(head, soft_wrap=True)
    lines = list(_lines(message))
    shown = lines if most is None or len(lines) <= most else lines[:most]
    for line in shown:
        write(screen, f"    {printable(line)}")
    if len(shown) < len(lines):
        more = counted(len(lines) - len(shown), "line")
        write(screen, f"    … {more} more: ireneo expand {short(message.id)}", "dim")
    screen.print()


def _lines(message: ireneo.Message) -> Iterator[str]:
    if message.text:
        yield from message.text.splitlines()
    for call in message.draft.calls:
        yield from _call(call.name, call.arguments)
    for result in message.draft.results:
        if result.failed:
            yield "(failed)"
        yield from result.text.splitlines() or ["(no output)"]


def _call(name: str, arguments: Mapping[str, object] | str) -> Iterator[str]:
    if isinstance(arguments, str):
        arguments = {"": arguments}
    said = {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in arguments.items()
    }
    if len(said) == 1 and "\n" not in (only := next(iter(said.values()))):
        yield f"→ {name} {only}"
        return
    yield f"→ {name}"
    for key, value in said.items():
        first, *rest = value.splitlines() or [""]
        yield f"    {key}: {first}"
        yield from (f"      {line}" for line in rest)


WORK_LABEL = 13
"""Columns before a reason."""
_WORDS: dict[str, str] = {"written": "written", "repaired": "repaired", "offline": "kept offline", "failed": "failed"}
_OUTCOME_STYLES: dict[str, str] = {"written": "color(71)", "repaired": "color(136)", "offline": "dim", "failed": "red"}
_COLUMNS = (
    Column("what"),
    Column("messages", right=True),
    Column("opens with"),
    Column("tokens in", right=True),
    Column("out", right=True),
    Column("supported", right=True),
    Column("outcome"),
)


def show_written(done: Sequence[ireneo.WorkResult], *, due: int, budget: int, title: str) -> None:
    """Show a row for each summary, why some differ from the model's text, and what it all cost."""
    screen = console()
    show_title(screen, title)
    if not due:
        write(screen, f"  Nothing is due: a context of {budget:,} tokens shows no block that a model has yet to write.")
        screen.print()
        return
    if done:
        show_columns(screen, _COLUMNS, [_work_row(each) for each in done])
        screen.print()
    reasons = [(short(each.id), reason) for each in done if (reason := _reason(each))]
    for id, reason in reasons:
        show_labelled(screen, id, Text(reason), width=WORK_LABEL)
    if reasons:
        screen.print()
    for label, text in _work_sums(done, due):
        show_labelled(screen, label, Text(text), width=WORK_LABEL)
    screen.print()


def _work_row(each: ireneo.WorkResult) -> list[Text]:
    tier = LEVELS[each.level]
    first, last = each.first_position + 1, each.last_position + 1
    answered = each.did != "failed"
    return [
        Text(tier.name, style=tier.style),
        Text(f"{first:,}" if first == last else f"{first:,}–{last:,}"),
        Text(short(each.id), style="dim"),
        Text(f"{each.tokens_in:,}" if answered else ""),
        Text(f"{each.tokens_out:,}" if answered else ""),
        Text(share(each.supported) if answered else ""),
        Text(_WORDS[each.did], style=_OUTCOME_STYLES[each.did]),
    ]


def _reason(each: ireneo.WorkResult) -> str:
    reason = " ".join(printable(each.reason).split())
    if each.did == "offline":
        return f"too little of it could be trusted: {reason}"
    if each.struck:
        return f"{counted(each.struck, 'line')} struck out: {reason}"
    return reason


def _work_sums(done: Sequence[ireneo.WorkResult], due: int) -> Iterator[tuple[str, str]]:
    numbers = Counter[str]()
    for each in done:
        # One request may have asked for several texts of a story, while the notes on a stretch count as one.
        numbers[each.did] += each.summaries if each.level == "story" else 1
    outcomes = [f"{number} {_WORDS[outcome]}" for outcome, number in numbers.items()]
    if due > numbers.total():
        outcomes.append(f"{due - numbers.total()} left for another time")
    yield "due", f"{counted(due, 'text')}: {', '.join(outcomes)}"
    answered = [each for each in done if each.did != "failed"]
    if not answered:
        return
    read, wrote = sum(each.tokens_in for each in answered), sum(each.tokens_out for each in answered)
    yield "tokens", f"{read:,} in, {wrote:,} out"
    supported = sum(each.supported for each in answered) / len(answered)
    yield "supported", f"{share(supported)} of the claims on average, as first made"
    yield "shown", "when the context is next rebuilt"
