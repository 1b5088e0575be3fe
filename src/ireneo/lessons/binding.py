"""Decide whether a ruling that a user gave once is shown to later runs: it is clear without context, and general.

Most of what a user says about work concerns one task: a feature request, an answer to a proposal, a question, pasted
text. Weights (`rule_weights.alone_weight`) do not separate these, since feature requests use the same words as rules
for all work. The form of a single clause does: a ban, a preference, a norm that always holds or holds for a whole kind
of things, where something belongs, what was decided on purpose, whom to ask first. Such a clause counts only if it
names its subject. A ruling without such a clause is only shown once a second run has it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ireneo.language.files import topic
from ireneo.language.topics import Binding, Constraints, Forms, Rulings
from ireneo.language.words import common_words
from ireneo.lessons.rule_weights import (
    ABOUT,
    LEAST,
    NAMES,
    PASTED,
    RULES,
    STANDS,
    WORD,
    context_free_weight,
    is_about_task,
    says_who_decides,
    strip_opening,
)
from ireneo.patterns import lazy_re
from ireneo.summaries.pins import is_order, is_permanent
from ireneo.summaries.steps import sentences

_SAYS = topic(Binding)
_FORMS = topic(Forms)
_RULINGS = topic(Rulings)

FULL = 5
"""Content words of a correction that may refer to earlier text."""
GRANTED = 0.75
"""The weight that a sentence gains if the agent said that the user was right."""
SHORT = 20
"""Words of a fact about a whole kind of things; a longer one is a description."""
NAMED = 1.5
"""The weight that a sentence gains if it was said about a command, or names one."""
ORDERED = 2.0
"""The weight of a form that orders or forbids something for any task."""
STATED = 1.0
"""The weight of a form that states a practice, or gives an order that may also be an instruction for the task."""
REMEMBERED = 512
"""For how many texts results are cached: each use of a ruling asks about the same ones."""


_AN_ERROR = lazy_re(r"\b[A-Z]\w*(?:Error|Exception): ")
_CLAUSE = lazy_re(r"[,;:(–—]\s*|\s-\s|\.{2,}(?![./])\s*|(?<=[^\W\d_]{2})\.\s+(?=[a-z])|[?!]{1,9}\s+")
_ASIDE = lazy_re(r"\(([^()\n]{0,400})\)")
_CUT_OFF = lazy_re(r"[^(\n]{0,400}\)")
"""The end of a parenthesis without its beginning."""
_FIRST_WORD = lazy_re(r"\A\w[\w'’-]{0,60}\s{1,9}")


@lru_cache(maxsize=REMEMBERED)
def is_general_ruling(ruling: str, *, named: bool = False, conceded: bool = False) -> bool:
    """Whether `ruling` is general: only then is a ruling that was given once shown to later runs.

    Its subject is `named` if it is directed against a command, a flag or a file. A ruling that the agent `conceded` is
    a correction, and needs less weight.
    """
    about = ABOUT.match(ruling)
    if _ASIDE.fullmatch(ruling) or (about is not None and about[0].endswith("?”: “")):
        return False  # It belongs to the text before it, or answers what the next step is to be.
    told = list(sentences((ruling[about.end() :] if about else ruling).strip(" \"“”'")))
    if any(_ASIDE.fullmatch(each) and PASTED.search(each) for each in told):
        return False  # A comment of a program.
    said = [each for each in told if not _SAYS.of_moment.search(each)]
    if has_general_sentence(said):
        return True
    # If a command was refused, it is the subject.
    command = about is not None and about[0].endswith("`: “") and not about[0].startswith("On changing")
    if command and any(map(is_permanent_refusal, said)):
        return True
    refused = (command and about is not None and about[0][4:5].isalnum()) or named
    if not said or _SAYS.requests.match(_without_lead(said[0])):
        return False  # It is a task.
    for at, each in enumerate(said):
        asks = any(map(_SAYS.halts.match, map(_without_lead, split_clauses(each))))
        if asks or _SAYS.requests.match(_without_lead(each)):
            continue
        if _SAYS.of_display.search(each) or ": - " in each or _AN_ERROR.search(each):
            continue  # A product's look, a list of its functions, or the error with which it fails.
        # A sentence about the current task may have a clause with a rule.
        for part in (each, *split_clauses(each)):
            form = generality(part, before=said[at - 1] if at else "") or ORDERED * (named and _is_contrast(part))
            if part != each and form < ORDERED and not (form and is_about_task(each) and _SAYS.practice.search(part)):
                continue
            speaks = context_free_weight(part) + form + NAMED * refused + GRANTED * conceded
            enough = refused or (_has_enough_content(part, conceded=conceded) and (conceded or _is_general(each)))
            beyond = refused or not is_about_task(part) or _RULINGS.lasts.search(part)
            if form > 0 and speaks >= STANDS and enough and beyond:
                return True
    return any(map(rules_all_work, said))


def _is_general(sentence: str) -> bool:
    """Whether a sentence has a word of scope, a reason, a contrast or a place, or is about the team or the way of work.

    Other bans and orders concern their task as often as not.
    """
    contrast = _SAYS.uses.match(_without_lead(sentence)) and _SAYS.opposes.search(sentence)
    wide = (_RULINGS.reaches, _RULINGS.process, _RULINGS.ours, _RULINGS.lasts)
    said = (_SAYS.causes, _SAYS.decided, _SAYS.stressed, _SAYS.belongs, _SAYS.asks_first, _SAYS.instead_of)
    found = any(how.search(sentence) for how in (*wide, _SAYS.steady, *said))
    return found or bool(contrast or _SAYS.none_of.match(sentence))


def cut_task_clauses(ruling: str, *, conceded: bool = False) -> str:
    """Cut clauses about the task from the beginning of `ruling`, and a last clause that only wonders.

    “Let's take the first two, we always want a checked id” becomes “we always want a checked id”. What is cut binds
    nobody, and the rest doesn't need it. If the rest isn't general by itself, `ruling` is returned unchanged.
    """
    if _RULINGS.no.match(ruling) or PASTED.search(ruling):
        return ruling
    aside = _ASIDE.search(ruling)
    if aside is not None and _is_question(_ASIDE.sub("", ruling)) and is_general_ruling(aside[1], conceded=conceded):
        return aside[1]
    first = next(iter(sentences(ruling)), "")
    ends = [0, *(found.end() for found in _CLAUSE.finditer(first))]
    for start in reversed(ends[1:] if ruling.startswith(first) else ()):
        cut = ruling[start:]
        clauses = [first[one:other] for one, other in pairwise([each for each in ends if each <= start])]
        # “It says: …, but this is not correct, we don't …”: what is disputed need not be about the task.
        disputed = _RULINGS.disputes.search(clauses[-1]) is not None
        if (disputed or all(map(_is_useless_clause, clauses))) and is_general_ruling(cut, conceded=conceded):
            ruling = cut
            break
    plain = _SAYS.though.sub("", ruling)
    ruling = plain if is_general_ruling(plain, conceded=conceded) else ruling
    last = max((found.start() for found in _CLAUSE.finditer(ruling)), default=0)
    tail = _CLAUSE.sub("", ruling[last:], count=1)
    wonders = last > 0 and _SAYS.wonders.match(_SAYS.though.sub("", tail)) is not None
    return ruling[:last] if wonders and is_general_ruling(ruling[:last], conceded=conceded) else ruling


def _is_useless_clause(clause: str) -> bool:
    """Whether a clause is about the task, disputes something or names nothing, and is not a condition for the rest."""
    if _SAYS.leans.match(clause) or _SAYS.cases.search(clause) or generality(clause) >= ORDERED:
        return False
    return is_about_task(clause) or bool(_RULINGS.disputes.search(clause)) or _content_words(clause) == 0


def rules_all_work(sentence: str) -> bool:
    """Whether a sentence of a request rules on how all work is done, not only on this request.

    It forbids, prefers or orders something for a whole kind of things that developers make (“keep functions testable”,
    but not “write tests for the parser”); it orders a step of all work; or it says what applies whenever such things
    are made.
    """
    if (
        _is_question(sentence)
        or is_about_task(sentence)
        or PASTED.search(sentence)
        or any(map(_is_task_request, (sentence, *split_clauses(sentence))))
    ):
        return False
    each_time = (
        _SAYS.each_time.search(sentence) and _RULINGS.process.search(sentence) and _content_words(sentence) >= LEAST
    )
    if each_time and (begins_with_order(sentence) or _SAYS.leans.match(sentence)):
        return True
    if _SAYS.when_making.match(_without_lead(sentence)) or _SAYS.use_for.match(sentence):
        return True
    for clause in (_without_asides(sentence), *split_clauses(sentence)):
        body = _without_lead(clause)
        for each in (clause, body):
            forms = (_SAYS.bans, _SAYS.none_of, _SAYS.prefers, _SAYS.uses)
            found = next((hit for form in forms if (hit := form.match(each))), None)
            named = _content_words(each) >= (1 if _SAYS.bans.match(each) else LEAST)
            if found and named and _SAYS.of_all_work.match(each[found.end() :].strip()):
                return True
    return False


def _is_task_request(clause: str) -> bool:
    body = _without_lead(clause)
    return bool(
        _SAYS.halts.match(body)
        or _SAYS.requests.match(body)
        or _SAYS.wishes_for.search(clause)
        or _SAYS.of_display.search(clause)
        or _SAYS.weighs.search(clause)
        or _SAYS.cases.search(clause)
    )


def names_alternative(sentence: str) -> bool:
    """Whether a sentence says what to do in place of something."""
    return _SAYS.otherwise.search(sentence) is not None


def refers_to_moment(ruling: str) -> bool:
    """Whether each sentence of a ruling refers to the current moment, or to a text elsewhere."""
    about = ABOUT.match(ruling)
    told = list(sentences((ruling[about.end() :] if about else ruling).strip(" \"“”'")))
    return all(_SAYS.of_moment.search(each) for each in told or [ruling])


def is_about_appearance(sentence: str) -> bool:
    """Whether a sentence is about the appearance of a product."""
    return _SAYS.of_display.search(sentence) is not None


def asks_for_rules(sentence: str) -> bool:
    """Whether a sentence asks that the text below it be written down as rules."""
    return _SAYS.records_below.match(_without_lead(sentence)) is not None


def is_instruction(sentence: str) -> bool:
    """Whether a sentence orders something, or says how something must be, and not only for the task at hand."""
    if (
        is_pasted(sentence)
        or is_about_task(sentence)
        or _content_words(sentence) < LEAST
        or _SAYS.requests.match(sentence)
    ):
        return False
    plain = is_order(_without_lead(sentence)) or forbids(sentence)
    orders = plain or any(map(is_order, split_clauses(sentence)[1:2]))
    return orders or bool(_SAYS.norms.search(sentence)) or is_permanent(sentence)


def is_edit_limit(sentence: str) -> bool:
    """Whether a sentence only says what the current edit must not touch."""
    return _SAYS.limits_edit.match(sentence) is not None


def has_general_sentence(said: Sequence[str]) -> bool:
    """Whether one of these sentences is general by its form alone, whatever its weight."""
    for each in said:
        if is_pasted(each) or _CUT_OFF.match(each) or _SAYS.of_display.search(each) or ": - " in each:
            continue
        if any(map(rejects_kind, split_clauses(each))) and not _is_question(each):
            return True
        enough = _has_enough_content(each) or _content_words(each) >= FULL
        if enough and is_permanent(each) and not is_about_task(each):
            return True
        if any(map(_is_general_form, (each, *split_clauses(each)))):
            return True
    return False


def is_permanent_refusal(sentence: str) -> bool:
    """Whether the words of a refusal forbid the refused command for good, or say what to use or why not."""
    weighs = _SAYS.weighs.search(sentence) or _RULINGS.accepts.search(sentence)
    if weighs or _is_question(sentence) or is_about_task(sentence):
        return False
    for clause in split_clauses(sentence):
        body = _without_lead(clause)
        banned = _SAYS.bans.match(clause) or _SAYS.bans.match(body)
        if _SAYS.uses.match(body) or (banned and WORD.search(banned.string, banned.end())):
            return True
    return bool(_SAYS.practice.search(sentence) or _SAYS.our_way.search(sentence) or _SAYS.causes.search(sentence))


def is_pasted(ruling: str) -> bool:
    """Whether a ruling was pasted from a program or a list."""
    return bool(PASTED.search(ruling)) and context_free_weight(ruling) < RULES


def generality(sentence: str, *, before: str = "") -> float:
    """How general a sentence is by its form; the sentence `before` may name its subject.

    `ORDERED`, `STATED`, or 0 if its form is not general.
    """
    asked = _is_question(sentence) and not _RULINGS.polite.match(sentence)
    if asked or _CUT_OFF.match(sentence) or _RULINGS.accepts.search(sentence):
        return 0.0
    said = _without_asides(sentence)
    if _SAYS.weighs.search(said):
        return 0.0
    parts = split_clauses(sentence)
    # A clause after a case of the program is about that case.
    case = next((at for at, each in enumerate(parts) if _SAYS.cases.match(_without_lead(each))), len(parts))
    clauses = parts[: case + 1]
    follows = bool(before) and _content_words(before) >= LEAST
    if _SAYS.asks_first.search(said) or (_SAYS.unasked.search(said) and _RULINGS.process.search(said)):
        return ORDERED
    if _SAYS.instead_of.search(said) or (_SAYS.wants_rather.search(said) and _RULINGS.process.search(said)):
        return ORDERED
    if _SAYS.belongs.search(said) and _SAYS.opposes.search(said) and len(NAMES.findall(sentence)) > 1:
        return ORDERED  # One named place, not another.
    if any(_SAYS.stressed.search(_without_lead(each)) for each in clauses):
        return ORDERED
    if any(_is_ban(each) or _is_preference(each) or _states_decision(each, follows) for each in clauses):
        return ORDERED
    reason = bool(_SAYS.causes.search(said))
    # A sentence that disputes something states facts, and is not a rule.
    wished = any(map(_SAYS.wishes_for.search, clauses))
    facts = _RULINGS.disputes.search(sentence) is not None or wished
    general = not facts and (_is_norm_for_kind(clauses[:1]) or any(map(_is_standing_practice, clauses)))
    return STATED * (general or any(_is_order(each, reason) or _states_convention(each) for each in clauses))


def _is_general_form(said: str) -> bool:
    """Whether a sentence, or a clause, is general by its form alone.

    It repeats something, asks to leave something out, says who does what or how work is done here, or what must be the
    same.
    """
    body = _without_lead(said)
    if _content_words(said) < LEAST:
        return False
    asked, cites = _is_question(said), _SAYS.cites.search(said)
    if not asked and _states_rule(said, body, cites=cites is not None):
        return True
    if is_about_task(_SAYS.cites.sub("", said) if cites else said):
        return False
    if not asked and not _SAYS.weighs.search(said) and (_SAYS.told_before.search(said) or _SAYS.our_way.search(said)):
        return True
    if _RULINGS.polite.match(body) and _is_polite_rule(body):
        return True
    if asked:
        return False
    return not _SAYS.weighs.search(said) and (bool(_FORMS.runs_itself.match(said)) or calls_pointless(said))


def _states_rule(said: str, body: str, *, cites: bool) -> bool:
    """Whether a sentence says what applies from now on or, if it `cites` rules, what breaches them."""
    clauses = split_clauses(said)
    if any(_is_lasting_order(each, then) for each, then in pairwise((*clauses, ""))):
        return True
    return cites and any(_SAYS.breaches.match(each) for each in (said, body, *split_clauses(said)))


def says_where_kind_belongs(sentence: str) -> bool:
    """Whether a sentence says where all things of a kind belong: “fixtures belong in tests/data”."""
    words = WORD.findall(sentence)[:2]
    kind = next((word for word in words if word.endswith("s") and word.lower() not in common_words()), "")
    place = _SAYS.belongs.search(sentence)
    return bool(kind and place) and words[0].lower() not in _RULINGS.definite and not _is_question(sentence)


def _is_lasting_order(clause: str, then: str) -> bool:
    """Whether a clause orders something from now on, or introduces such an order in the next clause, `then`."""
    body = _without_lead(clause)
    found = _RULINGS.lasts.match(body)
    if _SAYS.weighs.search(f"{body} {then}"):
        return False
    if found is None:
        return _SAYS.from_now.search(body) is not None and begins_with_order(_SAYS.from_now.sub("", body))
    order = body[found.end() :].strip() or then
    return _is_ban(order) or _is_preference(order) or begins_with_order(order)


def begins_with_order(clause: str) -> bool:
    """Whether a clause begins with a word for an act, and names something."""
    clause = _without_lead(clause)
    words = [word.lower() for word in WORD.findall(clause)]
    first = words[0].replace("’", "'").partition("'")[0] if words else ""
    acts = first not in common_words() | _RULINGS.subjects or bool(_SAYS.uses.match(clause))
    return bool(first) and acts and _content_words(clause) > 0


def _is_polite_rule(polite: str) -> bool:
    order = _RULINGS.polite.sub("", polite, count=1)
    return _is_ban(polite) or _is_preference(order)


def rejects_kind(clause: str) -> bool:
    """Whether a clause rejects a kind of thing: “we don't want generated files under version control”."""
    body = _without_lead(clause)
    if (found := _SAYS.refuses.match(body)) is None or is_about_task(body):
        return False
    words = [each.rstrip("'’") for each in WORD.findall(body[found.end() :])]
    if len(words) < LEAST or _content_words(body) < LEAST or _SAYS.vague.match(" ".join(words)):
        return False
    if _SAYS.kinds.match(" ".join(words)):
        return True
    kind = words[0].lower() not in common_words() and words[0].endswith("s") and words[0].islower()
    return kind and len(words) >= FULL


