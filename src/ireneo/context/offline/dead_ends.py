"""Dead ends, found in the structure: what failed and was replaced, what was undone, what failed the same way again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ireneo.context.actions import CHANGES
from ireneo.context.offline.errors import is_environment, signature
from ireneo.context.offline.prose import clip, finding_score, sentences
from ireneo.context.offline.steps import Step
from ireneo.context.summary import Line
from ireneo.patterns import lazy_re

_UNDO = lazy_re(
    r"\bgit (?:checkout (?:--? |\S+ -- |\.)|checkout [\w./-]+\.\w+|restore |revert |reset --hard"
    r"|stash\b(?! (?:pop|apply|list)))"
)
_REMOVE = lazy_re(r"\b(?:git )?rm (?:-\S+ )*(?P<paths>[^&|;]+)")
_REASON = lazy_re(r"(?:user said|provided the following reason[^:]{0,200}|reason):\s*(.+)", re.IGNORECASE | re.DOTALL)


def dead_ends(steps: Sequence[Step]) -> list[Line]:
    """Say what was tried and given up in `steps`, once for each approach, in order."""
    out: dict[str, Line] = {}
    for place in range(len(steps)):
        line = _failed(steps, place) or _undone(steps, place)
        if line is None:
            continue
        earlier = out.get(line.subject)
        out[line.subject] = _again(earlier, line) if earlier else line
    return list(out.values())


def worked(steps: Sequence[Step]) -> list[Line]:
    """Say which failures were got over, and by what."""
    out: dict[str, Line] = {}
    for place, step in enumerate(steps):
        if not step.failed_itself:
            continue
        success = _same_later(steps, place)
        if success is None:
            continue
        between = _changed(steps[place:success])
        how = f" after I changed {', '.join(between[:3])}" if between else " when I tried it again"
        out[key(step)] = Line(
            text=f"{_named(step)} failed ({step.error or 'no reason given'}) and passed{how}.",
            subject=key(step),
            position=steps[success].position,
            sources=step.sources + steps[success].sources,
        )
    return list(out.values())


def key(step: Step) -> str:
    """The name of an approach: the deed and what it was done to, without numbers and places."""
    return approach(step.action.deed, step.action.subject)


def approach(deed: str, subject: str) -> str:
    """The name of an approach, from the deed and its subject."""
    return f"{deed} {subject if deed in CHANGES else signature(subject)}"


def succeeded(operations: Iterable[Line]) -> dict[str, int]:
    """Where each approach succeeded last, as `operations` tell."""
    out: dict[str, int] = {}
    for line in operations:
        if not line.failed:
            for verb, _ in line.verbs:
                name = approach(verb, line.subject)
                out[name] = max(out.get(name, -1), line.position)
    return out


def overturned(dead_end: Line, succeeded: Mapping[str, int]) -> bool:
    """Whether the approach succeeded after it was given up."""
    return succeeded.get(dead_end.subject, -1) > dead_end.position


def _failed(steps: Sequence[Step], place: int) -> Line | None:
    """A call that failed and did not succeed later: given up, and perhaps replaced by another way."""
    step = steps[place]
    if not (step.failed_itself or step.rejected) or _same_later(steps, place) is not None:
        return None
    if place == len(steps) - 1 and not step.rejected:
        return None  # Nothing came after it yet: it is where the work stands, not what was given up.
    if step.rejected:
        return _line(step, f"I tried {_named(step)} — abandoned because the user said no{_said(step)}.")
    if step.action.deed == "check" and not is_environment(step.error):
        return None  # A test that fails is what tests are for; given up is only what couldn't be run at all.
    instead = next((s for s in steps[place + 1 : place + 6] if _replaces(s, step)), None)
    tail = f"; {_named(instead)} worked instead" if instead else ""
    reason = (step.error or "it failed").rstrip(".")
    return _line(step, f"I tried {_named(step)} — abandoned because {reason}{tail}.")


def put_back(steps: Sequence[Step], place: int) -> int | None:
    """The place of the later edit that takes back the edit at `place`; None where none does."""
    step = steps[place]
    action = step.action
    if action.deed not in CHANGES or not action.removed.strip() or step.failed or not _core(action.added):
        return None
    for at in range(place + 1, len(steps)):
        later, other = steps[at], steps[at].action
        back = other.subject == action.subject and not later.failed and _core(other.added) == _core(action.removed)
        if back and _core(action.added) in _core(other.removed):
            return at
    return None


def thrown_away(steps: Sequence[Step], place: int) -> list[str]:
    """The files whose changes the command at `place` takes back, by version control or by removing what was written."""
    step = steps[place]
    command = step.command
    if step.failed or not (_UNDO.search(command) or _REMOVE.search(command)):
        return []
    changed = _changed(steps[:place])
    lost = [path for path in changed if path.rsplit("/", 1)[-1] in command]
    if not lost and re.search(r"git (?:reset --hard|stash|checkout (?:-- )?\.)", command):
        return changed
    return lost


def _undone(steps: Sequence[Step], place: int) -> Line | None:
    """An edit that a later edit took back, or that version control threw away."""
    step = steps[place]
    later = put_back(steps, place)
    if later is None:
        return _thrown_away(steps, place)
    last = steps[later].position
    why = next((s.error for s in steps[place + 1 :] if s.failed_itself and s.position <= last), "")
    reason = f"{why}; I put it back" if why else "I put it back as it was"
    change = clip(_core(step.action.added), 100)
    text = f"I tried `{change}` in {step.action.subject} — abandoned because {reason}."
    # Other edits of the file are other approaches: this one is named by what it put there.
    return _line(step, text, subject=f"undo {step.action.subject} {change}")


def _thrown_away(steps: Sequence[Step], place: int) -> Line | None:
    step = steps[place]
    lost = thrown_away(steps, place)
    if not lost:
        return None
    why = next((s.error for s in reversed(steps[:place]) if s.failed_itself), "")
    told = next((sentence for sentence in sentences(step.said) if finding_score(sentence)), "")
    reason = (told or why or "I took it back").rstrip(".")
    files = ", ".join(lost[-3:])
    return _line(
        step, f"I tried changing {files} — abandoned because {reason}; I took it back.", subject=f"undo {files}"
    )


def _same_later(steps: Sequence[Step], place: int) -> int | None:
    """The place of the first later step that does the same and does not fail."""
    wanted = key(steps[place])
    for later in range(place + 1, len(steps)):
        step = steps[later]
        if key(step) == wanted and step.result is not None and not step.failed:
            return later
    return None


def _replaces(candidate: Step, failed: Step) -> bool:
    """Whether `candidate` is another way to the same end: the same kind of deed, and it went well."""
    alike = candidate.action.deed == failed.action.deed or candidate.call.name == failed.call.name
    return alike and candidate.result is not None and not candidate.failed and key(candidate) != key(failed)


def _changed(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(s.action.subject for s in steps if s.action.deed in CHANGES and not s.failed))


def _named(step: Step) -> str:
    subject = clip(step.action.subject, 120)
    if step.action.shell:
        return f"`{subject}`"
    doing = {"read": "reading", "edit": "editing", "write": "writing", "search": "searching for", "fetch": "fetching"}
    return f"{doing.get(step.action.deed, 'using')} {subject}"


def said_in_refusal(step: Step) -> str:
    """What the user said when refusing a call, on one line; empty where nothing was said."""
    found = _REASON.search(step.output)
    return clip(" ".join(found[1].split()), 160) if found else ""


def _said(step: Step) -> str:
    said = said_in_refusal(step)
    return f": “{said}”" if said else ""


def _line(step: Step, text: str, subject: str = "") -> Line:
    return Line(text=text, subject=subject or key(step), position=step.position, sources=step.sources)


def _again(earlier: Line, line: Line) -> Line:
    """The same approach given up again: it counts, and the newest reason stands."""
    times = earlier.verbs[0][1] + 1 if earlier.verbs else 2
    return Line(
        text=line.text,
        verbs=(("tried", times),),
        subject=line.subject,
        weight=earlier.weight + 1,
        position=line.position,
        sources=earlier.sources + line.sources,
    )


def _core(text: str) -> str:
    return " ".join(text.split())
