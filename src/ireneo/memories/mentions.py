"""Find the sentences that speak of somebody: by the name, by other names, relations, pronouns, and by what they do.

A reference without the name is never certain. So sentences found in this way are only shown to whoever asks for
everything about a person. A pronoun refers to the last one before it whom it fits; somebody else takes it over only if
they were named in the same text, or if the person wasn't spoken of shortly before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

from ireneo.language.files import CAPITAL, any_of, cached_data, of_language, topic
from ireneo.language.spoken import Facts
from ireneo.language.topics import Names, Persons, Questions, Words
from ireneo.language.words import language_of_sentence, sentences, terms
from ireneo.memories.cues import PIECES, relations
from ireneo.memories.persons import gender, role_terms
from ireneo.memories.record import Record
from ireneo.memories.wording import distinctive_words, ends_of
from ireneo.patterns import lazy_re

CHAIN = 12
"""For how many texts a pronoun may refer to somebody after they were mentioned, unless somebody else was since."""
ALIKE = 3
"""How many first letters a name and its short form share."""
START = 2
"""The same, if it ends in a z: Roz."""
HALF = 6
"""Up to how many words a sentence is a half one, which may correct what was said before: "sorry, not Hull, Hove"."""
NEAR = 2
"""How many texts before a half sentence it may correct."""
RARE = 4
"""In how many texts what is said of somebody may occur, to refer to them."""
FEW = 2
"""The same for a single word of a sentence shortly after."""
SHARED_START = 0.7
"""Which share of the shorter of two forms both begin with."""
LONGER = 4
"""By how many letters the forms of a name may differ in length."""
COMPOUND = 6
"""How many first letters two words share of which one says what somebody does with the other: tunes, tuner."""
_WORD = lazy_re(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LARGE = rf"({CAPITAL}[\w'’-]{{1,40}})"
_DEFINED = lazy_re(lambda: rf"(?<!\w)(?i:{any_of((*topic(Persons).definite, *topic(Persons).owned))}) ((?:\w+ )?\w+)")
_NAME_BEHIND = lazy_re(lambda: rf",? (?:{any_of(topic(Persons).called)} )*({CAPITAL}[\w’'-]{{2,}})")
_NAME_BEFORE = lazy_re(lambda: rf"(?<![\w’'-])({CAPITAL}[\w’'-]{{2,}})(?: ?{any_of(topic(Persons).called)})+ $")


@cached_data
def _of_any_role() -> re.Pattern[str]:
    return _possessive_pattern(sorted(topic(Persons).roles | relations().keys(), key=len, reverse=True))


_NAMED_BY_ROLE = lazy_re(
    lambda: (
        rf"(?i:{(role := _of_any_role().pattern)})(?:,? {(called := any_of(topic(Persons).called))})*,? {_LARGE}"
        rf"|{_LARGE}(?: ?{called}){{1,2}} ?{role}"
    )
)
_PLACE = lazy_re(lambda: rf"\b{any_of(topic(Persons).before_places)} {_LARGE}")
_OPENS = lazy_re(lambda: rf"{_LARGE} {any_of(topic(Persons).does)}\b")
_CALLED_SO = lazy_re(lambda: rf"\b(?i:{any_of(topic(Persons).named)}){_LARGE}")
_GENITIVE = lazy_re(rf"(?<![\w-])({CAPITAL}[\w-]+)s $")
_TITLED = lazy_re(lambda: rf"\b({any_of(map(str.capitalize, topic(Names).titles))})\.? {_LARGE}")
_KNOWN = lazy_re(lambda: rf"{any_of((*topic(Persons).definite, *topic(Persons).ours))} ", re.I)
"""Before a noun for somebody whom everybody in the talk knows."""


class PossibleMention(Struct, frozen=True, kw_only=True):
    """A sentence that may be about somebody, and why."""

    sentence: str
    why: str
    certain: bool = False
    """Whether it calls them by another name or by their relation, and not only by a pronoun or by what they do."""
    distance: int = 0
    """How many texts lie between it and the last one that names them."""


class NamedText(Struct, frozen=True, kw_only=True):
    """A text to be searched, with the caller's name for it."""

    id: str
    text: str


