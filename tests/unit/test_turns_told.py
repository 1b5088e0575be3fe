"""A leaf of what was spoken tells whole turns."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Draft, Text, chain
from ireneo.summaries.tell_story import tell_leaf

TALK = ("I walk over to the fire for a little while.", "We should see whether any soup is left in the kitchen.")


def told(*said: tuple[str | None, str]) -> list[str]:
    drafts = [Draft(role="user", parts=(Text(text=text, author=who),)) for who, text in said]
    messages = chain(None, drafts, lambda parts: (9, 0))
    return [line.text for section in tell_leaf(messages) for line in section.lines if line.text]


def around(said: Sequence[tuple[str | None, str]]) -> list[tuple[str | None, str]]:
    """What is said, amid lines that are worth little."""
    idle = [("Lena", TALK[number % 2]) for number in range(8)]
    return [*idle, *said, *idle]


def test_a_short_turn_is_told_whole() -> None:
    turn = "The lich Vermund has killed my sister. Why not. He did it in the ruins of Kell, with the crown on his head."
    assert any(turn in line for line in told(*around([("Anna", turn)])))


def test_actions_of_roleplay_stay_in_asterisks_and_each_message_has_its_speaker() -> None:
    hidden = "*She kneels at the oak. She is afraid.* I hide the stolen crown of Orm here until the war is over."
    again = "I will come back for the crown of Orm when the war is over and the king is dead."
    (line,) = [text for text in told(*around([("Anna", hidden), ("Anna", again)])) if "kneels" in text]
    assert line == f"Anna: {hidden}"
