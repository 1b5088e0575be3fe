"""What a user chose by its number is told in the words of the list that it answers."""

from __future__ import annotations

import pytest

import ireneo

OFFER = """There are three ways to keep the ledger.

Which of them do you want?

1. **One file** - simple, and slow from a million rows
2. **A file a month**: old months can be put away
3. Leave it as it is

I lean towards the second."""


def told(answer: str, offer: str = OFFER) -> str:
    """The blocks of a conversation in which `answer` follows the offer, and much work follows the answer."""
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "The ledger has become slow. What can we do?"},
        {"role": "assistant", "content": offer},
        {"role": "user", "content": answer},
    ]
    for number in range(16):
        messages.append({"role": "assistant", "content": f"Row {number} of the ledger was moved to its month. " * 12})
        messages.append({"role": "user", "content": f"Go on with row {number + 1}, and tell me what became of it."})
    cut = ireneo.compact(messages, 900)
    return "\n".join(row.text for row in (*cut.pins, *cut.view) if row.what in ("summary", "pins"))


@pytest.mark.parametrize(
    "answer",
    ["2", "2.", "let's do 2 for now", "ok, option 2", "Yes, go with number 2, but keep the old file", "I'd take 2"],
)
def test_a_number_is_told_with_what_it_stands_for(answer: str) -> None:
    blocks = told(answer)
    chosen = "- I asked: “Which of them do you want?” The user chose 2: A file a month: old months can be put away"
    # What binds stands once, as a pin, and a mere number isn't told beside what it stands for.
    said_alone = answer.rstrip(".")[-1] == "2" or f"\n- {answer}" in blocks
    assert f"{chosen}\n" in blocks if said_alone else f"{chosen}: “{answer}”\n" in blocks
    assert "a million rows" not in blocks, "what was not chosen is settled"


def test_a_short_answer_is_told_with_the_option_that_it_chose() -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Look at the ledger and say what could be done."}]
    for number in range(12):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "a.py"}'},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"row {number} of it\n" * 60})
    question = "There are two ways:\n\n1. Split the ledger\n2. Leave it as it is\n\nWhich of them do you want?"
    messages += [{"role": "assistant", "content": question}, {"role": "user", "content": "2"}]
    for number in range(12, 20):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "b.py"}'},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"row {number} of it\n" * 60})
    blocks = "\n".join(row.text for row in ireneo.compact(messages, 900).view if row.what == "summary")
    assert "The user chose 2: Leave it as it is" in blocks


def test_several_may_be_chosen() -> None:
    chosen = "The user chose 1: One file - simple, and slow from a million rows; 3: Leave it as it is"
    for answer in ("1 and 3", "1+3", "1, 3 please"):
        assert chosen in told(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "2 files are missing in it",
        "1. The ledger is slow 2. The tests fail",
        "7",
        "2.5 seconds is too long",
        "Why is 2 better?",
    ],
)
def test_other_numbers_choose_nothing(answer: str) -> None:
    assert "The user chose" not in told(answer)


def test_without_a_list_a_number_is_only_what_was_said() -> None:
    blocks = told("2", "There are several ways to keep the ledger. Shall I look at how others do it?")
    assert "- Asked “Shall I look at how others do it?”, the user said: “2”" in blocks
    assert "The user chose" not in blocks


HEADED = """Here is what could be done.

## Option 1: Ask at every row
1. Show the row
2. Wait for a key

## Option 2: Tell it once (recommended)
Instead of a question, show a **notice** at the first row.

- It waits for nobody

## Option 3: Say nothing
- Whoever looks finds it in the manual

---

**My recommendation: Option 2** - it disturbs nobody."""


@pytest.mark.parametrize("answer", ["let's implement options 2", "Option 2", "great, I want to go with option 2!", "2"])
def test_an_option_with_a_text_of_its_own_is_told_with_it(answer: str) -> None:
    blocks = told(answer, HEADED)
    said = "Tell it once (recommended): Instead of a question, show a notice at the first row."
    assert f"The user chose 2: {said}" in blocks


