"""What a user rules: corrections, refusals with words, and how things are done here, word for word.

A ruling binds later runs. A step of the task at hand does not, and neither does what a program, a template or another
agent wrote in the user's place. What binds inside of its session alone are pins (`ireneo.summaries.pins`), whose rules
serve here too: for what is worth telling to the next run they are narrower in the task's particulars, and wider in what
corrects the agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.language.files import either, topic
from ireneo.language.topics import Binding, Rulings
from ireneo.lessons.observe import MOST_SOURCES
from ireneo.lessons.rule_weights import (
    ABOUT,
    LEAST,
    NAMES,
    RULES,
    STANDS,
    alone_weight,
    blames,
    consults,
    of_process,
    of_task,
    weight,
)
from ireneo.lessons.run import MODEL, RULING, Observation, Trigger, is_ruling
from ireneo.lessons.shell import RunMaterial, run_steps
from ireneo.lessons.told_once import stands_alone
from ireneo.lessons.user_words import FEW, UserWords, said_by_user, stems_of
from ireneo.memories.record import Record, is_kept
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import OwnSentence, own_words
from ireneo.summaries.pins import STRONG, binding_strength, in_context, lifts_in, points_back
from ireneo.summaries.steps import CHANGES

# What a user rules: corrections, refusals with words, and how things are done here, word for word.


AGAINST = "-"
"""What stands before a stem of what is not to be used."""
WHOLE = 300
"""Characters of a message that is quoted whole: what it says stands in its own words best."""
MOSTLY = 3
"""Such a part of it, a third, has to be a ruling."""
LONGEST = 320
MOST = 4
"""Rulings of one message."""
DENIED = 1.0
"""What a sentence gains beside one that says no to what was done."""
WORK = CHANGES | {"read"}
"""Kinds of action by which a run works on something of a project, and not on a customer's case."""
OF_CODING = frozenset("aider claude-code codex gemini-cli pi specstory".split())
"""Logs that only tools for work on a project write; some of them hold no call."""
CONCEDED = "conceded"
"""The condition of a ruling upon which the agent said that the user was right."""


def _words() -> Rulings:
    return topic(Rulings)


def _begins(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: either(rows()), re.I)


_POLITE = _begins(lambda: _words().polite)
_TAG = lazy_re(lambda: either(_words().tags), re.I)
_REASON = _begins(lambda: _words().reasons)
_BAN_ASIDE = lazy_re(lambda: rf"(?<=\w \()(?P<ban>{either(topic(Binding).bans)}[^()\n]{{1,200}})\) (?=\w)", re.I)
_NO = lazy_re(r"(?:no|nope|nein)\b", re.I)
_HELPER = lazy_re(r"/(?:agent|sidechain)-|-sidechain-\d+\Z")


def ruling_words(cue: str) -> str:
    """What a ruling is about, in words: as a name by which it is known."""
    return cue.removeprefix(MODEL).removeprefix(RULING)


def rulings(material: RunMaterial) -> list[Observation]:
    """What a user ruled in a run, each ruling once; what was said otherwise later speaks against it."""
    if _HELPER.search(material.session):
        return []  # Whoever asks a helper for something is an agent.
    works = is_work(material)
    out: dict[str, Observation] = {}
    for said in said_by_user(material):
        for found in (*_found(said, works=works), *_put_in(said, works=works)):
            _take_in(out, _observation(material, said, found))
        if not said.opening:
            _withdraw(out, material, said)
    return list(out.values())


def is_work(material: RunMaterial) -> bool:
    """Whether a run works on something of a project: its log is of a tool for just that, or its calls show it."""
    if material.source in OF_CODING:
        return True
    return any(step.action.shell or step.action.kind in WORK for step in run_steps(material))


class FoundRuling(Struct, frozen=True, kw_only=True):
    """A ruling as it stands there."""

    text: str
    tells: bool
    """It says itself what it is about."""
    why: str


