"""Parse English clauses into subject, verb and rest, and rewrite them from the first to the third person."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from ireneo.language.files import any_of, cached_data, of_language, topic
from ireneo.language.spoken import Attributes, Facts
from ireneo.language.topics import Grammar
from ireneo.language.words import past_forms, third_person, verb_inflections
from ireneo.patterns import lazy_re

_GRAMMAR = of_language(Grammar, "en")

Tense: TypeAlias = Literal["present", "past", "perfect", "progressive", "future", "used"]

_TOKEN = lazy_re(r"[^\W_]+(?:['’.&/-][^\W_]+)*['’]?|[^\w\s]|_")
_WORD = lazy_re(r"[^\W\d_]")
_LONGEST_NAME = 6
"""The maximum number of words of a subject."""


class Predicate(Struct, frozen=True, kw_only=True):
    """A parsed clause."""

    subject: str
    """Verbatim; empty if the subject is the speaker and left out."""
    start: int
    """Offset of the subject in the clause."""
    verb_start: int
    rest_start: int
    verb: str
    """The base form, with a modal or negation: "can ski", "do not like"."""
    rest: str
    tense: Tense
    negated: bool = False
    over: bool = False
    """Whether the clause says that something is no longer so."""

    @property
    def phrase(self) -> str:
        """The verb's base form and what follows it."""
        return f"{self.verb} {self.rest}".strip()


def split_at_and(clause: str, said: Predicate) -> tuple[str, str]:
    """Split a clause at an "and" that is followed by another verb; the second clause gets the same subject.

    The second is empty if there is no such "and".
    """
    if said.verb == "be":
        for found in _AND_STATE.finditer(clause, said.rest_start):
            # "I'm vegetarian and allergic to walnuts".
            return clause[: found.start()], f"{clause[said.start : said.rest_start].strip()} {clause[found.end() :]}"
    speaks = said.subject.casefold() in _GRAMMAR.speakers
    for found in _GRAMMAR.second_verb.finditer(clause, said.rest_start):
        kind = verb_forms().get(found["verb"].casefold(), ("", ""))[1]
        wanted = "past" if said.tense in ("past", "perfect") else "s"
        if kind == wanted or (kind == "base" and speaks and (wanted == "s" or found["now"])):
            return clause[: found.start()], f"{said.subject} {clause[found.start('verb') :]}"
    return clause, ""


