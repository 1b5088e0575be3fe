"""What a user rules becomes a lesson: what counts as a ruling, in which words, and what takes it back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.golden.material import run, said, step, user
from tests.unit.lesson_runs import a_run
from tests.unit.test_lessons import learned

from ireneo.lessons.guard import SessionSoFar, Trap, advice
from ireneo.lessons.lessons import is_obvious, is_worth_a_lesson
from ireneo.lessons.rulings import (
    are_opposed,
    forbids,
    is_about_all_work,
    merge_rulings,
    ruling_cue,
    ruling_groups,
    rulings,
    same_ruling,
)
from ireneo.lessons.run import Observation, Trigger, is_ruling
from ireneo.lessons.study import observations_of, study
from ireneo.log.message import Draft, Text
from ireneo.memories.record import Record, is_confirmed_by_user

TASK = user("The ledger drops its last row. Find out why.")
WORK = run("bin/rows --last", "41 rows")
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def ruled(*drafts: list[Draft]) -> list[Observation]:
    return [each for each in rulings(a_run(TASK, WORK, *drafts)) if each.held]


def texts(*drafts: list[Draft]) -> list[str]:
    return [each.text for each in ruled(*drafts)]


def is_told(seen: Sequence[Observation]) -> bool:
    """Whether a lesson is told, and not only kept for a review and other runs that say it."""
    return is_worth_a_lesson(seen) and not is_obvious(seen)


def refused(command: str, words: str = "") -> list[Draft]:
    said_so = f" To tell you how to proceed, the user said:\n{words}" if words else ""
    return run(command, f"{REFUSED}{said_so}", failed=True)


@pytest.mark.parametrize(
    "words",
    [
        "Follow-up issues go to Linear, project Troy.",
        "From now on run the linter before you commit.",
        "Never push to main without asking me.",
        "We don't use mocks in this repo, write a fake instead.",
        "The existing tests follow the table-driven pattern, just follow the pattern.",
        "Fixtures belong in tests/data, the way we usually do it.",
        "We don't want a helper module for two lines. That's too much file sprawl.",
        "Discuss with me any schema change before you make it.",
        "I want the export to be off by default, never on.",
        "Bitte nie direkt auf main pushen.",
        "Nein, das gehört in die Konfiguration, nicht in den Code.",
        "Wir verwenden hier immer pnpm statt npm.",
    ],
)
def test_a_correction_or_a_rule_is_a_ruling_in_the_users_words(words: str) -> None:
    (found,) = ruled(said("I have changed the reader."), user(words))
    assert words in found.text
    assert is_ruling(found.cue)
    assert found.category == "procedural"


@pytest.mark.parametrize(
    "words",
    [
        "yes",
        "ok, go on",
        "Commit this and open a pull request.",
        "Can you add a test for the empty file?",
        "Fix the second one too.",
        "What does the reader do with an empty file?",
        "I get this error: unknown flag --rows",
        "Let's try option 2.",
        "Why does the test fail?",
        "Thanks, that was funny :)",
        "Ja, mach weiter.",
        "2, but always with totals",
        "+ 3, but never print the totals",
        "(the ledger is always the source of truth)",
        ", and never where the totals are",
        "Don't add any rows. Ignore them for now.",
        "Kannst du das umbenennen?",
        "Füge noch einen Test hinzu.",
    ],
)
def test_a_step_of_the_task_is_none(words: str) -> None:
    assert texts(said("I have changed the reader."), user(words)) == []


@pytest.mark.parametrize(
    "words",
    [
        "Can we not commit the notes of the ledger?",
        "yes do not touch the totals",
        "The totals were rounded twice, so they should NOT be summed.",
    ],
)
def test_what_asks_answers_or_only_stresses_is_told_once_it_was_said_in_two_runs(words: str) -> None:
    seen = [
        one
        for name in ("one", "two")
        for one in rulings(a_run(user(f"Mend row {name}."), WORK, user(words), session=name))
    ]
    assert len(seen) == 2
    assert is_told(seen)
    assert not is_told(seen[:1])


def test_what_asks_for_the_task_rules_only_what_goes_beyond_it() -> None:
    opened = user("Add a flag to the exporter. It should write rows only, not totals. Never push without asking me.")
    heard = rulings(a_run(opened, WORK))
    assert [each.text for each in heard if is_told([each])] == ["Never push without asking me."]


@pytest.mark.parametrize(
    ("request_", "ruled"),
    [
        ("Add the ledger page. And do not change fixtures at all.", "And do not change fixtures at all."),
        (
            "Create the ledger page. Do NOT install any other chart libraries.",
            "Do NOT install any other chart libraries.",
        ),
        ("The ledger page is empty. No errors in the log.", ""),
        ("Add the ledger page. Write tests for the parser.", ""),
        ("Add the ledger page. Do not write any code yet.", ""),
        ("Add the ledger page. When working with rows, I need to see the totals.", ""),
        ("Look at the parser. Use the code in rows.py.", ""),
        ("Add the ledger page. I think we should never show the totals.", ""),
    ],
)
def test_a_request_may_rule_on_how_all_work_is_done(request_: str, ruled: str) -> None:
    told = [each.text for each in rulings(a_run(user(request_), WORK)) if is_told([each])]
    assert told == ([ruled] if ruled else [])


@pytest.mark.parametrize(
    "words",
    [
        "never test one station at a time you idiot",
        "WTF, never test one station at a time",
        "never test one station at a time, you stupid clown!!",
    ],
)
def test_a_ruling_is_told_without_the_temper_around_it(words: str) -> None:
    assert texts(said("I have changed the reader."), user(words)) == ["never test one station at a time"]


def test_the_items_of_a_list_are_rulings_by_themselves() -> None:
    listed = "- never read the ledger by hand, call rows\n- when you read rows, always use the reader. make that a rule"
    told = texts(user(listed))
    assert not [each for each in told if "by hand" in each and "reader" in each]
    assert any(each.startswith("when you read rows, always use the reader") for each in told)


def test_a_reviewers_words_are_not_the_users() -> None:
    review = (
        "All readers use the wide flag, which skips the check of totals. Consider adding a reader that never skips it."
    )
    done = said("I have changed the reader.")
    assert texts(done, user(review)) == []
    assert texts(done, user(f"{review}\n\nwe never skip totals in readers, so drop the flag"))


def test_two_words_with_a_stroke_are_no_path_unless_they_are_not_to_be_changed() -> None:
    [mocked] = ruled(said("I have added a test."), user("Never use mocks/stubs in tests, they hide what breaks."))
    [kept] = ruled(said("I have added a test."), user("Never touch tests/fixtures, they are generated."))
    assert (mocked.trigger, kept.trigger) == (None, Trigger(path="tests/fixtures"))


def test_a_list_of_work_below_a_request_is_no_list_of_rules() -> None:
    listed = user("Add these to the exporter:\n- Keep the totals.\n- Names of columns should be singular.")
    heard = ruled(said("I have changed the reader."), listed)
    assert not [each for each in heard if is_told([each])]


@pytest.mark.parametrize(
    "output",
    [
        REFUSED,
        "[Request interrupted by user for tool use]",
        "[Operation Cancelled] Reason: User denied execution.",
        "exec command rejected by user",
        "Permission for this tool use was denied. The tool use was rejected.",
        "User rejected the tool call",
        "The user chose to skip this command.",
    ],
)
@pytest.mark.parametrize("flag", [True, None])
def test_a_refusal_without_words_is_silence_and_no_failure(output: str, flag: bool | None) -> None:
    run_of_it = a_run(TASK, WORK, step("", "Bash", {"command": "make release"}, output, flag), WORK)
    assert rulings(run_of_it) == []
    assert not [each for each in observations_of(run_of_it) if each.held and "release" in each.cue]
    studied = study(run_of_it, len)
    assert studied.failures == 0
    assert not [line for entry in studied.entries for line in entry.lines if "release" in line.text]


def test_an_answer_in_the_users_own_words_rules_and_a_choice_does_not() -> None:
    asked = {
        "questions": [{"question": "Where do the hints go?", "options": [{"label": "A flag"}, {"label": "A file"}]}]
    }
    own = 'User has answered your questions: "Where do the hints go?"="only in the log, never on the screen".'
    assert texts(step("", "AskUserQuestion", asked, own)) == ["only in the log, never on the screen"]
    picked = 'User has answered your questions: "Where do the hints go?"="A flag".'
    assert texts(step("", "AskUserQuestion", asked, picked)) == []


def test_what_nobody_typed_rules_nothing() -> None:
    rule = "Never push to main. Always use tabs."
    command = [user("<command-message>review</command-message>\n<command-name>/review</command-name>"), user(rule)]
    assert texts(*command) == []
    assert texts(user(f"Implement the following plan:\n\n# Plan\n\n{rule}")) == []
    assert texts(user(f"Operation stopped by hook: {rule}")) == []
    assert texts(user(f"I got this review:\n\n> {rule}")) == []
    assert texts([Draft(role="user", parts=(Text(text=rule),), origin="injected")]) == []
    helper = a_run(user(rule), WORK, session="7a1d3c5e/agent-a4cae29")
    assert rulings(helper) == []


@pytest.mark.parametrize(
    ("words", "trigger", "way_out"),
    [
        ("Don't use npm, use pnpm.", Trigger(command="npm", unless=("pnpm",)), "use `pnpm`"),
        ("We use uv instead of pip here.", Trigger(command="pip", unless=("uv",)), "use `uv`"),
        ("Never edit src/gen/api.py by hand.", Trigger(path="src/gen/api.py"), ""),
        ("We never write comments about other agents.", None, ""),
        ("Discuss with me any change of the schema before you make it.", None, ""),
    ],
)
def test_a_ruling_on_what_to_use_says_which_calls_go_against_it(
    words: str, trigger: Trigger | None, way_out: str
) -> None:
    (found,) = ruled(said("Done."), user(words))
    assert found.trigger == trigger
    assert found.way_out == way_out
    assert found.why == (words if trigger else "")


TOLD = [
    "Follow-up issues go to Linear, project Troy.",
    "No, follow-ups always belong in Linear, in project Troy.",
    "I told you: follow-up issues go into the Troy project in Linear.",
    "Please never open GitHub issues for follow-ups, put follow-up issues into Linear (project Troy).",
    "Follow-ups go to Linear, please use the project Troy.",
]


def test_one_ruling_in_other_words_is_one() -> None:
    cues = [each.cue for words in TOLD for each in ruled(said("Done."), user(words))]
    assert len(set(cues)) > 1
    assert len(ruling_groups(cues)) == 1
    other = [each.cue for each in ruled(said("Done."), user("Never put secrets into the Linear description."))]
    assert len(ruling_groups([*cues, *other])) == 2
    for one in cues:
        assert all(same_ruling(one, each) == same_ruling(each, one) for each in [*cues, *other])


def test_the_same_said_twice_in_a_run_counts_twice() -> None:
    (found,) = ruled(said("Done."), user(TOLD[0]), WORK, said("Done."), user(TOLD[1]))
    assert found.held == 2
    assert len(found.sources) == 2


def test_a_ruling_is_withdrawn_by_what_is_said_later() -> None:
    forbidden, lifted = user("Never push without asking me."), user("You may push without asking again from now on.")
    (found,) = rulings(a_run(TASK, WORK, said("Done."), forbidden, WORK, said("Done."), lifted))
    assert (found.held, found.broke) == (0, 1)
    assert found.against


def test_a_ruling_is_replaced_by_its_contrary() -> None:
    first, then = user("Always use npm instead of yarn."), user("From now on use yarn instead of npm.")
    old, new = rulings(a_run(TASK, WORK, said("Done."), first, WORK, said("Done."), then))
    assert (old.held, old.broke, old.against) == (0, 1, new.sources[:1])
    assert (new.held, new.broke) == (1, 0)
    assert are_opposed(old.cue, new.cue)
    assert not same_ruling(old.cue, new.cue)


def test_a_customers_wish_for_a_case_is_no_ruling() -> None:
    wishes = user("I don't want to pay more than that, and only a window seat please.")
    assert rulings(a_run(user("I want to change my flight."), said("Which one?"), wishes)) == []


def test_a_ruling_is_quoted_without_the_steps_of_the_task_beside_it() -> None:
    words = "great. Never start a commit without the number of the ticket. Now have a look at the second table"
    assert texts(said("I have changed the reader."), user(words)) == [
        "Never start a commit without the number of the ticket."
    ]


def test_a_log_of_a_tool_for_work_on_a_project_is_of_work_though_it_holds_no_call() -> None:
    told = a_run(TASK, said("Done."), user("You should not be editing files of the release branch."))
    assert not rulings(told)
    assert rulings(replace(told, source="specstory"))


def test_a_ruling_leaves_out_the_next_step_and_the_question_behind_it() -> None:
    done = said("I have changed the reader.")
    assert texts(done, user("never update the frozen rows, keep them. Is that what happens or no?")) == [
        "never update the frozen rows, keep them."
    ]


def test_words_that_are_announced_as_pasted_below_are_not_the_users() -> None:
    asked = user("Is there something that we can learn from these? (pasted below)\n\nNever post a comment twice.")
    assert texts(said("I have changed the reader."), asked) == []


@pytest.mark.parametrize(
    "words",
    [
        "You are the Analyst Agent.\n\nNever read the clock of the ledger. Never write final code for a reader.",
        "Diagnosis: find the cause.\nYOU DO NOT write final code of the readers.",
        "0:56 that is all about the ledger and never forget it\n1:04 we always keep the clock in the reader",
        "Name: Ann Age: 25 Email: None Created: now, never changed in the ledger",
    ],
)
def test_prompts_transcripts_and_outputs_are_nobodys_rulings(words: str) -> None:
    heard = rulings(a_run(TASK, WORK, said("I have changed the reader."), user(words)))
    assert not [each for each in heard if is_told([each])]


ALLOWED = "Always commit the lock file together with the manifest."
BANNED = "Please don't commit the lock file with the manifest any more."


def said_on(day: float, words: str, *, project: str = "ledger") -> Record:
    run_of = a_run(TASK, WORK, user(words), session=f"{project} {day}", project=project, days=day)
    record = learned([each for each in rulings(run_of) if each.held])
    assert record is not None
    return record


def test_of_two_rulings_that_contradict_each_other_the_newer_stands_alone() -> None:
    first, then = said_on(1, ALLOWED), said_on(9, BANNED)
    assert [each.text for each in merge_rulings([first, then])] == [then.text]
    again = said_on(20, ALLOWED)
    assert [each.text for each in merge_rulings([then, again])] == [again.text]
    assert len(merge_rulings([first, said_on(9, BANNED, project="tide")])) == 2


def test_a_ruling_that_the_user_kept_is_not_ended() -> None:
    first, then = said_on(1, ALLOWED), said_on(9, BANNED)
    kept = replace(first, evidence=(*first.evidence, replace(first.evidence[0], origin="user")))
    assert is_confirmed_by_user(kept)
    assert {each.text for each in merge_rulings([kept, then])} == {first.text, then.text}


def test_what_is_forbidden_later_in_a_run_breaks_what_was_asked_for() -> None:
    seen = {each.text: each for each in rulings(a_run(TASK, WORK, user(ALLOWED), WORK, user(BANNED))) if each.held}
    assert list(seen) == [BANNED]


def test_a_ruling_forbids_by_how_it_begins() -> None:
    assert forbids("please never touch the rows by hand")
    assert not forbids("Touch the rows by hand, never with a script")


def test_what_is_not_to_be_edited_is_not_to_be_updated_either() -> None:
    bans = ("Do not edit the seeds.", "Never update the seeds, please.", "don't change the seeds at all")
    assert len({ruling_cue(each) for each in bans}) == 1
    assert ruling_cue("Edit the seeds by hand.") != ruling_cue("Update the seeds by hand.")


def test_a_commands_template_is_nobodys_words() -> None:
    form = "--- Editor Command: plan.md ---\nAlways read tides.md before anything else. User input: $ARGUMENTS"
    assert not texts(said("Done."), user(form))


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        ("Never touch the migrations.", "migrations/"),
        ("please don't edit the generated snapshots by hand", "snapshots/"),
        ("Never touch the migrations folder.", "migrations/"),
        ("Never change other files", ""),
        ("don't change the tests yet", ""),
    ],
)
def test_a_ban_on_changing_what_a_folder_holds_warns_before_a_change_in_it(words: str, folder: str) -> None:
    found = [each.trigger.path for each in ruled(user(words)) if each.trigger is not None]
    assert found == ([folder] if folder else [])


def test_a_change_in_a_folder_that_is_to_be_left_alone_is_warned_of() -> None:
    trap = Trap(lesson="m_2", said="the user has a rule", way_out="ask", ruling=True, path="migrations/")
    where = {"file_path": "/srv/ledger/migrations/0001.sql", "old_string": "a", "new_string": "b"}
    assert advice([trap], "Edit", where, SessionSoFar, project=None) is not None
    assert advice([trap], "Read", {"file_path": "/srv/ledger/migrations/0001.sql"}, SessionSoFar, project=None) is None


@pytest.mark.parametrize(
    ("ruling", "so"),
    [
        ("don't amend commits", True),
        ("push only after the tests pass", True),
        ("never commit .env", False),
        ("conf/site.json should be committed", False),
    ],
)
def test_what_all_work_includes_is_about_no_one_file(ruling: str, *, so: bool) -> None:
    assert is_about_all_work(ruling) == so
