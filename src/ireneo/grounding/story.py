"""Check sentences about a story against its sources: names, numbers, dates and quotations.

Stories are full of names, many at the beginning of a sentence, and write numbers as words, so more is checked than in
notes on an agent's work. In German, which capitalises all nouns, only the subject at the beginning of a sentence is
taken for a name, besides names that the model itself lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from ireneo.grounding.check import unquoted
from ireneo.grounding.claims import TextClaim, claims, figure_pattern, parse_number
from ireneo.grounding.evidence import SourceIndex
from ireneo.language.files import any_of, of_language, topic
from ireneo.language.numbers import numbers_in_words
from ireneo.language.topics import Clauses, Names
from ireneo.language.words import WORD, balanced, language_of
from ireneo.language.words import sentences as split
from ireneo.patterns import lazy_re

_CLAUSES = topic(Clauses)
_SAYS = topic(Names)

LONGEST_QUOTED = 600
"""Characters up to which the sentences of one quotation are kept together; a longer one was probably not closed."""

_QUOTE = lazy_re(
    r"[“„](?P<a>[^“”„]*)[”“]|«(?P<b>[^«»]*)»|「(?P<c>[^「」]*)」|『(?P<d>[^『』]*)』"
    r"|(?<![\w‘])‘(?P<e>[^‘\n]*?)’(?!\w)|(?<![\w\"])\"(?P<f>[^\"\n]*)\"(?!\w)"
)
_SPEECH = lazy_re(r"(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){2,}?)'(?!\w)")
_POSSESSIVE = lazy_re(r"['’]s?$")
_OPENS = lazy_re(r"(?:^|[.!?:;…—–|(\[\x00])[\s\"'(\[*_\x00]*$")
_BESIDE = lazy_re(lambda: rf" {any_of(_SAYS.beside)} [^\W\d_a-zà-ÿ]\w")
_LISTED = lazy_re(lambda: rf", {_LARGE}[\w'’-]+(?: {_LARGE}[\w'’-]+)*(?:,| {any_of(_SAYS.listed)})\s")
_LARGE = r"[^\W\d_a-zà-ÿ]"
_TITLED = lazy_re(lambda: rf"\b{_LARGE}[\w'’-]+(?: (?:{any_of(sorted(_SAYS.particles))} ){{0,2}}{_LARGE}[\w'’-]+)+")
_STARS = lazy_re(r"(?<!\w)[*_]+|[*_]+(?!\w)")
_FIGURE = lazy_re(figure_pattern)
_STEM = 5
_ROOT = 4
_FORM = lazy_re(r"(?:ie|[yie])$")
_LANGUAGE_SAMPLE = 20_000
ENOUGH_WORDS = 5
"""Least long words of a sentence that `is_foreign` can judge."""


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, each on one line, without splitting quotations."""
    lines = (split(line.strip(), longest_quoted=LONGEST_QUOTED) for line in text.splitlines())
    # A quotation that isn't closed is split.
    whole = (piece for line in lines for each in line for piece in ((each,) if balanced(each) else split(each)))
    return [" ".join(each.split()) for each in whole]


def quotations(text: str) -> list[str]:
    """The quotations in `text`, without the marks."""
    found = (next(group for group in match.groups() if group is not None).strip() for match in _QUOTE.finditer(text))
    return [each for each in found if re.search(r"\w", each)]


def with_quotation_marks(text: str) -> str:
    """Replace the single quotes around speech in `text` by quotation marks."""
    return _SPEECH.sub(r"“\1”", text)


class _StoryWord(Struct, frozen=True, kw_only=True):
    text: str
    opens: bool
    """Whether the word begins a sentence, where a capital letter doesn't suggest a name."""
    follows: bool
    """Whether only a space separates the word from the one before."""
    has: bool
    """Whether the word is in the genitive: Vera's."""
    joined: bool
    """Whether a relative clause or a list of people follows."""

    @classmethod
    def of(cls, found: re.Match[str], text: str) -> _StoryWord:
        bare = _POSSESSIVE.sub("", found[0])
        start = found.start()
        return cls(
            text=bare,
            opens=bool(_OPENS.search(text, max(0, start - 8), start)),
            follows=text[start - 1 : start] == " " and text[start - 2 : start - 1].isalpha(),
            has=bare != found[0],
            joined=bool(
                _SAYS.explained.match(text, found.end())
                or _BESIDE.match(text, found.end())
                or (_LISTED.match(text, found.end()) and not (len(bare) > _STEM and bare.endswith(_SAYS.participles)))
            ),
        )

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper() and len(self.text) > 1


