"""Quote a statement that fills no slot with its context, so that the line says what it is about.

A quotation continues as long as its message says more about the same: the rest of its sentence, parts that refer back
or are too short to stand alone, and questions between them. A short answer is quoted with the question that it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, of_language, topic
from ireneo.language.moments import written_date
from ireneo.language.predicates import predicate, tokens, verb_forms
from ireneo.language.spoken import Facts
from ireneo.language.times import weekday_numbers
from ireneo.language.topics import Connectives, Names
from ireneo.language.words import language_of_sentence, sentences
from ireneo.log.message import MessageId
from ireneo.memories.cues import and_words, cues, has_cue
from ireneo.memories.earnest import Statement, is_earnest, without_code_and_quotes
from ireneo.memories.figures import number_words
from ireneo.memories.record import Kind
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.memories.worth import LEAST, LEAST_BESIDE, keep_score
from ireneo.patterns import lazy_re

MOST_WORDS = 40
"""The maximum number of words of a quotation of several parts."""
LONGEST_QUESTION = 25
"""The maximum number of words of a question that an answer is quoted with."""
_LONGEST_ANSWER = 14
"""The maximum number of words of an answer that needs its question."""
SHORT = 5
"""From this many words on a statement can be understood without the sentences around it."""
_SHORT_REMARK = 3
"""Up to this many words after a comma belong to a value: "in Ghent, Belgium"."""
_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
_FIGURE = lazy_re(r"\d")
NAMED = lazy_re(rf"({CAPITAL}[\w-]*)(?: {CAPITAL}[\w-]*)?")
"""Somebody's name, of one word or two."""
_ROW_NAME = rf"{CAPITAL}[\w'’-]*(?: {CAPITAL}[\w'’-]*)?"
_ROW = lazy_re(lambda: rf"{_ROW_NAME}(?:(?:,|,? {any_of(topic(Connectives).additions)}) {_ROW_NAME})+\W*")


def quotation(words: str, who: str, at: datetime | None, language: str, asked: str = "") -> str:
    """The words of `who`, with their day, and the question before them."""
    if language == "de":
        whom = "der Nutzer" if who == "The user" else who
        answer = f"gefragt „{asked}“, " if asked else ""
        if at is None:
            return f"{'Der Nutzer' if who == 'The user' else who} sagte: „{words}“"
        return f"Am {written_date(at, 'day', language)} {answer}sagte {whom}: „{words}“"
    if at is None:
        return f"{who} said: “{words}”"
    whom = "the user" if who == "The user" else who
    answer = f", asked “{asked}”," if asked else ""
    return f"On {written_date(at, 'day', language)}{answer} {whom} said: “{words}”"


_FRAMES = (
    lazy_re(
        r"(?:On \d{1,2} \w+ \d{4}(?:, asked (?P<asked>“[^”]*”),)? )?"
        r"(?P<who>[^“”„:]{1,60}) said(?P<old> \([^)]*\))?: (?P<words>“.+”)",
        re.DOTALL,
    ),
    lazy_re(
        r"Am \d{1,2}\. \w+ \d{4} (?:gefragt (?P<asked>„[^“]*“), )?"
        r"sagte (?P<who>[^“”„:(]{1,60}?)(?P<old> \([^)]*\))?: (?P<words>„.+“)",
        re.DOTALL,
    ),
    lazy_re(r"(?P<who>[^“”„:]{1,60}) sagte: (?P<words>„.+“)", re.DOTALL),
)
_USERS = ("the user", "der nutzer")


def bare_quotation(text: str) -> str:
    """A quotation for a list that shows the days: only the words, and the speaker if it isn't the user."""
    found = next((found for frame in _FRAMES if (found := frame.fullmatch(text))), None)
    if found is None:
        return text
    who = "" if found["who"].casefold() in _USERS else found["who"]
    parts = found.groupdict("")
    named = " ".join(part for part in (who, parts.get("asked")) if part)
    words = f"{found['words']}{parts.get('old', '')}"
    return f"{named}: {words}" if named else words


def is_informative(text: str) -> bool:
    """Whether a text contains a figure, or a word that distinguishes it."""
    return bool(distinctive_words(text) or _FIGURE.search(text))


