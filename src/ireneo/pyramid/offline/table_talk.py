"""What only looks like the opening of a thread: talk about the game or the show, jokes, conditions, manners."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

TABLE = lazy_re(
    r"\b(?:dice|d\d+|roll(?:s|ed|ing)?|re-?roll|hit points?|bonus action|saving throws?|disadvantage|advantage"
    r"|initiative"
    r"|stream(?:s|ing)?|twitch|episodes?|subscribers?|subs|podcast|youtube|tweets?|twitter|chat ?room|donat\w+"
    r"|t-?shirts?|merch|viewers?|charity|giveaways?|fan ?art|website|camera|players?|game master|dungeon master"
    r"|dm|rpg|character sheet|spell slots?|armou?r class|backstory|google|app|kickstarter|sponsors?|the show|our show"
    r"|next week|last week|tonight's game|home game|hashtag|audience|critters|rulebook|campaign|convention|e-?mail)\b",
    re.IGNORECASE,
)
"""Words of those who play or show a story, not of those in it."""

SHOW = lazy_re(
    r"\b(?:stream(?:s|ing)?|twitch|episodes?|subscribers?|subs|podcast|youtube|tweets?|twitter|chat ?room|donat\w+"
    r"|t-?shirts?|merch|viewers?|charity|giveaways?|fan ?art|kickstarter|sponsors?|hashtag|convention|rulebook)\b",
    re.IGNORECASE,
)
"""Words of a show: what is said near them is said to those who watch."""

JOKE = lazy_re(
    r"\((?:\w+ )?(?:laugh|chuckl|giggl|sing|jok|cough|snort)\w{0,40}[^)]{0,400}\)|\b(?:just kidding"
    r"|I'm kidding|joking|haha+"
    r"|lol)\b",
    re.IGNORECASE,
)

NOT_SO = lazy_re(
    r"\b(?:if (?:I|we|you|he|she|they|it|only)|as if|as though|unless|wouldn't|would you|could I|could we|suppose"
    r"|pretend"
    r"|maybe|perhaps|might (?:have )?|(?:can|could|should|may|shall|do|did|does|would|will) (?:I|we|you|he|she|they)"
    r" (?:\w+ )?(?:promise|swear|tell|owe|forgive|keep))\b",
    re.IGNORECASE,
)
"""What is only supposed, or asked."""

TRIFLE = lazy_re(
    r"\b(?:be (?:very |so )?(?:right back|fine|okay|ok|all right|alright|brief|quick|careful|right there|back in)"
    r"|just go|right back|owes? (?:you|me|us|him|her|them) one|finish it|try harder)\b",
    re.IGNORECASE,
)
"""What is promised or owed in passing, and forgotten as soon."""

DENIES = lazy_re(
    r"\b(?:don't|do not|don’t|didn't|did not|never|not|no|nothing|neither|can't|cannot|won't|hardly|scarcely"
    r"|without) (?:\w+ ){0,2}$",
    re.IGNORECASE,
)
"""Right before a cue: what follows is denied."""

EMPTY = frozenset(
    """
a an the and or but if of to in on at by for from with without into as is are be been was were am do does did don't
don’t not no never always only any anything all you your i we our us me my mine it its it's this that these those
there here now again then than so just he she they him her them his their who whom what when where how why which
will would shall should can could may might must come back came i'll i'm i've i'd we'll we're we've you'll you're
you've he'll she'll they'll he's she's that's there's let's have has had having get got going go gonna one ones some
up down out off over about too very much more ever oh yes yeah well okay ok sir please like thing things know say
said tell told swear promise promised swore word vow oath pledge owe owes owed keep make made god lord man dear
because before after still also even really right good sure miss mr mrs dr thank thanks won't can't didn't i’ll i’m
won’t
""".split()
)
"""Words that say nothing of what a sentence is about."""
