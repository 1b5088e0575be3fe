"""Offline summaries of stories: choose the sentences, names and turning points that matter most."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import topic
from ireneo.language.story_topics import Turns
from ireneo.language.word_lines import features, load_models
from ireneo.language.words import balanced, language_of, letters, terms
from ireneo.language.words import sentences as split
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import (
    ACTION,
    WORDS,
    find_recaps,
    is_prose,
    narrators,
    needs_speaker,
    speaker_label,
    texts_by_author,
    two_roles,
    with_speaker,
)
from ireneo.summaries.story_names import key_words, names_in, shortest_forms
from ireneo.summaries.summary import BestFirst, Line, Mention, Section, Summary

_SAYS = topic(Turns)

TELLING = 6.0
"""Weight of what happens in a sentence, compared with the names in it."""
AGAIN = 0.2
"""Factor on a name's worth once a chosen sentence has it."""
UNEVEN = 1.5
"""Most that one slot may give, as a multiple of its even share."""
PER_CHARACTERS = 160
"""Fixed cost of a sentence, in characters."""


class SentenceValue(Struct, frozen=True, kw_only=True):
    """The values that the choice of a sentence depends on."""

    worth: float
    """Worth apart from names."""
    size: int
    """Characters."""
    names: Mapping[str, float]
    """Worth of its names, by their key words."""
    slot: int = 0
    """Index of the period of the story it is from."""


def choose(sentences: Sequence[SentenceValue], most: int, *, slots: int = 1, known: Collection[str] = ()) -> list[int]:
    """Return the indices of at most `most` sentences, in order, chosen greedily by gain per size.

    No slot gives much more than its even share as long as others have candidates. The names with the key words `known`
    count as mentioned already.
    """
    if len(sentences) <= most:
        return list(range(len(sentences)))
    told = set(known)
    taken: Counter[int] = Counter()
    chosen: list[int] = []
    waiting = list(range(len(sentences)))

    def gain_of(place: int) -> float:
        each = sentences[place]
        names = sum(worth if name not in told else worth * AGAIN for name, worth in each.names.items())
        return (each.worth + names) / (PER_CHARACTERS + each.size)

    while waiting and len(chosen) < most:
        slot_limit = most if chosen else max(math.ceil(most / slots * UNEVEN), 1)
        best, waiting = BestFirst((place, gain_of(place)) for place in waiting), []
        while len(chosen) < most and (place := best.take(gain_of)) is not None:
            if taken[sentences[place].slot] >= slot_limit:
                waiting.append(place)
                continue
            chosen.append(place)
            taken[sentences[place].slot] += 1
            told.update(sentences[place].names)
    return sorted(chosen)


MAX_SENTENCE = 280
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


def salience(sentence: str, turns: Mapping[str, float] | None = None) -> float:
    """Rate how much of a turn of the story a sentence contains: about 0 for idle talk, at most 3.

    `turns` weights the words that signal one; by default each has the weight 1.
    """
    # An exact sum, since the order of a set differs from one process to the next.
    told = math.fsum((turns if turns is not None else dict.fromkeys(turns_in(sentence), 1.0)).values())
    score = 0.6 + 0.8 * min(told, 3)
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


