"""The words by which the end of a thread is known; English, with the plainest of German, French and Spanish."""

from __future__ import annotations

import re
from typing import NamedTuple

from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import NAME, word_sets
from ireneo.summaries.summary import ThreadKind


class End(NamedTuple):
    """What says that a thread of a kind has come to its end."""

    kinds: tuple[ThreadKind, ...]
    words: tuple[frozenset[str], ...]
    """Of each set, one word stands in whatever the pattern matches."""
    pattern: re.Pattern[str]
    by_people: bool = False
    """Whether it says so of itself: then who says it to whom is enough to tell which, where only one fits."""


def _end(kinds: str, words: str, pattern: str, by_people: bool = False) -> End:
    named: list[ThreadKind] = [kind for kind in KINDS if kind in kinds.split()]
    return End(tuple(named), word_sets(words), lazy_re(pattern, re.IGNORECASE), by_people)


KINDS: tuple[ThreadKind, ...] = ("promise", "debt", "secret", "wound", "question")
_WHO = rf"(?:I|we|you|he|she|they|{NAME})"
_HAVE = "(?:'ve|’ve|'d|’d| have| has| had)?"

ENDS = (
    _end(
        "promise",
        "promise|word|oath|vow|pledge & kept|fulfilled|honored|honoured|broke|broken|betrayed|good",
        rf"\b{_WHO}{_HAVE} (?:kept|fulfilled|honou?red|broke|broken|betrayed|made good(?: on)?) (?:my|our|your|his"
        rf"|her|their|the|that) (?:promise|word|oath|vow|pledge)\b",
        True,
    ),
    _end(
        "promise",
        "release|free|absolve",
        r"\b(?:I|we) (?:release|free|absolve) (?:you|him|her) (?:from|of) (?:your|his|her|that|the|this) (?:promise"
        r"|word|oath|vow|pledge)\b",
        True,
    ),
    _end(
        "promise",
        "released|freed|absolved",
        r"\b(?:released|freed|absolved) (?:me|him|her|them|us|you)? ?(?:from|of) (?:my|his|her|their|your|the)"
        r" (?:promise|word|oath|vow|pledge)\b",
        True,
    ),
    _end(
        "promise",
        "promise|oath|vow|pledge & kept|fulfilled|broken|redeemed",
        r"\b(?:promise|oath|vow|pledge) (?:is|was|has been|had been) (?:kept|fulfilled|broken|redeemed)\b",
        True,
    ),
    _end(
        "promise",
        "promised|swore|vowed|true",
        r"\b(?:as|like|just as) (?:I|we|he|she|they|you) (?:had )?(?:promised|swore|vowed)\b|\btrue to (?:my|our|his"
        r"|her|their) (?:word|promise)\b",
    ),
    _end("promise debt", "here & s|is|are", r"\bhere(?:'s|’s| is| are) (?:the|your|his|her|my|our|that|those)\b"),
    _end(
        "promise debt",
        "brought|returned|delivered|handed|rescued|saved|freed|avenged|back|paid|repaid|kept|gave",
        rf"\b(?:I|we|he|she|they|{NAME}){_HAVE} (?:brought|returned|delivered|handed|gave|rescued|saved|freed"
        rf"|avenged|came back|come back|paid|repaid|kept)\b",
    ),
    _end(
        "debt",
        "debt|debts",
        r"\b(?:my|our|your|his|her|their|the|that) debts? (?:is|are|was|were|has been|had been|have been) (?:paid"
        r"|settled|forgiven|cleared|repaid|cancelled|wiped)\b|\bdebt paid\b",
        True,
    ),
    _end(
        "debt",
        "even|quits|square",
        r"\b(?:we(?:'re|’re| are)|that makes us) (?:now )?(?:even|quits|square)\b",
        True,
    ),
    _end(
        "debt",
        "debt|debts & paid|settled|repaid|cleared|discharged",
        rf"\b{_WHO}{_HAVE} (?:paid|settled|repaid|cleared|discharged) (?:off )?(?:my|our|your|his|her|their|the|that"
        rf"|all) debts?\b",
        True,
    ),
    _end(
        "debt",
        "owe|forget|debt",
        r"\byou (?:owe me|don't owe me|do not owe me) (?:nothing|anything)\b|\bforget (?:about )?(?:the money|the"
        r" debt|what you owe)\b|\bI (?:forgive|waive|cancel) (?:you )?(?:the|your|that) debt\b",
        True,
    ),
    _end(
        "debt",
        "owe|owed",
        r"\bhere(?:'s|’s| is| are) (?:the|your) (?:money|gold|coin|silver)\b.{0,400}?\bowed?\b|\bwhat (?:I|we) owed?"
        r" you\b.{0,400}?\b(?:here|paid)\b",
        True,
    ),
    _end(
        "secret",
        "told|confessed|revealed|confided|let",
        rf"\b(?:I|we|he|she|they|{NAME}){_HAVE} (?:told|confessed to|revealed to|confided in|let) (?:you|him|her"
        rf"|them|me|us|everyone|{NAME})\b",
    ),
    _end(
        "secret",
        "knows|know|knew|found|out|known|discovered|revealed",
        r"\b(?:everyone|everybody|he|she|they|the whole \w+|it) (?:now )?(?:knows?|knew|found out|has found out|is"
        r" out|is known)\b|\b(?:the|our|my|your|his|her) secret (?:is|was) (?:out|known|discovered|revealed)\b",
    ),
    _end(
        "wound",
        "forgive|forgave|forgiven",
        r"\b(?:I|we) (?:do |have |can |now |already )*(?:forgive|forgave|forgiven) (?:you|him|her|them)\b",
        True,
    ),
    _end(
        "wound",
        "forgave|forgiven",
        rf"\b(?:he|she|they|{NAME}){_HAVE} (?:forgave|forgiven) (?:me|us|you|him|her|them|{NAME})\b",
        True,
    ),
    _end(
        "wound",
        "curse|spell|healed",
        r"\b(?:the|my|your|his|her) (?:curse|spell) (?:is|was|has been|had been) (?:broken|lifted|gone|removed)\b"
        r"|\b(?:lifted|broke|removed) the curse\b|\bhealed of\b",
    ),
    _end(
        "wound",
        "avenged|revenge|vengeance",
        rf"\b(?:is|are|have been|has been|was|were) avenged\b|\b{_WHO}{_HAVE} (?:had|got|taken|took) (?:my|our|your"
        rf"|his|her|their) (?:revenge|vengeance)\b",
    ),
    _end(
        "promise",
        "wort|versprechen|parole|promesse|palabra|promesa",
        r"\b(?:ich habe|er hat|sie hat) (?:mein|sein|ihr) (?:Wort|Versprechen) (?:gehalten|gebrochen)\b|\bj['’]ai"
        r" tenu (?:ma parole|ma promesse)\b|\bcumplí mi (?:palabra|promesa)\b",
        True,
    ),
    _end(
        "debt",
        "quitt|quittes|paz|geld|argent|dinero",
        r"\bwir sind quitt\b|\bnous sommes quittes\b|\bestamos en paz\b|\bhier ist das geld\b|\bvoici l['’]argent\b"
        r"|\baquí está el dinero\b",
        True,
    ),
    _end(
        "wound",
        "verzeihe|vergebe|pardonne|perdono",
        r"\bich (?:verzeihe|vergebe) (?:dir|euch|Ihnen)\b|\bje (?:te|vous) pardonne\b|\b(?:te|le|os) perdono\b",
        True,
    ),
)

