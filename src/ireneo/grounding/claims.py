"""What a sentence claims that can be looked up: paths, names, numbers, errors, commands, quotations, dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from ireneo.grounding.dates import CLOCK, ISO, SPOKEN, WEEKDAY
from ireneo.grounding.numbers import NUMBER
from ireneo.grounding.proper_names import proper_names
from ireneo.log.message import BLOCK_TAGS
from ireneo.patterns import lazy_re

Kind = Literal["path", "identifier", "number", "error", "command", "quotation", "name", "date"]

MIN_QUOTED_WORDS = 3
"""Fewer words in quotation marks are a term or a doubt, and not what someone said."""


class Claim(Struct, frozen=True):
    """One thing that a sentence says and that its sources must show."""

    kind: Kind
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
"""Node.js is no file."""
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
_PATH = lazy_re(
    rf"(?<![\w/.-])(?P<path>(?:…/|\.{{1,3}}/|~/|/)?(?:[\w.@+~-]{{1,255}}/)+(?:\.\.\.|[\w.@+*-]*\w{_ELIDED})?"
    rf"|(?<!\w)\.?[\w-]+(?:\.[\w-]+)*\.(?i:{'|'.join(_ENDINGS)}){_ELIDED}(?![\w/]))(?P<at>(?::\d+){{0,2}})"
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
_ABBREVIATION = lazy_re(r"^(?:e\.g|i\.e|a\.k\.a|etc|vs|p\.m|a\.m|z\.B|d\.h|u\.a|U\.S)\b", re.IGNORECASE)
# A figure that is a part of a word (3D, 16-bit) says no number.
_FIGURE = lazy_re(rf"(?<![\w.])(?:[vV](?=\d+\.))?{NUMBER}(?!\d|…|\.\.\.|[\w-]{{0,60}}[A-Za-z_])")
_LINES = lazy_re(r"\b[Ll]ines? \d+(?:(?:, ?| ?[-–] ?| (?:to|and|or) )\d+)*\b(?![\w.,]*\w)")
_DATE = lazy_re(f"{ISO}|{SPOKEN}|{CLOCK}|{WEEKDAY}")

_Found = tuple[int, Claim]


def claims(text: str) -> list[Claim]:
    """List what can be looked up in `text`, in order, each once.

    A claim belongs to one kind: what stands in a quotation or in code is that, and is not taken apart further.
    """
    rest = _NOT_CLAIMS.sub(_blank, text.replace(_HIDDEN, " "))
    found: list[_Found] = []
    for pattern, read in _STEPS:
        rest = _take(pattern, read, rest, found)
    found.extend((place, Claim("name", name)) for place, name in proper_names(rest, _HIDDEN))
    return list(dict.fromkeys(claim for _, claim in sorted(found, key=lambda each: each[0])))


def _take(
    pattern: re.Pattern[str], read: Callable[[re.Match[str]], list[Claim]], text: str, found: list[_Found]
) -> str:
    """Move what `pattern` finds from `text` to `found`."""

    def move(match: re.Match[str]) -> str:
        claimed = read(match)
        found.extend((match.start(), claim) for claim in claimed)
        return _blank(match) if claimed else match[0]

    return pattern.sub(move, text)


def _blank(match: re.Match[str]) -> str:
    # Lines stay lines, so that what begins one still does.
    return re.sub(r"[^\n]", _HIDDEN, match[0])


def _of_fence(match: re.Match[str]) -> list[Claim]:
    return [Claim("command", line.strip()) for line in match["code"].splitlines() if re.search(r"\w", line)]


def _of_verbatim(match: re.Match[str]) -> list[Claim]:
    code = match["double"] or match["code"]
    if code is not None:
        return code_claims(code)
    return _of_quotation(next(group for group in match.groups() if group is not None).strip())


def code_claims(code: str) -> list[Claim]:
    """What is claimed by `code`, which stands between backticks: a path, a name, a number, or a command as it is."""
    text = code.strip()
    if not re.search(r"\w", text):
        return []
    path = _PATH.fullmatch(text)
    if path and (_ENDS_LIKE_A_FILE.search(path["path"]) or "/" in path["path"]):
        return _of_path_parts(path)
    if _FIGURE.fullmatch(text):
        return [Claim("number", text)]
    if _ERROR.fullmatch(text):
        return [Claim("error", text)]
    if re.fullmatch(r"(?:\\[ntr])?[\w.$@:#-]+(?:\(\))?(?:…|\.\.\.)?", text):
        return [Claim("identifier", text)]
    return [Claim("command", text)]


def _of_quotation(text: str) -> list[Claim]:
    if len(re.findall(r"[\w.…-]+", text)) < MIN_QUOTED_WORDS:
        return []
    return [Claim("quotation", text)]


def _of_path(match: re.Match[str]) -> list[Claim]:
    path = match["path"]
    if not _is_path(path) if "/" in path else _PRODUCT.match(path):
        return []
    return _of_path_parts(match)


def _of_path_parts(match: re.Match[str]) -> list[Claim]:
    lines = [Claim("number", f"line {number}") for number in match["at"].split(":") if number]
    return [Claim("path", match["path"]), *lines]


def _is_path(text: str) -> bool:
    """Whether a word with strokes in it is a path, and not two words of which either may hold."""
    parts = [part for part in text.split("/") if part]
    if not parts or all(re.fullmatch(r"[\d.,]+", part) for part in parts):
        return False
    if text[0] in "/~.…" or len(parts) > 2 or _ENDS_LIKE_A_FILE.search(parts[-1]):
        return len(parts) > 1 or len(parts[0]) > 1
    return any(re.search(r"[_.@\d]|\w-\w", part) for part in parts) or not _FOLDERS.isdisjoint(parts)


def _of_identifier(match: re.Match[str]) -> list[Claim]:
    text = match[0]
    if _ABBREVIATION.match(text) or _PRODUCT.match(text):
        return []
    return [Claim("identifier", text)]


def _of_lines(match: re.Match[str]) -> list[Claim]:
    # That it is a line's number matters: a tool that shows a file writes one before each line of it.
    return [Claim("number", f"line {number}") for number in re.findall(r"\d+", match[0])]


def _as(kind: Kind) -> Callable[[re.Match[str]], list[Claim]]:
    def read(match: re.Match[str]) -> list[Claim]:
        return [Claim(kind, match[0])]

    return read


_STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Claim]]], ...] = (
    (_FENCE, _of_fence),
    (_VERBATIM, _of_verbatim),
    (_ADDRESS, _as("path")),
    (_DATE, _as("date")),
    (_PATH, _of_path),
    (_ERROR, _as("error")),
    (_IDENTIFIER, _of_identifier),
    (_LINES, _of_lines),
    (_FIGURE, _as("number")),
)
