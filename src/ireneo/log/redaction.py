"""Remove secrets from every text of a message, or erase all of its content.

Its shape stays the same, so that the path remains valid in every chat format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import Call, Draft, Media, Message, Native, Part, Result, Text, Thinking

ERASED = "[erased]"
"""Replaces erased content."""


def erase(message: Message) -> Message:
    """`message` without its content, its authors, and what its log and provider wrote of it.

    Its id stays, since those of all later messages depend on it, as do role, turn, time and token counts; calls keep id
    and tool name, results their call's id, so that the path remains valid in every chat format.
    """
    draft = message.draft
    bare = Draft(role=draft.role, parts=_bare(draft.parts), origin=draft.origin, at=draft.at, joined=draft.joined)
    return replace(message, draft=bare, erased=True)


def _bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    kept = tuple(_frames(parts))
    return kept or (Text(text=ERASED),)


def _frames(parts: Sequence[Part]) -> Iterator[Part]:
    """The frames of calls and results, and one text for everything else."""
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
"""Returns a text without its secrets, the same object where it has none. The second argument names the text: a key
of an object, an option of a command, or empty."""

SEALS = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content"})
"""Fields of a payload with signed or sealed content, which becomes invalid when something beside it changes."""

_THINKING = frozenset({"thinking", "reasoning"})
"""Providers' names for a block of thinking."""

PASSES = 8
"""Most passes over a draft; the second one knows every secret that another text reveals."""

StructT = TypeVar("StructT", bound=Struct)
PartT = TypeVar("PartT", bound=Part)


def redacted(draft: Draft, clean: Clean, clean_record: Clean | None = None) -> Draft:
    """`draft` with every text cleaned: parts, provider's payload, and log record; the same draft where all is clean.

    Ids that pair calls with results, media data and sealed content stay. Cleaned thinking loses its signature. It is
    repeated until nothing changes, since a secret that one text reveals may stand bare in an earlier one. The parts are
    cleaned by themselves, because they make the message's id, and the same message may come with another payload;
    `clean_record` cleans payload and record, where it is given.
    """
    draft = _settled(draft, lambda each: _parts_cleaned(each, clean))
    record = clean_record or clean
    return _settled(
        draft, lambda each: _changed(each, native=_native(each.native, record), record=_native(each.record, record))
    )


def cleaned_value(value: object, clean: Clean, name: str = "") -> object:
    """One of our JSON values with every text cleaned by its field's name; the same object where nothing was found."""
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
    """The fields of an object cleaned, `under` other names where given; the same object where nothing was found."""
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


def _part(part: PartT, clean: Clean) -> PartT:
    """`part` cleaned, or the same object."""
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
    """A provider's JSON value cleaned, including keys; the same object where nothing was found."""
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
    """`key`, numbered where it is taken."""
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
        # In a list of command arguments, an option names the one behind it.
        under = value if isinstance(value, str) and value.startswith("-") else name
    if _same(out, held):
        return held
    return [new for new, old in zip(out, held, strict=True) if new is old or not _is_signed_thinking(old)]


def _is_signed_thinking(block: object) -> bool:
    """Whether a provider takes the block back only as it wrote it: it is dropped once cleaned."""
    if not isinstance(block, dict) or not any(block.get(seal) for seal in SEALS):
        return False
    return bool(_THINKING.intersection(str(block.get(key)) for key in ("type", "part_kind")) or block.get("thought"))


def _changed(struct: StructT, **fields: object) -> StructT:
    """`struct` with these fields; the same object where they didn't change."""
    if all(value is getattr(struct, name) for name, value in fields.items()):
        return struct
    return replace(struct, **fields)


def _same(new: list[object] | tuple[object, ...], old: list[object] | tuple[object, ...]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))
