"""How long a quotation is taken to be true: until a time that it names, for some weeks or months, or for good; plans.

A statement that fills no slot is quoted with its day. Nobody knows how long a statement about the present is true: it
counts for half a year, and is told afterwards as what may no longer be so. Events are kept, and
so are statements that are true for years: what somebody likes, can't eat or has learned.

A plan ("I'll be moving to York", "we move on Friday") ends nothing and fills no slot, since many plans come to nothing.
It is quoted until its day has passed, and the current facts remain until somebody says that it came true. Only another
plan replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, of_language, topic
from ireneo.language.moments import moments
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, time_window
from ireneo.language.topics import Connectives
from ireneo.language.words import language_of_sentence, sentences, standardise
from ireneo.memories.cues import PIECES, clause_tense, clause_words, cue_patterns, cues, has_cue
from ireneo.memories.earnest import is_wish_for_answers
from ireneo.memories.ended_values import told_sentences
from ireneo.memories.figures import figures_by_quantity, is_measure, number_words
from ireneo.memories.record import Record
from ireneo.memories.wording import comparable_words, distinctive_words, unquoted_words
from ireneo.memories.worth import LEAST_LEFT, LEAST_OLD, keep_score
from ireneo.patterns import lazy_re

_CONNECTIVES = topic(Connectives)
_FACTS = topic(Facts)
_PHRASING = topic(Phrasing)

COUNTS_FOR = timedelta(days=180)
"""How long a statement about the present is taken to be true."""
COUNTS_FOR_NOW = timedelta(days=28)
"""The same for a statement about the day or the week."""
_DAYS = {
    unit: timedelta(days=days)
    for days, units in ((1, "day tag"), (7, "week woche"), (31, "month monat"))
    for unit in units.split()
}
_OPENING_NAME = lazy_re(rf"{CAPITAL}[\w'’-]*(?: {CAPITAL}[\w-]*)?")
_LEAST_WORDS = 9
"""From this many words on an old quotation means something."""
_FEW = 2
"""From this many words on a sentence means something by itself."""
_QUOTED = lazy_re(r"[„“]([^“”]+)[“”]")
_BREAKS = lazy_re(lambda: rf"(?P<sign>[,;:.!–—] (?:{clause_words()} )?| {clause_words()} )", re.I)
_CLAUSES = lazy_re(r"[,;:.!?–—]\s")
_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
OFF = ("calls_off", "not_planned", "stays")
"""Cues of statements that may cancel a plan."""
_SHORT = 4
"""Up to this many words a part between commas belongs to the part before it: "to York, end of June"."""
_DAY = lazy_re(rf"\d{{1,2}}\.? {CAPITAL}")
_NAME = lazy_re(rf"(?<=\w ){CAPITAL}[\w-]+")


def is_plan(text: str, at: datetime | None) -> bool:
    """Whether a clause said at `at` announces a change, or cancels a planned one."""
    plain = standardise(text)
    language = language_of_sentence(plain)
    rows = cues(language)
    if rows.will_be.search(plain) or rows.not_planned.search(plain):
        return True
    if at is None or not rows.to_come.search(plain) or rows.happened.search(plain):
        return False
    return plan_deadline(plain, at) is not None


def plan_deadline(text: str, at: datetime) -> datetime | None:
    """When the plan in a text from `at` should have happened at the latest; None if it names no future day."""
    found = moments(text, at, language_of_sentence(text), ahead=True)
    days = [each.at + timedelta(days=7) for each in found if each.at > at and _DAY.search(each.written)]
    months = [each.at + timedelta(days=31) for each in found if not _DAY.search(each.written)]
    return max((each for each in (*days, *months) if each > at), default=None)


@lru_cache(512)
def without_plans(text: str, at: datetime) -> str:
    """The clauses of a sentence that aren't only about the future; cached, since it is needed often."""
    if not any(has_cue(cue, text) for cue in ("will_be", "to_come", "not_planned")):
        return text
    clauses: list[str] = []
    start = 0
    for found in _BREAKS.finditer(text):
        piece = text[start : found.start()]
        if len(_WORDS.findall(text[found.end() :].split(",")[0])) > _SHORT and piece.strip():
            clauses.append(text[start : found.end()])
            start = found.end()
    clauses.append(text[start:])
    kept = [each for each in clauses if not is_plan(each, at)]
    return text if len(kept) == len(clauses) else "".join(kept).strip(" ,;:–—")


def is_future(text: str) -> bool:
    """Whether a statement is about the future, such as an appointment."""
    return cues(language_of_sentence(text)).coming.search(text) is not None


def announced_values(held: Sequence[Record]) -> Mapping[str, Mapping[str, Record]]:
    """The homes and employers that plans name, each with its plan."""
    found: dict[str, dict[str, Record]] = {"home": {}, "employer": {}}
    for each in held:
        words = comparable_words(each.text) if not each.attribute else ""
        if has_cue("moves", words):
            names = [name for name in _NAME.findall(words) if name.casefold() not in month_numbers()]
            found["home"] |= dict.fromkeys(names, each)
        for hit in (hit for pattern in cue_patterns("joins") for hit in pattern.finditer(words)):
            if any(is_plan(said, each.at) for said in sentences(words, small_opens=True)):
                found["employer"][hit["value"]] = each
    return found


