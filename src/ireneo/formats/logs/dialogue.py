"""Stories and talks of many voices: JSON with an author and a text each, Markdown, plain dialogue, and plain prose.

Whatever stands in one file is one session, a straight line of messages, so that a story in episodes stays one story.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, groupby, islice
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.formats.logs.documents import documents, readable
from ireneo.formats.logs.format import LogFault, LoggedSession, line_fault, linear_session, nothing_readable
from ireneo.formats.values import BOM, TIME_KEYS, moment
from ireneo.log.message import Draft, Native, Role, Text
from ireneo.patterns import lazy_re

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "tool": "tool",
}
"""Names that are no author's, but say which role speaks."""


def spoken(
    author: str | None,
    text: str,
    *,
    at: datetime | None = None,
    id: str | None = None,
    present: tuple[str, ...] | None = None,
    besides: Mapping[str, object] | None = None,
) -> Draft:
    """The draft of `text`, said by `author` (None: a narrator, or nobody knows); `besides` is kept as its record.

    One with a time has a record in any case, by which it is told from what was said here.
    """
    role = _ROLES.get(author.casefold()) if author else None
    return Draft(
        role=role or "user",
        parts=(Text(text=text, author=None if role else author, present=present),),
        at=at,
        source_id=id,
        record=Native(format="chat", payload=[besides] if besides else []) if besides or at else None,
    )


def with_besides(draft: Draft, besides: Mapping[str, object]) -> Draft:
    """`draft` with what its file says of the whole episode kept in its record too."""
    own = draft.record.payload if draft.record else []
    return replace(draft, record=Native(format="chat", payload=[besides, *(own if isinstance(own, list) else [])]))


Form = Literal["bold", "angle", "plain", "heading"]

SHARE = 1 / 20
"""So many of a dialogue's lines, at the least, begin a speech; the others go on with one."""
SURE_SHARE = 3 / 10
"""So many do where nobody said that it is a dialogue."""
SURE_SPEECHES = 4
LONGEST_NAME = 40

_TIME = r"(?:[\[(](?P<time>[^\]\[()]{0,30}?\d[^\]\[()]{0,30})[\])]\s*)?"
_NAME = rf"[^\s*_<>:#\[\]|`][^*<>:#\[\]|`]{{0,{LONGEST_NAME - 1}}}"
_BOLD = r"(?:\*\*|__)"
_FORMS: dict[Form, re.Pattern[str]] = {
    "bold": lazy_re(rf"(?:[-*]\s+)?{_TIME}{_BOLD}(?P<name>{_NAME}?)(?::{_BOLD}|{_BOLD}\s*:)\s*(?P<text>.*)"),
    "angle": lazy_re(rf"{_TIME}<(?P<name>{_NAME})>\s+(?P<text>.*)"),
    "plain": lazy_re(rf"{_TIME}(?P<name>{_NAME}):(?:\s+(?P<text>.*)|$)"),
    "heading": lazy_re(r"#{1,6}\s++(?P<name>.{1,120}?)\s*+#*+\s*$"),
}
_WORD = lazy_re(r"[^\W\d_][\w.'’-]*")
_SMALL = frozenset("of the de la le von van der den al el and & to no. y".split())
"""Words of a name that are written small."""
_NO_SPEAKERS = frozenset(
    "act author chapter characters date epilogue example http https language note notes nb part place prologue ps "
    "scene setting time title todo update url warning".split()
)
"""What stands before a colon and is nobody."""
_NUMBER = (
    r"(?:[ivxlcdm]+|\d+|the\s+\w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third)"
)
_CHAPTER = lazy_re(
    rf"#{{1,6}}\s+\S|chapter\s+{_NUMBER}\b|(?:part|book|act|scene|canto|volume)\s+{_NUMBER}\s*(?:[.:–—-]|$)"
    r"|(?:prologue|epilogue|interlude)\s*(?:[.:–—-]|$)",
    re.IGNORECASE,
)
LONGEST_HEADING = 80


class Script(Struct, frozen=True, kw_only=True):
    """How the speakers of one text are marked."""

    form: Form
    level: int = 0
    """Of headings: how many marks a speaker's has; 0: any."""


class SpeechHeading(Struct, frozen=True, kw_only=True):
    """The line that a speech begins with."""

    name: str
    text: str
    time: str | None = None
    """What stands in the brackets before it."""


