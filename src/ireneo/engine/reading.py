"""Let a model read what people say, and check each fact against the words it cites.

One request covers a stretch of messages, and includes what is known of the people in it. Facts that the words don't
support are rejected; a model that fails changes nothing.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.scope import Scope, ScopeLimits, same_repository
from ireneo.errors import BadInput
from ireneo.grounding.check import is_error_text
from ireneo.grounding.claims import TextClaim, units_by_figure
from ireneo.grounding.evidence import SourceIndex, check_text
from ireneo.language.files import CAPITAL, cached_data, of_language, topic
from ireneo.language.moments import moments
from ireneo.language.numbers import numbers_in_words, spoken_figures
from ireneo.language.spoken import Facts
from ireneo.language.times import Date, Window, dates, day_words, iso_window, weekday_numbers, without_dates
from ireneo.language.topics import Times, Words
from ireneo.language.words import common_words, language_of_sentence, letters, terms, writes_nouns_large
from ireneo.log.calls import has_instruction, quote_instructions
from ireneo.log.message import Count, MessageId
from ireneo.memories.facts import attribute_of, cardinality_of, holds_at
from ireneo.memories.kinds import KINDS
from ireneo.memories.quoting import SaidFact
from ireneo.memories.record import GENERAL, NAMES, Kind, MemoryDraft, Record, State
from ireneo.patterns import lazy_re
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import LanguageModel, Prompt, Usage
from ireneo.ports.store import Transaction
from ireneo.prompts import FACTS
from ireneo.prompts.replies import FactSaid, FactsReply
from ireneo.summaries.steps import clip

CONFIDENCE = 0.8
"""Confidence of a fact that a model read and its words support."""
KNOWN_TOKENS = 2_400
"""Tokens of known facts that are shown."""
LONGEST_SAID, LONGEST_ANSWER = 1_600, 240
"""Characters shown of a user's message, and of an assistant's."""
MOST_KNOWN = 400
"""The newest memories, by which names and changes are recognised."""
CALLED = "called"
"""The attribute for the name by which the assistant calls the user."""
REDACTED = "[REDACTED "
"""The beginning of a redaction mark."""
_SHOWN = 80
_FEW = 3
"""Within this many years of a message a number may mean something other than a year."""
_LONGEST_LIFE = 120
"""The maximum number of years that somebody lives or something lasts."""
_MONTH = 31
_SHORT = 4
"""The number of letters by which words of one stem are matched."""
_KINDS: Mapping[str, Kind] = {"fact": "semantic", "plan": "semantic", "event": "episodic", "howto": "procedural"}
_TAGS = ("</known>", "</conversation>")
_QUOTATION = lazy_re(r"[“„«][^“”„«»\n]{12,}[”“»]|(?<!\w)\"[^\"\n]{12,}\"(?!\w)")
_NUMBER = lazy_re(r"\s*\[?K?(\d{1,4})\b")
_DIGITS = lazy_re(r"\d+")
_BARE = lazy_re(r"[\W_]+")


class Utterance(Struct, frozen=True, kw_only=True):
    """The part of a message that is in its speaker's own words."""

    message: MessageId
    role: Literal["user", "assistant"]
    speaker: str
    """The author's name, or else the role."""
    text: str
    at: datetime | None


class ReadFact(Struct, frozen=True, kw_only=True):
    """A fact, who states it, and the memories that it ends."""

    fact: SaidFact
    said: Utterance
    ended: Sequence[Record] = ()


class FactsRead(Struct, frozen=True, kw_only=True):
    """The facts that a model found in a stretch."""

    facts: tuple[ReadFact, ...]
    refused: tuple[str, ...] = ()
    """Why other facts were rejected, a sentence each."""
    usage: Usage = Usage(calls=0)


async def read_by_model(
    model: LanguageModel, said: Sequence[Utterance], before: Sequence[Utterance], known: Sequence[Record], count: Count
) -> FactsRead:
    """Let a model read facts in `said`, given what was said `before`. Raises ModelError."""
    shown, prompt = await asyncio.to_thread(_prompt, said, before, known, count)
    reply = await model.ask(prompt, FactsReply)
    return replace(await asyncio.to_thread(_checked_facts, reply.value, _Check(said, before, shown)), usage=reply.usage)


