"""What a session knows of files: what it has read and written, what is not there, and what was only guessed."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable

from ireneo.patterns import lazy_re

KEEP_TEXTS = 200
"""Files whose text is kept; the one that was touched longest ago goes first."""
KEEP_CHARACTERS = 400_000
"""Of one file."""
_TELLING = 12
"""A line of so many characters hardly stands in a file twice by chance."""
LOOSE = 10**9
"""The first line of a piece whose place in the file is not known."""
KEEP_PATHS = 20_000
_LOOKED_AT = 20_000
"""Characters of an output in which paths are looked for."""

_PATH = lazy_re(r"(?<![\w@+~./-])(?:[\w@+~.-]*/)+[\w@+~.-]+|\b[\w@+-][\w@+.-]{0,255}\.[A-Za-z]\w{0,7}\b")
_NUMBER = lazy_re(r" *(\d+)(?:→|\t| \| ?)")
_NUMBERED = lazy_re(r"^ *\d+(?:→|\t| \| ?)", re.M)


class Known:
    """What is known of one file's text: pieces of it, by the number of their first line."""

    __slots__ = ("changed", "forgotten", "pieces", "whole", "written")

    def __init__(self) -> None:
        """Know nothing of it yet."""
        self.pieces: list[tuple[int, str]] = []
        self.whole = False
        """Nothing of the file is missing."""
        self.written = False
        """The session wrote to it."""
        self.changed = False
        """Something else may have changed it since."""
        self.forgotten = False
        """The tools no longer count it as read."""

    def show(self, first: int, text: str, *, whole: bool) -> None:
        """Lines from `first` on were shown: they stand in the place of what was known of them."""
        text = text[:KEEP_CHARACTERS]
        last = first + text.count("\n")
        loose = [each for each in self.pieces if each[0] >= LOOSE and not _shares_lines(each[1], text)]
        placed = [each for each in self.pieces if each[0] < LOOSE]
        kept = (
            []
            if whole or self.changed
            else [*loose, *(each for start, piece in placed for each in _around(start, piece, first, last))]
        )
        self.pieces = sorted([*kept, (first, text)])
        self.whole = whole
        self.changed = self.forgotten = False

    def replace(self, removed: str, added: str, *, everywhere: bool) -> None:
        """One text was put in the place of another."""
        out: list[tuple[int, str]] = []
        shift, done = 0, not removed
        for start, piece in self.pieces:
            times = piece.count(removed) if not done else 0
            out.append((start + shift, piece.replace(removed, added, -1 if everywhere else 1) if times else piece))
            if times:
                shift += (added.count("\n") - removed.count("\n")) * (times if everywhere else 1)
                done = not everywhere
        if not self.whole and not any(added in piece for _, piece in out):
            out.append((LOOSE, added))
        self.pieces = out
        self.written = True

    def count(self, text: str) -> int:
        """How often `text` stands in what is known."""
        return sum(piece.count(text) for _, piece in self.pieces)


def _shares_lines(one: str, other: str) -> bool:
    lines = set(other.split("\n"))
    return any(len(line.strip()) > _TELLING and line in lines for line in one.split("\n"))


def _around(start: int, piece: str, first: int, last: int) -> list[tuple[int, str]]:
    """What of a piece lies before `first` and after `last`."""
    lines = piece.split("\n")
    if start > last or start + len(lines) - 1 < first:
        return [(start, piece)]
    before, after = lines[: max(0, first - start)], lines[last - start + 1 :]
    return [(at, "\n".join(each)) for at, each in ((start, before), (last + 1, after)) if each]


