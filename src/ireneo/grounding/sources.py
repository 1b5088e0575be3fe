"""The texts of messages that count as evidence: what was said, what tools were asked, what they answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from ireneo.log.echo import said_in
from ireneo.log.message import Call, Message, is_own_block, texts


def source_texts(messages: Iterable[Message]) -> list[str]:
    """The texts of `messages` in order, calls as their arguments read, and the day and hour of each.

    Thinking is left out, and so are another tool's compaction and what memory recalled, which are evidence for nothing.
    """
    return [text for message in messages for text in _of_message(message) if text]


def _of_message(message: Message) -> Iterator[str]:
    draft = said_in(message.draft)
    if draft.origin == "summary" and not is_own_block(draft):
        return
    if draft.at is not None:
        yield f"{draft.at:%Y-%m-%dT%H:%M}"
    yield from texts(draft.parts)
    for call in draft.calls:
        yield call_text(call)


def call_text(call: Call) -> str:
    """A call on one page: its tool, and what it was given, each text as it is."""
    if isinstance(call.arguments, str):
        return f"{call.name} {call.arguments}"
    return "\n".join([call.name, *_strings(call.arguments)])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (str, Mapping, list, tuple)):
                yield from _strings(inner)
            else:
                yield f"{key}: {json.dumps(inner, default=str)}"
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)