def calls_pointless(clause: str) -> bool:
    """Whether a clause says that a way of working is pointless."""
    body = _without_lead(clause)
    return bool(_SAYS.senseless.match(body) and _RULINGS.process.search(body))


def lacks_subject(sentence: str) -> bool:
    """Whether a sentence says how something is done, but only the text before it names what: “not as X, but as Y”."""
    return _SAYS.instead_of.match(sentence) is not None


def has_dangling_pronoun(sentence: str) -> bool:
    """Whether a sentence begins with “it” or “this” that refers to nothing before: “it makes no sense to …”."""
    return calls_pointless(sentence)


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)]*_ ").endswith("?")


def _without_asides(sentence: str) -> str:
    plain = sentence.replace("_", " ").replace("*", "").strip()
    whole = _ASIDE.fullmatch(plain)
    return whole[1] if whole else _ASIDE.sub(" ", plain)


def split_clauses(sentence: str) -> list[str]:
    """The clauses of a sentence."""
    return [each.strip() for each in _CLAUSE.split(_without_asides(sentence)) if each.strip()]


def forbids(ruling: str) -> bool:
    """Whether a ruling begins with a ban."""
    first = _first_sentence_clauses(ruling)[:1]
    return any(_SAYS.bans.match(each) is not None for clause in first for each in (clause, _without_lead(clause)))


