"""What lasts of play that is spoken at a table, and how that is told from a written story."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ireneo.log.message import Draft, Message, Text, chain
from ireneo.summaries.find_threads import closed_since, find_threads
from ireneo.summaries.speech import VoicedTexts, is_spoken_play
from ireneo.summaries.summary import Thread
from ireneo.summaries.threads import recently_opened, thread_lines

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


def opened(messages: Sequence[Message], before: Sequence[Thread] = ()) -> list[str]:
    return [each.text for each in find_threads(messages, before).opened]


def test_spoken_play_is_known_by_its_players_and_its_broken_lines() -> None:
    assert is_spoken_play(VoicedTexts(chained(*TABLE * 4)))
    written = [(who, text.replace("--", ",").replace("(laughs) ", "")) for who, text in TABLE]
    assert not is_spoken_play(VoicedTexts(chained(*written * 4)))
    # Authors who are their characters are called by their names.
    named = [*TABLE, ("GM", "Ann, Max and Leo stand at the gate."), ("MAX", "Ann, wait."), ("ANN", "Max! Leo!")]
    assert not is_spoken_play(VoicedTexts(chained(*named * 4)))
    assert not is_spoken_play(VoicedTexts(chained(*[line for line in TABLE if line[0] in ("ANN", "GM")] * 4)))


SAID = "“The crown of Orlath was stolen by the lich Vermund, and he will bring it to the ritual in the ruins of Kell.”"


def test_what_a_narrator_lets_somebody_say_lasts() -> None:
    assert opened(played(("GM", f"She says, {SAID}"))) == [f"GM: She says, {SAID}"]
    assert opened(played(("GM", "You step around the well, and the rope creaks as Orlath pulls it up."))) == []


@pytest.mark.parametrize(
    "text",
    [
        "I promise I'll roll better next time.",
        "I owe you a coffee for that.",
        "I'll buy you a new coat.",
        "I got a present for my little brother.",
    ],
)
def test_what_players_say_by_the_way_opens_nothing(text: str) -> None:
    assert opened(played(("ANN", text))) == []


def test_what_a_recap_tells_again_is_no_thread() -> None:
    told = f"Last time, as we left off, the party came to the well of Kell. She said, {SAID} " + "They went on. " * 40
    assert opened(played(("GM", told))) == []


def test_what_is_told_again_neither_opens_nor_ends_anything() -> None:
    first = find_threads(played(("GM", f"She says, {SAID}")), ()).opened
    again = played(("GM", f"Once more she says, {SAID} It was given back and all is paid."))
    assert opened(again, first) == []
    assert not closed_since(first, again)


def thread(number: int, weight: float = 1.0, source: str = "") -> Thread:
    return Thread(id=f"t_{number}", kind="open", text=f"Line {number} of Vera.", position=number, weight=weight,
                  source=source or f"m_{number}")  # fmt: skip


def test_of_a_table_the_weightiest_of_lately_are_shown_and_the_rest_is_not_counted() -> None:
    by_hand = thread(5, 100.0)
    old, one, two, beside = thread(100), thread(8_000, 1.5), thread(9_000, 1.2), thread(9_001, 1.1, "m_9000")
    assert recently_opened([by_hand, old, one, two, beside], 10_000, 6_000, 6) == [by_hand, one, two]
    assert recently_opened([by_hand, old, one, two, beside], 10_000, 6_000, 1) == [by_hand, one]
    lines = thread_lines([one, two, beside], 0, 45, len, all_told=False)
    assert lines == ["- open: “Line 8000 of Vera.” · m_8000"]
