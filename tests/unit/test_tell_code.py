"""What is told of code: what changes did to it, and what files, pages and reports showed."""

from __future__ import annotations

import tracemalloc

from msgspec.structs import replace
from tests.golden.material import edit, read, run, step
from tests.unit.runs import material

from ireneo.log.message import Draft
from ireneo.summaries.steps import Step, steps
from ireneo.summaries.summary import Line
from ireneo.summaries.tell_code import REPLACED_MARK, RemovedCode, change_lines, findings, removed_lines

OLD = """\
def read_rows(path, strict, tide):
    rows = old_reader(path)
    if not rows:
        rows = fallback_rows(path)
    return rows
"""
NEW = "def read_rows(path, strict):\n    rows = reader(path)\n    return rows\n"
DESIGN = """# Rows

The reader skips the head because it holds no data.

```python
LIMIT = 40  # never more, since the tide table has 40 lines
if not rows:
    state.reset = False
```

Rows are kept in the order of the file, not sorted.
"""


def changed(*drafts: list[Draft]) -> list[str]:
    return [line.text for line in change_lines(steps(material([draft for each in drafts for draft in each]).messages))]


def weights(*drafts: list[Draft]) -> dict[str, float]:
    lines = change_lines(steps(material([draft for each in drafts for draft in each]).messages))
    return {line.text: line.weight for line in lines}


def found(*drafts: list[Draft]) -> list[str]:
    messages = material([draft for each in drafts for draft in each]).messages
    return [line.text for line in findings(steps(messages))]


def steps_of(*drafts: list[Draft]) -> list[Step]:
    return steps(material([draft for each in drafts for draft in each]).messages)


def test_a_changed_signature_is_told_as_it_was() -> None:
    assert "`read_rows` was `def read_rows(path, strict, tide)`" in changed(edit("src/rows.py", OLD, NEW))
    typed = edit("src/rows.go", "func Read(id string) error {", "func Read(id row.ID) error {")
    assert "`Read` was `func Read(id string) error`" in changed(typed)


def test_a_function_that_was_written_anew_is_not_told_as_a_changed_signature() -> None:
    other = f"def read_rows({', '.join(f'part_{number}' for number in range(30))}):\n    return 1\n"
    assert not any("became" in text or "now" in text for text in changed(edit("src/rows.py", OLD, other)))


def test_code_in_a_document_is_told_as_code_and_its_sentences_as_sentences() -> None:
    written = step("", "Write", {"file_path": "docs/rows.md", "content": DESIGN}, "written")
    assert "The reader skips the head because it holds no data." in changed(written)
    assert any("state.reset = False" in text and text.startswith("`") for text in changed(written))
    assert found(read("docs/rows.md", DESIGN))[0] == "The reader skips the head because it holds no data."


def test_an_edit_within_a_document_does_not_join_code_and_text() -> None:
    before = DESIGN.replace("state.reset = False", "state.reset = True")
    texts = changed(edit("docs/rows.md", before, DESIGN))
    assert texts == ["`if not rows: state.reset = False`"]


def test_tests_count_more_where_nothing_else_was_changed() -> None:
    test = edit("tests/test_rows.py", "", "def test_rows():\n    assert read_rows('a') == 40\n")
    beside = weights(test, edit("src/rows.py", OLD, NEW))
    assert all(beside[text] < weight for text, weight in weights(test).items())


def test_what_is_still_to_be_done_is_told_by_itself() -> None:
    lines = ["ctx = Context(", *(f"    part_{number}=part_{number}," for number in range(12))]
    source = "\n".join([*lines, "    deleted=None,  # TODO: compute deleted files", ")"])
    texts = found(read("src/ctx.py", source), run("grep deleted", "", text="Now `Context` and `part_1`."))
    assert any(text.startswith("`deleted=None, # TODO") for text in texts)


