"""A message in less room: what is left out is said, counted, and can be opened."""

from __future__ import annotations

import re

import pytest

import ireneo
from ireneo import Draft, Message
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.shorten import divide_room, excerpt, fit, mask, shorten, without_thinking
from ireneo.log.message import Call, Media, Part, Result, Role, Text, Thinking, chain, count_parts, short

count = EstimatedTokenizer().count
LONG = "\n".join(f"Line {number} reads value_{number} from src/part_{number}.py" for number in range(400))
PICTURE = Media(media_type="image/png", data="iVBORw0KGgo" * 500)


def message(role: Role, *parts: Part) -> Message:
    return chain(None, [Draft(role=role, parts=parts)], lambda given: count_parts(given, count))[0]


def size(draft: Draft) -> int:
    return count_parts(draft.parts, count)[0]


@pytest.mark.parametrize("tokens", [24, 60, 200, 1_000, 4_000])
def test_a_long_text_is_cut_to_its_share_with_its_head_and_tail(tokens: int) -> None:
    cut = shorten(LONG, tokens, "m_abcdefg", count)
    assert cut is not None
    assert count(cut.text()) <= tokens
    assert LONG.startswith(cut.head)
    assert LONG.endswith(cut.tail)
    assert len(cut.head) >= len(cut.tail)
    assert cut.head or tokens < 40


def test_the_mark_says_how_much_is_left_out_and_how_to_open_it() -> None:
    cut = shorten(LONG, 100, "m_abcdefg", count)
    assert cut is not None
    (mark,) = [line for line in cut.text().splitlines() if line.startswith("[…")]
    assert mark == f"[… {cut.left_out_tokens:,} tokens left out · open with m_abcdefg …]"
    left_out = LONG.removeprefix(cut.head).removesuffix(cut.tail)
    assert abs(cut.left_out_tokens - count(left_out)) < count(LONG) * 0.05


TELLING = [
    "def keep_row(row, limit=40): # keeps a row",
    "src/rows.py:88: error: row 41 was not found",
    "The importer skips the last row because the slice leaves it out, and nobody asked for that.",
    "--- PASS: TestEveryRowIsKept",
]
OUTPUT = "\n".join(
    [f"step {number} ..." for number in range(300)] + TELLING + [f"pause {number} ..." for number in range(300)]
)


@pytest.mark.parametrize("tokens", [160, 300, 1_000])
def test_of_a_long_output_the_telling_lines_stand_between_its_head_and_tail(tokens: int) -> None:
    cut = excerpt(OUTPUT, tokens, "m_abcdefg", count)
    assert cut is not None
    assert count(cut) <= tokens * 1.1
    lines = cut.splitlines()
    assert (lines[0], lines[-1]) == ("step 0 ...", "pause 299 ...")
    assert [line for line in lines if line in TELLING] == TELLING, "in order, each once"
    (mark,) = [line for line in lines if line.startswith("[…")]
    assert lines.index(mark) < lines.index(TELLING[0])
    found = re.fullmatch(r"\[… ([\d,]+) tokens left out in all · open with m_abcdefg …\]", mark)
    assert found
    assert abs(int(found[1].replace(",", "")) - (count(OUTPUT) - count(cut))) < 40


def test_of_a_long_message_of_a_user_rules_are_shown_rather_than_examples() -> None:
    rules = ["- short names, not long ones", "- one exit where possible (guards are fine)"]
    diff = [f"+row_{number} = read({number})" for number in range(90)]
    example = ["```", *(f"  Line {number}: ✅ Good - the row is read once" for number in range(40)), "```"]
    asked = "\n".join(["Look at this change.", *diff, "Pay attention to:", *rules, *example, "Say what to mend."])
    cut = fit(message("user", Text(text=asked)), 160, count).draft.text
    assert all(rule in cut for rule in rules)
    assert "✅" not in cut
    assert "row_40" not in cut


def test_what_stands_in_an_excerpt_stands_in_its_text_in_that_order() -> None:
    cut = excerpt(OUTPUT, 200, "m_abcdefg", count)
    assert cut is not None
    at = 0
    for line in cut.splitlines():
        if line != "…" and not line.startswith("[…"):
            at = OUTPUT.index(line, at) + len(line)


