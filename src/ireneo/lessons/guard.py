"""The guard: how likely a call is to fail in the situations that it stands in.

And what is said of it before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.cues import Chain, action_cue, chains, is_named, words
from ireneo.lessons.guard_defaults import PRIOR
from ireneo.lessons.observe import ANY, ENDS_IN, GOT_OVER
from ireneo.lessons.run import Cost, Observation, costs_of
from ireneo.lessons.shell import RunMaterial, Shape, shape
from ireneo.lessons.situation import PastOutcome, Situation, base, keys
from ireneo.log.message import Call, Message, MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import Step, clip, steps


class Proof(Struct, frozen=True, kw_only=True):
    """Where a failure is to be seen."""

    session: str
    """Empty: the session that the call is made in."""
    message: MessageId
    quote: str
    """What it said, shortened; empty where it said nothing, or in another project."""
    project: str = ""
    """Of a run in another project than the call's: which one."""


class GuardAdvice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that is likely to fail. It is advice: what is done about it is left to whoever makes the call."""

    text: str
    """The dead end, in one sentence."""
    chance: float
    """How likely it is to fail, from 0 to 1."""
    failed: int
    of: int
    """So many of so many calls in this situation failed, in past runs."""
    evidence: tuple[Proof, ...]
    """Never empty."""
    cue: str
    """The situation, in words."""
    last_failed: datetime | None = None
    changed: tuple[str, ...] = ()
    """What was changed since it failed in this session, and what else is different from when it failed in others."""
    lesson: str | None = None
    """The id of the lesson that is made of it, where there is one."""

    @property
    def markdown(self) -> str:
        """The caution as an agent reads it: advice, its evidence, and what changed."""
        # The counts in the text are of one situation in past runs; the chance weighs all that is known of the call.
        lines = [f"Likely to fail (estimated chance {self.chance * 100:.0f} %): {self.text}"]
        lines += [_line(proof) for proof in self.evidence]
        if self.changed:
            lines.append(f"- changed since: {', '.join(self.changed)}")
        if self.lesson:
            lines.append(f"- lesson {self.lesson}")
        return "\n".join(lines)


def without_others(found: GuardAdvice) -> GuardAdvice:
    """`found` without what runs of other projects said: that such calls failed there counts, their words stay there."""
    return replace(found, evidence=tuple(replace(each, quote="") if each.project else each for each in found.evidence))


def _line(proof: Proof) -> str:
    if proof.project:
        return f"- {proof.session}, in another project ({proof.project})"
    return f"- {proof.session or 'this session'}, {proof.message}: “{proof.quote}”"


# The guard: how likely a call is to fail, from what past runs show of the situations that it stands in.
#
# Each chain of cues is read from the general to the particular; what is known of a cue is shrunk towards what the one
# before it lets expect, as a beta distribution does: (held + k · expected) / (total + k). Half of the chance is that of
# the chain that speaks loudest, half that of the two behind it, since the loudest of many voices is often an accident.
# Runs that lie back count less.


THRESHOLD = 0.5
"""From this chance on the guard speaks: on the earlier halves of both samples, each run judged by the others, it is
then right at least 6 times in 10 (`benchmarks/foresight_fit.py`)."""
GENERAL_WEIGHT = 4.0
NAMED_WEIGHT = 8.0
"""So many observations what is expected counts for, beside those of a general cue, and of one that names a program."""
LEAST_RUNS = 2
LEAST_SEEN = 5
"""What was seen in fewer runs, or fewer times, makes no cue more likely to fail; it may make it less likely."""
MIXED = 0.5
"""The share of the chains behind the loudest one."""
HALF_LIFE_DAYS = 90.0
"""A run of so long ago counts for half."""
BASE = 0.05
BASE_WEIGHT = 10.0
"""How often a call of any sort fails, and how many observations that counts for."""
_DAY_SECONDS = 86_400


Prior = Mapping[str, tuple[float, float]]
"""What is expected of cues of which nothing was seen: failed, of so many."""
GUARD = "guard: "
"""What the names of the guard's claims begin with: there are many of them, and no lesson is made of any."""


class WeightedCount(Struct, kw_only=True):
    """What past runs show of a cue, weighed by their age."""

    held: float = 0.0
    total: float = 0.0
    runs: int = 0
    """Runs in which it held."""


class WeightedCounts(Struct, frozen=True, kw_only=True):
    """What past runs show of the cues of a call: everywhere, and in its project."""

    everywhere: Mapping[str, WeightedCount] = {}
    here: Mapping[str, WeightedCount] = {}


