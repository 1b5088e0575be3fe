"""A run that was learned from: its project, its cost, its diary, and how often each claim held in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from ireneo.log.message import Draft, Message, MessageId
from ireneo.memories.record import Kind
from ireneo.patterns import lazy_re

# What a log says of its run as a whole: how it came out, by a test or a grader, and what it sums up itself.
#
# Some logs note what was learned of a repository and its code, how to work there, and what went wrong.


RunOutcome = Literal["good", "bad", "unknown"]
"""How a run came out. That an agent handed its work in says nothing of what it is worth."""

_VERDICTS = ("resolved", "solved", "success")
_REWARDS = ("reward", "rewards")
_WITHIN = ("info", "test_result", "report", "result", "reward_info", "verifier_result", "rewards")
"""Under what a log groups what it says of a run."""
_OF_ONE_STEP = ("role", "type", "kind", "action", "observation", "uuid", "step_id")
"""What only an entry of one message has: a tool's success is not the run's."""
_DEEP = 3


def outcome_of(drafts: Iterable[Draft]) -> RunOutcome:
    """How the run of `drafts` came out, as their log notes it: a verdict or a reward counts before how it ended."""
    said = [each for about in _about_run(drafts) for each in _places(about)]
    verdict = next((good for each in said if (good := _verdict(each)) is not None), None)
    if verdict is None:
        return "bad" if any(map(_broke_off, said)) else "unknown"
    return "good" if verdict else "bad"


NotedSort = Literal["learned", "workflow", "friction"]
MOST_NOTED = 60
"""Sentences of one log that are read."""
LONGEST = 400
"""Characters of one of them."""


class NotedWords(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence by which a log sums up its run, word for word."""

    sort: NotedSort
    text: str
    path: str = ""
    """Of a finding in the code: where."""


def noted_words(drafts: Iterable[Draft]) -> tuple[NotedWords, ...]:
    """What the log of `drafts` sums up of its run: learnings, ways of working, frictions; each once."""
    out: dict[NotedWords, None] = {}
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            for summary in _summaries(_mapping(entry)):
                out.update(dict.fromkeys(_noted(summary)))
    return tuple(out)[:MOST_NOTED]