class Person:
    """A person, with everything that texts say about their names."""

    def __init__(self, name: str, texts: Iterable[str], others: Iterable[str] = ()) -> None:
        """Look for `name`; `texts` are read for their other names, and their relations to others.

        `others` are the names of other people.
        """
        self.name = " ".join(name.split())
        words = self.name.split()
        self._name_terms = frozenset(terms(self.name))
        self._folded = {word.casefold() for word in words}
        self.others: dict[str, str] = {}
        """Other names, each with the reason for it."""
        self.roles: dict[str, str] = {}
        """Their relations to the speaker or to others, each with the words that state it."""
        self._owners: set[str] = set()
        """To whom; empty for the speaker."""
        held = list(texts)
        # "My sister" is a relation by itself.
        is_role = self._add_role(words[-1].casefold() if len(words) > 1 else "", self.name, _owner(self.name))
        if len(words) > 1 and not is_role:
            self.others.update((word.casefold(), f"{word} is part of the name") for word in words if len(word) > 2)
        beside = (each[2] or each[3] for text in held for each in _NAMED_BY_ROLE.finditer(text))
        known = {_bare(word) for each in (*others, *beside) for word in each.split()} - topic(Names).none
        self._of_others = known - self._folded - self.others.keys()
        said = [text for text in held if self.named_in(text)]
        for text in said:
            self._learn_names(text)
        if not is_role:
            self._learn_forms({word for text in held for word in _WORD.findall(text) if word[0].isupper()})
        self._of_others |= {each for each in self._first_words(held) if not any(is_form(each, one) for one in words)}
        self._of_others -= self._folded | self.others.keys()
        self._often = Counter(word for text in held for word in distinctive_words(text))
        self._words: set[str] = set()
        """What is said of them and of hardly anything else."""
        self._by_role = _role_pattern(self.roles)
        self._sides = {each: self._side_of(_name_pattern(each), held) for each in self._of_others}
        side, *more = {_role_side(role) for role in self.roles} - {""} or {""}
        side = side if side and not more else self._side_of(_name_pattern(self.name), said)
        self._pronouns = _pronouns_of(side)
        for each in (one for text in said for one in sentences(text, small_opens=True)):
            if self.named_in(each):
                self._learn_words(each)

    def _first_words(self, texts: Sequence[str]) -> set[str]:
        """Words that open a sentence like a name, and to which a pronoun refers: "Pepper is ill, she won't eat"."""
        small = {word for text in texts for word in _WORD.findall(text) if word[0].islower()}
        small |= {found[1].casefold() for text in texts for found in _PLACE.finditer(text)}
        opens = {found[1] for text in texts for each in sentences(text) if (found := _OPENS.match(each))}
        opens -= topic(Words).stop
        for word in opens:
            if len(word) <= ALIKE and any(_letters_shared(word.casefold(), name) >= START for name in self._folded):
                self.others.setdefault(word.casefold(), f"it may be short for {self.name}")
        return {
            word.casefold()
            for word in opens
            if word.casefold() not in small | topic(Names).none | topic(Words).stop
            and self._side_of(_name_pattern(word), texts)
        }

    def _side_of(self, name: re.Pattern[str], texts: Iterable[str]) -> str:
        """Return "he" or "she" by the pronouns that follow a name at once; empty if they differ or there are none."""
        votes = Counter[str]()
        for text in texts:
            found = name.search(text)
            behind = _WORD.findall(text[found.end() :].casefold())[:CHAIN] if found else ()
            votes.update(_pronoun_side(word) for word in behind if word not in topic(Persons).objects)
        del votes[""]
        (side, most), (_, less) = [*votes.most_common(), ("", 0), ("", 0)][:2]
        return side if most > 2 * less else ""

    def named_in(self, text: str) -> bool:
        """Whether the name occurs in a text."""
        return names_in_text(self.name, text)

    def mentions(self, texts: Sequence[NamedText]) -> Iterator[tuple[str, PossibleMention]]:
        """The sentences of consecutive texts that may be about them without naming them, by text."""
        since, recent = CHAIN + 1, list[frozenset[str]]()
        """How many texts ago they were spoken of, and the words of sentences about them, by text."""
        is_meant, distance = False, len(texts)
        """Whether a pronoun that follows refers to them."""
        for at, each in enumerate(texts):
            recent = [*recent[-NEAR:], frozenset()]
            since, distance = since + 1, distance + 1
            is_meant = is_meant or since <= NEAR
            soon = any(self.named_in(one.text) for one in texts[at : at + 2]) and since > CHAIN
            for sentence in sentences(each.text, small_opens=True):
                named = self.named_in(sentence)
                why, certain = self.mention_reason(sentence), True
                by_pronoun, is_meant = self._follow(sentence, is_meant and since <= CHAIN, soon=soon)
                if not why:
                    certain = False
                    why = by_pronoun or self._by_description(sentence) or self._correction(sentence, recent)
                if named:
                    distance = 0
                if by_pronoun:
                    self._learn_called(sentence)
                if named or why:
                    recent[-1] |= self._learn_words(sentence)
                    since = 0
                if why and not named:
                    yield each.id, PossibleMention(sentence=sentence, why=why, certain=certain, distance=distance)

    def _follow(self, sentence: str, is_meant: bool, *, soon: bool) -> tuple[str, bool]:
        """Follow the pronouns of a sentence: why one may refer to them, and whether later ones do.

        A pronoun is that of the last one before it whom it fits; an object is not the subject of its own clause.
        """
        heard, why = self._beings_in(sentence), ""
        for found in _WORD.finditer(sentence):
            word = _uncontracted(found[0])
            if word not in self._pronouns:
                continue
            side = _pronoun_side(word)
            before = [each for each in heard[word in topic(Persons).objects :] if each[0] < found.start()]
            fits = [own for _, own, theirs in before if own or not side or theirs in ("", side)]
            if fits[-1] if fits else is_meant:
                why = why or f"{word} may be {self.name}, of whom was spoken before"
            elif soon and not fits and found.start() == 0:
                why = why or f"{word} may be {self.name}, who is named soon after"
        last = [own for _, own, side in heard if own or (side and not self._pronouns.isdisjoint(_pronouns_of(side)))]
        return why, last[-1] if last else is_meant or bool(why)

    def _beings_in(self, sentence: str) -> list[tuple[int, bool, str]]:
        """The beings that a sentence names or calls by a relation: where, whether it is them, and their pronoun."""
        out: list[tuple[int, bool, str]] = []
        if (said := _name_pattern(self.name).search(sentence)) is not None:
            out.append((said.start(), True, ""))
        for found in _WORD.finditer(sentence):
            bare = _bare(found[0])
            if bare in self.others:
                out.append((found.start(), True, ""))
            elif bare in self._of_others and found[0][0].isupper():
                out.append((found.start(), False, self._sides.get(bare, "")))
        out += [
            (found.start(), False, gender(found[1]))
            for found in _TITLED.finditer(sentence)
            if _bare(found[2]) not in self._folded | self.others.keys()
        ]
        for found in _of_any_role().finditer(sentence):
            role = next(each for each in found.groups() if each).casefold()
            own = role in self.roles and not self._is_of_other(found, sentence)
            if own or _role_side(role) or relations().get(role) == "pet":
                out.append((found.start(), own, _role_side(role)))
        return sorted(out)

    def mention_reason(self, sentence: str) -> str:
        """Why a sentence calls them by another name or a relation; empty if it doesn't."""
        for word in _WORD.findall(sentence):
            if (bare := _bare(word)) in self.others:
                return f"“{bare}”: {self.others[bare]}"
        for found in self._by_role.finditer(sentence) if self._by_role is not None else ():
            if not self._is_of_other(found, sentence):
                role = next(each for each in found.groups() if each).casefold()
                return f"“{found[0].strip()}”: {self.roles[role]}"
        return ""

    def _by_description(self, sentence: str) -> str:
        """Why a sentence may call them by what they do: "the potter", of somebody who makes pots."""
        language = language_of_sentence(sentence)
        for found in _DEFINED.finditer(sentence):
            said = _WORD.findall(found[1].casefold())
            while said and not _is_agent(said[-1], language):
                said.pop()
            if not said:
                continue
            if shared := self._shared(said):
                return f"“{shared}” was said of {self.name}"
            if (
                _KNOWN.match(sentence)
                and found.start() == 0
                and all(self._often[each] <= RARE for each in terms(said[-1]))
            ):
                return f"“{found[0]}” may be {self.name}: nobody is named"
        return ""

    def _shared(self, said: Iterable[str]) -> str:
        """A word that was said of them, or that begins like one."""
        for term in terms(" ".join(said)):
            for word in self._words:
                short = min(len(term), len(word))
                if term == word or (short > ALIKE and _begins_alike(term, word, short)):
                    return term
        return ""

    def _correction(self, sentence: str, recent: Sequence[frozenset[str]]) -> str:
        """Why a half sentence may correct or repeat what was said of them shortly before."""
        if any(not own for _, own, _ in self._beings_in(sentence)):
            return ""
        words = distinctive_words(sentence)
        shared = words & frozenset().union(*recent)
        if len(shared) > 1 or shared == words != frozenset() or any(self._often[each] <= FEW for each in shared):
            return f"“{min(shared)}” was said of {self.name} shortly before"
        if any(recent) and len(_WORD.findall(sentence)) <= HALF and _corrects(sentence):
            return f"it may correct what was said of {self.name}"
        return ""

    def speaks_of_others(self, text: str, *, of_speaker: bool = False) -> bool:
        """Whether a text states something of the speaker, as `of_speaker` ones do, or others, and not of them."""
        words = {_uncontracted(word) for word in _WORD.findall(text)}
        if self.named_in(text) or self.mention_reason(text) or not words.isdisjoint(self._pronouns):
            return False
        return of_speaker or not words.isdisjoint(topic(Questions).asker) or bool(self._beings_in(text))

    def _learn_words(self, sentence: str) -> frozenset[str]:
        """Add the rare words of a sentence about them, and return its words."""
        calling = frozenset(terms(" ".join((*topic(Persons).called, *self._of_others))))
        # "Callum is a carpenter, and my mum teaches": each clause is about somebody else.
        clauses = [each for each in PIECES.split(sentence) if self.named_in(each) or not self._is_about_other(each)]
        words = distinctive_words(". ".join(clauses)) - role_terms() - self._name_terms - calling
        self._words.update(word for word in words if self._often[word] <= RARE)
        return words

    def _is_about_other(self, clause: str) -> bool:
        """Whether a clause names another one first."""
        beings = self._beings_in(clause)
        return bool(beings) and not beings[0][1]

    def _is_of_other(self, found: re.Match[str], sentence: str) -> bool:
        """Whether a relation is that of somebody else, or another name stands beside it: "my sister Ruth"."""
        whose = _owner(found[0])
        if genitive := _GENITIVE.search(sentence[: found.start()]):
            # "Silkes Mitbewohner"
            whose = genitive[1]
        beside = (_NAME_BEHIND.match(sentence, found.end()), _NAME_BEFORE.search(sentence[: found.start()]))
        named = {_bare(each[1]) for each in beside if each}
        is_named = bool(named - topic(Names).none - self._folded - self.others.keys())
        return is_named or (whose is not None and bool(self._owners) and whose not in self._owners)

    def _learn_names(self, text: str) -> None:
        """Read a text with their name for their other names."""
        known = topic(Persons)
        name, called = _name_pattern(self.name).pattern, any_of(known.called)
        role, whose = r"(?P<role>[^\W\d_][\w-]{1,30})", rf"(?P<whose>{any_of(known.owned)}) (?:\w+ ){{0,2}}?"
        pronoun, ends = any_of(sorted({*known.she, *known.he}, key=len, reverse=True)), r"(?P<ends>\W*$|[,;.])?"
        for sentence in sentences(text, small_opens=True):
            if not self.named_in(sentence):
                continue
            for pattern in (
                rf"\b{whose}{role}(?:['’]s)?(?: ?{called}){{0,3}} ?{name}",
                # "Bernadette last, she's our neighbour."
                rf"{name}(?:(?: \w+)?,? {pronoun})?(?: ?{called}){{1,2}} ?(?:\w+ )?{whose}{role}\b{ends}",
            ):
                for found in re.finditer(pattern, sentence, re.I):
                    # "Lorenz is my landlord": whatever the word is, it stands for them.
                    said = found.groupdict().get("ends") is not None
                    self._add_role(found["role"].casefold(), sentence, _owner(found["whose"]), said=said)
            so = any_of(known.known_as)
            alias = rf"{name}\W+(?:\w+ )?{so} {_LARGE}|{_LARGE}\W+(?:is )?{so} {name}"
            for found in re.finditer(alias, sentence):
                self.others.setdefault((found[1] or found[2]).casefold(), f"so it says: {sentence}")
            for clause in filter(self.named_in, PIECES.split(sentence)):
                # "Gaz is what you call Gareth."
                self._learn_called(clause)
            for found in re.finditer(rf"{name} {_LARGE}", sentence):
                self.others.setdefault(found[1].casefold(), f"{self.name} {found[1]} is named in: {sentence}")
        for found in _CALLED_SO.finditer(text):
            self.others.setdefault(found[1].casefold(), f"so it says: {found[0]}")

    def _learn_called(self, clause: str) -> None:
        """Add the names in a clause about what they are called."""
        words = _WORD.findall(clause)
        said = [word for word in words if word.casefold() not in topic(Words).stop]
        calls = topic(Persons).calling.intersection(word.casefold() for word in said)
        # "She has a whippet called Pickle": the name is that of the noun before it.
        own = {*topic(Words).stop, *self._folded, *self.roles}
        apart = zip(words, words[1:], words[2:], strict=False)
        others = {name.casefold() for noun, call, name in apart if call in calls and noun.casefold() not in own}
        known = {*topic(Names).none, *calls, *self._folded, *self._of_others, *others}
        for word in said if calls else ():
            if word[0].isupper() and word.casefold() not in known:
                self.others.setdefault(word.casefold(), f"so it says: {clause}")

    def _add_role(self, role: str, sentence: str, owner: str | None, *, said: bool = False) -> bool:
        """Add a relation, unless the word is none, and say whether it is; it is one if it was `said` to be."""
        # A compound says more about the same relation: Bürokollege.
        last = next((each for each in ends_of(role) if each in topic(Persons).roles), role if said else "")
        if not last:
            return False
        if owner is not None:
            self._owners.add(owner)
        for other in (role, last, *same_roles(role), *same_roles(last)):
            self.roles.setdefault(other, f"so it says: {sentence}")
        return True

    def _learn_forms(self, words: Iterable[str]) -> None:
        """Add capitalised words that begin like the name as forms of it."""
        known = self._folded | topic(Words).stop | self._of_others | self.others.keys()
        for folded in {_bare(word) for word in words} - known:
            if any(is_form(folded, name) for name in self._folded):
                self.others[folded] = f"it is written like {self.name}"


