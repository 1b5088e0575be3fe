"""Find rulings of a user: sentences that bind, word for word; what takes them back, and which are one ruling.

Whether a sentence binds is judged as for pins (`ireneo.summaries.pins`). It is a ruling for later runs if it says
itself that it lasts, or if it stands in a short message: there users correct and decide, and in longer ones they
describe a task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest

from msgspec.structs import replace

from ireneo.language.files import any_of, topic
from ireneo.language.topics import Constraints, Instructions, Rulings, Wishes
from ireneo.language.words import common_words
from ireneo.lessons.observe import MOST_SOURCES
from ireneo.lessons.run import HEARD_AS, MODEL, RULING, Observation, Trigger, is_ruling
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.user_words import UserUtterance, is_work, stems_of, utterances, wish_kind
from ireneo.log.calls import has_instruction
from ireneo.log.tree import is_of_sub_agent
from ireneo.memories.record import Record, evidence_project, is_confirmed_by_user, supporting
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import OwnSentence, choice_pattern, own_words
from ireneo.summaries.pins import (
    MILD,
    STANDING,
    STRONG,
    binding_strength,
    in_context,
    is_order,
    lifting_sentences,
    refers_back,
)

_SAYS = topic(Rulings)

AGAINST = "-"
"""In a cue, marks the stem of something that must not be used."""
SHORT = 300
"""The maximum number of characters of a message in which any binding sentence is a ruling."""
FEW = 6
"""The minimum number of words of a ruling, unless it is a ban or binds strongly."""
LONGEST = 320

_LEAD = lazy_re(lambda: rf"\A(?:{any_of(topic(Constraints).lead)}\b[\s,.!:*_…–—-]*)+", re.I)
_CLAUSE = lazy_re(r"[,;:.–—(]\s+")
_BEGINS = lazy_re(r"[\w`\"'“„«¿¡@#/~.*_-]")
_TEMPER = lazy_re(lambda: rf"\A{any_of(_SAYS.temper)}(?<=[,.!?…]\s)(?=\w)|{any_of(_SAYS.temper)}\Z", re.I)
_FILE = lazy_re(r"(?<![\w./-])(?:[\w.-]++/[\w./-]*|\.[a-z][\w-]+|[\w-]++\.[a-z]{2,5})(?![\w/])")


def describe_ruling(cue: str) -> str:
    """The subject of a ruling in words, as its name."""
    return cue.removeprefix(MODEL).removeprefix(RULING)


def rulings(material: RunMaterial) -> list[Observation]:
    """The rulings of a user in a run, each once; later statements to the contrary count against it."""
    if is_of_sub_agent(material.session) or not is_work(material):
        return []
    out: dict[str, Observation] = {}
    for said in utterances(material):
        for text in _ruling_texts(said):
            _add_ruling(out, _observation(material, said, text))
        if not said.opening:
            _count_withdrawal(out, material, said)
    return list(out.values())


def _ruling_texts(said: UserUtterance) -> Iterator[str]:
    """The sentences that rule, each with a reason that is given behind it."""
    lifted = lifting_sentences(said.text, replaces=False)
    own = [each for each in own_words(said.text) if each.text]
    for each, behind in zip_longest(own, own[1:]):
        if each.text not in lifted and _is_whole(each.text) and _rules(each, said):
            text = _TEMPER.sub("", _SAYS.fillers.sub("", in_context(replace(each, with_before=each.text)), count=1))
            if behind is not None and behind.near and _belongs_to(text, behind.text):
                text = f"{text} {behind.text}"
            text = " ".join(text.split())
            if stems_of(text) and text.isprintable() and not (_SAYS.for_now.search(text) or has_instruction(text)):
                yield text


def _is_whole(sentence: str) -> bool:
    """Whether a sentence is understood without what it answers or comments on: no choice, aside or rest of one."""
    return _BEGINS.match(sentence) is not None and choice_pattern().match(sentence) is None


def _rules(sentence: OwnSentence, said: UserUtterance) -> bool:
    """Whether a sentence rules; what states a task describes it, unless it is a ban."""
    text, bans = sentence.text, forbids(sentence.text)
    customs = _SAYS.customs.search(text) is not None and not text.endswith("?")
    strength = max(binding_strength(sentence), MILD * customs)
    least = MILD if len(said.text) <= SHORT and (bans or not said.opening) else STANDING
    if strength < least or not sentence.personal or sentence.step:
        return False
    begins = replace(sentence, text=_CLAUSE.split(text, maxsplit=1)[0])
    if refers_back(sentence) and refers_back(begins):
        return False  # A later clause may refer to the first one.
    if len(text.split()) < FEW and strength < STRONG and not (bans or _trigger(text)):
        return False
    # A wish is told in the words of its kind, once it is repeated.
    return strength >= STRONG or not wish_kind(text)


def _belongs_to(ruling: str, behind: str) -> bool:
    """Whether the sentence behind a ruling gives its reason or, in a few words, what to do in place of what it bans."""
    instead = forbids(ruling) and len(behind.split()) <= FEW + 1 and not behind.endswith(("?", ":"))
    return len(ruling) + len(behind) < LONGEST and bool(instead or _SAYS.reasons.match(behind))


def _observation(material: RunMaterial, said: UserUtterance, text: str) -> Observation:
    trigger = _trigger(text) or _folder_trigger(text)
    return Observation(
        cue=ruling_cue(text),
        category="procedural",
        session=material.session,
        project=material.project,
        at=said.message.draft.at,
        held=1,
        text=text,
        conditions={HEARD_AS: said.heard_as},
        way_out=_way_out(text),
        why=text if trigger else "",
        trigger=trigger,
        sources=(said.message.id,),
    )


def generality_rank(text: str) -> float:
    """How general a ruling is by its wording: a number for ranking."""
    return max(map(binding_strength, own_words(text)), default=0.0) + bool(_SAYS.process.search(text))


def is_instruction(ruling: str) -> bool:
    """Whether a ruling may stand among a project's instructions though it was said once: for any work, or a ban."""
    wide = forbids(ruling) or is_about_all_work(ruling)
    return wide or max(map(binding_strength, own_words(ruling)), default=0.0) >= STANDING