def _found(said: UserWords, *, works: bool) -> list[FoundRuling]:
    """The rulings in what a user says at once."""
    own = [each for each in own_words(said.text) if each.text]
    marks = [_weight(each, said, works=works) for each in own]
    denied = [blames(each.text) for each in own]
    if not said.opening and any(denied):
        # Beside a no stands what is to be instead.
        marks = [
            mark + DENIED * (sum(denied) > no and bool(stems_of(each.text)))
            for mark, each, no in zip(marks, own, denied, strict=True)
        ]
    whole = " ".join(said.text.split())
    if not any(mark >= RULES for mark in marks):
        # What binds in none of its sentences may do so in all of them together.
        alone = works and own and not said.opening and len(whole) <= WHOLE and not lifts_in(whole, replaces=False)
        together = " ".join(each.text for each in own)
        binds = alone and len(together) >= len(whole) - 3 and stands_alone(whole, conceded=said.conceded)
        return [FoundRuling(text=whole, tells=_tells(own[0], whole), why=_why(whole, own))] if binds else []
    ruled = sum(len(each.text) + 1 for each, mark in zip(own, marks, strict=True) if mark >= RULES)
    all_own = sum(len(each.text) + 1 for each in own) >= len(whole) - 3
    if len(whole) <= WHOLE and not said.opening and all_own and MOSTLY * ruled >= len(whole):
        return [FoundRuling(text=whole, tells=_tells(own[0], whole), why=_why(whole, own))]
    out: list[FoundRuling] = []
    place = 0
    while place < len(own):
        if marks[place] < RULES:
            place += 1
            continue
        text, end = in_context(own[place]), place + 1
        # What follows at once, and rules as well or says why, belongs to it; so does what a bare no leads to.
        while end < len(own) and (
            (own[end].near and (marks[end] >= RULES or _REASON.match(own[end].text))) or len(stems_of(text)) < FEW
        ):
            longer = f"{text} {own[end].text}"
            if len(longer) > LONGEST:
                break
            text, end = longer, end + 1
        out.append(FoundRuling(text=text, tells=_tells(own[place], text), why=_why(text, own[place:end])))
        place = end
    return out[:MOST]


def _put_in(said: UserWords, *, works: bool) -> list[FoundRuling]:
    """What is forbidden in brackets, amid a sentence about something else."""
    if said.opening or not works:
        return []
    own = " ".join(each.text for each in own_words(said.text))
    bans = (found["ban"].strip() for found in _BAN_ASIDE.finditer(own))
    return [FoundRuling(text=each, tells=True, why="") for each in bans]


def _weight(own: OwnSentence, said: UserWords, *, works: bool) -> float:
    """How much speaks for a sentence being a ruling, where it stands."""
    sentence = own.text[:2_000].strip()
    if polite := _POLITE.match(sentence):
        sentence = sentence[polite.end() :].rstrip("?")
        own = replace(own, text=sentence)
    if own.step or len(sentence) < 6 or sentence.endswith(":"):
        return 0.0
    agreed = _TAG.search(sentence)
    if agreed and said.chosen:
        sentence = sentence[: agreed.start()] + "."
    binds, speaks, hand = binding_strength(replace(own, text=sentence)), weight(sentence), of_task(sentence)
    if said.opening or not works:
        # What a task says of itself is the task.
        told = works and (consults(sentence) or binds > 0) and alone_weight(sentence) >= STANDS
        beyond = binds > STRONG or told
        return RULES if own.personal and not hand and beyond else 0.0
    lifts = lifts_in(own.text, replaces=False)
    if any(sentence in each or each in sentence for each in lifts) and not blames(sentence):
        return 0.0  # What is allowed again rules nothing.
    if (own.personal or len(said.text) <= WHOLE) and stands_alone(own.text, conceded=said.conceded):
        return RULES
    if not own.personal:
        return binds if binds >= STRONG and not hand and speaks > 0 else 0.0
    bound = binds if speaks > 0 and not hand else 0.0
    return max(bound, speaks) + 0.5 * said.stopped + 0.5 * said.chosen + 1.0 * (bool(agreed) and said.chosen)


def _only_denies(text: str) -> bool:
    """Whether a text says no, and nothing of what is to be instead."""
    return blames(text) and weight(text) < STANDS


def _tells(first: OwnSentence, text: str) -> bool:
    """Whether a ruling says itself what it is about: it neither answers something nor points back to it."""
    if text != first.text and text.endswith(first.text) and text == first.with_before:
        return True
    return not (_NO.match(text) or points_back(first) or len(stems_of(text)) < FEW)