def _is_agent(word: str, language: str) -> bool:
    """Whether a noun may call somebody by what they do, and isn't a relation of somebody."""
    if word in topic(Words).stop | topic(Persons).roles | relations().keys():
        return False
    return any(
        word.endswith(each) and (len(word) > len(each) + 1 or len(each) > ALIKE)
        for each in of_language(Persons, language).agents
    )


def _begins_alike(one: str, other: str, short: int) -> bool:
    return _letters_shared(one, other) >= min(short, COMPOUND)


def _letters_shared(one: str, other: str) -> int:
    """How many first letters two words share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _bare(word: str) -> str:
    """A word without the ending of a possessive, case-folded."""
    return re.sub(r"['’]s?$", "", word).casefold()


def _pronouns_of(side: str) -> frozenset[str]:
    known = topic(Persons)
    return {"he": known.he, "she": known.she}.get(side, known.he | known.she | known.they)


def _pronoun_side(word: str) -> str:
    """Return "he" or "she" for a pronoun; empty for other words."""
    return next((side for side in ("she", "he") if _uncontracted(word) in _pronouns_of(side)), "")


def _uncontracted(word: str) -> str:
    """A pronoun without the verb: he's, she'd."""
    return word.casefold().replace("’", "'").partition("'")[0]


def _role_side(role: str) -> str:
    """Return "he" or "she" for a relation; empty if it may be either."""
    known = topic(Persons)
    sides = ["she"] * any(each in known.female for each in ends_of(role))
    sides += ["he"] * any(each in known.male for each in ends_of(role))
    return sides[0] if len(sides) == 1 else gender(role)


def _corrects(sentence: str) -> bool:
    """Whether a half sentence puts right what was said before it: "no, Friday", "not Hull, Hove"."""
    known = topic(Facts)
    if known.in_breath.match(f", {sentence}"):
        return True
    denied = known.not_that.search(sentence)
    return denied is not None and "," in sentence[denied.end() :]


def opens_with_name(text: str) -> bool:
    """Whether a text begins with a word that may be somebody's name: "Pepper is ill"."""
    found = _OPENS.match(text)
    return found is not None and found[1].casefold() not in topic(Words).stop | topic(Names).none


