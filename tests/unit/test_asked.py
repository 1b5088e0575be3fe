"""What users ask for again and again, and which commands they refuse: claims that a few runs have to show."""

from __future__ import annotations

import pytest
from tests.golden.material import run, said, user
from tests.unit.lesson_runs import NOW, a_run

from ireneo.lessons.lessons import is_worth_a_lesson, lesson_drafts
from ireneo.lessons.run import Observation, Trigger
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.user_words import refused_commands, repeated_wishes
from ireneo.log.message import Draft

TASK = user("The ledger drops its last row. Find out why.")
WORK = [*run("bin/rows --last", "41 rows"), *said("I have changed the reader.")]
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def wishes(*drafts: list[Draft], session: str = "run") -> list[Observation]:
    return repeated_wishes(a_run(TASK, WORK, *drafts, session=session))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Can you add a test for the empty file?", "tests"),
        ("You copied and pasted the whole reader for the writer.", "duplication"),
        ("Please update the README with the new flag as well.", "documentation"),
        ("Don't change anything yet, I only want to know why.", "waiting"),
        ("That is far too complicated for two rows.", "simplicity"),
        ("You haven't read the parser in full, have you.", "reading"),
        ("Please ask me any additional questions before you begin.", "questions"),
        ("Now please write a commit message for these changes.", "messages"),
        ("Can you prove to me that the reader works now?", "proof"),
        ("Falls etwas unklar ist, frag mich bitte vorher.", "questions"),
        ("You did not add any tests for the empty file.", "tests"),
        ("Bitte ergänze noch einen Test für die leere Datei.", "tests"),
        ("Das ist doch viel zu kompliziert für zwei Zeilen.", "simplicity"),
        ("Pass bitte auch das README an die neue Option an.", "documentation"),
    ],
)
def test_a_wish_is_told_by_its_kind_in_the_users_words(words: str, kind: str) -> None:
    (found,) = wishes(user(words))
    assert found.cue == f"<asked> {kind}"
    assert f"“{words}” (the user)" in found.text


@pytest.mark.parametrize(
    "words",
    [
        "The last row is still missing from the test ledger.",
        "Is there a dry run of the importer somewhere?",
        "yes, tests",
        "yes please, update the documentation now",
        "ok, go on and add some tests for that",
        "When somebody rebases without the hook, do they mention this in their docs?",
        "The tests of the writer are failing again.",
        "Are there any tests that we should run before the release?",
        "Include the commands to run those tests at each stage.",
        "I shouldn't have to copy and paste the token each time.",
        "I don't want that test in here.",
        "The page opens, but no tests were loaded.",
        "Is it possible to watch these tests in action?",
        "I want to test the reader with a long file.",
        "We don't need any tests for the printed rows.",
        "Wir brauchen dafür wirklich keinen Test.",
        "Do NOT change anything else in there.",
        "how to add the documents from the doc folder?",
        "Why do we add a test for the reader only sometimes?",
        "Any idea which of them need tests for the new rows?",
        "Wieso ergänzen wir den Test für die leere Datei nur manchmal?",
        "**Enhance:** Update `docs/` to ask the user after new features.",
        "Given the goals, this might be overkill for two rows.",
    ],
)
def test_what_only_speaks_of_such_things_is_no_wish(words: str) -> None:
    assert wishes(user(words)) == []


def test_a_check_is_asked_for_by_its_command() -> None:
    checked = run("make test-rows", "12 passed")
    assert wishes(checked, user("The tests are still failing, see for yourself.")) == []
    (found,) = wishes(checked, user("unrelated to that, but make test-rows is failing now"))
    assert found.cue == "<asked> checks"


def test_what_opens_a_task_is_the_task() -> None:
    assert repeated_wishes(a_run(user("Add some tests for the empty file."), WORK)) == []
    (found,) = repeated_wishes(a_run(user("Mend the reader. If anything is unclear, please ask me."), WORK))
    assert found.cue == "<asked> questions"


def test_a_wish_is_told_once_four_runs_uttered_it() -> None:
    seen = [one for n in range(4) for one in wishes(user(f"Can you add a test for row {n}?"), session=f"run{n}")]
    assert not is_worth_a_lesson(seen[:3])
    assert len(lesson_drafts(seen, None, NOW).drafts) == 4


def of_sync(session: str, *outputs: str) -> RunMaterial:
    calls = [run("bin/ledger sync --all", output, failed=output == REFUSED) for output in outputs]
    return a_run(TASK, WORK, *calls, session=session)


def test_a_command_that_was_refused_in_two_runs_is_asked_for_first() -> None:
    seen = [one for n in range(2) for one in refused_commands(of_sync(f"run{n}", REFUSED)) if one.held]
    assert is_worth_a_lesson(seen)
    assert not is_worth_a_lesson(seen[:1])
    assert seen[0].text == "Ask the user before you run `ledger sync`."
    assert seen[0].trigger == Trigger(command="ledger sync")


def test_a_refused_look_at_the_help_refuses_no_command() -> None:
    calls = [run("bin/ledger sync --help", REFUSED, failed=True)]
    assert not [each for each in refused_commands(a_run(TASK, WORK, *calls)) if each.held]


def test_what_was_mostly_let_run_is_not_asked_for() -> None:
    seen = [one for n in range(2) for one in refused_commands(of_sync(f"run{n}", REFUSED, "done", "done")) if one.held]
    assert [(each.held, each.broke) for each in seen] == [(1, 2), (1, 2)]
    assert not is_worth_a_lesson(seen)
    assert refused_commands(of_sync("run9", "done")) == []
