"""Evidence: sources, whether they or what follows from their numbers support a claim, what a text has lost of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ireneo.grounding.claims import (
    ClaimKind,
    TextClaim,
    claims,
    figures,
    has_file_ending,
    normalise_text,
    parse_number,
    strip_gutter,
    strip_markdown,
    unescape_json,
    units_by_figure,
)
from ireneo.language.files import topic
from ireneo.language.numbers import numbers_in_words
from ireneo.language.times import Date, dates
from ireneo.language.topics import Names
from ireneo.language.words import light_stem
from ireneo.log.message import Call, Message, is_own_block, texts, without_recalled_parts
from ireneo.patterns import lazy_re

FEW = 12
"""Counts up to this number need no evidence: of steps, findings, reasons. `SourceIndex.denies_count` finds wrong ones.
"""
MAX_COUNT = 5_000
ROUGH = 0.07
"""Largest relative error of a rounded number."""

_FAMILIES: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3_600, "day": 86_400, "week": 604_800},
    {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"": 1, "k": 1e3, "million": 1e6},
)
_SCALES = {unit: (number, scale) for number, family in enumerate(_FAMILIES) for unit, scale in family.items()}
_KIBI = 1.024
_ITEM = lazy_re(r"[,;|]\s")


class DerivedNumbers:
    """The numbers that can be derived from those in some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def follows(self, figure: str, unit: str) -> bool:
        """Whether `figure` with its unit follows from the texts."""
        try:
            asked = float(figure)
        except ValueError:
            return False  # A version can't be derived.
        if figure[0] == "0" and figure.isdigit():
            return False  # Part of a name or a date.
        if unit in _SCALES:
            number, scale = _SCALES[unit]
            values = self._values_by_family[number]
            scales = (scale, _binary_scale(scale)) if number == 1 else (scale,)
            if any(_is_rounded(asked, figure, each / scale) for each in values for scale in scales):
                return True
        # A share or a sum that a writer worked out is not in the texts, and almost any number is one of some others.
        return (
            unit != "%" and (not unit or unit not in _SCALES) and (asked in self._counts or self._is_small_count(asked))
        )

    def is_countable(self, number: int) -> bool:
        """Whether this number of lines, items or calls can be counted in the texts."""
        return number in self._counts

    def _is_small_count(self, asked: float) -> bool:
        return asked in range(1, FEW + 1) and asked <= self._filled_lines

    @cached_property
    def _filled_lines(self) -> int:
        """The number of lines with anything on them."""
        return sum(bool(line.strip()) for text in self._texts for line in text.splitlines())

    @cached_property
    def _values_by_family(self) -> tuple[frozenset[float], ...]:
        known: tuple[set[float], ...] = tuple(set() for _ in _FAMILIES)
        for line in dict.fromkeys(line for text in self._texts for line in text.splitlines()):
            for figure, unit in figures(line):
                if unit in _SCALES and figure.count(".") <= 1:
                    number, scale = _SCALES[unit]
                    known[number].add(float(figure) * scale)
        return tuple(frozenset(each) for each in known)

    @cached_property
    def _counts(self) -> frozenset[float]:
        """The numbers of lines of each text, of items of each line, and of texts that begin alike (a tool's calls)."""
        counts: set[float] = set()
        begun: Counter[str] = Counter()
        for text in self._texts:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            # The first or last line of an output is often its header or total.
            counts.update((len(lines), len(lines) - 1))
            counts.update(len(_ITEM.findall(line)) + 1 for line in lines)
            begun.update(line.split(None, 1)[0] for line in lines[:1])
        counts.update(begun.values())
        return frozenset(count for count in counts if 0 < count <= MAX_COUNT)


def _is_rounded(asked: float, figure: str, exact: float) -> bool:
    """Whether `figure` is `exact`, rounded or truncated to its number of digits."""
    if abs(asked - exact) <= 1e-9 * max(abs(exact), 1):
        return True
    decimals = len(figure.partition(".")[2])
    digits = figure.replace(".", "").strip("0")
    if decimals:
        place = 10.0**-decimals
    else:
        zeros = len(figure) - len(figure.rstrip("0"))
        # An exact integer is only rounded to one with trailing zeros.
        if exact == int(exact) and not zeros:
            return False
        place = 10.0**zeros
    return bool(digits) and abs(asked - exact) < place and abs(asked - exact) <= ROUGH * abs(exact)