def without_remark(text: str, value: str, language: str) -> str:
    """A statement of a value without a longer remark after it: "is vegan by the way, I know, honey, let's not"."""
    start = text.find(value) + len(value)
    if value not in text:
        return text
    found = cues(language).trails.search(text, start)
    comma = text.find(", ", start)
    if comma > 0 and _ROW.fullmatch(text, comma + 2):
        # "Four hens, Ada, Berta and Cleo": the names say who they are.
        return text
    ends = [found.start()] if found else []
    ends += [comma] if comma > 0 and len(_WORDS.findall(text, comma)) > _SHORT_REMARK else []
    return f"{text[: min(ends)]}." if ends else text


def is_short(said: Statement) -> bool:
    """Whether a part has too few words to name its subject, or no verb."""
    is_verbless = said.language != "de" and predicate(said.text) is None
    return len(_WORDS.findall(said.text)) < SHORT or (is_verbless and not begins_with_name(said.text, said.language))


def begins_with_name(text: str, language: str) -> bool:
    """Whether a statement begins with a name and a verb."""
    rows = cues(language)
    found = rows.of_others.match(text)
    if found and found["name"].casefold() not in topic(Names).none:
        return True
    named = NAMED.match(text)
    if language == "de" or named is None or named[1].casefold() in topic(Names).none:
        return False
    words = [each.low for each in tokens(text)[:4]]
    if words[0].endswith("'s") and len(words) > 2:
        return True
    words = words[1:]
    verb = next((word for word in words if word not in of_language(Facts, "en").adverbs and word != "'s"), "")
    return verb_forms().get(verb, ("", ""))[1] in ("s", "past") or verb in ("is", "was", "has")


def closing_question(text: str) -> str:
    """The question at the end of an assistant's message, if it is about the user's life; else empty."""
    last = list(sentences(text.strip().rsplit("\n", 1)[-1], small_opens=True))[-1:]
    if not last or not last[0].endswith("?") or len(_WORDS.findall(last[0])) > LONGEST_QUESTION:
        return ""
    return "" if has_cue("offers", last[0]) else last[0]


def starts_with_yes_or_no(answer: str) -> bool:
    """Whether an answer begins with a yes or no, so that the question gives its meaning."""
    return bool(topic(Facts).affirms.match(answer) or topic(Facts).denies.match(answer))


def short_answer(text: str, asked: str) -> str:
    """The short first sentence of a message that answers a question and has content; else empty."""
    said = [
        each
        for line in without_code_and_quotes(text).strip().split("\n", 2)[:2]
        for each in sentences(line, small_opens=True)
    ]
    first = next(iter(said), "")
    if any(has_cue("takes_back", each) for each in said[1:2]):
        return ""
    words = _WORDS.findall(first)
    if not words or len(words) > _LONGEST_ANSWER or "?" in first or not is_earnest(first):
        return ""
    low = words[0].casefold()
    is_time_or_number = low in number_words() or low in weekday_numbers()
    if not (distinctive_words(first) or _FIGURE.search(first) or is_time_or_number):
        return first if starts_with_yes_or_no(first) and has_cue("address", asked) else ""
    if len(words) == 1 and not (
        is_time_or_number or _FIGURE.search(first) or first[0].isupper() or has_cue("wants_to_know", asked)
    ):
        # "Ya", "almost": only the question shows what is true.
        return ""
    rows = cues(language_of_sentence(f"{asked} {first}"))
    idle = rows.idle_anywhere.search(first) or rows.asks.match(first) or rows.reported.search(first)
    return "" if idle else first


ADDS = lazy_re(lambda: rf"{and_words()}\s+(?=\w)", re.I)
"""What joins a statement to one before it, which needn't be quoted with it."""
_LEFT_OUT = "…"
_FILLER = 2
"""Up to this many words a part may say nothing: "very good"."""
_LEAST_WORDS = 10
"""From this many words on a quotation means something although it begins with a pronoun."""


