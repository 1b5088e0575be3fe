"""How play that is spoken at a table is told from a written story; it opens no threads."""

from __future__ import annotations

import pytest

from ireneo.log.message import Draft, Message, Text, chain
from ireneo.summaries.find_threads import find_threads
from ireneo.summaries.speech import VoicedTexts, is_spoken_play

TABLE = (
    ("ANN", "Okay, so we-- wait, can I still see the gate?"),
    ("MAX", "(laughs) I told you. I go left."),
    ("GM", "The gate is shut, and behind it you hear two voices. What do you do?"),
    ("LEO", "I'm not sure I want to know what's back there."),
    ("ANN", "Me neither. I mean-- I look through the gap."),
    ("GM", "Through the gap there is a yard with a well, and beside it sits an old woman."),
)


def chained(*said: tuple[str, str]) -> list[Message]:
    drafts = [Draft(role="user", parts=(Text(text=text, author=who),)) for who, text in said]
    return list(chain(None, drafts, lambda parts: (1, 0)))


def played(*said: tuple[str, str]) -> list[Message]:
    """Lines at a table, amid the talk of its players."""
    return chained(*TABLE * 4, *said, *TABLE * 4)


def test_spoken_play_is_known_by_its_players_and_its_broken_lines() -> None:
    assert is_spoken_play(VoicedTexts(chained(*TABLE * 4)))
    written = [(who, text.replace("--", ",").replace("(laughs) ", "")) for who, text in TABLE]
    assert not is_spoken_play(VoicedTexts(chained(*written * 4)))
    # Authors who are their characters are called by their names.
    named = [*TABLE, ("GM", "Ann, Max and Leo stand at the gate."), ("MAX", "Ann, wait."), ("ANN", "Max! Leo!")]
    assert not is_spoken_play(VoicedTexts(chained(*named * 4)))
    assert not is_spoken_play(VoicedTexts(chained(*[line for line in TABLE if line[0] in ("ANN", "GM")] * 4)))


@pytest.mark.parametrize(
    ("who", "text"),
    [
        ("GM", "She says, “I promise you the crown of Orlath if you bring me the lich Vermund.”"),
        ("ANN", "I promise I'll bring the letter before spring."),
        ("ANN", "You owe me a horse."),
        ("MAX", "He murdered my brother."),
    ],
)
def test_what_is_spoken_at_a_table_opens_nothing(who: str, text: str) -> None:
    assert not find_threads(played((who, text)), ()).opened
