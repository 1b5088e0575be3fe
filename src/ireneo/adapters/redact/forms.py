"""Secrets that their own form gives away and that the detector leaves: a row for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ireneo.adapters.redact.likely import is_password, is_placeholder, is_token
from ireneo.adapters.redact.span import Span
from ireneo.patterns import lazy_re


class Form(NamedTuple):
    """A form of secrets; the last group of its pattern is the secret, and without a group all of it is."""

    kind: str
    needle: str
    """What each text holds that has one: only there is the pattern tried, which costs far more."""
    pattern: re.Pattern[str]
    like: Callable[[str], bool] | None = None
    """What it must look like besides, where other things have that form."""


def _form(kind: str, needle: str, pattern: str, like: Callable[[str], bool] | None = None) -> Form:
    return Form(kind, needle, lazy_re(pattern), like)


def _like_a_token(value: str) -> bool:
    return is_token(value, quoted=True)


def _like_a_password(value: str) -> bool:
    return is_password(value, quoted=False)


def _no_common_password(value: str) -> bool:
    return value.lower() not in _NO_PASSWORDS and is_password(value, quoted=False)


_NO_PASSWORDS = frozenset("password passwd pass pwd pw secret token user username postgres root mysql admin".split())
"""What stands for a password in an example of a URL, or is the one that everybody knows."""
FORMS = (
    _form("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})"),
    _form("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{40,})"),
    _form("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{60,})"),
    _form("anthropic-token", "sk-ant-", r"(?<![\w-])sk-ant-[a-z]+\d{2}-[\w-]{20,}"),
    # Many a provider took over the beginning of OpenAI's keys.
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


def formed(text: str) -> Iterator[Span]:
    """The secrets in `text` that have one of the forms."""
    for form in FORMS:
        if form.needle not in text:
            continue
        for found in form.pattern.finditer(text):
            group = found.lastindex or 0
            if form.like and not form.like(found[group]):
                continue
            if not is_placeholder(found[group]):
                yield Span(found.start() if form.kind == "api-key" else found.start(group), found.end(group), form.kind)
    if "://" in text and "@" in text:
        yield from _passwords_of_urls(text)


def _passwords_of_urls(text: str) -> Iterator[Span]:
    for found in _URL_PASSWORD.finditer(text):
        value = found[1]
        if value.lower() in _NO_PASSWORDS or value.startswith("//") or is_placeholder(value):
            continue
        if not value.isdigit() or len(value) > 5:
            yield Span(found.start(1), found.end(1), "url-password")
