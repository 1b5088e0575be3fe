"""Parse English clauses into subject, verb and rest, and rewrite them from the first to the third person."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from ireneo.language.files import from_data, of_language, topic
from ireneo.language.spoken import Attributes, Facts
from ireneo.language.words import base_forms, third_person, verb_inflections
from ireneo.patterns import lazy_re

Tense: TypeAlias = Literal["present", "past", "perfect", "progressive", "future", "used"]

_TOKEN = lazy_re(r"[^\W_]+(?:['’.&/-][^\W_]+)*['’]?|[^\w\s]|_")
_WORD = lazy_re(r"[^\W\d_]")
_BE = {"am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "being": "be", "be": "be"}
_PAST_BE = ("was", "were")
_HAVE, _DO = ("have", "has", "had", "having"), ("do", "does", "did")
_NOT = ("not", "never")
_MODALS = ("can", "cannot", "must", "will", "shall", "gonna")
_LONGEST_NAME = 6
"""Most words of a subject."""


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
    """It is no longer so."""

    @property
    def said(self) -> str:
        """The verb's base form and what follows it."""
        return f"{self.verb} {self.rest}".strip()


def and_also(clause: str, said: Predicate) -> tuple[str, str]:
    """Split a clause at an "and" that is followed by another verb; the second clause gets the same subject.

    The second is empty if there is no such "and".
    """
    for found in _AND_VERB.finditer(clause, said.rest_start):
        kind = verb_forms().get(found["verb"].casefold(), ("", ""))[1]
        wanted = "past" if said.tense in ("past", "perfect") else "s"
        if kind == wanted or (kind == "base" and wanted == "s" and said.subject.casefold() in ("i", "we")):
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


_SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'s": "is", "'d": "would"}
_BARE_SHORT = {
    "im": "am",
    "ive": "have",
    "dont": "do not",
    "didnt": "did not",
    "doesnt": "does not",
    "cant": "can not",
    "wont": "will not",
    "isnt": "is not",
    "arent": "are not",
    "wasnt": "was not",
    "havent": "have not",
    "hasnt": "has not",
}


@from_data
def verb_forms() -> dict[str, tuple[str, str]]:
    """Map every form of the known verbs to its base form and `base`, `s`, `past` or `ing`."""
    known = of_language(Facts, "en")
    forms: dict[str, tuple[str, str]] = {}
    for verb in sorted({*known.verbs, *known.idle, *base_forms().values()}):
        for form, kind in verb_inflections(verb).items():
            forms.setdefault(form, (verb, kind))
    # Irregular forms take precedence: "found" is the past of "find".
    return (
        forms
        | {form: (verb, "past") for form, verb in base_forms().items()}
        | dict.fromkeys(("got", "gotten"), ("get", "past"))
    )


def _is_adverb(word: str) -> bool:
    return word in of_language(Facts, "en").adverbs or (
        len(word) > 5 and word.endswith("ly") and word not in verb_forms() and word not in ("family", "italy")
    )


def predicate(clause: str, names: frozenset[str] = frozenset()) -> Predicate | None:
    """Parse an English clause whose subject comes first, or is the speaker and left out; None otherwise."""
    words = tokens(clause)
    if not words:
        return None
    first = next((each.low for each in words if not _is_adverb(each.low)), "")
    # "Left" is also a side.
    if verb_forms().get(first, ("", ""))[1] == "past" and first != "left" and (said := _elided(clause, words)):
        return said
    at = _subject_at(words, names)
    if at is None:
        return _elided(clause, words)
    start, behind = at
    return _verb(clause, words, start, behind)


_NEXT = lazy_re(
    r"(?:[,;–—]|\b(?:and|but))\s+(?:(?:now|instead)\s+)?(?:(?P<who>he|she|they|we|it|i)\s+)?(?P<word>[a-z]{1,20})\b",
    re.I,
)
_JOINED = lazy_re(r"\s(?:and|but|und|aber)\s(?:(?:also|now|still|then)\s)?(?P<word>[a-z]+)\b")
_SAYS = ("s", "past")


