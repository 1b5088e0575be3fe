"""One way of writing a text: what differs only in spaces, quotation marks or escapes is made alike."""

from __future__ import annotations

import re

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


def straight(text: str) -> str:
    """`text` on one line, with plain quotation marks and dashes, and one space where there are several."""
    return " ".join(text.split() if text.isascii() else text.translate(_STRAIGHT).split())


def unescaped(text: str) -> str:
    """`text` as it reads where it is a string inside JSON; what is no escape stays."""
    if "\\" not in text:
        return text
    return " ".join(_ESCAPE.sub(_meant, text).split())


def unmarked(text: str) -> str:
    """`text` without the marks for code and for stress."""
    return text.replace("`", "").replace("**", "")


def joined(text: str) -> str:
    """`text` with its thousands written together: ``1,346`` becomes ``1346``."""
    return _THOUSANDS.sub("", text)


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[2])
