"""What the sources of a statement support."""

from __future__ import annotations

import pytest

from ireneo.grounding.claims import ClaimKind, TextClaim
from ireneo.grounding.evidence import SourceIndex, check_text

SOURCES = (
    "edit pkg/context/strategy.go\nstrategy.go:88: appendAssign",
    "def retain_live(messages, excluded):\n    return Row.keep(messages)",
    'Bash {"command": "cd /srv && go test ./pkg/... 2>&1 | tail\\n\\tretainLive \\"quoted words here\\""}',
    "ran 1,346 tests in 0.5s, 45% covered, timeout=30; Python 3.11.4\nexit status 2, KeyError: 'a', GET /x 404",
    "She said: “Never push to main,\n   and keep the **API** `stable`.” It’s postgresql on 2026-03-03T14:05:33Z.",
    "commit a1b2c3d4e5f60718 by Alice O'Neil on github; uses C:\\new\\table and test-utils",
)

SUPPORTED = {
    "path": (
        "strategy.go context/strategy.go pkg/context/strategy.go ./pkg/context pkg/context/ /srv "
        "…/strategy.go .../context/strategy.go ./pkg/... pkg/cont…"
    ).split(),
    "identifier": "retain_live Row.keep retainLive a1b2c3d GitHub test-utils retain_… @Row".split(),
    "number": (
        "1,346 | 1346 | 0.5 s | 0.5s | 0.5 seconds | 45 % | 45 percent | 30 s | 30 | 88 | v3.11 | 3.11.4 | 2026"
    ).split(" | "),
    "error": ["KeyError", "exit status 2", "exit 2", "exit code 2", "HTTP 404"],
    "command": (
        "go test ./pkg/... | cd /srv && go test | $ go test ./pkg/... 2>&1 | cd go test ./pkg/... | "
        "go test ./p… | retain_live(messages, excluded)"
    ).split(" | "),
    "quotation": (
        "Never push to main | never push to main, and keep | keep the API stable. | "
        "Never push … the API stable | quoted words here | push to main, and ke… | It's postgresql on"
    ).split(" | "),
    "name": ["Postgres", "Alice", "Alice O'Neil", "Alice's", "GitHub", "Python"],
    "date": ["2026-03-03", "March 3rd", "3 Mar 2026", "3. März", "14:05"],
}
UNSUPPORTED = {
    "path": (
        "other/strategy.go pkg/strategy.go x/pkg/context/strategy.go trategy.go strategy.g "
        "ontext/strategy.go strategy.py /pkg/context/strategy.go"
    ).split(),
    "identifier": "retain live retain_lively Retain_live a1b2c3e Row.drop --tail test-util keep_…".split(),
    "number": ["1,347", "346", "0.5 ms", "5 s", "45 s", "89", "3.12", "3.11.5", "97", "14", "03", "46 %"],
    "error": ["ValueError", "exit status 3", "exit 88", "HTTP 500"],
    "command": ["go build ./pkg/...", "go test ./cmd/...", "tail go", "make lint"],
    "quotation": [
        "Never push to master",
        "push never to main",
        "keep the API … push to main",
        "quoted word",
        "ever push to",
    ],
    "name": ["Bob", "Alice Miller", "MySQL", "Lice"],
    "date": ["2026-03-04", "March 4th", "3 Mar 2025", "15:05", "Friday"],
}


def rows(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(kind, text) for kind, texts in table.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), rows(SUPPORTED))
def test_it_stands_there(kind: ClaimKind, text: str) -> None:
    assert SourceIndex(SOURCES).supports(TextClaim(kind, text))


@pytest.mark.parametrize(("kind", "text"), rows(UNSUPPORTED))
def test_it_does_not_stand_there(kind: ClaimKind, text: str) -> None:
    assert not SourceIndex(SOURCES).supports(TextClaim(kind, text))


def test_two_names_with_a_slash_between_them_are_two_names() -> None:
    sources = SourceIndex(["I call GitStore.WriteTemporary and s.WriteTemporaryTask(x).", "edited go.mod, then go.sum"])
    for told in ("GitStore.WriteTemporary/WriteTemporaryTask", "go.mod/go.sum"):
        assert sources.supports(TextClaim("path", told))
    for told in ("go.mod/go.work", "GitStore.WriteTemporary/WriteTemporaryBlob", "cmd/go.sum"):
        assert not sources.supports(TextClaim("path", told))


def test_alternatives_with_slashes_between_them_are_no_path() -> None:
    sources = SourceIndex(
        [
            "edited pkg/ids/id.go and pkg/ids/id_test.go",
            "Merge or squash: no commit. A branch without a tree.",
            "src/core/util.py",
        ]
    )
    for told in ("id.go/id_test.go", "merge/squash/commit", "branch/commit/tree", "_test.go"):
        assert sources.supports(TextClaim("path", told))
    for told in ("id.go/id_bench.go", "merge/squash/rebase", "src/core/util", "branch/core/tree", "_bench.go"):
        assert not sources.supports(TextClaim("path", told))


def test_a_file_stands_where_it_was_moved_to() -> None:
    index = SourceIndex(["mkdir -p notes/new && mv notes/old/plan.md notes/new/ && ls lib/", "cp -r a/x.py b"])
    assert index.supports(TextClaim("path", "notes/new/plan.md"))
    assert index.supports(TextClaim("path", "b/x.py"))
    assert not index.supports(TextClaim("path", "lib/plan.md"))
    assert not index.supports(TextClaim("path", "notes/new/other.md"))


