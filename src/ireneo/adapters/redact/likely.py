"""Whether a value that stands behind a name such as `password` is one, or a word, a path or a piece of code."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

_PLACEHOLDERS = lazy_re(
    r"^[<{\[]|^%\w*%?$|\{\{|xxxx|\*\*\*|\.\.\.|…|your[-_]?|example|change[-_]?me|placeholder|redacted|dummy|insert|"
    r"^(?:test|fake|mock|sample|null|none|true|false|undefined|string|todo|tbd)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_VARIABLE = lazy_re(r"\$(?:[({].*|[A-Z_][A-Z0-9_]*|[a-z_]+(?:[A-Z][a-z]+)*)", re.DOTALL)
_PATH = lazy_re(r"^(?:~|\.{1,2})?/|^[A-Za-z]:\\|://")
_CODE = lazy_re(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""A name with a dot in it, as `os.environ` and `config.json` are."""
_SEPARATED = lazy_re(
    r"(?:[A-Z]?[a-z]+\d{0,2}|[A-Z]+\d{0,2}|v?\d+)(?:[-_./:](?:[A-Z]?[a-z]+\d{0,2}|[A-Z]+\d{0,2}|v?\d+))+"
)
"""Words with something between them, as `api-key-v2` has."""
_PIECE = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UUID = lazy_re(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VOWELS = frozenset("aeiou")
_SYMBOLS = frozenset("!@#%^&*?+~|")

SHORT_PIECES = 3.2
SHORT_PIECES_OF_LONG = 3.6
"""A name is made of words: its pieces, each of one case, are longer than this on average, and those of random letters
are not. Of 2,186 mixed names in a log of Go development, ten were below; of random letters and digits, 97 to 99 in 100
are. From `LONG` characters on, names and random letters lie further apart."""
LONG = 20


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret that is elsewhere: a variable, a hole to fill, an example, a mark of ours."""
    return bool(_PLACEHOLDERS.search(value) or _VARIABLE.fullmatch(value))


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether `value`, which was called a password, is one: it has a digit, or a symbol, or no words in it."""
    if len(value) < 6 or is_placeholder(value) or _PATH.search(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    letters = any(char.isalpha() for char in value)
    if letters and (
        any(char.isdigit() for char in value) or any(char in _SYMBOLS for char in (value if quoted else value[:-1]))
    ):
        return True
    return len(value) >= 8 and letters and (_is_random(value) or _is_unspeakable(value))


def is_token(value: str, *, quoted: bool, uuid: bool = False) -> bool:
    """Whether `value`, which was called a token or a key, is one: long, and no name that people would give a thing."""
    if len(value) < 12 or is_placeholder(value) or _PATH.search(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    if _UUID.fullmatch(value):
        return uuid
    return _is_random(value)


def is_name(value: str) -> bool:
    """Whether `value` is one that programs give a thing: `test_key`, `my-secret-2`."""
    return value.isidentifier() or bool(_SEPARATED.fullmatch(value))


def is_carried(value: str) -> bool:
    """Whether `value` is unlike any word, so that it can be looked for where nothing gives it away."""
    if len(value) < 8 or not any(char.isalpha() for char in value):
        return False
    return any(char.isdigit() or char in _SYMBOLS for char in value) or (len(value) >= 12 and _is_random(value))


def _is_unspeakable(value: str) -> bool:
    """Whether no vowel is in a third of the pieces of a value in mixed letters."""
    if not value.isalpha() or value.islower() or value.isupper():
        return False
    pieces = _PIECE.findall(value)
    return 3 * sum(not _VOWELS & set(piece.lower()) for piece in pieces) >= len(pieces) > 1


def _is_random(value: str) -> bool:
    pieces = _PIECE.findall(value)
    if not any(char.isalpha() for char in value) or _SEPARATED.fullmatch(value):
        return False
    if value.isalpha() and (value.islower() or value.isupper()):
        return False
    short = SHORT_PIECES if len(value) < LONG else SHORT_PIECES_OF_LONG
    return not pieces or sum(len(piece) for piece in pieces) / len(pieces) < short