def _prompt(
    said: Sequence[Utterance], before: Sequence[Utterance], known: Sequence[Record], count: Count
) -> tuple[list[Record], Prompt]:
    """The known facts that are shown, and the question that shows them."""
    shown = _choose_known(known, [*before, *said], count)
    told = "\n".join(f"K{number} {_prompt_text(_known_line(each))}" for number, each in enumerate(shown, start=1))
    return shown, FACTS.render(known=told or "(nothing)", conversation="\n".join(_conversation_lines(said, before)))


def _checked_facts(reply: FactsReply, check: _Check) -> FactsRead:
    facts: list[ReadFact] = []
    refused: list[str] = []
    check.expect(reply.facts)
    for each in reply.facts:
        try:
            facts += check.read(each)
        except BadInput as why:
            refused.append(f"“{each.text.strip()[:_SHOWN]}”: {why}")
    return FactsRead(facts=tuple(facts), refused=tuple(refused))


def _choose_known(known: Sequence[Record], said: Sequence[Utterance], count: Count) -> list[Record]:
    """The known facts that fit: first the facts that share words with what is said, then the newest."""
    words = {term for each in said for term in terms(f"{each.speaker} {each.text}")}
    ranked = sorted(
        known, key=lambda each: (-len(words & set(terms(_known_line(each)))), -each.at.timestamp(), each.id)
    )
    out: list[Record] = []
    left = KNOWN_TOKENS
    for each in ranked:
        left -= count(_known_line(each)) + 4
        if left < 0:
            break
        out.append(each)
    return out


def _known_line(record: Record) -> str:
    days = [f"since {record.at.date().isoformat()}"] * bool(record.when)
    # A value that will be replaced on a later day, and a plan, are true until then.
    days += [f"until {record.valid_to.date().isoformat()}"] if record.valid_to else []
    since = f" ({', '.join(days)})" if days else ""
    if record.subject and record.attribute and record.value:
        slot = f"{record.subject} · {record.attribute}: {clip(record.value, 120)}{since}"
        # "two" or "the user" alone doesn't say which chickens, or whether it is still true.
        return f"{slot} = {clip(record.text, 200)}"
    return f"{clip(record.text, 200)}{since}"


def _conversation_lines(said: Sequence[Utterance], before: Sequence[Utterance]) -> Iterator[str]:
    """The conversation as shown: its days, and each message that may be cited with its number."""
    day: date | None = None
    for number, each in enumerate([*before, *said], start=1 - len(before)):
        if each.at is not None and each.at.date() != day:
            day = each.at.date()
            yield f"{day:%a %Y-%m-%d}"
        mark = f"[{number}]" if number > 0 else "(earlier)"
        longest = LONGEST_SAID if each.role == "user" else LONGEST_ANSWER
        yield f"{mark} {_prompt_text(each.speaker)}: {_prompt_text(clip(each.text, longest))}"


def _prompt_text(text: str) -> str:
    """A text on one line, without anything that a model could mistake for an instruction."""
    return quote_instructions(" ".join(text.split()), _TAGS)