def _summaries(entry: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = entry.get("checkpoints")
    places = [entry, *(map(_mapping, listed) if isinstance(listed, list) else [])]
    for place in places:
        for each in (place, _mapping(place.get("summary"))):
            if "learnings" in each or "friction" in each:
                yield each


def _noted(summary: Mapping[str, object]) -> Iterator[NotedWords]:
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


def _about_run(drafts: Iterable[Draft]) -> Iterator[Mapping[str, object]]:
    """The entries of the log that are of no single message."""
    for draft in drafts:
        payload = draft.record.payload if draft.record else None
        for entry in payload if isinstance(payload, list | tuple) else (payload,):
            about = _mapping(entry)
            if about and not any(key in about for key in _OF_ONE_STEP):
                yield about


def _places(about: Mapping[str, object], deep: int = 0) -> Iterator[Mapping[str, object]]:
    yield about
    for key in _WITHIN if deep < _DEEP else ():
        if held := _mapping(about.get(key)):
            yield from _places(held, deep + 1)


def _verdict(said: Mapping[str, object]) -> bool | None:
    for key in _VERDICTS:
        if isinstance(found := said.get(key), bool):
            return found
    for key in _REWARDS:
        reward = said.get(key)
        if isinstance(reward, int | float) and (reward <= 0 or reward >= 1):
            return reward >= 1
    return None


def _broke_off(said: Mapping[str, object]) -> bool:
    """Whether the harness ended it: a limit, an error, an agent that gave up."""
    status = said.get("exit_status")
    return isinstance(status, str) and bool(status.strip()) and not status.strip().lower().startswith("submitted")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


# A run that was learned from: its project, its cost, its diary, and how often each claim held in it.


_WORKTREES = ("/.worktrees/", "/.claude/worktrees/", "/.git/", "/worktrees/")
"""What stands between a repository and a second copy of it."""
_ABOVE = lazy_re(
    r"^(?:/(?:Users|home)/[^/]+|/root|[A-Za-z]:/Users/[^/]+|(?:/private)?/var/folders/[^/]+/[^/]+(?:/T)?|[A-Za-z]:)(?=/|$)"
)
"""Somebody's home, and what else a machine calls by itself: it tells of no project."""
_NOWHERE = frozenset(
    "tmp var private usr opt mnt srv workspace workspaces testbed app src code repo repos work projects project data "
    "root home users desktop documents downloads dev git github github.com clients customers".split()
)
"""Folders in which anything may stand: their names tell of no project."""
_PARTS = frozenset(
    "admin agent android api auth backend bot cli client common core dashboard database db demo deploy desktop docs "
    "example examples frontend gateway infra infrastructure ios landing lib main master mobile monorepo notebooks ops "
    "packages platform playground poc portal prototype sandbox scripts server service services shared shop site store "
    "storefront template test tests tools trunk ui web website worker".split()
)
"""What many projects call a folder of theirs: it is told together with the one around it."""
_INSTANCE = lazy_re(
    r"(?P<owner>[A-Za-z0-9][\w.-]{0,99}?)__(?P<name>[A-Za-z0-9][\w.]{0,99}(?:-[A-Za-z][\w.]{0,99}){0,9})-\d+(?!\w)"
)
_ACCIDENT = lazy_re(r"^(?:tmp|temp|pytest|T)?[-_.]?[0-9a-f-]{6,}$|^tmp\w{6,}$|^\d+$", re.IGNORECASE)


def project_of(*, directory: str = "", folder: str = "", session: str = "") -> str:
    """The project that a run worked on.

    `directory` is where it worked, `folder` one that is called after a directory (``-Users-ann-Work-cli``, as Claude
    Code does), `session` the run's name, which some benchmarks make of a repository's (``django__django-11099``).
    """
    # An instance's name is unmistakable, and the directory of one is often a copy under another name.
    return _of_instance(session) or _of_directory(directory) or _of_folder(folder)


def project_named(given: str) -> str:
    """The project that is meant by its name, or by a directory of it."""
    named = given.strip()
    return project_of(directory=named) if "/" in named or "\\" in named else named


def project_here(folder: str) -> str:
    """The project of whoever works in `folder`: one that bears a name made by accident is its own."""
    return project_named(folder) or next(filter(_ACCIDENT.match, reversed(folder.split("/"))), "")


def _of_directory(directory: str) -> str:
    path = directory.strip().replace("\\", "/")
    for mark in _WORKTREES:
        path = path.partition(mark)[0]
    if "/" not in path:
        return ""
    telling = [name for name in _ABOVE.sub("", path).split("/") if name and not _tells_nothing(name)]
    first = next((at for at in reversed(range(len(telling))) if telling[at].lower() not in _PARTS), 0)
    return "/".join(telling[first:])


def _tells_nothing(name: str) -> bool:
    return name.lower() in _NOWHERE or bool(_ACCIDENT.match(name)) or name.startswith((".", "__"))


def _of_instance(session: str) -> str:
    found = _INSTANCE.search(session)
    return f"{found['owner']}__{found['name']}" if found else ""


def _of_folder(folder: str) -> str:
    """The last part of a directory whose strokes were made hyphens: what had a hyphen itself can't be told apart."""
    name = folder.strip().rstrip("/").rsplit("/", 1)[-1]
    if not re.match(r"^-(?:Users|home|root|private|var|tmp|opt|mnt|workspace)\b", name):
        return ""
    name = re.split(r"--(?:worktrees|claude-worktrees|git)-", name)[0]
    parts = [part for part in name.split("-") if part]
    # A home is nobody's project.
    least = 3 if parts[0] in ("Users", "home") else 2
    if len(parts) < least or parts[-1].lower() in _NOWHERE or _ACCIDENT.match(parts[-1]):
        return ""
    return parts[-1]


AWAY_SECONDS = 600.0
"""A longer silence between two messages is no work: somebody was away."""


class Cost(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens that a model read or wrote, and the seconds that went by."""

    tokens: int = 0
    seconds: float = 0.0
    """0 where the log has no times."""

    def share(self, part: float) -> Cost:
        """That `part` of it, from 0 to 1."""
        return Cost(tokens=round(self.tokens * part), seconds=self.seconds * part)


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """All of them together."""
    every = tuple(costs)
    return Cost(tokens=sum(each.tokens for each in every), seconds=sum((each.seconds for each in every), 0.0))


def costs_of(messages: Sequence[Message]) -> dict[MessageId, Cost]:
    """What each message cost: its tokens, and the time since the one before it.

    What a user took to write costs nothing, and neither does a silence of more than ten minutes.
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
"""Who wrote an entry: what the agent wrote itself leads, what a model wrote comes next, the structure serves always."""


class DiaryLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line, with the messages that show it."""

    text: str
    sources: tuple[MessageId, ...] = ()


class DiaryEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a diary says of one task: a goal of the user, and what was done for it."""

    goal: str
    """What was asked for, in the user's words, shortened."""
    opening: MessageId
    """The message that asked for it."""
    last: MessageId
    """The last message of the task."""
    task_type: str = ""
    attempted: tuple[DiaryLine, ...] = ()
    """The approaches in order, each with its outcome."""
    worked: tuple[DiaryLine, ...] = ()
    failed: tuple[DiaryLine, ...] = ()
    pattern: str = ""
    """What the task shows as a whole, in a sentence."""
    pattern_sources: tuple[MessageId, ...] = ()
    """The messages that show the pattern."""
    author: DiaryAuthor = "structure"

    @property
    def lines(self) -> tuple[DiaryLine, ...]:
        """Every line of it, the pattern last."""
        pattern = (DiaryLine(text=self.pattern, sources=self.pattern_sources),) if self.pattern else ()
        return (*self.attempted, *self.worked, *self.failed, *pattern)


LEARNER = "7"
"""The version of the rules by which runs are learned from: with another one, all are learned from again."""


class LearnedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as far as it was learned from."""

    session: str
    head: MessageId
    """Up to where; a session that has gone on since is learned from again, and this record replaced."""
    learner: str
    """The version of the rules; a newer one learns again."""
    learned: datetime
    project: str = ""
    source: str = ""
    """The log format, with the file's name."""
    outcome: RunOutcome = "unknown"
    """How it came out, as its log says."""
    started: datetime | None = None
    ended: datetime | None = None
    messages: int = 0
    tokens: int = 0
    """What its path costs a model to read."""
    calls: int = 0
    failures: int = 0
    """Calls that failed, without those that a user refused or that fell with a call beside them."""
    lost_tokens: int = 0
    lost_seconds: float = 0.0
    """What failed calls and dead ends cost."""
    diary: tuple[DiaryEntry, ...] = ()
    diary_tokens: int = 0
    """What its diary costs, rendered."""


# What a run shows of a claim: how often it held there, how often it did not, and where that is to be seen.
#
# A claim is what a later run can prove right or wrong: that an action fails, that a remedy helps, that a fact is so. It
# is named by its cue, which forgets whatever is of one run only. A lesson is a claim that was observed enough; what it
# is worth, how sure it is, and whether the guard speaks all follow from its observations.


Category = Literal["factual", "procedural", "failure"]
"""What sort of claim: a fact, a way of doing it, an action that fails. They become semantic, procedural and failure
memories."""
CATEGORY: Mapping[Kind, Category] = {"semantic": "factual", "procedural": "procedural", "failure": "failure"}
"""What a lesson is called by its kind of memory."""
MODEL = "model: "
"""What the cues of claims in a model's own words begin with: no rule sees them again, only a model does."""
LOGGED = "log: "
"""What the cues of claims begin with by which a log sums up its own run."""
RULING = "<ruling> "
"""What the cue of a ruling begins with; behind it stand the stems of what it is about, in the order of the alphabet."""


def is_ruling(cue: str) -> bool:
    """Whether a claim is what a user ruled, as rules or a model found it, and no observation of ours."""
    return cue.removeprefix(MODEL).startswith(RULING)


class Trigger(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which calls a trap is about: whatever is given of it has to be so."""

    tool: str = ""
    """The tool, where it is no shell."""
    command: str = ""
    """The program with its subcommand, under the one name that it has: ``go test``, ``mise run lint``."""
    words: tuple[str, ...] = ()
    """Flags or arguments that the command has to hold: ``--no-verify``."""
    path: str = ""
    """The end of the path that the call is about."""
    given: str = ""
    """The argument that holds several things; `ireneo.lessons.guard.NOTHING`: a command has nothing but flags."""
    unless: tuple[str, ...] = ()
    """Commands or words that are the way out: a call that holds one, or that follows one, is no step into the trap."""


class Observation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim in one run."""

    cue: str
    """Its code, the same in all runs and projects: ``Edit <unread> ⇒ File has not been read yet``."""
    category: Category
    session: str
    project: str = ""
    """Empty where the log tells of none."""
    at: datetime | None = None
    """When the run last showed it, for or against; None where the log has no times."""
    held: int = 0
    """How often it proved right in this run."""
    broke: int = 0
    """How often it proved wrong."""
    vain: int = 0
    """Of a trap: how often its way out was taken and did not help."""
    text: str = ""
    """The claim as this run tells it: one sentence with its why. Empty: a statistic, which no lesson is made of."""
    task_type: str = ""
    conditions: dict[str, str] = {}
    """What held when it was seen (tool, program), beside the project."""
    way_out: str = ""
    """Of a trap: what to do instead, in words; empty where the run shows none."""
    why: str = ""
    """The agent's or the user's sentence that gives the reason, word for word; empty where nobody gave one."""
    trigger: Trigger | None = None
    """Of a trap, and of a ruling against something: which calls step into it."""
    limits: str = ""
    """Of a failure: when the claim does not apply, as far as this run shows that."""
    sources: tuple[MessageId, ...] = ()
    """The messages that show it, at most eight, in order; everything that `text` names stands in them."""
    against: tuple[MessageId, ...] = ()
    """Messages that show the contrary, at most four."""
    tokens: int = 0
    """What it cost in this run when it held: tokens of the calls and results that led nowhere."""
    seconds: float = 0.0
    """The same in time, where the log has times."""


class ClaimTotals(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim over all runs of a space: the sum of its observations."""

    cue: str
    category: Category
    held: int
    broke: int
    runs: int
    """Runs in which it held at least once."""
    projects: tuple[str, ...]
    """Those in which it held, sorted; without the empty one."""
    first: datetime | None
    last: datetime | None
    """When it held first and last, by run."""
    tokens: int = 0
    seconds: float = 0.0
