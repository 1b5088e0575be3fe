"""The words by which a question that a story leaves open is known; English, with the plainest of some others."""

from __future__ import annotations

from ireneo.pyramid.offline.cues import DEED, NAME, cue

_LEAD = r"^\W*(?:(?:but|and|so|then|now|yet|well|still|tell me)[, ]+)*"
_TITLE = "(?:(?:the|my|our|your|his|her|their|old|young|poor|lord|lady|king|queen|captain|sir) )*"
_NOT_KNOWN = (
    r"\b(?:we|I|he|she|they|nobody|no one|none of us|none of them)(?: still| yet)? (?:don't|do not|don’t|never|did not"
    r"|didn't|cannot|can't|could not|couldn't)(?: yet| even| ever| still)? (?:know|knew|learned|learnt|found out"
    r"|discovered|find out|learn|discover|tell|guess)"
)

QUESTIONS = (
    cue(
        "question",
        "who & killed|murdered|slew|slain|poisoned|betrayed|robbed|stole|kidnapped|hired|cursed|burned|burnt|forged"
        "|hanged|attacked|built|wrote|freed|released|summoned|broke|tried",
        rf"{_LEAD}who (?:(?:has|had|could have|would have|was it that|really|actually) )?{DEED} "
        rf"(?!it\b|him\b|her\b|them\b|that\b|this\b|you\b|me\b|us\b|what\b|something\b|any\w*\b|here\b|there\b|all\b"
        rf"|more\b|last\b|in\b|at\b|up\b|into\b){_TITLE}\w+",
        weight=1.4,
    ),
    cue(
        "question",
        "happened|became|become & what",
        rf"{_LEAD}what (?:has |had |could have |really |actually )?(?:happened to|became of|become of)"
        rf" {_TITLE}(?:{NAME}"
        r"|(?:father|mother|brother|sister|son|daughter|child|wife|husband)\b)",
        weight=1.4,
    ),
    cue(
        "question",
        "where & did|has|have|had|could",
        rf"{_LEAD}where (?:did|has|have|had|could) {_TITLE}{NAME}(?: \w+)? (?:gone|vanish|vanished|disappear"
        r"|disappeared|hide|hid|hidden|flee|fled|taken?|been taken|come from|buried|bury|get (?:the|that|his|her))\b",
        weight=1.2,
    ),
    cue(
        "question",
        "why & did|would|does|had|has",
        rf"{_LEAD}why (?:did|does|had|has) {_TITLE}{NAME} (?:really |ever )?(?:kill|murder|betray|lie|leave"
        rf"|vanish"
        r"|disappear|hide|flee|steal|send|hate|want|warn|spare|help|save|abandon|die|run away|keep|come back)\b\W+\w+",
    ),
    cue(
        "question",
        "what & letter|vault|crypt|tomb|casket|envelope|tower|locket|parcel|package|packet|sealed",
        rf"{_LEAD}what(?:'s|’s| is| was| lies| could be) (?:in|inside|behind|beneath|under|hidden \w+) (?:the|that"
        rf"|this) "
        r"(?:\w+ ){0,2}(?:letter|vault|crypt|tomb|casket|envelope|tower|locket|parcel|package|packet|sealed \w+)\b",
    ),
    cue(
        "question",
        "what & plan|planning|seek|seeking|hide|hiding|with|up|after",
        rf"{_LEAD}what (?:does|did|do|could|would|is|was) {_TITLE}{NAME} (?:really |truly )?(?:plan|planning|seek"
        rf"|seeking"
        r"|hide|hiding|want with|up to|after)\b(?! (?:do|say))",
    ),
    cue(
        "question",
        "know|knew|learned|learnt|learn|find|found|discover|discovered|tell|guess & who|what|where",
        rf"{_NOT_KNOWN} (?:who (?:{DEED}|sent|is behind|was behind)|what (?:happened to|became of|had become of|has"
        rf" become"
        rf" of) (?:{_TITLE}{NAME}|(?:my|his|her|our|their) \w+)|where {_TITLE}{NAME} (?:went|had gone|has gone|was"
        rf" taken|is hidden|lies))\b",
        weight=1.2,
    ),
    cue(
        "question",
        "wer & hat",
        rf"\bwer hat (?:den |die |das )?(?:\w+ )?{NAME}[^?]*(?:getötet|ermordet|verraten|gestohlen)",
    ),
    cue(
        "question",
        "qui|devenue|devenu",
        rf"\bqui a (?:tué|trahi|volé|assassiné|empoisonné) \w+|\bqu['’]est devenue? {NAME}",
    ),
    cue("question", "quién|qué", rf"\bquién (?:mató|traicionó|robó|envenenó) \w+|\bqué fue de {NAME}"),
)
