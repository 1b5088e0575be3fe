"""Stories and dialogues of many voices: JSON with authors and texts, Markdown, plain dialogue, and plain prose.

A file is one session without branches, even if a story has several episodes.
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

from ireneo.formats.logs.documents import (
    Document,
    Found,
    LogReader,
    decode_line,
    documents,
    first_lines,
    readable_lines,
)
from ireneo.formats.logs.format import (
    LogFault,
    SessionBuilder,
    StreamedSession,
    in_a_row,
    line_fault,
    nothing_readable,
)
from ireneo.formats.values import BOM, TIME_KEYS, parse_time
from ireneo.language.files import any_of, topic
from ireneo.language.topics import Headings
from ireneo.log.message import Draft, Native, Role, Text
from ireneo.patterns import lazy_re

_HEADINGS = topic(Headings)

FORMAT = "chat"
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "tool": "tool",
}
"""Names of roles rather than authors."""


def _speech_draft(
    author: str | None,
    text: str,
    *,
    at: datetime | None = None,
    id: str | None = None,
    present: tuple[str, ...] | None = None,
    besides: Document | None = None,
) -> Draft:
    """Make the draft of `text`, said by `author` (None: a narrator or unknown); `besides` becomes its record.

    A draft with a time always has a record, which distinguishes it from messages that were appended.
    """
    role = _ROLES.get(author.casefold()) if author else None
    return Draft(
        role=role or "user",
        parts=(Text(text=text, author=None if role else author, present=present),),
        at=at,
        source_id=id,
        record=Native(format=FORMAT, payload=[besides] if besides else []) if besides or at else None,
    )


def _with_episode_fields(draft: Draft, besides: Document) -> Draft:
    """Add the fields of a whole episode to the record of `draft`."""
    own = draft.record.payload if draft.record else []
    return replace(draft, record=Native(format=FORMAT, payload=[besides, *(own if isinstance(own, list) else [])]))


_Form = Literal["bold", "angle", "plain", "heading"]

_SHARE = 1 / 20
"""The least share of a dialogue's lines that begin a speech; the others continue one."""
_SURE_SHARE = 3 / 10
"""The least share if nobody said that the file is a dialogue."""
_SURE_SPEECHES = 4
_LONGEST_NAME = 40

_TIME = r"(?:[\[(](?P<time>[^\]\[()]{0,30}?\d[^\]\[()]{0,30})[\])]\s*)?"
_NAME = rf"[^\s*_<>:#\[\]|`][^*<>:#\[\]|`]{{0,{_LONGEST_NAME - 1}}}"
_BOLD = r"(?:\*\*|__)"
_FORMS: dict[_Form, re.Pattern[str]] = {
    "bold": lazy_re(rf"(?:[-*]\s+)?{_TIME}{_BOLD}(?P<name>{_NAME}?)(?::{_BOLD}|{_BOLD}\s*:)\s*(?P<text>.*)"),
    "angle": lazy_re(rf"{_TIME}<(?P<name>{_NAME})>\s+(?P<text>.*)"),
    "plain": lazy_re(rf"{_TIME}(?P<name>{_NAME}):(?:\s+(?P<text>.*)|$)"),
    "heading": lazy_re(r"#{1,6}\s++(?P<name>.{1,120}?)\s*+#*+\s*$"),
}
_WORD = lazy_re(r"[^\W\d_][\w.'’-]*")
_CHAPTER = lazy_re(
    lambda: (
        rf"#{{1,6}}\s+\S|{any_of(_HEADINGS.chapters)}\s+{_number_pattern()}\b"
        rf"|{any_of(_HEADINGS.divisions)}\s+{_number_pattern()}\s*(?:[.:–—-]|$)|{any_of(_HEADINGS.alone)}\s*(?:[.:–—-]|$)"
    ),
    re.IGNORECASE,
)
_LONGEST_HEADING = 80


def _number_pattern() -> str:
    return rf"(?:[ivxlcdm]+|\d+|{any_of(_HEADINGS.numbers)})"


class _Script(Struct, frozen=True, kw_only=True):
    """The notation in which a text marks its speakers."""

    form: _Form
    level: int = 0
    """The level of the headings that name speakers; 0: any."""


class _SpeechHeading(Struct, frozen=True, kw_only=True):
    """The first line of a speech."""

    name: str
    text: str
    time: str | None = None
    """The text in brackets before the name."""


