"""Where the work stands: the newest of each thing, as outputs tell it."""

from __future__ import annotations

from tests.golden.material import edit, run, step
from tests.unit.runs import material

from ireneo.log.message import Draft
from ireneo.summaries.state import MOST_FILES, shown_state, standing_state, state_lines
from ireneo.summaries.steps import steps
from ireneo.summaries.summary import Line
from ireneo.summaries.work import recorded_text

REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."
COMMITTED = run("git commit -am 'Keep every row'", "[rows 4f2a91c] Keep every row\n 1 file changed, 2 insertions(+)")


def lines(*drafts: list[Draft]) -> list[Line]:
    return state_lines(steps(material([draft for each in drafts for draft in each]).messages))


def shown(*drafts: list[Draft], narrow: bool = False) -> list[str]:
    return [line.text for line in shown_state(lines(*drafts), narrow=narrow)]


def changing(*paths: str) -> list[Draft]:
    return [draft for path in paths for draft in edit(path, "a", "b")]


def planned(*tasks: tuple[str, str]) -> list[Draft]:
    todos = [{"content": text, "status": status} for text, status in tasks]
    return step("", "TodoWrite", {"todos": todos}, "Todos have been modified.")


def test_the_branch_and_the_last_commit_are_told_as_version_control_said_them() -> None:
    assert shown(run("git checkout -b rows", "Switched to a new branch 'rows'")) == ["On branch rows."]
    assert shown(run("git status", "On branch main\nnothing to commit")) == ["On branch main."]
    assert shown(COMMITTED) == ["Last commit 4f2a91c on rows: Keep every row"]
    log = "4f2a91c Keep every row\n9bb01d2 Begin"
    assert shown(run("git log --oneline -2", log)) == [
        "The newest commits that `git log` showed: 4f2a91c Keep every row; 9bb01d2 Begin"
    ]
    assert shown(run("git log -p 9bb01d2", log)) == shown(run("git log origin/main", log)) == [], "of another commit"


def test_what_was_changed_since_the_last_commit_is_told_in_one_line() -> None:
    assert shown(changing("src/a.py", "src/b.py", "src/a.py")) == [
        "Changed, and no commit seen since: src/b.py, src/a.py."
    ]
    assert "Changed, and no commit seen since: src/c.py." in shown(
        changing("src/a.py"), COMMITTED, changing("src/c.py")
    )
    assert not any("Changed" in text for text in shown(changing("src/a.py"), COMMITTED))
    many = changing(*(f"src/part_{number}.py" for number in range(MOST_FILES + 3)))
    assert shown(many)[0].endswith(f"src/part_{MOST_FILES + 2}.py and 3 more.")
    assert "src/part_2.py" not in shown(many)[0]


def test_files_that_were_dirty_before_are_told_apart_from_what_was_made_here() -> None:
    status = (
        "On branch tides\nChanges not staged for commit:\n\tmodified:   src/moon.py\n\n"
        'Untracked files:\n  (use "git add <file>..." to include in what will be committed)\n\tdocs/ebb.md\n'
    )
    made = run("echo 'low water' >> docs/ebb.md", "")
    told = shown(made, run("git status", status), run("git add docs/ebb.md", ""))
    assert told == [
        "On branch tides.",
        "Changed, and no commit seen since: docs/ebb.md (staged).",
        "`git status` also lists (no edit of mine): src/moon.py.",
    ]


def test_what_version_control_lists_as_changed_wins_over_what_was_changed_before() -> None:
    changed = changing("/home/me/tide/src/a.py", "/home/me/tide/src/b.py")
    for clean in ("On branch main\nnothing to commit, working tree clean", ""):
        assert not any("Changed" in text for text in shown(changed, run("git status --short", clean)))
    listed = run("git status --short", " M src/b.py\n?? notes.txt")
    assert shown(changed, listed) == [
        "Changed, and no commit seen since: src/b.py.",
        "`git status` also lists (no edit of mine): notes.txt.",
    ]
    again = changing("/home/me/tide/src/b.py")
    assert "Changed, and no commit seen since: /home/me/tide/src/b.py." in shown(changed, listed, again)
    of_one_file = run("git status src/a.py", "On branch main\nnothing to commit, working tree clean")
    assert "b.py" in shown(changed, of_one_file)[-1]


