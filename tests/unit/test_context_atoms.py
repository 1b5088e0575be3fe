"""The smallest groups of messages that no cut may split."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo import Draft, Message
from ireneo.log.calls import atoms, incomplete_prefix
from ireneo.log.message import Call, Part, Result, Text, chain


def path(*script: str) -> list[Message]:
    """A path from words: `c1` calls, `r1` answers, `u` is the user, `i` the harness, `a` the assistant."""
    return chain(None, [draft(word) for word in script], lambda parts: (1, 0))


def draft(word: str) -> Draft:
    names = word.replace("c", " c").replace("r", " r").split()
    if word[0] == "c":
        return Draft(role="assistant", parts=tuple(Call(id=name[1:], name="run", arguments={}) for name in names))
    if word[0] == "s":
        call = Call(id=word[1:], name="search", arguments={}, server=True)
        return Draft(role="assistant", parts=(call,))
    if word[0] == "r":
        parts: tuple[Part, ...] = tuple(Result(call_id=name[1:], parts=(Text(text=name),)) for name in names)
        return Draft(role="tool", parts=parts)
    text = (Text(text=word),)
    if word[0] == "a":
        return Draft(role="assistant", parts=text)
    return Draft(role="user", parts=text, origin="injected" if word[0] == "i" else "spoken", joined=word[0] == "j")


def sizes(*script: str) -> list[int]:
    return [len(atom) for atom in atoms(path(*script))]


def torn_from(script: Sequence[str], start: int) -> int:
    return incomplete_prefix(path(*script)[start:])


def test_a_call_holds_its_results() -> None:
    assert sizes("u", "c1", "r1", "a") == [1, 2, 1]


def test_parallel_calls_hold_all_their_results_together_or_apart() -> None:
    assert sizes("c1c2c3", "r1r2r3", "a") == [2, 1]
    assert sizes("c1c2c3", "r2", "r1", "r3", "a") == [4, 1]


def test_a_late_result_holds_what_stands_in_between() -> None:
    assert sizes("c1", "a", "i", "r1", "a") == [4, 1]


def test_calls_that_are_answered_crosswise_are_one_atom() -> None:
    assert sizes("c1", "c2", "r1", "r2", "a") == [4, 1]
    assert sizes("c1", "c2", "r1", "c3", "r2", "r3") == [6]
    assert sizes("c1", "c2", "r2", "r1", "c3", "r3") == [4, 2]


def test_a_user_ends_the_wait_for_a_result() -> None:
    assert sizes("c1", "u", "r1") == [1, 1, 1]


def test_what_nobody_answers_stands_alone() -> None:
    assert sizes("c1", "c2", "r2", "c3") == [1, 2, 1]
    assert sizes("r9", "a") == [1, 1]


def test_what_the_provider_ran_waits_for_nothing() -> None:
    assert sizes("s1", "a", "r1") == [1, 1, 1]


def test_ids_may_come_again() -> None:
    assert sizes("c0", "r0", "c0", "r0", "c0", "r0") == [2, 2, 2]


def test_the_end_of_an_atom_that_began_before_is_torn() -> None:
    script = ("u", "c1c2", "r1", "r2", "c3", "r3", "a")
    assert [torn_from(script, start) for start in range(len(script))] == [0, 0, 2, 1, 0, 1, 0]


def test_what_is_torn_reaches_over_what_the_atom_held_besides() -> None:
    script = ("c1", "c2", "r1", "a", "r2", "a")
    assert [torn_from(script, start) for start in range(len(script))] == [0, 4, 3, 2, 1, 0]


def test_nothing_is_torn_behind_a_user() -> None:
    assert torn_from(("c1", "u", "r1", "a"), 1) == 0
