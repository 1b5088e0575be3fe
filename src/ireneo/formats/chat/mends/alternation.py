"""User and assistant take turns, as the templates of many models demand."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.notes import NO_REPLY
from ireneo.log.message import Draft, Text


def take_turns(drafts: Sequence[Draft]) -> list[Draft]:
    """Merge neighbours of one role; where the user speaks right after a tool, say that no reply was given.

    Expects calls to be answered directly after them, so that an assistant with calls has no assistant after it.
    """
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out else None
        if before is not None and draft.role == before.role and draft.role in ("user", "assistant"):
            out[-1] = _merged(before, draft)
            continue
        if before is not None and before.role == "tool" and draft.role == "user":
            out.append(Draft(role="assistant", parts=(Text(text=NO_REPLY),)))
        out.append(draft)
    return out


def _merged(before: Draft, draft: Draft) -> Draft:
    return replace(before, parts=before.parts + draft.parts, native=None)
