"""`ireneo compact`: messages in, messages out."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

import ireneo
from ireneo.errors import UnreadableLog
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.files import LogFile
from ireneo.faces.cli.options import Budget, Preset, To

Messages = Annotated[
    str, typer.Argument(metavar="FILE", help="A JSON list of messages, or an object with `messages`; - reads stdin.")
]


def compact(file: Messages, budget: Budget, to: To = None, preset: Preset = None) -> None:
    """Cut a message list: messages in, messages out.

    They leave in the shape in which they came, and need no database.
    """
    with LogFile(file) as given:
        data = given.read()
        label = given.label
    try:
        messages = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnreadableLog(f"{label} is no JSON ({fault}); for a log, take `ireneo context {file}`.") from fault
    try:
        cut = ireneo.compact(messages, budget, to=to, preset=preset)
    except UnreadableLog as fault:
        raise UnreadableLog(f"{label}: {fault}.") from fault
    write_json(_shaped(messages, cut))


def _shaped(given: object, cut: ireneo.Context) -> object:
    """The messages as they came: in a list, or in an object with all that stood beside them."""
    if not isinstance(given, dict):
        if cut.system is None:
            return cut.messages
        given = {}
    listed, prompt = _KEYS.get(cut.format, _PLAIN)
    taken = {key for keys in (_PLAIN, *_KEYS.values()) for key in keys} | {"system_instruction"}
    beside = {key: value for key, value in given.items() if key not in taken}
    # One provider's prompt is a content of its own.
    told = {"parts": [{"text": cut.system}]} if cut.format == "gemini" else cut.system
    return {**beside, **({} if cut.system is None else {prompt: told}), listed: cut.messages}


_PLAIN = ("messages", "system")
_KEYS = {"openai-responses": ("input", "instructions"), "gemini": ("contents", "systemInstruction")}
"""What providers call the list and the prompt in the object that they take."""
