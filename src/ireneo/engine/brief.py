"""Compose the brief of a turn: memories of all kinds that serve it, and a project's lessons. No model is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from math import sqrt
from statistics import fmean, pstdev

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.check import observations_by_cue
from ireneo.engine.named import record_use
from ireneo.engine.resources import Resources
from ireneo.engine.scope import KIND_NAMES, RecallQuery, Scope, ScopeLimits, check_pad, same_repository
from ireneo.engine.searching import (
    LOOKED_AT,
    LOOKED_AT_FOR_SOME,
    SPEAKERS,
    MemoryIndex,
    MessageIndex,
    QueryVector,
    VectorCache,
    search_by_meaning,
    search_by_words,
    vectors_of,
)
from ireneo.errors import BadInput, EmbedderError, MemoryNotFound, SessionNotFound, StoreError
from ireneo.language.files import topic
from ireneo.language.topics import Serving
from ireneo.language.words import terms
from ireneo.lessons.findings import PASSES
from ireneo.lessons.lessons import (
    applies,
    cues_to_read,
    expected_cost,
    projects_of,
    seen_counts,
    success_rate,
    told_and_kept,
)
from ireneo.lessons.relevance import RELATED, Goal, content_of
from ireneo.lessons.rulings import generality_rank, is_about_all_work
from ireneo.lessons.run import Observation, Trigger, is_ruling
from ireneo.lessons.told_failures import remarks
from ireneo.log.calls import entered_text, quote_instructions
from ireneo.log.message import MessageId
from ireneo.log.tree import MAIN, SessionKey
from ireneo.memories.brief import LEAST_BUDGET, Brief, BriefCandidate, BriefLine, line_of, make_brief
from ireneo.memories.cues import relations
from ireneo.memories.facts import MANNER, attribute_of
from ireneo.memories.index import Vector
from ireneo.memories.kinds import KINDS, score_factor
from ireneo.memories.lasting import is_only_old
from ireneo.memories.mentions import names_in_text, names_meant, relations_in
from ireneo.memories.ranking import Question, RecallHit, likeness
from ireneo.memories.record import Kind, MemoryId, Record, format_day, is_confirmed_by_user, one_line, slot
from ireneo.memories.scratchpad import check_task
from ireneo.memories.serving import (
    AREA,
    COMMON,
    FAR,
    FEW,
    MORE,
    SERVES,
    SHARED,
    UNRELATED,
    Purpose,
    Relevance,
    earnest_sentences,
    goes_on_about,
    informative_sentences,
    is_standing_rule,
    matters_for,
    routine_words,
)
from ireneo.memories.signature import action_of, action_signature
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re
from ireneo.ports.memories import IndexName, MemoryFilter
from ireneo.ports.models import Embedder
from ireneo.ports.store import Transaction

A_RULING = 1_000_000.0
"""The score of a ruling of several runs, compared with the costs of failures: these come first."""
MOST_GENERAL = 3
"""How many rulings of several runs are shown whatever the goal is."""
MOST_OF_WORK = 3
"""How many rulings about all work, such as its commits, are shown whatever the goal is."""
MOST_CONCERNING = 12
"""How many lessons are shown for one goal."""
MOST_RUNS = 300
"""How many of the latest runs have their goals compared with the current one."""
LEAST_SHARE = 0.5
"""A procedure that helps less often than this is not recommended."""


def opening_lessons(
    records: Sequence[Record],
    observations: Mapping[str, Sequence[Observation]],
    now: datetime,
    here: Collection[str],
    goal: Goal | None = None,
) -> list[BriefLine]:
    """The lessons for a run of the project with the names `here`, ordered by what each lesson is expected to save.

    With a `goal` only the lessons that concern it, and general rulings. `observations` must contain those of the cues
    that `cues_to_read` returns for the lessons.
    """
    lines: list[BriefLine] = []
    applying = [each for each in records if each.holds and each.cue and applies(projects_of(each), here)]
    checks = [each for each in applying if each.cue.startswith(PASSES)]  # All work ends with them.
    always = {each.id for each in (*general_rulings(applying), *checks)}
    for record in applying:
        seen = [each for cue in cues_to_read(record.cue) for each in observations.get(cue, ())]
        share = success_rate(seen)
        if not KINDS[record.kind].costs_each_time and share < LEAST_SHARE and not is_confirmed_by_user(record):
            continue
        own = [each for each in seen if each.cue == record.cue]
        concerns = 1.0 if goal is None or record.id in always else _relevance(goal, record, own)
        if concerns < RELATED:
            continue
        cost = expected_cost(own, now, here) * concerns
        if not KINDS[record.kind].costs_each_time:
            cost *= share
        if is_ruling(record.cue):
            # What was said once may concern its task only: without a goal that it concerns it comes last.
            first = record.runs > 1 or is_confirmed_by_user(record) or goal is not None
            cost = cost + A_RULING if first else generality_rank(record.text)
        why = seen_counts(seen).in_words
        lines.append(BriefLine(id=record.id, kind=record.kind, text=record.text, score=round(cost, 3), why=why))
    lines.sort(key=lambda each: (-each.score, each.id))
    return lines if goal is None else lines[:MOST_CONCERNING]


def general_rulings(records: Sequence[Record]) -> list[Record]:
    """The few rulings that apply whatever the goal is.

    These are those that the user kept, those of several runs, and those about what all work includes.
    """
    ruled = [each for each in records if is_ruling(each.cue)]
    ruled.sort(key=lambda each: (not is_confirmed_by_user(each), -each.runs, -generality_rank(each.text), each.id))
    general = [each for each in ruled if is_confirmed_by_user(each) or each.runs > 1][:MOST_GENERAL]
    of_work = [each for each in ruled if each not in general and is_about_all_work(each.text)]
    return general + of_work[:MOST_OF_WORK]


def _relevance(goal: Goal, record: Record, own: Sequence[Observation]) -> float:
    if _names_call(goal, record, own):
        return 1.0
    content = content_of(record.text)
    concerns = goal.relevance(content)
    # Missing a user's ruling costs more than reading a useless one, so one common word is enough.
    return max(concerns, RELATED) if is_ruling(record.cue) and goal.shares_specific_word(record.text) else concerns


BUDGET = 1_500
OF_EACH = 20
"""Procedures considered for a brief."""
READ = 2_000
"""The maximum number of failures or lessons that are read."""
SHELL = "bash"
"""The tool assumed for an action that names none."""


class BriefCue(ScopeLimits, frozen=True, kw_only=True):
    """The subject of a turn."""

    goal: str = ""
    task_type: str = ""
    situation: str = ""
    about_to: str = ""
    """The next action: a command, or a tool, a colon and its arguments."""


async def brief(
    resources: Resources, space: str, held: VectorCache, cue: BriefCue, task: str | None, budget: int
) -> Brief:
    """Compose a brief of at most `budget` tokens and mark what it shows as used.

    If the store can't be written to, only the mark is lost, and `unmarked` says why. Raises BadInput.
    """
    if budget < LEAST_BUDGET:
        raise BadInput(f"A brief of {budget:,} tokens has room for nothing; give at least {LEAST_BUDGET}.")
    name = None if task is None else check_task(task)
    now = resources.clock.now()

    texts, note = {cue.goal, cue.situation, cue.about_to}, ""
    try:
        asked = await goal_similarities(resources.embedder, texts)
    except EmbedderError as error:
        asked, note = dict.fromkeys(texts), f"Only words were compared: {error}"

    def compose(tx: Transaction) -> Brief:
        pad = tx.pads.read(space, name) if name else None
        if name:
            check_pad(tx, space, name, pad, cue.project)
        if cue.session is not None and tx.sessions.get(SessionKey(space, cue.session)) is None:
            raise SessionNotFound.named(cue.session, space)
        search = BriefSearch(Scope(tx, space, cue), cue, now, held)
        found, said = _candidates(search, cue, asked)
        found = [replace(each, record=_quote_instructions(each.record)) for each in found]
        lessons = _opening_lessons(search.scope, cue, now) if cue.project else []
        told = [f" {' '.join(_WORDS.findall(each.text.lower()))} " for each in lessons]
        found = [each for each in found if not _is_in_lessons(each.record.text, told)]
        said = [each for each in said if not _is_in_lessons(each.text, told)]
        return make_brief(pad, found, now, budget, resources.count, lessons, search.answer_rules(cue.goal), said)

    try:
        made = await resources.store.read(compose)
    except EmbedderError as error:
        # The stored vectors are of another embedder.
        asked, note = dict.fromkeys(texts), f"Only words were compared: {error}"
        made = await resources.store.read(compose)
    made = replace(made, note=note)
    shown = [line.id for line in made.lines if line.kind != "message"]
    if not shown:
        return made
    try:
        await resources.store.write(record_use, resources, space, shown)
    except (StoreError, MemoryNotFound) as error:
        # The brief is valid without the mark; another process may have erased one of the memories since.
        return replace(made, unmarked=str(error))
    return made


def _is_in_lessons(text: str, lessons: Sequence[str]) -> bool:
    """Whether a shown lesson contains a quotation, except perhaps for words at its beginning."""
    quoted = _QUOTED.search(text)
    words = _WORDS.findall(quoted[1].lower()) if quoted else []
    heads = range(min(_LEAD, len(words) - _LEAST_TOLD) + 1)
    return any(f" {' '.join(words[at:])} " in each for at in heads for each in lessons)


_QUOTED = lazy_re(r"“([^“”]{1,400})”")
_WORDS = lazy_re(r"[\w'’-]+")
_LEAD, _LEAST_TOLD = 3, 3


def _quote_instructions(record: Record) -> Record:
    """Mark instructions in a memory's words as quoted, unless they are the user's."""
    return record if record.origin == "user" else replace(record, text=quote_instructions(record.text))


def _candidates(
    search: BriefSearch, cue: BriefCue, asked: Mapping[str, GoalSimilarity | None]
) -> tuple[list[BriefCandidate], list[BriefLine]]:
    """Memories that serve the goal, the situation and the next action; and messages of the user that add to them."""
    out = _procedures(search, cue.task_type) if cue.task_type.strip() else []
    said: list[BriefLine] = []
    looks: tuple[tuple[str, tuple[Kind, ...]], ...] = (
        (cue.goal, KIND_NAMES),
        (cue.situation, ("episodic",)),
        (cue.about_to, ("failure",)),
    )
    for text, kinds in looks:
        if text.strip():
            found, words = search.relevant_to(Purpose(text), asked[text], kinds)
            said += words if kinds == KIND_NAMES else []
            # Lessons of a project are selected by `_opening_lessons`.
            out += [each for each in found if not (cue.project and each.record.cue)]
    if cue.about_to.strip():
        out += _failures(search, cue.about_to)
    return out, said


def _opening_lessons(scope: Scope, cue: BriefCue, now: datetime) -> list[BriefLine]:
    """The lessons of a project, only those that concern the goal if there is one."""
    tx, space = scope.tx, scope.space
    here = same_repository(tx, space, cue.project or "")
    wanted = MemoryFilter(states=("active",), lessons=True, archived=False)
    listed = tx.memories.list(space, wanted, READ)
    # A lesson of one project does not apply to another, however well it reads.
    records = scope.visible([each for each in listed if each.cue and applies(projects_of(each), here)])
    observed = observations_by_cue(tx, space, (name for each in records for name in cues_to_read(each.cue)))
    told, kept = told_and_kept(records, observed)
    goal = None
    if cue.goal.strip():
        runs = [each for each in tx.runs.list(space, MOST_RUNS) if each.project in here]
        goal = Goal(cue.goal, runs, [content_of(each.text) for each in told])
        told += [each for each in kept if _names_call(goal, each, observed.get(each.cue, ()))]
    return opening_lessons(told, observed, now, here, goal)


def _names_call(goal: Goal, record: Record, own: Sequence[Observation]) -> bool:
    """Whether a goal names the call that a lesson warns of, or the file or program that it is about."""
    about = [Trigger(command=each.command, path=each.path) for each in remarks(record, ())]
    return any(map(goal.names_call, [*about, *(each.trigger for each in own if each.trigger is not None)]))


def _procedures(search: BriefSearch, task_type: str) -> list[BriefCandidate]:
    """The procedures of exactly this task type, since procedures are never searched by similarity."""
    # From this project, another version may be the active one.
    every = search.records(MemoryFilter(kind="procedural", task_type=task_type, archived=False))
    listed = [each for each in search.scope.visible(every) if each.state == "active"]
    ranked = sorted(listed, key=lambda each: -score_factor(each, search.now))[:OF_EACH]
    return [
        BriefCandidate(record=each, score=score_factor(each, search.now), why=f"the task type is {each.task_type}")
        for each in ranked
    ]


def _failures(search: BriefSearch, about_to: str) -> list[BriefCandidate]:
    """The failures of the same action, however the action is written."""
    meant = action_signatures(about_to)
    listed = search.records(MemoryFilter(kind="failure", states=("active",), archived=False), READ)
    alike = [each for each in listed if (action_of(each.signature) or each.signature) in meant]
    same = [each for each in search.scope.visible(alike) if each.state == "active"]
    why = "the same action failed before"
    return [BriefCandidate(record=each, score=10 * score_factor(each, search.now), why=why) for each in same]


def action_signatures(about_to: str) -> set[str]:
    """The signatures that an action may have: as a command, and as a tool with its arguments."""
    text = about_to.strip()
    tool, colon, given = text.partition(":")
    named = {action_signature(tool, given.strip())} if colon and given.strip() and len(tool.split()) == 1 else set()
    return {text, action_signature(SHELL, text), *named}


MOST_MESSAGES, MOST_BESIDE = 5, 2
"""How many messages are quoted, and how many of them that share no word with the goal."""
MOST_STANDING = 8
GOES_ON = 4
"""How many messages after one about somebody a pronoun may still mean them."""
FOR_ANSWERS = frozenset({MANNER, "called"})
"""Attributes that say how the user wants to be answered."""
SAID_AGAIN = 0.5
"""A text repeats another one if this share of the shorter one's words is in both."""
THE_GOAL = 0.7
"""A message this similar to the goal is the goal itself."""
LONGEST_QUOTED = 260
"""Characters of a quotation."""
LEAST_DEVIATION = 0.03
_UNQUOTED = {ord(mark): " " for mark in "“”„"}


