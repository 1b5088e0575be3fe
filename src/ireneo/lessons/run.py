"""The records of learning: a run with its result, project, cost and diary; and what it shows about claims.

A claim is something that a later run can prove right or wrong: that an action fails, that a remedy helps, that a fact
holds. It is named by its cue, which leaves out whatever is specific to one run. A lesson is a claim with enough
observations; its worth, how certain it is and whether the guard uses it follow from these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from ireneo.log.message import Draft, Message, MessageId
from ireneo.memories.record import Kind
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

RunOutcome = Literal["good", "bad", "unknown"]
"""The result of a run. That an agent submitted its work says nothing about its quality."""

_VERDICTS = ("resolved", "solved", "success")
_REWARDS = ("reward", "rewards")
_WITHIN = ("info", "test_result", "report", "result", "reward_info", "verifier_result", "rewards")
"""Keys under which logs group the results of a run."""
_OF_ONE_STEP = ("role", "type", "kind", "action", "observation", "uuid", "step_id")
"""Keys of entries about one message: the success of a tool is not that of the run."""
_DEEP = 3


def outcome_of(drafts: Iterable[Draft]) -> RunOutcome:
    """The result of a run according to its log: a verdict or a reward takes precedence over the exit status."""
    said = [each for about in _run_entries(drafts) for each in _nested_entries(about)]
    verdict = next((good for each in said if (good := _verdict(each)) is not None), None)
    if verdict is None:
        return "bad" if any(map(_was_cut_short, said)) else "unknown"
    return "good" if verdict else "bad"


NotedSort = Literal["learned", "workflow", "friction"]
MOST_NOTED = 60
"""How many sentences of one log are read at most."""
LONGEST = 400
"""The maximum number of characters of such a sentence."""


class NotedWords(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A sentence from a log's own summary of its run, verbatim."""

    sort: NotedSort
    text: str
    path: str = ""
    """For a finding, its place in the code."""


def noted_words(drafts: Iterable[Draft]) -> tuple[NotedWords, ...]:
    """The log's own summary of its run: learnings, workflows, frictions; each sentence once."""
    out: dict[NotedWords, None] = {}
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            for summary in _summaries(_mapping(entry)):
                out.update(dict.fromkeys(_summary_sentences(summary)))
    return tuple(out)[:MOST_NOTED]


