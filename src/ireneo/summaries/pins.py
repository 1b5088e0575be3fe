"""Pins: what users and the system say in their own words, the constraints among it, and what lifts them.

Pasted text is told by structure: fences, tags, block quotes, tables, diffs, logs, code, text behind a line that
announces somebody else's words, and long paragraphs without I, we or you. Words of the user inside tool results are
found as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import either, from_data, topic
from ireneo.language.topics import Constraints, OwnWords
from ireneo.language.words import breaks, common_words, language_of_sentence, light_stem
from ireneo.log.calls import was_refused
from ireneo.log.message import PINS_TAG, Message, MessageId, Result, Text, without_recalled
from ireneo.log.tree import Annotation
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import Line, Summary, ThreadKind

LONG_PARAGRAPH = 20
"""A longer paragraph (in words) without I, we or you is pasted."""
LONGEST_BEFORE = 240
"""Most characters of the sentence before that are kept with one that points back."""
LONGEST_LIST = 24
"""Most lines of a list that are kept with the sentence that leads to it."""
MOST_TAGS = 400
"""Most tags of one text that are looked at."""
WRAPPED, LONGEST_LINE = 60, 2_000
"""Characters of a line that may continue in the next: at least, and with its continuation at most."""


class OwnSentence(Struct, frozen=True, kw_only=True):
    """A sentence in its writer's own words, with white space collapsed."""

    text: str
    with_before: str
    """With the sentence or quotation before it; alone where there is none."""
    with_list: str
    """With the list that it leads to."""
    near: bool
    """The text before it stands in the same paragraph."""
    step: bool
    """It is an item of a list of things to do."""
    personal: bool
    """Somebody says I, we or you near it, or it is too short for that."""


def out_of_character(text: str) -> Iterator[str]:
    """What is said to other players in a story's text: in double brackets, or behind a mark such as OOC."""
    for found in _OUT_OF_CHARACTER.finditer(text):
        yield (found["double"] or found["marked"] or found["line"]).strip()


def is_played(text: str) -> bool:
    """Whether `text` contains acting or speech of a character, in asterisks or quotation marks."""
    return _PLAYED.search(text) is not None


def said_in_results(result: Result) -> Iterator[tuple[str, bool]]:
    """What the user says in a tool's result, and whether it is an answer with its question."""
    text = result.text[:_LONGEST_RESULT]
    if (result.failed is not False and was_refused(text)) or _FEEDBACK.match(text):
        found = _REASON.search(text)
        said = found[1] if found else next((words for tag in _TAGS if (words := _between(text, tag))), "")
        if said := _NOTE.split(said, maxsplit=1)[0].strip():
            yield said, False
    elif _ANSWERED.match(text):
        for answer in _ANSWER.finditer(text):
            yield answer[0], True


def _between(text: str, tag: str) -> str:
    """The text between two tags; empty where one is missing."""
    inside, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside if closed else ""


_LONGEST_RESULT = 20_000
_FEEDBACK = lazy_re(r"\s*The user (?:provided|gave|has provided) (?:the following )?feedback\b", re.I)
_REASON = lazy_re(r"(?:the user said|reason for the rejection|the user's (?:reason|feedback)):\s*(.+)", re.I | re.S)
_TAGS = ("feedback", "user_message")
_NOTE = lazy_re(r"\n\n(?:Note:|IMPORTANT:|<system-reminder>)")
_ANSWERED = lazy_re(r"\s*(?:User has answered your question|Your questions? (?:has|have) been answered)", re.I)
_ANSWER = lazy_re(r'"[^"\n]{3,600}"="[^"]{1,2000}"')


_OUT_OF_CHARACTER = lazy_re(
    lambda: (
        r"\(\((?P<double>[^()]{1,1000})\)\)"
        rf"|[(\[{{]\s{{0,3}}{either(topic(OwnWords).asides)}(?!\w)[\s:–—-]{{0,4}}(?P<marked>[^()\[\]{{}}]{{1,1000}})[)\]}}]"
        rf"|^[ *_]{{0,4}}{either(topic(OwnWords).asides)}[*_]{{0,2}}\s?[:–—-]\s?(?P<line>.{{1,1000}})"
    ),
    re.I | re.M,
)
_PLAYED = lazy_re(r"\*[^*\s][^*\n]{0,400}\*|[\"“„«][^\"”“»\n]{1,400}[\"”“»]")