def _why(text: str, own: Sequence[OwnSentence]) -> str:
    """The reason that the user gives: a sentence of its own, or what stands behind a comma."""
    for each in own[1:]:
        if _REASON.match(each.text):
            return each.text
    for found in re.finditer(r",?\s+", text):
        if (found[0].startswith(",") or found.start() > 0) and _GIVES.match(text, found.end()):
            return text[found.end() :].rstrip(". ")
    return ""


_GIVES = lazy_re(lambda: rf"{either(_words().reasons[:4])}", re.I)


def _observation(material: RunMaterial, said: UserWords, found: FoundRuling) -> Observation | None:
    text = " ".join(found.text.split())
    stems, trigger = stems_of(text), _trigger(text)
    about = "" if trigger or (found.tells and not said.chosen) else said.about
    # Of another thing than what it was said to: one that it names, or how work is done.
    apart = (about.startswith("“") and NAMES.search(text)) or (about.startswith("changing") and of_process(text))
    about = "" if apart and len(stems) >= FEW else about
    told = f"On {about}: “{text}”" if about else text
    if not stems or (len(stems) < LEAST and _only_denies(text)) or not told.isprintable() or instruction_like(told):
        return None
    return Observation(
        cue=ruling_cue(text if len(stems) >= FEW else told),
        category="procedural",
        session=material.session,
        project=material.project,
        at=said.message.draft.at,
        held=1,
        text=told,
        conditions={CONCEDED: "yes"} if said.conceded else {},
        way_out=_way_out(text),
        why=text if trigger else found.why,
        trigger=trigger,
        sources=tuple(dict.fromkeys(name for name in (said.message.id, said.about_source if about else None) if name)),
    )


def reach(text: str) -> float:
    """How far a ruling reaches, as its words tell: more, the less it is of what it was said about."""
    about = ABOUT.match(text)
    out = 0.0
    for each in own_words(text[about.end() :] if about else text):
        out = max(out, binding_strength(each) + weight(each.text))
    # A call that was refused tells of how the user wants to work, a sentence only of itself.
    return out - (about is not None and "`: “" not in about[0])


# One ruling in other words: what it is about, by the stems of its words, whatever their order.
#
# What is to be used and what is not are told apart: "use npm, not pnpm" is about the same as the contrary.


SHARED = 0.6
"""Of the stems of the shorter of two rulings so many stand in the other."""
ALIKE = 0.3
"""Of all stems of both so many stand in either."""
MOST_STEMS = 24


def same_ruling(one: str, other: str) -> bool:
    """Whether two cues are of one ruling in other words; which of them comes first makes no difference."""
    return one == other or (_about_the_same(one, other) and not _against(one, other))


def opposed(one: str, other: str) -> bool:
    """Whether one ruling takes the place of another: what is to be used by one is not to be by the other."""
    a, b = _bare_stems(one), _bare_stems(other)
    return _against(one, other) and 2 * len(a & b) >= min(len(a), len(b))


def merged_rulings(records: Sequence[Record]) -> list[Record]:
    """The same memories, those of one ruling as one: with the evidence of all.

    They stand in the words that the user kept, or else in those that most runs used.
    """
    of_cue = {each.cue: each for each in records if is_ruling(each.cue)}
    out = [each for each in records if each.cue not in of_cue]
    for group in ruling_groups(of_cue):
        own = [of_cue[cue] for cue in group]
        alike = sorted(own, key=lambda each: (not is_kept(each), -len(each.sessions), -len(each.text), each.id))
        pieces = {(piece.session, piece.against): piece for each in reversed(alike) for piece in each.evidence}
        out.append(replace(alike[0], evidence=tuple(pieces.values())) if len(alike) > 1 else alike[0])
    return out


def related_rulings(cues: Iterable[str], every: Sequence[str]) -> frozenset[str]:
    """Those of `every` that are of one ruling with some of `cues`, or of its contrary, those given among them."""
    known = set(every)
    out, ways = set(cues), [cue for cue in cues if is_ruling(cue)]
    for cue in ways:
        near = [each for each in known - out if same_ruling(cue, each) or opposed(cue, each)]
        out.update(near)
        ways += near
    return frozenset(out)


def against_ruling(cue: str, every: Sequence[Observation]) -> list[Observation]:
    """The observations that speak against a ruling: what lifts it, in whatever words, and what is opposed to it."""
    group = next(group for group in ruling_groups([cue, *(each.cue for each in every)]) if cue in group)
    return [
        each
        for each in every
        if (each.cue in group and each.broke and not each.held)
        or (each.held and any(opposed(each.cue, other) for other in group))
    ]


