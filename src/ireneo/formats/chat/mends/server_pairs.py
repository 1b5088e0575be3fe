"""A call that the provider ran and its result stand together in one assistant message, or become notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ireneo.formats.chat.mends.change import with_parts
from ireneo.formats.chat.notes import LOST_CALL, call_note, result_note
from ireneo.log.message import Call, Draft, Part, Result, Text


def keep_server_pairs(drafts: Sequence[Draft], writes: Callable[[Result], bool]) -> list[Draft]:
    """Make a note of each half without its other half, and of each pair whose result the format can't write."""
    taken: set[str] = set()
    return [_paired(draft, writes, taken) if draft.role == "assistant" else draft for draft in drafts]


def tell_server_pairs(drafts: Sequence[Draft]) -> list[Draft]:
    """Make notes of all calls that the provider ran, for formats that have no place for their results."""
    return keep_server_pairs(drafts, lambda result: False)


def _paired(draft: Draft, writes: Callable[[Result], bool], taken: set[str]) -> Draft:
    kept: set[int] = set()
    served: set[str] = set()
    open_calls: dict[str, int] = {}
    for index, part in enumerate(draft.parts):
        if isinstance(part, Call):
            if part.server:
                served.add(part.id)
                if part.id not in taken:
                    open_calls[part.id] = index
            taken.add(part.id)
        elif isinstance(part, Result) and part.call_id in open_calls and writes(part):
            kept |= {index, open_calls.pop(part.call_id)}
    return with_parts(
        draft, [part if index in kept else _told(part, served, writes) for index, part in enumerate(draft.parts)]
    )


def _told(part: Part, served: set[str], writes: Callable[[Result], bool]) -> Part:
    if isinstance(part, Call) and part.server:
        return Text(text=call_note(part))
    if isinstance(part, Result) and (part.call_id in served or writes(part)):
        return result_note(LOST_CALL, part)
    return part
