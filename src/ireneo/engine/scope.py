"""What is asked of recall, and what may be seen by who asks.

What no rewind undid, what belongs to the project, what a character was present for. A message is judged by where it
stands and by who heard it, before its words count for anything. A memory is judged by its evidence: pieces that may not
be seen don't speak, for it or against it, and what then follows is settled anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from typing import TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.turns import DIRECTORY, places, weightiest
from ireneo.errors import BadInput
from ireneo.language.words import terms
from ireneo.lessons.lessons import projects_of
from ireneo.lessons.run import project_named, project_of
from ireneo.log.message import SAME, Draft, Head, MessageId, heard_by, is_called, name_key, names_of
from ireneo.log.tree import MAIN, SessionKey
from ireneo.memories.index import session_of
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import GENERAL, Evidence, Kind, MemoryDraft, MemoryId, Record, slot, supporting
from ireneo.memories.signature import action_of
from ireneo.memories.slots import attribute_of
from ireneo.ports.memories import FoundMessage, FoundSession
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.summary import SummaryId

MOST_RESULTS = 1_000
MOST_CHARACTERS = 20_000
"""What is longer is no question; its beginning would decide alone."""
Place: TypeAlias = tuple[str, Sequence[MessageId]]
"""A session, and messages of it."""
KIND_NAMES: tuple[Kind, ...] = get_args(Kind)


class ScopeLimits(Struct, frozen=True, kw_only=True):
    """What is asked for, as far as it limits what may be seen."""

    project: str | None = None
    """Only what belongs to this one (empty: to none), and what is marked as general."""
    viewpoint: str = ""
    """Only what this character was present for, on the main branch of each session where none is named."""
    undone: bool = False
    """Also what lies on no branch any more, since a rewind left it behind."""
    session: str | None = None
    """Only what comes from this session."""
    branch: str | None = None
    """Of that session only what lies on the path to this branch's head."""

    def __post_init__(self) -> None:
        """Raise BadInput for what limits nothing."""
        for name, text in (("session", self.session), ("branch", self.branch), ("viewpoint", self.viewpoint)):
            if text is not None and not isinstance(text, str):
                raise BadInput(f"`{name}` is {text!r}; give a name.")
        if self.branch is not None and self.session is None:
            raise BadInput(f"`branch` is {self.branch!r}, and no session is named; a branch is one of a session's.")


class RecallQuery(ScopeLimits, frozen=True, kw_only=True):
    """A question, checked."""

    text: str
    kind: Kind | None = None
    """Only memories of this kind, and no messages."""
    limit: int = 10
    budget: int | None = None
    """Tokens that the texts may cost together."""
    at: datetime | None = None
    """What was the case then, and what was said by then; None: now, and all of it."""
    messages: bool = True
    """Whether messages are wanted as well."""
    explain: bool = False

    def __post_init__(self) -> None:
        """Raise BadInput for what can't be asked."""
        super().__post_init__()
        _check_types(self)
        if not self.text.strip():
            raise BadInput("There is nothing to look for: the question is empty.")
        if len(self.text) > MOST_CHARACTERS:
            raise BadInput(f"A question may have {MOST_CHARACTERS:,} characters; this one has {len(self.text):,}.")
        if self.kind is not None and self.kind not in KIND_NAMES:
            raise BadInput(f"There is no kind {self.kind!r} of memory; take one of {', '.join(KIND_NAMES)}.")
        if not 1 <= self.limit <= MOST_RESULTS:
            raise BadInput(f"A limit of {self.limit} can't be kept; ask for 1 to {MOST_RESULTS:,} results.")
        if self.budget is not None and self.budget < 1:
            raise BadInput(f"A budget of {self.budget} tokens holds nothing; give at least 1.")
        if self.at is not None and self.at.utcoffset() is None:
            raise BadInput(f"The time {self.at.isoformat()} has no zone; give one, such as UTC.")


