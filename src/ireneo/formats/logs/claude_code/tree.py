"""The pieces of a session as a tree.

A piece names the line that it followed, but that walk alone is not the conversation: of two calls made at once, each
result follows its own line of the reply, so the next reply would be seen to follow one result only. So a reply and
all its results are one trail, in which they stand one behind the other, and what follows any of them follows the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ireneo.formats.logs.claude_code.drafts import drafts_of
from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.claude_code.pieces import Piece, Pieces
from ireneo.formats.logs.claude_code.planting import Planting
from ireneo.formats.logs.format import Node
from ireneo.log.message import Call, Draft

Links: TypeAlias = Mapping[str, Line]
"""The lines of the file by their ids, those that only pass the conversation on included."""

Followed: TypeAlias = int | Literal["root", "untold"]


def grow(pieces: Pieces, links: Links) -> tuple[list[Node], int]:
    """The nodes of the tree, and the index of its head: the end of the trail that the last line belongs to."""
    homes = _homes(pieces)
    trails = _trails(pieces.all, homes)
    parents = {home: _parent(home, pieces, homes, links) for home in trails}
    planting = Planting()
    for home in _in_order(parents):
        planting.add(home, parents[home], trails[home])
    return planting.nodes, planting.tails[homes[pieces.last]]


def _homes(pieces: Pieces) -> list[int]:
    """For each piece the one in whose trail it stands."""
    homes: list[int] = []
    for index, piece in enumerate(pieces.all):
        home = None
        if piece.kind == "results":
            answered = (pieces.of_call.get(call) for call in piece.lines[0].answers)
            home = next((found for found in answered if found is not None), None)
        elif piece.kind == "words" and piece.before is not None and piece.lines[0].uuid is None:
            # No line can say that it follows words without an id; what follows the piece before them follows them.
            home = homes[piece.before]
        homes.append(index if home is None else home)
    return homes


def _trails(pieces: Sequence[Piece], homes: Sequence[int]) -> dict[int, list[Draft]]:
    trails: dict[int, list[Draft]] = {}
    words: dict[int, list[Draft]] = {}
    calls: dict[str, Call] = {}
    # A result may stand in the file before the reply that it answers.
    for index in sorted(range(len(pieces)), key=lambda at: (homes[at], at != homes[at], at)):
        home = homes[index]
        drafts = drafts_of(pieces[index], calls)
        calls.update({call.id: call for draft in drafts for call in draft.calls})
        if index == home:
            trails[home] = drafts
            continue
        # Words that came with one result wait until all results of the reply are told.
        trails[home].extend(draft for draft in drafts if draft.role == "tool")
        words.setdefault(home, []).extend(draft for draft in drafts if draft.role != "tool")
    for home, waiting in words.items():
        trails[home].extend(waiting)
    return trails


def _parent(home: int, pieces: Pieces, homes: Sequence[int], links: Links) -> int | None:
    """The trail that the one of `home` follows; None for the root."""
    piece = pieces.all[home]
    for line in piece.lines:
        followed = _followed(line, pieces.of_uuid, links)
        if followed == "root":
            return None
        if followed == "untold":
            break
        if homes[followed] != home:
            return homes[followed]
    if piece.before is None or homes[piece.before] == home:
        return None
    return homes[piece.before]


def _followed(line: Line, of_uuid: Mapping[str, int], links: Links) -> Followed:
    """The piece that `line` says it followed, looked up through the lines between that say nothing."""
    at = line
    seen: set[str] = set()
    while "parentUuid" in at.entry:
        parent = at.entry["parentUuid"] or at.entry.get("logicalParentUuid")
        if not isinstance(parent, str):
            return "root" if _begins(line, at) else "untold"
        if parent in of_uuid:
            return of_uuid[parent]
        if parent in seen or parent not in links:
            return "untold"
        seen.add(parent)
        at = links[parent]
    return "untold"


def _begins(line: Line, at: Line) -> bool:
    """Whether the missing parent of `at` means that `line`, which came to it, begins the conversation anew."""
    if at.entry.get("subtype") == "compact_boundary" or at.entry.get("isSidechain") != line.entry.get("isSidechain"):
        return False
    # A user may rewind to before the first message; a reply, a result or a compaction is no beginning.
    return line.kind == "user" and not line.answers and not line.entry.get("isCompactSummary")


def _in_order(parents: dict[int, int | None]) -> list[int]:
    """The trails, each behind its parent; where parents go in a circle, it is opened at a root."""
    done: set[int] = set()
    out: list[int] = []
    for start in parents:
        walk: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in done and at not in walk:
            walk[at] = None
            at = parents[at]
        if at is not None and at in walk:
            parents[next(reversed(walk))] = None
        done.update(walk)
        out.extend(reversed(walk))
    return out
