"""The summaries of a session as layers over its path: one row a depth, each block as wide as what it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.blocks import LIVE, WORDS

SHOWN, SHOWN_END = "█", "▌"
"""A block that a context shows; its last column is half as wide, so that neighbours stand apart."""
FOLDED, FOLDED_END = "─", "┤"
"""A block that a deeper one stands for."""
AS_IS = "▒"
FORK, THREAD = "▲", "•"
DEPTHS = ("color(73)", "color(68)", "color(99)", "color(133)", "color(168)", "color(204)", "color(208)")
"""From the finest to the deepest."""
_LEVELS = ("turn", "goal", "story")
"""From the finest to the deepest, where a session has several."""


class Block(Struct, frozen=True):
    """A stretch of the path in one row."""

    first: int
    last: int
    shown: bool


class Layer(Struct, frozen=True, kw_only=True):
    """One row: the summaries of one level and depth."""

    label: str
    style: str
    blocks: tuple[Block, ...]


def layers(tree: ireneo.Tree) -> list[Layer]:
    """The rows from the deepest to the finest."""
    ranked = sorted({(_LEVELS.index(node.level), node.depth) for node in tree.nodes})
    out = []
    for rank, (level, depth) in enumerate(ranked):
        here = [node for node in tree.nodes if (node.level, node.depth) == (_LEVELS[level], depth)]
        blocks = tuple(Block(node.first_position, node.last_position, node.shown) for node in here)
        out.append(Layer(label=f"{_LEVELS[level]} {depth}", style=DEPTHS[min(rank, len(DEPTHS) - 1)], blocks=blocks))
    return out[::-1]


def strata(tree: ireneo.Tree, width: int) -> Iterator[tuple[str, Text]]:
    """The rows of the drawing with their labels."""
    size = tree.messages
    for layer in layers(tree):
        yield layer.label, _row(_cells(layer.blocks, size, width), layer)
    yield "as it is", _as_is(tree, width)
    forks = [branch.shared - 1 for branch in tree.branches[1:] if branch.parent == tree.branch]
    if forks:
        yield "forks", _marks(forks, FORK, size, width, "color(136)")
    if tree.threads:
        yield "threads", _marks([thread.position for thread in tree.threads], THREAD, size, width, WORDS.style)
    yield "message", Text(_axis(size, width), style="dim")


def _cells(blocks: Sequence[Block], size: int, width: int) -> list[int | None]:
    """For each column the block that stands there; one that is too narrow for any gets one that is free."""
    cells: list[int | None] = [None] * width
    # Those that are shown lie on top.
    for place, block in sorted(enumerate(blocks), key=lambda pair: pair[1].shown):
        start, end = (round(at * width / size) for at in (block.first, block.last + 1))
        if start == end:
            start = min(block.first * width // size, width - 1)
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
        if layer.blocks[place].shown:
            row.append(SHOWN_END if following not in (place, None) else SHOWN, style=layer.style)
        else:
            row.append(FOLDED_END if following != place else FOLDED, style=f"dim {layer.style}")
    row.rstrip()
    return row


def _as_is(tree: ireneo.Tree, width: int) -> Text:
    """The messages that no summary stands for, in the columns where they are most of what stands there."""
    covered = sorted((node.first_position, node.last_position) for node in tree.nodes if node.shown)
    ends = [0, *(edge for first, last in covered for edge in (first, last + 1)), tree.messages]
    free = [Block(first, last - 1, True) for first, last in zip(ends[::2], ends[1::2], strict=True) if first < last]
    cells = [False] * width
    for number, block in enumerate(free, 1):
        start, end = (round(at * width / tree.messages) for at in (block.first, block.last + 1))
        if start == end and number == len(free) and block.last == tree.messages - 1:
            start = end - 1
        cells[start:end] = [True] * (end - start)
    row = Text()
    for free_here, run in groupby(cells):
        row.append((AS_IS if free_here else " ") * len(list(run)), style=LIVE.style if free_here else "")
    row.rstrip()
    return row


def _marks(positions: Sequence[int], mark: str, size: int, width: int, style: str) -> Text:
    columns = {min(max(position, 0) * width // size, width - 1) for position in positions}
    return Text("".join(mark if column in columns else " " for column in range(width)).rstrip(), style=style)


def _axis(size: int, width: int) -> str:
    """The numbers of the messages at the beginning, in the middle and at the end."""
    middle, end = f"{size // 2:,}", f"{size:,}"
    if size < 4 or width < 30:
        return f"1{end:>{width - 1}}"
    left = "1".ljust(width // 2 - len(middle) // 2) + middle
    return left + end.rjust(width - len(left))