def same_roles(role: str) -> set[str]:
    """Other words for a relation, in any language, and for groups that include it."""
    return {word for words in topic(Persons).same.values() if role in words for word in words}


def _owner(words: str) -> str | None:
    """Whose relation somebody is, by the words before it: empty for the speaker's, None if that is not said."""
    first = words.split()[0].casefold()
    if first in topic(Questions).asker or not {"user", *topic(Persons).speakers}.isdisjoint(_bare(words).split()):
        return ""
    return found[0] if (found := re.match(r"[^\W\d_]+(?=['’]s)", first)) else None


def is_form(word: str, name: str) -> bool:
    """Whether a word may be a form of a name: another ending, a short form, or one different letter."""
    if len(name) < ALIKE or len(word) < ALIKE:
        return False
    if any(name.startswith(stem) for stem in _short_stems(word)):
        return True
    if abs(len(word) - len(name)) > LONGER:
        return False
    if word.startswith(name) or (len(name) > ALIKE and name.startswith(word)) or (len(word) > ALIKE and word in name):
        return True
    if _letters_shared(word, name) >= max(ALIKE, SHARED_START * min(len(word), len(name))):
        return True
    return (
        len(name) > ALIKE + 1 and len(word) == len(name) and sum(a != b for a, b in zip(word, name, strict=True)) == 1
    )