class _Check:
    """Checks what a model read against what it was shown."""

    def __init__(self, said: Sequence[Utterance], before: Sequence[Utterance], known: Sequence[Record]) -> None:
        self._said = said
        self._all = [*before, *said]
        self._as_shown: list[FactSaid] = []
        self._named: set[tuple[str, str]] = set()
        """The subjects and attributes of the whole reply."""
        self._slots: dict[tuple[str, str], str] = {}
        """The attributes of the facts so far, by subject and the name that the model gave them."""
        self._known = {str(number): each for number, each in enumerate(known, start=1)}
        shown = (f"{each.speaker}: {each.text}" for each in self._all)
        self._given = [*shown, *(f"{each.subject} {each.attribute} {each.value} {each.text}" for each in known)]

    def expect(self, facts: Iterable[FactSaid]) -> None:
        """Learn which attributes a reply is about, before its facts are read one by one."""
        self._named |= {(_normalise(each.subject), " ".join(each.attribute.casefold().split())) for each in facts}

    def read(self, fact: FactSaid) -> list[ReadFact]:
        """Convert a fact of a reply; raises BadInput with the reason for rejecting it."""
        said = self._cited(fact)
        self._check_quote(fact, said)
        numbers = [found[1] for each in fact.replaces if (found := _NUMBER.match(each))]
        replaced = [self._known[number] for number in dict.fromkeys(numbers) if number in self._known]
        if fact.over and not replaced:
            fact, replaced = self._ended_fact(fact)
        *before, _ = near = self._with_context(said)
        days, years = _possible_days(said, "\n".join(each.text for each in near))
        days += [day for each in before for day in _possible_days(each, each.text)[0]]
        # A period a few years away is only accepted with its stated year; otherwise any year near the message would
        # pass.
        days += [said.at.replace(year=each, day=1) for each in years if said.at and abs(each - said.at.year) > _FEW]
        since, until = (_named_period(each, said, years) for each in (fact.since, fact.until))
        fact = self._check_words(fact, said, days, [each for each in (since, until) if each])
        named = " ".join(fact.attribute.casefold().split())
        fact = replace(fact, attribute=self._attribute(fact, replaced))
        self._slots.setdefault((_normalise(fact.subject), named), fact.attribute)
        if fact.over and until and until.until and said.at and until.until <= said.at:
            since = until
        began = _start_time(since, said, of_state=fact.kind == "fact" and not fact.over)
        if began and not fact.until and self._was_replaced_since(fact, began):
            began = None
        self._as_shown.append(fact)
        return list(self._facts_from(fact, said, replaced, began, until.until if until else None))

    def _cited(self, fact: FactSaid) -> Utterance:
        """The message that a fact cites; if its words are only in another one, that one."""
        if not 1 <= fact.message <= len(self._said):
            raise BadInput(f"It cites message {fact.message}, which there is not.")
        cited = self._said[fact.message - 1]
        if _is_quoted(fact.quote, cited):
            return cited
        others = [each for each in self._said if each.role == "user" and _is_quoted(fact.quote, each)]
        return others[0] if len(others) == 1 else cited

    def _attribute(self, fact: FactSaid, replaced: Sequence[Record]) -> str:
        """The attribute of a fact: its code, unless a fact with that code and another name remains true.

        A goalkeeper's position is not a new job of the user's, and the place of work is no other employer.
        """
        name, subject = " ".join(fact.attribute.casefold().split()), _normalise(fact.subject)
        code = attribute_of(name)
        if _normalise(name) == _normalise(code) or cardinality_of(code) != "one":
            return code
        if code == CALLED:
            return name  # A name that others use for the user is not the name that the assistant uses.
        if (said := self._slots.get((subject, name))) is not None:
            return said
        known = [each for each in self._known.values() if _normalise(each.subject) == subject]
        beside = any(each.attribute == code for each in known if each not in replaced)
        beside |= any(of == subject and attribute_of(other) == code for of, other in self._named - {(subject, name)})
        own = any(each.attribute == name for each in known)
        return name if own or (beside and not any(each.attribute == code for each in replaced)) else code

    def _was_replaced_since(self, fact: FactSaid, began: datetime) -> bool:
        """Whether its slot had another value after a fact began; it is then dated by its message.

        "I handed in my badge in March" follows a value known in August.
        """
        if fact.over or fact.several or fact.kind != "fact" or not (fact.attribute and fact.value):
            return False
        slot, value = (_normalise(fact.subject), fact.attribute), _normalise(fact.value)
        known = ((_normalise(each.subject), each.attribute, each.value or "", each.at) for each in self._known.values())
        told = ((_normalise(each.subject), each.attribute, each.value) for each in self._as_shown if not each.over)
        return any(
            (subject, attribute) == slot and _normalise(other) != value and at >= began
            for subject, attribute, other, at in known
        ) or any((subject, attribute) == slot and _normalise(other) != value for subject, attribute, other in told)

    def _ended_fact(self, fact: FactSaid) -> tuple[FactSaid, list[Record]]:
        """A fact that has ended, with the value that was stated or known, and the known facts that it ends."""
        words = _search_words(fact.value)

        def is_same_value(subject: str | None, attribute: str | None, value: str | None) -> bool:
            of_it = _normalise(subject or "") == _normalise(fact.subject)
            of_it &= attribute_of(attribute or "") == attribute_of(fact.attribute)
            return of_it and any(_has_word(word, _search_words(value or "")) for word in words)

        told = [
            each for each in self._as_shown if not each.over and is_same_value(each.subject, each.attribute, each.value)
        ]
        told.sort(key=lambda each: _normalise(each.value) == _normalise(fact.value))
        if told:
            return replace(fact, subject=told[-1].subject, attribute=told[-1].attribute, value=told[-1].value), []
        known = [each for each in self._known.values() if is_same_value(each.subject, each.attribute, each.value)]
        same = [each for each in known if _normalise(each.value or "") == _normalise(fact.value)]
        return fact, same or known[:1]

    def _with_context(self, said: Utterance) -> Sequence[Utterance]:
        """A message after the two before it."""
        at = self._all.index(said)
        return self._all[max(0, at - 2) : at + 1]

    def _check_quote(self, fact: FactSaid, said: Utterance) -> None:
        quote = _normalise(fact.quote)
        if not _is_quoted(fact.quote, said):
            raise BadInput("Its quotation stands in no such message.")
        if any(f" {quote} " in f" {_normalise(found[0])} " for found in _QUOTATION.finditer(said.text)):
            raise BadInput("What it quotes is quoted there itself.")
        if said.role == "assistant" and _normalise(fact.subject) in (
            "",
            "user",
            *{_normalise(each.speaker) for each in self._all},
        ):
            raise BadInput("It is what an assistant says of a user.")

    def _check_words(
        self, fact: FactSaid, said: Utterance, days: Sequence[datetime], windows: Sequence[Window]
    ) -> FactSaid:
        """Check that each name, number and date was shown; a value in words that nobody said is left out."""
        text = " ".join(fact.text.split())
        if not text or is_error_text(text) or has_instruction(text):
            raise BadInput("It is no statement.")
        when = [day_words(each.date()) for each in (*(each.since for each in windows if each.since), *days)]
        words = _search_words(" ".join([*self._given, *when]))
        near = "\n".join(each.text for each in self._with_context(said))
        figures = spoken_figures(near) | {each for each in units_by_figure(near) if each.isdecimal()}
        # "A hundred from today".
        figures |= {str(number) for _, number in numbers_in_words(near)}
        if said.at is not None:
            # “Built in 98” means 1998, and a winter may be written as 2025/26.
            years = range(said.at.year - _LONGEST_LIFE, said.at.year + 2)
            figures |= {str(year) for year in years if f"{year % 100:02}" in figures}
            figures |= {f"{year % 100:02}" for year in years[-3:] if f"{year - 1}/{year % 100:02}" in text}
        both = f"{text} {said.text}"
        is_german = writes_nouns_large(both) or language_of_sentence(both) == "de"

        def is_allowed(claim: TextClaim) -> bool:
            if claim.kind == "identifier" and claim.text.casefold() in words:
                return True  # People seldom write iPhone that way in chats.
            if claim.kind == "name":
                # German nouns are capitalised, and a sentence may be too short to show its language.
                return is_german and all(
                    _has_word(each, words) or _is_noun(each, text) for each in _search_words(claim.text)
                )
            if claim.kind == "date" and any(
                _is_in_window(day, window) for day in dates(claim.text) for window in windows
            ):
                return True
            return bool(
                figures & {*_figure_digits(claim.text), *(str(number) for _, number in numbers_in_words(claim.text))}
            )

        if found := first_unshown(f"{text} {fact.value}", [*self._given, *when], passes=is_allowed):
            raise BadInput(f"“{found.text}” stands nowhere in what was said.")
        wanted = _search_words(fact.value)
        if is_german and (
            name := _unknown_name(f"{text}\n{fact.value}", _search_words(" ".join([*self._given, *when])))
        ):
            raise BadInput(f"“{name}” stands nowhere in what was said.")
        is_counted = figures & {*_figure_digits(fact.value), *spoken_figures(fact.value)}
        stems = {*terms(" ".join(self._given))}
        if not wanted or is_counted or any(_has_word(each, words) for each in wanted) or stems & {*terms(fact.value)}:
            return fact
        told = [each for each in _search_words(text) if each not in _search_words(fact.subject)]
        if fact.over or not any(_has_word(each, words) for each in told):
            raise BadInput(f"Its value “{fact.value}” stands nowhere in what was said.")
        return replace(fact, value="")

    def _facts_from(
        self,
        fact: FactSaid,
        said: Utterance,
        replaced: Sequence[Record],
        since: datetime | None,
        until: datetime | None,
    ) -> Iterator[ReadFact]:
        """The facts to remember; the end of something is an event, which ends what it names."""
        kind = _KINDS.get(fact.kind, "failure")
        subject, attribute, value = (" ".join(each.split()) for each in (fact.subject, fact.attribute, fact.value))
        is_slot = kind == "semantic" and bool(subject and attribute and value)
        made = SaidFact(
            text=" ".join(fact.text.split()),
            quote=fact.quote,
            kind=kind,
            at=None if fact.kind == "plan" else since,
            until=until if kind == "semantic" else None,
            confidence=CONFIDENCE,
        )
        slotted = replace(made, subject=subject, attribute=attribute, value=value, adds=fact.several)
        if fact.over:
            yield ReadFact(fact=replace(made, kind="episodic", until=None), said=said, ended=replaced)
            if is_slot and not replaced:
                yield ReadFact(fact=replace(slotted, against=True, adds=False, until=None), said=said)
        elif is_slot:
            yield _replacing_value(slotted, said, replaced)
        else:
            yield ReadFact(fact=made, said=said, ended=replaced)


