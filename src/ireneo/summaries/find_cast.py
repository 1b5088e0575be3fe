"""Find, by rules, the cast of a stretch of a story: who acts, what is said about them, and where the story is set.

A leaf stores counts rather than conclusions: a name is a person if it acts, and a player's character is the one whose
name that player answers to. Identities are resolved over the counts of all leaves (`ireneo.summaries.cast`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, cached_data, topic
from ireneo.language.story_topics import Cast, Turns
from ireneo.language.topics import Names, Speech
from ireneo.language.words import letters
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.cast import FATES, LEAF_LINES, bare_name, cast_section, person_line
from ireneo.summaries.speech import VoicedTexts, narrators
from ireneo.summaries.story_names import key_words, names_in
from ireneo.summaries.summary import Line, Section
from ireneo.summaries.tell_story import sentences

_SAYS = topic(Cast)
_TURNS = topic(Turns)


PLAYS, INTRODUCES = 12, 4
"""The evidence that a character is an author's: the author says so, or speaks as the character in the first person. An
answer when the name is called has the weight 1."""
SURE = 2
"""The weight of what a narrator says about somebody, or authors about themselves; statements of others, perhaps in
jest, have the weight 1."""
LONGEST = 70
"""The maximum number of characters of a description of somebody."""
PHRASE_WORDS, TAIL_WORDS = 5, 8
SHORT = 300
"""In a text of up to this many characters, a note of laughter marks all of it as a joke."""
NEAR = 120
"""How many characters around a sentence are searched for talk about the show, which makes the sentence part of that
talk."""
LONGEST_SENTENCE = 1_000
"""Sentences with more characters are not searched for statements."""
FEWEST = 4
"""Sentences with fewer words state nothing about anybody."""

_TOKEN = lazy_re(r"[^\W\d_][\w’'-]*|[^\w\s]|\d+")
_CLOSED = lazy_re(lambda: rf"[.;!?—]|, (?!{any_of(topic(Names).beside)}\b|[^\W\d_a-zà-ÿ])|\W*$")
_END = lazy_re(r"\s*(?:$|[,.;:—–!?)\"”])|\s+-")
_MARKS = lazy_re('["“”„«»‘]')
_SPLIT_AUTHORS = lazy_re(r"[,/&+]")


def _join_patterns(rows: Sequence[str]) -> re.Pattern[str]:
    """Join patterns with the groups `x` and `y` into one."""
    numbered = (re.sub(r"\?P<([xy])>", rf"?P<\g<1>{number}>", row) for number, row in enumerate(rows))
    return re.compile("|".join(numbered) or "(?!)")


_alias = cached_data(lambda: _join_patterns(_SAYS.alias))
_own_alias = cached_data(lambda: _join_patterns(_SAYS.own_alias))
_introduces = cached_data(lambda: _join_patterns(_SAYS.introduces))
_plays = cached_data(lambda: _join_patterns(_SAYS.plays))
_fates = cached_data(lambda: [(kind, _join_patterns(getattr(_SAYS, kind))) for kind in FATES])
_SHORTENED = lazy_re(r"['’](?:d|ll|re|ve|m)$")
_STOP = lazy_re(r"(?<![.!?;:—…])[.!?;:—…]++[\"”’]?(?:\s|$)")
_OWNED = lazy_re(rf"(?P<owner>{CAPITAL}[\w’'.-]{{0,30}}(?: {CAPITAL}[\w’'.-]{{0,30}}){{0,3}})['’]s ")
_SAID = lazy_re(lambda: rf"[\s,]+{any_of(topic(Speech).said)}\b")
_SAID_BEFORE = lazy_re(lambda: rf"\b{any_of(topic(Speech).said)} $")


class _CastSentence(Struct, kw_only=True, dict=True):
    text: str
    author: str
    narrated: bool
    quoted: bool
    """Whether it is in prose with quoted speech, in which "my" and "his" may refer to anybody."""
    place: int
    """The index of the text that contains it."""
    position: int
    source: MessageId
    said: str
    """The whole text that contains the sentence."""
    sure: bool
    """Whether a narrator says it, or the story has no narrator, so that nobody jests."""
    names: tuple[str, ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence, in lower case."""
        return frozenset(letters(self.text.lower()))

    @cached_property
    def idle(self) -> bool:
        """Whether the sentence is a joke or about the game or the show, and so says nothing about the cast."""
        place = max(self.said.find(self.text), 0)
        near = self.said[max(0, place - NEAR) : place + len(self.text) + NEAR].lower()
        return bool(
            _TURNS.table.search(self.text.lower())
            or _TURNS.show.search(near)
            or (len(self.said) <= SHORT and _SAYS.jests.search(self.said))
        )


