"""Judge whether a sentence binds what is done later, how much, and whether beyond the task at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ireneo.language.files import either, from_data, topic
from ireneo.language.topics import Constraints, OwnWords
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import OwnSentence

STANDING = 4.0
"""It says that it holds from now on, or everywhere."""
STRONG = 3.0
MEDIUM = 2.0
MILD = 1.5
SHORT_WORDS = 10
"""How to do something is a rule in at most this many words; in more it is part of a task."""
OPENING = 6
"""A sentence refers to what was named before it within its first words only."""
FRAGMENT = 2
"""Sentences of so few words mean nothing without the one before."""
MAX_CHARACTERS = 320
"""Longer sentences are pinned by the clause that binds."""
LONGEST = 2_000
"""Characters of a sentence that are looked at."""
QUOTED = lazy_re(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“\n]{1,400}“|`[^`\n]{1,400}`")
_SIGNS = r"[;:—–(]\s*|(?<!\s)\s+-\s+"


@from_data
def _words() -> Constraints:
    return topic(Constraints)


def _anywhere(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"\b{either(rows())}\b", re.I)


def _begins(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"{either(rows())}", re.I)


_LEAD = lazy_re(lambda: rf"(?:{either(_words().lead)}\b[\s,.!:*_—–-]*)+", re.I)
_TURN = lazy_re(lambda: rf"(?:(?<!\s)\s++)?{_SIGNS}|,?(?<!\s)\s+{either(_words().turns)}\s+", re.I)
_CLAUSE = lazy_re(lambda: rf",\s+|(?<!\s)\s+{either(_words().conjunctions)}\s+", re.I)
_ASKS = _begins(lambda: _words().asks)
_ASKS_NOT = _begins(lambda: _words().asks_not)
_HEDGES = _begins(lambda: _words().hedges)
_STRESSED = lazy_re(lambda: rf"\b{either(_words().stressed)}\b")
SCOPE = _anywhere(lambda: _words().scope)
_WIDE = _anywhere(lambda: _words().wide)
_NEVER = _begins(lambda: _words().never)
_FORBID = _begins(lambda: _words().forbid)
_KEEP = _begins(lambda: _words().keep)
_USE = _begins(lambda: _words().use)
_BOUND = _anywhere(lambda: _words().bound)
_MUST = _anywhere(lambda: _words().must)
_SHOULD = _anywhere(lambda: _words().should)
_FIRM = _anywhere(lambda: _words().firm)
_GUESS = _anywhere(lambda: _words().guess)
_ONCE = _anywhere(lambda: _words().once)
_NOTHING = _begins(lambda: _words().nothing)
_SCENES = _anywhere(lambda: _words().scenes)
_SUBJECT = _anywhere(lambda: _words().subject)
_TELLS = _anywhere(lambda: _words().tells)
_ORDERS = _begins(lambda: _words().orders)
_LIMITS = _anywhere(lambda: _words().limits)
_PERSON = lazy_re(lambda: rf"\s*{either(topic(OwnWords).persons)}\b", re.I)
_POINTS_BACK = _anywhere(lambda: _words().points_back)
AROUND = "\"'”“’)]*_"
"""May follow the mark that ends a sentence."""


def binding_strength(said: OwnSentence, *, system: bool = False) -> float:
    """How binding a sentence is; 0 for not at all."""
    sentence = QUOTED.sub("X", said.text[:LONGEST])
    leads_nowhere = sentence.endswith(":") and said.with_list == said.text
    if said.personal and _ASKS_NOT.match(_bare(sentence)):
        # "Can we not commit the drafts?" is no question.
        return MEDIUM
    if _HEDGES.match(_bare(sentence)):
        return 0.0
    if sentence.rstrip(AROUND).endswith("?") or len(sentence) < 6 or leads_nowhere:
        return 0.0
    if _SCENES.search(sentence) and not SCOPE.search(sentence):
        return 0.0
    base = MEDIUM if _NOTHING.match(_bare(sentence)) else 0.0
    told = False
    for thought in _TURN.split(sentence):
        base = max(base, _of_thought(thought, said, told=told))
        told = told or _has_subject(thought)
    if system:
        base = max(base, _of_system(sentence))
    if said.step and base < STRONG:
        base = 0.0
    if base and _WIDE.search(sentence):
        base = STANDING
    if (
        said.personal
        and SCOPE.search(sentence)
        and not (said.step or _TELLS.search(sentence) or _ASKS.match(_bare(sentence)))
    ):
        # What states its scope is a rule, even without a known verb.
        base = STANDING if base else MEDIUM
    return base


def _of_thought(thought: str, said: OwnSentence, *, told: bool) -> float:
    """How binding one thought of a sentence is; questions bind nothing.

    Behind a subject (`told`), words that could order or forbid something say what the subject does.
    """
    bare = _bare(thought)
    if _ASKS.match(bare):
        return 0.0
    free = not told or _PERSON.match(thought)
    base = max(map(_of_clause, (thought.strip(), bare))) if free else 0.0
    for number, clause in enumerate(_CLAUSE.split(thought)):
        if number and (said.personal or _NEVER.match(_bare(clause))):
            base = max(base, 0.0 if told and not _PERSON.match(clause) else _of_clause(_bare(clause)))
        told = told or _has_subject(clause)
    if not said.personal:
        return base
    if _BOUND.search(thought) or (_STRESSED.search(thought) and not thought.isupper()):
        return max(base, STRONG)
    if _ONCE.search(thought) or _GUESS.search(thought):
        return base
    if _MUST.search(thought):
        return max(base, MEDIUM)
    ought = _SHOULD.search(thought) and _FIRM.search(thought) and not _TELLS.search(thought)
    return max(base, MILD) if ought else base


def _has_subject(words: str) -> bool:
    """Whether words have a subject outside of a condition."""
    first = _bare(words).partition(" ")[0].lower()
    return first not in _words().conditions and bool(_SUBJECT.search(words))


def _bare(clause: str) -> str:
    found = _LEAD.match(clause.strip())
    return clause.strip()[found.end() :] if found else clause.strip()


def _of_clause(clause: str) -> float:
    if _NEVER.match(clause):
        return STRONG
    if _ONCE.search(clause):
        return 0.0
    if _FORBID.match(clause) or _KEEP.match(clause):
        return MEDIUM
    return MILD if _USE.match(clause) and (_FIRM.search(clause) or len(clause.split()) <= SHORT_WORDS) else 0.0


def _of_system(sentence: str) -> float:
    """What a system prompt says for good: how the assistant works, and what is allowed."""
    if _BOUND.search(sentence):
        return STRONG
    if _LIMITS.search(sentence):
        return MEDIUM
    clauses = [clause for thought in _TURN.split(sentence) for clause in (thought.strip(), *_CLAUSE.split(thought))]
    # "You are …" describes the assistant.
    orders = (_ORDERS.match(_bare(clause)) and not _PERSON.match(clause) for clause in clauses)
    return MILD if any(orders) else 0.0


def in_context(said: OwnSentence) -> str:
    """A sentence with the list that it leads to, or with the sentence before where it points back."""
    if said.with_list != said.text:
        return _cut(said.with_list)
    if len(said.text) > MAX_CHARACTERS:
        return _binding_clause(said.text)
    return said.with_before if points_back(said) and len(said.with_before) <= 2 * MAX_CHARACTERS else said.text


def points_back(said: OwnSentence) -> bool:
    """Whether a sentence refers to what was named before it."""
    words = said.text.split()
    opening = words[: OPENING if said.near else OPENING // 2]
    return len(words) <= FRAGMENT or _POINTS_BACK.search(_bare(" ".join(opening))) is not None


def _binding_clause(sentence: str) -> str:
    """The part of a long sentence that binds, verbatim."""
    place = 0
    for found in [*sorted([*_CLAUSE.finditer(sentence), *_TURN.finditer(sentence)], key=lambda each: each.end()), None]:
        if _of_clause(_bare(sentence[place:])):
            return _cut(sentence[place:])
        if found is not None:
            place = found.end()
    bound = _BOUND.search(sentence) or SCOPE.search(sentence) or _MUST.search(sentence) or _SHOULD.search(sentence)
    start = max(bound.start() - MAX_CHARACTERS // 2, 0) if bound else 0
    return _cut(sentence[sentence.rfind(" ", 0, start) + 1 :])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: text.rfind(" ", 0, MAX_CHARACTERS + 1)]
