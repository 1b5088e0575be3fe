"""Pins: the constraints among what users and the system say in their own words, and what lifts them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import get_args

from msgspec.structs import replace

from ireneo.language.files import either, topic
from ireneo.language.topics import Constraints, OwnWords, Rulings
from ireneo.language.words import common_words, language_of_sentence, light_stem
from ireneo.log.message import PINS_TAG, Message, MessageId, Text, without_recalled
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.judge import AROUND, MAX_CHARACTERS, SCOPE, STANDING, STRONG, in_context, is_order, judge
from ireneo.summaries.own_words import OwnSentence, choosing, is_played, out_of_character, own_words, said_in_results
from ireneo.summaries.summary import Line, Summary, ThreadKind

BY_HAND = 5.0
KNOWN_TEXTS = 256
"""Texts whose pins and lifts are cached."""
MAX_PINS = 160
"""Most pins of one record, the strongest: some 3,000 tokens."""

_THREADS = tuple(f"{kind}{sign}" for kind in get_args(ThreadKind) for sign in (" · ", ": "))
_WORD = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


def _words() -> Constraints:
    return topic(Constraints)


_CHOICES = lazy_re(lambda: rf"{either(_words().choices)}", re.I)
_LIFT = lazy_re(lambda: rf"\b{either(_words().lift)}", re.I)
_REPLACES = lazy_re(lambda: rf"\b{either(_words().replaces)}", re.I)
_GOES_ON = lazy_re(lambda: rf"{either(_words().goes_on)}", re.I)
_TURNS_TO = lazy_re(lambda: rf"{either(_words().turns_to)}", re.I)
_NEGATES = lazy_re(lambda: rf"\b{either(topic(Rulings).negates)}\b", re.I)


def find_pins(message: Message, *, in_story: bool = False) -> list[Line]:
    """The standing constraints in a message, as lines whose `weight` is their strength.

    Words of the user in tool results (refusals, answers) count. A story's lines bind nobody except what is said out of
    character, and what is said beside a story (`in_story`) only where it is meant to stand.
    """
    draft = message.draft
    if draft.text.startswith(PINS_TAG):
        return [_line(message, text, BY_HAND) for text in _carried(draft.text)]
    pins: dict[str, float] = {}
    for said, least in _spoken(message, in_story=in_story):
        pins.update(each for each in _binding(said, system=message.role == "system") if each[1] >= least)
    for result in draft.results:
        for said, answers in said_in_results(result):
            pins.update(_settled(said) if answers else _binding(said, system=False))
    return [_line(message, text, strength) for text, strength in pins.items()]


def find_lifts(message: Message, *, in_story: bool = False) -> list[Line]:
    """The sentences that may lift a constraint; `standing` finds out which."""
    if message.role == "system":
        return []
    spoken = [said for said, _ in _spoken(message, in_story=in_story)]
    said = [*spoken, *(said for result in message.draft.results for said, _ in said_in_results(result))]
    return [_line(message, sentence, 1.0) for text in said for sentence in lifts_in(text)]


def _spoken(message: Message, *, in_story: bool) -> list[tuple[str, float]]:
    """What the user or system says in a message, outside of a story, with the least strength that counts."""
    text = message.draft.text
    if message.role not in ("user", "system") or message.draft.origin != "spoken":
        return []
    authored = any(isinstance(part, Text) and part.author for part in message.parts)
    if message.role == "system" or not (authored or in_story):
        return [] if authored else [(text, 0.0)]
    aside = [(said, 0.0) for said in out_of_character(text)]
    return aside if aside or authored or is_played(text) else [(text, STANDING)]


# Every rebuild looks through the same verbatim requests again.
@lru_cache(maxsize=KNOWN_TEXTS)
def _binding(text: str, *, system: bool) -> tuple[tuple[str, float], ...]:
    """The constraints in a text with their strengths."""
    out: dict[str, float] = {}
    own = list(own_words(without_recalled(text), all_own=system))
    strengths = [judge(said, system=system).strength for said in own]
    for place, (said, strength) in enumerate(zip(own, strengths, strict=True)):
        if strength and (system or not _only_chooses(said.text)):
            behind = own[place + 1] if place + 1 < len(own) and not strengths[place + 1] else None
            out.setdefault(_with_rest(said, behind), strength)
    # A sentence contained in the context of the next one is dropped.
    texts = list(out)
    within = {text for text, following in pairwise(texts) if text in following}
    return tuple((text, strength) for text, strength in out.items() if text not in within)


def _only_chooses(text: str) -> bool:
    """Whether a sentence chooses by number, with no order or ban besides: it means nothing without what was offered."""
    chosen = choosing().match(text)
    rest = text[chosen.end() :].strip(" ,;.!?+&–-") if chosen else ""
    bare = rest.split(" ", 1)[-1] if rest.partition(" ")[0].lower() in topic(OwnWords).chosen else rest
    return chosen is not None and not (_NEGATES.search(rest) or is_order(rest) or is_order(bare))


def _with_rest(said: OwnSentence, behind: OwnSentence | None) -> str:
    """A sentence that binds, in its context, with the next one where that goes on with it.

    That is an exception to it ("And disable it when …"), a limit, a reason, or what is wanted in place of what it bans.
    """
    text = in_context(said)
    if behind is None or not (behind.near and text.endswith(said.text)):
        return text
    if behind.text.endswith("?") or len(text) + len(behind.text) > MAX_CHARACTERS:
        return text
    words = [word.lower() for word in _WORD.findall(behind.text)]
    excepts = not _words().continues.isdisjoint(words[:1]) and not _words().conditions.isdisjoint(words)
    goes_on = _GOES_ON.match(behind.text) or (_NEGATES.search(said.text) and _TURNS_TO.match(behind.text))
    return f"{text} {behind.text}" if excepts or goes_on else text


@lru_cache(maxsize=KNOWN_TEXTS)
def lifts_in(text: str, *, replaces: bool = True) -> tuple[str, ...]:
    """The sentences of a text that may lift something, or, with `replaces`, replace it."""
    return tuple(
        said.text
        for said in own_words(without_recalled(text))
        if len(said.text) <= MAX_CHARACTERS
        and (_LIFT.search(said.text) or (replaces and _REPLACES.search(said.text)))
        and not said.text.rstrip(AROUND).endswith("?")
    )


def _settled(answer: str) -> tuple[tuple[str, float], ...]:
    """An answer with its question, where it settles how something is to be and not what is done next."""
    question, _, words = answer.partition('"="')
    if len(answer) > MAX_CHARACTERS or not words.strip(' "') or not _CHOICES.match(question.lstrip('"')):
        return ()
    return ((" ".join(answer.split()), STRONG),)


def pinned(annotations: Iterable[Annotation]) -> tuple[list[Line], list[Line]]:
    """The pins and releases among annotations, as lines; a release has the pin's id as its subject."""
    pins: list[Line] = []
    lifts: list[Line] = []
    for note in annotations:
        source = note.source or note.at
        sources = (source,) if source else ()
        line = Line(text=note.text, subject=note.about, position=note.at_position, sources=sources)
        if note.kind == "pin":
            weight = BY_HAND if note.by == "hand" else STRONG
            pins.append(Line(text=note.text, subject=note.id, weight=weight, position=line.position, sources=sources))
        elif note.kind == "release":
            lifts.append(replace(line, weight=BY_HAND))
    return pins, lifts


