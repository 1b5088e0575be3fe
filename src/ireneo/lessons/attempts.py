"""Group the calls of a run into tasks and attempts: what was tried for each goal, with which outcome.

A task is what the user asked for; an attempt is one way to it: a call, the same call again, or changes with the call
that checks them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ireneo.language.files import topic
from ireneo.language.topics import Tasks
from ireneo.lessons.run import Cost, costs_of, sum_costs
from ireneo.lessons.shell import RunMaterial
from ireneo.log.calls import has_instruction
from ireneo.log.message import Message, MessageId, without_recalled
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import discarded_files, reverting_edit
from ireneo.summaries.steps import CHANGES, Step, clip, exit_status, is_environment, sentences, steps

MOST_OF_A_COMMAND = 60
MOST_OF_AN_ERROR = 110
"""The maximum numbers of characters of a command and of an error that are shown."""
_FILES = 2
"""How many changed files are named at most."""
_DOING = {"read": "reading", "edit": "editing", "write": "writing", "search": "searching for", "fetch": "fetching"}
_EXIT = lazy_re(r"^exit \d+: ")
_GENERIC = lazy_re(
    r"task failed|^FAIL(?:ED)?\b|^(?:g?make|npm|yarn|pnpm)\b.*\berr(?:or)?\b|exit status|^error: recipe|^[=_-]{4,}"
    r"|^> ?\s*raise\b|^raise\b|^\d+ (?:failed|errors?)\b|^Exit code|process completed|^String:|^Found \d+"
    r"|(?-i:\b(?:INFO|DEBUG)\b)|^>?\s*\d+ [│|]",
    re.IGNORECASE,
)
"""Lines that only say that something failed, without a cause."""
_CAUSE = lazy_re(
    r"^E\s{2,}\S|^(?:\w+\.)*\w*(?:Error|Exception)\b: \S|^FAILED \S+::\S+ - \S"
    r"|^\S+\.[a-z]{1,4}:\d+(?::\d+)?: (?!in\b)\S|\berror(?:\[\w+\]| TS\d+)?: \S"
)
"""Lines of test runners, compilers and linters that name a cause."""
_TELLS = lazy_re(
    r"\b(?:want|expected|got|error|fail\w*|undefined|cannot|missing|invalid|panic\w*|unused|should|must)\b"
    r"|Error\b|Exception\b",
    re.IGNORECASE,
)
"""Words that distinguish such a line from a test's log output."""
_FAILED_TEST = lazy_re(r"^--- FAIL: ")
"""Lines that name the failed test."""
_SAYS_WHY = lazy_re(
    r"error|fatal|cannot|can't|could not|no such|not found|denied|usage:|invalid|fail|unknown|illegal|not exist|exceed"
    r"|too (?:large|long|many)|missing|unexpected|not a |is a directory|unmatched|no matches|parse",
    re.IGNORECASE,
)
"""Words that show that the output of a search or read is an error and not a result."""
_BARE = lazy_re(r"^\W*(?:error|fatal|failed|failure|exception|traceback)\W*$", re.IGNORECASE)
"""A line that only introduces the next one."""
_MARKS = lazy_re(r"</?[A-Za-z][\w-]*>")
_LOOKED_AT = 40_000


def describe_call(step: Step) -> str:
    """The call in a sentence: a command in backticks, or an action on a file."""
    action = step.action
    if action.shell:
        return f"`{_for_backticks(action.subject, MOST_OF_A_COMMAND)}`"
    if action.kind in _DOING:
        subject = action.subject if action.kind in ("search", "fetch") else file_name(action.subject)
        if action.kind == "search":
            # The place of a search is our own wording: “… in src”.
            subject = subject.rpartition(" in ")[0] or subject
        return f"{_DOING[action.kind]} `{_for_backticks(subject, MOST_OF_A_COMMAND)}`"
    return f"`{_for_backticks(step.call.name, MOST_OF_A_COMMAND)}`"


