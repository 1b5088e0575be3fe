"""Each part stands in a message of a role that can hold it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import call_note
from ireneo.log.message import Call, Draft, Part, Result, Text, Thinking


def place_parts(drafts: Sequence[Draft]) -> list[Draft]:
    """Move results into tool drafts and all else out of them; a call that no assistant made becomes a note."""
    out: list[Draft] = []
    for draft in drafts:
        out += _assistant(draft) if draft.role == "assistant" else _other(draft)
    return out


def _assistant(draft: Draft) -> list[Draft]:
    served = {call.id for call in draft.calls if call.server}
    moved = [part for part in draft.results if part.call_id not in served]
    if not moved:
        return [draft]
    stays = [part for part in draft.parts if not any(part is gone for gone in moved)]
    return [with_parts(draft, stays), _results(draft, moved)]


def _other(draft: Draft) -> list[Draft]:
    results = draft.results
    if draft.role == "tool" and len(results) == len(draft.parts):
        return [draft]
    rest = with_parts(draft, [_said(part) for part in draft.parts if not isinstance(part, Result | Thinking)])
    if draft.role == "tool":
        rest = replace(rest, role="user", joined=bool(results))
    if not results:
        return [rest]
    if draft.role == "system":
        return [rest, _results(draft, results)]
    # The results come first, as they must in a message that holds both.
    return [_results(draft, results), *([replace(rest, joined=True)] if rest.parts else [])]


def _results(draft: Draft, results: Sequence[Result]) -> Draft:
    return replace(draft, role="tool", parts=tuple(results), joined=False, native=None)


def _said(part: Part) -> Part:
    return Text(text=call_note(part)) if isinstance(part, Call) else part