def _script_of(lines: Sequence[str]) -> _Script | None:
    """Find how speakers are marked; None for a text in which none recur, such as prose with a colon in it."""
    size = sum(bool(line.strip()) for line in lines)
    levels = Counter(len(line) - len(line.lstrip("#")) for line in lines if line.startswith("#"))
    scripts = [_Script(form=form) for form in _FORMS if form != "heading"]
    scripts += [_Script(form="heading", level=level) for level, _ in levels.most_common()]
    for script in scripts:
        names = _count_speakers(lines, script)
        again = sum(number for number in names.values() if number > 1)
        # There are at least two speakers, and most of the speeches are by speakers who speak more than once.
        recur = len(names) > 1 and again * 2 >= sum(names.values())
        if recur and sum(names.values()) >= size * _SHARE:
            return script
    return None


def _is_surely_spoken(lines: Sequence[str]) -> bool:
    """Whether speakers clearly take turns in a text of unknown kind, unlike in a list of settings with colons."""
    script = _script_of(lines)
    # Headings of a changelog recur as well, and so do tags of HTML.
    if script is None or script.form == "heading" or any("</" in line for line in lines):
        return False
    names = _count_speakers(lines, script)
    recurring = [number for number in names.values() if number > 1]
    size = sum(bool(line.strip()) for line in lines)
    enough = max(_SURE_SPEECHES, size * _SURE_SHARE)
    return len(recurring) > 1 and sum(recurring) >= enough


_LEAST_WORDS = 120
"""A shorter text is not recognised as a story unless the caller names the format."""
_TOLD_SHARE = 0.7
"""The least share of a story's paragraphs that end like sentences."""
_ENDS_TOLD = lazy_re(r"[.!?…:,;—–-][\"'”’“»«)*_\]]*\Z")
_SAID_ALOUD = lazy_re(r"[\"“„»«‘][^\W\d_][^\"“”„«»\n]{1,400}[,.!?…—–-][\"”“«»’]")
_NOT_TOLD = lazy_re(
    r"[-+*#|>{}<=$@/\\`~]+\s|[|{}<$@`\\]|\d{1,4}[.):]\s|\w{1,40}(?:\(|\s?[=:]\s?[\w\"'\[{])|[^\n]{0,200}(?:[;{}=|\\]\Z|\"\"\")"
)


def _is_surely_prose(lines: Sequence[str]) -> bool:
    """Whether a text of unknown kind is a story: paragraphs of sentences, with chapters or quoted speech."""
    filled = [line for line in lines if line.strip() and not _is_chapter(line)]
    blocks = [" ".join(block) for block in _split_paragraphs(lines)]
    odd = sum(_NOT_TOLD.match(line.strip()) is not None or "\ufffd" in line for line in filled)
    if sum(len(block.split()) for block in blocks) < _LEAST_WORDS or odd * 10 >= len(filled):
        return False
    long = [block for block in blocks if not _is_chapter(block)]
    told = sum(_ENDS_TOLD.search(block.rstrip()) is not None for block in long)
    chapters = len(blocks) - len(long)
    aloud = sum(_SAID_ALOUD.search(block) is not None for block in long)
    return told >= len(long) * _TOLD_SHARE and (chapters > 1 or aloud > max(2, len(long) / 20))


def _speech_of(line: str, script: _Script) -> _SpeechHeading | None:
    if script.form == "heading" and len(line) > _LONGEST_HEADING:
        return None
    found = _FORMS[script.form].match(line.strip())
    if found is None or (script.level and not line.lstrip().startswith("#" * script.level + " ")):
        return None
    name = " ".join(found["name"].split()).rstrip(":")
    if not _is_name(name):
        return None
    if script.form == "heading":
        return _SpeechHeading(name=name, text="")
    return _SpeechHeading(name=name, text=found["text"] or "", time=found["time"])


def _is_name(name: str) -> bool:
    """Whether `name` may be a speaker's: a few words, each capitalised or in a script without capitals."""
    words = name.split()
    if not 0 < len(words) <= 5 or len(name) > _LONGEST_NAME or words[0].casefold() in topic(Headings).no_speakers:
        return False
    if len(words) == 1 and words[0].isalnum():
        return not words[0].isdecimal()  # A handle in lower case, or the name of a role.
    return all(
        word in topic(Headings).small or word.isdecimal() or word[0] in "(&“\"'" or _is_capitalised(word)
        for word in words
    )