def is_about_all_work(ruling: str) -> bool:
    """Whether a ruling is about what all work on a project includes, such as its commits, and not about one place.

    Whether one file is committed only concerns those who work on that file.
    """
    return _SAYS.any_work.search(ruling) is not None and _FILE.search(ruling) is None


def stands_alone(ruling: str) -> bool:
    """Whether a ruling that one run shows is told.

    It points at nothing, neither asks, supposes nor answers, and bans, states a custom, chooses a tool, binds strongly,
    or is about what all work includes.
    """
    unsure = ruling.endswith("?") or topic(Instructions).supposes.search(ruling)
    if unsure or _SAYS.points.search(ruling) or topic(Wishes).accepted.match(ruling):
        return False
    formed = forbids(ruling) or _trigger(ruling) or _SAYS.customs.search(ruling) or is_about_all_work(ruling)
    # Words in capitals stress what binds within a task, and make nothing that a stranger can apply.
    return bool(formed) or max(map(binding_strength, own_words(ruling.lower())), default=0.0) >= STRONG


def forbids(ruling: str) -> bool:
    """Whether a ruling begins with a ban."""
    return _SAYS.bans.match(_LEAD.sub("", ruling, count=1)) is not None


def only_forbids(ruling: str) -> bool:
    """Whether a ruling only forbids something, without saying what to do instead."""
    return forbids(ruling) and not any(map(is_order, _CLAUSE.split(ruling)[1:]))


# Rulings are compared by the stems of their words, in any order. Stems of what to use and of what not to use are
# distinguished: "use npm, not pnpm" and the opposite have the same subject.


SHARED = 0.6
"""The minimum share of the shorter ruling's stems that both must have."""
ALIKE = 0.3
"""The minimum share of all stems of both rulings that both must have."""
MOST_STEMS = 24


def same_ruling(one: str, other: str) -> bool:
    """Whether two cues are the same ruling in other words; symmetric."""
    return one == other or (_same_subject(one, other) and not _contradicts(one, other))