USUAL = 3
"""Sentences of a stretch from which on a word is discounted as a signal of a turn."""
LEAF_LINES = 40
"""The maximum number of lines of a leaf: as many as a wide context has room for."""
LEAF_NAMES = 120
"""The maximum number of names of a leaf."""
FIRST = 0.1
"""Bonus for each new name in a sentence, up to two, as a share of the sentence's salience."""
IDLE = 0.12
"""Salience below which a sentence is idle talk, such as about dice."""
BESIDE = 0.25
"""Salience below which a sentence of a recap is idle talk."""
NARRATED = 1.3
"""Factor for a narrator's sentences."""
ASIDE = 0.3
"""Factor for what narrators say about themselves."""
PLAYED = 0.5
"""Factor for what players say, where several speak."""
FEW = 2
"""With at most this many speakers nobody is taken for a player."""
AT_A_TABLE = 0.015
"""Least share of sentences about the game by which a stretch is known to be played at a table."""
NAMED_AS = 6
"""An author whom others name less than once for this many of the author's sentences is a player, not a character."""
SPEAKING = 0.25
"""Weight of speaking, against being named, for a name."""
GOOD_LENGTH = 80, 280
"""Ideal length of a line, in characters."""
RECAP_PASSAGE = 200, 420
"""Characters after which a passage of a recap ends with the next sentence, and the most that it may have."""
PASSAGE = 90, 280
"""These lengths for other passages. Neighbouring sentences are kept together since they give order and reasons."""
WHOLE_TURN = 320
"""A turn of at most this many characters is one passage, including idle words in its middle."""
WITH_ANSWERS, ANSWERS = 1.5, 0.4
"""The minimum worth of a passage that is shown with adjacent turns, and of those turns: they mostly say who is meant,
where, and what came of it."""
EXCHANGE, EXCHANGED = 2, 260
"""The number of messages within which turns answer one another, and the maximum number of characters that are shown
with a passage."""
SHORT_PASSAGE = 100
"""Characters; a shorter end of a text is joined to the passage before it."""
MAX_RECAPPED = 600
"""The maximum number of characters of a sentence of a recap, whose end tells the outcome."""
TOGETHER = 0.75
"""Factor for sentences that share a passage."""
RECAP = 6.0
"""Least worth of a passage of a recap; above everything else."""
EVENTFUL = 5.9
"""Most worth of any other passage."""
RECAPPED = 2.5
"""Factor for the worth of a recap's sentences, added to `RECAP`."""
SALIENCE = "salience"
"""The name of the linear model that estimates how much a sentence of a story matters later."""
NARRATED_FORM = ("@narrated",)
"""The feature for a narrator's sentence."""
OPENS, CLOSES = 0.05, 0.05
"""The amounts added to the salience if a sentence opens a thread, and if it ends one."""
USUAL_OPENS, USUAL_CLOSES = 3.0, 4.0
"""The negated values that both models give to most sentences with content."""
MATTERS = 3.0
"""Salience of a sentence that surely matters later, where sentences are rated."""
LANGUAGE_SAMPLE = 4_000
"""Characters by which the language of a stretch is recognised."""


class _StorySentence(Struct, kw_only=True):
    text: str
    speaker: str
    narrated: bool
    authored: bool
    """Whether the speaker is named, and not just a role."""
    message: Message
    stretch: int
    """Index of the text, or the part of a text, that the sentence is from."""
    recap: bool = False
    aside: bool = False
    """Whether a narrator speaks of themselves."""
    acts: bool = False
    """Whether it is an action in asterisks."""
    names: tuple[str, ...] = ()
    turns: frozenset[str] = frozenset()
    """The words of the sentence that signal a turn of events."""
    telling: float = 0.0
    """The salience of the sentence."""
    rated: bool = False
    """Whether `telling` is what the sentence bears on what follows."""
    weight: float = 0.0
    """The worth of the sentence apart from its neighbours."""


def tell_leaf(messages: Sequence[Message]) -> tuple[Section, ...]:
    """Write the sections of a leaf: "story", passages in story order, and "artifacts", the names, weightiest first.

    Sentences are verbatim, prefixed with the speaker's name if that is somebody in the story; long ones are cut, with
    an ellipsis. Where what they bear is known, that decides which are chosen. A stretch without words has no sections.
    """
    stretch = list(_sentences(messages))
    for each, names in zip(stretch, names_in([each.text for each in stretch]), strict=True):
        each.names = names
    _set_salience(stretch)
    if not is_prose(messages):
        _set_salience_by_model(stretch)
    weights = _name_weights(stretch)
    lines = _passage_lines(list(_lines(stretch, weights, whole=not is_prose(messages))))
    story = tuple(lines[place] for place in choose([_sentence_value(line) for line in lines], LEAF_LINES))
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:LEAF_NAMES]
    mentions = tuple(Mention(name, round(weight, 2)) for name, weight in ranked)
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if mentions:
        last = messages[-1]
        out.append(Section(name="artifacts", lines=(Line(names=mentions, position=last.position),)))
    return tuple(out)


