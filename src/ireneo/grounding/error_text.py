"""Whether a reply is an error instead of an answer: a provider's message, a page, a stack, a refusal."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re


def _at_start(*patterns: str) -> re.Pattern[str]:
    return lazy_re(rf"\A[\s\W]{{0,12}}(?:{'|'.join(patterns)})", re.IGNORECASE)


_LABEL = (
    r"(?:(?:(?:API|HTTP|server|provider|request|upstream|fatal)[ ])?(?:status|error|exception)?(?:[ ]code)?[\s\W]{0,4}"
    r"(?:[45]\d\d)?[\s\W]{0,6})"
)
_MESSAGES = (
    r"internal (?:server )?error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests",
    r"(?:you(?:['’]ve| have)? )?(?:exceeded|reached|hit) your (?:\w+ ){0,3}(?:quota|limit)",
    r"rate[ _-]?limit(?:_error|ed|s)?(?: (?:exceeded|reached|error|hit|for)\b|\s*(?:[.:!-]|\Z))|quota exceeded",
    r"insufficient[_ ](?:quota|credits?|funds)|credit balance is too low",
    r"upstream connect error|no healthy upstream|connection (?:refused|reset|error|timed out|closed)\b",
    r"(?:(?:read|request|operation) )?timed[ -]?out\b|(?:read|request|operation) timeout\b",
    r"(?:overloaded(?:_error)?|unauthori[sz]ed|forbidden)\s*(?:[.:!({-]|\Z)",
    r"the (?:model|server|engine|service) is (?:currently |temporarily )?(?:overloaded|unavailable|down|busy)",
    r"invalid (?:api[ _-]?key|request|token)|incorrect api key|access denied",
    r"authentication (?:failed|error)|model not found|context[_ ]length[_ ]exceeded|maximum context length",
    r"this model['’]s maximum context|prompt is too long|invalid_request_error|content[_ ]filter",
    r"an? (?:internal |unexpected )?error (?:has )?occurred",
)
_BEGINS = (
    # JSON that holds an error, a page, a stack.
    r"(?:data:\s*+)?(?:\{\s*+|\s*+)\"?(?:error|errors|exception|detail|fault)\"\s*:",
    r"\{?\s*\"?(?:type|object)\"\s*:\s*\"error\"",
    r"\{?\s*\"?(?:status|code|statusCode)\"\s*:\s*\"?[45]\d\d\b",
    r"(?:\?xml[^>]*>\s*<)?!?(?:doctype html|html|head|body)\b[^<>\n]{0,200}>",
    r"Traceback \(most recent call last\)|panic: |goroutine \d+ \[|Exception in thread",
    r"(?:\w{1,40}\.){0,6}\w{1,60}(?:Error|Exception)[:(]",
    r"(?:HTTP/\d(?:\.\d)? )?(?:error\W{1,3})?[45]\d\d\b[ :-]{1,3}(?:(?-i:[A-Z])[\w-]{0,20} ?){1,4}\W{0,4}(?:\n|\Z|\{)",
    rf"{_LABEL}(?:{'|'.join(_MESSAGES)})",
)
_SORRY = r"(?:I['’]?(?: a)?m (?:so |very |really )?sorry|sorry|my apologies|I apologi[sz]e)\b"
_REFUSES = (
    _SORRY,
    r"as an? (?:AI|(?:large )?language model)\b",
    r"(?:unfortunately[,.]?\s+)?(?:I(?:['’]m| am) (?:unable|not able) to"
    r"|I (?:cannot|can['’]?t|can not|won['’]t|will not)) "
    r"(?:help|assist|comply|fulfil|provide|summari[sz]e|continue with|do that|process th|complete th)",
)
_STACK_INSIDE = lazy_re(r"^Traceback \(most recent call last\):\n[ \t]+File ", re.MULTILINE)
_ERROR, _REFUSAL = _at_start(*_BEGINS), _at_start(*_REFUSES)


def error_text(text: str) -> bool:
    """Whether `text` is an error instead of an answer; one that only tells of an error is none.

    It is told by how the text begins, since an account of someone's work may speak of each of these further on.
    """
    return any(pattern.search(text) for pattern in (_ERROR, _REFUSAL, _STACK_INSIDE))
