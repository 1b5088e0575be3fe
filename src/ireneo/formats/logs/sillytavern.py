"""SillyTavern's chats: JSON lines, a header and then a message a line; a group's chat may have no header.

Swipes are versions of a message; the one that is shown stands, the others are kept as branches. What `/hide` took out
of the prompt is part of the story all the same; notes of the program and of `/comment` are nobody's words in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ireneo.formats.logs.conversation import SpokenTree, objects_of, uttered
from ireneo.formats.logs.format import LogFault, LoggedSession, line_fault, with_faults
from ireneo.formats.values import mapping, moment, string, without
from ireneo.log.message import Draft, Origin, Role
from ireneo.patterns import lazy_re

FORMAT = "sillytavern"
_HEADER = lazy_re(rb'[\s\[]*\{\s*"(?:user_name|character_name|chat_metadata)"\s*:')
_MESSAGE = (lazy_re(rb'"mes"\s*:\s*["{]'), lazy_re(rb'"(?:is_user|send_date|is_system)"\s*:'))
_HUMANISED = lazy_re(r"(\d{4})-(\d\d?)-(\d\d?) ?@(\d\d?)h ?(\d\d?)m ?(\d\d?)s(?: ?(\d{1,3})ms)?")
_MACROS = lazy_re(r"\{\{(user|char)\}\}|<(USER|BOT|CHAR)>", re.IGNORECASE)
_NOBODY = ("unused", "You")
"""What headers say in place of a name that they don't know."""
_OF_PROGRAM = frozenset(
    "help welcome empty generic comment slash_commands formatting hotkeys macros welcome_prompt assistant_note"
    " assistant_message group".split()
)
"""The types of messages that the program, or a comment, puts between those of a chat."""


def named_in(text: str, user: str | None, character: str | None) -> str:
    """`text` with the names where it has macros for them, as far as they are known."""

    def name(found: re.Match[str]) -> str:
        known = user if (found[1] or found[2]).casefold() == "user" else character
        return known or found[0]

    return _MACROS.sub(name, text) if "{{" in text or "<" in text else text


class SillyTavern:
    """Reads `chats/<character>/<name>.jsonl` and `group chats/<name>.jsonl`."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with a chat's header, or with a message as only such a chat has it."""
        if _HEADER.match(sample):
            return True
        first = sample.lstrip().split(b"\n", 1)[0]
        return first[:1] in (b"{", b"[") and all(mark.search(first) for mark in _MESSAGE)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the one session of a file."""
        entries: list[tuple[int, dict[str, object]]] = []
        for found in objects_of(lines, "message"):
            if isinstance(found, LogFault):
                yield found
            else:
                entries.append(found)
        chat = _Chat([entry for _, entry in entries])
        for number, entry in entries:
            yield from chat.add(number, entry)
        session = chat.tree.session(name)
        yield from [session] if session else []


class _Chat:
    """A chat while its entries are read."""

    def __init__(self, entries: Sequence[Mapping[str, object]]) -> None:
        """Look for the names of who takes part: those of the header, or of who speaks first on either side."""
        self.tree = SpokenTree(FORMAT)
        header = next((entry for entry in entries if _is_header(entry)), {})
        said = [entry for entry in entries if not entry.get("is_system") and string(entry.get("name"))]
        users = [entry["name"] for entry in said if entry.get("is_user")]
        characters = [entry["name"] for entry in said if not entry.get("is_user")]
        self._user = _given(header.get("user_name")) or string(next(iter(users), None))
        self._character = _given(header.get("character_name")) or string(next(iter(characters), None))

    def add(self, number: int, entry: dict[str, object]) -> Iterator[LogFault]:
        if _is_header(entry):
            self.tree.say(Draft(role="system", parts=()), entry)
            return
        text = _words(entry["mes"]) if "mes" in entry else None
        if text is None:
            yield line_fault(number, "holds no text of a message (`mes`); it was left out.")
            return
        self.tree.say(self._draft(entry, text, _date(entry.get("send_date"))), without(entry, "mes", "swipes"))
        yield from self._versions(number, entry, text)

    def _versions(self, number: int, entry: Mapping[str, object], text: str) -> Iterator[LogFault]:
        swipes = entry.get("swipes")
        if not isinstance(swipes, list):
            return
        infos = entry.get("swipe_info")
        shown = entry.get("swipe_id")
        for place, swipe in enumerate(swipes):
            said = _words(swipe)
            if said is None:
                yield line_fault(number, f"holds a swipe, the {place + 1}., that is no text; it was left out.")
            elif place != shown and said != text:
                about = mapping(infos[place]) if isinstance(infos, list) and place < len(infos) else {}
                at = _date(about.get("send_date"))
                self.tree.instead(self._draft(entry, said, at), {"swipe_id": place, **about})

    def _draft(self, entry: Mapping[str, object], text: str, at: datetime | None) -> Draft:
        kind = mapping(entry.get("extra")).get("type")
        name = string(entry.get("name"))
        role: Role = "user" if entry.get("is_user") or kind == "narrator" else "assistant"
        origin: Origin = "spoken"
        if kind in _OF_PROGRAM or (entry.get("is_system") and name == "SillyTavern System"):
            role, origin = "user", "injected"
        if origin == "injected" or (kind == "narrator" and name == "System"):
            name = None
        return uttered(role, named_in(text, self._user, self._character), author=name, at=at, origin=origin)


def _is_header(entry: Mapping[str, object]) -> bool:
    return "mes" not in entry and any(key in entry for key in ("user_name", "character_name", "chat_metadata"))


def _given(name: object) -> str | None:
    return None if name in _NOBODY else string(name)


def _words(value: object) -> str | None:
    """A message's text; other programs that write the format keep it in an object."""
    text = mapping(value).get("message") if isinstance(value, dict) else value
    return text if isinstance(text, str) else "" if text is None else None


def _date(value: object) -> datetime | None:
    """The time as the program wrote it in one version or another."""
    found = _HUMANISED.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return moment(value)
    year, month, day, hour, minute, second, milliseconds = (int(each or 0) for each in found.groups())
    try:
        return moment(datetime(year, month, day, hour, minute, second, milliseconds * 1_000).isoformat())
    except ValueError:
        return None
