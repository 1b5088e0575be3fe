"""The story that is raced for: short messages, each with a word that no other message has."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from ireneo.log.message import Draft, Role, Text
from ireneo.log.tree import SessionKey
from ireneo.summaries.policy import Policy, StorySettings

KEY = SessionKey("races", "story")
POLICY = Policy(
    name="races",
    story=StorySettings(leaf_messages=20, fan_in=3, limit=3, live_messages=10),
    live_share=0.5,
)
"""A small pyramid, so that there is much to summarise."""

WORD = re.compile(r"zq[bdfghjklmn]{9}")
"""What the words look like that tell where a text comes from."""
_LETTERS = str.maketrans("0123456789", "bdfghjklmn")
_TOLD = (
    "Mira carried the {} down to the harbour and gave it to Tom.",
    "“I promise to bring you the {} before the winter,” said Anselm to Ruth.",
    "Tom owed Ruth forty marks for the {} and could not pay them.",
    "Ruth hid the {} behind the mill and told nobody of it.",
    "Anselm asked Mira whether the {} had been lost in the fog.",
    "Tom and Mira rowed out to the island and left the {} under a stone.",
    "Ruth struck Anselm with the {}, and he went home bleeding.",
)
_BESIDES = ("It rained until the morning.", "Nobody in the village slept.", "The dogs barked for a while.", "")
_ROLES: tuple[Role, ...] = ("user", "assistant")


def word_of(number: int, life: int, count: int) -> str:
    """The word of the message that a process wrote in one of its lives as the one of that `count`."""
    return "zq" + f"{number:01d}{life:03d}{count:05d}".translate(_LETTERS)


def message_with(word: str, chance: random.Random) -> Draft:
    """A short message of the story."""
    told = f"{chance.choice(_TOLD).format(word)} {chance.choice(_BESIDES)}".strip()
    return Draft(role=chance.choice(_ROLES), parts=(Text(text=told),))


def words_in(texts: Iterable[str]) -> set[str]:
    """The words that tell where `texts` come from."""
    return {word for text in texts for word in WORD.findall(text)}
