"""The cues of a call: in which known situations it stands, each by a code that is the same in all sessions.

They come in chains, each from the general to the particular. What is known of a general cue (a check that failed, and
nothing was changed since) is what is expected of the particular one (`go test`, so) until that was seen often enough.

A cue is its subject (a kind of action, or a program or an action between backticks), and behind it what is so:
``check program=failed-1,unchanged``. These codes are keys in stored databases and never change; `words` says them in a
sentence, in whatever words serve best.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from ireneo.lessons.shell import Shape
from ireneo.lessons.situation import PastOutcome, Situation, base, keys, names_in

Question = Literal["ground", "history", "program", "aim", "again", "name", "work", "mood", "cause"]
"""What a chain asks: what is known of the files; how the same action, the same program ended last; whether the call is
aimed at what failed; how exactly this call ended; whether the program works here at all; whether anything was checked
since the last change; what happened just before; why it failed last."""

_SENTENCES: Mapping[tuple[str, ...], str] = {
    ("any",): "{subject}: any",
    ("program",): "{subject}: its program {program}",
    ("action", "program"): "{subject}: it {action}; its program {program}",
    ("exact",): "{subject}: exactly this {exact}",
    ("before",): "{subject}: {before}",
    ("program", "aim"): "{subject} {program}, {aim}",
    ("action-cause",): "{subject}: it failed for {action-cause}",
    ("program-cause",): "{subject}: its program failed for {program-cause}",
    ("state",): "{subject} {state}",
    ("gist",): "{subject}: {gist}",
    ("ground",): "{subject}: {ground}",
    ("check", "program"): "{subject}: {check}; its program {program}",
}
_OF_A_PROGRAM: Mapping[tuple[str, ...], str] = {
    ("program",): "{subject} {program}",
    ("check", "program"): "{subject}: {check}; {program}",
}
"""How a cue of one program says it, where that is another sentence."""
_WORDS: Mapping[str, str] = {
    "": "",
    # How something ended when it was tried last, and what was changed since.
    "new": "was never tried",
    "passed": "passed last",
    "failed-1": "failed once",
    "failed-few": "failed a few times",
    "failed-many": "failed many times",
    "failed-last": "failed last",
    "since-0": "none changed since",
    "since-1": "one changed since",
    "since-few": "a few changed since",
    "since-many": "many changed since",
    "unchanged": "nothing changed since",
    "changed-named": "what it named was changed since",
    "changed-other": "something else was changed since",
    # What a call is aimed at.
    "aim-same": "the same call",
    "aim-failed": "aimed at what failed",
    "aim-elsewhere": "aimed elsewhere",
    "aim-before": "aimed as before",
    # For what it failed.
    "option": "a wrong option",
    "not-installed": "something not installed",
    "not-there": "something not there",
    "not-built": "code that does not build",
    "refused": "a refusal",
    "time-limit": "a time limit",
    "test": "a test",
    "other": "another error",
    "once": "once",
    "again": "the same error again",
    "otherwise": "each time otherwise",
    # Whether a program works in this session, and how its calls go.
    "untried": "not tried in this session",
    "failing": "failed last in this session",
    "fell-0": "none failed just before",
    "fell-1": "one failed just before",
    "fell-few": "a few failed just before",
    "fell-many": "many failed just before",
    "same-program": "the same program",
    "check-first": "first check",
    "check-failed": "the last check failed",
    "check-passed": "the last check passed",
    "made-0": "none changed",
    "made-1": "one changed",
    "made-few": "a few changed",
    "made-many": "many changed",
    # How well a path is known.
    "file": "file",
    "script": "script",
    "paths": "paths",
    "none": "none",
    "missing": "missing",
    "forgotten": "that no longer counts as read",
    "disturbed": "changed by another",
    "written": "written",
    "written-now": "written in the same call",
    "read": "read",
    "folder": "folder",
    "named": "named",
    "name-only": "known by name only",
    "guessed-near": "guessed in a known folder",
    "guessed": "guessed",
    "no-file": "no file",
    "no-ending": "without an ending",
    "folder-again": "in the same folder again",
    "folder-other": "in another folder",
    # What is known of the text that is to be replaced, of a script that is run, of a pattern that is looked for.
    "text-same": "its text stays the same",
    "text-being-read": "just being read",
    "text-unknown": "text unknown",
    "text-unknown-before": "text unknown, as with one before",
    "text-absent": "its text is not there",
    "text-unseen": "its text is not in what was seen",
    "text-twice": "its text is there more than once",
    "text-there": "its text is there",
    "first-run": "first run",
    "rewritten": "rewritten",
    "as-it-was": "the same",
    "pattern-unknown": "pattern unknown",
    "pattern-seen": "pattern seen there",
    "pattern-absent": "pattern is not there",
    "pattern-short": "pattern short",
    "pattern-long": "pattern long",
    # What tells most of all this.
    "is-absent": "is not there",
    "is-twice": "is there more than once",
    "is-unseen": "is not in what was seen",
    "is-forgotten": "no longer counts as read",
    "is-unknown": "text unknown",
    "is-guessed": "guessed",
    "is-name-only": "known by name only",
    "is-missing": "missing",
    "is-again": "the same folder again",
    "is-fine": "nothing against it",
}
_GISTS: Mapping[str, frozenset[str]] = {
    "is-absent": frozenset(("text-absent", "pattern-absent")),
    "is-twice": frozenset(("text-twice",)),
    "is-unseen": frozenset(("text-unseen",)),
    "is-forgotten": frozenset(("forgotten",)),
    "is-unknown": frozenset(("text-unknown", "text-unknown-before")),
    "is-guessed": frozenset(("guessed", "guessed-near")),
    "is-name-only": frozenset(("name-only",)),
    "is-missing": frozenset(("missing",)),
    "is-again": frozenset(("folder-again",)),
}
"""What of a ground tells most, the most telling first."""
_WORST_FIRST = (
    "missing",
    "guessed",
    "guessed-near",
    "name-only",
    "named",
    "read",
    "disturbed",
    "written",
    "folder",
)
_SHORT = 12
"""Characters of a pattern from which on it counts as long."""


class Chain(Struct, frozen=True, kw_only=True):
    """The answers to one question, from the most general cue to the most particular."""

    question: Question
    cues: tuple[str, ...]


def words(cue: str) -> str:
    """A cue in words, as it is shown."""
    subject, values = _parted(cue)
    names = tuple(values)
    sentence = (_OF_A_PROGRAM.get(names) if is_named(cue) else None) or _SENTENCES[names]
    return sentence.format(subject=subject, **{name: _said(code) for name, code in values.items()})


def is_named(cue: str) -> bool:
    """Whether a cue is of one program or action, and not of a kind of calls."""
    return cue.startswith("`")


def action_cue(kind: str) -> str:
    """The most general cue of all: that a call of this kind fails."""
    return f"{kind} any"


def _parted(cue: str) -> tuple[str, dict[str, str]]:
    """The subject of a cue, and what is so of it by name."""
    end = cue.rindex("`") + 1 if is_named(cue) else cue.index(" ")
    pairs = (each.partition("=") for each in cue[end:].split())
    return cue[:end], {name: code for name, _, code in pairs}


def _said(codes: str) -> str:
    return ", ".join(" ".join(_WORDS[code] for code in each.split(":")) for each in codes.split(","))


def chains(situation: Situation, seen: Shape) -> tuple[Chain, ...]:
    """Every cue of a call, by the question that it answers."""
    exact, action, program, _ = (situation.outcomes.get(key) for key in keys(seen))
    kind, named = seen.kind, f"`{seen.program}`"
    by_program, by_action = _history(situation, program), _history(situation, action)
    both = f"action={by_action} program={by_program}"
    found = [
        Chain(question="history", cues=(f"{kind} program={by_program}", f"{kind} {both}", f"{named} {both}")),
        Chain(question="program", cues=(f"{kind} program={by_program}", f"{named} program={by_program}")),
        Chain(question="again", cues=(f"{kind} exact={_history(situation, exact)}",)),
        Chain(question="mood", cues=(f"{kind} before={_mood(situation, seen)}",)),
    ]
    if program is not None and program.failed:
        aim = f"program={by_program} aim={_aim(seen, program)}"
        found.append(Chain(question="aim", cues=(f"{kind} {aim}", f"{named} {aim}")))
    for who, outcome in (("action-cause", action), ("program-cause", program)):
        if outcome is not None and outcome.failed:
            found.append(Chain(question="cause", cues=_why(situation, outcome, who, kind, named)))
    if program is None or program.failed:
        state = "state=untried" if program is None else "state=failing"
        found.append(Chain(question="name", cues=(f"{named} {state}", f"`{seen.action}` {state}")))
    if not seen.shell or seen.script or kind in ("search", "read", "edit"):
        ground = _ground(situation, seen)
        told = f"ground={','.join(ground)}"
        found.append(
            Chain(question="ground", cues=(f"{kind} gist={_gist(ground)}", f"{kind} {told}", f"{named} {told}"))
        )
    if kind in ("check", "run"):
        checked = f"check={_checked(situation)} program={by_program}"
        found.append(Chain(question="work", cues=(f"{kind} {checked}", f"{named} {checked}")))
    return tuple(found)


def _many(count: int) -> str:
    return str(count) if count < 2 else "few" if count < 4 else "many"


def _history(situation: Situation, outcome: PastOutcome | None) -> str:
    if outcome is None:
        return "new"
    if outcome.failed:
        return f"failed-{_many(outcome.streak)},{_changed(situation, outcome)}"
    return f"passed,since-{_many(len(situation.since(outcome)))}"


def _changed(situation: Situation, outcome: PastOutcome) -> str:
    since = situation.since(outcome)
    if not since:
        return "unchanged"
    return "changed-named" if outcome.named & {base(path) for path in since} else "changed-other"


def _why(situation: Situation, outcome: PastOutcome, who: str, kind: str, named: str) -> tuple[str, ...]:
    """For what it failed last, whether that was the same as before, and what was changed since."""
    times = "once" if outcome.streak == 1 else "again" if outcome.repeated else "otherwise"
    said, changed = f"{who}={outcome.cause}", _changed(situation, outcome)
    return f"{kind} {said},{changed}", f"{kind} {said},{times},{changed}", f"{named} {said},{changed}"


def _mood(situation: Situation, seen: Shape) -> str:
    same = situation.last is not None and situation.last.program == seen.program
    return f"fell-{_many(situation.streak)}{',same-program' if same else ''}"


def _aim(seen: Shape, outcome: PastOutcome) -> str:
    """Whether a call is aimed at what failed when its program failed last."""
    if outcome.exact == seen.exact:
        return "aim-same"
    aimed = names_in(_without_description(seen.exact))
    if aimed & outcome.fallen:
        return "aim-failed"
    return "aim-elsewhere" if aimed - names_in(_without_description(outcome.exact)) else "aim-before"


def _without_description(exact: str) -> str:
    return exact.partition('"description"')[0]


def _checked(situation: Situation) -> str:
    last = situation.checked
    if last is None:
        return f"check-first,made-{_many(len(set(situation.changes)))}"
    since = len(situation.changes) - last.changes
    return f"check-{'failed' if last.failed else 'passed'},since-{_many(since)}"


def _gist(ground: tuple[str, ...]) -> str:
    codes = {code for each in ground for code in each.split(":")}
    return next((gist for gist, telling in _GISTS.items() if telling & codes), "is-fine")


def _ground(situation: Situation, seen: Shape) -> tuple[str, ...]:
    """What is known of what the call works on."""
    if not seen.shell:
        return _file_ground(situation, seen)
    if seen.kind in ("run", "check") and seen.script:
        return _script_ground(situation, seen)
    return _command_ground(situation, seen)


def _file_ground(situation: Situation, seen: Shape) -> tuple[str, ...]:
    if not seen.path:
        return ("no-file",)
    known = f"file:{situation.files.state_of(seen.path)}"
    if seen.kind == "edit" and seen.removed:
        return known, _text_ground(situation, seen)
    return (known,) if "." in base(seen.path) else (known, "no-ending")


def _text_ground(situation: Situation, seen: Shape) -> str:
    if seen.removed == seen.added:
        return "text-same"
    known = situation.files.text(seen.path)
    if known is None:
        if situation.being_read(seen.path):
            return "text-being-read"
        return "text-unknown-before" if situation.unread_edited else "text-unknown"
    times = known.count(seen.removed)
    if times == 0:
        return "text-absent" if known.whole else "text-unseen"
    return "text-twice" if times > 1 and not seen.everywhere else "text-there"


def _script_ground(situation: Situation, seen: Shape) -> tuple[str, ...]:
    script = base(seen.script)
    before = situation.outcomes.get(f"program {seen.program}")
    written_now = script in {base(each) for each in seen.writes}
    known = f"script:{'written-now' if written_now else situation.files.state_of(seen.script)}"
    if before is None:
        return known, "first-run"
    again = script in {base(path) for path in situation.since(before)}
    return known, "failed-last" if before.failed else "passed", "rewritten" if again else "as-it-was"


def _command_ground(situation: Situation, seen: Shape) -> tuple[str, ...]:
    found = {situation.files.state_of(path) for path in seen.paths}
    said = [f"paths:{next((each for each in _WORST_FIRST if each in found), 'none')}"]
    if seen.kind in ("search", "read") and seen.decider in ("grep", "rg", "egrep", "ag"):
        said.append(f"pattern-{_pattern_ground(situation, seen)}")
    if seen.folder and not seen.folder.startswith(("/", "~", "$")):
        said.append("folder-again" if situation.folder == seen.folder else "folder-other")
    return tuple(said)


def _pattern_ground(situation: Situation, seen: Shape) -> str:
    literal = re.sub(r"\\(.)", r"\1", seen.pattern).strip("^$")
    if not literal:
        return "unknown"
    known = [text for path in seen.paths if (text := situation.files.text(path))]
    if any(text.count(literal) for text in known):
        return "seen"
    if any(text.whole for text in known):
        return "absent"
    return "short" if len(literal) < _SHORT else "long"