def _replacing_value(fact: SaidFact, said: Utterance, replaced: Sequence[Record]) -> ReadFact:
    """A fact that replaces other values: also in the slot of the value that it names, from its end on.

    Other values that it replaces have ended in their own slots: somebody who moved to Perth no longer comes to dinner.
    """
    old = next((each for each in replaced if each.kind == "semantic" and each.attribute == fact.attribute), None)
    beside = fact.adds or (old and (cardinality_of(old.attribute) == "set" or any(each.adds for each in old.evidence)))
    if old is None or beside:
        return ReadFact(fact=fact, said=said, ended=replaced)
    since = fact.at if fact.at and fact.at > old.at else None
    taken = replace(fact, subject=old.subject, attribute=old.attribute, at=since)
    return ReadFact(fact=taken, said=said, ended=[each for each in replaced if each.id != old.id])


def _start_time(since: Window | None, said: Utterance, *, of_state: bool) -> datetime | None:
    """Since when something is true, or when it happened; None for when it was said.

    A year that is not over adds nothing to the message's date, and its first day would make the latest statement the
    oldest; for a state, neither does a month.
    """
    if since is None or since.since is None or said.at is None:
        return since.since if since else None
    if since.since.date() == said.at.date():
        return None  # It was said on that day, and the message has the hour.
    days = (since.until - since.since).days if since.until else 0
    return None if since.holds(said.at) and days > (1 if of_state else _MONTH) else since.since


