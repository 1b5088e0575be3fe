"""Finds the claims of a text that sources can verify: paths, names, numbers, errors, commands, quotations and dates.

Claims and sources are normalised before they are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.numbers import unit_of
from ireneo.language.numbers import unit_pattern as unit_pattern
from ireneo.language.times import CLOCK, ISO, date_pattern, is_clock, weekday_pattern, without_dates
from ireneo.language.topics import Names, Numbers
from ireneo.language.words import common_words, writes_nouns_large
from ireneo.log.calls import GUTTER, gutter_numbers
from ireneo.log.message import BLOCK_TAGS
from ireneo.patterns import lazy_re

_STRAIGHT = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛‹›′", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad"),
    }
)
_ESCAPE = lazy_re(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": " ", "t": " ", "r": " ", "b": " ", "f": " "}
_THOUSANDS = lazy_re(r"(?<=\d)[,_](?=\d{3}(?!\d))")


def normalise_text(text: str) -> str:
    """Put `text` on one line, with plain quotation marks and dashes, and single spaces."""
    return " ".join(text.split() if text.isascii() else text.translate(_STRAIGHT).split())


def unescape_json(text: str) -> str:
    """Resolve the escapes of a JSON string in `text`; anything else stays."""
    if "\\" not in text:
        return text
    return " ".join(_ESCAPE.sub(_unescape, text).split())


def strip_markdown(text: str) -> str:
    """Remove the Markdown marks for code and bold."""
    return text.replace("`", "").replace("**", "")


def _unescape(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[2])


_PLAIN = r"(?:\d{1,3}(?:[,_]\d{3}){1,12}(?!\d)(?:\.\d+)?|\d+(?:\.\d+){0,12}(?:[eE][+-]?\d+)?)"


@cached_data
def figure_pattern() -> str:
    """Return a pattern for a figure with its unit, if it has one."""
    return rf"{_PLAIN}(?:[ -]?(?P<unit>(?i:{unit_pattern()}))(?![A-Za-z0-9_]))?"


# It may follow a letter or a word (v1.2, L88, python3.11), but not be in the middle of a hash.
_IN_WORD = lazy_re(lambda: rf"(?<![A-Za-z0-9_.])[A-Za-z]{{0,12}}(?P<figure>{figure_pattern()})")
_APART = lazy_re(lambda: rf"(?<!\d)(?P<figure>{_PLAIN}) (?P<unit>(?i:{unit_pattern()}))(?![A-Za-z0-9_])")
_PLAIN_FIGURE = lazy_re(_PLAIN)
_NUMBER = lazy_re(figure_pattern)
_DIGIT = lazy_re(r"\d")
_DIGITS = lazy_re(r"\d+")


def strip_gutter(text: str) -> tuple[str, frozenset[str]]:
    """Remove the line numbers that a tool wrote before the lines of `text`; also return those numbers.

    They would be evidence for any number up to the number of lines.
    """
    numbers = gutter_numbers(text)
    if not numbers:
        return text, frozenset()
    bare = GUTTER.sub(lambda match: " " if int(match[1]) in numbers else match[0], text)
    return bare, frozenset(map(str, numbers))


def units_by_figure(text: str) -> dict[str, set[str]]:
    """Map every figure of `text` to its units; the empty unit if it has none."""
    out: dict[str, set[str]] = {}
    for figure, unit in figures(text):
        out.setdefault(figure, set()).add(unit)
    return out


def figures(text: str) -> Iterator[tuple[str, str]]:
    """Yield each occurrence of a figure with its unit; one separated by a space is yielded again with it."""
    for word in text.split():
        if _DIGIT.search(word):
            yield from _figures_in_word(word)
    for found in _APART.finditer(text):
        yield figure_of(found["figure"]), unit_of(found["unit"])


def _figures_in_word(word: str) -> Iterator[tuple[str, str]]:
    """Yield the figures of a word; for a date only the year, since its parts support no other number."""
    if is_clock(word):
        return
    for found in _IN_WORD.finditer(without_dates(word)):
        figure = figure_of(found["figure"])
        yield figure, unit_of(found["unit"])
        # Version 3.11.4 is also evidence for 3.11.
        while figure.count(".") > 1:
            figure = figure.rpartition(".")[0]
            yield figure, ""


def parse_number(text: str) -> tuple[str, str] | None:
    """Parse a single number, such as ``30 s`` or ``v1.2.3``, into figure and unit; None if there is no figure."""
    found = _NUMBER.search(text)
    return (figure_of(found[0]), unit_of(found["unit"])) if found else None


def figure_of(number: str) -> str:
    """Return the figure without its unit and thousands separators."""
    found = _PLAIN_FIGURE.match(number)
    return _THOUSANDS.sub("", found[0]) if found else number


# Proper names in prose: words whose capital letter is evidence. A capital is none at the beginning of a sentence, in a
# heading, or in a language that capitalises all nouns. No names are looked for there: an unchecked name is better than
# a word mistaken for one.


_SENTENCE = lazy_re(r"(?:[.!?:;…]['\")\]]*\s+|\n|\s[-–—→•|]\s|^[-–—→•|]\s|[(\[\"“„«>])")
_PROPER_WORD = lazy_re(r"[^\W\d_](?:[\w&]|['’-](?=\w))*")


def proper_names(text: str, hidden: str) -> Iterator[tuple[int, str]]:
    """The proper names of `text` with their places; words that touch the filler `hidden` were accounted for before."""
    if writes_nouns_large(text):
        return
    start = 0
    for end in [*(found.end() for found in _SENTENCE.finditer(text)), len(text)]:
        yield from ((start + place, name) for place, name in _names_in_sentence(text[start:end], hidden))
        start = end


def _names_in_sentence(sentence: str, hidden: str) -> Iterator[tuple[int, str]]:
    words = list(_PROPER_WORD.finditer(sentence))
    long = [word[0] for word in words if len(word[0]) > 3]
    if len(long) > 3 and sum(word[0].isupper() for word in long) * 4 > len(long) * 3:
        return  # A heading in which every word is capitalised.
    name: re.Match[str] | None = None
    first = 0
    for number, word in enumerate(words):
        opens = number == 0 and hidden not in sentence[: word.start()]
        if opens or not _is_name_word(word, sentence, hidden):
            if name is not None:
                yield first, sentence[first : name.end()]
            name = None
        elif name is not None and sentence[name.end() : word.start()] == " ":
            name = word
        else:
            if name is not None:
                yield first, sentence[first : name.end()]
            name, first = word, word.start()
    if name is not None:
        yield first, sentence[first : name.end()]


_SHORT_NAME = 5


def _is_ordinary_word(word: str) -> bool:
    """Whether `word` may begin any sentence, or has an ending that names don't have."""
    small, names = word.casefold(), topic(Names)
    return (
        small in names.openers
        or small in names.none
        or small in common_words()
        or (len(word) > _SHORT_NAME and small.endswith(names.plain_endings))
    )


