"""The words by which a wound is known; English, with the plainest of German, French and Spanish."""

from __future__ import annotations

from ireneo.pyramid.offline.cues import HAVE, KIN, NAME, PEOPLE, POSSESSIVE, cue

_KILLED = "(?:killed|murdered|slew|slain|butchered|slaughtered|destroyed|burned|burnt|hanged|poisoned)"
_HURT = rf"(?P<who>me|us|you|him|her|them|my \w+|our \w+|his \w+|her \w+|{NAME})"

WOUNDS = (
    cue(
        "wound",
        "betrayed|deserted|wronged|deceived|cheated|jilted|ruined",
        rf"\b(?P<whom>you|he|she|they|who|{NAME}){HAVE} (?:cruelly |basely |so |all )?(?:betrayed|deserted|wronged"
        rf"|deceived|jilted|ruined"
        rf"|cheated) {_HURT}\b(?! (?:into|to|in) (?:an?|the)\b)",
        weight=1.5,
    ),
    cue(
        "wound",
        "forgive & never",
        rf"\b(?P<who>I|we|he|she|they|{NAME})(?:'ll|’ll| will| shall| can| could| would|'d|’d)? never (?:be able to )?"
        rf"forgive (?P<whom>you|him|her|them|myself|himself|herself|{NAME})\b",
        weight=1.5,
    ),
    cue(
        "wound",
        "forgive",
        r"\b(?P<who>I|we|he|she) (?:can't|cannot|can not|can’t|could not|couldn't|won't|will not) forgive "
        rf"(?P<whom>you|him|her|them|myself|himself|herself|{NAME})\b",
        weight=1.3,
    ),
    cue(
        "wound",
        "left|abandoned",
        rf"\b(?P<whom>you|he|she|they|{NAME}){HAVE} (?:left|abandoned) (?P<who>me|us|him|her|them|{NAME}) (?:to"
        rf" (?:die|rot"
        r"|burn|drown|hang|starve|perish)|for dead|at the altar)\b"
        r"|^\W*(?P<leaver>you) (?:left|abandoned) (?:me|us)\W*$",
        weight=1.4,
    ),
    cue(
        "wound",
        "killed|murdered|slew|slain|butchered|slaughtered|destroyed|burned|burnt|hanged|poisoned|ate|took",
        rf"\b(?P<whom>you|he|she|they|it|that \w+|who|{NAME}){HAVE} {_KILLED} (?P<who>my|our|his|her|their"
        rf"|{NAME}['’]s) "
        rf"(?:(?:whole|entire|own|poor|dear|only|little|older|younger|best) )*(?:{KIN}|home|homes)\b(?!['’])",
        weight=1.5,
    ),
    cue(
        "wound",
        "killed|murdered|slain|slaughtered|butchered|hanged|poisoned|taken|executed",
        rf"\b(?P<who>my|our|his|her|their|{NAME}['’]s) (?:(?:whole|entire|own|poor|dear|only|little|older|younger"
        rf"|best) )*{KIN} "
        r"(?:was|were|been|had been|has been|have been) (?:all |brutally )?(?:killed|murdered|slain|slaughtered"
        r"|butchered"
        r"|hanged|poisoned|executed|taken from)\b",
        weight=1.4,
    ),
    cue(
        "wound",
        "murdered|assassinated|poisoned",
        rf"\b(?P<whom>you|he|she|they|who|{NAME}){HAVE} (?:murdered|assassinated|poisoned) (?P<who>{NAME})\b"
        rf"|\b(?P<slain>{NAME}) (?:was|had been|has been) (?:murdered|assassinated|poisoned)\b",
        weight=1.4,
    ),
    cue(
        "wound",
        "revenge|vengeance|revenged|avenged",
        rf"\b(?P<who>{PEOPLE})(?:'ll|’ll| will| must| shall|'m going to|'s going to| had| have|'d)? (?:want|wanted"
        r"|wants|seek|sought|seeks|swear|swore|sworn|vowed|have|take|get|taking|seeking|be) "
        rf"(?:{POSSESSIVE} )?(?:revenge|vengeance|revenged|avenged) (?:on|upon|against|for|from)\b(?:"
        rf" (?P<whom>{NAME}|you))?",
        weight=1.4,
    ),
    cue(
        "wound",
        "heart & broke|broken",
        rf"\b(?P<whom>you|he|she|they|{NAME}){HAVE} (?:broke|broken) (?P<who>my|his|her|our|{NAME}['’]s) heart\b",
        says=1,
    ),
    cue(
        "wound",
        "lost|robbed",
        rf"\b(?P<who>I|we|he|she|they|{NAME}){HAVE} (?:lost|been robbed of) {POSSESSIVE} (?:(?:left|right|own|only"
        rf"|whole"
        rf"|dear|entire|poor|little) )*(?:father|mother|brother|sister|son|daughter|wife|husband|family|parents?|child"
        rf"|children|arm|leg|hand|eye|eyes|eyesight|soul)\b(?! of\b)",
        weight=1.2,
    ),
    cue(
        "wound",
        "cursed|curse",
        r"\b(?P<who>I|he|she|they|we)(?:'m|’m|'s|’s| am| are| is| was| were| has been| have been| had been)"
        r" (?:cursed (?:by|with|to|for)|under an? (?:\w+ )?curse)\b"
        rf"|\b(?P<curser>{PEOPLE}){HAVE} (?:put|laid|placed) a (?:\w+ )?curse (?:on|upon)\b",
        weight=1.3,
        says=1,
    ),
    cue(
        "wound",
        "verraten|verlassen|belogen|betrogen|verzeihe|verzeihen|getötet|ermordet",
        r"\b(?P<whom>du) hast (?P<who>mich|uns) (?:verraten|verlassen|belogen|betrogen)\b"
        r"|\b(?:das |ich )(?:werde|verzeihe) (?:ich )?dir (?:das )?nie(?:mals)?(?: verzeihen)?\b"
        r"|\bdu hast (?:meine?n?|unsere?n?) \w+ (?:getötet|ermordet)\b",
        weight=1.5,
    ),
    cue(
        "wound",
        "trahi|trahie|abandonné|abandonnée|menti|pardonnerai|tué",
        r"\b(?P<whom>tu) m['’]as (?:trahie?|abandonnée?|menti)\b|\bje ne (?P<te>te) pardonnerai jamais\b"
        r"|\btu as tué (?:mon|ma|mes) \w+",
        weight=1.5,
    ),
    cue(
        "wound",
        "traicionaste|traicionado|abandonaste|perdonaré|mataste",
        r"\bme (?:traicionaste|abandonaste|has traicionado)\b|\b(?:nunca|jamás) (?P<te>te) perdonaré\b|\bmataste a"
        r" mi \w+",
        weight=1.5,
    ),
)