def _check_types(asked: RecallQuery) -> None:
    """Raise BadInput where something of a question is not of the type that it must be."""
    if not isinstance(asked.text, str):
        raise BadInput(f"The question is {type(asked.text).__name__}; give a string.")
    for name, number in (("limit", asked.limit), ("budget", asked.budget)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise BadInput(f"`{name}` is {number!r}; give a whole number.")
    if asked.at is not None and not isinstance(asked.at, datetime):
        raise BadInput(f"`at` is {type(asked.at).__name__}; give a datetime with a zone.")


FALLEN = "What it was drawn from no longer holds as it was told."
DEEPEST = 4
"""Conclusions from conclusions are followed so far."""


def open_projects(tx: Transaction, space: str, project: str | None) -> frozenset[str] | None:
    """The projects of which something may be seen from `project`; None where that is everything.

    That is its own and what is marked as general; what belongs to none as well, where no other project is known that
    it may have been told in.
    """
    if project is None:
        return None
    alone = not project or not tx.search.knows_other_project(space, project)
    return frozenset({project, GENERAL, *([""] if alone else [])})


def is_open(opened: frozenset[str] | None, projects: Collection[str]) -> bool:
    """Whether what belongs to `projects` may be seen where these are `opened`; what is of no project counts as such."""
    return opened is None or not opened.isdisjoint(projects or {""})


def told_there(tx: Transaction, space: str, record: Record, word: MemoryDraft) -> list[MemoryDraft]:
    """A word on a memory as it is told where that belongs: once for each project that its evidence is of."""
    silent = {piece.session for piece in record.evidence if piece.session and not piece.project}
    there = tx.sessions.projects(space, sorted(silent)) if silent else {}
    told = zip(record.evidence, record.projects, strict=True)
    projects = {project or there.get(piece.session, "") for piece, project in told}
    return [replace(word, project=project) for project in sorted(projects)]


class Scope:
    """What may be seen of a space within one transaction."""

    def __init__(
        self, tx: Transaction, space: str, limits: ScopeLimits, undone: Sequence[tuple[int, int]] = ()
    ) -> None:
        """See what `limits` allow; `undone` are the documents that are passed over."""
        self._tx = tx
        self._space = space
        self._limits = limits
        self._firsts = [first for first, _ in undone]
        self._lasts = [last for _, last in undone]
        self._open = open_projects(tx, space, limits.project)
        self._sessions: dict[int, FoundSession] = {}
        self._projects: dict[str, str] = {}
        self._forked: dict[str, bool] = {}
        self._apart: set[MemoryId] = set()
        """The memories of which a part was not heard, or lies elsewhere."""

    @classmethod
    def of(cls, tx: Transaction, space: str, limits: ScopeLimits) -> Scope:
        """The scope of what is asked. Raises BadInput for a character whom nobody knows, and a branch there is not."""
        if limits.viewpoint:
            limits = replace(limits, viewpoint=character_asked(tx, space, None, limits.viewpoint))
        undone = [] if limits.undone else list(tx.search.abandoned(space))
        if limits.session is not None and limits.branch is not None:
            undone = _joined([*undone, *_aside(tx, SessionKey(space, limits.session), limits.branch)])
        return cls(tx, space, limits, undone)

    @property
    def narrows_memories(self) -> bool:
        """Whether so much may be left out of what is found first that it must be looked for further down."""
        return self._limits.project is not None or bool(self._limits.viewpoint) or self._limits.session is not None

    @property
    def _narrows(self) -> bool:
        """Whether anything may be left out at all."""
        return self.narrows_memories or not self._limits.undone

    @property
    def narrows_messages(self) -> bool:
        """The same of messages; what is known by its number is left out before it is found."""
        return bool(self._limits.viewpoint)

    def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """The documents of messages that may be seen, as far as their numbers tell."""
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
        """Rising numbers without those that are passed over: by whichever there are fewer of."""
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
        """Read which sessions these documents are of."""
        keys = {session_of(number) for number in numbers} - self._sessions.keys()
        if keys:
            self._sessions.update(self._tx.search.sessions(self._space, sorted(keys)))

    def holds(self, number: int) -> bool:
        """Whether the document of a message may be seen, as far as its number tells; its session was read."""
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

    def hears(self, draft: Draft) -> bool:
        """Whether what is said may be known to who asks."""
        return not self._limits.viewpoint or heard_by(draft, self._limits.viewpoint)

    def may_be_here(self, documents: Sequence[int]) -> Sequence[int]:
        """Those of the documents of memories that may be seen, as far as that is known without reading them."""
        if self._open is None:
            return documents
        return self._tx.search.of_projects(self._space, documents, self._open)

    def seen(self, records: Sequence[Record]) -> list[Record | None]:
        """The memories as they are seen from here, in their order; None for one of which nothing may be."""
        if not self._narrows:
            return list(records)
        judged = self._judged(records)
        standing = self._standing(records)
        out: list[Record | None] = []
        for record in records:
            verdicts = judged[record.id]
            speaking = [good for piece, good in zip(record.evidence, verdicts, strict=True) if not piece.against]
            if self._limits.session is not None and self._limits.session not in record.sessions:
                out.append(None)
            elif not any(speaking or verdicts):
                out.append(self._told_in_part(record))
            elif (
                all(verdicts)
                and not record.cue
                and standing.get(record.superseded_by or "", True)
                and record.state != "disputed"
                and not (self._limits.viewpoint and any(map(_is_retraction, record.evidence)))
            ):
                out.append(record)
            elif record.cue:
                # What holds of a lesson follows from all runs that showed it.
                out.append(without_words_of_others(record, self._open))
            else:
                out.append(self._settled(record))
        # Why one must be reconsidered is told in the words of what it was drawn from, with all that speaks for that.
        hidden = bool(self._limits.viewpoint)
        return [replace(each, stale=FALLEN) if hidden and each is not None and each.stale else each for each in out]

    def _told_in_part(self, record: Record) -> Record | None:
        """An episode of a story with those of its sentences that may be known, where some are not; None without any."""
        told = [self._sentences_heard(record, piece) for piece in record.evidence if piece.summaries]
        return next((each for each in told if each is not None), None)

    def _sentences_heard(self, record: Record, piece: Evidence) -> Record | None:
        if self._open is not None and not is_open(self._open, set(record.projects) or {""}):
            return None
        leaves = self._tx.summaries.get(SessionKey(self._space, piece.session), list(map(SummaryId, piece.summaries)))
        lines = [line for leaf in leaves for line in leaf.lines("story") if line.sources]
        alone = [replace(piece, messages=line.sources, summaries=()) for line in lines]
        heard = [line for line, good in zip(lines, self._seen_pieces(alone), strict=True) if good]
        text, messages = weightiest(heard)
        if not text:
            return None
        kept = replace(piece, messages=messages)
        return replace(record, text=text, evidence=(kept,), seen=1, changes=())

    def told_here(self, records: Sequence[Record]) -> list[Record]:
        """The memories with the evidence that may be seen alone, not settled; those without any left out."""
        judged = self._judged(records)
        kept = [_with(each, judged[each.id], each.id in self._apart) for each in records]
        told = [each for each in kept if each is not None]
        return [_without_whys(each) for each in told] if self._limits.viewpoint else told

    def _standing(self, records: Sequence[Record]) -> dict[str, bool]:
        """Of the memories that have taken the place of `records` whether all that speaks for them may be seen."""
        names = list(dict.fromkeys(each.superseded_by for each in records if each.superseded_by))
        found = self._tx.memories.get(self._space, names) if names else ()
        judged = self._judged(found)
        return {each.id: all(judged[each.id]) for each in found}

    def _settled(self, record: Record) -> Record | None:
        """A memory as it is where only what may be seen was ever told of it, and of what it is compared with."""
        kept = self.told_here(self._tx.memories.of_key(self._space, record.kind, record.key))
        settled = {each.id: each for each in KINDS[record.kind].settle(kept)} if kept else {}
        return settled.get(record.id)

    def _judged(self, records: Sequence[Record], deep: int = 0) -> dict[MemoryId, list[bool]]:
        """Of each memory's pieces of evidence whether they may be seen."""
        pieces = [(record, piece) for record in records for piece in record.evidence]
        good = [True] * len(pieces)
        if self._open is not None:
            self._learn_projects(piece for _, piece in pieces)
            good = [each for record in records for each in self._are_here(record)]
        alone = self._seen_pieces([piece for _, piece in pieces])
        carried = self._carried([piece for _, piece in pieces], deep)
        verdicts: dict[MemoryId, list[bool]] = {record.id: [] for record in records}
        for at, (record, _) in enumerate(pieces):
            verdicts[record.id].append(good[at] and alone[at] and carried[at])
            if not alone[at]:
                self._apart.add(record.id)
        return verdicts

    def _seen_pieces(self, pieces: Sequence[Evidence]) -> list[bool]:
        """Whether the messages that pieces name lie where they may be seen from, and were heard."""
        good = [True] * len(pieces)
        if self._limits.viewpoint:
            good = self._heard(pieces)
        if not self._limits.undone or self._limits.branch is not None:
            good = [heard and lies for heard, lies in zip(good, self._lie(pieces), strict=True)]
        return good

    def _learn_projects(self, pieces: Iterable[Evidence]) -> None:
        """Read of which projects the sessions are that pieces come from which don't say it themselves."""
        names = {piece.session for piece in pieces if piece.session and not piece.project} - self._projects.keys()
        if names:
            self._projects.update(dict.fromkeys(names, ""))
            self._projects.update(self._tx.sessions.projects(self._space, sorted(names)))

    def _are_here(self, record: Record) -> list[bool]:
        if record.cue:
            return [is_open(self._open, projects_of(record))] * len(record.evidence)
        told = zip(record.evidence, record.projects, strict=True)
        return [is_open(self._open, {project or self._projects.get(piece.session, "")}) for piece, project in told]

    def _lie(self, pieces: Sequence[Evidence]) -> list[bool]:
        """Whether pieces lie on branches: what was said behind a rewind was said of what it undid."""
        places = [self._places(piece) for piece in pieces]
        good = [True] * len(pieces)
        if not self._limits.undone:
            good = [lies or not named for lies, named in zip(self._on_branch(places), places, strict=True)]
        if self._lives_once:
            forked = [[each for each in named if self._is_forked(each[0])] for named in places]
            good = [each and lies for each, lies in zip(good, self._on_branch(forked, MAIN), strict=True)]
        if self._limits.branch is not None:
            here = [[each for each in named if each[0] == self._limits.session] for named in places]
            lies = self._on_branch(here, self._limits.branch)
            good = [each and (there or not named) for each, there, named in zip(good, lies, here, strict=True)]
        return good

    @property
    def _lives_once(self) -> bool:
        """Whether who asks lives one life, and not several: of what was tried besides, a character knows nothing."""
        return bool(self._limits.viewpoint) and self._limits.branch is None and not self._limits.undone

    def _is_forked(self, session: str) -> bool:
        """Whether a session has other branches beside its main one."""
        if session not in self._forked:
            key = SessionKey(self._space, session)
            there = self._tx.sessions.branches(key) if self._tx.sessions.get(key) else {}
            self._forked[session] = len(there) > 1 and MAIN in there
        return self._forked[session]

    def lived_through(self, found: Sequence[FoundMessage]) -> list[FoundMessage]:
        """The messages that lie where who asks stands, where that is not told by their numbers."""
        if not self._lives_once:
            return list(found)
        places = [
            [(each.key.session, [each.message.id])] if self._is_forked(each.key.session) else [] for each in found
        ]
        return [each for each, lies in zip(found, self._on_branch(places, MAIN), strict=True) if lies]

    def _on_branch(self, places: Sequence[Sequence[Place]], branch: str | None = None) -> list[bool]:
        """Of each group of places whether all of them lie on a branch, or on the one called so."""
        named = [place for group in places for place in group]
        lies = self._tx.log.on_branch(self._space, named, branch) if named else ()
        ends = list(accumulate(map(len, places), initial=0))
        return [all(lies[start:end]) for start, end in pairwise(ends)]

    def _places(self, piece: Evidence) -> list[Place]:
        """The sessions that a piece's messages stand in, with those of each."""
        if piece.session or not piece.messages:
            return [(piece.session, piece.messages)] if piece.messages else []
        # It was drawn from several sessions, and does not say which.
        keys = [info.key for info in self._tx.sessions.list(self._space)]
        found: list[Place] = []
        for key in keys:
            there = {each.id for each in self._tx.log.find(key, piece.messages)}
            found += [(key.session, [name for name in piece.messages if name in there])] if there else []
        return found

    def _heard(self, pieces: Sequence[Evidence]) -> list[bool]:
        """Whether the character was present for all that pieces name; what names no message was said to nobody.

        What speaks against a memory and names nothing is the word of who tells the story, and stands for all.
        """
        places = [self._places(piece) for piece in pieces]
        wanted: dict[str, dict[MessageId, bool]] = {}
        for session, names in (place for group in places for place in group):
            wanted.setdefault(session, {}).update(dict.fromkeys(names, False))
        for session, known in wanted.items():
            for message in self._tx.log.find(SessionKey(self._space, session), list(known)):
                known[message.id] = heard_by(message.draft, self._limits.viewpoint)
        return [
            bool(piece.memories or named or _is_retraction(piece))
            and all(wanted[session][name] for session, names in named for name in names)
            for piece, named in zip(pieces, places, strict=True)
        ]

    def _carried(self, pieces: Sequence[Evidence], deep: int) -> list[bool]:
        """Whether all that conclusions were drawn from may be seen: what one of them is not known to, is not told."""
        names = list(dict.fromkeys(name for piece in pieces for name in piece.memories))
        if not names or deep > DEEPEST:
            return [not piece.memories for piece in pieces]
        cited = {each.id: each for each in self._tx.memories.get(self._space, names)}
        judged = self._judged(list(cited.values()), deep + 1)
        good = {name: _with(each, judged[name], name in self._apart) is not None for name, each in cited.items()}
        return [all(good[name] for name in piece.memories if name in good) for piece in pieces]


def without_words_of_others(record: Record, opened: frozenset[str] | None) -> Record:
    """A lesson with the evidence of the `opened` projects alone; what holds of it follows from all there is."""
    told = zip(record.evidence, record.projects, strict=True)
    kept = tuple(piece for piece, project in told if not project or is_open(opened, {project}))
    return record if len(kept) in (0, len(record.evidence)) else replace(record, evidence=kept)


def _with(record: Record, verdicts: Sequence[bool], apart: bool) -> Record | None:
    """A memory with the pieces that may be seen, not settled; None where none of them speaks for it in its words.

    Some are `apart` where they were not heard or lie elsewhere, and are not only another project's.
    """
    kept = tuple(piece for piece, good in zip(record.evidence, verdicts, strict=True) if good)
    if not kept or (supporting(record) and all(piece.against for piece in kept)):
        return None
    lacking = len(record.evidence) - len(kept)
    if not lacking:
        return record
    text = _words_of(record, kept, apart)
    # What was changed about it may have been changed where the others were told.
    kept_of_it = replace(record, evidence=kept, changes=(), seen=max(1, record.seen - lacking))
    return replace(kept_of_it, text=text) if text else None


def _is_retraction(piece: Evidence) -> bool:
    return piece.against and not piece.sources


def _without_whys(record: Record) -> Record:
    """A memory that was retracted, without the reasons, which name what nobody may have heard."""
    pieces = (replace(each, why="", conditions={}) if _is_retraction(each) else each for each in record.evidence)
    return replace(record, evidence=tuple(pieces))


def _words_of(record: Record, kept: Sequence[Evidence], apart: bool) -> str:
    """A memory's words where only a part of its evidence may be seen; empty where they may be the others'.

    Under most keys all pieces say the same. In a slot they have the value in common, and of a failure the action, and
    the words are those of the piece that was told first.
    """
    first = min((each.recorded for each in supporting(record)), default=None)
    own = [each for each in supporting(record) if each.recorded == first]
    changed = any(each.text or each.joined for each in record.changes)
    named = bool(record.value or record.signature) and not record.cue
    if named and (changed or not all(each in kept for each in own)):
        return f"{record.subject}, {record.attribute}: {record.value}" if record.value else action_of(record.signature)
    # What took in others that were worded otherwise speaks for all of them, and for none alone.
    return "" if changed and apart else record.text


def _joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of numbers, rising, of which none lies in another or overlaps it."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return out


def _aside(tx: Transaction, key: SessionKey, branch: str) -> Sequence[tuple[int, int]]:
    """What lies beside the path to a branch's head; all of the session where the branch is before its first message."""
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
"""The attribute of the facts that say how somebody is called besides."""
NAMED = 12
"""Names that are told where one is not known."""
LOOKED_AT = 64
"""Memories with the words of a name that are looked at."""


def character_asked(tx: Transaction, space: str, session: str | None, viewpoint: str) -> str:
    """The character who is meant, with all her names (``Vera = Countess``), in a session or in all of a space.

    Raises BadInput with those who are known, where nobody called so speaks or is said to be there.
    """
    who = all_names(tx, space, viewpoint)
    given = names_of(viewpoint)
    speak = tx.search.authors(space) if session is None else ()
    missing = [name for name in given if name not in speak and not tx.log.speakers(space, session, name)]
    if missing:
        known = tx.log.speakers(space, session)
        if len(names_of(who)) == len(given) or not any(is_called(who, each) for each in known):
            raise BadInput(_unknown(missing[0], space, session, sorted(known)))
    return who


def all_names(tx: Transaction, space: str, viewpoint: str) -> str:
    """A character with the names that she is given, and those that facts join to them."""
    given = {name_key(name): name for name in names_of(viewpoint)}
    joined = {name_key(name): name for name in _linked_names(tx, space, list(given.values()))}
    # Whichever of her names is given, it is the same memory.
    return SAME.join({**given, **joined}[key] for key in {**joined, **given})


def _unknown(name: str, space: str, session: str | None, known: Sequence[str]) -> str:
    where = f"session {session}" if session is not None else f"space {space!r}"
    if not known:
        return f"Nobody called {name!r} is known: the messages of {where} name no one who speaks or is there."
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f"Nobody called {name!r} is known in {where}; take one of {', '.join(known[:NAMED])}{more}."


def _linked_names(tx: Transaction, space: str, given: Sequence[str]) -> list[str]:
    """All names of those who are called by one that is given, her own first; none where no fact joins any."""
    own: dict[str, str] = {}
    for name in given:
        key = name_key(name)
        for record in _aliases(_with_words(tx, space, name)):
            if key in (name_key(record.subject), name_key(record.value)):
                own.setdefault(name_key(record.subject), record.subject)
    out = list(own.values())
    for subject in own.values():
        out += sorted(each.value for each in _aliases(tx.memories.of_key(space, "semantic", slot(subject, ALIAS))))
    return out


def _with_words(tx: Transaction, space: str, name: str) -> Iterable[Record]:
    """The memories that have all words of a name."""
    listed = tx.search.postings(space, "memories", list(dict.fromkeys(terms(name))))
    found = [set(numbers) for numbers in listed.values()]
    both = sorted(set.intersection(*found))[:LOOKED_AT] if found else []
    return [each.record for each in tx.search.memories(space, both)]


def _aliases(records: Iterable[Record]) -> Iterator[Record]:
    """Those that say how somebody is called besides, told by hand."""
    for record in records:
        by_hand = any(each.origin == "user" and not each.sources and not each.against for each in record.evidence)
        if record.holds and by_hand and record.value and attribute_of(record.attribute) == ALIAS:
            yield record


FIRST_MESSAGES = 40
"""So many messages from its beginning tell where a session worked, or none does."""
SESSIONS_AT_A_TIME = 100
"""Sessions that are looked into in one transaction."""


def session_project(tx: Transaction, key: SessionKey, head: Head) -> str:
    """The project of the session on the path to `head`: as it was told, or by where its first messages were said."""
    info = tx.sessions.get(key)
    return (info and info.project) or _project_on(tx, key, head)


def place_session(tx: Transaction, key: SessionKey, project: str = "", drafts: Sequence[Draft] = ()) -> None:
    """Note the project of a session in which `drafts` were just stored: the one that is named, or where they were said.

    Raises BadInput where it is known to be of another one than is named.
    """
    info = tx.sessions.get(key)
    if info is None:
        return
    if project:
        check_project(key.session, info.project, project)
        if info.project != project:
            tx.sessions.set_project(key, project)
    elif info.project is None or (not info.project and _may_tell(info.messages, drafts)):
        _settle(tx, key, info.project)


async def place_all(store: Store, space: str) -> None:
    """Note of every session its project of which nobody has yet: of those that an earlier version stored."""
    unplaced = await store.read(lambda tx: tx.sessions.without_project(space))
    for start in range(0, len(unplaced), SESSIONS_AT_A_TIME):

        def settle(tx: Transaction, start: int) -> None:
            for key in unplaced[start : start + SESSIONS_AT_A_TIME]:
                _settle(tx, key, None)

        await store.write(settle, start)


def check_project(session: str, known: str | None, named: str) -> None:
    """Raise BadInput where a session is known to be of another project than is named, which is none of all."""
    if known and named not in (known, GENERAL):
        raise BadInput(f"Session {session} belongs to project {known!r}, not to {named!r}; leave the project out.")


def project_asked(given: str | None) -> str | None:
    """The project that is meant by its name or a directory of it; None where none is asked for.

    Empty: what belongs to no project.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        raise BadInput(f"`project` is {type(given).__name__}; give its name, or a directory of it.")
    return project_named(given)


def project_told(given: str) -> str:
    """The project that something is said to belong to; empty where nothing is said. Raises BadInput for none."""
    named = project_asked(given) or ""
    if given.strip() and not named:
        raise BadInput(f"{given!r} names no project; give the project's name.")
    return named


def _may_tell(messages: int, drafts: Sequence[Draft]) -> bool:
    """Whether what was just stored stands at the beginning of its session, and a log says where it was said."""
    return messages - len(drafts) < FIRST_MESSAGES and any(each.record is not None for each in drafts[:FIRST_MESSAGES])


def _settle(tx: Transaction, key: SessionKey, known: str | None) -> None:
    head = tx.log.head(key, MAIN)
    found = _project_on(tx, key, head) if head else project_of(session=key.session)
    if found != known:
        tx.sessions.set_project(key, found)


def _project_on(tx: Transaction, key: SessionKey, head: Head) -> str:
    first = tx.log.path(key, head.id, 0, min(FIRST_MESSAGES, head.position))
    found = places(tx, key, [message.id for message in first])
    # A session may begin in a home and move on: the first directory that names a project counts.
    directories = dict.fromkeys(place[DIRECTORY] for message in first if (place := found.get(message.id)))
    named = (project_of(directory=directory) for directory in directories)
    return next(filter(None, named), "") or project_of(session=key.session)