def test_a_narrow_context_tells_changed_files_by_their_ends_and_those_that_end_alike_as_a_whole() -> None:
    alike = ("/home/me/tide/core/src/main.py", "/home/me/tide/web/src/main.py")
    told = shown(changing(*alike, "/home/me/tide/web/src/page.py"), narrow=True)
    assert told == [f"Changed, and no commit seen since: {alike[0]}, {alike[1]}, page.py."]


def test_what_was_removed_and_what_was_only_tried_is_not_told_as_changed() -> None:
    assert shown(changing("src/a.py"), run("rm src/a.py", "")) == []
    assert shown(run("rm -rf old", ""), changing("/tmp/try/a.py")) == []
    told = shown(changing("/home/me/.agent/plans/quiet-tide.md", "/home/me/kestrel/a.py"))
    assert any("a.py" in text for text in told)
    assert not any("quiet-tide" in text for text in told)
    later = standing_state([*lines(changing("/home/me/.agent/plans/quiet-tide.md")), *lines(changing("src/a.py"))])
    assert [line.subject for line in later] == ["changed src/a.py"]
    # Somebody's dotfiles are a project as well.
    assert any("vimrc" in text for text in shown(changing("/home/me/.dotfiles/vimrc")))
    worked_on = "/home/me/.agent/worktrees/tide/a.py"
    assert shown(changing(worked_on)) == [f"Changed, and no commit seen since: {worked_on}."]
    elsewhere = run("cd /tmp/try && git init && git commit -m initial", "[master 83cc426] initial")
    assert shown(COMMITTED, elsewhere) == ["Last commit 4f2a91c on rows: Keep every row"]


def test_a_change_or_a_commit_that_was_refused_is_not_told_as_done() -> None:
    refused = step("", "Edit", {"file_path": "src/a.py", "old_string": "a", "new_string": "b"}, REFUSAL, failed=True)
    assert shown(refused) == []
    assert shown(run("git push origin main", REFUSAL, failed=True)) == [
        "`git push origin main` was not done: the user refused it."
    ]
    hook = "error: the hook says no: the title is too long"
    assert shown(run("git commit -m x", hook, failed=True)) == [f"`git commit -m x` was not done: it failed: {hook}."]


def test_what_was_pushed_and_the_request_for_review_are_told() -> None:
    pushed = "To github.com:harbour/tide.git\n   9bb01d2..4f2a91c  rows -> rows"
    assert "Pushed 9bb01d2..4f2a91c rows -> rows." in shown(run("git push origin rows", pushed))
    made = "https://github.com/harbour/tide/pull/17"
    assert shown(run("gh pr create --fill", made)) == [f"Pull request: {made}"]


def test_a_check_passed_only_where_nothing_that_it_said_speaks_against_it() -> None:
    (quiet,) = shown(run("pytest -q", "12 passed in 0.3s"))
    assert quiet == "`pytest -q` passed (12 passed in 0.3s)."
    # The pipe hides how the check ended; what it said does not.
    (piped,) = shown(run("go test ./... 2>&1 | tail -5", "--- FAIL: TestRow (0.1s)\nFAIL\tpkg/rows\t0.2s\nFAIL"))
    assert "passed" not in piped
    assert "--- FAIL: TestRow" in piped
    (mended,) = shown(run("ruff check --fix . | tail -2", "Found 2 errors (2 fixed, 0 remaining).\nAll checks passed!"))
    assert "failed" not in mended
    (failed,) = shown(run("make lint", "Exit code 2\nsrc/a.go:3:1: undefined: keepRow", failed=True))
    assert failed.startswith("`make lint` failed: ")
    assert "undefined: keepRow" in failed


def test_a_check_of_which_nothing_tells_how_it_ended_did_not_pass() -> None:
    assert shown(run("./check.sh test 2>&1 | grep Step", "Step 3: count the rows")) == []
    assert shown(run("pytest -q | tail -2", "tests/test_rows.py\nrows: 7")) == []
    assert shown(run("pytest -q", "Command running in background with ID: b7. Output goes to: b7.out")) == []
    assert shown(run("pytest -q | tail -1", "7 passed in 0.2s")) == ["`pytest -q` passed (7 passed in 0.2s)."]
    assert shown(run("go build ./... 2>&1 | head", "")) == ["`go build ./...` passed."]


def test_a_check_is_told_without_the_dots_of_its_progress() -> None:
    for shown_first in ("........................x", ".F.s [ 57%]\n...x [100%]"):
        (line,) = shown(run("pytest -q", f"{shown_first}\n24 passed, 1 xfailed in 6.31s"))
        assert line == "`pytest -q` passed (24 passed, 1 xfailed in 6.31s)."