class _Paste:
    """Signs of text that nobody says: machine output, and what is shown as written elsewhere."""

    fence = lazy_re(r"```.*?(?:```|\Z)|<system-reminder>.*?(?:</system-reminder>|\Z)|<!--.*?(?:-->|\Z)", re.S)
    tag = lazy_re(r"^[^\S\n]{0,8}<([a-zA-Z][\w-]{1,40})>[^\n]*$", re.M)
    line = lazy_re(
        r"(?:[-*] {1,3})?[⎿⏺●○✓✗✔✘✅❌⚠❓❗│├└┌╭╰╯╮─━═⨯☁⏭♻✨📊💡👀]"
        r"|[$❯➜%»]\s|>>>\s|[\w.-]{1,60}@[\w.-]{1,60}[:~ ]|[~/][\w./-]{1,200} ?\([\w/-]{1,80}\)$"
        r"|\[?\d{2,4}[-/]\d\d[-/]\d\d[T \]]|\d{1,2}:\d\d(?::\d\d)?\s+\D"
        r"|(?:ERROR|WARN|INFO|DEBUG|FATAL|TRACE)\b|Traceback|at \S{1,200} ?\(|File \"|\w{0,60}(?:Error|Exception):\s"
        r"|(?:Error|fatal|panic):\s|[-=]{3}|FAIL\b|ok {2}|Exit code|\S{1,200}\.\w{1,8}:\d{1,7}[:,]"
        r"|[{}\[\]()]{1,40}[,;]?$|[{\[]\s{0,9}\"|\"[\w.-]{1,80}\":|//|/\*|#include|@@ |\+\+\+ |index [0-9a-f]{6}"
        r"|(?:func|def|class|const|import|package|var|let) [\w.\"{*(]{1,80} ?(?:[=({:]|$)|[\w -]{1,40}:\t"
    )
    ends = ("{", "}", ";", "=>", ":=", "\\")
    indented = lazy_re(r"(?: {4}|\t)")
    diff = lazy_re(r"(?:- [^\n:]{1,60}: )?diff --git |@@ -\d")
    in_diff = lazy_re(
        r"[ +\\@-]|diff --git|index |(?:new|deleted) file|(?:old|new) mode|similarity|rename |Binary files|$"
    )


_BULLET = lazy_re(r"(?:[#>*+•-]+|\(?\d{1,3}[.)](?=\s)|[A-Za-z][.)](?=\s)|\[[ x]\]|</?[\w-]{1,40}>|\*\*|\s)+")
_ITEM = lazy_re(r"\s*(?:[*+•-]|\(?\d{1,3}[.)]|\w[.)])\s")
_NUMBER = lazy_re(r":\s{0,9}\d{1,3}\.$")
_HEADING = lazy_re(r"\s*(#{1,6})\s+(.*)|\s*()\*\*([^*]{1,80})\*\*:?\s*$")
_CLOSING_TAG = lazy_re(r"</[\w-]+>")
_OWN = lazy_re(lambda: rf"\b{either((*topic(OwnWords).persons, *topic(OwnWords).begging))}\b", re.I)
_ANNOUNCES = lazy_re(lambda: rf"\b{either(topic(OwnWords).announces)}\b", re.I)
_ANNOUNCED_BELOW = lazy_re(lambda: rf"\b{either(topic(OwnWords).announced_below)}", re.I)
_AT_END = 24
"""Characters at the end of a line in which it says that something pasted follows."""
_REPORTS = lazy_re(lambda: rf"{either(topic(OwnWords).reports)}\b", re.I)
_STEPS = lazy_re(lambda: rf"\b{either(topic(OwnWords).steps)}\b", re.I)
_OPTIONS = lazy_re(lambda: rf"\b{either(topic(OwnWords).options)}\b", re.I)
_OWN_TAGS = lazy_re(lambda: either(topic(OwnWords).own_tags), re.I)


class _Line(Struct):
    number: int
    start: int
    end: int
    text: str
    kind: str
    """`own`, `quote`, `paste`, `blank`, or `hidden` in a fence or between tags."""
    item: bool = False


