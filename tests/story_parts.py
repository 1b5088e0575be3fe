"""What a question to a model shows for each text of a story that it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from ireneo.ports.models import Prompt
from ireneo.testing.scripted import Scripted

_ASKED = re.compile(r"(\d+)\. of parts? (\d+)(?: to (\d+) as one)?: ")


def shown(prompt: Prompt) -> dict[int, str]:
    """The messages of each text that is asked for, by its number; number 0 where only one is."""
    messages = prompt.user.partition("<messages>")[2].partition("</messages>")[0]
    parts = re.split(r"^=== Part \d+$", messages, flags=re.MULTILINE)[1:]
    asked = _ASKED.findall(prompt.user) if parts else []
    found = {int(number): "".join(parts[int(first) - 1 : int(last or first)]) for number, first, last in asked}
    return found or {0: messages}


def replied(prompt: Prompt, text: Callable[[str], dict[str, object]]) -> Scripted:
    """The reply to a question: each text made of the messages that are shown for it, or of the question if none are."""
    parts = shown(prompt)
    if 0 in parts:
        return text(parts[0] or prompt.user)
    return {"texts": [{"number": number, **text(messages)} for number, messages in parts.items()]}
