"""The redactor: what is found becomes a mark, and is known again wherever it stands later."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ireneo.adapters.redact.patterns import (
    SecretSpan,
    detected,
    formed,
    is_carried,
    lines_of,
    merged,
    named,
    private_keys,
    value_named,
)
from ireneo.patterns import lazy_re

SHORTEST = 6
"""Nothing shorter is a secret, unless a URL or a command has it in a secret's place."""
REMEMBERED = 2_000
"""So many values of a message are looked for where they stand bare; beyond them, the newest."""
KEPT_CHARACTERS = 4_000_000
"""Texts of so many characters are remembered: a draft holds most of its texts twice, and names come again and again."""
BLOB = 1_024
"""From this length on a text of letters and digits alone is an image, an archive, a seal: no secret has its size."""
ROUNDS = 16

_MARK = lazy_re(r"(\[REDACTED [a-z0-9-]+\])")
_BLOB = lazy_re(r"(?:data:[\w.+/;=-]{0,128},)?[A-Za-z0-9+/_=-]*")
_ESCAPED_SPACE = lazy_re(r"(?<!\\)\\+[nrt]")
_WORD = lazy_re(r"\w")


SHORT = 256
MOST_CLEAN = 20_000
"""Short texts without a secret of which that is remembered, over all messages: names of fields, tools and models come
again and again."""
_CLEAN: set[tuple[str, str]] = set()


LONG = 1_024
BETWEEN = "\n\n"
MOST_PARAGRAPHS = 200_000
"""Paragraphs of long texts without a secret of which a hash is remembered, over all messages."""
_PARAGRAPHS: set[int] = set()


def _remember_clean(text: str, name: str) -> None:
    if len(text) <= SHORT:
        if len(_CLEAN) >= MOST_CLEAN:
            _CLEAN.clear()
        _CLEAN.add((text, name))
    elif len(text) >= LONG:
        if len(_PARAGRAPHS) >= MOST_PARAGRAPHS:
            _PARAGRAPHS.clear()
        _PARAGRAPHS.update(map(hash, text.split(BETWEEN)))


class _Known(NamedTuple):
    value: str
    mark: str
    pattern: re.Pattern[str]


class SecretRedactor:
    """A `Redactor` of one message: the package `redact-secret`, with forms and names of our own beside it."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._kinds: dict[str, str] = {}
        self._newest: deque[_Known] = deque(maxlen=REMEMBERED)
        self._known: list[_Known] = []
        self._texts: dict[tuple[str, str], str] = {}
        self._kept = 0

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that were found so far, each with its kind."""
        return self._kinds

    def know(self, secrets: Mapping[str, str]) -> None:
        """Take these for found, each with its kind: they are looked for where they stand bare."""
        for value, kind in secrets.items():
            self._kind(value, kind)

    def redact(self, text: str, name: str = "") -> str:
        """`text` with a mark for each secret; the very same object where it has none."""
        if len(text) < SHORTEST:
            return text
        if not self._known and (text, name) in _CLEAN:
            return text
        earlier = self._texts.get((text, name))
        if earlier is not None:
            return text if earlier == text else earlier
        cleaned = self._redacted(text, name)
        if cleaned == text:
            cleaned = text
            if not self._known:
                _remember_clean(text, name)
        self._kept += len(text)
        if self._kept > KEPT_CHARACTERS:
            self._forget_texts()
        self._texts[text, name] = cleaned
        return cleaned

    def redact_record(self, text: str, name: str = "") -> str:
        """The same; of a long text only the paragraphs that stood in none before are looked through."""
        # A private key may have a blank line in it, and nothing else that is looked for.
        if len(text) < LONG or self._known or (text, name) in self._texts or "-----BEGIN " in text:
            return self.redact(text, name)
        paragraphs = text.split(BETWEEN)
        new = BETWEEN.join(each for each in paragraphs if hash(each) not in _PARAGRAPHS)
        if len(paragraphs) == 1 or (new and next(_secrets(new, ""), None)):
            return self.redact(text, name)
        _remember_clean(text, name)
        return text

    def _redacted(self, text: str, name: str) -> str:
        text = self._without_known(text)
        for _ in range(ROUNDS):
            spans = _outside_marks(text, merged(_inside_quotes(text, span) for span in _secrets(text, name)))
            if not spans:
                break
            pieces = []
            at = 0
            for span in spans:
                mark = f"[REDACTED {self._kind(text[span.start : span.end], span.kind)}]"
                pieces += [text[at : span.start], mark]
                at = span.end
            text = self._without_known("".join([*pieces, text[at:]]))
        return text

    def _kind(self, value: str, kind: str) -> str:
        """The kind under which `value` was found first; where that is now, it is remembered."""
        known = self._kinds.get(value)
        if known is not None:
            return known
        self._kinds[value] = kind
        for each in lines_of(value) if kind == "private-key" else [value] if is_carried(value) else []:
            for form in dict.fromkeys((each, *_escaped(each))):
                self._newest.append(_Known(form, f"[REDACTED {kind}]", _alone(form)))
        # The longest first, since a part of it may be another.
        self._known = sorted(self._newest, key=lambda one: -len(one.value))
        # What was clean before may hold it.
        self._forget_texts()
        return kind

    def _forget_texts(self) -> None:
        self._texts.clear()
        self._kept = 0

    def _without_known(self, text: str) -> str:
        for known in self._known:
            if known.value in text:
                parts = _MARK.split(text)
                cleaned = [known.pattern.sub(known.mark, each) for each in parts[::2]]
                parts[::2] = cleaned
                text = "".join(parts)
        return text


def _secrets(text: str, name: str) -> Iterator[SecretSpan]:
    if name:
        yield from value_named(text, name)
    if len(text) >= BLOB and _BLOB.fullmatch(text):
        return
    if "\\" in text:
        # In a string of JSON a line begins behind an escape, whose letter must not be taken for a part of the secret.
        text = _ESCAPED_SPACE.sub(lambda found: "\n".rjust(len(found[0])), text)
    yield from private_keys(text)
    yield from detected(text)
    yield from formed(text)
    yield from named(text)


def _inside_quotes(text: str, span: SecretSpan) -> SecretSpan:
    """`span` without the quote at its end, or what escapes it: a string of JSON must end where it did."""
    end = span.end
    while end > span.start and text[end - 1] in "\\\"'`":
        end -= 1
    return span._replace(end=end)


def _outside_marks(text: str, spans: list[SecretSpan]) -> list[SecretSpan]:
    """`spans` without what is marked already; of one that a mark stands in, the parts beside it."""
    if not spans or "[REDACTED " not in text:
        return spans
    out = []
    marks = [found.span() for found in _MARK.finditer(text)]
    for span in spans:
        start = span.start
        cuts = [mark for mark in marks if mark[0] < span.end and mark[1] > span.start]
        for begin, end in cuts:
            if begin - start >= SHORTEST:
                out.append(SecretSpan(start, begin, span.kind))
            start = max(start, end)
        if not cuts or span.end - start >= SHORTEST:
            out.append(SecretSpan(start, span.end, span.kind))
    return out


def _escaped(value: str) -> Iterator[str]:
    """How `value` is written in a string of JSON, and in one that such a string holds."""
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    yield value.replace("/", "\\/")


def _alone(value: str) -> re.Pattern[str]:
    """`value`, no part of a longer word; a long one wherever it stands."""
    pattern = re.escape(value)
    if len(value) < 16:
        pattern = (r"(?<!\w)" if _WORD.match(value) else "") + pattern + (r"(?!\w)" if _WORD.match(value[-1]) else "")
    return re.compile(pattern)