def own_words(text: str, *, all_own: bool = False) -> Iterator[OwnSentence]:
    """The sentences of `text` that are its writer's own; with `all_own`, all but code is (a system prompt)."""
    lines = _lines(text, all_own=all_own)
    if not all_own:
        _drop_announced(lines)
    before: tuple[int, int] | None = None
    lead: _Line | None = None
    for paragraph in _paragraphs(lines):
        own = [line for line in paragraph if line.kind == "own"]
        words = " ".join(line.text for line in own)
        spoken = all_own or bool(_OWN.search(words)) or len(words.split()) <= LONG_PARAGRAPH
        for line in paragraph:
            if line.kind != "own":
                before = (line.start, line.end) if line.kind == "quote" else before
                continue
            if _HEADING.match(line.text) and all_own:
                before = None
                continue
            if line.item:
                # List items don't refer to each other.
                before = (lead.start, lead.end) if lead is not None and lead.text.endswith(":") else None
            else:
                lead = line
            step = line.item and lead is not None and _asks_for_steps(lead.text)
            personal = spoken or (line.item and len(line.text.split()) <= LONG_PARAGRAPH)
            leads_on = not line.item and _leads_on(lines, line)
            for start, end in _sentences(text, line):
                near = before is not None and end - before[0] <= LONGEST_BEFORE + (end - start)
                yield OwnSentence(
                    text=_flat(text[start:end]),
                    with_before=_flat(text[before[0] if near and before else start : end]),
                    with_list=_flat(text[start : _end_of_list(lines, line) if leads_on and end == line.end else end]),
                    near=before is not None and before[0] >= paragraph[0].start,
                    step=step,
                    personal=personal,
                )
                before = (start, end)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _lines(text: str, *, all_own: bool) -> list[_Line]:
    """The lines of `text` with their kinds; wrapped lines are joined."""
    hidden = _hidden(text, all_own=all_own)
    out: list[_Line] = []
    diff = listed = False
    place = past = 0
    for raw in text.splitlines(keepends=True):
        start, place = place, place + len(raw)
        while past < len(hidden) and hidden[past][1] <= start:
            past += 1
        line = raw.rstrip()
        if not line.strip() and not diff:
            kind = "blank"
        elif past < len(hidden) and hidden[past][0] <= start:
            kind = "hidden"
        elif _Paste.diff.match(line) or (diff and _Paste.in_diff.match(line)):
            diff, kind = True, "paste"
        elif line.lstrip().startswith(">"):
            diff, kind = False, "quote"
        else:
            table = "|" in line.lstrip()[:2] or not any(char.isalpha() for char in line)
            indented = not listed and _Paste.indented.match(line)
            written = indented or line.endswith(_Paste.ends) or _Paste.line.match(line.lstrip())
            diff, kind = False, "paste" if table or (written and not all_own) else "own"
        item = bool(_ITEM.match(line))
        listed = item or (listed and kind != "blank" and line[:1].isspace()) or (listed and kind == "blank")
        last = out[-1] if out else None
        if kind == "own" and last is not None and _goes_on(last, line, item=item):
            last.end, last.text = start + len(line), f"{last.text} {line.strip()}"
        else:
            out.append(_Line(number=len(out), start=start, end=start + len(line), text=line, kind=kind, item=item))
    return out


def _goes_on(last: _Line, line: str, *, item: bool) -> bool:
    """Whether `line` continues a wrapped line."""
    if last.kind != "own" or item or not WRAPPED <= len(last.text.strip()) <= LONGEST_LINE:
        return False
    return last.text[-1] not in ".!?:;…" and line.lstrip()[:1].islower()


def _hidden(text: str, *, all_own: bool) -> list[tuple[int, int]]:
    """The spans of fences and of blocks between tags."""
    hidden = [found.span() for found in _Paste.fence.finditer(text)]
    if all_own:
        return hidden
    end = 0
    for found in islice(_Paste.tag.finditer(text), MOST_TAGS):
        closing = f"</{found[1]}>"
        if found.start() >= end and not _OWN_TAGS.search(found[1]) and (at := text.find(closing, found.start())) >= 0:
            end = at + len(closing)
            hidden.append((found.start(), end))
    return sorted(hidden)