def _short_stems(word: str) -> Iterator[str]:
    """How the name begins of which a word is the short form: Danny, Bernie."""
    for ending in topic(Persons).short:
        stem = word.removesuffix(ending)
        if (START if ending == "z" else ALIKE) <= len(stem) < len(word):
            yield stem
            if len(stem) > ALIKE and stem[-1] == stem[-2]:
                yield stem[:-1]


@lru_cache(256)
def _name_pattern(name: str) -> re.Pattern[str]:
    """A pattern for a name as whole words, regardless of case, or with the s of a German genitive before a noun."""
    pieces = r"\s+".join(map(re.escape, name.split()))
    whose = rf"s(?= (?:[a-zß-ɏ]+ )?{CAPITAL})" if name[:1].isupper() and name[-1:].islower() else "(?!)"
    return re.compile(rf"(?<!\w)(?i:{pieces})(?:(?!\w)|{whose})")


def names_in_text(name: str, text: str) -> bool:
    """Whether a name occurs in a text, in any case and with the ending of a possessive."""
    return _name_pattern(name).search(text) is not None


def relations_in(text: str) -> Iterator[tuple[str, str]]:
    """Each relation to the user that a text names, with the word for it."""
    for found in _of_any_role().finditer(text):
        role = next(each for each in found.groups() if each).casefold()
        if role in relations() and _owner(found[0]) == "":
            yield found[0], role


