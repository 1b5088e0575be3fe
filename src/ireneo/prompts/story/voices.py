"""In whose voice a story is remembered: in the third person, or as one character's own memory."""

from __future__ import annotations

from ireneo.prompts.voices import Voice

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
