"""Secrets that only their name gives away: `password=…`, `"api_key": "…"`, `--token …`, a cookie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.adapters.redact.likely import is_password, is_placeholder, is_token
from ireneo.adapters.redact.span import Span
from ireneo.patterns import lazy_re

PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd")
KEYS = tuple(
    f"{word}{dash}key" for word in ("api", "access", "auth", "private", "secret", "account") for dash in ("_", "-", "")
)
TOKENS = ("token", "secret", "credential", *KEYS)
"""What the names of secrets end with, in small letters."""
_STEMS = (*((word, "password") for word in PASSWORDS), *((word, "secret") for word in TOKENS[:3]), ("key", "secret"))

_COUNTED_TOKENS = lazy_re(r"(?:page|next|cursor|continuation|sync|cancellation|max|stop|eos|bos|pad|sep|unk)[_-]?token")
"""Tokens that open nothing."""

LONGEST_NAME = 64

_QUOTE = r"\\*[\"'`]"
_BARE = r"[^\s\"'`\\,;&<>(){}\[\]|]{6,512}"
_QUOTED = r"[^\s\"'`\\\[\]]{6,512}"
_ASSIGNED = lazy_re(
    rf"(?P<close>{_QUOTE})?\]?(?P<sign>[ \t]{{0,8}}(?::=|=>|==?|:)[ \t]{{0,8}}|[ \t]+is:?[ \t]+)"
    rf"(?:(?P<open>{_QUOTE})(?P<quoted>{_QUOTED})(?={_QUOTE})|(?P<bare>{_BARE}))",
    re.IGNORECASE,
)
_OPTION = lazy_re(rf"[ \t]+(?:{_QUOTE})?(?P<bare>{_BARE})")
_NAME = lazy_re(r"(?<![\w-])[\w-]*\Z")
_COOKIES = lazy_re(rf"(?:{_QUOTE})?[ \t]*[:=][ \t]*(?:{_QUOTE})?(?P<line>[^\r\n\"'\\]{{1,4096}})")
_COOKIE = lazy_re(r"[\w.-]{1,128}=([^;,\s\[\]]{16,4096})")


def named(text: str) -> Iterator[Span]:
    """The values in `text` that stand behind the name of a secret, and look like one."""
    small = _small(text)
    for word, kind in _STEMS:
        at = small.find(word)
        while at >= 0:
            end = at + len(word)
            if word != "key" or small.endswith(KEYS, 0, end):
                yield from _behind(text, small, end, kind)
            at = small.find(word, end)
    at = small.find("cookie")
    while at >= 0:
        yield from _cookies(text, at + len("cookie"))
        at = small.find("cookie", at + len("cookie"))


def value_named(text: str, name: str) -> Iterator[Span]:
    """All of `text`, where it stands under the `name` of a secret and looks like one."""
    small = name.lower()
    kind = "password" if small.endswith(PASSWORDS) else "secret" if small.endswith(TOKENS) else None
    if kind and not any(char.isspace() for char in text) and _is_secret(text, kind, small, quoted=True):
        yield Span(0, len(text), kind)


def _behind(text: str, small: str, end: int, kind: str) -> Iterator[Span]:
    """What stands behind a name that ends at `end`, where it is a secret."""
    found = _ASSIGNED.match(text, end) or _OPTION.match(text, end)
    if found is None:
        return
    before = _NAME.search(small[max(0, end - LONGEST_NAME) : end])
    name = before[0] if before else ""
    held = found.groupdict()
    if "sign" not in held and not name.startswith("-"):
        return
    quoted = held.get("quoted") is not None
    if not quoted and (held.get("close") or text[found.end() : found.end() + 1] in ("(", "[")):
        # The value of a key in quotes is in quotes, or it is a number, a name or a call.
        return
    value = found["quoted"] if quoted else found["bare"].rstrip(".:!?")
    is_variable = held.get("sign") == "=" and text[end - 3 : end].isupper()
    if _is_secret(value, kind, name, quoted=quoted) or (kind == "password" and is_variable and _is_set(value)):
        start = found.start("quoted" if quoted else "bare")
        yield Span(start, start + len(value), kind)


def _is_secret(value: str, kind: str, name: str, *, quoted: bool) -> bool:
    if kind == "password":
        return is_password(value, quoted=quoted)
    if name.endswith("token"):
        # Many a token is a number or a UUID that only counts.
        return not _COUNTED_TOKENS.search(name) and is_token(value, quoted=quoted)
    return is_token(value, quoted=quoted, uuid=True)


def _is_set(value: str) -> bool:
    """Whether a variable of the environment that is called a password has this for one, a word though it be."""
    return len(value) >= 8 and value.isalpha() and not is_placeholder(value)


def _cookies(text: str, at: int) -> Iterator[Span]:
    line = _COOKIES.match(text, at)
    if line is None:
        return
    for cookie in _COOKIE.finditer(text, line.start("line"), line.end("line")):
        if is_token(cookie[1], quoted=True):
            yield Span(cookie.start(1), cookie.end(1), "cookie")


def _small(text: str) -> str:
    """`text` in small letters, each where it was; a few letters become two of them, and are left as they are."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if char.isascii() else char for char in text)