ANSWERS = lazy_re(
    r"\b(?:is|was|are|were|had|has|went|gone|died|killed|murdered|betrayed|stole|took|taken|found|because|wanted|wants"
    r"|turned out|poisoned|sent|hid|hidden|lies|lived|came|fled|left|returned|planned|intended)\b",
    re.IGNORECASE,
)
"""One of these stands in what answers a question about somebody."""

FATE = lazy_re(
    r"\b(?:died|is dead|was dead|dead|killed|murdered|taken|captured|escaped|fled|survived|married|alive|hanged"
    r"|drowned|left for"
    r"|returned|came back|became)\b",
    re.IGNORECASE,
)
"""What becomes of people."""

PLACE = lazy_re(
    r"\b(?:is|was|went|fled|gone|hid|hiding|living|lives|lived|kept|taken|left|travelled|sailed|returned|found) "
    r"(?:him |her |it |them )?(?:in|at|to|into|back to|under|near|inside|behind)\b",
    re.IGNORECASE,
)
"""Where people go, and are found."""

BY_WORD: dict[str, list[int]] = {}
for _number, _each in enumerate(ENDS):
    for _word in _each.words[0]:
        BY_WORD.setdefault(_word, []).append(_number)
HINTS = frozenset(BY_WORD)
"""One of these stands in every sentence that may end a thread that is no question."""