@pytest.mark.parametrize("answer", ["B", "option b", "let's go with option B for now", "I'd prefer B."])
def test_a_letter_is_told_with_what_it_stands_for(answer: str) -> None:
    offer = "Two ways:\n\n- **Option A** - one file\n- **Option B**: a file a month\n\nWhich one?"
    assert "The user chose B: a file a month" in told(answer, offer.replace("A** - one", "A**: one"))
    assert "The user chose B: a file a month" in told(
        answer, "Two ways:\n\nA) one file\nB) a file a month\n\nWhich one?"
    )


@pytest.mark.parametrize("answer", ["I think B, it leaves us room", "B - but begin in May", "B. is fine, log it", "B"])
def test_an_option_in_a_table_is_told_with_its_other_cells(answer: str) -> None:
    rows = "| **A. One file** | Easy to find. It grows for ever. |\n| **B. A file a month** | Small, but many. |"
    blocks = told(answer, f"How is the ledger kept?\n\n| Option | What it means |\n|---|---|\n{rows}\n\nWhich one?")
    assert "The user chose B: A file a month — Small, but many" in blocks


@pytest.mark.parametrize("answer", ["a bit more of it, please", "I'd say that is good", "do a file a day"])
def test_a_letter_within_words_chooses_nothing(answer: str) -> None:
    assert "The user chose" not in told(answer, "Two ways:\n\nA) one file\nB) a file a month\n\nWhich one?")


def work(*paths: str) -> list[dict[str, object]]:
    """Reads of files, each with its output."""
    out: list[dict[str, object]] = []
    for path in paths:
        function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
        call = {"id": path, "type": "function", "function": function}
        out.append({"role": "assistant", "content": None, "tool_calls": [call]})
        out.append({"role": "tool", "tool_call_id": path, "content": f"row of {path}\n" * 60})
    return out


@pytest.mark.parametrize(
    ("answer", "told_before"),
    [
        ("the second", True),
        ("Leave it as it is for now, and write down what it would take to split it, as I want to ask the owner", False),
    ],
)
def test_a_question_that_was_answered_stands_before_a_short_answer_and_never_behind_one(
    answer: str, told_before: bool
) -> None:
    messages = [
        {"role": "user", "content": "Look at the ledger and say what could be done."},
        *work(*(f"a{number}.py" for number in range(12))),
        {"role": "assistant", "content": "Should the ledger be split, or shall it stay?"},
        {"role": "user", "content": answer},
        *work(*(f"b{number}.py" for number in range(12))),
    ]
    texts = [str(message["content"]) for message in ireneo.compact(messages, 1_500).messages]
    place = next(number for number, text in enumerate(texts) if text.startswith(answer))
    assert not any("I asked: " in text for text in texts[place:])
    assert any("I asked: Should the ledger be split" in text for text in texts[:place]) == told_before


@pytest.mark.parametrize("answer", ["please fix 1 and 3", "Looks right. Address #1, #3 first.", "do points 1 & 3"])
def test_items_that_the_user_names_by_number_are_told(answer: str) -> None:
    blocks = told(answer)
    assert "I listed 1: One file - simple, and slow from a million rows; 3: Leave it as it is" in blocks


def test_a_number_that_counts_something_names_no_item() -> None:
    assert "I listed" not in told("please fix 3 files in the ledger by 2 o'clock, with 1.5 rows each")


@pytest.mark.parametrize("answer", ["2. from what I saw in the old ledger", "2) - it should name the month, yeah?"])
def test_an_answer_that_begins_like_a_list_chooses(answer: str) -> None:
    assert f"The user chose 2: A file a month: old months can be put away: “{answer}”" in told(answer)


def test_several_answers_in_a_list_choose_nothing() -> None:
    assert "The user chose" not in told("1. yes, as it is 2. no, the months stay")
    assert "The user chose" not in told("1. the lint fails", "I did this:\n\n1. Split the ledger\n2. Ran the lint")
