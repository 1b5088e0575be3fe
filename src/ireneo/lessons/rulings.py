"""Find rulings of a user: corrections, refusals with a reason, and statements of how things are done, word for word.

A ruling binds later runs. An instruction for the current task does not, nor does a text that a program, a template or
another agent wrote in the user's place. What only binds its own session is a pin (`ireneo.summaries.pins`). The rules
for pins are also used here, with more weight on corrections of the agent and less on details of the task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import has_instruction
from ireneo.language.files import any_of, topic
from ireneo.language.topics import Binding, Rulings
from ireneo.language.words import common_words
from ireneo.lessons.binding import (
    asks_for_rules,
    begins_with_order,
    cut_task_clauses,
    forbids,
    has_dangling_pronoun,
    is_edit_limit,
    is_general_ruling,
    is_instruction,
    is_permanent_refusal,
    lacks_subject,
    names_alternative,
    only_forbids,
    rules_all_work,
)
from ireneo.lessons.observe import ASKED, MOST_SOURCES
from ireneo.lessons.rule_weights import (
    ABOUT,
    LEAST,
    NAMES,
    RULES,
    STANDS,
    context_free_weight,
    continues_previous,
    is_about_process,
    is_about_task,
    rejects_agent_work,
    says_who_decides,
    weight,
)
from ireneo.lessons.run import HEARD_AS, MODEL, RULING, Observation, Trigger, is_ruling
from ireneo.lessons.said_once import is_about_project
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.told_calls import failing_call, is_banned, split_clauses
from ireneo.lessons.user_words import FEW, UserUtterance, is_work, stems_of, utterances, wish_kind
from ireneo.log.tree import is_of_sub_agent
from ireneo.memories.record import Record, evidence_project, is_confirmed_by_user, supporting
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import OwnSentence, own_words
from ireneo.summaries.pins import STRONG, binding_strength, in_context, is_permanent, lifting_sentences, refers_back

_SAYS = topic(Rulings)

AGAINST = "-"
"""In a cue, marks the stem of something that must not be used."""
WHOLE = 300
"""Up to this many characters a message is quoted whole."""
MOSTLY = 3
"""A third of such a message, at least, must be a ruling."""
LONGEST = 320
FEW_WORDS = 5
BESIDE = 2
"""If a message is this many times as long as a ban on a change, the ban only limits the message's other requests."""
MOST, MOST_OF_RULES = 4, 12
"""The maximum number of rulings of one message, and of one that is a list of rules."""
BEFORE = 2
"""How many sentences “make that a rule” may refer to."""
DENIED = 1.0
"""The weight that a sentence gains next to one that rejects the agent's work."""
CONCEDED = "conceded"
"""The condition of a ruling that the agent accepted as a correction."""


_TEMPER = lazy_re(lambda: rf"\A{any_of(_SAYS.temper)}(?<=[,.!?…]\s)(?=\w)|{any_of(_SAYS.temper)}\Z", re.I)
_NO = lazy_re(lambda: rf"{any_of(_SAYS.no)}\b", re.I)


def describe_ruling(cue: str) -> str:
    """The subject of a ruling in words, as its name."""
    return cue.removeprefix(MODEL).removeprefix(RULING)


def rulings(material: RunMaterial) -> list[Observation]:
    """The rulings of a user in a run, each once; later statements to the contrary count against it."""
    if is_of_sub_agent(material.session):
        return []
    works = is_work(material)
    out: dict[str, Observation] = {}
    for said in utterances(material):
        for found in (*_sentences_to_record(said, works=works), *_find_rulings(said, works=works)):
            _add_ruling(out, _observation(material, said, found))
        if not said.opening:
            _count_withdrawal(out, material, said)
    return list(out.values())


RECORDED = "to be recorded"
"""The `condition` value that marks a ruling which the user asked to have written down as a rule."""


class FoundRuling(Struct, frozen=True, kw_only=True, gc=False):
    """A ruling as it was said."""

    text: str
    tells: bool
    """Whether it names its subject."""
    why: str
    recorded: bool = False
    """Whether its user asked that it be written down as a rule."""


