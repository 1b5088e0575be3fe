"""Give a turn what it needs of all four kinds, each by its cue, and a session's beginning its lessons.

No model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import sqrt
from statistics import fmean, pstdev

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.recall import (
    LOOKED_AT_FOR_SOME,
    SPEAKERS,
    MemoryIndex,
    MessageIndex,
    QueryVector,
    by_meaning,
    by_words,
)
from ireneo.engine.remember import used
from ireneo.engine.resources import Resources
from ireneo.engine.scope import KIND_NAMES, RecallQuery, Scope, ScopeLimits, place_all
from ireneo.engine.scratchpad import check_pad
from ireneo.engine.vectors import HeldVectors, vectors_of
from ireneo.errors import BadInput, EmbedderError, MemoryNotFound, StoreError
from ireneo.grounding.neutral import neutralise
from ireneo.language.files import topic
from ireneo.language.sentences import sentences
from ireneo.language.topics import Serving
from ireneo.language.words import terms
from ireneo.lessons.lessons import (
    applies,
    cues_to_read,
    expected_cost,
    is_in_sight,
    projects_of,
    share_of,
    standing_of,
    without_remedies_told,
)
from ireneo.lessons.relevance import RELATED, Goal, content_of
from ireneo.lessons.rulings import merged_rulings, reach
from ireneo.lessons.run import Observation, is_ruling
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.brief import LEAST_BUDGET, Brief, BriefCandidate, BriefLine, line_of, make_brief
from ireneo.memories.index import Vector
from ireneo.memories.kinds import KINDS, worth
from ireneo.memories.ranking import Question, RecallHit, likeness
from ireneo.memories.record import Kind, MemoryId, Record, State, is_kept, supporting
from ireneo.memories.scratchpad import checked_task
from ireneo.memories.serving import (
    COMMON,
    FEW,
    UNRELATED,
    Purpose,
    Served,
    is_standing,
    rules_here,
    support,
    takes_back,
    telling,
)
from ireneo.memories.signature import action_of, action_signature
from ireneo.memories.wording import day, one_line
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import Embedder
from ireneo.ports.store import Transaction

A_RULING = 1_000_000.0
"""What a ruling is worth beside what failures cost: the user's word stands first."""
MOST_GENERAL = 3
"""Rulings that stand whatever the goal is."""
MOST_CONCERNING = 12
"""Lessons that are told of one goal."""
MOST_RUNS = 300
"""Past runs whose goals are compared with the one at hand, the latest."""
LEAST_SHARE = 0.5
"""A way of doing something that helps less often than that is not recommended."""


def opening_lessons(
    records: Sequence[Record],
    observations: Mapping[str, Sequence[Observation]],
    now: datetime,
    project: str,
    goal: Goal | None = None,
) -> list[BriefLine]:
    """The lessons for a run of `project`, each with what it is expected to save.

    With a `goal` those that concern it, and the rulings that several runs, or the user's review, show to be general.
    `observations` are those of their cues, and of the occasions of these (`cues_to_read`).
    """
    lines: list[BriefLine] = []
    here = [each for each in records if each.holds and each.cue and applies(projects_of(each), project)]
    always = {each.id for each in general_rulings(here)}
    for record in here:
        seen = [each for cue in cues_to_read(record.cue) for each in observations.get(cue, ())]
        share = share_of(seen)
        if record.kind != "failure" and share < LEAST_SHARE and not is_kept(record):
            continue
        own = [each for each in seen if each.cue == record.cue]
        concerns = 1.0 if goal is None or record.id in always else _concern(goal, record, own)
        if goal is not None and concerns < RELATED:
            continue
        cost = expected_cost(own, now, project) * concerns
        if record.kind != "failure":
            # What failed has cost just as often as it came true; of anything else that is still to be reckoned with.
            cost *= share
        if is_ruling(record.cue):
            cost += A_RULING
        line = BriefLine(
            id=record.id,
            kind=record.kind,
            text=record.text,
            score=round(cost, 3),
            why=standing_of(seen).words,
        )
        lines.append(line)
    lines.sort(key=lambda each: (-each.score, each.id))
    return lines if goal is None else lines[:MOST_CONCERNING]


