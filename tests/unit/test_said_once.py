"""What is told from one run: what says by its own words that it holds for other work as well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.unit.lesson_runs import observed

from ireneo.lessons.lessons import is_worth_a_lesson
from ireneo.lessons.said_once import applies_beyond_task, is_about_project


@pytest.mark.parametrize(
    "words",
    [
        "Never call the tide service from a template.",
        "ALWAYS go through the berth registry.",
        "make sure that we don't read the clock anywhere in the planner",
        "When you add a berth type, extend the table in harbour.toml as well.",
        "Before deploying anything, ask for the tide of the day.",
        "We don't keep generated charts under version control.",
        "We use pilots here, not tugs.",
        "I'll restart the relay myself.",
        "Charts belong in assets/charts.",
        "no need to start the relay yourself",
        "Use theme tokens only.",
        "When you run pilots, can you avoid ringing the bell?",
        "Don't push to the harbour branch.",
        "Don't push to the harbour branch, open a request for a berth.",
        "Never squash anything, look at the charts instead.",
        "It makes no sense to commit with a failing build.",
        "Don't you dare push to the harbour branch",
        "The overriding directive is that nobody waits for the pilot",
        "Ändere die Seekarten niemals von Hand.",
        "Wir verwenden hier Lotsen statt Schlepper.",
    ],
)
def test_what_reaches_beyond_its_task(words: str) -> None:
    assert applies_beyond_task(words)


@pytest.mark.parametrize(
    "words",
    [
        "Move the tide to the left of the bell.",
        "always return an empty berth.\\\\n // the tide is late\\\\n",
        "Each berth has a name, but no picture.",
        "Don't hard code this.",
        "why do you always read twenty lines at a time?",
        "Why the hell do you never look at the tide",
        "No additional berths.",
        "let's use a table of berths so we don't always have to ask the office",
        "use berths.json as the basis for all questions since it holds the tides",
        "On changing `berth.js`: “never show more than four berths”",
        "On “Move the bell higher?”: “Never move the bell.”",
        "make sure that there are no bugs and problems",
        "Avoid duplicated code and use best practices.",
        "like I said um we're always going to have plenty of berths",
        "Every Berth Has A Number Tide Tables For All Harbours Pilot Rota Monthly Review Of All Charts",
        "Füge den Liegeplatz in alle Tabellen ein.",
        "do not squash anything, look at the charts I sent",
        "Don't deploy anything, just tell me what the bell says.",
        "Bitte nichts ändern, lies die Seekarten.",
        "I never asked for a page with berths.",
        "After you finish the berths let me know if charts are possible.",
        "Use parts for the berths, do not mix it into current files.",
    ],
)
def test_what_is_of_its_task(words: str) -> None:
    assert not applies_beyond_task(words)


def test_a_long_sentence_that_is_the_same_each_time_is_said_once() -> None:
    form = "The berth list holds the name, the tide and the pilot of a ship."
    other = form.replace("of a ship", "of each ship")
    twice = [observed(1, cue="<ruling> berth list pilot", text=form, session=name) for name in ("one", "two")]
    assert not is_worth_a_lesson(twice)
    assert is_worth_a_lesson([twice[0], replace(twice[1], text=other)])


@pytest.mark.parametrize(
    "words",
    [
        "use uv, not pip",
        "We're using Postgres with Redis, btw.",
        "Please avoid adding JavaScript libraries.",
        "no emojis, please",
        "I'd like to avoid using mocks wherever we can.",
        "We should keep the berth forms as plain as possible.",
        "Wir verwenden nur Poetry.",
        "and write commit msgs in English, not German",
        "Please keep the comments in plain English.",
        "HARBOUR.md stays as is, the pilots own it",
        "LICENSE stays untouched because legal owns it.",
    ],
)
def test_tools_and_manner_are_of_the_whole_project(words: str) -> None:
    assert is_about_project(words)
    assert is_worth_a_lesson([observed(1, cue="<ruling> words", text=words, session="one")])


@pytest.mark.parametrize(
    "words",
    [
        "use Postgres for the berth table",
        "use the react icons",
        "should we use uv or pip?",
        "use Redis if you need to",
        "can you use pytest",
        "No package found.",
        "I use docker to build this",
        "Test it locally as much as possible.",
        "I'd like to build the berth list as fast as possible, with as much help as possible.",
        "Note: Using Redis for the berths",
        "The pilot handbook is at ../harbour-docs if you need it.",
        "The bell stays as is, it looks fine",
        "HARBOUR.md stays as is.",
        "should the comments be in English?",
        "show the error messages in German",
    ],
)
def test_a_tool_for_one_thing_is_of_its_task(words: str) -> None:
    assert not is_about_project(words)
