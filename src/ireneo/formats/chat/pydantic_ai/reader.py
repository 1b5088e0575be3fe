"""From messages to drafts: a response is one, a request one for each voice in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.mends.expressible import express
from ireneo.formats.chat.natives import keep_native
from ireneo.formats.chat.origins import origin_of
from ireneo.formats.chat.pydantic_ai.expression import carries
from ireneo.formats.chat.pydantic_ai.names import NAME, RESPONSE, Voice, kind_named, part_kind, voice_of
from ireneo.formats.chat.pydantic_ai.prompts import read_prompt, read_result
from ireneo.formats.chat.pydantic_ai.replies import read_reply
from ireneo.formats.chat.pydantic_ai.writer import write_message
from ireneo.formats.chat.reading import listing, record
from ireneo.log.message import Draft, Native, Opaque, Origin, Part, Role

Placed: TypeAlias = tuple[str, dict[str, object]]
"""A part, with the words that name its place."""

_ROLES: dict[Voice, Role] = {"system": "system", "tool": "tool"}
_ORIGINS: dict[Voice, Origin] = {"harness": "injected", "summary": "summary"}


def read_message(message: dict[str, object], place: str) -> list[Draft]:
    """The drafts that a message is, each with its payload where the parts don't give it back."""
    kind = kind_named(message)
    if not kind:
        raise UnreadableLog(f"{place}: its kind {message.get('kind')!r} is unknown; expected request or response")
    placed = _placed(message, place)
    if kind == RESPONSE:
        parts = tuple(read_reply(part, where) for where, part in placed)
        return [_kept(Draft(role="assistant", parts=parts), message, placed)]
    drafts: list[Draft] = []
    for voice, run in _runs(placed):
        drafts.append(_kept(_request(voice, run, joined=bool(drafts)), message, run))
    return drafts


def _placed(message: dict[str, object], place: str) -> list[Placed]:
    out: list[Placed] = []
    for index, item in enumerate(listing(message.get("parts"), f"{place}, parts")):
        where = f"{place}, part {index}"
        part = record(item, where)
        if not part_kind(part):
            raise UnreadableLog(f"{where}: it has no part_kind")
        out.append((where, part))
    return out


def _runs(placed: Sequence[Placed]) -> list[tuple[Voice | None, list[Placed]]]:
    """The parts of a request by who speaks; what only records something stays with what stands before it."""
    runs: list[tuple[Voice | None, list[Placed]]] = []
    for each in placed:
        voice = voice_of(each[1])
        if runs and (voice is None or runs[-1][0] in (None, voice)):
            runs[-1] = (runs[-1][0] or voice, [*runs[-1][1], each])
        else:
            runs.append((voice, [each]))
    return runs or [(None, [])]


def _request(voice: Voice | None, run: Sequence[Placed], *, joined: bool) -> Draft:
    if voice is None:
        records = tuple(Opaque(format=NAME, payload=part) for _, part in run)
        return Draft(role="user", parts=records, origin="injected", joined=joined)
    parts: list[Part] = []
    for where, part in run:
        if voice_of(part) == "tool":
            parts.append(read_result(part, where))
        elif voice_of(part) is not None:
            parts += read_prompt(part, where)
    origin = origin_of(parts) if voice == "user" else _ORIGINS.get(voice, "spoken")
    return Draft(role=_ROLES.get(voice, "user"), parts=tuple(parts), origin=origin, joined=joined)


def _kept(draft: Draft, message: dict[str, object], run: Sequence[Placed]) -> Draft:
    half = message | {"parts": [part for _, part in run]}
    if draft.origin == "summary" or not draft.parts:
        # Another's summary is no prompt, and what says nothing has nothing to be built from.
        return replace(draft, native=Native(format=NAME, payload=half))
    return keep_native(draft, NAME, half, write_message([express(draft, carries)], {}))
