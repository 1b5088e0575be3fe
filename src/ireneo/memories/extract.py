"""Read facts from what people say about themselves, by rules: subject, attribute, value, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from msgspec.structs import replace

from ireneo.language.words import language_of_sentence, standardise
from ireneo.memories.clause_facts import ClauseReader
from ireneo.memories.cues import has_cue
from ireneo.memories.earnest import Statement, clauses, without_code_and_quotes
from ireneo.memories.endings import may_end_something
from ireneo.memories.lasting import announced_values
from ireneo.memories.persons import Antecedents, names_by_relation
from ireneo.memories.quoting import (
    NAMED,
    QuotedClause,
    SaidFact,
    fact_key,
    joined,
    quotations,
    short_answer,
    starts_with_yes_or_no,
    with_original_words,
)
from ireneo.memories.record import Record
from ireneo.memories.wording import unquoted_words
from ireneo.memories.worth import is_worth_keeping

MOST = 40
"""The maximum number of facts of one message."""


def extract_facts(
    text: str,
    *,
    speaker: str,
    at: datetime | None,
    before: Sequence[str] = (),
    known: Sequence[Record] = (),
    anyone: bool = False,
    asked: str = "",
) -> list[SaidFact]:
    """The facts that a message states in earnest, in order; doubtful ones are left out.

    `speaker` is its author's name, or "user"; `before` are the messages before it, the newest last; `known` are
    memories of the speaker, which show who is who. Facts about other people are only read with `anyone`.
    """
    found: dict[tuple[str, ...], SaidFact] = {}
    reader = ClauseReader(speaker, at, names_by_relation(known), anyone=anyone)
    reader.text = without_code_and_quotes(text)
    reader.announced = announced_values(known)
    reader.known = [each for each in known if each.holds]
    antecedents = Antecedents(known, " ".join(before[-2:]), reader.text, anyone=anyone)
    answer = short_answer(text, asked) if asked and at else ""
    is_told = is_worth_keeping(answer, asked) or has_cue("for_good", asked)
    answer = answer if is_told and not has_cue("muddled", answer) else ""
    corrected = list(reader.corrections(reader.text))
    found |= {fact_key(fact): fact for fact in corrected}
    quoted: list[QuotedClause] = []
    for said in clauses(text, before):
        for fact in reader.relatives_in_passing(said):
            found.setdefault(fact_key(fact), fact)
        facts = list(_facts_of_clause(said, antecedents, reader)) if said.text and not said.fragment else []
        slots = [fact for fact in facts if fact.attribute or fact.kind != "episodic"]
        covered = [each.quote for each in corrected if not (each.attribute and has_cue("told_wrong", each.quote))]
        covered += [each.value for each in (*found.values(), *slots) if each.attribute == "manner"]
        meant = next((unquoted_words(fact.text) for fact in facts if fact not in slots), "")
        quoted.append(
            QuotedClause(
                said=said,
                worth=reader.worth(said),
                told=(bool(facts) and len(slots) == len(facts)) or any(said.text in each for each in covered),
                meant=meant if meant != said.text else "",
            )
        )
        for fact in slots:
            found.setdefault(fact_key(fact), fact)
            if anyone and NAMED.fullmatch(fact.subject):
                reader.names[fact.subject] = fact.subject
    parts = list(quotations(quoted, answer))
    rest = [each.said for each in quoted if each.said.text and not (each.told or each.said.asks)]
    for _, group in groupby(rest, lambda said: said.sentence):
        # A sentence without information of its own may still end a memory.
        words = joined(list(group))
        if may_end_something(words) and not any(words in part for part, _ in parts):
            fact = replace(reader.quote(words, language_of_sentence(words)), against=True)
            found.setdefault(fact_key(fact), fact)
    for words, language in parts:
        is_answer = bool(answer) and words.startswith(answer)
        fact = reader.quote(words, language, asked if is_answer else "")
        found.setdefault(fact_key(fact), fact)
        answer = "" if is_answer else answer
    if answer and not any(
        fact.answers or fact.quote == answer or (fact.quote in answer and not starts_with_yes_or_no(answer))
        for fact in found.values()
    ):
        fact = reader.quote(answer, language_of_sentence(f"{asked} {answer}"), asked)
        found = {fact_key(fact): fact, **found}
    return list(found.values())[:MOST]


def corrected_facts(text: str, speaker: str, at: datetime | None, known: Sequence[Record]) -> list[SaidFact]:
    """The values of `known` memories that a text puts right: "Not Hull, it's Hove"."""
    reader = ClauseReader(speaker, at, {})
    reader.known = [each for each in known if each.holds]
    return [each for each in reader.corrections(text) if each.attribute]


def _facts_of_clause(said: Statement, antecedents: Antecedents, reader: ClauseReader) -> Iterator[SaidFact]:
    """The facts of a clause, with a name in place of its pronoun if only one person can be meant."""
    statement = antecedents.resolve(said, reader.names)
    spoken = replace(statement, text=standardise(statement.text))
    for fact in reader.facts(spoken):
        fact = with_original_words(fact, spoken.text, statement.text, said)
        yield replace(fact, quote=said.text) if said is not statement and fact.quote == statement.text else fact


def single_fact(text: str, speaker: str = "") -> SaidFact | None:
    """The only slot that a text to be remembered fills; anybody whom it names is accepted as its subject.

    "I" and "my" are `speaker`, and are only read if that is given.
    """
    found = extract_facts(text, speaker=speaker, at=None, anyone=True)
    slots = [fact for fact in found if fact.attribute and fact.attribute != "manner"]
    told = [fact for fact in slots if not fact.against]
    if len(told) == 1 and all((each.subject, each.attribute) == (told[0].subject, told[0].attribute) for each in slots):
        # Somebody who quits one job for another has the other.
        slots = told
    return slots[0] if len(slots) == 1 and (slots[0].subject != "user" or speaker) else None