class SaidFact(Struct, frozen=True, kw_only=True):
    """A fact stated in a message, ready to become evidence of a memory."""

    text: str
    """A sentence that stands alone, in the third person."""
    quote: str
    """The words of the message that say so."""
    kind: Kind
    subject: str = ""
    attribute: str = ""
    """The attribute's code or name; empty if the fact fills no slot."""
    value: str = ""
    at: datetime | None = None
    """Since when it is true, or when it happened."""
    until: datetime | None = None
    against: bool = False
    """Whether it ended, or is denied."""
    adds: bool = False
    confidence: float = 0.7
    salience: float = 0.5
    answers: bool = False
    """Whether it is quoted with the question that it answers."""
    beside: tuple[MessageId, ...] = ()
    """The earlier messages whose words it repeats."""


def fact_key(fact: SaidFact) -> tuple[str, ...]:
    """The key by which two facts of a message are the same."""
    return (fact.kind, fact.subject, fact.attribute, fact.value, fact.text if not fact.attribute else "")


def with_original_words(fact: SaidFact, standard: str, read: str, said: Statement) -> SaidFact:
    """Return a fact in its original words, if it was read in another order, or for somebody else than a pronoun.

    A quotation has words of the message alone: a name in place of a pronoun is set in brackets.
    """
    told = fact.quote.replace(standard, said.verbatim or read)
    fact = replace(fact, text=fact.text.replace(standard, read), quote=told)
    own, clause = unquoted_words(fact.text), said.verbatim or said.text
    if said.verbatim and own == read and not said.verbatim.startswith(_LEFT_OUT):
        # What puts an earlier statement right is quoted with it.
        return replace(fact, text=fact.text.replace(own, said.verbatim))
    if (
        own == fact.text
        or fact.beside
        or any(own.casefold() in each.casefold() for each in (clause, said.verbatim or said.sentence))
    ):
        return fact
    words = _with_marks(own, said.verbatim or said.sentence, clause if read == clause else read)
    return replace(fact, text=fact.text.replace(own, words or said.verbatim or said.sentence))


def _with_marks(own: str, sentence: str, read: str) -> str:
    """Two parts of a sentence that `own` joins, with a mark between them; empty if it has other words.

    The first may be a name in place of a pronoun, with which the clause was `read`: "[Ana] … lives in Hull".
    """
    words, stop = own.rstrip(".").split(" "), own[len(own.rstrip(".")) :]
    for at in range(1, len(words)):
        head, tail = " ".join(words[:at]), " ".join(words[at:])
        end = _place(tail, sentence)
        if end is None:
            continue
        start = _place(head, sentence[: end.start()])
        if start is not None:
            return f"{start[0]} {_LEFT_OUT} {end[0]}{stop}"
        mark = "" if f"{head} {tail}" in read else f"{_LEFT_OUT} "
        return f"[{head}] {mark}{end[0]}{stop}" if read.startswith(f"{head} ") else ""
    return ""


def _place(words: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.I)


class QuotedClause(Struct, frozen=True, kw_only=True):
    """A clause of a message that may be quoted."""

    said: Statement
    worth: float
    """See `keep_score`."""
    told: bool
    """Whether it fills slots, or is a rule, so that it needs no quotation."""
    meant: str = ""
    """The same with a name in place of its pronoun, if only one person can be meant."""


def quotations(clauses: Sequence[QuotedClause], answer: str = "") -> Iterator[tuple[str, str]]:
    """The parts of a message that are worth quoting, each with its language; the message may begin with an `answer`.

    A part begins with what its first clause refers to, and goes on as long as something is said about it. A few words
    about somebody or something that isn't named are left out.
    """
    clauses = [_with_meaning(each, clauses[at - 1].said if at else None) for at, each in enumerate(clauses)]
    kept = {at for at, each in enumerate(clauses) if each.worth >= LEAST and not (each.told or each.said.fragment)}
    for at in sorted(kept):
        while at and _needs_context(each := clauses[at].said) and _is_context(before := clauses[at - 1].said, answer):
            if before.text in each.text:
                break
            at -= 1
            kept.add(at)
    for at in range(1, len(clauses)):
        if at - 1 in kept and at not in kept and _goes_on(clauses[at - 1], clauses[at]):
            kept.add(at)
    for part in _parts(clauses, kept):
        first, words = part[0], joined([each.said for each in part])
        if cues(first.said.language).refers.match(words) and not (answer and words.startswith(answer)):
            if first.meant:
                words = f"{first.meant}{words[len(first.said.text) :]}"
            elif len(_WORDS.findall(words)) < _LEAST_WORDS:
                continue
        if len(part) == 1 and first.said.text != answer and _says_nothing(first.said):
            # "In a terraced house." says nothing without what isn't quoted.
            continue
        adds = None if answer and words.startswith(answer) else ADDS.match(words)
        longest = max(part, key=lambda each: len(each.said.text))
        yield words[adds.end() :] if adds else words, longest.said.language


