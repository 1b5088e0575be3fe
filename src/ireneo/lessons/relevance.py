"""Select the lessons that concern a goal, and recognise lessons that say the same in other words.

A lesson that does not concern the goal costs more than its tokens: its reader learns to ignore the next one. So only
lessons with evidence are selected: by their words, and by what similar tasks of past runs ran and met.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

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
LIKE = 0.2
"""The minimum similarity of a similar past task."""
MOST_TASKS = 8
"""How many past tasks count as similar at most."""
USED_MORE = 2.0
"""How much more often similar tasks must have a command or trap than others, for it to belong to them."""
DOUBT = 1.0
"""Added to the total similarity, so that a single similar task has little weight."""
_OWN_NAME = lazy_re(
    r"(?:make|just|mise(?: run)?|task|npm run|pnpm(?: run)?|yarn(?: run)?|bun run|nox -s|tox -e|rake|poe) ([\w:.-]+)"
)
"""A command that the project defines."""
_WORD = lazy_re(r"[^\W\d_]{3,}")
_CODE = lazy_re(r"`([^`\n]{1,200})`")


class PastTask(Struct, frozen=True, kw_only=True):
    """A task of a past run: its goal, and the commands that were run for it."""

    session: str
    words: frozenset[str]
    commands: frozenset[str]
    """The commands in backticks in its diary."""


class Goal:
    """A goal, compared with the past tasks and lessons of its project."""

    def __init__(self, text: str, runs: Iterable[LearnedRun], lessons: Collection[Content]) -> None:
        """Weigh words by how many goals and lessons of the project contain them."""
        self._tasks = [task for run in runs for task in _tasks_of(run)]
        # A repeated goal does not make its words more common.
        said = [*{each.words for each in self._tasks}, *(each.words for each in lessons)]
        self._known = Counter(word for words in said for word in words)
        self._size = len(said)
        self._text = text[:LONGEST_GOAL]
        self._words = frozenset(terms(FOLDERS.sub("", self._text)))
        # Among equally similar tasks the latest first, in the order of the store.
        likely = sorted(((self._similarity(each), each) for each in self._tasks), key=lambda pair: -pair[0])
        self._alike = [(share, task) for share, task in likely[:MOST_TASKS] if share >= LIKE]
        self._in_session = Counter(each.session for each in self._tasks)

    def names_call(self, trigger: Trigger) -> bool:
        """Whether the goal names the calls of a trap as they are typed: by its command, or else its path."""
        path = trigger.path.rstrip("/")
        beside = (*trigger.words, *((path,) if path else ()))
        # A path of a single word may be an ordinary word.
        called = self._has_command(trigger.command) if trigger.command else "/" in path or "." in path
        return called and all(map(self._has_word, beside))

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

    def shares_word(self, lesson: str) -> bool:
        """Whether they share any word other than a verb, however many lessons have it."""
        return not _subjects(self._text).isdisjoint(_subjects(lesson))

    def relevance(self, lesson: Content, sessions: Collection[str]) -> float:
        """How much a lesson that these sessions showed concerns the goal, from 0 to 1."""
        met = self._share_of_similar([task for task in self._tasks if task.session in sessions])
        done = self._command_relevance(lesson) + met
        return min(self._word_relevance(lesson, least=1 if done else LEAST_SHARED) + done, 1.0)

    def _total_weight(self, words: Iterable[str]) -> float:
        return sum(math.log(1 + self._size / (1 + self._known[word])) for word in words)

    def _is_specific(self, word: str) -> bool:
        return self._known[word] <= max(FEW, TELLING * self._size)

    def _similarity(self, task: PastTask) -> float:
        shared = self._words & task.words
        if sum(map(self._is_specific, shared)) < LEAST_SHARED:
            return 0.0
        return self._total_weight(shared) / math.sqrt(
            (self._total_weight(self._words) or 1.0) * (self._total_weight(task.words) or 1.0)
        )

    def _word_relevance(self, lesson: Content, least: int) -> float:
        shared = self._words & lesson.words
        said = self._total_weight(shared) / (self._total_weight(lesson.words) or 1.0)
        if sum(map(self._is_specific, shared)) < least:
            said = 0.0
        return max(said, self._task_name_relevance(lesson))

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

    def _command_relevance(self, lesson: Content) -> float:
        """How much more often similar tasks ran its command than others."""
        shares = (
            self._share_of_similar([task for task in self._tasks if command in task.commands])
            for command in set(map(_command, lesson.codes))
        )
        return max(shares, default=0.0)

    def _share_of_similar(self, tasks: Sequence[PastTask]) -> float:
        """The share of similar tasks that are among `tasks`; 0 if other tasks are there as often."""
        if not tasks or not self._alike:
            return 0.0
        # In a run with many tasks it is unknown which of them met it.
        found = sum(like / math.sqrt(self._in_session[task.session]) for like, task in self._alike if task in tasks)
        every = sum(like for like, _ in self._alike)
        usual = len(tasks) / len(self._tasks)
        return found / (every + DOUBT) if found >= USED_MORE * usual * every else 0.0


def _subjects(text: str) -> frozenset[str]:
    """The terms of the words that are not verb forms: "run" or "add" says little about the subject.

    After an article or a preposition such a form is a noun: the "run", or "in run".
    """
    bare = FOLDERS.sub("", text)
    words = [each for each in _WORD.findall(bare) if each.lower() not in verb_forms()]
    return frozenset(
        terms(" ".join((*words, *(found["name"] for found in topic(Rulings).before_names.finditer(bare)))))
    )


def _tasks_of(run: LearnedRun) -> Iterator[PastTask]:
    for entry in run.diary:
        codes = {code for line in entry.lines for code in _CODE.findall(line.text)}
        yield PastTask(
            session=run.session,
            words=frozenset(terms(entry.goal)),
            commands=frozenset(map(_command, codes)),
        )


def _command(code: str) -> str:
    """A command without arguments: its first three words, without flags."""
    words: Sequence[str] = code.split()
    return " ".join(word for word in words[:3] if not word.startswith("-"))


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
