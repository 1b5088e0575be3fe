"""Find what a message states as true, without its questions, wishes, jokes, quotations, role play and pasted texts.

Introductions, and sentences in which one subject has several verbs, are split into a statement for each part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, cached_data, of_language, topic
from ireneo.language.predicates import predicate
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Connectives, Names, Words
from ireneo.language.words import (
    common_words,
    language_of_sentence,
    letters,
    sentences,
    standardise,
    writes_nouns_large,
)
from ireneo.memories.cues import FactCues, all_cues, and_words, cues, has_cue, not_german
from ireneo.memories.ended_values import corrections, put_right_at_once
from ireneo.patterns import lazy_re

_GERMAN_PHRASING = of_language(Phrasing, "de")
_FACTS = topic(Facts)

LONGEST = 6_000
"""How many characters of a message are read; a longer one was hardly typed."""
_LONGEST_STATEMENT = 420
_SHORTEST = 3
_FENCE = lazy_re(r"```.*?(?:```|\Z)|`[^`\n]{1,300}`", re.S)
_QUOTED_LINE = lazy_re(r"^[ \t]{0,4}(?:>|\|).*$", re.M)
_SMILEY = lazy_re(r"(?<=\w)[ ]?:-?[)D(](?=\s|$)|(?<=[\u2600-\u27BF\U0001F300-\U0001FAFF])\s+")
_JOINT = lazy_re(lambda: rf"[,;:–—]\s|\s{and_words()}\s|\s{any_of(topic(Connectives).contrasts)}\s", re.I)
_BLANKS = lazy_re(r"[ \t]{2,}")
BULLET = lazy_re(r"^\s{0,8}(?:[-*•–]|\d{1,2}[.)])\s+")
_QUOTATION = lazy_re(
    r"[\"“„«](?P<words>[^\"“”„«»\n]{1,2000})[\"”“»]|(?<!\w)'(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){12,600})'(?!\w)"
)
_POSSESSED = lazy_re(lambda: rf"{any_of(of_language(Facts, 'en').owners)} ", re.I)
_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
_FIGURE = lazy_re(r"\d")
_LARGE = lazy_re(rf"\b{CAPITAL}\w+")
_GERMAN = lazy_re(lambda: any_of(of_language(Words, "de").signs), re.I)


class Statement(Struct, frozen=True, kw_only=True):
    """One clause, or several that depend on each other, as it was stated."""

    text: str
    sentence: str
    language: str
    behind: str = ""
    """The next sentence, if it says more about somebody in this one."""
    made_up: bool = False
    """Whether the message tells a story, so that its statements about others are made up."""
    in_story: bool = False
    """Whether it may be meant for a story that was asked for."""
    how: bool = False
    """Whether it says how something is done."""
    asks: bool = False
    """It asks for something, and may tell something by that; nothing is so for it."""
    fragment: bool = False
    """Whether it states nothing by itself, but belongs to what stands beside it."""
    joins: bool = False
    """Whether it follows something meant in earnest, or nothing."""
    verbatim: str = ""
    """What is quoted for it if it puts right what stood before it: both, as they were said."""


def statements(text: str, before: Sequence[str] = ()) -> Iterator[Statement]:
    """The statements of a message, in order; `before` are the messages before it, the newest last."""
    return (each for each in clauses(text, before) if each.text and not each.fragment)


def clauses(text: str, before: Sequence[str] = ()) -> Iterator[Statement]:
    """The statements of a message with the fragments between them, and one without text for what isn't meant."""
    text = without_code_and_quotes(text)
    if len(text) > LONGEST or _is_role_play(text, before):
        return
    if has_cue("handed_over", text) and _is_pasted(text):
        return
    in_story = any(
        has_cue("asks_for_story", each) and not has_cue("of_occasions", each) for each in (text, *before[-2:])
    )
    made_up = in_story or any(_is_about_fiction(each) for each in (text, *before[-4:]))
    said: list[_Sentence] = []
    lines = text.split("\n")
    # "12. And the cat is back" answers how many; a list has more than one number.
    lists = sum(BULLET.match(line) is not None for line in lines) > 1
    for line in lines:
        bare = BULLET.sub("", line) if lists or not line.strip()[:1].isdigit() else line
        for sentence in _sentences(bare.strip()):
            if has_cue("framed", sentence):
                # "In my novel I live in Atlantis and work as a wizard. I have a tower."
                said.append(_Sentence("", ""))
                break
            language = _sentence_language(sentence, text)
            said = _with_sentence(said, sentence, language)
    joins = True
    for place, (sentence, language, verbatim) in enumerate(said):
        behind = said[place + 1].text if place + 1 < len(said) else ""
        told = Statement(
            text="",
            sentence=sentence,
            language=language or "en",
            made_up=made_up,
            in_story=in_story,
            verbatim=verbatim,
        )
        for piece in _sentence_statements(told) if sentence else [told]:
            refers = cues(language).refers.match(behind) if piece.text else None
            yield replace(piece, behind=behind if refers else "", joins=joins)
            joins = bool(piece.text)


