"""Words in other scripts: combining marks belong to their word, whatever stands beside it."""

from __future__ import annotations

import unicodedata

import pytest

from ireneo.language.words import terms

SPACED = [*range(0x300, 0xE00), *range(0x1AB0, 0x3000), *range(0xA66F, 0xAC00), *range(0xFE20, 0xFE30)]
"""The blocks with combining marks whose scripts put spaces between words."""


def test_a_combining_mark_stays_in_its_word_beside_other_signs() -> None:
    marks = [chr(code) for code in SPACED if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    assert len(marks) > 500
    assert [hex(ord(each)) for each in marks if len(terms(f"“k{each}r” …")) != 1] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [("“run the tests” – 5 €", ["run", "test", "5"]), ("“हिन्दी”", ["हिन्दी"]), ("„über’s Café“", ["über", "café"])],
)
def test_quotation_marks_end_a_word(text: str, found: list[str]) -> None:
    assert terms(text) == found
