"""The words by which a debt is known; English, with the plainest of German, French and Spanish."""

from __future__ import annotations

from ireneo.pyramid.offline.cues import HAVE, MONEY, NAME, PEOPLE, THEM, cue

_AMOUNT = (
    r"(?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|hundred"
    r"|thousand|some|\d[\d,.]{0,20}|my"
    r"|our|his"
    r"|her|their|the|so|that|this|much|more|every|all|good|great|large|lot|of|huge|little|last|few|\w+['’]s) ){0,8}"
)
_DUE = (
    rf"(?:an? (?:\w+ )?(?!apology|explanation|answer|kiss|hug|visit|call\b|hand\b|look|talk|word|chat|thanks|try|lot"
    rf" of thanks)\w+|{_AMOUNT}{MONEY}|\d[\d,]*|so much"
    r"|everything|all (?:I|we|he|she)\b|more than|my \w+|our \w+|his life|her life)"
)

DEBTS = (
    cue(
        "debt",
        "owe|owes|owed",
        rf"\b(?P<who>{PEOPLE})(?: still| also| now| do| does|'ll|’ll| will)* owe[sd]? (?P<whom>{THEM}) "
        rf"(?!(?:(?:an?|my|the|at least) (?:\w+ )?)?(?:apolog|explanation|answer|kiss|hug|visit|call\b|thousand"
        rf" thanks|talk)){_DUE}",
        weight=1.3,
    ),
    cue(
        "debt",
        "owe|owes|owed",
        rf"\b(?P<who>{PEOPLE}) (?:still )?owe[sd]? {_AMOUNT}(?:{MONEY}|everything|it all)\b[^.?!]{{0,30}}? to "
        rf"(?P<whom>{THEM})\b",
        weight=1.3,
    ),
    cue(
        "debt",
        "owed",
        rf"\b(?P<whom>I|we|he|she|they|{NAME})(?:'m|’m|'re|’re| am| are| is| was| were| had been) (?:still )?owed "
        rf"{_AMOUNT}{MONEY}\b|\b{_AMOUNT}{MONEY} (?:is|was|are|were) (?:still )?owed\b",
    ),
    cue(
        "debt",
        "debt",
        rf"\b(?P<who>I|we|he|she|they|{NAME})(?:'m|’m|'re|’re| am| are| is| was| were| stood|'ll be|’ll be| will be"
        rf"| shall be) (?:\w+ )?in (?P<whom>your|his|her|their|my|{NAME}['’]s) debt\b"
        rf"|\b(?:a|the|my|our|his|her) (?:\w+ )?debt (?:of \w+ )?(?:I|we|he|she|they)(?: can| could)?(?: never)?"
        rf" (?:owe|repay)",
        weight=1.3,
    ),
    cue(
        "debt",
        "lent|loaned",
        rf"\b(?P<whom>I|we|he|she|they|{NAME}){HAVE} (?:lent|loaned) (?P<who>{THEM}) {_AMOUNT}"
        rf"(?:{MONEY}|sword|ring|book|boat|ship|cloak|coat|knife|gun|key|map)\b",
    ),
    cue(
        "debt",
        "borrowed",
        rf"\b(?P<who>I|we|he|she|they|{NAME}){HAVE} borrowed (?:{_AMOUNT}{MONEY}|{_AMOUNT}\w+) (?:\w+ ){{0,3}}?"
        rf"(?:from|of) (?P<whom>{THEM})",
    ),
    cue("debt", "schulde", r"\bich schulde (?P<whom>dir|euch|ihm|ihr|Ihnen) (?!nichts|keine)\w+", weight=1.2, says=1),
    cue("debt", "schuldest", r"\b(?P<who>du) schuldest (?P<whom>mir) (?!nichts|keine)\w+", weight=1.2, says=1),
    cue(
        "debt",
        "dois|devez",
        r"\bje (?P<whom>te|vous|lui) dois (?:de l['’]argent|un|une|la vie|cent|mille|\d)"
        r"|\b(?:tu me dois|vous me devez) (?:de l['’]argent|un|une|la vie|cent|mille|\d)",
        weight=1.2,
    ),
    cue(
        "debt",
        "debo|debes",
        r"\b(?P<whom>te|le) debo (?:dinero|un|una|la vida|mil|cien|\d)|\bme debes (?:dinero|un|una|la vida|mil|cien"
        r"|\d)",
        weight=1.2,
    ),
)