class _Sentence(NamedTuple):
    """A sentence as it is read, empty if it isn't meant."""

    text: str
    language: str
    verbatim: str = ""
    """See `Statement.verbatim`."""


def _with_sentence(said: list[_Sentence], sentence: str, language: str) -> list[_Sentence]:
    """The sentences of a message with one more, which may take back the last one, or put it right.

    A correction is read as what is right, and quoted with what was wrong: "on May 4. Sorry, not May 4, May 14".
    """
    last = said[-1] if said else _Sentence("", "")
    whole = f"{last.verbatim or last.text} {sentence}" if last.text else ""
    if put := next((each for each in corrections(sentence) if each.concerns(last.text)), None):
        return [*said[:-1], _Sentence(put.applied(last.text) or sentence, last.language, whole)]
    taken = _FACTS.takes_back.search(sentence)
    if taken is None:
        right = put_right_at_once(sentence)
        return [*said, _Sentence("" if is_joke(sentence) else right or sentence, language, right and sentence)]
    is_in_jest = has_cue("joke", taken[0])
    sentence = sentence[taken.end() :].lstrip(" ,;:.!–—-")
    more = len(_WORDS.findall(sentence)) > _SHORTEST - (not is_in_jest)
    if not more or is_joke(sentence) or (language == "en" and is_in_jest and predicate(sentence) is None):
        # "Just kidding: Danish, because of her" only says what it is with the joke.
        return said[:-1]
    is_apart = is_in_jest or not whole or (cues(language).asks.match(last.text) and not _FIGURE.search(last.text))
    apart = f"… {sentence}" if whole else ""
    return [*said[:-1], _Sentence(sentence, language, apart if is_apart else whole)]


