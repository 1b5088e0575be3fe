"""Read what a caller has: words, dictionaries and objects, of one provider or of several.

Each message is read in the format whose marks it bears. A plain one, which several formats have, goes with the messages
before it, and settles nothing: a session may begin with words, and go on in any provider's blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from msgspec import Struct

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic.names import NAME as ANTHROPIC
from ireneo.formats.chat.dumping import CLIENTS, library_of
from ireneo.formats.chat.format import Payload
from ireneo.formats.chat.gemini.names import NAME as GEMINI
from ireneo.formats.chat.marks import leaning_of, mark_of, unknown_block
from ireneo.formats.chat.openai.names import NAME as OPENAI
from ireneo.formats.chat.reading import kind
from ireneo.formats.chat.registry import chat_format
from ireneo.formats.chat.replies import messages_of_item, objects_of
from ireneo.formats.chat.responses.names import NAME as RESPONSES
from ireneo.formats.chat.times import KEEPS_TIMES, time_of, with_times, without_times
from ireneo.log.message import Draft
from ireneo.patterns import lazy_re

DEFAULT_FORMAT = OPENAI
"""What plain messages are read and written as, where nothing tells: it asks the least of a list."""

_SHARING = (OPENAI, ANTHROPIC, RESPONSES)
"""The formats that have plain messages in common: a role, and words."""
_LISTS = {"messages": None, "contents": GEMINI, "input": RESPONSES}
"""What a provider's request calls its messages, and whose it is by that."""
_PROMPTS = {
    "system": ANTHROPIC,
    "instructions": RESPONSES,
    "systemInstruction": GEMINI,
    "system_instruction": GEMINI,
}
_PLACE = lazy_re(r"^message (\d+)")


class Read(Struct, frozen=True, kw_only=True):
    """What was read, and what it tells of its format."""

    drafts: list[Draft]
    marks: tuple[str, ...]
    """The formats whose marks the messages bear, the first one that was met standing first; none of plain ones."""
    likely: str
    """The format that they are in, or that plain ones are likely to be in."""
    objects: str | None
    """The format whose objects were handed in, where a format has objects of its own."""
    unclear: str | None
    """One sentence on a content block that nothing tells the format of; None where each is known, or the format is."""


class _Item(Struct, frozen=True, kw_only=True):
    """A message, or a draft, with the place of what it came from."""

    index: int
    value: object
    mark: str | None
    at: datetime | None
    """When it was said, where that is noted."""


def read_given(
    given: Sequence[object], *, format: str | None = None, known: str | None = None, whole: bool = False
) -> Read:
    """Read messages in whatever shape a caller has them; see the module.

    `format` is what the caller names: what bears the marks of another format is refused then. `known` is what plain
    messages are in where nothing among them tells. Of an agent's result the new messages are read, or with `whole` all.
    Raises UnreadableLog with the fault's place, and UnknownFormat.
    """
    named = chat_format(format).name if format else None
    hints: list[str] = []
    items: list[_Item] = []
    if len(given) == 1 and (request := _request(given[0])):
        # Its messages are counted as the caller counts them.
        prompt, given = _opened(request, hints)
        items += [_item(draft, 0, draft) for draft in prompt]
    for index, each in enumerate(given):
        items += [_item(value, index, each) for value in _values(each, f"message {index}", hints, whole=whole)]
    if named:
        _check(items, named)
    marks = tuple(dict.fromkeys(item.mark for item in items if item.mark is not None))
    likely = named or next(iter((*marks, *hints)), None) or known or _leaning(items)
    drafts: list[Draft] = []
    for name, run in groupby(_placed(items, likely), lambda placed: placed[0]):
        drafts += _read_run(name, [item for _, item in run])
    objects = (objects_of(value) for value in (*given, *(item.value for item in items)))
    return Read(
        drafts=drafts,
        marks=marks,
        likely=likely,
        objects=next(filter(None, objects), None),
        unclear=None if named or known or marks or hints else next(filter(None, map(_unclear, items)), None),
    )


def _item(value: object, index: int, holder: object) -> _Item:
    """A message, with the time that it says itself, or the reply that held it."""
    at = None
    if not isinstance(value, Draft | str):
        replied = isinstance(holder, Mapping) and not _request(holder)
        at = time_of(value) or (time_of(holder) if replied or library_of(holder) in CLIENTS else None)
    return _Item(index=index, value=value, mark=mark_of(value), at=at)