def cancelled_plans(words: str, held: Sequence[Record]) -> list[Record]:
    """The plans that a statement cancels, or the only plan to move of somebody who stays."""
    if not any(has_cue(cue, words) for cue in OFF):
        return []
    plans = [each for each in held if not each.attribute and is_plan(comparable_words(each.text), each.at)]
    # "Crete is off, Ines broke her leg" cancels nothing about Ines.
    clauses = [each for each in _CLAUSES.split(words) if any(has_cue(cue, each) for cue in OFF)]
    said = distinctive_words(" ".join(clauses or [words]))
    off = has_cue("calls_off", words) or has_cue("not_planned", words)
    moving = [each for each in plans if has_cue("moves", comparable_words(each.text))]
    # Somebody who stays "in Bath" still plans to move there.
    same = [each for each in plans if said & distinctive_words(each.text) and (off or each not in moving)]
    named = (
        has_cue("house_move", " ".join(clauses))
        if off
        else not said & distinctive_words(moving[0].text if moving else "")
    )
    return same or (moving if len(moving) == 1 and named else [])


class ExpiredPart(Struct, frozen=True, kw_only=True):
    """The outdated part of a quotation, and the rest."""

    until: datetime
    """Until when it counted."""
    left: str
    """The quotation without it; empty if nothing is left."""
    old: str = ""
    """What of it may still be so, quoted with a warning; empty if it is worth too little."""


class _End(Struct, frozen=True, kw_only=True):
    at: datetime
    by_age: bool = False
    """Whether only its age speaks against it."""
    left: str = ""
    """The part of its sentence before it."""


def expired_part(text: str, at: datetime, now: datetime) -> ExpiredPart | None:
    """The part of a quotation from `at` that is over `now`; None if nothing is."""
    said = _sentence_ends(text, at)
    over = [end for _, end in said if end is not None and end.at < now]
    if not over:
        return None
    kept = list(_lasting_sentences(said, now))
    kept = kept if any(keep_score(each) >= LEAST_LEFT or _is_for_good(each) for each in kept) else []
    # The rest may no longer answer the quoted question.
    frame = text if kept and said[0][0].startswith(kept[0]) else _PHRASING.asked.sub("", text, count=1)
    left = " ".join(kept) if kept and not (_FACTS.refers.match(kept[0]) or _CONNECTIVES.choices.match(kept[0])) else ""
    left = frame.replace(unquoted_words(text), left) if left else ""
    # "My sister comes on Friday. She's coeliac": what lasts needs what is over, and keeps it.
    may_hold = [(each, None if end and end.by_age else end) for each, end in said]
    old = list(_lasting_sentences(may_hold, now))
    apart = [each for each in old if each not in kept] if left else []
    # What is told of it already isn't told again, unless the rest refers to it.
    apart = apart if apart and not (_FACTS.refers.match(apart[0]) or has_cue("points", apart[0])) else old
    by_age = [end.by_age for end in over]
    warned = _warned(text, apart) if old != kept and (all(by_age) or (left and any(by_age))) else ""
    return None if left == text else ExpiredPart(until=max(each.at for each in over), left=left, old=warned)


def _warned(text: str, said: Sequence[str]) -> str:
    """Sentences of a quotation that are only old, quoted with a warning; empty if they are worth little."""
    own, kept = unquoted_words(text), " ".join(said)
    if len(_WORDS.findall(kept)) < _LEAST_WORDS or keep_score(kept) < LEAST_OLD:
        return ""
    for code in LANGUAGES:
        rows = of_language(Phrasing, code)
        where = re.search(f"{any_of(rows.reported)}(?=: [“„])", text) if rows.long_ago else None
        if where is not None:
            return f"{text[: where.end()]} ({rows.long_ago[0]}){text[where.end() :]}".replace(own, kept)
    return ""


def _lasting_sentences(said: Sequence[tuple[str, _End | None]], now: datetime) -> Iterator[str]:
    """The sentences of a quotation that are not over, each with the one before it if it refers to that."""
    last = -1
    for at, (sentence, end) in enumerate(said):
        stays = end is None or end.at >= now
        left = sentence if stays or end is None else end.left
        is_short = len(distinctive_words(sentence)) < _FEW
        if not left or (is_short and not (at and _is_for_good(left))):
            continue
        refers = is_short or has_cue("points", left) or has_cue("reacts", left)
        if stays and at and last < at - 1 and refers and _is_for_good(left):
            # "Without latex. It gives me a rash": the lasting sentence refers to the one before it.
            yield f"… {said[at - 1][0]}" if -1 < last < at - 2 else said[at - 1][0]
            last = at - 1
        yield f"… {left}" if -1 < last < at - 1 else left
        last = at