class GoalSimilarity(Struct, frozen=True, kw_only=True):
    """The vector of a goal, and how similar to it unrelated texts are."""

    query: QueryVector
    least: float
    """The cosine below which a text is no nearer to the goal than unrelated ones."""


async def goal_similarities(embedder: Embedder | None, goals: Set[str]) -> dict[str, GoalSimilarity | None]:
    """Embed goals together; None for empty ones and without an embedder, so that words alone decide.

    Raises EmbedderError.
    """
    found: dict[str, GoalSimilarity | None] = dict.fromkeys(goals)
    given = sorted(goal for goal in goals if goal.strip())
    if embedder is None or not given:
        return found
    vectors = await vectors_of(embedder, [*given, *UNRELATED], query=True)
    for goal, vector in zip(given, vectors, strict=False):
        far = [_cosine(vector, each) for each in vectors[len(given) :]]
        query = QueryVector(embedder=embedder.name, vector=vector)
        found[goal] = GoalSimilarity(query=query, least=fmean(far) + FAR * max(pstdev(far), LEAST_DEVIATION))
    return found


def _cosine(one: Vector, other: Vector) -> float:
    left, right = memoryview(one).cast("b"), memoryview(other).cast("b")
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / (sqrt(sum(a * a for a in left) * sum(b * b for b in right)) or 1.0)