def standing(pins: Iterable[Line], lifts: Sequence[Line]) -> list[Line]:
    """The pins that still hold, in order, each once, at most `MAX_PINS`."""
    out: dict[str, Line] = {}
    lifting = _Lifting(lifts)
    for pin in sorted(pins, key=lambda line: line.position):
        if not lifting.lifts(pin):
            name = " ".join(pin.text.lower().split()).rstrip(".!")
            earlier = out.pop(name, None)
            out[name] = pin if earlier is None or pin.weight >= earlier.weight else earlier
    _take_in(out)
    if len(out) > MAX_PINS:
        strongest = sorted(out.values(), key=lambda line: (-line.weight, -line.position))[:MAX_PINS]
        return sorted(strongest, key=lambda line: line.position)
    return list(out.values())


def _take_in(pins: dict[str, Line]) -> None:
    """Drop pins that are part of a longer one of the same message, which takes over their strength."""
    together: dict[tuple[MessageId, ...], list[str]] = {}
    for name, pin in pins.items():
        if pin.sources:
            together.setdefault(pin.sources, []).append(name)
    for names in filter(lambda each: len(each) > 1, together.values()):
        holding: dict[str, dict[str, None]] = {}
        for name in names:
            for word in name.split():
                holding.setdefault(word, {})[name] = None
        for name, pin in [(name, pins[name]) for name in names if not pins[name].subject]:
            # An inner word of a part is a whole word of the sentence; the rarest is in few sentences.
            within = min((holding[word] for word in name.split()[1:-1]), key=len, default=names)
            whole = next((each for each in within if each in pins and each != name and name in each), None)
            if whole is not None:
                del pins[name]
                pins[whole] = replace(pins[whole], weight=max(pins[whole].weight, pin.weight))


