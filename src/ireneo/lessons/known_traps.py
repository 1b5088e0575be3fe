"""Which lessons are told before a call: those that know a trap, its way out, and which calls step into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ireneo.lessons.confidence import cues_to_read, standing_of
from ireneo.lessons.guard import Trap, TrapIndex
from ireneo.lessons.lessons import projects_of
from ireneo.lessons.observe import GOT_OVER, claim_words
from ireneo.lessons.run import Observation, Trigger, is_ruling
from ireneo.memories.record import Record, disputes
from ireneo.memories.wording import one_line
from ireneo.patterns import lazy_re

LATEST = 2
"""So many of the latest runs that could have shown a trap and did not tell that it is there no more."""
HEED = "heed it, or ask first"
"""The way out of what a user ruled without saying what to do instead."""
_LEADING = lazy_re(r"^(?:When|If|Where) ")
_TRAILING = " ,;:.–—→-("
_MOST = 240
"""Characters of each part that are told."""


def known_traps(records: Iterable[Record], observations: Mapping[str, Sequence[Observation]]) -> TrapIndex:
    """The traps of the lessons that hold; `observations` are those of their cues, and of the occasions of these."""
    traps: list[Trap] = []
    projects: set[str] = set()
    anywhere = False
    for record in records:
        if not record.holds or not record.cue:
            continue
        named = projects_of(record)
        projects |= named
        anywhere = anywhere or len(named) != 1
        if (
            trap := trap_of(record, [one for cue in cues_to_read(record.cue) for one in observations.get(cue, ())])
        ) is not None:
            traps.append(trap)
    traps.sort(key=lambda each: each.lesson)
    return TrapIndex(traps=tuple(traps), projects=tuple(sorted(projects)), anywhere=anywhere)


def trap_of(record: Record, observations: Sequence[Observation]) -> Trap | None:
    """The trap that a lesson knows; None where it knows none or no way out, where it is gone, or was spoken against."""
    if disputes(record):
        return None
    ruling = is_ruling(record.cue)
    own = [each for each in observations if each.cue == record.cue]
    told = [each for each in own if each.held and each.trigger is not None and (each.way_out or ruling)]
    if not told or not (ruling or _is_there_still(own)):
        return None
    best = max(told, key=lambda each: (bool(each.way_out), bool(each.why), *_order(each)))
    trigger = best.trigger
    if trigger is None:
        return None
    sessions = {each.session for each in own if each.held}
    standing = standing_of(observations)
    trap = Trap(
        lesson=record.id,
        said=_ruled(trigger) if ruling else _said(record, best.way_out),
        way_out=_part(best.way_out) or HEED,
        why=_part(best.why).strip('“”"'),
        ruling=ruling,
        seen=standing.words,
        runs=standing.runs,
        of=standing.met,
        last=standing.last.date().isoformat() if standing.last is not None else "",
        projects=tuple(sorted(projects_of(record))),
        session=next(iter(sessions)) if len(sessions) == 1 else "",
        tool=trigger.tool,
        command=trigger.command,
        words=trigger.words,
        path=trigger.path,
        unless=trigger.unless,
    )
    return trap if trap.needle else None


def _is_there_still(observations: Sequence[Observation]) -> bool:
    """Whether such calls fail as often as not, and the latest runs did not all go well."""
    held = sum(each.held for each in observations)
    broke = sum(each.broke for each in observations)
    ordered = sorted((each for each in observations if each.held or each.broke), key=_order)
    return held >= broke and (len(ordered) <= LATEST or any(each.held for each in ordered[-LATEST:]))


def _order(seen: Observation) -> tuple[float, str]:
    return (seen.at.timestamp() if seen.at is not None else 0.0), seen.session


def _said(record: Record, way_out: str) -> str:
    """What goes wrong, as the lesson says it before the way out; else by the name of its claim."""
    before, found, _ = one_line(record.text).partition(one_line(way_out))
    said = _LEADING.sub("", before.rstrip(_TRAILING)) if found else ""
    return _part(said) or _part(claim_words(record.cue.partition(GOT_OVER)[0]))


def _ruled(trigger: Trigger) -> str:
    about = " ".join((trigger.command, *trigger.words)).strip() or trigger.path or trigger.tool
    return f"the user has a rule about `{about}`"


def _part(text: str) -> str:
    line = one_line(text).rstrip(".").strip()
    return line if len(line) <= _MOST else f"{line[:_MOST].rsplit(' ', 1)[0]}…"
