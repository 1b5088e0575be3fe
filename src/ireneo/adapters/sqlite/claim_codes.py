"""Converts the names that claims had before they had codes, for databases of that time.

The tables here must stay as they were then, however the codes and their wording have changed since.
"""

from __future__ import annotations

import re

import msgspec

from ireneo.adapters.sql.database import Bindings, Database, with_checksum, write_json

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
    # A row that didn't match its checksum before must not match it now.
    database.change(query, **{**new, "checksum": new["checksum"] if sound else kept, "was": was})


def claim_code(cue: str, category: str) -> str:
    """Return the code for a claim's old name; a name that no rule made is returned unchanged."""
    if cue.startswith("told: "):
        return f"model: {cue.removeprefix('told: ')}"
    if " ⇒ " in cue:
        action, _, rest = cue.partition(" ⇒ ")
        fault, over, remedy = rest.partition(" → ")
        if action.endswith(" unread"):
            action = f"{action.removesuffix(' unread')} <unread>"
        return f"{action} ⇒ {_FAULTS.get(fault, fault)}{over}{_remedy(remedy)}"
    if category == "procedural" and " after " in cue:
        return cue.replace(" after ", " <after> ", 1)
    return _fact(cue) if category == "factual" else cue


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
