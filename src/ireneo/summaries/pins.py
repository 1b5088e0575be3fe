"""Pins: constraints found in what users and the system say, and what lifts them again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import get_args

from msgspec.structs import replace

from ireneo.language.detect import language_of_sentence
from ireneo.language.files import either, topic
from ireneo.language.sentences import sentences
from ireneo.language.topics import Constraints
from ireneo.language.words import common_words, light_stem
from ireneo.log.message import PINS_TAG, Message, MessageId, Text, without_recalled
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import Line, Summary, ThreadKind

BY_HAND = 5.0
STANDING = 4.0
"""It says that it holds from here on, or everywhere."""
STRONG = 3.0
MEDIUM = 2.0
MILD = 1.5
SHORT_WORDS = 22
"""A hint of a rule makes one only of a short sentence: in a longer one it is part of a story."""
MAX_CHARACTERS = 320
"""A longer sentence is pinned by the clause that binds."""
KNOWN_TEXTS = 256
"""Texts that were looked through last, of which it is known what they pin and lift."""
MAX_PINS = 160
"""What one record carries at the most, the strongest: some 3,000 tokens of rules."""

_THREADS = tuple(f"{kind} · " for kind in get_args(ThreadKind))
_FENCE = lazy_re(r"```.*?(?:```|\Z)|<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_BULLET = lazy_re(r"^(?:[#>*+-]+|\(?\d+[.)]|\[[ x]\]|</?[\w-]+>|\s)+")
_CLOSING_TAG = lazy_re(r"</[\w-]+>")
_WORD = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


def _words() -> Constraints:
    return topic(Constraints)


_LEAD = lazy_re(lambda: rf"^(?:{either(_words().lead)}\b[\s,.!:*_—–-]*)+", re.I)
_CLAUSE = lazy_re(
    lambda: rf"(?:(?<!\s)\s++)?[;:—–(]\s*|,\s+|(?<!\s)\s+-\s+|(?<!\s)\s+{either(_words().conjunctions)}\s+", re.I
)
_SCOPE = lazy_re(lambda: rf"\b{either(_words().scope)}\b", re.I)
_WIDE = lazy_re(lambda: rf"\b{either(_words().wide)}\b", re.I)
_NEVER = lazy_re(lambda: f"^{either(_words().never)}", re.I)
_BOUND = lazy_re(lambda: rf"\b{either(_words().bound)}\b", re.I)
_MUST = lazy_re(lambda: rf"\b{either(_words().must)}\b", re.I)
_HINT = lazy_re(lambda: either(_words().hint), re.I)
_TELLS = lazy_re(lambda: rf"\b{either(_words().tells)}\b", re.I)
_FORBID = lazy_re(lambda: f"^{either(_words().forbid)}", re.I)
_KEEP = lazy_re(lambda: f"^{either(_words().keep)}", re.I)
_USE = lazy_re(lambda: rf"^{either(_words().use)}\b", re.I)
_LIFT = lazy_re(lambda: rf"\b{either(_words().lift)}", re.I)
_AROUND = "\"'”“’)]*_"
"""What may stand behind the mark that ends a sentence."""


def find_pins(message: Message) -> list[Line]:
    """The standing constraints in a user's or the system's words, as lines: `weight` says how binding one is.

    A line of a story, which has an author, binds nobody outside of the story.
    """
    draft = message.draft
    if draft.text.startswith(PINS_TAG):
        return [_line(message, text, BY_HAND) for text in _carried(draft.text)]
    if message.role not in ("user", "system") or draft.origin != "spoken" or _is_story(message):
        return []
    return [_line(message, text, strength) for text, strength in _binding(draft.text)]


def find_lifts(message: Message) -> list[Line]:
    """The sentences with which a user may lift a constraint; which one, `standing` finds out."""
    if message.role != "user" or message.draft.origin != "spoken" or _is_story(message):
        return []
    return [_line(message, sentence, 1.0) for sentence in _lifting(message.draft.text)]


# The requests that a context shows word for word are looked through again at each rebuild.
@lru_cache(maxsize=KNOWN_TEXTS)
def _binding(text: str) -> tuple[tuple[str, float], ...]:
    """What of a text binds, each once, and how strongly."""
    out: dict[str, float] = {}
    for sentence in _sentences(without_recalled(text)):
        if strength := _strength(sentence):
            out.setdefault(sentence if len(sentence) <= MAX_CHARACTERS else _binding_clause(sentence), strength)
    return tuple(out.items())


@lru_cache(maxsize=KNOWN_TEXTS)
def _lifting(text: str) -> tuple[str, ...]:
    """The sentences of a text that may lift something."""
    return tuple(
        sentence
        for sentence in _sentences(without_recalled(text))
        if _LIFT.search(sentence) and len(sentence) <= MAX_CHARACTERS and not sentence.rstrip(_AROUND).endswith("?")
    )


def pinned(annotations: Iterable[Annotation]) -> tuple[list[Line], list[Line]]:
    """The pins and the releases among annotations, as lines; a release has the pin's id for its subject."""
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
    """The pins that still hold, in the order in which they were set, each once; at most 160, the strongest."""
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
    """Let a sentence stand for the part of it that was pinned as well in the same message, as binding as either."""
    together: dict[tuple[MessageId, ...], list[str]] = {}
    for name, pin in pins.items():
        if pin.sources:
            together.setdefault(pin.sources, []).append(name)
    for names in together.values():
        for name, pin in [(name, pins[name]) for name in names if len(names) > 1 and not pins[name].subject]:
            whole = next((each for each in names if each in pins and each != name and name in each), None)
            if whole is not None:
                del pins[name]
                pins[whole] = replace(pins[whole], weight=max(pins[whole].weight, pin.weight))