def _set_salience(stretch: Sequence[_StorySentence]) -> None:
    for each in stretch:
        each.turns = turns_in(each.text)
    usual = Counter(word for each in stretch for word in each.turns)
    counts = {word: math.sqrt(min(USUAL / times, 1.0)) for word, times in usual.items()}
    played = len({author for each in stretch for author, _ in texts_by_author(each.message) if author}) > FEW
    for each in stretch:
        each.telling = salience(each.text, {word: counts[word] for word in each.turns})
        if not each.recap:
            each.telling *= ASIDE if each.aside else NARRATED if each.narrated else PLAYED if played else 1.0


def _set_salience_by_model(stretch: Sequence[_StorySentence]) -> None:
    """Set the salience of each sentence of an English stretch by the lines over its words."""
    if language_of(" ".join(each.text for each in stretch)[:LANGUAGE_SAMPLE]) != "en":
        return
    line, threads = load_models(SALIENCE)[SALIENCE], load_models("threads")
    for each in stretch:
        if is_heading(each.text) or _is_idle(each):
            continue
        names = {word for name in each.names for word in key_words(name)}
        found = features(each.text, names).with_forms(NARRATED_FORM if each.narrated else ())
        value = line.value(found) + OPENS * (threads["opens"].value(found) + USUAL_OPENS)
        value += CLOSES * (threads["closes"].value(found) + USUAL_CLOSES)
        each.rated = True
        each.telling = MATTERS * _certainty_factor(each.text) / (1 + math.exp(-value))


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
                    of_itself = needs_speaker(sentence)
                    named = not (narrated or recap) if author else of_itself
                    yield _StorySentence(
                        text=sentence,
                        speaker=speaker if named else "",
                        narrated=narrated,
                        authored=bool(author) and named,
                        message=message,
                        stretch=number,
                        recap=recap,
                        aside=narrated and bool(author) and of_itself,
                        acts=acts,
                    )


def _name_weights(stretch: Sequence[_StorySentence]) -> dict[str, float]:
    """Weigh each name by the square root of the messages that name it; idle talk is weighted less."""
    counts: dict[str, float] = defaultdict(float)
    seen: set[tuple[str, str]] = set()
    narrated = any(each.narrated for each in stretch)
    players = _player_key_words(stretch)
    # Sponsors and broadcast details are in one text, together with words about the show.
    shows = {each.stretch for each in stretch if _SAYS.show.search(each.text.lower())}
    for each in stretch:
        named = [
            (name, 1.0)
            for name in each.names
            if each.stretch not in shows and not any(word in players for word in key_words(name))
        ]
        if not narrated and each.authored:
            speakers = [speaker.strip() for speaker in each.speaker.split(",")]
            named += [(name, SPEAKING) for name in speakers if not players.issuperset(key_words(name))]
        for name, times in named:
            if (name, each.message.id) not in seen:
                seen.add((name, each.message.id))
                counts[name] += times * min(each.telling, 1.0)
    return {name: math.sqrt(times) for name, times in shortest_forms(counts).items()}


def _player_key_words(stretch: Sequence[_StorySentence]) -> frozenset[str]:
    """Return the key words of the authors at a table who play somebody else: the others seldom name them."""
    said: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for each in stretch:
        own = {word for author, _ in texts_by_author(each.message) for word in key_words(author)}
        said.update(own)
        named.update({word for name in each.names for word in key_words(name)} - own)
    of_the_game = sum(_SAYS.table.search(each.text.lower()) is not None for each in stretch)
    if not any(each.narrated for each in stretch) and of_the_game < AT_A_TABLE * len(stretch):
        return frozenset()
    return frozenset(word for word, times in said.items() if named[word] * NAMED_AS < times)


class _SpokenPassage(Struct, frozen=True, kw_only=True):
    """A line of a leaf, before its neighbours join it."""

    line: Line
    speaker: str
    """The speaker or narrator; empty in prose."""
    audience: frozenset[str] | None
    """The characters who were present; None for everybody."""


