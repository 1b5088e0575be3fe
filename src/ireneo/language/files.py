"""Load language data: each section is read and validated when it is first used.

A language is one TOML file next to this module. Each of its sections is a topic: a struct in `topics` that defines the
fields. Sections and fields are optional.

In a file, words may be written as one string with blanks between them. In a pattern, `{name}` is replaced by that entry
of the section's table `parts`: a pattern, or a list of alternatives; `{capital}` by `CAPITAL`; `{relation}`, where a
section has a table `relations`, by any word for somebody's relatives, friends and pets. `~stop` stands for any form of
an English verb (stop, stops, stopped, stopping), `~~stop` for those alone that are not nouns as well (stopped,
stopping), `~(stop quit)` for the forms of several. A pattern may span several lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pkgutil import get_data
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

from ireneo.patterns import lazy_re, readable

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "zh")
"""The codes of the known languages, which are the names of their files."""

T = TypeVar("T", bound=Struct)
V = TypeVar("V")

MADE: list[Callable[[], object]] = []
"""Every function decorated with `cached_data`; the tests of patterns call each."""

CAPITAL = r"(?-i:[^\W\d_a-zß-ÿ](?<=[A-ŒŔ-ɏ]))"
"""A pattern for the letter with which a name begins, in whatever Latin alphabet: Anna, Élodie, Łukasz, Şule.

Beyond Latin-1 lower-case letters count as capitals: a list of all capitals would make each pattern slower to compile,
and except for œ hardly a word of these languages begins with such a letter.
"""

_HEADING = lazy_re(r"^(?=\[\w+\]$)", re.MULTILINE)
_LINE_BREAK = lazy_re(r"\n\s*")
_VERBS = lazy_re(r"(~~?)(?:(\w+)|\(([\w\s-]+)\))")
_NAMED_PART = lazy_re(r"\{([a-z_]+)\}")

_sections: dict[str, dict[str, str]] = {}


class Patterns(tuple[str, ...]):
    """The patterns of a field, and a pattern for any of them, which is compiled at its first use.

    So `topic(Rulings).bans.match(clause)` asks whether a clause begins with one. The default of such a field has no
    patterns: it says what stands `around` them, in place of `{}`, and whether case matters.
    """

    search: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[str]]
    split: Callable[..., list[str]]
    sub: Callable[..., str]
    pattern: str
    _around: str = "{}"
    _flags: int = re.IGNORECASE

    def __new__(cls, around: str = "{}", flags: int = re.IGNORECASE, *, rows: Iterable[str] = ()) -> Patterns:
        """`rows` with what stands around them."""
        made = super().__new__(cls, rows)
        if (around, flags) != (cls._around, cls._flags):
            made._around, made._flags = around, flags
        return made

    def __getattr__(self, name: str) -> object:
        if name == "_any":
            value: object = re.compile(self._around.replace("{}", any_of(self)), self._flags)
        elif name.startswith("_"):
            raise AttributeError(name)
        else:
            value = getattr(self._any, name)
        setattr(self, name, value)
        return value

    def with_rows(self, rows: Iterable[str]) -> Patterns:
        """The same with other patterns."""
        return Patterns(self._around, self._flags, rows=rows)


def cached_data(make: Callable[[], V]) -> Callable[[], V]:
    """Cache what `make` returns on its first call, so that importing a module loads no language data."""
    made = cache(make)
    MADE.append(made)
    return made


class _LazyTopic:
    """A topic whose fields are read when they are first asked for, so that a module may hold topics."""

    def __init__(self, kind: type[Struct], codes: tuple[str, ...]) -> None:
        self._kind, self._codes = kind, codes

    def __getattr__(self, name: str) -> object:
        if name not in self._kind.__struct_fields__:
            raise AttributeError(name)
        value = _merge_values([getattr(_read_topic(self._kind, code), name) for code in self._codes])
        setattr(self, name, value)
        return value


def topic(kind: type[T]) -> T:
    """Return a topic over all languages: sets are united, rows are joined in the order of languages."""
    return cast("T", _topic(kind, LANGUAGES))


def of_language(kind: type[T], code: str) -> T:
    """Return a topic of one language; empty if its file has no such section."""
    return cast("T", _topic(kind, (code,)))


_topic = cache(_LazyTopic)


def any_of(alternatives: Iterable[str]) -> str:
    """Return a pattern for any of `alternatives`, each a pattern; without any it matches nothing."""
    return f"(?:{'|'.join(alternatives) or '(?!)'})"


def fill_placeholders(pattern: str, parts: Mapping[str, str]) -> str:
    """Replace each `{name}` in `pattern` by that part, recursively."""
    while _NAMED_PART.search(pattern):
        pattern = _NAMED_PART.sub(lambda found: parts[found[1]], pattern)
    return pattern


def sections(code: str) -> Mapping[str, str]:
    """Return the unparsed sections of a language file by name."""
    if code not in _sections:
        data = get_data(__package__, f"{code}.toml")
        assert data is not None, code
        written = _HEADING.split(data.decode("utf-8"))[1:]
        _sections[code] = {text[1 : text.index("]")]: text for text in written}
    return _sections[code]


@cache
def _read_topic(kind: type[Struct], code: str) -> Struct:
    # Imported lazily: a process that reads no text needs no parser.
    import tomllib

    name = kind.__name__.lower()
    section = tomllib.loads(sections(code).get(name, "")).get(name, {})
    written = section.pop("parts", {})
    parts = {
        key: _expand_pattern(part) if isinstance(part, str) else any_of(map(_expand_pattern, part))
        for key, part in written.items()
    }
    if "relations" in section:
        words = [
            word
            for row in cast("dict[str, list[str]]", _field_value(section["relations"], {})).values()
            for word in row
        ]
        forms = (form for word in words for form in (word.replace("-", " "), word.title(), word))
        parts["relation"] = any_of(sorted(map(re.escape, dict.fromkeys(forms)), key=len, reverse=True))
    values = {key: _field_value(value, parts) for key, value in section.items()}
    for key, default in zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False):
        if isinstance(default, Patterns) and key in values:
            values[key] = default.with_rows(cast("list[str]", values[key]))
    return msgspec.convert(values, readable(kind))


def _field_value(value: object, parts: Mapping[str, str]) -> object:
    """Convert a field: split words that are written as one string, and fill the parts of patterns."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, dict):
        return {key: _field_value(each, parts) for key, each in value.items()}
    return _fill_patterns(value, parts)


