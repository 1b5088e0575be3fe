"""Offline summaries of stories: choose the turns, recaps and names that matter most."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from ireneo.language.files import topic
from ireneo.language.story_topics import Turns
from ireneo.language.word_lines import features, load_models
from ireneo.language.words import language_of, letters
from ireneo.language.words import sentences as split
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import (
    ACTION,
    QUOTATION,
    find_recaps,
    is_prose,
    narrators,
    needs_speaker,
    speaker_label,
    texts_by_author,
    two_roles,
)
from ireneo.summaries.story_names import key_words, names_in, shortest_forms
from ireneo.summaries.summary import Line, Mention, Section, Summary

_SAYS = topic(Turns)

MAX_SENTENCE = 600
"""Characters; a longer sentence is cut at the end of a clause, with an ellipsis."""
MAX_QUOTED = 420
"""Characters up to which the sentences of one quotation are kept together."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_BREAK = lazy_re(r"\n\s*\n|\n\s*(?:[#>•|-]|\*(?=\s)|\d{1,3}[.)])\s*|\n\s*(?=\*)")
_ASIDE = lazy_re(r"^(?:[(\[][^()\[\]]{0,60}[)\]]\s*)+|(?:(?:(?<!\s)\s++)?[(\[][^()\[\]]{0,60}[)\]]){1,12}$")
_LEAD = lazy_re(r"^[\s*_#>|~•–—-]+|[\s*_#|~•]+$")


def sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of `text`, each on one line, without code, surrounding markup and stage directions.

    With each comes whether it is an action, which roleplay writes in asterisks.
    """
    for paragraph in _BREAK.split(_FENCE.sub("\n\n", text)):
        words = " ".join(paragraph.split())
        acts = ACTION.search(words) is not None and "**" not in words and words.count("*") % 2 == 0
        inside = False
        for sentence in split(words, longest_quoted=MAX_QUOTED):
            before, inside = inside, inside != (acts and sentence.count("*") % 2 == 1)
            bare = _LEAD.sub("", _ASIDE.sub("", _LEAD.sub("", sentence)))
            if acts and "*" in bare:
                yield "*" * before + sentence.strip() + "*" * inside, False
            elif bare:
                yield bare, acts and (before or "*" in sentence)


def clipped(sentence: str, limit: int = MAX_SENTENCE) -> str:
    """Shorten a sentence to `limit` characters, at the end of a clause if possible, with an ellipsis."""
    if len(sentence) <= limit:
        return sentence
    cut = max(sentence.rfind(sign, limit // 2, limit - 1) for sign in (", ", "; ", ": ", " – ", "—", "，", "、", ". "))
    if cut < 0:
        cut = sentence.rfind(" ", limit // 2, limit - 1)
    return sentence[: cut if cut > 0 else limit - 1].rstrip(" ,;:–—") + "…"


_TURN_SIGNS = lazy_re(lambda: f"[{''.join(_SAYS.signs)}]")
SHORTEST = 5
"""A sentence with fewer words says too little by itself."""
SHORTEST_STUMP = 9
"""A question or broken-off sentence with fewer words says too little by itself."""
SHORTEST_DENSE = 6
"""In scripts without spaces, a sentence with fewer signs says too little by itself."""
_CUT_OFF = lazy_re(r"(?:--|—|–|…|\.\.\.)[\"'”’]*$")


def without_greeting(sentence: str) -> str:
    """Strip greetings, fillers and assents from the beginning of a sentence."""
    while found := _SAYS.greetings.match(sentence):
        if found.end() == 0:
            break
        sentence = sentence[found.end() :]
    return sentence


def is_chatter(sentence: str) -> bool:
    """Whether a sentence is only a greeting, an assent, laughter or a fragment."""
    rest = without_greeting(sentence)
    if _SAYS.laughter.search(sentence):
        return True
    # A Chinese or Japanese character is worth about three letters.
    dense = 0 if rest.isascii() else sum(char > "\u3000" for char in rest)
    if dense * 3 > len(rest):
        return dense < SHORTEST_DENSE
    words = len(rest.split())
    asks = rest.rstrip("\"'”’)*_").endswith("?")
    broken_off = bool(_CUT_OFF.search(rest))
    return words < (SHORTEST_STUMP if asks or broken_off else SHORTEST)


def is_heading(sentence: str) -> bool:
    """Whether a sentence is a heading: nearly every word of it is capitalised."""
    words = [word for word in letters(sentence) if len(word) > 3]
    large = sum(word[0].isupper() for word in words)
    return large * 3 > len(words) * 2 and not sentence.startswith(('"', "“", "„", "«"))


def turns_in(sentence: str) -> frozenset[str]:
    """Return the words of a sentence that signal a turn of the story."""
    return frozenset(_SAYS.turns.findall(sentence.lower())) | frozenset(_TURN_SIGNS.findall(sentence))


TURN = 2.3
"""Factor on the salience of a sentence for each word that signals a turn."""


def salience(sentence: str) -> float:
    """Rate how much of a turn of the story a sentence contains: about 0 for idle talk, at most 6."""
    score = 0.5 * TURN ** min(len(turns_in(sentence)), 3)
    if _SAYS.points_back.match(sentence):
        score *= 0.6
    if sentence[:1].islower():
        score *= 0.6
    if _SAYS.first_person.search(sentence):
        score *= 0.85
    return score * _certainty_factor(sentence)


def _certainty_factor(sentence: str) -> float:
    """Return a factor for sentences that are questions, broken off, or about the game rather than the story."""
    score = 0.4 if sentence.rstrip("\"'”’)").endswith(("?", "？")) else 1.0
    if _CUT_OFF.search(sentence):
        score *= 0.5
    return score * 0.35 ** min(len(_SAYS.table.findall(sentence.lower())), 3)


LEAF_LINES = 100
"""The maximum number of lines of a leaf: as many as a wide context of a short story has room for."""
LEAF_NAMES = 120
"""The maximum number of names of a leaf."""
WHOLE_TURN = 1_200
"""A turn of at most this many characters is one passage: whole speeches answer questions that their sentences don't."""
PASSAGE = 200, 420
"""Characters after which a passage of other texts ends with the next sentence, and the most that it may have.
Neighbouring sentences are kept together since they give order and reasons."""
ASKED = 100
"""The most characters of a question that is shown with its answer."""
SHORT_PASSAGE = 100
"""Characters; a shorter end of a text is joined to the passage before it."""
IDLE = 0.2
"""A passage of less salience is idle talk, such as about dice."""
ENOUGH = 400
"""Characters from which on the length of a passage adds nothing to its worth."""
PEAK = 0.75
"""The worth of a passage grows with its most salient sentence to this power, and with the root of its length."""
PADDED, PADDING = 200, 0.2
"""In a passage of more characters, a sentence that names nobody, and has less than this share of the greatest salience,
is left out, with an ellipsis."""
QUOTED = 0.4
"""What quotations add to the worth of a passage: deals, tasks and news are spoken by somebody of the story."""
RECAP = 6.0
"""Weight of a passage of a recap; above everything else."""
EVENTFUL = 5.9
"""Most weight of any other passage."""
SALIENCE = "salience"
"""The name of the linear model that estimates how much a sentence of a story matters later."""
NARRATED_FORM = ("@narrated",)
"""The feature for a narrator's sentence."""
LANGUAGE_SAMPLE = 4_000
"""Characters by which the language of a stretch is recognised."""


class _StorySentence(Struct, kw_only=True):
    text: str
    speaker: str
    narrated: bool
    message: Message
    stretch: int
    """Index of the text, or the part of a text, that the sentence is from."""
    recap: bool = False
    acts: bool = False
    """Whether it is an action in asterisks."""
    names: tuple[str, ...] = ()
    telling: float = 0.0
    """The salience of the sentence; 0 if it says nothing by itself."""


def tell_leaf(messages: Sequence[Message]) -> tuple[Section, ...]:
    """Write the sections of a leaf: "story", passages in story order, and "artifacts", the names, weightiest first.

    A passage is a whole turn, or a part of a long text: verbatim, prefixed with the
    speaker's name if that is somebody in the story. A stretch without words has no sections.
    """
    stretch = list(_sentences(messages))
    for each, names in zip(stretch, names_in([each.text for each in stretch]), strict=True):
        each.names = names
    _set_salience(stretch, spoken=not is_prose(messages))
    texts = [list(part) for _, part in groupby(stretch, key=lambda each: each.stretch)]
    passages = [
        passage
        for before, text in zip([[], *texts], texts, strict=False)
        for passage in _passages(text, before[-1:], whole=not is_prose(messages))
    ]
    # Where all talk is idle, the best of it is told, so that no block is empty.
    least = min(IDLE, max((peak for _, peak in passages), default=0.0))
    story = best_lines([[line for line, peak in passages if peak >= least]], LEAF_LINES)
    weights = _name_weights(stretch)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:LEAF_NAMES]
    mentions = tuple(Mention(name, round(weight, 2)) for name, weight in ranked)
    return _sections(story, mentions, messages[-1].position if messages else 0)


def _sections(story: tuple[Line, ...], names: tuple[Mention, ...], last: int) -> tuple[Section, ...]:
    out = [Section(name="story", lines=story)] if story else []
    return (*out, Section(name="artifacts", lines=(Line(names=names, position=last),))) if names else tuple(out)


def _set_salience(stretch: Sequence[_StorySentence], *, spoken: bool) -> None:
    """Rate each sentence: where English is spoken by a line over its words, otherwise by words that signal a turn."""
    rated = spoken and language_of(" ".join(each.text for each in stretch)[:LANGUAGE_SAMPLE]) == "en"
    line = load_models(SALIENCE)[SALIENCE] if rated else None
    for each in stretch:
        if is_heading(each.text) or (is_chatter(each.text) and not (each.narrated and turns_in(each.text))):
            continue
        each.telling = salience(each.text)
        if line:
            found = features(each.text, {word for name in each.names for word in key_words(name)})
            value = line.value(found.with_forms(NARRATED_FORM if each.narrated else ()))
            each.telling = math.exp(value) * _certainty_factor(each.text)


def _sentences(messages: Sequence[Message]) -> Iterator[_StorySentence]:
    telling = narrators(messages)
    roles = two_roles(messages)
    recapped = find_recaps(messages)
    number = 0
    for message in messages:
        for place, (author, whole) in enumerate(texts_by_author(message)):
            narrated = author in telling
            speaker = speaker_label(author, message, roles)
            start, end = recapped.get((message.id, place), (0, 0))
            for recap, text in ((False, whole[:start]), (True, whole[start:end]), (False, whole[end:])):
                number += 1
                for sentence, acts in sentences(text):
                    named = not (narrated or recap) if author else needs_speaker(sentence)
                    yield _StorySentence(
                        text=sentence,
                        speaker=speaker if named else "",
                        narrated=narrated,
                        message=message,
                        stretch=number,
                        recap=recap,
                        acts=acts,
                    )


def _name_weights(stretch: Sequence[_StorySentence]) -> dict[str, float]:
    """Weigh each name by the square root of the messages that name it."""
    naming = {(name, each.message.id) for each in stretch for name in each.names}
    counts = Counter(name for name, _ in sorted(naming))
    return {name: math.sqrt(times) for name, times in shortest_forms(counts).items()}


def _passages(
    text: Sequence[_StorySentence], before: Sequence[_StorySentence], *, whole: bool
) -> Iterator[tuple[Line, float]]:
    """Yield the passages of one text that say anything, each with the salience of its most salient sentence.

    `whole` if the text is one passage, unless it is long or a recap. A short question right before it is shown with it
    if it begins without a name.
    """
    telling = [place for place, each in enumerate(text) if each.telling > 0]
    if not telling:
        return
    text = text[telling[0] : telling[-1] + 1]
    one = whole and not text[0].recap and sum(len(each.text) + 1 for each in text) <= WHOLE_TURN
    for passage in [text] if one else _split_passages(text):
        if peak := max(each.telling for each in passage):
            alone = passage[0] is not text[0] or telling[0] > 0 or passage[0].names or not passage[0].speaker
            asked = () if alone else [each for each in before if each.speaker and _asks_shortly(each.text)]
            yield _join_sentences(passage, asked, peak), peak


def _asks_shortly(text: str) -> bool:
    return len(text) <= ASKED and text.rstrip("\"'”’*").endswith("?")


def _split_passages(text: Sequence[_StorySentence]) -> list[list[_StorySentence]]:
    enough, most = PASSAGE
    out: list[list[_StorySentence]] = []
    size = 0
    for each in text:
        points = each.text[:1].islower() or _SAYS.points_back.match(each.text)
        if out and (size < enough or points) and size + len(each.text) <= most:
            out[-1].append(each)
        else:
            out.append([each])
            size = 0
        size += len(each.text) + 1
    if len(out) > 1 and size < SHORT_PASSAGE:
        rest = out.pop()
        out[-1] += rest
    return out


def _join_sentences(passage: Sequence[_StorySentence], asked: Sequence[_StorySentence], peak: float) -> Line:
    message, recap = passage[0].message, passage[0].recap
    whole = recap or sum(len(each.text) for each in passage) <= PADDED
    shown = [(each, bool(whole or each.names or each.telling >= PADDING * peak)) for each in passage]
    parts = []
    for (told, acts), part in groupby(shown, key=lambda each: (each[1], each[1] and each[0].acts)):
        words = " ".join(clipped(each.text) for each, _ in part) if told else "…"
        parts.append(f"*{words}*" if acts else words)
    text = " ".join(parts).removeprefix("… ").removesuffix(" …")
    quoted = 1 - len(QUOTATION.sub("", text)) / len(text)
    worth = peak**PEAK * passage_size(text) * (1 + QUOTED * quoted)
    speaker = next((each.speaker for each in passage if each.speaker), "")
    question = "".join(f"{each.speaker}: {each.text}\n" for each in asked)
    return Line(
        text=question + (f"{speaker}: {text}" if speaker else text),
        weight=RECAP if recap and len(text) >= SHORT_PASSAGE else round(min(worth, EVENTFUL), 3),
        position=message.position,
        sources=(message.id,),
    )


def passage_size(text: str) -> float:
    """Return the factor for the length of a passage in its worth, at most 1."""
    return math.sqrt(min(len(text), ENOUGH) / ENOUGH)


DEEP_LINES = 160
"""The maximum number of lines of a deeper summary: as many as a wide context has room for."""
DEEP_NAMES = 200
"""The maximum number of names of a deeper summary."""
LINE_CHARACTERS = 32
"""Fixed cost of a line in attention, in characters."""


def tell_deeper(parts: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent story summaries: "story" and "artifacts", as in a leaf."""
    totals: dict[str, float] = {}
    for mention in (each for part in parts for line in part.lines("artifacts") for each in line.names):
        totals[mention.name] = totals.get(mention.name, 0.0) + mention.weight
    totals = shortest_forms(totals)
    names = sorted(totals, key=lambda name: (-totals[name], name))[:DEEP_NAMES]
    return _sections(
        best_lines([part.lines("story") for part in parts], DEEP_LINES),
        tuple(Mention(name, round(totals[name], 2)) for name in names),
        max((part.last_position for part in parts), default=0),
    )


def is_recap(line: Line) -> bool:
    """Whether a line of rules is from a recap."""
    return line.weight >= RECAP


def best_lines(periods: Sequence[Sequence[Line]], most: int) -> tuple[Line, ...]:
    """Return at most `most` lines, in order: those of most weight for their length.

    Each line of a period is worth less than the one before it, by the root of how many there are.
    """
    rated: list[tuple[float, int, Line]] = []
    for lines in periods:
        density = [line.weight / (len(line.text) + LINE_CHARACTERS) for line in lines]
        ranks = sorted(range(len(lines)), key=lambda place: -density[place])
        rank = {place: number for number, place in enumerate(ranks)}
        for place, line in enumerate(lines):
            rated.append((density[place] / math.sqrt(rank[place] + 1), len(rated), line))
    best = sorted(rated, key=lambda each: (-each[0], each[1]))[:most]
    return tuple(line for _, _, line in sorted(best, key=lambda each: each[1]))
