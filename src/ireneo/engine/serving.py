"""Find what serves a goal among the memories and the messages of a space, and what holds whatever the goal is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import sqrt
from statistics import fmean, pstdev

from msgspec import Struct

from ireneo.engine.recall import LOOKED_AT_FOR_SOME, MemoryIndex, MessageIndex, QueryVector, by_meaning, by_words
from ireneo.engine.scope import RecallQuery, Scope, ScopeLimits
from ireneo.engine.vectors import HeldVectors, vectors_of
from ireneo.errors import EmbedderError
from ireneo.language.files import topic
from ireneo.language.topics import Serving
from ireneo.language.words import terms
from ireneo.log.message import MessageId
from ireneo.memories.brief import BriefCandidate, BriefLine, line_of
from ireneo.memories.index import Vector
from ireneo.memories.kinds import KINDS, worth
from ireneo.memories.ranking import Question, RecallHit, likeness
from ireneo.memories.record import Kind, MemoryId, Record, State
from ireneo.memories.serving import COMMON, FEW, UNRELATED, Purpose, Served, is_standing, rules_here, support, telling
from ireneo.memories.wording import day, one_line
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import Embedder
from ireneo.ports.store import Transaction

MOST: Mapping[Kind, int] = {"semantic": 8, "procedural": 4, "episodic": 4, "failure": 4}
"""Memories of each kind that are told of a goal, the best."""
MOST_MESSAGES = 5
MOST_STANDING = 4
SHOWN: dict[Kind, tuple[State, ...]] = {"semantic": ("active", "disputed")}
"""The states in which memories are shown, where it is not only the active ones."""
MANNER = frozenset({"manner", "called"})
"""The attributes that say how the user wants to be answered."""
SPEAKERS = frozenset({"", "user", "the user", "me", "i"})
"""Subjects that are whoever speaks."""
SAID_AGAIN = 0.4
"""A sentence that has this share of the words of a memory says the same."""
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
        rules = [each for each, _ in self._memories(question, None) if _rules(each) and rules_here(each.text, goal)]
        rules = sorted(rules, key=lambda each: each.at, reverse=True)[:MOST_STANDING]
        said = [
            (hit, Served(score=1.0, why=why), [one])
            for hit, _ in self._messages(question, None)
            if (one := next(filter(is_standing, telling(hit.text)), "")) and rules_here(hit.text, goal)
        ]
        said = sorted(said, key=lambda each: each[0].at.timestamp() if each[0].at else 0.0, reverse=True)
        lines = [_memory_line(each, why, self.now) for each in rules]
        return [*lines, *self._unsaid(said)][:MOST_STANDING]

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
        return best, self._said_of(purpose, question, near)[:MOST_MESSAGES]

    def _serves(self, purpose: Purpose, record: Record, common: frozenset[str], nearness: float) -> Served | None:
        names = (record.subject, record.attribute, record.value, record.name, record.task_type)
        more = " ".join(each for each in names if each.casefold() not in SPEAKERS and each not in record.text)
        of_others = record.subject.casefold() not in SPEAKERS
        return purpose.serves(f"{record.text} {more}", common=common, of_others=of_others, nearness=nearness)

    def _said_of(self, purpose: Purpose, question: Question, near: Nearness | None) -> list[BriefLine]:
        own = frozenset(terms(purpose.text))
        found = []
        for hit, nearness in self._messages(question, near):
            served = [(one, each) for each in telling(hit.text) if (one := purpose.serves(each, nearness=nearness))]
            if served and likeness(own, frozenset(terms(hit.text))) < THE_GOAL:
                best = max(served, key=lambda each: each[0].score)
                found.append((hit, best[0], [each for _, each in served]))
        found.sort(key=lambda each: (-each[1].score, -(each[0].at.timestamp() if each[0].at else 0.0), each[0].id))
        return self._unsaid(found)

    def _unsaid(self, found: Sequence[tuple[RecallHit, Served, list[str]]]) -> list[BriefLine]:
        """Quotations of messages; without what a memory says that cites them, whether it holds still or not."""
        out = []
        citing = self._citing([hit.id for hit, _, _ in found])
        for hit, served, said in found:
            learned = [frozenset(terms(each.text)) for each in citing.get(hit.id, ())]
            left = [each for each in said if not any(_says(each, words) for words in learned)]
            if left:
                out.append(_quotation(hit, served, left))
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
        for record in self._tx.memories.citing(self._space, messages) if messages else ():
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
        support = near.support(cosines) if near and cosines else {}
        for hit in [*(each.read.recalled for each in found), *(each for each, _ in cosines.values())]:
            record = hit.record
            if record is not None and record.state in SHOWN.get(record.kind, ("active",)):
                yield record, support.get(hit.id, 0.0)

    def _messages(self, question: Question, near: Nearness | None) -> Iterator[tuple[RecallHit, float]]:
        """The same of what the user said."""
        index = MessageIndex(RecallQuery(text="brief", project=self._limits.project), self._scope)
        found = by_words(self._tx.search, self._space, index, question)
        cosines = self._cosines(index, near)
        support = near.support(cosines) if near and cosines else {}
        hits = {hit.id: hit for hit in (each.read.recalled for each in found)}
        hits.update((name, hit) for name, (hit, _) in cosines.items())
        for hit in hits.values():
            if hit.role == "user":
                yield hit, support.get(hit.id, 0.0)

    def _cosines(self, index: MemoryIndex | MessageIndex, near: Nearness | None) -> dict[str, tuple[RecallHit, float]]:
        if near is None:
            return {}
        found = by_meaning(self._tx, self._space, index, near.query, self._held, looked_at=LOOKED_AT_FOR_SOME)
        return {each.read.recalled.id: (each.read.recalled, each.relevance) for each in found}

    def _common(self, purpose: Purpose) -> frozenset[str]:
        """The words of a goal that so many memories have that they tell nothing."""
        most = max(FEW, COMMON * self._tx.search.size(self._space, "memories").documents)
        counts = self._tx.search.count(self._space, "memories", list(purpose.words))
        return frozenset(term for term, count in counts.items() if count > most)


def _question(words: Iterable[tuple[str, float]]) -> Question:
    weights = {stem: weight for word, weight in words for stem in terms(word)}
    return Question(terms=tuple(weights.items()))


def _rules(record: Record) -> bool:
    if record.origin != "user":
        # How the user wants to be answered, nobody else says.
        return False
    if record.attribute in MANNER:
        return True
    return not record.cue and record.kind in ("semantic", "procedural") and is_standing(record.text)


def _says(sentence: str, words: frozenset[str]) -> bool:
    return bool(words) and len(words & frozenset(terms(sentence))) >= SAID_AGAIN * len(words)


def _memory_line(record: Record, why: str, now: datetime) -> BriefLine:
    return BriefLine(id=record.id, kind=record.kind, text=line_of(record, now), score=1.0, why=why)


def _quotation(hit: RecallHit, served: Served, said: Sequence[str]) -> BriefLine:
    text = one_line(hit.text if len(hit.text) <= LONGEST_QUOTED else " … ".join(said))
    text = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1].rstrip()}…"
    who = f"{hit.author}: " if hit.author and not text.startswith(hit.author) else ""
    when = f" ({day(hit.at)})" if hit.at else ""
    return BriefLine(
        id=MessageId(hit.id), kind="message", text=f"{who}“{text}”{when}", score=round(served.score, 4), why=served.why
    )