def until_next_verb(text: str) -> str:
    """Cut a text before a second verb of the same subject: "in Rome and works as a baker" → "in Rome"."""
    for found in _JOINED.finditer(text):
        if verb_forms().get(found["word"], ("", ""))[1] in _SAYS:
            return text[: found.start()]
    return text


def next_statement(text: str, subject: str) -> str:
    """Return the second statement of a sentence about one subject, with the subject in it; empty if there is none.

    "Eve doesn't live in Paris anymore, she lives in Nice now" → "Eve lives in Nice now".
    """
    for found in _NEXT.finditer(text):
        form = verb_forms().get(found["word"].lower(), ("", ""))[1]
        if subject and (form in _SAYS or (form == "base" and found["who"])):
            return f"{'I' if subject == 'user' else subject} {text[found.start('word') :]}"
    return ""


def _subject_at(words: list[Token], names: frozenset[str]) -> tuple[int, int] | None:
    """Return the indices of the words at which the subject begins and ends."""
    for at, word in enumerate(words[:9]):
        low = word.low
        if not at and (low in topic(Attributes).bare or low in _kin()) and (end := _name_end(words, at)) == 1:
            return at, end
        if low in ("i", "we", "he", "she", "they", "it") or re.fullmatch(
            r"(?:i|we|he|she|they|it)'(?:m|ve|re|ll|s|d)|im|ive", low
        ):
            return at, at + 1
        if (
            low in ("my", "our", "the", "his", "her", "their")
            or word.word in names
            or word.word.removesuffix("'s").removesuffix("’s") in names
        ):
            end = _name_end(words, at)
            if end:
                return at, end
        if at > 0 and word.word in ",;":
            continue
    return None


@from_data
def _kin() -> frozenset[str]:
    """Return the words for relatives, which need no article: "mum called"."""
    return frozenset(word for words in of_language(Facts, "en").relations.values() for word in words)


def _name_end(words: list[Token], at: int) -> int:
    """Return the index after the last word of a subject that is a name or a thing; 0 if no verb follows it."""
    forms = verb_forms()
    first = at + (2 if words[at].low in ("my", "our", "the", "his", "her", "their") else 1)
    end = first
    while end < min(len(words), at + _LONGEST_NAME + 2):
        low = words[end].low
        finite = forms.get(low)
        if low in _BE or low in _HAVE or low in _DO or low in _MODALS or low.endswith("n't") or low == "used":
            return end
        if finite and finite[1] in ("s", "past") and words[end - 1].low not in ("the", "a", "of", "to", "my"):
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
    group = _Group(aux=[])
    queue, subject_end = _spelled_out(words, behind)
    first: Token | None = None
    for at, (each, word) in enumerate(queue):
        if each in _NOT:
            group.negated = True
        elif each == "no" and at + 1 < len(queue) and queue[at + 1][0] in ("longer", "more"):
            group.over = True
        elif _is_adverb(each) or each == "," or (group.over and each in ("longer", "more")):
            continue
        else:
            first = first or word
            following = next((one for one, _ in queue[at + 1 :] if one not in _NOT and not _is_adverb(one)), "")
            if not _is_aux(each, following):
                return _made(clause, words[start], subject_end, first, group, each, word)
            group.aux.append(each)
    if first is not None and set(group.aux) & set(_BE):
        return _made(clause, words[start], subject_end, first, group, "", None, queue[-1][1].end)
    return None