class _Lifting:
    """What lifts which pins: by name, by its very words, or by what both speak of."""

    def __init__(self, lifts: Sequence[Line]) -> None:
        self._named = {lift.subject for lift in lifts if lift.subject}
        self._said: dict[str, int] = {}
        # Who releases a pin by hand means that one; others that read alike stand.
        self._telling = [lift for lift in lifts if not lift.subject and lift.weight < BY_HAND]
        self._speak: dict[str, dict[str, list[tuple[int, frozenset[str]]]]] = {}
        for lift in lifts:
            if not lift.subject:
                self._said[lift.text] = max(self._said.get(lift.text, lift.position), lift.position)

    def lifts(self, pin: Line) -> bool:
        """Whether something said after `pin` lifts it: it names the pin, or most of what the pin speaks of."""
        said_at = self._said.get(pin.text)
        if pin.subject in self._named or (said_at is not None and said_at >= pin.position):
            return True
        language = language_of_sentence(pin.text)
        about, speak = _speaks_of(pin.text, language), self._by_words(language)
        # What speaks of nothing that the pin speaks of can't lift it.
        return any(
            position > pin.position and _names(said, about) for word in about for position, said in speak.get(word, ())
        )

    def _by_words(self, language: str) -> dict[str, list[tuple[int, frozenset[str]]]]:
        """By each word what speaks of it, read as a pin of that language is."""
        if language not in self._speak:
            speak = self._speak[language] = {}
            for lift in self._telling:
                said = _speaks_of(lift.text, language)
                for word in said:
                    speak.setdefault(word, []).append((lift.position, said))
        return self._speak[language]


def _names(said: frozenset[str], about: frozenset[str]) -> bool:
    """Whether words that lift something name nearly all of what a pin is about and not much else, or half of it alone.

    Another branch that may be pushed to lifts nothing.
    """
    shared = len(about & said)
    names_it = bool(about) and len(about) - shared <= (len(about) - 1) // 3 and 3 * shared >= len(said)
    return names_it or (shared >= 2 and said <= about and 2 * shared >= len(about))


