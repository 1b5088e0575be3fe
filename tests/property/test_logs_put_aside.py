"""A log whose lines are put aside is read as one that is held: the same nodes, the same head, the same faults."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times

from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.formats.logs.format import LoggedSession

from .test_logs_claude_code import encoded, parents, read, rubbish, turns


class Shelf:
    """A spool in memory that counts what is put into it."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def keep(self, text: bytes) -> int:
        self.kept.append(text)
        return len(self.kept) - 1

    def read(self, place: int) -> bytes:
        return self.kept[place]


def read_aside(lines: Sequence[bytes], held_bytes: int) -> tuple[list[LoggedSession], Shelf]:
    shelf = Shelf()
    return [session.whole() for session in ClaudeCode(held_bytes).grow(lines, "log", shelf)], shelf


@settings(deadline=None, max_examples=times(14))
@given(turns(), st.data())
def test_what_is_put_aside_comes_back_as_it_was(lines: list[dict[str, object]], data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        lines = data.draw(st.permutations(lines))
    wrong = data.draw(st.lists(parents, max_size=10))
    lines = [one | {"parentUuid": parent} for one, parent in zip(lines, wrong, strict=False)] + lines[len(wrong) :]
    aside = data.draw(st.sets(st.sampled_from([str(one["uuid"]) for one in lines]), max_size=3))
    mixed = encoded([one | {"isSidechain": one["uuid"] in aside} for one in lines])
    again = data.draw(st.lists(st.sampled_from(mixed), max_size=3))
    mixed[0] += b' {"type": "summary"}'
    mixed = [*data.draw(st.lists(rubbish, max_size=2)), *mixed, *again]
    held = read(mixed)
    all_aside, shelf = read_aside(mixed, 0)
    assert all_aside == held
    assert len(shelf.kept) > len(lines) // 2
    assert read_aside(mixed, data.draw(st.integers(0, sum(map(len, mixed)))))[0] == held


def test_a_small_log_is_held() -> None:
    line = b'{"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hello"}}\n'
    (session,), shelf = read_aside([line], len(line))
    assert (len(session.nodes), shelf.kept) == (1, [])
    _, shelf = read_aside([line], len(line) - 1)
    assert shelf.kept == [line]
