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
        ("Our goat is called Bramble.", "We may have to have Bramble put down.", "goat is called Bramble"),
        ("Our goat is called Bramble.", "We had Bramble shod and put down the hay.", "goat is called Bramble"),
        ("My son is called Leo.", "We put Leo to sleep at seven, then dinner.", "son is called Leo"),
        ("My son is called Leo.", "I had Leo put down for the swimming course.", "son is called Leo"),
        ("I have an internship at the museum.", "I cancelled the internet.", "internship"),
        ("My contract with the gym runs until June.", "I quit the contractor.", "contract with the gym"),
        ("I read with a communist group on Mondays.", "I have left the community.", "communist group"),
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
        ("I go to a therapist on Mondays.", "I've finished therapy, it did me good.", "therapist"),
        ("Our goat is called Bramble.", "We had to have Bramble put down.", "goat is called Bramble"),
        ("Our goat is called Bramble.", "had Bramble put to sleep on Monday, so sad", "goat is called Bramble"),
        ("Unsere Ziege heißt Flocke.", "Mussten Flocke heute Nacht einschläfern lassen.", "Ziege heißt Flocke"),
    ],
)
async def test_an_ending_ends_what_it_names(first: str, then: str, over: str) -> None:
    assert any(over in each for each in await told(first))
    assert not any(over in each for each in await told(first, then))


async def test_a_new_boss_takes_the_place_of_the_old_one_under_each_name() -> None:
    for first, then in (
        ("My boss is called Nora Firth.", "My new boss is called Ole Brandt."),
        ("Meine Chefin heißt Petra Firth.", "Mein neuer Chef heißt Ole Brandt."),
    ):
        held = [each for each in await told(first, then) if "boss" in each or "Chef" in each]
        assert len(held) == 1
        assert "Ole" in held[0]


@pytest.mark.parametrize(
    ("first", "then", "now"),
    [
        ("My boyfriend is called Tam.", "My husband Tam can't stand leeks.", "The user's husband is called Tam."),
        ("Meine Freundin heißt Jette.", "Meine Frau Jette mag keinen Lauch.", "Des Nutzers Frau heißt Jette."),
        ("My wife is called Odile.", "My partner Odile can't stand leeks.", "wife is called Odile"),
    ],
)
async def test_a_partner_is_called_what_they_were_called_last(first: str, then: str, now: str) -> None:
    held = [each for each in await told(first, then) if "heißt" in each or "called" in each]
    assert len(held) == 1
    assert now in held[0]
    async with ireneo.open(":memory:") as memory:
        await memory.remember("Meine Freundin heißt Jette.", at=AT)
        await memory.remember("Jette ist meine Frau.", at=AT + timedelta(weeks=2))
        assert [each.text for each in await memory.memories()] == ["Jette ist meine Frau."]


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
        with pytest.raises(BadInput, match=r"not in the archive but superseded\. Since .* “Hull” holds in its place"):
            await memory.restore([first.record.id])


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("Wilbur lives with our aunt in Hull.", "My piano was tuned."),
        ("Hinnerk lebt vorerst bei unserer Tante in Emden.", "Mein Klavier wurde gestimmt."),
    ],
)
async def test_what_lapsed_by_age_says_so_and_can_be_restored(text: str, then: str) -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        for said, days in ((text, 0), (then, 300)):
            at = (AT + timedelta(days=days)).isoformat()
            await session.append([{"role": "user", "content": said, "timestamp": at}])
        await memory.work(until_idle=True)
        (lapsed,) = [each for each in await memory.memories(state="retired") if text in each.text]
        assert "is not relied on since" in lapsed.reason
        (back,) = await memory.restore([lapsed.id])
        assert (back.id, back.state, back.at) == (lapsed.id, "active", lapsed.at)
        await memory.work(until_idle=True)
        assert lapsed.id in {each.id for each in await memory.memories()}