class StorySourceIndex:
    """The texts of a story that sentences are checked against."""

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        """`names` are texts whose capitalised words, such as a cast, are evidence for names only."""
        given = list(texts)
        self._cast = frozenset(word for text in names for word in WORD.findall(text) if not word[0].islower())
        # Asterisks around actions and stressed words are markup.
        self._texts = [*given, *(bare for text in given if (bare := _STARS.sub("", text)) != text)]
        self._evidence = SourceIndex(self._texts)
        self.language = language_of(" ".join(given)[:_LANGUAGE_SAMPLE])
        """The language code of the texts, such as ``en``; None if unknown."""

    @cached_property
    def _capitalised_words(self) -> frozenset[str]:
        """The capitalised words of the sources, in lower case."""
        return frozenset(word.casefold() for word in self._words if not word[0].islower())

    @cached_property
    def _lower_words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in self._words if word[0].islower())

    @cached_property
    def _words(self) -> frozenset[str]:
        found = {*self._cast, *(word for text in self._texts for word in WORD.findall(text))}
        whole = found | {_POSSESSIVE.sub("", word) for word in found}
        return frozenset(whole | {part for word in whole for part in re.split(r"['’-]", word) if part})

    @cached_property
    def stems(self) -> frozenset[str]:
        """The first letters of the words of the sources, in lower case."""
        return frozenset(word.casefold()[:_STEM] for word in self._words)

    @cached_property
    def _number_values(self) -> frozenset[int]:
        """The numbers in words of the sources."""
        return frozenset(value for text in self._texts for _, value in numbers_in_words(text))

    @cached_property
    def _joined_text(self) -> str:
        return " ".join(" ".join(self._texts).casefold().split())

    def check_sentence(self, text: str, suspects: Iterable[str] = ()) -> tuple[int, list[TextClaim]]:
        """Return the number of claims in a sentence, and those that the sources don't support.

        `suspects` are lower-case words of names already known to be unsupported; they are reported here as well.
        """
        quoted = (TextClaim("quotation", each) for each in quotations(text))
        made = list(dict.fromkeys([*self._claims(text), *quoted, *_number_word_claims(text)]))
        names, unknown = self._check_names(text)
        doubted = set(suspects)
        own = {word.casefold() for word in WORD.findall(_blank_quotations(text))}
        said = {name.casefold() for name in unknown}
        unknown += [name for name in sorted(doubted - said) if name in own]
        wrong = [claim for claim in made if not self._supports(claim)]
        return len(made) + names, [*wrong, *(TextClaim("name", name) for name in dict.fromkeys(unknown))]

    def has_name(self, name: str) -> bool:
        """Whether the sources contain all the words of `name`, capitalised or not."""
        known = _SAYS
        words = [word for word in WORD.findall(name) if word.casefold() not in known.before_titles | known.openers]
        if not words:
            return not name.strip() or bool(WORD.search(name))
        return all(
            self._knows_word(word) or (not _has_letter_case(word) and word.casefold() in self._joined_text)
            for word in words
        )

    def is_foreign(self, text: str) -> bool:
        """Whether `text` shares no word with the sources; False if it is too short to tell."""
        long = {
            word.casefold()
            for word in WORD.findall(_blank_quotations(text))
            if len(word) >= _STEM and _has_letter_case(word)
        }
        return len(long) >= ENOUGH_WORDS and not any(word[:_STEM] in self.stems for word in long)

    def _claims(self, text: str) -> Iterator[TextClaim]:
        # Names and quotations are handled separately; here a quotation may be of any length.
        yield from (claim for claim in claims(text) if claim.kind not in ("name", "quotation"))

    def _supports(self, claim: TextClaim) -> bool:
        if claim.kind == "number":
            return self._has_number(claim)
        known = self._evidence.supports(claim)
        return known or (claim.kind == "identifier" and self.has_name(claim.text))

    def _has_number(self, claim: TextClaim) -> bool:
        in_words = numbers_in_words(claim.text)
        if in_words and re.search(rf"\b{re.escape(claim.text.casefold())}\b", self._joined_text):
            return True
        if in_words:
            return any(
                value in self._number_values or self._evidence.supports(TextClaim("number", str(value)))
                for _, value in in_words
            )
        asked = parse_number(claim.text)
        in_full = asked is not None and asked[0].isdigit() and int(asked[0]) in self._number_values
        return in_full or self._evidence.supports(claim)

    def _knows_word(self, word: str) -> bool:
        folded = _POSSESSIVE.sub("", word).casefold()
        known = self._capitalised_words | self._lower_words
        if _is_known_word(folded, known):
            return True
        parts = [part for part in re.split(r"['’-]", folded) if part]
        return len(parts) > 1 and all(part in known for part in parts)

    def _check_names(self, text: str) -> tuple[int, list[str]]:
        """The number of words of names in `text`, and those that the sources don't have."""
        own = _blank_quotations(text)
        words = [_StoryWord.of(found, own) for found in WORD.finditer(own)]
        if sum(not _has_letter_case(word.text) for word in words) * 2 > len(words):
            return 0, []
        seen, unknown = 0, []
        titled = self._title_words(own)
        for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
            if not word.is_capitalised or word.text.casefold() in _SAYS.titles or word.text.startswith(("I'", "I’")):
                continue
            if word.opens and word.text.casefold() in _SAYS.openers and not self._is_capitalised(word.text):
                continue
            seen += 1
            if word.text in titled:
                continue
            if not self._is_known(word, before) and self._is_name(word, before, after):
                unknown.append(word.text)
        return seen, unknown

    def _has_other_form(self, word: str) -> bool:
        """Whether the sources have another form of a sentence's first word: “scried” for “Scrying”."""
        folded = word.casefold()
        if f"{folded}s" in self._lower_words | self._capitalised_words:
            return True
        ending = next((each for each in _SAYS.participles if folded.endswith(each)), "")
        stem = folded.removesuffix(ending) if ending else ""
        root = _FORM.sub("i", stem)
        # “Raging” comes from “rage”, too short a word to look for its other forms.
        return (len(root) >= _ROOT and root in self._roots) or (bool(stem) and f"{stem}e" in self._lower_words)

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The possible roots of the lower-case words of the sources."""
        forms = (_FORM.sub("i", word) for word in self._lower_words)
        return frozenset(form[: len(form) - cut] for form in forms for cut in (0, 1, 2, 3) if len(form) - cut >= _ROOT)

    def _title_words(self, text: str) -> frozenset[str]:
        """The words that `text` capitalises like a title, such as a spell's, and that the sources also contain."""
        found = [found[0] for found in _TITLED.finditer(text) if self._evidence.has_words(found[0])]
        return frozenset(word for each in found for word in WORD.findall(each))

    def _is_known(self, word: _StoryWord, before: _StoryWord | None) -> bool:
        if self._is_capitalised(word.text):
            return True
        if self.language == "de" and len(word.text) > _STEM and word.text.casefold()[:_STEM] in self.stems:
            return True
        if word.opens and not (word.has or word.joined) and self._has_other_form(word.text):
            return True
        return self._knows_word(word.text) and (word.opens or self.language == "de" or self._may_be_capitalised(before))

    def _is_name(self, word: _StoryWord, before: _StoryWord | None, after: _StoryWord | None) -> bool:
        """Whether an unknown capitalised word is a name, and not just the beginning of a sentence."""
        german = self.language == "de"
        if not word.opens and not german:
            return True
        if german and before is not None and not word.opens and before.text.casefold().endswith(_SAYS.inflected):
            return False
        if word.has or word.joined:
            return True
        if after is None or not after.follows:
            return False
        endings = of_language(Names, self.language or "en").verb_endings
        ended = after.text.endswith(endings) and after.text[0].islower() and len(after.text) > 3
        return ended or after.text in _SAYS.verbs or (after.is_capitalised and not german)

    def _is_capitalised(self, word: str) -> bool:
        folded = word.casefold()
        parts = [part for part in re.split(r"['’-]", folded) if part]
        return _is_known_word(folded, self._capitalised_words) or (
            len(parts) > 1 and all(self._is_capitalised(part) or part in self._lower_words for part in parts)
        )

    def _may_be_capitalised(self, before: _StoryWord | None) -> bool:
        if before is None:
            return False
        known = _SAYS
        return before.text.casefold() in known.before_titles | known.titles or (
            before.is_capitalised and self._is_capitalised(before.text)
        )


