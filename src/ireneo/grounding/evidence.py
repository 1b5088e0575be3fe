"""The sources of a statement, made ready to be looked into for what it claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from ireneo.grounding.claims import Claim, Kind
from ireneo.grounding.dates import Date, dates
from ireneo.grounding.normal import straight, unescaped, unmarked
from ireneo.grounding.numbers import read, units, without_gutter
from ireneo.patterns import lazy_re

_WORD = lazy_re(r"\w+")
_STATUS = lazy_re(
    r"(?:exit(?:ed|s)?|return(?:ed|code| code)?|status|code|error|signal)\W{0,4}"
    r"(?:(?:with|code|status|was|value|non-zero)\W{1,4}){0,3}(\d{1,3})\b",
    re.IGNORECASE,
)
_ELISION = lazy_re(r"(?:(?<!\s)\s++)?\[?\.\.\.\]?\s*")
_PRODUCT_ENDINGS = ("s", "ql", "sql", "js", "py", "db", "file", "d")
"""What a name may end with in an identifier: Postgres is there where postgresql is."""
_GAP = 60
"""Characters that may stand between two words of a command that is told in a shorter form."""
_ATTRIBUTE_ENDINGS = (".env", ".log", ".db", ".conf")
"""What ends like a file and is as often an attribute."""

Free = Callable[[str, int, int], bool]
"""Whether what stands in a text from one place to another is whole there."""


class Evidence:
    """Texts that claims are looked up in. Built once; a question costs one search at the most."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._given = tuple(texts)
        written = tuple(dict.fromkeys(straight(text) for text in self._given))
        # What is a string in JSON is looked into as it is written, and as it reads.
        plain = tuple(unescaped(text) for text in written)
        self._texts = tuple(dict.fromkeys((*plain, *written)))
        self._plain = "\n".join(plain)
        self._known: dict[Claim, bool] = {}
        self._ask: dict[Kind, Callable[[str], bool]] = {
            "path": self._has_path,
            "identifier": self._has_identifier,
            "number": self._has_number,
            "error": self._has_error,
            "command": self._has_command,
            "quotation": self._has_quotation,
            "name": self._has_name,
            "date": self._has_date,
        }

    @cached_property
    def _whole(self) -> str:
        return "\n".join(self._texts)

    @cached_property
    def _small(self) -> str:
        return self._plain.casefold()

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self._plain))

    @cached_property
    def _small_words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in self._words)

    @cached_property
    def _units(self) -> dict[str, set[str]]:
        """Every figure with the units that it stands with; the empty one where it stands alone."""
        if not self._lines:
            return units(self._plain)
        return units("\n".join(unescaped(straight(bare)) for bare, _ in self._unnumbered))

    @cached_property
    def _lines(self) -> frozenset[str]:
        """The numbers of the lines that were shown."""
        return frozenset().union(*(numbers for _, numbers in self._unnumbered))

    @cached_property
    def _unnumbered(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return tuple(without_gutter(text) for text in self._given)

    @cached_property
    def _dates(self) -> frozenset[Date]:
        return frozenset(dates(self._plain))

    @cached_property
    def _statuses(self) -> frozenset[str]:
        return frozenset(_STATUS.findall(self._plain))

    @cached_property
    def _quotable(self) -> tuple[str, ...]:
        return tuple(unmarked(text) for text in self._texts)

    def supports(self, claim: Claim) -> bool:
        """Whether the sources show what `claim` says."""
        if claim not in self._known:
            self._known[claim] = self._ask[claim.kind](straight(claim.text))
        return self._known[claim]

    def _has_path(self, path: str) -> bool:
        cut = path.endswith("...") and not path.endswith("/...")
        wanted = unmarked(path.removesuffix("...") if cut else path).rstrip("/")
        wanted = re.sub(r"^(?:\.{1,3}/)+", "", wanted)
        if self._stands(wanted, _begins_path if cut else _is_path):
            return True
        return wanted.endswith(_ATTRIBUTE_ENDINGS) and self._stands(wanted, _is_word)

    def _has_identifier(self, name: str) -> bool:
        if name.endswith("..."):
            return self._stands(name.removesuffix("..."), _begins_word)
        name = re.sub(r"^(?:\\[ntr])|\(\)$", "", name)
        if name in self._words or self._stands(name, _is_word):
            return True
        if re.fullmatch(r"[0-9a-f]{7,40}", name):
            return self._stands(name, _begins_word)
        bare = name.strip("$@:.#-")
        if bare != name and bare:
            return not name.startswith("-") and self._has_identifier(bare)
        if name[:1].isupper() and "_" not in name and name.casefold() in self._small_words:
            return True
        parts = re.split(r"\.|::|->", name)
        # A method named by its class stands apart from it where it is written.
        return len(parts) > 1 and all(part in self._words for part in parts)

    def _has_number(self, number: str) -> bool:
        asked = read(number)
        if asked is None:
            return self._stands(number, _is_word)
        figure, unit = asked
        if number.startswith("line ") and figure in self._lines:
            return True
        known = self._units.get(figure)
        if known is None:
            return False
        # A figure that never has a unit may be given the one that is meant, but none may be changed for another.
        return not unit or unit in known or known == {""}

    def _has_error(self, error: str) -> bool:
        number = re.search(r"(?<!\d)\d+$", error)
        if number and error.lower().startswith("exit"):
            return number[0] in self._statuses
        if number and error.startswith("HTTP"):
            return number[0] in self._units
        return all(part in self._words for part in error.split(".")) or error.rpartition(".")[2] in self._words

    def _has_command(self, command: str) -> bool:
        wanted = unmarked(re.sub(r"^[$>%] ", "", command))
        if not wanted or self._has_quotation(wanted):
            return True
        cut = wanted.endswith("...") and not wanted.endswith("/...")
        words = _ELISION.sub(" ", wanted).split() if cut else wanted.split()
        return any(_in_order(words, text) for text in self._quotable)

    def _has_quotation(self, quotation: str) -> bool:
        text = unmarked(quotation).strip().rstrip(".,;:!?") if not quotation.endswith("...") else unmarked(quotation)
        pieces = [piece for piece in _ELISION.split(text) if piece]
        if not pieces:
            return True
        open_at_start, open_at_end = bool(_ELISION.match(text)), text.endswith("...")
        other = _other_case(pieces[0])
        return any(
            _has_pieces([first, *pieces[1:]], source, open_at_start, open_at_end)
            for source in self._quotable
            for first in (pieces[0], other)
            if first in source
        ) or ("..." in text and self._stands(text.strip(), _is_word))

    def _has_name(self, name: str) -> bool:
        wanted = re.sub(r"['-]s\b", "", name).casefold()
        return all(self._has_name_word(word) for word in re.split(r"[\s'-]+", wanted) if word)

    def _has_name_word(self, word: str) -> bool:
        if word in self._small_words or word.rstrip("s") in self._small_words:
            return True
        return len(word) > 3 and any(_may_end(self._small, end) for end in _finds(word, self._small, _opens_word))

    def _has_date(self, text: str) -> bool:
        asked = list(dates(text))
        if asked:
            year, month, day = asked[0]
            return asked[0] in self._dates or ((0, month, day) in self._dates and str(year) in self._units)
        if ":" in text:
            return self._stands(text, _is_time)
        said = text.casefold()
        return not self._small_words.isdisjoint((said, said.rstrip("s"), f"{said}s", said[:3]))

    def _stands(self, wanted: str, free: Free) -> bool:
        return bool(wanted) and any(True for _ in _finds(wanted, self._whole, free))


def _finds(wanted: str, text: str, free: Free) -> Iterator[int]:
    """Where `wanted` ends in `text`, wherever it is whole."""
    start = text.find(wanted)
    while start >= 0:
        if free(text, start, start + len(wanted)):
            yield start + len(wanted)
        start = text.find(wanted, start + 1)


def _is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"


def _begins_word(text: str, start: int, _end: int) -> bool:
    return start == 0 or not (_is_word_char(text[start - 1]) and _is_word_char(text[start]))


def _ends_word(text: str, end: int) -> bool:
    return end == len(text) or not (_is_word_char(text[end - 1]) and _is_word_char(text[end]))


def _is_word(text: str, start: int, end: int) -> bool:
    after = text[end : end + 1]
    return _begins_word(text, start, end) and _ends_word(text, end) and not (after == "-" and text[start] == "-")


def _begins_path(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    return _begins_word(text, start, end) and before not in (".", "-")


def _is_path(text: str, start: int, end: int) -> bool:
    if not _begins_path(text, start, end) or not _ends_word(text, end):
        return False
    after = text[end : end + 2]
    return after[:1] != "-" and not (after[:1] == "." and after[1:].isalnum())


def _is_time(text: str, start: int, end: int) -> bool:
    return not text[start - 1 : start].isdigit() and not text[end : end + 1].isdigit()


def _opens_word(text: str, start: int, _end: int) -> bool:
    return start == 0 or not text[start - 1].isalnum()


def _may_end(text: str, end: int) -> bool:
    rest = re.match(r"[^\W\d_]*", text[end : end + 8])
    return rest is not None and (not rest[0] or rest[0] in _PRODUCT_ENDINGS)


def _other_case(piece: str) -> str:
    """`piece` with its first letter large or small: a quotation may begin in the middle of a sentence."""
    return piece[:1].swapcase() + piece[1:]


def _has_pieces(pieces: Sequence[str], text: str, open_at_start: bool, open_at_end: bool) -> bool:
    """Whether the pieces of a quotation follow each other in `text`, whole words but where it is cut."""
    place = 0
    for number, piece in enumerate(pieces):
        cut_before = open_at_start if number == 0 else True
        cut_after = open_at_end if number == len(pieces) - 1 else True
        place = text.find(piece, place)
        while place >= 0:
            end = place + len(piece)
            if (cut_before or _begins_word(text, place, end)) and (cut_after or _ends_word(text, end)):
                break
            place = text.find(piece, place + 1)
        if place < 0:
            return False
        place += len(piece)
    return True


def _in_order(words: Sequence[str], text: str) -> bool:
    """Whether the words of a command follow each other in `text`, each not far from the one before."""
    ends = list(_finds(words[0], text, _is_word))
    for word in words[1:]:
        if not ends:
            return False
        reached: list[int] = []
        near = 0
        for end in _finds(word, text, _is_word):
            start = end - len(word)
            while near < len(ends) and ends[near] + _GAP < start:
                near += 1
            if near < len(ends) and ends[near] <= start:
                reached.append(end)
        ends = reached
    return bool(ends)
