"""From the parts of a content to ours: a signature stands before what it was found on."""

from __future__ import annotations

import msgspec

from ireneo.formats.chat.gemini.media import read_media
from ireneo.formats.chat.gemini.names import CALL, NAME, RESULT, SIGNATURE, field, without
from ireneo.formats.chat.gemini.signatures import STAND_IN
from ireneo.formats.chat.reading import record, words
from ireneo.log.message import Call, Media, Opaque, Part, Result, Text, Thinking

_TOLD = ("output", "result", "error")
"""Under which of these a tool's words stand is its author's choice."""


def read_part(part: dict[str, object], role: str, place: str, call_id: str = "") -> list[Part]:
    """What a part says, and the signature on it; `call_id` is what a call or a result is known by.

    The stand-in for a signature says nothing, and goes back only with the part as it is.
    """
    signature = field(part, SIGNATURE)
    signed = role == "model" and isinstance(signature, str) and signature not in ("", STAND_IN)
    mark = signature if signed and isinstance(signature, str) else None
    thought = part.get("thought") is True and role == "model"
    text = part.get("text")
    if text is not None and thought:
        return [Thinking(text=words(text, f"{place}, text"), signature=mark, format=NAME)]
    said = _said(part, place, call_id)
    if mark is None:
        return [said]
    # A signature that comes last stands on an empty text.
    return [Thinking(signature=mark, format=NAME), *([] if said == Text(text="") else [said])]


def _said(part: dict[str, object], place: str, call_id: str) -> Part:
    text, call, result = part.get("text"), field(part, CALL), field(part, RESULT)
    if text is not None:
        return Text(text=words(text, f"{place}, text"))
    if call is not None:
        call = record(call, f"{place}, {CALL}")
        name = words(call.get("name"), f"{place}, {CALL}, name")
        return Call(id=call_id, name=name, arguments=_arguments(call.get("args")))
    if result is not None:
        return _result(record(result, f"{place}, {RESULT}"), call_id, f"{place}, {RESULT}")
    media = None if part.get("thought") is True else read_media(part)
    return media or Opaque(format=NAME, payload=without(part, SIGNATURE))


def _arguments(given: object) -> dict[str, object] | str:
    if isinstance(given, dict):
        return given
    return {} if given is None else given if isinstance(given, str) else msgspec.json.encode(given).decode()


def _result(result: dict[str, object], call_id: str, place: str) -> Result:
    name = words(result.get("name"), f"{place}, name")
    response = result.get("response")
    failed = None
    told = "" if response is None else msgspec.json.encode(response).decode()
    if isinstance(response, dict) and len(response) == 1:
        (key, said), *_ = response.items()
        if key in _TOLD and isinstance(said, str):
            told, failed = said, True if key == "error" else None
    parts: list[Text | Media | Opaque] = [Text(text=told)] if told else []
    shown = result.get("parts")
    for part in shown if isinstance(shown, list) else ():
        if isinstance(part, dict):
            parts.append(read_media(part) or Opaque(format=NAME, payload=part))
    return Result(call_id=call_id, parts=tuple(parts), failed=failed, name=name)
