"""The shape of a mend, and the one way in which it changes a draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.log.message import Draft, Part, Text

Mend: TypeAlias = Callable[[Sequence[Draft]], list[Draft]]


def mended(drafts: Sequence[Draft], mends: Iterable[Mend]) -> list[Draft]:
    """`drafts` after each of `mends`, in order."""
    out = list(drafts)
    for mend in mends:
        out = mend(out)
    return out


def with_parts(draft: Draft, parts: Iterable[Part]) -> Draft:
    """`draft` with other parts; its native payload, which would still say the old ones, goes unless they are equal."""
    new = tuple(parts)
    return draft if new == draft.parts else replace(draft, parts=new, native=None)


def note(text: str) -> Draft:
    """A message of ours in the user's place; nobody said it."""
    return Draft(role="user", parts=(Text(text=text),), origin="injected")
