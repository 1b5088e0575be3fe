"""What a block of work says: what was refused, what is true no longer, and what came back."""

from __future__ import annotations

import pytest
from tests.golden.material import edit, run, said, step, user
from tests.unit.runs import material

from ireneo import compact
from ireneo.log.message import Draft, Text
from ireneo.summaries.tell_work import REMARK, RULED, user_lines, write_leaf
from ireneo.summaries.work import WORK

REFUSAL = "The user doesn't want to proceed with this tool use. The user said: {}"
ROWS = "def keep_row(row):\n    if row == 41: # the head\n        return None\n    return row"


def told(*drafts: list[Draft]) -> list[str]:
    messages = material([draft for each in drafts for draft in each]).messages
    sections = write_leaf(messages, ends_turn=False)
    shown = [section for section in sections if section.name in WORK.sections("turn")]
    return [WORK.say(section.name, line, ()) for section in shown for line in section.lines]


def test_what_the_user_said_in_a_refusal_is_told_with_what_was_refused() -> None:
    arguments = {"file_path": "/home/me/tide/src/rows.py", "old_string": "x = 1", "new_string": "def drop_row(row):"}
    refused = step("", "Edit", arguments, REFUSAL.format("keep them all"), failed=True)
    assert "- The user, refusing my edit of …/src/rows.py (`drop_row`): “keep them all”" in told(refused)
    silent = run("git push", "The user doesn't want to proceed with this tool use.", failed=True)
    assert "- The user refused `git push`." in told(silent)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("ExitPlanMode", {"plan": "First the rows."}, "refusing my plan"),
        ("AskUserQuestion", {"questions": [{"question": "Which row?"}]}, "refusing my question"),
        ("Task", {"prompt": "Count the rows.", "description": "Count"}, "refused my use of"),
    ],
)
def test_a_refusal_is_told_whatever_was_refused(tool: str, arguments: dict[str, object], named: str) -> None:
    refused = step("", tool, arguments, "The user doesn't want to proceed with this tool use.", failed=True)
    # What became of a plan or a question, the user's next message says.
    assert any("refus" in line for line in told(refused)) == named.startswith("refused")
    reason = step("", tool, arguments, REFUSAL.format("not the first row"), failed=True)
    assert any(line.startswith("- The user") and "not the first row" in line for line in told(reason))
    assert any(named in line for line in told(refused) + told(reason))


def test_a_script_that_writes_and_then_looks_is_no_search() -> None:
    made = run("cd /tmp/rows\nfor n in 1 2; do\n  echo row >> rows.txt\ndone\nwc -l rows.txt", "2 rows.txt")
    assert any(line.endswith("→ 2 rows.txt") for line in told(made))
    assert not any("→" in line for line in told(run("cd /tmp/rows && wc -l rows.txt", "2 rows.txt")))


def test_commands_that_the_user_entered_are_told() -> None:
    def entered(*words: str) -> list[str]:
        return told([Draft(role="user", parts=(Text(text=each),), origin="injected") for each in words])

    printed = "<bash-stdout>On branch tide</bash-stdout><bash-stderr>2 files changed</bash-stderr>"
    assert "- The user ran `git status` → On branch tide 2 files changed" in entered(
        "<bash-input>git status</bash-input>", printed
    )
    assert "- The user ran `code .`" in entered("<bash-input>code .</bash-input>", "<bash-stdout></bash-stdout>")
    command = "<command-name>/ide</command-name>\n<command-args></command-args>"
    shown = "<local-command-stdout>Connected to the editor Kelp.</local-command-stdout>"
    assert "- The user entered /ide: Connected to the editor Kelp." in entered(command, shown)
    many = "<local-command-stdout>New in this version:\n- rows are kept\n- heads are kept</local-command-stdout>"
    assert not any("The user" in line for line in entered("<command-name>/news</command-name>", many))
    long = "\n".join(f"- rows of part {number} are kept" for number in range(40))
    printed = f"<local-command-stdout>New in this version:\n{long}</local-command-stdout>"
    assert "- The user entered /news." in entered("<command-name>/news</command-name>", printed)
    goodbye = "<command-name>/exit</command-name>", "<local-command-stdout>Bye!</local-command-stdout>"
    assert not any("The user" in line for line in entered(*goodbye))
    spoken = said("`<bash-input>rm -rf src</bash-input>` would remove all of it.")
    assert not any("The user" in line for line in told(spoken)), "what somebody says of such a line"