class Estimate(Struct, frozen=True, kw_only=True):
    """How likely a call is to fail, and by which cue of which chain."""

    chance: float
    chain: Chain
    cue: str
    """The most particular cue of the loudest chain of which enough was seen."""


def stored(cue: str) -> str:
    """A cue as it is called among all claims."""
    return f"{GUARD}{cue}"


def is_guards(claim: str) -> bool:
    """Whether a claim is a statistic of the guard, which no lesson is made of."""
    return claim.startswith(GUARD)


def tally(observations: Iterable[Observation], project: str, now: datetime | None) -> WeightedCounts:
    """Sum up observations by cue; those without a time count in full."""
    everywhere: dict[str, WeightedCount] = {}
    here: dict[str, WeightedCount] = {}
    weights: dict[datetime | None, float] = {}
    for each in observations:
        weight = weights.get(each.at)
        if weight is None:
            weight = weights[each.at] = _weight(each.at, now)
        for table in (everywhere, here) if project and each.project == project else (everywhere,):
            found = table.setdefault(each.cue.removeprefix(GUARD), WeightedCount())
            found.held += weight * each.held
            found.total += weight * (each.held + each.broke)
            found.runs += each.held > 0
    return WeightedCounts(everywhere=everywhere, here=here)


def estimate(found: Sequence[Chain], kind: str, tallies: WeightedCounts, prior: Prior = PRIOR) -> Estimate | None:
    """How likely a call of this sort is to fail; None where nothing is known of its situations."""
    expected = _of_action(kind, tallies, prior)
    voices = sorted((_of_chain(chain, expected, tallies, prior) for chain in found), key=lambda each: -each[0])
    telling = [(chance, cue, chain) for chance, cue, chain in voices if cue]
    if not telling:
        return None
    chance, cue, chain = telling[0]
    behind = [each[0] for each in telling[1:3]]
    others = sum(behind) / len(behind) if len(behind) == _BEHIND else expected
    return Estimate(chance=(1 - MIXED) * chance + MIXED * others, chain=chain, cue=cue)


_BEHIND = 2


def _of_chain(chain: Chain, expected: float, tallies: WeightedCounts, prior: Prior) -> tuple[float, str, Chain]:
    chance, told = expected, ""
    for cue in chain.cues:
        named = is_named(cue)
        weight = NAMED_WEIGHT if named else GENERAL_WEIGHT
        seen = [(prior.get(cue), tallies.everywhere.get(cue))]
        if named:
            seen.append((None, tallies.here.get(cue)))
        for general, own in seen:
            shrunk = _shrunk(chance, general, own, weight)
            if shrunk is not None:
                chance, told = shrunk, cue
    return chance, told, chain


def _of_action(kind: str, tallies: WeightedCounts, prior: Prior) -> float:
    cue = action_cue(kind)
    held, total = prior.get(cue, (0.0, 0.0))
    own = tallies.everywhere.get(cue, WeightedCount())
    return (held + own.held + BASE_WEIGHT * BASE) / (total + own.total + BASE_WEIGHT)


def _shrunk(
    expected: float, general: tuple[float, float] | None, own: WeightedCount | None, weight: float
) -> float | None:
    """What is to be expected with what was seen of a cue; None where that is too little to say so."""
    held, total = general or (0.0, 0.0)
    runs = LEAST_RUNS if general else 0
    if own is not None:
        held, total, runs = held + own.held, total + own.total, runs + own.runs
    if not total or (held >= expected * total and (runs < LEAST_RUNS or total < LEAST_SEEN)):
        return None
    return (held + weight * expected) / (total + weight)


def _weight(at: datetime | None, now: datetime | None) -> float:
    if at is None or now is None:
        return 1.0
    days = max(0.0, (now - at).total_seconds() / _DAY_SECONDS)
    return math.pow(0.5, days / HALF_LIFE_DAYS)


ERROR = "error"
"""The condition that holds what a failing call said."""
_ERROR_CHARACTERS = 140
_MOST_SOURCES = 4


class CallInSituation(Struct, frozen=True, kw_only=True):
    """A call of a run, with the situations in which it was made."""

    step: Step
    situation: Situation
    """As it was then; it goes on with the next call that is asked for."""
    seen: Shape
    chains: tuple[Chain, ...]
    failed: bool
    at: datetime | None

    @property
    def cues(self) -> tuple[str, ...]:
        """All its cues, each once."""
        return cues_of(self.chains, self.seen.kind)