class _CastFindings:
    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.answers: dict[str, Counter[str]] = defaultdict(Counter)
        self.last: dict[str, int] = {}
        self.facts: list[Line] = []
        self._fates: dict[str, int] = {}

    def count(self, kind: str, name: str, position: int) -> None:
        """Count one use of a name."""
        self.counts[name][kind] += 1
        if kind in ("acts", "said", "speaks"):
            self.last[name] = position
            if name in self._fates:
                # Somebody who goes on acting isn't dead.
                line = self.facts[self._fates[name]]
                fate, *after = line.verbs
                times = after[0][1] + 1 if after else 1
                self.facts[self._fates[name]] = replace(line, verbs=(fate, ("after", times)))

    def fact(self, kind: str, subject: str, text: str, each: _CastSentence, times: int = 1) -> None:
        """Record a statement about somebody."""
        if each.idle:
            return
        if kind in FATES:
            self._fates[subject] = len(self.facts)
        self.facts.append(
            Line(subject=subject, text=text, verbs=((kind, times),), position=each.position, sources=(each.source,))
        )


def find_cast(messages: Sequence[Message]) -> Section | None:
    """Return the section "cast" of a leaf over `messages`; None if nobody is found."""
    heard = VoicedTexts(messages)
    told = list(_sentences(heard, narrators(messages)))
    for each, names in zip(told, names_in([each.text for each in told]), strict=True):
        each.names = tuple(
            dict.fromkeys(
                _with_title(name, each.text)
                for name in names
                if not ("'s " in name or "’s " in name or _SHORTENED.search(name) is not None)
            )
        )
    found = _CastFindings()
    before: _CastSentence | None = None
    for each in told:
        _count_uses(each, before, found)
        _statements(each, before if before and before.place == each.place else None, heard, found)
        before = each
    _read_answers(told, found)
    for name in list(found.counts):
        _full_names(name, found)
    people = [
        person_line(name, {**found.counts[name], "leaves": 1}, found.answers[name], found.last.get(name, 0))
        for name in dict.fromkeys([*found.counts, *found.answers])
    ]
    return cast_section([[*people, *found.facts]], LEAF_LINES)


def _full_names(name: str, found: _CastFindings) -> None:
    """Record the longer names in the stretch that contain a single name."""
    words = bare_name(name)
    if len(words) != 1:
        return
    for other in found.counts:
        longer = bare_name(other)
        # A title doesn't make a name longer.
        if (len(longer) > 1 and words[0] in (longer[0], longer[-1])) or (
            len(longer) == 1 and longer[0].partition("'")[0] == words[0] != longer[0] and len(words[0]) > 2
        ):
            place = found.last.get(name, 0)
            found.facts.append(
                Line(subject=name, text=other, verbs=(("full", found.counts[other].total()),), position=place)
            )


def authors(author: str) -> list[str]:
    """Split an author field into its names."""
    return [name.strip() for name in _SPLIT_AUTHORS.split(author) if name.strip()]