@lru_cache(maxsize=4_096)
def _speaks_of(text: str, language: str) -> frozenset[str]:
    said = {word.lower().rstrip(".") for word in _WORD.findall(_SCOPE.sub(" ", text))}
    empty = common_words() | _words().empty
    return frozenset(light_stem(word, language) for word in said if word not in empty and len(word) > 1)


def _strength(sentence: str) -> float:
    """How binding a sentence is; 0 for what binds nothing."""
    if sentence.rstrip(_AROUND).endswith(("?", ":")) or len(sentence) < 6:
        return 0.0
    clauses = [_LEAD.sub("", clause) for clause in (sentence, *_CLAUSE.split(sentence))]
    base = max(map(_of_clause, clauses), default=0.0)
    if _BOUND.search(sentence):
        base = max(base, STRONG)
    elif _MUST.search(sentence):
        base = max(base, MEDIUM)
    elif len(sentence.split()) <= SHORT_WORDS and _HINT.search(sentence) and not _TELLS.search(sentence):
        base = max(base, MILD)
    if base and _WIDE.search(sentence):
        return STANDING
    if _SCOPE.search(sentence):
        # What says how far it reaches is a rule even where it has no verb that we know.
        base = STANDING if base else MEDIUM
    return base


def _of_clause(clause: str) -> float:
    if _NEVER.match(clause):
        return STRONG
    if _FORBID.match(clause) or _KEEP.match(clause):
        return MEDIUM
    return MILD if _USE.match(clause) else 0.0


def _binding_clause(sentence: str) -> str:
    """The part of a long sentence that binds, verbatim: from its clause on, as far as there is room."""
    place = 0
    for found in [*_CLAUSE.finditer(sentence), None]:
        if _of_clause(_LEAD.sub("", sentence[place:])):
            break
        if found is not None:
            place = found.end()
    bound = _BOUND.search(sentence) or _SCOPE.search(sentence)
    if place == 0 and bound:
        place = max(sentence.rfind(" ", 0, max(bound.start() - MAX_CHARACTERS // 2, 0)) + 1, 0)
    piece = sentence[place : place + MAX_CHARACTERS]
    return piece if place + MAX_CHARACTERS >= len(sentence) else piece[: piece.rfind(" ")]


def _sentences(text: str) -> Iterator[str]:
    """The sentences of `text` as they stand there, without what marks them as an item of a list."""
    for raw in _FENCE.sub("\n", text).splitlines():
        line = _without_closing_tags(_BULLET.sub("", raw))
        if "|" in line[:2] or not any(char.isalpha() for char in line):
            continue
        # In a hurry, a sentence begins small.
        yield from sentences(line, small_opens=True)


def _without_closing_tags(line: str) -> str:
    """Drop the white space and the closing tags that a line ends with, the last one first."""
    end = len(line.rstrip())
    while (start := line.rfind("</", 0, end)) >= 0 and _CLOSING_TAG.fullmatch(line, start, end):
        end = start
        while end and line[end - 1].isspace():
            end -= 1
    return line[:end]


def _is_story(message: Message) -> bool:
    """Whether somebody speaks in the story, and not the user to the assistant."""
    return any(isinstance(part, Text) and part.author for part in message.parts)


def _carried(text: str) -> list[str]:
    """The pins of a block of ours, in a list that was cut before."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    # A thread of a story stands there, too: it binds nobody, and may be resolved by now.
    return [line.rsplit(" · m_", 1)[0] for line in lines if not line.startswith(_THREADS)]


def _line(message: Message, text: str, weight: float) -> Line:
    return Line(text=text, weight=weight, position=message.position, sources=(message.id,))


def constraints(items: Iterable[Summary | Message]) -> tuple[list[Line], list[Line]]:
    """The pins that the items of a row hold, and what may lift them."""
    pins: list[Line] = []
    lifts: list[Line] = []
    for item in items:
        if isinstance(item, Summary):
            pins += item.lines("constraints")
            lifts += item.lines("lifted")
        else:
            pins += find_pins(item)
            lifts += find_lifts(item)
    return pins, lifts