def script_of(lines: Sequence[str]) -> Script | None:
    """How the speakers are marked; None for a text in which no speakers recur, such as prose with a colon in it."""
    size = sum(bool(line.strip()) for line in lines)
    levels = Counter(len(line) - len(line.lstrip("#")) for line in lines if line.startswith("#"))
    scripts = [Script(form=form) for form in _FORMS if form != "heading"]
    scripts += [Script(form="heading", level=level) for level, _ in levels.most_common()]
    for script in scripts:
        names = _names(lines, script)
        again = sum(number for number in names.values() if number > 1)
        # Those who speak speak again: two voices at the least, and most speeches by one that has another.
        recur = len(names) > 1 and again * 2 >= sum(names.values())
        if recur and sum(names.values()) >= size * SHARE:
            return script
    return None


def is_surely_spoken(lines: Sequence[str]) -> bool:
    """Whether speakers take turns in a text that could be anything; a list of settings with colons is none."""
    script = script_of(lines)
    # The headings of a list of changes recur as well, and so do the marks of a page for a browser.
    if script is None or script.form == "heading" or any("</" in line for line in lines):
        return False
    names = _names(lines, script)
    recurring = [number for number in names.values() if number > 1]
    size = sum(bool(line.strip()) for line in lines)
    enough = max(SURE_SPEECHES, size * SURE_SHARE)
    return len(recurring) > 1 and sum(recurring) >= enough


LEAST_WORDS = 120
"""A text with fewer words is taken for a story only where somebody says so."""
TOLD_SHARE = 0.7
"""So many of a story's paragraphs, at the least, end as sentences do; of its lines, fewer than a tenth are of lists."""
_ENDS_TOLD = lazy_re(r"[.!?…:,;—–-][\"'”’“»«)*_\]]*\Z")
_SAID_ALOUD = lazy_re(r"[\"“„»«‘][^\W\d_][^\"“”„«»\n]{1,400}[,.!?…—–-][\"”“«»’]")
_NOT_TOLD = lazy_re(
    r"[-+*#|>{}<=$@/\\`~]+\s|[|{}<$@`\\]|\d{1,4}[.):]\s|\w{1,40}(?:\(|\s?[=:]\s?[\w\"'\[{])|[^\n]{0,200}(?:[;{}=|\\]\Z|\"\"\")"
)


def is_surely_prose(lines: Sequence[str]) -> bool:
    """Whether a text that could be anything is a story: sentences in paragraphs, with chapters, or people who speak."""
    filled = [line for line in lines if line.strip()]
    blocks = [" ".join(block) for block in _blocks(lines)]
    odd = sum(_NOT_TOLD.match(line.strip()) is not None or "\ufffd" in line for line in filled)
    if sum(len(block.split()) for block in blocks) < LEAST_WORDS or odd * 10 >= len(filled):
        return False
    long = [block for block in blocks if not is_chapter(block)]
    told = sum(_ENDS_TOLD.search(block.rstrip()) is not None for block in long)
    chapters = len(blocks) - len(long)
    aloud = sum(_SAID_ALOUD.search(block) is not None for block in long)
    return told >= len(long) * TOLD_SHARE and (chapters > 1 or aloud > max(2, len(long) / 20))


def speech_of(line: str, script: Script) -> SpeechHeading | None:
    """The speech that begins on `line`, if one does."""
    if script.form == "heading" and len(line) > LONGEST_HEADING:
        return None
    found = _FORMS[script.form].match(line.strip())
    if found is None or (script.level and not line.lstrip().startswith("#" * script.level + " ")):
        return None
    name = " ".join(found["name"].split()).rstrip(":")
    if not is_name(name):
        return None
    if script.form == "heading":
        return SpeechHeading(name=name, text="")
    return SpeechHeading(name=name, text=found["text"] or "", time=found["time"])


def is_name(name: str) -> bool:
    """Whether `name` could be a speaker's: few words, each with a capital (or in a script that has none)."""
    words = name.split()
    if not 0 < len(words) <= 5 or len(name) > LONGEST_NAME or words[0].casefold() in _NO_SPEAKERS:
        return False
    if len(words) == 1 and words[0].isalnum():
        return not words[0].isdecimal()  # A handle in small letters, or what a role is called.
    return all(word in _SMALL or word.isdecimal() or word[0] in "(&“\"'" or _capital(word) for word in words)


def is_chapter(line: str) -> bool:
    """Whether `line` is the heading of a chapter."""
    return len(line) <= LONGEST_HEADING and _CHAPTER.match(line.strip()) is not None


