"""Read the facts of one clause, in a message whose clauses are read in order: slots, names, rules, corrections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, of_language, topic
from ireneo.language.moments import Moment, moments, with_dates
from ireneo.language.predicates import Predicate, in_third_person, predicate, split_at_and
from ireneo.language.spoken import Attributes, Facts, Phrasing, Predication
from ireneo.language.times import weekday_numbers
from ireneo.language.topics import Connectives, Names
from ireneo.language.words import language_of_sentence, sentences, standardise
from ireneo.memories.cues import (
    all_cues,
    clause_words,
    cue_patterns,
    cues,
    first_match,
    has_cue,
    not_german,
    relations,
    tense_fits,
)
from ireneo.memories.earnest import (
    Statement,
    german_and,
    introduction_facts,
    is_wish_for_answers,
    omits_subject,
    without_quotations,
)
from ireneo.memories.ended_values import DIET, corrected_quotations, corrected_values, split_occupation
from ireneo.memories.endings import changed_things, ended_things
from ireneo.memories.facts import attribute_of, cardinality_of, is_attribute, seldom_changes
from ireneo.memories.figures import figures_by_quantity, names_one_weekday, next_value
from ireneo.memories.lasting import is_plan
from ireneo.memories.persons import is_about_relative, names_others_relative
from ireneo.memories.quoting import ADDS, NAMED, SHORT, SaidFact, quotation, without_remark
from ireneo.memories.record import Kind, Record
from ireneo.memories.slot_values import body_reacts, split_values, trim_value
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.memories.worth import LEAST_ASKED, NOTHING, keep_score
from ireneo.patterns import lazy_re

_NAMES = topic(Names)
_SAYS = topic(Phrasing)
_ONLY_NAMES = lazy_re(lambda: rf"\b{any_of(_SAYS.mine)}\b|(?<=\w ){CAPITAL}[\w-]+|[.,!]", re.I)
_SPEAKERS = ("i", "we", "")
_EACH_YEAR = ("birthday", "anniversary", "name day")
_FIGURE = lazy_re(r"\d")
_MINE = lazy_re(lambda: rf"(?:{any_of(_SAYS.mine)}) (?:[^\W\d_]+ ){{0,2}}", re.I)
_CAPITALISED = lazy_re(rf"{CAPITAL}[\w’'-]*")
_CONTRAST = lazy_re(lambda: rf"(?<=[\s,]){any_of(topic(Connectives).contrasts)}\s", re.I)
_CLAUSES = lazy_re(lambda: rf"\b{clause_words()}\b", re.I)


class ClauseReader:
    """Reads the statements of one message in order; names introduced in one are known in the next."""

    def __init__(self, speaker: str, at: datetime | None, names: dict[str, str], *, anyone: bool = False) -> None:
        self.anyone = anyone
        self.speaker = speaker
        self.who = "The user" if speaker in ("", "user") else speaker
        self.subject = speaker or "user"
        self.at = at
        self.names = dict(names)
        self.text = ""
        """The whole message."""
        self.announced: Mapping[str, Mapping[str, Record]] = {}
        """See `announced_values`."""
        self.known: Sequence[Record] = ()
        """What is known and holds."""
        self.opens = True
        self.own = True
        """Whether the previous statement was about the speaker, or there was none."""

    def facts(self, statement: Statement) -> Iterator[SaidFact]:
        """The facts of a statement; for an introduction ("I'm Ana, 34, from Porto") the fact of each part."""
        pieces = introduction_facts(statement, opens=self.opens) if statement.joins else []
        self.opens = False
        german = statement.language == "de"
        if not pieces:
            text = f"ich {statement.text}" if german and omits_subject(statement) else statement.text
            yield from (replace(fact, quote=statement.text) for fact in self._read_facts(replace(statement, text=text)))
            clause = predicate(statement.text, self._known_names(statement)) if not german else None
            self.own = clause is None or clause.subject.casefold() in _SPEAKERS
            return
        name, *pieces = pieces
        opens = "Ich bin" if german else "I'm"
        who = "Der Nutzer" if german and self.who == "The user" else self.who
        called = "heißt" if german else "is called"
        told = self._plain_fact(statement, "semantic")
        yield replace(told, text=f"{who} {called} {name}.", quote=name, attribute="name", value=name, salience=0.6)
        for piece in pieces:
            article = "" if german or not cues("en").professions.match(piece) else "a "
            says_on = german and of_language(Phrasing, "de").alone.match(piece) is not None
            said = piece if _SAYS.complete.search(piece) else f"Ich {piece}" if says_on else f"{opens} {article}{piece}"
            own = replace(statement, text=said)
            facts = list(self._read_facts(own)) or ([] if says_on else [self._plain_fact(own, "semantic")])
            yield from (replace(fact, quote=piece) for fact in facts if not fact.against)

    def _read_facts(self, statement: Statement) -> Iterator[SaidFact]:
        if statement.asks:
            return
        if rule := self._rule(statement):
            yield rule
            return
        if statement.how:
            yield self._plain_fact(
                statement, "failure" if cues(statement.language).failed.search(statement.text) else "procedural"
            )
            return
        yield from (named := list(self._relatives(statement)))
        said = predicate(statement.text, self._known_names(statement)) if statement.language != "de" else None
        # "Maria quit Siemens and started at Airbus" says two things about one person.
        both = german_and(statement.text) if statement.language == "de" else None
        first, more = both or (split_at_and(statement.text, said) if said is not None else ("", ""))
        alone = replace(statement, text=first)
        if slots := list(self._lasting_slots(alone, predicate(first, self._known_names(statement)))) if more else []:
            yield from slots
            yield from self._read_facts(replace(statement, text=more))
            return
        if more:
            yield from self._lasting_slots(replace(statement, text=more), predicate(more, self._known_names(statement)))
        slots = list(self._lasting_slots(statement, said)) or list(self._next_values(statement))
        called = [each.value for each in named]
        verb = "heißt" if statement.language == "de" else "is called"
        for each in slots:
            first = each.value.split(" ", 1)[0] if each.attribute == "name" else ""
            if first not in called:
                yield each
            elif first != each.value:
                # Who is the boss for a while has the full name for good.
                yield replace(each, subject=first, text=f"{first} {verb} {each.value}.")
        if slots and not (said is not None and said.tense == "used"):
            # Somebody who "used to love" something may say next what it is now.
            return
        yield self.quote(statement.text, statement.language)

    def _next_values(self, statement: Statement) -> Iterator[SaidFact]:
        """The next value of a known series of the speaker, if a clause just gives the figure."""
        for each in self.known if not is_plan(statement.text, self.at) else ():
            if (
                each.value
                and each.subject == self.subject
                and (value := next_value(statement.text, each.attribute, each.value))
            ):
                yield self._make_fact(statement, None, subject=self.subject, attribute=each.attribute, value=value)

    def _known_names(self, statement: Statement) -> frozenset[str]:
        """The known names in a statement; with `anyone` also the name at its beginning."""
        if not self.anyone:
            return frozenset(self.names)
        found = NAMED.match(statement.text)
        return frozenset() if found is None or found[1].casefold() in _NAMES.none else frozenset({found[1], found[0]})

    def _rule(self, statement: Statement) -> SaidFact | None:
        """The rule for how the assistant should behave."""
        if not is_wish_for_answers(statement.text, statement.sentence):
            return None
        # "Antworte kurz" has too few words to be recognised as German, and "Call me Günay" a German name.
        hits = ((code, hit) for code, each in all_cues().items() if (hit := each.rules.match(statement.text)))
        code, found = next(hits, (statement.language, None))
        name = found.groupdict().get("name") if found else None
        german = code == "de"
        who = "Der Nutzer" if german and self.who == "The user" else self.who
        if name:
            return SaidFact(
                text=f"{who} möchte {name} genannt werden." if german else f"{who} wants to be called {name}.",
                quote=statement.text,
                kind="semantic",
                subject=self.subject,
                attribute="called",
                value=name,
                at=self.at,
                confidence=0.9,
                salience=0.9,
            )
        # What follows in the sentence says more about it, or why.
        text = statement.sentence[max(statement.sentence.find(statement.text), 0) :].strip()
        text = text[adds.end() :] if (adds := ADDS.match(text)) else text
        words = f"{text[0].upper()}{text[1:]}"
        return SaidFact(
            text=f"{who} bittet den Assistenten: „{words}“" if german else f"{who} asks the assistant: “{words}”",
            quote=text,
            kind="semantic",
            subject=self.subject,
            attribute="manner",
            value=text,
            at=self.at,
            adds=True,
            confidence=0.8,
            salience=0.9,
        )

    def corrections(self, text: str) -> Iterator[SaidFact]:
        """What a text puts right: known values, who somebody is, and quotations, told together with the correction."""
        slots = [each for each in self.known if each.attribute and each.value]
        for each, value, put in corrected_values(text, slots):
            adds, told = cardinality_of(each.attribute) == "set", self._joined(put.sentence, each)
            told = replace(
                told, kind="semantic", subject=each.subject, attribute=each.attribute, value=value, adds=adds
            )
            if each.value in each.text and unquoted_words(each.text) == each.text:
                told = replace(told, text=each.text.replace(each.value, value))
            told = replace(told, confidence=0.8, salience=0.8)
            yield from [replace(told, value=each.value, against=True, adds=False), told] if adds else [told]
        for found in (hit for pattern in cue_patterns("not_mine") for hit in pattern.finditer(text)):
            for each in slots:
                if each.value == found["name"] and each.attribute == attribute_of(found["word"]):
                    ends = replace(self.quote(found[0], language_of_sentence(text)), kind="semantic", against=True)
                    yield replace(ends, subject=each.subject, attribute=each.attribute, value=each.value)
        for each, sentence in corrected_quotations(text, self.at, self.known) if self.at else ():
            ends = replace(self.quote(sentence, language_of_sentence(sentence)), against=True, quote="")
            begins, name, beside = each.text.partition(each.value or each.text)
            if not each.value:
                yield from (ends, self._joined(sentence, each))
            elif beside.strip(".") and unquoted_words(each.text) == each.text:
                # "Ina lives in Hove with her son Tim": the value stays without what is wrong beside it.
                ends = replace(ends, text=f"{begins}{name}.", quote=sentence, kind=each.kind, against=False)
                yield replace(ends, subject=each.subject, attribute=each.attribute, value=each.value)

    def _joined(self, sentence: str, meant: Record) -> SaidFact:
        """A correction as it is quoted, behind what it puts right."""
        words = f"{unquoted_words(meant.text).rstrip('.')} … {sentence}"
        return replace(self.quote(words, language_of_sentence(words)), quote=sentence, beside=tuple(meant.sources))

    def _name_fact(self, statement: Statement, word: str, name: str, called: str = "") -> SaidFact:
        """The fact that somebody close to the speaker has a name; `called` is the attribute if no word tells it."""
        called, german = called or attribute_of(word), statement.language == "de"
        return SaidFact(
            text=f"{self._possessive(german)} {word} {'heißt' if german else 'is called'} {name}.",
            quote=statement.text,
            kind="semantic",
            subject=self.subject,
            attribute=called,
            value=name,
            at=self.at,
            adds=cardinality_of(called) == "set",
            confidence=0.8,
            salience=0.6,
        )

    def _relatives(self, statement: Statement) -> Iterator[SaidFact]:
        """The names of people whom the statement relates to the speaker."""
        ended = ended_things(standardise(statement.text))
        if statement.made_up or any(gone or parted for _, gone, _, parted in ended):
            # "Our old cat Willi died" tells of no cat.
            return
        for found in cues(statement.language).relative.finditer(statement.text):
            parts = found.groupdict()
            name = next(
                (said.removesuffix("'s") for key, said in parts.items() if key.startswith("name") and said), None
            )
            word = next((said for key, said in parts.items() if key.startswith("word") and said), "")
            code = relations().get(word.casefold())
            if (
                not name
                or not code
                or (parts.get("only_is") and not self.anyone)  # "My wife is French."
                or (parts.get("word_c") and self._is_of_another(statement, found.start()))
                or (word.casefold().endswith("s") and word.casefold() not in topic(Attributes).one_in_the_plural)
                or name.casefold() in _NAMES.none | relations().keys()
                or not name[0].isupper()
                # "My son Year 5", "meinen Chef Montag früh".
                or statement.text[found.end() : found.end() + 2].strip().isdigit()
                or name.casefold() in weekday_numbers()
            ):
                continue
            self.names[code] = self.names[name] = name
            yield self._name_fact(statement, word, name)
        several = list(self._named_members(statement, mine=True))
        yield from several if len(several) > 1 else ()

    def _is_of_another(self, statement: Statement, start: int) -> bool:
        """Whether "the baby", at `start`, may be that of somebody in its message or in the sentence before it."""
        before = list(sentences(self.text.partition(statement.sentence)[0], small_opens=True))
        near = f"{before[-1] if before else ''} {statement.text[:start]}"
        return names_others_relative(self.text) or is_about_relative(near)

    def _named_members(self, statement: Statement, attribute: str = "", *, mine: bool = False) -> Iterator[SaidFact]:
        """The name of each child or animal: "a greyhound called Ada and two guinea pigs, Salt and Pepper".

        If `mine`, the clause must begin with whose they are.
        """
        for found in cues(statement.language).members.finditer(statement.text):
            if mine and not _MINE.fullmatch(statement.text, 0, found.start()):
                continue
            names, code = _CAPITALISED.findall(found["names"]), attribute or relations().get(found["word"].casefold())
            # "Zwei Hunde" has no singular here.
            known = of_language(Attributes, statement.language).names.get(code or "", ("",))[0].capitalize()
            word = known if statement.language == "de" and len(names) > 1 else found["word"]
            for name in names if code else ():
                if name.casefold() not in _NAMES.none | relations().keys():
                    self.names[name] = name
                    yield self._name_fact(statement, word, name, code or "")

    def relatives_in_passing(self, statement: Statement) -> Iterator[SaidFact]:
        """The names of people whom a sentence only mentions, as in a wish for a present "for my sister Ana"."""
        # What follows a colon may be what somebody else is to say.
        heard = without_quotations(statement.sentence)[0].partition(":")[0]
        known = {(each.attribute, each.value) for each in self.known}
        for found in cues(statement.language).in_passing.finditer(heard):
            for fact in self._relatives(replace(statement, text=heard[found.start() :])):
                if fact.value in found[0] and (fact.attribute, fact.value) not in known:
                    yield fact

    def _possessive(self, german: bool = False) -> str:
        if german:
            return "Des Nutzers" if self.who == "The user" else f"{self.who}s"
        return f"{self.who}'s"

    def _lasting_slots(self, statement: Statement, said: Predicate | None) -> Iterator[SaidFact]:
        """The slots that a statement fills. In a chat, those of other people only if they seldom change."""
        arrived = self._announced_home(statement)
        for fact in [arrived] if arrived else [*self._all_slots(statement, said)] or self._came_true(statement):
            if self._is_known_in_detail(fact):
                continue
            if self.anyone or fact.against or fact.subject == self.subject or seldom_changes(fact.attribute):
                yield fact

    def _is_known_in_detail(self, fact: SaidFact) -> bool:
        """Whether the place of a new home is that of the known address: "14 Hill Road, Leeds", and then "Leeds"."""
        homes = [each for each in self.known if (each.subject, each.attribute) == (fact.subject, "home")]
        return fact.attribute == "home" and any(
            each.value != fact.value and not fact.against and f" {fact.value}." in each.text.replace(",", ".")
            for each in homes
        )

    def _all_slots(self, statement: Statement, said: Predicate | None) -> Iterator[SaidFact]:
        if statement.made_up:
            return
        plan = is_plan(statement.text, self.at)
        if statement.language == "de":
            yield from self._german_facts(statement, plan=plan)
            return
        if said is None:
            return
        whose = self._owned_attribute(said)
        elided = not (said.subject or self.anyone or _SAYS.mine.search(statement.text))
        if whose is None or (elided and not self.own):
            # "Turned 4 on Thursday" may be about a child.
            return
        subject, attribute = whose
        before = statement.text.partition(said.subject)[0] if said.subject else ""
        if cues(statement.language).dependent.search(before):
            # "Till I'm 68" states no age, and "since I retired" only a time.
            return
        if attribute:
            yield from self._attribute_facts(statement, said, subject, attribute)
            return
        if plan:
            return
        for row, pattern in cues(statement.language).says:
            found = pattern.match(said.phrase.removeprefix("do ")) if said.negated else pattern.match(said.phrase)
            if found is None and said.negated:
                found = pattern.match(
                    f"{said.verb.removeprefix('do not ').replace('be not', 'be').replace('can not', 'can')} {said.rest}"
                )
                denied = found is not None
            else:
                denied = False
            moved = row.attribute == "home" and said.tense == "past"
            elsewhere = elided and not (moved or row.attribute == "employer")
            if found is None or elsewhere or not (tense_fits(row, said) and body_reacts(row, statement)):
                continue
            against = row.ends or said.over or denied
            facts = list(self._facts_of_row(statement, said, row, found, subject, against=against))
            yield from self._with_job(statement, said, facts) if row.attribute == "employer" else facts
            return

    def _announced_home(self, statement: Statement) -> SaidFact | None:
        """The new home of somebody who planned to move there; otherwise "we're in York now" may be a visit."""
        rows = cues(statement.language).each["arrives"]
        there = next((hit["value"] for row in rows if (hit := row.match(statement.text))), "")
        if there not in self.announced.get("home", {}):
            return None
        return self._make_fact(statement, None, subject=self.subject, attribute="home", value=there)

    def _came_true(self, statement: Statement) -> Iterator[SaidFact]:
        """The only home or employer that was announced, if the statement speaks of the new one: "we've moved in"."""
        if is_plan(statement.text, self.at) or statement.made_up:
            return
        for attribute in {thing for thing, *_ in changed_things(standardise(statement.text))} & self.announced.keys():
            values = self.announced[attribute]
            if len({plan.id for plan in values.values()}) == len(values) == 1:
                value, plan = next(iter(values.items()))
                told = replace(self._joined(statement.text, plan), kind="semantic", subject=self.subject)
                yield replace(told, attribute=attribute, value=value, confidence=0.8, salience=0.6)

    def _with_job(self, statement: Statement, said: Predicate, facts: Sequence[SaidFact]) -> Iterator[SaidFact]:
        """Complete an employer with the job there, since one changes without the other."""
        rows = [each for each in cues(statement.language).says if each[0].attribute == "job"]
        for fact in facts:
            told = [] if fact.against else [(row, pattern.match(said.phrase)) for row, pattern in rows]
            row, found = next(((row, hit) for row, hit in told if hit and tense_fits(row, said)), (None, None))
            job = trim_value(found["value"], statement.language) if found else ""
            if row is None or not job or job not in fact.text:
                yield fact
                continue
            is_quoted = unquoted_words(fact.text) != fact.text
            at_work, as_what = (fact.text, fact.text) if is_quoted else split_occupation(fact.text, fact.value, job)
            yield replace(fact, text=at_work)
            yield replace(fact, text=as_what, attribute="job", value=job)

    def _owned_attribute(self, said: Predicate) -> tuple[str, str] | None:
        """The subject of the clause, and the attribute that it names; None if it belongs to nobody."""
        subject = said.subject.strip()
        low = subject.casefold()
        if low in ("i", "we", "", "im", "ive"):
            return self.subject, ""
        if subject in self.names:
            return subject, ""
        if self.anyone and low.removeprefix("the ") == "user":
            return "User", ""
        if self.anyone and (thing := first_match(of_language(Phrasing, "en").owned, subject, whole=True)):
            return thing["whose"], thing["what"].lower()
        if self.anyone and NAMED.fullmatch(subject) and subject.split()[0].casefold() not in _NAMES.none:
            return subject, ""
        first, _, rest = low.partition(" ")
        if first in ("my", "our"):
            words = rest.split()
            said_words = subject.split()[1:]
            last = relations().get(" ".join(words[-2:])) or relations().get(words[-1] if words else "")
            named = len(words) > 1 and said_words[1][:1].isupper()
            if code := last or (relations().get(words[0]) if named else None):
                word = words[-1] if last else words[0]
                return self.names.get(code, f"{self.subject}'s {word}"), ""
            return self.subject, rest
        if not rest and first in topic(Attributes).bare:
            return self.subject, first
        if not rest and (code := relations().get(first)):
            return self.names.get(code, f"{self.subject}'s {first}"), ""
        if first == "the" and rest:
            return self.subject, rest if rest.split()[-1] in of_language(Facts, "en").dated | of_language(
                Facts, "en"
            ).measured else "-"
        return None

    def _attribute_facts(self, statement: Statement, said: Predicate, subject: str, name: str) -> Iterator[SaidFact]:
        """A fact from "my weight is 78 kg", "the appointment is now on Friday"."""
        if name == "-" or said.negated or said.tense == "used":
            return
        if said.tense == "past" and said.verb == "be" and name.split()[-1] not in of_language(Facts, "en").dated:
            return
        yield from self._attribute_value(statement, said, subject, name, said.phrase)

    def _attribute_value(
        self, statement: Statement, said: Predicate | None, subject: str, name: str, becomes: str
    ) -> Iterator[SaidFact]:
        """The fact that an attribute has, or gets, the stated value."""
        rows, known, words = cues(statement.language), of_language(Facts, statement.language), name.split()
        becoming = rows.each["becomes"]
        at, found = next(((at, hit) for at, row in enumerate(becoming) if (hit := row.match(becomes))), (0, None))
        if (
            found is None
            or (at == len(becoming) - 1 and not _FIGURE.search(found["value"]))
            or len(words) > 3
            or {words[0], words[-1]} & known.no_attribute
        ):
            return
        dated_one, raw = words[-1] in known.dated, found["value"]
        if dated_one:
            times = self._moments_in(raw, statement.language, ahead=True)
            if not times and not _FIGURE.search(raw):
                return
            raw = _SAYS.before_dates.sub("", with_dates(raw, times))
        named = " ".join(word for word in words if word not in _SAYS.which)
        attribute = attribute_of(named)
        if not (self.anyone or is_attribute(named) or {words[-1]} & (known.dated | known.measured)):
            # "My target is 65": how long that will be true is unknown.
            return
        if attribute in _EACH_YEAR:
            raw = _SAYS.before_dates.sub("", raw)
        value = trim_value(raw, statement.language)
        if not value:
            return
        yield self._make_fact(statement, said, subject=subject, attribute=attribute, value=value, ahead=dated_one)

    def _facts_of_row(
        self,
        statement: Statement,
        said: Predicate | None,
        row: Predication,
        found: re.Match[str],
        subject: str,
        *,
        against: bool,
    ) -> Iterator[SaidFact]:
        """A fact for each value that a clause names; none for a job on one day of the week."""
        begun = against or (said is not None and said.tense in ("past", "perfect"))
        if row.attribute == "home" and not against and has_cue("for_a_visit", statement.text):
            return
        is_of_a_day = row.attribute in ("employer", "job") and not begun and names_one_weekday(statement.text)
        if is_of_a_day and not any(
            each.since for each in self._moments_in(statement.text, statement.language, ahead=False)
        ):
            return
        is_member = row.attribute in ("pet", "child") and subject == self.subject and not against
        if is_member and (named := [*self._named_members(statement, row.attribute)]):
            yield from named
            return
        raw = found.groupdict().get("value") or ""
        values = [row.value] if row.value else split_values(raw, row, statement.language)
        for value in values:
            yield self._make_fact(
                statement,
                said,
                subject=subject,
                attribute=row.attribute,
                value=value,
                against=against,
                whole=raw if len(values) > 1 else "",
            )

    def _german_facts(self, statement: Statement, *, plan: bool) -> Iterator[SaidFact]:
        told = ""
        for row, pattern in () if plan else cues("de").says:
            if (told and row.attribute != "job") or not body_reacts(row, statement):
                continue
            found, subject = pattern.search(statement.text), ""
            while found and not (subject := self._german_subject(found.groupdict().get("of"), statement)):
                found = pattern.search(statement.text, found.start() + 1)
            if found is None:
                continue
            # "Seit heute bin ich Fahrlehrer, endlich kein Schichtdienst mehr": the other clause has ended.
            clause = statement.text[: end if (end := statement.text.find(", ", found.end())) > 0 else None]
            over = cues("de").over.search(clause)
            # "Vertrage keine Hefe mehr" begins what is not eaten.
            begins = over and row.attribute in DIET and over.start() < found.start("value")
            against = row.ends or bool(over and not begins)
            facts = list(self._facts_of_row(statement, None, row, found, subject, against=against))
            yield from facts
            if facts and (told or row.attribute != "employer" or against):
                return
            # Work has two halves: "ich arbeite als Busfahrer bei der KVG".
            told = told or (row.attribute if facts else "")
        if told:
            return
        known = of_language(Phrasing, "de")
        thing = first_match((*known.about_mine, *(known.about_owned if self.anyone else ())), statement.text)
        if thing and thing["what"].casefold() not in relations():
            whose = thing.groupdict().get("whose") or self.subject
            yield from self._attribute_value(statement, None, whose, thing["what"].casefold(), thing["said"])

    def _german_subject(self, name: str | None, statement: Statement) -> str:
        """The subject of a German clause; empty if it is nobody."""
        if name is None:
            return self.subject
        code, start = relations().get(name.casefold()), statement.text.find(name)
        if code in ("child", "pet") and not _SAYS.mine.search(statement.text, 0, start):
            code = None if self._is_of_another(statement, start) else code
        if code:
            return self.names.get(code, f"{self._possessive(german=True)} {name}")
        known = name in self.names or (
            self.anyone and not is_attribute(name) and name.casefold() not in _NAMES.none | not_german()
        )
        return name if known else ""

    def _make_fact(
        self,
        statement: Statement,
        said: Predicate | None,
        *,
        subject: str,
        attribute: str,
        value: str,
        against: bool = False,
        whole: str = "",
        ahead: bool = False,
    ) -> SaidFact:
        text, began = self._in_third_person(statement, said, ahead=ahead, each_year=attribute in _EACH_YEAR)
        ends = statement.text.find(value) + len(value)
        if attribute == "diet" and (beside := _CONTRAST.search(statement.text, ends)):
            # "Vegetarian, but I eat fish".
            text = quotation(statement.text, self.who, self.at, statement.language)
            value = f"{value}, {statement.text[beside.start() :].strip(' ,.')}"
        new = cues(statement.language).just_now.search(statement.text) is not None
        if new or attribute == "age" or cardinality_of(attribute) == "series":
            # A measurement belongs to its day, and so does something that has "just" begun.
            text = quotation(statement.text, self.who, self.at, statement.language)
        elif text != quotation(statement.text, self.who, self.at, statement.language):
            # What is quoted stays as it was said.
            text = text.replace(whole, value) if whole else without_remark(text, value, statement.language)
        return SaidFact(
            text=text,
            quote=statement.text,
            kind="semantic",
            subject=subject,
            attribute=attribute,
            value=value,
            at=began or self.at,
            against=against,
            adds=cardinality_of(attribute) == "set" and not against,
            confidence=0.8,
            salience=0.8 if attribute in ("allergy", "avoids", "medication", "condition") else 0.6,
        )

    def _in_third_person(
        self, statement: Statement, said: Predicate | None, *, ahead: bool = False, each_year: bool = False
    ) -> tuple[str, datetime | None]:
        """The statement about the speaker in the third person, and since when it is true, if it says so.

        The day of something that happens `each_year` gets no year.
        """
        rows = cues(statement.language)
        past = said.tense in ("past", "perfect") if said else bool(rows.happened.search(statement.text))
        side = True if ahead or rows.coming.search(statement.text) else False if past else None
        times = [] if each_year else self._moments_in(statement.text, statement.language, ahead=side)
        begun = [each for each in times if each.since or (said and said.tense in ("past", "perfect"))]
        began = begun[0].at if begun and self.at and begun[0].at <= self.at else None
        text = with_dates(statement.text, times)
        own = said is not None and (said.subject or said.start == said.verb_start)
        # "It broke yesterday and he comes on Friday": one clause may be about the past and the other about the future.
        apart = len(times) > 1 and _CLAUSES.search(statement.text, times[0].end, times[-1].start) is not None
        # "Bloody typical I cancelled it": an opening without punctuation can't be retold with its clause.
        leads = statement.text[: said.start].rstrip() if said is not None else ""
        led = len(leads.split()) > 1 and not leads.endswith((",", ";", ":", "–", "—", " of"))
        apart = apart or (led and not (times and times[0].start < len(leads)))
        if statement.language == "en" and said is not None and not apart and not cues("en").points.search(text):
            clause = text if said.subject else f"I {text[0].lower()}{text[1:]}" if own else text
            now = predicate(clause, self._known_names(statement))
            told = in_third_person(clause, now, self.who)
        else:
            # A quotation is verbatim: its day shows which "yesterday" is meant.
            return quotation(statement.text, self.who, self.at, statement.language), began
        told = told[0].upper() + told[1:]
        return (told if told[-1] in ".!…" else f"{told}."), began

    def _moments_in(self, text: str, language: str, *, ahead: bool | None) -> list[Moment]:
        return moments(text, self.at, language, ahead=ahead) if self.at else []

    def _plain_fact(self, statement: Statement, kind: Kind) -> SaidFact:
        """The statement itself, if it fills no slot."""
        return SaidFact(
            text=self._in_third_person(statement, None)[0],
            quote=statement.text,
            kind=kind,
            subject=self.subject if kind == "semantic" else "",
            at=self.at,
            confidence=0.6,
            salience=0.4,
        )

    def quote(self, words: str, language: str, asked: str = "") -> SaidFact:
        """The speaker's words, with the day on which they were said, and the question that they answer.

        They are an event, and no lasting fact, since later statements can't be relied on to end them.
        """
        return SaidFact(
            text=quotation(words, self.who, self.at, language, asked),
            quote=words,
            kind="episodic",
            at=self.at,
            confidence=0.6,
            salience=0.4,
            answers=bool(asked),
        )

    def worth(self, statement: Statement) -> float:
        """How much a statement is worth quoting, if it fills no slot; see `keep_score`."""
        rows, text = cues(statement.language), statement.verbatim or statement.text
        if not statement.text or statement.in_story:
            return NOTHING
        score = max(keep_score(text), keep_score(statement.text))
        if statement.asks:
            # Whoever asks “Which insurance is good for a Skoda Octavia?” has one.
            return score if score >= LEAST_ASKED else NOTHING
        if (
            has_cue("muddled", statement.text)
            or has_cue("momentary", statement.text)
            or rows.address.search(text)
            or rows.asks_within.match(text)
        ):
            return NOTHING
        if statement.made_up and not re.match(r"(?:i|ich)\b", text, re.I):
            return NOTHING
        if not statement.joins and len(text.split()) <= SHORT and not has_cue("besides", text):
            # "I've joined the circus. Second clown from the left."
            return NOTHING
        # "My wife Ana" alone states a name, which is a fact of its own.
        only_names = _ONLY_NAMES.sub("", text).casefold().split()
        if set(only_names) <= relations().keys() or not (distinctive_words(text) or figures_by_quantity(text)):
            return NOTHING
        return score
