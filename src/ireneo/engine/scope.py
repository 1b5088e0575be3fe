"""The part of a space that a query may see: by project, session, branch and character, and without undone messages.

A message is visible depending on its place and on who heard it, which is decided before its words are examined. A
memory is visible depending on its evidence: hidden pieces count neither for nor against it, and the memory is settled
from the others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import accumulate, pairwise
from typing import TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.check import repositories
from ireneo.errors import BadInput, ReadOnlyStore
from ireneo.language.words import terms
from ireneo.lessons.lessons import projects_of
from ireneo.lessons.run import project_named, project_of
from ireneo.log.message import SAME, Draft, Head, MessageId, heard_by, is_called, name_key, names_of
from ireneo.log.tree import MAIN, SessionKey
from ireneo.memories.facts import attribute_of
from ireneo.memories.index import session_of
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import GENERAL, Evidence, Kind, MemoryDraft, MemoryId, Record, slot, supporting
from ireneo.memories.scratchpad import Pad
from ireneo.memories.signature import action_of
from ireneo.ports.memories import FoundMessage, FoundSession
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.cast import known_cast
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Line, SummaryId

MOST_RESULTS = 1_000
MOST_TOLD = 300
"""The maximum number of characters of a story's episode."""
DIRECTORY = "cwd"
"""The key of the working directory, in logs and in a failure's conditions."""
MOST_CHARACTERS = 20_000
"""The maximum number of characters of a question. A longer one is refused: only its beginning would decide the
result."""
Place: TypeAlias = tuple[str, Sequence[MessageId]]
"""A session, and some of its messages."""
KIND_NAMES: tuple[Kind, ...] = get_args(Kind)


class ScopeLimits(Struct, frozen=True, kw_only=True):
    """Limits on what may be seen."""

    project: str | None = None
    """Only things of this project (empty: of no project) and general ones."""
    viewpoint: str = ""
    """Only what this character was present for; if no branch is named, on the main branch of each session."""
    undone: bool = False
    """Also messages that a rewind left on no branch."""
    session: str | None = None
    """Only what comes from this session."""
    branch: str | None = None
    """Only messages on the path to the head of this branch of the session, and memories from them."""

    def __post_init__(self) -> None:
        """Raise BadInput for invalid limits."""
        if self.branch is not None and self.session is None:
            raise BadInput(f"`branch` is {self.branch!r}, and no session is named; a branch is one of a session's.")


class RecallQuery(ScopeLimits, frozen=True, kw_only=True):
    """A validated question."""

    text: str
    kind: Kind | None = None
    """Only memories of this kind, and no messages."""
    limit: int = 10
    budget: int | None = None
    """The maximum number of tokens of all texts together."""
    at: datetime | None = None
    """Only memories that held at this time, and messages said by then or without a time.

    None: what is true now, or at a past time in the question, and all messages. Includes disputed memories.
    """
    explain: bool = False

    def __post_init__(self) -> None:
        """Raise BadInput for an invalid question."""
        super().__post_init__()
        if not self.text.strip():
            raise BadInput("There is nothing to look for: the question is empty.")
        if len(self.text) > MOST_CHARACTERS:
            raise BadInput(f"A question may have {MOST_CHARACTERS:,} characters; this one has {len(self.text):,}.")
        if self.kind is not None and self.kind not in KIND_NAMES:
            raise BadInput(f"There is no kind {self.kind!r} of memory; take one of {', '.join(KIND_NAMES)}.")
        if not 1 <= self.limit <= MOST_RESULTS:
            raise BadInput(f"The limit is {self.limit}; ask for 1 to {MOST_RESULTS:,} results.")
        if self.budget is not None and self.budget < 1:
            raise BadInput(f"A budget of {self.budget} tokens holds nothing; give at least 1.")
        if self.at is not None and self.at.utcoffset() is None:
            raise BadInput(f"The time {self.at.isoformat()} has no zone; give one, such as UTC.")


FALLEN = "What it was drawn from no longer holds as it was told."
DEEPEST = 4
"""How far conclusions drawn from conclusions are followed."""