class _CueCounts(Struct, kw_only=True):
    """What a run shows of a cue, while it is read."""

    held: int = 0
    broke: int = 0
    at: datetime | None = None
    error: str = ""
    sources: list[MessageId] = []
    tokens: int = 0
    seconds: float = 0.0


def cues_of(found: Iterable[Chain], kind: str) -> tuple[str, ...]:
    """All cues of a call, each once."""
    return tuple(dict.fromkeys((action_cue(kind), *(cue for chain in found for cue in chain.cues))))


def calls_in_situations(messages: Sequence[Message]) -> Iterator[CallInSituation]:
    """Every call of a run whose outcome tells something, in order, as things stood when it was made.

    A call without arguments, of a tool that has some elsewhere in the run, is left out: some logs show what was asked
    for only where it went well, so that such a call would fail always.
    """
    outcomes = {(step.source, step.call.id): step for step in steps(messages)}
    asking = {step.call.name for step in outcomes.values() if step.call.arguments}
    situation = Situation()
    for message in messages:
        situation.hear(message)
        for call in message.draft.calls:
            step = outcomes[message.id, call.id]
            failed = step.failed_itself
            told = bool(call.arguments) or call.name not in asking
            if told and step.result is not None and (failed or not step.failed):
                seen = shape(call)
                found = chains(situation, seen)
                yield CallInSituation(
                    step=step, situation=situation, seen=seen, chains=found, failed=failed, at=message.draft.at
                )
            situation.begin(message, call)
        situation.settle(message)


def guard_observations(material: RunMaterial) -> list[Observation]:
    """What a run shows of the situations that its calls stood in, for the guard: statistics, without words."""
    costs = costs_of(material.messages)
    shown: dict[str, _CueCounts] = {}
    for each in calls_in_situations(material.messages):
        for cue in each.cues:
            _add(shown.setdefault(cue, _CueCounts()), each, costs)
    return [
        Observation(
            cue=stored(cue),
            category="failure",
            session=material.session,
            project=material.project,
            at=each.at,
            held=each.held,
            broke=each.broke,
            conditions={ERROR: each.error} if each.error else {},
            sources=tuple(each.sources[-_MOST_SOURCES:]),
            tokens=each.tokens,
            seconds=each.seconds,
        )
        for cue, each in shown.items()
    ]


def _add(shown: _CueCounts, stood: CallInSituation, costs: dict[MessageId, Cost]) -> None:
    shown.at = stood.at or shown.at
    if not stood.failed:
        shown.broke += 1
        return
    shown.held += 1
    # What an output tells its reader to do is no error, and is shown to nobody.
    error = clip(stood.step.error, _ERROR_CHARACTERS)
    shown.error = "" if instruction_like(stood.step.error) else error
    shown.sources.extend(stood.step.sources[-1:])
    spent = [costs[source] for source in stood.step.sources if source in costs]
    shown.tokens += sum(cost.tokens for cost in spent)
    shown.seconds += sum(cost.seconds for cost in spent)


_FIRST = lazy_re(r"\brun `([^`\n]+)` first\b")


def already_followed(situation: Situation, call: Call, lesson: str) -> bool:
    """Whether what `lesson` says to run first was run, and went well, since `call` or its like failed last."""
    found = _FIRST.search(lesson)
    if found is None:
        return False
    remedy = shape(Call(id=call.id, name=call.name, arguments={"command": found[1]}))
    done = situation.outcomes.get(f"program {remedy.program}")
    if done is None or done.failed:
        return False
    tried = (situation.outcomes.get(key) for key in keys(shape(call))[:3])
    return all(done.number > each.number for each in tried if each is not None and each.failed)


_STATUS = lazy_re(r"^exit \d+: ")
_MOST_PROOFS = 3
_MOST_CHANGED = 5
_QUOTED = 140
_NAMED = 70


def asked_cues(situation: Situation, call: Call) -> tuple[str, ...]:
    """The cues whose observations `judge` wants to see."""
    seen = shape(call)
    return tuple(map(stored, cues_of(chains(situation, seen), seen.kind)))


def lesson_cue(call: Call) -> str:
    """What the cues of the lessons begin with that may be made of what a caution says."""
    return f"{shape(call).program}{ENDS_IN}{ANY}{GOT_OVER}"


