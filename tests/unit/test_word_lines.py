"""Lines over the words of a sentence: which features it has, how they are weighed, and the files of weights."""

from __future__ import annotations

import pytest
from benchmarks.word_lines import format_models

from ireneo.language.word_lines import LinearModel, features, parse_models

LINES = "# Fitted.\n[debts]\n-100 @all @asks\n400 ~owe\n200 owe_@number @narrated\n\n[deaths]\n300 dead\n"


def test_words_stems_pairs_and_forms_are_features() -> None:
    found = features("He owes Holm crowns.")
    assert {"he", "owes", "~owe", "^_he", "he_owe", "owe_@name", "~crown", "@name_crown", "crown_$"} <= set(found.words)
    assert set(found.forms) == {"@length1", "@names1", "@one"}


def test_a_name_and_a_figure_stand_for_any() -> None:
    said = features("We met Anna Berg and her 3 brothers, but never I.")
    other = features("We met Clara and her 12 brothers, but never I.")
    assert said == other
    assert "holm" not in features("Holm is dead.", {"holm"}).words
    assert "holm" in features("Holm is dead.").words


@pytest.mark.parametrize(
    ("sentence", "form"),
    [
        ("Is he dead?”", "@asks"),
        ("He is dead!", "@cries"),
        ("He is—", "@breaks"),
        ("and he fell", "@small"),
        ("“He fell,” she said.", "@quotes"),
        ("They didn’t go.", "@denies"),
        ("I’ll go.", "@future"),
        ("She walked away.", "@past"),
        ("If she walks away.", "@supposes"),
    ],
)
def test_forms_of_a_whole_sentence(sentence: str, form: str) -> None:
    assert form in features(sentence).forms
    assert form not in features("He is dead.").forms


def test_the_value_is_the_sum_of_what_the_features_weigh() -> None:
    line = parse_models(LINES)["debts"]
    share = 1 / len(features("He owes 9.").words) ** 0.5
    assert len(features("He owes 9.").words) == 8
    assert line.value(features("He owes 9.")) == pytest.approx(-1 + (4 + 2) * share)
    assert line.value(features("Nobody came?")) == pytest.approx(-2)
    assert line.value(features("He came.").with_forms(["@narrated"])) == pytest.approx(1)


def test_in_a_long_sentence_a_word_weighs_less() -> None:
    line = LinearModel({"dead": 1.0})
    long = "He is dead, and all of us will have to go to town before the snow falls on the pass again."
    assert 0 < line.value(features(long)) < line.value(features("He is dead."))


def test_what_is_written_is_read_again() -> None:
    lines = parse_models(LINES)
    assert set(lines) == {"debts", "deaths"}
    assert parse_models(format_models(lines)) == lines
    assert "tiny" not in format_models({"debts": LinearModel({"tiny": 0.004, "~owe": 4.0})})