def _sentences(heard: VoicedTexts, telling: frozenset[str]) -> Iterator[_CastSentence]:
    jests = bool(telling - {""})
    for place, (author, text) in enumerate(zip(heard.authors, heard.texts, strict=True)):
        message = heard.message(place)
        quoted = not author and bool(_MARKS.search(text))
        for sentence, _ in sentences(text):
            yield _CastSentence(
                text=sentence,
                author=author,
                narrated=author in telling,
                quoted=quoted,
                place=place,
                position=message.position,
                source=message.id,
                said=text,
                sure=author in telling or not jests,
            )


def _with_title(name: str, text: str) -> str:
    """Return a name with the title before it, where that is a common word by itself: Miss Holm."""
    lead = text[: max(text.find(name), 0)]
    word = lead.rstrip().rpartition(" ")[2].strip('"“(')
    is_title = word[:1].isupper() and word.rstrip(".").lower() in topic(Names).titles and lead.endswith(f"{word} ")
    return f"{word} {name}" if is_title else name


# How often each name acts, and who answers to it.


def _count_uses(each: _CastSentence, before: _CastSentence | None, found: _CastFindings) -> None:
    if each.author and (before is None or before.place != each.place):
        for author in authors(each.author):
            found.count("tells" if each.narrated else "speaks", author, each.position)
    for name in each.names:
        start = each.text.find(name)
        after = each.text[start + len(name) :]
        lead = each.text[:start].rstrip(' "“').rpartition(" ")[2].lower()
        if lead in _SAYS.inside:
            found.count("inside", name, each.position)
        elif lead in _SAYS.determiners:
            found.count("thing", name, each.position)
        if _SAID.match(after) or _SAID_BEFORE.search(each.text, max(0, start - 14), start):
            found.count("said", name, each.position)
        else:
            found.count("acts" if _verb_follows(after) else "named", name, each.position)


def _verb_follows(after: str) -> bool:
    """Whether a verb of action follows a name, directly or after one adverb."""
    words = after[:40].split()[:2]
    if not words or after[:1] != " ":
        return False
    if words[0].endswith("ly") and len(words) > 1:
        words = words[1:]
    word = words[0].strip(',.;:!?"”')
    if not word.isalpha() or not word.islower() or word in _SAYS.states:
        return False
    return word in topic(Names).verbs or (
        len(word) > 3 and word.endswith(("ed", "s", "te")) and word not in topic(Names).none
    )


def _read_answers(told: Sequence[_CastSentence], found: _CastFindings) -> None:
    """Count who answers when a name is called; answers by the caller count against it."""
    for one, other in zip_longest(told, told[1:]):
        called = [name for name in one.names if _is_addressed(one.text, name)] if one.author else []
        answering = authors(other.author) if called and other and other.author != one.author else []
        for name in called:
            for author in authors(one.author):
                found.answers[name][author] -= 1
            if len(answering) == 1 and other is not None and not other.narrated:
                found.answers[name][answering[0]] += 1


def _is_addressed(text: str, name: str) -> bool:
    """Whether somebody is addressed by this name: it begins or ends the text, set off by a comma."""
    bare = text.strip(' "“”.!?…-')
    return bare == name or bare.startswith(f"{name},") or bare.endswith(f", {name}")


# Explicit statements about somebody.


def _statements(each: _CastSentence, before: _CastSentence | None, heard: VoicedTexts, found: _CastFindings) -> None:
    if len(each.text) > LONGEST_SENTENCE:
        return
    if each.narrated and (place := _place(each.text)):
        found.fact("where", "", place, each)
    if not each.names and (before is None or not before.names):
        return
    speakers = authors(each.author)
    own = speakers[0] if len(speakers) == 1 and not each.narrated else ""
    if own:
        # The characters whom an author claims to play, or as whom they speak.
        for pattern, times in ((_plays(), PLAYS), (_introduces(), INTRODUCES)):
            if (match := pattern.search(each.text)) and (name := _matched_name(match, "x", each)):
                found.answers[name][own] += times
    presented = before is not None and bool(own) and _is_introduction(before)
    for name, what in _descriptions(each):
        sure = each.sure or what[1] or presented or bool(own and _is_introduction(each))
        found.fact("is", name, what[0], each, SURE if sure else 1)
    _record_fates(each, found)
    if (len(each.text.split()) >= FEWEST or own) and not each.words.isdisjoint(_SAYS.called):
        _record_aliases(each, heard, found)


