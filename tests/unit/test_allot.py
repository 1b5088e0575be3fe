"""What a context shows of its blocks: the statements that answer most for their cost, each once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.allot import Allotter, LineOffer, PricedLine, Statements, without_pinned
from ireneo.summaries.summary import ANSWERS, Choice, Line, SectionName

count = EstimatedTokenizer().count
STATEMENTS = Statements(count)
Said = tuple[SectionName, Line]


def offer(*lines: Said, limit: int | None = None) -> LineOffer:
    return LineOffer(
        statements=tuple(STATEMENTS.price(section, line) for section, line in lines),
        limit=limit,
    )


def found(text: str, weight: float = 4.0, position: int = 50) -> Said:
    return "discoveries", Line(text=text, weight=weight, position=position)


def told(*lines: Said) -> list[PricedLine]:
    return list(offer(*lines).statements)


def chosen(offers: Sequence[LineOffer], room: int, standing: Sequence[str] = ()) -> Sequence[Choice]:
    allotter = Allotter(offers, room, STATEMENTS, standing=standing)
    assert allotter.fill(room) <= room
    return allotter.choices()


def texts(choice: Choice) -> list[str]:
    return [line.text for lines in choice.values() for line, _ in lines]


ROW = "The slice drops the last row of the night's file."
TIDE = "The tide table is read twice by the old export."


def test_a_statement_stands_once_in_whichever_block_says_it() -> None:
    both = chosen([offer(found(ROW), found(TIDE)), offer(found(ROW))], 500)
    assert sorted(text for choice in both for text in texts(choice)) == sorted([ROW, TIDE])


def test_the_best_statement_comes_first_and_the_next_where_there_is_room() -> None:
    offers = [offer(found(TIDE, 2.0), found(ROW, 8.0))]
    alone = count(f"- {ROW}") + 2
    assert texts(chosen(offers, alone)[0]) == [ROW]
    assert texts(chosen(offers, 4 * alone)[0]) == [TIDE, ROW], "in their order"
    assert texts(chosen(offers, 4)[0]) == []


def test_a_few_words_do_not_go_first_for_being_cheap() -> None:
    whole = "The importer keeps the last row now, since the slice over the rows of a batch is closed at both ends."
    offers = [offer(found("All tests pass.", 1.2), found(whole, 2.4))]
    assert texts(chosen(offers, count(f"- {whole}") + 2)[0]) == [whole]


def test_a_sentence_that_a_dead_end_quotes_is_not_told_again() -> None:
    why = "Deferring loses batches when the process ends, so I put it back."
    tried = Line(text=f"I tried `commit_later()` — abandoned: {why}", weight=8.0, position=50)
    assert texts(chosen([offer(("dead_ends", tried), found(why))], 500)[0]) == [tried.text]


def test_what_is_said_already_is_worth_less_than_what_is_new() -> None:
    again = "The slice drops the last row of the file at night."
    room = 2 * count(f"- {TIDE}") + 6
    assert texts(chosen([offer(found(ROW), found(again), found(TIDE, 3.0))], room)[0]) == [ROW, TIDE]


def test_no_block_is_given_more_than_its_own_limit() -> None:
    lines = [found(f"The row number {number} is one of the night's file.") for number in range(20)]
    first, second = chosen([offer(*lines[:10], limit=40), offer(*lines[10:])], 1_000)
    assert 0 < sum(count(f"- {text}") + 1 for text in texts(first)) <= 40
    assert len(texts(second)) == 10


@calm(40)
@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["direction", "discoveries", "artifacts", "operations", "dead_ends", "status"]),
            st.text("abcdef ", min_size=1, max_size=60),
            st.floats(0.1, 10),
            st.integers(0, 50),
            st.sampled_from(["", "src/a.py", "src/b.py"]),
        ),
        max_size=30,
    ),
    room=st.integers(0, 300),
)
def test_nothing_goes_over_the_room(lines: list[tuple[str, str, float, int, str]], room: int) -> None:
    said = [
        (section, Line(text=text, weight=weight, position=position, subject=subject))
        for section, text, weight, position, subject in lines
    ]
    allotter = Allotter([offer(*said)], room, STATEMENTS)
    assert allotter.fill(room) <= room
    told = texts(allotter.choices()[0])
    assert len(told) == len(set(told))
    assert sum(count(text) for text in told) <= room


VALUES = """
from ireneo.context.allot import Allotter, LineOffer, Statements
from ireneo.summaries.summary import Line

words = [f"{chr(97 + k // 6)}{chr(97 + k % 6)}word" for k in range(60)]
said = [" ".join(word for k, word in enumerate(words) if n % (k + 1) < 2) for n in range(1, 60)]
priced = [Statements(len).price("discoveries", Line(text=text, weight=4.0)) for text in said]
allotter = Allotter([LineOffer(statements=tuple(priced))], 10_000, Statements(len))
print([allotter._value(place) for place in range(len(priced))])
"""


def test_a_value_is_the_same_in_every_process() -> None:
    """Sets of words are gone through in another order in each, and sums of floats depend on it."""
    values = {
        subprocess.run(
            [sys.executable, "-c", VALUES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(values) == 1


def test_a_block_that_would_say_nothing_says_what_fits() -> None:
    long = found(" ".join(f"The part {number} of the night is kept as it was." for number in range(8)), 6.0)
    acts = ("operations", Line(text="I read src/rows.py.", weight=0.1, position=50))
    filled = chosen(
        [offer(*(found(f"{ROW} It is number {n}.", 9.0) for n in range(20))), offer(long, acts, limit=60)], 300
    )
    assert texts(filled[1]) == ["I read src/rows.py."]


def test_the_words_of_a_pin_are_not_told_again_in_a_block() -> None:
    ruled: Said = ("direction", Line(text="Never drop a row.", weight=9.0))
    answered: Said = (
        "direction",
        Line(text="a file", subject="Where do rows go?", weight=9.0, verbs=((ANSWERS, 1),)),
    )
    pins = '[PINNED] Constraints\n- Never drop a row. · m_4k2\n- "Where do rows go?"="a file"'
    left = without_pinned(offer(ruled, answered, found(ROW)), pins)
    assert [each.line.text for each in left.statements] == [ROW]
    assert len(without_pinned(offer(ruled, found(ROW)), "- Never drop a row of the night.").statements) == 2