def _binary_scale(scale: float) -> float:
    """Return the scale of a unit of bytes with 1,024 in place of 1,000."""
    steps = round(len(f"{scale:.0f}") / 3 - 1 / 3)
    return float(scale * _KIBI**steps)


def source_texts(messages: Iterable[Message]) -> list[str]:
    """Return the texts of `messages` in order, with the arguments of calls and the time of each message.

    Thinking, another tool's compaction, and what memory recalled are left out, since they are no evidence.
    """
    return [text for message in messages for text in _message_texts(message) if text]


def _message_texts(message: Message) -> Iterator[str]:
    draft = without_recalled_parts(message.draft)
    if draft.origin == "summary" and not is_own_block(draft):
        return
    if draft.at is not None:
        yield f"{draft.at:%Y-%m-%dT%H:%M}"
    yield from texts(draft.parts)
    for call in draft.calls:
        yield call_text(call)


def call_text(call: Call) -> str:
    """Render a call as text: its tool, and its arguments by name, strings verbatim."""
    if isinstance(call.arguments, str):
        return f"{call.name} {call.arguments}"
    return "\n".join([call.name, *_strings(call.arguments)])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (str, Mapping, list, tuple)):
                yield str(key)
                yield from _strings(inner)
            else:
                yield f"{key}: {json.dumps(inner, default=str)}"
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if isinstance(inner, (str, Mapping, list, tuple)):
                yield from _strings(inner)
            else:
                yield json.dumps(inner, default=str)


_WORD = lazy_re(r"\w+")
_STATUS = lazy_re(
    r"(?:exit(?:ed|s)?|return(?:ed|code| code)?|status|code|error|signal)\W{0,4}"
    r"(?:(?:with|code|status|was|value|non-zero)\W{1,4}){0,3}(\d{1,3})\b",
    re.IGNORECASE,
)
_ELISION = lazy_re(r"(?:(?<!\s)\s++)?\[?\.\.\.\]?\s*")
_PRODUCT_ENDINGS = ("s", "ql", "sql", "js", "py", "db", "file", "d")
"""Endings of a name in identifiers: "postgresql" is evidence for "Postgres"."""
_INSERTED = lazy_re(r"\[[^\[\]]*\]")
"""Explanations inserted in a quotation."""
_CODE = lazy_re(r"[(){}\[\]]|::|->|[:=]=|: | = ")
"""Signs that distinguish code from a command line."""
_CODE_WORD = lazy_re(r"[^\W\d]\w*|\d[\w.,]*\b")
_PLACEHOLDER = lazy_re(r"<[a-zA-Z][\w -]*>|\[\w[\w -]*\]|\{\w[\w -]*\}")
_VARYING = lazy_re(r"<[a-zA-Z][\w -]{0,40}>|\.{3}|…")
MOST_VARYING = 4
"""The maximum number of parts into which a text is split around what varies in it."""
_MOVES = lazy_re(r"\b(?:mv|cp) [^\n;&|]{1,1000}")
_STEPS = lazy_re(r"&&|\|\|?|;")
_TEST_FAMILY = lazy_re(r"Test[A-Z][A-Za-z0-9]{3,}")
_HUMPS = lazy_re(r"(?:[A-Z][a-z0-9]+){2,}")
_CAMEL = lazy_re(r"[A-Za-z]+[a-z][A-Z]")
LEAST_FAMILY = 4
"""The common beginning of longer names has more characters than this."""
_COLOURED = lazy_re(r"(?:\x1b|\\(?:u001b|x1b|033|e))?\[\d{1,3}(?:;\d{1,3}){0,4}m")
"""A colour code, also one whose escape character was lost or is written out."""
_GAP = 60
"""The maximum number of characters between two words of a command that is quoted in a shorter form."""
_ATTRIBUTE_ENDINGS = (".env", ".log", ".db", ".conf")
"""Endings of files that are as often attributes."""