def open_projects(tx: Transaction, space: str, project: str | None) -> frozenset[str] | None:
    """The projects that a query in `project` may see; None for all.

    These are the project itself, others that are the same repository, and "*" (general), and also "" (no project) if
    the space knows no other project.
    """
    if project is None:
        return None
    one = same_repository(tx, space, project)
    alone = not project or not tx.search.knows_other_project(space, project)
    return frozenset({*one, GENERAL, *([""] if alone else [])})


def same_repository(tx: Transaction, space: str, project: str) -> frozenset[str]:
    """The project and all others that runs prove to be the same repository."""
    if not project:
        return frozenset({project})
    return repositories(tx, space).get(project, frozenset({project}))


def is_visible_project(opened: frozenset[str] | None, projects: Collection[str]) -> bool:
    """Whether something that belongs to `projects` may be seen; an empty collection means the project ""."""
    return opened is None or not opened.isdisjoint(projects or {""})


def drafts_per_project(tx: Transaction, space: str, record: Record, word: MemoryDraft) -> list[MemoryDraft]:
    """Return copies of `word`, which is new evidence on `record`: one for each project of the record's evidence."""
    silent = {piece.session for piece in record.evidence if piece.session and not piece.project}
    there = tx.sessions.projects(space, sorted(silent)) if silent else {}
    told = zip(record.evidence, record.projects, strict=True)
    projects = {project or there.get(piece.session, "") for piece, project in told}
    return [replace(word, project=project) for project in sorted(projects)]


def memories_named(tx: Transaction, space: str, ids: Sequence[str], *, undone: bool) -> list[Record]:
    """The memories whose ids begin with one of `ids`; those of undone messages only with `undone`."""
    return Scope(tx, space, ScopeLimits(undone=undone)).visible(tx.memories.get(space, ids))