def _with_meaning(each: QuotedClause, before: Statement | None) -> QuotedClause:
    """An ellipsis with what it affirms, which may be only supposed: "If you can't eat nuts? I can't, since school."."""
    rows = cues(each.said.language)
    said = each.said
    if before is None or before.sentence == said.sentence or not (said.text and rows.applies.match(said.text)):
        return each
    whole = f"{before.sentence} {said.text}"
    if len(_WORDS.findall(whole)) > MOST_WORDS or keep_score(whole) < LEAST:
        return each
    return replace(each, said=replace(said, text=whole, sentence=whole, verbatim=whole), worth=max(each.worth, LEAST))


def _parts(clauses: Sequence[QuotedClause], kept: Set[int]) -> Iterator[list[QuotedClause]]:
    """The `kept` clauses that follow each other, without repetitions, at most `MOST_WORDS` words at a time."""
    part: list[QuotedClause] = []
    for at, each in enumerate(clauses):
        size = sum(len(_WORDS.findall(one.said.text)) for one in (*part, each))
        if part and (at not in kept or size > MOST_WORDS):
            yield part
            part = []
        if at in kept and not (part and each.said.text.rstrip(".!…") == part[-1].said.text.rstrip(".!…")):
            part.append(each)
    if part:
        yield part


def _needs_context(said: Statement) -> bool:
    """Whether a clause can't be understood without what stands before it."""
    rows, text = cues(said.language), said.text
    refers = rows.refers.match(text) or rows.points.search(text) or rows.depends.match(text)
    return bool(refers) or is_short(said) or rows.elliptic.search(text) is not None


def _says_nothing(said: Statement) -> bool:
    """Whether a clause is a few words behind a preposition, without a verb, of something that stands before it."""
    words = _WORDS.findall(said.text)
    begins = said.language != "de" and 0 < len(words) < SHORT and words[0].casefold() in topic(Facts).phrase_ends
    return begins and predicate(said.text) is None and not _FIGURE.search(said.text)


def _is_context(said: Statement, answer: str) -> bool:
    """Whether what stands before a clause may say what it is about."""
    size = len(_WORDS.findall(said.text))
    tells = (size > _FILLER and not said.asks) or (is_informative(said.text) and (size > 1 or said.text == answer))
    return tells and (not said.asks or size <= LONGEST_QUESTION)


def _goes_on(last: QuotedClause, each: QuotedClause) -> bool:
    """Whether a clause says more about the one before it."""
    said, rows = each.said, cues(each.said.language)
    if not said.text or said.asks or rows.address.search(said.text) or rows.asks_within.match(said.text):
        return False
    if last.said.sentence == said.sentence:
        return True
    return not each.told and (_needs_context(said) or each.worth >= LEAST_BESIDE)


def joined(part: Sequence[Statement]) -> str:
    """The clauses as they stand in the message, with a mark for what is left out of a sentence."""
    text, sentence, end = "", "", 0
    for said in part:
        if said.sentence != sentence or not (said.verbatim or said.text in sentence[end:]):
            cut = bool(text) and len(_WORDS.findall(sentence, end)) > 0
            sentence, end = said.sentence, 0
            start, words = max(sentence.find(said.text), 0), said.verbatim or said.text
            if text and not said.verbatim and start:
                # "So it's me again": a short opening is quoted as well.
                is_long = len(_WORDS.findall(sentence, 0, start)) > _SHORT_REMARK
                cut, words = cut or is_long, words if is_long else f"{sentence[:start].lstrip()}{words}"
            text = f"{text} …" if cut and not text.rstrip(" .").endswith("…") else text
            text += f" {words}" if not text or text[-1] in ".!?…" else f". {words}"
        elif not said.verbatim:
            start = max(sentence.find(said.text, end), end)
            text += f"{sentence[end:start]}{said.text}"
        end = start + len(said.text)
    return text.strip().removeprefix(f"{_LEFT_OUT} ")
