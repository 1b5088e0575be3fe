"""Chats of oobabooga's text-generation-webui: pairs of what the user and the model said, as `internal` and `visible`.

What is kept is the internal text, which the model saw; the visible one is a page's. Versions of a reply are branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ireneo.formats.logs.conversation import SpokenTree, uttered
from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import LogFault, LoggedSession, UniqueNames, line_fault, with_faults
from ireneo.formats.values import mapping, moment, objects, string, without
from ireneo.log.message import Role
from ireneo.patterns import lazy_re

FORMAT = "oobabooga"
_PAIRS = (
    lazy_re(rb'\A\s*\{\s*"(?:internal|visible|data|data_visible)"\s*:\s*\[\s*(?:\[|\])'),
    lazy_re(rb'"(?:internal|data)"\s*:\s*\[\s*(?:\[\s*(?:"|\])|\])'),
)
_BEGINS = "<|BEGIN-VISIBLE-CHAT|>"
"""Stands in the place of the user's words before a greeting."""


class Oobabooga:
    """Reads `user_data/logs/chat/<character>/<time>.json`, and the older `data` with `data_visible`."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with a list of pairs under the name that the program gives it."""
        return all(mark.search(sample) for mark in _PAIRS)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the one session of a file."""
        names = UniqueNames()
        for document in documents(lines):
            yield from document.faults
            chat = mapping(document.value)
            pairs = chat.get("internal", chat.get("data"))
            if document.value is None:
                continue
            if not isinstance(pairs, list):
                yield line_fault(document.number, "holds no list of pairs (`internal`); it was left out.")
                continue
            tree = SpokenTree(FORMAT)
            notes = mapping(chat.get("metadata"))
            faults = [
                fault for place, pair in enumerate(pairs) for fault in _say(tree, place, pair, notes, document.number)
            ]
            session = tree.session(names.give(name), faults)
            yield from [session] if session else faults


def _say(tree: SpokenTree, place: int, pair: object, notes: Mapping[str, object], number: int) -> Iterator[LogFault]:
    """Put what both said into `tree`, each with the versions that its notes have."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        yield line_fault(number, f"holds a pair, the {place + 1}., that is none; it was left out.")
        return
    for side, text in zip(("user", "assistant"), pair, strict=True):
        role: Role = "user" if side == "user" else "assistant"
        note = mapping(notes.get(f"{side}_{place}"))
        if not isinstance(text, str):
            yield line_fault(
                number, f"holds a pair, the {place + 1}., whose {side}'s side is no text; it was left out."
            )
        elif text.strip() and text != _BEGINS:
            tree.say(uttered(role, text, at=moment(note.get("timestamp"))), without(note, "versions"))
            for version in objects(note.get("versions")):
                other = string(version.get("content"))
                if other and other.strip() != text.strip():
                    draft = uttered(role, other, at=moment(version.get("timestamp")))
                    tree.instead(draft, without(version, "content", "visible_content"))
