"""What a reply changes: its SEARCH/REPLACE blocks and its diffs as calls, where they stand in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.patterns import lazy_re

EDIT = "edit"
_SEARCH = lazy_re(r"<{5,9} SEARCH>?\s*$")
_DIVIDER = lazy_re(r"={5,9}\s*$")
_REPLACE = lazy_re(r">{5,9} (?:REPLACE|UPDATED)\s*$")
_FENCE = lazy_re(r"(?P<ticks>`{3,}+)(?P<info>\S*+)\s*$")
_PATH = lazy_re(r"[\w.~@+\\/-]+[\w)\]]|[\w.~@+\\/ -]+\.\w{1,10}")
_NAMED_FILE = lazy_re(r"^(?:\+\+\+) (?:b/)?(?P<path>\S+)", re.M)


class Edit(Struct, frozen=True, kw_only=True):
    """A change that a reply asks for."""

    arguments: dict[str, object]
    path: str
    """Of the file; empty where the reply does not tell."""

    @property
    def old(self) -> str:
        """What is to be replaced."""
        return str(self.arguments.get("old_text", ""))


def pieces(lines: Sequence[str]) -> Iterator[str | Edit]:
    """The words and the edits of a reply, in order."""
    words: list[str] = []
    path = ""
    at = 0
    while at < len(lines):
        end = _block_end(lines, at) if _SEARCH.match(lines[at]) else None
        diff = _diff(lines, at) if end is None else None
        if end is None and diff is None:
            words.append(lines[at])
            at += 1
            continue
        if diff is not None:
            edit, at = diff
        else:
            path = _take_path(words) or path
            edit, at = _edit(lines[at : end or at], path), end or at
            if at < len(lines) and lines[at].startswith("```") and not lines[at].strip("` \t"):
                at += 1  # The fence round the block.
        if text := "\n".join(words).strip("\n"):
            yield text
        words = []
        yield edit
    if text := "\n".join(words).strip("\n"):
        yield text


def _block_end(lines: Sequence[str], start: int) -> int | None:
    """The index behind the block that begins at `start`; None if it is broken."""
    divided = False
    for at in range(start + 1, len(lines)):
        if _SEARCH.match(lines[at]):
            return None
        divided = divided or _DIVIDER.match(lines[at]) is not None
        if _REPLACE.match(lines[at]):
            return at + 1 if divided else None
    return None


def _edit(block: Sequence[str], path: str) -> Edit:
    divider = next(at for at, line in enumerate(block) if _DIVIDER.match(line))
    told: dict[str, object] = {
        **({"path": path} if path else {}),
        "old_text": "\n".join(block[1:divider]),
        "new_text": "\n".join(block[divider + 1 : -1]),
    }
    return Edit(arguments=told, path=path)


def _take_path(words: list[str]) -> str | None:
    """The file that is named over a block, which is taken off the words with its fence."""
    fence = _FENCE.match(words[-1]) if words else None
    if fence is not None:
        words.pop()
    over = words[-1].strip().strip("`*#: ") if words else ""
    if over and _PATH.fullmatch(over) and ("." in over or "/" in over):
        words.pop()
        return over
    info = fence["info"].strip("`") if fence is not None else ""
    return info if "/" in info or "." in info else None


def _diff(lines: Sequence[str], at: int) -> tuple[Edit, int] | None:
    """The diff in the fence that opens at `at`, with the index behind it."""
    fence = _FENCE.match(lines[at])
    if fence is None or fence["info"] != "diff":
        return None
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == fence["ticks"]:
            text = "\n".join(lines[at + 1 : end])
            named = _NAMED_FILE.search(text)
            return (Edit(arguments={"patch": text}, path=named["path"]), end + 1) if named else None
    return None