class Scope:
    """The part of a space that a query may see, within one transaction."""

    def __init__(self, tx: Transaction, space: str, limits: ScopeLimits) -> None:
        """Raise BadInput for an unknown character, and for a branch that there is not."""
        if limits.viewpoint:
            limits = replace(limits, viewpoint=character_asked(tx, space, None, limits.viewpoint))
        hidden = [] if limits.undone else list(tx.search.abandoned(space))
        if limits.session is not None and limits.branch is not None:
            hidden = _merge_runs([*hidden, *_runs_off_path(tx, SessionKey(space, limits.session), limits.branch)])
        self.tx = tx
        self.space = space
        self._limits = limits
        self._firsts = [first for first, _ in hidden]
        self._lasts = [last for _, last in hidden]
        self._open = open_projects(tx, space, limits.project)
        self._sessions: dict[int, FoundSession] = {}
        self._projects: dict[str, str] = {}
        self._forked: dict[str, bool] = {}
        self._apart: set[MemoryId] = set()
        """Memories with evidence that was not heard, or is on another branch."""

    @property
    def narrows_memories(self) -> bool:
        """Whether so much may be hidden that recall must search further."""
        return self._limits.project is not None or bool(self._limits.viewpoint) or self._limits.session is not None

    @property
    def narrows_messages(self) -> bool:
        """Whether messages may turn out to be hidden after they were read.

        Only with a viewpoint; `within` applies the other limits to document numbers before the search.
        """
        return bool(self._limits.viewpoint)

    def filter_documents(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """Filter the document numbers of each search term by session, project, branch and rewinds.

        The numbers ascend. Who heard a message is checked after it was read.
        """
        limits = self._limits
        if limits.project is None and limits.session is None and not self._firsts:
            return numbers
        found = numbers
        if limits.project is not None or limits.session is not None:
            self.learn_sessions(number for each in numbers.values() for number in each)
            keys = {key for key, session in self._sessions.items() if self._is_wanted(session)}
            found = {term: [number for number in each if session_of(number) in keys] for term, each in numbers.items()}
        return {term: self._without_undone(each) for term, each in found.items()}

    def _without_undone(self, numbers: Sequence[int]) -> Sequence[int]:
        """Ascending numbers without the hidden ones, iterating over whichever are fewer."""
        if len(numbers) < len(self._firsts):
            return [number for number in numbers if not self._is_undone(number)]
        kept: list[int] = []
        start = 0
        for first, last in zip(self._firsts, self._lasts, strict=True):
            low = bisect_left(numbers, first, start)
            if low == len(numbers):
                break
            if numbers[low] <= last:
                kept += numbers[start:low]
                start = bisect_right(numbers, last, low)
        return [*kept, *numbers[start:]] if start else numbers

    def learn_sessions(self, numbers: Iterable[int]) -> None:
        """Read to which sessions these documents belong."""
        keys = {session_of(number) for number in numbers} - self._sessions.keys()
        if keys:
            self._sessions.update(self.tx.search.sessions(self.space, sorted(keys)))

    def may_show(self, number: int) -> bool:
        """Whether a message may be visible, as far as its document number shows; its session must have been read."""
        limits = self._limits
        if limits.project is not None or limits.session is not None:
            found = self._sessions.get(session_of(number))
            if found is None or not self._is_wanted(found):
                return False
        return not self._is_undone(number)

    def _is_wanted(self, session: FoundSession) -> bool:
        limits = self._limits
        return limits.session in (None, session.session) and (self._open is None or session.project in self._open)

    def _is_undone(self, number: int) -> bool:
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self._lasts[at]

    def is_heard(self, draft: Draft) -> bool:
        """Whether the viewpoint's character heard the message."""
        return not self._limits.viewpoint or heard_by(draft, self._limits.viewpoint)

    def in_open_projects(self, documents: Sequence[int]) -> Sequence[int]:
        """The documents of memories that may be seen, as far as is known without reading them."""
        if self._open is None:
            return documents
        return self.tx.search.of_projects(self.space, documents, self._open)

    def visible(self, records: Sequence[Record]) -> list[Record]:
        """The memories that may be seen, settled from the evidence that may be seen."""
        return [each for each in self.seen(records) if each is not None]

    def seen(self, records: Sequence[Record]) -> list[Record | None]:
        """The memories settled from the evidence that may be seen, in order; None for a memory that may not be seen."""
        if self._limits.undone and not self.narrows_memories:
            return list(records)
        judged = self._visible_evidence(records)
        names = list(dict.fromkeys(each.superseded_by for each in records if each.superseded_by))
        later = self.tx.memories.get(self.space, names) if names else ()
        standing: dict[str, bool] = {name: all(verdicts) for name, verdicts in self._visible_evidence(later).items()}
        seen = [
            self._visible_version(each, judged[each.id], is_standing=standing.get(each.superseded_by or "", True))
            for each in records
        ]
        if self._limits.viewpoint:
            # The reason why a memory is stale quotes its sources.
            return [replace(each, stale=FALLEN) if each is not None and each.stale else each for each in seen]
        return seen

    def _visible_version(self, record: Record, verdicts: Sequence[bool], *, is_standing: bool) -> Record | None:
        speaking = [good for piece, good in zip(record.evidence, verdicts, strict=True) if not piece.against]
        if self._limits.session is not None and self._limits.session not in record.sessions:
            return None
        if not any(speaking or verdicts):
            # An episode of a story is reduced to the sentences that the character heard.
            told = (self._sentences_heard(record, piece) for piece in record.evidence if piece.summaries)
            return next(filter(None, told), None)
        if record.cue:
            # The state of a lesson follows from all runs that showed it.
            return without_words_of_others(record, self._open)
        retracted = self._limits.viewpoint and any(map(_is_retraction, record.evidence))
        # A retired memory may have been ended at once by something hidden.
        doubtful = record.state in ("disputed", "retired")
        if all(verdicts) and is_standing and not doubtful and not retracted:
            return record
        kept = self.with_visible_evidence(self.tx.memories.of_key(self.space, record.kind, record.key))
        settled = {each.id: each for each in KINDS[record.kind].settle(kept)} if kept else {}
        return settled.get(record.id)

    def _sentences_heard(self, record: Record, piece: Evidence) -> Record | None:
        if not is_visible_project(self._open, set(record.projects)):
            return None
        leaves = self.tx.summaries.get(SessionKey(self.space, piece.session), list(map(SummaryId, piece.summaries)))
        lines = [line for leaf in leaves for line in leaf.lines("story") if line.sources]
        alone = [replace(piece, messages=line.sources, summaries=()) for line in lines]
        heard = [line for line, good in zip(lines, self._pieces_visible(alone), strict=True) if good]
        text, messages = weightiest(heard)
        if not text:
            return None
        kept = replace(piece, messages=messages)
        return replace(record, text=text, evidence=(kept,), seen=1, changes=())

    def with_visible_evidence(self, records: Sequence[Record]) -> list[Record]:
        """The memories with only the evidence that may be seen, not settled; memories without any are left out."""
        judged = self._visible_evidence(records)
        kept = [_keep_visible_evidence(each, judged[each.id], each.id in self._apart) for each in records]
        told = [each for each in kept if each is not None]
        if not self._limits.viewpoint:
            return told
        # The reasons of retractions may contain what nobody heard.
        return [
            replace(
                each,
                evidence=tuple(
                    replace(piece, why="", conditions={}) if _is_retraction(piece) else piece for piece in each.evidence
                ),
            )
            for each in told
        ]

    def _visible_evidence(self, records: Sequence[Record], deep: int = 0) -> dict[MemoryId, list[bool]]:
        """For each piece of evidence of each memory whether it may be seen."""
        pieces = [(record, piece) for record in records for piece in record.evidence]
        good = [True] * len(pieces)
        if self._open is not None:
            # Of sessions whose pieces do not state a project.
            silent = {piece.session for _, piece in pieces if piece.session and not piece.project}
            if unknown := silent - self._projects.keys():
                self._projects.update(dict.fromkeys(unknown, ""))
                self._projects.update(self.tx.sessions.projects(self.space, sorted(unknown)))
            good = [each for record in records for each in self._in_projects(record)]
        alone = self._pieces_visible([piece for _, piece in pieces])
        carried = self._sources_visible([piece for _, piece in pieces], deep)
        verdicts: dict[MemoryId, list[bool]] = {record.id: [] for record in records}
        for at, (record, _) in enumerate(pieces):
            verdicts[record.id].append(good[at] and alone[at] and carried[at])
            if not alone[at]:
                self._apart.add(record.id)
        return verdicts

    def _pieces_visible(self, pieces: Sequence[Evidence]) -> list[bool]:
        """Whether the messages of each piece are on a visible branch and were heard."""
        good = [True] * len(pieces)
        if self._limits.viewpoint:
            good = self._heard_by_character(pieces)
        if not self._limits.undone or self._limits.branch is not None:
            good = [heard and lies for heard, lies in zip(good, self._on_visible_branch(pieces), strict=True)]
        return good

    def _in_projects(self, record: Record) -> list[bool]:
        if record.cue:
            return [is_visible_project(self._open, projects_of(record))] * len(record.evidence)
        told = zip(record.evidence, record.projects, strict=True)
        return [
            is_visible_project(self._open, {project or self._projects.get(piece.session, "")})
            for piece, project in told
        ]

    def _on_visible_branch(self, pieces: Sequence[Evidence]) -> list[bool]:
        places = [self._places(piece) for piece in pieces]
        good = [True] * len(pieces)
        if not self._limits.undone:
            good = [lies or not named for lies, named in zip(self._on_branch(places), places, strict=True)]
        forked = [[each for each in named if self._is_main_only(each[0])] for named in places]
        good = [each and lies for each, lies in zip(good, self._on_branch(forked, MAIN), strict=True)]
        if self._limits.branch is not None:
            here = [[each for each in named if each[0] == self._limits.session] for named in places]
            lies = self._on_branch(here, self._limits.branch)
            good = [each and (there or not named) for each, there, named in zip(good, lies, here, strict=True)]
        return good

    def _is_main_only(self, session: str) -> bool:
        """Whether only a session's main branch is visible: a character knows no other, unless one is named."""
        limits = self._limits
        if not limits.viewpoint or limits.undone or (limits.branch is not None and session == limits.session):
            return False
        if session not in self._forked:
            key = SessionKey(self.space, session)
            there = self.tx.sessions.branches(key) if self.tx.sessions.get(key) else {}
            self._forked[session] = len(there) > 1 and MAIN in there
        return self._forked[session]

    def on_own_branch(self, found: Sequence[FoundMessage]) -> list[FoundMessage]:
        """The messages on the character's branch, if their numbers don't show it."""
        places = [
            [(each.key.session, [each.message.id])] if self._is_main_only(each.key.session) else [] for each in found
        ]
        return [each for each, lies in zip(found, self._on_branch(places, MAIN), strict=True) if lies]

    def _on_branch(self, places: Sequence[Sequence[Place]], branch: str | None = None) -> list[bool]:
        """For each group of places whether all of them are on any branch, or on `branch`."""
        named = [place for group in places for place in group]
        lies = self.tx.log.on_branch(self.space, named, branch) if named else ()
        ends = list(accumulate(map(len, places), initial=0))
        return [all(lies[start:end]) for start, end in pairwise(ends)]

    def _places(self, piece: Evidence) -> list[Place]:
        """The sessions of a piece's messages, each with its messages."""
        if piece.session or not piece.messages:
            return [(piece.session, piece.messages)] if piece.messages else []
        # It was drawn from several sessions without naming them.
        keys = [info.key for info in self.tx.sessions.list(self.space)]
        found: list[Place] = []
        for key in keys:
            there = {each.id for each in self.tx.log.find(key, piece.messages)}
            found += [(key.session, [name for name in piece.messages if name in there])] if there else []
        return found

    def _heard_by_character(self, pieces: Sequence[Evidence]) -> list[bool]:
        """For each piece of evidence: whether the character heard all of its messages.

        A piece without messages is only heard if it cites memories, which are judged separately, or if it contradicts
        the memory without naming a source.
        """
        places = [self._places(piece) for piece in pieces]
        wanted: dict[str, dict[MessageId, bool]] = {}
        for session, names in (place for group in places for place in group):
            wanted.setdefault(session, {}).update(dict.fromkeys(names, False))
        for session, known in wanted.items():
            for message in self.tx.log.find(SessionKey(self.space, session), list(known)):
                known[message.id] = heard_by(message.draft, self._limits.viewpoint)
        return [
            bool(piece.memories or named or _is_retraction(piece))
            and all(wanted[session][name] for session, names in named for name in names)
            for piece, named in zip(pieces, places, strict=True)
        ]

    def _sources_visible(self, pieces: Sequence[Evidence], deep: int) -> list[bool]:
        """Whether everything that each piece was concluded from may be seen."""
        names = list(dict.fromkeys(name for piece in pieces for name in piece.memories))
        if not names or deep > DEEPEST:
            return [not piece.memories for piece in pieces]
        cited = {each.id: each for each in self.tx.memories.get(self.space, names)}
        judged = self._visible_evidence(list(cited.values()), deep + 1)
        good = {
            name: _keep_visible_evidence(each, judged[name], name in self._apart) is not None
            for name, each in cited.items()
        }
        return [all(good[name] for name in piece.memories if name in good) for piece in pieces]


def without_words_of_others(record: Record, opened: frozenset[str] | None) -> Record:
    """A lesson with only the evidence of the `opened` projects; its state still follows from all of it."""
    told = zip(record.evidence, record.projects, strict=True)
    kept = tuple(piece for piece, project in told if not project or is_visible_project(opened, {project}))
    return record if len(kept) in (0, len(record.evidence)) else replace(record, evidence=kept)


def weightiest(lines: Sequence[Line]) -> tuple[str, tuple[MessageId, ...]]:
    """The sentences of a story with the most weight, in order, and their sources."""
    chosen: list[tuple[Line, str]] = []
    room = MOST_TOLD
    for line in sorted((line for line in lines if line.text.strip()), key=lambda line: -line.weight):
        text = clip(line.text, MOST_TOLD)
        if len(text) + 1 <= room or not chosen:
            chosen.append((line, text))
            room -= len(text) + 1
    chosen.sort(key=lambda each: each[0].position)
    messages = dict.fromkeys(source for line, _ in chosen for source in line.sources)
    return " ".join(text for _, text in chosen), tuple(messages)


def _keep_visible_evidence(record: Record, verdicts: Sequence[bool], apart: bool) -> Record | None:
    """A memory with only the evidence that may be seen, not settled; None if none of this evidence supports it.

    `apart` says that some hidden evidence was not heard or is on other branches, and isn't just from another project.
    """
    kept = tuple(piece for piece, good in zip(record.evidence, verdicts, strict=True) if good)
    if not kept or (supporting(record) and all(piece.against for piece in kept)):
        return None
    lacking = len(record.evidence) - len(kept)
    if not lacking:
        return record
    text = _visible_text(record, kept, apart)
    # Changes may have been made where the hidden pieces were stated.
    kept_of_it = replace(record, evidence=kept, changes=(), seen=max(1, record.seen - lacking))
    return replace(kept_of_it, text=text) if text else None


def _is_retraction(piece: Evidence) -> bool:
    return piece.against and not piece.sources


def _visible_text(record: Record, kept: Sequence[Evidence], apart: bool) -> str:
    """Return a memory's words if only part of its evidence may be seen; empty if they may come from hidden evidence.

    Facts and failures are worded as in their earliest evidence. If that is hidden, the slot with its value, or the
    failed action, is shown.
    """
    first = min((each.recorded for each in supporting(record)), default=None)
    own = [each for each in supporting(record) if each.recorded == first]
    changed = any(each.text or each.joined for each in record.changes)
    named = bool(record.value or record.signature) and not record.cue
    if named and (changed or not all(each in kept for each in own)):
        return f"{record.subject}, {record.attribute}: {record.value}" if record.value else action_of(record.signature)
    # A merged memory represents everything that it absorbed, and none of it alone.
    return "" if changed and apart else record.text


def _merge_runs(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending runs of numbers, with overlapping ones joined."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return out


def _runs_off_path(tx: Transaction, key: SessionKey, branch: str) -> Sequence[tuple[int, int]]:
    """The document runs of a session off the path to the branch's head."""
    there = tx.sessions.branches(key)
    if branch not in there:
        raise BadInput(f"Session {key.session} has no branch {branch!r}; it has: {', '.join(there) or 'none'}.")
    head = there[branch]
    if head is None:
        raise BadInput(
            f"Branch {branch!r} of session {key.session} has no message; there is nothing to be found on it."
        )
    return tx.search.off_path(key, head.id)


ALIAS = "alias"
"""Attribute of the facts that give another name of somebody."""
NAMED = 12
"""How many known names are listed if one is unknown."""
CASTS = 20
"""How many sessions' casts are searched for an unknown name."""
LOOKED_AT = 64
"""How many memories with the words of a name are examined."""


def character_asked(tx: Transaction, space: str, session: str | None, viewpoint: str) -> str:
    """The character meant by `viewpoint`, with all names (``Vera = Countess``), in a session or the whole space.

    Names are only joined by hand, as a fact: "Vera's alias is the Countess." What a character says or a rule finds may
    be a lie or a mistake, and would reveal what was whispered to somebody else. Raises BadInput, listing the known
    names, those who speak most first, if nobody of that name speaks or is present.
    """
    who = all_names(tx, space, viewpoint)
    given = names_of(viewpoint)
    speak = tx.search.authors(space) if session is None else ()
    missing = [name for name in given if name not in speak and not tx.log.speakers(space, session, name)]
    if missing:
        known = tx.log.speakers(space, session)
        if len(names_of(who)) == len(given) or not any(is_called(who, each) for each in known):
            spoken = tx.search.authors(space)
            first = sorted(known, key=lambda each: (-spoken.get(each, 0), each))
            raise BadInput(
                _unknown_name_text(
                    missing[0], space, session, first, _character_and_player(tx, space, session, missing[0])
                )
            )
    return who


def all_names(tx: Transaction, space: str, viewpoint: str) -> str:
    """The character's given names, and those that facts join to them."""
    given = {name_key(name): name for name in names_of(viewpoint)}
    joined = {name_key(name): name for name in _linked_names(tx, space, list(given.values()))}
    # Whichever name is given, the result is the same.
    return SAME.join({**given, **joined}[key] for key in {**joined, **given})


def _character_and_player(tx: Transaction, space: str, session: str | None, name: str) -> tuple[str, str]:
    """The character whom a name means in the casts of stories, and its player; empty if no cast has it.

    Other names of a character are left out: in a story that may be a secret.
    """
    asked = set(name_key(name).split())
    keys = [each.key for each in tx.sessions.list(space) if session in (None, each.key.session)]
    for key in keys[:CASTS]:
        head = tx.log.head(key, MAIN)
        for summarizer in tx.summaries.summarizers(key) if head else ():
            for each in known_cast(tx.summaries.frontier(key, head.id, summarizer)).people if head else ():
                called = {*each.names, each.name, each.full} - {*each.aliases, ""}
                if each.player and asked and any(asked <= set(name_key(word).split()) for word in called):
                    return each.full or each.name, each.player
    return "", ""


def _unknown_name_text(
    name: str, space: str, session: str | None, known: Sequence[str], played: tuple[str, str] = ("", "")
) -> str:
    where = f"session {session}" if session is not None else f"space {space!r}"
    if not known:
        return (
            f"Nobody called {name!r} is known: no message of {where} is marked with who speaks or is there"
            " (those of prose never are). Ask without a viewpoint."
        )
    character, player = played
    if player in known:
        return f"Nobody called {name!r} speaks in {where}; {character} is played by {player}: take that name."
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f"Nobody called {name!r} is known in {where}; take one of {', '.join(known[:NAMED])}{more}."


def _linked_names(tx: Transaction, space: str, given: Sequence[str]) -> list[str]:
    """All names of the people whom one of these names means, their own name first; empty if no fact joins any names."""
    own: dict[str, str] = {}
    for name in given:
        key = name_key(name)
        for record in _alias_facts(_memories_with_words(tx, space, name)):
            if key in (name_key(record.subject), name_key(record.value)):
                own.setdefault(name_key(record.subject), record.subject)
    out = list(own.values())
    for subject in own.values():
        out += sorted(each.value for each in _alias_facts(tx.memories.of_key(space, "semantic", slot(subject, ALIAS))))
    return out


def names_joined(tx: Transaction, space: str, viewpoint: str) -> tuple[tuple[str, str], ...]:
    """The pairs of names that facts join by hand; with a viewpoint only this character's, whom others may not know."""
    facts = _alias_facts(_memories_with_words(tx, space, ALIAS))
    return tuple((each.subject, each.value) for each in facts if not viewpoint or is_called(viewpoint, each.subject))


def _memories_with_words(tx: Transaction, space: str, name: str) -> Iterable[Record]:
    listed = tx.search.postings(space, "memories", list(dict.fromkeys(terms(name))))
    found = [set(numbers) for numbers in listed.values()]
    both = sorted(set.intersection(*found))[:LOOKED_AT] if found else []
    return [each.record for each in tx.search.memories(space, both)]


def _alias_facts(records: Iterable[Record]) -> Iterator[Record]:
    """The facts, stated by hand, that give another name of somebody."""
    for record in records:
        by_hand = any(each.origin == "user" and not each.sources and not each.against for each in record.evidence)
        if record.holds and by_hand and record.value and attribute_of(record.attribute) == ALIAS:
            yield record


FIRST_MESSAGES = 40
"""How many messages from the beginning of a session may show its project."""
SESSIONS_AT_A_TIME = 100
"""Sessions examined in one transaction."""


def session_project(tx: Transaction, key: SessionKey, head: Head) -> str:
    """The project of the session on the path to `head`: as stated, or by the directories of its first messages."""
    info = tx.sessions.get(key)
    return (info and info.project) or _project_on(tx, key, head)


def record_project(tx: Transaction, key: SessionKey, project: str = "", drafts: Sequence[Draft] = ()) -> None:
    """Record the project of a session to which `drafts` were just appended: `project`, or that of their directories.

    Raises BadInput if the session is known to belong to another project.
    """
    info = tx.sessions.get(key)
    if info is None:
        return
    if project:
        check_project(key.session, info.project, project)
        if info.project != project:
            tx.sessions.set_project(key, project)
        return
    begins = info.messages - len(drafts) < FIRST_MESSAGES
    if info.project is None or (not info.project and begins and any(each.record for each in drafts[:FIRST_MESSAGES])):
        _find_project(tx, key, info.project)


async def add_projects(store: Store, space: str, sessions: Collection[str], project: str) -> None:
    """Record `project` for those `sessions` whose project is unknown, even by a folder."""
    keys = [SessionKey(space, session) for session in sorted(sessions)] if project else ()
    await _in_batches(store, keys, partial(add_project, project=project))


def add_project(tx: Transaction, key: SessionKey, project: str) -> None:
    """Record `project` for a session without a known project or folder."""
    info, head = tx.sessions.get(key), tx.log.head(key, MAIN)
    if info is not None and not info.project and (head is None or not _session_directories(tx, key, head)):
        tx.sessions.set_project(key, project)


async def set_projects(store: Store, space: str) -> None:
    """Record the projects of sessions stored by earlier versions, unless the store is read-only."""
    unplaced = await store.read(lambda tx: tx.sessions.without_project(space))
    with suppress(ReadOnlyStore):
        await _in_batches(store, unplaced, partial(_find_project, known=None))


async def _in_batches(
    store: Store, keys: Sequence[SessionKey], settle: Callable[[Transaction, SessionKey], None]
) -> None:
    def settle_some(tx: Transaction, some: Sequence[SessionKey]) -> None:
        for key in some:
            settle(tx, key)

    for start in range(0, len(keys), SESSIONS_AT_A_TIME):
        await store.write(settle_some, keys[start : start + SESSIONS_AT_A_TIME])


def check_project(session: str, known: str | None, named: str) -> None:
    """Raise BadInput if a session is known to belong to another project than `named`, unless that is "*"."""
    if known and named not in (known, GENERAL):
        raise BadInput(f"Session {session} belongs to project {known!r}, not to {named!r}; leave the project out.")


def check_pad(tx: Transaction, space: str, task: str, pad: Pad | None, project: str | None) -> None:
    """Raise BadInput if a scratchpad, or the session that shows it, is not of `project`; None allows any."""
    if project is None:
        return
    here = f"project {project!r}" if project else "no project that is known"
    opened = open_projects(tx, space, project)
    if pad is not None and not is_visible_project(opened, {pad.project}):
        theirs = f"project {pad.project!r}" if pad.project else "no project"
        raise BadInput(f"The scratchpad of {task} was written in {theirs}, and you work on {here}; name another task.")
    info = tx.sessions.get(SessionKey(space, task))
    if info is not None and not is_visible_project(opened, {info.project or ""}):
        theirs = f"project {info.project!r}" if info.project else "no project that is known"
        raise BadInput(
            f"{task} is a session of {theirs}, and you work on {here}: only its own agent writes its scratchpad; "
            "name another task."
        )


def project_asked(given: str | None) -> str | None:
    """The project meant by its name or a directory in it; None for no limit, "" for no project."""
    if given is None:
        return None
    return project_named(given)


def stated_project(given: str) -> str:
    """The project that is stated for something, "" if none is. Raises BadInput for an unusable name."""
    named = project_asked(given) or ""
    if given.strip() and not named:
        raise BadInput(f"{given!r} names no project; give the project's name.")
    return named


def _find_project(tx: Transaction, key: SessionKey, known: str | None) -> None:
    head = tx.log.head(key, MAIN)
    found = _project_on(tx, key, head) if head else project_of(session=key.session)
    if found != known:
        tx.sessions.set_project(key, found)


def _project_on(tx: Transaction, key: SessionKey, head: Head) -> str:
    # A session may begin in a home folder and move on: the first directory that names a project is used.
    named = (project_of(directory=directory) for directory in _session_directories(tx, key, head))
    return next(filter(None, named), "") or project_of(session=key.session)


def _session_directories(tx: Transaction, key: SessionKey, head: Head) -> Sequence[str]:
    """The directories in which the session's first messages were said, each once."""
    first = tx.log.path(key, head.id, 0, min(FIRST_MESSAGES, head.position))
    found = message_directories(tx, key, [message.id for message in first])
    return list(dict.fromkeys(place[DIRECTORY] for message in first if (place := found.get(message.id))))


def message_directories(
    tx: Transaction, key: SessionKey, messages: list[MessageId]
) -> Mapping[MessageId, Mapping[str, str]]:
    """The directories of `messages`, where known."""
    natives = tx.log.drafts(key, messages)
    found = {name: next(_directories(draft), "") for name, draft in natives.items()}
    return {name: {DIRECTORY: directory} for name, directory in found.items() if directory}


def _directories(draft: Draft) -> Iterator[str]:
    payload = draft.record.payload if draft.record else None
    for entry in payload if isinstance(payload, (list, tuple)) else (payload,):
        if isinstance(entry, Mapping) and isinstance(directory := entry.get(DIRECTORY), str) and directory:
            yield directory