def describe_changes(changes: Sequence[Step]) -> str:
    """The changed files in words: “editing `a.py` and `b.py`”."""
    files = list(dict.fromkeys(file_name(step.action.subject) for step in changes))
    kinds = {step.action.kind for step in changes}
    doing = "writing" if kinds == {"write"} else "editing"
    shown = [f"`{_for_backticks(file, MOST_OF_A_COMMAND)}`" for file in files[:_FILES]]
    if len(files) > _FILES:
        return f"{doing} {', '.join(shown)} and others"
    return f"{doing} {' and '.join(shown)}"


def changes_to_describe(changes: Sequence[Step]) -> list[Step]:
    """The changes in the files that `describe_changes` names."""
    first: dict[str, Step] = {}
    for step in changes:
        first.setdefault(file_name(step.action.subject), step)
    return list(first.values())[:_FILES]


def file_name(path: str) -> str:
    """The last part of a path, with its folder if the name is not distinctive."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and (len(parts[-1]) <= 6 or parts[-1].startswith(("__init__", "index", "mod.", "main."))):
        return "/".join(parts[-2:])
    return parts[-1] if parts else path


def error_quoted(step: Step, limit: int = MOST_OF_AN_ERROR) -> str:
    """The line that names the cause, quoted after a colon, and the exit status.

    Empty if there is none, or if it is worded as an instruction to its reader.
    """
    said = cause(step)
    line = clip(said, limit) if said else ""
    status = exit_status(step.output)
    shown = f" (exit {status})" if status and status > 1 else ""
    if not line or has_instruction(line):
        return shown
    return f": “{line}”{shown}"


def cause(step: Step) -> str:
    """The whole line of a failing output that names the cause; empty if none does."""
    line = _EXIT.sub("", step.error)
    looked = step.action.kind in ("search", "read") and step.call.name.lower() not in _FILE_TOOLS
    if looked and not _SAYS_WHY.search(line):
        return ""
    if step.output.lstrip().startswith("<tool_use_error>"):
        line = next((each for each in _stripped_lines(step.output)), line)
    elif step.action.shell and (_GENERIC.search(line) or not _CAUSE.search(line)):
        lines = _stripped_lines(step.output[-_LOOKED_AT:])
        found = [each for pattern in (_CAUSE, _FAILED_TEST) for each in lines if pattern.search(each)]
        named_causes = [each for each in found if not _GENERIC.search(each)]
        line = next(filter(_TELLS.search, named_causes), next(iter((*named_causes, *found)), line))
    line = re.sub(r"^(?:E\s{2,}|#+ )", "", line)
    if _BARE.match(line):
        lines = _stripped_lines(step.output)
        after = next((at for at, each in enumerate(lines) if each.startswith(line.strip())), len(lines))
        line = next(iter(lines[after + 1 :]), line)
    # Inner quotation marks would end the quotation.
    line = " ".join(line.translate(_QUOTES).split()).rstrip(".")
    return line if sum(char.isalpha() for char in line) > 2 else ""


def _stripped_lines(text: str) -> list[str]:
    return [line.strip() for line in _MARKS.sub("\n", text).splitlines() if line.strip()]


_FILE_TOOLS = frozenset({"read", "view", "open", "grep", "glob", "search", "ls"})
"""Tools that give a reason whenever they fail."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})


def _for_backticks(text: str, limit: int) -> str:
    """`text` prepared for backticks: on one line, and cut before its own first backtick."""
    line = " ".join(text.split())
    before, mark, _ = line.partition("`")
    return f"{clip(before.rstrip(), limit - 1).rstrip('…')}…" if mark else clip(line, limit)


_ACCIDENT = lazy_re(r"0x[0-9a-f]+|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\b\d+\b")


def action_key(step: Step) -> str:
    """A key for what a call did, including file and folder, without hashes and numbers."""
    return f"{step.action.kind} {_ACCIDENT.sub('~', step.action.subject.lower())}"


