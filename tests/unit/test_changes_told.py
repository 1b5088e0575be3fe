"""What is said now ends what was said before of the same, in any wording; and ends nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.types import Record

NAMES = re.compile(r" (?:is called|heißt) ")
"""What somebody is called stays, whatever else changes."""

ENDED = (
    ("My shifts at the mill start at four.", "Since the strike my shifts only start at five thirty."),
    ("We rent a tiny flat above a bakery in Hove.", "Unpacking! The new place in Lewes has a garden."),
    ("My bike is a green Brompton.", "Someone nicked my Brompton outside the gym."),
    ("I'm on 20 mg of citalopram.", "GP halved my citalopram, 10 mg from Monday."),
    ("I share an office with Yusuf and Petra.", "Petra's on maternity leave now."),
    ("I play bass in a ska band called The Late Fees.", "I left the Late Fees, no time."),
    ("My cholesterol was 6.2 last time.", "New blood test: cholesterol is 5.1."),
    ("I hate olives.", "Confession: after Crete I adore olives."),
    ("I'm in my second year of a nursing degree.", "I passed everything, so third year it is."),
    ("My sister is pregnant, due in October.", "My sister had the baby on Sunday, a boy called Felix."),
    ("We've got a hamster named Gilbert.", "Gilbert died in the night."),
    ("I learn Italian with an app every morning.", "Italian has been shelved, no time."),
    ("My wife Dana works days at the hospital.", "Dana's on nights again since two colleagues quit."),
    ("Mum lives alone in Cork.", "Mum moved into a care home in Mallow."),
    ("Ich wohne bei meinen Eltern in Soest.", "Seit Samstag hab ich eine eigene Bude in Dortmund."),
    ("Lena spielt Querflöte in der Musikschule.", "Lena hat die Flöte hingeschmissen, jetzt will sie Schlagzeug."),
    ("Ich geh jeden Dienstag kegeln mit den Kollegen.", "Kegeln hab ich bleiben lassen."),
    ("Wir fahren im August nach Rügen.", "Aus Rügen wird nichts, wir bleiben daheim."),
)

STANDS = (
    ("Pia lives in Rome and works as a baker.", "Pia quit the choir and started at Airbus."),
    ("Boat 4 has two masts.", "Boat 5 has two masts."),
    ("Gate 2 opens with a key.", "Gate 3 opens with a code now."),
    ("Ana lives in Oslo.", "Ana has a flat in Oslo."),
    ("My bike is a green Brompton.", "I cleaned the Brompton on Sunday."),
    ("My sister Noor lives in Bath.", "Noor finished her thesis."),
    ("My brother works nights at a depot.", "I left the gym last week."),
    ("My sister is pregnant, due in October.", "My friend had a baby on Sunday."),
    ("I live in Leeds.", "My brother moved to York."),
    ("I'm allergic to cashews.", "I'm allergic to penicillin too."),
    ("My dog Otto is five.", "Our neighbour's dog died."),
    ("Meine Tochter Lena reitet gern.", "Lena hat die Flöte hingeschmissen."),
)


def held_after(folder: Path, *said: str) -> list[Record]:
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for day, text in enumerate(said, 1):
            at = f"2024-05-{day:02}T10:00:00Z"
            session.append([{"role": "user", "content": text, "timestamp": at}])
            session.append([{"role": "assistant", "content": "I see.", "timestamp": at}])
        memory.work(until_idle=True)
        return list(memory.memories(state="any", limit=50))


@pytest.mark.parametrize(("before", "now"), ENDED)
def test_a_word_ends_what_was_said_of_the_same(tmp_path: Path, before: str, now: str) -> None:
    told = [each for each in held_after(tmp_path, before, now) if each.at.day == 1 and not NAMES.search(each.text)]
    assert told
    assert not [each.text for each in told if each.holds]


@pytest.mark.parametrize(("before", "now"), STANDS)
def test_a_word_about_something_else_ends_nothing(tmp_path: Path, before: str, now: str) -> None:
    held = held_after(tmp_path, before, now)
    assert all(each.holds for each in held), [(each.text, each.reason) for each in held if not each.holds]


def test_a_row_of_names_loses_the_one_who_left(tmp_path: Path) -> None:
    held = held_after(tmp_path, "My roommates are Jules and Kenzie.", "Kenzie moved out.")
    assert [each.text for each in held if each.holds and "roommates" in each.text] == [
        "The user's roommates are Jules."
    ]


def test_what_ends_something_that_was_known_is_known_itself(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I see a physio in Moseley every Wednesday.", "The physio is over.")
    assert [each.holds for each in held if "Moseley" in each.text] == [False]
    assert any("over" in each.text for each in held if each.holds)


def test_answers_are_wanted_in_the_language_that_was_asked_for_last(tmp_path: Path) -> None:
    held = held_after(tmp_path, "You may answer in English.", "From today, Spanish, please!")
    assert [("Spanish" in each.text, each.holds) for each in sorted(held, key=lambda one: one.at)] == [
        (False, False),
        (True, True),
    ]