class Quotation(Struct, frozen=True, kw_only=True):
    """A message that may be quoted, with those of its sentences that serve."""

    hit: RecallHit
    served: Relevance
    said: Sequence[str]

    @property
    def when(self) -> float:
        """When it was said, for sorting."""
        return self.hit.at.timestamp() if self.hit.at else 0.0

    def line(self, said: Sequence[str], *, whole: bool) -> BriefLine:
        """The brief's line: all of a short message if `whole`, else the sentences `said`."""
        text = one_line(self.hit.text if whole and len(self.hit.text) <= LONGEST_QUOTED else " … ".join(said))
        text = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1].rstrip()}…"
        who = f"{self.hit.author}: " if self.hit.author and not text.startswith(self.hit.author) else ""
        when = f" ({format_day(self.hit.at)})" if self.hit.at else ""
        return BriefLine(
            id=MessageId(self.hit.id),
            kind="message",
            text=f"{who}“{text}”{when}",
            score=round(self.served.score, 4),
            why=self.served.why,
        )


class BriefSearch:
    """Searches for what serves a brief, within one transaction."""

    def __init__(self, scope: Scope, limits: ScopeLimits, now: datetime, held: VectorCache) -> None:
        self.scope = scope
        self.now = now
        self._limits = limits
        self._held = held

    def records(self, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        """The memories of the space that match a filter, visible or not."""
        return self.scope.tx.memories.list(self.scope.space, wanted, limit)

    def answer_rules(self, goal: str) -> list[BriefLine]:
        """How the user wants to be answered, as far as that matters for a goal: in texts to send, or in answers."""
        question = _question((term, 1.0) for word in topic(Serving).standing_words for term in terms(word))
        why = "it holds whatever is asked"
        rules = [
            each
            for each, _ in self._memories(question, None)
            if _is_answer_rule(each) and matters_for(_wish(each), goal)
        ]
        rules = sorted(rules, key=lambda each: each.at, reverse=True)[:MOST_STANDING]
        return [
            BriefLine(id=each.id, kind=each.kind, text=line_of(each, self.now), score=1.0, why=why) for each in rules
        ]

    def relevant_to(
        self, purpose: Purpose, near: GoalSimilarity | None, kinds: Collection[Kind]
    ) -> tuple[list[BriefCandidate], list[BriefLine]]:
        """The memories of some kinds that serve a goal, and the messages that say what no memory does."""
        purpose.meet(self._people(purpose.text), [each.value for each in self._facts_of_user("name")])
        found = dict(self._in_slots(purpose))
        question = _question(purpose.search_terms())
        for kind in kinds:
            # One search per kind, so that no kind crowds out another.
            found.update({each.id: (each, far) for each, far in self._memories(question, near, kind)})
        common = self._common_words(purpose, "memories")
        served = [
            BriefCandidate(record=record, score=one.score * score_factor(record, self.now), why=one.why)
            for record, far in found.values()
            if record.kind in kinds and (one := self._relevance_of(purpose, record, common, far))
        ]
        served.sort(key=lambda each: (-each.score, -each.record.at.timestamp(), each.record.id))
        # Two slots may be filled by one quotation.
        once: dict[str, BriefCandidate] = {}
        for each in served:
            once.setdefault(each.record.text, each)
        best = [
            one for kind in kinds for one in [e for e in once.values() if e.record.kind == kind][: KINDS[kind].most]
        ]
        said = sorted(
            self._quotations_for(purpose, question, near),
            key=lambda each: (-each.served.score, not each.served.limits, -each.when, each.hit.id),
        )
        told = self._without_known(said, [each.record for each in best])
        beside = [each for each in told if each.score < SHARED]
        return best, [each for each in told if each not in beside[MOST_BESIDE:]][:MOST_MESSAGES]

    def _relevance_of(self, purpose: Purpose, record: Record, common: frozenset[str], far: bool) -> Relevance | None:
        names = (record.subject, record.attribute, record.value, record.name, record.task_type)
        more = " ".join(each for each in names if each.casefold() not in SPEAKERS and each not in record.text)
        of_others = record.subject.casefold() not in {*SPEAKERS, *purpose.people}
        if not of_others and record.attribute == "name":
            # A goal that names the user needs no line about the name.
            return None
        routine = self._routine_words(record)
        if routine and not (purpose.words.keys() - routine) & frozenset(terms(record.text)):
            return None
        said = record.text.translate(_UNQUOTED) if record.attribute else record.text
        served = purpose.relevance(f"{said} {more}", common=common | routine, of_others=of_others, far=far)
        if served is None and not of_others and attribute_of(record.attribute) in purpose.slots - FOR_ANSWERS:
            return Relevance(score=SERVES, why=f"the goal asks for it: {record.attribute}")
        return served

    def _quotations_for(self, purpose: Purpose, question: Question, near: GoalSimilarity | None) -> Iterator[Quotation]:
        """The messages that serve a goal."""
        own = frozenset(terms(purpose.text))
        common = self._common_words(purpose, "messages")
        found = {
            hit.id: (hit, far)
            for hit, far in self._messages(question, near)
            if likeness(own, frozenset(terms(hit.text))) < THE_GOAL
        }
        following = {each.id: (each, text) for hit, _ in found.values() for each, text in self._going_on(hit, purpose)}
        for hit, far in ({each.id: (each, False) for each, _ in following.values()} | found).values():
            before = following[hit.id][1] if hit.id in following else ""
            told = informative_sentences(hit.text) if before else earnest_sentences(hit.text)
            said = [
                (purpose.relevance(each, common=common, far=far, before=before + hit.text[: hit.text.find(each)]), each)
                for each in told
            ]
            served = [(one, each) for one, each in said if one]
            asks = None if served else purpose.relevance(hit.text, common=common, far=far)
            if asks and asks.score >= AREA + MORE and len(hit.text) <= LONGEST_QUOTED:
                # What stands beside a request about the same thing.
                served = [(asks, each) for each in told]
            if served:
                best = max(served, key=lambda each: each[0].score)[0]
                yield Quotation(hit=hit, served=best, said=[each for _, each in served])

    def _going_on(self, hit: RecallHit, purpose: Purpose) -> Iterator[tuple[RecallHit, str]]:
        """What users said right after a message about somebody whom the goal names: "She comes on Friday"."""
        if not purpose.is_about(hit.text):
            return
        key = SessionKey(self.scope.space, hit.session)
        head = self.scope.tx.sessions.branches(key).get(MAIN)
        for message in self.scope.tx.log.find(key, [hit.id]):
            first = message.position
            path = self.scope.tx.log.path(key, head.id, first, first + GOES_ON) if head else ()
            for each in path[1:] if path and path[0].id == message.id else ():
                if each.role == "user" and goes_on_about(each.text):
                    told = RecallHit(id=each.id, kind="message", text=each.text, score=0.0, at=each.draft.at)
                    yield replace(told, session=hit.session, role="user"), f"{hit.text} "

    def _without_known(self, found: Sequence[Quotation], shown: Collection[Record]) -> list[BriefLine]:
        """Drop sentences from quotations that a shown memory says, or that are no longer true."""
        out = []
        names = {each.id for each in shown}
        citing = self._citing([each.hit.id for each in found])
        for each in found:
            learned = citing.get(each.hit.id, ())
            over = [one for one in learned if not KINDS[one.kind].holds(one, self.now)]
            # What only became old may still be so; it is told with its date.
            over = [one for one in over if not is_only_old(one)]
            again = [frozenset(terms(one.text)) for one in learned if one.id in names]
            left = [sentence for sentence in each.said if not any(_says_again(sentence, words) for words in again)]
            for one in over:
                # What ended a memory of several sentences may speak of one of them alone.
                ended = [said for said in left if _says_again(said, frozenset(terms(one.text)))]
                about = [
                    said for said in ended if not distinctive_words(said).isdisjoint(distinctive_words(one.reason))
                ]
                left = [said for said in left if said not in (about or ended)]
            if left:
                out.append(each.line(left, whole=not over))
        return out

    def _people(self, text: str) -> list[str]:
        """The names of the people whom a goal names, or calls by their relation to the user."""
        known = [each for code in sorted({*relations().values()}) for each in self._facts_of_user(code)]
        named = [each.value for each in known if each.value[:1].isupper() and names_in_text(each.value, text)]
        return [*named, *(name for phrase, _ in relations_in(text) for name in names_meant(phrase, known))]

    def _in_slots(self, purpose: Purpose) -> Iterator[tuple[MemoryId, tuple[Record, bool]]]:
        """The facts about the user in the slots that the goal asks for."""
        for attribute in sorted(purpose.slots - FOR_ANSWERS):
            for record in self._facts_of_user(attribute):
                yield record.id, (record, False)

    def _facts_of_user(self, attribute: str) -> Iterator[Record]:
        for record in self.scope.visible(
            self.scope.tx.memories.of_key(self.scope.space, "semantic", slot("user", attribute))
        ):
            if KINDS[record.kind].holds(record, self.now):
                yield record

    def _citing(self, messages: Sequence[str]) -> Mapping[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        cited = self.scope.visible(self.scope.tx.memories.citing(self.scope.space, messages)) if messages else ()
        for record in cited:
            for source in record.sources:
                found.setdefault(source, []).append(record)
        return found

    def _memories(
        self, question: Question, near: GoalSimilarity | None, kind: Kind | None = None
    ) -> Iterator[tuple[Record, bool]]:
        """The memories that share words with the question or are near to it, each with whether it is far from it."""
        asked = RecallQuery(text="brief", kind=kind, project=self._limits.project)
        index = MemoryIndex(asked, self.now, self.scope)
        for hit, far in self._hits(index, question, near, looked_at=LOOKED_AT_FOR_SOME):
            record = hit.record
            if record is not None and record.state in KINDS[record.kind].shown:
                yield record, far

    def _messages(self, question: Question, near: GoalSimilarity | None) -> Iterator[tuple[RecallHit, bool]]:
        """Search the user's messages; within a project not those of agents' runs, whose orders were carried out."""
        index = MessageIndex(RecallQuery(text="brief"), self.scope)
        found = [each for each in self._hits(index, question, near, looked_at=LOOKED_AT) if each[0].role == "user"]
        sessions = sorted({hit.session for hit, _ in found}) if self._limits.project is not None else []
        runs = {each.session for each in self.scope.tx.runs.get(self.scope.space, sessions) if each.calls}
        for hit, far in found:
            if hit.session not in runs and (text := entered_text(hit.text)):
                yield replace(hit, text=text), far

    def _hits(
        self, index: MemoryIndex | MessageIndex, question: Question, near: GoalSimilarity | None, *, looked_at: int
    ) -> Iterator[tuple[RecallHit, bool]]:
        hits = {each.hit.id: each.hit for each in search_by_words(index, question, looked_at=looked_at)}
        if near is None:
            yield from ((hit, False) for hit in hits.values())
            return
        meant, _ = search_by_meaning(index, near.query, self._held, looked_at=LOOKED_AT_FOR_SOME)
        hits.update((each.hit.id, each.hit) for each in meant)
        held = self._held.count(self.scope.space, index.name, near.query.embedder)
        has_all = held >= self.scope.tx.search.size(self.scope.space, index.name).documents
        cosines = {each.hit.id: each.relevance for each in meant}
        for hit in hits.values():
            # A text without a vector may be near.
            yield hit, cosines.get(hit.id, 0.0 if has_all else near.least) < near.least

    def _routine_words(self, record: Record) -> frozenset[str]:
        """Words that say nothing about the subject of a run in a project, such as that it committed or ran tests."""
        return routine_words() if self._limits.project and not KINDS[record.kind].lasts else frozenset()

    def _common_words(self, purpose: Purpose, index: IndexName) -> frozenset[str]:
        """The words of a goal that too many memories or messages contain to be informative."""
        most = max(FEW, COMMON[index] * self.scope.tx.search.size(self.scope.space, index).documents)
        counts = self.scope.tx.search.count(self.scope.space, index, list(purpose.words), int(most))
        return frozenset(term for term, count in counts.items() if count > most)


def _question(weights: Iterable[tuple[str, float]]) -> Question:
    """A question for terms, each once: stemming a term again may remove another ending."""
    return Question(terms=tuple(dict(weights).items()))


def _is_answer_rule(record: Record) -> bool:
    if record.origin != "user":
        # Only the user says how the user wants to be answered.
        return False
    said = KINDS[record.kind].lasts and is_standing_rule(record.text)
    return record.attribute in FOR_ANSWERS or (said and not record.cue)


def _wish(record: Record) -> str:
    """The words of a rule for answers, without the frame of a quotation."""
    return record.value if record.attribute in FOR_ANSWERS else record.text


def _says_again(sentence: str, words: frozenset[str]) -> bool:
    """Whether a sentence has half of the words of another text, or half of its own in it."""
    said, words = frozenset(terms(sentence)), words - frozenset(terms(" ".join(SPEAKERS)))
    return len(said & words) >= SAID_AGAIN * max(1, min(len(said), len(words)))