def ruling_groups(cues: Iterable[str]) -> list[tuple[str, ...]]:
    """Cues of rulings, those of one ruling together, each group and all of them in the order of the alphabet."""
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
                # What is like one of them and opposed to another is a ruling of its own.
                if same_ruling(known, each) and not any(opposed(each, other) for other in group):
                    del left[each]
                    group.append(each)
        out.append(tuple(sorted(group)))
    return sorted(out)


def _about_the_same(one: str, other: str) -> bool:
    a, b = _bare_stems(one), _bare_stems(other)
    shared = len(a & b)
    if shared < 2:
        return bool(a) and a == b
    if shared == 2 and shared < min(len(a), len(b)):
        return False  # Two words in common are none of a long sentence.
    return shared >= SHARED * min(len(a), len(b)) and shared >= ALIKE * len(a | b)


def _against(one: str, other: str) -> bool:
    a, b = _signed(one), _signed(other)
    return any(f"{AGAINST}{stem}" in b for stem in a) or any(f"{AGAINST}{stem}" in a for stem in b)


@lru_cache(maxsize=4_096)
def _signed(cue: str) -> frozenset[str]:
    return frozenset(ruling_words(cue).split())


@lru_cache(maxsize=4_096)
def _bare_stems(cue: str) -> frozenset[str]:
    return frozenset(stem.removeprefix(AGAINST) for stem in _signed(cue))


def ruling_cue(text: str) -> str:
    """The code of what a user ruled in these words."""
    refused = {stem for thing in things(text, _REFUSES) for stem in stems_of(thing)}
    chosen = {stem for thing in things(text, _CHOOSES) for stem in stems_of(thing)}
    stems = sorted(stems_of(text) - refused) + sorted(f"{AGAINST}{stem}" for stem in refused - chosen)
    return f"{RULING}{' '.join(stems[:MOST_STEMS])}"


# What a ruling forbids or asks for of a call.


_PROGRAMS = frozenset(
    "apt apt-get brew bun bundle cargo conda curl docker eslint gh git gofmt gradle grep helm jest kubectl mise mocha"
    " mvn mypy npm npx pip pip3 pipenv pnpm podman pytest rg sed sudo terraform tox tsc uv uvx vitest wget yarn".split()
)
"""Programs that are known without a mark, as in “use pnpm”: their names are no words."""
_THING = (
    r"(?P<thing>`[^`\n]{1,80}`|--?[A-Za-z][\w-]*|(?:[\w@.-]{1,60}/){1,12}[\w.@-]*|[\w-]{1,60}\.[a-z]{1,5}\b"
    rf"|\b(?:{'|'.join(sorted(_PROGRAMS, key=len, reverse=True))})\b(?![-/])"
    r"(?: (?:run|test|install|build|commit|push|add|compose|exec)\b)?)"
)
_REFUSES = lazy_re(lambda: rf"(?<!\w){either(_words().refused)}{_THING}", re.I)
_CHOOSES = lazy_re(lambda: rf"(?<!\w){either(_words().chosen)}{_THING}", re.I)
_ACT = lazy_re(lambda: f"(?:{'|'.join(either(said) for said in _words().acts.values())})", re.I)
_FORBIDS_ACT = lazy_re(
    lambda: rf"(?<!\w){either(_words().forbids)}(?P<act>{either(map(either, _words().acts.values()))})\b", re.I
)
_FIRST = lazy_re(
    lambda: (
        rf"(?<!\w){either(_words().chosen)}{_THING}[^.;\n]{{0,40}}? {either(_words().before)} (?:\w+ )?"
        rf"(?P<act>{either(map(either, _words().acts.values()))})\b"
    ),
    re.I,
)
_FIRST_TURNED = lazy_re(
    lambda: (
        rf"(?<!\w){either(_words().before)} (?:\w+ )?(?P<act>{either(map(either, _words().acts.values()))})\b"
        rf"[^.;\n]{{0,60}}?{either(_words().chosen)}{_THING}"
    ),
    re.I,
)
_BRANCH = lazy_re(r"\b(main|master|develop|dev|trunk)\b", re.I)
_FLAG = lazy_re(r"(?<![\w-])--[a-z][\w-]+")


