"""Judge a call: whether to say something of it, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ireneo.context.offline.prose import clip
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.caution import Caution, Proof
from ireneo.lessons.failing import ENDS_IN
from ireneo.lessons.fault import named
from ireneo.lessons.guard import THRESHOLD, Estimate, estimate, stored, tally
from ireneo.lessons.guard_sightings import ERROR, cues_of
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.signature import Shape, shape
from ireneo.lessons.situation import Outcome, Situation, keys
from ireneo.lessons.situation_cues import Chain, chains
from ireneo.lessons.situation_files import base
from ireneo.log.message import Call
from ireneo.patterns import lazy_re

_STATUS = lazy_re(r"^exit \d+: ")
_MOST_PROOFS = 3
_MOST_CHANGED = 5
_QUOTED = 140
_NAMED = 70


def asked_cues(situation: Situation, call: Call) -> tuple[str, ...]:
    """The cues whose sightings `judge` wants to see."""
    seen = shape(call)
    return tuple(map(stored, cues_of(chains(situation, seen), seen.deed)))


def lesson_cues(call: Call, found: Caution) -> tuple[str, ...]:
    """The cues of the lessons that may be made of what a caution says."""
    program = shape(call).program
    errors = dict.fromkeys(named(_STATUS.sub("", proof.quote)) for proof in found.evidence if proof.quote)
    return tuple(f"{name}{ENDS_IN}{error}" for error in errors if error for name in (program, f"{program} unread"))


def judge(
    situation: Situation,
    call: Call,
    sightings: Sequence[Sighting],
    *,
    project: str | None = None,
    conditions: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> Caution | None:
    """Say of a call that it is likely to fail; None where that is not likely enough, or nothing proves it.

    Sightings under other `conditions` than are given (another version of a program, say) don't count.
    """
    seen = shape(call)
    found = chains(situation, seen)
    given = conditions or {}
    counted = [each for each in sightings if not _differences(each, given)] if given else sightings
    sure = estimate(found, seen.deed, tally(counted, project or "", now))
    if sure is None or sure.chance < THRESHOLD:
        return None
    shown = [each for each in counted if each.cue == stored(sure.cue)]
    last = _failed_here(situation, seen, sure.chain)
    proofs = _proofs(last, shown, project)
    if not proofs:
        return None
    since = situation.since(last) if last else []
    others = [said for each in sightings if each.cue == stored(sure.cue) for said in _differences(each, given)]
    failed, total = sum(each.held for each in shown), sum(each.held + each.broke for each in shown)
    return Caution(
        text=_told(
            situation, seen, sure, last, failed=failed, total=total, quote="" if proofs[0].project else proofs[0].quote
        ),
        chance=sure.chance,
        failed=failed,
        of=total,
        evidence=proofs,
        cue=sure.cue,
        last_failed=max((each.at for each in shown if each.at and each.held), default=None),
        changed=tuple(dict.fromkeys((*map(base, since), *others)))[:_MOST_CHANGED],
    )


def _differences(sighting: Sighting, given: Mapping[str, str]) -> list[str]:
    known = sighting.conditions
    return [f"{name} {known[name]} → {now}" for name, now in given.items() if name in known and known[name] != now]


def _failed_here(situation: Situation, seen: Shape, chain: Chain) -> Outcome | None:
    """How the call, or its like, ended last in this session, where it failed."""
    if chain.question == "ground":
        return None
    found = (situation.outcomes.get(key) for key in keys(seen)[:3])
    return next((outcome for outcome in found if outcome is not None and outcome.failed), None)


def _proofs(last: Outcome | None, shown: Sequence[Sighting], project: str | None) -> tuple[Proof, ...]:
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
    situation: Situation, seen: Shape, sure: Estimate, last: Outcome | None, *, failed: int, total: int, quote: str
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


def _since(situation: Situation, last: Outcome) -> str:
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
    said = sure.cue.removeprefix(f"`{seen.program}`").removeprefix(f"`{seen.action}`").removeprefix(seen.deed)
    # Of past runs the sentence goes on to speak: what is new is so in this session alone.
    return said.lstrip(": ").replace("was never tried", "was not tried in this session") or "calls of this sort"


def _shown(seen: Shape) -> str:
    if seen.path:
        return f"{seen.tool} {base(seen.path)}"
    return seen.action.partition(": ")[2] or seen.program if seen.shell else seen.program