def _is_chapter(line: str) -> bool:
    return len(line) <= _LONGEST_HEADING and _CHAPTER.match(line.strip()) is not None


def _is_capitalised(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and any(sign.isalpha() and not sign.islower() for sign in word)


def _count_speakers(lines: Iterable[str], script: _Script) -> Counter[str]:
    return Counter(speech.name for line in lines if (speech := _speech_of(line, script)) is not None)


_AUTHORS = ("author", "speaker", "name", "names", "from", "user", "sender", "role")
"""The keys of an author, by preference; a role, which is not a name, comes last."""
_TEXTS = ("text", "utterance", "utterances", "content", "message", "body", "line")
_TIMES = tuple(dict.fromkeys(key.lower() for key in TIME_KEYS))
_IDS = ("id", "number", "turn_id", "dia_id")
_PRESENT = ("present",)
_LISTS = ("turns", "messages", "dialogue", "dialog", "conversation", "utterances")
_EPISODES = ("id", "episode", "episode_id", "session_id", "conversation_id", "dialogue_id", "name", "title")


class _Fields(Struct, frozen=True):
    """The keys of an object by their meaning; None if it has no such key."""

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
    """All keys but the first five."""


@lru_cache(maxsize=1_024)
def _fields_of(keys: tuple[str, ...]) -> _Fields:
    """Match the keys of an object to their meanings, ignoring case; cached, as many objects have the same keys."""
    known = {key.lower(): key for key in reversed(keys)}

    def first(aliases: tuple[str, ...]) -> str | None:
        return next((known[alias] for alias in aliases if alias in known), None)

    named = (first(_AUTHORS), first(_TEXTS), first(_TIMES), first(_IDS), first(_PRESENT))
    lists, episode = (tuple(known[alias] for alias in aliases if alias in known) for aliases in (_LISTS, _EPISODES))
    return _Fields(*named, lists, episode, tuple(key for key in keys if key not in named))


def _name_of(value: object) -> str | None:
    """Read an author: a name, a list of names, or an object with one."""
    if isinstance(value, str):
        return " ".join(value.split()) or None
    if isinstance(value, list):
        return " & ".join(name for each in value if (name := _name_of(each))) or None
    if isinstance(value, Mapping):
        return _name_of(value.get("name") or value.get("username"))
    return None


def _words_of(value: object) -> str | None:
    """Read a text, or a list of consecutive texts; None if it is neither."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return None


def _id_of(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _present_of(value: object) -> tuple[str, ...] | None:
    """Read a list of names; None for anything else."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return None
    names = [_name_of(each) for each in value]
    return tuple(name for name in names if name is not None) if all(names) else None


_WRAPPED = 45
"""A paragraph whose lines, but for the last, are at least so long was wrapped, and is joined again."""
_WIDEST = 160
"""A longer line was not wrapped."""
_QUOTE = lazy_re(r"^\s*>\s?")


def _speeches(lines: Iterable[str], script: _Script) -> Iterator[Draft]:
    """Read the speeches in order; the text before the first one and chapter headings have no author.

    Lines that name no speaker continue the speech above.
    """
    speech: _SpeechHeading | None = None
    said: list[str] = []
    for line in lines:
        begins = _speech_of(line, script)
        heading = begins is None and _is_chapter(line)
        if begins is None and not heading:
            said.append(_QUOTE.sub("", line))
            continue
        yield from _speech_drafts(speech, said)
        speech, said = begins, [begins.text] if begins else []
        if heading:
            yield _speech_draft(None, line.strip())
    yield from _speech_drafts(speech, said)


def _paragraphs(lines: Iterable[str]) -> Iterator[Draft]:
    """Read the paragraphs and chapter headings of prose, each a message without author."""
    for block in _split_paragraphs(lines):
        yield _speech_draft(None, _unwrap(block))


def _split_paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines into paragraphs: at empty lines, or at each line where they were not wrapped."""
    for filled, run in groupby(lines, lambda line: bool(line.strip())):
        block = list(run) if filled else []
        if len(block) > 1 and any(len(line) > _WIDEST for line in block):
            yield from ([line] for line in block)
            continue
        # A list of chapters is one paragraph; a heading with the text right under it is two.
        if len(block) > 1 and _is_chapter(block[0]) and not _is_chapter(block[1]):
            yield [block.pop(0).strip()]
        if block:
            yield block


def _speech_drafts(speech: _SpeechHeading | None, said: Sequence[str]) -> Iterator[Draft]:
    if speech is None:
        yield from _paragraphs(said)
        return
    blocks = re.split(r"\n\s*\n", "\n".join(said))
    text = "\n\n".join(_unwrap(block.strip("\n").split("\n")) for block in blocks if block.strip())
    if text:
        at = parse_time(speech.time)
        besides = {"time": speech.time} if speech.time and at is None else None
        yield _speech_draft(speech.name, text, at=at, besides=besides)


def _unwrap(block: Sequence[str]) -> str:
    if all(len(line) >= _WRAPPED for line in block[:-1]):
        return " ".join(line.strip() for line in block)
    return "\n".join(block).strip("\n")


_SURE_AUTHORS = frozenset({"author", "speaker", "name", "names", "from", "sender"})
_SURE_TEXTS = frozenset({"text", "utterance", "utterances", "content", "message"})
_OPENS_JSON = lazy_re(rb'(?=[\[{])(?:\[\s*)*(?:\{\s*(?:["}]|\Z)|"|\]|\Z)')
_LISTED = lazy_re(r'"[^"\n]{1,60}":\s*\[\s*\{')
_SEEN_LINES = 20
"""How many lines are examined, as the first one may be damaged."""


def _is_json(lines: Sequence[bytes]) -> bool:
    """Whether a file that begins with `lines` holds JSON, and no text that begins with a bracket."""
    seen = [line for line in (line.strip() for line in lines[: 4 * _SEEN_LINES]) if line][:_SEEN_LINES]
    opened = [_OPENS_JSON.match(line) is not None for line in seen]
    return bool(opened) and (opened[0] or sum(opened) * 2 > len(opened))


def _begins_with_record(sample: bytes) -> bool:
    """Whether the first object of `sample`, or of a list in it, is a message with an author, and none to a model."""
    text = sample.removeprefix(BOM).decode(errors="replace").lstrip().removeprefix("[").lstrip()
    # A conversation on one line may be longer than the sample: then the first message of its list decides.
    listed = _LISTED.search(text)
    for begin in dict.fromkeys([0, listed.end() - 1 if listed else 0]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _is_speech(value):
            return True
    return False


class _Reader:
    """Reads the messages of a JSON file one value after the other; knows the ids and the kinds of faults so far."""

    def __init__(self, faults: list[LogFault]) -> None:
        """Add what can't be read to `faults`."""
        self._faults = faults
        self._ids: dict[str, int] = {}
        self._episodes = 0
        self._blamed: set[str] = set()

    def read(self, value: object, number: int, episode: str = "", at: datetime | None = None) -> Iterator[Draft]:
        """Read the value on line `number`: a message, or whatever holds messages.

        `at` is the time of the `episode` around it, for messages without a time of their own.
        """
        if isinstance(value, list):
            for each in value:
                yield from self.read(each, number, episode, at)
        elif isinstance(value, str):
            if value.strip():
                yield _speech_draft(None, value)
        elif isinstance(value, Mapping):
            fields = _fields_of(tuple(value))
            listed = next((key for key in fields.lists if _is_listing(value[key], alone=fields.text is None)), None)
            if listed is not None:
                yield from self._read_episode(value, fields, listed, number)
            elif fields.text is not None:
                yield from self._read_message(value, fields, number, episode, at)
            elif inner := [key for key, item in value.items() if _holds_speeches(item)]:
                for key in inner:
                    # The time of the list may be under a key beside it, such as "session_1_date_time".
                    times = (parse_time(value.get(f"{key}_{name}")) for name in _TIMES)
                    yield from self.read(value[key], number, episode, next(filter(None, times), at))
            else:
                self._faults.append(line_fault(number, "holds an object without a text; it was left out."))
        else:
            self._faults.append(line_fault(number, "holds a value that is not a message; it was left out."))

    def _read_episode(self, value: Document, fields: _Fields, key: str, number: int) -> Iterator[Draft]:
        self._episodes += 1
        name = next((name for each in fields.episode if (name := _id_of(value[each]))), "")
        besides = {each: item for each, item in value.items() if each != key}
        at = parse_time(value[fields.at]) if fields.at else None
        for each in self.read(value[key], number, name, at):
            if besides:
                each, besides = _with_episode_fields(each, besides), {}
            yield each

    def _read_message(
        self, value: Document, fields: _Fields, number: int, episode: str, of_episode: datetime | None
    ) -> Iterator[Draft]:
        text = _words_of(value[fields.text or ""])
        if text is None:
            self._faults.append(line_fault(number, "holds a message whose text is not a string; it was left out."))
            return
        if not text.strip():
            return
        others = fields.others
        at = parse_time(value[fields.at]) if fields.at else None
        if fields.at and at is None and value[fields.at] is not None:
            others += (fields.at,)
            self._report_once(number, "time", f"{fields.at!r} is no date; such times are kept aside.")
        present = None
        if fields.present and value[fields.present] is not None:
            present = _present_of(value[fields.present])
            if present is None:
                present = ()
                others += (fields.present,)
                what = f"{fields.present!r} is no list of names; such words only their author hears."
                self._report_once(number, "present", what)
        yield _speech_draft(
            _name_of(value[fields.author]) if fields.author else None,
            text,
            at=at or of_episode,
            id=self._unique_id(_id_of(value[fields.id]), episode) if fields.id else None,
            present=present,
            besides={key: value[key] for key in others} if others else None,
        )

    def _unique_id(self, id: str | None, episode: str) -> str | None:
        """Make an id unique by adding its episode or a number."""
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

    def _report_once(self, number: int, what: str, sentence: str) -> None:
        """Report each kind of fault only once."""
        if what not in self._blamed:
            self._blamed.add(what)
            self._faults.append(LogFault(line=number, message=f"Line {number}: {sentence}"))


def _holds_speeches(value: object) -> bool:
    """Whether `value` is a list of messages with authors, or an object that holds such a list under any key."""
    if isinstance(value, Mapping):
        return any(isinstance(item, list) and _holds_speeches(item) for item in value.values())
    return isinstance(value, list) and any(isinstance(each, dict) and _is_speech(each) for each in value)


def _is_speech(value: dict[str, object]) -> bool:
    known = {key.lower(): item for key, item in value.items()}
    author = any(_name_of(known.get(key)) for key in _SURE_AUTHORS)
    # With a role and a content it is a message to a model.
    model = "role" in known and "content" in known
    return author and any(_words_of(known.get(key)) for key in _SURE_TEXTS) and not model


def _is_listing(value: object, *, alone: bool) -> bool:
    """Return whether `value` is a list of messages; a list of strings is one only without other text (`alone`)."""
    return isinstance(value, list) and (alone or any(isinstance(each, Mapping) for each in value))


_SAMPLE_LINES = 4_000
"""How many lines decide whether a text has speakers, and how they are marked."""


class Dialogue(LogReader):
    """Stories and dialogues of several voices, each message with its author."""

    name = FORMAT

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` is JSON with authors and texts, a text in which speakers clearly take turns, or a story."""
        if _is_json([sample]):
            return _begins_with_record(sample)
        lines = sample.decode(errors="replace").splitlines()
        return _is_surely_spoken(lines) or _is_surely_prose(lines)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        builder = SessionBuilder(FORMAT)
        for draft in _drafts(lines, faults):
            builder.add(draft)
        yield [name], builder

    def grow(self, lines: Iterable[bytes], name: str) -> Iterator[StreamedSession]:
        """Read the file's one session, message by message."""
        faults: list[LogFault] = []
        drafts = _drafts(lines, faults)
        first = next(drafts, None)
        if first is None:
            raise nothing_readable(faults)
        yield StreamedSession(name, in_a_row(chain([first], drafts)), faults)


def _drafts(lines: Iterable[bytes], faults: list[LogFault]) -> Iterator[Draft]:
    """Read the messages of a file in order; what can't be read is added to `faults`."""
    sample, rest = first_lines(lines)
    # A line of JSON may be a whole episode, so no more are read than needed.
    if not _is_json(sample):
        sample += islice(rest, _SAMPLE_LINES)
    every = chain(sample, rest)
    if _is_json(sample):
        reader = _Reader(faults)
        for number, value in documents(every, faults):
            yield from reader.read(value, number)
        return
    script = _script_of([decode_line(line, 0)[0] for line in sample])
    text = (line.rstrip() for line in readable_lines(enumerate(every, 1), faults))
    yield from _speeches(text, script) if script else _paragraphs(text)
