"""The cues of a call: in which known situations it stands, each by a code that is the same in all sessions.

They come in chains, each from the general to the particular. What is known of a general cue (a check that failed, and
nothing was changed since) is what is expected of the particular one (`go test`, so) until that was seen often enough.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from ireneo.lessons.shell import Shape
from ireneo.lessons.situation import PastOutcome, Situation, base, keys, names_in

Question = Literal["ground", "history", "program", "aim", "again", "name", "work", "mood", "cause"]
"""What a chain asks: what is known of the files; how the same action, the same program ended last; whether the call is
aimed at what failed; how exactly this call ended; whether the program works here at all; whether anything was checked
since the last change; what happened just before; why it failed last."""


class Chain(Struct, frozen=True, kw_only=True):
    """The answers to one question, from the most general cue to the most particular."""

    question: Question
    cues: tuple[str, ...]


def chains(situation: Situation, seen: Shape) -> tuple[Chain, ...]:
    """Every cue of a call, by the question that it answers."""
    exact, action, program, _ = (situation.outcomes.get(key) for key in keys(seen))
    deed, named = seen.deed, f"`{seen.program}`"
    by_program, by_action = _history(situation, program), _history(situation, action)
    found = [
        Chain(
            question="history",
            cues=(
                f"{deed}: its program {by_program}",
                f"{deed}: it {by_action}; its program {by_program}",
                f"{named}: it {by_action}; its program {by_program}",
            ),
        ),
        Chain(question="program", cues=(f"{deed}: its program {by_program}", f"{named} {by_program}")),
        Chain(question="again", cues=(f"{deed}: exactly this {_history(situation, exact)}",)),
        Chain(question="mood", cues=(_mood(situation, seen),)),
    ]
    if program is not None and program.failed:
        aim = f"{by_program}, {_aim(seen, program)}"
        found.append(Chain(question="aim", cues=(f"{deed} {aim}", f"{named} {aim}")))
    for who, outcome in (("it", action), ("its program", program)):
        if outcome is not None and outcome.failed:
            found.append(Chain(question="cause", cues=_why(situation, outcome, f"{who} failed for", deed, named)))
    if program is None or program.failed:
        state = "not tried in this session" if program is None else "failed last in this session"
        found.append(Chain(question="name", cues=(f"{named} {state}", f"`{seen.action}` {state}")))
    if not seen.shell or seen.script or deed in ("search", "read", "edit"):
        ground = _ground(situation, seen)
        found.append(
            Chain(question="ground", cues=(f"{deed}: {_gist(ground)}", f"{deed}: {ground}", f"{named}: {ground}"))
        )
    if deed in ("check", "run"):
        checked = _checked(situation)
        found.append(
            Chain(
                question="work",
                cues=(f"{deed}: {checked}; its program {by_program}", f"{named}: {checked}; {by_program}"),
            )
        )
    return tuple(found)


def _many(count: int) -> str:
    return "none" if count == 0 else "one" if count == 1 else "a few" if count < 4 else "many"


def _history(situation: Situation, outcome: PastOutcome | None) -> str:
    if outcome is None:
        return "was never tried"
    since = situation.since(outcome)
    if not outcome.failed:
        return f"passed last, {_many(len(since))} changed since"
    times = {"one": "failed once", "a few": "failed a few times", "many": "failed many times"}[_many(outcome.streak)]
    return f"{times}, {_changed(situation, outcome)}"


def _changed(situation: Situation, outcome: PastOutcome) -> str:
    since = situation.since(outcome)
    if not since:
        return "nothing changed since"
    named = outcome.named & {base(path) for path in since}
    return "what it named was changed since" if named else "something else was changed since"


def _why(situation: Situation, outcome: PastOutcome, told: str, deed: str, named: str) -> tuple[str, ...]:
    """For what it failed last, whether that was the same as before, and what was changed since."""
    times = "once" if outcome.streak == 1 else "the same error again" if outcome.repeated else "each time otherwise"
    changed = _changed(situation, outcome)
    said = f"{told} {outcome.cause}"
    return f"{deed}: {said}, {changed}", f"{deed}: {said}, {times}, {changed}", f"{named}: {said}, {changed}"


def _mood(situation: Situation, seen: Shape) -> str:
    same = situation.last is not None and situation.last.program == seen.program
    return f"{seen.deed}: {_many(situation.streak)} failed just before{', the same program' if same else ''}"


def _aim(seen: Shape, outcome: PastOutcome) -> str:
    """Whether a call is aimed at what failed when its program failed last."""
    if outcome.exact == seen.exact:
        return "the same call"
    aimed = names_in(_without_description(seen.exact))
    if aimed & outcome.fallen:
        return "aimed at what failed"
    return "aimed elsewhere" if aimed - names_in(_without_description(outcome.exact)) else "aimed as before"


def _without_description(exact: str) -> str:
    return exact.partition('"description"')[0]


def _checked(situation: Situation) -> str:
    last = situation.checked
    if last is None:
        return f"first check, {_many(len(set(situation.changes)))} changed"
    since = len(situation.changes) - last.changes
    return f"the last check {'failed' if last.failed else 'passed'}, {_many(since)} changed since"


_TELLING_ERRORS = (
    "is not there",
    "is there more than once",
    "is not in what was seen",
    "no longer counts as read",
    "text unknown",
    "guessed",
    "known by name only",
    "missing",
    "the same folder again",
)


def _gist(ground: str) -> str:
    return next((each for each in _TELLING_ERRORS if each in ground), "nothing against it")


def _ground(situation: Situation, seen: Shape) -> str:
    """What is known of what the call works on."""
    if not seen.shell:
        return _file_ground(situation, seen)
    if seen.deed in ("run", "check") and seen.script:
        return _script_ground(situation, seen)
    return _command_ground(situation, seen)


def _file_ground(situation: Situation, seen: Shape) -> str:
    if not seen.path:
        return "no file"
    standing = situation.files.standing(seen.path)
    if seen.deed == "edit" and seen.removed:
        return f"file {standing}, {_text_ground(situation, seen)}"
    return f"file {standing}{'' if '.' in base(seen.path) else ', without an ending'}"


def _text_ground(situation: Situation, seen: Shape) -> str:
    if seen.removed == seen.added:
        return "its text stays the same"
    known = situation.files.text(seen.path)
    if known is None:
        if situation.being_read(seen.path):
            return "just being read"
        return "text unknown, as with one before" if situation.unread_edited else "text unknown"
    times = known.count(seen.removed)
    if times == 0:
        return "its text is not there" if known.whole else "its text is not in what was seen"
    return "its text is there more than once" if times > 1 and not seen.everywhere else "its text is there"


def _script_ground(situation: Situation, seen: Shape) -> str:
    script = base(seen.script)
    before = situation.outcomes.get(f"program {seen.program}")
    written_now = script in {base(each) for each in seen.writes}
    standing = "written in the same call" if written_now else situation.files.standing(seen.script)
    if before is None:
        return f"script {standing}, first run"
    again = script in {base(path) for path in situation.since(before)}
    ended = "failed" if before.failed else "passed"
    return f"script {standing}, {ended} last, {'rewritten' if again else 'the same'}"


_WORST_FIRST = (
    "missing",
    "guessed",
    "guessed in a known folder",
    "known by name only",
    "named",
    "read",
    "changed by another",
    "written",
    "folder",
)


def _command_ground(situation: Situation, seen: Shape) -> str:
    found = {situation.files.standing(path) for path in seen.paths}
    said = f"paths {next((each for each in _WORST_FIRST if each in found), 'none')}"
    if seen.deed in ("search", "read") and seen.decider in ("grep", "rg", "egrep", "ag"):
        said += f", pattern {_pattern_ground(situation, seen)}"
    if seen.folder and not seen.folder.startswith(("/", "~", "$")):
        said += ", in the same folder again" if situation.folder == seen.folder else ", in another folder"
    return said


def _pattern_ground(situation: Situation, seen: Shape) -> str:
    literal = re.sub(r"\\(.)", r"\1", seen.pattern).strip("^$")
    if not literal:
        return "unknown"
    known = [text for path in seen.paths if (text := situation.files.text(path))]
    if any(text.count(literal) for text in known):
        return "seen there"
    if any(text.whole for text in known):
        return "is not there"
    return "short" if len(literal) < _SHORT else "long"


_SHORT = 12
