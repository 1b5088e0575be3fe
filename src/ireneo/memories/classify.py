"""Of which kind a text is, by rules alone: the question that should find it decides.

"What must I not repeat?" goes first, then "how is it done?", then "what happened?"; what answers none of them is taken
for a statement. English only; a text in another language is a statement, unless a caller says otherwise.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ireneo.memories.recall.word_lists import BASE_FORMS
from ireneo.memories.record import Kind
from ireneo.memories.slots import read_slot

LONGEST = 2_000
"""Characters of a text that are looked at."""


class Guess(Struct, frozen=True, kw_only=True):
    """What a text seems to be; the slot only of a plain statement."""

    kind: Kind
    subject: str = ""
    attribute: str = ""
    value: str = ""


def classify(text: str, speaker: str = "") -> Guess:
    """The kind of `text`, and its slot where it has one; `speaker` is who "I" is, where that is known."""
    looked_at = text[:LONGEST].replace("’", "'").strip()
    if _FAILED.search(looked_at):
        return Guess(kind="failure")
    if _is_procedure(looked_at):
        return Guess(kind="procedural")
    if slot := read_slot(text, speaker):
        return Guess(kind="semantic", subject=slot.subject, attribute=slot.attribute, value=slot.value)
    return Guess(kind="episodic" if _happened(looked_at) else "semantic")


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_OUTCOME = (
    r"(?:fail(?:s|ed|ing|ure)?|abandon(?:ed|ing)?|gave (?:it )?up|broke|breaks|crash(?:ed|es)?|rejects?|rejected"
    r"|no (?:luck|success|effect|use)|in vain|to no avail|(?:did|do|does|was|is)(?:n't| not) (?:work|help|possible|enough)"
    r"|made (?:it|things) worse|dead end|error(?:s|ed)?|\w*(?:Error|Exception)|hung|hangs|timed out|times out|deadlock\w*"
    r"|reverted|rolled back|undid|had to undo)"
)
_FAILED = _any_of(
    rf"\b(?:tried|attempted|experimented with|had a go at)\b.{{0,600}}\b{_OUTCOME}\b",
    rf"\b(?:trying|attempting|attempts?)\b.{{0,200}}\b{_OUTCOME}\b",
    r"\b(?:tried|attempted)\b.{0,300}[—–;,] ?(?:but|yet|however)\b",
    r"\b(?:dead end|does(?:n't| not) work because|did(?:n't| not) work because|won't work because)\b",
    r"\b(?:gave up on|abandoned|reverted|rolled back|backed out)\b.{1,300}\b(?:because|since|as it|after it|due to)\b",
    r"\b(?:fails?|failed|crash(?:es|ed)|breaks|broke|aborts?|aborted|dies|died) with\b",
    r"\b(?:raises?|raised|throws?|threw) (?:an? )?\w*(?:error|exception)\b",
    r"^(?:never|don't|do not)\b.{1,300}(?:\bagain\b|: it \w+|[,;:—–] ?(?:it|that|this) (?:breaks|broke|fails|failed|crash))",
)

_IMPERATIVES = (
    "run|use|check|open|add|set|call|make|write|install|build|start|stop|create|update|deploy|test|commit|push|pull|merge"
    "|read|wait|ask|click|go|copy|move|delete|remove|restart|verify|export|import|configure|edit|put|take|send|tell|turn"
    "|boil|mix|pour|heat|cut|stir|press|select|choose|enter|find|fetch|clone|tag|bump|format|lint|back up|log in|sign in"
    "|keep|clear|close|draft|let|preheat|rinse|fill|switch|release|rebase|generate|apply|drain|plug|unplug|hold|reset"
)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|step \d{1,2}\b[.:)]?)\s+\S", re.I | re.M)
_INLINE_NUMBERS = re.compile(r"(?:^|\s)\(?1[.)] \S.{1,400}\s\(?2[.)] \S", re.S)
_STEPS = _any_of(
    rf"^(?:in order )?to \w+[^.?!]{{0,200}}?[:,] ?(?:first(?:ly)?,? |you (?:must |need to |have to |should )?|always |just "
    rf"|simply )?(?:{_IMPERATIVES})\b",
    rf"^(?:first(?:ly)?|start by|begin by|begin with)\b,? ?(?:you )?(?:\w+ing|{_IMPERATIVES})\b.{{1,600}}\b(?:then|next|after"
    r"|afterwards|finally|before)\b",
    rf"^(?:always|never|remember to|make sure|be sure to|don't forget to|do not forget to)\b.{{0,100}}\b(?:{_IMPERATIVES})"
    rf"\b.{{0,400}}\b(?:before|after|when|whenever|first|then|until|unless|if)\b",
    rf"^(?:always|remember to|be sure to|don't forget to) (?:{_IMPERATIVES})\b",
    rf"^(?:before|after|when|whenever|if|once)\b[^.?!]{{1,200}}, ?(?:always |first |then |please )?(?:{_IMPERATIVES})\b",
    r"^(?:how to|steps? (?:to|for)|recipe for|procedure for|checklist for|the way to)\b.{0,200}(?::|\bis to\b)",
    rf"^(?:{_IMPERATIVES})\b.{{1,300}}(?:, then|; then|\bthen\b|, and then|, and finally|\bbefore (?:you|\w+ing)\b)",
)


def _is_procedure(text: str) -> bool:
    return len(_NUMBERED.findall(text)) >= 2 or bool(_INLINE_NUMBERS.search(text)) or bool(_STEPS.search(text))


_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME = _any_of(
    r"\b(?:yesterday|today|tonight|earlier|this (?:morning|afternoon|evening|week|month|year)|last \w+|\w+ ago|the other day"
    r"|just now|recently|the day before|back then|at noon|at midnight)\b",
    rf"\b(?:on|in|since|by|around|late|early|mid) (?:{_MONTHS}|{_DAYS})\b",
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b",
    r"\b(?:\d{4}-\d\d-\d\d|(?:in|since|by|until) (?:19|20)\d\d|at \d{1,2}(?::\d\d| ?[ap]m))\b",
)
_PRESENT = frozenset(
    """
    is are am isn't aren't it's that's there's he's she's i'm we're they're you're has have hasn't haven't does do doesn't
    don't can can't cannot will won't must should shall may might could would
    live lives like likes love loves hate hates prefer prefers need needs want wants work works own owns use uses speak speaks
    know knows believe believes belong belongs contain contains mean means cost costs takes runs requires supports depends
    return returns expects stores keeps plays studies drives enjoys eats drinks thinks says wears sleeps gets goes comes owes
    require depend support enjoy expect belong lies stands begins ends opens closes serves sits listens watches
    """.split()
)
_NO_PAST = frozenset(
    "need seed feed speed weed breed indeed embed shed bed red hundred sacred naked wicked exceed proceed succeed id used".split()
)
_BE_PAST = frozenset(("was", "were", "wasn't", "weren't", "had", "hadn't", "got"))
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_BEFORE_A_NAME = frozenset("a an the my your his her its our their this that these those of some any no".split())


def _happened(text: str) -> bool:
    """Whether the first verb that is found stands in the past, and tells of an event."""
    words = _WORD.findall(text.lower())
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in _PRESENT:
            return False
        if word in _BE_PAST:
            following = words[at + 1 : at + 3]
            if "born" in following:
                return False
            return word == "got" or bool(_TIME.search(text)) or any(_is_past(each) for each in following)
        if word == "did" or word == "didn't" or (_is_past(word) and at and before not in _BEFORE_A_NAME):
            return True
    return False


def _is_past(word: str) -> bool:
    if word in _NO_PAST or word.endswith("s"):
        return False
    return (word in BASE_FORMS) or (len(word) > 3 and word.endswith("ed"))