def test_what_a_harness_hung_on_an_output_goes_first() -> None:
    reminder = f"<system-reminder>{'Be careful with this file. ' * 200}</system-reminder>"
    said, mark = OUTPUT[:200], "tokens left out · open with m_abcdefg …]"
    alone = excerpt(f"{said}\n{reminder}", 200, "m_abcdefg", count)
    assert alone is not None
    assert alone.startswith(f"{said}\n[… ")
    assert alone.endswith(mark)
    assert alone.count("\n") == said.count("\n") + 1
    cut = excerpt(f"{OUTPUT}\n{reminder}", 200, "m_abcdefg", count)
    assert cut is not None
    assert "careful" not in cut
    assert cut.endswith("pause 299 ...")


def test_an_output_of_few_lines_is_cut_in_its_midst_and_a_short_one_not_at_all() -> None:
    few = "\n".join(["word " * 300, "word " * 300])
    cut = excerpt(few, 100, "m_abcdefg", count)
    assert cut is not None
    assert cut.count("\n…\n") == 0
    assert count(cut) <= 100
    assert excerpt("Just this.", 24, "m_abcdefg", count) is None


@pytest.mark.parametrize(("before", "behind"), [("<issue_text>", "</issue_text>"), ("ISSUE:", "HOW TO WORK:")])
def test_of_a_prompt_from_a_template_the_task_is_kept_before_the_rest(before: str, behind: str) -> None:
    rules = [f"{n}. Take care of step {n} of the work, and look at what it gives before you go on." for n in range(40)]
    task = [
        "Gauges drift after a restart",
        "",
        "The gauge shows the level of the tank before it, since `restore` reads the ring from its start.",
        "It happens on boards of the second series alone.",
    ]
    asked = "\n".join(["You get a repository.", before, *task, behind, *rules, "Begin now."])
    cut = excerpt(asked, 140, "m_abcdefg", count, asked=True)
    assert cut is not None
    assert all(line in cut for line in task)
    assert "Begin now." in cut


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_cut_within_code_closes_the_block_and_opens_it_again(fence: str) -> None:
    code = "\n".join(f"keep(row_{number})" for number in range(200))
    text = f"Before.\n{fence}go\n{code}\n{fence}\nBehind."
    for cut in (excerpt(text, 100, "m_abcdefg", count), excerpt(text.replace("\n", " \n", 3), 60, "m_abcdefg", count)):
        assert cut is not None
        lines = [line.strip() for line in cut.splitlines()]
        (mark,) = [place for place, line in enumerate(lines) if line.startswith("[…")]
        fences = [place for place, line in enumerate(lines) if line.startswith(fence)]
        assert len(fences) == 4, cut
        assert fences[1] < mark < fences[2]
    prose_between = excerpt(
        f"{fence}\nx\n{fence}\n{'Said at length. ' * 400}\n{fence}\ny\n{fence}", 100, "m_abcdefg", count
    )
    assert prose_between is not None
    assert prose_between.count(fence) == 4


def test_what_fits_is_not_cut() -> None:
    assert shorten("Just this.", 24, "m_abcdefg", count) is None


@pytest.mark.parametrize("text", ["x" * 90_000, "é" * 30_000, "1" * 20_000, "\n" * 20_000, "= " * 20_000])
def test_texts_without_words_are_cut_as_well(text: str) -> None:
    cut = shorten(text, 60, "m_abcdefg", count)
    assert cut is None or count(cut.text()) <= 70


def test_shares_go_to_the_short_ones_whole_and_to_the_long_ones_alike() -> None:
    assert divide_room([10, 500, 20, 900], 230, floor=5) == [10, 100, 20, 100]
    assert divide_room([10, 20], 100, floor=5) == [10, 20]
    assert divide_room([100, 100], 10, floor=24) == [24, 24]
    assert divide_room([], 10, floor=5) == []


FITTED = {
    "a text": message("user", Text(text=LONG)),
    "a call": message("assistant", Call(id="1", name="write", arguments={"path": "a.py", "content": LONG})),
    "a call that is no JSON": message("assistant", Call(id="1", name="write", arguments=LONG)),
    "a result": message("tool", Result(call_id="1", parts=(Text(text=LONG),), failed=True)),
    "a result with a picture": message("tool", Result(call_id="1", parts=(Text(text=LONG), PICTURE))),
    "a picture": message("user", Text(text="Look."), PICTURE),
}
each_fitted = pytest.mark.parametrize("given", FITTED.values(), ids=FITTED.keys())


