"""The canonical blocks of a path depend on the path alone, however it was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ireneo import Draft, Message, Policy, Summary
from ireneo.log.calls import atoms
from ireneo.log.message import Call, Result, Text, chain, count_parts
from ireneo.summaries.policy import FORGE
from ireneo.summaries.work import RowItem, cover_open_messages, cover_row, grow, is_kept, uncovered_from

TINY = Policy(name="tiny", leaf_min_atoms=2, leaf_max_atoms=3, fan_in=2, goal_min_turns=2, goal_max_turns=3)
SPARING = Policy(name="sparing", leaf_min_atoms=2, leaf_max_atoms=3, fan_in=2, excluded_tools=frozenset({"plan"}))


def says(role: str, text: str) -> Draft:
    return Draft(role=role, parts=(Text(text=text),))  # type: ignore[arg-type]


def step(number: int, tool: str = "bash") -> list[Draft]:
    """A call with its result; every third one checks, so that the work changes behind it."""
    command = "pytest -q" if number % 3 == 2 else f"cat src/part_{number}.py"
    call = Call(id=f"call-{number}", name=tool, arguments={"command": command})
    result = Result(call_id=call.id, parts=(Text(text=f"output {number}"),), failed=False)
    return [Draft(role="assistant", parts=(call,)), Draft(role="tool", parts=(result,))]


def session(*lengths: int) -> list[Message]:
    """A system prompt, and turns of so many calls."""
    drafts = [says("system", "Be careful."), says("assistant", "Hello.")]
    for turn, length in enumerate(lengths):
        drafts.append(says("user", f"Please do {turn}, and never touch src/api_{turn}.py."))
        for number in range(length):
            drafts += step(100 * turn + number, "plan" if number % 4 == 3 else "bash")
        drafts.append(says("assistant", f"I did {turn}."))
    return path(drafts)


def path(drafts: Sequence[Draft]) -> list[Message]:
    return chain(None, drafts, lambda parts: count_parts(parts, len))


SESSIONS = [session(3), session(0, 0, 0, 0, 0), session(40), session(7, 1, 12, 3, 5, 2, 9, 4), session(2, 30, 2, 30)]
every_session = pytest.mark.parametrize("messages", SESSIONS, ids=[str(len(each)) for each in SESSIONS])
every_policy = pytest.mark.parametrize(
    "policy", [TINY, SPARING, FORGE, Policy(name="coding")], ids=lambda each: each.name
)


def names(row: Sequence[RowItem]) -> list[str]:
    return [item.id for item in row]


def known(row: Sequence[RowItem]) -> list[RowItem]:
    """What a store knows of a row: everything up to its last summary."""
    last = max((place for place, item in enumerate(row) if isinstance(item, Summary)), default=-1)
    return list(row[: last + 1])


def in_pieces(messages: Sequence[Message], policy: Policy, cuts: Sequence[int]) -> tuple[list[RowItem], set[str]]:
    """Grow a row piece by piece, each time from what a store would know of it, up to the places `cuts`."""
    row: list[RowItem] = []
    made: set[str] = set()
    for cut in [*cuts, len(messages)]:
        start = end_of(row)
        then = atoms(messages[cut:])[0] if cut < len(messages) else None
        growth = grow(row, messages[start:cut], policy, then=then)
        made |= {summary.id for summary in growth.made}
        row = known(growth.row) if cut < len(messages) else list(growth.row)
    return row, made


def end_of(row: Sequence[RowItem]) -> int:
    if not row:
        return 0
    return (row[-1].last_position if isinstance(row[-1], Summary) else row[-1].position) + 1


@every_session
@every_policy
def test_a_row_that_grew_atom_by_atom_is_the_row_of_the_whole_path(messages: list[Message], policy: Policy) -> None:
    whole = grow((), messages, policy)
    places = [group[0].position for group in atoms(messages)]
    for cuts in (places, places[::3], places[5::7], places[-1:]):
        row, made = in_pieces(messages, policy, cuts)
        assert names(row) == names(whole.row)
        assert made == {summary.id for summary in whole.made}


@every_session
def test_a_row_that_grew_message_by_message_is_the_row_of_the_whole_path(messages: list[Message]) -> None:
    row: Sequence[RowItem] = ()
    for message in messages:
        row = grow(row, [message], TINY).row
    assert names(row) == names(grow((), messages, TINY).row)


@every_session
@every_policy
def test_a_row_covers_the_path_in_order_and_once(messages: list[Message], policy: Policy) -> None:
    position = 0
    for item in grow((), messages, policy).row:
        start = item.first_position if isinstance(item, Summary) else item.position
        assert start == position
        position = end_of([item])
    assert position == len(messages)


@every_session
@every_policy
def test_what_is_kept_stands_as_itself_until_a_goal_covers_it(messages: list[Message], policy: Policy) -> None:
    growth = grow((), messages, policy)
    turns = [summary for summary in growth.made if summary.level == "turn"]
    for summary in turns:
        covered = messages[summary.first_position : summary.last_position + 1]
        assert not any(is_kept(message, policy) for message in covered)
    if policy.excluded_tools:
        calls = [m for m in messages for call in m.draft.calls if call.name in policy.excluded_tools]
        results = [messages[call.position + 1] for call in calls]
        for message in (*calls, *results):
            assert not any(s.first_position <= message.position <= s.last_position for s in turns)


@every_session
@every_policy
def test_a_deeper_summary_covers_just_what_its_sources_and_the_messages_between_them_are(
    messages: list[Message], policy: Policy
) -> None:
    made = {summary.id: summary for summary in grow((), messages, policy).made}
    for summary in made.values():
        ends = summary.first_position - 1
        for source in (made[name] for name in summary.sources):
            assert source.first_position > ends
            ends = source.last_position
        assert ends <= summary.last_position
        assert (
            summary.level == "turn"
            or summary.sources
            or not any(message.draft.calls for message in messages[summary.first_position : summary.last_position + 1])
        )


def test_the_same_stretch_has_the_same_name_on_every_branch_and_another_for_each_policy() -> None:
    messages = session(12, 3)
    other = path([*(message.draft for message in messages), says("user", "Something else."), *step(999)])
    shared = {summary.id for summary in grow((), messages, TINY).made}
    assert shared <= {summary.id for summary in grow((), other, TINY).made}
    assert not shared & {summary.id for summary in grow((), messages, SPARING).made}


def test_an_open_block_never_takes_the_name_of_the_block_that_is_due_there() -> None:
    messages = session(4)
    leaf = next(summary for summary in grow((), messages, TINY).made if summary.level == "turn")
    loose = messages[leaf.first_position : leaf.last_position + 1]
    opened = cover_open_messages(loose, "", TINY)
    assert (opened.first, opened.last) == (leaf.first, leaf.last)
    assert opened.id != leaf.id


@every_session
def test_a_row_under_one_summary_covers_all_of_it_and_keeps_the_names_apart(messages: list[Message]) -> None:
    growth = grow((), messages, TINY)
    whole = cover_row(growth.row, TINY)
    assert (whole.first_position, whole.last_position) == (0, len(messages) - 1)
    assert whole.id not in {summary.id for summary in growth.made}


def grown_by(change: Callable[[list[Draft]], list[Draft]]) -> Sequence[RowItem]:
    drafts = [says("user", "Go."), *step(0), *step(1)]
    return grow((), path(change(drafts)), SPARING).row


def test_what_waits_for_its_block_are_whole_atoms_behind_the_last_that_is_kept() -> None:
    assert uncovered_from(grown_by(lambda drafts: drafts), SPARING) == 1
    planned = grown_by(lambda drafts: [*drafts, *step(2, "plan")])
    assert uncovered_from(planned, SPARING) == len(planned)
    late = step(7)
    stretched = grown_by(lambda drafts: [says("user", "Go."), late[0], says("system", "It is Monday."), late[1]])
    # The result of a call stays with it, and both with the system's words that came between.
    assert uncovered_from(stretched, SPARING) == len(stretched) == 4
