"""What the package `redact-secret` finds: the credentials that some hundred providers issue, by their forms."""

from __future__ import annotations

from collections.abc import Iterator

import redact_secret

from ireneo.adapters.redact.likely import is_name, is_password, is_placeholder, is_token
from ireneo.adapters.redact.span import Span
from ireneo.patterns import lazy_re

_LONE_SURROGATES = lazy_re("[\ud800-\udfff]")
_LIMITS = redact_secret.WholeInputLimits(max_input_bytes=1 << 31, max_findings=1 << 20)

_CODE = lazy_re(r"(?:[A-Za-z_]+(?:\.[A-Za-z_]+)+\)*|[a-z_]+\)+)\Z")
"""A call, or a name of the program, with what may close the call that it is handed to: `api_key=_sdk.api_key)`."""
_KEY = lazy_re(r"[A-Za-z0-9+/=]{24}")
"""What every private key has between its first line and its last."""
_GUESSED = "contextual_secret"
"""What the detector calls a value that only its name gives away; it takes the names of things for secrets as well."""


def detected(text: str) -> Iterator[Span]:
    """The secrets that the detector finds in `text`."""
    try:
        findings = redact_secret.scan(text, limits=_LIMITS)
    except redact_secret.InvalidInputError:
        # Half a character is no text to the detector; another in its place leaves every other where it was.
        findings = redact_secret.scan(_LONE_SURROGATES.sub("?", text), limits=_LIMITS)
    for finding in findings:
        value = text[finding.start : finding.end]
        if finding.type != _GUESSED:
            if finding.type == "private_key" and not _KEY.search(value):
                continue
            if finding.type == "bearer_token" and (is_placeholder(value) or (value.islower() and is_name(value))):
                continue
            yield Span(finding.start, finding.end, finding.type.replace("_", "-"))
            continue
        if _CODE.match(value) or "(" in value or "[" in value or "{" in value:
            continue
        if is_token(value, quoted=True, uuid=True) or (is_password(value, quoted=False) and not is_name(value)):
            yield Span(finding.start, finding.end, "secret")