def _drop_announced(lines: list[_Line]) -> None:
    """Mark as pasted what is announced as somebody else's words, and the parts of bug reports."""
    announced = document = False
    section = 0
    for number, line in enumerate(lines):
        if line.kind == "blank":
            continue
        heading = _HEADING.match(line.text)
        if heading is not None:
            depth = len(heading[1] or "") or 7
            if section and depth <= section:
                section = 0
            if _REPORTS.match((heading[2] or heading[4] or "").strip()):
                section = depth
        opens = number == 0 or lines[number - 1].kind == "blank"
        document = document or (announced and heading is not None)
        if announced and not document and opens and not line.item and _OWN.search(line.text):
            announced = False
        if announced or section:
            line.kind = "paste"
        elif line.kind == "own":
            below = _ANNOUNCED_BELOW.search(line.text, max(len(line.text.rstrip()) - _AT_END, 0)) is not None
            document = document or below  # All of the rest is.
            announced = below or bool(line.text.rstrip().endswith(":") and _ANNOUNCES.search(line.text))


def _paragraphs(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Adjacent lines; where half of them were pasted, the rest was too."""
    held: list[_Line] = []
    for line in [*lines, None]:
        if line is not None and line.kind != "blank":
            held.append(line)
            continue
        pasted = sum(each.kind == "paste" for each in held)
        if 2 * pasted < sum(each.kind != "hidden" for each in held):
            yield held
        elif held and held[0].kind == "own" and not held[0].item:
            # People introduce what they paste.
            yield held[:1]
        held = []


def _asks_for_steps(lead: str) -> bool:
    """Whether the line before a list asks for its items, or which of them to take."""
    if lead.endswith("?"):
        return bool(_OPTIONS.search(lead))
    return lead.endswith(":") and bool(_STEPS.search(lead))


def _leads_on(lines: list[_Line], line: _Line) -> bool:
    """Whether `line` leads to a list."""
    following = next((each for each in lines[line.number + 1 : line.number + 3] if each.kind != "blank"), None)
    if following is None or following.kind != "own" or not following.item:
        return False
    return line.text.endswith(":") or (following.number == line.number + 1 and line.text[-1:].isalpha())


def _end_of_list(lines: list[_Line], line: _Line) -> int:
    """Where the list behind `line` ends."""
    end = line.end
    for other in lines[line.number + 1 : line.number + 1 + LONGEST_LIST]:
        if other.kind == "own" and other.item:
            end = other.end
        elif other.kind != "blank":
            break
    return end


def _sentences(text: str, line: _Line) -> Iterator[tuple[int, int]]:
    """The spans of a line's sentences, without list marks and closing tags."""
    bullet = _BULLET.match(text, line.start, line.end)
    start = bullet.end() if bullet else line.start
    end = _without_closing_tags(text, start, line.end)
    last = start
    # Sentences typed in a hurry begin in lower case.
    for ends, following in breaks(text[start:end], small_opens=True):
        # A list number behind a colon ends no sentence.
        if not _NUMBER.search(text, max(last, start + ends - 16), start + ends):
            yield last, start + ends
            last = start + following
    if last < end:
        yield last, end


def _without_closing_tags(text: str, start: int, end: int) -> int:
    """Where a line ends without white space and closing tags."""
    while end > start:
        if text[end - 1].isspace():
            end -= 1
        elif (at := text.rfind("</", start, end)) >= 0 and _CLOSING_TAG.fullmatch(text, at, end):
            end = at
        else:
            break
    return end


BY_HAND = 5.0
STANDING = 4.0
"""It says that it holds from now on, or everywhere."""
STRONG = 3.0
MEDIUM = 2.0
MILD = 1.5
SHORT_WORDS = 10
"""How to do something is a rule in at most this many words; in more it is part of a task."""
OPENING = 6
"""A sentence refers to what was named before it within its first words only."""
FRAGMENT = 2
"""Sentences of so few words mean nothing without the one before."""
MAX_CHARACTERS = 320
"""Longer sentences are pinned by the clause that binds."""
LONGEST = 2_000
"""Characters of a sentence that are looked at."""
KNOWN_TEXTS = 256
"""Texts whose pins and lifts are cached."""
MAX_PINS = 160
"""Most pins of one record, the strongest: some 3,000 tokens."""

_THREADS = tuple(f"{kind} · " for kind in get_args(ThreadKind))
_WORD = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")
QUOTED = lazy_re(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“\n]{1,400}“|`[^`\n]{1,400}`")
_SIGNS = r"[;:—–(]\s*|(?<!\s)\s+-\s+"


@from_data
def _words() -> Constraints:
    return topic(Constraints)


def _anywhere(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"\b{either(rows())}\b", re.I)


def _begins(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"{either(rows())}", re.I)


_LEAD = lazy_re(lambda: rf"(?:{either(_words().lead)}\b[\s,.!:*_—–-]*)+", re.I)
_TURN = lazy_re(lambda: rf"(?:(?<!\s)\s++)?{_SIGNS}|,?(?<!\s)\s+{either(_words().turns)}\s+", re.I)
_CLAUSE = lazy_re(lambda: rf",\s+|(?<!\s)\s+{either(_words().conjunctions)}\s+", re.I)
_ASKS = _begins(lambda: _words().asks)
_ASKS_NOT = _begins(lambda: _words().asks_not)
_HEDGES = _begins(lambda: _words().hedges)
_STRESSED = lazy_re(lambda: rf"\b{either(_words().stressed)}\b")
_SCOPE = _anywhere(lambda: _words().scope)
_WIDE = _anywhere(lambda: _words().wide)
_NEVER = _begins(lambda: _words().never)
_FORBID = _begins(lambda: _words().forbid)
_KEEP = _begins(lambda: _words().keep)
_USE = _begins(lambda: _words().use)
_BOUND = _anywhere(lambda: _words().bound)
_MUST = _anywhere(lambda: _words().must)
_SHOULD = _anywhere(lambda: _words().should)
_FIRM = _anywhere(lambda: _words().firm)
_GUESS = _anywhere(lambda: _words().guess)
_ONCE = _anywhere(lambda: _words().once)
_NOTHING = _begins(lambda: _words().nothing)
_SCENES = _anywhere(lambda: _words().scenes)
_SUBJECT = _anywhere(lambda: _words().subject)
_TELLS = _anywhere(lambda: _words().tells)
_ORDERS = _begins(lambda: _words().orders)
_LIMITS = _anywhere(lambda: _words().limits)
_PERSON = lazy_re(lambda: rf"\s*{either(topic(OwnWords).persons)}\b", re.I)
_POINTS_BACK = _anywhere(lambda: _words().points_back)
_CHOICES = _begins(lambda: _words().choices)
_LIFT = lazy_re(lambda: rf"\b{either(_words().lift)}", re.I)
_REPLACES = lazy_re(lambda: rf"\b{either(_words().replaces)}", re.I)
_AROUND = "\"'”“’)]*_"
"""May follow the mark that ends a sentence."""


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
    for said in own_words(without_recalled(text), all_own=system):
        if strength := binding_strength(said, system=system):
            out.setdefault(in_context(said), strength)
    # A sentence contained in the context of the next one is dropped.
    texts = list(out)
    within = {text for text, following in pairwise(texts) if text in following}
    return tuple((text, strength) for text, strength in out.items() if text not in within)


@lru_cache(maxsize=KNOWN_TEXTS)
def lifts_in(text: str, *, replaces: bool = True) -> tuple[str, ...]:
    """The sentences of a text that may lift something, or, with `replaces`, replace it."""
    return tuple(
        said.text
        for said in own_words(without_recalled(text))
        if len(said.text) <= MAX_CHARACTERS
        and (_LIFT.search(said.text) or (replaces and _REPLACES.search(said.text)))
        and not said.text.rstrip(_AROUND).endswith("?")
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
    said = {word.lower().rstrip(".") for word in _WORD.findall(_SCOPE.sub(" ", text))}
    empty = common_words() | _words().empty
    return frozenset(light_stem(word, language) for word in said if word not in empty and len(word) > 1)


def binding_strength(said: OwnSentence, *, system: bool = False) -> float:
    """How binding a sentence is; 0 for not at all."""
    sentence = QUOTED.sub("X", said.text[:LONGEST])
    leads_nowhere = sentence.endswith(":") and said.with_list == said.text
    if said.personal and _ASKS_NOT.match(_bare(sentence)):
        # "Can we not commit the drafts?" is no question.
        return MEDIUM
    if _HEDGES.match(_bare(sentence)):
        return 0.0
    if sentence.rstrip(_AROUND).endswith("?") or len(sentence) < 6 or leads_nowhere:
        return 0.0
    if _SCENES.search(sentence) and not _SCOPE.search(sentence):
        return 0.0
    base = MEDIUM if _NOTHING.match(_bare(sentence)) else 0.0
    told = False
    for thought in _TURN.split(sentence):
        base = max(base, _of_thought(thought, said, told=told))
        told = told or _has_subject(thought)
    if system:
        base = max(base, _of_system(sentence))
    if said.step and base < STRONG:
        base = 0.0
    if base and _WIDE.search(sentence):
        base = STANDING
    if (
        said.personal
        and _SCOPE.search(sentence)
        and not (said.step or _TELLS.search(sentence) or _ASKS.match(_bare(sentence)))
    ):
        # What states its scope is a rule, even without a known verb.
        base = STANDING if base else MEDIUM
    return base


def _of_thought(thought: str, said: OwnSentence, *, told: bool) -> float:
    """How binding one thought of a sentence is; questions bind nothing.

    Behind a subject (`told`), words that could order or forbid something say what the subject does.
    """
    bare = _bare(thought)
    if _ASKS.match(bare):
        return 0.0
    free = not told or _PERSON.match(thought)
    base = max(map(_of_clause, (thought.strip(), bare))) if free else 0.0
    for number, clause in enumerate(_CLAUSE.split(thought)):
        if number and (said.personal or _NEVER.match(_bare(clause))):
            base = max(base, 0.0 if told and not _PERSON.match(clause) else _of_clause(_bare(clause)))
        told = told or _has_subject(clause)
    if not said.personal:
        return base
    if _BOUND.search(thought) or (_STRESSED.search(thought) and not thought.isupper()):
        return max(base, STRONG)
    if _ONCE.search(thought) or _GUESS.search(thought):
        return base
    if _MUST.search(thought):
        return max(base, MEDIUM)
    ought = _SHOULD.search(thought) and _FIRM.search(thought) and not _TELLS.search(thought)
    return max(base, MILD) if ought else base


def _has_subject(words: str) -> bool:
    """Whether words have a subject outside of a condition."""
    first = _bare(words).partition(" ")[0].lower()
    return first not in _words().conditions and bool(_SUBJECT.search(words))


def _bare(clause: str) -> str:
    found = _LEAD.match(clause.strip())
    return clause.strip()[found.end() :] if found else clause.strip()


def _of_clause(clause: str) -> float:
    if _NEVER.match(clause):
        return STRONG
    if _ONCE.search(clause):
        return 0.0
    if _FORBID.match(clause) or _KEEP.match(clause):
        return MEDIUM
    return MILD if _USE.match(clause) and (_FIRM.search(clause) or len(clause.split()) <= SHORT_WORDS) else 0.0


def _of_system(sentence: str) -> float:
    """What a system prompt says for good: how the assistant works, and what is allowed."""
    if _BOUND.search(sentence):
        return STRONG
    if _LIMITS.search(sentence):
        return MEDIUM
    clauses = [clause for thought in _TURN.split(sentence) for clause in (thought.strip(), *_CLAUSE.split(thought))]
    # "You are …" describes the assistant.
    orders = (_ORDERS.match(_bare(clause)) and not _PERSON.match(clause) for clause in clauses)
    return MILD if any(orders) else 0.0


def in_context(said: OwnSentence) -> str:
    """A sentence with the list that it leads to, or with the sentence before where it points back."""
    if said.with_list != said.text:
        return _cut(said.with_list)
    if len(said.text) > MAX_CHARACTERS:
        return _binding_clause(said.text)
    return said.with_before if points_back(said) and len(said.with_before) <= 2 * MAX_CHARACTERS else said.text


def points_back(said: OwnSentence) -> bool:
    """Whether a sentence refers to what was named before it."""
    words = said.text.split()
    opening = words[: OPENING if said.near else OPENING // 2]
    return len(words) <= FRAGMENT or _POINTS_BACK.search(_bare(" ".join(opening))) is not None


def _binding_clause(sentence: str) -> str:
    """The part of a long sentence that binds, verbatim."""
    place = 0
    for found in [*sorted([*_CLAUSE.finditer(sentence), *_TURN.finditer(sentence)], key=lambda each: each.end()), None]:
        if _of_clause(_bare(sentence[place:])):
            return _cut(sentence[place:])
        if found is not None:
            place = found.end()
    bound = _BOUND.search(sentence) or _SCOPE.search(sentence) or _MUST.search(sentence) or _SHOULD.search(sentence)
    start = max(bound.start() - MAX_CHARACTERS // 2, 0) if bound else 0
    return _cut(sentence[sentence.rfind(" ", 0, start) + 1 :])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: text.rfind(" ", 0, MAX_CHARACTERS + 1)]


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