class Token(Struct, frozen=True):
    """A word or punctuation mark with its offsets."""

    word: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The word in lower case, with a plain apostrophe."""
        return self.word.casefold().replace("’", "'")


def tokens(text: str) -> list[Token]:
    """Split a text into words and punctuation marks."""
    return [Token(found[0], found.start(), found.end()) for found in _TOKEN.finditer(text)]


_AND_STATE = lazy_re(
    lambda: (
        rf"(?:,? {any_of(topic(Grammar).conjunctions)}|,)(?: {any_of(topic(Grammar).asides)})? "
        rf"(?={any_of(sorted(_GRAMMAR.elided))}\b)"
    ),
    re.I,
)
_JOINED = lazy_re(
    lambda: rf"\s{any_of(topic(Grammar).conjunctions)}\s(?:{any_of(topic(Grammar).asides)}\s)?(?P<word>[a-z]+)\b"
)
_CONTRACTED = lazy_re(lambda: rf"{any_of(_GRAMMAR.endings)}$")
_SUBJECT_CONTRACTED = lazy_re(
    lambda: rf"{any_of(_GRAMMAR.pronouns)}{any_of(_GRAMMAR.endings)}|{any_of(_GRAMMAR.bare_subjects)}"
)
_SAYS = ("s", "past")


@cached_data
def verb_forms() -> dict[str, tuple[str, str]]:
    """Map every form of the known verbs to its base form and `base`, `s`, `past` or `ing`."""
    known = of_language(Facts, "en")
    forms: dict[str, tuple[str, str]] = {}
    for verb in sorted({*known.verbs, *known.idle, *past_forms().values()}):
        for form, kind in verb_inflections(verb).items():
            forms.setdefault(form, (verb, kind))
    # Irregular forms take precedence: "found" is the past of "find".
    return (
        forms
        | {form: (verb, "past") for form, verb in past_forms().items()}
        | {form: (verb, "past") for verb, past in _GRAMMAR.past.items() for form in past}
    )


def _is_adverb(word: str) -> bool:
    return word in of_language(Facts, "en").adverbs or (
        len(word) > 5 and word.endswith("ly") and word not in verb_forms() and word not in _GRAMMAR.no_adverbs
    )


def predicate(clause: str, names: frozenset[str] = frozenset()) -> Predicate | None:
    """Parse an English clause whose subject comes first, or is the speaker and left out; None otherwise."""
    words = tokens(clause)
    if not words:
        return None
    first = next((each.low for each in words if not _is_adverb(each.low)), "")
    # "Left" is also a side.
    if verb_forms().get(first, ("", ""))[1] == "past" and first != "left" and (said := _subjectless(clause, words)):
        return said
    at = _subject_at(words, names)
    if at is None:
        return _subjectless(clause, words)
    start, behind = at
    return _verb(clause, words, start, behind)


def before_next_verb(text: str) -> str:
    """Cut a text before a second verb of the same subject: "in Rome and works as a baker" → "in Rome"."""
    for found in _JOINED.finditer(text):
        if verb_forms().get(found["word"], ("", ""))[1] in _SAYS:
            return text[: found.start()]
    return text


def next_statement(text: str, subject: str) -> str:
    """Return the second statement of a sentence about one subject, with the subject in it; empty if there is none.

    "Eve doesn't live in Paris anymore, she lives in Nice now" → "Eve lives in Nice now".
    """
    for found in _GRAMMAR.next_statement.finditer(text):
        form = verb_forms().get(found["word"].lower(), ("", ""))[1]
        if subject and (form in _SAYS or (form == "base" and found["who"])):
            return f"{'I' if subject == 'user' else subject} {text[found.start('word') :]}"
    return ""


def _subject_at(words: list[Token], names: frozenset[str]) -> tuple[int, int] | None:
    """Return the indices of the words at which the subject begins and ends."""
    grammar = _GRAMMAR
    for at, word in enumerate(words[:9]):
        low = word.low
        if not at and (low in topic(Attributes).bare or low in _relatives()) and (end := _name_end(words, at)) == 1:
            return at, end
        if low in grammar.pronouns or _SUBJECT_CONTRACTED.fullmatch(low):
            return at, at + 1
        if low in grammar.determiners or word.word in names or word.word.removesuffix("'s").removesuffix("’s") in names:
            end = _name_end(words, at)
            if end:
                return at, end
        if at > 0 and word.word in ",;":
            continue
    return None


@cached_data
def _relatives() -> frozenset[str]:
    """Return the words for relatives, which need no article: "mum called"."""
    return frozenset(word for words in of_language(Facts, "en").relations.values() for word in words)


@cached_data
def _auxiliaries() -> frozenset[str]:
    known = _GRAMMAR
    return known.be | known.have | known.do | known.modals | {"used"}


def _name_end(words: list[Token], at: int) -> int:
    """Return the index after the last word of a subject that is a name or a thing; 0 if no verb follows it."""
    forms, grammar = verb_forms(), _GRAMMAR
    first = at + (2 if words[at].low in grammar.determiners else 1)
    end = first
    while end < min(len(words), at + _LONGEST_NAME + 2):
        low = words[end].low
        finite = forms.get(low)
        if low in _auxiliaries() or low.endswith("n't"):
            return end
        if finite and finite[1] in _SAYS and words[end - 1].low not in grammar.before_nouns:
            return end
        if _is_adverb(low) and end > at:
            return end
        if re.search(r"'s$", low) and end + 1 < len(words) and not _WORD.match(words[end + 1].word[:1]):
            return 0
        if not _WORD.match(words[end].word[:1]) and words[end].word not in ",&":
            return 0
        end += 1
    return 0


class _Group(Struct):
    """The auxiliaries and adverbs of a verb read so far."""

    aux: list[str]
    negated: bool = False
    over: bool = False


def _verb(clause: str, words: list[Token], start: int, behind: int) -> Predicate | None:
    """Parse the verb that follows the subject `words[start:behind]`."""
    group, grammar = _Group(aux=[]), _GRAMMAR
    queue, subject_end = _spelled_out(words, behind)
    first: Token | None = None
    for at, (each, word) in enumerate(queue):
        if each in grammar.negations:
            group.negated = True
        elif each == "no" and at + 1 < len(queue) and queue[at + 1][0] in grammar.after_no:
            group.over = True
        elif _is_adverb(each) or each == "," or (group.over and each in grammar.after_no):
            continue
        else:
            first = first or word
            following = next(
                (one for one, _ in queue[at + 1 :] if one not in grammar.negations and not _is_adverb(one)), ""
            )
            if not _is_aux(each, following):
                return _build_predicate(clause, words[start], subject_end, first, group, each, word)
            group.aux.append(each)
    if first is not None and not grammar.be.isdisjoint(group.aux):
        return _build_predicate(clause, words[start], subject_end, first, group, "", None, queue[-1][1].end)
    return None


def _spelled_out(words: list[Token], behind: int) -> tuple[list[tuple[str, Token]], int]:
    """Expand contractions after a subject ("I'm", "don't") into two words each; also return where the subject ends."""
    grammar, last = _GRAMMAR, words[behind - 1]
    queue: list[tuple[str, Token]] = []
    short, end = _CONTRACTED.search(last.low), last.end
    if last.low in grammar.bare_subjects:
        queue, end = [(grammar.contractions[last.low][0], last)], last.start + 1
    elif short and last.low.split("'")[0] in grammar.pronouns:
        queue, end = [(grammar.endings[short[0]][0], last)], last.start + short.start()
    for word in words[behind:]:
        each = word.low
        if each in grammar.contractions:
            queue += [(one, word) for one in grammar.contractions[each]]
        elif each.endswith("n't"):
            queue += [(each[:-3], word), ("not", word)]
        else:
            queue.append((each, word))
    return queue, end


def _is_aux(word: str, following: str) -> bool:
    grammar = _GRAMMAR
    kind = verb_forms().get(following, ("", ""))[1]
    if word in grammar.be:
        return True
    if word in grammar.have:
        return kind == "past" or following in grammar.after_have or following.endswith("ed")
    if word in grammar.do:
        return kind == "base" or following in grammar.after_do
    if word in grammar.before_to:
        return following == "to"
    if word in grammar.modals or word in grammar.conditional:
        return bool(following)
    return word == "to"


def _build_predicate(
    clause: str,
    subject: Token,
    subject_end: int,
    first: Token,
    group: _Group,
    word: str,
    token: Token | None,
    end: int = 0,
) -> Predicate | None:
    grammar, aux = _GRAMMAR, {*group.aux}
    if aux & grammar.conditional:
        return None
    lemma, kind = verb_forms().get(word, (_guess_lemma(word), "past" if word.endswith("ed") else "base"))
    tense = _tense(group.aux, kind)
    rest_start = token.end if token else end
    is_state = not token or (kind != "ing" and not aux & grammar.future and "used" not in aux)
    if aux & grammar.be and is_state:
        lemma, rest_start = "be", token.start if token else end
        tense = "past" if aux & grammar.be_past else "perfect" if "been" in aux else "present"
    return Predicate(
        subject=clause[subject.start : subject_end],
        start=subject.start,
        verb_start=first.start,
        rest_start=rest_start,
        verb=_with_modal(lemma, group),
        rest=clause[rest_start:].strip(),
        tense=tense,
        negated=group.negated,
        over=group.over or tense == "used" or (group.negated and bool(_GRAMMAR.no_longer.search(clause))),
    )


def _tense(auxiliaries: list[str], kind: str) -> Tense:
    grammar, aux = _GRAMMAR, {*auxiliaries}
    if "used" in aux:
        return "used"
    if aux & grammar.future:
        return "future"
    if aux & grammar.have and "to" not in aux:
        return "progressive" if "been" in aux and kind == "ing" else "perfect"
    if aux & grammar.be:
        return "past" if aux & grammar.be_past else "progressive"
    return "past" if kind == "past" or "did" in aux else "present"


def _with_modal(lemma: str, group: _Group) -> str:
    """Prefix a verb's base form with its modal and negation."""
    grammar, aux = _GRAMMAR, {*group.aux}
    if aux & grammar.able:
        return f"can {'not ' if group.negated or 'cannot' in aux else ''}{lemma}"
    if aux & grammar.obliged and "to" in aux:
        return f"have to {lemma}"
    if not group.negated:
        return lemma
    return "be not" if lemma == "be" else f"do not {lemma}"


