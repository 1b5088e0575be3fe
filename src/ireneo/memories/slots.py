"""The one table of attributes: what each is called, and how its values hold."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ireneo.language.files import from_data, topic
from ireneo.language.spoken import Attributes

Holding: TypeAlias = Literal["one", "set", "series", "event"]
"""How an attribute's values hold: one at a time; side by side, until one of them ends; all of them, the newest being
what is so now; each an event of its own."""

_HOLDING: dict[str, Holding] = {
    **dict.fromkeys(
        (
            "alias allergy avoids child colleague condition dislike friend goal grandchild has hobby household "
            "instrument language learns like manner medication member parent pet plan plays preference project "
            "relative restriction sibling skill subscription symptom uses vehicle volunteering"
        ).split(),
        "set",
    ),
    **dict.fromkeys(
        "weight rent salary blood_pressure heart_rate running_time savings mileage sleep score".split(), "series"
    ),
    "event": "event",
}
"""Of the codes those that hold otherwise than one value at a time."""
_NO_PLURAL = ("ss", "us", "is", "os")


def attribute_of(name: str) -> str:
    """The code of an attribute by what it is called in any language; where it has none, its name in small letters."""
    plain = " ".join(name.casefold().replace("_", " ").split())
    return _codes().get(plain, plain)


def holding_of(attribute: str) -> Holding:
    """How the values of an attribute hold, told by its code or, where it has none, by the last word of its name.

    A plural holds several. Of all that tells nothing, a new value takes the place of the last.
    """
    code = attribute_of(attribute)
    known = _HOLDING.get(code) or _HOLDING.get(code.replace(" ", "_"))
    if known or not code:
        return known or "one"
    head, heads = code.split()[-1], topic(Attributes).heads
    by_head = _HOLDING.get(_codes().get(head, head))
    for holding, words in heads.items():
        if head in words or head.removesuffix("s") in words:
            return "series" if holding == "series" else "set"
    return by_head or ("set" if _is_plural(head) else "one")


@from_data
def _codes() -> dict[str, str]:
    return {name: code for code, names in topic(Attributes).names.items() for name in (code.replace("_", " "), *names)}


def _is_plural(word: str) -> bool:
    # So that DNS, SMS and the like are none.
    return (
        len(word) > 4
        and word.endswith("s")
        and word not in topic(Attributes).one_in_the_plural
        and not word.endswith(_NO_PLURAL)
    )