def test_of_one_check_the_last_result_stands() -> None:
    bad = run("pytest -q", "Exit code 1\nE   assert 41 == 42", failed=True)
    good = run("pytest -q", "12 passed in 0.3s")
    assert shown(bad, good) == ["`pytest -q` passed (12 passed in 0.3s)."]
    (last,) = shown(good, bad)
    assert last.startswith("`pytest -q` failed: ")


def test_a_newer_list_of_tasks_takes_the_place_of_the_older_one() -> None:
    first = planned(("Read the importer", "completed"), ("Fix the slice", "in_progress"), ("Run the tests", "pending"))
    second = planned(("Fix the slice", "completed"), ("Write it down", "pending"))
    assert shown(first) == [
        "Tasks in progress: Fix the slice.",
        "Tasks pending: Run the tests.",
        "Tasks completed: Read the importer.",
    ]
    assert shown(first, second) == ["Tasks pending: Write it down.", "Tasks completed: Fix the slice."]


def test_of_several_stretches_the_newest_of_each_stands_wherever_it_is_told() -> None:
    drafts = [*changing("src/a.py"), *planned(("Old", "pending")), *COMMITTED, *planned(("New", "in_progress"))]
    messages = material([*drafts, *changing("src/c.py")]).messages
    parts = [line for cut in (messages[:4], messages[4:]) for line in state_lines(steps(cut))]
    assert [line.text for line in shown_state(parts)] == [
        "Last commit 4f2a91c on rows: Keep every row",
        "Changed, and no commit seen since: src/c.py.",
        "Tasks in progress: New.",
    ]
    assert set(shown_state(reversed(parts))) == set(shown_state(parts))
    assert standing_state(standing_state(parts)) == standing_state(parts)


def test_a_line_is_disputed_in_the_words_in_which_it_is_shown() -> None:
    assert recorded_text("- The user: “Keep every row.”") == "Keep every row."
    assert recorded_text("The user, refusing my edit of …/src/a.py (`keep`): “Keep every row.”") == "Keep every row."
    passed = "`pytest` passed."
    assert recorded_text(f"- {passed} Changed since: a.py, b.py and 2 more.") == passed
    assert recorded_text("Changed, and no commit seen since: src/a.py, src/b.py and 3 more.") == "src/a.py"
    assert recorded_text("src/a.py reads the file.") == "src/a.py reads the file."


def test_a_rebase_gives_commits_other_hashes() -> None:
    second = run("git commit -am 'Read once'", "[rows 77aa001] Read once\n 1 file changed")
    pulled = run("git pull --rebase origin rows && git push", "Successfully rebased.\n  9bb01d2..7cf5a43  rows -> rows")
    assert shown(COMMITTED, second, pulled) == ["On branch rows.", "Pushed 9bb01d2..7cf5a43 rows -> rows."]
    idle = run("git pull --rebase", "Already up to date.")
    assert "Last commit 77aa001 on rows: Read once" in shown(second, idle)
    third = run("git commit -am 'Begin'", "[rows 1f2e3d4] Begin\n 1 file changed")
    assert "Last commit 1f2e3d4 on rows: Begin" in shown(second, pulled, third)


def test_a_check_that_failed_is_told_with_its_totals() -> None:
    output = "Exit code 1\nE   AssertionError: 41 != 42\n=== 1 failed, 12 passed in 0.31s ==="
    (text,) = shown(run("pytest -q", output, failed=True))
    assert text == "`pytest -q` failed: AssertionError: 41 != 42 (1 failed, 12 passed in 0.31s)."


def test_a_stash_that_was_kept_and_a_forced_push_are_told() -> None:
    stashed = run("git stash", "Saved working directory and index state WIP on rows: 4f2a91c Keep every row")
    assert shown(stashed) == ["A stash was made: WIP on rows: 4f2a91c Keep every row."]
    conflict = (
        "CONFLICT (content): Merge conflict in src/a.py\nOn branch rows\n"
        "The stash entry is kept in case you need it again."
    )
    told = shown(stashed, run("git stash pop", conflict, failed=True))
    assert told == ["`git stash pop` ran into conflicts: the stash entry was kept."]
    dropped = run("git stash drop", "Dropped refs/stash@{0} (9bb01d2)")
    assert shown(stashed, dropped) == []
    pushed = run("git push --force", " + 9bb01d2...4f2a91c rows -> rows (forced update)")
    status = run("git status", "On branch rows")
    assert shown(status, pushed) == ["On branch rows.", "Pushed 9bb01d2...4f2a91c rows -> rows (forced)."]