def _is_name_word(word: re.Match[str], sentence: str, hidden: str) -> bool:
    text, known = re.sub(r"['’]s$", "", word[0]), topic(Names).large
    if not text[0].isupper() or len(text) < 3 or text in known or text in topic(Names).terms:
        return False
    # All capitals mark an abbreviation or emphasis; a plain word may be capitalised where one sentence quotes another.
    if text.isupper() or text.rstrip("s").isupper() or _is_ordinary_word(text):
        return False
    if any(part in known for part in re.split(r"['’-]", text)):
        return False
    around = sentence[max(0, word.start() - 2) : word.start()]
    # A word next to something hidden is part of it; a word after a quotation may begin a sentence.
    return hidden not in around and sentence[word.end() : word.end() + 1] not in (hidden, "_")


ClaimKind = Literal["path", "identifier", "number", "error", "command", "quotation", "name", "date"]

MIN_QUOTED_WORDS = 3
"""Fewer words in quotation marks are a term, or express doubt, and are not somebody's words."""


class TextClaim(Struct, frozen=True, gc=False):
    """One thing that a sentence says and that its sources must show."""

    kind: ClaimKind
    text: str


_HIDDEN = "\x00"
_FILE_ENDINGS = """
py pyi ipynb go mod js mjs cjs ts tsx jsx rs java kt c h cc cpp hpp cs rb php swift scala sh bash zsh ps1 bat sql md mdx
rst txt json jsonl json5 yaml yml toml ini cfg conf env xml html htm css scss less svg png jpg jpeg gif pdf csv tsv
log lock proto graphql vue svelte db sqlite xz gz zip tar lua ex exs hs ml zig diff patch tmpl tpl wasm
"""
_ENDINGS = _FILE_ENDINGS.split()
_ENDS_LIKE_A_FILE = lazy_re(rf"\.(?:{'|'.join(_ENDINGS)})$", re.IGNORECASE)
_FOLDER_NAMES = """
src lib pkg cmd internal test tests docs doc app apps bin api scripts include tools config core components vendor
packages examples benchmarks migrations adapters
"""
_FOLDERS = frozenset(_FOLDER_NAMES.split())
_PRODUCT = lazy_re(r"[A-Z][a-z]+\.js$")
"""Node.js is not a file."""
_ELIDED = r"(?:…|\.\.\.)?"

