"""Words as they are searched."""

from __future__ import annotations

import pytest

from ireneo.language.words import LONGEST, author_term, document_terms, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hiking", "hikes"),
        ("She went", "going"),
        ("bought", "buy"),
        ("the children’s", "child"),
        ("Caroline's", "CAROLINE"),
        ("photographs", "photo"),
        ("ran", "running"),
        ("STRASSE", "straße"),
        ("ﬁne", "fine"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    "text", ["", "   ", "...", "What did they do?", "I don't, I'm not, you're", "Yes, thanks!", "😀"]
)
def test_what_says_nothing_has_no_terms(text: str) -> None:
    assert terms(text) == []


def test_numbers_and_names_stay() -> None:
    assert terms("Flight BA2490 at 7:45 for $1,200") == ["flight", "ba2490", "7", "45", "1", "200"]


def test_terms_keep_their_order_and_number() -> None:
    assert terms("tea, coffee and tea") == ["tea", "coffe", "tea"]


def test_writing_without_spaces_is_read_in_pairs() -> None:
    assert terms("昨天去了北京 today") == ["昨天", "天去", "去了", "了北", "北京", "today"]
    assert terms("京") == ["京"]
    assert set(terms("北京")) <= set(terms("我去北京了"))


def test_other_languages_keep_their_words_whole() -> None:
    assert terms("Die Häuser über dem Fluss") == ["die", "häuser", "über", "dem", "fluss"]
    assert terms("Мы пошли домой") == ["мы", "пошли", "домой"]
    assert terms("मैं हिन्दी बोलता हूँ") == ["मैं", "हिन्दी", "बोलता", "हूँ"]


def test_an_accent_is_one_letter_however_it_is_written() -> None:
    assert terms("cafe\u0301") == terms("caf\u00e9")


def test_what_is_endless_is_cut() -> None:
    assert [len(term) for term in terms("x" * 5_000)] == [LONGEST]


def test_an_author_is_a_term_that_no_text_has() -> None:
    assert author_term("Mary  Jane") == author_term("mary jane") == "@mary jane"
    assert "@caroline" not in terms("@Caroline came")
    assert document_terms("A kiln!", "Caroline") == ["kiln", "@caroline"]
    assert document_terms("A kiln!") == ["kiln"]
