"""A block tells what stands now apart from what was given up, only read, or there before."""

from __future__ import annotations

from tests.golden.material import edit, read, run, said, step
from tests.unit.runs import material

from ireneo import compact
from ireneo.log.message import Draft
from ireneo.summaries.state import shown_state, state_lines
from ireneo.summaries.steps import steps
from ireneo.summaries.summary import Line
from ireneo.summaries.tell_work import write_goal_batch, write_leaf
from ireneo.summaries.work import WORK, summary_of

FILE = "src/tide.py"
PLAIN, QUEUED = "    ship.send(bell)\n", "    harbour_queue.put(bell)\n"
PLAN = "The fix is simple: let `harbour_queue` hold the bells until the ship is moored."


def lines(*drafts: list[Draft]) -> list[Line]:
    """What a roll-up of two blocks says: the first of all drafts but the last two, the second of these."""
    messages = material([draft for each in drafts for draft in each]).messages
    parts = [messages[:-2], messages[-2:]]
    blocks = [summary_of("goal", 1, part, write_leaf(part, ends_turn=False), "offline") for part in parts]
    rolled = write_goal_batch(blocks)
    return [line for section in rolled if section.name in WORK.sections("goal") for line in section.lines]


def told(*drafts: list[Draft]) -> str:
    return "\n".join(line.text for line in lines(*drafts))


def test_a_proposal_whose_change_was_undone_is_marked() -> None:
    made, undone = edit(FILE, PLAIN, QUEUED), edit(FILE, QUEUED, PLAIN)
    assert f"{PLAN} (changed later)" in told(said(PLAN), made, undone)
    assert f"{PLAN} (changed later)" not in told(said(PLAN), made, run("ls", "src"))
    moved = edit("src/port.py", "", QUEUED)
    assert f"{PLAN} (changed later)" not in told(said(PLAN), made, undone, moved), "it was only moved"


def test_what_was_there_before_and_was_taken_out_and_put_back_is_as_it_was() -> None:
    removed = "I removed `harbour_queue` since nobody rings it at night."
    report = f"{removed} (changed later)"
    assert report in told(edit(FILE, QUEUED, PLAIN), said(removed), edit(FILE, PLAIN, QUEUED))
    assert report not in told(edit(FILE, QUEUED, PLAIN), said(removed), run("ls", "src"))


def test_code_of_a_file_that_was_written_as_a_whole_later_is_marked() -> None:
    old, new = "MOORINGS = 40  # as many as the quay has rings\n", "RINGS = 12  # the quay was shortened in spring\n"
    first = step("", "Write", {"file_path": FILE, "content": old}, "written")
    assert "rings` (its file was written anew later)" in told(
        first, step("", "Write", {"file_path": FILE, "content": new}, "written")
    )
    grown = run(f"cat >> {FILE} <<'END'\n{new}END", "")
    assert "written anew" not in told(first, grown)


def test_code_is_told_as_later_changes_of_its_block_left_it() -> None:
    made = edit(FILE, "", "if tide is None:\n    raise LookupError('no tide for this harbour')\n")
    shown = told(made, edit(FILE, "if tide is None:", "if not tide or tide.is_old:"), run("ls", "src"))
    assert "if not tide or tide.is_old: raise LookupError" in shown
    assert "tide is None" not in shown


def test_a_test_that_passed_is_not_told_by_what_it_logged() -> None:
    logged = "08:10 ERROR no harbour yet\nok  tide/clock 0.2s\nPASS"
    assert "`go test ./clock -v` passed" in told(run("go test ./clock -v", logged), run("ls", "src"))


def test_an_edit_that_failed_again_and_again_is_a_dead_end_with_its_reason_and_one_that_failed_once_is_none() -> None:
    failing = step("", "str_replace_editor", {"path": FILE, "old_str": "tide", "new_str": "ebb"}, ERROR, failed=True)
    twice = told(failing, failing, run("ls", "quay"), said("So I leave it."), run("ls", "src"))
    assert f"I tried to edit {FILE} — it failed: No replacement was made, `tide` occurs nowhere" in twice
    once = told(failing, run("ls", "quay"), said("So I leave it."), run("ls", "src"))
    assert "I tried to edit" not in once
    assert f"edit {FILE} failed: No replacement was made" in once