def _is_about_fiction(text: str) -> bool:
    """Whether a message is about a work of fiction, and doesn't merely ask for one to read."""
    found = [each for each in sentences(text, small_opens=True) if has_cue("fiction", each)]
    return any(not has_cue("of_books", each) for each in found)


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line; an emoticon ends one."""
    for sentence in sentences(line, small_opens=True):
        yield from (each for each in _SMILEY.split(sentence) if each.strip())


def is_joke(sentence: str) -> bool:
    """Whether a sentence is meant as a joke, by its own words."""
    return (
        has_cue("joke", sentence)
        or has_cue("hyperbole", sentence)
        or (has_cue("laughs", sentence) and has_cue("boasts", sentence))
    )


def _sentence_language(sentence: str, text: str) -> str:
    """The language of a sentence; that of the whole message if it has too few words."""
    language = language_of_sentence(sentence)
    if language != "en" or language not in all_cues():
        return language
    words = letters(sentence.casefold())
    if writes_nouns_large(sentence) and language_of_sentence(text) == "de":
        # "Is" and "am" are words of both languages.
        return "de"
    if sum(word in of_language(Words, "en").telling for word in words) > 1:
        return language
    # Next to a purely English word, a name doesn't make a sentence German: "my sister is called Günay".
    if _GERMAN.search(sentence if _english_alone().isdisjoint(words) else _LARGE.sub("", sentence)):
        return "de"
    is_clear = len(words) >= _SHORTEST + 2 and not _english_alone().isdisjoint(words)
    return language if is_clear else language_of_sentence(text)


@cached_data
def _english_alone() -> frozenset[str]:
    """Common English words that no German text has; "no" and "do", for example, are also Bavarian."""
    words = of_language(Words, "en").telling.union(word for word in common_words() if len(word) > 2 or word == "my")
    return words - of_language(Words, "de").stop


def is_joke_taken_back(text: str) -> bool:
    """Whether a message begins by saying that the message before it was a joke."""
    found = _FACTS.takes_back.search(without_code_and_quotes(text).strip())
    return found is not None and has_cue("joke", found[0])


def is_earnest(text: str) -> bool:
    """Whether a text to be remembered is meant as true: not supposed, joked, played or quoted."""
    said = without_code_and_quotes(text)
    if _is_role_play(said, ()):
        return False
    bare, quoted = without_quotations(said)
    if quoted and len(_WORDS.findall(bare)) < _SHORTEST + 3:
        return False
    return not (is_joke(bare) or _FACTS.supposed.search(bare) or _FACTS.condition.match(bare))


def is_wish_for_answers(clause: str, sentence: str) -> bool:
    """Whether a clause says how the assistant should answer from now on.

    A complete form says so, or a word for the form of answers and, up to the end of the sentence, one that says that
    it is meant for good. What people tell of themselves, and what they want of one text, is no such wish.
    """
    if any(each.rules.match(clause) for each in all_cues().values()):
        return True
    rest = sentence[max(sentence.find(clause), 0) :]
    clause = clause.rpartition(": ")[2]
    if not (has_cue("manners", clause) and has_cue("standing", rest)) or has_cue("of_one_text", clause):
        return False
    if topic(Facts).wants_so.match(clause):
        return True
    said = predicate(clause)
    tells = any(re.match(any_of(each.known.openers), clause, re.I) for each in all_cues().values())
    return not (tells or (said is not None and said.subject and clause.startswith(said.subject)))


def without_code_and_quotes(text: str) -> str:
    """A text without code and quoted lines, with plain apostrophes and blanks."""
    text = text.replace("’", "'").replace("\u00a0", " ").replace("‘", "'")
    return _BLANKS.sub(" ", _QUOTED_LINE.sub("", _FENCE.sub(" ", text)))


def _is_role_play(text: str, before: Sequence[str]) -> bool:
    """Whether the message is role play, or continues one that began in the last two messages."""
    return any(has_cue("played", each) for each in (text, *before[-3:]))


def _is_pasted(text: str) -> bool:
    """Whether the message contains a text to be worked on, without quotation marks."""
    if any(len(_WORDS.findall(found["words"] or found["single"])) > 3 for found in _QUOTATION.finditer(text)):
        return False
    without = text
    after = re.search(r":\s*\n?\s*\S", without) or re.search(r"\n\s*\n", without.strip())
    return bool(after) and len(_WORDS.findall(without[after.start() if after else 0 :])) > 5


def _sentence_statements(told: Statement) -> Iterator[Statement]:
    """The clauses of a sentence; `told` is the statement without its text."""
    rows = cues(told.language)
    bare, quoted = without_quotations(told.sentence)
    if (quoted and len(_WORDS.findall(bare)) < 5) or (told.made_up and rows.asks.match(bare)):
        # "Write a story where I'm a pirate and live in Tortuga" asks for fiction.
        yield told
        return
    if _FACTS.condition.match(bare):
        # "If I ever ask about work after ten, tell me to go to bed" is a rule for the assistant.
        is_rule = is_wish_for_answers(bare.strip(), bare)
        how = rows.steps.search(bare) and not rows.supposed.search(bare) and not bare.rstrip().endswith("?")
        yield replace(told, text=bare.strip() if is_rule or how else "", how=bool(how and not is_rule))
        return
    if _describes_method(bare, rows):
        yield replace(told, text=_cut(bare.strip()), how=True)
        return
    if tells := rows.tells_by_asking.match(bare):
        # "Did I tell you I hate coffee now?"
        bare = f"{bare[tells.end() :].rstrip(' ?')}."
    yield from _clause_statements(list(_clauses(bare, rows)), bare, told, quoted=quoted)


def _clause_statements(pieces: list[str], bare: str, told: Statement, *, quoted: bool) -> Iterator[Statement]:
    """The statements of the clauses of a sentence; `told` is the statement without its text."""
    rows = cues(told.language)
    asked = bare.rstrip(" \"'”)").endswith("?")
    for at, piece in enumerate(pieces):
        is_question = asked and at == len(pieces) - 1
        if is_wish_for_answers(_without_fillers(piece, rows), bare) and not (
            is_question and (at or not rows.address.search(piece))
        ):
            yield replace(told, text=_without_fillers(piece, rows))
            continue
        if (rows.condition.match(piece) and not is_question) or rows.unreal.search(piece):
            # A clause that depends on a condition or a wish is dropped; what was said before it is kept.
            yield told
            return
        if is_question or rows.asks.match(piece):
            supposes = rows.condition.match(piece) or rows.supposed.search(piece) or rows.hyperbole.search(piece)
            yield told if supposes else replace(told, text=piece, asks=True)
            if f"{piece}:" in bare:
                # "Write a toast, something like: I have four wives": the rest is what somebody else is to say.
                return
            continue
        if _reports_other_opinion(pieces, at, rows):
            yield replace(told, text=_part_before(piece, rows.reported.search(piece), rows))
            continue
        if rows.supposed.search(piece) or rows.hyperbole.search(piece) or (quoted and at == len(pieces) - 1):
            yield replace(told, text=_part_before(piece, rows.supposed.search(piece), rows))
            continue
        text = _without_authority(_without_fillers(piece, rows), rows)
        is_fragment = not _has_content(text, piece, told.sentence)
        yield replace(told, text=piece if is_fragment else text, fragment=is_fragment)


def _describes_method(bare: str, rows: FactCues) -> bool:
    """Whether a sentence says how something is done, or that it failed."""
    if "?" in bare or not (rows.steps.search(bare) or rows.failed.search(bare)):
        return False
    return not (rows.supposed.search(bare) or rows.asks.match(bare) or rows.reported.search(bare))


def _has_content(text: str, piece: str, sentence: str) -> bool:
    """Whether a part of a sentence has enough words besides its introduction to state something."""
    size = len(_WORDS.findall(text))
    if size < _SHORTEST - 1 or len(text) > _LONGEST_STATEMENT:
        return False
    # A few words without a verb introduce what follows: "Oh, and the allergy: …".
    introduces = predicate(piece) is None and sentence.partition(piece)[2].lstrip().startswith(":")
    return size > _SHORTEST or not introduces


def _without_authority(text: str, rows: FactCues) -> str:
    """Remove a trusted authority from a clause: "vet says he can eat" becomes "he can eat"."""
    by = rows.authority.match(text)
    said = _without_fillers(text[by.end() :].removeprefix(" that"), rows) if by else ""
    if said[:1].isdigit():
        # "The scales say 86": only the scales show what the figure means.
        return text
    return said if len(_WORDS.findall(said)) >= _SHORTEST else text


def _reports_other_opinion(pieces: list[str], at: int, rows: FactCues) -> bool:
    """Whether a clause reports somebody else's opinion; the next clause that depends on it is marked."""
    piece = pieces[at]
    if any(rows.authority.match(part) for part in piece.split(", ")):
        return False
    said_by = rows.reported.search(standardise(piece))
    if said_by and said_by.end() >= len(piece) - 1 and pieces[at + 1 : at + 2]:
        # "My boss says, I'd retire": what follows is still her opinion.
        pieces[at + 1] = f"{said_by[0]} {pieces[at + 1]}"
    return said_by is not None


