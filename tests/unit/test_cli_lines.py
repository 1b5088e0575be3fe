"""A line that is too long is passed over and numbered; all others come as they are."""

from __future__ import annotations

import io

from ireneo.adapters.log_files import PIECE_BYTES, lines_of


def test_a_line_that_is_too_long_leaves_an_empty_one_in_its_place() -> None:
    long, longer = b"a" * (PIECE_BYTES + 7) + b"\n", b"b" * (3 * PIECE_BYTES) + b"\n"
    left_out: list[int] = []
    stream = io.BufferedReader(io.BytesIO(b"one\n" + longer + long + b"\n" + longer + b"last"))  # type: ignore[arg-type]
    found = list(lines_of(stream, left_out.append, 2 * PIECE_BYTES))
    assert found == [b"one\n", b"\n", long, b"\n", b"\n", b"last"]
    assert left_out == [2, 5]


def test_a_line_of_just_one_piece_is_whole() -> None:
    for text in (b"c" * PIECE_BYTES, b"c" * (PIECE_BYTES - 1) + b"\n", b"c" * PIECE_BYTES + b"\n"):
        left_out: list[int] = []
        assert list(lines_of(io.BytesIO(text + b"d"), left_out.append)) == (text + b"d").splitlines(keepends=True)
        assert left_out == []
