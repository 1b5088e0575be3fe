"""Which of two things is remembered first makes no difference to what holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import pytest

import ireneo.sync


@pytest.mark.parametrize(
    ("told", "ended", "question"),
    [
        ("I have a dog called Otto.", "Otto died in May.", "Do I have a dog?"),
        ("I have a dog called Otto.", "Otto died in May.", "Do I have a pet?"),
        ("Ich habe einen Hund namens Otto.", "Otto ist gestorben.", "Habe ich einen Hund?"),
    ],
)
def test_of_what_ended_the_row_that_says_so_comes_first(tmp_path: Path, told: str, ended: str, question: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember(told, at=datetime(2026, 1, 2, tzinfo=UTC))
        memory.remember("I have a cat called Mimi.", at=datetime(2026, 1, 3, tzinfo=UTC))
        memory.remember(ended, at=datetime(2026, 6, 1, tzinfo=UTC))
        found = [each.text for each in memory.recall(question)]
    assert any(ended in each for each in found)
    assert not any(told in each for each in found)
    assert ended in found[0] or "Mimi" in found[0]


PAIRS = (
    (("I have a dog called Otto.", "2026-01-02"), ("Otto died in May.", "2026-06-01")),
    (("I live in Hull.", "2026-01-02"), ("I moved to Hove.", "2026-06-01")),
    (("I work at Philips.", "2026-01-02"), ("I quit Philips.", "2026-06-01")),
    (("I sing in the chamber choir.", "2026-01-02"), ("I left the chamber choir.", "2026-06-01")),
    (("I'm allergic to nuts.", "2026-01-02"), ("I'm no longer allergic to nuts.", "2026-06-01")),
    (("Ich habe einen Hund namens Otto.", "2026-01-02"), ("Otto ist gestorben.", "2026-06-01")),
)


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_remembered_first_makes_no_difference(
    tmp_path: Path, pair: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    held = []
    for number, told in enumerate((pair, pair[::-1])):
        with ireneo.sync.open(tmp_path / f"{number}.db", durability="normal") as memory:
            for text, at in told:
                memory.remember(text, at=datetime.fromisoformat(f"{at}T10:00:00+00:00"))
            held.append({(each.text, each.holds) for each in memory.memories(state="any", limit=20)})
    assert held[0] == held[1]
    assert (pair[0][0], False) in held[0]


class Chat(NamedTuple):
    """What a user said in a session, each with its day."""

    session: str
    said: Sequence[tuple[str, str]]
    project: str = ""


class Seen(NamedTuple):
    """What is known from a project: what holds, and when which value held."""

    holds: set[str]
    history: list[tuple[str, str, str]]


def seen_after(path: Path, chats: Sequence[Chat], *, at_once: bool = False) -> dict[str, Seen]:
    """By project, what is known once the chats were imported in this order, each being read before the next came."""
    with ireneo.sync.open(path, durability="normal") as memory:
        for chat in chats:
            session = memory.session(chat.session, project=chat.project)
            for day, text in chat.said:
                at = f"{day}T10:00:00+00:00"
                session.append(
                    [{"role": "user", "content": text, "timestamp": at}, {"role": "assistant", "content": "I see."}]
                )
            if not at_once:
                memory.work(until_idle=True)
        if at_once:
            memory.work(until_idle=True)
        out: dict[str, Seen] = {}
        for name in {chat.project for chat in chats}:
            facts = memory.history("user", project=name or None)
            held = [each for each in facts if each.record.attribute and each.believed_to is None]
            out[name] = Seen(
                holds={each.value or each.text for each in memory.memories(project=name or None, limit=50)},
                history=[
                    (
                        each.record.value,
                        f"{each.period.start:%m-%d}",
                        f"{each.period.end:%m-%d}" if each.period.end else "",
                    )
                    for each in held
                ],
            )
        return out


def seen_in_any_order(tmp_path: Path, chats: Sequence[Chat]) -> list[dict[str, Seen]]:
    orders = list(enumerate(permutations(chats)))
    return [
        *(seen_after(tmp_path / f"{number}.db", order) for number, order in orders),
        seen_after(tmp_path / "once.db", chats, at_once=True),
    ]


READ = (
    (
        [Chat("a", [("2026-03-05", "I live in Kassel.")]), Chat("b", [("2026-04-06", "I live in York.")])],
        [("Kassel", "03-05", "04-06"), ("York", "04-06", "")],
    ),
    (
        [
            Chat("a", [("2026-01-02", "I live in Hull.")]),
            Chat("b", [("2026-03-01", "I moved to Hove.")]),
            Chat("c", [("2026-06-01", "I live in Hull again.")]),
        ],
        [("Hull", "01-02", "03-01"), ("Hove", "03-01", "06-01"), ("Hull", "06-01", "")],
    ),
    (
        [
            Chat("a", [("2026-03-10", "I live in Porto."), ("2026-03-12", "I moved to Lisbon last week.")]),
            Chat("b", [("2026-04-06", "I live in York.")]),
        ],
        [("Porto", "03-10", "03-10"), ("Lisbon", "03-10", "04-06"), ("York", "04-06", "")],
    ),
    (
        [
            Chat("a", [("2026-03-10", "I work at Philips.")]),
            Chat("b", [("2026-03-12", "I quit Philips.")]),
            Chat("c", [("2026-04-06", "I work at Siemens.")]),
        ],
        [("Philips", "03-10", "03-12"), ("Siemens", "04-06", "")],
    ),
    (
        [
            Chat("a", [("2026-03-10", "I have a dog called Otto.")]),
            Chat("b", [("2026-05-12", "Otto died yesterday.")]),
        ],
        [("Otto", "03-10", "05-12")],
    ),
)


@pytest.mark.parametrize(("chats", "history"), READ)
def test_which_session_is_read_first_makes_no_difference(
    tmp_path: Path, chats: Sequence[Chat], history: list[tuple[str, str, str]]
) -> None:
    for seen in seen_in_any_order(tmp_path, chats):
        assert seen[""].history == history


def test_a_move_told_later_is_the_present_whichever_session_is_read_first(tmp_path: Path) -> None:
    porto = Chat("a", [("2026-03-10", "I live in Porto.")])
    lisbon = Chat("b", [("2026-03-12", "I moved to Lisbon last week.")])
    for seen in seen_in_any_order(tmp_path, [porto, lisbon]):
        assert [value for value, _, end in seen[""].history if not end] == ["Lisbon"]
        assert seen[""].holds == {"Lisbon"}


def test_a_correction_puts_nothing_right_that_was_said_later(tmp_path: Path) -> None:
    later = Chat("a", [("2026-05-10", "I live in Hull.")])
    before = Chat("b", [("2026-03-15", "I live in Hove."), ("2026-03-16", "Not Hull, it's Bath.")])
    for number, order in enumerate(permutations([later, before])):
        seen = seen_after(tmp_path / f"{number}.db", order)
        assert seen[""].history[-1] == ("Hull", "05-10", "")


LEEDS = Chat("a", [("2026-03-10", "I live in Leeds."), ("2026-05-12", "I moved to York.")], "a")
PHILIPS = Chat("a", [("2026-03-10", "I work at Philips."), ("2026-05-12", "I quit Philips.")], "a")
OTTO = Chat("a", [("2026-03-10", "I have a dog called Otto."), ("2026-05-12", "Otto died yesterday.")], "a")
NUTS = Chat("a", [("2026-03-10", "I'm allergic to nuts."), ("2026-05-12", "I'm no longer allergic to nuts.")], "a")
BRITTA, BIRTE = "My wife is called Britta.", "My wife's name is not Britta, it's Birte."
WIFE = Chat("a", [("2026-03-02", BRITTA), ("2026-03-25", BIRTE)], "a")
APART = (
    (LEEDS, Chat("b", [("2026-03-15", "Ich wohne in Kassel.")], "b"), [("Kassel", "03-15", "")]),
    (
        LEEDS,
        Chat("b", [("2026-03-15", "I live in Hull."), ("2026-06-15", "I moved to Hove last month.")], "b"),
        [("Hull", "03-15", "05-01"), ("Hove", "05-01", "")],
    ),
    (
        LEEDS,
        Chat("b", [("2026-03-15", "I live in Hull."), ("2026-03-16", "Not Hull, it's Hove.")], "b"),
        [("Hull", "03-15", "03-16"), ("Hove", "03-16", "")],
    ),
    (LEEDS, Chat("b", [("2026-03-15", "I live in Hull."), ("2026-03-15", "Just kidding.")], "b"), []),
    (PHILIPS, Chat("b", [("2026-03-15", "I work at Philips.")], "b"), [("Philips", "03-15", "")]),
    (OTTO, Chat("b", [("2026-03-15", "I have a dog called Otto.")], "b"), [("Otto", "03-15", "")]),
    (NUTS, Chat("b", [("2026-03-15", "I'm allergic to nuts.")], "b"), [("nuts", "03-15", "")]),
    (
        WIFE,
        Chat("b", [("2026-03-06", BRITTA), ("2026-03-08", BIRTE)], "b"),
        [("Britta", "03-06", "03-08"), ("Birte", "03-08", "")],
    ),
)


@pytest.mark.parametrize(("there", "here", "history"), APART)
def test_what_is_told_in_another_project_ends_and_dates_nothing(
    tmp_path: Path, there: Chat, here: Chat, history: list[tuple[str, str, str]]
) -> None:
    alone = {"a": seen_after(tmp_path / "a.db", [there])["a"], "b": seen_after(tmp_path / "b.db", [here])["b"]}
    assert alone["b"].history == history
    for seen in seen_in_any_order(tmp_path, [there, here]):
        # A fact whose words were first said in the other project is told by its slot.
        assert seen == alone


def test_what_is_general_is_ended_by_a_word_of_a_project(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember("I live in Kiel.", at=datetime(2026, 1, 2, tzinfo=UTC), project="*")
        for name, text in (("a", "I moved to Bonn."), ("b", "The build is slow.")):
            talk = memory.session(name, project=name)
            talk.append([{"role": "user", "content": text, "timestamp": "2026-03-05T10:00:00+00:00"}])
        memory.work(until_idle=True)
        assert [each.value for each in memory.memories(project="a") if each.attribute == "home"] == ["Bonn"]
        assert [each.value for each in memory.memories(project="b") if each.attribute == "home"] == ["Kiel"]