ERROR = "ERROR:\nNo replacement was made, `tide` occurs nowhere."


def test_a_look_at_what_is_not_there_is_no_dead_end() -> None:
    shown = told(
        run("ls quay/old", "ls: quay/old: No such file or directory", failed=True), run("ls", "src"), said(".")
    )
    assert "I tried" not in shown
    nothing = run("grep -rn ebb quay", "\n\nCommand exited with code 1", failed=True)
    assert "grep" not in told(nothing, run("ls", "src"), said("."))


def test_what_a_number_chose_stands_before_the_message_that_is_shown() -> None:
    listed = "We could:\n\n1. Ring at noon\n2. Ring at high water\n3. Ask the harbour master first\n\nWhich of them?"
    work = [
        {"role": "assistant", "content": f"Reading part {number} of the tide table. " + "It has rows. " * 40}
        for number in range(8)
    ]
    messages = [
        {"role": "user", "content": "When should the bell ring?"},
        *work,
        {"role": "assistant", "content": listed},
        {"role": "user", "content": "yeah 2 and 3"},
        *work,
    ]
    shown = "\n".join(row.text for row in compact(messages, 700).view)
    chosen = "The user chose 2: Ring at high water; 3: Ask the harbour master first"
    assert chosen in shown
    assert shown.index(chosen) < shown.rindex("yeah 2 and 3")


def test_what_a_sentence_says_that_code_is_set_to_is_marked_once_it_is_not() -> None:
    for report in ("The rope count is still 0 for uncounted boats.", "`ropeCount` is fixed at 0 for boats."):
        first, counted = (
            edit(FILE, "", "boat.wait()\n"),
            edit(FILE, "  ropeCount: 0,\n", "  ropeCount: ropes.of(boat),\n"),
        )
        assert f"{report} (changed later)" in told(first, said(report), counted)
        assert f"{report} (changed later)" not in told(
            first, said(report), edit(FILE, "  knots: 0,\n", "  knots: 2,\n")
        )


def test_a_text_or_a_figure_that_was_brought_in_and_taken_out_is_marked() -> None:
    asks = '    ask("Shall the bell ring at night?")\n'
    report = "I added a question on the first start: “Shall the bell ring at night?”"
    assert f"{report} (changed later)" in told(edit(FILE, "", asks), said(report), edit(FILE, asks, PLAIN))
    capped, width = "    if width > 80:\n        width = 80\n", "I added a hard cap of 80 letters for the name."
    assert f"{width} (changed later)" in told(edit(FILE, "", capped), said(width), edit(FILE, capped, PLAIN))
    assert f"{width} (changed later)" not in told(edit(FILE, "", capped), said(width), edit(FILE, PLAIN, QUEUED))


def test_what_is_to_go_is_not_marked_when_it_goes() -> None:
    plan = "I suggest that we remove `harbour_queue` again, since nobody reads it."
    assert f"{plan} (changed later)" not in told(edit(FILE, PLAIN, QUEUED), said(plan), edit(FILE, QUEUED, PLAIN))


def test_a_file_that_was_made_and_removed_is_marked_where_it_was_said_to_be_there() -> None:
    report = "The notes on the ebb are written down in `docs/ebb.md` now."
    made = step("", "Write", {"file_path": "docs/ebb.md", "content": "# Ebb\n\nThe water goes at six.\n"}, "written")
    assert f"{report} (changed later)" in told(made, said(report), run("rm docs/ebb.md", ""))
    assert f"{report} (changed later)" not in told(made, said(report), run("rm docs/flood.md", ""))