def general_rulings(records: Sequence[Record]) -> list[Record]:
    """The few rulings that stand whatever the goal is: those of several runs, and those that the user kept."""
    ruled = [each for each in records if is_ruling(each.cue) and (is_kept(each) or len(each.sessions) > 1)]
    return sorted(ruled, key=lambda each: (not is_kept(each), -len(each.sessions), -reach(each.text), each.id))[
        :MOST_GENERAL
    ]


def _concern(goal: Goal, record: Record, own: Sequence[Observation]) -> float:
    if any(each.trigger is not None and goal.names(each.trigger) for each in own):
        return 1.0
    return goal.concerns(content_of(record.text), {each.session for each in supporting(record)})


BUDGET = 1_500
OF_EACH = 20
"""So many memories of a kind are looked at for a brief."""
READ = 2_000
"""So many failures are compared by their action."""
TOGETHER = 200
"""Claims whose observations are read at one time."""
SHELL = "bash"
"""The tool that an action without one is taken for."""


class BriefCue(ScopeLimits, frozen=True, kw_only=True):
    """What a turn is about; with a project its lessons stand first, with those of several."""

    goal: str = ""
    task_type: str = ""
    situation: str = ""
    about_to: str = ""
    """The action about to be taken: a command, or a tool, a colon and what it is given."""


async def brief(
    resources: Resources, space: str, held: HeldVectors, cue: BriefCue, task: str | None, budget: int
) -> Brief:
    """The brief of a turn within `budget` tokens; what it shows is marked as used.

    A store that can't be written to at the moment loses nothing but the mark: `unmarked` says so then.
    """
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise BadInput(f"`budget` is {budget!r}; give a whole number of tokens.")
    if budget < LEAST_BUDGET:
        raise BadInput(f"A brief of {budget:,} tokens has room for nothing; give at least {LEAST_BUDGET}.")
    name = None if task is None else checked_task(task)
    now = resources.clock.now()
    if cue.project is not None:
        await place_all(resources.store, space)

    asked = {text: await nearness(resources.embedder, text) for text in {cue.goal, cue.situation, cue.about_to}}

    def compose(tx: Transaction) -> Brief:
        pad = tx.pads.read(space, name) if name else None
        if name:
            check_pad(tx, space, name, pad, cue.project)
        scope = Scope.of(tx, space, cue)
        shelf = Shelf(tx, space, cue, scope, now, held)
        found, said = _found(tx, space, cue, scope, shelf, asked)
        found = [replace(each, record=_inert(each.record)) for each in found]
        lessons = _opening_lessons(tx, space, cue, now, scope) if cue.project else []
        return make_brief(pad, found, now, budget, resources.count, lessons, shelf.standing(cue.goal), said)

    made = await resources.store.read(compose)
    shown = [line.id for line in made.lines if line.kind != "message"]
    if not shown:
        return made
    try:
        await resources.store.write(used, resources, space, shown)
    except (StoreError, MemoryNotFound) as error:
        # It was read, and serves as it is; another may have erased one of them since.
        return replace(made, unmarked=str(error))
    return made


def _inert(record: Record) -> Record:
    """A memory whose words can't be taken for an instruction, unless they are the user's."""
    return record if record.origin == "user" else replace(record, text=neutralise(record.text))


def _found(
    tx: Transaction, space: str, cue: BriefCue, scope: Scope, shelf: Shelf, asked: Mapping[str, Nearness | None]
) -> tuple[list[BriefCandidate], list[BriefLine]]:
    """What serves the goal, what happened in situations like this one, and what must be heeded before the next act.

    Beside the memories what the user said, as far as none of them says it.
    """
    out = _procedures(tx, space, cue.task_type, shelf.now, scope) if cue.task_type.strip() else []
    said: list[BriefLine] = []
    looks: tuple[tuple[str, tuple[Kind, ...]], ...] = (
        (cue.goal, KIND_NAMES),
        (cue.situation, ("episodic",)),
        (cue.about_to, ("failure",)),
    )
    for text, kinds in looks:
        if text.strip():
            found, words = shelf.serving(Purpose(text), asked[text], kinds)
            said += words if kinds == KIND_NAMES else []
            # Which lessons of a project concern its goal, they are asked themselves.
            out += [each for each in found if not (cue.project and each.record.cue)]
    if cue.about_to.strip():
        out += _failures(tx, space, cue.about_to, shelf.now, scope)
    return out, said