def _lines(stretch: Sequence[_StorySentence], weights: Mapping[str, float], *, whole: bool) -> Iterator[_SpokenPassage]:
    """Yield the passages of a stretch in order: neighbouring sentences of one text that are worth anything.

    `whole`: a short text is one passage.
    """
    known: set[str] = set()
    run: list[_StorySentence] = []
    for each in stretch:
        keys = {word for name in each.names for word in key_words(name)}
        each.weight = _sentence_worth(each, len(keys - known))
        known |= keys
        if run and run[-1].stretch != each.stretch:
            yield from (_make_passage(passage, weights) for passage in _passages(run, whole=whole))
            run = []
        if each.weight > 0 or run:
            run.append(each)
    if run:
        yield from (_make_passage(passage, weights) for passage in _passages(run, whole=whole))


def _passage_lines(passages: Sequence[_SpokenPassage]) -> list[Line]:
    """Return the lines of a leaf: the weightiest spoken passages, with those of adjacent turns."""
    taken: set[int] = set()
    groups: list[list[int]] = []
    for place in sorted(range(len(passages)), key=lambda place: -passages[place].line.weight):
        if place in taken:
            continue
        group = [place]
        if passages[place].line.weight >= WITH_ANSWERS:
            beside = (_adjacent_passage(passages, place, step) for step in (-1, 1))
            group = sorted([place, *(each for each in beside if each >= 0 and each not in taken)])
        taken.update(group)
        groups.append(group)
    return [_join_turns([passages[place] for place in group]) for group in sorted(groups)]


def _adjacent_passage(passages: Sequence[_SpokenPassage], place: int, step: int) -> int:
    """Return the index of the passage in an adjacent turn that answers one; below 0 if there is none."""
    one, other = passages[place], place + step
    while 0 <= other < len(passages) and passages[other].line.position == one.line.position:
        other += step
    if not 0 <= other < len(passages):
        return -1
    line = passages[other].line
    answers = (
        bool(one.speaker and passages[other].speaker)
        # A line is known to those alone who were there for all of it.
        and passages[other].audience == one.audience
        and max(one.line.weight, line.weight) < RECAP
        and line.weight >= ANSWERS
        and len(line.text) <= EXCHANGED
        and abs(line.position - one.line.position) <= EXCHANGE
    )
    return other if answers else -1


def _join_turns(passages: Sequence[_SpokenPassage]) -> Line:
    """Join the words of several turns into one line, with the name of each speaker."""
    lines = [each.line for each in passages]
    if len(lines) == 1:
        return lines[0]
    named = ((f"{each.speaker}: ", each.line.text) for each in passages)
    return replace(
        lines[0],
        text=" ".join(name + text.removeprefix(name) for name, text in named),
        names=tuple({mention.name: mention for line in lines for mention in line.names}.values()),
        weight=round(min(sum(line.weight for line in lines), EVENTFUL), 2),
        position=lines[-1].position,
        sources=tuple(dict.fromkeys(source for line in lines for source in line.sources)),
        begins=lines[0].position,
    )


def _passages(run: Sequence[_StorySentence], *, whole: bool) -> Iterator[list[_StorySentence]]:
    """Split the sentences of a text, the first of which is worth something, into passages that stand alone."""
    last = max(place for place, each in enumerate(run) if each.weight > 0)
    if whole and not run[0].recap and sum(len(each.text) + 1 for each in run[: last + 1]) <= WHOLE_TURN:
        yield list(run[: last + 1])
        return
    for is_told, part in groupby(run, key=lambda each: each.weight > 0):
        if is_told:
            yield from _split_passages(list(part))


def _split_passages(run: Sequence[_StorySentence]) -> list[list[_StorySentence]]:
    enough, most = RECAP_PASSAGE if run[0].recap else PASSAGE
    out: list[list[_StorySentence]] = []
    size = 0
    for each in run:
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