MOST_DIGITS = 4
"""A number with fewer digits may count things."""

Free = Callable[[str, int, int], bool]
"""Whether a match in a text, given by its start and end, is at suitable boundaries."""


class SourceIndex:
    """An index of source texts in which claims are looked up. Derived sets are built when first needed."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._given = tuple(_COLOURED.sub("", text) for text in texts)
        written = tuple(dict.fromkeys(normalise_text(text) for text in self._given))
        # JSON strings are searched both with and without their escapes.
        plain = tuple(unescape_json(text) for text in written)
        self._texts = tuple(dict.fromkeys((*plain, *written)))
        self._plain = "\n".join(plain)
        self._known: dict[TextClaim, bool] = {}
        self._ask: dict[ClaimKind, Callable[[str], bool]] = {
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
    def _joined_text(self) -> str:
        return "\n".join(self._texts)

    @cached_property
    def _lower_text(self) -> str:
        return self._plain.casefold()

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self._plain))

    @cached_property
    def _lower_words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in self._words)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(light_stem(word) for word in self._lower_words)

    @cached_property
    def _units(self) -> dict[str, set[str]]:
        """The units of every figure in the sources; the empty unit if it has none."""
        if not self._gutter_numbers:
            return units_by_figure(self._plain)
        return units_by_figure("\n".join(unescape_json(normalise_text(bare)) for bare, _ in self._unnumbered))

    @cached_property
    def _derived(self) -> DerivedNumbers:
        return DerivedNumbers(unescape_json(bare) if "\n" not in bare else bare for bare, _ in self._unnumbered)

    @cached_property
    def _gutter_numbers(self) -> frozenset[str]:
        return frozenset().union(*(numbers for _, numbers in self._unnumbered))

    @cached_property
    def _unnumbered(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return tuple(strip_gutter(text) for text in self._given)

    @cached_property
    def _dates(self) -> frozenset[Date]:
        return frozenset(dates(self._plain))

    @cached_property
    def _statuses(self) -> frozenset[str]:
        return frozenset(_STATUS.findall(self._plain))

    @cached_property
    def _unmarked_texts(self) -> tuple[str, ...]:
        return tuple(strip_markdown(text) for text in self._texts)

    @cached_property
    def _normalised_texts(self) -> tuple[str, ...]:
        """The words of each text, separated by single spaces, without the numbers of listed lines."""
        bare = [normalise_text(text) for text, _ in self._unnumbered]
        return tuple(dict.fromkeys(_normalise(strip_markdown(text)) for text in (*map(unescape_json, bare), *bare)))

    def supports(self, claim: TextClaim) -> bool:
        """Whether the sources support `claim`."""
        if claim not in self._known:
            self._known[claim] = self._ask[claim.kind](normalise_text(claim.text))
        return self._known[claim]

    def denies_count(self, number: int, label: str, listed: int) -> bool:
        """Whether the sources certainly show no `number` of things called `label`, of which `listed` are listed.

        An empty label is an unknown one. Most texts contain any small number somewhere. It is denied if it isn't
        written anywhere and can't be counted, or if the sources give another count of the same things.
        """
        stem = light_stem(label.casefold())
        told = [place for place, word in enumerate(self._stem_sequence) if word == stem] if stem else []
        if listed >= number or len(told) >= number:
            return False
        if not (
            self._units.get(str(number))
            or number in self._numbers_in_words.values()
            or self._derived.is_countable(number)
        ):
            return True
        before = [self._number_at(place - step) for place in told for step in (1, 2, 3)]
        return number not in before and any(2 <= (self._number_at(place - 1) or 0) <= FEW for place in told)

    @cached_property
    def _stem_sequence(self) -> list[str]:
        return [light_stem(word) for word in _WORD.findall(self._lower_text)]

    @cached_property
    def _numbers_in_words(self) -> dict[str, int]:
        return {light_stem(words): value for words, value in numbers_in_words(self._plain)}

    def _number_at(self, place: int) -> int | None:
        """The number at a position of `_in_order`; None if that word is not a number, or has too many digits."""
        word = self._stem_sequence[place] if place >= 0 else ""
        return int(word) if word.isdecimal() and len(word) < MOST_DIGITS else self._numbers_in_words.get(word)

    def _has_path(self, path: str) -> bool:
        cut = path.endswith("...") and not path.endswith("/...")
        wanted = strip_markdown(path.removesuffix("...") if cut else path).rstrip("/")
        wanted = re.sub(r"^(?:\.{1,3}/)+", "", wanted)
        if self._occurs(wanted, _begins_path if cut else _is_path):
            return True
        if "*" in wanted or (wanted.startswith("_") and "/" not in wanted):
            # `reset.go, _test.go`: the rest of a longer name.
            return all(self._occurs(part, _anywhere) for part in wanted.split("*") if part)
        if wanted.endswith(_ATTRIBUTE_ENDINGS) and self._occurs(wanted, _is_word):
            return True
        folder, _, file = wanted.rpartition("/")
        parts = wanted.split("/")
        if len(parts) > 1 and all(self._is_alternative(part, plain=len(parts) > 2) for part in parts):
            return (
                True  # Several things, such as "id.go/id_test.go", "Store.WriteRow/WriteTask", "merge/squash/commit".
            )
        moves = (found[0] for found in _MOVES.finditer(self._plain) if folder)  # `mv old/notes.md new/`
        if any(
            any(_occurrences(folder, each, _is_folder)) and any(_occurrences(file, each, _is_path)) for each in moves
        ):
            return True
        while folder:
            if self._occurs(folder, _is_folder) and self._occurs(file, _is_whole_path):
                return True
            folder, _, last = folder.rpartition("/")
            file = f"{last}/{file}"
        return False

    def _is_alternative(self, part: str, *, plain: bool) -> bool:
        """Whether a part between slashes stands alone in the sources: a file, a name, or if `plain` a word in prose."""
        if has_file_ending(part) or _CAMEL.match(part.rpartition(".")[2]):
            return self._has_path(part) if has_file_ending(part) else self._has_identifier(part)
        words = (part, part.title()) if plain and part.isalpha() and part.islower() else ()
        return any(self._occurs(word, _is_separate_word) for word in words)

    def _has_identifier(self, name: str) -> bool:
        if name.endswith("..."):
            return self._occurs(name.removesuffix("..."), _begins_word)
        if name in self._words or self._occurs(name, _is_word):
            return True
        if re.fullmatch(r"[0-9a-f]{7,40}", name):
            return self._occurs(name, _begins_word)
        bare = name.strip("$@:.#-")
        if name.startswith("--") and bare:
            # A program registers the flag `--dry-run` as "dry-run".
            return any(self._occurs(f"{mark}{bare}{mark}", _anywhere) for mark in "\"'`")
        if bare != name and bare:
            return not name.startswith("-") and self._has_identifier(bare)
        if name[:1].isupper() and "_" not in name and name.casefold() in self._lower_words:
            return True
        rest = f"_{name.removeprefix('_')}"
        if (rest == name or name[:1].isupper() or "_" in name) and any(word.endswith(rest) for word in self._words):
            return (
                True  # `TestParse_Empty, _Long`, or `TestParse: Empty, Long`: the prefix is that of a name before it.
            )
        family = name.removesuffix("_")
        if "_" in name and len(family) > LEAST_FAMILY and any(word.startswith(f"{family}_") for word in self._words):
            return True  # `manual_commit_ hooks, suffix`, or `hard_reset` for hard_reset_test.go.
        if _TEST_FAMILY.fullmatch(family) and any(word.startswith(f"{family}_") for word in self._words):
            return True  # What `-run TestParse` runs, or `TestParse_*`: `TestParse_Empty` and others.
        if _HUMPS.fullmatch(name) and any(word.endswith(name) or name == f"{word}s" for word in self._words):
            return True  # `SubmitWithOutput, WithResponse`: the rest of a longer name; or the plural of a name.
        parts = re.split(r"\.|::|->", name)
        # A method that is named with its class is defined without it.
        return len(parts) > 1 and all(part in self._words for part in parts)

    def _has_number(self, number: str) -> bool:
        asked = parse_number(number)
        if asked is None:
            return self._occurs(number, _is_word)
        figure, unit = asked
        if number.startswith("line ") and figure in self._gutter_numbers:
            return True
        known = self._units.get(figure, set())
        # A unit may be added to a figure that has none in the sources, but not be changed.
        if unit in known or known == {""} or (known and not unit):
            return True
        return self._derived.follows(figure, unit)

    def _has_error(self, error: str) -> bool:
        if _TEST_FAMILY.fullmatch(error) or _HUMPS.fullmatch(error):
            return self._has_identifier(error)
        number = re.search(r"(?<!\d)\d+$", error)
        if number and (error.startswith("HTTP") or error.lower().startswith("exit")):
            return number[0] in (self._units if error.startswith("HTTP") else self._statuses)
        return all(part in self._words for part in error.split(".")) or error.rpartition(".")[2] in self._words

    def _has_command(self, command: str) -> bool:
        wanted = strip_markdown(re.sub(r"^[$>%] ", "", command))
        if not wanted or self._has_quotation(wanted) or self._matches_template(wanted):
            return True
        if _CODE.search(wanted) and not _PLACEHOLDER.search(wanted):
            # Code may be shortened and reordered, but not use other names.
            return all(self._has_code_word(word) for word in _CODE_WORD.findall(wanted))
        return all(self._has_step(step) for step in _STEPS.split(wanted))

    def _has_step(self, step: str) -> bool:
        cut = step.endswith("...") and not step.endswith("/...")
        words = _PLACEHOLDER.sub(" ", _ELISION.sub(" ", step) if cut else step).split()
        return not words or any(_words_in_order(words, text) for text in self._unmarked_texts)

    def _has_code_word(self, word: str) -> bool:
        if word[0].isdigit():
            return self._has_number(word)
        return len(word) == 1 or word.casefold() in self._lower_words or word in topic(Names).terms

    def _has_quotation(self, quotation: str) -> bool:
        text = strip_markdown(quotation)
        pieces = [piece for piece in map(_normalise, _ELISION.split(_INSERTED.sub("...", text))) if piece]
        if not pieces:
            return self._occurs(text.strip(), _anywhere) or not _WORD.search(text)
        open_at_start, open_at_end = bool(_ELISION.match(text)), text.endswith("...")
        return (
            any(
                _has_pieces(pieces, source, open_at_start, open_at_end)
                for source in self._normalised_texts
                if pieces[0] in source
            )
            or (("..." in text or "[" in text) and self._occurs(text.strip(), _is_word))
            or self._matches_template(text)
        )

    def _matches_template(self, text: str) -> bool:
        """Whether a source contains a text with words in place of its placeholders: `sed -i '<from>,<to>d'`."""
        fixed = [" ".join(each.split()) for each in _VARYING.split(text)]
        if not 1 < len(fixed) <= MOST_VARYING or not any(_WORD.search(each) for each in fixed):
            return False
        # Each gap matches a few characters at least and at most, so that this takes no longer than a search for each
        # part.
        shape = rf"[^\n]{{1,{_GAP}}}?".join(re.escape(each).replace(r"\ ", r"\s+") for each in fixed)
        return any(re.search(shape, source) for source in self._texts)

    def has_words(self, text: str) -> bool:
        """Whether the words of `text` occur in the sources in sequence, ignoring case."""
        words = _normalise(strip_markdown(normalise_text(text)))
        return bool(words) and any(_has_pieces([words], source, False, False) for source in self._normalised_texts)

    def _has_name(self, name: str) -> bool:
        parts = [part for part in re.sub(r"['-]s\b", "", name).split("-") if part]
        # In a compound that the writer made, such as “Kafka-backed”, the lower-case part names nothing.
        naming = [part for part in parts if not part.islower()] or parts
        words = [word for part in naming for word in re.split(r"[\s']+", part.casefold()) if word]
        return all(map(self._has_name_word, words)) or (name.endswith("_") and self._has_identifier(name))

    def _has_name_word(self, word: str) -> bool:
        if word in self._lower_words or word.rstrip("s") in self._lower_words or light_stem(word) in self._stems:
            return True
        return len(word) > 3 and any(
            _has_product_ending(self._lower_text, end) for end in _occurrences(word, self._lower_text, _starts_word)
        )

    def _has_date(self, text: str) -> bool:
        asked = list(dates(text))
        if asked:
            year, month, day = asked[0]
            return asked[0] in self._dates or ((0, month, day) in self._dates and str(year) in self._units)
        if ":" in text:
            return self._occurs(text, _is_time)
        said = text.casefold()
        return not self._lower_words.isdisjoint((said, said.rstrip("s"), f"{said}s", said[:3]))

    def _occurs(self, wanted: str, free: Free) -> bool:
        return bool(wanted) and any(True for _ in _occurrences(wanted, self._joined_text, free))


def _occurrences(wanted: str, text: str, free: Free) -> Iterator[int]:
    """Yield the ends of the occurrences of `wanted` in `text` that are `free`."""
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


def _anywhere(_text: str, _start: int, _end: int) -> bool:
    return True


def _is_folder(text: str, start: int, end: int) -> bool:
    """Whether a path is named by itself, not as the beginning of another one."""
    after = text[end : end + 2]
    return _is_whole_path(text, start, end) and not (
        after[:1] == "/" and (after[1:].isalnum() or after[1:] in tuple("._*"))
    )


def _is_separate_word(text: str, start: int, end: int) -> bool:
    """Whether a word is not part of a path, a name with dots or dashes, or a call."""
    after = text[end : end + 2]
    return (
        _is_word(text, start, end)
        and text[start - 1 : start] not in tuple("/._-\\$@")
        and after[:1] not in tuple("/-\\(")
        and not (after[:1] == "." and after[1:].isalnum())
    )


_HERE = (" ./", "\n./", "./")


def _is_whole_path(text: str, start: int, end: int) -> bool:
    return _is_path(text, start, end) and (text[start - 1 : start] != "/" or text[max(0, start - 3) : start] in _HERE)


def _is_time(text: str, start: int, end: int) -> bool:
    return not text[start - 1 : start].isdigit() and not text[end : end + 1].isdigit()


def _starts_word(text: str, start: int, _end: int) -> bool:
    return start == 0 or not text[start - 1].isalnum()


def _has_product_ending(text: str, end: int) -> bool:
    rest = re.match(r"[^\W\d_]*", text[end : end + 8])
    return rest is not None and (not rest[0] or rest[0] in _PRODUCT_ENDINGS)


def _normalise(text: str) -> str:
    """The words of `text` in lower case, separated by single spaces."""
    return " ".join(_WORD.findall(text.casefold()))


def _has_pieces(pieces: Sequence[str], text: str, open_at_start: bool, open_at_end: bool) -> bool:
    """Whether the pieces of a quotation follow each other in `text`, as whole words except at its cuts."""
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


def _words_in_order(words: Sequence[str], text: str) -> bool:
    """Whether the words of a command follow each other in `text`, each close to the one before."""
    ends = list(_occurrences(words[0], text, _is_word))
    for word in words[1:]:
        if not ends:
            return False
        reached: list[int] = []
        near = 0
        for end in _occurrences(word, text, _is_word):
            start = end - len(word)
            while near < len(ends) and ends[near] + _GAP < start:
                near += 1
            if near < len(ends) and ends[near] <= start:
                reached.append(end)
        ends = reached
    return bool(ends)


def check_text(text: str, evidence: SourceIndex) -> list[TextClaim]:
    """List the claims of `text` that `evidence` doesn't support."""
    return [claim for claim in claims(text) if not evidence.supports(claim)]


def supported_rate(text: str, evidence: SourceIndex) -> float:
    """Return the share of the claims of `text` that `evidence` supports; 1 if there are none."""
    made = claims(text)
    return sum(evidence.supports(claim) for claim in made) / len(made) if made else 1.0