def things(text: str, pattern: re.Pattern[str]) -> list[str]:
    """What a text says is not to be used, or is: commands, flags and paths."""
    found = [each["thing"] for each in pattern.finditer(text)]
    return [bare for each in found if (bare := _thing(each))]


def _thing(written: str) -> str:
    """What is named, without its marks."""
    return written.strip("`").rstrip(".")


def _trigger(text: str) -> Trigger | None:
    """The calls that go against a ruling; None where it speaks of none."""
    refused, chosen = things(text, _REFUSES), things(text, _CHOOSES)
    first = _FIRST.search(text) or _FIRST_TURNED.search(text)
    if first is not None and (thing := _thing(first["thing"])):
        return Trigger(command=_command_of(first["act"]), unless=(thing,))
    unless = tuple(dict.fromkeys(each for each in chosen if each not in refused))
    act = _FORBIDS_ACT.search(text)
    for each in refused:
        flags = tuple(_FLAG.findall(each))
        if each.startswith("-"):
            return Trigger(
                command=_command_of(act["act"]) if act else _said_command(text), words=(each,), unless=unless
            )
        if each.split()[0].lower() in _PROGRAMS:
            plain = " ".join(word for word in each.split() if not word.startswith("-"))
            return Trigger(command=plain, words=flags, unless=unless)
        if "/" in each or "." in each:
            return Trigger(path=each, unless=unless)
    if act is not None and binding_forbids(text):
        branch = _BRANCH.search(text, act.end())
        words = (*_FLAG.findall(text), *((branch[1],) if branch else ()))
        return Trigger(command=_command_of(act["act"]), words=words, unless=unless)
    return None


def binding_forbids(text: str) -> bool:
    """Whether a text forbids something for good, and not only for the time being."""
    return any(binding_strength(each) >= STRONG or consults(each.text) for each in own_words(text))


def _command_of(act: str) -> str:
    return next((name for name, said in _words().acts.items() if re.fullmatch(either(said), act, re.IGNORECASE)), "")


def _said_command(text: str) -> str:
    """The command of which a text speaks, by the word for what it does."""
    found = _ACT.search(text)
    return _command_of(found[0]) if found else ""


def _way_out(text: str) -> str:
    """What to do instead, as far as a ruling names it."""
    first = _FIRST.search(text) or _FIRST_TURNED.search(text)
    if first is not None and (thing := _thing(first["thing"])):
        return f"run `{thing}` first"
    refused = things(text, _REFUSES)
    chosen = [each for each in things(text, _CHOOSES) if each not in refused]
    return f"use `{chosen[0]}`" if chosen and refused else ""


# What a user says otherwise later, in one run: then the ruling does not hold any more.


def _take_in(out: dict[str, Observation], seen: Observation | None) -> None:
    """Add a ruling: to what is the same in other words, and against what it takes the place of."""
    if seen is None:
        return
    for cue, known in list(out.items()):
        if known.held and opposed(cue, seen.cue):
            out[cue] = _broken(known, seen)
    alike = next((cue for cue, known in out.items() if known.text and same_ruling(cue, seen.cue)), "")
    if not alike:
        out[seen.cue] = seen
    elif seen.sources[0] not in out[alike].sources:
        known = out[alike]
        sources = tuple(dict.fromkeys((*known.sources, *seen.sources)))[:MOST_SOURCES]
        # What was withdrawn and is said again holds again.
        out[alike] = replace(known, held=known.held + 1, broke=0, against=(), at=seen.at or known.at, sources=sources)


def _broken(known: Observation, seen: Observation) -> Observation:
    return replace(known, held=0, broke=known.broke + 1, at=seen.at or known.at, against=seen.sources[:1])


def _withdraw(out: dict[str, Observation], material: RunMaterial, said: UserWords) -> None:
    """Let what is not asked for any more speak against what was ruled, in this run or in an earlier one."""
    for text in lifts_in(said.text, replaces=False):
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
        out.update((each, _broken(out[each], seen)) for each in ruled)
        if not ruled:
            out.setdefault(cue, seen)


def _is_of(known: Observation, text: str, said: UserWords) -> bool:
    """Whether a sentence is a ruling itself."""
    return said.message.id in known.sources and text in known.text