def _part_before(piece: str, unsure: re.Match[str] | None, rows: FactCues) -> str:
    """The part of a clause before a report or a guess: "I was at the doctor's and Pa says …", "I eat fish, I guess"."""
    joints = list(_JOINT.finditer(piece, 0, unsure.start() if unsure else 0))
    own = piece[: joints[-1].start()] if joints else ""
    if len(_WORDS.findall(own)) <= _SHORTEST or rows.asks.match(own):
        return ""
    doubt = rows.reported.search(own) or rows.supposed.search(own) or rows.hyperbole.search(own)
    return "" if doubt else _without_fillers(own, rows)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_STATEMENT else text[:_LONGEST_STATEMENT].rsplit(" ", 1)[0] + "…"


def without_quotations(sentence: str) -> tuple[str, bool]:
    """The sentence without quotations, and whether one of them was longer than a name or a title."""
    quoted = False

    def drop(found: re.Match[str]) -> str:
        nonlocal quoted
        if len(_WORDS.findall(found["words"] or found["single"])) <= 3:
            return found[0]
        quoted = True
        return " … "

    bare = _QUOTATION.sub(drop, sentence)
    # A quotation with only one of its marks here continues in another sentence.
    if bare.count('"') % 2 or (bare.count("“") != bare.count("”") and "„" not in bare):
        return "", True
    return bare, quoted