def test_a_log_from_before_the_last_commit_and_a_check_that_could_not_be_run_are_out_of_date() -> None:
    log = run("git log --oneline -2", "9bb01d2 Begin\n1f2e3d4 Set up")
    assert shown(log, COMMITTED) == ["Last commit 4f2a91c on rows: Keep every row"]
    assert len(shown(COMMITTED, log)) == 2
    missing = run("pytest tests/test_rows.py", "ModuleNotFoundError: No module named 'rows'", failed=True)
    assert shown(missing, run("make test", "12 passed in 0.3s")) == ["`make test` passed (12 passed in 0.3s)."]
    wrong = run("make fmt && make test", "E   assert 41 == 42", failed=True)
    assert shown(wrong, run("make up && make test", "12 passed in 0.3s")) == [
        "`make up && make test` passed (12 passed in 0.3s)."
    ]
    refused = run("git push origin main", "error: protected branch hook declined", failed=True)
    assert shown(refused, run("git push origin rows", "Everything up-to-date")) == []


def test_a_check_names_the_files_that_were_changed_after_it() -> None:
    check = run("pytest -q", "12 passed in 0.3s")
    told = shown(changing("src/a.py"), check, changing("src/b.py", "src/a.py"))
    assert told[-1] == "`pytest -q` passed (12 passed in 0.3s). Changed since: b.py, a.py."
    many = changing(*(f"src/part_{number}.py" for number in range(5)))
    assert shown(check, many)[-1].endswith("Changed since: part_2.py, part_3.py, part_4.py and 2 more.")
    # A commit doesn't make the check know of a change.
    assert shown(check, changing("a.py"), COMMITTED)[-1].endswith("Changed since: a.py.")
    assert "Changed since" not in shown(changing("a.py"), COMMITTED, check)[-1]


def test_what_another_repository_shows_is_not_told_of_this_one() -> None:
    work = [*changing("/home/me/tide/src/a.py", "/home/me/tide/src/b.py"), *run("git status", "On branch rows")]
    moved = run("cd /home/me/moon && git status && git stash", "On branch ebb\n\tmodified:   moon.py")
    assert shown(work, moved)[0] == "On branch rows."
    assert not any("ebb" in text or "moon.py" in text for text in shown(work, moved))
    assert not any("ebb" in text for text in shown(work, run("git -C /home/me/moon status", "On branch ebb")))
    reset = run("cd ../moon && git status", "On branch ebb\n\nShell cwd was reset to /home/me/tide")
    assert shown(work, reset)[0] == "On branch rows."
    # Folders of the work, and what holds it, are no other repository.
    for folder in ("/home/me/tide", "/home/me/tide/src", "/home/me/tide/src/low"):
        assert "On branch ebb." in shown(work, run(f"cd {folder} && git status", "On branch ebb"))
    # Where nothing tells which folder is the work's, what was said last stands.
    assert shown(run("cd /home/me/moon && git status", "On branch ebb")) == ["On branch ebb."]


def test_a_commit_that_a_script_made_in_a_repository_of_its_own_is_not_told() -> None:
    made = run("./try_out.sh", "[main (root-commit) c0ffee1] Initial\nSaved working directory and index state WIP")
    assert shown(COMMITTED, made) == ["Last commit 4f2a91c on rows: Keep every row"]


def test_a_failed_test_is_over_once_all_tests_passed_whatever_command_ran_them() -> None:
    failed = run("go test -v -run '' | grep -A 20 FAIL", "--- FAIL: TestRows (0.02s)", failed=True)
    for passed in ("mise run fmt && mise run test 2>&1", "go test ./...", "make test"):
        assert not any("TestRows" in text for text in shown(failed, run(passed, "ok")))
    for other in ("go test ./rows/...", "go test -run=TestTides", "make test-unit", "npm run test:unit", "make lint"):
        assert any("TestRows" in text for text in shown(failed, run(other, "ok")))
    tagged = run("go test -tags=integration ./...", "--- FAIL: TestRows (0.02s)", failed=True)
    assert any("TestRows" in text for text in shown(tagged, run("make test", "ok")))


