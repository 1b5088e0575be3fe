"""Recall through a memory: what is found, in what order, and what is left out."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.progress import progress_of

import ireneo
from ireneo.errors import BadInput, EmbedderError
from ireneo.log.message import Draft, Text, author_of_message
from ireneo.ports.models import Embedder
from ireneo.types import MemoryDetails

MAY = datetime(2026, 5, 3, 12, tzinfo=UTC)
YEAR = timedelta(days=365)


def said(text: str, *, role: str = "user", author: str | None = None, at: datetime | None = None) -> Draft:
    return Draft(role="assistant" if role == "assistant" else "user", parts=(Text(text=text, author=author),), at=at)


@asynccontextmanager
async def opened(place: Path, embedder: Embedder | None = None) -> AsyncIterator[ireneo.Memory]:
    async with ireneo.open(place / "memory.db", durability="normal", embedder=embedder) as memory:
        yield memory


class Deaf:
    """An embedder that never answers."""

    name = "deaf"
    dimensions = 8

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
        raise EmbedderError("deaf is not there.")


class Angles:
    """An embedder that turns texts with a certain word by so many degrees away from the question."""

    name = "angles"
    dimensions = 2
    degrees: Mapping[str, float] = {"sing": 20, "bingo": 22, "bus": 60, "oats": 80, "second": 80}

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
        turned = [next((angle for word, angle in self.degrees.items() if word in text), 90) for text in texts]
        angles = [0.0 if query else math.radians(each) for each in turned]
        return [bytes([round(127 * math.cos(each)), round(127 * math.sin(each))]) for each in angles]


@pytest.mark.parametrize(
    ("newer", "first"),
    [
        ("It's Mondays with us now, the bingo took the hall.", True),
        ("It was Mondays at the bingo, ages ago.", False),
        ("I take the bus to town now, the car is sold.", False),
    ],
)
async def test_a_change_that_is_as_near_in_meaning_goes_before_what_it_changes(
    tmp_path: Path, newer: str, first: bool
) -> None:
    async with opened(tmp_path, Angles()) as memory:
        session = await memory.session("talk")
        older = "Eleven of us sing on Thursdays."
        chatter = [said(f"Nothing much on day {day}.", at=MAY - YEAR) for day in range(3)]
        await session.append([*chatter, said(older, at=MAY), said(newer, at=MAY + timedelta(days=30))])
        await memory.embed()
        found = await memory.recall("Which evening is kept free for practice?")
    told = [each.text for each in found if each.text in (older, newer)]
    assert told[0] == (newer if first else older)


@pytest.mark.parametrize("around", ["after", "before", "apart"])
async def test_what_the_assistant_says_around_a_message_tells_what_that_is_about(tmp_path: Path, around: str) -> None:
    dull, fine = "the second one then", "Plain oats for me."
    talk = {
        "after": [said(fine), said("Noted, the bus at six.", role="assistant")],
        "before": [said("Do you take the bus?", role="assistant"), said(fine)],
        "apart": [said(fine), said("Noted.", role="assistant")],
    }
    async with opened(tmp_path, Angles()) as memory:
        await (await memory.session("one")).append([said(dull), said("Right.", role="assistant")])
        await (await memory.session("two")).append(talk[around])
        await memory.embed()
        found = await memory.recall("How do I get to my job?", explain=True)
    meant = {each.text: dict(each.parts).get("meaning", 0.0) for each in found}
    assert (meant.get(fine, 0.0) > meant.get(dull, 0.0)) == (around != "apart")


async def test_what_was_said_comes_before_what_was_made_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        ids = (await session.append([said("The ferry to Vallmoor leaves at nine.")])).ids
        told = await memory.remember(
            "The Vallmoor ferry leaves at nine from pier two.",
            kind="semantic",
            messages=ids,
            session="talk",
            origin="agent",
        )
        found = await memory.recall("When does the ferry to Vallmoor leave?")
    assert [each.id for each in found] == [ids[0], told.record.id]
    assert found[1].sources == ids
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


async def test_a_reply_is_found_by_the_words_of_the_question_before_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        await session.append(
            [
                said("Where did you leave the silver lantern?"),
                said("Down by the mill, under the stairs.", role="assistant"),
                *(said(f"Nothing much happened on day {day}.") for day in range(12)),
            ]
        )
        found = await memory.recall("where is the silver lantern", limit=2)
    assert {each.text[:4] for each in found} == {"Wher", "Down"}


@pytest.mark.parametrize("labelled", [True, False])
async def test_the_speaker_who_is_named_is_favoured(tmp_path: Path, labelled: bool) -> None:
    def spoken(name: str, text: str) -> Draft:
        return said(f"{name}: {text}") if labelled else said(text, author=name)

    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        lines = [("Ana", "I went hiking on Sunday."), ("Bo", "I went hiking on Monday.")]
        chatter = [(name, f"Well, number {count} it is.") for count in range(6) for name in ("Bo", "Ana")]
        await session.append([spoken(*each) for each in lines + chatter])
        first = {name: (await memory.recall(f"When did {name} go hiking?"))[0] for name in ("Ana", "Bo")}
    assert "Sunday" in first["Ana"].text
    assert "Monday" in first["Bo"].text
    assert first["Ana"].author == "Ana"


def test_a_heading_is_nobodys_name() -> None:
    assert author_of_message(said("Caroline: hello there")) == "Caroline"
    assert author_of_message(said("**Mel Ann**: hello")) == "Mel Ann"
    for text in (
        "Note: keep this",
        "Error: it broke",
        "see below: x",
        "Step 2: go",
        "https://example.org",
        "Hm: ",
        "No",
    ):
        assert author_of_message(said(text)) is None, text


async def test_only_what_holds_is_told_unless_another_time_is_asked_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        slot = {"kind": "semantic", "subject": "Ana", "attribute": "home"}
        await memory.remember("Ana lives in Oslo.", **slot, at=MAY)  # type: ignore[arg-type]
        await memory.remember("Ana lives in Porto.", **slot, at=MAY + YEAR)  # type: ignore[arg-type]
        now = await memory.recall("Where does Ana live?")
        then = await memory.recall("Where does Ana live?", at=MAY + timedelta(days=9))
    assert [each.text for each in then] == ["Ana lives in Oslo."]
    assert "Ana lives in Oslo." not in [each.text for each in now] or datetime.now(UTC) < MAY + YEAR


async def test_a_word_against_a_more_trusted_one_is_shown_as_disputed(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.remember(
            "The deploy key is blue.", kind="semantic", subject="deploy key", attribute="colour", at=MAY
        )
        await memory.remember(
            "The deploy key is green.",
            kind="semantic",
            subject="deploy key",
            attribute="colour",
            origin="tool",
            at=MAY + timedelta(days=1),
        )
        found = await memory.recall("Which colour is the deploy key?")
    assert {(each.text, each.state) for each in found} == {
        ("The deploy key is blue.", "active"),
        ("The deploy key is green.", "disputed"),
    }


async def test_kind_session_limit_and_budget_narrow_what_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for name in ("one", "two"):
            session = await memory.session(name)
            await session.append([said(f"The orchard gate number {count} in {name} is shut.") for count in range(8)])
        await memory.remember("I tried the orchard gate — abandoned because it is shut.", kind="failure")
        assert {each.session for each in await memory.recall("orchard gate", session="two", limit=20)} == {"two"}
        assert [each.kind for each in await memory.recall("orchard gate", kind="failure")] == ["failure"]
        assert await memory.recall("orchard gate", kind="procedural") == ()
        assert len(await memory.recall("orchard gate", limit=3)) == 3
        assert 1 <= len(await memory.recall("orchard gate", limit=20, budget=30)) <= 3


async def test_the_parts_explain_the_score(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        await session.append([said("A heron stood in the reeds."), said("Then it flew.")])
        (first, *_) = await memory.recall("heron in the reeds", explain=True)
        (plain, *_) = await memory.recall("heron in the reeds")
    assert sum(value for _, value in first.parts) == pytest.approx(first.score)
    assert plain.parts == ()
    assert plain.score == first.score


async def test_sessions_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for name in ("one", "two"):
            await (await memory.session(name)).append([said("Good morning, herring boat.")])
        found = await memory.recall("herring boat")
    assert {each.session for each in found} == {"one", "two"}
    assert len({each.id for each in found}) == 1


async def test_an_embedder_that_does_not_answer_leaves_the_words(tmp_path: Path) -> None:
    async with opened(tmp_path, Deaf()) as memory:
        await (await memory.session("talk")).append([said("The herring boat is in.")])
        found = await memory.recall("herring boat")
    assert [each.text for each in found] == ["The herring boat is in."]
    assert "deaf is not there" in found.note


class Sized:
    """An embedder of as many dimensions as it is told."""

    name = "sized"

    def __init__(self, dimensions: int, given: int | None = None) -> None:
        self.dimensions = dimensions
        self.given = given or dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
        return [bytes([1 + len(text) % 99] * self.given) for text in texts]


async def test_an_embedder_that_changed_its_dimensions_leaves_the_words(tmp_path: Path) -> None:
    async with opened(tmp_path, Sized(8)) as memory:
        await memory.remember("The herring boat is in.")
        await memory.embed()
        assert not (await memory.recall("herring boat")).note
    async with opened(tmp_path, Sized(16)) as memory:
        found = await memory.recall("herring boat")
    assert [each.text for each in found] == ["The herring boat is in."]
    assert "Give it another name" in found.note


async def test_as_near_as_all_that_was_looked_at_is_not_near(tmp_path: Path) -> None:
    async with opened(tmp_path, Sized(8)) as memory:
        session = await memory.session("talk")
        later = MAY + timedelta(days=1)
        await session.append([said(f"The herring boat {number} is in.", at=MAY) for number in range(5)])
        await session.append([said(f"The kiln {number} is warm.", at=later) for number in range(1_000)])
        await memory.embed()
        found = await memory.recall("Which herring boat is in?", at=MAY, explain=True)
    assert len(found) == 5
    assert not [name for each in found for name, _ in each.parts if name == "meaning"]


async def test_a_vector_of_another_length_than_was_said_is_not_kept(tmp_path: Path) -> None:
    async with opened(tmp_path, Sized(8, given=7)) as memory:
        await memory.remember("The herring boat is in.")
        with pytest.raises(EmbedderError, match="a vector of 7 bytes, and 8 are wanted"):
            await memory.embed()
        assert "7 bytes" in (await memory.recall("herring boat")).note


async def test_half_a_surrogate_is_told_wherever_it_is_given(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for asked in (memory.history("\ud800"), memory.forget(subject="\ud800"), memory.used(["\ud800"])):
            with pytest.raises(BadInput, match="surrogate"):
                await asked


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"text": "  "}, "empty"),
        ({"text": "x", "kind": "poetic"}, "episodic, semantic"),
        ({"text": "x", "limit": 0}, "limit is 0"),
        ({"text": "x", "budget": 0}, "budget of 0"),
        ({"text": "x", "at": datetime(2026, 1, 1)}, "no zone"),
        ({"text": "x" * 30_000}, "20,000 characters"),
        ({"text": None}, "`text` is None"),
        ({"text": "x", "limit": 2.5}, "`limit` is 2.5"),
        ({"text": "x", "budget": "9"}, "`budget` is '9'"),
        ({"text": "x", "at": "2026-01-01"}, "`at` is '2026-01-01'"),
    ],
)
async def test_what_can_not_be_asked_is_said_in_a_sentence(
    tmp_path: Path, asked: dict[str, object], sentence: str
) -> None:
    async with opened(tmp_path) as memory:
        with pytest.raises(BadInput, match=sentence):
            await memory.recall(**asked)  # type: ignore[arg-type]


async def test_a_rare_kind_is_found_among_many_of_another(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = [(f"The ferry to Vallmoor sailed on day {day}.", MemoryDetails(kind="episodic")) for day in range(450)]
        await memory.remember_all(told)
        failed = await memory.remember("I tried the ferry to Vallmoor in a storm — it turned back.", kind="failure")
        found = await memory.recall("ferry to Vallmoor", kind="failure")
        brief = await memory.brief(goal="take the ferry to Vallmoor")
    assert [each.id for each in found] == [failed.record.id]
    assert failed.record.id in [line.id for line in brief.lines]


async def test_before_and_after_an_event_each_find_their_own(tmp_path: Path) -> None:
    day = timedelta(days=1)
    lines = [
        (0, "I painted a red barn today."),
        (40, "The move to Oslo is done at last."),
        (80, "I painted a blue harbour today."),
    ]
    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        for at, line in lines:
            fillers = [said(f"Number {at} and {count}, as ever.", at=MAY + day * at) for count in range(8)]
            await session.append([said(line, at=MAY + day * at), *fillers])
        before = await memory.recall("What was painted before the move to Oslo?", explain=True)
        after = await memory.recall("What was painted after the move to Oslo?", explain=True)
    painted = [[each.text for each in found if "painted" in each.text] for found in (before, after)]
    assert [each[0] for each in painted] == ["I painted a red barn today.", "I painted a blue harbour today."]


async def test_a_time_in_the_question_brings_what_held_then(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for year, who in ((2021, "Tom"), (2023, "Ann"), (2025, "Zoe")):
            at = datetime(year, 1, 1, tzinfo=UTC)
            await memory.remember(f"{who} owns Rex.", kind="semantic", subject="Rex", attribute="owner", at=at)
        then = await memory.recall("Who owned Rex in May 2022?")
        now = await memory.recall("Who owns Rex?")
    assert [each.text for each in then] == ["Tom owns Rex.", "Zoe owns Rex."]
    assert [each.text for each in now] == ["Zoe owns Rex."]


async def test_work_ends_where_an_embedder_does_not_answer(tmp_path: Path) -> None:
    async with opened(tmp_path, Deaf()) as memory:
        await memory.remember("Anna lives in Porto.")
        done = [(worked.did, worked.reason) for worked in await progress_of(memory.work, until_idle=True)]
    assert done == [("failed", "deaf is not there.")]


async def test_the_same_words_in_several_sessions_take_one_place_unless_they_were_said_at_different_times(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as memory:
        for name in ("tale", "copy", "again"):
            await (await memory.session(name)).append(
                [said("Olle cut the oil line of the pump.", at=MAY), said(f"The oil of {name} is dear.", at=MAY)]
            )
        for day in range(2):
            session = await memory.session(f"day {day}")
            await session.append(said("I bought oil for the pump today.", at=MAY + timedelta(days=day)))
        found = [each.text for each in await memory.recall("Who cut the oil line of the pump?", limit=10)]
    assert found.count("Olle cut the oil line of the pump.") == 1
    assert found.count("I bought oil for the pump today.") == 2
    assert len([text for text in found if text.endswith("is dear.")]) == 3


@pytest.mark.parametrize("time", ["2026-05-03", datetime(2026, 5, 3)])
async def test_what_is_no_time_with_a_zone_is_refused_in_a_sentence(tmp_path: Path, time: datetime) -> None:
    async with opened(tmp_path) as memory:
        for name in ("at", "believed_at"):
            with pytest.raises(BadInput, match=f"`{name}` .*zone"):
                await memory.history("Mira", **{name: time})


async def test_the_first_hits_do_not_depend_on_how_many_are_wanted(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        session = await memory.session("harbour")
        # Those that move up are far down at first: they say the same, and later.
        for day in range(30):
            text = f"The ferry leaves pier {day % 7} at noon" + (", the pilot says" if day % 3 else "")
            await session.append(said(text, at=MAY + timedelta(days=day)))
        found = [each.id for each in await memory.recall("When does the ferry leave?", limit=20)]
        for limit in (1, 2, 3, 7):
            assert [each.id for each in await memory.recall("When does the ferry leave?", limit=limit)] == found[:limit]
