"""The numbers of documents."""

from __future__ import annotations

import pytest

from ireneo.memories import index as of


def test_a_number_holds_what_it_was_made_of() -> None:
    number = of.document_number(77, 5, 40, of.ASSISTANT)
    assert (of.session_of(number), of.role_of(number)) == (77, of.ASSISTANT)
    assert of.length_of(number) == pytest.approx(40, rel=0.15)
    assert of.place_of(of.document_number(77, 6, 9_000, of.USER)) == of.place_of(number) + 1
    first, last = of.number_range(of.place_of(number))
    assert first <= number <= last
    assert last + 1 == of.number_range(of.place_of(number) + 1)[0]


def test_the_largest_number_fits_a_key_of_a_row() -> None:
    assert of.document_number(of.MOST_SESSIONS - 1, of.MOST_IN_SESSION - 1, 10**9, of.OTHER) < 2**63


@pytest.mark.parametrize(("session", "ordinal"), [(-1, 0), (of.MOST_SESSIONS, 0), (0, -1), (0, of.MOST_IN_SESSION)])
def test_what_does_not_fit_is_refused(session: int, ordinal: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        of.document_number(session, ordinal, 1, of.USER)


def test_lengths_rise_with_their_classes() -> None:
    classes = [of.length_class(terms) for terms in range(6_000)]
    assert classes == sorted(classes)
    assert (classes[0], classes[-1]) == (0, 31)
    assert list(of.LENGTHS) == sorted(of.LENGTHS)
