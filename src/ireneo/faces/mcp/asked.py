"""What a client hands in, looked over before a tool sees it: what can't be used is said in a sentence of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

PROJECT = "project"
MOST_SHOWN = 60
"""Characters of what was handed in that are shown again."""
_SORTS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list of texts",
    "null": "nothing",
}


def strangers(tool: str, known: Sequence[str], given: Mapping[str, object], project: str) -> str:
    """Why a call can't be made that hands in what the tool has no use for; empty where it can.

    The server answers for one project: who names that very one is answered.
    """
    unknown = [name for name in given if name not in known and not (name == PROJECT and given[name] == project)]
    if PROJECT in unknown:
        here = f"project {project!r} alone" if project else "no project, and so for what belongs to none"
        return (
            f"This server answers for {here}, and not for {_shown(given[PROJECT])}; leave `project` out, or start "
            "another one there (`ireneo mcp --project NAME`)."
        )
    if unknown:
        return f"`{tool}` takes no `{unknown[0]}`; it takes {_listed([f'`{name}`' for name in known], 'and')}."
    return ""


def refusal(name: str, schema: Mapping[str, object], given: Mapping[str, object]) -> str:
    """What to hand in as `name`, which is missing or can't be used."""
    told = str(schema.get("description", "")).rstrip(".")
    about = f": {told[:1].lower()}{told[1:]}" if told else ""
    if name not in given:
        return f"`{name}` is missing; give {_wanted(schema)}{about}."
    return f"`{name}` is {_shown(given[name])}; give {_wanted(schema)}{about}."


def _wanted(schema: Mapping[str, object]) -> str:
    ways = [
        each for each in cast("Sequence[Mapping[str, object]]", schema.get("anyOf", ())) if each != {"type": "null"}
    ]
    if ways:
        return _listed([_wanted(each) for each in ways], "or")
    if "enum" in schema:
        return f"one of {', '.join(map(str, cast('Sequence[object]', schema['enum'])))}"
    sort = _SORTS.get(str(schema.get("type", "")), "something else")
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int) and isinstance(most, int):
        return f"{sort} from {least:,} to {most:,}"
    return f"{sort} of at least {least:,}" if isinstance(least, int) else sort


def _listed(names: Sequence[str], last: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _shown(value: object) -> str:
    said = repr(value)
    return said if len(said) <= MOST_SHOWN else f"{said[: MOST_SHOWN - 1]}…"