_NOT_CLAIMS = lazy_re(
    rf"""
      ^[ \t]*(?:{"|".join(re.escape(tag) for tag in BLOCK_TAGS)})[^\n]*$   # a block's first line
    | ^[ \t]*\#{{1,6}}[ ][^\n]*$                                          # a heading
    | ^[ \t]*(?:[-*+•]|\d{{1,3}}[.)])(?=[ ])                              # the mark of a list
    | ×[ ]?\d+\b | \b\d+[ ]?[x×](?![\w]) | \b\d+[ ]times\b                # how often: counted, not read
    | \b(?i:exit(?:ed|s)?(?:[ ]with)?(?:[ ](?:code|status))?[ ]0)\b      # a success that says nothing of itself
    """,
    re.VERBOSE | re.MULTILINE,
)
_FENCE = lazy_re(r"^[ \t]*```[^\n]*\n(?P<code>.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_VERBATIM = lazy_re(
    r"``(?P<double>[^\n]+?)``|`(?P<code>[^`\n]+)`"
    r"|[“„](?P<curly>[^“”„\n]{2,})[”“]|«(?P<angled>[^«»\n]{2,})»|(?<![\w‘])‘(?P<single>[^‘\n]{2,}?)’(?!\w)"
    r"|(?<![\w\"])\"(?P<plain>[^\"\n]{2,})\"(?![\w\"])"
)
_ADDRESS = lazy_re(r"\bhttps?://[^\s\"'<>()\[\]{}`\\,]+[\w/]")
# Line numbers after a file: `:88`, `:88-95`, `#L8-L9`, and ` (8, 9 and 11)`.
_AT = (
    r"(?:(?::|\#L|[ ]\(?(?=\d+(?:[-–]|,[ ]|[ ]and[ ])\d))\d+"
    r"(?:(?:[-–]|,[ ]?|,?[ ]and[ ])L?\d+\b(?![.\w%])){0,20}){0,2}"
)
_PATH = lazy_re(
    rf"(?<![\w/.-])(?P<path>(?:…/|\.{{1,3}}/|~/|/)?(?:[\w.@+~-]{{1,255}}/)+(?:\.\.\.|[\w.@+*-]*\w{_ELIDED})?"
    rf"|(?<!\w)\.?[\w-]+(?:\.[\w-]+)*\.(?i:{'|'.join(_ENDINGS)}){_ELIDED}(?![\w/]))(?P<at>{_AT})"
)
_ERROR = lazy_re(
    r"(?<![\w.])(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Failure|Interrupt|Exit)\b"
    r"|\b(?i:exit(?:ed|s)?(?: with)?(?: (?:code|status))? -?\d{1,3})\b|\bHTTP(?: status)? \d{3}\b"
    r"|\bE(?:NOENT|ACCES|PERM|EXIST|NOTDIR|ISDIR|INVAL|PIPE|CONNREFUSED|CONNRESET|TIMEDOUT|ADDRINUSE|NOSPC|NOMEM|AGAIN"
    r"|BUSY|MFILE|NOTEMPTY|LOOP|IO|NOTFOUND|RESOLVE)\b|\bSIG(?:KILL|TERM|INT|SEGV|ABRT|PIPE|HUP|BUS|FPE|ILL)\b"
    r"|\b[A-Z]{1,3}\d{3,5}\b"
)
_IDENTIFIER = lazy_re(
    rf"""
    (?: (?<![\w-])--[a-z][\w-]+                                # a flag
    | (?<![\w.])(?:[A-Za-z_]\w*(?:\.|::|->))+[A-Za-z_]\w*             # a dotted name
    | \b[A-Z]{{2,}}-\d+\b                                      # a ticket
    | \b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,40}}\b          # a hash
    | \b0x[0-9a-fA-F]+\b
    | \b[A-Za-z]\w*_\w+\b | \b_+[A-Za-z]\w+\b                  # snake_case, CONSTANT_CASE, __dunder__
    | \b[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*\b                      # camelCase
    | \b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b                      # PascalCase
    | \b[A-Za-z]+\d+[A-Za-z]+\w*\b                             # letters round a figure
    ){_ELIDED}
    """,
    re.VERBOSE,
)
_NUMERONYM = lazy_re(r"[A-Za-z]\d{1,2}[A-Za-z]")
"""e2e, i18n, k8s: jargon, not names."""
_ABBREVIATION = lazy_re(r"^(?:e\.g|i\.e|a\.k\.a|etc|vs|p\.m|a\.m|z\.B|d\.h|u\.a|U\.S)\b", re.IGNORECASE)
# A figure that is part of a word (3D, 16-bit) is not a number.
_FIGURE = lazy_re(lambda: rf"(?<![\w.])(?:[vV](?=\d+\.))?{figure_pattern()}(?!\d|…|\.\.\.|[\w-]{{0,60}}[A-Za-z_])")
_LINES = lazy_re(
    lambda: (
        rf"\b(?i:{any_of(topic(Numbers).lines)}) \d+(?:(?:, ?| ?[-–] ?| {any_of(topic(Numbers).joins)} )\d+){{0,40}}\b"
        r"(?![\w.,]{0,60}\w)"
    )
)
_DATE = lazy_re(lambda: f"{ISO}|{date_pattern()}|{CLOCK}|{weekday_pattern()}")

