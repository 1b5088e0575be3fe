"""What holds now goes first, the past is told where it is asked of, and words alike in meaning find each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.test_engine_recall import opened, said

import ireneo.sync
from ireneo import Memory
from ireneo.language.words import similar_words
from ireneo.memories.ranking import move_up, read_question

MAY = datetime(2026, 5, 3, 12, tzinfo=UTC)
MONTH = timedelta(days=30)


async def told(memory: Memory, *texts: str) -> list[str]:
    session = await memory.session("talk")
    ids: list[str] = []
    for number, text in enumerate(texts):
        ids += (await session.append([said(text, at=MAY + number * MONTH)])).ids
    return ids


async def first(memory: Memory, question: str) -> str:
    return (await memory.recall(question))[0].text


async def test_of_two_that_answer_alike_the_newer_is_first_and_with_the_past_the_older(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(memory, "My weight is 96 kilos today.", "The kiln is warm.", "My weight is 91 kilos by now.")
        assert "91" in await first(memory, "How many kilos is my weight?")
        assert "96" in await first(memory, "How many kilos was my weight in May 2026?")
        assert "96" in await first(memory, "What was my weight in kilos originally?")


async def test_nothing_stands_before_what_took_its_place(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        old, new = await told(memory, "I rent a flat in Bremen, near the harbour.", "Since Friday it is Porto for me!")
        for id, town, at in ((old, "Bremen", MAY), (new, "Porto", MAY + MONTH)):
            await memory.remember(
                f"The user lives in {town}.",
                kind="semantic", subject="user", attribute="home", value=town, at=at, messages=[id], session="talk",
            )  # fmt: skip
        found = [each.text for each in await memory.recall("Where is the flat that I rent and live in?")]
        assert min(at for at, text in enumerate(found) if "Porto" in text) < min(
            at for at, text in enumerate(found) if "Bremen" in text
        )
        assert "The user lives in Bremen." not in found
        past = [each.text for each in await memory.recall("Where did the user live originally?")]
        assert past.index("The user lives in Bremen.") < past.index("The user lives in Porto.")


async def test_what_was_said_in_the_named_period_needs_few_of_the_words_of_a_question(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(memory, "We rowed to the weir with the class.", "Rain at the weir all day.", "The soup was good.")
        (found, *_) = await memory.recall("Who rowed to the weir in June 2026?", explain=True)
        assert "Rain" in found.text
        assert dict(found.parts)["time"] > 0
        assert "class" in await first(memory, "Who rowed to the weir?")


async def test_words_alike_in_meaning_find_each_other_and_the_parts_say_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(memory, "The supervisor wants the report.", "The kiln is warm.", "Herons stand in the reeds.")
        (found, *_) = await memory.recall("Who is my boss?", explain=True)
    assert found.text == "The supervisor wants the report."
    assert dict(found.parts)["words alike"] > 0
    assert sum(value for _, value in found.parts) == pytest.approx(found.score)


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("Mit dem Rudern habe ich letzten Sommer aufgehört.", "Rudere ich noch?"),
        ("Gesegelt bin ich damals mit Ernas Jolle.", "Womit segelte ich?"),
        ("Die Uhren von Opa stehen im Keller.", "Wo ist meine Uhr?"),
    ],
)
async def test_other_forms_of_a_german_word_are_found_before_what_shares_only_a_stop_word(
    tmp_path: Path, statement: str, question: str
) -> None:
    async with opened(tmp_path) as memory:
        await told(memory, "Ich koche heute noch Suppe.", statement, "Ich bin noch ganz müde von gestern.")
        assert await first(memory, question) == statement


def test_the_nearest_words_come_first() -> None:
    near = similar_words("boss", 5)
    assert len(near) == 5
    assert near[0][0] == "supervisor"
    assert [cosine for _, cosine in near] == sorted((cosine for _, cosine in near), reverse=True)
    assert similar_words("xyzzy", 5) == []


@pytest.mark.parametrize(
    ("question", "of_now"),
    [
        ("How much do I weigh?", True),
        ("Wo wohne ich?", True),
        ("What am I doing this week?", True),
        ("Where did I work before the move?", False),
        ("Which car did I use to drive?", False),
        ("What do I use to clean it?", True),
        ("I used to live where?", False),
        ("Wo habe ich früher gewohnt?", False),
        ("What did I weigh in March 2026?", False),
    ],
)
def test_a_question_says_whether_it_asks_of_now(question: str, of_now: bool) -> None:
    assert read_question(question, now=MAY).of_now is of_now


def test_an_item_goes_before_the_first_that_it_replaces() -> None:
    assert move_up([1, 5, 2, 6], lambda one, other: one == other + 1) == [2, 1, 6, 5]


async def test_common_words_of_german_name_nothing_that_is_looked_for_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(
            memory,
            "Den Chor leitet jetzt Frau Weide, und ich singe mit.",
            "Anton hat mit dem Rudern aufgehört und ist weg.",
        )
        assert "Weide" in await first(memory, "Wer leitet den Chor?")


async def test_who_is_only_named_stands_behind_what_is_said_of_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(memory, "My daughter Orla is nine.", "The kiln is warm.", "Orla studies the cello in Cork.")
        await memory.work(until_idle=True)
        assert "Cork" in await first(memory, "What is my girl studying?")
        assert await first(memory, "What is my daughter called?") == "The user's daughter is called Orla."


async def test_a_reply_speaks_for_what_it_answers_in_other_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        session = await memory.session("talk")
        await session.append([said("Boxes half unpacked. Three bedrooms in Oranmore!", at=MAY)])
        await session.append([{"role": "assistant", "content": "Enjoy the new home."}])
        assert "Oranmore" in await first(memory, "Where is my home?")


async def test_changes_of_changes_are_put_in_order(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await told(
            memory,
            "We sail to Ischia with Gernot in the summer.",
            "Ischia is off, Gernot has a new hip.",
            "Gernot stopped singing in the choir, no more sailing.",
        )
        found = [each.text for each in await memory.recall("Do we sail this summer with a hip in the choir?")]
        assert len(found) == len(set(found)) == 3


@pytest.mark.parametrize(
    "said",
    [
        ("I live in Porto.", "Actually I moved to Lisbon last week."),
        ("I moved to Porto.", "I moved to Lisbon yesterday."),
    ],
)
def test_a_change_told_later_holds_though_its_day_is_before_the_last_word(
    tmp_path: Path, said: tuple[str, str]
) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for text in said:
            session.append([{"role": "user", "content": text}, {"role": "assistant", "content": "Good to know."}])
        memory.work(until_idle=True)
        (home,) = [each for each in memory.memories() if each.attribute == "home"]
        first = memory.recall("Where do I live?")[0]
    assert home.value == "Lisbon"
    assert "Lisbon" in first.text


def test_what_began_years_ago_does_not_end_what_is_so(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for text in ("I live in Porto.", "I moved to Lisbon ten years ago."):
            session.append([{"role": "user", "content": text}])
        memory.work(until_idle=True)
        homes = [each.value for each in memory.memories() if each.attribute == "home"]
    assert homes == ["Porto"]


def test_what_is_remembered_to_be_over_is_found(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember("Anna is vegetarian.")
        memory.remember("Anna is not vegetarian anymore.")
        assert [hit.text for hit in memory.recall("Is Anna vegetarian?")] == ["Anna is not vegetarian anymore."]


def test_who_is_somebody_s_boss_now_takes_the_place_of_the_last_one(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember("My boss is Karin.")
        memory.remember("My boss is now Petra.")
        assert [each.value for each in memory.memories()] == ["Petra"]


@pytest.mark.parametrize("kind", ["semantic", "episodic"])
def test_what_is_planned_is_recalled_before_its_day(tmp_path: Path, kind: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember("The server will be moved.", kind=kind, at=datetime.now(UTC) + timedelta(days=400))
        assert [hit.text for hit in memory.recall("server moved")] == ["The server will be moved."]


def test_what_is_remembered_to_be_untrue_is_found(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        memory.remember("I'm not allergic to nuts.")
        assert [hit.text for hit in memory.recall("Am I allergic to nuts?")] == ["I'm not allergic to nuts."]


def test_what_says_that_something_ended_goes_before_it(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        session.append([said("I work at Philips, in the lab.", at=MAY), said("The kiln is warm.", at=MAY + MONTH)])
        session.append([said("I quit. What shall I do with my mornings?", at=MAY + 2 * MONTH)])
        memory.work(until_idle=True)
        assert memory.recall("Where do I work?")[0].text.startswith("I quit.")


def test_what_fills_the_slot_that_is_asked_of_goes_before_what_was_said_before_it(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for month, text in enumerate(
            (
                "I work at Philips as an analyst.",
                "I quit Philips!",
                "Got an offer, work would begin at a small firm called Lumen.",
                "Got a job at Fenwick & Sons.",
                "How do I work with a lathe?",
            )
        ):
            session.append([said(text, at=MAY + month * MONTH)])
        memory.work(until_idle=True)
        found = [each.text for each in memory.recall("Where do I work?")]
        assert found.index("The user got a job at Fenwick & Sons.") < found.index("I work at Philips as an analyst.")


def test_what_began_before_it_was_said_that_another_value_had_ended_holds_on(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        session.append([said("I work as a nurse at the university hospital.", at=MAY)])
        session.append([said("I quit. Since Monday I'm a teacher at a nursing school.", at=MAY + MONTH)])
        memory.work(until_idle=True)
        assert [(each.attribute, each.value) for each in memory.memories()] == [("job", "teacher")]
        assert "teacher" in memory.recall("What do I do for a living?")[0].text


@pytest.mark.parametrize(
    ("said", "question", "home"),
    [
        (("I moved to Porto.", "My aunt lives in Setúbal, she lives by the river."), "Where do I live?", "Porto"),
        (
            (
                "Wir ziehen bald um, nach Lübeck!",
                "Wir sind jetzt in Lübeck, die Hälfte steckt noch in Kisten.",
                "Mein Onkel ist erst mal zu seiner Tochter nach Kassel gezogen.",
            ),
            "Wo wohne ich?",
            "Lübeck",
        ),
    ],
)
def test_what_is_told_later_of_others_stands_below_the_asker_s_own(
    tmp_path: Path, said: tuple[str, ...], question: str, home: str
) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for month, text in enumerate(said, start=3):
            told = {"role": "user", "content": text, "timestamp": f"2026-{month:02}-03T10:00:00Z"}
            session.append([told, {"role": "assistant", "content": "Good to know."}])
        memory.work(until_idle=True)
        assert home in memory.recall(question)[0].text