def are_opposed(one: str, other: str) -> bool:
    """Whether one ruling replaces another, because one asks for what the other forbids."""
    a, b = _bare_stems(one), _bare_stems(other)
    return _contradicts(one, other) and 2 * len(a & b) >= min(len(a), len(b))


def merge_rulings(records: Sequence[Record]) -> list[Record]:
    """Merge the memories that are one ruling in several wordings, with all their evidence.

    The wording is the one that the user kept, otherwise the one of most runs among those that are clear by themselves.
    Of two rulings that contradict each other in one project only the newer is kept.
    """
    of_cue = {each.cue: each for each in records if is_ruling(each.cue)}
    out = [each for each in records if each.cue not in of_cue]
    for group in ruling_groups(of_cue):
        for own in _split_sides([of_cue[cue] for cue in group]):
            alike = sorted(own, key=_wording_key) if len(own) > 1 else own
            pieces = {(piece.session, piece.against): piece for each in reversed(alike) for piece in each.evidence}
            out.append(replace(alike[0], evidence=tuple(pieces.values())) if len(alike) > 1 else alike[0])
    return out


def _split_sides(records: Sequence[Record]) -> list[list[Record]]:
    """The rulings on one subject: together, or those that forbid apart from those that ask for it.

    A later ruling ends earlier ones of the other side, in the projects in which both were said.
    """
    if len(records) == 1:
        return [list(records)]
    sides = [[each for each in records if only_forbids(each.text) is bans] for bans in (True, False)]
    if not all(sides):
        return [list(records)]
    ended = [_not_ended_by(side, other) for side, other in (sides, sides[::-1])]
    return [side for side in ended if side]


def _not_ended_by(side: Sequence[Record], other: Sequence[Record]) -> list[Record]:
    """The rulings of a side that no later one of the other side ends."""
    said = [(_projects(each), last) for each in other if (last := _last_said(each)) is not None]

    def is_ended(record: Record) -> bool:
        last, here = _last_said(record), _projects(record)
        return last is not None and any(last < later and (here & there or here == there) for there, later in said)

    return [each for each in side if is_confirmed_by_user(each) or not is_ended(each)]


def _last_said(record: Record) -> datetime | None:
    return max((each.when for each in supporting(record) if each.when is not None), default=None)


def _projects(record: Record) -> frozenset[str]:
    return frozenset(evidence_project(each) for each in supporting(record)) - {""}


def _wording_key(record: Record) -> tuple[object, ...]:
    confirmed = is_confirmed_by_user(record)
    return not confirmed, -record.runs, -generality_rank(record.text), -len(record.text), record.id


def related_rulings(cues: Iterable[str], every: Sequence[str]) -> frozenset[str]:
    """Return `cues`, and those of `every` that are the same ruling as one of them, or its opposite."""
    known = set(every)
    out, ways = set(cues), [cue for cue in cues if is_ruling(cue)]
    for cue in ways:
        near = [each for each in known - out if same_ruling(cue, each) or are_opposed(cue, each)]
        out.update(near)
        ways += near
    return frozenset(out)


def observations_against(cue: str, every: Sequence[Observation]) -> list[Observation]:
    """The observations against a ruling: those that lift it, in any wording, and opposed rulings."""
    group = next(group for group in ruling_groups([cue, *(each.cue for each in every)]) if cue in group)
    return [
        each
        for each in every
        if (each.cue in group and each.broke and not each.held)
        or (each.held and any(are_opposed(each.cue, other) for other in group))
    ]


def ruling_groups(cues: Iterable[str]) -> list[tuple[str, ...]]:
    """Group the cues of the same ruling; groups and their cues are sorted."""
    listed = sorted(set(cues))
    holding: dict[str, set[str]] = {}
    for cue in listed:
        for stem in _bare_stems(cue):
            holding.setdefault(stem, set()).add(cue)
    left = dict.fromkeys(listed)
    out: list[tuple[str, ...]] = []
    while left:
        group = [left.popitem()[0]]
        for known in group:
            near = set().union(*(holding[stem] for stem in _bare_stems(known)))
            for each in sorted(near & left.keys()):
                # A cue similar to one and opposed to another is a ruling of its own.
                if same_ruling(known, each) and not any(are_opposed(each, other) for other in group):
                    del left[each]
                    group.append(each)
        out.append(tuple(sorted(group)))
    return sorted(out)


