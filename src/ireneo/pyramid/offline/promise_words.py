"""The words by which a promise is known; English, with the plainest of German, French and Spanish."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import HAVE, NAME, PEOPLE, POSSESSIVE, THEM, WILL, cue, word_sets

_SOLEMNLY = "(?:(?: do| hereby| solemnly| faithfully| once| already| always)* )"
_TO = rf"(?!god\b|heaven\b|christ\b|you\b|all\b|the\b|my\b|be honest|tell you|{NAME})"
_IS = r"(?:'s|’s|'m|’m|'re|’re| am| is| are| was| were| have| had| do| did| saw| would have)"
# Between the oath and what is sworn, nothing is said to be so: "I swear it's late, and we'll go" promises nothing.
_GAP = rf"(?:(?!\b(?:I|we|it|they|he|she|you|this|that|there){_IS}\b|\bif the\b)[^.!?]){{0,80}}?"

PROMISES = (
    cue(
        "promise",
        "promise|swear|vow|pledge",
        rf"\b(?P<who>I|we){_SOLEMNLY}(?:promise|swear|vow|pledge)\b(?! to (?:god|all|the|{NAME})|,? if\b)(?:"
        rf" (?P<whom>{THEM})\b)?{_GAP}"
        rf"\b(?:I|we|you|he|she|they|no one|nobody|none|{NAME}){WILL}\b",
        weight=1.5,
        says=2,
    ),
    cue(
        "promise",
        "promise|swear|vow|pledge",
        rf"\b(?P<who>I|we){_SOLEMNLY}(?:promise|swear|vow|pledge)(?: (?P<whom>{THEM}))?(?: never| not| always)? "
        rf"to {_TO}\w+",
        weight=1.5,
        says=1,
    ),
    cue(
        "promise",
        "promise|swear|word",
        rf"\b(?P<who>I|we){WILL}\b.{{6,400}}?[,;—–-] ?(?:and )?(?:I|we) (?:promise|swear it|swear to (?P<whom>you)"
        r"|give you (?:my|our) word|swear)\b(?! (?:to god|I|it|he|she|they|that|there)\b)",
        weight=1.5,
        says=0,
    ),
    cue(
        "promise",
        "word|oath|promise & have|give & ll|will|shall|won|never|going",
        rf"\bI give (?P<whom>{THEM}) (?P<who>my) (?:solemn |sacred )?(?:word|promise|oath)\b"
        rf"|\byou have (?:my|our) (?:solemn |sacred )?(?:word|oath|promise)\b",
        weight=1.5,
        says=2,
    ),
    cue(
        "promise",
        "avenge|repay|return|come|way & will|shall|ll & for|avenge|repay|to",
        rf"\b(?P<who>I|we)(?:'ll|’ll| will| shall) (?:always |surely )?(?:(?:come back|return) for|avenge|repay|find "
        rf"and avenge|make my way back to) (?P<whom>you|him|her|them|{NAME}|my \w+)\b",
        weight=1.2,
    ),
    cue(
        "promise",
        "pay & back|full|every",
        r"\b(?P<who>I|we)(?:'ll|’ll| will| shall|'m going to) pay (?P<whom>you|him|her|them) (?:back\b|in full|every)",
    ),
    cue(
        "promise",
        "never|ever & leave|abandon|forsake|desert|betray",
        rf"\b(?P<who>I|we)(?:'ll never| will never|’ll never| shall never| won't ever) (?:leave|abandon|forsake|desert"
        rf"|betray) (?P<whom>you|{NAME})\b",
        weight=1.2,
    ),
    cue(
        "promise",
        "promised|swore|sworn|vowed|pledged",
        rf"\b(?P<who>{PEOPLE}){HAVE}(?: once| already| always| solemnly| faithfully)* (?:promised|swore|sworn|vowed"
        rf"|pledged)(?: (?:to )?(?P<whom>{THEM}|myself|himself|herself|themselves))?"
        rf"(?:,? that\b| never to \w+| to (?!the\b|a\b|an\b|be\b|his\b|her\b|my\b|{NAME})\w+"
        rf"|,? (?:I|we|he|she|they|it|you|{NAME})(?: would| should|'d|’d)\b)",
        weight=1.2,
        says=2,
    ),
    cue(
        "promise",
        "promise|swear & made|make",
        rf"\b(?P<whom>I|we|he|she|they|{NAME}){HAVE} (?:made|make) (?P<who>{THEM}) (?:promise|swear)\b(?! (?:to god"
        rf"|I|it|he|she|they|that|there)\b)",
        weight=1.3,
        says=2,
    ),
    cue(
        "promise",
        "word|oath|promise|vow|pledge & gave|given|pledged|swore|sworn|took|taken|made",
        rf"\b(?P<who>{PEOPLE}){HAVE} (?:gave|given|pledged|swore|sworn|took|taken|made) (?:(?P<whom>{THEM}) )?"
        rf"(?:{POSSESSIVE}|an?|the) (?:\w+ )?(?:word|oath|promise|vow|pledge)(?: of \w+)?(?: to {THEM})?,? (?:that"
        rf"|to|not|never|I|we|he"
        r"|she)\b",
        weight=1.2,
        says=2,
    ),
    cue(
        "promise",
        "verspreche|schwöre|gelobe|versprochen|wort",
        rf"\bich (?:verspreche|schwöre|gelobe)(?: es)?(?: (?P<whom>dir|euch|Ihnen|{NAME}))?,? (?:dass|ich)\b"
        rf"|\b(?:er|sie|{NAME}) hatte (?:ihm|ihr|ihnen|{NAME}) versprochen\b|\b(?:du hast|ihr habt) mein Wort\b",
        weight=1.5,
        says=2,
    ),
    cue(
        "promise",
        "promets|jure|promis|parole",
        r"\bje (?:(?P<whom>te|vous|lui) )?(?:le )?(?:promets|jure) (?:que|qu['’]|de)"
        rf"|\b(?:il|elle|{NAME}) (?:lui |leur |m['’])?avait promis (?:que|qu['’]|de)|\b(?:tu as|vous avez) ma parole\b",
        weight=1.5,
        says=2,
    ),
    cue(
        "promise",
        "prometo|juro|prometido|palabra",
        r"\b(?P<whom>te|le|os|les) (?:prometo|juro) que\b|\bhabía prometido (?:que|a)\b|\btienes mi palabra\b",
        weight=1.5,
        says=2,
    ),
)

BACKED_WORDS = word_sets("promise|promises|swear|vow|word|oath|on|verspreche|promets|jure|prometo|juro")[0]
BACKED = lazy_re(
    "(?:and |but |yes,? )?(?:(?:I|we) (?:promise|swear|vow)(?: (?:you|it|that|to you))*"
    "|that(?:'s|’s| is) (?:a|my) (?:promise|vow|oath)|you have (?:my|our) (?:word|oath)|(?:I|we) give you (?:my|our)"
    " word"
    "|on my (?:life|honou?r)|ich verspreche es(?: dir)?|je (?:te|vous) le (?:promets|jure)|te lo (?:prometo|juro))"
    r"(?: on that)?\W*$",
    re.IGNORECASE,
)
"""A sentence that says of the one before it that it was a promise."""

MEANS_TO = lazy_re(
    r"\b(?:I|we)(?:'ll|’ll| will| shall| won't| won’t| would never|'m going to| am going to| are going to)\b"
    r"|\bich werde\b|\bwir werden\b|\bje \w+r?ai\b|\b\w+(?:ré|remos)\b",
    re.IGNORECASE,
)
"""Somebody says what they will do."""

DEMAND = lazy_re(
    r"\b(?:promise|swear to) (?:me|us)\b(?:,? that| you(?:'ll|’ll| will| won't| won’t)| to| never| not|,)"
    r"|\b(?:must|have to|need to) promise (?:me|us)\b|\bversprich mir\b|\bpromets-moi\b|\bprométeme\b",
    re.IGNORECASE,
)
"""Somebody asks for a promise."""
DEMAND_WORDS = word_sets("promise|swear|versprich|promets|prométeme")[0]

CONSENT = lazy_re(
    r"^[\W_]*(?:yes|(?:I|we) (?:do )?(?:promise|swear|vow|give you)|(?:I|we) (?:will|won't|shall|do)\b\W*(?:$"
    r"|[.!,;\"”])|of course|certainly"
    r"|you have my word|ich verspreche|je (?:te |vous |le )*(?:promets|jure)|(?:te )?lo (?:prometo|juro))",
    re.IGNORECASE,
)
"""Somebody gives the promise that was asked for."""
