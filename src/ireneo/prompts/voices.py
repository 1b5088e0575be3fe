"""In whose voice a summary is asked for, of an agent's work and of a story."""

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


_NAMED = "Call people by their names, never “the user”, “the assistant” or “the player”."
_UNNAMED = "Call people by the names that the text gives them; where it gives none, “the user” and “the assistant”."


def story_voice(voice: Voice, seen_by: str, *, named: bool) -> str:
    """What the prompts of stories say about the voice.

    `seen_by` is the character whose memory it is, if it is one's; `named` tells whether those who speak have names.
    """
    people = _NAMED if named else _UNNAMED
    if voice == "third":
        whose = f" Tell only what {seen_by} was present for." if seen_by else ""
        return f"Write in the third person; no “I”, “we” or “you” outside quotation marks. {people}{whose}"
    who = seen_by or "the one whose memory this is"
    if voice == "second":
        return f"Write in the second person: {who} is “you”, never “I”. Tell only what {who} was present for. {people}"
    return (
        f"You are {who}, and this is your own memory: “I” is {who}, and nobody else. Tell only what you were present "
        f"for, did, said, saw and were told; of yourself never by your name. {people}"
    )
