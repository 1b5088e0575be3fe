"""Select the lessons that concern a goal, and recognise lessons that say the same in other words.

A lesson that does not concern the goal costs more than its tokens: its reader learns to ignore the next one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from ireneo.language.files import cached_data, topic
from ireneo.language.predicates import verb_forms
from ireneo.language.topics import Rulings
from ireneo.language.words import terms
from ireneo.lessons.rulings import same_ruling
from ireneo.lessons.run import LearnedRun, Trigger, is_ruling
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

LONGEST_GOAL = 600
"""How many characters of a goal are read; the rest is pasted text."""
TELLING = 0.06
"""A word is specific if at most this share of the project's goals and lessons contain it."""
LEAST_SHARED = 2
"""How many specific words two texts on the same subject must share: one may be a coincidence."""
FEW = 3
"""A word is always specific if at most this many goals and lessons contain it."""
RELATED = 0.25
"""The minimum score of a lesson that concerns a goal."""
NAMES_IT = 0.3
"""From this share of a goal's words on a common word names a task: “run the tests”, for ``make test``."""
LEAST_STEM = 4
"""The least letters of a word that another is derived from."""
_OWN_NAME = lazy_re(
    r"(?:make|just|mise(?: run)?|task|npm run|pnpm(?: run)?|yarn(?: run)?|bun run|nox -s|tox -e|rake|poe) ([\w:.-]+)"
)
"""A command that the project defines."""
_WORD = lazy_re(r"[^\W\d_]{3,}")
_CODE = lazy_re(r"`([^`\n]{1,200})`")


class Goal:
    """A goal, compared with the goals of past runs and the lessons of its project."""

    def __init__(self, text: str, runs: Iterable[LearnedRun], lessons: Collection[Content]) -> None:
        """Weigh words by how many goals and lessons of the project contain them."""
        # A repeated goal does not make its words more common.
        asked = {frozenset(terms(entry.goal)) for run in runs for entry in run.diary}
        said = [*asked, *(each.words for each in lessons)]
        self._known = Counter(word for words in said for word in words)
        self._size = len(said)
        self._text = text[:LONGEST_GOAL]
        self._words = frozenset(terms(FOLDERS.sub("", self._text)))

    def names_call(self, trigger: Trigger) -> bool:
        """Whether the goal names the calls of a trap as they are typed: by its command, or else its path."""
        path = trigger.path.rstrip("/")
        # A path of a single word may be an ordinary word; a file is named without its folders.
        names = path and (path, *([file] if "." in (file := path.rsplit("/", 1)[-1]) else []))
        called = self._has_command(trigger.command) if trigger.command else "/" in path or "." in path
        return called and all(map(self._has_word, trigger.words)) and (not names or any(map(self._has_word, names)))

    def _has_command(self, command: str) -> bool:
        if " " in command:
            return self._has_word(command)
        # A single word may be an ordinary one: it is a command only at the start of code.
        return any(code.split()[:1] == [command] for code in _CODE.findall(self._text))

    def _has_word(self, said: str) -> bool:
        return re.search(rf"(?<![\w./-]){re.escape(said)}(?![\w-])", self._text) is not None

    def shares_specific_word(self, lesson: str) -> bool:
        """Whether the goal and the text of a lesson share a specific word other than a verb, a common subject."""
        return any(map(self._is_specific, _subjects(self._text) & _subjects(lesson)))

    def relevance(self, lesson: Content) -> float:
        """How much a lesson concerns the goal by its words, from 0 to 1."""
        shared = self._words & lesson.words
        said = self._total_weight(shared) / (self._total_weight(lesson.words) or 1.0)
        if sum(map(self._is_specific, shared)) < LEAST_SHARED:
            said = 0.0
        return max(said, self._task_name_relevance(lesson))

    def _total_weight(self, words: Iterable[str]) -> float:
        return sum(math.log(1 + self._size / (1 + self._known[word])) for word in words)

    def _is_specific(self, word: str) -> bool:
        return self._known[word] <= max(FEW, TELLING * self._size)

    def _task_name_relevance(self, lesson: Content) -> float:
        """How well the goal names the lesson's task of the project, or what it is for.

        It is “integration” for ``make integration``, and “linter” for “This project runs its linter with `tox -e l`”.
        """
        names = [frozenset(terms(found[1])) for code in lesson.codes if (found := _OWN_NAME.match(code))]
        names.append(lesson.words - frozenset(terms(" ".join(lesson.codes))))
        shares = (
            self._total_weight(each & self._words) / (self._total_weight(each) or 1.0)
            for each in names[:-1]
            if any(map(self._is_specific, each))
        )
        return 1.0 if any(map(self._is_named_in_full, names)) else max(shares, default=0.0)

    def _is_named_in_full(self, name: frozenset[str]) -> bool:
        """Whether the goal has all words of a name, and more than a common word beside its own subject."""
        much = self._total_weight(name) >= NAMES_IT * self._total_weight(self._words)
        return bool(name) and all(map(self._has_stem, name)) and (len(name) > 1 or much)

    def _has_stem(self, word: str) -> bool:
        """Whether the goal has the word, or the one that it is derived from: “format” for a formatter."""
        return any(word == each or (len(each) >= LEAST_STEM and word.startswith(each)) for each in self._words)


