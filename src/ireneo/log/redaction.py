"""A message without what must not be kept: its secrets taken out of every text, or all of it erased.

Its shape stays what it was, so that the path remains one that every chat format takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import Call, Draft, Media, Message, Native, Part, Result, Text, Thinking

ERASED = "[erased]"
"""What stands where something was erased."""


def erase(message: Message) -> Message:
    """`message` without anything that it said, who said it, and what its log and its provider wrote of it.

    Its id stays, since all that follow are named after it, and so do its role, its turn, when it was and what it was
    counted with: a log that is imported again counts the same. A call keeps its id and its tool's name, and a result
    its call's, so that the path remains one that every chat format takes.
    """
    draft = message.draft
    bare = Draft(role=draft.role, parts=_bare(draft.parts), origin=draft.origin, at=draft.at, joined=draft.joined)
    return replace(message, draft=bare, erased=True)


def _bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    kept = tuple(_frames(parts))
    return kept or (Text(text=ERASED),)


def _frames(parts: Sequence[Part]) -> Iterator[Part]:
    """The frames of calls and results, and one text in the place of all texts and pictures."""
    told = False
    for part in parts:
        if isinstance(part, Call):
            yield Call(id=part.id, name=part.name, arguments={}, server=part.server)
        elif isinstance(part, Result):
            yield Result(call_id=part.call_id, parts=(Text(text=ERASED),), name=part.name)
        elif not told:
            told = True
            yield Text(text=ERASED)


Clean: TypeAlias = Callable[[str, str], str]
"""Gives a text without its secrets, and the very same object where it holds none; the second argument is the name
that the text stands under (a key of an object, an option of a command), or an empty one."""

SEALS = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content"})
"""What a provider signs or seals its words with, in a payload: it no longer holds where a word beside it changed."""

_THINKING = frozenset({"thinking", "reasoning"})
"""What the providers call a block of thinking."""

PASSES = 8
"""So often a draft is gone through at the most; what each text gives away of the others is known after the second."""

StructT = TypeVar("StructT", bound=Struct)
PartT = TypeVar("PartT", bound=Part)


def redacted(draft: Draft, clean: Clean, clean_record: Clean | None = None) -> Draft:
    """`draft` with every text cleaned: its parts, its provider's payload and what its log wrote besides.

    Left as they are: the ids that pair calls with results, the data of media, and what the provider sealed. Thinking
    that was cleaned loses its signature, which would no longer hold. It is gone through until nothing changes, since
    a secret that only one text gives away may stand bare in a text before it. The same draft, where all is clean.

    The parts are cleaned by what they say alone, since they make the message's id: the same message has no payload
    through one door, and a log's record through another. `clean_record` cleans these, where it is another.
    """
    draft = _settled(draft, lambda each: _parts_cleaned(each, clean))
    return _settled(draft, lambda each: _besides_cleaned(each, clean_record or clean))


def cleaned_value(value: object, clean: Clean, name: str = "") -> object:
    """A value of JSON with every text in it cleaned, by the name of its field; the very same where nothing was found.

    It is one of ours, in which nothing is sealed.
    """
    if isinstance(value, str):
        return clean(value, name)
    if isinstance(value, dict):
        return cleaned_fields(value, clean)
    if isinstance(value, list | tuple):
        items = [cleaned_value(held, clean, name) for held in value]
        return value if _same(items, value) else items
    return value


def cleaned_fields(
    held: dict[str, object], clean: Clean, under: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """The fields of an object cleaned, as `cleaned_value` does; `under` says what a field stands under beside its name.

    The very same object where nothing was found in it.
    """
    fields = {clean(key, ""): cleaned_value(value, clean, under.get(key, key)) for key, value in held.items()}
    return held if all(key in fields and fields[key] is value for key, value in held.items()) else fields


def _settled(draft: Draft, once: Callable[[Draft], Draft]) -> Draft:
    for _ in range(PASSES):
        cleaned = once(draft)
        if cleaned is draft:
            break
        draft = cleaned
    return draft


def _parts_cleaned(draft: Draft, clean: Clean) -> Draft:
    parts = tuple(_part(part, clean) for part in draft.parts)
    return draft if _same(parts, draft.parts) else replace(draft, parts=parts)


def _besides_cleaned(draft: Draft, clean: Clean) -> Draft:
    return _changed(draft, native=_native(draft.native, clean), record=_native(draft.record, clean))


def _part(part: PartT, clean: Clean) -> PartT:
    """`part` cleaned, or the very same one."""
    if isinstance(part, Text):
        author = part.author and clean(part.author, "")
        return _changed(part, text=clean(part.text, ""), author=author, present=_names(part.present, clean))
    if isinstance(part, Thinking):
        text = clean(part.text, "")
        return part if text is part.text else replace(part, text=text, signature=None, sealed=None)
    if isinstance(part, Call):
        return _changed(part, arguments=cast("dict[str, object] | str", _value(part.arguments, "", clean)))
    if isinstance(part, Result):
        parts = tuple(_part(each, clean) for each in part.parts)
        return part if _same(parts, part.parts) else replace(part, parts=parts)
    if isinstance(part, Media):
        return _changed(part, url=part.url and clean(part.url, ""), name=part.name and clean(part.name, ""))
    return _changed(part, payload=cast("dict[str, object]", _value(part.payload, "", clean)))


def _names(names: tuple[str, ...] | None, clean: Clean) -> tuple[str, ...] | None:
    if names is None:
        return None
    cleaned = tuple(clean(name, "") for name in names)
    return names if _same(cleaned, names) else cleaned


def _native(native: Native | None, clean: Clean) -> Native | None:
    return native and _changed(native, payload=_value(native.payload, "", clean))


def _value(value: object, name: str, clean: Clean) -> object:
    """A value of JSON cleaned, keys and all; the very same object where nothing was found in it."""
    if isinstance(value, str):
        return clean(value, name)
    if isinstance(value, dict):
        return _object(value, clean)
    if isinstance(value, (list, tuple)):
        return _list(value, name, clean)
    return value


def _object(held: dict[str, object], clean: Clean) -> dict[str, object]:
    out: dict[str, object] = {}
    changed = False
    for key, value in held.items():
        new_key = _unused(clean(key, ""), out)
        new = value if key in SEALS else _value(value, key, clean)
        changed = changed or new is not value or new_key is not key
        out[new_key] = new
    if not changed:
        return held
    return {key: value for key, value in out.items() if key not in SEALS}


def _unused(key: str, taken: dict[str, object]) -> str:
    """`key`, numbered where two secrets of a kind were keys of the same object."""
    number = 1
    unused = key
    while unused in taken:
        number += 1
        unused = f"{key} {number}"
    return unused


def _list(held: list[object] | tuple[object, ...], name: str, clean: Clean) -> object:
    out: list[object] = []
    under = name
    for value in held:
        out.append(_value(value, under, clean))
        # The arguments of a command as a list: an option names what follows it.
        under = value if isinstance(value, str) and value.startswith("-") else name
    if _same(out, held):
        return held
    return [new for new, old in zip(out, held, strict=True) if new is old or not _is_signed_thinking(old)]


def _is_signed_thinking(block: object) -> bool:
    """Whether a provider takes a block back only as it wrote it: one that was cleaned goes whole."""
    if not isinstance(block, dict) or not any(block.get(seal) for seal in SEALS):
        return False
    return bool(_THINKING.intersection(str(block.get(key)) for key in ("type", "part_kind")) or block.get("thought"))


def _changed(struct: StructT, **fields: object) -> StructT:
    """`struct` with these fields, or the very same one where they are what they were."""
    if all(value is getattr(struct, name) for name, value in fields.items()):
        return struct
    return replace(struct, **fields)


def _same(new: list[object] | tuple[object, ...], old: list[object] | tuple[object, ...]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))