def _is_quoted(quote: str, said: Utterance) -> bool:
    words = _normalise(quote)
    return bool(words) and f" {words} " in f" {_normalise(said.text)} "


def _normalise(text: str) -> str:
    """The words of a text without case and punctuation."""
    return _BARE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _possible_days(said: Utterance, near: str) -> tuple[list[datetime], set[int]]:
    """The days that a message may mean, and the years of the durations and ages in it."""
    if said.at is None:
        return [], set()
    at = said.at
    told = [each.at for ahead in (False, True) for each in moments(said.text, at, "de", ahead=ahead)]
    doubtful = topic(Times).doubtful
    words = {each.casefold() for each in letters(said.text) if each[0].isupper() or each not in doubtful}
    named = {day for name, day in weekday_numbers().items() if name in words}
    told += [day for back in range(-7, 8) if (day := at + timedelta(days=back)).weekday() in named]
    for month in range(1, 13):
        first = at.replace(month=month, day=1)
        if words & set(day_words(first).casefold().split()) - weekday_numbers().keys():
            # The next or the last such month; both if it is this month.
            told += [first.replace(year=at.year + 1)] * (month <= at.month)
            told += [first.replace(year=at.year - 1)] * (month >= at.month)
    numbers = {
        int(each) for each in (*units_by_figure(near), *spoken_figures(near)) if each.isdecimal() and len(each) < 4
    }
    numbers.update(number for _, number in numbers_in_words(near))
    lives = [each for each in numbers if each <= _LONGEST_LIFE]
    # "Nine years in May" may be next May.
    years = {year for each in lives for year in (at.year - each, at.year - each + 1, at.year + each)}
    # The newest such year that is not still to come: '98 is 1998.
    years |= {at.year - (at.year - int(each)) % 100 for each in _SHORT_YEAR.findall(near)}
    return [at, *dict.fromkeys(told)], years


