"""Judge whether a sentence binds later work, how strongly, and whether beyond the current task; and pin those that do.

Pins are the constraints in the own words of users and the system, except those lifted since.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import any_of, topic
from ireneo.language.topics import Constraints, Forms, OwnWords, Rulings
from ireneo.language.words import common_words, language_of_sentence, light_stem
from ireneo.log.message import PINS_TAG, Message, MessageId, Text, without_recalled
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import (
    OwnSentence,
    choice_pattern,
    has_roleplay,
    item_pattern,
    out_of_character,
    own_words,
    user_words_in_result,
)
from ireneo.summaries.summary import Line, Summary, ThreadKind

_SAYS = topic(Constraints)
_FORMS = topic(Forms)
_OWN_WORDS = topic(OwnWords)
_RULINGS = topic(Rulings)

STANDING = 4.0
"""It says that it applies from now on, or everywhere."""
STRONG = 3.0
MEDIUM = 2.0
MILD = 1.5
TEMPLATE = 200
"""A user's text of more words is a template or a plan: it was written for a task, and not typed for this session."""
SHORT_WORDS = 10
"""How to do something is a rule in at most this many words; in more it is part of a task."""
OPENING = 6
"""Within how many first words a sentence may refer to something named before."""
FRAGMENT = 2
"""Sentences with at most this many words mean nothing without the one before."""
MAX_CHARACTERS = 320
"""In longer sentences only the clause that binds is pinned."""
LONGEST = 2_000
"""How many characters of a sentence are read."""
QUOTED = lazy_re(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“\n]{1,400}“|`[^`\n]{1,400}`")
_SIGNS = r"[;:—–(]\s*|(?<!\s)\s+-\s+"


_LEAD = lazy_re(lambda: rf"(?:{any_of(_SAYS.lead)}\b[\s,.!:*_—–-]*)+", re.I)
_TURN = lazy_re(lambda: rf"(?:(?<!\s)\s++)?{_SIGNS}|,?(?<!\s)\s+{any_of(_SAYS.turns)}\s+", re.I)
_CLAUSE = lazy_re(lambda: rf",\s+|(?<!\s)\s+{any_of(_SAYS.conjunctions)}\s+", re.I)
AROUND = "\"'”“’)]*_"
"""May follow the punctuation mark that ends a sentence."""
_PARTS = lazy_re(
    lambda: (
        rf"(?:[,;:(–—!]|(?<!\s)\s-\s|\.{{2,}})\s*(?:(?P<joins>{any_of(_FORMS.joins)})\s)?"
        rf"|(?<!\s)\s+(?:(?P<joint>{any_of(_FORMS.joins)})|{any_of(_FORMS.splits)})\s+"
    ),
    re.I,
)
_FIRST = lazy_re(r"(?P<act>[^\W\d_][\w-]*)\s+(?=\S)")
_STAGED = lazy_re(lambda: rf"\b{any_of(_FORMS.staged)}\b", re.I)
_MATTERS = lazy_re(lambda: rf"\b{any_of(_FORMS.matters)}\b", re.I)


class Judgement(Struct, frozen=True):
    """How strongly a sentence binds later work, and for how long."""

    strength: float = 0.0
    """0 for not at all."""
    lasts: bool = False
    """Whether it applies beyond the current task."""


NONE = Judgement()


def judge(said: OwnSentence, *, system: bool = False) -> Judgement:
    """Judge a sentence by words that bind and by its form.

    A system's is judged only by its words, since all of it is orders; so is an item of a list of tasks.
    """
    strength = binding_strength(said, system=system)
    form = _judge_text_form(said.text) if said.personal and not (said.step or system) else NONE
    return Judgement(max(strength, form.strength), form.lasts)


def _judge_text_form(text: str) -> Judgement:
    """Judge a text by its form: a choice, something not needed, a correction, a practice, what matters, or none."""
    sentence = QUOTED.sub("X", text[:LONGEST])
    bare = _without_lead(sentence)
    if len(sentence) < 6 or sentence.endswith(":") or _SAYS.hedges.match(bare) or _SAYS.limited.search(sentence):
        return NONE
    sentence = _RULINGS.tags.sub(".", sentence)
    if sentence.rstrip(AROUND).endswith("?"):
        parts = list(_clauses(sentence))
        if any(_FORMS.corrects.match(clause) for clause, _, _ in parts):
            return Judgement(STRONG, True)
        chosen = any(
            _FORMS.decides.match(clause) or _FORMS.decides.match(_without_lead(clause)) for clause, _, _ in parts[:-1]
        )
        return Judgement(MEDIUM * (_keeps_or_recalls(bare) or chosen))
    if _keeps_or_recalls(bare):
        return Judgement(MEDIUM)
    found = NONE
    in_case = False
    for clause, rest, shared in _clauses(sentence):
        judged = _judge_clause_form(clause, rest, shared=shared, in_case=in_case)
        found = max(found, judged, key=lambda one: (one.lasts, one.strength))
        in_case = in_case or clause.partition(" ")[0].lower() in _SAYS.conditions
    if any(each.search(sentence) for each in (_STAGED, _MATTERS)):
        return Judgement(STRONG, True)
    if _FORMS.upkeep.match(bare):
        return Judgement(STRONG, True)
    if _FORMS.kinds.match(bare) and not _FORMS.tells.search(sentence):
        # Pasted rules of others and messages of programs have this form too.
        return Judgement(MEDIUM)
    if found.strength == 0 and _FORMS.owns.search(sentence) and not _FORMS.tells.search(sentence):
        return Judgement(STRONG)
    return found


def _keeps_or_recalls(bare: str) -> bool:
    return bool(_FORMS.keeps_to.match(bare) or _FORMS.recalls.match(bare))


def _clauses(sentence: str) -> Iterator[tuple[str, str, bool]]:
    """The clauses of a sentence, each also with the next one; and whether it may have the subject of an earlier one."""
    place, told, shared = 0, False, False
    marks = list(_PARTS.finditer(sentence))
    for mark in [*marks, None]:
        clause = sentence[place : mark.start() if mark else None]
        if clause.strip():
            following = [each.start() for each in marks if each.start() > place][1:2]
            both = sentence[place : following[0] if following else None]
            yield _without_fillers(clause), _without_fillers(both), told and shared
            told = told or _has_subject(clause)
        if mark is not None:
            place, shared = mark.end(), bool(mark["joins"] or mark["joint"])


def _judge_clause_form(clause: str, rest: str, *, shared: bool, in_case: bool) -> Judgement:
    """Judge one clause by its form; `rest` includes the next clause.

    A clause that may have the subject of an earlier one (`shared`) is not an order.
    """
    bare, full = _without_lead(clause), _without_lead(rest)
    if _FORMS.corrects.match(bare) or _FORMS.corrects.match(clause) or _FORMS.runs_itself.match(full):
        return Judgement(STRONG, True)
    shared = shared and not _OWN_WORDS.persons.match(bare)
    if _FORMS.itself.match(full) or _FORMS.reminds.match(rest) or _FORMS.reminds.match(full):
        return Judgement(STRONG)
    if _SAYS.asks.match(bare):
        return NONE
    if _applies_later(full):
        return Judgement(STANDING, True)
    if not in_case and (_FORMS.likes.match(full) or _FORMS.likes.match(rest) or _FORMS.practice.match(bare)):
        return Judgement(MEDIUM, True)
    if not shared and (_FORMS.decides.match(clause) or _FORMS.decides.match(bare) or _FORMS.shares.match(clause)):
        return Judgement(MEDIUM)
    if not shared and not in_case and _FORMS.narrows.match(full) and is_order(bare):
        return Judgement(MEDIUM)
    return NONE


def _applies_later(words: str) -> bool:
    """Whether an order says that it also applies to later work."""
    found = _FORMS.reaches.match(words)
    order = _without_lead(words[found.end() :]) if found else words if _FORMS.for_good.search(words) else ""
    return bool(order) and bool(is_order(order) or _SAYS.forbid.match(order) or _SAYS.never.match(order))


def is_order(clause: str) -> bool:
    """Whether a clause begins with a verb, and not with a noun that is spelled like one."""
    found = _FIRST.match(clause)
    return found is not None and found["act"].lower() in _FORMS.acts and not _FORMS.finite.match(clause, found.end())


def binding_strength(said: OwnSentence, *, system: bool = False) -> float:
    """How strongly the words of a sentence bind; 0 for not at all."""
    # "Don't push, ok?" asks nothing.
    sentence = _SAYS.consents.sub(".", QUOTED.sub("X", said.text[:LONGEST]))
    plain = _RULINGS.tags.sub(".", sentence)
    if plain != sentence and _RULINGS.negates.search(plain):
        # "We don't want that, right?" only asks whether it was understood.
        forbids = any(_SAYS.forbid.match(_without_lead(clause)) for clause in _CLAUSE.split(plain))
        sentence = plain if forbids else sentence
    leads_nowhere = sentence.endswith(":") and said.with_list == said.text
    if said.personal and _SAYS.asks_not.match(_without_lead(sentence)):
        # "Can we not commit the drafts?" is not a question.
        return MEDIUM
    if _SAYS.hedges.match(_without_lead(sentence)) or _SAYS.limited.search(sentence):
        return 0.0
    if sentence.rstrip(AROUND).endswith("?") or len(sentence) < 6 or leads_nowhere:
        return 0.0
    if (_SAYS.scenes.search(sentence) or (said.personal and _SAYS.mends.search(sentence))) and not _SAYS.scope.search(
        sentence
    ):
        return 0.0
    opening, comma, rest = sentence.rpartition(", ")
    bare_ban = said.personal and comma and not _has_subject(opening) and _SAYS.nothing.match(rest)
    banned = bare_ban or (_SAYS.nothing.match(_without_lead(sentence)) and not _SAYS.plans.match(sentence))
    base = MEDIUM if banned else 0.0
    told = False
    at_hand = said.personal and _SAYS.changes.match(_without_lead(sentence)) and not _SAYS.wide.search(sentence)
    for thought in _TURN.split(sentence):
        found = _thought_strength(thought, said, told=told)
        # "Sort the rows, and make sure that …" is over once the rows are sorted.
        base = max(base, 0.0 if at_hand and found < STRONG else found)
        told, at_hand = told or _has_subject(thought), False
    if system:
        base = max(base, _system_strength(sentence))
    if said.step and base < STRONG:
        base = 0.0
    if base and _SAYS.wide.search(sentence):
        base = STANDING
    if (
        said.personal
        and _SAYS.scope.search(sentence)
        and not (
            said.step
            or _SAYS.tells.search(sentence)
            or _FORMS.tells.search(sentence)
            or _SAYS.asks.match(_without_lead(sentence))
        )
    ):
        # A sentence that states its scope is a rule, even without a known verb.
        base = STANDING if base else MEDIUM
    return base


def _thought_strength(thought: str, said: OwnSentence, *, told: bool) -> float:
    """How strongly one thought of a sentence binds; a question doesn't bind.

    After a subject (`told`), words that could order or forbid something only describe the subject.
    """
    bare = _without_lead(thought)
    if _SAYS.asks.match(bare):
        return 0.0
    free = not told or _OWN_WORDS.persons.match(thought)
    first = _without_lead(_CLAUSE.split(thought, maxsplit=1)[0])
    base = max(map(_clause_strength, (thought.strip(), bare, first))) if free else 0.0
    # "I don't eat meat any more, only fish" describes a habit, so the rest is not a rule either.
    habit = base == 0 and _OWN_WORDS.persons.match(thought) and _RULINGS.negates.search(_CLAUSE.split(thought)[0])
    for number, clause in enumerate(_CLAUSE.split(thought)):
        if habit and _is_remainder(clause):
            continue
        if number and (said.personal or _SAYS.never.match(_without_lead(clause))):
            base = max(
                base,
                0.0
                if told and not (_OWN_WORDS.persons.match(clause) or (said.personal and _SAYS.forbid.match(clause)))
                else _clause_strength(_without_lead(clause)),
            )
        told = told or _has_subject(clause)
    if not said.personal:
        return base
    if _SAYS.bound.search(thought) or (_SAYS.stressed.search(thought) and not thought.isupper()):
        return max(base, STRONG)
    if _SAYS.once.search(thought) or _SAYS.guess.search(thought):
        return base
    if _SAYS.must.search(thought):
        return max(base, MEDIUM)
    ruled = _without_condition(thought)
    ought = _SAYS.should.search(ruled) and _SAYS.firm.search(ruled) and not _SAYS.tells.search(ruled)
    return max(base, MILD) if ought else base


def _is_remainder(clause: str) -> bool:
    """Whether a clause only says what remains of something denied before, and orders nothing."""
    found = _SAYS.rests.match(clause)
    return found is not None and not is_order(clause[found.end() :].strip())


def _without_condition(thought: str) -> str:
    """A thought without the condition at its beginning, since firm words there are no rule."""
    opening, comma, rest = thought.partition(",")
    return rest if comma and _without_lead(opening).partition(" ")[0].lower() in _SAYS.conditions else thought


def _has_subject(words: str) -> bool:
    """Whether words have a subject outside of a condition."""
    first = _without_lead(words).partition(" ")[0].lower()
    return first not in _SAYS.conditions and bool(_SAYS.subject.search(words))


def _without_fillers(clause: str) -> str:
    found = _FORMS.fillers.match(clause.strip())
    return clause.strip()[found.end() :] if found else clause.strip()


def _without_lead(clause: str) -> str:
    found = _LEAD.match(clause.strip())
    return clause.strip()[found.end() :] if found else clause.strip()


def _clause_strength(clause: str) -> float:
    if _SAYS.never.match(clause):
        return STRONG
    if _SAYS.once.search(clause):
        return 0.0
    if _SAYS.forbid.match(clause) or _SAYS.keep.match(clause):
        return MEDIUM
    return (
        MILD if _SAYS.use.match(clause) and (_SAYS.firm.search(clause) or len(clause.split()) <= SHORT_WORDS) else 0.0
    )


def _system_strength(sentence: str) -> float:
    """The permanent rules of a system prompt: how the assistant works, and what is allowed."""
    if _SAYS.bound.search(sentence):
        return STRONG
    if _SAYS.limits.search(sentence):
        return MEDIUM
    clauses = [clause for thought in _TURN.split(sentence) for clause in (thought.strip(), *_CLAUSE.split(thought))]
    # "You are …" describes the assistant.
    orders = (_SAYS.orders.match(_without_lead(clause)) and not _OWN_WORDS.persons.match(clause) for clause in clauses)
    return MILD if any(orders) else 0.0


def in_context(said: OwnSentence) -> str:
    """A sentence with the list that it introduces, or with the sentence before it if it refers back."""
    if said.with_list != said.text:
        return _truncate(said.with_list)
    if len(said.text) > MAX_CHARACTERS:
        return _find_binding_clause(said.text)
    return said.with_before if refers_back(said) and len(said.with_before) <= 2 * MAX_CHARACTERS else said.text


def refers_back(said: OwnSentence) -> bool:
    """Whether a sentence refers to something named before it."""
    return len(said.text.split()) <= FRAGMENT or _points_back(said)


def _points_back(said: OwnSentence) -> bool:
    opening = said.text.split()[: OPENING if said.near else OPENING // 2]
    return _SAYS.points_back.search(_without_lead(" ".join(opening))) is not None


def _find_binding_clause(sentence: str) -> str:
    """The part of a long sentence that binds, verbatim."""
    place = 0
    for found in [*sorted([*_CLAUSE.finditer(sentence), *_TURN.finditer(sentence)], key=lambda each: each.end()), None]:
        if _clause_strength(_without_lead(sentence[place:])):
            return _truncate(sentence[place:])
        if found is not None:
            place = found.end()
    binds = (_SAYS.bound, _SAYS.scope, _SAYS.must, _SAYS.should)
    bound = next((found for cue in binds if (found := cue.search(sentence))), None)
    start = max(bound.start() - MAX_CHARACTERS // 2, 0) if bound else 0
    return _truncate(sentence[sentence.rfind(" ", 0, start) + 1 :])


def _truncate(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: text.rfind(" ", 0, MAX_CHARACTERS + 1)]


BY_HAND = 5.0
LIFTED = f"{PINS_TAG} Lifted, and holds no longer:"
"""The heading of what was released by hand."""
KNOWN_TEXTS = 2_048
"""How many texts have their pins and lifts cached."""
ALIKE = 5
COPIED = 6
"""A pin that ends with an earlier one, which has at least this many words, is a copy of it."""
MAX_PINS = 160
"""The maximum number of pins of one record, the strongest: some 3,000 tokens."""

_THREADS = tuple(f"{kind}{sign}" for kind in get_args(ThreadKind) for sign in (" · ", ": "))
_WORD = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


def find_pins(message: Message, *, in_story: bool = False) -> list[Line]:
    """The standing constraints in a message, as lines whose `weight` is their strength.

    The user's words in tool results (refusals, answers) count. A story's lines bind nobody, except what is said out of
    character; what is said during a story (`in_story`) only if it is meant to last.
    """
    draft = message.draft
    if draft.text.startswith(PINS_TAG):
        told = () if draft.text.startswith(LIFTED) else _pins_in_block(draft.text)
        return [_make_line(message, text, BY_HAND) for text in told]
    pins: dict[str, float] = {}
    for said, least in _constraint_sources(message, in_story=in_story):
        pins.update(each for each in _binding_sentences(said, system=message.role == "system") if each[1] >= least)
    for result in draft.results:
        for said, answers in user_words_in_result(result):
            pins.update(_settling_answers(said) if answers else _binding_sentences(said, system=False))
    return [_make_line(message, text, strength) for text, strength in pins.items()]


def find_lifts(message: Message, *, in_story: bool = False) -> list[Line]:
    """The sentences that may lift a constraint; `standing` decides which do."""
    if message.role == "system":
        return []
    if message.draft.text.startswith(LIFTED):
        return [_make_line(message, text, BY_HAND) for text in _pins_in_block(message.draft.text)]
    spoken = [said for said, _ in _constraint_sources(message, in_story=in_story)]
    said = [*spoken, *(said for result in message.draft.results for said, _ in user_words_in_result(result))]
    return [_make_line(message, sentence, 1.0) for text in said for sentence in lifting_sentences(text)]


def _constraint_sources(message: Message, *, in_story: bool) -> list[tuple[str, float]]:
    """The words of the user or system in a message outside of a story, and the least strength of a pin."""
    text = message.draft.text
    if message.role not in ("user", "system") or message.draft.origin != "spoken":
        return []
    authored = any(isinstance(part, Text) and part.author for part in message.parts)
    if message.role == "system" or not (authored or in_story):
        return [] if authored else [(text, 0.0)]
    aside = [(said, 0.0) for said in out_of_character(text)]
    return aside if aside or authored or has_roleplay(text) else [(text, STANDING)]


def directs(text: str) -> bool:
    """Whether a text says what to do or how something must be, and is not only a question or a remark."""
    for said in own_words(without_recalled(text)):
        bare = _without_lead(said.text)
        if judge(said).strength or _SAYS.should.search(said.text) or _RULINGS.negates.search(bare.partition(" ")[0]):
            return True
        if any(is_order(_without_lead(clause)) for clause, _, _ in _clauses(said.text)):
            return True
    return False


# Every rebuild examines the same verbatim requests.
@lru_cache(maxsize=KNOWN_TEXTS)
def _binding_sentences(text: str, *, system: bool) -> tuple[tuple[str, float], ...]:
    """The constraints in a text with their strengths."""
    out: dict[str, float] = {}
    own = list(own_words(without_recalled(text), all_own=system))
    # How to do something is a rule in a message, and a part of the task in a template or a plan.
    least = MEDIUM if not system and len(text.split(None, TEMPLATE)) > TEMPLATE else MILD
    strengths = [strength if (strength := judge(said, system=system).strength) >= least else 0.0 for said in own]
    for place, (said, strength) in enumerate(zip(own, strengths, strict=True)):
        if strength and (system or not (_is_unclear(said, strength) or _SAYS.frees.search(said.text))):
            behind = own[place + 1] if place + 1 < len(own) and not strengths[place + 1] else None
            behind = None if behind and _SAYS.limited.search(behind.text) else behind
            out.setdefault(_with_continuation(said, behind), strength)
    # A sentence that is part of the next one's context is dropped.
    texts = list(out)
    within = {text for text, following in pairwise(texts) if text in following}
    return tuple((text, strength) for text, strength in out.items() if text not in within)


def _is_unclear(said: OwnSentence, strength: float) -> bool:
    """Whether a sentence means nothing without what the agent said before it; a ban at least warns."""
    names = _RULINGS.negates.search(said.text) or QUOTED.search(said.text)
    if names or not said.with_before == said.text == said.with_list or strength >= STRONG or not _points_back(said):
        return _is_numbered_choice(said.text)
    # "Make it faster, but keep the API stable": what binds says itself what it is about.
    bare = map(_without_lead, _CLAUSE.split(said.text))
    return not any(_clause_strength(clause) and not _SAYS.points_back.search(clause) for clause in bare)


def _is_numbered_choice(text: str) -> bool:
    """Whether a sentence only chooses by number, without an order or ban: it means nothing without the offer.

    So does what is ordered for an item by its number.
    """
    chosen = choice_pattern().match(text)
    if chosen is None:
        named = item_pattern().match(_without_lead(text))
        return named is not None and is_order(_without_lead(text)[named.end() :])
    rest = text[chosen.end() :].strip(" ,;.!?+&–-")
    bare = rest.split(" ", 1)[-1] if rest.partition(" ")[0].lower() in _OWN_WORDS.chosen else rest
    return not (_RULINGS.negates.search(rest) or is_order(rest) or is_order(bare))


def _with_continuation(said: OwnSentence, behind: OwnSentence | None) -> str:
    """A sentence that binds, in its context, with the next one if that continues it.

    A continuation is an exception ("And disable it when …"), a limit, a reason, or an alternative to something banned.
    """
    text = in_context(said)
    if behind is None or not (behind.near and text.endswith(said.text)):
        return text
    if behind.text.endswith("?") or len(text) + len(behind.text) > MAX_CHARACTERS:
        return text
    words = [word.lower() for word in _WORD.findall(behind.text)]
    excepts = not _SAYS.continues.isdisjoint(words[:1]) and not _SAYS.conditions.isdisjoint(words)
    turns = _RULINGS.negates.search(said.text) and _SAYS.turns_to.match(behind.text)
    goes_on = turns or _SAYS.goes_on.match(behind.text)
    return f"{text} {behind.text}" if excepts or goes_on else text


@lru_cache(maxsize=KNOWN_TEXTS)
def lifting_sentences(text: str, *, replaces: bool = True) -> tuple[str, ...]:
    """The sentences of a text that may lift something, or, with `replaces`, replace it."""
    return tuple(
        said.text
        for said in own_words(without_recalled(text))
        if len(said.text) <= MAX_CHARACTERS
        and (_frees(said.text) or _orders(said.text) if replaces else _SAYS.lift.search(said.text))
        and not said.text.rstrip(AROUND).endswith("?")
    )


def _frees(sentence: str) -> bool:
    return bool(_SAYS.lift.search(sentence) or _SAYS.replaces.search(sentence))


@lru_cache(maxsize=4_096)
def _orders(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The clauses that order something and forbid nothing; of those that let something go, what that is."""
    out = []
    for clause, _, _ in _clauses(sentence):
        bare = _without_lead(clause)
        gone = _RULINGS.removes.search(clause)
        if (gone or is_order(bare)) and not _RULINGS.negates.search(clause):
            out.append((clause[gone.end() :] if gone else bare, gone is not None))
    return tuple(out)


def _settling_answers(answer: str) -> tuple[tuple[str, float], ...]:
    """An answer with its question, if it settles how something must be, and not what to do next."""
    question, _, words = answer.partition('"="')
    if len(answer) > MAX_CHARACTERS or not words.strip(' "') or not _SAYS.choices.match(question.lstrip('"')):
        return ()
    return ((" ".join(answer.split()), STRONG),)


def split_pins_and_releases(annotations: Iterable[Annotation]) -> tuple[list[Line], list[Line]]:
    """The pins and releases among annotations, as lines; a release has the pin's id as its subject."""
    pins: list[Line] = []
    lifts: list[Line] = []
    for note in annotations:
        source = note.source or note.at
        sources = (source,) if source else ()
        line = Line(text=note.text, subject=note.about, position=note.at_position, sources=sources)
        if note.kind == "pin":
            weight = BY_HAND if note.by == "hand" else STRONG
            pins.append(Line(text=note.text, subject=note.id, weight=weight, position=line.position, sources=sources))
        elif note.kind == "release":
            lifts.append(replace(line, weight=BY_HAND))
    return pins, lifts


def valid_pins(pins: Iterable[Line], lifts: Sequence[Line]) -> list[Line]:
    """The pins that are still valid, in order, each once, at most `MAX_PINS`."""
    out: dict[str, Line] = {}
    lifting = _LiftMatcher(lifts)
    valued: dict[frozenset[str], str] = {}
    ends: dict[str, str] = {}
    for pin in sorted(pins, key=lambda line: line.position):
        words = pin.text.rstrip(".! ").split()
        end = ends.setdefault(" ".join(words[-COPIED:]), pin.text)
        if (
            len(words) > COPIED
            and not pin.subject
            and pin.text.rstrip(".! ").endswith(_without_lead(end).rstrip(".! "))
        ):
            # A pasted screen or log, or "I said that …", holds it once more: it stands and falls with the first.
            pin = replace(pin, text=end)
        if not lifting.lifts(pin):
            name = " ".join(pin.text.lower().split()).rstrip(".!")
            if setting := _setting(pin.text):
                before = out.get(valued.get(setting, ""))
                if before is not None and before.sources != pin.sources:
                    del out[valued[setting]]
                valued[setting] = name
            earlier = out.pop(name, None)
            out[name] = pin if earlier is None or pin.weight >= earlier.weight else earlier
    _absorb_parts(out)
    if len(out) > MAX_PINS:
        strongest = sorted(out.values(), key=lambda line: (-line.weight, -line.position))[:MAX_PINS]
        return sorted(strongest, key=lambda line: line.position)
    return list(out.values())


def _setting(text: str) -> frozenset[str]:
    """The words of a constraint that sets something to a figure; a later one with the same words sets it anew.

    Empty for any other constraint: a second ban does not replace the first.
    """
    bare = _without_lead(text)
    if not _FIGURE.search(text) or _SAYS.forbid.match(bare) or _SAYS.never.match(bare):
        return frozenset()
    said = {word.lower().rstrip(".") for word in _WORD.findall(bare) if not _FIGURE.search(word)}
    words = frozenset(word for word in said - common_words() - _SAYS.empty if len(word) > 1)
    return words if len(words) >= FEWEST_SET else frozenset()


FEWEST_SET = 2
_FIGURE = lazy_re(r"\d")


def _absorb_parts(pins: dict[str, Line]) -> None:
    """Drop pins that are part of a longer one of the same message, which gets their strength."""
    together: dict[tuple[MessageId, ...], list[str]] = {}
    for name, pin in pins.items():
        if pin.sources:
            together.setdefault(pin.sources, []).append(name)
    for names in filter(lambda each: len(each) > 1, together.values()):
        holding: dict[str, dict[str, None]] = {}
        for name in names:
            for word in name.split():
                holding.setdefault(word, {})[name] = None
        for name, pin in [(name, pins[name]) for name in names if not pins[name].subject]:
            # An inner word of a part is a whole word of the sentence; the rarest is in few sentences.
            within = min((holding[word] for word in name.split()[1:-1]), key=len, default=names)
            whole = next((each for each in within if each in pins and each != name and name in each), None)
            if whole is not None:
                del pins[name]
                pins[whole] = replace(pins[whole], weight=max(pins[whole].weight, pin.weight))


def with_later_orders(pins: Iterable[Line], lifts: Sequence[Line]) -> Iterator[Line]:
    """Pins, each with the later order against it, if there is one: which of them holds, its reader has to judge."""
    lifting = _LiftMatcher(lifts)
    for pin in pins:
        order = lifting.order_against(pin)
        yield replace(pin, text=f"{pin.text} (later: “{order}”)") if order else pin


class _LiftMatcher:
    """Finds the pins that a lift ends: by id, by their words, or by a common subject."""

    def __init__(self, lifts: Sequence[Line]) -> None:
        self._named = {lift.subject for lift in lifts if lift.subject}
        self._said: dict[str, int] = {}
        # A release by hand means one pin; similar ones remain.
        telling = (lift for lift in lifts if not lift.subject and lift.weight < BY_HAND)
        self._telling = sorted(telling, key=lambda lift: lift.position)
        # An order against a pin stands beside it.
        self._orders = [(lift, clause, gone) for lift in self._telling for clause, gone in _orders(lift.text)]
        self._orders_by_word: dict[tuple[bool, str], list[int]] = {}
        for number, (_, clause, gone) in enumerate(self._orders):
            for beginning in _beginnings(clause if gone else clause.partition(" ")[0]):
                self._orders_by_word.setdefault((gone, beginning), []).append(number)
        self._freeing = [lift for lift in self._telling if _frees(lift.text)]
        self._speak: dict[str, dict[str, list[tuple[int, frozenset[str], bool]]]] = {}
        for lift in lifts:
            if not lift.subject and lift.weight >= BY_HAND:
                self._said[lift.text] = max(self._said.get(lift.text, lift.position), lift.position)

    def lifts(self, pin: Line) -> bool:
        """Whether something said after `pin` lifts it."""
        said_at = self._said.get(pin.text)
        if pin.subject in self._named or (said_at is not None and said_at >= pin.position):
            return True
        if any(gone and words <= about for _, words, about, gone in self._later_orders(pin)):
            return True
        if not self._freeing:
            return False
        language = _language_of(pin.text)
        about, speak = _subject_words(pin.text, language), self._lifts_by_word(language)
        # Without a common word it can't lift the pin.
        return any(
            position > pin.position and (_matches_subject(said, about) or (points and said <= about))
            for word in about
            for position, said, points in speak.get(word, ())
        )

    def order_against(self, pin: Line) -> str:
        """The last later order to do what a pin forbids, or to let most of what it keeps go; empty for none."""
        said = [
            text
            for text, words, about, gone in self._later_orders(pin)
            if (2 * len(words & about) > len(words) if gone else _matches_subject(words, about))
        ]
        return said[-1] if said else ""

    def _later_orders(self, pin: Line) -> Iterator[tuple[str, frozenset[str], frozenset[str], bool]]:
        """Later orders that may go against a pin, with the words of both; and whether they let something go."""
        forbids = _RULINGS.negates.search(pin.text)
        texts = {
            False: pin.text[forbids.end() :] if forbids else "",
            True: pin.text if _keeps_something(pin.text) else "",
        }
        # Without a word alike, and for a ban its verb, they have no subject in common.
        alike = {
            number
            for gone, text in texts.items()
            for beginning in _beginnings(text)
            for number in self._orders_by_word.get((gone, beginning), ())
        }
        language = _language_of(pin.text) if alike else ""
        for number in sorted(alike):
            lift, clause, gone = self._orders[number]
            words = _subject_words(clause, language) if lift.position > pin.position else frozenset()
            if words:
                yield lift.text, words, _subject_words(texts[gone], language), gone

    def _lifts_by_word(self, language: str) -> dict[str, list[tuple[int, frozenset[str], bool]]]:
        """For each word, in the language of a pin, the lifts with it, and whether they only refer to what they lift."""
        if language not in self._speak:
            speak = self._speak[language] = {}
            for lift in self._freeing:
                said = _subject_words(lift.text, language)
                for word in said:
                    points = _SAYS.stops_it.search(lift.text) is not None
                    speak.setdefault(word, []).append((lift.position, said, points))
        return self._speak[language]


def _keeps_something(text: str) -> bool:
    """Whether a constraint wants something kept, or forbids to remove it."""
    return bool(_RULINGS.keeps.search(text) or (_RULINGS.negates.search(text) and _RULINGS.removes.search(text)))


@lru_cache(maxsize=4_096)
def _beginnings(text: str) -> frozenset[str]:
    """How the words of a text begin that are not common."""
    return frozenset(word.lower()[:ALIKE] for word in _WORD.findall(text) if word.lower() not in common_words())


def _matches_subject(said: frozenset[str], about: frozenset[str]) -> bool:
    """Whether the words of a lift name nearly all of a pin's subject and little else, or half of it and nothing else.

    "You may push to the other branch" lifts nothing.
    """
    shared = len(about & said)
    names_it = bool(about) and len(about) - shared <= (len(about) - 1) // 3 and 3 * shared >= len(said)
    return names_it or (shared >= 2 and said <= about and 2 * shared >= len(about))


# Every rebuild asks for the same pins.
_language_of = lru_cache(maxsize=4_096)(language_of_sentence)


@lru_cache(maxsize=4_096)
def _subject_words(text: str, language: str) -> frozenset[str]:
    said = {word.lower().rstrip(".") for word in _WORD.findall(_SAYS.scope.sub(" ", text))}
    empty = common_words() | _SAYS.empty
    return frozenset(light_stem(word, language) for word in said if word not in empty and len(word) > 1)


def _pins_in_block(text: str) -> list[str]:
    """The pins of a pin block in a list that was cut before."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    # Threads of a story bind nobody, and may be resolved by now.
    return [line.rsplit(" · m_", 1)[0] for line in lines if not line.startswith(_THREADS)]


def _make_line(message: Message, text: str, weight: float) -> Line:
    return Line(text=text, weight=weight, position=message.position, sources=(message.id,))


def constraints(items: Iterable[Summary | Message], *, in_story: bool = False) -> tuple[list[Line], list[Line]]:
    """The pins of a row, and the sentences that may lift them."""
    pins: list[Line] = []
    lifts: list[Line] = []
    for item in items:
        if isinstance(item, Summary):
            pins += item.lines("constraints")
            lifts += item.lines("lifted")
        else:
            pins += find_pins(item, in_story=in_story)
            lifts += find_lifts(item, in_story=in_story)
    return pins, lifts