def _find_rulings(said: UserUtterance, *, works: bool) -> list[FoundRuling]:
    own = [each for each in own_words(said.text) if each.text]
    marks = [_sentence_weight(each, said, works=works) for each in own]
    denied = [rejects_agent_work(each.text) for each in own]
    if not said.opening and any(denied):
        # The alternative is next to a rejection.
        marks = [
            mark + DENIED * (sum(denied) > no and bool(stems_of(each.text)))
            for mark, each, no in zip(marks, own, denied, strict=True)
        ]
    whole = " ".join(said.text.split())
    if not any(mark >= RULES for mark in marks):
        # Its sentences may bind together if none does alone.
        edits = any(is_edit_limit(each.text) for each in own)
        alone = (
            works
            and own
            and not said.opening
            and not edits
            and len(whole) <= WHOLE
            and not lifting_sentences(whole, replaces=False)
        )
        together = " ".join(each.text for each in own)
        binds = alone and len(together) >= len(whole) - 3 and is_general_ruling(whole, conceded=said.conceded)
        return (
            [FoundRuling(text=whole, tells=_names_subject(own[0], whole), why=_stated_reason(whole, own))]
            if binds
            else []
        )
    ruled = sum(len(each.text) + 1 for each, mark in zip(own, marks, strict=True) if mark >= RULES)
    all_own = sum(len(each.text) + 1 for each in own) >= len(whole) - 3
    listed = any(not each.text.endswith(_ENDED) for each in own[:-1])
    if len(whole) <= WHOLE and not (said.opening or listed) and all_own and MOSTLY * ruled >= len(whole):
        ruling = _without_task_steps(own, marks, said) or _without_question(own)
        text = " ".join(each.text for each in ruling)
        return [FoundRuling(text=text, tells=_names_subject(ruling[0], text), why=_stated_reason(text, ruling))]
    out: list[FoundRuling] = []
    place = 0
    while place < len(own):
        if marks[place] < RULES:
            place += 1
            continue
        alone = is_about_project(own[place].text) or is_general_ruling(cut_task_clauses(own[place].text))
        text, end = own[place].text if alone else in_context(own[place]), place + 1
        # The next sentence belongs to the ruling if it rules as well or gives a reason, or if this one is a bare no.
        while end < len(own) and (
            (own[end].near and _belongs_to_ruling(own[end].text, marks[end], own[end - 1].text))
            or (len(stems_of(text)) < FEW and not alone)
        ):
            longer = f"{text} {own[end].text}"
            if len(longer) > LONGEST:
                break
            text, end = longer, end + 1
        out.append(
            FoundRuling(text=text, tells=_names_subject(own[place], text), why=_stated_reason(text, own[place:end]))
        )
        place = end
    out.sort(key=lambda each: not is_general_ruling(each.text, conceded=said.conceded))
    general = sum(is_general_ruling(each.text, conceded=said.conceded) for each in out)
    return out[: max(MOST, min(general, MOST_OF_RULES))]


def _without_task_steps(
    own: Sequence[OwnSentence], marks: Sequence[float], said: UserUtterance
) -> Sequence[OwnSentence]:
    """The sentences of a short message that apply beyond its task, and those that continue them.

    Left out are steps of the task, praise and questions before and after them. Empty if the ruling needs these.
    """
    alone = [place for place, each in enumerate(own) if _is_general(each.text, said)]
    ruled = [place for place, mark in enumerate(marks) if mark >= RULES]
    places = alone or [place for place in ruled if not is_about_task(own[place].text)] or ruled
    first, end = places[0], places[-1] + 1
    while first > 0 and _is_also_ruling(own[first - 1].text, marks[first - 1], own[first].text):
        first -= 1
    while end < len(own) and _belongs_to_ruling(own[end].text, marks[end], own[end - 1].text):
        end += 1
    ruling = own[first:end]
    begins = cut_task_clauses(ruling[0].text)
    if (refers_back(ruling[0]) and not has_dangling_pronoun(begins)) or continues_previous(begins):
        return ()
    text = " ".join(each.text for each in ruling)
    return ruling if _names_clear_subject(begins) and _is_general(text, said) else ()


def _is_general(text: str, said: UserUtterance) -> bool:
    return is_about_project(text) or is_general_ruling(text, named=names_call(text), conceded=said.conceded)


def _is_alternative(sentence: str) -> bool:
    """Whether a sentence says what to do instead, in a few words or with that word: “go back to the pool”."""
    few = len(sentence.split()) <= FEW_WORDS and not is_about_task(sentence)
    return (few or names_alternative(sentence)) and not wish_kind(sentence) and begins_with_order(sentence)


def _names_clear_subject(sentence: str) -> bool:
    """Whether a sentence names its subject: one of few words a whole kind, not one thing mentioned before."""
    if len(stems_of(sentence)) >= FEW:
        return True
    of_one = any(word in _SAYS.definite for word in sentence.lower().split())
    return not of_one and is_general_ruling(sentence)


def _without_question(own: Sequence[OwnSentence]) -> Sequence[OwnSentence]:
    """The sentences of a message without the questions at its end, unless it has nothing else."""
    end = max((at for at, each in enumerate(own, 1) if not each.text.endswith("?")), default=len(own))
    return own[:end]