def test_a_comment_on_a_branch_is_not_told_of_the_line_behind_it() -> None:
    before = (
        "  // Whoever names a harbour is brought there at once\n  if (harbour) {\n    return sail(harbour);\n  }\n"
        "  return drift(boat);\n"
    )
    shown = told(edit("src/sail.js", before, before.replace("drift(boat)", "drift(boat, quietly)")), run("ls", "src"))
    assert "drift(boat, quietly)" in shown
    assert "Whoever names" not in shown


def test_what_a_long_chain_removes_is_told() -> None:
    chain = f"rm -f .tide/settings.json && mkdir -p {'out/of/the/way/' * 6} && ./ring --all bells"
    assert "`rm -f .tide/settings.json && … && ./ring --all bells` → rang" in told(run(chain, "rang"), run("ls", "src"))
    assert "`./ring --all bells` → rang" in told(
        run("rm -rf /tmp/bells && ./ring --all bells", "rang"), run("ls", "src")
    )


def test_the_agents_own_words_are_not_marked_as_instructions() -> None:
    plan = "The plan has two parts: instructions for Claude to search the harbour first, and a hook for the rest."
    assert plan in told(said(plan), run("ls", "src"))


BELL = "if not bell.is_hung():\n    raise BellError('the bell of this quay is not hung')\n"
DEAF = "bell.strike(times=tide.hour, loudly=True)\nlamp.show('the bell has been struck')\n"


def unanswered(tool: str, arguments: dict[str, object]) -> list[Draft]:
    """A call in a message that was broken off, with what the agent said when it went on."""
    return [*step("", tool, arguments, "")[:1], *said("Once more, and with a smaller change.")]


def test_a_change_that_was_broken_off_changed_nothing() -> None:
    taken_out = {"file_path": FILE, "old_string": f"{BELL}def toll(tide):\n    pass\n", "new_string": DEAF}
    shown = told(edit(FILE, "", BELL), unanswered("Edit", taken_out), run("ls", "src"))
    assert "if not bell.is_hung(): raise BellError" in shown
    assert "(changed later)" not in shown
    assert "toll" not in shown
    assert "bell.strike" not in shown
    begun = unanswered("Write", {"file_path": "src/quay.py", "content": DEAF})
    anew = told(
        edit(FILE, "", BELL), unanswered("Write", {"file_path": FILE, "content": DEAF}), begun, run("ls", "src")
    )
    assert "written anew" not in anew
    assert "quay.py" not in anew


def test_a_change_without_a_result_is_no_change_since_the_last_check() -> None:
    passed = run("pytest -q", "3 passed in 0.10s")
    assert "Changed since: tide.py" in where_it_stands(edit(FILE, PLAIN, QUEUED), passed, edit(FILE, QUEUED, PLAIN))
    ended = where_it_stands(passed, edit(FILE, PLAIN, QUEUED)[:1])
    assert "`pytest -q` passed" in ended
    assert "tide.py" not in ended


def where_it_stands(*drafts: list[Draft]) -> str:
    done = steps(material([draft for each in drafts for draft in each]).messages)
    return "\n".join(line.text for line in shown_state(state_lines(done), (), narrow=False))


def test_code_that_went_in_one_place_and_stands_in_another_is_not_marked() -> None:
    made, taken_out = edit(FILE, "", BELL), edit(FILE, BELL, "toll(tide)\n")
    marked = "is not hung')` (changed later)"
    assert marked in told(made, taken_out)
    assert marked not in told(made, edit("src/quay.py", "", BELL), taken_out, edit("src/quay.py", "", BELL))
    moved = [edit("src/quay.py", "", BELL), taken_out]
    calls = tuple(part for drafts in moved for part in drafts[0].parts)
    at_once = [Draft(role="assistant", parts=calls), *(drafts[1] for drafts in moved)]
    assert marked not in told(made, run("ls", "src"), at_once[:1], at_once[1:])
    assert marked not in told(made, taken_out, edit(FILE, "toll(tide)\n", BELL), run("ls", "src"))