def _opening_lessons(tx: Transaction, space: str, cue: BriefCue, now: datetime, scope: Scope) -> list[BriefLine]:
    """The lessons of a project, by what they are expected to save; those that concern the goal, where one is given."""
    project = cue.project or ""
    wanted = MemoryFilter(states=("active",), lessons=True, archived=False)
    listed = tx.memories.list(space, wanted, READ)
    # What was seen in one project alone is none of another's business, however well it reads.
    here = [each for each in listed if each.cue and applies(projects_of(each), project)]
    records = merged_rulings([each for each in scope.seen(here) if each is not None])
    cues = list(dict.fromkeys(name for each in records for name in cues_to_read(each.cue)))
    observed: dict[str, list[Observation]] = {}
    for start in range(0, len(cues), TOGETHER):
        for each in tx.runs.observations(space, cues[start : start + TOGETHER]):
            observed.setdefault(each.cue, []).append(each)
    told = [each for each in records if is_kept(each) or not is_in_sight(observed.get(each.cue, ()))]
    records = without_remedies_told(told)
    goal = None
    if cue.goal.strip():
        runs = [each for each in tx.runs.list(space, MOST_RUNS) if each.project == project]
        goal = Goal(cue.goal, runs, [content_of(each.text) for each in records], cue.task_type.strip())
    return opening_lessons(records, observed, now, project, goal)


def _procedures(tx: Transaction, space: str, task_type: str, now: datetime, scope: Scope) -> list[BriefCandidate]:
    """Those of just this task type: how a task is done is never found by likeness."""
    # Another version may hold of what is seen from here than of all there is.
    every = tx.memories.list(space, MemoryFilter(kind="procedural", task_type=task_type, archived=False))
    listed = [each for each in scope.seen(every) if each is not None and each.state == "active"]
    ranked = sorted(listed, key=lambda each: -worth(each, now))[:OF_EACH]
    return [
        BriefCandidate(record=each, score=worth(each, now), why=f"the task type is {each.task_type}") for each in ranked
    ]


def _failures(tx: Transaction, space: str, about_to: str, now: datetime, scope: Scope) -> list[BriefCandidate]:
    """Those of the same action, however it is written."""
    meant = actions(about_to)
    listed = tx.memories.list(space, MemoryFilter(kind="failure", states=("active",), archived=False), READ)
    alike = [each for each in listed if (action_of(each.signature) or each.signature) in meant]
    same = [each for each in scope.seen(alike) if each is not None and each.state == "active"]
    why = "the same action failed before"
    return [BriefCandidate(record=each, score=10 * worth(each, now), why=why) for each in same]


def actions(about_to: str) -> set[str]:
    """The signatures that an action may have, as it is told: as a command, or as a tool with what it is given."""
    text = about_to.strip()
    tool, colon, given = text.partition(":")
    named = {action_signature(tool, given.strip())} if colon and given.strip() and len(tool.split()) == 1 else set()
    return {text, action_signature(SHELL, text), *named}


MOST: Mapping[Kind, int] = {"semantic": 8, "procedural": 4, "episodic": 4, "failure": 4}
"""Memories of each kind that are told of a goal, the best."""
MOST_MESSAGES = 5
MOST_STANDING = 4
SHOWN: dict[Kind, tuple[State, ...]] = {"semantic": ("active", "disputed")}
"""The states in which memories are shown, where it is not only the active ones."""
MANNER = frozenset({"manner", "called"})
"""The attributes that say how the user wants to be answered."""
SAID_AGAIN = 0.5
"""What has this share of the words of a text says the same."""
THE_GOAL = 0.7
"""A message that is this like the goal is the goal."""
LONGEST_QUOTED = 260
"""Characters of a message that are quoted."""
LEAST_DEVIATION = 0.03
MOST_NAMES = 20
MOST_OF_ONE = 60
"""Words of a goal that may be names, and memories of one who is named."""


class Nearness(Struct, frozen=True, kw_only=True):
    """The vector of a goal, and how near to it that stands which has nothing to do with it."""

    query: QueryVector
    mean: float
    deviation: float

    def support(self, cosines: Mapping[str, tuple[RecallHit, float]]) -> dict[str, float]:
        """What it adds to the score of each of what was found, or takes off."""
        known = [cosine for _, cosine in cosines.values()]
        middle, spread = fmean(known), max(pstdev(known), LEAST_DEVIATION)
        return {
            name: support((cosine - self.mean) / self.deviation, (cosine - middle) / spread)
            for name, (_, cosine) in cosines.items()
        }


