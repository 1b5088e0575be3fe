"""A brief tells what serves its goal, with its date, and nothing where nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.property.invariants.houses import opened

import ireneo.sync
from ireneo import Draft, Memory
from ireneo.log.message import Call, Result, Text
from ireneo.memories.brief import BriefLine
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.serving import Purpose, informative_sentences, is_standing_rule, matters_for

FACTS: tuple[tuple[str, MemoryDetails], ...] = (
    ("The user is allergic to hazelnuts.", {"subject": "user", "attribute": "allergy"}),
    ("Odile does not eat pork.", {"subject": "Odile", "attribute": "diet"}),
    ("Odile collects lighthouse postcards.", {"subject": "Odile", "attribute": "hobby"}),
    ("The user drives a tram on the night line.", {"subject": "user", "attribute": "job"}),
    ("The user wants short answers without emojis.", {"subject": "user", "attribute": "manner"}),
    ("The user's landlord is Mr Quarles.", {"subject": "user", "attribute": "landlord"}),
    ("The user is called Tamsin.", {"subject": "user", "attribute": "name", "value": "Tamsin"}),
)


async def known(memory: Memory) -> None:
    for text, details in FACTS:
        await memory.remember(text, at=datetime(2025, 3, 1, tzinfo=UTC), kind="semantic", **details)


async def say(memory: Memory, *texts: str) -> Sequence[str]:
    session = await memory.session("chat")
    at = datetime(2026, 5, 3, 9, 30, tzinfo=UTC)
    drafts = [
        Draft(role="user", parts=(Text(text=text),), at=at + timedelta(minutes=number))
        for number, text in enumerate(texts)
    ]
    return (await session.append(drafts)).ids


def texts(lines: Sequence[BriefLine]) -> list[str]:
    return [line.text for line in lines]


SERVED = (
    ("Draw up a weekly timetable for us", "Thursdays I have the late shift.", "We saw a heron on Thursday."),
    ("Write a short bio of me", "I was promoted to archivist in spring.", "The heron stood in the reeds."),
    (
        "Schreib einen Zettel, wie die Tiere zu versorgen sind",
        "Wir haben zwei Ziegen, Rosa und Bella.",
        "Ich bin müde.",
    ),
    ("Schlag ein Trainingsprogramm vor", "Meine Achillessehne zwickt seit Mai.", "Der Reiher stand im Schilf."),
    ("Mach einen Beetplan", "Die Kartoffeln sind schon gepflanzt.", "Der Reiher stand im Schilf."),
    ("Plan a brunch for two", "I can't digest beetroot.", "I can't find my keys."),
)


@pytest.mark.parametrize(("goal", "serves", "not_that"), SERVED)
def test_what_matters_in_the_area_of_a_goal_serves_it_without_a_shared_word(
    goal: str, serves: str, not_that: str
) -> None:
    purpose = Purpose(goal)
    assert purpose.relevance(serves)
    assert not purpose.relevance(not_that)


def test_what_an_embedder_finds_far_from_the_goal_serves_it_only_if_it_must_be_avoided() -> None:
    brunch = Purpose("Plan a brunch for two")
    assert brunch.relevance("I can't digest beetroot.", far=True)
    assert brunch.relevance("There are butter and eggs left.")
    assert not brunch.relevance("There are butter and eggs left.", far=True)


@pytest.mark.parametrize(
    ("goal", "text", "serves"),
    [
        ("Plan a supper", "The lemon tree died of the salt wind.", False),
        ("Plan a supper", "The allergy clinic rang.", False),
        ("What do I cook on the 26th?", "Wilma turns four on the 19th.", False),
        ("Who goes to the harbour?", "It goes to the archive.", False),
        ("Plan a supper", "No salt for me, doctor's orders.", True),
        ("Book a trip to the coast", "My sister wrote that her passport is green.", False),
        ("Take the pets to the vet", "We have a lizard and a canary.", True),
        ("Take the pets to the vet", "I am allergic to hazelnuts.", False),
        ("Kümmere dich um die Haustiere", "Unser Kater heißt Mops.", True),
        ("Was soll ich zum Abendessen kochen?", "Der Kaffee war kalt.", False),
    ],
)
def test_one_word_of_an_area_is_enough_only_where_it_is_telling(goal: str, text: str, *, serves: bool) -> None:
    assert bool(Purpose(goal).relevance(text)) is serves


MANNER = "The user wants short answers without emojis. (since March 2025)"


@pytest.mark.parametrize(
    ("goal", "served"),
    [
        ("Plan a dinner for six", ["The user is allergic to hazelnuts.", "Odile does not eat pork."]),
        ("Find a present for Odile", ["Odile collects lighthouse postcards."]),
        ("Write to my landlord about the damp wall", ["The user's landlord is Mr Quarles."]),
        ("Explain how a sundial works", []),
        ("Explain to Tamsin how a sundial works", []),
        ("Plan a dinner for Tamsin", ["The user is allergic to hazelnuts.", "Odile does not eat pork."]),
        ("Help the user with the user's taxes", []),
    ],
)
async def test_what_serves_the_goal_is_told_with_its_date_and_nothing_else(goal: str, served: list[str]) -> None:
    async with opened() as (_, memory):
        await known(memory)
        brief = await memory.brief(goal=goal)
        assert set(texts(brief.lines)) == {MANNER, *(f"{each} (since March 2025)" for each in served)}
        assert brief.lines[0].text == MANNER


async def test_a_message_is_quoted_with_its_date_where_no_memory_says_it() -> None:
    async with opened() as (_, memory):
        first, second, *_ = await say(
            memory,
            "We never serve mushrooms at home, Odile can't stand them.",
            "My brother turned vegan. Can you rename this file?",
            "Can you suggest a soup?",
            "Is there parsley in it?",
        )
        brief = await memory.brief(goal="Cook a supper for my brother and Odile")
        assert {line.id for line in brief.lines} == {first, second}
        assert {line.kind for line in brief.lines} == {"message"}
        assert "“We never serve mushrooms at home, Odile can't stand them.” (3 May 2026)" in texts(brief.lines)
        assert "## What the user said" in brief.markdown
        await memory.remember("Odile can't stand mushrooms; they are never served at home.", messages=[first])
        again = await memory.brief(goal="Cook a supper for my brother and Odile")
        assert first not in {line.id for line in again.lines}


async def test_a_message_whose_fact_no_longer_holds_is_not_quoted() -> None:
    async with opened() as (_, memory):
        (said,) = await say(memory, "I can't have lactose.")
        details: MemoryDetails = {"subject": "user", "attribute": "diet"}
        await memory.remember("The user can't have lactose.", value="no lactose", messages=[said], **details)
        await memory.remember("The user eats anything again.", value="anything", **details)
        brief = await memory.brief(goal="Plan a breakfast")
        assert said not in {line.id for line in brief.lines}
        assert not any("lactose" in line.text for line in brief.lines)


async def test_what_stands_beside_a_request_about_the_same_is_quoted() -> None:
    async with opened() as (_, memory):
        said = "Can you write a toast for my aunt Odile's birthday? She used to be a diver."
        await say(memory, said, "Can you check this birthday card? The glue is dry.")
        brief = await memory.brief(goal="Choose a birthday present for my aunt Odile")
        assert texts(brief.lines) == [f"“{said}” (3 May 2026)"]


async def test_few_messages_are_quoted_that_share_no_word_with_the_goal() -> None:
    async with opened() as (_, memory):
        days = ("Mondays", "Tuesdays", "Fridays", "Saturdays")
        await say(memory, *(f"On {day} I ring the bells at number {number}." for number, day in enumerate(days)))
        assert len((await memory.brief(goal="Plan my week")).lines) == 2
        assert len((await memory.brief(goal="Plan when to ring the bells")).lines) == 4


def test_what_only_became_old_is_quoted_with_its_date(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for at, text in (("2024-05-01", "We rehearse in the crypt on Thursdays."), ("2025-05-01", "All is quiet.")):
            memory.session("one").append([{"role": "user", "content": text, "timestamp": f"{at}T10:00:00Z"}])
        memory.work(until_idle=True)
        assert not [each for each in memory.memories() if "crypt" in each.text]
        lines = memory.brief(goal="Plan my week").lines
        assert texts(lines) == ["“We rehearse in the crypt on Thursdays.” (1 May 2024)"]


@pytest.mark.parametrize(
    "text",
    [
        "Please be blunt with me.",
        "Nobody calls me Theodora, it's Teddy.",
        "Never use emojis.",
        "Gib mir immer ein Beispiel.",
        "I hate it when you apologise.",
        "The assistant should address the user formally.",
    ],
)
def test_what_rules_how_to_answer_is_known(text: str) -> None:
    assert is_standing_rule(text)


@pytest.mark.parametrize(
    "text", ["I called my sister.", "She answers the phone.", "Call me tomorrow.", "Der Bus kommt immer zu spät."]
)
def test_what_rules_nothing_is_no_rule(text: str) -> None:
    assert not is_standing_rule(text)


@pytest.mark.parametrize(
    ("facts", "goal"),
    [
        ({"home": "Ghent", "phone": "0470 55"}, "Draft a letter to the water company"),
        ({"home": "Ghent", "phone": "0470 55"}, "Apply for the job, with my address and phone number"),
        ({"home": "Gent", "email": "ida@mail.example"}, "Schreib eine Bewerbung als Imkerin"),
        ({"phone": "0470 55"}, "Wie lautet meine Telefonnummer?"),
        ({"vehicle": "van"}, "Is my car worth repairing?"),
    ],
)
async def test_what_a_goal_needs_of_the_user_is_told_in_either_language(facts: dict[str, str], goal: str) -> None:
    async with opened() as (_, memory):
        for attribute, value in facts.items():
            await memory.remember(f"The {attribute} is {value}.", subject="user", attribute=attribute, value=value)
        told = texts((await memory.brief(goal=goal)).lines)
        assert all(f"The {attribute} is {value}." in " ".join(told) for attribute, value in facts.items())
        assert not (await memory.brief(goal="Explain how bees find their way")).lines


async def test_every_lasting_wish_heads_every_brief() -> None:
    async with opened() as (_, memory):
        wishes = ["Prices in kroner, please.", "When I write 'sketch', leave the details out."]
        for each in wishes:
            await memory.remember(each, subject="user", attribute="manner", value=each)
        brief = await memory.brief(goal="Explain how bees find their way")
        assert {line.text.partition(" (")[0] for line in brief.lines} == set(wishes)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("If I had a barn I'd keep geese.", False),
        ("haha if we won, we'd live on the moon", False),
        ("I'd keep geese if I had a barn.", False),
        ("In a perfect world I'd work from the beach.", False),
        ("Wenn ich im Lotto gewinne, würde ich auf dem Mond wohnen.", False),
        ("Sure, and I live in a palace 😂", False),
        ("My number is 55, if you'd like to ring.", True),
        ("If it rains I take the bus.", True),
        ("Wenn ich im Büro bin, esse ich in der Kantine.", True),
    ],
)
def test_what_is_only_imagined_states_nothing(text: str, *, states: bool) -> None:
    assert bool(informative_sentences(text)) is states


@pytest.mark.parametrize(("called", "quoted"), [(False, 1), (True, 0)])
async def test_in_a_project_talk_is_quoted_and_an_agent_s_run_is_not(called: bool, quoted: int) -> None:
    run = (
        Draft(role="assistant", parts=(Call(id="a", name="bash", arguments={"command": "ls"}),)),
        Draft(role="tool", parts=(Result(call_id="a", parts=(Text(text="Makefile"),)),)),
    )
    async with opened() as (_, memory):
        session = await memory.session("talk", project="quay")
        text = "Since Tuesday Odile's bakery delivers no rye bread to us any more."
        await session.append([Draft(role="user", parts=(Text(text=text),)), *(run if called else ())])
        await memory.learn()
        found = (await memory.brief(project="quay", goal="Order bread from the bakery")).lines
        assert len(found) == quoted, texts(found)


def test_questions_and_requests_tell_nothing() -> None:
    said = "Can you shorten this? I live above a bakery. Translate the rest"
    assert informative_sentences(said) == ["I live above a bakery."]


def test_what_is_quoted_is_nobody_s_word() -> None:
    assert Purpose("Dinner for two").relevance("My friend sent “I am allergic to fish” as a joke.") is None
    assert Purpose("Translate “The dinner is cold”").areas == frozenset()


async def test_a_memory_and_the_sentence_that_it_was_read_from_are_one_line() -> None:
    async with opened() as (_, memory):
        (said,) = await say(memory, "I hate coriander, it's soap, so none of that in your meal plans")
        await memory.remember(
            "The user hates coriander.", subject="user", attribute="dislike", value="coriander", messages=[said]
        )
        brief = await memory.brief(goal="Plan a week of dinners")
        assert [line.kind for line in brief.lines] == ["semantic"]


HOUSE = [
    "We publish on Thursdays.",
    "The linter runs through scripts/lint.sh.",
    "The kiosk is shut on Sundays.",
    "The parser is written in Rust.",
    "The test machine is called Heron.",
    "Die Sicherung läuft nachts um drei.",
    "Ich mag keinen Knoblauch.",
]
ASKED = [
    ("When do we publish?", "We publish on Thursdays."),
    ("prepare the publishing", "We publish on Thursdays."),
    ("run the linter", "The linter runs through scripts/lint.sh."),
    ("Extend the parser with a Rust macro", "The parser is written in Rust."),
    ("Plan the shelves of the kiosk", "The kiosk is shut on Sundays."),
    ("Sicherung einspielen", "Die Sicherung läuft nachts um drei."),
    ("Abendessen kochen: Gemüselasagne", "Ich mag keinen Knoblauch."),
]


@pytest.mark.parametrize(("goal", "fact"), ASKED)
def test_what_has_the_words_of_a_goal_is_told_though_they_name_an_area(tmp_path: Path, goal: str, fact: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for text in HOUSE:
            memory.remember(text)
        lines = memory.brief(goal=goal).lines
    assert [each.text for each in lines if each.text.startswith(fact)]


ASKED = (
    ("feed the pets", ["The user's dog is called Rex."]),
    ("Book a sitter for the animals", ["The user's dog is called Rex."]),
    ("where does the user live", ["The user lives in Porto."]),
    ("Where do I live?", ["The user lives in Porto."]),
    ("Wo wohne ich?", ["The user lives in Porto."]),
    ("what is my profession", ["The user works as a nurse."]),
    ("Where do you live?", []),
    ("Where does my sister live?", []),
    ("Plan the deployment", []),
)


@pytest.mark.parametrize(("goal", "answers"), ASKED)
async def test_a_goal_that_names_what_is_known_of_the_user_or_asks_for_it_is_told_so(
    goal: str, answers: list[str]
) -> None:
    async with opened() as (_, memory):
        for text, attribute, value in (
            ("The user's dog is called Rex.", "pet", "Rex"),
            ("The user lives in Porto.", "home", "Porto"),
            ("The user works as a nurse.", "job", "nurse"),
            ("The user plans to learn to dive.", "plan", "dive"),
        ):
            await memory.remember(text, kind="semantic", subject="user", attribute=attribute, value=value)
        told = (await memory.brief(goal=goal)).lines
        assert [line.text.partition(" (")[0] for line in told] == answers


@pytest.mark.parametrize(
    ("goal", "names", "text", "serves"),
    [
        ("Find something for my sister", ("Odile",), "Odile carves spoons.", True),
        ("Find something for my sister", ("Odile",), "We met his sister on the pier.", False),
        ("Was schenke ich meiner Schwester?", ("Odile",), "Heute schnitzt Odile Löffel.", True),
        ("Cook for Odile", ("Odile",), "Ruben is vegan.", False),
        ("Cook a supper", (), "Ruben is vegan.", True),
        ("What do I tell the doctor?", (), "Ruben has asthma.", False),
        ("What do I tell the doctor?", (), "I have asthma.", True),
        ("Cook a supper", (), "I'm allergic to wasps.", False),
    ],
)
def test_a_goal_about_somebody_is_served_by_what_is_said_of_them(
    goal: str, names: tuple[str, ...], text: str, *, serves: bool
) -> None:
    purpose = Purpose(goal)
    purpose.meet(names, ())
    assert bool(purpose.relevance(text)) is serves


def test_the_user_s_own_name_asks_for_nothing() -> None:
    purpose = Purpose("Write to Wilma about the harp")
    purpose.meet((), ("Wilma",))
    assert purpose.relevance("The harp has 47 strings.")
    assert not purpose.relevance("Hello, I am Wilma.")


def test_what_goes_on_about_somebody_is_about_them() -> None:
    purpose = Purpose("Find something for Odile")
    purpose.meet(("Odile",), ())
    assert purpose.relevance("She carves spoons.", before="Odile came by.")
    assert not purpose.relevance("She carves spoons.", before="Ruben came by.")
    assert not Purpose("What do I tell the doctor?").relevance("3.4 kilos.", before="Ruben has a baby.")


@pytest.mark.parametrize(
    ("rule", "goal", "matters"),
    [
        ("No exclamation marks when you write a letter for me.", "Draft a letter to the harbour master", True),
        ("No exclamation marks when you write a letter for me.", "How do I bake bread?", False),
        ("One option when I ask for something.", "How do I bake bread?", True),
        ("One option when I ask for something.", "Draft a letter to the harbour master", False),
        ("Never use emojis.", "Draft a letter to the harbour master", True),
        ("Number the steps when you explain something.", "How do I bleed a radiator?", True),
        ("Number the steps when you explain something.", "Find a present for Odile", False),
        ("Everything in grams.", "Bake a rye loaf", True),
        ("Everything in grams.", "Plan my rowing practice", False),
        ("Schreib nicht so steif, und duz mich.", "Plane meine Ruderwoche", True),
        ("Schreib an Kunden nie mit Smileys.", "Plane meine Ruderwoche", False),
        ("Please don't write so stiffly.", "Plan my rowing practice", True),
        ("Nenne Rezepte in Gramm.", "Plane meine Reise", False),
        ("Never use emojis.", "How do I bake bread?", True),
        ("Keine Tabellen, bitte.", "Schreib dem Hafenmeister einen Brief", False),
        ("Keine Tabellen, bitte.", "", True),
    ],
)
def test_a_rule_about_texts_or_answers_is_told_where_there_is_one(rule: str, goal: str, *, matters: bool) -> None:
    assert matters_for(rule, goal) is matters


async def test_what_is_said_next_of_somebody_whom_the_goal_names_is_quoted() -> None:
    async with opened() as (_, memory):
        _, second, third = await say(
            memory, "My mother lives in Porthollow now.", "She can't climb stairs any more.", "I like rain."
        )
        brief = await memory.brief(goal="Find a hotel for mum")
        assert second in {line.id for line in brief.lines}
        assert third not in {line.id for line in brief.lines}