def names_meant(subject: str, known: Sequence[Record]) -> list[str]:
    """The names of those who are meant by a relation to the user ("my sister"), as far as memories tell."""
    *whose, role = subject.casefold().split() or [""]
    if not whose or role not in topic(Persons).roles | relations().keys() or _owner(" ".join(whose)) != "":
        return []
    words = {role, *same_roles(role)}
    told = (each for each in known if each.attribute in relations() and each.value[:1].isupper())
    return list(dict.fromkeys(each.value for each in told if words & {*_WORD.findall(each.text.casefold())}))


def _role_pattern(roles: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern for one of `roles` of a known person: with a possessive, or capitalised like a name."""
    listed = sorted(roles, key=len, reverse=True)
    if not listed:
        return None
    # German capitalises all nouns: "Kinder" alone calls nobody.
    groups = {word for words in of_language(Persons, "de").same.values() for word in words} - topic(Persons).roles
    large = any_of(re.escape(role.capitalize()) for role in listed if role not in groups)
    return re.compile(rf"{_possessive_pattern(listed).pattern}|\b({large})\b")


def _possessive_pattern(roles: Iterable[str]) -> re.Pattern[str]:
    owned = any_of(each for each in topic(Persons).owned if each not in ("a", "an"))
    between = r"(?:(?-i:[a-zß-ɏ])[\w-]* ){0,2}?"
    listed = any_of(map(re.escape, roles)).replace("(?:", "(", 1)
    return re.compile(rf"(?i:\b{owned} {between}(?:\w+-)?{listed}\b)")
