"""Whether a ruling that a user gave once is told to later runs: by itself a stranger understands it, and it binds them.

Most of what a user says of the work is of one task: a wish for a feature, an answer to a proposal that nobody sees
any more, a question, pasted text. How much speaks for a ruling (`rulings.alone_weight`) doesn't part them, since what
is said of a feature has the same words as what is said of all work. What parts them is the form of one clause: an
order that forbids, or that prefers one thing to another; a norm that is to hold always, or of all of a kind; where
something belongs; what was decided on purpose; who is asked first. A clause has it only where it names what it is
about. What has none of these is heard, and is told once a second run says the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from ireneo.language.files import either, topic
from ireneo.language.topics import Binding, Constraints, Rulings
from ireneo.language.words import common_words
from ireneo.lessons.rulings import ABOUT, LEAST, RULES, STANDS, alone_weight, bare, consults, of_task
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import sentences

FULL = 5
"""Words of content of a correction, which may point to what was said before."""
GRANTED = 0.75
"""What a sentence gains where the agent said that the user was right."""
NAMED = 1.5
"""The same where it was said to a command, or names one."""
ORDERED = 2.0
"""The same where its form says that something is to be so, or not to be, whatever the task."""
STATED = 1.0
"""The same where its form says how things are with those who speak, or gives an order that may be a step as well."""


def _words() -> Binding:
    return topic(Binding)


def _anywhere(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"(?<![\w.]){either(rows())}", re.I)


def _begins(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: either(rows()), re.I)


_LEAD = lazy_re(lambda: rf"(?:{either(_words().lead)}[\s,.!:*_…–—-]*)+", re.I)
_BANS = _begins(lambda: _words().bans)
_PREFERS = _begins(lambda: _words().prefers)
_USES = _begins(lambda: _words().uses)
_STEADY = _anywhere(lambda: _words().steady)
_KINDS = _begins(lambda: _words().kinds)
_DECIDED = _anywhere(lambda: _words().decided)
_BELONGS = _anywhere(lambda: _words().belongs)
_PRACTICE = _anywhere(lambda: _words().practice)
_HEADS = _anywhere(lambda: _words().heads)
_NORMS = _anywhere(lambda: _words().norms)
_POSSESSED = _anywhere(lambda: _words().possessed)
_CAUSES = _anywhere(lambda: _words().causes)
_OPPOSES = _anywhere(lambda: _words().opposes)
_ASKS_FIRST = _anywhere(lambda: _words().asks_first)
_UNASKED = _anywhere(lambda: _words().unasked)
_VAGUE = _begins(lambda: _words().vague)
_ENDS_VAGUE = lazy_re(lambda: rf"(?:.*\s)?{either(_words().ends_vague)}\W*", re.I)
_WISHES_FOR = _anywhere(lambda: _words().wishes_for)
_CASES = _anywhere(lambda: _words().cases)
_REQUESTS = _begins(lambda: _words().requests)
_WEIGHS = _anywhere(lambda: _words().weighs)
_OURS = _anywhere(lambda: topic(Rulings).ours)
_HOLDS = _anywhere(lambda: topic(Rulings).holds)
_LASTS = _anywhere(lambda: topic(Rulings).lasts)
_PROCESS = _anywhere(lambda: topic(Rulings).process)
_DISPUTES = _anywhere(lambda: topic(Rulings).disputes)
_ACCEPTS = _anywhere(lambda: topic(Rulings).accepts)
_OPEN = _anywhere(lambda: topic(Rulings).open)
_PASTED = lazy_re(r"[\[(/]\d+[/\])]|~/|\{|:=|^\W*\d+[.:)] |: \d+\.|\w\(\) - ")
"""What nobody says: it was taken from a program, or from a list."""
_CLAUSE = lazy_re(r"[,;:(–—]\s*|\s-\s|\.{2,}\s*|[?!]{1,9}\s+")
_ASIDE = lazy_re(r"\([^()\n]{0,400}\)")
_CUT_OFF = lazy_re(r"[^(\n]{0,400}[^\W\d_]{2}\)")
"""The end of what stands in brackets, without its beginning."""
_FIRST_WORD = lazy_re(r"\A\w[\w'’-]{0,60}\s{1,9}")
_WORD = lazy_re(r"[^\W_][\w'’./-]*")


def stands_alone(ruling: str, *, named: bool = False, conceded: bool = False) -> bool:
    """Whether `ruling` says how work is done in general: one that was heard once is told only then.

    What it is about is `named` where it is against a command, a flag or a file. What the agent `conceded` is a
    correction, and less has to speak for it.
    """
    about = ABOUT.match(ruling)
    said = list(sentences((ruling[about.end() :] if about else ruling).strip(" \"“”'")))
    # What was refused says itself what it is about, where that is a command.
    refused = about is not None and about[0].endswith("`: “") and about[0][4:5].isalnum()
    refused = (refused and about is not None and not about[0].startswith("On changing")) or named
    if not said or _REQUESTS.match(_without_lead(said[0])):
        return False  # A task, with what it is about.
    return any(
        (form := binding(each, before=said[at - 1] if at else "")) > 0
        and alone_weight(each) + form + NAMED * refused + GRANTED * conceded >= STANDS
        and (refused or _tells_enough(each, conceded=conceded))
        and (refused or not of_task(each) or _LASTS.search(each))
        for at, each in enumerate(said)
    )


def is_pasted(ruling: str) -> bool:
    """Whether a ruling was taken from a program or from a list, however often it stands there."""
    return bool(_PASTED.search(ruling)) and alone_weight(ruling) < RULES


def binding(sentence: str, *, before: str = "") -> float:
    """How far the form of a sentence binds later work, and of something that it names, or that stands just `before`.

    0 where it doesn't.
    """
    asked = sentence.rstrip("\"'”’)]*_ ").endswith("?")
    if asked or _CUT_OFF.match(sentence) or _ACCEPTS.search(sentence):
        return 0.0
    said = _ASIDE.sub(" ", sentence.replace("_", " ").replace("*", ""))
    if _WEIGHS.search(said):
        return 0.0
    parts = [each.strip() for each in _CLAUSE.split(said) if each.strip()]
    # What follows upon a case of the program's is of that case.
    clauses = [each for at, each in enumerate(parts) if not (at and _CASES.match(_without_lead(parts[at - 1])))]
    follows = _is_telling(before)
    if _ASKS_FIRST.search(said) or (_UNASKED.search(said) and _PROCESS.search(said)):
        return ORDERED
    if any(_forbids(each) or _prefers(each) or _is_decided(each, follows) for each in clauses):
        return ORDERED
    reason = bool(_CAUSES.search(said))
    # What is told against what somebody said is how things are, and no rule, however often they are so.
    general = not _DISPUTES.search(sentence) and (_of_a_kind(clauses[:1]) or any(map(_is_steady, clauses)))
    return STATED * (general or any(_orders(each, reason) or _states(each, reason) for each in clauses))


def _forbids(clause: str) -> bool:
    for each in (clause, _without_lead(clause)):
        if (banned := _BANS.match(each)) is not None:
            return not _is_vague(each[banned.end() :].strip())
    return False


def _prefers(clause: str) -> bool:
    body = _without_lead(clause)
    return bool(_PREFERS.match(body)) and not _is_vague(_FIRST_WORD.sub("", body, count=1))


def _is_decided(clause: str, follows: bool) -> bool:
    body = _without_lead(clause)
    return bool(_DECIDED.search(body)) and (follows or not _VAGUE.match(body))


def _orders(clause: str, reason: bool) -> bool:
    """Whether a clause orders how something is done: with a reason or a contrary, or of how work is done."""
    body = _without_lead(clause)
    steady = bool(_STEADY.search(body))
    order = _without_lead(_STEADY.sub("", body).strip())
    if not _USES.match(order) or _is_vague(order) or _CASES.search(clause) or _WISHES_FOR.search(clause):
        return False
    return steady or reason or any((_POSSESSED.search(body), _OPPOSES.search(order), _PROCESS.search(order)))


def _states(clause: str, reason: bool) -> bool:
    """Whether a clause says where something has its place, how those work who speak, or where the work is going."""
    body = _without_lead(clause)
    if _VAGUE.match(body) or _CASES.search(clause) or _WISHES_FOR.search(clause):
        return False
    place = _BELONGS.search(body)
    return bool((place is not None and place.start() > 0) or _PRACTICE.search(body) or (_HEADS.search(body) and reason))


def _of_a_kind(clauses: Sequence[str]) -> bool:
    """Whether a sentence begins with a norm of all of a kind."""
    bodies = (_without_lead(each) for each in clauses)
    return any(_KINDS.match(body) and (_HOLDS.search(body) or _NORMS.search(body)) for body in bodies)


def _is_steady(clause: str) -> bool:
    """Whether a clause says that something is always so, or is so with all who work there."""
    body = _without_lead(clause)
    if not _STEADY.search(body) or _VAGUE.match(body) or _CASES.search(clause) or _WISHES_FOR.search(clause):
        return False
    return any((_OURS.search(body), _HOLDS.search(body), _NORMS.search(body)))


def _without_lead(clause: str) -> str:
    found = _LEAD.match(clause)
    return clause[found.end() :] if found else clause


def _is_vague(order: str) -> bool:
    """Whether what an order is about was named elsewhere: “check this in”, “do the other thing”."""
    about = _FIRST_WORD.sub("", order, count=1)
    return not about or bool(_VAGUE.match(order) or _VAGUE.match(about) or _ENDS_VAGUE.fullmatch(about))


def _tells_enough(sentence: str, *, conceded: bool = False) -> bool:
    is_open = bool(_OPEN.search(bare(sentence)))  # What it speaks of was named elsewhere.
    if is_open and not conceded:
        return False
    return _telling(sentence) >= (FULL if is_open else LEAST) or consults(sentence)


def _is_telling(sentence: str) -> bool:
    return bool(sentence) and _telling(sentence) >= LEAST


def _telling(sentence: str) -> int:
    """How many words of a sentence say what it is about."""
    empty = common_words() | topic(Constraints).empty | topic(Rulings).plain
    return len({word for word in _WORD.findall(bare(sentence).lower()) if word not in empty})