def test_code_that_stood_twice_and_went_once_is_not_marked() -> None:
    twice = step(
        "", "Write", {"file_path": FILE, "content": f"{DEAF}\ndef toll(tide):\n    pass\n\n\n{DEAF}"}, "written"
    )
    once = edit(FILE, f"    pass\n\n\n{DEAF}", "    pass\n")
    assert "(changed later)" not in told(twice, once, run("ls", "src"), run("ls", "quay"))


def test_a_look_at_a_file_that_still_shows_a_line_outdoes_an_edit_that_took_it_out() -> None:
    made, taken_out = edit(FILE, "", BELL), edit(FILE, BELL, "toll(tide)\n")
    shown = told(made, run("ls", "src"), taken_out, read(FILE, f"import bell\n\n{BELL}"), run("ls", "src"))
    assert "if not bell.is_hung(): raise BellError" in shown
    assert "(changed later)" not in shown


TIDAL = (
    "def toll(tide):\n    if tide.is_high():\n        return ring_the_great_bell(tide)\n"
    "    return ring_the_small_bell(tide)\n"
)
AFTER = "\n\ndef moor(boat):\n    pass\n"


def test_code_that_a_later_look_at_its_function_does_not_show_is_no_longer_in_the_file() -> None:
    made = edit(FILE, "", TIDAL)
    seen = TIDAL.replace("if tide.is_high():", "if True:").replace("ring_the_great_bell", "sound_the_horn")
    gone = "ring_the_small_bell(tide)` (no longer in the file)"
    assert gone in told(made, read(FILE, seen + AFTER), run("ls", "src"))
    assert gone not in told(made, read(FILE, TIDAL + AFTER), run("ls", "src"))
    assert gone not in told(made, read(FILE, seen), run("ls", "src")), "the function may go on"
    assert gone not in told(made, read("src/quay.py", seen + AFTER), run("ls", "src"))


CLAIM = "Yes, TideTable Plus rings HarbourBells on its own, which spares a watchman."


def test_what_the_agent_took_back_as_wrong_is_marked() -> None:
    taken_back = "You're right, I made that up. TideTable has no HarbourBells of its own, only plain lamps."
    other = "TideTable prints its LampCharts and a TollRegister once a day."
    shown = told(said(f"{CLAIM} {other}"), run("ls", "src"), said(taken_back), run("ls", "src"), said("."))
    assert f"{CLAIM} (taken back later)" in shown
    assert f"{other} (taken back later)" not in shown
    assert "only plain lamps. (taken back" not in shown
    kept = told(said(CLAIM), run("ls", "src"), said("You're right, TideTable has HarbourBells."), run("ls", "src"))
    assert "(taken back later)" not in kept


def test_a_formatter_that_writes_is_no_check() -> None:
    written = where_it_stands(run("gofmt -w tide.go", ""), edit(FILE, PLAIN, QUEUED), run("go test ./...", "ok tide"))
    assert "gofmt" not in written
    assert "`go test ./...` passed" in written


def test_lines_that_were_left_out_within_code_show_as_a_gap() -> None:
    old = "def toll(tide):\n    bell = quay.bell(1)\n    ring(bell)\n    lamp = quay.lamp(2)\n    light(lamp)\n"
    new = old.replace("bell(1)", "bell(tide.hour)").replace("lamp(2)", "lamp(tide.night)")
    shown = told(edit("src/toll.py", old, new), run("ls", "src"))
    assert "bell = quay.bell(tide.hour) … lamp = quay.lamp(tide.night)" in shown


def test_a_check_of_a_folder_is_over_once_one_of_everything_passed_in_a_chain() -> None:
    narrow, chain = run("golangci-lint run ./quay/...", "0 issues."), "golangci-lint run && go test ./..."
    ended = where_it_stands(narrow, edit(FILE, PLAIN, QUEUED), run(chain, "ok quay 0.1s"))
    assert "./quay" not in ended
    assert "Changed since" not in ended
    other = where_it_stands(narrow, run("go test ./... && go vet ./...", "ok quay 0.1s"))
    assert "./quay" in other