def _spelled_out(words: list[Token], behind: int) -> tuple[list[tuple[str, Token]], int]:
    """Expand contractions after a subject ("I'm", "don't") into two words each; also return where the subject ends."""
    last = words[behind - 1]
    queue: list[tuple[str, Token]] = []
    short, end = re.search(r"'(?:m|ve|re|ll|s|d)$", last.low), last.end
    if last.low in ("im", "ive"):
        queue, end = [(_BARE_SHORT[last.low], last)], last.start + 1
    elif short and last.low.split("'")[0] in ("i", "we", "he", "she", "they", "it"):
        queue, end = [(_SHORT[short[0]], last)], last.start + short.start()
    for word in words[behind:]:
        each = word.low
        if each in _BARE_SHORT:
            queue += [(one, word) for one in _BARE_SHORT[each].split()]
        elif each.endswith("n't"):
            queue += [({"can't": "can", "won't": "will"}.get(each, each[:-3]), word), ("not", word)]
        else:
            queue.append((each, word))
    return queue, end


def _is_aux(word: str, following: str) -> bool:
    forms = verb_forms()
    kind = forms.get(following, ("", ""))[1]
    if word in _BE:
        return True
    if word in _HAVE:
        return kind == "past" or following in ("been", "got", "gotten", "to") or following.endswith("ed")
    if word in _DO:
        return kind == "base" or following in ("have", "do", "be")
    if word in _MODALS or word in ("would", "used", "going", "got"):
        return bool(following) and (word not in ("going", "used", "got") or following == "to")
    return word == "to"


def _made(
    clause: str,
    subject: Token,
    subject_end: int,
    first: Token,
    group: _Group,
    word: str,
    token: Token | None,
    end: int = 0,
) -> Predicate | None:
    if "would" in group.aux:
        return None
    lemma, kind = verb_forms().get(word, (_guess(word), "past" if word.endswith("ed") else "base"))
    tense = _tense(group.aux, kind)
    rest_start = token.end if token else end
    is_state = not token or (kind != "ing" and not set(group.aux) & {"will", "shall", "gonna", "going", "used"})
    if set(group.aux) & set(_BE) and is_state:
        lemma, rest_start = "be", token.start if token else end
        tense = "past" if set(group.aux) & set(_PAST_BE) else "perfect" if "been" in group.aux else "present"
    return Predicate(
        subject=clause[subject.start : subject_end],
        start=subject.start,
        verb_start=first.start,
        rest_start=rest_start,
        verb=_with_mode(lemma, group),
        rest=clause[rest_start:].strip(),
        tense=tense,
        negated=group.negated,
        over=group.over or tense == "used" or (group.negated and bool(_ANYMORE.search(clause))),
    )


def _tense(aux: list[str], kind: str) -> Tense:
    if "used" in aux:
        return "used"
    if set(aux) & {"will", "shall", "gonna", "going"}:
        return "future"
    if set(aux) & set(_HAVE) and "to" not in aux:
        return "progressive" if "been" in aux and kind == "ing" else "perfect"
    if set(aux) & set(_BE):
        return "past" if set(aux) & set(_PAST_BE) else "progressive"
    return "past" if kind == "past" or "did" in aux else "present"


def _with_mode(lemma: str, group: _Group) -> str:
    """Prefix a verb's base form with its modal and negation."""
    if set(group.aux) & {"can", "cannot"}:
        return f"can {'not ' if group.negated or 'cannot' in group.aux else ''}{lemma}"
    if set(group.aux) & {"have", "has", "must"} and "to" in group.aux:
        return f"have to {lemma}"
    if not group.negated:
        return lemma
    return "be not" if lemma == "be" else f"do not {lemma}"


_AND_VERB = lazy_re(r"(?:,? and|,? then)(?: (?:then|now|also|just|has|have))? (?P<verb>[a-z]+)\b")
_ANYMORE = lazy_re(r"\b(?:any ?more|any longer)\b", re.I)


def _guess(word: str) -> str:
    return word[:-2] if word.endswith("ed") and len(word) > 4 else word


