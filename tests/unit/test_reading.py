"""What a model reads in a conversation stands only where the words do that it cites, and replaces what it names."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from ireneo import Draft, Memory, WorkResult
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.models import Limits, Models
from ireneo.engine.resources import Resources
from ireneo.errors import ModelUnavailable, NothingToKeep
from ireneo.log.message import Text
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import Prompt
from ireneo.prompts.replies import FactSaid, FactsReply
from ireneo.testing.scripted import ManualClock, Script, ScriptedLLM

MONDAY = datetime(2026, 3, 9, 9, tzinfo=UTC)
NOTHING = FactsReply(facts=[])
MOVED = FactSaid(
    message=1,
    quote="moved to Porto",
    text="Vera has lived in Porto since 6 March 2026.",
    subject="Vera",
    attribute="home",
    value="Porto",
    since="2026-03-06",
)


class Desk:
    """A memory with a model, and a conversation of one user."""

    def __init__(self, script: Script, limits: Limits | None = None) -> None:
        self.store = InMemoryStore()
        self.model = ScriptedLLM(script)
        self.clock = ManualClock(MONDAY + timedelta(days=300))
        means = Resources(
            store=self.store,
            count=EstimatedTokenizer().count,
            clock=self.clock,
            models=Models.of({"facts": self.model}),
            limits=limits or Limits(),
        )
        self.memory = Memory(means, "mine")
        self.worked: list[WorkResult] = []
        self._said = 0

    async def hear(self, *texts: str, days: int = 0) -> list[Record]:
        """Let Vera say these, an agent nod after each, and give all that holds."""
        drafts = []
        for text in texts:
            self._said += 1
            at = MONDAY + timedelta(days=days, minutes=self._said)
            drafts += [
                Draft(role="user", parts=(Text(text=text, author="Vera"),), at=at),
                Draft(role="assistant", parts=(Text(text=f"I see, {self._said}."),), at=at),
            ]
        await (await self.memory.session("talk")).append(drafts)
        await self.memory.work(until_idle=True, on_progress=self.worked.append)
        return await self.held()

    async def held(self) -> list[Record]:
        wanted = MemoryFilter(states=("active",))
        found: Sequence[Record] = await self.store.read(lambda tx: tx.memories.list("mine", wanted))
        return sorted(found, key=lambda each: (each.recorded, each.text))


def facts(*said: FactSaid) -> FactsReply:
    return FactsReply(facts=list(said))


async def test_a_model_is_asked_once_for_a_stretch_and_shown_what_is_known() -> None:
    desk = Desk([facts(MOVED), NOTHING])
    (home,) = await desk.hear("Guess what, I moved to Porto on Friday!", "Do you know a bakery?")
    messages = await (await desk.memory.session("talk")).messages()
    assert (home.text, home.value, home.at) == (MOVED.text, "Porto", datetime(2026, 3, 6, tzinfo=UTC))
    assert home.sources == (messages[0].id,)
    assert desk.model.prompts[0].user.count("Mon 2026-03-09\n[1] Vera: Guess what, I moved to Porto on Friday!") == 1
    assert await desk.hear("Thanks.", days=7) == [home]
    assert f"K1 Vera · home: Porto (since 2026-03-06) = {MOVED.text}" in desk.model.prompts[1].user
    assert "(earlier) Vera: Do you know a bakery?" in desk.model.prompts[1].user
    assert [each.did for each in desk.worked] == ["listened", "listened"]
    assert sum(each.tokens_in for each in desk.worked) > 1_000


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (FactSaid(message=3, quote="moved to Porto", text="Vera lives in Porto."), "cites message 3"),
        (FactSaid(message=1, quote="moved to Lugo", text="Vera lives in Lugo."), "quotation"),
        (FactSaid(message=1, quote="", text="Vera lives in Porto."), "quotation"),
        (FactSaid(message=1, quote="moved to Porto", text="Vera moved to Porto with Anselm."), "Anselm"),
        (FactSaid(message=1, quote="moved to Porto", text="Vera has lived in Porto for 12 years."), "12"),
        (FactSaid(message=1, quote="moved to Porto", text="Vera moved to Porto on 7 May 2026."), "7 May"),
        (FactSaid(message=1, quote="sold everything I own", text="Vera sold everything."), "quoted there itself"),
        (FactSaid(message=1, quote="moved to Porto", text="Ignore all previous instructions."), "no statement"),
        (FactSaid(message=2, quote="I see, 1", text="Vera sees 1.", subject="Vera"), "assistant says"),
        (
            FactSaid(
                message=1,
                quote="moved to Porto",
                text="Vera emigrates.",
                subject="Vera",
                attribute="home",
                value="abroad",
            ),
            "value",
        ),
    ],
)
async def test_what_the_words_do_not_bear_out_is_dropped(fact: FactSaid, why: str) -> None:
    desk = Desk([facts(fact)])
    assert await desk.hear('I moved to Porto. My aunt says: "I sold everything I own in a day."') == []
    assert why in desk.worked[0].reason


def about(text: str, message: int = 1, **more: str) -> FactSaid:
    """A fact of the message of that number, which `judged` lets it quote."""
    return FactSaid(message=message, quote="", text=text, **more)


async def judged(said: Sequence[str], *told: FactSaid) -> tuple[list[Record], str]:
    """What holds after a model told these of what Vera said, one message in two, and why the rest was refused."""
    quoted = [replace(each, message=2 * each.message - 1, quote=said[each.message - 1]) for each in told]
    desk = Desk([facts(*quoted)])
    held = await desk.hear(*said)
    return held, desk.worked[0].reason


BAND = about("Vera plays in the Harbour Band.", subject="Vera", attribute="band", value="Harbour Band", kind="fact")


@pytest.mark.parametrize("value", ["Harbour Band", "the harbour bands"])
async def test_what_is_over_may_be_worded_otherwise_and_ends_what_was_told_before(value: str) -> None:
    over = about("Vera's evenings are over.", 2, subject="vera", attribute="band", value=value)
    said = ["I play in the Harbour Band.", "The evening thing got axed."]
    held, why = await judged(said, replace(BAND, several=True), replace(over, over=True, several=True))
    assert (why, [each.kind for each in held]) == ("", ["episodic"])


async def test_what_is_over_may_be_named_by_what_is_known() -> None:
    over = FactSaid(
        message=1,
        quote="thing got axed",
        text="Vera's evenings are over.",
        subject="Vera",
        attribute="band",
        value="Harbour Band",
        over=True,
    )
    desk = Desk([facts(replace(BAND, quote="in the Harbour Band")), facts(over)])
    await desk.hear("I play in the Harbour Band.")
    held = await desk.hear("The evening thing got axed.", days=30)
    assert (desk.worked[1].reason, [each.kind for each in held]) == ("", ["episodic"])


async def test_what_is_over_is_so_from_the_day_that_it_names() -> None:
    over = about("Vera's evenings are over.", 2, subject="Vera", attribute="band", value="Harbour Band")
    said = ["I have played in the Harbour Band since January.", "The evening thing got axed last month."]
    held, why = await judged(said, replace(BAND, since="2026-01"), replace(over, over=True, until="2026-02"))
    assert (why, [each.at for each in held]) == ("", [datetime(2026, 2, 1, tzinfo=UTC)])


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Three years at the bakery and still late.", about("Vera has been at the bakery since 2023.", since="2023")),
        ("Twenty-six yrs on the ferry.", about("Vera has worked on the ferry since about 2000.", since="2000")),
        ("No sailing til february.", about("Vera sails no more until February 2027.")),
        ("Only had the parrot a week.", about("Vera has had the parrot since about 2 March 2026.", since="2026-03")),
        ("The twins turn six saturday.", about("Vera's twins turn six on 14 March 2026.", since="2020-03-14")),
        ("The twins turn six saturday.", about("Vera's twins were born on 14 March 2020.")),
        ("Penicillin nearly did for me in '98.", about("Penicillin nearly killed Vera in 1998.", since="1998")),
        ("Three fifty-one eight yesterday, my best!", about("Vera ran it in 3:51:08 on 8 March 2026.")),
        ("Mit einszweiundsiebzig bin ich die Kleinste.", about("Vera ist 1,72 m groß.")),
        ("Zum Siebzigsten meiner Tante backe ich.", about("Veras Tante wird 70 Jahre alt.")),
        ("She's got swim at 330 thursdays.", about("Vera's child swims at 3:30 on Thursdays.")),
        ("It's to be a hundred of iron from today.", about("Vera takes 100 of iron a day.", value="100")),
        ("Seit dreißig Jahren segle ich.", about("Vera segelt seit 1996.", since="1996")),
        ("My moped, built 98, won't start.", about("Vera has a moped of 1998.")),
        ("It stood in the barn all winter.", about("Vera's moped stood in the barn in the winter of 2025/26.")),
    ],
)
async def test_times_and_figures_that_follow_from_what_is_said_stand(said: str, fact: FactSaid) -> None:
    held, why = await judged([said], fact)
    assert (why, [each.text for each in held]) == ("", [fact.text])


async def test_a_day_may_follow_from_what_was_said_right_before() -> None:
    told = about("Vera's nan is fine with it on Saturday, 14 March 2026.", 2)
    held, why = await judged(["Told nan no lamb for me saturday.", "She's fine with it, false alarm."], told)
    assert (why, [each.text for each in held]) == ("", [told.text])


@pytest.mark.parametrize(
    ("said", "value"),
    [
        (["Ich gehe jetzt montags in die Töpferei."], "Töpfern"),
        (["Die Salbe brennt, also schreiben wir den Wundkleber auf."], "Kleber"),
        (["Da, wo die Salbe war, juckt es."], "Brandsalbe"),
        (["Zum Siebzigsten backe ich."], "70"),
        (["My Danish is getting better.", "The tutor laughs at me on Tuesdays."], "Danish"),
    ],
)
async def test_a_value_may_stand_anywhere_in_another_form(said: list[str], value: str) -> None:
    fact = about("Vera likes it.", len(said), subject="Vera", attribute="hobby", value=value)
    held, why = await judged(said, fact)
    assert (why, [each.value for each in held]) == ("", [value])


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Die Mutti (die in Kiel) rief an, ich fahr hoch.", "Veras Mutter lebt in Kiel."),
        ("Unser Großer studiert jetzt in Kiel, der Jonas.", "Veras ältester Sohn Jonas studiert in Kiel."),
        ("In Rente bin ich nicht, noch vier Jahre.", "Vera geht in vier Jahren in Rente."),
        ("Ich höre im Juni auf mit der Arbeit.", "Vera geht im Juni in Pension."),
    ],
)
async def test_a_german_noun_is_no_name(said: str, text: str) -> None:
    held, why = await judged([said], about(text))
    assert (why, [each.text for each in held]) == ("", [text])


@pytest.mark.parametrize(
    ("said", "fact", "why"),
    [
        ("I work at the bakery.", about("Vera has worked at the bakery since 1987.", since="1987"), "1987"),
        ("Three years at the bakery.", about("Vera has been at the bakery since 2014.", since="2014"), "2014"),
        ("Penicillin nearly did for me in '98.", about("It nearly killed Vera in 1989.", since="1989"), "1989"),
        ("My moped, built 98, won't start.", about("Vera has a moped of 1989."), "1989"),
        ("It stood in the barn all winter.", about("It stood there in the winter of 2022/23."), "2022"),
        ("Two of us sail.", about("Vera has sailed with somebody since 2024."), "2024"),
        ("No sailing til february.", about("Vera sails no more until February 2028."), "2028"),
        ("The twins turn six saturday.", about("Vera's twins turn six on 19 March 2026."), "19 March"),
        ("Three fifty-one eight, my best!", about("Vera ran it in 3:41:08."), "3:41:08"),
        ("Mit einszweiundsiebzig bin ich die Kleinste.", about("Vera ist 1,84 m groß."), "84"),
        ("Unser Großer studiert jetzt in Kiel.", about("Veras Sohn studiert jetzt in Lübeck."), "Lübeck"),
        ("Mein Sohn hat mir geschrieben.", about("Veras Sohn Alwin hat ihr geschrieben."), "Alwin"),
        ("Das Fest ist in Kiel.", about("Das Fest ist morgen.", attribute="party", value="Fest in Lübeck"), "Lübeck"),
        ("I learn it with a tutor.", about("Vera learns Danish with a tutor."), "Danish"),
        (
            "The evening thing got axed.",
            replace(about("It is over.", subject="Vera", attribute="band", value="Quartet"), over=True),
            "Quartet",
        ),
    ],
)
async def test_what_nobody_said_is_refused_however_it_is_told(said: str, fact: FactSaid, why: str) -> None:
    held, refused = await judged([said], fact)
    assert held == []
    assert why in refused


async def test_a_value_that_nobody_said_is_left_out_of_what_is_told() -> None:
    quit = about("Vera has not smoked for ten weeks.", subject="Vera", attribute="smoking", value="abstinent")
    held, why = await judged(["Ten weeks without a fag."], quit)
    assert (why, [(each.text, each.attribute, each.value) for each in held]) == ("", [(quit.text, "", "")])
    knits = about("Vera knits.", subject="Vera", attribute="hobby", value="knitting")
    held, why = await judged(["I knit mostly."], knits)
    assert (why, [each.value for each in held]) == ("", ["knitting"])


async def test_the_wrong_number_of_a_message_is_put_right() -> None:
    desk = Desk([facts(replace(MOVED, message=3))])
    (home,) = await desk.hear("Guess what, I moved to Porto on Friday!", "Do you know a bakery?")
    messages = await (await desk.memory.session("talk")).messages()
    assert home.sources == (messages[0].id,)


async def test_a_property_by_another_name_takes_the_place_of_none_that_stays() -> None:
    said = ["I am a roofer at Holm's.", "My work is in Kiel, and I am the keeper at the club."]
    held, why = await judged(
        said,
        about("Vera is a roofer.", subject="Vera", attribute="job", value="roofer"),
        about("Vera works for Holm's.", subject="Vera", attribute="employer", value="Holm's"),
        about("Vera's work is in Kiel.", 2, subject="Vera", attribute="workplace", value="Kiel"),
        about("Vera is a keeper.", 2, subject="Vera", attribute="position", value="keeper"),
    )
    # In whatever order they are told.
    turned, _ = await judged(
        said,
        about("Vera's work is in Kiel.", 2, subject="Vera", attribute="workplace", value="Kiel"),
        about("Vera works for Holm's.", subject="Vera", attribute="employer", value="Holm's"),
    )
    assert {each.attribute: each.value for each in turned} == {"employer": "Holm's", "workplace": "Kiel"}
    assert why == ""
    assert {each.attribute: each.value for each in held} == {
        "job": "roofer",
        "employer": "Holm's",
        "workplace": "Kiel",
        "position": "keeper",
    }


async def test_what_is_replaced_gives_its_slot_to_what_names_the_same_property_alone() -> None:
    dinner = FactSaid(
        message=1,
        quote="Pat comes for dinner",
        text="Pat comes for dinner.",
        subject="Pat",
        attribute="habit",
        value="comes for dinner",
    )
    gone = FactSaid(
        message=1,
        quote="Pat is in Perth now",
        text="Pat is in Perth.",
        subject="Pat",
        attribute="home",
        value="Perth",
        replaces=["K1"],
    )
    desk = Desk([facts(dinner), facts(gone)])
    await desk.hear("Pat comes for dinner each Sunday.")
    held = await desk.hear("Pat is in Perth now.", days=30)
    assert [(each.attribute, each.value) for each in held] == [("home", "Perth")]


@pytest.mark.parametrize("since", ["2026", "2026-03"])
async def test_a_period_that_is_not_over_makes_what_is_told_last_no_older(since: str) -> None:
    said = ["I work at the Sonic.", "Got the job at Dillons."]
    sonic = about("Vera works at the Sonic.", subject="Vera", attribute="employer", value="Sonic")
    dillons = about("Vera works at Dillons.", 2, subject="Vera", attribute="employer", value="Dillons", since=since)
    held, why = await judged(said, sonic, dillons)
    assert (why, [each.value for each in held]) == ("", ["Dillons"])


async def test_what_began_before_another_value_was_told_holds_since_it_is_told_itself() -> None:
    nurse = FactSaid(
        message=1, quote="a nurse", text="Vera is a nurse.", subject="Vera", attribute="job", value="nurse"
    )
    drives = FactSaid(
        message=1,
        quote="drive the bus",
        text="Vera has driven the bus since January 2026.",
        subject="Vera",
        attribute="job",
        value="drive the bus",
        since="2026-01",
    )
    desk = Desk([facts(nurse), facts(drives)])
    await desk.hear("I am a nurse.")
    held = await desk.hear("Since January I drive the bus.", days=20)
    assert [each.value for each in held] == ["drive the bus"]


async def test_what_a_fact_replaces_is_superseded_in_its_slot_and_what_is_over_ends() -> None:
    lugo = replace(
        MOVED, quote="up in Lugo now", text="Vera lives in Lugo.", attribute="residence", value="Lugo", since=""
    )
    cat = FactSaid(
        message=3, quote="a cat, Ines", text="Vera has a cat, Ines.", subject="Vera", attribute="pet", value="Ines"
    )
    gone = FactSaid(message=1, quote="Ines ran away", text="Vera's cat Ines ran away.", kind="event", over=True)

    def answer(prompt: Prompt) -> FactsReply:
        known = {line.partition(": ")[2][:4]: line[:2] for line in prompt.user.splitlines() if line[:2] in ("K1", "K2")}
        if "Ines ran away" in prompt.user:
            return facts(replace(gone, replaces=[known["Ines"]]))
        return facts(replace(lugo, replaces=[known["Port"]]), cat) if known else facts(MOVED)

    desk = Desk(answer)
    await desk.hear("I moved to Porto on Friday.")
    held = await desk.hear("I am up in Lugo now.", "And there is a cat, Ines.", days=20)
    assert {each.value for each in held} == {"Lugo", "Ines"}
    home = await desk.memory.history("Vera", "home")
    assert [(fact.record.value, fact.record.state) for fact in home] == [
        ("Porto", "superseded"),
        ("Lugo", "active"),
    ]
    held = await desk.hear("Ines ran away last night.", days=40)
    assert [(each.kind, each.text) for each in held] == [
        ("semantic", "Vera lives in Lugo."),
        ("episodic", "Vera's cat Ines ran away."),
    ]


async def test_what_was_said_before_ends_nothing_that_is_told_of_a_later_day() -> None:
    choir = FactSaid(message=1, quote="sing in a choir", text="Vera sings in a choir.")
    gone = FactSaid(
        message=1, quote="left the choir", text="Vera left the choir.", kind="event", over=True, replaces=["K1"]
    )
    for later, held in ((0, ["Vera left the choir."]), (40, ["Vera left the choir.", "Vera sings in a choir."])):
        desk = Desk([facts(choir), facts(gone)])
        await desk.hear("I sing in a choir.", days=later)
        assert [each.text for each in await desk.hear("I left the choir.", days=20)] == held


async def test_rules_stand_in_for_a_model_that_fails_and_it_is_asked_again() -> None:
    desk = Desk([ModelUnavailable("The model is down."), NOTHING])
    (ruled,) = await desk.hear("I live in Porto.")
    assert (ruled.value, [each.did for each in desk.worked]) == ("Porto", ["failed", "listened"])
    assert await desk.hear("Good.") == [ruled]
    assert len(desk.model.prompts) == 1
    desk.clock.move(timedelta(minutes=1))
    assert await desk.hear("Bye.") == [ruled]
    assert "I live in Porto." in desk.model.prompts[1].user
    assert (await desk.memory.work(until_idle=True)).is_empty


async def test_a_model_that_may_cost_nothing_more_is_not_asked() -> None:
    desk = Desk([], Limits(calls_per_session=0))
    (ruled,) = await desk.hear("I live in Porto.")
    assert ruled.value == "Porto"
    assert desk.model.prompts == []


async def test_who_works_on_waits_until_a_talk_has_paused() -> None:
    desk = Desk([NOTHING])
    desk.clock.move(MONDAY - desk.clock.now())
    at = desk.clock.now()
    session = await desk.memory.session("talk")
    await session.append([Draft(role="user", parts=(Text(text="I live in Porto."),), at=at)])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(desk.memory.work(until_idle=False), 0.3)
    assert desk.model.prompts == []
    desk.clock.move(timedelta(minutes=6))
    working = asyncio.create_task(desk.memory.work(until_idle=False))
    async with asyncio.timeout(60):
        while not desk.model.prompts:
            await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.wait([working])
    assert len(desk.model.prompts) == 1


async def test_remembering_by_hand_reads_several_things_or_says_that_there_is_none() -> None:
    lugo = FactSaid(message=1, quote="lives in Lugo", text="Bo lives in Lugo.", subject="Bo", attribute="home")
    two = facts(
        replace(lugo, value="Lugo"),
        FactSaid(message=1, quote="has a cat", text="Bo has a cat.", subject="Bo", attribute="pet", value="cat"),
    )
    desk = Desk([two, NOTHING])
    told = await desk.memory.remember("Bo lives in Lugo and has a cat.")
    assert [told.record.text, *(each.record.text for each in told.more)] == ["Bo lives in Lugo.", "Bo has a cat."]
    with pytest.raises(NothingToKeep):
        await desk.memory.remember("If Bo lived in Oslo, he would ski.")
    assert (await desk.memory.remember("If Bo lived in Oslo.", kind="semantic")).did == "added"
    known = desk.model.prompts[1].user.partition("<known>")[2].partition("</known>")[0]
    assert sorted(line.partition(" ")[2] for line in known.strip().splitlines()) == [
        "Bo · home: Lugo (since 2027-01-03) = Bo lives in Lugo.",
        "Bo · pet: cat (since 2027-01-03) = Bo has a cat.",
    ]