async def nearness(embedder: Embedder | None, goal: str) -> Nearness | None:
    """What the embedder says of a goal; None where there is none, or none that answers: then the words alone tell."""
    if embedder is None or not goal.strip():
        return None
    try:
        vector, *unrelated = await vectors_of(embedder, [goal, *UNRELATED], query=True)
    except EmbedderError:
        return None
    far = [_cosine(vector, each) for each in unrelated]
    query = QueryVector(embedder=embedder.name, vector=vector)
    return Nearness(query=query, mean=fmean(far), deviation=max(pstdev(far), LEAST_DEVIATION))


def _cosine(one: Vector, other: Vector) -> float:
    left, right = memoryview(one).cast("b"), memoryview(other).cast("b")
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / (sqrt(sum(a * a for a in left) * sum(b * b for b in right)) or 1.0)


class Quoted(Struct, frozen=True, kw_only=True):
    """A message that may be quoted, and what of it serves."""

    id: str
    text: str
    at: datetime | None
    author: str | None
    served: Served
    said: tuple[str, ...]

    @classmethod
    def of(cls, hit: RecallHit, served: Served, said: Sequence[str]) -> Quoted:
        """What was found, and the sentences of it that serve."""
        return cls(id=hit.id, text=hit.text, at=hit.at, author=hit.author, served=served, said=tuple(said))

    @property
    def when(self) -> float:
        """When it was said, to be compared."""
        return self.at.timestamp() if self.at else 0.0

    def line(self, said: Sequence[str], *, whole: bool) -> BriefLine:
        """It as a brief shows it: all of it where it is short, else the sentences that are `said`."""
        text = one_line(self.text if whole and len(self.text) <= LONGEST_QUOTED else " … ".join(said))
        text = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1].rstrip()}…"
        who = f"{self.author}: " if self.author and not text.startswith(self.author) else ""
        when = f" ({day(self.at)})" if self.at else ""
        return BriefLine(
            id=MessageId(self.id),
            kind="message",
            text=f"{who}“{text}”{when}",
            score=round(self.served.score, 4),
            why=self.served.why,
        )