@each_fitted
def test_a_message_in_less_room_names_itself_and_holds_its_share(given: Message) -> None:
    fitted = fit(given, 200, count)
    assert not fitted.whole
    draft = fitted.draft
    assert size(draft) <= 230
    assert f"open with {short(given.id)}" in str(draft.parts)
    assert draft.role == given.role
    assert [call.id for call in draft.calls] == [call.id for call in given.draft.calls]
    assert [(each.call_id, each.failed) for each in draft.results] == [
        (each.call_id, each.failed) for each in given.draft.results
    ]


@each_fitted
def test_fitting_is_pure_and_a_wide_room_changes_nothing(given: Message) -> None:
    before = given.parts
    fitted = fit(given, 200, count)
    assert fitted == fit(given, 200, count)
    assert given.parts == before
    whole = fit(given, 1_000_000, count)
    assert whole.whole
    assert whole.draft.parts == before


def test_a_masked_output_says_what_it_was_and_its_size_and_how_to_open_it() -> None:
    call = Call(id="1", name="bash", arguments={"command": "pytest -q tests"})
    given = FITTED["a result"]
    fitted = mask(given, {"1": call}, count)
    masked = fitted.draft.results[0]
    assert "pytest -q tests" in masked.text
    assert f"{count(LONG):,} tokens" in masked.text
    assert f"open with {short(given.id)}" in masked.text
    assert masked.failed
    assert "\n" not in masked.text


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        ("FAILED tests/test_rows.py::test_age - KeyError: age", "KeyError: age"),
        ("12 passed in 0.31s", "12 passed in 0.31s"),
    ],
)
def test_a_masked_check_says_how_it_ended(ended: str, said: str) -> None:
    call = Call(id="1", name="Bash", arguments={"command": "pytest -q tests"})
    output = "\n".join([*(f"collected row {number} of the ledger" for number in range(40)), ended])
    given = message("tool", Result(call_id="1", parts=(Text(text=output),)))
    assert said in mask(given, {"1": call}, count).draft.results[0].text


def test_of_a_diff_the_changed_lines_are_shown_first() -> None:
    around = [f" row_{number} = read(path_{number})" for number in range(60)]
    diff = "\n".join(
        ["diff --git a/rows.py b/rows.py", "@@ -1,60 +1,61 @@", *around[:30], "+rows.sort()", *around[30:]]
    )
    assert "+rows.sort()" in (excerpt(diff, 160, "m_1", count) or "")


def test_a_masked_picture_leaves_its_kind() -> None:
    given = message("tool", Result(call_id="1", parts=(PICTURE,)))
    assert "image/png" in mask(given, {}, count).draft.results[0].text


def test_a_short_output_is_not_masked_and_words_never_are() -> None:
    brief = message("tool", Result(call_id="1", parts=(Text(text="ok"),)))
    assert mask(brief, {}, count).whole
    assert mask(FITTED["a text"], {}, count).whole


def test_thinking_goes_whole_or_stays_as_it_was() -> None:
    thought = Thinking(text=LONG, signature="c2ln")
    given = message("assistant", thought, Text(text="So it is."))
    assert without_thinking(given.draft).parts == (Text(text="So it is."),)
    assert fit(given, 100, count).draft.parts == (Text(text="So it is."),)
    assert given.parts[0] is thought


@pytest.mark.parametrize("budget", range(256, 1300, 80))
def test_of_the_question_to_be_answered_the_first_and_the_last_line_are_shown(budget: int) -> None:
    history = [
        {"role": role, "content": f"{role} {number}: {words * 12}"}
        for number in range(12)
        for role, words in (("user", "What about the pump? "), ("assistant", "It fills the upper tank again. "))
    ]
    log = [f"2026-03-{day % 28 + 1:02d} pump {day % 7} moved {day * 7919 % 10007} litres" for day in range(500)]
    asked = "\n".join(["Here is the log of the pumps:", *log, "", "Which of them leaks?"])
    cut = ireneo.compact([*history, {"role": "user", "content": asked}], budget=budget)
    shown = str(cut.messages[-1]["content"])
    assert shown.startswith("Here is the log of the pumps:")
    assert shown.endswith("Which of them leaks?")
