"""Find, by rules, the cast of a stretch of a story: who acts, and what is said about them.

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
from ireneo.summaries.cast import FATES, LEAF_LINES, cast_section, person_line
from ireneo.summaries.speech import narrators, spoken_texts, tagged_speaker
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
SHORT = 300
"""In a text of up to this many characters, a note of laughter marks all of it as a joke."""
NEAR = 120
"""How many characters around a sentence are searched for talk about the show, which makes the sentence part of that
talk."""
LONGEST_SENTENCE = 1_000
"""Sentences with more characters are not searched for statements."""

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
_SHORTENED = lazy_re(r"['’](?:d|ll|re|ve|m)$|['’][sS] ")
_STOP = lazy_re(r"(?<![.!?;:—…])[.!?;:—…]++[\"”’]?(?:\s|$)")
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

    def count(self, kind: str, name: str, position: int) -> None:
        """Count one use of a name."""
        self.counts[name][kind] += 1
        if kind in ("acts", "said", "speaks"):
            self.last[name] = position

    def fact(self, kind: str, subject: str, text: str, each: _CastSentence, times: int) -> None:
        """Record a statement about somebody."""
        if not each.idle:
            self.facts.append(
                Line(subject=subject, text=text, verbs=((kind, times),), position=each.position, sources=(each.source,))
            )


def find_cast(messages: Sequence[Message]) -> Section | None:
    """Return the section "cast" of a leaf over `messages`; None if nobody is found."""
    told = list(_sentences(messages))
    for each, names in zip(told, names_in([each.text for each in told]), strict=True):
        plain = (name for name in names if not _SHORTENED.search(name))
        each.names = tuple(dict.fromkeys(_with_title(name, each.text) for name in plain))
    found = _CastFindings()
    before: _CastSentence | None = None
    for each in told:
        _count_uses(each, before, found)
        _statements(each, before if before and before.place == each.place else None, found)
        before = each
    _read_answers(told, found)
    people = [
        person_line(name, {**found.counts[name], "leaves": 1}, found.answers[name], found.last.get(name, 0))
        for name in dict.fromkeys([*found.counts, *found.answers])
    ]
    return cast_section([[*people, *found.facts]], LEAF_LINES)


def authors(author: str) -> list[str]:
    """Split an author field into its names."""
    return [name.strip() for name in _SPLIT_AUTHORS.split(author) if name.strip()]


def _sentences(messages: Sequence[Message]) -> Iterator[_CastSentence]:
    telling = narrators(messages)
    texts = spoken_texts(messages)
    # At a table players jest. Where their texts mark what is spoken, the rest is told.
    marked = [bool(_MARKS.search(part.text)) for _, part in texts if (part.author or "") not in telling]
    jests = bool(telling - {""}) and sum(marked) * 2 <= len(marked)
    for place, (message, part) in enumerate(texts):
        author, text = part.author or "", part.text
        for sentence, _ in sentences(text):
            yield _CastSentence(
                text=sentence,
                author=author,
                narrated=author in telling,
                quoted=not author and bool(_MARKS.search(text)),
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


def _statements(each: _CastSentence, before: _CastSentence | None, found: _CastFindings) -> None:
    if len(each.text) > LONGEST_SENTENCE or not (each.names or (before and before.names)):
        return
    speakers = authors(each.author)
    own = speakers[0] if len(speakers) == 1 and not each.narrated else ""
    if own:
        # The characters whom an author claims to play, or as whom they speak.
        for pattern, times in ((_plays(), PLAYS), (_introduces(), INTRODUCES)):
            if (match := pattern.search(each.text)) and (name := _matched_name(match, "x", each)):
                found.answers[name][own] += times
    introduced = bool(own) and any(
        pattern.search(said.text) for said in (each, before) if said for pattern in (_plays(), _introduces())
    )
    for name, what in _descriptions(each, own):
        sure = each.sure or introduced or what.startswith(f"{own}’s ")
        found.fact("is", name, what, each, SURE if sure else 1)
    _record_fates(each, found)
    if not each.words.isdisjoint(_SAYS.called):
        _record_aliases(each, found)


def _record_fates(each: _CastSentence, found: _CastFindings) -> None:
    """Record who died or lives again."""
    # In quoted dialogue, living people are called dead.
    if each.quoted or each.words.isdisjoint(_SAYS.fates):
        return
    for kind, fate in _fates():
        match = fate.search(each.text)
        if match and _is_certain(each.text, match) and (name := _matched_name(match, "x", each)):
            found.fact(kind, name, "" if each.narrated else each.author, each, SURE if each.sure else 1)


def _is_certain(text: str, match: re.Match[str]) -> bool:
    """Whether nothing in the clause of a match negates it or makes it uncertain."""
    return not _SAYS.not_so.search(_clause(text, match))


def _clause(text: str, match: re.Match[str]) -> str:
    start = max((found.end() for found in _STOP.finditer(text, 0, match.start())), default=0)
    stop = _STOP.search(text, match.end())
    return text[start : stop.end() if stop else len(text)]


def _record_aliases(each: _CastSentence, found: _CastFindings) -> None:
    match = _alias().search(each.text)
    subject = _matched_name(match, "x", each) if match and _is_certain(each.text, match) else ""
    if match is None and not (each.narrated and each.author) and (each.author or each.quoted):
        # Who wants to be called so no more was called so.
        match = _own_alias().search(each.text)
        subject = each.author or tagged_speaker(each.said)
    if match and subject:
        other = _matched_name(match, "y", each)
        if other and key_words(subject) != key_words(other):
            found.fact("alias", subject, other, replace(each, text=_clause(each.text, match)), SURE)


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


# Descriptions: "Grog, a goliath barbarian", "the gunslinger Percy", "Holm is the queen's spy".


def _person_pattern() -> str:
    return rf"(?i:{any_of(_SAYS.people)}|\w{{0,20}}{any_of(_SAYS.people_endings)})"


_OWNER = rf"(?:{CAPITAL}[\w’'.-]{{0,30}} ){{0,2}}{CAPITAL}[\w’.-]{{0,30}}['’]s"
_PHRASE = lazy_re(
    lambda: (
        rf"(?P<first>(?i:{any_of(_SAYS.determiners)})|{_OWNER}) (?P<rest>(?:[^\W\d_][\w’'-]{{0,30}} ){{0,4}}?"
        rf"(?P<noun>{_person_pattern()}))(?![\w’'-]| {_person_pattern()}\b)"
    )
)
_TAIL = lazy_re(lambda: rf" {any_of(_SAYS.tails)}(?: [^\W\d_][\w’'-]*){{1,6}}")
_ENDS = lazy_re(lambda: rf"\s*$|\s*[,.;:—–!?)\"”]|\s+-| (?:{any_of(_SAYS.ends | topic(Names).none)})\b")


def _descriptions(each: _CastSentence, own: str) -> Iterator[tuple[str, str]]:
    """Yield names with the noun phrases that say who they are; `own` is the only speaker, who is no narrator."""
    text = each.text
    for name in each.names:
        start = text.find(name)
        lead, after = text[:start], text[start + len(name) :]
        found = _SAYS.is_so.match(after)
        if after.startswith(", "):
            listed = lead.rstrip().endswith(",") and any(other in lead for other in each.names)
            what = "" if listed else _phrase(after, 2, closed=True)
        elif found and _SAYS.not_so.search(text):
            what = ""
        else:
            what = _phrase(after, found.end() if found else 1, closed=not found)
        called = _SAYS.named.search(lead)
        before = lead[: called.start()].rstrip(" ,") if called else lead.rstrip()
        phrases = [match for match in _PHRASE.finditer(before) if match.end() == len(before)]
        for phrase in (what, phrases[-1][0] if phrases else ""):
            if phrase and (said := _resolve_possessive(phrase, each, name, own)):
                yield name, said


def _phrase(text: str, start: int, *, closed: bool) -> str:
    """Return the noun phrase at `start` that says who somebody is, with its complement; empty if there is none.

    `closed`: it must end at punctuation and not begin a list.
    """
    match = _PHRASE.match(text, start)
    if match is None:
        return ""
    end = match.end()
    if tail := _TAIL.match(text, end):
        words = tail[0].split()
        stops = [at for at, word in enumerate(words) if word.lower() in _SAYS.ends | _SAYS.mine | _SAYS.theirs]
        kept = words[: stops[0]] if stops else words
        end += sum(len(word) + 1 for word in kept) if len(kept) > 1 else 0
    elif not _ENDS.match(text, end):
        # A noun followed by another one is not a person: a dwarf tavern, the king's men.
        return ""
    following = text[end + 1 :].lstrip()[:1] if text[end : end + 1] == "," else ""
    listed = closed and (following.isupper() or text[end + 2 :].partition(" ")[0] in topic(Names).beside)
    return "" if listed and following else text[start:end] if end - start <= LONGEST else ""


def _resolve_possessive(what: str, each: _CastSentence, name: str, own: str) -> str:
    """Resolve "my" and "his" in a description; empty if that is impossible or the result says too little."""
    match = _PHRASE.match(what)
    if match is None or not topic(Names).none.isdisjoint(match["rest"].lower().split()[:-1]):
        return ""
    first, rest, head = match["first"], what[match.start("rest") :], match["noun"].lower()
    low, related = first.lower(), head in _SAYS.relatives
    if low in _SAYS.mine | _SAYS.theirs and related:
        others = [other for other in each.names if other != name and each.text.find(other) < each.text.find(what)]
        owner = own if low in _SAYS.mine else others[0] if len(others) == 1 else ""
        return f"{owner}’s {rest}" if owner and not each.quoted else ""
    if low not in _SAYS.determiners:
        return what if related and low.partition("'")[0].partition("’")[0] not in key_words(name) else ""
    words = rest.lower().split()
    told = set(words) - _SAYS.plain - _SAYS.empty
    if (
        not told
        or (told == {head} and head in _SAYS.relatives | _SAYS.kinds)
        or (head in _SAYS.plain and head == words[-1])
    ):
        return ""
    return f"{_SAYS.article[0] if low in _SAYS.mine | _SAYS.theirs else low} {rest}"