class Shelf:
    """What of a space may be seen in one transaction, as far as a brief looks for it."""

    def __init__(
        self, tx: Transaction, space: str, limits: ScopeLimits, scope: Scope, now: datetime, held: HeldVectors
    ) -> None:
        """Look at what `scope` lets be seen; `held` are the vectors of the space."""
        self._tx = tx
        self._space = space
        self._limits = limits
        self._scope = scope
        self.now = now
        self._held = held

    def standing(self, goal: str) -> list[BriefLine]:
        """How the user wants to be answered: by the memories that say it, and else by the messages."""
        question = _question((word, 1.0) for word in topic(Serving).standing_words)
        why = "it holds whatever is asked"
        rules = [
            each for each, _ in self._memories(question, None) if _rules(each) and rules_here(each.text, goal, self.now)
        ]
        rules = sorted(rules, key=lambda each: each.at, reverse=True)[:MOST_STANDING]
        said = {
            hit.id: Quoted.of(hit, Served(score=1.0, why=why), [one])
            for hit, _ in self._messages(question, None)
            if (one := next(filter(is_standing, telling(hit.text)), "")) and rules_here(hit.text, goal, self.now)
        }
        kept, quoted = self._in_own_words(rules, lambda each: Served(score=1.0, why=why))
        said.update((each.id, each) for each in quoted)
        newest = sorted(said.values(), key=lambda each: (-each.when, each.id))
        lines = [_memory_line(each, why, self.now) for each in kept]
        return [*lines, *self._unsaid(newest, kept)][:MOST_STANDING]

    def serving(
        self, purpose: Purpose, near: Nearness | None, kinds: Collection[Kind]
    ) -> tuple[list[BriefCandidate], list[BriefLine]]:
        """The memories of some kinds that serve a goal, and the messages that say what no memory does."""
        found = dict(self._about_whom(purpose))
        question = _question(purpose.wanted())
        for kind in kinds:
            # Of many of one kind none of another is crowded out.
            found.update({each.id: (each, nearness) for each, nearness in self._memories(question, near, kind)})
        common = self._common(purpose)
        served = [
            BriefCandidate(record=record, score=one.score * worth(record, self.now), why=one.why)
            for record, nearness in found.values()
            if record.kind in kinds and (one := self._serves(purpose, record, common, nearness))
        ]
        served.sort(key=lambda each: (-each.score, -each.record.at.timestamp(), each.record.id))
        best = [one for kind in kinds for one in [each for each in served if each.record.kind == kind][: MOST[kind]]]
        why = {each.record.id: Served(score=each.score, why=each.why) for each in best}
        kept, quoted = self._in_own_words([each.record for each in best], lambda each: why[each.id])
        said = {each.id: each for each in [*quoted, *self._said_of(purpose, question, near)]}
        ranked = sorted(said.values(), key=lambda each: (-each.served.score, -each.when, each.id))
        return [each for each in best if each.record in kept], self._unsaid(ranked, kept)[:MOST_MESSAGES]

    def _in_own_words(
        self, records: Sequence[Record], served: Callable[[Record], Served]
    ) -> tuple[list[Record], list[Quoted]]:
        """The memories that say it best themselves, and the messages that say it better than the others.

        What fills no slot is a piece of what was said: the user's own words, with what stood around them, tell more.
        """
        kept: list[Record] = []
        quoted: list[Quoted] = []
        for record in records:
            said = None if record.attribute not in ("", *MANNER) or record.origin != "user" else self._source(record)
            if said is None:
                kept.append(record)
            else:
                quoted.append(Quoted.of(said, served(record), list(sentences(said.text, small_opens=True))))
        return kept, quoted

    def _source(self, record: Record) -> RecallHit | None:
        """The one short message of the user's that a memory was read from; None where there is none."""
        pieces = supporting(record)
        if (
            self._limits.project is not None
            or len(pieces) != 1
            or len(pieces[0].messages) != 1
            or not pieces[0].session
        ):
            return None
        for message in self._tx.log.find(SessionKey(self._space, pieces[0].session), pieces[0].messages):
            if message.role == "user" and not message.erased and len(message.draft.text) <= LONGEST_QUOTED:
                draft = message.draft
                return RecallHit(
                    id=message.id, kind="message", text=draft.text, score=0.0, at=draft.at, author=draft.author
                )
        return None

    def _serves(self, purpose: Purpose, record: Record, common: frozenset[str], nearness: float) -> Served | None:
        names = (record.subject, record.attribute, record.value, record.name, record.task_type)
        more = " ".join(each for each in names if each.casefold() not in SPEAKERS and each not in record.text)
        of_others = record.subject.casefold() not in SPEAKERS
        return purpose.serves(f"{record.text} {more}", common=common, of_others=of_others, nearness=nearness)

    def _said_of(self, purpose: Purpose, question: Question, near: Nearness | None) -> Iterator[Quoted]:
        """The messages that serve a goal; what was taken back since stands for what it takes back."""
        own = frozenset(terms(purpose.text))
        hits = [
            each for each in self._messages(question, near) if likeness(own, frozenset(terms(each[0].text))) < THE_GOAL
        ]
        for hit, nearness in hits:
            served = [(one, each) for each in telling(hit.text) if (one := purpose.serves(each, nearness=nearness))]
            if served:
                best = max(served, key=lambda each: each[0].score)[0]
                later = self._newest([one for one, _ in hits if takes_back(one.text, hit.text, purpose.areas)], hit)
                yield Quoted.of(later or hit, best, telling(later.text) if later else [each for _, each in served])

    def _newest(self, hits: Sequence[RecallHit], than: RecallHit) -> RecallHit | None:
        """The last of those that were said after another one."""
        after = [each for each in hits if each.at and than.at and each.at > than.at and telling(each.text)]
        return max(after, key=lambda each: (each.at or self.now, each.id), default=None)

    def _unsaid(self, found: Sequence[Quoted], shown: Collection[Record]) -> list[BriefLine]:
        """Quotations of messages, without what the memories that are shown say, and what holds no longer."""
        out = []
        names = {each.id for each in shown}
        citing = self._citing([each.id for each in found])
        for each in found:
            learned = citing.get(each.id, ())
            over = [frozenset(terms(one.text)) for one in learned if not KINDS[one.kind].holds(one, self.now)]
            told = [frozenset(terms(one.text)) for one in learned if one.id in names]
            left = [
                sentence
                for sentence in each.said
                if not any(_share(words, sentence) >= SAID_AGAIN for words in over)
                and not any(_share(frozenset(terms(sentence)), words) >= SAID_AGAIN for words in told)
            ]
            if left:
                out.append(each.line(left, whole=not over))
        return out

    def _about_whom(self, purpose: Purpose) -> Iterator[tuple[MemoryId, tuple[Record, float]]]:
        """What is known of those whom the goal names, who are named in it from now on."""
        for word in list(purpose.words.values())[:MOST_NAMES]:
            about = self._tx.memories.list(self._space, MemoryFilter(subject=word, archived=False), MOST_OF_ONE)
            for record in self._scope.seen(about):
                if record is not None and KINDS[record.kind].holds(record, self.now):
                    purpose.name(record.subject, f"it is about {record.subject}")
                    yield record.id, (record, 0.0)

    def _citing(self, messages: Sequence[str]) -> Mapping[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        cited = self._scope.seen(self._tx.memories.citing(self._space, messages)) if messages else ()
        for record in filter(None, cited):
            for source in record.sources:
                found.setdefault(source, []).append(record)
        return found

    def _memories(
        self, question: Question, near: Nearness | None, kind: Kind | None = None
    ) -> Iterator[tuple[Record, float]]:
        """The memories that have words of the question, or are near to it, with how near."""
        index = MemoryIndex(RecallQuery(text="brief", kind=kind, project=self._limits.project), self.now, self._scope)
        found = by_words(self._tx.search, self._space, index, question, looked_at=LOOKED_AT_FOR_SOME)
        cosines = self._cosines(index, near)
        added = near.support(cosines) if near and cosines else {}
        for hit in [*(each.read.recalled for each in found), *(each for each, _ in cosines.values())]:
            record = hit.record
            if record is not None and record.state in SHOWN.get(record.kind, ("active",)):
                yield record, added.get(hit.id, 0.0)

    def _messages(self, question: Question, near: Nearness | None) -> Iterator[tuple[RecallHit, float]]:
        """The same of what the user said; nothing within a project, where logs hold orders that were carried out."""
        if self._limits.project is not None:
            return
        index = MessageIndex(RecallQuery(text="brief", project=self._limits.project), self._scope)
        found = by_words(self._tx.search, self._space, index, question)
        cosines = self._cosines(index, near)
        added = near.support(cosines) if near and cosines else {}
        hits = {hit.id: hit for hit in (each.read.recalled for each in found)}
        hits.update((name, hit) for name, (hit, _) in cosines.items())
        for hit in hits.values():
            if hit.role == "user":
                yield hit, added.get(hit.id, 0.0)

    def _cosines(self, index: MemoryIndex | MessageIndex, near: Nearness | None) -> dict[str, tuple[RecallHit, float]]:
        if near is None:
            return {}
        found = by_meaning(self._tx, self._space, index, near.query, self._held, looked_at=LOOKED_AT_FOR_SOME)
        return {each.read.recalled.id: (each.read.recalled, each.relevance) for each in found}

    def _common(self, purpose: Purpose) -> frozenset[str]:
        """The words of a goal that so many memories have that they tell nothing."""
        most = max(FEW, COMMON * self._tx.search.size(self._space, "memories").documents)
        counts = self._tx.search.count(self._space, "memories", list(purpose.words), int(most))
        return frozenset(term for term, count in counts.items() if count > most)


def _question(words: Iterable[tuple[str, float]]) -> Question:
    weights = {stem: weight for word, weight in words for stem in terms(word)}
    return Question(terms=tuple(weights.items()))


def _rules(record: Record) -> bool:
    if record.origin != "user":
        # How the user wants to be answered, nobody else says.
        return False
    if record.attribute in MANNER and not any(each.messages for each in record.evidence):
        return True
    return not record.cue and record.kind in ("semantic", "procedural") and is_standing(record.text)


def _share(words: frozenset[str], other: str | frozenset[str]) -> float:
    """The share of `words` that another text has as well."""
    beside = frozenset(terms(other)) if isinstance(other, str) else other
    return len(words & beside) / len(words) if words else 0.0


def _memory_line(record: Record, why: str, now: datetime) -> BriefLine:
    return BriefLine(id=record.id, kind=record.kind, text=line_of(record, now), score=1.0, why=why)