class _Lifting:
    """Finds the pins that something lifts: by name, by their words, or by a common subject."""

    def __init__(self, lifts: Sequence[Line]) -> None:
        self._named = {lift.subject for lift in lifts if lift.subject}
        self._said: dict[str, int] = {}
        # A release by hand means one pin; similar ones stand.
        self._telling = [lift for lift in lifts if not lift.subject and lift.weight < BY_HAND]
        self._speak: dict[str, dict[str, list[tuple[int, frozenset[str]]]]] = {}
        for lift in lifts:
            if not lift.subject:
                self._said[lift.text] = max(self._said.get(lift.text, lift.position), lift.position)

    def lifts(self, pin: Line) -> bool:
        """Whether something said after `pin` lifts it."""
        said_at = self._said.get(pin.text)
        if pin.subject in self._named or (said_at is not None and said_at >= pin.position):
            return True
        if not self._telling:
            return False
        language = _language_of(pin.text)
        about, speak = _speaks_of(pin.text, language), self._by_words(language)
        # Without a common word it can't lift the pin.
        return any(
            position > pin.position and _names(said, about) for word in about for position, said in speak.get(word, ())
        )

    def _by_words(self, language: str) -> dict[str, list[tuple[int, frozenset[str]]]]:
        """The lifts by each of their words, in the language of a pin."""
        if language not in self._speak:
            speak = self._speak[language] = {}
            for lift in self._telling:
                said = _speaks_of(lift.text, language)
                for word in said:
                    speak.setdefault(word, []).append((lift.position, said))
        return self._speak[language]


def _names(said: frozenset[str], about: frozenset[str]) -> bool:
    """Whether words that lift something name nearly all of what a pin is about and little else, or only half of it.

    "You may push to the other branch" lifts nothing.
    """
    shared = len(about & said)
    names_it = bool(about) and len(about) - shared <= (len(about) - 1) // 3 and 3 * shared >= len(said)
    return names_it or (shared >= 2 and said <= about and 2 * shared >= len(about))


# Every rebuild asks for the same pins.
_language_of = lru_cache(maxsize=4_096)(language_of_sentence)


@lru_cache(maxsize=4_096)
def _speaks_of(text: str, language: str) -> frozenset[str]:
    said = {word.lower().rstrip(".") for word in _WORD.findall(SCOPE.sub(" ", text))}
    empty = common_words() | _words().empty
    return frozenset(light_stem(word, language) for word in said if word not in empty and len(word) > 1)


def _carried(text: str) -> list[str]:
    """The pins of a pin block in a list that was cut before."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    # Threads of a story bind nobody, and may be resolved by now.
    return [line.rsplit(" · m_", 1)[0] for line in lines if not line.startswith(_THREADS)]


def _line(message: Message, text: str, weight: float) -> Line:
    return Line(text=text, weight=weight, position=message.position, sources=(message.id,))


def constraints(items: Iterable[Summary | Message], *, in_story: bool = False) -> tuple[list[Line], list[Line]]:
    """The pins of a row, and what may lift them."""
    pins: list[Line] = []
    lifts: list[Line] = []
    for item in items:
        if isinstance(item, Summary):
            pins += item.lines("constraints")
            lifts += item.lines("lifted")
        else:
            pins += find_pins(item, in_story=in_story)
            lifts += find_lifts(item, in_story=in_story)
    return pins, lifts
