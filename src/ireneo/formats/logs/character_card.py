"""Character cards, V1 to V3, as JSON or in a PNG picture, and lorebooks: what is so in a story before anybody speaks.

A card becomes what the model is told, in messages of the system: who the character is, and then its lorebook. Its
greetings are kept aside, since the chat that begins with one of them has it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.conversation import SpokenTree, uttered
from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import LoggedSession, nothing_readable
from ireneo.formats.logs.sillytavern import named_in
from ireneo.formats.values import mapping, objects, string
from ireneo.patterns import lazy_re

FORMAT = "character-card"
_PNG = b"\x89PNG\r\n\x1a\n"
_SPEC = lazy_re(rb'"spec"\s*:\s*"(?:chara_card_v\d|lorebook_v\d)"')
_FIRST_KEYS = ((b'"first_mes"', b'"description"'), (b'"entries"', b'"keysecondary"'))
_DECORATOR = lazy_re(r"^@@.*\n?", re.MULTILINE)
_USER = "User"
"""What the user is called where no chat says it."""


class CharacterCard:
    """Reads cards, lorebooks by themselves, and SillyTavern's world info."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` is the beginning of a picture, or of a card or lorebook in JSON."""
        if sample.startswith(_PNG):
            return True
        if sample.lstrip()[:1] != b"{":
            return False
        return bool(_SPEC.search(sample)) or any(all(key in sample for key in keys) for keys in _FIRST_KEYS)

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the one session of a file; it is called `name`, which tells a character's file from others."""
        whole = b"".join(lines)
        if whole.startswith(_PNG):
            whole = card_in_picture(whole)
        found = list(documents([whole]))
        faults = [fault for each in found for fault in each.faults]
        card = next((each.value for each in found if isinstance(each.value, dict)), None)
        if card is None:
            raise nothing_readable(faults)
        tree = SpokenTree(FORMAT)
        about = mapping(card.get("data")) or card
        title = string(about.get("name"))
        book = about if "entries" in about else about.get("character_book")
        # The whole card is kept with what comes first of it.
        entries: list[object] = [card, {"card": title}]
        for text in filter(None, (_character(about, title), _lore(mapping(book), title))):
            tree.say(uttered("system", text), entries.pop(0))
        session = tree.session(name, faults)
        if session is None:
            raise UnreadableLog(
                "The log holds no message that could be read. As a card it has neither a description nor a lorebook."
            )
        yield session


def card_in_picture(picture: bytes) -> bytes:
    """The card that a PNG holds as text under `ccv3`, or else `chara`. Raises UnreadableLog where it has none."""
    texts: dict[bytes, bytes] = {}
    place = len(_PNG)
    while place + 8 <= len(picture):
        size, kind = int.from_bytes(picture[place : place + 4]), picture[place + 4 : place + 8]
        if kind == b"tEXt":
            keyword, _, text = picture[place + 8 : place + 8 + size].partition(b"\0")
            texts.setdefault(keyword.lower(), text)
        # Behind the data stand four bytes of checksum.
        place += size + 12
    held = texts.get(b"ccv3") or texts.get(b"chara")
    if held is None:
        raise UnreadableLog("The picture holds no character card; a card's PNG has a text `chara` or `ccv3`.")
    try:
        return base64.b64decode(held, validate=True)
    except binascii.Error:
        raise UnreadableLog("The picture's character card is damaged: its text is no base64.") from None


def _character(about: Mapping[str, object], title: str | None) -> str:
    """Who the character is, as a prompt tells it; empty for a lorebook."""
    called = string(about.get("nickname")) or title

    def told(key: str, heading: str = "") -> str:
        text = named_in(string(about.get(key)) or "", _USER, called).replace("{{original}}", "").strip()
        return f"{heading}{text}" if text else ""

    lead = [told("system_prompt"), f"{title}:" if title and told("description") else "", told("description")]
    rest = [told("personality", "Personality: "), told("scenario", "Scenario: "), told("post_history_instructions")]
    return "\n\n".join(filter(None, (*lead, *rest)))


def _lore(book: Mapping[str, object], title: str | None) -> str:
    """What a lorebook says, what always holds first; empty where it says nothing."""
    entries = book.get("entries")
    listed = list(entries.values()) if isinstance(entries, dict) else entries
    told = [
        (not entry.get("constant"), _order(entry), _entry(entry, title))
        for entry in objects(listed)
        if entry.get("enabled", True) and not entry.get("disable")
    ]
    lines = [text for _, _, text in sorted((each for each in told if each[2]), key=lambda each: each[:2])]
    return "\n".join(["What is so in this world:", *lines]) if lines else ""


def _order(entry: Mapping[str, object]) -> float:
    given = entry.get("insertion_order", entry.get("order"))
    return given if isinstance(given, int | float) else 0


def _entry(entry: Mapping[str, object], title: str | None) -> str:
    text = _DECORATOR.sub("", named_in(string(entry.get("content")) or "", _USER, title)).strip()
    given = entry.get("keys", entry.get("key"))
    keys = ", ".join(key for key in given if isinstance(key, str)) if isinstance(given, Sequence) else ""
    about = f"{keys}: " if keys and not entry.get("constant") and not entry.get("use_regex") else ""
    return f"- {about}{' '.join(text.split())}" if text else ""
