"""What was tried and did not hold: failures, refusals and changes that were taken back, as the structure proves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ireneo.log.harness import without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import asks, errors, gives_reason, is_intent, prose, shown_output
from ireneo.summaries.steps import CHANGES, Step, clip, is_environment, signature
from ireneo.summaries.summary import Line

GIVEN_UP = 8.0
"""What a dead end with its reason is worth."""
FAILED = 4.5
"""What a call that failed is worth: whoever goes on would run into the same."""
MISTAKEN = 3.0
"""A call of another tool that failed: a file that is not there, a text that was not found."""
GOT_OVER = 5.0
NEAR = 3
"""Among so many calls after one that failed another way to the same end is looked for."""

_UNDO = lazy_re(
    r"\bgit (?:checkout (?:--? |\S+ -- |\.)|checkout [\w./-]+\.\w+|restore |revert |reset --hard"
    r"|stash\b(?! (?:pop|apply|list)))"
)
_ALL = lazy_re(r"\bgit (?:reset --hard|stash\b(?! (?:pop|apply|list))|checkout (?:-- )?\.(?:\s|$))")
"""What takes back every change."""
_HERE_DOCUMENT = lazy_re(r"<<-?\s*['\"\w].*", re.DOTALL)
_QUOTED = lazy_re(r"'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"")
_REMOVE = lazy_re(r"\b(?:git )?rm (?:-\S+ )*(?P<paths>[^&|;]+)")
_REASON = lazy_re(r"(?:user said|provided the following reason[^:]{0,200}|reason):\s*(.+)", re.IGNORECASE | re.DOTALL)
_BEHIND_REASON = lazy_re(r"Note: The user's next message.*\Z", re.DOTALL)


def dead_ends(steps: Sequence[Step]) -> list[Line]:
    """Say what was tried and did not hold in `steps`, once for each approach, in order."""
    out: dict[str, Line] = {}
    for place in range(len(steps)):
        line = _failed(steps, place) or _undone(steps, place)
        if line is not None:
            earlier = out.get(line.subject)
            out[line.subject] = again(earlier, line) if earlier else line
    return list(out.values())


def worked(steps: Sequence[Step]) -> list[Line]:
    """Say which failures were got over, and what was changed between: the same command failed and then passed."""
    out: dict[str, Line] = {}
    for place, step in enumerate(steps):
        if not step.failed_itself or not step.action.shell:
            continue
        success = _same_later(steps, place)
        if success is None:
            continue
        between = changed(steps[place:success])
        how = f" after I changed {', '.join(between[-3:])}" if between else " later"
        out[key(step)] = Line(
            text=f"{_named(step)} failed ({_reason(step)}) and passed{how}.",
            subject=key(step),
            weight=GOT_OVER,
            position=steps[success].position,
            sources=step.sources + steps[success].sources,
        )
    return list(out.values())


def key(step: Step) -> str:
    """The name of an approach: the kind of action and what it was done to, without numbers and places."""
    return approach(step.action.kind, step.action.subject)


def approach(kind: str, subject: str) -> str:
    """The name of an approach, from the kind of action and its subject."""
    return f"{kind} {subject if kind in CHANGES else signature(subject)}"


def succeeded(operations: Iterable[Line]) -> dict[str, int]:
    """Where each approach succeeded last, as `operations` tell."""
    out: dict[str, int] = {}
    for line in operations:
        if line.verbs and not line.failed:
            for verb, _ in line.verbs:
                name = approach(verb, line.subject)
                out[name] = max(out.get(name, -1), line.position)
    return out


def overturned(line: Line, succeeded: Mapping[str, int]) -> bool:
    """Whether the approach of a dead end, or the act that failed, succeeded afterwards."""
    if line.failed:
        return any(succeeded.get(approach(verb, line.subject), -1) > line.position for verb, _ in line.verbs)
    return succeeded.get(line.subject, -1) > line.position


def again(earlier: Line, line: Line) -> Line:
    """The same approach given up again: it counts, and the newest reason stands."""
    times = sum(dict(each.verbs).get("tried", 1) for each in (earlier, line))
    return Line(
        text=line.text,
        verbs=(("tried", times),),
        subject=line.subject,
        weight=max(earlier.weight, line.weight) + 0.5,
        position=line.position,
        sources=(earlier.sources + line.sources)[-6:],
    )


def changed(steps: Sequence[Step]) -> list[str]:
    """The files that `steps` changed, in order."""
    return list(dict.fromkeys(s.action.subject for s in steps if s.action.kind in CHANGES and not s.failed))


def said_in_refusal(step: Step) -> str:
    """What the user said when refusing a call, on one line; empty where nothing was said."""
    found = _REASON.search(without_reminders(step.output))
    return clip(" ".join(_BEHIND_REASON.sub("", found[1]).split()), 400) if found else ""


def put_back(steps: Sequence[Step], place: int) -> int | None:
    """The place of the later edit that takes back the edit at `place`; None where none does."""
    step = steps[place]
    action = step.action
    if action.kind not in CHANGES or not action.removed.strip() or step.failed or not _core(action.added):
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
    if step.failed or step.action.kind in CHANGES:
        return []
    # What stands in quotes or in a here-document is spoken of, and not done.
    given = _HERE_DOCUMENT.sub("", step.command)
    done = _QUOTED.sub("''", given)
    if not (_UNDO.search(done) or _REMOVE.search(done)):
        return []
    before = changed(steps[:place])
    lost = [path for path in before if path.rsplit("/", 1)[-1] in given]
    return lost or (before if _ALL.search(done) else [])


def _failed(steps: Sequence[Step], place: int) -> Line | None:
    """A call that failed, and did not succeed later; what a user refused was never tried."""
    step = steps[place]
    if not step.failed_itself or _same_later(steps, place) is not None:
        return None
    if place == len(steps) - 1:
        return None  # Nothing came after it yet: it is where the work stands, not what was given up.
    if step.action.kind == "check" and not is_environment(step.error):
        return None  # A test that fails is what tests are for; given up is only what couldn't be run at all.
    instead = next((s for s in steps[place + 1 : place + 1 + NEAR] if _replaces(s, step)), None)
    tail = f"; {_named(instead)} worked" if instead else ""
    worth = FAILED if step.action.shell else MISTAKEN
    return _line(step, f"I tried {_named(step)} — it failed: {_reason(step).rstrip('.')}{tail}.", worth)


def _undone(steps: Sequence[Step], place: int) -> Line | None:
    """An edit that a later edit took back, or that version control threw away."""
    step = steps[place]
    later = put_back(steps, place)
    if later is None:
        return _thrown_away(steps, place)
    last = steps[later].position
    # The agent's own words for it, or the failure that stands between: else no reason is known.
    why = _told(steps[later]) or next(
        (_reason(s) for s in steps[place + 1 :] if s.failed_itself and s.position <= last), ""
    )
    change = clip(_core(step.action.added), 160)
    reason = f"abandoned, and put back: {why.rstrip('.')}" if why else "I put it back as it was"
    text = f"I tried `{change}` in {step.action.subject} — {reason}."
    # Other edits of the file are other approaches: this one is named by what it put there.
    return _line(step, text, GIVEN_UP if why else FAILED, subject=f"undo {step.action.subject} {change}")


def _thrown_away(steps: Sequence[Step], place: int) -> Line | None:
    step = steps[place]
    lost = thrown_away(steps, place)
    if not lost:
        return None
    why = _told(step)
    files = ", ".join(lost[-3:])
    command = clip(step.action.subject, 90)
    reason = f": {why.rstrip('.')}" if why else ""
    text = f"I tried changing {files} — abandoned, and taken back with `{command}`{reason}."
    return _line(step, text, GIVEN_UP if why else FAILED, subject=f"undo {files}")


def _told(step: Step) -> str:
    """Why the agent did it, in its own words; empty where it gives no reason."""
    said = [each for each in prose(step.said) if not asks(each)]
    return next((each for each in said if gives_reason(each)), next((each for each in said if not is_intent(each)), ""))


def _reason(step: Step) -> str:
    """What went wrong, as the output says it."""
    return errors(without_reminders(step.output)) or step.error or shown_output(step.output) or "it says nothing more"


def _same_later(steps: Sequence[Step], place: int) -> int | None:
    """The place of the first later step that does the same, word for word, and does not fail."""
    wanted, text = key(steps[place]), _words(steps[place])
    for later in range(place + 1, len(steps)):
        step = steps[later]
        same = key(step) == wanted and (step.action.kind in CHANGES or _words(step) == text)
        if same and step.result is not None and not step.failed:
            return later
    return None


def _words(step: Step) -> str:
    return " ".join(step.action.subject.split())


def _replaces(candidate: Step, failed: Step) -> bool:
    """Whether `candidate` is another way to the same end, and it went well: the same program with other flags."""
    if candidate.result is None or candidate.failed or candidate.action.kind in CHANGES:
        return False
    if not (candidate.action.shell and failed.action.shell):
        return candidate.call.name == failed.call.name and _file(candidate) == _file(failed) != ""
    one, other = candidate.action.subject.split(), failed.action.subject.split()
    plain = {word for word in one[1:] if word[0] not in "-|&;<>"} & {
        word for word in other[1:] if word[0] not in "-|&;<>"
    }
    return one != other and one[:2] == other[:2] and len(plain) > 1


def _file(step: Step) -> str:
    """The name of the file that is read, wherever it lies."""
    return step.action.subject.rsplit("/", 1)[-1] if step.action.kind == "read" else ""


def _named(step: Step) -> str:
    subject = clip(step.action.subject, 160)
    if step.action.shell:
        return f"`{subject}`"
    doing = {"read": "reading", "edit": "editing", "write": "writing", "search": "searching for", "fetch": "fetching"}
    return f"{doing.get(step.action.kind, 'using')} {subject}"


def _line(step: Step, text: str, worth: float, subject: str = "") -> Line:
    return Line(text=text, subject=subject or key(step), weight=worth, position=step.position, sources=step.sources)


def _core(text: str) -> str:
    return " ".join(text.split())
