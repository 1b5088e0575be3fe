"""What is said now ends what was said before of the same, in any wording; and ends nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.endings import ended_things
from ireneo.types import Record

NAMES = re.compile(r" (?:is called|heißt) ")
"""What somebody is called stays, whatever else changes."""

ENDED = (
    ("My shifts at the mill start at four.", "Since the strike my shifts only start at five thirty."),
    ("We rent a tiny flat above a bakery in Hove.", "Unpacking! The new place in Lewes has a garden."),
    ("My bike is a green Brompton.", "Someone nicked my Brompton outside the gym."),
    ("I'm on 20 mg of citalopram.", "GP halved my citalopram, 10 mg from Monday."),
    ("I play bass in a ska band called The Late Fees.", "I left the Late Fees, no time."),
    ("I hate olives.", "Confession: after Crete I adore olives."),
    ("My sister is pregnant, due in October.", "My sister had the baby on Sunday, a boy called Felix."),
    ("I learn Italian with an app every morning.", "Italian has been shelved, no time."),
    ("My wife Dana works days at the hospital.", "Dana's on nights again since two colleagues quit."),
    ("Mum lives alone in Cork.", "Mum moved into a care home in Mallow."),
    ("Ich wohne bei meinen Eltern in Soest.", "Jetzt hab ich eine eigene Bude in Dortmund."),
    ("Lena spielt Querflöte in der Musikschule.", "Lena hat die Flöte hingeschmissen, jetzt will sie Schlagzeug."),
    ("Ich geh jeden Dienstag kegeln mit den Kollegen.", "Kegeln hab ich bleiben lassen."),
    ("Wir fahren im August nach Rügen.", "Aus Rügen wird nichts, wir bleiben daheim."),
    ("We have three hens.", "The fox got one, down to two hens."),
    ("My therapist appointment is every other Tuesday.", "Therapy is weekly now, still Tuesdays."),
    ("My mother lives with us.", "Mum's got her own flat round the corner since May."),
    ("My best friend Kofi lives in Accra.", "Kofi's relocated to Toronto."),
    ("My daughter wears braces.", "Braces came off today, she can't stop grinning."),
    ("My gran is in hospital.", "Gran's home from hospital."),
    ("I weigh 84 kilos.", "Scales say 79 kilos this morning."),
    ("Meine Miete beträgt 640 Euro.", "Die Miete ist auf 710 Euro gestiegen."),
    ("Ich hab einen Gips am Fuß.", "Der Gips ist ab!"),
    ("Wir haben zwei Katzen.", "Seit gestern sind es drei Katzen."),
    ("Ich rauche eine Schachtel am Tag.", "Seit Ostern rauche ich nicht mehr."),
    ("I do aikido on Tuesdays and Fridays.", "My shoulder hurts, so aikido only on Fridays."),
    ("Mara is my girlfriend since May.", "Mara and I split up, it's fine."),
    ("I work at Millers.", "I have a new employer since Monday: Tavistock Mill."),
    ("My grandmother was born in Hull.", "Sorry, Hove, not Hull."),
    ("I'm unemployed.", "I've got a new job!"),
    ("Lotte's birthday is on 3 June.", "Lotte's birthday is 13 June, not 3 June."),
    ("I work in marketing at Nordica.", "I've changed jobs, and the canteen is better."),
    ("Ich arbeite bei Siemens.", "Ich hab den Job gewechselt, endlich kürzere Wege."),
    ("I have a fern in the kitchen.", "The fern didn't survive the winter."),
    ("Unsere Miete ist 980 kalt.", "Die Miete ist hier 1120."),
    ("Ich wiege 92 Kilo.", "Meine Waage sagt 85 heute."),
    ("I work as a nurse at the university hospital.", "No need, I quit. Since Monday I'm a teacher in Antwerp."),
    ("I work as a nurse at the university hospital.", "I'm a teacher at a nursing school now."),
    ("I'm a nurse at Fenwick Hall.", "I work as a teacher at Saint Anne's now."),
    ("I work at Philips.", "I was fired. Now I drive a taxi."),
    ("I work at Philips.", "I quit."),
    ("I work at Philips as an analyst.", "I retired, finally."),
    ("I live in Paris.", "We finally moved, it's Lyon now."),
    ("Our pump is flushed every night at 03:00.", "Our pump is flushed every Sunday at 03:00."),
    ("I love jazz.", "I've gone off jazz lately."),
    ("My solicitor is Miss Geddes.", "I sacked Geddes."),
    ("I'm vegetarian.", "I'm not vegetarian anymore, I eat fish now."),
    ("My son is in fifth grade.", "My son is a sixth grader now."),
    ("My boss is Marek. I work at Philips.", "I quit Philips!"),
    ("Mein Freund Jonas hilft mir beim Streichen.", "Jonas und ich haben Schluss gemacht."),
    ("I love jazz.", "I hate jazz these days."),
    ("I hate onions.", "I love onions now."),
    ("Ich trinke Kaffee nur schwarz.", "Ich mag Kaffee nicht mehr."),
    ("I'm in payroll at Fenwick Hall.", "They made the whole office redundant on Wednesday."),
    ("Ich fahre seit Jahren Bus bei den Linzer Linien.", "So, seit heute bin ich Rentner."),
    ("My new boss is Dr Mehta, very calm.", "Sorry, the doctor's name is not Mehta, it's Mehra."),
    ("my rate is 70 an hour, how many swords is that", "raised my rate to 85"),
)

STANDS = (
    ("I run the kitchen of a primary school in Leith.", "Kola has started nursery."),
    ("From Saturday we live above the shop.", "Shona has moved in with us, violins and all."),
    ("Our rent is 1,150 a month.", "The landlord has 40 flats."),
    ("I love jazz.", "Did I tell you about the jazz in the lift?"),
    ("I drink tea with milk.", "I hate milk in my coffee."),
    ("Our rent is 1,150 a month.", "The landlord wants a deposit of 1,400 first."),
    ("I live in Hull.", "We're in a flat in Hove for the week."),
    ("I'm a nurse at Fenwick Hall.", "He made me a sandwich."),
    ("My salary is 3,200 a month.", "My brother got a raise, he is on 3,450 since January."),
    ("My blood pressure is 152 over 96.", "My mother's is 131 over 82."),
    ("My son is allergic to eggs.", "He's outgrown his shoes."),
    ("We're in a two-bed in Hull.", "I stayed in a flat in Hove last weekend."),
    ("I work at Philips.", "My brother quit Shell last week."),
    ("Since the 1st of May I am in the endoscopy.", "They changed the ticket, it's the 26th they land."),
    ("Our pump is flushed every night at 03:00.", "Our boiler is checked every Sunday at 03:00."),
    ("I live in Krakow with my wife Ewa and our cats Mia and Pixel.", "Pixel died yesterday."),
    ("I'm allergic to walnuts.", "I'm not vegetarian anymore, I eat fish now."),
    ("The rent is 1,450 a month.", "The club has 1,600 members now."),
    ("My granddaughter turns six on the 9th of March.", "My brother's scan was moved, it's the 16th."),
    ("I work at Philips.", "I quit smoking."),
    ("I work at Philips.", "They promoted me to team lead."),
    ("I work at Philips.", "I'm also a volunteer firefighter."),
    ("I work at Philips.", "My brother quit. He's a teacher at a school in Antwerp now."),
    ("I'm a nurse in Ghent.", "I got the job at Fenwick Hall."),
    ("Boat 4 has two masts.", "Boat 5 has two masts."),
    ("Gate 2 opens with a key.", "Gate 3 opens with a code now."),
    ("Ana lives in Oslo.", "Ana has a flat in Oslo."),
    ("I live with my brother Marek.", "Football training moved to Wednesdays."),
    ("I run a food truck in Tucson.", "The truck's generator died."),
    ("Tyrese is nine and wants drums.", "me and Alicia called it quits"),
    ("The trip to Recife is off for July.", "My neck is fine again, back playing since June."),
    ("We've got two hens, Dolly and June.", "Dolly's off her food."),
    ("Wir bauen um, ab November, dafür größer.", "Ich geh dafür freitags ab jetzt zum Tarockieren."),
    ("Ich mach ne Ausbildung und brauch nen Lernplan.", "Zur Arbeit gehe ich zu Fuß, Bus brauch ich nicht mehr."),
    ("My daughter Orla plays the cello.", "Orla is doing fine at school."),
    ("My bike is a green Brompton.", "I cleaned the Brompton on Sunday."),
    ("I'm a carpenter.", "I've got a new job!"),
    ("My wife Petra is a midwife.", "Petra got a new job by the way."),
    ("My cousin Tomas is a welder.", "Tomas starts at Ridley on Monday."),
    ("Lotte's birthday is on 4 June.", "Lotte's birthday is 13 June, not 3 June."),
    ("My sister Noor lives in Bath.", "Noor finished her thesis."),
    ("My brother works nights at a depot.", "I left the gym last week."),
    ("My sister is pregnant, due in October.", "My friend had a baby on Sunday."),
    ("I live in Leeds.", "My brother moved to York."),
    ("My sister Noor has moved from York to Bath.", "We've moved house! The kitchen is huge."),
    ("Mein Bruder Jan wohnt in Graz.", "Wir sind umgezogen!"),
    ("We've rented a flat in Leeds.", "We've moved in! The kitchen is huge."),
    ("I'm allergic to cashews.", "I'm allergic to penicillin too."),
    ("My dog Otto is five.", "Our neighbour's dog died."),
    ("Meine Tochter Lena reitet gern.", "Lena hat die Flöte hingeschmissen."),
    ("We pay 42 euros a month for the allotment.", "The water at the allotment is 12 euros a month extra."),
    ("My hair is down to my waist.", "My sister cut her hair short."),
    ("I weigh 84 kilos.", "The dog weighs 31 kilos."),
    ("I've got a broken wrist.", "My ankle is healed."),
    ("I teach year four.", "My colleague Hamish took over year six."),
    ("I wear glasses.", "I stopped wearing a watch."),
    ("My favourite running podcast is Slow Miles.", "So I can't run on Tuesdays any more."),
    ("I take the train to Bristol on Tuesdays.", "So I can't run on Tuesdays any more."),
    ("I want to be called Tobi.", "Please stop calling me Tobi in mails for work."),
    ("My physio is Mr Adeyemi.", "My dentist is a woman called Saskia."),
    ("We have three hens.", "We have two rabbits now."),
    ("I work from home on Fridays.", "My wife works from home on Tuesdays now."),
    ("I earn 2,400 a month.", "Our rent is 1,100 a month."),
    ("Our book club meets at Olga's.", "The film club meets at the library."),
    ("My cousin Ben works at the airport.", "My cousin Tara works at the port."),
    ("I'm on the waiting list for an allotment.", "I'm also on the waiting list for a knee op."),
    ("My best friend Kofi lives in Accra.", "Kofi's brother relocated to Toronto."),
    ("Meine Tochter ist in der dritten Klasse.", "Mein Sohn ist jetzt in der vierten Klasse."),
    ("Wir haben zwei Katzen.", "Meine Eltern haben drei Katzen."),
    ("Meine Miete beträgt 640 Euro.", "Die Garage kostet 70 Euro."),
    ("I'm an electrician.", "Drove to a job in Walton and nobody was home."),
    ("Lost to a boy of eleven at draughts. Monday nights it is, at the Crown.", "Eleven days since the fall, Friday."),
    ("Wir haben den Kater Mohr und die Ziegen Ute und Berta.", "Der Kater will nur noch hinten raus."),
    ("I do aikido on Tuesdays and Fridays.", "We only meet on Fridays for cards."),
    ("My girlfriend Mara rides.", "My sister split up with her boyfriend."),
    ("I weigh 84 kilos.", "I bought 20 kilos of flour, my trolley broke."),
    ("I weigh 84 kilos.", "My niece weighs 12 kilos."),
    ("My swimming is at 7 on Mondays.", "No more 7 to 3 at the depot for my brother."),
    ("Papa has the small room since Thursday.", "Papa goes to the library on Wednesdays."),
    ("Lev has a girlfriend, Ines.", "Lev's band broke up, but he still plays."),
    ("My name is Tobias Keller.", "Please stop calling me Tobi in mails for work."),
    ("I weigh 84 kg.", "I want to weigh 75 kg by summer."),
    ("I raised 250 euros at the harbour run in March.", "I raised 900 euros at the lake run."),
    ("I work for a charity that runs fitness courses.", "I recently completed a fitness challenge."),
    ("Der Garten ist zu groß, aber raus geh ich gern.", "Geh mir weg mit Kümmel."),
)


def held_after(folder: Path, *said: str) -> list[Record]:
    with ireneo.sync.open(folder / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for day, text in enumerate(said, 1):
            at = f"2024-05-{day:02}T10:00:00Z"
            session.append([{"role": "user", "content": text, "timestamp": at}])
            session.append([{"role": "assistant", "content": "I see.", "timestamp": at}])
        memory.work(until_idle=True)
        return list(memory.memories(state="any", limit=50))


def test_a_figure_alone_is_the_next_value_of_a_known_series(tmp_path: Path) -> None:
    said = ("I weigh 84 kg.", "My suitcase came to 23 kg this morning!", "I weigh 82.1 now.", "81.4 kg this morning!")
    weights = [each for each in held_after(tmp_path, *said) if each.attribute == "weight"]
    assert sorted((each.value, each.holds) for each in weights) == [
        ("81.4 kg", True),
        ("82.1 kg", False),
        ("84 kg", False),
    ]


def test_a_figure_of_another_size_belongs_to_no_series(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I weigh 84 kg.", "The baby came yesterday. 3.4 kg!")
    assert [each.value for each in held if each.attribute == "weight"] == ["84 kg"]
    assert all(each.holds for each in held)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("And Petra isn't a plumber.", ["Petra isn't a plumber."]),
        ("And keep your replies brief.", ["Keep your replies brief."]),
        ("I've started learning Finnish... just kidding, Danish, because of Freja.", []),
        (
            "I've started learning Finnish... just kidding, I'm learning Danish with Freja.",
            ["The user is learning Danish with Freja."],
        ),
    ],
)
def test_what_is_held_can_be_understood_alone(tmp_path: Path, said: str, held: list[str]) -> None:
    assert [each.text.partition("“")[2].rstrip("”") or each.text for each in held_after(tmp_path, said)] == held


@pytest.mark.parametrize(("before", "now"), ENDED)
def test_a_word_ends_what_was_said_of_the_same(tmp_path: Path, before: str, now: str) -> None:
    told = [each for each in held_after(tmp_path, before, now) if each.at.day == 1 and not NAMES.search(each.text)]
    assert told
    assert not [each.text for each in told if each.holds]


@pytest.mark.parametrize(("before", "now"), STANDS)
def test_a_word_about_something_else_ends_nothing(tmp_path: Path, before: str, now: str) -> None:
    held = held_after(tmp_path, before, now)
    assert all(each.holds for each in held), [(each.text, each.reason) for each in held if not each.holds]


@pytest.mark.parametrize(
    ("before", "now", "left"),
    [
        ("My roommates are Jules and Kenzie.", "Kenzie moved out.", "My roommates are Jules”"),
        ("I share an office with Yusuf and Petra.", "Petra's on maternity leave now.", "with Yusuf”"),
    ],
)
def test_a_row_of_names_loses_the_one_who_left(tmp_path: Path, before: str, now: str, left: str) -> None:
    (held,) = [each.text for each in held_after(tmp_path, before, now) if each.holds and each.at.day == 1]
    assert left in held


def test_what_was_said_in_another_session_loses_the_one_who_left(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for day, text in enumerate(("My roommates are Jules and Kenzie.", "Kenzie moved out."), 1):
            said = {"role": "user", "content": text, "timestamp": f"2024-05-{day:02}T10:00:00Z"}
            memory.session(f"talk {day}").append([said])
            memory.work(until_idle=True)
        held = [each for each in memory.memories(limit=50) if "Jules" in each.text]
    assert ["Kenzie" in each.text for each in held] == [False]
    assert len(held[0].evidence[-1].messages) == 2


def test_what_is_left_of_a_row_can_lose_another_in_a_third_session(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        texts = ("My roommates are Jules, Kenzie and Bo.", "Kenzie moved out.", "Bo moved out.", "Jules sings.")
        for day, text in enumerate(texts, 1):
            said = {"role": "user", "content": text, "timestamp": f"2024-05-{day:02}T10:00:00Z"}
            memory.session(f"talk {day}").append([said])
            memory.work(until_idle=True)
        held = [each for each in memory.memories(limit=50) if "roommates" in each.text]
    assert [("Jules" in each.text, "Bo" in each.text) for each in held] == [(True, False)]
    assert len(held[0].evidence[-1].messages) == 3


@pytest.mark.parametrize(
    ("said", "later", "left"),
    [
        ("My aunt Rosa stays with us until Sunday.", 12, ""),
        ("Our lift is broken till Friday. The bakery below us got a new owner, Piet.", 12, "Piet"),
        ("Ich bin noch zwei Wochen bei meiner Schwester in Kiel.", 28, ""),
        ("My aunt Rosa stays with us until Sunday.", 2, "Rosa"),
        ("I have been on nights for three weeks.", 28, "nights"),
        ("I go to my aunt's in Split for two weeks every May.", 28, "Split"),
    ],
)
def test_what_was_said_to_last_until_a_day_is_over_after_it(tmp_path: Path, said: str, later: int, left: str) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        for day, text in ((1, said), (later, "How do I boil an egg?")):
            at = f"2024-05-{day:02}T10:00:00Z"
            memory.session(f"talk {day}").append([{"role": "user", "content": text, "timestamp": at}])
            memory.work(until_idle=True)
        told = list(memory.memories(state="any", kind="episodic"))
    held = [each.text for each in told if each.holds]
    assert told
    assert [left in each for each in held] == ([True] if left else [])
    assert all(each.holds or "not relied on since" in each.reason for each in told)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("I can't stand cumin, my wife Ines can though.", "cumin, my wife Ines can though"),
        (
            "Our kiln cracked yesterday and the potter comes on Friday at 9.",
            "yesterday and the potter comes on Friday at 9",
        ),
        ("Bitte duze mich und fass dich kurz.", "bittet den Assistenten"),
        ("Antworte bitte kurz.", "asks the assistant"),
        ("ok, go on with chapter 12", ""),
    ],
)
def test_what_is_kept_can_be_understood_alone(tmp_path: Path, said: str, left: str) -> None:
    held = [each.text for each in held_after(tmp_path, said)]
    assert [each for each in held if left in each] if left else not held


def test_a_play_that_was_opened_days_ago_is_over(tmp_path: Path) -> None:
    held = held_after(tmp_path, "Pretend you are my dentist.", "I live in Leeds.")
    assert any("Leeds" in each.text for each in held)


def test_what_ends_something_that_was_known_is_known_itself(tmp_path: Path) -> None:
    held = held_after(tmp_path, "I see a physio in Moseley every Wednesday.", "The physio is over.")
    assert [each.holds for each in held if "Moseley" in each.text] == [False]
    assert any("over" in each.text for each in held if each.holds)


def test_answers_are_wanted_in_the_language_that_was_asked_for_last(tmp_path: Path) -> None:
    held = held_after(tmp_path, "You may answer in English.", "From today, Spanish, please!")
    assert [("Spanish" in each.text, each.holds) for each in sorted(held, key=lambda one: one.at)] == [
        (False, False),
        (True, True),
    ]


def test_a_child_that_gives_something_up_is_still_called_so(tmp_path: Path) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        session.append([{"role": "user", "content": "my daughter Orla starts at the conservatory, cello"}])
        session.append([{"role": "user", "content": "Orla has dropped the cello."}])
        memory.work(until_idle=True)
        assert "The user's daughter is called Orla." in {each.text for each in memory.memories() if each.holds}


@pytest.mark.parametrize(
    ("joke", "back", "held"),
    [
        ("I moved to Oslo and I have twelve cats.", "Just kidding, I live in Bergen.", ["The user lives in Bergen."]),
        ("I'm allergic to nuts.", "just kidding lol", []),
        ("I live in Oslo. I'm married to a dentist.", "Kidding, no dentist.", ["The user lives in Oslo."]),
    ],
)
def test_a_joke_that_is_taken_back_in_the_next_message_holds_no_longer(
    tmp_path: Path, joke: str, back: str, held: list[str]
) -> None:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("talk")
        for minute, text in enumerate((joke, back)):
            session.append([{"role": "user", "content": text, "timestamp": f"2024-05-01T10:0{minute}:00Z"}])
            session.append([{"role": "assistant", "content": "I see.", "timestamp": f"2024-05-01T10:0{minute}:20Z"}])
        memory.work(until_idle=True)
        assert [each.text for each in memory.memories()] == held


@pytest.mark.parametrize(
    ("said", "gone", "left"),
    [
        ("We've bought a house! We're moving to Bath in July. Rex will have a garden.", "Rex died last night.", "Bath"),
        ("Wir haben ein Haus gekauft. Rex kriegt einen Garten.", "Rex ist gestern gestorben.", "Haus gekauft"),
    ],
)
def test_of_a_quotation_stays_what_is_told_of_others(tmp_path: Path, said: str, gone: str, left: str) -> None:
    held = [each.text for each in held_after(tmp_path, said, gone) if each.holds and "died" not in each.text]
    assert [each for each in held if left in each]
    assert not [each for each in held if "Rex will" in each or "Rex kriegt" in each]


def test_what_is_on_the_left_has_not_left() -> None:
    assert not ended_things("I cut my left hand with a knife.")
    assert ended_things("I left Siemens in May.")


def test_what_is_off_calls_off_nothing_of_who_is_named_beside_it(tmp_path: Path) -> None:
    said = ("Heike wird am 20. Mai fünfzig.", "Kreta ist geplatzt, Heike hat sich das Bein gebrochen.")
    assert held_after(tmp_path, *said)[0].holds


@pytest.mark.parametrize(
    ("before", "now", "gone"),
    [
        ("My girlfriend Wen and I live in Hove.", "Me and Wen called it a day in the spring.", "partner"),
        ("Mein Mann heißt Torben.", "Torben und ich sind seit Mai geschieden.", "partner"),
        ("Ich arbeite bei der Bäckerei Holz.", "Holz hat letzten Monat zugemacht.", "employer"),
    ],
)
def test_what_is_over_by_its_own_word_holds_no_more(tmp_path: Path, before: str, now: str, gone: str) -> None:
    assert not [each for each in held_after(tmp_path, before, now) if each.holds and each.attribute == gone]