def _record_fates(each: _CastSentence, found: _CastFindings) -> None:
    """Record who died, lives again, or is gone."""
    # In a novel's dialogue, living people are called dead.
    if each.quoted or each.words.isdisjoint(_SAYS.fates):
        return
    said_by = "" if each.narrated else each.author
    for kind, fate in _fates():
        if (
            (match := fate.search(each.text))
            and _is_certain(each.text, match)
            and (name := _matched_name(match, "x", each))
        ):
            found.fact(kind, name, said_by, each, SURE if each.sure else 1)


def _is_certain(text: str, match: re.Match[str]) -> bool:
    """Whether nothing in the clause of a match negates it or makes it uncertain."""
    start = max((found.end() for found in _STOP.finditer(text, 0, match.start())), default=0)
    stop = _STOP.search(text, match.end())
    return not _SAYS.not_so.search(text, start, stop.end() if stop else len(text))


def _is_introduction(each: _CastSentence) -> bool:
    """Whether an author introduces themselves or their character."""
    return bool(_plays().search(each.text) or _introduces().search(each.text))


def _record_aliases(each: _CastSentence, heard: VoicedTexts, found: _CastFindings) -> None:
    text = each.text

    def record_alias(subject: str, match: re.Match[str]) -> None:
        other = _matched_name(match, "y", each)
        if subject and other and key_words(subject) != key_words(other):
            found.fact("alias", subject, other, each, SURE)

    if (match := _alias().search(text)) and _is_certain(text, match) and (one := _matched_name(match, "x", each)):
        record_alias(one, match)
    if not (each.narrated and each.author) and (own := _own_alias().search(text)) and _is_certain(text, own):
        record_alias(heard.voiced(each.place).speaker if each.author or each.quoted else "", own)


def _matched_name(match: re.Match[str], which: str, each: _CastSentence) -> str:
    """Return the name in the group `x` or `y` of a match, as the stretch spells it; empty if it is not a known name."""
    found = next((value for name, value in match.groupdict().items() if name[0] == which and value), "").rstrip("-'’")
    if found in each.names or found.endswith(("'s", "’s")):
        return found if found in each.names else ""
    words = set(key_words(found))
    # A capitalised first word was matched as part of the name: So Holm died.
    within = [known for known in each.names if set(key_words(known)) < words]
    if within:
        return max(within, key=len)
    return found if any(words & set(key_words(known)) for known in each.names) else ""


def _place(text: str) -> str:
    """Return the place at which the characters arrive, if the sentence names a specific one."""
    match = _SAYS.arrives.search(text.lower())
    if match is None:
        return ""
    rest = text[match.end() : match.end() + 2 * LONGEST]
    tokens = list(_TOKEN.finditer(rest))
    for number, token in enumerate(tokens[: PHRASE_WORDS + 1]):
        if not token[0][0].isalpha() or (number and token[0].lower() in _SAYS.ends):
            return ""
        if token[0].lower() in _SAYS.places:
            end, _ = _phrase_end(tokens[number + 1 :], token.end())
            told_apart = number > 1 or end > token.end() or rest[:1].isupper()
            return rest[:end] if told_apart and (rest[:1].isupper() or _is_determiner(tokens[0][0])) else ""
    return ""


