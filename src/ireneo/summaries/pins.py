"""Pins: constraints found in what users and the system say, and what lifts them again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import get_args

from msgspec.structs import replace

from ireneo.context import constraint_words as words
from ireneo.log.echo import without_recalled
from ireneo.log.message import PINS_TAG, Message, MessageId, Text
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
_END = lazy_re(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)[\"')\]]*\s+")
_BULLET = lazy_re(r"^(?:[#>*+-]+|\(?\d+[.)]|\[[ x]\]|</?[\w-]+>|\s)+")
_CLOSING_TAG = lazy_re(r"</[\w-]+>")
_WORD = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


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
        if words.LIFT.search(sentence) and len(sentence) <= MAX_CHARACTERS and not sentence.endswith("?")
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
        self._speak: dict[str, list[tuple[int, frozenset[str]]]] = {}
        for lift in lifts:
            if lift.subject:
                continue
            self._said[lift.text] = max(self._said.get(lift.text, lift.position), lift.position)
            if lift.weight >= BY_HAND:
                continue  # Who releases a pin by hand means that one; others that read alike stand.
            said = _speaks_of(lift.text)
            for word in said:
                self._speak.setdefault(word, []).append((lift.position, said))

    def lifts(self, pin: Line) -> bool:
        """Whether something said after `pin` lifts it: it names the pin, or most of what the pin speaks of."""
        said_at = self._said.get(pin.text)
        if pin.subject in self._named or (said_at is not None and said_at >= pin.position):
            return True
        about = _speaks_of(pin.text)
        # What speaks of nothing that the pin speaks of can't lift it.
        return any(
            position > pin.position and _names(said, about)
            for word in about
            for position, said in self._speak.get(word, ())
        )


def _names(said: frozenset[str], about: frozenset[str]) -> bool:
    """Whether words that lift something name nearly all of what a pin is about and not much else, or half of it alone.

    Another branch that may be pushed to lifts nothing.
    """
    shared = len(about & said)
    names_it = bool(about) and len(about) - shared <= (len(about) - 1) // 3 and 3 * shared >= len(said)
    return names_it or (shared >= 2 and said <= about and 2 * shared >= len(about))


@lru_cache(maxsize=4_096)
def _speaks_of(text: str) -> frozenset[str]:
    said = {word.lower().rstrip(".") for word in _WORD.findall(words.SCOPE.sub(" ", text))}
    return frozenset(_stem(word) for word in said if word not in words.EMPTY and len(word) > 1)


def _stem(word: str) -> str:
    """A word without its ending, so that `pushing` meets `push`, `files` meets `file` and `running` meets `run`."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        # Friday is no word of one Frida, as dependencies are of a dependency.
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word[-2:] not in ("ay", "ey", "oy"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] else word


def _strength(sentence: str) -> float:
    """How binding a sentence is; 0 for what binds nothing."""
    if sentence.endswith(("?", ":")) or len(sentence) < 6:
        return 0.0
    clauses = [words.LEAD.sub("", clause) for clause in (sentence, *words.CLAUSE.split(sentence))]
    base = max(map(_of_clause, clauses), default=0.0)
    if words.BOUND.search(sentence):
        base = max(base, STRONG)
    elif words.MUST.search(sentence):
        base = max(base, MEDIUM)
    elif words.HINT.search(sentence) and len(sentence.split()) <= SHORT_WORDS and not words.TELLS.search(sentence):
        base = max(base, MILD)
    if base and words.WIDE.search(sentence):
        return STANDING
    if words.SCOPE.search(sentence):
        # What says how far it reaches is a rule even where it has no verb that we know.
        base = STANDING if base else MEDIUM
    return base


def _of_clause(clause: str) -> float:
    if words.NEVER.match(clause):
        return STRONG
    if words.FORBID.match(clause) or words.KEEP.match(clause):
        return MEDIUM
    return MILD if words.USE.match(clause) else 0.0


def _binding_clause(sentence: str) -> str:
    """The part of a long sentence that binds, verbatim: from its clause on, as far as there is room."""
    place = 0
    for found in [*words.CLAUSE.finditer(sentence), None]:
        if _of_clause(words.LEAD.sub("", sentence[place:])):
            break
        if found is not None:
            place = found.end()
    bound = words.BOUND.search(sentence) or words.SCOPE.search(sentence)
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
        for sentence in _END.split(line):
            if stripped := sentence.strip():
                yield stripped


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