def _subjects(text: str) -> frozenset[str]:
    """The terms of the words that are not verb forms: "run" or "add" says little about the subject.

    After an article or a preposition such a form is a noun: the "run", or "in run".
    """
    bare = FOLDERS.sub("", text)
    words = [each for each in _WORD.findall(bare) if each.lower() not in verb_forms()]
    return frozenset(
        terms(" ".join((*words, *(found["name"] for found in topic(Rulings).before_names.finditer(bare)))))
    )


_IN_TICKS = lazy_re(r"`([^`\n]{1,200})`")
_REASON = lazy_re(r"“[^“”]{0,600}+” \((?:the )?(?:agent|user)\)")
"""The reason of a lesson; a different reason doesn't make it a different lesson."""
_TIMES = lazy_re(r"\(\d+ of \d+ times[^()]{0,80}\)")
FOLDERS = lazy_re(r"(?<![\w./])/(?:[\w.@-]{1,60}+/){1,20}+")
"""Absolute folders, which say nothing about the subject of a text."""
SAME_SHARE = 0.75
"""The minimum share of the shorter lesson's words that the other must also have for both to say the same."""
LEAST_WORDS = 2
STANDS_SHARE = 0.8
"""The minimum share of a lesson's words in lines that already say it."""
LINES_TOGETHER = 3
"""How many adjacent lines of a file are read together."""


@cached_data
def _frequent_words() -> frozenset[str]:
    """Words that most lessons have."""
    return frozenset(terms("when fails with run first use project says said instead"))


class Content(Struct, frozen=True, kw_only=True):
    """The comparable content of a text."""

    words: frozenset[str]
    codes: frozenset[str]
    """Commands and names, with single blanks."""


def content_of(text: str) -> Content:
    """The content of a lesson, or of a line of a file, without the reason."""
    bare = FOLDERS.sub("", _TIMES.sub("", _REASON.sub("", text)))
    codes = frozenset(" ".join(each.split()) for each in _IN_TICKS.findall(bare))
    return Content(words=frozenset(terms(bare)) - _frequent_words(), codes=codes)


def say_the_same(one: Content, other: Content) -> bool:
    """Whether two lessons say the same: about the same commands, in mostly the same words."""
    if one.codes != other.codes and (one.codes or other.codes):
        # One may name fewer things, for example if only the other quotes an error.
        few, many = sorted((one.codes, other.codes), key=len)
        if not few or not few < many or len(few) < LEAST_WORDS:
            return False
    elif len(one.codes) >= LEAST_WORDS:
        # The same command and the same way out: the wording of the error is irrelevant.
        return True
    least = min(len(one.words), len(other.words))
    return least >= LEAST_WORDS and len(one.words & other.words) >= SAME_SHARE * least


def first_occurrences(contents: Sequence[Content]) -> list[int]:
    """The indexes of the contents that don't repeat an earlier one."""
    kept: list[int] = []
    for at, each in enumerate(contents):
        if not any(say_the_same(each, contents[before]) for before in kept):
            kept.append(at)
    return kept


class FileStatements:
    """Whether files already say the same as a lesson."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read whole files, a few adjacent lines at a time."""
        self._windows: list[tuple[frozenset[str], str]] = []
        for text in texts:
            lines = [line for line in text.splitlines() if line.strip()]
            for start in range(len(lines)):
                together = " ".join(lines[start : start + LINES_TOGETHER])
                self._windows.append((frozenset(terms(together)), " ".join(together.split())))

    def has_statement(self, content: Content) -> bool:
        """Whether some adjacent lines have all its commands, and nearly all its words."""
        if len(content.words) < LEAST_WORDS:
            return False
        wanted = STANDS_SHARE * len(content.words)
        return any(
            len(content.words & words) >= wanted and all(code in text for code in content.codes)
            for words, text in self._windows
        )


def says_the_same(cue: str, text: str, record: Record) -> bool:
    """Whether a claim in these words says the same as a lesson now, or as before the user reworded it."""
    if is_ruling(cue) or is_ruling(record.cue):
        return is_ruling(cue) and is_ruling(record.cue) and same_ruling(cue, record.cue)
    said = content_of(text)
    return any(say_the_same(said, content_of(each)) for each in (record.text, record.drawn) if each)