def _clauses(sentence: str, rows: FactCues) -> Iterator[str]:
    """The clauses of a sentence that could stand alone, each with those that depend on it."""
    start = 0
    for found in rows.breaks.finditer(sentence):
        # "Margaret and I": a clause has a verb, and so more words than a name.
        if len(_WORDS.findall(sentence, start, found.start())) < (2 if found[0].strip()[:1] in ";:–—(" else 3):
            continue
        if topic(Phrasing).together.search(sentence, start, found.end()):
            continue
        if found[0].strip()[:1] in ("", ",") and _hangs(sentence[start : found.start()], rows):
            continue
        if _POSSESSED.match(sentence, found.end()) and predicate(sentence[found.end() :]) is None:
            # "With Ben and his wife in Leeds" is not a clause.
            continue
        yield sentence[start : found.start()].strip(" ,;–—-")
        start = found.end()
    yield sentence[start:].strip(" ,;–—-")


def _hangs(piece: str, rows: FactCues) -> bool:
    """Whether the beginning of a sentence belongs to the clause after it: no "From May I'll be in Bath, …"."""
    if not rows.hangs.match(piece):
        return False
    said = None if rows.subordinate.match(piece) else predicate(piece)
    return said is None or not said.subject


def _without_fillers(piece: str, rows: FactCues) -> str:
    """A clause without filler words at its beginning."""
    while found := rows.leads.match(piece):
        piece = piece[found.end() :].lstrip(" ,;:–—-")
    piece = piece.strip(" ,;:–—-…")
    return piece[1:] if piece.startswith("(") and ")" not in piece else piece


_EDGES = " .!,;…"
_PIECES = lazy_re(
    lambda: rf",\s+(?:{and_words()} )?|(?<!\s)\s++{and_words()}\s++(?={any_of(topic(Phrasing).begins)}\s)", re.I
)


def german_and(text: str) -> tuple[str, str] | None:
    """Split a German clause before an "und" that a second verb follows; the second clause gets the same subject."""
    found, known = _GERMAN_PHRASING.second_verb.match(text), _GERMAN_PHRASING
    if found is None:
        return None
    who, verb = found["who"] or "ich", found["verb"]
    third = who.casefold() not in known.group
    fits = verb.endswith("t") if third else verb.endswith("e") if who.casefold() == "ich" else verb.endswith("en")
    if not fits and verb not in (known.third_forms if third else known.first_forms):
        return None
    return text[: found.end("first")], f"{who} {text[found.start('verb') :]}"


def omits_subject(statement: Statement) -> bool:
    """Whether a German clause has the subject of the clause before it: "Ich wohne in Graz und arbeite bei Magna"."""
    before = statement.sentence.partition(statement.text)[0].rstrip(": ").rpartition(": ")[2]
    if not _GERMAN_PHRASING.speaker.match(_without_fillers(before, cues("de"))):
        return False
    verb = _GERMAN_PHRASING.alone.match(statement.text)
    return verb is not None and (verb[0] in _GERMAN_PHRASING.first_forms or verb[0] not in not_german())


def introduction_facts(statement: Statement, *, opens: bool) -> list[str]:
    """The facts of an introduction: name, age, work and place, one after the other.

    An introduction with only a name and an age must open the message; otherwise it may be about somebody else.
    """
    whole = statement.sentence[max(statement.sentence.find(statement.text), 0) :]
    found = cues(statement.language).introduces.match(whole)
    if found is None or found["name"].casefold() in topic(Names).none or not (opens or found["sure"]):
        return []
    if statement.made_up:
        # "They gave out the parts, I'm Captain Bain" is about a role in a play.
        return []
    if found["name"].endswith(("'s", "’s")):
        # "Irina's from Tbilisi" is about her.
        return []
    pieces = [each.strip() for each in _PIECES.split(statement.text[found.start("name") :]) if each.strip(_EDGES)]
    first = pieces[0].removeprefix(found["name"]).strip()
    first = topic(Phrasing).here.sub("", first).removeprefix("by the way").removeprefix("btw")
    return [found["name"], *([first] if first.strip(_EDGES) else []), *pieces[1:]]