def _elided(clause: str, words: list[Token]) -> Predicate | None:
    """Parse a clause whose subject, the speaker, is left out: "moved to Porto last week"."""
    forms = verb_forms()
    at = 0
    while at < len(words) and (_is_adverb(words[at].low) or words[at].word == ","):
        at += 1
    if at >= len(words):
        return None
    low = words[at].low
    lemma, kind = forms.get(low, ("", ""))
    adjective = low in ("allergic", "based", "vegetarian", "vegan", "married", "pregnant", "originally")
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

_OTHERS = {
    "my": "their",
    "our": "their",
    "me": "them",
    "us": "them",
    "mine": "theirs",
    "ours": "theirs",
    "myself": "themselves",
    "ourselves": "themselves",
}
_THEY = {
    "i": "they",
    "we": "they",
    "i'm": "they are",
    "we're": "they are",
    "i've": "they have",
    "we've": "they have",
    "i'll": "they will",
    "we'll": "they will",
    "i'd": "they would",
    "we'd": "they would",
    "im": "they are",
    "ive": "they have",
}


def _within(who: str) -> str:
    """Return a name for use within a sentence: "The user" becomes "the user"."""
    return f"the{who[3:]}" if who.startswith("The ") else who


def in_third_person(clause: str, said: Predicate | None, who: str) -> str:
    """Rewrite an English clause from the first person to the third, calling the speaker `who`."""
    words = tokens(clause)
    out: list[str] = []
    last = 0
    named = False
    at = 0
    while at < len(words):
        word = words[at]
        low = word.low
        new: str | None = None
        # "Im" is a word of other languages too.
        if low in _THEY and (low not in _BARE_SHORT or not word.start or (said and word.start == said.start)):
            first = not named and (said is None or word.start == said.start)
            if first:
                new, at = _as_third(words, at, _within(who) if word.start else who)
                named = True
                out += [clause[last : word.start], new]
                last = words[at].end
                at += 1
                continue
            new = _THEY[low]
            if low in ("i", "we") and at + 1 < len(words) and words[at + 1].low in ("am", "was"):
                new, at = f"they {'are' if words[at + 1].low == 'am' else 'were'}", at + 1
                out += [clause[last : word.start], new]
                last = words[at].end
                at += 1
                continue
        elif low in _OTHERS and word.word != "US":
            whom = _within(who) if word.start else who
            first_of = {"my": f"{whom}'s", "our": f"{whom}'s", "me": whom, "us": whom} if not named else {}
            new = first_of.get(low, _OTHERS[low])
            named = True
        if new is not None:
            out += [clause[last : word.start], new]
            last = word.end
        at += 1
    return "".join([*out, clause[last:]])


def _as_third(words: list[Token], at: int, who: str) -> tuple[str, int]:
    """Return `who` with the following verb in the third person, and the index of the last word that this replaces."""
    low = words[at].low
    joined = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "had"}
    if short := re.search(r"'(?:m|ve|re|ll|d)$", low):
        return f"{who} {joined[short[0]]}", at
    if low in ("im", "ive"):
        return f"{who} {'is' if low == 'im' else 'has'}", at
    forms = verb_forms()
    behind = at + 1
    between: list[str] = []
    while behind < len(words) and _is_adverb(words[behind].low):
        between.append(words[behind].word)
        behind += 1
    if behind >= len(words):
        return who, at
    verb = words[behind].low
    plain = {
        "am": "is",
        "are": "is",
        "were": "was",
        "have": "has",
        "haven't": "hasn't",
        "don't": "doesn't",
        "do": "does",
        "aren't": "isn't",
        "weren't": "wasn't",
        "havent": "hasn't",
        "dont": "doesn't",
    }
    _base, kind = forms.get(verb, ("", ""))
    if verb in plain:
        form = plain[verb]
    elif kind == "base" or (
        not kind
        and verb.isalpha()
        and not verb.endswith(("ed", "ing"))
        and verb not in (*_MODALS, "can't", "could", "would", "might", "should", "may", "used", "did", "had", "was")
    ):
        form = third_person(words[behind].word)
    else:
        return who, at
    return " ".join([who, *between, form]), behind
