"""The names that claims had before they were codes, and the codes that took their place: for files of that time.

All of it is as it was when it was written, whatever the codes and their words have become since.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ireneo.adapters.sql.database import Bindings, Database, with_checksum, write_json

_GUARD = "guard: "
_PHRASES: Mapping[str, str] = {
    "was never tried": "new",
    "passed last": "passed",
    "failed once": "failed-1",
    "failed a few times": "failed-few",
    "failed many times": "failed-many",
    "failed last": "failed-last",
    "none changed since": "since-0",
    "one changed since": "since-1",
    "a few changed since": "since-few",
    "many changed since": "since-many",
    "nothing changed since": "unchanged",
    "what it named was changed since": "changed-named",
    "something else was changed since": "changed-other",
    "the same call": "aim-same",
    "aimed at what failed": "aim-failed",
    "aimed elsewhere": "aim-elsewhere",
    "aimed as before": "aim-before",
    "a wrong option": "option",
    "something not installed": "not-installed",
    "something not there": "not-there",
    "code that does not build": "not-built",
    "a refusal": "refused",
    "a time limit": "time-limit",
    "a test": "test",
    "another error": "other",
    "once": "once",
    "the same error again": "again",
    "each time otherwise": "otherwise",
    "none failed just before": "fell-0",
    "one failed just before": "fell-1",
    "a few failed just before": "fell-few",
    "many failed just before": "fell-many",
    "the same program": "same-program",
    "first check": "check-first",
    "the last check failed": "check-failed",
    "the last check passed": "check-passed",
    "none changed": "made-0",
    "one changed": "made-1",
    "a few changed": "made-few",
    "many changed": "made-many",
    "no file": "no-file",
    "without an ending": "no-ending",
    "in the same folder again": "folder-again",
    "in another folder": "folder-other",
    "its text stays the same": "text-same",
    "just being read": "text-being-read",
    "text unknown": "text-unknown",
    "its text is not there": "text-absent",
    "its text is not in what was seen": "text-unseen",
    "its text is there more than once": "text-twice",
    "its text is there": "text-there",
    "first run": "first-run",
    "rewritten": "rewritten",
    "the same": "as-it-was",
    "pattern unknown": "pattern-unknown",
    "pattern seen there": "pattern-seen",
    "pattern is not there": "pattern-absent",
    "pattern short": "pattern-short",
    "pattern long": "pattern-long",
}
_STANDINGS: Mapping[str, str] = {
    "none": "none",
    "missing": "missing",
    "that no longer counts as read": "forgotten",
    "changed by another": "disturbed",
    "written": "written",
    "written in the same call": "written-now",
    "read": "read",
    "folder": "folder",
    "named": "named",
    "known by name only": "name-only",
    "guessed in a known folder": "guessed-near",
    "guessed": "guessed",
}
_GISTS: Mapping[str, str] = {
    "is not there": "is-absent",
    "is there more than once": "is-twice",
    "is not in what was seen": "is-unseen",
    "no longer counts as read": "is-forgotten",
    "text unknown": "is-unknown",
    "guessed": "is-guessed",
    "known by name only": "is-name-only",
    "missing": "is-missing",
    "the same folder again": "is-again",
    "nothing against it": "is-fine",
}
_OF_KIND = {"semantic": "factual", "procedural": "procedural", "failure": "failure"}
_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
_OBSERVATION = (
    *("space", "cue", "at", "session", "category", "project", "held", "broke", "tokens", "record", "checksum"),
)
_LESSON = (
    *("space", "id", "kind", "key", "state", "archived", "subject", "task_type", "at", "recorded"),
    *("unreflected", "stale", "cue", "record", "checksum"),
)
"""The columns that are read, in their order."""
_STATES = {"not tried in this session": "untried", "failed last in this session": "failing"}
_FAULTS = {
    "any error": "<any>",
    "found nothing": "<nothing>",
    "timed out": "<timeout>",
    "tests failed": "<tests>",
    "no error named": "<silent>",
}
_REMEDIES = {"more lines": "more-lines", "less of it": "less", "more files": "more-files"}
_COMMANDS = {
    "the formatter": "formatter",
    "the linter": "linter",
    "the generator": "generator",
    "the integration tests": "integration",
    "the tests": "tests",
    "the checks": "checks",
    "the build": "build",
}


def rename_claims(database: Database) -> None:
    """Replace the name of every stored claim by its code, in the observations of runs and in the lessons."""
    for values in database.rows("observations_to_rename"):
        row = dict(zip(_OBSERVATION, values, strict=True))
        _rename(database, "sightings", "rename_observation", row, str(row["category"]))
    for values in database.rows("lessons_to_rename"):
        row = dict(zip(_LESSON, values, strict=True))
        _rename(database, "memories", "rename_lesson", row, _OF_KIND.get(str(row["kind"]), ""))


def _rename(database: Database, table: str, query: str, row: Bindings, category: str) -> None:
    was = str(row["cue"])
    code = claim_code(was, category)
    if code == was:
        return
    kept = row.pop("checksum")
    sound = kept is not None and kept == with_checksum(table, row)["checksum"]
    record = _RECORD.decode(str(row["record"]))
    record["cue"] = msgspec.Raw(msgspec.json.encode(code))
    new = with_checksum(table, {**row, "cue": code, "record": write_json(record)})
    # What was not as it was stored already is not made to look so.
    database.change(query, **{**new, "checksum": new["checksum"] if sound else kept, "was": was})


def claim_code(cue: str, category: str) -> str:
    """The code of a claim by the name that it had; a name that no rule made stays as it is."""
    if cue.startswith(_GUARD):
        return f"{_GUARD}{situation_code(cue.removeprefix(_GUARD))}"
    if cue.startswith("told: "):
        return f"model: {cue.removeprefix('told: ')}"
    if " ⇒ " in cue:
        return _failure(cue)
    if category == "procedural" and " after " in cue:
        return cue.replace(" after ", " <after> ", 1)
    return _fact(cue) if category == "factual" else cue


def situation_code(cue: str) -> str:
    """The code of a situation that the guard knows by a name."""
    end = cue.rindex("`") + 1 if cue.startswith("`") else re.match(r"\w*", cue).end()  # type: ignore[union-attr]
    subject, rest = cue[:end], cue[end:].removeprefix(":").removeprefix(" ")
    return f"{subject} {_situation(rest)}"


def _situation(said: str) -> str:
    if said == "any":
        return "any"
    if said in _STATES:
        return f"state={_STATES[said]}"
    if said in _GISTS:
        return f"gist={_GISTS[said]}"
    for who, name in (("it failed for ", "action-cause"), ("its program failed for ", "program-cause")):
        if said.startswith(who):
            return f"{name}={_codes(said.removeprefix(who))}"
    if said.startswith("exactly this "):
        return f"exact={_codes(said.removeprefix('exactly this '))}"
    if " failed just before" in said:
        return f"before={_codes(said)}"
    first, both, second = said.partition("; ")
    if both:
        name, first = ("action", first.removeprefix("it ")) if first.startswith("it ") else ("check", first)
        return f"{name}={_codes(first)} program={_codes(second.removeprefix('its program '))}"
    said = said.removeprefix("its program ")
    past, _, aim = said.rpartition(", ")
    if _PHRASES.get(aim, "").startswith("aim-"):
        return f"program={_codes(past)} aim={_codes(aim)}"
    if said.startswith(("was never tried", "passed last, ", "failed ")):
        return f"program={_codes(said)}"
    return f"ground={_codes(said)}"


def _codes(said: str) -> str:
    before = ", as with one before"
    return ",".join(map(_code, said.removesuffix(before).split(", "))) + ("-before" if said.endswith(before) else "")


def _code(said: str) -> str:
    what, _, standing = said.partition(" ")
    if what in ("file", "script", "paths"):
        return f"{what}:{_STANDINGS[standing]}"
    return _PHRASES[said]


def _failure(cue: str) -> str:
    action, _, rest = cue.partition(" ⇒ ")
    fault, over, remedy = rest.partition(" → ")
    if action.endswith(" unread"):
        action = f"{action.removesuffix(' unread')} <unread>"
    return f"{action} ⇒ {_FAULTS.get(fault, fault)}{over}{_remedy(remedy)}"


def _remedy(label: str) -> str:
    for word in ("first", "alone"):
        if label.endswith(f" {word}"):
            return f"{word}:{label.removesuffix(f' {word}')}"
    for word in ("with", "without", "no"):
        if label.startswith(f"{word} "):
            return f"{word}:{label.removeprefix(f'{word} ')}"
    if swapped := re.fullmatch(r"(-\S+) for (-\S+)", label):
        return f"swap:{swapped[2]}:{swapped[1]}"
    return _REMEDIES.get(label, label)


def _fact(cue: str) -> str:
    if found := re.fullmatch(r"(.*): command of (the [a-z ]+): (.*)", cue, re.S):
        code = _COMMANDS.get(found[2])
        return f"{found[1]} <command:{code}> {found[3]}" if code else cue
    if found := re.fullmatch(r"(.*): place of (.*?): (.*)", cue, re.S):
        return f"{found[1]} <place> {found[2]}: {found[3]}"
    return cue
