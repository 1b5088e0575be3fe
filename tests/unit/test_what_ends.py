"""What a statement of a user ends of that which is remembered, and what stays beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import ireneo
from ireneo.errors import BadInput

AT = datetime(2025, 1, 10, 9, tzinfo=UTC)


async def told(*messages: str) -> list[str]:
    """What holds after messages that lie three weeks apart."""
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        for week, text in enumerate(messages):
            at = (AT + timedelta(weeks=3 * week)).isoformat()
            await session.append([{"role": "user", "content": text, "timestamp": at}])
        await memory.work()
        return [each.text for each in await memory.memories()]


@pytest.mark.parametrize(
    ("first", "then", "stays"),
    [
        ("My wife Odile is a nurse.", "Odile quit and now runs a mill.", "The user's wife is called Odile."),
        ("Meine Frau Jette ist Köchin.", "Jette hat gekündigt, sie fährt zur See.", "Des Nutzers Frau heißt Jette."),
        ("Ich wohne in Kiel.", "Den Kurs in Kiel sag ich ab, zu teuer.", "Ich wohne in Kiel."),
        ("Greta is due on 28 December.", "The garage moved my slot to 4 December.", "Greta is due on 28 December."),
    ],
)
async def test_an_ending_ends_nothing_beside_it(first: str, then: str, stays: str) -> None:
    assert any(stays in each for each in await told(first, then))


@pytest.mark.parametrize(
    ("first", "then", "over"),
    [
        ("Bo, my son, is allergic to lentils.", "Bo's lentil allergy is gone, the clinic says.", "allergic to lentils"),
        ("Ich hab mich für den Segelkurs in Kiel angemeldet.", "Den Segelkurs in Kiel sag ich ab.", "angemeldet"),
        ("My wife Odile is a nurse.", "Odile and I broke up last week.", "wife is called Odile"),
        ("My wife Odile is a nurse.", "Odile and I have split up.", "wife is called Odile"),
        ("I live in Hove.", "Moved to Hull yesterday, boxes up to the roof.", "lives in Hove"),
    ],
)
async def test_an_ending_ends_what_it_names(first: str, then: str, over: str) -> None:
    assert any(over in each for each in await told(first))
    assert not any(over in each for each in await told(first, then))


async def test_who_says_without_a_subject_where_they_moved_lives_there() -> None:
    assert "The user moved to Hull on 30 January 2025." in await told("I live in Hove.", "Moved to Hull yesterday.")
    assert not any("lives" in each for each in await told("The plumber rang. Moved to Friday."))


async def test_what_was_ended_by_mistake_holds_again_without_a_gap_and_what_was_replaced_does_not() -> None:
    async with ireneo.open(":memory:") as memory:
        wife = (await memory.remember("My wife Odile is a nurse.", at=AT)).record
        await memory.remember("Odile and I have split up.", at=AT + timedelta(weeks=2))
        ended = await memory.memories(state="retired")
        back = await memory.restore([each.id for each in ended])
        assert wife.state == "active"
        assert {each.state for each in back} == {"active"}
        assert all(each.against == () for each in await memory.recall("my wife", kind="semantic"))
        (partner,) = await memory.history("user", "partner")
        assert (partner.period.start, partner.period.end) == (AT, None)
        first = await memory.remember("I live in Hove.", at=AT)
        await memory.remember("I live in Hull.", at=AT + timedelta(weeks=3))
        with pytest.raises(BadInput, match="not in the archive but superseded"):
            await memory.restore([first.record.id])