_Found = tuple[int, TextClaim]


def claims(text: str) -> list[TextClaim]:
    """List the verifiable claims of `text`, in order, each once.

    A claim has one kind: quotations and code are claims as a whole and not analysed further.
    """
    rest = _NOT_CLAIMS.sub(_blank_out, text.replace(_HIDDEN, " "))
    found: list[_Found] = []
    for pattern, read in _STEPS:
        rest = _extract(pattern, read, rest, found)
    found.extend((place, TextClaim("name", name)) for place, name in proper_names(rest, _HIDDEN))
    return list(dict.fromkeys(claim for _, claim in sorted(found, key=lambda each: each[0])))


def _extract(
    pattern: re.Pattern[str], read: Callable[[re.Match[str]], list[TextClaim]], text: str, found: list[_Found]
) -> str:
    """Move the matches of `pattern` from `text` to `found`."""

    def extract_match(match: re.Match[str]) -> str:
        claimed = read(match)
        found.extend((match.start(), claim) for claim in claimed)
        return _blank_out(match) if claimed else match[0]

    return pattern.sub(extract_match, text)


def _blank_out(match: re.Match[str]) -> str:
    # Keep line breaks, since patterns match at line starts.
    return re.sub(r"[^\n]", _HIDDEN, match[0])


def _fence_claims(match: re.Match[str]) -> list[TextClaim]:
    return [TextClaim("command", line.strip()) for line in match["code"].splitlines() if re.search(r"\w", line)]


