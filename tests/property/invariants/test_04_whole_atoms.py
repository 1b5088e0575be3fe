"""No cut splits an atom; every context passes its format's validator."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Message, Session, chat_format
from ireneo.formats.chat.format import Payload
from ireneo.log.calls import atoms, incomplete_prefix
from ireneo.log.message import chain

from .houses import calm, stores
from .journeys import Journey, Look, journeys, looks, travel
from .material import FORMATS, STEPS, Teller, scripts
from .promises import pairs, valid, whole_atoms


@calm(5)
@given(store=stores, journey=journeys())
def test_no_row_splits_a_call_from_its_results_and_every_context_is_valid_in_every_format(
    store: str, journey: Journey
) -> None:
    async def check(session: Session, context: Context, path: Sequence[Message]) -> None:
        whole_atoms(context, path)
        for name in FORMATS:
            valid(await session.context(context.budget, to=name, preset=journey.usual.preset))

    travel(store, journey, check)


@calm(14)
@given(steps=scripts(), look=looks, written=st.sampled_from(FORMATS))
def test_what_is_compacted_into_another_format_is_valid(steps: list[str], look: Look, written: str) -> None:
    drafts = Teller().tell(["ask", *steps])
    context = ireneo.compact(chat_format(written).encode(drafts), look.budget, to=look.to, preset=look.preset)
    valid(context)
    payload = Payload(messages=context.messages, system=context.system)
    assert chat_format(look.to).encode(chat_format(look.to).decode(payload)) == payload


def told(steps: Sequence[str]) -> list[Message]:
    """The path that the steps make; what it costs is of no interest."""
    return chain(None, Teller().tell(steps), lambda parts: (1, 0))


# Short, and out of any order: that is where groups are hard to find.
jumbles = st.lists(st.sampled_from([step for step in STEPS if "hugely" not in step and step != "work on"]), max_size=12)


@calm(50)
@given(steps=jumbles)
def test_atoms_are_the_path_again_and_hold_each_call_with_its_result(steps: list[str]) -> None:
    path = told(steps)
    groups = atoms(path)
    assert [message for group in groups for message in group] == path
    home = {message.position: number for number, group in enumerate(groups) for message in group}
    assert all(home[call] == home[result] for call, result in pairs(path))
    assert not any(message.opens_turn and not message.draft.joined for group in groups for message in group[1:])


@calm(50)
@given(steps=jumbles, place=st.integers(0, 300))
def test_behind_what_may_be_torn_the_atoms_are_those_of_the_whole_path(steps: list[str], place: int) -> None:
    path = told(steps)
    tail = path[place % (len(path) + 1) :]
    sound = tail[incomplete_prefix(tail) :]
    whole = {group[0].position for group in atoms(path)}
    assert {group[0].position for group in atoms(sound)} <= whole
