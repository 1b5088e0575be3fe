"""Find secrets in texts, and replace them by marks."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import redact_secret

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.topics import Passwords
from ireneo.patterns import lazy_re

GUESSED = ("secret", "password")
"""The kinds of secrets recognised only by name or place, the less specific first."""


class SecretSpan(NamedTuple):
    """A secret in a text, from `start` up to `end`."""

    start: int
    end: int
    kind: str


def merge_spans(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Sort spans and merge those that overlap, with the most specific of their kinds."""
    out: list[SecretSpan] = []
    for span in sorted(spans):
        if out and span.start < out[-1].end:
            last = out[-1]
            out[-1] = SecretSpan(last.start, max(last.end, span.end), max(last.kind, span.kind, key=_specificity))
        else:
            out.append(span)
    return out


def _specificity(kind: str) -> int:
    return GUESSED.index(kind) if kind in GUESSED else len(GUESSED)


_PLACEHOLDERS = lazy_re(
    r"^[<{\[]|^%\w*%?$|\{\{|xxxx|\*\*\*|\.\.\.|…|your[-_]?|example|change[-_]?me|placeholder|redacted|dummy|insert|"
    r"^(?:test|fake|mock|sample|null|none|true|false|undefined|string|todo|tbd)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_VARIABLE = lazy_re(r"\$(?:[({].*|[A-Z_][A-Z0-9_]*|[a-z_]+(?:[A-Z][a-z]+)*)", re.DOTALL)
_PATH = lazy_re(r"^(?:~|\.{1,2})?/|^[A-Za-z]:\\|://")
_CODE = lazy_re(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""A dotted name, such as `os.environ` or `config.json`."""
_SEPARATED = lazy_re(
    r"(?:[A-Z]?[a-z]+\d{0,2}|[A-Z]+\d{0,2}|v?\d+)(?:[-_./:](?:[A-Z]?[a-z]+\d{0,2}|[A-Z]+\d{0,2}|v?\d+))+"
)
"""Words with separators, such as `api-key-v2`."""
_PIECE = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UUID = lazy_re(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VOWELS = frozenset("aeiou")
_SYMBOLS = frozenset("!@#%^&*?+~|")

SHORT_PIECES = 3.2
SHORT_PIECES_OF_LONG = 3.6
"""The average length of pieces of one case below which a value is treated as random, since names are made of words. Of
2,186 mixed names in a log of Go development ten were below; of random letters and digits 97 to 99 in 100 are. From
`LONG` characters on the two are further apart."""
LONG = 20


def is_placeholder(value: str) -> bool:
    """Whether `value` is not a secret itself: a variable, a placeholder, an example, a mark of ours."""
    return bool(_PLACEHOLDERS.search(value) or _VARIABLE.fullmatch(value))


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether `value`, which is named a password, looks like one: it has a digit, a symbol, or no words."""
    if len(value) < 6 or is_placeholder(value) or _PATH.search(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    letters = any(char.isalpha() for char in value)
    if letters and (
        any(char.isdigit() for char in value) or any(char in _SYMBOLS for char in (value if quoted else value[:-1]))
    ):
        return True
    return len(value) >= 8 and letters and (_is_random(value) or _is_vowelless(value))


def is_token(value: str, *, quoted: bool, uuid: bool = False) -> bool:
    """Whether `value`, which is named a token or a key, looks like one: long, and not a readable name."""
    if len(value) < 12 or is_placeholder(value) or _PATH.search(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    if _UUID.fullmatch(value):
        return uuid
    return _is_random(value)


def is_name(value: str) -> bool:
    """Whether `value` looks like a name in a program: `test_key`, `my-secret-2`."""
    return value.isidentifier() or bool(_SEPARATED.fullmatch(value))


def is_searchable(value: str) -> bool:
    """Whether `value` is distinctive enough to be searched for anywhere."""
    if len(value) < 8 or not any(char.isalpha() for char in value):
        return False
    return any(char.isdigit() or char in _SYMBOLS for char in value) or (len(value) >= 12 and _is_random(value))


def _is_vowelless(value: str) -> bool:
    """Whether a third of the pieces of a mixed-case value have no vowel."""
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


_BEGIN = lazy_re(r"-----BEGIN ((?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----")
_BODY = lazy_re(r"[A-Za-z0-9+/=]{24,}")
_LAST = lazy_re(r"[A-Za-z0-9+/=]{4,}")
_ENDS = lazy_re(r"\\+[nrt]|[^A-Za-z0-9+/=]+")
_BETWEEN = lazy_re(
    r"(?:\\+[nrt]|\\*[\"'`]|[\s\d→|>+,:;-]|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]*)*"
)
"""Separators of two lines of a key: line ends, line numbers, a program's quotation marks, headers."""

LONGEST = 64 * 1024


def private_keys(text: str) -> Iterator[SecretSpan]:
    """The private keys in `text`; a header without a body, as in source code, is none."""
    at = 0
    while "-----BEGIN " in text and (begin := _BEGIN.search(text, at)):
        at = begin.end()
        end = _end_of_body(text, at)
        if end == at:
            continue
        closing = f"-----END {begin[1]}-----"
        close = text.find(closing, end, end + 256)
        if close >= 0:
            end = close + len(closing)
        yield SecretSpan(begin.start(), end, "private-key")
        at = end


def key_lines(key: str) -> list[str]:
    """The lines of a key that are long enough to be recognised on their own."""
    # A leading plus may belong to the line, or to a diff.
    lines = (line.lstrip("+") for line in _ENDS.split(key))
    return [line for line in lines if len(line) >= 40]


def _end_of_body(text: str, at: int) -> int:
    """The end of the lines of a key after `at`; `at` if there are none."""
    last = at
    while last - at < LONGEST:
        between = _BETWEEN.match(text, last)
        start = between.end() if between else last
        line = _BODY.match(text, start)
        if line is None:
            short = _LAST.match(text, start)
            # The last line of a key may have any length.
            return short.end() if short and last > at and "-----END" in text[short.end() : short.end() + 40] else last
        last = line.end()
    return last


class SecretForm(NamedTuple):
    """A known form of secrets; the last group of the pattern is the secret, or the whole match without a group."""

    kind: str
    needle: str
    """A substring that every match contains; the much slower pattern is only tried if it occurs."""
    pattern: re.Pattern[str]
    like: Callable[[str], bool] | None = None
    """A further condition, if other things have this form, too."""


def _form(kind: str, needle: str, pattern: str, like: Callable[[str], bool] | None = None) -> SecretForm:
    return SecretForm(kind, needle, lazy_re(pattern), like)


def _like_a_token(value: str) -> bool:
    return is_token(value, quoted=True)


def _like_a_password(value: str) -> bool:
    return is_password(value, quoted=False)


def _no_common_password(value: str) -> bool:
    return value.lower() not in _NO_PASSWORDS and is_password(value, quoted=False)


_NO_PASSWORDS = frozenset("password passwd pass pwd pw secret token user username postgres root mysql admin".split())
"""Passwords in examples of URLs, and well-known defaults."""
FORMS = (
    _form("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})"),
    _form("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{40,})"),
    _form("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{60,})"),
    _form("anthropic-token", "sk-ant-", r"(?<![\w-])sk-ant-[a-z]+\d{2}-[\w-]{20,}"),
    # Many providers use the prefix of OpenAI's keys.
    _form("api-key", "sk-", r"(?<![\w-])sk-(?:[a-z]+-(?:v\d-)?)?([A-Za-z0-9]{20,})(?![\w-])", _like_a_token),
    _form("google-oauth-token", "ya29.", r"(?<!\w)ya29\.[\w-]{30,}"),
    _form("google-refresh-token", "1//0", r"(?<![\w/])1//0[\w-]{30,}"),
    _form("twilio-api-key", "SK", r"(?<!\w)SK[0-9a-f]{32}(?!\w)"),
    _form("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _form("tailscale-key", "tskey-", r"(?<!\w)tskey-[a-z]+-\w{6,}-\w{16,}"),
    _form("figma-token", "figd_", r"(?<!\w)figd_[\w-]{30,}"),
    _form("azure-signature", "sig=", r"[?&]sig=([\w%+/-]{30,}={0,2})"),
    _form("aws-signature", "X-Amz-Signature=", r"X-Amz-Signature=([0-9a-f]{64})"),
    _form("aws-session-token", "X-Amz-Security-Token=", r"X-Amz-Security-Token=([\w%+/-]{60,})"),
    _form("url-token", "://", r"://([^\s/:@\"'`<>\\{}$]{16,256})@", _like_a_token),
    _form("netrc-password", "login", r"(?<!\w)login\s+\S{1,256}\s+password\s+([^\s\"'\\]{6,256})", _like_a_password),
    _form(
        "login-password",
        "curl",
        r"(?<![\w-])curl\s[^\n|;]{0,400}?\s?(?:-u|--user|--proxy-user)[ =]?\s{0,8}\\{0,8}[\"']?[^\s:\"'\\]{1,128}"
        r":([^\s\"'\\]{3,256})",
        _no_common_password,
    ),
    _form(
        "database-password",
        "-p",
        r"(?<![\w-])(?:mysql|mariadb)\w{0,16}\s[^\n|;]{0,400}?\s?-p\\{0,8}[\"']?([^\s\"'\\-][^\s\"'\\]{2,255})",
        _no_common_password,
    ),
    _form("sshpass-password", "sshpass", r"sshpass\s+-p\s*\\*[\"']?([^\s\"'\\]{3,256})"),
)

_URL_PASSWORD = lazy_re(r"://[^\s/:@\"'`<>\\]{0,128}:([^\s/@\"'`<>\\{}]{3,256})@")


def secrets_by_form(text: str) -> Iterator[SecretSpan]:
    """The secrets in `text` that have one of the forms."""
    for form in FORMS:
        if form.needle not in text:
            continue
        for found in form.pattern.finditer(text):
            group = found.lastindex or 0
            if form.like and not form.like(found[group]):
                continue
            if not is_placeholder(found[group]):
                yield SecretSpan(
                    found.start() if form.kind == "api-key" else found.start(group), found.end(group), form.kind
                )
    if "://" in text and "@" in text:
        yield from _passwords_of_urls(text)


def _passwords_of_urls(text: str) -> Iterator[SecretSpan]:
    for found in _URL_PASSWORD.finditer(text):
        value = found[1]
        if value.lower() in _NO_PASSWORDS or value.startswith("//") or is_placeholder(value):
            continue
        if not value.isdigit() or len(value) > 5:
            yield SecretSpan(found.start(1), found.end(1), "url-password")


PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd")
"""The names of passwords in programs; people's names for them are in the language files."""
KEYS = tuple(
    f"{word}{dash}key" for word in ("api", "access", "auth", "private", "secret", "account") for dash in ("_", "-", "")
)
TOKENS = ("token", "secret", "credential", *KEYS)
"""The endings of names of secrets, in lower case."""


@cached_data
def _stems() -> tuple[tuple[str, str], ...]:
    """The words that the names of secrets end with, each with the kind of the secret."""
    passwords = sorted({*PASSWORDS, *topic(Passwords).called})
    return (*((word, "password") for word in passwords), *((word, "secret") for word in TOKENS[:3]), ("key", "secret"))


_COUNTED_TOKENS = lazy_re(r"(?:page|next|cursor|continuation|sync|cancellation|max|stop|eos|bos|pad|sep|unk)[_-]?token")
"""Tokens that give no access."""

LONGEST_NAME = 64

_QUOTE = r"\\*[\"'`]"
_BARE = r"[^\s\"'`\\,;&<>(){}\[\]|]{6,512}"
_QUOTED = r"[^\s\"'`\\\[\]]{6,512}"
_ASSIGNED = lazy_re(
    rf"(?P<close>{_QUOTE})?\]?(?P<sign>[ \t]{{0,8}}(?::=|=>|==?|:)[ \t]{{0,8}}|[ \t]+is:?[ \t]+)"
    rf"(?:(?P<open>{_QUOTE})(?P<quoted>{_QUOTED})(?={_QUOTE})|(?P<bare>{_BARE}))",
    re.IGNORECASE,
)
_TOLD = lazy_re(
    lambda: (
        rf"(?P<sign>(?:[ \t]+{any_of(topic(Passwords).purpose)}(?:[ \t]+[^\s.,;:!?=]{{1,24}}){{1,4}}?)?"
        rf"[ \t]+{any_of(topic(Passwords).says)}:?[ \t]+)"
        rf"(?:(?P<open>{_QUOTE})(?P<quoted>{_QUOTED})(?={_QUOTE})|(?P<bare>{_BARE}))"
    ),
    re.IGNORECASE,
)
_SERVES = lazy_re(
    lambda: (
        rf"(?<![^\s\"'`(])(?:{_QUOTE}(?P<quoted>{_QUOTED}){_QUOTE}|(?P<bare>{_BARE}))"
        rf"[ \t]+{any_of(topic(Passwords).serves)}[ \t]+\Z"
    ),
    re.IGNORECASE,
)
LONGEST_SERVING = 128
"""The maximum number of characters of a password and of the text between it and its name."""
_OPTION = lazy_re(rf"[ \t]+(?:{_QUOTE})?(?P<bare>{_BARE})")
_NAME = lazy_re(r"(?<![\w-])[\w-]*\Z")
_COOKIES = lazy_re(rf"(?:{_QUOTE})?[ \t]*[:=][ \t]*(?:{_QUOTE})?(?P<line>[^\r\n\"'\\]{{1,4096}})")
_COOKIE = lazy_re(r"[\w.-]{1,128}=([^;,\s\[\]]{16,4096})")


def secrets_by_name(text: str) -> Iterator[SecretSpan]:
    """The values in `text` that follow the name of a secret, and look like one."""
    small = _lower_same_length(text)
    for word, kind in _stems():
        at = small.find(word)
        while at >= 0:
            end = at + len(word)
            if word != "key" or small.endswith(KEYS, 0, end):
                yield from _value_after_name(text, small, end, kind)
            at = small.find(word, end)
    at = small.find("cookie")
    while at >= 0:
        yield from _cookies(text, at + len("cookie"))
        at = small.find("cookie", at + len("cookie"))


def secret_value(text: str, name: str) -> Iterator[SecretSpan]:
    """The whole `text`, if its `name` is the name of a secret and the text looks like a secret."""
    small = name.lower()
    kind = "password" if small.endswith(PASSWORDS) else "secret" if small.endswith(TOKENS) else None
    if kind and not any(char.isspace() for char in text) and _is_secret(text, kind, small, quoted=True):
        yield SecretSpan(0, len(text), kind)


def _value_after_name(text: str, small: str, end: int, kind: str) -> Iterator[SecretSpan]:
    """The value after a name that ends at `end`, if it is a secret; for a password also a value before its name."""
    before = _NAME.search(small[max(0, end - LONGEST_NAME) : end])
    name = before[0] if before else ""
    if kind == "password":
        yield from _value_before_name(text, end - len(name))
    told = _TOLD.match(text, end) if kind == "password" else None
    found = _ASSIGNED.match(text, end) or told or _OPTION.match(text, end)
    if found is None:
        return
    held = found.groupdict()
    if "sign" not in held and not name.startswith("-"):
        return
    quoted = held.get("quoted") is not None
    if not quoted and (held.get("close") or text[found.end() : found.end() + 1] in ("(", "[")):
        # The unquoted value of a quoted key is a number, a name or a call.
        return
    value = found["quoted"] if quoted else found["bare"].rstrip(".:!?")
    is_variable = held.get("sign") == "=" and text[end - 3 : end].isupper()
    if _is_secret(value, kind, name, quoted=quoted) or (
        kind == "password" and is_variable and (len(value) >= 8 and value.isalpha() and not is_placeholder(value))
    ):
        start = found.start("quoted" if quoted else "bare")
        yield SecretSpan(start, start + len(value), kind)


def _value_before_name(text: str, begin: int) -> Iterator[SecretSpan]:
    """The value before the name of a password that begins at `begin`: “hunter2! as the password”."""
    first = max(0, begin - LONGEST_SERVING)
    found = _SERVES.search(text, first, begin)
    if found is not None:
        group = "quoted" if found["quoted"] is not None else "bare"
        if is_password(found[group], quoted=group == "quoted"):
            yield SecretSpan(found.start(group), found.end(group), "password")


def _is_secret(value: str, kind: str, name: str, *, quoted: bool) -> bool:
    if kind == "password":
        return is_password(value, quoted=quoted)
    if name.endswith("token"):
        # Many tokens are numbers or UUIDs that only count.
        return not _COUNTED_TOKENS.search(name) and is_token(value, quoted=quoted)
    return is_token(value, quoted=quoted, uuid=True)


def _cookies(text: str, at: int) -> Iterator[SecretSpan]:
    line = _COOKIES.match(text, at)
    if line is None:
        return
    for cookie in _COOKIE.finditer(text, line.start("line"), line.end("line")):
        if is_token(cookie[1], quoted=True):
            yield SecretSpan(cookie.start(1), cookie.end(1), "cookie")


def _lower_same_length(text: str) -> str:
    """Lower-case `text` without changing any position; characters whose lower case is longer are kept."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(char.lower() if char.isascii() else char for char in text)


_LONE_SURROGATES = lazy_re("[\ud800-\udfff]")
_LIMITS = redact_secret.WholeInputLimits(max_input_bytes=1 << 31, max_findings=1 << 20)

_CALL = lazy_re(r"(?:[A-Za-z_]+(?:\.[A-Za-z_]+)+\)*|[a-z_]+\)+)\Z")
"""A call or a dotted name, possibly with closing parentheses: `api_key=_sdk.api_key)`."""
_KEY = lazy_re(r"[A-Za-z0-9+/=]{24}")
"""Part of the body of any private key."""
_GUESSED = "contextual_secret"
"""The detector's type for values recognised only by name, which includes many false positives."""


def _end_of_closed_keys(found: str) -> int:
    """The end of the keys in a match of the detector, which takes everything after a header without an end line.

    Text after a closed key is left alone only if it holds neither another header nor a part of a body.
    """
    last = max((span.end for span in private_keys(found)), default=0)
    tail = found[last:]
    return (
        last if found[:last].endswith("-----") and "-----BEGIN " not in tail and not _KEY.search(tail) else len(found)
    )


def secrets_by_detector(text: str) -> Iterator[SecretSpan]:
    """The secrets that the detector finds in `text`."""
    try:
        findings = redact_secret.scan(text, limits=_LIMITS)
    except redact_secret.InvalidInputError:
        # The detector refuses lone surrogates; replacing them changes no position.
        findings = redact_secret.scan(_LONE_SURROGATES.sub("?", text), limits=_LIMITS)
    for finding in findings:
        value = text[finding.start : finding.end]
        if finding.type != _GUESSED:
            end = finding.end
            if finding.type == "private_key":
                if not _KEY.search(value):
                    continue
                end = finding.start + _end_of_closed_keys(value)
            if finding.type == "bearer_token" and (is_placeholder(value) or (value.islower() and is_name(value))):
                continue
            yield SecretSpan(finding.start, end, finding.type.replace("_", "-"))
            continue
        if _CALL.match(value) or "(" in value or "[" in value or "{" in value:
            continue
        if is_token(value, quoted=True, uuid=True) or (is_password(value, quoted=False) and not is_name(value)):
            yield SecretSpan(finding.start, finding.end, "secret")


SHORTEST = 6
"""The shortest secret, except in URLs and commands."""
REMEMBERED = 2_000
"""How many secrets of a message are searched for anywhere, the newest first."""
KEPT_CHARACTERS = 4_000_000
"""How many characters of results are cached: a draft holds most texts twice, and names repeat."""
BLOB = 1_024
"""From this length on, text of letters and digits alone is binary data: no secret is that long."""
ROUNDS = 16

_MARK = lazy_re(r"(\[REDACTED [a-z0-9-]+\])")
_BLOB = lazy_re(r"(?:data:[\w.+/;=-]{0,128},)?[A-Za-z0-9+/_=-]*")
_ESCAPED_SPACE = lazy_re(r"(?<!\\)\\+[nrt]")
_WORD = lazy_re(r"\w")


SHORT = 256
MOST_CLEAN = 20_000
"""How many hashes of short texts without a secret are cached for all messages: names of fields, tools, models repeat.

Like those of paragraphs they are the keys of a dictionary: the garbage collector looks at each number in a set."""
_CLEAN: dict[int, None] = {}


LONG_SECRET = 1_024
BETWEEN = "\n\n"
MOST_PARAGRAPHS = 200_000
"""How many hashes of paragraphs without a secret are cached for all messages."""
_PARAGRAPHS: dict[int, None] = {}


def _remember_clean(text: str, name: str) -> None:
    if len(text) <= SHORT:
        if len(_CLEAN) >= MOST_CLEAN:
            _CLEAN.clear()
        _CLEAN[hash((text, name))] = None
    elif len(text) >= LONG_SECRET:
        if len(_PARAGRAPHS) >= MOST_PARAGRAPHS:
            _PARAGRAPHS.clear()
        _PARAGRAPHS.update(dict.fromkeys(map(hash, text.split(BETWEEN))))


class _KnownSecret(NamedTuple):
    value: str
    mark: str
    pattern: re.Pattern[str]


class SecretRedactor:
    """A `Redactor` of one message, using the package `redact-secret` and our own forms and names."""

    def __init__(self) -> None:
        """Start without known secrets."""
        self._kinds: dict[str, str] = {}
        self._newest: deque[_KnownSecret] = deque(maxlen=REMEMBERED)
        self._known: list[_KnownSecret] = []
        self._texts: dict[tuple[str, str], str] = {}
        self._kept = 0

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets found so far, each with its kind."""
        return self._kinds

    def know(self, secrets: Mapping[str, str]) -> None:
        """Add known secrets, each with its kind."""
        new = {value: kind for value, kind in secrets.items() if value not in self._kinds}
        if not new:
            return
        self._kinds.update(new)
        for value, kind in new.items():
            self._newest.extend(_forms_of_secret(value, kind))
        self._known = sorted(self._newest, key=lambda one: -len(one.value))
        # Texts without a secret so far may contain these.
        self._forget_texts()

    def redact(self, text: str, name: str = "") -> str:
        """Replace each secret by a mark; return the same object if there is none."""
        if len(text) < SHORTEST:
            return text
        if not self._known and hash((text, name)) in _CLEAN:
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
        """Redact a record; in a long text only paragraphs that were not seen before are scanned."""
        # Only private keys may contain a blank line; other secrets can't.
        if len(text) < LONG_SECRET or self._known or (text, name) in self._texts or "-----BEGIN " in text:
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
            spans = _outside_marks(
                text, merge_spans(_without_closing_quote(text, span) for span in _secrets(text, name))
            )
            if not spans:
                break
            pieces = []
            at = 0
            for span in spans:
                mark = f"[REDACTED {self._remember_kind(text[span.start : span.end], span.kind)}]"
                pieces += [text[at : span.start], mark]
                at = span.end
            text = self._without_known("".join([*pieces, text[at:]]))
        return text

    def _remember_kind(self, value: str, kind: str) -> str:
        """The kind of a secret, which is remembered if it is new."""
        self.know({value: kind})
        return self._kinds[value]

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
        yield from secret_value(text, name)
    if len(text) >= BLOB and _BLOB.fullmatch(text):
        return
    if "\\" in text:
        # In JSON strings a line starts after an escape, whose letter must not be taken for part of the secret.
        text = _ESCAPED_SPACE.sub(lambda found: "\n".rjust(len(found[0])), text)
    yield from private_keys(text)
    yield from secrets_by_detector(text)
    yield from secrets_by_form(text)
    yield from secrets_by_name(text)


def _without_closing_quote(text: str, span: SecretSpan) -> SecretSpan:
    """Cut a closing quote and its escapes off a span, so that JSON strings stay valid."""
    end = span.end
    while end > span.start and text[end - 1] in "\\\"'`":
        end -= 1
    return span._replace(end=end)


def _outside_marks(text: str, spans: list[SecretSpan]) -> list[SecretSpan]:
    """Cut existing marks out of spans."""
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


@lru_cache(maxsize=REMEMBERED)
def _forms_of_secret(value: str, kind: str) -> tuple[_KnownSecret, ...]:
    """The forms in which a secret may occur; cached, since all known ones are searched for in each message of a log."""
    parts = key_lines(value) if kind == "private-key" else [value] if is_searchable(value) else []
    forms = dict.fromkeys(form for part in parts for form in (part, *_escaped(part)))
    return tuple(_KnownSecret(form, f"[REDACTED {kind}]", _value_pattern(form)) for form in forms)


def _escaped(value: str) -> Iterator[str]:
    """How `value` is written in a JSON string, and in a JSON string within a JSON string."""
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    yield value.replace("/", "\\/")


def _value_pattern(value: str) -> re.Pattern[str]:
    """A pattern for `value`: a short one only as a whole word, a long one anywhere."""
    pattern = re.escape(value)
    if len(value) < 16:
        pattern = (r"(?<!\w)" if _WORD.match(value) else "") + pattern + (r"(?!\w)" if _WORD.match(value[-1]) else "")
    return re.compile(pattern)