def _is_for_good(plain: str) -> bool:
    """Whether a statement is true for years: likings, illnesses, what a body reacts to, and wishes for answers."""
    is_wish = has_cue("manners", plain) and has_cue("standing", plain)
    is_wish = is_wish or any(is_wish_for_answers(each.strip(), plain) for each in PIECES.split(plain))
    return is_wish or has_cue("for_good", plain) or has_cue("reacts", plain)


@lru_cache(4_096)
def _sentence_ends(text: str, at: datetime) -> tuple[tuple[str, _End | None], ...]:
    """The sentences of a quotation, each with its end; empty if the text is not a quotation.

    Cached, since each message is compared with the same memories.
    """
    own, asked_for = unquoted_words(text), _question_of(text)
    if own == text or any(f"({each})" in text for each in _PHRASING.long_ago):
        return ()
    ends = ((each, _named_end(each, at) or _implied_end(each, asked_for, at)) for each in told_sentences(own))
    # What puts right something said before outlives it.
    lasts = has_cue("told_wrong", own)
    return tuple((each, None if lasts and end and end.at - at == COUNTS_FOR else end) for each, end in ends)


def _implied_end(sentence: str, asked: str, at: datetime) -> _End | None:
    """The end of a sentence that doesn't name one; None if it is true for good, or an event."""
    plain = standardise(sentence)
    clauses = [each for each in PIECES.split(plain) if each.strip()]
    if has_cue("momentary", plain):
        return _End(at=at + _DAYS["day"])
    if _is_for_good(plain) or has_cue("for_good", asked) or has_cue("happened", asked):
        return None
    by = plan_deadline(plain, at)
    if any(is_plan(each, at) for each in clauses):
        # Many plans come to nothing, and nobody says so.
        return _End(at=by or at + COUNTS_FOR_NOW)
    language = language_of_sentence(plain)
    tenses = {each: _tense(each, language) for each in clauses}
    # "They have put me on 5 mg" says how much it is now.
    told = [
        each
        for each, tense in tenses.items()
        if tense == "past" or (tense == "perfect" and not any(map(is_measure, figures_by_quantity(each))))
    ]
    # "The van was due on Friday and I need her for the tip" is true as long as its present; an ending is for good.
    lasts = told and (has_cue("ends", plain) or "present" not in tenses.values())
    if lasts and not any(each not in told and plan_deadline(each, at) for each in clauses):
        return None
    until = at + (COUNTS_FOR_NOW if cues(language).for_now.search(plain) else COUNTS_FOR)
    # "My grant runs till 2027" is valid until then.
    named = time_window(plain, at)
    latest = max(until, by or until, (named and named.until) or until)
    # "I'm leaving the firm", of which nothing more was heard, came to nothing more often than not.
    return _End(at=latest, by_age="progressive" not in tenses.values() and latest - at >= COUNTS_FOR)


def is_only_old(record: Record) -> bool:
    """Whether a memory that is over only became old, so that it may still be so."""
    ends = [each for each in record.evidence if each.against]
    return bool(ends) and all(each.lapsed and each.until and each.until - record.at >= COUNTS_FOR for each in ends)


def _question_of(text: str) -> str:
    """The question that a quotation answers; empty if there is none."""
    framed = _PHRASING.asked.search(text)
    found = _QUOTED.search(framed[0]) if framed else None
    return found[1] if found else ""


def _tense(clause: str, language: str) -> str:
    first = _OPENING_NAME.match(clause)
    tense = clause_tense(clause, language, {first[0], first[0].split()[0]} if first else set())
    return "present" if tense == "perfect" and cues(language).goes_on.search(clause) else tense


def _named_end(sentence: str, at: datetime) -> _End | None:
    """The end that a sentence names: "till June", "for three weeks"."""
    language = language_of_sentence(sentence)
    found, end = cues(language).lasts_until.search(sentence), None
    patterns = [] if found else [each for each in cue_patterns("lasts_for") if each.search(sentence)]
    where = found or next((each.search(sentence) for each in patterns), None)
    if where is None:
        return None
    cuts = [0, *(each.start() for each in PIECES.finditer(sentence)), len(sentence)]
    clause = next(sentence[start:stop] for start, stop in pairwise(cuts) if where.start() < stop)
    if has_cue("lasted", standardise(clause)):
        # What lasted until a time in the past has no end, and neither has what recurs.
        return None
    ahead = [each for each in moments(sentence, at, language, ahead=True) if each.at > at]
    if found:
        end = min((each.at for each in ahead if each.start >= found.start()), default=None)
    for pattern in patterns if end is None else ():
        if found := pattern.search(sentence):
            number = number_words().get(found["number"].casefold(), found["number"])
            begins = max((each.at for each in ahead), default=at)
            end = begins + int(number) * _DAYS[found["unit"].casefold()] if number.isdigit() else None
            break
    if found is None or end is None:
        return None
    cuts = [each.start() for each in PIECES.finditer(sentence, 0, found.start())]
    return _End(at=end + timedelta(days=1), left=sentence[: cuts[-1]] if cuts else "")