def only_forbids(ruling: str) -> bool:
    """Whether a ruling only forbids something, without saying what to do instead."""
    return forbids(ruling) and not any(begins_with_order(each) for each in _first_sentence_clauses(ruling)[1:])


def _first_sentence_clauses(ruling: str) -> list[str]:
    about = ABOUT.match(ruling)
    said = (ruling[about.end() :] if about else ruling).strip(" \"“”'")
    return split_clauses(next(iter(sentences(said)), ""))


def _is_ban(clause: str) -> bool:
    if _SAYS.halts.match(_without_lead(clause)):
        return False
    for each in (clause, _without_lead(clause)):
        if (banned := _SAYS.bans.match(each)) is not None:
            return not _is_vague(each[banned.end() :].strip())
        if _SAYS.wishes_not.match(each):
            return bool(
                _RULINGS.process.search(each) or _SAYS.steady.search(each)
            )  # If it is about the program's users, it is a feature request.
    return False


def _is_preference(clause: str) -> bool:
    body = _without_lead(clause)
    return bool(_SAYS.prefers.match(body)) and not _is_vague(_FIRST_WORD.sub("", body, count=1))


def _states_decision(clause: str, follows: bool) -> bool:
    body = _without_lead(clause)
    return bool(_SAYS.decided.search(body)) and (follows or not _SAYS.vague.match(body))