def _fill_patterns(value: object, parts: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return fill_placeholders(_expand_pattern(value), parts) if parts else _expand_pattern(value)
    if isinstance(value, list):
        return [_fill_patterns(each, parts) for each in value]
    return {key: _fill_patterns(each, parts) for key, each in value.items()} if isinstance(value, dict) else value


def _expand_pattern(text: str) -> str:
    text = _LINE_BREAK.sub("", text).replace("{capital}", CAPITAL)
    return _VERBS.sub(_verb_forms, text) if "~" in text else text


def _verb_forms(found: re.Match[str]) -> str:
    # Imported lazily: the forms of verbs are read from such files too.
    from ireneo.language.words import verb_inflections

    kinds = ("base", "s", "past", "ing") if found[1] == "~" else ("past", "ing")
    verbs = (found[2] or found[3]).split()
    return any_of(form for verb in verbs for form, kind in verb_inflections(verb).items() if kind in kinds)


def _merge_values(values: list[object]) -> object:
    first = values[0]
    if isinstance(first, frozenset):
        return first.union(*cast("list[frozenset[str]]", values))
    if isinstance(first, Patterns):
        return first.with_rows(each for value in cast("list[Patterns]", values) for each in value)
    if isinstance(first, tuple):
        return tuple(each for value in cast("list[tuple[object, ...]]", values) for each in value)
    maps = cast("list[dict[str, tuple[str, ...]]]", values)
    return {name: tuple(word for each in maps for word in each.get(name, ())) for each in maps for name in each}
