"""The words and turns of phrase by which the kind of a text is told."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

IMPERATIVES = (
    "run|use|check|open|add|set|call|make|write|install|build|start|stop|create|update|deploy|test|commit|push|pull"
    "|merge|read|wait|ask|click|go|copy|move|delete|remove|restart|verify|export|import|configure|edit|put|take|send"
    "|tell|turn|boil|mix|pour|heat|cut|stir|press|select|choose|enter|find|fetch|clone|tag|bump|format|lint|back up"
    "|log in|sign in|keep|clear|close|draft|let|preheat|rinse|fill|switch|release|rebase|generate|apply|drain|plug"
    "|unplug|hold|reset|lock|unlock|save|load|sort|wash|soak|warm|water|measure|mark|upload|download|bring|tie|fold"
)
OUTCOMES = (
    r"(?:fail(?:s|ed|ing|ure)?|abandon(?:ed|ing)?|gave (?:it )?up|broke|breaks|crash(?:ed|es)?|rejects?|rejected"
    r"|no (?:luck|success|effect|use)|in vain|to no avail|(?:did|do|does|was|is)(?:n't| not) (?:work|help|enough)"
    r"|made (?:it|things) worse|dead end|error(?:s|ed)?|\w*(?:Error|Exception)|hung|hangs|timed out|times out"
    r"|deadlock\w*|reverted|rolled back|undid|had to undo|not possible)"
)


def any_of(*patterns: str) -> re.Pattern[str]:
    """Whether one of `patterns` stands in a text, in whatever case."""
    return lazy_re("|".join(patterns), re.I)


FAILED = any_of(
    rf"\b(?:tried|attempted|experimented with|had a go at)\b.{{0,600}}\b{OUTCOMES}\b",
    rf"\b(?:trying|attempting|attempts?)\b.{{0,200}}\b{OUTCOMES}\b",
    r"\b(?:tried|attempted)\b.{0,300}[—–;,] ?(?:but|yet|however)\b",
    r"\b(?:dead end|does(?:n't| not) work because|did(?:n't| not) work because|won't work because)\b",
    r"\b(?:gave up on|abandoned|reverted|rolled back|backed out)\b.{1,300}\b(?:because|since|as it|after it|due to)\b",
    r"\b(?:fails?|failed|crash(?:es|ed)|breaks|broke|aborts?|aborted|dies|died) with\b",
    r"\b(?:failed|crashed|aborted|timed out): \S",
    r"\b(?:raises?|raised|throws?|threw) (?:an? )?\w*(?:error|exception)\b",
    r"^(?:never|don't|do not)\b.{1,300}(?:\bagain\b|: it \w+)",
    r"^(?:never|don't|do not)\b.{1,300}[,;:—–] ?(?:it|that|this) (?:breaks|broke|fails|failed|crash)",
)
STEPS = any_of(
    r"^(?:in order )?to \w+[^.?!]{0,200}?[:,] ?(?:first(?:ly)?,? |you (?:must |need to |have to |should )?|always "
    rf"|just |simply )?(?:{IMPERATIVES})\b",
    r"^(?:first(?:ly)?|start by|begin by|begin with)\b,? ?(?:you )?"
    rf"(?:\w+ing|{IMPERATIVES})\b.{{1,600}}\b(?:then|next|after|afterwards|finally|before)\b",
    r"^(?:always|never|remember to|make sure|be sure to|don't forget to|do not forget to)\b.{0,100}"
    rf"\b(?:{IMPERATIVES})\b.{{0,400}}\b(?:before|after|when|whenever|first|then|until|unless|if)\b",
    rf"^(?:always|remember to|be sure to|don't forget to) (?:{IMPERATIVES})\b",
    rf"^(?:before|after|when|whenever|if|once)\b[^.?!]{{1,200}}[,:] ?(?:always |first |then |please )?"
    rf"(?:{IMPERATIVES})\b",
    r"^(?:how to|steps? (?:to|for)|recipe for|procedure for|checklist for|the way to)\b.{0,200}(?::|\bis to\b)",
    rf"^(?:{IMPERATIVES})\b.{{1,300}}(?:\bthen\b|, and finally|\bbefore (?:you|\w+ing)\b)",
)

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
TIMES = any_of(
    r"\b(?:yesterday|today|tonight|earlier|this (?:morning|afternoon|evening|week|month|year)|last \w+|\w+ ago)\b",
    r"\b(?:the other day|just now|recently|the day before|back then|at noon|at midnight)\b",
    rf"\b(?:on|in|since|by|around|late|early|mid|last|next) (?:{_MONTHS}|{_DAYS})\b",
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b",
    r"\b(?:\d{4}-\d\d-\d\d|(?:in|since|by|until) (?:19|20)\d\d|at \d{1,2}(?::\d\d| ?[ap]m))\b",
)
HAD = any_of(
    r"\bhad (?:an? |our |my |their |his |her )?(?:[a-z]+ )?(?:breakfast|brunch|lunch|dinner|supper|drinks|meeting|call"
    r"|appointment|argument|fight|accident|interview|picnic|party|rehearsal|check-?up)\b",
)
"""What was had and is over: an event, and nothing that was the case."""
PRESENT = frozenset(
    """
    is are am isn't aren't it's that's there's he's she's i'm we're they're you're has have hasn't haven't does do
    doesn't don't can can't cannot will won't must should shall may might could would
    live lives like likes love loves hate hates prefer prefers need needs want wants work works own owns use uses speak
    speaks know knows believe believes belong belongs contain contains mean means cost costs takes runs requires
    supports depends return returns expects stores keeps plays studies drives enjoys eats drinks thinks says wears
    sleeps gets goes comes owes require depend support enjoy expect lies stands begins ends opens closes serves sits
    listens watches
    """.split()
)
"""Verbs of what is the case."""
NO_PAST = frozenset(
    """
    need seed feed speed weed breed indeed embed shed bed red hundred sacred naked wicked exceed proceed succeed id used
    """.split()
)
"""Words that only look as if they stood in the past."""