def _is_order(clause: str, reason: bool) -> bool:
    """Whether a clause orders how something is done: with a reason or an alternative, or about the process."""
    body = _without_lead(clause)
    steady = bool(_SAYS.steady.search(body))
    order = _without_lead(_SAYS.steady.sub("", body).strip())
    if not _SAYS.uses.match(order) or _is_vague(order) or _SAYS.cases.search(clause) or _SAYS.wishes_for.search(clause):
        return False
    return steady or reason or bool(_SAYS.opposes.search(order) or _RULINGS.process.search(order))


def _states_convention(clause: str) -> bool:
    """Whether a clause says where something belongs, what the practice is, or where the work is going."""
    body = _without_lead(clause)
    if _SAYS.vague.match(body) or _SAYS.cases.search(clause) or _SAYS.wishes_for.search(clause):
        return False
    place = _SAYS.belongs.search(body)
    if place is not None and _SAYS.of_layout.search(body, place.start()):
        place = None  # It says where something is to be displayed.
    # An explanation of why something happened is not a practice.
    practice = _SAYS.practice.search(body) and not (_SAYS.happened.search(body) or _SAYS.causes.match(clause.strip()))
    return bool((place is not None and place.start() > 0) or practice)


def _is_norm_for_kind(clauses: Sequence[str]) -> bool:
    """Whether a sentence begins with a norm for a whole kind of things."""
    bodies = (_without_lead(each) for each in clauses)
    return any(_SAYS.kinds.match(body) and (_SAYS.norms.search(body) or _is_short_fact(body)) for body in bodies)