def _unclear(item: _Item) -> str | None:
    kind = unknown_block(item.value)
    if kind is None:
        return None
    return (
        f"message {item.index}: nothing tells which provider's a {kind!r} block is; "
        f'name the format: format="{ANTHROPIC}", for example'
    )


def _values(each: object, place: str, hints: list[str], *, whole: bool) -> Iterator[object]:
    """The messages, words and drafts that one thing holds."""
    if isinstance(each, Draft | str):
        yield each
        return
    request = _request(each)
    if request is None:
        yield from messages_of_item(each, place, whole=whole)
        return
    prompt, listed = _opened(request, hints)
    yield from prompt
    for inner in listed:
        yield from _values(inner, place, hints, whole=whole)


def _request(each: object) -> Mapping[object, object] | None:
    """What holds messages as a provider's request does, or a framework's state; None where it is something else."""
    if isinstance(each, Payload):
        return {"messages": each.messages, "system": each.system}
    if not isinstance(each, Mapping) or any(key in each for key in ("role", "kind", "type", "parts")):
        return None
    return each if any(key in each for key in _LISTS) else None


def _opened(request: Mapping[object, object], hints: list[str]) -> tuple[list[Draft], list[object]]:
    """The prompt that stands beside the messages of a request, and the messages."""
    prompt: list[Draft] = []
    for name, owner in _PROMPTS.items():
        if request.get(name) is not None:
            hints.append(owner)
            prompt += chat_format(owner).decode({"messages": [], name: request[name]})
    there = [key for key in _LISTS if key in request]
    key = next((key for key in there if isinstance(request[key], list)), there[0])
    hints += [found for found in [_LISTS[key]] if found]
    # One provider takes words alone.
    listed = [request[key]] if key == "input" and isinstance(request[key], str) else request[key]
    if not isinstance(listed, list):
        raise UnreadableLog(f"`{key}` is {kind(listed)}, not a list of messages")
    return prompt, listed


def _check(items: Sequence[_Item], named: str) -> None:
    for item in items:
        if item.mark not in (None, named):
            raise UnreadableLog(
                f"message {item.index}: it is in the format {item.mark}, and not in {named}; name "
                f'format="{item.mark}", or leave format= out and each message is read as what it is'
            )


def _leaning(items: Sequence[_Item]) -> str:
    leanings = {leaning_of(item.value) for item in items}
    return ANTHROPIC if ANTHROPIC in leanings and OPENAI not in leanings else DEFAULT_FORMAT


def _placed(items: Sequence[_Item], likely: str) -> Iterator[tuple[str, _Item]]:
    """Each item with the format in which it is read; drafts, which are read already, under no name."""
    current = likely
    for item in items:
        if isinstance(item.value, Draft):
            yield "", item
            continue
        current = item.mark or current
        yield item.mark or _plain_format(item.value, current), item


def _plain_format(value: object, current: str) -> str:
    """The format in which a plain message is read among those of the format `current`."""
    if isinstance(value, str):
        return current if current in (*_SHARING, GEMINI) else OPENAI
    if not isinstance(value, dict) or current not in _SHARING:
        return OPENAI
    # What one of them has no place for.
    foreign = value.get("content") is None or value.get("role") == "developer"
    return OPENAI if current == ANTHROPIC and foreign else current


def _read_run(name: str, run: Sequence[_Item]) -> list[Draft]:
    if not name:
        return [item.value for item in run if isinstance(item.value, Draft)]
    for item in run:
        _check_whole(item)
    values, chat = [_worded(item.value, name) for item in run], chat_format(name)
    try:
        return with_times(chat.decode(values), values, [item.at for item in run], chat.decode)
    except UnreadableLog as fault:
        raise UnreadableLog(_PLACE.sub(lambda found: f"message {run[int(found[1])].index}", str(fault))) from fault


def _check_whole(item: _Item) -> None:
    value = item.value
    if item.mark is None and isinstance(value, dict) and "role" not in value and isinstance(value.get("type"), str):
        raise UnreadableLog(
            f"message {item.index}: a {value['type']!r} is a part of a message; hand in the whole message, such as "
            '{"role": "assistant", "content": [...]}'
        )


def _worded(value: object, name: str) -> object:
    """The words of a user as a message of the format, and a message without the time that its caller noted on it."""
    if isinstance(value, dict) and name not in KEEPS_TIMES:
        return without_times(value)
    if not isinstance(value, str):
        return value
    return {"role": "user", "parts": [{"text": value}]} if name == GEMINI else {"role": "user", "content": value}
