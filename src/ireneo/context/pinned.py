"""The one block in which the constraints that stand are shown, in the words of who set them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ireneo.context.options import ContextOptions
from ireneo.context.view import ContextItem
from ireneo.log.message import PINS_TAG, Draft, Message, Text, short
from ireneo.log.tree import Annotation, AnnotationId
from ireneo.log.weigh import MESSAGE_TOKENS, Count
from ireneo.summaries.pins import BY_HAND, MEDIUM, MILD, STANDING, STRONG, constraints, standing
from ireneo.summaries.summary import Line, Summary

SHARES = ((BY_HAND, 0.5), (STANDING, 0.4), (STRONG, 0.35), (MEDIUM, 0.25), (MILD, 0.12))
"""Of a context's room, what constraints at least so binding may take together with those that bind more."""
WITH_SOURCES = 2_000
"""From this room on each pin names the message that it comes from."""
WITH_COUNT = 400
"""From this room on it is said how many have no place, where not one has."""
NOTES_SHARE = 0.5
"""Of a context's room, what pins and releases by hand may take where they were made."""
HEADING = f"{PINS_TAG} Constraints that stand, word for word:"


def pin_block(
    items: Iterable[Summary | Message], said: Sequence[str], options: ContextOptions, room: int
) -> ContextItem | None:
    """Show the pins of `items`, and those by hand, that stand in none of the texts that are shown (`said`).

    Where `room` tokens have no place for all of them, the most binding are shown, and how many are left out.
    """
    pins, lifts = constraints(items)
    last = max((_end(item) for item in items), default=0)
    by_hand, released = options.pins
    # What is noted at the end of the path, or later, is shown there: so a block once shown stays as it is.
    pins += [pin for pin in by_hand if pin.position < last]
    lifts += [lift for lift in released if lift.position < last]
    shown = " ".join("\n".join(said).split())
    missing = [pin for pin in standing(pins, lifts) if " ".join(pin.text.split()) not in shown]
    chosen = _fitting(missing, options, room)
    if not chosen:
        return _unshown(missing, options.count) if missing and room >= WITH_COUNT else None
    return _show(chosen, len(missing) - len(chosen), options.count, sources=room >= WITH_SOURCES)


def note(annotation: Annotation, count: Count) -> ContextItem | None:
    """Show a pin or a release by hand where it was made; the others stand in the messages themselves."""
    if annotation.kind not in ("pin", "release") or annotation.by != "hand":
        return None
    heading = HEADING if annotation.kind == "pin" else f"{PINS_TAG} Lifted, and holds no longer:"
    return written(f"{heading}\n- {annotation.text}", annotation.id, count, annotation.at, annotation.at)


def fitting_notes(
    annotations: Sequence[Annotation], count: Count, room: int
) -> tuple[dict[AnnotationId, ContextItem], ContextItem | None]:
    """The pins and releases by hand as they are shown, by id; what has no room in `room` tokens is counted in one line.

    The newest pins go first, and releases last.
    """
    told = {each.id: shown for each in annotations if (shown := note(each, count))}
    if sum(shown.tokens for shown in told.values()) <= room:
        return told, None
    kept: set[str] = set()
    left: list[Annotation] = []
    pins = [each for each in annotations if each.kind == "pin"]
    others = [each for each in annotations if each.kind != "pin"]
    for each in (*reversed(pins), *reversed(others)):
        if each.id in told and told[each.id].tokens <= room:
            room -= told[each.id].tokens
            kept.add(each.id)
        elif each.id in told and each.kind == "pin":
            left.append(each)
    fitting = {name: shown for name, shown in told.items() if name in kept}
    if not left:
        return fitting, None
    text = f"{PINS_TAG} {len(left)} standing constraints have no room here."
    return fitting, written(text, "pins", count, left[-1].at, left[0].at)


def _fitting(pins: Sequence[Line], options: ContextOptions, room: int) -> list[Line]:
    """The most binding pins that there is room for, in the order in which they were set."""
    used = options.count(HEADING) + MESSAGE_TOKENS
    chosen: list[Line] = []
    costs = {id(pin): options.statements.recount(_line(pin, sources=room >= WITH_SOURCES)) + 1 for pin in pins}
    for pin in sorted(pins, key=lambda line: (-line.weight, costs[id(line)])):
        share = max((share for weight, share in SHARES if pin.weight >= weight), default=SHARES[-1][1])
        if used + costs[id(pin)] <= room * share:
            used += costs[id(pin)]
            chosen.append(pin)
    return sorted(chosen, key=lambda line: line.position)


def _show(pins: Sequence[Line], left_out: int, count: Count, *, sources: bool) -> ContextItem:
    lines = [HEADING, *(_line(pin, sources=sources) for pin in pins)]
    if left_out:
        lines.append(f"({left_out} more have no room here.)")
    first, last = pins[0].sources[:1], pins[-1].sources[-1:]
    return written("\n".join(lines), "pins", count, *(first or ("",)), *(last or ("",)))


def _unshown(pins: Sequence[Line], count: Count) -> ContextItem:
    """Say that there are some, where not one has room."""
    text = f"{PINS_TAG} {len(pins)} standing constraints have no room here."
    return written(text, "pins", count, *(pins[0].sources[:1] or ("",)), *(pins[-1].sources[-1:] or ("",)))


def _line(pin: Line, *, sources: bool) -> str:
    words = " ".join(pin.text.split())
    return f"- {words} · {short(pin.sources[0])}" if sources and pin.sources else f"- {words}"


def written(text: str, id: str, count: Count, first: str, last: str) -> ContextItem:
    """Show pins as a note in the user's place."""
    draft = Draft(role="user", parts=(Text(text=text),), origin="injected")
    return ContextItem(
        what="pins", id=id, first=first, last=last, covers=0, tokens=count(text) + MESSAGE_TOKENS, draft=draft
    )


def _end(item: Summary | Message) -> int:
    return item.last_position if isinstance(item, Summary) else item.position
