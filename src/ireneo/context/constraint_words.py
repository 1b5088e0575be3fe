"""The words by which a constraint, and the lifting of one, is known; English, with the plainest of some others."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re


def _any(*alternatives: str) -> str:
    return "(?:" + "|".join(alternatives) + ")"


def _pattern(text: str) -> re.Pattern[str]:
    return lazy_re(text, re.IGNORECASE)


_PAST = (
    "(?:\\w{2,}ed|was|were|had|did|saw|ran|got|went|came|thought|found|knew|told|said|made|took|read|wrote|built|kept|sent"
    "|gave|left|lost|meant|met|heard|felt|learnt|began|chose|broke|forgot|spent|understood)"
)

CLAUSE = _pattern(
    r"(?:(?<!\s)\s++)?[;:—–(]\s*|,\s+|(?<!\s)\s+-\s+|(?<!\s)\s+(?:and|but|so|then|und|aber|et|mais|y|pero)\s+"
)
"""What parts a sentence."""

LEAD = _pattern(
    "^(?:"
    + _any(
        *("please", "pls", "also", "and", "but", "so", "then", "ok(?:ay)?", "btw", "by the way", "again", "just"),
        *("really", "important", "note", "remember", "reminder", "rule", "constraint", "warning", "careful"),
        *("attention", "you", "we", "i want you to", "i need you to", "i'd like you to", "be sure to", "try to"),
        *("make sure (?:that )?(?:you|to|we)", "as always", "bitte", "por favor", "s'il (?:te|vous) pla[iî]t"),
    )
    + r"\b[\s,.!:*_—–-]*)+"
)
"""What may stand before the word that binds."""

SCOPE = _pattern(
    r"\b"
    + _any(
        *("from now on", "from here on", "going forward", "henceforth", "at all times", "at any time"),
        *("under (?:no|any) circumstances", "no matter what", "no exceptions", "without exception", "whatever you do"),
        r"unless i\b",
        r"until i\b",
        "without (?:asking|my|checking with)",
        "for (?:all|any) (?:further|future)",
        "for the (?:rest|whole|entire|remainder|duration)",
        r"for (?:this|the) (?:whole |entire )?(?:session|project|task|repo|repository|work|job|run)\b",
        "(?:hard|house|ground) rule",
        *("standing (?:rule|order|instruction)", "hands off", "(?:is|are|stays?|remains?) off[- ]limits"),
        *("ab jetzt", "von nun an", "auf keinen fall", "unter keinen umständen"),
        *("désormais", "à partir de maintenant", "a partir de ahora"),
    )
    + r"\b"
)
"""How far something reaches: such a sentence holds beyond the task at hand, whatever else it says."""

WIDE = _pattern(r"\b(?:everywhere|every (?:time|single)|each time|throughout)\b")
"""How far something reaches, where it binds; told of what happens, it binds nothing."""

NEVER = _pattern(
    r"^(?:never|always|do not ever|don't ever|niemals|nie|immer|jamais|toujours|nunca|siempre)\b(?! mind\b)"
    r"(?!\s+\w+(?:ed|en)\b)"
)
"""At the beginning of a clause; with a participle it tells a story."""

BOUND = _pattern(
    r"\b"
    + _any(
        "must(?:n't| not| never| always| only| stay| remain| keep| be kept)",
        *("shall (?:not|never)", "may (?:never|only)", "(?:should|shall|will|can|are to|is to) (?:never|always)"),
        "should (?:stay|remain|be kept|not be (?:touched|changed|modified|edited))",
        "(?:has|have|needs?|ought) to (?:stay|remain|keep|be kept)",
        "(?:is|are|stays?|remains?) (?:frozen|read[- ]only|untouchable|forbidden|not allowed|not to be|mandatory"
        "|required|reserved|off[- ]limits|taboo|sacred)",
        *("no longer allowed", "(?:is|are) prohibited", r"only \w+ (?:may|can|is allowed)"),
        *("ask (?:me )?(?:first|before)", "check with me"),
        "(?:needs?|requires?) (?:my|our|a) (?:ok|okay|approval|permission|review)",
        *("darf (?:nicht|nie)", "dürfen (?:nicht|nie)", "muss immer"),
    )
    + r"\b"
)

MUST = _pattern(r"\b(?:must|is required|are required|required to|have to|has to|needs to be|essential|crucial|vital)\b")

HINT = _pattern(
    r"(?<!was )(?<!were )(?<!has )(?<!have )(?<!had )\b(?:never(?! mind)|always|only|no longer|nothing|forbidden)\b"
)

TELLS = _pattern(rf"\b(?:i|we|they|he|she|it|somebody|someone|nobody) (?:(?!to\b)[\w']+ )?{_PAST}\b")
"""Somebody did something: what else such a sentence hints at is a part of the story."""

FORBID = _pattern(
    "^"
    + _any(
        *("don't", "do not", "dont", "don’t", "avoid", "refrain from", r"stop \w+ing"),
        r"leave\b.{0,300}\b(?:alone|as (?:it|they)|untouched|unchanged)",
        *("stay (?:away|out|off|within|on|under|below)", "no more than", "not more than", "(?:make|do) no"),
        *(r"treat .* as", "remember", "(?:answer|reply|respond|speak) (?:me )?(?:only )?in"),
        rf"(?:i|we) (?:do not|don't|don’t|never|always|only) (?!{_PAST}\b|know|see|think|mind|get"
        r"|understand|have to|need)\w+",
        r"(?:all|every|each|any|anything|everything|nothing|nobody|no one) .*\b(?:must|should|has to|have to|gets?|goes"
        r"|go|stays?|is|are|may|can|needs?)\b(?!.*\b(?:done|finished|passing|green)\b)",
        *("nicht", "keine?", r"ne \w+ pas", "no (?:toques|uses|cambies)"),
    )
    + r"\b(?! (?:worry|know|see|think|mind|forget|get it|understand|remember|recall|have|need)\b)"
)
"""At the beginning of a clause: what is not to be done, or holds for all of a kind."""

KEEP = _pattern(
    r"^(?:keep (?!going|in mind|working|reading|trying|it up|at it|on\b|track)|stick (?:to|with)|"
    rf"only (?!{_PAST}\b|because|if|when|the\b|one\b|then\b|for\b|a\b)\w+|preserve|respect|limit|restrict"
    r"|stay\b|remain|prefer|behalte|nutze nur|verwende nur)"
)
"""At the beginning of a clause: what is to stay as it is."""

USE = _pattern(
    r"^(?:use|write|name|format|indent|target|support|follow|ensure|make sure|verwende|nutze|utilise|usa|"
    r"no (?!problem|worries|need|idea|it|that|this|i|we|the|one|,)\w+)\b"
)
"""At the beginning of a clause: how something is to be done; often for this once."""

LIFT = _pattern(
    r"\b"
    + _any(
        r"you (?:can|may|could|are allowed to|'re allowed to|are free to|'re free to) (?:now|again)\b",
        r"(?:you (?:can|may|are allowed to)|it'?s (?:ok|okay|fine|alright|all right) to|feel free to|go ahead and|"
        r"i (?:now )?allow(?: you)? to|we can|i'm (?:ok|fine) with)\b.{0,300}\b(?:now|again|after all|anyway"
        r"|from (?:now|here) on)\b",
        r"(?:forget|ignore|drop|lift|scrap|disregard|cancel|revoke|remove|withdraw|retract"
        r"|take back)\b.{0,300}\b(?:rule"
        r"|constraint|restriction|instruction|limit|ban|freeze|requirement|what i said|what i told|pin)\b",
        "never mind (?:about |the |what )",
        r"(?:no longer|not?\b.{0,300}\bany ?more|any ?longer|don't have to|doesn't have to|no need to|needn't)\b",
        r"(?:rule|constraint|restriction|freeze|ban|requirement|limit)\b.{0,60}? (?:is|has been|was) (?:lifted|over"
        r"|gone|dropped|off)\b",
        r"(?:can|may|could)\b.{0,300}\b(?:again|after all|anyway|from (?:now|here) on)\b",
        r"instead of\b",
    )
)
"""What may lift a constraint that was set before."""

EMPTY = frozenset(
    (
        "a an the and or but if of to in on at by for from with without into as is are be been was were do does did "
        "don't not no never always only any anything all every each must should shall may might can could will would "
        "you your i we our us me my it its this that these those there here now again anymore more longer after before "
        "than then so please also just use using keep stick make sure ensure avoid let it's ok okay fine go ahead feel "
        "free allowed need needs have has had get rule constraint restriction forget ignore drop lift about earlier "
        "said told what when where how which who instead anyway from on off out up down per via don dont doesn't stop "
        "leave alone ask asking first prefer over whole session bitte niemals nie immer nicht kein keine der die das "
        "den mind"
    ).split()
)
"""Words that say nothing of what a sentence is about."""