def _verbatim_claims(match: re.Match[str]) -> list[TextClaim]:
    code = match["double"] or match["code"]
    if code is not None:
        return code_claims(code)
    text = next(group for group in match.groups() if group is not None).strip()
    if len(re.findall(r"[\w.…-]+", text)) < MIN_QUOTED_WORDS:
        return []
    return [TextClaim("quotation", text)]


def code_claims(code: str) -> list[TextClaim]:
    """Return the claims of code between backticks: a path, a name, a number, or else a command."""
    text = code.strip()
    if not re.search(r"\w", text):
        return []
    path = _PATH.fullmatch(text)
    if path and (_ENDS_LIKE_A_FILE.search(path["path"]) or "/" in path["path"]):
        return _path_and_line_claims(path)
    if _FIGURE.fullmatch(text):
        return [TextClaim("number", text)]
    if _ERROR.fullmatch(text):
        return [TextClaim("error", text)]
    if _NAMED_CODE.fullmatch(text):
        name = text.partition("(")[0]
        return [] if name.rstrip("…") in topic(Names).terms else [TextClaim("identifier", name)]
    return [TextClaim("command", text)]


_NAMED_CODE = lazy_re(r"[\w.$@:#-]+(?:\((?:…|\.\.\.)?\))?(?:…|\.\.\.)?")
"""A name, or a call of a function by its name with elided arguments."""


def _path_claims(match: re.Match[str]) -> list[TextClaim]:
    path = match["path"]
    if not _is_path(path) if "/" in path else _PRODUCT.match(path):
        return []
    return _path_and_line_claims(match)


def _path_and_line_claims(match: re.Match[str]) -> list[TextClaim]:
    lines = [TextClaim("number", f"line {number}") for number in _DIGITS.findall(match["at"])]
    return [TextClaim("path", match["path"]), *lines]


def _is_path(text: str) -> bool:
    """Whether a word with slashes is a path, and not alternatives such as “and/or”."""
    parts = [part for part in text.split("/") if part]
    if not parts or all(re.fullmatch(r"[+-]?[\d.,]+", part) for part in parts):
        return False
    if text[0] in "/~.…" or len(parts) > 2 or _ENDS_LIKE_A_FILE.search(parts[-1]):
        return len(parts) > 1 or len(parts[0]) > 1
    return any(re.search(r"[_.@\d]|\w-\w", part) for part in parts) or not _FOLDERS.isdisjoint(parts)


def has_file_ending(name: str) -> bool:
    """Whether a name has the ending of a file."""
    return _ENDS_LIKE_A_FILE.search(name) is not None


def _identifier_claims(match: re.Match[str]) -> list[TextClaim]:
    text = match[0]
    if _ABBREVIATION.match(text) or _PRODUCT.match(text) or _NUMERONYM.fullmatch(text) or text in topic(Names).terms:
        return []
    return [TextClaim("identifier", text)]


def _line_claims(match: re.Match[str]) -> list[TextClaim]:
    # Marked as line numbers, since tools number the lines of the files they show.
    return [TextClaim("number", f"line {number}") for number in re.findall(r"\d+", match[0])]


def _claim_reader(kind: ClaimKind) -> Callable[[re.Match[str]], list[TextClaim]]:
    def read(match: re.Match[str]) -> list[TextClaim]:
        return [TextClaim(kind, match[0])]

    return read


_STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[TextClaim]]], ...] = (
    (_FENCE, _fence_claims),
    (_VERBATIM, _verbatim_claims),
    (_ADDRESS, _claim_reader("path")),
    (_DATE, _claim_reader("date")),
    (_PATH, _path_claims),
    (_ERROR, _claim_reader("error")),
    (_IDENTIFIER, _identifier_claims),
    (_LINES, _line_claims),
    (_FIGURE, _claim_reader("number")),
)