def _sentence_worth(each: _StorySentence, new: int) -> float:
    """Return the worth of a sentence with `new` new names; 0 for idle talk."""
    if is_heading(each.text) or each.telling < (BESIDE if each.recap else IDLE):
        return 0.0
    if each.recap:
        return each.telling
    if _is_idle(each):
        return 0.0
    weight = each.telling * (1 + FIRST * min(new, 2))
    return weight if balanced(each.text) else weight * 0.6


def _is_idle(each: _StorySentence) -> bool:
    return is_chatter(each.text) and not (each.narrated and each.turns)


def _make_passage(sentences: Sequence[_StorySentence], weights: Mapping[str, float]) -> _SpokenPassage:
    message = sentences[0].message
    authors = [author for author, _ in texts_by_author(message) if author]
    audience = None if message.draft.present is None else frozenset([*message.draft.present, *authors])
    return _SpokenPassage(line=_join_sentences(sentences, weights), speaker=next(iter(authors), ""), audience=audience)


def _join_sentences(passage: Sequence[_StorySentence], weights: Mapping[str, float]) -> Line:
    first = passage[0]
    text = " ".join(
        f"*{words}*" if acts else words
        for acts, part in groupby(passage, key=lambda each: each.acts)
        if (words := " ".join(clipped(each.text, MAX_RECAPPED if each.recap else MAX_SENTENCE) for each in part))
    )
    worth = sum(each.weight for each in passage)
    worth *= TOGETHER if len(passage) > 1 and first.recap else 1.0
    worth *= min(0.2 + 0.8 * len(text) / GOOD_LENGTH[0], GOOD_LENGTH[1] / len(text) if len(passage) == 1 else 1.0, 1.0)
    weight = RECAP + RECAPPED * worth if first.recap and len(text) >= SHORT_PASSAGE else min(worth, EVENTFUL)
    shown = dict.fromkeys(name for each in passage for name in each.names if name in text)
    speaker = next((each.speaker for each in passage if each.speaker), "")
    return Line(
        text=with_speaker(speaker, text, first.message.text),
        names=tuple(Mention(name, round(weights.get(name, 0.5), 2)) for name in shown),
        weight=round(weight, 2),
        position=first.message.position,
        sources=(first.message.id,),
    )


def _sentence_value(line: Line) -> SentenceValue:
    values = {word: mention.weight for mention in line.names for word in key_words(mention.name)}
    return SentenceValue(worth=TELLING * line.weight, size=len(line.text), names=values)


DEEP_LINES = 160
"""The maximum number of lines of a deeper summary: as many as a wide context has room for."""
RECAPS_SHARE = 0.6
"""Most recaps among the lines of a deeper summary, as a share; other lines give more detail."""
DEEP_NAMES = 200
"""The maximum number of names of a deeper summary."""
SLOTS = 12
"""Periods into which a summary is divided, each with its share of the sentences and names."""
CONSIDERED = 1_200
"""The maximum number of sentences that are compared: the weightiest of each part."""


