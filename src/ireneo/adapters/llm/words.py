"""Somebody else's words, as our messages may hold them."""

from __future__ import annotations

from ireneo.patterns import lazy_re

_SHOWN = 200
_KEY = lazy_re(r"\b(?:sk|pk|key|gsk|xai|AIza)[-_*][\w*.-]{6,}|\bAIza[\w-]{10,}")


def shown(words: str, keys: tuple[str, ...]) -> str:
    """Somebody else's words as a message may hold them: one short line, without keys."""
    line = " ".join(words.split())
    for key in keys:
        line = line.replace(key, "[key]")
    line = _KEY.sub("[key]", line)
    if len(line) > _SHOWN:
        line = line[: _SHOWN - 1] + "…"
    return line or "no reason was given"