def _is_also_ruling(sentence: str, mark: float, beside: str) -> bool:
    """Whether a sentence rules on the same subject as the one `beside` it, or is a ruling of its own."""
    if mark < RULES or len(stems_of(sentence)) < FEW or is_about_task(sentence) or sentence.endswith("?"):
        return False
    if continues_previous(sentence) and not is_general_ruling(cut_task_clauses(sentence)):
        return False
    return bool(stems_of(sentence) & stems_of(beside)) or is_general_ruling(sentence)


_ENDED = tuple(".!?…:;,)\"'”’`")


def _belongs_to_ruling(sentence: str, mark: float, before: str) -> bool:
    """Whether a sentence belongs to the ruling before it: it rules as well, gives a reason, or is very short.

    A sentence without a punctuation mark at its end is an item of a list, or a line of its own.
    """
    return before.endswith(_ENDED) and (
        _is_also_ruling(sentence, mark, before)
        or bool(_SAYS.reasons.match(sentence))
        or (len(sentence.split()) < FEW and sentence.endswith("."))
        or _is_alternative(sentence)
    )


def _sentences_to_record(said: UserUtterance, *, works: bool) -> list[FoundRuling]:
    """The sentences that a user asks to write down as rules.

    After such a request these are the sentences that order something or say how it must be; before “make that a rule”
    the two sentences that it refers to.
    """
    own = [each for each in own_words(said.text) if each.text]
    made = next((at for at, each in enumerate(own) if works and at and _SAYS.makes_rule.match(each.text)), 0)
    # A sentence without a punctuation mark at its end is an item of its own.
    before = takewhile(lambda each: each.text.endswith(_ENDED), reversed(own[max(made - BEFORE, 0) : made]))
    rule = " ".join(each.text for each in (*reversed([*before]), *own[made : made + 1]))
    if made and len(rule) <= LONGEST and len(stems_of(rule)) >= FEW:
        return [FoundRuling(text=rule, tells=True, why="", recorded=True)]
    asks = next((at for at, each in enumerate(own) if works and asks_for_rules(each.text)), len(own))
    below = [each.text for each in own[asks + 1 :]]
    rules = [each for each in below if is_instruction(each) and len(each.split()) >= FEW and not each.endswith("?")]
    return [FoundRuling(text=each, tells=True, why="", recorded=True) for each in rules[:MOST_OF_RULES]]


def _sentence_weight(own: OwnSentence, said: UserUtterance, *, works: bool) -> float:
    """The weight of a sentence as a ruling, in its context."""
    sentence = own.text[:2_000].strip()
    if polite := _SAYS.polite.match(sentence):
        sentence = sentence[polite.end() :].rstrip("?")
        own = replace(own, text=sentence)
    if own.step or len(sentence) < 6 or sentence.endswith(":"):
        return 0.0
    if said.chosen and said.about.startswith("`") and is_permanent_refusal(sentence):
        return RULES
    if is_edit_limit(sentence) and len(said.text) > BESIDE * len(sentence):
        return 0.0
    if works and is_about_project(sentence) and (own.personal or len(said.text) <= WHOLE):
        return RULES
    agreed = _SAYS.tags.search(sentence)
    if agreed and said.chosen:
        sentence = sentence[: agreed.start()] + "."
    binds, speaks, hand = binding_strength(replace(own, text=sentence)), weight(sentence), is_about_task(sentence)
    if said.opening or not works:
        # Most sentences of a task statement describe the task.
        told = works and (says_who_decides(sentence) or binds > 0) and context_free_weight(sentence) >= STANDS
        lasts = works and is_permanent(sentence) and is_general_ruling(sentence)
        beyond = binds > STRONG or told or lasts or (works and rules_all_work(sentence))
        return RULES if own.personal and not hand and beyond else 0.0
    lifts = lifting_sentences(own.text, replaces=False)
    if any(sentence in each or each in sentence for each in lifts) and not rejects_agent_work(sentence):
        return 0.0  # Lifting a ban is no ruling.
    if (own.personal or len(said.text) <= WHOLE) and is_general_ruling(own.text, conceded=said.conceded):
        return RULES
    if not own.personal:
        return binds if binds >= STRONG and not hand and speaks > 0 else 0.0
    bound = binds if speaks > 0 and not hand else 0.0
    return max(bound, speaks) + 0.5 * said.stopped + 0.5 * said.chosen + 1.0 * (bool(agreed) and said.chosen)


def _names_subject(first: OwnSentence, text: str) -> bool:
    """Whether a ruling names its subject, and neither answers something nor refers back."""
    if text != first.text and text.endswith(first.text) and text == first.with_before:
        return True
    back = refers_back(first) and not has_dangling_pronoun(_SAYS.fillers.sub("", text))
    return not (
        _NO.match(text) or continues_previous(text) or lacks_subject(text) or back or not _names_clear_subject(text)
    )