def _named_period(text: str, said: Utterance, years: Iterable[int]) -> Window | None:
    """The period that a model names, if it is near the message, or its year is stated or follows from the words."""
    window = iso_window(text, said.at.tzinfo if said.at else None) if text else None
    if window is None or window.since is None or said.at is None:
        return window
    year = window.since.year
    near = abs(year - said.at.year) <= 1 or str(year) in said.text or year in years
    return window if near else None


def _is_in_window(day: Date, window: Window) -> bool:
    """Whether a date, whose year may be missing, is in a period."""
    if window.since is None or window.until is None:
        return False
    year, month, number = day
    try:
        at = datetime(year or window.since.year, month, number, tzinfo=window.since.tzinfo)
    except ValueError:
        return False
    return window.holds(at)


def _search_words(text: str) -> list[str]:
    """The words of a text by which a value is searched, without common English ones."""
    return [each for each in _normalise(text).split() if each not in common_words()]


def _has_word(word: str, words: Iterable[str]) -> bool:
    """Whether a word occurs among others in any form, or as a part of a compound either way."""
    stem = word if len(word) < _SHORT or not word.isalpha() else word[: max(_SHORT, len(word) - 3)]
    return any(
        each == word
        or (len(stem) >= _SHORT and each.startswith(stem))
        or (min(len(each), len(word)) > _SHORT and (each in word or word in each))
        for each in words
    )


def _is_noun(word: str, text: str) -> bool:
    """Whether a capitalised word of a German text is a noun: a relation, or after an adjective or article."""
    if word in _relation_words():
        return True
    before = _normalise(text).partition(f" {word}")[0].rpartition(" ")[2]
    return before.endswith(of_language(Words, "de").inflected)


def _unknown_name(text: str, words: Sequence[str]) -> str:
    """A word of a German text that must be a name, by the word before it, and is unknown; "" if there is none."""
    known = of_language(Words, "de")
    for found in _BEHIND.finditer(text):
        word = found[1].casefold()
        is_plain = word in known.no_names or word.endswith(known.no_name_endings) or word in _relation_words()
        if not (is_plain or _has_word(word, words)):
            return found[1]
    return ""


@cached_data
def _relation_words() -> frozenset[str]:
    return frozenset(word for row in of_language(Facts, "de").relations.values() for word in row)


@cached_data
def _name_pattern() -> str:
    words = sorted(_relation_words() | of_language(Words, "de").before_names)
    return rf"\b(?i:{'|'.join(words)}) ({CAPITAL}[^\W\d_]+)"


_BEHIND = lazy_re(_name_pattern)
_SHORT_YEAR = lazy_re(r"(?<!\w)['’‘](\d\d)\b")


def _figure_digits(text: str) -> set[str]:
    """The digits of a figure, with and without leading zeros of its parts: 3:51:08 is 35108 and 3518."""
    parts = _DIGITS.findall(text)
    return {"".join(parts), "".join(str(int(each)) for each in parts)}


def first_unshown(
    text: str, given: Sequence[str], counts: Iterable[int] = (), passes: Callable[[TextClaim], bool] = lambda _: False
) -> TextClaim | None:
    """The first claim or number of `text`, in figures or words, that occurs in none of the texts `given`.

    Small numbers are checked too, unlike in a summary of work, where they may number a list. `counts`, and whatever
    `passes`, are allowed as well.
    """
    return next((each for each in _unshown_claims(text, given, counts) if not passes(each)), None)


def _unshown_claims(text: str, given: Sequence[str], counts: Iterable[int]) -> Iterator[TextClaim]:
    yield from check_text(text, SourceIndex(given))
    shown = "\n".join(given)
    figures = units_by_figure(shown).keys()
    for figure in sorted(units_by_figure(without_dates(text)).keys() - figures):
        yield TextClaim("number", figure)
    worth = {*counts, *(number for each in given for _, number in numbers_in_words(each))}
    for words, number in numbers_in_words(text):
        # “One” is not a count in “one of the tests”.
        if number > 1 and number not in worth and str(number) not in figures and words not in shown.casefold():
            yield TextClaim("number", words)