def _same_subject(one: str, other: str) -> bool:
    a, b = _bare_stems(one), _bare_stems(other)
    shared = len(a & b)
    if shared < 2:
        return bool(a) and a == b
    if shared == 2 and shared < min(len(a), len(b)):
        return False  # Two words in common are too few for a long sentence.
    return shared >= SHARED * min(len(a), len(b)) and shared >= ALIKE * len(a | b)


def _contradicts(one: str, other: str) -> bool:
    a, b = _cue_stems(one), _cue_stems(other)
    return any(f"{AGAINST}{stem}" in b for stem in a) or any(f"{AGAINST}{stem}" in a for stem in b)


@lru_cache(maxsize=4_096)
def _cue_stems(cue: str) -> frozenset[str]:
    return frozenset(describe_ruling(cue).split())


@lru_cache(maxsize=4_096)
def _bare_stems(cue: str) -> frozenset[str]:
    return frozenset(stem.removeprefix(AGAINST) for stem in _cue_stems(cue))


def ruling_cue(text: str) -> str:
    """The cue of a ruling in these words."""
    text = _PAIR.sub(lambda pair: pair[0].replace("/", " "), text)
    refused = {stem for thing in named_things(text, _REFUSES) for stem in stems_of(thing)}
    chosen = {stem for thing in named_things(text, _CHOOSES) for stem in stems_of(thing)}
    told = stems_of(text)
    if forbids(text):
        # Not editing something includes not updating it: the thing alone identifies the ruling.
        told = told - _changing() or told
    stems = sorted(told - refused) + sorted(f"{AGAINST}{stem}" for stem in refused - chosen)
    return f"{RULING}{' '.join(stems[:MOST_STEMS])}"


def _changing() -> frozenset[str]:
    """The stems of verbs that mean the same for things that must not be changed."""
    return frozenset(stem for word in _SAYS.changing for stem in stems_of(word))


_PROGRAMS = frozenset(
    "apt apt-get brew bun bundle cargo conda curl docker eslint gh git gofmt gradle grep helm jest kubectl mise mocha"
    " mvn mypy npm npx pip pip3 pipenv pnpm podman pytest rg sed sudo terraform tox tsc uv uvx vitest wget yarn".split()
)
"""Programs that are recognised without backticks, as in “use pnpm”: their names are not words of the language."""
_THING = (
    r"(?P<thing>`[^`\n]{1,80}`|--?[A-Za-z][\w-]*|(?:[\w@.-]{1,60}/){1,12}[\w.@-]*|[\w-]{1,60}\.[a-z]{1,5}\b"
    rf"|\b(?:{'|'.join(sorted(_PROGRAMS, key=len, reverse=True))})\b(?![-/])"
    r"(?: (?:run|test|install|build|commit|push|add|compose|exec)\b)?)"
)
_PAIR = lazy_re(r"[a-z-]{2,30}s/[a-z-]{2,30}s")
"""Two words for kinds of things, as in “mocks/stubs”; a path only if it must not be changed."""
_CHANGING = lazy_re(lambda: rf"\b{any_of(sorted(_SAYS.changing))}", re.I)
_REFUSES = lazy_re(lambda: rf"(?<!\w){any_of(_SAYS.refused)}{_THING}", re.I)
_CHOOSES = lazy_re(lambda: rf"(?<!\w){any_of(_SAYS.chosen)}{_THING}", re.I)
_LEAVES_BE = lazy_re(
    lambda: (
        rf"(?<!\w){any_of(_SAYS.bans)}.{{0,12}}?(?P<act>{any_of(sorted(_SAYS.changing))})(?:ing)? "
        rf"(?:(?:{any_of(_SAYS.folders)}) )*(?P<folder>[a-z][a-z_-]{{3,30}}s)"
        rf"(?= ?(?:[,.;!:)]|\Z|{any_of(_SAYS.goes_on)}\b))"
    ),
    re.I,
)
"""A ban on changing the content of a folder, by its name: “never touch the migrations”."""
_FLAG = lazy_re(r"(?<![\w-])--[a-z][\w-]+")


