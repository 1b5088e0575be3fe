"""The summaries of a story that need no model: its sentences, names and turning points, chosen by what they tell."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.language.detect import writes_nouns_large
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.name_words import ABBREVIATED, DETERMINERS, NO_NAMES, NOUN_ENDINGS, PARTICLES
from ireneo.pyramid.offline.uncased import has_case, rare_words
from ireneo.pyramid.offline.voices import label, narrators, speaks_of_itself, spoken, told, two_roles
from ireneo.summaries.summary import Line, Mention, Section, Summary

TELLING = 2.0
"""What a sentence is worth for what it tells, against the names in it: a story is read, not looked up."""
AGAIN = 0.2
"""What a name is worth in a further sentence."""
PER_CHARACTERS = 160
"""A sentence of this many characters costs twice as much as an empty one would."""


class Choosable(Struct, frozen=True, kw_only=True):
    """A sentence as it is weighed."""

    worth: float
    """Its own, whatever it names."""
    size: int
    """Characters."""
    names: Mapping[str, float]
    """What the names in it are worth, by the words that make them out."""
    slot: int = 0
    """The part of the time that it tells of."""


def choose(sentences: Sequence[Choosable], most: int, *, slots: int = 1) -> list[int]:
    """The places of the chosen sentences, in order: greedily by what each adds for its size.

    No slot gives more than its even share as long as others have something to tell.
    """
    if len(sentences) <= most:
        return list(range(len(sentences)))
    told: set[str] = set()
    taken: Counter[int] = Counter()
    chosen: list[int] = []
    left = list(range(len(sentences)))
    while left and len(chosen) < most:
        each = max(most // slots, 1) if not chosen else most
        left = _fill(sentences, left, (chosen, taken, told), most, each)
    return sorted(chosen)


def _fill(
    sentences: Sequence[Choosable],
    places: Sequence[int],
    state: tuple[list[int], Counter[int], set[str]],
    most: int,
    each_slot: int,
) -> list[int]:
    """Choose among `places` until there are enough; returns those whose slot was full."""
    chosen, taken, told = state

    def gain(place: int) -> float:
        each = sentences[place]
        names = sum(worth if name not in told else worth * AGAIN for name, worth in each.names.items())
        return (each.worth + names) / (PER_CHARACTERS + each.size)

    heap = [(-gain(place), place) for place in places]
    heapq.heapify(heap)
    left: list[int] = []
    while heap and len(chosen) < most:
        _, place = heapq.heappop(heap)
        if taken[sentences[place].slot] >= each_slot:
            left.append(place)
            continue
        now = -gain(place)
        # What was chosen meanwhile may have made it worth less: then it waits its turn again.
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, place))
            continue
        chosen.append(place)
        taken[sentences[place].slot] += 1
        told.update(sentences[place].names)
    return left


MAX_SENTENCE = 280
"""Characters; a longer sentence is cut at a clause, with a mark."""
MAX_QUOTED = 420
"""Characters up to which the sentences of one quotation are kept together."""

LONGEST_TITLE = 4
"""Letters that may stand before the full stop that ends no sentence."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_BREAK = lazy_re(r"\n\s*\n|\n\s*(?:[#>*•|-]|\d{1,3}[.)])\s*")
_END = lazy_re(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*\s+|[。！？]+[」』”’）]*\s*|[।؟۔]+\s*")
_NO_END = lazy_re(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Mme|Mlle|Hr|Fr|Nr|No|vs|etc|bzw|ca)|"
    r"\b[A-Z]|\b[ap]\.m|\bi\.e|\be\.g|\bz\.B)\.[\"'”’»)\]*_]*\s+$"
)
_ASIDE = lazy_re(r"^(?:[(\[][^()\[\]]{0,60}[)\]]\s*)+|(?:(?:(?<!\s)\s++)?[(\[][^()\[\]]{0,60}[)\]]){1,12}$")
_LEAD = lazy_re(r"^[\s*_#>|~•–—-]+|[\s*_#|~•]+$")


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, each on one line; code, markup round them and stage directions left out."""
    for paragraph in _BREAK.split(_FENCE.sub("\n\n", text)):
        words = " ".join(paragraph.split())
        if words:
            yield from filter(None, map(_bare_sentence, _whole_quotations(_pieces(words))))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(text):
        after = text[found.end() : found.end() + 1]
        # "Where are you?" she asked: a small letter goes on with the sentence.
        if after.islower() or _NO_END.search(text, max(start, found.start() - LONGEST_TITLE), found.end()):
            continue
        yield text[start : found.end()].strip()
        start = found.end()
    if start < len(text):
        yield text[start:].strip()


def _whole_quotations(pieces: Iterator[str]) -> Iterator[str]:
    """Put pieces together until each quotation that is opened is closed, or the whole would get too long."""
    held = ""
    for piece in pieces:
        joined = f"{held} {piece}" if held else piece
        if held and len(joined) > MAX_QUOTED:
            yield held
            joined = piece
        held = joined
        if balanced(held):
            yield held
            held = ""
    if held:
        yield held


def balanced(text: str) -> bool:
    """Whether every quotation that begins in `text` ends in it."""
    return (
        text.count("“") + text.count("„") <= text.count("”") + (text.count("“") if "„" in text else 0)
        and text.count("«") == text.count("»")
        and text.count('"') % 2 == 0
        and text.count("「") <= text.count("」")
    )


def _bare_sentence(sentence: str) -> str:
    return _LEAD.sub("", _ASIDE.sub("", _LEAD.sub("", sentence)))


def clipped(sentence: str, limit: int = MAX_SENTENCE) -> str:
    """Shorten a sentence to `limit` characters: at the end of a clause where there is one, with a mark."""
    if len(sentence) <= limit:
        return sentence
    cut = max(sentence.rfind(sign, limit // 2, limit - 1) for sign in (", ", "; ", ": ", " – ", "—", "，", "、", ". "))
    if cut < 0:
        cut = sentence.rfind(" ", limit // 2, limit - 1)
    return sentence[: cut if cut > 0 else limit - 1].rstrip(" ,;:–—") + "…"


# Who and what a stretch of a story names: people, places, things.
#
# Whether a capital says something is settled over the whole stretch: a word is a name where it is written large within
# sentences, and hardly ever small. What begins a sentence is counted once the word is known for a name.


GERMAN_EVERY = 20
"""In German at least one word in so many is an article or the like."""
_WORD = lazy_re(r"[^\W\d_](?:[^\W_]|['’-](?=[^\W\d_]))*")
_OPENS = lazy_re(r"(?:^|[.!?:;…\"“”„«»‘(\[*]|--|—|(?<![^\W_])')[\s\"“”„«»‘'(\[*_]*$")
_POSSESSIVE = lazy_re(r"['’]s?$")
_STARTS_DEED = lazy_re(r"(?:is|was|had|has|says?|said|\w{2,}ed)$")


class _NameWord(Struct, frozen=True, array_like=True):
    text: str
    start: int
    end: int
    opens: bool
    """It begins a sentence or a quotation, where a capital says nothing."""


def names_in(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """The names of each sentence, by the evidence of them all together."""
    text = " ".join(sentences)
    if not has_case(text):
        return rare_words(sentences)
    words = [list(_words(sentence)) for sentence in sentences]
    known = _known(words, large_nouns=_is_german(text, words))
    return [
        tuple(dict.fromkeys(_runs(sentence, found, known))) for sentence, found in zip(sentences, words, strict=True)
    ]


def key_words(name: str) -> tuple[str, ...]:
    """The words by which a name is known again, whoever writes it with a title or without."""
    words = [word for word in name.casefold().replace("’", "'").split() if word not in PARTICLES]
    return tuple(_bare(word.rstrip(".")) for word in words)


def _words(sentence: str) -> Iterator[_NameWord]:
    for found in _WORD.finditer(sentence):
        start = found.start()
        text = found[0]
        opens = text[0].isupper() and _OPENS.search(sentence, max(0, start - 8), start) is not None
        yield _NameWord(_bare(text), start, found.end(), opens)


def _bare(word: str) -> str:
    """A word without the ending of a possessive."""
    return _POSSESSIVE.sub("", word) if "'" in word[-2:] or "’" in word[-2:] else word


def _is_german(text: str, sentences: Sequence[Sequence[_NameWord]]) -> bool:
    """Whether nouns are written large; a French "des" alone doesn't make it so."""
    if not writes_nouns_large(text):
        return False
    determined = [word.text.lower() for words in sentences for word in words if word.text.lower() in DETERMINERS]
    return len(determined) * GERMAN_EVERY > sum(map(len, sentences)) and len(set(determined)) > 1


def _known(sentences: Sequence[Sequence[_NameWord]], *, large_nouns: bool) -> frozenset[str]:
    """The words that are names, or parts of names."""
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    determined: Counter[str] = Counter()
    for words in sentences:
        shouted = sum([len(word.text) > 1 and word.text.isupper() for word in words]) * 2 > len(words)
        for place, word in enumerate(words):
            if not word.text[0].isupper():
                small[word.text] += 1
            elif shouted or word.text.lower() in NO_NAMES or len(word.text) < 2:
                continue
            elif not word.opens:
                large[word.text] += 1
                determined[word.text] += place > 0 and words[place - 1].text.lower() in DETERMINERS
            elif large_nouns or (place + 1 < len(words) and _STARTS_DEED.match(words[place + 1].text)):
                opening[word.text] += 1
    if large_nouns:
        return frozenset(
            word
            for word, times in large.items()
            if not determined[word] and times + opening[word] > 1 and not word.lower().endswith(NOUN_ENDINGS)
        )
    named = {word for word, times in large.items() if times > small[word.lower()] * 2}
    return frozenset(named | {word for word in opening if not small[word.lower()]})


def _runs(sentence: str, words: Sequence[_NameWord], known: frozenset[str]) -> Iterator[str]:
    """Adjacent words of names as one name: with titles before them, and with particles between them."""
    place = 0
    while place < len(words):
        end = place
        last = -1
        while end < len(words) and _joins(sentence, words, place, end):
            if words[end].text in known:
                last = end
            elif (
                words[end].text[0].isupper()
                and words[end].text not in ABBREVIATED
                and (words[end].opens or words[end].text.lower() in NO_NAMES)
            ):
                break
            end += 1
        if last < 0:
            place = max(end, place + 1)
            continue
        yield sentence[words[place].start : words[last].start] + words[last].text
        place = last + 1


def _joins(sentence: str, words: Sequence[_NameWord], first: int, place: int) -> bool:
    """Whether the word at `place` may belong to a name that began at `first`."""
    word = words[place]
    if place == first:
        return word.text[0].isupper()
    between = sentence[words[place - 1].end : word.start]
    if between != " " and not (between == ". " and words[place - 1].text in ABBREVIATED):
        return False
    if word.text[0].isupper():
        return True
    # At most "of the" between two capitals.
    following = words[place + 1 : place + 3]
    return (
        word.text in PARTICLES
        and any(each.text[0].isupper() for each in following)
        and all(each.text[0].isupper() or each.text in PARTICLES for each in following[:1])
    )


def shortest_forms(counts: Mapping[str, float]) -> dict[str, float]:
    """Put the forms of one name together: what is a part of a longer form that is common enough counts for that."""
    out = dict(counts)
    longer: dict[str, list[str]] = {}
    for name in counts:
        words = name.split()
        if len(words) > 1:
            for word in dict.fromkeys((words[0], words[-1])):
                longer.setdefault(word, []).append(name)
    for name in sorted(longer, key=len):
        if name in out:
            best = max(longer[name], key=lambda form: (counts[form], form))
            if counts[best] * 3 >= counts[name]:
                out[best] = out.get(best, 0.0) + out.pop(name)
    return out


_TURNS = r"""
di(?:es|ed)|dead|death|dying|kill(?:s|ed|ing|er)?|murder\w*|slain|slays?|slew|buri(?:ed|es)|funeral|execut\w+|behead\w*
|perish\w*|drown(?:s|ed)?|hanged|corpses?|sacrific\w+|resurrect\w*|ghosts?
|attack(?:s|ed)?|ambush\w*|f(?:ight|ights|ought)|battle|wound(?:s|ed)?|stab(?:s|bed)?|str(?:ikes?|uck)|bleed\w*|blood
|duel|war|siege|invad\w+|destroy(?:s|ed)?|burn(?:s|ed|t)?|explod\w+|collaps\w+|shatter\w*|defeat(?:s|ed)?
|arriv(?:es?|ed|al)|return(?:s|ed)|depart\w*|le(?:aves|ft)|fle(?:es?|d)|escap(?:es?|ed)|vanish\w*|disappear\w*|banish\w*
|exiled?|missing|lost|kidnap\w*|captur\w+|imprison\w*|prisoners?|arrest\w*|rescu\w+|sav(?:es|ed)|freed|releas\w+
|discover\w*|reveal\w*|found|finds|reali[sz]\w+|learn(?:s|ed|t)|secrets?|hidden|truth|recogni[sz]\w+|unmask\w*|clues?
|decid\w+|agree[ds]?|refus(?:es?|ed)|cho(?:ose|oses|se|sen)|vow(?:s|ed)?|sw(?:ears?|ore|orn)|promis\w+|oath|bargain|deal
|confess\w*|admit(?:s|ted)?|lied|lies|betray\w*|forg(?:ive|ave|iven)|apologi[sz]\w+|accus\w+|warn(?:s|ed)|threat\w*
|g(?:ives?|ave|iven) (?:him|her|them|you|me|us)|gifts?|st(?:eals?|ole|olen)|inherit\w*|treasure|hired?|bought|sold|owes?
|marri\w+|marry|wedding|engaged|kiss(?:es|ed)|loves?|loved|born|birth|pregnant|daughter|son|father|mother|brother|sister
|king|queen|crown\w*|emperor|throne|lord|lady|council|leader|heir|master|servant|ally|allies|enem(?:y|ies)|friend
|sick|fever|poison\w*|curse[ds]?|heal(?:s|ed)|dying|mad(?:ness)?|possess\w*|transform\w*|demon\w*|dragon\w*|vampir\w*
|letter|key|map|sword|book|ring|prophec\w+|dream(?:s|ed|t)?|quest|mission|plan(?:s|ned)?|search(?:es|ing)?|meet|met
|never again|at last|finally|for the first time|years ago|called|named|known as|name is|will be back
|st(?:irbt|arb|erben)|tot|töt\w+|getötet|gefunden|findet|fand|geheim\w*|verr(?:iet|at|aten)|verließ|floh|kam an|zurück
|versprach|versprochen|schwor|gestand|heirat\w+|geschenkt|gestohlen|entdeckt\w*|verschwand|verschwunden|krieg|kampf
|mort(?:e|s)?|tu(?:é|a|er)|meurt|trouv\w+|secret|part(?:it|i)|revint|promis|jura|avou\w+|épous\w+|vol(?:a|é)|guerre
|mur(?:ió|e)|muert[oe]|mat(?:ó|ar)|encontr\w+|secreto|huyó|volvió|prometió|juró|confesó|casó|robó|guerra|descubr\w+
"""
# For small letters: a pattern that heeds no case tries every branch at every word, and takes five times as long.
_TURN = lazy_re(rf"\b(?:{''.join(_TURNS.split(chr(10)))})\b")
_TURN_SIGNS = lazy_re("[死殺杀戦战争約约婚逃盗秘密毒呪王帰归发現见見決决]")
_TURN_WORD = lazy_re(r"[^\W\d_]+")
SHORTEST = 5
"""Words; what is shorter tells nothing by itself."""
SHORTEST_STUMP = 9
"""Words of a question, or of what is broken off."""
SHORTEST_DENSE = 6
"""Signs, where words aren't set apart."""
_GREETING = lazy_re(
    r"(?:hi|hello|hey|thanks?|thank you|bye|goodbye|good (?:morning|evening|night|luck)|welcome|yes|yeah|yep|no|nope|"
    r"ok|okay|oh|ooh|ah|aw+|wow|whoa|ha(?:ha)*|lol|right|all right|alright|sure|great|cool|nice|awesome|"
    r"exactly|sorry|please|what|wait|so|well|um+|uh+|hm+|you know|i know|i mean|i don't know|i think so|hallo|danke|"
    r"ja|nein|salut|merci|oui|non|hola|gracias|sí)\b[,.!?]*\s*",
    re.IGNORECASE,
)
_TABLE = lazy_re(
    r"\b(?:\d*d\d+|d20|roll(?:s|ed|ing)?|re-?roll|natural (?:one|twenty|\d+)|nat (?:one|20|1)|modifiers?|hit points?|"
    r"saving throws?|(?:skill|perception|stealth|insight|dexterity|strength|wisdom|charisma|arcana|ability) checks?|"
    r"initiative|bonus action|advantage|disadvantage|armou?r class|spell slots?|points? of damage|damage|dice|plus \d+|"
    r"(?:your|whose|next|'s|’s) turn|turn order|end of (?:your|my|the) turn|bonus|actions?|top of the round|feats?|"
    r"grid|minis?|miniatures?|rounds?|character sheets?|level(?:ed|led)?|editions?|players?|dungeon master|"
    r"episodes?|stream(?:s|ing)?|twitch|youtube|twitter|subscri\w+|donat\w+|charity|sponsors?|websites?|merch|t-shirts?|"
    r"kickstarter|tickets?|www|dot com|\.com|panel|convention|fan art|hashtag|chat ?room|season \d|snacks?|pizza)\b"
)
_LAUGHTER = lazy_re(r"\b(?:a?(?:ha|he|hi){2,}h?|lo+l|lmao|rofl)\b|^[^\w]*(?:laugh\w*|giggl\w*|gasp\w*)[^\w]*$", re.I)
_POINTS_BACK = lazy_re(
    r"(?:which|as well as|plus|it|it's|that|that's|this|these|those|he|she|they|him|her|them|because|"
    r"er|sie|es|das|il|elle|ça|eso|and|but|or|und|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_CUT_OFF = lazy_re(r"(?:--|—|–|…|\.\.\.)[\"'”’]*$")
_FIRST_PERSON = lazy_re(r"\b(?:I|I'm|I'll|I've|I'd|me|my|we|we're|we'll|let's|our|ich|mein\w*|je|mon|yo|mi)\b")


def without_greeting(sentence: str) -> str:
    """What is left of a sentence when greetings, fillers and assents at its beginning are taken off."""
    while found := _GREETING.match(sentence):
        if found.end() == 0:
            break
        sentence = sentence[found.end() :]
    return sentence


def is_chatter(sentence: str) -> bool:
    """Whether nothing is told: a greeting, an assent, laughter, a stump."""
    rest = without_greeting(sentence)
    if _LAUGHTER.search(sentence):
        return True
    # A sign of Chinese or Japanese is worth about three letters.
    dense = 0 if rest.isascii() else sum(char > "\u3000" for char in rest)
    if dense * 3 > len(rest):
        return dense < SHORTEST_DENSE
    words = len(rest.split())
    asks = rest.rstrip("\"'”’)*_").endswith("?")
    broken_off = bool(_CUT_OFF.search(rest))
    return words < (SHORTEST_STUMP if asks or broken_off else SHORTEST)


def is_heading(sentence: str) -> bool:
    """Whether it is the title of a chapter or the head of a letter: nearly every word of it is written large."""
    words = [word for word in _TURN_WORD.findall(sentence) if len(word) > 3]
    large = sum(word[0].isupper() for word in words)
    return large * 3 > len(words) * 2 and not sentence.startswith(('"', "“", "„", "«"))


def salience(sentence: str) -> float:
    """How much of a turn of the story the sentence seems to tell, by itself: about 0 for idle talk, 3 at the most."""
    small = sentence.lower()
    turns = len({found[0] for found in _TURN.finditer(small)})
    turns += len(set(_TURN_SIGNS.findall(sentence)))
    score = 0.6 + 0.8 * min(turns, 3)
    if sentence.rstrip("\"'”’)").endswith(("?", "？")):
        score *= 0.4
    if _CUT_OFF.search(sentence):
        score *= 0.5
    if _POINTS_BACK.match(sentence):
        score *= 0.6
    if sentence[:1].islower():
        score *= 0.6
    if _FIRST_PERSON.search(sentence):
        score *= 0.85
    return score * 0.35 ** min(len(_TABLE.findall(small)), 3)


LEAF_LINES = 40
"""Sentences that a leaf keeps: what a wide context has room for."""
LEAF_NAMES = 120
"""Names that a leaf keeps."""
FIRST = 0.7
"""What a sentence is worth more for each name that it brings in, up to two."""
IDLE = 0.12
"""What tells less than this is talk beside the story: dice, questions about nothing."""
NARRATED = 1.3
"""A narrator's sentence is so many times as likely to tell what happens as one of a player."""
SPEAKING = 0.25
"""Of being named: what it counts for a name that one speaks."""
GOOD_LENGTH = 90, 240
"""Characters between which a sentence says something, and not too much at once."""


class _ToldSentence(Struct, kw_only=True):
    """A sentence of the stretch."""

    text: str
    speaker: str
    narrated: bool
    authored: bool
    """The speaker is someone by that name, and no role."""
    message: Message
    names: tuple[str, ...] = ()


def tell_leaf(messages: Sequence[Message]) -> tuple[Section, ...]:
    """Write the sections of a leaf: "story", sentences in story order, and "artifacts", the names, weightiest first.

    Each sentence stands word for word in its message, with its speaker's name before it where it is said by someone
    in the story; one that is too long is cut, with a mark. A stretch without words has no sections.
    """
    stretch = list(_sentences(messages))
    for each, names in zip(stretch, names_in([each.text for each in stretch]), strict=True):
        each.names = names
    weights = _weights(stretch)
    lines = list(_lines(stretch, weights))
    kept = choose([_choosable(line) for line in lines], LEAF_LINES)
    story = tuple(lines[place] for place in kept)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:LEAF_NAMES]
    mentions = tuple(Mention(name, round(weight, 2)) for name, weight in ranked)
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if mentions:
        last = messages[-1]
        out.append(Section(name="artifacts", lines=(Line(names=mentions, position=last.position),)))
    return tuple(out)


def _sentences(messages: Sequence[Message]) -> Iterator[_ToldSentence]:
    telling = narrators(messages)
    roles = two_roles(messages)
    for message in messages:
        for author, text in spoken(message):
            narrated = author in telling
            speaker = label(author, message, roles)
            for sentence in sentences(text):
                named = not narrated if author else speaks_of_itself(sentence)
                yield _ToldSentence(
                    text=sentence,
                    speaker=speaker if named else "",
                    narrated=narrated,
                    authored=bool(author) and named,
                    message=message,
                )


def _weights(stretch: Sequence[_ToldSentence]) -> dict[str, float]:
    """How much each name is spoken of: by the messages that name it, and more so the more there are, but ever less."""
    counts: dict[str, float] = defaultdict(float)
    seen: set[tuple[str, str]] = set()
    for each in stretch:
        speakers = [speaker.strip() for speaker in each.speaker.split(",")] if each.authored else []
        for name, times in [*((name, 1.0) for name in each.names), *((name, SPEAKING) for name in speakers)]:
            if (name, each.message.id) not in seen:
                seen.add((name, each.message.id))
                counts[name] += times
    return {name: math.sqrt(times) for name, times in shortest_forms(counts).items()}


def _lines(stretch: Sequence[_ToldSentence], weights: Mapping[str, float]) -> Iterator[Line]:
    known: set[str] = set()
    for each in stretch:
        keys = {word for name in each.names for word in key_words(name)}
        new = len(keys - known)
        known |= keys
        if is_chatter(each.text) or is_heading(each.text):
            continue
        telling = salience(each.text)
        if telling < IDLE:
            continue
        weight = telling + FIRST * min(new, 2)
        weight *= NARRATED if each.narrated else 1.0
        size = len(each.text)
        if size < GOOD_LENGTH[0]:
            weight *= 0.2 + 0.8 * size / GOOD_LENGTH[0]
        elif size > GOOD_LENGTH[1]:
            weight *= GOOD_LENGTH[1] / size
        if not balanced(each.text):
            weight *= 0.6
        text = clipped(each.text)
        shown = [name for name in each.names if name in text]
        yield Line(
            text=told(each.speaker, text),
            names=tuple(Mention(name, round(weights.get(name, 0.5), 2)) for name in shown),
            weight=round(weight, 2),
            position=each.message.position,
            sources=(each.message.id,),
        )


def _choosable(line: Line) -> Choosable:
    values = {word: mention.weight for mention in line.names for word in key_words(mention.name)}
    return Choosable(worth=TELLING * line.weight, size=len(line.text), names=values)


DEEP_LINES = 60
"""Sentences that a deeper summary keeps."""
DEEP_NAMES = 200
"""Names that a deeper summary keeps."""
SLOTS = 12
"""Into so many stretches of time a summary is parted, each of which has its share of the sentences and names."""
CONSIDERED = 1_200
"""So many sentences, at the most, are weighed against one another: the weightiest of each part."""


def tell_deeper(parts: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent story summaries: "story" and "artifacts", as those of a leaf."""
    slots = min(len(parts), SLOTS)
    slot_of = [number * slots // len(parts) for number in range(len(parts))]
    by_slot: list[dict[str, float]] = [{} for _ in range(slots)]
    totals: dict[str, float] = {}
    for part, slot in zip(parts, slot_of, strict=True):
        for mention in _names(part):
            by_slot[slot][mention.name] = by_slot[slot].get(mention.name, 0.0) + mention.weight
            totals[mention.name] = totals.get(mention.name, 0.0) + mention.weight
    story = _story(parts, slot_of, slots, totals)
    names = _kept_names(shortest_forms(totals), by_slot)
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if names:
        last = max(part.last_position for part in parts)
        out.append(Section(name="artifacts", lines=(Line(names=names, position=last),)))
    return tuple(out)


def _names(part: Summary) -> Sequence[Mention]:
    return [mention for line in part.lines("artifacts") for mention in line.names]


def _story(
    parts: Sequence[Summary], slot_of: Sequence[int], slots: int, totals: Mapping[str, float]
) -> tuple[Line, ...]:
    each = max(CONSIDERED // max(len(parts), 1), 6)
    lines: list[Line] = []
    weighed: list[Choosable] = []
    heard: set[str] = set()
    for part, slot in zip(parts, slot_of, strict=True):
        told = part.lines("story")
        weightiest = sorted(range(len(told)), key=lambda place: -told[place].weight)[:each]
        for line in (told[place] for place in sorted(weightiest)):
            if line.text in heard:
                continue
            heard.add(line.text)
            lines.append(line)
            names = {
                word: math.log1p(totals.get(mention.name, mention.weight))
                for mention in line.names
                for word in key_words(mention.name)
            }
            weighed.append(Choosable(worth=TELLING * line.weight, size=len(line.text), names=names, slot=slot))
    kept = [lines[place] for place in choose(weighed, DEEP_LINES, slots=slots)]
    return tuple(sorted(kept, key=lambda line: line.position))


def _kept_names(totals: Mapping[str, float], by_slot: Sequence[Mapping[str, float]]) -> tuple[Mention, ...]:
    """Half of them the weightiest of all, the rest in turns the weightiest of each stretch of time."""
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