def test_what_a_search_showed_stands_under_what_was_searched_for() -> None:
    found = step("", "Grep", {"pattern": "def keep", "path": "src"}, "src/rows.py:12:def keep_row(row, limit=40):")
    named = run("ls", "rows.py", text="`keep_row` keeps it.")
    shown = [line.subject for line in write_leaf(material([*found, *named]).messages, ends_turn=False)[1].lines]
    assert any(subject.startswith("searched for def keep") for subject in shown), shown


def test_code_that_says_nothing_by_itself_is_not_told() -> None:
    changed = told(edit("src/rows.py", "id.", "rowID."), edit("src/rows.py", "return a\n", "return rows, nil\n"))
    assert not any("rowID" in line or "return rows" in line for line in changed)
    assert any("return 101" in line for line in told(edit("src/rows.py", "return 100\n", "return 101\n")))


def test_the_outcome_of_any_tool_is_told() -> None:
    noted = step("", "add_note", {"order": "R-5534", "note": "Call when the cork is there."}, '{"ok": true}')
    assert '- `add_note R-5534 Call when the cork is there.` → {"ok": true}' in told(noted)


def test_a_search_for_the_cause_gives_no_reason() -> None:
    texts = told(run("ls", "a", text="Let me trace how rows are kept to find the actual issue."))
    assert not any("actual issue" in line for line in texts)
    why = "I'll keep the head in the file because old exports need it."
    assert f"- {why}" in told(run("ls", "a", text=why))


def test_a_list_far_before_a_question_holds_no_options() -> None:
    listed = "1. Rows are read.\n2. Rows are kept.\n\nThat loses the head.\n\n"
    far = said(f"{listed}The export needs it.\n\nShall I look into that?")
    near = said("1. Keep the head\n2. Drop it\n\nWhich do you want?")
    asked = [
        line.text
        for drafts in (far, near)
        for section in write_leaf(material(drafts).messages, ends_turn=True)
        if section.name == "open"
        for line in section.lines
    ]
    assert asked == ["I asked: Shall I look into that?", "I asked: Which do you want? 1. Keep the head; 2. Drop it"]
    long = "Ask whoever keeps the harbour what the head of each export is needed for, and whether it may go?"
    ends_with_it = write_leaf(material(said(f"1. Keep the head?\n2. {long}")).messages, ends_turn=True)
    (line,) = next(section for section in ends_with_it if section.name == "open").lines
    assert line.text == f"I asked: 1. Keep the head?; 2. {long}"


def test_of_an_answer_only_what_the_user_said_is_quoted() -> None:
    form = "User has answered your questions: {}. You can now continue with the user's answers in mind."
    ask = {"questions": [{"question": "Where do the heads go?"}]}
    pairs = '"Where do the heads go?"="Into a file (Recommended)", "And the rest?"="drop it"'
    texts = told(step("", "AskUserQuestion", ask, form.format(pairs)))
    assert "- Asked “Where do the heads go?”, the user said: “Into a file (Recommended)”" in texts
    assert "- Asked “And the rest?”, the user said: “drop it”" in texts
    assert not any("You can now" in line or "has answered" in line for line in texts)
    clarified = (
        "The user wants to clarify these questions.\n    This means they may have additional information.\n"
        "    Start by asking them what they would like to clarify."
    )
    texts = told(step("", "AskUserQuestion", ask, REFUSAL.format(clarified), failed=True))
    assert not any("“" in line for line in texts)