def _capital(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and any(sign.isalpha() and not sign.islower() for sign in word)


def _names(lines: Iterable[str], script: Script) -> Counter[str]:
    return Counter(speech.name for line in lines if (speech := speech_of(line, script)) is not None)


AUTHORS = ("author", "speaker", "name", "names", "from", "user", "sender", "role")
"""A role is nobody's name, and the last to be asked."""
TEXTS = ("text", "utterance", "utterances", "content", "message", "body", "line")
TIMES = tuple(dict.fromkeys(key.lower() for key in TIME_KEYS))
IDS = ("id", "number", "turn_id", "dia_id")
PRESENT = ("present",)
LISTS = ("turns", "messages", "dialogue", "dialog", "conversation", "utterances")
EPISODES = ("id", "episode", "episode_id", "session_id", "conversation_id", "dialogue_id", "name", "title")


class Fields(Struct, frozen=True):
    """Under which key of an object each thing stands; None where it has no such key."""

    author: str | None
    text: str | None
    at: str | None
    id: str | None
    present: str | None
    lists: tuple[str, ...]
    """Keys that may hold a list of messages."""
    episode: tuple[str, ...]
    """Keys that may name an episode."""
    others: tuple[str, ...]
    """Keys that say nothing of these, except that a list may stand under one."""


@lru_cache(maxsize=1_024)
def fields_of(keys: tuple[str, ...]) -> Fields:
    """Look for the aliases among the keys of an object, in any letters; many objects have the same keys."""
    known = {key.lower(): key for key in reversed(keys)}

    def first(aliases: tuple[str, ...]) -> str | None:
        return next((known[alias] for alias in aliases if alias in known), None)

    named = (first(AUTHORS), first(TEXTS), first(TIMES), first(IDS), first(PRESENT))
    lists, episode = (tuple(known[alias] for alias in aliases if alias in known) for aliases in (LISTS, EPISODES))
    return Fields(*named, lists, episode, tuple(key for key in keys if key not in named))


def name_of(value: object) -> str | None:
    """Who it is: a name, several of them, or an object with one."""
    if isinstance(value, str):
        return " ".join(value.split()) or None
    if isinstance(value, list):
        return " & ".join(name for each in value if (name := name_of(each))) or None
    if isinstance(value, Mapping):
        return name_of(value.get("name") or value.get("username"))
    return None


def words_of(value: object) -> str | None:
    """What is said: a text, or a list of them that follow each other; None where that is no text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return None


def id_of(value: object) -> str | None:
    """The id as text; a number is one as well."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def present_of(value: object) -> tuple[str, ...] | None:
    """Who was present; None for what is no list of names."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return None
    names = [name_of(each) for each in value]
    return tuple(name for name in names if name is not None) if all(names) else None


WRAPPED = 45
"""Where all lines of a paragraph but its last are at least so long, they were broken to fit a page, and are joined."""
WIDEST = 160
"""Characters of the longest line that a text was broken into."""
_QUOTE = lazy_re(r"^\s*>\s?")


def speeches(lines: Iterable[str], script: Script) -> Iterator[Draft]:
    """The speeches in order; what stands before the first one, and chapter headings, have no author.

    Lines that name no speaker go on with the speech above.
    """
    speech: SpeechHeading | None = None
    said: list[str] = []
    for line in lines:
        begins = speech_of(line, script)
        heading = begins is None and is_chapter(line)
        if begins is None and not heading:
            said.append(_QUOTE.sub("", line))
            continue
        yield from _told(speech, said)
        speech, said = begins, [begins.text] if begins else []
        if heading:
            yield spoken(None, line.strip())
    yield from _told(speech, said)


def paragraphs(lines: Iterable[str]) -> Iterator[Draft]:
    """The paragraphs of prose, each a message without author; the heading of a chapter is one by itself."""
    for block in _blocks(lines):
        yield spoken(None, _unwrapped(block))


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines of each paragraph: up to an empty line, or a line each where they are longer than a page is wide."""
    for filled, run in groupby(lines, lambda line: bool(line.strip())):
        block = list(run) if filled else []
        if len(block) > 1 and any(len(line) > WIDEST for line in block):
            yield from ([line] for line in block)
            continue
        # A list of chapters is one paragraph; a heading with the text right under it is two.
        if len(block) > 1 and is_chapter(block[0]) and not is_chapter(block[1]):
            yield [block.pop(0).strip()]
        if block:
            yield block


def _told(speech: SpeechHeading | None, said: Sequence[str]) -> Iterator[Draft]:
    if speech is None:
        yield from paragraphs(said)
        return
    text = _in_paragraphs(said)
    if text:
        at = moment(speech.time)
        besides = {"time": speech.time} if speech.time and at is None else None
        yield spoken(speech.name, text, at=at, besides=besides)


def _in_paragraphs(said: Iterable[str]) -> str:
    """One text of several paragraphs, an empty line between them."""
    blocks = re.split(r"\n\s*\n", "\n".join(said))
    return "\n\n".join(_unwrapped(block.strip("\n").split("\n")) for block in blocks if block.strip())


def _unwrapped(block: Sequence[str]) -> str:
    if all(len(line) >= WRAPPED for line in block[:-1]):
        return " ".join(line.strip() for line in block)
    return "\n".join(block).strip("\n")


SURE_AUTHORS = frozenset({"author", "speaker", "name", "names", "from", "sender"})
SURE_TEXTS = frozenset({"text", "utterance", "utterances", "content", "message"})
_OPENS_JSON = lazy_re(rb'(?=[\[{])(?:\[\s*)*(?:\{\s*(?:["}]|\Z)|"|\]|\Z)')
_LISTED = lazy_re(r'"[^"\n]{1,60}":\s*\[\s*\{')
SEEN_LINES = 20
"""So many lines are looked at where the first one may be damaged."""


def is_json(lines: Sequence[bytes]) -> bool:
    """Whether a file that begins with `lines` holds JSON; a text may begin with a bracket, as before a time."""
    seen = [line for line in (line.strip() for line in lines[: 4 * SEEN_LINES]) if line][:SEEN_LINES]
    opened = [_OPENS_JSON.match(line) is not None for line in seen]
    return bool(opened) and (opened[0] or sum(opened) * 2 > len(opened))


def begins_with_record(sample: bytes) -> bool:
    """Whether the first object of `sample`, or of a list in it, is a message with an author and of no provider."""
    text = sample.removeprefix(BOM).decode(errors="replace").lstrip().removeprefix("[").lstrip()
    # Of a whole conversation on one line the sample may hold only the beginning: then its first message is looked at.
    listed = _LISTED.search(text)
    for begin in dict.fromkeys([0, listed.end() - 1 if listed else 0]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _is_speech(value):
            return True
    return False


def records(lines: Iterable[bytes]) -> Iterator[Draft | LogFault]:
    """The messages of a file, in order, and what is wrong in it."""
    reader = _Reader()
    for document in documents(lines):
        yield from document.faults
        if document.value is not None:
            yield from reader.read(document.value, document.number)


class _Reader:
    """Reads values one after the other; knows which ids were given, and what was complained of already."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._episodes = 0
        self._blamed: set[str] = set()

    def read(
        self, value: object, number: int, episode: str = "", at: datetime | None = None
    ) -> Iterator[Draft | LogFault]:
        """The messages of a value that stands on line `number`: itself, or those that it holds.

        `at` is the time of the `episode` that it stands in, which holds for its messages that bear none of their own.
        """
        if isinstance(value, list):
            for each in value:
                yield from self.read(each, number, episode, at)
        elif isinstance(value, str):
            if value.strip():
                yield spoken(None, value)
        elif isinstance(value, Mapping):
            fields = fields_of(tuple(value))
            listed = next((key for key in fields.lists if _is_listing(value[key], alone=fields.text is None)), None)
            if listed is not None:
                yield from self._episode(value, fields, listed, number)
            elif fields.text is not None:
                yield from self._message(value, fields, number, episode, at)
            elif inner := [key for key, item in value.items() if _holds_speeches(item)]:
                for key in inner:
                    yield from self.read(value[key], number, episode, _time_beside(value, key) or at)
            else:
                yield line_fault(number, "holds an object without a text; it was left out.")
        else:
            yield line_fault(number, "holds a value that is no message; it was left out.")

    def _episode(
        self, value: Mapping[str, object], fields: Fields, key: str, number: int
    ) -> Iterator[Draft | LogFault]:
        self._episodes += 1
        name = next((name for each in fields.episode if (name := id_of(value[each]))), "")
        besides = {each: item for each, item in value.items() if each != key}
        at = moment(value[fields.at]) if fields.at else None
        for each in self.read(value[key], number, name, at):
            if besides and isinstance(each, Draft):
                each, besides = with_besides(each, besides), {}
            yield each

    def _message(
        self, value: Mapping[str, object], fields: Fields, number: int, episode: str, of_episode: datetime | None
    ) -> Iterator[Draft | LogFault]:
        text = words_of(value[fields.text or ""])
        if text is None:
            yield line_fault(number, "holds a message whose text is no text; it was left out.")
            return
        if not text.strip():
            return
        others = fields.others
        at = moment(value[fields.at]) if fields.at else None
        if fields.at and at is None and value[fields.at] is not None:
            others += (fields.at,)
            yield from self._blame(number, "time", f"{fields.at!r} is no date; such times are kept aside.")
        present = None
        if fields.present and value[fields.present] is not None:
            present = present_of(value[fields.present])
            if present is None:
                present = ()
                others += (fields.present,)
                yield from self._blame(
                    number, "present", f"{fields.present!r} is no list of names; such words only their author hears."
                )
        yield spoken(
            name_of(value[fields.author]) if fields.author else None,
            text,
            at=at or of_episode,
            id=self._id(id_of(value[fields.id]), episode) if fields.id else None,
            present=present,
            besides={key: value[key] for key in others} if others else None,
        )

    def _id(self, id: str | None, episode: str) -> str | None:
        """The id behind its episode, and numbered where it was given before, so that it names one message."""
        if id is None:
            return None
        named = f"{episode}:{id}" if episode else id
        if not episode and self._episodes > 1 and named in self._ids:
            named = f"{self._episodes}:{id}"
        while (number := self._ids.get(named, 0)) > 0:
            self._ids[named] = number + 1
            named = f"{named}-{number + 1}"
        self._ids[named] = 1
        return named

    def _blame(self, number: int, what: str, sentence: str) -> Iterator[LogFault]:
        """Say it once: a log that writes all its times alike needs no fault for each."""
        if what not in self._blamed:
            self._blamed.add(what)
            yield LogFault(line=number, message=f"Line {number}: {sentence}")


def _holds_speeches(value: object) -> bool:
    """Whether it is a list of messages with authors under any name ("session_1"), or an object that holds one."""
    if isinstance(value, Mapping):
        return any(isinstance(item, list) and _holds_speeches(item) for item in value.values())
    return isinstance(value, list) and any(isinstance(each, dict) and _is_speech(each) for each in value)


def _is_speech(value: dict[str, object]) -> bool:
    known = {key.lower(): item for key, item in value.items()}
    author = any(name_of(known.get(key)) for key in SURE_AUTHORS)
    return author and any(words_of(known.get(key)) for key in SURE_TEXTS) and "role" not in known


def _time_beside(value: Mapping[str, object], key: str) -> datetime | None:
    """The time of the list under `key`, which stands beside it ("session_1_date_time")."""
    return next(filter(None, (moment(value.get(f"{key}_{name}")) for name in TIMES)), None)


def _is_listing(value: object, *, alone: bool) -> bool:
    """Whether messages are listed there; beside a text, or as one, a list of texts is what one message says."""
    return isinstance(value, list) and (alone or any(isinstance(each, Mapping) for each in value))


SAMPLE_LINES = 4_000
"""Whether a text has speakers, and how they are marked, is settled by so many of its lines."""


class Dialogue:
    """Reads what several voices say, each message with its author."""

    name = "chat"
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` is JSON with authors and texts, a text in which speakers clearly take turns, or a story."""
        if is_json([sample]):
            return begins_with_record(sample)
        lines = sample.decode(errors="replace").splitlines()
        return is_surely_spoken(lines) or is_surely_prose(lines)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the one session of a file, which is called `name`."""
        every = list(self.drafts(lines))
        drafts = [each for each in every if isinstance(each, Draft)]
        faults = [each for each in every if isinstance(each, LogFault)]
        if not drafts:
            raise nothing_readable(faults)
        yield linear_session(name, drafts, faults)

    def drafts(self, lines: Iterable[bytes]) -> Iterator[Draft | LogFault]:
        """Read the messages of a file one at a time, in order, with what can't be read among them."""
        rest = iter(lines)
        sample: list[bytes] = []
        for line in rest:
            sample.append(line if sample else line.removeprefix(BOM))
            if line.strip():
                break
        # A line of JSON may be a whole episode, so that no more of them are read than must be.
        if not is_json(sample):
            sample += islice(rest, SAMPLE_LINES)
        every = chain(sample, rest)
        if is_json(sample):
            yield from records(every)
            return
        script = script_of([readable(line, 0)[0] for line in sample])
        faults: list[LogFault] = []
        text = _text(every, faults)
        for draft in speeches(text, script) if script else paragraphs(text):
            yield draft
            yield from faults
            faults.clear()
        yield from faults


def _text(lines: Iterable[bytes], faults: list[LogFault]) -> Iterator[str]:
    """The lines as text, without their ends."""
    for number, line in enumerate(lines, 1):
        text, fault = readable(line, number)
        if fault is not None:
            faults.append(fault)
        yield text.rstrip()