def _is_short_fact(clause: str) -> bool:
    """Whether a clause states a lasting fact in few words; a longer clause is a description."""
    return (
        _RULINGS.holds.search(clause) is not None and len(clause.split()) <= SHORT and not _SAYS.happened.search(clause)
    )


def _is_contrast(sentence: str) -> bool:
    """Whether a sentence says what to use, and in the next clause what not to."""
    clauses = [_without_lead(each) for each in split_clauses(sentence)]
    return any(_SAYS.uses.match(one) and _SAYS.opposes.match(other) for one, other in pairwise(clauses))


def _is_standing_practice(clause: str) -> bool:
    """Whether a clause says that something always applies, or is the practice of the team."""
    body = _without_lead(clause)
    narrow = _SAYS.vague.match(body) or _SAYS.cases.search(clause) or _SAYS.wishes_for.search(clause)
    if narrow or not _SAYS.steady.search(body):
        return False
    first = body.partition(" ")[0].lower()
    holds = first.isalnum() and first not in _RULINGS.definite and _RULINGS.holds.search(body)
    return bool(_SAYS.norms.search(body)) or (
        bool(_RULINGS.ours.search(body) or holds) and not _SAYS.happened.search(body)
    )


def _without_lead(clause: str) -> str:
    found = _SAYS.lead.match(clause)
    return clause[found.end() :] if found else clause


def _is_vague(order: str) -> bool:
    """Whether the subject of an order is named elsewhere: “check this in”, “do the other thing”."""
    about = _FIRST_WORD.sub("", order, count=1)
    ends_vague = len(about.split()) <= FULL and _SAYS.ends_vague.fullmatch(about)
    return not about or bool(_SAYS.vague.match(order) or _SAYS.vague.match(about) or ends_vague)


def _has_enough_content(sentence: str, *, conceded: bool = False) -> bool:
    is_open = bool(_RULINGS.open.search(strip_opening(sentence)))  # Its subject is named elsewhere.
    if is_open and not conceded:
        return False
    return _content_words(sentence) >= (FULL if is_open else LEAST) or says_who_decides(sentence)


@lru_cache(maxsize=REMEMBERED)
def _content_words(sentence: str) -> int:
    empty = common_words() | topic(Constraints).empty | _RULINGS.plain
    return len({word for word in WORD.findall(strip_opening(sentence).lower()) if word not in empty})