def _guess_lemma(word: str) -> str:
    return word[:-2] if word.endswith("ed") and len(word) > 4 else word


def _subjectless(clause: str, words: list[Token]) -> Predicate | None:
    """Parse a clause that leaves out its subject, the speaker: "moved to Porto last week"."""
    forms = verb_forms()
    at = 0
    while at < len(words) and (_is_adverb(words[at].low) or words[at].word == ","):
        at += 1
    if at >= len(words):
        return None
    low = words[at].low
    lemma, kind = forms.get(low, ("", ""))
    adjective = low in _GRAMMAR.elided
    if not adjective and (kind != "past" or len(words) - at < 3):
        return None
    rest_start = words[at].start if adjective else words[at].end
    return Predicate(
        subject="",
        start=0,
        verb_start=words[at].start,
        rest_start=rest_start,
        verb="be" if adjective or low == "been" else lemma,
        rest=clause[rest_start:].strip(),
        tense="present" if adjective else "past",
    )


# From the first to the third person: "I live with my sister" becomes "Maren lives with their sister".


def _lower_article(who: str) -> str:
    """Return a name for use within a sentence: "The user" becomes "the user"."""
    return f"the{who[3:]}" if who.startswith("The ") else who


def in_third_person(clause: str, said: Predicate | None, who: str) -> str:
    """Rewrite an English clause from the first person to the third, calling the speaker `who`."""
    grammar, words = _GRAMMAR, tokens(clause)
    out: list[str] = []
    last = 0
    named = False
    at = 0
    while at < len(words):
        word = words[at]
        low = word.low
        new: str | None = None
        end = at
        # "Im" is a word of other languages too.
        if low in grammar.third_subjects and (
            low not in grammar.contractions or not word.start or (said and word.start == said.start)
        ):
            if not named and (said is None or word.start == said.start):
                new, end = _replace_pronoun(words, at, _lower_article(who) if word.start else who)
                named = True
            elif low in grammar.speakers and at + 1 < len(words) and words[at + 1].low in grammar.plurals:
                new, end = f"they {grammar.plurals[words[at + 1].low][0]}", at + 1
            else:
                new = " ".join(grammar.third_subjects[low])
        elif low in grammar.third_others and word.word != "US":
            whom = _lower_article(who) if word.start else who
            new = grammar.third_others[low][0]
            if not named and low in grammar.owns:
                new = f"{whom}'s"
            elif not named and low in grammar.objects:
                new = whom
            named = True
        if new is not None:
            out += [clause[last : word.start], new]
            last = words[end].end
        at = end + 1
    return "".join([*out, clause[last:]])