def drafts_of(read: ReadFact, piece: MemoryDraft) -> list[MemoryDraft]:
    """The drafts that a fact makes, based on `piece`: one against each memory that it ended, then its own.

    There are none if it contained a secret.
    """
    fact = read.fact
    if not is_clean(fact):
        return []
    at = fact.at or piece.at
    over = [
        replace(piece, at=max(at, each.at), against=True, why=fact.quote, **_identity_of(each), kind=each.kind)
        for each in read.ended
        # An earlier statement doesn't end what was said about a later day.
        if not (each.sources and piece.messages) or each.at.date() <= piece.at.date()
    ]
    return [*over, own_draft(fact, piece)]


def is_clean(fact: SaidFact) -> bool:
    """Whether `fact` contains no secret."""
    return REDACTED not in f"{fact.text} {fact.value}"


def own_draft(fact: SaidFact, piece: MemoryDraft) -> MemoryDraft:
    """The draft of a fact by itself, based on `piece`."""
    at = fact.at or piece.at
    return replace(
        piece,
        text=fact.text,
        kind=fact.kind,
        at=min(at, fact.until) if fact.until else at,
        until=fact.until,
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        against=fact.against,
        why=fact.quote if fact.against else "",
        quote=fact.quote,
        told=piece.at,
        adds=fact.adds,
        confidence=fact.confidence,
        salience=fact.salience,
    )


def _identity_of(record: Record) -> dict[str, str]:
    """The text of a memory and the fields that identify it."""
    return {name: getattr(record, name) for name in ("text", *NAMES)}


def visible_records(tx: Transaction, space: str, project: str, records: Sequence[Record]) -> list[Record]:
    """The records that a project may end, without those that only other projects state."""
    if not (records and tx.search.knows_other_project(space, project)):
        return list({each.id: each for each in records if each.evidence}.values())
    own = frozenset({"", GENERAL, project})
    if not all(own.issuperset(each.projects) for each in records):
        own |= same_repository(tx, space, project)
    here = {each.id: each for each in records if own & set(each.projects)}
    shared = {
        (each.kind, each.key)
        for each in here.values()
        if not each.cue and (each.state != "active" or not own.issuperset(each.projects))
    }
    if not shared:
        return list(here.values())
    stored = [each for kind, key in sorted(shared) for each in tx.memories.of_key(space, kind, key)]
    told: dict[tuple[Kind, str], list[Record]] = {}
    for each in Scope(tx, space, ScopeLimits(project=project, undone=True)).with_visible_evidence(stored):
        told.setdefault((each.kind, each.key), []).append(each)
    seen = {each.id: each for (kind, _), rows in told.items() for each in KINDS[kind].settle(rows)}
    judged = (seen.get(name) if (each.kind, each.key) in shared else each for name, each in here.items())
    return [each for each in judged if each is not None]


class KnownMemories:
    """The newest memories visible from a project."""

    def __init__(self, tx: Transaction, space: str, project: str, at: datetime | None = None) -> None:
        """Read the memories; with `at` also those that ended by themselves, such as plans, if they were true then."""
        self._tx, self._space, self._project = tx, space, project
        self._has_others = tx.search.knows_other_project(space, project)
        states: list[State] = ["active"]
        states += ["retired"] if at else []
        # A fact that another project replaced may still be true here.
        states += ["superseded"] if self._has_others else []
        listed = tx.memories.list(space, MemoryFilter(states=tuple(states), archived=False), MOST_KNOWN)
        said = [each for each in listed if each.kind != "failure" and not each.cue]
        said = [each for each in said if each.state != "retired" or (at and holds_at(each, at))]
        seen = Scope(tx, space, ScopeLimits(project=project)).visible(said)
        self._held = {each.id: each for each in seen if each.state != "superseded"}

    @property
    def facts(self) -> Sequence[Record]:
        """The memories that are true."""
        return list(self._held.values())

    def learn(self, changed: Iterable[Record]) -> None:
        """Take in changed memories."""
        told = {each.id: each for each in changed}
        if told and self._has_others:
            # A fact that has ended here may already have ended for all projects.
            keys = {(each.kind, each.key) for each in told.values()}
            stored = (each for kind, key in sorted(keys) for each in self._tx.memories.of_key(self._space, kind, key))
            told |= {each.id: each for each in stored if each.id in self._held}
        for name in told:
            self._held.pop(name, None)
        now = visible_records(self._tx, self._space, self._project, list(told.values()))
        self._held.update((each.id, each) for each in now if each.state == "active")
