"""In whose voice a summary is asked for: the first person is the way it is meant; the others are for comparison."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

Voice = Literal["first", "second", "third"]
"""Who speaks in a summary: "I ran …", "You ran …", "The agent ran …"."""

VOICES: MappingProxyType[Voice, str] = MappingProxyType(
    {
        "first": (
            "Write in the first person, past tense, operational: “I ran X, the result was Y”. These notes are your own "
            "memory of your own work: what failed for you is a scar, not a warning. Never write “the agent”, “the "
            "assistant”, “we” or “you did”. What the user wants stays the user's: “The user asked me to …”."
        ),
        "second": (
            "Write in the second person, past tense, operational: “You ran X, the result was Y”. Never write “I” or "
            "“the agent”. What the user wants stays the user's: “The user asked you to …”."
        ),
        "third": (
            "Write in the third person, past tense, operational: “The agent ran X, the result was Y”. Never write “I” "
            "or “you”. What the user wants stays the user's: “The user asked the agent to …”."
        ),
    }
)
"""What the prompts say about the voice."""
