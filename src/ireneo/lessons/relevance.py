"""What of a project's lessons concerns a goal: by its words, and by what tasks like it ran and met in past runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from ireneo.language.words import terms
from ireneo.lessons.rulings import same_ruling
from ireneo.lessons.run import LearnedRun, Trigger, is_ruling
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

# A lesson that has nothing to do with the goal costs its reader more than its tokens: it teaches to pass over the next
# one. So what is not shown to concern it is left out, and where nothing does, the brief is short.


LONGEST_GOAL = 600
"""Characters of a goal that are read: what stands further down is a paste."""
TELLING = 0.06
"""A word tells what a text is about where at most this share of the project's goals and lessons has it."""
LEAST_SHARED = 2
"""So many telling words two texts share that are about the same: one may be there by chance."""
FEW = 3
"""So many of them may always have it."""
RELATED = 0.25
"""From here on a lesson concerns a goal."""
LIKE = 0.2
"""From here on a past task was like the one at hand."""
MOST_TASKS = 8
"""Past tasks that are taken for like it, the likest."""
USED_MORE = 2.0
"""What tasks like this one ran or met that much more often than others belongs to them."""
DOUBT = 1.0
"""What is added to what tasks like this one weigh together, so that one alone shows little."""
_OWN_NAME = lazy_re(
    r"(?:make|just|mise(?: run)?|task|npm run|pnpm(?: run)?|yarn(?: run)?|bun run|nox -s|tox -e|rake|poe) ([\w:.-]+)"
)
"""A command that the project has named itself."""
_CODE = lazy_re(r"`([^`\n]{1,200})`")


class PastTask(Struct, frozen=True, kw_only=True):
    """A task of a past run: its goal, and what was run for it."""

    session: str
    task_type: str
    words: frozenset[str]
    commands: frozenset[str]
    """The first words of what stands in backticks in its diary."""


class Goal:
    """What is to be done, beside what was done in the project before."""

    def __init__(
        self, text: str, runs: Iterable[LearnedRun], lessons: Collection[Content], task_type: str = ""
    ) -> None:
        """Weigh the words of a goal by how many goals and lessons of the project have them."""
        self._type = task_type
        self._tasks = [task for run in runs for task in _tasks_of(run)]
        # A goal that is set again and again makes its words no commoner.
        said = [*{each.words for each in self._tasks}, *(each.words for each in lessons)]
        self._known = Counter(word for words in said for word in words)
        self._size = len(said)
        self._text = text[:LONGEST_GOAL]
        self._words = frozenset(terms(FOLDERS.sub("", self._text)))
        # Of two that are as like the later one, as the store gives them.
        likely = sorted(((self._likeness(each), each) for each in self._tasks), key=lambda pair: -pair[0])
        self._alike = [(share, task) for share, task in likely[:MOST_TASKS] if share >= LIKE]
        self._in_session = Counter(each.session for each in self._tasks)

    def names(self, trigger: Trigger) -> bool:
        """Whether the goal names the calls that a trap is about, as they are typed."""
        beside = (*trigger.words, *((trigger.path,) if trigger.path else ()))
        return bool(trigger.command) and self._types(trigger.command) and all(map(self._has, beside))

    def _types(self, command: str) -> bool:
        if " " in command:
            return self._has(command)
        # A single word may be one of English: it is a command where it begins code.
        return any(code.split()[:1] == [command] for code in _CODE.findall(self._text))

    def _has(self, said: str) -> bool:
        return re.search(rf"(?<![\w./-]){re.escape(said)}(?![\w-])", self._text) is not None

    def concerns(self, lesson: Content, sessions: Collection[str]) -> float:
        """How much a lesson that these sessions showed has to do with the goal, from 0 to 1."""
        done = self._by_commands(lesson) + self._by_runs(sessions)
        return min(self._by_words(lesson, least=1 if done else LEAST_SHARED) + done, 1.0)

    def _weight(self, word: str) -> float:
        return math.log(1 + self._size / (1 + self._known[word]))

    def _sum(self, words: Iterable[str]) -> float:
        return sum(map(self._weight, words))

    def _tells(self, word: str) -> bool:
        return self._known[word] <= max(FEW, TELLING * self._size)

    def _likeness(self, task: PastTask) -> float:
        shared = self._words & task.words
        if sum(map(self._tells, shared)) < LEAST_SHARED:
            return LIKE if self._type and task.task_type == self._type else 0.0
        return self._sum(shared) / math.sqrt((self._sum(self._words) or 1.0) * (self._sum(task.words) or 1.0))

    def _by_words(self, lesson: Content, least: int) -> float:
        shared = self._words & lesson.words
        said = self._sum(shared) / (self._sum(lesson.words) or 1.0)
        if sum(map(self._tells, shared)) < least:
            said = 0.0
        return max(said, self._by_names(lesson))

    def _by_names(self, lesson: Content) -> float:
        """The goal names what a command of the project is for: “integration” of ``make integration``."""
        names = [frozenset(terms(found[1])) for code in lesson.codes if (found := _OWN_NAME.match(code))]
        shares = (
            self._sum(each & self._words) / (self._sum(each) or 1.0) for each in names if any(map(self._tells, each))
        )
        return max(shares, default=0.0)

    def _by_commands(self, lesson: Content) -> float:
        """Tasks like this one ran its command."""
        shares = (
            self._share([task for task in self._tasks if command in task.commands])
            for command in set(map(_command, lesson.codes))
        )
        return max(shares, default=0.0)

    def _by_runs(self, sessions: Collection[str]) -> float:
        """Tasks like this one met it."""
        return self._share([task for task in self._tasks if task.session in sessions])

    def _share(self, tasks: Sequence[PastTask]) -> float:
        """Of the tasks like this one how many are among `tasks`; 0 where any task is as often among them."""
        if not tasks or not self._alike:
            return 0.0
        # Of a run with many tasks nobody knows which of them met it.
        found = sum(like / math.sqrt(self._in_session[task.session]) for like, task in self._alike if task in tasks)
        every = sum(like for like, _ in self._alike)
        usual = len(tasks) / len(self._tasks)
        return found / (every + DOUBT) if found >= USED_MORE * usual * every else 0.0