def named_things(text: str, pattern: re.Pattern[str]) -> list[str]:
    """The commands, flags and paths that a text says to use, or not to use, depending on `pattern`."""
    said = pattern.finditer(text)
    found = [each["thing"] for each in said if not _PAIR.fullmatch(each["thing"]) or _CHANGING.search(each[0])]
    return [bare for each in found if (bare := each.strip("`").rstrip("."))]


def _trigger(text: str) -> Trigger | None:
    """The calls that violate a ruling which says what to use, or not to use; None if it names none."""
    refused, chosen = named_things(text, _REFUSES), named_things(text, _CHOOSES)
    unless = tuple(dict.fromkeys(each for each in chosen if each not in refused))
    for each in refused:
        flags = tuple(_FLAG.findall(each))
        if each.startswith("-"):
            return Trigger(words=(each,), unless=unless)
        if each.split()[0].lower() in _PROGRAMS:
            plain = " ".join(word for word in each.split() if not word.startswith("-"))
            return Trigger(command=plain, words=flags, unless=unless)
        if "/" in each or "." in each:
            return Trigger(path=each, unless=unless)
    return None


def _folder_trigger(text: str) -> Trigger | None:
    """The changes in a folder that a ruling names without a path; None if it names none."""
    left = _LEAVES_BE.search(text)
    folder = left["folder"].lower() if left is not None else ""
    general = {"files", *_SAYS.plain, *common_words()}
    return Trigger(path=f"{folder}/") if folder and folder not in general else None


def _way_out(text: str) -> str:
    """What to use instead, if a ruling names it."""
    refused = named_things(text, _REFUSES)
    chosen = [each for each in named_things(text, _CHOOSES) if each not in refused]
    return f"use `{chosen[0]}`" if chosen and refused else ""


def _add_ruling(out: dict[str, Observation], seen: Observation) -> None:
    """Add a ruling: to the same one in other words, and against those that it replaces."""
    bans = only_forbids(seen.text)
    for cue, known in list(out.items()):
        contrary = bool(known.text) and same_ruling(cue, seen.cue) and only_forbids(known.text) is not bans
        if known.held and (contrary or are_opposed(cue, seen.cue)):
            out[cue] = _count_against(known, seen)
    same = (cue for cue, known in out.items() if known.text and same_ruling(cue, seen.cue))
    alike = next((cue for cue in same if only_forbids(out[cue].text) is bans), "")
    if not alike:
        out[seen.cue] = seen
    elif seen.sources[0] not in out[alike].sources:
        known = out[alike]
        sources = tuple(dict.fromkeys((*known.sources, *seen.sources)))[:MOST_SOURCES]
        # A withdrawn ruling that is repeated holds again.
        out[alike] = replace(known, held=known.held + 1, broke=0, against=(), at=seen.at or known.at, sources=sources)


def _count_against(known: Observation, seen: Observation) -> Observation:
    return replace(known, held=0, broke=known.broke + 1, at=seen.at or known.at, against=seen.sources[:1])


def _count_withdrawal(out: dict[str, Observation], material: RunMaterial, said: UserUtterance) -> None:
    """Count a user's withdrawal against the ruling, whether it was made in this run or an earlier one."""
    for text in lifting_sentences(said.text, replaces=False):
        cue = ruling_cue(text)
        if not stems_of(text) or any(_is_of(each, text, said) for each in out.values()):
            continue
        seen = Observation(
            cue=cue,
            category="procedural",
            session=material.session,
            project=material.project,
            at=said.message.draft.at,
            broke=1,
            against=(said.message.id,),
            sources=(said.message.id,),
        )
        ruled = [each for each, known in out.items() if known.held and same_ruling(each, cue)]
        out.update((each, _count_against(out[each], seen)) for each in ruled)
        if not ruled:
            out.setdefault(cue, seen)


def _is_of(known: Observation, text: str, said: UserUtterance) -> bool:
    """Whether a sentence is part of a known ruling."""
    return said.message.id in known.sources and text in known.text