def _summaries(entry: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = entry.get("checkpoints")
    places = [entry, *(map(_mapping, listed) if isinstance(listed, list) else [])]
    for place in places:
        for each in (place, _mapping(place.get("summary"))):
            if "learnings" in each or "friction" in each:
                yield each


def _summary_sentences(summary: Mapping[str, object]) -> Iterator[NotedWords]:
    learned = summary.get("learnings")
    if isinstance(learned, dict):
        for sort, key in (("learned", "repo"), ("learned", "code"), ("workflow", "workflow")):
            yield from _sentences(sort, learned.get(key))  # type: ignore[arg-type]
    else:
        yield from _sentences("learned", learned)
    yield from _sentences("friction", summary.get("friction"))


def _sentences(sort: NotedSort, listed: object) -> Iterator[NotedWords]:
    for each in listed if isinstance(listed, list) else [listed]:
        held = _mapping(each)
        text = held.get("finding") if held else each
        path = held.get("path")
        if isinstance(text, str) and 0 < len(text.strip()) <= LONGEST:
            yield NotedWords(sort=sort, text=" ".join(text.split()), path=path if isinstance(path, str) else "")


def _run_entries(drafts: Iterable[Draft]) -> Iterator[Mapping[str, object]]:
    """The entries of the log that are not about a single message."""
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            about = _mapping(entry)
            if about and not any(key in about for key in _OF_ONE_STEP):
                yield about


def _nested_entries(about: Mapping[str, object], deep: int = 0) -> Iterator[Mapping[str, object]]:
    yield about
    for key in _WITHIN if deep < _DEEP else ():
        if held := _mapping(about.get(key)):
            yield from _nested_entries(held, deep + 1)


def _verdict(said: Mapping[str, object]) -> bool | None:
    for key in _VERDICTS:
        if isinstance(found := said.get(key), bool):
            return found
    for key in _REWARDS:
        reward = said.get(key)
        if isinstance(reward, int | float) and (reward <= 0 or reward >= 1):
            return reward >= 1
    return None


def _was_cut_short(said: Mapping[str, object]) -> bool:
    """Whether the harness ended the run, because of a limit, an error, or an agent that gave up."""
    status = said.get("exit_status")
    return isinstance(status, str) and bool(status.strip()) and not status.strip().lower().startswith("submitted")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


_WORKTREES = ("/.worktrees/", "/.claude/worktrees/", "/.git/", "/worktrees/")
"""Path parts between a repository and a worktree of it."""
_ABOVE = lazy_re(
    r"^(?:/(?:Users|home)/[^/]+|/root|[A-Za-z]:/Users/[^/]+|(?:/private)?/var/folders/[^/]+/[^/]+(?:/T)?|[A-Za-z]:)(?=/|$)"
)
"""Home folders and temporary folders, which are not part of a project's name."""
_NOWHERE = frozenset(
    "tmp var private usr opt mnt srv workspace workspaces testbed app src code repo repos work projects project data "
    "root home users desktop documents downloads dev git github github.com clients customers".split()
)
"""General names of folders that are no project."""
_PARTS = frozenset(
    "admin agent android api auth backend bot cli client common core dashboard database db demo deploy desktop docs "
    "example examples frontend gateway infra infrastructure ios landing lib main master mobile monorepo notebooks ops "
    "packages platform playground poc portal prototype sandbox scripts server service services shared shop site store "
    "storefront template test tests tools trunk ui web website worker".split()
)
"""Names of folders in many projects: such a name is shown with the folder around it."""
_INSTANCE = lazy_re(
    r"(?P<owner>[A-Za-z0-9][\w.-]{0,99}?)__(?P<name>[A-Za-z0-9][\w.]{0,99}(?:-[A-Za-z][\w.]{0,99}){0,9})-\d+(?!\w)"
)
_ACCIDENT = lazy_re(r"^(?:tmp|temp|pytest|T)?[-_.]?[0-9a-f-]{6,}$|^tmp\w{6,}$|^\d+$", re.IGNORECASE)


def project_of(*, directory: str = "", folder: str = "", session: str = "") -> str:
    """The project that a run worked on.

    `directory` is its working directory; `folder` a folder named after a directory, as by Claude Code
    (``-Users-ann-Work-cli``); `session` the run's name, which some benchmarks derive from a repository's
    (``django__django-11099``).
    """
    # The name of an instance is unambiguous, and its directory is often a copy with another name.
    return _project_of_instance(session) or _project_of_directory(directory) or _project_of_folder(folder)


def project_named(given: str) -> str:
    """The project with a name, or of a directory."""
    named = given.strip()
    return project_of(directory=named) if "/" in named or "\\" in named else named


def project_here(folder: str) -> str:
    """The project of the working directory `folder`; a folder with a generated name is a project of its own."""
    return project_named(folder) or next(filter(_ACCIDENT.match, reversed(folder.split("/"))), "")


def _project_of_directory(directory: str) -> str:
    path = directory.strip().replace("\\", "/")
    for mark in _WORKTREES:
        path = path.partition(mark)[0]
    if "/" not in path:
        return ""
    telling = [name for name in _ABOVE.sub("", path).split("/") if name and not _is_uninformative_name(name)]
    first = next((at for at in reversed(range(len(telling))) if telling[at].lower() not in _PARTS), 0)
    return "/".join(telling[first:])


def _is_uninformative_name(name: str) -> bool:
    return name.lower() in _NOWHERE or bool(_ACCIDENT.match(name)) or name.startswith((".", "__"))


def _project_of_instance(session: str) -> str:
    found = _INSTANCE.search(session)
    return f"{found['owner']}__{found['name']}" if found else ""


def _project_of_folder(folder: str) -> str:
    """The last part of a directory whose slashes became hyphens; hyphens in names can't be distinguished."""
    name = folder.strip().rstrip("/").rsplit("/", 1)[-1]
    if not re.match(r"^-(?:Users|home|root|private|var|tmp|opt|mnt|workspace)\b", name):
        return ""
    name = re.split(r"--(?:worktrees|claude-worktrees|git)-", name)[0]
    parts = [part for part in name.split("-") if part]
    # A home folder is not a project.
    least = 3 if parts[0] in ("Users", "home") else 2
    if len(parts) < least or parts[-1].lower() in _NOWHERE or _ACCIDENT.match(parts[-1]):
        return ""
    return parts[-1]


AWAY_SECONDS = 600.0
"""After a longer pause between two messages somebody was away, and not working."""


class Cost(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Tokens that a model read or wrote, and seconds."""

    tokens: int = 0
    seconds: float = 0.0
    """0 where the log has no times."""

    def scaled(self, part: float) -> Cost:
        """A `part` of it, from 0 to 1."""
        return Cost(tokens=round(self.tokens * part), seconds=self.seconds * part)


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """The sum of `costs`."""
    every = tuple(costs)
    return Cost(tokens=sum(each.tokens for each in every), seconds=sum((each.seconds for each in every), 0.0))


def costs_of(messages: Sequence[Message]) -> dict[MessageId, Cost]:
    """The cost of each message: its tokens, and the time since the one before it.

    The time that a user took to write costs nothing, nor does a pause of more than ten minutes.
    """
    out: dict[MessageId, Cost] = {}
    before = None
    for message in messages:
        at = message.draft.at
        passed = (at - before).total_seconds() if at is not None and before is not None else 0.0
        counted = 0.0 < passed <= AWAY_SECONDS and not message.opens_turn
        out[message.id] = Cost(tokens=message.tokens, seconds=passed if counted else 0.0)
        before = at or before
    return out


DiaryAuthor = Literal["structure", "agent", "model"]
"""The author of an entry: the agent itself, a model, or the rules that read the structure of a run."""


class DiaryLine(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A line of a diary, with the messages that support it."""

    text: str
    sources: tuple[MessageId, ...] = ()


class DiaryEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The entry of one task: a goal of the user, and the work on it."""

    goal: str
    """The goal in the user's words, shortened."""
    opening: MessageId
    """The message that states the goal."""
    last: MessageId
    """The last message of the task."""
    attempted: tuple[DiaryLine, ...] = ()
    """What was tried, in the agent's words."""
    worked: tuple[DiaryLine, ...] = ()
    failed: tuple[DiaryLine, ...] = ()
    pattern: str = ""
    """A sentence about the task as a whole."""
    pattern_sources: tuple[MessageId, ...] = ()
    """The messages that support the pattern."""
    author: DiaryAuthor = "structure"

    @property
    def lines(self) -> tuple[DiaryLine, ...]:
        """All lines, the pattern last."""
        pattern = (DiaryLine(text=self.pattern, sources=self.pattern_sources),) if self.pattern else ()
        return (*self.attempted, *self.worked, *self.failed, *pattern)


LEARNER = "32"
"""The version of the rules of learning: after a change all runs are learned from again."""


class LearnedRun(ShortRepr, frozen=True, kw_only=True, omit_defaults=True):
    """A session that was learned from."""

    session: str
    head: MessageId
    """The last message that was read; a session that has grown is learned from again, and this record replaced."""
    learner: str
    """The version of the rules; see `LEARNER`."""
    learned: datetime
    project: str = ""
    source: str = ""
    """The log format, with the file's name."""
    outcome: RunOutcome = "unknown"
    """Its result according to its log."""
    started: datetime | None = None
    ended: datetime | None = None
    messages: int = 0
    tokens: int = 0
    """The tokens of its path."""
    calls: int = 0
    failures: int = 0
    """Failed calls, without those that a user refused or that were cancelled with another call."""
    lost_tokens: int = 0
    lost_seconds: float = 0.0
    """The cost of failed calls and dead ends."""
    diary: tuple[DiaryEntry, ...] = ()
    diary_tokens: int = 0
    """The tokens of its rendered diary."""


Category = Literal["factual", "procedural", "failure"]
"""The category of a claim: a fact, a procedure, an action that fails. They become semantic, procedural and failure
memories."""
CATEGORY: Mapping[Kind, Category] = {"semantic": "factual", "procedural": "procedural", "failure": "failure"}
"""The category of a lesson by its kind of memory."""
MODEL = "model: "
"""Prefix of the cues of claims in a model's words, which only a model can observe again."""
LOGGED = "log: "
"""Prefix of the cues of claims from a log's own summary of its run."""
HEARD_AS = "heard as"
"""The condition of something a user said: a digest that is the same in copies of a session."""
RULING = "<ruling> "
"""Prefix of the cues of rulings, followed by the sorted stems of the subject."""


def is_ruling(cue: str) -> bool:
    """Whether a claim is a ruling of a user, found by rules or by a model."""
    return cue.removeprefix(MODEL).startswith(RULING)


class Trigger(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The calls that step into a trap: all given conditions must be true."""

    tool: str = ""
    """The tool, if it is not a shell."""
    command: str = ""
    """The canonical name of the command: ``go test``, ``mise run lint``."""
    words: tuple[str, ...] = ()
    """Flags or arguments of the command: ``--no-verify``."""
    path: str = ""
    """The end of a path among the arguments; a folder, with a slash at its end, also includes paths in it."""
    given: str = ""
    """An argument with several items; `ireneo.lessons.guard.NOTHING`: the command has no arguments but flags."""
    above: str = ""
    """The folder in which the path was looked for: an absolute path must be in it. Empty for any."""
    unless: tuple[str, ...] = ()
    """Commands or words of the way out: a call that contains or follows one does not step into the trap."""


class Observation(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The evidence of one run on a claim."""

    cue: str
    """The code of the claim, the same in all runs: ``Edit <unread> ⇒ File has not been read yet``."""
    category: Category
    session: str
    project: str = ""
    """Empty if it is unknown."""
    at: datetime | None = None
    """When the run last showed it, for or against; None without times in the log."""
    held: int = 0
    """How often the claim held in this run."""
    broke: int = 0
    """How often it did not hold."""
    vain: int = 0
    """For a trap: how often its way out was taken and did not help."""
    text: str = ""
    """The claim in one sentence with its reason; empty for a statistic, of which no lesson is made."""
    task_type: str = ""
    conditions: dict[str, str] = {}
    """The circumstances (tool, program), besides the project."""
    way_out: str = ""
    """For a trap: what to do instead, in words; empty if the run doesn't show it."""
    why: str = ""
    """The sentence of the agent or the user that gives the reason, verbatim; empty without one."""
    trigger: Trigger | None = None
    """For a trap, or a ruling against something: which calls step into it."""
    limits: str = ""
    """For a failure: when the claim does not apply, as far as this run shows."""
    sources: tuple[MessageId, ...] = ()
    """The messages that support it, at most eight, in order; everything that `text` names occurs in them."""
    against: tuple[MessageId, ...] = ()
    """The messages that contradict it, at most four."""
    tokens: int = 0
    """Its cost in this run: the tokens of calls and results that were wasted."""
    seconds: float = 0.0
    """The same in seconds, if the log has times."""


class ClaimTotals(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The sum of the observations of a claim over all runs of a space."""

    cue: str
    category: Category
    held: int
    broke: int
    runs: int
    """The number of runs in which it held at least once."""
    projects: tuple[str, ...]
    """The projects in which it held, sorted; without the empty one."""
    first: datetime | None
    last: datetime | None
    """When it first and last held, by run."""
    tokens: int = 0
    seconds: float = 0.0
