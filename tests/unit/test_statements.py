"""What an agent's prose, code and outputs say: statements that are found, each with its worth."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ireneo.log.calls import without_reminders
from ireneo.summaries.statements import (
    LONGEST,
    code_statements,
    code_worth,
    is_request,
    prose,
    prose_worth,
)
from ireneo.summaries.steps import error_lines, report_in, shorten_output
from ireneo.summaries.tell_code import seen_lines


def told(text: str) -> list[str]:
    return list(prose(dedent(text)))


def coded(text: str, fresh: set[str] | None = None) -> list[str]:
    return [each.text for each in code_statements(dedent(text).splitlines(), fresh)]


# Prose.


def test_each_sentence_is_a_statement_on_one_line() -> None:
    assert told(
        "The slice drops the last row. The count is wrong since `keep_row` never\nsees it.\n\nAll is told."
    ) == [
        "The slice drops the last row.",
        "The count is wrong since `keep_row` never sees it.",
    ]
    assert told("") == told("\n \n") == []


def test_a_sentence_that_was_broken_to_fit_a_width_is_one_statement() -> None:
    text = """\
        The importer reads the whole of the old table before it looks at the
        Orsk server, and that takes an hour.
        - an item that goes on
          Below it in the next line
        - another one
        A line that is short
        Another that is short
        """
    assert told(text) == [
        "The importer reads the whole of the old table before it looks at the Orsk server, and that takes an hour.",
        "an item that goes on Below it in the next line; another one",
        "A line that is short",
        "Another that is short",
    ]
    assert all(len(each) <= LONGEST for each in told("row after row without an end\n" * 200))
    assert sum(each.count("row after row") for each in told("row after row without an end\n" * 200)) == 200


def test_a_heading_leads_the_items_below_it() -> None:
    text = """\
        ## What changed
        - `load` returns {} for a missing file
        - the limit is 40.

        **Open points:**
        1. the export has the same slice
        """
    assert told(text) == [
        "What changed: `load` returns {} for a missing file; the limit is 40",
        "Open points: the export has the same slice",
    ]


def test_a_line_that_ends_with_a_colon_leads_what_follows_and_says_nothing_alone() -> None:
    assert told("I looked at both. Two things are wrong here:\n- the slice\n- the count\n") == [
        "I looked at both.",
        "Two things are wrong here: the slice; the count",
    ]
    assert told("The changed files:\n\nThe importer keeps every row now.") == ["The importer keeps every row now."]


def test_a_long_item_is_a_statement_of_its_own() -> None:
    long = (
        "The importer drops the last row since `rows[:-1]` leaves it out, and nobody noticed it before the export ran"
    )
    assert told(f"Found:\n- the slice\n- {long}\n- the count") == ["Found: the slice", long, "Found: the count"]


def test_short_items_stand_together_only_as_far_as_a_statement_goes() -> None:
    pieces = told("Rows:\n" + "\n".join(f"- row {number} is kept by the importer since March" for number in range(40)))
    assert len(pieces) > 4
    assert all(len(piece) < LONGEST for piece in pieces)
    assert all(piece.startswith("Rows: row ") for piece in pieces)
    assert sum(piece.count("is kept") for piece in pieces) == 40


def test_each_row_of_a_table_is_told_and_neither_its_head_nor_its_rules() -> None:
    text = """\
        | file | lines | state |
        |------|------:|-------|
        | `rows.py` | 120 | **done** |
        | `batches.py` | 88 | |

        After it the next one.
        """
    assert told(text) == ["`rows.py` — lines: 120 — done; `batches.py` — lines: 88", "After it the next one."]


def test_of_code_blocks_only_a_short_one_stays_that_a_line_leads_to() -> None:
    assert told("The loop is this one:\n```python\nfor row in rows:\n    keep(row)\n```\nIt sees every row of it.") == [
        "The loop is this one: `for row in rows:; keep(row)`",
        "It sees every row of it.",
    ]
    assert told("It is done there.\n```\nkeep(row)\n```") == ["It is done there."]
    long = "\n".join(f"keep(row_{number})" for number in range(40))
    assert told(f"The loop is this one:\n```\n{long}\n```") == []
    assert told("Only half of it is here.\n~~~\nnever closed") == ["Only half of it is here."]


def test_marks_of_emphasis_go_and_names_stay_as_they_are() -> None:
    for said in (
        "The file `src/__init__.py` has the word __all__ in it.",
        "The call `f(*args, **kwargs)` gives 2**10 and 3**4 rows.",
        "Every path of src/**/*.py and of tests/**/*.py is read.",
    ):
        assert told(said) == [said]
    assert told("The **last row** of **a__b** is never kept.") == ["The last row of a__b is never kept."]


def test_a_very_short_sentence_stands_with_the_next_and_alone_says_nothing() -> None:
    assert told("Not so. The slice drops the last row of the file.") == [
        "Not so. The slice drops the last row of the file."
    ]
    assert told("Found it!") == told("Yes.") == []


def test_the_end_of_a_sentence_that_was_broken_off_stands_with_its_beginning() -> None:
    assert told("There is `ROW_LIMIT` (ten by default!) - that's likely the issue.") == [
        "There is `ROW_LIMIT` (ten by default!) - that's likely the issue."
    ]
    assert told("- - that's likely the issue of the rows") == ["that's likely the issue of the rows"]


def test_what_only_may_be_so_stands_with_what_says_so() -> None:
    listed = "\n- A row of an older export\n- A mistake of the reader"
    assert told(f"Row 41 has no head. This could be:{listed}") == [
        "Row 41 has no head. This could be: A row of an older export; A mistake of the reader"
    ]
    assert told(f"It might be:{listed}") == ["It might be: A row of an older export; A mistake of the reader"]


def test_a_sentence_that_refers_to_the_one_before_stands_behind_it() -> None:
    assert told(
        "The cache is filled before the check. This is why the second run passes. The log has no line of it."
    ) == [
        "The cache is filled before the check. This is why the second run passes.",
        "The log has no line of it.",
    ]
    long = f"The cache is filled {'and filled again ' * 19}before the check."
    assert told(f"{long} This is why the second run passes.")[-1] == "This is why the second run passes."


def test_an_announcement_does_not_drag_a_short_sentence_along() -> None:
    assert told("Good. Let me check the importer now.")[0] == "Let me check the importer now."


def test_a_statement_has_a_bound() -> None:
    assert all(len(piece) <= LONGEST for piece in told("so it goes on and on and on " * 200))


def test_a_reason_is_worth_more_than_a_plain_sentence_and_that_more_than_an_announcement() -> None:
    reason = "The import drops `rows[-1]` because the slice ends one row before the end of the file."
    plain = "The import runs each night and reads the whole of the file from the old server."
    announced = "Let me look at the import and at the file that it reads from the server."
    empty = "Now I understand the problem."
    worth = [prose_worth(each) for each in (reason, plain, announced, empty)]
    assert worth == sorted(worth, reverse=True)
    assert len(set(worth)) == 4
    assert worth[-1] == 0
    assert prose_worth(f"Actually, l{announced[1:]}") == pytest.approx(worth[2], rel=0.3)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # What can be looked up; a decision; a contrast; an outcome; no question; a whole sentence.
        ("The limit of rows is set to 40 in `rows.py` since March.", "The limit of rows is set there since March."),
        ("I decided to go on with the old table for the rows.", "I go on with the old table for the rows now."),
        ("The new table is not read by the importer at all.", "The new table is read by the importer as well there."),
        ("The runs for the new table failed on the server.", "The runs for the new table are on the server."),
        (
            "The importer has to take the last row of each file.",
            "Should I have the importer take the last row of each?",
        ),
        ("The importer takes 41 rows of every file in the table.", "It takes 41 rows."),
    ],
)
def test_what_says_more_is_worth_more(better: str, worse: str) -> None:
    assert prose_worth(better) > prose_worth(worse)


def test_german_prose_is_weighed_by_its_own_words() -> None:
    reason = "Der Import verliert die letzte Zeile, weil der Ausschnitt eine Zeile zu früh endet."
    plain = "Der Import liest jede Nacht die ganze Datei vom alten Rechner in die Tabelle ein."
    assert prose_worth(reason) > prose_worth(plain) > prose_worth(f"Ich werde {plain}")


@pytest.mark.parametrize("said", ["Which row is it?", "Would you like me to go on?", "Let me know how it goes."])
def test_what_asks_or_offers_is_known(said: str) -> None:
    assert is_request(said)
    assert not is_request("The user would know.")


@pytest.mark.parametrize(
    "said", ["We keep the old table.", "I recommend the second one.", "I deferred the old export."]
)
def test_what_decides_is_worth_more(said: str) -> None:
    assert prose_worth(said) > prose_worth("The table has 41 rows.")


@pytest.mark.parametrize("line", ["def keep(rows, heads):", "if rows > limit:"])
def test_a_long_comment_at_code_is_told_by_its_beginning(line: str) -> None:
    why = " ".join(f"It keeps row {number}, because heads are lost." for number in range(20))
    told = next(code_statements([f"# {why}", line, "    return heads + 1"]))
    assert LONGEST // 2 < len(told.text) < LONGEST + 60


# Code.


def test_a_definition_is_told_with_the_comment_before_it() -> None:
    text = """\
        import os

        # A row is never dropped, because the export counts them.
        def keep_row(row, limit=40):
            x
        """
    assert coded(text) == [
        "`def keep_row(row, limit=40)` — A row is never dropped, because the export counts them.",
    ]


def test_a_condition_is_told_with_what_follows_it_and_within_what_it_stands() -> None:
    text = """\
        func GetAuthor(path string) string {
        \tif local == "" {
        \t\treturn globalAuthor(path)
        \t}
        }
        """
    assert coded(text) == [
        "`func GetAuthor(path string) string`",
        'GetAuthor: `if local == "": return globalAuthor(path)`',
    ]


def test_a_condition_that_hands_on_an_error_or_writes_to_a_log_is_not_told() -> None:
    text = """\
        func Load(path string) (Rows, error) {
        \trows, err := read(path)
        \tif err != nil {
        \t\treturn nil, fmt.Errorf("failed to read: %w", err)
        \t}
        \tif len(rows) == 0 {
        \t\tlogging.Debug(ctx, "nothing there",
        \t\t\tslog.String("path", path))
        \t\treturn nil, nil
        \t}

        \t// An old file has no head, so it gets one.
        \tif !rows.headed() { // before 2019
        \t\trows.head = unknown
        \t}
        }
        """
    assert coded(text) == [
        "`func Load(path string) (Rows, error)`",
        "Load: `rows, err := read(path); if len(rows) == 0: return nil, nil`",
        "Load: `if !rows.headed() // before 2019: rows.head = unknown` — An old file has no head, so it gets one.",
    ]


def test_only_what_is_new_is_told_and_the_rest_says_where_it_stands() -> None:
    text = """\
        def flush(self):
            # The disk is slow.
            self.rows = []
            if self.limit == 40:
                self.commit()
        """
    assert coded(text, fresh={"if self.limit == 40:"}) == [
        "flush: `if self.limit == 40: self.commit()` — The disk is slow."
    ]
    assert coded(text, fresh=set()) == []


def test_what_every_file_has_is_not_told() -> None:
    text = "#!/bin/sh\nimport os\nfrom a import b\nend() {\nif err != nil {\n}\ntry:\n    pass\nelse:\n    return nil\n"
    assert coded(text) == []
    assert code_worth('echo "\\033[1mdone\\033[0m"') == 0


def test_a_definition_is_worth_more_than_a_condition_and_that_more_than_another_line() -> None:
    lines = ["def keep_row(row, limit=40):", "if row == 41:", "rows.append(row)", "import os"]
    worth = [code_worth(line) for line in lines]
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > worth[1] > worth[2] > worth[3] == 0


def test_a_passage_is_worth_more_for_each_further_line() -> None:
    one = next(iter(code_statements(["if row == 41:"])))
    both = next(iter(code_statements(["if row == 41:", "    return limit"])))
    assert one.worth < both.worth < 2 * one.worth


# Outputs.


def test_the_lines_that_say_what_went_wrong_are_told_once_each() -> None:
    output = """\
        src/a.go:3:1: undefined: keepRow
        src/b.go:9:4: undefined: keepRow
        reading row 3
        --- PASS: TestErrors (0.1s)
        ok  \tpkg/errors\t0.3s
        make: *** [all] Error 2
        """
    assert error_lines(dedent(output)) == "src/a.go:3:1: undefined: keepRow, also in b.go"
    assert error_lines("reading row 3\nwritten") == error_lines("") == ""
    assert len(error_lines("\n".join(f"error: row {number} is missing" for number in range(99)), 120)) <= 120


def test_a_short_output_is_shown_whole_and_of_a_long_one_what_is_spoken_of_or_counts() -> None:
    assert shorten_output("12 rows\n  \x1b[0;31mwritten\x1b[0m ") == "12 rows written"
    assert shorten_output("[main 12ab] keep rows\n[1mbold[0m") == "[main 12ab] keep rows bold"
    long = "\n".join(["begin", *(f"a row of part_{number} is read" for number in range(40)), "412 rows"])
    assert shorten_output(long) == "412 rows"
    assert shorten_output("row " * 400) == "", "its beginning and end say nothing"
    ended = "\n".join(f"a row of part_{number} is read" for number in range(40))
    assert shorten_output(ended) == "a row of part_38 is read […] a row of part_39 is read"
    framed = (
        "Chunk ID: a1b2\nWall time: 0.05 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\n12 rows"
    )
    assert shorten_output(framed) == "12 rows"


def test_a_bold_sentence_is_told() -> None:
    assert told("**The fields are stored but NOT used.**\n\nThey stand in each table.") == [
        "The fields are stored but NOT used.",
        "They stand in each table.",
    ]


def test_what_a_harness_hung_on_is_no_output() -> None:
    assert without_reminders("12 rows<system-reminder>Be careful.\nAlways.</system-reminder>\n") == "12 rows\n"
    open_one = "12 rows<system-reminder>Be careful."
    assert without_reminders(open_one) == open_one


def test_what_a_tool_put_before_the_lines_of_a_file_goes() -> None:
    assert seen_lines("   12→def keep_row(row):\n   13\t    return row\n14:x = 1\n15-y = 2") == [
        "def keep_row(row):",
        "    return row",
        "x = 1",
        "y = 2",
    ]
    assert seen_lines("src/led-ger/rows-2.py:12:def keep_row(row):\nsrc/led-ger/rows-2.py-13-    return row") == [
        "def keep_row(row):",
        "    return row",
    ]


def test_lines_of_different_places_are_not_told_as_one_passage() -> None:
    output = "a.py:12:def keep_row(row):\nb.py:30:    if row == 41:\nb.py:31:        return limit"
    assert seen_lines(output)[1] == "--"
    assert [each.text for each in code_statements(seen_lines(output))] == [
        "`def keep_row(row)`",
        "`if row == 41: return limit`",
    ]


def test_of_a_diff_what_it_adds_and_what_stands_around_it_is_seen() -> None:
    diff = "--- a/rows.py\n+++ b/rows.py\n@@ -1,3 +1,3 @@\n def keep_row(row):\n-    return row[:-1]\n+    return row"
    assert seen_lines(diff) == ["def keep_row(row):", "    return row"]


@pytest.mark.parametrize(
    "said",
    [
        "Does this approach work for you?",
        "Does this plan look complete?",
        "Shall I proceed with the implementation?",
        "What do you think about that approach?",
        "Passt der Plan so für dich?",
    ],
)
def test_a_question_that_only_asks_for_agreement_says_nothing_and_still_asks(said: str) -> None:
    assert prose_worth(said) == 0
    assert told(said) == [said]
    assert is_request(said)


@pytest.mark.parametrize("said", ["Does this plan keep the head of the ledger?", "Does that work with old exports?"])
def test_a_question_about_something_says_what_it_is_about(said: str) -> None:
    assert prose_worth(said) > 0


@pytest.mark.parametrize(
    "said",
    [
        "Nice call.",
        "Yes, that's an elegant approach.",
        "My choice: Option B (skip) is simpler.",
        "This changes everything.",
        "Das ist einfacher.",
        "Variante B ist einfacher.",
    ],
)
def test_what_is_about_something_that_it_does_not_name_says_nothing(said: str) -> None:
    assert prose_worth(said) == 0


@pytest.mark.parametrize(
    "said",
    [
        "This class parses dates.",
        "It returns `None` there.",
        "Option B wins because the ferry keeps its old timetable that way.",
        "That loses the last crate of each lorry whenever the driver is late.",
    ],
)
def test_what_names_its_matter_is_told(said: str) -> None:
    assert prose_worth(said) > 0


def test_a_lead_that_only_refers_back_does_not_stand_before_each_of_its_items() -> None:
    text = """\
        This helps because:
        - the harbour map is shared between both pilots on the bridge
        - the lock is held
        """
    assert told(text) == [
        "This helps because: the harbour map is shared between both pilots on the bridge; the lock is held"
    ]


def test_a_paragraph_that_points_back_stands_with_what_it_points_to() -> None:
    text = "### `read_rows`\n\nIt is exported, but only the ledger uses it.\n\nRows always stay sorted by age.\n\n"
    text += "This was not so before."
    assert list(prose(text, led=True)) == [
        "`read_rows`: It is exported, but only the ledger uses it.",
        "Rows always stay sorted by age.",
        "Rows always stay sorted by age. This was not so before.",
    ]
    assert list(prose("This was not so before, whatever the rows.", led=True)) == [
        "This was not so before, whatever the rows."
    ]
    assert prose_worth("The cache was not so before, whatever the rows.") > prose_worth(
        "This was not so before, whatever the rows."
    )


def test_praise_says_little() -> None:
    for praise in (
        "✅ Good - Consistent usage of the row type",
        "Strengths: Rows are read once",
        "Nice use of a set here",
    ):
        assert prose_worth(praise) < 1.0 < prose_worth("The export reads each of the rows twice")


def test_a_line_number_is_no_value() -> None:
    assert prose_worth("Lines 12-40 hold the function that reads all rows") == prose_worth(
        "There stands the whole of a function that reads rows"
    )


def test_a_paragraph_of_an_item_that_points_back_stands_behind_its_label() -> None:
    text = "## What to mend\n\n1. **Rows are read twice**: once for the head.\n\n   This takes an hour of each night.\n"
    assert "Rows are read twice: This takes an hour of each night." in list(prose(text, led=True))


def test_what_only_announces_a_view_says_nothing() -> None:
    for said in (
        "Now I have a comprehensive understanding of the nightly import.",
        "I see a critical issue.",
        "This provides a complete picture of the import and its tables.",
        "Let me create a detailed report of what I looked at.",
    ):
        assert list(prose(said)) == []
        assert prose_worth(said) == 0
    assert prose_worth("I see a critical issue: `read_rows` drops the head.") > 1


def test_another_agents_report_is_read_where_it_comes_back() -> None:
    assert report_in("The head is counted twice.", asked=True) == "The head is counted twice."
    assert report_in("Async agent launched successfully.\nagentId: a1\nWait for it.", asked=True) == ""
    waited = (
        "<retrieval_status>success</retrieval_status>\n<task_type>local_agent</task_type>\n<status>{}</status>\n"
        '<output>\n[Tool: Read] {{"file_path": "rows.py"}}\n\nThe head is counted twice.\n</output>'
    )
    assert report_in(waited.format("completed"), asked=False).split() == "The head is counted twice.".split()
    assert report_in(waited.format("running"), asked=False) == report_in("12 rows", asked=False) == ""


def test_items_of_an_item_stand_behind_it() -> None:
    text = """\
        Two places:

        1. `rows.py`
           - Located beside the ledger
           - Keeps rows apart
        2. `batches.py`
           - Handles each night
        3. The rest
        """
    assert list(prose(dedent(text), led=True)) == [
        "`rows.py`: Located beside the ledger; Keeps rows apart",
        "`batches.py`: Handles each night",
        "Two places: The rest",
    ]


def test_that_all_passes_and_what_the_user_may_do_now_says_little() -> None:
    for said in (
        "All tests pass now.",
        "Both checks are green.",
        "You can now restart the importer.",
        "Ready to merge it.",
    ):
        assert prose_worth(said) < 1.0
    assert prose_worth("All tests pass, since `read_rows` sorts them.") > 1.0