def _tasks_of(run: LearnedRun) -> Iterator[PastTask]:
    for entry in run.diary:
        codes = {code for line in entry.lines for code in _CODE.findall(line.text)}
        yield PastTask(
            session=run.session,
            task_type=entry.task_type,
            words=frozenset(terms(entry.goal)),
            commands=frozenset(map(_command, codes)),
        )


def _command(code: str) -> str:
    """What a command is known by: its first three words, without what is given to it."""
    words: Sequence[str] = code.split()
    return " ".join(word for word in words[:3] if not word.startswith("-"))


# When two lessons say the same in other words, and when a text says already what a lesson would.
#
# Compared are the commands and names that stand in backticks, and the words that carry meaning; never letters.


_IN_TICKS = lazy_re(r"`([^`\n]{1,200})`")
_REASON = lazy_re(r"“[^“”]{0,600}+” \((?:the )?(?:agent|user)\)")
"""The sentence that gives the reason: that it was said in other words makes no other lesson."""
_TIMES = lazy_re(r"\(\d+ of \d+ times[^()]{0,80}\)")
FOLDERS = lazy_re(r"(?<![\w./])/(?:[\w.@-]{1,60}+/){1,20}+")
"""Where a file lies on somebody's disk says nothing of what a text is about."""
_FRAME = frozenset(terms("when fails with run first use project says said instead"))
"""What lessons are worded with, whatever they are about."""
SAME_SHARE = 0.75
"""Of the words of the shorter one, how many the other has."""
LEAST_WORDS = 2
STANDS_SHARE = 0.8
"""Of a lesson's words, how many stand together where it is said already."""
LINES_TOGETHER = 3
"""Lines of a file that may say a thing together."""


class Content(Struct, frozen=True, kw_only=True):
    """What a text says, as far as it can be compared."""

    words: frozenset[str]
    codes: frozenset[str]
    """Commands and names, with single blanks."""


def content_of(text: str) -> Content:
    """What a lesson, or a line of a file, says; the reason behind a lesson is none of it."""
    bare = FOLDERS.sub("", _TIMES.sub("", _REASON.sub("", text)))
    codes = frozenset(" ".join(each.split()) for each in _IN_TICKS.findall(bare))
    return Content(words=frozenset(terms(bare)) - _FRAME, codes=codes)


def alike(one: Content, other: Content) -> bool:
    """Whether two lessons say the same: of the same commands, in mostly the same words."""
    if one.codes != other.codes and (one.codes or other.codes):
        # What names less may still be the same, as where one quotes an error and the other one does not.
        few, many = sorted((one.codes, other.codes), key=len)
        if not few or not few < many or len(few) < LEAST_WORDS:
            return False
    elif len(one.codes) >= LEAST_WORDS:
        # The same command and the same way out: how the error reads makes no other lesson.
        return True
    least = min(len(one.words), len(other.words))
    return least >= LEAST_WORDS and len(one.words & other.words) >= SAME_SHARE * least


def first_of_each(contents: Sequence[Content]) -> list[int]:
    """The places of those that say what none before them says."""
    kept: list[int] = []
    for at, each in enumerate(contents):
        if not any(alike(each, contents[before]) for before in kept):
            kept.append(at)
    return kept


class SaidAlready:
    """What stands in files already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read whole files: what is said in a few lines together counts."""
        self._windows: list[tuple[frozenset[str], str]] = []
        for text in texts:
            lines = [line for line in text.splitlines() if line.strip()]
            for start in range(len(lines)):
                together = " ".join(lines[start : start + LINES_TOGETHER])
                self._windows.append((frozenset(terms(together)), " ".join(together.split())))

    def says(self, content: Content) -> bool:
        """Whether some lines have all its commands, and nearly all its words."""
        if len(content.words) < LEAST_WORDS:
            return False
        wanted = STANDS_SHARE * len(content.words)
        return any(
            len(content.words & words) >= wanted and all(code in text for code in content.codes)
            for words, text in self._windows
        )


def says_the_same(cue: str, text: str, record: Record) -> bool:
    """Whether a claim in these words says what a lesson says, or what it said before the user reworded it."""
    if is_ruling(cue) or is_ruling(record.cue):
        return is_ruling(cue) and is_ruling(record.cue) and same_ruling(cue, record.cue)
    said = content_of(text)
    return any(alike(said, content_of(each)) for each in (record.text, record.drawn) if each)