class TaskCalls:
    """The calls of a task in order, with derived values that are needed more than once."""

    def __init__(self, steps: Sequence[Step]) -> None:
        """Read each call once."""
        self.steps = steps
        self.ways = [action_key(step) for step in steps]
        self.well = [step.result is not None and not step.failed for step in steps]
        """Whether each succeeded, as far as it is known."""
        self._well: dict[str, list[int]] = {}
        for place, name in enumerate(self.ways):
            if self.well[place]:
                self._well.setdefault(name, []).append(place)

    def __len__(self) -> int:
        return len(self.steps)

    def next_success(self, place: int) -> int | None:
        """The index of the first call after `place` that does the same and succeeds; None if there is none."""
        places = self._well.get(self.ways[place], ())
        at = bisect_right(places, place)
        return places[at] if at < len(places) else None


MOST_CHARACTERS = 120
"""Characters of a goal as it is shown."""

_MOST_WORDS = 12
_INTERRUPTED = lazy_re(r"^\[Request interrupted by user[^\]]*\]\s*")
_LONGEST_ANSWER = 200
_ASIDE = lazy_re(
    r"<(?P<tag>ide_\w+|system-reminder|local-command-\w+|command-message|environment_\w+|user_instructions)\b[^>]{0,1000}>.*?"
    r"(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
"""Elements that a harness adds to a user's words, including their content."""
_TAG = lazy_re(r"</?[A-Za-z][\w-]*(?: [^<>\n]*)?/?>")
_LEAST_SENTENCE = 8
_PASTED = lazy_re(
    r"^[\w.-]+@[\w-]+\b|➜"
    r"|^\W*(?:={2,}|-{2,}|~|\+|/|\d{1,4}[-:/]\d|\d+[|)]|at |\$ |> |│|\[?(?:INFO|DEBUG|WARN|ERROR)\b)|={3,}"
    r"|^I(?:['’]ve| have) uploaded|https?://\S+$|[{}]|:\d+:\d+|:\s+/|: [0-9a-f/]{7,}\b"
)
"""Marks of pasted lines."""


class GoalMessages(Struct, frozen=True, kw_only=True):
    """A goal, and the messages that belong to it."""

    goal: str
    """The first meaningful sentence of the request, in its words; empty if there is none."""
    opening: MessageId
    messages: tuple[Message, ...]
    """At least one; the first one asks, unless the run begins without a user."""


def split_by_goal(messages: Sequence[Message]) -> tuple[GoalMessages, ...]:
    """Split `messages` where the user asks for something new, not where they only say “go on”."""
    groups: list[list[Message]] = []
    for message in messages:
        if not groups or (message.opens_turn and not _continues_request(message, groups[-1])):
            groups.append([])
        groups[-1].append(message)
    if len(groups) > 1 and not any(each.opens_turn for each in groups[0]):
        groups[:2] = [[*groups[0], *groups[1]]]
    return tuple(_goal_messages(group) for group in groups)


def goal_words(text: str) -> str:
    """The request in a user's message, on one line: its first meaningful sentence, without a harness's additions."""
    said = _ASIDE.sub(" ", without_recalled(_INTERRUPTED.sub("", text.strip())))
    said = _TAG.sub(" ", said).strip()
    told = list(_meaningful_sentences(said))
    worded = next((sentence for sentence in told if not _PASTED.search(sentence)), "")
    first = worded or next(iter(told), "") or " ".join(said.split())
    first = clip(first, MOST_CHARACTERS).strip()
    # A single backtick would pair with one of the next line.
    return first if first.count("`") % 2 == 0 else first.replace("`", "")


def _meaningful_sentences(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        words = sentence.strip(" .!#*>-")
        if len(words) >= _LEAST_SENTENCE and not _only_agrees(words):
            yield words


def _goal_messages(messages: Sequence[Message]) -> GoalMessages:
    asked = [message for message in messages if message.opens_turn]
    told = ((message, goal_words(message.text)) for message in asked)
    opening, goal = next(((message, goal) for message, goal in told if goal), ((asked or messages)[0], ""))
    return GoalMessages(goal=goal, opening=opening.id, messages=tuple(messages))


def _continues_request(message: Message, before: Sequence[Message]) -> bool:
    if not any(each.opens_turn for each in before):
        return False
    said = goal_words(message.text)
    if not any(map(str.isalnum, said)) or _only_agrees(said):
        return True
    last = next((each for each in reversed(before) if each.role == "assistant" and each.text.strip()), None)
    asked = last is not None and bool(topic(Tasks).waits.search(last.text[-300:]))
    return asked and len(message.text) <= _LONGEST_ANSWER and bool(topic(Tasks).answers.match(said))


def _only_agrees(text: str) -> bool:
    words = [word.strip(".,!?:;'\"()*#") for word in text.lower().replace("’", "'").split()]
    words = [word for word in words if word]
    return len(words) <= _MOST_WORDS and all(word in topic(Tasks).agrees for word in words)


NEAR = 6
"""How many calls after a failure are searched for another way to do the same."""
FAR = 200
"""How many calls before a success may have contributed to it."""
_SHARED = 0.5
"""The share of the words of a failed call that another way must have."""
_WORD = lazy_re(r"[A-Za-z_][\w.-]{2,}")
_THINKS = lazy_re(r"(?:think|todo|task)", re.IGNORECASE)
_HELPS = frozenset({"run", "save", "use", "fetch"})


class Recovery(Struct, frozen=True, kw_only=True, gc=False):
    """The same call, succeeding later."""

    step: Step
    by: tuple[Step, ...]
    """The calls in between that may have helped; empty if trying again was enough."""


def recovery_of(course: TaskCalls, place: int) -> Recovery | None:
    """How the failed call at `place` succeeded later; None if it did not."""
    failed = course.steps[place]
    later = course.next_success(place)
    if later is None and failed.action.kind == "check":
        later = _later_passing_check(course, place)
    if later is None:
        return None
    between = [course.steps[at] for at in range(max(place + 1, later - FAR), later) if course.well[at]]
    helped = [step for step in between if step.action.kind in CHANGES and step.action.subject != failed.action.subject]
    if failed.action.kind in CHANGES or failed.action.kind == "read":
        # The file could not be changed: calls that concerned the file helped, such as reading it.
        helped = [step for step in between if _last_part(failed.action.subject) in step.command]
    elif not helped:
        helped = [step for step in between if step.action.kind in _HELPS and not _THINKS.match(step.call.name)][-1:]
    unique = {(step.action.kind, step.action.subject): step for step in helped}
    return Recovery(step=course.steps[later], by=tuple(unique.values()))


def _later_passing_check(course: TaskCalls, place: int) -> int | None:
    """The index of a later, similar check that passed after a change."""
    changed = False
    for later in range(place + 1, min(place + FAR, len(course))):
        step = course.steps[later]
        changed = changed or (step.action.kind in CHANGES and course.well[later])
        if changed and step.action.kind == "check" and _is_alternative(course, later, place):
            return later
    return None


def replaced_by(course: TaskCalls, place: int) -> Step | None:
    """The call soon after `place` that did the same in another way; None if there is none."""
    near = range(place + 1, min(place + 1 + NEAR, len(course)))
    return next((course.steps[at] for at in near if _is_alternative(course, at, place)), None)


def _is_alternative(course: TaskCalls, place: int, wrong: int) -> bool:
    """Whether the call at `place` succeeded with the purpose of the one at `wrong`."""
    if not course.well[place] or course.ways[place] == course.ways[wrong]:
        return False
    step, failed = course.steps[place], course.steps[wrong]
    if failed.action.kind in CHANGES or failed.action.kind == "read":
        same_file = _last_part(step.action.subject) == _last_part(failed.action.subject)
        return same_file and step.action.kind == failed.action.kind
    if step.action.shell != failed.action.shell:
        return False
    if not failed.action.shell:
        return step.call.name == failed.call.name
    words, theirs = _command_words(failed.action.subject), _command_words(step.action.subject)
    if not words or step.action.kind in CHANGES:
        return False
    first, other = failed.action.subject.split()[0], step.action.subject.split()[0]
    shared = len(words & theirs) / len(words)
    return shared >= _SHARED or (first == other and shared > 0 and step.action.kind == failed.action.kind)


def _last_part(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _command_words(command: str) -> set[str]:
    return set(_WORD.findall(command))


Outcome = Literal["worked", "failed", "replaced", "abandoned", "undone", "open"]
"""worked: it succeeded.  failed: it failed, and may have succeeded later.  replaced: another way was taken.
abandoned: it was given up. undone: it succeeded and was reverted. open: unknown (an unchecked change, a failure at
the end)."""

_TIDIES = lazy_re(r"^\s*(?:cd\s+\S+\s*&&\s*)?rm\b")
_NOTES = lazy_re(r"^(?:todo|task|skill|think|agent$|(?:exit|enter)planmode)", re.IGNORECASE)
"""Tools for notes and delegation: their success shows nothing."""
_REVERTS = lazy_re(r"\bgit (?:checkout|restore|revert|reset|stash)\b")


class Attempt(Struct, frozen=True, kw_only=True, gc=False):
    """One way to a goal: a call, the same call again, or changes with the call that checked them."""

    step: Step
    """The call that decides the outcome; the last of several equal ones."""
    changed: tuple[Step, ...] = ()
    """The changes that it checks."""
    times: int = 1
    """How often it was repeated in a row."""
    outcome: Outcome
    over: Step | None = None
    """The later call that did the same and succeeded."""
    by: tuple[Step, ...] = ()
    """The calls between the two that may have helped."""
    instead: Step | None = None
    """The other way that succeeded, or the call that reverted it."""
    cost: Cost = Cost()

    @property
    def error(self) -> str:
        """The line of the result that says what went wrong; empty if there is none."""
        return self.step.error

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its calls, in order."""
        return (*self.changed, self.step)


class Task(Struct, frozen=True, kw_only=True, gc=False):
    """A goal, and the work to reach it."""

    goal: str
    """The goal in the user's words, shortened; empty if nobody asked for anything."""
    opening: MessageId
    """The message that states the goal."""
    last: MessageId
    steps: tuple[Step, ...]
    attempts: tuple[Attempt, ...]
    cost: Cost
    """Its total cost."""

    @property
    def passing_check(self) -> Step | None:
        """The last check, if it passed."""
        checks = [step for step in self.steps if step.action.kind == "check" and step.result is not None]
        return checks[-1] if checks and not checks[-1].failed else None


def read_tasks(material: RunMaterial) -> tuple[Task, ...]:
    """The tasks of a run in order, with the attempts at each."""
    costs = costs_of(material.messages)
    return tuple(_task(stretch, costs) for stretch in split_by_goal(material.messages))


def _task(stretch: GoalMessages, costs: Mapping[MessageId, Cost]) -> Task:
    done = steps(stretch.messages)
    shares = _cost_per_call(done, costs)
    return Task(
        goal=stretch.goal,
        opening=stretch.opening,
        last=stretch.messages[-1].id,
        steps=tuple(done),
        attempts=tuple(_attempts(done, shares)),
        cost=sum_costs(costs[message.id] for message in stretch.messages),
    )


def _cost_per_call(done: Sequence[Step], costs: Mapping[MessageId, Cost]) -> list[Cost]:
    """The cost of each call: its share of the message that made it, and of the one with its result."""
    asked: dict[MessageId, int] = {}
    answered: dict[MessageId, int] = {}
    for step in done:
        asked[step.source] = asked.get(step.source, 0) + len(step.command) + 1
        if step.answer:
            answered[step.answer] = answered.get(step.answer, 0) + len(step.output) + 1
    out: list[Cost] = []
    for step in done:
        share = costs[step.source].scaled((len(step.command) + 1) / asked[step.source])
        back = costs[step.answer].scaled((len(step.output) + 1) / answered[step.answer]) if step.answer else Cost()
        out.append(sum_costs((share, back)))
    return out


class _OpenAttempt(Struct):
    """An attempt under construction: the indexes of its steps."""

    place: int
    changed: list[int]
    times: int = 1
    places: list[int] = []

    @property
    def step_indexes(self) -> list[int]:
        return [*self.changed, *self.places, self.place]


def _attempts(done: Sequence[Step], costs: Sequence[Cost]) -> list[Attempt]:
    course, back = TaskCalls(done), _reverted_changes(done)
    return [_close_attempt(tried, course, costs, back) for tried in _group_attempts(done)]


def _group_attempts(done: Sequence[Step]) -> list[_OpenAttempt]:
    """Group calls into attempts: changes with the call that checks them, a failure with its repetitions."""
    out: list[_OpenAttempt] = []
    changes: list[int] = []
    last: _OpenAttempt | None = None
    failed_before: set[str] = set()
    for place, step in enumerate(done):
        kind, bad = step.action.kind, step.failed_itself
        if step.result is None or (step.failed and not bad):
            continue  # It was refused or interrupted.
        if _is_no_attempt(step):
            continue
        if kind in CHANGES and not step.failed:
            changes.append(place)
            continue
        again = last is not None and not changes and action_key(done[last.place]) == action_key(step)
        if last is not None and again and bad == done[last.place].failed_itself:
            last.places.append(last.place)
            last.place, last.times = place, last.times + 1
            continue
        tries = kind == "check" or (kind == "save" and not step.failed)
        if not (bad or tries or kind in ("save", "use") or action_key(step) in failed_before):
            continue
        tested = changes if tries else []
        last = _OpenAttempt(place=place, changed=list(tested), places=[])
        if tested:
            changes = []
        if bad:
            failed_before.add(action_key(step))
        out.append(last)
    if changes:
        out.append(_OpenAttempt(place=changes[-1], changed=changes[:-1], places=[]))
    return out


def _is_no_attempt(step: Step) -> bool:
    """Whether a call is not an attempt: a search without results, a removed file, a note of the agent."""
    if step.action.kind in ("search", "read") and step.failed:
        return not cause(step)
    if step.action.kind in CHANGES:
        return bool(_TIDIES.search(step.command))
    handed_on = step.failed and step.call.name.lower() in ("task", "agent")
    return bool(_NOTES.match(step.call.name)) and not handed_on


def _reverted_changes(done: Sequence[Step]) -> dict[int, int]:
    """The indexes of reverted changes, each with the index of the call that reverted it."""
    changes: dict[str, list[int]] = {}
    for place, step in enumerate(done):
        if step.action.kind in CHANGES and not step.failed:
            changes.setdefault(step.action.subject, []).append(place)
    out: dict[int, int] = {}
    for places in changes.values():
        edits = [done[place] for place in places]
        for at, place in enumerate(places):
            if (later := reverting_edit(edits, at)) is not None:
                out[place] = places[later]
    for place in range(len(done)):
        # Removing a temporary file is tidying up; what version control reverts was wrong.
        for file in discarded_files(done, place) if _REVERTS.search(done[place].command) else ():
            out.update((at, place) for at in changes.get(file, ()) if at < place and at not in out)
    return out


def _close_attempt(tried: _OpenAttempt, course: TaskCalls, costs: Sequence[Cost], back: Mapping[int, int]) -> Attempt:
    done = course.steps
    step = done[tried.place]
    outcome: Outcome = "worked"
    over = instead = None
    by: tuple[Step, ...] = ()
    edits = [at for at in tried.step_indexes if done[at].action.kind in CHANGES and course.well[at]]
    if edits and all(at in back for at in edits):
        outcome, instead = "undone", done[back[edits[-1]]]
    elif step.failed_itself:
        found = recovery_of(course, tried.place)
        if found or (step.action.kind == "check" and not is_environment(step.error)):
            # The failing test was meant to fail, so it was not given up.
            outcome, over, by = "failed", found.step if found else None, found.by if found else ()
        elif (instead := replaced_by(course, tried.place)) is not None:
            outcome = "replaced"
        else:
            outcome = "open" if tried.place == len(done) - 1 else "abandoned"
    elif step.action.kind in CHANGES:
        outcome = "open"
    return Attempt(
        step=step,
        changed=tuple(done[at] for at in tried.changed),
        times=tried.times,
        outcome=outcome,
        over=over,
        by=by,
        instead=instead,
        cost=sum_costs(costs[at] for at in tried.step_indexes),
    )