def test_a_branch_that_the_last_commit_names_is_not_told_again() -> None:
    there = run("git checkout -b rows", "Switched to a new branch 'rows'")
    assert shown(there, COMMITTED, run("git status", "On branch rows")) == [
        "Last commit 4f2a91c on rows: Keep every row"
    ]
    moved = run("git checkout main", "Switched to branch 'main'")
    assert shown(there, COMMITTED, moved)[-1] == "On branch main."


def test_a_linter_that_passes_over_everything_settles_what_it_said_of_a_single_file() -> None:
    one = run("golangci-lint run ./rows/read.go", "rows/read.go:3:5: undefined: Open (typecheck)", failed=True)
    everything = run("make lint", "0 issues.")
    assert [line for line in shown(one, everything) if "read.go" in line] == []
    assert any("read.go" in line for line in shown(everything, one))


def test_what_failed_last_weighs_most_of_what_fails() -> None:
    told = shown_state(
        lines(run("make rows", "Error: no rule", failed=True), run("make tide", "Error: no tide", failed=True))
    )
    first, last = (next(line for line in told if name in line.text) for name in ("rows", "tide"))
    assert last.weight > first.weight


def test_a_commit_of_named_files_leaves_the_others_changed() -> None:
    named = run("git add src/a.py && git commit -m 'Read once'", "[main 77aa001] Read once")
    assert "Changed, and no commit seen since: plans/b.md." in shown(changing("src/a.py", "plans/b.md"), named)
    elsewhere = run("git remote add origin ssh://rows.example.org/rows.git", "")
    assert any("plans/b.md" in text for text in shown(changing("src/a.py", "plans/b.md"), elsewhere, named))
    everything = run("git add -A && git commit -m 'Read once'", "[main 77aa001] Read once")
    assert not any("Changed" in text for text in shown(changing("src/a.py", "plans/b.md"), everything))


def test_files_in_a_folder_that_was_removed_are_not_changed() -> None:
    changes = changing("trial/a.py", "trial/deep/b.py", "src/trial.py")
    assert shown(changes, run("rm -rf trial", "")) == ["Changed, and no commit seen since: src/trial.py."]


def test_tasks_that_are_created_and_updated_one_by_one_are_grouped() -> None:
    def created(number: int, subject: str) -> list[Draft]:
        return step(
            "", "TaskCreate", {"subject": subject, "description": subject}, f"Task #{number} created successfully"
        )

    def updated(number: int, status: str, *, failed: bool = False) -> list[Draft]:
        said = "Task not found" if failed else "Updated"
        return step("", "TaskUpdate", {"taskId": str(number), "status": status}, said, failed)

    made = [*created(1, "Read rows"), *created(2, "Sort rows"), *created(3, "Drop rows"), *updated(1, "completed")]
    assert shown([*made, *updated(3, "deleted")]) == ["Tasks pending: Sort rows.", "Tasks completed: Read rows."]
    assert shown([*made, *updated(2, "in_progress")])[0] == "Tasks in progress: Sort rows."
    assert shown([*made, *updated(2, "completed", failed=True)]) == []


def test_what_is_listed_as_changed_was_not_changed_again() -> None:
    listed = run("git status --short", " M src/tide.py\n M src/moon.py")
    made, check = changing("/home/me/sea/src/tide.py", "/home/me/sea/src/moon.py"), run("make test", "3 passed")
    assert "`make test` passed (3 passed)." in shown(made, check, listed)
    changed_again = shown(made, check, listed, changing("/home/me/sea/src/moon.py"), listed)
    assert "`make test` passed (3 passed). Changed since: moon.py." in changed_again


def test_a_program_that_is_asked_how_it_is_used_checks_nothing() -> None:
    usage = "Error handling: --strict stops at the first error\n--fix repairs what it can"
    assert shown(run("ruff check --help", usage)) == []


def test_a_long_check_is_told_with_what_it_ends_with() -> None:
    ran = "pytest tests/tides tests/harbours --maxfail=3 --durations=5 --strict-markers -p no:cache -c /dev/null"
    assert shown(run(ran, "ERROR: no such option", failed=True))[0].startswith(f"`{ran}` failed")


def test_an_output_is_read_without_the_labels_around_it() -> None:
    labelled = (
        "Command: git status\nDirectory: (root)\nOutput: On branch tides\nnothing to commit\nError: (none)\n"
        "Exit Code: 0\nSignal: (none)\nProcess Group PGID: 4711"
    )
    assert shown(run("git status", labelled)) == ["On branch tides."]
