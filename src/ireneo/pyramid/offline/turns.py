"""What a sentence does in a story: a turn of it that is worth keeping, or chatter beside it."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

_TURNS = r"""
di(?:es|ed)|dead|death|dying|kill(?:s|ed|ing|er)?|murder\w*|slain|slays?|slew|buri(?:ed|es)|funeral|execut\w+|behead\w*
|perish\w*|drown(?:s|ed)?|hanged|corpses?|sacrific\w+|resurrect\w*|ghosts?
|attack(?:s|ed)?|ambush\w*|f(?:ight|ights|ought)|battle|wound(?:s|ed)?|stab(?:s|bed)?|str(?:ikes?|uck)|bleed\w*|blood
|duel|war|siege|invad\w+|destroy(?:s|ed)?|burn(?:s|ed|t)?|explod\w+|collaps\w+|shatter\w*|defeat(?:s|ed)?
|arriv(?:es?|ed|al)|return(?:s|ed)|depart\w*|le(?:aves|ft)|fle(?:es?|d)|escap(?:es?|ed)|vanish\w*|disappear\w*|banish\w*
|exiled?|missing|lost|kidnap\w*|captur\w+|imprison\w*|prisoners?|arrest\w*|rescu\w+|sav(?:es|ed)|freed|releas\w+
|discover\w*|reveal\w*|found|finds|reali[sz]\w+|learn(?:s|ed|t)|secrets?|hidden|truth|recogni[sz]\w+|unmask\w*|clues?
|decid\w+|agree[ds]?|refus(?:es?|ed)|cho(?:ose|oses|se|sen)|vow(?:s|ed)?|sw(?:ears?|ore|orn)|promis\w+|oath|bargain|deal
|confess\w*|admit(?:s|ted)?|lied|lies|betray\w*|forg(?:ive|ave|iven)|apologi[sz]\w+|accus\w+|warn(?:s|ed)|threat\w*
|g(?:ives?|ave|iven) (?:him|her|them|you|me|us)|gifts?|st(?:eals?|ole|olen)|inherit\w*|treasure|hired?|bought|sold|owes?
|marri\w+|marry|wedding|engaged|kiss(?:es|ed)|loves?|loved|born|birth|pregnant|daughter|son|father|mother|brother|sister
|king|queen|crown\w*|emperor|throne|lord|lady|council|leader|heir|master|servant|ally|allies|enem(?:y|ies)|friend
|sick|fever|poison\w*|curse[ds]?|heal(?:s|ed)|dying|mad(?:ness)?|possess\w*|transform\w*|demon\w*|dragon\w*|vampir\w*
|letter|key|map|sword|book|ring|prophec\w+|dream(?:s|ed|t)?|quest|mission|plan(?:s|ned)?|search(?:es|ing)?|meet|met
|never again|at last|finally|for the first time|years ago|called|named|known as|name is|will be back
|st(?:irbt|arb|erben)|tot|töt\w+|getötet|gefunden|findet|fand|geheim\w*|verr(?:iet|at|aten)|verließ|floh|kam an|zurück
|versprach|versprochen|schwor|gestand|heirat\w+|geschenkt|gestohlen|entdeckt\w*|verschwand|verschwunden|krieg|kampf
|mort(?:e|s)?|tu(?:é|a|er)|meurt|trouv\w+|secret|part(?:it|i)|revint|promis|jura|avou\w+|épous\w+|vol(?:a|é)|guerre
|mur(?:ió|e)|muert[oe]|mat(?:ó|ar)|encontr\w+|secreto|huyó|volvió|prometió|juró|confesó|casó|robó|guerra|descubr\w+
"""
# For small letters: a pattern that heeds no case tries every branch at every word, and takes five times as long.
_TURN = lazy_re(rf"\b(?:{''.join(_TURNS.split(chr(10)))})\b")
_TURN_SIGNS = lazy_re("[死殺杀戦战争約约婚逃盗秘密毒呪王帰归发現见見決决]")
_WORD = lazy_re(r"[^\W\d_]+")
SHORTEST = 5
"""Words; what is shorter tells nothing by itself."""
SHORTEST_STUMP = 9
"""Words of a question, or of what is broken off."""
SHORTEST_DENSE = 6
"""Signs, where words aren't set apart."""
_GREETING = lazy_re(
    r"(?:hi|hello|hey|thanks?|thank you|bye|goodbye|good (?:morning|evening|night|luck)|welcome|yes|yeah|yep|no|nope|"
    r"ok|okay|oh|ooh|ah|aw+|wow|whoa|ha(?:ha)*|lol|right|all right|alright|sure|great|cool|nice|awesome|"
    r"exactly|sorry|please|what|wait|so|well|um+|uh+|hm+|you know|i know|i mean|i don't know|i think so|hallo|danke|"
    r"ja|nein|salut|merci|oui|non|hola|gracias|sí)\b[,.!?]*\s*",
    re.IGNORECASE,
)
_TABLE = lazy_re(
    r"\b(?:\d*d\d+|d20|roll(?:s|ed|ing)?|re-?roll|natural (?:one|twenty|\d+)|nat (?:one|20|1)|modifiers?|hit points?|"
    r"saving throws?|(?:skill|perception|stealth|insight|dexterity|strength|wisdom|charisma|arcana|ability) checks?|"
    r"initiative|bonus action|advantage|disadvantage|armou?r class|spell slots?|points? of damage|damage|dice|plus \d+|"
    r"(?:your|whose|next|'s|’s) turn|turn order|end of (?:your|my|the) turn|bonus|actions?|top of the round|feats?|"
    r"grid|minis?|miniatures?|rounds?|character sheets?|level(?:ed|led)?|editions?|players?|dungeon master|"
    r"episodes?|stream(?:s|ing)?|twitch|youtube|twitter|subscri\w+|donat\w+|charity|sponsors?|websites?|merch|t-shirts?|"
    r"kickstarter|tickets?|www|dot com|\.com|panel|convention|fan art|hashtag|chat ?room|season \d|snacks?|pizza)\b"
)
_LAUGHTER = lazy_re(r"\b(?:a?(?:ha|he|hi){2,}h?|lo+l|lmao|rofl)\b|^[^\w]*(?:laugh\w*|giggl\w*|gasp\w*)[^\w]*$", re.I)
_POINTS_BACK = lazy_re(
    r"(?:which|as well as|plus|it|it's|that|that's|this|these|those|he|she|they|him|her|them|because|"
    r"er|sie|es|das|il|elle|ça|eso|and|but|or|und|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_CUT_OFF = lazy_re(r"(?:--|—|–|…|\.\.\.)[\"'”’]*$")
_FIRST_PERSON = lazy_re(r"\b(?:I|I'm|I'll|I've|I'd|me|my|we|we're|we'll|let's|our|ich|mein\w*|je|mon|yo|mi)\b")


def without_greeting(sentence: str) -> str:
    """What is left of a sentence when greetings, fillers and assents at its beginning are taken off."""
    while found := _GREETING.match(sentence):
        if found.end() == 0:
            break
        sentence = sentence[found.end() :]
    return sentence


def is_chatter(sentence: str) -> bool:
    """Whether nothing is told: a greeting, an assent, laughter, a stump."""
    rest = without_greeting(sentence)
    if _LAUGHTER.search(sentence):
        return True
    # A sign of Chinese or Japanese is worth about three letters.
    dense = 0 if rest.isascii() else sum(char > "\u3000" for char in rest)
    if dense * 3 > len(rest):
        return dense < SHORTEST_DENSE
    words = len(rest.split())
    asks = rest.rstrip("\"'”’)*_").endswith("?")
    broken_off = bool(_CUT_OFF.search(rest))
    return words < (SHORTEST_STUMP if asks or broken_off else SHORTEST)


def is_heading(sentence: str) -> bool:
    """Whether it is the title of a chapter or the head of a letter: nearly every word of it is written large."""
    words = [word for word in _WORD.findall(sentence) if len(word) > 3]
    large = sum(word[0].isupper() for word in words)
    return large * 3 > len(words) * 2 and not sentence.startswith(('"', "“", "„", "«"))


def salience(sentence: str) -> float:
    """How much of a turn of the story the sentence seems to tell, by itself: about 0 for idle talk, 3 at the most."""
    small = sentence.lower()
    turns = len({found[0] for found in _TURN.finditer(small)})
    turns += len(set(_TURN_SIGNS.findall(sentence)))
    score = 0.6 + 0.8 * min(turns, 3)
    if sentence.rstrip("\"'”’)").endswith(("?", "？")):
        score *= 0.4
    if _CUT_OFF.search(sentence):
        score *= 0.5
    if _POINTS_BACK.match(sentence):
        score *= 0.6
    if sentence[:1].islower():
        score *= 0.6
    if _FIRST_PERSON.search(sentence):
        score *= 0.85
    return score * 0.35 ** min(len(_TABLE.findall(small)), 3)