def test_the_common_beginning_of_tests_is_the_name_of_what_runs_them() -> None:
    sources = SourceIndex(["func TestLedger_Empty(t *testing.T)", "func TestLedger_Long(t *testing.T)"])
    for kind in ("identifier", "error"):
        assert sources.supports(TextClaim(kind, "TestLedger"))
        assert not sources.supports(TextClaim(kind, "TestLedge"))
    for told in ("TestLedger_", "TestLedge_"):  # As in `TestLedger_*`.
        assert sources.supports(TextClaim("name", told)) == (told == "TestLedger_")


def test_the_rest_of_a_test_is_named_behind_the_name_of_its_family() -> None:
    sources = SourceIndex(
        ["func TestClean_PartialFailure(t *testing.T)", "func TestClean_Mixed_Preview()", "row_keeper"]
    )
    assert sources.supports(TextClaim("error", "PartialFailure"))
    assert sources.supports(TextClaim("identifier", "Mixed_Preview"))
    for told in ("TotalFailure", "Preview_Mixed", "keeper"):
        assert not sources.supports(TextClaim("identifier", told))


def test_the_rest_of_a_longer_name_and_the_plural_of_one_are_names_that_stand_there() -> None:
    sources = SourceIndex(["SubmitWithOutput and SubmitWithResponse take a SaveContext", "TestLedger_EmptyBatch"])
    for told in ("WithResponse", "EmptyBatch", "SaveContexts"):
        assert sources.supports(TextClaim("identifier", told))
    for told in ("WithRequest", "EmptyBatches", "LoadContexts", "SubmitWith"):
        assert not sources.supports(TextClaim("identifier", told))


def test_a_shortened_list_of_names_is_of_names_that_stand_there() -> None:
    sources = SourceIndex(["scripts/test-tide-table-second.sh, tide_table_hooks.go and tide_table_suffix_test.go"])
    for told in ("table-third.sh", "able-second.sh", "second.sh/table"):
        assert not sources.supports(TextClaim("path", told))
    for told in (
        "tide_table_",
        "suffix_test",
        "tide_table_suffix",
    ):  # As in `tide_table_ hooks, suffix_test`.
        assert sources.supports(TextClaim("identifier", told))
    for told in ("tide_tab_", "tide_tab", "uffix_test", "tide_suffix"):
        assert not sources.supports(TextClaim("identifier", told))


def test_colours_of_an_output_are_no_part_of_its_words() -> None:
    sources = SourceIndex(["\x1b[0;31mERROR: the tide\x1b[0m is [0;32mhigh[0m", r"\u001b[1mrow 41\u001b[0m"])
    assert sources.supports(TextClaim("quotation", "ERROR: the tide is high"))
    assert sources.supports(TextClaim("quotation", "row 41"))


def test_a_quotation_is_not_put_together_from_two_texts() -> None:
    evidence = SourceIndex(["never push", "to main again"])
    assert not evidence.supports(TextClaim("quotation", "never push … to main"))
    assert not evidence.supports(TextClaim("quotation", "never push to main"))
    assert not evidence.supports(TextClaim("command", "never push to main"))


def test_nothing_supports_nothing() -> None:
    assert not SourceIndex([]).supports(TextClaim("path", "a.py"))


def test_the_numbers_of_shown_lines_are_evidence_for_lines_alone() -> None:
    shown = SourceIndex(["\n".join(f"    {number}→def row_{number}():" for number in range(20, 40)), "7\tsrc/a.py"])
    assert shown.supports(TextClaim("number", "line 33"))
    assert not shown.supports(TextClaim("number", "33"))
    assert not shown.supports(TextClaim("number", "line 43"))
    assert shown.supports(TextClaim("number", "7"))


def test_a_quotation_may_reach_over_several_numbered_lines() -> None:
    shown = SourceIndex(["   8\t// The tide is\n   9\t// high at noon.\n  10\tdef tide(): ...", "1 moon"])
    assert shown.supports(TextClaim("quotation", "The tide is high at noon"))
    assert not shown.supports(TextClaim("quotation", "The tide is 9 high at noon"))


@pytest.mark.parametrize(
    ("told", "source"), [("Fridays", "No work on Fridays."), ("Friday", "on Fridays"), ("Fridays", "Fri")]
)
def test_a_day_of_the_week_is_found_however_it_is_written(told: str, source: str) -> None:
    assert SourceIndex([source]).supports(TextClaim("date", told))
    assert not SourceIndex(["on Mondays"]).supports(TextClaim("date", told))


@pytest.mark.parametrize(
    ("claimed", "stands"),
    [
        ("`sed -i '<from>,<to>d'`", True),
        ("`sed -i '<n>a\\…'`", True),
        ("“Applied edit to <file>”", True),
        ("`sed -n '<from>,<to>p'`", False),
        ("`rm -rf <folder>`", False),
        ("“The edit of <file> was refused”", False),
    ],
)
def test_what_varies_may_stand_in_angle_brackets_and_all_else_as_it_was(claimed: str, stands: bool) -> None:
    done = ["sed -i '225,312d' reports.py", "sed -i '228a\\  pass' reports.py", "Applied edit to reports.py."]
    assert (check_text(claimed, SourceIndex(done)) == []) is stands


def test_a_flag_stands_where_a_program_registers_it_without_its_dashes() -> None:
    sources = SourceIndex(['flags.Bool("moon-phase", false, "show the moon")', "a low-water mark, and `--tide`"])
    for told, stands in (("--moon-phase", True), ("--tide", True), ("--low-water", False), ("-moon-phase", False)):
        assert sources.supports(TextClaim("identifier", told)) is stands