class Files:
    """The files of one session, folded from what its calls showed."""

    def __init__(self) -> None:
        """Know nothing."""
        self._texts: OrderedDict[str, Known] = OrderedDict()
        self._missing: set[str] = set()
        self._folders: set[str] = set()
        self._mentioned: OrderedDict[str, set[str]] = OrderedDict()

    def hear(self, text: str) -> None:
        """Note every path that `text` names."""
        for path in set(_PATH.findall(text[:_LOOKED_AT])):
            self.mention(path)

    def mention(self, path: str) -> None:
        """Note that there is talk of a path, and of the folders above it."""
        path = path.strip().rstrip("/.")
        name = base(path)
        if not name:
            return
        self._mentioned.setdefault(name, set()).add(path)
        if len(self._mentioned) > KEEP_PATHS:
            self._mentioned.popitem(last=False)
        while "/" in path and len(self._folders) < KEEP_PATHS:
            path = path.rsplit("/", 1)[0]
            if not path or path in self._folders:
                break
            self._folders.add(path)

    def showed(self, path: str, text: str, *, whole: bool) -> None:
        """A file was read."""
        numbered = _NUMBER.match(text)
        known = self._known(path)
        known.show(int(numbered[1]) if numbered else 1, _NUMBERED.sub("", text), whole=whole)
        self._there(path)

    def wrote(self, path: str, text: str) -> None:
        """A file was written whole."""
        known = self._known(path)
        known.changed = False
        known.show(1, text, whole=bool(text))
        known.written = True
        self._there(path)

    def edited(self, path: str, removed: str, added: str, *, everywhere: bool) -> None:
        """A text in a file was put in the place of another."""
        self._known(path).replace(removed, added, everywhere=everywhere)
        self._there(path)

    def forget(self) -> None:
        """A tool said that it has not seen a file that was read: it no longer counts what went before."""
        for known in self._texts.values():
            known.forgotten = True

    def disturbed(self, paths: Iterable[str] | None = None) -> None:
        """These files may have been changed by something else; all of them, where none are named."""
        for path in list(self._texts) if paths is None else [found for each in paths for found in self._same(each)]:
            self._texts[path].changed = True

    def gone(self, path: str) -> None:
        """A file or folder turned out not to be there, or was removed."""
        self._missing.add(path)
        for found in self._same(path):
            del self._texts[found]

    def is_folder(self, path: str) -> None:
        """A path turned out to be a folder."""
        self._folders.add(path.rstrip("/"))

    def text(self, path: str) -> Known | None:
        """What is known of the text of a file."""
        known = self._texts.get(path)
        if known is not None:
            return known
        return next((self._texts[found] for found in self._same(path)), None)

    def standing(self, path: str) -> str:
        """How well a path is known: missing, written, read, a folder, named, known by its name only, or guessed."""
        trimmed = path.rstrip("/")
        if path in self._missing or trimmed in self._missing:
            return "missing"
        known = self.text(path)
        if known is not None:
            if known.forgotten:
                return "that no longer counts as read"
            return "changed by another" if known.changed else "written" if known.written else "read"
        if trimmed in self._folders:
            return "folder"
        named = self._mentioned.get(base(trimmed), ())
        if any(_ends_alike(trimmed, each) for each in named):
            return "named"
        if named:
            return "known by name only"
        return "guessed in a known folder" if trimmed.rpartition("/")[0] in self._folders else "guessed"

    def _same(self, path: str) -> list[str]:
        return [each for each in self._texts if each == path or (base(each) == base(path) and _ends_alike(each, path))]

    def _there(self, path: str) -> None:
        self._missing.discard(path)
        for each in [each for each in self._missing if base(each) == base(path) and _ends_alike(each, path)]:
            self._missing.discard(each)
        self.mention(path)

    def _known(self, path: str) -> Known:
        known = self._texts.setdefault(path, Known())
        self._texts.move_to_end(path)
        if len(self._texts) > KEEP_TEXTS:
            self._texts.popitem(last=False)
        return known


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _ends_alike(one: str, other: str) -> bool:
    """Whether two paths may be one, written from different folders."""
    one, other = one.removeprefix("./"), other.removeprefix("./")
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)