def test_a_page_is_told_by_its_sentences_and_a_list_of_hits_is_no_text() -> None:
    page = (
        "# Rows\n\nThe reader of version 4 keeps the head of a file because old exports need it.\n"
        "Set the option to false where the files were made by another program.\n"
    )
    fetched = step("", "WebFetch", {"url": "https://rows.example.org", "prompt": "How does it read?"}, page)
    assert found(fetched)[0] == "The reader of version 4 keeps the head of a file because old exports need it."
    hits = "\n".join(f"src/rows.py:{number}:def read_rows_of_the_night_{number}(path, strict)" for number in range(4))
    assert not any("def read" in text and not text.startswith("`") for text in found(run("grep -rn rows src", hits)))


def test_code_of_an_earlier_block_that_a_later_change_took_out_is_marked() -> None:
    gone = RemovedCode(removed_lines(steps_of(edit("src/rows.py", OLD, NEW))))
    old = Line(
        text="read_rows: `rows = old_reader(path); if not rows: rows = fallback_rows(path)`", subject="src/rows.py"
    )
    old = replace(old, weight=4.0, position=-1)
    told = gone.mark_removed(old)
    assert told.text == f"{old.text}{REPLACED_MARK}"
    assert told.weight < old.weight
    assert gone.mark_removed(told) == told, "it is marked once"
    assert gone.mark_removed(replace(old, subject="src/other.py")).text == old.text
    assert gone.mark_removed(replace(old, position=99)).text == old.text, "it was written again"
    more = (
        f"`{'; '.join(f'total_{number} = read_tide(path, {number})' for number in range(9))}; rows = old_reader(path)`"
    )
    assert gone.mark_removed(replace(old, text=more)).text == more, "most of it stands"


def test_a_line_that_a_change_moves_is_not_taken_out() -> None:
    moved = edit(
        "src/rows.py", "rows = old_reader(path)\nrows = sorted(rows)", "rows = sorted(rows)\nrows = old_reader(path)"
    )
    assert removed_lines(steps(material(moved).messages)) == []


def test_a_line_that_went_in_one_function_and_stands_in_another_is_marked_in_neither() -> None:
    first = "def read_rows(path):\n    rows = sorted(reader(path), key=age_of)\n    return rows\n"
    second = first.replace("read_rows", "count_rows").replace("return rows", "return len(rows)")
    written = edit("src/rows.py", "import age", f"import age\n{first}\n{second}")
    cut = edit("src/rows.py", first, "def read_rows(path):\n    return in_order(path)\n")
    both = edit("src/rows.py", second, "def count_rows(path):\n    return in_order(path).size\n")
    for changes, marked in ((cut,), False), ((cut, both), True):
        gone = RemovedCode(removed_lines(steps_of(written, *changes)))
        for place in ("read_rows", "count_rows"):
            line = Line(text=f"{place}: `rows = sorted(reader(path), key=age_of)`", subject="src/rows.py")
            assert gone.mark_removed(line).text.endswith(REPLACED_MARK) is marked


def test_a_passage_of_which_a_part_was_replaced_is_marked_as_such() -> None:
    gone = RemovedCode(
        removed_lines(steps_of(edit("src/rows.py", "    limit = default_limit()\n", "    limit = 40\n")))
    )
    told = Line(
        text="`limit = default_limit(); rows = reader(path, strict=False); return rows[:limit]`",
        subject="src/rows.py",
        position=-1,
    )
    assert gone.mark_removed(told).text.endswith(REPLACED_MARK)


def test_edits_that_put_more_before_a_common_line_take_no_more_room_than_they_wrote() -> None:
    first = edit("src/rows.ts", "const rows = 1", "const rows = 1\nfunction list() {\n}\n")
    more = [edit("src/rows.ts", "}", f"}}\n\nfunction tide{at}() {{\n}}") for at in range(16)]
    done = steps_of(first, *more)
    tracemalloc.start()
    told = [line.text for line in change_lines(done)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any("tide15" in each for each in told)
    assert most < 1_000_000