def _is_known_word(word: str, known: frozenset[str]) -> bool:
    """Whether `word` is known, or its plural or singular is: one of the Carvers is a Carver."""
    return word in known or word.rstrip("s") in known or f"{word}s" in known


def _blank_quotations(text: str) -> str:
    """`text` with its quotations blanked out, since these are looked up as a whole."""
    return _QUOTE.sub(lambda found: "\x00" * len(found[0]), text)


def _number_word_claims(text: str) -> list[TextClaim]:
    """The numbers in words, except “the two”, which refers to people named before."""
    own = _blank_quotations(text)
    found = [
        (words, value)
        for words, value in numbers_in_words(_FIGURE.sub(" ", own))
        if value != 2 or not _SAYS.two.search(own)
    ]
    return [TextClaim("number", words) for words, _ in found]


def _has_letter_case(word: str) -> bool:
    return word[0].islower() or word[0].isupper()


# Striking wrong clauses: the rest must be a sentence, and no less true than before.
#
# A clause is removed only if a comma, a semicolon or a verb after “and” shows where it begins, and never if it limits
# the rest. What refers to it is removed too. If in doubt, the whole sentence is removed.

LEAST_LEFT = 4
"""Least words of a sentence that is kept."""
_APART = lazy_re(lambda: rf"(?:;|,\s++{any_of(_CLAUSES.joins)})\s++(?={_LARGE})")
_HANGS = lazy_re(
    lambda: (
        # Possessive, so that a run of blanks is matched only from its first.
        rf",\s++(?={any_of([*_CLAUSES.joins, *_CLAUSES.begins, *_CLAUSES.relatives])}\b"
        rf"|\w+{any_of(_SAYS.participles)}\b)|(?<!\s)\s++(?={any_of(_CLAUSES.joins)}\s+{_verb_pattern()}\b)"
    )
)
_LIMITS = lazy_re(lambda: rf"\W*(?:\w+\s+)?{any_of(_CLAUSES.limits)}\b")
_DOES = lazy_re(lambda: rf"\b(?P<before>\w++)\s++{_verb_pattern()}\b")


