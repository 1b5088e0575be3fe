"""What a block of work says: what was refused, what is true no longer, and what came back."""

from __future__ import annotations

from tests.golden.material import edit, read, run, step
from tests.unit.runs import material

from ireneo.log.message import Draft
from ireneo.summaries.tell_work import write_leaf
from ireneo.summaries.work import WORK

REFUSAL = "The user doesn't want to proceed with this tool use. The user said: {}"
ROWS = "def keep_row(row):\n    if row == 41: # the head\n        return None\n    return row"


def told(*drafts: list[Draft]) -> list[str]:
    messages = material([draft for each in drafts for draft in each]).messages
    sections = write_leaf(messages, "Keep every row.", ends_turn=False)
    return [WORK.say(section.name, line, ()) for section in sections for line in section.lines]


def test_what_the_user_said_in_a_refusal_is_told_with_what_was_refused() -> None:
    arguments = {"file_path": "/home/me/tide/src/rows.py", "old_string": "x = 1", "new_string": "def drop_row(row):"}
    refused = step("", "Edit", arguments, REFUSAL.format("keep them all"), failed=True)
    assert "- The user, refusing my edit of …/src/rows.py (`drop_row`): “keep them all”" in told(refused)
    silent = run("git push", "The user doesn't want to proceed with this tool use.", failed=True)
    assert "- The user refused `git push`." in told(silent)


def test_code_that_was_read_and_changed_since_is_no_finding() -> None:
    named = run("grep -rn keep_row src", "", text="The function is `keep_row`.")
    seen = [*read("src/rows.py", ROWS, text="Now `keep_row` itself."), *named]
    assert any("if row == 41" in line for line in told(seen))
    changed = edit("src/rows.py", "    if row == 41: # the head\n        return None\n", "    row = whole(row)\n")
    assert not any("if row == 41" in line for line in told(seen, changed))


def test_of_a_long_output_the_line_is_told_of_which_the_agent_speaks() -> None:
    output = "\n".join([*(f"part_{number} was left as it is" for number in range(40))])
    spoken = run("./rows.sh --all", output)
    assert not any("rows.sh" in line and "→" in line for line in told(spoken))
    next_one = run("./other.sh", "done", text="The one that matters is `part_31`.")
    assert "- `./rows.sh --all` → part_31 was left as it is" in told(spoken, next_one)
