"""Which lessons are told before a call: those that know a trap, its way out, and which calls step into it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from ireneo.lessons.guard import Trap, TrapIndex
from ireneo.lessons.lessons import cues_to_read, projects_of, standing_of
from ireneo.lessons.observe import ANY, ENDS_IN, GOT_OVER
from ireneo.lessons.run import Observation, Trigger, is_ruling
from ireneo.memories.record import GENERAL, Record, disputes
from ireneo.memories.wording import one_line
from ireneo.patterns import lazy_re

LATEST = 2
"""So many of the latest runs that could have shown a trap and did not tell that it is there no more."""
LEAST_RUNS = 2
"""Runs that have to show a trap of which no project is known."""
HEED = "heed it, or ask first"
"""The way out of what a user ruled without saying what to do instead."""
_QUOTED = lazy_re(r"“([^“”]+)”")
_LEADING = lazy_re(r"^(?:When|If|Where) ")
_TRAILING = " ,;:.–—→-("
_MOST = 240
"""Characters of each part that are told."""


def known_traps(records: Iterable[Record], observations: Mapping[str, Sequence[Observation]]) -> TrapIndex:
    """The traps of the lessons that hold; `observations` are those of their cues, and of `cues_beside` those."""
    traps: list[Trap] = []
    projects: set[str] = set()
    anywhere = False
    for record in records:
        if not record.holds or not record.cue:
            continue
        named = projects_of(record)
        projects |= named
        anywhere = anywhere or not named or GENERAL in named
        if (trap := trap_of(record, observations)) is not None:
            traps.append(trap)
    traps.sort(key=lambda each: each.lesson)
    return TrapIndex(traps=tuple(traps), projects=tuple(sorted(projects)), anywhere=anywhere)


def cues_beside(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The claims that tell how often the programs went well that traps name, and which of their ways out were taken."""
    named = dict.fromkeys(name for each in observations if each.trigger is not None for name in _programs(each))
    return tuple(f"{name}{ENDS_IN}{ANY}" for name in named)


def _programs(seen: Observation) -> tuple[str, ...]:
    """The program that a trap is about, and those that may be its way out."""
    trigger = seen.trigger
    if trigger is None or not trigger.command or trigger.words or trigger.path or trigger.given:
        return ()
    return trigger.command, *trigger.unless, seen.cue.partition(GOT_OVER)[2].partition(":")[2]


def trap_of(record: Record, observations: Mapping[str, Sequence[Observation]]) -> Trap | None:
    """The trap that a lesson knows; None where it knows none or no way out, where it is gone, or was spoken against."""
    if disputes(record):
        return None
    ruling = is_ruling(record.cue)
    own = observations.get(record.cue, ())
    told = [each for each in own if each.held and each.trigger is not None and (each.way_out or ruling)]
    if not told or not (ruling or _is_there_still(own)):
        return None
    best = max(told, key=lambda each: (bool(each.way_out), bool(each.why), *_order(each)))
    trigger, projects = best.trigger, tuple(sorted(projects_of(record)))
    standing = standing_of([one for cue in cues_to_read(record.cue) for one in observations.get(cue, ())])
    if not ruling and GOT_OVER in record.cue:
        # Of other claims it counts the runs that their occasion met already.
        standing = replace(standing, met=standing.met + _went_well(best, own, observations, projects))
    # What nearly always goes well is no trap; and what one run showed, of which nobody knows the project, is anybody's.
    if trigger is None or 2 * standing.runs < standing.met or (standing.runs < LEAST_RUNS and not projects):
        return None
    sessions = {each.session for each in own if each.held}
    about = _about(trigger)
    said = f"the user has a rule about {about}" if ruling else _said(record, best.way_out) or f"{about} fails"
    trap = Trap(
        lesson=record.id,
        said=said,
        way_out=_part(best.way_out) or HEED,
        why="" if _repeats(best.why, said) else _part(best.why).strip('“”"'),
        ruling=ruling,
        seen=standing.words,
        runs=standing.runs,
        of=standing.met,
        last=standing.last.date().isoformat() if standing.last is not None else "",
        projects=projects,
        session=next(iter(sessions)) if len(sessions) == 1 else "",
        tool=trigger.tool,
        command=trigger.command,
        words=trigger.words,
        path=trigger.path,
        given=trigger.given,
        unless=trigger.unless,
    )
    return trap if trap.needle else None


def _went_well(
    best: Observation,
    own: Sequence[Observation],
    observations: Mapping[str, Sequence[Observation]],
    projects: Collection[str],
) -> int:
    """The runs of these projects in which the program of a trap worked, though its way out was not taken."""
    program, *ways = (observations.get(f"{name}{ENDS_IN}{ANY}", ()) for name in _programs(best) or ("",))
    took = {each.session for way in ways for each in way}
    if not took:
        return 0  # The way out is no program: which runs took it, nobody can tell.
    shown = {each.session for each in own}
    here = (each for each in program if each.broke and (not projects or each.project in projects))
    return len({each.session for each in here} - shown - took)


def _repeats(why: str, said: str) -> bool:
    """Whether a reason is only the error that the trap names already."""
    quoted = [part.strip() for each in _QUOTED.findall(said) for part in each.split("…")]
    return bool(quoted) and all(part in why for part in quoted)


def _is_there_still(observations: Sequence[Observation]) -> bool:
    """Whether such calls fail as often as not, and the latest runs did not all go well."""
    held = sum(each.held for each in observations)
    broke = sum(each.broke for each in observations)
    ordered = sorted((each for each in observations if each.held or each.broke), key=_order)
    return held >= broke and (len(ordered) <= LATEST or any(each.held for each in ordered[-LATEST:]))


def _order(seen: Observation) -> tuple[float, str]:
    return (seen.at.timestamp() if seen.at is not None else 0.0), seen.session


def _said(record: Record, way_out: str) -> str:
    """What goes wrong, as the lesson says it before the way out; empty where it doesn't."""
    before, found, _ = one_line(record.text).partition(one_line(way_out))
    return _part(_LEADING.sub("", before.rstrip(_TRAILING))) if found else ""


def _about(trigger: Trigger) -> str:
    named = " ".join((trigger.command, *trigger.words)).strip() or trigger.path or trigger.tool
    return f"`{named}`"


def _part(text: str) -> str:
    line = one_line(text).rstrip(".").strip()
    return line if len(line) <= _MOST else f"{line[:_MOST].rsplit(' ', 1)[0]}…"