def _means_no_longer(words: list[Token], at: int) -> bool:
    after, low = _GRAMMAR.after_no, words[at].low
    if low == "no":
        return at + 1 < len(words) and words[at + 1].low in after
    return low in after and words[at - 1].low == "no"


def _replace_pronoun(words: list[Token], at: int, who: str) -> tuple[str, int]:
    """Return `who` with the following verb in the third person, and the index of the last word that this replaces."""
    grammar, low = _GRAMMAR, words[at].low
    if short := _CONTRACTED.search(low):
        return f"{who} {grammar.third_endings[short[0]][0]}", at
    if low in grammar.bare_subjects:
        return f"{who} {grammar.third_verbs[grammar.contractions[low][0]][0]}", at
    forms = verb_forms()
    behind = at + 1
    between: list[str] = []
    while behind < len(words) and (_is_adverb(words[behind].low) or _means_no_longer(words, behind)):
        between.append(words[behind].word)
        behind += 1
    if behind >= len(words):
        return who, at
    verb = words[behind].low
    _base, kind = forms.get(verb, ("", ""))
    if verb in grammar.third_verbs:
        form = grammar.third_verbs[verb][0]
    elif kind == "base" or (
        not kind
        and verb.isalpha()
        and not verb.endswith(("ed", "ing"))
        and verb not in grammar.modals
        and verb not in grammar.unchanged_in_third
    ):
        form = third_person(words[behind].word)
    else:
        return who, at
    return " ".join([who, *between, form]), behind