def _verb_pattern() -> str:
    return rf"(?:{any_of(_SAYS.does)}|{any_of(sorted(_SAYS.verbs))})"


def without_wrong_clauses(sentence: str, is_wrong: Callable[[str], bool]) -> str:
    """Remove the wrong clauses of `sentence`; empty if no true sentence would be left."""
    kept: list[str] = []
    lost = False
    start = 0
    joint = ""
    for end, following in [*((m.start(), m.end()) for m in _APART.finditer(unquoted(sentence))), (len(sentence),) * 2]:
        clause = sentence[start:end]
        left = _before_wrong_piece(clause, is_wrong) if is_wrong(clause) else clause
        if left:
            kept += [joint, left] if kept else [left]
        lost = lost or left != clause
        joint, start = sentence[end:following], following
    whole = "".join(kept).rstrip(" ,;:–—-")
    if not lost or not whole:
        return ""
    ended = whole if whole[-1] in ".!?…" else f"{whole}."
    return ended[0].upper() + ended[1:]


def _before_wrong_piece(clause: str, is_wrong: Callable[[str], bool]) -> str:
    """Return the part of an independent clause before its first wrong piece, or the clause without a wrong aside."""
    hidden = unquoted(clause)
    aside = _CLAUSES.relatives.search(hidden)
    if aside and "," not in hidden[: aside.start()]:
        left = clause[: aside.start()] + clause[aside.end() :]
        if not is_wrong(left) and _is_sentence(left):
            return left
    starts = [0, *(found.start() for found in _HANGS.finditer(hidden)), len(clause)]
    pieces = [clause[one:other] for one, other in pairwise(starts)]
    wrong = [is_wrong(piece) for piece in pieces]
    first = wrong.index(True) if True in wrong else 0
    left = "".join(pieces[:first])
    limited = any(_LIMITS.match(piece) for piece in pieces[first:])
    return left if left and not limited and not is_wrong(left) and _is_sentence(left) else ""


def _is_sentence(text: str) -> bool:
    """Whether `text` has a subject and a verb, so that it is a sentence by itself."""
    if len(WORD.findall(text)) < LEAST_LEFT or (_CLAUSES.leads.match(text) and "," not in text):
        return False
    # “The wounded man” contains a word that looks like a verb.
    return any(found["before"].casefold() not in _SAYS.before_titles for found in _DOES.finditer(text))