def tell_deeper(parts: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent story summaries: "story" and "artifacts", as in a leaf."""
    slots = min(len(parts), SLOTS)
    slot_of = [number * slots // len(parts) for number in range(len(parts))]
    by_slot: list[dict[str, float]] = [{} for _ in range(slots)]
    totals: dict[str, float] = {}
    for part, slot in zip(parts, slot_of, strict=True):
        for mention in (each for line in part.lines("artifacts") for each in line.names):
            by_slot[slot][mention.name] = by_slot[slot].get(mention.name, 0.0) + mention.weight
            totals[mention.name] = totals.get(mention.name, 0.0) + mention.weight
    story = _choose_lines(parts, slot_of, slots, totals)
    named = recapped_names(line for part in parts for line in part.lines("story"))
    names = _kept_names(
        _weight_by_recaps(shortest_forms(totals), named), [_weight_by_recaps(slot, named) for slot in by_slot]
    )
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if names:
        last = max(part.last_position for part in parts)
        out.append(Section(name="artifacts", lines=(Line(names=names, position=last),)))
    return tuple(out)


def _choose_lines(
    parts: Sequence[Summary], slot_of: Sequence[int], slots: int, totals: Mapping[str, float]
) -> tuple[Line, ...]:
    """Choose the lines that matter most: recaps first, then others from every period."""
    each = max(CONSIDERED // max(len(parts), 1), 6)
    heard = _SeenRuns()
    recapped: set[str] = set()
    found: dict[bool, list[Line]] = {True: [], False: []}
    weighed: dict[bool, list[SentenceValue]] = {True: [], False: []}
    for part, slot in zip(parts, slot_of, strict=True):
        told = part.lines("story")
        weightiest = sorted(range(len(told)), key=lambda place: -told[place].weight)[:each]
        for line in (told[place] for place in sorted(weightiest)):
            new = heard.new_share(line.text)
            if new < LEAST_NEW:
                continue
            recap = line.weight >= RECAP
            names = {
                word: math.log1p(totals.get(mention.name, mention.weight))
                for mention in line.names
                for word in key_words(mention.name)
            }
            said = frozenset(terms(line.text))
            if recap:
                new *= OLD + (1 - OLD) * len(said - recapped) / max(len(said), 1)
                recapped |= said
            worth = TELLING * line.weight * (new if recap else 1.0)
            found[recap].append(line)
            weighed[recap].append(SentenceValue(worth=worth, size=len(line.text), names=names, slot=slot))
    recaps = choose(weighed[True], int(DEEP_LINES * RECAPS_SHARE), slots=slots)
    named = {word for place in recaps for word in weighed[True][place].names}
    others = choose(weighed[False], DEEP_LINES - len(recaps), slots=slots, known=named)
    kept = [*(found[True][place] for place in recaps), *(found[False][place] for place in others)]
    return tuple(sorted(kept, key=lambda line: line.placed_at))


LEAST_NEW = 0.25
"""Least share of new word runs; a line with fewer is a repetition, such as of an advertisement."""
OLD = 0.2
"""Factor for a passage of a recap without any new term."""
RUN = 3
"""Words in a run."""
UNKNOWN = 0.3
"""Factor for a name that no recap knows: it may be of the table, and not of the story."""


class _SeenRuns:
    """The word runs seen so far, independent of how they were split into lines."""

    def __init__(self) -> None:
        self._runs: set[int] = set()

    def new_share(self, text: str) -> float:
        """Return the share of a text's word runs that are new, from 0 to 1, and add them."""
        words = WORDS.findall(text.lower())
        runs = {hash(tuple(words[place : place + RUN])) for place in range(max(len(words) - RUN + 1, 1))}
        new = len(runs - self._runs) / len(runs)
        self._runs |= runs
        return new


def recapped_names(lines: Iterable[Line]) -> frozenset[str]:
    """Return the key words of the names in recaps."""
    return frozenset(
        word for line in lines if line.weight >= RECAP for mention in line.names for word in key_words(mention.name)
    )


def name_worth(name: str, known: Collection[str]) -> float:
    """Return a factor for how likely a name belongs to the story, by whether a recap knows it."""
    return 1.0 if not known or any(word in known for word in key_words(name)) else UNKNOWN


def _weight_by_recaps(worth: Mapping[str, float], known: Collection[str]) -> dict[str, float]:
    return {name: value * name_worth(name, known) for name, value in worth.items()}


def _kept_names(totals: Mapping[str, float], by_slot: Sequence[Mapping[str, float]]) -> tuple[Mention, ...]:
    """Keep the weightiest names in half of the room, and in the rest those of each period in turns."""
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    kept = dict.fromkeys(ranked[: DEEP_NAMES // 2])
    of_slots = [
        iter(sorted((name for name in slot if name in totals), key=lambda name: (-slot[name], name)))
        for slot in by_slot
    ]
    while of_slots and len(kept) < min(DEEP_NAMES, len(totals)):
        for slot in list(of_slots):
            name = next((name for name in slot if name not in kept), None)
            if name is None:
                of_slots.remove(slot)
            elif len(kept) < DEEP_NAMES:
                kept[name] = None
    return tuple(Mention(name, round(totals[name], 2)) for name in sorted(kept, key=lambda name: (-totals[name], name)))