def judge(
    situation: Situation,
    call: Call,
    observations: Sequence[Observation],
    *,
    project: str | None = None,
    conditions: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> GuardAdvice | None:
    """Say of a call that it is likely to fail; None where that is not likely enough, or nothing proves it.

    Observations under other `conditions` than are given (another version of a program, say) don't count.
    """
    seen = shape(call)
    found = chains(situation, seen)
    given = conditions or {}
    counted = [each for each in observations if not _differences(each, given)] if given else observations
    sure = estimate(found, seen.kind, tally(counted, project or "", now))
    if sure is None or sure.chance < THRESHOLD:
        return None
    shown = [each for each in counted if each.cue == stored(sure.cue)]
    last = _failed_here(situation, seen, sure.chain)
    proofs = _proofs(last, shown, project)
    if not proofs:
        return None
    since = situation.since(last) if last else []
    others = [said for each in observations if each.cue == stored(sure.cue) for said in _differences(each, given)]
    failed, total = sum(each.held for each in shown), sum(each.held + each.broke for each in shown)
    return GuardAdvice(
        text=_told(
            situation, seen, sure, last, failed=failed, total=total, quote="" if proofs[0].project else proofs[0].quote
        ),
        chance=sure.chance,
        failed=failed,
        of=total,
        evidence=proofs,
        cue=words(sure.cue),
        last_failed=max((each.at for each in shown if each.at and each.held), default=None),
        changed=tuple(dict.fromkeys((*map(base, since), *others)))[:_MOST_CHANGED],
    )


def _differences(observation: Observation, given: Mapping[str, str]) -> list[str]:
    known = observation.conditions
    return [f"{name} {known[name]} → {now}" for name, now in given.items() if name in known and known[name] != now]


def _failed_here(situation: Situation, seen: Shape, chain: Chain) -> PastOutcome | None:
    """How the call, or its like, ended last in this session, where it failed."""
    if chain.question == "ground":
        return None
    found = (situation.outcomes.get(key) for key in keys(seen)[:3])
    return next((outcome for outcome in found if outcome is not None and outcome.failed), None)


def _proofs(last: PastOutcome | None, shown: Sequence[Observation], project: str | None) -> tuple[Proof, ...]:
    out = []
    if last is not None and last.sources:
        quote = "" if instruction_like(last.error) else clip(last.error, _QUOTED)
        out.append(Proof(session="", message=last.sources[-1], quote=quote))
    # Those of the same project say most, then the newest, in which order a store gives them.
    for each in sorted(shown, key=lambda each: each.project != project):
        if each.held and each.sources:
            quote = each.conditions.get(ERROR, "")
            other = "" if project is None or each.project == project else each.project
            out.append(Proof(session=each.session, message=each.sources[-1], quote=quote, project=other))
    return tuple(out[:_MOST_PROOFS])


def _told(
    situation: Situation, seen: Shape, sure: Estimate, last: PastOutcome | None, *, failed: int, total: int, quote: str
) -> str:
    name = f"`{clip(_shown(seen), _NAMED)}`"
    said = f" (“{quote}”)" if quote else ""
    often = f"{failed} of {total} such calls failed in past runs"
    if last is None:
        return f"{name}: {_plain(sure, seen)}; {often}{said}." if total else f"{name}: {_plain(sure, seen)}{said}."
    ago = situation.calls - last.number + 1
    same = name if last.exact == seen.exact else f"`{seen.program}`"
    when = "in the call before" if ago == 1 else f"{ago} calls ago"
    return f"{same} failed {when}{said}, and {_since(situation, last)}{f'; {often}' if total else ''}."


def _since(situation: Situation, last: PastOutcome) -> str:
    since = [base(path) for path in situation.since(last)]
    if not since:
        return "nothing was changed since"
    told = [name for name in since if name in last.named]
    if told:
        return f"`{told[0]}`, which it named, was changed since"
    return (
        f"only `{since[-1]}`, which it did not name, was changed since"
        if len(since) == 1
        else (f"{len(since)} files that it did not name were changed since")
    )


def _plain(sure: Estimate, seen: Shape) -> str:
    """The situation in words: its name, without the program or sort of call that it begins with."""
    said = words(sure.cue).removeprefix(f"`{seen.program}`").removeprefix(f"`{seen.action}`").removeprefix(seen.kind)
    # Of past runs the sentence goes on to speak: what is new is so in this session alone.
    return said.lstrip(": ").replace("was never tried", "was not tried in this session") or "calls of this sort"


def _shown(seen: Shape) -> str:
    if seen.path:
        return f"{seen.tool} {base(seen.path)}"
    return seen.action.partition(": ")[2] or seen.program if seen.shell else seen.program