def _phrase_end(tokens: Sequence[re.Match[str]], end: int) -> tuple[int, bool]:
    """Return where a noun phrase ends, including a complement ("of the herd"), and whether it was cut short."""
    if not tokens or tokens[0][0].lower() not in _SAYS.tails:
        return end, False
    best = whole = end
    for number, token in enumerate(tokens):
        low = token[0].lower()
        if not token[0][0].isalpha() or (low in _SAYS.ends and low not in topic(Names).beside):
            return best, False
        if number > TAIL_WORDS or low in _SAYS.mine | _SAYS.theirs:
            # Too long, or about somebody unnamed: cut after the last complete part.
            return whole, True
        if low in topic(Names).beside:
            # Keep "the goddess of healing and redemption"; cut "a man of a robust and fiery nature".
            last = tokens[number + 1 : number + 3]
            one = bool(last) and last[0][0].islower() and not any(each[0][0].isalpha() for each in last[1:])
            return (last[0].end(), False) if one else (whole, True)
        if low in _SAYS.tails:
            whole = best
        elif _is_modifier(low):
            best = token.end()
    return best, False


# Descriptions: "Grog, a goliath barbarian", "the gunslinger Percy", "Holm is the queen's spy".


def _descriptions(each: _CastSentence) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield the names with their descriptions, and whether these are relative to the speaker."""
    text = each.text
    for name in each.names:
        start = text.find(name)
        lead, after = text[:start], text[start + len(name) :]
        listed = lead.rstrip().endswith(",") and any(other in lead for other in each.names)
        what = ""
        if after.startswith(", ") and not listed:
            what = _describing_phrase(after[2:], closed=True)
        elif after.startswith(" ") and not (what := _describing_phrase(after[1:], closed=True, definite=True)):
            found = _SAYS.is_so.match(after)
            what = _describing_phrase(after[found.end() :]) if found and not _SAYS.not_so.search(text) else ""
        elif found := _SAYS.is_so.match(after):
            what = _describing_phrase(after[found.end() :]) if not _SAYS.not_so.search(text) else ""
        if what and (said := _resolve_possessive(what, each, name)):
            yield name, said
        called = _SAYS.named.search(lead)
        before = lead[: called.start()] if called else lead
        if each.quoted and before.endswith(", "):
            # Holm may be the person addressed.
            continue
        if (what := _phrase_before(before, called=bool(called), follows=after)) and (
            said := _resolve_possessive(what, each, name)
        ):
            yield name, said


def _describing_phrase(text: str, *, closed: bool = False, definite: bool = False) -> str:
    """Return the noun phrase at the start of `text` that says who somebody is; empty if there is none.

    `closed`: it must end at punctuation and not start a list. `definite`: it must begin with "the".
    """
    head, _, _ = text[:LONGEST].partition(" ")
    known = _SAYS
    tokens = list(_TOKEN.finditer(text[: LONGEST * 2]))
    if not tokens or (definite and head.lower() not in known.definite):
        return ""
    if not _is_determiner(head):
        # Without an article it needs a complement: Holm, keeper of the light.
        if not is_person(tokens[0][0]) or not any(token[0].lower() in known.tails for token in tokens[1:2]):
            return ""
        return _noun_phrase(text, tokens, 1, closed=closed)
    place = 1
    while place < len(tokens) and place <= PHRASE_WORDS + 1 and _is_modifier(tokens[place][0]):
        place += 1
    while place > 1 and not is_person(tokens[place - 1][0]):
        place -= 1
    return _noun_phrase(text, tokens, place, closed=closed) if place > 1 else ""


def _noun_phrase(text: str, tokens: Sequence[re.Match[str]], place: int, *, closed: bool) -> str:
    """Return the phrase whose noun ends before token `place`, with its complement."""
    known = _SAYS
    end, rest = tokens[place - 1].end(), tokens[place:]
    whole, cut = _phrase_end(rest, end)
    following = next((token[0] for token in rest if token.start() >= whole), "") if not cut else ""
    # A complement such as "of healing and redemption" may be cut.
    ends = cut or whole > end or _END.match(text, whole)
    if closed and (not ends or _begins_list(text[whole:])):
        return ""
    if following[:1].isalpha() and following.lower() not in (known.ends | topic(Names).none):
        # A noun followed by another one is not a person: a dwarf tavern, the king's men.
        return ""
    return text[:whole] if whole <= LONGEST else ""


def _begins_list(text: str) -> bool:
    """Whether a list of others follows: Holm, the keeper, and Vera; Holm, the keeper, Vera."""
    rest = text[1:].lstrip() if text.startswith(",") else ""
    word = rest.partition(" ")[0].strip(",.")
    return bool(word) and (word.lower() in topic(Names).beside or word[:1].isupper())


def _is_determiner(word: str) -> bool:
    return word.lower() in _SAYS.determiners or word.endswith(("'s", "’s"))


def _phrase_before(lead: str, *, called: bool, follows: str) -> str:
    """Return the noun phrase at the end of `lead`, right before a name that is followed by `follows`."""
    if not called and not lead.endswith((" ", ", ")):
        return ""
    word = lead.rstrip(" ,").rpartition(" ")[2]
    if not is_person(word) or (word[:1].isupper() and word.lower() in topic(Names).titles):
        return ""
    comma = lead.endswith(", ")
    if comma and not _CLOSED.match(follows):
        # My aunt, Holm, and I.
        return ""
    tokens = [found[0] for found in _TOKEN.finditer(lead[-LONGEST:].rstrip(" ,"))]
    known = _SAYS
    for size in range(2, min(len(tokens), PHRASE_WORDS + 2) + 1):
        first = tokens[-size]
        if _is_determiner(first):
            # After a comma it may be an item of a list: the dwarf, Grog, and the bear.
            related = first.lower() in (known.mine | known.theirs) or first.endswith(("'s", "’s"))
            while (
                first[:1].isupper()
                and first.endswith(("'s", "’s"))
                and tokens[-size - 1 : -size][0:1]
                and tokens[-size - 1][:1].isupper()
            ):
                size += 1
            listed = comma and tokens[-size - 1 : -size] == [","]
            return "" if listed or (comma and not related) else " ".join(tokens[-size:])
        if not _is_modifier(first):
            return ""
    return ""


def _is_modifier(word: str) -> bool:
    return word[0].isalpha() and (word.lower() not in topic(Names).none or is_person(word))


def is_person(word: str) -> bool:
    """Whether a noun denotes a person."""
    low = word.lower()
    return low in _SAYS.people or low.endswith(_SAYS.people_endings)


def _resolve_possessive(what: str, each: _CastSentence, name: str) -> tuple[str, bool] | None:
    """Resolve "my" and "his" in a description; None if that is impossible or the result says too little.

    The second value says whether it is relative to the speaker.
    """
    known = _SAYS
    first, _, rest = what.partition(" ")
    head = next((word for word in reversed(rest.split()) if is_person(word)), "").lower()
    low = first.lower()
    related = head in known.relatives
    if low in known.mine and related:
        speakers = authors(each.author)
        if each.quoted or (each.narrated and each.author):
            return None
        owner = speakers[0] if len(speakers) == 1 else next(iter(known.narrator), "") if not speakers else ""
        return (f"{owner}’s {rest}", True) if owner else None
    if low in known.theirs and related:
        others = [other for other in each.names if other != name]
        # "His dear sister" may be a form of address.
        fond = not known.empty.isdisjoint(rest.lower().split())
        if fond or each.quoted or len(others) != 1 or each.text.find(others[0]) > each.text.find(what):
            return None
        return f"{others[0]}’s {rest}", False
    if low in known.mine | known.theirs:
        first, low = known.article[0], known.article[0]
    if (owned := _OWNED.match(what)) is not None:
        return (what, False) if related and owned["owner"].split()[-1].casefold() not in key_words(name) else None
    if first.endswith(("'s", "’s")):
        return None
    words = [word.lower() for word in rest.split()]
    told = set(words) - known.plain - known.empty
    if not told or (len(told) == 1 and head in told and head in (known.relatives | known.kinds)):
        return None
    if head in known.plain and head == words[-1]:
        return None
    return f"{low} {rest}", False