def _stated_reason(text: str, own: Sequence[OwnSentence]) -> str:
    """The reason that the user gives: a separate sentence, or a clause after a comma."""
    for each in own[1:]:
        if _SAYS.reasons.match(each.text):
            return each.text
    for found in re.finditer(r",?\s+", text):
        if (found[0].startswith(",") or found.start() > 0) and _GIVES.match(text, found.end()):
            return text[found.end() :].rstrip(". ")
    return ""


_GIVES = lazy_re(lambda: rf"{any_of(_SAYS.reasons[:4])}", re.I)


def _observation(material: RunMaterial, said: UserUtterance, found: FoundRuling) -> Observation | None:
    text = _SAYS.fillers.sub("", " ".join(found.text.split()), count=1)
    text = cut_task_clauses(_TEMPER.sub("", text), conceded=said.conceded)
    stems, trigger = stems_of(text), _trigger(text) or _folder_trigger(text)
    tells = found.tells and not said.chosen and not (said.about.startswith("changing") and _is_about_one_thing(text))
    about = "" if trigger or tells or names_call(text) else said.about
    # Its subject may be another than the text it replies to: something that it names, or how work is done.
    apart = (about.startswith("“") and NAMES.search(text)) or (about.startswith("changing") and is_about_process(text))
    about = "" if apart and len(stems) >= FEW else about
    told = f"On {about}: “{text}”" if about else text
    of_command = about.startswith("`") and is_permanent_refusal(text)
    only_denies = len(stems) < LEAST and rejects_agent_work(text) and weight(text) < STANDS
    bare = not of_command and (not stems or only_denies)
    if bare or not told.isprintable() or has_instruction(told):
        return None
    return Observation(
        cue=ruling_cue(text if len(stems) >= FEW else told),
        category="procedural",
        session=material.session,
        project=material.project,
        at=said.message.draft.at,
        held=1,
        text=told,
        conditions={
            HEARD_AS: said.heard_as,
            **({CONCEDED: "yes"} if said.conceded else {}),
            **({RECORDED: "yes"} if found.recorded else {}),
        },
        way_out=_way_out(text),
        why=text if trigger else found.why,
        trigger=trigger,
        sources=tuple(dict.fromkeys(name for name in (said.message.id, said.about_source if about else None) if name)),
    )


def _is_about_one_thing(text: str) -> bool:
    """Whether a ruling begins with one known thing, which is only clear next to the file that was changed."""
    return text.partition(" ")[0].lower() in _SAYS.definite and not NAMES.search(text)


def generality_rank(text: str) -> float:
    """How general a ruling is by its wording: a number for ranking."""
    about = ABOUT.match(text)
    out = 0.0
    for each in own_words(text[about.end() :] if about else text):
        out = max(out, binding_strength(each) + weight(each.text))
    # The refusal of a call is more general than the answer to a sentence.
    return out - (about is not None and "`: “" not in about[0])


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
            # Judging wordings is most of the cost, and a single one needs no judging.
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
    clear = is_general_ruling(record.text) and "?" not in record.text
    return not is_confirmed_by_user(record), not clear, -len(record.sessions), -len(record.text), record.id


def without_listed_wishes(records: Sequence[Record]) -> list[Record]:
    """Drop rulings that only repeat a listed lesson about a frequent wish."""
    told = {each.cue.removeprefix(ASKED) for each in records if each.cue.startswith(ASKED)}
    if not told:
        return list(records)
    return [
        each
        for each in records
        if is_confirmed_by_user(each) or not is_ruling(each.cue) or not _is_only_wish(each.text, told)
    ]


def _is_only_wish(ruling: str, told: Collection[str]) -> bool:
    about = ABOUT.match(ruling)
    said = [each.text.strip(" “”") for each in own_words(ruling[about.end() :] if about else ruling)]
    others = [each for each in said if wish_kind(each) not in told]
    return len(others) < len(said) and not is_general_ruling(" ".join(others))


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
        rf"(?<!\w){any_of(topic(Binding).bans)}.{{0,12}}?(?P<act>{any_of(sorted(_SAYS.changing))})(?:ing)? "
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


def names_call(text: str) -> bool:
    """Whether a ruling names the call that it forbids, or what must come before it."""
    clauses = [*split_clauses(text)]
    at, call = failing_call(clauses)
    found = call is not None and (bool(call.before) or is_banned(clauses[at]))
    return found or _trigger(text) is not None


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


def _add_ruling(out: dict[str, Observation], seen: Observation | None) -> None:
    """Add a ruling: to the same one in other words, and against those that it replaces."""
    if seen is None:
        return
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