def test_the_words_that_a_failed_call_repeats_of_its_input_are_no_reason() -> None:
    old = "\t// Warn if the error is missing\n\tkeep(row)"
    refused = f"<tool_use_error>The old text stands twice.\nString: {old}</tool_use_error>"
    arguments = {"file_path": "src/rows.go", "old_string": old, "new_string": "keep(all)"}
    lines = told(step("", "Edit", arguments, refused, failed=True), run("ls", "rows.go"))
    (failed,) = [line for line in lines if " failed: " in line]
    assert "The old text stands twice" in failed
    assert "Warn if" not in failed
    alone = step("", "Edit", arguments, "String: // Warn if the error is missing", failed=True)
    assert any("Warn if" in line for line in told(alone, run("ls", "rows.go"))), "where it says nothing else"


def test_calls_that_say_nothing_and_plans_that_were_refused_are_not_told() -> None:
    plan = step("", "ExitPlanMode", {"plan": "Read rows."}, "The user doesn't want to proceed.", failed=True)
    for silent in (run('echo "Rows are read"', "Rows are read"), step("", "TaskUpdate", {"taskId": "2"}, "Updated 2")):
        assert not any("→" in line for line in told(silent))
    assert not any("refused" in line for line in told(plan))


def test_a_short_answer_is_told_with_its_question() -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Look at how the ledger keeps its rows."}]
    for number in range(30):
        question = f"Row {number} of the ledger is kept twice. " * 8 + f"Do you want me to drop copy {number}?"
        messages += [
            {"role": "assistant", "content": question},
            {"role": "user", "content": "yes" * (number % 2) or "no"},
        ]
    blocks = "\n".join(row.text for row in compact(messages, 1_200).view if row.what == "summary")
    assert "- Asked “Do you want me to drop copy 1?”, the user said: “yes”" in blocks
    assert "- The user: “yes”" not in blocks


def test_an_answer_in_plain_conversation_says_something_however_carefully_it_is_worded() -> None:
    answer = "It might be enough to water the fern once a week. Perhaps the window could be too bright for it."
    written = write_leaf(material(said(answer)).messages, ends_turn=True)
    found = next(section.lines for section in written if section.name == "discoveries")
    assert found, "a question with nothing below it tells nobody anything"


def test_lines_of_a_users_message_stay_apart() -> None:
    words = "for 3 keep the head row, as agreed\ndrop the tail\nAnd no rows from May."
    (line,) = user_lines(material(user(words)).messages[0])
    assert line.text == "for 3 keep the head row, as agreed / drop the tail / And no rows from May."


def test_a_list_that_lost_its_marks_keeps_what_introduces_it() -> None:
    ways = [
        "Reading the head row on its own and giving it to each of the batches that follow it in the same import",
        "Writing the head row once a day",
    ]
    about = "The head row is read twice by the importer, once for the batches and once more for the report of the day. "
    words = f"{about * 5}\n\nConsider either:\n\n" + "\n".join(ways)
    texts = [line.text for line in user_lines(material(user(words)).messages[0])]
    assert texts[-2:] == [f"Consider either: {ways[0]}", ways[1]]


def test_a_call_with_a_text_is_no_import() -> None:
    shown = told(edit("quay.rb", "", 'def install\n  bin.install "rows"\n  man1.install "rows.1"\nend\n'))
    assert any('bin.install "rows"' in line for line in shown)


@pytest.mark.parametrize(
    ("words", "all_of_it"),
    [
        ("Put the head row into the first batch.", True),
        ("no, rows -> core/rows, batches -> core/batches", True),
        ("I want the head row in each of the batches.", True),
        ("Lege die Kopfzeile in den ersten Stapel.", True),
        ("wow, everything works, the rows are wonderful", False),
        ("Why are there two importers for the head row?", False),
    ],
)
def test_orders_and_rulings_weigh_more_than_questions_and_praise(words: str, all_of_it: bool) -> None:
    (line,) = user_lines(material(user(words)).messages[0])
    assert (line.weight > RULED * REMARK) == all_of_it


def test_a_command_is_told_as_the_user_entered_it() -> None:
    words = (
        "<command-message>tide</command-message>\n<command-name>/tide</command-name>\n<command-args>7</command-args>"
    )
    (line,) = user_lines(material(user(words)).messages[0])
    assert line.text == "/tide 7"
