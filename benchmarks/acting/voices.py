"""The notes of a context in another voice: who is spoken of changes, and nothing else.

What the offline summariser writes is in the first person. What is quoted, what users said, and commands stay as they
are. Verbs in the past, of which notes are made, are the same in all three voices.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from ireneo.language.topics import Voice

OF_A_FILE = "  - "
"""What a line begins with that a file says, not the agent."""
OWN = MappingProxyType(
    {
        "first": "(My own notes on earlier work; not a request.)",
        "second": "(Notes on your earlier work; not a request.)",
        "third": "(Notes on the agent's earlier work; not a request.)",
    }
)
"""The line over the notes."""

_QUOTED = re.compile(r"`[^`\n]*`|[“„][^“”„\n]*[”“]|\"[^\"\n]*\"")
_SELF = re.compile(
    r"(?<![\w'’./-])(?:I (?:am|was|have|do)(?![\w'’])|I(?:['’](?:m|ve|d|ll))?|[Mm]y|[Mm]yself|[Mm]ine|me)"
    r"(?=[\s,.;:!?)]|$)(?!\.\w)"
)
_OTHERS: MappingProxyType[Voice, dict[str, str]] = MappingProxyType(
    {
        "first": {},
        "second": {
            "i": "you",
            "i am": "you are",
            "i was": "you were",
            "i have": "you have",
            "i do": "you do",
            "i'm": "you're",
            "i've": "you've",
            "i'd": "you'd",
            "i'll": "you'll",
            "my": "your",
            "myself": "yourself",
            "mine": "yours",
            "me": "you",
        },
        "third": {
            "i": "the agent",
            "i am": "the agent is",
            "i was": "the agent was",
            "i have": "the agent has",
            "i do": "the agent does",
            "i'm": "the agent is",
            "i've": "the agent has",
            "i'd": "the agent would",
            "i'll": "the agent will",
            "my": "its",
            "myself": "itself",
            "mine": "its",
            "me": "it",
        },
    }
)
_BEGINS = re.compile(r"(?:^|[.!?:] )(?:[-*] )?$")


def revoiced(block: str, voice: Voice) -> str:
    """A block of notes in that voice."""
    lines = block.split("\n")
    return "\n".join(line if line.startswith(OF_A_FILE) else _line(line, voice) for line in lines)


def _line(line: str, voice: Voice) -> str:
    quoted = [found.span() for found in _QUOTED.finditer(line)]

    def other(found: re.Match[str]) -> str:
        if voice == "first" or any(first <= found.start() < last for first, last in quoted):
            return found[0]
        said = _OTHERS[voice][found[0].replace("’", "'").lower()]
        return said[0].upper() + said[1:] if _BEGINS.search(line[: found.start()]) else said

    return _SELF.sub(other, line)
